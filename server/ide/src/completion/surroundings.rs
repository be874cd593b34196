//! The adapter around a place, all layers together, and the workspace around its file.

use std::sync::Arc;

use kontext_config::schema::{self, Driver, EVENT_INPUTS, InputSpec, OUTPUT_FILE};
use kontext_config::source::Source;
use kontext_config::stack::Stack;
use kontext_syntax::toml::{Node, Unit};

use crate::snapshot::{File, Snapshot, Workspace};

/// What lies around a place.
pub(super) struct Surroundings<'a> {
    /// The source of the file.
    pub(super) source: &'a Source,
    /// The workspace of the file.
    pub(super) workspace: Option<&'a Workspace>,
    /// The layers around the file, where it is one.
    stack: Option<&'a Stack>,
    /// What each layer writes about the adapter: this file first, then the others from the top.
    adapter: Vec<&'a Node>,
    /// The driver of the adapter.
    pub(super) driver: Option<Driver>,
}

/// A name a template may use, and the op whose input it is.
#[derive(Clone, Copy)]
pub(super) enum Input<'a> {
    /// A described input.
    Known(&'static InputSpec),
    /// A parameter of a declared tool.
    Parameter(&'a str),
}

impl<'a> Input<'a> {
    /// The name, dotted where it lies in a table.
    pub(super) fn name(self) -> &'a str {
        match self {
            Self::Known(input) => input.name,
            Self::Parameter(name) => name,
        }
    }
}

impl<'a> Surroundings<'a> {
    /// What lies around a path from the top of the file.
    pub(super) fn of(snapshot: &'a Snapshot, file: &'a File, path: &[&str]) -> Self {
        let workspace = snapshot.workspace_of(file).map(|found| &**found);
        let stack = workspace
            .filter(|_| !file.roles.is_empty())
            .map(|workspace| &*workspace.stack);
        let adapter: Vec<&Node> = match path {
            ["adapters", name, ..] => {
                let own = unit_of(&file.source, name).and_then(|unit| node_in(unit, name));
                let layers = stack.map_or_else(Vec::new, |stack| stack.adapter_layers(name));
                let others = layers.into_iter().rev().filter_map(|(at, unit)| {
                    let layer = stack?.layers.get(at)?.source.as_ref()?;
                    let same = Arc::ptr_eq(layer, &file.source);
                    if same { None } else { node_in(unit, name) }
                });
                own.into_iter().chain(others).collect()
            }
            _ => Vec::new(),
        };
        let driver = |node: &&Node| Driver::parse(node.get("driver")?.node.as_str()?);
        Self {
            source: &file.source,
            workspace,
            stack,
            driver: adapter.iter().find_map(driver),
            adapter,
        }
    }

    /// Whether any layer gives the adapter this field.
    pub(super) fn has(&self, field: &str) -> bool {
        self.adapter.iter().any(|node| node.get(field).is_some())
    }

