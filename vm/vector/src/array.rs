//! Arrays: views of stores, with a step from row to row of the group.

use crate::body::{Run, Value, failed};
use crate::column::Column;
use crate::loops;
use galopvm_base::{Bits, ElemType, element};
use galopvm_kir::{Refusal, RunError};
use galopvm_lmad::{Dim, Dims, Lmad, transfer};
use std::cell::RefCell;
use std::rc::Rc;

/// Bytes of an array that is made here at most: nobody counts them among those of the program.
const MOST: usize = 128 << 20;

/// Memory of an array.
pub(crate) enum Store<'a> {
    /// What a launch gave to read.
    Given(&'a [u8]),
    /// Where a result of the launch goes.
    Result(&'a mut [u8]),
    /// Made here.
    Own(Room),
}

/// Bytes of an array that is made here, left for the next one of the thread. What is in them at first is unspecified.
pub(crate) struct Room {
    bytes: Vec<u8>,
    used: usize,
}

/// Rooms that are left, and the bytes that one of them has at most.
const MOST_LEFT: usize = 8;
const MOST_BYTES_LEFT: usize = 4 << 20;

thread_local! {
    static LEFT: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

impl Room {
    /// So many bytes, if there is memory for them.
    fn new(used: usize) -> Option<Room> {
        let left = LEFT.with(|left| {
            let mut left = left.borrow_mut();
            let at = left.iter().position(|bytes| bytes.len() >= used)?;
            Some(left.swap_remove(at))
        });
        if let Some(bytes) = left {
            return Some(Room { bytes, used });
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(used).ok()?;
        bytes.resize(used, 0);
        Some(Room { bytes, used })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes.len() <= MOST_BYTES_LEFT {
            // At the end of the thread there is no list any more.
            let _ = LEFT.try_with(|left| {
                let mut left = left.borrow_mut();
                if left.len() == MOST_LEFT {
                    left.remove(0);
                }
                left.push(bytes);
            });
        }
    }
}

impl Store<'_> {
    /// So many bytes.
    pub fn own<'a>(bytes: usize) -> Result<Store<'a>, RunError> {
        let room = Some(bytes).filter(|bytes| *bytes <= MOST).and_then(Room::new);
        let too_large =
            || RunError::TooLarge(Refusal::new(format!("an array on the way takes {bytes} bytes")));
        room.map(Store::Own).ok_or_else(too_large)
    }

    /// Whether a launch gave it to read.
    pub fn is_given(&self) -> bool {
        matches!(self, Store::Given(_))
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Store::Given(bytes) => bytes,
            Store::Result(bytes) => bytes,
            Store::Own(room) => &room.bytes[..room.used],
        }
    }

    /// The bytes to change; none if they are somebody else's.
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match self {
            Store::Given(_) => None,
            Store::Result(bytes) => Some(bytes),
            Store::Own(room) => Some(&mut room.bytes[..room.used]),
        }
    }
}

/// How far apart the arrays of neighbouring rows lie.
#[derive(Clone)]
pub(crate) enum Across<'a> {
    /// It is one array for all rows.
    Same,
    /// So many elements.
    Stride(i64),
    /// The distance of each row from the place that the view says, as `i64`.
    Each(Column<'a>),
}

impl Across<'_> {
    pub fn distance(&self, row: usize) -> i64 {
        match self {
            Across::Same => 0,
            Across::Stride(stride) => (row as i64).wrapping_mul(*stride),
            Across::Each(each) => each.int(row),
        }
    }

    /// Whether it is one array for all rows.
    pub fn is_same(&self) -> bool {
        matches!(self, Across::Same)
    }
}

/// An array for each row of a group: all have the same extents.
#[derive(Clone)]
pub(crate) struct Array<'a> {
    pub store: Rc<Store<'a>>,
    pub elem: ElemType,
    /// The view of the first row's array.
    pub view: Lmad,
    pub across: Across<'a>,
}

/// An array that is being made.
pub(crate) struct Made<'a> {
    pub store: Store<'a>,
    pub elem: ElemType,
    pub view: Lmad,
    pub across: Across<'a>,
    /// It lies where a result of the region goes, and no step reads it.
    pub is_delivered: bool,
}

impl<'a> Made<'a> {
    /// As a value: nobody else has it.
    pub fn value(self) -> Value<'a> {
        match self.is_delivered {
            true => Value::Delivered,
            false => Value::Array(Rc::new(self.finish())),
        }
    }

    /// Nobody else has it.
    pub fn finish(self) -> Array<'a> {
        Array { store: Rc::new(self.store), elem: self.elem, view: self.view, across: self.across }
    }
}

