//! `kontext-ls adapters test`: each op called once, and what becomes of its answer.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anstyle::AnsiColor;
use kontext_engine::answer::Hit;
use kontext_engine::catalogue::only_reads;
use kontext_engine::search::owner;
use kontext_engine::{Engine, Inputs, Planned, request, uses};
use kontext_mcp::words::counted;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::super::{Outcome, Shell};
use super::{first_line, visible};

/// What is asked where nothing is said.
const QUERY: &str = "test";

/// How many hits are asked for.
const LIMIT: u32 = 5;

/// Which adapters, and with what.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// The adapter [default: every active one]
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// What to look for
    #[arg(long, value_name = "Q", default_value = QUERY)]
    query: String,
    /// Only this op; the way to call one that may change something
    #[arg(long, value_name = "OP", requires = "name")]
    op: Option<String>,
    /// The document that `read` is asked for [default: that of the first hit it owns]
    #[arg(long, value_name = "URI")]
    uri: Option<String>,
    /// An input of the op; VALUE is JSON where it reads as that, else text. Beside the sample
    /// inputs for an op that only asks; any other op gets these alone
    #[arg(long = "input", value_name = "KEY=VALUE", requires = "op", value_parser = input)]
    inputs: Vec<(String, Value)>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
    /// The workspace [default: $KONTEXT_DIR, else the current directory]
    #[arg(long, value_name = "PATH")]
    dir: Option<PathBuf>,
}

impl Args {
    /// What was looked for.
    fn asked(&self) -> &str {
        let mut given = self.inputs.iter().filter(|(name, _)| name == "query");
        let given = given.next_back().and_then(|(_, query)| query.as_str());
        given.unwrap_or(&self.query)
    }
}

/// Calls the ops and prints what became of it. Exit code 1 where one failed.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn run(args: &Args, shell: &Shell) -> Outcome {
    let report = super::with_engine(args.dir.as_deref(), async |engine: &Engine| {
        test(engine, args).await
    })?;
    if args.json {
        shell.json(&report)?;
    } else {
        shell.print(text(&report, args))?;
    }
    Ok(u8::from(report.failed))
}

/// All that was tried.
#[derive(Debug, Default, Serialize)]
struct Report {
    failed: bool,
    adapters: Vec<Tried>,
}

#[derive(Debug, Serialize)]
struct Tried {
    adapter: String,
    status: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<String>,
    ops: Vec<Trial>,
}

