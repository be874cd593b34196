//! Keys and values against the table of fields.

use kontext_config::codes::Code;
use kontext_config::schema::{
    Driver, Drivers, FieldSpec, Found, KeyKind, Kind, OpenKeys, StringKind, TableSpec,
};
use kontext_syntax::toml::{Item, Node, NodeKind, Span, Table, TableForm, write};

use crate::mask;

use super::check::Check;
use super::context::field;
use super::shape::{Inputs, is_json_schema, params};
use super::{remove, strings};

impl<'a> Check<'a> {
    /// Checks the members of a table.
    pub(super) fn table(&mut self, spec: &'static TableSpec, node: &'a Node, table: &'a Table) {
        for (name, item) in &table.items {
            match spec.child(name) {
                Some(found) => self.member(name, item, found),
                None => self.unknown_key(spec, name, item, table),
            }
        }
        for required in spec.required_here() {
            // A key that is still being typed may become it.
            let typing = table.items.iter().any(|(name, item)| {
                spec.field(name).is_none() && matches!(item.node.kind, NodeKind::Invalid)
            });
            if !table.items.contains_key(required.name) && !typing {
                let span = self.header_of(node);
                let message = format!(
                    "`{}` is required here: add `{}`",
                    required.name, required.example
                );
                self.report(Code::MissingField, span, message);
            }
        }
    }

    /// Where a table as a whole is pointed at: its header, or its opening brace.
    pub(super) fn header_of(&self, node: &Node) -> Span {
        match &node.kind {
            NodeKind::Table(table) if table.form == TableForm::Inline => Span {
                end: node.span.start + 1,
                ..node.span
            },
            _ => node.span,
        }
    }

    fn member(&mut self, name: &'a str, item: &'a Item, found: Found) {
        self.path.push(name);
        match found {
            Found::Field(described) => {
                self.driver_uses(described, item);
                self.value(&described.kind, &item.node, Some(described));
            }
            Found::Open { open, .. } => {
                strings::key(self, open.key, name, item);
                let outer = self.inputs_for(name, open.key);
                self.value(&open.kind, &item.node, None);
                self.restore(outer);
            }
            Found::Free(kind) => self.value(kind, &item.node, None),
        }
        self.path.pop();
    }

