//! The low IR: typed virtual registers, instructions, basic blocks with parameters.
//!
//! It is in single assignment and knows nothing of arrays, axes or lanes: a value is one machine register. What a
//! register holds is its [`Class`]; scalar floats live in vector registers. Branches carry no values, jumps do, so
//! no edge is critical. `build.rs` makes it, `text.rs` prints it, `crate::allocate` and `crate::emit` consume it.

pub mod build;
pub mod sweep;
mod text;

use crate::library::Helper;
use galopvm_base::define_id;
use smallvec::SmallVec;

define_id!(
    /// A virtual register.
    pub struct Reg, "%"
);

define_id!(
    /// A basic block.
    pub struct Label, "block"
);

/// What a register can hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// A general-purpose register: integers, truth values, addresses.
    Int,
    /// A vector register, or a scalar float in one.
    Vec,
    /// A mask register (AVX-512; AVX2 keeps masks in vector registers).
    Mask,
}

/// Operand width of an integer instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Width {
    /// 32 bits; the upper half of the register is unspecified.
    W32,
    /// 64 bits.
    W64,
}

/// What a lane of a vector holds. Narrow integers live in 32-bit lanes, extended by their own signedness.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Lane {
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// Single.
    F32,
    /// Double.
    F64,
}

impl Lane {
    /// True for 64-bit lanes.
    pub fn is_wide(self) -> bool {
        matches!(self, Lane::I64 | Lane::F64)
    }

    /// True for floats.
    pub fn is_float(self) -> bool {
        matches!(self, Lane::F32 | Lane::F64)
    }

    /// Bytes of one lane.
    pub fn bytes(self) -> usize {
        if self.is_wide() { 8 } else { 4 }
    }

    /// The integer lane of the same width.
    pub fn as_int(self) -> Lane {
        if self.is_wide() { Lane::I64 } else { Lane::I32 }
    }
}

/// How many lanes of a vector register an instruction works on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Extent {
    /// The lowest lane: a scalar float.
    One,
    /// All of them.
    All,
}

/// Two-operand work, on general registers for uniform integers and on vector registers otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Bin {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product, low half.
    Mul,
    /// Float quotient.
    Div,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// `!a & b`, vectors only.
    AndNot,
    /// Lesser, signed integers.
    MinS,
    /// Greater, signed integers.
    MaxS,
    /// Lesser, unsigned integers.
    MinU,
    /// Greater, unsigned integers.
    MaxU,
    /// `a < b ? a : b` on floats: the second operand if they are equal or unordered.
    FMin,
    /// `a > b ? a : b` on floats: the second operand if they are equal or unordered.
    FMax,
    /// Shift left; vectors: by any count, general registers: by less than the width.
    Shl,
    /// Shift right with zeros; counts as for `Shl`.
    Shr,
    /// Shift right with sign bits; counts as for `Shl`.
    Sar,
}

/// A comparison. `Ne` is true and the others are false for unordered floats.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Cond {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less, signed or float.
    Lt,
    /// Less or equal, signed or float.
    Le,
    /// Less, unsigned.
    Below,
    /// Less or equal, unsigned.
    BelowEq,
}

/// Rounding of a float to a whole number, as the immediate byte of the rounding instructions has it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Round {
    /// To nearest, ties to even.
    Nearest = 8,
    /// Down.
    Floor = 9,
    /// Up.
    Ceil = 10,
    /// Towards zero.
    Trunc = 11,
}

/// Conversions between lanes of equal count; `to` and `from` of different width take or give register pairs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Change {
    /// Signed integer to float, or float to signed integer with truncation (out of range: only the sign bit set).
    Signed,
    /// Unsigned integer to float, or float to unsigned integer with truncation (out of range: all bits set).
    Unsigned,
    /// Float to float.
    Float,
    /// Integer to a wider integer with sign extension, or to a narrower one by truncation.
    Extend,
    /// Integer to a wider integer with zeros.
    ExtendZero,
}

/// What an element in memory is, for loads and stores.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mem {
    /// Signed byte.
    S8,
    /// Unsigned byte.
    U8,
    /// Signed 16 bits.
    S16,
    /// Unsigned 16 bits.
    U16,
    /// 32 bits.
    B32,
    /// 64 bits.
    B64,
}

