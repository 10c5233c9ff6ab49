//! The decision: which statements of a region are fused, in order, each with its reason.
//!
//! In each body, from the outside in: every statement is computed where it is read, if that is right and pays; then
//! statements over the same axes that read the same places are joined; both once more until nothing changes. Later
//! decisions see what earlier ones made, so the region is changed on the way. At the end scans are looked for that can be read as
//! they go.

use super::feed::feeds;
use super::inline::inline;
use super::join::join;
use super::judge::{judge_fuse, judge_join, maker, price_fuse};
use super::known::Known;
use super::lines::{Fusion, FusionLine, Fusions};
use super::price::{Sizes, Unwritten};
use super::prove::Prover;
use super::reads::{Uses, uses};
use super::reason::Reason;
use super::turn::{judge_turn, turn};
use crate::work::ASSUMED_TRIPS;
use galopvm_base::{ElemType, TypedId};
use galopvm_kir::walk::PartMut;
use galopvm_kir::{
    ArrayOp, Axis, Body, CheckedRegion, Combine, Exp, Observed, Region, Rhs, Stm, Type, VarId, check,
};

/// Most operations of a statement that others were put into.
pub const MOST_NODES: usize = 600;
/// Most results of a joined statement.
pub const MOST_RESULTS: usize = 8;
/// Most fusions of one region.
pub const MOST_FUSIONS: usize = 128;
/// Most statements and pairs that are looked at.
const MOST_TRIALS: usize = 4096;
/// Most times that a body is gone over.
const MOST_PASSES: usize = 4;

/// The fusions of a region that are right for every launch and pay for what was observed.
pub fn decide(region: &CheckedRegion, observed: &Observed) -> Fusions {
    decided(region, observed).fusions
}

/// A region that was fused.
#[derive(Debug)]
pub struct Fused {
    /// What was done.
    pub fusions: Fusions,
    /// The region after it, with the same parameters.
    pub region: CheckedRegion,
    /// For other sizes than the observed ones something may be computed more often than pays.
    pub is_for_sizes: bool,
}

/// The fusions that [`decide`] finds, and the region after them.
pub fn fuse(region: &CheckedRegion, observed: &Observed) -> Fused {
    let Decided { fusions, region: fused, is_for_sizes } = decided(region, observed);
    let fused = if fusions.is_empty() { region.clone() } else { finished(region, fused) };
    Fused { fusions, region: fused, is_for_sizes }
}

/// What was decided about a region, and how it is then.
struct Decided {
    fusions: Fusions,
    region: Region,
    is_for_sizes: bool,
}

/// A region that was changed, with everything in order.
pub(super) fn finished(before: &CheckedRegion, changed: Region) -> CheckedRegion {
    let changed = check(changed.renumbered());
    debug_assert!(
        changed.is_ok(),
        "a fused region has names, scopes and types as they should be: {changed:?}"
    );
    changed.unwrap_or_else(|_| before.clone())
}

fn decided(region: &CheckedRegion, observed: &Observed) -> Decided {
    let mut decision = Decision {
        known: Known::new(region.region()),
        sizes: Sizes::new(region.region(), observed),
        region: region.region().clone(),
        fusions: Fusions::default(),
        is_for_sizes: false,
        kept: Vec::new(),
        names: region.region().vars.len(),
        around: (1, false),
        in_kernel: false,
        trials: 0,
    };
    let mut body = std::mem::take(&mut decision.region.body);
    decision.body(&mut body);
    decision.region.body = body;
    decision.feed();
    decision.fusions.lines.append(&mut decision.kept);
    decision.fusions.keep_names(region.region(), &decision.region);
    let Decision { fusions, region, is_for_sizes, .. } = decision;
    Decided { fusions, region, is_for_sizes }
}

struct Decision {
    /// The region without its body.
    region: Region,
    known: Known,
    sizes: Sizes,
    fusions: Fusions,
    /// Something pays for the observed sizes only.
    is_for_sizes: bool,
    kept: Vec<FusionLine>,
    /// How many names the region had: decisions are about statements of its own, not about copies of them.
    names: usize,
    /// How often the body is executed, and whether that is assumed.
    around: (u64, bool),
    in_kernel: bool,
    trials: usize,
}

