use std::fmt::Write;

use proptest::prelude::*;

use super::*;

/// The tree on one line, faults behind it.
fn show(source: &str) -> String {
    let template = Template::parse(source);
    let mut out = String::new();
    for part in &template.parts {
        match part {
            Part::Text(range) => write!(out, "{:?} ", range.of(source)).unwrap(),
            Part::Expr(expr) => {
                out.push_str(if expr.terminated { "<" } else { "<open: " });
                match &expr.head {
                    Head::Path(path) => {
                        for segment in &path.segments {
                            match &segment.kind {
                                SegmentKind::Key(key) => write!(out, ".{key}").unwrap(),
                                SegmentKind::Index(i) => write!(out, "[{i}]").unwrap(),
                            }
                        }
                        let last = path.segments.last().unwrap();
                        assert!(path.range.contains(last.range));
                    }
                    Head::Literal { value, .. } => write!(out, "{value:?}").unwrap(),
                    Head::Missing(_) => out.push('?'),
                }
                for filter in &expr.filters {
                    write!(out, " | {}", filter.name).unwrap();
                    if let Some(arg) = &filter.arg {
                        let quoted = if arg.quoted { "q" } else { "" };
                        write!(out, ":{quoted}{:?}", arg.text).unwrap();
                    }
                }
                out.push_str("> ");
            }
        }
    }
    for fault in &template.faults {
        write!(out, "!{:?}@{:?} ", fault.kind, fault.range).unwrap();
    }
    out.trim_end().to_owned()
}

#[test]
fn what_is_right() {
    assert_eq!(show(""), "");
    let cases = [
        "plain } text { here }}",
        "q={{query|urlencode}}",
        "{{ tags | join:', ' }}!",
        "{{tags|join: - }}",
        "{{tags|join:  }}",
        "{{flag|default:on}}",
        "{{uri|after:://|before:#}}",
        "{{x|default:'a|b'}}{{y|default:\"}}\"}}",
        "{{'{{'}} and {{\"}}\"}}",
        "{{a[0].b.1[-1]['k.x|y']}}",
        "{{Full Name}} {{_source.@timestamp}} {{007}}",
        "{{{query}}}",
        "{{x|default:}}",
        "{{\n query\n | lower\n}}",
        "{{x|default:it's}} isn't {{y}}",
    ];
    let shown: Vec<_> = cases.iter().map(|case| show(case)).collect();
    insta::assert_snapshot!(shown.join("\n"), @r##"
    "plain } text { here }}"
    "q=" <.query | urlencode>
    <.tags | join:q", "> "!"
    <.tags | join:" -">
    <.tags | join:"  ">
    <.flag | default:"on">
    <.uri | after:"://" | before:"#">
    <.x | default:q"a|b"> <.y | default:q"}}">
    <"{{"> " and " <"}}">
    <.a[0].b[1][-1].k.x|y>
    <.Full Name> " " <._source.@timestamp> " " <.007>
    "{" <.query> "}"
    <.x | default:"">
    <.query | lower>
    <.x | default:"it's"> " isn't " <.y>
    "##);
}

#[test]
fn what_is_not_right_keeps_the_rest() {
    let cases = [
        "{{",
        "a {{que",
        "{{query and {{limit}}",
        "{{query\nsecond {{limit}}",
        "{{}} {{ }} {{|lower}}",
        "{{a|}} {{a||lower}} {{a| |b}}",
        "{{'abc}} {{x}}",
        "{{x|default:'b}} and {{c}}",
        "{{x|default:'it's'}}",
        "{{a..b}} {{.a}} {{env.}}",
        "{{a[}} {{a[x]}} {{a[0]b.c}} {{a[0:2]}} {{a[]}}",
        "{{{{x}}",
        "{{x}",
    ];
    let shown: Vec<_> = cases.iter().map(|case| show(case)).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    <open: ?> !Unterminated@0..2
    "a " <open: .que> !Unterminated@2..4
    <open: .query and> <.limit> !Unterminated@0..2
    <open: .query> "\nsecond " <.limit> !Unterminated@0..2
    <?> " " <?> " " <? | lower> !EmptyExpression@2..2 !EmptyExpression@7..8 !EmptyExpression@13..13
    <.a | > " " <.a |  | lower> " " <.a |  | b> !EmptyFilter@3..4 !EmptyFilter@10..11 !EmptyFilter@23..25
    <"abc"> " " <.x> !UnclosedQuote@2..6
    <.x | default:"'b"> " and " <.c> !UnclosedQuote@12..14
    <.x | default:"'it's'"> !UnclosedQuote@12..18
    <.a..b> " " <..a> " " <.env.> !EmptySegment@4..4 !EmptySegment@11..11 !EmptySegment@22..22
    <.a.> " " <.a.> " " <.a[0]..c> " " <.a.> " " <.a.> !BadIndex@3..4 !BadIndex@10..13 !BadIndex@22..23 !BadIndex@31..36 !BadIndex@42..44
    "{{" <.x>
    <open: .x}> !Unterminated@0..2
    "#);
}

