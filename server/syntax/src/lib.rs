//! Text and grammar: positions and their encodings, the TOML tree with ranges and recovery, the
//! template and the result-path grammars, and JSON that no parser takes.
//!
//! This room knows nothing of adapters. Everything here is pure: it takes text and gives values.
//! Parsing never fails: it gives a tree and a list of faults.

#![cfg_attr(
    test,
    allow(clippy::string_slice, reason = "a test may fail by a panic")
)]

pub mod json;
pub mod path;
mod range;
pub mod template;
pub mod text;
pub mod toml;

pub use range::TextRange;
