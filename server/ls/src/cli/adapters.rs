//! `kontext-ls adapters list`: every adapter with its status and the reasons for it.

use std::path::PathBuf;

use super::{Failure, Outcome, Shell, TextFormat};

/// What is wanted of the adapters. Without a word: the list.
#[derive(Debug, Clone, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum Command {
    /// Each adapter with its status and the reasons for it
    List(ListArgs),
}

/// How the list is printed, and for which directory.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ListArgs {
    /// Print the status as JSON
    #[arg(long)]
    pub json: bool,
    /// The workspace [default: $KONTEXT_DIR, else the current directory]
    #[arg(long, value_name = "PATH")]
    pub dir: Option<PathBuf>,
}

impl ListArgs {
    /// The format asked for.
    #[must_use]
    pub fn format(&self) -> TextFormat {
        if self.json {
            TextFormat::Json
        } else {
            TextFormat::Human
        }
    }
}

/// Runs the subcommand.
///
/// # Errors
/// As the subcommand's.
pub fn run(args: &Args, shell: &Shell) -> Outcome {
    match &args.command {
        None => list(&args.list, shell),
        Some(Command::List(list_args)) => list(list_args, shell),
    }
}

/// Prints the list.
///
/// # Errors
/// When the command is not built in.
fn list(args: &ListArgs, _shell: &Shell) -> Outcome {
    match args.format() {
        TextFormat::Human | TextFormat::Json => Err(Failure::NotBuilt("adapters list")),
    }
}
