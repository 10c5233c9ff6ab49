//! Moving elements from one view to another of the same shape, as fast as the kind of copy allows.

use crate::error::Trap;
use crate::memory::{CopyKind, Memory};
use crate::stop::Pace;
use galopvm_lmad::{CopyClass, CopyDim, CopyPlan, Lmad, copy_plan};

/// Elements of a tile's side: the buffer for a tile of 4-byte elements is a third of a first-level cache.
const TILE: usize = 64;

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
    let mut plan = copy_plan(target_view, source_view);
    let mut pace = memory.stop().pace();
    let pace = &mut pace;
    let kind = match plan.class {
        CopyClass::Empty => return Ok(None),
        CopyClass::Memcpy { elements } => {
            stretch(pace, target, plan.target, source, plan.source, elements, width)?;
            CopyKind::Memcpy
        }
        CopyClass::Rows { cols, .. } => {
            let outer = &plan.dims[..plan.dims.len() - 1];
            each(outer, plan.target, plan.source, &mut |to, from| {
                stretch(pace, target, to, source, from, cols, width)
            })?;
            CopyKind::Rows
        }
        CopyClass::Transpose { .. } => {
            nested(pace, &plan, target, source, width)?;
            CopyKind::Transpose
        }
        CopyClass::Strided { .. } => {
            // Next to the innermost loop goes the one along which the source lies closest.
            let inner = plan.dims.len() - 1;
            let closest = (0..inner).min_by_key(|k| plan.dims[*k].source.unsigned_abs());
            if let Some(k) = closest {
                plan.dims[k..inner].rotate_left(1);
            }
            nested(pace, &plan, target, source, width)?;
            CopyKind::Strided
        }
    };
    Ok(Some(kind))
}

/// Calls `f` with the target and source places of each iteration of some loops.
fn each(
    dims: &[CopyDim],
    target: i64,
    source: i64,
    f: &mut impl FnMut(i64, i64) -> Result<(), Trap>,
) -> Result<(), Trap> {
    let Some((dim, inner)) = dims.split_first() else { return f(target, source) };
    for i in 0..dim.size {
        each(inner, target + i * dim.target, source + i * dim.source, f)?;
    }
    Ok(())
}

fn stretch(
    pace: &mut Pace<'_>,
    target: &mut [u8],
    to: i64,
    source: &[u8],
    from: i64,
    count: i64,
    width: usize,
) -> Result<(), Trap> {
    let (to, from, bytes) = (to as usize * width, from as usize * width, count as usize * width);
    let (target, source) = (&mut target[to..to + bytes], &source[from..from + bytes]);
    for (target, source) in target.chunks_mut(Pace::STRETCH).zip(source.chunks(Pace::STRETCH)) {
        pace.go(target.len())?;
        target.copy_from_slice(source);
    }
    Ok(())
}

/// Copies element by element.
fn nested(
    pace: &mut Pace<'_>,
    plan: &CopyPlan,
    target: &mut [u8],
    source: &[u8],
    width: usize,
) -> Result<(), Trap> {
    match width {
        1 => by_elements::<1>(pace, plan, target, source),
        2 => by_elements::<2>(pace, plan, target, source),
        4 => by_elements::<4>(pace, plan, target, source),
        _ => by_elements::<8>(pace, plan, target, source),
    }
}

/// What an element costs that does not lie next to the one before, against one that does.
const APART: usize = 4;

fn by_elements<const W: usize>(
    pace: &mut Pace<'_>,
    plan: &CopyPlan,
    target: &mut [u8],
    source: &[u8],
) -> Result<(), Trap> {
    let Some((cols, outer)) = plan.dims.split_last() else { return Ok(()) };
    if let Some((rows, batch)) = outer.split_last()
        && rows.source.unsigned_abs() < cols.source.unsigned_abs()
    {
        return each(batch, plan.target, plan.source, &mut |to, from| {
            tiles::<W>(pace, target, to, source, from, *rows, *cols)
        });
    }
    let most = (Pace::STRETCH / W) as i64;
    each(outer, plan.target, plan.source, &mut |to, from| {
        for first in (0..cols.size).step_by(most as usize) {
            let part = CopyDim { size: most.min(cols.size - first), ..*cols };
            pace.go(part.size as usize * W * APART)?;
            line::<W>(target, to + first * cols.target, source, from + first * cols.source, part);
        }
        Ok(())
    })
}

