//! The vocabulary of the table of fields: plain `'static` data, no behaviour beyond looking at it.

use std::fmt;

/// A text for people. English now; a further language is a further member, so that a field keeps
/// all its texts in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text {
    en: &'static str,
}

impl Text {
    /// A text that exists in English only.
    pub const fn en(en: &'static str) -> Self {
        Self { en }
    }

    /// The English text. Markdown, inline markup only, no trailing newline.
    pub const fn as_str(self) -> &'static str {
        self.en
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.en)
    }
}

/// What an adapter is reached through (adapters.md section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Driver {
    /// An MCP server, started as a child or reached over streamable HTTP.
    Mcp,
    /// Plain HTTP requests.
    Http,
    /// A program that is started once per call.
    Command,
}

impl Driver {
    /// All drivers, in the order they are offered.
    pub const ALL: [Self; 3] = [Self::Mcp, Self::Http, Self::Command];

    /// The value of `driver`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Http => "http",
            Self::Command => "command",
        }
    }

    /// The driver of that name, compared exactly.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|driver| driver.name() == name)
    }
}

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of drivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drivers(u8);

impl Drivers {
    /// Only `mcp`.
    pub const MCP: Self = Self(1);
    /// Only `http`.
    pub const HTTP: Self = Self(2);
    /// Only `command`.
    pub const COMMAND: Self = Self(4);
    /// Every driver.
    pub const ALL: Self = Self(7);

    /// The drivers of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the driver is in the set.
    pub const fn contains(self, driver: Driver) -> bool {
        let bit = match driver {
            Driver::Mcp => Self::MCP.0,
            Driver::Http => Self::HTTP.0,
            Driver::Command => Self::COMMAND.0,
        };
        self.0 & bit != 0
    }

    /// Whether every driver is in the set.
    pub const fn is_all(self) -> bool {
        self.0 == Self::ALL.0
    }

    /// The drivers of the set, in the order of [`Driver::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Driver> {
        Driver::ALL
            .into_iter()
            .filter(move |driver| self.contains(*driver))
    }
}

impl fmt::Display for Drivers {
    /// `all`, or the names joined by `, `.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_all() {
            return f.write_str("all");
        }
        for (at, driver) in self.iter().enumerate() {
            if at > 0 {
                f.write_str(", ")?;
            }
            f.write_str(driver.name())?;
        }
        Ok(())
    }
}

/// Whether a field has to be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// It may be left out.
    No,
    /// In every table of its kind: arrays of tables are not merged.
    Here,
    /// In what the layers give together, for the drivers of the field.
    Merged,
}

/// A table with described fields, open keys, or both.
#[derive(Debug)]
pub struct TableSpec {
    /// How the table is called in messages and in the file names of the reference.
    pub name: &'static str,
    /// What it is for.
    pub doc: Text,
    /// The section of adapters.md or companion.md that decides.
    pub section: &'static str,
    /// The described fields. Their order is the order of completion, of the reference and of
    /// sorted tables.
    pub fields: &'static [FieldSpec],
    /// What other keys are, where others are allowed.
    pub open: Option<&'static OpenKeys>,
}

impl TableSpec {
    /// The described field of that name, compared exactly.
    pub fn field(&self, name: &str) -> Option<&'static FieldSpec> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// The described fields that must be given in every table of this kind.
    pub fn required_here(&self) -> impl Iterator<Item = &'static FieldSpec> {
        self.fields
            .iter()
            .filter(|field| field.required == Required::Here)
    }
}

/// One field: everything any feature knows about it.
#[derive(Debug)]
pub struct FieldSpec {
    /// The key.
    pub name: &'static str,
    /// What it means: units, base of relative paths, what happens without it.
    pub doc: Text,
    /// The drivers that use it.
    pub drivers: Drivers,
    /// What its value may be.
    pub kind: Kind,
    /// Whether it has to be given.
    pub required: Required,
    /// The value it has when it is left out, as TOML. `None`: there is none, or it cannot be
    /// written as one value (then the documentation says it).
    pub default: Option<&'static str>,
    /// One whole `key = value` (or `[header]` with a line) as TOML.
    pub example: &'static str,
    /// Names that other programs use for the same thing, for hints on unknown keys.
    pub also: &'static [&'static str],
}

impl FieldSpec {
    /// What most fields are: for all drivers, not required, without default. Entries of the table
    /// name what differs and take the rest from here.
    pub const BASE: Self = Self {
        name: "",
        doc: Text::en(""),
        drivers: Drivers::ALL,
        kind: Kind::Bool,
        required: Required::No,
        default: None,
        example: "",
        also: &[],
    };
}

