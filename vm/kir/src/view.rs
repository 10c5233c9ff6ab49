//! Where an index goes, dimension by dimension: what an index and a change of a view mean, said once for the lift and
//! for every analysis.
//!
//! Whoever needs numbers, forms or polynomials instead of expressions takes them of the parts of a [`Place`].

use crate::algebra::{add, constant, mul, sub};
use crate::ir::{DimIndex, Exp, Index, ViewChange};
use smallvec::{SmallVec, smallvec};

/// Where an index goes in one dimension.
#[derive(Clone, PartialEq, Debug)]
pub struct Place<E = Exp> {
    /// The place of the first element; 0 if there is nothing.
    pub start: Option<E>,
    /// The dimensions of the view that the place moves with.
    pub open: Vec<Open<E>>,
}

/// A dimension that is left open.
#[derive(Clone, PartialEq, Debug)]
pub struct Open<E = Exp> {
    /// Its number in the view.
    pub dim: usize,
    /// What its index is multiplied by, in this order.
    pub factors: Vec<E>,
    /// How many indices it has; as many as the dimension of the array if there is nothing.
    pub count: Option<E>,
}

impl<E> Place<E> {
    /// True if no dimension is left open: the index of one element.
    pub fn is_complete(&self) -> bool {
        self.start.is_some() && self.open.is_empty()
    }
}

impl Place<&Exp> {
    /// The place with expressions of its own.
    pub fn owned(&self) -> Place {
        let own = |open: &Open<&Exp>| Open {
            dim: open.dim,
            factors: open.factors.iter().copied().cloned().collect(),
            count: open.count.cloned(),
        };
        Place { start: self.start.cloned(), open: self.open.iter().map(own).collect() }
    }
}

impl Place {
    /// A single index.
    pub fn at(index: Exp) -> Place {
        Place { start: Some(index), open: Vec::new() }
    }

    /// A dimension left as it is.
    pub fn whole(dim: usize) -> Place {
        Place { start: None, open: vec![Open { dim, factors: Vec::new(), count: None }] }
    }

    /// The places `start, start + step, ..`, so many of them.
    pub fn slice(dim: usize, start: Exp, count: Exp, step: Exp) -> Place {
        Place { start: Some(start), open: vec![Open { dim, factors: vec![step], count: Some(count) }] }
    }

    /// A dimension of this extent, backwards.
    pub fn reverse(dim: usize, extent: Exp) -> Place {
        let last = sub(extent, Exp::int(1));
        Place { start: Some(last), open: vec![Open { dim, factors: vec![Exp::int(-1)], count: None }] }
    }

    /// Whether every index of a dimension of the view is a place, and the other way round.
    pub fn is_all_of(&self, dim: usize) -> bool {
        self.open.iter().any(|open| open.dim == dim && open.count.is_none())
    }

    /// The place when every dimension of the view has an index of its own.
    pub fn through(&self, index: &[Place]) -> Place {
        let mut place = Place { start: self.start.clone(), open: Vec::new() };
        for Open { dim, factors, count } in &self.open {
            let Some(inner) = index.get(*dim) else { continue };
            if let Some(start) = &inner.start {
                place.start = Some(moved(place.start, start.clone(), factors));
            }
            place.open.extend(inner.open.iter().map(|open| Open {
                dim: open.dim,
                factors: product(&open.factors, factors),
                count: open.count.as_ref().or(count.as_ref()).cloned(),
            }));
        }
        place
    }

    /// The place of one element of the view.
    pub fn element(&self, index: &[Exp]) -> Option<Exp> {
        let start = self.start.clone();
        let at = self.open.iter().try_fold(start, |start, open| {
            Some(Some(moved(start, index.get(open.dim)?.clone(), &open.factors)))
        })?;
        Some(at.unwrap_or_else(|| Exp::int(0)))
    }

    /// The index of the first element.
    pub fn first(self) -> Exp {
        self.start.unwrap_or_else(|| Exp::int(0))
    }
}

/// The places of an index in the leading dimensions, which it speaks of; later ones are left as they are.
pub fn places<'a>(index: &'a Index) -> SmallVec<[Place<&'a Exp>; 2]> {
    let mut dims = 0;
    let mut open = |count: &'a Exp, step: &'a Exp| {
        dims += 1;
        Open { dim: dims - 1, factors: vec![step], count: Some(count) }
    };
    match index {
        Index::Dims(entries) => {
            let place = |entry: &'a DimIndex| match entry {
                DimIndex::At(at) => Place { start: Some(at), open: Vec::new() },
                DimIndex::Slice { start, count, step } => {
                    Place { start: Some(start), open: vec![open(count, step)] }
                }
            };
            entries.iter().map(place).collect()
        }
        Index::Lmad { offset, dims } => {
            let open = dims.iter().map(|(extent, stride)| open(extent, stride)).collect();
            smallvec![Place { start: Some(&**offset), open }]
        }
    }
}

/// The places of an array of this shape that is seen otherwise, if places of the one are places of the other.
pub fn changed(change: &ViewChange, shape: &[Exp]) -> Option<Vec<Place>> {
    match change {
        ViewChange::Transpose | ViewChange::Rearrange(_) => {
            let perm = change.permutation(shape.len())?;
            let at = |dim| perm.iter().position(|from| *from == dim);
            (0..shape.len()).map(|dim| at(dim).map(Place::whole)).collect()
        }
        ViewChange::Reverse => {
            let first = Place::reverse(0, shape.first()?.clone());
            Some(std::iter::once(first).chain((1..shape.len()).map(Place::whole)).collect())
        }
        ViewChange::Reshape(_) | ViewChange::Flatten => None,
    }
}

/// The number of an element in row-major order.
pub fn row_major(index: &[Exp], shape: &[Exp]) -> Exp {
    let step = |flat, (at, extent): (&Exp, &Exp)| add(mul(flat, extent.clone()), at.clone());
    index.iter().zip(shape).fold(Exp::int(0), step)
}

/// `start + index * factors`
fn moved(start: Option<Exp>, index: Exp, factors: &[Exp]) -> Exp {
    let backwards = matches!(factors, [factor] if constant(factor) == Some(-1));
    match start {
        Some(start) if backwards => sub(start, index),
        Some(start) if factors.is_empty() && constant(&index).is_some() => add(start, index),
        start => {
            let far = factors.iter().fold(index, |far, factor| mul(factor.clone(), far));
            start.map_or(far.clone(), |start| add(far, start))
        }
    }
}

/// The factors of both, those that are numbers multiplied.
fn product(inner: &[Exp], outer: &[Exp]) -> Vec<Exp> {
    let mut factors: Vec<Exp> = Vec::new();
    for factor in inner.iter().chain(outer) {
        match factors.last_mut() {
            Some(last) if constant(last).is_some() && constant(factor).is_some() => {
                *last = mul(last.clone(), factor.clone());
            }
            _ => factors.push(factor.clone()),
        }
    }
    factors.retain(|factor| constant(factor) != Some(1));
    factors
}
