//! What the checks need to know of an adapter as a whole, over all layers: its driver, its ops,
//! and which names their templates may use.

use std::collections::{BTreeMap, BTreeSet};

use kontext_config::layer::LayerKind;
use kontext_config::schema::{self, Driver, InputSpec};
use kontext_syntax::toml::Node;

use super::context::{Context, Peer, field};

/// The names a template may use besides the roots.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inputs<'a> {
    /// Described inputs.
    pub(crate) known: Vec<&'static InputSpec>,
    /// Parameters of declared tools, which are also found below `args`.
    pub(crate) params: BTreeSet<&'a str>,
    /// Names cannot be known (the fields of an item): anything goes.
    pub(crate) any: bool,
}

impl Inputs<'_> {
    /// Whether a path that begins with these segments names an input. Inputs with a dotted name
    /// (`source.repo`) are found by their first segment too.
    pub(crate) fn has(&self, first: &str) -> bool {
        self.any
            || self.params.contains(first)
            || (first == "args" && !self.params.is_empty())
            || self
                .known
                .iter()
                .any(|input| input.name.split('.').next() == Some(first))
    }

    /// All names, for messages and suggestions; first segments only.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .known
            .iter()
            .filter_map(|input| input.name.split('.').next())
            .collect();
        names.extend(self.params.iter().copied());
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(*name));
        names
    }

    fn add(&mut self, more: &Inputs<'_>) {
        for input in &more.known {
            if !self.known.iter().any(|known| known.name == input.name) {
                self.known.push(input);
            }
        }
        self.any |= more.any;
    }
}

/// What is known of an adapter, all layers together.
#[derive(Debug, Default)]
pub(crate) struct AdapterShape<'a> {
    /// The driver this layer's fields are judged by: its own, else that of the layers below, else
    /// that of the layers above.
    pub(crate) driver: Option<Driver>,
    /// Whether any layer gives a driver, valid or not.
    pub(crate) has_driver: bool,
    /// The ops of all layers by name, each with the nodes that define it.
    pub(crate) ops: BTreeMap<&'a str, Vec<&'a Node>>,
    /// Whether a layer's `ops` is no table, so that not all ops are known.
    pub(crate) unclear_ops: bool,
    /// Whether an entry of `on` or `tools` does not say its op yet, so that not all callers are
    /// known.
    pub(crate) unclear_callers: bool,
    /// Ops that events are delivered to.
    pub(crate) delivered: BTreeSet<&'a str>,
    /// Ops that declared tools call, with the parameters of those tools.
    pub(crate) called: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> AdapterShape<'a> {
    /// Gathers it from the unit and its peers.
    pub(crate) fn of(context: &'a Context<'a>) -> Self {
        let mut shape = Self::default();
        for (_, node) in context.nodes() {
            shape.has_driver |= field(node, "driver").is_some();
            shape.ops_of(node);
        }
        shape.driver = Self::driver_of(context);
        shape
    }

    fn driver_of(context: &Context<'a>) -> Option<Driver> {
        let driver = |node: &Node| field(node, "driver")?.as_str().and_then(Driver::parse);
        let of_peer = |peer: &Peer<'_>| driver(&peer.unit.item.node);
        let is_below = |peer: &&Peer<'_>| Some(peer.layer) < context.layer;
        // A repository that nobody trusts does not change what a personal file is judged by.
        let counts = |peer: &&Peer<'_>| context.trusted || peer.layer != LayerKind::Shared;
        let peers = || context.peers.iter();
        driver(&context.unit.item.node)
            .or_else(|| {
                peers()
                    .rev()
                    .filter(is_below)
                    .filter(counts)
                    .find_map(of_peer)
            })
            .or_else(|| {
                peers()
                    .filter(|peer| !is_below(peer))
                    .filter(counts)
                    .find_map(of_peer)
            })
            .or_else(|| peers().find_map(of_peer))
    }

    fn ops_of(&mut self, node: &'a Node) {
        if let Some(ops) = field(node, "ops") {
            self.unclear_ops |= ops.as_table().is_none();
            let items = ops.as_table().into_iter().flat_map(|table| &table.items);
            for (name, item) in items {
                self.ops.entry(name).or_default().push(&item.node);
            }
        }
        for (list, is_tool) in [("on", false), ("tools", true)] {
            let Some(node) = field(node, list) else {
                continue;
            };
            let Some(elements) = node.as_array() else {
                self.unclear_callers = true;
                continue;
            };
            for element in elements {
                let op = field(element, "op");
                match op.and_then(Node::as_str) {
                    Some(op) if is_tool => {
                        self.called.entry(op).or_default().extend(params(element));
                    }
                    Some(op) => {
                        self.delivered.insert(op);
                    }
                    None => self.unclear_callers |= op.is_none_or(|op| op.as_table().is_none()),
                }
            }
        }
    }

    /// What the templates of an op see.
    pub(crate) fn inputs_of(&self, op: &str) -> Inputs<'a> {
        let mut inputs = Inputs {
            known: schema::inputs_of(op).iter().collect(),
            ..Inputs::default()
        };
        if self.delivered.contains(op) {
            inputs.add(&Inputs {
                known: schema::EVENT_INPUTS.iter().collect(),
                ..Inputs::default()
            });
        }
        if let Some(params) = self.called.get(op) {
            inputs.params.extend(params);
        }
        let writes_file = |node: &&Node| field(node, "output_file").is_some();
        if self.driver == Some(Driver::Command)
            && self
                .ops
                .get(op)
                .is_some_and(|nodes| nodes.iter().any(writes_file))
        {
            inputs.known.push(&schema::OUTPUT_FILE);
        }
        inputs
    }

    /// What the templates of the adapter itself see: nothing for a long-lived server, else the
    /// inputs of any of its ops.
    pub(crate) fn inputs_of_adapter(&self) -> Inputs<'a> {
        let mut inputs = Inputs::default();
        if self.driver == Some(Driver::Mcp) {
            return inputs;
        }
        if self.ops.is_empty() {
            // Which op will be called is open yet: the inputs of any.
            inputs.known = schema::OPS.iter().flat_map(|op| op.inputs).collect();
            return inputs;
        }
        for op in self.ops.keys() {
            let more = self.inputs_of(op);
            inputs.add(&more);
            inputs.params.extend(more.params);
        }
        inputs
    }
}

/// The parameters of a declared tool, in either form of `params`.
pub(crate) fn params(tool: &Node) -> impl Iterator<Item = &str> {
    let params = field(tool, "params");
    let is_schema = params.is_some_and(is_json_schema);
    let table = if is_schema {
        params.and_then(|node| field(node, "properties"))
    } else {
        params
    };
    table
        .and_then(Node::as_table)
        .into_iter()
        .flat_map(|table| table.items.keys().map(|name| &**name))
}

/// Whether `params` is a whole JSON Schema: its `type` is `"object"`, or it has `properties` or
/// `$ref` (adapters.md section 8).
pub(crate) fn is_json_schema(params: &Node) -> bool {
    field(params, "type").and_then(Node::as_str) == Some("object")
        || field(params, "properties").is_some_and(|node| node.as_table().is_some())
        || field(params, "$ref").is_some()
}
