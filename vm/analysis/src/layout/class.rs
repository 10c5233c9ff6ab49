//! How the lanes of an access lie in memory.

use crate::index::{Quality, Row, Step, Table};
use galopvm_kir::{Region, VarId};
use galopvm_lmad::Lmad;
use std::fmt;

/// The class of an access along a lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// One after the other.
    Unit,
    /// One after the other, backwards.
    UnitReversed,
    /// All at the same place.
    Broadcast,
    /// So many elements apart, but each lane goes on to its neighbours: loaded in rows and transposed in registers.
    Tile(i64),
    /// So many elements apart.
    Gather(i64),
    /// Anywhere.
    Data,
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Class::Unit => f.write_str("unit"),
            Class::UnitReversed => f.write_str("unit-rev"),
            Class::Broadcast => f.write_str("bcast"),
            Class::Tile(distance) => write!(f, "tile({distance})"),
            Class::Gather(distance) => write!(f, "gather({distance})"),
            Class::Data => f.write_str("gather(data)"),
        }
    }
}

impl Class {
    /// The class of the usual step.
    pub fn of(step: Step) -> Class {
        match (step.quality, step.delta) {
            (Quality::Data, _) => Class::Data,
            (_, 0) => Class::Broadcast,
            (_, 1) => Class::Unit,
            (_, -1) => Class::UnitReversed,
            (_, distance) => Class::Gather(distance),
        }
    }

    /// True if nothing could be gained by another layout.
    pub fn is_best(self) -> bool {
        matches!(self, Class::Unit | Class::Broadcast)
    }

    /// Whether an access of the other class costs the same for each vector.
    pub fn is_like(self, other: Class) -> bool {
        let alike =
            matches!((self, other), (Class::Gather(_), Class::Gather(_)) | (Class::Tile(_), Class::Tile(_)));
        self == other || alike
    }
}

/// The class of an access along a lane, where its array lies now. Unknown layouts give [`Class::Data`] for what moves.
pub fn class(table: &Table, row: &Row, lane: VarId) -> Class {
    match table.array(row.array).and_then(|info| info.lmad.as_ref()) {
        Some(lmad) => class_in(table, row, lane, lmad),
        None if row.dims.iter().any(|dim| dim.value.depends_on(lane)) => Class::Data,
        None => Class::Broadcast,
    }
}

/// The class of an access along a lane, if its array lay like this.
pub fn class_in(table: &Table, row: &Row, lane: VarId, lmad: &Lmad) -> Class {
    Class::of(table.flat_step(row, lane, lmad))
}

/// A class in text: `A x lane i = unit`.
pub fn class_text(region: &Region, row: &Row, lane: VarId, class: Class) -> String {
    format!("{} lane {} = {class}", row.title(region), region.name_of(lane))
}
