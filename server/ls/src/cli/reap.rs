//! `kontext-ls reap`: the guardian, which ends what a process started that was killed.

use std::process::Command;
use std::sync::Once;

use kontext_engine::driver::reaper;

use super::Outcome;

/// Guards what this process starts from now on. Cheap once it was called; call it before anything
/// is started.
pub fn install() {
    static INSTALLED: Once = Once::new();
    // Programs are ended by groups, which Windows does not have.
    if !cfg!(unix) {
        return;
    }
    INSTALLED.call_once(|| {
        let started = std::env::current_exe().and_then(|program| {
            let mut command = Command::new(program);
            // It must not keep a folder in use that it has no business with.
            command.arg("reap").current_dir("/");
            reaper::install(command)
        });
        if let Err(error) = started {
            tracing::warn!(%error, "if this process is killed, what adapters have started goes on");
        }
    });
}

/// Waits until the process that started it is gone, and ends what is left of its programs.
///
/// # Errors
///
/// None.
pub fn run() -> Outcome {
    reaper::run(std::io::stdin().lock());
    Ok(0)
}
