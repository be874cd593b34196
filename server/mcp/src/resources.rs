//! The resources: the effective configuration, the layers, the schema, the field reference, and the
//! logs of servers.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use serde_json::Value;

use crate::source::Answers;

const EFFECTIVE: &str = "kontext://config/effective";
const SCHEMA: &str = "kontext://schema";
const LAYERS: &str = "kontext://layers/";
const REFERENCE: &str = "kontext://reference/";
const LOGS: &str = "kontext://logs/";

const JSON: &str = "application/json";
const TOML: &str = "application/toml";
const MARKDOWN: &str = "text/markdown";
const PLAIN: &str = "text/plain";

/// What stands as it is in a URI; all else of an adapter's name is escaped.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// What a resource's URI names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    /// The effective configuration with the origin of each value.
    Effective,
    /// The JSON Schema of the configuration.
    Schema,
    /// One layer's text.
    Layer(String),
    /// One page of the field reference.
    Page(String),
    /// What an adapter's server has written besides the protocol.
    Log(String),
}

/// Reads a URI; `None` where it can be no resource of this server.
pub fn parse(uri: &str) -> Option<Name> {
    match uri {
        EFFECTIVE => return Some(Name::Effective),
        SCHEMA => return Some(Name::Schema),
        _ => {}
    }
    if let Some(layer) = uri.strip_prefix(LAYERS) {
        return is_name(layer).then(|| Name::Layer(layer.to_owned()));
    }
    if let Some(adapter) = uri.strip_prefix(LOGS) {
        let name = percent_decode_str(adapter).decode_utf8().ok()?;
        // One spelling for each name: subscriptions are told apart by their URI.
        return (!name.is_empty() && log_uri(&name) == uri).then(|| Name::Log(name.into_owned()));
    }
    let page = uri.strip_prefix(REFERENCE)?;
    is_name(page).then(|| Name::Page(page.to_owned()))
}

/// Names of layers and pages are such that no URI needs escapes.
fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

fn log_uri(adapter: &str) -> String {
    format!("{LOGS}{}", utf8_percent_encode(adapter, KEPT))
}

/// Every resource there is now, in a stable order.
pub fn list(answers: &dyn Answers) -> Vec<Resource> {
    let mut list = vec![
        Resource::new(EFFECTIVE, "effective configuration")
            .with_title("Effective configuration")
            .with_description(
                "The configuration after all layers are merged, each value with the layer and \
                 place it comes from. Secrets are masked.",
            )
            .with_mime_type(JSON),
        Resource::new(SCHEMA, "schema")
            .with_title("JSON Schema of the configuration")
            .with_description("For tools that complete and validate TOML by schema.")
            .with_mime_type(JSON),
    ];
    for layer in answers.layers() {
        // A layer that does not exist can be read too: its absence is an answer.
        if layer.exists {
            list.push(
                Resource::new(
                    format!("{LAYERS}{}", layer.layer),
                    format!("layer {}", layer.layer),
                )
                .with_title(format!("Layer {}", layer.layer))
                .with_description(format!(
                    "{} as it stands, unsaved edits included.",
                    layer.path
                ))
                .with_mime_type(TOML),
            );
        }
    }
    for adapter in answers.logs() {
        list.push(
            Resource::new(log_uri(&adapter), format!("log {adapter}"))
                .with_title(format!("Log of the server of {adapter}"))
                .with_description("Its standard error, and what it wrote besides the protocol.")
                .with_mime_type(PLAIN),
        );
    }
    for page in answers.pages() {
        list.push(
            Resource::new(
                format!("{REFERENCE}{}", page.page),
                format!("reference {}", page.page),
            )
            .with_title(page.title)
            .with_mime_type(MARKDOWN),
        );
    }
    list
}

/// The templates behind the list.
pub fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{LAYERS}{{layer}}"), "layer")
            .with_title("One layer of the configuration")
            .with_description(
                "`user`, `repository`, `shared` or `clone`, as kontext_status names them.",
            )
            .with_mime_type(TOML),
        ResourceTemplate::new(format!("{LOGS}{{adapter}}"), "log")
            .with_title("The log of an adapter's server")
            .with_mime_type(PLAIN),
        ResourceTemplate::new(format!("{REFERENCE}{{page}}"), "reference")
            .with_title("One page of the field reference")
            .with_mime_type(MARKDOWN),
    ]
}

/// The text of a resource and its media type; `None` where there is none of that name.
pub fn text(answers: &dyn Answers, name: &Name) -> Option<(String, &'static str)> {
    match name {
        Name::Effective => Some((pretty(&answers.effective()), JSON)),
        Name::Schema => Some((pretty(&answers.schema()), JSON)),
        Name::Layer(layer) => answers.layer(layer).map(|layer| (layer.text, TOML)),
        Name::Page(page) => answers.page(page).map(|text| (text, MARKDOWN)),
        Name::Log(adapter) => answers.log(adapter).map(|text| (text, PLAIN)),
    }
}

/// The content of the resource at `uri`.
pub fn read(answers: &dyn Answers, uri: &str) -> Option<ResourceContents> {
    let (text, mime) = text(answers, &parse(uri)?)?;
    Some(ResourceContents::text(text, uri).with_mime_type(mime))
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_uris_without_tricks_are_names() {
        assert_eq!(
            parse("kontext://layers/user"),
            Some(Name::Layer("user".to_owned()))
        );
        assert_eq!(
            parse("kontext://reference/adapter.when"),
            Some(Name::Page("adapter.when".to_owned()))
        );
        assert_eq!(
            parse("kontext://logs/team%2Fwiki"),
            Some(Name::Log("team/wiki".to_owned()))
        );
        for odd in [
            "kontext://logs/",
            "kontext://logs/a/b",
            "kontext://logs/%61",
            "kontext://logs/%ff",
            "",
            "file:///etc/passwd",
            "kontext://layers/",
            "kontext://layers/a/b",
            "kontext://layers/%2e",
            "kontext://config",
        ] {
            assert_eq!(parse(odd), None, "{odd}");
        }
    }
}
