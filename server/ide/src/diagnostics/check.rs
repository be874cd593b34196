//! What the checks of one unit share: what they look at, and where findings go.

use kontext_config::codes::Code;
use kontext_config::schema::Driver;
use kontext_syntax::toml::Span;

use super::context::{Context, Peer};
use super::shape::{AdapterShape, Inputs};
use crate::finding::{Finding, Fix, Place, Related};

/// Checks of one unit under way.
pub(crate) struct Check<'a> {
    pub(crate) context: &'a Context<'a>,
    /// What is known of the adapter as a whole, all layers together; empty for other units.
    pub(crate) shape: &'a AdapterShape<'a>,
    /// What the templates at the current place may name besides the roots.
    pub(crate) inputs: Inputs<'a>,
    /// The driver of the adapter, where it is known.
    pub(crate) driver: Option<Driver>,
    /// The keys from the unit's own name down to the current place (elements of arrays have
    /// none).
    pub(crate) path: Vec<&'a str>,
    pub(crate) findings: Vec<Finding>,
}

impl<'a> Check<'a> {
    /// Reports a fault.
    pub(crate) fn report(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Finding {
        self.findings.push(Finding {
            code,
            span,
            message: message.into(),
            related: Vec::new(),
            fix: None,
        });
        // Just pushed.
        let last = self.findings.len() - 1;
        #[expect(
            clippy::indexing_slicing,
            reason = "the index of what was pushed above"
        )]
        &mut self.findings[last]
    }

    /// The text of a span of the unit's document.
    pub(crate) fn source(&self, span: Span) -> &'a str {
        self.context.document.slice(span)
    }
}

impl Finding {
    /// Adds the edit that puts it right.
    pub(crate) fn fix(
        &mut self,
        title: impl Into<String>,
        edits: Vec<(Span, String)>,
    ) -> &mut Self {
        self.fix = Some(Fix {
            title: title.into(),
            edits,
        });
        self
    }

    /// Adds another place in the same file.
    pub(crate) fn related(&mut self, span: Span, message: impl Into<String>) -> &mut Self {
        self.related.push(Related {
            place: Place::Here(span),
            message: message.into(),
        });
        self
    }

    /// Adds a place in the file of another layer.
    pub(crate) fn related_in(
        &mut self,
        peer: &Peer<'_>,
        span: Span,
        message: impl Into<String>,
    ) -> &mut Self {
        let place = Place::There(peer.path.to_owned(), span);
        self.related.push(Related {
            place,
            message: message.into(),
        });
        self
    }
}
