//! Moving elements from one view to another of the same shape, counted, and only as long as the call is to go on.
//!
//! What takes longer than threads take to begin is divided among those of the call: into bands of the target that have no byte in
//! common.

use crate::error::Trap;
use crate::memory::{CopyKind, Memory};
use crate::stop::Stop;
use galopvm_base::threads;
use galopvm_lmad::{CopyClass, Lmad, copy_class, transfer};
use rayon::prelude::*;

/// Bytes of a band at least.
const LEAST_BAND: i64 = 1 << 20;

/// Copies the elements of `source_view` to the places of `target_view`, which has the same shape and no place twice.
/// Both views lie in their bytes. The copy is counted. Ends early, with the error to end with, if the call that `memory`
/// is for is to end.
pub fn copy_elements(
    memory: &Memory,
    target: &mut [u8],
    target_view: &Lmad,
    source: &[u8],
    source_view: &Lmad,
    width: usize,
) -> Result<(), Trap> {
    if let Some(kind) = move_elements(memory, target, target_view, source, source_view, width)? {
        memory.count_copy(kind, source_view.elements() as u64 * width as u64);
    }
    Ok(())
}

/// As [`copy_elements`], not counted: for what is a value on its way to its place. Gives the kind
/// of copy, if there was anything to do.
pub fn move_elements(
    memory: &Memory,
    target: &mut [u8],
    target_view: &Lmad,
    source: &[u8],
    source_view: &Lmad,
    width: usize,
) -> Result<Option<CopyKind>, Trap> {
    let stop = memory.stop();
    let class = match bands(target_view, width, memory.threads()) {
        Some((dim, rows)) => {
            let bands = divided(target, target_view, source_view, width, (dim, rows));
            threads::divided(|| {
                bands.into_par_iter().try_for_each(|band| {
                    piece(stop, band.target, &band.to, source, &band.from, width).map(drop)
                })
            })?;
            copy_class(target_view, source_view)
        }
        None => piece(stop, target, target_view, source, source_view, width)?,
    };
    Ok(match class {
        CopyClass::Empty => None,
        CopyClass::Memcpy { .. } => Some(CopyKind::Memcpy),
        CopyClass::Rows { .. } => Some(CopyKind::Rows),
        CopyClass::Transpose { .. } => Some(CopyKind::Transpose),
        CopyClass::Strided { .. } => Some(CopyKind::Strided),
    })
}

fn piece(
    stop: &Stop,
    target: &mut [u8],
    target_view: &Lmad,
    source: &[u8],
    source_view: &Lmad,
    width: usize,
) -> Result<CopyClass, Trap> {
    let mut pace = stop.pace();
    transfer(target, target_view, source, source_view, width, &mut |bytes| pace.go(bytes))
}

/// A part of a copy.
struct Band<'a> {
    target: &'a mut [u8],
    to: Lmad,
    from: Lmad,
}

/// The dimension that a copy is divided along, and how many rows of it make a band; nothing if one thread does it all. The places
/// of a row lie before those of the next one.
fn bands(target_view: &Lmad, width: usize, threads: usize) -> Option<(usize, i64)> {
    let bytes = target_view.elements().saturating_mul(width as i64);
    if threads < 2 || bytes < 2 * LEAST_BAND {
        return None;
    }
    let dims = &target_view.dims;
    let dim = (0..dims.len()).max_by_key(|dim| (dims[*dim].size > 1, dims[*dim].stride))?;
    let (low, high) = row(target_view, dim);
    if high - low >= dims[dim].stride {
        return None;
    }
    // Twice as many bands as threads, so that one that is held up holds up little.
    let most = (2 * threads as i64).min(bytes / LEAST_BAND).min(dims[dim].size);
    let rows = (dims[dim].size + most - 1) / most;
    // Bands of a line of elements begin where those of memory do.
    let rows = if dims.len() == 1 { (rows + 4095) / 4096 * 4096 } else { rows };
    Some((dim, rows))
}

/// From where to where a row reaches, from its first element on.
fn row(view: &Lmad, dim: usize) -> (i64, i64) {
    let others = view.dims.iter().enumerate().filter(|(k, _)| *k != dim);
    others.fold((0, 0), |(low, high), (_, other)| {
        let last = (other.size - 1) * other.stride;
        (low + last.min(0), high + last.max(0))
    })
}

/// The bands of a copy, of so many rows of a dimension each.
fn divided<'a>(
    mut target: &'a mut [u8],
    target_view: &Lmad,
    source_view: &Lmad,
    width: usize,
    (dim, rows): (usize, i64),
) -> Vec<Band<'a>> {
    let size = target_view.dims[dim].size;
    let (low, _) = row(target_view, dim);
    let (mut bands, mut begin) = (Vec::new(), 0);
    for first in (0..size).step_by(rows as usize) {
        let count = rows.min(size - first);
        let part = |view: &Lmad| view.triplet(dim, first, count, 1);
        let mut to = part(target_view);
        // The next band begins with the first place of its first row.
        let end = match first + count < size {
            true => (to.offset + count * target_view.dims[dim].stride + low) as usize * width,
            false => begin + target.len(),
        };
        let (own, rest) = target.split_at_mut(end - begin);
        to.offset -= (begin / width) as i64;
        bands.push(Band { target: own, to, from: part(source_view) });
        (target, begin) = (rest, end);
    }
    bands
}
