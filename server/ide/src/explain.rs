//! Explanations by name: of a field, a code, an adapter, a filter, a template root, an op.

use kontext_config::codes::Code;
use kontext_config::eval::FILTERS;
use kontext_config::schema::{self, Found, Members, OPS, ROOTS, TableSpec};
use kontext_config::stack::View;
use serde::Serialize;

use crate::doc::{Doc, Line};
use crate::effective::{EffectiveValue, dotted, values};
use crate::hover::field;
use crate::scene::{Scene, shown};
use crate::snapshot::Snapshot;

/// What was asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Subject {
    /// A field of the configuration.
    Field,
    /// The code of a diagnostic.
    Code,
    /// An adapter of the configuration.
    Adapter,
    /// A filter of templates.
    Filter,
    /// A name every template can begin with.
    Root,
    /// A well-known op.
    Op,
    /// Nothing that is known.
    Unknown,
}

/// What there is to say about one name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// What was explained, by its full name.
    pub of: String,
    /// What it is.
    pub kind: Subject,
    /// The meaning, in Markdown.
    pub text: String,
    /// What holds now, with the layer each value comes from; secrets masked.
    pub values: Vec<EffectiveValue>,
    /// Other names worth asking for; of an unknown name the nearest ones.
    pub related: Vec<String>,
}

/// Explains `of`. A name that means several things is explained as the first of: an adapter of the
/// configuration, a path of keys, a code, the field of an adapter, an op, a filter, a root; the
/// others are said in `related`.
pub fn explain(snapshot: &Snapshot, of: &str) -> Explanation {
    let of = of.trim();
    let found = adapter(snapshot, of)
        .or_else(|| path(snapshot, of))
        .or_else(|| code(of))
        .or_else(|| field_by_name(of))
        .or_else(|| op(of))
        .or_else(|| filter(of))
        .or_else(|| root(of));
    found.unwrap_or_else(|| unknown(snapshot, of))
}

fn explanation(of: impl Into<String>, kind: Subject, doc: &Doc) -> Explanation {
    Explanation {
        of: of.into(),
        kind,
        text: doc.markdown(),
        values: Vec::new(),
        related: Vec::new(),
    }
}

fn adapter(snapshot: &Snapshot, of: &str) -> Option<Explanation> {
    let name = of.strip_prefix("adapters.").unwrap_or(of);
    let mut keys = keys(name);
    let name = match (keys.pop(), keys.is_empty()) {
        (Some(name), true) => name,
        _ => return None,
    };
    let mut doc = Doc::default();
    let mut found = Vec::new();
    let mut known = false;
    let several = snapshot.workspaces.len() > 1;
    for workspace in &snapshot.workspaces {
        let scene = Scene::of_workspace(workspace);
        if workspace.stack.merged(&name, View::Shown).is_none() {
            continue;
        }
        known = true;
        if several {
            doc.paragraph(
                Line::of("In ")
                    .code(workspace.root.to_string_lossy())
                    .then(":"),
            );
        }
        field::adapter(&mut doc, &scene, &name);
        // What waits for trust does not hold.
        if let Some(merged) = workspace.stack.merged(&name, View::InForce) {
            found.extend(values(&workspace.stack, &["adapters", &name], &merged));
        }
        doc.list(found.iter().map(|value: &EffectiveValue| {
            Line::name(format!("{} = {}", value.field, shown(&value.value)))
                .then(format!(" from the {} layer, ", value.layer))
                .code(format!("{}:{}", value.path.display(), value.line))
        }));
    }
    if !known {
        return None;
    }
    let mut explanation = explanation(dotted(&["adapters", &name]), Subject::Adapter, &doc);
    explanation.values = found;
    Some(explanation)
}

/// A path from the top of the file.
fn path(snapshot: &Snapshot, of: &str) -> Option<Explanation> {
    let owned = keys(of);
    let keys: Vec<&str> = owned.iter().map(String::as_str).collect();
    if keys.is_empty() || (keys.len() == 1 && schema::root().field(of).is_none()) {
        return None;
    }
    let relative = |keys: &[&str]| {
        // `ops.search.items`: below any adapter.
        let full: Vec<&str> = ["adapters", "NAME"].iter().chain(keys).copied().collect();
        schema::lookup(&full).map(|found| (full.clone().len(), found))
    };
    let first_is_known = schema::root().field(keys.first()?).is_some();
    let (found, full) = if first_is_known {
        (schema::lookup(&keys)?, keys.clone())
    } else {
        let (_, found) = relative(&keys)?;
        if matches!(found, Found::Free(_)) && keys.len() == 1 {
            return None;
        }
        (found, keys.clone())
    };
    let mut doc = Doc::default();
    field::described(&mut doc, keys.last()?, &found);
    let mut explanation = explanation(dotted(&full), Subject::Field, &doc);
    if let Some(table) = found.kind().table() {
        explanation.related = members(table, of);
    }
    if first_is_known {
        for workspace in &snapshot.workspaces {
            let stack = &workspace.stack;
            let (merged, below) = match full.as_slice() {
                ["adapters", name, below @ ..] => (stack.merged(name, View::InForce), below),
                [top, below @ ..] => (stack.merged_top(top), below),
                [] => continue,
            };
            if let Some(at) = merged.as_ref().and_then(|merged| merged.at(below)) {
                explanation.values.extend(values(stack, &full, at));
            }
        }
    }
    Some(explanation)
}

fn members(table: &TableSpec, of: &str) -> Vec<String> {
    table
        .fields
        .iter()
        .map(|field| format!("{of}.{}", field.name))
        .collect()
}

