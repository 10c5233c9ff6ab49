//! The sets of places that are read, copied and changed, and the verdict for each array.

use super::accesses::{Access, Leaf, Walk};
use crate::Effort;
use crate::affine::{Atom, Form, MOST_PIECES, Range, Scope, Space, Steps, conjunction_text};
use galopvm_kir::{Observed, Region, Rhs, Stm, VarId};
use galopvm_lmad::{Lmad, Overlap, Union};
use std::collections::BTreeSet;
use std::fmt::{self, Write};

/// Most places that are gone through to name the least one of a conflict, times the views they are looked for in.
const MOST_LISTED: i64 = 1 << 12;

/// Steps for all arrays of a kernel: pieces of sets, and pairs of views.
const MOST_STEPS: usize = 1 << 12;

/// Most iterations of a kernel whose sets are listed place by place.
const MOST_ITERATIONS: i64 = 1 << 20;

/// What is known of a kernel's result and the arrays it may be written over.
#[derive(Clone, PartialEq, Debug)]
pub struct Reuse {
    /// The result.
    pub result: VarId,
    /// The number of its elements.
    pub elements: i64,
    /// Every array of the result's type that the kernel reads, in the order of the parameters and statements.
    pub arrays: Vec<ArrayReuse>,
    /// The ways through the body to its value.
    pub paths: Vec<ControlPath>,
}

/// What is known of one array.
#[derive(Clone, PartialEq, Debug)]
pub struct ArrayReuse {
    /// The array.
    pub array: VarId,
    /// Places read by other iterations than the one that writes them.
    pub read: Union,
    /// Places whose value is copied.
    pub copied: Union,
    /// Places that get another value.
    pub changed: Union,
    /// Whether the result may be written over it.
    pub verdict: Verdict,
}

/// Whether a result may be written over an array.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It may, if nobody else needs the array.
    Candidate,
    /// Nothing would be saved: no place is copied.
    NoCopies,
    /// A place is changed by one iteration and read by another one.
    Conflict {
        /// Such a place; the least one, as far as sets are small enough to be listed.
        place: i64,
    },
    /// It is read at places that are not known.
    DataIndex,
    /// The sets are too intricate.
    Budget,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Candidate => f.write_str("yes"),
            Verdict::NoCopies => f.write_str("no reason no-copies"),
            Verdict::Conflict { place } => write!(f, "no reason conflict({place})"),
            Verdict::DataIndex => f.write_str("no reason data-index"),
            Verdict::Budget => f.write_str("no reason budget"),
        }
    }
}

/// A way through the branches of the body.
#[derive(Clone, PartialEq, Debug)]
pub struct ControlPath {
    /// All of them hold on it.
    pub atoms: Vec<Atom>,
    /// The array whose value at the same place it takes.
    pub copies: Option<VarId>,
    /// Some condition of it was not understood.
    pub loose: bool,
}

impl Reuse {
    /// The array by name.
    pub fn array(&self, array: VarId) -> Option<&ArrayReuse> {
        self.arrays.iter().find(|reuse| reuse.array == array)
    }

    /// Whether some verdict would have cost too much: more effort may change it.
    pub fn is_bounded(&self) -> bool {
        self.arrays.iter().any(|reuse| reuse.verdict == Verdict::Budget)
    }

    /// The arrays that the result may be written over.
    pub fn candidates(&self) -> impl Iterator<Item = &ArrayReuse> {
        self.arrays.iter().filter(|reuse| reuse.verdict == Verdict::Candidate)
    }

