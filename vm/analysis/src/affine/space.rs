//! Iterations under atoms, and the places that an affine form takes on them: as a union of views.
//!
//! A bound of one variable shortens its range; a residue of one variable stretches its step; an equation removes a
//! variable; a residue of several variables splits all but one of them; what then still couples variables (a
//! triangle) is cut into slices. Each step is exact. Where there would be too many pieces, a condition is dropped:
//! the image grows and says so.

use super::{Atom, Form, MOST_PIECES};
use galopvm_kir::VarId;
use galopvm_lmad::{Dim, Lmad};
use std::cell::Cell;

/// The values of an iteration variable: from `low` to `high`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Range {
    /// The variable.
    pub var: VarId,
    /// Least value.
    pub low: i64,
    /// Greatest value; below `low` if there is none.
    pub high: i64,
}

/// The iterations whose variables lie in ranges and satisfy atoms.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Space {
    /// Each variable once.
    pub ranges: Vec<Range>,
    /// All of them hold.
    pub atoms: Vec<Atom>,
}

/// The places of an image.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image {
    /// Their union is the image.
    pub views: Vec<Lmad>,
    /// Whether it is exactly the image, not more.
    pub exact: bool,
}

/// Steps that are left for an answer.
#[derive(Debug)]
pub struct Steps(Cell<usize>);

impl Steps {
    /// So many.
    pub fn new(count: usize) -> Steps {
        Steps(Cell::new(count))
    }

    /// Takes some steps, if there are as many.
    pub fn take(&self, count: usize) -> bool {
        let left = self.0.get().checked_sub(count);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Whether all are taken.
    pub fn are_over(&self) -> bool {
        self.0.get() == 0
    }
}

/// What an atom does to a space.
enum Cut {
    /// Nothing is left.
    Nothing,
    /// It is taken care of.
    Done,
    /// It became something simpler.
    Again,
    /// These spaces together.
    Pieces(Vec<Piece>),
    /// It couples variables.
    Coupled,
}

/// A space together with the form whose values are wanted.
#[derive(Clone)]
struct Piece {
    space: Space,
    form: Form,
}

impl Space {
    /// The values of a form on the iterations of the space; nothing if numbers overflow.
    pub fn image(&self, form: &Form) -> Option<Image> {
        self.image_within(form, &Steps::new(usize::MAX))
    }

    /// The image as far as so many steps lead; atoms that are left are dropped.
    pub fn image_within(&self, form: &Form, steps: &Steps) -> Option<Image> {
        self.image_in(form, MOST_PIECES, steps)
    }

    /// The image in at most so many views.
    fn image_in(&self, form: &Form, most: usize, steps: &Steps) -> Option<Image> {
        let mut image = Image { views: Vec::new(), exact: true };
        let mut open = vec![Piece { space: self.clone(), form: form.clone() }];
        while let Some(mut piece) = open.pop() {
            if !steps.take(1 + piece.space.atoms.len()) && !piece.space.atoms.is_empty() {
                piece.space.atoms.clear();
                image.exact = false;
            }
            let room = most.saturating_sub(open.len() + image.views.len());
            match piece.next(room)? {
                Cut::Nothing => {}
                Cut::Done => image.views.extend(piece.view()?),
                Cut::Pieces(pieces) => open.extend(pieces.into_iter().rev()),
                Cut::Again => open.push(piece),
                Cut::Coupled => {
                    // Too many slices: whatever atom is left is dropped.
                    piece.space.atoms.clear();
                    image.exact = false;
                    open.push(piece);
                }
            }
        }
        Some(image)
    }

    /// Whether no iteration is left, as far as that shows without listing any. Not exact: a dead space may be
    /// called alive.
    pub fn is_dead(&self) -> bool {
        let image = self.image_in(&Form::default(), 4, &Steps::new(64));
        image.is_some_and(|image| image.views.is_empty())
    }

