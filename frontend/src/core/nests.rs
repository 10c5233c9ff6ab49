//! Fusion of nests: a map whose rows are arrays becomes part of the map that reads them where the fusion of what is inside of both
//! leaves none of these rows; so do maps whose columns short operators inside of a map read, if they are cheap.
//!
//! ```text
//! a = map n (xs) (x) { map m (x) (e) { f e } }         a = map n (xs) (x) { map m (x) (e) { g (f e) } }
//! b = map n (a) (y) { map m (y) (e) { g e } }   becomes
//! ```
//!
//! Invariants:
//! - Arrays are gone afterwards, none is made for a row instead of for all.
//! - What goes into a map, to be done again for each of its rows, takes no longer than reading its result.

use super::fuse::{Fuser, changes, count, is_flat, is_short};
use super::hoist::{used_in, work};
use super::ir::*;
use galopvm_base::TypedId;
use galopvm_bytecode::ValueType;
use std::collections::HashSet;

/// The arithmetic for an element, in additions, that takes no longer than reading it.
const LEAST_WORK: u64 = 2;

/// The arithmetic for an element, in additions, up to which a map becomes part of another nest. Where both take longer, an array between
/// them costs nothing next to that, and kernels of their own choose their lanes by themselves.
const MOST_WORK: u64 = 32;

