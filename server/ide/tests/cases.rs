//! Configurations as people write them, with the places that must be marked.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used
)]

mod support;

use kontext_config::codes::{Code, Severity};
use kontext_config::facts::Trust;
use kontext_config::layer::LayerKind;
use kontext_ide::Diagnostic;
use support::{check, check_layers, faults, utf16};

fn at(text: &str, diagnostics: &[Diagnostic], place: (u32, u32, u32, u32)) -> Diagnostic {
    diagnostics
        .iter()
        .find(|one| utf16(text, one.range) == place)
        .unwrap_or_else(|| {
            panic!(
                "nothing at {place:?}:\n{}",
                support::shown(text, diagnostics)
            )
        })
        .clone()
}

fn title(one: &Diagnostic) -> &str {
    one.fix.as_ref().map_or("", |fix| &fix.title)
}

/// T01
#[test]
fn a_windows_path_with_a_bad_escape() {
    let text = "[adapters.manual]\ndriver = \"mcp\"\n\
                command = [\"pwsh\", \"-File\", \"D:\\Users\\ana\\manual\\run.ps1\"]\n\n\
                [adapters.other]\ndriver = \"command\"\ncommand = [\"rg\", \"--json\", \"--\", \"{{query}}\"]\nweigth = 1\n";
    let found = check(text);
    let [escape, other] = found.as_slice() else {
        panic!("{}", support::shown(text, &found))
    };
    assert_eq!(
        (escape.code, escape.severity),
        (Code::InvalidEscape, Severity::Error)
    );
    let place = utf16(text, escape.range);
    assert!(place.0 == 2 && place.1 >= 28 && place.3 <= 59, "{place:?}");
    assert!(
        escape.message.contains('\'') || escape.message.contains("\\\\"),
        "{}",
        escape.message
    );
    assert_eq!(other.code, Code::UnknownKey, "the rest is checked as usual");
    let fixed = text.replace(
        "\"D:\\Users\\ana\\manual\\run.ps1\"",
        "'D:\\Users\\ana\\manual\\run.ps1'",
    );
    assert_eq!(faults(&fixed, &check(&fixed)).len(), 1);
}

/// T02
#[test]
fn a_windows_path_whose_escapes_are_valid() {
    let text = "[adapters.build]\ndriver = \"command\"\n\
                command = [\"D:\\tools\\new\\bin\\build.exe\", \"--\", \"{{query}}\"]\n\
                cwd = \"D:\\temp\\repo\"\nwhen = { exists = \"D:\\notes\\flags.json\" }\n";
    let found = check(text);
    assert_eq!(
        faults(text, &found),
        [
            ((2, 11, 2, 39), Code::ControlCharacter),
            ((3, 6, 3, 20), Code::ControlCharacter),
            ((4, 18, 4, 39), Code::ControlCharacter),
        ]
    );
    for one in &found {
        assert!(
            !one.message.chars().any(char::is_control),
            "{:?}",
            one.message
        );
    }
}

/// T04
#[test]
fn dots_in_adapter_names() {
    let text = "[adapters.my.srv]\ndriver = \"mcp\"\ncommand = [\"my-srv\"]\nexpose = \"all\"\n\n\
                [adapters.\"team.wiki\"]\ndriver = \"mcp\"\ncommand = [\"wiki-mcp\"]\nexpose = \"all\"\n\n\
                [adapters.'Búsqueda interna']\ndriver = \"mcp\"\ncommand = [\"b-mcp\"]\nexpose = \"all\"\n";
    let found = check(text);
    assert_eq!(
        faults(text, &found),
        [
            ((0, 10, 0, 12), Code::MissingDriver),
            ((0, 13, 0, 16), Code::DottedName),
            ((5, 10, 5, 21), Code::PrefixNotToolName),
            ((10, 10, 10, 28), Code::PrefixNotToolName),
        ]
    );
    let dotted = at(text, &found, (0, 13, 0, 16));
    assert!(
        dotted.message.contains("[adapters.\"my.srv\"]"),
        "{}",
        dotted.message
    );
    let fix = dotted.fix.unwrap();
    assert_eq!(fix.edits.len(), 1);
    assert_eq!(
        (fix.edits[0].0.of(text), &*fix.edits[0].1),
        ("my.srv", "\"my.srv\"")
    );
}

/// T05
#[test]
fn tables_in_any_order_and_dotted_keys() {
    let text = "[adapters.hub.ops.search]\ntool = \"find\"\nmap.title = \"name\"\nmap.uri = \"tpl:hub://{{id}}\"\n\n\
                [adapters.hub.ops.read]\ntool = \"get\"\nowns = [\"hub://\"]\n\n\
                [adapters.hub]\ndriver = \"mcp\"\ncommand = [\"hub\", \"mcp\"]\nvars.team = \"core\"\n\
                vars.extra = \"x-{{vars.team}}\"\nwhen.env = \"HUB_TOKEN\"\nwhen.file = \".hub\"\n";
    let found = check(text);
    assert!(found.is_empty(), "{}", support::shown(text, &found));
}

