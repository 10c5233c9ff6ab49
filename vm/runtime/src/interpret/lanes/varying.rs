//! Which registers differ from row to row.

use galopvm_bytecode::{BlockId, Function, Instr, Operand, Operator, RegId, Role, field::Fields};
use std::collections::HashSet;

struct Varying<'a> {
    function: &'a Function,
    found: HashSet<RegId>,
    changed: bool,
}

/// The registers of a block, and of the blocks in it, whose values are not the same for all rows; its parameters are not.
pub(super) fn varying(function: &Function, block: BlockId) -> HashSet<RegId> {
    let found = function.blocks[block].params.iter().copied().collect();
    let mut varying = Varying { function, found, changed: true };
    while varying.changed {
        varying.changed = false;
        varying.block(block);
    }
    varying.found
}

impl Varying<'_> {
    fn varies(&self, operand: &Operand) -> bool {
        self.found.contains(&operand.reg)
    }

    fn mark(&mut self, reg: RegId, varies: bool) {
        if varies && self.found.insert(reg) {
            self.changed = true;
        }
    }

    fn block(&mut self, block: BlockId) {
        let function = self.function;
        for instr in &function.blocks[block].code {
            self.instruction(instr);
        }
    }

    fn instruction(&mut self, instr: &Instr) {
        let blocks = &self.function.blocks;
        match instr {
            Instr::If { dsts, cond, then, otherwise } => {
                self.block(*then);
                self.block(*otherwise);
                let results = blocks[*then].results.iter().zip(&blocks[*otherwise].results);
                for (dst, (a, b)) in dsts.iter().zip(results) {
                    self.mark(dst.0, self.varies(cond) || self.varies(a) || self.varies(b));
                }
            }
            Instr::For { dsts, init, body, .. } => {
                self.block(*body);
                let carried = &blocks[*body].params[1..];
                for (k, (dst, param)) in dsts.iter().zip(carried).enumerate() {
                    let varies = self.varies(&init[k]) || self.varies(&blocks[*body].results[k]);
                    self.mark(*param, varies);
                    self.mark(dst.0, varies);
                }
            }
            Instr::While { dsts, init, cond, body } => {
                self.block(*cond);
                self.block(*body);
                for (k, dst) in dsts.iter().enumerate() {
                    let varies = self.varies(&init[k]) || self.varies(&blocks[*body].results[k]);
                    self.mark(blocks[*body].params[k], varies);
                    self.mark(blocks[*cond].params[k], varies);
                    self.mark(dst.0, varies);
                }
            }
            // The extents of all rows agree.
            Instr::Dim { .. } => {}
            _ => match instr.operator() {
                Some(operator) => self.operator(&operator),
                None => {
                    let fields = Fields::of(instr);
                    let varies = fields.operands.iter().any(|operand| self.varies(operand));
                    fields.defs.iter().for_each(|def| self.mark(def.0, varies));
                }
            },
        }
    }

    fn operator(&mut self, operator: &Operator<'_>) {
        let blocks = &self.function.blocks;
        let params = operator.combine.map_or(&[][..], |block| &blocks[block].params);
        let (accumulators, items) = params.split_at(operator.neutral.len());
        let rows = operator.items.map_or(items, |block| &blocks[block].params);
        for (array, row) in operator.arrays.iter().zip(rows) {
            self.mark(*row, self.varies(array));
        }
        if let Some(map) = operator.items {
            self.block(map);
            for (result, item) in blocks[map].results.iter().zip(items) {
                self.mark(*item, self.varies(result));
            }
        }
        if let Some(combine) = operator.combine {
            self.block(combine);
            for (k, accumulator) in accumulators.iter().enumerate() {
                let varies = self.varies(&operator.neutral[k]) || self.varies(&blocks[combine].results[k]);
                self.mark(*accumulator, varies);
            }
        }
        if operator.gives == Role::Chosen {
            // How many rows are chosen may be different everywhere.
            return operator.dsts.iter().for_each(|dst| self.mark(dst.0, true));
        }
        for (k, dst) in operator.dsts.iter().enumerate() {
            let varies = self.varies(&blocks[operator.last_block()].results[k])
                || accumulators.get(k).is_some_and(|a| self.found.contains(a));
            self.mark(dst.0, varies);
        }
    }
}
