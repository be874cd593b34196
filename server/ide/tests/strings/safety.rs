use super::{diagnostics, fixed, marked, only};

/// Drawn at random for this test; built from parts so that no scanner takes it for a real one.
fn token() -> String {
    ["q7Zp2", "Lx9Vt", "4Rk8B", "w3Ns6"].concat()
}

#[test]
fn secrets_are_found_and_never_repeated() {
    let token = token();
    for (line, secret, name) in [
        (
            format!("headers = {{ Authorization = \"Bearer {token}\" }}"),
            token.clone(),
            "A_TOKEN",
        ),
        (
            format!("headers = {{ X-Api-Key = \"{token}\" }}"),
            token.clone(),
            "A_X_API_KEY",
        ),
        (
            format!("description = \"x\"\nurl = \"https://u:{token}@a.example/\""),
            token.clone(),
            "A_TOKEN",
        ),
        (
            format!("url = \"https://a.example/?token={token}&x=1\""),
            token.clone(),
            "A_TOKEN",
        ),
        (
            format!("headers = {{ X = \"ghp_{token}\" }}"),
            format!("ghp_{token}"),
            "A_TOKEN",
        ),
    ] {
        let text =
            format!("[adapters.a]\ndriver = \"http\"\nbase_url = \"https://a.example\"\n{line}\n");
        let one = only(&text);
        assert_eq!(one.code.id(), "secret-in-file", "{line}");
        let marked = &text[one.range.start as usize..one.range.end as usize];
        assert_eq!(marked, secret, "exactly the secret is marked");
        let said = format!(
            "{} {}",
            one.message,
            one.fix.as_ref().map_or("", |fix| &fix.title)
        );
        assert!(!said.contains(&token), "{said}");
        let after = fixed(&text, &one);
        assert!(after.contains(&format!("{{{{env.{name}}}}}")), "{after}");
        assert_eq!(diagnostics(&after), [], "{after}");
    }
}

#[test]
fn secrets_of_children_and_bodies() {
    let token = token();
    let text = format!(
        "[adapters.a]\ndriver = \"command\"\ncommand = [\"a\", \"--token=glpat-{token}\"]\nenv = {{ A_TOKEN = \"{token}\", B = \"{token}\" }}\ndescription = \"AKIA{}\"\n",
        "A1B2C3D4E5F6G7H8"
    );
    let found = diagnostics(&text);
    let marked: Vec<_> = found
        .iter()
        .map(|one| &text[one.range.start as usize..one.range.end as usize])
        .collect();
    let glpat = format!("glpat-{token}");
    assert_eq!(marked, [glpat.as_str(), &token, "AKIAA1B2C3D4E5F6G7H8"]);
}

#[test]
fn values_that_are_no_secrets() {
    marked(
        r#"
[adapters.a]
driver = "http"
base_url = "https://a.example/v1?page=a1b2c3d4e5f6g7h8"
headers = { Authorization = "Bearer {{env.T}}", X-Token = "{{env.T}}", Accept = "application/json", X-Trace = "a1b2c3d4e5f6g7h8" }
[adapters.a.ops.search]
query = { token = "<your-token>", key = "changeme-please-12", max_tokens = "1024" }
body = { password = "{{env.P}}", note = "sk-your-api-key-goes-here-0000" }
[adapters.b]
driver = "command"
command = ["b"]
env = { B_TOKEN_FILE = "/run/secrets/b_token_1", TOKENIZERS_PARALLELISM = "false0123456789", SECRET = "", B_TOKEN = false }
"#,
    );
}

#[test]
fn inputs_that_could_be_options() {
    marked(
        r#"
[adapters.a]
driver = "command"
[adapters.a.ops.search]
command = ["rg", "--json", "{{query}}"]
                           ^^^^^^^^^^^ option-injection
[adapters.a.ops.code]
command = ["rg", "--json", "--", "{{query}}", "{{limit}}"]
[adapters.a.ops.read]
command = ["cat", "--file={{uri}}", "{{uri|after:://}}", "{{uri|slug}}", "{{repo.root}}", "{{env.X}}"]
                                    ^^^^^^^^^^^^^^^^^^^ option-injection
[adapters.a.ops.history]
command = ["git", "log", "-n", "{{limit}}", "x{{target}}"]
[adapters.b]
driver = "command"
command = ["b", "{{query}}x"]
                ^^^^^^^^^^^^ option-injection
[adapters.b.ops.search]
format = "text"
[adapters.c]
driver = "command"
[[adapters.c.tools]]
name = "t"
params = { q = "string" }
op = { command = ["t", "{{args.q}}"] }
                       ^^^^^^^^^^^^ option-injection
"#,
    );
    let text = "[adapters.a]\ndriver = \"command\"\n[adapters.a.ops.search]\ncommand = [\"rg\", \"--json\", \"{{query}}\"]\n";
    assert_eq!(
        fixed(text, &only(text)),
        text.replace("\"{{query}}\"", "\"--\", \"{{query}}\"")
    );
    // `-e` takes what follows: `--` would be its value.
    assert_eq!(only(&text.replace("--json", "-e")).fix, None);
}

#[test]
fn inputs_in_scripts() {
    marked(
        r#"
[adapters.a]
driver = "command"
[adapters.a.ops.search]
command = ["sh", "-c", "echo {{query}}"]
                       ^^^^^^^^^^^^^^^^ shell-injection
[adapters.a.ops.code]
command = ["/usr/bin/env", "bash", "-lc", "{{query}}"]
                                          ^^^^^^^^^^^ shell-injection
[adapters.a.ops.read]
command = ["powershell.exe", "-NoProfile", "-Command", "cat", "{{uri}}"]
                                                              ^^^^^^^^^ shell-injection
[adapters.a.ops.history]
command = ["sh", "-c", "grep -- \"$1\" notes.txt", "--", "{{target}}"]
[adapters.b]
driver = "command"
[adapters.b.ops.search]
command = ["sh", "-c", "cat {{repo.root}}/notes {{env.X}} {{limit}}"]
[adapters.b.ops.llm]
command = ["sh", "x.sh", "--", "{{prompt}}"]
"#,
    );
}

#[test]
fn control_characters_in_paths() {
    marked(
        r#"
[adapters.a]
driver = "command"
command = ["C:\tools\new.exe", "D:\temp", "%s\t%s\n", "C:\\tools", 'C:\temp', "x"]
           ^^^^^^^^^^^^^^^^^^ control-character
                               ^^^^^^^^^ control-character
cwd = "src\test"
      ^^^^^^^^^^ control-character
env = { A = "C:\temp", B = "a\nb" }
            ^^^^^^^^^ control-character
when = { command = "bin\run", file = "a\\b" }
                   ^^^^^^^^^ control-character
description = "a\tb"
"#,
    );
    let text =
        "[adapters.a]\ndriver = \"command\"\ncommand = [\"a\"]\ncwd = \"C:\\temp\\\\x\\new\"\n";
    let one = only(text);
    assert_eq!(
        one.message,
        r"`\t`, `\n` in this path is a control character, so it names no file; write it in single quotes: 'C:\temp\x\new'"
    );
    assert!(fixed(text, &one).contains(r"cwd = 'C:\temp\x\new'"));
}
