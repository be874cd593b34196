//! Asking several adapters at once, and the one that owns a URI (adapters.md section 5).

use std::time::Duration;

use futures_util::future::join_all;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde_json::{Map, Value};
use tokio::time::timeout;

use crate::answer::{MergedHit, SourceHits, merge};
use crate::call::{CallError, Outcome};
use crate::engine::Engine;
use crate::fault::{Fault, FaultKind};
use crate::inputs::Inputs;
use crate::plan::{Plan, Planned, listed};

/// How many hits a search gives where it is not said.
pub const DEFAULT_LIMIT: usize = 10;

/// The most hits a search gives.
pub const MAX_LIMIT: usize = 100;

/// Which op all adapters are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// `search`
    Search,
    /// `history`
    History,
    /// `code`
    Code,
    /// `brief`
    Brief,
}

impl Ask {
    /// The op's name.
    pub const fn op(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::History => "history",
            Self::Code => "code",
            Self::Brief => "brief",
        }
    }

    /// How long is waited for the slowest source.
    pub const fn deadline(self) -> Duration {
        match self {
            Self::Search | Self::History | Self::Code => Duration::from_secs(12),
            Self::Brief => Duration::from_secs(8),
        }
    }
}

/// A word about a source.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Note {
    /// The adapter, or the name that was asked for.
    pub source: String,
    /// What there is to say.
    pub message: String,
}

impl Note {
    fn of(planned: &Planned, message: String) -> Self {
        Self {
            source: planned.name().to_owned(),
            message,
        }
    }
}

/// What several sources gave together.
#[derive(Debug, Default)]
pub struct Found {
    /// The best hits, best first.
    pub hits: Vec<MergedHit>,
    /// Sources that failed, were late or are unknown, and what else they said.
    pub notes: Vec<Note>,
}

/// The texts that several sources gave.
#[derive(Debug, Default)]
pub struct Briefs {
    /// By source, in configuration order.
    pub texts: Vec<(String, String)>,
    /// As in [`Found`].
    pub notes: Vec<Note>,
}

/// A document that was read.
#[derive(Debug)]
pub struct Read {
    /// The adapter that owns it.
    pub source: String,
    /// Its text.
    pub text: String,
    /// What there is to say besides.
    pub notes: Vec<String>,
}

impl Engine {
    /// Asks every active adapter that has the op, or those of `sources`, all at once.
    pub async fn search(
        &self,
        ask: Ask,
        inputs: Map<String, Value>,
        sources: Option<&[String]>,
        limit: usize,
    ) -> Found {
        let inputs = Inputs::from(inputs);
        let (answers, mut notes) = self.ask_all(ask, &inputs, sources).await;
        let mut found = Vec::new();
        for (position, (planned, answer)) in answers.into_iter().enumerate() {
            let outcome = match answer {
                Ok(outcome) => outcome,
                Err(words) => {
                    notes.push(Note::of(&planned, words));
                    continue;
                }
            };
            let mapped = outcome.hits(&planned, &inputs);
            let said = outcome.notes.iter().chain(&mapped.notes).cloned();
            let failure = outcome.failure.map(|fault| fault.to_string());
            notes.extend(said.chain(failure).map(|words| Note::of(&planned, words)));
            found.push(SourceHits {
                source: planned.name().to_owned(),
                position,
                weight: planned.adapter.weight,
                hits: mapped.hits,
            });
        }
        Found {
            hits: merge(found, limit),
            notes,
        }
    }

    /// Asks every active adapter for a brief, all at once.
    pub async fn brief(&self, inputs: Map<String, Value>) -> Briefs {
        let inputs = Inputs::from(inputs);
        let (answers, mut notes) = self.ask_all(Ask::Brief, &inputs, None).await;
        let mut texts = Vec::new();
        for (planned, answer) in answers {
            let outcome = match answer {
                Ok(outcome) => outcome,
                Err(words) => {
                    notes.push(Note::of(&planned, words));
                    continue;
                }
            };
            texts.push((planned.name().to_owned(), outcome.text()));
            let failure = outcome.failure.as_ref().map(ToString::to_string);
            let said = outcome.said().cloned().chain(failure);
            notes.extend(said.map(|words| Note::of(&planned, words)));
        }
        Briefs { texts, notes }
    }

