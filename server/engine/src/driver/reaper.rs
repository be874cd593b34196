//! A guardian that ends the children of a process that was killed.
//!
//! A process that is killed cannot end its children, and a child that ignores the end of its
//! input would go on for ever. So the program starts itself once more as a guardian
//! ([`install`]), tells it over a pipe which process groups it has started and ended, and the
//! guardian ([`run`]) ends those that are left, and what has left them ([`super::kin`]), when the
//! pipe closes, which the system does however the program ends.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::kin::{self, Kin, Mark};

/// How long a group may take to end once it was asked to.
const GRACE: Duration = Duration::from_millis(500);

/// How often the groups are looked at meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(20);

static GUARDIAN: Mutex<Option<Guardian>> = Mutex::new(None);

#[derive(Debug)]
struct Guardian {
    pipe: ChildStdin,
}

/// Starts the guardian of this process: `command` must come to [`run`] with its standard input.
/// Groups that are watched already are not told to it. Without a guardian [`watch`] does nothing.
/// A second one takes the place of the first.
///
/// # Errors
///
/// It cannot be started.
pub fn install(mut command: Command) -> io::Result<()> {
    command
        // It must not be taken for something an outer program has started.
        .env_remove(kin::VARIABLE)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // A signal to the group of this process, as Ctrl+C sends it, must not end it.
        command.process_group(0);
    }
    let mut child = command.spawn()?;
    let Some(pipe) = child.stdin.take() else {
        return Err(io::Error::other("the guardian has no standard input"));
    };
    guardian(|guardian| *guardian = Some(Guardian { pipe }));
    tell(&format!("={}\n", Mark::of_process()));
    Ok(())
}

/// A process group that the guardian ends if this process is killed. Dropping it says that the
/// group has ended.
#[derive(Debug)]
pub struct Watched(u32);

/// Has a process group watched.
pub fn watch(group: u32) -> Watched {
    tell(&format!("+{group}\n"));
    Watched(group)
}

impl Drop for Watched {
    fn drop(&mut self) {
        tell(&format!("-{}\n", self.0));
    }
}

fn tell(line: &str) {
    guardian(|guardian| {
        if let Some(Guardian { pipe }) = guardian
            && pipe.write_all(line.as_bytes()).is_err()
        {
            tracing::warn!("the guardian of started programs is gone");
            *guardian = None;
        }
    });
}

fn guardian<T>(look: impl FnOnce(&mut Option<Guardian>) -> T) -> T {
    look(&mut GUARDIAN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The guardian's whole life: reads which groups there are until the input ends, ends those that
/// are left, and returns. Lines are `+` or `-` and a group's number, or `=` and the mark of the
/// process; others are ignored.
pub fn run(input: impl BufRead) {
    let mut groups = BTreeSet::new();
    let mut kin = Kin::default();
    for line in input.lines() {
        let Ok(line) = line else { break };
        match line.split_at_checked(1) {
            Some(("+", number)) => groups.extend(number.parse::<u32>().ok().filter(|&n| n > 1)),
            Some(("-", number)) => {
                if let Ok(number) = number.parse() {
                    groups.remove(&number);
                }
            }
            Some(("=", text)) => kin.mark = Mark::parse(text),
            _ => {}
        }
    }
    end(groups, kin);
}

#[cfg(unix)]
fn end(mut groups: BTreeSet<u32>, mut kin: Kin) {
    use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
    let pid = |group: u32| i32::try_from(group).ok().and_then(Pid::from_raw);
    let send = |groups: &BTreeSet<u32>, signal| {
        for pid in groups.iter().filter_map(|&group| pid(group)) {
            let _ = kill_process_group(pid, signal);
        }
    };
    for &group in &groups {
        kin.look_at(group);
    }
    send(&groups, Signal::TERM);
    kin.ask_to_end();
    let mut waited = Duration::ZERO;
    while waited < GRACE {
        groups.retain(|&group| pid(group).is_some_and(|pid| test_kill_process_group(pid).is_ok()));
        if groups.is_empty() && !kin.is_alive() {
            return;
        }
        std::thread::sleep(LOOK_EVERY);
        waited += LOOK_EVERY;
    }
    send(&groups, Signal::KILL);
    kin.kill();
}

// Groups are a matter of Unix.
#[cfg(not(unix))]
fn end(_groups: BTreeSet<u32>, _kin: Kin) {
    let _ = (GRACE, LOOK_EVERY);
}
