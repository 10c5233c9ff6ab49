//! Shaders as data: the little language that both routes can say.
//!
//! The lowering writes kernels in it once; `spirv/emit.rs` and `glsl/print.rs` only spell it out. So the two routes
//! differ in spelling alone, and each checks the other.
//!
//! Invariants:
//! - Integers have no sign of their own (`B32`, `B64`); operations that care say which they mean.
//! - Every operation is defined for all operands that the lowering gives it: shift counts are below the width,
//!   divisors neither zero nor overflowing, converted floats in range.
//! - A value is used only in the block that defines it, after its definition, or in blocks inside that one.
//!   Constants belong to no block. What must survive a block lives in a cell.

mod build;
mod format;
mod lost;

pub use build::{Code, loop_of};
pub use format::Format;

use galopvm_base::{ElemType, IdVec, define_id};

define_id!(
    /// A value of a shader.
    pub struct Val, "v"
);

define_id!(
    /// A local variable of an invocation.
    pub struct Cell, "c"
);

define_id!(
    /// An array in workgroup memory.
    pub struct Shared, "s"
);

define_id!(
    /// A storage buffer; the number is its binding in set 0.
    pub struct Binding, "b"
);

/// The type of a value in registers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Ty {
    /// Truth value.
    Bool,
    /// 32 bits, an integer.
    B32,
    /// 64 bits, an integer.
    B64,
    /// IEEE single.
    F32,
    /// IEEE double.
    F64,
}

impl Ty {
    /// The integer type of the same width.
    pub fn bits(self) -> Ty {
        match self {
            Ty::F32 => Ty::B32,
            Ty::F64 => Ty::B64,
            other => other,
        }
    }

    /// Number of bits (1 for bool).
    pub fn width(self) -> u32 {
        match self {
            Ty::Bool => 1,
            Ty::B32 | Ty::F32 => 32,
            Ty::B64 | Ty::F64 => 64,
        }
    }
}

/// How the elements of a storage buffer lie there. Loads zero-extend to 32 bits at least, stores truncate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Width {
    /// One byte.
    W8,
    /// Two bytes.
    W16,
    /// Four bytes.
    W32,
    /// Eight bytes.
    W64,
}

impl Width {
    /// The width of an element type.
    pub fn of(elem: ElemType) -> Width {
        match elem.bytes() {
            1 => Width::W8,
            2 => Width::W16,
            4 => Width::W32,
            _ => Width::W64,
        }
    }

    /// Bytes.
    pub fn bytes(self) -> u32 {
        match self {
            Width::W8 => 1,
            Width::W16 => 2,
            Width::W32 => 4,
            Width::W64 => 8,
        }
    }

    /// The type of a loaded element.
    pub fn ty(self) -> Ty {
        if self == Width::W64 { Ty::B64 } else { Ty::B32 }
    }
}

/// An operation on one value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum UnOp {
    /// Logical not.
    Not,
    /// All bits flipped.
    Flip,
    /// Float negation.
    FNeg,
    /// Float magnitude.
    FAbs,
    /// Rounded down.
    Floor,
    /// Rounded up.
    Ceil,
    /// Rounded towards zero.
    Trunc,
    /// Rounded to the nearest, ties to even.
    RoundEven,
    /// Square root.
    Sqrt,
    /// Signed integer to float type.
    FromSigned(Ty),
    /// Unsigned integer to float type.
    FromUnsigned(Ty),
    /// Float, already in range, towards zero to a signed integer type.
    ToSigned(Ty),
    /// Float, already in range, towards zero to an unsigned integer type.
    ToUnsigned(Ty),
    /// Single to double and back.
    Float(Ty),
    /// `B32` to `B64`, zero-extended.
    ZeroExtend,
    /// `B64` to `B32`, truncated.
    Narrow,
    /// The bits of a float.
    BitsOf,
    /// The float with these bits.
    OfBits,
    /// Number of set bits of a `B32`.
    BitCount,
    /// Position of the highest set bit of a `B32` that is not 0.
    HighBit,
    /// Position of the lowest set bit of a `B32` that is not 0.
    LowBit,
}

