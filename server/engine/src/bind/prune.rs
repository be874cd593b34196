//! The schema without what cannot be used, and how much work it makes.
//!
//! A schema comes from a server and may be anything. What is left here can be compiled on a small
//! stack, quickly and without a network; where that cannot be had, there is no schema to validate
//! against.

use percent_encoding::percent_decode_str;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value};

use super::check::compiles;

/// The most values a schema may hold, keywords and names not counted.
const MAX_VALUES: usize = 20_000;
/// The most bytes of text it may hold, names included.
const MAX_TEXT: usize = 1024 * 1024;
/// How deep it may be nested.
const MAX_DEPTH: usize = 64;
/// How deep it may be nested once every reference is replaced by what it leads to. A bound, not
/// the exact figure: the sum over everything that is referred to.
const MAX_UNFOLDED: usize = 400;
/// How many references may lead to one another before a value is reached.
const MAX_HOPS: usize = 32;
/// How many different patterns are compiled. Further ones do not constrain.
const MAX_PATTERNS: usize = 32;

/// What is left of a schema.
pub(super) struct Pruned {
    /// Its references lead to a place within it, its patterns compile, and it names no base.
    pub(super) schema: Value,
    /// The most subschemas that are applied to one value on its account.
    pub(super) per_value: u64,
}

/// Keywords whose value maps names to schemas.
const NAMED: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];
/// Keywords whose value is data.
const DATA: [&str; 5] = ["const", "enum", "default", "examples", "example"];
/// Keywords that would move what references are relative to, or refer in ways not followed here.
const DROPPED: [&str; 7] = [
    "$id",
    "id",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$recursiveAnchor",
    "$recursiveRef",
];

/// `None` where it is too large, too deep, or applies a subschema to a value while it is applying
/// it to that value.
pub(super) fn prune(root: &Value) -> Option<Pruned> {
    let mut pruning = Pruning {
        root,
        values: 0,
        text: 0,
        patterns: FxHashMap::default(),
    };
    let mut schema = pruning.schema(root, 0)?;
    // An unknown dialect would have to be fetched.
    let known = |name: &Value| {
        name.as_str().is_some_and(|name| {
            name.starts_with("http://json-schema.org/draft-0")
                || name.starts_with("https://json-schema.org/draft/20")
        })
    };
    if let Some(members) = schema.as_object_mut()
        && !members.get("$schema").is_some_and(known)
    {
        members.remove("$schema");
    }
    let per_value = Weight::of(&schema)?;
    Some(Pruned { schema, per_value })
}

/// What a reference leads to, once no reference follows; `None` for another document, a place
/// that is not there and a circle.
pub(super) fn resolve<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let mut target = target_of(root, reference)?;
    for _ in 0..MAX_HOPS {
        match target.get("$ref").and_then(Value::as_str) {
            Some(next) => target = target_of(root, next)?,
            None => return Some(target),
        }
    }
    None
}

fn target_of<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = percent_decode_str(fragment_of(root, reference)?)
        .decode_utf8()
        .ok()?;
    root.pointer(&pointer)
}

/// The part of a reference behind `#`, where it leads into this document.
fn fragment_of<'r>(root: &Value, reference: &'r str) -> Option<&'r str> {
    let own = root.get("$id").and_then(Value::as_str);
    let own = own.map_or("", |own| own.trim_end_matches('#'));
    let local = match reference.strip_prefix(own) {
        Some(rest) if rest.is_empty() || rest.starts_with('#') => rest,
        _ => reference,
    };
    match local.strip_prefix('#') {
        Some(fragment) => Some(fragment),
        None => local.is_empty().then_some(""),
    }
}

struct Pruning<'a> {
    root: &'a Value,
    values: usize,
    text: usize,
    /// Whether each pattern compiles.
    patterns: FxHashMap<&'a str, bool>,
}

impl<'a> Pruning<'a> {
    fn count(&mut self, text: usize, depth: usize) -> Option<()> {
        self.values += 1;
        self.text += text;
        let fits = self.values <= MAX_VALUES && self.text <= MAX_TEXT && depth <= MAX_DEPTH;
        fits.then_some(())
    }

    fn compiles(&mut self, pattern: &'a str) -> bool {
        if let Some(known) = self.patterns.get(pattern) {
            return *known;
        }
        let fine = self.patterns.len() < MAX_PATTERNS && compiles(pattern);
        self.patterns.insert(pattern, fine);
        fine
    }

    fn schema(&mut self, schema: &'a Value, depth: usize) -> Option<Value> {
        match schema {
            Value::Object(members) => {
                self.count(0, depth)?;
                let mut kept = Map::new();
                for (key, value) in members {
                    self.text += key.len();
                    if let Some(value) = self.keyword(key, value, depth + 1)? {
                        kept.insert(key.clone(), value);
                    }
                }
                Some(Value::Object(kept))
            }
            Value::Array(list) => {
                self.count(0, depth)?;
                let list: Option<Vec<_>> = list
                    .iter()
                    .map(|value| self.schema(value, depth + 1))
                    .collect();
                list.map(Value::Array)
            }
            _ => self.data(schema, depth).map(|()| schema.clone()),
        }
    }

