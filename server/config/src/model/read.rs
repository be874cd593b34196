//! Reading the model out of a merge.

use indexmap::IndexMap;
use kontext_syntax::toml::{Node, NodeKind};
use serde_json::{Map, Value, json};

use super::target::{driver, has_target, no_target, op_has_target};
use super::{
    Adapter, DeclaredTool, EnvValue, Event, Expose, Format, HitMap, Op, Problem, Subscription,
    TemplateText, ToolOp, Visibility,
};
use crate::eval::{Vars, text_of};
use crate::merge::Merged;
use crate::schema::fields::adapter::ADAPTER;
use crate::schema::fields::events::ON;
use crate::schema::fields::op::{MAP, OP};
use crate::schema::fields::tools::TOOL;
use crate::schema::fields::when::WHEN;
use crate::schema::{Driver, Kind, PARAM_TYPES, TableSpec};
use crate::when::When;

static SUBSCRIPTION: Kind = Kind::Table(&ON);
static DECLARED: Kind = Kind::Table(&TOOL);

impl Adapter {
    /// The adapter a merge stands for. `merged` is that of `adapters.<name>`.
    pub fn from_merged(name: &str, merged: &Merged<'_>) -> Self {
        let mut problems = Vec::new();
        if !merged.is_valid() {
            problems.push(Problem {
                path: String::new(),
                message: "an adapter has to be a table".to_owned(),
                fatal: true,
            });
        }
        let driver = match driver(merged) {
            Ok(driver) => Some(driver),
            Err(problem) => {
                problems.push(problem);
                None
            }
        };
        let mut table = Reader::new(&ADAPTER, merged, String::new(), &mut problems);
        let vars = table.vars();
        let mut when = table.when(name, &vars);
        when.note_environment(merged);
        let mut adapter = Self {
            name: name.to_owned(),
            driver,
            enabled: table.flag("enabled").unwrap_or(true),
            description: table.text("description"),
            when,
            vars,
            timeout_ms: table.count("timeout_ms").unwrap_or(10_000),
            weight: table.number("weight").unwrap_or(0.9),
            command: table.templates("command"),
            env: table.env(),
            cwd: table.template("cwd"),
            url: table.template("url"),
            base_url: table.template("base_url"),
            headers: table.template_map("headers"),
            expose: table.expose(),
            prefix: table.text("prefix"),
            ops: IndexMap::new(),
            on: Vec::new(),
            tools: Vec::new(),
            problems: Vec::new(),
        };
        let ops = table.field("ops").and_then(Merged::members);
        for (op_name, op) in ops.into_iter().flatten() {
            let path = format!("ops.{op_name}");
            if let Some(op) = read_op(op, path, driver, merged, &mut problems) {
                adapter.ops.insert((*op_name).to_owned(), op);
            }
        }
        for (element, path) in elements(merged, "on", &SUBSCRIPTION) {
            adapter
                .on
                .extend(subscription(&element, path, &mut problems));
        }
        for (element, path) in elements(merged, "tools", &DECLARED) {
            let tool = tool(&element, path, driver, merged, &mut problems);
            adapter.tools.extend(tool);
        }
        if let Some(driver) = driver {
            problems.extend(no_target(driver, merged));
        }
        adapter.problems = problems;
        adapter
    }
}

/// Reads the fields of one table.
struct Reader<'r, 'm, 'a> {
    spec: &'static TableSpec,
    table: &'m Merged<'a>,
    /// Where the table stands below the adapter; empty for the adapter itself.
    path: String,
    problems: &'r mut Vec<Problem>,
}

impl<'r, 'm, 'a> Reader<'r, 'm, 'a> {
    fn new(
        spec: &'static TableSpec,
        table: &'m Merged<'a>,
        path: String,
        problems: &'r mut Vec<Problem>,
    ) -> Self {
        Self {
            spec,
            table,
            path,
            problems,
        }
    }

    fn problem(&mut self, name: &str, message: impl Into<String>) {
        let path = match self.path.as_str() {
            "" => name.to_owned(),
            above => format!("{above}.{name}"),
        };
        self.problems.push(Problem {
            path,
            message: message.into(),
            fatal: false,
        });
    }

