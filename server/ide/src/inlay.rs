//! Inlay hints: the status of an adapter behind its header.

use kontext_config::status::{AdapterStatus, Status};
use kontext_syntax::TextRange;

use crate::doc::{Doc, Line};
use crate::scene::Scene;
use crate::snapshot::{File, Snapshot};

/// A text shown behind a place, not part of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlayHint {
    /// Where it stands (bytes): behind the header's last bracket.
    pub offset: u32,
    /// What is shown.
    pub label: String,
    /// All reasons, as Markdown; `None` where there is nothing to add.
    pub tooltip: Option<String>,
}

/// The longest label, in characters.
const MAX_LABEL: usize = 80;

/// The hints of a file whose place lies in `range` (bytes), in order. Of the file itself only the
/// blocks in the range are looked at.
pub fn hints(snapshot: &Snapshot, file: &File, range: TextRange) -> Vec<InlayHint> {
    let document = &file.source.document;
    let blocks = document.blocks();
    let first = blocks
        .partition_point(|(start, _)| *start <= range.start)
        .saturating_sub(1);
    let mut scene = None;
    let mut hints = Vec::new();
    for (start, block) in blocks.get(first..).unwrap_or_default() {
        if *start > range.end {
            break;
        }
        let Some(header) = &block.header else {
            continue;
        };
        let [top, name] = header.keys.as_slice() else {
            continue;
        };
        let offset = start + header.span.end;
        if header.array || &*top.text != "adapters" || !range.touches(offset) {
            continue;
        }
        let scene = scene.get_or_insert_with(|| Scene::of(snapshot, file));
        if let Some(status) = scene.status(&name.text) {
            hints.push(hint(offset, &status));
        }
    }
    hints
}

fn hint(offset: u32, status: &AdapterStatus) -> InlayHint {
    let mut label = status.status.name().to_owned();
    if let (Some(reason), true) = (status.reasons.first(), says_why(status.status)) {
        label.push_str(": ");
        label.push_str(reason);
        if let more @ 1.. = status.reasons.len() - 1 {
            label = format!("{} (+{more})", cut(&label, MAX_LABEL - 8));
        }
    }
    let mut tooltip = Doc::default();
    tooltip.list(
        status
            .reasons
            .iter()
            .map(|reason| Line::of(reason.as_str())),
    );
    InlayHint {
        offset,
        label: cut(&label, MAX_LABEL),
        tooltip: (!status.reasons.is_empty()).then(|| tooltip.markdown()),
    }
}

/// Whether the label names a reason; `disabled` and `untrusted` say it all by themselves.
fn says_why(status: Status) -> bool {
    matches!(status, Status::Inactive | Status::Invalid)
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(most - 1).collect();
    cut.push('…');
    cut
}
