//! Operators whose results are made in a given place (`residence.rs`) instead of a block of their own.
//!
//! The place may lie in a block that the rows read: an analysis has shown that no row reads what another one writes, so
//! the order of rows does not matter, but each row must have read everything before it writes. Units compute pieces into
//! small arrays, which are then stored. Where rows are arrays, they are made one by one, each in its own row of the place if the body makes it by one operator.
//!
//! Over a dying array most elements may stay as they are. If it is known which ones change (`changes.rs`), and nothing can go
//! wrong elsewhere, only their rows are gone over, and of those only the part that changes.

use super::Executing;
use super::residence::{Placing, Target};
use galopvm_bytecode::{BlockId, CodeBlock, Instr, Operand, Operator, RegId};
use galopvm_interp::{Adviser, Arrays, Outcome, PIECE, Registers, Way, copy_to, inputs, mismatch, set_rows};
use galopvm_lmad::Lmad;
use galopvm_store::array::{Array, Granted};
use galopvm_store::error::{Trap, in_row, in_rows_from};
use galopvm_store::memory::Memory;
use galopvm_tier::{Met, Part, Rows};
use smallvec::SmallVec;

/// Rows of a piece are a multiple of this where they are scalars.
const ROWS: i64 = 2048;

/// Some rows of an operator.
#[derive(Clone, Copy)]
struct Stretch<'p> {
    /// The rows of the operator.
    width: i64,
    rows: Rows,
    /// The part of a result that they are the rows of, where not all of each is made.
    part: Option<&'p Part>,
}

/// Interprets a map whose results, or some of them, have a place.
pub(super) fn map_placed<'a>(
    run: &mut Executing<'a>,
    registers: &mut Registers<'a>,
    at: (BlockId, usize),
    width: i64,
    operator: &Operator<'a>,
    mut placing: Placing,
) -> Outcome<()> {
    placing.retain(|k, array| {
        let ty = registers.ty(operator.dsts[k].0);
        array.elem() == ty.elem && array.rank() == usize::from(ty.rank) && array.shape()[0] == width
    });
    if width == 0 || placing.is_empty() {
        return run.interpret_operator(registers, at, width, operator);
    }
    let mut making = 0;
    for (k, dst) in operator.dsts.iter().enumerate() {
        making +=
            usize::from(placing.planned(k).is_some_and(|place| run.adviser.making(registers, dst.0, place)));
    }
    let scalar_rows = registers.prepared.blocks[operator.last_block()].scalar_results;
    run.make_delayed(registers, operator.arrays)?;
    let inputs = inputs(registers, width, operator.arrays)?;
    let changes =
        placing.changes().cloned().filter(|_| scalar_rows || made_by_map(registers, operator.last_block()));
    match changes {
        Some(changes) => {
            for part in changes.parts() {
                let stretch = Stretch { width, rows: part.rows, part: Some(part) };
                rows_placed(run, registers, at, stretch, operator, &inputs, &mut placing)?;
            }
        }
        None => {
            let rows = placing.window().unwrap_or(Rows::all(width));
            let stretch = Stretch { width, rows, part: None };
            rows_placed(run, registers, at, stretch, operator, &inputs, &mut placing)?;
        }
    }
    (0..making).for_each(|_| run.adviser.made());
    for (place, dst) in placing.places.into_iter().zip(operator.dsts) {
        let place = place.expect("there were rows, so each result has a place");
        registers.set_array(dst.0, place.into_array());
    }
    Ok(())
}

/// Makes some rows, in the way that fits them.
fn rows_placed<'a>(
    run: &mut Executing<'a>,
    registers: &mut Registers<'a>,
    (block, index): (BlockId, usize),
    stretch: Stretch<'_>,
    operator: &Operator<'a>,
    inputs: &Arrays,
    placing: &mut Placing,
) -> Outcome<()> {
    let Stretch { width, rows, part } = stretch;
    if registers.prepared.blocks[operator.last_block()].scalar_results {
        return match rows.is_all(width) {
            true => in_pieces(run, registers, (block, index), width, operator, inputs, placing),
            false => scalars_placed(run, registers, stretch, operator, inputs, placing),
        };
    }
    if part.is_none() && rows.is_all(width) && run.adviser.forms.unit(registers, block, index).is_some() {
        return in_pieces(run, registers, (block, index), width, operator, inputs, placing);
    }
    row_by_row(run, registers, stretch, operator, inputs, placing)
}

