//! `kontext-ls tour`: the main job, played on a sample workspace over the real wires.
//!
//! The tour starts this very program twice, as an editor and as an agent would, and prints what
//! they get. Each step checks that it showed what it says; the first that did not ends the tour.

mod agent;
mod editor;
mod sample;
mod wire;

use std::fs::{File, OpenOptions};
use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::{Failure, Outcome, Shell};
use agent::{Agent, Answer};
use editor::Editor;
use sample::{EDITED, Sample};
use wire::Fault;

/// Where the sample is laid out.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Args {
    /// Lay the sample workspace out in this new or empty folder [default: a temporary one]
    #[arg(long, value_name = "PATH")]
    pub dir: Option<PathBuf>,
}

/// Plays the tour; 1 where a step does not show what it is there for.
///
/// # Errors
/// When the sample cannot be laid out, or standard output cannot be written.
pub fn run(args: &Args, shell: &Shell) -> Outcome {
    let sample = Sample::unpack(args.dir.as_deref())?;
    let mut tour = Tour {
        shell,
        sample,
        step: (0, ""),
    };
    match tour.play() {
        Ok(()) => Ok(0),
        Err(Stop::Output(failure)) => Err(failure),
        Err(Stop::Fault(fault)) => {
            let (number, title) = tour.step;
            let log = tour.sample.folder.join(LOG);
            shell.note(format_args!(
                "\nstep {number} ({title}) did not work: {fault}\nwhat the programs said is in {}",
                log.display()
            ));
            Ok(1)
        }
    }
}

/// What the two programs write to standard error.
const LOG: &str = "programs.log";

/// Why the tour ends early.
enum Stop {
    /// A step failed.
    Fault(Fault),
    /// Nobody is there to watch.
    Output(Failure),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Output(failure)
    }
}

struct Tour<'a> {
    shell: &'a Shell,
    sample: Sample,
    /// The step that is being played, from 1.
    step: (u32, &'static str),
}

