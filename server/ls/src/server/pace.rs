//! How soon a change is looked at.
//!
//! A single change at once. Where a newer text comes while one is being looked at, changes come
//! faster than they can be followed: a burst. Then nothing is told until it pauses for a moment,
//! so that it costs a look or two and not one for each change.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use kontext_ide::Snapshot;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// A burst that rests for so long has paused, in a short text.
const PAUSE: Duration = Duration::from_millis(4);

/// The pause of a long text is longer by 1 ms for every so many bytes: each of its changes takes
/// longer to be applied.
const BYTES_FOR_A_MILLISECOND: usize = 200_000;

/// A long text that was told of so often, so shortly before, is in a burst too: a look at it can be
/// over before the next change is there.
const TOLD_IN_A_ROW: usize = 2;
const SHORTLY: Duration = Duration::from_millis(20);

/// What a burst looks like so far is told after this time although it goes on.
const LONGEST: Duration = Duration::from_millis(250);

/// Knows of the burst that is under way.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// When the burst began; `None` outside of one.
    burst: Option<Instant>,
    /// When the last looks were told of, the newest last.
    told: VecDeque<Instant>,
}

impl Pace {
    /// The snapshot to look at, a new one having come: this one, or the one its burst ends with.
    pub(super) async fn settled(
        &mut self,
        snapshots: &mut watch::Receiver<Arc<Snapshot>>,
    ) -> Arc<Snapshot> {
        let mut snapshot = Arc::clone(&snapshots.borrow_and_update());
        let now = Instant::now();
        let pause = pause(&snapshot);
        let first = self
            .told
            .front()
            .filter(|_| self.told.len() == TOLD_IN_A_ROW);
        if pause > PAUSE && first.is_some_and(|first| now - *first < SHORTLY) {
            self.burst.get_or_insert(now);
        }
        let Some(began) = self.burst else {
            return snapshot;
        };
        while began.elapsed() < LONGEST {
            match timeout(pause, snapshots.changed()).await {
                Ok(Ok(())) => snapshot = Arc::clone(&snapshots.borrow_and_update()),
                // A pause; or no further change will come.
                Ok(Err(_)) | Err(_) => break,
            }
        }
        snapshot
    }

    /// Whether what was looked at is out of date and need not be told: newer text is there, and
    /// the client has not waited for long.
    pub(super) fn overtaken(&mut self, snapshots: &watch::Receiver<Arc<Snapshot>>) -> bool {
        let newer = snapshots.has_changed().unwrap_or(false);
        let began = *self.burst.get_or_insert_with(Instant::now);
        let overtaken = newer && began.elapsed() < LONGEST;
        if !overtaken {
            self.burst = None;
            self.told.push_back(Instant::now());
            if self.told.len() > TOLD_IN_A_ROW {
                self.told.pop_front();
            }
        }
        overtaken
    }
}

/// By the longest text that is open.
fn pause(snapshot: &Snapshot) -> Duration {
    let open = snapshot.files.iter().filter(|file| file.open);
    let longest = open.map(|file| file.source.document.text().len()).max();
    let milliseconds = longest.unwrap_or(0) / BYTES_FOR_A_MILLISECOND;
    PAUSE + Duration::from_millis(u64::try_from(milliseconds).unwrap_or(u64::MAX).min(50))
}
