//! The IR itself.
//!
//! A [`Region`] is what is planned and compiled together: parameters, statements, results. Most regions hold a
//! single `kernel` or `red` statement; a recorded trace holds several. The IR is structured (no jumps) and in
//! single assignment: statements bind names to the results of expressions, bodies end with their results.
//!
//! Terms: an *axis* is an iteration variable with its bound, `0 <= var < bound`. `Kernel` axes are parallel,
//! `Reduce` axes are combined with an associative operator, `Scan` likewise with all prefixes kept, `Loop` axes
//! are sequential, as are those of `Scatter`, which writes at computed places. All of them may nest in each other.
//!
//! Sizes, strides and indices are `i64`. Scalar operations are rows of the table in galopvm-base and mean
//! exactly what `galopvm_base::scalar::eval` says.

use crate::name::Name;
use crate::text::as_name;
use galopvm_base::{ElemType, IdVec, Scalar, ScalarOp, define_id};
use std::collections::BTreeSet;

define_id!(
    /// A name of a region: a parameter, an iteration variable, a scalar or an array.
    pub struct VarId, "v"
);

define_id!(
    /// One read access of a region, numbered in program order; plans and analyses speak of reads by these.
    pub struct ReadId, "read"
);

/// The type of a value: scalars have an empty shape.
#[derive(Clone, PartialEq, Debug)]
pub struct Type {
    /// Element type.
    pub elem: ElemType,
    /// Extent of each dimension, outermost first; over `i64` parameters, constants and enclosing names.
    pub shape: Vec<Exp>,
}

impl Type {
    /// The type of a scalar.
    pub fn scalar(elem: ElemType) -> Type {
        Type { elem, shape: Vec::new() }
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// True for a scalar.
    pub fn is_scalar(&self) -> bool {
        self.shape.is_empty()
    }
}

/// What a region knows of a name.
#[derive(Clone, PartialEq, Debug)]
pub struct Var {
    /// The name in text form; unique in the region.
    pub name: Name,
    /// Its type. Texts written by hand may leave it out; verified regions have all types.
    pub ty: Option<Type>,
}

/// A unit of planning and compilation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Region {
    /// A name for people.
    pub name: String,
    /// Every name, by id.
    pub vars: IdVec<VarId, Var>,
    /// What is bound at launch: sizes and other scalars first, then arrays. The shape of an array parameter
    /// names size parameters or constants; a launch checks them against the views it is given.
    pub params: Vec<VarId>,
    /// The statements, and the results of the region.
    pub body: Body,
    /// Number of read accesses; ids are below it.
    pub reads: u32,
}

/// Statements and the values that come out at the end.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Body {
    /// In order.
    pub stms: Vec<Stm>,
    /// Any number of values.
    pub results: Vec<Exp>,
}

/// One binding.
#[derive(Clone, PartialEq, Debug)]
pub struct Stm {
    /// The names bound; as many as the right side has results.
    pub pat: Vec<VarId>,
    /// The right side.
    pub rhs: Rhs,
}

/// An iteration variable and its bound: `var < bound`.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    /// The variable, an `i64`.
    pub var: VarId,
    /// The number of iterations; negative counts as 0.
    pub bound: Exp,
}

/// An associative operator with its neutral element: `by (acc = neutral, ..) (item, ..) do body`.
#[derive(Clone, PartialEq, Debug)]
pub struct Combine {
    /// Left operand names.
    pub acc: Vec<VarId>,
    /// Neutral elements, one for each.
    pub neutral: Vec<Exp>,
    /// Right operand names.
    pub item: Vec<VarId>,
    /// Computes the combination.
    pub body: Body,
}

