//! Binding: the op's `args`, the rest by name, and the whole validated.

use kontext_config::schema::nearest;
use kontext_syntax::text::quoted;
use serde_json::{Map, Value};

use super::fill::Run;
use super::tool::ToolSchema;
use super::{Bound, Offer, Source};
use crate::Fault;

/// What mends arguments that `args` gives.
pub(crate) const CORRECT_ARGS: &str = "correct `args`";

impl ToolSchema {
    /// What the tool is called with.
    ///
    /// `args` are the op's, rendered: `None` binds by name, an empty map sends nothing, others are
    /// sent as they stand; with the key `"*"` = true the required parameters that are not among
    /// them are bound as well.
    ///
    /// Refused where a required parameter gets no value, where an argument of a declared tool does
    /// not fit, and where what would be sent is not valid by the schema. No message holds a value.
    pub fn bind(
        &self,
        offer: &Offer<'_>,
        args: Option<&Map<String, Value>>,
    ) -> Result<Bound, Fault> {
        let mut run = Run::new(self, offer);
        let mut arguments = Map::new();
        let rest = match args {
            None => true,
            Some(args) => {
                let rest = args.get("*").and_then(Value::as_bool);
                for (name, value) in args {
                    if rest.is_none() || name != "*" {
                        arguments.insert(name.clone(), value.clone());
                        run.bound("", name, Source::Args);
                    }
                }
                self.misspelt(offer.tool, &arguments, &mut run.notes);
                rest == Some(true)
            }
        };
        if rest {
            let required_only = args.is_some();
            run.arguments(&mut arguments, required_only)?;
            run.fields(&self.fields, &mut arguments, required_only, "");
            run.finish(args.is_none())?;
        } else if arguments.is_empty() {
            return Ok(run.into_bound(arguments));
        }
        let remedy = if args.is_some() {
            CORRECT_ARGS
        } else {
            "give the arguments in `args`"
        };
        let arguments = self.valid(offer.tool, arguments, remedy)?;
        Ok(run.into_bound(arguments))
    }

    /// Names in `args` that the tool does not know but nearly.
    fn misspelt(&self, tool: &str, args: &Map<String, Value>, notes: &mut Vec<String>) {
        let names = || self.fields.params.iter().map(|param| param.name.as_str());
        for name in args.keys() {
            if names().all(|known| known != name)
                && let Some(near) = nearest(name, names())
            {
                let (name, tool, near) = (quoted(name), quoted(tool), quoted(near));
                notes.push(format!(
                    "{tool} has no parameter {name}, the nearest is {near}"
                ));
            }
        }
    }
}
