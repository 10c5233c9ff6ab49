//! Loads and stores: scalars, consecutive lanes, gathers, and the element-by-element forms of both.

// The assembler macro converts register numbers to the type they have already.
#![allow(clippy::useless_conversion)]

use super::emitter::{Emitter, RSP};
use super::encode::{Instr, Length, Place, Prefix, Row};
use super::isa::MASK_SCRATCH;
use super::rows;
use crate::library::OPERAND_BYTES;
use crate::lir::{Addr, Bin, Lane, Mem, Op, Width};
use crate::target::Target;
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

/// Where the element-by-element forms keep the elements: behind two registers of indices.
const ELEMENTS: i32 = 2 * OPERAND_BYTES as i32;

/// An instruction of general registers with an operand in memory: what stands in front of that, and behind.
macro_rules! at_address {
    ($self:ident, $addr:ident, $base:ident, $index:ident, ($($before:tt)*), ($($after:tt)*)) => {{
        let disp = $addr.disp;
        match $addr.scale {
            0 => dynasm!($self.asm ; .arch x64 ; $($before)* [Rq($base) + disp] $($after)*),
            1 => dynasm!($self.asm ; .arch x64 ; $($before)* [Rq($base) + Rq($index) + disp] $($after)*),
            2 => dynasm!($self.asm ; .arch x64 ; $($before)* [Rq($base) + 2 * Rq($index) + disp] $($after)*),
            4 => dynasm!($self.asm ; .arch x64 ; $($before)* [Rq($base) + 4 * Rq($index) + disp] $($after)*),
            8 => dynasm!($self.asm ; .arch x64 ; $($before)* [Rq($base) + 8 * Rq($index) + disp] $($after)*),
            _ => $self.lacks(Op::Lea($addr)),
        }
    }};
}

impl Emitter {
    pub fn load_int(&mut self, mem: Mem, out: u8, addr: Addr, base: u8, index: u8) {
        match mem {
            Mem::S8 => at_address!(self, addr, base, index, (movsx Rd(out), BYTE), ()),
            Mem::U8 => at_address!(self, addr, base, index, (movzx Rd(out), BYTE), ()),
            Mem::S16 => at_address!(self, addr, base, index, (movsx Rd(out), WORD), ()),
            Mem::U16 => at_address!(self, addr, base, index, (movzx Rd(out), WORD), ()),
            Mem::B32 => at_address!(self, addr, base, index, (mov Rd(out),), ()),
            Mem::B64 => at_address!(self, addr, base, index, (mov Rq(out),), ()),
        }
    }

    pub fn prefetch(&mut self, addr: Addr, base: u8, index: u8) {
        at_address!(self, addr, base, index, (prefetcht0), ());
    }

    pub fn load_long(&mut self, out: u8, addr: Addr, base: u8, index: u8) {
        at_address!(self, addr, base, index, (movsxd Rq(out), DWORD), ());
    }

    pub fn update(&mut self, bin: Bin, width: Width, by: u8, addr: Addr, base: u8, index: u8) {
        match (bin, width) {
            (Bin::Add, Width::W32) => at_address!(self, addr, base, index, (add), (, Rd(by))),
            (Bin::Add, Width::W64) => at_address!(self, addr, base, index, (add), (, Rq(by))),
            (Bin::Sub, Width::W32) => at_address!(self, addr, base, index, (sub), (, Rd(by))),
            (Bin::Sub, Width::W64) => at_address!(self, addr, base, index, (sub), (, Rq(by))),
            (Bin::And, Width::W32) => at_address!(self, addr, base, index, (and), (, Rd(by))),
            (Bin::And, Width::W64) => at_address!(self, addr, base, index, (and), (, Rq(by))),
            (Bin::Or, Width::W32) => at_address!(self, addr, base, index, (or), (, Rd(by))),
            (Bin::Or, Width::W64) => at_address!(self, addr, base, index, (or), (, Rq(by))),
            (Bin::Xor, Width::W32) => at_address!(self, addr, base, index, (xor), (, Rd(by))),
            (Bin::Xor, Width::W64) => at_address!(self, addr, base, index, (xor), (, Rq(by))),
            _ => self.lacks(Op::Update(bin, width, addr)),
        }
    }

