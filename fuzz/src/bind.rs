//! Filling the parameters of a tool whose schema may be anything.

use kontext_engine::bind::{Offer, ToolSchema, input_schema_of};
use serde_json::{Map, Value};

/// A text that no schema holds by itself.
const SECRET: &str = "hunter2-hunter2";

/// A tool gets parameters it has, the same every time, and no message holds a value.
pub fn bind(data: &[u8]) {
    let Ok(Value::Object(mut case)) = serde_json::from_slice::<Value>(data) else {
        return;
    };
    let schema = case.remove("schema");
    let mut object = |key: &str| match case.remove(key) {
        Some(Value::Object(object)) => Some(object),
        _ => None,
    };
    let mut inputs = object("inputs").unwrap_or_default();
    let args = object("args");
    let named = object("named");
    let op = case.remove("op");
    let op = op.as_ref().and_then(Value::as_str).unwrap_or("search");
    for input in ["query", "target", "uri", "markdown", "prompt"] {
        inputs.insert(input.to_owned(), Value::from(SECRET));
    }

    let prepared = ToolSchema::new(schema.as_ref());
    let offer = Offer {
        op,
        tool: "tool",
        delivers_event: data.len() % 2 == 1,
        inputs: &inputs,
        named: named.as_ref(),
        root: "/repo",
    };
    let told = |text: &Value| text.to_string().contains("hunter2");
    let known = |map: &Option<Map<String, Value>>| {
        map.as_ref().is_some_and(|map| {
            map.iter()
                .any(|(key, value)| key.contains("hunter2") || told(value))
        })
    };
    let spoilt = schema.as_ref().is_some_and(told)
        || known(&args)
        || known(&named)
        || op.contains("hunter2");
    let bound = prepared.bind(&offer, args.as_ref());
    assert_eq!(bound, prepared.bind(&offer, args.as_ref()));
    match &bound {
        Ok(bound) => {
            if args.is_none() {
                for name in bound.arguments.keys() {
                    assert!(
                        prepared.parameters().any(|one| one.name == name),
                        "the tool has no {name:?}"
                    );
                }
            }
            for note in &bound.notes {
                assert!(spoilt || !note.contains(SECRET), "{note}");
            }
        }
        Err(fault) => assert!(spoilt || !fault.message().contains(SECRET), "{fault}"),
    }
    assert!(input_schema_of(schema.as_ref()).is_object());
}
