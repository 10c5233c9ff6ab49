//! Register allocation: the low IR as `regalloc2` wants to see it, with the registers of a target.
//!
//! Some registers are never allocated: an assembler needs a few for itself within one instruction, and the allocator
//! needs one of each class between instructions.

use crate::lir::{self, Code, Effect, Inst as LirInst, Label, Op, Reg};
use crate::proofs;
use crate::target::{ResultPlace, Target, class_of, reg_class};
use galopvm_base::TypedId;
use galopvm_kir::Refusal;
use regalloc2::checker::{Checker, CheckerErrors};
use regalloc2::{
    Block, Function, Inst, InstRange, MachineEnv, Operand, OperandConstraint, OperandKind, OperandPos,
    Output, PRegSet, RegClass, RegallocOptions, VReg,
};

/// A function in the allocator's terms, with instructions numbered through all blocks in memory order.
pub struct Flat<'a> {
    code: &'a Code,
    target: &'a dyn Target,
    /// Place of each label in memory order.
    position: Vec<usize>,
    /// Instructions in order.
    pub insts: Vec<&'a LirInst>,
    /// The operands of all instructions, and where those of each begin; one more for the end.
    operands: Vec<Operand>,
    starts: Vec<u32>,
    ranges: Vec<InstRange>,
    succs: Vec<Vec<Block>>,
    preds: Vec<Vec<Block>>,
    params: Vec<Vec<VReg>>,
    jump_args: Vec<Vec<VReg>>,
}

impl<'a> Flat<'a> {
    /// Numbers the instructions of a complete function. Blocks get their position in memory order as number.
    pub fn new(code: &'a Code, target: &'a dyn Target) -> Result<Flat<'a>, Refusal> {
        let mut position = vec![usize::MAX; code.blocks.len()];
        for (k, label) in code.order.iter().enumerate() {
            position[label.index()] = k;
        }
        let count = code.order.len();
        let placed = || code.order.iter().map(|label| &code.blocks[label.index()]);
        let insts = placed().map(|block| block.insts.len() + 1).sum();
        let mut flat = Flat {
            code,
            target,
            position,
            insts: Vec::with_capacity(insts),
            operands: Vec::with_capacity(3 * insts),
            starts: Vec::with_capacity(insts + 1),
            ranges: Vec::with_capacity(count),
            succs: vec![Vec::new(); count],
            preds: vec![Vec::new(); count],
            params: Vec::with_capacity(count),
            jump_args: vec![Vec::new(); count],
        };
        for (k, label) in code.order.iter().enumerate() {
            let block = &code.blocks[label.index()];
            let Some(end) = &block.end else {
                return Err(Refusal::new("internal: a block has no end"));
            };
            let first = flat.insts.len();
            for inst in block.insts.iter().chain([end]) {
                if !fits(code, inst) {
                    return Err(Refusal::new(format!("internal: `{}` has other operands", code.line(inst))));
                }
                flat.starts.push(flat.operands.len() as u32);
                let args = inst.args.iter().map(|arg| vreg(code, *arg));
                match inst.op {
                    Op::Jump(_) => flat.jump_args[k] = args.collect(),
                    _ => flat.operands.extend(args.map(Operand::reg_use)),
                }
                if let Some(out) = inst.out {
                    flat.operands.push(define(target.result(inst.op), vreg(code, out)));
                }
                flat.insts.push(inst);
            }
            flat.ranges.push(InstRange::new(Inst::new(first), Inst::new(flat.insts.len())));
            for target in end.op.targets() {
                let to = flat.position[target.index()];
                if to == usize::MAX {
                    return Err(Refusal::new("internal: a block was never placed"));
                }
                flat.succs[k].push(Block::new(to));
                flat.preds[to].push(Block::new(k));
            }
            flat.params.push(block.params.iter().map(|param| vreg(code, *param)).collect());
        }
        flat.starts.push(flat.operands.len() as u32);
        Ok(flat)
    }

    /// Runs the allocator. Debug builds prove that the code is right and that the allocation is.
    pub fn allocate(&self) -> Result<Output, Refusal> {
        let unproved =
            if cfg!(debug_assertions) { proofs::wanted(self.target.name(), self.code) } else { None };
        if unproved.is_some() {
            assert_eq!(lir::check(self.code), Ok(()), "{}", self.code);
        }
        let options = RegallocOptions { validate_ssa: unproved.is_some(), ..RegallocOptions::default() };
        let registers = self.target.registers();
        let output = regalloc2::run(self, &registers, &options)
            .map_err(|e| Refusal::new(format!("register allocation failed: {e}")))?;
        if let Some(unproved) = unproved {
            let checked = self.check(&registers, &output);
            assert!(checked.is_ok(), "{checked:?}\n{}", self.code);
            unproved.done();
        }
        Ok(output)
    }

    /// The allocator's own proof that every operand is where the instruction looks for it.
    fn check(&self, registers: &MachineEnv, output: &Output) -> Result<(), CheckerErrors> {
        let mut checker = Checker::new(self, registers);
        checker.prepare(output);
        checker.run()
    }

    /// The memory position of a label.
    pub fn position(&self, label: Label) -> usize {
        self.position[label.index()]
    }
}

