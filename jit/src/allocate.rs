//! Register allocation: the low IR as `regalloc2` wants to see it.
//!
//! Some registers are never allocated: the emission needs a few for itself within one instruction (see the
//! constants), and the allocator needs one of each class between instructions.

use crate::isa::Isa;
use crate::lir::{Class, Code, Inst as LirInst, Op};
use galopvm_base::TypedId;
use galopvm_kir::{CpuMode, Refusal};
use regalloc2::{
    Block, Function, Inst, InstRange, MachineEnv, Operand, OperandConstraint, OperandKind, OperandPos, PReg,
    PRegSet, RegClass, RegallocOptions, VReg,
};

/// General registers that emission may overwrite within an instruction: rax, rcx, rdx.
pub const INT_SCRATCH: [u8; 3] = [0, 1, 2];
/// The register that holds the launch record: r15. (rsp and rbp keep the frame.)
pub const RECORD: u8 = 15;
/// The mask register that emission may overwrite within an instruction.
pub const MASK_SCRATCH: u8 = 7;

/// Vector registers that emission may overwrite within an instruction.
pub fn vec_scratch(isa: Isa) -> [u8; 3] {
    if isa.is_512() { [29, 30, 31] } else { [13, 14, 15] }
}

/// The class of registers as the allocator names them.
pub fn reg_class(class: Class) -> RegClass {
    match class {
        Class::Int => RegClass::Int,
        Class::Vec => RegClass::Float,
        Class::Mask => RegClass::Vector,
    }
}

/// A function in the allocator's terms, with instructions numbered through all blocks in memory order.
pub struct Flat<'a> {
    code: &'a Code,
    /// Place of each label in memory order.
    position: Vec<usize>,
    /// Instructions in order.
    pub insts: Vec<&'a LirInst>,
    operands: Vec<Vec<Operand>>,
    ranges: Vec<InstRange>,
    succs: Vec<Vec<Block>>,
    preds: Vec<Vec<Block>>,
    params: Vec<Vec<VReg>>,
    jump_args: Vec<Vec<VReg>>,
    vec_slots: usize,
    clobbers_vec: PRegSet,
    clobbers_scalar: PRegSet,
}

