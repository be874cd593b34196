//! What a schema says about a value, as far as filling it in needs to know.

use serde_json::{Number, Value, json};

use super::roles::{COUNT, Role, folded, places};

/// The types of JSON values, integers apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

pub(super) const KINDS: [Kind; 7] = [
    Kind::String,
    Kind::Integer,
    Kind::Number,
    Kind::Boolean,
    Kind::Array,
    Kind::Object,
    Kind::Null,
];

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    pub(super) fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// All types.
pub(super) const ANY: u8 = 0b111_1111;

/// What a value may be.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    kinds: u8,
    /// The only values there are (`enum`, `const`).
    pub(super) options: Option<Vec<Value>>,
    pub(super) default: Option<Value>,
    /// The least and the greatest number, both inclusive.
    pub(super) least: Option<f64>,
    pub(super) greatest: Option<f64>,
    pub(super) format: Option<String>,
    pub(super) pattern: Option<String>,
    /// What the elements of an array may be.
    pub(super) items: Option<Box<Shape>>,
    /// The members of an object.
    pub(super) fields: Fields,
}

/// The members of an object, and which of them can fill a role.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    pub(super) params: Vec<Param>,
    /// For each role the places in `params`, the best name first.
    matches: Vec<Vec<usize>>,
}

/// One member.
#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) name: String,
    /// The name without what does not count in a comparison.
    pub(super) key: String,
    pub(super) required: bool,
    pub(super) shape: Shape,
    /// Its schema, until it is compiled.
    pub(super) schema: Value,
    /// The number of its validator; see [`super::fill`].
    pub(super) probe: Option<usize>,
}

/// `{ keyword: [one, other] }`. Thousands of alternatives make one long list, not a deep schema.
fn combined(keyword: &str, mut one: Value, other: Value) -> Value {
    if let Value::Object(members) = &mut one
        && members.len() == 1
        && let Some(Value::Array(list)) = members.get_mut(keyword)
    {
        list.push(other);
        return one;
    }
    json!({ keyword: [one, other] })
}

/// The type of a value.
fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Null => Kind::Null,
        Value::Bool(_) => Kind::Boolean,
        Value::Number(number) if is_whole(number) => Kind::Integer,
        Value::Number(_) => Kind::Number,
        Value::String(_) => Kind::String,
        Value::Array(_) => Kind::Array,
        Value::Object(_) => Kind::Object,
    }
}

/// Whether a number has no fraction: also `5.0` and integers beyond 64 bits.
fn is_whole(number: &Number) -> bool {
    number.is_i64()
        || number.is_u64()
        || number
            .as_f64()
            .is_some_and(|float| float.is_finite() && float.fract() == 0.0)
}

impl Shape {
    pub(super) fn of_kinds(kinds: u8) -> Self {
        Self {
            kinds,
            options: None,
            default: None,
            least: None,
            greatest: None,
            format: None,
            pattern: None,
            items: None,
            fields: Fields::default(),
        }
    }

    pub(super) fn of_options(options: Vec<Value>) -> Self {
        let kinds = options
            .iter()
            .fold(0, |kinds, option| kinds | kind_of(option).bit());
        Self {
            options: Some(options),
            ..Self::of_kinds(kinds)
        }
    }

    /// Whether values of that type are possible.
    pub(super) fn allows(&self, kind: Kind) -> bool {
        self.kinds & kind.bit() != 0
    }

    /// Whether nothing is said about the type.
    pub(super) fn is_untyped(&self) -> bool {
        self.kinds == ANY
    }

    /// The possible types; integer only where other numbers are not.
    pub(super) fn kinds(&self) -> impl Iterator<Item = Kind> {
        KINDS.into_iter().filter(|kind| {
            self.allows(*kind) && !(*kind == Kind::Integer && self.allows(Kind::Number))
        })
    }

    /// Whether a value is of a possible type and among the possible values.
    pub(super) fn takes(&self, value: &Value) -> bool {
        self.allows(kind_of(value))
            && self
                .options
                .as_ref()
                .is_none_or(|options| options.contains(value))
    }

    /// Both hold.
    pub(super) fn and(self, other: Self) -> Self {
        let options = match (self.options, other.options) {
            // Of two long lists one is enough: what is sent is validated.
            (Some(mut one), Some(two)) if one.len().saturating_mul(two.len()) < 1_000_000 => {
                one.retain(|option| two.contains(option));
                Some(one)
            }
            (one, two) => one.or(two),
        };
        let most = |one: Option<f64>, two: Option<f64>, pick: fn(f64, f64) -> f64| {
            [one, two].into_iter().flatten().reduce(pick)
        };
        let items = match (self.items, other.items) {
            (Some(one), Some(two)) => Some(Box::new(one.and(*two))),
            (one, two) => one.or(two),
        };
        Self {
            kinds: self.kinds & other.kinds,
            options,
            default: self.default.or(other.default),
            least: most(self.least, other.least, f64::max),
            greatest: most(self.greatest, other.greatest, f64::min),
            format: self.format.or(other.format),
            pattern: self.pattern.or(other.pattern),
            items,
            fields: self.fields.joined(other.fields, true),
        }
    }

