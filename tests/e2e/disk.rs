//! The disk below the editor: what appears, changes, goes or cannot be read.

use serde_json::{Value, json};

use crate::harness::pair::{PLAIN, adapter, agent, editor, joined};
use crate::harness::{Fixture, codes, faults, spans, uri_of};

#[tokio::test]
async fn what_is_renamed_deleted_or_closed_leaves_no_ghosts() {
    let place = Fixture::new(&[]);
    let text = "[adapters.a]\ndriver = \"x\"\n";
    place.write("old.toml", text);
    let (old, new) = (place.uri("old.toml"), place.uri("new.toml"));
    let mut client = editor(&place).await;
    client.open(&old, text);
    assert_eq!(client.diagnostics(&old, 1).await.len(), 1);
    std::fs::rename(place.path("old.toml"), place.path("new.toml")).unwrap();
    client.close(&old);
    client.open(&new, text);
    client.diagnostics_where(&old, <[Value]>::is_empty).await;
    assert_eq!(client.diagnostics(&new, 1).await.len(), 1);
    std::fs::remove_file(place.path("new.toml")).unwrap();
    let change = json!({"changes": [{"uri": new, "type": 3}]});
    client.notify("workspace/didChangeWatchedFiles", change);
    let hover = client.hover(&new, "driv").await;
    assert!(hover.contains("driver"), "{hover}");
    client.close(&new);
    client.diagnostics_where(&new, <[Value]>::is_empty).await;
    client.request("shutdown", Value::Null).await;
    for uri in [&old, &new] {
        assert!(client.published(uri).pop().unwrap().1.is_empty());
    }
}

#[tokio::test]
async fn a_layer_that_is_deleted_and_closed_is_gone() {
    let place = Fixture::new(&[(".kontext.toml", "[adapters.a]\ndriver = \"x\"\n")]);
    let uri = place.uri(".kontext.toml");
    let mut client = editor(&place).await;
    // Nobody has it open, and it is shown all the same.
    client
        .diagnostics_where(&uri, |found| !faults(found).is_empty())
        .await;
    client.open(&uri, &place.read(".kontext.toml"));
    client.diagnostics(&uri, 1).await;
    std::fs::remove_file(place.path(".kontext.toml")).unwrap();
    let change = json!({"changes": [{"uri": uri, "type": 3}]});
    client.notify("workspace/didChangeWatchedFiles", change);
    assert!(client.hover(&uri, "driv").await.contains("driver"));
    client.close(&uri);
    client.diagnostics_where(&uri, <[Value]>::is_empty).await;
    let mut agent = agent(&place).await;
    let none = |status: &Value| joined(status) && adapter(status, "a").is_null();
    agent.until("kontext_status", json!({}), none).await;
}

/// The fault stays at its bytes; the lines before it do not.
#[tokio::test]
async fn a_file_nobody_has_open_is_followed_line_by_line() {
    let text = "[adapters.a]\nwhight = 1\n";
    let place = Fixture::new(&[(".kontext.toml", &format!("#abc\n{text}"))]);
    let uri = place.uri(".kontext.toml");
    let client = editor(&place).await;
    let at = |found: &[Value], line: u64| {
        let bad = faults(found);
        spans(&bad).iter().any(|span| span[0] == line)
    };
    client.diagnostics_where(&uri, |found| at(found, 2)).await;
    place.write(".kontext.toml", &format!("\n\n\n\n\n{text}"));
    client.diagnostics_where(&uri, |found| at(found, 6)).await;
}

#[tokio::test]
async fn a_layer_that_cannot_be_read_says_so_in_the_status_and_on_the_file() {
    for folder in [true, false] {
        let place = Fixture::new(&[(
            ".kontext.toml",
            "[adapters.s]\ndriver = \"command\"\ncommand = [\"true\"]\n",
        )]);
        let user = place.config_path("config.toml");
        if folder {
            std::fs::create_dir(&user).unwrap();
        } else {
            std::fs::write(&user, b"[adapters.u]\n# \xff\xfe\n").unwrap();
        }
        let uri = uri_of(&user);
        let client = editor(&place).await;
        let found = client
            .diagnostics_where(&uri, |found| !found.is_empty())
            .await;
        let code = if folder {
            "unreadable-layer"
        } else {
            "invalid-utf8"
        };
        assert_eq!(codes(&found), [code]);
        assert_eq!(found[0]["severity"], 1);
        let mut agent = agent(&place).await;
        let status = agent.until("kontext_status", json!({}), joined).await;
        let problem = status["layers"][0]["problem"].as_str().unwrap();
        let word = if folder { "folder" } else { "UTF-8" };
        assert!(problem.contains(word), "{problem}");
        assert!(!adapter(&status, "s").is_null(), "{status}");
        let (code, out, err) = place.run(&["check"]);
        assert_eq!(code, 1, "{out}{err}");
        assert!(out.contains(word), "{out}");

        // It is mended while everything runs.
        if folder {
            std::fs::remove_dir(&user).unwrap();
        }
        place.write_config("config.toml", PLAIN);
        client.diagnostics_where(&uri, <[Value]>::is_empty).await;
        let active = |status: &Value| adapter(status, "u")["status"] == "active";
        agent.until("kontext_status", json!({}), active).await;
    }
}