/// Scalar rows, one by one.
fn scalars_placed<'a>(
    run: &mut Executing<'a>,
    registers: &mut Registers<'a>,
    stretch: Stretch<'_>,
    operator: &Operator<'a>,
    inputs: &Arrays,
    placing: &mut Placing,
) -> Outcome<()> {
    let Stretch { width, rows, .. } = stretch;
    let block = &registers.code.blocks[operator.last_block()];
    let scope = &registers.prepared.blocks[operator.last_block()].arrays;
    for (k, result) in block.results.iter().enumerate() {
        placing.place(run.adviser.memory, k, registers.elem(result.reg), &[width])?;
    }
    run.adviser.executed(Way::Blocks);
    for i in rows.numbers() {
        set_rows(registers, &block.params, inputs, i);
        run.block(registers, operator.last_block()).map_err(|error| in_row(error, i))?;
        for (place, result) in placing.places.iter_mut().flatten().zip(&block.results) {
            let at = place.array().lmad().fix(0, i).offset;
            place.store(at, registers.bits(*result));
        }
        registers.release(scope);
    }
    Ok(())
}

fn in_pieces<'a>(
    run: &mut Executing<'a>,
    registers: &mut Registers<'a>,
    (block, index): (BlockId, usize),
    width: i64,
    operator: &Operator<'a>,
    inputs: &[Array],
    placing: &mut Placing,
) -> Outcome<()> {
    let row_bytes = |place: &Granted| {
        let array = place.array();
        usize::try_from(array.elements() / width).unwrap_or(0) * array.elem().bytes()
    };
    let row = placing.places.iter().flatten().map(row_bytes).max().unwrap_or(0).max(1);
    let mut rows = ((PIECE / row) as i64).max(1);
    if rows > ROWS {
        rows -= rows % ROWS;
    } else {
        // No piece should be much smaller than the others.
        let pieces = (width + rows - 1) / rows;
        rows = (width + pieces - 1) / pieces;
    }
    run.adviser.tiers.coverage.met(Met::RunPieces);
    let mut from = 0;
    while from < width {
        let count = rows.min(width - from);
        let mut parts = Arrays::new();
        for array in inputs {
            parts.push(array.with_view(array.lmad().triplet(0, from, count, 1)));
        }
        let done = run.interpret_rows(registers, (block, index), count, operator, parts);
        done.map_err(|error| in_rows_from(error, from))?;
        for (k, dst) in operator.dsts.iter().enumerate() {
            let made = registers.take(Operand::last(dst.0));
            let mut shape = made.shape();
            shape[0] = width;
            let place = placing.place(run.adviser.memory, k, made.elem(), &shape)?;
            let mut place = place.with_view(place.array().lmad().triplet(0, from, count, 1));
            fits(&place, &made)?;
            place.store_all(run.adviser.memory, &made)?;
        }
        from += count;
    }
    Ok(())
}

/// Stores a row of a result in its place. A small one is a value on its way, not a copy.
fn store_row(memory: &Memory, mut place: Granted, row: &Array) -> Outcome<()> {
    let bytes = row.elements() as usize * row.elem().bytes();
    match bytes <= PIECE {
        true => place.store_all(memory, row).map(drop).map_err(Into::into),
        false => copy_to(memory, place, row),
    }
}

