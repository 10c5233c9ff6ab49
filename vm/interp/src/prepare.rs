//! What the interpreter wants to know of the code before it runs: slots of registers, scopes of arrays, sites.

use crate::delay::{Delayed, delayed};
use crate::machine::Unit;
use crate::refused::Made;
use crate::strands::Strands;
use galopvm_base::IdVec;
use galopvm_bytecode::{BlockId, CodeBlock, FuncId, Function, Instr, Module, RegId, Role, field::Fields};
use std::collections::HashSet;
use std::sync::OnceLock;

/// What is translated at the first execution, or why it cannot be.
type Translation<T> = OnceLock<Made<Box<T>>>;

/// Faster forms of an instruction that has blocks.
#[derive(Debug, Default)]
pub(crate) struct Translated {
    pub(crate) unit: Translation<Unit>,
    /// The items of a reduction alone.
    pub(crate) items: Translation<Unit>,
    pub(crate) strands: OnceLock<Option<Box<Strands>>>,
    /// The array registers that can only die there, as soon as somebody asked.
    dying: OnceLock<Vec<RegId>>,
}

/// A parallel operator in the code.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Site {
    /// Its function.
    pub function: FuncId,
    /// Its block.
    pub block: BlockId,
    /// The number of the instruction in its block.
    pub index: usize,
}

/// Facts of a module, made once.
#[derive(Debug, Default)]
pub struct Prepared {
    /// What is known of each function.
    pub functions: IdVec<FuncId, PreparedFunction>,
    /// All sites; numbers in [`PreparedBlock::sites`] are positions here.
    pub sites: Vec<Site>,
}

/// What is known of a function.
#[derive(Debug)]
pub struct PreparedFunction {
    /// For each array register its place among the arrays of a frame.
    pub(crate) slots: IdVec<RegId, Option<u32>>,
    pub(crate) arrays: usize,
    /// Arrays that are made when they are wanted.
    pub(crate) delayed: Delayed,
    /// What is known of each block.
    pub blocks: IdVec<BlockId, PreparedBlock>,
}

/// What is known of a block.
#[derive(Debug, Default)]
pub struct PreparedBlock {
    /// Slots of arrays that are defined in the block: they are given up when it ends.
    pub arrays: Vec<u32>,
    /// Whether all results are scalars.
    pub scalar_results: bool,
    /// Whether it is executed for rows of an operator.
    pub in_operator: bool,
    /// Numbers of the sites among the instructions, by position in the code.
    pub sites: Vec<(usize, u32)>,
    /// Loops and operators by position in the code.
    units: Vec<(usize, Translated)>,
    /// Slots of arrays of the block that the blocks of an instruction are the last to use, by its position: no operand can
    /// carry the mark there, since the blocks may run again.
    pub(crate) captured: Vec<(usize, Vec<u32>)>,
    /// Operations of one execution, where trip counts are unknown by a guess.
    pub(crate) weight: u64,
}

/// The guess for a trip count that is not a constant.
pub(super) const UNKNOWN_TRIPS: u64 = 16;

impl Prepared {
    /// The facts of a module.
    pub fn new(module: &Module) -> Prepared {
        let mut prepared = Prepared::default();
        for (id, function) in module.functions.iter_ids() {
            let made = prepared.function(id, function);
            prepared.functions.push(made);
        }
        prepared
    }

    fn function(&mut self, id: FuncId, function: &Function) -> PreparedFunction {
        let mut arrays = 0;
        let slots: IdVec<RegId, Option<u32>> = function
            .regs
            .iter()
            .map(|ty| {
                arrays += u32::from(!ty.is_scalar());
                (!ty.is_scalar()).then(|| arrays - 1)
            })
            .collect();
        let in_operators = in_operators(function);
        let blocks = function
            .blocks
            .iter_ids()
            .map(|(block, code)| PreparedBlock {
                arrays: arrays_of(code, &slots),
                in_operator: in_operators[block],
                scalar_results: code.results.iter().all(|operand| slots[operand.reg].is_none()),
                sites: self.sites_of(id, block, code),
                units: units_of(code),
                captured: captured(function, code, &slots),
                weight: weight(function, code),
            })
            .collect();
        PreparedFunction { slots, arrays: arrays as usize, delayed: delayed(function), blocks }
    }

    fn sites_of(&mut self, function: FuncId, block: BlockId, code: &CodeBlock) -> Vec<(usize, u32)> {
        let mut found = Vec::new();
        for (index, instr) in code.code.iter().enumerate() {
            if instr.has_kernel() {
                found.push((index, self.sites.len() as u32));
                self.sites.push(Site { function, block, index });
            }
        }
        found
    }
}

impl PreparedFunction {
    /// Whether an array is made when it is wanted, not where it is defined.
    pub fn is_delayed(&self, reg: RegId) -> bool {
        self.delayed.contains_key(&reg)
    }
}

impl PreparedBlock {
    /// The faster forms of the instruction at a position of the code.
    pub(crate) fn translated(&self, index: usize) -> Option<&Translated> {
        let at = self.units.binary_search_by_key(&index, |(at, _)| *at).ok()?;
        Some(&self.units[at].1)
    }

