//! HTML in a snippet, reduced to its text.

use std::borrow::Cow;

/// Elements that show that a text is HTML. Others may be the parameters of a type: `Vec<String>`.
const KNOWN: &[&str] = &[
    "a",
    "abbr",
    "article",
    "aside",
    "b",
    "blockquote",
    "body",
    "br",
    "button",
    "code",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figure",
    "font",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "i",
    "iframe",
    "img",
    "input",
    "ins",
    "kbd",
    "label",
    "li",
    "link",
    "main",
    "mark",
    "meta",
    "nav",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "script",
    "section",
    "small",
    "span",
    "strike",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "tfoot",
    "th",
    "thead",
    "time",
    "title",
    "tr",
    "tt",
    "u",
    "ul",
    "var",
    "video",
    "wbr",
];

/// Elements within a line: no blank takes their place.
const INLINE: &[&str] = &[
    "a", "abbr", "b", "code", "del", "em", "font", "i", "ins", "kbd", "mark", "q", "s", "samp",
    "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
];

/// Elements whose content is no text.
const SILENT: &[&str] = &["script", "style", "template", "head", "svg", "iframe"];

/// How far a tag is looked for its end, in bytes.
const LONGEST_TAG: usize = 4096;

/// How many times `<` may turn out not to begin a tag before it is no longer tried.
const MAX_FAILED: usize = 16;

/// After how many tags the text ends, however little there was between them.
const MAX_TAGS: usize = 10_000;

/// How far a text is looked into for what it is, in bytes.
const LOOKED_AT: usize = 16 * 1024;

/// The text of what may be HTML, at least its first `most` characters if there are as many. A text
/// that does not look like HTML is given back as it is.
pub(super) fn text(source: &str, most: usize) -> Cow<'_, str> {
    if looks_like_html(source) {
        Cow::Owned(reduced(source, most))
    } else {
        Cow::Borrowed(source)
    }
}

fn looks_like_html(source: &str) -> bool {
    let head = source
        .get(..source.floor_char_boundary(LOOKED_AT))
        .unwrap_or(source);
    let mut at = 0;
    for _ in 0..MAX_FAILED {
        let Some(found) = find(head, at, b'<') else {
            break;
        };
        let rest = head.get(found..).unwrap_or_default();
        if rest.starts_with("<!--") {
            return true;
        }
        if let Some(tag) = tag(rest)
            && (KNOWN
                .iter()
                .any(|known| tag.name.eq_ignore_ascii_case(known))
                || tag.name.eq_ignore_ascii_case("!doctype"))
        {
            return true;
        }
        at = found + 1;
    }
    has_entity(head)
}

/// Whether one of the entities that escaping makes is there.
fn has_entity(text: &str) -> bool {
    const ESCAPED: &[&str] = &[
        "amp;", "lt;", "gt;", "quot;", "apos;", "nbsp;", "#39;", "#x27;", "#34;",
    ];
    memchr::memchr_iter(b'&', text.as_bytes()).any(|at| {
        let rest = text.get(at + 1..).unwrap_or_default();
        ESCAPED.iter().any(|name| rest.starts_with(name))
    })
}

struct Tag<'a> {
    name: &'a str,
    closing: bool,
    /// Bytes up to and with the `>`.
    length: usize,
}

/// The tag a text begins with. A `>` in quotes does not end it.
fn tag(text: &str) -> Option<Tag<'_>> {
    let inner = text.strip_prefix('<')?;
    let closing = inner.starts_with('/');
    let name = inner.get(usize::from(closing)..)?;
    let first = name.bytes().next()?;
    if !first.is_ascii_alphabetic() && first != b'!' {
        return None;
    }
    let ends = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | ':' | '!');
    let name = name.get(..name.find(ends)?)?;
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate().skip(1).take(LONGEST_TAG) {
        match (quote, byte) {
            (Some(open), byte) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'<') => return None,
            (None, b'>') => {
                return Some(Tag {
                    name,
                    closing,
                    length: at + 1,
                });
            }
            (None, _) => {}
        }
    }
    None
}

