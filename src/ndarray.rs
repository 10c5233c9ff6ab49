//! Arrays of the crate `ndarray`, with the feature `ndarray`: arguments and results of any rank.
//!
//! | a host has | the argument | copied |
//! |---|---|---|
//! | `Array<T, D>` | itself | never; a call that consumes it writes in it |
//! | `ArcArray<T, D>` | itself, or a clone | if it is consumed; at once if there are gaps between its elements |
//! | views, references | themselves | at once |
//!
//! Strides are kept: a transposed array goes in as it lies. A result is an `Array<T, D>`, which has the program's memory if it
//! is all of a vector that was given, else a copy of it; or it stays where the program made it, as [`Held`].
//!
//! ```
//! use galopvm::{Engine, Program, ndarray::Held};
//! use ndarray::{Array1, Array2, Ix2, array};
//!
//! fn main() -> Result<(), galopvm::Error> {
//!     let program = Program::from_source(
//!         "rows.fut",
//!         "entry means [n][m] (xs: [n][m]f64): [n]f64 = map (\\row -> f64.sum row / f64.i64 m) xs
//!          entry half [n][m] (xs: [n][m]f64): [n][m]f64 = map (map (/ 2)) xs",
//!     )?;
//!     let mut session = Engine::new().session(&program);
//!     let xs: Array2<f64> = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
//!
//!     let columns: Array1<f64> = session.call("means", (xs.t(),))?;
//!     assert_eq!(columns, array![3.0, 4.0]);
//!
//!     let half: Held<f64, Ix2> = session.call("half", (xs,))?;
//!     assert_eq!(half.view()?.row(1), array![1.5, 2.0]);
//!     Ok(())
//! }
//! ```

use crate::convert::{FromValue, IntoValue, scalar};
use crate::error::{Error, gone, of_trap};
use crate::types::Type;
use ::ndarray::{
    ArcArray, Array as Elements, ArrayBase, ArrayView, Data, Dimension, IxDyn, OwnedRepr, ShapeError,
    ViewRepr,
};
use galopvm_runtime::{Array, Element, Memory, Value};
use std::marker::PhantomData;

/// The type of arrays of a rank; not known before there is one, if its rank is not.
fn type_of<T: Element, D: Dimension>() -> Type {
    D::NDIM.map_or(Type::Any, |rank| match rank {
        0 => Type::Scalar(T::TYPE),
        _ => Type::array(&vec![0; rank], Type::Scalar(T::TYPE)),
    })
}

/// Extents as the machine counts them.
fn extents(shape: &[usize]) -> Vec<i64> {
    shape.iter().map(|extent| i64::try_from(*extent).unwrap_or(i64::MAX)).collect()
}

/// Distances as the machine counts them.
fn distances(strides: &[isize]) -> Vec<i64> {
    strides.iter().map(|stride| *stride as i64).collect()
}

/// The number of the first element among those that lie together, if so many are there: where a distance is negative, it lies behind others.
fn first_of(shape: &[i64], strides: &[i64]) -> i64 {
    let behind = |(extent, stride): (&i64, &i64)| (extent - 1).max(0) * (-stride).max(0);
    shape.iter().zip(strides).map(behind).sum()
}

impl<T: Element, D: Dimension> IntoValue for ArrayBase<OwnedRepr<T>, D, T> {
    fn value_type() -> Type {
        type_of::<T, D>()
    }

    fn into_value(self, _: &Memory) -> Result<Value, Error> {
        let (shape, strides) = (extents(self.shape()), distances(self.strides()));
        let (elements, first) = self.into_raw_vec_and_offset();
        let first = first.unwrap_or(0);
        if shape.is_empty() {
            let element = elements.into_iter().nth(first);
            return element.map(|element| Value::Scalar(scalar(element))).ok_or_else(no_element);
        }
        let array = Array::given_view(Box::new(elements), T::TYPE, first as i64, &shape, &strides);
        Ok(Value::Array(array.map_err(of_trap)?))
    }
}

/// What shows the elements of a shared array, in the order in which they lie.
struct Shared<T, D>(ArcArray<T, D>);

impl<T, D: Dimension> AsRef<[T]> for Shared<T, D> {
    fn as_ref(&self) -> &[T] {
        self.0.as_slice_memory_order().unwrap_or_default()
    }
}

impl<T: Element, D: Dimension + 'static> IntoValue for ArcArray<T, D> {
    fn value_type() -> Type {
        type_of::<T, D>()
    }

    fn into_value(self, memory: &Memory) -> Result<Value, Error> {
        if self.ndim() == 0 || self.as_slice_memory_order().is_none() {
            return copied(&self, memory);
        }
        let (shape, strides) = (extents(self.shape()), distances(self.strides()));
        let first = first_of(&shape, &strides);
        Ok(Value::Array(Array::lent_view::<T>(Shared(self), first, &shape, &strides).map_err(of_trap)?))
    }
}

impl<T: Element, D: Dimension> IntoValue for ArrayBase<ViewRepr<&T>, D, T> {
    fn value_type() -> Type {
        type_of::<T, D>()
    }

    fn into_value(self, memory: &Memory) -> Result<Value, Error> {
        copied(&self, memory)
    }
}

impl<S: Data<Elem = T>, T: Element, D: Dimension> IntoValue for &ArrayBase<S, D, T> {
    fn value_type() -> Type {
        type_of::<T, D>()
    }

    fn into_value(self, memory: &Memory) -> Result<Value, Error> {
        copied(self, memory)
    }
}

