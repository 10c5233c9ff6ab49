//! Sets of names whose memory a value may share.
//!
//! Invariants:
//! - A set is sorted and has no duplicates; the empty set takes no memory.
//! - An alias names a variable and the fields that lead to the part meant. Consuming a part consumes the variable;
//!   the path only tells apart two parts of one value.

use crate::syntax::ast::NodeId;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::rc::Rc;

/// A path of fields, by number; [`Paths::ROOT`] is the empty one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct PathId(u32);

/// All paths of fields seen so far.
#[derive(Default)]
pub(super) struct Paths {
    longer: HashMap<(PathId, Rc<str>), PathId>,
}

impl Paths {
    /// The path of no fields.
    pub(super) const ROOT: PathId = PathId(0);

    /// A path with one more field.
    pub(super) fn field(&mut self, path: PathId, name: &Rc<str>) -> PathId {
        let next = PathId(self.longer.len() as u32 + 1);
        *self.longer.entry((path, name.clone())).or_insert(next)
    }
}

/// A part of a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Alias {
    /// The binding, the definition, or the made-up name of an intermediate result.
    pub(super) var: NodeId,
    /// Which part.
    pub(super) path: PathId,
}

/// A set of aliases.
#[derive(Clone, Default, Debug)]
pub(super) struct Aliases(Option<Rc<[Alias]>>);

impl Aliases {
    /// One whole variable.
    pub(super) fn of(var: NodeId) -> Aliases {
        Aliases::part(var, Paths::ROOT)
    }

    /// One part of a variable.
    pub(super) fn part(var: NodeId, path: PathId) -> Aliases {
        Aliases(Some(Rc::from([Alias { var, path }])))
    }

    /// The members, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Alias> + '_ {
        self.0.iter().flat_map(|set| set.iter().copied())
    }

    /// True if nothing is shared.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Members of either.
    pub(super) fn union(&self, other: &Aliases) -> Aliases {
        let (a, b) = match (&self.0, &other.0) {
            (None, _) => return other.clone(),
            (_, None) => return self.clone(),
            (Some(a), Some(b)) if Rc::ptr_eq(a, b) => return self.clone(),
            (Some(a), Some(b)) => (a, b),
        };
        let mut merged = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            let order = a[i].cmp(&b[j]);
            merged.push(if order == Ordering::Greater { b[j] } else { a[i] });
            i += usize::from(order != Ordering::Greater);
            j += usize::from(order != Ordering::Less);
        }
        merged.extend_from_slice(&a[i..]);
        merged.extend_from_slice(&b[j..]);
        Aliases(Some(merged.into()))
    }

    /// Members of any of them: one after the other, each member would be copied as often as there are sets.
    pub(super) fn union_all(sets: &[Aliases]) -> Aliases {
        match sets {
            [] => Aliases::default(),
            [one] => one.clone(),
            [one, other] => one.union(other),
            _ => {
                let mut all: Vec<Alias> = sets.iter().flat_map(Aliases::iter).collect();
                all.sort_unstable();
                all.dedup();
                Aliases((!all.is_empty()).then(|| all.into()))
            }
        }
    }

    /// Members that are wanted.
    pub(super) fn filter(&self, wanted: impl Fn(Alias) -> bool) -> Aliases {
        if self.iter().all(&wanted) {
            return self.clone();
        }
        let kept: Rc<[Alias]> = self.iter().filter(|a| wanted(*a)).collect();
        Aliases((!kept.is_empty()).then_some(kept))
    }

    /// True if the two have a member in common.
    pub(super) fn meets(&self, other: &Aliases) -> bool {
        let (Some(a), Some(b)) = (&self.0, &other.0) else { return false };
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            match a[i].cmp(&b[j]) {
                Ordering::Less => i += 1,
                Ordering::Greater => j += 1,
                Ordering::Equal => return true,
            }
        }
        false
    }

    /// True if some part of the variable is a member.
    pub(super) fn mentions(&self, var: NodeId) -> bool {
        self.iter().any(|alias| alias.var == var)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(vars: &[u32]) -> Aliases {
        vars.iter().fold(Aliases::default(), |set, var| set.union(&Aliases::of(NodeId(*var))))
    }

    fn members(set: &Aliases) -> Vec<u32> {
        set.iter().map(|alias| alias.var.0).collect()
    }

    #[test]
    fn union_is_sorted_and_has_no_duplicates() {
        assert_eq!(members(&set(&[5, 1, 3]).union(&set(&[3, 2, 9]))), [1, 2, 3, 5, 9]);
        assert!(set(&[]).union(&set(&[])).is_empty());
        let several = [set(&[4, 8]), set(&[]), set(&[8, 2]), set(&[4])];
        assert_eq!(members(&Aliases::union_all(&several)), [2, 4, 8]);
        assert_eq!(members(&Aliases::union_all(&several[..2])), [4, 8]);
        assert!(Aliases::union_all(&[set(&[]), set(&[]), set(&[])]).is_empty());
    }

    #[test]
    fn sets_meet_in_equal_parts_only() {
        let mut paths = Paths::default();
        let (a, b) = (paths.field(Paths::ROOT, &"a".into()), paths.field(Paths::ROOT, &"b".into()));
        assert_eq!(paths.field(Paths::ROOT, &"a".into()), a);
        let (first, second) = (Aliases::part(NodeId(1), a), Aliases::part(NodeId(1), b));
        assert!(!first.meets(&second) && first.meets(&first.union(&second)));
        assert!(first.mentions(NodeId(1)) && !first.mentions(NodeId(2)));
    }

    #[test]
    fn filter_keeps_what_is_wanted() {
        assert_eq!(members(&set(&[1, 2, 3]).filter(|a| a.var.0 != 2)), [1, 3]);
        assert!(set(&[1]).filter(|_| false).is_empty());
    }
}
