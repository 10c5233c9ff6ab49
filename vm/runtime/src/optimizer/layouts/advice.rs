//! What was decided for the operators of a function or loop together: copies that they are given, and results that are
//! made in the layout of their readers.
//!
//! Advice is about registers of one function. Nobody has to follow it: an array may be another one than it was thought
//! to be, and then lies in an unlucky way at worst.

use galopvm_analysis::index::{ArrayInfo, Table};
use galopvm_analysis::strategy::RegionChoice;
use galopvm_bytecode::{BlockId, Function, Instr, RegId, field::Fields};
use galopvm_kir::VarId;
use galopvm_lift::region::{Counter, Recorded};
use galopvm_lmad::{Dims, Lmad};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Where an instruction stands.
pub(crate) type At = (BlockId, usize);

/// Advice for a region.
#[derive(Debug, Default)]
pub(crate) struct Advice {
    operators: HashMap<At, ForOperator>,
    /// The decision in text, for people.
    pub(crate) lines: Vec<String>,
}

/// Advice for an operator.
#[derive(Debug, Default)]
pub(crate) struct ForOperator {
    pub(crate) copies: Vec<CopyAdvice>,
    pub(crate) births: Vec<BirthAdvice>,
}

/// A register is to have a copy while an operator runs.
#[derive(Debug)]
pub(crate) struct CopyAdvice {
    pub(crate) reg: RegId,
    /// How the array lay that the order is of: the register may be another view of it.
    base: Dims,
    order: Vec<usize>,
}

/// A result is to be made in another order.
#[derive(Clone, Debug)]
pub(crate) struct BirthAdvice {
    pub(crate) result: usize,
    pub(crate) order: Vec<usize>,
    pub(crate) shape: Vec<i64>,
}

impl CopyAdvice {
    /// The order for the register's array.
    pub(crate) fn order(&self, view: &Lmad) -> Vec<usize> {
        let place = |stride: i64| {
            let within = |dim: &usize| self.base[*dim].stride.unsigned_abs() <= stride.unsigned_abs();
            let base =
                (0..self.base.len()).filter(within).max_by_key(|dim| self.base[*dim].stride.unsigned_abs());
            // The place of the array's dimension in the order; what moves along none comes last.
            base.and_then(|base| self.order.iter().position(|dim| *dim == base)).unwrap_or(usize::MAX)
        };
        let mut order: Vec<usize> = (0..view.rank()).collect();
        order.sort_by_key(|dim| {
            let stride = view.dims[*dim].stride;
            (place(stride), Reverse(stride.unsigned_abs()))
        });
        order
    }
}

impl Advice {
    /// The advice of a decision; nothing if there is none.
    pub(crate) fn new(
        code: &Function,
        recorded: &Recorded,
        table: &Table,
        choice: &RegionChoice,
    ) -> Option<Advice> {
        let mut advice = Advice::default();
        let operators = operators(code);
        for copy in &choice.copies {
            let Some(base) = table.array(copy.array).and_then(lies) else { continue };
            for row in &copy.rows {
                let row = &table.rows[*row];
                let at = table.kernel(row).and_then(|kernel| at(recorded, &operators, kernel));
                let Some((block, index)) = at else { continue };
                let used = used_from_outside(code, &code.blocks[block].code[index]);
                let names = std::iter::once(&row.array).chain(row.views.iter());
                let regs = names.filter_map(|name| recorded.registers.get(*name));
                // The innermost view is what the operator uses.
                let Some(reg) = regs.rev().find(|reg| used.contains(reg)) else { continue };
                let copies = &mut advice.operators.entry((block, index)).or_default().copies;
                if copies.iter().all(|known| known.reg != *reg) {
                    copies.push(CopyAdvice { reg: *reg, base: base.clone(), order: copy.order.clone() });
                }
            }
        }
        for (array, order) in &choice.born {
            let shape = table.array(*array).and_then(|info| info.shape.clone());
            let (Some(maker), Some(shape)) = (recorded.makers.get(*array), shape) else { continue };
            let birth = BirthAdvice { result: maker.result, order: order.clone(), shape };
            advice.operators.entry((maker.block, maker.index)).or_default().births.push(birth);
        }
        (!advice.operators.is_empty()).then_some(advice)
    }

    /// The advice for an operator.
    pub(crate) fn at(&self, at: At) -> Option<&ForOperator> {
        self.operators.get(&at)
    }
}

/// How an array lies, or how a fresh one does when nothing else is said.
fn lies(info: &ArrayInfo) -> Option<Dims> {
    match (&info.lmad, &info.shape) {
        (Some(lmad), _) => Some(lmad.dims.clone()),
        (None, Some(shape)) => Some(Lmad::row_major(shape).dims),
        (None, None) => None,
    }
}

/// Where the operators stand that go over rows with these blocks.
pub(crate) fn operators(code: &Function) -> HashMap<BlockId, At> {
    let mut found = HashMap::new();
    for (id, block) in code.blocks.iter_ids() {
        for (index, instr) in block.code.iter().enumerate() {
            found.extend(Fields::of(instr).blocks.into_iter().map(|body| (body, (id, index))));
        }
    }
    found
}

/// Where the operator of a kernel stands, given by the kernel's outermost variable.
pub(crate) fn at(recorded: &Recorded, operators: &HashMap<BlockId, At>, kernel: VarId) -> Option<At> {
    match recorded.counters.get(kernel)? {
        Counter::Rows(body) => operators.get(body).copied(),
        Counter::Loop(_) => None,
    }
}

/// The registers that an instruction and its blocks use and do not define.
fn used_from_outside(code: &Function, instr: &Instr) -> HashSet<RegId> {
    fn walk(code: &Function, instr: &Instr, used: &mut HashSet<RegId>, made: &mut HashSet<RegId>) {
        let fields = Fields::of(instr);
        used.extend(fields.operands.iter().map(|operand| operand.reg));
        made.extend(fields.defs.iter().map(|def| def.0));
        for block in fields.blocks {
            let block = &code.blocks[block];
            made.extend(&block.params);
            block.code.iter().for_each(|instr| walk(code, instr, used, made));
            used.extend(block.results.iter().map(|operand| operand.reg));
        }
    }
    let (mut used, mut made) = (HashSet::new(), HashSet::new());
    walk(code, instr, &mut used, &mut made);
    used.retain(|reg| !made.contains(reg));
    used
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_lmad::Dim;

    #[test]
    fn an_order_follows_the_views_of_the_array() {
        let base: Dims = [Dim::new(10, 12), Dim::new(3, 4), Dim::new(4, 1)].into_iter().collect();
        let advice = CopyAdvice { reg: RegId(0), base, order: vec![2, 0, 1] };
        let order = |dims: &[(i64, i64)]| {
            advice.order(&Lmad::new(
                5,
                dims.iter().map(|(size, stride)| Dim::new(*size, *stride)).collect::<Dims>(),
            ))
        };
        assert_eq!(order(&[(10, 12), (3, 4), (4, 1)]), [2, 0, 1]);
        // Transposed, backwards, every second one, and one dimension of two.
        assert_eq!(order(&[(4, 1), (10, 12), (3, 4)]), [0, 1, 2]);
        assert_eq!(order(&[(4, -1), (5, 24), (3, 4)]), [0, 1, 2]);
        assert_eq!(order(&[(10, 12), (4, 1)]), [1, 0]);
        assert_eq!(order(&[(5, 24), (2, 12), (3, 0)]), [0, 1, 2]);
    }
}
