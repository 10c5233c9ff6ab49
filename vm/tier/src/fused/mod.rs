//! Operators of one block that run together: an array is computed where it is read, several results are made by one
//! kernel.
//!
//! - `mod.rs`: what a group is. `group.rs`: from a part of a block and the verdicts of fusion to a group.
//!   `step.rs`: one kernel of a group as a region of its own.
//!
//! A group starts where the first of its operators stands. All of its kernels run there, one after the other, so that
//! nothing is lost if one cannot, or traps: the operators then run one by one, as they stand in the code. The code in
//! between is executed as always; the operators themselves are passed by when it comes to them.
//!
//! A scatter or histogram changes its destination where that lies only as the last kernel of a group: nothing can go wrong
//! after it.
//!
//! Some groups pay for sizes like those that they were found for: with others, one of their kernels would compute again and
//! again what an operator by itself computes once. Such a group does not run then.
//!
//! Invariants: a group reads nothing that is not in a register in front of its first operator, or made by itself. An array
//! that no kernel makes is looked at by nobody: what is left of it is its shape. Decisions hold for every launch that
//! the part's guards admit.

mod group;
mod step;

pub use group::group;

use crate::Registers;
use crate::sentence::Sentence;
use galopvm_analysis::fusion::{Saving, work};
use galopvm_base::{ElemType, Scalar};
use galopvm_bytecode::RegId;
use galopvm_kir::types::scalar_value;
use galopvm_kir::{Exp, Region, VarId, VerifiedRegion};
use galopvm_lift::{Binding, Lifted};
use std::collections::HashMap;
use std::fmt;

/// How much more work, in additions, a group may be than its operators are one by one: what it saves is not all work.
const MORE_WORK: u64 = 2;

/// Operators that run together.
#[derive(Debug)]
pub struct Group {
    /// The part of the block that was looked at: what launches are checked by.
    whole: Lifted,
    /// The part after its fusions, if these do not pay for all sizes.
    for_sizes: Option<Region>,
    /// Scalars that the part computes, for sizes.
    sizes: HashMap<VarId, Exp>,
    /// Some scan runs in one loop with its reader.
    pub is_fed: bool,
    /// The kernels, in order.
    pub steps: Vec<Step>,
    /// The operators, by their numbers in the block, in order.
    pub covered: Vec<usize>,
    /// Arrays that are not made, with their shapes.
    unmade: Vec<(RegId, ElemType, Vec<Exp>)>,
    /// What was decided.
    pub lines: Vec<Line>,
}

/// A kernel of a group.
#[derive(Debug)]
pub struct Step {
    /// Its kernel, with the registers that it reads.
    pub lifted: Lifted,
    /// The registers of its results.
    pub results: Vec<RegId>,
    /// For each result the register of the array that it may be written over, if that dies with it.
    pub over: Vec<Option<RegId>>,
    /// The last operator that is part of it, by its number in the block.
    pub operator: usize,
}

/// How far groups go with scans and writes at computed places, which not every back end takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Scans {
    /// They are kernels of groups, and scans run in one loop with what reads them.
    #[default]
    Fed,
    /// They are kernels of groups.
    Alone,
    /// They are in no group.
    Out,
}

impl Scans {
    /// What is tried next where a group that was found so cannot be compiled.
    pub fn less(self, group: &Group) -> Option<Scans> {
        match self {
            Scans::Fed if group.is_fed => Some(Scans::Alone),
            Scans::Fed | Scans::Alone => Some(Scans::Out),
            Scans::Out => None,
        }
    }
}

/// What happens to an operator, with others that are spoken of by their first results, or by names of these.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Fate<R = RegId> {
    /// Its elements are computed where these read them.
    Computed(Vec<R>),
    /// It runs together with another one.
    Joined(R),
    /// Its prefixes are read by this one as they are computed.
    Fed(R),
    /// Its first axes go inside the others.
    Turned,
    /// It stays as it is.
    Kept,
}

impl<R> Fate<R> {
    /// Who reads it, or what it is computed together with.
    pub fn others(&self) -> &[R] {
        match self {
            Fate::Computed(readers) => readers,
            Fate::Joined(other) | Fate::Fed(other) => std::slice::from_ref(other),
            Fate::Turned | Fate::Kept => &[],
        }
    }

    /// The word for tools.
    pub fn word(&self) -> &'static str {
        match self {
            Fate::Computed(_) => "computed where it is read",
            Fate::Joined(_) => "joined",
            Fate::Fed(_) => "read as it is computed",
            Fate::Turned => "turned",
            Fate::Kept => "kept",
        }
    }
}

impl Fate {
    /// With names.
    pub fn named(&self, name: impl Fn(RegId) -> String) -> Fate<String> {
        match self {
            Fate::Computed(readers) => Fate::Computed(readers.iter().map(|reg| name(*reg)).collect()),
            Fate::Joined(other) => Fate::Joined(name(*other)),
            Fate::Fed(reader) => Fate::Fed(name(*reader)),
            Fate::Turned => Fate::Turned,
            Fate::Kept => Fate::Kept,
        }
    }
}

