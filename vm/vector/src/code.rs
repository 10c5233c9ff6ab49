//! What a region becomes: steps that name their operands by register.
//!
//! A register holds a value for each row of a group: a name of the region has the register of its number, and those of parts of
//! expressions and of constants come after. A step whose operands are scalars knows its loop; one with blocks inside says what they are
//! done for. Made once for a region (`translate.rs`), executed by `body.rs` and its neighbours.
//!
//! Invariants: a register is set at one place, before it is read. Constants are set before the first step and never die. A register that
//! a block sets, or that is a parameter of the block, dies at its last reading there or becomes a result: nothing outside of
//! the block reads it.

use crate::loops::dot::Runs;
use crate::loops::{Accumulate, Fold, FoldStrands, Kernel1, Kernel2, Kernel3, Prefixes};
use galopvm_base::{Bits, ElemType, ScalarOp, define_id};
use smallvec::SmallVec;

define_id!(
    /// Where a value of each row is while steps are executed.
    pub struct Reg, "r"
);

/// Some registers.
pub(crate) type Regs = SmallVec<[Reg; 2]>;

/// A region as steps.
#[derive(Debug)]
pub(crate) struct Code {
    pub body: Block,
    /// Results of the body that no step of it reads, and that are no other result as well.
    pub unread: Regs,
    /// How many registers there are.
    pub registers: usize,
    /// Those that have a value from the start.
    pub constants: Vec<(Reg, Bits)>,
}

/// Steps one after the other, and what they give.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// Set by whoever executes the block, each time anew.
    pub params: Regs,
    pub steps: Vec<Step>,
    pub results: Regs,
    /// Which results are of the block's own registers and not given a second time: they leave them.
    pub leaving: SmallVec<[bool; 2]>,
}

/// Something done for all rows.
#[derive(Debug)]
pub(crate) struct Step {
    pub work: Work,
    /// What nobody reads any more.
    pub dies: Regs,
}

/// What a step does.
#[derive(Debug)]
pub(crate) enum Work {
    /// The same value again.
    Copy { dst: Reg, from: Reg },
    /// A scalar operation on one operand.
    Unary { dst: Reg, a: Reg, op: ScalarOp, ty: ElemType, run: Kernel1 },
    /// On two, some of which may have no value.
    Binary { dst: Reg, a: Reg, b: Reg, op: ScalarOp, ty: ElemType, run: Kernel2 },
    /// On three.
    Ternary { dst: Reg, operands: [Reg; 3], op: ScalarOp, ty: ElemType, run: Kernel3 },
    /// A scalar in another type.
    Convert { dst: Reg, a: Reg, from: ElemType, to: ElemType, run: Kernel1 },
    /// An element, or a part, of an array.
    Read { dst: Reg, array: Reg, part: Part },
    /// An array with another part.
    Update { dst: Reg, array: Taken, part: Part, value: Reg },
    /// An operation on whole arrays.
    Whole { dst: Reg, work: Whole },
    /// One block for the rows where a condition holds, another one for the rest.
    Branch { given: Given, cond: Reg, then: Block, otherwise: Block },
    /// A block with counter, so many times; its parameters begin as the values, then they are its results.
    Count { given: Given, init: Regs, counter: Reg, bound: Reg, body: Block },
    /// The same while a condition over the parameters holds.
    Repeat { given: Given, init: Regs, cond: Block, body: Block },
    /// An array for each result of a block, over axes.
    Kernel(Box<Kernel>),
    /// All results of a block combined.
    Reduce(Box<Reduce>),
    /// All prefixes of this.
    Scan(Box<Scan>),
    /// Writes at places that a block computes.
    Scatter(Box<Scatter>),
}

/// What a branch, a loop or a reduction gives.
#[derive(Debug)]
pub(crate) struct Given {
    pub dsts: Regs,
    pub elems: SmallVec<[ElemType; 2]>,
}

/// An array that is to be changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub from: Reg,
    /// Nobody looks at it afterwards.
    pub ends: bool,
}

/// Which part of an array is meant.
#[derive(Debug)]
pub(crate) enum Part {
    /// An entry for each dimension from the front.
    Dims(SmallVec<[DimPart; 2]>),
    /// `offset + {(extent:stride), ..}` of the first dimension.
    Flat { offset: Reg, dims: SmallVec<[(Reg, Reg); 2]> },
}

/// Which part of a dimension is meant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DimPart {
    At(Reg),
    Slice { start: Reg, count: Reg, step: Reg },
}

