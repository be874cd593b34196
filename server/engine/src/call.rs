//! One call of one op: from its inputs to what came back.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use kontext_config::model::{DeclaredTool, Format, Op, ToolOp};
use kontext_config::schema::Driver;
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::answer::{Mapped, Payload, Raw, Reading};
use crate::bind::{Binding, CORRECT_ARGS, Offer};
use crate::driver::{command, mcp};
use crate::engine::Engine;
use crate::fault::{Fault, FaultKind};
use crate::inputs::Inputs;
use crate::plan::Planned;
use crate::request::{self, ToolCall};

/// Why a call of an adapter gave no answer, with where it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallError {
    /// The adapter; empty where none could be chosen.
    pub adapter: String,
    /// The op or tool, where there is one.
    pub op: Option<String>,
    /// What happened.
    pub fault: Fault,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.op {
            _ if self.adapter.is_empty() => self.fault.fmt(f),
            Some(op) => write!(f, "adapter `{}`, `{op}`: {}", self.adapter, self.fault),
            None => write!(f, "adapter `{}`: {}", self.adapter, self.fault),
        }
    }
}

impl std::error::Error for CallError {}

impl CallError {
    /// Says of faults that they happened there.
    pub(crate) fn at(adapter: &str, op: Option<&str>) -> impl Fn(Fault) -> Self + Copy {
        move |fault| Self {
            adapter: adapter.to_owned(),
            op: op.map(str::to_owned),
            fault,
        }
    }
}

/// What came back, read as far as every op reads it.
#[derive(Debug)]
pub struct Outcome {
    /// The payload.
    pub payload: Payload<'static>,
    /// How the op reads it.
    pub reading: Reading,
    /// What was sent to a tool, by parameter; empty for other drivers.
    pub bindings: Vec<Binding>,
    /// The arguments that the tool was called with; `None` for other drivers. They may hold secrets.
    pub arguments: Option<Map<String, Value>>,
    /// What the person should know besides.
    pub notes: Vec<String>,
    /// It failed after it had printed something.
    pub failure: Option<Fault>,
    /// How long it took.
    pub took: Duration,
}

impl Engine {
    /// Calls an op of an adapter that is active. Dropping the future ends the call and whatever
    /// it started.
    ///
    /// # Errors
    /// The adapter or op is not there or not active, the op rests, or the call failed.
    pub async fn call(
        &self,
        adapter: &str,
        op: &str,
        inputs: &Inputs,
    ) -> Result<(Planned, Outcome), CallError> {
        let fails = CallError::at(adapter, Some(op));
        let plan = self.plan();
        let planned = plan.callable(adapter).map_err(fails)?.at(self.now());
        let configured = planned.op(op).map_err(fails)?;
        self.inner().health.admit(adapter, op).map_err(fails)?;
        let outcome = self.ask(&planned, op, configured, inputs).await;
        let fault = match &outcome {
            Ok(outcome) => outcome.failure.as_ref(),
            Err(fault) => Some(fault),
        };
        self.inner().health.note(adapter, op, fault);
        Ok((planned.clone(), outcome.map_err(fails)?))
    }

    /// Calls a declared tool; gives its text.
    ///
    /// # Errors
    /// As [`Engine::call`]; and arguments that do not fit its schema.
    pub async fn call_declared(
        &self,
        adapter: &str,
        tool: &DeclaredTool,
        arguments: Map<String, Value>,
    ) -> Result<String, CallError> {
        let fails = CallError::at(adapter, Some(&tool.name));
        let plan = self.plan();
        let planned = plan.callable(adapter).map_err(fails)?.at(self.now());
        let arguments = crate::declared::checked(tool, arguments).map_err(fails)?;
        let inputs = crate::declared::inputs(arguments);
        let (name, op) = match &tool.op {
            ToolOp::Named(name) => (name.as_str(), planned.op(name).map_err(fails)?),
            ToolOp::Inline(op) => (tool.name.as_str(), &**op),
        };
        self.inner().health.admit(adapter, name).map_err(fails)?;
        let outcome = self.ask(&planned, name, op, &inputs).await;
        // Half an answer is none here: there is no place beside the text to say so.
        let outcome = outcome.and_then(|mut outcome| match outcome.failure.take() {
            Some(failure) => Err(failure),
            None => Ok(outcome),
        });
        let health = &self.inner().health;
        health.note(adapter, name, outcome.as_ref().err());
        Ok(outcome.map_err(fails)?.text())
    }

