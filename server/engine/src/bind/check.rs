//! Validation that cannot take long.

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Value, json};

use super::words::clip;

/// The most applications of a subschema to a value that one validation may need.
const MAX_VISITS: u64 = 200_000;
/// The most memory a compiled pattern may take, in bytes.
const MAX_PATTERN: usize = 1024 * 1024;

/// A compiled schema.
#[derive(Debug)]
pub(super) struct Check {
    validator: Validator,
    /// See [`super::prune::Pruned::per_value`].
    per_value: u64,
}

/// What a value violates.
pub(super) struct Violation {
    /// Where, names and 0-based places joined by dots; empty for the whole.
    pub(super) path: String,
    /// The rule, without the value.
    pub(super) rule: String,
}

impl Check {
    /// `None` where the schema does not compile. `formats`: whether `format` is a rule or a remark.
    pub(super) fn compile(schema: &Value, per_value: u64, formats: bool) -> Option<Self> {
        let validator = build(schema, formats).ok()?;
        Some(Self {
            validator,
            per_value,
        })
    }

    /// Whether the value is valid. One that would take too long to look at is taken for valid.
    pub(super) fn accepts(&self, value: &Value) -> bool {
        !self.affords(value) || self.validator.is_valid(value)
    }

    /// The first rule that the value violates.
    pub(super) fn violation(&self, value: &Value) -> Option<Violation> {
        if !self.affords(value) {
            return None;
        }
        let error = self.validator.validate(value).err()?;
        let path: Vec<_> = error
            .instance_path()
            .segments()
            .map(|segment| segment.to_string())
            .collect();
        Some(Violation {
            path: clip(&path.join("."), 200),
            rule: clip(&error.masked_with("the value").to_string(), 300),
        })
    }

    /// Subschemas are applied to a value by those applied to what holds it: their number grows by
    /// a factor with each level.
    fn affords(&self, value: &Value) -> bool {
        let (values, depth) = measure(value);
        let factor = self.per_value.saturating_pow(depth);
        values.saturating_mul(factor) <= MAX_VISITS
    }
}

/// How many values there are in a value, and on how many levels.
fn measure(value: &Value) -> (u64, u32) {
    let mut values = 0_u64;
    let mut deepest = 0_u32;
    let mut open = vec![(value, 1_u32)];
    while let Some((value, depth)) = open.pop() {
        values += 1;
        deepest = deepest.max(depth);
        match value {
            Value::Array(list) => open.extend(list.iter().map(|value| (value, depth + 1))),
            Value::Object(members) => {
                open.extend(members.values().map(|value| (value, depth + 1)));
            }
            _ => {}
        }
    }
    (values, deepest)
}

fn build(schema: &Value, formats: bool) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options()
        .offline()
        .should_validate_formats(formats)
        .with_pattern_options(
            PatternOptions::regex()
                .size_limit(MAX_PATTERN)
                .dfa_size_limit(MAX_PATTERN),
        )
        .build(schema)
}

/// Whether a pattern can be matched here, in linear time. Look-around and references back cannot.
pub(super) fn compiles(pattern: &str) -> bool {
    build(&json!({ "pattern": pattern }), false).is_ok()
}
