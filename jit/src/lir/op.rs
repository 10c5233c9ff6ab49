//! The table of operations: a row says what an operation carries, its mnemonic, the classes of its operands and of its
//! result, and its effect.
//!
//! The enumeration, its text, what the builder may move, what the sweep may remove, what the verifier expects and what
//! the allocator is told all derive from the rows. What differs from machine to machine (which registers a call
//! clobbers, which operands an instruction replaces) is the target's.

use super::Label;
use super::field::{Addr, Bin, Change, Class, Cond, Extent, Field, Lane, Mem, Round, Width};
use crate::library::Helper;
use Effect::{Calls, Ends, Faults, Gives, Hints, MayCall, Polls, Pure, Reads, Stays, Trivial, Writes};
use Kind::{Int, Mask, Vec};
use smallvec::SmallVec;
use std::fmt;

/// A class of registers before it is known where the target has its masks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// [`Class::Int`]
    Int,
    /// [`Class::Vec`]
    Vec,
    /// The class that masks have.
    Mask,
}

impl Kind {
    /// The class, where masks have `masks`.
    pub fn class(self, masks: Class) -> Class {
        match self {
            Int => Class::Int,
            Vec => Class::Vec,
            Mask => masks,
        }
    }
}

/// What an operation does beside defining its result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Nothing, and it costs next to nothing wherever it stands.
    Trivial,
    /// Nothing: the result depends on the operands only and computing it needlessly does no harm.
    Pure,
    /// Reads array elements: not to be executed where the program would not.
    Reads,
    /// Faults on some operands, which a test in front of it excludes: stays behind the test.
    Faults,
    /// Calls a function without effects of its own for so many lanes: stays, since it costs more than anything else.
    Calls(Extent),
    /// Gives memory, by a call: moves as pure work does.
    Gives,
    /// Nothing, but what follows from its result is not done before it.
    Stays,
    /// Calls a function without effects of its own for so many lanes, but rarely: may stand elsewhere.
    MayCall(Extent),
    /// Only tells the machine what will be wanted of memory.
    Hints,
    /// Writes array elements.
    Writes,
    /// May end the function, as the host wishes.
    Polls,
    /// Ends a block.
    Ends,
}

impl Effect {
    /// True if an instruction may stand elsewhere, and need not be made twice.
    pub fn is_movable(self) -> bool {
        match self {
            Trivial | Pure | Reads | Gives | MayCall(_) => true,
            Faults | Calls(_) | Stays | Hints | Writes | Polls | Ends => false,
        }
    }

    /// For how many lanes a function is called, if one is each time.
    pub fn calls(self) -> Option<Extent> {
        match self {
            Calls(extent) => Some(extent),
            Gives => Some(Extent::One),
            Trivial | Pure | Reads | Faults | MayCall(_) | Stays | Hints | Writes | Polls | Ends => None,
        }
    }

    /// True if an instruction may go when nobody uses its result.
    pub fn is_removable(self) -> bool {
        match self {
            Trivial | Pure | Reads | Faults | Calls(_) | MayCall(_) | Gives | Stays => true,
            Hints | Writes | Polls | Ends => false,
        }
    }
}

/// Classes of the operands of an operation, in order.
pub type Kinds = SmallVec<[Kind; 5]>;

/// An entry of a row's operands.
trait Operands: Sized {
    fn add_to(self, kinds: &mut Kinds);

    /// How many operands it stands for.
    fn count(self) -> usize;
}

impl Operands for Kind {
    fn add_to(self, kinds: &mut Kinds) {
        kinds.push(self);
    }

    fn count(self) -> usize {
        1
    }
}

/// Base, and the index if there is one.
impl Operands for Addr {
    fn add_to(self, kinds: &mut Kinds) {
        kinds.extend(std::iter::repeat_n(Int, self.count()));
    }

    fn count(self) -> usize {
        1 + usize::from(self.scale != 0)
    }
}

/// 64-bit indices of all elements of a vector: two registers of them for elements narrower than 64 bits.
struct Indices(Mem);

impl Operands for Indices {
    fn add_to(self, kinds: &mut Kinds) {
        kinds.extend(std::iter::repeat_n(Vec, self.count()));
    }

