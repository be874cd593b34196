//! What an adapter configuration means: the table of fields, the layers and their merge with the
//! origin of each value, the typed model, `when`, template evaluation.
//!
//! No I/O here: facts about the world (environment, files, programs, repository, time) come in as
//! a value, [`facts::Facts`], gathered at the edge.

pub mod codes;
pub mod command;
pub mod eval;
pub mod facts;
pub mod layer;
pub mod merge;
pub mod model;
pub mod schema;
pub mod select;
pub mod settings;
pub mod source;
pub mod stack;
pub mod status;
pub mod trust;
pub mod when;
