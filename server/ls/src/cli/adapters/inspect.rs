//! `kontext-ls adapters inspect NAME`: what an adapter is and what its server offers.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use kontext_config::model::{DeclaredTool, Op, ToolOp};
use kontext_config::schema::Driver;
use kontext_engine::bind::{Offer, ToolSchema};
use kontext_engine::catalogue::{Origin, published_name};
use kontext_engine::published::Spawned;
use kontext_engine::{Engine, Planned, request};
use serde_json::{Map, Value, json};

use super::super::{Failure, Outcome, Shell};
use super::{first_line, visible};

/// Which adapter, and how it is printed.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// The adapter
    #[arg(value_name = "NAME")]
    name: String,
    /// Print it as JSON, the tools with their whole schemas
    #[arg(long)]
    json: bool,
    /// The workspace [default: $KONTEXT_DIR, else the current directory]
    #[arg(long, value_name = "PATH")]
    dir: Option<PathBuf>,
}

/// Starts the adapter's server where it has one, and prints what it offers.
///
/// # Errors
/// There is no such adapter, or standard output cannot be written.
pub(super) fn run(args: &Args, shell: &Shell) -> Outcome {
    let inspected = super::with_engine(args.dir.as_deref(), async |engine: &Engine| {
        inspect(engine, &args.name).await
    })?;
    let inspected = inspected?;
    if args.json {
        shell.json(&inspected.json())?;
    } else {
        shell.print(inspected.text())?;
    }
    Ok(u8::from(inspected.failed()))
}

/// What was found out.
struct Inspected {
    planned: Planned,
    /// `None`: it is not active, or has no server.
    server: Option<Result<Spawned, String>>,
    /// What each op would send.
    ops: Vec<(String, Sends)>,
    /// The tools that the configuration declares.
    declared: Vec<Declared>,
}

/// A tool of `[[adapters.NAME.tools]]`.
struct Declared {
    /// As agents see it.
    name: String,
    /// The op it calls; `None` where the tool has one of its own.
    op: Option<String>,
    description: String,
    /// Whether agents get it while the gates are open.
    offered: bool,
}

impl Declared {
    fn of(engine: &Engine, planned: &Planned) -> Vec<Self> {
        let catalogue = engine.catalogue();
        let tools = planned.adapter.tools.iter().enumerate();
        let declared = |(at, tool): (usize, &DeclaredTool)| {
            let offered = catalogue.iter().find(|(_, published)| {
                *published.adapter == *planned.name() && published.origin == Origin::Declared(at)
            });
            Self {
                name: offered.map_or_else(
                    || published_name("", &tool.name),
                    |(name, _)| name.to_string(),
                ),
                op: match &tool.op {
                    ToolOp::Named(op) => Some(op.clone()),
                    ToolOp::Inline(_) => None,
                },
                description: tool.description.clone().unwrap_or_default(),
                offered: offered.is_some(),
            }
        };
        tools.map(declared).collect()
    }
}

