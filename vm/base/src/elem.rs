//! The element types of arrays, which are also the types of scalars.

use std::fmt;
use std::str::FromStr;

/// An element type. The discriminants are part of the `.gbc` format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
pub enum ElemType {
    /// 8-bit signed integer.
    I8 = 0,
    /// 16-bit signed integer.
    I16 = 1,
    /// 32-bit signed integer.
    I32 = 2,
    /// 64-bit signed integer; sizes and indices have this type.
    I64 = 3,
    /// 8-bit unsigned integer.
    U8 = 4,
    /// 16-bit unsigned integer.
    U16 = 5,
    /// 32-bit unsigned integer.
    U32 = 6,
    /// 64-bit unsigned integer.
    U64 = 7,
    /// IEEE half.
    F16 = 8,
    /// IEEE single.
    F32 = 9,
    /// IEEE double.
    F64 = 10,
    /// Truth value, one byte holding 0 or 1.
    Bool = 11,
}

impl ElemType {
    /// Every element type, in the order of their codes.
    pub const ALL: [ElemType; 12] = [
        ElemType::I8,
        ElemType::I16,
        ElemType::I32,
        ElemType::I64,
        ElemType::U8,
        ElemType::U16,
        ElemType::U32,
        ElemType::U64,
        ElemType::F16,
        ElemType::F32,
        ElemType::F64,
        ElemType::Bool,
    ];

    /// The name in Futhark, in bytecode text and in KIR text.
    pub const fn name(self) -> &'static str {
        match self {
            ElemType::I8 => "i8",
            ElemType::I16 => "i16",
            ElemType::I32 => "i32",
            ElemType::I64 => "i64",
            ElemType::U8 => "u8",
            ElemType::U16 => "u16",
            ElemType::U32 => "u32",
            ElemType::U64 => "u64",
            ElemType::F16 => "f16",
            ElemType::F32 => "f32",
            ElemType::F64 => "f64",
            ElemType::Bool => "bool",
        }
    }

    /// The code stored in `.gbc` files.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The type with this code, if there is one.
    pub fn from_code(code: u8) -> Option<ElemType> {
        ElemType::ALL.get(code as usize).copied()
    }

    /// Bytes of one element in memory.
    pub const fn bytes(self) -> usize {
        match self {
            ElemType::I8 | ElemType::U8 | ElemType::Bool => 1,
            ElemType::I16 | ElemType::U16 | ElemType::F16 => 2,
            ElemType::I32 | ElemType::U32 | ElemType::F32 => 4,
            ElemType::I64 | ElemType::U64 | ElemType::F64 => 8,
        }
    }

    /// Bits of one element (a `bool` counts as 8).
    pub const fn bits(self) -> u32 {
        self.bytes() as u32 * 8
    }

    /// How far the integers of this type go from zero: those below it, or those above it.
    pub const fn reach(self, below: bool) -> u64 {
        match (self.is_signed(), below) {
            (true, _) => (self.mask() >> 1) + below as u64,
            (false, true) => 0,
            (false, false) => self.mask(),
        }
    }

    /// The bits an element of this type may occupy in [`crate::Bits`].
    pub const fn mask(self) -> u64 {
        match self {
            ElemType::Bool => 1,
            _ => u64::MAX >> (64 - self.bits()),
        }
    }

    /// A signed integer type.
    pub const fn is_signed(self) -> bool {
        matches!(self, ElemType::I8 | ElemType::I16 | ElemType::I32 | ElemType::I64)
    }

    /// An unsigned integer type.
    pub const fn is_unsigned(self) -> bool {
        matches!(self, ElemType::U8 | ElemType::U16 | ElemType::U32 | ElemType::U64)
    }

    /// An integer type.
    pub const fn is_int(self) -> bool {
        self.is_signed() || self.is_unsigned()
    }

    /// A floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, ElemType::F16 | ElemType::F32 | ElemType::F64)
    }
}

impl fmt::Display for ElemType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ElemType {
    type Err = ();

    fn from_str(text: &str) -> Result<ElemType, ()> {
        ElemType::ALL.into_iter().find(|t| t.name() == text).ok_or(())
    }
}
