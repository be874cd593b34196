//! Programs that answer (adapters.md section 7).

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod setup;

use std::path::{Path, PathBuf};
use std::time::Duration;

use kontext_engine::driver::command::{Output, call};
use kontext_engine::driver::{MOST_READ, limit};
use kontext_engine::secrets::Redactor;
use kontext_engine::{Fault, FaultKind};
use serde_json::{Value, json};
use setup::{adapter_in, inputs, op};

const LONG: Duration = Duration::from_secs(60);

const ENV: &[(&str, &str)] = &[
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("LC_ALL", "C"),
    ("SECRET_TOKEN", "s3cr3t-VALUE"),
    ("USER_TEXT", "{{env.SECRET_TOKEN}}"),
    ("GONE", "still here"),
];

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        std::fs::canonicalize(self.0.path()).unwrap()
    }

    async fn run(&self, fields: &str, given: Value, timeout: Duration) -> Result<Output, Fault> {
        let text =
            format!("[adapters.a]\ndriver = \"command\"\n[adapters.a.ops.search]\n{fields}\n");
        run_in(&text, given, timeout, &self.path()).await
    }
}

async fn run_in(text: &str, given: Value, timeout: Duration, root: &Path) -> Result<Output, Fault> {
    let (adapter, ctx) = adapter_in(text, ENV, root);
    let redactor = Redactor::new(&adapter, &ctx);
    let op = op(&adapter, "search");
    call(&adapter, op, &ctx, &inputs(given), timeout, &redactor).await
}

/// An op whose script is a shell's.
fn script(text: &str) -> String {
    format!("command = [\"sh\", \"-c\", {}]", Value::from(text))
}

#[tokio::test]
async fn values_are_not_rendered_again() {
    let place = Place::new();
    let text = r#"
[adapters.a]
driver = "command"
vars = { inner = "{{env.USER_TEXT}}", loop_a = "{{vars.loop_b}}", loop_b = "{{vars.loop_a}}" }
[adapters.a.ops.search]
command = ["printf", "%s|%s", "{{query}}", "{{vars.inner}}"]
"#;
    let given = json!({ "query": "{{env.SECRET_TOKEN}} {{vars.inner}} }}{{" });
    let output = run_in(text, given, LONG, &place.path()).await.unwrap();
    assert_eq!(
        output.text,
        "{{env.SECRET_TOKEN}} {{vars.inner}} }}{{|{{env.SECRET_TOKEN}}"
    );
}

#[tokio::test]
async fn no_form_of_a_secret_is_in_an_error() {
    let place = Place::new();
    let fields = "command = [\"sh\", \"-c\", \"echo \\\"$API_KEY|$1|$2\\\" >&2; exit 3\", \"sh\", '{{env.SECRET_TOKEN|json}}', '{{env.SECRET_TOKEN|urlencode}}']\nenv = { API_KEY = \"sk-literal-1\" }";
    let output = place.run(fields, json!({}), LONG).await.unwrap();
    let words = output.failure.unwrap().to_string();
    assert!(words.contains("‹hidden›|"), "{words}");
    let secret = ENV
        .iter()
        .find(|(name, _)| *name == "SECRET_TOKEN")
        .unwrap()
        .1;
    assert!(
        !words.contains("sk-literal-1") && !words.contains(secret),
        "{words}"
    );
}

