//! Field cases: what must come out of configurations from reports.

use super::{diagnostics, marked};

#[test]
fn t02_windows_paths_whose_escapes_are_all_valid() {
    marked(
        r#"[adapters.build]
driver = "command"
command = ["C:\tools\new\bin\build.exe", "{{query}}"]
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ control-character
                                         ^^^^^^^^^^^ option-injection
cwd = "C:\temp\repo"
      ^^^^^^^^^^^^^^ control-character
when = { exists = "C:\notes\flags.json" }
                  ^^^^^^^^^^^^^^^^^^^^^ control-character
[adapters.build.ops.search]
format = "text"
"#,
    );
    for one in diagnostics("[adapters.b]\ndriver = \"command\"\ncommand = [\"C:\\tools\\x\"]\n") {
        assert!(
            !one.message.chars().any(char::is_control),
            "{}",
            one.message
        );
    }
}

#[test]
fn t04_names_that_are_no_tool_names() {
    marked(
        r#"[adapters.my.srv]
driver = "mcp"
command = ["my-srv"]
expose = "all"

[adapters."team.wiki"]
          ^^^^^^^^^^^ prefix-not-tool-name
driver = "mcp"
command = ["wiki-mcp"]
expose = "all"

[adapters.'Búsqueda interna']
          ^^^^^^^^^^^^^^^^^^ prefix-not-tool-name
driver = "mcp"
command = ["b-mcp"]
expose = "all"
"#,
    );
}

#[test]
fn t10_placeholders_pasted_from_other_agents() {
    marked(
        r#"[adapters.ctx]
type = "stdio"
driver = "stdio"
command = "npx -y ctx-mcp"
args = ["--stdio"]
env = { CTX_TOKEN = "${CTX_TOKEN}" }
                     ^^^^^^^^^^^^ dollar-placeholder

[adapters.remote]
driver = "mcp"
url = "https://ctx.example/mcp"
headers = { Authorization = "Bearer ${env:CTX_TOKEN}" }
                                    ^^^^^^^^^^^^^^^^ dollar-placeholder
startup_timeout_sec = 30
"#,
    );
}

#[test]
fn l01_any_character_in_the_name_of_a_variable() {
    marked(
        r#"[adapters.notes]
driver = "mcp"
description = "poznámky 🗒️ tímu"
command = ["notes-srv"]
when = { env = "📒_TOK", file = ".notes" }
"#,
    );
}

#[test]
fn s01_a_circle_of_variables_is_named() {
    marked(
        r#"[adapters.echo]
driver = "command"
vars = { inner = "{{env.USER_TEXT}}", loop_a = "{{vars.loop_b}}", loop_b = "{{vars.loop_a}}" }
                                      ^^^^^^ vars-cycle

[adapters.echo.ops.search]
command = ["printf", "%s|%s", "{{query}}", "{{vars.inner}}"]
                              ^^^^^^^^^^^ option-injection
format = "text"

[adapters.echo.ops.code]
command = ["cat", "{{repo.root}}/items.json"]
format = "json"
map = { title = "name", snippet = "summary", uri = "tpl:notes://{{id}}" }
"#,
    );
    let text = "[adapters.e]\ndriver = \"command\"\nvars = { loop_a = \"{{vars.loop_b}}\", loop_b = \"{{vars.loop_a}}\" }\n";
    let found = diagnostics(text);
    let message = found.first().map_or("", |one| one.message.as_str());
    assert_eq!(
        message,
        "these variables need each other, so they have no value: `loop_a` → `loop_b` → `loop_a`; write one of them without the others"
    );
}

#[test]
fn s02_inputs_that_look_like_options() {
    marked(
        r#"[adapters.bare]
driver = "command"

[adapters.bare.ops.search]
command = ["python3", "{{repo.root}}/fake_rg.py", "--json", "{{query}}"]
                                                            ^^^^^^^^^^^ option-injection

[adapters.dashdash]
driver = "command"

[adapters.dashdash.ops.search]
command = ["python3", "{{repo.root}}/fake_rg.py", "--json", "--", "{{query}}"]

[adapters.shell]
driver = "command"

[adapters.shell.ops.search]
command = ["sh", "-c", "echo {{query}}"]
                       ^^^^^^^^^^^^^^^^ shell-injection
"#,
    );
}

#[test]
fn valid_configurations_show_nothing() {
    marked(
        r#"[adapters.notes]
driver = "mcp"
command = ["notes", "--mcp"]
when = { env = "N", exists = "{{env.HOME}}/n/{{repo.slug}}*.json" }
vars = { a = "x|y", b = '''t
u''' }

[adapters.notes.ops.search]
tool = "find"
map = { title = "a|b", uri = "tpl:notes://{{id|urlencode}}", kind = "=note", date = "re:(\\d{4})" }

[adapters.es]
driver = "command"
command = ["cat", "{{repo.root}}/es.json"]

[adapters.es.ops.search]
format = "json"
items = "hits.hits[*]"
map = { title = "_source.title|fields.title[0]|_id", snippet = "highlight['body.text'][0]|_source.body.text", uri = "_source.url|fields.url[0]|tpl:es://{{_index}}/{{_id}}", score = "_score", date = "_source.@timestamp" }

[adapters.wiki]
driver = "http"
base_url = "http://127.0.0.1:9/api?key={{env.WIKI_KEY}}"
headers = { Authorization = "Bearer {{env.WIKI_TOKEN}}", PRIVATE-TOKEN = "{{env.TOK}}", X-Trace = "kontext" }

[adapters.wiki.ops.search]
path = "/s"
query = { q = "{{query}}", api_key = "{{env.WIKI_KEY}}" }
body = { n = "{{limit}}", gone = "{{query|default:'a|b'}}", "{{query}}" = "{{'{{'}}" }
"#,
    );
}