/// `^` is the cursor; `<…>` in the answer is the token a completion replaces.
fn at(marked: &str) -> String {
    let offset = marked.find('^').unwrap();
    let source = marked.replacen('^', "", 1);
    match Template::parse(&source).expr_at(&source, offset as u32) {
        None => "-".to_owned(),
        Some(at) => format!("{:?} <{}>", at.place, at.token.of(&source)),
    }
}

#[test]
fn the_cursor_knows_its_part() {
    let cases = [
        "^{{x}}",
        "{^{x}}",
        "{{^}}",
        "{{ ^ }}",
        "{{^x}}",
        "{{ x^y }}",
        "{{env.^}}",
        "{{env.TO^KEN}}",
        "{{ x ^ }}",
        "{{x|^}}",
        "{{x| ^}}",
        "{{x|lo^wer}}",
        "{{x|default:^}}",
        "{{x|default: ^'a'}}",
        "{{x|default:'a^'|lower}}",
        "{{x|lower ^|json}}",
        "{{x}}^",
        "https://h/{{env.TO^/path?x=1",
        "{{que^",
        "{{x|^",
        "{{que^}",
        "{{a^ and {{b}}",
        "{{'li^t'}}",
    ];
    let shown: Vec<_> = cases
        .iter()
        .map(|case| format!("{case:<30} {}", at(case)))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    ^{{x}}                         -
    {^{x}}                         -
    {{^}}                          Head <>
    {{ ^ }}                        Head <>
    {{^x}}                         Segment(0) <x>
    {{ x^y }}                      Segment(0) <xy>
    {{env.^}}                      Segment(1) <>
    {{env.TO^KEN}}                 Segment(1) <TOKEN>
    {{ x ^ }}                      Blank <>
    {{x|^}}                        FilterName(0) <>
    {{x| ^}}                       FilterName(0) <>
    {{x|lo^wer}}                   FilterName(0) <lower>
    {{x|default:^}}                FilterArg(0) <>
    {{x|default: ^'a'}}            FilterArg(0) <'a'>
    {{x|default:'a^'|lower}}       FilterArg(0) <'a'>
    {{x|lower ^|json}}             Blank <>
    {{x}}^                         -
    https://h/{{env.TO^/path?x=1   Segment(1) <TO>
    {{que^                         Segment(0) <que>
    {{x|^                          FilterName(0) <>
    {{que^}                        Segment(0) <que>
    {{a^ and {{b}}                 Segment(0) <a>
    {{'li^t'}}                     Literal <'lit'>
    "#);
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{{", "}}", "{", "}", "|", ":", "'", "\"", ".", "[", "]", "0", "-1", " ", "a", "env",
        "lower", "default", "é", "🐼", "\n", "\u{a0}",
    ]);
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

fn check(source: &str) {
    let template = Template::parse(source);
    let mut end = 0;
    let inside = |range: TextRange| {
        assert!(range.start <= range.end && range.end as usize <= source.len());
        assert!(
            source
                .get(range.start as usize..range.end as usize)
                .is_some(),
            "{range:?}"
        );
    };
    for part in &template.parts {
        let range = part.range();
        assert_eq!(range.start, end);
        assert!(!range.is_empty());
        inside(range);
        end = range.end;
        if let Part::Expr(expr) = part {
            if let Head::Path(path) = &expr.head {
                assert!(range.contains(path.range));
                path.segments
                    .iter()
                    .for_each(|segment| assert!(path.range.contains(segment.range)));
                path.segments
                    .iter()
                    .for_each(|segment| inside(segment.range));
            }
            for filter in &expr.filters {
                inside(filter.range);
                assert!(range.contains(filter.range) && filter.range.contains(filter.name_range));
                if let Some(arg) = &filter.arg {
                    assert!(filter.range.contains(arg.range));
                    inside(arg.range);
                }
            }
        }
    }
    assert_eq!(end as usize, source.len());
    template.faults.iter().for_each(|fault| inside(fault.range));
    for offset in 0..=source.len() as u32 + 1 {
        if let Some(at) = template.expr_at(source, offset) {
            assert!(at.token.touches(offset));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn any_string_is_covered_exactly(source in pieces()) {
        check(&source);
    }

    #[test]
    fn any_text_at_all(source in any::<String>()) {
        check(&source);
        if !source.contains("{{") {
            prop_assert!(!Template::parse(&source).has_expr());
        }
    }
}
