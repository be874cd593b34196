//! Diagnostics for people: the line in question, marked, and what to do.

use std::path::Path;

use annotate_snippets::{
    Annotation, AnnotationKind, Group, Level, Origin, Renderer, Snippet, normalize_untrusted_str,
};
use kontext_config::codes::Severity;
use kontext_ide::{Diagnostic, Place, Related};
use kontext_mcp::words::counted;
use kontext_syntax::TextRange;
use kontext_syntax::text::{Encoding, LineIndex};

use super::super::{Failure, Shell};
use super::{Report, Selection};
use crate::world::{DocKey, Places};

/// A range over more lines is shown by its first one.
const MOST_LINES: u32 = 6;

/// A line of more bytes is not shown, only named: it is not for reading.
const LONGEST_LINE: usize = 4096;

/// Prints every diagnostic, then one line that sums up.
///
/// # Errors
/// When standard output cannot be written.
pub(super) fn print(
    selection: &Selection,
    reports: &[Report<'_>],
    shell: &Shell,
) -> Result<(), Failure> {
    let renderer = Renderer::styled();
    for report in reports {
        for diagnostic in report.diagnostics.iter() {
            let rendered = render(&renderer, report, diagnostic, reports);
            shell.print(format_args!("{rendered}\n\n"))?;
        }
    }
    match reports {
        [] => shell.print(nothing(selection)),
        _ => shell.print(format_args!("{}\n", summary(reports))),
    }
}

/// A text with its lines, and the name it is shown by.
#[derive(Clone, Copy)]
struct Page<'a> {
    name: &'a str,
    text: &'a str,
    lines: &'a LineIndex,
}

impl<'a> Page<'a> {
    fn of(report: &'a Report<'_>) -> Self {
        Self {
            name: &report.file.name,
            text: report.text(),
            lines: &report.lines,
        }
    }

    /// The lines of a range with the range marked; `None` where they are not for showing.
    fn snippet(
        self,
        range: TextRange,
        kind: AnnotationKind,
    ) -> Option<Snippet<'a, Annotation<'a>>> {
        let first = self.lines.line_of(range.start);
        let mut last = self.lines.line_of(range.end.max(range.start));
        if last - first >= MOST_LINES {
            last = first;
        }
        let start = self.lines.content_range(self.text, first).start;
        let end = self.lines.content_range(self.text, last).end;
        let excerpt = TextRange::new(start, end).of(self.text);
        if excerpt.len() > LONGEST_LINE {
            return None;
        }
        let within = |offset: u32| ((offset.max(start) - start) as usize).min(excerpt.len());
        let mark = within(range.start)..within(range.end).max(within(range.start));
        let snippet = Snippet::source(excerpt)
            .path(self.name)
            .line_start(first as usize + 1);
        Some(snippet.annotation(kind.span(mark)))
    }

    /// The place of a range without its text.
    fn origin(self, range: TextRange) -> Origin<'a> {
        let position = self.lines.position(self.text, range.start, Encoding::Utf32);
        let origin = Origin::path(self.name).line(position.line as usize + 1);
        origin.char_column(position.character as usize + 1)
    }

    fn add_to(self, group: Group<'a>, range: TextRange, kind: AnnotationKind) -> Group<'a> {
        match self.snippet(range, kind) {
            Some(snippet) => group.element(snippet),
            None => group.element(self.origin(range)),
        }
    }
}

fn render(
    renderer: &Renderer,
    report: &Report<'_>,
    one: &Diagnostic,
    reports: &[Report<'_>],
) -> String {
    let level = match one.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Information => Level::INFO,
        Severity::Hint => Level::NOTE.with_name("hint"),
    };
    let page = Page::of(report);
    let group = Group::with_title(level.primary_title(one.message.as_str()).id(one.code.id()));
    let mut group = page.add_to(group, one.range, AnnotationKind::Primary);
    if let Some(fix) = &one.fix {
        group = group.element(Level::HELP.message(normalize_untrusted_str(&fix.title)));
    }
    let mut groups = vec![group];
    groups.extend(
        one.related
            .iter()
            .map(|related| beside(page, related, reports)),
    );
    renderer.render(&groups)
}

/// Another place that belongs to a diagnostic.
fn beside<'a>(
    page: Page<'a>,
    related: &'a Related<TextRange>,
    reports: &'a [Report<'_>],
) -> Group<'a> {
    let title = Level::NOTE.secondary_title(normalize_untrusted_str(&related.message));
    let group = Group::with_title(title);
    match &related.place {
        Place::Here(range) => page.add_to(group, *range, AnnotationKind::Context),
        Place::There(path, range) => match find(path, reports) {
            Some(report) => Page::of(report).add_to(group, *range, AnnotationKind::Context),
            None => group.element(Origin::path(path.to_string_lossy())),
        },
    }
}

fn find<'a, 'b>(path: &Path, reports: &'a [Report<'b>]) -> Option<&'a Report<'b>> {
    let is = |report: &&Report<'_>| report.file.path.as_deref() == Some(path);
    let key = DocKey::from_path(path);
    let same = |report: &&Report<'_>| {
        report
            .file
            .path
            .as_deref()
            .is_some_and(|path| DocKey::from_path(path) == key)
    };
    reports
        .iter()
        .find(is)
        .or_else(|| reports.iter().find(same))
}

fn summary(reports: &[Report<'_>]) -> String {
    let count = |severity| {
        let all = reports.iter().flat_map(|report| report.diagnostics.iter());
        all.filter(|one| one.severity == severity).count()
    };
    let found: Vec<String> = [
        (Severity::Error, "error"),
        (Severity::Warning, "warning"),
        (Severity::Information, "remark"),
        (Severity::Hint, "hint"),
    ]
    .into_iter()
    .filter_map(|(severity, word)| {
        let count = count(severity);
        (count > 0).then(|| counted(count, word))
    })
    .collect();
    let files = counted(reports.len(), "file");
    if found.is_empty() {
        let names: Vec<&str> = reports
            .iter()
            .map(|report| report.file.name.as_str())
            .collect();
        return match names.as_slice() {
            [one] => format!("Nothing to report in {one}"),
            several if several.len() <= 5 => {
                format!("Nothing to report in {}", several.join(", "))
            }
            _ => format!("Nothing to report in {files}"),
        };
    }
    format!("{} in {files}", found.join(", "))
}

/// What is said where there is no file: where one would be looked for.
fn nothing(selection: &Selection) -> String {
    if selection.places.is_empty() {
        return "Nothing to check\n".to_owned();
    }
    let mut text = "No configuration here yet; it is looked for in\n".to_owned();
    for places in &selection.places {
        text += &where_layers_lie(places);
    }
    text
}

/// One line for each layer: where it lies or would lie.
pub(in crate::cli) fn where_layers_lie(places: &Places) -> String {
    let mut lines = vec![
        (places.user.clone(), "yours, for every repository"),
        (places.repository.clone(), "yours, for this repository"),
    ];
    let shared = places
        .shared
        .clone()
        .map_or_else(|| places.shared_candidates.clone(), |one| vec![one]);
    lines.extend(
        shared
            .into_iter()
            .map(|path| (path, "committed, for everybody who works on it")),
    );
    lines.extend(
        places
            .clone
            .clone()
            .map(|path| (path, "yours, for this clone")),
    );
    let mut text = String::new();
    for (path, meaning) in lines {
        text += &format!("  {} ({meaning})\n", path.display());
    }
    text
}
