//! How floats lie in bits, for code that looks at these.

use super::{BinOp, Code, Ty, UnOp, Val};

/// How a float type lies in bits.
#[derive(Clone, Copy)]
pub struct Format {
    /// The integer type of the same width.
    pub bits: Ty,
    /// Bits of the fraction.
    pub fraction: u32,
    /// The bit of the sign.
    pub sign: u64,
    /// The bits of infinity.
    pub infinity: u64,
}

impl Format {
    /// The format of a float type.
    pub fn of(ty: Ty) -> Format {
        if ty == Ty::F64 {
            Format { bits: Ty::B64, fraction: 52, sign: 1 << 63, infinity: 0x7ff << 52 }
        } else {
            Format { bits: Ty::B32, fraction: 23, sign: 1 << 31, infinity: 0xff << 23 }
        }
    }

    /// What is added to exponents.
    pub fn bias(self) -> u64 {
        self.infinity >> self.fraction >> 1
    }

    /// The bits of two to this power.
    pub fn power(self, exponent: i64) -> u64 {
        self.bias().wrapping_add_signed(exponent) << self.fraction
    }
}

impl Code {
    /// The bits of a float without its sign.
    pub fn magnitude(&mut self, a: Val) -> Val {
        let f = Format::of(self.ty(a));
        let bits = self.un(UnOp::BitsOf, a);
        let mask = self.constant(f.bits, !f.sign);
        self.bin(BinOp::And, bits, mask)
    }
}
