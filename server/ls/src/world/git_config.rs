//! Git's configuration syntax, as far as remotes need it: sections, subsections, quotes, escapes,
//! comments and continued lines. `include` is not followed.
//!
//! The parser never fails: a line it cannot read is left out, as a repository whose configuration
//! has one bad line still has an identity.

use std::iter::Peekable;
use std::str::Chars;

/// One `key = value` of a git configuration, in file order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Section name, lower case.
    pub section: String,
    /// Subsection, case kept (lower case in the old `[section.sub]` form).
    pub subsection: Option<String>,
    /// Key, lower case.
    pub key: String,
    /// Value without quotes and escapes; `None` for a key that stands alone (it means true).
    pub value: Option<String>,
}

/// A remote and the URL that is fetched from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Its name, `origin` for most.
    pub name: String,
    /// Its first URL as written, credentials included: do not show it.
    pub url: String,
}

/// All entries of a configuration.
pub fn parse(text: &str) -> Vec<Entry> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    Parser {
        chars: text.chars().peekable(),
        entries: Vec::new(),
    }
    .run()
}

/// The remotes that have a URL, in the order of their first mention.
///
/// Of several URLs the first counts, as it is the one git fetches from; an empty value takes back
/// those before it.
pub fn remotes(entries: &[Entry]) -> Vec<Remote> {
    let mut found: Vec<Remote> = Vec::new();
    for entry in entries {
        let (Some(name), "remote", "url") = (
            &entry.subsection,
            entry.section.as_str(),
            entry.key.as_str(),
        ) else {
            continue;
        };
        let Some(url) = &entry.value else { continue };
        if url.is_empty() {
            found.retain(|remote| remote.name != *name);
        } else if !found.iter().any(|remote| remote.name == *name) {
            found.push(Remote {
                name: name.clone(),
                url: url.clone(),
            });
        }
    }
    found
}

/// The last value of `section.key` (no subsection), as git reads a setting.
pub fn setting<'a>(entries: &'a [Entry], section: &str, key: &str) -> Option<&'a str> {
    let hit =
        |entry: &&Entry| entry.subsection.is_none() && entry.section == section && entry.key == key;
    entries
        .iter()
        .rev()
        .find(hit)
        .and_then(|entry| entry.value.as_deref())
}

struct Parser<'a> {
    chars: Peekable<Chars<'a>>,
    entries: Vec<Entry>,
}

