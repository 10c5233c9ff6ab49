//! Values that instructions compute for almost every argument, and a helper for the rest.
//!
//! In the code stands one test and a jump that is rarely taken; what it leads to stands behind the function. The helper is
//! called by a routine that keeps all registers, so that the rest of the function need not know of it.

// The assembler macro converts register numbers to the type they have already.
#![allow(clippy::useless_conversion)]

use super::emitter::Emitter;
use super::general::Condition;
use crate::library::{Helper, OPERAND_BYTES};
use crate::lir::Extent;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};
use smallvec::SmallVec;

/// The part of an operation behind the function.
pub struct Cold {
    enter: DynamicLabel,
    back: DynamicLabel,
    helper: Helper,
    lanes: i32,
    out: u8,
    operands: SmallVec<[u8; 3]>,
}

impl Emitter {
    /// The value stands in the result's register already.
    pub fn mend(&mut self, helper: Helper, extent: Extent, out: u8, wrong: u8, operands: &[u8]) {
        let (enter, back) = (self.asm.new_dynamic_label(), self.asm.new_dynamic_label());
        match extent {
            Extent::One => dynasm!(self.asm ; .arch x64 ; test Rd(wrong), Rd(wrong)),
            Extent::All => self.test_mask(wrong),
        }
        self.jump_if(Condition::NotEqual, enter);
        dynasm!(self.asm ; .arch x64 ; =>back);
        let lanes = self.lanes_of(helper, extent);
        self.mends.push(Cold { enter, back, helper, lanes, out, operands: operands.into() });
    }

    /// What these tests lead to.
    pub fn cold_mends(&mut self) {
        let mends = std::mem::take(&mut self.mends);
        if mends.is_empty() {
            return;
        }
        let call = self.asm.new_dynamic_label();
        for Cold { enter, back, helper, lanes, out, operands } in mends {
            dynasm!(self.asm ; .arch x64 ; =>enter);
            for (k, operand) in operands.iter().enumerate() {
                self.store_whole(*operand, (k * OPERAND_BYTES) as i32);
            }
            dynasm!(self.asm
                ; .arch x64
                ; mov eax, helper.code() as i32
                ; mov edx, lanes
                ; call =>call
            );
            self.load_whole(out, 0);
            dynasm!(self.asm ; .arch x64 ; jmp =>back);
        }
        self.help_keeping(call);
    }

    /// The routine: calls the helper of the number in eax on edx lanes of the work area, and returns with all registers
    /// as they were.
    fn help_keeping(&mut self, entry: DynamicLabel) {
        dynasm!(self.asm ; .arch x64 ; =>entry);
        self.keep_registers();
        // The area begins behind the return address, which stands behind what rbp points to.
        let help = crate::library::help as *const () as i64;
        dynasm!(self.asm
            ; .arch x64
            ; lea rdi, [rbp + 16]
            ; mov esi, eax
            ; mov rax, QWORD help
            ; call rax
        );
        self.bring_registers();
        dynasm!(self.asm ; .arch x64 ; ret);
    }
}
