//! The vector instructions in use, one row each (see [`super::encode::Row`]).

use super::encode::Map::{M0F, M3A, M38};
use super::encode::Prefix::{F2, F3, None as NP, P66};
use super::encode::{Row, row, row_w0};
use crate::lir::{Bin, Change, Cond, Lane, Mem, Round};

pub const MOV_ALIGNED: Row = row(P66, M0F, 0x6f, 1);
pub const MOV_ALIGNED_SSE: Row = row(NP, M0F, 0x28, 0);
pub const MOV_LOAD: Row = row(F3, M0F, 0x6f, 1);
pub const MOV_STORE: Row = row(F3, M0F, 0x7f, 1);
pub const LOAD_NARROW: Row = row(NP, M0F, 0x10, 0);
pub const STORE_NARROW: Row = row(NP, M0F, 0x11, 0);
pub const LOAD_WIDE: Row = row(P66, M0F, 0x10, 1);
pub const STORE_WIDE: Row = row(P66, M0F, 0x11, 1);
pub const STREAM: Row = row(NP, M0F, 0x2b, 0);
pub const LOAD_F32: Row = row(F3, M0F, 0x10, 0);
pub const STORE_F32: Row = row(F3, M0F, 0x11, 0);
pub const LOAD_F64: Row = row_w0(F2, M0F, 0x10, 1);
pub const STORE_F64: Row = row_w0(F2, M0F, 0x11, 1);
/// The upper 64 of 128 bits.
pub const LOAD_UPPER: Row = row_w0(P66, M0F, 0x16, 1);
pub const STORE_UPPER: Row = row_w0(P66, M0F, 0x17, 1);
/// 32 of 128 bits, by number; the next ones 16 and 8.
pub const INSERT_D: Row = row(P66, M3A, 0x22, 0);
pub const EXTRACT_D: Row = row(P66, M3A, 0x16, 0);
pub const EXTRACT_W: Row = row(P66, M3A, 0x15, 0);
pub const EXTRACT_B: Row = row(P66, M3A, 0x14, 0);
pub const FROM_GPR32: Row = row(P66, M0F, 0x6e, 0);
pub const FROM_GPR64: Row = row(P66, M0F, 0x6e, 1);
pub const TO_GPR32: Row = row(P66, M0F, 0x7e, 0);
pub const TO_GPR64: Row = row(P66, M0F, 0x7e, 1);
pub const MASK_LOAD_F32: Row = row(P66, M38, 0x2c, 0);
pub const MASK_LOAD_F64: Row = row_w0(P66, M38, 0x2d, 0);
pub const MASK_STORE_F32: Row = row(P66, M38, 0x2e, 0);
pub const MASK_STORE_F64: Row = row_w0(P66, M38, 0x2f, 0);
pub const GATHER_NARROW: Row = row(P66, M38, 0x91, 0);
pub const GATHER_WIDE: Row = row(P66, M38, 0x91, 1);
pub const SPLAT_GPR32: Row = row(P66, M38, 0x7c, 0);
pub const SPLAT_GPR64: Row = row(P66, M38, 0x7c, 1);
pub const SPLAT_D: Row = row(P66, M38, 0x58, 0);
pub const SPLAT_Q: Row = row_w0(P66, M38, 0x59, 1);
pub const SPLAT_SS: Row = row(P66, M38, 0x18, 0);
pub const SPLAT_SD: Row = row_w0(P66, M38, 0x19, 1);
pub const EXTRACT_HALF_512: Row = row(P66, M3A, 0x3b, 1);
/// Half of 256 bits, or a quarter of 512.
pub const EXTRACT_HALF_256: Row = row(P66, M3A, 0x39, 0);
pub const INSERT_HALF_512: Row = row(P66, M3A, 0x3a, 1);
/// Half of 256 bits, or a quarter of 512.
pub const INSERT_HALF_256: Row = row(P66, M3A, 0x38, 0);
pub const SHUFFLE_D: Row = row(P66, M0F, 0x70, 0);
pub const SHUFFLE_PS: Row = row(NP, M0F, 0xc6, 0);
pub const SHUFFLE_PD: Row = row_w0(P66, M0F, 0xc6, 1);
pub const PERMUTE_Q_IMM: Row = row(P66, M3A, 0x00, 1);
pub const PERMUTE_D: Row = row(P66, M38, 0x36, 0);
pub const PERMUTE_Q: Row = row(P66, M38, 0x36, 1);
/// Lanes of two registers by number, over the numbers. Without a VEX form, as the next one.
pub const PICK_D: Row = row(P66, M38, 0x76, 0);
pub const PICK_Q: Row = row(P66, M38, 0x76, 1);
pub const PERMUTE_HALVES: Row = row(P66, M3A, 0x46, 0);
pub const ALIGN_BYTES: Row = row(P66, M3A, 0x0f, 0);
pub const ALIGN_D: Row = row(P66, M3A, 0x03, 0);
pub const BLEND_PS: Row = row(P66, M3A, 0x4a, 0);
pub const BLEND_PD: Row = row(P66, M3A, 0x4b, 0);
/// For VEX alone.
pub const BLEND_D: Row = row(P66, M3A, 0x02, 0);
pub const BLEND_D_MASK: Row = row(P66, M38, 0x64, 0);
pub const BLEND_Q_MASK: Row = row(P66, M38, 0x64, 1);
pub const EQUAL_D: Row = row(P66, M0F, 0x76, 0);
pub const EQUAL_Q: Row = row(P66, M38, 0x29, 0);
pub const GREATER_D: Row = row(P66, M0F, 0x66, 0);
pub const GREATER_Q: Row = row(P66, M38, 0x37, 0);
pub const MULTIPLY_DQ: Row = row(P66, M0F, 0xf4, 1);
pub const MULTIPLY_DQ_SIGNED: Row = row(P66, M38, 0x28, 1);
pub const XOR: Row = row(P66, M0F, 0xef, 0);
pub const TEST: Row = row(P66, M38, 0x17, 0);
pub const MASK_BITS: Row = row(NP, M0F, 0x50, 0);
pub const PACK_WORDS: Row = row(P66, M38, 0x2b, 0);
pub const PACK_BYTES: Row = row(P66, M0F, 0x67, 0);
pub const STORE_BYTES: Row = row(F3, M38, 0x31, 0);
pub const STORE_WORDS: Row = row(F3, M38, 0x33, 0);
pub const TRUNCATE_Q: Row = row(F3, M38, 0x35, 0);
pub const K_MOVE: Row = row(NP, M0F, 0x90, 0);
pub const K_STORE: Row = row(NP, M0F, 0x91, 0);
pub const K_TO_GPR: Row = row(NP, M0F, 0x93, 0);
pub const K_AND: Row = row(NP, M0F, 0x41, 0);
pub const K_AND_NOT: Row = row(NP, M0F, 0x42, 0);
pub const K_OR: Row = row(NP, M0F, 0x45, 0);
pub const K_XNOR: Row = row(NP, M0F, 0x46, 0);
pub const K_XOR: Row = row(NP, M0F, 0x47, 0);
pub const K_TEST: Row = row(NP, M0F, 0x98, 0);
pub const K_SHIFT_RIGHT: Row = row(P66, M3A, 0x30, 1);
pub const K_UNPACK: Row = row(P66, M0F, 0x4b, 0);

