//! Printing: colour only on a terminal, `NO_COLOR` honoured, a reader that hangs up is no error.

use std::fmt;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use super::Failure;

/// How a listing is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// For people.
    Human,
    /// For programs.
    Json,
}

/// Standard output and standard error of a command that speaks to people.
///
/// Text may carry ANSI styles; they are taken out where the stream is no terminal or `NO_COLOR`
/// is set (`CLICOLOR_FORCE` puts them back).
#[derive(Debug)]
pub struct Shell(());

impl Shell {
    pub(super) fn new() -> Self {
        Shell(())
    }

    /// Prints `text` as it is on standard output, without a line end of its own.
    ///
    /// # Errors
    /// When standard output cannot be written, unless its reader has closed it (`| head`).
    pub fn print(&self, text: impl fmt::Display) -> Result<(), Failure> {
        let mut out = anstream::stdout().lock();
        match write!(out, "{text}").and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(Failure::io("standard output", error))
            }
            _ => Ok(()),
        }
    }

    /// Prints a JSON value on standard output, indented, with a line end.
    ///
    /// # Errors
    /// As [`Shell::print`].
    pub fn json(&self, value: &impl serde::Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| Failure::Other(format!("the result is no JSON: {error}")))?;
        self.print(format_args!("{text}\n"))
    }

    /// Prints a remark on standard error.
    pub fn note(&self, text: impl fmt::Display) {
        let _ = writeln!(anstream::stderr(), "{text}");
    }

    pub(super) fn error(&self, failure: &Failure) {
        let red: Style = AnsiColor::Red.on_default().bold();
        self.note(format_args!("{red}error{red:#}: {failure}"));
    }
}
