//! What an adapter does (adapters.md sections 5 to 8): the one room that reaches the outside.
//!
//! From a configured op to hits, in the order of a call:
//!
//! - [`request`] renders an op and its inputs into the request that would be made, or says why it
//!   must not be made. Pure: a preview shows the same value that a call sends.
//! - [`bind`] fills the parameters of an MCP tool from its schema. Pure.
//! - [`driver`] makes the request: a child server, an HTTP service, a program. All I/O is there.
//! - [`answer`] reads what came back: payload, items, hits, text; and merges several sources. Pure.
//!
//! [`secrets`] keeps values of the environment out of every text that is shown.
//!
//! It is handed what is saved, trusted, enabled and active, never a buffer.

pub mod answer;
pub mod bind;
pub mod context;
pub mod driver;
pub mod fault;
pub mod request;
pub mod secrets;

pub use context::Context;
pub use fault::{Fault, FaultKind};
