//! The rules of binding.

use std::borrow::Cow;

use kontext_syntax::text::quoted;
use serde_json::{Map, Value};

use super::convert::clamped;
use super::shape::{Fields, Kind, Param, Shape};
use super::tool::ToolSchema;
use super::words::takes;
use super::{Binding, Bound, Offer, Role, Source, roles_of};
use crate::Fault;

/// How many missing parameters a message names.
const MAX_NAMED: usize = 3;

/// One binding.
pub(super) struct Run<'a> {
    schema: &'a ToolSchema,
    offer: &'a Offer<'a>,
    /// The op's roles, the primary one first.
    roles: &'static [Role],
    /// Those that a parameter has got.
    done: Vec<Role>,
    bindings: Vec<Binding>,
    pub(super) notes: Vec<String>,
    /// Required parameters without a value, with what they take.
    missing: Vec<Missing>,
}

/// A required parameter without a value.
struct Missing {
    /// It, with what it takes.
    words: String,
    /// The input that would have filled it, had the caller given it.
    left_out: Option<&'static str>,
}

impl<'a> Run<'a> {
    pub(super) fn new(schema: &'a ToolSchema, offer: &'a Offer<'a>) -> Self {
        Self {
            schema,
            offer,
            roles: roles_of(offer.op, offer.delivers_event),
            done: Vec::new(),
            bindings: Vec::new(),
            notes: Vec::new(),
            missing: Vec::new(),
        }
    }

    pub(super) fn into_bound(self, arguments: Map<String, Value>) -> Bound {
        Bound {
            arguments,
            bindings: self.bindings,
            notes: self.notes,
        }
    }

    pub(super) fn bound(&mut self, path: &str, name: &str, source: Source) {
        self.bindings.push(Binding {
            parameter: format!("{path}{name}"),
            source,
        });
    }

    fn primary(&self) -> Role {
        self.roles.first().copied().unwrap_or(Role::Query)
    }

