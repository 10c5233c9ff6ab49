//! What a register holds while code is lifted: a scalar expression, or an array as a formula.
//!
//! An array is a source (a name of the region, or something that says how to compute an element) seen through a
//! view: for each dimension of the source, where to go for given indices of the view. Index, slice, permute and
//! reverse only change the view; they cost nothing and leave nothing in the region.

use galopvm_base::ElemType;
use galopvm_kir::algebra::constant;
use galopvm_kir::view::Place;
use galopvm_kir::{Exp, VarId};
use std::cmp::Ordering;
use std::rc::Rc;

/// The value of a register.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A scalar: a constant or a name.
    Scalar(Exp),
    /// An array.
    Array(Array),
}

/// An array seen through a view.
#[derive(Clone, Debug)]
pub(super) struct Array {
    /// The type of its elements.
    pub elem: ElemType,
    /// The extents of the view.
    pub shape: Vec<Exp>,
    /// Where elements come from.
    pub source: Source,
    /// One for each dimension of the source.
    pub places: Vec<Place>,
    /// Indices that were fixed are inside; otherwise the reads of elements ask.
    pub proven: bool,
}

/// Where the elements of an array come from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// A parameter of the region, or an array that the region computed.
    Name(VarId),
    /// `start + step * k`, in the array's element type.
    Iota {
        /// The first element.
        start: Exp,
        /// The distance.
        step: Exp,
    },
    /// The same value for every index of the first dimension.
    Replicate(Rc<Value>),
    /// One value for each index of the first dimension.
    Rows(Rc<Vec<Value>>),
    /// Arrays one after the other along the first dimension.
    Concat(Rc<Vec<Array>>),
    /// The elements of another array, in row-major order, under the given extents.
    Reshape(Rc<Array>, Vec<Exp>),
}

impl Array {
    /// All of a source with these extents.
    pub fn whole(elem: ElemType, shape: Vec<Exp>, source: Source) -> Array {
        let places = (0..shape.len()).map(Place::whole).collect();
        Array { elem, shape, source, places, proven: true }
    }

    /// The number of dimensions of the view.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The name, if the array is all of one, in its own order.
    pub fn as_name(&self) -> Option<VarId> {
        match self.source {
            Source::Name(var) if self.places.iter().cloned().eq((0..self.rank()).map(Place::whole)) => {
                Some(var)
            }
            _ => None,
        }
    }

    /// True if leaving dimension `axis` of the view is leaving the source.
    pub fn is_whole(&self, axis: usize) -> bool {
        self.places.iter().any(|place| place.is_all_of(axis))
    }

    /// This array seen through a view of it: where that goes in each of its dimensions.
    pub fn seen_through(&self, places: &[Place], shape: &[Exp]) -> Array {
        let places = self.places.iter().map(|place| place.through(places)).collect();
        Array { places, shape: shape.to_vec(), ..self.clone() }
    }

    /// The view at one index of a dimension, which vanishes.
    pub fn fix(&self, dim: usize, index: &Exp) -> Array {
        let place = |d: usize| match d.cmp(&dim) {
            Ordering::Less => Place::whole(d),
            Ordering::Equal => Place::at(index.clone()),
            Ordering::Greater => Place::whole(d - 1),
        };
        let places: Vec<Place> = (0..self.rank()).map(place).collect();
        let mut shape = self.shape.clone();
        shape.remove(dim);
        self.seen_through(&places, &shape)
    }

    /// The view with one dimension seen otherwise, in which it has this extent.
    fn with_dim(&self, dim: usize, place: Place, extent: Exp) -> Array {
        let mut places: Vec<Place> = (0..self.rank()).map(Place::whole).collect();
        let mut shape = self.shape.clone();
        (places[dim], shape[dim]) = (place, extent);
        self.seen_through(&places, &shape)
    }

    /// The view of indices `first, first + distance, ..` of a dimension.
    pub fn slice(&self, dim: usize, first: &Exp, count: &Exp, distance: i64) -> Array {
        if constant(first) == Some(0) && distance == 1 && *count == self.shape[dim] {
            return self.clone();
        }
        let place = Place::slice(dim, first.clone(), count.clone(), Exp::int(distance));
        self.with_dim(dim, place, count.clone())
    }

    /// The view with one dimension backwards.
    pub fn reverse(&self, dim: usize) -> Array {
        let extent = self.shape[dim].clone();
        self.with_dim(dim, Place::reverse(dim, extent.clone()), extent)
    }

    /// The view whose dimension `k` is this one's dimension `perm[k]`.
    pub fn permute(&self, perm: &[usize]) -> Array {
        let at = |dim| perm.iter().position(|from| *from == dim).unwrap_or(dim);
        let places: Vec<Place> = (0..self.rank()).map(|dim| Place::whole(at(dim))).collect();
        let shape: Vec<Exp> = perm.iter().map(|dim| self.shape[*dim].clone()).collect();
        self.seen_through(&places, &shape)
    }
}