/// The keys of a table that the person chooses.
#[derive(Debug)]
pub struct OpenKeys {
    /// What a key names.
    pub key: KeyKind,
    /// The placeholder for it in listings: `name`, `op`.
    pub placeholder: &'static str,
    /// What each value may be.
    pub kind: Kind,
    /// What such an entry is.
    pub doc: Text,
    /// Keys with a meaning of their own, for completion and hover.
    pub known: &'static [KnownKey],
}

impl OpenKeys {
    /// The well-known key of that name, compared exactly.
    pub fn known(&self, name: &str) -> Option<&'static KnownKey> {
        self.known.iter().find(|key| key.name == name)
    }
}

/// A well-known key among open ones.
#[derive(Clone, Copy, Debug)]
pub struct KnownKey {
    /// The key.
    pub name: &'static str,
    /// What it means.
    pub doc: Text,
}

/// What an open key names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// An adapter.
    AdapterName,
    /// An operation.
    OpName,
    /// A template variable, `{{vars.KEY}}`.
    VarName,
    /// An environment variable.
    EnvName,
    /// An HTTP header.
    HeaderName,
    /// A parameter of a URL's query.
    QueryParameter,
    /// An argument of a server's tool. A template: keys are rendered as well.
    ToolArgument,
    /// A parameter of a declared tool.
    ToolParameter,
    /// A path into an item of an answer.
    ResultPath,
    /// The code of a diagnostic.
    Code,
    /// Anything; the table belongs to another program.
    Free,
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// `false` alone.
    False,
    /// A whole number of at least `min`.
    Integer {
        /// The least value allowed.
        min: i64,
    },
    /// A number, whole or not, of at least `min`; `nan` and `inf` are not numbers here.
    Number {
        /// The least value allowed.
        min: f64,
    },
    /// A string.
    Str(StringKind),
    /// One of a few strings.
    OneOf {
        /// The values, in the order they are offered.
        values: &'static [EnumValue],
        /// Whether upper and lower ASCII letters are the same.
        ignore_case: bool,
    },
    /// An array.
    Array {
        /// What each element may be.
        item: &'static Kind,
        /// Whether an empty one is an error.
        non_empty: bool,
    },
    /// A table with a description of its own, as a `[header]`, dotted keys or inline.
    Table(&'static TableSpec),
    /// A table whose keys the person chooses.
    Map(&'static OpenKeys),
    /// An array of such tables, `[[header]]` or inline.
    ArrayOfTables(&'static TableSpec),
    /// A string of that kind, a number or a boolean.
    Scalar(StringKind),
    /// Any value; strings inside it, at any depth, are of that kind.
    Any(StringKind),
    /// A JSON Schema of an object, written as a table: its `type` is `"object"`, or it has
    /// `properties` or `$ref`.
    JsonSchema,
    /// One of several kinds; the first that fits the value's TOML type is the one that counts.
    Either(&'static [Kind]),
}

/// One allowed value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnumValue {
    /// The value, without quotes.
    pub value: &'static str,
    /// What it does.
    pub doc: Text,
    /// Values that other programs use for the same thing, for hints.
    pub also: &'static [&'static str],
}

/// What a string holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringKind {
    /// Text as it is.
    Plain,
    /// A template (adapters.md section 4).
    Template {
        /// Where it stands: decides which names it may use.
        place: Place,
        /// What it becomes: decides the further checks.
        shape: Shape,
    },
    /// A path into an answer, alternatives included (adapters.md section 5).
    ResultPath,
    /// A value of `map`: a path, `re:…`, `tpl:…` or `=…`. What follows `tpl:` is a template of
    /// [`Place::Item`].
    MapValue,
    /// A regular expression.
    Regex,
    /// The name of an environment variable.
    EnvName,
    /// A program on `PATH`, or a path to one relative to the root.
    Program,
    /// A file or folder relative to the root.
    FilePath,
    /// The name of an op of the same adapter.
    OpName,
    /// The name of an adapter.
    AdapterName,
    /// The name of a tool of the server behind the adapter.
    ServerTool,
    /// The name a declared tool is published under: `[A-Za-z0-9_-]{1,64}`.
    ToolName,
    /// The beginning of published tool names: `[A-Za-z0-9_-]`, may be empty.
    ToolPrefix,
    /// The beginning of URIs.
    UriPrefix,
    /// The type of a declared tool's parameter: a name of [`super::PARAM_TYPES`], then `!` where
    /// the parameter is required.
    ParamType,
    /// The kind of an entry.
    EntryKind,
    /// A language tag such as `en` or `sk-SK`.
    Locale,
}

impl StringKind {
    /// Whether `{{…}}` in such a string is rendered, at least in part.
    pub const fn has_templates(self) -> bool {
        matches!(self, Self::Template { .. } | Self::MapValue)
    }

