//! What the checks of one unit share: what they look at, and where findings go.

use std::collections::BTreeSet;
use std::path::Path;

use kontext_config::codes::Code;
use kontext_config::layer::LayerKind;
use kontext_config::schema::Driver;
use kontext_syntax::toml::{Document, Node, Span, Unit};

use super::shape::{AdapterShape, Inputs};
use crate::finding::{Finding, Fix, Place, Related};

/// The same adapter in another layer.
#[derive(Clone, Copy)]
pub(crate) struct Peer<'a> {
    /// Which layer.
    pub(crate) layer: LayerKind,
    /// The file of the layer.
    pub(crate) path: &'a Path,
    /// What it says about the adapter.
    pub(crate) unit: &'a Unit,
}

/// Everything the checks of a unit may look at.
pub(crate) struct Context<'a> {
    /// The document the unit belongs to.
    pub(crate) document: &'a Document,
    /// The unit.
    pub(crate) unit: &'a Unit,
    /// Which layer the document is; `None` for one that is checked alone.
    pub(crate) layer: Option<LayerKind>,
    /// The same adapter in the other layers, ascending.
    pub(crate) peers: Vec<Peer<'a>>,
    /// Whether the shared layer is in force.
    pub(crate) trusted: bool,
    /// Names in the top-level `[vars]` of all layers.
    pub(crate) vars: &'a BTreeSet<String>,
    /// Names of all adapters of all layers. Empty for units other than `[companion]`: nothing
    /// else may look at them, so that a new adapter leaves all others as they are.
    pub(crate) adapters: &'a BTreeSet<String>,
}

impl<'a> Context<'a> {
    /// What each layer says about the adapter, this one included, lowest first.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (Option<LayerKind>, &'a Node)> {
        let is_below = |peer: &&Peer<'a>| Some(peer.layer) < self.layer;
        let node = |peer: &Peer<'a>| (Some(peer.layer), &peer.unit.item.node);
        let below = self.peers.iter().filter(is_below).map(node);
        let above = self
            .peers
            .iter()
            .filter(move |peer| !is_below(peer))
            .map(node);
        below
            .chain([(self.layer, &self.unit.item.node)])
            .chain(above)
    }
}

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

/// The value of a field of a table node.
pub(crate) fn field<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    node.get(name).map(|item| &item.node)
}
