//! A workspace in memory, and what is offered at a mark in its user layer.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use kontext_config::facts::{Env, Facts};
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;
use kontext_config::stack::{LayerSource, Stack};
use kontext_ide::completion::{Capabilities, Extra, FileEntry, Item, complete};
use kontext_ide::{File, FileId, Role, Snapshot, Workspace};
use kontext_syntax::text::LineIndex;

/// A workspace whose user layer is `text`, with a shared layer over it.
pub(crate) fn snapshot(text: &str, shared: &str) -> Snapshot {
    let layers = [(LayerKind::User, text), (LayerKind::Shared, shared)];
    let layers: Vec<_> = layers
        .into_iter()
        .map(|(kind, text)| (kind, Arc::new(Source::parse(text))))
        .collect();
    let stack = Stack {
        layers: layers
            .iter()
            .map(|(kind, source)| LayerSource {
                kind: *kind,
                path: PathBuf::from(format!("/ws/{kind}.toml")),
                source: Some(Arc::clone(source)),
                fault: None,
            })
            .collect(),
        ..Stack::default()
    };
    let env = [
        ("HOME", "/home/ana"),
        ("HUB_TOKEN", "s3cr3t"),
        ("HUB_URL", "u"),
    ];
    let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let facts = Facts {
        env: Env::new(env, false),
        ..Facts::default()
    };
    let workspace = Workspace {
        root: PathBuf::from("/ws"),
        stack: Arc::new(stack),
        saved: Arc::default(),
        facts: Arc::new(facts),
        files: Vec::new(),
        severities: Arc::default(),
        statuses: OnceLock::new(),
    };
    let workspace = Arc::new(workspace);
    let files = layers.into_iter().enumerate().map(|(at, (layer, source))| {
        Arc::new(File {
            id: FileId(u32::try_from(at).unwrap()),
            path: Some(PathBuf::from(format!("/ws/{layer}.toml"))),
            uri: "file:///ws/x.toml".into(),
            lines: Arc::new(LineIndex::new(source.document.text())),
            source,
            version: Some(1),
            open: true,
            unsaved: false,
            saved: None,
            fault: None,
            roles: vec![Role {
                workspace: 0,
                layer,
            }],
            judged: vec![Arc::clone(&workspace)],
            before: Vec::new(),
            checked: OnceLock::new(),
            merged: OnceLock::new(),
        })
    });
    Snapshot {
        files: files.collect(),
        workspaces: vec![Arc::clone(&workspace)],
        editor: true,
        ..Snapshot::default()
    }
}

pub(crate) fn items_over(marked: &str, shared: &str, snippets: bool) -> (String, Vec<Item>) {
    let offset = marked.find("<|>").unwrap();
    let text = marked.replacen("<|>", "", 1);
    let snapshot = snapshot(&text, shared);
    let programs = ["cargo", "git", "rg"].map(str::to_owned);
    let files = |folder: &str| -> Vec<FileEntry> {
        let entries: &[(&str, bool)] = match folder {
            "" => &[(".notes", true), ("docs", true), ("README.md", false)],
            "docs" => &[("index.md", false), ("old", true)],
            _ => &[],
        };
        entries
            .iter()
            .map(|&(name, is_folder)| FileEntry {
                name: name.to_owned(),
                is_folder,
            })
            .collect()
    };
    let capabilities = Capabilities {
        snippets,
        extra: Extra {
            programs: &programs,
            files: Some(&files),
        },
    };
    let offset = u32::try_from(offset).unwrap();
    let mut items = complete(&snapshot, &snapshot.files[0], offset, &capabilities);
    items.sort_by(|a, b| a.sort.cmp(&b.sort));
    (text, items)
}

pub(crate) fn items(marked: &str) -> (String, Vec<Item>) {
    items_over(marked, "", true)
}

/// The labels, in the order they are shown.
pub(crate) fn labels(marked: &str) -> String {
    let (_, items) = items(marked);
    let labels: Vec<_> = items.into_iter().map(|item| item.label).collect();
    labels.join(" ")
}

/// The text of the item accepted.
pub(crate) fn applied(marked: &str, label: &str, snippets: bool) -> String {
    let (text, items) = items_over(marked, "", snippets);
    let item = items.iter().find(|item| item.label == label).unwrap();
    apply(&text, item)
}

pub(crate) fn apply(text: &str, item: &Item) -> String {
    let range = item.edit.range;
    let (before, after) = (&text[..range.start as usize], &text[range.end as usize..]);
    format!("{before}{}{after}", item.edit.new_text)
}

/// Each case with what becomes of one item.
pub(crate) fn table(cases: &[(&str, &str)]) -> String {
    cases
        .iter()
        .map(|(marked, label)| {
            let plain = applied(marked, label, false);
            let snippet = applied(marked, label, true);
            let mut shown = format!("{marked}\n  → {plain}\n");
            if snippet != plain {
                shown.push_str(&format!("  $ {snippet}\n"));
            }
            shown
                .replace("[adapters.x]\n", "")
                .replace('\n', "⏎")
                .replace("⏎  ", "\n  ")
                .replace('⏎', "\n")
        })
        .collect()
}
