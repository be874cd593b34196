//! `when`: the conditions of an adapter, the questions they ask of the world, and the verdict on
//! each (adapters.md section 3).
//!
//! Reasons speak in the words of the user's own values. The value of an environment variable is a
//! secret: it never appears in one.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf, is_separator};
use std::sync::Arc;

use kontext_syntax::template::{Fault, FaultKind, Part, Template};
use kontext_syntax::text::quoted;
use kontext_syntax::toml::{Node, NodeKind};
use regex::Regex;
use rustc_hash::FxHashMap;

use crate::eval::{Scope, Vars};
use crate::facts::{Env, Facts, PathFact, ProgramFact, Question};
use crate::merge::{Merged, Origin};

/// The conditions of one adapter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct When {
    /// The conditions in the order they are written; an array gives one for each element.
    pub conditions: Vec<Condition>,
    adapter: String,
    vars: Vars,
    globals: Arc<Vars>,
    project: Option<String>,
    /// What is started gets another `PATH` than the one conditions look on.
    own_path: bool,
}

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// What is asked.
    pub key: WhenKey,
    /// The value as it is written, escapes decoded; for `exists` a template.
    pub value: String,
    /// Where it stands; the value is the element where an array is written.
    pub origin: Origin,
    /// The parsed value of `exists` where it has expressions or faults.
    template: Option<Template>,
}

/// The key of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhenKey {
    /// A program can be started.
    Command,
    /// A file or folder exists under the root.
    File,
    /// A regular expression is found in the repository's id.
    Repo,
    /// An environment variable is set and not empty.
    Env,
    /// A path from a template exists.
    Exists,
}

impl WhenKey {
    /// All keys, in the order of the documentation.
    pub const ALL: [Self; 5] = [
        Self::Command,
        Self::File,
        Self::Repo,
        Self::Env,
        Self::Exists,
    ];

    /// The key as it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::File => "file",
            Self::Repo => "repo",
            Self::Env => "env",
            Self::Exists => "exists",
        }
    }

    /// The key of that name, compared exactly.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }
}

impl fmt::Display for WhenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What became of one condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What was asked.
    pub key: WhenKey,
    /// The value as it is written.
    pub value: String,
    /// Where it stands.
    pub origin: Origin,
    /// Whether it holds; `None` where the world has not been asked yet.
    pub holds: Option<bool>,
    /// Why it does not hold, or is not known; `None` where it holds.
    pub reason: Option<String>,
}

impl When {
    /// The conditions of a merged `when`. Values that are neither a string nor an array of
    /// strings are no conditions; the table of fields reports them.
    pub fn from_merged(adapter: &str, vars: &Vars, merged: &Merged<'_>) -> Self {
        let mut conditions = Vec::new();
        for (name, value) in merged.members().into_iter().flatten() {
            let (Some(key), Some(node), true) =
                (WhenKey::parse(name), value.node(), value.is_valid())
            else {
                continue;
            };
            let elements = match &node.kind {
                NodeKind::Array(array) => array.nodes.as_slice(),
                _ => std::slice::from_ref(node),
            };
            let strings = elements
                .iter()
                .filter_map(|node: &Node| Some((node.as_str()?, node.span)));
            conditions.extend(strings.map(|(text, span)| {
                Condition {
                    key,
                    value: text.to_owned(),
                    origin: Origin {
                        value: span,
                        ..value.origin
                    },
                    template: (key == WhenKey::Exists)
                        .then(|| Template::parse(text))
                        .filter(|template| template.has_expr() || !template.faults.is_empty()),
                }
            }));
        }
        let mut when = Self {
            conditions,
            ..Self::default()
        };
        if when.has_templates() {
            adapter.clone_into(&mut when.adapter);
            when.vars = vars.clone();
        }
        when
    }

    /// Whether a condition depends on variables and other names.
    pub fn has_templates(&self) -> bool {
        self.conditions.iter().any(|one| one.template.is_some())
    }

    /// Notes what `merged`, that of the whole adapter, gives to what it starts.
    pub(crate) fn note_environment(&mut self, merged: &Merged<'_>) {
        let path = merged.get("env").and_then(|env| env.get("PATH"));
        self.own_path = path.is_some();
    }

    /// Sets what templates see besides the adapter's own variables.
    pub fn set_globals(&mut self, globals: Arc<Vars>, project: Option<&str>) {
        self.globals = globals;
        self.project = project.map(str::to_owned);
    }
}

/// What has to be looked up in the world before the conditions can be judged.
pub fn questions(when: &When, facts: &Facts) -> Vec<Question> {
    let mut asked = BTreeSet::new();
    for condition in &when.conditions {
        if let Ok(Some(need)) = need(when, condition, facts) {
            asked.insert(need.question);
        }
    }
    asked.into_iter().collect()
}

/// The verdict on every condition, in order.
pub fn judge(when: &When, facts: &Facts) -> Vec<Verdict> {
    judge_with(when, facts, &mut Regexes::default())
}

/// Verdicts on the repository's id, by pattern: compiling one costs more than all the rest.
#[derive(Debug, Default)]
pub(crate) struct Regexes(FxHashMap<String, Result<(), String>>);

