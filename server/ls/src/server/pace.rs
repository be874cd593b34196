//! How soon a change is looked at.
//!
//! A single change at once; changes in a row to a long text when they pause for a moment, so that
//! a burst costs one look and not one for each change.

use std::sync::Arc;
use std::time::Duration;

use kontext_ide::Snapshot;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// Changes that follow each other faster than this are a row.
const ROW: Duration = Duration::from_millis(250);

/// A text of this many bytes is given 1 ms to pause, twice as long a text 2 ms. A shorter one is
/// looked at faster than it is changed.
const BYTES_FOR_A_MILLISECOND: usize = 200_000;

/// After so many pauses it is looked at although the changes go on.
const MOST_PAUSES: u32 = 25;

/// Remembers when the last change came.
#[derive(Debug, Default)]
pub(super) struct Pace {
    last: Option<Instant>,
}

impl Pace {
    /// The snapshot to look at, a new one having come: this one, or the one its row ends with.
    pub(super) async fn settled(
        &mut self,
        snapshots: &mut watch::Receiver<Arc<Snapshot>>,
    ) -> Arc<Snapshot> {
        let mut snapshot = Arc::clone(&snapshots.borrow_and_update());
        let began = Instant::now();
        let in_a_row = self.last.is_some_and(|last| began - last < ROW);
        let pause = if in_a_row {
            pause(&snapshot)
        } else {
            Duration::ZERO
        };
        while !pause.is_zero() && began.elapsed() < pause * MOST_PAUSES {
            match timeout(pause, snapshots.changed()).await {
                Ok(Ok(())) => snapshot = Arc::clone(&snapshots.borrow_and_update()),
                // A pause; or no further change will come.
                Ok(Err(_)) | Err(_) => break,
            }
        }
        self.last = Some(Instant::now());
        snapshot
    }
}

/// By the longest text that is open.
fn pause(snapshot: &Snapshot) -> Duration {
    let open = snapshot.files.iter().filter(|file| file.open);
    let longest = open.map(|file| file.source.document.text().len()).max();
    let milliseconds = longest.unwrap_or(0) / BYTES_FOR_A_MILLISECOND;
    Duration::from_millis(u64::try_from(milliseconds).unwrap_or(u64::MAX).min(50))
}
