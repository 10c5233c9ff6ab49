//! Constants of vectors and scalar floats: they stand behind the code, and instructions name them as operands.
//!
//! AVX-512 spreads one element over all lanes as it reads it; for the other instruction sets a constant stands there as often
//! as a register has room for it. Each is there once.

use super::emitter::Emitter;
use super::encode::{Form, Instr, Length, Place};
use super::isa::Isa;
use super::rows;
use crate::lir::{Bin, Extent, Lane, Op};
use crate::target::Target;
use dynasmrt::DynasmApi;

/// Constants begin at multiples of this many bytes of the code, which begins at a page: a cache line.
const ALIGNMENT: usize = 64;

/// The constants of a function, and who names them.
pub struct Constants {
    /// Elements, or pairs of narrow ones.
    elements: Vec<u64>,
    /// How often each stands there.
    copies: usize,
    uses: Vec<Use>,
}

/// An instruction that names a constant.
struct Use {
    /// The number of the constant.
    constant: usize,
    /// Where the instruction has its displacement.
    at: usize,
    /// The end of the instruction: where displacements count from.
    end: usize,
}

impl Constants {
    /// None yet.
    pub fn new(isa: Isa) -> Constants {
        // An instruction of SSE or VEX that does not spread may read as much as a register holds.
        let copies = if isa.is_512() { 1 } else { isa.vectors().lanes.max(4) / 2 };
        Constants { elements: Vec::new(), copies, uses: Vec::new() }
    }

    /// The code with its constants behind it.
    pub fn behind(self, mut code: Vec<u8>) -> Vec<u8> {
        if self.elements.is_empty() {
            return code;
        }
        code.resize(code.len().next_multiple_of(ALIGNMENT), 0xcc);
        let begin = code.len();
        for element in &self.elements {
            (0..self.copies).for_each(|_| code.extend(element.to_le_bytes()));
        }
        for Use { constant, at, end } in self.uses {
            let place = begin + constant * self.copies * 8;
            code[at..at + 4].copy_from_slice(&((place - end) as i32).to_le_bytes());
        }
        code
    }

    /// The number of an element.
    fn number(&mut self, element: u64) -> usize {
        self.elements.iter().position(|known| *known == element).unwrap_or_else(|| {
            self.elements.push(element);
            self.elements.len() - 1
        })
    }
}

impl Emitter {
    pub fn load_constant(&mut self, lane: Lane, extent: Extent, bits: i64, out: u8) {
        let wide = lane.is_wide();
        let (row, length) = match extent {
            Extent::One => (if wide { rows::LOAD_F64 } else { rows::LOAD_F32 }, Length::L128),
            Extent::All if self.isa.is_512() => {
                (if wide { rows::SPLAT_SD } else { rows::SPLAT_SS }, self.full())
            }
            Extent::All => (rows::MOV_LOAD, self.full()),
        };
        self.with_constant(Instr::new(row, length, out, 0, Place::Behind(0)), lane, bits);
    }

    /// Arithmetic with a constant as second operand.
    pub fn bin_constant(&mut self, bin: Bin, lane: Lane, extent: Extent, bits: i64, out: u8, a: u8) {
        let Some(row) = rows::bin(bin, lane) else { return self.lacks(Op::VConst(bin, lane, extent, bits)) };
        let is_bitwise = matches!(bin, Bin::And | Bin::Or | Bin::Xor | Bin::AndNot);
        let (row, length, spread) = match extent {
            Extent::All if self.makes_of_several(bin, lane) => {
                return self.lacks(Op::VConst(bin, lane, extent, bits));
            }
            Extent::All => (row, self.full(), true),
            Extent::One if is_bitwise => (row, Length::L128, true),
            Extent::One if lane.is_float() => (rows::scalar(row, lane), Length::L128, false),
            Extent::One => return self.lacks(Op::VConst(bin, lane, extent, bits)),
        };
        if self.form() == Form::Sse {
            self.v_move(out, a);
        }
        let instr = Instr::new(row, length, out, a, Place::Behind(0));
        self.with_constant(Instr { broadcast: spread && self.isa.is_512(), ..instr }, lane, bits);
    }

    /// An instruction whose memory operand is a constant.
    fn with_constant(&mut self, instr: Instr, lane: Lane, bits: i64) {
        let element = match lane.is_wide() {
            true => bits as u64,
            false => u64::from(bits as u32) << 32 | u64::from(bits as u32),
        };
        self.simd(instr);
        let end = self.asm.offset().0;
        let at = end - 4 - usize::from(instr.imm.is_some());
        let constant = self.constants.number(element);
        self.constants.uses.push(Use { constant, at, end });
    }

    /// Operations that are several instructions here.
    fn makes_of_several(&self, bin: Bin, lane: Lane) -> bool {
        lane == Lane::I64 && !self.isa.is_512() && matches!(bin, Bin::Mul | Bin::MinS | Bin::MaxS)
    }
}