    pub fn update_imm(&mut self, bin: Bin, width: Width, value: i32, addr: Addr, base: u8, index: u8) {
        match (bin, width) {
            (Bin::Add, Width::W32) => at_address!(self, addr, base, index, (add DWORD), (, value)),
            (Bin::Add, Width::W64) => at_address!(self, addr, base, index, (add QWORD), (, value)),
            (Bin::Sub, Width::W32) => at_address!(self, addr, base, index, (sub DWORD), (, value)),
            (Bin::Sub, Width::W64) => at_address!(self, addr, base, index, (sub QWORD), (, value)),
            (Bin::And, Width::W32) => at_address!(self, addr, base, index, (and DWORD), (, value)),
            (Bin::And, Width::W64) => at_address!(self, addr, base, index, (and QWORD), (, value)),
            (Bin::Or, Width::W32) => at_address!(self, addr, base, index, (or DWORD), (, value)),
            (Bin::Or, Width::W64) => at_address!(self, addr, base, index, (or QWORD), (, value)),
            (Bin::Xor, Width::W32) => at_address!(self, addr, base, index, (xor DWORD), (, value)),
            (Bin::Xor, Width::W64) => at_address!(self, addr, base, index, (xor QWORD), (, value)),
            _ => self.lacks(Op::UpdateImm(bin, width, value, addr)),
        }
    }

    pub fn store_int(&mut self, mem: Mem, value: u8, addr: Addr, base: u8, index: u8) {
        match mem {
            Mem::S8 | Mem::U8 => at_address!(self, addr, base, index, (mov), (, Rb(value))),
            Mem::S16 | Mem::U16 => at_address!(self, addr, base, index, (mov), (, Rw(value))),
            Mem::B32 => at_address!(self, addr, base, index, (mov), (, Rd(value))),
            Mem::B64 => at_address!(self, addr, base, index, (mov), (, Rq(value))),
        }
    }

    pub fn load_masked(&mut self, mem: Mem, out: u8, mask: u8, place: Place) {
        let full = self.full();
        if self.isa.is_512() {
            self.simd(Instr { mask, zero: true, ..Instr::new(rows::load(mem), full, out, 0, place) });
        } else {
            let row = if mem == Mem::B64 { rows::MASK_LOAD_F64 } else { rows::MASK_LOAD_F32 };
            self.simd(Instr::new(row, full, out, mask, place));
        }
    }

    pub fn store_masked(&mut self, mem: Mem, value: u8, mask: u8, place: Place) {
        let full = self.full();
        if self.isa.is_512() {
            self.simd(Instr { mask, ..Instr::new(rows::store(mem), full, value, 0, place) });
        } else {
            let row = if mem == Mem::B64 { rows::MASK_STORE_F64 } else { rows::MASK_STORE_F32 };
            self.simd(Instr::new(row, full, value, mask, place));
        }
    }

    pub fn store_vector(&mut self, mem: Mem, value: u8, place: Place, past_caches: bool) {
        let full = self.full();
        match mem {
            Mem::B32 | Mem::B64 if past_caches => self.v2(rows::STREAM, full, value, place),
            Mem::B32 | Mem::B64 => self.v2(rows::store(mem), full, value, place),
            _ if self.isa.is_512() => self.v2(rows::store(mem), full, value, place),
            _ => {
                // Cut the lanes to their low bits, pack them with themselves, bring the quarters together.
                let [s0, s1, _] = self.scratch();
                let bits = 32 - 8 * mem.bytes() as u8;
                self.shift(Bin::Shl, Lane::I32, bits, s0, value);
                self.shift(Bin::Shr, Lane::I32, bits, s0, s0);
                self.v3(rows::PACK_WORDS, full, s0, s0, s0);
                self.v2_imm(rows::PERMUTE_Q_IMM, full, s0, Place::Reg(s0), 0x08);
                if mem.bytes() == 2 {
                    self.v2(rows::STORE_NARROW, Length::L128, s0, place);
                } else {
                    self.v3(rows::PACK_BYTES, Length::L128, s1, s0, s0);
                    self.v2(rows::STORE_F64, Length::L128, s1, place);
                }
            }
        }
    }

