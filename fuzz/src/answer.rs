//! What sources answer, and how an op has it read.

use kontext_config::eval::Scope;
use kontext_config::facts::Facts;
use kontext_config::model::{Format, HitMap, Op};
use kontext_engine::answer::{MAX_SNIPPET, MAX_TITLE, Raw, Reading};

const FORMATS: [Format; 5] = [
    Format::Auto,
    Format::Json,
    Format::Jsonl,
    Format::Lines,
    Format::Text,
];

/// `answer NUL items NUL split NUL title NUL snippet NUL uri NUL score NUL date NUL text`, each
/// but the first optional; an empty one is not set. Read in every format, and as a tool's result
/// where it is JSON.
pub fn answer(data: &[u8]) {
    let data = String::from_utf8_lossy(data.get(..16 * 1024).unwrap_or(data));
    let mut parts = data.split('\0');
    let answer = parts.next().unwrap_or_default();
    let mut part = || {
        let part = parts.next().filter(|part| !part.is_empty());
        part.map(str::to_owned)
    };
    let mut op = Op {
        items: part(),
        split: part(),
        map: HitMap {
            title: part(),
            snippet: part(),
            uri: part(),
            score: part(),
            date: part(),
            kind: None,
        },
        text: part(),
        ..Op::default()
    };
    let result = serde_json::from_str(answer).ok();
    for format in FORMATS {
        op.format = format;
        read(Raw::Text(answer), &op);
        if let Some(result) = &result {
            read(Raw::Tool(result), &op);
        }
    }
}

fn read(raw: Raw<'_>, op: &Op) {
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
        assert!(!hit.title.trim().is_empty() && hit.title.chars().count() <= MAX_TITLE);
        let snippet = hit.snippet.as_deref().unwrap_or_default();
        assert!(snippet.chars().count() <= MAX_SNIPPET);
        let uri = hit.uri.as_deref().unwrap_or_default();
        assert!(!uri.contains(|c: char| c.is_whitespace() || c.is_control()));
        assert!(hit.score.is_none_or(f64::is_finite));
    }
    let _ = reading.text(&payload);
}
