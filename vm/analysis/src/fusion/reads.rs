//! Who reads the results of a statement: each read with the index it has in the array itself, and where a computation
//! of that element would go.
//!
//! Only statements of the same body are looked at. A statement that uses the results in another way than by reading
//! elements says so in its reason; so does a read that cannot be shown to lie inside the array.

use super::known::Known;
use super::prove::Prover;
use super::reason::Reason;
use super::traps::exp_is_safe;
use super::view::{View, shape_of, simplest};
use galopvm_kir::walk::Part;
use galopvm_kir::{ArrayOp, Axis, Body, DimIndex, Exp, Index, Read, ReadId, Region, Rhs, Stm, VarId};
use galopvm_lmad::Polynomial;
use std::collections::{BTreeMap, BTreeSet};

/// The way from a body to a body inside it: statements, and which of their bodies.
pub(super) type Way = Vec<(usize, usize)>;

/// What is around a place, from the outside in.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Round {
    /// A parallel axis.
    Axis(Axis),
    /// A sequential one.
    Loop(Axis),
    /// A loop that ends when data says so.
    While,
    /// One side of an `if`.
    Branch,
}

impl Round {
    /// The axis, if it has one.
    pub fn axis(&self) -> Option<&Axis> {
        match self {
            Round::Axis(axis) | Round::Loop(axis) => Some(axis),
            Round::While | Round::Branch => None,
        }
    }
}

/// A read of one element of a result (or of a row, if elements are arrays).
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Site {
    /// The read.
    pub read: ReadId,
    /// The result.
    pub of: VarId,
    /// Where in the axes that the result was made over.
    pub index: Vec<Exp>,
    /// Where in the element.
    pub rest: Vec<Exp>,
    /// Where the element would be computed: in front of this statement of the body at the end of the way.
    pub way: Way,
    pub stm: usize,
    /// That is where the read is.
    pub own: bool,
    /// What is around that place, inside the reading statement.
    pub around: Vec<Round>,
    /// What is around the read itself.
    pub read_around: Vec<Round>,
    /// The array is read by its own name.
    pub direct: bool,
}

/// How a statement uses the results.
pub(super) type Use = Result<Vec<Site>, Reason>;

/// Everything that happens to the results of a statement, in the body of the statement.
#[derive(Default)]
pub(super) struct Uses {
    /// By statement.
    pub users: BTreeMap<usize, Use>,
    /// Names that are views of the results, in the body and deeper.
    pub views: BTreeSet<VarId>,
    /// The body gives one of the results.
    pub held: bool,
}

/// What is known while a reading statement is walked through.
struct Walk<'a> {
    region: &'a Region,
    prover: &'a mut Prover,
    axes: usize,
    views: BTreeMap<VarId, View>,
    way: Way,
    around: Vec<Round>,
    /// By depth of the way: how many facts were known, and how many rounds were around.
    marks: Vec<(usize, usize)>,
    /// The depth where a name is known first.
    depths: BTreeMap<VarId, usize>,
    /// The depth that a computation may not leave: the innermost branch.
    barrier: usize,
    sites: Vec<Site>,
    /// The reading statement.
    reader: VarId,
}

/// The uses of what a statement of a body makes over `axes` axes.
pub(super) fn uses(region: &Region, body: &Body, at: usize, axes: usize, known: &mut Known) -> Uses {
    let mut uses = Uses::default();
    let mut views: BTreeMap<VarId, View> =
        body.stms[at].pat.iter().map(|var| (*var, View::whole(*var))).collect();
    for (number, stm) in body.stms.iter().enumerate().skip(at + 1) {
        let mention = known.mention(stm);
        if !views.keys().any(|var| mention.uses(*var)) {
            continue;
        }
        let Some(reader) = stm.pat.first() else {
            uses.users.insert(number, Err(Reason::ReadByNameless()));
            continue;
        };
        let prover = &mut known.prover;
        let mark = prover.mark();
        let mut walk = Walk {
            region,
            prover,
            axes,
            views,
            way: Way::new(),
            around: Vec::new(),
            marks: vec![(mark, 0)],
            depths: BTreeMap::new(),
            barrier: 0,
            sites: Vec::new(),
            reader: *reader,
        };
        let found = walk.user(number, stm);
        views = walk.views;
        let sites = walk.sites;
        known.prover.forget(mark);
        match found {
            Ok(true) => drop(uses.users.insert(number, Ok(sites))),
            Ok(false) => {}
            Err(reason) => drop(uses.users.insert(number, Err(reason))),
        }
    }
    let held = |exp: &Exp| {
        let mut held = false;
        exp.each_use(&mut |var| held |= views.contains_key(&var));
        held
    };
    uses.held = body.results.iter().any(held);
    uses.views = views.into_keys().filter(|var| !body.stms[at].pat.contains(var)).collect();
    uses
}