    /// The inputs that templates below this key see, where they change; gives the outer ones.
    fn inputs_for(&mut self, name: &'a str, key: KeyKind) -> Option<Inputs<'a>> {
        (key == KeyKind::OpName)
            .then(|| std::mem::replace(&mut self.inputs, self.shape.inputs_of(name)))
    }

    fn restore(&mut self, outer: Option<Inputs<'a>>) {
        if let Some(outer) = outer {
            self.inputs = outer;
        }
    }

    fn driver_uses(&mut self, described: &'static FieldSpec, item: &Item) {
        let Some(driver) = self.driver else { return };
        if described.drivers.contains(driver) || !self.is_adapter_field() {
            return;
        }
        let message = format!(
            "`{}` is not used by driver {driver}, only by {}; remove it",
            described.name,
            words(described.drivers)
        );
        let edit = remove::item(self.context.document, item);
        let finding = self.report(Code::UnusedByDriver, item.key(), message);
        if let Some(edit) = edit {
            finding.fix(format!("Remove `{}`", described.name), vec![edit]);
        }
    }

    fn is_adapter_field(&self) -> bool {
        &*self.context.unit.key.top == "adapters"
    }

    fn unknown_key(
        &mut self,
        spec: &'static TableSpec,
        name: &'a str,
        item: &'a Item,
        table: &Table,
    ) {
        if matches!(item.node.kind, NodeKind::Invalid) {
            return; // still being typed: the grammar has said so
        }
        let key = item.key();
        let is_adapter = spec.name == "adapter";
        if is_adapter
            && let NodeKind::Table(below) = &item.node.kind
            && below.form != TableForm::Inline
            && below.items.keys().any(|name| spec.field(name).is_some())
        {
            let adapter = self.context.unit.key.name.as_deref().unwrap_or("");
            let message = format!(
                "`{name}` is no field of the adapter `{adapter}`: a dot splits the name; write [adapters.\"{adapter}.{name}\"]"
            );
            let whole = item.keys.first().copied().zip(
                self.context
                    .unit
                    .item
                    .keys
                    .iter()
                    .rfind(|span| span.block == key.block)
                    .copied(),
            );
            let finding = self.report(Code::DottedName, key, message);
            if let Some((part, start)) = whole
                && start.block == part.block
                && start.start < part.start
            {
                finding.fix(
                    "Put the name in quotes",
                    vec![(start.cover(part), format!("\"{adapter}.{name}\""))],
                );
            }
            return;
        }
        let foreign_args = name == "args" && is_adapter;
        if foreign_args {
            self.report(
                Code::UnknownKey,
                key,
                format!(
                    "{} has no `args`; its items belong in `command`, behind the program",
                    spec_words(spec)
                ),
            );
            return;
        }
        let used = |near: &&FieldSpec| {
            self.driver
                .is_none_or(|driver| near.drivers.contains(driver))
        };
        match spec.suggest(name).filter(used) {
            Some(near) if table.items.contains_key(near.name) => {
                let message = format!(
                    "{} has no `{name}`; `{}` is given already, remove this one",
                    spec_words(spec),
                    near.name
                );
                let edit = remove::item(self.context.document, item);
                let finding = self.report(Code::UnknownKey, key, message);
                if let Some(edit) = edit {
                    finding.fix(format!("Remove `{name}`"), vec![edit]);
                }
            }
            Some(near) => {
                let message = format!(
                    "{} has no `{name}`; did you mean `{}`?",
                    spec_words(spec),
                    near.name
                );
                let renamed = item.keys.iter().map(|&span| (span, near.name.to_owned()));
                let edits = renamed.chain(converted(name, near, &item.node)).collect();
                self.report(Code::UnknownKey, key, message)
                    .fix(format!("Change to `{}`", near.name), edits);
            }
            None => {
                let known: Vec<_> = spec
                    .fields
                    .iter()
                    .map(|field| format!("`{}`", field.name))
                    .collect();
                let message = if known.len() <= 8 {
                    format!(
                        "{} has no `{name}`; it has {}",
                        spec_words(spec),
                        known.join(", ")
                    )
                } else {
                    format!(
                        "{} has no `{name}`; correct it or remove it",
                        spec_words(spec)
                    )
                };
                let edit = remove::item(self.context.document, item);
                let finding = self.report(Code::UnknownKey, key, message);
                if let Some(edit) = edit {
                    finding.fix(format!("Remove `{name}`"), vec![edit]);
                }
            }
        }
    }

    /// Checks a value against what it may be.
    pub(super) fn value(
        &mut self,
        kind: &'static Kind,
        node: &'a Node,
        described: Option<&'static FieldSpec>,
    ) {
        if matches!(node.kind, NodeKind::Invalid) {
            return; // the grammar has said so
        }
        let fitting = kind.alternatives().iter().find(|kind| fits(kind, node));
        let Some(kind) = fitting else {
            self.wrong_type(kind, node, described);
            return;
        };
        match (kind, &node.kind) {
            (Kind::Integer { min }, NodeKind::Integer(number)) if number < min => {
                self.report(Code::OutOfRange, node.span, format!("this must be {kind}"));
            }
            (Kind::Number { min }, NodeKind::Integer(number)) if (*number as f64) < *min => {
                self.report(Code::OutOfRange, node.span, format!("this must be {kind}"));
            }
            (Kind::Number { min }, NodeKind::Float(number))
                if !number.is_finite() || number < min =>
            {
                self.report(Code::OutOfRange, node.span, format!("this must be {kind}"));
            }
            (
                Kind::OneOf {
                    values,
                    ignore_case,
                },
                NodeKind::String(text),
            ) => {
                let same = |value: &str| {
                    value == &*text.value || *ignore_case && value.eq_ignore_ascii_case(&text.value)
                };
                if !values.iter().any(|value| same(value.value)) {
                    self.invalid_value(kind, node, &text.value, described);
                }
            }
            (Kind::Str(string) | Kind::Scalar(string), NodeKind::String(text)) => {
                strings::value(self, *string, text, node.span);
            }
            (Kind::Any(string), _) => self.strings_inside(*string, node),
            (Kind::Array { item, non_empty }, NodeKind::Array(array)) => {
                if *non_empty && array.nodes.is_empty() {
                    let message = "this array needs at least one element".to_owned();
                    self.report(Code::EmptyArray, node.span, message);
                }
                for element in &array.nodes {
                    self.value(item, element, None);
                }
            }
            (Kind::ArrayOfTables(spec), NodeKind::Array(array)) => {
                for element in &array.nodes {
                    match &element.kind {
                        NodeKind::Table(table) => self.element(spec, element, table),
                        NodeKind::Invalid => {}
                        other => {
                            let message =
                                format!("each element must be a table, not {}", other.name());
                            self.report(Code::WrongType, element.span, message);
                        }
                    }
                }
            }
            (Kind::Table(spec), NodeKind::Table(table)) => self.table(spec, node, table),
            (Kind::Map(open), NodeKind::Table(table)) => {
                if described.is_some_and(|field| field.name == "params") {
                    super::tools::params(self, node);
                } else {
                    self.map(open, table);
                }
            }
            _ => {}
        }
    }

    /// An element of `on` or `tools`. An inline op of a tool sees the tool's parameters.
    fn element(&mut self, spec: &'static TableSpec, node: &'a Node, table: &'a Table) {
        let inline =
            spec.name == "tools" && field(node, "op").is_some_and(|op| op.as_table().is_some());
        let outer = inline.then(|| {
            let inputs = Inputs {
                params: params(node).collect(),
                ..Inputs::default()
            };
            std::mem::replace(&mut self.inputs, inputs)
        });
        self.table(spec, node, table);
        self.restore(outer);
    }

    fn map(&mut self, open: &'static OpenKeys, table: &'a Table) {
        for (name, item) in &table.items {
            self.path.push(name);
            strings::key(self, open.key, name, item);
            let outer = self.inputs_for(name, open.key);
            self.value(&open.kind, &item.node, None);
            self.restore(outer);
            self.path.pop();
        }
    }

    /// Strings at any depth of a free value.
    fn strings_inside(&mut self, kind: StringKind, node: &'a Node) {
        match &node.kind {
            NodeKind::String(text) => strings::value(self, kind, text, node.span),
            NodeKind::Array(array) => array
                .nodes
                .iter()
                .for_each(|node| self.strings_inside(kind, node)),
            NodeKind::Table(table) => {
                for (name, item) in &table.items {
                    self.path.push(name);
                    self.strings_inside(kind, &item.node);
                    self.path.pop();
                }
            }
            _ => {}
        }
    }

    fn invalid_value(
        &mut self,
        kind: &'static Kind,
        node: &Node,
        text: &str,
        described: Option<&FieldSpec>,
    ) {
        let what = described.map_or("this".to_owned(), |field| format!("`{}`", field.name));
        let near = kind.suggest_value(text);
        let hint = near.map_or(String::new(), |near| {
            format!("; did you mean `\"{}\"`?", near.value)
        });
        let message = format!(
            "{what} must be {kind}, not `\"{}\"`{hint}",
            text.escape_debug()
        );
        let finding = self.report(Code::InvalidValue, node.span, message);
        if let Some(near) = near {
            finding.fix(
                format!("Change to `\"{}\"`", near.value),
                vec![(node.span, format!("\"{}\"", near.value))],
            );
        }
    }

    fn wrong_type(
        &mut self,
        kind: &'static Kind,
        node: &'a Node,
        described: Option<&'static FieldSpec>,
    ) {
        if let (Some(field), NodeKind::String(text)) = (described, &node.kind)
            && field.name == "command"
            && self.path.first() != Some(&"when")
        {
            self.command_string(node, &text.value);
            return;
        }
        let span = self.header_of(node);
        let what = described.map_or("this".to_owned(), |field| format!("`{}`", field.name));
        let message = format!("{what} must be {kind}, not {}", node.kind.name());
        let unquoted = match &node.kind {
            NodeKind::String(text) => unquoted(kind, &text.value),
            _ => None,
        };
        let finding = self.report(Code::WrongType, span, message);
        if let Some(plain) = unquoted {
            finding.fix(format!("Change to `{plain}`"), vec![(node.span, plain)]);
        }
    }

    /// `command = "npx -y pkg"`, with the words as an array; `args` beside it go behind them.
    /// A command that carries what looks like a secret is not repeated.
    fn command_string(&mut self, node: &'a Node, text: &str) {
        let mut words: Vec<String> = text.split_whitespace().map(write::string).collect();
        let table = match self.path.len() {
            1 => Some(&self.context.unit.item.node),
            _ => None,
        };
        let args = table
            .and_then(|table| field(table, "args"))
            .and_then(Node::as_array)
            .unwrap_or_default();
        words.extend(args.iter().filter_map(Node::as_str).map(write::string));
        let array = format!("[{}]", words.join(", "));
        if mask::words(&array) != array {
            let message = "`command` is an array, one element a word; keep what is secret in `env`";
            self.report(Code::CommandString, node.span, message);
            return;
        }
        let message = format!("`command` is an array, one element a word: {array}");
        let moved = table
            .filter(|_| !args.is_empty())
            .and_then(|table| table.get("args"));
        let moved = moved.and_then(|args| remove::item(self.context.document, args));
        let edits = [(node.span, array)].into_iter().chain(moved).collect();
        self.report(Code::CommandString, node.span, message)
            .fix("Change to an array", edits);
    }
}

/// Whether the TOML type of a value is one that the kind takes.
pub(crate) fn fits(kind: &Kind, node: &Node) -> bool {
    match kind {
        Kind::Bool => matches!(node.kind, NodeKind::Boolean(_)),
        Kind::False => matches!(node.kind, NodeKind::Boolean(false)),
        Kind::Integer { .. } => matches!(node.kind, NodeKind::Integer(_)),
        Kind::Number { .. } => matches!(node.kind, NodeKind::Integer(_) | NodeKind::Float(_)),
        Kind::Str(_) | Kind::OneOf { .. } => matches!(node.kind, NodeKind::String(_)),
        Kind::Scalar(_) => matches!(
            node.kind,
            NodeKind::String(_) | NodeKind::Integer(_) | NodeKind::Float(_) | NodeKind::Boolean(_)
        ),
        Kind::Array { .. } | Kind::ArrayOfTables(_) => matches!(node.kind, NodeKind::Array(_)),
        Kind::Table(_) | Kind::Map(_) => matches!(node.kind, NodeKind::Table(_)),
        Kind::JsonSchema => is_json_schema(node),
        Kind::Any(_) => true,
        Kind::Either(kinds) => kinds.iter().any(|kind| fits(kind, node)),
    }
}

/// The value without its quotes, where that is what the kind takes.
fn unquoted(kind: &Kind, text: &str) -> Option<String> {
    let fits = kind.alternatives().iter().any(|kind| match kind {
        Kind::Bool => text == "true" || text == "false",
        Kind::False => text == "false",
        Kind::Integer { .. } => text.parse::<i64>().is_ok(),
        Kind::Number { .. } => text.parse::<f64>().is_ok_and(f64::is_finite),
        _ => false,
    });
    fits.then(|| text.to_owned())
}

fn words(drivers: Drivers) -> String {
    drivers
        .iter()
        .map(Driver::name)
        .collect::<Vec<_>>()
        .join(" and ")
}

fn spec_words(spec: &TableSpec) -> String {
    match spec.name {
        "adapter" => "an adapter".to_owned(),
        "op" => "an op".to_owned(),
        "on" => "a subscription".to_owned(),
        "tools" => "a declared tool".to_owned(),
        other => format!("`{other}`"),
    }
}

/// The edit of the value that goes with a key of another program, where that one counts in other
/// units or the other way round.
fn converted(name: &str, near: &FieldSpec, node: &Node) -> Option<(Span, String)> {
    let name = name.to_ascii_lowercase();
    let text = match (near.name, &node.kind) {
        ("enabled", NodeKind::Boolean(value)) if name.starts_with("dis") => (!value).to_string(),
        ("timeout_ms", NodeKind::Integer(seconds)) if name.contains("sec") => {
            seconds.checked_mul(1000)?.to_string()
        }
        _ => return None,
    };
    Some((node.span, text))
}
