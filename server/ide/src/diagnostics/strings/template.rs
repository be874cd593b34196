//! Templates: their grammar, filters and names, and what their literal parts hold.

use kontext_config::codes::Code;
use kontext_config::schema::{Place, Shape};
use kontext_syntax::TextRange;
use kontext_syntax::template::{FaultKind, Part, Template};

use super::super::check::Check;
use super::written::{Use, Written};
use super::{command, expr, names, placeholder, secret, url};

/// Checks a template in every respect.
pub(super) fn check(check: &mut Check<'_>, used: Use, written: &Written<'_>, template: &Template) {
    grammar(check, written, template);
    for expr in template.exprs() {
        expr::filters(check, written, expr);
        let path = expr.path().map_or(expr.range, |path| path.range);
        let faulty = |range: TextRange| range.start <= path.end && path.start <= range.end;
        if !template.faults.iter().any(|fault| faulty(fault.range)) {
            expr::names(check, used.place, written, expr);
        }
    }
    if used.is_key {
        return;
    }
    match used.shape {
        Shape::Url => url::check(check, written, template),
        Shape::Header => names::header_value(check, written, template),
        Shape::Path if used.place == Place::When => url::wildcards(check, written, template),
        _ => {}
    }
    let is_script = used.shape == Shape::Argument && command::check(check, written, template);
    if !is_script {
        placeholder::in_template(check, used, written, template);
    }
    secret::in_template(check, used.shape, written, template);
}

/// Faults of the grammar.
pub(super) fn grammar(check: &mut Check<'_>, written: &Written<'_>, template: &Template) {
    for fault in &template.faults {
        if fault.kind == FaultKind::Unterminated {
            let whole = template
                .parts
                .iter()
                .map(Part::range)
                .find(|range| range.start == fault.range.start)
                .unwrap_or(fault.range);
            let message =
                "`{{` is not closed, so the text goes out as it is; close it with `}}`".to_owned();
            check.report(Code::UnterminatedTemplate, written.span(whole), message);
            continue;
        }
        let message = match fault.kind {
            FaultKind::EmptyExpression => "this expression is empty; write a name into the braces",
            FaultKind::EmptyFilter => "a filter is missing behind `|`; name one, or remove the bar",
            FaultKind::UnclosedQuote => {
                "this quote is not closed before `|` or `}}`; close it, or remove it"
            }
            FaultKind::EmptySegment => {
                "a name is missing beside the dot; write one, or remove the dot"
            }
            FaultKind::BadIndex => {
                "only a number or a name in quotes fits into brackets, and a dot, `|` or `}}` behind them"
            }
            FaultKind::Unterminated => continue,
        };
        let mut around = template.exprs().map(|expr| expr.range);
        let span = match fault.kind {
            FaultKind::EmptyExpression => around
                .find(|range| range.contains(fault.range))
                .map_or_else(|| written.visible(fault.range), |range| written.span(range)),
            _ => written.visible(fault.range),
        };
        check.report(Code::TemplateSyntax, span, message);
    }
}
