//! Sets of places that no single view expresses: short unions of views in SET form, as summaries of reads and writes.
//!
//! Members are kept few: what fits together into one view without a place more is put together, and past a fixed
//! number of members the stretch of memory around all of them stands for the set. The union is exact until then, and
//! never too small.

use std::fmt;

use smallvec::SmallVec;

use crate::disjoint::{Overlap, disjoint};
use crate::view::{Dim, Dims, Lmad, saturate};

/// Most members a union has, if nobody says otherwise.
pub const MOST_MEMBERS: usize = 16;

/// A set of places: the union of its members.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Union {
    members: Vec<Lmad>,
    /// Most members it may have.
    most: usize,
    /// Whether places were added that nobody asked for.
    widened: bool,
}

impl Default for Union {
    fn default() -> Union {
        Union::new(MOST_MEMBERS)
    }
}

impl Union {
    /// The empty set, which may come to have so many members.
    pub fn new(most: usize) -> Union {
        Union { members: Vec::new(), most, widened: false }
    }

    /// The union of some views.
    pub fn of<'a>(views: impl IntoIterator<Item = &'a Lmad>) -> Union {
        let mut union = Union::default();
        views.into_iter().for_each(|view| union.add(view));
        union
    }

    /// The members, all in SET form.
    pub fn members(&self) -> &[Lmad] {
        &self.members
    }

    /// Whether the set has no place.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Whether the set is exactly what was added, not more.
    pub fn is_exact(&self) -> bool {
        !self.widened
    }

    /// Adds the places of a view.
    pub fn add(&mut self, view: &Lmad) {
        let Some(form) = view.set_form() else { return };
        // What it fits together with takes its place, and may then fit together with others.
        let (mut new, mut at) = (form, self.members.len());
        while let Some((k, both)) =
            self.members.iter().enumerate().find_map(|(k, member)| Some((k, joined(member, &new)?)))
        {
            self.members.remove(k);
            (new, at) = (both, at.min(k));
        }
        self.members.insert(at, new);
        if self.members.len() > self.most {
            self.widen();
        }
    }

    /// Adds the places of another set.
    pub fn add_all(&mut self, other: &Union) {
        other.members.iter().for_each(|member| self.add(member));
        self.widened |= other.widened;
    }

    /// The stretch of memory around all members, in their place.
    fn widen(&mut self) {
        let bounds = self.members.iter().filter_map(Lmad::wide_bounds);
        let around = bounds.reduce(|(low, high), (least, most)| (low.min(least), high.max(most)));
        if let Some((low, high)) = around {
            let size = saturate(high.saturating_sub(low).saturating_add(1));
            self.members = vec![Lmad::new(saturate(low), [Dim::new(size, 1)])];
            self.widened = true;
        }
    }

    /// Whether a place is common to both sets (some common place, not always the least one).
    pub fn overlap(&self, other: &Union) -> Overlap {
        let mut unknown = false;
        for a in &self.members {
            for b in &other.members {
                match disjoint(a, b) {
                    Overlap::Disjoint => {}
                    Overlap::Unknown => unknown = true,
                    found => return found,
                }
            }
        }
        if unknown { Overlap::Unknown } else { Overlap::Disjoint }
    }

    /// The least place common to both sets, found by going through the places of this one. `None` if there is none,
    /// or if that are more than `most` places.
    pub fn least_common(&self, other: &Union, most: i64) -> Option<i64> {
        let count = self.members.iter().fold(0i64, |sum, member| sum.saturating_add(member.elements()));
        if count > most {
            return None;
        }
        let places = self.members.iter().flat_map(Lmad::places);
        places.filter(|&place| other.contains(place)).min()
    }

    /// Whether the set has this place.
    pub fn contains(&self, place: i64) -> bool {
        let point = Lmad::scalar(place);
        self.members.iter().any(|member| disjoint(member, &point) != Overlap::Disjoint)
    }

    /// The number of places, if the members are known to have none in common and to repeat none.
    pub fn count(&self) -> Option<i64> {
        let apart = (1..self.members.len())
            .all(|at| (0..at).all(|k| disjoint(&self.members[k], &self.members[at]) == Overlap::Disjoint));
        let simple = self.members.iter().all(Lmad::is_injective);
        (apart && simple)
            .then(|| self.members.iter().fold(0i64, |sum, member| sum.saturating_add(member.elements())))
    }
}

impl fmt::Display for Union {
    /// The members with `U` between them, `{}` for none; a single place is a view of one index.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.members.is_empty() {
            return f.write_str("{}");
        }
        for (k, member) in self.members.iter().enumerate() {
            let between = if k == 0 { "" } else { " U " };
            let point = if member.rank() == 0 { " + {(1:1)}" } else { "" };
            write!(f, "{between}{member}{point}")?;
        }
        Ok(())
    }
}

