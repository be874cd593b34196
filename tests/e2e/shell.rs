//! The commands that speak to people and to CI, over the real binary.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::harness::Fixture;

const CLEAN: &str = "[adapters.a]\ndriver = \"mcp\"\ncommand = [\"a-mcp\"]\n";
const SLIP: &str = "[adapters.b]\ndriver = \"mcp\"\ncomand = [\"b\"]\ncommand = [\"b\"]\n";

/// A folder with the layer files of a configuration folder, below a repository.
fn layers() -> Fixture {
    let place = Fixture::new(&[
        ("conf/config.toml", CLEAN),
        ("conf/repos/acme.toml", "[adapters.a]\nenabled = false\n"),
        ("conf/other.toml", SLIP),
        ("conf/unrelated.toml", "[package]\nname = 1\n"),
        ("fine/config.toml", CLEAN),
    ]);
    place.git("https://github.com/acme/shop.git")
}

fn with_input(place: &Fixture, args: &[&str], input: &str) -> (i32, String, String) {
    let mut command = place.command(args);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn a_folder_of_layer_files_in_the_shape_of_the_companion() {
    let place = layers();
    let (code, out, err) = place.run(&["check", "conf", "--format", "json"]);
    assert_eq!((code, err.as_str()), (1, ""));
    let range = json!({
        "start": {"line": 2, "character": 0},
        "end": {"line": 2, "character": 6},
    });
    let diagnostics: Value = serde_json::from_str(&out).unwrap();
    let first = diagnostics[0].clone();
    assert_eq!(diagnostics.as_array().unwrap().len(), 1, "{out}");
    assert_eq!(first["path"], "conf/other.toml");
    assert_eq!(first["range"], range);
    assert_eq!(first["severity"], "error");
    assert_eq!(first["code"], "unknown-key");
    assert!(first["message"].is_string());
    let (code, out, err) = place.run(&["check", "fine", "--format", "json"]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "[]\n", ""));
}

#[test]
fn people_see_the_line_and_what_to_do() {
    let place = layers();
    place.write(
        "conf/other.toml",
        "[adapters.b]\ndriver = \"mcp\"\ncomand = [\"b\"]\n",
    );
    let (code, out, err) = place.run(&["check", "conf"]);
    assert_eq!((code, err.as_str()), (1, ""));
    assert!(!out.contains('\x1b'), "{out}");
    for part in [
        "error[unknown-key]: ",
        " --> conf/other.toml:3:1\n",
        "3 | comand = [\"b\"]\n  | ^^^^^^\n",
        "help: Change to `command`",
        " in 3 files\n",
    ] {
        assert!(out.contains(part), "{part:?} is not in {out}");
    }
    let (code, out, _) = place.run(&["check", "fine"]);
    assert_eq!(
        (code, out.as_str()),
        (0, "Nothing to report in fine/config.toml\n")
    );
}

#[test]
fn workflow_commands_and_sarif_say_the_same() {
    let place = layers();
    let (code, out, _) = place.run(&["check", "conf", "--format", "github"]);
    assert_eq!(code, 1);
    let start =
        "::error file=conf/other.toml,line=3,endLine=3,col=1,endColumn=6,title=unknown-key::";
    assert!(out.starts_with(start), "{out}");

    let (code, out, _) = place.run(&["check", "conf", "--format", "sarif"]);
    assert_eq!(code, 1);
    let log: Value = serde_json::from_str(&out).unwrap();
    let run = &log["runs"][0];
    let result = &run["results"][0];
    assert_eq!(log["version"], "2.1.0");
    assert_eq!(run["columnKind"], "utf16CodeUnits");
    assert_eq!(run["tool"]["driver"]["rules"][0]["id"], "unknown-key");
    assert_eq!(
        (&result["ruleId"], &result["ruleIndex"]),
        (&json!("unknown-key"), &json!(0))
    );
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "conf/other.toml");
    let region = json!({"startLine": 3, "startColumn": 1, "endLine": 3, "endColumn": 7});
    assert_eq!(place["region"], region);
}

#[test]
fn a_named_file_is_checked_as_what_it_is() {
    let place = layers();
    // The layer of the repository says what the one below does not.
    let (code, out, err) = place.run(&["check", "conf/repos/acme.toml", "--format", "json"]);
    assert_eq!((code, out.as_str(), err.as_str()), (0, "[]\n", ""));
    let (code, _, err) = place.run(&["check", "conf/unrelated.toml"]);
    assert_eq!(code, 0);
    assert!(err.contains("conf/unrelated.toml is no layer"), "{err}");
    // A slip of the command line is noticed; what else is named is checked all the same.
    place.write("tool.py", "print('adapters')\n");
    let (code, out, err) = place.run(&["check", "tool.py", "conf/other.toml"]);
    assert_eq!(code, 2, "{err}");
    assert!(
        err.contains("tool.py is no layer of configuration"),
        "{err}"
    );
    assert!(out.contains("unknown-key"), "{out}");
    // What could be read is checked all the same.
    let (code, out, err) = place.run(&["check", "gone.toml", "conf/other.toml"]);
    assert_eq!(code, 2);
    assert!(err.contains("gone.toml does not exist"), "{err}");
    assert!(out.contains("unknown-key"), "{out}");
    let (code, out, _) = with_input(&place, &["check", "-", "--format", "json"], SLIP);
    assert_eq!(code, 1);
    assert!(out.contains("\"path\": \"<stdin>\""), "{out}");
}

