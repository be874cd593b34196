//! What the configuration and the caller say themselves.

use serde_json::{Value, json};

use crate::call::{Call, object, search, tool};

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
