//! Who executes an operator that is about to run: compiled code, code that is made at once, or the interpreter.
//!
//! It follows from what is known of the site, with what was compiled until now, and from how much there is to do. Nothing is lifted,
//! compiled or counted here; `mod.rs` carries the choice out, and falls back on the interpreter where that turns out to be impossible.

use super::Tiers;
use crate::Execution;
use crate::executor::Executor;

/// Below this estimate of operations interpreting is cheaper than launching; where a row is a few instructions of a loop, below
/// the second one.
const LEAST_WORK: u64 = 160;
const LEAST_WORK_OF_LOOPS: u64 = 2048;

/// Who executes an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Code of a back end.
    Code(Code),
    /// The interpreter.
    Interpreter(Why),
}

/// The code that executes an operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// It is made at once, without a plan.
    Quick,
    /// It is planned and compiled.
    Planned {
        /// The launch waits until it is there.
        waits: bool,
        /// Code that is made at once stands in where there is no other, or not yet.
        stands_in: bool,
    },
}

/// Why the interpreter executes an operator, as far as that is known before a launch is tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// There is none.
    NoBackEnd,
    /// There are no rows.
    NothingToDo,
    /// A launch costs more.
    LittleWork,
    /// Code of the site trapped where the interpreter does not.
    FalseTraps,
    /// The operator is no kernel.
    NotLifted,
    /// It has not run for long enough.
    NotHot,
}

/// How the interpreter goes over the rows of an operator.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Interpreted {
    /// A loop of few instructions for a row.
    Loop,
    /// A block for each row.
    Rows,
}

impl Choice {
    /// Whether several operators may run together, of which this is the first: not where there is little to do.
    pub fn allows_groups(self, eager: bool) -> bool {
        match self {
            Choice::Code(Code::Planned { .. }) => true,
            Choice::Code(Code::Quick) | Choice::Interpreter(Why::LittleWork | Why::NotHot) => eager,
            Choice::Interpreter(Why::NoBackEnd | Why::NothingToDo | Why::FalseTraps | Why::NotLifted) => {
                false
            }
        }
    }
}

impl Why {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Why::NoBackEnd => "there is no back end",
            Why::NothingToDo => "there is nothing to do",
            Why::LittleWork => "too little work for a launch",
            Why::FalseTraps => "compiled code trapped where the interpreter does not",
            Why::NotLifted => "not lifted",
            Why::NotHot => "not hot yet",
        }
    }
}

impl Tiers {
    /// Who is to execute an operator; `otherwise` is what the interpreter would do.
    pub fn choose(&mut self, execution: Execution, otherwise: Interpreted) -> Choice {
        self.collect();
        match self.why_interpreted(execution, otherwise) {
            Some(why) => Choice::Interpreter(why),
            None => self.code_for(execution),
        }
    }

    /// What keeps an execution from any code.
    fn why_interpreted(
        &self,
        Execution { site, width, work, .. }: Execution,
        otherwise: Interpreted,
    ) -> Option<Why> {
        let least = match otherwise {
            Interpreted::Loop => LEAST_WORK_OF_LOOPS,
            Interpreted::Rows => LEAST_WORK,
        };
        let state = &self.sites[site as usize];
        if !self.has_backends() {
            Some(Why::NoBackEnd)
        } else if width == 0 {
            Some(Why::NothingToDo)
        } else if !self.tiering.always && work < least {
            Some(Why::LittleWork)
        } else if state.trying.is_given_up() {
            Some(Why::FalseTraps)
        } else if matches!(state.lifted, Some(Err(_))) {
            Some(Why::NotLifted)
        } else {
            None
        }
    }

    /// The code for an execution that is worth a launch.
    fn code_for(&self, Execution { site, width, work, .. }: Execution) -> Choice {
        let state = &self.sites[site as usize];
        let is_hot = self.is_large(work) || state.profile.interpreted_work >= self.tiering.threshold;
        let suits_quick = self.suits_quick(site, width);
        if is_hot || !state.versions.is_empty() {
            return Choice::Code(Code::Planned { waits: self.waits(work), stands_in: suits_quick });
        }
        match suits_quick && self.is_worth_making(site, work) {
            true => Choice::Code(Code::Quick),
            false => Choice::Interpreter(Why::NotHot),
        }
    }

    /// Whether a single execution is worth compiling for.
    fn is_large(&self, work: u64) -> bool {
        self.tiering.always || work >= self.tiering.threshold
    }

    /// Whether a launch waits for code that is not there yet.
    pub(super) fn waits(&self, work: u64) -> bool {
        self.is_large(work) || !self.tiering.background
    }

    /// Who is going to execute a site after such a choice, as far as that can be told; nothing is the interpreter.
    pub fn executor(&self, site: u32, choice: Choice) -> Option<Executor> {
        let state = &self.sites[site as usize];
        match choice {
            Choice::Interpreter(_) => None,
            Choice::Code(Code::Quick) => Some(Executor::Vector),
            Choice::Code(Code::Planned { waits, stands_in }) => {
                let is_made = state.versions.iter().any(|version| version.code.is_some());
                let will_be = waits && state.versions.is_empty() && !self.tiering.backends.is_empty();
                let quick = || stands_in && state.quick.as_ref().is_none_or(|made| made.code.is_some());
                match is_made || will_be {
                    true => Some(Executor::Compiled),
                    false => quick().then_some(Executor::Vector),
                }
            }
        }
    }

    /// Whether machine code may execute a site one day.
    pub fn may_be_compiled(&self, site: u32) -> bool {
        let state = &self.sites[site as usize];
        let lifts = !matches!(state.lifted, Some(Err(_)));
        let is_refused =
            !state.versions.is_empty() && state.versions.iter().all(|version| version.code.is_none());
        !self.tiering.backends.is_empty() && lifts && !state.trying.is_given_up() && !is_refused
    }
}
