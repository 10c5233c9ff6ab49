//! Marks each operand that is the last use of its register on every path.
//!
//! A register may be marked only in the region that defines it: inside a loop or parallel operator the next turn
//! still needs what comes from outside.

use galopvm_base::TypedId;
use galopvm_bytecode::field::Fields;
use galopvm_bytecode::{BlockId, Function, Instr, Operand, RegId, module::BODY};
use std::collections::HashSet;

/// Marks the last uses of a function.
pub(super) fn mark(function: &mut Function) {
    let mut marker = Marker { function, region: Vec::new(), regions: 0 };
    marker.region = vec![0; marker.function.regs.len()];
    marker.find_regions(BODY, 0);
    marker.block(BODY, 0, &mut HashSet::new());
}

struct Marker<'f> {
    function: &'f mut Function,
    /// The region that defines each register.
    region: Vec<u32>,
    regions: u32,
}

/// The blocks of an instruction that run more than once.
fn repeated(instr: &Instr) -> bool {
    !matches!(instr, Instr::If { .. })
}

impl Marker<'_> {
    fn find_regions(&mut self, id: BlockId, region: u32) {
        for param in self.function.blocks[id].params.clone() {
            self.region[param.index()] = region;
        }
        let code = std::mem::take(&mut self.function.blocks[id].code);
        for instr in &code {
            let fields = Fields::of(instr);
            for def in fields.defs {
                self.region[def.0.index()] = region;
            }
            for block in fields.blocks {
                let inner = if repeated(instr) {
                    self.regions += 1;
                    self.regions
                } else {
                    region
                };
                self.find_regions(block, inner);
            }
        }
        self.function.blocks[id].code = code;
    }

    /// Goes through a block from its end. `live` holds the registers used later, and then those used in the block.
    fn block(&mut self, id: BlockId, region: u32, live: &mut HashSet<RegId>) {
        let mut block = std::mem::take(&mut self.function.blocks[id]);
        for result in block.results.iter_mut().rev() {
            self.operand(result, region, live);
        }
        for instr in block.code.iter_mut().rev() {
            let inner = Fields::of(instr).blocks;
            if repeated(instr) {
                for block in inner {
                    let own = self.region_of(block, region);
                    let mut used = HashSet::new();
                    self.block(block, own, &mut used);
                    live.extend(used);
                }
            } else {
                let after = live.clone();
                for block in inner {
                    let mut used = after.clone();
                    self.block(block, region, &mut used);
                    live.extend(used);
                }
            }
            let mut operands = Vec::new();
            instr.operands_mut(&mut operands);
            for operand in operands.into_iter().rev() {
                self.operand(operand, region, live);
            }
        }
        self.function.blocks[id] = block;
    }

    /// The region of a repeated block: that of anything it defines, or a region of its own.
    fn region_of(&mut self, id: BlockId, outer: u32) -> u32 {
        let block = &self.function.blocks[id];
        let defined = block.code.iter().find_map(|i| Fields::of(i).defs.first().map(|d| d.0));
        match block.params.first().copied().or(defined) {
            Some(reg) if self.region[reg.index()] != outer => self.region[reg.index()],
            _ => u32::MAX,
        }
    }

    fn operand(&self, operand: &mut Operand, region: u32, live: &mut HashSet<RegId>) {
        let later = !live.insert(operand.reg);
        operand.last = !later && self.region[operand.reg.index()] == region;
    }
}
