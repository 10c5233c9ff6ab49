//! The layout that a nest asks for, and the conditions under which it is asked for: the static part of the analysis.
//!
//! A dimension comes the further inside the greater the variable is that moves its index, by rank first (what runs
//! across lanes is innermost), then by level. Conditions that speak against a layout are reported, all of them;
//! what remains is a candidate, and cost decides.

use crate::index::{Row, Table};
use galopvm_kir::{Region, VarId};
use galopvm_lmad::map_transpose;
use std::fmt::{self, Write};

/// What a layout is made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// Neighbouring kernel iterations run together.
    Gpu,
    /// One iteration after the other, the inner loops first.
    Cpu,
}

impl Target {
    /// Both.
    pub const ALL: [Target; 2] = [Target::Gpu, Target::Cpu];

    /// The word in text.
    pub fn name(self) -> &'static str {
        match self {
            Target::Gpu => "gpu",
            Target::Cpu => "cpu",
        }
    }
}

/// A condition that speaks against a layout, in the order in which they are reported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Condition {
    /// `1`: a single dimension.
    RankOne,
    /// `a`: the last index moves with no variable of the launch.
    LastInvariant,
    /// `b`: the block is made inside a kernel.
    MadeInside,
    /// `m`: another value in each round of a loop around the kernel.
    Rebuilt,
    /// `c`: the layout is no transposition of blocks.
    NoTranspose,
    /// `d`: the layout is the one that is there.
    Identity,
    /// `e`: an index depends on memory.
    Data,
    /// `f`: an index moves by more than [`STRIDE_LIMIT`].
    Stride,
    /// `k`: outside every kernel.
    Outside,
}

/// The greatest step of an index that neighbours in memory are made for.
pub const STRIDE_LIMIT: u64 = 8;

impl Condition {
    /// The letter in text.
    pub fn letter(self) -> char {
        match self {
            Condition::RankOne => '1',
            Condition::LastInvariant => 'a',
            Condition::MadeInside => 'b',
            Condition::Rebuilt => 'm',
            Condition::NoTranspose => 'c',
            Condition::Identity => 'd',
            Condition::Data => 'e',
            Condition::Stride => 'f',
            Condition::Outside => 'k',
        }
    }
}

/// The layout that a nest asks for of an array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wish {
    /// Dimensions of the array, outermost in memory first.
    pub order: Vec<usize>,
    /// What speaks against it.
    pub against: Vec<Condition>,
}

impl fmt::Display for Wish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.against.is_empty() {
            return f.write_str(&order_text(&self.order));
        }
        f.write_str("reject ")?;
        for (k, condition) in self.against.iter().enumerate() {
            if k > 0 {
                f.write_char(',')?;
            }
            f.write_char(condition.letter())?;
        }
        Ok(())
    }
}

/// A layout in text: `(1,0)`.
pub fn order_text(order: &[usize]) -> String {
    let dims: Vec<String> = order.iter().map(usize::to_string).collect();
    format!("({})", dims.join(","))
}

/// What the nest of a row asks for.
pub fn wish(table: &Table, row: &Row, target: Target) -> Wish {
    let order = order(table, row, target);
    if row.dims.len() <= 1 {
        return Wish { order, against: vec![Condition::RankOne] };
    }
    let outer = table.outer(row);
    let moves = |var: &VarId| !outer.contains(var) && table.axis(*var).is_some();
    let info = table.array(row.array);
    let made: &[VarId] = info.map_or(&[], |info| &info.nest);
    let made_inside = made.iter().any(|var| table.is_parallel(*var));
    let rebuilt = info.is_some_and(|info| info.carried)
        || made.iter().take_while(|var| !table.is_parallel(**var)).next().is_some() && !made_inside;
    let identity = order.iter().enumerate().all(|(k, dim)| k == *dim);
    let far = |value: &crate::index::Value| {
        let mut axes = value.known_axes().filter(moves);
        axes.any(|var| value.step(var).delta.unsigned_abs() > STRIDE_LIMIT)
    };
    let last_moves = row.dims.last().is_some_and(|dim| dim.value.known_axes().any(|var| moves(&var)));
    let conditions = [
        (Condition::LastInvariant, !last_moves),
        (Condition::MadeInside, made_inside),
        (Condition::Rebuilt, rebuilt),
        (Condition::NoTranspose, !identity && map_transpose(&order).is_none()),
        (Condition::Identity, identity),
        (Condition::Data, row.has_data()),
        (Condition::Stride, row.dims.iter().any(|dim| far(&dim.value))),
        (Condition::Outside, table.kernel(row).is_none()),
    ];
    let against =
        conditions.into_iter().filter_map(|(condition, holds)| holds.then_some(condition)).collect();
    Wish { order, against }
}

/// Dimensions by the greatest variable that moves them, equal ones in the order of the array.
fn order(table: &Table, row: &Row, target: Target) -> Vec<usize> {
    let outer = table.outer(row);
    let key = |dim: &usize| {
        let axes = row.dims[*dim].value.known_axes().filter(|var| !outer.contains(var));
        let keys = axes.filter_map(|var| {
            let axis = table.axis(var)?;
            let across_lanes = table.is_parallel(var) == (target == Target::Gpu);
            Some((1 + u8::from(across_lanes), axis.level))
        });
        keys.max().unwrap_or((0, 0))
    };
    let mut order: Vec<usize> = (0..row.dims.len()).collect();
    order.sort_by_key(key);
    order
}

/// The verdict of a row in text: `A x0 -> (1,0)`, `A x0 -> reject d`.
pub fn wish_text(region: &Region, row: &Row, wish: &Wish) -> String {
    format!("{} -> {wish}", row.title(region))
}
