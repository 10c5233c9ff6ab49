//! Core: the program as first-order, monomorphic code over scalars and regular arrays.
//!
//! Invariants:
//! - Every variable of a function is defined exactly once: as a parameter, a block parameter, or by one statement.
//! - Operands are atoms; tuples are gone (each component is a value of its own), functions are gone.
//! - A block sees what encloses it.

use galopvm_base::{ElemType, IdVec, Scalar, ScalarOp, Span, define_id};
use galopvm_bytecode::{Entry, Form, FuncId, ValueType};

define_id!(
    /// A variable of a function.
    pub struct Var, "v"
);

/// An operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Atom {
    /// A constant.
    Const(Scalar),
    /// A variable.
    Var(Var),
}

impl Atom {
    /// An i64 constant.
    pub fn i64(value: i64) -> Atom {
        Atom::Const(Scalar::i64(value))
    }

    /// A truth value.
    pub fn bool(value: bool) -> Atom {
        Atom::Const(Scalar::bool(value))
    }

    /// The constant, if it is one.
    pub fn constant(self) -> Option<Scalar> {
        match self {
            Atom::Const(scalar) => Some(scalar),
            Atom::Var(_) => None,
        }
    }
}

/// An operand that may be changed.
pub enum AtomMut<'o> {
    /// Any operand.
    Atom(&'o mut Atom),
    /// One that must be a variable.
    Var(&'o mut Var),
}

/// Where a statement comes from; never part of a comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin {
    /// Its place.
    pub span: Option<Span>,
    /// The call that was expanded there: an index into [`Program::expansions`].
    pub inside: Option<u32>,
}

impl PartialEq for Origin {
    fn eq(&self, _: &Origin) -> bool {
        true
    }
}

/// A statement: defines variables.
#[derive(Clone, PartialEq, Debug)]
pub struct Stm {
    /// What it defines.
    pub defs: Vec<Var>,
    /// How.
    pub op: Op,
    /// Where it comes from.
    pub origin: Origin,
}

/// Statements and the values they lead to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Block {
    /// Values from outside.
    pub params: Vec<Var>,
    /// Statements in order.
    pub stms: Vec<Stm>,
    /// The block's values.
    pub results: Vec<Atom>,
}

/// One dimension of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SliceDim {
    /// One index.
    At(Atom),
    /// `start:end:step` with Futhark's defaults.
    Range(Option<Atom>, Option<Atom>, Option<Atom>),
}

/// The forms of a statement. They correspond to the bytecode's instructions, whose table says what they mean.
#[derive(Clone, PartialEq, Debug)]
#[allow(missing_docs, reason = "described by the opcode table")]
pub enum Op {
    Scalar(ScalarOp, ElemType, Vec<Atom>),
    Convert(ElemType, ElemType, Atom),
    If(Atom, Block, Block),
    For { bound: Atom, init: Vec<Atom>, body: Block },
    While { init: Vec<Atom>, cond: Block, body: Block },
    Call(FuncId, Vec<Atom>),
    Assert(Atom, String, Vec<Atom>),
    Fail(String, Vec<Atom>),
    Trace { label: String, form: Form, stops: bool, values: Vec<Atom> },
    Param(String),
    Dim(Var, u32),
    Index(Var, Vec<Atom>),
    Slice(Var, Vec<SliceDim>),
    Update(Var, Vec<SliceDim>, Atom),
    Permute(Var, Vec<u32>),
    Reverse(Var, u32),
    Reshape(Var, Vec<Atom>),
    Concat(Vec<Var>, u32),
    Replicate(Atom, Atom),
    Iota { ty: ElemType, count: Atom, start: Atom, step: Atom },
    Array(ElemType, u32, Vec<Atom>),
    Copy(Var),
    Manifest(Var),
    Rotate(Var, u32, Atom),
    Equal(Var, Var),
    FlatIndex { array: Var, offset: Atom, sizes: Vec<Atom>, strides: Vec<Atom> },
    FlatUpdate { array: Var, offset: Atom, strides: Vec<Atom>, value: Var },
    Map { width: Atom, arrays: Vec<Var>, body: Block },
    Reduce { width: Atom, neutral: Vec<Atom>, arrays: Vec<Var>, body: Block },
    Scan { width: Atom, neutral: Vec<Atom>, arrays: Vec<Var>, body: Block },
    Redomap { width: Atom, neutral: Vec<Atom>, arrays: Vec<Var>, map: Block, op: Block },
    Scatter { width: Atom, dests: Vec<Var>, index: Vec<Var>, values: Vec<Var> },
    Hist { width: Atom, dests: Vec<Var>, neutral: Vec<Atom>, index: Vec<Var>, values: Vec<Var>, op: Block },
    Filter { width: Atom, arrays: Vec<Var>, body: Block },
    Partition { classes: u32, width: Atom, arrays: Vec<Var>, body: Block },
    Stream { width: Atom, accs: Vec<Var>, arrays: Vec<Var>, body: Block },
    AccWrite { accs: Vec<Var>, index: Vec<Atom>, values: Vec<Atom>, op: Block },
}

