//! A call to be bound, and what is expected of it.

use kontext_engine::bind::{Bound, Offer, bind};
use kontext_engine::{Fault, FaultKind};
use serde_json::{Map, Value, json};

pub(crate) const ROOT: &str = "/home/ada/zoo";

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

/// A call of an op, to be bound.
pub(crate) struct Call {
    pub(crate) op: &'static str,
    pub(crate) inputs: Map<String, Value>,
    pub(crate) named: Option<Map<String, Value>>,
    pub(crate) args: Option<Map<String, Value>>,
    pub(crate) event: bool,
}

pub(crate) fn op(op: &'static str, inputs: Value) -> Call {
    Call {
        op,
        inputs: object(inputs),
        named: None,
        args: None,
        event: false,
    }
}

pub(crate) fn search() -> Call {
    op("search", json!({ "query": "red panda", "limit": 7 }))
}

impl Call {
    pub(crate) fn args(mut self, args: Value) -> Self {
        self.args = Some(object(args));
        self
    }

    pub(crate) fn event(mut self) -> Self {
        self.event = true;
        self
    }

    /// As a declared tool calls it: its arguments are the inputs too.
    pub(crate) fn declared(arguments: Value) -> Self {
        let mut call = op("search", arguments);
        call.named = Some(call.inputs.clone());
        call
    }

    pub(crate) fn on(&self, schema: Option<&Value>) -> Result<Bound, Fault> {
        let offer = Offer {
            op: self.op,
            tool: "find",
            delivers_event: self.event,
            inputs: &self.inputs,
            named: self.named.as_ref(),
            root: ROOT,
        };
        bind(&offer, self.args.as_ref(), schema)
    }

    #[track_caller]
    pub(crate) fn bound(&self, schema: Value) -> Bound {
        self.on(Some(&schema))
            .unwrap_or_else(|fault| panic!("{fault}"))
    }

    #[track_caller]
    pub(crate) fn gives(&self, schema: Value, arguments: Value) {
        assert_eq!(Value::Object(self.bound(schema).arguments), arguments);
    }

    #[track_caller]
    pub(crate) fn refused(&self, schema: Value) -> String {
        let fault = self.on(Some(&schema)).expect_err("it is refused");
        assert_eq!(fault.kind, FaultKind::Refused);
        let words = fault.message().to_owned();
        assert!(!words.contains("red panda"), "a value in {words}");
        words
    }
}

/// A schema with these properties, of which the named are required.
pub(crate) fn tool(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}
