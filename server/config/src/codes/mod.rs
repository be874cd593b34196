//! The list of diagnostics: one entry a code, from which messages, severities, the pages under
//! `docs/diagnostics/`, `kontext_explain` and completion in `[companion.severity]` are made.
//!
//! Ids are stable: they stand in people's `[companion.severity]` and in links.

mod fields;
mod layers;
mod references;
mod safety;
mod syntax;
mod templates;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::schema::Text;

/// How bad a diagnostic is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It cannot work.
    Error,
    /// It likely does not do what was meant.
    Warning,
    /// Worth knowing.
    Information,
    /// A suggestion.
    Hint,
}

impl Severity {
    /// All levels, the worst first.
    pub const ALL: [Self; 4] = [Self::Error, Self::Warning, Self::Information, Self::Hint];

    /// The word for it in `[companion.severity]` and in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Information => "information",
            Self::Hint => "hint",
        }
    }

    /// The level of that name, compared exactly. `off` is none.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|severity| severity.name() == name)
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How an editor may show the range besides the severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// Faded: the text has no effect.
    Unnecessary,
}

/// The circumstances in which the examples of a code show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The text is the user layer and there is no other.
    User,
    /// The text is the shared layer, not trusted, and there is no other.
    Shared,
    /// The text is the shared layer, trusted, over a user layer with this text.
    SharedOver(&'static str),
    /// It does not come from text: the file cannot be read at all.
    Unreadable,
}

/// What there is to say about one code.
#[derive(Debug)]
pub struct CodeSpec {
    /// What is wrong, in a few words; no full stop.
    pub title: Text,
    /// What it means, why it matters and what to do. Markdown.
    pub explanation: Text,
    /// A whole file that shows exactly this code and no other.
    pub bad: &'static str,
    /// The same file put right: it shows nothing.
    pub good: &'static str,
    /// In which circumstances.
    pub setting: Setting,
    /// How it is shown.
    pub tag: Option<Tag>,
}

impl CodeSpec {
    /// What most codes are; entries name what differs.
    const BASE: Self = Self {
        title: Text::en(""),
        explanation: Text::en(""),
        bad: "",
        good: "",
        setting: Setting::User,
        tag: None,
    };
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $code:ident = $id:literal, $severity:ident, $spec:path;)*) => {
        /// The stable code of a diagnostic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $doc])+ $code,)*
        }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$code,)*];

            /// The id: kebab-case, stable.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$code => $id,)* }
            }

            /// The severity it has unless `[companion.severity]` says otherwise.
            pub const fn severity(self) -> Severity {
                match self { $(Self::$code => Severity::$severity,)* }
            }

            /// Title, explanation and examples.
            pub fn spec(self) -> &'static CodeSpec {
                match self { $(Self::$code => &$spec,)* }
            }
        }
    };
}