/// A decision about an operator of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// What the operator makes: its first result.
    pub made: RegId,
    /// What happens to it.
    pub fate: Fate,
    /// Why, or what speaks against a fusion.
    pub reason: Sentence,
    /// What is saved.
    pub saving: Option<Saving>,
}

impl Line {
    /// What is done, without the reason.
    pub fn what(&self) -> Sentence {
        let made = Sentence::default().register(self.made);
        match &self.fate {
            Fate::Computed(readers) => {
                let list = |list: Sentence, (k, reader): (usize, &RegId)| {
                    list.text(if k == 0 { "" } else { " and " }).register(*reader)
                };
                let list = readers.iter().enumerate().fold(made.text(" is computed where "), list);
                list.text(if readers.len() == 1 { " reads it" } else { " read it" })
            }
            Fate::Joined(other) => made.text(" and ").register(*other).text(" are computed together"),
            Fate::Fed(reader) => made.text(" is read by ").register(*reader).text(" as it is computed"),
            Fate::Turned => made.text(" is computed for all iterations of its first axes at a time"),
            Fate::Kept => made.text(" is kept"),
        }
    }

    /// Why, with what is saved.
    pub fn why(&self) -> Sentence {
        let reason = self.reason.clone();
        match self.saving {
            Some(saving) => reason.text(&format!(", {saving}")),
            None => reason,
        }
    }

    /// The bytes that are saved in all, if that is known.
    pub fn bytes(&self) -> Option<u64> {
        match self.saving? {
            Saving::Bytes(bytes) => Some(bytes),
            Saving::BytesEach(_) => None,
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what(), self.why())
    }
}

impl Group {
    /// Whether the registers are as the group's operators want them: sizes that agree, arrays that are in memory.
    pub fn admits(&self, registers: &dyn Registers) -> bool {
        let region = &self.whole.region;
        let scalar = |var| self.scalar(registers, var);
        // What is gone is not read by the group.
        let fits = |(param, binding): (&VarId, &Binding)| match binding {
            Binding::Array(reg) => registers.array_of(*reg).is_none_or(|array| {
                let shape = &region.type_of(*param).shape;
                let agrees = |(extent, size): (&Exp, i64)| region.size_with(extent, &scalar) == Some(size);
                shape.iter().zip(array.shape()).all(agrees)
            }),
            _ => true,
        };
        region.region().params.iter().zip(&self.whole.bindings).all(fits)
            && self.whole.admits(&|var| parameter(&self.whole, registers, var))
    }

    /// Whether the group pays for the sizes in the registers.
    pub fn pays(&self, registers: &dyn Registers) -> bool {
        let Some(fused) = &self.for_sizes else { return true };
        let region = self.whole.region.region();
        let scalars = || region.params.iter().map(|var| parameter(&self.whole, registers, *var));
        work(fused, scalars()) <= work(region, scalars()).saturating_mul(MORE_WORK)
    }

    /// The shapes of the arrays that are not made.
    pub fn shapes(&self, registers: &dyn Registers) -> Option<Vec<(RegId, ElemType, Vec<i64>)>> {
        let scalar = |var| self.scalar(registers, var);
        let shape = |(reg, elem, shape): &(RegId, ElemType, Vec<Exp>)| {
            let extent = |extent: &Exp| self.whole.region.size_with(extent, &scalar).map(|size| size.max(0));
            Some((*reg, *elem, shape.iter().map(extent).collect::<Option<_>>()?))
        };
        self.unmade.iter().map(shape).collect()
    }

    /// A scalar of the part in this launch.
    fn scalar(&self, registers: &dyn Registers, var: VarId) -> Option<Scalar> {
        match self.sizes.get(&var) {
            // Definitions come before uses, so this ends.
            Some(exp) => scalar_value(exp, &|inner| self.scalar(registers, inner)),
            None => parameter(&self.whole, registers, var),
        }
    }
}

/// The value of a scalar parameter.
fn parameter(lifted: &Lifted, registers: &dyn Registers, var: VarId) -> Option<Scalar> {
    let at = lifted.region.region().params.iter().position(|param| *param == var)?;
    match lifted.bindings.get(at)? {
        Binding::Scalar(reg) => Some(registers.scalar(*reg)),
        Binding::Extent { array, dim } => {
            let dim = registers.array_of(*array)?.lmad().dims.get(*dim as usize)?;
            Some(Scalar::i64(dim.size))
        }
        Binding::Array(_) => None,
    }
}

/// The scalar statements of a region's own body.
fn lets(region: &VerifiedRegion) -> HashMap<VarId, Exp> {
    let body = &region.region().body;
    let scalars = body.stms.iter().filter_map(|stm| match &stm.rhs {
        galopvm_kir::Rhs::Exps(exps) => Some(stm.pat.iter().copied().zip(exps.iter().cloned())),
        _ => None,
    });
    scalars.flatten().collect()
}
