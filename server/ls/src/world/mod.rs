//! The edge towards the world: environment, repository, files, programs, clock.
//!
//! Everything that looks at the disk, the environment or the clock on behalf of the analysis lives
//! here and comes out as values of `kontext_config::facts`. The rules themselves (paths from
//! variables, repository ids, git's configuration syntax, URIs) are pure functions that take a
//! [`Platform`], so that the rules of Windows are tested on Linux and the other way round.

pub mod clock;
pub mod env;
pub mod git_config;
pub mod identity;
pub mod layers;
pub mod lookup;
pub mod repo;
pub mod repo_id;
mod stamp;
pub mod trust;
pub mod watch;
mod watch_plan;
pub mod watch_set;

pub use clock::now;
pub use env::{Platform, config_home, home, process_env};
pub use identity::DocKey;
pub use layers::{Places, ReadFault, read_layer};
pub use lookup::{gather, programs};
pub use repo::find_repo;
pub use watch::{Changed, Watcher};
pub use watch_set::watch_set;
