//! What follows from the lane: how many vectors are computed together, which rows are, and what goes past the caches.
//!
//! Decisions for code with vectors; where the machine has none, there are none. They depend on the code, the lane and
//! the machine alone, so that plans with the same lane are the same code.

use galopvm_base::ScalarOp;
use galopvm_base::scalar::Precision;
use galopvm_kir::borders::borders;
use galopvm_kir::kernel::{Rows, is_elementwise, is_scalar_code, is_straight, spread};
use galopvm_kir::linear::{Definitions, reads_neighbours};
use galopvm_kir::{
    ArrayOp, Axis, Body, CheckedRegion, Combine, Decision, Exp, Machine, Plan, Rhs, Stm, VarId,
};
use std::collections::BTreeSet;

/// Rows, and vectors of each, that are computed together at most.
const MOST_ROWS: usize = 6;
const MOST_VECTORS: usize = 4;

/// Vectors of partial results of a reduction.
const PARTIAL_RESULTS: usize = 4;

/// Expressions of a body up to which many vectors of a fold are kept, or two of anything, or two of a body with loops.
const SHORT_FOLD: usize = 12;
const SHORT: usize = 48;
const SHORT_LOOP: usize = 80;

/// Expressions of loops that are the same for all lanes from which many vectors share them, if there are no more than so many
/// times as many others.
const SHARED: usize = 12;
const OTHERS: usize = 3;

/// Expressions of a body that may be there twice.
const LARGEST_TWICE: usize = 200;

/// Operations of a scatter's body from which it is computed in vectors.
const WORTH_LANES: usize = 12;

/// What a division counts there.
const DIVISION: usize = 8;

/// Results go past the caches from so many times the second-level cache.
const LARGE: u64 = 4;

/// Library functions in a body up to which that pays: with more of them memory is not what is waited for.
const FEW_FUNCTIONS: usize = 2;

/// Adds to a plan what follows from its lane.
pub fn complete(region: &CheckedRegion, machine: &Machine, plan: &mut Plan) {
    let is_view = |stm: &&Stm| matches!(stm.rhs, Rhs::Array(ArrayOp::View { .. }));
    let stms = &region.region().body.stms;
    let views = stms.iter().rev().take_while(is_view).count();
    let Some((main, lets)) = stms[..stms.len() - views].split_last() else { return };
    if machine.vectors.lanes == 1 || lets.iter().any(|stm| !matches!(stm.rhs, Rhs::Exps(_))) {
        return;
    }
    let mut vectors = Vectors { region, machine, plan };
    match &main.rhs {
        Rhs::Kernel { axes, body } => {
            vectors.kernel(axes, body);
            vectors.stream(axes, body);
        }
        Rhs::Scatter { axes, body, combine, .. } => vectors.scatter(axes, body, combine.is_some()),
        Rhs::Scan { axis, body, combine } => vectors.scan(axis, body, combine),
        Rhs::Reduce { .. }
        | Rhs::Exps(_)
        | Rhs::For { .. }
        | Rhs::While { .. }
        | Rhs::If { .. }
        | Rhs::Update { .. }
        | Rhs::Manifest { .. }
        | Rhs::Array { .. } => vectors.statement(main),
    }
}

struct Vectors<'a> {
    region: &'a CheckedRegion,
    machine: &'a Machine,
    plan: &'a mut Plan,
}

