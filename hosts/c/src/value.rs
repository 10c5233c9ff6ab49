//! Values: scalars, arrays, and groups of these.

use crate::boundary::{Out, OutHandle, export, given, places, values};
use crate::lent::{Release, Stretch};
use crate::session::Session;
use crate::status::Failure;
use galopvm::{Array, Block, ElemType, EntryValue, FromValue, f16, scalar};
use smallvec::{SmallVec, smallvec};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

/// Greatest number of dimensions of an array.
const MOST_DIMENSIONS: usize = 255;

/// A value of the source language: a scalar or array, or the several that a tuple, record or sum is made of.
#[derive(Clone)]
pub struct Value {
    values: Parts,
    /// Extents and strides of an array, where C can look at them. Of several, those of the first.
    shape: Numbers,
    strides: Numbers,
}

/// The values that one of the source language is made of; mostly there is one.
pub(crate) type Parts = SmallVec<[galopvm::Value; 1]>;

/// A number for each dimension.
type Numbers = SmallVec<[i64; 4]>;

impl Value {
    /// A handle for a value of these parts.
    pub(crate) fn handle(values: impl IntoIterator<Item = galopvm::Value>) -> Box<Value> {
        // The parts go where they stay: they are too large to be moved for nothing.
        let mut value =
            Box::new(Value { values: Parts::new(), shape: Numbers::new(), strides: Numbers::new() });
        value.values.extend(values);
        value.look();
        value
    }

    /// Looks at the extents and strides.
    fn look(&mut self) {
        let array = self.values.first().and_then(galopvm::Value::as_array);
        self.shape = array.map_or(Numbers::new(), Array::shape);
        self.strides = array.map_or(Numbers::new(), Array::strides);
    }

    /// Changes the parts. They stay values of their types, also where that fails.
    pub(crate) fn change(
        &mut self,
        change: impl FnOnce(&mut Parts) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let outcome = change(&mut self.values);
        self.look();
        outcome
    }

    fn is_single(&self) -> bool {
        self.values.len() == 1
    }

    pub(crate) fn values(&self) -> &[galopvm::Value] {
        &self.values
    }

    pub(crate) fn into_values(self) -> Parts {
        self.values
    }

    /// The error if the value has not as many parts as a parameter.
    pub(crate) fn check_parts(&self, number: usize, param: &EntryValue) -> Result<(), Failure> {
        if self.values.len() == param.values as usize {
            return Ok(());
        }
        let EntryValue { name, ty, values } = param;
        let given = self.values.len();
        Err(Failure::ty(format!("Argument {} (`{name}`) has {given} parts; {ty} has {values}.", number + 1)))
    }

    fn single(&self) -> Result<&galopvm::Value, Failure> {
        match &self.values[..] {
            [value] => Ok(value),
            parts => {
                Err(Failure::ty(format!("The value has {} parts, of which one is to be taken.", parts.len())))
            }
        }
    }

    fn array(&self) -> Result<&Array, Failure> {
        let value = self.single()?;
        value.as_array().ok_or_else(|| Failure::ty(format!("The value is a {}, not an array.", value.ty())))
    }
}

/// An element type from C.
fn elem_type(number: u32) -> Result<ElemType, Failure> {
    let ty = ElemType::ALL.into_iter().find(|ty| *ty as u32 == number);
    ty.ok_or_else(|| Failure::argument(format!("There is no element type {number}.")))
}

/// How an array from C lies in memory.
struct Form<'a> {
    elem: ElemType,
    shape: &'a [i64],
    strides: Numbers,
}

