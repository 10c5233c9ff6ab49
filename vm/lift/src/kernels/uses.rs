//! Where the registers of a function are used, and what some of them are by definition.

use galopvm_base::{ElemType, IdVec, Scalar, ScalarOp, TypedId};
use galopvm_bytecode::field::Fields;
use galopvm_bytecode::module::BODY;
use galopvm_bytecode::{BlockId, Function, Instr, RegId, Role};
use std::collections::HashMap;

/// How the elements of a register are used, extents aside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Use {
    /// Not at all.
    Never,
    /// Once, whole, in the block that defines the register: by a parallel operator, or as a result of the block.
    Whole,
    /// Once, whole, as a view with this register, in the same block.
    View(RegId),
    /// Once, as a row of a literal, in the same block.
    Row,
    /// Otherwise.
    Other,
}

/// What is known of each register of a function.
#[derive(Debug)]
pub(super) struct Uses {
    uses: IdVec<RegId, Use>,
    homes: IdVec<RegId, BlockId>,
    known: HashMap<RegId, Origin>,
}

/// What a register is by definition, wherever it is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// A constant.
    Const(Scalar),
    /// `iota` with the count in a register, and registers for start and step.
    Iota(RegId, [RegId; 2]),
    /// So many times the value in a register.
    Replicate(RegId, RegId),
    /// An extent of the array in a register.
    Dim(RegId, u32),
    /// Whether two `i64` registers are equal.
    Equal(RegId, RegId),
}

impl Uses {
    /// Looks at all blocks of a function.
    pub fn of(function: &Function) -> Uses {
        let mut homes: IdVec<RegId, BlockId> = function.regs.iter().map(|_| BODY).collect();
        for (id, block) in function.blocks.iter_ids() {
            let defs = block.code.iter().flat_map(|instr| Fields::of(instr).defs);
            for reg in block.params.iter().copied().chain(defs.map(|d| d.0)) {
                if let Some(home) = homes.get_mut(reg) {
                    *home = id;
                }
            }
        }
        let never = function.regs.iter().map(|_| Use::Never).collect();
        let mut uses = Uses { uses: never, homes, known: HashMap::new() };
        for (id, block) in function.blocks.iter_ids() {
            for instr in &block.code {
                match instr {
                    Instr::Const { dst, value } => {
                        uses.known.insert(dst.0, Origin::Const(*value));
                    }
                    Instr::Iota { dst, ty: _, count, start, step } => {
                        uses.known.insert(dst.0, Origin::Iota(count.reg, [start.reg, step.reg]));
                    }
                    Instr::Replicate { dst, count, value } => {
                        uses.known.insert(dst.0, Origin::Replicate(count.reg, value.reg));
                    }
                    Instr::Dim { dst, array, dim } => {
                        uses.known.insert(dst.0, Origin::Dim(array.reg, *dim));
                    }
                    Instr::Op2 { dst, op: ScalarOp::Eq, ty: ElemType::I64, a, b } => {
                        uses.known.insert(dst.0, Origin::Equal(a.reg, b.reg));
                    }
                    _ => {}
                }
                uses.add_instr(id, instr);
            }
            for result in &block.results {
                uses.add(id, result.reg, Use::Whole);
            }
        }
        uses
    }

    fn add_instr(&mut self, block: BlockId, instr: &Instr) {
        let fields = Fields::of(instr);
        if let (Some(Role::Turned), Some((dst, array))) = (instr.gives(), instr.shows()) {
            self.add(block, array, Use::View(dst));
            fields.operands[1..].iter().for_each(|operand| self.add(block, operand.reg, Use::Other));
            return;
        }
        let whole = match instr {
            Instr::Dim { .. } => return,
            Instr::Array { rows, .. } => {
                return rows.iter().for_each(|row| self.add(block, row.reg, Use::Row));
            }
            _ if instr.goes_over_rows() => instr.parts().rows.len(),
            Instr::Scatter { index, values, .. } | Instr::Hist { index, values, .. } => {
                index.len() + values.len()
            }
            _ => 0,
        };
        // The arrays of parallel operators are the last operands of their rows.
        let other = fields.operands.len() - whole.min(fields.operands.len());
        for (k, operand) in fields.operands.iter().enumerate() {
            self.add(block, operand.reg, if k < other { Use::Other } else { Use::Whole });
        }
    }

    fn add(&mut self, block: BlockId, reg: RegId, kind: Use) {
        if reg.index() >= self.uses.len() {
            return;
        }
        let first = self.uses[reg] == Use::Never && self.homes[reg] == block;
        self.uses[reg] = if first { kind } else { Use::Other };
    }

    /// The definition of a register, if it is a simple one.
    pub fn origin(&self, reg: RegId) -> Option<Origin> {
        self.known.get(&reg).copied()
    }

    /// True if an array is only used as a row of a literal, or not at all.
    pub fn is_row(&self, reg: RegId) -> bool {
        matches!(self.uses.get(reg), Some(Use::Row | Use::Never))
    }

    /// True if every element of an array is read where it is used.
    pub fn is_read_whole(&self, mut reg: RegId) -> bool {
        // Views define later registers, so this ends.
        while let Some(Use::View(dst)) = self.uses.get(reg) {
            reg = *dst;
        }
        self.uses.get(reg) == Some(&Use::Whole)
    }
}
