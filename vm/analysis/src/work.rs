//! How much there is to do: element operations, by body and by the axes around it.
//!
//! Trip counts are those of the index table; a `while` loop is assumed to take [`ASSUMED_TRIPS`] rounds, and both branches
//! of an `if` count half. An estimate, never a proof.

use crate::index::Table;
use galopvm_base::TypedId;
use galopvm_kir::walk::Part;
use galopvm_kir::{Axis, Body, CheckedRegion, Exp, ReadId, Rhs, Stm, VarId};
use std::fmt::Write;

/// Rounds of a loop whose end depends on data.
pub const ASSUMED_TRIPS: u64 = 16;

/// The statements of one body, those inside them apart.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Piece {
    /// Axes around it, outermost first, sequential ones too.
    pub axes: Vec<VarId>,
    /// How often it is executed.
    pub runs: u64,
    /// Operations of one execution.
    pub operations: u64,
    /// The reads of one execution.
    pub reads: Vec<ReadId>,
    /// Whose elements one execution changes: the names that its updates and the scatter around it bind.
    pub changed: Vec<VarId>,
}

/// The work of a region.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Work {
    /// Bodies with something to do, in text order.
    pub pieces: Vec<Piece>,
    /// Trip counts by variable; 0 for what is not an axis.
    pub trips: Vec<u64>,
}

impl Work {
    /// Element operations altogether.
    pub fn total(&self) -> u64 {
        self.pieces.iter().fold(0, |sum, p| sum.saturating_add(p.total()))
    }

    /// Element operations that an axis is around.
    pub fn inside(&self, axis: VarId) -> u64 {
        let inside = self.pieces.iter().filter(|p| p.axes.contains(&axis));
        inside.fold(0, |sum, p| sum.saturating_add(p.total()))
    }

    /// One line for each body, and the sum.
    pub fn report(&self, region: &CheckedRegion) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            let name = |v: &VarId| format!("{} {}", region.region().name_of(*v), self.trips[v.index()]);
            let axes: Vec<String> = piece.axes.iter().map(name).collect();
            let _ = writeln!(
                text,
                "[{}] : {} runs of {} operations, {} reads",
                axes.join(", "),
                piece.runs,
                piece.operations,
                piece.reads.len()
            );
        }
        let _ = writeln!(text, "total {}", self.total());
        text
    }
}

impl Piece {
    /// Operations and reads of all executions.
    pub fn total(&self) -> u64 {
        self.runs.saturating_mul(self.operations.saturating_add(self.reads.len() as u64))
    }
}

/// The work of a region whose index table says how often its loops run.
pub fn work(region: &CheckedRegion, table: &Table) -> Work {
    let mut counter = Counter {
        table,
        axes: Vec::new(),
        work: Work { pieces: Vec::new(), trips: vec![0; region.region().vars.len()] },
    };
    counter.body(&region.region().body, 1, 1, &[]);
    counter.work
}

struct Counter<'a> {
    table: &'a Table,
    axes: Vec<VarId>,
    work: Work,
}

impl Counter<'_> {
    /// A body that is executed `runs` times; both branches of an `if` share the runs. What it gives changes elements of
    /// `changed`.
    fn body(&mut self, body: &Body, runs: u64, share: u64, changed: &[VarId]) {
        let at = self.work.pieces.len();
        let runs = runs.div_ceil(share);
        let changed = changed.to_vec();
        let mut piece = Piece { axes: self.axes.clone(), runs, changed, ..Piece::default() };
        self.work.pieces.push(Piece::default());
        for stm in &body.stms {
            self.statement(stm, runs, &mut piece);
        }
        body.results.iter().for_each(|exp| self.exp(exp, &mut piece));
        self.work.pieces[at] = piece;
        let Piece { operations, reads, changed, .. } = &self.work.pieces[at];
        if *operations == 0 && reads.is_empty() && changed.is_empty() {
            self.work.pieces.remove(at);
        }
    }

    fn statement(&mut self, stm: &Stm, runs: u64, piece: &mut Piece) {
        match &stm.rhs {
            Rhs::Kernel { axes, body } => {
                self.inside(axes, runs, |counter, runs| counter.body(body, runs, 1, &[]))
            }
            Rhs::Reduce { axes, body, combine } => self.inside(axes, runs, |counter, runs| {
                counter.body(body, runs, 1, &[]);
                counter.body(&combine.body, runs, 1, &[]);
            }),
            Rhs::Scan { axis, body, combine } => {
                self.inside(std::slice::from_ref(axis), runs, |counter, runs| {
                    counter.body(body, runs, 1, &[]);
                    counter.body(&combine.body, runs, 1, &[]);
                });
            }
            Rhs::Scatter { axes, body, combine, .. } => self.inside(axes, runs, |counter, runs| {
                counter.body(body, runs, 1, &stm.pat);
                if let Some(combine) = combine {
                    counter.body(&combine.body, runs, 1, &[]);
                }
            }),
            Rhs::For { init, axis, body, .. } => {
                init.iter().for_each(|exp| self.exp(exp, piece));
                self.inside(std::slice::from_ref(axis), runs, |counter, runs| {
                    counter.body(body, runs, 1, &[])
                });
            }
            Rhs::While { init, cond, body, .. } => {
                init.iter().for_each(|exp| self.exp(exp, piece));
                let asked = Body { stms: Vec::new(), results: vec![cond.clone()] };
                let rounds = runs.saturating_mul(ASSUMED_TRIPS);
                self.body(&asked, rounds, 1, &[]);
                self.body(body, rounds, 1, &[]);
            }
            Rhs::If { cond, then, otherwise } => {
                self.exp(cond, piece);
                self.body(then, runs, 2, &[]);
                self.body(otherwise, runs, 2, &[]);
            }
            rhs @ (Rhs::Exps(_) | Rhs::Update { .. } | Rhs::Manifest { .. } | Rhs::Array(_)) => {
                rhs.each_part(&mut |part| {
                    if let Part::Exp(exp) = part {
                        self.exp(exp, piece);
                    }
                });
                if matches!(rhs, Rhs::Update { .. }) {
                    piece.operations += 1;
                    piece.changed.extend(&stm.pat);
                }
            }
        }
    }

    fn inside(&mut self, axes: &[Axis], runs: u64, body: impl FnOnce(&mut Self, u64)) {
        let mut runs = runs;
        for axis in axes {
            let trips = self.table.trips(axis.var);
            runs = runs.saturating_mul(trips);
            self.work.trips[axis.var.index()] = trips;
            self.axes.push(axis.var);
        }
        body(self, runs);
        self.axes.truncate(self.axes.len() - axes.len());
    }

    fn exp(&self, exp: &Exp, piece: &mut Piece) {
        exp.visit(&mut |part| match part {
            Exp::Op(op, elem, _) => piece.operations += op.weight(*elem),
            Exp::Convert(..) => piece.operations += 1,
            Exp::Read(read) => piece.reads.push(read.id),
            _ => {}
        });
    }
}
