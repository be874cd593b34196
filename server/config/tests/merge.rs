//! Layers merge as adapters.md section 1 says, and every value knows where it comes from.

#![allow(
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail by a panic"
)]

mod support;

use kontext_config::facts::Trust;
use kontext_config::layer::LayerKind::{self, Clone, Repository, Shared, User};
use kontext_config::merge::{Merged, Origin};
use kontext_config::schema;
use kontext_config::source::Source;
use kontext_config::stack::{LayerSource, Stack, View};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{stack, user};

fn effective(stack: &Stack, name: &str) -> Value {
    stack.merged(name, View::Shown).unwrap().to_json()
}

/// The text at an origin: key and value.
fn written(stack: &Stack, origin: Origin) -> (LayerKind, String, String) {
    let layer = &stack.layers[origin.layer];
    let document = &layer.source.as_ref().unwrap().document;
    let text = |span| document.slice(span).to_owned();
    (layer.kind, text(origin.key), text(origin.value))
}

#[test]
fn tables_merge_key_by_key_and_the_rest_is_replaced_whole() {
    let stack = stack(
        &[
            (
                User,
                "[adapters.a]\ndriver = \"mcp\"\ncommand = [\"x\", \"y\"]\nenv = { A = \"1\", B = \"2\" }\ntimeout_ms = 1\n[[adapters.a.on]]\nevent = \"sync\"\nop = \"store\"\n[[adapters.a.on]]\nevent = \"capture\"\nop = \"store\"\n",
            ),
            (
                Clone,
                "[adapters.a]\ncommand = [\"z\"]\nenv.B = false\nenv.C = \"3\"\n[[adapters.a.on]]\nevent = \"promote\"\nop = \"keep\"\n",
            ),
        ],
        Trust::Untrusted,
    );
    assert_eq!(
        effective(&stack, "a"),
        json!({
            "driver": "mcp",
            "command": ["z"],
            "env": { "A": "1", "B": false, "C": "3" },
            "timeout_ms": 1,
            "on": [{ "event": "promote", "op": "keep" }],
        })
    );
    let merged = stack.merged("a", View::Shown).unwrap();
    let command = merged.get("command").unwrap();
    assert_eq!(
        written(&stack, command.origin),
        (Clone, "command".to_owned(), "[\"z\"]".to_owned())
    );
    let shadowed: Vec<_> = command
        .shadowed
        .iter()
        .map(|one| written(&stack, *one).2)
        .collect();
    assert_eq!(shadowed, ["[\"x\", \"y\"]"]);
    assert_eq!(written(&stack, command.key_origin).0, User);
    assert_eq!(
        written(&stack, merged.at(&["env", "A"]).unwrap().origin).0,
        User
    );
    assert_eq!(merged.get("env").unwrap().places().count(), 2);
}

#[test]
fn later_layers_win() {
    let layers: Vec<(LayerKind, String)> = LayerKind::ALL
        .into_iter()
        .map(|kind| {
            (
                kind,
                format!("[adapters.a]\ndescription = \"{kind}\"\n{kind} = 1\n"),
            )
        })
        .collect();
    let layers: Vec<_> = layers
        .iter()
        .map(|(kind, text)| (*kind, text.as_str()))
        .collect();
    for (trust, shared) in [(Trust::Pinned, true), (Trust::Untrusted, false)] {
        for most in 1..=layers.len() {
            let stack = stack(&layers[..most], trust);
            let merged = stack.merged("a", View::InForce).unwrap();
            let winner = match layers[most - 1].0 {
                Shared if !shared => Repository,
                kind => kind,
            };
            assert_eq!(
                merged.get("description").unwrap().as_str(),
                Some(winner.name())
            );
            assert_eq!(merged.get("shared").is_some(), shared && most > 2);
        }
    }
}

#[test]
fn a_wrong_type_disables_only_what_it_cannot_express() {
    let lower = "[adapters.a]\ndriver = \"http\"\nbase_url = \"http://a\"\ntimeout_ms = 5\nheaders = { A = \"1\" }\ncommand = [\"x\"]\n";
    for upper in [
        "[adapters.a]\ntimeout_ms = \"soon\"\nheaders = \"A: 1\"\nbase_url = 5\ncommand = \"x\"\ndriver = false\n",
        // Half typed lines and faults of syntax.
        "[adapters.a]\ntimeout_ms =\nheaders = \nbase_url = \"http\ncommand = [1, 2]\ndriver\n",
        "[adapters.a]\nheaders = { A = 5 }\n",
        "adapters = 5\n",
        "adapters.a = true\n",
        "[adapters]\na",
        "[adapters.a",
    ] {
        let stack = stack(&[(User, lower), (Clone, upper)], Trust::Untrusted);
        let mut value = effective(&stack, "a");
        // What is not of the format at all is not the question here.
        value.as_object_mut().unwrap().retain(|key, _| {
            ["driver", "base_url", "timeout_ms", "headers", "command"].contains(&key.as_str())
        });
        let expected = json!({
            "driver": "http", "base_url": "http://a", "timeout_ms": 5,
            "headers": { "A": "1" }, "command": ["x"],
        });
        assert_eq!(value, expected, "{upper}");
    }
}