    /// The sources of all layers, this file's first.
    pub(super) fn sources(&self) -> impl Iterator<Item = &'a Source> {
        let own = self.source;
        let layers = self.stack.map_or(&[][..], |stack| &stack.layers);
        let others = layers.iter().filter_map(|layer| layer.source.as_deref());
        std::iter::once(own).chain(others.filter(move |other| !std::ptr::eq(*other, own)))
    }

    /// The members of a table field of the adapter over all layers, each once.
    pub(super) fn members(&self, field: &str) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for node in &self.adapter {
            let table = node.get(field).and_then(|item| item.node.as_table());
            for name in table.into_iter().flat_map(|table| table.items.keys()) {
                if !names.contains(&&**name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// The ops that `on` and `tools` name.
    pub(super) fn named_ops(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self
            .elements("on")
            .chain(self.elements("tools"))
            .filter_map(|node| node.get("op")?.node.as_str())
        {
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn elements(&self, field: &'static str) -> impl Iterator<Item = &'a Node> {
        self.adapter
            .iter()
            .filter_map(move |node| node.get(field)?.node.as_array())
            .flatten()
    }

    /// What the templates of an op see besides the roots.
    pub(super) fn inputs_of(&self, op: &str) -> Vec<Input<'a>> {
        let mut inputs: Vec<Input<'a>> = Vec::new();
        add(&mut inputs, schema::inputs_of(op).iter().map(Input::Known));
        let names_op = |node: &&Node| {
            let named = node.get("op").and_then(|item| item.node.as_str());
            named == Some(op)
        };
        if self.elements("on").any(|node| names_op(&node)) {
            add(&mut inputs, EVENT_INPUTS.iter().map(Input::Known));
        }
        for tool in self.elements("tools").filter(names_op) {
            add(&mut inputs, params(tool).map(Input::Parameter));
        }
        let writes_file = |node: &&Node| {
            let op = node.get("ops").and_then(|ops| ops.node.get(op));
            op.is_some_and(|op| op.node.get("output_file").is_some())
        };
        if self.driver == Some(Driver::Command) && self.adapter.iter().any(writes_file) {
            add(&mut inputs, [Input::Known(&OUTPUT_FILE)]);
        }
        inputs
    }

    /// What the templates of a tool's inline op see: its parameters; those of every such tool
    /// where it cannot be told which one it is.
    pub(super) fn inputs_of_tool(&self, tool: Option<&'a Node>) -> Vec<Input<'a>> {
        let mut inputs = Vec::new();
        let inline = |node: &&Node| {
            node.get("op")
                .is_some_and(|op| op.node.as_table().is_some())
        };
        match tool {
            Some(tool) => add(&mut inputs, params(tool).map(Input::Parameter)),
            None => {
                for tool in self.elements("tools").filter(inline) {
                    add(&mut inputs, params(tool).map(Input::Parameter));
                }
            }
        }
        inputs
    }

    /// What the templates of the adapter's own fields see: nothing for a long-lived server, else
    /// the inputs of any of its ops.
    pub(super) fn inputs_of_adapter(&self) -> Vec<Input<'a>> {
        let mut inputs = Vec::new();
        if self.driver != Some(Driver::Mcp) {
            for op in self.members("ops") {
                add(&mut inputs, self.inputs_of(op));
            }
        }
        inputs
    }

    /// The names of the global variables, and of the adapter's own ones.
    pub(super) fn vars(&self) -> Vec<&'a str> {
        let mut names = self.members("vars");
        for source in self.sources() {
            let unit = source.units.top("vars");
            let table = unit.and_then(|unit| unit.item.node.as_table());
            for name in table.into_iter().flat_map(|table| table.items.keys()) {
                if !names.contains(&&**name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// The names of the variables of the environment, sorted. Never their values.
    pub(super) fn env_names(&self) -> impl Iterator<Item = &'a str> {
        let facts = self.workspace.map(|workspace| &workspace.facts);
        facts.into_iter().flat_map(|facts| facts.env.names())
    }
}

fn add<'a>(inputs: &mut Vec<Input<'a>>, more: impl IntoIterator<Item = Input<'a>>) {
    for input in more {
        if !inputs.iter().any(|known| known.name() == input.name()) {
            inputs.push(input);
        }
    }
}

fn unit_of<'a>(source: &'a Source, name: &str) -> Option<&'a Arc<Unit>> {
    let units = &source.units;
    units
        .named("adapters", name)
        .or_else(|| units.top("adapters"))
}

/// What a unit says about the adapter: the unit is the adapter, or the table of all of them.
fn node_in<'a>(unit: &'a Unit, name: &str) -> Option<&'a Node> {
    match unit.key.name {
        Some(_) => Some(&unit.item.node),
        None => Some(&unit.item.node.get(name)?.node),
    }
}

/// The parameters of a declared tool, in either form of `params` (adapters.md section 8).
fn params(tool: &Node) -> impl Iterator<Item = &str> {
    let params = tool.get("params").map(|item| &item.node);
    let below = |name: &str| {
        params
            .and_then(|node| node.get(name))
            .map(|item| &item.node)
    };
    let is_schema = below("type").and_then(Node::as_str) == Some("object")
        || below("properties").is_some_and(|node| node.as_table().is_some())
        || below("$ref").is_some();
    let table = if is_schema {
        below("properties")
    } else {
        params
    };
    table
        .and_then(Node::as_table)
        .into_iter()
        .flat_map(|table| table.items.keys().map(|name| &**name))
}
