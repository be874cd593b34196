use super::{diagnostics, fixed, marked, only};

#[test]
fn paths_into_answers() {
    marked(
        r#"
[adapters.a]
driver = "mcp"
command = ["a"]
[adapters.a.ops.search]
items = "hits["
             ^ path-syntax
text = "a..b|c[x]"
         ^ path-syntax
              ^^^ path-syntax
where = { "a[" = 1, ok = "x", 'b["k.x"]' = 2 }
            ^ path-syntax
[adapters.a.ops.search.map]
title = "a|"
          ^ path-syntax
snippet = "a[0]b"
               ^ path-syntax
uri = "re:(\\d+"
          ^ invalid-regex
date = "a|b[0]|tpl:{{x}}"
kind = "a[?x==1]"
         ^^^^^^^ path-syntax
score = "$"
"#,
    );
}

#[test]
fn regular_expressions_point_at_what_is_wrong() {
    marked(
        r#"
[adapters.a]
driver = "mcp"
command = ["a"]
when = { repo = "é\\.x(b" }
                      ^ invalid-regex
[adapters.b]
driver = "mcp"
command = ["a"]
when = { repo = '(?=a)b' }
                 ^^^ invalid-regex
[adapters.c]
driver = "mcp"
command = ["a"]
when = { repo = '^github\.com/(a|b)$' }
"#,
    );
    let text = "[adapters.a]\ndriver = \"mcp\"\ncommand = [\"a\"]\nwhen = { repo = '(a' }\n";
    let one = only(text);
    assert_eq!(
        one.message,
        "this regular expression does not compile: unclosed group"
    );
    let huge = text.replace("(a", "(a{1000}){1000}");
    assert!(!only(&huge).message.contains('\n'));
}

#[test]
fn urls() {
    for good in [
        "https://a.example",
        "HTTP://a.example:80/x?y#z",
        "http://127.0.0.1:{{env.PORT}}/mcp",
        "{{env.U|default:http://x}}",
        "{{env.U}}/x",
        "http://{{env.HOST}}",
        "http{{env.S}}://a.example",
        "https://[::1]:8080/x",
        "https://{{env.USER}}@a.example",
        "http://localhost:1933/",
    ] {
        let text = format!("[adapters.a]\ndriver = \"http\"\nbase_url = \"{good}\"\n");
        assert_eq!(diagnostics(&text), [], "{good}");
    }
    for bad in [
        "",
        "a.example/x",
        "//a.example",
        "ftp://a.example",
        "https://",
        "https:///x",
        "https://a b.example",
        "https://a.example:port",
        "http://a.example:99999",
        "/api",
        "a{{env.X}}",
    ] {
        let text = format!("[adapters.a]\ndriver = \"http\"\nbase_url = \"{bad}\"\n");
        let one = only(&text);
        assert_eq!(one.code.id(), "invalid-url", "{bad}");
        let value = one.range.start as usize..one.range.end as usize;
        assert_eq!(&text[value], format!("\"{bad}\""));
    }
    for (wrong, right) in [
        ("a.example/x", "https://a.example/x"),
        ("localhost:80", "http://localhost:80"),
    ] {
        let text = format!("[adapters.a]\ndriver = \"http\"\nbase_url = \"{wrong}\"\n");
        assert_eq!(fixed(&text, &only(&text)), text.replace(wrong, right));
    }
}

#[test]
fn headers_variables_and_ops() {
    marked(
        r#"
[adapters.a]
driver = "http"
base_url = "https://a.example"
headers = { "X Client" = "x", X-Ok = "a\tb", "É" = "x", X-Line = "a\r\nb{{env.X}}" }
            ^^^^^^^^^^ invalid-header
                                             ^^^ invalid-header
                                                                   ^^^^ invalid-header
when = { env = ["A=1", "$B", "{{env.C}}", "", "A B", "D", "📒_TOK", "with.dot"] }
                ^^^^^ invalid-env-name
                       ^^^^ invalid-env-name
                             ^^^^^^^^^^^ invalid-env-name
                                          ^^ invalid-env-name
                                              ^^^^^ invalid-env-name
[adapters.a.ops."keep it"]
                ^^^^^^^^^ invalid-op-name
path = "/"
[adapters.a.ops.keep-it_2]
path = "/"
[adapters.b]
driver = "command"
command = ["b"]
env = { "A=B" = "x", OK = "y" }
        ^^^^^ invalid-env-name
"#,
    );
}

