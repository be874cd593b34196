//! The name somebody most likely meant.

use super::kind::{EnumValue, FieldSpec, Kind, TableSpec};

/// Longest name a suggestion is sought for, in bytes: nobody misspells a longer one.
const MAX_NAME: usize = 80;

/// The candidate that `name` is most likely a misspelling of, or `None` where none is close.
///
/// Close means: equal but for case, `_`, `-` and blanks; or one of the two is a beginning of the
/// other that says enough (`timeout` for `timeout_ms`); or few edits apart (swapped neighbours
/// count as one) in relation to the length. Names of one or two characters match only in the first
/// way. Of equally close candidates the first wins.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_NAME {
        return None;
    }
    let wanted = fold(name);
    let length = wanted.chars().count();
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        let folded = fold(candidate);
        let cost = if folded == wanted {
            0
        } else if length < 3 {
            continue;
        } else {
            let edits = strsim::osa_distance(&wanted, &folded);
            let beginning = is_beginning(&wanted, &folded) || is_beginning(&folded, &wanted);
            match edits {
                edits if edits <= allowed(length.min(folded.chars().count())) => edits * 2,
                // Weaker than one edit, stronger than two.
                _ if beginning => 3,
                _ => continue,
            }
        };
        if best.is_none_or(|(least, _)| cost < least) {
            best = Some((cost, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

impl TableSpec {
    /// The field an unknown key most likely stands for: by a name another program uses for it,
    /// else by spelling.
    pub fn suggest(&self, name: &str) -> Option<&'static FieldSpec> {
        if name.len() > MAX_NAME {
            return None;
        }
        let wanted = fold(name);
        let known = |field: &&FieldSpec| {
            fold(field.name) == wanted || field.also.iter().any(|also| fold(also) == wanted)
        };
        self.fields.iter().find(known).or_else(|| {
            nearest(name, self.fields.iter().map(|field| field.name))
                .and_then(|near| self.field(near))
        })
    }
}

impl Kind {
    /// The allowed value a wrong one most likely stands for: by what another program calls it,
    /// else by spelling.
    pub fn suggest_value(&self, value: &str) -> Option<&'static EnumValue> {
        if value.len() > MAX_NAME {
            return None;
        }
        let wanted = fold(value);
        let known = |one: &&EnumValue| one.also.iter().any(|also| fold(also) == wanted);
        self.values().find(known).or_else(|| {
            let near = nearest(value, self.values().map(|one| one.value))?;
            self.values().find(|one| one.value == near)
        })
    }
}

/// Edits allowed for the shorter of two names.
const fn allowed(length: usize) -> usize {
    match length {
        0..=2 => 0,
        3..=5 => 1,
        6..=9 => 2,
        _ => 3,
    }
}

/// Whether the short one is a beginning of the long one that can stand for it.
fn is_beginning(short: &str, long: &str) -> bool {
    short.len() >= 4 && long.starts_with(short)
}

fn fold(name: &str) -> String {
    name.chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{lookup, root};

    fn suggested(path: &[&str], name: &str) -> Option<&'static str> {
        let table = if path.is_empty() {
            root()
        } else {
            lookup(path)?.kind().table()?
        };
        table.suggest(name).map(|field| field.name)
    }

    #[test]
    fn misspelt_keys_find_their_field() {
        let adapter = ["adapters", "a"];
        let op = ["adapters", "a", "ops", "search"];
        for (path, name, field) in [
            (adapter.as_slice(), "timeout", "timeout_ms"),
            (&adapter, "startup_timeout_sec", "timeout_ms"),
            (&adapter, "comand", "command"),
            (&adapter, "commnd", "command"),
            (&adapter, "cmd", "command"),
            (&adapter, "args", "command"),
            (&adapter, "type", "driver"),
            (&adapter, "drvier", "driver"),
            (&adapter, "baseUrl", "base_url"),
            (&adapter, "disabled", "enabled"),
            (&adapter, "desc", "description"),
            (&["adapters", "a", "when"], "envs", "env"),
            (&["adapters", "a", "when"], "fil", "file"),
            (&op, "qeury", "query"),
            (&op, "formt", "format"),
            (
                &["adapters", "a", "ops", "search", "map"],
                "snipet",
                "snippet",
            ),
            (&["adapters", "a", "ops", "search", "map"], "url", "uri"),
            (&["adapters", "a", "on"], "evnt", "event"),
            (&["adapters", "a", "tools"], "nme", "name"),
            (&[], "adapter", "adapters"),
            (&[], "compagnion", "companion"),
        ] {
            assert_eq!(suggested(path, name), Some(field), "{name} in {path:?}");
        }
    }

    #[test]
    fn unrelated_keys_find_nothing() {
        let adapter = ["adapters", "a"];
        for name in [
            "srv",
            "x",
            "q",
            "",
            "colour",
            "nonsense",
            "é",
            "日本語",
            "retries",
        ] {
            assert_eq!(suggested(&adapter, name), None, "{name}");
        }
    }

    #[test]
    fn wrong_values_find_theirs() {
        let suggested = |path: &[&str], value: &str| {
            lookup(path)?
                .kind()
                .suggest_value(value)
                .map(|one| one.value)
        };
        let driver = ["adapters", "a", "driver"];
        assert_eq!(suggested(&driver, "stdio"), Some("mcp"));
        assert_eq!(suggested(&driver, "MCP"), Some("mcp"));
        assert_eq!(suggested(&driver, "comand"), Some("command"));
        assert_eq!(suggested(&driver, "grpc"), None);
        assert_eq!(suggested(&["adapters", "a", "expose"], "al"), None);
        assert_eq!(
            suggested(&["adapters", "a", "on", "event"], "snyc"),
            Some("sync")
        );
    }

    #[test]
    fn the_closest_wins() {
        assert_eq!(
            nearest("serach", ["store", "search", "code"]),
            Some("search")
        );
        assert_eq!(nearest("stdio", ["mcp", "http", "command"]), None);
        assert_eq!(nearest("htpp", ["mcp", "http", "command"]), Some("http"));
    }
}
