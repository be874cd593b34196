//! Binding the parameters of MCP tools by name.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use kontext_engine::bind::{Bound, Offer, Role, Source, ToolSchema, bind, input_schema_of};
use kontext_engine::{Fault, FaultKind};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const ROOT: &str = "/home/ada/zoo";

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

/// A call of an op, to be bound.
struct Call {
    op: &'static str,
    inputs: Map<String, Value>,
    named: Option<Map<String, Value>>,
    args: Option<Map<String, Value>>,
    event: bool,
}

fn op(op: &'static str, inputs: Value) -> Call {
    Call {
        op,
        inputs: object(inputs),
        named: None,
        args: None,
        event: false,
    }
}

fn search() -> Call {
    op("search", json!({ "query": "red panda", "limit": 7 }))
}

impl Call {
    fn args(mut self, args: Value) -> Self {
        self.args = Some(object(args));
        self
    }

    fn event(mut self) -> Self {
        self.event = true;
        self
    }

    /// As a declared tool calls it: its arguments are the inputs too.
    fn declared(arguments: Value) -> Self {
        let mut call = op("search", arguments);
        call.named = Some(call.inputs.clone());
        call
    }

    fn on(&self, schema: Option<&Value>) -> Result<Bound, Fault> {
        let offer = Offer {
            op: self.op,
            tool: "find",
            delivers_event: self.event,
            inputs: &self.inputs,
            named: self.named.as_ref(),
            root: ROOT,
        };
        bind(&offer, self.args.as_ref(), schema)
    }

    #[track_caller]
    fn bound(&self, schema: Value) -> Bound {
        self.on(Some(&schema))
            .unwrap_or_else(|fault| panic!("{fault}"))
    }

    #[track_caller]
    fn gives(&self, schema: Value, arguments: Value) {
        assert_eq!(Value::Object(self.bound(schema).arguments), arguments);
    }

    #[track_caller]
    fn refused(&self, schema: Value) -> String {
        let fault = self.on(Some(&schema)).expect_err("it is refused");
        assert_eq!(fault.kind, FaultKind::Refused);
        let words = fault.message().to_owned();
        assert!(!words.contains("red panda"), "a value in {words}");
        words
    }
}

