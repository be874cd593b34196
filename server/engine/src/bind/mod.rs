//! Filling the parameters of an MCP tool from its schema (adapters.md section 6).
//!
//! A [`ToolSchema`] is made once for a tool; it knows the parameters, which [`Role`] each can
//! fill, and holds compiled validators. [`ToolSchema::bind`] then fills them from what an op
//! [`Offer`]s:
//!
//! - `roles`: the roles and the names tools take them under, one table;
//! - `prune`: the schema without what cannot be used (references that lead nowhere, patterns
//!   that do not compile), or the finding that it is too large or turns in a circle;
//! - `read`: what a schema says about its parameters, references followed and combinations
//!   joined, as `shape`s;
//! - `check`: validation, bounded;
//! - `convert`: a value in the forms a parameter may want it in;
//! - `tool`: the schema prepared, and what is sent validated;
//! - `fill`: the rules of binding; `arguments`: them, beside an op's `args`;
//! - `words`: parameters and rules in words.
//!
//! Nothing is ever fetched: a reference to another document leaves its place unconstrained.

mod arguments;
mod check;
mod convert;
mod fill;
mod prune;
mod read;
mod roles;
mod shape;
mod tool;
mod words;

use serde_json::{Map, Value, json};

use crate::Fault;
pub(crate) use arguments::CORRECT_ARGS;
pub use roles::{ROLES, Role, RoleSpec, roles_of, same_name};
pub use tool::{Parameter, ToolSchema};

/// What an op has for a tool.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// The op's name; well-known ones have roles of their own.
    pub op: &'a str,
    /// The tool's name, for messages.
    pub tool: &'a str,
    /// Whether the op is called to deliver an event: then its primary role is the content.
    pub delivers_event: bool,
    /// The op's inputs by name. A role without a value, or with null, is not filled.
    pub inputs: &'a Map<String, Value>,
    /// Arguments of a declared tool: those whose names the tool knows are passed by name, before
    /// any role is filled.
    pub named: Option<&'a Map<String, Value>>,
    /// Absolute path of the repository's root.
    pub root: &'a str,
}

/// Where the value of a parameter comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// Its name is one of the role's.
    Role(Role),
    /// It is required, nothing matched it, and it got the value of the op's primary role.
    Primary(Role),
    /// An argument of the declared tool with its name.
    Argument,
    /// The op's `args`.
    Args,
    /// The default of its schema.
    Default,
    /// The only value its schema allows.
    Only,
}

impl Source {
    /// In a word or two, for a hint beside the parameter.
    pub fn label(self) -> &'static str {
        match self {
            Self::Role(role) | Self::Primary(role) => role.spec().name,
            Self::Argument => "argument",
            Self::Args => "args",
            Self::Default => "default",
            Self::Only => "only value",
        }
    }
}

/// A parameter that got a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The parameter as the tool spells it; below an object parameter, the names joined by dots.
    pub parameter: String,
    /// Where its value comes from.
    pub source: Source,
}

/// What a tool is called with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bound {
    /// `arguments` of `tools/call`.
    pub arguments: Map<String, Value>,
    /// The parameters that got a value, in the order they got it.
    pub bindings: Vec<Binding>,
    /// What whoever asked should know: one sentence each, without a full stop.
    pub notes: Vec<String>,
}

/// Prepare the schema and bind, for a single use. See [`ToolSchema::bind`].
pub fn bind(
    offer: &Offer<'_>,
    args: Option<&Map<String, Value>>,
    schema: Option<&Value>,
) -> Result<Bound, Fault> {
    ToolSchema::new(schema).bind(offer, args)
}

/// The input schema under which a server's tool is published: the server's own, unless that says
/// nothing about its type (missing, null, no object, only remarks such as `$schema`). Clients drop
/// a whole list of tools for one without `type = "object"`.
pub fn input_schema_of(raw: Option<&Value>) -> Value {
    match raw {
        Some(Value::Object(schema)) => {
            const REMARKS: [&str; 7] = [
                "$schema",
                "$id",
                "id",
                "$comment",
                "title",
                "description",
                "additionalProperties",
            ];
            let mut schema = schema.clone();
            if schema.keys().all(|key| REMARKS.contains(&key.as_str())) {
                schema.insert("type".to_owned(), json!("object"));
            }
            Value::Object(schema)
        }
        _ => json!({ "type": "object" }),
    }
}
