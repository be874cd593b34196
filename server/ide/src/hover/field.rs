//! What there is to say about names of the format: fields, adapters, ops, filters, codes.

use kontext_config::codes::Code;
use kontext_config::eval;
use kontext_config::schema::{self, Answer, EnumValue, Found, InputSpec, Kind, Required};
use kontext_config::stack::View;
use kontext_config::status::Status;

use crate::doc::{Doc, Line};
use crate::mask;
use crate::scene::{Scene, shown};

/// What a key of the table of fields means.
pub(crate) fn described(doc: &mut Doc, key: &str, found: &Found) {
    match found {
        Found::Field(field) => {
            let kind = match field.kind {
                // They follow as a list, each with what it does.
                Kind::OneOf { .. } => "one of the values below".to_owned(),
                kind => kind.to_string(),
            };
            doc.heading(Line::name(field.name).then(format!(": {kind}")));
            doc.text(field.doc.as_str());
            let mut facts = Vec::new();
            match field.required {
                Required::No => {}
                Required::Here => facts.push(Line::of("Required")),
                Required::Merged => {
                    facts.push(Line::of("Required in what all layers give together"));
                }
            }
            if let Some(default) = field.default {
                facts.push(Line::of("Default: ").code(default));
            }
            if !field.drivers.is_all() {
                facts.push(Line::of(format!("Drivers: {}", field.drivers)));
            }
            doc.list(facts);
            values(doc, &field.kind);
            doc.code(field.example);
        }
        Found::Open { open, known } => {
            let of = format!(": {}", open.kind);
            doc.heading(Line::name(key).then(of));
            doc.text(known.map_or(open.doc, |known| known.doc).as_str());
            values(doc, &open.kind);
        }
        Found::Free(_) => doc.heading(Line::name(key).then(": any value")),
    }
}

fn values(doc: &mut Doc, kind: &Kind) {
    doc.list(kind.values().map(value_line));
}

fn value_line(value: &'static EnumValue) -> Line {
    Line::name(format!("\"{}\"", value.value)).then(format!(": {}", value.doc))
}

/// What one allowed value does.
pub(crate) fn enum_value(doc: &mut Doc, kind: &Kind, text: &str) {
    let value = kind.values().find(|one| one.value == text);
    if let Some(value) = value {
        doc.paragraph(value_line(value));
    }
}

/// The value that holds, the layer it comes from and what it replaces.
pub(crate) fn effective(doc: &mut Doc, scene: &Scene<'_>, path: &[&str]) {
    let given = scene.given(path);
    let merged = match path {
        ["adapters", name, ..] => scene.stack.merged(name, View::Shown),
        [top, ..] => scene.stack.merged_top_in(top, View::Shown),
        [] => None,
    };
    let below = match path {
        ["adapters", _, below @ ..] | [_, below @ ..] => below,
        [] => &[],
    };
    let Some(found) = merged.as_ref().and_then(|merged| merged.at(below)) else {
        return;
    };
    if !scene.layered || found.members().is_some() || !found.is_valid() {
        return;
    }
    let at = found.origin.layer;
    let value = mask::value(path, &found.to_json());
    let lead = if scene.stack.counts(at, View::InForce) {
        "In effect: "
    } else {
        "Would hold once it is trusted: "
    };
    let line = Line::of(lead)
        .code(shown(&value))
        .then(format!(", from {}", scene.layer_words(at)));
    doc.paragraph(line);
    let hidden = |layer: usize| found.shadowed.iter().any(|origin| origin.layer == layer);
    doc.list(given.iter().filter(|one| hidden(one.layer)).map(|one| {
        Line::of("Replaces ")
            .code(shown(&one.value))
            .then(format!(", from {}", scene.layer_words(one.layer)))
    }));
}

