//! Checking as a whole: from an earlier outcome, between layers, with limits, on any text.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used
)]

mod support;

use std::sync::Arc;

use kontext_config::codes::{Code, Severity};
use kontext_config::facts::Trust;
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;
use kontext_ide::diagnostics::{Checked, MAX_DIAGNOSTICS};
use kontext_ide::{Diagnostic, Place};
use proptest::prelude::*;
use support::{check, check_in, check_layers, shown, stack};

const NOTES: &str = r#"[project]
name = "Shop"

[vars]
team = "core"

[adapters.notes]
driver = "mcp"
command = ["notes-mcp", "{{repo.root}}"]
expose = ["find"]
when = { env = "NOTES_TOKEN", file = ".notes" }

[adapters.notes.ops.search]
tool = "find"
args = { query = "{{query}}", team = "{{vars.team}}" }

[adapters.notes.ops.read]
tool = "get"
owns = ["notes://"]

[adapters.notes.ops.remember]
tool = "add"

[[adapters.notes.on]]
event = "promote"
op = "remember"

[adapters.wiki]
driver = "http"
base_url = "https://wiki.example"
headers = { Authorization = "Bearer {{env.WIKI_TOKEN}}" }

[adapters.wiki.ops.search]
path = "/find"
query = { q = "{{query}}" }
map = { title = "name", uri = "tpl:wiki://{{id}}" }

[[adapters.wiki.tools]]
name = "wiki_find"
params = { query = "string!" }
op = "search"

[companion.notices]
adapters = ["notes"]
"#;

fn codes(diagnostics: &[Diagnostic]) -> Vec<Code> {
    diagnostics.iter().map(|one| one.code).collect()
}

#[test]
fn a_whole_configuration_is_clean() {
    let found = check(NOTES);
    assert!(found.is_empty(), "{}", shown(NOTES, &found));
}

#[test]
fn a_half_typed_line_adds_one_diagnostic_and_hides_none() {
    let base = NOTES.replace("[adapters.wiki]\n", "[adapters.wiki]\nbogus = 1\n");
    assert_eq!(codes(&check(&base)), [Code::UnknownKey]);
    for below in [
        "driver = \"mcp\"\n",
        "tool = \"get\"\n",
        "event = \"promote\"\n",
        "name = \"wiki_find\"\n",
    ] {
        for line in [
            "x",
            "timeout_ms",
            "timeout_ms =",
            "description = \"half",
            "description = 'half",
            "env = {",
        ] {
            let text = base.replace(below, &format!("{below}{line}\n"));
            let found = check(&text);
            let bogus = found
                .iter()
                .filter(|one| one.code == Code::UnknownKey)
                .count();
            assert_eq!(
                (found.len(), bogus),
                (2, 1),
                "{line:?} below {below:?}:\n{}",
                shown(&text, &found)
            );
        }
    }
    // Where a line of the text itself is cut short, nothing but the cut shows.
    for (whole, cut) in [
        ("driver = \"mcp\"\n", "driver = \"mc\n"),
        ("driver = \"mcp\"\n", "driver\n"),
        ("driver = \"mcp\"\n", "dri\n"),
        ("command = [", "comm\n#"),
        ("tool = \"get\"", "to"),
        ("event = \"promote\"", "ev"),
        ("op = \"remember\"", "op ="),
        ("op = \"remember\"", "o"),
        ("base_url = \"https://wiki.example\"", "base_url = \"https:"),
    ] {
        let text = base.replacen(whole, cut, 1);
        let found = check(&text);
        assert_eq!(codes(&found).len(), 2, "{cut:?}:\n{}", shown(&text, &found));
    }
}

#[test]
fn an_edit_checks_one_adapter() {
    let before = Arc::new(Source::parse(NOTES));
    let first = check_in(
        &stack(Trust::Untrusted, &[(LayerKind::User, &before)]),
        LayerKind::User,
        None,
    );
    let at = u32::try_from(NOTES.find("\"/find\"").unwrap()).unwrap() + 2;
    let mut text = NOTES.to_owned();
    text.insert(at as usize, 'x');
    let after = Arc::new(before.edited(text, at, at, at + 1));
    let units = after.units.iter().count();
    let second = check_in(
        &stack(Trust::Untrusted, &[(LayerKind::User, &after)]),
        LayerKind::User,
        Some(&first),
    );
    assert_eq!(second.shared_with(&first), units - 1);
}

