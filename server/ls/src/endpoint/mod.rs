//! Where a language server can be reached by agents, and the serving there.
//!
//! One private directory of the user holds, for each running language server, a socket
//! `<hash of the roots>-<pid>.sock` and a record `<the same>.json` that says whose it is. The
//! bridge reads the records to find the newest language server of its directory.
//!
//! What is trusted: the directory belongs to this user, is no symbolic link and is open to nobody
//! else; and whoever is at the other end of a connection runs as this user (peer credentials).
//! A record or socket is never taken as living proof: only a connection that succeeds is.
//!
//! Named pipes for Windows are not built yet: there an endpoint cannot be started, and the bridge
//! serves from disk.

mod place;
mod record;
mod serve;

pub use place::{Place, PlaceError, Places};
pub use record::{Found, Halves, Record};
pub use serve::Endpoint;

#[cfg(all(test, unix))]
mod tests;
