//! Noticing that a language server has come.

use std::time::Duration;

use notify::Watcher as _;
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior};

use crate::endpoint::Places;

/// Says when to look again: at once where the file system reports a change in a place, and from
/// time to time in any case (a place may appear only later, or be on a file system that reports
/// nothing).
pub(super) struct Watch {
    reports: mpsc::Receiver<()>,
    ticks: Interval,
    _watcher: Option<notify::RecommendedWatcher>,
}

impl Watch {
    pub(super) fn new(places: &Places, poll: Duration) -> Self {
        let (sender, reports) = mpsc::channel(1);
        // A place that is there can be watched; the best one is made for that.
        if let Err(error) = places.create() {
            tracing::debug!(%error, "there is no place to watch");
        }
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            if event.is_ok_and(|event| !event.kind.is_access()) {
                // One report waiting is enough.
                let _ = sender.try_send(());
            }
        });
        let watcher = match watcher {
            Ok(mut watcher) => {
                for place in places.existing() {
                    let mode = notify::RecursiveMode::NonRecursive;
                    if let Err(error) = watcher.watch(place.dir(), mode) {
                        tracing::debug!(%error, "a place cannot be watched");
                    }
                }
                Some(watcher)
            }
            Err(error) => {
                tracing::debug!(%error, "no file system reports");
                None
            }
        };
        let mut ticks = tokio::time::interval(poll);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            reports,
            ticks,
            _watcher: watcher,
        }
    }

    /// Waits until it is worth looking. Cancel safe.
    pub(super) async fn changed(&mut self) {
        tokio::select! {
            Some(()) = self.reports.recv() => {}
            _ = self.ticks.tick() => {}
        }
    }
}