/// One op.
#[derive(Debug, Default, Serialize)]
struct Trial {
    op: String,
    /// What was sent, secrets masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<Value>,
    /// Parameters of the tool with where their values came from.
    #[serde(skip_serializing_if = "Map::is_empty")]
    parameters: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    milliseconds: Option<f64>,
    /// What came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<usize>,
    /// Items that `where` left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    filtered: Option<usize>,
    /// Items with neither title nor snippet.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hits: Option<Vec<Hit>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Why it was not called.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// `KEY=VALUE` of a command line.
fn input(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text
        .split_once('=')
        .filter(|(key, _)| !key.is_empty())
        .ok_or("write it as KEY=VALUE")?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
    Ok((key.to_owned(), value))
}

async fn test(engine: &Engine, args: &Args) -> Report {
    let plan = engine.plan();
    let mut report = Report::default();
    if let Some(name) = &args.name
        && plan.get(name).is_none()
    {
        let fault = plan.callable(name).err();
        report.failed = true;
        report.adapters.push(Tried {
            adapter: name.clone(),
            status: "unknown".to_owned(),
            reasons: fault.map(|fault| fault.to_string()).into_iter().collect(),
            ops: Vec::new(),
        });
    }
    for planned in plan.adapters() {
        let named = args.name.as_deref() == Some(planned.name());
        if args.name.is_some() && !named || args.name.is_none() && !planned.is_active() {
            continue;
        }
        let mut tried = Tried {
            adapter: planned.name().to_owned(),
            status: planned.status.status.name().to_owned(),
            reasons: planned.status.reasons.clone(),
            ops: Vec::new(),
        };
        if planned.is_active() {
            tried.ops = trials(engine, planned, args).await;
        }
        let failed = tried.ops.iter().any(|trial| trial.error.is_some());
        report.failed |= failed || named && !planned.is_active();
        report.adapters.push(tried);
    }
    report
}

async fn trials(engine: &Engine, planned: &Planned, args: &Args) -> Vec<Trial> {
    let mut trials: Vec<Trial> = Vec::new();
    let given = args.inputs.iter().find(|(name, _)| name == "uri");
    let given = given.and_then(|(_, uri)| uri.as_str().map(str::to_owned));
    let mut uri = given.or_else(|| args.uri.clone());
    // `read` comes last: it reads what the others have found.
    let ops = planned.adapter.ops.keys();
    let (read, others): (Vec<_>, Vec<_>) = ops.partition(|name| *name == "read");
    if let Some(op) = &args.op
        && !planned.adapter.ops.contains_key(op)
    {
        let fault = planned.op(op).err();
        trials.push(Trial {
            op: op.clone(),
            error: fault.map(|fault| fault.to_string()),
            ..Trial::default()
        });
    }
    for name in others.into_iter().chain(read) {
        if args.op.as_ref().is_some_and(|op| op != name) {
            continue;
        }
        let trial = if args.op.is_none() && !only_reads(name) {
            skipped(
                name,
                format!("it may change something: `--op {name}` calls it"),
            )
        } else if name == "read" && uri.is_none() {
            skipped(
                name,
                "nothing was found that it owns: name a document with `--uri`".to_owned(),
            )
        } else {
            trial(engine, planned, name, args, uri.as_deref()).await
        };
        let plan = engine.plan();
        let owned = trial
            .hits
            .iter()
            .flatten()
            .filter_map(|hit| hit.uri.as_ref());
        let owned = owned
            .filter(|uri| owner(&plan, uri).is_some_and(|owner| owner.name() == planned.name()));
        uri = uri.or_else(|| owned.into_iter().next().cloned());
        trials.push(trial);
    }
    trials
}

fn skipped(name: &str, words: String) -> Trial {
    Trial {
        op: name.to_owned(),
        skipped: Some(words),
        ..Trial::default()
    }
}

async fn trial(
    engine: &Engine,
    planned: &Planned,
    name: &str,
    args: &Args,
    uri: Option<&str>,
) -> Trial {
    let given: Map<String, Value> = args.inputs.iter().cloned().collect();
    let mut inputs = match args.inputs.is_empty() || only_reads(name) {
        true => sample(name, &args.query, uri),
        false => Map::new(),
    };
    inputs.extend(given.clone());
    let inputs = Inputs::from(inputs);
    let mut trial = Trial {
        op: name.to_owned(),
        ..Trial::default()
    };
    if let Ok(op) = planned.op(name) {
        let preview = request::preview(&planned.adapter, op, &planned.context, &inputs.values);
        trial.request = preview.ok();
    }
    let (planned, outcome) = match engine.call(planned.name(), name, &inputs).await {
        Ok(answered) => answered,
        Err(error) => {
            trial.error = Some(error.fault.to_string());
            return trial;
        }
    };
    trial.milliseconds = Some(milliseconds(outcome.took));
    if let (Some(arguments), Some(request)) = (&outcome.arguments, &mut trial.request) {
        let shown = planned.redactor().redact(&json!(arguments).to_string());
        if let (Ok(shown), Some(members)) = (serde_json::from_str(&shown), request.as_object_mut())
        {
            members.insert("arguments".to_owned(), shown);
        }
    }
    trial.parameters = outcome
        .bindings
        .iter()
        .map(|binding| (binding.parameter.clone(), binding.source.label().into()))
        .collect();
    trial.payload = Some(match outcome.payload.as_text() {
        Some(text) => format!("text, {}", counted(text.lines().count(), "line")),
        None => shape(&outcome.payload.value),
    });
    trial.notes.clone_from(&outcome.notes);
    if matches!(name, "search" | "history" | "code") {
        trial.items = Some(outcome.reading.items(&outcome.payload).len());
        let mapped = outcome.hits(&planned, &inputs);
        trial.filtered = Some(mapped.filtered);
        trial.dropped = Some(mapped.dropped);
        trial.notes.extend(mapped.notes);
        trial.hits = Some(mapped.hits);
    } else {
        trial.notes = outcome.said().cloned().collect();
        trial.text = Some(outcome.text());
    }
    trial.notes.extend(uses::unused(&planned, name, &given));
    trial.error = outcome.failure.map(|fault| fault.to_string());
    trial
}

/// The inputs of a sample call of an op.
pub(super) fn sample(op: &str, query: &str, uri: Option<&str>) -> Map<String, Value> {
    let mut inputs = Map::new();
    let mut set = |name: &str, value: Value| inputs.insert(name.to_owned(), value);
    match op {
        "history" => {
            set("target", query.into());
            set("query", query.into());
            set("limit", LIMIT.into());
        }
        "read" => {
            set("uri", uri.unwrap_or("sample://uri").into());
        }
        "llm" => {
            set("prompt", query.into());
        }
        "brief" => {
            set("query", query.into());
            set("focus", query.into());
        }
        _ => {
            set("query", query.into());
            set("limit", LIMIT.into());
        }
    }
    inputs
}

/// What a payload is made of, in a few words.
fn shape(value: &Value) -> String {
    const MOST: usize = 8;
    match value {
        Value::Object(members) => {
            let names: Vec<&str> = members.keys().take(MOST).map(String::as_str).collect();
            let more = if members.len() > MOST { ", …" } else { "" };
            format!("object with {}{more}", names.join(", "))
        }
        Value::Array(list) => format!("list of {}", list.len()),
        Value::String(_) => "text".to_owned(),
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) | Value::Number(_) => "a single value".to_owned(),
    }
}

