//! What was seen: the numbers behind the parameters of a region at one launch.

use galopvm_base::Scalar;
use galopvm_lmad::Lmad;

/// The value of one parameter, as far as decisions may look at it.
#[derive(Clone, PartialEq, Debug)]
pub enum ObservedParam {
    /// A scalar.
    Scalar(Scalar),
    /// An array: never its contents.
    Array {
        /// How it lies in its block.
        lmad: Lmad,
        /// Which block; equal numbers are the same block.
        block: u32,
        /// Elements the block holds.
        block_elements: i64,
        /// How many hold the block.
        references: u32,
    },
}

/// One launch as seen by decisions; `params[k]` belongs to `region.params[k]`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Observed {
    /// In the order of the region's parameters.
    pub params: Vec<ObservedParam>,
}
