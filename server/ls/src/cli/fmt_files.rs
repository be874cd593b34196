//! `kontext-ls fmt`: format configuration files in place.

use std::path::PathBuf;

use super::{Failure, Outcome, Shell};

/// What is formatted.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Args {
    /// Configuration files, and directories whose layers are meant; `-` is standard input
    /// [default: .]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Change nothing; exit 1 where something would change
    #[arg(long)]
    pub check: bool,
}

/// Formats; with `--check` 1 where something would change.
///
/// # Errors
/// When the command is not built in, or a file cannot be read or written.
pub fn run(_args: &Args, _shell: &Shell) -> Outcome {
    Err(Failure::NotBuilt("fmt"))
}