impl Vectors<'_> {
    fn groups(&mut self, axis: VarId, groups: usize, reason: String) {
        self.plan.decide(Decision::Groups(axis, groups as u32), reason);
    }

    fn kernel(&mut self, axes: &[Axis], body: &Body) {
        let is_outer = |lane: VarId| axes.iter().any(|axis| axis.var == lane);
        if let Some((Stm { rhs: Rhs::Kernel { axes, body }, .. }, lets)) = body.stms.split_last()
            && !self.plan.lane().is_some_and(is_outer)
        {
            lets.iter().for_each(|stm| self.statement(stm));
            return self.kernel(axes, body);
        }
        let Some(lane) = self.plan.kernel_lane(axes) else { return self.folds(body) };
        match tiled(axes, body, lane) {
            Some((row, rows)) => self.tile(row, lane, &rows),
            None => {
                self.strands(lane, &[body]);
                self.inside(lane, body);
            }
        }
    }

    /// Reductions that have the lanes for themselves.
    fn folds(&mut self, body: &Body) {
        body.stms.iter().for_each(|stm| self.statement(stm));
    }

    fn statement(&mut self, stm: &Stm) {
        match &stm.rhs {
            Rhs::Reduce { axes, body, combine } => {
                match (spread(self.region.region(), axes, body, combine), axes.last()) {
                    (Some(_), Some(axis)) if combine.scalar_ops().is_some() => {
                        let reason = "no partial result waits for the one before it";
                        self.groups(axis.var, PARTIAL_RESULTS, reason.into());
                    }
                    (Some(_), Some(axis)) => self.strands(axis.var, &[body, &combine.body]),
                    _ => {
                        self.folds(body);
                        self.folds(&combine.body);
                    }
                }
            }
            Rhs::For { body, .. } | Rhs::While { body, .. } => self.folds(body),
            Rhs::If { then, otherwise, .. } => {
                self.folds(then);
                self.folds(otherwise);
            }
            // Nothing of it is computed in lanes.
            Rhs::Exps(_)
            | Rhs::Kernel { .. }
            | Rhs::Scan { .. }
            | Rhs::Scatter { .. }
            | Rhs::Update { .. }
            | Rhs::Manifest { .. }
            | Rhs::Array(_) => {}
        }
    }

    /// Many vectors where little but a sum is kept for each lane: a wide stripe of columns is then read row by row.
    fn strands(&mut self, lane: VarId, bodies: &[&Body]) {
        let Size { loops, leaves, expressions, .. } = Size::of(bodies);
        let mut is_wide = false;
        bodies.iter().for_each(|body| {
            body.visit_stms(&mut |stm| {
                is_wide |= stm.pat.iter().any(|var| self.region.type_of(*var).elem.bytes() == 8);
            });
        });
        let registers = self.machine.vectors.registers;
        let (groups, why) = if self.plan.stretch().is_some() {
            (2, "each of the rows side by side is read from one end to the other".into())
        } else if is_short_fold(bodies) {
            let many = if registers > 16 { 8 } else { 4 };
            (many, format!("{expressions} expressions around a sum for each lane, {registers} registers"))
        } else if expressions <= if loops { SHORT_LOOP } else { SHORT } {
            (2, format!("{expressions} expressions: one vector need not wait for the other"))
        } else if let Some(shared) = shared_by_lanes(bodies, lane) {
            let many = if registers > 16 { MOST_VECTORS } else { 2 };
            (many, format!("{shared} expressions in each turn are the same for all of them"))
        } else {
            (1, format!("{expressions} expressions have enough to do in between"))
        };
        // Where each turn asks which lanes go on, that takes longer than the work, which then hardly needs more registers.
        let has_room = leaves && registers > 16;
        match is_wide && groups > 1 && !has_room {
            true => self.groups(lane, groups / 2, format!("{why}; half as many for elements of 64 bits")),
            false => self.groups(lane, groups, why),
        }
    }

    /// The partial results of the rows, one row of operands and an operand of all lanes stay in registers.
    fn tile(&mut self, row: VarId, lane: VarId, parts: &Rows<'_>) {
        let name = |axis: VarId| self.region.region().name_of(axis);
        let of_a_row = |var: &VarId| 1 + usize::from(self.region.type_of(*var).elem.bytes() == 8);
        let each: usize = parts.pat.iter().map(of_a_row).sum::<usize>().max(1);
        let registers = self.machine.vectors.registers;
        let (rows, groups) = shape_of_tile(registers, each);
        let reason = format!("{rows} rows share what is read along {}", name(lane));
        let filled = format!(
            "{each} registers for each of {rows} rows of {} and for one of operands, of {registers}",
            name(row)
        );
        self.plan.decide(Decision::Tile(row, rows as u32), reason);
        self.groups(lane, groups, filled);
    }

    /// Most vectors are away from borders; a body that is computed twice is a short one.
    fn inside(&mut self, lane: VarId, body: &Body) {
        let count = borders(body, lane).len();
        let mut expressions = 0;
        body.visit_exps(&mut |exp| exp.visit(&mut |_| expressions += 1));
        if count > 0 && expressions <= LARGEST_TWICE {
            let reason = format!(
                "{count} comparisons or remainders along {} come out alike for most vectors",
                self.region.region().name_of(lane)
            );
            self.plan.decide(Decision::Inside(lane), reason);
        }
    }

    /// Rows of a result with several axes need not begin at a cache line.
    fn stream(&mut self, axes: &[Axis], body: &Body) {
        let is_one_run = axes.len() == 1 || is_elementwise(self.region.region(), axes, body);
        let are_words = self.region.results().iter().any(|ty| ty.elem.bytes() >= 4);
        let is_light = is_straight(body) && functions(body) <= FEW_FUNCTIONS;
        if is_one_run && are_words && is_light && self.plan.kernel_lane(axes).is_some() {
            let bytes = LARGE * self.machine.l2_bytes as u64;
            let reason =
                format!("no loops inside: more than {LARGE} second-level caches is all memory traffic");
            self.plan.decide(Decision::Stream(bytes), reason);
        }
    }

    /// Prefixes of several vectors at a time wait for what came before them in one go.
    fn scan(&mut self, axis: &Axis, body: &Body, combine: &Combine) {
        if combine.scalar_ops().is_none() || !is_scalar_code(self.region.region(), body) {
            return;
        }
        let is_wide = self.region.results().iter().any(|ty| ty.elem.bytes() == 8);
        let groups = if is_wide { PARTIAL_RESULTS / 2 } else { PARTIAL_RESULTS };
        self.groups(axis.var, groups, "prefixes of a vector need not wait for those before it".into());
        self.stream(std::slice::from_ref(axis), body);
    }

    /// Places and values are computed in vectors and noted, then written one after the other. Where they take little to compute that
    /// pays if nothing is combined: the places of a vector are compared with the extents at once, and those outside cost nothing.
    fn scatter(&mut self, axes: &[Axis], body: &Body, combines: bool) {
        let mut operations = 0;
        body.visit_exps(&mut |whole| {
            whole.visit(&mut |exp| {
                operations += match exp {
                    // Of integers, but for floats it does no harm.
                    Exp::Op(ScalarOp::Div | ScalarOp::Mod | ScalarOp::Quot | ScalarOp::Rem, _, _) => DIVISION,
                    Exp::Op(op, _, _) if op.info().precision == Precision::Library => DIVISION,
                    Exp::Op(..) | Exp::Convert(..) => 1,
                    _ => 0,
                }
            });
        });
        match axes.last() {
            Some(axis) if is_straight(body) && operations >= WORTH_LANES => {
                let reason = format!(
                    "{operations} operations for each write, in lanes from {WORTH_LANES}, then written in order"
                );
                self.groups(axis.var, 2, reason);
            }
            Some(axis) if !combines && is_straight(body) && self.reads_neighbours(body, axis.var) => {
                let reason = "lanes read what lies side by side, and write what lies inside".into();
                self.groups(axis.var, 1, reason);
            }
            _ => self.folds(body),
        }
    }

    /// Whether neighbours along an axis read one element or neighbouring ones, each time.
    fn reads_neighbours(&self, body: &Body, axis: VarId) -> bool {
        let definitions = Definitions::of(&self.region.region().body);
        let mut are = true;
        body.visit_exps(&mut |whole| {
            whole.visit(&mut |exp| {
                if let Exp::Read(read) = exp {
                    are &= reads_neighbours(read, axis, &definitions);
                }
            });
        });
        are
    }
}