/// A schema with these properties, of which the named are required.
fn tool(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

#[test]
fn each_role_takes_its_names_in_order() {
    let string = || json!({ "type": "string" });
    let integer = || json!({ "type": "integer" });
    search().gives(
        tool(
            json!({ "text": string(), "q": string(), "top_k": integer(), "k": integer(), "repo": string() }),
            &[],
        ),
        json!({ "q": "red panda", "top_k": 7, "repo": ROOT }),
    );
    let history = op("history", json!({ "target": "a.rs:3", "query": "a.rs:3" }));
    history.gives(
        tool(json!({ "query": string(), "file_path": string() }), &[]),
        json!({ "file_path": "a.rs:3" }),
    );
    let read = op("read", json!({ "uri": "zoo://1", "level": "full" }));
    read.gives(
        tool(
            json!({ "name": string(), "id": string(), "level": string() }),
            &[],
        ),
        json!({ "id": "zoo://1" }),
    );
    let llm = op("llm", json!({ "prompt": "Why?" }));
    llm.gives(
        tool(json!({ "query": string(), "message": string() }), &[]),
        json!({ "message": "Why?" }),
    );
    for name in ["code", "brief", "find_symbols"] {
        op(name, json!({ "query": "red panda" })).gives(
            tool(json!({ "name_path": string() }), &[]),
            json!({ "name_path": "red panda" }),
        );
    }
    let health = op("health", json!({}));
    health.gives(tool(json!({ "query": string() }), &[]), json!({}));
}

#[test]
fn names_match_without_case_and_separators() {
    for (query, limit, project) in [
        ("Search-Query", "maxResults", "ProjectPath"),
        ("searchQuery", "max-results", "project_path"),
        ("SEARCH_QUERY", "MAX_RESULTS", "projectPath"),
    ] {
        search().gives(
            tool(json!({ query: {}, limit: {}, project: {} }), &[]),
            json!({ query: "red panda", limit: 7, project: ROOT }),
        );
    }
    // The tool's own spelling of the name in the table wins over its variants.
    search().gives(
        tool(json!({ "Max_Files": {}, "maxFiles": {} }), &[]),
        json!({ "maxFiles": 7 }),
    );
}

#[test]
fn a_parameter_is_bound_once_and_a_role_too() {
    search().gives(
        tool(json!({ "query": {}, "q": {}, "limit": {}, "n": {} }), &[]),
        json!({ "query": "red panda", "limit": 7 }),
    );
    // `name` is a name of content's neighbour title, `text` one of content.
    let store = op(
        "store",
        json!({ "title": "Pens", "body": "We …", "markdown": "---\nx", "tags": ["a", "b"] }),
    );
    store.gives(
        tool(
            json!({ "text": {}, "memory": {}, "name": {}, "labels": {} }),
            &[],
        ),
        json!({ "text": "---\nx", "name": "Pens", "labels": ["a", "b"] }),
    );
}

#[test]
fn an_event_gives_its_text_to_any_op() {
    let payload = json!({ "title": "Pens", "body": "We …", "markdown": "---\nx" });
    let schema = tool(
        json!({ "note": { "type": "string" }, "query": {} }),
        &["note"],
    );
    op("remember", payload.clone())
        .event()
        .gives(schema, json!({ "note": "---\nx" }));
    // The parameter's own name says which text it wants.
    op("remember", payload)
        .event()
        .gives(tool(json!({ "body": {} }), &[]), json!({ "body": "We …" }));
}

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
fn values_are_converted() {
    let limits = [
        (json!({ "type": "string" }), json!("7")),
        (json!({ "type": "number" }), json!(7)),
        (json!({ "type": ["string", "integer"] }), json!(7)),
        (
            json!({ "type": "array", "items": { "type": "integer" } }),
            json!([7]),
        ),
        (
            json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] }),
            json!(7),
        ),
        (
            json!({ "oneOf": [{ "type": "string" }, { "type": "null" }] }),
            json!("7"),
        ),
        (
            json!({ "allOf": [{ "type": ["string", "integer"] }, { "type": "string" }] }),
            json!("7"),
        ),
        (json!({}), json!(7)),
        (json!(true), json!(7)),
    ];
    for (schema, sent) in limits {
        search().gives(
            tool(json!({ "query": {}, "limit": schema }), &[]),
            json!({ "query": "red panda", "limit": sent }),
        );
    }
    let texts = [
        (
            json!({ "type": "array", "items": { "type": "string" } }),
            json!(["red panda"]),
        ),
        (json!({ "type": "array" }), json!(["red panda"])),
        (
            json!({ "type": "array", "items": { "anyOf": [{ "type": "null" }, { "type": "string" }] } }),
            json!(["red panda"]),
        ),
        (json!({ "type": ["array", "string"] }), json!("red panda")),
        (
            json!({ "type": "array", "items": { "type": "array", "items": { "type": "string" } } }),
            json!([["red panda"]]),
        ),
    ];
    for (schema, sent) in texts {
        search().gives(tool(json!({ "q": schema }), &["q"]), json!({ "q": sent }));
    }
    let store = |tags: Value| op("store", json!({ "markdown": "x", "tags": tags }));
    let strings = tool(json!({ "tags": { "type": "string" } }), &[]);
    store(json!(["a", "b"])).gives(strings, json!({ "tags": "a,b" }));
    let lists = tool(
        json!({ "tags": { "type": "array", "items": { "type": "string" } } }),
        &[],
    );
    store(json!(["a", 1])).gives(lists.clone(), json!({ "tags": ["a", "1"] }));
    store(json!("a")).gives(lists, json!({ "tags": ["a"] }));
    op("search", json!({ "query": " 42 " })).gives(
        tool(json!({ "q": { "type": "integer" } }), &[]),
        json!({ "q": 42 }),
    );
    op("search", json!({ "limit": 5.0 })).gives(
        tool(json!({ "limit": { "type": "integer" } }), &[]),
        json!({ "limit": 5.0 }),
    );
}

#[test]
fn ids_keep_every_digit() {
    let id: Value = serde_json::from_str("12345678901234567890123").unwrap();
    let call = Call::declared(json!({ "id": id, "key": id }));
    let bound = call.bound(tool(
        json!({ "id": { "type": "integer" }, "key": { "type": "string" } }),
        &[],
    ));
    assert_eq!(
        Value::Object(bound.arguments).to_string(),
        r#"{"id":12345678901234567890123,"key":"12345678901234567890123"}"#
    );
}

