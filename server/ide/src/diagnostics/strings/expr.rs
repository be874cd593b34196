//! One expression of a template: its filters and the names it reads.

use std::collections::BTreeSet;

use kontext_config::codes::Code;
use kontext_config::eval::{self, ArgKind};
use kontext_config::schema::{
    self, EVENT_INPUTS, InputSpec, Members, OPS, Place, ROOTS, RootSpec, nearest,
};
use kontext_syntax::TextRange;
use kontext_syntax::template::{Expr, Filter, Path, Segment, SegmentKind};
use kontext_syntax::toml::Node;

use super::super::check::Check;
use super::super::context::field;
use super::super::shape::is_json_schema;
use super::written::Written;

/// Members of roots whose bare names say what is meant.
const TELLING: &[(&str, &str)] = &[
    ("slug", "repo.slug"),
    ("branch", "repo.branch"),
    ("root", "repo.root"),
    ("remote", "repo.remote"),
    ("worktree", "repo.worktree"),
    ("date", "now.date"),
    ("iso", "now.iso"),
    ("workspaceFolder", "repo.root"),
    ("today", "now.date"),
];

/// Checks that each filter exists and can use its argument.
pub(super) fn filters(check: &mut Check<'_>, written: &Written<'_>, expr: &Expr) {
    for filter in expr.filters.iter().filter(|filter| !filter.name.is_empty()) {
        match eval::filter(&filter.name) {
            Some(spec) => argument(check, written, filter, spec.arg),
            None => unknown_filter(check, written, filter),
        }
    }
}

fn unknown_filter(check: &mut Check<'_>, written: &Written<'_>, filter: &Filter) {
    let known = eval::FILTERS.iter().map(|spec| spec.name);
    let near = nearest(&filter.name, known.clone());
    let hint = near.map_or_else(
        || format!("use one of {}", listed(known)),
        |near| format!("did you mean `{near}`?"),
    );
    let span = written.span(filter.name_range);
    let message = format!("there is no filter `{}`; {hint}", shown(&filter.name));
    let finding = check.report(Code::UnknownFilter, span, message);
    if let Some(near) = near
        && written.is_editable()
    {
        finding.fix(format!("Change to `{near}`"), vec![(span, near.to_owned())]);
    }
}

fn argument(check: &mut Check<'_>, written: &Written<'_>, filter: &Filter, kind: ArgKind) {
    let name = &filter.name;
    let range = filter.arg.as_ref().map(|arg| arg.range);
    let text = filter.arg.as_ref().map(|arg| arg.text.as_str());
    let message = match (kind, text) {
        (ArgKind::None, Some(_)) => format!("`{name}` takes no argument; remove it"),
        (ArgKind::Separator(None), None | Some("")) => {
            format!("`{name}` needs a separator: `{name}:/`")
        }
        (ArgKind::Count(_), Some(text)) if text.trim().parse::<usize>().is_err() => {
            format!("`{name}` needs a whole number: `{name}:80`")
        }
        (ArgKind::Literal, None) => {
            format!("`{name}` needs the value that stands in: `{name}:none`")
        }
        _ => return,
    };
    let place = range
        .filter(|range| !range.is_empty())
        .unwrap_or(filter.name_range);
    let span = written.span(place);
    let finding = check.report(Code::BadFilterArgument, span, message);
    if let (ArgKind::None, Some(range)) = (kind, range)
        && written.is_editable()
    {
        let rest = written.span(TextRange::new(filter.name_range.end, range.end));
        finding.fix("Remove the argument", vec![(rest, String::new())]);
    }
}

/// Checks that the path of an expression names something that templates at this place see.
pub(super) fn names(check: &mut Check<'_>, place: Place, written: &Written<'_>, expr: &Expr) {
    let (Some(path), true) = (expr.path(), place != Place::Item) else {
        return; // the fields of an item are not known
    };
    let Some(first) = path.segments.first() else {
        return;
    };
    let first = name(first);
    let mut names = Names {
        check,
        written,
        path,
        place,
    };
    match schema::root_of_template(&first) {
        Some(root) if root.name == "adapter" && place == Place::GlobalVars => {
            let message = "`adapter` has no value in `[vars]`, which all adapters share; move the variable to the `vars` of an adapter";
            let range = names.first_range();
            names.report(Code::UnknownRoot, range, message.to_owned(), None);
        }
        Some(root) => names.below_root(root),
        None if names.is_input(&first) => names.below_input(&first),
        None => names.unknown(&first),
    }
}

struct Names<'c, 'a, 'w> {
    check: &'c mut Check<'a>,
    written: &'w Written<'w>,
    path: &'w Path,
    place: Place,
}