fn vreg(code: &Code, reg: Reg) -> VReg {
    VReg::new(reg.index(), reg_class(code.classes[reg.index()]))
}

/// Whether an instruction has as many operands and results as the table of operations says, and a jump passes what its
/// target takes: assemblers rely on that.
fn fits(code: &Code, inst: &LirInst) -> bool {
    let class = |reg: &Reg| code.classes[reg.index()];
    let operands = match inst.op {
        Op::Jump(to) => inst.args.iter().map(class).eq(code.blocks[to.index()].params.iter().map(class)),
        op => inst.args.len() == op.arity(),
    };
    operands && inst.out.is_some() == inst.op.result().is_some()
}

fn define(place: ResultPlace, out: VReg) -> Operand {
    match place {
        ResultPlace::Anywhere => Operand::reg_def(out),
        ResultPlace::Apart => Operand::new(out, OperandConstraint::Reg, OperandKind::Def, OperandPos::Early),
        ResultPlace::Replacing(operand) => Operand::reg_reuse_def(out, operand),
        ResultPlace::In(register) => Operand::reg_fixed_def(out, register),
    }
}

impl Function for Flat<'_> {
    fn num_insts(&self) -> usize {
        self.insts.len()
    }

    fn num_blocks(&self) -> usize {
        self.ranges.len()
    }

    fn entry_block(&self) -> Block {
        Block::new(0)
    }

    fn block_insns(&self, block: Block) -> InstRange {
        self.ranges[block.index()]
    }

    fn block_succs(&self, block: Block) -> &[Block] {
        &self.succs[block.index()]
    }

    fn block_preds(&self, block: Block) -> &[Block] {
        &self.preds[block.index()]
    }

    fn block_params(&self, block: Block) -> &[VReg] {
        &self.params[block.index()]
    }

    fn is_ret(&self, inst: Inst) -> bool {
        let op = self.insts[inst.index()].op;
        op.effect() == Effect::Ends && !op.goes_on()
    }

    fn is_branch(&self, inst: Inst) -> bool {
        self.insts[inst.index()].op.goes_on()
    }

    fn branch_blockparams(&self, block: Block, _: Inst, _: usize) -> &[VReg] {
        &self.jump_args[block.index()]
    }

    fn inst_operands(&self, inst: Inst) -> &[Operand] {
        let [start, end] = [0, 1].map(|after| self.starts[inst.index() + after] as usize);
        &self.operands[start..end]
    }

    fn inst_clobbers(&self, inst: Inst) -> PRegSet {
        let op = self.insts[inst.index()].op;
        op.effect().calls().map_or(PRegSet::empty(), |_| self.target.call_clobbers(op))
    }

    fn num_vregs(&self) -> usize {
        self.code.classes.len()
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        self.target.slot_words(class_of(class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lir::parse;
    use crate::x86::{CpuMode, Isa};
    #[test]
    fn a_wrong_allocation_is_found() {
        let text = "\
masks vec
block0:
  %0:int = word.0
  %1:int = word.1
  %2:int = alu.sub.w64 %0 %1
  store.b64.+0 %2 %0
  return
";
        let code = parse(text).expect("it reads");
        let isa = Isa { mode: CpuMode::Avx2 };
        let flat = Flat::new(&code, &isa).expect("it fits");
        let mut output = flat.allocate().expect("there are registers");
        assert!(flat.check(&isa.registers(), &output).is_ok());
        // The operands of the subtraction the other way round.
        let at = output.inst_alloc_offsets[2] as usize;
        output.allocs.swap(at, at + 1);
        assert!(flat.check(&isa.registers(), &output).is_err());
    }

    #[test]
    fn other_operands_than_the_table_has_are_refused() {
        let text = "masks vec\nblock0:\n  %0:int = word.0\n  %1:int = alu.sub.w64 %0\n  return\n";
        let code = parse(text).expect("it reads");
        let refused = Flat::new(&code, &Isa { mode: CpuMode::Avx2 }).err().expect("an operand is missing");
        assert!(refused.to_string().contains("`%1:int = alu.sub.w64 %0` has other operands"), "{refused}");
    }
}