/// An operation on two values of the same type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum BinOp {
    /// Integer sum, wrapping.
    Add,
    /// Integer difference, wrapping.
    Sub,
    /// Integer product, wrapping.
    Mul,
    /// Signed quotient towards zero.
    SDiv,
    /// Unsigned quotient.
    UDiv,
    /// Unsigned remainder.
    URem,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Shift left.
    Shl,
    /// Shift right, copying the sign.
    ShrS,
    /// Shift right, with zeros.
    ShrU,
    /// Integer equality.
    Eq,
    /// Integer inequality.
    Ne,
    /// Signed less.
    Slt,
    /// Signed less or equal.
    Sle,
    /// Unsigned less.
    Ult,
    /// Unsigned less or equal.
    Ule,
    /// Both.
    LAnd,
    /// Any.
    LOr,
    /// Just one.
    LXor,
    /// Float sum.
    FAdd,
    /// Float difference.
    FSub,
    /// Float product.
    FMul,
    /// Float quotient.
    FDiv,
    /// Float equality, false for NaN.
    FEq,
    /// Float less, false for NaN.
    FLt,
    /// Float less or equal, false for NaN.
    FLe,
}

/// A number the device gives each invocation, a `B32`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Builtin {
    /// Number of the invocation in its workgroup.
    Local,
    /// Number of the workgroup in x.
    GroupX,
    /// Number of the workgroup in y.
    GroupY,
    /// Count of workgroups in x.
    GroupsX,
}

/// How a value is computed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Op {
    /// One operand.
    Un(UnOp, Val),
    /// Two operands.
    Bin(BinOp, Val, Val),
    /// The second where the first is true, else the third.
    Select(Val, Val, Val),
    /// An element of a storage buffer; the index is a `B32`.
    Load(Binding, Val),
    /// The content of a cell.
    Get(Cell),
    /// An element of workgroup memory; the index is a `B32`.
    GetShared(Shared, Val),
    /// A number of the invocation.
    Builtin(Builtin),
}

/// A statement.
#[derive(Clone, PartialEq, Debug)]
pub enum Stm {
    /// Computes a value.
    Let(Val, Op),
    /// Fills a cell.
    Set(Cell, Val),
    /// Writes an element of a storage buffer.
    Store(Binding, Val, Val),
    /// Writes an element of workgroup memory.
    SetShared(Shared, Val, Val),
    /// Sets bit 0 of the first element of a buffer of `W32`, atomically.
    Raise(Binding),
    /// All invocations of the workgroup come here before one goes on; their workgroup memory is then visible.
    Barrier,
    /// Two ways.
    If(Val, Vec<Stm>, Vec<Stm>),
    /// Runs the first block, then, while the value it computed is true, the second block and the first again.
    While(Vec<Stm>, Val, Vec<Stm>),
}

/// A storage buffer as the shader sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BufferDecl {
    /// How elements lie in it.
    pub width: Width,
    /// The shader writes it.
    pub written: bool,
}

/// One compute shader, entry point `main`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Shader {
    /// The type of every value.
    pub vals: IdVec<Val, Ty>,
    /// The constants, which are values too.
    pub consts: Vec<(Val, u64)>,
    /// The local variables.
    pub cells: IdVec<Cell, Ty>,
    /// Workgroup arrays: element type and length.
    pub shared: IdVec<Shared, (Ty, u32)>,
    /// The storage buffers.
    pub buffers: IdVec<Binding, BufferDecl>,
    /// The statements.
    pub body: Vec<Stm>,
    /// Invocations of a workgroup.
    pub group_size: u32,
}

/// Every operation a shader contains, for deciding what it asks of the device.
pub fn for_each_op(stms: &[Stm], visit: &mut impl FnMut(Val, &Op)) {
    for stm in stms {
        match stm {
            Stm::Let(val, op) => visit(*val, op),
            Stm::If(_, then, otherwise) => {
                for_each_op(then, visit);
                for_each_op(otherwise, visit);
            }
            Stm::While(before, _, body) => {
                for_each_op(before, visit);
                for_each_op(body, visit);
            }
            Stm::Set(..) | Stm::Store(..) | Stm::SetShared(..) | Stm::Raise(_) | Stm::Barrier => {}
        }
    }
}

impl Shader {
    /// True if some value, cell or shared array has this type.
    pub fn uses(&self, ty: Ty) -> bool {
        self.vals.iter().any(|t| *t == ty)
            || self.cells.iter().any(|t| *t == ty)
            || self.shared.iter().any(|(t, _)| *t == ty)
    }

    /// True if some buffer has elements of this width.
    pub fn stores(&self, width: Width) -> bool {
        self.buffers.iter().any(|b| b.width == width)
    }

    /// Bytes of workgroup memory.
    pub fn shared_bytes(&self) -> u32 {
        self.shared.iter().map(|(ty, len)| ty.width().max(32) / 8 * len).sum()
    }
}
