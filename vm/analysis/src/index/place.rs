//! Where an index goes, dimension by dimension: what an index and a change of a view mean, said once for every analysis.
//!
//! Whoever needs numbers, forms or polynomials instead of expressions takes them of the parts of a [`Place`].

use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::{DimIndex, Exp, Index, ViewChange};
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
    /// A dimension left as it is.
    pub(super) fn whole(dim: usize) -> Place {
        Place { start: None, open: vec![Open { dim, factors: Vec::new(), count: None }] }
    }

    /// The place when every dimension of the view has an index of its own.
    pub(super) fn through(&self, index: &[Place]) -> Place {
        let mut place = Place { start: self.start.clone(), open: Vec::new() };
        for Open { dim, factors, count } in &self.open {
            let Some(inner) = index.get(*dim) else { continue };
            if let Some(start) = &inner.start {
                let far = times(start.clone(), factors);
                place.start = Some(match place.start {
                    Some(sum) => operation(ScalarOp::Add, sum, far),
                    None => far,
                });
            }
            place.open.extend(inner.open.iter().map(|open| Open {
                dim: open.dim,
                factors: open.factors.iter().chain(factors).cloned().collect(),
                count: open.count.as_ref().or(count.as_ref()).cloned(),
            }));
        }
        place
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
            let last = operation(ScalarOp::Sub, shape.first()?.clone(), Exp::int(1));
            let open = vec![Open { dim: 0, factors: vec![Exp::int(-1)], count: None }];
            let first = Place { start: Some(last), open };
            Some(std::iter::once(first).chain((1..shape.len()).map(Place::whole)).collect())
        }
        ViewChange::Reshape(_) | ViewChange::Flatten => None,
    }
}

fn operation(op: ScalarOp, a: Exp, b: Exp) -> Exp {
    Exp::Op(op, ElemType::I64, vec![a, b])
}

fn times(exp: Exp, factors: &[Exp]) -> Exp {
    factors.iter().fold(exp, |product, factor| operation(ScalarOp::Mul, product, factor.clone()))
}