impl Form<'_> {
    fn new<'a>(elem: u32, rank: usize, shape: *const i64, strides: *const i64) -> Result<Form<'a>, Failure> {
        if rank == 0 || rank > MOST_DIMENSIONS {
            return Err(Failure::argument(format!(
                "Arrays have 1 to {MOST_DIMENSIONS} dimensions, not {rank}."
            )));
        }
        let shape = values(shape, rank, "shape")?;
        if shape.iter().any(|extent| *extent < 0) {
            return Err(Failure::argument(format!("The extents {shape:?} are not all 0 or more.")));
        }
        let strides = match strides.is_null() {
            false => Numbers::from_slice(values(strides, rank, "strides")?),
            true => row_major(shape)?,
        };
        Ok(Form { elem: elem_type(elem)?, shape, strides })
    }

    /// The memory that the array takes around its first element, and the number of that element in it.
    fn stretch(&self, first: *mut c_void) -> Result<(Stretch, i64), Failure> {
        let too_large = || Failure::argument("The array reaches further than memory does.");
        if self.shape.contains(&0) {
            return Ok((Stretch::new(ptr::null_mut(), 0), 0));
        }
        if first.is_null() {
            return Err(Failure::argument("`data` is NULL."));
        }
        let (mut low, mut high) = (0i64, 0i64);
        for (extent, stride) in self.shape.iter().zip(&self.strides) {
            let reach = (extent - 1).checked_mul(*stride).ok_or_else(too_large)?;
            low = low.checked_add(reach.min(0)).ok_or_else(too_large)?;
            high = high.checked_add(reach.max(0)).ok_or_else(too_large)?;
        }
        let elements = high.checked_sub(low).and_then(|n| n.checked_add(1)).ok_or_else(too_large)?;
        let width = self.elem.bytes();
        let bytes =
            usize::try_from(elements).ok().and_then(|n| n.checked_mul(width)).ok_or_else(too_large)?;
        if bytes > isize::MAX as usize {
            return Err(too_large());
        }
        let start = first.cast::<u8>().wrapping_offset(low as isize * width as isize);
        Ok((Stretch::new(start, bytes), -low))
    }
}

/// The strides of an array whose elements lie one after the other.
fn row_major(shape: &[i64]) -> Result<Numbers, Failure> {
    let mut strides: Numbers = smallvec![1; shape.len()];
    for dim in (1..shape.len()).rev() {
        let rows = strides[dim].checked_mul(shape[dim].max(1));
        strides[dim - 1] =
            rows.ok_or_else(|| Failure::argument(format!("The shape {shape:?} is too large.")))?;
    }
    Ok(strides)
}

/// The error of an array that its memory does not make.
fn of_trap(error: impl std::fmt::Display) -> Failure {
    Failure::argument(error.to_string())
}

fn lent(form: &Form<'_>, stretch: Stretch, first: i64) -> Result<Array, Failure> {
    let bytes = stretch.as_ref().len();
    let block = Block::foreign(Arc::new(stretch), 0..bytes)
        .ok_or_else(|| Failure::argument("`data` is no memory."))?;
    Array::view_of(block, form.elem, first, form.shape, &form.strides).map_err(of_trap)
}

