//! Schemas as servers write them, and as nobody should.

use kontext_engine::bind::{Offer, Role, Source, ToolSchema, bind, input_schema_of};
use serde_json::{Map, Value, json};

use crate::call::{ROOT, object, op, search, tool};

#[test]
fn types_with_null_get_the_plain_value() {
    search().gives(
        json!({ "type": "object", "properties": {
            "query": { "type": ["string", "null"] },
            "limit": { "type": ["null", "integer"], "default": null },
            "project_path": { "type": ["string", "null"] },
            "verbose": { "type": ["boolean", "null"], "default": null }
        }, "required": ["query"] }),
        json!({ "query": "red panda", "limit": 7, "project_path": ROOT }),
    );
}

#[test]
fn references_are_followed() {
    search().gives(
        json!({
            "definitions": { "S": { "type": "string" }, "N": { "$ref": "#/definitions/M" }, "M": { "type": "integer" } },
            "type": "object",
            "properties": { "q": { "$ref": "#/definitions/S" }, "limit": { "$ref": "#/definitions/N" } },
            "required": ["q"]
        }),
        json!({ "q": "red panda", "limit": 7 }),
    );
    // Any pointer, escapes included; and the schema's own address.
    search().gives(
        json!({
            "$id": "https://zoo.example/find",
            "properties": {
                "a/b ~c": { "type": "array", "items": { "type": "string" } },
                "q": { "$ref": "#/properties/a~1b%20~0c" },
                "limit": { "$ref": "https://zoo.example/find#/x-more/limit" }
            },
            "x-more": { "limit": { "type": "string" } }
        }),
        json!({ "q": ["red panda"], "limit": "7" }),
    );
    // The root may be one.
    search().gives(
        json!({ "$ref": "#/$defs/In", "$defs": { "In": tool(json!({ "q": { "type": "string" } }), &["q"]) } }),
        json!({ "q": "red panda" }),
    );
}

#[test]
fn references_that_lead_nowhere_constrain_nothing() {
    let schema = json!({
        "$defs": { "Loop": { "$ref": "#/$defs/Loop" }, "A": { "$ref": "#/$defs/B" }, "B": { "$ref": "#/$defs/A" } },
        "type": "object",
        "properties": {
            "query": { "type": "string" },
            "x": { "$ref": "#/$defs/Loop" },
            "y": { "$ref": "#/nope/missing" },
            "z": { "$ref": "https://schemas.example/remote.json" },
            "limit": { "$ref": "#/$defs/A" }
        },
        "required": ["query"]
    });
    search().gives(schema.clone(), json!({ "query": "red panda", "limit": 7 }));
    // What is left of the schema still counts.
    search().args(json!({ "query": 5 })).refused(schema);
}

#[test]
fn circles_and_towers_end() {
    let circle = json!({
        "$defs": { "A": { "allOf": [{ "$ref": "#/$defs/A" }, { "$ref": "#/$defs/A" }], "type": "string" } },
        "properties": { "q": { "$ref": "#/$defs/A" } }
    });
    search().gives(circle, json!({ "q": "red panda" }));
    // Each level doubles what is applied to one value.
    let mut defs = Map::new();
    for at in 0..60 {
        let next = json!({ "$ref": format!("#/$defs/D{}", at + 1) });
        defs.insert(format!("D{at}"), json!({ "anyOf": [next, next] }));
    }
    defs.insert("D60".to_owned(), json!({ "type": "string" }));
    let tower = json!({ "$defs": defs, "properties": { "q": { "$ref": "#/$defs/D0" } } });
    search().gives(tower, json!({ "q": "red panda" }));
    // A long way from one to the next.
    let mut defs = Map::new();
    for at in 0..15_000 {
        let next = json!({ "properties": { "x": { "$ref": format!("#/$defs/D{}", at + 1) } } });
        defs.insert(format!("D{at}"), next);
    }
    let chain = json!({ "$defs": defs, "properties": { "q": {}, "x": { "$ref": "#/$defs/D0" } } });
    search().gives(chain, json!({ "q": "red panda" }));
    // As long as one may be.
    for step in ["properties", "allOf", "not"] {
        let mut defs = Map::new();
        for at in 0..95 {
            let next = json!({ "$ref": format!("#/$defs/D{}", at + 1) });
            let next = match step {
                "properties" => json!({ "properties": { "x": next } }),
                "allOf" => json!({ "allOf": [next] }),
                _ => json!({ "not": next }),
            };
            defs.insert(format!("D{at}"), next);
        }
        defs.insert("D95".to_owned(), json!(true));
        let chain =
            json!({ "$defs": defs, "properties": { "q": {}, "x": { "$ref": "#/$defs/D0" } } });
        let args = json!({ "x": { "x": { "x": 1 } } });
        let _ = search().args(args).on(Some(&chain));
        search().gives(chain, json!({ "q": "red panda" }));
    }
    // A tree, as the tool means it, is validated.
    let tree = json!({
        "$defs": { "T": { "type": "object", "properties": { "left": { "$ref": "#/$defs/T" }, "n": { "type": "integer" } } } },
        "properties": { "tree": { "$ref": "#/$defs/T" } }
    });
    let deep = json!({ "tree": { "left": { "left": { "n": "x" } } } });
    assert!(
        search()
            .args(deep)
            .refused(tree)
            .contains("`tree.left.left.n`")
    );
    // As deep as JSON is read.
    let mut deep = json!({ "type": "string" });
    for _ in 0..62 {
        deep = json!({ "properties": { "q": deep } });
    }
    search().on(Some(&deep)).unwrap();
}

