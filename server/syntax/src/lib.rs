//! Text and grammar: positions and their encodings, the TOML tree with ranges and recovery, the
//! template and the result-path grammars.
//!
//! This room knows nothing of adapters. Everything here is pure: it takes text and gives values.
//! Parsing never fails: it gives a tree and a list of faults.

mod range;

pub use range::TextRange;