fn reduced(source: &str, most: usize) -> String {
    let mut out = Reduced::default();
    let mut at = 0;
    let mut failed = 0;
    for _ in 0..MAX_TAGS {
        if out.solid > most {
            break;
        }
        let next = find(source, at, b'<').unwrap_or(source.len());
        out.push(source.get(at..next).unwrap_or_default(), most);
        let rest = source.get(next..).unwrap_or_default();
        if rest.is_empty() {
            break;
        }
        if rest.starts_with("<!--") {
            at = rest.find("-->").map_or(source.len(), |end| next + end + 3);
            continue;
        }
        let Some(tag) = Some(rest).filter(|_| failed < MAX_FAILED).and_then(tag) else {
            failed += 1;
            out.push("<", most);
            at = next + 1;
            continue;
        };
        let is = |names: &[&str]| names.iter().any(|name| tag.name.eq_ignore_ascii_case(name));
        if !is(INLINE) {
            out.gap();
        }
        at = next + tag.length;
        let empty = rest.get(..tag.length).is_some_and(|it| it.ends_with("/>"));
        if is(SILENT) && !tag.closing && !empty && failed < MAX_FAILED {
            match end_of(source, at, tag.name) {
                Some(end) => at = end,
                // As browsers do: the rest is the script.
                None if is(&["script", "style"]) => break,
                None => failed += 1,
            }
        }
    }
    out.text
}

#[derive(Default)]
struct Reduced {
    text: String,
    /// Characters that are no blanks.
    solid: usize,
}

impl Reduced {
    /// Adds text with its entities decoded, once; of a long one enough for `most` characters.
    fn push(&mut self, text: &str, most: usize) {
        let inner = text.trim_start();
        if inner.len() < text.len() {
            self.gap();
        }
        // The longest names of entities have about thirty bytes.
        let enough = inner.floor_char_boundary(most.saturating_mul(32).saturating_add(64));
        let inner = inner.get(..enough).unwrap_or(inner);
        let decoded = html_escape::decode_html_entities(inner);
        self.solid += decoded.chars().filter(|c| !c.is_whitespace()).count();
        self.text.push_str(&decoded);
    }

    fn gap(&mut self) {
        if !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }
}

/// Where the closing tag of an element begins, from `at`.
fn end_of(source: &str, mut at: usize, name: &str) -> Option<usize> {
    while let Some(found) = find(source, at, b'<') {
        let rest = source.get(found + 1..).unwrap_or_default();
        let closes = rest
            .strip_prefix('/')
            .and_then(|rest| rest.get(..name.len()));
        if closes.is_some_and(|it| it.eq_ignore_ascii_case(name)) {
            return Some(found);
        }
        at = found + 1;
    }
    None
}

fn find(text: &str, at: usize, byte: u8) -> Option<usize> {
    let rest = text.as_bytes().get(at..)?;
    memchr::memchr(byte, rest).map(|found| at + found)
}

#[cfg(test)]
mod tests {
    use super::super::clean;
    use super::*;

    #[test]
    fn html_is_reduced_to_text() {
        let cases = [
            ("a < b && c > d", "a < b && c > d"),
            (
                "Vec<String> and HashMap<K, V>",
                "Vec<String> and HashMap<K, V>",
            ),
            ("if x<y or y>z", "if x<y or y>z"),
            ("<p>One<br>two</p><p>three</p>", "One two three"),
            (
                "un<em>break</em>able &amp; &lt;b&gt; caf&eacute; &#8364;&#x27;",
                "unbreakable & <b> café €'",
            ),
            ("Tom &amp; Jerry &amp;lt;", "Tom & Jerry &lt;"),
            ("AT&T & co", "AT&T & co"),
            (
                "x<!-- hidden --><SCRIPT>if (a<b) alert('</p>')</SCRIPT >y<style>p{}</style>z",
                "x y z",
            ),
            ("<div title=\"a > b\">in</div>", "in"),
            ("<p>cut <a href=\"x", "cut <a href=\"x"),
            ("<b>ever<!-- never ends", "ever"),
            ("<b>ever</b><script>x < y", "ever"),
            ("<head><body>still", "still"),
            (
                "<!DOCTYPE html><html><head><title>t</title></head><body>b</body></html>",
                "b",
            ),
        ];
        for (source, expected) in cases {
            let shown = clean::one_line(&text(source, 400), 400);
            assert_eq!(shown, expected, "{source}");
        }
    }
}
