//! The arguments of declared tools (adapters.md section 8).

use kontext_config::model::DeclaredTool;
use serde_json::{Map, Value};

use crate::bind::ToolSchema;
use crate::call::Inputs;
use crate::fault::Fault;

/// Checks arguments against the schema of the tool, before anything is called.
///
/// # Errors
/// They do not fit: with the place and the rule.
pub(crate) fn check(tool: &DeclaredTool, arguments: &Map<String, Value>) -> Result<(), Fault> {
    let schema = ToolSchema::new(Some(&Value::Object(tool.schema.clone())));
    schema.check(&tool.name, arguments)
}

/// What templates see of arguments: each by its name, and all below `args`.
pub(crate) fn inputs(arguments: Map<String, Value>) -> Inputs {
    let mut values = arguments.clone();
    values.insert("args".to_owned(), Value::Object(arguments.clone()));
    Inputs {
        values,
        named: Some(arguments),
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::expect_used,
        reason = "a test fails by panicking"
    )]

    use kontext_config::model::{DeclaredTool, ToolOp};
    use serde_json::{Map, Value, json};

    fn checked(arguments: &Value) -> Result<(), String> {
        let schema = json!({
            "type": "object",
            "properties": {"zone": {"type": "string"}, "count": {"type": "integer"}},
            "required": ["zone"],
        });
        let tool = DeclaredTool {
            name: "noon".to_owned(),
            description: None,
            schema: schema.as_object().unwrap().clone(),
            op: ToolOp::Inline(Box::default()),
        };
        let none = Map::new();
        super::check(&tool, arguments.as_object().unwrap_or(&none))
            .map_err(|fault| fault.to_string())
    }

    #[test]
    fn arguments_are_checked_even_where_there_are_none() {
        assert_eq!(checked(&json!({"zone": "UTC", "count": 2})), Ok(()));
        let required =
            r#"the arguments do not fit the schema of `noon`: "zone" is a required property"#;
        assert_eq!(checked(&json!({})), Err(required.to_owned()));
        assert_eq!(checked(&json!({"*": true})), Err(required.to_owned()));
        let wrong = checked(&json!({"zone": "UTC", "count": "two"})).unwrap_err();
        assert!(
            wrong.starts_with("the argument `count` does not fit the schema of `noon`: "),
            "{wrong}"
        );
    }
}
