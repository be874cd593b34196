//! Secrets out of texts.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kontext_config::eval::Vars;
use kontext_config::facts::Env;
use kontext_config::model::{Adapter, EnvValue, Op, TemplateText, ToolOp};
use kontext_syntax::template::{Head, SegmentKind, Template};
use percent_encoding::{percent_decode_str, utf8_percent_encode};
use regex::Regex;
use serde_json::Value;

use crate::context::Context;
use crate::fault::Fault;
use crate::request::{CommandLine, HttpRequest, RESERVED, RESERVED_IN_PATH, is_secret_name};

/// Shorter values are found in too many words to be taken out.
const LEAST: usize = 4;

/// Stands for a value that comes from no variable.
pub(crate) const HIDDEN: &str = "‹hidden›";

/// Takes the values of the environment that an adapter's templates name out of texts.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Each text that is taken out and what is put in its place; the longest first.
    secrets: Vec<(String, String)>,
    /// Finds any of them; `None` where there are none, or they are too long for one.
    pattern: Option<Regex>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// One that knows the variables of the environment that any template of the adapter, or a
    /// global variable, names.
    pub fn new(adapter: &Adapter, ctx: &Context) -> Self {
        let mut names = Names::default();
        names.adapter(adapter);
        names.vars(&ctx.globals);
        Self::of(&names.0, &ctx.facts.env)
    }

    fn of(names: &[String], env: &Env) -> Self {
        let mut redactor = Self::default();
        for name in names {
            if let Some(value) = env.get(name) {
                redactor.add(value, &format!("‹env.{name}›"));
            }
        }
        redactor.compile();
        redactor
    }

    /// The same, which also knows the values that a request carries in headers whose names say
    /// that they are secret.
    #[must_use]
    pub fn with_request(mut self, request: &HttpRequest) -> Self {
        for (name, value) in request
            .headers
            .iter()
            .filter(|(name, _)| is_secret_name(name))
        {
            let mask = format!("‹header {name}›");
            self.add(value, &mask);
            if let Some((_, credential)) = value.split_once(' ') {
                self.add(credential, &mask);
            }
        }
        if let Ok(url) = reqwest::Url::parse(&request.url) {
            if let Some(password) = url.password() {
                let decoded = percent_decode_str(password).decode_utf8_lossy();
                let user = percent_decode_str(url.username()).decode_utf8_lossy();
                // As the header says it.
                let credential = BASE64_STANDARD.encode(format!("{user}:{decoded}"));
                for text in [password, &*decoded, &*credential] {
                    self.add(text, HIDDEN);
                }
            }
            for (name, value) in url.query_pairs() {
                if is_secret_name(&name) {
                    self.add(&value, HIDDEN);
                }
            }
        }
        self.compile();
        self
    }

    /// The same, which also knows the values that a program gets in variables whose names say that
    /// they are secret.
    #[must_use]
    pub fn with_line(mut self, line: &CommandLine) -> Self {
        let known = self.secrets.len();
        for (name, value) in &line.env {
            if let Some(value) = value.as_ref().filter(|_| is_secret_name(name)) {
                self.add(value, HIDDEN);
            }
        }
        if self.secrets.len() > known {
            self.compile();
        }
        self
    }

    /// The text without the secrets.
    pub fn redact(&self, text: &str) -> String {
        match &self.pattern {
            Some(pattern) => pattern
                .replace_all(text, |found: &regex::Captures<'_>| {
                    let found = found.get(0).map_or("", |found| found.as_str());
                    let folded = found.to_lowercase();
                    let secret = self
                        .secrets
                        .iter()
                        .find(|(secret, _)| secret.to_lowercase() == folded);
                    secret.map_or(HIDDEN, |(_, mask)| mask.as_str()).to_owned()
                })
                .into_owned(),
            None => {
                let mut text = text.to_owned();
                for (secret, mask) in &self.secrets {
                    text = text.replace(secret.as_str(), mask);
                }
                text
            }
        }
    }

    /// The fault with its words redacted.
    pub fn fault(&self, fault: Fault) -> Fault {
        let words = self.redact(fault.message());
        fault.with_message(words)
    }

    fn add(&mut self, value: &str, mask: &str) {
        let json = Value::String(value.to_owned()).to_string();
        let json = json.trim_matches('"').to_owned();
        let ascii = in_ascii(&json);
        let encoded = utf8_percent_encode(value, RESERVED).to_string();
        let in_path = utf8_percent_encode(value, RESERVED_IN_PATH).to_string();
        let form = encoded.replace("%20", "+");
        let trimmed = value.trim().to_owned();
        for text in [
            value.to_owned(),
            trimmed,
            encoded,
            in_path,
            form,
            json,
            ascii,
        ] {
            if text.len() >= LEAST && !self.secrets.iter().any(|(known, _)| *known == text) {
                self.secrets.push((text, mask.to_owned()));
            }
        }
    }

    fn compile(&mut self) {
        self.secrets
            .sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
        let alternatives: Vec<String> = self
            .secrets
            .iter()
            .map(|(secret, _)| regex::escape(secret))
            .collect();
        self.pattern = if alternatives.is_empty() {
            None
        } else {
            // Hosts and escapes come back in another case.
            Regex::new(&format!("(?i){}", alternatives.join("|"))).ok()
        };
    }
}

