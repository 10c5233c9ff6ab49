//! Arrays between Python and the machine, without a copy.
//!
//! Python's arrays show where they lie by `__array_struct__`, a structure in C that NumPy defined and others offer as well: address,
//! extents and strides in bytes. The capsule that holds it keeps the array alive, so it is the owner of the memory that is lent. What a program
//! makes is shown in the same way, by an object that holds its block.
#![allow(unsafe_code)]

use galopvm::{Array, Block, ElemType};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

/// `PyArrayInterface` of NumPy.
#[repr(C)]
struct Interface {
    /// Always 2, so that a wrong structure is noticed.
    two: c_int,
    dimensions: c_int,
    kind: c_char,
    width: c_int,
    flags: c_int,
    shape: *mut isize,
    strides: *mut isize,
    data: *mut c_void,
    description: *mut c_void,
}

const C_CONTIGUOUS: c_int = 1;
const ALIGNED: c_int = 0x100;
const NATIVE_ORDER: c_int = 0x200;
const WRITEABLE: c_int = 0x400;

/// The kind of element types in NumPy's letters, and their bytes.
fn kind_of(ty: ElemType) -> (u8, usize) {
    use ElemType::{Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let kind = match ty {
        I8 | I16 | I32 | I64 => b'i',
        U8 | U16 | U32 | U64 => b'u',
        F16 | F32 | F64 => b'f',
        Bool => b'b',
    };
    (kind, ty.bytes())
}

/// How an array of Python lies in memory.
pub struct Shown {
    /// Nothing for elements that no program has.
    pub elem: Option<ElemType>,
    pub shape: Vec<i64>,
    /// In bytes.
    strides: Vec<i64>,
    data: *const u8,
    capsule: Py<PyAny>,
}

/// Memory of an array of Python, which is only read.
struct Lent {
    first: *const u8,
    bytes: usize,
    /// Keeps the array.
    _capsule: Py<PyAny>,
}

// SAFETY: the memory is only read, wherever that happens; the capsule is only dropped, which waits for Python's lock.
unsafe impl Send for Lent {}
// SAFETY: as above.
unsafe impl Sync for Lent {}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: these are the bytes from the lowest element of an array that exists to its highest: the capsule keeps it, and
        // an array that is held keeps its memory. Another thread of Python that writes to it at the same time changes numbers: as with
        // a mapped file, no check relies on two looks at the same byte being alike.
        unsafe { std::slice::from_raw_parts(self.first, self.bytes) }
    }
}

/// Where an object of Python has its elements, if it shows that.
pub fn shown(object: &Bound<'_, PyAny>) -> PyResult<Option<Shown>> {
    let Some(capsule) = object.getattr_opt(pyo3::intern!(object.py(), "__array_struct__"))? else {
        return Ok(None);
    };
    let Ok(capsule) = capsule.cast_into::<PyCapsule>() else { return Ok(None) };
    let interface = capsule.pointer_checked(None)?.cast::<Interface>();
    // SAFETY: by its definition, `__array_struct__` gives a capsule without a name that points to this structure, and lives as long.
    let interface = unsafe { interface.as_ref() };
    let rank = usize::try_from(interface.dimensions).unwrap_or(0);
    if interface.two != 2 || rank > 0 && (interface.shape.is_null() || interface.strides.is_null()) {
        return Ok(None);
    }
    let numbers = |first: *mut isize| -> Vec<i64> {
        // SAFETY: the structure has as many extents and strides as it says dimensions, and they were looked at.
        (0..rank).map(|k| unsafe { *first.add(k) } as i64).collect()
    };
    let wanted = (interface.kind as u8, interface.width as usize);
    let is_native = interface.flags & NATIVE_ORDER != 0;
    let elem = ElemType::ALL.into_iter().find(|ty| is_native && kind_of(*ty) == wanted);
    Ok(Some(Shown {
        elem,
        shape: numbers(interface.shape),
        strides: numbers(interface.strides),
        data: interface.data.cast_const().cast(),
        capsule: capsule.into_any().unbind(),
    }))
}

