//! What the connections of one server have in common.

use std::path::Path;
use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use tokio::sync::{Notify, broadcast};

use super::log::Log;

/// What the connections of one server have in common.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) log: Log,
    /// Told of each `notifications/tools/list_changed`.
    pub(super) changed: Notify,
    /// The parameters of each `notifications/message`.
    pub(super) messages: broadcast::Sender<Arc<Value>>,
    /// The answer to `roots/list`.
    roots: Value,
}

impl Common {
    pub(super) fn new(log: Log, root: &Path) -> Self {
        Self {
            log,
            changed: Notify::new(),
            messages: broadcast::channel(64).0,
            roots: roots(root),
        }
    }

    pub(super) fn roots(&self) -> &Value {
        &self.roots
    }
}

/// The result of `roots/list`.
fn roots(root: &Path) -> Value {
    const PATH: &AsciiSet = &NON_ALPHANUMERIC
        .remove(b'/')
        .remove(b'-')
        .remove(b'.')
        .remove(b'_')
        .remove(b'~')
        .remove(b':');
    let mut path = root.to_string_lossy().into_owned();
    if cfg!(windows) {
        path = path.replace('\\', "/");
    }
    if !path.starts_with('/') {
        path.insert(0, '/');
    }
    let uri = format!("file://{}", utf8_percent_encode(&path, PATH));
    let name = root.file_name().map(|name| name.to_string_lossy());
    match name {
        Some(name) => json!({"roots": [{"uri": uri, "name": name}]}),
        None => json!({"roots": [{"uri": uri}]}),
    }
}