pub(crate) fn judge_with(when: &When, facts: &Facts, regexes: &mut Regexes) -> Vec<Verdict> {
    let verdict = |condition: &Condition| {
        let outcome = match condition.key {
            WhenKey::Env => env(&condition.value, &facts.env).map(|()| true),
            WhenKey::Repo => regexes
                .judge(&condition.value, &facts.repo.id)
                .map(|()| true),
            WhenKey::Command | WhenKey::File | WhenKey::Exists => need(when, condition, facts)
                .and_then(|need| match need {
                    Some(need) => need.answer(facts),
                    None => Ok(true),
                }),
        };
        let (holds, reason) = match outcome {
            Ok(true) => (Some(true), None),
            Ok(false) => {
                let reason = format!("{} has not been looked up yet", quoted(&condition.value));
                (None, Some(reason))
            }
            Err(reason) => (Some(false), Some(reason)),
        };
        Verdict {
            key: condition.key,
            value: condition.value.clone(),
            origin: condition.origin,
            holds,
            reason,
        }
    };
    when.conditions.iter().map(verdict).collect()
}

impl Regexes {
    fn judge(&mut self, pattern: &str, id: &str) -> Result<(), String> {
        if let Some(known) = self.0.get(pattern) {
            return known.clone();
        }
        let shown = quoted(pattern);
        let verdict = match Regex::new(pattern) {
            _ if id.is_empty() => Err(format!(
                "there is no repository here whose id {shown} could match"
            )),
            Ok(regex) if regex.is_match(id) => Ok(()),
            Ok(_) => Err(format!(
                "the repository is `{id}`, which {shown} does not match"
            )),
            Err(error) => {
                // The message shows the pattern over several lines; its last one says what is
                // wrong.
                let text = error.to_string();
                let last = text.lines().last().unwrap_or_default();
                let cause = last.trim().trim_start_matches("error: ");
                Err(format!("{shown} is not a regular expression: {cause}"))
            }
        };
        self.0.insert(pattern.to_owned(), verdict.clone());
        verdict
    }
}

fn env(name: &str, env: &Env) -> Result<(), String> {
    let shown = quoted(name);
    match env.get(name) {
        _ if name.is_empty() => Err("`env` names no variable: it is empty".to_owned()),
        None => Err(format!("{shown} is not set")),
        Some("") => Err(format!("{shown} is set but empty, which counts as not set")),
        Some(_) => Ok(()),
    }
}

/// A question with the words for its answers.
struct Need {
    question: Question,
    /// What is looked for, as the reason calls it, in backticks.
    shown: String,
    /// Where that is, with a leading blank: ` under the repository root`.
    place: &'static str,
    /// Environment variables the path would have needed: said where it is not there.
    unset: Vec<String>,
    /// See [`When`].
    own_path: bool,
}

/// What a condition asks. `Err` where it cannot hold whatever the answer, with the reason.
fn need(when: &When, condition: &Condition, facts: &Facts) -> Result<Option<Need>, String> {
    let value = condition.value.as_str();
    let what = match condition.key {
        WhenKey::Command => "program",
        WhenKey::File | WhenKey::Exists => "path",
        WhenKey::Env | WhenKey::Repo => return Ok(None),
    };
    if value.is_empty() {
        return Err(format!("`{}` names no {what}: it is empty", condition.key));
    }
    if condition.key == WhenKey::Exists {
        return exists(when, condition, facts).map(Some);
    }
    let shown = quoted(value);
    let is_command = condition.key == WhenKey::Command;
    let (name, place) = if is_command && !value.contains(is_separator) {
        (value.to_owned(), " on PATH")
    } else {
        under_root(value, &shown, &facts.repo.root)?
    };
    let question = if is_command {
        Question::Program(name)
    } else {
        Question::Path(name)
    };
    Ok(Some(Need {
        question,
        shown,
        place,
        unset: Vec::new(),
        own_path: when.own_path,
    }))
}

impl Need {
    /// Whether it holds: `Ok(false)` where the question has no answer yet, `Err` with the reason
    /// where it does not.
    fn answer(&self, facts: &Facts) -> Result<bool, String> {
        let Self { shown, place, .. } = self;
        match &self.question {
            Question::Program(name) => match facts.programs.get(name) {
                None => Ok(false),
                Some(ProgramFact::Found(_)) => Ok(true),
                Some(ProgramFact::Missing { .. }) if *place == " on PATH" => {
                    let whose = if self.own_path {
                        ": a condition looks on that of kontext-ls, not on the adapter's `env.PATH`"
                    } else {
                        ""
                    };
                    Err(format!("{shown} is not on PATH{whose}"))
                }
                Some(ProgramFact::Missing { .. }) => Err(format!("{shown} does not exist{place}")),
                // Where on PATH it was found would show a part of an environment variable.
                Some(ProgramFact::NotExecutable(_)) => {
                    Err(format!("{shown}, found{place}, is not executable"))
                }
                Some(ProgramFact::Directory(_)) => {
                    Err(format!("{shown}, found{place}, is a folder, not a program"))
                }
            },
            Question::Path(path) => match facts.paths.get(path) {
                None => Ok(false),
                Some(PathFact::Exists) => Ok(true),
                Some(PathFact::Missing) if has_wildcard(path) => Err(format!(
                    "nothing matches {shown}{place}{}",
                    unset(&self.unset)
                )),
                Some(PathFact::Missing) => Err(format!(
                    "{shown} does not exist{place}{}",
                    unset(&self.unset)
                )),
                Some(PathFact::Unreadable) => Err(format!(
                    "{shown} cannot be looked at{place}: permission is missing"
                )),
            },
        }
    }
}