#[test]
fn huge_schemas_are_bound_without_validation() {
    let names: Map<String, Value> = (0..30_000)
        .map(|at| (format!("p{at}"), json!({ "type": "string" })))
        .chain([("q".to_owned(), json!({ "type": "string" }))])
        .collect();
    let schema = json!({ "properties": names, "required": ["q"] });
    search().gives(schema, json!({ "q": "red panda" }));
}

#[test]
fn a_required_object_is_filled() {
    let model = json!({
        "type": "object",
        "properties": { "query": { "type": "string" }, "limit": { "type": "integer", "default": 20 } },
        "required": ["query"]
    });
    let by_reference = json!({
        "$defs": { "Q": model },
        "type": "object",
        "properties": { "query_model": { "$ref": "#/$defs/Q" } },
        "required": ["query_model"]
    });
    let bound = search().bound(by_reference.clone());
    assert_eq!(
        Value::Object(bound.arguments),
        json!({ "query_model": { "query": "red panda", "limit": 7 } })
    );
    let names: Vec<_> = bound
        .bindings
        .iter()
        .map(|one| (one.parameter.as_str(), one.source))
        .collect();
    assert_eq!(
        names,
        [
            ("query_model.query", Source::Role(Role::Query)),
            ("query_model.limit", Source::Role(Role::Limit))
        ]
    );
    assert!(bound.notes.is_empty());
    // In an array, and deeper.
    search().gives(
        tool(
            json!({ "queries": { "type": "array", "items": model } }),
            &["queries"],
        ),
        json!({ "queries": [{ "query": "red panda", "limit": 7 }] }),
    );
    search().gives(
        tool(
            json!({ "request": tool(json!({ "inner": model }), &["inner"]) }),
            &["request"],
        ),
        json!({ "request": { "inner": { "query": "red panda", "limit": 7 } } }),
    );
    // With null beside it.
    search().gives(
        tool(
            json!({ "params": { "anyOf": [{ "type": "null" }, model] } }),
            &["params"],
        ),
        json!({ "params": { "query": "red panda", "limit": 7 } }),
    );
    // An optional one only where its own name is the role's.
    search().gives(
        tool(json!({ "query": model }), &[]),
        json!({ "query": { "query": "red panda", "limit": 7 } }),
    );
    search().gives(tool(json!({ "options": model }), &[]), json!({}));
}

