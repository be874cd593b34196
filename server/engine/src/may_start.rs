//! The last question before a program is started.

use std::fmt;
use std::sync::Arc;

use crate::fault::Fault;

/// Asked right before a program is started. What is configured was looked at before; what it names
/// on the disk may have changed since.
#[derive(Clone, Default)]
pub struct MayStart(Option<Arc<Question>>);

type Question = dyn Fn() -> Result<(), Fault> + Send + Sync;

impl MayStart {
    /// Asks this, from any thread. It must not wait for anything but the disk.
    pub fn asking(question: impl Fn() -> Result<(), Fault> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(question)))
    }

    pub(crate) fn ask(&self) -> Result<(), Fault> {
        self.0.as_ref().map_or(Ok(()), |question| question())
    }
}

impl fmt::Debug for MayStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asks = if self.0.is_some() { "asks" } else { "always" };
        f.debug_tuple("MayStart").field(&asks).finish()
    }
}
