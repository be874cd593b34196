//! A byte stream cut into lines of bounded length, and lines written to one.

use kontext_syntax::json::Outline;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;

/// The longest line accepted from an agent, in bytes, without its line break.
///
/// A configuration file handed to `kontext_check` is the largest honest message; 8 MiB is well
/// above any of those and keeps a peer that never sends a line break from filling the memory.
pub const MAX_LINE: usize = 8 * 1024 * 1024;

const UTF8_BOM: &[u8] = b"\xEF\xBB\xBF";

/// What one read of [`Lines`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A line that is not blank, without its line break (`\n` or `\r\n`) and without a byte order
    /// mark. It need not be UTF-8. The last line of a stream may lack its line break.
    Bytes(Vec<u8>),
    /// A line above the limit, all of which has been skipped, and what could be told of it.
    TooLong(Outline),
    /// The stream ended, or could not be read any further.
    End,
}

/// Reads lines from `R`.
///
/// [`Lines::next`] is cancel safe: what has been read of an unfinished line stays in the value.
#[derive(Debug)]
pub struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    limit: usize,
    /// What can be told of a line that has exceeded the limit, until its line break has been seen.
    discarding: Option<Outline>,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Lines of at most `limit` bytes from `reader`.
    pub fn new(reader: R, limit: usize) -> Self {
        Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
            line: Vec::new(),
            limit,
            discarding: None,
        }
    }

    /// The next line that is not blank.
    pub async fn next(&mut self) -> Line {
        loop {
            let available = match self.reader.fill_buf().await {
                Ok(available) => available,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    tracing::debug!(%error, "stream cannot be read any further");
                    return Line::End;
                }
            };
            if available.is_empty() {
                // A last line without its line break counts: shells often leave it out.
                let line = std::mem::take(&mut self.line);
                return match (self.discarding.take(), tidy(&line)) {
                    (Some(outline), _) => Line::TooLong(outline),
                    (None, Some(line)) => Line::Bytes(line.to_vec()),
                    (None, None) => Line::End,
                };
            }
            let newline = available.iter().position(|&byte| byte == b'\n');
            let part = available
                .split_at_checked(newline.unwrap_or(available.len()))
                .map_or(available, |(part, _)| part);
            let consumed = newline.map_or(available.len(), |at| at + 1);
            let ended = newline.is_some();

            // From here to `consume` nothing awaits, so a cancelled read loses no byte.
            if let Some(outline) = &mut self.discarding {
                outline.read(part);
            } else if self.line.len().saturating_add(part.len()) > self.limit {
                let mut outline = Outline::of(&std::mem::take(&mut self.line));
                outline.read(part);
                self.discarding = Some(outline);
            } else {
                self.line.extend_from_slice(part);
            }
            self.reader.consume(consumed);

            if ended {
                if let Some(outline) = self.discarding.take() {
                    return Line::TooLong(outline);
                }
                let line = std::mem::take(&mut self.line);
                if let Some(line) = tidy(&line) {
                    return Line::Bytes(line.to_vec());
                }
            }
        }
    }
}

/// How many lines are written at once at most.
const MOST_AT_ONCE: usize = 64;

/// Writes each line of `queue`, whole and with its line break, those that wait together at once;
/// closes `writer` when the queue has ended. Returns early where nobody reads any more.
pub async fn write_lines<W, L>(mut writer: W, mut queue: mpsc::Receiver<L>)
where
    W: AsyncWrite + Unpin,
    L: Into<Vec<u8>>,
{
    let mut waiting = Vec::new();
    while queue.recv_many(&mut waiting, MOST_AT_ONCE).await > 0 {
        let mut lines = Vec::new();
        for line in waiting.drain(..) {
            let line = line.into();
            // A line alone, which may be long, is not copied.
            if lines.is_empty() {
                lines = line;
            } else {
                lines.extend_from_slice(&line);
            }
            lines.push(b'\n');
        }
        let written = async {
            writer.write_all(&lines).await?;
            writer.flush().await
        };
        if let Err(error) = written.await {
            tracing::debug!(%error, "the other side does not read any more");
            return;
        }
    }
    let _ = writer.shutdown().await;
}

/// The line without `\r` and byte order mark; `None` for a blank one.
fn tidy(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_prefix(UTF8_BOM).unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    (!line.trim_ascii().is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(input: &[u8], limit: usize) -> Vec<Line> {
        let mut lines = Lines::new(input, limit);
        let mut found = Vec::new();
        loop {
            match lines.next().await {
                Line::End => return found,
                line => found.push(line),
            }
        }
    }

    fn bytes(text: &str) -> Line {
        Line::Bytes(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn line_breaks_blank_lines_and_a_byte_order_mark_are_no_part_of_a_message() {
        let found = all("\u{feff}one\r\n\n  \ntwo\nlast".as_bytes(), 100).await;
        assert_eq!(found, [bytes("one"), bytes("two"), bytes("last")]);
    }

    #[tokio::test]
    async fn a_line_above_the_limit_costs_only_itself() {
        let found = all(b"12345\n123456789\nok\n", 5).await;
        let skipped = Line::TooLong(Outline::of(b"123456789"));
        assert_eq!(found, [bytes("12345"), skipped, bytes("ok")]);
    }

    #[tokio::test]
    async fn an_endless_line_is_reported_once_and_never_buffered() {
        let line = format!(
            r#"{{"params":"{}","method":"m","id":7}}"#,
            "x".repeat(300_000)
        );
        let found = all(format!("{line}\nok\n{line}").as_bytes(), 1000).await;
        let [Line::TooLong(outline), ok, Line::TooLong(last)] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!((outline, ok), (last, &bytes("ok")));
        assert_eq!(outline.request_id(), Some("7".as_bytes()));
    }
}