    /// The iterations as values of the variables, one after the other; nothing if there are more than `most` in
    /// the ranges.
    pub fn iterations(&self, most: i64) -> Option<Vec<Vec<i64>>> {
        let sizes = self.ranges.iter().map(|r| r.high.saturating_sub(r.low).saturating_add(1).max(0));
        let count = sizes.fold(1i64, i64::saturating_mul);
        if count > most {
            return None;
        }
        let mut all = vec![Vec::new()];
        for range in &self.ranges {
            all = all
                .into_iter()
                .flat_map(|prefix: Vec<i64>| {
                    (range.low..=range.high).map(move |value| [prefix.as_slice(), &[value]].concat())
                })
                .collect();
        }
        all.retain(|values| self.atoms.iter().all(|atom| self.holds(atom, values)));
        Some(all)
    }

    /// The value of a form in one iteration.
    pub fn value(&self, form: &Form, values: &[i64]) -> i128 {
        let value = |var: VarId| {
            self.ranges.iter().zip(values).find(|(range, _)| range.var == var).map_or(0, |(_, value)| *value)
        };
        let terms = form.terms().iter().map(|(var, c)| i128::from(*c) * i128::from(value(*var)));
        i128::from(form.constant) + terms.sum::<i128>()
    }

    fn holds(&self, atom: &Atom, values: &[i64]) -> bool {
        let value = self.value(atom.form(), values);
        match atom {
            Atom::NotNegative(_) => value >= 0,
            Atom::Zero(_) => value == 0,
            Atom::Residue { modulus, residue, .. } => {
                value.rem_euclid(i128::from(*modulus)) == i128::from(*residue)
            }
        }
    }
}

impl Piece {
    /// Takes care of one atom.
    fn next(&mut self, room: usize) -> Option<Cut> {
        if self.space.ranges.iter().any(|range| range.low > range.high) {
            return Some(Cut::Nothing);
        }
        let mut coupled = None;
        for at in 0..self.space.atoms.len() {
            let atom = self.space.atoms[at].clone();
            match self.cut(at, &atom, room)? {
                Cut::Coupled => coupled = coupled.or(Some(at)),
                cut => return Some(cut),
            }
        }
        let Some(at) = coupled else { return Some(Cut::Done) };
        self.slice(at, room)
    }

    fn cut(&mut self, at: usize, atom: &Atom, room: usize) -> Option<Cut> {
        match atom {
            Atom::NotNegative(form) => self.bound(at, form),
            Atom::Zero(form) => self.equation(at, form),
            Atom::Residue { form, modulus, residue } => self.residue(at, form, *modulus, *residue, room),
        }
    }

    fn remove(&mut self, at: usize) -> Cut {
        self.space.atoms.remove(at);
        Cut::Again
    }

    fn range_mut(&mut self, var: VarId) -> Option<&mut Range> {
        self.space.ranges.iter_mut().find(|range| range.var == var)
    }

    fn bound(&mut self, at: usize, form: &Form) -> Option<Cut> {
        let (low, high) = form.interval(&self.space.ranges)?;
        if high < 0 {
            return Some(Cut::Nothing);
        }
        if low >= 0 {
            return Some(self.remove(at));
        }
        let &[(var, c)] = form.terms() else { return Some(Cut::Coupled) };
        let d = form.constant;
        let range = self.range_mut(var)?;
        if c > 0 {
            // c*x >= -d
            range.low = range.low.max(-(d.div_euclid(c)));
        } else {
            // |c|*x <= d
            range.high = range.high.min(d.div_euclid(c.checked_neg()?));
        }
        Some(self.remove(at))
    }

