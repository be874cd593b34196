//! Calls that wait for their answers.

use rustc_hash::FxHashMap;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{mpsc, oneshot};

use super::message::{Id, RpcError};
use crate::fault::{Fault, FaultKind};

/// Why a call has no result.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// It came to nothing.
    Fault(Fault),
    /// The server answered with an error.
    Rpc(RpcError),
    /// The server does not know the HTTP session any more; it has not looked at the call.
    Expired,
}

pub(super) type Outcome = Result<Box<RawValue>, Failure>;

/// Where the parameters of `notifications/progress` go.
pub(super) type Progress = mpsc::UnboundedSender<Value>;

#[derive(Debug)]
pub(super) struct Waiter {
    answer: oneshot::Sender<Outcome>,
    progress: Option<Progress>,
    /// An id that came back while this call waited and that belongs to none.
    pub(super) strange: Option<String>,
}

/// What became of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Handed to the call it belongs to.
    Yes,
    /// It belongs to a call that was given up.
    Late,
    /// It belongs to no call there ever was.
    Strange,
}

/// The calls of one connection.
#[derive(Debug)]
pub(super) struct Pending {
    next: u64,
    calls: FxHashMap<u64, Waiter>,
    closed: Option<Fault>,
    /// Nothing but the handshake has been sent: an id that fits nothing is a server that cannot
    /// tell calls apart, not a stray answer.
    strict: bool,
}

impl Default for Pending {
    fn default() -> Self {
        Self {
            // Not 0: that is what servers send that lost the id.
            next: 1,
            calls: FxHashMap::default(),
            closed: None,
            strict: true,
        }
    }
}

impl Pending {
    /// A new call: its id, and where its outcome will be.
    pub(super) fn register(
        &mut self,
        progress: Option<Progress>,
    ) -> Result<(u64, oneshot::Receiver<Outcome>), Fault> {
        if let Some(fault) = &self.closed {
            return Err(fault.clone());
        }
        let id = self.next;
        self.next += 1;
        let (answer, outcome) = oneshot::channel();
        let waiter = Waiter {
            answer,
            progress,
            strange: None,
        };
        self.calls.insert(id, waiter);
        Ok((id, outcome))
    }

    /// Gives a call up.
    pub(super) fn forget(&mut self, id: u64) -> Option<Waiter> {
        self.calls.remove(&id)
    }

    /// Ends a call without an answer of the server.
    pub(super) fn fail(&mut self, id: u64, failure: Failure) {
        if let Some(waiter) = self.calls.remove(&id) {
            let _ = waiter.answer.send(Err(failure));
        }
    }

    pub(super) fn is_waiting(&self, id: u64) -> bool {
        self.calls.contains_key(&id)
    }

    /// An answer came. `of` is the call in whose own answer it came (HTTP).
    pub(super) fn take(
        &mut self,
        id: Id<'_>,
        of: Option<u64>,
        outcome: Result<Box<RawValue>, RpcError>,
    ) -> Taken {
        let outcome = outcome.map_err(Failure::Rpc);
        let id = match id {
            Id::Number(id) if self.calls.contains_key(&id) => id,
            Id::Number(id) if (1..self.next).contains(&id) => return Taken::Late,
            Id::Null if outcome.is_err() => match of.or_else(|| self.only()) {
                Some(id) => id,
                None => return Taken::Strange,
            },
            id => {
                self.strange(&id.to_string(), of);
                return Taken::Strange;
            }
        };
        match self.calls.remove(&id) {
            Some(waiter) => {
                let _ = waiter.answer.send(outcome);
                Taken::Yes
            }
            None => Taken::Late,
        }
    }

    /// The only call that waits.
    fn only(&self) -> Option<u64> {
        match self.calls.len() {
            1 => self.calls.keys().next().copied(),
            _ => None,
        }
    }

