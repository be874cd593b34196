//! Templates: roots, their members, this very op's inputs, and filters.

use kontext_config::eval::{ArgKind, FILTERS};
use kontext_config::schema::{self, InputSpec, Members, Place, StringKind};
use kontext_syntax::TextRange;
use kontext_syntax::path::{MapAlternative, MapValue};
use kontext_syntax::template::{self, ExprAt, Template};

use super::snippet::Draft;
use super::surroundings::{Input, Surroundings};
use super::{DocRef, ItemKind, MAX_NAMES, Offer, first_sentence};
use crate::locate::{StringAt, ValueAt, node_at};

/// Offers what fits in the expression under the cursor. False where the cursor is in none.
pub(super) fn complete(
    offer: &mut Offer<'_>,
    around: &Surroundings<'_>,
    at: &ValueAt<'_>,
    string: &StringAt<'_>,
    kind: StringKind,
) -> bool {
    let (template, place) = match kind {
        StringKind::Template { place, .. } => (Template::parse(&string.text), place),
        StringKind::MapValue => match map_template(&string.text) {
            Some(template) => (template, Place::Item),
            None => return false,
        },
        _ => return false,
    };
    let Some(found) = template.expr_at(&string.text, string.cursor) else {
        return false;
    };
    let word = word(string, &found);
    offer.range = string.source(word);
    let behind = TextRange::new(word.end, u32::MAX);
    let behind = string.text.get(behind.start as usize..).unwrap_or("");
    let end = Ending::of(string, &found, word, behind);
    match found.place {
        template::Place::Head | template::Place::Segment(0) => {
            heads(offer, around, at, place, &end);
        }
        template::Place::Segment(index) => {
            let path = found.expr.path();
            let before: Option<Vec<&str>> =
                path.and_then(|path| (0..index).map(|at| path.key(at)).collect());
            if let Some(before) = before {
                members(offer, around, at, place, &before, &end);
            }
        }
        template::Place::FilterName(_) => filters(offer, string, &end),
        template::Place::Literal | template::Place::FilterArg(_) | template::Place::Blank => {}
    }
    true
}

/// The template of a value of `map`, its ranges counted in the whole string.
fn map_template(text: &str) -> Option<Template> {
    let MapValue::Choice { alternatives, .. } = MapValue::parse(text) else {
        return None;
    };
    alternatives.into_iter().find_map(|one| match one {
        MapAlternative::Template { template, .. } => Some(template),
        _ => None,
    })
}

/// The word that an item replaces: the token under the cursor, but never more than a name.
fn word(string: &StringAt<'_>, found: &ExprAt<'_>) -> TextRange {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '@');
    let before = TextRange::new(found.token.start, string.cursor).of(&string.text);
    let after = TextRange::new(string.cursor, found.token.end).of(&string.text);
    let left = before.len() - before.trim_end_matches(is_word).len();
    let right = after.len() - after.trim_start_matches(is_word).len();
    let length = |len: usize| u32::try_from(len).unwrap_or(0);
    TextRange::new(
        string.cursor.saturating_sub(length(left)),
        string.cursor.saturating_add(length(right)),
    )
}

/// Whether a name can be written in a path as it is.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '@');
    !name.is_empty() && name.chars().all(plain)
}

/// What follows the word.
struct Ending {
    /// The closing braces, where they are missing.
    braces: &'static str,
    /// A dot, where none follows.
    dot: &'static str,
    /// Whether something of the expression follows that an argument would run into.
    colon: bool,
}

impl Ending {
    fn of(string: &StringAt<'_>, found: &ExprAt<'_>, word: TextRange, behind: &str) -> Self {
        // Braces that come behind another `{{` belong to that expression.
        let close = behind.find("}}");
        let open = behind.find("{{");
        let closed = close.is_some_and(|close| open.is_none_or(|open| close < open));
        let inside = TextRange::new(found.expr.range.start + 2, word.start).of(&string.text);
        let braces = match (closed, inside.starts_with(' ')) {
            (true, _) => "",
            (false, true) => " }}",
            (false, false) => "}}",
        };
        // `}` alone is what an editor left of its pair.
        let braces = if !closed && behind.starts_with('}') {
            "}"
        } else {
            braces
        };
        Self {
            braces,
            dot: if behind.starts_with('.') { "" } else { "." },
            colon: behind.starts_with(':'),
        }
    }
}

/// What a path may begin with: this place's inputs first, then the roots.
fn heads(
    offer: &mut Offer<'_>,
    around: &Surroundings<'_>,
    at: &ValueAt<'_>,
    place: Place,
    end: &Ending,
) {
    let (op, inputs) = inputs(around, at, place, offer.offset);
    let mut seen: Vec<&str> = Vec::new();
    let has_parameters = inputs
        .iter()
        .any(|input| matches!(input, Input::Parameter(_)));
    for input in inputs {
        let (first, rest) = match input.name().split_once('.') {
            Some((first, _)) => (first, end.dot),
            None => (input.name(), end.braces),
        };
        if seen.contains(&first) || !is_plain(first) {
            continue;
        }
        seen.push(first);
        let draft = Draft::new(format!("{first}{rest}"));
        let item = offer.add(0, ItemKind::Variable, first, &draft);
        item.detail(match input {
            Input::Known(spec) if spec.name == first => first_sentence(spec.doc),
            Input::Known(_) => "part of the event".to_owned(),
            Input::Parameter(_) => "parameter of the tool".to_owned(),
        });
        item.doc(DocRef::Input(op.to_owned(), first.to_owned()));
    }
    if has_parameters && !seen.contains(&"args") {
        let draft = Draft::new(format!("args{}", end.dot));
        offer
            .add(1, ItemKind::Root, "args", &draft)
            .detail("the parameters of the tool");
    }
    for root in schema::ROOTS {
        if place == Place::GlobalVars && root.name == "adapter" {
            continue;
        }
        let draft = Draft::new(format!("{}{}", root.name, end.dot));
        offer
            .add(1, ItemKind::Root, root.name, &draft)
            .detail(first_sentence(root.doc))
            .doc(DocRef::Root(root.name.to_owned()));
    }
}

