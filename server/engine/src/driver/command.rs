//! Programs that answer on their standard output (adapters.md section 7).

use std::io::{self, Read};
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;

use fs_err as fs;
use kontext_config::model::{Adapter, Op};
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::ChildStdin;

use super::process::{self, Group, Spawn};
use super::{MOST_READ, one_line, too_large};
use crate::context::Context;
use crate::fault::{Fault, FaultKind};
use crate::request::{self, CommandLine};
use crate::secrets::Redactor;
use kontext_syntax::text::quoted;

/// How much of what a program says about an error is shown, in characters.
const MOST_SHOWN: usize = 400;

/// How many bytes are kept of the start, and of the end, of a standard error.
const KEPT: usize = 32 * 1024;

/// How long the output may stay open after the program has ended: something it started holds it.
const LINGER: Duration = Duration::from_millis(500);

/// How long a program may take to end once it was asked to.
const GRACE: Duration = Duration::from_secs(2);

/// What a program gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// What it printed, or wrote to its output file; invalid UTF-8 is replaced.
    pub text: String,
    /// The exit code; `None` where a signal ended it.
    pub code: Option<i32>,
    /// Whether it said nothing at all, neither an answer nor an error.
    pub silent: bool,
    /// Whether it said something on its standard error.
    pub complained: bool,
    /// Why it counts as failed, where it did not end with 0.
    pub failure: Option<Fault>,
}

impl Output {
    /// Whether it may mean by its exit code that there is nothing, whatever it printed: `rg --json`
    /// sums up what it did even where it found nothing.
    pub fn may_mean_nothing(&self) -> bool {
        self.code == Some(1) && !self.complained
    }

    /// The text to read as an answer, and a failure to mention beside what is found in it.
    ///
    /// For an op that gives `hits` (search, history, code) a silent exit with 1 means that there
    /// are none, as `grep` means it, and what was printed before a failure counts; where nothing
    /// is found in it after all, the failure is the answer.
    ///
    /// # Errors
    ///
    /// The program failed.
    pub fn answer(self, hits: bool) -> Result<(String, Option<Fault>), Fault> {
        match self.failure {
            None => Ok((self.text, None)),
            Some(_) if hits && self.code == Some(1) && self.silent => Ok((String::new(), None)),
            Some(failure) if hits && !self.text.trim().is_empty() => Ok((self.text, Some(failure))),
            Some(failure) => Err(failure),
        }
    }
}

/// Runs the program of an op, with a temporary file where it has `output_file`.
///
/// # Errors
///
/// As [`request::command`] and [`run`].
pub async fn call(
    adapter: &Adapter,
    op: &Op,
    ctx: &Context,
    inputs: &Map<String, Value>,
    timeout: Duration,
    redactor: &Redactor,
) -> Result<Output, Fault> {
    if !op.output_file {
        let line = request::command(adapter, op, ctx, inputs)?;
        return run(&line, ctx, timeout, redactor).await;
    }
    // A folder that only this user can enter; the file itself is the program's to make.
    let folder = private_folder().map_err(|error| {
        Fault::new(
            FaultKind::Unreachable,
            format!("no temporary file could be made: {error}"),
        )
    })?;
    let file = folder.path().join("answer");
    let mut inputs = inputs.clone();
    let path = Value::String(file.to_string_lossy().into_owned());
    inputs.insert("output_file".to_owned(), path);
    let line = request::command(adapter, op, ctx, &inputs)?;
    let mut output = run(&line, ctx, timeout, redactor).await?;
    let name = quoted(line.argv.first().map_or("", String::as_str));
    match from_file(&file, &name).map_err(|fault| redactor.fault(fault))? {
        Some(text) => {
            output.silent &= text.is_empty();
            output.text = text;
        }
        None => tracing::debug!("{name} wrote no output file, its standard output is read"),
    }
    Ok(output)
}

fn private_folder() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("kontext-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o700));
    }
    builder.tempdir()
}

