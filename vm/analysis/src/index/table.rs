//! The index table: one row for each complete read and write of a region.
//!
//! A row says which array it goes to (through views: the array that the view is of, with the exact composed index),
//! which statement it belongs to, and for each dimension the index as written and what is known of it
//! ([`Value`]). Levels grow strictly inward and come back after every body. Built in `walk.rs`.
//!
//! Text of a row: `A x0 : i {i p0} ; j {j s1}`, per dimension the index and the variables that went into it, each
//! with its kind (`p` parallel, `s` sequential, `o` sequential around the outermost kernel) and level, then
//! `data` if memory did.

use super::value::{Quality, Step, Value};
use galopvm_base::{ElemType, TypedId};
use galopvm_kir::text::print_index_exp;
use galopvm_kir::{CheckedRegion, Exp, ReadId, Region, VarId};
use galopvm_lmad::Lmad;

/// What runs over an iteration variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// In any order at once.
    Parallel,
    /// One after the other.
    Sequential,
}

/// An iteration variable. (A `while` loop has none; the first name that it carries stands for it.)
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    /// What runs over it.
    pub kind: Kind,
    /// Its level.
    pub level: u32,
    /// How many steps it makes: the observed number, else the middle of what is possible.
    pub trips: u64,
    /// Sequential, but its steps may be combined in any order.
    pub reassociable: bool,
}

/// An array of the region that is no view of another one.
#[derive(Clone, PartialEq, Debug)]
pub struct ArrayInfo {
    /// Element type.
    pub elem: ElemType,
    /// Its extents, if they are known.
    pub shape: Option<Vec<i64>>,
    /// How it lies in its block now, if that is known.
    pub lmad: Option<Lmad>,
    /// The variables around the place where its block is made, outermost first; none for parameters.
    pub nest: Vec<VarId>,
    /// A loop carries it: another value in each round.
    pub carried: bool,
    /// A kernel of the region makes it and writes each place once.
    pub fresh: bool,
}

impl ArrayInfo {
    /// The number of elements, if it is known.
    pub fn elements(&self) -> Option<i64> {
        self.shape.as_ref().map(|shape| shape.iter().fold(1i64, |n, size| n.saturating_mul((*size).max(0))))
    }

    /// Bytes of an element.
    pub fn element_bytes(&self) -> i64 {
        self.elem.bytes() as i64
    }
}

/// What a row does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Role {
    /// Reads; the number of the access.
    Read(ReadId),
    /// Writes an element of an array that keeps its layout.
    Update,
    /// Writes an element of a fresh result, whose layout is free.
    Fresh,
}

/// The index of one dimension.
#[derive(Clone, PartialEq, Debug)]
pub struct DimIndex {
    /// As written, views composed.
    pub source: Exp,
    /// What is known of it.
    pub value: Value,
}

/// One complete access.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The array that it goes to.
    pub array: VarId,
    /// Reading or writing.
    pub role: Role,
    /// The statement it belongs to; nothing for a fresh result, and for reads among the results of the region.
    pub statement: Option<VarId>,
    /// The number of the read in its statement, if the statement is not just this read.
    pub number: Option<u32>,
    /// By dimension of the array.
    pub dims: Vec<DimIndex>,
    /// The variables around it, outermost first.
    pub nest: Vec<VarId>,
    /// The branches around it: the first name that the `if` binds, and the side.
    pub branches: Vec<(VarId, bool)>,
    /// The names it goes through on the way to the array, the array's neighbour first.
    pub views: Vec<VarId>,
}

/// The index table of a region.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// In program order.
    pub rows: Vec<Row>,
    /// Reads that leave dimensions open, with the index of their first element: views, which move nothing.
    pub slices: Vec<Row>,
    /// By variable.
    pub(super) axes: Vec<Option<Axis>>,
    /// By variable.
    pub(super) arrays: Vec<Option<ArrayInfo>>,
    /// By variable: the level of the place where it is bound.
    pub(super) levels: Vec<Option<u32>>,
}

impl Table {
    /// What is known of an iteration variable.
    pub fn axis(&self, var: VarId) -> Option<&Axis> {
        self.axes.get(var.index()).and_then(Option::as_ref)
    }

    /// How many steps a variable makes; 1 for what is none.
    pub fn trips(&self, var: VarId) -> u64 {
        self.axis(var).map_or(1, |axis| axis.trips)
    }

    /// What is known of an array.
    pub fn array(&self, var: VarId) -> Option<&ArrayInfo> {
        self.arrays.get(var.index()).and_then(Option::as_ref)
    }

    /// The level at which a name is bound.
    pub fn level(&self, var: VarId) -> Option<u32> {
        self.levels.get(var.index()).copied().flatten()
    }

    /// True if a variable is parallel.
    pub fn is_parallel(&self, var: VarId) -> bool {
        self.axis(var).is_some_and(|axis| axis.kind == Kind::Parallel)
    }