    /// The inner `None` drops the keyword.
    fn keyword(&mut self, key: &str, value: &'a Value, depth: usize) -> Option<Option<Value>> {
        match (key, value) {
            ("$ref", Value::String(reference)) => {
                self.count(reference.len(), depth)?;
                let kept = resolve(self.root, reference)
                    .and_then(|_| fragment_of(self.root, reference))
                    .map(|fragment| Value::String(format!("#{fragment}")));
                Some(kept)
            }
            ("pattern", Value::String(pattern)) => {
                self.count(pattern.len(), depth)?;
                Some(self.compiles(pattern).then(|| value.clone()))
            }
            (_, Value::Object(named)) if NAMED.contains(&key) => {
                self.count(0, depth)?;
                let mut kept = Map::new();
                for (name, schema) in named {
                    self.text += name.len();
                    if key == "patternProperties" && !self.compiles(name) {
                        continue;
                    }
                    kept.insert(name.clone(), self.schema(schema, depth + 1)?);
                }
                Some(Some(Value::Object(kept)))
            }
            _ if DATA.contains(&key) => self.data(value, depth).map(|()| Some(value.clone())),
            (_, Value::String(_) | Value::Bool(_)) if DROPPED.contains(&key) => Some(None),
            _ => self.schema(value, depth).map(Some),
        }
    }

    /// Count data.
    fn data(&mut self, value: &Value, depth: usize) -> Option<()> {
        match value {
            Value::String(text) => self.count(text.len(), depth),
            // A number keeps its digits, however many there are.
            Value::Number(number) => self.count(number.as_str().len(), depth),
            Value::Null | Value::Bool(_) => self.count(0, depth),
            Value::Array(list) => {
                self.count(0, depth)?;
                list.iter()
                    .try_for_each(|value| self.data(value, depth + 1))
            }
            Value::Object(members) => {
                self.count(0, depth)?;
                members.iter().try_for_each(|(key, value)| {
                    self.text += key.len();
                    self.data(value, depth + 1)
                })
            }
        }
    }
}

/// How much work a schema makes. Works on what was pruned: every reference resolves.
struct Weight<'a> {
    root: &'a Value,
    /// The subschemas applied to a value along with this one; `None` while that is counted.
    applied: FxHashMap<*const Value, Option<u64>>,
    referred: FxHashSet<*const Value>,
    unfolded: usize,
    most: u64,
}

impl<'a> Weight<'a> {
    fn of(root: &'a Value) -> Option<u64> {
        let mut weight = Self {
            root,
            applied: FxHashMap::default(),
            referred: FxHashSet::default(),
            unfolded: height(root),
            most: 1,
        };
        weight.each(root)?;
        Some(weight.most)
    }

    /// Weigh whatever may be a schema. A value that is none weighs no more than it is counted for.
    fn each(&mut self, value: &'a Value) -> Option<()> {
        match value {
            Value::Object(members) => {
                let applied = self.applied(value)?;
                self.most = self.most.max(applied);
                members.values().try_for_each(|value| self.each(value))
            }
            Value::Array(list) => list.iter().try_for_each(|value| self.each(value)),
            _ => Some(()),
        }
    }

    fn applied(&mut self, schema: &'a Value) -> Option<u64> {
        let Value::Object(members) = schema else {
            return Some(1);
        };
        let at: *const Value = schema;
        if let Some(known) = self.applied.get(&at) {
            return *known;
        }
        self.applied.insert(at, None);
        let mut sum = 1_u64;
        for (key, value) in members {
            let more = match (key.as_str(), value) {
                ("$ref", Value::String(reference)) => {
                    let target = target_of(self.root, reference)?;
                    if self.referred.insert(target) {
                        self.unfolded += height(target);
                        if self.unfolded > MAX_UNFOLDED {
                            return None;
                        }
                    }
                    self.applied(target)?
                }
                ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => self.sum(list.iter())?,
                ("not" | "if" | "then" | "else", value) => self.applied(value)?,
                ("dependentSchemas" | "dependencies", Value::Object(named)) => {
                    self.sum(named.values())?
                }
                _ => 0,
            };
            sum = sum.saturating_add(more);
        }
        self.applied.insert(at, Some(sum));
        Some(sum)
    }

    fn sum(&mut self, schemas: impl Iterator<Item = &'a Value>) -> Option<u64> {
        let mut sum = 0_u64;
        for schema in schemas {
            sum = sum.saturating_add(self.applied(schema)?);
        }
        Some(sum)
    }
}

fn height(value: &Value) -> usize {
    let children = match value {
        Value::Array(list) => list.iter().map(height).max(),
        Value::Object(members) => members.values().map(height).max(),
        _ => None,
    };
    1 + children.unwrap_or(0)
}
