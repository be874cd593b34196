//! Command lines.

use std::fmt;
use std::path::PathBuf;

use indexmap::IndexMap;
use kontext_config::command::{
    Danger, danger, ends_in, is_free_input, is_protected, is_script, name_read, reads_script,
};
use kontext_config::eval::Vars;
use kontext_config::facts::Env;
use kontext_config::model::{Adapter, EnvValue, Op, TemplateText};
use kontext_config::schema::{OUTPUT_FILE, root_of_template};
use kontext_syntax::template::{Expr, Part};
use serde_json::{Map, Value};

use super::render::{Renderer, Unset};
use crate::context::Context;
use crate::fault::Fault;

/// A program to run. `Debug` shows no values.
#[derive(Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The program and its arguments; not empty.
    pub argv: Vec<String>,
    /// The working folder: absolute where the root is known.
    pub cwd: PathBuf,
    /// What is changed in the environment it inherits, in order: set to a value, or removed.
    pub env: Vec<(String, Option<String>)>,
    /// What it reads from its standard input; `None` is an empty one.
    pub stdin: Option<String>,
    /// Whether the answer is read from the temporary file that `output_file` names.
    pub output_file: bool,
}

impl CommandLine {
    /// The whole environment of the program, started from `parent`.
    pub fn environment(&self, parent: &Env) -> Env {
        parent.changed(self.env.iter().cloned())
    }
}

impl fmt::Debug for CommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommandLine")
            .field("program", &self.argv.first())
            .field("arguments", &self.argv.len().saturating_sub(1))
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

/// The program that an op of an adapter runs. With `output_file`, its path is expected among the
/// inputs under that name.
///
/// # Errors
///
/// There is no command; an input would be read as an option or run by a shell; a variable of the
/// environment that `env` needs is not set.
pub fn command(
    adapter: &Adapter,
    op: &Op,
    ctx: &Context,
    inputs: &Map<String, Value>,
) -> Result<CommandLine, Fault> {
    build(&Renderer::new(adapter, ctx, inputs, false), op)
}

/// The program that serves an adapter with the driver `mcp`.
///
/// # Errors
///
/// As [`command`].
pub fn server(adapter: &Adapter, ctx: &Context) -> Result<CommandLine, Fault> {
    let none = Map::new();
    build(&Renderer::new(adapter, ctx, &none, false), &Op::default())
}

pub(super) fn build(renderer: &Renderer<'_>, op: &Op) -> Result<CommandLine, Fault> {
    let adapter = renderer.adapter;
    let command = if op.command.is_empty() {
        &adapter.command
    } else {
        &op.command
    };
    if command.is_empty() {
        return Err(Fault::refused(
            "there is no command; set `command` on the adapter or the op",
        ));
    }
    let guard = Guard {
        renderer,
        own_file: op.output_file,
    };
    let argv = (0..command.len())
        .map(|at| guard.argument(command, at))
        .collect::<Result<Vec<String>, Fault>>()?;
    // What the program is, and which argument is its flag, may stand in a variable.
    let rendered: Vec<Option<&str>> = argv.iter().map(|one| Some(one.as_str())).collect();
    for (at, element) in command.iter().enumerate() {
        if is_script(&rendered, at) {
            guard.refuse_inputs(element)?;
        }
    }
    if let Some(stdin) = op.stdin.as_ref().filter(|_| reads_script(&rendered)) {
        guard.refuse_inputs(stdin)?;
    }
    let stdin = op
        .stdin
        .as_ref()
        .map(|stdin| renderer.text(stdin, "`stdin`", Unset::Empty))
        .transpose()?;
    let root = &renderer.ctx.facts.repo.root;
    let cwd = match op.cwd.as_ref().or(adapter.cwd.as_ref()) {
        Some(cwd) => root.join(renderer.text(cwd, "`cwd`", Unset::Empty)?),
        None => root.clone(),
    };
    let mut env = Vec::new();
    changes(renderer, &adapter.env, &mut env)?;
    changes(renderer, &op.env, &mut env)?;
    Ok(CommandLine {
        argv,
        cwd,
        env,
        stdin,
        output_file: op.output_file,
    })
}