/// What may follow the parts of a path.
fn members(
    offer: &mut Offer<'_>,
    around: &Surroundings<'_>,
    at: &ValueAt<'_>,
    place: Place,
    before: &[&str],
    end: &Ending,
) {
    let [root, deeper @ ..] = before else { return };
    if let Some(spec) = schema::root_of_template(root) {
        if !deeper.is_empty() {
            return;
        }
        match spec.members {
            Members::Fixed(members) => {
                for member in members {
                    offer_member(offer, member.name, member, end)
                        .doc(DocRef::Member(spec.name.to_owned(), member.name.to_owned()));
                }
            }
            Members::Vars => {
                // Outside of an adapter only the global ones are there.
                let names: Vec<_> = around
                    .vars()
                    .into_iter()
                    .filter(|name| is_plain(name) && offer.fits(name))
                    .collect();
                for name in names.into_iter().take(MAX_NAMES) {
                    let draft = Draft::new(format!("{name}{}", end.braces));
                    offer.add(0, ItemKind::Variable, name, &draft);
                }
            }
            Members::Env => {
                let names: Vec<_> = around
                    .env_names()
                    .filter(|name| is_plain(name) && offer.fits(name))
                    .collect();
                for name in names.into_iter().take(MAX_NAMES) {
                    let draft = Draft::new(format!("{name}{}", end.braces));
                    offer
                        .add(0, ItemKind::EnvVar, name, &draft)
                        .detail("environment variable");
                }
            }
        }
        return;
    }
    let (op, inputs) = inputs(around, at, place, offer.offset);
    let lead = format!("{}.", before.join("."));
    for input in inputs {
        match input {
            Input::Known(spec) => {
                if let Some(rest) = spec.name.strip_prefix(&lead) {
                    offer_member(offer, rest, spec, end)
                        .doc(DocRef::Input(op.to_owned(), spec.name.to_owned()));
                }
            }
            Input::Parameter(name) if lead == "args." && is_plain(name) => {
                let draft = Draft::new(format!("{name}{}", end.braces));
                offer
                    .add(0, ItemKind::Variable, name, &draft)
                    .detail("parameter of the tool");
            }
            Input::Parameter(_) => {}
        }
    }
}

fn offer_member<'o>(
    offer: &'o mut Offer<'_>,
    name: &str,
    spec: &InputSpec,
    end: &Ending,
) -> &'o mut super::Item {
    let draft = Draft::new(format!("{name}{}", end.braces));
    offer
        .add(0, ItemKind::Variable, name, &draft)
        .detail(first_sentence(spec.doc))
}

fn filters(offer: &mut Offer<'_>, string: &StringAt<'_>, end: &Ending) {
    // A quote that does not end the string around it.
    let quote = if string.quotes.starts_with('\'') {
        '"'
    } else {
        '\''
    };
    for filter in FILTERS {
        let name = filter.name;
        let with_argument = |default: &str| {
            Draft::new(format!("{name}:{quote}"))
                .stop(default)
                .text(format!("{quote}{}", end.braces))
        };
        let draft = match filter.arg {
            _ if end.colon => Draft::new(name),
            ArgKind::None => Draft::new(format!("{name}{}", end.braces)),
            ArgKind::Separator(default) => with_argument(default.map_or("", |_| ", ")),
            ArgKind::Count(count) => Draft::new(format!("{name}:"))
                .stop(count.to_string())
                .text(end.braces),
            ArgKind::Literal => with_argument(""),
        };
        let doc = filter.doc.trim_end_matches('.').replace('`', "");
        offer
            .add(0, ItemKind::Filter, name, &draft)
            .detail(doc)
            .doc(DocRef::Filter(name.to_owned()));
    }
}

/// The op whose inputs a template sees (empty where it is none of a name), and those inputs.
fn inputs<'a>(
    around: &Surroundings<'a>,
    at: &ValueAt<'a>,
    place: Place,
    offset: u32,
) -> (&'a str, Vec<Input<'a>>) {
    match place {
        Place::GlobalVars | Place::AdapterVars | Place::When => ("", Vec::new()),
        Place::Adapter => ("", around.inputs_of_adapter()),
        Place::Op | Place::Item => match at.path.as_slice() {
            ["adapters", _, "ops", op, ..] => (op, around.inputs_of(op)),
            path @ ["adapters", _, "tools", ..] => {
                let tools = path.get(..3).unwrap_or_default();
                let tool = node_at(around.source, tools, offset);
                (
                    "",
                    around.inputs_of_tool(tool.filter(|node| node.as_table().is_some())),
                )
            }
            _ => ("", Vec::new()),
        },
    }
}
