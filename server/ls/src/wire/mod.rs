//! The wires of the language server: bytes in, handlers run, bytes out.
//!
//! tower-lsp gives the typed handlers ([`tower_lsp::LspService`]) and the client handle; its own
//! `Server` is replaced by [`serve`], because it runs every handler on one task, never ends on
//! `exit`, hangs at the end of input, dies when a client answers a request nobody waits for any
//! more, and becomes a zombie when a handler panics.
//!
//! # What holds
//!
//! * **Order.** Messages are taken one at a time in the order of arrival, and each handler is run
//!   up to its first `await` that has to wait before the next message is looked at. So a handler
//!   that **changes state before its first `await`** has done so before any later request starts.
//!   That is the rule for `did_open`, `did_change`, `did_close`, `did_save` and the watchers; a
//!   request handler takes its snapshot before its first `await` and answers for it.
//! * **Concurrency.** What waits goes on in a task of its own, up to [`Options::in_flight`] at
//!   once. Work of more than a millisecond does not belong before the first `await`: put it behind
//!   [`aside`] or in `tokio::task::spawn_blocking`.
//! * **Cancellation.** `$/cancelRequest` ends the handler at its next `await` and answers -32800.
//! * **Newest text.** [`Options::freshness`] lets the server say, for a request that had to wait,
//!   whether its answer still stands; if not the client gets -32801 (content modified).
//! * **Panics** in a handler become error -32603 to the client and a line in the log.
//! * **Bad input** is answered (-32700, -32600, -32602) and survived, see [`frame`].
//! * **The end.** `exit`, the end of input, a closed output and the death of the client's process
//!   all end [`serve`] promptly; the process must then leave without waiting for its threads, as a
//!   blocking read of stdin cannot be called back.

pub mod frame;
mod guard;
mod message;
mod outgoing;
mod parent;
mod serve;
mod transport;

pub use guard::{Freshness, Heard, StillFresh};
pub use serve::{Ended, Options, serve};
pub use transport::{Address, Transport};

/// Lets the rest of a handler run in a task of its own, and the next message be looked at.
///
/// To be awaited in a handler once it has its snapshot and before it starts to compute.
pub async fn aside() {
    tokio::task::yield_now().await;
}