impl Tour<'_> {
    fn play(&mut self) -> Result<(), Stop> {
        self.say(
            "An adapter connects an agent to one source of context: a server that speaks MCP, an\n\
             HTTP API or a program. Adapters are written in TOML files. This program checks those\n\
             files while you type, says which adapters are active and why the others are not, and\n\
             shows the same picture to the agent beside you.",
        )?;
        self.head("The sample")?;
        self.say(&format!(
            "A small repository with two configuration files:\n\
             \x20 .kontext.toml             committed, the same for everybody\n\
             \x20 {EDITED}  yours, for this clone only\n\
             In the second one are three adapters, one of each kind, and two slips."
        ))?;
        let mut editor = self.what_is_wrong()?;
        self.what_fits(&mut editor)?;
        self.what_is_active(&mut editor)?;
        let mut agent = self.an_agent_joins()?;
        self.an_unsaved_edit(&mut editor, &mut agent)?;
        self.the_editor_goes_and_comes(editor, &mut agent)?;
        self.head("Now you")?;
        let how = self.sample.how_to_open();
        self.say(how.trim_end())?;
        Ok(())
    }

    fn what_is_wrong(&mut self) -> Result<Editor, Stop> {
        self.head("What is wrong")?;
        self.say(&format!(
            "An editor starts `kontext-ls lsp` and opens {EDITED}."
        ))?;
        let mut editor = Editor::open(&self.sample, self.log()?)?;
        let found = editor.diagnostics()?;
        expect_codes(&found, &["unknown-key", "unknown-filter"])?;
        for diagnostic in &found {
            self.show(&editor.shown(diagnostic))?;
        }
        Ok(editor)
    }

    fn what_fits(&mut self, editor: &mut Editor) -> Result<(), Stop> {
        self.head("What fits")?;
        self.say("You type `t` under [adapters.guide]; these fields are offered:")?;
        let before = "description = \"The guide in docs\"\n";
        let typed = format!("{before}t\n");
        editor.replace(before, &typed)?;
        self.offers(editor, typed.trim_end(), "t", "timeout_ms")?;
        editor.replace(&typed, before)?;
        self.say("You type `tr` after `{{query|`; these filters are offered:")?;
        editor.replace("|trimm}}", "|tr}}")?;
        self.offers(editor, "{{query|tr", "tr", "trim")?;
        editor.replace("|tr}}", "|trimm}}")?;
        Ok(())
    }

    /// Shows what is offered behind `place`, of which `wanted` is to be one.
    fn offers(
        &self,
        editor: &mut Editor,
        place: &str,
        typed: &str,
        wanted: &str,
    ) -> Result<(), Stop> {
        let mut offers = editor.completion(place)?;
        if !offers.iter().any(|offer| offer.label == wanted) {
            return Err(Stop::Fault(format!(
                "`{wanted}` is not offered, but {offers:?}"
            )));
        }
        // A language server offers what is possible; the editor narrows it to what is typed.
        offers.retain(|offer| offer.label.starts_with(typed));
        let lines: Vec<String> = offers
            .iter()
            .map(|offer| format!("{:12} {}", offer.label, offer.detail))
            .collect();
        self.show(&lines.join("\n"))
    }

    fn what_is_active(&mut self, editor: &mut Editor) -> Result<(), Stop> {
        self.head("What is active")?;
        self.say("Beside each adapter the editor shows whether it is active:")?;
        let hints = editor.hints()?;
        for word in ["inactive", "active"] {
            if !hints.contains(word) {
                return Err(Stop::Fault(format!("no hint says `{word}`: {hints}")));
            }
        }
        self.show(&hints)?;
        self.say("Over `when` it says how each condition stands:")?;
        let hover = editor.hover("\nwhen")?;
        if !hover.contains("NOTES_TOKEN") {
            return Err(Stop::Fault(format!(
                "the hover does not name the conditions: {hover}"
            )));
        }
        self.show(&hover)?;
        Ok(())
    }

    fn an_agent_joins(&mut self) -> Result<Agent, Stop> {
        self.head("An agent joins")?;
        self.say(
            "An agent starts `kontext-ls mcp`. It finds the language server of this workspace and\n\
             sees what the editor sees. Its tools:",
        )?;
        let mut agent = Agent::start(&self.sample, self.log()?)?;
        let status = agent.status_when(true)?;
        let tools = agent.tools()?;
        for tool in [
            "kontext_status",
            "kontext_snapshot",
            "kontext_check",
            "kontext_explain",
        ] {
            if !tools.iter().any(|listed| listed == tool) {
                return Err(Stop::Fault(format!(
                    "the tool `{tool}` is not listed: {tools:?}"
                )));
            }
        }
        self.show(&tools.join(", "))?;
        self.say("`kontext_status` answers with every adapter and every reason:")?;
        let reasons = ["notes-mcp", "NOTES_TOKEN"];
        if !reasons.iter().all(|reason| status.text.contains(reason)) {
            return Err(Stop::Fault(format!(
                "not every reason is given: {}",
                status.text
            )));
        }
        self.show(&self.adapters_of(&status))?;
        Ok(agent)
    }

    fn an_unsaved_edit(&mut self, editor: &mut Editor, agent: &mut Agent) -> Result<(), Stop> {
        self.head("An unsaved edit")?;
        self.say(
            "You put the first slip right and make another: the driver of `tickets` becomes\n\
             \"htpp\". Nothing is saved. The editor shows",
        )?;
        editor.replace("timout_ms", "timeout_ms")?;
        editor.replace("driver = \"http\"", "driver = \"htpp\"")?;
        let found = editor.diagnostics()?;
        expect_codes(&found, &["invalid-value", "unknown-filter"])?;
        for diagnostic in &found {
            self.show(&editor.shown(diagnostic))?;
        }
        self.say("and the agent, asked for `kontext_snapshot`, sees the same text:")?;
        let snapshot = agent.call("kontext_snapshot", json!({}))?;
        let document = snapshot
            .value
            .pointer("/documents/0")
            .unwrap_or(&Value::Null);
        if document.get("unsaved").and_then(Value::as_bool) != Some(true) {
            return Err(Stop::Fault(format!(
                "the edit is not unsaved: {}",
                snapshot.value
            )));
        }
        expect_codes(
            list(document, "diagnostics"),
            &["invalid-value", "unknown-filter"],
        )?;
        self.show(&self.without_folder(&snapshot.text))?;
        self.say("`kontext_check` gives it each fault with its place:")?;
        let checked = agent.call("kontext_check", json!({"path": EDITED}))?;
        expect_codes(
            list(&checked.value, "diagnostics"),
            &["invalid-value", "unknown-filter"],
        )?;
        self.show(&self.without_folder(&checked.text))?;
        Ok(())
    }

    fn the_editor_goes_and_comes(&mut self, editor: Editor, agent: &mut Agent) -> Result<(), Stop> {
        self.head("The editor goes and comes back")?;
        self.say(
            "The editor crashes. The same session of the agent goes on, from the files on disk:",
        )?;
        editor.crash();
        agent.status_when(false)?;
        let checked = agent.call("kontext_check", json!({"path": EDITED}))?;
        expect_codes(
            list(&checked.value, "diagnostics"),
            &["unknown-key", "unknown-filter"],
        )?;
        self.show(&self.without_folder(&checked.text))?;
        self.say(
            "Another editor opens the workspace, and you change the file there. The agent has\n\
             joined again, and `kontext_snapshot` shows it:",
        )?;
        let mut editor = Editor::open(&self.sample, self.log()?)?;
        editor.replace("timout_ms", "timeout_ms")?;
        editor.diagnostics()?;
        agent.status_when(true)?;
        let snapshot = agent.call("kontext_snapshot", json!({}))?;
        let document = snapshot
            .value
            .pointer("/documents/0")
            .unwrap_or(&Value::Null);
        expect_codes(list(document, "diagnostics"), &["unknown-filter"])?;
        self.show(&self.without_folder(&snapshot.text))?;
        Ok(())
    }

    /// Begins a step.
    fn head(&mut self, title: &'static str) -> Result<(), Stop> {
        self.step = (self.step.0 + 1, title);
        let style: Style = AnsiColor::Cyan.on_default().bold();
        let number = self.step.0;
        Ok(self
            .shell
            .print(format_args!("{style}{number}. {title}{style:#}\n\n"))?)
    }

    /// Narrates.
    fn say(&self, text: &str) -> Result<(), Stop> {
        Ok(self.shell.print(format_args!("{text}\n\n"))?)
    }

    /// Shows what came over the wire, indented.
    fn show(&self, text: &str) -> Result<(), Stop> {
        let style = Style::new().dimmed();
        let mut out = String::new();
        for line in text.trim_end().lines() {
            let line = line.trim_end();
            out += &if line.is_empty() {
                "\n".to_owned()
            } else {
                format!("    {style}{line}{style:#}\n")
            };
        }
        Ok(self.shell.print(format_args!("{out}\n"))?)
    }

    /// What the agent was told about the adapters, without what differs from run to run.
    fn adapters_of(&self, status: &Answer) -> String {
        let text = self.without_folder(&status.text);
        let from = text.find("Adapters:").unwrap_or_default();
        let to = text.find("\nLayers:").unwrap_or(text.len());
        text.get(from..to).unwrap_or(&text).to_owned()
    }

    fn without_folder(&self, text: &str) -> String {
        let root = format!("{}/", self.sample.root().display());
        text.replace(&root, "")
    }

    fn log(&self) -> Result<File, Stop> {
        let path = self.sample.folder.join(LOG);
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.map_err(|error| Stop::Output(Failure::io(LOG, error)))
    }
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value
        .get(key)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// The diagnostics have just these codes, in the order of the text or another.
fn expect_codes(diagnostics: &[Value], codes: &[&str]) -> Result<(), Fault> {
    let mut found: Vec<&str> = diagnostics
        .iter()
        .filter_map(|one| one.get("code")?.as_str())
        .collect();
    let mut expected = codes.to_vec();
    found.sort_unstable();
    expected.sort_unstable();
    if found == expected {
        return Ok(());
    }
    Err(format!("the diagnostics are {found:?}, not {expected:?}"))
}
