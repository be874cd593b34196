//! What a call knows besides its inputs.

use std::sync::Arc;

use kontext_config::eval::{Scope, Vars};
use kontext_config::facts::{Facts, Now};
use kontext_config::model::Adapter;
use serde_json::{Map, Value};

use crate::may_start::MayStart;

/// The world and the global variables at the moment of a call. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Environment, repository, time.
    pub facts: Arc<Facts>,
    /// The top-level `[vars]` in force.
    pub globals: Arc<Vars>,
    /// `project.name`, where it is set.
    pub project: Option<Arc<str>>,
    /// The moment of the call; `None` is that of the facts.
    pub now: Option<Arc<Now>>,
    /// Asked before a program is started.
    pub may_start: MayStart,
}

impl Context {
    /// What the templates of an adapter see.
    pub fn scope<'a>(&'a self, adapter: &'a Adapter, inputs: &'a Map<String, Value>) -> Scope<'a> {
        let scope = Scope::new(&self.facts)
            .globals(&self.globals)
            .adapter(&adapter.name, &adapter.vars)
            .inputs(inputs);
        let scope = match &self.now {
            Some(now) => scope.now(now),
            None => scope,
        };
        match &self.project {
            Some(name) => scope.project(name),
            None => scope,
        }
    }
}