/// How much there is in bodies.
struct Size {
    folds: usize,
    loops: bool,
    /// Lanes leave a loop one by one.
    leaves: bool,
    expressions: usize,
}

impl Size {
    fn of(bodies: &[&Body]) -> Size {
        let mut size = Size { folds: 0, loops: false, leaves: false, expressions: 0 };
        for body in bodies {
            body.visit_stms(&mut |stm| {
                size.folds += usize::from(matches!(stm.rhs, Rhs::Reduce { .. }));
                size.leaves |= matches!(stm.rhs, Rhs::While { .. });
                size.loops |= matches!(stm.rhs, Rhs::While { .. } | Rhs::For { .. });
            });
            body.visit_exps(&mut |exp| exp.visit(&mut |_| size.expressions += 1));
        }
        size
    }
}

/// How many expressions in the loops of bodies are the same for all lanes, if that is much of what there is: the more vectors are
/// computed together, the less they count.
fn shared_by_lanes(bodies: &[&Body], lane: VarId) -> Option<usize> {
    let mut moving: BTreeSet<VarId> = BTreeSet::from([lane]);
    let (mut shared, mut others) = (0, 0);
    for body in bodies {
        body.visit_stms(&mut |stm| {
            if stm.free_vars().iter().any(|var| moving.contains(var)) {
                moving.extend(&stm.pat);
            }
        });
        body.visit_stms(&mut |stm| {
            let (Rhs::Reduce { body, .. } | Rhs::Kernel { body, .. } | Rhs::For { body, .. }) = &stm.rhs
            else {
                return;
            };
            body.visit_exps(&mut |whole| {
                whole.visit(&mut |exp| {
                    let mut moves = false;
                    exp.each_use(&mut |var| moves |= moving.contains(&var));
                    match exp {
                        Exp::Const(_) | Exp::Var(_) => {}
                        _ if moves => others += 1,
                        _ => shared += 1,
                    }
                });
            });
        });
    }
    (shared >= SHARED && others <= OTHERS * shared).then_some(shared)
}

