//! `kontext-ls mcp`: MCP on stdio, the command that an agent's configuration names.

use std::path::PathBuf;

use super::{Failure, Outcome};
use crate::log;

/// Which workspace the agent works in.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Args {
    /// The workspace [default: $KONTEXT_DIR, else the current directory]
    #[arg(long, value_name = "PATH")]
    pub dir: Option<PathBuf>,
}

/// Serves one agent until it closes standard input.
///
/// # Errors
/// When the command is not built in, or standard input cannot be read.
pub fn run(_args: &Args) -> Outcome {
    log::init();
    Err(Failure::NotBuilt("mcp"))
}
