//! How code reaches memory once the lane is chosen: the instruction of each access, the threads of each kernel.
//!
//! Text: `A a : tile`, `B b : vector`, `C c : broadcast, once per j`, `lane i ; threads j`, `thread.x i ; thread.y j`.

use super::class::Class;
use super::cost::Pricing;
use super::order::Target;
use crate::index::{Quality, Row, Step, gcd};
use galopvm_kir::{Region, VarId};
use galopvm_lmad::Lmad;

/// How the lanes of an access are loaded or stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// Neighbours at once.
    Vector {
        /// Every vector starts at a multiple of its size, counted from the start of the block.
        aligned: bool,
    },
    /// Neighbours at once, turned around.
    Reversed,
    /// One element for all lanes.
    Broadcast {
        /// The innermost loop that it changes with: loaded once for each of its steps.
        with: Option<VarId>,
    },
    /// Neighbours at once away from the borders of a clamp; the steps at the borders apart.
    Peeled,
    /// Rows of neighbours, transposed: in registers on a CPU, through workgroup memory on a GPU.
    Tile,
    /// Each lane by itself.
    Gather {
        /// There is an instruction for elements of this size.
        at_once: bool,
    },
    /// Each lane by itself, at a place from memory, compared with the bounds of the array first.
    Checked,
}

impl Pricing<'_> {
    /// How an access is made along a lane, if its array lies like this.
    pub fn reach(&self, row: &Row, lane: VarId, lmad: &Lmad) -> Reach {
        let table = self.table;
        let bytes = table.array(row.array).map_or(8, |info| info.element_bytes()).unsigned_abs();
        let lanes = self.lanes(bytes);
        let step = table.flat_step(row, lane, lmad);
        let gather = Reach::Gather { at_once: matches!(bytes, 4 | 8) };
        let class = match step.quality {
            Quality::Data => return Reach::Checked,
            Quality::Piecewise => return gather,
            // Vectors that start at multiples of their size meet no exception.
            Quality::Periodic(period) if period % lanes != 0 => return gather,
            _ => Class::of(step),
        };
        match class {
            Class::Unit if step.quality == Quality::Clamp => Reach::Peeled,
            Class::Unit => Reach::Vector { aligned: self.aligned(row, lane, lmad, lanes) },
            Class::UnitReversed => Reach::Reversed,
            Class::Broadcast => {
                let moves = |axis: &VarId| table.flat_step(row, *axis, lmad) != Step::NONE;
                Reach::Broadcast { with: row.nest.iter().rev().copied().find(|axis| moves(axis)) }
            }
            Class::Gather(_) if self.goes_on(row, lane, lmad, lanes) => Reach::Tile,
            _ => gather,
        }
    }

    /// True if each lane goes on to its neighbours in the innermost sequential loop.
    fn goes_on(&self, row: &Row, lane: VarId, lmad: &Lmad, lanes: u64) -> bool {
        let table = self.table;
        let innermost =
            table.inner(row).iter().rev().find(|axis| !table.is_parallel(**axis) && **axis != lane);
        innermost.is_some_and(|axis| {
            let step = table.flat_step(row, *axis, lmad);
            step.delta == 1 && step.quality == Quality::Exact && table.trips(*axis) >= lanes
        })
    }

    /// True if the place where each vector starts is a multiple of the number of lanes.
    fn aligned(&self, row: &Row, lane: VarId, lmad: &Lmad, lanes: u64) -> bool {
        let mut shared = lmad.offset.unsigned_abs();
        for (dim, index) in lmad.dims.iter().zip(&row.dims) {
            let Some(origin) = index.value.origin() else { return false };
            let Ok(origin) = i64::try_from(origin) else { return false };
            shared = gcd(shared, origin.unsigned_abs().saturating_mul(dim.stride.unsigned_abs()));
        }
        for axis in row.nest.iter().filter(|axis| **axis != lane) {
            let step = self.table.flat_step(row, *axis, lmad);
            if step.quality != Quality::Exact {
                return false;
            }
            shared = gcd(shared, step.delta.unsigned_abs());
        }
        // The lane itself goes on by a vector at a time.
        self.table.flat_step(row, lane, lmad).quality == Quality::Exact && shared.is_multiple_of(lanes)
    }

    /// An access in text: `C c : broadcast, once per j`.
    pub fn reach_text(&self, region: &Region, row: &Row, reach: Reach) -> String {
        let words = match reach {
            Reach::Vector { aligned: true } => "vector, aligned".into(),
            Reach::Vector { aligned: false } => "vector".into(),
            Reach::Reversed => "vector, reversed".into(),
            Reach::Broadcast { with: None } => "broadcast, once".into(),
            Reach::Broadcast { with: Some(axis) } => {
                format!("broadcast, once per {}", region.name_of(axis))
            }
            Reach::Peeled => "vector inside, borders peeled".into(),
            Reach::Tile => "tile".into(),
            Reach::Gather { at_once: true } => "gather".into(),
            Reach::Gather { at_once: false } => "gather, element by element".into(),
            Reach::Checked => "gather, checked".to_string(),
        };
        format!("{} : {words}", row.title(region))
    }

    /// The variables of a kernel that threads run over, given its lane. On a CPU the outermost other one, which is
    /// cut into chunks; on a GPU all of them, the lane first, the others from the inside.
    pub fn threads(&self, kernel: VarId, lane: VarId) -> Vec<VarId> {
        let axes = self.lane_axes(kernel);
        let mut others = axes.into_iter().filter(|axis| *axis != lane && self.table.is_parallel(*axis));
        match self.target {
            Target::Cpu => others.next().into_iter().collect(),
            Target::Gpu => {
                let mut threads: Vec<VarId> = others.collect();
                threads.push(lane);
                threads.reverse();
                threads
            }
        }
    }

    /// Lane and threads in text: `lane i ; threads j`, `thread.x i ; thread.y k ; thread.z j*h`.
    pub fn threads_text(&self, region: &Region, kernel: VarId, lane: VarId) -> String {
        let threads = self.threads(kernel, lane);
        let names: Vec<&str> = threads.iter().map(|axis| region.name_of(*axis)).collect();
        match self.target {
            Target::Cpu => {
                let threads = names.first().copied().unwrap_or("none");
                format!("lane {} ; threads {threads}", region.name_of(lane))
            }
            Target::Gpu => {
                // More than three dimensions are folded into the last one.
                let mut parts: Vec<String> = names
                    .iter()
                    .take(2)
                    .zip(["x", "y"])
                    .map(|(name, dim)| format!("thread.{dim} {name}"))
                    .collect();
                if names.len() > 2 {
                    parts.push(format!("thread.z {}", names[2..].join("*")));
                }
                parts.join(" ; ")
            }
        }
    }
}