    /// The reads, in program order.
    pub fn reads(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| matches!(row.role, Role::Read(_)))
    }

    /// The writes: updates where they stand, fresh results at the end of their kernel.
    pub fn writes(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !matches!(row.role, Role::Read(_)))
    }

    /// The position in the nest of a row of its outermost kernel.
    pub fn kernel_at(&self, row: &Row) -> Option<usize> {
        row.nest.iter().position(|var| self.is_parallel(*var))
    }

    /// The outermost variable of the outermost kernel around a row: a name for that kernel.
    pub fn kernel(&self, row: &Row) -> Option<VarId> {
        self.kernel_at(row).map(|at| row.nest[at])
    }

    /// The variables around a row that are constant during a launch of its kernel.
    pub fn outer<'a>(&self, row: &'a Row) -> &'a [VarId] {
        &row.nest[..self.kernel_at(row).unwrap_or(0)]
    }

    /// The variables around a row that a launch runs over.
    pub fn inner<'a>(&self, row: &'a Row) -> &'a [VarId] {
        &row.nest[self.kernel_at(row).unwrap_or(0)..]
    }

    /// The change of a place for a step of a variable, with the strides of this view.
    pub fn flat_step(&self, row: &Row, axis: VarId, lmad: &Lmad) -> Step {
        let mut sum = Step::NONE;
        for (dim, index) in lmad.dims.iter().zip(&row.dims) {
            sum = sum.plus(index.value.step(axis).times(dim.stride));
        }
        sum
    }

    /// The row of a read, complete or not.
    pub fn read(&self, read: ReadId) -> Option<&Row> {
        self.rows.iter().chain(&self.slices).find(|row| row.role == Role::Read(read))
    }

    /// All reads in text, one line each: `read0 A x0 : i {i p0} ; j {j s1} ; step i +512, j +1`.
    pub fn report(&self, region: &CheckedRegion) -> String {
        let number = |row: &Row| match row.role {
            Role::Read(read) => Some(read),
            Role::Update | Role::Fresh => None,
        };
        let mut rows: Vec<(ReadId, &Row)> =
            self.rows.iter().chain(&self.slices).filter_map(|row| Some((number(row)?, row))).collect();
        rows.sort_by_key(|(read, _)| read.0);
        let line = |(read, row): (ReadId, &Row)| {
            format!("{read} {} ; step {}\n", row.text(self, region), self.steps_text(region.region(), row))
        };
        rows.into_iter().map(line).collect()
    }

    /// The distance in elements for a step of each variable around a row: `i +512, j +1 clamp, k ?`.
    fn steps_text(&self, region: &Region, row: &Row) -> String {
        let lmad = self.array(row.array).and_then(|info| info.lmad.as_ref());
        let step = |axis: &VarId| {
            let name = region.name_of(*axis);
            if !row.dims.iter().any(|dim| dim.value.depends_on(*axis)) {
                return None;
            }
            let Some(step) = lmad.map(|lmad| self.flat_step(row, *axis, lmad)) else {
                return Some(format!("{name} ?"));
            };
            Some(match step.quality {
                Quality::Exact => format!("{name} {:+}", step.delta),
                Quality::Clamp => format!("{name} {:+} clamp", step.delta),
                Quality::Periodic(period) => format!("{name} {:+} periodic({period})", step.delta),
                Quality::Piecewise => format!("{name} {:+} piecewise", step.delta),
                Quality::Data => format!("{name} ?"),
            })
        };
        let steps: Vec<String> = row.nest.iter().filter_map(step).collect();
        if steps.is_empty() { "none".into() } else { steps.join(", ") }
    }

    /// The levels of all names in text, in the order in which they are bound: `x5 0 ; i 0 ; x3 1`.
    pub fn levels_text(&self, region: &Region) -> String {
        let bound = region.body.bound_vars();
        let known = bound.iter().filter_map(|var| Some((region.name_of(*var), self.level(*var)?)));
        known.map(|(name, level)| format!("{name} {level}")).collect::<Vec<_>>().join(" ; ")
    }
}

impl Row {
    /// The name of the access in text: `x0`, `x0#2`, `-` for a fresh result.
    pub fn name(&self, region: &Region) -> String {
        let statement = match (self.statement, self.role) {
            (Some(var), _) => region.name_of(var),
            (None, Role::Read(_)) => "result",
            (None, _) => return "-".into(),
        };
        self.number.map_or(statement.into(), |number| format!("{statement}#{number}"))
    }

    /// The array and the access: `A x0`.
    pub fn title(&self, region: &Region) -> String {
        format!("{} {}", region.name_of(self.array), self.name(region))
    }

    /// True if memory went into some index.
    pub fn has_data(&self) -> bool {
        self.dims.iter().any(|dim| dim.value.data)
    }

    /// The row in text.
    pub fn text(&self, table: &Table, region: &CheckedRegion) -> String {
        format!("{} : {}", self.title(region.region()), self.index_text(table, region))
    }

    /// The index in text, dimension by dimension.
    pub fn index_text(&self, table: &Table, region: &CheckedRegion) -> String {
        let code = region.region();
        let outer = table.outer(self);
        let dim = |dim: &DimIndex| {
            let mut axes: Vec<(u32, &str, char)> = dim
                .value
                .known_axes()
                .filter_map(|var| {
                    let axis = table.axis(var)?;
                    let kind = match axis.kind {
                        _ if outer.contains(&var) => 'o',
                        Kind::Parallel => 'p',
                        Kind::Sequential => 's',
                    };
                    Some((axis.level, code.name_of(var), kind))
                })
                .collect();
            axes.sort_unstable();
            let mut parts: Vec<String> =
                axes.iter().map(|(level, name, kind)| format!("{name} {kind}{level}")).collect();
            if dim.value.data {
                parts.push("data".into());
            }
            format!("{} {{{}}}", print_index_exp(code, &dim.source), parts.join(", "))
        };
        self.dims.iter().map(dim).collect::<Vec<_>>().join(" ; ")
    }
}