    /// The value of a role for a parameter: the input of the parameter's own name, where the role
    /// has several, else the first that is there.
    fn value(&self, role: Role, param: Option<&Param>) -> Option<Cow<'a, Value>> {
        if role == Role::Project {
            let root = self.offer.root;
            return (!root.is_empty()).then(|| Cow::Owned(Value::from(root)));
        }
        let inputs = role.spec().inputs;
        let own = inputs
            .iter()
            .filter(|input| param.is_some_and(|param| param.key == **input));
        own.chain(inputs)
            .filter_map(|input| self.offer.inputs.get(*input))
            .find(|value| !value.is_null())
            .map(Cow::Borrowed)
    }

    /// Pass the arguments of a declared tool by name.
    pub(super) fn arguments(
        &mut self,
        given: &mut Map<String, Value>,
        required_only: bool,
    ) -> Result<(), Fault> {
        let Some(named) = self.offer.named else {
            return Ok(());
        };
        for (name, value) in named {
            let Some(param) = self.schema.fields.named(name) else {
                continue;
            };
            if given.contains_key(&param.name) || (required_only && !param.required) {
                continue;
            }
            match self.schema.fitted(param, value) {
                Some(value) => {
                    given.insert(param.name.clone(), value);
                    self.bound("", &param.name, Source::Argument);
                    let roles = self.roles.iter().copied();
                    let filled = roles.filter(|role| role.spec().inputs.contains(&name.as_str()));
                    self.done.extend(filled);
                }
                None if value.is_null() => {}
                None => {
                    let (name, tool) = (quoted(name), quoted(self.offer.tool));
                    let takes = takes(&param.shape);
                    return Err(Fault::refused(format!(
                        "the argument {name} does not fit {tool}, which takes {takes} there; give another value"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Fill the members of an object.
    pub(super) fn fields(
        &mut self,
        fields: &Fields,
        given: &mut Map<String, Value>,
        required_only: bool,
        path: &str,
    ) {
        for role in self.roles {
            self.role(*role, fields, given, required_only, path);
        }
        // An object may take what has no place beside it, so objects come before the rest.
        for param in fields.params.iter().filter(|param| param.required) {
            if !given.contains_key(&param.name)
                && !param.shape.allows(Kind::String)
                && let Some(value) = self.wrapped(param, path, required_only, false)
            {
                given.insert(param.name.clone(), value);
            }
        }
        let primary = self.primary();
        if !required_only && !self.done.contains(&primary) {
            for param in fields.for_role(primary) {
                if !given.contains_key(&param.name)
                    && let Some(value) = self.wrapped(param, path, false, true)
                {
                    given.insert(param.name.clone(), value);
                    break;
                }
            }
        }
        for param in fields.params.iter().filter(|param| param.required) {
            if !given.contains_key(&param.name) {
                match self.unmatched(param) {
                    Some((value, source)) => {
                        given.insert(param.name.clone(), value);
                        self.bound(path, &param.name, source);
                    }
                    None => {
                        let name = quoted(&format!("{path}{}", param.name));
                        let words = format!("{name} ({})", takes(&param.shape));
                        let left_out = self.left_out(fields, param);
                        self.missing.push(Missing { words, left_out });
                    }
                }
            }
        }
    }

    /// Give a role to the first member with one of its names that can take the value.
    fn role(
        &mut self,
        role: Role,
        fields: &Fields,
        given: &mut Map<String, Value>,
        required_only: bool,
        path: &str,
    ) {
        if self.done.contains(&role) {
            return;
        }
        let mut unfit = None;
        for param in fields.for_role(role) {
            if given.contains_key(&param.name) || (required_only && !param.required) {
                continue;
            }
            let Some(value) = self.value(role, Some(param)) else {
                return;
            };
            let clamped = match role {
                Role::Limit => clamped(&value, &param.shape),
                _ => None,
            };
            let Some(fitted) = self
                .schema
                .fitted(param, clamped.as_ref().unwrap_or(&value))
            else {
                unfit.get_or_insert(param);
                continue;
            };
            if let Some(clamped) = clamped {
                let (name, tool) = (quoted(&param.name), quoted(self.offer.tool));
                self.notes.push(format!(
                    "{name} is sent as {clamped}, as far as {tool} goes"
                ));
            }
            given.insert(param.name.clone(), fitted);
            self.bound(path, &param.name, Source::Role(role));
            self.done.push(role);
            return;
        }
        // A required one is filled otherwise or reported missing.
        if let Some(param) = unfit.filter(|param| !param.required) {
            let name = quoted(&format!("{path}{}", param.name));
            let (role, takes) = (role.spec().name, takes(&param.shape));
            self.notes.push(format!(
                "{name} is not sent: the {role} cannot be converted to {takes}"
            ));
        }
    }

    /// An object, or an array of one, whose members take what is offered; `None`, and nothing
    /// changed, where none of them does or one would be missing.
    /// `needs_primary`: one of them has to take the primary value.
    fn wrapped(
        &mut self,
        param: &Param,
        path: &str,
        required_only: bool,
        needs_primary: bool,
    ) -> Option<Value> {
        let shape = &param.shape;
        let element = shape.items.as_deref();
        let (fields, in_list) = if shape.allows(Kind::Object) && !shape.fields.params.is_empty() {
            (&shape.fields, false)
        } else if shape.allows(Kind::Array) {
            let takes_object = |element: &&Shape| element.allows(Kind::Object);
            (&element.filter(takes_object)?.fields, true)
        } else {
            return None;
        };
        let before = (
            self.done.len(),
            self.bindings.len(),
            self.notes.len(),
            self.missing.len(),
        );
        let mut object = Map::new();
        self.fields(
            fields,
            &mut object,
            required_only,
            &format!("{path}{}.", param.name),
        );
        let whole = self.missing.len() == before.3;
        let fresh = self.bindings.get(before.1..).unwrap_or_default();
        let matched = fresh.iter().any(|binding| {
            matches!(binding.source, Source::Role(role) if !needs_primary || role == self.primary())
                || matches!(binding.source, Source::Primary(_))
        });
        if whole && matched {
            let object = Value::Object(object);
            let value = if in_list {
                Value::Array(vec![object])
            } else {
                object
            };
            if let Some(value) = self.schema.probed(param, value) {
                return Some(value);
            }
        }
        self.done.truncate(before.0);
        self.bindings.truncate(before.1);
        self.notes.truncate(before.2);
        self.missing.truncate(before.3);
        None
    }

    /// What a required parameter gets that nothing matched.
    fn unmatched(&mut self, param: &Param) -> Option<(Value, Source)> {
        let shape = &param.shape;
        let default = || {
            let default = shape.default.clone()?;
            Some((self.schema.probed(param, default)?, Source::Default))
        };
        match shape.options.as_deref() {
            Some([only]) => {
                return Some((self.schema.probed(param, only.clone())?, Source::Only));
            }
            Some(_) => return default(),
            None => {}
        }
        let primary = self.primary();
        // What takes anything is as good a place as a string, but not a second one.
        let text = if shape.is_untyped() {
            !self.done.contains(&primary)
        } else {
            shape.allows(Kind::String)
        };
        if text
            && let Some(value) = self.value(primary, None)
            && let Some(value) = self.schema.fitted(param, &value)
        {
            self.done.push(primary);
            return Some((value, Source::Primary(primary)));
        }
        default()
    }

    /// The input that fills this parameter where the caller gives one.
    fn left_out(&self, fields: &Fields, param: &Param) -> Option<&'static str> {
        let takes = |role: Role| {
            let mut places = fields.for_role(role);
            places.any(|place| place.name == param.name)
        };
        let roles = self.roles.iter().copied();
        let free = |role: &Role| !self.done.contains(role) && self.value(*role, None).is_none();
        let mut roles = roles.filter(free);
        let primary = self.primary();
        let role = roles.find(|role| {
            let text = *role == primary && param.shape.allows(Kind::String);
            takes(*role) || text && param.shape.options.is_none()
        })?;
        role.spec().inputs.first().copied()
    }

    /// Refuse where something is missing; say what has no place.
    pub(super) fn finish(&mut self, by_name: bool) -> Result<(), Fault> {
        let tool = quoted(self.offer.tool);
        if !self.missing.is_empty() {
            let shown = self.missing.iter().take(MAX_NAMED);
            let mut missing: Vec<String> = shown.map(|one| one.words.clone()).collect();
            let others = self.missing.len().saturating_sub(MAX_NAMED);
            if others > 0 {
                missing.push(format!("{others} more"));
            }
            let missing = missing.join(" and ");
            let remedy = if by_name {
                "set it in the op's `args`, with `\"*\" = true` beside it to bind the others by name"
            } else {
                "set it in the op's `args`"
            };
            // What the caller can give is no matter of the configuration.
            let mut gone = self.missing.iter().filter_map(|one| one.left_out);
            let remedy = match gone.next() {
                Some(input) if self.missing.iter().all(|one| one.left_out.is_some()) => {
                    format!("the caller left out the input `{input}`")
                }
                Some(input) => {
                    format!(
                        "the caller left out the input `{input}`; what else is missing: {remedy}"
                    )
                }
                None => remedy.to_owned(),
            };
            return Err(Fault::refused(format!(
                "{tool} requires {missing}, for which there is no value; {remedy}"
            )));
        }
        if !by_name {
            return Ok(());
        }
        let why = if self.schema.fields.params.is_empty() {
            format!("{tool} has no parameters")
        } else {
            format!("{tool} has no parameter for it")
        };
        let primary = self.primary();
        if !self.done.contains(&primary) && self.value(primary, None).is_some() {
            let role = primary.spec().name;
            self.notes
                .push(format!("the {role} cannot be passed to {tool}: {why}"));
        }
        for name in self.offer.named.into_iter().flat_map(Map::keys) {
            let in_a_role = |role: &&Role| role.spec().inputs.contains(&name.as_str());
            let role = self.roles.iter().find(in_a_role);
            let taken = role.is_some_and(|role| *role == primary || self.done.contains(role));
            if !taken && self.schema.fields.named(name).is_none() {
                let name = quoted(name);
                self.notes
                    .push(format!("the argument {name} is not passed: {why}"));
            }
        }
        Ok(())
    }
}
