//! Faults of the grammar, and keys that clash.

use kontext_config::codes::Code;
use kontext_syntax::toml::{Document, Fault, FaultKind, Unit};

use crate::finding::{Finding, Place, Related};

/// The faults of a document's text.
pub(super) fn faults(document: &Document) -> Vec<Finding> {
    document
        .faults()
        .map(|fault| finding(document, fault))
        .collect()
}

/// Keys and tables of a unit that are written twice.
pub(super) fn clashes(unit: &Unit) -> Vec<Finding> {
    unit.faults.iter().map(plain).collect()
}

fn finding(document: &Document, fault: &Fault) -> Finding {
    let mut finding = plain(fault);
    if fault.kind == FaultKind::Json {
        super::super::foreign::describe(document, fault.span, &mut finding);
    }
    if fault.kind == FaultKind::BomInside && document.slice(fault.span) == "\u{feff}" {
        finding.fix(
            "Remove the byte order mark",
            vec![(fault.span, String::new())],
        );
    }
    finding
}

fn plain(fault: &Fault) -> Finding {
    let code = match fault.kind {
        FaultKind::Syntax => Code::TomlSyntax,
        FaultKind::InvalidEscape => Code::InvalidEscape,
        FaultKind::BomInside => Code::BomInside,
        FaultKind::DuplicateKey => Code::DuplicateKey,
        FaultKind::TableConflict => Code::TableConflict,
        FaultKind::TooDeep => Code::TooDeep,
        FaultKind::Json => Code::JsonPasted,
    };
    let related = fault.related.map(|(span, message)| Related {
        place: Place::Here(span),
        message: message.to_owned(),
    });
    Finding {
        code,
        span: fault.span,
        message: fault.message.clone(),
        related: related.into_iter().collect(),
        fix: None,
    }
}
