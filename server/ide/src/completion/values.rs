//! Values: fixed ones, names, programs and files, skeletons of arrays and tables.

use kontext_config::schema::{
    ENTRY_KINDS, EnumValue, Kind, PARAM_TYPES, Place, Shape, StringKind, TableSpec,
};
use kontext_syntax::TextRange;
use kontext_syntax::toml::{ValueKind, write};

use super::snippet::{Draft, assignment, empty_value};
use super::surroundings::Surroundings;
use super::{DocRef, ItemKind, MAX_NAMES, Offer, first_sentence, names, template};
use crate::locate::{StringAt, ValueAt};

/// What fits where a value stands or may stand.
pub(super) fn complete(offer: &mut Offer<'_>, around: &Surroundings<'_>, at: &ValueAt<'_>) {
    let Some(kind) = at.kind else { return };
    let mut put = Put {
        at,
        string: at.string.as_ref(),
        lead: "",
        close: "",
    };
    match put.string {
        Some(string) => {
            for kind in strings(kind) {
                if template::complete(offer, around, at, string, kind) {
                    return;
                }
            }
            offer.range = string_range(string, offer);
            if !string.closed {
                put.close = string.quotes;
            }
        }
        None => {
            // At the bracket of a complete array or table nothing is replaced.
            let bracketed = |value: &&kontext_syntax::toml::Value| {
                matches!(value.kind, ValueKind::Array(_) | ValueKind::Table(_))
            };
            if at.value.as_ref().is_some_and(bracketed) {
                return;
            }
            offer.range = at.range;
            let before = TextRange::new(0, at.range.start).of(offer.text);
            if before.ends_with('=') {
                put.lead = " ";
            }
        }
    }
    for kind in kind.alternatives() {
        put.offer_kind(offer, around, kind);
    }
}

/// The kinds of strings that may stand at a place.
fn strings(kind: &'static Kind) -> impl Iterator<Item = StringKind> {
    let all = kind.alternatives().iter();
    all.filter_map(|kind| match kind {
        Kind::Str(kind) | Kind::Scalar(kind) | Kind::Any(kind) => Some(*kind),
        _ => None,
    })
}

/// What lies between the quotes; of a string without its end only the word under the cursor.
fn string_range(string: &StringAt<'_>, offer: &Offer<'_>) -> TextRange {
    if string.closed {
        return string.inner;
    }
    let after = TextRange::new(offer.offset, string.inner.end).of(offer.text);
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '!');
    let right = after.len() - after.trim_start_matches(word).len();
    let end = offer.offset + u32::try_from(right).unwrap_or(0);
    TextRange::new(string.inner.start, end)
}

/// How values are put in.
struct Put<'p, 'a> {
    at: &'p ValueAt<'a>,
    string: Option<&'p StringAt<'a>>,
    /// What goes before a value.
    lead: &'static str,
    /// What goes behind the text of a string.
    close: &'static str,
}

impl Put<'_, '_> {
    fn offer_kind(&self, offer: &mut Offer<'_>, around: &Surroundings<'_>, kind: &'static Kind) {
        match kind {
            Kind::OneOf { values, .. } => {
                for value in *values {
                    self.fixed(offer, value, value.value, ItemKind::Value);
                }
            }
            Kind::Str(kind) => self.string(offer, around, *kind),
            _ if self.string.is_some() => {}
            Kind::Bool => {
                self.plain(offer, "true");
                self.plain(offer, "false");
            }
            Kind::False => self.plain(offer, "false"),
            Kind::ArrayOfTables(spec) if self.at.element.is_some() => {
                self.skeleton(offer, "{ … }", element(spec));
            }
            Kind::Array { .. } | Kind::ArrayOfTables(_) => {
                self.skeleton(offer, "[ … ]", empty_value(kind, None));
            }
            Kind::Table(_) | Kind::Map(_) | Kind::JsonSchema => {
                self.skeleton(offer, "{ … }", empty_value(kind, None));
            }
            Kind::Integer { .. }
            | Kind::Number { .. }
            | Kind::Scalar(_)
            | Kind::Any(_)
            | Kind::Either(_) => {}
        }
    }

    fn plain(&self, offer: &mut Offer<'_>, value: &str) {
        let draft = Draft::new(format!("{}{value}", self.lead));
        offer.add(0, ItemKind::Value, value, &draft);
    }

    fn skeleton(&self, offer: &mut Offer<'_>, label: &str, draft: Draft) {
        let draft = Draft::new(self.lead).then(draft);
        let filter = label.get(..1).unwrap_or("").to_owned();
        offer
            .add(2, ItemKind::Skeleton, label, &draft)
            .filter(filter);
    }

    /// A string, with its quotes where the cursor is not between some.
    fn text(&self, offer: &mut Offer<'_>, group: u8, kind: ItemKind, text: &str) -> usize {
        let (written, filter) = match self.string {
            Some(string) if string.has_escapes() => (
                format!("{}{}", write::escaped(text), self.close),
                text.to_owned(),
            ),
            Some(_) => (format!("{text}{}", self.close), text.to_owned()),
            None => (
                format!("{}{}", self.lead, write::string(text)),
                write::string(text),
            ),
        };
        let typed_bare = self.string.is_none() && !offer.typed().starts_with('"');
        let filter = if typed_bare { text.to_owned() } else { filter };
        offer
            .add(group, kind, text, &Draft::new(written))
            .filter(filter);
        offer.items.len() - 1
    }