#[test]
fn an_object_that_cannot_be_filled_is_refused() {
    let filter = tool(
        json!({ "since": { "type": "string" }, "open": { "type": "boolean" } }),
        &[],
    );
    let words = search().refused(tool(json!({ "q": {}, "filter": filter }), &["q", "filter"]));
    insta::assert_snapshot!(words, @r#"`find` requires `filter` (object with `since`, `open`), for which there is no value; set it in the op's `args`, with `"*" = true` beside it to bind the others by name"#);
    let inner = tool(
        json!({ "query": {}, "scope": { "enum": ["a", "b"] } }),
        &["scope"],
    );
    search().refused(tool(json!({ "filter": inner }), &["filter"]));
}

#[test]
fn booleans_as_schemas() {
    let find = json!({
        "type": "object",
        "properties": { "query": { "type": "string" }, "raw": true, "legacy": false, "limit": {} },
        "required": ["query"],
        "additionalProperties": false
    });
    search().gives(find.clone(), json!({ "query": "red panda", "limit": 7 }));
    assert_eq!(input_schema_of(Some(&find)), find);
    search().gives(
        tool(json!({ "text": { "type": "string" } }), &[]),
        json!({ "text": "red panda" }),
    );
    assert!(
        search()
            .refused(tool(json!({ "x": false }), &["x"]))
            .contains("`x` (nothing)")
    );
}

#[test]
fn schemas_that_say_nothing() {
    let marker = json!({ "$schema": "http://json-schema.org/draft-07/schema#" });
    let bare = json!({ "type": "object" });
    for raw in [
        None,
        Some(marker),
        Some(bare),
        Some(Value::Null),
        Some(json!(true)),
        Some(json!([1])),
    ] {
        let bound = search().on(raw.as_ref()).unwrap();
        assert!(bound.arguments.is_empty());
        assert_eq!(
            bound.notes,
            ["the query cannot be passed to `find`: `find` has no parameters"]
        );
        let published = input_schema_of(raw.as_ref());
        assert_eq!(published["type"], "object");
        if let Some(Value::Object(raw)) = &raw {
            assert!(
                raw.iter()
                    .all(|(key, value)| published.get(key) == Some(value))
            );
        }
        // There is nothing to validate against.
        let args = search().args(json!({ "any": 1 })).on(raw.as_ref()).unwrap();
        assert_eq!(args.arguments, object(json!({ "any": 1 })));
    }
    // An op without a query has nothing to complain of.
    assert!(op("health", json!({})).on(None).unwrap().notes.is_empty());
}

#[test]
fn other_dialects_are_read() {
    search().gives(
        json!({
            "$schema": "http://json-schema.org/draft-04/schema#",
            "id": "x",
            "properties": { "q": { "type": "string" }, "limit": { "type": "integer", "minimum": 0, "exclusiveMinimum": true } }
        }),
        json!({ "q": "red panda", "limit": 7 }),
    );
    search().gives(
        json!({ "$schema": "https://zoo.example/dialect", "properties": { "q": { "type": "string" } } }),
        json!({ "q": "red panda" }),
    );
    // Not a schema at all: bound by what can be made out.
    search().gives(
        json!({ "type": 5, "properties": { "q": { "type": "string", "minLength": "x" } }, "required": "q" }),
        json!({ "q": "red panda" }),
    );
}

#[test]
fn a_schema_is_prepared_once() {
    let schema = tool(
        json!({ "q": { "type": "string" }, "scope": { "enum": ["a"] } }),
        &["q"],
    );
    let prepared = ToolSchema::new(Some(&schema));
    let parameters: Vec<_> = prepared
        .parameters()
        .map(|one| (one.name, one.required, one.takes))
        .collect();
    assert_eq!(
        parameters,
        [
            ("q", true, "string".to_owned()),
            ("scope", false, r#"only "a""#.to_owned())
        ]
    );
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&prepared);
    let call = search();
    let offer = Offer {
        op: "search",
        tool: "find",
        delivers_event: false,
        inputs: &call.inputs,
        named: None,
        root: ROOT,
    };
    let once = prepared.bind(&offer, None).unwrap();
    assert_eq!(once, prepared.bind(&offer, None).unwrap());
    assert_eq!(once, bind(&offer, None, Some(&schema)).unwrap());
}

#[test]
fn thousands_of_alternatives_make_no_deep_schema() {
    let one: Vec<Value> = (0..3000)
        .map(|at| tool(json!({ "query": { "const": at } }), &["query"]))
        .collect();
    search().refused(tool(json!({ "query": { "oneOf": one } }), &["query"]));
    let all: Vec<Value> = (0..3000)
        .map(|_| json!({ "properties": { "query": { "type": "string" } } }))
        .collect();
    search().gives(json!({ "allOf": all }), json!({ "query": "red panda" }));
}