    /// One call, within its limit.
    async fn ask(
        &self,
        planned: &Planned,
        name: &str,
        op: &Op,
        inputs: &Inputs,
    ) -> Result<Outcome, Fault> {
        let began = Instant::now();
        let limit = limit(planned, op);
        let redactor = planned.redactor();
        let asked = match planned.adapter.driver {
            Some(Driver::Mcp) => self.ask_server(planned, name, op, inputs, limit).await,
            Some(Driver::Http) => self.ask_service(planned, op, inputs, limit).await,
            Some(Driver::Command) => ask_program(planned, name, op, inputs, limit).await,
            None => Err(Fault::refused("it has no driver")),
        };
        let mut outcome = asked.map_err(|fault| redactor.fault(fault))?;
        outcome.took = began.elapsed();
        outcome.failure = outcome.failure.map(|fault| redactor.fault(fault));
        for note in &mut outcome.notes {
            *note = redactor.redact(note);
        }
        Ok(outcome)
    }

    async fn ask_server(
        &self,
        planned: &Planned,
        name: &str,
        op: &Op,
        inputs: &Inputs,
        limit: Duration,
    ) -> Result<Outcome, Fault> {
        let ToolCall { tool, args } =
            request::tool(&planned.adapter, op, &planned.context, &inputs.values)?;
        let server = self.server(planned)?;
        // A start has a limit of its own (adapters.md section 7): the call has the whole of its own.
        server.ready(limit).await?;
        let root = planned.root.to_string_lossy();
        let offer = Offer {
            op: name,
            tool: &tool,
            delivers_event: planned.adapter.on.iter().any(|on| on.op == name),
            inputs: &inputs.values,
            named: inputs.named.as_ref(),
            root: &root,
        };
        let Some(schema) = self.tool_schema(planned.name(), &tool) else {
            return Err(unknown_tool(&server, &tool));
        };
        let bound = schema.bind(&offer, args.as_ref()).map_err(|fault| {
            let gone = crate::uses::left_out(op.args.as_ref(), &inputs.values);
            fault_of_caller(fault, &gone)
        })?;
        let options = mcp::CallOptions {
            timeout: Some(limit),
            ..mcp::CallOptions::default()
        };
        let sent = bound.arguments.clone();
        let result = server.call_tool(&tool, bound.arguments, options).await?;
        if let Some(fault) = tool_error(&result) {
            return Err(fault);
        }
        let outcome = Outcome::of(Raw::Tool(&result), op)?;
        Ok(Outcome {
            bindings: bound.bindings,
            arguments: Some(sent),
            notes: bound.notes.into_iter().chain(outcome.notes).collect(),
            ..outcome
        })
    }

    async fn ask_service(
        &self,
        planned: &Planned,
        op: &Op,
        inputs: &Inputs,
        limit: Duration,
    ) -> Result<Outcome, Fault> {
        let request = request::http(&planned.adapter, op, &planned.context, &inputs.values)?;
        let http = &self.inner().http;
        let answer = http.call(&request, limit, planned.redactor()).await?;
        Outcome::of(Raw::Text(&answer.text), op)
    }
}

/// Arguments that do not fit because the templates in `args` found no input: the caller can mend
/// that, the configuration need not change.
fn fault_of_caller(fault: Fault, left_out: &[String]) -> Fault {
    let Some(said) = fault.message().strip_suffix(CORRECT_ARGS) else {
        return fault;
    };
    match left_out {
        [] => fault,
        [one] => Fault::refused(format!("{said}the caller left out the input `{one}`")),
        more => {
            let more = crate::plan::listed(more);
            Fault::refused(format!("{said}the caller left out the inputs {more}"))
        }
    }
}

