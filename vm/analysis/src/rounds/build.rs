//! The loop over blocks of rounds.
//!
//! ```text
//! loop x = a for b < blocks do
//!   let k0 = b * rounds, count = min(rounds, bound - k0)
//!   -- for each dimension with lines, the part of it that lies among those of the block
//!   -- for each class, from all of these dimensions to none: all rounds on the elements that lie among lines in these
//! ```

use super::facts::{At, Place, Round, Step, Sweep};
use super::judge::{Blocking, Reach};
use crate::affine::Form;
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::algebra::{add, int, mul, sub};
use galopvm_kir::{
    ArrayOp, Axis, Body, DimIndex, Exp, Index, Read, ReadId, Region, Rhs, Stm, Type, VarId, VerifiedRegion,
    ViewChange,
};
use std::collections::BTreeMap;

/// The part of a dimension that lies among the lines of a block.
#[derive(Clone)]
pub(super) struct Band {
    pub first: Exp,
    /// Not included.
    pub end: Exp,
    pub width: Exp,
}

/// A block of rounds under construction.
pub(super) struct Build<'a> {
    pub region: Region,
    pub round: &'a Round,
    pub blocking: &'a Blocking,
    /// The type of the array.
    pub ty: Type,
    /// The number of the block's first round, and how many it has.
    pub first: Exp,
    pub count: Exp,
    /// For each dimension with lines.
    pub bands: Vec<Option<Band>>,
    /// The array as it is now.
    pub now: VarId,
}

/// The elements of a class outside of lines: for each dimension without, where they begin, and how many there are.
type Beyond = BTreeMap<usize, (Exp, Exp)>;

/// The region with its loop over blocks of so many rounds.
pub(super) fn build(region: &VerifiedRegion, round: &Round, blocking: &Blocking, rounds: u32) -> Region {
    let old = region.region();
    let ty = region.type_of(round.carried).clone();
    let mut build = Build {
        region: old.clone(),
        round,
        blocking,
        bands: vec![None; ty.rank()],
        ty,
        first: Exp::int(0),
        count: Exp::int(0),
        now: round.carried,
    };
    let mut stms: Vec<Stm> = old.body.stms[..round.at].to_vec();
    let Stm { pat, rhs: Rhs::For { init, .. } } = old.body.stms[round.at].clone() else {
        return build.region;
    };
    let rounds = Exp::int(rounds.into());
    let total = build.name(&mut stms, "rounds", int(ScalarOp::Max, round.axis.bound.clone(), Exp::int(0)));
    let rest = int(ScalarOp::Min, int(ScalarOp::Mod, total.clone(), rounds.clone()), Exp::int(1));
    let blocks = add(int(ScalarOp::Div, total.clone(), rounds.clone()), rest);
    let blocks = build.name(&mut stms, "blocks", blocks);
    let number = build.var("block");
    let array = build.region.fresh("x", Some(build.ty.clone()));
    let mut body = Vec::new();
    build.now = array;
    build.first = build.name(&mut body, "first", mul(Exp::Var(number), rounds.clone()));
    build.count = build.name(&mut body, "count", int(ScalarOp::Min, rounds, sub(total, build.first.clone())));
    build.bands(&mut body);
    build.classes(&mut body);
    let body = Body { stms: body, results: vec![Exp::Var(build.now)] };
    let axis = Axis { var: number, bound: blocks };
    stms.push(Stm { pat, rhs: Rhs::For { carried: vec![array], init, axis, body } });
    build.region.body.stms = stms;
    build.region
}

