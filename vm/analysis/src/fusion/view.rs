//! Views of an array that may vanish: where an index into the view goes in the array.
//!
//! A view is the way from the array to it, one step per statement. Whether a step can trap is asked where it is made,
//! whether an index lies inside the view where it is read, so that the composed index is inside the array, too.

use super::prove::Prover;
use galopvm_base::ScalarOp;
use galopvm_kir::algebra::{int, mul, size};
use galopvm_kir::view::{Place, changed, places, row_major};
use galopvm_kir::{Exp, Index, Region, VarId, ViewChange};
use galopvm_lmad::Polynomial;

/// One step from an array to a view of it.
#[derive(Clone, PartialEq, Debug)]
enum Step {
    /// Places of the leading dimensions; the others are as they are.
    Seen(Vec<Place>),
    /// The same elements under another shape.
    Reshaped { from: Vec<Exp>, to: Vec<Exp> },
}

/// A view of a result of a kernel.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct View {
    /// The result.
    pub of: VarId,
    steps: Vec<Step>,
}

fn has_reads(exp: &Exp) -> bool {
    let mut reads = false;
    exp.visit(&mut |part| reads |= matches!(part, Exp::Read(_)));
    reads
}

impl View {
    /// The result itself.
    pub fn whole(of: VarId) -> View {
        View { of, steps: Vec::new() }
    }

    /// True if it is the result itself.
    pub fn is_whole(&self) -> bool {
        self.steps.is_empty()
    }

    fn then(&self, step: Step) -> View {
        let mut view = self.clone();
        view.steps.push(step);
        view
    }

    /// The view that a slice of this one is, if it cannot trap and is no matter of data.
    pub fn part(&self, shape: &[Exp], index: &Index, prover: &mut Prover) -> Option<View> {
        let mut data = false;
        index.each_exp(&mut |exp| data |= has_reads(exp));
        (!data && is_inside(shape, index, prover))
            .then(|| self.then(Step::Seen(places(index).iter().map(Place::owned).collect())))
    }

    /// This one seen otherwise, if that cannot trap. `shape` is this one's.
    pub fn changed(&self, shape: &[Exp], change: &ViewChange, prover: &mut Prover) -> Option<View> {
        match change {
            ViewChange::Transpose | ViewChange::Rearrange(_) | ViewChange::Reverse => {
                Some(self.then(Step::Seen(changed(change, shape)?)))
            }
            ViewChange::Reshape(to) => {
                let sizes: Vec<Polynomial> = to.iter().map(|extent| prover.polynomial(extent)).collect();
                let fits = sizes.iter().all(|size| prover.is_not_negative(size))
                    && product(shape, prover) == product(to, prover);
                fits.then(|| self.then(Step::Reshaped { from: shape.to_vec(), to: to.clone() }))
            }
            ViewChange::Flatten => {
                let [outer, inner, rest @ ..] = shape else { return None };
                let joined = mul(outer.clone(), inner.clone());
                let to = [&[joined], rest].concat();
                Some(self.then(Step::Reshaped { from: shape.to_vec(), to }))
            }
        }
    }

    /// Where an index goes in the array; the index lies inside the view.
    pub fn place(&self, index: &[Exp], prover: &mut Prover) -> Option<Vec<Exp>> {
        let mut index = index.to_vec();
        for step in self.steps.iter().rev() {
            index = match step {
                Step::Seen(places) => {
                    let open = places.iter().map(|place| place.open.len()).sum::<usize>();
                    let own = places.iter().map(|place| place.element(&index)).collect::<Option<Vec<_>>>()?;
                    own.into_iter().chain(index.get(open..)?.iter().cloned()).collect()
                }
                Step::Reshaped { from, to } => place_in_shape(from, to, &index, prover)?,
            };
        }
        Some(index)
    }
}

fn product(shape: &[Exp], prover: &mut Prover) -> Polynomial {
    let one = Polynomial::number(1);
    shape.iter().fold(one, |product, extent| product.times(&prover.polynomial(extent)))
}

/// The spelling with fewest parts.
pub(super) fn simplest(exp: Exp, prover: &mut Prover) -> Exp {
    let value = prover.polynomial(&exp);
    match prover.expression(&value) {
        Some(other) if size(&other) < size(&exp) => other,
        _ => exp,
    }
}

/// An index under one shape as an index under another shape with as many elements.
fn place_in_shape(from: &[Exp], to: &[Exp], index: &[Exp], prover: &mut Prover) -> Option<Vec<Exp>> {
    if index.iter().any(has_reads) {
        return None;
    }
    let mut flat = row_major(index, to);
    let mut place = Vec::new();
    for extent in from[1..].iter().rev() {
        let (whole, by) = (prover.polynomial(&flat), prover.polynomial(extent));
        let split = prover.division(&whole, &by);
        let spelled = split.and_then(|(q, r)| Some((prover.expression(&q)?, prover.expression(&r)?)));
        let (quotient, rest) = spelled.unwrap_or_else(|| {
            let apply = |op| int(op, flat.clone(), extent.clone());
            (apply(ScalarOp::Div), apply(ScalarOp::Mod))
        });
        place.push(rest);
        flat = quotient;
    }
    place.push(flat);
    place.reverse();
    Some(place)
}

/// Whether an index of any kind can be shown to lie inside an array of this shape.
pub(super) fn is_inside(shape: &[Exp], index: &Index, prover: &mut Prover) -> bool {
    let places = places(index);
    places.len() <= shape.len()
        && places.iter().zip(shape).all(|(place, extent)| stays_inside(place, extent, prover))
}

/// Whether every place lies inside an extent, if there are any; no count is negative.
fn stays_inside(place: &Place<&Exp>, extent: &Exp, prover: &mut Prover) -> bool {
    let counts: Vec<Polynomial> =
        place.open.iter().map(|open| prover.polynomial(open.count.unwrap_or(extent))).collect();
    if !counts.iter().all(|count| prover.is_not_negative(count)) {
        return false;
    }
    let mark = prover.mark();
    let mut at = place.start.map_or(Polynomial::number(0), |start| prover.polynomial(start));
    for (count, open) in counts.iter().zip(&place.open) {
        prover.assume(count.plus(&Polynomial::number(1), -1));
        let any = prover.any_below(count.clone());
        let far = open.factors.iter().fold(any, |far, factor| far.times(&prover.polynomial(factor)));
        at = at.plus(&far, 1);
    }
    let extent = prover.polynomial(extent);
    let inside = prover.inside(&at, &extent);
    prover.forget(mark);
    inside
}

/// The extents of an array of the region.
pub(super) fn shape_of(region: &Region, var: VarId) -> &[Exp] {
    region.vars[var].ty.as_ref().map_or(&[], |ty| &ty.shape)
}