impl Decision {
    fn is_own(&self, stm: &Stm) -> bool {
        stm.pat.first().is_some_and(|var| var.index() < self.names)
    }

    fn may_join(&self, stm: &Stm) -> bool {
        self.is_own(stm) && !stm.rhs.parallel_axes().is_empty()
    }

    fn exhausted(&mut self) -> bool {
        self.trials += 1;
        self.trials > MOST_TRIALS || self.fusions.lines.len() >= MOST_FUSIONS
    }

    fn body(&mut self, body: &mut Body) {
        for pass in 1..=MOST_PASSES {
            let kept = self.fuse_all(body);
            if !self.join_all(body) || pass == MOST_PASSES {
                self.kept.extend(kept);
                break;
            }
        }
        for stm in &mut body.stms {
            self.inside_of(stm, &mut |decision, inner| decision.body(inner));
        }
    }

    /// Calls `f` with each body of a statement, with what is known there.
    fn inside_of(&mut self, stm: &mut Stm, f: &mut dyn FnMut(&mut Decision, &mut Body)) {
        let (times, assumed) = self.around;
        let (rounds, unknown) = match &stm.rhs {
            Rhs::While { .. } => (ASSUMED_TRIPS, true),
            rhs => (self.sizes.runs(rhs.axes()), !self.sizes.are_known(rhs.axes())),
        };
        self.around = (times.saturating_mul(rounds), assumed || unknown);
        let in_kernel = self.in_kernel;
        self.in_kernel |= !stm.rhs.parallel_axes().is_empty();
        inside(&mut stm.rhs, self, &|decision| &mut decision.known.prover, f);
        self.around = (times, assumed);
        self.in_kernel = in_kernel;
    }

    /// Fuses what can be fused, once over the body; gives the lines of what is kept.
    fn fuse_all(&mut self, body: &mut Body) -> Vec<FusionLine> {
        let mut kept = Vec::new();
        let mut at = 0;
        while at < body.stms.len() {
            if self.exhausted() {
                break;
            }
            let own = self.is_own(&body.stms[at]);
            let Some(made) = maker(&mut self.region, &body.stms[at]).filter(|_| own) else {
                at += 1;
                continue;
            };
            // Reductions of whole arrays get an axis; those that stay without fusion stay as they are.
            let before = give_axes(&mut self.region, body, at);
            for (number, _) in &before {
                self.known.changed(&self.region, &body.stms[*number]);
            }
            let verdict = judge_fuse(&self.region, body, at, made, &mut self.known).and_then(|fuse| {
                if !fuse.copies.keys().all(|user| self.is_own(&body.stms[*user])) {
                    return Err(Reason::ReadByCopy());
                }
                let means = (&self.sizes, self.in_kernel);
                let prover = &mut self.known.prover;
                let (saving, is_for_sizes) = price_fuse(&self.region, body, at, &fuse, means, prover)?;
                Ok((fuse, saving.times(self.around), is_for_sizes))
            });
            let name = body.stms[at].pat[0];
            match verdict {
                Ok((fuse, saving, is_for_sizes)) => {
                    self.is_for_sizes |= is_for_sizes;
                    let reads: usize = fuse.copies.values().flatten().map(|copy| copy.sites.len()).sum();
                    let users: Vec<VarId> = fuse.copies.keys().map(|user| body.stms[*user].pat[0]).collect();
                    let changed = inline(&mut self.region, body, at, fuse);
                    self.changed(body, &changed);
                    self.line(Fusion::Fuse(name, users), Reason::Reads(reads as u64), saving);
                }
                Err(reason) => {
                    for (number, stm) in before {
                        body.stms[number] = stm;
                        self.known.changed(&self.region, &body.stms[number]);
                    }
                    if matches!(reason, Reason::TooDear(..)) && self.turn_readers(body, at) {
                        continue;
                    }
                    kept.push(FusionLine { fusion: Fusion::Keep(name), reason, saving: None });
                    at += 1;
                }
            }
        }
        kept
    }