#[tokio::test]
async fn an_option_in_a_query_runs_nothing() {
    let place = Place::new();
    let root = place.path();
    // Runs what `--pre=` names, unless it stands behind `--`.
    std::fs::write(
        root.join("seek.py"),
        r#"
import json, subprocess, sys
for arg in sys.argv[1:]:
    if arg == "--":
        break
    if arg.startswith("--pre="):
        subprocess.run(["sh", "-c", arg[6:]])
print(json.dumps(sys.argv[1:]))
"#,
    )
    .unwrap();
    let marker = root.join("marker");
    let query = format!("--pre=touch {}", marker.display());
    let fault = place
        .run(
            "command = [\"python3\", \"{{repo.root}}/seek.py\", \"--json\", \"{{query}}\"]",
            json!({ "query": query }),
            LONG,
        )
        .await
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::Refused);
    assert!(fault.message().contains("put the element \"--\" before it"));
    let output = place
        .run(
            "command = [\"python3\", \"{{repo.root}}/seek.py\", \"--json\", \"--\", \"{{query}}\"]",
            json!({ "query": query }),
            LONG,
        )
        .await
        .unwrap();
    let argv: Value = serde_json::from_str(&output.text).unwrap();
    assert_eq!(argv, json!(["--json", "--", query]));
    let fault = place
        .run(
            "command = [\"sh\", \"-c\", \"echo {{query}}\"]",
            json!({ "query": format!("x; touch {}", marker.display()) }),
            LONG,
        )
        .await
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::Refused);
    assert!(!marker.exists());
}

#[tokio::test]
async fn exit_codes() {
    let place = Place::new();
    let of = async |text: &str| place.run(&script(text), json!({}), LONG).await.unwrap();

    let none = of("exit 1").await;
    assert_eq!((none.code, none.silent), (Some(1), true));
    assert_eq!(none.clone().answer(true).unwrap(), (String::new(), None));
    assert_eq!(
        none.answer(false).unwrap_err().message(),
        "`sh` ended with exit code 1 and said nothing"
    );

    let partial = of("echo '{\"a\":1}'; echo 'rg: ./x: Permission denied' >&2; exit 2").await;
    let (text, note) = partial.clone().answer(true).unwrap();
    assert_eq!(text, "{\"a\":1}\n");
    assert_eq!(
        note.unwrap().message(),
        "`sh` ended with exit code 2: rg: ./x: Permission denied"
    );
    assert_eq!(partial.answer(false).unwrap_err().kind, FaultKind::Failed);

    // Ripgrep's summary of finding nothing; not the same with a complaint or another code.
    for (text, may) in [
        ("echo '{}'; exit 1", true),
        ("echo '{}'; echo oops >&2; exit 1", false),
        ("echo '{}'; exit 2", false),
        ("echo '{}'", false),
    ] {
        assert_eq!(of(text).await.may_mean_nothing(), may, "{text}");
    }

    // Not silent, or another code: a failure.
    for text in ["echo oops >&2; exit 1", "exit 2", "echo; exit 3"] {
        let fault = of(text).await.answer(true).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Failed, "{text}");
    }
    let out = of("echo told on stdout; exit 4").await.answer(false);
    assert!(out.unwrap_err().message().ends_with("4: told on stdout"));
    let killed = of("kill -9 $$").await;
    assert_eq!(killed.code, None);
    assert_eq!(
        killed.answer(true).unwrap_err().message(),
        "`sh` was ended by signal 9 and said nothing"
    );
    let warned = of("echo warning >&2; echo fine").await;
    assert_eq!(warned.answer(false).unwrap(), ("fine\n".to_owned(), None));
}

#[tokio::test]
async fn an_error_is_short_and_holds_no_secret() {
    let place = Place::new();
    let output = place
        .run(
            "command = [\"sh\", \"-c\", \"printf 'first\\\\033[31m %s ' \\\"$1\\\" >&2; i=0; while [ $i -lt 20000 ]; do echo xxxxxxxx; i=$((i+1)); done >&2; echo last >&2; exit 9\", \"sh\", \"{{env.SECRET_TOKEN}}\"]",
            json!({}),
            LONG,
        )
        .await
        .unwrap();
    let fault = output.failure.unwrap();
    let words = fault.message();
    assert!(words.contains("first [31m ‹env.SECRET_TOKEN›"), "{words}");
    assert!(words.ends_with("last"), "{words}");
    assert!(!words.contains("s3cr3t"), "{words}");
    assert!(words.chars().count() < 450, "{words}");
}

