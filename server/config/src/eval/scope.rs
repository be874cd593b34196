use std::borrow::Cow;
use std::sync::Arc;

use kontext_syntax::TextRange;
use kontext_syntax::template::{Expr, Head, Part, Path, Template};
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

use super::Vars;
use super::filters::{apply, is_blank};
use super::value::{name_of, text_of, walk};
use crate::facts::{Env, Facts, Now};
use crate::schema::root_of_template;

/// The most bytes one rendering may write, variables included. Variables that repeat each other
/// grow without bounds otherwise.
pub const MAX_RENDERED: usize = 32 * 1024 * 1024;

/// How deep variables may refer to variables.
const MAX_DEPTH: usize = 64;

/// What templates may see: facts, variables, the inputs of an op, one item of an answer.
///
/// It borrows and is cheap to clone. Variables are evaluated when they are read.
#[derive(Clone, Debug)]
pub struct Scope<'a> {
    /// `repo`, `project`, `now`, `adapter`.
    fixed: Arc<Map<String, Value>>,
    env: &'a Env,
    globals: Option<&'a Vars>,
    vars: Option<&'a Vars>,
    inputs: Option<&'a Map<String, Value>>,
    item: Option<&'a Value>,
    mask_env: bool,
}

/// A result and what there is to say about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered<T> {
    /// The result.
    pub value: T,
    /// Environment variables that were read, are not set, and had no `default` stand in for
    /// them. Each once, in the order they were met, those behind `vars` included.
    pub missing_env: Vec<String>,
    /// Cycles of variables that were met, each by its names; the value there is null.
    pub cycles: Vec<Vec<String>>,
    /// Something was left out: more than [`MAX_RENDERED`] bytes, or variables nested too deep.
    pub unbounded: bool,
}

/// What one part of a template became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The part, in the source.
    pub range: TextRange,
    /// Its text.
    pub text: String,
    /// Whether an expression put it there: it may hold anything.
    pub inserted: bool,
}

impl<'a> Scope<'a> {
    /// The scope of these facts, without variables and inputs.
    pub fn new(facts: &'a Facts) -> Self {
        let repo = &facts.repo;
        let fixed = [
            (
                "repo",
                json!({
                    "id": repo.id,
                    "slug": repo.slug,
                    "name": repo.name,
                    "dir": repo.dir,
                    "root": repo.root.to_string_lossy(),
                    "remote": repo.remote,
                    "branch": repo.branch,
                    "worktree": repo.worktree,
                }),
            ),
            (
                "now",
                json!({ "date": facts.now.date, "iso": facts.now.iso }),
            ),
        ];
        let fixed = fixed
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        Self {
            fixed: Arc::new(fixed),
            env: &facts.env,
            globals: None,
            vars: None,
            inputs: None,
            item: None,
            mask_env: false,
        }
    }

    fn with_name(mut self, root: &str, name: &str) -> Self {
        Arc::make_mut(&mut self.fixed).insert(root.to_owned(), json!({ "name": name }));
        self
    }

    /// Set the moment that `now` stands for, in place of that of the facts.
    #[must_use]
    pub fn now(mut self, now: &Now) -> Self {
        let value = json!({ "date": now.date, "iso": now.iso });
        Arc::make_mut(&mut self.fixed).insert("now".to_owned(), value);
        self
    }

    /// Set `project.name`.
    #[must_use]
    pub fn project(self, name: &str) -> Self {
        self.with_name("project", name)
    }

    /// Set `adapter.name` and the adapter's variables.
    #[must_use]
    pub fn adapter(self, name: &str, vars: &'a Vars) -> Self {
        Self {
            vars: Some(vars),
            ..self.with_name("adapter", name)
        }
    }

    /// Set the global variables.
    #[must_use]
    pub fn globals(self, vars: &'a Vars) -> Self {
        Self {
            globals: Some(vars),
            ..self
        }
    }

    /// Set the inputs of the op or the arguments of the tool. Those with the name of a root are
    /// not seen.
    #[must_use]
    pub fn inputs(self, inputs: &'a Map<String, Value>) -> Self {
        Self {
            inputs: Some(inputs),
            ..self
        }
    }

    /// Let templates look into this item first, before everything else. Variables do not see it.
    #[must_use]
    pub fn item(self, item: &'a Value) -> Self {
        Self {
            item: Some(item),
            ..self
        }
    }

    /// Show each environment variable as `‹env.NAME›` instead of its value: for previews.
    #[must_use]
    pub fn mask_env(self, mask_env: bool) -> Self {
        Self { mask_env, ..self }
    }