    /// Turns the kernels that would compute a statement's elements again and again, if they then would compute them as often
    /// as they are computed now.
    fn turn_readers(&mut self, body: &mut Body, at: usize) -> bool {
        if self.in_kernel || self.around != (1, false) {
            return false;
        }
        let before = (self.region.clone(), body.clone());
        let name = body.stms[at].pat[0];
        let Some(made) = maker(&mut self.region, &body.stms[at]) else { return false };
        let mut turned = Vec::new();
        let mut user = at + 1;
        while user < body.stms.len() {
            let array = (at, made.axes.as_slice());
            let found = match self.is_own(&body.stms[user]) {
                true => judge_turn(&self.region, body, array, user, &mut self.known),
                false => None,
            };
            if let Some(first) = found {
                let reader = body.stms[user].pat[0];
                turned.push(reader);
                let mut names = turn(&mut self.region, body, user, first);
                names.push(reader);
                self.changed(body, &names);
            }
            user += 1;
        }
        let means = (&self.sizes, self.in_kernel);
        let pays = !turned.is_empty()
            && judge_fuse(&self.region, body, at, made, &mut self.known).is_ok_and(|fuse| {
                price_fuse(&self.region, body, at, &fuse, means, &mut self.known.prover).is_ok()
            });
        for reader in &turned {
            if pays {
                let reason = Reason::Alike(name);
                self.fusions.lines.push(FusionLine { fusion: Fusion::Turn(*reader), reason, saving: None });
            }
        }
        if !pays {
            // Names that were added stay, so that each has one meaning.
            for (var, known) in before.0.vars.iter_ids() {
                self.region.vars[var] = known.clone();
            }
            *body = before.1;
            self.changed(body, &turned);
        }
        pays
    }

    /// Joins what can be joined; false if nothing was.
    fn join_all(&mut self, body: &mut Body) -> bool {
        let mut joined = false;
        let mut first = 0;
        while first < body.stms.len() {
            let mut second = first + 1;
            if !self.may_join(&body.stms[first]) {
                first += 1;
                continue;
            }
            let mut used: Option<Uses> = None;
            while second < body.stms.len() {
                if !self.may_join(&body.stms[second]) {
                    second += 1;
                    continue;
                }
                if self.exhausted() {
                    return joined;
                }
                let axes = body.stms[first].rhs.parallel_axes().len();
                let now = used.get_or_insert_with(|| uses(&self.region, body, first, axes, &mut self.known));
                let Some(found) = judge_join(&self.region, body, (first, now), second, &mut self.known)
                else {
                    second += 1;
                    continue;
                };
                used = None;
                let axes = body.stms[first].rhs.parallel_axes();
                let elements = self.sizes.runs(axes);
                let assumed = (!self.sizes.are_known(axes)).then_some(elements);
                let saving = Unwritten { bytes: elements.saturating_mul(found.bytes), assumed };
                let saving = saving.times(self.around);
                let mut names: Vec<VarId> = found.shared.iter().copied().collect();
                names.extend(found.sites.iter().map(|site| site.of));
                names.dedup();
                let reason = Reason::Shares(names);
                let fusion = Fusion::Join(body.stms[first].pat[0], body.stms[second].pat[0]);
                let name = join(&mut self.region, body, first, second, &found);
                self.changed(body, &[name]);
                self.line(fusion, reason, saving);
                self.join_inside(body, name);
                joined = true;
                if found.late {
                    // What stands at the first place now was not looked at yet.
                    second = first + 1;
                    if !self.may_join(&body.stms[first]) {
                        break;
                    }
                }
            }
            first += 1;
        }
        joined
    }

    /// Scans of the region's own body that are read as they go are not kept.
    fn feed(&mut self) {
        for line in feeds(&self.region, self.names, &self.sizes) {
            let Fusion::Feed(scan, _) = line.fusion else { continue };
            self.kept.retain(|kept| kept.fusion != Fusion::Keep(scan));
            self.fusions.lines.push(line);
        }
    }

    /// Joins what can be joined in the bodies of a joined statement, so that later decisions see what it reads as one.
    fn join_inside(&mut self, body: &mut Body, name: VarId) {
        let Some(stm) = body.stms.iter_mut().find(|stm| stm.pat.first() == Some(&name)) else { return };
        self.inside_of(stm, &mut |decision, inner| {
            decision.join_all(inner);
        });
        self.changed(body, &[name]);
    }

