//! Reading and writing the frames of the LSP base protocol (LSP 3.17, "Base Protocol").
//!
//! A frame is a block of header lines, an empty line, and a body of `Content-Length` bytes.
//! Input comes from programs we do not control, so the reader is wide in what it takes (names in
//! any case, spaces around the colon, lone LF, unknown headers) and never gives up: bytes that are
//! no frame are reported once and skipped up to the next `Content-Length`.

use std::fmt;
use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

/// The largest body that is read, in bytes. A document over this size is no configuration.
pub const MAX_BODY: u64 = 64 << 20;

/// The largest announced body that is skipped over, in bytes, so that what follows is understood.
/// A length beyond this is taken for a lie: nothing is skipped.
const MAX_SKIPPED: u64 = 1 << 30;

/// The longest header line, in bytes. Of a longer line only the tail is looked at.
const MAX_LINE: usize = 8 << 10;

const LENGTH: &str = "content-length";

/// Why bytes on the input were no message. The reader goes on after each of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Malformed {
    /// Bytes that belong to no frame, up to the next one.
    Garbage,
    /// A `Content-Length` that is no number of bytes.
    Length(String),
    /// A header block without `Content-Length`.
    NoLength,
    /// A body over [`MAX_BODY`]; the announced number of bytes.
    TooLarge(u64),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Garbage => f.write_str("bytes outside of any message were skipped"),
            Malformed::Length(text) => write!(f, "Content-Length is not a number: {text:?}"),
            Malformed::NoLength => f.write_str("a message header without Content-Length"),
            Malformed::TooLarge(n) => {
                write!(
                    f,
                    "a message of {n} bytes is over the limit of {MAX_BODY} bytes"
                )
            }
        }
    }
}

/// What the input gave next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// The body of one message, not yet known to be JSON or even UTF-8.
    Body(Vec<u8>),
    /// Bytes that were no message. Reading can go on.
    Malformed(Malformed),
}

/// Splits a byte stream into frames.
///
/// Not cancel safe: a dropped [`FrameReader::next`] may lose a part of a frame. The wire drops it
/// only when the connection is over.
#[derive(Debug)]
pub struct FrameReader<R> {
    input: BufReader<R>,
    /// Garbage was reported and no good frame was seen since.
    lost: bool,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Reads frames from `input`.
    pub fn new(input: R) -> Self {
        FrameReader {
            input: BufReader::with_capacity(64 << 10, input),
            lost: false,
        }
    }

    /// The next frame, or `None` at the end of the input (an unfinished frame is dropped).
    ///
    /// # Errors
    /// Whatever reading the input gives; the stream is of no use afterwards.
    pub async fn next(&mut self) -> io::Result<Option<Frame>> {
        let mut length = None;
        let mut headers = 0usize;
        loop {
            let Some(line) = self.line().await? else {
                return Ok(None);
            };
            match header(&line) {
                Header::End if headers == 0 => {} // stray empty lines between frames
                Header::End => {
                    headers = 0;
                    match length.take() {
                        Some(0) => {}
                        Some(n) if n > MAX_BODY => {
                            if n <= MAX_SKIPPED && !self.skip(n).await? {
                                return Ok(None);
                            }
                            return Ok(Some(Frame::Malformed(Malformed::TooLarge(n))));
                        }
                        Some(n) => {
                            let mut body = Vec::new();
                            // Grows with what arrives: an announced length costs no memory.
                            let read = (&mut self.input).take(n).read_to_end(&mut body).await?;
                            if (read as u64) < n {
                                return Ok(None);
                            }
                            self.lost = false;
                            return Ok(Some(Frame::Body(body)));
                        }
                        None if self.lost => {}
                        None => {
                            self.lost = true;
                            return Ok(Some(Frame::Malformed(Malformed::NoLength)));
                        }
                    }
                }
                Header::Length(text) => {
                    headers += 1;
                    match text.parse::<u64>() {
                        Ok(n) => length = Some(n),
                        Err(_) => {
                            self.lost = true;
                            return Ok(Some(Frame::Malformed(Malformed::Length(text.to_owned()))));
                        }
                    }
                }
                Header::Other => headers += 1,
                Header::Garbage if self.lost => headers += 1,
                Header::Garbage => {
                    self.lost = true;
                    // A length that shares its line with garbage is picked up by `header`.
                    return Ok(Some(Frame::Malformed(Malformed::Garbage)));
                }
            }
        }
    }

    /// One line without its end, of which at most the last [`MAX_LINE`] bytes are kept.
    async fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        loop {
            let chunk = self.input.fill_buf().await?;
            if chunk.is_empty() {
                return Ok(None);
            }
            let end = memchr::memchr(b'\n', chunk);
            let taken = end.map_or(chunk.len(), |at| at + 1);
            line.extend(chunk.iter().take(taken));
            self.input.consume(taken);
            if line.len() > MAX_LINE {
                line.drain(..line.len() - MAX_LINE);
            }
            if end.is_some() {
                while matches!(line.last(), Some(b'\n' | b'\r')) {
                    line.pop();
                }
                return Ok(Some(line));
            }
        }
    }

    /// Skips `n` bytes; false when the input ended before.
    async fn skip(&mut self, mut n: u64) -> io::Result<bool> {
        while n > 0 {
            let available = self.input.fill_buf().await?.len();
            if available == 0 {
                return Ok(false);
            }
            let step = available.min(usize::try_from(n).unwrap_or(usize::MAX));
            self.input.consume(step);
            n -= step as u64;
        }
        Ok(true)
    }
}