impl Mem {
    /// Bytes of one element.
    pub fn bytes(self) -> usize {
        match self {
            Mem::S8 | Mem::U8 => 1,
            Mem::S16 | Mem::U16 => 2,
            Mem::B32 => 4,
            Mem::B64 => 8,
        }
    }
}

/// An address: a base register, perhaps an index register times `scale`, plus `disp` bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Addr {
    /// 0 without index register, else 1, 2, 4 or 8.
    pub scale: u8,
    /// Bytes added.
    pub disp: i32,
}

/// Which instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// An integer constant.
    Int(i64),
    /// Word `k` of the launch record.
    Word(u32),
    /// Integer arithmetic on general registers.
    Alu(Bin, Width),
    /// The same with an immediate second operand (not `Mul` by more than 32 bits; shifts: the count).
    AluImm(Bin, Width, i32),
    /// Extension of the low bits of a general register to 64 bits.
    Extend(Mem),
    /// Quotient rounded to zero; operands are not (least, -1), and the divisor is not 0. `true`: signed.
    Quot(bool, Width),
    /// Its remainder.
    Rem(bool, Width),
    /// High half of the product.
    MulHigh(bool, Width),
    /// Comparison of general registers; 0 or 1.
    Set(Cond, Width),
    /// Comparison of scalar floats; 0 or 1.
    SetFloat(Cond, Lane),
    /// `a != 0 ? b : c` on general registers.
    Choose,
    /// `a != 0 ? b : c` on scalar floats.
    ChooseFloat,
    /// The address itself: base, index.
    Lea(Addr),
    /// A scalar element into a general register.
    Load(Mem, Addr),
    /// A scalar element from a general register: value, base, index.
    Store(Mem, Addr),
    /// A scalar float into a vector register.
    LoadFloat(Lane, Addr),
    /// A scalar float: value, base, index.
    StoreFloat(Lane, Addr),
    /// Bits of a general register into a vector register.
    ToFloat(Lane),
    /// Bits of the lowest lane into a general register.
    FromFloat(Lane),
    /// Scalar integer (width) to float.
    IntToFloat(Width, Lane),
    /// Scalar float to integer (width), truncating; out of range: only the sign bit set.
    FloatToInt(Lane, Width),
    /// Vector or scalar-float arithmetic.
    V(Bin, Lane, Extent),
    /// Square root.
    Sqrt(Lane, Extent),
    /// Rounding to whole numbers.
    Round(Round, Lane, Extent),
    /// `a * b + c`, rounded once: a, b, c.
    Fma(Lane, Extent),
    /// Every lane the low bits of a general register.
    Splat(Lane),
    /// Every lane the scalar float.
    SplatFloat(Lane),
    /// Every lane the scalar float at an address: base, index.
    LoadSplat(Lane, Addr),
    /// Lane `k` holds `start + k`.
    Iota(Lane, u32),
    /// Lane-wise comparison; the result is a mask.
    Cmp(Cond, Lane),
    /// Lane-wise choice: mask, if set, if clear.
    Blend(Lane),
    /// A shift of all lanes by an immediate.
    VShiftImm(Bin, Lane, u8),
    /// Lanes of the same width to other lanes of that width.
    Convert(Change, Lane, Lane),
    /// Half of the narrow lanes (`true`: the upper ones) to wide lanes.
    Widen(Change, Lane, Lane, bool),
    /// Two registers of wide lanes to one of narrow lanes.
    Narrow(Change, Lane, Lane),
    /// Scalar float to the other float type.
    ConvertFloat(Lane, Lane),
    /// The upper lanes moved down by this many bytes; the rest is unspecified.
    MoveDown(u8),
    /// The lanes in reverse order.
    Reverse(Lane),
    /// A vector of elements at consecutive places; small integers are extended: base, index.
    VLoad(Mem, Addr),
    /// The same for the lanes of a mask, zero elsewhere; other places are not touched: mask, base, index.
    VLoadMask(Mem, Addr),
    /// A vector to consecutive places: value, base, index. `true`: past the caches, to an aligned place.
    VStore(Mem, Addr, bool),
    /// For the lanes of a mask: value, mask, base, index.
    VStoreMask(Mem, Addr),
    /// Elements at `base + index_k * size` for the lanes of a mask, zero elsewhere: mask, base, 64-bit indices
    /// (two registers of them for elements narrower than 64 bits).
    Gather(Mem),
    /// The same, element by element, for sizes the hardware has no gather for.
    GatherEach(Mem),
    /// The reverse: value, mask, base, indices.
    ScatterEach(Mem),
    /// Every lane set.
    MaskAll,
    /// Arithmetic on masks (`And`, `Or`, `Xor`, `AndNot`).
    MaskLogic(Bin),
    /// The mask of the lower or upper (`true`) wide lanes out of a mask of narrow lanes.
    MaskHalf(bool),
    /// The mask of narrow lanes out of two masks of wide lanes.
    MaskJoin,
    /// After a turn of a loop: takes this from the launch's allowance of work; when that is used up, asks the host
    /// whether to go on. If not, the function ends as if something had trapped.
    Poll(u32),
    /// The same, but only where the bits of a mask are all clear in a counter.
    PollAt {
        /// What is taken.
        cost: u32,
        /// Which bits.
        mask: i32,
    },
    /// A call of a helper on up to three vectors (or scalars in vectors).
    Help(Helper, Extent),
    /// A call of a helper on up to three general registers.
    HelpScalar(Helper),
    /// To a block, with its parameters.
    Jump(Label),
    /// To the first block if the comparison holds, else to the second.
    BranchIf(Cond, Width, Label, Label),
    /// To the first block if the value is not 0.
    BranchBool(Label, Label),
    /// To the first block if some lane is set.
    BranchAny(Label, Label),
    /// The end: all is well.
    Return,
    /// The end: something trapped.
    Trap,
}

