//! What is known of the names of a region, those that there is something to know of.

use galopvm_base::TypedId;
use galopvm_kir::VarId;
use std::ops::Index;

/// A table by the names of a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ByName<T>(Vec<Option<T>>);

impl<T> Default for ByName<T> {
    fn default() -> ByName<T> {
        ByName(Vec::new())
    }
}

impl<T> ByName<T> {
    /// What is known of a name.
    pub fn get(&self, var: VarId) -> Option<&T> {
        self.0.get(var.index())?.as_ref()
    }

    /// Whether anything is known of a name.
    pub fn has(&self, var: VarId) -> bool {
        self.get(var).is_some()
    }

    /// Everything, in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (VarId, &T)> {
        let known = |(at, known): (usize, _)| Some((VarId::from_index(at), Option::as_ref(known)?));
        self.0.iter().enumerate().filter_map(known)
    }

    pub(super) fn set(&mut self, var: VarId, known: T) {
        if self.0.len() <= var.index() {
            self.0.resize_with(var.index() + 1, || None);
        }
        self.0[var.index()] = Some(known);
    }

    /// Forgets what is known of this name and all later ones.
    pub(super) fn forget_from(&mut self, first: VarId) {
        self.0.truncate(first.index());
    }
}

impl<T> Index<VarId> for ByName<T> {
    type Output = T;

    fn index(&self, var: VarId) -> &T {
        self.get(var).expect("something is known of the name")
    }
}