async fn ask_program(
    planned: &Planned,
    name: &str,
    op: &Op,
    inputs: &Inputs,
    limit: Duration,
) -> Result<Outcome, Fault> {
    let (adapter, context) = (&planned.adapter, &planned.context);
    let redactor = planned.redactor();
    let output = command::call(adapter, op, context, &inputs.values, limit, redactor).await?;
    let gives_hits = matches!(name, "search" | "history" | "code");
    let may_mean_nothing = gives_hits && output.may_mean_nothing();
    let (text, failure) = output.answer(gives_hits)?;
    match Outcome::of(Raw::Text(&text), op) {
        Ok(outcome) if may_mean_nothing && only_remarks(op, &outcome, planned, inputs) => {
            Ok(outcome)
        }
        Ok(outcome) => Ok(Outcome { failure, ..outcome }),
        // What it says about its failure is more to the point than half an answer.
        Err(fault) => Err(failure.unwrap_or(fault)),
    }
}

/// Whether a stream of events holds nothing but what `where` says is no hit.
fn only_remarks(op: &Op, outcome: &Outcome, planned: &Planned, inputs: &Inputs) -> bool {
    let events = op.format == Format::Jsonl && !op.filter.is_empty();
    events && {
        let mapped = outcome.hits(planned, inputs);
        mapped.hits.is_empty() && mapped.dropped == 0
    }
}

impl Outcome {
    fn of(raw: Raw<'_>, op: &Op) -> Result<Self, Fault> {
        let reading = Reading::new(op);
        let payload = owned(reading.payload(raw)?);
        Ok(Self {
            notes: Vec::new(),
            payload,
            reading,
            bindings: Vec::new(),
            arguments: None,
            failure: None,
            took: Duration::ZERO,
        })
    }

    /// What there is to say beside a text: of the call, and of the payload.
    pub fn said(&self) -> impl Iterator<Item = &String> {
        self.notes.iter().chain(&self.payload.notes)
    }

    /// The answer as text.
    pub fn text(&self) -> String {
        self.reading.text(&self.payload)
    }

    /// The hits in it.
    pub fn hits(&self, planned: &Planned, inputs: &Inputs) -> Mapped {
        let scope = planned.context.scope(&planned.adapter, &inputs.values);
        self.reading.hits(&self.payload, &scope)
    }
}

fn owned(payload: Payload<'_>) -> Payload<'static> {
    Payload {
        value: Cow::Owned(payload.value.into_owned()),
        is_text: payload.is_text,
        notes: payload.notes,
    }
}

/// What a tool says went wrong, where it says that something did.
fn tool_error(result: &Value) -> Option<Fault> {
    const MOST: usize = 400;
    if result.get("isError") != Some(&Value::Bool(true)) {
        return None;
    }
    let blocks = result.get("content").and_then(Value::as_array);
    let texts = blocks
        .into_iter()
        .flatten()
        .filter_map(|block| block.get("text")?.as_str());
    let said = texts.collect::<Vec<_>>().join(" ");
    let said: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let words: String = said.chars().take(MOST).collect();
    Some(Fault::new(
        FaultKind::ToolError,
        if words.is_empty() {
            "the tool reports an error and does not say which".to_owned()
        } else {
            format!("the tool reports: {words}")
        },
    ))
}

/// The limit of one call.
pub fn limit(planned: &Planned, op: &Op) -> Duration {
    Duration::from_millis(op.timeout_ms.unwrap_or(planned.adapter.timeout_ms))
}

fn unknown_tool(server: &mcp::Server, tool: &str) -> Fault {
    let tools = server.tools();
    if tools.revision == 0 {
        return Fault::new(
            FaultKind::Starting,
            "its server has not listed its tools yet",
        );
    }
    let names: Vec<&str> = tools
        .tools
        .iter()
        .filter_map(|tool| tool.get("name")?.as_str())
        .collect();
    Fault::refused(
        match kontext_config::schema::nearest(tool, names.iter().copied()) {
            Some(near) => format!("its server has no tool `{tool}`; did you mean `{near}`?"),
            None if names.is_empty() => format!("its server has no tool `{tool}`; it offers none"),
            None => format!(
                "its server has no tool `{tool}`; it has {}",
                crate::plan::listed(names)
            ),
        },
    )
}

#[cfg(test)]
mod tests;
