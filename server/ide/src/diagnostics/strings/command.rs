//! Inputs in argument vectors: what a program could take for an option, what a shell would run.

use kontext_config::codes::Code;
use kontext_config::schema::{Driver, root_of_template};
use kontext_syntax::template::{Expr, Part, Template};
use kontext_syntax::toml::{Node, NodeKind, Span};

use super::super::check::Check;
use super::written::Written;

const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"];
const OTHER_SHELLS: &[&str] = &["cmd", "powershell", "pwsh"];
/// Programs that start the program behind them.
const STARTERS: &[&str] = &["env", "busybox", "sudo", "nice", "nohup", "time", "exec"];

/// Inputs that do not come as free text from outside.
const HARMLESS: &[&str] = &["limit", "output_file"];

/// Checks one element of an argument vector; gives whether it is the script of a shell.
pub(super) fn check(check: &mut Check<'_>, written: &Written<'_>, template: &Template) -> bool {
    let Some((vector, at)) = vector_of(check, written.whole) else {
        return false;
    };
    let script = is_script(vector, at);
    if check.driver != Some(Driver::Command) || !template.has_expr() {
        return script;
    }
    if script {
        if let Some(expr) = template.exprs().find(|expr| is_input(check, expr)) {
            let inner = written.span(expr.range);
            let name = expr.path().and_then(|path| path.key(0)).unwrap_or("input");
            let message = format!(
                "the shell runs what the input `{name}` holds; call the program without a shell, or pass the input behind the script and use it as \"$1\""
            );
            check
                .report(Code::ShellInjection, written.whole, message)
                .related(inner, "this input becomes part of the script");
        }
        return true;
    }
    let Some(Part::Expr(first)) = template.parts.first() else {
        return false;
    };
    let protected = vector
        .iter()
        .take(at)
        .any(|node| node.as_str() == Some("--"));
    let slug = first
        .filters
        .last()
        .is_some_and(|filter| filter.name == "slug");
    if at == 0 || protected || slug || !is_input(check, first) {
        return false;
    }
    let name = first.path().and_then(|path| path.key(0)).unwrap_or("input");
    let message = format!(
        "an input `{name}` that begins with `-` would be read as an option; put the element \"--\" before it, or join it to an option: \"--name={{{{{name}}}}}\""
    );
    let before = at.checked_sub(1).and_then(|at| vector.get(at));
    let takes_value = before.and_then(Node::as_str).is_some_and(|before| {
        before.starts_with('-') && !before.starts_with("--") && before.len() == 2
    });
    let start = Span {
        end: written.whole.start,
        ..written.whole
    };
    let finding = check.report(Code::OptionInjection, written.whole, message);
    if !takes_value {
        finding.fix(
            "Put `\"--\"` before it",
            vec![(start, "\"--\", ".to_owned())],
        );
    }
    false
}

/// Whether a string is the program of an argument vector.
pub(super) fn is_program(check: &Check<'_>, span: Span) -> bool {
    vector_of(check, span).is_some_and(|(_, at)| at == 0)
}

/// Whether an expression reads an input that may hold anything.
fn is_input(check: &Check<'_>, expr: &Expr) -> bool {
    let Some(first) = expr.path().and_then(|path| path.key(0)) else {
        return false;
    };
    expr.terminated
        && root_of_template(first).is_none()
        && check.inputs.has(first)
        && !HARMLESS.contains(&first)
}

/// The array that the value at `span` is an element of, and its index.
fn vector_of<'a>(check: &Check<'a>, span: Span) -> Option<(&'a [Node], usize)> {
    find(&check.context.unit.item.node, &check.path, span)
}

fn find<'a>(node: &'a Node, path: &[&str], span: Span) -> Option<(&'a [Node], usize)> {
    if let NodeKind::Array(array) = &node.kind {
        if path.is_empty() {
            let at = array.nodes.iter().position(|node| node.span == span)?;
            return Some((&array.nodes, at));
        }
        return array.nodes.iter().find_map(|node| find(node, path, span));
    }
    let (first, rest) = path.split_first()?;
    find(&node.get(first)?.node, rest, span)
}

/// Whether the element at `at` is text that a shell reads as a script.
fn is_script(vector: &[Node], at: usize) -> bool {
    let text = |at: usize| vector.get(at).and_then(Node::as_str);
    let mut program = 0;
    let mut name = text(program).map(program_name);
    if name.as_deref().is_some_and(|name| STARTERS.contains(&name)) {
        program = 1;
        name = text(program).map(program_name);
    }
    let Some(name) = name else { return false };
    let behind =
        |is_flag: fn(&str) -> bool| (program + 1..at).find(|at| text(*at).is_some_and(is_flag));
    if SHELLS.contains(&name.as_str()) {
        // The first operand behind the flag is the script, the rest are its arguments.
        let Some(flag) = behind(|flag| {
            flag == "--command"
                || flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with('c')
        }) else {
            return false;
        };
        let operand =
            (flag + 1..).find(|at| text(*at).is_none_or(|text| !text.starts_with(['-', '+'])));
        return operand == Some(at);
    }
    if OTHER_SHELLS.contains(&name.as_str()) {
        // Everything behind the flag is joined to the script.
        let flag = behind(|flag| {
            let flag = flag.to_ascii_lowercase();
            matches!(
                flag.as_str(),
                "/c" | "/k" | "/s" | "-c" | "-command" | "-commandwithargs" | "--command"
            )
        });
        return flag.is_some();
    }
    false
}

/// The file name of a program, without `.exe`, in small letters.
fn program_name(program: &str) -> String {
    let file = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let lower = file.to_ascii_lowercase();
    lower.strip_suffix(".exe").unwrap_or(&lower).to_owned()
}
