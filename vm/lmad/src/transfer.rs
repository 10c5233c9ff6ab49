//! Moving elements from one view to another of the same shape, as fast as the kind of copy allows.
//!
//! Whoever moves is asked before each piece, told its bytes, and may end the move.

use crate::{CopyClass, CopyDim, CopyPlan, Lmad, copy_plan};

/// Elements of a tile's side: the buffer for a tile of 4-byte elements is a third of a first-level cache.
const TILE: usize = 64;

/// Bytes of the largest piece.
pub const PIECE: usize = 4 << 20;

/// Moves elements of so many bytes from the places of one view to those of another, which has the same shape and no place twice. Both
/// views must lie in their bytes. `go` is told of each piece before it is moved, and may end the move. Gives the kind of move.
pub fn transfer<E>(
    target: &mut [u8],
    target_view: &Lmad,
    source: &[u8],
    source_view: &Lmad,
    width: usize,
    go: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<CopyClass, E> {
    let mut plan = copy_plan(target_view, source_view);
    match plan.class {
        CopyClass::Empty => {}
        CopyClass::Memcpy { elements } => {
            stretch(go, target, plan.target, source, plan.source, elements, width)?;
        }
        CopyClass::Rows { cols, .. } => {
            let outer = &plan.dims[..plan.dims.len() - 1];
            each(outer, plan.target, plan.source, &mut |to, from| {
                stretch(go, target, to, source, from, cols, width)
            })?;
        }
        CopyClass::Transpose { .. } => nested(go, &plan, target, source, width)?,
        CopyClass::Strided { .. } => {
            // Next to the innermost loop goes the one along which the source lies closest.
            let inner = plan.dims.len() - 1;
            let closest = (0..inner).min_by_key(|k| plan.dims[*k].source.unsigned_abs());
            if let Some(k) = closest {
                plan.dims[k..inner].rotate_left(1);
            }
            nested(go, &plan, target, source, width)?;
        }
    }
    Ok(plan.class)
}

/// Calls `f` with the target and source places of each iteration of some loops.
fn each<E>(
    dims: &[CopyDim],
    target: i64,
    source: i64,
    f: &mut impl FnMut(i64, i64) -> Result<(), E>,
) -> Result<(), E> {
    let Some((dim, inner)) = dims.split_first() else { return f(target, source) };
    for i in 0..dim.size {
        each(inner, target + i * dim.target, source + i * dim.source, f)?;
    }
    Ok(())
}

fn stretch<E>(
    go: &mut impl FnMut(usize) -> Result<(), E>,
    target: &mut [u8],
    to: i64,
    source: &[u8],
    from: i64,
    count: i64,
    width: usize,
) -> Result<(), E> {
    let (to, from, bytes) = (to as usize * width, from as usize * width, count as usize * width);
    let (target, source) = (&mut target[to..to + bytes], &source[from..from + bytes]);
    for (target, source) in target.chunks_mut(PIECE).zip(source.chunks(PIECE)) {
        go(target.len())?;
        target.copy_from_slice(source);
    }
    Ok(())
}

/// Copies element by element.
fn nested<E>(
    go: &mut impl FnMut(usize) -> Result<(), E>,
    plan: &CopyPlan,
    target: &mut [u8],
    source: &[u8],
    width: usize,
) -> Result<(), E> {
    match width {
        1 => by_elements::<1, E>(go, plan, target, source),
        2 => by_elements::<2, E>(go, plan, target, source),
        4 => by_elements::<4, E>(go, plan, target, source),
        _ => by_elements::<8, E>(go, plan, target, source),
    }
}

/// What an element costs that does not lie next to the one before, against one that does.
const APART: usize = 4;

fn by_elements<const W: usize, E>(
    go: &mut impl FnMut(usize) -> Result<(), E>,
    plan: &CopyPlan,
    target: &mut [u8],
    source: &[u8],
) -> Result<(), E> {
    let Some((cols, outer)) = plan.dims.split_last() else { return Ok(()) };
    if let Some((rows, batch)) = outer.split_last()
        && rows.source.unsigned_abs() < cols.source.unsigned_abs()
    {
        return each(batch, plan.target, plan.source, &mut |to, from| {
            tiles::<W, E>(go, target, to, source, from, *rows, *cols)
        });
    }
    let most = (PIECE / W) as i64;
    each(outer, plan.target, plan.source, &mut |to, from| {
        for first in (0..cols.size).step_by(most as usize) {
            let part = CopyDim { size: most.min(cols.size - first), ..*cols };
            go(part.size as usize * W * APART)?;
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
fn tiles<const W: usize, E>(
    go: &mut impl FnMut(usize) -> Result<(), E>,
    target: &mut [u8],
    to: i64,
    source: &[u8],
    from: i64,
    rows: CopyDim,
    cols: CopyDim,
) -> Result<(), E> {
    let is_wide = W == 8;
    let side = if is_wide { TILE / 2 } else { TILE } as i64;
    let packed = rows.source == 1 && cols.target == 1;
    for row in (0..rows.size).step_by(side as usize) {
        let height = side.min(rows.size - row);
        for col in (0..cols.size).step_by(side as usize) {
            let breadth = side.min(cols.size - col);
            go((height * breadth) as usize * W)?;
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
