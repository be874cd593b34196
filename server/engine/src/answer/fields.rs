//! From items to hits.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};

use kontext_config::eval::{Scope, text_of};
use kontext_config::model::HitMap;
use kontext_config::select::select_one;
use kontext_syntax::path::{MapAlternative, MapValue, Step, StepKind};
use regex::Regex;
use serde::Serialize;
use serde_json::Value;

use super::{Payload, Reading, clean, date, html};

/// The most characters of a snippet.
pub const MAX_SNIPPET: usize = 400;
/// The most characters of a title.
pub const MAX_TITLE: usize = 200;
/// How many characters of the snippet make up for a title.
const BORROWED_TITLE: usize = 80;
/// The most characters of a kind.
const MAX_KIND: usize = 80;

/// How many names a field has at most.
const NAMES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Title,
    Snippet,
    Uri,
    Score,
    Kind,
    Date,
}

/// The fields a member of this name is used for where nothing is mapped, each with the rank of the
/// name among those of the field.
fn usual_fields(name: &str) -> &'static [(Field, usize)] {
    use Field::{Date, Kind, Score, Snippet, Title, Uri};
    match name {
        "title" => &[(Title, 0)],
        "name" => &[(Title, 1)],
        "subject" => &[(Title, 2)],
        "heading" => &[(Title, 3)],
        "uri" => &[(Title, 4), (Uri, 0)],
        "url" => &[(Uri, 1)],
        "path" => &[(Title, 5), (Uri, 2)],
        "file" => &[(Uri, 3)],
        "id" => &[(Title, 6), (Uri, 4)],
        "snippet" => &[(Snippet, 0)],
        "abstract" => &[(Snippet, 1)],
        "summary" => &[(Snippet, 2)],
        "content" => &[(Snippet, 3)],
        "text" => &[(Snippet, 4)],
        "description" => &[(Snippet, 5)],
        "body" => &[(Snippet, 6)],
        "overview" => &[(Snippet, 7)],
        "score" => &[(Score, 0)],
        "relevance" => &[(Score, 1)],
        "similarity" => &[(Score, 2)],
        "rank" => &[(Score, 3)],
        "kind" => &[(Kind, 0)],
        "type" => &[(Kind, 1)],
        "context_type" => &[(Kind, 2)],
        "category" => &[(Kind, 3)],
        "date" => &[(Date, 0)],
        "created_at" => &[(Date, 1)],
        "updated_at" => &[(Date, 2)],
        "time" => &[(Date, 3)],
        "timestamp" => &[(Date, 4)],
        _ => &[],
    }
}

/// The members of an item by the field they are used for: one walk over them is cheaper than
/// looking up some thirty names.
#[derive(Default)]
struct Usual<'i>([[Option<&'i Value>; NAMES]; 6]);

impl<'i> Usual<'i> {
    fn of(item: &'i Value) -> Self {
        let mut usual = Self::default();
        for (name, value) in item.as_object().into_iter().flatten() {
            for (field, rank) in usual_fields(name) {
                let names = usual.0.get_mut(*field as usize);
                if let Some(slot) = names.and_then(|names| names.get_mut(*rank)) {
                    *slot = Some(value);
                }
            }
        }
        usual
    }

    /// In the order they are tried.
    fn get(&self, field: Field) -> impl Iterator<Item = &'i Value> {
        let names = self.0.get(field as usize);
        names.into_iter().flatten().flatten().copied()
    }
}

/// One find. Every text is on one line, without control and invisible formatting characters.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Hit {
    /// Never empty, at most [`MAX_TITLE`] characters.
    pub title: String,
    /// At most [`MAX_SNIPPET`] characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// Without blanks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// As the source has it; finite. `None` leaves it to the position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What sort of thing it is, in the source's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// RFC 3339 where the source counts seconds or milliseconds, else as it is written there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

/// What became of the items of a payload.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mapped {
    /// In the order of the items.
    pub hits: Vec<Hit>,
    /// How many items have neither title nor snippet.
    pub dropped: usize,
    /// How many `where` left out.
    pub filtered: usize,
    /// What else there is to say, each once, a sentence without a full stop.
    pub notes: Vec<String>,
}