/// A function.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Fun {
    /// Its name in the source.
    pub name: String,
    /// The types of its variables.
    pub vars: IdVec<Var, ValueType>,
    /// The types of its results.
    pub results: Vec<ValueType>,
    /// Parameters (the block's own), statements, results.
    pub body: Block,
}

/// A program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// Functions.
    pub funs: IdVec<FuncId, Fun>,
    /// Entry points.
    pub entries: Vec<Entry>,
    /// Calls that were expanded; those inside of others come after them.
    pub expansions: Expansions,
}

/// The calls in whose place the callees' statements stand; never part of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Expansions(pub Vec<Origin>);

impl PartialEq for Expansions {
    fn eq(&self, _: &Expansions) -> bool {
        true
    }
}

impl Op {
    /// Calls `see` with every operand outside of blocks.
    pub fn atoms(&self, see: &mut dyn FnMut(Atom)) {
        let dims = |dims: &[SliceDim], see: &mut dyn FnMut(Atom)| {
            for dim in dims {
                match dim {
                    SliceDim::At(a) => see(*a),
                    SliceDim::Range(a, b, c) => [a, b, c].into_iter().flatten().for_each(|a| see(*a)),
                }
            }
        };
        match self {
            Op::Scalar(_, _, args) | Op::Call(_, args) | Op::Array(_, _, args) | Op::Fail(_, args) => {
                args.iter().for_each(|a| see(*a))
            }
            Op::Trace { values, .. } => values.iter().for_each(|a| see(*a)),
            Op::Param(_) => {}
            Op::Convert(_, _, a) | Op::If(a, ..) => see(*a),
            Op::For { bound, init, .. } => {
                see(*bound);
                init.iter().for_each(|a| see(*a));
            }
            Op::While { init, .. } => init.iter().for_each(|a| see(*a)),
            Op::Assert(a, _, args) => {
                see(*a);
                args.iter().for_each(|a| see(*a));
            }
            Op::Dim(v, _) | Op::Permute(v, _) | Op::Reverse(v, _) | Op::Copy(v) | Op::Manifest(v) => {
                see(Atom::Var(*v));
            }
            Op::Rotate(v, _, amount) => {
                see(Atom::Var(*v));
                see(*amount);
            }
            Op::Equal(a, b) => {
                see(Atom::Var(*a));
                see(Atom::Var(*b));
            }
            Op::FlatIndex { array, offset, sizes, strides } => {
                see(Atom::Var(*array));
                see(*offset);
                sizes.iter().chain(strides).for_each(|a| see(*a));
            }
            Op::FlatUpdate { array, offset, strides, value } => {
                see(Atom::Var(*array));
                see(*offset);
                strides.iter().for_each(|a| see(*a));
                see(Atom::Var(*value));
            }
            Op::Index(v, args) | Op::Reshape(v, args) => {
                see(Atom::Var(*v));
                args.iter().for_each(|a| see(*a));
            }
            Op::Slice(v, slice) => {
                see(Atom::Var(*v));
                dims(slice, see);
            }
            Op::Update(v, slice, value) => {
                see(Atom::Var(*v));
                dims(slice, see);
                see(*value);
            }
            Op::Concat(arrays, _) => arrays.iter().for_each(|v| see(Atom::Var(*v))),
            Op::Replicate(a, b) => {
                see(*a);
                see(*b);
            }
            Op::Iota { count, start, step, .. } => [count, start, step].into_iter().for_each(|a| see(*a)),
            Op::Map { width, arrays, .. }
            | Op::Filter { width, arrays, .. }
            | Op::Partition { width, arrays, .. } => {
                see(*width);
                arrays.iter().for_each(|v| see(Atom::Var(*v)));
            }
            Op::Stream { width, accs, arrays, .. } => {
                see(*width);
                accs.iter().chain(arrays).for_each(|v| see(Atom::Var(*v)));
            }
            Op::Scatter { width, dests, index, values } => {
                see(*width);
                dests.iter().chain(index).chain(values).for_each(|v| see(Atom::Var(*v)));
            }
            Op::Hist { width, dests, neutral, index, values, .. } => {
                see(*width);
                dests.iter().for_each(|v| see(Atom::Var(*v)));
                neutral.iter().for_each(|a| see(*a));
                index.iter().chain(values).for_each(|v| see(Atom::Var(*v)));
            }
            Op::AccWrite { accs, index, values, .. } => {
                accs.iter().for_each(|v| see(Atom::Var(*v)));
                index.iter().chain(values).for_each(|a| see(*a));
            }
            Op::Reduce { width, neutral, arrays, .. }
            | Op::Scan { width, neutral, arrays, .. }
            | Op::Redomap { width, neutral, arrays, .. } => {
                see(*width);
                neutral.iter().for_each(|a| see(*a));
                arrays.iter().for_each(|v| see(Atom::Var(*v)));
            }
        }
    }