    fn line(&mut self, fusion: Fusion, reason: Reason, saving: Unwritten) {
        self.fusions.lines.push(FusionLine { fusion, reason, saving: Some(saving.told()) });
    }

    /// Statements are other ones now.
    fn changed(&mut self, body: &Body, names: &[VarId]) {
        for stm in body.stms.iter().filter(|stm| stm.pat.iter().any(|var| names.contains(var))) {
            self.known.changed(&self.region, stm);
            self.sizes.redefine(stm);
        }
    }
}

/// Calls `f` with each body of a right side, with what is known inside it.
pub(super) fn inside<S>(
    rhs: &mut Rhs,
    state: &mut S,
    prover: &dyn Fn(&mut S) -> &mut Prover,
    f: &mut dyn FnMut(&mut S, &mut Body),
) {
    let axes: Vec<Axis> = rhs.axes().to_vec();
    let condition = if let Rhs::If { cond, .. } = &*rhs { Some(cond.clone()) } else { None };
    let operator = matches!(rhs, Rhs::Reduce { .. } | Rhs::Scan { .. } | Rhs::Scatter { .. });
    let mut number = 0;
    rhs.each_part_mut(&mut |part| {
        if let PartMut::Body(body) = part {
            let mark = prover(state).mark();
            // An operator may be executed without any iteration.
            if !operator || number == 0 {
                prover(state).enter(&axes);
            }
            if let Some(condition) = &condition {
                prover(state).enter_branch(condition, number == 0);
            }
            f(state, body);
            prover(state).forget(mark);
            number += 1;
        }
    });
}

/// Writes `reduce op A` as a reduction over an axis, for later statements of the body that read what the statement at
/// `at` makes. Gives the statements as they were.
pub(super) fn give_axes(region: &mut Region, body: &mut Body, at: usize) -> Vec<(usize, Stm)> {
    let mut views: Vec<VarId> = body.stms[at].pat.clone();
    let mut before = Vec::new();
    for number in at + 1..body.stms.len() {
        let stm = &body.stms[number];
        match &stm.rhs {
            Rhs::Array(ArrayOp::Reduce { op, array: Exp::Var(array) }) => {
                let (op, array) = (*op, *array);
                let Some(ty) = region.vars[array].ty.clone() else { continue };
                let (Some(identity), [extent]) = (op.info().identity, ty.shape.as_slice()) else { continue };
                if !views.contains(&array) {
                    continue;
                }
                let scalar = Some(Type::scalar(ty.elem));
                let var = region.fresh("at", Some(Type::scalar(ElemType::I64)));
                let (acc, item) = (region.fresh("all", scalar.clone()), region.fresh("one", scalar));
                let element = region.read(array, vec![Exp::Var(var)]);
                let combined = Exp::Op(op, ty.elem, vec![Exp::Var(acc), Exp::Var(item)]);
                let rhs = Rhs::Reduce {
                    axes: vec![Axis { var, bound: extent.clone() }],
                    body: Body { stms: Vec::new(), results: vec![element] },
                    combine: Combine {
                        acc: vec![acc],
                        neutral: vec![Exp::Const(identity.of(ty.elem))],
                        item: vec![item],
                        body: Body { stms: Vec::new(), results: vec![combined] },
                    },
                };
                let pat = stm.pat.clone();
                before.push((number, std::mem::replace(&mut body.stms[number], Stm { pat, rhs })));
            }
            Rhs::Array(ArrayOp::Copy(array) | ArrayOp::View { array, .. }) => {
                if matches!(array, Exp::Var(array) if views.contains(array)) {
                    views.extend(&stm.pat);
                }
            }
            Rhs::Exps(exps) => {
                let of_ours = |exp: &Exp| match exp {
                    Exp::Var(var) => views.contains(var),
                    Exp::Read(read) => views.contains(&read.array),
                    _ => false,
                };
                if exps.iter().all(of_ours) {
                    views.extend(&stm.pat);
                }
            }
            _ => {}
        }
    }
    before
}