#[tokio::test]
async fn standard_input() {
    let place = Place::new();
    let big = "žluť\n".repeat(200_000);
    let output = place
        .run(
            "command = [\"cat\"]\nstdin = \"{{query}}\"",
            json!({ "query": big }),
            LONG,
        )
        .await
        .unwrap();
    assert_eq!(output.text, big);
    // Not read: no fault.
    let unread = "command = [\"true\"]\nstdin = \"{{query}}\"";
    let output = place.run(unread, json!({ "query": big }), LONG).await;
    assert_eq!(output.unwrap().failure, None);
    // Not set: empty, not the server's own.
    let output = place.run("command = [\"cat\"]", json!({}), LONG).await;
    assert_eq!(output.unwrap().text, "");
}

#[tokio::test]
async fn folder_and_environment() {
    let place = Place::new();
    std::fs::create_dir(place.path().join("sub")).unwrap();
    let text = r#"
[adapters.a]
driver = "command"
cwd = "sub"
env = { A = "1", B = "adapter", GONE = false }
[adapters.a.ops.search]
command = ["sh", "-c", "pwd -P; echo \"$A $B $C ${GONE-unset}\""]
env = { B = "op", C = "" }
"#;
    let output = run_in(text, json!({}), LONG, &place.path()).await.unwrap();
    let expected = format!("{}\n1 op  unset\n", place.path().join("sub").display());
    assert_eq!(output.text, expected);
}

#[tokio::test]
async fn output_files() {
    let place = Place::new();
    let seen = place.path().join("seen");
    let run = async |text: &str, timeout: Duration| {
        let fields = format!(
            "command = [\"sh\", \"-c\", {}, \"sh\", \"{{{{output_file}}}}\", \"{{{{repo.root}}}}/seen\"]\noutput_file = true",
            Value::from(format!("printf %s \"$1\" > \"$2\"; {text}"))
        );
        let result = place.run(&fields, json!({}), timeout).await;
        let file = PathBuf::from(std::fs::read_to_string(&seen).unwrap());
        assert!(file.is_absolute());
        assert!(!file.parent().unwrap().exists(), "removed: {file:?}");
        result
    };
    let text = "ls -ld \"$(dirname \"$1\")\" > \"$1\"; echo noise";
    let mode = run(text, LONG).await.unwrap().text;
    assert!(mode.starts_with("drwx------"), "{mode}");
    assert_eq!(run("echo fallback", LONG).await.unwrap().text, "fallback\n");
    assert_eq!(run(": > \"$1\"; echo no", LONG).await.unwrap().text, "");
    let failed = run("echo half > \"$1\"; exit 2", LONG).await.unwrap();
    assert_eq!((failed.text.as_str(), failed.code), ("half\n", Some(2)));
    let link = run("ln -s /etc/hostname \"$1\"", LONG).await.unwrap_err();
    assert_eq!(link.kind, FaultKind::Malformed);
    let pipe = run("mkfifo \"$1\"", LONG).await.unwrap_err();
    assert_eq!(pipe.kind, FaultKind::Malformed);
    let large = run("head -c 9000000 /dev/zero > \"$1\"", LONG)
        .await
        .unwrap_err();
    assert_eq!(large.kind, FaultKind::TooLarge);
    let late = run("echo x > \"$1\"; sleep 600", Duration::from_secs(2)).await;
    assert_eq!(late.unwrap_err().kind, FaultKind::TimedOut);
}

#[tokio::test]
async fn endless_output_is_stopped() {
    let place = Place::new();
    let fault = place
        .run("command = [\"yes\"]", json!({}), LONG)
        .await
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::TooLarge);
    assert_eq!(
        fault.message(),
        "the answer of `yes` is larger than 8 MiB, which is the most that is read; ask for less"
    );
    let whole = format!("command = [\"head\", \"-c\", \"{MOST_READ}\", \"/dev/zero\"]");
    let output = place.run(&whole, json!({}), LONG).await.unwrap();
    assert_eq!(output.text.len(), MOST_READ);
    // An endless standard error is not an answer; it is thinned out.
    let loud = script("head -c 20000000 /dev/zero | tr '\\0' x >&2; echo ok");
    assert_eq!(
        place.run(&loud, json!({}), LONG).await.unwrap().text,
        "ok\n"
    );
}