    fn fixed(&self, offer: &mut Offer<'_>, value: &EnumValue, text: &str, kind: ItemKind) {
        let at = self.text(offer, 0, kind, text);
        let path = self.at.path.iter().map(|part| (*part).to_owned()).collect();
        if let Some(item) = offer.items.get_mut(at) {
            item.detail(first_sentence(value.doc));
            item.doc(DocRef::Value(path, value.value.to_owned()));
        }
    }

    fn names<'n>(
        &self,
        offer: &mut Offer<'_>,
        kind: ItemKind,
        names: impl IntoIterator<Item = &'n str>,
    ) {
        let taken = names.into_iter().filter(|name| offer.fits(name));
        let taken: Vec<&str> = taken.take(MAX_NAMES).collect();
        for name in taken {
            // A literal string cannot hold a quote of its own kind.
            if !self
                .string
                .is_some_and(|string| !string.has_escapes() && name.contains('\''))
            {
                self.text(offer, 0, kind, name);
            }
        }
    }

    fn string(&self, offer: &mut Offer<'_>, around: &Surroundings<'_>, kind: StringKind) {
        let is_first = self.at.element.unwrap_or(0) == 0;
        match kind {
            StringKind::EnvName => self.names(offer, ItemKind::EnvVar, around.env_names()),
            StringKind::OpName => {
                let mut ops = around.members("ops");
                // `store` is what events are for, also before it is written.
                if ops.is_empty() {
                    ops = kontext_config::schema::OPS
                        .iter()
                        .map(|op| op.name)
                        .collect();
                }
                self.names(offer, ItemKind::Op, ops);
            }
            StringKind::AdapterName => {
                let found = names::adapters(around, |name| offer.fits(name));
                self.names(offer, ItemKind::Adapter, found);
            }
            StringKind::ParamType => {
                for value in PARAM_TYPES {
                    self.fixed(offer, value, value.value, ItemKind::Value);
                }
                for value in PARAM_TYPES {
                    let required = format!("{}!", value.value);
                    self.fixed(offer, value, &required, ItemKind::Value);
                }
            }
            StringKind::EntryKind => {
                for value in ENTRY_KINDS {
                    self.fixed(offer, value, value.value, ItemKind::Value);
                }
            }
            StringKind::MapValue => self.map_forms(offer),
            StringKind::Program => {
                self.programs(offer);
                self.files(offer, false);
            }
            StringKind::FilePath => self.files(offer, false),
            StringKind::Template { shape, place } => match shape {
                Shape::Argument if is_first => self.programs(offer),
                Shape::Path => self.files(offer, place != Place::When),
                _ => {}
            },
            StringKind::Plain
            | StringKind::ResultPath
            | StringKind::Regex
            | StringKind::ServerTool
            | StringKind::ToolName
            | StringKind::ToolPrefix
            | StringKind::UriPrefix
            | StringKind::Locale => {}
        }
    }

    /// How a value of `map` may begin.
    fn map_forms(&self, offer: &mut Offer<'_>) {
        let forms = [
            ("tpl:", "a template over the item"),
            ("re:", "a regular expression on the item's text"),
            ("=", "this text for every hit"),
        ];
        for (form, detail) in forms {
            let at = self.text(offer, 1, ItemKind::Value, form);
            if let Some(item) = offer.items.get_mut(at) {
                item.detail(detail);
            }
        }
    }

    fn programs(&self, offer: &mut Offer<'_>) {
        let programs = offer.capabilities.extra.programs;
        self.names(
            offer,
            ItemKind::Program,
            programs.iter().map(String::as_str),
        );
    }

    /// The entries of the folder that is typed so far.
    fn files(&self, offer: &mut Offer<'_>, only_folders: bool) {
        let Some(list) = offer.capabilities.extra.files else {
            return;
        };
        let whole = offer.range;
        let typed = offer.typed().trim_start_matches('"').to_owned();
        let folder = match typed.rfind('/') {
            Some(at) => typed.get(..at).unwrap_or(""),
            None => "",
        };
        // Paths that leave the root, and those that a template makes, cannot be listed.
        let outside = typed.starts_with(['/', '~']) || folder.split('/').any(|part| part == "..");
        if outside || typed.contains("{{") || typed.contains('\\') {
            return;
        }
        let lead = match folder {
            "" => String::new(),
            folder => format!("{folder}/"),
        };
        let mut entries = list(folder);
        entries.retain(|entry| {
            (entry.is_folder || !only_folders)
                && super::holds(&entry.name, typed.get(lead.len()..).unwrap_or(""))
        });
        for entry in entries.into_iter().take(MAX_NAMES) {
            let kind = if entry.is_folder {
                ItemKind::Folder
            } else {
                ItemKind::File
            };
            self.text(offer, 0, kind, &format!("{lead}{}", entry.name));
        }
        offer.range = whole;
    }
}

/// An element of an array of tables: what every one needs.
fn element(spec: &'static TableSpec) -> Draft {
    let mut draft = Draft::new("{ ");
    for (at, field) in spec.required_here().enumerate() {
        if at > 0 {
            draft = draft.text(", ");
        }
        draft = draft.then(assignment(field.name, field));
    }
    draft.text(" }")
}
