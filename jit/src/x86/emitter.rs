//! The assembler of x86-64: the frame, jumps, moves and calls; `ops.rs` says what each operation becomes.
//!
//! Frame, from rsp up: the work area of helpers and of element-by-element gathers, then the spill slots. rsp is aligned
//! to 64.

// The assembler macro converts register numbers to the type they have already.
#![allow(clippy::useless_conversion)]

use super::constants::Constants;
use super::encode::{Form, Instr, Length, Map, Place, Row};
use super::general::{Condition, condition};
use super::isa::{Isa, RECORD};
use super::mode::CpuMode;
use super::{mend, poll, rows};
use crate::library::OPERAND_BYTES;
use crate::lir::{Class, Op};
use crate::record;
use crate::target::{Assembler, lacks};
use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler, dynasm};
use galopvm_kir::Refusal;

pub const RSP: u8 = 4;
/// Bytes of the work area: three helper operands, or two registers of indices and one of elements.
const AREA_BYTES: i32 = 3 * OPERAND_BYTES as i32;

pub struct Emitter {
    pub asm: VecAssembler<X64Relocation>,
    pub isa: Isa,
    labels: Vec<DynamicLabel>,
    /// Bytes below the saved registers.
    frame: i32,
    /// What is to stand behind the last block.
    pub polls: Vec<poll::Cold>,
    pub mends: Vec<mend::Cold>,
    /// What stands behind that.
    pub constants: Constants,
    /// The first thing that there are no instructions for: then there is no function.
    missing: Option<Refusal>,
}

impl Assembler for Emitter {
    fn enter(&mut self) {
        dynasm!(self.asm
            ; .arch x64
            ; push rbp
            ; mov rbp, rsp
            ; push rbx
            ; push r12
            ; push r13
            ; push r14
            ; push r15
            ; sub rsp, self.frame
            ; and rsp, -64
            ; mov Rq(RECORD), rdi
        );
    }

    fn begin(&mut self, number: usize) {
        let label = self.labels[number];
        dynasm!(self.asm ; .arch x64 ; =>label);
    }

    fn jump(&mut self, to: usize) {
        let label = self.labels[to];
        dynasm!(self.asm ; .arch x64 ; jmp =>label);
    }

    fn branch(&mut self, branch: Op, args: &[u8], holds: bool, to: usize) -> Result<(), Refusal> {
        let taken = match (branch, args) {
            (Op::BranchIf(cond, width, ..), &[a, b]) => {
                self.compare(width, a, b);
                condition(cond)
            }
            (Op::BranchIfImm(cond, width, value, ..), &[a]) => {
                self.compare_imm(width, a, value);
                condition(cond)
            }
            (Op::BranchBool(..), &[a]) => {
                dynasm!(self.asm ; .arch x64 ; test Rd(a), Rd(a));
                Condition::NotEqual
            }
            (Op::BranchAny(..), &[mask]) => {
                self.test_mask(mask);
                Condition::NotEqual
            }
            _ => return Err(lacks(branch)),
        };
        self.jump_if(if holds { taken } else { taken.negated() }, self.labels[to]);
        self.refusal()
    }

    fn op(&mut self, op: Op, out: Option<u8>, args: &[u8]) -> Result<(), Refusal> {
        self.emit(op, out, args);
        self.refusal()
    }

    fn copy(&mut self, class: Class, to: u8, from: u8) -> Result<(), Refusal> {
        match class {
            Class::Int => self.move_int(to, from),
            Class::Vec => self.v_move(to, from),
            Class::Mask if to != from => self.k2(rows::K_MOVE, to, Place::Reg(from)),
            Class::Mask => {}
        }
        self.refusal()
    }

    fn load(&mut self, class: Class, to: u8, slot: usize) -> Result<(), Refusal> {
        let at = slot_place(slot);
        match class {
            Class::Int => dynasm!(self.asm ; .arch x64 ; mov Rq(to), [rsp + at]),
            Class::Vec => self.load_whole(to, at),
            Class::Mask => self.k2(rows::K_MOVE, to, Place::Base { base: RSP, disp: at }),
        }
        self.refusal()
    }

    fn store(&mut self, class: Class, from: u8, slot: usize) -> Result<(), Refusal> {
        let at = slot_place(slot);
        match class {
            Class::Int => dynasm!(self.asm ; .arch x64 ; mov [rsp + at], Rq(from)),
            Class::Vec => self.store_whole(from, at),
            Class::Mask => self.k2(rows::K_STORE, from, Place::Base { base: RSP, disp: at }),
        }
        self.refusal()
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<u8>, Refusal> {
        self.cold_polls();
        self.cold_mends();
        self.refusal()?;
        let code = self.asm.finalize().map_err(|e| Refusal::new(format!("assembling failed: {e}")))?;
        Ok(self.constants.behind(code))
    }
}

fn slot_place(slot: usize) -> i32 {
    AREA_BYTES + 8 * slot as i32
}

impl Emitter {
    pub fn new(isa: Isa, blocks: usize, spill_words: usize) -> Emitter {
        let mut asm = VecAssembler::new(0);
        let labels = (0..blocks).map(|_| asm.new_dynamic_label()).collect();
        let frame = slot_place(spill_words) + 64;
        let constants = Constants::new(isa);
        Emitter { asm, isa, labels, frame, polls: Vec::new(), mends: Vec::new(), constants, missing: None }
    }

