//! Completion: what fits at a place, a file a kind of place.
//!
//! The table of fields says what there is, [`crate::locate`] where the cursor stands. A call looks
//! at the block around the cursor and at one adapter; names over all layers are gathered only
//! where names are asked for.

mod docs;
mod headers;
mod keys;
mod names;
mod snippet;
mod surroundings;
mod template;
mod values;

use kontext_config::schema::{TableSpec, Text};
use kontext_syntax::TextRange;
use serde::{Deserialize, Serialize};

use crate::locate::{Located, locate};
use crate::snapshot::{File, Snapshot};
use snippet::Draft;
use surroundings::Surroundings;

pub use docs::resolve;

/// At most this many names of an open kind (programs, files, adapters, variables) are offered.
pub const MAX_NAMES: usize = 500;

/// What the client can do, and what only the edge can see.
#[derive(Clone, Copy, Default)]
pub struct Capabilities<'a> {
    /// Whether the client takes snippets. Without it no text has a placeholder in it.
    pub snippets: bool,
    /// What lies outside of the snapshot.
    pub extra: Extra<'a>,
}

/// What lies outside of the snapshot, for values that name programs and files.
#[derive(Clone, Copy, Default)]
pub struct Extra<'a> {
    /// The names of the programs on `PATH`, sorted.
    pub programs: &'a [String],
    /// Lists a folder, given relative to the root of the workspace with `/` and without one at the
    /// end; `""` is the root. Asked for at most one folder a call.
    pub files: Option<&'a ListFolder<'a>>,
}

/// Lists a folder.
pub type ListFolder<'a> = dyn Fn(&str) -> Vec<FileEntry> + 'a;

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Its name without the folder.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// Something that fits at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// What is shown.
    pub label: String,
    /// What sort of thing it is.
    pub kind: ItemKind,
    /// A few plain words beside the label.
    pub detail: Option<String>,
    /// The place in the list: compared as text, unique in it.
    pub sort: String,
    /// What the typed text is matched against: it begins as the replaced text does.
    pub filter: String,
    /// What accepting it does.
    pub edit: TextEdit,
    /// Whether it is the one to begin with.
    pub preselect: bool,
    /// What [`resolve`] explains.
    pub doc: DocRef,
}

/// What sort of thing an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A table header.
    Header,
    /// A described field.
    Field,
    /// A key the person chooses.
    Key,
    /// A fixed value.
    Value,
    /// The skeleton of a value.
    Skeleton,
    /// The name of an adapter.
    Adapter,
    /// The name of an op.
    Op,
    /// A root of template paths.
    Root,
    /// A name a template can use.
    Variable,
    /// A filter.
    Filter,
    /// An environment variable.
    EnvVar,
    /// A program.
    Program,
    /// A file.
    File,
    /// A folder.
    Folder,
    /// The code of a diagnostic.
    Code,
}

/// A change of the text. The range touches the cursor and lies on character borders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// Bytes of the text.
    pub range: TextRange,
    /// What comes in their place.
    pub new_text: String,
    /// Whether `new_text` is a snippet (`$1`, `${2:name}`, with `$` and `\` escaped, and `}` within a
    /// placeholder).
    pub snippet: bool,
}

/// What the documentation of an item is about. It goes to the client and back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocRef {
    /// There is none.
    None,
    /// A key, by its path from the top of the file.
    Field(Vec<String>),
    /// One of the values of a field, by the field's path.
    Value(Vec<String>, String),
    /// A root of template paths.
    Root(String),
    /// A member of a root.
    Member(String, String),
    /// An input of an op.
    Input(String, String),
    /// A filter.
    Filter(String),
    /// The code of a diagnostic.
    Code(String),
}

/// Whether a list may have been cut at [`MAX_NAMES`]: what is typed next can bring up others, so
/// the client must ask again rather than filter what it has.
pub fn is_incomplete(items: &[Item]) -> bool {
    items.len() >= MAX_NAMES
}

