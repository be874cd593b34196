//! Calls of tools.

use kontext_config::model::{Adapter, Op};
use serde_json::{Map, Value};

use super::render::Renderer;
use crate::context::Context;
use crate::fault::Fault;

/// A call of a tool of an MCP server.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The tool, as the server names it.
    pub tool: String,
    /// The `args` of the op, rendered; `None` where it has none, and the parameters are bound by
    /// name. The key `*`, where it is given, is still there.
    pub args: Option<Map<String, Value>>,
}

/// The call of a tool that an op makes, before its parameters are bound.
///
/// # Errors
///
/// The op names no tool, or its `args` cannot be rendered.
pub fn tool(
    adapter: &Adapter,
    op: &Op,
    ctx: &Context,
    inputs: &Map<String, Value>,
) -> Result<ToolCall, Fault> {
    build(&Renderer::new(adapter, ctx, inputs, false), op)
}

pub(super) fn build(renderer: &Renderer<'_>, op: &Op) -> Result<ToolCall, Fault> {
    let Some(tool) = op.tool.clone().filter(|tool| !tool.is_empty()) else {
        return Err(Fault::refused(
            "the op names no tool; set `tool` to one of the server's tools",
        ));
    };
    let args = match &op.args {
        None => None,
        Some(args) => match renderer.typed(&Value::Object(args.clone()), "`args`")? {
            Value::Object(args) => Some(args),
            _ => Some(Map::new()),
        },
    };
    Ok(ToolCall { tool, args })
}
