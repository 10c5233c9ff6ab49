//! What a call is doing, told as it begins and as it ends: who has a clock can say where time goes.
//!
//! Invariants: what begins ends, in the reverse order, whatever becomes of it. Telling decides nothing, and whoever listens takes
//! the time: nobody here looks at a clock.

use galopvm_interp::{Site, Way};
use std::sync::Arc;

/// Something that a call spends time on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doing {
    /// An instruction that may take long: an operator, a loop, a call, a copy of arrays. What is told inside it is done for it.
    Instruction(Site),
    /// Code of this back end runs.
    Code(&'static str),
    /// Code is made, and waited for.
    Compiling,
    /// An analysis looks for something to decide.
    Deciding,
    /// Arrays are copied into other layouts.
    Relaying,
}

/// What is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// Something begins.
    Begins(Doing),
    /// What began last, and has not ended, ends.
    Ends,
    /// The interpreter executes the innermost instruction in this way.
    Interprets(Way),
}

/// Receives moments, on the thread of the call.
pub type MomentSink = Arc<dyn Fn(Moment) + Send + Sync>;

/// Tells moments, if somebody listens.
#[derive(Clone, Default)]
pub struct Moments(Option<MomentSink>);

impl Moments {
    /// Tells this sink.
    pub fn new(sink: Option<MomentSink>) -> Moments {
        Moments(sink)
    }

    /// Whether somebody listens.
    #[inline]
    pub fn are_heard(&self) -> bool {
        self.0.is_some()
    }

    /// Something begins.
    #[inline]
    pub fn begins(&self, doing: Doing) {
        self.tell(Moment::Begins(doing));
    }

    /// What began last ends.
    #[inline]
    pub fn ends(&self) {
        self.tell(Moment::Ends);
    }

    /// The interpreter executes something.
    #[inline]
    pub fn interprets(&self, way: Way) {
        self.tell(Moment::Interprets(way));
    }

    /// Does something from which nobody is told of anything else.
    pub fn during<T>(&self, doing: Doing, work: impl FnOnce() -> T) -> T {
        self.begins(doing);
        let done = work();
        self.ends();
        done
    }

    #[inline]
    fn tell(&self, moment: Moment) {
        if let Some(sink) = &self.0 {
            sink(moment);
        }
    }
}
