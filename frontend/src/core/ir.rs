//! Core: the program as first-order, monomorphic code over scalars and regular arrays.
//!
//! The statements are an expansion of the bytecode's opcode table: what an instruction is there, a statement is here.
//!
//! Invariants:
//! - Every variable of a function is defined exactly once: as a parameter, a block parameter, or by one statement.
//! - Operands are atoms; tuples are gone (each component is a value of its own), functions are gone.
//! - A block sees what encloses it.

use galopvm_base::{ElemType, IdVec, Scalar, ScalarOp, Span, define_id};
use galopvm_bytecode::{Effect, Entry, Form, FuncId, Opcode, ValueType, opcode_table};
use std::hash::{Hash, Hasher};

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

    /// The variable, if it is one.
    pub fn var(self) -> Option<Var> {
        match self {
            Atom::Const(_) => None,
            Atom::Var(var) => Some(var),
        }
    }

    /// The constant, if it is one.
    pub fn constant(self) -> Option<Scalar> {
        match self {
            Atom::Const(scalar) => Some(scalar),
            Atom::Var(_) => None,
        }
    }
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

impl Eq for Origin {}

impl Hash for Origin {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// A statement: defines variables.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Stm {
    /// What it defines.
    pub defs: Vec<Var>,
    /// How.
    pub op: Op,
    /// Where it comes from.
    pub origin: Origin,
    /// It cannot end the program, though such statements can: something that is executed before it would have.
    pub sure: bool,
}

impl Stm {
    /// A statement of which no more is known than it says.
    pub fn new(defs: Vec<Var>, op: Op, origin: Origin) -> Stm {
        Stm { defs, op, origin, sure: false }
    }

    /// True if the statement only makes values: it may be dropped when nobody uses them. What can end the
    /// program with an error stays.
    pub fn is_pure(&self) -> bool {
        self.sure || self.op.is_pure_if(&|stm| stm.sure)
    }
}

/// Statements and the values they lead to.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
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

/// The type of a field of a statement, by its role in the opcode table. Where only an array can stand, it is a variable.
#[allow(missing_docs, reason = "they are the roles")]
pub mod types {
    use super::{Atom, Block, SliceDim, Var};

    galopvm_bytecode::field_types!(Atom, Var, SliceDim, Block);
}

macro_rules! statements {
    ($($code:literal $variant:ident $mnemonic:literal $effect:ident
       [$($def:ident : $gives:ident),*] { $($field:ident : $role:ident),* } $doc:literal;)+) => {
        /// The forms of a statement: the bytecode's instructions without their results, which are the statement's, and
        /// with blocks in place.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs, reason = "fields are described by the row's text")]
        pub enum Op {
            $(#[doc = $doc] $variant { $($field: types::$role),* }),+
        }

        impl Op {
            /// The row of the table that it is from.
            fn opcode(&self) -> Opcode {
                match self { $(Op::$variant { .. } => Opcode::$variant),+ }
            }

            /// Calls `see` with every operand outside of blocks.
            pub fn atoms(&self, see: &mut dyn FnMut(Atom)) {
                match self {
                    $(Op::$variant { $($field),* } => { $($field.atoms(see);)* })+
                }
            }

            /// Calls `change` with every operand outside of blocks. One that must be a variable stays what it was unless
            /// it is given a variable.
            pub fn atoms_mut(&mut self, change: &mut dyn FnMut(&mut Atom)) {
                match self {
                    $(Op::$variant { $($field),* } => { $($field.atoms_mut(change);)* })+
                }
            }

            /// The blocks of the statement.
            pub fn blocks(&self) -> Vec<&Block> {
                let mut blocks = Vec::new();
                match self {
                    $(Op::$variant { $($field),* } => { $(blocks.extend($field.block());)* })+
                }
                blocks
            }

            /// The blocks of the statement, mutably.
            pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
                let mut blocks = Vec::new();
                match self {
                    $(Op::$variant { $($field),* } => { $(blocks.extend($field.block_mut());)* })+
                }
                blocks
            }
        }
    };
}

opcode_table!(statements);

/// What a type of fields holds: operands, or a block.
trait Field {
    fn atoms(&self, _see: &mut dyn FnMut(Atom)) {}
    fn atoms_mut(&mut self, _change: &mut dyn FnMut(&mut Atom)) {}
    fn block(&self) -> Option<&Block> {
        None
    }
    fn block_mut(&mut self) -> Option<&mut Block> {
        None
    }
}

impl Field for Scalar {}
impl Field for ScalarOp {}
impl Field for ElemType {}
impl Field for u32 {}
impl Field for String {}
impl Field for Form {}
impl Field for FuncId {}

impl Field for Atom {
    fn atoms(&self, see: &mut dyn FnMut(Atom)) {
        see(*self);
    }
    fn atoms_mut(&mut self, change: &mut dyn FnMut(&mut Atom)) {
        change(self);
    }
}

impl Field for Var {
    fn atoms(&self, see: &mut dyn FnMut(Atom)) {
        see(Atom::Var(*self));
    }
    fn atoms_mut(&mut self, change: &mut dyn FnMut(&mut Atom)) {
        let mut atom = Atom::Var(*self);
        change(&mut atom);
        if let Atom::Var(var) = atom {
            *self = var;
        }
    }
}

impl Field for SliceDim {
    fn atoms(&self, see: &mut dyn FnMut(Atom)) {
        match self {
            SliceDim::At(at) => see(*at),
            SliceDim::Range(start, end, step) => {
                [start, end, step].into_iter().flatten().for_each(|a| see(*a))
            }
        }
    }
    fn atoms_mut(&mut self, change: &mut dyn FnMut(&mut Atom)) {
        match self {
            SliceDim::At(at) => change(at),
            SliceDim::Range(start, end, step) => [start, end, step].into_iter().flatten().for_each(change),
        }
    }
}

