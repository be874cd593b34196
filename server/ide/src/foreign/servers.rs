//! MCP servers as other programs write them: what is one, and where they are kept.

use serde_json::{Map, Value};

/// The keys below which programs keep their servers by name.
const HOLDERS: &[&str] = &[
    "mcpServers",
    "mcp_servers",
    "servers",
    "context_servers",
    "mcp",
    "mcp.servers",
];

/// One server, in the words of the program it comes from.
#[derive(Debug)]
pub(super) struct Server<'a> {
    /// Its name, where it has one.
    pub(super) name: Option<String>,
    /// What is said about it.
    pub(super) entry: &'a Map<String, Value>,
}

impl Server<'_> {
    /// The program and its arguments.
    pub(super) fn command(&self) -> Vec<String> {
        // Zed's older form keeps both in a table.
        let nested = self.entry.get("command").and_then(Value::as_object);
        let entry = nested.unwrap_or(self.entry);
        let program = entry.get("command").or_else(|| entry.get("path"));
        let mut words = match program {
            Some(Value::String(program)) => match entry.get("args") {
                None => program.split_whitespace().map(str::to_owned).collect(),
                Some(_) => vec![program.clone()],
            },
            Some(list @ Value::Array(_)) => strings(list),
            _ => return Vec::new(),
        };
        words.extend(entry.get("args").map(strings).unwrap_or_default());
        words
    }

    /// The endpoint.
    pub(super) fn url(&self) -> Option<&str> {
        ["url", "serverUrl", "httpUrl", "server_url", "endpoint"]
            .iter()
            .find_map(|key| self.entry.get(*key)?.as_str())
    }

    /// Whether it is reached over the network.
    pub(super) fn is_remote(&self) -> bool {
        self.url().is_some()
    }

    /// A name for a server without one: after its program or host.
    pub(super) fn likely_name(&self) -> String {
        let from = match self.url() {
            Some(url) => {
                let host = url.split("//").nth(1).unwrap_or(url);
                host.split(['/', ':', '?']).next().unwrap_or("").to_owned()
            }
            None => {
                let words = self.command();
                let runner = |word: &&String| {
                    let file = word.rsplit(['/', '\\']).next().unwrap_or(word);
                    let runners = [
                        "npx", "uvx", "uv", "node", "python", "python3", "docker", "run", "bunx",
                        "cmd", "deno", "pipx",
                    ];
                    word.starts_with(['-', '/']) && file.is_empty()
                        || word.starts_with('-')
                        || runners.contains(&file)
                };
                let program = words.iter().find(|word| !runner(word));
                let program = program.map_or("", String::as_str);
                let file = program.rsplit(['/', '\\']).next().unwrap_or(program);
                file.split('@').next().unwrap_or(file).to_owned()
            }
        };
        let name: String = from
            .chars()
            .take(40)
            .map(|c| {
                if c.is_ascii_alphanumeric() || c == '-' {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        let name = name.trim_matches(['_', '-']);
        if name.is_empty() { "server" } else { name }.to_owned()
    }
}

/// The servers in a JSON value.
pub(super) fn of_json(value: &Value) -> Vec<Server<'_>> {
    match value {
        Value::Object(object) => of_object(object),
        Value::Array(list) => list
            .iter()
            .filter_map(Value::as_object)
            .filter(|entry| is_entry(entry))
            .map(single)
            .collect(),
        _ => Vec::new(),
    }
}

fn of_object(object: &Map<String, Value>) -> Vec<Server<'_>> {
    if is_entry(object) {
        return vec![single(object)];
    }
    for holder in HOLDERS {
        match object.get(*holder) {
            Some(Value::Object(inner)) => {
                let found = of_object(inner);
                if !found.is_empty() {
                    return found;
                }
            }
            Some(Value::Array(list)) => {
                let entries = list.iter().filter_map(Value::as_object);
                let found: Vec<_> = entries
                    .filter(|entry| is_entry(entry))
                    .map(single)
                    .collect();
                if !found.is_empty() {
                    return found;
                }
            }
            _ => {}
        }
    }
    let named = object.iter().filter_map(|(name, entry)| {
        let entry = entry.as_object().filter(|entry| is_entry(entry))?;
        Some(Server {
            name: Some(name.clone()),
            entry,
        })
    });
    named.collect()
}

fn single(entry: &Map<String, Value>) -> Server<'_> {
    let name = entry.get("name").and_then(Value::as_str);
    Server {
        name: name.filter(|name| !name.is_empty()).map(str::to_owned),
        entry,
    }
}

/// Whether an object describes a server: a program, or an address.
fn is_entry(object: &Map<String, Value>) -> bool {
    let server = Server {
        name: None,
        entry: object,
    };
    let address = |url: &str| url.contains("://") || url.contains("${");
    server.url().is_some_and(address)
        || object.get("command").is_some() && !server.command().is_empty()
}

fn strings(value: &Value) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    };
    match value {
        Value::Array(list) => list.iter().filter_map(text).collect(),
        one => text(one).into_iter().collect(),
    }
}