/// One view with exactly the places of two in SET form, if it needs no more axes than the greater of them.
fn joined(a: &Lmad, b: &Lmad) -> Option<Lmad> {
    if a == b {
        return Some(a.clone());
    }
    let (a, b) = if a.offset <= b.offset { (a, b) } else { (b, a) };
    let distance = b.offset.checked_sub(a.offset)?;
    if a.dims == b.dims && distance > 0 {
        // The same places further on.
        let mut dims = a.dims.clone();
        dims.push(Dim::new(2, distance));
        let form = Lmad { offset: a.offset, dims }.set_form()?;
        return (form.rank() <= a.rank().max(1)).then_some(form);
    }
    // Equal but for one axis, along which one continues the other.
    let size = |view: &Lmad, stride: i64| {
        view.dims.iter().find(|dim| dim.stride == stride).map_or(1, |dim| dim.size)
    };
    let mut different = None;
    for (view, other) in [(a, b), (b, a)] {
        for dim in &view.dims {
            if size(other, dim.stride) != dim.size
                && different.replace(dim.stride).is_some_and(|s| s != dim.stride)
            {
                return None;
            }
        }
    }
    let stride = different?;
    let steps = distance / stride;
    if distance % stride != 0 || steps > size(a, stride) {
        return None;
    }
    let whole = size(a, stride).max(steps.checked_add(size(b, stride))?);
    let dims: Dims = strides(a, b)
        .into_iter()
        .map(|other| Dim::new(if other == stride { whole } else { size(a, other) }, other))
        .collect();
    Lmad { offset: a.offset, dims }.set_form()
}

/// The strides of both, each once.
fn strides(a: &Lmad, b: &Lmad) -> SmallVec<[i64; 4]> {
    let mut strides: SmallVec<[i64; 4]> = a.dims.iter().map(|dim| dim.stride).collect();
    for dim in &b.dims {
        if !strides.contains(&dim.stride) {
            strides.push(dim.stride);
        }
    }
    strides
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::random::{Random, Views};

    fn places(union: &Union) -> BTreeSet<i64> {
        union.members.iter().flat_map(Lmad::places).collect()
    }

    #[test]
    fn exact_until_there_are_too_many() {
        let mut random = Random::new(21);
        let mut joined = 0;
        for _ in 0..4000 {
            let mut random_union = || {
                let views: Vec<Lmad> = (0..random.below(5)).map(|_| random.view(2, 4, 6)).collect();
                let expected: BTreeSet<i64> = views.iter().flat_map(Lmad::places).collect();
                let union = Union::of(&views);
                assert!(union.is_exact());
                assert_eq!(places(&union), expected, "{union}");
                joined += usize::from(union.members.len() < views.len());
                if let Some(count) = union.count() {
                    assert_eq!(count, expected.len() as i64, "{union}");
                }
                (union, expected)
            };
            let ((a, set_a), (b, set_b)) = (random_union(), random_union());
            let least = set_a.intersection(&set_b).next().copied();
            assert_eq!(a.overlap(&b) == Overlap::Disjoint, least.is_none(), "{a} # {b}");
            assert_eq!(a.least_common(&b, 10000), least);
        }
        assert!(joined > 1000, "{joined}");
    }

    #[test]
    fn text_form() {
        let union = |views: &[&str]| {
            let views: Vec<Lmad> = views.iter().map(|text| text.parse().unwrap()).collect();
            Union::of(&views).to_string()
        };
        assert_eq!(union(&[]), "{}");
        assert_eq!(union(&["3 + {(0:1)}"]), "{}");
        assert_eq!(union(&["16"]), "16 + {(1:1)}");
        assert_eq!(union(&["2", "0", "4"]), "0 + {(3:2)}");
        assert_eq!(union(&["20 + {(10:2)}", "21 + {(10:2)}", "40 + {(20:1)}"]), "20 + {(40:1)}");
        assert_eq!(union(&["0 + {(20:1)}", "21 + {(10:2)}"]), "0 + {(20:1)} U 21 + {(10:2)}");
        assert_eq!(union(&["30 + {(4:7)}", "38 + {(4:7)}", "31 + {(4:7)}"]), "30 + {(4:7)} U 31 + {(5:7)}");
    }

    #[test]
    fn many_members_become_a_stretch() {
        let views: Vec<Lmad> =
            (1..40).map(|k| Lmad::new(k * k * k, [Dim::new(2, 7 + k), Dim::new(2, 1000 * k)])).collect();
        let union = Union::of(&views);
        assert!(!union.is_exact() && union.members.len() <= union.most);
        assert!(views.iter().flat_map(Lmad::places).all(|place| union.contains(place)));
    }
}
