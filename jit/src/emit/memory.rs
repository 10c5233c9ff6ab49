//! Loads and stores: scalars, consecutive lanes, gathers, and the element-by-element forms of both.

use super::encode::{Instr, Length, Place};
use super::{Emitter, RSP, rows};
use crate::library::OPERAND_BYTES;
use crate::lir::{Addr, Bin, Extent, Lane, Mem, Op};
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

/// Where the element-by-element forms keep the elements: behind two registers of indices.
const ELEMENTS: i32 = 2 * OPERAND_BYTES as i32;

impl Emitter<'_> {
    pub(super) fn memory_op(&mut self, op: Op, out: u8, a: &[u8; 8]) {
        let full = self.full();
        match op {
            Op::Load(mem, addr) => {
                self.address(addr, &a[0..2]);
                match mem {
                    Mem::S8 => dynasm!(self.asm ; .arch x64 ; movsx Rd(out), BYTE [rax]),
                    Mem::U8 => dynasm!(self.asm ; .arch x64 ; movzx Rd(out), BYTE [rax]),
                    Mem::S16 => dynasm!(self.asm ; .arch x64 ; movsx Rd(out), WORD [rax]),
                    Mem::U16 => dynasm!(self.asm ; .arch x64 ; movzx Rd(out), WORD [rax]),
                    Mem::B32 => dynasm!(self.asm ; .arch x64 ; mov Rd(out), [rax]),
                    Mem::B64 => dynasm!(self.asm ; .arch x64 ; mov Rq(out), [rax]),
                }
            }
            Op::Store(mem, addr) => {
                self.address(addr, &a[1..3]);
                match mem.bytes() {
                    1 => dynasm!(self.asm ; .arch x64 ; mov [rax], Rb(a[0])),
                    2 => dynasm!(self.asm ; .arch x64 ; mov [rax], Rw(a[0])),
                    4 => dynasm!(self.asm ; .arch x64 ; mov [rax], Rd(a[0])),
                    _ => dynasm!(self.asm ; .arch x64 ; mov [rax], Rq(a[0])),
                }
            }
            Op::LoadFloat(lane, addr) => {
                let row = if lane.is_wide() { rows::LOAD_F64 } else { rows::LOAD_F32 };
                self.v2(row, Length::L128, out, self.place(addr, &a[0..2]));
            }
            Op::LoadSplat(lane, addr) => {
                let row = if lane.is_wide() { rows::SPLAT_SD } else { rows::SPLAT_SS };
                self.v2(row, full, out, self.place(addr, &a[0..2]));
            }
            Op::StoreFloat(lane, addr) => {
                let row = if lane.is_wide() { rows::STORE_F64 } else { rows::STORE_F32 };
                self.v2(row, Length::L128, a[0], self.place(addr, &a[1..3]));
            }
            Op::VLoad(mem, addr) => {
                let row = load_row(mem);
                self.v2(row, full, out, self.place(addr, &a[0..2]));
            }
            Op::VLoadMask(mem, addr) => {
                let (row, place) = (load_row(mem), self.place(addr, &a[1..3]));
                if self.isa.is_512() {
                    self.simd(Instr { mask: a[0], zero: true, ..Instr::new(row, full, out, 0, place) });
                } else {
                    let row = if mem == Mem::B64 { rows::MASK_LOAD_F64 } else { rows::MASK_LOAD_F32 };
                    self.simd(Instr::new(row, full, out, a[0], place));
                }
            }
            Op::VStore(mem, addr, past_caches) => {
                let place = self.place(addr, &a[1..3]);
                self.store_vector(mem, a[0], place, past_caches);
            }
            Op::VStoreMask(mem, addr) => {
                let place = self.place(addr, &a[2..4]);
                if self.isa.is_512() {
                    self.simd(Instr { mask: a[1], ..Instr::new(store_row(mem), full, a[0], 0, place) });
                } else {
                    let row = if mem == Mem::B64 { rows::MASK_STORE_F64 } else { rows::MASK_STORE_F32 };
                    self.simd(Instr::new(row, full, a[0], a[1], place));
                }
            }
            Op::Gather(mem) => self.gather(mem, out, a),
            Op::GatherEach(mem) => self.gather_each(mem, out, a),
            Op::ScatterEach(mem) => self.scatter_each(mem, a),
            _ => self.lacks(op),
        }
    }

    /// The address into rax.
    fn address(&mut self, addr: Addr, regs: &[u8]) {
        let mut a = [0; 8];
        a[..regs.len()].copy_from_slice(regs);
        self.general_op(Op::Lea(addr), 0, &a);
    }

    fn store_vector(&mut self, mem: Mem, value: u8, place: Place, past_caches: bool) {
        let full = self.full();
        match mem {
            Mem::B32 | Mem::B64 if past_caches => self.v2(rows::STREAM, full, value, place),
            Mem::B32 | Mem::B64 => self.v2(store_row(mem), full, value, place),
            _ if self.isa.is_512() => self.v2(store_row(mem), full, value, place),
            _ => {
                // Cut the lanes to their low bits, pack them with themselves, bring the quarters together.
                let [s0, s1, _] = self.scratch();
                let bits = 32 - 8 * mem.bytes() as u8;
                for bin in [Bin::Shl, Bin::Shr] {
                    let (row, extension) = rows::shift_imm(bin, Lane::I32);
                    let source = if bin == Bin::Shl { value } else { s0 };
                    self.simd(Instr {
                        imm: Some(bits),
                        ..Instr::new(row, full, extension, s0, Place::Reg(source))
                    });
                }
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

    /// Arguments: mask, base, indices.
    fn gather(&mut self, mem: Mem, out: u8, a: &[u8; 8]) {
        let (full, [s0, s1, s2]) = (self.full(), self.scratch());
        let wide = mem == Mem::B64;
        let row = if wide { rows::GATHER_WIDE } else { rows::GATHER_NARROW };
        let scale = mem.bytes() as u8;
        let at = |index| Place::Indexed { base: a[1], index, scale, disp: 0 };
        if self.isa.is_512() {
            let k = self.mask_scratch();
            let lanes = |e: &mut Self, to: u8, index: u8| {
                e.bin(Bin::Xor, Lane::I32, Extent::All, to, to, to);
                e.simd(Instr { mask: k, vector_index: true, ..Instr::new(row, full, to, 0, at(index)) });
            };
            self.k2(rows::K_MOVE, k, Place::Reg(a[0]));
            if wide {
                lanes(self, out, a[2]);
            } else {
                lanes(self, s0, a[2]);
                self.mask_op(Op::MaskHalf(true), k, a);
                lanes(self, s1, a[3]);
                self.v3_imm(rows::INSERT_HALF_512, full, out, s0, s1, 1);
            }
            return;
        }
        let lanes = |e: &mut Self, to: u8, mask: u8, index: u8| {
            e.bin(Bin::Xor, Lane::I32, Extent::All, to, to, to);
            e.simd(Instr { vector_index: true, ..Instr::new(row, full, to, mask, at(index)) });
        };
        self.v_move(s2, a[0]);
        if wide {
            lanes(self, out, s2, a[2]);
        } else {
            lanes(self, s0, s2, a[2]);
            self.upper_half(s2, a[0]);
            lanes(self, s1, s2, a[3]);
            self.v3_imm(rows::INSERT_HALF_256, full, out, s0, s1, 1);
        }
    }

    /// For each set lane, lowest first: its number in ecx, its index in rdx. Ends with `next`'s work.
    fn for_each_lane(&mut self, mask: u8, wide: bool, work: impl Fn(&mut Self)) {
        let (next, done) = (self.asm.new_dynamic_label(), self.asm.new_dynamic_label());
        if wide && !self.isa.is_512() {
            // 64-bit lanes: the sign bits of doubles.
            self.v2(
                super::Row { w: true, prefix: super::encode::Prefix::P66, ..rows::MASK_BITS },
                self.full(),
                0,
                Place::Reg(mask),
            );
        } else {
            self.mask_bits(0, mask);
            if wide {
                // Mask registers speak of sixteen lanes; one vector of 64-bit lanes has the lower eight.
                dynasm!(self.asm ; .arch x64 ; movzx eax, al);
            }
        }
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

    fn keep_indices(&mut self, mem: Mem, indices: &[u8]) {
        self.store_whole(indices[0], 0);
        if mem != Mem::B64 {
            self.store_whole(indices[1], self.isa.vector_bytes() as i32);
        }
    }

    fn gather_each(&mut self, mem: Mem, out: u8, a: &[u8; 8]) {
        let (full, s0, base) = (self.full(), self.scratch()[0], a[1]);
        self.keep_indices(mem, &a[2..4]);
        self.bin(Bin::Xor, Lane::I32, Extent::All, s0, s0, s0);
        self.store_whole(s0, ELEMENTS);
        self.for_each_lane(a[0], mem == Mem::B64, |e| match mem {
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

    /// Arguments: value, mask, base, indices.
    fn scatter_each(&mut self, mem: Mem, a: &[u8; 8]) {
        let base = a[2];
        self.keep_indices(mem, &a[3..5]);
        self.store_whole(a[0], ELEMENTS);
        self.for_each_lane(a[1], mem == Mem::B64, |e| {
            let size = mem.bytes() as i8;
            let shift = size.trailing_zeros() as i8;
            dynasm!(e.asm ; .arch x64 ; shl rdx, shift ; add rdx, Rq(base));
            match mem {
                Mem::B64 => dynasm!(e.asm ; .arch x64 ; mov rcx, [rsp + 8 * rcx + ELEMENTS] ; mov [rdx], rcx),
                Mem::B32 => dynasm!(e.asm ; .arch x64 ; mov ecx, [rsp + 4 * rcx + ELEMENTS] ; mov [rdx], ecx),
                Mem::S16 | Mem::U16 => {
                    dynasm!(e.asm ; .arch x64 ; mov ecx, [rsp + 4 * rcx + ELEMENTS] ; mov [rdx], cx);
                }
                Mem::S8 | Mem::U8 => {
                    dynasm!(e.asm ; .arch x64 ; mov ecx, [rsp + 4 * rcx + ELEMENTS] ; mov [rdx], cl);
                }
            }
        });
    }
}

fn load_row(mem: Mem) -> super::Row {
    match mem {
        Mem::B32 => rows::LOAD_NARROW,
        Mem::B64 => rows::LOAD_WIDE,
        _ => rows::extend_load(mem.bytes(), matches!(mem, Mem::S8 | Mem::S16)),
    }
}

fn store_row(mem: Mem) -> super::Row {
    match mem {
        Mem::B32 => rows::STORE_NARROW,
        Mem::B64 => rows::STORE_WIDE,
        Mem::S8 | Mem::U8 => rows::STORE_BYTES,
        Mem::S16 | Mem::U16 => rows::STORE_WORDS,
    }
}
