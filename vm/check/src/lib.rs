//! A checker of decisions about memory.
//!
//! The analyses decide where arrays lie: some are built where a later copy would put them, blocks share memory, results are
//! written over arrays. They argue with lifetimes, uses and last uses. The checker does not argue: it goes through the
//! region on the numbers of one run, follows which element of which value lies in which place, and asks at each read whether
//! the element is there that the meaning says. It shares nothing with the analyses.
//!
//! *The meaning.* Every array is a value; a statement that makes one gives it new elements, a copy copies them. *Memory.*
//! An array that is made is written to its home; one that shows another lies in that; an update stays where its array is if
//! its home is there, and copies otherwise; a copy of what is in its place already writes nothing. Iterations of kernels,
//! applications of operators and the elements of a copy come in any order and mixed; an iteration writes its results after
//! its last read; an unknown function reads and writes in any order; loops go round by round. Of what is not known,
//! everything may be: both sides of a branch, any number of rounds, any element at an index. Parameters that others hold
//! are never written. The results of the region are read at its end.
//!
//! - `decisions.rs`: what is decided, as plain data. `walk.rs`, `scalars.rs`, `statement.rs`, `control.rs`: one walk over the
//!   region for two memories. `store.rs`: what the walk asks of a memory.
//! - `sets/`: memory by sets of elements. It is fast and sure of its yes only. `cells/`: memory element by element. It is
//!   sure of both answers. `form.rs`, `view.rs`: numbers and views that move with iteration variables.
//!
//! *Proved*: in every order that the meaning allows, no read, of elements, of whole arrays, or of the results, finds
//! anything else than its element; every access is inside its block; no result is in memory that comes again; homes agree
//! with each other where nothing is copied. *Trusted*: the region and the observed numbers, that they describe the
//! program; the types of the region; that whoever applies the decisions does as said above; that two views are apart if
//! `disjoint` says so. *Not proved*: that indices are inside of arrays (the program ends there), that anything is gained,
//! and whatever is [too large](Verdict::TooLarge).
#![forbid(unsafe_code)]

mod cells;
mod control;
mod decisions;
mod form;
mod scalars;
mod sets;
mod statement;
mod store;
mod view;
mod walk;

pub use decisions::{Affine, Decisions, Home, Memory};

use cells::Cells;
use galopvm_kir::{CheckedRegion, Observed};
use sets::Sets;
use store::LONG;
use walk::{End, walk};

/// What a check may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// Questions about sets of elements, and statements executed.
    pub questions: u32,
    /// Elements that are gone through, where sets do not say; with 0, sets alone are asked.
    pub elements: u64,
}

impl Budget {
    /// For whoever is about to run something: most checks of real programs take a fraction of a millisecond.
    pub const BRIEF: Budget = Budget { questions: 1 << 11, elements: 1 << 11 };
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { questions: 1 << 17, elements: 1 << 20 }
    }
}

/// What came out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every read finds the element that the meaning says.
    Proved,
    /// Some read does not.
    Refused(Violation),
    /// Nobody knows: it would take too long, or it is something that the checker does not follow.
    TooLarge(&'static str),
}

/// What is wrong, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// The words.
    pub text: String,
}

/// Checks the decisions about a region with the numbers of one run.
pub fn check(region: &CheckedRegion, observed: &Observed, decisions: &Decisions, budget: Budget) -> Verdict {
    let mut why = LONG;
    // Rounds of loops at once; those outside kernels one by one, where their numbers matter.
    for at_once in [true, false] {
        match walk(region, observed, decisions, Sets::new(budget.questions), at_once) {
            End::Proved => return Verdict::Proved,
            End::Refused(text) => return Verdict::Refused(Violation { text }),
            End::TooLarge(what) => why = what,
        }
        // One by one would take even longer.
        if why == LONG {
            break;
        }
    }
    if budget.elements == 0 {
        return Verdict::TooLarge(why);
    }
    let cells = Cells::new(region.region(), decisions, budget.elements);
    match walk(region, observed, decisions, cells, false) {
        End::Proved => Verdict::Proved,
        End::TooLarge(what) => Verdict::TooLarge(what),
        End::Refused(text) => Verdict::Refused(Violation { text }),
    }
}