#[test]
fn a_layer_that_is_not_there_or_not_toml_leaves_the_others_alone() {
    let mut stack = stack(
        &[
            (User, "[adapters.a]\ndriver = \"command\"\n"),
            (Repository, "= = ]\n[[[\n'''"),
            (Clone, "[adapters.a]\ncommand = [\"true\"]\n"),
        ],
        Trust::Untrusted,
    );
    stack.layers.insert(
        2,
        LayerSource {
            kind: Shared,
            path: "/repo/.kontext.toml".into(),
            source: None,
            fault: Some("permission denied".to_owned()),
        },
    );
    assert_eq!(
        effective(&stack, "a"),
        json!({ "driver": "command", "command": ["true"] })
    );
    assert_eq!(stack.adapter_names(), ["a"]);
}

#[test]
fn names_come_in_the_order_of_first_appearance_lowest_layer_first() {
    let stack = stack(
        &[
            (
                User,
                "[adapters.b.ops.search]\n[adapters.a]\n[adapters.b]\n",
            ),
            (Shared, "[adapters.c]\n[adapters.a]\n"),
            (
                Clone,
                "adapters.d.driver = \"mcp\"\nadapters.e =\n[adapters]\nf.driver = \"mcp\"\n[adapters.]\n",
            ),
        ],
        Trust::Untrusted,
    );
    assert_eq!(stack.adapter_names(), ["b", "a", "c", "d", "f"]);
    let layers = |name| -> Vec<usize> {
        stack
            .adapter_layers(name)
            .into_iter()
            .map(|(at, _)| at)
            .collect()
    };
    assert_eq!(layers("a"), [0, 1]);
    assert_eq!(layers("d"), [2]);
    assert!(layers("nobody").is_empty());
}

#[test]
fn every_way_to_write_a_table_is_the_same() {
    let forms = [
        "[adapters.a]\ndriver = \"mcp\"\nwhen.env = \"X\"\n",
        "adapters = { a = { driver = \"mcp\", when = { env = \"X\" } } }\n",
        "adapters.a = { driver = \"mcp\", when.env = \"X\" }\n",
        "adapters.a.driver = \"mcp\"\nadapters.a.when.env = \"X\"\n",
        "[adapters]\na.driver = \"mcp\"\n[adapters.a.when]\nenv = \"X\"\n",
        "[adapters.a.when]\nenv = \"X\"\n[adapters.\"a\"]\ndriver = '''mcp'''\n",
    ];
    for form in forms {
        let stack = user(form);
        assert_eq!(stack.adapter_names(), ["a"], "{form}");
        assert_eq!(stack.adapter_layers("a").len(), 1, "{form}");
        let value = effective(&stack, "a");
        assert_eq!(value["when"], json!({ "env": "X" }), "{form}");
        assert_eq!(value["driver"], "mcp", "{form}");
    }
}

#[test]
fn shared_vars_and_project_count_only_once_trusted_and_companion_never() {
    let layers = [
        (
            User,
            "[vars]\nteam = \"core\"\nbad = 5\n[project]\nname = \" Mine \"\n[companion]\nallow_write = false\n",
        ),
        (
            Shared,
            "[vars]\nteam = \"evil\"\nmore = \"x\"\n[project]\nname = \"Theirs\"\n[store]\ndir = \"kb\"\n[companion]\nallow_write = true\n",
        ),
    ];
    let untrusted = stack(&layers, Trust::Untrusted);
    let vars = untrusted.global_vars(View::InForce);
    assert_eq!(vars.names().collect::<Vec<_>>(), ["team"]);
    assert_eq!(vars.get("team").unwrap().0, "core");
    assert_eq!(
        untrusted.global_vars(View::Shown).get("team").unwrap().0,
        "evil"
    );
    assert_eq!(untrusted.project_name(), Some("Mine"));
    assert_eq!(untrusted.store_dir(), None);
    for trust in [Trust::Pinned, Trust::ByEnvironment] {
        let trusted = stack(&layers, trust);
        assert_eq!(
            trusted.global_vars(View::InForce).get("more").unwrap().0,
            "x"
        );
        assert_eq!(trusted.project_name(), Some("Theirs"));
        assert_eq!(trusted.store_dir(), Some("kb"));
        let companion = trusted.merged_top("companion").unwrap().to_json();
        assert_eq!(companion, json!({ "allow_write": false }));
        assert!(trusted.merged_top("nothing").is_none());
    }
}