    /// Render a template to text. `source` is the string it was parsed from.
    pub fn render_text(&self, template: &Template, source: &str) -> Rendered<String> {
        self.run(|run| run.text(template, source))
    }

    /// Render each part of a template by itself, in order: for those who encode what was inserted,
    /// or show it.
    pub fn render_pieces(&self, template: &Template, source: &str) -> Rendered<Vec<Piece>> {
        self.run(|run| {
            let piece = |part: &Part| {
                let text = run.part(part, source).into_owned();
                let inserted = matches!(part, Part::Expr(expr) if expr.terminated);
                Piece {
                    range: part.range(),
                    text: run.bounded(text),
                    inserted,
                }
            };
            template.parts.iter().map(piece).collect()
        })
    }

    /// Render a string whose value keeps its type where it is exactly one expression.
    pub fn render_value(&self, template: &Template, source: &str) -> Rendered<Value> {
        self.run(|run| run.value(template, source))
    }

    /// Render all strings and keys in a value (`args`, `body`). Members and elements that become
    /// null are dropped.
    pub fn render_typed(&self, value: &Value) -> Rendered<Value> {
        self.run(|run| run.typed(value, 0))
    }

    fn run<T>(&self, work: impl FnOnce(&mut Run<'_, 'a>) -> T) -> Rendered<T> {
        let mut run = Run {
            scope: self,
            visiting: Vec::new(),
            memo: FxHashMap::default(),
            budget: MAX_RENDERED,
            missing: Vec::new(),
            cycles: Vec::new(),
            unbounded: false,
        };
        let value = work(&mut run);
        let Run {
            mut missing,
            cycles,
            unbounded,
            ..
        } = run;
        let mut seen = Vec::new();
        missing.retain(|name| {
            let fresh = !seen.contains(name);
            if fresh {
                seen.push(name.clone());
            }
            fresh
        });
        Rendered {
            value,
            missing_env: missing,
            cycles,
            unbounded,
        }
    }
}

/// Which table a variable stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Level {
    Global,
    Adapter,
}

/// One rendering.
struct Run<'s, 'a> {
    scope: &'s Scope<'a>,
    /// The variables being evaluated, outermost first.
    visiting: Vec<(Level, &'a str)>,
    /// Text and missing environment of each variable read so far.
    memo: FxHashMap<(Level, &'a str), (String, Vec<String>)>,
    /// Bytes that may still be written.
    budget: usize,
    /// Unset environment variables read so far; see [`Rendered::missing_env`].
    missing: Vec<String>,
    cycles: Vec<Vec<String>>,
    unbounded: bool,
}

/// What a head gives.
struct Found<'v> {
    value: Cow<'v, Value>,
    /// It stands for a secret: filters leave it alone.
    masked: bool,
}

impl<'v> Found<'v> {
    fn plain(value: Option<&'v Value>) -> Self {
        Self {
            value: value.map_or(Cow::Owned(Value::Null), Cow::Borrowed),
            masked: false,
        }
    }

    fn owned(value: Value) -> Self {
        Self {
            value: Cow::Owned(value),
            masked: false,
        }
    }
}

impl<'s, 'a: 's> Run<'s, 'a> {
    /// `text` where the budget has room for it, else nothing.
    fn bounded(&mut self, text: String) -> String {
        let Some(left) = self.budget.checked_sub(text.len()) else {
            self.unbounded = true;
            return String::new();
        };
        self.budget = left;
        text
    }

    fn text(&mut self, template: &Template, source: &str) -> String {
        let mut out = String::new();
        for part in &template.parts {
            let text = self.part(part, source);
            match self.budget.checked_sub(text.len()) {
                Some(left) => {
                    self.budget = left;
                    out.push_str(&text);
                }
                None => self.unbounded = true,
            }
        }
        out
    }