/// What an op would send.
enum Sends {
    /// To a tool: its parameters with where their values come from.
    Bound {
        tool: String,
        parameters: Vec<(String, &'static str)>,
        notes: Vec<String>,
    },
    /// A request.
    Request(Value),
    /// Nothing: why.
    Refused(String),
}

async fn inspect(engine: &Engine, name: &str) -> Result<Inspected, Failure> {
    let plan = engine.plan();
    let Some(planned) = plan.get(name) else {
        let fault = plan.callable(name).err();
        let words = fault.map_or_else(String::new, |fault| fault.to_string());
        return Err(Failure::Other(words));
    };
    let has_server = planned.is_active() && planned.adapter.driver == Some(Driver::Mcp);
    let server = if has_server {
        let spawned = engine.spawn(name).await;
        Some(spawned.map_err(|error| error.fault.to_string()))
    } else {
        None
    };
    let tools = match &server {
        Some(Ok(spawned)) => spawned.tools.tools.as_slice(),
        _ => &[],
    };
    let ops = planned.adapter.ops.iter();
    let ops = ops.map(|(name, op)| (name.clone(), sends(planned, name, op, tools)));
    Ok(Inspected {
        ops: ops.collect(),
        declared: Declared::of(engine, planned),
        planned: planned.clone(),
        server,
    })
}

fn sends(planned: &Planned, name: &str, op: &Op, tools: &[Arc<Value>]) -> Sends {
    let own = op.owns.iter().find(|own| !own.is_empty());
    let uri = own.map(|own| format!("{own}sample"));
    let inputs = super::test::sample(name, "sample query", uri.as_deref());
    let (adapter, context) = (&planned.adapter, &planned.context);
    if adapter.driver != Some(Driver::Mcp) {
        return match request::preview(adapter, op, context, &inputs) {
            Ok(request) => Sends::Request(request),
            Err(fault) => Sends::Refused(fault.to_string()),
        };
    }
    if !planned.is_active() {
        return Sends::Refused(
            "not known: its server is not asked while it is not active".to_owned(),
        );
    }
    let bound = request::tool(adapter, op, context, &inputs).and_then(|call| {
        let listed = tools
            .iter()
            .find(|tool| tool.get("name").and_then(Value::as_str) == Some(&call.tool));
        let Some(listed) = listed else {
            let words = format!("its server does not list the tool `{}`", call.tool);
            return Err(kontext_engine::Fault::refused(words));
        };
        let root = planned.root.to_string_lossy();
        let offer = Offer {
            op: name,
            tool: &call.tool,
            delivers_event: adapter.on.iter().any(|on| on.op == *name),
            inputs: &inputs,
            named: None,
            root: &root,
        };
        let bound = ToolSchema::new(listed.get("inputSchema")).bind(&offer, call.args.as_ref())?;
        Ok((call.tool, bound))
    });
    match bound {
        Ok((tool, bound)) => Sends::Bound {
            tool,
            parameters: bound
                .bindings
                .into_iter()
                .map(|binding| (binding.parameter, binding.source.label()))
                .collect(),
            notes: bound.notes,
        },
        Err(fault) => Sends::Refused(fault.to_string()),
    }
}

impl Inspected {
    fn failed(&self) -> bool {
        !self.planned.is_active() || matches!(self.server, Some(Err(_)))
    }

    fn json(&self) -> Value {
        let status = &self.planned.status;
        let mut shown = Map::new();
        shown.insert("name".to_owned(), json!(status.name));
        shown.insert("driver".to_owned(), json!(status.driver.map(Driver::name)));
        shown.insert("status".to_owned(), json!(status.status.name()));
        shown.insert("reasons".to_owned(), json!(status.reasons));
        match &self.server {
            Some(Ok(spawned)) => {
                let tools: Vec<&Value> = spawned.tools.tools.iter().map(|tool| &**tool).collect();
                shown.insert(
                    "server".to_owned(),
                    json!({
                        "state": spawned.state,
                        "protocol": spawned.tools.protocol,
                        "info": spawned.tools.server_info,
                        "instructions": spawned.tools.instructions,
                    }),
                );
                shown.insert("tools".to_owned(), json!(tools));
                shown.insert("notes".to_owned(), json!(spawned.tools.notes));
            }
            Some(Err(words)) => {
                shown.insert("error".to_owned(), json!(words));
            }
            None => {}
        }
        let ops = self.ops.iter().map(|(name, sends)| {
            let sends = match sends {
                Sends::Bound {
                    tool,
                    parameters,
                    notes,
                } => {
                    let parameters: Map<String, Value> = parameters
                        .iter()
                        .map(|(name, source)| (name.clone(), json!(source)))
                        .collect();
                    json!({"tool": tool, "parameters": parameters, "notes": notes})
                }
                Sends::Request(request) => json!({"request": request}),
                Sends::Refused(words) => json!({"refused": words}),
            };
            (name.clone(), sends)
        });
        shown.insert("ops".to_owned(), Value::Object(ops.collect()));
        let declared = self.declared.iter().map(|tool| {
            json!({
                "name": tool.name,
                "op": tool.op,
                "description": tool.description,
                "offered": tool.offered,
            })
        });
        shown.insert("declared".to_owned(), declared.collect());
        Value::Object(shown)
    }

