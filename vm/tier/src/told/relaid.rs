//! What became of the wishes of operators for arrays in other layouts.

use crate::profile::SiteName;
use galopvm_analysis::layout::Verdict;
use galopvm_bytecode::RegId;

/// An operator that is about to run would like an array to lie otherwise.
#[derive(Clone, Debug)]
pub struct RelaidSeen<'a> {
    /// The operator.
    pub site: SiteName,
    /// The register of the array.
    pub register: RegId,
    /// The layout: its dimensions, outermost in memory first.
    pub order: &'a [usize],
    /// What became of it.
    pub answer: RelaidAnswer,
}

/// What became of such a wish.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RelaidAnswer {
    /// A copy was made.
    Made,
    /// A copy was there.
    Kept,
    /// A copy would not pay, for so many expected reads.
    No(Verdict),
    /// Copies were measured not to help here, or are being compared.
    Measured,
    /// There is no memory for a copy.
    NoMemory,
    /// The copies that pay are not worth the lane that they need.
    Lane,
    /// What is saved is little beside all that the interpreter does.
    Little,
}
