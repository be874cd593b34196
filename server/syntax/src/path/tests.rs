use std::fmt::Write;

use proptest::prelude::*;

use super::*;

fn steps(alternative: &Alternative) -> String {
    let mut out = String::from("$");
    for step in &alternative.steps {
        match &step.kind {
            StepKind::Name(name) => write!(out, ".{name}").unwrap(),
            StepKind::Index(index) => write!(out, "[{index}]").unwrap(),
            StepKind::All => out.push_str("[*]"),
            StepKind::Bad => out.push_str(".<bad>"),
        }
    }
    out
}

fn faults(faults: &[Fault]) -> String {
    faults
        .iter()
        .map(|fault| format!(" !{:?}@{:?}", fault.kind, fault.range))
        .collect()
}

fn show(source: &str) -> String {
    let path = ResultPath::parse(source);
    let alternatives: Vec<_> = path.alternatives.iter().map(steps).collect();
    format!(
        "{source:<26} {}{}",
        alternatives.join(" , "),
        faults(&path.faults)
    )
}

#[test]
fn paths() {
    let cases = [
        "",
        "$",
        "$.a",
        "$[0]",
        "a.b",
        "a[0].c",
        "a[-1]",
        "a[*].x",
        "*",
        "*.name",
        r#"a["k.x"]"#,
        "highlight['body.text'][0]",
        "_source.@timestamp",
        "data.line-number",
        "_id.$oid",
        "Full Name",
        " a | b[0] | $ ",
        r#"a["x|y"]|b"#,
        "a.[0]",
        "$|a",
    ];
    let shown: Vec<_> = cases.iter().map(|case| show(case)).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
                               $
    $                          $
    $.a                        $.a
    $[0]                       $[0]
    a.b                        $.a.b
    a[0].c                     $.a[0].c
    a[-1]                      $.a[-1]
    a[*].x                     $.a[*].x
    *                          $[*]
    *.name                     $[*].name
    a["k.x"]                   $.a.k.x
    highlight['body.text'][0]  $.highlight.body.text[0]
    _source.@timestamp         $._source.@timestamp
    data.line-number           $.data.line-number
    _id.$oid                   $._id.$oid
    Full Name                  $.Full Name
     a | b[0] | $              $.a , $.b[0] , $
    a["x|y"]|b                 $.a.x|y , $.b
    a.[0]                      $.a[0]
    $|a                        $ , $.a
    "#);
}

#[test]
fn faulty_paths_keep_the_rest() {
    let cases = [
        "a..b",
        ".a",
        "a.",
        "a|",
        "a||b",
        "|",
        "a[",
        "a[0",
        "a[x]",
        "a[]",
        "a[0:2].b",
        "a[?(@.x)]",
        "a[0]b.c",
        "length(a)",
        "a['x",
        "a]",
        "a[1|b",
    ];
    let shown: Vec<_> = cases.iter().map(|case| show(case)).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    a..b                       $.a.<bad>.b !EmptyStep@2..2
    .a                         $.<bad>.a !EmptyStep@0..0
    a.                         $.a.<bad> !EmptyStep@2..2
    a|                         $.a , $.<bad> !EmptyAlternative@2..2
    a||b                       $.a , $.<bad> , $.b !EmptyAlternative@2..2
    |                          $.<bad> , $.<bad> !EmptyAlternative@0..0 !EmptyAlternative@1..1
    a[                         $.a.<bad> !UnclosedBracket@1..2
    a[0                        $.a.<bad> !UnclosedBracket@1..3
    a[x]                       $.a.<bad> !BadIndex@1..4
    a[]                        $.a.<bad> !BadIndex@1..3
    a[0:2].b                   $.a.<bad>.b !BadIndex@1..6
    a[?(@.x)]                  $.a.<bad> !BadIndex@1..9
    a[0]b.c                    $.a[0].<bad>.c !MissingDot@4..5
    length(a)                  $.length(a) !OddName@0..9
    a['x                       $.a.<bad> !UnclosedBracket@1..4
    a]                         $.a] !OddName@0..2
    a[1|b                      $.a.<bad> , $.b !UnclosedBracket@1..3
    "#);
}

#[test]
fn map_values() {
    let cases = [
        "title",
        "a|b",
        "re:(\\d{4})|x",
        "tpl:{{a|lower}}-{{b}}",
        "=note|x",
        "a | tpl:es://{{_id}}|x",
        "a|=",
        "a|re:x",
        "",
        "a||=x",
    ];
    let shown: Vec<_> = cases
        .iter()
        .map(|source| {
            let out = match MapValue::parse(source) {
                MapValue::Regex(range) => format!("re {:?}", range.of(source)),
                MapValue::Choice {
                    alternatives,
                    faults: found,
                } => {
                    let all: Vec<_> = alternatives
                        .iter()
                        .map(|alternative| match alternative {
                            MapAlternative::Path(path) => steps(path),
                            MapAlternative::Literal(range) => format!("={:?}", range.of(source)),
                            MapAlternative::Template { template, range } => {
                                let parts: Vec<_> = template
                                    .parts
                                    .iter()
                                    .map(|part| part.range().of(source))
                                    .collect();
                                format!("{:?} {parts:?}", range.of(source))
                            }
                        })
                        .collect();
                    format!("{}{}", all.join(" , "), faults(&found))
                }
            };
            format!("{source:<26} {out}")
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    title                      $.title
    a|b                        $.a , $.b
    re:(\d{4})|x               re "(\\d{4})|x"
    tpl:{{a|lower}}-{{b}}      "tpl:{{a|lower}}-{{b}}" ["{{a|lower}}", "-", "{{b}}"]
    =note|x                    ="note|x"
    a | tpl:es://{{_id}}|x     $.a , "tpl:es://{{_id}}|x" ["es://", "{{_id}}", "|x"]
    a|=                        $.a , =""
    a|re:x                     $.a , $.<bad> !RegexNotAlone@2..6
                               $
    a||=x                      $.a , $.<bad> , ="x" !EmptyAlternative@2..2
    "#);
}

#[test]
fn the_cursor_knows_its_step() {
    let path = ResultPath::parse("a.bc|d.");
    let at: Vec<_> = (0..8).map(|offset| path.step_at(offset)).collect();
    assert_eq!(
        at,
        [
            Some((0, 0)),
            Some((0, 0)),
            Some((0, 1)),
            Some((0, 1)),
            Some((0, 1)),
            Some((1, 0)),
            Some((1, 0)),
            Some((1, 1))
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn ranges_lie_in_the_text(pieces in prop::collection::vec(prop::sample::select(vec![
        "a", ".", "[", "]", "*", "|", "'", "\"", "$", "0", "-1", " ", "é", "\u{a0}", "tpl:", "=", "re:", "{{", "}}",
    ]), 0..20)) {
        let source = pieces.concat();
        let inside = |range: TextRange| {
            source.get(range.start as usize..range.end as usize).is_some()
        };
        let path = ResultPath::parse(&source);
        prop_assert!(!path.alternatives.is_empty());
        for alternative in &path.alternatives {
            prop_assert!(inside(alternative.range));
            for step in &alternative.steps {
                prop_assert!(inside(step.range));
                prop_assert!(alternative.range.contains(step.range));
            }
        }
        prop_assert!(path.faults.iter().all(|fault| inside(fault.range)));
        let bad = path.alternatives.iter().flat_map(|a| &a.steps).any(|s| s.kind == StepKind::Bad);
        prop_assert!(!bad || !path.is_sound());
        MapValue::parse(&source);
    }
}
