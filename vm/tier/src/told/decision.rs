//! Decisions that are told one by one: what was to be done, and whether it was done or why not.
//!
//! A kind of decision is a row of the table at the end of this file. Whoever decides tells a [`DecisionSeen`]; nothing
//! else is needed for it to be counted and shown, in text and JSON, with the source line first.

use crate::sentence::Sentence;
use galopvm_bytecode::{FuncId, Place};

macro_rules! kinds {
    ($($variant:ident $name:literal: $meaning:literal;)*) => {
        /// What a decision is about.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum DecisionKind {
            $(#[doc = $meaning] $variant,)*
        }

        impl DecisionKind {
            /// Every kind, in the order of the table.
            pub const ALL: &[DecisionKind] = &[$(DecisionKind::$variant,)*];

            /// Its word in text and JSON.
            pub const fn name(self) -> &'static str {
                match self {
                    $(DecisionKind::$variant => $name,)*
                }
            }

            /// What is done, in one line.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(DecisionKind::$variant => $meaning,)*
                }
            }
        }
    };
}

/// A decision, and what came of it this time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DecisionSeen {
    /// What it is about.
    pub kind: DecisionKind,
    /// The function whose registers `what` names.
    pub function: FuncId,
    /// Where it is in the source.
    pub place: Option<Place>,
    /// What is done, or is not: `r7 is computed where r9 reads it`.
    pub what: Sentence,
    /// Done, with the bytes that this saves, if they are known; or not, and why.
    pub outcome: Result<Option<u64>, NotDone>,
}

/// Why something was decided, but not done.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NotDone {
    /// For people.
    pub plain: String,
    /// One word.
    pub exact: String,
}

/// Why a function, loop or round ran without a plan.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Unplanned {
    /// The switch is off.
    SwitchedOff,
    /// What is around it has a plan.
    Around,
    /// Too few elements for the question to pay.
    Small,
    /// Plans for new numbers cost more than they give.
    Waiting,
    /// It cannot be recorded.
    Unrecorded,
    /// Not all of its copies can be saved as a whole: each round of its loops is asked by itself.
    Rounds,
    /// Nothing can be made elsewhere than in a block of its own.
    Nothing,
    /// The checker of decisions about memory refused the plan.
    Refused,
    /// There is a plan for these numbers, but nothing ever asked for its places.
    Idle,
    /// These numbers were found to have no plan before.
    Known,
}

kinds! {
    InPlace "in place": "arrays built where a later copy would put them";
    Over "over": "results written over arrays that nobody needs any more";
    Layout "layout": "arrays copied into, or made in, the layout in which kernels read them";
    Memory "memory": "arrays that are not alive at the same time in the same memory";
    Fusion "fusion": "operators that become part of those that read their results";
}

#[cfg(test)]
mod tests {
    use super::DecisionKind;

    #[test]
    fn the_documentation_has_the_table() {
        let page = include_str!("../../../../docs/explain.md");
        for kind in DecisionKind::ALL {
            let row = format!("| `{}` | {} |", kind.name(), kind.meaning());
            assert!(page.contains(&row), "docs/explain.md should have this row:\n{row}");
        }
    }
}
