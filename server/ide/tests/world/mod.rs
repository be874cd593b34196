//! A snapshot from texts: one workspace, its layers, a few facts.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::string_slice,
    clippy::indexing_slicing
)]

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use kontext_config::facts::{Env, Facts, PathFact, ProgramFact, Repo, Trust};
use kontext_config::layer::LayerKind;
use kontext_config::source::Source;
use kontext_config::stack::{LayerSource, Stack};
use kontext_config::status;
use kontext_ide::{File, FileId, Role, Snapshot, Workspace};
use kontext_syntax::text::LineIndex;

/// The value no answer may ever show.
pub(crate) const SECRET: &str = "s3cr3t-VALUE";

/// Facts: every program is missing but `git`, every path but those that end in `README.md`.
pub(crate) fn facts(stack: &Stack) -> Facts {
    let vars = [
        ("NOTES_TOKEN", SECRET),
        ("WIKI_TOKEN", SECRET),
        ("EMPTY", ""),
        ("HOME", "/home/ana"),
    ];
    let mut facts = Facts {
        env: Env::new(vars.map(|(k, v)| (k.to_owned(), v.to_owned())), false),
        repo: Repo {
            id: "github.com/acme/shop".into(),
            slug: "github.com-acme-shop".into(),
            name: "shop".into(),
            dir: "shop".into(),
            root: PathBuf::from("/w/shop"),
            branch: Some("main".into()),
            ..Repo::default()
        },
        trust: stack.trust,
        ..Facts::default()
    };
    for question in status::questions(stack, &facts) {
        match question {
            kontext_config::facts::Question::Program(name) => {
                let fact = if name == "git" {
                    ProgramFact::Found(PathBuf::from("/bin/git"))
                } else {
                    ProgramFact::Missing { searched: 3 }
                };
                facts.programs.insert(name, fact);
            }
            kontext_config::facts::Question::Path(path) => {
                let fact = if path.ends_with("README.md") {
                    PathFact::Exists
                } else {
                    PathFact::Missing
                };
                facts.paths.insert(path, fact);
            }
        }
    }
    facts
}

/// A workspace of these layers, lowest first.
pub(crate) fn layers(texts: &[(LayerKind, &str)], trust: Trust) -> Snapshot {
    let mut files = Vec::new();
    let mut stack = Stack {
        layers: Vec::new(),
        trust,
    };
    for kind in LayerKind::ALL {
        let text = texts
            .iter()
            .find(|(at, _)| *at == kind)
            .map(|(_, text)| *text);
        let source = text.map(|text| Arc::new(Source::parse(text)));
        let path = PathBuf::from(format!("/w/{kind}.toml"));
        if let Some(source) = &source {
            let id = FileId(u32::try_from(files.len()).unwrap());
            let role = Role {
                workspace: 0,
                layer: kind,
            };
            files.push(file(id, Some(path.clone()), source, vec![role]));
        }
        stack.layers.push(LayerSource {
            kind,
            path,
            source,
            fault: None,
        });
    }
    let facts = facts(&stack);
    let named = files
        .iter()
        .map(|file| (file.roles[0].layer, file.id))
        .collect();
    let stack = Arc::new(stack);
    let workspace = Arc::new(Workspace {
        root: PathBuf::from("/w/shop"),
        saved: Arc::clone(&stack),
        stack,
        facts: Arc::new(facts),
        files: named,
        severities: Arc::default(),
        statuses: OnceLock::new(),
    });
    let files = files
        .into_iter()
        .map(|file| judged_in(file, &workspace))
        .collect();
    Snapshot {
        workspaces: vec![workspace],
        files,
        ..Snapshot::default()
    }
}

/// A workspace with a user layer only.
pub(crate) fn user(text: &str) -> Snapshot {
    layers(&[(LayerKind::User, text)], Trust::Untrusted)
}

/// As [`user`], the text with a mark `<|>`; the mark's offset.
pub(crate) fn marked(text: &str) -> (Snapshot, u32) {
    let at = text.find("<|>").unwrap();
    (
        user(&text.replacen("<|>", "", 1)),
        u32::try_from(at).unwrap(),
    )
}

fn judged_in(mut file: File, workspace: &Arc<Workspace>) -> Arc<File> {
    file.judged = file.roles.iter().map(|_| Arc::clone(workspace)).collect();
    Arc::new(file)
}

fn file(id: FileId, path: Option<PathBuf>, source: &Arc<Source>, roles: Vec<Role>) -> File {
    File {
        id,
        uri: "file:///w/x.toml".into(),
        path,
        lines: Arc::new(LineIndex::new(source.document.text())),
        source: Arc::clone(source),
        version: Some(1),
        open: true,
        unsaved: false,
        fault: None,
        roles,
        saved: None,
        judged: Vec::new(),
        before: Vec::new(),
        checked: OnceLock::new(),
        merged: OnceLock::new(),
    }
}
