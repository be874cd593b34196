//! What a program has started, wherever that has gone.
//!
//! A process that makes a session of its own leaves its group, and one whose parent has ended is
//! nobody's child any more. What both keep is their environment: each program is started with a
//! [`Mark`] in it, which all it starts inherits. One that wipes its environment is known by its
//! parent, as long as it has one. Both are read where the system shows them (Linux); elsewhere, and
//! of an orphan with a wiped environment, the group is all that is known.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(target_os = "linux")]
use rustix::process::{Pid, Signal};

/// The variable that holds the marks, those of outer programs first, separated by [`SEPARATOR`].
pub(super) const VARIABLE: &str = "KONTEXT_STARTED_BY";

const SEPARATOR: char = ':';

/// Between the mark of this process and the number of a program.
const NUMBER: char = '.';

/// How often what is still there is killed: it may start more meanwhile.
const ROUNDS: usize = 5;

/// Stands for all that one program, or this process, has started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark(String);

impl Mark {
    /// Of all that this process starts.
    pub(super) fn of_process() -> &'static Self {
        static MARK: OnceLock<Mark> = OnceLock::new();
        MARK.get_or_init(|| {
            let random = RandomState::new().hash_one(std::process::id());
            Self(format!("{}-{random:016x}", std::process::id()))
        })
    }

    /// Of one program more.
    pub(super) fn of_program() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        Self(format!("{}{NUMBER}{number}", Self::of_process().0))
    }

    /// As [`fmt::Display`] wrote it.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == NUMBER;
        // A short one could be part of a mark of somebody else.
        (text.len() >= 16 && text.chars().all(fits)).then(|| Self(text.to_owned()))
    }

    /// The value of [`VARIABLE`] for a program of this mark.
    pub(super) fn after(&self, outer: Option<&str>) -> String {
        match outer.filter(|outer| !outer.is_empty()) {
            Some(outer) => format!("{outer}{SEPARATOR}{}", self.0),
            None => self.0.clone(),
        }
    }

    /// Whether a value of [`VARIABLE`] tells of this mark, or of a program of this process.
    fn is_in(&self, value: &str) -> bool {
        value.split(SEPARATOR).any(|mark| {
            let rest = mark.strip_prefix(&*self.0);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(NUMBER))
        })
    }

    /// The processes of this mark but this one. Looks at every process of the system, which takes
    /// milliseconds: not for a thread that others wait for.
    #[cfg(target_os = "linux")]
    fn processes(&self) -> impl Iterator<Item = Process> {
        let own = std::process::id();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(move |&pid| pid != own)
            // Of other users' processes and of zombies nothing is read.
            .filter(|pid| {
                let environment = std::fs::read(format!("/proc/{pid}/environ"));
                environment.is_ok_and(|environment| self.is_in_environment(&environment))
            })
            .filter_map(Process::of)
    }

    /// `environment`: `NAME=value` pairs, each ended by a NUL.
    #[cfg(target_os = "linux")]
    fn is_in_environment(&self, environment: &[u8]) -> bool {
        let mut pairs = environment.split(|&byte| byte == 0);
        let mut values = pairs.by_ref().filter_map(|pair| {
            let value = pair.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"=")?;
            std::str::from_utf8(value).ok()
        });
        values.any(|value| self.is_in(value))
    }
}

/// All that one program, or this process, has started.
#[derive(Clone, Debug, Default)]
pub(super) struct Kin {
    pub(super) mark: Option<Mark>,
    /// What has been seen to descend from it. Some of it may have ended since.
    seen: BTreeSet<Process>,
}

impl Kin {
    pub(super) fn new(mark: Mark) -> Self {
        Self {
            mark: Some(mark),
            seen: BTreeSet::new(),
        }
    }

    /// Notes what descends from a process, which must not have been waited for: to be called
    /// before the process is ended, as its children are nobody's then. Takes microseconds.
    pub(super) fn look_at(&mut self, pid: u32) {
        add_descendants(&mut self.seen, pid);
    }

    /// Asks every process to end. True where there was one.
    pub(super) fn ask_to_end(&mut self) -> bool {
        self.send(Signal::TERM)
    }

