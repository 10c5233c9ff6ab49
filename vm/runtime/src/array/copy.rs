//! Moving elements from one view to another of the same shape, as fast as the kind of copy allows.

use crate::memory::{CopyKind, Memory};
use galopvm_lmad::{CopyClass, CopyDim, Lmad, copy_plan};

/// Elements of a tile's side in transposition: two tiles of 8-byte elements fill half a first-level cache.
const TILE: i64 = 32;

/// Copies the elements of `source_view` to the places of `target_view`, which has the same shape and no place twice.
/// Both views lie in their bytes.
pub(crate) fn copy_elements(
    memory: &Memory,
    target: &mut [u8],
    target_view: &Lmad,
    source: &[u8],
    source_view: &Lmad,
    width: usize,
) {
    let plan = copy_plan(target_view, source_view);
    let kind = match plan.class {
        CopyClass::Empty => return,
        CopyClass::Memcpy { elements } => {
            stretch(target, plan.target, source, plan.source, elements, width);
            CopyKind::Memcpy
        }
        CopyClass::Rows { cols, .. } => {
            let outer = &plan.dims[..plan.dims.len() - 1];
            each(outer, plan.target, plan.source, &mut |to, from| {
                stretch(target, to, source, from, cols, width)
            });
            CopyKind::Rows
        }
        CopyClass::Transpose { .. } => {
            let (outer, pair) = plan.dims.split_at(plan.dims.len() - 2);
            each(outer, plan.target, plan.source, &mut |to, from| match width {
                1 => transpose::<1>(target, to, source, from, pair[0], pair[1]),
                2 => transpose::<2>(target, to, source, from, pair[0], pair[1]),
                4 => transpose::<4>(target, to, source, from, pair[0], pair[1]),
                _ => transpose::<8>(target, to, source, from, pair[0], pair[1]),
            });
            CopyKind::Transpose
        }
        CopyClass::Strided { .. } => {
            let (inner, outer) = plan.dims.split_last().expect("a strided copy has loops");
            each(outer, plan.target, plan.source, &mut |to, from| match width {
                1 => strided::<1>(target, to, source, from, *inner),
                2 => strided::<2>(target, to, source, from, *inner),
                4 => strided::<4>(target, to, source, from, *inner),
                _ => strided::<8>(target, to, source, from, *inner),
            });
            CopyKind::Strided
        }
    };
    memory.count_copy(kind, source_view.elements() as u64 * width as u64);
}

/// Calls `f` with the target and source places of each iteration of some loops.
fn each(dims: &[CopyDim], target: i64, source: i64, f: &mut impl FnMut(i64, i64)) {
    let Some((dim, inner)) = dims.split_first() else { return f(target, source) };
    for i in 0..dim.size {
        each(inner, target + i * dim.target, source + i * dim.source, f);
    }
}

fn stretch(target: &mut [u8], to: i64, source: &[u8], from: i64, count: i64, width: usize) {
    let (to, from, bytes) = (to as usize * width, from as usize * width, count as usize * width);
    target[to..to + bytes].copy_from_slice(&source[from..from + bytes]);
}

#[inline]
fn element<const W: usize>(target: &mut [u8], to: i64, source: &[u8], from: i64) {
    let (to, from) = (to as usize * W, from as usize * W);
    target[to..to + W].copy_from_slice(&source[from..from + W]);
}

fn strided<const W: usize>(target: &mut [u8], to: i64, source: &[u8], from: i64, dim: CopyDim) {
    for i in 0..dim.size {
        element::<W>(target, to + i * dim.target, source, from + i * dim.source);
    }
}

/// A matrix of the target, `rows` by `cols` (adjacent in the target along `cols`, in the source along `rows`), tile by
/// tile.
fn transpose<const W: usize>(
    target: &mut [u8],
    to: i64,
    source: &[u8],
    from: i64,
    rows: CopyDim,
    cols: CopyDim,
) {
    for row in (0..rows.size).step_by(TILE as usize) {
        for col in (0..cols.size).step_by(TILE as usize) {
            let columns = TILE.min(cols.size - col);
            for r in row..(row + TILE).min(rows.size) {
                let (to, from) = (to + r * rows.target + col, from + r + col * cols.source);
                let line = to as usize * W;
                let line = &mut target[line..line + columns as usize * W];
                for (c, place) in line.chunks_exact_mut(W).enumerate() {
                    let from = (from + c as i64 * cols.source) as usize * W;
                    place.copy_from_slice(&source[from..from + W]);
                }
            }
        }
    }
}