impl Build<'_> {
    /// A new integer.
    pub fn var(&mut self, name: &str) -> VarId {
        self.region.fresh(name, Some(Type::scalar(ElemType::I64)))
    }

    /// A name for an integer, if it needs one.
    pub fn name(&mut self, stms: &mut Vec<Stm>, name: &str, exp: Exp) -> Exp {
        if galopvm_kir::algebra::is_atom(&exp) {
            return exp;
        }
        let var = self.var(name);
        stms.push(Stm { pat: vec![var], rhs: Rhs::Exps(vec![exp]) });
        Exp::Var(var)
    }

    /// A form as an expression, in the round with this number.
    pub fn exp(&self, form: &Form, number: &Exp) -> Exp {
        let term = |(var, factor): &(VarId, i64)| {
            let value = if *var == self.round.axis.var { number.clone() } else { Exp::Var(*var) };
            mul(value, Exp::int(*factor))
        };
        let sum = form.terms().iter().map(term).reduce(add);
        match sum {
            None => Exp::int(form.constant),
            Some(sum) if form.constant == 0 => sum,
            Some(sum) => add(sum, Exp::int(form.constant)),
        }
    }

    pub fn rank(&self) -> usize {
        self.ty.rank()
    }

    fn bands(&mut self, stms: &mut Vec<Stm>) {
        for dim in 0..self.rank() {
            let Some(lines) = self.blocking.dims[dim].lines else { continue };
            let behind = add(add(self.first.clone(), self.count.clone()), Exp::int(lines.last));
            let end = int(ScalarOp::Min, behind, self.ty.shape[dim].clone());
            let end = self.name(stms, "end", end);
            let first = int(ScalarOp::Min, add(self.first.clone(), Exp::int(lines.first)), end.clone());
            let first = self.name(stms, "begin", first);
            let width = self.name(stms, "width", sub(end.clone(), first.clone()));
            self.bands[dim] = Some(Band { first, end, width });
        }
    }

    /// All classes, those whose elements lie among lines in more dimensions first.
    fn classes(&mut self, stms: &mut Vec<Stm>) {
        let lined: Vec<usize> = (0..self.rank()).filter(|dim| self.bands[*dim].is_some()).collect();
        let mut classes: Vec<Vec<usize>> = (0..1usize << lined.len())
            .map(|set| {
                lined.iter().enumerate().filter(|(k, _)| set >> k & 1 == 1).map(|(_, dim)| *dim).collect()
            })
            .collect();
        classes.sort_by_key(|class| std::cmp::Reverse(class.len()));
        if lined.len() < self.rank() {
            self.checks(stms);
        }
        for class in classes {
            if class.len() == self.rank() {
                let whole = self.ty.clone();
                let array = Exp::Var(self.now);
                self.now = self.rounds(stms, &class, array, whole);
                continue;
            }
            if !self.round.sweeps().any(|sweep| self.is_active(sweep, &class)) {
                continue;
            }
            match class.is_empty() {
                true => self.elements(stms),
                false => self.slabs(stms, &class),
            }
        }
    }

    /// Whether a sweep changes elements of a class.
    pub fn is_active(&self, sweep: &Sweep, class: &[usize]) -> bool {
        let is_beyond = |dim| self.blocking.reach(sweep, dim, self.round.axis.var) == Reach::Beyond;
        (0..self.rank()).all(|dim| class.contains(&dim) || is_beyond(dim))
    }

    /// Where the elements of a class begin in the dimensions without lines, and how many there are.
    fn beyond(&mut self, stms: &mut Vec<Stm>, class: &[usize]) -> Beyond {
        let mut beyond = Beyond::new();
        for dim in (0..self.rank()).filter(|dim| !class.contains(dim)) {
            let Some((low, high)) = self.blocking.dims[dim].range.clone() else { continue };
            // Neither end moves with the rounds.
            let (low, high) = (self.exp(&low, &Exp::int(0)), self.exp(&high, &Exp::int(0)));
            let begin = match &self.bands[dim] {
                Some(band) => band.end.clone(),
                None => self.name(stms, "begin", low),
            };
            let count = int(ScalarOp::Max, sub(high, begin.clone()), Exp::int(0));
            let count = self.name(stms, "left", count);
            beyond.insert(dim, (begin, count));
        }
        beyond
    }

    /// The axes of a kernel over dimensions.
    fn axes(&mut self, beyond: &Beyond) -> Vec<Axis> {
        let counts: Vec<Exp> = beyond.values().map(|(_, count)| count.clone()).collect();
        counts.into_iter().map(|bound| Axis { var: self.var("i"), bound }).collect()
    }

    /// The index of an element by its numbers in the dimensions without lines.
    fn absolute(&self, beyond: &Beyond, axes: &[Axis]) -> BTreeMap<usize, Exp> {
        let pairs = beyond.iter().zip(axes);
        pairs.map(|((dim, (begin, _)), axis)| (*dim, add(begin.clone(), Exp::Var(axis.var)))).collect()
    }

    /// Puts a part into the array.
    fn put(&mut self, stms: &mut Vec<Stm>, part: Vec<(Exp, Exp)>, value: VarId) {
        let slice = |(start, count)| DimIndex::Slice { start, count, step: Exp::int(1) };
        let index = Index::Dims(part.into_iter().map(slice).collect());
        let new = self.region.fresh("x", Some(self.ty.clone()));
        let rhs = Rhs::Update { array: self.now, index, value: Exp::Var(value) };
        stms.push(Stm { pat: vec![new], rhs });
        self.now = new;
    }

    /// The class of elements that lie among lines in some dimensions: a slab for each index of the other ones.
    fn slabs(&mut self, stms: &mut Vec<Stm>, class: &[usize]) {
        let beyond = self.beyond(stms, class);
        let axes = self.axes(&beyond);
        let absolute = self.absolute(&beyond, &axes);
        let bands: Vec<Band> = class.iter().filter_map(|dim| self.bands[*dim].clone()).collect();
        let widths: Vec<Exp> = bands.iter().map(|band| band.width.clone()).collect();
        let slab = Type { elem: self.ty.elem, shape: widths.clone() };
        let inner: Vec<Axis> =
            widths.iter().map(|bound| Axis { var: self.var("j"), bound: bound.clone() }).collect();
        let index = (0..self.rank()).filter_map(|dim| match class.iter().position(|lined| *lined == dim) {
            Some(at) => Some(add(bands[at].first.clone(), Exp::Var(inner[at].var))),
            None => absolute.get(&dim).cloned(),
        });
        let index: Vec<Exp> = index.collect();
        let element = self.region.read(self.now, index);
        let begun = self.region.fresh("slab", Some(slab.clone()));
        let copy = Body { stms: Vec::new(), results: vec![element] };
        let mut body = vec![Stm { pat: vec![begun], rhs: Rhs::Kernel { axes: inner, body: copy } }];
        let done = self.rounds_of(&mut body, class, &absolute, Exp::Var(begun), slab);
        let body = Body { stms: body, results: vec![done] };
        let shape = beyond.values().map(|(_, count)| count.clone()).chain(widths.clone()).collect();
        let slabs = self.region.fresh("slabs", Some(Type { elem: self.ty.elem, shape }));
        stms.push(Stm { pat: vec![slabs], rhs: Rhs::Kernel { axes, body } });
        // The dimensions in the order of the array.
        let order: Vec<usize> = beyond.keys().copied().chain(class.iter().copied()).collect();
        let perm: Vec<usize> =
            (0..self.rank()).filter_map(|dim| order.iter().position(|at| *at == dim)).collect();
        let part: Vec<(Exp, Exp)> = (0..self.rank())
            .filter_map(|dim| match class.iter().position(|lined| *lined == dim) {
                Some(at) => Some((bands[at].first.clone(), widths[at].clone())),
                None => beyond.get(&dim).cloned(),
            })
            .collect();
        let mut value = slabs;
        if !perm.is_sorted() {
            let shape = part.iter().map(|(_, count)| count.clone()).collect();
            value = self.region.fresh("slabs", Some(Type { elem: self.ty.elem, shape }));
            let change = ViewChange::Rearrange(perm);
            let rhs = Rhs::Array(ArrayOp::View { change, array: Exp::Var(slabs) });
            stms.push(Stm { pat: vec![value], rhs });
        }
        self.put(stms, part, value);
    }

    /// The class of elements that lie among lines in no dimension.
    fn elements(&mut self, stms: &mut Vec<Stm>) {
        let beyond = self.beyond(stms, &[]);
        let lines = self.packed(stms, &beyond);
        let axes = self.axes(&beyond);
        let absolute = self.absolute(&beyond, &axes);
        let index: Vec<Exp> = absolute.values().cloned().collect();
        let element = self.region.read(self.now, index);
        let elem = Type::scalar(self.ty.elem);
        let begun = self.region.fresh("e", Some(elem.clone()));
        let mut body = vec![Stm { pat: vec![begun], rhs: Rhs::Exps(vec![element]) }];
        let numbers = beyond.keys().zip(&axes).map(|(dim, axis)| (*dim, Exp::Var(axis.var))).collect();
        let done = self.rounds_of_element(&mut body, (&absolute, &numbers), lines, Exp::Var(begun));
        let body = Body { stms: body, results: vec![done] };
        let shape = axes.iter().map(|axis| axis.bound.clone()).collect();
        let rest = self.region.fresh("rest", Some(Type { elem: self.ty.elem, shape }));
        stms.push(Stm { pat: vec![rest], rhs: Rhs::Kernel { axes, body } });
        self.put(stms, beyond.into_values().collect(), rest);
    }

    /// Copies of the lines that the last class reads: they lie together, and apart from what it changes.
    fn packed(&mut self, stms: &mut Vec<Stm>, beyond: &Beyond) -> Vec<(Vec<At>, VarId)> {
        let mut packed: Vec<(Vec<At>, VarId)> = Vec::new();
        for read in self.reads_of(&[]) {
            let Some(Place { dims, .. }) = self.round.places.get(&read).cloned() else { continue };
            let has_lines = dims.iter().any(|at| matches!(at, At::Line(_)));
            if !has_lines || packed.iter().any(|(known, _)| *known == dims) {
                continue;
            }
            let (mut axes, mut index, mut round) = (Vec::new(), Vec::new(), None);
            for (dim, at) in dims.iter().enumerate() {
                index.push(match (at, beyond.get(&dim)) {
                    (At::Own, Some((begin, count))) => {
                        let axis = Axis { var: self.var("i"), bound: count.clone() };
                        axes.push(axis.clone());
                        add(begin.clone(), Exp::Var(axis.var))
                    }
                    (At::Own, None) => Exp::int(0),
                    (At::Line(shift), _) => {
                        let number = match round {
                            Some(var) => var,
                            None => {
                                let axis = Axis { var: self.var("p"), bound: self.count.clone() };
                                axes.push(axis.clone());
                                *round.insert(axis.var)
                            }
                        };
                        add(add(self.first.clone(), Exp::Var(number)), Exp::int(*shift))
                    }
                });
            }
            let element = self.region.read(self.now, index);
            let shape = axes.iter().map(|axis| axis.bound.clone()).collect();
            let line = self.region.fresh("line", Some(Type { elem: self.ty.elem, shape }));
            let body = Body { stms: Vec::new(), results: vec![element] };
            stms.push(Stm { pat: vec![line], rhs: Rhs::Kernel { axes, body } });
            packed.push((dims, line));
        }
        packed
    }

    /// The reads of what a class computes.
    fn reads_of(&self, class: &[usize]) -> Vec<ReadId> {
        let mut reads = Vec::new();
        let mut note = |exp: &Exp| {
            exp.visit(&mut |part| {
                if let Exp::Read(Read { id, .. }) = part {
                    reads.push(*id);
                }
            });
        };
        let needed = self.needed(class);
        for step in &self.round.steps {
            match step {
                Step::Scalar(var, exp) if needed.contains(var) => note(exp),
                Step::Sweep(sweep) if self.is_active(sweep, class) => {
                    sweep.lets.iter().map(|(_, exp)| exp).chain([&sweep.value]).for_each(&mut note);
                }
                _ => {}
            }
        }
        reads
    }

    /// A loop whose rounds do nothing but trap where those of the old loop would, for classes that do not have all scalars.
    fn checks(&mut self, stms: &mut Vec<Stm>) {
        let zero = Exp::int(0);
        let carried = self.var("t");
        let axis = Axis { var: self.var("p"), bound: self.count.clone() };
        let mut body = Vec::new();
        let number = add(self.first.clone(), Exp::Var(axis.var));
        let number = self.name(&mut body, "k", number);
        let mut names = BTreeMap::from([(self.round.axis.var, number)]);
        let steps = &self.round.steps;
        for step in steps {
            if let Step::Scalar(var, exp) = step {
                let exp = self.renamed(exp, &names);
                self.rename(&mut body, *var, exp, &mut names);
            }
        }
        self.emit_checks(&mut body, &names);
        let body = Body { stms: body, results: vec![Exp::Var(carried)] };
        let done = self.var("t");
        let rhs = Rhs::For { carried: vec![carried], init: vec![zero], axis, body };
        stms.push(Stm { pat: vec![done], rhs });
    }

    /// Traps unless what holds in every round holds.
    pub fn emit_checks(&mut self, stms: &mut Vec<Stm>, names: &BTreeMap<VarId, Exp>) {
        for check in &self.round.checks {
            let check = galopvm_kir::algebra::simplified(&self.renamed(check, names));
            if !galopvm_kir::algebra::is_true(&check) {
                let number = Exp::Convert(ElemType::I64, Box::new(check));
                let trap = Exp::Op(ScalarOp::Div, ElemType::I64, vec![Exp::int(1), number]);
                self.name(stms, "checked", trap);
            }
        }
    }

    /// A new name for a scalar of the round.
    pub fn rename(&mut self, stms: &mut Vec<Stm>, var: VarId, exp: Exp, names: &mut BTreeMap<VarId, Exp>) {
        if let Exp::Var(_) = exp {
            names.insert(var, exp);
            return;
        }
        let name = self.region.name_of(var).to_string();
        let new = self.region.fresh(&name, self.region.vars[var].ty.clone());
        stms.push(Stm { pat: vec![new], rhs: Rhs::Exps(vec![exp]) });
        names.insert(var, Exp::Var(new));
    }

    /// An expression with new names, whose reads are of other arrays.
    pub fn renamed(&mut self, exp: &Exp, names: &BTreeMap<VarId, Exp>) -> Exp {
        let mut new = exp.substitute(&|var| names.get(&var).cloned());
        new.visit_mut(&mut |part| {
            if let Exp::Read(read) = part {
                read.id = ReadId(self.region.reads);
                self.region.reads += 1;
            }
        });
        new
    }
}
