//! Template evaluation (adapters.md section 4).
//!
//! A [`Scope`] is what templates may see; it renders text and typed values. What a value holds is
//! never rendered again. Nothing here fails: what a caller may want to refuse (an environment
//! variable that is not set, a cycle of variables, a text without bounds) is reported beside the
//! result, in [`Rendered`].

mod filters;
mod scope;
#[cfg(test)]
mod tests;
mod value;
mod vars;

pub use filters::{ArgKind, FILTERS, FilterSpec, apply, filter};
pub use scope::{MAX_RENDERED, Piece, Rendered, Scope};
pub use value::text_of;
pub use vars::{Vars, cycles};
