//! The arguments of declared tools (adapters.md section 8).

use kontext_config::model::DeclaredTool;
use serde_json::{Map, Value};

use crate::bind::ToolSchema;
use crate::fault::Fault;
use crate::inputs::Inputs;

/// The arguments, checked against the schema of the tool before anything is called.
///
/// # Errors
/// They do not fit: with the place and the rule.
pub(crate) fn checked(
    tool: &DeclaredTool,
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, Fault> {
    let schema = ToolSchema::new(Some(&Value::Object(tool.schema.clone())));
    schema.validated(&tool.name, arguments)
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
