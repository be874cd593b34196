//! The request an op would make, as a value (adapters.md sections 4, 6 and 7).
//!
//! Nothing here starts or sends anything. What must not be sent or run is refused here, so a
//! preview says the same as a call.

mod command;
mod http;
mod preview;
mod render;
mod tool;
mod url;

use kontext_config::model::{Adapter, Op};
use kontext_config::schema::Driver;
use serde_json::{Map, Value};

use crate::context::Context;
use crate::fault::Fault;

pub use command::{CommandLine, command, server};
pub use http::{Body, HttpRequest, endpoint, http};
pub use preview::preview;
pub use tool::{ToolCall, tool};

pub(crate) use preview::is_secret_name;
pub(crate) use url::{RESERVED, RESERVED_IN_PATH, fault as url_fault};

/// What a call would do.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Send an HTTP request.
    Http(HttpRequest),
    /// Run a program.
    Command(CommandLine),
    /// Call a tool of an MCP server.
    Tool(ToolCall),
}

/// The request that the op of an adapter makes with these inputs.
///
/// # Errors
///
/// It must not be made, or the adapter does not say how.
pub fn build(
    adapter: &Adapter,
    op: &Op,
    ctx: &Context,
    inputs: &Map<String, Value>,
) -> Result<Request, Fault> {
    match adapter.driver {
        Some(Driver::Http) => http(adapter, op, ctx, inputs).map(Request::Http),
        Some(Driver::Command) => command(adapter, op, ctx, inputs).map(Request::Command),
        Some(Driver::Mcp) => tool(adapter, op, ctx, inputs).map(Request::Tool),
        None => Err(Fault::refused(
            "the adapter has no driver; set `driver` to \"mcp\", \"http\" or \"command\"",
        )),
    }
}