fn exists(when: &When, condition: &Condition, facts: &Facts) -> Result<Need, String> {
    let Exists { text, shown, unset } = render_exists(when, condition, facts)?;
    if text.is_empty() {
        return Err(format!("{shown} comes out empty{}", self::unset(&unset)));
    }
    let home = in_home(&text, &facts.env)?;
    let (path, place) = match &home {
        Some(path) => (path.to_string_lossy().into_owned(), ""),
        None => under_root(&text, &shown, &facts.repo.root)?,
    };
    Ok(Need {
        question: Question::Path(path),
        shown,
        place,
        unset,
        own_path: false,
    })
}

/// What a value of `exists` comes to.
struct Exists {
    /// The path, as the file system is asked; it may hold values of the environment.
    text: String,
    /// The same for people: the template, and what it became with the environment masked.
    shown: String,
    /// Environment variables that were used, are not set and have no default.
    unset: Vec<String>,
}

fn render_exists(when: &When, condition: &Condition, facts: &Facts) -> Result<Exists, String> {
    let source = condition.value.as_str();
    let shown = quoted(source);
    let Some(template) = &condition.template else {
        wildcards_last(source, &shown)?;
        return Ok(Exists {
            text: source.to_owned(),
            shown,
            unset: Vec::new(),
        });
    };
    let unterminated = |fault: &Fault| fault.kind == FaultKind::Unterminated;
    if template.faults.iter().any(unterminated) {
        return Err(format!(
            "{shown} is not a complete template: close `{{{{` with `}}}}`"
        ));
    }
    let skeleton: String = template
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(range) => range.of(source),
            // What is inserted is not the person's own text: only that counts here.
            Part::Expr(_) => "",
        })
        .collect();
    wildcards_last(&skeleton, &shown)?;
    let project = when.project.as_deref().unwrap_or(&facts.repo.name);
    let scope = Scope::new(facts)
        .project(project)
        .globals(&when.globals)
        .adapter(&when.adapter, &when.vars);
    let rendered = scope.render_text(template, source);
    if let Some(cycle) = rendered.cycles.first() {
        let cycle = cycle.join("` → `vars.");
        return Err(format!(
            "{shown} uses a variable that depends on itself: `vars.{cycle}`"
        ));
    }
    if rendered.unbounded {
        return Err(format!("{shown} comes out longer than any path"));
    }
    let masked = scope.mask_env(true).render_text(template, source).value;
    Ok(Exists {
        text: rendered.value,
        shown: format!("{shown} ({})", quoted(&masked)),
        unset: rendered.missing_env,
    })
}

fn wildcards_last(path: &str, shown: &str) -> Result<(), String> {
    let trimmed = path.trim_end_matches(is_separator);
    match trimmed.rsplit_once(is_separator) {
        Some((folders, _)) if has_wildcard(folders) => Err(format!(
            "{shown} has `*` or `?` in a folder's name; they are allowed in the last segment only"
        )),
        _ => Ok(()),
    }
}

fn has_wildcard(path: &str) -> bool {
    path.contains(['*', '?'])
}

/// The path below the home folder, where it begins with `~/`.
fn in_home(path: &str, env: &Env) -> Result<Option<PathBuf>, String> {
    let Some(below) = path.strip_prefix('~') else {
        return Ok(None);
    };
    if !below.is_empty() && !below.starts_with(is_separator) {
        return Ok(None);
    }
    let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    match env.get(name).filter(|home| !home.is_empty()) {
        // A trailing separator of the path asks for a folder, so it is kept.
        Some(home) => Ok(Some(
            Path::new(home).join(below.trim_start_matches(is_separator)),
        )),
        None => Err(format!("`{name}` is not set, so `~/` leads nowhere")),
    }
}

/// The absolute path, and where that is.
fn under_root(path: &str, shown: &str, root: &Path) -> Result<(String, &'static str), String> {
    if Path::new(path).is_absolute() {
        return Ok((path.to_owned(), ""));
    }
    if root.as_os_str().is_empty() {
        return Err(format!(
            "there is no repository here that {shown} could lie in"
        ));
    }
    let below = path.trim_start_matches("./");
    let joined = root.join(below).to_string_lossy().into_owned();
    Ok((joined, " under the repository root"))
}

fn unset(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!(" ({one} is not set)"),
        [most @ .., last] => format!(" ({} and {last} are not set)", most.join(", ")),
    }
}