    /// Calls `see` with every operand outside of blocks, to change it.
    pub fn atoms_mut(&mut self, see: &mut dyn FnMut(AtomMut<'_>)) {
        fn dims(dims: &mut [SliceDim], see: &mut dyn FnMut(AtomMut<'_>)) {
            for dim in dims {
                match dim {
                    SliceDim::At(a) => see(AtomMut::Atom(a)),
                    SliceDim::Range(a, b, c) => {
                        [a, b, c].into_iter().flatten().for_each(|a| see(AtomMut::Atom(a)));
                    }
                }
            }
        }
        fn all(atoms: &mut [Atom], see: &mut dyn FnMut(AtomMut<'_>)) {
            atoms.iter_mut().for_each(|a| see(AtomMut::Atom(a)));
        }
        fn vars(vars: &mut [Var], see: &mut dyn FnMut(AtomMut<'_>)) {
            vars.iter_mut().for_each(|v| see(AtomMut::Var(v)));
        }
        match self {
            Op::Scalar(_, _, args) | Op::Call(_, args) | Op::Array(_, _, args) | Op::Fail(_, args) => {
                all(args, see);
            }
            Op::Trace { values, .. } => all(values, see),
            Op::Param(_) => {}
            Op::Convert(_, _, a) | Op::If(a, ..) => see(AtomMut::Atom(a)),
            Op::For { bound, init, .. } => {
                see(AtomMut::Atom(bound));
                all(init, see);
            }
            Op::While { init, .. } => all(init, see),
            Op::Assert(a, _, args) => {
                see(AtomMut::Atom(a));
                all(args, see);
            }
            Op::Dim(v, _) | Op::Permute(v, _) | Op::Reverse(v, _) | Op::Copy(v) | Op::Manifest(v) => {
                see(AtomMut::Var(v));
            }
            Op::Rotate(v, _, amount) => {
                see(AtomMut::Var(v));
                see(AtomMut::Atom(amount));
            }
            Op::Equal(a, b) => {
                see(AtomMut::Var(a));
                see(AtomMut::Var(b));
            }
            Op::FlatIndex { array, offset, sizes, strides } => {
                see(AtomMut::Var(array));
                see(AtomMut::Atom(offset));
                all(sizes, see);
                all(strides, see);
            }
            Op::FlatUpdate { array, offset, strides, value } => {
                see(AtomMut::Var(array));
                see(AtomMut::Atom(offset));
                all(strides, see);
                see(AtomMut::Var(value));
            }
            Op::Index(v, args) | Op::Reshape(v, args) => {
                see(AtomMut::Var(v));
                all(args, see);
            }
            Op::Slice(v, slice) => {
                see(AtomMut::Var(v));
                dims(slice, see);
            }
            Op::Update(v, slice, value) => {
                see(AtomMut::Var(v));
                dims(slice, see);
                see(AtomMut::Atom(value));
            }
            Op::Concat(arrays, _) => vars(arrays, see),
            Op::Replicate(a, b) => {
                see(AtomMut::Atom(a));
                see(AtomMut::Atom(b));
            }
            Op::Iota { count, start, step, .. } => {
                [count, start, step].into_iter().for_each(|a| see(AtomMut::Atom(a)));
            }
            Op::Map { width, arrays, .. }
            | Op::Filter { width, arrays, .. }
            | Op::Partition { width, arrays, .. } => {
                see(AtomMut::Atom(width));
                vars(arrays, see);
            }
            Op::Stream { width, accs, arrays, .. } => {
                see(AtomMut::Atom(width));
                vars(accs, see);
                vars(arrays, see);
            }
            Op::Scatter { width, dests, index, values } => {
                see(AtomMut::Atom(width));
                vars(dests, see);
                vars(index, see);
                vars(values, see);
            }
            Op::Hist { width, dests, neutral, index, values, .. } => {
                see(AtomMut::Atom(width));
                vars(dests, see);
                all(neutral, see);
                vars(index, see);
                vars(values, see);
            }
            Op::AccWrite { accs, index, values, .. } => {
                vars(accs, see);
                all(index, see);
                all(values, see);
            }
            Op::Reduce { width, neutral, arrays, .. }
            | Op::Scan { width, neutral, arrays, .. }
            | Op::Redomap { width, neutral, arrays, .. } => {
                see(AtomMut::Atom(width));
                all(neutral, see);
                vars(arrays, see);
            }
        }
    }

    /// The blocks of the statement.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Op::If(_, yes, no) => vec![yes, no],
            Op::While { cond, body, .. } => vec![cond, body],
            Op::Redomap { map, op, .. } => vec![map, op],
            Op::For { body, .. }
            | Op::Map { body, .. }
            | Op::Reduce { body, .. }
            | Op::Scan { body, .. }
            | Op::Filter { body, .. }
            | Op::Partition { body, .. }
            | Op::Stream { body, .. }
            | Op::Hist { op: body, .. }
            | Op::AccWrite { op: body, .. } => vec![body],
            _ => Vec::new(),
        }
    }

    /// The blocks of the statement, mutably.
    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Op::If(_, yes, no) => vec![yes, no],
            Op::While { cond, body, .. } => vec![cond, body],
            Op::Redomap { map, op, .. } => vec![map, op],
            Op::For { body, .. }
            | Op::Map { body, .. }
            | Op::Reduce { body, .. }
            | Op::Scan { body, .. }
            | Op::Filter { body, .. }
            | Op::Partition { body, .. }
            | Op::Stream { body, .. }
            | Op::Hist { op: body, .. }
            | Op::AccWrite { op: body, .. } => vec![body],
            _ => Vec::new(),
        }
    }

