//! The two small grammars: ranges lie in the text, and what is asked at a place is answered.

use kontext_syntax::TextRange;
use kontext_syntax::path::{MapAlternative, MapValue, ResultPath};
use kontext_syntax::template::{Part, Template};

fn inside(range: TextRange, text: &str) {
    assert!(
        text.get(range.start as usize..range.end as usize).is_some(),
        "{range:?} is no part of {text:?}"
    );
}

/// Templates: the parts cover the text without a gap.
pub fn template(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let template = Template::parse(&text);
    let mut at = 0;
    for part in &template.parts {
        inside(part.range(), &text);
        assert_eq!(part.range().start, at, "a gap in {text:?}");
        at = part.range().end;
        if let Part::Expr(expr) = part {
            for filter in &expr.filters {
                inside(filter.range, &text);
                inside(filter.name_range, &text);
            }
        }
    }
    assert_eq!(at as usize, text.len(), "the end is missing in {text:?}");
    for fault in &template.faults {
        inside(fault.range, &text);
    }
    for offset in 0..=text.len().min(256) {
        let _ = template.expr_at(&text, offset as u32);
        let _ = Template::parse_from(&text, offset);
    }
}

/// Result paths and values of `map`.
pub fn result_path(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let path = ResultPath::parse(&text);
    for alternative in &path.alternatives {
        inside(alternative.range, &text);
        for step in &alternative.steps {
            inside(step.range, &text);
        }
    }
    for fault in &path.faults {
        inside(fault.range, &text);
    }
    for offset in 0..=text.len().min(256) {
        let _ = path.step_at(offset as u32);
    }
    match MapValue::parse(&text) {
        MapValue::Regex(range) => inside(range, &text),
        MapValue::Choice {
            alternatives,
            faults,
        } => {
            assert!(!alternatives.is_empty());
            for alternative in &alternatives {
                match alternative {
                    MapAlternative::Path(path) => inside(path.range, &text),
                    MapAlternative::Template { range, .. } => inside(*range, &text),
                    MapAlternative::Literal(range) => inside(*range, &text),
                }
            }
            for fault in &faults {
                inside(fault.range, &text);
            }
        }
    }
}