fn milliseconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 10_000.0).round() / 10.0
}

fn text(report: &Report, args: &Args) -> String {
    let mut out = String::new();
    if report.adapters.is_empty() {
        out.push_str("No adapter is active here; `kontext-ls adapters list` says why.\n");
    }
    for tried in &report.adapters {
        let _ = writeln!(out, "{}: {}", visible(&tried.adapter), tried.status);
        for reason in &tried.reasons {
            let _ = writeln!(out, "  - {}", visible(reason));
        }
        if tried.ops.is_empty() && tried.status == "active" {
            out.push_str("  it has no ops\n");
        }
        for trial in &tried.ops {
            trial_lines(&mut out, trial, args);
        }
    }
    out
}

fn trial_lines(out: &mut String, trial: &Trial, args: &Args) {
    let (good, bad) = (AnsiColor::Green.on_default(), AnsiColor::Red.on_default());
    let name = visible(&trial.op);
    if let Some(words) = &trial.skipped {
        let _ = writeln!(out, "  {name}: not called, {}", visible(words));
        return;
    }
    let took = trial
        .milliseconds
        .map(|ms| format!(" in {ms} ms"))
        .unwrap_or_default();
    match &trial.error {
        Some(words) => {
            let _ = writeln!(
                out,
                "  {name}: {bad}failed{bad:#}{took}: {}",
                visible(words)
            );
        }
        None => {
            let _ = writeln!(out, "  {name}: {good}answered{good:#}{took}");
        }
    }
    if let Some(request) = &trial.request {
        let _ = writeln!(
            out,
            "      sent      {}",
            first_line(&request.to_string(), 160)
        );
    }
    if !trial.parameters.is_empty() {
        let sources = trial.parameters.iter();
        let sources: Vec<String> = sources
            .map(|(name, source)| format!("{name} ← {}", source.as_str().unwrap_or_default()))
            .collect();
        let _ = writeln!(out, "      bound     {}", visible(&sources.join(", ")));
    }
    if let Some(payload) = &trial.payload {
        let _ = writeln!(out, "      payload   {}", visible(payload));
    }
    if let (Some(items), Some(hits)) = (trial.items, &trial.hits) {
        let mut left_out = Vec::new();
        for (count, why) in [
            (trial.filtered, "left out by `where`"),
            (trial.dropped, "without title and snippet"),
        ] {
            if let Some(count) = count.filter(|count| *count > 0) {
                left_out.push(format!("{count} {why}"));
            }
        }
        let left_out = if left_out.is_empty() {
            String::new()
        } else {
            format!(" ({})", left_out.join(", "))
        };
        let _ = writeln!(out, "      items     {items}{left_out}");
        let _ = writeln!(
            out,
            "      hits      {} for \"{}\"",
            hits.len(),
            visible(args.asked())
        );
        for hit in hits.iter().take(3) {
            let uri = hit.uri.as_deref().unwrap_or_default();
            let _ = writeln!(
                out,
                "        {}  {}",
                first_line(&hit.title, 70),
                visible(uri)
            );
        }
    }
    if let Some(text) = &trial.text {
        let _ = writeln!(out, "      text      {}", first_line(text, 120));
    }
    for note in &trial.notes {
        let _ = writeln!(out, "      note      {}", visible(note));
    }
}
