//! What is found out about the statements of a region once, until they change: what can be shown of its numbers, which
//! names a statement mentions, and which places it reads.

use super::judge::Maker;
use super::prove::Prover;
use super::traps::cannot_trap;
use super::view::shape_of;
use galopvm_base::TypedId;
use galopvm_kir::algebra::size;
use galopvm_kir::walk::Part;
use galopvm_kir::{Body, DimIndex, Exp, Index, Region, Rhs, Stm, VarId};
use galopvm_lmad::Polynomial;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A place of an array that is read in every iteration, counted from the statement's axes.
pub(super) type Place = (VarId, Vec<Polynomial>);

/// What a statement mentions.
#[derive(Debug, Default)]
pub(super) struct Mention {
    /// Every name that is used in it, in order.
    used: Vec<VarId>,
    /// How many operations it has, at any depth.
    pub nodes: usize,
    /// Whether there is an update in it.
    pub updates: bool,
}

impl Mention {
    fn of(stm: &Stm) -> Mention {
        let mut mention = Mention::default();
        mention.rhs(&stm.rhs);
        mention.used.sort_unstable();
        mention.used.dedup();
        mention
    }

    fn rhs(&mut self, rhs: &Rhs) {
        self.updates |= matches!(rhs, Rhs::Update { .. } | Rhs::Scatter { .. });
        rhs.each_part(&mut |part| match part {
            Part::Exp(exp) => self.exp(exp),
            Part::Use(var) => self.used.push(var),
            Part::Bind(_) => {}
            Part::Body(body) => self.body(body),
        });
    }

    fn body(&mut self, body: &Body) {
        body.stms.iter().for_each(|stm| self.rhs(&stm.rhs));
        body.results.iter().for_each(|exp| self.exp(exp));
    }

    fn exp(&mut self, exp: &Exp) {
        self.nodes += size(exp);
        exp.each_use(&mut |var| self.used.push(var));
    }

    /// Whether a name is used.
    pub fn uses(&self, var: VarId) -> bool {
        self.used.binary_search(&var).is_ok()
    }

    /// Every name that is used.
    pub fn used(&self) -> &[VarId] {
        &self.used
    }
}

/// How many operations a body has, at any depth.
pub(super) fn body_nodes(body: &Body) -> usize {
    let mut mention = Mention::default();
    mention.body(body);
    mention.nodes
}

/// What is known of a region at one place of it.
pub(super) struct Known {
    pub prover: Prover,
    /// By the first name that a statement binds.
    mentions: Vec<Option<Rc<Mention>>>,
    places: Vec<Option<Rc<BTreeSet<Place>>>>,
    safe: Vec<Option<bool>>,
}

impl Known {
    pub fn new(region: &Region) -> Known {
        Known { prover: Prover::new(region), mentions: Vec::new(), places: Vec::new(), safe: Vec::new() }
    }

    /// What a statement mentions.
    pub fn mention(&mut self, stm: &Stm) -> Rc<Mention> {
        let find = || Rc::new(Mention::of(stm));
        stm.pat
            .first()
            .map_or_else(find, |name| slot(&mut self.mentions, *name).get_or_insert_with(find).clone())
    }

    /// The places that a statement over axes reads.
    pub fn places(&mut self, region: &Region, stm: &Stm) -> Rc<BTreeSet<Place>> {
        let Some(name) = stm.pat.first() else { return Rc::default() };
        if let Some(places) = slot(&mut self.places, *name) {
            return places.clone();
        }
        let places = Rc::new(self.find_places(region, stm));
        *slot(&mut self.places, *name) = Some(places.clone());
        places
    }

    fn find_places(&mut self, region: &Region, stm: &Stm) -> BTreeSet<Place> {
        // Names that no region has stand for the axes, so that places of different statements can be compared.
        let number = |at: usize| VarId::from_index(u32::MAX as usize - at);
        let axes = stm.rhs.parallel_axes();
        let rename = |var: VarId| axes.iter().position(|axis| axis.var == var).map(|at| Exp::Var(number(at)));
        let mut renamed: Vec<(usize, usize)> = Vec::new();
        for (at, axis) in axes.iter().enumerate() {
            let mut atom = |var| self.prover.polynomial(&Exp::Var(var)).parameters().into_iter().next();
            if let (Some(own), Some(common)) = (atom(axis.var), atom(number(at))) {
                renamed.push((own, common));
            }
        }
        let rename_atom =
            |atom: usize| renamed.iter().find(|(own, _)| *own == atom).map_or(atom, |(_, common)| *common);
        let mut places = BTreeSet::new();
        let mut see = |body: &Body| {
            body.visit_reads(&mut |read| {
                let Index::Dims(dims) = &read.index else { return };
                let mut index = Vec::new();
                for dim in dims {
                    let DimIndex::At(at) = dim else { return };
                    let place = self.prover.polynomial(&at.substitute(&rename));
                    index.push(place.renamed(&rename_atom));
                }
                if index.len() == shape_of(region, read.array).len() {
                    places.insert((read.array, index));
                }
            });
        };
        see(&Body { stms: vec![stm.clone()], results: Vec::new() });
        places
    }

    /// Whether computing what a statement makes cannot trap.
    pub fn cannot_trap(&mut self, region: &Region, stm: &Stm, maker: &Maker) -> bool {
        let known = stm.pat.first().and_then(|name| *slot(&mut self.safe, *name));
        let safe = known.unwrap_or_else(|| cannot_trap(region, &maker.axes, &maker.body, &mut self.prover));
        if safe {
            maker.body.visit_reads(&mut |read| _ = self.prover.safe.insert(read.id));
        }
        if let Some(name) = stm.pat.first() {
            *slot(&mut self.safe, *name) = Some(safe);
        }
        safe
    }

    /// A statement is another one now.
    pub fn changed(&mut self, region: &Region, stm: &Stm) {
        self.prover.redefine(region, stm);
        for name in &stm.pat {
            *slot(&mut self.mentions, *name) = None;
            *slot(&mut self.places, *name) = None;
            *slot(&mut self.safe, *name) = None;
        }
    }
}

fn slot<T>(slots: &mut Vec<Option<T>>, name: VarId) -> &mut Option<T> {
    if slots.len() <= name.index() {
        slots.resize_with(name.index() + 1, || None);
    }
    &mut slots[name.index()]
}