/// An array of a host's memory, of which `make` makes a value. The memory is released by the host's function from the moment on that
/// nothing can fail any more.
fn host_array(
    form: Form<'_>,
    data: *mut c_void,
    release: Release,
    context: *mut c_void,
    out: OutHandle<'_, Value>,
    make: impl FnOnce(&Form<'_>, Stretch, i64) -> Result<Array, Failure>,
) -> Result<(), Failure> {
    let out = given(out, "out")?;
    let (stretch, first) = form.stretch(data)?;
    if release.is_some() {
        // Whatever is wrong is found before the memory is the library's to release.
        lent(&form, stretch.unreleased(), first)?;
    }
    let array = make(&form, stretch.released_by(release, context), first)?;
    out.write(Some(Value::handle([array.into()])));
    Ok(())
}

export! {
    /// An array of elements in row-major order, which are copied into the session's memory.
    fn galopvm_value_array_copy(
        session: Option<&Session>,
        elem: u32,
        data: *const c_void,
        rank: usize,
        shape: *const i64,
        out: OutHandle<'_, Value>,
    ) -> Status {
        let (session, out) = (given(session, "session")?, given(out, "out")?);
        let form = Form::new(elem, rank, shape, ptr::null())?;
        let (stretch, first) = form.stretch(data.cast_mut())?;
        let copy = lent(&form, stretch, first)?.copy(session.memory()).map_err(|trap| Failure::from(galopvm::Error::Run(trap.into())))?;
        out.write(Some(Value::handle([copy.into()])));
    }

    /// An array of elements that lie in the host's memory and are only read. `data` is the element at index 0; strides are in elements,
    /// `NULL` for row-major order. `release` is called once, when the memory is needed no more, unless this fails.
    fn galopvm_value_array_borrow(
        elem: u32,
        data: *const c_void,
        rank: usize,
        shape: *const i64,
        strides: *const i64,
        release: Release,
        context: *mut c_void,
        out: OutHandle<'_, Value>,
    ) -> Status {
        let form = Form::new(elem, rank, shape, strides)?;
        host_array(form, data.cast_mut(), release, context, out, lent)?;
    }

    /// An array whose memory the host gives up: it may be written, and is the library's alone until `release` is called, once,
    /// unless this fails. Otherwise as `galopvm_value_array_borrow`.
    fn galopvm_value_array_give(
        elem: u32,
        data: *mut c_void,
        rank: usize,
        shape: *const i64,
        strides: *const i64,
        release: Release,
        context: *mut c_void,
        out: OutHandle<'_, Value>,
    ) -> Status {
        let form = Form::new(elem, rank, shape, strides)?;
        host_array(form, data, release, context, out, |form, stretch, first| {
            Array::given_view(Box::new(stretch), form.elem, first, form.shape, &form.strides).map_err(of_trap)
        })?;
    }

    /// One value of several: what a tuple, a record or a sum is made of, in the order of the source.
    fn galopvm_value_group(parts: *const Option<&Value>, count: usize, out: OutHandle<'_, Value>) -> Status {
        let mut all = Vec::new();
        for part in values(parts, count, "parts")? {
            all.extend(given(part.as_ref(), "parts")?.values.iter().cloned());
        }
        given(out, "out")?.write(Some(Value::handle(all)));
    }

    /// A part of a value as a value of its own; the memory is shared.
    fn galopvm_value_part(value: Option<&Value>, number: usize, out: OutHandle<'_, Value>) -> Status {
        let parts = &given(value, "value")?.values;
        let part = parts.get(number).cloned();
        let part = part.ok_or_else(|| Failure::argument(format!("The value has {} parts.", parts.len())))?;
        given(out, "out")?.write(Some(Value::handle([part])));
    }

    /// A further handle for a value; the memory is shared.
    fn galopvm_value_clone(value: Option<&Value>, out: OutHandle<'_, Value>) -> Status {
        let value = given(value, "value")?.clone();
        given(out, "out")?.write(Some(Box::new(value)));
    }

    /// The element type of a scalar or array.
    fn galopvm_value_type(value: Option<&Value>, out: Out<'_, u32>) -> Status {
        let elem = given(value, "value")?.single()?.elem();
        given(out, "out")?.write(elem as u32);
    }

    /// Copies the elements of an array into the host's memory, in row-major order.
    fn galopvm_value_read(value: Option<&Value>, data: *mut c_void, bytes: usize) -> Status {
        let array = given(value, "value")?.array()?;
        let width = array.elem().bytes();
        let wanted = usize::try_from(array.elements()).unwrap_or(usize::MAX).saturating_mul(width);
        if bytes != wanted {
            return Err(Failure::argument(format!("The array has {wanted} bytes, not {bytes}.")));
        }
        let places = places(data.cast::<u8>(), bytes, "data")?;
        match array.row_major_bytes() {
            Some(elements) => places.iter_mut().zip(elements).for_each(|(place, byte)| { place.write(*byte); }),
            None => for (place, bits) in places.chunks_exact_mut(width).zip(array.iter_bits()) {
                place.iter_mut().zip(bits.to_le_bytes()).for_each(|(place, byte)| { place.write(byte); });
            },
        }
        if !array.block().is_intact() {
            return Err(Failure::gone());
        }
    }

    /// Frees a value; its memory goes when nobody else holds it.
    fn galopvm_value_free(value: Option<Box<Value>>) -> Status {
        drop(value);
    }
}

export! {
    /// How many parts a value has: 1 for a scalar or array, more for a tuple, record or sum; 0 for `NULL`.
    fn galopvm_value_parts(value: Option<&Value>) -> usize {
        value.map_or(0, |value| value.values.len())
    } else 0;

    /// Number of dimensions: 0 for what is no array.
    fn galopvm_value_rank(value: Option<&Value>) -> usize {
        value.filter(|value| value.is_single()).map_or(0, |value| value.shape.len())
    } else 0;

    /// The extents, as many as there are dimensions; `NULL` for what is no array. They live as long as the value.
    fn galopvm_value_shape(value: Option<&Value>) -> *const i64 {
        value
            .filter(|value| value.is_single() && !value.shape.is_empty())
            .map_or(ptr::null(), |value| value.shape.as_ptr())
    } else ptr::null();

    /// The extents of the first part of a value: of an array of tuples or records, those of the array come first. They live as long as the value.
    fn galopvm_value_outer_shape(value: Option<&Value>) -> *const i64 {
        value.filter(|value| !value.shape.is_empty()).map_or(ptr::null(), |value| value.shape.as_ptr())
    } else ptr::null();

    /// The distances between neighbours in each dimension, in elements; `NULL` for what is no array. They live as long as the value.
    fn galopvm_value_strides(value: Option<&Value>) -> *const i64 {
        value
            .filter(|value| value.is_single() && !value.strides.is_empty())
            .map_or(ptr::null(), |value| value.strides.as_ptr())
    } else ptr::null();

    /// Where the element at index 0 is; `NULL` for what is no array, or one whose elements are gone. Elements are only read, and live as long as the value.
    fn galopvm_value_data(value: Option<&Value>) -> *const c_void {
        value
            .and_then(|value| value.array().ok())
            .map(|array| (array.first_element(), array.block().is_intact()))
            .filter(|(_, is_intact)| *is_intact)
            .map_or(ptr::null(), |(first, _)| first.cast())
    } else ptr::null();

    /// Whether the elements of an array lie one after the other in row-major order.
    fn galopvm_value_is_row_major(value: Option<&Value>) -> bool {
        value.and_then(|value| value.array().ok()).is_some_and(|array| array.row_major_bytes().is_some())
    } else false;

    /// Whether an array lies in memory that a host lent.
    fn galopvm_value_is_borrowed(value: Option<&Value>) -> bool {
        value.and_then(|value| value.array().ok()).is_some_and(|array| array.block().is_foreign())
    } else false;
}

fn get<T: FromValue>(value: Option<&Value>, out: Out<'_, T>) -> Result<(), Failure> {
    let found = T::from_value(given(value, "value")?.single()?.clone())?;
    given(out, "out")?.write(found);
    Ok(())
}

macro_rules! scalars {
    ($($ty:ty, $new:ident, $get:ident;)+) => {
        export! {$(
            /// A scalar.
            fn $new(value: $ty, out: OutHandle<'_, Value>) -> Status {
                given(out, "out")?.write(Some(Value::handle([galopvm::Value::Scalar(scalar(value))])));
            }

            /// The number or truth value that a value is, if it has this type.
            fn $get(value: Option<&Value>, out: Out<'_, $ty>) -> Status {
                get(value, out)?;
            }
        )+}
    };
}

scalars! {
    i8, galopvm_value_i8, galopvm_value_get_i8;
    i16, galopvm_value_i16, galopvm_value_get_i16;
    i32, galopvm_value_i32, galopvm_value_get_i32;
    i64, galopvm_value_i64, galopvm_value_get_i64;
    u8, galopvm_value_u8, galopvm_value_get_u8;
    u16, galopvm_value_u16, galopvm_value_get_u16;
    u32, galopvm_value_u32, galopvm_value_get_u32;
    u64, galopvm_value_u64, galopvm_value_get_u64;
    f32, galopvm_value_f32, galopvm_value_get_f32;
    f64, galopvm_value_f64, galopvm_value_get_f64;
    bool, galopvm_value_bool, galopvm_value_get_bool;
}

export! {
    /// A half from its bits.
    fn galopvm_value_f16(bits: u16, out: OutHandle<'_, Value>) -> Status {
        given(out, "out")?.write(Some(Value::handle([galopvm::Value::Scalar(scalar(f16::from_bits(bits)))])));
    }

    /// The bits of a half.
    fn galopvm_value_get_f16(value: Option<&Value>, out: Out<'_, u16>) -> Status {
        let found = f16::from_value(given(value, "value")?.single()?.clone())?;
        given(out, "out")?.write(found.to_bits());
    }
}