/// An adapter: its driver, its status with every reason, the layers that write about it.
pub(crate) fn adapter(doc: &mut Doc, scene: &Scene<'_>, name: &str) {
    let adapter = scene.stack.adapter(name, View::Shown);
    let status = scene.status(name);
    let driver = status
        .as_ref()
        .and_then(|status| status.driver)
        .or_else(|| adapter.as_ref().and_then(|adapter| adapter.driver));
    let mut heading = Line::name(name);
    if let Some(driver) = driver {
        heading = heading.then(format!(": adapter, driver {driver}"));
    } else {
        heading = heading.then(": adapter");
    }
    doc.heading(heading);
    if let Some(text) = adapter
        .as_ref()
        .and_then(|adapter| adapter.description.as_deref())
    {
        doc.paragraph(Line::of(escaped(&mask::words(text))));
    }
    if let Some(status) = &status {
        let what = match status.status {
            Status::Active => "**active**",
            Status::Inactive => "**inactive**",
            Status::Disabled => "**disabled**",
            Status::Untrusted => "**untrusted**",
            Status::Invalid => "**invalid**",
        };
        doc.paragraph(Line::of(format!("Status: {what}")));
        doc.list(
            status
                .reasons
                .iter()
                .map(|reason| Line::of(reason.as_str())),
        );
    }
    if scene.layered {
        let layers = scene.stack.adapter_layers(name);
        doc.list(layers.iter().filter_map(|(at, _)| {
            let layer = scene.stack.layers.get(*at)?;
            Some(
                Line::of(format!("Written in {}: ", scene.layer_words(*at)))
                    .code(layer.path.to_string_lossy()),
            )
        }));
    }
}

/// Somebody's text, so that it is not read as markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '[' => out.push('('),
            ']' => out.push(')'),
            '<' | '>' | '*' | '`' | '\\' | '#' | '!' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// An op, well-known or not.
pub(crate) fn op(doc: &mut Doc, name: &str) {
    match schema::op(name) {
        Some(spec) => {
            let answer = match spec.answer {
                Answer::Hits => "a list of hits",
                Answer::Text => "one text",
            };
            doc.heading(Line::name(name).then(": op"));
            doc.text(spec.doc.as_str());
            doc.paragraph(Line::of(format!("Answer: {answer}.")));
        }
        None => {
            doc.heading(Line::name(name).then(": op of your own"));
            doc.text("It runs where `on` or `tools` names it, or when it is called by name.");
        }
    }
    let inputs = schema::inputs_of(name);
    if !inputs.is_empty() {
        doc.paragraph(Line::of("Its templates see:"));
        doc.list(inputs.iter().map(input_line));
    }
}

pub(crate) fn input_line(input: &InputSpec) -> Line {
    Line::name(input.name).then(format!(": {}", input.doc))
}

/// A filter. `None` where there is none of that name.
pub(crate) fn filter(doc: &mut Doc, name: &str) -> Option<()> {
    let filter = eval::filter(name)?;
    let arg = match filter.arg {
        eval::ArgKind::None => "",
        eval::ArgKind::Separator(_) => ":SEPARATOR",
        eval::ArgKind::Count(_) => ":NUMBER",
        eval::ArgKind::Literal => ":VALUE",
    };
    doc.heading(Line::name(format!("{name}{arg}")).then(": filter"));
    doc.text(filter.doc);
    match filter.arg {
        eval::ArgKind::Separator(Some(default)) => {
            doc.paragraph(Line::of("Default: ").code(default));
        }
        eval::ArgKind::Count(default) => {
            doc.paragraph(Line::of("Default: ").code(default.to_string()));
        }
        _ => {}
    }
    doc.paragraph(Line::of("Example: ").then(filter.example));
    Some(())
}

/// The code of a diagnostic.
pub(crate) fn code(doc: &mut Doc, code: Code) {
    let spec = code.spec();
    doc.heading(Line::name(code.id()).then(format!(": {}", spec.title)));
    doc.text(spec.explanation.as_str());
    doc.paragraph(Line::of(format!(
        "Level unless set otherwise: {}.",
        code.severity()
    )));
}
