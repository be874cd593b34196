//! `kontext-ls schema`: the JSON Schema of the configuration, for other TOML tools.

use super::{Failure, Outcome, Shell};

/// `schema` takes no arguments.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Args {}

/// Prints the schema.
///
/// # Errors
/// When the command is not built in, or standard output cannot be written.
pub fn run(_args: &Args, _shell: &Shell) -> Outcome {
    Err(Failure::NotBuilt("schema"))
}