/// A copy of the elements.
fn copied<S: Data<Elem = T>, T: Element, D: Dimension>(
    elements: &ArrayBase<S, D, T>,
    memory: &Memory,
) -> Result<Value, Error> {
    let shape = extents(elements.shape());
    if shape.is_empty() {
        let element = elements.iter().next();
        return element.map(|element| Value::Scalar(scalar(*element))).ok_or_else(no_element);
    }
    let array = match elements.as_slice() {
        Some(elements) => Array::from_slice(memory, elements, &shape),
        None => Array::from_vec(elements.iter().copied().collect(), &shape),
    };
    Ok(Value::Array(array.map_err(of_trap)?))
}

fn no_element() -> Error {
    Error::Type("an array without dimensions has one element".into())
}

/// The value as an array of this element type and rank.
fn array_of<T: Element, D: Dimension>(value: Value) -> Result<Array, Error> {
    let found = value.ty();
    let fits = |array: &Array| array.elem() == T::TYPE && D::NDIM.is_none_or(|rank| rank == array.rank());
    let array = match value {
        // The only element of an array without dimensions.
        Value::Scalar(scalar) => {
            let mut bytes = scalar.bits.to_le_bytes().to_vec();
            bytes.truncate(scalar.ty.bytes());
            Array::given_view(Box::new(bytes), scalar.ty, 0, &[], &[]).map_err(of_trap)?
        }
        Value::Array(array) => array,
    };
    if fits(&array) {
        return Ok(array);
    }
    Err(Error::Type(match D::NDIM {
        None => format!("the value is a {found}, and no array of {} elements", T::TYPE),
        Some(_) => format!("the value is a {found}, not a {}", type_of::<T, D>()),
    }))
}

/// An array whose axes are those of another one, ordered by distances, so that its elements lie in row-major order if there are no gaps between
/// them; and which axis of it each axis of the other one is.
fn by_distance(array: Array) -> Result<(Array, Vec<usize>), Error> {
    let strides = array.strides();
    let mut order: Vec<usize> = (0..strides.len()).collect();
    order.sort_by_key(|axis| std::cmp::Reverse(strides[*axis]));
    let mut axes = vec![0; order.len()];
    for (place, axis) in order.iter().enumerate() {
        axes[*axis] = place;
    }
    Ok((array.permute(&order).map_err(of_trap)?, axes))
}

/// The extents of an array, which exist in memory.
fn counts(array: &Array) -> Vec<usize> {
    array.shape().iter().map(|extent| usize::try_from(*extent).unwrap_or(0)).collect()
}

/// What cannot be: `ndarray` refuses the shape that elements have.
fn refused(error: ShapeError) -> Error {
    Error::Type(format!("ndarray does not take the result: {error}"))
}

impl<T: Element, D: Dimension> FromValue for ArrayBase<OwnedRepr<T>, D, T> {
    fn value_type() -> Type {
        type_of::<T, D>()
    }

    fn from_value(value: Value) -> Result<Self, Error> {
        let (array, axes) = by_distance(array_of::<T, D>(value)?)?;
        let shape = counts(&array);
        let elements = array.into_vec::<T>().map_err(|_| gone())?;
        let elements = Elements::from_shape_vec(IxDyn(&shape), elements).map_err(refused)?;
        elements.permuted_axes(IxDyn(&axes)).into_dimensionality().map_err(refused)
    }
}

/// A result that stays where the program made it. Elements with gaps between them, as those of every other column of a matrix, and
/// those that lie backwards are copied when it is taken; transposed ones are not.
#[derive(Clone, Debug)]
pub struct Held<T, D> {
    /// Its elements are there, in row-major order.
    array: Array,
    /// Which axis of it each axis of the result is.
    axes: Vec<usize>,
    types: PhantomData<fn() -> (T, D)>,
}

impl<T: Element, D: Dimension> Held<T, D> {
    /// The elements where they are; an error only if they lie in a mapped file that was shortened meanwhile.
    pub fn view(&self) -> Result<ArrayView<'_, T, D>, Error> {
        let elements = self.array.as_slice::<T>().ok_or_else(gone)?;
        let view = ArrayView::from_shape(IxDyn(&counts(&self.array)), elements).map_err(refused)?;
        view.permuted_axes(IxDyn(&self.axes)).into_dimensionality().map_err(refused)
    }
}

impl<T: Element, D: Dimension> FromValue for Held<T, D> {
    fn value_type() -> Type {
        type_of::<T, D>()
    }

    fn from_value(value: Value) -> Result<Self, Error> {
        let (array, axes) = by_distance(array_of::<T, D>(value)?)?;
        let array = match array.as_slice::<T>() {
            Some(_) => array,
            None => {
                let shape = array.shape();
                Array::from_vec(array.to_vec::<T>().ok_or_else(gone)?, &shape).map_err(of_trap)?
            }
        };
        Ok(Held { array, axes, types: PhantomData })
    }
}

impl<T: Element, D: Dimension> IntoValue for Held<T, D> {
    fn value_type() -> Type {
        type_of::<T, D>()
    }

    fn into_value(self, _: &Memory) -> Result<Value, Error> {
        match (self.axes.is_empty(), self.array.get(&[])) {
            (true, Some(element)) => Ok(Value::Scalar(element)),
            _ => Ok(Value::Array(self.array.permute(&self.axes).map_err(of_trap)?)),
        }
    }
}

impl<T: Element, D: Dimension> IntoValue for &Held<T, D> {
    fn value_type() -> Type {
        type_of::<T, D>()
    }

    fn into_value(self, memory: &Memory) -> Result<Value, Error> {
        self.clone().into_value(memory)
    }
}
