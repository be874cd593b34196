//! The `kontext-ls` program as a library, so that tests can drive its rooms without a process.
//!
//! The room is thin: wires, workspace, bridge and command line. What an editor or an agent is
//! told is decided in `kontext_ide` and `kontext_mcp`.

pub mod agents;
pub mod bridge;
pub mod cli;
pub mod endpoint;
pub mod log;
pub mod server;
pub mod wire;
pub mod work;
pub mod workspace;
pub mod world;
