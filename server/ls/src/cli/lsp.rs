//! `kontext-ls lsp`: the language server, as an editor starts it.

use std::path::PathBuf;

use super::{Failure, Outcome, reap};
use crate::agents::AgentsEndpoint;
use crate::server::Server;
use crate::wire::{self, Address, Ended, Options};
use crate::{log, workspace};

/// Where the editor is. Default: standard input and output.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Args {
    /// Connect to this port of 127.0.0.1, where the editor listens
    #[arg(long, alias = "socket", value_name = "N", conflicts_with = "pipe")]
    pub port: Option<u16>,
    /// Connect to this Unix domain socket (Windows: named pipe), where the editor listens
    #[arg(long, value_name = "PATH")]
    pub pipe: Option<PathBuf>,
    /// Standard input and output: the default; editors say it all the same
    #[arg(long, hide = true, conflicts_with_all = ["port", "pipe"])]
    pub stdio: bool,
    /// Exit when this process is gone, as with `processId` of `initialize`
    #[arg(long = "clientProcessId", value_name = "PID", hide = true)]
    pub client_process_id: Option<u32>,
}

impl Args {
    /// The address these arguments name.
    #[must_use]
    pub fn address(&self) -> Address {
        match (&self.port, &self.pipe) {
            (Some(port), _) => Address::Port(*port),
            (_, Some(path)) => Address::Pipe(path.clone()),
            _ => Address::Stdio,
        }
    }
}

/// Serves one editor until it is done. The exit code is that of LSP: 0 after `shutdown`, else 1.
///
/// # Errors
/// When the editor cannot be reached.
pub fn run(args: &Args) -> Outcome {
    log::init();
    // Nothing is read or computed here: the editor waits for the answer to `initialize`.
    let runtime = runtime()?;
    let outcome = runtime.block_on(serve(args));
    // A blocking read of standard input may go on for ever: leave without it.
    runtime.shutdown_background();
    outcome.map(Ended::code)
}

/// The runtime of the programs that serve: a few workers, as most of the time nothing happens.
///
/// # Errors
/// When the system gives no threads.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.clamp(2, 4))
        .thread_name("kontext")
        .enable_all()
        .build()
        .map_err(|error| Failure::io("threads", error))
}

async fn serve(args: &Args) -> Result<Ended, Failure> {
    let transport = args
        .address()
        .open()
        .await
        .map_err(|error| Failure::io("the editor", error))?;
    let endpoint = AgentsEndpoint::default();
    let opener = endpoint.clone();
    let (service, socket) = tower_lsp::LspService::new(move |client| {
        log::forward(client.clone());
        Server::new(
            client,
            workspace::Options::of_process(true),
            Box::new(move |store| {
                reap::install();
                opener.open(store);
            }),
        )
    });
    let options = Options {
        parent: args.client_process_id,
        freshness: Some(service.inner().freshness()),
        heard: Some(service.inner().heard()),
        ..Options::default()
    };
    // On its own worker: the thread of `block_on` would be woken for every message.
    let connection = tokio::spawn(async move {
        wire::serve(service, socket, transport.input, transport.output, options).await
    });
    let ended = tokio::select! {
        ended = connection => ended.map_err(|error| Failure::Other(format!("the server stopped: {error}"))),
        () = terminated() => Ok(Ended::Parent),
    };
    // The process leaves without dropping what runs: the socket file must go first.
    endpoint.close().await;
    ended
}

/// Waits for the signal that asks the process to end.
pub(super) async fn terminated() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            terminate.recv().await;
            return;
        }
    }
    std::future::pending().await
}