impl Names<'_, '_, '_> {
    fn first_range(&self) -> TextRange {
        self.path
            .segments
            .first()
            .map_or(self.path.range, |segment| segment.range)
    }

    fn report(
        &mut self,
        code: Code,
        range: TextRange,
        message: String,
        replacement: Option<String>,
    ) {
        let span = self.written.visible(range);
        let editable = self.written.is_editable();
        let finding = self.check.report(code, span, message);
        if let Some(text) = replacement
            && editable
        {
            finding.fix(format!("Change to `{text}`"), vec![(span, text)]);
        }
    }

    fn below_root(&mut self, root: &'static RootSpec) {
        let second = self.path.segments.get(1);
        match (&root.members, second) {
            (Members::Fixed(members), Some(second)) => {
                self.member(root, members, second);
            }
            (Members::Vars, Some(second)) => self.var(second),
            (Members::Vars | Members::Env, None) => {
                let example = if root.name == "env" { "NAME" } else { "name" };
                let message = format!(
                    "`{0}` alone has no value; name one of its members: `{0}.{example}`",
                    root.name
                );
                self.report(Code::UnknownVariable, self.path.range, message, None);
            }
            (Members::Fixed(_), None) | (Members::Env, Some(_)) => {}
        }
    }

    fn member(&mut self, root: &'static RootSpec, members: &'static [InputSpec], second: &Segment) {
        let wanted = name(second);
        let known = members.iter().map(|member| member.name);
        if known.clone().any(|known| known == wanted) {
            if let Some(third) = self.path.segments.get(2) {
                let message = format!(
                    "`{}.{wanted}` is a text, it has no members; remove this",
                    root.name
                );
                self.report(Code::UnknownVariable, third.range, message, None);
            }
            return;
        }
        let near = nearest(&wanted, known.clone());
        let hint = near.map_or_else(
            || format!("it has {}", listed(known)),
            |near| format!("did you mean `{}.{near}`?", root.name),
        );
        let message = format!("`{}` has no `{}`; {hint}", root.name, shown(&wanted));
        let replacement = near.map(str::to_owned);
        self.report(Code::UnknownVariable, second.range, message, replacement);
    }

    fn var(&mut self, second: &Segment) {
        let wanted = name(second);
        let known = self.vars();
        if known.contains(wanted.as_str()) {
            return;
        }
        let near = nearest(&wanted, known.iter().copied()).map(str::to_owned);
        let hint = match (&near, self.place) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, Place::GlobalVars) => "add it to `[vars]`".to_owned(),
            (None, _) => "add it to `vars` of this adapter or to `[vars]`".to_owned(),
        };
        let message = format!("no variable `{}` is defined; {hint}", shown(&wanted));
        self.report(Code::UnknownVariable, second.range, message, near);
    }

    /// The variables that templates at this place see, whatever layer defines them.
    fn vars(&self) -> BTreeSet<&str> {
        let context = self.check.context;
        let mut known: BTreeSet<&str> = context.vars.iter().map(String::as_str).collect();
        if self.place != Place::GlobalVars {
            let peers = context.peers.iter().map(|peer| &peer.unit.item.node);
            for node in std::iter::once(&context.unit.item.node).chain(peers) {
                if let Some(table) = field(node, "vars").and_then(Node::as_table) {
                    known.extend(table.items.keys().map(|name| &**name));
                }
            }
        }
        known
    }

    fn is_input(&self, first: &str) -> bool {
        let inputs = &self.check.inputs;
        match self.place {
            Place::Op | Place::Adapter | Place::Item => inputs.has(first) || self.is_open(),
            // Variables are evaluated when a call reads them, with the inputs of that call.
            Place::AdapterVars => {
                let shape = self.check.shape;
                let mut ops = shape.ops.keys();
                self.is_open() || ops.any(|op| shape.inputs_of(op).has(first))
            }
            Place::GlobalVars => OPS
                .iter()
                .flat_map(|op| op.inputs)
                .chain(EVENT_INPUTS)
                .any(|input| input.name.split('.').next() == Some(first)),
            Place::When => false,
        }
    }

    /// Whether a declared tool has parameters whose names cannot be known from here.
    fn is_open(&self) -> bool {
        let context = self.check.context;
        let peers = context.peers.iter().map(|peer| &peer.unit.item.node);
        std::iter::once(&context.unit.item.node)
            .chain(peers)
            .filter_map(|node| field(node, "tools").and_then(Node::as_array))
            .flatten()
            .filter_map(|tool| field(tool, "params"))
            .any(|params| {
                is_json_schema(params)
                    && (field(params, "properties").is_none()
                        || ["$ref", "allOf", "anyOf", "oneOf", "patternProperties"]
                            .iter()
                            .any(|key| field(params, key).is_some()))
            })
    }

    fn below_input(&mut self, first: &str) {
        let Some(second) = self.path.segments.get(1) else {
            return;
        };
        if !matches!(self.place, Place::Op | Place::Adapter) || self.is_open() {
            return;
        }
        let inputs = &self.check.inputs;
        let described = |input: &&&InputSpec| input.name.split('.').next() == Some(first);
        let members: Vec<&str> = if first == "args" && !inputs.params.is_empty() {
            inputs.params.iter().copied().collect()
        } else if inputs.params.contains(first) || inputs.any {
            return;
        } else {
            let mut members = Vec::new();
            for input in inputs.known.iter().filter(described) {
                match input.name.split_once('.') {
                    Some((_, member)) => members.push(member),
                    None => return, // a value, perhaps a list
                }
            }
            members
        };
        let wanted = name(second);
        if members.contains(&wanted.as_str()) {
            return;
        }
        let near = nearest(&wanted, members.iter().copied()).map(str::to_owned);
        let hint = near.as_ref().map_or_else(
            || format!("it has {}", listed(members.iter().copied())),
            |near| format!("did you mean `{near}`?"),
        );
        let message = format!("`{first}` has no `{}`; {hint}", shown(&wanted));
        self.report(Code::UnknownVariable, second.range, message, near);
    }

    fn unknown(&mut self, first: &str) {
        let dotted = self.path.segments.len() > 1;
        let inputs = match self.place {
            Place::Op | Place::Adapter => self.check.inputs.names(),
            _ => Vec::new(),
        };
        let own = |name: String| (self.first_range(), name);
        let var = self.vars().contains(first) && !dotted;
        let suggested = if var {
            Some(own(format!("vars.{first}")))
        } else {
            self.meant(first, dotted)
        };
        let suggested = suggested.or_else(|| {
            let roots = ROOTS.iter().map(|root| root.name);
            // A root alone says nothing: only a path can be a misspelt one.
            let roots = roots.filter(|_| dotted);
            let near = nearest(first, inputs.iter().copied().chain(roots))?;
            Some(own(near.to_owned()))
        });
        let mut message = if dotted {
            format!(
                "`{}` is nothing that templates see here: {}",
                shown(first),
                self.visible(&inputs)
            )
        } else {
            let place = self.place_words();
            format!("`{}` has no value {place}", shown(first))
        };
        if let Some((_, near)) = &suggested {
            let lead = if dotted { "; " } else { ": " };
            message = format!("{message}{lead}did you mean `{near}`?");
        } else if !dotted {
            message = format!("{message}; it sees {}", self.visible(&inputs));
        }
        let code = if dotted {
            Code::UnknownRoot
        } else {
            Code::UnknownVariable
        };
        let range = self.first_range();
        let finding_range = suggested.as_ref().map_or(range, |(range, _)| *range);
        let replacement = suggested.map(|(_, name)| name);
        let span = self.written.visible(range);
        let edit = self.written.visible(finding_range);
        let editable = self.written.is_editable();
        let finding = self.check.report(code, span, message);
        if let Some(text) = replacement
            && editable
        {
            finding.fix(format!("Change to `{text}`"), vec![(edit, text)]);
        }
    }

    /// What a name of another dialect stands for, and the range it replaces.
    fn meant(&self, first: &str, dotted: bool) -> Option<(TextRange, String)> {
        let all = self.path.range;
        if dotted {
            let second = name(self.path.segments.get(1)?);
            let (_, meant) = TELLING.iter().find(|(name, _)| *name == second)?;
            return (self.path.segments.len() == 2).then(|| (all, (*meant).to_owned()));
        }
        if let Some(name) = first.strip_prefix("env:").or(first.strip_prefix("ENV:")) {
            return Some((all, format!("env.{}", name.trim())));
        }
        if let Some((_, meant)) = TELLING.iter().find(|(name, _)| *name == first) {
            return Some((all, (*meant).to_owned()));
        }
        let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let env = first.len() > 2
            && first.chars().all(upper)
            && first.starts_with(|c: char| c.is_ascii_uppercase());
        env.then(|| (all, format!("env.{first}")))
    }

    fn place_words(&self) -> String {
        match (self.place, self.check.path.as_slice()) {
            (Place::Op, ["ops", op, ..]) => format!("in the op `{}`", shown(op)),
            (Place::Op, _) => "in the op of this tool".to_owned(),
            (Place::Adapter, _) if self.check.driver == Some(schema::Driver::Mcp) => {
                "when the server is started".to_owned()
            }
            (Place::When, _) => "in `when`".to_owned(),
            (Place::AdapterVars | Place::GlobalVars, _) => "in `vars`".to_owned(),
            _ => "here".to_owned(),
        }
    }

    fn visible(&self, inputs: &[&str]) -> String {
        let roots = ROOTS
            .iter()
            .map(|root| root.name)
            .filter(|name| *name != "adapter" || self.place != Place::GlobalVars);
        let inputs: Vec<String> = inputs.iter().take(16).map(|name| shown(name)).collect();
        listed(inputs.iter().map(String::as_str).chain(roots))
    }
}

fn name(segment: &Segment) -> String {
    match &segment.kind {
        SegmentKind::Key(key) => key.clone(),
        SegmentKind::Index(index) => index.to_string(),
    }
}

/// A name out of the file, fit for a message: one line, of bounded length.
pub(super) fn shown(name: &str) -> String {
    let mut shown: String = name.chars().take(60).collect::<String>();
    if shown.len() < name.len() {
        shown.push('…');
    }
    shown.escape_debug().to_string().replace("\\'", "'")
}

fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    names
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}
