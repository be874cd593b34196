//! The workspace: open buffers over files on disk, layer by layer, as one immutable snapshot.
//!
//! All state lies in one [`Store`]. It changes under one lock, in the order the calls come, and
//! each change ends with a new [`kontext_ide::Snapshot`] that readers take without waiting. Nothing
//! waits while the lock is held: what looks at the disk for long ([`refresh`]) does so outside and
//! brings its finding back as one more change.

mod buffer;
mod refresh;
mod root;
mod store;

pub use buffer::{ContentChange, EditFault};
pub use refresh::{Refresher, refresh_once};
pub(crate) use store::SharedLayer;
pub use store::{Options, Store};
