//! The client's settings: `initializationOptions`, `workspace/configuration`, section `kontext`.

use std::collections::BTreeMap;
use std::sync::Arc;

use kontext_config::codes::{Code, Severity};
use serde_json::Value;
use tower_lsp::Client;
use tower_lsp::lsp_types::ConfigurationItem;

use crate::workspace::Store;

/// The section of a client's settings that is ours.
const SECTION: &str = "kontext";

/// Severities that differ from those of the list; `None` switches a code off.
pub(super) type Severities = BTreeMap<Code, Option<Severity>>;

/// `{"severity": {"unknown-key": "warning", "unused-op": "off"}}`; what is none of that is left
/// out, with a line in the log.
pub(super) fn severities(settings: &Value) -> Severities {
    let settings = settings.get(SECTION).unwrap_or(settings);
    let members = settings.get("severity").and_then(Value::as_object);
    let mut severities = Severities::new();
    for (id, level) in members.into_iter().flatten() {
        let level = level.as_str().unwrap_or("");
        match (Code::parse(id), Severity::parse(level)) {
            (Some(code), Some(severity)) => _ = severities.insert(code, Some(severity)),
            (Some(code), None) if level == "off" => _ = severities.insert(code, None),
            _ => tracing::warn!(code = %id, %level, "a severity setting that is not known"),
        }
    }
    severities
}

/// Those of `initializationOptions`, and over them those of the settings.
pub(super) fn merged(options: &Value, settings: &Value) -> Severities {
    let mut all = severities(options);
    all.extend(severities(settings));
    all
}

/// Asks the client and takes over what it says. To be run in a task of its own: the client may
/// take its time, or never answer.
pub(super) async fn ask(client: Client, store: Arc<Store>, options: Value) {
    let item = ConfigurationItem {
        scope_uri: None,
        section: Some(SECTION.to_owned()),
    };
    match client.configuration(vec![item]).await {
        Ok(answers) => {
            let settings = answers.into_iter().next().unwrap_or_default();
            store.set_severities(merged(&options, &settings));
        }
        Err(error) => tracing::debug!(%error, "the client gave no configuration"),
    }
}
