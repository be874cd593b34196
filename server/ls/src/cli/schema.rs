//! `kontext-ls schema`: the JSON Schema of the configuration, for other TOML tools.

use super::{Outcome, Shell};

/// `schema` takes no arguments.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Args {}

/// Prints the schema.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(_args: &Args, shell: &Shell) -> Outcome {
    shell.json(&kontext_config::schema::json_schema())?;
    Ok(0)
}
