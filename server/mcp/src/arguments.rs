//! The arguments of a call, held against the tool's own input schema.

use serde_json::{Map, Value};

/// Checks `arguments` against the flat object schema `schema`: known names, required names, types
/// of the top level.
///
/// # Errors
///
/// One sentence that names the argument and, for a misspelt one, the nearest that is known.
pub fn check(tool: &str, schema: &Value, arguments: &Map<String, Value>) -> Result<(), String> {
    let empty = Map::new();
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&empty);
    for (name, value) in arguments {
        let Some(property) = properties.get(name) else {
            return Err(unknown(tool, name, properties));
        };
        let wanted = property.get("type").and_then(Value::as_str);
        if let Some(wanted) = wanted
            && !is_of(wanted, value)
        {
            return Err(format!(
                "the argument `{name}` of `{tool}` must be of type {wanted}"
            ));
        }
    }
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !arguments.contains_key(name) {
            return Err(format!("`{tool}` needs the argument `{name}`"));
        }
    }
    Ok(())
}

fn unknown(tool: &str, name: &str, properties: &Map<String, Value>) -> String {
    if properties.is_empty() {
        return format!("`{tool}` takes no arguments, but got `{name}`");
    }
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    let hint = match nearest(name, names.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    let list: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!(
        "`{tool}` has no argument `{name}`{hint} (known: {})",
        list.join(", ")
    )
}

/// The one of `known` that `name` is most probably a misspelling of.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| {
            let likeness = strsim::jaro_winkler(&lower, &candidate.to_lowercase());
            (candidate, likeness)
        })
        .filter(|(_, likeness)| *likeness >= 0.8)
        .max_by(|(_, one), (_, other)| one.total_cmp(other))
        .map(|(candidate, _)| candidate)
}

fn is_of(wanted: &str, value: &Value) -> bool {
    match wanted {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_i64().is_some() || value.as_u64().is_some(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}

/// The text argument `name`, where it is given.
pub fn text<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn verdict(arguments: Value) -> String {
        let schema = json!({
            "type": "object",
            "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
            "required": ["path"],
        });
        let arguments = serde_json::from_value(arguments).expect("an object");
        check("t", &schema, &arguments).map_or_else(|words| words, |()| "fits".to_owned())
    }

    #[test]
    fn arguments_are_refused_by_name() {
        insta::assert_snapshot!(verdict(json!({"path": "a"})), @"fits");
        insta::assert_snapshot!(verdict(json!({"pth": "a"})), @"`t` has no argument `pth`; did you mean `path`? (known: `path`, `text`)");
        insta::assert_snapshot!(verdict(json!({"zzz": "a"})), @"`t` has no argument `zzz` (known: `path`, `text`)");
        insta::assert_snapshot!(verdict(json!({"path": 1})), @"the argument `path` of `t` must be of type string");
        insta::assert_snapshot!(verdict(json!({"text": "a"})), @"`t` needs the argument `path`");
    }
}