    fn equation(&mut self, at: usize, form: &Form) -> Option<Cut> {
        let (low, high) = form.interval(&self.space.ranges)?;
        if low > 0 || high < 0 {
            return Some(Cut::Nothing);
        }
        let divisor = form.terms().iter().fold(0i64, |g, (_, c)| gcd(g, c.unsigned_abs() as i64));
        if divisor == 0 {
            return Some(self.remove(at));
        }
        if form.constant % divisor != 0 {
            return Some(Cut::Nothing);
        }
        let mut simple = Form::constant(form.constant / divisor);
        for (var, c) in form.terms() {
            simple = simple.combine(1, &Form::variable(*var), c / divisor)?;
        }
        let &(var, c) = simple.terms().iter().min_by_key(|(_, c)| c.unsigned_abs())?;
        let rest = simple.minus(&Form::variable(var).times(c)?)?;
        if c.abs() != 1 {
            // The rest is a multiple of the coefficient; when that is taken care of, dividing removes the variable.
            let modulus = c.checked_abs()?;
            self.space.atoms[at] = Atom::Zero(simple);
            let wanted = Atom::Residue { form: rest, modulus, residue: 0 };
            if self.space.atoms.contains(&wanted) {
                return Some(Cut::Coupled);
            }
            self.space.atoms.insert(0, wanted);
            return Some(Cut::Again);
        }
        // x = -rest/c, and its range bounds the others.
        let by = rest.times(-c)?;
        let range = *self.range_mut(var)?;
        self.remove(at);
        self.space.ranges.retain(|range| range.var != var);
        self.substitute(var, &by)?;
        self.space.atoms.push(Atom::NotNegative(by.minus(&Form::constant(range.low))?));
        self.space.atoms.push(Atom::NotNegative(Form::constant(range.high).minus(&by)?));
        Some(Cut::Again)
    }

    fn residue(&mut self, at: usize, form: &Form, modulus: i64, residue: i64, room: usize) -> Option<Cut> {
        // Coefficients matter modulo the modulus only.
        let mut simple = Form::constant(form.constant.rem_euclid(modulus));
        for (var, c) in form.terms() {
            simple = simple.combine(1, &Form::variable(*var), c.rem_euclid(modulus))?;
        }
        match *simple.terms() {
            [] if simple.constant == residue => Some(self.remove(at)),
            [] => Some(Cut::Nothing),
            [(var, c)] => {
                self.remove(at);
                let Some((first, step)) = solve_residue(c, residue - simple.constant, modulus) else {
                    return Some(Cut::Nothing);
                };
                self.restrict(var, first, step)
            }
            _ => {
                // Split the variable with the fewest residues that matter.
                let values = |(var, c): &(VarId, i64)| {
                    let range = self.space.ranges.iter().find(|range| range.var == *var);
                    let count = range.map_or(i64::MAX, |r| r.high.saturating_sub(r.low).saturating_add(1));
                    count.min(modulus / gcd(*c, modulus))
                };
                let split = simple.terms().iter().min_by_key(|term| values(term))?;
                let pieces = values(split);
                if usize::try_from(pieces).map_or(true, |pieces| pieces > room) {
                    return Some(Cut::Coupled);
                }
                let step = modulus / gcd(split.1, modulus);
                let low = self.range_mut(split.0)?.low;
                let mut all = Vec::new();
                for first in low..low.checked_add(pieces)? {
                    let mut piece = self.clone();
                    piece.restrict(split.0, first, step)?;
                    all.push(piece);
                }
                Some(Cut::Pieces(all))
            }
        }
    }

    /// Leaves the values of a variable that are `first` modulo `step`, counted by a new variable of the same name.
    fn restrict(&mut self, var: VarId, first: i64, step: i64) -> Option<Cut> {
        let range = self.range_mut(var)?;
        let start = range.low.checked_add(first.checked_sub(range.low)?.rem_euclid(step))?;
        let count = if start > range.high { 0 } else { (range.high - start) / step + 1 };
        (range.low, range.high) = (0, count - 1);
        let by = Form::variable(var).combine(step, &Form::constant(start), 1)?;
        self.substitute(var, &by)?;
        Some(Cut::Again)
    }

    fn substitute(&mut self, var: VarId, by: &Form) -> Option<()> {
        for atom in &mut self.space.atoms {
            *atom = atom.substitute(var, by)?;
        }
        self.form = self.form.substitute(var, by)?;
        Some(())
    }

