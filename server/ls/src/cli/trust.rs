//! `kontext-ls trust`: shows what the shared layer of a repository would run, call and send, and
//! takes the person's yes.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use kontext_config::facts::Trust;
use kontext_config::stack::Stack;
use kontext_config::trust::{Canonical, LEAST_DIGITS, ScriptFact, Scripts, difference};
use kontext_ide::trust::{Asked, Override, Review, Reviewed, review, shown};
use serde::Serialize;
use serde_json::Value;

use super::{Failure, Outcome, Shell, workspace_dir};
use crate::workspace::{Options, SharedLayer, Store};
use crate::world;
use crate::world::trust::{Accepted, Pins, TrustFault, trust_file};

/// The most changes that are listed.
const MOST_CHANGES: usize = 200;

/// What is wanted.
#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Accept the shared layer without a question, if PIN (all of it, or 12 digits and more) is the
    /// pin it has now
    #[arg(long, value_name = "PIN", conflicts_with_all = ["list", "revoke"])]
    pub yes: Option<String>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
    /// List everything that is accepted, in all repositories
    #[arg(long, conflicts_with = "revoke")]
    pub list: bool,
    /// Take back what is accepted in this repository: one PIN, or all of them
    #[arg(long, value_name = "PIN", num_args = 0..=1)]
    #[allow(
        clippy::option_option,
        reason = "not given, given without and with a value"
    )]
    pub revoke: Option<Option<String>>,
    /// The workspace [default: $KONTEXT_DIR, else the current directory]
    #[arg(long, value_name = "PATH")]
    pub dir: Option<PathBuf>,
}

/// What there is to trust, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Question {
    repository: String,
    root: String,
    path: String,
    /// `nothing`, `untrusted`, `trusted` or `environment`.
    status: &'static str,
    /// Nothing where there is nothing to trust.
    pin: Option<String>,
    review: Review,
    scripts: Vec<Script>,
    /// The pin and moment of the yes that `difference` counts from.
    since: Option<Since>,
    /// Nothing where there was no yes before, or it can no longer be compared.
    difference: Option<Vec<Override>>,
    /// Pins of this repository that are accepted.
    accepted: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Script {
    path: String,
    sha256: Option<String>,
}

#[derive(Debug, Serialize)]
struct Since {
    pin: String,
    accepted: String,
}

/// Runs the command; 1 where something waits for a yes that was not given.
///
/// # Errors
/// When the directory is none, the pins cannot be read or written, or the PIN is not that of the
/// layer.
pub fn run(args: &Args, shell: &Shell) -> Outcome {
    let options = Options::of_process(false);
    let Some(config_home) = options.config_home.clone() else {
        return Err(Failure::Other(
            "there is no home folder to keep pins in: set KONTEXT_CONFIG_DIR".to_owned(),
        ));
    };
    let file = trust_file(&config_home);
    if args.list {
        return list(args, &Pins::read(&file).map_err(failure)?, shell);
    }
    let folder = workspace_dir(args.dir.as_deref())?;
    if let Some(digits) = &args.revoke {
        return revoke(args, &folder, &file, digits.as_deref(), shell);
    }
    let store = Store::new(options);
    store.set_folders(&[folder]);
    let pins = Pins::read(&file).map_err(failure)?;
    let Some((layer, stack, look)) = found(&store) else {
        return nothing(
            args,
            shell,
            "There is no shared layer here, so there is nothing to trust.",
        );
    };
    if look.too_many {
        return Err(Failure::Other(format!(
            "{} names more files than can be looked at, and cannot be trusted; name fewer in its commands",
            layer.path.display()
        )));
    }
    let Some(canonical) = look.canonical else {
        let words = format!(
            "{} defines no adapters, `vars` or `project`: there is nothing to trust.",
            visible(&layer.path.to_string_lossy())
        );
        return nothing(args, shell, &words);
    };
    let question = question(&layer, &stack, &pins, &canonical, &look.scripts);
    if let Some(digits) = &args.yes {
        if !canonical.pin().is_named_by(digits) {
            return Err(Failure::Other(format!(
                "{} is not the pin of {}; it is {} now: look at it again with `kontext-ls trust`",
                visible(digits),
                layer.path.display(),
                canonical.pin()
            )));
        }
        accept(&file, &layer, &canonical)?;
        if args.json {
            shell.json(&serde_json::json!({
                "repository": layer.repo.id, "pin": canonical.pin().as_str(), "status": "trusted",
            }))?;
        } else {
            shell.print(accepted_words(&layer, &canonical))?;
        }
        return Ok(0);
    }
    let waits = question.status == "untrusted";
    if args.json {
        shell.json(&question)?;
        return Ok(u8::from(waits));
    }
    shell.print(page(&question))?;
    if !waits {
        return Ok(0);
    }
    let how = format!(
        "To accept it: kontext-ls trust --yes {}\n",
        canonical.pin().short()
    );
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        shell.print(how)?;
        return Ok(1);
    }
    shell.print("Trust this? [y/N] ")?;
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Failure::io("standard input", error))?;
    if !matches!(answer.trim(), "y" | "Y" | "yes") {
        shell.print("Nothing was accepted.\n")?;
        return Ok(1);
    }
    accept(&file, &layer, &canonical)?;
    shell.print(accepted_words(&layer, &canonical))?;
    Ok(0)
}

