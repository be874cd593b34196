//! The pages under `docs/reference/` and `docs/diagnostics/`, written from the table of fields and
//! the list of codes.

use std::fmt::Write as _;

use super::context::{
    Answer, EVENT_INPUTS, InputSpec, Members, OPS, OTHER_OP_INPUTS, OUTPUT_FILE, ROOTS,
};
use super::fields::{
    adapter::ADAPTER, companion::COMPANION, companion::NOTICES, events::ON, op::MAP, op::OP,
    root::ROOT, tools::TOOL, when::WHEN,
};
use super::kind::{FieldSpec, Required, TableSpec};
use crate::codes::{Code, Setting};
use crate::eval::{ArgKind, FILTERS};

const MADE: &str = "<!-- Made from the table of fields: `UPDATE_DOCS=1 cargo test -p kontext-config --test generated_docs`. -->\n";

/// The pages of `docs/reference/`: file name and text.
pub fn reference_markdown() -> Vec<(String, String)> {
    vec![
        ("README.md".to_owned(), contents()),
        ("file.md".to_owned(), page("The file", "", &[&ROOT])),
        (
            "adapters.md".to_owned(),
            page("Adapters", "[adapters.NAME]", &[&ADAPTER]),
        ),
        (
            "when.md".to_owned(),
            page("Conditions", "[adapters.NAME.when]", &[&WHEN]),
        ),
        ("ops.md".to_owned(), ops()),
        ("on.md".to_owned(), on()),
        (
            "tools.md".to_owned(),
            page("Declared tools", "[[adapters.NAME.tools]]", &[&TOOL]),
        ),
        (
            "companion.md".to_owned(),
            page("kontext-ls itself", "[companion]", &[&COMPANION, &NOTICES]),
        ),
        ("templates.md".to_owned(), templates()),
    ]
}

/// The pages of `docs/diagnostics/`: file name and text.
pub fn diagnostics_markdown() -> Vec<(String, String)> {
    let mut pages = vec![("README.md".to_owned(), codes())];
    pages.extend(
        Code::ALL
            .iter()
            .map(|code| (format!("{code}.md"), code_page(*code))),
    );
    pages
}

/// One field as it stands on its page and in `kontext_explain`: heading, facts, text, example.
/// `level` is the number of `#` of the heading.
pub fn field_markdown(field: &FieldSpec, level: usize) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} `{}`\n", "#".repeat(level), field.name);
    let _ = write!(out, "Type: {}.", field.kind);
    match field.required {
        Required::Here => out.push_str(" Required."),
        Required::Merged if field.drivers.is_all() => {
            out.push_str(" Required in what all layers give together.");
        }
        Required::Merged => {
            let _ = write!(
                out,
                " Required for driver {} in what all layers give together.",
                field.drivers
            );
        }
        Required::No => {}
    }
    if let Some(default) = field.default {
        let _ = write!(out, " Default: `{default}`.");
    }
    if !field.drivers.is_all() {
        let _ = write!(out, " Drivers: {}.", field.drivers);
    }
    let _ = writeln!(out, "\n\n{}\n", field.doc);
    let values: Vec<_> = field.kind.values().collect();
    if !values.is_empty() {
        for value in values {
            let _ = writeln!(out, "- `\"{}\"`: {}", value.value, value.doc);
        }
        out.push('\n');
    }
    let _ = writeln!(out, "```toml\n{}\n```\n", field.example);
    out
}