/// The right side of a binding.
#[derive(Clone, PartialEq, Debug)]
pub enum Rhs {
    /// Plain expressions, one for each name.
    Exps(Vec<Exp>),
    /// `kernel i < n, j < m do body`: parallel; each result becomes an array over the axes.
    Kernel {
        /// Outermost first; at least one.
        axes: Vec<Axis>,
        /// Computes one element of each result.
        body: Body,
    },
    /// `red j < m do body by ..`: the combination of all results of `body`, neutral if there are none.
    Reduce {
        /// Outermost first; at least one.
        axes: Vec<Axis>,
        /// Computes the values to combine.
        body: Body,
        /// The operator.
        combine: Combine,
    },
    /// `scan j < m do body by ..`: all inclusive prefixes; each result is an array over the axis.
    Scan {
        /// The axis.
        axis: Axis,
        /// Computes the values to combine.
        body: Body,
        /// The operator.
        combine: Combine,
    },
    /// `loop (x, y) = (a, b) for j < n do body`: sequential.
    For {
        /// Carried names; may be empty in texts written by hand.
        carried: Vec<VarId>,
        /// Their initial values.
        init: Vec<Exp>,
        /// The counter.
        axis: Axis,
        /// Computes the next values.
        body: Body,
    },
    /// `loop (x, y) = (a, b) while cond do body`.
    While {
        /// Carried names.
        carried: Vec<VarId>,
        /// Their initial values.
        init: Vec<Exp>,
        /// Asked before each iteration; over carried and outer names.
        cond: Exp,
        /// Computes the next values.
        body: Body,
    },
    /// `if cond then body else body`; only the taken side is executed.
    If {
        /// A bool.
        cond: Exp,
        /// Taken when true.
        then: Body,
        /// Taken when false.
        otherwise: Body,
    },
    /// `A with [index] = value`: a new array, equal to `A` but at the index; in place when nobody can see it.
    Update {
        /// The old array.
        array: VarId,
        /// Where.
        index: Index,
        /// A scalar, or an array with the shape of the slice.
        value: Exp,
    },
    /// `manifest((1, 0), A)`: a copy of `A` with its dimensions stored in this order, outermost first.
    Manifest {
        /// Dimension numbers, outermost in memory first.
        perm: Vec<usize>,
        /// The array.
        array: VarId,
    },
    /// `scatter A i < n do body`: a new array, equal to `A` but at the places that the body gives: its results are an
    /// index for each dimension of `A`, then the value for each of the arrays, which have one shape. With an operator,
    /// `hist A i < n do body by ..`, the value is combined with what is there, which is the left operand. An index
    /// outside is passed by. Iterations come in order, so the last write of a place stays. In place as an update.
    Scatter {
        /// The old arrays, one for each result.
        arrays: Vec<VarId>,
        /// Outermost first; at least one.
        axes: Vec<Axis>,
        /// Computes where, and what. It sees the old arrays.
        body: Body,
        /// The operator of `hist`.
        combine: Option<Combine>,
    },
    /// An operation on whole arrays.
    Array(ArrayOp),
}

/// Operations on whole arrays, as the case files write them. An operand that is an array is a name or a slice.
#[derive(Clone, PartialEq, Debug)]
pub enum ArrayOp {
    /// `concat A B ..`
    Concat {
        /// The array whose rows come first.
        first: Exp,
        /// The others, in order.
        rest: Vec<Exp>,
    },
    /// `copy A`
    Copy(Exp),
    /// `scratch [n] f32`: an array of unspecified values.
    Scratch {
        /// Its extents.
        shape: Vec<Exp>,
        /// Its element type.
        elem: ElemType,
    },
    /// `iota [n]`: the numbers below an extent.
    Iota(Exp),
    /// `replicate [n] x`
    Replicate {
        /// The extents in front of those of the value.
        shape: Vec<Exp>,
        /// A scalar or an array.
        value: Exp,
    },
    /// `transpose A`, ..: the elements of an array in another order or shape.
    View {
        /// Which ones are where.
        change: ViewChange,
        /// The array.
        array: Exp,
    },
    /// `call f(A, B) [n][m]`: something the region does not look into.
    Call {
        /// Its name.
        function: String,
        /// What it is given.
        args: Vec<Exp>,
        /// The extents of what it gives.
        shape: Vec<Exp>,
    },
    /// `reduce + A`: combines along the first dimension with a scalar operation.
    Reduce {
        /// The operation.
        op: ScalarOp,
        /// The array.
        array: Exp,
    },
}

/// How an array is seen otherwise.
#[derive(Clone, PartialEq, Debug)]
pub enum ViewChange {
    /// `transpose A`: swaps the first two dimensions.
    Transpose,
    /// `rearrange (1, 0) A`: which dimension of the array each one of the view is.
    Rearrange(Vec<usize>),
    /// `reverse A`: reverses the first dimension.
    Reverse,
    /// `reshape [n][m] A`: the same elements in row-major order under other extents.
    Reshape(Vec<Exp>),
    /// `flatten A`: joins the first two dimensions.
    Flatten,
}

impl ViewChange {
    /// Which dimension of an array of this rank each one of the view is, if the change is an exchange of dimensions.
    pub fn permutation(&self, rank: usize) -> Option<Vec<usize>> {
        match self {
            ViewChange::Transpose if rank >= 2 => {
                let mut perm: Vec<usize> = (0..rank).collect();
                perm.swap(0, 1);
                Some(perm)
            }
            ViewChange::Rearrange(perm) => Some(perm.clone()),
            ViewChange::Transpose | ViewChange::Reverse | ViewChange::Reshape(_) | ViewChange::Flatten => {
                None
            }
        }
    }

    /// True for a change of the shape, which not every view can express.
    pub fn is_reshape(&self) -> bool {
        matches!(self, ViewChange::Reshape(_) | ViewChange::Flatten)
    }
}

