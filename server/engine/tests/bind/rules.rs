//! Which parameter gets what.

use kontext_engine::bind::{Role, Source};
use serde_json::{Value, json};

use crate::call::{Call, ROOT, object, op, search, tool};

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
