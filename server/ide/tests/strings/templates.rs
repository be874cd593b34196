use super::{fixed, marked, only};

/// An http adapter whose `search` has this query.
fn op(line: &str) -> String {
    format!(
        "[adapters.a]\ndriver = \"http\"\nbase_url = \"https://a.example\"\nvars = {{ team = \"core\" }}\n[adapters.a.ops.search]\n{line}\n"
    )
}

#[test]
fn faults_of_the_grammar() {
    marked(
        r#"
[adapters.a]
driver = "http"
base_url = "https://a.example"
[adapters.a.ops.search]
path = "/{{query"
         ^^^^^^^ unterminated-template
[adapters.a.ops.code]
path = "/{{}}/{{query||lower}}/{{query.}}/{{query[x]}}"
         ^^^^ template-syntax
                     ^ template-syntax
                                      ^ template-syntax
                                                 ^^^ template-syntax
"#,
    );
}

#[test]
fn escapes_before_an_expression_do_not_move_its_range() {
    marked(
        r#"
[adapters.a]
driver = "command"
[adapters.a.ops.search]
stdin = "\u00e9\t\"é📒{{query|lowr}} {{nope}}"
                             ^^^^ unknown-filter
                                      ^^^^ unknown-variable
env = { A = """
x {{query|lower}}
y {{query|uper}}""" }
          ^^^^ unknown-filter
"#,
    );
}

#[test]
fn filters_and_their_arguments() {
    marked(
        r#"
[adapters.a]
driver = "http"
base_url = "https://a.example"
[adapters.a.ops.search.query]
a = "{{query|truncate:x}}"
                      ^ bad-filter-argument
b = "{{query|truncate:-1}}"
                      ^^ bad-filter-argument
c = "{{query|lower:x}}"
                   ^ bad-filter-argument
d = "{{query|after}}"
             ^^^^^ bad-filter-argument
e = "{{query|before:}}"
             ^^^^^^ bad-filter-argument
f = "{{query|default}}"
             ^^^^^^^ bad-filter-argument
g = "{{query|reverse}}"
             ^^^^^^^ unknown-filter
ok1 = "{{query|truncate|join|join:', '|default:''|default:1.5|int|json|slug}}"
ok2 = "{{query|after:://|before:#|first_line|trim|urlencode|upper}}"
"#,
    );
    let text = op("path = \"/{{query|lowercase}}\"");
    assert!(fixed(&text, &only(&text)).contains("{{query|lower}}"));
    let text = op("path = \"/{{query|lower:x}}\"");
    assert!(fixed(&text, &only(&text)).contains("{{query|lower}}"));
}

#[test]
fn names_each_place_sees() {
    marked(
        r#"
[vars]
host = "{{adapter.name}}"
          ^^^^^^^ unknown-root
port = "{{env.ANYTHING}}{{vars.host}}{{vars.hst}}"
                                            ^^^ unknown-variable
[adapters.a]
driver = "http"
base_url = "https://{{vars.host}}/{{query}}/{{uri}}"
                                              ^^^ unknown-variable
vars = { team = "{{vars.host}}{{vars.nope}}{{query}}" }
                                     ^^^^ unknown-variable
when = { exists = "{{repo.root}}/{{query}}" }
                                   ^^^^^ unknown-variable
[adapters.a.ops.search]
path = "/{{repo.nam}}/{{now.time}}/{{project.name}}/{{adapter.name}}/{{vars.team}}"
                ^^^ unknown-variable
                            ^^^^ unknown-variable
[adapters.a.ops.search.query]
a = "{{uri}} {{git.branch}} {{query}} {{env}} {{repo.name.x}}"
       ^^^ unknown-variable
               ^^^ unknown-root
                                        ^^^ unknown-variable
                                                          ^ unknown-variable
b = "{{'literal'}} {{env.NOT_SET_ANYWHERE|default:x}} {{limit}}"
[adapters.a.ops.search.map]
uri = "tpl:a://{{anything.goes[0]}}/{{query|slugg}}"
                                            ^^^^^ unknown-filter
"#,
    );
}

#[test]
fn inputs_come_from_the_op_its_events_and_its_tools() {
    marked(
        r#"
[adapters.a]
driver = "http"
base_url = "https://a.example"
[adapters.a.ops.store]
path = "/s"
body = { t = "{{title}}", r = "{{source.repo}}", k = "{{event.key}}", x = "{{source.rep}}", q = ["{{query}}"] }
                                                                                    ^^^ unknown-variable
                                                                                                    ^^^^^ unknown-variable
[adapters.a.ops.keep]
path = "/k/{{id}}"
[[adapters.a.on]]
event = "sync"
op = "keep"
[adapters.a.ops.by_tool]
path = "/t/{{tag}}/{{args.tag}}/{{args.tg}}"
                                       ^^ unknown-variable
[[adapters.a.tools]]
name = "t"
params = { tag = "string" }
op = "by_tool"
[[adapters.a.tools]]
name = "u"
params = { tag = "string" }
op = { path = "/{{tag}}/{{query}}" }
                          ^^^^^ unknown-variable
"#,
    );
    // The parameters of a schema without `properties` cannot be known.
    marked(
        r#"
[adapters.a]
driver = "http"
base_url = "https://a.example"
[[adapters.a.tools]]
name = "t"
params = { "$ref" = "https://a.example/schema" }
op = { path = "/{{tag}}/{{args.other}}" }
"#,
    );
}