impl Op {
    /// True if it ends a block.
    pub fn is_end(self) -> bool {
        matches!(
            self,
            Op::Jump(_) | Op::BranchIf(..) | Op::BranchBool(..) | Op::BranchAny(..) | Op::Return | Op::Trap
        )
    }

    /// The blocks that may follow.
    pub fn targets(self) -> SmallVec<[Label; 2]> {
        match self {
            Op::Jump(a) => SmallVec::from_slice(&[a]),
            Op::BranchIf(_, _, a, b) | Op::BranchBool(a, b) | Op::BranchAny(a, b) => {
                SmallVec::from_slice(&[a, b])
            }
            _ => SmallVec::new(),
        }
    }

    /// True if the result depends on the operands only and computing it needlessly does no harm.
    pub fn is_pure(self) -> bool {
        !self.is_end()
            && !matches!(
                self,
                Op::Store(..)
                    | Op::StoreFloat(..)
                    | Op::VStore(..)
                    | Op::VStoreMask(..)
                    | Op::ScatterEach(_)
                    | Op::Quot(..)
                    | Op::Rem(..)
                    | Op::Poll(_)
                    | Op::PollAt { .. }
                    | Op::Help(..)
                    | Op::HelpScalar(_)
            )
            && !self.reads_memory()
    }

    /// True if it reads array elements: pure, but not to be executed where the program would not.
    pub fn reads_memory(self) -> bool {
        matches!(
            self,
            Op::Load(..)
                | Op::LoadFloat(..)
                | Op::LoadSplat(..)
                | Op::VLoad(..)
                | Op::VLoadMask(..)
                | Op::Gather(_)
                | Op::GatherEach(_)
        )
    }

    /// True if it costs next to nothing wherever it stands.
    pub fn is_trivial(self) -> bool {
        matches!(
            self,
            Op::Int(_)
                | Op::Word(_)
                | Op::Splat(_)
                | Op::SplatFloat(_)
                | Op::ToFloat(_)
                | Op::Iota(..)
                | Op::MaskAll
        )
    }
}

/// One instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct Inst {
    /// Which.
    pub op: Op,
    /// The register it defines.
    pub out: Option<Reg>,
    /// The registers it reads; a jump: the parameters of its target.
    pub args: SmallVec<[Reg; 4]>,
}

/// A basic block.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Block {
    /// Registers that jumps to it define.
    pub params: Vec<Reg>,
    /// In order, without the end.
    pub insts: Vec<Inst>,
    /// The end; there once the block is complete.
    pub end: Option<Inst>,
}

/// A whole function.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Code {
    /// Blocks by label.
    pub blocks: Vec<Block>,
    /// The order in which they lie in memory; the first is the entry.
    pub order: Vec<Label>,
    /// Class of each register.
    pub classes: Vec<Class>,
}
