//! Lane programs: the code of an operator's block, executed for many rows in lock step.
//!
//! A *number* is the same for all rows; a *lane register* has a value for each row, side by side. An array is a view in
//! numbers: base, offset, extents and strides, and how far apart the rows' own arrays lie.

use crate::interpret::machine::{Function1, Function2};
use galopvm_base::{Bits, ElemType, ScalarOp};
use galopvm_bytecode::RegId;
use galopvm_vector::loops::{Kernel1, Kernel2, Kernel3};
use smallvec::SmallVec;

use super::dot::Dot;

/// The number of a number.
pub(super) type Number = u32;

/// The number of a lane register.
pub(super) type Lane = u32;

/// A scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Value {
    /// The same for all rows.
    One(Number),
    /// One for each row.
    Many(Lane),
}

/// Where an array of the next row lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Across {
    /// It is the same array.
    Same,
    /// So many places further.
    Stride(Number),
    /// Each row has its own distance.
    Each(Lane),
}

/// An array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct View {
    pub(super) base: Number,
    pub(super) offset: Number,
    pub(super) across: Across,
    /// Extents and strides.
    pub(super) dims: SmallVec<[(Number, Number); 2]>,
    pub(super) elem: ElemType,
    /// Whose memory it is: the base that it had first.
    pub(super) owner: usize,
    /// Whether it may name a place twice.
    pub(super) overlaps: bool,
}

impl View {
    pub(super) fn width(&self) -> usize {
        self.elem.bytes()
    }
}

/// A step.
#[derive(Debug)]
pub(super) enum Step {
    /// Operations on numbers.
    One1 {
        run: Function1,
        dst: Number,
        a: Number,
    },
    One2 {
        run: Function2,
        dst: Number,
        a: Number,
        b: Number,
    },
    One3 {
        op: ScalarOp,
        ty: ElemType,
        dst: Number,
        args: [Number; 3],
    },
    Move {
        dst: Number,
        a: Number,
    },
    /// Operations on lane registers.
    Many1 {
        run: Kernel1,
        dst: Lane,
        a: Lane,
    },
    Many2 {
        run: Kernel2,
        dst: Lane,
        a: Lane,
        b: Lane,
        op: ScalarOp,
        ty: ElemType,
        mask: Option<Lane>,
    },
    Many3 {
        run: Kernel3,
        dst: Lane,
        a: Lane,
        b: Lane,
        c: Lane,
    },
    Splat {
        dst: Lane,
        a: Number,
    },
    Copy {
        dst: Lane,
        a: Lane,
    },
    /// Exchanges two registers of the same width.
    Swap {
        a: Lane,
        b: Lane,
    },
    /// The rows of a mask for which a condition holds, or does not.
    Narrow {
        dst: Lane,
        outer: Option<Lane>,
        cond: Lane,
        holds: bool,
    },
    /// An index must be inside.
    Inside {
        index: Number,
        size: Number,
    },
    /// `dst` becomes `offset + index * stride`.
    Advance {
        dst: Number,
        offset: Number,
        index: Number,
        stride: Number,
    },
    /// The distance of each row, with an index of its own added that must be inside.
    AdvanceEach {
        dst: Lane,
        from: Across,
        index: Lane,
        size: Number,
        stride: Number,
        mask: Option<Lane>,
    },
    Load {
        dst: Value,
        base: Number,
        offset: Number,
        across: Across,
        width: usize,
    },
    Store {
        base: Number,
        offset: Number,
        across: Across,
        width: usize,
        value: Value,
        mask: Option<Lane>,
    },
    /// A condition must hold.
    Check {
        cond: Value,
        mask: Option<Lane>,
    },
    /// There is no result.
    Fail,
    /// An operator's number of turns must be the extents, and positive where the shape of a row has to be seen.
    Width {
        width: Number,
        extents: Vec<Number>,
        least: i64,
    },
    Loop {
        counter: Number,
        bound: Number,
        cost: u64,
        steps: Vec<Step>,
    },
    While {
        test: Vec<Step>,
        answer: Number,
        cost: u64,
        steps: Vec<Step>,
    },
    If {
        cond: Number,
        then: Vec<Step>,
        otherwise: Vec<Step>,
    },
    /// Steps that are left out if they count for no row.
    Any {
        mask: Lane,
        steps: Vec<Step>,
    },
    /// A reduction of two rows.
    Dot(Box<Dot>),
    /// A fresh array of these extents.
    Reserve {
        to: View,
        sizes: SmallVec<[Number; 2]>,
    },
    /// A fresh array with the elements of another.
    Materialize {
        from: View,
        to: View,
    },
    /// The same for some rows only, if the array is there.
    Join {
        from: View,
        to: View,
        mask: Lane,
        made: Number,
    },
    /// Row `index` of `width`; the first one makes the array.
    PutRow {
        from: View,
        to: View,
        index: Number,
        width: Number,
    },
    /// Elements into places of a view of the same shape.
    Assign {
        from: View,
        to: View,
        mask: Option<Lane>,
    },
    Fill {
        to: View,
        count: Number,
        value: Value,
    },
    Iota {
        to: View,
        count: Number,
        start: Number,
        step: Number,
    },
    Rotate {
        from: View,
        to: View,
        dim: usize,
        amount: Number,
    },
    Concat {
        parts: Vec<View>,
        to: View,
        dim: usize,
    },
    /// Views: what they need is put into the numbers of the second.
    Range {
        from: Part,
        to: Part,
        start: Option<Number>,
        end: Option<Number>,
        step: Option<Number>,
    },
    Reverse {
        from: Part,
        to: Part,
    },
    Reshape {
        from: View,
        to: View,
        shape: Vec<Number>,
        spare: usize,
    },
    Flat {
        from: View,
        to: View,
        offset: Number,
        sizes: Vec<Number>,
        strides: Vec<Number>,
    },
}