/// A vector of elements at consecutive places.
pub fn load(mem: Mem) -> Row {
    match mem {
        Mem::B32 => LOAD_NARROW,
        Mem::B64 => LOAD_WIDE,
        Mem::S8 | Mem::U8 | Mem::S16 | Mem::U16 => {
            extend_load(mem.bytes(), matches!(mem, Mem::S8 | Mem::S16))
        }
    }
}

/// A vector to consecutive places.
pub fn store(mem: Mem) -> Row {
    match mem {
        Mem::B32 => STORE_NARROW,
        Mem::B64 => STORE_WIDE,
        Mem::S8 | Mem::U8 => STORE_BYTES,
        Mem::S16 | Mem::U16 => STORE_WORDS,
    }
}

/// Extending load of small integers into 32-bit lanes: from bytes or words, signed or not.
pub fn extend_load(bytes: usize, signed: bool) -> Row {
    let opcode = match (bytes, signed) {
        (1, true) => 0x21,
        (1, false) => 0x31,
        (_, true) => 0x23,
        (_, false) => 0x33,
    };
    row(P66, M38, opcode, 0)
}

/// Lane arithmetic on vectors.
pub fn bin(bin: Bin, lane: Lane) -> Option<Row> {
    let wide = lane.is_wide() as u8;
    let float = |opcode| row(if wide == 1 { P66 } else { NP }, M0F, opcode, wide);
    let int = |narrow, wide_opcode| row(P66, M0F, if wide == 1 { wide_opcode } else { narrow }, wide);
    let int38 = |opcode| row(P66, M38, opcode, wide);
    Some(match (bin, lane.is_float()) {
        (Bin::Add, true) => float(0x58),
        (Bin::Mul, true) => float(0x59),
        (Bin::Sub, true) => float(0x5c),
        (Bin::FMin, true) => float(0x5d),
        (Bin::Div, true) => float(0x5e),
        (Bin::FMax, true) => float(0x5f),
        (Bin::And, _) => row(P66, M0F, 0xdb, wide),
        (Bin::AndNot, _) => row(P66, M0F, 0xdf, wide),
        (Bin::Or, _) => row(P66, M0F, 0xeb, wide),
        (Bin::Xor, _) => row(P66, M0F, 0xef, wide),
        (Bin::Add, false) => int(0xfe, 0xd4),
        (Bin::Sub, false) => int(0xfa, 0xfb),
        (Bin::Mul, false) => int38(0x40),
        (Bin::MinS, false) => int38(0x39),
        (Bin::MinU, false) => int38(0x3b),
        (Bin::MaxS, false) => int38(0x3d),
        (Bin::MaxU, false) => int38(0x3f),
        (Bin::Shr, false) => int38(0x45),
        (Bin::Sar, false) => int38(0x46),
        (Bin::Shl, false) => int38(0x47),
        _ => return None,
    })
}