enum Header<'a> {
    End,
    Length(&'a str),
    Other,
    Garbage,
}

/// Reads one header line. A `Content-Length` is found even behind garbage, which is how reading
/// gets back in step.
fn header(line: &[u8]) -> Header<'_> {
    if line.is_empty() {
        return Header::End;
    }
    let Some(colon) = memchr::memrchr(b':', line) else {
        return Header::Garbage;
    };
    let (name, value) = line.split_at(colon);
    let name = name.trim_ascii();
    let tail = name
        .len()
        .checked_sub(LENGTH.len())
        .and_then(|at| name.get(at..));
    if tail.is_some_and(|tail| tail.eq_ignore_ascii_case(LENGTH.as_bytes())) {
        let value = value.get(1..).unwrap_or_default().trim_ascii();
        return match std::str::from_utf8(value) {
            Ok(text) => Header::Length(text),
            Err(_) => Header::Length("?"),
        };
    }
    // Other headers (`Content-Type`) change nothing: every encoding but UTF-8 is long gone.
    let first = line
        .split(|&b| b == b':')
        .next()
        .unwrap_or_default()
        .trim_ascii();
    let token = |b: &u8| b.is_ascii_alphanumeric() || *b == b'-' || *b == b'_';
    if !first.is_empty() && first.iter().all(token) {
        Header::Other
    } else {
        Header::Garbage
    }
}

/// Appends `body` as one frame to `out`.
pub fn write_frame(out: &mut Vec<u8>, body: &[u8]) {
    out.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    out.extend_from_slice(body);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(input: &[u8]) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let mut reader = FrameReader::new(input);
            let mut seen = Vec::new();
            while let Some(frame) = reader.next().await.unwrap() {
                seen.push(match frame {
                    Frame::Body(body) => String::from_utf8_lossy(&body).into_owned(),
                    Frame::Malformed(why) => format!("! {why}"),
                });
            }
            seen
        })
    }

    #[test]
    fn header_variants() {
        for head in [
            "Content-Length: 2\r\n\r\n",
            "content-length:2\r\n\r\n",
            "CONTENT-LENGTH : 2 \r\n\r\n",
            "Content-Length: 2\n\n",
            "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 2\r\n\r\n",
            "Content-Length: 2\r\nContent-Type: text/plain\r\nX-Other: a:b\r\n\r\n",
            "\r\n\r\nContent-Length: 2\r\n\r\n",
            "Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n",
        ] {
            assert_eq!(frames(format!("{head}{{}}").as_bytes()), ["{}"], "{head:?}");
        }
    }

    #[test]
    fn garbage_is_reported_once_and_skipped() {
        let input = "hello\r\nworld\r\n\r\n???Content-Length: 2\r\n\r\n{}";
        insta::assert_snapshot!(frames(input.as_bytes()).join("\n"), @r"
        ! bytes outside of any message were skipped
        {}
        ");
    }

    #[test]
    fn a_wrong_length_costs_only_its_own_message() {
        let input = "Content-Length: two\r\n\r\n{\"a\":1}Content-Length: 2\r\n\r\n[]";
        insta::assert_snapshot!(frames(input.as_bytes()).join("\n"), @r#"
        ! Content-Length is not a number: "two"
        []
        "#);
        let input = "Content-Length: -4\r\n\r\nabcdContent-Length: 2\r\n\r\n[]";
        insta::assert_snapshot!(frames(input.as_bytes()).join("\n"), @r#"
        ! Content-Length is not a number: "-4"
        []
        "#);
    }

    #[test]
    fn a_block_without_length() {
        let input = "Content-Type: x\r\n\r\nContent-Length: 2\r\n\r\n{}";
        insta::assert_snapshot!(frames(input.as_bytes()).join("\n"), @r"
        ! a message header without Content-Length
        {}
        ");
    }

    #[test]
    fn a_lying_length_does_not_swallow_what_follows() {
        let input = "Content-Length: 99999999999999\r\n\r\nContent-Length: 2\r\n\r\n{}";
        insta::assert_snapshot!(frames(input.as_bytes()).join("\n"), @r"
        ! a message of 99999999999999 bytes is over the limit of 67108864 bytes
        {}
        ");
    }

    #[test]
    fn a_large_body_is_refused_and_skipped() {
        let n = MAX_BODY + 1;
        let mut input = format!("Content-Length: {n}\r\n\r\n").into_bytes();
        input.resize(input.len() + usize::try_from(n).unwrap(), b'\n');
        input.extend_from_slice(b"Content-Length: 2\r\n\r\n{}");
        assert_eq!(frames(&input).len(), 2);
        assert_eq!(frames(&input).last().unwrap(), "{}");
    }

    #[test]
    fn an_unfinished_frame_is_dropped() {
        assert!(frames(b"Content-Length: 10\r\n\r\n{}").is_empty());
        assert!(frames(b"Content-Length: 10").is_empty());
    }

    #[test]
    fn a_line_without_end_takes_no_memory() {
        let mut input = vec![b'x'; 1 << 20];
        input.extend_from_slice(b"Content-Length: 2\r\n\r\n{}");
        assert_eq!(frames(&input), ["{}"]);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_before_a_frame(noise in proptest::collection::vec(0u8..=255, 0..200)) {
            // Whatever came before, reading ends without a panic.
            let mut input = noise;
            input.extend_from_slice(b"\r\n\r\nContent-Length: 2\r\n\r\n{}");
            frames(&input);
        }
    }
}