#[test]
fn no_more_than_the_worst_two_hundred() {
    let mut text = String::from("[adapters.x]\ndriver = \"command\"\ncommand = [\"true\"]\n");
    for i in 0..300 {
        text += &format!("[adapters.x.ops.op{i}]\nformat = \"text\"\n");
    }
    for i in 0..20 {
        text += &format!("[adapters.y{i}]\nenabled = true\n");
    }
    let found = check(&text);
    assert_eq!(found.len(), MAX_DIAGNOSTICS);
    assert_eq!(
        found
            .iter()
            .filter(|one| one.code == Code::MissingDriver)
            .count(),
        20
    );
    assert!(found.is_sorted_by_key(|one| one.range));
    let first = u32::try_from(text.find("op0").unwrap()).unwrap();
    assert_eq!(
        found.first().map(|one| one.range.start),
        Some(first),
        "of equally bad ones the first"
    );
}

#[test]
fn targets_are_judged_over_all_layers() {
    let rest = "[adapters.x]\ncommand = [\"x\"]\n";
    for text in [
        "[adapters.x]\ndriver = \"mcp\"\n",
        "[adapters.x]\ndriver = \"http\"\n",
        "[adapters.x]\ndriver = \"command\"\n",
    ] {
        assert_eq!(codes(&check(text)), [Code::MissingTarget], "{text}");
    }
    let text = "[adapters.x]\ndriver = \"mcp\"\n";
    let whole = |kind, text, other, other_text| {
        codes(&check_layers(
            kind,
            text,
            Trust::Pinned,
            &[(other, other_text)],
        ))
    };
    use LayerKind::{Clone, User};
    assert_eq!(whole(User, text, Clone, rest), []);
    assert_eq!(whole(Clone, rest, User, text), []);
    // Without a driver anywhere: said once, where the adapter begins.
    assert_eq!(
        whole(User, rest, Clone, "[adapters.x]\nenabled = true\n"),
        [Code::MissingDriver]
    );
    assert_eq!(
        whole(Clone, rest, User, "[adapters.x]\nenabled = true\n"),
        []
    );
    let http = "[adapters.x]\ndriver = \"http\"\n[adapters.x.ops.search]\nurl = \"https://x.example/{{query}}\"\n";
    assert_eq!(codes(&check(http)), []);
    let one = format!("{http}[adapters.x.ops.read]\npath = \"/{{{{uri}}}}\"\n");
    let found = check(&one);
    assert_eq!(codes(&found), [Code::MissingTarget]);
    assert!(found[0].message.contains("`read`") && !found[0].message.contains("`search`"));
}

#[test]
fn tools_clash_where_both_are_in_force() {
    let tool = |adapter: &str, name: &str| {
        format!(
            "[adapters.{adapter}]\ndriver = \"command\"\ncommand = [\"x\"]\n\
             [[adapters.{adapter}.tools]]\nname = \"{name}\"\nop = {{ format = \"text\" }}\n"
        )
    };
    use LayerKind::{Clone, Shared, User};
    let (a, b) = (tool("a", "find"), tool("b", "find"));
    let found = check_layers(Clone, &b, Trust::Pinned, &[(User, &a)]);
    assert_eq!(codes(&found), [Code::DuplicateTool]);
    assert!(
        matches!(&found[0].related[0].place, Place::There(path, range)
        if path.to_str() == Some("user.toml") && range.of(&a) == "\"find\"")
    );
    assert_eq!(
        codes(&check_layers(User, &a, Trust::Pinned, &[(Clone, &b)])),
        []
    );
    // The same adapter once more replaces its tools.
    assert_eq!(
        codes(&check_layers(Clone, &a, Trust::Pinned, &[(User, &a)])),
        []
    );
    let both = format!("{a}{b}");
    let other = tool("a", "look");
    assert_eq!(codes(&check(&both)), [Code::DuplicateTool]);
    assert_eq!(
        codes(&check_layers(
            User,
            &both,
            Trust::Pinned,
            &[(Clone, &other)]
        )),
        []
    );
    let off = "[adapters.b]\nenabled = false\n";
    assert_eq!(
        codes(&check_layers(User, &both, Trust::Pinned, &[(Clone, off)])),
        []
    );
    // What is not trusted changes nothing in a personal file.
    assert_eq!(
        codes(&check_layers(Clone, &b, Trust::Untrusted, &[(Shared, &a)])),
        []
    );
}