impl Parser<'_> {
    fn run(mut self) -> Vec<Entry> {
        // `None` before the first header and after one that could not be read: keys there belong
        // to no known section and are dropped.
        let mut header: Option<(String, Option<String>)> = None;
        while let Some(&c) = self.chars.peek() {
            match c {
                '#' | ';' => self.skip_line(),
                '[' => {
                    self.chars.next();
                    header = self.header();
                    if header.is_none() {
                        self.skip_line();
                    }
                }
                c if c.is_ascii_alphabetic() => {
                    let pair = self.pair();
                    if let (Some((key, value)), Some((section, subsection))) = (pair, &header) {
                        self.entries.push(Entry {
                            section: section.clone(),
                            subsection: subsection.clone(),
                            key,
                            value,
                        });
                    }
                }
                c if c.is_whitespace() => {
                    self.chars.next();
                }
                _ => self.skip_line(),
            }
        }
        self.entries
    }

    fn skip_line(&mut self) {
        for c in self.chars.by_ref() {
            if c == '\n' {
                break;
            }
        }
    }

    fn skip_blanks(&mut self) {
        while self
            .chars
            .next_if(|c| matches!(c, ' ' | '\t' | '\r'))
            .is_some()
        {}
    }

    fn name(&mut self, extra: char) -> String {
        let mut name = String::new();
        while let Some(c) = self
            .chars
            .next_if(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == extra)
        {
            name.push(c.to_ascii_lowercase());
        }
        name
    }

    /// The rest of a header after `[`, its `]` included. A line break inside ends it as bad, and
    /// is left for [`Self::skip_line`].
    fn header(&mut self) -> Option<(String, Option<String>)> {
        let name = self.name('.');
        self.skip_blanks();
        let header = if self.chars.next_if_eq(&'"').is_some() {
            let mut sub = String::new();
            loop {
                match self.chars.next_if(|c| *c != '\n')? {
                    '"' => break,
                    '\\' => sub.push(self.chars.next_if(|c| *c != '\n')?),
                    c => sub.push(c),
                }
            }
            (name, Some(sub))
        } else {
            match name.split_once('.') {
                Some((section, sub)) => (section.to_owned(), Some(sub.to_owned())),
                None => (name, None),
            }
        };
        self.skip_blanks();
        self.chars.next_if_eq(&']')?;
        Some(header)
    }

    /// A key and its value, up to and including the end of the line. `None` for a line git would
    /// refuse.
    fn pair(&mut self) -> Option<(String, Option<String>)> {
        let key = self.name('-');
        self.skip_blanks();
        match self.chars.peek() {
            None | Some('\n' | '#' | ';') => {
                self.skip_line();
                Some((key, None))
            }
            Some('=') => {
                self.chars.next();
                let value = self.value();
                if value.is_none() {
                    self.skip_line();
                }
                value.map(|value| (key, Some(value)))
            }
            Some(_) => {
                self.skip_line();
                None
            }
        }
    }

    /// A value after `=`. Blanks around it go, those inside and in quotes stay. `None`, with the
    /// rest of the line unread, for a bad escape or an open quote.
    fn value(&mut self) -> Option<String> {
        self.skip_blanks();
        let mut value = String::new();
        let mut kept = 0; // Bytes of `value` that trailing-blank removal must not touch.
        let mut quoted = false;
        loop {
            if self.chars.peek() == Some(&'\n') && quoted {
                return None;
            }
            match self.chars.next() {
                None if quoted => return None,
                None | Some('\n') => break,
                Some('#' | ';') if !quoted => {
                    self.skip_line();
                    break;
                }
                Some('"') => {
                    quoted = !quoted;
                    kept = value.len();
                }
                Some('\\') => {
                    // A carriage return before the line feed belongs to the line's end.
                    while self.chars.next_if_eq(&'\r').is_some() {}
                    match self
                        .chars
                        .next_if(|c| matches!(c, '\n' | 'n' | 't' | 'b' | '\\' | '"'))?
                    {
                        '\n' => continue,
                        'n' => value.push('\n'),
                        't' => value.push('\t'),
                        'b' => value.push('\u{8}'),
                        c => value.push(c),
                    }
                    kept = value.len();
                }
                Some(c) => {
                    value.push(c);
                    if quoted || !c.is_whitespace() {
                        kept = value.len();
                    }
                }
            }
        }
        value.truncate(kept);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn urls(text: &str) -> Vec<(String, String)> {
        remotes(&parse(text))
            .into_iter()
            .map(|remote| (remote.name, remote.url))
            .collect()
    }

    fn one(name: &str, url: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), url.to_owned())]
    }

    #[test]
    fn ordinary_file() {
        let text = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@github.com:Acme/Shop.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n";
        assert_eq!(urls(text), one("origin", "git@github.com:Acme/Shop.git"));
        assert_eq!(setting(&parse(text), "core", "bare"), Some("false"));
    }

    #[test]
    fn quotes_escapes_comments_and_continued_lines() {
        let text =
            "\u{feff}; lead\r\n[ReMoTe \"a \\\"b\\\\\"] URL = \"x # y\" z \\\r\n/w  # end\r\n";
        assert_eq!(urls(text), one("a \"b\\", "x # y z /w"));
        assert_eq!(urls("[remote.Up]url=  x;y\n"), one("up", "x"));
        assert_eq!(urls("[remote \"o\"]\nurl = \"a\" \t \n"), one("o", "a"));
        assert_eq!(urls("[remote \"o\"]\nurl = \"a  \"\n"), one("o", "a  "));
        assert_eq!(urls("[remote \"o\"]\nurl = a\\tb"), one("o", "a\tb"));
    }

    #[test]
    fn a_bad_line_costs_only_itself() {
        for bad in [
            "url = \"open",
            "url = a\\qb",
            "= x",
            "url x",
            "\u{0}\u{1}",
            "ключ = 1",
        ] {
            let text = format!("[remote \"o\"]\n{bad}\nurl = good\n");
            assert_eq!(urls(&text), one("o", "good"), "{bad:?}");
        }
        for bad in [
            "[remote \"o",
            "[remote \"o\"",
            "[",
            "[remote o]",
            "[remote \"o\" x]",
        ] {
            let text = format!("{bad}\nurl = lost\n[remote \"p\"]\nurl = kept\n");
            assert_eq!(urls(&text), one("p", "kept"), "{bad:?}");
        }
    }

    #[test]
    fn first_url_counts_and_an_empty_one_clears() {
        assert_eq!(urls("[remote \"o\"]\nurl=a\nurl=b\n"), one("o", "a"));
        assert_eq!(urls("[remote \"o\"]\nurl=a\nurl=\nurl=b\n"), one("o", "b"));
        assert_eq!(urls("[remote \"o\"]\nurl\n[remote]\nurl = x\n"), vec![]);
        assert_eq!(urls("[remote \"o\"]\npushurl = x\n"), vec![]);
    }

    #[test]
    fn a_setting_s_last_value_counts() {
        let entries = parse("[core]\nworktree = a\n[core]\nworktree = ../b\n");
        assert_eq!(setting(&entries, "core", "worktree"), Some("../b"));
    }

    proptest! {
        #[test]
        fn never_panics(text in "[\\[\\]\"\\\\#;=\\.\r\n\t a-c\u{0}é-]{0,80}") {
            let _ = remotes(&parse(&text));
        }

        #[test]
        fn never_panics_on_any_text(text in any::<String>()) {
            let _ = remotes(&parse(&text));
        }

        #[test]
        fn a_quoted_value_comes_back(value in "[^\n\r\u{0}]{1,30}") {
            let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
            let text = format!("[remote \"o\"]\nurl = \"{quoted}\"\n");
            prop_assert_eq!(urls(&text), one("o", &value));
        }
    }
}