codes! {
    /// The text does not follow TOML.
    TomlSyntax = "toml-syntax", Error, syntax::TOML_SYNTAX;
    /// A backslash escape that TOML does not know.
    InvalidEscape = "invalid-escape", Error, syntax::INVALID_ESCAPE;
    /// A byte order mark inside the file.
    BomInside = "bom-inside", Error, syntax::BOM_INSIDE;
    /// A key is given twice in one table.
    DuplicateKey = "duplicate-key", Error, syntax::DUPLICATE_KEY;
    /// A table is defined twice, or a key is both value and table.
    TableConflict = "table-conflict", Error, syntax::TABLE_CONFLICT;
    /// Values are nested too deeply.
    TooDeep = "too-deep", Error, syntax::TOO_DEEP;
    /// JSON where TOML is expected.
    JsonPasted = "json-pasted", Error, syntax::JSON_PASTED;
    /// A server entry in the format of another program.
    ForeignFormat = "foreign-format", Hint, syntax::FOREIGN_FORMAT;
    /// The file is not UTF-8.
    InvalidUtf8 = "invalid-utf8", Error, syntax::INVALID_UTF8;
    /// The file of a layer cannot be read.
    UnreadableLayer = "unreadable-layer", Error, syntax::UNREADABLE_LAYER;

    /// A key that no table of this kind has.
    UnknownKey = "unknown-key", Error, fields::UNKNOWN_KEY;
    /// A table at the top of the file that is not part of the format.
    UnknownTable = "unknown-table", Hint, fields::UNKNOWN_TABLE;
    /// A dot in a header splits what was meant as one adapter name.
    DottedName = "dotted-name", Error, fields::DOTTED_NAME;
    /// A value of another TOML type than the field has.
    WrongType = "wrong-type", Error, fields::WRONG_TYPE;
    /// `command` is one string.
    CommandString = "command-string", Error, fields::COMMAND_STRING;
    /// A string that is not among the allowed ones.
    InvalidValue = "invalid-value", Error, fields::INVALID_VALUE;
    /// A number outside its range.
    OutOfRange = "out-of-range", Error, fields::OUT_OF_RANGE;
    /// An empty array where at least one element is needed.
    EmptyArray = "empty-array", Error, fields::EMPTY_ARRAY;
    /// A required field is not given.
    MissingField = "missing-field", Error, fields::MISSING_FIELD;
    /// The adapter has no `driver` in any layer.
    MissingDriver = "missing-driver", Error, fields::MISSING_DRIVER;
    /// Nothing says what is started or called.
    MissingTarget = "missing-target", Error, fields::MISSING_TARGET;
    /// A field that the adapter's driver does not use.
    UnusedByDriver = "unused-by-driver", Warning, fields::UNUSED_BY_DRIVER;
    /// `command` beside `url`.
    UrlWins = "url-wins", Warning, fields::URL_WINS;
    /// A regular expression that does not compile.
    InvalidRegex = "invalid-regex", Error, fields::INVALID_REGEX;
    /// Not an absolute http or https URL.
    InvalidUrl = "invalid-url", Error, fields::INVALID_URL;
    /// Not the name of an environment variable.
    InvalidEnvName = "invalid-env-name", Error, fields::INVALID_ENV_NAME;
    /// A header name or value that HTTP does not allow.
    InvalidHeader = "invalid-header", Error, fields::INVALID_HEADER;
    /// A path into an answer that does not follow the path language.
    PathSyntax = "path-syntax", Error, fields::PATH_SYNTAX;
    /// `*` or `?` before the last segment of `when.exists`.
    MisplacedWildcard = "misplaced-wildcard", Error, fields::MISPLACED_WILDCARD;

    /// `{{` without `}}`.
    UnterminatedTemplate = "unterminated-template", Error, templates::UNTERMINATED_TEMPLATE;
    /// An expression that does not follow the template grammar.
    TemplateSyntax = "template-syntax", Error, templates::TEMPLATE_SYNTAX;
    /// A filter that does not exist.
    UnknownFilter = "unknown-filter", Error, templates::UNKNOWN_FILTER;
    /// An argument that the filter cannot use, or a missing one.
    BadFilterArgument = "bad-filter-argument", Warning, templates::BAD_FILTER_ARGUMENT;
    /// A dotted path whose first segment is nothing a template can see.
    UnknownRoot = "unknown-root", Error, templates::UNKNOWN_ROOT;
    /// A name that is not among the inputs of the op, the variables or the members of a root.
    UnknownVariable = "unknown-variable", Warning, templates::UNKNOWN_VARIABLE;
    /// Variables that need each other.
    VarsCycle = "vars-cycle", Error, templates::VARS_CYCLE;
    /// `{{` where nothing is rendered.
    NotATemplate = "not-a-template", Hint, templates::NOT_A_TEMPLATE;
    /// `${X}` or `$X` where a template is meant.
    DollarPlaceholder = "dollar-placeholder", Warning, templates::DOLLAR_PLACEHOLDER;

    /// `on` or `tools` names an op the adapter does not have.
    UnknownOp = "unknown-op", Error, references::UNKNOWN_OP;
    /// An op that nothing calls by itself.
    UnusedOp = "unused-op", Hint, references::UNUSED_OP;
    /// An op name with characters other than letters, digits, `_` and `-`.
    InvalidOpName = "invalid-op-name", Warning, references::INVALID_OP_NAME;
    /// A tool name with characters other than letters, digits, `_` and `-`, or too long.
    InvalidToolName = "invalid-tool-name", Warning, references::INVALID_TOOL_NAME;
    /// Two declared tools with one name.
    DuplicateTool = "duplicate-tool", Warning, references::DUPLICATE_TOOL;
    /// The prefix of re-published tools has characters that tool names cannot have.
    PrefixNotToolName = "prefix-not-tool-name", Warning, references::PREFIX_NOT_TOOL_NAME;
    /// `params` is neither a table of types nor a JSON Schema.
    InvalidParams = "invalid-params", Error, references::INVALID_PARAMS;
    /// Two adapters read the same URIs.
    OwnsOverlap = "owns-overlap", Warning, references::OWNS_OVERLAP;
    /// An adapter reads every URI there is.
    OwnsEverything = "owns-everything", Warning, references::OWNS_EVERYTHING;
    /// A setting names an adapter that no layer defines.
    UnknownAdapter = "unknown-adapter", Warning, references::UNKNOWN_ADAPTER;

    /// What looks like a secret, written into the file.
    SecretInFile = "secret-in-file", Warning, safety::SECRET_IN_FILE;
    /// A control character in what looks like a path.
    ControlCharacter = "control-character", Warning, safety::CONTROL_CHARACTER;
    /// An input that the program could take for an option.
    OptionInjection = "option-injection", Warning, safety::OPTION_INJECTION;
    /// An input inside the script of a shell.
    ShellInjection = "shell-injection", Warning, safety::SHELL_INJECTION;

    /// The shared layer redefines what a personal layer's adapter runs or calls.
    LayerConflict = "layer-conflict", Information, layers::LAYER_CONFLICT;
    /// The shared layer's adapters wait for trust.
    UntrustedLayer = "untrusted-layer", Information, layers::UNTRUSTED_LAYER;
    /// `[companion]` in the shared layer.
    GateInShared = "gate-in-shared", Warning, layers::GATE_IN_SHARED;
}

impl Code {
    /// The code of that id, compared exactly.
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.id() == id)
    }

    /// How it is shown besides its severity.
    pub fn tag(self) -> Option<Tag> {
        self.spec().tag
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_kebab_case() {
        let mut seen = std::collections::BTreeSet::new();
        for code in Code::ALL {
            let id = code.id();
            assert!(seen.insert(id), "{id} twice");
            assert!(
                id.chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
            );
            assert_eq!(Code::parse(id), Some(*code));
        }
        assert_eq!(Code::parse("Unknown-Key"), None);
    }

    #[test]
    fn every_code_says_what_it_means_and_shows_it() {
        for code in Code::ALL {
            let spec = code.spec();
            let title = spec.title.as_str();
            assert!(!title.is_empty() && !title.ends_with('.'), "{code}");
            assert!(
                spec.explanation.as_str().contains("\n\n"),
                "{code}: meaning, then remedy"
            );
            assert!(
                spec.bad.ends_with('\n') && spec.good.ends_with('\n'),
                "{code}"
            );
            assert_ne!(spec.bad, spec.good, "{code}");
        }
    }
}
