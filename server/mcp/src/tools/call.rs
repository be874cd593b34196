//! `kontext_call`: any op by name; `kontext_spawn`: an adapter's server.

use std::fmt::Write as _;

use kontext_engine::catalogue::only_reads;
use kontext_engine::{Engine, Inputs, uses};
use serde_json::{Map, Value, json};

use super::read::{output as texts_output, reply};
use super::{Pending, Run, Tool, schema};
use crate::answers::{Note, SourceText, Spawned, Texts};
use crate::arguments;
use crate::gates::{self, Class, Gates};
use crate::source::AnswerError;
use crate::words::counted;

pub(super) const CALL: Tool = Tool {
    name: "kontext_call",
    title: "Call an op",
    description: "Calls one op of one adapter by name, with the inputs its templates use. Ops \
        other than search, history, code, read, brief, llm and health may change something: they \
        need `allow_write` as well. See kontext_preview for what would be sent.",
    class: Class::External,
    input: || schema::object(Value::Object(schema::op_members()), &["adapter", "op"]),
    output: texts_output,
    run: Run::Adapters(call),
};

pub(super) const SPAWN: Tool = Tool {
    name: "kontext_spawn",
    title: "Start an adapter's server",
    description: "Starts the MCP server of an adapter, or starts it anew, and lists its tools with \
        their schemas. For when a server hangs, or to see what it offers.",
    class: Class::WriteExternal,
    input: || {
        schema::object(
            json!({"adapter": schema::described("The adapter's name.")}),
            &["adapter"],
        )
    },
    output: spawn_output,
    run: Run::Adapters(spawn),
};

fn call(engine: Engine, gates: Gates, arguments: Map<String, Value>) -> Pending {
    Box::pin(async move {
        let named = |name| arguments::text(&arguments, name).unwrap_or_default();
        let (adapter, op) = (named("adapter"), named("op"));
        if !only_reads(op) {
            let closed = gates.closed_for(Class::WriteExternal);
            if !closed.is_empty() {
                return Err(AnswerError(gates::refusal(
                    &format!("kontext_call {op}"),
                    &closed,
                )));
            }
        }
        let inputs = arguments.get("inputs").and_then(Value::as_object);
        let inputs = Inputs::from(inputs.cloned().unwrap_or_default());
        // A misspelt name is dropped as the op goes; only the caller can know that it is wrong.
        let plan = engine.plan();
        let planned = plan.get(adapter);
        let unused = planned.map(|planned| uses::unused(planned, op, &inputs.values));
        let unused = unused.unwrap_or_default();
        let (_, outcome) = engine.call(adapter, op, &inputs).await.map_err(|error| {
            let parts = [error.to_string()].into_iter().chain(unused.clone());
            AnswerError(parts.collect::<Vec<_>>().join("; "))
        })?;
        let text = outcome.text();
        let failure = outcome.failure.as_ref().map(|fault| fault.to_string());
        let said: Vec<String> = outcome
            .said()
            .cloned()
            .chain(unused)
            .chain(failure)
            .collect();
        let note = |message| Note {
            source: adapter.to_owned(),
            message,
        };
        reply(Texts {
            notes: said.into_iter().map(note).collect(),
            texts: vec![SourceText {
                source: adapter.to_owned(),
                text,
            }],
        })
    })
}

fn spawn(engine: Engine, _gates: Gates, arguments: Map<String, Value>) -> Pending {
    Box::pin(async move {
        let adapter = arguments::text(&arguments, "adapter").unwrap_or_default();
        let spawned = engine
            .spawn(adapter)
            .await
            .map_err(|error| AnswerError(error.to_string()))?;
        let answer = Spawned {
            adapter: adapter.to_owned(),
            state: spawned.state.to_owned(),
            tools: spawned
                .tools
                .tools
                .iter()
                .map(|tool| Value::clone(tool))
                .collect(),
            notes: spawned.tools.notes.clone(),
        };
        super::reply(
            &answer,
            spawned_text,
            "`kontext-ls adapters inspect` shows all.",
        )
    })
}

fn spawned_text(answer: &Spawned) -> String {
    let mut out = format!(
        "The server of `{}` is {} and offers {}.\n",
        answer.adapter,
        answer.state,
        counted(answer.tools.len(), "tool")
    );
    for tool in &answer.tools {
        let member = |name| tool.get(name).and_then(Value::as_str).unwrap_or_default();
        let first = member("description").lines().next().unwrap_or_default();
        let _ = writeln!(out, "- {}: {first}", member("name"));
        if let Some(properties) = tool
            .pointer("/inputSchema/properties")
            .and_then(Value::as_object)
        {
            let names: Vec<&str> = properties.keys().map(String::as_str).collect();
            let _ = writeln!(out, "  parameters: {}", names.join(", "));
        }
    }
    for note in &answer.notes {
        let _ = writeln!(out, "- note: {note}");
    }
    out
}

fn spawn_output() -> Value {
    schema::object(
        json!({
            "adapter": schema::text(),
            "state": schema::text(),
            "tools": schema::list(json!({"type": "object"})),
            "notes": schema::list(schema::text()),
            "omitted": schema::omitted(),
        }),
        &["adapter", "state", "tools", "notes"],
    )
}