#[test]
fn a_long_lived_server_has_no_inputs_when_it_starts() {
    marked(
        r#"
[adapters.a]
driver = "mcp"
command = ["a", "{{query}}"]
                   ^^^^^ unknown-variable
[adapters.a.ops.search]
tool = "find"
args = { "{{query}}" = 1, "{{nope}}" = { x = "{{limit}}" } }
                             ^^^^ unknown-variable
"#,
    );
}

#[test]
fn what_was_meant_is_named_and_put_in_place() {
    for (wrong, right) in [
        ("{{qurey}}", "{{query}}"),
        ("{{NOTES_TOKEN}}", "{{env.NOTES_TOKEN}}"),
        ("{{env:NOTES}}", "{{env.NOTES}}"),
        ("{{team}}", "{{vars.team}}"),
        ("{{branch}}", "{{repo.branch}}"),
        ("{{git.branch}}", "{{repo.branch}}"),
        ("{{rpo.name}}", "{{repo.name}}"),
        ("{{repo.nmae}}", "{{repo.name}}"),
        ("{{vars.taem}}", "{{vars.team}}"),
        ("{{workspaceFolder}}", "{{repo.root}}"),
    ] {
        let text = op(&format!("path = \"/{wrong}\""));
        let one = only(&text);
        assert!(one.message.contains("did you mean"), "{}", one.message);
        assert_eq!(fixed(&text, &one), text.replace(wrong, right), "{wrong}");
    }
    let one = only(&op("path = \"/{{uri}}\""));
    assert_eq!(
        one.message,
        "`uri` has no value in the op `search`; it sees `query`, `limit`, `repo`, `project`, `vars`, `env`, `now`, `adapter`"
    );
}

#[test]
fn variables_that_need_each_other() {
    marked(
        r#"
[vars]
self = "{{vars.self}}"
^^^^ vars-cycle
base = "x"
[adapters.a]
driver = "mcp"
command = ["a"]
vars = { base = "{{vars.base}}/a", a = "{{vars.b}}", b = "{{vars.c|default:1}}", c = "{{vars.a}}", d = "{{vars.a}}" }
                                   ^ vars-cycle
"#,
    );
}

#[test]
fn braces_where_nothing_is_rendered() {
    marked(
        r#"
[adapters.a]
driver = "mcp"
command = ["a"]
description = "Notes of {{project.name}}, {{ and {{}} as they are"
                        ^^^^^^^^^^^^^^^^ not-a-template
when = { command = "{{vars.x}}" }
                    ^^^^^^^^^^ not-a-template
[adapters.a.ops.search]
tool = "{{env.TOOL}}"
        ^^^^^^^^^^^^ not-a-template
items = "{{x}}"
         ^^^^^ not-a-template
map = { title = "{{name}}", uri = "=a://{{id}}", snippet = "tpl:{{name}}" }
                 ^^^^^^^^ not-a-template
                                        ^^^^^^ not-a-template
[sources]
free = "{{anything}}"
"#,
    );
}

#[test]
fn a_map_value_becomes_a_template() {
    for (wrong, right) in [("{{name}}", "tpl:{{name}}"), ("=a/{{id}}", "tpl:a/{{id}}")] {
        let text = format!(
            "[adapters.a]\ndriver = \"mcp\"\ncommand = [\"a\"]\n[adapters.a.ops.search]\nmap = {{ title = \"{wrong}\" }}\n"
        );
        assert_eq!(fixed(&text, &only(&text)), text.replace(wrong, right));
    }
}

#[test]
fn placeholders_of_other_programs() {
    marked(
        r#"
[adapters.a]
driver = "command"
command = ["a", "${TOKEN}", "$HOME/x", "$1", "awk '{print $NF}'", "--re=a$"]
                 ^^^^^^^^ dollar-placeholder
                             ^^^^^ dollar-placeholder
env = { A = "x${env:B}y${C:-d}", D = "$$" }
              ^^^^^^^^ dollar-placeholder
                       ^^^^^^^ dollar-placeholder
when = { file = "${HOME}/.a", repo = "a$" }
                 ^^^^^^^ dollar-placeholder
[adapters.a.ops.search]
command = ["sh", "-c", "echo $HOME ${HOME}"]
items = "$"
"#,
    );
}
