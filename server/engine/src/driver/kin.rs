//! What a program has started, wherever that has gone.
//!
//! A process that makes a session of its own leaves its group, and one whose parent has ended is
//! nobody's child any more. What both keep is their environment: each program is started with a
//! [`Mark`] in it, which all it starts inherits. The marks are read where the system shows them
//! (Linux); elsewhere, and where a process wipes its environment, the group is all that is known.

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

    /// Asks every process of this mark to end. True where there was one.
    pub(super) fn ask_to_end(&self) -> bool {
        self.send(Signal::TERM)
    }

    /// Whether any process of this mark is there.
    pub(super) fn is_alive(&self) -> bool {
        !self.processes().is_empty()
    }

    /// Kills every process of this mark.
    pub(super) fn kill(&self) {
        for _ in 0..ROUNDS {
            if !self.send(Signal::KILL) {
                return;
            }
        }
    }

    fn send(&self, signal: Signal) -> bool {
        let processes = self.processes();
        for &pid in &processes {
            send(pid, signal);
        }
        !processes.is_empty()
    }

    /// The processes of this mark but this one. Looks at every process of the system, which takes
    /// milliseconds: not for a thread that others wait for.
    #[cfg(target_os = "linux")]
    fn processes(&self) -> Vec<Pid> {
        let own = std::process::id();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        entries
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
            .filter(|&pid| pid != own)
            // Of other users' processes and of zombies nothing is read.
            .filter(|pid| {
                let environment = std::fs::read(format!("/proc/{pid}/environ"));
                environment.is_ok_and(|environment| self.is_in_environment(&environment))
            })
            .filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?))
            .collect()
    }

    #[cfg(not(target_os = "linux"))]
    fn processes(&self) -> Vec<Pid> {
        Vec::new()
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

#[cfg(target_os = "linux")]
fn send(pid: Pid, signal: Signal) {
    let _ = rustix::process::kill_process(pid, signal);
}

/// Elsewhere no process is ever found, so that none is sent anything.
#[cfg(not(target_os = "linux"))]
#[derive(Clone, Copy, Debug)]
enum Signal {
    TERM,
    KILL,
}

#[cfg(not(target_os = "linux"))]
type Pid = u32;

#[cfg(not(target_os = "linux"))]
fn send(_pid: Pid, _signal: Signal) {}

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
