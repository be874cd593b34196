//! `kontext-ls adapters list`: every adapter with its status and the reasons for it.

use std::fmt::Write as _;
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use kontext_mcp::Answers as _;
use kontext_mcp::answers::{AdapterStatus, Layer, Status};

use super::super::check::where_layers_lie;
use super::super::{Outcome, Shell, TextFormat, workspace_dir};
use super::visible;
use crate::agents;
use crate::world::Places;

/// How the list is printed, and for which directory.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ListArgs {
    /// Print the status as JSON
    #[arg(long)]
    pub json: bool,
    /// The workspace [default: $KONTEXT_DIR, else the current directory]
    #[arg(long, value_name = "PATH")]
    pub dir: Option<PathBuf>,
}

impl ListArgs {
    /// The format asked for.
    #[must_use]
    pub fn format(&self) -> TextFormat {
        if self.json {
            TextFormat::Json
        } else {
            TextFormat::Human
        }
    }
}

/// Prints the list.
///
/// # Errors
/// When the directory is none, or standard output cannot be written.
pub(super) fn run(args: &ListArgs, shell: &Shell) -> Outcome {
    let folder = workspace_dir(args.dir.as_deref())?;
    let store = agents::disk_store(&folder);
    let status = agents::picture(store.snapshot()).status();
    match args.format() {
        TextFormat::Json => shell.json(&status)?,
        TextFormat::Human => {
            let places: Vec<Places> = store
                .places()
                .into_iter()
                .map(|(places, _)| places)
                .collect();
            shell.print(listing(&status, &places))?;
        }
    }
    Ok(0)
}

fn listing(status: &Status, places: &[Places]) -> String {
    let mut out = String::new();
    let width = |of: fn(&AdapterStatus) -> &str| {
        let widths = status.adapters.iter().map(|one| of(one).chars().count());
        widths.max().unwrap_or_default()
    };
    let (names, drivers) = (width(|one| &one.name), width(|one| driver(one)));
    for one in &status.adapters {
        let (name, driver, style) = (visible(&one.name), driver(one), style(&one.status));
        let _ = writeln!(
            out,
            "{name:names$}  {driver:drivers$}  {style}{:9}{style:#}  {} layer",
            one.status, one.layer
        );
        for reason in &one.reasons {
            let _ = writeln!(out, "  - {}", visible(reason));
        }
    }
    let there: Vec<&Layer> = status.layers.iter().filter(|layer| layer.exists).collect();
    if status.adapters.is_empty() {
        out.push_str("No adapters are configured here.\n");
    }
    if there.is_empty() {
        out.push_str("There is no configuration yet; it is looked for in\n");
        for places in places {
            out.push_str(&where_layers_lie(places));
        }
        out.push_str("An adapter begins with `[adapters.NAME]` and its `driver`: \"mcp\", \"http\" or \"command\".\n");
        out.push_str("`kontext-ls tour` shows one at work.\n");
        return out;
    }
    out.push_str("\nLayers, later ones win:\n");
    for layer in there {
        let state = match (&layer.problem, layer.trusted) {
            (Some(problem), _) => format!(": {}", visible(problem)),
            (None, true) if layer.trusted_by.as_deref() == Some("environment") => {
                " (trusted by KONTEXT_TRUST_REPO_ADAPTERS=1)".to_owned()
            }
            (None, true) => String::new(),
            (None, false) => " (not trusted: `kontext-ls trust` shows it and asks)".to_owned(),
        };
        let _ = writeln!(out, "  {:10}  {}{state}", layer.layer, visible(&layer.path));
    }
    out
}

fn driver(one: &AdapterStatus) -> &str {
    if one.driver.is_empty() {
        "no driver"
    } else {
        &one.driver
    }
}

fn style(status: &str) -> Style {
    match status {
        "active" => AnsiColor::Green.on_default(),
        "inactive" => AnsiColor::Yellow.on_default(),
        "invalid" => AnsiColor::Red.on_default(),
        "untrusted" => AnsiColor::Magenta.on_default(),
        _ => Style::new().dimmed(),
    }
}
