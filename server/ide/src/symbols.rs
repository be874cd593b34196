//! Document symbols: the adapters with what they are made of, and the other top-level tables.
//!
//! One walk over the statements of the document. A symbol covers the statements that follow each
//! other without a gap; where a table is written in several places it is several symbols. That
//! keeps ranges nested and apart, as clients want them.

use kontext_config::source::Source;
use kontext_syntax::TextRange;
use kontext_syntax::toml::{Block, Entry, Key, Value, ValueKind};

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// `[adapters.NAME]`.
    Adapter,
    /// The conditions of an adapter.
    When,
    /// All variables, or all ops, of an adapter.
    Group,
    /// One variable.
    Variable,
    /// One op.
    Op,
    /// A subscription to an event.
    Event,
    /// A declared tool.
    Tool,
    /// Another top-level table.
    Table,
}

/// One entry of the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, never empty.
    pub name: String,
    /// More about it: the driver of an adapter, the tool of an op, the op of a subscription.
    pub detail: Option<String>,
    /// What it is.
    pub kind: SymbolKind,
    /// Bytes of everything that belongs to it here.
    pub range: TextRange,
    /// Bytes of its name; inside `range`.
    pub selection: TextRange,
    /// What lies in it, in the order of the text; inside `range`, without overlap.
    pub children: Vec<Self>,
}

/// The outline of a document, in the order of the text. Takes time linear in the document.
pub fn symbols(source: &Source) -> Vec<Symbol> {
    let mut outline = Outline {
        source,
        open: Vec::new(),
        done: Vec::new(),
    };
    for (start, block) in source.document.blocks() {
        outline.block(*start, block);
    }
    outline.close(0);
    outline.done
}

/// One step of a key path.
#[derive(Clone, Copy)]
struct Step<'a> {
    text: &'a str,
    range: TextRange,
    /// A new element of an array of tables begins with this statement.
    fresh: bool,
}

struct Open<'a> {
    key: &'a str,
    symbol: Symbol,
}

struct Outline<'a> {
    source: &'a Source,
    /// The symbols that the last statement belongs to, outermost first.
    open: Vec<Open<'a>>,
    done: Vec<Symbol>,
}