#[test]
fn places_in_other_files_follow_their_text() {
    let user = Arc::new(Source::parse(
        "[adapters.wiki]\ndriver = \"http\"\nbase_url = \"https://a.example\"\n",
    ));
    let shared = Arc::new(Source::parse(
        "[adapters.wiki]\nbase_url = \"https://b.example\"\n",
    ));
    let layers = |user| {
        stack(
            Trust::Pinned,
            &[(LayerKind::User, user), (LayerKind::Shared, &shared)],
        )
    };
    let first = check_in(&layers(&user), LayerKind::Shared, None);
    let text = format!("# above\n{}", user.document.text());
    let moved = Arc::new(user.edited(text, 0, 0, 8));
    let second = check_in(&layers(&moved), LayerKind::Shared, Some(&first));
    let place = &second.diagnostics()[0].related[0].place;
    assert!(
        matches!(place, Place::There(_, range) if range.of(moved.document.text()) == "base_url")
    );
}

fn fragment() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] = &[
        "[adapters.notes]\n",
        "[adapters.",
        "[[adapters.notes.on]]\n",
        "[[",
        "]\n",
        "{",
        "}",
        "\"",
        "'''",
        "=",
        "\n",
        "driver = \"http\"\n",
        "op = \"remember\"\n",
        "{{query|",
        "}}",
        "\u{feff}",
        "é📒",
        "\\",
        "#",
        ",",
        "adapters = { a = { driver = \"mcp\" } }\n",
        "tools = [1]\n",
        "ops = 3\n",
        "on = [{ op = \"x\" }]\n",
        "\r\n",
    ];
    prop_oneof![
        prop::sample::select(KNOWN).prop_map(str::to_owned),
        "\\PC{0,6}"
    ]
}

fn border(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any edits of any layer: no panic, none twice, and what is taken over is what would be found.
    #[test]
    fn from_before_is_as_from_nothing(
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..24usize, fragment(), any::<bool>()), 1..10),
        trusted in any::<bool>(),
    ) {
        let trust = if trusted { Trust::Pinned } else { Trust::Untrusted };
        let kinds = [LayerKind::User, LayerKind::Shared];
        let mut sources = [Arc::new(Source::parse(NOTES)), Arc::new(Source::parse(NOTES))];
        let mut before: [Checked; 2] = Default::default();
        for (at, len, new, first) in edits {
            let which = usize::from(!first);
            let old = sources[which].document.text().to_string();
            let start = border(&old, at.index(old.len() + 1));
            let end = border(&old, start + len).max(start);
            let text = format!("{}{new}{}", &old[..start], &old[end..]);
            let [s, e, n] = [start, end, start + new.len()].map(|at| u32::try_from(at).unwrap());
            sources[which] = Arc::new(sources[which].edited(text, s, e, n));
            let layers = stack(trust, &[(kinds[0], &sources[0]), (kinds[1], &sources[1])]);
            let whole = sources.clone().map(|source| Arc::new(Source::parse(source.document.text().clone())));
            let fresh = stack(trust, &[(kinds[0], &whole[0]), (kinds[1], &whole[1])]);
            for (kind, before) in kinds.into_iter().zip(&mut before) {
                let now = check_in(&layers, kind, Some(before));
                let scratch = check_in(&fresh, kind, None);
                prop_assert_eq!(now.diagnostics(), scratch.diagnostics());
                let mut places: Vec<_> = now.diagnostics().iter().map(|one| (one.range, one.code)).collect();
                let all = places.len();
                places.dedup();
                prop_assert_eq!(places.len(), all);
                prop_assert!(now.diagnostics().iter().all(|one| one.severity <= Severity::Hint));
                *before = now;
            }
        }
    }
}
