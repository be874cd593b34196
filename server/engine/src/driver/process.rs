//! Programs as children: each in a process group of its own, which ends as a whole.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use kontext_config::facts::Env;
use kontext_syntax::text::quoted;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};

use super::kin::{self, Kin, Mark};
use super::program;
use super::reaper;
use crate::fault::{Fault, FaultKind};
use crate::may_start::MayStart;

/// How often a group that was asked to end is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// A program to start.
#[derive(Clone, Debug)]
pub struct Spawn {
    /// The program and its arguments. See [`program::find`] for how the program is found.
    pub argv: Vec<String>,
    /// The working folder, absolute.
    pub cwd: PathBuf,
    /// The whole environment of the child; nothing is inherited besides.
    pub env: Env,
    /// Whether its standard input is a pipe to write to; else it is empty.
    pub stdin: bool,
    /// Asked each time it is started.
    pub may_start: MayStart,
}

/// A running program with everything it has started: its process group, and on Linux what has left
/// that ([`super::kin`]).
///
/// Dropping it kills the group at once, and the rest soon; if this process ends before, its
/// guardian does ([`reaper`]).
#[derive(Debug)]
pub struct Group {
    child: Child,
    id: Option<u32>,
    kin: Kin,
    /// Nothing of the group is left; its number may belong to somebody else.
    gone: bool,
    /// Last: told that the group has ended only once it has.
    _watched: Option<reaper::Watched>,
}