    /// There are no instructions for something.
    pub fn lacks(&mut self, what: impl std::fmt::Debug) {
        self.missing.get_or_insert_with(|| lacks(what));
    }

    fn refusal(&self) -> Result<(), Refusal> {
        self.missing.clone().map_or(Ok(()), Err)
    }

    pub fn leave(&mut self, result: i32) {
        self.leave_vectors();
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

    /// Rust code may use vector registers in the old way.
    fn leave_vectors(&mut self) {
        if self.isa.mode != CpuMode::Scalar {
            dynasm!(self.asm ; .arch x64 ; vzeroupper);
        }
    }

    /// Asks for a room.
    pub fn room(&mut self, number: u32, out: u8, bytes: u8) {
        self.leave_vectors();
        let entry = crate::library::room as *const () as i64;
        dynasm!(self.asm
            ; .arch x64
            ; mov rdx, Rq(bytes)
            ; mov esi, number as i32
            ; mov rdi, [Rq(RECORD) + 8 * record::ROOMS as i32]
            ; mov rax, QWORD entry
            ; call rax
        );
        self.move_int(out, 0);
    }

    /// Calls the helper entry on the work area.
    pub fn call(&mut self, code: u32, lanes: i32) {
        self.leave_vectors();
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

    pub fn form(&self) -> Form {
        match self.isa.mode {
            CpuMode::Scalar => Form::Sse,
            CpuMode::Avx2 => Form::Vex,
            CpuMode::Avx512 => Form::Evex,
        }
    }

    /// The length of a vector with all its lanes; scalar mode has none.
    pub fn full(&mut self) -> Length {
        if self.isa.mode == CpuMode::Scalar {
            self.lacks(format_args!("vectors of several lanes"));
        }
        self.whole()
    }

    /// The length of all that is kept of a vector register.
    pub fn whole(&self) -> Length {
        match self.isa.mode {
            CpuMode::Scalar => Length::L128,
            CpuMode::Avx2 => Length::L256,
            CpuMode::Avx512 => Length::L512,
        }
    }

    pub fn simd(&mut self, instr: Instr) {
        let form = self.form();
        // SSE2 has nothing in the other maps.
        if form == Form::Sse && instr.row.map != Map::M0F {
            return self.lacks(instr.row);
        }
        self.asm.extend(instr.bytes(form));
    }

    /// An instruction with a destination and one source.
    pub fn v2(&mut self, row: Row, length: Length, reg: u8, place: Place) {
        self.simd(Instr::new(row, length, reg, 0, place));
    }

    pub fn v2_imm(&mut self, row: Row, length: Length, reg: u8, place: Place, imm: u8) {
        self.simd(Instr { imm: Some(imm), ..Instr::new(row, length, reg, 0, place) });
    }

    /// An instruction with a destination and two sources; SSE gets the copy it needs.
    pub fn v3(&mut self, row: Row, length: Length, out: u8, a: u8, b: u8) {
        let mut b = b;
        if self.form() == Form::Sse && out != a {
            if out == b {
                b = self.scratch()[2];
                self.v_move(b, out);
            }
            self.v_move(out, a);
        }
        self.simd(Instr::new(row, length, out, a, Place::Reg(b)));
    }

    pub fn v3_imm(&mut self, row: Row, length: Length, out: u8, a: u8, b: u8, imm: u8) {
        self.simd(Instr { imm: Some(imm), ..Instr::new(row, length, out, a, Place::Reg(b)) });
    }

    /// An instruction on all lanes with a destination and one source.
    pub fn v2_full(&mut self, row: Row, reg: u8, place: Place) {
        let full = self.full();
        self.v2(row, full, reg, place);
    }

    /// An instruction on all lanes with a destination and two sources.
    pub fn v3_full(&mut self, row: Row, out: u8, a: u8, b: u8) {
        let full = self.full();
        self.v3(row, full, out, a, b);
    }

    pub fn v_move(&mut self, to: u8, from: u8) {
        if to != from {
            let row = if self.form() == Form::Sse { rows::MOV_ALIGNED_SSE } else { rows::MOV_ALIGNED };
            self.v2(row, self.whole(), to, Place::Reg(from));
        }
    }

    /// A whole vector register (scalar mode: its low 64 bits) to the frame.
    pub fn store_whole(&mut self, reg: u8, at: i32) {
        let row = if self.form() == Form::Sse { rows::STORE_F64 } else { rows::MOV_STORE };
        self.v2(row, self.whole(), reg, Place::Base { base: RSP, disp: at });
    }

    pub fn load_whole(&mut self, reg: u8, at: i32) {
        let row = if self.form() == Form::Sse { rows::LOAD_F64 } else { rows::MOV_LOAD };
        self.v2(row, self.whole(), reg, Place::Base { base: RSP, disp: at });
    }

    pub fn scratch(&self) -> [u8; 3] {
        self.isa.vec_scratch()
    }
}
