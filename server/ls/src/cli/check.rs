//! `kontext-ls check`: the diagnostics, for people, for CI and for hooks.

mod github;
mod human;
mod sarif;
pub(super) mod select;

pub(super) use human::where_layers_lie;

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use kontext_config::codes::Severity;
use kontext_ide::diagnostics::{self, Severities, Subject};
use kontext_ide::{Diagnostic, Snapshot};
use kontext_mcp::answers;
use kontext_mcp::picture::in_shape;
use kontext_syntax::text::LineIndex;

use super::{Failure, Outcome, Shell};
use select::{Part, Selected, Selection, select};

/// What is checked and how it is printed.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Configuration files, and folders: the layers of the work tree a folder lies in, and the
    /// layer files directly in it and in its `repos`; `-` is standard input [default: .]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// How the diagnostics are printed
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// The formats of `check`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// The lines in question, marked, with what to do
    Human,
    /// An array of diagnostics; zero-based lines and UTF-16 characters
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands of GitHub Actions
    Github,
}

/// A file with what was found in it.
struct Report<'a> {
    file: &'a Selected,
    lines: Arc<LineIndex>,
    diagnostics: Arc<[Diagnostic]>,
}

impl Report<'_> {
    fn text(&self) -> &str {
        self.file.text()
    }

    /// In the shape of companion.md section 3.
    fn in_shape(&self) -> Vec<answers::Diagnostic> {
        in_shape(&self.file.name, self.text(), &self.lines, &self.diagnostics)
    }
}

/// Checks and prints; 1 where an error was found.
///
/// # Errors
/// When a named path cannot be read (what could be read is printed all the same), or standard
/// output cannot be written.
pub fn run(args: &Args, shell: &Shell) -> Outcome {
    let selection = select(&args.paths, read_stdin)?;
    for note in &selection.notes {
        shell.note(note);
    }
    let reports: Vec<Report<'_>> = selection
        .files
        .iter()
        .map(|file| report(&selection.snapshot, file))
        .collect();
    match args.format {
        Format::Human => human::print(&selection, &reports, shell)?,
        Format::Json => shell.json(
            &reports
                .iter()
                .flat_map(Report::in_shape)
                .collect::<Vec<_>>(),
        )?,
        Format::Sarif => shell.json(&sarif::log(&reports))?,
        Format::Github => shell.print(github::commands(&reports))?,
    }
    unreadable(&selection)?;
    let mut all = reports.iter().flat_map(|report| report.diagnostics.iter());
    Ok(u8::from(all.any(|one| one.severity == Severity::Error)))
}

/// The failure that paths which could not be read make.
pub(super) fn unreadable(selection: &Selection) -> Result<(), Failure> {
    if selection.unreadable.is_empty() {
        return Ok(());
    }
    Err(Failure::Other(selection.unreadable.join("\n       ")))
}

/// The whole of standard input.
pub(super) fn read_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::io("standard input", error))?;
    String::from_utf8(bytes).map_err(|_| Failure::Other("standard input is not UTF-8".to_owned()))
}

fn report<'a>(snapshot: &Snapshot, file: &'a Selected) -> Report<'a> {
    let alone = |source, layer| {
        let subject = Subject {
            source,
            layer,
            severities: &Severities::new(),
            fault: None,
        };
        let checked = diagnostics::Checked::of(&subject, None);
        let lines = Arc::new(LineIndex::new(source.document.text()));
        (lines, Arc::clone(checked.diagnostics()))
    };
    let (lines, diagnostics) = match &file.part {
        Part::Layer(layer) => (Arc::clone(&layer.lines), snapshot.diagnostics(layer)),
        Part::Placed(source, kind, stack) => alone(source, Some((*kind, stack))),
        Part::Alone(source) => alone(source, None),
    };
    Report {
        file,
        lines,
        diagnostics,
    }
}
