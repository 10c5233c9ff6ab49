//! Arrays that a loop carries only to read and replace elements of them. Of these the elements that were read are kept, not the
//! arrays: the way back needs no others.

use super::super::super::ir::*;

/// Such an array.
#[derive(Clone, Debug)]
pub(super) struct Lean {
    /// Which one of those that the loop carries.
    pub position: usize,
    /// The variables of a round that stand for it, before and after it was changed.
    pub names: Vec<Var>,
    /// The elements, or rows, that a round reads, and the number of their indices.
    pub reads: Vec<(Var, usize)>,
}

/// The arrays among what a loop's block carries that are only read and changed by elements.
pub(super) fn lean_arrays(body: &Block, counters: usize, is_array: &dyn Fn(Var) -> bool) -> Vec<Lean> {
    let carried = body.params.iter().skip(counters).enumerate();
    carried.filter(|(_, param)| is_array(**param)).filter_map(|(k, param)| lean(body, k, *param)).collect()
}

fn lean(body: &Block, position: usize, param: Var) -> Option<Lean> {
    let mut lean = Lean { position, names: vec![param], reads: Vec::new() };
    for stm in &body.stms {
        let expected = match &stm.op {
            Op::Update { array, dims, .. } if lean.is(*array) && dims.iter().all(is_index) => {
                lean.names.extend(&stm.defs);
                1
            }
            Op::Index { array, index } if lean.is(*array) => {
                lean.reads.extend(stm.defs.iter().map(|def| (*def, index.len())));
                1
            }
            Op::Dim { array, .. } if lean.is(*array) => 1,
            _ => 0,
        };
        let mut found = 0;
        stm.op.atoms(&mut |atom| found += usize::from(lean.is_atom(atom)));
        if found != expected || stm.op.blocks().into_iter().any(|inner| lean.is_in(inner)) {
            return None;
        }
    }
    let is_own = |(k, result): (usize, &Atom)| k == position || !lean.is_atom(*result);
    body.results.iter().enumerate().all(is_own).then_some(lean)
}

fn is_index(dim: &SliceDim) -> bool {
    matches!(dim, SliceDim::At(_))
}

impl Lean {
    fn is(&self, var: Var) -> bool {
        self.names.contains(&var)
    }

    fn is_atom(&self, atom: Atom) -> bool {
        atom.var().is_some_and(|var| self.is(var))
    }

    /// Whether a block uses the array for more than its extents.
    fn is_in(&self, block: &Block) -> bool {
        block.results.iter().any(|result| self.is_atom(*result))
            || block.stms.iter().any(|stm| {
                let mut found = false;
                stm.op.atoms(&mut |atom| found |= self.is_atom(atom));
                found && !matches!(stm.op, Op::Dim { .. })
                    || stm.op.blocks().into_iter().any(|inner| self.is_in(inner))
            })
    }
}