impl Fuser<'_> {
    /// Makes a map before the statement at a place part of it, if that leaves no rows between them; gives the statement's place then.
    pub fn absorb_nest(&mut self, block: &mut Block, at: usize) -> Option<usize> {
        self.absorb_rows(block, at).or_else(|| self.absorb_columns(block, at))
    }

    fn absorb_rows(&mut self, block: &mut Block, at: usize) -> Option<usize> {
        let Op::Map { width, arrays, .. } = &block.stms[at].op else { return None };
        let is_read = |def: &Var| {
            let here = arrays.iter().filter(|array| *array == def).count();
            self.uses_of(*def) == here
        };
        let has_rows = |def: &Var| arrays.contains(def) && self.vars[*def].rank > 1;
        let producer = self.last_before(&block.stms[..=at], &|stm| {
            matches!(&stm.op, Op::Map { width: own, .. } if own == width)
                && stm.defs.iter().any(has_rows)
                && stm.defs.iter().all(is_read)
        })?;
        let map = block.stms[producer].clone();
        if work(&map.op).min(work(&block.stms[at].op)) > MOST_WORK {
            return None;
        }
        let Op::Map { body: made, .. } = &map.op else { return None };
        let rows =
            made.results.iter().filter_map(|result| result.var()).filter(|var| !self.vars[*var].is_scalar());
        let rows: HashSet<Var> = rows.collect();
        let mut joined = self.absorb(block.stms[at].op.clone(), map);
        let Op::Map { body, .. } = &mut joined else { return None };
        if !self.leaves_none(body, &rows) {
            return None;
        }
        block.stms[at].op = joined;
        block.stms.remove(producer);
        Some(at - 1)
    }

    /// Makes arithmetic part of a map's body where only operators inside read its columns.
    fn absorb_columns(&mut self, block: &mut Block, at: usize) -> Option<usize> {
        let Op::Map { body, .. } = &block.stms[at].op else { return None };
        let mut inside = vec![0; self.vars.len()];
        count(body, &mut inside);
        let mut place = at;
        while place > 0 && !changes(&block.stms[place - 1].op) {
            place -= 1;
            let ([def], Op::Permute { array, perm }) = (&block.stms[place].defs[..], &block.stms[place].op)
            else {
                continue;
            };
            let (def, array) = (*def, *array);
            let uses = inside.get(def.index()).map_or(0, |uses| *uses as usize);
            if perm[..] != [1, 0] || uses == 0 || uses != self.uses_of(def) || self.uses_of(array) != 1 {
                continue;
            }
            let Some(first) = block.stms[..place].iter().position(|stm| stm.defs == [array]) else {
                continue;
            };
            if !block.stms[first].is_pure() || block.stms[first..place].iter().any(|stm| changes(&stm.op)) {
                continue;
            }
            let Some((views, map)) = self.turned(&block.stms[first], def) else { continue };
            let Op::Map { body, .. } = &block.stms[at].op else { return None };
            let mut body = body.clone();
            body.stms.insert(0, map);
            if !self.leaves_none(&mut body, &HashSet::from([def])) {
                continue;
            }
            if let Op::Map { body: old, .. } = &mut block.stms[at].op {
                *old = body;
            }
            let place_now = at - 2 + views.len();
            block.stms.remove(place);
            block.stms.splice(first..=first, views);
            return Some(place_now);
        }
        None
    }

    /// Fuses what is inside of a block; true if these arrays are not made any more.
    fn leaves_none(&mut self, body: &mut Block, arrays: &HashSet<Var>) -> bool {
        let mut uses = vec![0; self.vars.len()];
        count(body, &mut uses);
        Fuser { vars: self.vars, uses }.block(body);
        !arrays.is_empty() && !makes(body, arrays)
    }

    /// A map of few maps whose rows are to be columns: views, and a map over the columns of what it goes over.
    fn turned(&mut self, stm: &Stm, turned: Var) -> Option<(Vec<Stm>, Stm)> {
        let Op::Map { width, arrays, body } = &stm.op else { return None };
        let [Stm { defs, op: Op::Map { width: inner_width, arrays: inner, body: cell }, .. }] =
            &body.stms[..]
        else {
            return None;
        };
        let is_whole = defs.len() == 1 && body.results == [Atom::Var(defs[0])];
        let is_outside = inner_width.var().is_none_or(|var| !body.params.contains(&var));
        if !is_whole || !is_outside || !is_short(*width) || !is_arithmetic(cell) {
            return None;
        }
        let mut used = HashSet::new();
        used_in(cell, &mut used);
        // What the new map goes over, and what the one inside of it does.
        let (mut over, mut rows) = (Vec::new(), Vec::new());
        let (mut below, mut cells) = (Vec::new(), Vec::new());
        for (array, row) in arrays.iter().zip(&body.params) {
            if self.vars[*row].is_scalar() {
                below.push(*array);
                cells.push(*row);
            } else if used.contains(row) || !inner.contains(row) {
                return None;
            }
        }
        let mut views = Vec::new();
        for (array, element) in inner.iter().zip(&cell.params) {
            let Some(row) = body.params.iter().position(|row| row == array) else {
                over.push(*array);
                rows.push(*element);
                continue;
            };
            let ty = self.vars[arrays[row]];
            let columns = self.vars.push(ty);
            let perm = [1, 0].into_iter().chain(2..u32::from(ty.rank)).collect();
            views.push(Stm::new(vec![columns], Op::Permute { array: arrays[row], perm }, stm.origin));
            let column = self.vars.push(ValueType { rank: ty.rank - 1, ..ty });
            over.push(columns);
            rows.push(column);
            below.push(column);
            cells.push(*element);
        }
        if over.is_empty() || below.is_empty() {
            return None;
        }
        let column = self.vars.push(ValueType { rank: 1, ..self.vars[turned] });
        let cell = Block { params: cells, ..cell.clone() };
        let inside = Stm::new(vec![column], Op::Map { width: *width, arrays: below, body: cell }, stm.origin);
        let body = Block { params: rows, stms: vec![inside], results: vec![Atom::Var(column)] };
        let op = Op::Map { width: *inner_width, arrays: over, body };
        Some((views, Stm::new(vec![turned], op, stm.origin)))
    }
}

/// Whether a block is so little arithmetic that it may be done again instead of reading its result.
fn is_arithmetic(block: &Block) -> bool {
    is_flat(block, false) && block.stms.iter().map(|stm| work(&stm.op)).sum::<u64>() <= LEAST_WORK
}

/// Whether one of these arrays is made in a block, or below it.
fn makes(block: &Block, arrays: &HashSet<Var>) -> bool {
    block.params.iter().any(|param| arrays.contains(param))
        || block.stms.iter().any(|stm| {
            stm.defs.iter().any(|def| arrays.contains(def))
                || stm.op.blocks().into_iter().any(|inner| makes(inner, arrays))
        })
}