    fn text(&self) -> String {
        let status = &self.planned.status;
        let driver = status.driver.map_or("no driver", Driver::name);
        let mut out = format!("{} ({driver}): {}\n", visible(&status.name), status.status);
        if let Some(description) = &self.planned.adapter.description {
            let _ = writeln!(out, "  {}", first_line(description, 200));
        }
        for reason in &status.reasons {
            let _ = writeln!(out, "  - {}", visible(reason));
        }
        match &self.server {
            Some(Ok(spawned)) => {
                let said = |name| spawned.tools.server_info.get(name).and_then(Value::as_str);
                let _ = writeln!(
                    out,
                    "\nServer: {} {}, protocol {}",
                    visible(said("name").unwrap_or("without a name")),
                    visible(said("version").unwrap_or_default()),
                    visible(&spawned.tools.protocol)
                );
                let _ = writeln!(
                    out,
                    "\nTools ({}), * is required:",
                    spawned.tools.tools.len()
                );
                for tool in &spawned.tools.tools {
                    tool_lines(&mut out, tool);
                }
                for note in &spawned.tools.notes {
                    let _ = writeln!(out, "  note: {}", visible(note));
                }
            }
            Some(Err(words)) => {
                let _ = writeln!(out, "\nIts server: {}", visible(words));
            }
            None => {}
        }
        if !self.ops.is_empty() {
            out.push_str("\nOps:\n");
        }
        for (name, sends) in &self.ops {
            op_lines(&mut out, name, sends);
        }
        if !self.declared.is_empty() {
            out.push_str("\nDeclared tools:\n");
        }
        for tool in &self.declared {
            let op = tool.op.as_deref().unwrap_or("an op of its own");
            let left_out = if tool.offered {
                ""
            } else {
                " (not offered to agents)"
            };
            let _ = writeln!(out, "  {} → {}{left_out}", visible(&tool.name), visible(op));
            if !tool.description.is_empty() {
                let _ = writeln!(out, "      {}", first_line(&tool.description, 120));
            }
        }
        out
    }
}

fn tool_lines(out: &mut String, tool: &Value) {
    let member = |name| tool.get(name).and_then(Value::as_str).unwrap_or_default();
    let _ = writeln!(out, "  {}", visible(member("name")));
    let description = first_line(member("description"), 120);
    if !description.is_empty() {
        let _ = writeln!(out, "      {description}");
    }
    let schema = ToolSchema::new(tool.get("inputSchema"));
    for parameter in schema.parameters() {
        let required = if parameter.required { "*" } else { "" };
        let _ = writeln!(
            out,
            "      {}{required}: {}",
            visible(parameter.name),
            first_line(&parameter.takes, 100)
        );
    }
}

fn op_lines(out: &mut String, name: &str, sends: &Sends) {
    match sends {
        Sends::Bound {
            tool,
            parameters,
            notes,
        } => {
            let sent: Vec<String> = parameters
                .iter()
                .map(|(parameter, source)| format!("{parameter} ← {source}"))
                .collect();
            let sent = if sent.is_empty() {
                "nothing".to_owned()
            } else {
                sent.join(", ")
            };
            let _ = writeln!(out, "  {name} → {}: {}", visible(tool), visible(&sent));
            for note in notes {
                let _ = writeln!(out, "      note: {}", visible(note));
            }
        }
        Sends::Request(request) => {
            let _ = writeln!(out, "  {name} → {}", visible(&request.to_string()));
        }
        Sends::Refused(words) => {
            let _ = writeln!(out, "  {name}: {}", visible(words));
        }
    }
}
