use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use super::fault::Fault;
use super::tree::Block;
use super::{BlockId, Span, parse};
use crate::TextRange;

/// A parsed text: its blocks, in order, covering it without a gap.
///
/// Cheap to clone. Invariant: `edited` gives the same blocks (names aside) as `parse` of the new
/// text would.
#[derive(Clone, Debug)]
pub struct Document {
    text: Arc<str>,
    blocks: Arc<[(u32, Arc<Block>)]>,
    places: Arc<OnceLock<FxHashMap<BlockId, u32>>>,
    next: u32,
}

impl Document {
    /// Parses a text. It must be shorter than 4 GiB; what lies beyond is not read.
    pub fn parse(text: impl Into<Arc<str>>) -> Self {
        let text: Arc<str> = text.into();
        let mut blocks = Vec::new();
        let (mut start, mut next) = (0usize, 0u32);
        loop {
            let block = parse::block(&text, start, blocks.is_empty(), BlockId(next));
            next += 1;
            let end = start + block.len as usize;
            blocks.push((offset(start), Arc::new(block)));
            if end >= text.len() {
                break;
            }
            start = end;
        }
        Self {
            text,
            blocks: blocks.into(),
            places: Arc::default(),
            next,
        }
    }

    /// The document after one change: the bytes `start..old_end` of this text became
    /// `start..new_end` of `text`. Blocks out of reach of the change are shared.
    pub fn edited(
        &self,
        text: impl Into<Arc<str>>,
        start: u32,
        old_end: u32,
        new_end: u32,
    ) -> Self {
        let text: Arc<str> = text.into();
        let touched =
            |&(at, ref block): &(u32, Arc<Block>)| at.saturating_add(block.reach) >= start;
        let first = self.blocks.iter().position(touched).unwrap_or(0);
        let mut blocks: Vec<(u32, Arc<Block>)> =
            self.blocks.get(..first).unwrap_or_default().to_vec();
        let mut at = self.blocks.get(first).map_or(0, |&(at, _)| at) as usize;
        let mut next = self.next;
        let mut old = first;
        loop {
            let block = parse::block(&text, at, blocks.is_empty(), BlockId(next));
            next = next.wrapping_add(1);
            let end = at + block.len as usize;
            blocks.push((offset(at), Arc::new(block)));
            if end >= text.len() {
                break;
            }
            at = end;
            // Behind the change a block that begins where one began before is that block.
            if offset(at) >= new_end {
                let before = offset(at) - new_end + old_end;
                while self
                    .blocks
                    .get(old)
                    .is_some_and(|&(start, _)| start < before)
                {
                    old += 1;
                }
                // At the very start other rules hold: the root block has no header, and a byte order
                // mark is allowed. A block that moves there or away is parsed anew.
                if old > 0
                    && at > 0
                    && before > 0
                    && self
                        .blocks
                        .get(old)
                        .is_some_and(|&(start, _)| start == before)
                {
                    let rest = self.blocks.get(old..).unwrap_or_default();
                    blocks.extend(
                        rest.iter()
                            .map(|(at, block)| (at - old_end + new_end, Arc::clone(block))),
                    );
                    break;
                }
            }
        }
        Self {
            text,
            blocks: blocks.into(),
            places: Arc::default(),
            next,
        }
    }

    /// The text.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The blocks with the byte each starts at, in order. Never empty; the first has no header.
    pub fn blocks(&self) -> &[(u32, Arc<Block>)] {
        &self.blocks
    }

    /// The block that `offset` (bytes) lies in, and where it starts. At a border: the later one,
    /// except that an offset at the end of the text lies in the last block.
    pub fn block_at(&self, offset: u32) -> (u32, &Arc<Block>) {
        let after = self.blocks.partition_point(|&(start, _)| start <= offset);
        // Blocks are never empty of elements and the first one starts at 0.
        match self.blocks.get(after.saturating_sub(1)) {
            Some((start, block)) => (*start, block),
            None => unreachable!("a document has at least one block"),
        }
    }

    /// The absolute range of a span. A span of another document gives an empty range at 0.
    pub fn resolve(&self, span: Span) -> TextRange {
        let places = self.places.get_or_init(|| {
            let ids = self.blocks.iter().enumerate();
            ids.map(|(i, (_, block))| (block.id, u32::try_from(i).unwrap_or(u32::MAX)))
                .collect()
        });
        let place = places
            .get(&span.block)
            .and_then(|&i| self.blocks.get(i as usize));
        place.map_or(TextRange::default(), |&(start, _)| {
            span.range().shifted(start)
        })
    }

    /// The text of a span.
    pub fn slice(&self, span: Span) -> &str {
        self.resolve(span).of(&self.text)
    }

    /// The span of an absolute range, within the block its start lies in.
    pub fn span_of(&self, range: TextRange) -> Span {
        let (start, block) = self.block_at(range.start);
        Span {
            block: block.id,
            start: range.start - start,
            end: range.end.max(range.start) - start,
        }
    }

    /// The faults of grammar, in document order. Faults of keys that clash between blocks are
    /// those of the [`super::Units`].
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.blocks.iter().flat_map(|(_, block)| &block.faults)
    }
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
