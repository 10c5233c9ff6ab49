//! What operations carry beside registers: widths, lanes, conditions, addresses; each with its words in the text form.
//!
//! A word holds neither blanks nor dots, so that an operation is its mnemonic and its fields' words with dots in between.

use super::Label;
use crate::library::Helper;
use galopvm_base::{ElemType, ScalarOp};
use std::str::FromStr;

/// Something that an operation carries.
pub trait Field: Copy {
    /// Its word; `name` is what the operation calls the field.
    fn word(self, name: &str) -> String;

    /// What a word stands for.
    fn read(word: &str, name: &str) -> Option<Self>;

    /// The block that it names, if that is what it does.
    fn label(self) -> Option<Label> {
        None
    }
}

/// Enumerations whose values have a word each.
macro_rules! words {
    ($($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $value:ident = $word:literal,)* })*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
            pub enum $name {
                $($(#[$doc])* $value,)*
            }

            impl $name {
                /// The word in the text form.
                pub const fn name(self) -> &'static str {
                    match self {
                        $($name::$value => $word,)*
                    }
                }
            }

            impl Field for $name {
                fn word(self, _: &str) -> String {
                    self.name().to_string()
                }

                fn read(word: &str, _: &str) -> Option<$name> {
                    match word {
                        $($word => Some($name::$value),)*
                        _ => None,
                    }
                }
            }
        )*
    };
}