fn failure(fault: TrustFault) -> Failure {
    Failure::Other(fault.to_string())
}

/// The shared layer of the one root, the stack it stands in, and what is on disk of its scripts.
fn found(store: &Store) -> Option<(SharedLayer, Stack, world::trust::Look)> {
    let layer = store.shared_layers().into_iter().next()?;
    let snapshot = store.snapshot();
    let workspace = snapshot
        .workspaces
        .iter()
        .find(|workspace| workspace.root == layer.root)?;
    let stack = Stack::clone(&workspace.saved);
    let look = store.look_at(&layer);
    Some((layer, stack, look))
}

fn accept(file: &Path, layer: &SharedLayer, canonical: &Canonical) -> Result<(), Failure> {
    let moment = world::now().iso;
    Pins::update(file, |pins| pins.accept(&layer.repo, canonical, moment)).map_err(failure)
}

fn accepted_words(layer: &SharedLayer, canonical: &Canonical) -> String {
    format!(
        "{} is trusted as it is now (pin {}).\n",
        visible(&layer.path.to_string_lossy()),
        canonical.pin().short()
    )
}

fn nothing(args: &Args, shell: &Shell, words: &str) -> Outcome {
    if args.json {
        shell.json(&serde_json::json!({ "status": "nothing", "pin": null }))?;
    } else {
        shell.print(format_args!("{words}\n"))?;
    }
    Ok(0)
}

fn list(args: &Args, pins: &Pins, shell: &Shell) -> Outcome {
    if args.json {
        shell.json(&pins.all())?;
        return Ok(0);
    }
    let mut out = String::new();
    for one in pins.all() {
        let _ = writeln!(
            out,
            "{}  {}  {}  {}",
            one.pin.short(),
            visible(&one.accepted),
            visible(&one.repository),
            visible(&one.root)
        );
    }
    if out.is_empty() {
        out.push_str("Nothing is accepted.\n");
    }
    shell.print(out)?;
    Ok(0)
}

fn revoke(args: &Args, folder: &Path, file: &Path, digits: Option<&str>, shell: &Shell) -> Outcome {
    if digits.is_some_and(|digits| digits.len() < LEAST_DIGITS) {
        return Err(Failure::Other(format!(
            "write at least {LEAST_DIGITS} digits of the pin; `kontext-ls trust --list` has them"
        )));
    }
    let repo = world::find_repo(folder);
    let gone = Pins::update(file, |pins| pins.revoke(&repo.id, digits)).map_err(failure)?;
    if args.json {
        shell.json(&serde_json::json!({ "repository": repo.id, "revoked": gone }))?;
    } else {
        let words = match gone {
            0 => "Nothing of this was accepted".to_owned(),
            1 => "1 pin was taken back".to_owned(),
            many => format!("{many} pins were taken back"),
        };
        shell.print(format_args!("{words} ({}).\n", visible(&repo.id)))?;
    }
    Ok(u8::from(gone == 0 && digits.is_some()))
}

fn question(
    layer: &SharedLayer,
    stack: &Stack,
    pins: &Pins,
    canonical: &Canonical,
    scripts: &Scripts,
) -> Question {
    let accepted: Vec<&Accepted> = pins.of(&layer.repo.id).collect();
    let is_accepted = pins.accepts(&layer.repo.id, canonical.pin());
    let status = match stack.trust {
        Trust::ByEnvironment => "environment",
        _ if is_accepted => "trusted",
        _ => "untrusted",
    };
    let last = accepted.last().filter(|_| !is_accepted);
    let changes = last
        .and_then(|last| last.form.as_deref())
        .and_then(|form| difference(form, canonical, MOST_CHANGES));
    Question {
        repository: layer.repo.id.clone(),
        root: layer.root.to_string_lossy().into_owned(),
        path: layer.path.to_string_lossy().into_owned(),
        status,
        pin: Some(canonical.pin().as_str().to_owned()),
        review: review(stack),
        scripts: scripts
            .iter()
            .map(|(path, fact)| Script {
                path: path.clone(),
                sha256: match fact {
                    ScriptFact::Sha256(hash) => Some(hash.clone()),
                    ScriptFact::Unreadable => None,
                },
            })
            .collect(),
        since: last.map(|last| Since {
            pin: last.pin.as_str().to_owned(),
            accepted: last.accepted.clone(),
        }),
        difference: changes.map(|changes| changes.iter().map(shown).collect()),
        accepted: accepted
            .iter()
            .map(|one| one.pin.as_str().to_owned())
            .collect(),
    }
}

const BOLD: Style = Style::new().bold();

