//! Watching exactly the paths that answers depend on, whether they exist yet or not.
//!
//! An event of the system is only a hint: after a short quiet time every watched path is looked at
//! again, and what differs from the last look is reported together with what events named. So
//! deletion and re-creation, atomic saves, new folders on the way and a missing event system are
//! one and the same case.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::mpsc::{self as std_mpsc, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;

use super::stamp::{FileId, Stamp, folder_id};
use super::watch_plan::Plan;

/// How long a burst of events is gathered before it is reported.
const QUIET: Duration = Duration::from_millis(30);
/// How often everything is looked at where the system does not tell of all changes.
const POLL: Duration = Duration::from_secs(2);
/// How often everything is looked at in any case: network drives and retargeted links on the way
/// to a file send no events.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// Rounds in which folders that appear while they are being watched are caught up with.
const MAX_ROUNDS: usize = 8;

/// Watched paths that changed: were created, deleted, replaced, written, or had their permissions
/// changed. For a folder: so did an entry directly in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The paths, as they were given to [`Watcher::set`].
    pub paths: BTreeSet<PathBuf>,
}

/// Watches a set of paths until it is dropped.
pub struct Watcher {
    shared: Arc<Mutex<State>>,
    to_worker: std_mpsc::Sender<Message>,
}

enum Message {
    Event(notify::Result<notify::Event>),
    Stop,
}

impl Watcher {
    /// A watcher that reports to `sender`. A full channel delays reports and joins them; none is
    /// lost. Where the system's events cannot be had, it looks for itself every two seconds and
    /// says so in the log.
    pub fn new(sender: mpsc::Sender<Changed>) -> Self {
        Self::start(
            sender,
            Timing {
                poll: POLL,
                heartbeat: HEARTBEAT,
            },
            true,
        )
    }

    /// A watcher without the system's events, which looks every `interval`.
    pub fn polling(sender: mpsc::Sender<Changed>, interval: Duration) -> Self {
        Self::start(
            sender,
            Timing {
                poll: interval,
                heartbeat: interval,
            },
            false,
        )
    }

    fn start(sender: mpsc::Sender<Changed>, timing: Timing, with_events: bool) -> Self {
        let (to_worker, inbox) = std_mpsc::channel();
        let events = to_worker.clone();
        let backend = with_events.then(|| {
            // The handler runs on notify's thread, which `watch` waits for: it must never lock.
            notify::recommended_watcher(move |event| {
                let _ = events.send(Message::Event(event));
            })
        });
        let backend = match backend {
            Some(Ok(backend)) => Some(backend),
            Some(Err(error)) => {
                tracing::warn!(%error, "no file events from the system; looking every 2 s instead");
                None
            }
            None => None,
        };
        let shared = Arc::new(Mutex::new(State {
            backend,
            ..State::default()
        }));
        let worker = Worker {
            shared: Arc::clone(&shared),
            sender,
            timing,
        };
        let thread = thread::Builder::new().name("watch".into());
        if let Err(error) = thread.spawn(move || worker.run(&inbox)) {
            tracing::error!(%error, "files are not watched: no thread could be started");
        }
        Self { shared, to_worker }
    }

    /// Watches exactly these absolute paths from now on. What happens to them after this returns is
    /// reported, so read them after it. Gives those that were not watched until now: what was read
    /// of them before may be old. Looks at the disk: a few system calls a path.
    pub fn set(&self, paths: BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        lock(&self.shared).set(paths)
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // The worker and the event handler hold no more than the channel; nobody is waited for.
        let _ = self.to_worker.send(Message::Stop);
    }
}

#[derive(Clone, Copy)]
struct Timing {
    poll: Duration,
    heartbeat: Duration,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    // Every update leaves the state usable, so a panic elsewhere does not end the watching.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
struct State {
    backend: Option<RecommendedWatcher>,
    /// Watched paths, with what was last seen there.
    stamps: BTreeMap<PathBuf, Stamp>,
    plan: Plan,
    /// Folders the system listens to, and which folder that was.
    anchors: BTreeMap<PathBuf, Option<FileId>>,
    /// Some changes make no event.
    degraded: bool,
}

impl State {
    fn set(&mut self, mut paths: BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        self.stamps.retain(|path, _| paths.contains(path));
        // Listened to first, looked at second: nothing falls between.
        self.listen(&paths);
        paths.retain(|path| !self.stamps.contains_key(path));
        for path in &paths {
            self.stamps.insert(path.clone(), Stamp::of(path));
        }
        paths
    }

