//! Rendering with what a request refuses.

use kontext_config::eval::{Piece, Rendered, Scope};
use kontext_config::model::{Adapter, TemplateText};
use kontext_syntax::template::Template;
use serde_json::{Map, Value};

use crate::context::Context;
use crate::fault::Fault;

/// Whether a variable of the environment that is not set may stand for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unset {
    /// It is refused: half a credential would be sent.
    Refused,
    /// It is empty.
    Empty,
}

/// Renders the templates of one call.
pub(super) struct Renderer<'a> {
    scope: Scope<'a>,
    pub(super) adapter: &'a Adapter,
    pub(super) ctx: &'a Context,
    pub(super) inputs: &'a Map<String, Value>,
    /// Variables of the environment are shown by name: the result is for people.
    pub(super) masked: bool,
}

impl<'a> Renderer<'a> {
    pub(super) fn new(
        adapter: &'a Adapter,
        ctx: &'a Context,
        inputs: &'a Map<String, Value>,
        masked: bool,
    ) -> Self {
        Self {
            scope: ctx.scope(adapter, inputs).mask_env(masked),
            adapter,
            ctx,
            inputs,
            masked,
        }
    }

    /// The text of a template; `what` is what a fault calls it, in the nominative: "`cwd`".
    pub(super) fn text(
        &self,
        text: &TemplateText,
        what: &str,
        unset: Unset,
    ) -> Result<String, Fault> {
        self.source(text.source(), what, unset)
    }

    /// As [`Self::text`], from the source.
    pub(super) fn source(&self, source: &str, what: &str, unset: Unset) -> Result<String, Fault> {
        let template = Template::parse(source);
        checked(self.scope.render_text(&template, source), what, unset)
    }

    /// The parts of a template.
    pub(super) fn pieces(
        &self,
        template: &Template,
        source: &str,
        what: &str,
        unset: Unset,
    ) -> Result<Vec<Piece>, Fault> {
        checked(self.scope.render_pieces(template, source), what, unset)
    }

    /// A value with its strings and keys rendered.
    pub(super) fn typed(&self, value: &Value, what: &str) -> Result<Value, Fault> {
        checked(self.scope.render_typed(value), what, Unset::Empty)
    }
}

fn checked<T>(rendered: Rendered<T>, what: &str, unset: Unset) -> Result<T, Fault> {
    if let Some(cycle) = rendered.cycles.first() {
        let mut names: Vec<String> = cycle.iter().map(|name| format!("`{name}`")).collect();
        names.extend(names.first().cloned());
        return Err(Fault::refused(format!(
            "{what} uses variables that refer to each other: {}; break the cycle",
            names.join(" → ")
        )));
    }
    if rendered.unbounded {
        return Err(Fault::refused(format!(
            "{what} becomes longer than 32 MiB, or its variables refer to each other too deeply"
        )));
    }
    match rendered.missing_env.first() {
        Some(name) if unset == Unset::Refused => Err(Fault::refused(format!(
            "{what} uses the environment variable `{name}`, which is not set; set it, or give a `default`"
        ))),
        _ => Ok(rendered.value),
    }
}