fn page(question: &Question) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{BOLD}{}{BOLD:#} of {}",
        visible(&question.path),
        visible(&question.repository)
    );
    for adapter in &question.review.adapters {
        adapter_page(adapter, &mut out);
    }
    if !question.review.values.is_empty() {
        out.push_str("\nFor the templates of every adapter:\n");
        overrides(&question.review.values, &mut out);
    }
    if !question.scripts.is_empty() {
        out.push_str("\nFiles of the repository that commands name:\n");
        for script in &question.scripts {
            let hash = script.sha256.as_deref().unwrap_or("cannot be read");
            let hash = hash.get(..LEAST_DIGITS).unwrap_or(hash);
            let _ = writeln!(out, "  {}  {hash}", visible(&script.path));
        }
    }
    match (&question.since, &question.difference) {
        (Some(since), Some(changes)) => {
            let _ = writeln!(
                out,
                "\nSince you accepted it on {}:",
                visible(&since.accepted)
            );
            overrides(changes, &mut out);
            if changes.len() >= MOST_CHANGES {
                out.push_str("  … and more\n");
            }
        }
        (Some(since), None) => {
            let _ = writeln!(
                out,
                "\nIt has changed since you accepted it on {}; what has changed is no longer known.",
                visible(&since.accepted)
            );
        }
        (None, _) => {}
    }
    let pin = question.pin.as_deref().unwrap_or_default();
    out.push('\n');
    let _ = match question.status {
        "trusted" => writeln!(out, "It is trusted (pin {pin})."),
        "environment" => writeln!(
            out,
            "It is trusted by KONTEXT_TRUST_REPO_ADAPTERS=1, whatever it says (pin {pin})."
        ),
        _ => writeln!(out, "It is not trusted (pin {pin})."),
    };
    out
}

fn adapter_page(adapter: &Reviewed, out: &mut String) {
    let warn = AnsiColor::Yellow.on_default().bold();
    let _ = write!(out, "\n{BOLD}{}{BOLD:#}", visible(&adapter.name));
    if let Some(driver) = adapter.driver {
        let _ = write!(out, " ({driver})");
    }
    out.push_str(match (adapter.enabled, adapter.own) {
        (false, _) => ", switched off\n",
        (true, true) => ", together with what you define yourself\n",
        (true, false) => "\n",
    });
    for warning in &adapter.warnings {
        let _ = writeln!(out, "  {warn}!{warn:#} {}", visible(warning));
    }
    for run in &adapter.runs {
        let words: Vec<String> = run.command.iter().map(|word| argument(word)).collect();
        let _ = write!(out, "  runs  {}", words.join(" "));
        if let Some(cwd) = &run.cwd {
            let _ = write!(out, "  in {}", visible(cwd));
        }
        let _ = writeln!(out, "  ({}, {} layer)", visible(&run.field), run.layer);
    }
    for call in &adapter.calls {
        let _ = writeln!(
            out,
            "  calls  {}  ({}, {} layer)",
            visible(&call.url),
            visible(&call.field),
            call.layer
        );
    }
    for (word, sent) in [("sends header", &adapter.headers), ("sets", &adapter.env)] {
        for one in sent {
            let _ = writeln!(
                out,
                "  {word}  {}  ({} layer)",
                visible(&one.name),
                one.layer
            );
        }
    }
    if !adapter.reads_env.is_empty() {
        let names: Vec<String> = adapter.reads_env.iter().map(|name| visible(name)).collect();
        let _ = writeln!(out, "  uses your environment's  {}", names.join(", "));
    }
    asked("op", &adapter.ops, out);
    asked("tool", &adapter.tools, out);
    asked("receives", &adapter.events, out);
    if !adapter.when.is_null() {
        let _ = writeln!(out, "  when  {}", visible(&adapter.when.to_string()));
    }
    if !adapter.overrides.is_empty() {
        out.push_str("  replaces of your own:\n");
        overrides(&adapter.overrides, out);
    }
}

fn asked(word: &str, list: &[Asked], out: &mut String) {
    for one in list {
        let _ = writeln!(
            out,
            "  {word}  {}: {}",
            visible(&one.name),
            visible(&one.what)
        );
    }
}

fn overrides(list: &[Override], out: &mut String) {
    let (gone, new) = (AnsiColor::Red.on_default(), AnsiColor::Green.on_default());
    for one in list {
        let _ = writeln!(out, "    {}", visible(&one.field));
        for (sign, style, value) in [("-", gone, &one.before), ("+", new, &one.after)] {
            if !value.is_null() {
                let _ = writeln!(
                    out,
                    "      {style}{sign} {}{style:#}",
                    visible(&value_text(value))
                );
            }
        }
    }
}

fn value_text(value: &Value) -> String {
    value.to_string()
}

/// An argument as it is written, in quotes where its borders could not be seen otherwise.
fn argument(word: &str) -> String {
    let plain = !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c == '"');
    if plain {
        visible(word)
    } else {
        visible(&Value::from(word).to_string())
    }
}

/// A text from a file, with what a terminal would obey or hide written out.
fn visible(text: &str) -> String {
    let hides = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if hides(c) {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}
