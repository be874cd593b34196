//! Inputs in argument vectors: what a program could take for an option, what a shell would run.

use kontext_config::codes::Code;
use kontext_config::command::{Danger, danger, is_free_input, is_script, name_read};
use kontext_config::schema::Driver;
use kontext_syntax::template::{Expr, Template};
use kontext_syntax::toml::{Node, NodeKind, Span};

use super::super::check::Check;
use super::written::Written;

/// Checks one element of an argument vector; gives whether it is the script of a shell.
pub(super) fn check(check: &mut Check<'_>, written: &Written<'_>, template: &Template) -> bool {
    let Some((vector, at)) = vector_of(check, written.whole) else {
        return false;
    };
    let argv: Vec<Option<&str>> = vector.iter().map(Node::as_str).collect();
    let script = is_script(&argv, at);
    if check.driver != Some(Driver::Command) || !template.has_expr() {
        return script;
    }
    let Some((danger, expr)) = danger(&argv, at, template, |expr| is_input(check, expr)) else {
        return script;
    };
    let message = danger.message(name_read(expr).unwrap_or("input"));
    match danger {
        Danger::Script => {
            let inner = written.span(expr.range);
            check
                .report(Code::ShellInjection, written.whole, message)
                .related(inner, "this input becomes part of the script");
        }
        Danger::Option => {
            let before = at.checked_sub(1).and_then(|at| *argv.get(at)?);
            let takes_value = before.is_some_and(|before| {
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
        }
    }
    script
}

/// Whether a string is the program of an argument vector.
pub(super) fn is_program(check: &Check<'_>, span: Span) -> bool {
    vector_of(check, span).is_some_and(|(_, at)| at == 0)
}

/// Whether an expression reads an input that may hold anything.
fn is_input(check: &Check<'_>, expr: &Expr) -> bool {
    expr.terminated
        && name_read(expr).is_some_and(|name| is_free_input(name) && check.inputs.has(name))
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
