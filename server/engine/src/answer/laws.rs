#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

use kontext_config::eval::Scope;
use kontext_config::facts::Facts;
use kontext_config::model::{Format, HitMap, Op};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn name() -> impl Strategy<Value = String> {
    proptest::sample::select(vec![
        "title",
        "name",
        "results",
        "hits",
        "result",
        "data",
        "content",
        "type",
        "text",
        "score",
        "date",
        "uri",
        "snippet",
        "structuredContent",
        "resource",
        "raw",
    ])
    .prop_map(str::to_owned)
}

fn string() -> impl Strategy<Value = String> {
    let pieces = vec![
        "<p>",
        "</",
        "<script",
        "&amp;",
        "&#0;",
        "{",
        "}",
        "[",
        "]",
        "\n",
        "\r\n",
        "\"",
        "```json\n",
        "\n```",
        "\u{feff}",
        "\u{1b}[3",
        "\u{202e}",
        "é",
        "1512189030",
        "2017-12-02",
        "NaN",
        ":",
        ",",
        " ",
        "text",
        "{{id}}",
        "### ",
        "[WARN]",
    ];
    vec(
        prop_oneof![
            proptest::sample::select(pieces).prop_map(str::to_owned),
            ".{0,4}"
        ],
        0..12,
    )
    .prop_map(|it| it.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let number = proptest::sample::select(vec![
        "0",
        "-0",
        "1e999",
        "-1e-999",
        "1.0",
        "9223372036854775807",
        "1512189030000",
        "1e3",
    ])
    .prop_map(|it| serde_json::from_str(it).unwrap());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number,
        string().prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::Array),
            vec((name(), inner), 0..6).prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

fn rule() -> impl Strategy<Value = Option<String>> {
    let lead = proptest::sample::select(vec![
        "", "re:", "tpl:", "=", "a|tpl:", "$", "*", "[-1]|", "data[*].",
    ]);
    option::of(
        (lead, prop_oneof![name(), string()]).prop_map(|(lead, rest)| format!("{lead}{rest}")),
    )
}

fn op() -> impl Strategy<Value = Op> {
    let format = proptest::sample::select(vec![
        Format::Auto,
        Format::Json,
        Format::Jsonl,
        Format::Lines,
        Format::Text,
    ]);
    let map = (rule(), rule(), rule(), rule(), rule(), rule());
    (
        format,
        rule(),
        option::of(string()),
        vec((name(), string()), 0..2),
        map,
        rule(),
    )
        .prop_map(|(format, items, split, filter, map, text)| {
            let (title, snippet, uri, score, kind, date) = map;
            Op {
                format,
                items,
                split,
                filter: filter.into_iter().collect(),
                map: HitMap {
                    title,
                    snippet,
                    uri,
                    score,
                    kind,
                    date,
                },
                text,
                ..Op::default()
            }
        })
}

/// What every hit keeps to, whatever came.
fn check(raw: Raw<'_>, op: &Op) {
    let reading = Reading::new(op);
    let Ok(payload) = reading.payload(raw) else {
        assert_eq!(op.format, Format::Json);
        return;
    };
    let facts = Facts::default();
    let mapped = reading.hits(&payload, &Scope::new(&facts));
    let items = reading.items(&payload).len();
    assert_eq!(items, mapped.hits.len() + mapped.dropped + mapped.filtered);
    for hit in &mapped.hits {
        let Hit {
            title,
            snippet,
            uri,
            score,
            kind,
            date,
        } = hit;
        assert!(
            !title.trim().is_empty() && title.chars().count() <= MAX_TITLE,
            "{hit:?}"
        );
        assert!(
            snippet
                .iter()
                .all(|it| !it.is_empty() && it.chars().count() <= MAX_SNIPPET),
            "{hit:?}"
        );
        assert!(
            uri.iter()
                .all(|it| !it.is_empty() && !it.contains(char::is_whitespace)),
            "{hit:?}"
        );
        assert!(score.is_none_or(f64::is_finite), "{hit:?}");
        for text in [
            Some(title),
            snippet.as_ref(),
            uri.as_ref(),
            kind.as_ref(),
            date.as_ref(),
        ]
        .into_iter()
        .flatten()
        {
            assert!(!text.contains(clean::is_invisible), "{hit:?}");
            assert_eq!(text.trim(), text);
        }
    }
    let _ = reading.text(&payload);
}

fn hit() -> impl Strategy<Value = Hit> {
    ("[a-cé ]{1,3}", option::of("[ab]"), option::of("z://[1-4]")).prop_map(
        |(title, snippet, uri)| Hit {
            title,
            snippet,
            uri,
            ..Hit::default()
        },
    )
}

fn sources() -> impl Strategy<Value = Vec<SourceHits>> {
    let weight = prop_oneof![Just(0.9), Just(1.0), Just(0.0), any::<f64>()];
    vec((weight, vec(hit(), 0..6)), 0..5).prop_map(|sources| {
        let sources = sources.into_iter().enumerate();
        sources
            .map(|(position, (weight, hits))| SourceHits {
                source: format!("s{position}"),
                position,
                weight,
                hits,
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn any_text_becomes_clean_hits(source in prop_oneof![string(), value().prop_map(|it| it.to_string()), ".{0,60}"], op in op()) {
        check(Raw::Text(&source), &op);
    }

    #[test]
    fn any_result_becomes_clean_hits(value in value(), blocks in vec(value(), 0..4), texts in vec(string(), 0..3), op in op()) {
        check(Raw::Tool(&value), &op);
        let mut content = blocks;
        content.extend(texts.iter().map(|text| json!({"type": "text", "text": text})));
        check(Raw::Tool(&json!({"content": content, "structuredContent": value})), &op);
        check(Raw::Tool(&json!({ "content": content })), &op);
    }

    #[test]
    fn noise_around_json_changes_nothing(list in vec(value(), 1..4), before in vec("[a-zA-Z ][^\n`]{0,12}", 0..4), after in vec("[a-zA-Z ][^\n`]{0,12}", 0..4)) {
        let json = serde_json::to_string_pretty(&list).unwrap();
        let source = [before.join("\n"), json, after.join("\n")].join("\n");
        let reading = Reading::new(&Op::default());
        let payload = reading.payload(Raw::Text(&source)).unwrap();
        prop_assert_eq!(payload.value.into_owned(), Value::Array(list));
    }

    #[test]
    fn merging_does_not_depend_on_arrival(sources in sources(), by in 0usize..5, limit in 0usize..30) {
        let all = merge(sources.clone(), usize::MAX);
        let mut arrived = sources;
        let length = arrived.len().max(1);
        arrived.rotate_left(by % length);
        let some = merge(arrived, limit);
        prop_assert_eq!(&some[..], &all[..limit.min(all.len())]);
        prop_assert!(all.is_sorted_by(|a, b| a.score >= b.score));
        for (at, merged) in all.iter().enumerate() {
            let uri = &merged.hit.uri;
            prop_assert!(uri.is_none() || all.iter().skip(at + 1).all(|it| it.hit.uri != *uri));
        }
    }
}
