//! What recording wants to know of code, found when it is asked for first: it is the same for all numbers.

use super::idle::Idle;
use galopvm_base::IdVec;
use galopvm_bytecode::Role;
use galopvm_bytecode::field::FieldVisitor;
use galopvm_bytecode::{BlockId, Def, FuncId, Function, Module, Operand, RegId};
use std::sync::OnceLock;

/// Facts of the functions of a module.
#[derive(Debug, Default)]
pub struct Code {
    functions: IdVec<FuncId, OfFunction>,
}

/// Facts of a function.
#[derive(Debug, Default)]
struct OfFunction {
    arrays: OnceLock<IdVec<BlockId, Arrays>>,
    /// Where it is recorded itself, and where it is called by what is recorded.
    idle: [OnceLock<Idle>; 2],
}

/// The array registers of a block with all blocks inside it, each once, in order.
#[derive(Debug, Default)]
struct Arrays {
    used: Vec<RegId>,
    made: Vec<RegId>,
}

impl Code {
    /// Facts of a module's functions, none of which is known yet.
    pub fn new(module: &Module) -> Code {
        Code { functions: module.functions.iter().map(|_| OfFunction::default()).collect() }
    }

    /// The idle instructions of a function, which is called by what is recorded, or recorded itself.
    pub(super) fn idle(&self, function: FuncId, code: &Function, is_called: bool) -> Option<&Idle> {
        let facts = self.functions.get(function)?;
        Some(facts.idle[usize::from(is_called)].get_or_init(|| Idle::of(code, is_called)))
    }

    /// The array registers that blocks use and do not make, in order.
    pub(super) fn free(&self, function: FuncId, code: &Function, blocks: &[BlockId]) -> Vec<RegId> {
        let mut free = Vec::new();
        let all = self.each_free(function, code, blocks, &mut |reg| {
            free.push(reg);
            Ok::<(), std::convert::Infallible>(())
        });
        let Ok(()) = all;
        free
    }

    /// Calls `f` on each of them, in order.
    pub(super) fn each_free<E>(
        &self,
        function: FuncId,
        code: &Function,
        blocks: &[BlockId],
        f: &mut dyn FnMut(RegId) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(facts) = self.functions.get(function) else { return Ok(()) };
        let facts = facts.arrays.get_or_init(|| arrays_of(code));
        let is_made = |reg: &RegId| blocks.iter().any(|block| facts[*block].made.binary_search(reg).is_ok());
        if let [block] = blocks {
            return facts[*block].used.iter().filter(|reg| !is_made(reg)).try_for_each(|reg| f(*reg));
        }
        let used = blocks.iter().flat_map(|block| &facts[*block].used);
        let mut free: Vec<RegId> = used.copied().filter(|reg| !is_made(reg)).collect();
        free.sort_unstable();
        free.dedup();
        free.into_iter().try_for_each(f)
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
    let mut fields = ArrayFields { code, arrays: Arrays::default(), blocks: Vec::new() };
    block.params.iter().for_each(|param| fields.def(Def(*param)));
    block.code.iter().for_each(|instr| instr.visit(&mut fields));
    block.results.iter().for_each(|result| fields.operand(Role::Value, *result));
    let ArrayFields { mut arrays, blocks, .. } = fields;
    for inner in blocks {
        visit(code, inner, found);
        let inner = found[inner].as_ref().expect("it was visited just now");
        arrays.used.extend(&inner.used);
        arrays.made.extend(&inner.made);
    }
    for regs in [&mut arrays.used, &mut arrays.made] {
        regs.sort_unstable();
        regs.dedup();
    }
    found[id] = Some(arrays);
}

/// Collects the arrays of instructions, and the blocks inside them.
struct ArrayFields<'a> {
    code: &'a Function,
    arrays: Arrays,
    blocks: Vec<BlockId>,
}

impl FieldVisitor for ArrayFields<'_> {
    fn def(&mut self, def: Def) {
        if !self.code.regs[def.0].is_scalar() {
            self.arrays.made.push(def.0);
        }
    }

    fn operand(&mut self, _: Role, operand: Operand) {
        if !self.code.regs[operand.reg].is_scalar() {
            self.arrays.used.push(operand.reg);
        }
    }

    fn block(&mut self, _: Role, block: BlockId) {
        self.blocks.push(block);
    }
}
