//! Emission: low IR with registers to bytes.
//!
//! - `poll.rs`: asking the host whether to go on.
//! - `encode.rs`, `evex.rs`, `rows.rs`: vector instructions in all three encodings. `general.rs`: general registers
//!   (dynasm). `vector.rs`, `memory.rs`, `masks.rs`: what each vector operation becomes. This file: the frame,
//!   blocks, moves.
//!
//! The function made is `extern "C" fn(record: *mut u64) -> u64`, 0 if all is well. Frame, from rsp up: the
//! work area of helpers and of element-by-element gathers, then the spill slots. rsp is aligned to 64.

// The assembler macro converts register numbers to the type they have already.
#![allow(clippy::useless_conversion)]

pub mod encode;
#[cfg(test)]
mod encode_tests;
mod evex;
mod general;
mod masks;
mod memory;
mod poll;
mod rows;
mod vector;

use crate::allocate::{self, Flat, MASK_SCRATCH, RECORD};
use crate::isa::Isa;
use crate::library::OPERAND_BYTES;
use crate::lir::{Addr, Code, Inst, Label, Op};
use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler, dynasm};
use encode::{Form, Instr, Length, Place, Row};
use galopvm_kir::{CpuMode, Refusal};
use regalloc2::{Allocation, Edit, InstOrEdit, Output, RegClass};

const RSP: u8 = 4;
/// Bytes of the work area: three helper operands, or two registers of indices and one of elements.
const AREA_BYTES: i32 = 3 * OPERAND_BYTES as i32;

/// Turns a complete function into machine code.
pub fn emit(code: &Code, isa: Isa) -> Result<Vec<u8>, Refusal> {
    let flat = Flat::new(code, isa)?;
    let output = flat.allocate(isa)?;
    let mut asm = VecAssembler::new(0);
    let labels = code.order.iter().map(|_| asm.new_dynamic_label()).collect();
    let mut emitter = Emitter {
        asm,
        isa,
        flat: &flat,
        output: &output,
        labels,
        forward: Vec::new(),
        polls: Vec::new(),
        missing: None,
    };
    emitter.function(code);
    if let Some(what) = emitter.missing {
        return Err(Refusal::new(format!("no machine code for {what}")));
    }
    emitter.asm.finalize().map_err(|e| Refusal::new(format!("assembling failed: {e}")))
}

struct Emitter<'a> {
    asm: VecAssembler<X64Relocation>,
    isa: Isa,
    flat: &'a Flat<'a>,
    output: &'a Output,
    labels: Vec<DynamicLabel>,
    /// Per position, where a jump to the block really leads: past blocks that only jump on.
    forward: Vec<usize>,
    /// What is to stand behind the last block.
    polls: Vec<poll::Cold>,
    /// The first thing that there are no instructions for: then there is no function.
    missing: Option<String>,
}

/// Registers of an instruction.
struct Regs {
    out: u8,
    args: [u8; 8],
}