    /// What each of those who are asked answers, or why it does not, in configuration order,
    /// whatever order they answer in; and a word about each name that cannot be asked.
    async fn ask_all(
        &self,
        ask: Ask,
        inputs: &Inputs,
        sources: Option<&[String]>,
    ) -> (Vec<(Planned, Result<Outcome, String>)>, Vec<Note>) {
        let plan = self.plan();
        let (asked, notes) = chosen(&plan, ask, sources);
        let calls = asked.into_iter().map(async |planned| {
            let call = self.call(planned.name(), ask.op(), inputs);
            match timeout(ask.deadline(), call).await {
                Ok(Ok((planned, outcome))) => (planned, Ok(outcome)),
                Ok(Err(error)) => (planned.clone(), Err(error.fault.to_string())),
                Err(_) => (planned.clone(), Err(late(ask))),
            }
        });
        (join_all(calls).await, notes)
    }

    /// Reads the document of a URI from the adapter that owns it: the one with the longest
    /// beginning in `owns` that fits.
    ///
    /// # Errors
    /// No active adapter owns it, or the call failed.
    pub async fn read(&self, uri: &str, level: Option<&str>) -> Result<Read, CallError> {
        let plan = self.plan();
        let Some(planned) = owner(&plan, uri) else {
            let fault = nobody_owns(&plan, uri);
            return Err(CallError::at("", Some("read"))(fault));
        };
        let name = planned.name().to_owned();
        let mut inputs = Map::new();
        inputs.insert("uri".to_owned(), uri.into());
        if let Some(level) = level {
            inputs.insert("level".to_owned(), level.into());
        }
        let (_, outcome) = self.call(&name, "read", &inputs.into()).await?;
        if let Some(failure) = outcome.failure {
            return Err(CallError::at(&name, Some("read"))(failure));
        }
        Ok(Read {
            source: name,
            text: outcome.text(),
            notes: outcome.said().cloned().collect(),
        })
    }
}

/// Who is asked, in configuration order; and a word about each name that cannot be.
fn chosen<'p>(
    plan: &'p Plan,
    ask: Ask,
    sources: Option<&[String]>,
) -> (Vec<&'p Planned>, Vec<Note>) {
    let Some(sources) = sources else {
        let able = plan
            .active()
            .filter(|planned| planned.adapter.ops.contains_key(ask.op()));
        return (able.collect(), Vec::new());
    };
    let mut notes = Vec::new();
    for source in sources {
        let able = plan
            .callable(source)
            .and_then(|planned| planned.op(ask.op()));
        if let Err(fault) = able {
            notes.push(Note {
                source: source.clone(),
                message: fault.to_string(),
            });
        }
    }
    let named = plan.active().filter(|planned| {
        sources.iter().any(|source| source == planned.name())
            && planned.adapter.ops.contains_key(ask.op())
    });
    (named.collect(), notes)
}

/// The adapter whose `owns` has the longest beginning of a URI; of equals the first configured.
pub fn owner<'p>(plan: &'p Plan, uri: &str) -> Option<&'p Planned> {
    let mut best: Option<(usize, &Planned)> = None;
    for planned in plan.active() {
        let Some(read) = planned.adapter.ops.get("read") else {
            continue;
        };
        let fits = read.owns.iter().filter(|own| uri.starts_with(own.as_str()));
        let longest = fits.map(String::len).max();
        if let Some(longest) = longest
            && best.is_none_or(|(length, _)| longest > length)
        {
            best = Some((longest, planned));
        }
    }
    best.map(|(_, planned)| planned)
}

fn nobody_owns(plan: &Plan, uri: &str) -> Fault {
    let reads = plan
        .active()
        .filter_map(|planned| planned.adapter.ops.get("read"));
    let owned: IndexSet<&String, FxBuildHasher> = reads.flat_map(|read| &read.owns).collect();
    let uri: String = uri.chars().take(120).collect();
    let uri = uri.escape_debug();
    Fault::new(
        FaultKind::Refused,
        if owned.is_empty() {
            format!("no active adapter reads `{uri}`: none has a `read` op with `owns`")
        } else {
            format!(
                "no active adapter owns `{uri}`; URIs that are owned begin with {}",
                listed(owned)
            )
        },
    )
}

fn late(ask: Ask) -> String {
    format!("it gave no answer within {} s", ask.deadline().as_secs())
}

#[cfg(test)]
mod tests;
