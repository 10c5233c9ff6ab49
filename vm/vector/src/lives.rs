//! Which arrays nobody looks at after a statement that changes them: those may be changed in place.

use galopvm_kir::{Body, Region, Rhs, Stm, VarId};
use std::collections::{BTreeSet, HashSet};

/// Arrays that end where they are changed.
#[derive(Default)]
pub(crate) struct Lives {
    /// The first name that a statement binds, and an array that it changes.
    last: HashSet<(VarId, VarId)>,
}

impl Lives {
    pub fn of(region: &Region) -> Lives {
        let mut lives = Lives::default();
        lives.body(&region.body, &BTreeSet::new());
        lives
    }

    /// Whether nobody looks at an array after the statement that binds `made` by changing it.
    pub fn ends(&self, made: &[VarId], array: VarId) -> bool {
        made.first().is_some_and(|made| self.last.contains(&(*made, array)))
    }

    /// `after` is what may be looked at when the body is done.
    fn body(&mut self, body: &Body, after: &BTreeSet<VarId>) {
        let mut live = after.clone();
        body.results.iter().for_each(|result| result.each_use(&mut |var| _ = live.insert(var)));
        for stm in body.stms.iter().rev() {
            stm.pat.iter().for_each(|var| _ = live.remove(var));
            self.statement(stm, &live);
            live.extend(stm.free_vars());
        }
    }

    fn statement(&mut self, stm: &Stm, live: &BTreeSet<VarId>) {
        let changed: &[VarId] = match &stm.rhs {
            Rhs::Update { array, .. } => std::slice::from_ref(array),
            Rhs::Scatter { arrays, .. } => arrays,
            _ => &[],
        };
        if let Some(made) = stm.pat.first() {
            let ends = changed.iter().filter(|array| !live.contains(array));
            self.last.extend(ends.map(|array| (*made, *array)));
        }
        // What a body of many rounds uses is used again in the next one.
        let again = |bound: &[VarId]| {
            let mut again = live.clone();
            again.extend(stm.free_vars());
            bound.iter().for_each(|var| _ = again.remove(var));
            again
        };
        match &stm.rhs {
            Rhs::Kernel { body, .. } => self.body(body, &again(&[])),
            Rhs::Reduce { body, combine, .. } | Rhs::Scan { body, combine, .. } => {
                self.body(body, &again(&[]));
                self.body(&combine.body, &again(&[]));
            }
            Rhs::Scatter { body, combine, .. } => {
                self.body(body, &again(&[]));
                combine.iter().for_each(|combine| self.body(&combine.body, &again(&[])));
            }
            Rhs::For { carried, body, .. } => self.body(body, &again(carried)),
            Rhs::While { carried, body, .. } => self.body(body, &again(carried)),
            Rhs::If { then, otherwise, .. } => {
                // In a group both sides may be executed, one after the other.
                let mut after = live.clone();
                after.extend(otherwise.free_vars());
                self.body(then, &after);
                self.body(otherwise, live);
            }
            Rhs::Exps(_) | Rhs::Update { .. } | Rhs::Manifest { .. } | Rhs::Array(_) => {}
        }
    }
}