fn page(title: &str, header: &str, tables: &[&'static TableSpec]) -> String {
    let mut out = format!("{MADE}\n# {title}\n\n");
    for (at, table) in tables.iter().enumerate() {
        if at > 0 {
            let _ = writeln!(out, "## `{}`\n", table.name);
        } else if !header.is_empty() {
            let _ = writeln!(out, "`{header}`\n");
        }
        body(&mut out, table, if at > 0 { 3 } else { 2 });
    }
    finish(out)
}

fn body(out: &mut String, table: &TableSpec, level: usize) {
    let _ = writeln!(out, "{}\n", table.doc);
    out.push_str("| key | type | drivers | default |\n|---|---|---|---|\n");
    for field in table.fields {
        let kind = field.kind.to_string().replace('|', "\\|");
        let default = field
            .default
            .map(|default| format!("`{default}`"))
            .unwrap_or_default();
        let _ = writeln!(
            out,
            "| [`{0}`](#{0}) | {kind} | {1} | {default} |",
            field.name, field.drivers
        );
    }
    out.push('\n');
    for field in table.fields {
        out.push_str(&field_markdown(field, level));
        if let Some(open) = field.kind.open_keys() {
            let _ = writeln!(
                out,
                "`{}.{}`: {}\n",
                field.name,
                open.placeholder.to_uppercase(),
                open.doc
            );
            for known in open.known {
                let _ = writeln!(out, "- `{}`: {}", known.name, known.doc);
            }
            if !open.known.is_empty() {
                out.push('\n');
            }
        }
    }
}

fn ops() -> String {
    let mut out = format!("{MADE}\n# Ops\n\n`[adapters.NAME.ops.OP]`\n\n");
    out.push_str("## The well-known ops\n\n");
    for op in OPS {
        let answer = match op.answer {
            Answer::Hits => "a list of hits",
            Answer::Text => "one text",
        };
        let _ = writeln!(out, "### `{}`\n\n{} Answer: {answer}.\n", op.name, op.doc);
        if op.name == "store" {
            out.push_str("Inputs: the payload of the event, see [events](on.md).\n\n");
        } else if op.inputs.is_empty() {
            out.push_str("No inputs.\n\n");
        } else {
            inputs(&mut out, "", op.inputs);
        }
    }
    out.push_str("### Ops with other names\n\nThey run where `on` or `tools` names them, and then see the payload of the event or the arguments of the tool as well.\n\n");
    inputs(&mut out, "", OTHER_OP_INPUTS);
    out.push_str("### With `output_file = true`\n\n");
    inputs(&mut out, "", &[OUTPUT_FILE]);
    out.push_str("## Fields\n\n");
    body(&mut out, &OP, 3);
    out.push_str("## Fields of `map`\n\n");
    body(&mut out, &MAP, 3);
    finish(out)
}

fn on() -> String {
    let mut out = page("Events", "[[adapters.NAME.on]]", &[&ON]);
    out.push_str("\n## What an event carries\n\nThe templates of the op see:\n\n");
    inputs(&mut out, "", EVENT_INPUTS);
    finish(out)
}

fn templates() -> String {
    let mut out = format!("{MADE}\n# Templates\n\n");
    out.push_str(
        "`{{ head | filter | filter:argument }}`. The head is a dotted path (`repo.branch`, \
         `tags[0]`), an environment variable (`env.NAME`) or a literal in quotes. A value that is \
         missing is null and renders to nothing. `{{'{{'}}` writes two braces.\n\n\
         Quotes protect `|`, `:` and `}}` inside a literal or an argument: `default:'a|b'`. What \
         an expression inserts is never rendered again.\n\n\
         In `args` and `body`, a string that is exactly one expression keeps the JSON type of its \
         value, and members and elements that render to null are left out.\n\n",
    );
    out.push_str("## What every template sees\n\n");
    for root in ROOTS {
        let _ = writeln!(out, "### `{}`\n\n{}\n", root.name, root.doc);
        if let Members::Fixed(members) = root.members {
            inputs(&mut out, root.name, members);
        }
    }
    out.push_str(
        "Besides, an op's templates see its inputs ([ops](ops.md)), those of a declared tool its \
         arguments as `args.NAME` and `NAME`, and a `tpl:` value of `map` the fields of the item. \
         None of them hides one of the roots above.\n\n",
    );
    out.push_str("## Filters\n\nFilters keep null as null, except `default` and `json`.\n\n");
    out.push_str("| filter | what it does | example |\n|---|---|---|\n");
    for filter in FILTERS {
        let cell = |text: &str| text.replace('|', "\\|");
        let argument = match filter.arg {
            ArgKind::None => String::new(),
            ArgKind::Separator(None) => ":SEP".to_owned(),
            ArgKind::Separator(Some(default)) => format!("[:SEP]` (default `{default}`)`"),
            ArgKind::Count(default) => format!("[:N]` (default {default})`"),
            ArgKind::Literal => ":LITERAL".to_owned(),
        };
        let call = format!("`{}{argument}`", filter.name).replace(")``", ")");
        let _ = writeln!(
            out,
            "| {call} | {} | {} |",
            cell(filter.doc),
            cell(filter.example)
        );
    }
    finish(out)
}

fn inputs(out: &mut String, root: &str, inputs: &[InputSpec]) {
    out.push_str("| name | what it holds | example |\n|---|---|---|\n");
    for input in inputs {
        let dot = if root.is_empty() { "" } else { "." };
        let example = input.example.replace('\n', " ").replace('|', "\\|");
        let _ = writeln!(
            out,
            "| `{root}{dot}{}` | {} | `{example}` |",
            input.name, input.doc
        );
    }
    out.push('\n');
}

fn contents() -> String {
    let mut out = format!("{MADE}\n# Reference\n\n");
    for (file, title) in [
        ("file.md", "The file: its top-level tables"),
        ("adapters.md", "Adapters"),
        ("when.md", "Conditions: when an adapter is active"),
        (
            "ops.md",
            "Ops: what an adapter is asked, and how its answer is read",
        ),
        ("on.md", "Events"),
        ("tools.md", "Declared tools"),
        ("companion.md", "Settings of kontext-ls itself"),
        ("templates.md", "Templates"),
        ("../diagnostics/README.md", "Diagnostics"),
        ("../differences.md", "Differences from kontext"),
    ] {
        let _ = writeln!(out, "- [{title}]({file})");
    }
    finish(out)
}

fn codes() -> String {
    let mut out = format!("{MADE}\n# Diagnostics\n\n");
    out.push_str(
        "The level of a code can be set in a personal layer: `[companion.severity]`, \
         `CODE = \"error\"`, `\"warning\"`, `\"information\"`, `\"hint\"` or `\"off\"`.\n\n\
         | code | level | what is wrong |\n|---|---|---|\n",
    );
    for code in Code::ALL {
        let title = code.spec().title.as_str().replace('|', "\\|");
        let _ = writeln!(
            out,
            "| [{code}]({code}.md) | {} | {title} |",
            code.severity()
        );
    }
    finish(out)
}

fn code_page(code: Code) -> String {
    let spec = code.spec();
    let mut out = format!(
        "{MADE}\n# {code}\n\n{}. Level: {}.\n\n",
        spec.title,
        code.severity()
    );
    let _ = writeln!(out, "{}\n", spec.explanation);
    let (bad, good) = match spec.setting {
        Setting::Unreadable => return finish(out),
        Setting::User => ("Shows it", "Does not"),
        Setting::Shared => ("Shows it in the shared layer", "Does not"),
        Setting::SharedOver(user) => {
            let _ = writeln!(out, "In the user layer:\n\n```toml\n{user}```\n");
            ("Shows it in the shared layer", "Does not")
        }
    };
    let _ = writeln!(out, "{bad}:\n\n```toml\n{}```\n", visible(spec.bad));
    let _ = writeln!(out, "{good}:\n\n```toml\n{}```", visible(spec.good));
    finish(out)
}

/// Examples with what would not show, or not fit, made readable.
fn visible(example: &str) -> String {
    let mut out = String::new();
    for line in example.replace('\u{feff}', "<U+FEFF>").lines() {
        if line.chars().count() > 120 {
            out.extend(line.chars().take(60));
            out.push_str(" …\n");
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

fn finish(mut out: String) -> String {
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}
