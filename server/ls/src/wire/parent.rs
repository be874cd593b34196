//! Watching the process that started the server (`processId` of `initialize`): when it dies
//! without a word, and its pipes stay open in some other child of it, the server must go too.

use std::time::Duration;

/// Completes when process `pid` is gone, looked at every `interval`.
///
/// Never completes for a process that cannot be seen to begin with (an editor in another process
/// namespace: a container, a remote host), nor where the system offers no cheap look.
/// On Unix the look is `kill(pid, 0)`: a process of another user counts as alive.
pub(super) async fn gone(pid: u32, interval: Duration) {
    if !alive(pid) {
        tracing::debug!(
            pid,
            "the client's process cannot be seen from here: not watched"
        );
        return std::future::pending().await;
    }
    while alive(pid) {
        tokio::time::sleep(interval).await;
    }
}

#[cfg(unix)]
fn alive(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
    else {
        return false;
    };
    !matches!(
        rustix::process::test_kill_process(pid),
        Err(rustix::io::Errno::SRCH)
    )
}

#[cfg(not(unix))]
fn alive(_pid: u32) -> bool {
    false
}
