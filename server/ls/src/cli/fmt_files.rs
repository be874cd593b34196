//! `kontext-ls fmt`: format configuration files in place.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use kontext_ide::format::{FormatOptions, TextEdit, format};

use super::check::select::{Part, Selected, select};
use super::check::{read_stdin, unreadable};
use super::{Failure, Outcome, Shell};
use crate::world::{DocKey, find_repo};

/// What is formatted.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Args {
    /// Configuration files, and folders: the layers that lie in their work tree, and the layer
    /// files directly in them; `-` is standard input, printed formatted [default: .]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Change nothing; exit 1 where something would change
    #[arg(long)]
    pub check: bool,
}

/// Formats; with `--check` 1 where something would change.
///
/// # Errors
/// When a file cannot be read, written or formatted safely; the others are formatted all the same.
pub fn run(args: &Args, shell: &Shell) -> Outcome {
    if let [path] = args.paths.as_slice()
        && path.as_os_str() == "-"
    {
        return stream(&read_stdin()?, args.check, shell);
    }
    let selection = select(&args.paths, read_stdin)?;
    for note in &selection.notes {
        shell.note(note);
    }
    let mut refusals = Vec::new();
    let (mut same, mut changed) = (0, 0);
    for file in selection
        .files
        .iter()
        .filter(|file| is_meant(file, &args.paths))
    {
        match one(file, args.check) {
            Ok(false) => same += 1,
            Ok(true) => {
                changed += 1;
                let verb = if args.check {
                    "would be formatted"
                } else {
                    "formatted"
                };
                shell.print(format_args!("{} {verb}\n", file.name))?;
            }
            Err(why) => refusals.push(format!("{}: {why}", file.name)),
        }
    }
    let verb = if args.check {
        "would change"
    } else {
        "changed"
    };
    shell.note(format_args!("{changed} {verb}, {same} formatted already"));
    if !refusals.is_empty() {
        return Err(Failure::Other(refusals.join("\n       ")));
    }
    unreadable(&selection)?;
    Ok(u8::from(args.check && changed > 0))
}

/// A personal layer is formatted where it lies below a named folder's work tree or is named: who
/// formats a repository does not mean the files of their home.
fn is_meant(file: &Selected, paths: &[PathBuf]) -> bool {
    let Some(path) = &file.path else { return false };
    let here = [PathBuf::from(".")];
    let paths = if paths.is_empty() { &here[..] } else { paths };
    let DocKey::File(file) = DocKey::from_path(path) else {
        return false;
    };
    paths.iter().any(|path| {
        let DocKey::File(named) = DocKey::from_path(path) else {
            return false;
        };
        file.starts_with(&named) || (named.is_dir() && file.starts_with(find_repo(&named).root))
    })
}

/// Standard input to standard output; with `check` nothing is printed but the answer is the same.
fn stream(text: &str, check: bool, shell: &Shell) -> Outcome {
    let edits = format(text, &FormatOptions::default(), None)
        .map_err(|refusal| Failure::Other(refusal.to_string()))?;
    if check {
        return Ok(u8::from(!edits.is_empty()));
    }
    shell.print(applied(text, &edits))?;
    Ok(0)
}

/// Formats one file. True where it changes.
fn one(file: &Selected, check: bool) -> Result<bool, String> {
    if let Part::Layer(layer) = &file.part
        && let Some(fault) = &layer.fault
    {
        return Err(fault.to_string());
    }
    let text = file.text();
    let edits =
        format(text, &FormatOptions::default(), None).map_err(|refusal| refusal.to_string())?;
    if edits.is_empty() {
        return Ok(false);
    }
    if let Some(path) = file.path.as_deref().filter(|_| !check) {
        write(path, &applied(text, &edits))
            .map_err(|error| format!("cannot be written: {error}"))?;
    }
    Ok(true)
}

/// The text with its edits, which are in order and do not overlap.
fn applied(text: &str, edits: &[TextEdit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for edit in edits {
        out.push_str(
            text.get(done..edit.range.start as usize)
                .unwrap_or_default(),
        );
        out.push_str(&edit.text);
        done = edit.range.end as usize;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// Replaces the file in one step, so that nobody sees half of it. A link stays a link: what it
/// leads to is replaced. Permissions stay.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let target = path.canonicalize()?;
    let permissions = std::fs::metadata(&target)?.permissions();
    if permissions.readonly() {
        let words = "the file is read-only";
        return Err(std::io::Error::new(
            std::io::ErrorKind::PermissionDenied,
            words,
        ));
    }
    let folder = target.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    file.persist(&target)?;
    Ok(())
}