/// The scalar form of a float instruction: the prefix tells the type.
pub fn scalar(packed: Row, lane: Lane) -> Row {
    Row { prefix: if lane == Lane::F64 { F2 } else { F3 }, w: lane == Lane::F64, ..packed }
}

/// Square root on all lanes.
pub fn sqrt(lane: Lane) -> Row {
    let wide = lane.is_wide() as u8;
    row(if wide == 1 { P66 } else { NP }, M0F, 0x51, wide)
}

/// Rounding on all lanes, or on the lowest.
pub fn round(lane: Lane, one: bool) -> Row {
    let wide = lane.is_wide() as u8;
    row(P66, M3A, 0x08 | (one as u8) << 1 | wide, wide)
}

/// `a * b + addend` with the addend replaced, on all lanes or on the lowest.
pub fn fma(lane: Lane, one: bool) -> Row {
    row(P66, M38, 0xb8 | one as u8, lane.is_wide() as u8)
}

/// Float comparison by an immediate predicate.
pub fn compare_float(lane: Lane) -> Row {
    let wide = lane.is_wide() as u8;
    row(if wide == 1 { P66 } else { NP }, M0F, 0xc2, wide)
}

/// Comparison of integers into a mask register by an immediate predicate.
pub fn compare_int(lane: Lane, unsigned: bool) -> Row {
    row(P66, M3A, if unsigned { 0x1e } else { 0x1f }, lane.is_wide() as u8)
}

/// Whether lanes of integers have bits in common, into a mask register.
pub fn test_int(cond: Cond, lane: Lane) -> Option<Row> {
    let prefix = match cond {
        Cond::Eq => F3,
        Cond::Ne => P66,
        _ => return None,
    };
    (!lane.is_float()).then(|| row(prefix, M38, 0x27, lane.is_wide() as u8))
}

/// Ordered comparison of scalar floats into the flags.
pub fn compare_flags(lane: Lane) -> Row {
    let wide = lane.is_wide() as u8;
    row(if wide == 1 { P66 } else { NP }, M0F, 0x2e, wide)
}

