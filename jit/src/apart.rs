//! Histograms that are counted apart: each piece of the iterations counts in arrays of its own, which begin as the neutral
//! elements; at the end these are combined with the destinations, in the order of the pieces. Pieces are for several threads.
//! A piece has several copies of small arrays, which its iterations take in turn: one that counts at the same place as the
//! one before it need not wait until that is stored.
//!
//! That is done only where nobody can tell: the operator is a scalar operation whose order does not show in the bits, and
//! what is combined at the end is little against what is counted.

use crate::lower::{Form, Shape};
use galopvm_base::scalar::{self, Bits};
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::{Launch, Machine, ResultView, VerifiedRegion};

/// Iterations for each element that is combined at the end, at least.
const LEAST_ITERATIONS: i64 = 4;

/// Copies that iterations take in turn.
pub const COPIES: usize = 4;

/// The operators of the results of a region, if it is a histogram that threads may count apart.
pub fn operators(region: &VerifiedRegion, form: &Form<'_>) -> Option<Vec<ScalarOp>> {
    // What a scan feeds comes in its order.
    let (Shape::Scatter(_, Some(combine)), None) = (&form.shape, &form.feed) else { return None };
    let ops = combine.scalar_ops()?;
    let of_results: Vec<ScalarOp> = form.results.iter().map(|number| ops[*number]).collect();
    let is_fit = |(op, ty): (&ScalarOp, &galopvm_kir::Type)| {
        !ty.elem.is_float() && op.order_free(ty.elem) && op.info().identity.is_some() && !op.can_trap(ty.elem)
    };
    of_results.iter().zip(region.results()).all(is_fit).then_some(of_results)
}

/// The copies that a piece should have if so many pieces count apart, for results that lie like this; none if that does not pay.
pub fn copies(
    region: &VerifiedRegion,
    results: &[ResultView],
    iterations: i64,
    pieces: i64,
    machine: &Machine,
) -> Option<usize> {
    let elements = results.iter().fold(0i64, |sum, result| sum.saturating_add(result.lmad.elements()));
    let bytes = region.results().iter().zip(results).fold(0usize, |sum, (ty, result)| {
        sum.saturating_add((result.lmad.elements() as usize).saturating_mul(ty.elem.bytes()))
    });
    let pays = |copies: usize, room: usize| {
        let combined = elements.saturating_mul(pieces.saturating_mul(copies as i64));
        combined.saturating_mul(LEAST_ITERATIONS) <= iterations && bytes.saturating_mul(copies) <= room
    };
    if pays(COPIES, machine.l1_bytes / 2) {
        return Some(COPIES);
    }
    (pieces > 1 && pays(1, machine.l2_bytes / 2)).then_some(1)
}

/// Arrays of neutral elements, row-major, so many copies for each result.
pub fn blocks(
    region: &VerifiedRegion,
    results: &[ResultView],
    ops: &[ScalarOp],
    copies: usize,
) -> Vec<Vec<u64>> {
    let types = region.results().iter().map(|ty| ty.elem);
    types
        .zip(results)
        .zip(ops)
        .map(|((ty, result), op)| {
            let bits = op.info().identity.map_or(0, |identity| identity.of(ty).bits);
            let count = result.lmad.elements() as usize;
            let each = 8 / ty.bytes();
            let word = (0..each).fold(0, |word, k| word | bits << (k * 8 * ty.bytes()));
            vec![word; count.div_ceil(each) * copies]
        })
        .collect()
}

/// Combines what a piece counted with the results of a launch; false if they have no place.
pub fn add(
    region: &VerifiedRegion,
    launch: &mut Launch<'_>,
    ops: &[ScalarOp],
    blocks: &[Vec<u64>],
    copies: usize,
) -> bool {
    for (k, (ty, block)) in region.results().iter().zip(blocks).enumerate() {
        let view = &launch.results[k];
        let (lmad, elem) = (view.lmad.clone(), ty.elem);
        let Some(bytes) = launch.buffers.get_mut(view.buffer).and_then(|buffer| buffer.bytes_mut()) else {
            return false;
        };
        for (number, place) in lmad.places().enumerate() {
            let at = place as usize * elem.bytes();
            let Some(place) = bytes.get_mut(at..at + elem.bytes()) else { return false };
            let sum = block
                .chunks((block.len() / copies).max(1))
                .fold(loaded(place), |sum, copy| combined(ops[k], elem, sum, counted(copy, elem, number)));
            place.copy_from_slice(&sum.to_le_bytes()[..elem.bytes()]);
        }
    }
    true
}

fn combined(op: ScalarOp, elem: ElemType, a: Bits, b: Bits) -> Bits {
    // Operations whose order does not show never trap.
    scalar::eval2(op, elem, a, b).unwrap_or(a)
}

fn loaded(bytes: &[u8]) -> Bits {
    bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// An element of a block.
fn counted(block: &[u64], elem: ElemType, number: usize) -> Bits {
    let each = 8 / elem.bytes();
    block.get(number / each).map_or(0, |word| word >> (number % each * 8 * elem.bytes()) & elem.mask())
}