impl Field for Block {
    fn block(&self) -> Option<&Block> {
        Some(self)
    }
    fn block_mut(&mut self) -> Option<&mut Block> {
        Some(self)
    }
}

impl<T: Field> Field for Vec<T> {
    fn atoms(&self, see: &mut dyn FnMut(Atom)) {
        self.iter().for_each(|item| item.atoms(see));
    }
    fn atoms_mut(&mut self, change: &mut dyn FnMut(&mut Atom)) {
        self.iter_mut().for_each(|item| item.atoms_mut(change));
    }
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
    /// A scalar operation with as many operands as it takes.
    pub fn scalar(op: ScalarOp, ty: ElemType, operands: &[Atom]) -> Op {
        match *operands {
            [a] => Op::Op1 { op, ty, a },
            [a, b] => Op::Op2 { op, ty, a, b },
            [a, b, c] => Op::Op3 { op, ty, a, b, c },
            _ => unreachable!("scalar operations have one to three operands"),
        }
    }

    /// The scalar operation that the statement is, its type, and its operands.
    pub fn as_scalar(&self) -> Option<(ScalarOp, ElemType, Vec<Atom>)> {
        match *self {
            Op::Op1 { op, ty, a } => Some((op, ty, vec![a])),
            Op::Op2 { op, ty, a, b } => Some((op, ty, vec![a, b])),
            Op::Op3 { op, ty, a, b, c } => Some((op, ty, vec![a, b, c])),
            _ => None,
        }
    }

    /// Whether the results of one statement serve an equal one as well: where the first was executed, the second would end no
    /// program, and nothing is made that somebody could want for himself, to change it in place.
    pub fn can_be_shared(&self) -> bool {
        match self.opcode().row().effect {
            Effect::Pure | Effect::Trap => true,
            Effect::Alloc | Effect::AllocTrap | Effect::Control | Effect::Seen => false,
        }
    }

    /// Whether somebody sees when the statement is executed, and how often.
    pub fn is_seen(&self) -> bool {
        self.opcode().row().effect == Effect::Seen
    }

    /// The array that the results are told of without a look at its elements, which cannot fail.
    pub fn told_of(&self) -> Option<Var> {
        let row = self.opcode().row();
        let (_, gives) = row.fields.first()?;
        if !gives.is_told() || row.effect != Effect::Pure {
            return None;
        }
        let mut first = None;
        self.atoms(&mut |atom| first = first.or(Some(atom)));
        first.and_then(Atom::var)
    }

    /// True if statements that say this only make values, whatever was executed before them.
    pub fn is_pure(&self) -> bool {
        self.is_pure_if(&|_| false)
    }

    /// As `is_pure`, where of some statements it is known that they cannot end the program.
    fn is_pure_if(&self, is_sure: &dyn Fn(&Stm) -> bool) -> bool {
        match self.opcode().row().effect {
            Effect::Pure | Effect::Alloc => true,
            Effect::Seen => false,
            Effect::Trap | Effect::AllocTrap | Effect::Control => self.cannot_fail(is_sure),
        }
    }

    /// Whether a statement that could end the program, or not end at all, does neither.
    fn cannot_fail(&self, is_sure: &dyn Fn(&Stm) -> bool) -> bool {
        match self {
            Op::Op2 { op, ty, b, .. } => !op.can_trap(*ty) || is_nonzero(b),
            Op::If { .. }
            | Op::Map { .. }
            | Op::Reduce { .. }
            | Op::Scan { .. }
            | Op::Redomap { .. }
            | Op::Hist { .. }
            | Op::Filter { .. }
            | Op::Partition { .. }
            | Op::Stream { .. }
            | Op::AccWrite { .. }
            | Op::For { .. } => {
                let is_pure = |stm: &Stm| is_sure(stm) || stm.op.is_pure_if(is_sure);
                self.blocks().iter().all(|block| block.stms.iter().all(is_pure))
            }
            Op::Replicate { count, .. } | Op::Iota { count, .. } => {
                count.constant().is_some_and(|c| c.as_i64() >= 0)
            }
            // Rows that disagree in their extents.
            Op::Array { rank, rows, .. } => *rank == 1 || rows.len() == 1,
            // Destinations that disagree in their extents, which the checker rules out.
            Op::Scatter { .. } => true,
            // A `while` may run forever.
            Op::While { .. }
            | Op::Call { .. }
            | Op::Assert { .. }
            | Op::Fail { .. }
            | Op::FlatIndex { .. }
            | Op::FlatUpdate { .. }
            | Op::Index { .. }
            | Op::Slice { .. }
            | Op::Update { .. }
            | Op::Reshape { .. }
            | Op::Concat { .. } => false,
            // Their effect says so.
            Op::Const { .. }
            | Op::Op1 { .. }
            | Op::Op3 { .. }
            | Op::Convert { .. }
            | Op::Param { .. }
            | Op::Trace { .. }
            | Op::Dim { .. }
            | Op::Permute { .. }
            | Op::Reverse { .. }
            | Op::Copy { .. }
            | Op::Manifest { .. }
            | Op::Rotate { .. }
            | Op::Equal { .. } => false,
        }
    }
}

fn is_nonzero(divisor: &Atom) -> bool {
    divisor.constant().is_some_and(|c| c.bits != 0)
}
