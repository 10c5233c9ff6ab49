//! Kernels of few long rows: whether the operators of a row are better executed one after the other, each by itself, than several
//! rows at a time.
//!
//! Lanes across rows have arrays of their own, so that what a row makes on its way is there once for each lane, whether there is
//! a row for it or not. As long as all of these fit into the second-level cache that costs nothing. Where they do not, and rows
//! are few and long enough for launches not to count, the operators of a row have enough elements for lanes and threads.

use crate::index::table;
use crate::numbers::Numbers;
use crate::work::{Work, work};
use galopvm_base::TypedId;
use galopvm_kir::{Axis, Body, CheckedRegion, Exp, Machine, Observed, Rhs, Stm, VarId};

/// Rows from which on launches in each of them would count.
const FEW: u64 = 64;

/// An operator of a row is long if it has one of so many of the operations that are worth threads.
const SHARE: u64 = 64;

/// One of so many operations of a row may be outside of such operators: there it has no lanes then.
const MOSTLY: u64 = 4;

/// An operator that is launched by itself takes as long as so many times the operations that are worth threads, even if it has little
/// to do: seen for rows of thirty operators, of which one has all the work.
const LAUNCH: u64 = 4;

/// What rows make on their way, found statement by statement.
struct Row<'a> {
    region: &'a CheckedRegion,
    numbers: &'a Numbers<'a>,
    work: &'a Work,
    /// Iterations from which on an operator is long.
    long: u64,
    /// The axes of its long operators.
    axes: Vec<VarId>,
    /// The bytes of its arrays.
    bytes: u64,
    /// How many operators and loops it has.
    operators: u64,
}

/// Why the rows of a region's kernel should come one after the other, operator by operator; nothing if they should not.
pub fn few_long_rows(region: &CheckedRegion, observed: &Observed, machine: &Machine) -> Option<String> {
    let numbers = Numbers::new(region, observed);
    let (axes, body) = only_kernel(&region.region().body)?;
    let count = axes.iter().try_fold(1u64, |rows, axis| {
        let extent = u64::try_from(numbers.size(&axis.bound)?).unwrap_or(0);
        Some(rows.saturating_mul(extent))
    })?;
    if count == 0 || count >= FEW || !has_arrays(body) {
        return None;
    }
    let work = work(region, &table(region, observed));
    let mut row = Row {
        region,
        numbers: &numbers,
        work: &work,
        long: (machine.thread_grain / SHARE).max(1),
        axes: Vec::new(),
        bytes: 0,
        operators: 0,
    };
    row.body(body, &body.results);
    let all = axes.first().map_or(0, |axis| work.inside(axis.var));
    let in_operators =
        work.pieces.iter().filter(|piece| piece.axes.iter().any(|axis| row.axes.contains(axis)));
    let in_operators = in_operators.fold(0u64, |sum, piece| sum.saturating_add(piece.total()));
    let lanes = machine.vectors.lanes as u64;
    let bytes = row.bytes.saturating_mul(lanes);
    let is_large = lanes > 1 && bytes > machine.l2_bytes as u64;
    let launches = row.operators.max(1).saturating_mul(machine.thread_grain.saturating_mul(LAUNCH));
    let is_long = all / count >= launches && all.saturating_sub(in_operators) <= all / MOSTLY;
    (is_large && is_long).then(|| {
        format!(
            "{count} rows, each of which has operators of its own: {lanes} lanes across them would have {bytes} bytes of arrays"
        )
    })
}

/// The kernel of a body, if it has one and no more.
fn only_kernel(body: &Body) -> Option<(&[Axis], &Body)> {
    let mut kernels = body.stms.iter().filter_map(|stm| match &stm.rhs {
        Rhs::Kernel { axes, body } => Some((axes.as_slice(), body)),
        _ => None,
    });
    let first = kernels.next()?;
    kernels.next().is_none().then_some(first)
}

/// Whether operators inside make arrays at all.
fn has_arrays(body: &Body) -> bool {
    let mut has = false;
    body.visit_stms(&mut |stm| has |= matches!(stm.rhs, Rhs::Kernel { .. } | Rhs::Scan { .. }));
    has
}

impl Row<'_> {
    /// The statements of a row, but not those of loops: their operators would be launched in each round. What a kernel makes as a
    /// result lies where that goes.
    fn body(&mut self, body: &Body, results: &[Exp]) {
        for stm in &body.stms {
            let is_operator = matches!(
                stm.rhs,
                Rhs::Kernel { .. }
                    | Rhs::Scan { .. }
                    | Rhs::Reduce { .. }
                    | Rhs::For { .. }
                    | Rhs::While { .. }
                    | Rhs::Scatter { .. }
            );
            self.operators += u64::from(is_operator);
            match &stm.rhs {
                Rhs::Kernel { axes, .. } => {
                    self.operator(axes);
                    if !stm.pat.iter().all(|var| results.contains(&Exp::Var(*var))) {
                        self.makes(stm, axes);
                    }
                }
                Rhs::Scan { axis, .. } => {
                    self.operator(std::slice::from_ref(axis));
                    self.makes(stm, std::slice::from_ref(axis));
                }
                Rhs::Reduce { axes, .. } => self.operator(axes),
                // What a side gives is copied.
                Rhs::If { then, otherwise, .. } => {
                    self.body(then, &[]);
                    self.body(otherwise, &[]);
                }
                Rhs::Array(_)
                | Rhs::Exps(_)
                | Rhs::For { .. }
                | Rhs::While { .. }
                | Rhs::Update { .. }
                | Rhs::Manifest { .. }
                | Rhs::Scatter { .. } => {}
            }
        }
    }

    fn trips(&self, axes: &[Axis]) -> u64 {
        axes.iter().fold(1, |trips, axis| trips.saturating_mul(self.work.trips[axis.var.index()]))
    }

    fn operator(&mut self, axes: &[Axis]) {
        if let Some(outermost) = axes.first()
            && self.trips(axes) >= self.long
        {
            self.axes.push(outermost.var);
        }
    }

    /// Counts the arrays that an operator with these axes makes; inner extents that nobody knows count as one.
    fn makes(&mut self, stm: &Stm, axes: &[Axis]) {
        for var in &stm.pat {
            let ty = self.region.type_of(*var);
            let inner = ty.shape.iter().skip(axes.len()).map(|extent| self.numbers.size(extent).unwrap_or(1));
            let each =
                inner.fold(1u64, |size, extent| size.saturating_mul(u64::try_from(extent).unwrap_or(0)));
            let bytes = self.trips(axes).saturating_mul(each).saturating_mul(ty.elem.bytes() as u64);
            self.bytes = self.bytes.saturating_add(bytes);
        }
    }
}
