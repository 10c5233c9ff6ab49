//! Arrays while a lane program runs: what it reads and what it makes, by number, and elements of all rows at once.

use galopvm_lmad::{Dim, Lmad};
use galopvm_store::array::{load, move_elements, store};
use galopvm_store::error::Trap;
use galopvm_store::memory::{Block, Exclusive, Memory, OutOfMemory};
use galopvm_vector::loops;

/// The memory of an array.
pub(super) enum Base<'v> {
    /// Nothing, or not here now.
    None,
    /// Only read by the program. Its bytes are looked at anew each time: a result may be stored in the same block
    /// between two groups.
    Shared(&'v Block),
    Own(Exclusive),
}

impl Base<'_> {
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Base::None => &[],
            Base::Shared(block) => block.bytes(),
            Base::Own(own) => own.bytes(),
        }
    }

    /// Nothing for what is only read.
    pub(super) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        match self {
            Base::None | Base::Shared(_) => None,
            Base::Own(own) => Some(own.bytes_mut()),
        }
    }
}

/// All arrays of a program.
pub(super) struct Bases<'v>(Vec<Base<'v>>);

impl<'v> Bases<'v> {
    pub(super) fn new(count: usize) -> Bases<'v> {
        Bases((0..count).map(|_| Base::None).collect())
    }

    pub(super) fn share(&mut self, base: usize, block: &'v Block) {
        self.0[base] = Base::Shared(block);
    }

    #[inline]
    pub(super) fn bytes(&self, base: usize) -> &[u8] {
        self.0[base].bytes()
    }

    /// Takes a base out, to be written while others are read.
    pub(super) fn take(&mut self, base: usize) -> Base<'v> {
        std::mem::replace(&mut self.0[base], Base::None)
    }

    pub(super) fn put(&mut self, base: usize, taken: Base<'v>) {
        self.0[base] = taken;
    }

    /// Makes a base one of the program's own with at least so many bytes.
    pub(super) fn reserve(&mut self, memory: &Memory, base: usize, bytes: usize) -> Result<(), OutOfMemory> {
        if matches!(&self.0[base], Base::Own(own) if own.bytes().len() >= bytes) {
            return Ok(());
        }
        self.0[base] = Base::None;
        if let Ok(own) = memory.block(bytes)?.exclusive() {
            self.0[base] = Base::Own(own);
        }
        Ok(())
    }
}

/// Where the arrays of rows lie.
#[derive(Clone, Copy)]
pub(super) enum Rows<'r> {
    Stride(i64),
    /// A column of distances from the first one, in elements.
    Each(&'r [u8]),
}

impl Rows<'_> {
    fn distance(self, row: usize) -> i64 {
        match self {
            Rows::Stride(stride) => (row as i64).wrapping_mul(stride),
            Rows::Each(each) => load(each, 8, row as i64) as i64,
        }
    }
}

/// Fills a lane register with the elements of all rows.
pub(super) fn read_rows(out: &mut [u8], bytes: &[u8], offset: i64, rows: Rows<'_>, width: usize) {
    match rows {
        Rows::Stride(1) => {
            let from = (offset as usize).wrapping_mul(width);
            match bytes.get(from..from.wrapping_add(out.len())) {
                Some(bytes) => out.copy_from_slice(bytes),
                None => loops::strided(out, width, bytes, offset, 1),
            }
        }
        Rows::Stride(0) => loops::splat(out, width, load(bytes, width, offset)),
        Rows::Stride(stride) => loops::strided(out, width, bytes, offset, stride),
        Rows::Each(each) => {
            let from = usize::try_from(offset).ok().and_then(|offset| offset.checked_mul(width));
            match from.and_then(|from| bytes.get(from..)) {
                Some(bytes) if each.as_chunks::<8>().0.iter().all(|d| i64::from_le_bytes(*d) >= 0) => {
                    loops::gather(out, width, bytes, each);
                }
                _ => {
                    let count = out.len() / width;
                    for k in 0..count {
                        let place = offset.wrapping_add(rows.distance(k));
                        store(out, width, k as i64, load(bytes, width, place));
                    }
                }
            }
        }
    }
}

/// Stores an element for each row of a mask.
pub(super) fn write_rows(
    bytes: &mut [u8],
    offset: i64,
    rows: Rows<'_>,
    width: usize,
    values: &[u8],
    mask: Option<&[u8]>,
) {
    if let (Rows::Stride(1), None) = (rows, mask) {
        let from = (offset as usize).wrapping_mul(width);
        if let Some(place) = bytes.get_mut(from..from.wrapping_add(values.len())) {
            place.copy_from_slice(values);
        }
        return;
    }
    for k in 0..values.len() / width {
        if mask.is_none_or(|mask| mask[k] != 0) {
            let place = offset.wrapping_add(rows.distance(k));
            store(bytes, width, place, load(values, width, k as i64));
        }
    }
}

/// Copies the arrays of `len` rows to those of another view of the same shape. As values of columns, they are not counted
/// as copies.
pub(super) fn copy_rows(
    memory: &Memory,
    (target, to): (&mut [u8], &Lmad),
    (source, from): (&[u8], &Lmad),
    (from_rows, to_rows): (Rows<'_>, Rows<'_>),
    width: usize,
    len: usize,
    mask: Option<&[u8]>,
) -> Result<(), Trap> {
    if from.is_empty() {
        return Ok(());
    }
    if let (Rows::Stride(a), Rows::Stride(b), None) = (from_rows, to_rows, mask) {
        let with_rows = |view: &Lmad, stride: i64| {
            let mut view = view.clone();
            view.dims.push(Dim::new(len as i64, stride));
            view
        };
        move_elements(memory, target, &with_rows(to, b), source, &with_rows(from, a), width)?;
        return Ok(());
    }
    for row in (0..len).filter(|row| mask.is_none_or(|mask| mask[*row] != 0)) {
        let (a, b) = (from.shift(from_rows.distance(row)), to.shift(to_rows.distance(row)));
        move_elements(memory, target, &b, source, &a, width)?;
    }
    Ok(())
}
