//! The schema of a tool, prepared.

use kontext_config::schema::nearest;
use serde_json::{Map, Value};

use super::check::{Check, Violation};
use super::convert::forms;
use super::fill::Run;
use super::prune::prune;
use super::read::read;
use super::shape::{Fields, Param};
use super::words::{quoted, takes};
use super::{Bound, Offer, Source};
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

    /// What the tool is called with.
    ///
    /// `args` are the op's, rendered: `None` binds by name, an empty map sends nothing, others are
    /// sent as they stand; with the key `"*"` = true the required parameters that are not among
    /// them are bound as well.
    ///
    /// Refused where a required parameter gets no value, where an argument of a declared tool does
    /// not fit, and where what would be sent is not valid by the schema. No message holds a value.
    pub fn bind(
        &self,
        offer: &Offer<'_>,
        args: Option<&Map<String, Value>>,
    ) -> Result<Bound, Fault> {
        let mut run = Run::new(self, offer);
        let mut arguments = Map::new();
        let rest = match args {
            None => true,
            Some(args) => {
                let rest = args.get("*").and_then(Value::as_bool);
                for (name, value) in args {
                    if rest.is_none() || name != "*" {
                        arguments.insert(name.clone(), value.clone());
                        run.bound("", name, Source::Args);
                    }
                }
                self.misspelt(offer.tool, &arguments, &mut run.notes);
                rest == Some(true)
            }
        };
        if rest {
            let required_only = args.is_some();
            run.arguments(&mut arguments, required_only)?;
            run.fields(&self.fields, &mut arguments, required_only, "");
            run.finish(args.is_none())?;
        } else if arguments.is_empty() {
            return Ok(run.into_bound(arguments));
        }
        let remedy = if args.is_some() {
            "correct `args`"
        } else {
            "give the arguments in `args`"
        };
        let arguments = self.valid(offer.tool, arguments, remedy)?;
        Ok(run.into_bound(arguments))
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

    fn valid(
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

    /// Names in `args` that the tool does not know but nearly.
    fn misspelt(&self, tool: &str, args: &Map<String, Value>, notes: &mut Vec<String>) {
        let names = || self.fields.params.iter().map(|param| param.name.as_str());
        for name in args.keys() {
            if names().all(|known| known != name)
                && let Some(near) = nearest(name, names())
            {
                let (name, tool, near) = (quoted(name), quoted(tool), quoted(near));
                notes.push(format!(
                    "{tool} has no parameter {name}, the nearest is {near}"
                ));
            }
        }
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