    fn strange(&mut self, id: &str, of: Option<u64>) {
        if let Some(call) = of.or_else(|| self.only().filter(|_| self.strict)) {
            let words = format!("{}; the call was sent with id {call}", strange_words(id));
            self.fail(
                call,
                Failure::Fault(Fault::new(FaultKind::Malformed, words)),
            );
        }
        for waiter in self.calls.values_mut() {
            waiter.strange = Some(id.to_owned());
        }
    }

    /// The handshake is over.
    pub(super) fn relax(&mut self) {
        self.strict = false;
    }

    /// Progress of a call, by its token.
    pub(super) fn progress(&self, token: u64, params: Value) {
        if let Some(progress) = self
            .calls
            .get(&token)
            .and_then(|waiter| waiter.progress.as_ref())
        {
            let _ = progress.send(params);
        }
    }

    /// Ends all calls, and refuses new ones.
    pub(super) fn close(&mut self, fault: &Fault) {
        self.closed.get_or_insert_with(|| fault.clone());
        for (_, waiter) in self.calls.drain() {
            let _ = waiter.answer.send(Err(Failure::Fault(fault.clone())));
        }
    }

    /// Refuses new calls; those that wait go on waiting.
    pub(super) fn refuse(&mut self, fault: Fault) {
        self.closed.get_or_insert(fault);
    }
}

/// Says that an answer cannot be given to any call.
pub(super) fn strange_words(id: &str) -> String {
    format!("the server sent an answer with id {id}, which matches no call")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(text: &str) -> Result<Box<RawValue>, RpcError> {
        Ok(RawValue::from_string(text.to_owned()).unwrap())
    }

    fn error() -> Result<Box<RawValue>, RpcError> {
        Err(RpcError {
            code: -1,
            message: "boom".to_owned(),
            raw: RawValue::from_string("{}".to_owned()).unwrap(),
        })
    }

    #[test]
    fn an_answer_goes_to_its_own_call_and_to_no_other() {
        let mut pending = Pending::default();
        pending.relax();
        let (one, mut first) = pending.register(None).unwrap();
        let (two, mut second) = pending.register(None).unwrap();
        assert_eq!(
            pending.take(Id::Number(0), None, result("0")),
            Taken::Strange
        );
        assert_eq!(
            pending.take(Id::Number(9), None, result("9")),
            Taken::Strange
        );
        assert_eq!(pending.take(Id::Null, None, error()), Taken::Strange);
        assert_eq!(pending.take(Id::Number(two), None, result("2")), Taken::Yes);
        assert_eq!(
            pending.take(Id::Number(two), None, result("2")),
            Taken::Late
        );
        assert!(first.try_recv().is_err(), "still waiting");
        assert_eq!(second.try_recv().unwrap().unwrap().get(), "2");
        // Now only one call is left: an error without an id is its error, a result is not.
        assert_eq!(pending.take(Id::Null, None, result("3")), Taken::Strange);
        assert_eq!(pending.take(Id::Null, None, error()), Taken::Yes);
        assert!(matches!(first.try_recv().unwrap(), Err(Failure::Rpc(_))));
        assert!(pending.forget(one).is_none());
    }

    #[test]
    fn in_the_handshake_a_foreign_id_ends_the_call_at_once() {
        let mut pending = Pending::default();
        let (_, mut outcome) = pending.register(None).unwrap();
        pending.take(Id::Number(0), None, result("{}"));
        let Err(Failure::Fault(fault)) = outcome.try_recv().unwrap() else {
            panic!("a result")
        };
        insta::assert_snapshot!(fault, @"the server sent an answer with id 0, which matches no call; the call was sent with id 1");
    }

    #[test]
    fn a_closed_connection_takes_no_call() {
        let mut pending = Pending::default();
        let (_, mut outcome) = pending.register(None).unwrap();
        pending.close(&Fault::new(FaultKind::Unreachable, "gone"));
        assert!(outcome.try_recv().unwrap().is_err());
        assert_eq!(pending.register(None).unwrap_err().message(), "gone");
    }
}