/// What a program wrote to its output file; `None` where there is no such file.
fn from_file(file: &Path, name: &str) -> Result<Option<String>, Fault> {
    let unreadable = |error: io::Error| {
        Fault::new(
            FaultKind::Malformed,
            format!("the output file of {name} cannot be read: {}", error.kind()),
        )
    };
    // Only what lies there itself: a link could lead anywhere, a pipe would never end.
    match fs::symlink_metadata(file) {
        Ok(meta) if meta.is_file() => {}
        Ok(_) => {
            return Err(Fault::new(
                FaultKind::Malformed,
                format!("{name} put something else than a file where its output file belongs"),
            ));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    }
    let mut bytes = Vec::new();
    fs::File::open(file)
        .and_then(|file| file.take(MOST_READ as u64 + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() > MOST_READ {
        return Err(too_large(name));
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Runs a program to its end, at most `timeout`. Dropping the future, like every fault, ends the program and what it started.
///
/// # Errors
///
/// It cannot be started, does not end in time, or prints more than [`MOST_READ`] bytes. That it
/// ends with another code than 0 is [`Output::failure`].
pub async fn run(
    line: &CommandLine,
    ctx: &Context,
    timeout: Duration,
    redactor: &Redactor,
) -> Result<Output, Fault> {
    let redactor = &redactor.clone().with_line(line);
    let name = quoted(line.argv.first().map_or("", String::as_str));
    let spawn = Spawn {
        argv: line.argv.clone(),
        cwd: line.cwd.clone(),
        env: line.environment(&ctx.facts.env),
        stdin: line.stdin.is_some(),
        may_start: ctx.may_start.clone(),
    };
    let mut group = process::spawn(&spawn).map_err(|fault| redactor.fault(fault))?;
    let talk = talk(&mut group, line.stdin.as_deref(), &name);
    let (status, said) = match tokio::time::timeout(timeout, talk).await {
        Ok(Ok(ended)) => ended,
        Ok(Err(fault)) => {
            group.kill().await;
            return Err(redactor.fault(fault));
        }
        Err(_) => {
            // Whoever asked has waited long enough. Should the runtime end first, the group is
            // killed as the task is dropped.
            tokio::spawn(async move { group.end(GRACE).await });
            let what = format!(
                "{name} did not end within {} ms and was stopped",
                timeout.as_millis()
            );
            return Err(redactor.fault(Fault::timed_out(what)));
        }
    };
    // What it has left running behind it is not waited for.
    group.leave().await;
    let text = String::from_utf8_lossy(&said.out).into_owned();
    let errors = said.errors.text();
    let failure = (!status.success()).then(|| {
        let told = if errors.trim().is_empty() {
            &text
        } else {
            &errors
        };
        let told = shown(&redactor.redact(told));
        let ended = ended(status);
        let words = if told.is_empty() {
            format!("{name} {ended} and said nothing")
        } else {
            format!("{name} {ended}: {told}")
        };
        redactor.fault(Fault::new(FaultKind::Failed, words))
    });
    Ok(Output {
        silent: text.is_empty() && errors.is_empty(),
        complained: !errors.trim().is_empty(),
        code: status.code(),
        text,
        failure,
    })
}

/// What a program has said.
#[derive(Debug, Default)]
struct Said {
    out: Vec<u8>,
    errors: Ends,
}

/// Feeds a program and listens to it until it has ended.
async fn talk(
    group: &mut Group,
    stdin: Option<&str>,
    name: &str,
) -> Result<(ExitStatus, Said), Fault> {
    let mut said = Said::default();
    let Said { out, errors } = &mut said;
    let (pipe, stdout, stderr) = (group.stdin(), group.stdout(), group.stderr());
    let status = {
        let listen = async {
            tokio::try_join!(read_all(stdout, out, name), read_ends(stderr, errors))?;
            Ok::<(), Fault>(())
        };
        let feed = feed(pipe, stdin.unwrap_or_default());
        let wait = group.wait();
        tokio::pin!(listen, feed, wait);
        let (mut fed, mut heard) = (false, false);
        let status = loop {
            tokio::select! {
                result = &mut listen, if !heard => {
                    result?;
                    heard = true;
                }
                () = &mut feed, if !fed => fed = true,
                status = &mut wait => break status,
            }
        };
        if !heard && let Ok(result) = tokio::time::timeout(LINGER, &mut listen).await {
            result?;
        }
        status
    };
    let status = status.map_err(|error| {
        Fault::new(
            FaultKind::Unreachable,
            format!("how {name} ended cannot be told: {error}"),
        )
    })?;
    Ok((status, said))
}

/// Writes the input and closes it. A program need not read it.
async fn feed(pipe: Option<ChildStdin>, text: &str) {
    if let Some(mut pipe) = pipe
        && let Err(error) = pipe.write_all(text.as_bytes()).await
    {
        tracing::debug!("a program did not read its input to the end: {error}");
    }
}

async fn read_all(
    pipe: Option<impl AsyncRead + Unpin>,
    bytes: &mut Vec<u8>,
    name: &str,
) -> Result<(), Fault> {
    let Some(mut pipe) = pipe else { return Ok(()) };
    while pipe.read_buf(bytes).await.map_err(unreadable)? > 0 {
        if bytes.len() > MOST_READ {
            return Err(too_large(name));
        }
    }
    Ok(())
}

async fn read_ends(pipe: Option<impl AsyncRead + Unpin>, ends: &mut Ends) -> Result<(), Fault> {
    let Some(mut pipe) = pipe else { return Ok(()) };
    let mut chunk = Vec::with_capacity(4096);
    while pipe.read_buf(&mut chunk).await.map_err(unreadable)? > 0 {
        ends.add(&chunk);
        chunk.clear();
    }
    Ok(())
}

fn unreadable(error: io::Error) -> Fault {
    Fault::new(
        FaultKind::Unreachable,
        format!("the output of the program cannot be read: {error}"),
    )
}

/// The start and the end of a stream of any length.
#[derive(Debug, Default)]
struct Ends {
    start: Vec<u8>,
    end: Vec<u8>,
    /// Something between them was let go.
    gap: bool,
}

impl Ends {
    fn add(&mut self, bytes: &[u8]) {
        let room = KEPT.saturating_sub(self.start.len()).min(bytes.len());
        let (start, end) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        self.start.extend_from_slice(start);
        self.end.extend_from_slice(end);
        if let Some(excess) = self.end.len().checked_sub(2 * KEPT) {
            self.end.drain(..excess + KEPT);
            self.gap = true;
        }
    }

    fn text(&self) -> String {
        let join = if self.gap { "\n…\n".as_bytes() } else { b"" };
        let bytes = [self.start.as_slice(), join, &self.end].concat();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// On one line, at most [`MOST_SHOWN`] characters. A cause stands in the first words or, after a
/// trace, in the last: the middle is left out.
fn shown(text: &str) -> String {
    const FIRST: usize = MOST_SHOWN / 2;
    let line = one_line(text);
    let count = line.chars().count();
    if count <= MOST_SHOWN {
        return line;
    }
    let first: String = line.chars().take(FIRST).collect();
    let last: String = line
        .chars()
        .skip(count - (MOST_SHOWN - FIRST - 3))
        .collect();
    format!("{} … {}", first.trim_end(), last.trim_start())
}

fn ended(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        if let Some(signal) = status.signal() {
            return format!("was ended by signal {signal}");
        }
    }
    match status.code() {
        Some(code) => format!("ended with exit code {code}"),
        None => "ended without an exit code".to_owned(),
    }
}