    /// Whether any of the processes is there. As the next two it looks at every process of the
    /// system, which takes milliseconds: not for a thread that others wait for.
    pub(super) fn is_alive(&mut self) -> bool {
        self.look();
        !self.seen.is_empty()
    }

    /// Kills every process.
    pub(super) fn kill(&mut self) {
        for _ in 0..ROUNDS {
            if !self.send(Signal::KILL) {
                return;
            }
        }
    }

    fn send(&mut self, signal: Signal) -> bool {
        self.look();
        for process in &self.seen {
            process.send(signal);
        }
        !self.seen.is_empty()
    }

    /// Finds what is there now.
    #[cfg(target_os = "linux")]
    fn look(&mut self) {
        self.seen.retain(Process::is_alive);
        self.seen.extend(self.mark.iter().flat_map(Mark::processes));
        for process in self.seen.clone() {
            add_descendants(&mut self.seen, process.pid);
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn look(&mut self) {
        self.seen.clear();
    }
}

/// A process, told from a later one of the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Process {
    pid: u32,
    /// When it was started, in clock ticks since the system was.
    since: u64,
}

#[cfg(target_os = "linux")]
impl Process {
    /// `None` where it has ended, waited for or not.
    fn of(pid: u32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name of the program stands in brackets and may hold anything.
        let (_, fields) = stat.rsplit_once(") ")?;
        let mut fields = fields.split(' ');
        let state = fields.next()?;
        // The third field of all is the state, the 22nd the start.
        let since = fields.nth(18)?.parse().ok()?;
        (!matches!(state, "Z" | "X")).then_some(Self { pid, since })
    }

    fn is_alive(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }

    fn send(&self, signal: Signal) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid.filter(|_| self.is_alive()) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}

/// Adds what descends from a process and is not in `seen` yet.
#[cfg(target_os = "linux")]
fn add_descendants(seen: &mut BTreeSet<Process>, pid: u32) {
    let mut parents = vec![pid];
    while let Some(parent) = parents.pop() {
        let threads = std::fs::read_dir(format!("/proc/{parent}/task"));
        for thread in threads.into_iter().flatten().flatten() {
            // A thread, or the whole process, may have ended meanwhile.
            let children = std::fs::read_to_string(thread.path().join("children"));
            let children = children.unwrap_or_default();
            let children = children.split_ascii_whitespace();
            for child in children.filter_map(|pid| Process::of(pid.parse().ok()?)) {
                if seen.insert(child) {
                    parents.push(child.pid);
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn add_descendants(_seen: &mut BTreeSet<Process>, _pid: u32) {}

#[cfg(not(target_os = "linux"))]
impl Process {
    fn send(&self, _signal: Signal) {
        let _ = (self.pid, self.since);
    }
}

/// Elsewhere no process is ever found, so that none is sent anything.
#[cfg(not(target_os = "linux"))]
#[derive(Clone, Copy, Debug)]
enum Signal {
    TERM,
    KILL,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_behind_those_of_outer_programs() {
        let process = Mark::of_process();
        let (one, other) = (Mark::of_program(), Mark::of_program());
        let inner = Mark("9-0123456789abcdef.0".to_owned());
        let value = inner.after(Some(&one.after(None)));
        assert!(one.is_in(&value) && inner.is_in(&value) && process.is_in(&value));
        assert!(!other.is_in(&value) && !other.is_in("") && !one.is_in(&format!("{one}0")));
        assert_eq!(one.after(Some("")), one.after(None));
        assert_eq!(Mark::parse(&process.to_string()).as_ref(), Some(process));
        assert_eq!(Mark::parse("12"), None);
        assert_eq!(Mark::parse("0123456789abcdef\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn it_is_read_from_an_environment() {
        let mark = Mark::of_program();
        let environment = |name: &str| format!("A=1\0{name}={}\0B=\0", mark.after(Some("x")));
        assert!(mark.is_in_environment(environment(VARIABLE).as_bytes()));
        for name in ["NOT_KONTEXT_STARTED_BY", "KONTEXT_STARTED_BYE", ""] {
            assert!(!mark.is_in_environment(environment(name).as_bytes()));
        }
        assert!(!mark.is_in_environment(b"\xff=\xff\0KONTEXT_STARTED_BY"));
    }
}
