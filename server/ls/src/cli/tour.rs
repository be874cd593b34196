//! `kontext-ls tour`: the main job, played on a sample workspace over the real wires.

use std::path::PathBuf;

use super::{Failure, Outcome, Shell};

/// Where the sample is laid out.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Args {
    /// Keep the sample workspace in this directory [default: a temporary one]
    #[arg(long, value_name = "PATH")]
    pub dir: Option<PathBuf>,
}

/// Plays the tour.
///
/// # Errors
/// When the command is not built in, or a step of the tour fails.
pub fn run(_args: &Args, _shell: &Shell) -> Outcome {
    Err(Failure::NotBuilt("tour"))
}