fn changes(
    renderer: &Renderer<'_>,
    table: &IndexMap<String, EnvValue>,
    changes: &mut Vec<(String, Option<String>)>,
) -> Result<(), Fault> {
    for (name, value) in table {
        let value = match value {
            EnvValue::Removed => None,
            EnvValue::Set(text) => {
                Some(renderer.text(text, &format!("`env.{name}`"), Unset::Refused)?)
            }
        };
        changes.push((name.clone(), value));
    }
    Ok(())
}

/// Renders arguments and keeps inputs from becoming options or scripts.
struct Guard<'r, 'a> {
    renderer: &'r Renderer<'a>,
    /// `output_file` is a path of ours, not an argument of that name.
    own_file: bool,
}

impl Guard<'_, '_> {
    /// The element at `at`, rendered.
    fn argument(&self, command: &[TemplateText], at: usize) -> Result<String, Fault> {
        let Some(element) = command.get(at) else {
            return Ok(String::new());
        };
        let template = element.template();
        let written: Vec<Option<&str>> = command.iter().map(|one| Some(one.source())).collect();
        let inserts = |expr: &Expr| self.input_of(expr).is_some();
        if let Some((Danger::Script, expr)) = danger(&written, at, &template, inserts) {
            return Err(self.refusal(Danger::Script, expr));
        }
        let pieces =
            self.renderer
                .pieces(&template, element.source(), "`command`", Unset::Empty)?;
        // What is there when empty parts are gone is what the program sees first.
        let first = pieces
            .iter()
            .zip(&template.parts)
            .find(|(piece, _)| !piece.text.is_empty());
        if let Some((piece, Part::Expr(expr))) = first
            && at > 0
            && piece.text.starts_with('-')
            && !ends_in(expr, "slug")
            && inserts(expr)
            && !is_protected(&written, at)
        {
            return Err(self.refusal(Danger::Option, expr));
        }
        Ok(pieces.into_iter().map(|piece| piece.text).collect())
    }

    /// Refuses a script that an input would become a part of.
    fn refuse_inputs(&self, script: &TemplateText) -> Result<(), Fault> {
        let template = script.template();
        let found = template.exprs().find(|expr| self.input_of(expr).is_some());
        found.map_or(Ok(()), |expr| Err(self.refusal(Danger::Script, expr)))
    }

    fn refusal(&self, danger: Danger, expr: &Expr) -> Fault {
        let input = self.input_of(expr).unwrap_or_else(|| "input".to_owned());
        let message = match danger {
            Danger::Script => danger.message(&input),
            Danger::Option => format!(
                "the input `{input}` begins with `-` and would be read as an option; put the element \"--\" before it in `command`, or join it to an option: \"--name={{{{{input}}}}}\""
            ),
        };
        Fault::refused(message)
    }

    /// The input that an expression inserts, directly or through variables.
    fn input_of(&self, expr: &Expr) -> Option<String> {
        self.input_behind(expr, &mut Vec::new())
    }

    fn input_behind(&self, expr: &Expr, visited: &mut Vec<String>) -> Option<String> {
        if !expr.terminated {
            return None;
        }
        let name = name_read(expr)?;
        if name != "vars" {
            return self.is_input(name).then(|| name.to_owned());
        }
        let variable = expr.path()?.key(1)?;
        if visited.iter().any(|seen| seen == variable) {
            return None;
        }
        visited.push(variable.to_owned());
        let tables: [&Vars; 2] = [&self.renderer.adapter.vars, &self.renderer.ctx.globals];
        let templates = tables.iter().filter_map(|vars| vars.get(variable));
        templates
            .flat_map(|(_, template)| template.exprs())
            .find_map(|expr| self.input_behind(expr, visited))
    }

    fn is_input(&self, name: &str) -> bool {
        if is_free_input(name) {
            return true;
        }
        // A number is harmless under `limit`; a text under that name is as free as any.
        let is_text = self
            .renderer
            .inputs
            .get(name)
            .is_some_and(|value| !value.is_number());
        let ours = self.own_file && name == OUTPUT_FILE.name;
        root_of_template(name).is_none() && is_text && !ours
    }
}