/// What fits at `offset` (bytes; clamped to the text and moved back to a character border), the most useful first.
pub fn complete(
    snapshot: &Snapshot,
    file: &File,
    offset: u32,
    capabilities: &Capabilities<'_>,
) -> Vec<Item> {
    let text: &str = file.source.document.text();
    let border = text.floor_char_boundary((offset as usize).min(text.len()));
    let offset = u32::try_from(border).unwrap_or(u32::MAX);
    let mut offer = Offer {
        text,
        capabilities,
        offset,
        range: TextRange::empty(offset),
        items: Vec::new(),
    };
    match locate(&file.source, offset) {
        Located::Header(at) => {
            let around = Surroundings::of(snapshot, file, &at.before);
            headers::complete(&mut offer, &around, &at);
        }
        Located::Key(at) => {
            let around = Surroundings::of(snapshot, file, &at.table);
            keys::complete(&mut offer, &around, &at);
        }
        Located::Value(at) => {
            let around = Surroundings::of(snapshot, file, &at.path);
            values::complete(&mut offer, &around, &at);
        }
        Located::Comment | Located::Nowhere => {}
    }
    offer.items
}

/// The list that is being made.
struct Offer<'a> {
    text: &'a str,
    capabilities: &'a Capabilities<'a>,
    offset: u32,
    /// What the items replace.
    range: TextRange,
    items: Vec<Item>,
}

impl Offer<'_> {
    /// Adds an item that replaces the range. Items keep the order in which they are added, within
    /// their group: 0 comes first.
    fn add(
        &mut self,
        group: u8,
        kind: ItemKind,
        label: impl Into<String>,
        draft: &Draft,
    ) -> &mut Item {
        let (new_text, snippet) = draft.render(self.capabilities.snippets);
        let label = label.into();
        self.items.push(Item {
            kind,
            detail: None,
            sort: format!("{group}{:04}", self.items.len()),
            filter: label.clone(),
            edit: TextEdit {
                range: self.range,
                new_text,
                snippet,
            },
            label,
            preselect: false,
            doc: DocRef::None,
        });
        let last = self.items.len() - 1;
        #[expect(
            clippy::indexing_slicing,
            reason = "the index of what was pushed above"
        )]
        &mut self.items[last]
    }

    /// What is typed of the token so far.
    fn typed(&self) -> &str {
        TextRange::new(self.range.start, self.offset.max(self.range.start)).of(self.text)
    }

    /// Whether a name of an open kind is worth offering: it holds the typed letters in order.
    fn fits(&self, name: &str) -> bool {
        let typed = self.typed().trim_matches(['"', '\'']);
        holds(name, typed)
    }
}

/// Whether `name` holds the characters of `typed` in their order, upper and lower case alike.
fn holds(name: &str, typed: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    typed
        .chars()
        .flat_map(char::to_lowercase)
        .all(|wanted| letters.any(|letter| letter == wanted))
}

impl Item {
    fn detail(&mut self, detail: impl Into<String>) -> &mut Self {
        self.detail = Some(detail.into());
        self
    }

    fn doc(&mut self, doc: DocRef) -> &mut Self {
        self.doc = doc;
        self
    }

    fn filter(&mut self, filter: impl Into<String>) -> &mut Self {
        self.filter = filter.into();
        self
    }
}

/// The first sentence of a documentation, as plain text.
fn first_sentence(doc: Text) -> String {
    let text = doc.as_str();
    let end = text.find(". ").unwrap_or(text.len());
    let sentence = text.get(..end).unwrap_or(text);
    sentence.trim_end_matches('.').replace('`', "")
}

/// The described table at a path from the top of the file; the whole file for an empty path.
fn table_at(path: &[&str]) -> Option<&'static TableSpec> {
    if path.is_empty() {
        return Some(kontext_config::schema::root());
    }
    kontext_config::schema::lookup(path)?.kind().table()
}

/// A documented key below a path.
fn key_doc(path: &[&str], name: &str) -> DocRef {
    let path = path.iter().copied().chain([name]);
    DocRef::Field(path.map(str::to_owned).collect())
}