#[tokio::test]
async fn an_open_buffer_counts_over_a_file_that_cannot_be_read() {
    let place = Fixture::new(&[]);
    std::fs::create_dir(place.config_path("config.toml")).unwrap();
    let uri = place.config_uri("config.toml");
    let mut client = editor(&place).await;
    client.open(&uri, PLAIN);
    client.hints_where(&uri, |hints| hints == ["active"]).await;
    let found = client.diagnostics(&uri, 1).await;
    assert!(found.is_empty(), "{found:?}");
    client.close(&uri);
    let found = client
        .diagnostics_where(&uri, |found| !found.is_empty())
        .await;
    assert_eq!(codes(&found), ["unreadable-layer"]);
}

#[cfg(unix)]
#[tokio::test]
async fn what_when_names_is_followed_on_disk() {
    use std::os::unix::fs::PermissionsExt;

    let place = Fixture::new(&[]).git("https://example.org/acme/shop.git");
    let bin = place.outside("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let place = place.env("PATH", bin.as_os_str().to_owned());
    let text = "[adapters.p]
driver = \"command\"
command = [\"mine\"]
when = { command = \"mine\" }

[adapters.f]
driver = \"command\"
command = [\"true\"]
when = { file = \"deep/down/there.txt\" }

[adapters.e]
driver = \"command\"
command = [\"true\"]
when = { exists = \"logs/*.log\" }

[adapters.b]
driver = \"command\"
command = [\"true\"]
when = { exists = \"branches/{{repo.branch}}\" }

[adapters.r]
driver = \"command\"
command = [\"true\"]
when = { repo = \"acme/other\" }
";
    place.write_config("config.toml", text);
    place.write("branches/topic", "");
    let uri = place.config_uri("config.toml");
    let mut client = editor(&place).await;
    client.open(&uri, text);
    // The status of one adapter after another, in the order of the file.
    let is = |at: usize, word: &'static str| {
        move |hints: &[String]| hints.len() == 5 && hints[at].starts_with(word)
    };
    let none = |hints: &[String]| {
        hints.len() == 5 && hints.iter().all(|hint| hint.starts_with("inactive"))
    };
    client.hints_where(&uri, none).await;

    let program = bin.join("mine");
    std::fs::write(&program, "").unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    client.hints_where(&uri, is(0, "active")).await;
    std::fs::remove_file(&program).unwrap();
    client.hints_where(&uri, is(0, "inactive")).await;

    place.write("deep/down/there.txt", "");
    client.hints_where(&uri, is(1, "active")).await;
    std::fs::remove_dir_all(place.path("deep")).unwrap();
    client.hints_where(&uri, is(1, "inactive")).await;

    place.write("logs/a.log", "");
    client.hints_where(&uri, is(2, "active")).await;

    place.write(".git/HEAD", "ref: refs/heads/topic\n");
    client.hints_where(&uri, is(3, "active")).await;
    place.write(".git/HEAD", "ref: refs/heads/main\n");
    client.hints_where(&uri, is(3, "inactive")).await;

    let config = place.read(".git/config").replace("acme/shop", "acme/other");
    place.write(".git/config", &config);
    client.hints_where(&uri, is(4, "active")).await;
}

/// While nobody asks for a path nobody watches it: what was once known of it is not used again.
#[tokio::test]
async fn a_condition_that_comes_back_is_looked_at_again() {
    let place = Fixture::new(&[]);
    let uri = place.config_uri("config.toml");
    let when = "when = { file = \"later.txt\" }\n";
    let mut client = editor(&place).await;
    client.open(&uri, &format!("{PLAIN}{when}"));
    client
        .hints_where(&uri, |hints| {
            hints.len() == 1 && hints[0].contains("later.txt")
        })
        .await;
    client.change_all(&uri, PLAIN);
    client.hints_where(&uri, |hints| hints == ["active"]).await;
    let mut agent = agent(&place).await;
    agent.until("kontext_status", json!({}), joined).await;
    place.write("later.txt", "");
    client.change_all(&uri, &format!("{PLAIN}{when}# now it is there\n"));
    client.hints_where(&uri, |hints| hints == ["active"]).await;
    std::fs::remove_file(place.path("later.txt")).unwrap();
    client
        .hints_where(&uri, |hints| hints[0].starts_with("inactive"))
        .await;
}