#[test]
fn what_cannot_be_converted_is_left_out_or_refused() {
    let schema = |required: &[&str]| tool(json!({ "query": { "type": "integer" } }), required);
    let bound = search().bound(schema(&[]));
    assert!(bound.arguments.is_empty());
    insta::assert_debug_snapshot!(bound.notes, @r#"
    [
        "`query` is not sent: the query cannot be converted to integer",
        "the query cannot be passed to `find`: `find` has no parameter for it",
    ]
    "#);
    insta::assert_snapshot!(search().refused(schema(&["query"])), @r#"`find` requires `query` (integer), for which there is no value; set it in the op's `args`, with `"*" = true` beside it to bind the others by name"#);
    // The next name is tried.
    search().gives(
        tool(
            json!({ "search": { "type": "boolean" }, "text": { "type": "string" } }),
            &[],
        ),
        json!({ "text": "red panda" }),
    );
    search().gives(
        tool(json!({ "query": false, "q": { "type": "string" } }), &[]),
        json!({ "q": "red panda" }),
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
fn a_required_string_gets_the_primary_value() {
    let bound = search().bound(tool(json!({ "needle": { "type": "string" } }), &["needle"]));
    assert_eq!(bound.arguments, object(json!({ "needle": "red panda" })));
    assert_eq!(bound.bindings[0].source, Source::Primary(Role::Query));
    assert!(bound.notes.is_empty());
    // Also beside one that matched, and where only its name is known.
    search().gives(
        tool(
            json!({ "q": {}, "needle": { "type": ["string", "null"] } }),
            &["needle"],
        ),
        json!({ "q": "red panda", "needle": "red panda" }),
    );
    search().gives(
        json!({ "type": "object", "required": ["needle"] }),
        json!({ "needle": "red panda" }),
    );
    op("read", json!({ "uri": "zoo://1" })).gives(
        tool(
            json!({ "doc": { "type": "string", "format": "uri" } }),
            &["doc"],
        ),
        json!({ "doc": "zoo://1" }),
    );
    // What takes anything does not get it twice.
    search().refused(tool(json!({ "q": {}, "filters": {} }), &["q", "filters"]));
}

#[test]
fn a_choice_never_gets_free_text() {
    let scope = json!({ "type": "string", "enum": ["code", "issues"] });
    let words = search().refused(tool(
        json!({ "q": { "description": "any" }, "scope": scope }),
        &["q", "scope"],
    ));
    insta::assert_snapshot!(words, @r#"`find` requires `scope` (one of "code", "issues"), for which there is no value; set it in the op's `args`, with `"*" = true` beside it to bind the others by name"#);
    // Not even where the text happens to be one of the values.
    op("search", json!({ "query": "code" })).refused(tool(json!({ "scope": scope }), &["scope"]));
    // As the alternatives of other generators.
    let union = json!({ "anyOf": [{ "const": "code" }, { "const": "issues" }] });
    assert!(
        search()
            .refused(tool(json!({ "scope": union }), &["scope"]))
            .contains(r#"one of "code", "issues""#)
    );
    search().gives(
        json!({ "type": "object", "properties": {
            "q": { "type": "string" },
            "scope": { "type": "string", "enum": ["code", "issues"], "default": "code" },
            "mode": { "const": "fast" },
            "tenant": { "type": "string", "pattern": "^[a-z]{2}-[0-9]+$" }
        }, "required": ["q", "scope", "mode"] }),
        json!({ "q": "red panda", "scope": "code", "mode": "fast" }),
    );
    // Long lists are cut.
    let many: Vec<_> = (0..50).map(|at| format!("v{at}")).collect();
    let words = search().refused(tool(json!({ "scope": { "enum": many } }), &["scope"]));
    assert!(
        words.contains(r#""v7", …"#) && !words.contains("v8"),
        "{words}"
    );
}

#[test]
fn formats_and_patterns_the_value_fails() {
    let failing = [
        (
            json!({ "type": "string", "format": "uri" }),
            "`x` (string of the format `uri`)",
        ),
        (
            json!({ "type": "string", "format": "date" }),
            "`x` (string of the format `date`)",
        ),
        (
            json!({ "type": "string", "pattern": "^[a-z]+$" }),
            "`x` (string that matches `^[a-z]+$`)",
        ),
        (json!({ "type": "string", "maxLength": 3 }), "`x` (string)"),
        (
            json!({ "allOf": [{ "type": "string" }, { "pattern": "^\\d+$" }] }),
            "`x` (string that matches",
        ),
    ];
    for (schema, words) in failing {
        let refused = search().refused(tool(json!({ "x": schema }), &["x"]));
        assert!(refused.contains(words), "{refused}");
        let mut with_default = object(schema);
        with_default.insert("default".to_owned(), json!("7"));
        let fits = with_default.get("format").is_none() && !refused.contains("a-z");
        if fits {
            search().gives(
                tool(json!({ "x": with_default }), &["x"]),
                json!({ "x": "7" }),
            );
        } else {
            // A default that is not valid itself is none.
            search().refused(tool(json!({ "x": with_default }), &["x"]));
        }
    }
    // Unknown formats and patterns that only other engines know fail nobody.
    for schema in [
        json!({ "type": "string", "format": "needle" }),
        json!({ "type": "string", "pattern": "^(?=r)red" }),
        json!({ "type": "string", "pattern": "(((" }),
    ] {
        search().gives(
            tool(json!({ "x": schema }), &["x"]),
            json!({ "x": "red panda" }),
        );
    }
}

#[test]
fn other_required_parameters_need_a_default() {
    search().gives(
        tool(json!({ "q": {}, "deep": { "type": "boolean", "default": false }, "page": { "type": "integer", "default": 1 } }), &["q", "deep", "page"]),
        json!({ "q": "red panda", "deep": false, "page": 1 }),
    );
    let types = json!({ "a": { "type": "boolean" }, "b": { "type": "array", "items": { "type": "string" } }, "c": { "type": "number" }, "d": { "type": "object" } });
    let words = search().refused(tool(types, &["a", "b", "c", "d"]));
    insta::assert_snapshot!(words, @r#"`find` requires `a` (boolean) and `b` (array of string) and `c` (number) and 1 more, for which there is no value; set it in the op's `args`, with `"*" = true` beside it to bind the others by name"#);
    // Without a primary value a string needs one, too.
    op("health", json!({})).refused(tool(json!({ "x": { "type": "string" } }), &["x"]));
    op("health", json!({})).gives(
        tool(json!({ "x": { "type": "string", "default": "y" } }), &["x"]),
        json!({ "x": "y" }),
    );
}

#[test]
fn limits_are_clamped() {
    let cases = [
        (json!({ "type": "integer", "maximum": 5 }), json!(5)),
        (
            json!({ "type": "integer", "minimum": 10, "maximum": 50 }),
            json!(10),
        ),
        (
            json!({ "type": "integer", "exclusiveMaximum": 5 }),
            json!(4),
        ),
        (
            json!({ "anyOf": [{ "type": "integer", "maximum": 3 }, { "type": "null" }] }),
            json!(3),
        ),
        (
            json!({ "type": "integer", "minimum": 1, "maximum": 100 }),
            json!(7),
        ),
    ];
    for (schema, sent) in cases {
        let changed = sent != json!(7);
        let bound = search().bound(tool(json!({ "q": {}, "limit": schema }), &[]));
        assert_eq!(bound.arguments["limit"], sent);
        assert_eq!(!bound.notes.is_empty(), changed, "{:?}", bound.notes);
    }
    // What cannot be met at all is not sent.
    search().gives(
        tool(
            json!({ "q": {}, "limit": { "type": "integer", "minimum": 5, "maximum": 3 } }),
            &[],
        ),
        json!({ "q": "red panda" }),
    );
}

#[test]
fn args_stand_as_they_are() {
    let schema = || {
        tool(
            json!({ "q": { "type": "string" }, "limit": { "type": "integer" }, "project": {} }),
            &["q"],
        )
    };
    search()
        .args(json!({ "q": "bear" }))
        .gives(schema(), json!({ "q": "bear" }));
    search().args(json!({})).gives(schema(), json!({}));
    search()
        .args(json!({ "limit": 3, "*": true }))
        .gives(schema(), json!({ "limit": 3, "q": "red panda" }));
    search()
        .args(json!({ "*": true }))
        .gives(schema(), json!({ "q": "red panda" }));
    // Below a required object, too, only what is required is bound.
    let inner = tool(json!({ "query": {}, "limit": {} }), &["query"]);
    let wrapped = tool(json!({ "in": inner, "out": {} }), &["in"]);
    search()
        .args(json!({ "out": 1, "*": true }))
        .gives(wrapped, json!({ "out": 1, "in": { "query": "red panda" } }));
    search()
        .args(json!({ "*": false, "q": "bear" }))
        .gives(schema(), json!({ "q": "bear" }));
    search()
        .args(json!({ "q": "bear", "*": true }))
        .gives(schema(), json!({ "q": "bear" }));
    // A parameter of that name is not taken for the switch.
    let star = tool(json!({ "*": { "type": "string" } }), &[]);
    search()
        .args(json!({ "*": "all" }))
        .gives(star, json!({ "*": "all" }));
    let enumerated = tool(
        json!({ "q": {}, "scope": { "enum": ["a", "b"] } }),
        &["q", "scope"],
    );
    search().args(json!({ "scope": "b", "*": true })).gives(
        enumerated.clone(),
        json!({ "scope": "b", "q": "red panda" }),
    );
    assert!(
        search()
            .args(json!({ "*": true }))
            .refused(enumerated)
            .ends_with("set it in the op's `args`")
    );
}

#[test]
fn args_are_validated() {
    let schema = || {
        json!({
            "type": "object",
            "properties": {
                "q": { "type": "string" },
                "filter": { "type": "object", "properties": { "tags": { "type": "array", "items": { "type": "string" } } } }
            },
            "required": ["q"],
            "additionalProperties": false
        })
    };
    let refused = |args: Value| search().args(args).refused(schema());
    insta::assert_snapshot!(refused(json!({ "q": 5 })), @r#"the argument `q` does not fit the schema of `find`: the value is not of type "string"; correct `args`"#);
    insta::assert_snapshot!(refused(json!({ "q": "x", "filter": { "tags": ["a", 2] } })), @r#"the argument `filter.tags.1` does not fit the schema of `find`: the value is not of type "string"; correct `args`"#);
    insta::assert_snapshot!(refused(json!({ "filter": {} })), @r#"the arguments do not fit the schema of `find`: "q" is a required property; correct `args`"#);
    insta::assert_snapshot!(refused(json!({ "q": "x", "z": 1 })), @r#"the arguments do not fit the schema of `find`: Additional properties are not allowed ('z' was unexpected); correct `args`"#);
    // No value shows, whichever rule it breaks.
    let secret = "hunter2hunter2";
    for rule in [
        json!({ "type": "integer" }),
        json!({ "enum": ["a"] }),
        json!({ "const": "a" }),
        json!({ "type": "string", "maxLength": 3 }),
        json!({ "type": "string", "pattern": "^x" }),
        json!({ "not": { "type": "string" } }),
        json!({ "anyOf": [{ "type": "integer" }, { "const": 1 }] }),
        json!(false),
    ] {
        let words = search()
            .args(json!({ "q": secret }))
            .refused(tool(json!({ "q": rule }), &[]));
        assert!(!words.contains(secret), "{words}");
        assert!(
            words.contains("`q`") || words.contains("arguments"),
            "{words}"
        );
    }
    // A format is a remark there, as it is for most servers.
    let dated = tool(json!({ "q": { "type": "string", "format": "date" } }), &[]);
    search()
        .args(json!({ "q": "today" }))
        .gives(dated, json!({ "q": "today" }));
}

#[test]
fn a_misspelt_argument_is_pointed_out() {
    let bound = search()
        .args(json!({ "qery": "x" }))
        .bound(tool(json!({ "query": {}, "limit": {} }), &[]));
    assert_eq!(
        bound.notes,
        ["`find` has no parameter `qery`, the nearest is `query`"]
    );
    assert_eq!(bound.arguments, object(json!({ "qery": "x" })));
}

#[test]
fn what_binds_by_name_is_validated_as_a_whole() {
    let either = json!({
        "type": "object",
        "properties": { "q": { "type": "string" }, "id": { "type": "string" } },
        "allOf": [{ "required": ["id", "q"] }]
    });
    // The demand of a part is known.
    search().gives(either, json!({ "id": "red panda", "q": "red panda" }));
    let odd = json!({ "type": "object", "properties": { "q": { "type": "string" } }, "minProperties": 2 });
    assert!(
        search()
            .refused(odd)
            .ends_with("give the arguments in `args`")
    );
}

#[test]
fn arguments_of_declared_tools_go_by_name() {
    let schema = || {
        tool(
            json!({ "q": { "type": "string" }, "pen_number": { "type": "string" }, "limit": { "type": "integer" }, "since": {} }),
            &["q"],
        )
    };
    let call = Call::declared(
        json!({ "query": "bear", "penNumber": 4, "limit": "3", "colour": "red", "since": null }),
    );
    let bound = call.bound(schema());
    assert_eq!(
        bound.arguments,
        object(json!({ "pen_number": "4", "limit": 3, "since": null, "q": "bear" }))
    );
    assert_eq!(
        bound.notes,
        ["the argument `colour` is not passed: `find` has no parameter for it"]
    );
    // What the caller gave is neither changed nor dropped.
    let bounded = tool(
        json!({ "q": {}, "limit": { "type": "integer", "maximum": 2 } }),
        &[],
    );
    let words = Call::declared(json!({ "q": "bear", "limit": 3 })).refused(bounded);
    insta::assert_snapshot!(words, @"the argument `limit` does not fit `find`, which takes integer there; give another value");
    // One that went by name is not given to another parameter as well.
    Call::declared(json!({ "limit": 3, "query": "bear" })).gives(
        tool(
            json!({ "query": {}, "q": {}, "limit": {}, "top_k": {} }),
            &[],
        ),
        json!({ "limit": 3, "query": "bear" }),
    );
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