#[inline]
fn element<const W: usize>(bytes: &[u8], place: i64) -> [u8; W] {
    let at = place as usize * W;
    *bytes[at..].first_chunk().expect("copies stay inside their blocks")
}

/// One loop.
fn line<const W: usize>(target: &mut [u8], to: i64, source: &[u8], from: i64, dim: CopyDim) {
    if dim.target != 1 {
        for i in 0..dim.size {
            let at = (to + i * dim.target) as usize * W;
            target[at..at + W].copy_from_slice(&element::<W>(source, from + i * dim.source));
        }
        return;
    }
    let to = to as usize * W;
    let places = target[to..to + dim.size as usize * W].chunks_exact_mut(W);
    let last = from + (dim.size - 1) * dim.source;
    let (low, high) = (from.min(last) as usize * W, from.max(last) as usize * W + W);
    let step = dim.source.unsigned_abs() as usize;
    let elements = source[low..high].chunks_exact(W);
    // Without an index for each element there is nothing to check.
    match dim.source {
        0 => places.for_each(|place| place.copy_from_slice(&source[low..high])),
        -1 => places.zip(elements.rev()).for_each(|(place, element)| place.copy_from_slice(element)),
        i64::MIN..0 => {
            places
                .zip(elements.rev().step_by(step))
                .for_each(|(place, element)| place.copy_from_slice(element));
        }
        _ => places.zip(elements.step_by(step)).for_each(|(place, element)| place.copy_from_slice(element)),
    }
}

/// A matrix of the target whose rows lie along `cols`, and for which the source lies closer along `rows`: tile by
/// tile, so that stretches of both sides are read and written as wholes.
fn tiles<const W: usize>(
    pace: &mut Pace<'_>,
    target: &mut [u8],
    to: i64,
    source: &[u8],
    from: i64,
    rows: CopyDim,
    cols: CopyDim,
) -> Result<(), Trap> {
    let is_wide = W == 8;
    let side = if is_wide { TILE / 2 } else { TILE } as i64;
    let packed = rows.source == 1 && cols.target == 1;
    for row in (0..rows.size).step_by(side as usize) {
        let height = side.min(rows.size - row);
        for col in (0..cols.size).step_by(side as usize) {
            let breadth = side.min(cols.size - col);
            pace.go((height * breadth) as usize * W)?;
            let to = to + row * rows.target + col * cols.target;
            let from = from + row * rows.source + col * cols.source;
            match (packed && height == side && breadth == side, is_wide) {
                (true, true) => tile::<W, { TILE / 2 }>(target, to, source, from, rows.target, cols.source),
                (true, false) => tile::<W, TILE>(target, to, source, from, rows.target, cols.source),
                _ => {
                    let (rows, cols) = (CopyDim { size: height, ..rows }, CopyDim { size: breadth, ..cols });
                    part_of_tile::<W>(target, to, source, from, rows, cols);
                }
            }
        }
    }
    Ok(())
}

/// A whole tile, by way of a buffer: rows `row_stride` apart in the target, columns `col_stride` in the source.
fn tile<const W: usize, const SIDE: usize>(
    target: &mut [u8],
    to: i64,
    source: &[u8],
    from: i64,
    row_stride: i64,
    col_stride: i64,
) {
    let mut buffer = [[[0u8; W]; SIDE]; SIDE];
    for (c, column) in buffer.iter_mut().enumerate() {
        let from = (from + c as i64 * col_stride) as usize * W;
        let (elements, _) = source[from..from + SIDE * W].as_chunks::<W>();
        column.copy_from_slice(elements);
    }
    for r in 0..SIDE {
        let to = (to + r as i64 * row_stride) as usize * W;
        let (places, _) = target[to..to + SIDE * W].as_chunks_mut::<W>();
        places.iter_mut().zip(&buffer).for_each(|(place, column)| *place = column[r]);
    }
}

fn part_of_tile<const W: usize>(
    target: &mut [u8],
    to: i64,
    source: &[u8],
    from: i64,
    rows: CopyDim,
    cols: CopyDim,
) {
    for r in 0..rows.size {
        let (to, from) = (to + r * rows.target, from + r * rows.source);
        if cols.target == 1 {
            let to = to as usize * W;
            let (places, _) = target[to..to + cols.size as usize * W].as_chunks_mut::<W>();
            for (c, place) in places.iter_mut().enumerate() {
                *place = element(source, from + c as i64 * cols.source);
            }
        } else {
            line::<W>(target, to, source, from, cols);
        }
    }
}
