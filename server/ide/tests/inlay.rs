//! Status hints behind headers.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod world;

use kontext_config::facts::Trust;
use kontext_config::layer::LayerKind;
use kontext_ide::inlay::hints;
use kontext_syntax::TextRange;

#[test]
fn every_status_is_shown_behind_the_header() {
    let user = "[adapters.a]\ndriver = \"command\"\ncommand = [\"git\"]\n[adapters.b]\ndriver = \"mcp\"\ncommand = [\"x\"]\nwhen = { command = \"codegraph\", env = \"NOPE\" }\n[adapters.b.ops.search]\ntool = \"t\"\n[adapters.c]\nenabled = false\ndriver = \"mcp\"\ncommand = [\"x\"]\n[adapters.d]\n";
    let shared = "[adapters.s]\ndriver = \"mcp\"\ncommand = [\"x\"]\n";
    let snapshot = world::layers(
        &[(LayerKind::User, user), (LayerKind::Shared, shared)],
        Trust::Untrusted,
    );
    let mut out = String::new();
    for file in &snapshot.files {
        let text = file.source.document.text();
        let all = TextRange::new(0, u32::try_from(text.len()).unwrap());
        for hint in hints(&snapshot, file, all) {
            let line = text
                .get(..hint.offset as usize)
                .unwrap()
                .lines()
                .last()
                .unwrap();
            out.push_str(&format!("{line} {}\n", hint.label));
        }
    }
    insta::assert_snapshot!(out, @r#"
[adapters.a] active
[adapters.b] inactive: `codegraph` is not on PATH (+1)
[adapters.c] disabled
[adapters.d] invalid: no `driver` is given: write `driver = "mcp"`, `"http"` or `"command"`
[adapters.s] untrusted
"#);
}

#[test]
fn only_the_range_is_answered() {
    let snapshot = world::user("[adapters.a]\nx = 1\n[adapters.b]\n");
    let found = hints(&snapshot, &snapshot.files[0], TextRange::new(15, 25));
    assert!(found.is_empty());
    let found = hints(&snapshot, &snapshot.files[0], TextRange::new(20, 40));
    assert_eq!(found.len(), 1);
}