    fn part<'t>(&mut self, part: &Part, source: &'t str) -> Cow<'t, str> {
        match part {
            Part::Expr(expr) if expr.terminated => {
                Cow::Owned(text_of(&self.expr(expr)).into_owned())
            }
            // An expression without an end is literal text.
            Part::Expr(_) | Part::Text(_) => Cow::Borrowed(part.range().of(source)),
        }
    }

    fn value(&mut self, template: &Template, source: &str) -> Value {
        match template.as_single_expr() {
            Some(expr) => self.expr(expr),
            None => Value::String(self.text(template, source)),
        }
    }

    fn typed(&mut self, value: &Value, depth: usize) -> Value {
        if depth > 2 * MAX_DEPTH {
            self.unbounded = true;
            return Value::Null;
        }
        match value {
            Value::String(source) => self.value(&Template::parse(source), source),
            Value::Array(list) => {
                let kept = list.iter().map(|element| self.typed(element, depth + 1));
                Value::Array(kept.filter(|element| !element.is_null()).collect())
            }
            Value::Object(object) => {
                let mut kept = Map::new();
                for (key, member) in object {
                    let member = self.typed(member, depth + 1);
                    if !member.is_null() {
                        kept.insert(self.text(&Template::parse(key), key), member);
                    }
                }
                Value::Object(kept)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn expr(&mut self, expr: &Expr) -> Value {
        let missing_before = self.missing.len();
        let Found { value, masked } = match &expr.head {
            Head::Path(path) => self.lookup(path),
            Head::Literal { value, .. } => Found::owned(Value::String(value.clone())),
            Head::Missing(_) => Found::owned(Value::Null),
        };
        let mut value = value.into_owned();
        if masked {
            return value;
        }
        for filter in &expr.filters {
            if filter.name == "default" && is_blank(&value) {
                // What stands in for the value also stands in for what was missing.
                self.missing.truncate(missing_before);
            }
            let arg = filter
                .arg
                .as_ref()
                .map(|arg| (arg.text.as_str(), arg.quoted));
            value = apply(&filter.name, arg, value);
        }
        value
    }

    fn lookup(&mut self, path: &Path) -> Found<'s> {
        let scope = self.scope;
        // Variables mean the same for every item.
        let item = scope.item.filter(|_| self.visiting.is_empty());
        let in_item = item.and_then(|item| walk(item, &path.segments));
        if let Some(value) = in_item.filter(|value| !value.is_null()) {
            return Found::plain(Some(value));
        }
        let Some((first, rest)) = path.segments.split_first() else {
            return Found::plain(None);
        };
        let first = name_of(first);
        match (first.as_ref(), rest) {
            ("env", [name]) => self.env(&name_of(name)),
            ("vars", [name]) => self.var(&name_of(name)),
            // The whole environment is never a value, and texts have no members.
            ("env" | "vars", _) => Found::plain(None),
            (name, rest) if root_of_template(name).is_some() => {
                Found::plain(scope.fixed.get(name).and_then(|value| walk(value, rest)))
            }
            (name, rest) => {
                let input = scope.inputs.and_then(|inputs| inputs.get(name));
                Found::plain(input.and_then(|value| walk(value, rest)))
            }
        }
    }

    fn env(&mut self, name: &str) -> Found<'s> {
        match self.scope.env.get(name) {
            Some(_) if self.scope.mask_env => Found {
                value: Cow::Owned(Value::String(format!("‹env.{name}›"))),
                masked: true,
            },
            Some(value) => Found::owned(Value::String(value.to_owned())),
            None => {
                self.missing.push(name.to_owned());
                Found::plain(None)
            }
        }
    }

    /// The table that `name` means here: the adapter's own before the global one, among global
    /// variables only those, and the global one where a variable of the adapter names itself.
    fn level_of(&self, name: &str) -> Level {
        let has = |vars: Option<&Vars>| vars.is_some_and(|vars| vars.get(name).is_some());
        match self.visiting.last() {
            Some((Level::Global, _)) => Level::Global,
            Some((Level::Adapter, current)) if *current == name && has(self.scope.globals) => {
                Level::Global
            }
            _ if has(self.scope.vars) => Level::Adapter,
            _ => Level::Global,
        }
    }

    fn var(&mut self, name: &str) -> Found<'s> {
        let level = self.level_of(name);
        let table = if level == Level::Adapter {
            self.scope.vars
        } else {
            self.scope.globals
        };
        let Some((name, source, template)) = table.and_then(|vars| vars.entry(name)) else {
            return Found::plain(None);
        };
        let key = (level, name);
        if let Some(at) = self.visiting.iter().position(|on| *on == key) {
            let cycle: Vec<String> = self
                .visiting
                .iter()
                .skip(at)
                .map(|(_, name)| (*name).to_owned())
                .collect();
            if !self.cycles.contains(&cycle) {
                self.cycles.push(cycle);
            }
            return Found::plain(None);
        }
        if let Some((text, missing)) = self.memo.get(&key) {
            self.missing.extend_from_slice(missing);
            return Found::owned(Value::String(text.clone()));
        }
        if self.visiting.len() >= MAX_DEPTH {
            self.unbounded = true;
            return Found::plain(None);
        }
        let before = std::mem::take(&mut self.missing);
        self.visiting.push(key);
        let text = self.text(template, source);
        self.visiting.pop();
        let missing = std::mem::replace(&mut self.missing, before);
        self.missing.extend_from_slice(&missing);
        self.memo.insert(key, (text.clone(), missing));
        Found::owned(Value::String(text))
    }
}