const OWN_WIKI: &str = "[adapters.wiki]\ndriver = \"http\"\nbase_url = \"https://wiki.example\"\n\
    headers = { Authorization = \"Bearer {{env.WIKI_TOKEN}}\" }\ntimeout_ms = 4000\n\n\
    [adapters.local]\ndriver = \"command\"\ncommand = [\"true\"]\n";
const TEAM_WIKI: &str = "[adapters.wiki]\ndriver = \"mcp\"\ncommand = [\"./tools/wiki-mcp\"]\n\n\
    [adapters.extra]\ndriver = \"command\"\ncommand = [\"true\"]\ntimeout = 5\n";

/// T07
#[test]
fn two_layers_define_one_adapter_differently() {
    for trust in [Trust::Untrusted, Trust::Pinned] {
        let user = check_layers(
            LayerKind::User,
            OWN_WIKI,
            trust,
            &[(LayerKind::Shared, TEAM_WIKI)],
        );
        assert!(user.is_empty(), "{}", support::shown(OWN_WIKI, &user));
        let shared = check_layers(
            LayerKind::Shared,
            TEAM_WIKI,
            trust,
            &[(LayerKind::User, OWN_WIKI)],
        );
        assert_eq!(
            faults(TEAM_WIKI, &shared),
            [((7, 0, 7, 7), Code::UnknownKey)]
        );
        let waits = shared
            .iter()
            .filter(|one| one.code == Code::UntrustedLayer)
            .count();
        assert_eq!(
            waits,
            usize::from(!trust.is_trusted()),
            "{}",
            support::shown(TEAM_WIKI, &shared)
        );
        let changes = shared
            .iter()
            .filter(|one| one.code == Code::LayerConflict)
            .count();
        assert_eq!(changes, 1, "the command in place of the URL");
    }
}

/// T08
#[test]
fn misspelt_keys_at_every_level() {
    let text = "[adapters.tix]\ndriver = \"http\"\nbase_url = \"https://tix.example/api\"\ntimeout = 5000\n\
                when = { envs = \"TIX_TOKEN\" }\n\n[adapters.tix.ops.search]\npath = \"/search\"\n\
                qeury = { q = \"{{query}}\" }\nformt = \"json\"\n\
                map = { title = \"key\", snipet = \"fields.summary\" }\n\n\
                [[adapters.tix.on]]\nevnt = \"sync\"\nop = \"search\"\n\n\
                [[adapters.tix.tools]]\nnme = \"tix_find\"\ndescription = \"find\"\nop = \"search\"\n";
    let found = check(text);
    for (place, name) in [
        ((3, 0, 3, 7), "timeout_ms"),
        ((4, 9, 4, 13), "env"),
        ((8, 0, 8, 5), "query"),
        ((9, 0, 9, 5), "format"),
        ((10, 23, 10, 29), "snippet"),
        ((13, 0, 13, 4), "event"),
        ((17, 0, 17, 3), "name"),
    ] {
        let one = at(text, &found, place);
        assert_eq!(
            (one.code, one.severity),
            (Code::UnknownKey, Severity::Error),
            "{place:?}"
        );
        assert_eq!(title(&one), format!("Change to `{name}`"));
    }
    let missing: Vec<_> = found
        .iter()
        .filter(|one| one.code == Code::MissingField)
        .map(|one| utf16(text, one.range).0)
        .collect();
    assert_eq!(missing, [12, 16]);
    assert_eq!(found.len(), 9, "{}", support::shown(text, &found));
}

