//! What holds of every schema.

use kontext_engine::bind::input_schema_of;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::call::{Call, op, search};

/// Text that is often a keyword, a name or a reference.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "type", "properties", "required", "$ref", "anyOf", "oneOf", "allOf", "not", "items",
            "enum", "const", "default", "pattern", "format", "minimum", "maximum", "$defs", "if",
            "additionalProperties", "patternProperties", "dependentSchemas", "$id", "$schema",
            "unevaluatedProperties", "multipleOf", "contains", "prefixItems", "uniqueItems",
            "query", "q", "limit", "text", "max_results", "object", "string", "integer", "array",
            "null", "boolean", "#", "#/$defs/a", "#/properties/q", "#/properties/query", "a",
            "^a+$", "uri", "date-time", "http://json-schema.org/draft-07/schema#",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::sample::select(vec![
            "1e999",
            "-1e400",
            "0.1",
            "5.0",
            "98765432109876543210987",
            "1e-999"
        ])
        .prop_map(|text| serde_json::from_str(text).unwrap()),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A plain schema of a parameter.
fn plain() -> impl Strategy<Value = Value> {
    let simple = prop_oneof![
        Just(json!({ "type": "string" })),
        Just(json!({ "type": ["string", "null"] })),
        Just(json!({ "type": "boolean", "default": false })),
        Just(json!({ "type": "string", "enum": ["a", "b"], "default": "b" })),
        Just(json!({ "const": 4 })),
        Just(json!({})),
        Just(json!({ "type": "string", "pattern": "^[a-z ]*$" })),
        (0i64..5, 5i64..50).prop_map(
            |(least, most)| json!({ "type": "integer", "minimum": least, "maximum": most })
        ),
        Just(json!({ "type": "array", "items": { "type": "string" }, "default": [] })),
        Just(json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }], "default": null })),
        Just(json!({ "$ref": "#/$defs/S" })),
    ];
    simple.prop_recursive(2, 12, 4, |inner| {
        prop::collection::btree_map(name(), (inner, any::<bool>()), 0..4).prop_map(object_schema)
    })
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "query", "q", "text", "limit", "top_k", "maxFiles", "project", "scope", "mode", "since",
        "filter",
    ])
    .prop_map(str::to_owned)
}

fn object_schema(members: std::collections::BTreeMap<String, (Value, bool)>) -> Value {
    let required: Vec<_> = members
        .iter()
        .filter(|(_, (_, required))| *required)
        .map(|(name, _)| name.clone())
        .collect();
    let properties: Map<_, _> = members
        .into_iter()
        .map(|(name, (schema, _))| (name, schema))
        .collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_schema_is_too_odd(mut schema in any_json(), members in prop::collection::vec((word(), any_json()), 0..5), args in any_json(), limit in any_json()) {
        if let Value::Object(schema) = &mut schema {
            schema.insert("properties".to_owned(), Value::Object(members.into_iter().collect()));
        }
        let call = op("search", json!({ "query": "red panda", "limit": limit }));
        let _ = call.on(Some(&schema));
        let _ = Call::declared(json!({ "query": "x", "limit": limit, "a": schema })).on(Some(&schema));
        if let Value::Object(mut args) = args {
            let _ = search().args(Value::Object(args.clone())).on(Some(&schema));
            args.insert("*".to_owned(), json!(true));
            let _ = search().args(Value::Object(args)).on(Some(&schema));
        }
        let published = input_schema_of(Some(&schema));
        prop_assert!(published.is_object());
    }

    #[test]
    fn what_is_bound_is_valid(members in prop::collection::btree_map(name(), (plain(), any::<bool>()), 0..6)) {
        let mut schema = object_schema(members);
        schema["$defs"] = json!({ "S": { "type": "string", "minLength": 2 } });
        if let Ok(bound) = search().on(Some(&schema)) {
            let arguments = Value::Object(bound.arguments);
            prop_assert!(jsonschema::is_valid(&schema, &arguments), "{arguments} of {schema}");
        }
    }
}
