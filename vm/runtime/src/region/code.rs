//! What recording wants to know of code, found when it is asked for first: it is the same for all numbers.

use galopvm_base::IdVec;
use galopvm_bytecode::{BlockId, FuncId, Function, Module, RegId, field::Fields};
use std::sync::OnceLock;

/// Facts of the functions of a module.
#[derive(Debug, Default)]
pub(crate) struct Code {
    functions: IdVec<FuncId, OnceLock<IdVec<BlockId, Arrays>>>,
}

/// The array registers of a block with all blocks inside it, each once, in order.
#[derive(Debug, Default)]
struct Arrays {
    used: Vec<RegId>,
    made: Vec<RegId>,
}

impl Code {
    /// Facts of a module's functions, none of which is known yet.
    pub(crate) fn new(module: &Module) -> Code {
        Code { functions: module.functions.iter().map(|_| OnceLock::new()).collect() }
    }

    /// The array registers that blocks use and do not make, in order.
    pub(super) fn free(&self, function: FuncId, code: &Function, blocks: &[BlockId]) -> Vec<RegId> {
        let Some(facts) = self.functions.get(function) else { return Vec::new() };
        let facts = facts.get_or_init(|| arrays_of(code));
        let is_made = |reg: &RegId| blocks.iter().any(|block| facts[*block].made.binary_search(reg).is_ok());
        let mut free: Vec<RegId> = Vec::new();
        for block in blocks {
            free.extend(facts[*block].used.iter().filter(|reg| !is_made(reg)));
        }
        if blocks.len() > 1 {
            free.sort_unstable();
            free.dedup();
        }
        free
    }
}

fn arrays_of(code: &Function) -> IdVec<BlockId, Arrays> {
    let mut found: IdVec<BlockId, Option<Arrays>> = code.blocks.iter().map(|_| None).collect();
    for block in code.blocks.ids() {
        visit(code, block, &mut found);
    }
    found.iter_mut().map(|arrays| arrays.take().unwrap_or_default()).collect()
}

/// The verifier bounds how deep blocks nest.
fn visit(code: &Function, id: BlockId, found: &mut IdVec<BlockId, Option<Arrays>>) {
    if found[id].is_some() {
        return;
    }
    let block = &code.blocks[id];
    let (mut used, mut made): (Vec<RegId>, Vec<RegId>) = (Vec::new(), block.params.clone());
    for instr in &block.code {
        let fields = Fields::of(instr);
        made.extend(fields.defs.iter().map(|def| def.0));
        used.extend(fields.operands.iter().map(|operand| operand.reg));
        for inner in fields.blocks {
            visit(code, inner, found);
            let inner = found[inner].as_ref().expect("it was visited just now");
            used.extend(&inner.used);
            made.extend(&inner.made);
        }
    }
    used.extend(block.results.iter().map(|operand| operand.reg));
    for regs in [&mut used, &mut made] {
        regs.retain(|reg| !code.regs[*reg].is_scalar());
        regs.sort_unstable();
        regs.dedup();
    }
    found[id] = Some(Arrays { used, made });
}
