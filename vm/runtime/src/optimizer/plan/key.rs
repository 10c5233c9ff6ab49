//! What a plan depends on: the numbers of a region that can change where something lies.
//!
//! Invariant: two runs of a region with equal words are recorded alike, up to scalars that no extent, index, condition
//! or count is computed from.

use galopvm_bytecode::field::{FieldVisitor, Fields};
use galopvm_bytecode::{BlockId, Function, Instr, Operand, RegId, Role};
use galopvm_interp::Registers;
use galopvm_store::array::Array;
use smallvec::SmallVec;

/// The registers from outside that a region's plan depends on.
#[derive(Debug, Default)]
pub(in crate::optimizer) struct Inputs {
    pub arrays: Vec<RegId>,
    /// Without those that nothing but elements are computed from.
    pub scalars: Vec<RegId>,
}

impl Inputs {
    /// Replaces `words` by the numbers that the registers hold now: scalars, then for each array its view, which of the
    /// arrays has the same block first, and whether others hold it. False if an array is not there.
    pub fn words(&self, registers: &Registers<'_>, words: &mut Vec<u64>) -> bool {
        words.clear();
        // Floats as well: the recorder computes with them, and a place may be made of one.
        words.extend(self.scalars.iter().map(|reg| registers.bits(Operand::new(*reg))));
        let mut arrays: SmallVec<[&Array; 8]> = SmallVec::new();
        for reg in &self.arrays {
            let Some(array) = registers.array_of(*reg) else { return false };
            arrays.push(array);
        }
        for array in &arrays {
            let block = array.block();
            let same = |other: &&Array| other.block().same(block);
            let first = arrays.iter().position(same).unwrap_or(0);
            let here = arrays.iter().copied().filter(same).count();
            let held = block.references() > here || !block.is_own();
            let lmad = array.lmad();
            words.extend([(first as u64) << 1 | u64::from(held), lmad.offset as u64]);
            // The rank is that of the register.
            words.extend(lmad.dims.iter().flat_map(|dim| [dim.size as u64, dim.stride as u64]));
        }
        true
    }

    /// Whether there is an array of so many elements now, or a number from which one may be made.
    pub fn are_large(&self, registers: &Registers<'_>, elements: i64, count: i64) -> bool {
        let large = |reg: &RegId| registers.array_of(*reg).is_some_and(|array| array.elements() >= elements);
        let counts =
            |reg: &RegId| !registers.elem(*reg).is_float() && registers.scalar(*reg).as_i64() >= count;
        self.arrays.iter().any(large) || self.scalars.iter().any(counts)
    }
}

/// The end of a list of links.
const NONE: u32 = u32::MAX;

/// Where the values of registers come from, and which of them shape a region. A node is a register, or, behind those, all
/// that an instruction uses.
pub(super) struct Flow {
    /// By node: its first link.
    heads: Vec<u32>,
    /// A node that another one comes from, and that one's next link.
    links: Vec<(u32, u32)>,
    /// Scalars that an extent, an index, a condition or a count is.
    shaping: Vec<RegId>,
}

impl Flow {
    pub fn new(code: &Function) -> Flow {
        Flow { heads: vec![NONE; code.regs.len()], links: Vec::new(), shaping: Vec::new() }
    }

    fn link(&mut self, node: u32, from: u32) {
        let head = std::mem::replace(&mut self.heads[node as usize], self.links.len() as u32);
        self.links.push((from, head));
    }

    /// Goes through a block and those inside it.
    pub fn block(&mut self, code: &Function, block: BlockId) {
        code.blocks[block].code.iter().for_each(|instr| self.instruction(code, instr));
    }

    /// Goes through an instruction and its blocks.
    pub fn instruction(&mut self, code: &Function, instr: &Instr) {
        let fields = Fields::of(instr);
        let all = self.heads.len() as u32;
        self.heads.push(NONE);
        fields.operands.iter().for_each(|operand| self.link(all, operand.reg.0));
        for block in &fields.blocks {
            self.block(code, *block);
            code.blocks[*block].results.iter().for_each(|operand| self.link(all, operand.reg.0));
        }
        let params = fields.blocks.iter().flat_map(|block| &code.blocks[*block].params);
        for reg in fields.defs.iter().map(|def| def.0).chain(params.copied()) {
            self.link(reg.0, all);
        }
        instr.visit(&mut Shaping { code, found: &mut self.shaping });
    }

    /// By register: whether the region's shape is computed from it.
    pub fn that_matter(&self) -> Vec<bool> {
        let mut all = vec![false; self.heads.len()];
        let mut open: Vec<u32> = self.shaping.iter().map(|reg| reg.0).collect();
        while let Some(node) = open.pop() {
            if std::mem::replace(&mut all[node as usize], true) {
                continue;
            }
            let mut at = self.heads[node as usize];
            while let Some((from, next)) = self.links.get(at as usize) {
                open.push(*from);
                at = *next;
            }
        }
        all
    }
}

/// Collects the scalars of an instruction that can change more than elements. Elements that are used as an index or an extent
/// are found by following where these come from.
struct Shaping<'a> {
    code: &'a Function,
    found: &'a mut Vec<RegId>,
}

impl FieldVisitor for Shaping<'_> {
    fn operand(&mut self, role: Role, operand: Operand) {
        if role.is_shaping() && self.code.regs[operand.reg].is_scalar() {
            self.found.push(operand.reg);
        }
    }

    fn block(&mut self, role: Role, block: BlockId) {
        // Whether a loop goes on.
        if role == Role::Test {
            self.found.extend(self.code.blocks[block].results.iter().map(|operand| operand.reg));
        }
    }
}