    /// The field, where it has a value of a type it takes. What is not written yet is passed over
    /// in silence: the grammar reports it.
    fn field(&mut self, name: &str) -> Option<&'m Merged<'a>> {
        let value = self.table.get(name)?;
        if value.is_valid() {
            return Some(value);
        }
        if let (Some(field), Some(node), false) =
            (self.spec.field(name), value.node(), value.is_missing())
        {
            let takes_arrays = |kind: &Kind| matches!(kind, Kind::Array { .. });
            let kinds = field.kind.alternatives();
            let message = match &node.kind {
                // It is the elements that are wrong.
                NodeKind::Array(_) if kinds.iter().any(takes_arrays) => {
                    format!("`{name}` has to be {}", field.kind)
                }
                other => format!("`{name}` has to be {}, not {}", field.kind, other.name()),
            };
            self.problem(name, message);
        }
        None
    }

    /// The members of a table that have a type they may have.
    fn members(&mut self, name: &str) -> Vec<(&'a str, &'m Merged<'a>)> {
        let Some(members) = self.field(name).and_then(Merged::members) else {
            return Vec::new();
        };
        let mut found = Vec::with_capacity(members.len());
        for (key, member) in members {
            if member.is_valid() {
                found.push((*key, member));
            } else if let (Some(node), false) = (member.node(), member.is_missing()) {
                let field = self
                    .spec
                    .field(name)
                    .and_then(|field| field.kind.open_keys());
                let message = match field {
                    Some(open) => {
                        format!("`{key}` has to be {}, not {}", open.kind, node.kind.name())
                    }
                    None => format!("`{key}` cannot be {}", node.kind.name()),
                };
                self.problem(&format!("{name}.{key}"), message);
            }
        }
        found
    }

    fn text(&mut self, name: &str) -> Option<String> {
        self.field(name)?.as_str().map(str::to_owned)
    }

    fn flag(&mut self, name: &str) -> Option<bool> {
        self.field(name)?.as_bool()
    }

    fn template(&mut self, name: &str) -> Option<TemplateText> {
        self.text(name).map(TemplateText)
    }

    /// An integer of at least 1.
    fn count(&mut self, name: &str) -> Option<u64> {
        let NodeKind::Integer(number) = self.field(name)?.node()?.kind else {
            return None;
        };
        let count = u64::try_from(number).ok().filter(|count| *count > 0);
        if count.is_none() {
            self.problem(name, format!("`{name}` has to be at least 1, not {number}"));
        }
        count
    }

    /// A finite number of at least 0.
    fn number(&mut self, name: &str) -> Option<f64> {
        let number = match &self.field(name)?.node()?.kind {
            NodeKind::Float(number) => *number,
            // Weights beyond 2^53 lose digits that mean nothing.
            NodeKind::Integer(number) => *number as f64,
            _ => return None,
        };
        if number.is_finite() && number >= 0.0 {
            return Some(number);
        }
        self.problem(
            name,
            format!("`{name}` has to be a number of at least 0, not {number}"),
        );
        None
    }

    fn strings(&mut self, name: &str) -> Option<Vec<String>> {
        let nodes = self.field(name)?.node()?.as_array()?;
        Some(strings(nodes))
    }

    /// A command; an empty one counts as none.
    fn templates(&mut self, name: &str) -> Vec<TemplateText> {
        let Some(strings) = self.strings(name) else {
            return Vec::new();
        };
        if strings.is_empty() {
            self.problem(name, format!("`{name}` is empty: it has to name a program"));
        }
        strings.into_iter().map(TemplateText).collect()
    }

    fn template_map(&mut self, name: &str) -> IndexMap<String, TemplateText> {
        let members = self.members(name).into_iter();
        members
            .filter_map(|(key, value)| Some((key.to_owned(), TemplateText::new(value.as_str()?))))
            .collect()
    }

    fn env(&mut self) -> IndexMap<String, EnvValue> {
        let members = self.members("env").into_iter();
        members
            .map(|(key, value)| {
                let value = value.as_str().map_or(EnvValue::Removed, |text| {
                    EnvValue::Set(TemplateText::new(text))
                });
                (key.to_owned(), value)
            })
            .collect()
    }

    fn vars(&mut self) -> Vars {
        let members = self.members("vars").into_iter();
        members
            .filter_map(|(key, value)| Some((key.to_owned(), value.as_str()?.to_owned())))
            .collect()
    }

    fn when(&mut self, adapter: &str, vars: &Vars) -> When {
        let Some(when) = self.field("when") else {
            return When::default();
        };
        let mut below = Reader::new(&WHEN, when, "when".to_owned(), self.problems);
        for field in WHEN.fields {
            below.field(field.name);
        }
        When::from_merged(adapter, vars, when)
    }

