//! Column programs: the scalar code of an operator's block, a step for all elements of a block of rows at a time.

use galopvm_base::{Bits, ElemType, ScalarOp};
use galopvm_bytecode::RegId;
use galopvm_vector::loops::{Kernel1, Kernel2, Kernel3};
use smallvec::SmallVec;

/// The number of a column.
pub(super) type Column = u16;

/// The number of a value that is the same for all rows.
pub(super) type Number = u16;

/// Where a column is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// In a buffer, which other columns use at other times.
    Buffer(u16),
    /// What an array has for these rows.
    Input(u16),
    /// Where the rows of a result go.
    Output(u16),
}

/// An array that is read at indices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Gathered {
    /// A register from outside.
    Free(RegId),
    /// Row by row an array that the operator goes over.
    Rows(u16),
}

/// A number that grows from row to row: `start + row * step`, wrapping.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Line {
    pub(super) start: Number,
    pub(super) step: Number,
}

/// A column that is there before the first step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Input {
    /// The rows of an array that the operator goes over.
    Rows(u16),
    /// The elements of an array at these indices.
    View { array: Gathered, index: SmallVec<[Line; 2]> },
}

/// Something computed once for all rows.
#[derive(Debug)]
pub(super) enum Once {
    /// A scalar operation.
    Op { op: ScalarOp, ty: ElemType, dst: Number, args: SmallVec<[Number; 3]> },
    /// A conversion.
    Convert { from: ElemType, to: ElemType, dst: Number, a: Number },
    /// An extent.
    Extent { dst: Number, array: Gathered, dim: u32 },
    /// An element of an array from outside.
    Element { dst: Number, array: RegId, index: SmallVec<[Number; 2]> },
}

/// A step for all rows of a block.
#[derive(Debug)]
pub(super) enum Step {
    /// One operand.
    One { run: Kernel1, dst: Column, a: Column },
    /// Two operands; some may have no value.
    Two { run: Kernel2, dst: Column, a: Column, b: Column, traps: bool },
    /// Three operands.
    Three { run: Kernel3, dst: Column, a: Column, b: Column, c: Column },
    /// The same column again.
    Copy { dst: Column, a: Column },
    /// Elements at indices, which must be inside where the mask is set. `places` is a column for the work.
    Gather {
        dst: Column,
        places: Column,
        array: Gathered,
        index: SmallVec<[Column; 2]>,
        mask: Option<Column>,
    },
    /// The numbers of a line.
    Count { dst: Column, line: Line },
    /// The indices of a view must be inside where the mask is set.
    Inside { input: u16, mask: Option<Column> },
    /// A condition that must hold where the mask is set.
    Check { cond: Column, mask: Option<Column> },
}

impl Step {
    /// The columns that it reads.
    pub(super) fn operands(&self) -> SmallVec<[Column; 4]> {
        match self {
            Step::One { a, .. } | Step::Copy { a, .. } => SmallVec::from_slice(&[*a]),
            Step::Two { a, b, .. } => SmallVec::from_slice(&[*a, *b]),
            Step::Three { a, b, c, .. } => SmallVec::from_slice(&[*a, *b, *c]),
            Step::Gather { index, mask, .. } => index.iter().copied().chain(*mask).collect(),
            Step::Count { .. } => SmallVec::new(),
            Step::Inside { mask, .. } => mask.iter().copied().collect(),
            Step::Check { cond, mask } => std::iter::once(*cond).chain(*mask).collect(),
        }
    }

    /// The columns that it writes.
    pub(super) fn targets(&self) -> SmallVec<[Column; 2]> {
        match self {
            Step::One { dst, .. }
            | Step::Two { dst, .. }
            | Step::Three { dst, .. }
            | Step::Count { dst, .. }
            | Step::Copy { dst, .. } => SmallVec::from_slice(&[*dst]),
            Step::Gather { dst, places, .. } => SmallVec::from_slice(&[*places, *dst]),
            Step::Inside { .. } | Step::Check { .. } => SmallVec::new(),
        }
    }
}

/// A column program.
#[derive(Debug, Default)]
pub(super) struct Program {
    /// Scalars from outside.
    pub(super) free: Vec<(RegId, Number)>,
    pub(super) constants: Vec<(Number, Bits)>,
    /// The row of the whole operator that is row 0 here, if that is of account.
    pub(super) first: Option<Number>,
    pub(super) once: Vec<Once>,
    /// How many numbers there are.
    pub(super) numbers: usize,
    /// Numbers that are wanted as columns.
    pub(super) splats: Vec<(Number, Column)>,
    pub(super) steps: Vec<Step>,
    /// For each column the bytes of an element, and where it is.
    pub(super) widths: Vec<usize>,
    pub(super) places: Vec<Place>,
    pub(super) buffers: usize,
    /// Columns that are there before the first step.
    pub(super) inputs: Vec<Input>,
    /// The column of each result.
    pub(super) results: Vec<Column>,
}

impl Program {
    /// Whether it looks at an array that the operator goes over.
    pub(super) fn reads(&self, array: u16) -> bool {
        let of_rows = |gathered: &Gathered| *gathered == Gathered::Rows(array);
        let input = |input: &Input| match input {
            Input::Rows(k) => *k == array,
            Input::View { array, .. } => of_rows(array),
        };
        let step = |step: &Step| matches!(step, Step::Gather { array, .. } if of_rows(array));
        self.inputs.iter().any(input) || self.steps.iter().any(step)
    }
}
