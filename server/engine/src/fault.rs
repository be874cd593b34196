//! Why a call gave no answer.

/// Why a call gave no answer. The words say what happened and what to do, name no secret, and
/// leave the adapter and the op to who prints them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// What sort of fault it is.
    pub kind: FaultKind,
    message: String,
}

/// The sorts of faults; what is done about one depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    /// Refused before anything was started or sent: an argument that does not fit, a variable
    /// that is not set, a value that would be taken for an option.
    Refused,
    /// The server is still starting; it goes on starting.
    Starting,
    /// The op failed several times in a row and is left alone for a while.
    Resting,
    /// No answer within the limit of the call.
    TimedOut,
    /// The program or server could not be started or reached, or ended in the middle of the call.
    Unreachable,
    /// It answered that it failed: an HTTP status, an exit code, a protocol error.
    Failed,
    /// It answered that what was asked for is not there (HTTP 404, 410).
    NotFound,
    /// The tool ran and reported an error (`isError`).
    ToolError,
    /// The answer is larger than is read.
    TooLarge,
    /// The answer cannot be read as what the configuration says it is.
    Malformed,
    /// Who asked does not want the answer any more.
    Cancelled,
}

impl Fault {
    /// A fault with these words: one sentence without a full stop.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    /// One that was refused before anything happened.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Refused, message)
    }

    /// `what` took longer than the call may.
    pub fn timed_out(what: impl std::fmt::Display) -> Self {
        let words = format!("{what}; raise `timeout_ms` if it needs longer");
        Self::new(FaultKind::TimedOut, words)
    }

    /// The words.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The same with other words.
    #[must_use]
    pub fn with_message(self, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            ..self
        }
    }

    /// Whether it says something of the health of the source (adapters.md section 7: three in a
    /// row let an op rest). What was not there, a tool's own error and what never left do not.
    pub fn counts_against_source(&self) -> bool {
        matches!(
            self.kind,
            FaultKind::TimedOut
                | FaultKind::Unreachable
                | FaultKind::Failed
                | FaultKind::TooLarge
                | FaultKind::Malformed
        )
    }
}