    /// The sets, candidates, choice and conflicts in text.
    pub fn text(&self, region: &Region) -> String {
        let mut text = String::new();
        for (word, set) in [
            ("RDS", (|r: &ArrayReuse| &r.read) as fn(&ArrayReuse) -> &Union),
            ("CDS", |r| &r.copied),
            ("MOD", |r| &r.changed),
        ] {
            for reuse in &self.arrays {
                if reuse.verdict != Verdict::DataIndex {
                    let _ = writeln!(text, "{word} {} = {}", region.name_of(reuse.array), set(reuse));
                }
            }
        }
        let names: String =
            self.candidates().map(|reuse| format!(" {}", region.name_of(reuse.array))).collect();
        let _ = writeln!(text, "candidates ={names}");
        if let Some(choice) = super::choose(self.candidates()) {
            let _ = writeln!(text, "choice = {}", region.name_of(choice.array));
        }
        for reuse in &self.arrays {
            match reuse.verdict {
                Verdict::Candidate | Verdict::NoCopies => {}
                Verdict::Conflict { place } => {
                    let _ = writeln!(text, "conflict {} = {place}", region.name_of(reuse.array));
                }
                verdict => {
                    let _ = writeln!(text, "{} {verdict}", region.name_of(reuse.array));
                }
            }
        }
        text
    }

    /// The control paths in text: `a {i<20} ; mixed {i>=20}`.
    pub fn paths_text(&self, region: &Region) -> String {
        let path = |path: &ControlPath| {
            let name = path.copies.map_or("mixed", |array| region.name_of(array));
            format!("{name} {}", conjunction_text(&path.atoms, region))
        };
        self.paths.iter().map(path).collect::<Vec<_>>().join(" ; ")
    }
}

/// The sets for result `k` of a kernel that stands in the outermost body of a region; nothing if `stm` is no kernel,
/// or if its numbers of iterations are not known.
pub fn analyse(region: &Region, observed: &Observed, stm: &Stm, k: usize, effort: Effort) -> Option<Reuse> {
    analyse_first(region, observed, (stm, k), effort, &|_| true, true)
}

/// The same, where the arrays that are wanted come first, and others only if `all` are asked for: what is said of those
/// that are wanted does not depend on it.
pub fn analyse_first(
    region: &Region,
    observed: &Observed,
    (stm, k): (&Stm, usize),
    effort: Effort,
    wanted: &dyn Fn(VarId) -> bool,
    all: bool,
) -> Option<Reuse> {
    let Rhs::Kernel { axes, body } = &stm.rhs else { return None };
    let mut scope = Scope::new(region, observed);
    let mut shape = Vec::new();
    for axis in axes {
        shape.push(scope.size(&axis.bound)?.max(0));
    }
    for (axis, trips) in axes.iter().zip(&shape) {
        scope.open(axis.var, *trips);
    }
    let own: Vec<Form> = axes.iter().map(|axis| Form::variable(axis.var)).collect();
    let result = *stm.pat.get(k)?;
    let scalar = |exp| region.type_of_exp(exp).is_some_and(|ty| ty.is_scalar());
    if body.results.len() != stm.pat.len() || !scalar(&body.results[k]) {
        return None;
    }
    let mut walk = Walk::new(scope, &stm.rhs);
    let steps = Steps::new(MOST_STEPS * effort.times());
    let mut sets = Sets { place: Lmad::row_major(&shape), own, places: None, steps };
    sets.places = sets.flat(&sets.own.clone());
    let leaves = walk.leaves(&body.results[k]);
    let mut arrays: Vec<VarId> = walk.accesses.iter().map(|access| access.array).collect();
    arrays.sort_unstable();
    arrays.dedup();
    let elem = |var: VarId| region.vars[var].ty.as_ref().map(|ty| ty.elem);
    arrays.retain(|array| {
        elem(*array) == elem(result) && walk.shape(*array).is_some_and(|other| other == shape)
    });
    let ranges = walk.scope().ranges().to_vec();
    let ways = sets.ways(leaves, &ranges, &arrays);
    let mut order: Vec<VarId> = arrays.iter().copied().filter(|array| wanted(*array)).collect();
    if all {
        order.extend(arrays.iter().copied().filter(|array| !wanted(*array)));
    }
    let found = order.into_iter().map(|array| sets.array(array, &walk.accesses, &ways, effort));
    let mut found: Vec<ArrayReuse> = found.collect();
    found.sort_unstable_by_key(|reuse| reuse.array);
    let elements = sets.place.elements();
    let arrays = found;
    let paths = ways.into_iter().map(|(path, _)| path).collect();
    Some(Reuse { result, elements, arrays, paths })
}