    fn count(self) -> usize {
        1 + usize::from(self.0 != Mem::B64)
    }
}

/// Which lanes something is true of: a mask, or for one lane a number of which the low 32 bits count.
struct Truth(Extent);

impl Operands for Truth {
    fn add_to(self, kinds: &mut Kinds) {
        kinds.push(if self.0 == Extent::All { Mask } else { Int });
    }

    fn count(self) -> usize {
        1
    }
}

/// The operands of a helper.
struct Each(Helper, Kind);

impl Operands for Each {
    fn add_to(self, kinds: &mut Kinds) {
        kinds.extend(std::iter::repeat_n(self.1, self.0.arity()));
    }

    fn count(self) -> usize {
        self.0.arity()
    }
}

macro_rules! operations {
    (@result none) => { None };
    (@result $kind:ident) => { Some($kind) };
    ($(
        $(#[$doc:meta])*
        $name:ident $(($($field:ident: $ty:ty),+))? = $word:literal ($($operand:expr),*) -> $result:ident, $effect:expr;
    )*) => {
        /// Which instruction.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum Op {
            $($(#[$doc])* $name $(($($ty),+))?,)*
        }

        impl Op {
            /// Every mnemonic.
            #[cfg(test)]
            pub const MNEMONICS: &[&str] = &[$($word),*];

            /// Classes of the operands. A jump has the parameters of its target beside these.
            #[allow(unused_variables, reason = "a row uses those of its fields that it needs")]
            pub fn operands(self) -> Kinds {
                let mut kinds = Kinds::new();
                match self {
                    $(Op::$name $(($($field),+))? => { $(Operands::add_to($operand, &mut kinds);)* })*
                }
                kinds
            }

            /// The number of operands. A jump has the parameters of its target beside these.
            #[allow(unused_variables, reason = "a row uses those of its fields that it needs")]
            pub fn arity(self) -> usize {
                match self {
                    $(Op::$name $(($($field),+))? => 0 $(+ Operands::count($operand))*,)*
                }
            }

            /// Class of the result, if there is one.
            pub fn result(self) -> Option<Kind> {
                match self {
                    $(Op::$name { .. } => operations!(@result $result),)*
                }
            }

            /// What it does beside defining its result.
            #[allow(unused_variables, reason = "a row uses those of its fields that it needs")]
            pub fn effect(self) -> Effect {
                match self {
                    $(Op::$name $(($($field),+))? => $effect,)*
                }
            }

            /// The blocks that may follow.
            #[allow(unused_variables, reason = "a row uses those of its fields that it needs")]
            pub fn targets(self) -> SmallVec<[Label; 2]> {
                match self {
                    $(Op::$name $(($($field),+))? => [None, $($(Field::label($field)),+)?].into_iter().flatten().collect(),)*
                }
            }

            /// True if a block may follow.
            #[allow(unused_variables, reason = "a row uses those of its fields that it needs")]
            pub fn goes_on(self) -> bool {
                match self {
                    $(Op::$name $(($($field),+))? => false $($(|| Field::label($field).is_some())+)?,)*
                }
            }

            /// The operation that a text names.
            pub fn read(text: &str) -> Option<Op> {
                let mut words = text.split('.');
                let op = match words.next()? {
                    $($word => Op::$name $(($(<$ty as Field>::read(words.next()?, stringify!($field))?),+))?,)*
                    _ => return None,
                };
                words.next().is_none().then_some(op)
            }
        }

        impl fmt::Display for Op {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match *self {
                    $(Op::$name $(($($field),+))? => {
                        f.write_str($word)?;
                        $($(write!(f, ".{}", $field.word(stringify!($field)))?;)+)?
                    })*
                }
                Ok(())
            }
        }
    };
}

operations! {
    /// An integer constant.
    Int(value: i64) = "int" () -> Int, Trivial;
    /// Word `k` of the launch record.
    Word(k: u32) = "word" () -> Int, Trivial;
    /// Integer arithmetic on general registers.
    Alu(bin: Bin, width: Width) = "alu" (Int, Int) -> Int, Pure;
    /// The same with an immediate second operand (not `Mul` by more than 32 bits; shifts: the count).
    AluImm(bin: Bin, width: Width, value: i32) = "alu_imm" (Int) -> Int, Pure;
    /// Extension of the low bits of a general register to 64 bits.
    Extend(mem: Mem) = "extend" (Int) -> Int, Pure;
    /// Quotient rounded to zero; operands are not (least, -1), and the divisor is not 0.
    Quot(signed: bool, width: Width) = "quot" (Int, Int) -> Int, Faults;
    /// Its remainder.
    Rem(signed: bool, width: Width) = "rem" (Int, Int) -> Int, Faults;
    /// High half of the product.
    MulHigh(signed: bool, width: Width) = "mul_high" (Int, Int) -> Int, Pure;
    /// Comparison of general registers; 0 or 1.
    Set(cond: Cond, width: Width) = "set" (Int, Int) -> Int, Pure;
    /// Comparison of scalar floats; 0 or 1.
    SetFloat(cond: Cond, lane: Lane) = "set_float" (Vec, Vec) -> Int, Pure;
    /// `a != 0 ? b : c` on general registers; of `a` the low 32 bits count.
    Choose = "choose" (Int, Int, Int) -> Int, Pure;
    /// A choice between general registers by a comparison of others: a, b, what it is if that holds, if not.
    ChooseIf(cond: Cond, width: Width) = "choose_if" (Int, Int, Int, Int) -> Int, Pure;
    /// `a != 0 ? b : c` on scalar floats; of `a` the low 32 bits count.
    ChooseFloat = "choose_float" (Int, Vec, Vec) -> Vec, Pure;
    /// The address itself: base, index.
    Lea(addr: Addr) = "lea" (addr) -> Int, Pure;
    /// A scalar element into a general register.
    Load(mem: Mem, addr: Addr) = "load" (addr) -> Int, Reads;
    /// A signed element of 32 bits into a general register, extended to 64.
    LoadLong(addr: Addr) = "load_long" (addr) -> Int, Reads;
    /// A scalar element from a general register: value, base, index.
    Store(mem: Mem, addr: Addr) = "store" (Int, addr) -> none, Writes;
    /// An element becomes what arithmetic (`Add`, `Sub`, `And`, `Or`, `Xor`) makes of it and of a general register: that, base,
    /// index.
    Update(bin: Bin, width: Width, addr: Addr) = "update" (Int, addr) -> none, Writes;
    /// The same with an immediate instead of the register: base, index.
    UpdateImm(bin: Bin, width: Width, value: i32, addr: Addr) = "update_imm" (addr) -> none, Writes;
    /// A scalar float into a vector register.
    LoadFloat(lane: Lane, addr: Addr) = "load_float" (addr) -> Vec, Reads;
    /// A scalar float: value, base, index.
    StoreFloat(lane: Lane, addr: Addr) = "store_float" (Vec, addr) -> none, Writes;
    /// Bits of a general register into a vector register.
    ToFloat(lane: Lane) = "to_float" (Int) -> Vec, Trivial;
    /// Bits of the lowest lane into a general register.
    FromFloat(lane: Lane) = "from_float" (Vec) -> Int, Pure;
    /// Scalar integer (width) to float.
    IntToFloat(width: Width, lane: Lane) = "int_to_float" (Int) -> Vec, Pure;
    /// Scalar float to integer (width), truncating; out of range: only the sign bit set.
    FloatToInt(lane: Lane, width: Width) = "float_to_int" (Vec) -> Int, Pure;
    /// The scalar float with these bits, or a vector with it (64-bit lanes: or the integer) in each lane.
    Constant(lane: Lane, extent: Extent, bits: i64) = "constant" () -> Vec, Trivial;
    /// Vector or scalar-float arithmetic with such a constant as second operand.
    VConst(bin: Bin, lane: Lane, extent: Extent, bits: i64) = "v_const" (Vec) -> Vec, Pure;
    /// Vector or scalar-float arithmetic.
    V(bin: Bin, lane: Lane, extent: Extent) = "v" (Vec, Vec) -> Vec, Pure;
    /// Vector arithmetic for the lanes of a mask, the first operand elsewhere: mask, operands. Only where masks have registers
    /// of their own.
    VMasked(bin: Bin, lane: Lane) = "v_masked" (Mask, Vec, Vec) -> Vec, Pure;
    /// Square root.
    Sqrt(lane: Lane, extent: Extent) = "sqrt" (Vec) -> Vec, Pure;
    /// Rounding to whole numbers.
    Round(round: Round, lane: Lane, extent: Extent) = "round" (Vec) -> Vec, Pure;
    /// `a * b + c`, rounded once: a, b, c.
    Fma(lane: Lane, extent: Extent) = "fma" (Vec, Vec, Vec) -> Vec, Pure;
    /// Every lane the low bits of a general register.
    Splat(lane: Lane) = "splat" (Int) -> Vec, Trivial;
    /// Every lane the scalar float.
    SplatFloat(lane: Lane) = "splat_float" (Vec) -> Vec, Trivial;
    /// Every lane the scalar float at an address: base, index.
    LoadSplat(lane: Lane, addr: Addr) = "load_splat" (addr) -> Vec, Reads;
    /// Lane `k` holds `start + k`.
    Iota(lane: Lane, start: u32) = "iota" () -> Vec, Trivial;
    /// Lane-wise comparison; the result is a mask.
    Cmp(cond: Cond, lane: Lane) = "cmp" (Vec, Vec) -> Mask, Pure;
    /// Whether no bit is set in both lanes (`Eq`), or some is (`Ne`). Only where masks have registers of their own.
    Test(cond: Cond, lane: Lane) = "test" (Vec, Vec) -> Mask, Pure;
    /// Lane-wise choice: mask, if set, if clear.
    Blend(lane: Lane) = "blend" (Mask, Vec, Vec) -> Vec, Pure;
    /// High half of the products of 32-bit lanes.
    VMulHigh(signed: bool) = "v_mul_high" (Vec, Vec) -> Vec, Pure;
    /// A shift of all lanes by an immediate.
    VShiftImm(bin: Bin, lane: Lane, count: u8) = "v_shift_imm" (Vec) -> Vec, Pure;
    /// Lanes of the same width to other lanes of that width.
    Convert(change: Change, from: Lane, to: Lane) = "convert" (Vec) -> Vec, Pure;
    /// Half of the narrow lanes (`true`: the upper ones) to wide lanes.
    Widen(change: Change, from: Lane, to: Lane, upper: bool) = "widen" (Vec) -> Vec, Pure;
    /// Two registers of wide lanes to one of narrow lanes.
    Narrow(change: Change, from: Lane, to: Lane) = "narrow" (Vec, Vec) -> Vec, Pure;
    /// Scalar float to the other float type.
    ConvertFloat(from: Lane, to: Lane) = "convert_float" (Vec) -> Vec, Pure;
    /// The upper lanes moved down by this many bytes; the rest is unspecified.
    MoveDown(bytes: u8) = "move_down" (Vec) -> Vec, Pure;
    /// The lanes moved up by this many bytes; into the lowest ones come the highest of the first operand.
    MoveUp(bytes: u8) = "move_up" (Vec, Vec) -> Vec, Pure;
    /// Every lane the last one.
    SplatLast(lane: Lane) = "splat_last" (Vec) -> Vec, Pure;
    /// The even lanes of the first register, then the odd ones of the second.
    Alternate(lane: Lane) = "alternate" (Vec, Vec) -> Vec, Pure;
    /// The lanes in reverse order.
    Reverse(lane: Lane) = "reverse" (Vec) -> Vec, Pure;
    /// A vector of elements at consecutive places; small integers are extended: base, index.
    VLoad(mem: Mem, addr: Addr) = "v_load" (addr) -> Vec, Reads;
    /// The same for the lanes of a mask, zero elsewhere; other places are not touched: mask, base, index.
    VLoadMask(mem: Mem, addr: Addr) = "v_load_mask" (Mask, addr) -> Vec, Reads;
    /// A vector to consecutive places: value, base, index. `past_caches`: to an aligned place, not through the caches.
    VStore(mem: Mem, addr: Addr, past_caches: bool) = "v_store" (Vec, addr) -> none, Writes;
    /// For the lanes of a mask: value, mask, base, index.
    VStoreMask(mem: Mem, addr: Addr) = "v_store_mask" (Vec, Mask, addr) -> none, Writes;
    /// What lies at an address will be read or written soon; it may be outside of any array, and then nothing happens. A target may do
    /// nothing: base, index.
    Prefetch(addr: Addr) = "prefetch" (addr) -> none, Hints;
    /// Elements at `base + index_k * size` for the lanes of a mask, zero elsewhere: mask, base, indices.
    Gather(mem: Mem) = "gather" (Mask, Int, Indices(mem)) -> Vec, Reads;
    /// The same, element by element, for sizes the hardware has no gather for.
    GatherEach(mem: Mem) = "gather_each" (Mask, Int, Indices(mem)) -> Vec, Reads;
    /// The reverse: value, mask, base, indices.
    ScatterEach(mem: Mem) = "scatter_each" (Vec, Mask, Int, Indices(mem)) -> none, Writes;
    /// Elements at equal distances, small integers extended: the first one's address, the distance in bytes.
    LoadSpaced(mem: Mem) = "load_spaced" (Int, Int) -> Vec, Reads;
    /// The reverse: value, the first one's address, the distance in bytes.
    StoreSpaced(mem: Mem) = "store_spaced" (Vec, Int, Int) -> none, Writes;
    /// Every lane set.
    MaskAll = "mask_all" () -> Mask, Trivial;
    /// Arithmetic on masks (`And`, `Or`, `Xor`, `AndNot`).
    MaskLogic(bin: Bin) = "mask_logic" (Mask, Mask) -> Mask, Pure;
    /// The mask of the lower or upper (`true`) wide lanes out of a mask of narrow lanes.
    MaskHalf(upper: bool) = "mask_half" (Mask) -> Mask, Pure;
    /// The mask of narrow lanes out of two masks of wide lanes.
    MaskJoin = "mask_join" (Mask, Mask) -> Mask, Pure;
    /// After a turn of a loop: takes this from the launch's allowance of work; when that is used up, asks the host
    /// whether to go on. If not, the function ends as if something had trapped.
    Poll(cost: u32) = "poll" () -> none, Polls;
    /// The same, but only where these of the low 32 bits of a counter are all clear.
    PollAt(cost: u32, bits: i32) = "poll_at" (Int) -> none, Polls;
    /// A call of a helper on up to three vectors (or scalars in vectors).
    Help(helper: Helper, extent: Extent) = "help" (Each(helper, Vec)) -> Vec, Calls(extent);
    /// A call of a helper on up to three general registers.
    HelpScalar(helper: Helper) = "help_scalar" (Each(helper, Int)) -> Int, Calls(Extent::One);
    /// The address of a room of its own for an array that the code makes, with so many bytes; 0 if there is none. What the
    /// room held before is lost.
    Room(number: u32) = "room" (Int) -> Int, Gives;
    /// An address under another name: what is read through it is read after all that was done before, and nothing is read
    /// through its other names any more.
    Version = "version" (Int) -> Int, Stays;
    /// A vector (or a scalar in one) that may be wrong where the second operand says so: as it is if that is nowhere, else
    /// what a helper gives: value, where, the helper's operands.
    Mend(helper: Helper, extent: Extent) = "mend" (Vec, Truth(extent), Each(helper, Vec)) -> Vec, MayCall(extent);
    /// To a block, with its parameters.
    Jump(to: Label) = "jump" () -> none, Ends;
    /// To the first block if the comparison holds, else to the second.
    BranchIf(cond: Cond, width: Width, yes: Label, no: Label) = "branch_if" (Int, Int) -> none, Ends;
    /// The same with an immediate second operand.
    BranchIfImm(cond: Cond, width: Width, value: i32, yes: Label, no: Label) = "branch_if_imm" (Int) -> none, Ends;
    /// To the first block if the low 32 bits of the value are not all 0.
    BranchBool(yes: Label, no: Label) = "branch_bool" (Int) -> none, Ends;
    /// To the first block if some lane is set.
    BranchAny(yes: Label, no: Label) = "branch_any" (Mask) -> none, Ends;
    /// The end: all is well.
    Return = "return" () -> none, Ends;
    /// The end: something trapped.
    Trap = "trap" () -> none, Ends;
}