    pub fn gather(&mut self, mem: Mem, out: u8, mask: u8, base: u8, indices: [u8; 2]) {
        let (full, [s0, s1, s2]) = (self.full(), self.scratch());
        let wide = mem == Mem::B64;
        let row = if wide { rows::GATHER_WIDE } else { rows::GATHER_NARROW };
        let scale = mem.bytes() as u8;
        let at = |index| Place::Indexed { base, index, scale, disp: 0 };
        if self.isa.is_512() {
            let k = MASK_SCRATCH;
            let lanes = |e: &mut Self, to: u8, index: u8| {
                e.clear(full, to);
                e.simd(Instr { mask: k, vector_index: true, ..Instr::new(row, full, to, 0, at(index)) });
            };
            self.k2(rows::K_MOVE, k, Place::Reg(mask));
            if wide {
                lanes(self, out, indices[0]);
            } else {
                lanes(self, s0, indices[0]);
                self.mask_half(true, k, mask);
                lanes(self, s1, indices[1]);
                self.v3_imm(rows::INSERT_HALF_512, full, out, s0, s1, 1);
            }
            return;
        }
        let lanes = |e: &mut Self, to: u8, mask: u8, index: u8| {
            e.clear(full, to);
            e.simd(Instr { vector_index: true, ..Instr::new(row, full, to, mask, at(index)) });
        };
        self.v_move(s2, mask);
        if wide {
            lanes(self, out, s2, indices[0]);
        } else {
            lanes(self, s0, s2, indices[0]);
            self.upper_half(s2, mask);
            lanes(self, s1, s2, indices[1]);
            self.v3_imm(rows::INSERT_HALF_256, full, out, s0, s1, 1);
        }
    }

    /// A bit for each set lane, in eax.
    fn lane_bits(&mut self, mask: u8, wide: bool) {
        if wide && !self.isa.is_512() {
            // 64-bit lanes: the sign bits of doubles.
            self.v2_full(Row { w: true, prefix: Prefix::P66, ..rows::MASK_BITS }, 0, Place::Reg(mask));
        } else {
            self.mask_bits(0, mask);
            if wide {
                // Mask registers speak of sixteen lanes; one vector of 64-bit lanes has the lower eight.
                dynasm!(self.asm ; .arch x64 ; movzx eax, al);
            }
        }
    }

    /// For each lane whose bit is set in eax, lowest first: its number in ecx, its index in rdx.
    fn for_each_lane(&mut self, work: impl Fn(&mut Self)) {
        let (next, done) = (self.asm.new_dynamic_label(), self.asm.new_dynamic_label());
        dynasm!(self.asm
            ; .arch x64
            ; =>next
            ; bsf ecx, eax
            ; je =>done
            ; mov rdx, [rsp + 8 * rcx]
        );
        work(self);
        dynasm!(self.asm
            ; .arch x64
            ; lea ecx, [rax - 1]
            ; and eax, ecx
            ; jmp =>next
            ; =>done
        );
    }

    fn keep_indices(&mut self, mem: Mem, indices: [u8; 2]) {
        self.store_whole(indices[0], 0);
        if mem != Mem::B64 {
            self.store_whole(indices[1], self.isa.vectors().bytes() as i32);
        }
    }

