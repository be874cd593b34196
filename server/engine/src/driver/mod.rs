//! Making a request: programs, HTTP services, MCP servers. All I/O of the room is here.

pub mod process;
pub mod program;
