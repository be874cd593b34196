//! Server-sent events (HTML standard, section 9.2), as they come in. No I/O.

use memchr::memchr2;

/// One event with data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its type; `message` where none was given.
    pub kind: String,
    /// Its data lines, joined by line feeds.
    pub data: String,
}

/// An event, or one line of the stream, is larger than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Reads a stream of events. How the stream was cut into chunks does not matter.
#[derive(Debug)]
pub struct Parser {
    limit: usize,
    line: Vec<u8>,
    /// No line has been finished: a byte order mark may stand before it.
    first: bool,
    /// The last byte was a carriage return: a line feed now belongs to it.
    after_return: bool,
    kind: String,
    data: String,
    has_data: bool,
    last_id: Option<String>,
    retry: Option<u64>,
}

impl Parser {
    /// A parser for events of at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            first: true,
            after_return: false,
            kind: String::new(),
            data: String::new(),
            has_data: false,
            last_id: None,
            retry: None,
        }
    }

    /// The id to resume the stream after, where the server gave one.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// How long the server asks to wait before the stream is asked for again, in milliseconds.
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// Takes the next bytes; gives the events that they end.
    ///
    /// # Errors
    ///
    /// [`TooLarge`]; the parser is of no use then.
    pub fn feed(&mut self, mut bytes: &[u8]) -> Result<Vec<Event>, TooLarge> {
        let mut events = Vec::new();
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return)
                && let Some(rest) = bytes.strip_prefix(b"\n")
            {
                bytes = rest;
                continue;
            }
            let (part, rest, ended) = match memchr2(b'\n', b'\r', bytes) {
                Some(at) => {
                    let (part, rest) = bytes.split_at_checked(at).unwrap_or((bytes, &[]));
                    self.after_return = rest.first() == Some(&b'\r');
                    (part, rest.get(1..).unwrap_or_default(), true)
                }
                None => (bytes, [].as_slice(), false),
            };
            if self.line.len() + self.data.len() + part.len() > self.limit {
                return Err(TooLarge);
            }
            self.line.extend_from_slice(part);
            bytes = rest;
            if ended {
                let line = std::mem::take(&mut self.line);
                events.extend(self.take_line(&line));
            }
        }
        Ok(events)
    }

    /// The event that the stream ended in. The standard drops it; servers that leave out the last
    /// blank line are too many for that.
    pub fn finish(mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line);
        }
        self.take_line(b"")
    }

    fn take_line(&mut self, line: &[u8]) -> Option<Event> {
        let first = std::mem::replace(&mut self.first, false);
        let line = match line.strip_prefix(b"\xEF\xBB\xBF") {
            Some(rest) if first => rest,
            _ => line,
        };
        if line.is_empty() {
            let kind = std::mem::take(&mut self.kind);
            let data = std::mem::take(&mut self.data);
            return std::mem::take(&mut self.has_data).then(|| Event {
                kind: if kind.is_empty() {
                    "message".to_owned()
                } else {
                    kind
                },
                data,
            });
        }
        let line = String::from_utf8_lossy(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.has_data = true;
                self.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.kind),
            "id" if !value.contains('\0') => self.last_id = Some(value.to_owned()),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok();
            }
            // A comment, or a field nobody knows.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn events(chunks: &[&[u8]]) -> Vec<Event> {
        let mut parser = Parser::new(1 << 20);
        let mut events = Vec::new();
        for chunk in chunks {
            events.extend(parser.feed(chunk).unwrap());
        }
        events.extend(parser.finish());
        events
    }

    fn message(data: &str) -> Event {
        Event {
            kind: "message".to_owned(),
            data: data.to_owned(),
        }
    }

    #[test]
    fn every_line_end_ends_a_line_and_no_other_character_does() {
        let text = "\u{feff}data: a\u{2028}b\ndata:c\r\n\r\ndata: 1\rdata:  2\r\rdata\n\n";
        assert_eq!(
            events(&[text.as_bytes()]),
            [message("a\u{2028}b\nc"), message("1\n 2"), message("")]
        );
    }

    #[test]
    fn comments_and_other_fields_are_no_data() {
        let mut parser = Parser::new(1 << 20);
        let found = parser
            .feed(b": hi\n\nevent: ping\nid: 7\nretry: 10\n\nid:8\0\nretry: 1x\nevent:e\nfoo: b\ndata: x\n\n")
            .unwrap();
        assert_eq!(
            found,
            [Event {
                kind: "e".to_owned(),
                data: "x".to_owned()
            }]
        );
        assert_eq!((parser.last_id(), parser.retry()), (Some("7"), Some(10)));
        assert_eq!(parser.finish(), None);
    }

    #[test]
    fn an_event_without_its_blank_line_still_counts() {
        assert_eq!(events(&[b"data: {}"]), [message("{}")]);
    }

    #[test]
    fn an_event_above_the_limit_is_an_error_however_it_comes() {
        let mut one_line = Parser::new(10);
        assert_eq!(one_line.feed(b"data: 1234567890"), Err(TooLarge));
        let mut many = Parser::new(20);
        let fed: Result<Vec<_>, _> = (0..10).map(|_| many.feed(b"data: 1234\n")).collect();
        assert_eq!(fed, Err(TooLarge));
    }

    proptest! {
        #[test]
        fn chunking_never_matters(
            pieces in prop::collection::vec(prop_oneof![
                Just("data:".to_owned()), Just("data: ž🐴".to_owned()), Just("\r".to_owned()),
                Just("\n".to_owned()), Just("\r\n".to_owned()), Just(": c".to_owned()),
                Just("\u{feff}".to_owned()), Just("id: 4".to_owned()), "\\PC{0,5}",
            ], 0..30),
            cuts in prop::collection::vec(1..9usize, 1..8),
        ) {
            let text = pieces.concat();
            let mut chunks = Vec::new();
            let (mut rest, mut cuts) = (text.as_bytes(), cuts.iter().cycle());
            while !rest.is_empty() {
                let (chunk, after) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
                chunks.push(chunk);
                rest = after;
            }
            prop_assert_eq!(events(&chunks), events(&[text.as_bytes()]));
        }
    }
}