/// True if bodies do little but fold one thing.
pub(super) fn is_short_fold(bodies: &[&Body]) -> bool {
    let Size { folds, loops, expressions, .. } = Size::of(bodies);
    folds == 1 && !loops && expressions <= SHORT_FOLD
}

/// The axis whose rows are computed together, if the lanes go across `lane`: they share what is read.
pub(super) fn tiled<'b>(axes: &[Axis], body: &'b Body, lane: VarId) -> Option<(VarId, Rows<'b>)> {
    let row = axes.iter().rev().map(|axis| axis.var).find(|axis| *axis != lane)?;
    let rows = Rows::of(body, Some(row), lane).ok()?;
    rows.share_a_read(row, lane).then_some((row, rows))
}

/// The rows and vectors that are computed together: those with the most results for what is read, if all results of a vector
/// take `each` registers.
fn shape_of_tile(registers: usize, each: usize) -> (usize, usize) {
    let vectors = |rows: usize| (registers.saturating_sub(1) / ((rows + 1) * each)).min(MOST_VECTORS);
    let shapes = (2..=MOST_ROWS).map(|rows| (rows, vectors(rows))).filter(|(_, vectors)| *vectors > 0);
    let parts = |(rows, vectors): (usize, usize)| (rows * vectors * each, rows + vectors * each);
    let best = shapes.reduce(|best, other| {
        let ((most, reads), (results, other_reads)) = (parts(best), parts(other));
        if results * reads > most * other_reads { other } else { best }
    });
    best.unwrap_or((2, 1))
}

/// The functions of a library that a body computes for each of its indices.
fn functions(body: &Body) -> usize {
    let mut count = 0;
    body.visit_exps(&mut |whole| {
        whole.visit(&mut |exp| {
            count += usize::from(matches!(exp, Exp::Op(op, ..) if op.info().precision == Precision::Library));
        });
    });
    count
}
