//! What an agent asks: tools, gates and resources over MCP.
//!
//! The layers, from the wire inwards:
//!
//! - [`lines`] cuts a byte stream into lines of bounded length, [`jsonrpc`] judges one line,
//!   [`lifecycle`] decides whether a message may pass at this point of the session;
//! - [`guard`] joins the three into a transport for rmcp that answers what rmcp would swallow;
//! - [`server`] is the MCP server itself, one value per connection, over a [`Source`];
//! - [`tools`] and [`resources`] are the two things it offers, [`gates`] decides which tools.
//!
//! Nothing here knows where the snapshot comes from: an open editor or the files on disk. Both
//! are a [`Source`].

pub mod answers;
pub mod arguments;
pub mod budget;
pub mod gates;
pub mod guard;
pub mod jsonrpc;
mod lane;
pub mod lifecycle;
pub mod lines;
pub mod picture;
mod preview;
pub mod resources;
pub mod server;
pub mod source;
pub mod tools;
pub mod words;

pub use gates::{Class, Gates};
pub use guard::serve;
pub use server::KontextServer;
pub use source::{AnswerError, Answers, CheckTarget, Revision, Source};

#[cfg(test)]
mod testing;