/// JSON text as programs write it that keep to ASCII.
fn in_ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            text.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

/// Scheme, host, port and path of a URL: what may be shown of it.
pub fn shown_url(url: &str) -> String {
    match reqwest::Url::parse(url) {
        Ok(url) => {
            let port = url.port().map_or(String::new(), |port| format!(":{port}"));
            let host = url.host_str().unwrap_or_default();
            format!("{}://{host}{port}{}", url.scheme(), url.path())
        }
        Err(_) => "the URL".to_owned(),
    }
}

/// The names of variables of the environment, each once.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn adapter(&mut self, adapter: &Adapter) {
        self.vars(&adapter.vars);
        self.texts(&adapter.command);
        self.env(adapter.env.values());
        self.texts(&adapter.cwd);
        self.texts(&adapter.url);
        self.texts(&adapter.base_url);
        self.texts(adapter.headers.values());
        let inline = adapter.tools.iter().filter_map(|tool| match &tool.op {
            ToolOp::Inline(op) => Some(&**op),
            ToolOp::Named(_) => None,
        });
        for op in adapter.ops.values().chain(inline) {
            self.op(op);
        }
    }

    fn op(&mut self, op: &Op) {
        for arg in op.args.iter().flat_map(|args| args.iter()) {
            self.source(arg.0);
            self.value(arg.1, 0);
        }
        self.texts(&op.path);
        self.texts(&op.url);
        for value in op.query.values().chain(&op.body) {
            self.value(value, 0);
        }
        self.texts(op.headers.values());
        self.texts(&op.command);
        self.texts(&op.stdin);
        self.texts(&op.cwd);
        self.env(op.env.values());
        let map = &op.map;
        let fields = [
            &map.title,
            &map.snippet,
            &map.uri,
            &map.score,
            &map.kind,
            &map.date,
        ];
        for source in fields.into_iter().flatten() {
            self.source(source);
        }
    }

    fn vars(&mut self, vars: &Vars) {
        for name in vars.names() {
            if let Some((source, _)) = vars.get(name) {
                self.source(source);
            }
        }
    }

    fn env<'a>(&mut self, values: impl IntoIterator<Item = &'a EnvValue>) {
        for value in values {
            if let EnvValue::Set(text) = value {
                self.source(text.source());
            }
        }
    }

    fn texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a TemplateText>) {
        for text in texts {
            self.source(text.source());
        }
    }

    fn value(&mut self, value: &Value, depth: usize) {
        // Deeper values are not rendered.
        if depth > 256 {
            return;
        }
        match value {
            Value::String(source) => self.source(source),
            Value::Array(list) => {
                for value in list {
                    self.value(value, depth + 1);
                }
            }
            Value::Object(object) => {
                for (key, value) in object {
                    self.source(key);
                    self.value(value, depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn source(&mut self, source: &str) {
        if !source.contains("{{") {
            return;
        }
        for expr in Template::parse(source).exprs() {
            let Head::Path(path) = &expr.head else {
                continue;
            };
            if path.key(0) != Some("env") {
                continue;
            }
            let name = match path.segments.get(1).map(|segment| &segment.kind) {
                Some(SegmentKind::Key(name)) => name.clone(),
                Some(SegmentKind::Index(index)) => index.to_string(),
                None => continue,
            };
            if !self.0.contains(&name) {
                self.0.push(name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_taken_out_in_whatever_way_it_is_written() {
        let env = Env::new([("KEY".to_owned(), "k+e/y=ö\"1".to_owned())], false);
        let redactor = Redactor::of(&["KEY".to_owned()], &env);
        for written in [
            "k+e/y=ö\"1",
            "k%2Be/y%3D%C3%B6%221",
            "k%2be%2fy%3d%c3%b6%221",
            r#"k+e/y=ö\"1"#,
            r#"k+e/y=\u00F6\"1"#,
        ] {
            assert_eq!(redactor.redact(written), "‹env.KEY›");
        }
    }

    #[test]
    fn what_a_request_carries_in_secret_places_is_taken_out() {
        let request = HttpRequest {
            method: "GET".to_owned(),
            url: "http://usr:pw%2Bsecret@x.example/?api_key=lit-1234&q=open".to_owned(),
            headers: Vec::new(),
            body: None,
        };
        let redactor = Redactor::default().with_request(&request);
        let credential = BASE64_STANDARD.encode("usr:pw+secret");
        let text = format!("Basic {credential}, pw+secret, lit-1234, open");
        assert_eq!(
            redactor.redact(&text),
            "Basic ‹hidden›, ‹hidden›, ‹hidden›, open"
        );
    }
}