/// Operations on whole arrays.
#[derive(Debug)]
pub(crate) enum Whole {
    Concat(Regs),
    Scratch { shape: Regs, elem: ElemType },
    Iota(Reg),
    Replicate { shape: Regs, value: Reg, elem: ElemType },
    Rearrange { order: Vec<usize>, array: Reg },
    Transpose(Reg),
    Reverse(Reg),
    Reshape { shape: Regs, array: Reg },
    Flatten(Reg),
    Fold { op: ScalarOp, array: Reg },
}

/// A counter and what it stays below.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AxisCode {
    pub counter: Reg,
    pub bound: Reg,
}

/// An array that is made of the results of rounds.
#[derive(Debug)]
pub(crate) struct NewArray {
    pub dst: Reg,
    pub elem: ElemType,
    /// The extents after those of the axes.
    pub extents: Regs,
}

/// A block that is done for rows of a space.
#[derive(Debug)]
pub(crate) struct Rounds {
    pub axes: SmallVec<[AxisCode; 2]>,
    pub body: Block,
    /// What the body divides counters by: the counter, the divisor. Groups of rows with one quotient read lines.
    pub divisors: Vec<(Reg, Reg)>,
    /// Rows have arrays of their own.
    pub makes_arrays: bool,
    /// There is something in rows that can be cut into groups.
    pub has_operators: bool,
}

#[derive(Debug)]
pub(crate) struct Kernel {
    pub made: SmallVec<[NewArray; 2]>,
    pub rounds: Rounds,
    /// The axis that the plan puts across lanes.
    pub lane: Option<usize>,
}

/// Combines two values of each accumulator.
#[derive(Debug)]
pub(crate) struct CombineCode {
    /// Its parameters are the accumulators, then the items.
    pub body: Block,
    pub neutral: Regs,
    pub elems: SmallVec<[ElemType; 2]>,
    /// All accumulators are scalars.
    pub is_scalar: bool,
    /// The body as one scalar operation for each accumulator, if it is that.
    pub operations: Option<SmallVec<[Operation; 2]>>,
}

/// A scalar operation that combines, and its loops.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation {
    pub op: ScalarOp,
    pub ty: ElemType,
    pub run: Kernel2,
    pub fold: Fold,
    pub strands: Option<FoldStrands>,
    pub prefixes: Prefixes,
    pub accumulate: Accumulate,
}

#[derive(Debug)]
pub(crate) struct Reduce {
    pub given: Given,
    pub rounds: Rounds,
    pub combine: CombineCode,
    pub dot: Option<Dot>,
}

/// A reduction that sums what one operation makes of elements of two rows.
#[derive(Debug)]
pub(crate) struct Dot {
    /// The type of the sum.
    pub elem: ElemType,
    /// The loops where the first, the second or both differ from row to row.
    pub runs: Runs,
    /// Gives the indices of both that are not the counter.
    pub places: Block,
    pub factors: [Factor; 2],
}

/// Elements of an array along an axis.
#[derive(Debug)]
pub(crate) struct Factor {
    pub array: Reg,
    /// For each dimension whether the index is the counter.
    pub is_counter: SmallVec<[bool; 2]>,
}

#[derive(Debug)]
pub(crate) struct Scan {
    pub made: SmallVec<[NewArray; 2]>,
    pub rounds: Rounds,
    pub combine: CombineCode,
}

#[derive(Debug)]
pub(crate) struct Scatter {
    pub dsts: Regs,
    pub arrays: SmallVec<[Taken; 2]>,
    pub rounds: Rounds,
    /// The operator of a histogram. Its neutral elements are not asked for.
    pub combine: Option<CombineCode>,
}

impl Block {
    /// Registers that the block, its steps and their blocks read.
    pub fn each_use(&self, f: &mut dyn FnMut(Reg)) {
        self.steps.iter().for_each(|step| step.work.each_use(f));
        self.results.iter().copied().for_each(f);
    }
}

impl Rounds {
    fn each_use(&self, f: &mut dyn FnMut(Reg)) {
        self.axes.iter().for_each(|axis| f(axis.bound));
        self.divisors.iter().for_each(|(_, divisor)| f(*divisor));
        self.body.each_use(f);
    }
}

impl CombineCode {
    fn each_use(&self, f: &mut dyn FnMut(Reg)) {
        self.neutral.iter().copied().for_each(&mut *f);
        self.body.each_use(f);
    }
}

