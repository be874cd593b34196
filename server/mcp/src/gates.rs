//! Which tools an agent may use at all.

use serde::{Deserialize, Serialize};

/// What a tool may do, and so which gate stands before it (companion.md section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Looks at the configuration and the open documents only. Always there.
    Read,
    /// Changes something on this machine. Needs `allow_write`.
    Write,
    /// Reaches an adapter. Needs `allow_external_call`.
    External,
    /// Changes something by way of an adapter. Needs both.
    WriteExternal,
}

/// The gates as the configuration sets them; both are closed unless it opens them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Gates {
    /// `[companion] allow_write`.
    pub write: bool,
    /// `[companion] allow_external_call`.
    pub external: bool,
}

impl Gates {
    /// Whether a tool of `class` may be listed and called.
    pub fn open_for(self, class: Class) -> bool {
        self.closed_for(class).is_empty()
    }

    /// The settings that would have to be true for `class` and are not.
    pub fn closed_for(self, class: Class) -> Vec<&'static str> {
        let (write, external) = match class {
            Class::Read => (false, false),
            Class::Write => (true, false),
            Class::External => (false, true),
            Class::WriteExternal => (true, true),
        };
        let mut closed = Vec::new();
        if write && !self.write {
            closed.push("allow_write");
        }
        if external && !self.external {
            closed.push("allow_external_call");
        }
        closed
    }
}

/// The words that open the gate `setting`. Meant for the person: an agent cannot do it.
pub fn how_to_open(setting: &str) -> String {
    format!(
        "set `{setting} = true` under `[companion]` in a personal layer (the user's \
         `config.toml`, its `repos/<slug>.toml`, or the clone's `kontext/config.toml`) or in the \
         editor's settings; the shared file of the repository cannot open it, and no tool can"
    )
}

/// Why a call to the tool `name` is refused while `closed` are not set.
pub fn refusal(name: &str, closed: &[&str]) -> String {
    let ways: Vec<String> = closed.iter().map(|setting| how_to_open(setting)).collect();
    format!(
        "`{name}` is behind a closed gate. To open it, the user has to {}.",
        ways.join("; and ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_needs_no_gate_and_writing_through_an_adapter_needs_both() {
        let closed = Gates::default();
        assert!(closed.open_for(Class::Read));
        assert_eq!(closed.closed_for(Class::Write), ["allow_write"]);
        assert_eq!(
            closed.closed_for(Class::WriteExternal),
            ["allow_write", "allow_external_call"]
        );
        let write = Gates {
            write: true,
            external: false,
        };
        assert!(write.open_for(Class::Write));
        assert_eq!(
            write.closed_for(Class::WriteExternal),
            ["allow_external_call"]
        );
    }
}
