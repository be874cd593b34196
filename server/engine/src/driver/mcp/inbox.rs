//! Where what comes over a wire goes. Wires know a session by this alone.

use std::fmt::Debug;

use super::pending::Failure;
use super::protocol::Protocol;
use crate::fault::{Fault, FaultKind};

/// The largest message that is read, in bytes.
pub(super) const MOST_OF_MESSAGE: usize = 32 * 1024 * 1024;

/// A message above [`MOST_OF_MESSAGE`].
pub(super) fn message_too_large() -> Fault {
    let most = MOST_OF_MESSAGE / (1024 * 1024);
    Fault::new(
        FaultKind::TooLarge,
        format!(
            "the server sent a message of more than {most} MiB, which is the most that is read"
        ),
    )
}

/// How a connection came to its end.
#[derive(Clone, Debug)]
pub(super) enum Over {
    /// The server's standard output has ended.
    Ended,
    /// The server has closed its standard input.
    Deaf,
    /// The HTTP session is not known any more.
    Expired,
    /// It broke the protocol so that nothing more can be read.
    Broken(Fault),
}

/// The side of a session that its wire sees.
pub(super) trait Inbox: Debug + Send + Sync {
    /// The protocol, once it is agreed on.
    fn protocol(&self) -> Option<&Protocol>;

    /// Takes a text with one message or a batch. `of` is the call in whose answer it came (HTTP).
    fn receive(&self, text: &str, of: Option<u64>);

    /// Whether the call still waits for its answer.
    fn is_waiting(&self, id: u64) -> bool;

    /// Ends a call without an answer of the server.
    fn fail(&self, id: u64, failure: Failure);

    /// Notes that the connection is over; the first reason stays.
    fn end(&self, over: Over);

    fn is_over(&self) -> bool;
}