/// Where the fields of a hit are found.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    title: Rule,
    snippet: Rule,
    uri: Rule,
    score: Rule,
    kind: Rule,
    date: Rule,
    notes: Vec<String>,
}

#[derive(Clone, Debug)]
enum Rule {
    /// Not mapped: the first usable of the members with a usual name.
    Usual(Field),
    /// `None` where the expression is none.
    Regex(Option<Regex>),
    /// Ranges count in the source.
    Choice {
        source: String,
        alternatives: Vec<MapAlternative>,
    },
}

impl Rules {
    pub(super) fn new(map: &HitMap) -> Self {
        let mut notes = Vec::new();
        let mut rule = |name: &str, source: &Option<String>, usual| match source {
            None => Rule::Usual(usual),
            Some(source) => match MapValue::parse(source) {
                MapValue::Regex(range) => {
                    let regex = Regex::new(range.of(source)).ok();
                    if regex.is_none() {
                        notes.push(format!(
                            "`map.{name}` is no regular expression, so it finds nothing"
                        ));
                    }
                    Rule::Regex(regex)
                }
                MapValue::Choice { alternatives, .. } => Rule::Choice {
                    source: source.clone(),
                    alternatives,
                },
            },
        };
        Self {
            title: rule("title", &map.title, Field::Title),
            snippet: rule("snippet", &map.snippet, Field::Snippet),
            uri: rule("uri", &map.uri, Field::Uri),
            score: rule("score", &map.score, Field::Score),
            kind: rule("kind", &map.kind, Field::Kind),
            date: rule("date", &map.date, Field::Date),
            notes,
        }
    }
}

impl Reading {
    /// The hits of a payload. `scope` is what the op's templates see; those of `map` see the item
    /// before it.
    pub fn hits(&self, payload: &Payload<'_>, scope: &Scope<'_>) -> Mapped {
        let mut mapped = Mapped {
            notes: payload.notes.clone(),
            ..Mapped::default()
        };
        mapped.notes.extend_from_slice(&self.rules.notes);
        let items = self.items(payload);
        mapped.hits.reserve(items.len());
        for item in items {
            if !self.keeps(&item) {
                mapped.filtered += 1;
                continue;
            }
            let mut reader = Reader {
                item: &item,
                is_piece: matches!(item, Cow::Owned(_)),
                text: OnceCell::new(),
                usual: OnceCell::new(),
                scope,
                notes: &mut mapped.notes,
            };
            match reader.hit(&self.rules) {
                Some(hit) => mapped.hits.push(hit),
                None => mapped.dropped += 1,
            }
        }
        mapped
    }
}

/// Reads one item.
struct Reader<'i, 's> {
    item: &'i Value,
    /// Whether it was cut out of a text.
    is_piece: bool,
    /// What regular expressions look at.
    text: OnceCell<Cow<'i, str>>,
    usual: OnceCell<Usual<'i>>,
    scope: &'s Scope<'s>,
    notes: &'s mut Vec<String>,
}

