//! What of a launch code depends on: classes, never the numbers themselves.

use crate::layout::{Class, Role, Table, class};
use galopvm_base::ElemType;
use galopvm_kir::{CheckedRegion, Observed, ObservedParam, VarId};
use std::fmt;

/// How neighbouring lanes lie in memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Lane {
    /// One after the other.
    Unit,
    /// One after the other, backwards.
    Reversed,
    /// All at one place.
    Same,
    /// Anything else.
    Other,
}

/// What code depends on of a size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Bucket {
    /// Nothing to do.
    Zero,
    /// One index.
    One,
    /// Less than a vector.
    Few,
    /// Whole vectors.
    Whole,
    /// Vectors and a rest.
    Rest,
}

/// What code depends on of an array argument.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ArrayClass {
    /// Number of dimensions.
    pub rank: usize,
    /// Element type.
    pub elem: ElemType,
    /// For each access, how lanes lie.
    pub lanes: Vec<Lane>,
    /// Offset and strides but the innermost are multiples of the vector width.
    pub aligned: bool,
    /// No two indices are one place.
    pub injective: bool,
    /// It fills its stretch of memory.
    pub dense: bool,
    /// The first argument in the same block.
    pub block: usize,
    /// Nobody else holds the block.
    pub sole: bool,
}

/// What code depends on of a launch.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Signature {
    /// In the order of the parameters.
    pub arrays: Vec<ArrayClass>,
    /// In the order of the parameters.
    pub sizes: Vec<Bucket>,
}

/// The predicates by which a version of the code is entered.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Guard {
    /// For each array, the lanes of its accesses where the code relies on them.
    pub lanes: Vec<Vec<Option<Lane>>>,
    /// Arrays that must be aligned.
    pub aligned: Vec<bool>,
    /// Arrays that must be injective, and held by nobody else: the code writes in them.
    pub written: Vec<bool>,
    /// Which arrays share a block.
    pub blocks: Vec<usize>,
    /// Ranks and element types.
    pub types: Vec<(usize, ElemType)>,
}

impl Bucket {
    /// The bucket of a size for vectors of so many lanes.
    pub fn of(size: i64, lanes: i64) -> Bucket {
        match size {
            ..=0 => Bucket::Zero,
            1 => Bucket::One,
            _ if size < lanes => Bucket::Few,
            _ if size % lanes.max(1) == 0 => Bucket::Whole,
            _ => Bucket::Rest,
        }
    }
}

/// The signature of a launch whose vectors run along `lane` and have so many lanes.
pub fn signature(
    region: &CheckedRegion,
    observed: &Observed,
    table: &Table,
    lane: VarId,
    width: i64,
) -> Signature {
    let mut signature = Signature::default();
    let mut blocks = Vec::new();
    for (var, param) in region.region().params.iter().zip(&observed.params) {
        match param {
            ObservedParam::Scalar(value) if value.ty == ElemType::I64 => {
                signature.sizes.push(Bucket::of(value.as_i64(), width));
            }
            ObservedParam::Scalar(_) => {}
            ObservedParam::Array { lmad, block, references, .. } => {
                let reads = |role: &Role| matches!(role, Role::Read(_) | Role::Update);
                let rows = table.rows.iter().filter(|row| row.array == *var && reads(&row.role));
                let lanes = rows.map(|row| match class(table, row, lane) {
                    Class::Unit => Lane::Unit,
                    Class::UnitReversed => Lane::Reversed,
                    Class::Broadcast => Lane::Same,
                    Class::Tile(_) | Class::Gather(_) | Class::Data => Lane::Other,
                });
                let width = width.max(1);
                let outer = lmad.dims.len().saturating_sub(1);
                let aligned =
                    lmad.offset % width == 0 && lmad.dims[..outer].iter().all(|dim| dim.stride % width == 0);
                let first = blocks.iter().position(|other| other == block).unwrap_or(blocks.len());
                blocks.push(*block);
                signature.arrays.push(ArrayClass {
                    rank: lmad.rank(),
                    elem: region.type_of(*var).elem,
                    lanes: lanes.collect(),
                    aligned,
                    injective: lmad.is_injective(),
                    dense: lmad.is_dense(),
                    block: first,
                    sole: *references == 1,
                });
            }
        }
    }
    signature
}

/// The guard of a version that is compiled for a signature; `written` says which arrays its plan writes in.
pub fn guard_for(signature: &Signature, written: &[bool]) -> Guard {
    let mut guard = Guard::default();
    for (k, array) in signature.arrays.iter().enumerate() {
        // Any distance between lanes is served by code that gathers: only the better cases are asked for.
        let lanes: Vec<Option<Lane>> =
            array.lanes.iter().map(|lane| (*lane != Lane::Other).then_some(*lane)).collect();
        let unit = lanes.contains(&Some(Lane::Unit)) || lanes.contains(&Some(Lane::Reversed));
        guard.aligned.push(array.aligned && unit);
        guard.lanes.push(lanes);
        guard.written.push(written.get(k).copied().unwrap_or(false));
        guard.blocks.push(array.block);
        guard.types.push((array.rank, array.elem));
    }
    guard
}

impl Guard {
    /// Whether a launch may enter.
    pub fn holds(&self, signature: &Signature) -> bool {
        self.types.len() == signature.arrays.len()
            && signature.arrays.iter().enumerate().all(|(k, array)| {
                let lanes = &self.lanes[k];
                self.types[k] == (array.rank, array.elem)
                    && self.blocks[k] == array.block
                    && (!self.aligned[k] || array.aligned)
                    && (!self.written[k] || array.injective && array.sole)
                    && lanes.len() == array.lanes.len()
                    && lanes
                        .iter()
                        .zip(&array.lanes)
                        .all(|(want, lane)| want.is_none_or(|want| want == *lane))
            })
    }

    /// The number of predicates that make it enter less often.
    pub fn specificity(&self) -> usize {
        let lanes = self.lanes.iter().flatten().filter(|lane| lane.is_some()).count();
        lanes + self.aligned.iter().filter(|aligned| **aligned).count()
    }
}

impl fmt::Display for Guard {
    /// What the code relies on, and what it has instead: `lane unit; m%8==0` with the name and width put in by whoever
    /// knows them (`aligned`).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<&str> = Vec::new();
        for lane in self.lanes.iter().flatten() {
            words.push(match lane {
                Some(Lane::Unit) => "lane unit",
                Some(Lane::Reversed) => "lane reversed",
                Some(Lane::Same) => "lane broadcast",
                Some(Lane::Other) | None => "lane gather or tile",
            });
        }
        for (k, aligned) in self.aligned.iter().enumerate() {
            let unit = self.lanes[k].contains(&Some(Lane::Unit));
            match (aligned, unit) {
                (true, _) => words.push("aligned"),
                (false, true) => words.push("tail loop"),
                (false, false) => {}
            }
        }
        if self.written.contains(&true) {
            words.push("sole owner");
        }
        words.dedup();
        f.write_str(&words.join("; "))
    }
}
