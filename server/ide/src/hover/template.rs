//! The parts of a template, and what it would become.

use kontext_config::eval::{Scope, Vars};
use kontext_config::facts::Env;
use kontext_config::schema::{
    self, EVENT_INPUTS, InputSpec, Members, OTHER_OP_INPUTS, OUTPUT_FILE, ROOTS, StringKind,
};
use kontext_config::stack::View;
use kontext_syntax::TextRange;
use kontext_syntax::path::{MapAlternative, MapValue};
use kontext_syntax::template::{Expr, Head, Place, Template};
use serde_json::{Map, Value, json};

use super::field;
use crate::doc::{Doc, Line};
use crate::mask;
use crate::scene::{Scene, node_in};

/// The template a string holds.
pub(super) fn of(kind: StringKind, text: &str) -> Option<(Template, bool)> {
    match kind {
        StringKind::Template { .. } => Some((Template::parse(text), false)),
        StringKind::MapValue => match MapValue::parse(text) {
            MapValue::Choice { alternatives, .. } => match alternatives.into_iter().next_back()? {
                MapAlternative::Template { template, .. } => Some((template, true)),
                _ => None,
            },
            MapValue::Regex(_) => None,
        },
        _ => None,
    }
}

/// Describes the part of a template under the cursor; gives its range in `text`. `None` where the
/// cursor stands in plain text.
pub(super) fn part(
    doc: &mut Doc,
    scene: &Scene<'_>,
    path: &[&str],
    text: &str,
    cursor: u32,
    kind: StringKind,
) -> Option<TextRange> {
    let (template, of_item) = of(kind, text)?;
    let at = template.expr_at(text, cursor)?;
    let range = match at.place {
        Place::Segment(index) => {
            head(doc, scene, path, at.expr, index);
            at.token
        }
        Place::FilterName(index) | Place::FilterArg(index) => {
            let filter = at.expr.filters.get(index)?;
            if field::filter(doc, &filter.name).is_none() {
                doc.heading(Line::name(filter.name.as_str()).then(": no such filter"));
            }
            filter.range
        }
        Place::Literal => {
            doc.paragraph(Line::of("A text that stands for itself."));
            at.token
        }
        Place::Head | Place::Blank => at.expr.range,
    };
    if at.expr.terminated && !of_item {
        becomes(doc, scene, path, text, at.expr, &template);
    }
    Some(range)
}

fn head(doc: &mut Doc, scene: &Scene<'_>, path: &[&str], expr: &Expr, index: usize) {
    let Head::Path(head) = &expr.head else { return };
    let Some(first) = head.key(0) else { return };
    let names: Vec<&str> = (0..head.segments.len())
        .filter_map(|at| head.key(at))
        .collect();
    if let Some(root) = ROOTS.iter().find(|root| root.name == first) {
        let member = names.get(1).copied();
        if index == 0 || member.is_none() {
            doc.heading(Line::name(root.name));
            doc.text(root.doc.as_str());
        }
        let Some(member) = member else { return };
        match root.members {
            Members::Fixed(members) => {
                if let Some(input) = members.iter().find(|input| input.name == member) {
                    doc.heading(Line::name(format!("{first}.{member}")));
                    doc.text(input.doc.as_str());
                }
            }
            Members::Env => {
                doc.heading(Line::name(format!("env.{member}")).then(": environment variable"));
                if let Some(facts) = scene.facts {
                    doc.paragraph(Line::of(env(&facts.env, member)));
                }
            }
            Members::Vars => variable(doc, scene, path, member),
        }
        return;
    }
    let full = names.join(".");
    let inputs = inputs(scene, path);
    let input = inputs
        .iter()
        .find(|input| input.name == full)
        .or_else(|| inputs.iter().find(|input| input.name == first));
    match input {
        Some(input) => {
            doc.heading(Line::name(input.name).then(": input"));
            doc.text(input.doc.as_str());
            doc.paragraph(Line::of("Example: ").code(input.example));
        }
        None => doc.heading(Line::name(full)),
    }
}

/// Whether a variable is set, never its value.
pub(super) fn env(env: &Env, name: &str) -> &'static str {
    match env.get(name) {
        None => "Not set",
        Some("") => "Set but empty, which counts as not set",
        Some(_) => "Set",
    }
}

