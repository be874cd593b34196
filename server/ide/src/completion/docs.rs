//! The documentation of an item, made when somebody looks at it.

use kontext_config::codes::Code;
use kontext_config::eval::filter;
use kontext_config::schema::{
    self, EVENT_INPUTS, FieldSpec, InputSpec, OUTPUT_FILE, PARAM_TYPES, Required,
};

use super::DocRef;

/// The documentation as Markdown; empty where there is none.
pub fn resolve(doc: &DocRef) -> String {
    found(doc).unwrap_or_default()
}

fn found(doc: &DocRef) -> Option<String> {
    match doc {
        DocRef::None => None,
        DocRef::Field(path) => {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            let found = schema::lookup(&path)?;
            match found.field() {
                Some(field) => Some(field_doc(field)),
                None => Some(found.doc()?.to_string()),
            }
        }
        DocRef::Value(path, value) => {
            let path: Vec<&str> = path.iter().map(String::as_str).collect();
            let kind = schema::lookup(&path)?.kind();
            let described = kind
                .values()
                .chain(PARAM_TYPES)
                .chain(schema::ENTRY_KINDS)
                .find(|one| one.value == value)?;
            Some(described.doc.to_string())
        }
        DocRef::Root(name) => Some(schema::root_of_template(name)?.doc.to_string()),
        DocRef::Member(root, name) => match schema::root_of_template(root)?.members {
            schema::Members::Fixed(members) => input_doc(members.iter(), name),
            _ => None,
        },
        DocRef::Input(op, name) => {
            let inputs = schema::inputs_of(op).iter();
            input_doc(inputs.chain(EVENT_INPUTS).chain([&OUTPUT_FILE]), name)
        }
        DocRef::Filter(name) => {
            let filter = filter(name)?;
            Some(format!("{}\n\n{}", filter.doc, filter.example))
        }
        DocRef::Code(id) => {
            let spec = Code::parse(id)?.spec();
            Some(format!("**{}**\n\n{}", spec.title, spec.explanation))
        }
    }
}

fn field_doc(field: &FieldSpec) -> String {
    let mut out = format!("{}\n\nType: {}", field.doc, field.kind);
    if let Some(default) = field.default {
        out.push_str(&format!("; default: `{default}`"));
    }
    if field.required != Required::No {
        out.push_str("; required");
    }
    if !field.drivers.is_all() {
        out.push_str(&format!("; driver: {}", field.drivers));
    }
    out.push_str(&format!("\n\n```toml\n{}\n```", field.example));
    out
}

fn input_doc<'a>(mut inputs: impl Iterator<Item = &'a InputSpec>, name: &str) -> Option<String> {
    let input = inputs.find(|input| input.name == name)?;
    Some(format!(
        "{}\n\nSuch as `{}`",
        input.doc,
        input.example.escape_debug()
    ))
}
