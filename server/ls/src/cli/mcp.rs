//! `kontext-ls mcp`: MCP on stdio, the command that an agent's configuration names.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Failure, Outcome, reap};
use crate::wire::Address;
use crate::work::Work;
use crate::{agents, bridge, log};

/// Which workspace the agent works in.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Args {
    /// The workspace [default: $KONTEXT_DIR, else the current directory]
    #[arg(long, value_name = "PATH")]
    pub dir: Option<PathBuf>,
}

impl Args {
    /// The workspace these arguments and the environment name.
    ///
    /// # Errors
    /// When the current directory is not to be had.
    pub fn workspace(&self) -> Result<PathBuf, Failure> {
        super::workspace_dir(self.dir.as_deref())
    }
}

/// Serves one agent until it closes standard input.
///
/// # Errors
/// When there is no such directory, or standard input cannot be read.
pub fn run(args: &Args) -> Outcome {
    log::init();
    let dir = args.workspace()?;
    // One thread: a message goes through several tasks, and each hand-over to another thread would
    // cost more than all that is done with it. What takes long runs on blocking threads.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .thread_name("kontext")
        .enable_all()
        .build()
        .map_err(|error| Failure::io("threads", error))?;
    let outcome = runtime.block_on(serve(dir));
    // A blocking read of standard input may go on for ever: leave without it.
    runtime.shutdown_background();
    outcome.map(|()| 0)
}

async fn serve(dir: PathBuf) -> Result<(), Failure> {
    let transport = Address::Stdio
        .open()
        .await
        .map_err(|error| Failure::io("standard input", error))?;
    let options = bridge::Options::new(dir.clone());
    let work = Work::default();
    let used = work.clone();
    let disk: bridge::Disk = Arc::new(move || {
        reap::install();
        agents::from_disk(&dir, &used)
    });
    let carried = tokio::select! {
        // Signals are listened for before anything is started.
        biased;
        () = super::lsp::terminated() => Ok(()),
        carried = bridge::run(transport.input, transport.output, options, disk) => carried,
    };
    // The process leaves without dropping what runs.
    work.stop().await;
    carried.map_err(|error| Failure::io("the agent", error))
}
