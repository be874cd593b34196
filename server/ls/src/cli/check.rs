//! `kontext-ls check`: the diagnostics, for people, for CI and for hooks.

use std::path::PathBuf;

use super::{Failure, Outcome, Shell};

/// What is checked and how it is printed.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Configuration files, and directories whose layers are meant [default: .]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// How the diagnostics are printed
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// The formats of `check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// The lines in question, marked, with what to do
    Human,
    /// An array of diagnostics; zero-based lines and UTF-16 characters
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands of GitHub Actions
    Github,
}

/// Checks and prints; 1 where an error was found.
///
/// # Errors
/// When the command is not built in, or a named path cannot be read.
pub fn run(_args: &Args, _shell: &Shell) -> Outcome {
    Err(Failure::NotBuilt("check"))
}
