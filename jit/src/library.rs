//! Functions that generated code calls for work it has no instructions for.
//!
//! They do what `galopvm_base::scalar` says, lane by lane, so every tier agrees bit for bit.
#![allow(unsafe_code)]

use crate::rooms::Rooms;
use galopvm_base::{ElemType, ScalarOp, scalar};

/// Work that a helper does on each lane. Lanes are 8 bytes for 64-bit types, else 4.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Helper {
    /// A scalar operation on a type; the lanes are that type's.
    Apply(ScalarOp, ElemType),
    /// A conversion; the lanes are 8 bytes wide.
    Convert(ElemType, ElemType),
}

/// Bytes between the operands in the area that a helper works on.
pub const OPERAND_BYTES: usize = 64;

impl Helper {
    /// The helper as the number that generated code passes.
    pub fn code(self) -> u32 {
        match self {
            Helper::Apply(op, ty) => u32::from(op.code()) << 8 | u32::from(ty.code()),
            Helper::Convert(from, to) => 1 << 16 | u32::from(from.code()) << 8 | u32::from(to.code()),
        }
    }

    fn from_code(code: u32) -> Option<Helper> {
        let (high, low) = ((code >> 8) as u8, ElemType::from_code(code as u8)?);
        Some(match code >> 16 {
            0 => Helper::Apply(ScalarOp::from_code(high)?, low),
            _ => Helper::Convert(ElemType::from_code(high)?, low),
        })
    }

    /// Number of operands.
    pub fn arity(self) -> usize {
        match self {
            Helper::Apply(op, _) => op.arity(),
            Helper::Convert(..) => 1,
        }
    }

    /// Bytes of a lane.
    pub fn lane_bytes(self) -> usize {
        match self {
            Helper::Apply(_, ty) => ty.bytes().max(4),
            Helper::Convert(..) => 8,
        }
    }

    fn lane(self, operands: [u64; 3]) -> u64 {
        match self {
            Helper::Apply(op, ty) => {
                let bits = |k: usize| operands[k] & op.operand_type(k, ty).mask();
                // Lanes that are switched off may hold a zero divisor; what comes out of them is never used.
                let result = scalar::eval(op, ty, &[bits(0), bits(1), bits(2)]).unwrap_or(0);
                extended(op.result_type(ty), result)
            }
            Helper::Convert(from, to) => extended(to, scalar::convert(from, to, operands[0] & from.mask())),
        }
    }
}

/// Bits of a type as they stand in a lane: extended by the type's own signedness.
pub fn extended(ty: ElemType, bits: u64) -> u64 {
    match ty {
        ElemType::I8 => bits as i8 as u64,
        ElemType::I16 => bits as i16 as u64,
        ElemType::I32 => bits as i32 as u64,
        _ => bits,
    }
}

/// The address of a room with so many bytes for an array that generated code makes; 0 if there is none.
///
/// # Safety
/// `rooms` points to the rooms of the piece that the code runs for.
pub unsafe extern "C" fn room(rooms: *mut Rooms, number: u32, bytes: u64) -> u64 {
    // SAFETY: the caller says so.
    unsafe { (*rooms).room(number as usize, bytes) }
}

/// The helper entry: three operands of up to 64 bytes at `area`, the result replaces the first.
///
/// # Safety
/// `area` points to three operands' room, writable, of which `lanes` lanes fit in each.
pub unsafe extern "C" fn help(area: *mut u8, code: u32, lanes: u32) {
    let Some(helper) = Helper::from_code(code) else { return };
    let bytes = helper.lane_bytes();
    for lane in 0..lanes as usize {
        let at = |k: usize| area.wrapping_add(k * OPERAND_BYTES + lane * bytes);
        let mut operands = [0u64; 3];
        for (k, operand) in operands.iter_mut().enumerate() {
            // SAFETY: the caller gives room for three operands of `lanes` lanes.
            *operand = unsafe {
                match bytes {
                    8 => at(k).cast::<u64>().read_unaligned(),
                    _ => u64::from(at(k).cast::<u32>().read_unaligned()),
                }
            };
        }
        let result = helper.lane(operands);
        // SAFETY: as above, the first operand's room is where the result goes.
        unsafe {
            match bytes {
                8 => at(0).cast::<u64>().write_unaligned(result),
                _ => at(0).cast::<u32>().write_unaligned(result as u32),
            }
        }
    }
}