/// An offset and one dimension.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) offset: Number,
    pub(super) size: Number,
    pub(super) stride: Number,
}

/// An array that the operator goes over.
#[derive(Debug)]
pub(super) struct Param {
    /// Its row.
    pub(super) row: View,
    /// The base that it is brought to before the block starts, if its elements are read again and again.
    pub(super) packed: Option<usize>,
}

/// What a lane program is worth, by how often: the product of numbers that are known at the start.
#[derive(Debug)]
pub(super) struct Weight {
    pub(super) times: Vec<Option<Number>>,
    pub(super) gain: f64,
}

/// Memory that the program takes for each row, in elements: the product of the extents.
#[derive(Debug)]
pub(super) struct Need {
    pub(super) sizes: Option<SmallVec<[Number; 2]>>,
    pub(super) bytes: usize,
}

/// A result of the block.
#[derive(Debug)]
pub(super) enum Result {
    Lane(Lane, ElemType),
    Array(View),
}

/// A lane program.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) constants: Vec<(Number, Bits)>,
    /// Scalars from outside.
    pub(super) scalars: Vec<(RegId, Number)>,
    /// Arrays from outside.
    pub(super) arrays: Vec<(RegId, View)>,
    /// Arrays that the operator goes over.
    pub(super) params: Vec<Param>,
    /// The number of numbers, of bases, and the widths of lane registers.
    pub(super) numbers: usize,
    pub(super) bases: usize,
    pub(super) lanes: Vec<usize>,
    /// What is done once.
    pub(super) once: Vec<Step>,
    /// What is done for every group of rows.
    pub(super) steps: Vec<Step>,
    pub(super) results: Vec<Result>,
    /// What the block costs, without loops in it.
    pub(super) cost: u64,
    pub(super) weights: Vec<Weight>,
    pub(super) needs: Vec<Need>,
    /// The number that is the distance between lanes of arrays of the program's own: as many as there are lanes.
    pub(super) capacity: Number,
}
