//! What an editor asks, one file a feature, each a pure function of a [`Snapshot`] and a place.
//!
//! This room speaks byte ranges and its own types. It does no I/O and knows neither LSP nor the
//! clock; `ls` translates for editors and `mcp` reads the same answers for agents.

pub mod completion;
pub mod diagnostics;
mod doc;
pub mod effective;
pub mod explain;
mod finding;
mod foreign;
pub mod format;
pub mod hover;
pub mod inlay;
pub mod locate;
mod mask;
mod scene;
mod snapshot;
pub mod symbols;
pub mod trust;

pub use finding::{Diagnostic, Finding, Fix, Place, Related};
pub use mask::file as masked_text;
pub use snapshot::{File, FileId, Role, Snapshot, Workspace};