    /// True if the statement only makes values: it may be dropped when nobody uses them. What can end the
    /// program with an error stays.
    pub fn is_pure(&self) -> bool {
        match self {
            Op::Scalar(op, ty, args) => !op.can_trap(*ty) || nonzero(args.get(1)),
            Op::Convert(..)
            | Op::Param(_)
            | Op::Dim(..)
            | Op::Permute(..)
            | Op::Reverse(..)
            | Op::Copy(_)
            | Op::Manifest(_)
            | Op::Rotate(..)
            | Op::Equal(..) => true,
            Op::If(..)
            | Op::Map { .. }
            | Op::Reduce { .. }
            | Op::Scan { .. }
            | Op::Redomap { .. }
            | Op::Hist { .. }
            | Op::Filter { .. }
            | Op::Partition { .. }
            | Op::Stream { .. }
            | Op::AccWrite { .. }
            | Op::For { .. } => self.blocks().iter().all(|b| b.stms.iter().all(|s| s.op.is_pure())),
            Op::Replicate(count, _) | Op::Iota { count, .. } => {
                count.constant().is_some_and(|c| c.as_i64() >= 0)
            }
            Op::Array(_, rank, _) => *rank == 1,
            // A `while` may run forever.
            Op::While { .. } | Op::Call(..) | Op::Assert(..) | Op::Fail(..) | Op::Trace { .. } => false,
            // Destinations that disagree in their extents, which the checker rules out.
            Op::Scatter { .. } => true,
            Op::FlatIndex { .. } | Op::FlatUpdate { .. } => false,
            Op::Index(..) | Op::Slice(..) | Op::Update(..) | Op::Reshape(..) | Op::Concat(..) => false,
        }
    }
}

fn nonzero(divisor: Option<&Atom>) -> bool {
    divisor.and_then(|a| a.constant()).is_some_and(|c| c.bits != 0)
}
