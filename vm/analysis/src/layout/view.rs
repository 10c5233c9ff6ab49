//! Views as composed indices: where an index into a view goes in the array that it is a view of.

use super::table::DimIndex;
use super::value::{Value, apply};
use super::walk::Walk;
use galopvm_base::{ElemType, ScalarOp, TypedId};
use galopvm_kir::{ArrayArg, ArrayOp, Exp, Index, Read, VarId};

/// What a name is a view of.
#[derive(Clone)]
pub(super) struct View {
    /// The array.
    pub base: VarId,
    /// The names on the way, the array's neighbour first, the view itself last.
    pub names: Vec<VarId>,
    /// By dimension of the array.
    pub places: Vec<Place>,
}

/// An expression with what is known of it.
#[derive(Clone)]
pub(super) struct Known {
    exp: Exp,
    value: Value,
}

/// Where an index goes in one dimension: `start + sum of index_k * factors`.
#[derive(Clone)]
pub(super) struct Place {
    start: Option<Known>,
    /// The dimension of the view, and what its index is multiplied by, in this order.
    terms: Vec<(usize, Vec<Known>)>,
}

impl Known {
    fn int(number: i64) -> Known {
        Known { exp: Exp::int(number), value: Value::constant(ElemType::I64, number.into()) }
    }

    fn op(op: ScalarOp, a: Known, b: &Known) -> Known {
        Known { value: apply(op, &[&a.value, &b.value]), exp: Exp::Op(op, vec![a.exp, b.exp.clone()]) }
    }

    fn times(self, factors: &[Known]) -> Known {
        factors.iter().fold(self, |product, factor| Known::op(ScalarOp::Mul, product, factor))
    }
}

impl Place {
    fn at(start: Known) -> Place {
        Place { start: Some(start), terms: Vec::new() }
    }

    /// A dimension left as it is.
    fn whole(dim: usize) -> Place {
        Place { start: None, terms: vec![(dim, Vec::new())] }
    }

    /// The place when every dimension of the view has an index of its own.
    fn through(&self, index: &[Place]) -> Place {
        let mut place = Place { start: self.start.clone(), terms: Vec::new() };
        for (dim, factors) in &self.terms {
            let Some(inner) = index.get(*dim) else { continue };
            if let Some(start) = &inner.start {
                let far = start.clone().times(factors);
                place.start = Some(match place.start {
                    Some(sum) => Known::op(ScalarOp::Add, sum, &far),
                    None => far,
                });
            }
            for (axis, inner_factors) in &inner.terms {
                place.terms.push((*axis, inner_factors.iter().chain(factors).cloned().collect()));
            }
        }
        place
    }

    /// The index of the first element.
    pub fn first(self) -> DimIndex {
        let known = self.start.unwrap_or_else(|| Known::int(0));
        DimIndex { source: known.exp, value: known.value }
    }

    /// The index, if it leaves no dimension open.
    pub fn complete(self) -> Option<DimIndex> {
        let known = self.start.filter(|_| self.terms.is_empty())?;
        Some(DimIndex { source: known.exp, value: known.value })
    }
}

impl Walk<'_> {
    fn known(&self, exp: &Exp) -> Known {
        Known { exp: exp.clone(), value: self.value(exp).into_owned() }
    }

    /// Where an index goes in each dimension of its own array.
    pub(super) fn own_places(&self, array: VarId, index: &Index) -> Vec<Place> {
        let rank = self.region.type_of(array).rank();
        let mut places = Vec::with_capacity(rank);
        let mut dims = 0;
        match index {
            Index::Dims(entries) => {
                for entry in entries {
                    places.push(match entry {
                        galopvm_kir::DimIndex::At(at) => Place::at(self.known(at)),
                        galopvm_kir::DimIndex::Slice { start, step, .. } => {
                            dims += 1;
                            Place {
                                start: Some(self.known(start)),
                                terms: vec![(dims - 1, vec![self.known(step)])],
                            }
                        }
                    });
                }
            }
            Index::Lmad { offset, dims: entries } => {
                let terms = entries.iter().enumerate().map(|(k, (_, stride))| (k, vec![self.known(stride)]));
                places.push(Place { start: Some(self.known(offset)), terms: terms.collect() });
                dims = entries.len();
            }
        }
        places.extend((0..rank.saturating_sub(places.len())).map(|k| Place::whole(dims + k)));
        places
    }

    /// A whole array as a view of what it is a view of.
    fn whole_view(&self, array: VarId) -> View {
        let rank = self.region.type_of(array).rank();
        let own = || View { base: array, names: Vec::new(), places: (0..rank).map(Place::whole).collect() };
        self.views[array.index()].clone().unwrap_or_else(own)
    }

    /// What a read reaches.
    pub(super) fn read_view(&self, read: &Read) -> View {
        let own = self.own_places(read.array, &read.index);
        let mut view = self.whole_view(read.array);
        view.places = view.places.iter().map(|place| place.through(&own)).collect();
        view
    }

    fn exp_view(&self, exp: &Exp) -> Option<View> {
        match exp {
            Exp::Var(var) if !self.region.type_of(*var).is_scalar() => Some(self.whole_view(*var)),
            Exp::Read(read) => Some(self.read_view(read)),
            _ => None,
        }
    }

    /// What a name for an expression is a view of, if it is an array.
    pub(super) fn view(&self, name: VarId, exp: &Exp) -> Option<View> {
        let mut view = self.exp_view(exp).filter(|_| !self.region.type_of(name).is_scalar())?;
        view.names.push(name);
        Some(view)
    }

    /// What the result of an operation that moves nothing is a view of; its name is to be added.
    pub(super) fn array_view(&self, name: VarId, op: ArrayOp, args: &[ArrayArg]) -> Option<View> {
        let Some(ArrayArg::Exp(exp)) = args.last() else { return None };
        let rank = self.region.rank(exp)?;
        let places: Vec<Place> = match (op, args) {
            (ArrayOp::Transpose, _) if rank >= 2 => {
                (0..rank).map(|dim| Place::whole(if dim < 2 { 1 - dim } else { dim })).collect()
            }
            (ArrayOp::Rearrange, [ArrayArg::Perm(perm), _]) => {
                let at = |dim| perm.iter().position(|from| *from == dim);
                (0..rank).map(|dim| at(dim).map(Place::whole)).collect::<Option<_>>()?
            }
            (ArrayOp::Reverse, _) => {
                let size = self.region.type_of_exp(exp)?.shape.first()?.clone();
                let last = Known::op(ScalarOp::Sub, self.known(&size), &Known::int(1));
                let first = Place { start: Some(last), terms: vec![(0, vec![Known::int(-1)])] };
                std::iter::once(first).chain((1..rank).map(Place::whole)).collect()
            }
            _ => return None,
        };
        let mut view = self.exp_view(exp)?;
        view.places = view.places.iter().map(|place| place.through(&places)).collect();
        view.names.push(name);
        Some(view)
    }
}
