//! `kontext-ls lsp`: the language server, as an editor starts it.

use std::path::PathBuf;

use super::{Failure, Outcome};
use crate::log;
use crate::wire::{self, Address, Ended, Options};

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
    let (service, socket) = tower_lsp::LspService::new(bare::Bare::new);
    let options = Options {
        parent: args.client_process_id,
        ..Options::default()
    };
    // On its own worker: the thread of `block_on` would be woken for every message.
    let connection = async move {
        wire::serve(service, socket, transport.input, transport.output, options).await
    };
    tokio::spawn(connection)
        .await
        .map_err(|error| Failure::Other(format!("the server stopped: {error}")))
}

/// Stands in until the server proper is built: answers `initialize` and nothing else.
mod bare {
    use tower_lsp::jsonrpc::Result;
    use tower_lsp::lsp_types::{InitializeParams, InitializeResult, ServerInfo};
    use tower_lsp::{Client, LanguageServer};

    pub(super) struct Bare;

    impl Bare {
        pub(super) fn new(_client: Client) -> Self {
            Bare
        }
    }

    #[tower_lsp::async_trait]
    impl LanguageServer for Bare {
        async fn initialize(&self, _: InitializeParams) -> Result<InitializeResult> {
            Ok(InitializeResult {
                server_info: Some(ServerInfo {
                    name: "kontext-ls".into(),
                    version: Some(env!("CARGO_PKG_VERSION").into()),
                }),
                ..InitializeResult::default()
            })
        }

        async fn shutdown(&self) -> Result<()> {
            Ok(())
        }
    }
}