    /// One of them holds. Null beside others is no choice that is ever made.
    pub(super) fn either(mut shapes: Vec<Self>) -> Self {
        let nullable = shapes.iter().any(|shape| shape.allows(Kind::Null));
        let null_only = |shape: &Self| shape.kinds & !Kind::Null.bit() == 0;
        if !shapes.iter().all(null_only) {
            shapes.retain(|shape| !null_only(shape));
        }
        let mut shapes = shapes.into_iter();
        let first = shapes.next().unwrap_or_else(|| Self::of_kinds(ANY));
        let mut shape = shapes.fold(first, Self::or);
        if nullable {
            shape.kinds |= Kind::Null.bit();
        }
        shape
    }

    fn or(self, other: Self) -> Self {
        let objects = [&self, &other].map(|shape| shape.kinds == Kind::Object.bit());
        let options = match (self.options, other.options) {
            (Some(mut one), Some(two)) => {
                one.extend(two);
                Some(one)
            }
            _ => None,
        };
        let both =
            |one: Option<f64>, two: Option<f64>, pick: fn(f64, f64) -> f64| Some(pick(one?, two?));
        // Beside alternatives of other types the members are those of the object.
        let fields = match objects {
            [true, false] => self.fields,
            [false, true] => other.fields,
            _ => self.fields.joined(other.fields, false),
        };
        Self {
            kinds: self.kinds | other.kinds,
            options,
            default: self.default.or(other.default),
            least: both(self.least, other.least, f64::min),
            greatest: both(self.greatest, other.greatest, f64::max),
            format: self.format.or(other.format),
            pattern: self.pattern.or(other.pattern),
            items: self.items.or(other.items),
            fields,
        }
    }
}

impl Fields {
    pub(super) fn push(&mut self, name: &str, required: bool, shape: Shape, schema: Value) {
        self.params.push(Param {
            name: name.to_owned(),
            key: folded(name),
            required,
            shape,
            schema,
            probe: None,
        });
    }

    pub(super) fn require(&mut self, name: &str) {
        match self.params.iter_mut().find(|param| param.name == name) {
            Some(param) => param.required = true,
            // Required without being described: it takes anything.
            None => self.push(name, true, Shape::of_kinds(ANY), Value::Bool(true)),
        }
    }

    /// The members of both. `all`: both descriptions hold, else one of them.
    fn joined(mut self, other: Self, all: bool) -> Self {
        if self.params.is_empty() && all {
            return other;
        }
        if !all {
            for param in &mut self.params {
                let theirs = other.params.iter().find(|other| other.name == param.name);
                param.required &= theirs.is_some_and(|theirs| theirs.required);
            }
        }
        for theirs in other.params {
            let mine = self.params.iter_mut().find(|mine| mine.name == theirs.name);
            let Some(mine) = mine else {
                let required = all && theirs.required;
                self.params.push(Param { required, ..theirs });
                continue;
            };
            let shape = std::mem::replace(&mut mine.shape, Shape::of_kinds(ANY));
            let schema = mine.schema.take();
            (mine.shape, mine.schema) = if all {
                mine.required |= theirs.required;
                (
                    shape.and(theirs.shape),
                    combined("allOf", schema, theirs.schema),
                )
            } else {
                (
                    shape.or(theirs.shape),
                    combined("anyOf", schema, theirs.schema),
                )
            };
        }
        self
    }

    /// Find out which members fill which roles, on all levels.
    pub(super) fn seal(&mut self) {
        let mut ranked: [Vec<(usize, bool, usize)>; COUNT] = Default::default();
        for (at, param) in self.params.iter_mut().enumerate() {
            for (role, rank) in places(&param.key) {
                let spelt = role.spec().names.get(*rank);
                let otherwise = spelt.is_none_or(|spelt| *spelt != param.name);
                if let Some(ranked) = ranked.get_mut(role.index()) {
                    ranked.push((*rank, otherwise, at));
                }
            }
            param.shape.seal();
        }
        let in_order = |mut places: Vec<(usize, bool, usize)>| {
            places.sort_unstable();
            places.into_iter().map(|(_, _, at)| at).collect()
        };
        self.matches = ranked.into_iter().map(in_order).collect();
    }

    /// The members whose names are the role's, the best first.
    pub(super) fn for_role(&self, role: Role) -> impl Iterator<Item = &Param> {
        let places = self.matches.get(role.index());
        let places = places.map_or(&[][..], Vec::as_slice);
        places.iter().filter_map(|at| self.params.get(*at))
    }

    /// The member of that name, or else the first whose name is the same but for what does not
    /// count.
    pub(super) fn named(&self, name: &str) -> Option<&Param> {
        let exact = self.params.iter().find(|param| param.name == name);
        exact.or_else(|| {
            let key = folded(name);
            self.params.iter().find(|param| param.key == key)
        })
    }

    /// Every member on every level, before its own members.
    pub(super) fn each_mut(&mut self, visit: &mut impl FnMut(&mut Param)) {
        for param in &mut self.params {
            visit(param);
            param.shape.each_mut(visit);
        }
    }
}

impl Shape {
    fn seal(&mut self) {
        self.fields.seal();
        if let Some(items) = &mut self.items {
            items.seal();
        }
    }

    fn each_mut(&mut self, visit: &mut impl FnMut(&mut Param)) {
        self.fields.each_mut(visit);
        if let Some(items) = &mut self.items {
            items.each_mut(visit);
        }
    }
}