/// The steps of a path that are symbols, by their place in the path.
fn kinds(path: &[Step<'_>]) -> impl Iterator<Item = (usize, SymbolKind)> {
    let text = |at: usize| path.get(at).map(|step| step.text);
    let kinds = match text(0) {
        Some("adapters") => {
            let (below, inner) = match text(2) {
                Some("when") => (Some(SymbolKind::When), None),
                Some("vars") => (Some(SymbolKind::Group), Some(SymbolKind::Variable)),
                Some("ops") => (Some(SymbolKind::Group), Some(SymbolKind::Op)),
                Some("on") => (Some(SymbolKind::Event), None),
                Some("tools") => (Some(SymbolKind::Tool), None),
                _ => (None, None),
            };
            [None, Some(SymbolKind::Adapter), below, inner]
        }
        Some("vars") => [
            Some(SymbolKind::Table),
            Some(SymbolKind::Variable),
            None,
            None,
        ],
        _ => [Some(SymbolKind::Table), None, None, None],
    };
    kinds
        .into_iter()
        .enumerate()
        .take(path.len())
        .filter_map(|(at, kind)| Some((at, kind?)))
}

impl<'a> Outline<'a> {
    fn block(&mut self, start: u32, block: &'a Block) {
        let mut path = Vec::new();
        if let Some(header) = &block.header {
            push(&mut path, start, &header.keys);
            if let (true, Some(last)) = (header.array, path.last_mut()) {
                last.fresh = true;
            }
            self.statement(&path, header.span.range().shifted(start));
            if let Some(last) = path.last_mut() {
                last.fresh = false;
            }
        }
        // Below a header most entries begin nothing: they only belong to what it has opened.
        let opened = self.open.len();
        let may_open = opens_below(&path);
        for entry in &block.entries {
            let plain = match entry.value.as_ref().map(|value| &value.kind) {
                Some(ValueKind::Table(_) | ValueKind::Array(_)) => false,
                _ => entry.keys.len() == 1,
            };
            if opened > 0 && (!may_open || plain && !may_open_leaf(&path)) {
                self.close(opened);
                self.extend(entry.span.range().shifted(start));
                if entry.keys.len() == 1 {
                    push(&mut path, start, &entry.keys);
                    self.label(&path, entry);
                    path.pop();
                }
            } else {
                self.entry(&mut path, start, entry);
            }
        }
    }

    fn entry(&mut self, path: &mut Vec<Step<'a>>, start: u32, entry: &'a Entry) {
        let above = path.len();
        push(path, start, &entry.keys);
        let range = entry.span.range().shifted(start);
        let elements = match entry.value.as_ref().map(|value| &value.kind) {
            Some(ValueKind::Array(values)) if is_list(path) => Some(values),
            _ => None,
        };
        match elements {
            Some(values) => {
                // The list itself is no symbol, its elements are.
                let outer = path.len() - 1;
                self.statement(path.get(..outer).unwrap_or_default(), range);
                for value in values {
                    self.element(path, start, value);
                }
            }
            None => {
                self.statement(path, range);
                self.label(path, entry);
                if let Some(Value {
                    kind: ValueKind::Table(entries),
                    ..
                }) = &entry.value
                    && path.len() < 4
                {
                    for entry in entries {
                        self.entry(path, start, entry);
                    }
                }
            }
        }
        path.truncate(above);
    }

    fn element(&mut self, path: &mut Vec<Step<'a>>, start: u32, value: &'a Value) {
        let ValueKind::Table(entries) = &value.kind else {
            return;
        };
        let range = value.span.range().shifted(start);
        let Some(last) = path.last_mut() else { return };
        let key = std::mem::replace(
            last,
            Step {
                text: last.text,
                range,
                fresh: true,
            },
        );
        self.statement(path, range);
        if let Some(last) = path.last_mut() {
            last.fresh = false;
        }
        for entry in entries {
            self.entry(path, start, entry);
        }
        if let Some(last) = path.last_mut() {
            *last = key;
        }
    }

    /// Takes in a statement: opens the symbols it begins and closes those it ends.
    fn statement(&mut self, path: &[Step<'a>], range: TextRange) {
        let mut depth = 0;
        let mut fresh = kinds(path).peekable();
        while let Some(&(at, _)) = fresh.peek() {
            let (Some(step), Some(open)) = (path.get(at), self.open.get(depth)) else {
                break;
            };
            if step.fresh || open.key != step.text {
                break;
            }
            fresh.next();
            depth += 1;
        }
        self.close(depth);
        for (at, kind) in fresh {
            let Some(step) = path.get(at) else { break };
            let symbol = Symbol {
                name: if step.text.is_empty() {
                    "\"\"".to_owned()
                } else {
                    step.text.to_owned()
                },
                detail: (kind == SymbolKind::Adapter)
                    .then(|| self.driver(step.text))
                    .flatten(),
                kind,
                range,
                selection: if range.contains(step.range) {
                    step.range
                } else {
                    range
                },
                children: Vec::new(),
            };
            self.open.push(Open {
                key: step.text,
                symbol,
            });
        }
        self.extend(range);
    }

    /// Lets the innermost symbol reach to the end of `range`; those around it learn of it when it
    /// is closed.
    fn extend(&mut self, range: TextRange) {
        if let Some(open) = self.open.last_mut() {
            open.symbol.range = open.symbol.range.cover(range);
        }
    }

    /// What an entry says about the symbol it stands in.
    fn label(&mut self, path: &[Step<'a>], entry: &Entry) {
        let Some(Value {
            kind: ValueKind::String(text),
            ..
        }) = &entry.value
        else {
            return;
        };
        let (Some(open), Some(field)) = (self.open.last_mut(), path.last()) else {
            return;
        };
        let symbol = &mut open.symbol;
        let depth = match symbol.kind {
            SymbolKind::Event | SymbolKind::Tool => 4,
            SymbolKind::Op => 5,
            _ => return,
        };
        if path.len() != depth || text.value.is_empty() {
            return;
        }
        match (symbol.kind, field.text) {
            (SymbolKind::Event, "event") | (SymbolKind::Tool, "name") => {
                symbol.name = text.value.to_string();
            }
            (SymbolKind::Event, "op") | (SymbolKind::Op, "tool") => {
                symbol.detail = Some(text.value.to_string());
            }
            _ => {}
        }
    }

    fn driver(&self, adapter: &str) -> Option<String> {
        let unit = self.source.units.named("adapters", adapter)?;
        unit.item
            .node
            .get("driver")?
            .node
            .as_str()
            .map(str::to_owned)
    }

    /// Closes all but the outermost `depth` symbols.
    fn close(&mut self, depth: usize) {
        while self.open.len() > depth {
            let Some(closed) = self.open.pop() else { break };
            let siblings = match self.open.last_mut() {
                Some(parent) => {
                    parent.symbol.range = parent.symbol.range.cover(closed.symbol.range);
                    &mut parent.symbol.children
                }
                None => &mut self.done,
            };
            siblings.push(closed.symbol);
        }
    }
}

/// Whether anything below the table at a path is a symbol.
fn opens_below(path: &[Step<'_>]) -> bool {
    match path.first().map(|step| step.text) {
        Some("adapters") => path.len() < 4,
        Some("vars") => path.len() < 2,
        Some(_) => false,
        None => true,
    }
}

/// Whether a key with a plain value, right in the table at a path, is a symbol.
fn may_open_leaf(path: &[Step<'_>]) -> bool {
    match path {
        [top] => matches!(top.text, "adapters" | "vars"),
        [_, _] => false,
        [top, _, group] => top.text == "adapters" && matches!(group.text, "vars" | "ops"),
        _ => path.is_empty(),
    }
}

/// Whether the path leads to `on` or `tools` of an adapter.
fn is_list(path: &[Step<'_>]) -> bool {
    matches!(path, [top, _, list] if top.text == "adapters" && matches!(list.text, "on" | "tools"))
}

/// Adds keys to a path, as far as they are written.
fn push<'a>(path: &mut Vec<Step<'a>>, start: u32, keys: &'a [Key]) {
    let written = keys
        .iter()
        .take_while(|key| key.quoted || !key.text.is_empty());
    path.extend(written.map(|key| Step {
        text: &key.text,
        range: key.span.range().shifted(start),
        fresh: false,
    }));
}