    /// One of a few words; `parse` knows them all.
    fn word<T>(&mut self, name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let text = self.field(name)?.as_str()?;
        let parsed = parse(text);
        if parsed.is_none() {
            let message = self.not_one_of(name, text);
            self.problem(name, message);
        }
        parsed
    }

    fn not_one_of(&self, name: &str, text: &str) -> String {
        let kind = self.spec.field(name).map(|field| &field.kind);
        match kind.map(|kind| (kind.suggest_value(text), kind)) {
            Some((Some(likely), _)) => format!(
                "`{text}` is no value of `{name}`; did you mean `{}`?",
                likely.value
            ),
            Some((None, kind)) => format!("`{name}` has to be {kind}, not `{text}`"),
            None => format!("`{text}` is no value of `{name}`"),
        }
    }

    fn expose(&mut self) -> Expose {
        let Some(node) = self.field("expose").and_then(Merged::node) else {
            return Expose::None;
        };
        match &node.kind {
            NodeKind::Boolean(true) => Expose::All,
            NodeKind::Array(array) => Expose::Only(strings(&array.nodes)),
            NodeKind::String(_) => {
                let word = self.word("expose", |text| match text {
                    "all" => Some(Expose::All),
                    "none" => Some(Expose::None),
                    _ => None,
                });
                word.unwrap_or_default()
            }
            _ => Expose::None,
        }
    }

    fn missing(&mut self, name: &str) {
        // Of the wrong type, or half typed: that is reported already.
        if self.table.get(name).is_none() {
            self.problem(name, format!("`{name}` is missing"));
        }
    }
}

fn strings(nodes: &[Node]) -> Vec<String> {
    let strings = nodes.iter().filter_map(Node::as_str);
    strings.map(str::to_owned).collect()
}

/// The elements of an array of tables, each with its path.
fn elements<'a>(
    adapter: &Merged<'a>,
    name: &str,
    kind: &'static Kind,
) -> Vec<(Merged<'a>, String)> {
    let Some(array) = adapter.get(name).filter(|array| array.is_valid()) else {
        return Vec::new();
    };
    let nodes = array.node().and_then(Node::as_array).unwrap_or_default();
    nodes
        .iter()
        .enumerate()
        .map(|(at, node)| {
            let element = Merged::of_element(array.origin, node, Some(kind));
            (element, format!("{name}[{at}]"))
        })
        .collect()
}

/// Whether an element of an array of tables is a table; if not, says so.
fn is_table(value: &Merged<'_>, path: &str, problems: &mut Vec<Problem>) -> bool {
    if !value.is_valid() && !value.is_missing() {
        problems.push(Problem {
            path: path.to_owned(),
            message: format!("`{path}` has to be a table"),
            fatal: false,
        });
    }
    value.is_valid()
}

fn read_op(
    value: &Merged<'_>,
    path: String,
    driver: Option<Driver>,
    adapter: &Merged<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Op> {
    if !is_table(value, &path, problems) {
        return None;
    }
    let mut table = Reader::new(&OP, value, path, problems);
    let op = Op {
        tool: table.text("tool"),
        args: table.field("args").and_then(|args| match args.to_json() {
            Value::Object(args) => Some(args),
            _ => None,
        }),
        method: table.word("method", |text| {
            let method = text.to_ascii_uppercase();
            let kind = OP.field("method").map(|field| &field.kind);
            let known = kind.is_some_and(|kind| kind.values().any(|one| one.value == method));
            known.then_some(method)
        }),
        path: table.template("path"),
        url: table.template("url"),
        query: table
            .members("query")
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.to_json()))
            .collect(),
        headers: table.template_map("headers"),
        body: table.field("body").map(Merged::to_json),
        command: table.templates("command"),
        stdin: table.template("stdin"),
        output_file: table.flag("output_file").unwrap_or(false),
        cwd: table.template("cwd"),
        env: table.env(),
        format: table.word("format", format_of).unwrap_or_default(),
        timeout_ms: table.count("timeout_ms"),
        items: table.text("items"),
        split: table.text("split"),
        filter: table
            .members("where")
            .into_iter()
            .map(|(key, value)| (key.to_owned(), text_of(&value.to_json()).into_owned()))
            .collect(),
        map: hit_map(&mut table),
        text: table.text("text"),
        owns: table.strings("owns").unwrap_or_default(),
    };
    match driver {
        Some(Driver::Mcp) if op.tool.is_none() => table.missing("tool"),
        Some(driver) if !has_target(driver, adapter) && !op_has_target(driver, value) => {
            let message = match driver {
                Driver::Http => "without `base_url` on the adapter, the op needs an absolute `url`",
                _ => "without `command` on the adapter, the op needs its own `command`",
            };
            let name = if driver == Driver::Http {
                "url"
            } else {
                "command"
            };
            table.problem(name, message);
        }
        _ => {}
    }
    Some(op)
}