fn variable(doc: &mut Doc, scene: &Scene<'_>, path: &[&str], name: &str) {
    doc.heading(Line::name(format!("vars.{name}")).then(": variable"));
    let own = match path {
        ["adapters", adapter, ..] => vec!["adapters", adapter, "vars", name],
        _ => Vec::new(),
    };
    let global = vec!["vars", name];
    for place in [own, global] {
        let layers = scene.stack.layers.iter().enumerate().rev();
        let found = layers
            .filter_map(|(at, layer)| {
                let text = node_in(layer.source.as_deref()?, &place)?.as_str()?;
                Some((at, text.to_owned()))
            })
            .next();
        if let Some((at, text)) = found {
            doc.paragraph(
                Line::of("Written as ")
                    .code(mask::text(&place, &text))
                    .then(format!(" in {}", scene.layer_words(at))),
            );
            return;
        }
    }
    doc.paragraph(Line::of("Not defined"));
}

/// What the templates at a path see besides the roots.
fn inputs(scene: &Scene<'_>, path: &[&str]) -> Vec<&'static InputSpec> {
    let of = |op: &str| {
        let mut inputs: Vec<&InputSpec> = schema::inputs_of(op).iter().collect();
        let delivered = || {
            let ["adapters", adapter, ..] = path else {
                return false;
            };
            let model = scene.stack.adapter(adapter, View::Shown);
            model.is_some_and(|model| model.on.iter().any(|on| on.op == op))
        };
        if delivered() {
            inputs.extend(EVENT_INPUTS);
        }
        inputs.push(&OUTPUT_FILE);
        inputs
    };
    match path {
        ["adapters", _, "ops", op, ..] => of(op),
        ["adapters", _, "tools", ..] => OTHER_OP_INPUTS.iter().collect(),
        ["adapters", _, "when" | "vars", ..] => Vec::new(),
        ["adapters", adapter, ..] => {
            let model = scene.stack.adapter(adapter, View::Shown);
            model
                .map(|model| model.ops.keys().flat_map(|op| of(op)).collect())
                .unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

/// What the expression, and the whole string, would become with the inputs' examples.
fn becomes(
    doc: &mut Doc,
    scene: &Scene<'_>,
    path: &[&str],
    text: &str,
    expr: &Expr,
    template: &Template,
) {
    let Some(facts) = scene.facts else { return };
    let globals = scene.stack.global_vars(View::Shown);
    let mut examples = Map::new();
    for input in inputs(scene, path) {
        insert(&mut examples, input);
    }
    let (name, vars) = match path {
        ["adapters", name, ..] => {
            let model = scene.stack.adapter(name, View::Shown);
            (
                Some(*name),
                model.map(|model| model.vars).unwrap_or_default(),
            )
        }
        _ => (None, Vars::default()),
    };
    let project = scene.stack.project_name().unwrap_or(&facts.repo.name);
    let mut scope = Scope::new(facts)
        .project(project)
        .globals(&globals)
        .inputs(&examples)
        .mask_env(true);
    if let Some(name) = name {
        scope = scope.adapter(name, &vars);
    }
    let pieces = scope.render_pieces(template, text).value;
    let whole: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    if let Some(one) = pieces.iter().find(|piece| piece.range == expr.range) {
        let source = mask::slice(text, expr.range);
        doc.paragraph(result(Line::name(source).then(" becomes "), &one.text));
    }
    if pieces.len() > 1 {
        doc.paragraph(result(Line::of("The whole: "), &whole));
    }
}

fn result(line: Line, text: &str) -> Line {
    const MOST: usize = 200;
    if text.is_empty() {
        return line.then("nothing");
    }
    let mut shown: String = mask::words(text).chars().take(MOST).collect();
    if shown.chars().count() == MOST {
        shown.push('…');
    }
    line.code(shown)
}

/// Puts the example of an input at its name; `source.repo` lies in an object.
fn insert(examples: &mut Map<String, Value>, input: &InputSpec) {
    let value = input
        .example
        .parse::<i64>()
        .map_or_else(|_| json!(input.example), |number| json!(number));
    match input.name.split_once('.') {
        None => {
            examples.insert(input.name.to_owned(), value);
        }
        Some((outer, inner)) => {
            let object = examples.entry(outer).or_insert_with(|| json!({}));
            if let Some(object) = object.as_object_mut() {
                object.insert(inner.to_owned(), value);
            }
        }
    }
}
