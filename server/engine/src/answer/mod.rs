//! Reading what came back: payload, items, hits, text (adapters.md section 5). Pure.
//!
//! A [`Reading`] is an op's way of reading an answer, prepared once: paths, expressions and
//! templates parsed. It goes in steps, each of which a preview can show:
//!
//! 1. [`Reading::payload`]: JSON or text, out of a tool's result, a body or an output.
//! 2. [`Reading::items`]: the values in it that stand for one find each.
//! 3. [`Reading::hits`]: those that `where` keeps, as [`Hit`]s.
//!
//! or, for an answer that is text, [`Reading::text`]. [`merge`] brings several sources in one order.
//!
//! The payload is parsed once and selected from by reference. What an answer holds is never taken
//! for a template.

mod clean;
mod date;
mod fields;
mod html;
mod items;
mod lists;
mod mend;
mod merge;
mod payload;
mod scan;
mod text;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

use kontext_config::model::{Format, Op};
use kontext_syntax::path::ResultPath;

pub use fields::{Hit, MAX_SNIPPET, MAX_TITLE, Mapped};
pub use merge::{MergedHit, SourceHits, merge};
pub use payload::{Payload, Raw, payload};

use fields::Rules;

/// How the answers of one op are read, prepared. Cheap to use, not cheap to make: once an op.
#[derive(Clone, Debug)]
pub struct Reading {
    format: Format,
    items: Option<ResultPath>,
    split: Option<String>,
    /// Where an item must have which text.
    filter: Vec<(ResultPath, String)>,
    rules: Rules,
    text: Option<ResultPath>,
}

impl Reading {
    /// That of this op. What cannot be understood in it selects nothing; a regular expression
    /// that is none is said in [`Mapped::notes`].
    pub fn new(op: &Op) -> Self {
        let path = |source: &Option<String>| source.as_deref().map(ResultPath::parse);
        Self {
            format: op.format,
            items: path(&op.items),
            split: op.split.clone().filter(|prefix| !prefix.is_empty()),
            filter: op
                .filter
                .iter()
                .map(|(key, value)| (ResultPath::parse(key), value.clone()))
                .collect(),
            rules: Rules::new(&op.map),
            text: path(&op.text),
        }
    }

    /// What an answer says, read as the op's `format` has it.
    ///
    /// # Errors
    ///
    /// See [`payload`].
    pub fn payload<'a>(&self, raw: Raw<'a>) -> Result<Payload<'a>, crate::Fault> {
        payload(raw, self.format)
    }
}