impl<'i> Reader<'i, '_> {
    fn hit(&mut self, rules: &Rules) -> Option<Hit> {
        // A title of blanks is one as the source sees it, but cannot be shown.
        let blank = Cell::new(false);
        let title = self.field(&rules.title, |value| {
            blank.set(blank.get() || value.as_str().is_some_and(|it| !it.is_empty()));
            line(value, MAX_TITLE)
        });
        let mapped = matches!(rules.snippet, Rule::Choice { .. });
        let snippet = self.field(&rules.snippet, |value| snippet(value, mapped));
        let uri = self.field(&rules.uri, |value| clean::uri(&words(value)?));
        let (title, snippet) = match (self.item, title) {
            (_, Some(title)) => (title, snippet),
            // A line says all there is to say; a longer text goes on in the snippet.
            (Value::String(text), None) => {
                let first = text.lines().map(|it| clean::one_line(it, MAX_TITLE));
                let first = first.into_iter().find(|it| !it.is_empty())?;
                let goes_on = clean::one_line(text, MAX_SNIPPET) != first;
                let more = || goes_on.then(|| self::snippet(self.item, false)).flatten();
                let snippet = snippet.or_else(more);
                (first, snippet)
            }
            (_, None) => match (snippet, &uri) {
                (Some(text), _) => {
                    let title: String = text.chars().take(BORROWED_TITLE).collect();
                    (title.trim_end().to_owned(), Some(text))
                }
                (None, Some(uri)) if blank.get() => (clean::one_line(uri, MAX_TITLE), None),
                (None, _) => return None,
            },
        };
        Some(Hit {
            title,
            snippet,
            uri,
            score: self.field(&rules.score, score),
            kind: self.field(&rules.kind, |value| line(value, MAX_KIND)),
            date: self.field(&rules.date, date::date),
        })
    }

    /// The first value a rule gives that `take` can use.
    fn field<T>(&mut self, rule: &Rule, take: impl Fn(&Value) -> Option<T>) -> Option<T> {
        match rule {
            Rule::Usual(field) => {
                let usual = self.usual.get_or_init(|| Usual::of(self.item));
                usual.get(*field).find_map(take)
            }
            Rule::Regex(regex) => {
                let found = regex.as_ref()?.captures(self.text())?;
                let group = found.get(1).or_else(|| found.get(0))?;
                take(&Value::String(group.as_str().to_owned()))
            }
            Rule::Choice {
                source,
                alternatives,
            } => alternatives
                .iter()
                .find_map(|alternative| match alternative {
                    // Most paths are one name, which needs no list of what it selects.
                    MapAlternative::Path(path) => match path.steps.as_slice() {
                        [
                            Step {
                                kind: StepKind::Name(name),
                                ..
                            },
                        ] => take(self.item.as_object()?.get(name)?),
                        _ => select_one(path, self.item).into_iter().find_map(&take),
                    },
                    MapAlternative::Literal(range) => {
                        take(&Value::String(range.of(source).to_owned()))
                    }
                    MapAlternative::Template { template, .. } => {
                        let scope = self.scope.clone().item(self.item);
                        let rendered = scope.render_text(template, source);
                        for name in &rendered.missing_env {
                            self.note(format!("`{name}` is not set, `map` takes it for empty"));
                        }
                        for cycle in &rendered.cycles {
                            let names = cycle.join("`, `");
                            self.note(format!("the variables `{names}` need each other"));
                        }
                        take(&Value::String(rendered.value))
                    }
                }),
        }
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The item's text: itself, the piece it was cut as, else its JSON.
    fn text(&self) -> &str {
        self.text.get_or_init(|| match self.item.get("raw") {
            Some(Value::String(raw)) if self.is_piece => Cow::Borrowed(raw),
            _ => match self.item {
                Value::Object(_) | Value::Array(_) => Cow::Owned(self.item.to_string()),
                scalar => text_of(scalar),
            },
        })
    }
}

/// A value as words: no object, and of a list what is none. Nothing where only blanks are left.
fn words(value: &Value) -> Option<Cow<'_, str>> {
    let words = match value {
        Value::Null | Value::Object(_) => return None,
        Value::Array(list) => {
            let scalars = list.iter().filter(|it| !it.is_object() && !it.is_array());
            Cow::Owned(scalars.map(text_of).collect::<Vec<_>>().join(","))
        }
        scalar => text_of(scalar),
    };
    (!words.trim().is_empty()).then_some(words)
}

fn line(value: &Value, most: usize) -> Option<String> {
    let line = clean::one_line(&words(value)?, most);
    (!line.is_empty()).then_some(line)
}

/// A snippet. An object is shown as JSON where a path was made for it, but bytes in base64, as
/// ripgrep writes what is not UTF-8, say nothing.
fn snippet(value: &Value, mapped: bool) -> Option<String> {
    let words = match value {
        Value::Object(object) if mapped => {
            let bytes = object.len() == 1 && object.contains_key("bytes");
            let says = !bytes && !object.is_empty();
            says.then(|| text_of(value))?
        }
        value => words(value)?,
    };
    let line = clean::one_line(&html::text(&words, MAX_SNIPPET), MAX_SNIPPET);
    (!line.is_empty()).then_some(line)
}

/// A number, or a text that is one; finite.
fn score(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|it: &f64| it.is_finite())
}