    pub fn gather_each(&mut self, mem: Mem, out: u8, mask: u8, base: u8, indices: [u8; 2]) {
        let (full, s0) = (self.full(), self.scratch()[0]);
        self.keep_indices(mem, indices);
        self.clear(full, s0);
        self.store_whole(s0, ELEMENTS);
        self.lane_bits(mask, mem == Mem::B64);
        self.for_each_lane(|e| match mem {
            Mem::S8 => dynasm!(e.asm ; .arch x64 ; movsx edx, BYTE [Rq(base) + rdx] ; mov [rsp + 4 * rcx + ELEMENTS], edx),
            Mem::U8 => dynasm!(e.asm ; .arch x64 ; movzx edx, BYTE [Rq(base) + rdx] ; mov [rsp + 4 * rcx + ELEMENTS], edx),
            Mem::S16 => {
                dynasm!(e.asm ; .arch x64 ; movsx edx, WORD [Rq(base) + 2 * rdx] ; mov [rsp + 4 * rcx + ELEMENTS], edx);
            }
            Mem::U16 => {
                dynasm!(e.asm ; .arch x64 ; movzx edx, WORD [Rq(base) + 2 * rdx] ; mov [rsp + 4 * rcx + ELEMENTS], edx);
            }
            Mem::B32 => dynasm!(e.asm ; .arch x64 ; mov edx, [Rq(base) + 4 * rdx] ; mov [rsp + 4 * rcx + ELEMENTS], edx),
            Mem::B64 => dynasm!(e.asm ; .arch x64 ; mov rdx, [Rq(base) + 8 * rdx] ; mov [rsp + 8 * rcx + ELEMENTS], rdx),
        });
        self.v2(rows::MOV_LOAD, full, out, Place::Base { base: RSP, disp: ELEMENTS });
    }

    pub fn scatter_each(&mut self, mem: Mem, value: u8, mask: u8, base: u8, indices: [u8; 2]) {
        self.keep_indices(mem, indices);
        self.store_whole(value, ELEMENTS);
        let wide = mem == Mem::B64;
        let (some, done) = (self.asm.new_dynamic_label(), self.asm.new_dynamic_label());
        let lanes = self.isa.vectors().bytes() as i32 / if wide { 8 } else { 4 };
        self.lane_bits(mask, wide);
        dynasm!(self.asm ; .arch x64 ; cmp eax, (1 << lanes) - 1 ; jne =>some);
        for lane in 0..lanes {
            dynasm!(self.asm ; .arch x64 ; mov rdx, [rsp + 8 * lane]);
            match mem {
                Mem::B64 => dynasm!(self.asm ; .arch x64 ; mov rcx, [rsp + (8 * lane + ELEMENTS)]),
                _ => dynasm!(self.asm ; .arch x64 ; mov ecx, [rsp + (4 * lane + ELEMENTS)]),
            }
            self.store_at_index(mem, base);
        }
        dynasm!(self.asm ; .arch x64 ; jmp =>done ; =>some);
        self.for_each_lane(|e| {
            match mem {
                Mem::B64 => dynasm!(e.asm ; .arch x64 ; mov rcx, [rsp + 8 * rcx + ELEMENTS]),
                _ => dynasm!(e.asm ; .arch x64 ; mov ecx, [rsp + 4 * rcx + ELEMENTS]),
            }
            e.store_at_index(mem, base);
        });
        dynasm!(self.asm ; .arch x64 ; =>done);
    }

    /// Stores rcx at the index in rdx.
    fn store_at_index(&mut self, mem: Mem, base: u8) {
        match mem {
            Mem::B64 => dynasm!(self.asm ; .arch x64 ; mov [Rq(base) + 8 * rdx], rcx),
            Mem::B32 => dynasm!(self.asm ; .arch x64 ; mov [Rq(base) + 4 * rdx], ecx),
            Mem::S16 | Mem::U16 => dynasm!(self.asm ; .arch x64 ; mov [Rq(base) + 2 * rdx], cx),
            Mem::S8 | Mem::U8 => dynasm!(self.asm ; .arch x64 ; mov [Rq(base) + rdx], cl),
        }
    }
}
