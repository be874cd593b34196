//! `kontext_status`: the process, the layers, the adapters with every reason.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{Reply, Run, Tool, schema};
use crate::answers::Status;
use crate::gates::{self, Class};
use crate::source::{AnswerError, Answers};
use crate::words::counted;

pub(super) const TOOL: Tool = Tool {
    name: "kontext_status",
    title: "Status of the adapters",
    description: "Shows every adapter of this workspace with its status (active, inactive, \
        disabled, untrusted, invalid) and all reasons, the configuration layers and whether each \
        could be read, which gates are closed and how the user opens them, and whether an editor \
        is connected. Call it first when an adapter does not do what is expected.",
    class: Class::Read,
    input: || schema::object(json!({}), &[]),
    output,
    run: Run::Snapshot(run),
};

/// The status, and what only a running server can add to it.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    #[serde(flatten)]
    status: Status,
    process: Process,
    #[serde(default)]
    closed: Vec<Closed>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Process {
    pid: u32,
    version: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Closed {
    setting: String,
    open: String,
}

fn run(answers: &dyn Answers, _arguments: &Map<String, Value>) -> Result<Reply, AnswerError> {
    let status = answers.status();
    let closed = status
        .gates
        .closed_for(Class::WriteExternal)
        .into_iter()
        .map(|setting| Closed {
            setting: setting.to_owned(),
            open: gates::how_to_open(setting),
        })
        .collect();
    let answer = Answer {
        status,
        process: Process {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        closed,
    };
    super::reply(
        &answer,
        text,
        "The resource `kontext://config/effective` has everything.",
    )
}

fn text(answer: &Answer) -> String {
    let status = &answer.status;
    let mut out = String::new();
    let seen = if status.editor {
        "an editor is connected, unsaved text is seen"
    } else {
        "no editor is connected, the files on disk are seen"
    };
    let _ = writeln!(
        out,
        "kontext-ls {} (process {}): {seen}.",
        answer.process.version, answer.process.pid
    );
    if status.adapters.is_empty() {
        out.push_str("\nNo adapters are configured.\n");
    } else {
        out.push_str("\nAdapters:\n");
    }
    for adapter in &status.adapters {
        let _ = write!(out, "- {}", adapter.name);
        if !adapter.driver.is_empty() {
            let _ = write!(out, " ({})", adapter.driver);
        }
        let _ = write!(out, ", layer {}: {}", adapter.layer, adapter.status);
        if let Some(server) = &adapter.server {
            let _ = write!(
                out,
                ", server {} with {}",
                server.state,
                counted(server.tools as usize, "tool")
            );
        }
        out.push('\n');
        for reason in &adapter.reasons {
            let _ = writeln!(out, "  - {reason}");
        }
    }
    out.push_str("\nLayers:\n");
    for layer in &status.layers {
        let state = match (&layer.problem, layer.exists, layer.trusted) {
            (Some(problem), _, _) => problem.as_str(),
            (None, false, _) => "does not exist",
            (None, true, true) if layer.trusted_by.as_deref() == Some("environment") => {
                "read, trusted by KONTEXT_TRUST_REPO_ADAPTERS=1"
            }
            (None, true, true) => "read",
            (None, true, false) => "read, not trusted",
        };
        let _ = writeln!(out, "- {}: {} ({state})", layer.layer, layer.path);
    }
    if status.outbox.waiting > 0 || status.outbox.failed > 0 {
        let _ = writeln!(
            out,
            "\nOutbox: {} waiting, {} failed.",
            status.outbox.waiting, status.outbox.failed
        );
    }
    for closed in &answer.closed {
        let _ = writeln!(
            out,
            "\nGate `{}` is closed; to open it, the user has to {}.",
            closed.setting, closed.open
        );
    }
    out
}

fn output() -> Value {
    let server = schema::object(
        json!({"state": schema::text(), "tools": schema::count()}),
        &["state", "tools"],
    );
    let adapter = schema::object(
        json!({
            "name": schema::text(),
            "driver": schema::text(),
            "status": {
                "type": "string",
                "enum": ["active", "inactive", "disabled", "untrusted", "invalid"],
            },
            "reasons": schema::list(schema::text()),
            "layer": schema::text(),
            "server": server,
        }),
        &["name", "driver", "status", "reasons", "layer"],
    );
    let outbox = schema::object(
        json!({"waiting": schema::count(), "failed": schema::count()}),
        &["waiting", "failed"],
    );
    let process = schema::object(
        json!({"pid": schema::count(), "version": schema::text()}),
        &["pid", "version"],
    );
    let closed = schema::object(
        json!({"setting": schema::text(), "open": schema::text()}),
        &["setting", "open"],
    );
    schema::object(
        json!({
            "adapters": schema::list(adapter),
            "gates": schema::gates(),
            "outbox": outbox,
            "layers": schema::list(schema::layer()),
            "editor": schema::flag(),
            "process": process,
            "closed": schema::list(closed),
            "omitted": schema::omitted(),
        }),
        &[
            "adapters", "gates", "outbox", "layers", "editor", "process", "closed",
        ],
    )
}
