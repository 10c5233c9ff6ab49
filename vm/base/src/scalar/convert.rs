//! Conversions between element types.
//!
//! Integers sign- or zero-extend by the *source* type and truncate to the target. Floats to integers drop the
//! fraction; NaN and the infinities give 0, finite values out of range saturate. Anything to bool asks "is it
//! not zero".

use super::value::Bits;
use crate::elem::ElemType;
use half::f16;

/// Converts the bits of a value of type `from` to type `to`.
pub fn convert(from: ElemType, to: ElemType, bits: Bits) -> Bits {
    convert_inlined(from, to, bits)
}

/// [`convert`], to be specialised where the types are constants.
#[inline(always)]
pub fn convert_inlined(from: ElemType, to: ElemType, bits: Bits) -> Bits {
    use ElemType::*;
    match from {
        _ if from == to => bits,
        I8 => from_signed(to, bits as i8 as i64),
        I16 => from_signed(to, bits as i16 as i64),
        I32 => from_signed(to, bits as i32 as i64),
        I64 => from_signed(to, bits as i64),
        U8 | U16 | U32 | U64 | Bool => from_unsigned(to, bits),
        F16 => from_float(to, f16::from_bits(bits as u16).to_f64()),
        F32 => from_float(to, f32::from_bits(bits as u32) as f64),
        F64 => from_float(to, f64::from_bits(bits)),
    }
}

#[inline(always)]
fn from_signed(to: ElemType, value: i64) -> Bits {
    match to {
        ElemType::F16 => half_of(value as f64).to_bits() as u64,
        ElemType::F32 => (value as f32).to_bits() as u64,
        ElemType::F64 => (value as f64).to_bits(),
        ElemType::Bool => (value != 0) as u64,
        _ => value as u64 & to.mask(),
    }
}

#[inline(always)]
fn from_unsigned(to: ElemType, value: u64) -> Bits {
    match to {
        ElemType::F16 => half_of(value as f64).to_bits() as u64,
        ElemType::F32 => (value as f32).to_bits() as u64,
        ElemType::F64 => (value as f64).to_bits(),
        ElemType::Bool => (value != 0) as u64,
        _ => value & to.mask(),
    }
}

/// An integer as a half: above 2^53 rounding to f64 first cannot matter, since halves end at 65504.
#[inline(always)]
fn half_of(value: f64) -> f16 {
    f16::from_f64(value)
}

#[inline(always)]
fn from_float(to: ElemType, value: f64) -> Bits {
    let finite = if value.is_finite() { value } else { 0.0 };
    match to {
        ElemType::I8 => finite as i8 as u8 as u64,
        ElemType::I16 => finite as i16 as u16 as u64,
        ElemType::I32 => finite as i32 as u32 as u64,
        ElemType::I64 => finite as i64 as u64,
        ElemType::U8 => finite as u8 as u64,
        ElemType::U16 => finite as u16 as u64,
        ElemType::U32 => finite as u32 as u64,
        ElemType::U64 => finite as u64,
        ElemType::F16 => f16::from_f64(value).to_bits() as u64,
        ElemType::F32 => (value as f32).to_bits() as u64,
        ElemType::F64 => value.to_bits(),
        ElemType::Bool => (value != 0.0) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extends_by_the_source_and_truncates_to_the_target() {
        assert_eq!(convert(ElemType::I8, ElemType::I32, 0xff), 0xffff_ffff);
        assert_eq!(convert(ElemType::U8, ElemType::I32, 0xff), 0xff);
        assert_eq!(convert(ElemType::I64, ElemType::I8, 0x1_80), 0x80);
    }

    #[test]
    fn odd_floats_become_zero_and_large_ones_saturate() {
        let single = |x: f32| x.to_bits() as u64;
        assert_eq!(convert(ElemType::F32, ElemType::I32, single(f32::NAN)), 0);
        assert_eq!(convert(ElemType::F32, ElemType::I32, single(f32::INFINITY)), 0);
        assert_eq!(convert(ElemType::F32, ElemType::I32, single(-1.9)), -1i32 as u32 as u64);
        assert_eq!(convert(ElemType::F32, ElemType::U8, single(300.0)), 255);
    }
}