    /// Looks at everything; the paths that differ from the last look.
    fn rescan(&mut self) -> BTreeSet<PathBuf> {
        let paths: BTreeSet<_> = self.stamps.keys().cloned().collect();
        self.listen(&paths);
        let mut changed = BTreeSet::new();
        for (path, seen) in &mut self.stamps {
            let stamp = Stamp::of(path);
            if !stamp.looks_like(seen) {
                *seen = stamp;
                changed.insert(path.clone());
            }
        }
        changed
    }

    /// Brings the system's watches in line with what exists, until a round changes nothing.
    fn listen(&mut self, paths: &BTreeSet<PathBuf>) {
        let mut failed = false;
        for _ in 0..MAX_ROUNDS {
            let plan = Plan::of(paths);
            let settled = plan == self.plan;
            self.plan = plan;
            failed = !self.watch_anchors();
            if settled {
                break;
            }
        }
        let degraded = failed || self.backend.is_none();
        if degraded && !self.degraded && self.backend.is_some() {
            tracing::warn!(
                "some folders cannot be watched by events (see above); looking every 2 s as well"
            );
        }
        self.degraded = degraded;
    }

    /// Whether all anchors are watched now.
    fn watch_anchors(&mut self) -> bool {
        let Some(backend) = &mut self.backend else {
            return false;
        };
        let plan = &self.plan;
        self.anchors.retain(|folder, _| {
            let keep = plan.anchors.contains(folder);
            if !keep {
                let _ = backend.unwatch(folder);
            }
            keep
        });
        let mut all = true;
        for folder in &plan.anchors {
            let id = folder_id(folder);
            match self.anchors.get(folder) {
                Some(known) if *known == id => continue,
                // Another folder of that name: the watch is on the old one.
                Some(_) => {
                    let _ = backend.unwatch(folder);
                }
                None => {}
            }
            match backend.watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.anchors.insert(folder.clone(), id);
                }
                Err(error) => {
                    self.anchors.remove(folder);
                    // A folder that vanished meanwhile is the next round's business.
                    if folder.is_dir() {
                        if !self.degraded {
                            tracing::warn!(folder = %folder.display(), %error, "cannot be watched");
                        }
                        all = false;
                    }
                }
            }
        }
        all
    }

    /// The system no longer listens at this path, whatever stands there now.
    fn forget_anchor(&mut self, folder: &PathBuf) {
        if self.anchors.remove(folder).is_some()
            && let Some(backend) = &mut self.backend
        {
            let _ = backend.unwatch(folder);
        }
    }
}

struct Worker {
    shared: Arc<Mutex<State>>,
    sender: mpsc::Sender<Changed>,
    timing: Timing,
}

impl Worker {
    fn run(self, inbox: &std_mpsc::Receiver<Message>) {
        let mut touched = BTreeSet::new();
        let mut due = Instant::now() + self.pause();
        // Whether `due` is the end of a burst, which more events do not put off.
        let mut gathering = false;
        loop {
            match inbox.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(Message::Event(event)) => {
                    if self.note(event, &mut touched) && !gathering {
                        gathering = true;
                        due = Instant::now() + QUIET;
                    }
                    if Instant::now() < due {
                        continue;
                    }
                }
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            {
                let mut state = lock(&self.shared);
                touched.extend(state.rescan());
                touched.retain(|path| state.stamps.contains_key(path));
            }
            gathering = false;
            due = Instant::now() + self.pause();
            if touched.is_empty() {
                if self.sender.is_closed() {
                    return;
                }
                continue;
            }
            match self.sender.try_send(Changed {
                paths: std::mem::take(&mut touched),
            }) {
                Ok(()) => {}
                Err(mpsc::error::TrySendError::Full(unsent)) => {
                    touched = unsent.paths;
                    gathering = true;
                    due = Instant::now() + QUIET;
                }
                Err(mpsc::error::TrySendError::Closed(_)) => return,
            }
        }
    }

    fn pause(&self) -> Duration {
        if lock(&self.shared).degraded {
            self.timing.poll
        } else {
            self.timing.heartbeat
        }
    }

    /// Takes an event in; whether it means anything to us.
    fn note(&self, event: notify::Result<notify::Event>, touched: &mut BTreeSet<PathBuf>) -> bool {
        match event {
            Ok(event) => {
                let mut state = lock(&self.shared);
                let meaning = state.plan.meaning(&event);
                for folder in &meaning.lost {
                    state.forget_anchor(folder);
                }
                let means_something = !meaning.is_nothing();
                touched.extend(meaning.touched);
                means_something
            }
            Err(error) => {
                tracing::debug!(%error, "an event was lost");
                true
            }
        }
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
