//! `[companion]`: the settings of this program (companion.md sections 2 to 4).

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::codes::{Code, Severity};
use crate::merge::{Merged, MergedKind, node_to_json};
use crate::stack::Stack;

/// The settings, defaults filled in. A field with a wrong value is left at its default.
#[derive(Clone, Debug, PartialEq)]
pub struct Companion {
    /// Whether tools that change something are open.
    pub allow_write: bool,
    /// Whether tools that reach an adapter are open.
    pub allow_external_call: bool,
    /// Language of documentation and diagnostics; `None` is the editor's.
    pub locale: Option<String>,
    /// Whether trusted, active servers are asked for their tools while a file is edited.
    pub live: bool,
    /// Levels that differ from the default; `None` switches the diagnostic off. Codes that do not
    /// exist are left out.
    pub severity: BTreeMap<Code, Option<Severity>>,
    /// Pointer notices.
    pub notices: Notices,
}

/// `[companion.notices]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Notices {
    /// The adapters whose `search` op is asked.
    pub adapters: Vec<String>,
    /// The adapter whose server has the retrieval tool.
    pub server: Option<String>,
    /// The retrieval tool.
    pub tool: Option<String>,
    /// Its argument that receives the text.
    pub query_arg: String,
    /// Further arguments of every call.
    pub extra_args: Map<String, Value>,
    /// Whether the paragraph around the cursor is looked up too.
    pub editor: bool,
    /// The least score; finite and at least 0.
    pub min_score: f64,
    /// The most notices for one text.
    pub max_hits: usize,
}

impl Default for Companion {
    fn default() -> Self {
        Self {
            allow_write: false,
            allow_external_call: false,
            locale: None,
            live: true,
            severity: BTreeMap::new(),
            notices: Notices::default(),
        }
    }
}

impl Default for Notices {
    fn default() -> Self {
        Self {
            adapters: Vec::new(),
            server: None,
            tool: None,
            query_arg: "query".to_owned(),
            extra_args: Map::new(),
            editor: false,
            min_score: 0.0,
            max_hits: 3,
        }
    }
}

impl Companion {
    /// The settings of the personal layers. What a shared layer says is not looked at, trusted or
    /// not: a repository never opens its own gates.
    pub fn of(stack: &Stack) -> Self {
        stack
            .merged_top("companion")
            .map_or_else(Self::default, |merged| Self::from_merged(&merged))
    }

    /// The settings a merged `[companion]` stands for.
    pub fn from_merged(merged: &Merged<'_>) -> Self {
        let default = Self::default();
        let flag = |name: &str| merged.get(name).and_then(Merged::as_bool);
        Self {
            allow_write: flag("allow_write").unwrap_or(default.allow_write),
            allow_external_call: flag("allow_external_call").unwrap_or(default.allow_external_call),
            locale: text(merged, "locale"),
            live: flag("live").unwrap_or(default.live),
            severity: merged.get("severity").map(severity).unwrap_or_default(),
            notices: merged
                .get("notices")
                .map(Notices::from_merged)
                .unwrap_or_default(),
        }
    }

    /// The level of a diagnostic; `None` where it is switched off.
    pub fn severity_of(&self, code: Code) -> Option<Severity> {
        self.severity
            .get(&code)
            .copied()
            .unwrap_or(Some(code.severity()))
    }
}

impl Notices {
    fn from_merged(merged: &Merged<'_>) -> Self {
        let default = Self::default();
        let number = |name: &str| merged.get(name).filter(|value| value.is_valid())?.node();
        let adapters = merged.get("adapters").filter(|value| value.is_valid());
        let adapters = adapters
            .and_then(Merged::node)
            .and_then(|node| node.as_array());
        let min_score = number("min_score")
            .map(node_to_json)
            .and_then(|value| value.as_f64());
        let max_hits = number("max_hits")
            .map(node_to_json)
            .and_then(|value| value.as_u64());
        Self {
            adapters: adapters
                .into_iter()
                .flatten()
                .filter_map(|node| node.as_str().map(str::to_owned))
                .collect(),
            server: text(merged, "server"),
            tool: text(merged, "tool"),
            query_arg: text(merged, "query_arg").unwrap_or(default.query_arg),
            extra_args: match merged.get("extra_args").map(Merged::to_json) {
                Some(Value::Object(args)) => args,
                _ => default.extra_args,
            },
            editor: merged
                .get("editor")
                .and_then(Merged::as_bool)
                .unwrap_or(default.editor),
            min_score: min_score
                .filter(|score| score.is_finite() && *score >= 0.0)
                .unwrap_or(default.min_score),
            max_hits: max_hits
                .and_then(|hits| usize::try_from(hits).ok())
                .unwrap_or(default.max_hits),
        }
    }
}

fn text(merged: &Merged<'_>, name: &str) -> Option<String> {
    let text = merged.get(name)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn severity(merged: &Merged<'_>) -> BTreeMap<Code, Option<Severity>> {
    let MergedKind::Table(members) = &merged.kind else {
        return BTreeMap::new();
    };
    let level = |value: &Merged<'_>| match value.as_str()? {
        "off" => Some(None),
        name => Severity::parse(name).map(Some),
    };
    members
        .iter()
        .filter_map(|(code, value)| Some((Code::parse(code)?, level(value)?)))
        .collect()
}
