//! The workspace: open buffers over files on disk, layer by layer, as one immutable snapshot.
//!
//! All state lies in one [`Store`]. It changes under one lock, in the order the calls come, and
//! each change ends with a new [`kontext_ide::Snapshot`] that readers take without waiting. Nothing
//! waits while the lock is held: what looks at the disk for long ([`refresh`]) does so outside and
//! brings its finding back as one more change.
//!
//! What lies under the lock is in `state`, how the shared layers are judged in `trust`, and how the
//! picture is made in `snapshot`. None of them knows the store.

mod buffer;
mod refresh;
mod root;
mod snapshot;
mod state;
mod store;
mod trust;

pub use buffer::{ContentChange, EditFault};
pub use refresh::{Refresher, refresh_once};
pub use state::Options;
pub use store::Store;
pub(crate) use trust::SharedLayer;