/// A field by its bare name: of an adapter first, then of any table below it.
fn field_by_name(of: &str) -> Option<Explanation> {
    let places: [&[&str]; 7] = [
        &[],
        &["when"],
        &["ops", "NAME"],
        &["on"],
        &["tools"],
        &["ops", "NAME", "map"],
        &["NAME-of-companion"],
    ];
    let mut found: Vec<(String, Found)> = Vec::new();
    for place in places {
        let (path, name): (Vec<&str>, String) = if place == ["NAME-of-companion"] {
            (vec!["companion", of], format!("companion.{of}"))
        } else {
            let below: Vec<&str> = place.iter().copied().chain([of]).collect();
            let path = ["adapters", "NAME"].into_iter().chain(below.clone());
            (path.collect(), dotted(&below))
        };
        if let Some(field) = schema::lookup(&path)
            && field.field().is_some()
        {
            found.push((name, field));
        }
    }
    let mut found = found.into_iter();
    let (name, first) = found.next()?;
    let mut doc = Doc::default();
    field::described(&mut doc, of, &first);
    let mut explanation = explanation(name, Subject::Field, &doc);
    explanation.related = found.map(|(name, _)| name).collect();
    Some(explanation)
}

fn code(of: &str) -> Option<Explanation> {
    let code = Code::parse(of)?;
    let mut doc = Doc::default();
    field::code(&mut doc, code);
    let spec = code.spec();
    if spec.bad.len() < 2000 {
        doc.paragraph(Line::of("Shows it:"));
        doc.code(spec.bad);
        doc.paragraph(Line::of("Put right:"));
        doc.code(spec.good);
    }
    Some(explanation(code.id(), Subject::Code, &doc))
}

fn op(of: &str) -> Option<Explanation> {
    let spec = schema::op(of.strip_prefix("ops.").unwrap_or(of))?;
    let mut doc = Doc::default();
    field::op(&mut doc, spec.name);
    Some(explanation(format!("ops.{}", spec.name), Subject::Op, &doc))
}

fn filter(of: &str) -> Option<Explanation> {
    let name = of.trim_start_matches('|').trim();
    let mut doc = Doc::default();
    field::filter(&mut doc, name)?;
    Some(explanation(name, Subject::Filter, &doc))
}

fn root(of: &str) -> Option<Explanation> {
    let name = of.trim_start_matches("{{").trim_end_matches("}}").trim();
    let (first, member) = match name.split_once('.') {
        Some((first, member)) => (first, Some(member)),
        None => (name, None),
    };
    let root = ROOTS.iter().find(|root| root.name == first)?;
    let mut doc = Doc::default();
    doc.heading(Line::name(format!("{{{{{name}}}}}")));
    let mut related = Vec::new();
    match (member, root.members) {
        (Some(member), Members::Fixed(members)) => {
            let input = members.iter().find(|input| input.name == member)?;
            doc.text(input.doc.as_str());
            doc.paragraph(Line::of("Example: ").code(input.example));
        }
        (None, Members::Fixed(members)) => {
            doc.text(root.doc.as_str());
            doc.list(members.iter().map(|input| {
                Line::name(format!("{}.{}", root.name, input.name)).then(format!(": {}", input.doc))
            }));
            related = members
                .iter()
                .map(|input| format!("{}.{}", root.name, input.name))
                .collect();
        }
        _ => doc.text(root.doc.as_str()),
    }
    let mut explanation = explanation(name, Subject::Root, &doc);
    explanation.related = related;
    Some(explanation)
}

fn unknown(snapshot: &Snapshot, of: &str) -> Explanation {
    let names = snapshot
        .workspaces
        .iter()
        .flat_map(|workspace| workspace.stack.adapter_names());
    let mut candidates: Vec<&str> = names.collect();
    candidates.extend(Code::ALL.iter().map(|code| code.id()));
    candidates.extend(FILTERS.iter().map(|filter| filter.name));
    candidates.extend(ROOTS.iter().map(|root| root.name));
    candidates.extend(OPS.iter().map(|op| op.name));
    let tables: [&[&str]; 4] = [
        &["adapters", ""],
        &["adapters", "", "when"],
        &["adapters", "", "ops", ""],
        &["companion"],
    ];
    for table in tables {
        let table = schema::lookup(table).and_then(|found| found.kind().table());
        candidates.extend(
            table
                .into_iter()
                .flat_map(|table| table.fields)
                .map(|field| field.name),
        );
    }
    candidates.extend(schema::root().fields.iter().map(|field| field.name));
    let asked = of.rsplit('.').next().unwrap_or(of);
    let mut related: Vec<String> = Vec::new();
    for name in [of, asked] {
        let mut left = candidates.clone();
        while let (Some(near), true) = (
            schema::nearest(name, left.iter().copied()),
            related.len() < 3,
        ) {
            let near = near.to_owned();
            left.retain(|one| *one != near);
            if !related.contains(&near) {
                related.push(near);
            }
        }
    }
    let mut doc = Doc::default();
    let mut line = Line::of("Nothing is called ").code(of).then(".");
    if let Some((first, more)) = related.split_first() {
        line = line.then(" Nearest: ").code(first.as_str());
        for name in more {
            line = line.then(", ").code(name.as_str());
        }
        line = line.then(".");
    }
    doc.paragraph(line);
    let mut explanation = explanation(of, Subject::Unknown, &doc);
    explanation.related = related;
    explanation
}

/// The keys of a dotted path; a key in double or single quotes may hold dots.
fn keys(path: &str) -> Vec<String> {
    let mut keys = vec![String::new()];
    let mut quote = None;
    for c in path.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '.') => keys.push(String::new()),
            (_, c) => {
                if let Some(last) = keys.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    keys
}
