//! The layers of a configuration (adapters.md section 1).

use std::fmt;

use serde::Serialize;

/// Which layer of the configuration a file is. Later layers win; the order of the variants is the
/// order of the merge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LayerKind {
    /// `<config_home>/config.toml`.
    User,
    /// `<config_home>/repos/<slug>.toml`.
    Repository,
    /// The committed file: `.kontext.toml`, `<store.dir>/kontext.toml` or `.ai/kontext.toml`.
    Shared,
    /// `<git-common-dir>/kontext/config.toml`.
    Clone,
}

impl LayerKind {
    /// All layers, lowest precedence first.
    pub const ALL: [Self; 4] = [Self::User, Self::Repository, Self::Shared, Self::Clone];

    /// Whether its adapters run without being trusted first.
    pub const fn is_personal(self) -> bool {
        !matches!(self, Self::Shared)
    }

    /// The word for it in answers and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Repository => "repository",
            Self::Shared => "shared",
            Self::Clone => "clone",
        }
    }
}

impl fmt::Display for LayerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
