//! What an op of the shown configuration would send, and what it makes of an answer.
//!
//! Nothing is sent, so unsaved text counts.

use std::sync::Arc;

use kontext_config::facts::Facts;
use kontext_config::model::{Adapter, Op};
use kontext_config::schema::nearest;
use kontext_config::stack::{Stack, View};
use kontext_engine::answer::{Raw, Reading};
use kontext_engine::secrets::Redactor;
use kontext_engine::{Context, MayStart, request};
use serde_json::{Map, Value};

use crate::answers::{Hit, Preview};
use crate::source::AnswerError;

/// The world an op is looked at in.
pub(crate) struct Subject<'a> {
    pub(crate) stack: &'a Stack,
    pub(crate) facts: &'a Arc<Facts>,
    pub(crate) adapter: &'a str,
    pub(crate) op: &'a str,
}

/// The preview; see [`crate::Answers::preview`].
///
/// # Errors
///
/// There is no such adapter or op; the request would be refused; the payload cannot be read.
pub(crate) fn preview(
    subject: &Subject<'_>,
    inputs: &Map<String, Value>,
    payload: Option<&Value>,
) -> Result<Preview, AnswerError> {
    let (adapter, view) = adapter(subject)?;
    let op = op(subject, &adapter)?;
    let stack = subject.stack;
    let context = Context {
        facts: Arc::clone(subject.facts),
        globals: Arc::new(stack.global_vars(view)),
        project: stack.project_name().map(Into::into),
        now: None,
        // Nothing is started.
        may_start: MayStart::default(),
    };
    let redactor = Redactor::new(&adapter, &context);
    let refused = |fault: kontext_engine::Fault| {
        let fault = redactor.fault(fault);
        AnswerError(format!(
            "adapter `{}`, `{}`: {fault}",
            adapter.name, subject.op
        ))
    };
    let Some(payload) = payload else {
        let mut inputs = inputs.clone();
        if op.output_file && !inputs.contains_key("output_file") {
            // A call makes a private file; its name is not known before.
            inputs.insert("output_file".to_owned(), "‹output_file›".into());
        }
        let request = request::preview(&adapter, op, &context, &inputs).map_err(refused)?;
        return Ok(Preview {
            request: Some(request),
            ..Preview::default()
        });
    };
    let written;
    let raw = match payload {
        Value::String(text) => Raw::Text(text),
        // The result of a tool as it stands in a log.
        Value::Object(result)
            if result.contains_key("content") || result.contains_key("structuredContent") =>
        {
            Raw::Tool(payload)
        }
        _ => {
            written = payload.to_string();
            Raw::Text(&written)
        }
    };
    let reading = Reading::new(op);
    let payload = reading.payload(raw).map_err(refused)?;
    let scope = context.scope(&adapter, inputs).mask_env(true);
    let mapped = reading.hits(&payload, &scope);
    Ok(Preview {
        request: None,
        hits: Some(mapped.hits.into_iter().map(Hit::from).collect()),
        dropped: Some(u64::try_from(mapped.dropped).unwrap_or(u64::MAX)),
        notes: payload.notes.into_iter().chain(mapped.notes).collect(),
    })
}

/// What a shared layer that is not trusted changes of an op has no effect; what it adds is shown
/// as it would be.
fn adapter(subject: &Subject<'_>) -> Result<(Adapter, View), AnswerError> {
    let seen = |view| Some((subject.stack.adapter(subject.adapter, view)?, view));
    seen(View::InForce)
        .filter(|(adapter, _)| adapter.driver.is_some() && adapter.ops.contains_key(subject.op))
        .or_else(|| seen(View::Shown))
        .ok_or_else(|| {
            let name = subject.adapter;
            AnswerError(match nearest(name, subject.stack.adapter_names()) {
                Some(near) => format!("there is no adapter `{name}`; did you mean `{near}`?"),
                None => format!("there is no adapter `{name}`; kontext_status lists them"),
            })
        })
}

fn op<'a>(subject: &Subject<'_>, adapter: &'a Adapter) -> Result<&'a Op, AnswerError> {
    adapter.ops.get(subject.op).ok_or_else(|| {
        let (name, op) = (&adapter.name, subject.op);
        let known: Vec<&str> = adapter.ops.keys().map(String::as_str).collect();
        AnswerError(match nearest(op, known.iter().copied()) {
            Some(near) => format!("adapter `{name}` has no op `{op}`; did you mean `{near}`?"),
            None if known.is_empty() => format!("adapter `{name}` has no ops"),
            None => format!(
                "adapter `{name}` has no op `{op}`; it has {}",
                known.join(", ")
            ),
        })
    })
}