fn format_of(text: &str) -> Option<Format> {
    Some(match text {
        "auto" => Format::Auto,
        "json" => Format::Json,
        "jsonl" => Format::Jsonl,
        "lines" => Format::Lines,
        "text" => Format::Text,
        _ => return None,
    })
}

fn hit_map(op: &mut Reader<'_, '_, '_>) -> HitMap {
    let Some(map) = op.field("map") else {
        return HitMap::default();
    };
    let path = format!("{}.map", op.path);
    let mut map = Reader::new(&MAP, map, path, op.problems);
    HitMap {
        title: map.text("title"),
        snippet: map.text("snippet"),
        uri: map.text("uri"),
        score: map.text("score"),
        kind: map.text("kind"),
        date: map.text("date"),
    }
}

fn subscription(
    value: &Merged<'_>,
    path: String,
    problems: &mut Vec<Problem>,
) -> Option<Subscription> {
    if !is_table(value, &path, problems) {
        return None;
    }
    let mut table = Reader::new(&ON, value, path, problems);
    let event = table.word("event", |text| match text {
        "capture" => Some(Event::Capture),
        "promote" => Some(Event::Promote),
        "sync" => Some(Event::Sync),
        _ => None,
    });
    let op = table.text("op");
    // A filter that cannot be read must not let more through than was meant.
    let visibility = table.word("visibility", |text| match text {
        "team" => Some(Visibility::Team),
        "private" => Some(Visibility::Private),
        _ => None,
    });
    let kinds = table.strings("kinds");
    table.missing("event");
    table.missing("op");
    if value.get("kinds").is_some() && kinds.is_none() {
        return None;
    }
    Some(Subscription {
        event: event?,
        op: op?,
        visibility,
        kinds,
    })
}

fn tool(
    value: &Merged<'_>,
    path: String,
    driver: Option<Driver>,
    adapter: &Merged<'_>,
    problems: &mut Vec<Problem>,
) -> Option<DeclaredTool> {
    if !is_table(value, &path, problems) {
        return None;
    }
    let mut table = Reader::new(&TOOL, value, path.clone(), problems);
    let name = table.text("name");
    let description = table.text("description");
    table.missing("name");
    table.missing("op");
    let schema = schema(&mut table);
    let op = match table.field("op") {
        Some(op) if op.members().is_some() => {
            let op = read_op(op, format!("{path}.op"), driver, adapter, problems)?;
            Some(ToolOp::Inline(Box::new(op)))
        }
        Some(op) => op.as_str().map(|name| ToolOp::Named(name.to_owned())),
        None => None,
    };
    Some(DeclaredTool {
        name: name?,
        description,
        schema: schema?,
        op: op?,
    })
}

/// The JSON Schema of a tool's arguments; `None` where `params` cannot be used.
fn schema(table: &mut Reader<'_, '_, '_>) -> Option<Map<String, Value>> {
    let mut written = match table.table.get("params") {
        None => Map::new(),
        Some(_) => match table.field("params")?.raw_json() {
            Value::Object(written) => written,
            _ => return None,
        },
    };
    let whole = written.get("type").and_then(Value::as_str) == Some("object")
        || written.get("properties").is_some_and(Value::is_object)
        || written.contains_key("$ref");
    if whole {
        written
            .entry("type")
            .or_insert_with(|| Value::from("object"));
        return Some(written);
    }
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, kind) in written {
        let text = kind.as_str().unwrap_or_default();
        let (word, needed) = text
            .strip_suffix('!')
            .map_or((text, false), |word| (word, true));
        let schema = if PARAM_TYPES.iter().any(|one| one.value == word) {
            json!({ "type": word })
        } else {
            let types: Vec<_> = PARAM_TYPES.iter().map(|one| one.value).collect();
            let message = format!("`{name}` has to be one of {}", types.join(", "));
            table.problem(&format!("params.{name}"), message);
            json!({})
        };
        if needed {
            required.push(Value::from(name.as_str()));
        }
        properties.insert(name, schema);
    }
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    Some(schema)
}
