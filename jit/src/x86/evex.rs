//! The EVEX prefix: AVX-512's four bytes in front of the opcode.

use super::encode::{Bytes, Instr, Place};

/// Appends the prefix of an instruction.
pub fn prefix(instr: &Instr, out: &mut Bytes) {
    let (r, x, b) = instr.high_bits();
    let r_high = instr.reg >> 4 & 1;
    // Bit 4 of the extra operand, or of a vector index.
    let v_high = match instr.place {
        Place::Indexed { index, .. } if instr.vector_index => index >> 4 & 1,
        _ => instr.extra >> 4 & 1,
    };
    out.push(0x62);
    out.push((r ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | (r_high ^ 1) << 4 | instr.row.map as u8);
    out.push((instr.row.w as u8) << 7 | (!instr.extra & 15) << 3 | 1 << 2 | instr.row.prefix as u8);
    let broadcast = (instr.broadcast as u8) << 4;
    out.push(
        (instr.zero as u8) << 7 | (instr.length as u8) << 5 | broadcast | (v_high ^ 1) << 3 | instr.mask,
    );
}