#[test]
fn values_become_json() {
    let stack = user(
        "[adapters.a.ops.s]\nbody = { i = 9007199254740993, f = 1.5, inf = inf, d = 1979-05-27T07:32:00Z, t = true, a = [1, { b = \"c\" }], half = }\n",
    );
    let merged = stack.merged("a", View::Shown).unwrap();
    let body = merged.at(&["ops", "s", "body"]).unwrap().to_json();
    let text = body.to_string();
    assert!(
        text.starts_with(r#"{"i":9007199254740993,"f":1.5,"inf":"inf","d":"1979-05-27T07:32:00Z","t":true,"a":[1,{"b":"c"}]"#),
        "{text}"
    );
}

#[test]
fn an_edit_keeps_the_units_it_does_not_touch() {
    let before = "[adapters.a]\ndriver = \"mcp\"\n[adapters.b]\ndriver = \"mcp\"\n";
    let source = Source::parse(before);
    let after = before.replacen("mcp", "http", 1);
    let at = u32::try_from(before.find("mcp").unwrap()).unwrap();
    let edited = source.edited(after.as_str(), at, at + 3, at + 4);
    let unit = |source: &Source, name| source.units.named("adapters", name).unwrap().clone();
    assert!(std::sync::Arc::ptr_eq(
        &unit(&source, "b"),
        &unit(&edited, "b")
    ));
    assert_eq!(
        unit(&edited, "a")
            .item
            .node
            .get("driver")
            .unwrap()
            .node
            .as_str(),
        Some("http")
    );
}

/// A text with a table `adapters.a` whose members clash in every way with those of others.
fn a_layer() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just("1".to_owned()),
        Just("2.5".to_owned()),
        Just("\"x\"".to_owned()),
        Just("[\"p\"]".to_owned()),
        Just("[]".to_owned()),
        Just("true".to_owned()),
        Just(String::new()),
        Just("{}".to_owned()),
        Just("{ k = 1, l = \"m\" }".to_owned()),
        Just("{ k = { z = 1 }, env = \"E\" }".to_owned()),
    ];
    let key = prop::sample::select(vec![
        "driver",
        "timeout_ms",
        "command",
        "env",
        "headers",
        "when",
        "ops",
        "on",
        "own",
        "other",
        "ops.s.body",
        "ops.s.args",
        "vars",
    ]);
    prop::collection::vec((key, value), 0..6).prop_map(|entries| {
        let mut text = "[adapters.a]\n".to_owned();
        for (key, value) in entries {
            text.push_str(&format!("{key} = {value}\n"));
        }
        text
    })
}

fn of(layer: usize, source: &Source) -> Option<Merged<'_>> {
    let kind = schema::lookup(&["adapters", "a"]).unwrap().kind();
    let unit = source.units.named("adapters", "a")?;
    Some(Merged::of(layer, &unit.item, Some(kind)))
}

fn check_origins(merged: &Merged<'_>, sources: &[Source]) {
    merged.leaves(&mut |path, leaf| {
        let document = &sources[leaf.origin.layer].document;
        if let (Some(node), Some(key)) = (leaf.node(), path.last()) {
            assert_eq!(document.slice(leaf.origin.key), *key);
            assert_eq!(node.span, leaf.origin.value);
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn laws_of_the_merge(texts in prop::collection::vec(a_layer(), 3)) {
        let sources: Vec<Source> = texts.iter().map(|text| Source::parse(text.as_str())).collect();
        let [a, b, c] = [0, 1, 2].map(|at| of(at, &sources[at]).unwrap());

        // Associative, what is listed as replaced included.
        let left = a.clone().overlaid(b.clone()).overlaid(c.clone());
        let right = a.clone().overlaid(b.clone().overlaid(c.clone()));
        prop_assert_eq!(&left, &right);
        check_origins(&left, &sources);

        // An empty layer changes no value and no key.
        let empty = Source::parse("[adapters.a]\n");
        let with_empty = a.clone().overlaid(of(1, &empty).unwrap());
        prop_assert_eq!(with_empty.members(), a.members());
        let over_empty = of(0, &empty).unwrap().overlaid(a.clone());
        prop_assert_eq!(over_empty.members(), a.members());

        // A layer over itself is itself.
        let twice = a.clone().overlaid(a.clone());
        prop_assert_eq!(twice.to_json(), a.to_json());

        // Keys keep the order in which they first appear.
        let keys = |merged: &Merged<'_>| -> Vec<String> {
            merged.members().unwrap().keys().map(|key| (*key).to_owned()).collect()
        };
        let (lower, both) = (keys(&a), keys(&a.clone().overlaid(b.clone())));
        prop_assert_eq!(&both[..lower.len()], &lower[..]);

        // What a later layer says validly and not as a table is what counts.
        for (name, value) in c.members().unwrap() {
            if value.is_valid() && value.node().is_some() {
                prop_assert_eq!(left.get(name).unwrap().node(), value.node());
                prop_assert_eq!(left.get(name).unwrap().origin.layer, 2);
            }
        }
    }
}
