//! What an op is called with.

use serde_json::{Map, Value};

/// What an op is called with.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// By the names templates know them by.
    pub values: Map<String, Value>,
    /// The arguments of a declared tool, to be passed on by name.
    pub named: Option<Map<String, Value>>,
}

impl From<Map<String, Value>> for Inputs {
    fn from(values: Map<String, Value>) -> Self {
        Self {
            values,
            named: None,
        }
    }
}