/// T10
#[test]
fn an_entry_of_another_program() {
    let text = "[mcp_servers.ctx]\ncommand = \"npx -y ctx-mcp\"\nargs = [\"--stdio\"]\n\n\
                [adapters.ctx]\ntype = \"stdio\"\ndriver = \"stdio\"\ncommand = \"npx -y ctx-mcp\"\n\
                args = [\"--stdio\"]\nenv = { CTX_TOKEN = \"${CTX_TOKEN}\" }\n\n\
                [adapters.remote]\ndriver = \"mcp\"\nurl = \"https://ctx.example/mcp\"\n\
                headers = { Authorization = \"Bearer ${env:CTX_TOKEN}\" }\nstartup_timeout_sec = 30\n";
    let found = check(text);
    let codes: Vec<_> = faults(text, &found);
    assert_eq!(
        codes,
        [
            ((5, 0, 5, 4), Code::UnknownKey),
            ((6, 9, 6, 16), Code::InvalidValue),
            ((7, 10, 7, 26), Code::CommandString),
            ((8, 0, 8, 4), Code::UnknownKey),
            ((9, 21, 9, 33), Code::DollarPlaceholder),
            ((14, 36, 14, 52), Code::DollarPlaceholder),
            ((15, 0, 15, 19), Code::UnknownKey),
        ],
        "{}",
        support::shown(text, &found)
    );
    let command = at(text, &found, (7, 10, 7, 26));
    assert!(
        command
            .message
            .contains(r#"["npx", "-y", "ctx-mcp", "--stdio"]"#),
        "{}",
        command.message
    );
    assert!(at(text, &found, (6, 9, 6, 16)).message.contains("mcp"));
    assert!(
        at(text, &found, (9, 21, 9, 33))
            .message
            .contains("{{env.CTX_TOKEN}}")
    );
    let seconds = at(text, &found, (15, 0, 15, 19)).fix.unwrap();
    let edits: Vec<_> = seconds
        .edits
        .iter()
        .map(|(range, new)| (range.of(text), &**new))
        .collect();
    assert_eq!(
        edits,
        [("startup_timeout_sec", "timeout_ms"), ("30", "30000")]
    );
    let others: Vec<_> = found
        .iter()
        .filter(|one| one.severity > Severity::Warning)
        .collect();
    assert!(matches!(others.as_slice(), [one] if one.code == Code::ForeignFormat));
}

const VALID: &str = "[adapters.notes]\ndriver = \"mcp\"\ncommand = [\"notes\", \"--mcp\"]\n\
    when = { env = \"N\", exists = \"{{env.HOME}}/n/{{repo.slug}}*.json\" }\n\
    vars = { a = \"x|y\", b = '''t\nu''' }\n\n[adapters.notes.ops.search]\ntool = \"find\"\n\
    map = { title = \"a|b\", uri = \"tpl:notes://{{id|urlencode}}\", kind = \"=note\", date = \"re:(\\\\d{4})\" }\n\
    [[adapters.notes.on]]\nevent = \"sync\"\nop = \"search\"\n";

/// T11
#[test]
fn garbage_while_editing() {
    let found = check(VALID);
    assert!(found.is_empty(), "{}", support::shown(VALID, &found));
    for (end, _) in VALID.char_indices() {
        check(&VALID[..end]);
    }
    let deep = format!("[adapters.x]\ndriver = \"mcp\"\nv = {}\n", "[".repeat(5000));
    for broken in [
        "{ \"mcpServers\": { \"notes\": { \"command\": \"notes\", \"args\": [] } } }\n",
        "# a comment\n= 1\n",
        "[adapters.x]\ndriver = \"m\u{1}cp\"\n\u{7f}\n",
        &deep,
    ] {
        let found = check(broken);
        assert!(
            found.iter().any(|one| one.severity == Severity::Error),
            "{broken:?}"
        );
    }
}

/// L01
#[test]
fn columns_behind_an_astral_character() {
    let text = "[adapters.notes]\ndriver = \"mcp\"\ndescription = \"poznámky 🗒️ tímu\"\ncommand = [\"notes-srv\"]\n\
                when = { env = \"N\", exists = \"📒\", fil = \".notes\" }\n";
    let found = check(text);
    assert_eq!(faults(text, &found), [((4, 35, 4, 38), Code::UnknownKey)]);
    assert_eq!(found.len(), 1);
    assert_eq!(title(&found[0]), "Change to `file`");
}

/// L04
#[test]
fn byte_order_marks() {
    let plain = "adapters.notes.drvier = \"mcp\"\nadapters.notes.comand = [\"x\"]\n";
    let marked = format!("\u{feff}{plain}");
    assert_eq!(
        faults(plain, &check(plain)),
        [
            ((0, 15, 0, 21), Code::UnknownKey),
            ((1, 15, 1, 21), Code::UnknownKey)
        ]
    );
    assert_eq!(
        faults(&marked, &check(&marked)),
        [
            ((0, 16, 0, 22), Code::UnknownKey),
            ((1, 15, 1, 21), Code::UnknownKey)
        ]
    );
    let inside = "[adapters.notes]\n\u{feff}driver = \"mcp\"\nurl = \"https://notes.example/mcp\"\nurll = 1\n";
    let found = check(inside);
    let bom = found
        .iter()
        .find(|one| one.code == Code::BomInside)
        .unwrap();
    assert_eq!(
        (utf16(inside, bom.range).0, bom.severity),
        (1, Severity::Error)
    );
    assert!(
        bom.message.contains("U+FEFF") || bom.message.contains("byte order mark"),
        "{}",
        bom.message
    );
    assert!(
        found.iter().any(|one| one.code == Code::UnknownKey),
        "the rest is checked"
    );
}