/// Whether a statement mentions one of these names.
fn touches(stm: &Stm, views: &BTreeMap<VarId, View>) -> bool {
    let mut found = false;
    stm.rhs.each_use(&mut |var| found |= views.contains_key(&var));
    found
}

impl Walk<'_> {
    /// A statement of the body itself: true if it reads, false if it only makes a view.
    fn user(&mut self, number: usize, stm: &Stm) -> Result<bool, Reason> {
        if self.is_view(stm)? {
            return Ok(false);
        }
        let reader = self.reader;
        match &stm.rhs {
            Rhs::Kernel { .. }
            | Rhs::Reduce { .. }
            | Rhs::Scan { .. }
            | Rhs::Scatter { .. }
            | Rhs::For { .. }
            | Rhs::While { .. }
            | Rhs::If { .. } => {
                let reason = match &stm.rhs {
                    // Bounds read no memory.
                    Rhs::Reduce { .. } | Rhs::Scan { .. } | Rhs::Scatter { .. } => Reason::NeutralRead(),
                    Rhs::If { .. } => Reason::ConditionRead(),
                    _ => Reason::LoopRead(),
                };
                let mut outside = Ok(());
                stm.rhs.each_part(&mut |part| match part {
                    Part::Exp(exp) if outside.is_ok() => outside = self.untouched(exp, &reason),
                    Part::Use(var) if outside.is_ok() && self.views.contains_key(&var) => {
                        outside = Err(Reason::UsedWhole(reader));
                    }
                    _ => {}
                });
                outside?;
                self.inner_bodies(number, stm)?;
                Ok(true)
            }
            // One element after the other: becomes a reduction over an axis.
            Rhs::Array(ArrayOp::Reduce { array: Exp::Var(var), .. }) if self.views.contains_key(var) => {
                Ok(true)
            }
            Rhs::Exps(_) => Err(Reason::NoKernel(reader)),
            Rhs::Manifest { .. } => Err(Reason::Relaid(reader)),
            Rhs::Update { .. } | Rhs::Array(_) => Err(Reason::UsedWhole(reader)),
        }
    }

    /// Adds what a statement makes views of; an error if a view is not understood.
    fn is_view(&mut self, stm: &Stm) -> Result<bool, Reason> {
        match &stm.rhs {
            Rhs::Exps(exps) => {
                let arrays = stm.pat.iter().all(|var| !shape_of(self.region, *var).is_empty());
                let of_ours = |exp: &Exp| match exp {
                    Exp::Var(var) => self.views.contains_key(var),
                    Exp::Read(read) => self.views.contains_key(&read.array),
                    _ => false,
                };
                if !arrays || !exps.iter().all(of_ours) {
                    return Ok(false);
                }
                for (var, exp) in stm.pat.iter().zip(exps) {
                    let view = match exp {
                        Exp::Var(other) => self.views.get(other).cloned(),
                        Exp::Read(read) => self.views.get(&read.array).cloned().and_then(|view| {
                            let shape = shape_of(self.region, read.array).to_vec();
                            view.part(&shape, &read.index, self.prover)
                        }),
                        _ => None,
                    };
                    let view = view.ok_or(Reason::ViewOutside(stm.pat[0]))?;
                    self.views.insert(*var, view);
                }
                Ok(true)
            }
            Rhs::Array(ArrayOp::Copy(Exp::Var(var))) => {
                let Some(view) = self.views.get(var).cloned() else { return Ok(false) };
                self.views.insert(stm.pat[0], view);
                Ok(true)
            }
            Rhs::Array(ArrayOp::View { change, array: Exp::Var(var) }) => {
                let Some(view) = self.views.get(var) else { return Ok(false) };
                let shape = shape_of(self.region, *var);
                let view = view.changed(shape, change, self.prover).ok_or(Reason::ViewOutside(stm.pat[0]))?;
                self.views.insert(stm.pat[0], view);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn inner_bodies(&mut self, number: usize, stm: &Stm) -> Result<(), Reason> {
        let mut bodies: Vec<(usize, &Body, Vec<VarId>)> = Vec::new();
        let mut bound: Vec<VarId> = Vec::new();
        stm.rhs.each_part(&mut |part| match part {
            Part::Bind(var) => bound.push(var),
            Part::Body(body) => bodies.push((bodies.len(), body, std::mem::take(&mut bound))),
            Part::Exp(_) | Part::Use(_) => {}
        });
        for (k, body, bound) in bodies {
            if k == 1 && matches!(stm.rhs, Rhs::Reduce { .. } | Rhs::Scan { .. } | Rhs::Scatter { .. }) {
                let mut used = false;
                body.each_use(&mut |var| used |= self.views.contains_key(&var));
                if used {
                    return Err(Reason::OperatorReads(self.reader));
                }
                continue;
            }
            let (facts, rounds, barrier) = (self.prover.mark(), self.around.len(), self.barrier);
            self.prover.enter(stm.rhs.axes());
            match &stm.rhs {
                Rhs::If { cond, .. } => {
                    self.prover.enter_branch(cond, k == 0);
                    self.around.push(Round::Branch);
                    self.barrier = self.way.len() + 1;
                }
                Rhs::While { .. } => self.around.push(Round::While),
                Rhs::For { axis, .. } => self.around.push(Round::Loop(axis.clone())),
                Rhs::Scatter { axes, .. } => self.around.extend(axes.iter().cloned().map(Round::Loop)),
                other => self.around.extend(other.parallel_axes().iter().cloned().map(Round::Axis)),
            }
            self.way.push((number, k));
            self.marks.push((self.prover.mark(), self.around.len()));
            for var in bound {
                self.depths.insert(var, self.way.len());
            }
            let result = self.body(body);
            self.way.pop();
            self.marks.pop();
            self.prover.forget(facts);
            self.around.truncate(rounds);
            self.barrier = barrier;
            result?;
        }
        Ok(())
    }

    fn body(&mut self, body: &Body) -> Result<(), Reason> {
        for (number, stm) in body.stms.iter().enumerate() {
            for var in &stm.pat {
                self.depths.insert(*var, self.way.len());
            }
            if !touches(stm, &self.views) || self.is_view(stm)? {
                continue;
            }
            let mut result = Ok(());
            stm.rhs.each_part(&mut |part| {
                if result.is_err() {
                    return;
                }
                match part {
                    Part::Exp(exp) if matches!(&stm.rhs, Rhs::While { cond, .. } if std::ptr::eq(cond, exp)) => {
                        result = self.untouched(exp, &Reason::LoopRead());
                    }
                    Part::Exp(exp) => result = self.exp(exp, number),
                    Part::Use(var) if self.views.contains_key(&var) => {
                        result = Err(Reason::UsedWhole(self.reader));
                    }
                    Part::Use(_) | Part::Bind(_) | Part::Body(_) => {}
                }
            });
            result?;
            self.inner_bodies(number, stm)?;
        }
        body.results.iter().try_for_each(|exp| self.exp(exp, body.stms.len()))
    }

    fn untouched(&self, exp: &Exp, reason: &Reason) -> Result<(), Reason> {
        let mut used = false;
        exp.each_use(&mut |var| used |= self.views.contains_key(&var));
        if used { Err(reason.clone()) } else { Ok(()) }
    }

    fn exp(&mut self, exp: &Exp, stm: usize) -> Result<(), Reason> {
        match exp {
            Exp::Var(var) if self.views.contains_key(var) => Err(Reason::UsedWhole(self.reader)),
            Exp::Read(read) if self.views.contains_key(&read.array) => {
                let site = self.site(read, stm)?;
                self.sites.push(site);
                Ok(())
            }
            _ => {
                let mut result = Ok(());
                exp.each_part(&mut |part| {
                    if result.is_ok() {
                        result = self.exp(part, stm);
                    }
                });
                result
            }
        }
    }

    fn site(&mut self, read: &Read, stm: usize) -> Result<Site, Reason> {
        let mut entries = Vec::new();
        if let Index::Dims(dims) = &read.index {
            entries.extend(dims.iter().map_while(|dim| match dim {
                DimIndex::At(at) => Some(at.clone()),
                DimIndex::Slice { .. } => None,
            }));
        }
        let complete = matches!(&read.index, Index::Dims(dims) if dims.len() == entries.len());
        for at in &entries {
            self.untouched(at, &Reason::IndexRead(read.array))?;
        }
        let view = self.views[&read.array].clone();
        let rank = shape_of(self.region, read.array).len();
        // A row is an element if it is all that the statement made there.
        let row = view.is_whole() && entries.len() == self.axes;
        if !complete || entries.len() < rank && !row {
            return Err(Reason::UsedWhole(self.reader));
        }
        let outside = || Reason::IndexOutside(read.array);
        let shape = shape_of(self.region, read.array).to_vec();
        for (at, extent) in entries.iter().zip(&shape) {
            let (at, extent) = (self.prover.polynomial(at), self.prover.polynomial(extent));
            if !self.prover.inside(&at, &extent) {
                return Err(outside());
            }
        }
        let mut place = view.place(&entries, self.prover).ok_or_else(outside)?;
        let rest = place.split_off(self.axes.min(place.len()));
        let index: Vec<Exp> = place.into_iter().map(|at| simplest(at, self.prover)).collect();
        let mut lowest = self.barrier.max(1);
        for at in &index {
            at.each_use(&mut |var| lowest = lowest.max(self.depths.get(&var).copied().unwrap_or(0)));
        }
        let extents: Vec<Exp> = shape_of(self.region, view.of)[..self.axes].to_vec();
        let depth = (lowest..=self.way.len()).find(|depth| self.holds_at(*depth, &index, &extents));
        let depth = depth.ok_or_else(outside)?;
        Ok(Site {
            read: read.id,
            of: view.of,
            index,
            rest,
            way: self.way[..depth].to_vec(),
            stm: self.way.get(depth).map_or(stm, |(stm, _)| *stm),
            own: depth == self.way.len(),
            around: self.around[..self.marks[depth].1].to_vec(),
            read_around: self.around.clone(),
            direct: view.is_whole(),
        })
    }

    /// Whether an index lies inside, and can be computed, by what is known at a depth of the way.
    fn holds_at(&mut self, depth: usize, index: &[Exp], extents: &[Exp]) -> bool {
        let known = self.prover.forget(self.marks[depth].0);
        let holds = index.iter().zip(extents).all(|(at, extent)| {
            let (place, extent) = (self.prover.polynomial(at), self.prover.polynomial(extent));
            self.prover.inside(&place, &extent) && exp_is_safe(self.region, at, self.prover)
        });
        self.prover.recall(known);
        holds
    }
}

/// Whether every element of a result over these axes is computed where the site says, whatever the data.
pub(super) fn covers(site: &Site, axes: &[Axis], prover: &mut Prover) -> bool {
    let mut around: Vec<&Axis> = Vec::new();
    for round in &site.around {
        match round {
            Round::Axis(axis) | Round::Loop(axis) => around.push(axis),
            Round::While | Round::Branch => return false,
        }
    }
    if around.len() != site.index.len() || around.len() != axes.len() {
        return false;
    }
    for (at, made) in site.index.iter().zip(axes) {
        let at = prover.polynomial(at);
        let extent = prover.polynomial(&made.bound);
        let last = extent.plus(&Polynomial::number(1), -1);
        let found = around.iter().position(|axis| {
            let var = prover.polynomial(&Exp::Var(axis.var));
            prover.polynomial(&axis.bound) == extent && (at == var || at == last.plus(&var, -1))
        });
        match found {
            Some(k) => drop(around.remove(k)),
            None => return false,
        }
    }
    true
}