/// Start a program. Its standard output and error are pipes. Must be called on a tokio runtime.
///
/// # Errors
///
/// It cannot be started; the words say why (see also [`program::find`]).
pub fn spawn(spawn: &Spawn) -> Result<Group, Fault> {
    let Some((name, args)) = spawn.argv.split_first() else {
        return Err(Fault::refused("there is no command to run"));
    };
    if spawn.argv.iter().any(|arg| arg.contains('\0')) {
        return Err(Fault::refused(
            "an argument of the command holds a NUL character, which no program can be given",
        ));
    }
    check_folder(&spawn.cwd)?;
    let file = program::find(name, &spawn.cwd, &spawn.env)?;
    let mark = Mark::of_program();
    let mut command = Command::new(&file);
    command
        .args(args)
        .current_dir(&spawn.cwd)
        .env_clear()
        .envs(variables(&spawn.env)?)
        .env(kin::VARIABLE, mark.after(spawn.env.get(kin::VARIABLE)))
        .stdin(if spawn.stdin {
            Stdio::piped()
        } else {
            Stdio::null()
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    own_group(&mut command, name);
    spawn.may_start.ask()?;
    match command.spawn() {
        Ok(child) => Ok(Group {
            id: child.id(),
            _watched: child.id().map(reaper::watch),
            child,
            kin: Kin::new(mark),
            gone: false,
        }),
        Err(error) => Err(not_started(name, &file, &error)),
    }
}

impl Group {
    /// The process's number while it runs; on Unix the group's too.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Takes the standard input, where it was asked for.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Takes the standard output.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Takes the standard error.
    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Waits until the program itself has ended; what it started may go on. Closes its standard
    /// input where that was not taken. Can be called again, also after it was cancelled.
    ///
    /// # Errors
    ///
    /// The system cannot tell.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Notes what the program has started so far, wherever that has gone. Whatever may make the
    /// program end by itself comes after this, as its children are nobody's then.
    pub fn look(&mut self) {
        if let Some(id) = self.child.id() {
            self.kin.look_at(id);
        }
    }

    /// Ends the program and all it has started: asks, waits at most `grace` until nothing of it is
    /// left, kills the rest.
    pub async fn end(&mut self, grace: Duration) {
        if self.gone {
            return;
        }
        self.look();
        ask_to_end(self.id);
        let ended = async {
            let _ = self.child.wait().await;
            while is_alive(self.id) {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            // The group has ended; what has left it is asked now, as most have nothing there.
            if off_thread(&mut self.kin, Kin::ask_to_end).await {
                while off_thread(&mut self.kin, Kin::is_alive).await {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
            }
        };
        let ended = tokio::time::timeout(grace, ended).await.is_ok();
        if !ended {
            self.kill().await;
        }
        self.gone = true;
    }

    /// Kills the program and all it has started, and waits until the program itself is gone.
    pub async fn kill(&mut self) {
        if self.gone {
            return;
        }
        self.look();
        kill(self.id);
        let _ = self.child.start_kill();
        let _ = self.child.wait().await;
        off_thread(&mut self.kin, Kin::kill).await;
        self.gone = true;
    }

    /// Kills what is left in the group of a program that has ended by itself. What has left the
    /// group did so on purpose, as a daemon does: it may go on, until this process ends.
    pub async fn leave(&mut self) {
        if !self.gone {
            kill(self.id);
            let _ = self.child.wait().await;
            self.gone = true;
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.gone {
            self.look();
            kill(self.id);
            let mut kin = std::mem::take(&mut self.kin);
            // Whoever drops it does not wait. Where there is no thread the guardian does it.
            let _ = std::thread::Builder::new()
                .name("kontext-kin".to_owned())
                .spawn(move || kin.kill());
        }
    }
}

/// Looks at the system's processes where nobody waits for the thread.
async fn off_thread<T: Send + Default + 'static>(kin: &mut Kin, look: fn(&mut Kin) -> T) -> T {
    // A copy, so that nothing is forgotten where the waiting is given up.
    let mut copy = kin.clone();
    let look = tokio::task::spawn_blocking(move || {
        let found = look(&mut copy);
        (found, copy)
    });
    match look.await {
        Ok((found, looked)) => {
            *kin = looked;
            found
        }
        Err(_) => T::default(),
    }
}

fn check_folder(cwd: &Path) -> Result<(), Fault> {
    let shown = quoted(&cwd.to_string_lossy());
    let words = match std::fs::metadata(cwd) {
        Ok(meta) if meta.is_dir() => return Ok(()),
        Ok(_) => format!("the working folder {shown} is not a folder"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            format!("the working folder {shown} does not exist")
        }
        Err(error) => format!("the working folder {shown} cannot be used: {error}"),
    };
    Err(Fault::new(FaultKind::Unreachable, words))
}

/// The pairs of an environment.
fn variables(env: &Env) -> Result<Vec<(&str, &str)>, Fault> {
    let pairs = env.names().filter_map(|name| Some((name, env.get(name)?)));
    let mut kept = Vec::new();
    for (name, value) in pairs {
        // Windows keeps the folders of its drives in names that begin with `=`.
        let inner = name.get(1..).unwrap_or(name);
        if name.is_empty() || inner.contains('=') || name.contains('\0') || value.contains('\0') {
            return Err(Fault::refused(format!(
                "the environment variable {} cannot be set: its name or value holds `=` or a NUL character",
                quoted(name)
            )));
        }
        kept.push((name, value));
    }
    Ok(kept)
}

fn not_started(name: &str, file: &Path, error: &io::Error) -> Fault {
    let shown = quoted(name);
    let words = match error.kind() {
        io::ErrorKind::NotFound => match program::missing_interpreter(file) {
            Some(interpreter) => format!(
                "{shown} is a script whose interpreter {} does not exist",
                quoted(&interpreter)
            ),
            None => format!("{shown} cannot be started: it, or what loads it, is missing"),
        },
        io::ErrorKind::PermissionDenied => match program::missing_interpreter(file) {
            Some(interpreter) => format!(
                "{shown} is a script whose interpreter {} does not exist",
                quoted(&interpreter)
            ),
            None => format!("{shown} may not be executed, or its interpreter may not"),
        },
        io::ErrorKind::ArgumentListTooLong => format!(
            "{shown} cannot be started: its arguments and environment are longer than the system allows; pass long texts through `stdin`"
        ),
        _ => format!("{shown} cannot be started: {error}"),
    };
    Fault::new(FaultKind::Unreachable, words)
}

#[cfg(unix)]
fn own_group(command: &mut Command, name: &str) {
    command.process_group(0).arg0(name);
}

// The child could be put into a job object here.
#[cfg(not(unix))]
fn own_group(_command: &mut Command, _name: &str) {}

#[cfg(unix)]
fn pid(id: Option<u32>) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(i32::try_from(id?).ok()?)
}

#[cfg(unix)]
fn ask_to_end(id: Option<u32>) {
    if let Some(pid) = pid(id) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::TERM);
    }
}

#[cfg(unix)]
fn kill(id: Option<u32>) {
    if let Some(pid) = pid(id) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
}

#[cfg(unix)]
fn is_alive(id: Option<u32>) -> bool {
    pid(id).is_some_and(|pid| rustix::process::test_kill_process_group(pid).is_ok())
}

// Without a job object only the program itself can be ended, which its handle does.
#[cfg(not(unix))]
fn ask_to_end(_id: Option<u32>) {}

#[cfg(not(unix))]
fn kill(_id: Option<u32>) {}

#[cfg(not(unix))]
fn is_alive(_id: Option<u32>) -> bool {
    false
}