    /// Whether such a string is, or begins with, a path of the file system: there a control
    /// character is most likely a backslash that was meant literally.
    pub const fn is_path_like(self) -> bool {
        matches!(
            self,
            Self::Program
                | Self::FilePath
                | Self::Template {
                    shape: Shape::Path | Shape::Argument,
                    ..
                }
        )
    }
}

/// Where a template stands. Every place sees `repo`, `project`, `vars`, `env`, `now` and
/// `adapter`, except as said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// The top-level `[vars]`: no `adapter`.
    GlobalVars,
    /// `vars` of an adapter: the global ones and each other.
    AdapterVars,
    /// `when.exists`.
    When,
    /// A field of the adapter itself. Driver mcp renders it once, when the server starts: no
    /// inputs. The others render it per call, with the inputs of the op that is called.
    Adapter,
    /// A field of an op: with its inputs.
    Op,
    /// A `tpl:` value of `map`: the fields of the item first, then the op's inputs.
    Item,
}

/// What a rendered template is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Text with no further rule.
    Text,
    /// One element of an argument vector.
    Argument,
    /// A path of the file system.
    Path,
    /// A whole URL.
    Url,
    /// The path part of a URL; inserted values are percent-encoded.
    UrlPath,
    /// The value of an HTTP header.
    Header,
    /// The value of an environment variable.
    EnvValue,
    /// A value of a URL's query.
    QueryValue,
    /// Part of a JSON value: a string that is one expression keeps its type.
    Json,
}

impl Kind {
    /// The table behind the kind, for tables, arrays of tables and alternatives with one.
    pub fn table(&self) -> Option<&'static TableSpec> {
        match self {
            Self::Table(table) | Self::ArrayOfTables(table) => Some(table),
            Self::Either(kinds) => kinds.iter().find_map(Self::table),
            _ => None,
        }
    }

    /// The open keys behind the kind: of a map, or of a table that has some.
    pub fn open_keys(&self) -> Option<&'static OpenKeys> {
        match self {
            Self::Map(open) => Some(open),
            Self::Table(table) | Self::ArrayOfTables(table) => table.open,
            Self::Either(kinds) => kinds.iter().find_map(Self::open_keys),
            _ => None,
        }
    }

    /// The kind itself, or its alternatives in order.
    pub fn alternatives(&self) -> &[Self] {
        match self {
            Self::Either(kinds) => kinds,
            other => std::slice::from_ref(other),
        }
    }

    /// The fixed strings a value of this kind may be, alternatives included.
    pub fn values(&self) -> impl Iterator<Item = &'static EnumValue> {
        self.alternatives().iter().flat_map(|kind| match kind {
            Self::OneOf { values, .. } => values.iter(),
            _ => [].iter(),
        })
    }

    /// What strings of this kind hold: of the value itself, else of its elements or members.
    /// `None` for kinds without strings and for fixed strings.
    pub fn string_kind(&self) -> Option<StringKind> {
        match self {
            Self::Str(kind) | Self::Scalar(kind) | Self::Any(kind) => Some(*kind),
            Self::Array { item, .. } => item.string_kind(),
            Self::Map(open) => open.kind.string_kind(),
            Self::Either(kinds) => kinds.iter().find_map(Self::string_kind),
            _ => None,
        }
    }
}

impl fmt::Display for Kind {
    /// In words, with article: `an array of strings`, `true or false`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("`true` or `false`"),
            Self::False => f.write_str("`false`"),
            Self::Integer { min } => write!(f, "an integer of at least {min}"),
            Self::Number { min } if min.is_finite() => write!(f, "a number of at least {min}"),
            Self::Number { .. } => f.write_str("a number"),
            Self::Str(_) => f.write_str("a string"),
            Self::OneOf { values, .. } => {
                for (at, value) in values.iter().enumerate() {
                    let lead = match at {
                        0 => "",
                        _ if at + 1 == values.len() => " or ",
                        _ => ", ",
                    };
                    write!(f, "{lead}`\"{}\"`", value.value)?;
                }
                Ok(())
            }
            Self::Array { item, .. } => match item {
                Self::Str(_) => f.write_str("an array of strings"),
                other => write!(f, "an array, each element {other}"),
            },
            Self::Table(_) | Self::JsonSchema => f.write_str("a table"),
            Self::Map(open) => match &open.kind {
                Self::Str(_) => f.write_str("a table of strings"),
                _ => f.write_str("a table"),
            },
            Self::ArrayOfTables(_) => f.write_str("an array of tables"),
            Self::Scalar(_) => f.write_str("a string, a number or a boolean"),
            Self::Any(_) => f.write_str("any value"),
            Self::Either(kinds) => {
                let mut seen: Vec<String> = Vec::new();
                for kind in *kinds {
                    let words = kind.to_string();
                    if !seen.contains(&words) {
                        seen.push(words);
                    }
                }
                f.write_str(&seen.join(", or "))
            }
        }
    }
}
