//! MCP servers (adapters.md section 7): children on stdio and services over streamable HTTP, in
//! both eras of the protocol. Messages travel as raw JSON; nothing of an answer is lost.
//!
//! - [`Server`] is the handle: starts lazily, restarts after a crash, keeps the list of tools.
//! - `session` is one connection: calls, answers, cancellation, what the server asks and tells.
//! - `stdio` and `http` carry its messages and hand what comes to its `inbox`; [`sse`], `lines`, `message` read them.

mod common;
mod decode;
mod handshake;
mod http;
mod inbox;
mod lines;
mod log;
mod message;
mod pending;
mod protocol;
mod server;
mod session;
pub mod sse;
mod stdio;
mod supervisor;
mod tools;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::process::Spawn;
use crate::fault::{Fault, FaultKind};
use crate::secrets::Redactor;

pub use log::{Log, LogLine, MOST_KEPT, Source};
pub use message::RpcError;
pub use server::Server;
pub use tools::Tools;

/// A server as it is configured, templates rendered.
#[derive(Clone, Debug)]
pub struct ServerSpec {
    /// The adapter's name, for this program's own log.
    pub name: String,
    /// How it is reached.
    pub transport: TransportSpec,
    /// The limit of a call that names none. The start has its own limit: this, or 45 s where that
    /// is longer.
    pub timeout: Duration,
    /// What the server is told as its root.
    pub root: PathBuf,
    /// Keeps secrets out of its log and out of errors.
    pub redactor: Redactor,
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub enum TransportSpec {
    /// As a child; its `stdin` is set here.
    Stdio(Spawn),
    /// Over streamable HTTP.
    Http {
        /// Where.
        url: String,
        /// What is sent along; credentials stay with the origin of `url`.
        headers: Vec<(String, String)>,
    },
}

/// How a server does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Nobody has needed it.
    NotStarted,
    /// It is being started, or started again.
    Starting,
    /// It answers.
    Ready,
    /// It could not be started or has crashed; the next call starts it at once.
    Failing {
        /// What happened, without secrets.
        reason: String,
    },
    /// As before, several times: calls are refused for a while.
    Resting {
        /// What happened last, without secrets.
        reason: String,
        /// From when on a call starts it again.
        until: Instant,
    },
    /// It was stopped on purpose; only [`Server::start`] starts it again.
    Stopped,
}

/// How one call is made.
#[derive(Clone, Debug, Default)]
pub struct CallOptions {
    /// How long to wait for the answer, and before that for a server that is starting; without
    /// it, as the server's [`ServerSpec::timeout`] says.
    pub timeout: Option<Duration>,
    /// Asks for progress: the parameters of each `notifications/progress` of this call go there.
    /// Their `progressToken` is this program's, not the caller's.
    pub progress: Option<mpsc::UnboundedSender<Value>>,
    /// Members for the request's `_meta`.
    pub meta: Option<Map<String, Value>>,
}

/// Why a call has no result.
#[derive(Clone, Debug)]
pub enum CallFault {
    /// It came to nothing.
    Fault(Fault),
    /// The server answered with an error.
    Rpc(RpcError),
}

impl CallFault {
    /// The same in words; an error of the server with its code and message.
    pub fn into_fault(self) -> Fault {
        match self {
            Self::Fault(fault) => fault,
            Self::Rpc(error) => Fault::new(FaultKind::Failed, tools::rpc_words(&error)),
        }
    }
}
