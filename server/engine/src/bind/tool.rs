//! The schema of a tool, prepared.

use kontext_syntax::text::quoted;
use serde_json::{Map, Value};

use super::check::{Check, Violation};
use super::convert::forms;
use super::prune::prune;
use super::read::read;
use super::shape::{Fields, Param};
use super::words::takes;
use crate::Fault;

/// How many parameters have a validator of their own; what is given to others is seen by that of
/// the whole.
const MAX_PROBES: usize = 300;

/// The input schema of a tool, prepared. Binding against it takes microseconds; making it compiles
/// validators and may take some milliseconds.
#[derive(Debug)]
pub struct ToolSchema {
    pub(super) fields: Fields,
    /// The whole schema.
    whole: Option<Check>,
    /// Each parameter's schema alone, as the member [`probe_name`] of an object.
    probes: Option<Check>,
}

/// A parameter of a tool, for completion and hints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// Its name as the tool spells it.
    pub name: &'a str,
    /// Whether the tool requires it.
    pub required: bool,
    /// What it takes, in words.
    pub takes: String,
}

impl ToolSchema {
    /// Of a schema as the server sent it: an object, or a boolean, null or nothing, which say no
    /// more than that there are no known parameters.
    pub fn new(schema: Option<&Value>) -> Self {
        let Some(schema) = schema.filter(|schema| schema.is_object()) else {
            return Self {
                fields: Fields::default(),
                whole: None,
                probes: None,
            };
        };
        let Some(pruned) = prune(schema) else {
            return Self {
                fields: read(schema),
                whole: None,
                probes: None,
            };
        };
        let mut fields = read(&pruned.schema);
        let probes = probe_schema(&pruned.schema, &mut fields);
        Self {
            fields,
            whole: Check::compile(&pruned.schema, pruned.per_value, false),
            probes: Check::compile(&probes, pruned.per_value.saturating_add(1), true),
        }
    }

    /// The tool's parameters, in its order.
    pub fn parameters(&self) -> impl Iterator<Item = Parameter<'_>> {
        self.fields.params.iter().map(|param| Parameter {
            name: &param.name,
            required: param.required,
            takes: takes(&param.shape),
        })
    }

    /// The arguments, where they are valid by the schema as they stand. For calls that are not
    /// bound: an agent's arguments of a declared tool.
    ///
    /// # Errors
    /// They are not: with the place and the rule, without a value.
    pub fn validated(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, Fault> {
        self.valid(tool, arguments, "correct the arguments")
    }

    /// The same; the message ends with `remedy`.
    pub(super) fn valid(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        remedy: &str,
    ) -> Result<Map<String, Value>, Fault> {
        let Some(whole) = &self.whole else {
            return Ok(arguments);
        };
        let value = Value::Object(arguments);
        let violation = whole.violation(&value);
        let Some(Violation { path, rule }) = violation else {
            let Value::Object(arguments) = value else {
                return Ok(Map::new());
            };
            return Ok(arguments);
        };
        let tool = quoted(tool);
        let place = if path.is_empty() {
            format!("the arguments do not fit the schema of {tool}")
        } else {
            let path = quoted(&path);
            format!("the argument {path} does not fit the schema of {tool}")
        };
        Err(Fault::refused(format!("{place}: {rule}; {remedy}")))
    }

    /// The value, if the parameter's schema allows it.
    pub(super) fn probed(&self, param: &Param, value: Value) -> Option<Value> {
        let (Some(probes), Some(number)) = (&self.probes, param.probe) else {
            return Some(value);
        };
        let mut object = Map::new();
        object.insert(probe_name(number), value);
        let object = Value::Object(object);
        if !probes.accepts(&object) {
            return None;
        }
        match object {
            Value::Object(object) => object.into_iter().next().map(|(_, value)| value),
            _ => None,
        }
    }

    /// The first form of the value that the parameter's schema allows.
    pub(super) fn fitted(&self, param: &Param, value: &Value) -> Option<Value> {
        forms(value, &param.shape)
            .into_iter()
            .find_map(|form| self.probed(param, form))
    }
}

/// No name a tool would use.
fn probe_name(number: usize) -> String {
    format!("\u{1}{number}")
}

/// A schema that validates each parameter as a member of its own, and demands nothing of the whole.
/// What the parameters refer to stays where it was.
fn probe_schema(root: &Value, fields: &mut Fields) -> Value {
    const DEMANDS: [&str; 22] = [
        "$ref",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "default",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "else",
        "enum",
        "if",
        "maxProperties",
        "minProperties",
        "not",
        "oneOf",
        "patternProperties",
        "propertyNames",
        "required",
        "then",
        "type",
        "unevaluatedProperties",
    ];
    let mut members = root.as_object().cloned().unwrap_or_default();
    members.retain(|key, _| !DEMANDS.contains(&key.as_str()));
    let mut properties = match members.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    let mut number = 0;
    let mut probe = |param: &mut Param| {
        let schema = param.schema.take();
        if param.probe.is_none() && number < MAX_PROBES {
            param.probe = Some(number);
            properties.insert(probe_name(number), schema);
            number += 1;
        }
    };
    // The tool's own parameters before those within them.
    fields.params.iter_mut().for_each(&mut probe);
    fields.each_mut(&mut probe);
    members.insert("properties".to_owned(), Value::Object(properties));
    Value::Object(members)
}