impl ArrayOp {
    /// The word of each operation in text form.
    pub const WORDS: &'static [&'static str] = &[
        "concat",
        "copy",
        "scratch",
        "iota",
        "replicate",
        "transpose",
        "rearrange",
        "reshape",
        "flatten",
        "reverse",
        "call",
        "reduce",
    ];

    /// The word of this one.
    pub fn word(&self) -> &'static str {
        match self {
            ArrayOp::Concat { .. } => "concat",
            ArrayOp::Copy(_) => "copy",
            ArrayOp::Scratch { .. } => "scratch",
            ArrayOp::Iota(_) => "iota",
            ArrayOp::Replicate { .. } => "replicate",
            ArrayOp::View { change, .. } => match change {
                ViewChange::Transpose => "transpose",
                ViewChange::Rearrange(_) => "rearrange",
                ViewChange::Reverse => "reverse",
                ViewChange::Reshape(_) => "reshape",
                ViewChange::Flatten => "flatten",
            },
            ArrayOp::Call { .. } => "call",
            ArrayOp::Reduce { .. } => "reduce",
        }
    }
}

/// An expression without statements. Everything is a scalar, except array names and reads of slices.
#[derive(Clone, PartialEq, Debug)]
pub enum Exp {
    /// A constant. Integer constants without suffix in text are `i64`, unless the other operand says otherwise.
    Const(Scalar),
    /// A name.
    Var(VarId),
    /// A row of the scalar-operation table, the type that it works on, and its operands: all of that type, but for the
    /// bool in front of a `select`. In text the type follows from the operands.
    Op(ScalarOp, ElemType, Vec<Exp>),
    /// Conversion to a type, `to_f32(x)`.
    Convert(ElemType, Box<Exp>),
    /// `A[index]`: an element, or a view of `A` if the index leaves dimensions. Outside the array: a trap.
    Read(Read),
    /// A function the IR does not know (`f(x)`, `sext(j)`); texts written by hand only, verified regions have none.
    Opaque(String, Vec<Exp>),
}

impl Exp {
    /// An `i64` constant.
    pub fn int(value: i64) -> Exp {
        Exp::Const(Scalar::i64(value))
    }
}

/// A read access.
#[derive(Clone, PartialEq, Debug)]
pub struct Read {
    /// Its number.
    pub id: ReadId,
    /// The array.
    pub array: VarId,
    /// Where.
    pub index: Index,
}

/// Where an access goes.
#[derive(Clone, PartialEq, Debug)]
pub enum Index {
    /// `[i, a :+ n * s]`, one entry per dimension from the front; trailing dimensions may be left whole.
    Dims(Vec<DimIndex>),
    /// `[[o + {(n:s),(m:t)}]]`, an LMAD slice over the flat first dimension.
    Lmad {
        /// Offset.
        offset: Box<Exp>,
        /// (extent, stride) per dimension.
        dims: Vec<(Exp, Exp)>,
    },
}

/// The index of one dimension.
#[derive(Clone, PartialEq, Debug)]
pub enum DimIndex {
    /// A single place.
    At(Exp),
    /// `start :+ count * step`
    Slice {
        /// First place.
        start: Exp,
        /// Number of places.
        count: Exp,
        /// Distance of neighbours.
        step: Exp,
    },
}

impl Combine {
    /// The operator as one scalar operation per component, if that is what it is: `acc_k op item_k`.
    pub fn scalar_ops(&self) -> Option<Vec<ScalarOp>> {
        if !self.body.stms.is_empty() {
            return None;
        }
        let component = |(k, result): (usize, &Exp)| match result {
            Exp::Op(op, _, args) if args.len() == 2 => {
                let forward = args[0] == Exp::Var(self.acc[k]) && args[1] == Exp::Var(self.item[k]);
                let backward = args[1] == Exp::Var(self.acc[k]) && args[0] == Exp::Var(self.item[k]);
                (op.info().associative && (forward || backward && op.info().commutative)).then_some(*op)
            }
            _ => None,
        };
        self.body.results.iter().enumerate().map(component).collect()
    }
}

impl Region {
    /// The name of a variable.
    pub fn name_of(&self, var: VarId) -> &str {
        &self.vars[var].name
    }

    /// A new name close to `name`: signs and words of the text form are changed, a number is added if it is taken.
    pub fn fresh(&mut self, name: &str, ty: Option<Type>) -> VarId {
        let name = as_name(name);
        // The numbers of the names that begin like this one, found in one go.
        let mut taken = BTreeSet::new();
        let mut is_taken = false;
        for rest in self.vars.iter().filter_map(|var| var.name.strip_prefix(name.as_str())) {
            is_taken |= rest.is_empty();
            let number = rest.strip_prefix('_').and_then(|number| number.parse::<u32>().ok());
            taken.extend(number.filter(|number| rest[1..] == number.to_string()));
        }
        let unique = match is_taken {
            true => format!("{name}_{}", (2..).find(|number| !taken.contains(number)).unwrap_or(u32::MAX)),
            false => name,
        };
        self.vars.push(Var { name: unique.into(), ty })
    }

    /// A new read access of `array`.
    pub fn read(&mut self, array: VarId, index: Vec<Exp>) -> Exp {
        let id = ReadId(self.reads);
        self.reads += 1;
        Exp::Read(Read { id, array, index: Index::Dims(index.into_iter().map(DimIndex::At).collect()) })
    }
}