impl Emitter<'_> {
    fn function(&mut self, code: &Code) {
        let frame = AREA_BYTES + 8 * self.output.num_spillslots as i32 + 64;
        dynasm!(self.asm
            ; .arch x64
            ; push rbp
            ; mov rbp, rsp
            ; push rbx
            ; push r12
            ; push r13
            ; push r14
            ; push r15
            ; sub rsp, frame
            ; and rsp, -64
            ; mov Rq(RECORD), rdi
        );
        let blocks: Vec<Vec<InstOrEdit<'_>>> = (0..code.order.len())
            .map(|k| self.output.block_insts_and_edits(self.flat, regalloc2::Block::new(k)).collect())
            .collect();
        self.forward = (0..blocks.len()).map(|k| self.destination(&blocks, k)).collect();
        for (k, block) in blocks.iter().enumerate() {
            let label = self.labels[k];
            dynasm!(self.asm ; .arch x64 ; =>label);
            if k > 0 && self.forward[k] != k && self.ends_before(&blocks, k - 1) {
                // Everybody jumps past this block, and nobody falls into it.
                continue;
            }
            for item in block {
                match item {
                    InstOrEdit::Edit(Edit::Move { from, to }) => self.move_between(*from, *to),
                    InstOrEdit::Inst(index) => self.inst(*index, k),
                }
            }
        }
        self.cold_polls();
    }

    fn destination(&self, blocks: &[Vec<InstOrEdit<'_>>], mut k: usize) -> usize {
        // A chain of empty blocks is short and has no cycle, since loops contain a branch.
        for _ in 0..blocks.len() {
            match blocks[k].as_slice() {
                [InstOrEdit::Inst(only)] => match self.flat.insts[only.index()].op {
                    Op::Jump(label) => k = self.flat.position(label),
                    _ => break,
                },
                _ => break,
            }
        }
        k
    }

    fn ends_before(&self, blocks: &[Vec<InstOrEdit<'_>>], k: usize) -> bool {
        // The previous block does not fall through to the next one if it jumps to the forwarded place itself.
        !blocks[k].is_empty()
    }

    fn target(&self, label: Label) -> (usize, DynamicLabel) {
        let k = self.forward[self.flat.position(label)];
        (k, self.labels[k])
    }

    /// The block that follows in the emitted code: empty blocks are not there.
    fn falls_to(&self, position: usize, target: usize) -> bool {
        let mut next = position + 1;
        while next < self.forward.len() && self.forward[next] != next {
            next += 1;
        }
        next == target
    }

    fn jump_to(&mut self, label: Label, position: usize) {
        let (k, target) = self.target(label);
        if !self.falls_to(position, k) {
            dynasm!(self.asm ; .arch x64 ; jmp =>target);
        }
    }

    /// There are no instructions for something.
    fn lacks(&mut self, what: impl std::fmt::Debug) {
        self.missing.get_or_insert_with(|| format!("{what:?}"));
    }

    /// The number of the register that was allocated.
    fn number(&mut self, allocation: Allocation) -> u8 {
        match allocation.as_reg() {
            Some(reg) => reg.hw_enc() as u8,
            None => {
                self.lacks(format_args!("an operand in {allocation}"));
                0
            }
        }
    }

    fn inst(&mut self, index: regalloc2::Inst, position: usize) {
        let inst = self.flat.insts[index.index()];
        let allocs = self.output.inst_allocs(index);
        let mut regs = Regs { out: 0, args: [0; 8] };
        if !matches!(inst.op, Op::Jump(_)) {
            if inst.args.len() > regs.args.len() {
                self.lacks(inst.op);
            }
            for (slot, alloc) in regs.args.iter_mut().zip(&allocs[..inst.args.len()]) {
                *slot = self.number(*alloc);
            }
        }
        if inst.out.is_some() {
            regs.out = match allocs.last() {
                Some(alloc) => self.number(*alloc),
                None => {
                    self.lacks(inst.op);
                    0
                }
            };
        }
        self.dispatch(inst, &regs, position);
    }

    fn dispatch(&mut self, inst: &Inst, r: &Regs, position: usize) {
        let (out, a) = (r.out, &r.args);
        match inst.op {
            Op::Jump(label) => self.jump_to(label, position),
            Op::BranchIf(cond, width, yes, no) => {
                self.compare(width, a[0], a[1]);
                self.branch(general::condition(cond), yes, no, position);
            }
            Op::BranchBool(yes, no) => {
                dynasm!(self.asm ; .arch x64 ; test Rd(a[0]), Rd(a[0]));
                self.branch(general::NOT_ZERO, yes, no, position);
            }
            Op::BranchAny(yes, no) => {
                self.test_mask(a[0]);
                self.branch(general::NOT_ZERO, yes, no, position);
            }
            Op::Return => self.leave(0),
            Op::Trap => self.leave(1),
            Op::Poll(cost) => self.poll(cost),
            Op::PollAt { cost, mask } => self.poll_at(cost, mask, a[0]),
            Op::MaskAll | Op::MaskLogic(_) | Op::MaskHalf(_) | Op::MaskJoin | Op::Cmp(..) | Op::Blend(_) => {
                self.mask_op(inst.op, out, a);
            }
            Op::Load(..)
            | Op::Store(..)
            | Op::LoadFloat(..)
            | Op::LoadSplat(..)
            | Op::StoreFloat(..)
            | Op::VLoad(..)
            | Op::VLoadMask(..)
            | Op::VStore(..)
            | Op::VStoreMask(..)
            | Op::Gather(_)
            | Op::GatherEach(_)
            | Op::ScatterEach(_) => self.memory_op(inst.op, out, a),
            Op::Help(helper, extent) => {
                for (k, arg) in a[..inst.args.len()].iter().enumerate() {
                    self.store_whole(*arg, k as i32 * OPERAND_BYTES as i32);
                }
                let lanes = match extent {
                    crate::lir::Extent::One => 1,
                    crate::lir::Extent::All => self.isa.vector_bytes() / helper.lane_bytes(),
                };
                self.call(helper.code(), lanes as i32);
                self.load_whole(out, 0);
            }
            Op::HelpScalar(helper) => {
                for (k, arg) in a[..inst.args.len()].iter().enumerate() {
                    let at = k as i32 * OPERAND_BYTES as i32;
                    dynasm!(self.asm ; .arch x64 ; mov [rsp + at], Rq(*arg));
                }
                self.call(helper.code(), 1);
                dynasm!(self.asm ; .arch x64 ; mov Rq(out), [rsp]);
            }
            op if general::handles(op) => self.general_op(op, out, a),
            op => self.vector_op(op, out, a),
        }
    }

    fn branch(&mut self, condition: u8, yes: Label, no: Label, position: usize) {
        let ((yes_at, yes), (no_at, no)) = (self.target(yes), self.target(no));
        if self.falls_to(position, yes_at) {
            self.jump_if(condition ^ 1, no);
        } else {
            self.jump_if(condition, yes);
            if !self.falls_to(position, no_at) {
                dynasm!(self.asm ; .arch x64 ; jmp =>no);
            }
        }
    }

    fn leave(&mut self, result: i32) {
        if self.isa.mode != CpuMode::Scalar {
            dynasm!(self.asm ; .arch x64 ; vzeroupper);
        }
        dynasm!(self.asm
            ; .arch x64
            ; mov eax, result
            ; lea rsp, [rbp - 40]
            ; pop r15
            ; pop r14
            ; pop r13
            ; pop r12
            ; pop rbx
            ; pop rbp
            ; ret
        );
    }

    /// Calls the helper entry on the work area.
    fn call(&mut self, code: u32, lanes: i32) {
        if self.isa.mode != CpuMode::Scalar {
            dynasm!(self.asm ; .arch x64 ; vzeroupper);
        }
        let entry = crate::library::help as *const () as i64;
        dynasm!(self.asm
            ; .arch x64
            ; mov rdi, rsp
            ; mov esi, code as i32
            ; mov edx, lanes
            ; mov rax, QWORD entry
            ; call rax
        );
    }

    fn form(&self) -> Form {
        match self.isa.mode {
            CpuMode::Scalar => Form::Sse,
            CpuMode::Avx2 => Form::Vex,
            CpuMode::Avx512 => Form::Evex,
        }
    }

    fn full(&self) -> Length {
        match self.isa.mode {
            CpuMode::Scalar => Length::L128,
            CpuMode::Avx2 => Length::L256,
            CpuMode::Avx512 => Length::L512,
        }
    }

    fn simd(&mut self, instr: Instr) {
        self.asm.extend(instr.bytes(self.form()));
    }

    /// An instruction with a destination and one source.
    fn v2(&mut self, row: Row, length: Length, reg: u8, place: Place) {
        self.simd(Instr::new(row, length, reg, 0, place));
    }

    fn v2_imm(&mut self, row: Row, length: Length, reg: u8, place: Place, imm: u8) {
        self.simd(Instr { imm: Some(imm), ..Instr::new(row, length, reg, 0, place) });
    }

    /// An instruction with a destination and two sources; SSE gets the copy it needs.
    fn v3(&mut self, row: Row, length: Length, out: u8, a: u8, b: u8) {
        let mut b = b;
        if self.form() == Form::Sse && out != a {
            if out == b {
                b = allocate::vec_scratch(self.isa)[2];
                self.v_move(b, out);
            }
            self.v_move(out, a);
        }
        self.simd(Instr::new(row, length, out, a, Place::Reg(b)));
    }

    fn v3_imm(&mut self, row: Row, length: Length, out: u8, a: u8, b: u8, imm: u8) {
        self.simd(Instr { imm: Some(imm), ..Instr::new(row, length, out, a, Place::Reg(b)) });
    }

    fn v_move(&mut self, to: u8, from: u8) {
        if to != from {
            let row = if self.form() == Form::Sse { rows::MOV_ALIGNED_SSE } else { rows::MOV_ALIGNED };
            self.v2(row, self.full(), to, Place::Reg(from));
        }
    }

    /// A whole vector register (scalar mode: its low 64 bits) to the frame.
    fn store_whole(&mut self, reg: u8, at: i32) {
        let row = if self.form() == Form::Sse { rows::STORE_F64 } else { rows::MOV_STORE };
        self.v2(row, self.full(), reg, Place::Base { base: RSP, disp: at });
    }

    fn load_whole(&mut self, reg: u8, at: i32) {
        let row = if self.form() == Form::Sse { rows::LOAD_F64 } else { rows::MOV_LOAD };
        self.v2(row, self.full(), reg, Place::Base { base: RSP, disp: at });
    }

    fn move_between(&mut self, from: Allocation, to: Allocation) {
        let at = |a: Allocation| a.as_stack().map(|s| AREA_BYTES + 8 * s.index() as i32);
        let (slot_from, slot_to) = (at(from), at(to));
        let Some(class) = from.as_reg().or(to.as_reg()).map(|reg| reg.class()) else {
            return self.lacks(format_args!("a move from {from} to {to}"));
        };
        // The slot is on the other side.
        let from = if slot_from.is_none() { self.number(from) } else { 0 };
        let to = if slot_to.is_none() { self.number(to) } else { 0 };
        match (class, slot_from, slot_to) {
            (RegClass::Int, None, None) => self.copy(to, from),
            (RegClass::Int, Some(slot), _) => dynasm!(self.asm ; .arch x64 ; mov Rq(to), [rsp + slot]),
            (RegClass::Int, None, Some(slot)) => dynasm!(self.asm ; .arch x64 ; mov [rsp + slot], Rq(from)),
            (RegClass::Float, None, None) => self.v_move(to, from),
            (RegClass::Float, Some(slot), _) => self.load_whole(to, slot),
            (RegClass::Float, None, Some(slot)) => self.store_whole(from, slot),
            (RegClass::Vector, None, None) => {
                if from != to {
                    self.k2(rows::K_MOVE, to, Place::Reg(from));
                }
            }
            (RegClass::Vector, Some(slot), _) => {
                self.k2(rows::K_MOVE, to, Place::Base { base: RSP, disp: slot });
            }
            (RegClass::Vector, None, Some(slot)) => {
                self.k2(rows::K_STORE, from, Place::Base { base: RSP, disp: slot });
            }
        }
    }

    /// The memory operand of an address whose base and index are in `regs`.
    fn place(&self, addr: Addr, regs: &[u8]) -> Place {
        match addr.scale {
            0 => Place::Base { base: regs[0], disp: addr.disp },
            scale => Place::Indexed { base: regs[0], index: regs[1], scale, disp: addr.disp },
        }
    }

    fn mask_scratch(&self) -> u8 {
        MASK_SCRATCH
    }

    fn scratch(&self) -> [u8; 3] {
        allocate::vec_scratch(self.isa)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::build::Builder;
    use crate::lir::{Bin, Change, Class, Extent, Lane, Width};

    /// The machine code of one operation on registers of a class.
    fn emitted(op: Op, class: Class, mode: CpuMode) -> Result<Vec<u8>, Refusal> {
        let isa = Isa { mode };
        let mut builder = Builder::new(isa.mask_class());
        let word = builder.op(Op::Word(0), &[]);
        let arg = match class {
            Class::Int => word,
            _ => builder.op(Op::Splat(Lane::I64), &[word]),
        };
        let args = if matches!(op, Op::Convert(..)) { vec![arg] } else { vec![arg, arg] };
        builder.op(op, &args);
        builder.end(Op::Return, &[]);
        emit(&builder.finish(), isa)
    }

    #[test]
    fn what_has_no_instructions_is_refused() {
        let div = |lane| Op::V(Bin::Div, lane, Extent::All);
        assert!(emitted(div(Lane::F64), Class::Vec, CpuMode::Avx512).is_ok());
        let refused = emitted(div(Lane::I64), Class::Vec, CpuMode::Avx512).expect_err("no such instruction");
        assert!(refused.to_string().contains("no machine code for V(Div, I64, All)"), "{refused}");
        let shift = Op::V(Bin::Sar, Lane::I64, Extent::All);
        assert!(emitted(shift, Class::Vec, CpuMode::Avx512).is_ok());
        assert!(emitted(shift, Class::Vec, CpuMode::Avx2).is_err());
        let change = Op::Convert(Change::Signed, Lane::I64, Lane::F64);
        assert!(emitted(change, Class::Vec, CpuMode::Avx512).is_ok());
        assert!(emitted(change, Class::Vec, CpuMode::Avx2).is_err());
        assert!(emitted(Op::Alu(Bin::Add, Width::W64), Class::Int, CpuMode::Scalar).is_ok());
        assert!(emitted(Op::Alu(Bin::FMax, Width::W64), Class::Int, CpuMode::Scalar).is_err());
    }
}
