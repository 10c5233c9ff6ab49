//! Asking the host whether to go on (`lower/poll.rs` says when).
//!
//! In the loop stands one test and a jump that is rarely taken; what it leads to stands behind the function. The host
//! is asked by a routine that keeps all registers, so that asking costs the loop none.

// The assembler macro converts register numbers to the type they have already.
#![allow(clippy::useless_conversion)]

use super::emitter::{Emitter, RSP};
use super::encode::Place;
use super::isa::RECORD;
use super::mode::CpuMode;
use super::rows;
use crate::record::{ALLOWANCE, STOP, WORK};
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

/// The part of a poll behind the function.
pub struct Cold {
    enter: DynamicLabel,
    back: DynamicLabel,
    /// What is still to be paid.
    cost: Option<u32>,
}

/// Bytes from one vector register to the next while the host is asked.
const VECTOR_ROOM: i32 = 64;

/// Where the record has the allowance.
const PLACE: i32 = 8 * ALLOWANCE as i32;

impl Emitter {
    fn cold_poll(&mut self, cost: Option<u32>) -> (DynamicLabel, DynamicLabel) {
        let (enter, back) = (self.asm.new_dynamic_label(), self.asm.new_dynamic_label());
        self.polls.push(Cold { enter, back, cost });
        (enter, back)
    }

    pub fn poll(&mut self, cost: u32) {
        let (enter, back) = self.cold_poll(None);
        dynasm!(self.asm ; .arch x64 ; sub DWORD [Rq(RECORD) + PLACE], cost as i32 ; js =>enter ; =>back);
    }

    pub fn poll_at(&mut self, cost: u32, bits: i32, counter: u8) {
        let (enter, back) = self.cold_poll(Some(cost));
        dynasm!(self.asm ; .arch x64 ; test Rd(counter), bits ; jz =>enter ; =>back);
    }

    /// What polls lead to.
    pub fn cold_polls(&mut self) {
        let polls = std::mem::take(&mut self.polls);
        if polls.is_empty() {
            return;
        }
        let ask = self.asm.new_dynamic_label();
        for Cold { enter, back, cost } in polls {
            dynasm!(self.asm ; .arch x64 ; =>enter);
            if let Some(cost) = cost {
                dynasm!(self.asm ; .arch x64 ; sub DWORD [Rq(RECORD) + PLACE], cost as i32 ; jns =>back);
            }
            dynasm!(self.asm ; .arch x64 ; call =>ask ; jmp =>back);
        }
        self.ask(ask);
    }

    /// The routine: returns with all registers as they were, or ends the function.
    fn ask(&mut self, entry: DynamicLabel) {
        let stop = self.asm.new_dynamic_label();
        dynasm!(self.asm ; .arch x64 ; =>entry);
        self.keep_registers();
        let host = crate::executable::ask as *const () as i64;
        dynasm!(self.asm
            ; .arch x64
            ; mov rdi, [Rq(RECORD) + 8 * STOP as i32]
            ; mov rax, QWORD host
            ; call rax
            ; test eax, eax
            ; jne =>stop
            ; mov DWORD [Rq(RECORD) + PLACE], WORK as i32
        );
        self.bring_registers();
        dynasm!(self.asm
            ; .arch x64
            ; ret
            // The function's own frame again.
            ; =>stop
            ; mov rbp, [rbp]
        );
        self.leave(1);
    }

    /// At the beginning of a routine that calls the host: everything that a function of the host may change is kept, but
    /// for rax, rcx and rdx. rbp then points to the caller's rbp, behind which stands the return address.
    pub fn keep_registers(&mut self) {
        let area = self.kept_vectors() * VECTOR_ROOM + self.kept_masks() * 8 + 64;
        dynasm!(self.asm
            ; .arch x64
            ; push rbp
            ; mov rbp, rsp
            ; push rsi
            ; push rdi
            ; push r8
            ; push r9
            ; push r10
            ; push r11
            ; sub rsp, area
            ; and rsp, -64
        );
        for k in 0..self.kept_vectors() {
            self.store_whole(k as u8, k * VECTOR_ROOM);
        }
        for k in 0..self.kept_masks() {
            self.k2(rows::K_STORE, k as u8, self.kept_mask(k));
        }
        if self.isa.mode != CpuMode::Scalar {
            dynasm!(self.asm ; .arch x64 ; vzeroupper);
        }
    }

    /// Before such a routine returns.
    pub fn bring_registers(&mut self) {
        for k in 0..self.kept_vectors() {
            self.load_whole(k as u8, k * VECTOR_ROOM);
        }
        for k in 0..self.kept_masks() {
            self.k2(rows::K_MOVE, k as u8, self.kept_mask(k));
        }
        dynasm!(self.asm
            ; .arch x64
            ; lea rsp, [rbp - 48]
            ; pop r11
            ; pop r10
            ; pop r9
            ; pop r8
            ; pop rdi
            ; pop rsi
            ; pop rbp
        );
    }

    fn kept_vectors(&self) -> i32 {
        if self.isa.is_512() { 32 } else { 16 }
    }

    fn kept_masks(&self) -> i32 {
        if self.isa.is_512() { 8 } else { 0 }
    }

    fn kept_mask(&self, k: i32) -> Place {
        Place::Base { base: RSP, disp: self.kept_vectors() * VECTOR_ROOM + 8 * k }
    }
}
