use kontext_syntax::template::Template;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::facts::{Env, Facts, Now, Repo};
use crate::schema::{Members, ROOTS};

fn facts() -> Facts {
    let env = [
        ("TOKEN", "s3cr3t-VALUE"),
        ("EMPTY", ""),
        ("USER_TEXT", "{{env.TOKEN}}"),
    ];
    Facts {
        env: Env::new(env.map(|(k, v)| (k.to_owned(), v.to_owned())), false),
        repo: Repo {
            id: "github.com/acme/shop".into(),
            slug: "github.com-acme-shop".into(),
            name: "shop".into(),
            dir: "shop".into(),
            root: "/home/me/shop".into(),
            branch: Some("main".into()),
            ..Repo::default()
        },
        now: Now {
            date: "2026-11-30".into(),
            iso: "2026-11-30T23:03:32Z".into(),
        },
        ..Facts::default()
    }
}

fn inputs() -> Map<String, Value> {
    let inputs = json!({
        "query": "red panda & co", "limit": 7, "tags": ["zoo", "bamboo"], "flag": false,
        "uri": "zoo://pens/9#diet", "big": 0, "obj": {"a": [1, {"b": "x"}]}, "none": null,
        "repo": "shadow", "env": {"TOKEN": "shadow"},
    });
    let Value::Object(mut inputs) = inputs else {
        unreachable!()
    };
    inputs.insert(
        "big".into(),
        serde_json::from_str("12345678901234567890123").unwrap(),
    );
    inputs
}

fn vars<const N: usize>(pairs: [(&str, &str); N]) -> Vars {
    pairs
        .into_iter()
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .collect()
}

/// Render with the facts and inputs above.
fn text(source: &str) -> String {
    let (facts, inputs) = (facts(), inputs());
    Scope::new(&facts)
        .inputs(&inputs)
        .render_text(&Template::parse(source), source)
        .value
}

fn with_vars(globals: &Vars, own: &Vars, source: &str) -> Rendered<String> {
    let facts = facts();
    let scope = Scope::new(&facts).globals(globals).adapter("echo", own);
    scope.render_text(&Template::parse(source), source)
}

#[test]
fn the_table_of_the_contract() {
    let cases = [
        ("q={{query|urlencode}}", "q=red%20panda%20%26%20co"),
        ("{{tags|join:', '}}", "zoo, bamboo"),
        ("{{flag|default:on}}", "false"),
        ("{{nope|upper|default:fb}}", "fb"),
        ("{{uri|after:://|before:#}}", "pens/9"),
        ("{{query|truncate:5}}", "red …"),
    ];
    for (source, expected) in cases {
        assert_eq!(text(source), expected, "{source}");
    }
}

