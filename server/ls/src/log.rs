//! Where the program's own log goes: standard error, and the client's log window.
//!
//! Standard output never carries a line of it: with `lsp` and `mcp` it belongs to the protocol.

use std::io::IsTerminal;
use std::sync::OnceLock;

use tokio::sync::mpsc;
use tower_lsp::lsp_types::MessageType;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt};

/// The variable that holds the filter, in the syntax of [`EnvFilter`] (`debug`,
/// `kontext_ls=trace`). Unset: warnings and errors.
pub const VARIABLE: &str = "KONTEXT_LOG";

/// How many lines may wait for the client; more are dropped (standard error still has them).
const WAITING: usize = 256;

static CLIENT: OnceLock<mpsc::Sender<(MessageType, String)>> = OnceLock::new();

/// Starts the log. Later calls do nothing.
///
/// A panic anywhere in the program becomes one line of it.
pub fn init() {
    let asked = std::env::var(VARIABLE).ok();
    // A filter that nobody asked for is not worth the time to build one: an editor waits.
    let filter = match asked.and_then(|text| EnvFilter::try_new(text).ok()) {
        Some(filter) => filter.boxed(),
        // What rmcp warns of is a request that was refused: the agent has that as its answer.
        None => Targets::new()
            .with_default(LevelFilter::WARN)
            .with_target("rmcp::service", LevelFilter::ERROR)
            .boxed(),
    };
    let lines = fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
        .without_time();
    let started = tracing_subscriber::registry()
        .with(filter)
        .with(lines)
        .with(ToClient)
        .try_init();
    if started.is_ok() {
        std::panic::set_hook(Box::new(|panic| {
            let text = panic.payload_as_str().unwrap_or("no message");
            let at = panic
                .location()
                .map(ToString::to_string)
                .unwrap_or_default();
            tracing::error!(target: "panic", "{text} ({at})");
        }));
    }
}

/// From here on the log goes to the client as well (`window/logMessage`).
///
/// Must run inside a tokio runtime, after `initialize` was answered. Only the first client of a
/// process is served.
pub fn forward(client: tower_lsp::Client) {
    let (lines, mut queue) = mpsc::channel(WAITING);
    if CLIENT.set(lines).is_ok() {
        tokio::spawn(async move {
            while let Some((level, line)) = queue.recv().await {
                client.log_message(level, line).await;
            }
        });
    }
}

struct ToClient;

impl<S: Subscriber> Layer<S> for ToClient {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let Some(client) = CLIENT.get() else { return };
        let meta = event.metadata();
        // What tower-lsp says about sending a message would be the next message.
        if meta.target().starts_with("tower_lsp") {
            return;
        }
        let level = match *meta.level() {
            Level::ERROR => MessageType::ERROR,
            Level::WARN => MessageType::WARNING,
            Level::INFO => MessageType::INFO,
            _ => MessageType::LOG,
        };
        let mut line = Line(String::new());
        event.record(&mut line);
        let _ = client.try_send((level, line.0));
    }
}

/// An event as one line: the message, then `name=value` for each field.
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "message" {
            self.0.insert_str(0, &format!("{value:?}"));
        } else {
            self.0.push_str(&format!(" {}={value:?}", field.name()));
        }
    }
}