#[test]
fn where_nothing_is_a_newcomer_is_told_where_to_begin() {
    let place = Fixture::new(&[]);
    for args in [&["check"][..], &["adapters"]] {
        let (code, out, _) = place.run(args);
        assert_eq!(code, 0);
        let shared = place.path("").canonicalize().unwrap().join(".kontext.toml");
        assert!(out.contains(&shared.display().to_string()), "{out}");
    }
}

#[test]
fn the_list_gives_every_reason() {
    let place = layers();
    let conditions =
        "when = { command = \"kontext-no-such\", env = \"NO_SUCH\", file = \"gone\" }\n";
    place.write(".git/kontext/config.toml", &format!("{CLEAN}{conditions}"));
    let (code, out, _) = place.run(&["adapters", "list", "--json"]);
    assert_eq!(code, 0);
    let status: Value = serde_json::from_str(&out).unwrap();
    let adapter = &status["adapters"][0];
    assert_eq!(adapter["name"], "a");
    assert_eq!(adapter["driver"], "mcp");
    assert_eq!(adapter["status"], "inactive");
    assert_eq!(adapter["layer"], "clone");
    let reasons: Vec<&str> = adapter["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap())
        .collect();
    for word in ["kontext-no-such", "NO_SUCH", "gone"] {
        assert!(
            reasons.iter().any(|reason| reason.contains(word)),
            "{word}: {reasons:?}"
        );
    }
    assert_eq!(status["gates"], json!({"write": false, "external": false}));
    assert_eq!(status["outbox"], json!({"waiting": 0, "failed": 0}));
    assert_eq!(status["editor"], false);

    let place = place.env("KONTEXT_DIR", "/");
    let work = place.path("").display().to_string();
    let (_, elsewhere, _) = place.run(&["adapters"]);
    assert!(
        elsewhere.contains("No adapters are configured here"),
        "{elsewhere}"
    );
    let (_, human, _) = place.run(&["adapters", "--dir", &work]);
    for reason in reasons {
        assert!(human.contains(&format!("  - {reason}\n")), "{human}");
    }
}

#[test]
fn the_schema_is_json() {
    let (code, out, err) = Fixture::new(&[]).run(&["schema"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let schema: Value = serde_json::from_str(&out).unwrap();
    assert!(schema["properties"]["adapters"].is_object(), "{out}");
}

#[test]
fn formatting_says_what_would_change_and_changes_it() {
    let place = layers();
    let (rough, smooth) = (
        "[adapters.a]\ndriver=\"mcp\" # why\n",
        "[adapters.a]\ndriver = \"mcp\" # why\n",
    );
    place.write("fine/config.toml", rough);
    let (code, out, _) = place.run(&["fmt", "--check", "fine"]);
    assert_eq!(
        (code, out.as_str()),
        (1, "fine/config.toml would be formatted\n")
    );
    assert_eq!(place.read("fine/config.toml"), rough);
    let (code, out, _) = place.run(&["fmt", "fine"]);
    assert_eq!((code, out.as_str()), (0, "fine/config.toml formatted\n"));
    assert_eq!(place.read("fine/config.toml"), smooth);
    assert_eq!(place.run(&["fmt", "--check", "fine"]).0, 0);

    let (code, out, _) = with_input(&place, &["fmt", "-"], rough);
    assert_eq!((code, out.as_str()), (0, smooth));
    let (code, out, err) = with_input(&place, &["fmt", "-"], "a = [\n");
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("Not formatted: line"), "{err}");
}

#[cfg(unix)]
#[test]
fn formatting_keeps_links_and_permissions() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let place = Fixture::new(&[("real/a.toml", "[adapters.a]\ndriver=\"mcp\"\n")]);
    let (real, link) = (place.path("real/a.toml"), place.path("link.toml"));
    symlink(&real, &link).unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(place.run(&["fmt", "link.toml"]).0, 0);
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(
        std::fs::metadata(&real).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert!(place.read("real/a.toml").contains("driver = \"mcp\""));
}

#[test]
fn a_call_of_an_unknown_tool_is_told_to_the_agent_alone() {
    let place = layers();
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"},
        }}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "nope"}}),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (code, out, err) = with_input(&place, &["mcp"], &input);
    assert_eq!((code, err.as_str()), (0, ""));
    assert!(out.contains("there is no tool `nope`"), "{out}");
}
