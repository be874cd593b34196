//! Trust in the shared layer (adapters.md section 10): what a yes is given to.
//!
//! A [`Pin`] is the SHA-256 over a canonical form of what a layer says in `adapters`, `vars` and
//! `project`, and of the scripts in the repository that its commands name. How the file is written
//! (order of keys, spelling of numbers and strings, comments, blanks) is no part of that form; every
//! value is, also one that cannot be used. Nothing here looks at the disk: [`scripts`] says which
//! files matter, the edge hands their [`ScriptFact`]s back.

mod difference;
mod form;
mod scripts;

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, BufWriter};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::source::Source;

pub use difference::{Change, difference};
pub use form::same_meaning;
pub use scripts::{MAX_SCRIPTS, TooManyScripts, scripts};

/// The fewest digits that name a pin.
pub const LEAST_DIGITS: usize = 12;

/// Stands in front of what is hashed; another form gets another one.
const DOMAIN: &[u8] = b"kontext-ls trust 1\n";

/// What is known of a file that a command names. A file that is not there has no fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptFact {
    /// The SHA-256 of its bytes, 64 lower-case hexadecimal digits.
    Sha256(String),
    /// It is there and cannot be read.
    Unreadable,
}

/// The facts of the files that are there, by path relative to the root, segments joined by `/`.
pub type Scripts = BTreeMap<String, ScriptFact>;

/// The name of one state of a shared layer: 64 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pin(String);

impl Pin {
    /// A pin as it is written down; `None` for anything but 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        (text.len() == 64 && text.bytes().all(is_digit)).then(|| Self(text.to_owned()))
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As many digits as a person has to write.
    pub fn short(&self) -> &str {
        self.0.get(..LEAST_DIGITS).unwrap_or(&self.0)
    }

    /// Whether a person means this pin: all its digits, or the first [`LEAST_DIGITS`] or more.
    /// Upper case will do.
    pub fn is_named_by(&self, digits: &str) -> bool {
        digits.len() >= LEAST_DIGITS && self.0.starts_with(&digits.to_ascii_lowercase())
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a shared layer says, in the one way that is hashed.
///
/// It keeps the layer, not the text of the form, which is larger than the layer and seldom wanted.
#[derive(Clone, Debug)]
pub struct Canonical {
    source: Arc<Source>,
    scripts: Scripts,
    pin: Pin,
}

impl Canonical {
    /// The form of a layer with these scripts; `None` where it says nothing that waits for trust.
    pub fn of(source: &Arc<Source>, scripts: &Scripts) -> Option<Self> {
        let form = form::form(source, scripts)?;
        let mut hasher = BufWriter::new(Hasher(Sha256::new_with_prefix(DOMAIN)));
        serde_json::to_writer(&mut hasher, &form).ok()?;
        let hasher = hasher.into_inner().ok()?;
        Some(Self {
            source: Arc::clone(source),
            scripts: scripts.clone(),
            pin: Pin(hex(&hasher.0.finalize())),
        })
    }

    /// JSON, keys sorted. It holds what the layer holds, secrets included.
    pub fn text(&self) -> String {
        let form = form::form(&self.source, &self.scripts);
        form.and_then(|form| serde_json::to_string(&form).ok())
            .unwrap_or_default()
    }

    /// Its pin.
    pub fn pin(&self) -> &Pin {
        &self.pin
    }
}

struct Hasher(Sha256);

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    let mut out = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out
}
