//! Indices and slices: which view they mean, and the messages when they lie outside.

use galopvm_lmad::{Dim, Lmad};
use std::fmt::Write;

/// The index of one dimension of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SliceIndex {
    /// One index; the dimension vanishes.
    At(i64),
    /// `start:end:step`. A missing step is 1; missing bounds are the whole dimension in the direction of the step.
    Range {
        /// First index.
        start: Option<i64>,
        /// Index before which to stop.
        end: Option<i64>,
        /// Distance, not 0.
        step: Option<i64>,
    },
}

/// Extents as Futhark writes them: `[2][3]`.
#[inline]
pub fn shape_text(shape: &[i64]) -> String {
    let mut text = String::new();
    for extent in shape {
        let _ = write!(text, "[{extent}]");
    }
    text
}

/// The message where an extent is no number of 64 bits.
#[inline]
pub fn too_large(what: &str) -> String {
    format!("Cannot {what}: an extent of the result would be more than {}.", i64::MAX)
}

/// How many elements a shape has, if 128 bits can say it.
#[inline]
pub fn exact_count(shape: &[i64]) -> Option<i128> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1i128, |count, extent| count.checked_mul(i128::from(*extent)))
}

/// Exact for indices of a view with elements. In an empty one numbers may be of any size, but no place is ever used.
#[inline]
fn advance(offset: i64, index: i64, stride: i64) -> i64 {
    offset.wrapping_add(index.wrapping_mul(stride))
}

/// The view of what lies at these indices of the first dimensions.
#[inline]
pub fn index(view: &Lmad, index: impl ExactSizeIterator<Item = i64> + Clone) -> Result<Lmad, String> {
    let rest = index.len().min(view.rank());
    Ok(Lmad { offset: place(view, index)?, dims: view.dims[rest..].into() })
}

/// The place of the first element at these indices of the first dimensions.
#[inline]
pub fn place(view: &Lmad, index: impl Iterator<Item = i64> + Clone) -> Result<i64, String> {
    let mut place = view.offset;
    for (dim, i) in view.dims.iter().zip(index.clone()) {
        if i < 0 || i >= dim.size {
            return Err(message(view, &index.map(SliceIndex::At).collect::<Vec<_>>()));
        }
        place = advance(place, i, dim.stride);
    }
    Ok(place)
}

/// The view that a slice means; dimensions that it does not name stay whole.
pub fn slice(view: &Lmad, dims: &[SliceIndex]) -> Result<Lmad, String> {
    let mut offset = view.offset;
    let mut kept = galopvm_lmad::Dims::new();
    for (dim, index) in view.dims.iter().zip(dims) {
        match *index {
            SliceIndex::At(i) if 0 <= i && i < dim.size => offset = advance(offset, i, dim.stride),
            SliceIndex::At(_) => return Err(message(view, dims)),
            SliceIndex::Range { start, end, step } => {
                let Some((start, count, step)) = range(dim.size, start, end, step) else {
                    return Err(message(view, dims));
                };
                // With no indices the start is not a place; with one the step is not used.
                if count > 0 {
                    offset = advance(offset, start, dim.stride);
                }
                let stride = if count > 1 { dim.stride.wrapping_mul(step) } else { dim.stride };
                kept.push(Dim::new(count, stride));
            }
        }
    }
    kept.extend_from_slice(&view.dims[dims.len().min(view.rank())..]);
    Ok(Lmad { offset, dims: kept })
}

/// The view whose index `i` means row `offset + sum i_k * stride_k` of a view, all of which must exist.
#[inline]
pub fn flat(view: &Lmad, offset: i64, sizes: &[i64], strides: &[i64]) -> Result<Lmad, String> {
    let dims = sizes.iter().zip(strides);
    let rows = Lmad::new(offset, dims.map(|(size, stride)| Dim::new(*size, *stride)));
    let extent = view.dims.first().map_or(0, |dim| dim.size);
    if sizes.iter().any(|size| *size < 0) || !rows.fits(extent) {
        return Err(format!("Flat slice out of bounds: {extent} and {}.", flat_text(offset, sizes, strides)));
    }
    Ok(view.slice_lmad(&rows))
}

/// Whether a flat view means no row twice.
#[inline]
pub fn flat_is_injective(sizes: &[i64], strides: &[i64]) -> bool {
    Lmad::new(0, sizes.iter().zip(strides).map(|(size, stride)| Dim::new(*size, *stride))).is_injective()
}

/// The message when it does, and is written with different values.
#[inline]
pub fn flat_conflict(offset: i64, sizes: &[i64], strides: &[i64]) -> String {
    format!("Flat update writes different values to one element: {}.", flat_text(offset, sizes, strides))
}

fn flat_text(offset: i64, sizes: &[i64], strides: &[i64]) -> String {
    let dims: Vec<String> = sizes.iter().zip(strides).map(|(n, s)| format!("({n}, {s})")).collect();
    format!("[{}] from {offset}", dims.join(", "))
}

/// First index, number of indices and distance of a range in a dimension of `size`; nothing if it is not valid.
fn range(size: i64, start: Option<i64>, end: Option<i64>, step: Option<i64>) -> Option<(i64, i64, i64)> {
    let step = step.unwrap_or(1);
    let backwards = step < 0;
    let start = start.unwrap_or(if backwards { size - 1 } else { 0 });
    let end = end.unwrap_or(if backwards { -1 } else { size });
    if step == 0 {
        return None;
    }
    // In 128 bits nothing overflows.
    let (wide_start, wide_end, wide_step) = (i128::from(start), i128::from(end), i128::from(step));
    let count = (wide_end - wide_start + wide_step - wide_step.signum()) / wide_step;
    if count == 0 {
        return Some((0, 0, step));
    }
    let last = wide_start + (count - 1) * wide_step;
    let inside = |i: i128| 0 <= i && i < i128::from(size);
    let directed = if backwards { -1 <= wide_end && wide_end <= wide_start } else { wide_start <= wide_end };
    (count > 0 && directed && inside(wide_start) && inside(last)).then_some((start, count as i64, step))
}

#[cold]
fn message(view: &Lmad, dims: &[SliceIndex]) -> String {
    let number = |part: Option<i64>| part.map_or(String::new(), |n| n.to_string());
    let one = |index: &SliceIndex| match *index {
        SliceIndex::At(i) => i.to_string(),
        SliceIndex::Range { start, end, step: Some(step) } => {
            format!("{}:{}:{step}", number(start), number(end))
        }
        SliceIndex::Range { start: None, end: None, step: None } => "0:".to_string(),
        SliceIndex::Range { start, end, step: None } => format!("{}:{}", number(start), number(end)),
    };
    let parts: Vec<String> = dims.iter().map(one).collect();
    let shape: Vec<i64> = view.dims.iter().take(dims.len()).map(|d| d.size).collect();
    format!("Index [{}] out of bounds for array of shape {}.", parts.join(", "), shape_text(&shape))
}
