//! What a register holds while code is lifted: a scalar expression, or an array as a formula.
//!
//! An array is a source (a name of the region, or something that says how to compute an element) seen through a
//! view: for each dimension of the source, where to go for given indices of the view. Index, slice, permute and
//! reverse only change the view; they cost nothing and leave nothing in the region.

use super::algebra::{add, affine, constant, sub};
use galopvm_base::ElemType;
use galopvm_bytecode::{FuncId, RegId};
use galopvm_kir::{Exp, VarId};
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

/// An activation of a function: registers of different activations are different.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Frame {
    /// The function.
    pub function: FuncId,
    /// A number of its own.
    pub number: u32,
}

/// A register of an activation.
pub(super) type Slot = (Frame, RegId);

/// How the index of one dimension of a source follows from the indices of a view.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// It is fixed.
    At(Exp),
    /// `start + step * index`
    Along {
        /// Which dimension of the view.
        axis: usize,
        /// The index at 0.
        start: Exp,
        /// The distance.
        step: i64,
        /// The view reaches every index of this dimension of the source, so leaving the one is leaving the other.
        whole: bool,
    },
}

impl Array {
    /// All of a source with these extents.
    pub fn whole(elem: ElemType, shape: Vec<Exp>, source: Source) -> Array {
        let place = |axis| Place::Along { axis, start: Exp::int(0), step: 1, whole: true };
        let places = (0..shape.len()).map(place).collect();
        Array { elem, shape, source, places, proven: true }
    }

    /// The number of dimensions of the view.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The name, if the array is all of one, in its own order.
    pub fn as_name(&self) -> Option<VarId> {
        let straight = |(k, place): (usize, &Place)| {
            matches!(place, Place::Along { axis, start, step: 1, whole: true }
                if *axis == k && constant(start) == Some(0))
        };
        match self.source {
            Source::Name(var) if self.places.iter().enumerate().all(straight) => Some(var),
            _ => None,
        }
    }

    /// True if leaving dimension `axis` of the view is leaving the source.
    pub fn is_whole(&self, axis: usize) -> bool {
        self.places.iter().any(|p| matches!(p, Place::Along { axis: a, whole: true, .. } if *a == axis))
    }

    /// The view at one index of a dimension, which vanishes.
    pub fn fix(&self, dim: usize, index: &Exp) -> Array {
        let mut array = self.clone();
        array.shape.remove(dim);
        for place in &mut array.places {
            if let Place::Along { axis, start, step, .. } = place {
                if *axis == dim {
                    *place = Place::At(affine(start.clone(), *step, index.clone()));
                } else if *axis > dim {
                    *axis -= 1;
                }
            }
        }
        array
    }

    /// The view of indices `first, first + distance, ..` of a dimension.
    pub fn slice(&self, dim: usize, first: &Exp, count: &Exp, distance: i64) -> Option<Array> {
        let mut array = self.clone();
        let all = constant(first) == Some(0) && distance == 1 && *count == self.shape[dim];
        array.shape[dim] = count.clone();
        for place in &mut array.places {
            if let Place::Along { axis, start, step, whole } = place
                && *axis == dim
            {
                *start = affine(start.clone(), *step, first.clone());
                *step = step.checked_mul(distance)?;
                *whole &= all;
            }
        }
        Some(array)
    }

    /// The view with one dimension backwards.
    pub fn reverse(&self, dim: usize) -> Option<Array> {
        let mut array = self.clone();
        let last = sub(self.shape[dim].clone(), Exp::int(1));
        for place in &mut array.places {
            if let Place::Along { axis, start, step, .. } = place
                && *axis == dim
            {
                *start = match *step {
                    1 => add(last.clone(), start.clone()),
                    _ => affine(start.clone(), *step, last.clone()),
                };
                *step = step.checked_neg()?;
            }
        }
        Some(array)
    }

    /// This array seen through the view that other places describe: one for each of its dimensions.
    pub fn seen_through(&self, places: &[Place], shape: &[Exp]) -> Option<Array> {
        let mut array = self.clone();
        // From the back, so that dimensions still to come keep their numbers.
        for (dim, outer) in places.iter().enumerate().rev() {
            match outer {
                Place::At(index) => array = array.fix(dim, index),
                Place::Along { axis, start, step, whole } => {
                    let kept = *whole && array.is_whole(dim);
                    array = array.slice(dim, start, shape.get(*axis)?, *step)?;
                    for place in &mut array.places {
                        if let Place::Along { axis, whole, .. } = place
                            && *axis == dim
                        {
                            *whole = kept;
                        }
                    }
                }
            }
        }
        let order = |place: &Place| if let Place::Along { axis, .. } = place { Some(*axis) } else { None };
        let axes: Vec<usize> = places.iter().filter_map(order).collect();
        let perm: Option<Vec<usize>> = (0..axes.len()).map(|a| axes.iter().position(|x| *x == a)).collect();
        array.permute(&perm?)
    }

    /// The view whose dimension `k` is this one's dimension `perm[k]`.
    pub fn permute(&self, perm: &[usize]) -> Option<Array> {
        let mut array = self.clone();
        array.shape = perm.iter().map(|p| self.shape.get(*p).cloned()).collect::<Option<_>>()?;
        for place in &mut array.places {
            if let Place::Along { axis, .. } = place {
                *axis = perm.iter().position(|p| p == axis)?;
            }
        }
        Some(array)
    }
}
