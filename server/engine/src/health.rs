//! Ops that fail again and again are left alone for a while (adapters.md section 7).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustc_hash::FxBuildHasher;
use tokio::time::Instant;

use crate::fault::{Fault, FaultKind};

/// So many failures in a row let an op rest.
const MOST_FAILURES: u32 = 3;

/// For so long.
const REST: Duration = Duration::from_secs(30);

/// How the ops of all adapters fare, by adapter and op.
#[derive(Debug, Default)]
pub struct Health {
    ops: Mutex<Records>,
}

type Records = HashMap<(Arc<str>, Arc<str>), Record, FxBuildHasher>;

#[derive(Debug)]
struct Record {
    failures: u32,
    last: String,
    until: Option<Instant>,
}

impl Health {
    /// Whether an op may be called.
    ///
    /// # Errors
    /// It rests: with what it failed of last and for how long.
    pub fn admit(&self, adapter: &str, op: &str) -> Result<(), Fault> {
        let mut ops = self.lock();
        let Some(record) = ops.get_mut(&key(adapter, op)) else {
            return Ok(());
        };
        let Some(until) = record.until else {
            return Ok(());
        };
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            // One more failure lets it rest again.
            record.until = None;
            return Ok(());
        }
        Err(Fault::new(
            FaultKind::Resting,
            format!(
                "it rests for {} s more after {} failures in a row, the last one: {}",
                left.as_secs() + 1,
                record.failures,
                record.last
            ),
        ))
    }

    /// Notes how a call ended.
    pub fn note(&self, adapter: &str, op: &str, fault: Option<&Fault>) {
        let mut ops = self.lock();
        match fault {
            None => {
                ops.remove(&key(adapter, op));
            }
            Some(fault) if fault.counts_against_source() => {
                let record = ops.entry(key(adapter, op)).or_insert(Record {
                    failures: 0,
                    last: String::new(),
                    until: None,
                });
                record.failures = record.failures.saturating_add(1);
                fault.message().clone_into(&mut record.last);
                if record.failures >= MOST_FAILURES {
                    record.until = Some(Instant::now() + REST);
                }
            }
            // It answered: it is there.
            Some(fault) if matches!(fault.kind, FaultKind::NotFound | FaultKind::ToolError) => {
                ops.remove(&key(adapter, op));
            }
            Some(_) => {}
        }
    }

    /// Forgets an adapter: it is configured otherwise now.
    pub fn forget(&self, adapter: &str) {
        self.lock().retain(|(name, _), _| **name != *adapter);
    }

    /// The ops of an adapter that rest, with the words of why.
    pub fn resting(&self, adapter: &str) -> Vec<(Arc<str>, Fault)> {
        let ops: Vec<Arc<str>> = self
            .lock()
            .iter()
            .filter(|((name, _), record)| **name == *adapter && record.until.is_some())
            .map(|((_, op), _)| Arc::clone(op))
            .collect();
        let mut resting: Vec<_> = ops
            .into_iter()
            .filter_map(|op| Some((Arc::clone(&op), self.admit(adapter, &op).err()?)))
            .collect();
        resting.sort_by(|(a, _), (b, _)| a.cmp(b));
        resting
    }

    fn lock(&self) -> MutexGuard<'_, Records> {
        self.ops.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(adapter: &str, op: &str) -> (Arc<str>, Arc<str>) {
    (adapter.into(), op.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> Fault {
        Fault::new(FaultKind::Unreachable, "nobody answers at 127.0.0.1:9")
    }

    #[tokio::test(start_paused = true)]
    async fn three_failures_in_a_row_let_one_op_rest_for_half_a_minute() {
        let health = Health::default();
        for _ in 0..3 {
            assert_eq!(health.admit("wiki", "search"), Ok(()));
            health.note("wiki", "search", Some(&failed()));
        }
        let fault = health.admit("wiki", "search").unwrap_err();
        assert_eq!(fault.kind, FaultKind::Resting);
        assert!(fault.message().contains("nobody answers at 127.0.0.1:9"));
        assert_eq!(
            health.admit("wiki", "read"),
            Ok(()),
            "the op, not the adapter"
        );
        assert_eq!(health.resting("wiki").len(), 1);
        tokio::time::advance(REST).await;
        assert_eq!(health.admit("wiki", "search"), Ok(()));
        health.note("wiki", "search", Some(&failed()));
        assert!(
            health.admit("wiki", "search").is_err(),
            "the fourth in a row"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_not_there_and_what_a_tool_refuses_are_no_failures() {
        let health = Health::default();
        for kind in [
            FaultKind::NotFound,
            FaultKind::ToolError,
            FaultKind::Refused,
        ] {
            for _ in 0..4 {
                health.note("wiki", "read", Some(&Fault::new(kind, "no")));
            }
        }
        assert_eq!(health.admit("wiki", "read"), Ok(()));
        health.note("wiki", "read", Some(&failed()));
        health.note("wiki", "read", Some(&failed()));
        health.note("wiki", "read", None);
        health.note("wiki", "read", Some(&failed()));
        assert_eq!(health.admit("wiki", "read"), Ok(()), "not in a row");
    }
}