#[test]
fn heads_filters_and_texts() {
    let cases = [
        (
            "{{tags}} {{tags.1}} {{tags[0]}} {{tags[-1]}} {{tags[9]}}",
            "zoo,bamboo bamboo zoo bamboo ",
        ),
        (
            "{{obj}} {{obj.a[1].b}} {{limit}} {{flag}} {{none}}",
            r#"{"a":[1,{"b":"x"}]} x 7 false "#,
        ),
        ("{{'{{'}}x{{\"}}\"}} {{unfinished", "{{x}} {{unfinished"),
        (
            "{{big}} {{big|int}} {{'9007199254740993'|int}}",
            "12345678901234567890123 12345678901234567890123 9007199254740993",
        ),
        (
            "{{repo.id}} {{repo.branch}} {{now.date}} {{env.TOKEN}}",
            "github.com/acme/shop main 2026-11-30 s3cr3t-VALUE",
        ),
        (
            "{{env}}|{{env.TOKEN.x}}|{{repo.worktree}}|{{repo.nope}}",
            "|||",
        ),
        (
            "{{nope|json}} {{query|json}} {{tags|json}}",
            r#"null "red panda & co" ["zoo","bamboo"]"#,
        ),
        ("{{nope|lower}}{{nope|truncate:3}}{{nope|int}}", ""),
        ("{{query|nofilter|upper}}", "RED PANDA & CO"),
        ("{{' a '|trim}}{{'A\nb'|first_line|lower}}", "aa"),
        (
            "{{'Red Panda & Co!'|slug}} {{'--Ä b--'|slug}}",
            "red-panda-co ä-b",
        ),
        (
            "{{tags|join}} {{tags|join: - }} {{limit|join:x}}",
            "zoo,bamboo zoo -bamboo 7",
        ),
        (
            "{{uri|after:nope}} {{uri|before:}}",
            "zoo://pens/9#diet zoo://pens/9#diet",
        ),
        (
            "{{'🐼🐼🐼'|truncate:2}}{{'ab'|truncate:2}}{{'ab'|truncate:0}}{{'abc'|truncate:1}}",
            "🐼…ab…",
        ),
        (
            "{{env.EMPTY|default:'a|b'}} {{nope|default:007}}",
            "a|b 007",
        ),
        ("{{'a/b~c-d_e.f é'|urlencode}}", "a%2Fb~c-d_e.f%20%C3%A9"),
        (
            "{{'12.9'|int}} {{'-3'|int}} {{'1e3'|int}} {{'x'|int|default:none}} {{'007'|int}}",
            "12 -3 1000 none 7",
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(text(source), expected, "{source}");
    }
    assert_eq!(
        text(&format!("{{{{'{}'|slug}}}}", "ab ".repeat(60))).len(),
        80
    );
    assert_eq!(
        text(&format!("{{{{'{}'|truncate}}}}", "é".repeat(300)))
            .chars()
            .count(),
        200
    );
}

#[test]
fn typed_rendering() {
    let (facts, inputs) = (facts(), inputs());
    let scope = Scope::new(&facts).inputs(&inputs);
    let typed = |value: &str| {
        scope
            .render_typed(&serde_json::from_str(value).unwrap())
            .value
            .to_string()
    };
    assert_eq!(
        typed(
            r#"{"n":"{{limit}}","gone":"{{nope}}","two":"{{limit}}{{limit}}",
                "arr":["{{nope}}","x"],"nest":{"a":"{{nope}}"}}"#
        ),
        r#"{"n":7,"two":"77","arr":["x"],"nest":{}}"#
    );
    assert_eq!(
        typed(
            r#"{"k-{{limit}}":"{{big}}","t":"{{tags}}","f":"{{flag}}","s":" {{limit}}","x":1.50}"#
        ),
        r#"{"k-7":12345678901234567890123,"t":["zoo","bamboo"],"f":false,"s":" 7","x":1.50}"#
    );
    assert_eq!(
        typed(
            r#"["{{x|default:5}}","{{x|default:1.50}}","{{x|default:true}}","{{x|default:'5'}}",
                "{{x|default:99999999999999999999}}","{{x|default}}","{{x|default:5 a}}"]"#
        ),
        r#"[5,1.50,true,"5",99999999999999999999,"","5 a"]"#
    );
    assert_eq!(typed(r#""{{nope}}""#), "null");
}

#[test]
fn inputs_never_shadow_roots_and_items_come_first() {
    assert_eq!(text("{{repo.name}}|{{env.TOKEN}}|{{repo}}"), {
        let repo = text("{{repo}}");
        assert!(repo.starts_with('{'));
        format!("shop|s3cr3t-VALUE|{repo}")
    });
    let (facts, inputs) = (facts(), inputs());
    let item = json!({"id": "{{env.TOKEN}}", "repo": "theirs", "limit": null});
    let scope = Scope::new(&facts).inputs(&inputs).item(&item);
    let source = "notes://{{id}} {{repo}} {{repo.name}} {{limit}}";
    let rendered = scope.render_text(&Template::parse(source), source);
    assert_eq!(rendered.value, "notes://{{env.TOKEN}} theirs shop 7");
}

#[test]
fn values_are_never_rendered_again() {
    let facts = facts();
    let own = vars([
        ("inner", "{{env.USER_TEXT}}"),
        ("loop_a", "{{vars.loop_b}}"),
        ("loop_b", "{{vars.loop_a}}"),
    ]);
    let query = "{{env.TOKEN}} {{vars.inner}} }}{{";
    let inputs = Map::from_iter([("query".to_owned(), json!(query))]);
    let scope = Scope::new(&facts).adapter("echo", &own).inputs(&inputs);
    let source = "{{query}}|{{vars.inner}}";
    let rendered = scope.render_text(&Template::parse(source), source);
    assert_eq!(rendered.value, format!("{query}|{{{{env.TOKEN}}}}"));
    assert_eq!(
        scope.render_typed(&json!([source])).value,
        json!([rendered.value])
    );
    let looped = scope.render_text(&Template::parse("<{{vars.loop_a}}>"), "<{{vars.loop_a}}>");
    assert_eq!(looped.value, "<>");
    assert_eq!(looped.cycles, [["loop_a", "loop_b"]]);
    assert_eq!(cycles(&own, None), [["loop_a", "loop_b"]]);
}

#[test]
fn variables_see_globals_and_each_other() {
    let globals = vars([("team", "core"), ("host", "{{vars.team}}.example")]);
    let own = vars([
        ("team", "{{vars.team}}-x"),
        ("url", "https://{{vars.host}}/{{vars.team}}"),
    ]);
    let rendered = with_vars(&globals, &own, "{{vars.url}} {{vars.nope}}{{adapter.name}}");
    assert_eq!(rendered.value, "https://core.example/core-x echo");
    assert!(rendered.cycles.is_empty());
    assert!(cycles(&own, Some(&globals)).is_empty());
    assert_eq!(cycles(&own, None), [["team"]]);
}

#[test]
fn variables_without_bounds_end() {
    let doubling: Vars = (0..60)
        .map(|i| {
            (
                format!("v{i}"),
                format!("{{{{vars.v{0}}}}}{{{{vars.v{0}}}}}", i + 1),
            )
        })
        .chain([("v60".to_owned(), "x".to_owned())])
        .collect();
    assert!(with_vars(&Vars::default(), &doubling, "{{vars.v0}}").unbounded);
    let chain: Vars = (0..100_000)
        .map(|i| {
            (
                format!("v{i}"),
                format!("{{{{vars.v{}}}}}", (i + 1) % 100_000),
            )
        })
        .collect();
    assert!(with_vars(&Vars::default(), &chain, "{{vars.v0}}").unbounded);
}

#[test]
fn missing_environment_is_named() {
    let own = vars([("auth", "Bearer {{env.A}}"), ("raw", "{{env.B}}")]);
    let missing = |source| with_vars(&Vars::default(), &own, source).missing_env;
    assert_eq!(
        missing("{{env.C}}{{env.C}}{{env.TOKEN}}{{env.EMPTY}}"),
        ["C"]
    );
    assert_eq!(
        missing("{{env.C|default:x}}{{env.C|upper|default:x}}"),
        [""; 0]
    );
    assert_eq!(missing("{{env.C|json|default:x}}"), ["C"]);
    assert_eq!(
        missing("{{vars.auth|default:x}}{{vars.raw|default:x}}"),
        ["A"]
    );
    assert_eq!(missing("{{vars.raw}}{{vars.raw}}"), ["B"]);
    assert_eq!(missing("{{vars.raw|default:x}}{{vars.raw}}"), ["B"]);
}

#[test]
fn secrets_can_be_masked() {
    let facts = facts();
    let own = vars([("auth", "Bearer {{env.TOKEN}}")]);
    let scope = Scope::new(&facts).adapter("echo", &own).mask_env(true);
    let source = "{{env.TOKEN|upper}} {{vars.auth}} {{env.NOPE|default:none}} x {{y";
    let template = Template::parse(source);
    let rendered = scope.render_text(&template, source);
    assert_eq!(rendered.value, "‹env.TOKEN› Bearer ‹env.TOKEN› none x {{y");
    let pieces = scope.render_pieces(&template, source).value;
    assert_eq!(
        pieces
            .iter()
            .map(|piece| piece.text.as_str())
            .collect::<String>(),
        rendered.value
    );
    assert_eq!(pieces.iter().filter(|piece| piece.inserted).count(), 3);
}

#[test]
fn the_table_of_roots_is_what_a_scope_holds() {
    let facts = facts();
    let own = Vars::default();
    let scope = Scope::new(&facts).project("shop").adapter("echo", &own);
    for root in ROOTS {
        let Members::Fixed(members) = root.members else {
            continue;
        };
        let source = format!("{{{{{}}}}}", root.name);
        let value = scope.render_value(&Template::parse(&source), &source).value;
        let held: Vec<_> = value
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let listed: Vec<_> = members.iter().map(|member| member.name).collect();
        assert_eq!(held, listed);
    }
}

#[test]
fn every_filter_is_explained_by_an_expression() {
    for filter in FILTERS {
        assert!(filter.doc.ends_with('.'), "{}", filter.name);
        let template = Template::parse(filter.example);
        assert!(template.faults.is_empty());
        assert!(
            template.exprs().any(|expr| expr.has_filter(filter.name)),
            "{}",
            filter.name
        );
    }
}

proptest! {
    #[test]
    fn text_without_braces_is_itself(source in any::<String>()) {
        prop_assume!(!source.contains("{{"));
        prop_assert_eq!(text(&source), source);
    }

    #[test]
    fn any_value_is_inserted_as_it_is(value in "[{}|:'a-z. ]{0,40}") {
        let facts = facts();
        let inputs = Map::from_iter([("v".to_owned(), json!(value))]);
        let scope = Scope::new(&facts).inputs(&inputs);
        prop_assert_eq!(scope.render_text(&Template::parse("<{{v}}>"), "<{{v}}>").value, format!("<{value}>"));
        prop_assert_eq!(scope.render_typed(&json!({"a": "{{v}}"})).value, json!({"a": value}));
    }

    #[test]
    fn any_filter_takes_any_value(
        filter in prop::sample::select(FILTERS),
        arg in prop::option::of(any::<String>()),
        text in any::<String>(),
    ) {
        for value in [json!(text), json!([text]), json!({ "k": text }), json!(1.5), json!(null), json!(true)] {
            let out = apply(filter.name, arg.as_deref().map(|arg| (arg, false)), value.clone());
            prop_assert!(!value.is_null() || out.is_null() || matches!(filter.name, "default" | "json"));
        }
    }
}