impl Part {
    fn each_use(&self, f: &mut dyn FnMut(Reg)) {
        match self {
            Part::Dims(dims) => dims.iter().for_each(|dim| match dim {
                DimPart::At(at) => f(*at),
                DimPart::Slice { start, count, step } => {
                    [*start, *count, *step].into_iter().for_each(&mut *f)
                }
            }),
            Part::Flat { offset, dims } => {
                f(*offset);
                dims.iter().for_each(|(extent, stride)| [*extent, *stride].into_iter().for_each(&mut *f));
            }
        }
    }
}

impl Whole {
    fn each_use(&self, f: &mut dyn FnMut(Reg)) {
        match self {
            Whole::Concat(arrays) => arrays.iter().copied().for_each(f),
            Whole::Scratch { shape, elem: _ } => shape.iter().copied().for_each(f),
            Whole::Replicate { shape, value: other, elem: _ } | Whole::Reshape { shape, array: other } => {
                shape.iter().copied().for_each(&mut *f);
                f(*other);
            }
            Whole::Iota(reg)
            | Whole::Rearrange { order: _, array: reg }
            | Whole::Transpose(reg)
            | Whole::Reverse(reg)
            | Whole::Flatten(reg)
            | Whole::Fold { op: _, array: reg } => f(*reg),
        }
    }
}

impl Work {
    /// Registers that it reads, in its blocks as well.
    pub fn each_use(&self, f: &mut dyn FnMut(Reg)) {
        let extents = |made: &[NewArray], f: &mut dyn FnMut(Reg)| {
            made.iter().flat_map(|made| &made.extents).copied().for_each(f);
        };
        match self {
            Work::Copy { dst: _, from } => f(*from),
            Work::Unary { a, .. } | Work::Convert { a, .. } => f(*a),
            Work::Binary { a, b, .. } => [*a, *b].into_iter().for_each(f),
            Work::Ternary { operands, .. } => operands.iter().copied().for_each(f),
            Work::Read { dst: _, array, part } => {
                f(*array);
                part.each_use(f);
            }
            Work::Update { dst: _, array, part, value } => {
                f(array.from);
                f(*value);
                part.each_use(f);
            }
            Work::Whole { dst: _, work } => work.each_use(f),
            Work::Branch { given: _, cond, then, otherwise } => {
                f(*cond);
                then.each_use(f);
                otherwise.each_use(f);
            }
            Work::Count { given: _, init, counter: _, bound, body } => {
                init.iter().copied().for_each(&mut *f);
                f(*bound);
                body.each_use(f);
            }
            Work::Repeat { given: _, init, cond, body } => {
                init.iter().copied().for_each(&mut *f);
                cond.each_use(f);
                body.each_use(f);
            }
            Work::Kernel(kernel) => {
                extents(&kernel.made, f);
                kernel.rounds.each_use(f);
            }
            Work::Reduce(reduce) => {
                reduce.rounds.each_use(f);
                reduce.combine.each_use(f);
                if let Some(dot) = &reduce.dot {
                    dot.places.each_use(f);
                    dot.factors.iter().for_each(|factor| f(factor.array));
                }
            }
            Work::Scan(scan) => {
                extents(&scan.made, f);
                scan.rounds.each_use(f);
                scan.combine.each_use(f);
            }
            Work::Scatter(scatter) => {
                scatter.arrays.iter().for_each(|array| f(array.from));
                scatter.rounds.each_use(f);
                if let Some(combine) = &scatter.combine {
                    combine.each_use(f);
                }
            }
        }
    }

    /// Registers that it sets for what comes after it.
    pub fn sets(&self) -> Regs {
        match self {
            Work::Copy { dst, .. }
            | Work::Unary { dst, .. }
            | Work::Binary { dst, .. }
            | Work::Ternary { dst, .. }
            | Work::Convert { dst, .. }
            | Work::Read { dst, .. }
            | Work::Update { dst, .. }
            | Work::Whole { dst, .. } => Regs::from_slice(&[*dst]),
            Work::Branch { given, .. } | Work::Count { given, .. } | Work::Repeat { given, .. } => {
                given.dsts.clone()
            }
            Work::Reduce(reduce) => reduce.given.dsts.clone(),
            Work::Kernel(kernel) => kernel.made.iter().map(|made| made.dst).collect(),
            Work::Scan(scan) => scan.made.iter().map(|made| made.dst).collect(),
            Work::Scatter(scatter) => scatter.dsts.clone(),
        }
    }
}
