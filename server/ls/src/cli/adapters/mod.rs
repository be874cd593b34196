//! `kontext-ls adapters`: the list, one adapter's server, a trial of its ops.

pub mod inspect;
pub mod list;
pub mod test;

use std::path::Path;

use kontext_engine::Engine;

use super::{Failure, Outcome, Shell, reap, workspace_dir};
use crate::agents;
use crate::work::Work;

/// What is wanted of the adapters. Without a word: the list.
#[derive(Debug, Clone, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Debug, Clone, clap::Subcommand)]
enum Command {
    /// Each adapter with its status and the reasons for it
    List(list::ListArgs),
    /// The tools of an adapter's server, and what its ops would send them
    Inspect(inspect::Args),
    /// Call each op once with a sample: what it sends, what comes back, what is found in it
    Test(test::Args),
}

/// Runs the subcommand.
///
/// # Errors
/// As the subcommand's.
pub fn run(args: &Args, shell: &Shell) -> Outcome {
    match &args.command {
        None => list::run(&args.list, shell),
        Some(Command::List(args)) => list::run(args, shell),
        Some(Command::Inspect(args)) => inspect::run(args, shell),
        Some(Command::Test(args)) => test::run(args, shell),
    }
}

/// Does something with the adapters of a directory: what is saved, trusted and active. Everything
/// that was started for it has ended when this returns.
fn with_engine<T>(dir: Option<&Path>, work: impl AsyncFnOnce(&Engine) -> T) -> Result<T, Failure> {
    let dir = workspace_dir(dir)?;
    let runtime = super::lsp::runtime()?;
    let outcome = runtime.block_on(async {
        let store = agents::disk_store(&dir);
        let engines = Work::default();
        reap::install();
        let engine = engines.engine_of(&store);
        let outcome = tokio::select! {
            // Listened for before anything is started: a signal in between would end this process
            // without a word.
            biased;
            () = interrupted() => None,
            outcome = work(&engine) => Some(outcome),
        };
        engines.stop().await;
        outcome
    });
    runtime.shutdown_background();
    outcome.ok_or_else(|| Failure::Other("interrupted".to_owned()))
}

/// Waits for the signals that ask the command to end: what it started must end with it.
async fn interrupted() {
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = super::lsp::terminated() => {}
    }
}

/// A text from a file or a server, without what a terminal would obey.
fn visible(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

/// The first line of a text, bounded.
fn first_line(text: &str, most: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let mut shown: String = visible(line).chars().take(most).collect();
    if line.chars().nth(most).is_some() {
        shown.push('…');
    }
    shown
}