/// Rows that are arrays, one by one; of each row only the columns of a part, where one is given.
fn row_by_row<'a>(
    run: &mut Executing<'a>,
    registers: &mut Registers<'a>,
    stretch: Stretch<'_>,
    operator: &Operator<'a>,
    inputs: &[Array],
    placing: &mut Placing,
) -> Outcome<()> {
    let Stretch { width, rows, part } = stretch;
    let block = &registers.code.blocks[operator.last_block()];
    let scope = &registers.prepared.blocks[operator.last_block()].arrays;
    // A row that one operator of the body makes is made in its place. (Where a plan says so, the operator asks itself.)
    let is_at_once = placing.is_at_once();
    let is_direct = |result: &Operand| is_at_once && is_made_by_map(block, result.reg);
    let direct: SmallVec<[bool; 4]> = block.results.iter().map(is_direct).collect();
    run.adviser.executed(Way::Blocks);
    let before = run.adviser.holding.targets.len();
    for (number, i) in rows.numbers().enumerate() {
        let window = part.and_then(|part| part.columns_of(number as i64));
        for (k, place) in placing.places.iter().enumerate() {
            if let Some(place) = place.as_ref().filter(|_| direct[k]) {
                let place = place.with_view(place.array().lmad().fix(0, i));
                let (depth, reg) = (registers.depth, block.results[k].reg);
                run.adviser.holding.targets.push(Target { depth, reg, place, window });
            }
        }
        set_rows(registers, &block.params, inputs, i);
        run.adviser.at_row(registers, operator.last_block(), Some(i));
        let outcome = run.block(registers, operator.last_block());
        run.adviser.holding.targets.truncate(before);
        outcome.map_err(|error| in_row(error, i))?;
        for (k, result) in block.results.iter().enumerate() {
            let elem = registers.elem(result.reg);
            if !registers.is_array(result.reg) {
                let bits = registers.bits(*result);
                let place = placing.place(run.adviser.memory, k, elem, &[width])?;
                let at = place.array().lmad().fix(0, i).offset;
                place.store(at, bits);
                continue;
            }
            let row = registers.take(*result);
            run.pay_elements(window.map_or(row.elements(), |window| window.count))?;
            let place = match &placing.places[k] {
                Some(place) => place,
                None => {
                    let shape: SmallVec<[i64; 4]> = [width].into_iter().chain(row.shape()).collect();
                    placing.place(run.adviser.memory, k, elem, &shape)?
                }
            };
            let place = place.with_view(place.array().lmad().fix(0, i));
            if !place.holds(&row) {
                fits(&place, &row)?;
                // Other columns are as an earlier pass over another part left them.
                let columns = |lmad: &Lmad| window.map(|w| lmad.triplet(0, w.first, w.count, w.step));
                let (place, row) = match (columns(place.array().lmad()), columns(row.lmad())) {
                    (Some(there), Some(here)) => (place.with_view(there), row.with_view(here)),
                    _ => (place, row),
                };
                store_row(run.adviser.memory, place, &row)?;
            }
        }
        registers.release(scope);
    }
    run.adviser.at_row(registers, operator.last_block(), None);
    Ok(())
}

/// Whether an operator of a block makes a value of its own: nothing else of the block is needed for it.
fn is_made_by_map(block: &CodeBlock, reg: RegId) -> bool {
    let maps = block.code.iter().filter_map(Instr::operator).filter(Operator::is_map);
    maps.flat_map(|map| map.dsts).any(|dst| dst.0 == reg)
}

/// Whether the rows of a block's only result are made by a map with nothing but scalars in its rows.
fn made_by_map(registers: &Registers<'_>, body: BlockId) -> bool {
    let block = &registers.code.blocks[body];
    let [result] = &block.results[..] else { return false };
    block.code.iter().filter_map(Instr::operator).filter(Operator::is_map).any(|map| {
        matches!(map.dsts, [dst] if dst.0 == result.reg)
            && registers.prepared.blocks[map.last_block()].scalar_results
    })
}

/// Rows of a result must have the shape of their place.
fn fits(place: &Granted, rows: &Array) -> Result<(), Trap> {
    let (place, rows) = (place.array().shape(), rows.shape());
    if place != rows { Err(Trap::new(mismatch("Rows of a result", &place, &rows))) } else { Ok(()) }
}
