//! The JSON Schema of a layer file, for other TOML tools.
//!
//! A layer may hold any part of an adapter, so nothing is required that another layer can give,
//! and fields are not tied to drivers: what a schema cannot know it does not forbid.

use serde_json::{Map, Value, json};

use super::kind::{FieldSpec, Kind, OpenKeys, Required, TableSpec};

/// The schema, draft 2020-12. Tables with a name of their own stand under `$defs`.
pub fn json_schema() -> Value {
    let mut defs = Map::new();
    let root = super::root();
    let mut schema = Map::new();
    schema.insert(
        "$schema".into(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    schema.insert("title".into(), json!("kontext adapter configuration"));
    schema.extend(table(root, &mut defs));
    // An unknown table at the top is another program's: a hint there, not an error here.
    schema.insert("additionalProperties".into(), json!(true));
    schema.insert("$defs".into(), Value::Object(defs));
    Value::Object(schema)
}

fn table(spec: &'static TableSpec, defs: &mut Map<String, Value>) -> Map<String, Value> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut order = Vec::new();
    for field in spec.fields {
        properties.insert(field.name.into(), property(field, defs));
        order.push(json!(field.name));
        if field.required == Required::Here {
            required.push(json!(field.name));
        }
    }
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("description".into(), json!(spec.doc.as_str()));
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), Value::Array(required));
    }
    let rest = spec
        .open
        .map_or(json!(false), |open| kind(&open.kind, defs));
    schema.insert("additionalProperties".into(), rest);
    schema
}

fn property(field: &'static FieldSpec, defs: &mut Map<String, Value>) -> Value {
    let mut doc = field.doc.as_str().to_owned();
    if !field.drivers.is_all() {
        doc.push_str(&format!("\n\nDrivers: {}.", field.drivers));
    }
    let mut schema = Map::new();
    schema.insert("description".into(), json!(doc));
    if let Some(default) = field.default.and_then(default_value) {
        schema.insert("default".into(), default);
    }
    // Beside `$ref`, siblings are allowed since 2019-09: the description of the field wins.
    if let Value::Object(of_kind) = kind(&field.kind, defs) {
        for (key, value) in of_kind {
            schema.entry(key).or_insert(value);
        }
    }
    Value::Object(schema)
}

fn kind(of: &'static Kind, defs: &mut Map<String, Value>) -> Value {
    match of {
        Kind::Bool => json!({"type": "boolean"}),
        Kind::False => json!({"const": false}),
        Kind::Integer { min } => json!({"type": "integer", "minimum": min}),
        Kind::Number { min } if min.is_finite() => json!({"type": "number", "minimum": min}),
        Kind::Number { .. } => json!({"type": "number"}),
        Kind::Str(_) => json!({"type": "string"}),
        Kind::OneOf {
            values,
            ignore_case,
        } => {
            let mut names: Vec<String> = values.iter().map(|value| value.value.into()).collect();
            if *ignore_case {
                names.extend(values.iter().map(|value| value.value.to_lowercase()));
            }
            json!({"type": "string", "enum": names})
        }
        Kind::Array { item, non_empty } => {
            let mut schema = json!({"type": "array", "items": kind(item, defs)});
            if let (true, Value::Object(members)) = (*non_empty, &mut schema) {
                members.insert("minItems".into(), json!(1));
            }
            schema
        }
        Kind::Table(spec) => reference(spec, defs),
        Kind::Map(open) => map(open, defs),
        Kind::ArrayOfTables(spec) => json!({"type": "array", "items": reference(spec, defs)}),
        Kind::Scalar(_) => json!({"type": ["string", "number", "boolean"]}),
        Kind::Any(_) => json!({}),
        Kind::JsonSchema => json!({
            "type": "object",
            "anyOf": [
                {"required": ["type"], "properties": {"type": {"const": "object"}}},
                {"required": ["properties"]},
                {"required": ["$ref"]},
            ],
        }),
        Kind::Either(kinds) => {
            let any: Vec<Value> = kinds.iter().map(|one| kind(one, defs)).collect();
            json!({"anyOf": any})
        }
    }
}

fn map(open: &'static OpenKeys, defs: &mut Map<String, Value>) -> Value {
    let value = kind(&open.kind, defs);
    let mut properties = Map::new();
    for known in open.known {
        let mut described = Map::new();
        described.insert("description".into(), json!(known.doc.as_str()));
        if let Value::Object(members) = value.clone() {
            described.extend(members);
        }
        properties.insert(known.name.into(), Value::Object(described));
    }
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    if !properties.is_empty() {
        schema.insert("properties".into(), Value::Object(properties));
    }
    schema.insert("additionalProperties".into(), value);
    Value::Object(schema)
}

fn reference(spec: &'static TableSpec, defs: &mut Map<String, Value>) -> Value {
    if !defs.contains_key(spec.name) {
        // Taken before it is filled: a table may contain itself.
        defs.insert(spec.name.into(), Value::Null);
        let schema = table(spec, defs);
        defs.insert(spec.name.into(), Value::Object(schema));
    }
    json!({"$ref": format!("#/$defs/{}", spec.name)})
}

/// A default of the table of fields as JSON. The few forms that occur (`"…"`, `true`, `0.9`, `[]`,
/// `{}`) are the same in both; a test holds that.
fn default_value(toml: &str) -> Option<Value> {
    serde_json::from_str(toml).ok()
}
