//! The command line: one file a command.
//!
//! Each command has its arguments (`Args`) and a `run` that returns the exit code or a
//! [`Failure`]. Exit codes: 0 all is well, 1 the command found something (errors in a
//! configuration, files not formatted), 2 the command could not do its work.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub mod adapters;
pub mod check;
pub mod fmt_files;
pub mod lsp;
pub mod mcp;
pub mod reap;
pub mod schema;
pub mod tour;
pub mod trust;

mod output;

pub use output::{Shell, TextFormat};

/// Context adapters for agents: a language server for their configuration, and the same to an
/// agent over MCP.
///
/// Without a command it is the language server, as editors start it.
#[derive(Debug, Parser)]
#[command(name = "kontext-ls", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    lsp: lsp::Args,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Language server on stdio (or a port, or a pipe), with the MCP endpoint beside it
    Lsp(lsp::Args),
    /// MCP on stdio for an agent: joins the workspace's language server, else reads the disk
    Mcp(mcp::Args),
    /// Print the diagnostics of configuration files
    Check(check::Args),
    /// What the adapters of a directory are and why they are active or not
    Adapters(adapters::Args),
    /// Show what the repository's own configuration would run and call, and accept it
    Trust(trust::Args),
    /// Print the JSON Schema of the configuration
    Schema(schema::Args),
    /// Format configuration files
    Fmt(fmt_files::Args),
    /// Show what the program does, played on a sample workspace
    Tour(tour::Args),
    /// End what a killed process has started: the program starts this by itself
    #[command(hide = true)]
    Reap,
}

/// Why a command could not do its work. Printed on standard error; exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Reading or writing went wrong.
    #[error("{what}: {error}")]
    Io {
        /// What was being read, written or reached.
        what: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// Anything else, as a sentence for the user.
    #[error("{0}")]
    Other(String),
}

impl Failure {
    /// A failure of the system on `what`.
    pub fn io(what: impl fmt::Display, error: std::io::Error) -> Self {
        Failure::Io {
            what: what.to_string(),
            error,
        }
    }
}

/// The workspace a command is about: `--dir`, `KONTEXT_DIR`, else the current directory.
///
/// # Errors
/// When it is no directory, or the current one is not to be had.
pub fn workspace_dir(dir: Option<&Path>) -> Result<PathBuf, Failure> {
    let named = dir.map(Path::to_path_buf).or_else(|| {
        std::env::var_os("KONTEXT_DIR")
            .filter(|dir| !dir.is_empty())
            .map(PathBuf::from)
    });
    let current =
        || std::env::current_dir().map_err(|error| Failure::io("the current directory", error));
    let dir = match named {
        Some(dir) => {
            std::path::absolute(&dir).map_err(|error| Failure::io(dir.display(), error))?
        }
        None => current()?,
    };
    if dir.is_dir() {
        Ok(dir)
    } else {
        Err(Failure::Other(format!(
            "there is no directory {}",
            dir.display()
        )))
    }
}

/// The exit code of a command that did its work: 0 or 1.
pub type Outcome = Result<u8, Failure>;

/// Runs the program on the arguments of the process.
pub fn main() -> ExitCode {
    let shell = Shell::new();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // `--help` and `--version` come here too, for standard output and with code 0.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let outcome = match cli.command {
        None => lsp::run(&cli.lsp),
        Some(Command::Lsp(args)) => lsp::run(&args),
        Some(Command::Mcp(args)) => mcp::run(&args),
        Some(Command::Check(args)) => check::run(&args, &shell),
        Some(Command::Adapters(args)) => adapters::run(&args, &shell),
        Some(Command::Trust(args)) => trust::run(&args, &shell),
        Some(Command::Schema(args)) => schema::run(&args, &shell),
        Some(Command::Fmt(args)) => fmt_files::run(&args, &shell),
        Some(Command::Tour(args)) => tour::run(&args, &shell),
        Some(Command::Reap) => reap::run(),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            shell.error(&failure);
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn no_command_is_the_language_server() {
        for args in [
            vec!["kontext-ls"],
            vec!["kontext-ls", "--stdio"],
            vec!["kontext-ls", "--port", "7"],
            vec!["kontext-ls", "--socket=7"],
            vec!["kontext-ls", "--pipe=p", "--clientProcessId=12"],
        ] {
            assert!(
                Cli::try_parse_from(&args).unwrap().command.is_none(),
                "{args:?}"
            );
        }
        let both = ["kontext-ls", "--port", "7", "--pipe", "p"];
        assert!(Cli::try_parse_from(both).is_err());
    }
}