words! {
    /// What a register can hold.
    pub enum Class {
        /// A general-purpose register: integers, truth values, addresses.
        Int = "int",
        /// A vector register, or a scalar float in one.
        Vec = "vec",
        /// A mask register, where the target has such; elsewhere masks are in vector registers.
        Mask = "mask",
    }

    /// Operand width of an integer instruction.
    pub enum Width {
        /// 32 bits; the upper half of the register is unspecified.
        W32 = "w32",
        /// 64 bits.
        W64 = "w64",
    }

    /// What a lane of a vector holds. Narrow integers live in 32-bit lanes, extended by their own signedness.
    pub enum Lane {
        /// 32-bit integer.
        I32 = "i32",
        /// 64-bit integer.
        I64 = "i64",
        /// Single.
        F32 = "f32",
        /// Double.
        F64 = "f64",
    }

    /// How many lanes of a vector register an instruction works on.
    pub enum Extent {
        /// The lowest lane: a scalar float.
        One = "one",
        /// All of them.
        All = "all",
    }

    /// Two-operand work, on general registers for uniform integers and on vector registers otherwise.
    pub enum Bin {
        /// Sum.
        Add = "add",
        /// Difference.
        Sub = "sub",
        /// Product, low half.
        Mul = "mul",
        /// Float quotient.
        Div = "div",
        /// Bitwise and.
        And = "and",
        /// Bitwise or.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// `!a & b`, vectors only.
        AndNot = "and_not",
        /// Lesser, signed integers.
        MinS = "min_s",
        /// Greater, signed integers.
        MaxS = "max_s",
        /// Lesser, unsigned integers.
        MinU = "min_u",
        /// Greater, unsigned integers.
        MaxU = "max_u",
        /// `a < b ? a : b` on floats: the second operand if they are equal or unordered.
        FMin = "fmin",
        /// `a > b ? a : b` on floats: the second operand if they are equal or unordered.
        FMax = "fmax",
        /// Shift left; vectors: by any count, general registers: by less than the width.
        Shl = "shl",
        /// Shift right with zeros; counts as for `Shl`.
        Shr = "shr",
        /// Shift right with sign bits; counts as for `Shl`.
        Sar = "sar",
    }

    /// A comparison. `Ne` is true and the others are false for unordered floats.
    pub enum Cond {
        /// Equal.
        Eq = "eq",
        /// Not equal.
        Ne = "ne",
        /// Less, signed or float.
        Lt = "lt",
        /// Less or equal, signed or float.
        Le = "le",
        /// Less, unsigned.
        Below = "below",
        /// Less or equal, unsigned.
        BelowEq = "below_eq",
    }

    /// Rounding of a float to a whole number.
    pub enum Round {
        /// To nearest, ties to even.
        Nearest = "nearest",
        /// Down.
        Floor = "floor",
        /// Up.
        Ceil = "ceil",
        /// Towards zero.
        Trunc = "trunc",
    }

    /// Conversions between lanes of equal count; `to` and `from` of different width take or give register pairs.
    pub enum Change {
        /// Signed integer to float, or float to signed integer with truncation (out of range: only the sign bit set).
        Signed = "signed",
        /// Unsigned integer to float, or float to unsigned integer with truncation (out of range: all bits set).
        Unsigned = "unsigned",
        /// Float to float.
        Float = "float",
        /// Integer to a wider integer with sign extension, or to a narrower one by truncation.
        Extend = "extend",
        /// Integer to a wider integer with zeros.
        ExtendZero = "extend_zero",
    }

    /// What an element in memory is, for loads and stores.
    pub enum Mem {
        /// Signed byte.
        S8 = "s8",
        /// Unsigned byte.
        U8 = "u8",
        /// Signed 16 bits.
        S16 = "s16",
        /// Unsigned 16 bits.
        U16 = "u16",
        /// 32 bits.
        B32 = "b32",
        /// 64 bits.
        B64 = "b64",
    }
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

/// `x8+16`: an index register times eight, plus 16; `+16`: no index register.
impl Field for Addr {
    fn word(self, _: &str) -> String {
        match self.scale {
            0 => format!("{:+}", self.disp),
            scale => format!("x{scale}{:+}", self.disp),
        }
    }

    fn read(word: &str, _: &str) -> Option<Addr> {
        let (scale, disp) = match word.strip_prefix('x') {
            Some(rest) => {
                let (scale, disp) = rest.split_at_checked(1)?;
                (scale.parse().ok().filter(|scale| matches!(scale, 1 | 2 | 4 | 8))?, disp)
            }
            None => (0, word),
        };
        let disp = disp.starts_with(['+', '-']).then(|| disp.parse().ok()).flatten()?;
        Some(Addr { scale, disp })
    }
}

impl Field for Label {
    fn word(self, _: &str) -> String {
        self.to_string()
    }

    fn read(word: &str, _: &str) -> Option<Label> {
        word.strip_prefix("block")?.parse().ok().map(Label)
    }

    fn label(self) -> Option<Label> {
        Some(self)
    }
}

/// `exp:f32`: an operation on a type; `f32>i64`: a conversion.
impl Field for Helper {
    fn word(self, _: &str) -> String {
        match self {
            Helper::Apply(op, ty) => format!("{op}:{ty}"),
            Helper::Convert(from, to) => format!("{from}>{to}"),
        }
    }

    fn read(word: &str, _: &str) -> Option<Helper> {
        let ty = |word: &str| ElemType::from_str(word).ok();
        if let Some((op, of)) = word.split_once(':') {
            return Some(Helper::Apply(ScalarOp::from_str(op).ok()?, ty(of)?));
        }
        let (from, to) = word.split_once('>')?;
        Some(Helper::Convert(ty(from)?, ty(to)?))
    }
}

/// The field's name where it holds, `not_` and the name where it does not.
impl Field for bool {
    fn word(self, name: &str) -> String {
        if self { name.to_string() } else { format!("not_{name}") }
    }

    fn read(word: &str, name: &str) -> Option<bool> {
        match word.strip_prefix("not_") {
            Some(rest) => (rest == name).then_some(false),
            None => (word == name).then_some(true),
        }
    }
}

macro_rules! numbers {
    ($($ty:ty)*) => {
        $(impl Field for $ty {
            fn word(self, _: &str) -> String {
                self.to_string()
            }

            fn read(word: &str, _: &str) -> Option<$ty> {
                word.parse().ok()
            }
        })*
    };
}

numbers! { u8 u32 i32 i64 }
