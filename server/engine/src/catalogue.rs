//! The tools that adapters offer to agents: declared ones, and those of their servers
//! (adapters.md section 8).
//!
//! What a server says of a tool passes as it is; only its name and the lead of its description
//! change. The order is that of the configuration, and within an adapter declared tools come
//! before those of its server, in the server's order.

use std::sync::Arc;

use indexmap::IndexMap;
use kontext_config::model::{Adapter, DeclaredTool, Expose, ToolOp};
use rustc_hash::FxBuildHasher;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::bind;
use crate::driver::mcp::Tools;
use crate::plan::{Plan, listed};

/// The longest name a tool may have, in characters.
pub const MAX_NAME: usize = 64;

/// All tools of all active adapters.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    tools: IndexMap<Arc<str>, Published, FxBuildHasher>,
    /// What could not be offered, or not under its name.
    pub reports: Vec<Report>,
}

/// One tool as an agent sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// The adapter it belongs to.
    pub adapter: Arc<str>,
    /// What a call of it calls.
    pub origin: Origin,
    /// Its entry in `tools/list`.
    pub listed: Arc<Value>,
    /// Whether a call may change something.
    pub writes: bool,
}

/// What stands behind a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A tool of the adapter's server, by the server's name for it.
    Server(Arc<str>),
    /// A tool declared in the configuration, by its place there, 0-based.
    Declared(usize),
}

/// Something about a tool that the person should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The adapter.
    pub adapter: Arc<str>,
    /// One sentence.
    pub message: String,
}

impl Catalogue {
    /// The tools of a plan. `server` gives the tools that an adapter's server listed last, `None`
    /// where it has not listed any yet. Names in `reserved` are taken already.
    pub fn of<'a>(
        plan: &Plan,
        server: impl Fn(&str) -> Option<Arc<Tools>>,
        reserved: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut builder = Builder {
            catalogue: Self::default(),
            reserved: reserved.into_iter().map(str::to_owned).collect(),
        };
        for planned in plan.active() {
            let adapter = &*planned.adapter;
            let name: Arc<str> = adapter.name.as_str().into();
            for (at, tool) in adapter.tools.iter().enumerate() {
                builder.declared(&name, adapter, at, tool);
            }
            if adapter.expose != Expose::None
                && let Some(tools) = server(&name)
            {
                builder.of_server(&name, adapter, &tools);
            }
        }
        builder.catalogue
    }

    /// All of them, by name, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Published)> {
        self.tools.iter()
    }

    /// One of them.
    pub fn get(&self, name: &str) -> Option<&Published> {
        self.tools.get(name)
    }

    /// Whether the two look the same to an agent.
    pub fn offers_the_same(&self, other: &Self) -> bool {
        self.tools.len() == other.tools.len() && self.tools.iter().eq(other.tools.iter())
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(|name| &**name)
    }
}

struct Builder {
    catalogue: Catalogue,
    reserved: Vec<String>,
}

impl Builder {
    fn declared(&mut self, name: &Arc<str>, adapter: &Adapter, at: usize, tool: &DeclaredTool) {
        let description = lead(name, tool.description.as_deref());
        let published = published_name("", &tool.name);
        let listed = json!({
            "name": published,
            "description": description,
            "inputSchema": tool.schema,
        });
        let entry = Published {
            adapter: Arc::clone(name),
            origin: Origin::Declared(at),
            listed: Arc::new(listed),
            writes: writes(adapter, &tool.op),
        };
        self.add(&tool.name, published, entry);
    }