#[test]
fn environment_names_are_unwrapped() {
    for wrong in [
        "$B_1",
        "${B_1}",
        "{{env.B_1}}",
        "{{ env.B_1 }}",
        "B_1=x",
        "%B_1%",
    ] {
        let text = format!(
            "[adapters.a]\ndriver = \"mcp\"\ncommand = [\"a\"]\nwhen = {{ env = \"{wrong}\" }}\n"
        );
        assert_eq!(fixed(&text, &only(&text)), text.replace(wrong, "B_1"));
    }
}

#[test]
fn wildcards_before_the_last_segment() {
    marked(
        r#"
[adapters.a]
driver = "mcp"
command = ["a"]
when = { exists = ["~/x/*.json", "a/*/b", "a/**/{{repo.slug}}/b?", "*", "{{env.HOME}}/n/{{repo.slug}}*.json", "x?/{{repo.name}}"] }
                                    ^ misplaced-wildcard
                                             ^^ misplaced-wildcard
                                                                                                                ^ misplaced-wildcard
"#,
    );
}

#[test]
fn tools_prefixes_and_references() {
    marked(
        r#"
[adapters.a]
driver = "mcp"
command = ["a"]
expose = "all"
prefix = "a."
         ^^^^ prefix-not-tool-name
[[adapters.a.tools]]
name = "find notes"
       ^^^^^^^^^^^^ invalid-tool-name
op = "search"
[[adapters.a.tools]]
name = ""
       ^^ invalid-tool-name
op = "search"
[adapters."b c"]
driver = "mcp"
command = ["b"]
expose = "none"
[adapters."d e"]
driver = "mcp"
command = ["d"]
expose = ["x"]
prefix = ""
[adapters."f g"]
          ^^^^^ prefix-not-tool-name
driver = "mcp"
command = ["f"]
expose = ["x"]
[companion.notices]
adapters = ["a", "A", "zzz", "b c"]
                 ^^^ unknown-adapter
                      ^^^^^ unknown-adapter
"#,
    );
    let long = "x".repeat(65);
    let text = format!(
        "[adapters.a]\ndriver = \"mcp\"\ncommand = [\"a\"]\n[[adapters.a.tools]]\nname = \"{long}\"\nop = \"s\"\n"
    );
    assert_eq!(only(&text).code.id(), "invalid-tool-name");
    assert_eq!(diagnostics(&text.replace(&long, "x-Y_9")), []);
}

#[test]
fn parameters_of_declared_tools() {
    marked(
        r#"
[adapters.a]
driver = "mcp"
command = ["a"]
[[adapters.a.tools]]
name = "t"
op = "search"
params = { a = "string", b = "integer!", c = "text!", d = 1, e = { type = "string" }, f = "str ing", g = "" }
                                             ^^^^^^^ invalid-params
                                                          ^ invalid-params
                                                             ^ invalid-params
                                                                                          ^^^^^^^^^ invalid-params
                                                                                                         ^^ invalid-params
[[adapters.a.tools]]
name = "u"
op = "search"
params = { type = "object", properties = { a = { type = "string" }, b = { type = ["int", "null"] }, c = 3, d = true }, required = "a" }
                                                                                  ^^^^^ invalid-params
                                                                                                        ^ invalid-params
                                                                                                                                  ^^^ invalid-params
[[adapters.a.tools]]
name = "v"
op = "search"
params = { "$ref" = "x" }
"#,
    );
    let text = "[adapters.a]\ndriver = \"mcp\"\ncommand = [\"a\"]\n[[adapters.a.tools]]\nname = \"t\"\nop = \"s\"\nparams = { q = \"text!\" }\n";
    assert_eq!(fixed(text, &only(text)), text.replace("text!", "string!"));
}
