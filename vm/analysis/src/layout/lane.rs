//! The lane of a kernel: which variable runs across vector lanes (CPU) or neighbouring threads (GPU).
//!
//! Every parallel variable is a candidate, on a CPU also an innermost reduction whose operator may be applied in any
//! order. The cheapest one wins, reads and writes summed, with the copies that pay for it; a fresh result may be
//! born in any layout. Equal ones: see [`TIES`].

use super::choice::{ArrayChoice, Means};
use super::class::{Class, class, class_in};
use super::cost::Pricing;
use super::order::{Target, order_text};
use crate::index::{ArrayInfo, Quality, Role, Row};
use galopvm_kir::{Region, VarId};
use galopvm_lmad::Lmad;

/// What one lane would cost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneChoice {
    /// The variable.
    pub lane: VarId,
    /// By array, in the order of first accesses.
    pub arrays: Vec<ArrayChoice>,
    /// Fresh results that are born in another order than their own.
    pub born: Vec<(VarId, Vec<usize>)>,
    /// Time of a run, copies spread over the expected runs.
    pub time: u64,
    /// Copies, and results that are born in another order.
    pub transposes: u64,
    /// Elements of the arrays copied.
    pub moved: u64,
    /// Its place among the variables of the kernel, 0 the innermost.
    pub depth: u64,
}

/// A rule for lanes that take the same time: the smaller number wins.
pub struct Tie {
    /// In words.
    pub rule: &'static str,
    number: fn(&LaneChoice) -> u64,
}

/// What decides between lanes that take the same time.
pub const TIES: &[Tie] = &[
    Tie { rule: "fewer transposes", number: |choice| choice.transposes },
    Tie { rule: "fewer elements", number: |choice| choice.moved },
    Tie { rule: "the declared innermost dimension", number: |choice| choice.depth },
];

/// The rules for equal lanes in text.
pub fn ties_text() -> String {
    let rules: Vec<&str> = TIES.iter().map(|tie| tie.rule).collect();
    format!("ties : {}", rules.join(", then "))
}

impl LaneChoice {
    fn key(&self) -> Vec<u64> {
        std::iter::once(self.time).chain(TIES.iter().map(|tie| (tie.number)(self))).collect()
    }

    /// The copies of all arrays.
    pub fn copies(&self) -> impl Iterator<Item = &super::Copy> {
        self.arrays.iter().flat_map(|array| &array.copies)
    }

    /// Text: `lane = j ; manifest xs (1,0)`, `lane = i ; manifest none`.
    pub fn text(&self, region: &Region) -> String {
        format!("lane = {} ; {}", region.name_of(self.lane), self.copies_text(region))
    }

    /// Text: `manifest xs (1,0)`, `manifest none`.
    pub fn copies_text(&self, region: &Region) -> String {
        let copies: Vec<String> = self
            .copies()
            .map(|copy| format!("manifest {} {}", region.name_of(copy.array), order_text(&copy.order)))
            .collect();
        if copies.is_empty() { "manifest none".into() } else { copies.join(" ; ") }
    }
}