#[tokio::test]
async fn invalid_utf8_is_replaced() {
    let place = Place::new();
    let output = place
        .run(&script("printf 'a\\377b'"), json!({}), LONG)
        .await;
    assert_eq!(output.unwrap().text, "a\u{fffd}b");
}

/// Waits until nobody has the pipe open for writing any more.
async fn all_gone(pipe: &Path) {
    let pipe = pipe.to_owned();
    let read = tokio::task::spawn_blocking(move || std::fs::read(pipe).unwrap());
    read.await.unwrap();
}

#[tokio::test]
async fn the_limit_ends_the_whole_group() {
    let place = Place::new();
    let pipe = place.path().join("held");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let held = tokio::spawn({
        let pipe = pipe.clone();
        async move { all_gone(&pipe).await }
    });
    let text = "exec 3> held; (trap '' TERM; sleep 600) & trap '' TERM; sleep 600";
    let fault = place
        .run(&script(text), json!({}), Duration::from_millis(2000))
        .await
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::TimedOut);
    assert_eq!(
        fault.message(),
        "`sh` did not end within 2000 ms and was stopped; raise `timeout_ms` if it needs longer"
    );
    held.await.unwrap();
}

#[tokio::test]
async fn nobody_waits_for_what_a_program_leaves_behind() {
    let place = Place::new();
    let pipe = place.path().join("held");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let held = tokio::spawn({
        let pipe = pipe.clone();
        async move { all_gone(&pipe).await }
    });
    let text = "exec 3> held; sleep 600 & echo done";
    let output = place.run(&script(text), json!({}), LONG).await.unwrap();
    assert_eq!((output.text.as_str(), output.code), ("done\n", Some(0)));
    held.await.unwrap();
}

#[tokio::test]
async fn dropping_a_call_ends_the_program() {
    let place = Place::new();
    let pipe = place.path().join("held");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let root = place.path();
    let running = tokio::spawn(async move {
        let text = format!(
            "[adapters.a]\ndriver = \"command\"\n[adapters.a.ops.search]\n{}\n",
            script("exec 3> held; echo x >&3; sleep 600")
        );
        run_in(&text, json!({}), LONG, &root).await
    });
    // Opening and the first line wait for the program.
    let file = tokio::task::spawn_blocking(move || {
        use std::io::BufRead;
        let mut file = std::io::BufReader::new(std::fs::File::open(pipe).unwrap());
        let mut line = String::new();
        file.read_line(&mut line).unwrap();
        assert_eq!(line, "x\n");
        file
    });
    let mut file = file.await.unwrap();
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    let rest = tokio::task::spawn_blocking(move || {
        use std::io::Read;
        let mut rest = String::new();
        file.read_to_string(&mut rest).unwrap();
        rest
    });
    assert_eq!(rest.await.unwrap(), "");
}

#[tokio::test]
async fn what_is_not_there_is_named() {
    let place = Place::new();
    let fault = place
        .run("command = [\"no-such-program-x\"]", json!({}), LONG)
        .await
        .unwrap_err();
    assert_eq!(fault.kind, FaultKind::Unreachable);
    assert!(
        fault
            .message()
            .starts_with("`no-such-program-x` was not found in the 3 folders of PATH"),
        "{fault}"
    );
}

#[test]
fn limits() {
    let text = "[adapters.a]\ndriver = \"command\"\ncommand = [\"x\"]\ntimeout_ms = 3000\n[adapters.a.ops.search]\ntimeout_ms = 50\n[adapters.a.ops.code]\n";
    let (adapter, _) = adapter_in(text, &[], Path::new("/"));
    let of = |name: &str| limit(&adapter, op(&adapter, name)).as_millis();
    assert_eq!((of("search"), of("code")), (50, 3000));
}