/// What turns accesses into sets.
struct Sets {
    /// The result, row-major.
    place: Lmad,
    /// The index that each iteration writes.
    own: Vec<Form>,
    /// The place that each iteration writes.
    places: Option<Form>,
    /// What an answer may still cost.
    steps: Steps,
}

/// The conditions under which an index is the own one, if it can be, and alternatives under which it is not.
type Apart = (Option<Vec<Atom>>, Vec<Vec<Atom>>);

/// A control path with its iterations.
type Way = (ControlPath, Space);

impl Sets {
    /// The place of an index, row-major.
    fn flat(&self, index: &[Form]) -> Option<Form> {
        let mut sum = Form::default();
        for (form, dim) in index.iter().zip(&self.place.dims) {
            sum = sum.combine(1, form, dim.stride)?;
        }
        Some(sum)
    }

    /// The control paths, with copies of other places told apart from those of the own one.
    fn ways(&self, leaves: Vec<Leaf>, ranges: &[Range], arrays: &[VarId]) -> Vec<Way> {
        let mut ways: Vec<Way> = Vec::new();
        let mut add = |atoms: Vec<Atom>, copies: Option<VarId>, loose: bool| {
            let space = Space { ranges: ranges.to_vec(), atoms: atoms.clone() };
            if !self.steps.take(1 + atoms.len()) || !space.is_dead() {
                ways.push((ControlPath { atoms, copies, loose }, space));
            }
        };
        for Leaf { alternative, copy } in leaves {
            let copy = copy.filter(|(array, _)| arrays.contains(array));
            match copy.and_then(|(array, index)| Some((array, self.apart(&index, ranges)?))) {
                None => add(alternative.atoms, None, alternative.loose),
                Some((array, (same, others))) => {
                    for (copies, atoms) in others
                        .into_iter()
                        .map(|atoms| (None, atoms))
                        .chain(same.map(|atoms| (Some(array), atoms)))
                    {
                        add([alternative.atoms.as_slice(), &atoms].concat(), copies, alternative.loose);
                    }
                }
            }
        }
        ways
    }

    /// The conditions under which an index is the own one (if it can be), and the alternatives under which it is
    /// not. Nothing on overflow.
    fn apart(&self, index: &[Form], ranges: &[Range]) -> Option<Apart> {
        let mut same = Vec::new();
        let mut others = Vec::new();
        for (form, own) in index.iter().zip(&self.own) {
            let difference = form.minus(own)?;
            match difference.number() {
                Some(0) => continue,
                Some(_) => return Some((None, vec![Vec::new()])),
                None => {}
            }
            if difference.interval(ranges).is_some_and(|(low, high)| low > 0 || high < 0) {
                return Some((None, vec![Vec::new()]));
            }
            let equal = Atom::Zero(difference);
            for other in equal.negated()? {
                others.push([same.as_slice(), &[other]].concat());
            }
            same.push(equal);
        }
        Some((Some(same), others))
    }

