//! What the checks of one unit may look at.

use std::collections::BTreeSet;
use std::path::Path;

use kontext_config::layer::LayerKind;
use kontext_syntax::toml::{Document, Node, Unit};

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

/// The value of a field of a table node.
pub(crate) fn field<'a>(node: &'a Node, name: &str) -> Option<&'a Node> {
    node.get(name).map(|item| &item.node)
}
