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
//! [`Engine`] is all of it at work: it holds the [`plan`] (what may run), the servers, and how
//! ops fare; [`search`] asks several adapters at once; the [`catalogue`] is what they offer to
//! agents as tools.
//!
//! [`secrets`] keeps values of the environment out of every text that is shown.
//!
//! It is handed what is saved, trusted, enabled and active, never a buffer.

pub mod answer;
pub mod bind;
pub mod call;
pub mod catalogue;
pub mod context;
mod declared;
pub mod driver;
pub mod engine;
pub mod fault;
pub mod health;
pub mod inputs;
mod launch;
pub mod may_start;
pub mod plan;
pub mod published;
pub mod request;
pub mod search;
pub mod secrets;
#[cfg(test)]
mod testing;
pub mod uses;

pub use call::{CallError, Outcome};
pub use catalogue::{Catalogue, Published};
pub use context::Context;
pub use engine::Engine;
pub use fault::{Fault, FaultKind};
pub use inputs::Inputs;
pub use may_start::MayStart;
pub use plan::{Plan, Planned};
pub use published::RawFault;