    /// The array registers of this block, number `block` of `function`, that nothing uses after the loop or operator at
    /// a position of the code.
    pub fn dying(&self, function: &Function, block: BlockId, index: usize) -> &[RegId] {
        let find = || dying(function, &function.blocks[block], index);
        self.translated(index).map_or(&[], |translated| translated.dying.get_or_init(find))
    }

    /// About how many instructions it executes.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// The number of the site at a position of the code.
    pub fn site(&self, index: usize) -> Option<u32> {
        self.sites.iter().find(|(at, _)| *at == index).map(|(_, site)| *site)
    }
}

/// For each block whether it is executed for rows of an operator.
pub(super) fn in_operators(function: &Function) -> IdVec<BlockId, bool> {
    let mut around: IdVec<BlockId, Option<(BlockId, bool)>> = function.blocks.iter().map(|_| None).collect();
    for (block, code) in function.blocks.iter_ids() {
        for instr in &code.code {
            let once = matches!(instr, Instr::If { .. } | Instr::For { .. } | Instr::While { .. });
            Fields::of(instr).blocks.iter().for_each(|inner| around[*inner] = Some((block, !once)));
        }
    }
    let is_inside = |(block, _): (BlockId, &CodeBlock)| {
        let mut above = around[block];
        while let Some((block, false)) = above {
            above = around[block];
        }
        above.is_some()
    };
    function.blocks.iter_ids().map(is_inside).collect()
}

fn arrays_of(code: &CodeBlock, slots: &IdVec<RegId, Option<u32>>) -> Vec<u32> {
    let defined = code.code.iter().flat_map(|instr| Fields::of(instr).defs).map(|def| def.0);
    code.params.iter().copied().chain(defined).filter_map(|reg| slots[reg]).collect()
}

/// The arrays that are used for the last time by the blocks of an instruction of the block that defines them.
fn captured(
    function: &Function,
    code: &CodeBlock,
    slots: &IdVec<RegId, Option<u32>>,
) -> Vec<(usize, Vec<u32>)> {
    if code.code.iter().all(|instr| Fields::of(instr).blocks.is_empty()) {
        return Vec::new();
    }
    let own: HashSet<u32> = arrays_of(code, slots).into_iter().collect();
    let mut later: HashSet<RegId> = code.results.iter().map(|operand| operand.reg).collect();
    let mut all = Vec::new();
    for (index, instr) in code.code.iter().enumerate().rev() {
        let mut used = HashSet::new();
        uses(function, instr, &mut used);
        if !Fields::of(instr).blocks.is_empty() {
            let last = used.iter().filter(|reg| !later.contains(reg)).filter_map(|reg| slots[*reg]);
            let last: Vec<u32> = last.filter(|slot| own.contains(slot)).collect();
            if !last.is_empty() {
                all.push((index, last));
            }
        }
        later.extend(used);
    }
    all.reverse();
    all
}

fn units_of(code: &CodeBlock) -> Vec<(usize, Translated)> {
    let has_unit = |instr: &Instr| {
        let is_loop = matches!(instr, Instr::For { .. } | Instr::While { .. } | Instr::Hist { .. });
        is_loop || instr.operator().is_some()
    };
    let places = code.code.iter().enumerate().filter(|(_, instr)| has_unit(instr));
    places.map(|(index, _)| (index, Translated::default())).collect()
}

/// The verifier bounds how deep blocks nest.
fn weight(function: &Function, code: &CodeBlock) -> u64 {
    let of = |block: BlockId| function.blocks.get(block).map_or(0, |b| weight(function, b));
    code.code
        .iter()
        .map(|instr| {
            let parts = instr.parts();
            let each = parts.blocks.iter().map(|(_, block)| of(block));
            match instr.gives() {
                Some(Role::Joined) => each.fold(0, u64::max).saturating_add(1),
                Some(Role::Returned) => UNKNOWN_TRIPS,
                gives => {
                    let once = each.fold(1, u64::saturating_add);
                    let repeats = gives == Some(Role::Carried) || parts.width.is_some();
                    if repeats { UNKNOWN_TRIPS.saturating_mul(once) } else { once }
                }
            }
        })
        .fold(0, u64::saturating_add)
}

/// The array registers of a block that nothing uses after one of its instructions: they can only die there.
fn dying(function: &Function, block: &CodeBlock, index: usize) -> Vec<RegId> {
    let earlier = block.code[..index].iter().flat_map(|instr| Fields::of(instr).defs).map(|def| def.0);
    let mut later = HashSet::new();
    block.code[index + 1..].iter().for_each(|instr| uses(function, instr, &mut later));
    later.extend(block.results.iter().map(|operand| operand.reg));
    let here = block.params.iter().copied().chain(earlier);
    here.filter(|reg| !function.regs[*reg].is_scalar() && !later.contains(reg)).collect()
}

/// Every register that an instruction uses, in its blocks as well.
fn uses(function: &Function, instr: &Instr, used: &mut HashSet<RegId>) {
    let fields = Fields::of(instr);
    used.extend(fields.operands.iter().map(|operand| operand.reg));
    for inner in fields.blocks {
        let inner = &function.blocks[inner];
        inner.code.iter().for_each(|instr| uses(function, instr, used));
        used.extend(inner.results.iter().map(|operand| operand.reg));
    }
}
