//! The arguments of declared tools (adapters.md section 8).

use kontext_config::model::DeclaredTool;
use serde_json::{Map, Value};

use crate::bind::{Offer, ToolSchema};
use crate::call::Inputs;
use crate::fault::Fault;

/// Checks arguments against the schema of the tool, before anything is called.
///
/// # Errors
/// They do not fit: with the place and the rule.
pub(crate) fn check(tool: &DeclaredTool, arguments: &Map<String, Value>) -> Result<(), Fault> {
    let none = Map::new();
    let offer = Offer {
        op: &tool.name,
        tool: &tool.name,
        delivers_event: false,
        inputs: &none,
        named: None,
        root: "",
    };
    let schema = ToolSchema::new(Some(&Value::Object(tool.schema.clone())));
    schema.bind(&offer, Some(arguments)).map(drop)
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
