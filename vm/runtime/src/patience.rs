//! Whether a question is put again that had no useful answer lately.

/// How often in a row a question had no useful answer, and how long it waits for that.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// How often in a row there was none.
    failures: u32,
    /// Occasions that are let go by before the next question.
    waiting: u32,
}

impl Patience {
    /// Whether this occasion is let go by.
    pub(crate) fn waits(&mut self) -> bool {
        let waits = self.waiting > 0;
        self.waiting -= u32::from(waits);
        waits
    }

    /// There was an answer of use, or none: then twice as many occasions are let go by as before, at most about a thousand.
    pub(crate) fn learn(&mut self, is_useful: bool) {
        self.failures = if is_useful { 0 } else { self.failures.saturating_add(1) };
        self.waiting = (1 << self.failures.min(10)) - 1;
    }
}
