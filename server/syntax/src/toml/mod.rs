//! The TOML 1.1 tree: blocks of statements with ranges, faults instead of failure, and the logical
//! tables they add up to.
//!
//! `toml_parser` lexes and decodes; the parser on top is ours because recovery is the point: a
//! half-typed line costs only that line. A [`Document`] is a list of [`Block`]s (a header and the
//! entries below it). A block depends on the text from its start on and on nothing before it, so
//! an edit re-parses the blocks it touches and keeps the others, which also keeps whatever was
//! computed from them (see [`Document::edited`]).
//!
//! Ranges inside a block are relative to the block ([`Span`]); [`Document::resolve`] makes them
//! absolute. That is what lets an unchanged block be shared between versions of a document.
//!
//! What is put into a document, [`mod@write`] writes.

mod build;
mod decode;
mod document;
mod fault;
mod parse;
mod span;
mod table;
mod tree;
mod unit;
pub mod write;

pub use document::Document;
pub use fault::{Fault, FaultKind};
pub use span::{BlockId, Span};
pub use table::{Array, Item, Node, NodeKind, Table, TableForm};
pub use tree::{Block, Entry, Header, Key, StringForm, Text, Value, ValueKind};
pub use unit::{Unit, UnitKey, Units};