    /// One piece for each value of the variable of an atom that has the fewest.
    fn slice(&mut self, at: usize, room: usize) -> Option<Cut> {
        let atom = &self.space.atoms[at];
        let ranges = self.space.ranges.iter().filter(|range| atom.form().coefficient(range.var) != 0);
        let Some(range) = ranges.min_by_key(|range| range.high - range.low).copied() else {
            return Some(Cut::Coupled);
        };
        let count = range.high.checked_sub(range.low)?.checked_add(1)?;
        if usize::try_from(count).map_or(true, |count| count > room) {
            return Some(Cut::Coupled);
        }
        let mut all = Vec::new();
        for value in range.low..=range.high {
            let mut piece = self.clone();
            piece.space.ranges.retain(|other| other.var != range.var);
            piece.substitute(range.var, &Form::constant(value))?;
            all.push(piece);
        }
        Some(Cut::Pieces(all))
    }

    /// The view of a piece that has no atom left; nothing on overflow.
    fn view(&self) -> Option<Option<Lmad>> {
        let mut offset = i128::from(self.form.constant);
        let mut dims = Vec::new();
        for range in &self.space.ranges {
            let c = self.form.coefficient(range.var);
            if c != 0 {
                offset += i128::from(c) * i128::from(range.low);
                dims.push(Dim::new(range.high.checked_sub(range.low)?.checked_add(1)?, c));
            }
        }
        Some(Lmad::new(i64::try_from(offset).ok()?, dims).set_form())
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// All `x` with `c*x = r` modulo `m`: the first one from 0 on, and their distance.
fn solve_residue(c: i64, r: i64, m: i64) -> Option<(i64, i64)> {
    let g = gcd(c.rem_euclid(m), m);
    if r % g != 0 {
        return None;
    }
    let (c, r, m) = (i128::from(c / g), i128::from(r / g), i128::from(m / g));
    let (mut old, mut new, mut x, mut y) = (c.rem_euclid(m), m, 1i128, 0i128);
    while new != 0 {
        let q = old / new;
        (old, new) = (new, old - q * new);
        (x, y) = (y, x - q * y);
    }
    Some(((x * r).rem_euclid(m) as i64, m as i64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_base::TypedId;
    use galopvm_testkit::Random;
    use std::collections::BTreeSet;

    #[test]
    fn images_against_enumeration() {
        let mut random = Random::new(5);
        let vars: Vec<VarId> = (0..3).map(VarId::from_index).collect();
        let (mut exact, mut images) = (0, 0);
        for round in 0..20000 {
            let used = &vars[..random.between(1, 3) as usize];
            let ranges = used
                .iter()
                .map(|&var| {
                    let low = random.between(-2, 2);
                    Range { var, low, high: low + random.between(-1, 6) }
                })
                .collect();
            let mut form = |most: i64| {
                used.iter().fold(Form::constant(random.between(-6, 6)), |form, &var| {
                    form.combine(1, &Form::variable(var), random.between(-most, most)).unwrap()
                })
            };
            let (a, b, c, target) = (form(2), form(3), form(2), form(9));
            let modulus = 2 + round % 4;
            let all = [
                Atom::NotNegative(a),
                Atom::Residue { form: b, modulus, residue: round % modulus },
                Atom::Zero(c),
            ];
            let atoms = all.into_iter().filter(|_| random.between(0, 1) == 0).collect();
            let space = Space { ranges, atoms };
            let expected: BTreeSet<i64> = space
                .iterations(1 << 20)
                .unwrap()
                .iter()
                .map(|values| space.value(&target, values) as i64)
                .collect();
            let image = space.image(&target).unwrap();
            let found: BTreeSet<i64> = image.views.iter().flat_map(Lmad::places).collect();
            assert!(found.is_superset(&expected), "{space:?} {target:?}");
            if image.exact {
                assert_eq!(found, expected, "{space:?} {target:?}");
                exact += 1;
            }
            images += 1;
        }
        assert!(exact * 100 > images * 99, "{exact} of {images}");
    }

    #[test]
    fn residues() {
        for m in 1..12i64 {
            for c in -15..15 {
                for r in -15..15 {
                    let expected: Vec<i64> = (0..m).filter(|x| (c * x - r).rem_euclid(m) == 0).collect();
                    let found = solve_residue(c, r, m)
                        .map_or(Vec::new(), |(first, step)| (first..m).step_by(step as usize).collect());
                    assert_eq!(found, expected, "{c} x = {r} mod {m}");
                }
            }
        }
    }
}
