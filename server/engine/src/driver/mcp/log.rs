//! What a server has written besides the protocol, kept for whoever wants to see it.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::driver::one_line;
use crate::secrets::Redactor;

/// How many bytes of lines are kept; the oldest go first.
pub const MOST_KEPT: usize = 256 * 1024;

/// How many characters of a line are kept.
const MOST_OF_LINE: usize = 2000;

/// Where a line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard error.
    Stderr,
    /// Standard output, or the body of an answer: a line that is no message of the protocol.
    Stray,
    /// This program: what it noticed about the server.
    Note,
}

/// A line of a server's log, without secrets and control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Where it came from.
    pub source: Source,
    /// The line, without line break.
    pub text: String,
}

/// The newest lines of a server, over all its restarts.
#[derive(Debug)]
pub struct Log {
    redactor: Redactor,
    lines: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<LogLine>,
    bytes: usize,
    dropped: u64,
}

impl Log {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            lines: Mutex::default(),
        }
    }

    /// The lines that are kept, the oldest first.
    pub fn lines(&self) -> Vec<LogLine> {
        self.kept(|kept| kept.lines.iter().cloned().collect())
    }

    /// How many lines have been dropped to stay within [`MOST_KEPT`].
    pub fn dropped(&self) -> u64 {
        self.kept(|kept| kept.dropped)
    }

    pub(super) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The last line on standard error, short enough for a sentence.
    pub(super) fn last_words(&self) -> Option<String> {
        self.kept(|kept| {
            let last = kept
                .lines
                .iter()
                .rev()
                .find(|line| line.source == Source::Stderr);
            last.map(|line| crate::driver::excerpt(&line.text, 200))
        })
    }

    pub(super) fn note(&self, text: &str) {
        self.add(Source::Note, text);
    }

    pub(super) fn add(&self, source: Source, text: &str) {
        // Redacted before it is cut: half a secret would not be found.
        let mut text = one_line(&self.redactor.redact(text));
        if let Some((at, _)) = text.char_indices().nth(MOST_OF_LINE) {
            text.truncate(at);
            text.push('…');
        }
        self.kept(|kept| {
            kept.bytes += text.len() + 1;
            kept.lines.push_back(LogLine { source, text });
            while kept.bytes > MOST_KEPT
                && let Some(line) = kept.lines.pop_front()
            {
                kept.bytes -= line.text.len() + 1;
                kept.dropped += 1;
            }
        });
    }

    fn kept<T>(&self, look: impl FnOnce(&mut Kept) -> T) -> T {
        look(&mut self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stays_bounded_and_keeps_the_newest() {
        let log = Log::new(Redactor::default());
        for n in 0..10_000 {
            log.add(Source::Stderr, &format!("{n} {}", "x".repeat(100)));
        }
        log.add(Source::Stderr, &"y".repeat(1_000_000));
        log.note("noticed");
        let lines = log.lines();
        assert!(lines.iter().map(|line| line.text.len()).sum::<usize>() <= MOST_KEPT);
        assert!(log.dropped() > 7000);
        assert_eq!(lines.last().unwrap().text, "noticed");
        assert!(log.last_words().unwrap().starts_with("yyy"));
    }
}