impl<'a> Flat<'a> {
    /// Numbers the instructions of a complete function. Blocks get their position in memory order as number.
    pub fn new(code: &'a Code, isa: Isa) -> Result<Flat<'a>, Refusal> {
        let mut position = vec![usize::MAX; code.blocks.len()];
        for (k, label) in code.order.iter().enumerate() {
            position[label.index()] = k;
        }
        let vreg = |r: crate::lir::Reg| VReg::new(r.index(), reg_class(code.classes[r.index()]));
        let clobbers_vec = call_clobbers(isa, true);
        let clobbers_scalar = call_clobbers(isa, false);
        let count = code.order.len();
        let mut flat = Flat {
            code,
            position,
            insts: Vec::new(),
            operands: Vec::new(),
            ranges: Vec::with_capacity(count),
            succs: vec![Vec::new(); count],
            preds: vec![Vec::new(); count],
            params: Vec::with_capacity(count),
            jump_args: vec![Vec::new(); count],
            vec_slots: if isa.mode == CpuMode::Scalar { 1 } else { isa.vector_bytes() / 8 },
            clobbers_vec,
            clobbers_scalar,
        };
        for (k, label) in code.order.iter().enumerate() {
            let block = &code.blocks[label.index()];
            let Some(end) = &block.end else {
                return Err(Refusal::new("internal: a block has no end"));
            };
            let first = flat.insts.len();
            for inst in block.insts.iter().chain([end]) {
                let mut operands = Vec::with_capacity(inst.args.len() + 1);
                if !matches!(inst.op, Op::Jump(_)) {
                    for &arg in &inst.args {
                        operands.push(Operand::reg_use(vreg(arg)));
                    }
                } else {
                    check_jump(code, inst)?;
                    flat.jump_args[k] = inst.args.iter().map(|a| vreg(*a)).collect();
                }
                if let Some(out) = inst.out {
                    operands.push(define(inst, vreg(out)));
                }
                flat.operands.push(operands);
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
            flat.params.push(block.params.iter().map(|p| vreg(*p)).collect());
        }
        Ok(flat)
    }

    /// Runs the allocator.
    pub fn allocate(&self, isa: Isa) -> Result<regalloc2::Output, Refusal> {
        let options = RegallocOptions { validate_ssa: cfg!(debug_assertions), ..RegallocOptions::default() };
        regalloc2::run(self, &environment(isa), &options)
            .map_err(|e| Refusal::new(format!("register allocation failed: {e}")))
    }

    /// The memory position of a label.
    pub fn position(&self, label: crate::lir::Label) -> usize {
        self.position[label.index()]
    }
}

/// A jump passes what its target takes.
fn check_jump(code: &Code, inst: &LirInst) -> Result<(), Refusal> {
    let classes = |regs: &[crate::lir::Reg]| regs.iter().map(|r| code.classes[r.index()]).collect::<Vec<_>>();
    for target in inst.op.targets() {
        if classes(&inst.args) != classes(&code.blocks[target.index()].params) {
            return Err(Refusal::new(format!("internal: `{inst}` does not fit its target")));
        }
    }
    Ok(())
}

fn define(inst: &LirInst, out: VReg) -> Operand {
    match inst.op {
        // The third operand is the addend that the instruction replaces.
        Op::Fma(..) => Operand::reg_reuse_def(out, 2),
        Op::Help(..) => Operand::reg_fixed_def(out, PReg::new(0, RegClass::Float)),
        // These write their result before they have read all operands.
        op if writes_early(op) => {
            Operand::new(out, OperandConstraint::Reg, OperandKind::Def, OperandPos::Early)
        }
        _ => Operand::reg_def(out),
    }
}

fn writes_early(op: Op) -> bool {
    matches!(op, Op::Gather(_) | Op::GatherEach(_))
}

fn ints(regs: &[usize]) -> PRegSet {
    regs.iter().map(|r| PReg::new(*r, RegClass::Int)).collect()
}

fn vecs(isa: Isa) -> impl Iterator<Item = PReg> {
    (0..vec_scratch(isa)[0] as usize).map(|r| PReg::new(r, RegClass::Float))
}

fn masks(isa: Isa) -> impl Iterator<Item = PReg> {
    let count = if isa.is_512() { MASK_SCRATCH as usize } else { 1 };
    (1..count).map(|r| PReg::new(r, RegClass::Vector))
}

fn environment(isa: Isa) -> MachineEnv {
    let scratch = |r: u8, class| Some(PReg::new(r as usize, class));
    MachineEnv {
        preferred_regs_by_class: [ints(&[6, 7, 8, 9, 10, 11]), vecs(isa).collect(), masks(isa).collect()],
        non_preferred_regs_by_class: [ints(&[3, 12, 13, 14]), PRegSet::empty(), PRegSet::empty()],
        scratch_by_class: [
            scratch(INT_SCRATCH[0], RegClass::Int),
            scratch(vec_scratch(isa)[0], RegClass::Float),
            scratch(MASK_SCRATCH, RegClass::Vector),
        ],
        fixed_stack_slots: Vec::new(),
    }
}

fn call_clobbers(isa: Isa, result_in_vector: bool) -> PRegSet {
    let mut set = ints(&[6, 7, 8, 9, 10, 11]);
    for reg in vecs(isa).chain(masks(isa)) {
        set.add(reg);
    }
    if result_in_vector {
        set.remove(PReg::new(0, RegClass::Float));
    }
    set
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
        matches!(self.insts[inst.index()].op, Op::Return | Op::Trap)
    }

    fn is_branch(&self, inst: Inst) -> bool {
        let op = self.insts[inst.index()].op;
        op.is_end() && !matches!(op, Op::Return | Op::Trap)
    }

    fn branch_blockparams(&self, block: Block, _: Inst, _: usize) -> &[VReg] {
        &self.jump_args[block.index()]
    }

    fn inst_operands(&self, inst: Inst) -> &[Operand] {
        &self.operands[inst.index()]
    }

    fn inst_clobbers(&self, inst: Inst) -> PRegSet {
        match self.insts[inst.index()].op {
            Op::Help(..) => self.clobbers_vec,
            Op::HelpScalar(_) => self.clobbers_scalar,
            _ => PRegSet::empty(),
        }
    }

    fn num_vregs(&self) -> usize {
        self.code.classes.len()
    }

    fn spillslot_size(&self, class: RegClass) -> usize {
        if class == RegClass::Float { self.vec_slots } else { 1 }
    }
}
