//! Which files of the repository a layer's commands name.

use std::collections::BTreeSet;
use std::path::Path;

use kontext_syntax::template::Template;
use kontext_syntax::toml::Node;

use crate::eval::{Scope, Vars};
use crate::facts::{Env, Facts, Repo};
use crate::source::Source;

/// The most files that a layer may name. One that names more cannot be trusted: nobody could say
/// what the yes was given to.
pub const MAX_SCRIPTS: usize = 4096;

/// Longest path that is looked at, in bytes.
const MAX_PATH: usize = 4096;

/// A layer names more than [`MAX_SCRIPTS`] files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyScripts;

/// The paths that may be files which the layer's commands run or read, relative to the root,
/// segments joined by `/`. Which of them exist is for the edge to find out.
///
/// Looked at are the elements of `command` and the values of `env` of adapters, ops and tools: each
/// as a whole, what stands behind a `=` in it, and the words of one that is a script for a shell;
/// from the root and from the `cwd` that stands beside it. Templates see the repository and the
/// layer's own variables; what comes from the environment or a call is not known here.
///
/// # Errors
/// [`TooManyScripts`].
pub fn scripts(source: &Source, repo: &Repo) -> Result<BTreeSet<String>, TooManyScripts> {
    let facts = Facts {
        repo: repo.clone(),
        env: Env::default(),
        ..Facts::default()
    };
    let globals = source.units.top("vars").map(|unit| &unit.item.node);
    let mut found = Found {
        root: &repo.root,
        globals: vars(globals),
        paths: BTreeSet::new(),
    };
    for unit in source
        .units
        .iter()
        .filter(|unit| &*unit.key.top == "adapters")
    {
        match &unit.key.name {
            Some(name) => found.adapter(&facts, name, &unit.item.node)?,
            None => {
                let table = unit.item.node.as_table();
                for (name, item) in table.into_iter().flat_map(|table| &table.items) {
                    found.adapter(&facts, name, &item.node)?;
                }
            }
        }
    }
    Ok(found.paths)
}

struct Found<'a> {
    root: &'a Path,
    globals: Vars,
    paths: BTreeSet<String>,
}

impl Found<'_> {
    fn adapter(&mut self, facts: &Facts, name: &str, adapter: &Node) -> Result<(), TooManyScripts> {
        let own = vars(member(adapter, "vars"));
        let globals = std::mem::take(&mut self.globals);
        let scope = Scope::new(facts).globals(&globals).adapter(name, &own);
        let ops = member(adapter, "ops").and_then(Node::as_table);
        let ops = ops.into_iter().flat_map(|table| table.items.values());
        let tools = member(adapter, "tools").and_then(Node::as_array);
        let inline = tools
            .into_iter()
            .flatten()
            .filter_map(|tool| member(tool, "op"));
        let above = member(adapter, "cwd");
        let mut done = self.of(&scope, adapter, above);
        for op in ops.map(|item| &item.node).chain(inline) {
            done = done.and_then(|()| self.of(&scope, op, above));
        }
        drop(scope);
        self.globals = globals;
        done
    }

    /// The texts of one table that has a command.
    fn of(
        &mut self,
        scope: &Scope<'_>,
        table: &Node,
        above: Option<&Node>,
    ) -> Result<(), TooManyScripts> {
        let render = |node: &Node| {
            let text = node.as_str()?;
            let rendered = scope.render_text(&Template::parse(text), text);
            Some(rendered.value)
        };
        let mut folders = vec![String::new()];
        folders.extend(
            above
                .into_iter()
                .chain(member(table, "cwd"))
                .filter_map(render),
        );
        let command = member(table, "command").and_then(Node::as_array);
        let env = member(table, "env").and_then(Node::as_table);
        let env = env.into_iter().flat_map(|table| table.items.values());
        let texts = command
            .into_iter()
            .flatten()
            .chain(env.map(|item| &item.node));
        for text in texts.filter_map(render) {
            for word in words(&text) {
                for folder in &folders {
                    let path = if folder.is_empty() || is_absolute(word) {
                        inside(self.root, word)
                    } else {
                        inside(self.root, &format!("{folder}/{word}"))
                    };
                    self.paths.extend(path);
                }
                if self.paths.len() > MAX_SCRIPTS {
                    return Err(TooManyScripts);
                }
            }
        }
        Ok(())
    }
}

fn member<'a>(table: &'a Node, name: &str) -> Option<&'a Node> {
    table.get(name).map(|item| &item.node)
}

fn vars(table: Option<&Node>) -> Vars {
    let table = table.and_then(Node::as_table);
    table
        .into_iter()
        .flat_map(|table| &table.items)
        .filter_map(|(name, item)| Some((name.to_string(), item.node.as_str()?.to_owned())))
        .collect()
}

/// What in an argument may be a path.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|c: char| c.is_whitespace() || "\"'`;|&()<>$,".contains(c));
    std::iter::once(text)
        .chain(parts.filter(move |part| *part != text))
        .flat_map(|part| {
            let value = part.split_once('=').map(|(_, value)| value);
            [Some(part).filter(|part| !part.starts_with('-')), value]
        })
        .flatten()
        .filter(|word| !word.is_empty() && word.len() <= MAX_PATH)
}

fn is_separator(c: char) -> bool {
    c == '/' || (cfg!(windows) && c == '\\')
}

fn is_absolute(word: &str) -> bool {
    word.starts_with(is_separator) || Path::new(word).is_absolute()
}

/// A path below the root, relative to it; `None` for the root itself and what lies outside.
fn inside(root: &Path, word: &str) -> Option<String> {
    let below = if is_absolute(word) {
        let below = Path::new(word).strip_prefix(root).ok()?;
        below.to_str()?
    } else {
        word
    };
    let mut segments: Vec<&str> = Vec::new();
    for segment in below.split(is_separator) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop()?;
            }
            _ if segment.contains('\0') => return None,
            _ => segments.push(segment),
        }
    }
    (!segments.is_empty()).then(|| segments.join("/"))
}