impl Shown {
    /// The array of the machine over the same memory; nothing if its strides are no whole elements.
    pub fn lend(self) -> PyResult<Option<Array>> {
        let Some(elem) = self.elem else { return Ok(None) };
        let width = elem.bytes() as i64;
        let is_used = |k: usize| self.shape[k] > 1;
        if (0..self.shape.len()).any(|k| is_used(k) && self.strides[k] % width != 0) {
            return Ok(None);
        }
        let strides: Vec<i64> =
            (0..self.shape.len()).map(|k| if is_used(k) { self.strides[k] / width } else { 1 }).collect();
        let is_empty = self.shape.contains(&0);
        let reach = |below: bool| -> i64 {
            let last = self.shape.iter().zip(&strides).map(|(extent, stride)| (extent - 1) * stride);
            last.filter(|last| (*last < 0) == below).sum()
        };
        let (low, high) = if is_empty { (0, -1) } else { (reach(true), reach(false)) };
        let bytes = ((high - low + 1) * width) as usize;
        let first = match is_empty {
            true => std::ptr::NonNull::<u8>::dangling().as_ptr().cast_const(),
            false => self.data.wrapping_offset((low * width) as isize),
        };
        let lent = Lent { first, bytes, _capsule: self.capsule };
        let block = Block::foreign(Arc::new(lent), 0..bytes);
        let array = block.map(|block| Array::view_of(block, elem, -low, &self.shape, &strides));
        match array {
            Some(Ok(array)) => Ok(Some(array)),
            Some(Err(trap)) => Err(PyValueError::new_err(trap.message)),
            None => Ok(None),
        }
    }
}

/// An array of a program where Python can see it.
#[pyclass(frozen, module = "galopvm")]
pub struct Held {
    array: Array,
    /// The element at index 0.
    data: *mut u8,
    /// Nobody else has the memory: whoever has this may write it.
    is_writeable: bool,
}

// SAFETY: the address is one of memory that the array keeps, and is only handed to Python.
unsafe impl Send for Held {}
// SAFETY: as above.
unsafe impl Sync for Held {}

impl Held {
    /// Takes an array, if its elements are still there. What nobody else holds becomes Python's to write, unless one place is several
    /// elements.
    pub fn new(mut array: Array) -> Option<Held> {
        let read = array.first_element().cast_mut();
        if !array.block().is_intact() {
            return None;
        }
        let is_writeable = array.is_writable();
        let place = array.first_element() as usize - array.block().bytes().as_ptr() as usize;
        let bytes = array.block_mut().bytes_mut().filter(|_| is_writeable);
        let data = bytes.map_or(read, |bytes| bytes.as_mut_ptr().wrapping_add(place));
        Some(Held { is_writeable, data, array })
    }

    fn strides(&self) -> Vec<isize> {
        self.array
            .strides()
            .iter()
            .map(|stride| *stride as isize * self.array.elem().bytes() as isize)
            .collect()
    }
}

/// A structure with what it points to.
#[repr(C)]
struct Described {
    interface: Interface,
    shape: Vec<isize>,
    strides: Vec<isize>,
    /// Keeps the memory.
    _held: Py<Held>,
}

// SAFETY: the addresses are those of the vectors beside them and of the memory that is kept, and are only handed to Python.
unsafe impl Send for Described {}

#[pymethods]
impl Held {
    /// Where the elements are, as NumPy's structure in C.
    #[getter]
    fn __array_struct__<'py>(held: &Bound<'py, Held>) -> PyResult<Bound<'py, PyCapsule>> {
        let own = held.get();
        let (kind, width) = kind_of(own.array.elem());
        let shape: Vec<isize> = own.array.shape().iter().map(|extent| *extent as isize).collect();
        let strides = own.strides();
        let mut flags = ALIGNED | NATIVE_ORDER;
        flags |= if own.is_writeable { WRITEABLE } else { 0 };
        flags |= if own.array.row_major_bytes().is_some() { C_CONTIGUOUS } else { 0 };
        let interface = Interface {
            two: 2,
            dimensions: shape.len() as c_int,
            kind: kind as c_char,
            width: width as c_int,
            flags,
            // Vectors keep their places when they move.
            shape: shape.as_ptr().cast_mut(),
            strides: strides.as_ptr().cast_mut(),
            data: own.data.cast(),
            description: std::ptr::null_mut(),
        };
        let described = Described { interface, shape, strides, _held: held.clone().unbind() };
        PyCapsule::new_with_destructor(held.py(), described, None, |described, _| {
            drop((described.shape, described.strides));
        })
    }

    /// Where the elements are, as a dictionary.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (kind, width) = kind_of(self.array.elem());
        let order = if width == 1 { '|' } else { '<' };
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("typestr", format!("{order}{}{width}", char::from(kind)))?;
        interface.set_item("shape", PyTuple::new(py, self.array.shape())?)?;
        interface.set_item("strides", PyTuple::new(py, self.strides())?)?;
        interface.set_item("data", (self.data as usize, !self.is_writeable))?;
        Ok(interface)
    }

    fn __repr__(&self) -> String {
        format!("<galopvm memory of {} elements of {}>", self.array.elements(), self.array.elem())
    }
}