    fn of_server(&mut self, name: &Arc<str>, adapter: &Adapter, tools: &Tools) {
        let prefix = adapter.tool_prefix();
        let mut found: Vec<&str> = Vec::new();
        for note in &tools.notes {
            self.report(name, note.clone());
        }
        for tool in &tools.tools {
            let Some((own, members)) = named(tool) else {
                continue;
            };
            if let Expose::Only(only) = &adapter.expose {
                let Some(wanted) = only.iter().find(|wanted| *wanted == own) else {
                    continue;
                };
                found.push(wanted);
            }
            let published = published_name(&prefix, own);
            let entry = Published {
                adapter: Arc::clone(name),
                origin: Origin::Server(own.into()),
                listed: Arc::new(republished(name, adapter, &published, members)),
                // A server's word alone does not open a gate (section 10: only once it is pinned).
                writes: true,
            };
            self.add(own, published, entry);
        }
        if let Expose::Only(only) = &adapter.expose {
            let missing = only.iter().filter(|only| !found.contains(&only.as_str()));
            let missing: Vec<&String> = missing.collect();
            if !missing.is_empty() {
                let message = format!(
                    "`expose` names {}, which its server does not offer",
                    listed(missing)
                );
                self.report(name, message);
            }
        }
    }

    fn add(&mut self, own: &str, name: String, entry: Published) {
        let adapter = Arc::clone(&entry.adapter);
        if name.is_empty() {
            self.report(&adapter, "a tool without a name is left out".to_owned());
            return;
        }
        if self.reserved.contains(&name) {
            let message = format!(
                "its tool `{own}` is left out: `{name}` is a tool of kontext-ls; set `prefix`"
            );
            self.report(&adapter, message);
            return;
        }
        if let Some(taken) = self.catalogue.tools.get(name.as_str()) {
            let message = format!(
                "its tool `{own}` is left out: the name `{name}` is taken by adapter `{}`; give one of them another name or `prefix`",
                taken.adapter
            );
            self.report(&adapter, message);
            return;
        }
        self.catalogue.tools.insert(name.into(), entry);
    }

    fn report(&mut self, adapter: &Arc<str>, message: String) {
        self.catalogue.reports.push(Report {
            adapter: Arc::clone(adapter),
            message,
        });
    }
}

/// A name as agents may use it: the prefix before it unless it begins with that already, other
/// characters than ASCII letters, digits, `_` and `-` made `_`, and one that is too long cut and
/// ended by a hash of the whole.
pub fn published_name(prefix: &str, own: &str) -> String {
    let whole = if own.starts_with(prefix) {
        own.to_owned()
    } else {
        format!("{prefix}{own}")
    };
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String = whole
        .chars()
        .map(|c| if allowed(c) { c } else { '_' })
        .collect();
    if name.len() <= MAX_NAME {
        return name;
    }
    let digest = Sha256::digest(whole.as_bytes());
    let hash: String = digest
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let kept: String = name.chars().take(MAX_NAME - 1 - hash.len()).collect();
    format!("{kept}_{hash}")
}

/// Whether the op behind a declared tool may change something. The well-known ones that ask do
/// not; what another one does, only its author knows.
fn writes(adapter: &Adapter, op: &ToolOp) -> bool {
    match op {
        ToolOp::Named(name) => adapter.ops.contains_key(name) && !only_reads(name),
        ToolOp::Inline(_) => true,
    }
}

/// Whether an op of this name only asks (section 2, the well-known ops).
pub fn only_reads(op: &str) -> bool {
    matches!(
        op,
        "search" | "history" | "code" | "read" | "brief" | "llm" | "health"
    )
}

fn named(tool: &Value) -> Option<(&str, &Map<String, Value>)> {
    let members = tool.as_object()?;
    Some((members.get("name")?.as_str()?, members))
}

fn lead(adapter: &str, description: Option<&str>) -> String {
    match description.map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => format!("[{adapter}] {text}"),
        None => format!("[{adapter}]"),
    }
}

fn republished(
    name: &str,
    adapter: &Adapter,
    published: &str,
    members: &Map<String, Value>,
) -> Value {
    let mut listed = members.clone();
    let own = members.get("description").and_then(Value::as_str);
    let description = own.or(adapter.description.as_deref());
    listed.insert("name".to_owned(), published.into());
    listed.insert("description".to_owned(), lead(name, description).into());
    let schema = bind::input_schema_of(members.get("inputSchema"));
    listed.insert("inputSchema".to_owned(), schema);
    Value::Object(listed)
}

#[cfg(test)]
mod tests;
