//! A value in the forms a parameter may want it in.

use kontext_config::eval::text_of;
use serde_json::{Number, Value};

use super::shape::{Kind, Shape};

/// How deep arrays of arrays are made.
const MAX_NESTED: usize = 4;
/// The longest text that is read as a number, in bytes.
const MAX_NUMBER: usize = 64;

/// The forms of a value that are of a type the shape allows, the nearest to the value first.
/// What else the schema says of them is for its validator.
pub(super) fn forms(value: &Value, shape: &Shape) -> Vec<Value> {
    nested(value, shape, 0)
}

/// A number moved to where the shape allows it: how many hits are wanted is no more than a wish.
pub(super) fn clamped(value: &Value, shape: &Shape) -> Option<Value> {
    let number = value.as_f64()?;
    let least = shape.least.map(f64::ceil);
    let greatest = shape.greatest.map(f64::floor);
    if let (Some(least), Some(greatest)) = (least, greatest)
        && least > greatest
    {
        return None;
    }
    let bound = match (least, greatest) {
        (Some(least), _) if number < least => least,
        (_, Some(greatest)) if number > greatest => greatest,
        _ => return None,
    };
    // Bounds beyond what a float holds exactly are nobody's.
    (bound.abs() < 9e15).then(|| Value::from(bound as i64))
}

fn nested(value: &Value, shape: &Shape, depth: usize) -> Vec<Value> {
    let mut forms = Vec::new();
    let mut offer = |form: Value| {
        if shape.takes(&form) && !forms.contains(&form) {
            forms.push(form);
        }
    };
    offer(value.clone());
    match value {
        Value::String(text) => {
            let text = text.trim();
            if shape.allows(Kind::Integer)
                && text.len() <= MAX_NUMBER
                && let Ok(number) = serde_json::from_str::<Number>(text)
            {
                offer(whole(&number).unwrap_or(Value::Number(number)));
            }
            match text {
                "true" => offer(Value::Bool(true)),
                "false" => offer(Value::Bool(false)),
                _ => {}
            }
        }
        Value::Number(number) => {
            if let Some(whole) = whole(number) {
                offer(whole);
            }
            offer(Value::String(number.to_string()));
        }
        // Nothing is no text.
        Value::Null => {}
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            if shape.allows(Kind::String) {
                offer(Value::String(text_of(value).into_owned()));
            }
        }
    }
    if shape.allows(Kind::Array) && depth < MAX_NESTED && !value.is_null() {
        let element = |value: &Value| match &shape.items {
            Some(items) => nested(value, items, depth + 1).into_iter().next(),
            None => Some(value.clone()),
        };
        let list: Option<Vec<_>> = match value {
            Value::Array(list) => list.iter().map(element).collect(),
            _ => element(value).map(|element| vec![element]),
        };
        if let Some(list) = list {
            offer(Value::Array(list));
        }
    }
    forms
}

/// `5` for `5.0`; `None` for what is an integer already or none at all.
fn whole(number: &Number) -> Option<Value> {
    let float = number.as_f64()?;
    let is_float = number.as_i64().is_none() && number.as_u64().is_none();
    (is_float && float.fract() == 0.0 && float.abs() < 9e15).then(|| Value::from(float as i64))
}
