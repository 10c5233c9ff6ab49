//! Elements at equal distances: a load or store for each, through quarters of 128 bits, without a vector of indices.

// The assembler macro converts register numbers to the type they have already.
#![allow(clippy::useless_conversion)]

use super::emitter::Emitter;
use super::encode::{Instr, Length, Place};
use super::rows;
use crate::lir::{Addr, Mem};
use dynasmrt::{DynasmApi, dynasm};

/// What comes into scratch registers: small elements into rcx, addresses into rdx.
const ELEMENT: u8 = 1;
const ADDRESS: u8 = 2;
/// Bytes of a quarter.
const QUARTER: usize = 16;

/// An address, and its registers for base and index.
type Address = (Addr, u8, u8);

/// The addresses of elements, one after the other.
struct Walk {
    /// Where a register points: at the first element, or at a later one.
    at: u8,
    /// How many elements behind that the next one is.
    ahead: u8,
    /// The register with the distance in bytes.
    distance: u8,
}

impl Walk {
    /// The next element's address.
    fn next(&mut self, emitter: &mut Emitter) -> Address {
        let (at, distance) = (self.at, self.distance);
        if self.ahead == 3 {
            dynasm!(emitter.asm ; .arch x64 ; lea Rq(ADDRESS), [Rq(at) + 2 * Rq(distance)]);
            (self.at, self.ahead) = (ADDRESS, 1);
        }
        let addr = Addr { scale: self.ahead, disp: 0 };
        self.ahead += 1;
        (addr, self.at, distance)
    }
}

impl Emitter {
    /// A lane of a vector for each element; of small integers a lane of 32 bits.
    pub fn load_spaced(&mut self, mem: Mem, out: u8, first: u8, distance: u8) {
        let (full, part) = (self.full(), self.scratch()[0]);
        let mut walk = Walk { at: first, ahead: 0, distance };
        for quarter in 0..full.bytes() / QUARTER {
            let to = if quarter == 0 { out } else { part };
            for lane in 0..lanes(mem) {
                let address = walk.next(self);
                self.load_lane(mem, to, lane, address);
            }
            if quarter > 0 {
                self.v3_imm(rows::INSERT_HALF_256, full, out, out, part, quarter as u8);
            }
        }
    }

    fn load_lane(&mut self, mem: Mem, to: u8, lane: u8, (addr, base, index): Address) {
        let place = match mem {
            Mem::B32 | Mem::B64 => Place::of(addr, base, index),
            Mem::S8 | Mem::U8 | Mem::S16 | Mem::U16 => {
                self.load_int(mem, ELEMENT, addr, base, index);
                Place::Reg(ELEMENT)
            }
        };
        match (mem, lane) {
            (Mem::B64, 0) => self.v2(rows::LOAD_F64, Length::L128, to, place),
            (Mem::B64, _) => self.simd(Instr::new(rows::LOAD_UPPER, Length::L128, to, to, place)),
            (Mem::B32, 0) => self.v2(rows::LOAD_F32, Length::L128, to, place),
            (_, 0) => self.v2(rows::FROM_GPR32, Length::L128, to, place),
            _ => self
                .simd(Instr { imm: Some(lane), ..Instr::new(rows::INSERT_D, Length::L128, to, to, place) }),
        }
    }

    /// An element from each lane.
    pub fn store_spaced(&mut self, mem: Mem, value: u8, first: u8, distance: u8) {
        let (full, part) = (self.full(), self.scratch()[0]);
        let mut walk = Walk { at: first, ahead: 0, distance };
        for quarter in 0..full.bytes() / QUARTER {
            let from = if quarter == 0 { value } else { part };
            if quarter > 0 {
                self.v2_imm(rows::EXTRACT_HALF_256, full, value, Place::Reg(part), quarter as u8);
            }
            for lane in 0..lanes(mem) {
                let (addr, base, index) = walk.next(self);
                self.store_lane(mem, from, lane, Place::of(addr, base, index));
            }
        }
    }

    fn store_lane(&mut self, mem: Mem, from: u8, lane: u8, place: Place) {
        match (mem, lane) {
            (Mem::B64, 0) => self.v2(rows::STORE_F64, Length::L128, from, place),
            (Mem::B64, _) => self.v2(rows::STORE_UPPER, Length::L128, from, place),
            (Mem::B32, 0) => self.v2(rows::STORE_F32, Length::L128, from, place),
            (Mem::B32, _) => self.v2_imm(rows::EXTRACT_D, Length::L128, from, place, lane),
            (Mem::S16 | Mem::U16, _) => self.v2_imm(rows::EXTRACT_W, Length::L128, from, place, 2 * lane),
            (Mem::S8 | Mem::U8, _) => self.v2_imm(rows::EXTRACT_B, Length::L128, from, place, 4 * lane),
        }
    }
}

/// Lanes of a quarter.
fn lanes(mem: Mem) -> u8 {
    if mem == Mem::B64 { 2 } else { 4 }
}