    fn array(&self, array: VarId, accesses: &[Access], ways: &[Way], effort: Effort) -> ArrayReuse {
        let mut reuse = ArrayReuse {
            array,
            read: Union::new(MOST_PIECES),
            copied: Union::new(MOST_PIECES),
            changed: Union::new(MOST_PIECES),
            verdict: Verdict::Budget,
        };
        // Whether there are sets, and whether they are exactly what is read and changed.
        let (mut known, mut exact) = (true, true);
        for (path, space) in ways {
            let copied = path.copies == Some(array);
            let set = if copied { &mut reuse.copied } else { &mut reuse.changed };
            let places = self.places.as_ref();
            known &= places.and_then(|form| space.image_within(form, &self.steps)).is_some_and(|image| {
                exact &= image.exact;
                image.views.iter().all(|view| self.add(set, view))
            });
        }
        exact &= reuse.changed.is_exact();
        let mut unknown_place = false;
        // Where nothing is copied, what is read does not matter.
        let reads = accesses.iter().filter(|access| access.array == array);
        for access in reads.filter(|access| access.places.is_none() || !reuse.copied.is_empty()) {
            let Some(places) = &access.places else {
                unknown_place = true;
                continue;
            };
            for (space, index) in places {
                match self.read(space, index, &mut reuse.read) {
                    Some(all) => exact &= all,
                    None => known = false,
                }
            }
        }
        exact &= reuse.read.is_exact();
        reuse.verdict = if unknown_place {
            Verdict::DataIndex
        } else if !known || self.steps.are_over() {
            Verdict::Budget
        } else if reuse.copied.is_empty() {
            Verdict::NoCopies
        } else {
            match self.overlap(&reuse.read, &reuse.changed) {
                Overlap::Disjoint => Verdict::Candidate,
                Overlap::Unknown => Verdict::Budget,
                Overlap::Overlap { witness } => {
                    let views = reuse.changed.members().len().max(1) as i64;
                    let least = reuse.read.least_common(&reuse.changed, MOST_LISTED / views);
                    Verdict::Conflict { place: least.unwrap_or(witness) }
                }
            }
        };
        let unsure = matches!(reuse.verdict, Verdict::Conflict { .. } | Verdict::Budget);
        if effort == Effort::Thorough
            && unsure
            && !(known && exact)
            && let Some(conflict) = self.listed(array, accesses, ways)
        {
            reuse.verdict = conflict.map_or(Verdict::Candidate, |place| Verdict::Conflict { place });
        }
        reuse
    }

    /// The least place that is changed by one iteration and read by another one, if there is one, from going through
    /// all iterations; nothing if these are too many.
    fn listed(&self, array: VarId, accesses: &[Access], ways: &[Way]) -> Option<Option<i64>> {
        let mut changed = BTreeSet::new();
        let place = self.places.as_ref()?;
        for (_, space) in ways.iter().filter(|(path, _)| path.copies != Some(array)) {
            let all = space.iterations(MOST_ITERATIONS)?;
            changed.extend(all.iter().map(|values| space.value(place, values)));
        }
        let mut least: Option<i128> = None;
        for access in accesses.iter().filter(|access| access.array == array) {
            for (space, index) in access.places.as_ref()? {
                let place = self.flat(index)?;
                for values in space.iterations(MOST_ITERATIONS)? {
                    let own = index
                        .iter()
                        .zip(&self.own)
                        .all(|(at, own)| space.value(at, &values) == space.value(own, &values));
                    let at = space.value(&place, &values);
                    if !own && changed.contains(&at) && least.is_none_or(|known| at < known) {
                        least = Some(at);
                    }
                }
            }
        }
        match least {
            None => Some(None),
            Some(place) => i64::try_from(place).ok().map(Some),
        }
    }

    /// Adds the places that are read at an index, apart from each iteration's own; whether nothing else was added.
    fn read(&self, space: &Space, index: &[Form], set: &mut Union) -> Option<bool> {
        let mut exact = true;
        let (_, others) = self.apart(index, &space.ranges)?;
        let place = self.flat(index)?;
        for atoms in others {
            let space =
                Space { ranges: space.ranges.clone(), atoms: [space.atoms.as_slice(), &atoms].concat() };
            let image = space.image_within(&place, &self.steps)?;
            exact &= image.exact;
            if !image.views.iter().all(|view| self.add(set, view)) {
                return None;
            }
        }
        Some(exact)
    }

    /// Adds the places of a view to a set; false if that would cost too much.
    fn add(&self, set: &mut Union, view: &Lmad) -> bool {
        let fits = self.steps.take(1 + set.members().len() / 2);
        if fits {
            set.add(view);
        }
        fits
    }

    /// Whether two sets have a place in common.
    fn overlap(&self, a: &Union, b: &Union) -> Overlap {
        match self.steps.take(a.members().len() * b.members().len()) {
            true => a.overlap(b),
            false => Overlap::Unknown,
        }
    }
}