impl Pricing<'_> {
    /// The kernels of the region, by their outermost variables, with the numbers of their rows.
    pub fn rows_by_kernel(&self) -> Vec<(VarId, Vec<usize>)> {
        let mut kernels: Vec<(VarId, Vec<usize>)> = Vec::new();
        for (k, row) in self.table.rows.iter().enumerate() {
            let Some(kernel) = self.table.kernel(row) else { continue };
            // Rows of one kernel are next to each other, but for what is nested in them.
            match kernels.iter_mut().rev().find(|(known, _)| *known == kernel) {
                Some((_, rows)) => rows.push(k),
                None => kernels.push((kernel, vec![k])),
            }
        }
        kernels
    }

    /// The outermost variables of the kernels of the region.
    pub fn kernels(&self) -> Vec<VarId> {
        self.rows_by_kernel().into_iter().map(|(kernel, _)| kernel).collect()
    }

    /// The numbers of the rows of a kernel.
    pub fn rows_of(&self, kernel: VarId) -> Vec<usize> {
        let inside = |row: &Row| self.table.kernel(row) == Some(kernel);
        (0..self.table.rows.len()).filter(|k| inside(&self.table.rows[*k])).collect()
    }

    /// The arrays that some rows go to, in the order of first accesses.
    pub fn arrays_of(&self, rows: &[usize]) -> Vec<VarId> {
        let mut arrays: Vec<VarId> = Vec::new();
        for row in rows {
            let array = self.table.rows[*row].array;
            if !arrays.contains(&array) {
                arrays.push(array);
            }
        }
        arrays
    }

    /// The same prices with the cache split among the arrays of a kernel.
    pub fn shared(&self, kernel: VarId) -> Pricing<'_> {
        Pricing { sharing: self.arrays_of(&self.rows_of(kernel)).len() as u64, ..*self }
    }

    /// The variables that may run across lanes in a kernel, outermost first.
    pub fn lane_axes(&self, kernel: VarId) -> Vec<VarId> {
        self.lane_axes_of(&self.rows_of(kernel))
    }

    /// The variables that may run across lanes around some rows of one kernel.
    pub fn lane_axes_of(&self, rows: &[usize]) -> Vec<VarId> {
        let kernel = rows.first().and_then(|row| self.table.kernel(&self.table.rows[*row]));
        if let Some(given) = kernel.and_then(|kernel| self.profile.lanes.get(&kernel)) {
            return vec![*given];
        }
        let mut axes = Vec::new();
        for row in rows {
            let inner = self.table.inner(&self.table.rows[*row]);
            for (k, axis) in inner.iter().enumerate() {
                let innermost = k + 1 == inner.len() && self.target == Target::Cpu;
                let any_order = innermost && self.table.axis(*axis).is_some_and(|axis| axis.reassociable);
                if (self.table.is_parallel(*axis) || any_order) && !axes.contains(axis) {
                    axes.push(*axis);
                }
            }
        }
        axes
    }

    /// The cost of every lane of a kernel, the best one first.
    pub fn lane_choices(&self, kernel: VarId, means: &Means) -> Vec<LaneChoice> {
        let rows = self.rows_of(kernel);
        let arrays = self.arrays_of(&rows);
        let shared = self.shared(kernel);
        let axes = self.lane_axes(kernel);
        let count = axes.len();
        let choose = |(k, lane): (usize, &VarId)| {
            let depth = (count - 1 - k) as u64;
            shared.lane_choice(&rows, &arrays, *lane, depth, means)
        };
        let mut choices: Vec<LaneChoice> = axes.iter().enumerate().map(choose).collect();
        choices.sort_by_key(LaneChoice::key);
        choices
    }

    fn lane_choice(
        &self,
        rows: &[usize],
        arrays: &[VarId],
        lane: VarId,
        depth: u64,
        means: &Means,
    ) -> LaneChoice {
        let mut choice = LaneChoice {
            lane,
            arrays: Vec::new(),
            born: Vec::new(),
            time: 0,
            transposes: 0,
            moved: 0,
            depth,
        };
        for array in arrays {
            let of_array = |row: &&usize| self.table.rows[**row].array == *array;
            let (fresh, mut rows): (Vec<usize>, Vec<usize>) =
                rows.iter().filter(of_array).partition(|row| self.table.rows[**row].role == Role::Fresh);
            let mut time = 0u64;
            for row in fresh {
                match self.born(row, lane) {
                    Some((order, price)) => {
                        choice.transposes += 1;
                        choice.born.push((*array, order));
                        time = price.saturating_add(time);
                    }
                    None => rows.push(row),
                }
            }
            let found = self.array_choice(*array, &rows, lane, means);
            choice.transposes += found.copies.len() as u64;
            let elements = self.table.array(*array).and_then(ArrayInfo::elements).unwrap_or(0);
            let moved = elements.unsigned_abs().saturating_mul(found.copies.len() as u64);
            choice.moved = choice.moved.saturating_add(moved);
            choice.time =
                choice.time.saturating_add(time).saturating_add(found.time).saturating_add(found.spread);
            choice.arrays.push(found);
        }
        choice
    }

    /// The order in which a fresh result is better born, with the time of writing it.
    fn born(&self, row: usize, lane: VarId) -> Option<(Vec<usize>, u64)> {
        let row = &self.table.rows[row];
        let shape = self.table.array(row.array)?.shape.as_ref()?;
        let dim = row.dims.iter().position(|dim| dim.value.step(lane).delta != 0)?;
        let mut order: Vec<usize> = (0..row.dims.len()).filter(|other| *other != dim).collect();
        order.push(dim);
        let lmad = Lmad::manifest(shape, &order);
        let time = self.access(row, lane, Some(&lmad)).time;
        (time < self.access_now(row, lane).time).then_some((order, time))
    }

    /// The classes of all accesses of a kernel along each lane, innermost first:
    /// `lane j : A unit, R unit ; lane i : A gather(256), R gather(256)`.
    pub fn classes_text(&self, region: &Region, kernel: VarId) -> String {
        let rows = self.rows_of(kernel);
        let mut lanes = self.lane_axes(kernel);
        lanes.reverse();
        let lane = |lane: &VarId| {
            let mut classes: Vec<String> = rows
                .iter()
                .map(|row| &self.table.rows[*row])
                .map(|row| format!("{} {}", region.name_of(row.array), class(self.table, row, *lane)))
                .collect();
            classes.sort();
            format!("lane {} : {}", region.name_of(*lane), classes.join(", "))
        };
        lanes.iter().map(lane).collect::<Vec<_>>().join(" ; ")
    }

    /// Strided accesses along a lane, where arrays lie now: `1 strided read and 1 strided write`.
    pub fn strided_text(&self, kernel: VarId, lane: VarId) -> String {
        let (mut reads, mut writes) = (0, 0);
        for row in self.rows_of(kernel) {
            let row = &self.table.rows[row];
            if matches!(class(self.table, row, lane), Class::Gather(_) | Class::Tile(_) | Class::Data) {
                let count = if matches!(row.role, Role::Read(_)) { &mut reads } else { &mut writes };
                *count += 1;
            }
        }
        let part = |count: u64, what: &str| match count {
            0 => None,
            1 => Some(format!("1 strided {what}")),
            _ => Some(format!("{count} strided {what}s")),
        };
        let parts: Vec<String> = [part(reads, "read"), part(writes, "write")].into_iter().flatten().collect();
        if parts.is_empty() { "nothing strided".into() } else { parts.join(" and ") }
    }

    /// The period of an access along a lane, if it has one.
    pub fn period(&self, row: &Row, lane: VarId) -> Option<u64> {
        let lmad = self.table.array(row.array)?.lmad.as_ref()?;
        match self.table.flat_step(row, lane, lmad).quality {
            Quality::Periodic(period) => Some(period),
            _ => None,
        }
    }

    /// The class of an access along a lane with the copies of a choice.
    pub fn chosen_class(&self, row: usize, choice: &LaneChoice) -> Class {
        let here = &self.table.rows[row];
        let copy = choice.copies().find(|copy| copy.rows.contains(&row));
        let shape = self.table.array(here.array).and_then(|info| info.shape.as_ref());
        match copy.zip(shape) {
            Some((copy, shape)) => {
                class_in(self.table, here, choice.lane, &Lmad::manifest(shape, &copy.order))
            }
            None => class(self.table, here, choice.lane),
        }
    }
}