/// Whether two views are of the same elements, row by row.
pub(crate) fn is_same_array(a: &Array<'_>, b: &Array<'_>) -> bool {
    let across = match (&a.across, &b.across) {
        (Across::Same, Across::Same) => true,
        (Across::Stride(a), Across::Stride(b)) => a == b,
        _ => false,
    };
    across && Rc::ptr_eq(&a.store, &b.store) && a.view == b.view
}

/// A place of memory for each row: what a view without dimensions says.
pub(crate) struct Place<'p, 'a> {
    pub offset: i64,
    pub across: &'p Across<'a>,
}

impl Place<'_, '_> {
    pub fn of(&self, row: usize) -> i64 {
        self.offset.wrapping_add(self.across.distance(row))
    }
}

/// Stores a column: one element for each row that counts.
pub(crate) fn write_column(
    bytes: &mut [u8],
    width: usize,
    place: &Place<'_, '_>,
    column: &[u8],
    mask: Option<&[u8]>,
) {
    if let (Across::Stride(1), None) = (place.across, mask) {
        let from = (place.offset as usize).saturating_mul(width);
        if let Some(target) = bytes.get_mut(from..from.wrapping_add(column.len())) {
            target.copy_from_slice(column);
        }
        return;
    }
    match width {
        1 => write_each::<1>(bytes, place, column, mask),
        2 => write_each::<2>(bytes, place, column, mask),
        4 => write_each::<4>(bytes, place, column, mask),
        _ => write_each::<8>(bytes, place, column, mask),
    }
}

fn write_each<const W: usize>(bytes: &mut [u8], place: &Place<'_, '_>, column: &[u8], mask: Option<&[u8]>) {
    let elements = bytes.as_chunks_mut::<W>().0;
    for (row, value) in column.as_chunks::<W>().0.iter().enumerate() {
        if mask.is_none_or(|mask| mask[row] != 0)
            && let Some(element) = elements.get_mut(place.of(row) as usize)
        {
            *element = *value;
        }
    }
}

/// Stores one value in the rows that count; in one place if all rows have the same.
pub(crate) fn write_one(
    bytes: &mut [u8],
    width: usize,
    place: &Place<'_, '_>,
    bits: Bits,
    rows: usize,
    mask: Option<&[u8]>,
) {
    if let (Across::Stride(1), None) = (place.across, mask) {
        let from = (place.offset as usize).saturating_mul(width);
        if let Some(target) = bytes.get_mut(from..from.wrapping_add(rows * width)) {
            loops::splat(target, width, bits);
        }
        return;
    }
    let rows = if place.across.is_same() { 1 } else { rows };
    for row in (0..rows).filter(|row| mask.is_none_or(|mask| mask[*row] != 0)) {
        element::store(bytes, width, place.of(row), bits);
    }
}

/// Copies the elements of a view to another one of the same shape, which has no place twice.
pub(crate) fn copy_view(target: &mut [u8], to: &Lmad, source: &[u8], from: &Lmad, width: usize) -> Run<()> {
    let elements = |bytes: &[u8]| (bytes.len() / width) as i64;
    if to.shape() != from.shape() || !to.fits(elements(target)) || !from.fits(elements(source)) {
        return Err(failed("views that are not alike, or not in their blocks"));
    }
    transfer(target, to, source, from, width, &mut |_| Ok(())).map(drop)
}

/// Copies the arrays of the rows that count to places of the same shape.
pub(crate) fn copy_rows(
    target: &mut [u8],
    to: &Lmad,
    to_across: &Across<'_>,
    source: &Array<'_>,
    rows: usize,
    mask: Option<&[u8]>,
) -> Run<()> {
    let width = source.elem.bytes();
    let stride = |across: &Across<'_>| match across {
        Across::Same => Some(0),
        Across::Stride(stride) => Some(*stride),
        Across::Each(_) => None,
    };
    if to_across.is_same() {
        return copy_view(target, to, source.store.bytes(), &source.view, width);
    }
    if let (Some(a), Some(b), None) = (stride(&source.across), stride(to_across), mask) {
        let with_rows = |view: &Lmad, stride: i64| {
            let mut view = view.clone();
            view.dims.push(Dim::new(rows as i64, stride));
            view
        };
        let (to, from) = (with_rows(to, b), with_rows(&source.view, a));
        return copy_view(target, &to, source.store.bytes(), &from, width);
    }
    for row in (0..rows).filter(|row| mask.is_none_or(|mask| mask[*row] != 0)) {
        let to = to.shift(to_across.distance(row));
        let from = source.view.shift(source.across.distance(row));
        copy_view(target, &to, source.store.bytes(), &from, width)?;
    }
    Ok(())
}

/// The dimensions of a row-major array whose elements lie `apart` from each other.
pub(crate) fn dense(shape: &[i64], apart: i64) -> Dims {
    let mut view = Lmad::row_major(shape);
    view.dims.iter_mut().for_each(|dim| dim.stride = dim.stride.saturating_mul(apart));
    view.dims
}
