//! Moving elements from one view to another of the same shape, as fast as the kind of copy allows.
//!
//! Whoever moves is asked before each piece, told its bytes, and may end the move.

use crate::transpose::Matrix;
use crate::{CopyClass, CopyDim, CopyPlan, Lmad, copy_plan};

/// Bytes of the largest piece.
pub const PIECE: usize = 4 << 20;

/// Targets of more bytes are written past the caches, where that can be: they would drive out what is in there.
const LARGE: i64 = 4 << 20;

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
        let elements = plan.dims.iter().map(|dim| dim.size).fold(W as i64, i64::saturating_mul);
        return each(batch, plan.target, plan.source, &mut |to, from| {
            let (rows, cols, is_large) = (*rows, *cols, elements > LARGE);
            Matrix::<W> { target, to, source, from, rows, cols, is_large }.copy(go)
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
pub(crate) fn element<const W: usize>(bytes: &[u8], place: i64) -> [u8; W] {
    let at = place as usize * W;
    *bytes[at..].first_chunk().expect("copies stay inside their blocks")
}

/// One loop.
pub(crate) fn line<const W: usize>(target: &mut [u8], to: i64, source: &[u8], from: i64, dim: CopyDim) {
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
