//! The way down from a block to the part that a place lies in.

use std::sync::Arc;

use kontext_config::source::Source;
use kontext_syntax::TextRange;
use kontext_syntax::toml::{Block, Entry, FaultKind, Header, Key, Span, Value, ValueKind};

use super::string::StringAt;
use super::{HeaderAt, KeyAt, Located, ValueAt, element_kind, kind_of, table};

/// A walk through one block.
pub(super) struct Walk<'a> {
    source: &'a Source,
    text: &'a str,
    offset: u32,
    base: u32,
    block: &'a Arc<Block>,
}

/// The tables around an entry.
#[derive(Clone, Copy)]
struct Around<'p, 'a> {
    /// The table it is written in, from the top of the file.
    path: &'p [&'a str],
    /// All entries of that table, where it is an inline one.
    inline: Option<&'a [Entry]>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(source: &'a Source, offset: u32) -> Self {
        let text: &str = source.document.text();
        let border = text.floor_char_boundary((offset as usize).min(text.len()));
        let offset = u32::try_from(border).unwrap_or(u32::MAX);
        let (base, block) = source.document.block_at(offset);
        Self {
            source,
            text,
            offset,
            base,
            block,
        }
    }

    pub(super) fn locate(&self) -> Located<'a> {
        let json = |range: TextRange| range.start < self.offset && self.offset <= range.end;
        let mut faults = self.block.faults.iter();
        if faults.any(|fault| fault.kind == FaultKind::Json && json(self.range(fault.span))) {
            return Located::Nowhere;
        }
        let mut gap = self.base;
        let mut fresh = true;
        if let Some(header) = &self.block.header {
            let range = self.range(header.span);
            if self.offset <= range.end {
                return self.in_header(header, range);
            }
            gap = range.end;
            fresh = false;
        }
        let path: Vec<&str> = match &self.block.header {
            Some(header) => header.keys.iter().map(|key| &*key.text).collect(),
            None => Vec::new(),
        };
        let around = Around {
            path: &path,
            inline: None,
        };
        if let Some((_, entry)) = self.last_before(&self.block.entries, |entry| entry.span) {
            match self.in_entry(entry, around) {
                Ok(located) => return located,
                Err(end) => gap = end,
            }
            fresh = false;
        }
        self.in_gap(gap, fresh, around)
    }

    fn range(&self, span: Span) -> TextRange {
        span.range().shifted(self.base)
    }

    /// The last element that begins at or before the place.
    fn last_before<T>(&self, all: &'a [T], span: impl Fn(&T) -> Span) -> Option<(usize, &'a T)> {
        let after = all.partition_point(|one| self.range(span(one)).start <= self.offset);
        let at = after.checked_sub(1)?;
        Some((at, all.get(at)?))
    }

    fn in_header(&self, header: &'a Header, range: TextRange) -> Located<'a> {
        let brackets = if header.array { 2 } else { 1 };
        let names = TextRange::new(
            range.start + brackets,
            header
                .keys
                .last()
                .map_or(range.end, |key| self.range(key.span).end),
        );
        let tail = TextRange::new(names.end, range.end).of(self.text);
        let closing = tail.bytes().filter(|&b| b == b']').count();
        let behind = TextRange::new(names.end, self.offset).of(self.text);
        if self.offset < names.start || behind.contains(']') {
            return Located::Nowhere;
        }
        let found = match header.keys.as_slice() {
            [] => Some((0, TextRange::empty(self.offset))),
            keys => self.part_at(keys),
        };
        let Some((index, part)) = found else {
            return Located::Nowhere;
        };
        let before: Vec<&str> = header
            .keys
            .iter()
            .take(index)
            .map(|key| &*key.text)
            .collect();
        let but = header.keys.get(index).map(|key| key.span);
        let given = table::given(self.source, &before, Some(header.span), self.offset, but);
        Located::Header(HeaderAt {
            keys: &header.keys,
            index,
            before,
            part,
            array: header.array,
            range,
            closing: u32::try_from(closing).unwrap_or(0),
            given,
        })
    }

    /// The part of a dotted name that the place is in or at the end of.
    fn part_at(&self, keys: &[Key]) -> Option<(usize, TextRange)> {
        let touched = |key: &Key| self.range(key.span).touches(self.offset);
        if let Some(index) = keys.iter().position(touched) {
            let key = keys.get(index)?;
            return Some((index, self.range(key.span)));
        }
        // A part that is missing: anywhere in the blanks behind its dot.
        let missing = |(index, key): (usize, &Key)| {
            let at = self.range(key.span);
            let blanks = TextRange::new(self.offset.min(at.start), self.offset.max(at.end));
            let empty = at.is_empty() && blanks.of(self.text).trim().is_empty();
            empty.then_some((index, TextRange::empty(self.offset)))
        };
        keys.iter().enumerate().find_map(missing)
    }

    /// The place in an entry; else the end of the entry, from which it is in the gap behind.
    fn in_entry(&self, entry: &'a Entry, around: Around<'_, 'a>) -> Result<Located<'a>, u32> {
        let keys = self.range(entry.key_span());
        if self.offset <= keys.end {
            let Some((index, part)) = self.part_at(&entry.keys) else {
                return Ok(Located::Nowhere);
            };
            return Ok(Located::Key(self.key_at(
                around,
                Some((entry, index)),
                part,
            )));
        }
        let Some(equals) = entry.equals.map(|span| self.range(span)) else {
            return Err(keys.end);
        };
        if self.offset < equals.end {
            return Ok(Located::Nowhere);
        }
        let mut path = around.path.to_vec();
        path.extend(entry.keys.iter().map(|key| &*key.text));
        let kind = kind_of(&path);
        let place = ValueAt {
            path,
            element: None,
            kind,
            value: None,
            range: TextRange::empty(self.offset),
            entry,
            string: None,
        };
        let Some(value) = &entry.value else {
            let gap = TextRange::new(equals.end, self.offset).of(self.text);
            if gap.contains(['\n', ',', '}', ']']) {
                return Err(equals.end);
            }
            if gap.contains('#') {
                return Ok(Located::Comment);
            }
            return Ok(Located::Value(place));
        };
        if self.offset < self.range(value.span).start {
            return Ok(Located::Nowhere);
        }
        self.in_value(value, place)
    }

    /// The place in or behind a value; else the end of the value.
    fn in_value(&self, value: &'a Value, mut place: ValueAt<'a>) -> Result<Located<'a>, u32> {
        let range = self.range(value.span);
        let last = match &value.kind {
            ValueKind::Array(items) => items.last().map(|item| item.span),
            ValueKind::Table(entries) => entries.last().map(|entry| entry.span),
            _ => None,
        };
        let bracketed = matches!(value.kind, ValueKind::Array(_) | ValueKind::Table(_));
        let open = bracketed && !self.is_closed(range, last);
        if self.offset > range.end && !open {
            return Err(range.end);
        }
        let inside = self.offset > range.start && (self.offset < range.end || open);
        place.value = Some(value);
        place.range = range;
        match &value.kind {
            ValueKind::Array(items) if inside => self.in_array(items, range, place, open),
            ValueKind::Table(entries) if inside => self.in_table(entries, range, &place.path, open),
            _ => {
                place.string = StringAt::of(value, self.base, self.text, self.offset);
                Ok(Located::Value(place))
            }
        }
    }

    /// Whether a bracket is closed: the last byte of the value is its closing bracket, not that of
    /// its last child.
    fn is_closed(&self, range: TextRange, last: Option<Span>) -> bool {
        let children = last.map_or(range.start + 1, |span| self.range(span).end);
        children < range.end && range.of(self.text).ends_with([']', '}'])
    }

    fn in_array(
        &self,
        items: &'a [Value],
        range: TextRange,
        mut place: ValueAt<'a>,
        open: bool,
    ) -> Result<Located<'a>, u32> {
        place.kind = place.kind.and_then(element_kind);
        let mut gap = range.start + 1;
        let mut index = 0;
        if let Some((at, item)) = self.last_before(items, |item| item.span) {
            place.element = Some(at);
            match self.in_value(item, place.clone()) {
                Ok(located) => return Ok(located),
                Err(end) => gap = end,
            }
            index = at + 1;
        }
        match self.free(gap, index > 0, open) {
            Free::Comment => Ok(Located::Comment),
            Free::Yes => {
                place.element = Some(index);
                place.value = None;
                place.range = TextRange::empty(self.offset);
                Ok(Located::Value(place))
            }
            Free::No => Ok(Located::Nowhere),
            Free::Outside => Err(gap),
        }
    }

    fn in_table(
        &self,
        entries: &'a [Entry],
        range: TextRange,
        path: &[&'a str],
        open: bool,
    ) -> Result<Located<'a>, u32> {
        let around = Around {
            path,
            inline: Some(entries),
        };
        let mut gap = range.start + 1;
        let before = self.last_before(entries, |entry| entry.span);
        if let Some((_, entry)) = before {
            match self.in_entry(entry, around) {
                Ok(located) => return Ok(located),
                Err(end) => gap = end,
            }
        }
        match self.free(gap, before.is_some(), open) {
            Free::Comment => Ok(Located::Comment),
            Free::Yes => {
                let part = TextRange::empty(self.offset);
                Ok(Located::Key(self.key_at(around, None, part)))
            }
            Free::No => Ok(Located::Nowhere),
            Free::Outside => Err(gap),
        }
    }

    /// Whether a new member may be written here, `gap` being the end of what stands before.
    /// `comma`: only behind one. `open`: the bracket is not closed.
    fn free(&self, gap: u32, comma: bool, open: bool) -> Free {
        let gap = TextRange::new(gap, self.offset).of(self.text);
        let line = gap.rsplit('\n').next().unwrap_or(gap);
        if line.contains('#') {
            return Free::Comment;
        }
        let code = gap.lines().map(|line| line.split('#').next().unwrap_or(""));
        let sign = code.flat_map(str::chars).rfind(|c| !c.is_whitespace());
        match sign {
            Some(',') => {}
            None if !comma => {}
            _ if open && gap.contains('\n') => return Free::Outside,
            _ => return Free::No,
        }
        let after = self.text.get(self.offset as usize..).unwrap_or("");
        let after = after.trim_start_matches([' ', '\t']);
        let nothing_follows = after
            .chars()
            .next()
            .is_none_or(|c| matches!(c, ',' | '}' | ']' | '#' | '\r' | '\n'));
        if nothing_follows { Free::Yes } else { Free::No }
    }

    /// The place between statements; `gap` is where the last one ended, `fresh` where there is
    /// none before it in the text.
    fn in_gap(&self, gap: u32, fresh: bool, around: Around<'_, 'a>) -> Located<'a> {
        let gap = TextRange::new(gap, self.offset).of(self.text);
        let line = gap.rsplit('\n').next().unwrap_or(gap);
        if line.contains('#') {
            return Located::Comment;
        }
        let after = self.text.get(self.offset as usize..).unwrap_or("");
        let after = after.split('\n').next().unwrap_or("").trim();
        let alone = line.trim_start_matches('\u{feff}').trim().is_empty()
            && (after.is_empty() || after.starts_with('#'));
        if !alone || !(fresh || gap.contains('\n')) {
            return Located::Nowhere;
        }
        Located::Key(self.key_at(around, None, TextRange::empty(self.offset)))
    }

    fn key_at(
        &self,
        around: Around<'_, 'a>,
        typed: Option<(&'a Entry, usize)>,
        part: TextRange,
    ) -> KeyAt<'a> {
        let entry = typed.map(|(entry, _)| entry);
        let index = typed.map_or(0, |(_, index)| index);
        let keys: &[Key] = entry.map_or(&[], |entry| &entry.keys);
        let key = keys.get(index);
        let dotted: Vec<&str> = keys.iter().take(index).map(|key| &*key.text).collect();
        let mut path = around.path.to_vec();
        path.extend(&dotted);
        let but = key.map(|key| key.span);
        let given = match around.inline {
            Some(entries) => table::given_inline(entries, &dotted, but),
            None => {
                let header = self.block.header.as_ref().map(|header| header.span);
                table::given(self.source, &path, header, self.offset, but)
            }
        };
        KeyAt {
            table: path,
            dotted: dotted.len(),
            key: key.filter(|key| !key.text.is_empty() || key.quoted),
            part,
            last: index + 1 >= keys.len(),
            entry,
            given,
            inline: around.inline.is_some(),
        }
    }
}

/// Whether a new member may be written at a place.
enum Free {
    Yes,
    No,
    Comment,
    /// The place is behind a bracket that somebody forgot to close.
    Outside,
}
