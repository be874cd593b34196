//! Reading a schema: references followed, combinations joined.

use serde_json::{Map, Value};

use super::prune::resolve;
use super::shape::{ANY, Fields, KINDS, Kind, Shape};

/// How many objects deep parameters are known.
const MAX_LEVELS: usize = 3;
/// How many combinations and references may follow one another before a value is reached.
const MAX_HOPS: usize = 16;
/// How much is read for one tool: subschemas, and values and each 16 bytes of text that are kept.
/// The rest is taken for unconstrained.
const MAX_READ: usize = 20_000;
/// How many members of one object are known.
const MAX_MEMBERS: usize = 1_000;

/// The members that a schema gives an object.
pub(super) fn read(root: &Value) -> Fields {
    let mut reader = Reader {
        root,
        left: MAX_READ,
    };
    let mut fields = reader.shape(root, MAX_LEVELS, 0).fields;
    fields.seal();
    fields
}

struct Reader<'a> {
    root: &'a Value,
    left: usize,
}

impl Reader<'_> {
    /// `levels`: how many objects deep members are still read; `hops`: how many schemas for the
    /// same value led here.
    fn shape(&mut self, schema: &Value, levels: usize, hops: usize) -> Shape {
        let members = match schema {
            Value::Bool(false) => return Shape::of_kinds(0),
            Value::Object(members) => members,
            _ => return Shape::of_kinds(ANY),
        };
        let Some(left) = self.left.checked_sub(1) else {
            return Shape::of_kinds(ANY);
        };
        self.left = left;
        if hops > MAX_HOPS {
            return Shape::of_kinds(ANY);
        }
        let mut shape = self.own(members, levels);
        if let Some(reference) = members.get("$ref").and_then(Value::as_str)
            && let Some(target) = resolve(self.root, reference)
        {
            shape = shape.and(self.shape(target, levels, hops + 1));
        }
        if let Some(all) = members.get("allOf").and_then(Value::as_array) {
            for schema in all {
                shape = shape.and(self.shape(schema, levels, hops + 1));
            }
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(any) = members.get(key).and_then(Value::as_array)
                && !any.is_empty()
            {
                let any = any
                    .iter()
                    .map(|schema| self.shape(schema, levels, hops + 1));
                shape = shape.and(Shape::either(any.collect()));
            }
        }
        shape
    }

    /// A copy of a part of the schema, as long as not too much was copied.
    fn copy(&mut self, value: &Value) -> Option<Value> {
        let size = size_of(value, self.left);
        self.left = self.left.saturating_sub(size);
        (self.left > 0).then(|| value.clone())
    }

    /// Without what other schemas add.
    fn own(&mut self, members: &Map<String, Value>, levels: usize) -> Shape {
        let mut shape = Shape::of_kinds(kinds_of(members.get("type")));
        if let Some(only) = members.get("const").and_then(|only| self.copy(only)) {
            shape = shape.and(Shape::of_options(vec![only]));
        }
        let options = members.get("enum").filter(|options| options.is_array());
        if let Some(Value::Array(options)) = options.and_then(|options| self.copy(options)) {
            shape = shape.and(Shape::of_options(options));
        }
        shape.default = members.get("default").and_then(|value| self.copy(value));
        let number = |key: &str| members.get(key).and_then(Value::as_f64);
        let text = |key: &str| members.get(key).and_then(Value::as_str).map(str::to_owned);
        let above = number("exclusiveMinimum").map(|bound| bound.floor() + 1.0);
        let below = number("exclusiveMaximum").map(|bound| bound.ceil() - 1.0);
        shape.least = [number("minimum"), above]
            .into_iter()
            .flatten()
            .reduce(f64::max);
        shape.greatest = [number("maximum"), below]
            .into_iter()
            .flatten()
            .reduce(f64::min);
        shape.format = text("format");
        shape.pattern = text("pattern");
        if levels == 0 {
            return shape;
        }
        shape.items = members
            .get("items")
            .filter(|items| items.is_object())
            .map(|items| Box::new(self.shape(items, levels - 1, 0)));
        let none = Map::new();
        let properties = members.get("properties").and_then(Value::as_object);
        let properties = properties.unwrap_or(&none);
        for (name, schema) in properties.iter().take(MAX_MEMBERS) {
            let param = self.shape(schema, levels - 1, 0);
            let schema = self.copy(schema).unwrap_or(Value::Bool(true));
            shape.fields.push(name, false, param, schema);
        }
        let required = members.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().take(MAX_MEMBERS);
        for name in required.filter_map(Value::as_str) {
            shape.fields.require(name);
        }
        shape
    }
}

/// Values and each 16 bytes of text in a value; more than `limit` is not counted.
fn size_of(value: &Value, limit: usize) -> usize {
    let mut size = 0;
    let mut open = vec![value];
    while let Some(value) = open.pop()
        && size <= limit
    {
        size += 1;
        match value {
            Value::String(text) => size += text.len() / 16,
            Value::Number(number) => size += number.as_str().len() / 16,
            Value::Array(list) => open.extend(list),
            Value::Object(members) => {
                size += members.keys().map(|key| key.len() / 16).sum::<usize>();
                open.extend(members.values());
            }
            Value::Null | Value::Bool(_) => {}
        }
    }
    size
}

fn kinds_of(types: Option<&Value>) -> u8 {
    let kind = |name: &Value| {
        let name = name.as_str()?;
        let kind = KINDS.into_iter().find(|kind| kind.name() == name)?;
        // Every integer is a number.
        let more = if kind == Kind::Number {
            Kind::Integer.bit()
        } else {
            0
        };
        Some(kind.bit() | more)
    };
    match types {
        Some(Value::Array(names)) if !names.is_empty() => names
            .iter()
            .map(|name| kind(name).unwrap_or(ANY))
            .fold(0, |kinds, kind| kinds | kind),
        Some(name) => kind(name).unwrap_or(ANY),
        None => ANY,
    }
}
