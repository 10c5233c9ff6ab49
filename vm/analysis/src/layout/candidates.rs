//! The layouts that are worth a price for an access: what its nest wishes, and every dimension that moves along the
//! lane once innermost.
//!
//! A layout that is a transposition of blocks of what is there is a cheap copy; any other one has to be worth three
//! times as much.

use super::order::{Target, wish};
use crate::index::{Row, Table};
use galopvm_kir::VarId;
use galopvm_lmad::{Lmad, map_transpose};

/// A layout to be priced.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Candidate {
    /// Dimensions of the array, outermost in memory first.
    pub order: Vec<usize>,
    /// No transposition of blocks of what is there: the copy goes element by element.
    pub generic: bool,
}

/// The dimensions of a view by their distance in memory, farthest first.
pub fn memory_order(lmad: &Lmad) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lmad.rank()).collect();
    order.sort_by_key(|dim| std::cmp::Reverse(lmad.dims[*dim].stride.unsigned_abs()));
    order
}

/// Layouts for an access along a lane, other than the present one.
pub fn candidates(table: &Table, row: &Row, lane: VarId, target: Target) -> Vec<Candidate> {
    let Some(lmad) = table.array(row.array).and_then(|info| info.lmad.as_ref()) else { return Vec::new() };
    let now = memory_order(lmad);
    if now.len() < 2 || now.len() != row.dims.len() {
        return Vec::new();
    }
    let mut orders = vec![wish(table, row, target).order];
    for (dim, index) in row.dims.iter().enumerate() {
        if index.value.step(lane).delta != 0 {
            let mut order: Vec<usize> = now.iter().copied().filter(|other| *other != dim).collect();
            order.push(dim);
            orders.push(order);
        }
    }
    let mut found: Vec<Candidate> = Vec::new();
    for order in orders {
        if order != now && !found.iter().any(|known| known.order == order) {
            // The permutation as seen from memory: positions in the present order.
            let seen: Vec<usize> =
                order.iter().filter_map(|dim| now.iter().position(|other| other == dim)).collect();
            found.push(Candidate { generic: map_transpose(&seen).is_none(), order });
        }
    }
    found
}