/// Shift of all lanes by an immediate, with its opcode extension.
pub fn shift_imm(bin: Bin, lane: Lane) -> Option<(Row, u8)> {
    let wide = lane.is_wide() as u8;
    Some(match bin {
        Bin::Shl => (row(P66, M0F, 0x72 | wide, wide), 6),
        Bin::Shr => (row(P66, M0F, 0x72 | wide, wide), 2),
        // The 64-bit form exists in AVX-512 only, under the 32-bit form's opcode.
        Bin::Sar => (row(P66, M0F, 0x72, wide), 4),
        _ => return None,
    })
}

/// The immediate of the rounding instructions; exceptions are not told.
pub fn rounding(round: Round) -> u8 {
    match round {
        Round::Nearest => 8,
        Round::Floor => 9,
        Round::Ceil => 10,
        Round::Trunc => 11,
    }
}

/// Conversion between lanes of the same or different width. Narrow sources of wide targets and narrow targets of
/// wide sources take half a register.
pub fn convert(change: Change, from: Lane, to: Lane) -> Option<Row> {
    Some(match (change, from, to) {
        (Change::Signed, Lane::I32, Lane::F32) => row(NP, M0F, 0x5b, 0),
        (Change::Unsigned, Lane::I32, Lane::F32) => row(F2, M0F, 0x7a, 0),
        (Change::Signed, Lane::F32, Lane::I32) => row(F3, M0F, 0x5b, 0),
        (Change::Unsigned, Lane::F32, Lane::I32) => row(NP, M0F, 0x78, 0),
        (Change::Signed, Lane::I64, Lane::F64) => row(F3, M0F, 0xe6, 1),
        (Change::Unsigned, Lane::I64, Lane::F64) => row(F3, M0F, 0x7a, 1),
        (Change::Signed, Lane::F64, Lane::I64) => row(P66, M0F, 0x7a, 1),
        (Change::Unsigned, Lane::F64, Lane::I64) => row(P66, M0F, 0x78, 1),
        (Change::Extend, Lane::I32, Lane::I64) => row(P66, M38, 0x25, 0),
        (Change::ExtendZero, Lane::I32, Lane::I64) => row(P66, M38, 0x35, 0),
        (Change::Float, Lane::F32, Lane::F64) => row(NP, M0F, 0x5a, 0),
        (Change::Float, Lane::F64, Lane::F32) => row(P66, M0F, 0x5a, 1),
        (Change::Signed, Lane::I32, Lane::F64) => row(F3, M0F, 0xe6, 0),
        (Change::Unsigned, Lane::I32, Lane::F64) => row(F3, M0F, 0x7a, 0),
        (Change::Signed, Lane::F32, Lane::I64) => row(P66, M0F, 0x7a, 0),
        (Change::Unsigned, Lane::F32, Lane::I64) => row(P66, M0F, 0x78, 0),
        (Change::Signed, Lane::I64, Lane::F32) => row(NP, M0F, 0x5b, 1),
        (Change::Unsigned, Lane::I64, Lane::F32) => row(F2, M0F, 0x7a, 1),
        (Change::Signed, Lane::F64, Lane::I32) => row(P66, M0F, 0xe6, 1),
        (Change::Unsigned, Lane::F64, Lane::I32) => row(NP, M0F, 0x78, 1),
        _ => return None,
    })
}

/// Scalar integer to float.
pub fn int_to_float(from_wide: bool, lane: Lane) -> Row {
    row(if lane == Lane::F64 { F2 } else { F3 }, M0F, 0x2a, from_wide as u8)
}

/// Scalar float to integer, truncating.
pub fn float_to_int(lane: Lane, to_wide: bool) -> Row {
    row(if lane == Lane::F64 { F2 } else { F3 }, M0F, 0x2c, to_wide as u8)
}

/// Scalar float to the other float.
pub fn convert_float(from: Lane) -> Row {
    let wide = from == Lane::F64;
    row_w0(if wide { F2 } else { F3 }, M0F, 0x5a, wide as u8)
}
