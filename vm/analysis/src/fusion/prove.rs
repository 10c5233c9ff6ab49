//! Sizes and indices as polynomials over atoms, and what can be shown of their signs.
//!
//! An atom is a name, or an operation that is no sum and no product (minimum, quotient, ..). Names of scalar statements
//! are replaced by what they stand for. Numbers that were observed play no part, so that a proof holds for every launch.
//!
//! Sums and products are taken over the whole numbers. `i64` arithmetic agrees wherever the exact value fits, and
//! extents and iteration variables are far below the greatest `i64`, since an array has no more elements than a memory.

use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::walk::Part;
use galopvm_kir::{Axis, Body, Exp, ReadId, Region, Rhs, Stm, VarId};
use galopvm_lmad::Polynomial;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Most steps of one proof.
const STEPS: u32 = 400;
/// How often a proof may use a fact that is no bound of a single atom.
const USES: u32 = 2;
/// Polynomials beyond these are atoms of their own, so that no coefficient overflows.
const MOST_DEGREE: usize = 4;
const MOST_SUMMANDS: usize = 24;
const GREATEST: i64 = 1 << 40;

/// What a parameter of the polynomials stands for.
#[derive(Clone, PartialEq, Debug)]
enum Atom {
    /// A name, or something that nothing is known of.
    Plain,
    Least(Polynomial, Polynomial),
    Greatest(Polynomial, Polynomial),
    /// Rounded down.
    Quotient(Polynomial, Polynomial),
    Remainder(Polynomial, Polynomial),
}

/// Atoms that are 1 or more, and atoms that are 0 or more.
#[derive(Default)]
struct Signs {
    positive: BTreeSet<usize>,
    not_negative: BTreeSet<usize>,
}

/// What is known of the numbers of a region at one place of it.
pub(super) struct Prover {
    atoms: Vec<Atom>,
    /// What a plain atom is in the region; nothing for those that are made for a proof.
    sources: Vec<Option<Exp>>,
    names: BTreeMap<VarId, Polynomial>,
    /// What names of conditions stand for.
    conditions: BTreeMap<VarId, Exp>,
    /// By atom: the values are `0 .. upper`.
    uppers: BTreeMap<usize, Polynomial>,
    /// Each is 0 or more here.
    facts: Vec<Polynomial>,
    /// Reads that were shown to lie inside their arrays. They stay so where the computation around them moves.
    pub safe: BTreeSet<ReadId>,
    /// What is left of the proof that is going on.
    steps: u32,
    /// What the facts say of single atoms, if that was asked since they changed.
    signs: Option<Rc<Signs>>,
}

fn number(value: i64) -> Polynomial {
    Polynomial::number(value)
}

impl Prover {
    /// What is known everywhere in a region: extents of parameters are not negative, variables below their bounds.
    pub fn new(region: &Region) -> Prover {
        let mut prover = Prover {
            atoms: Vec::new(),
            sources: Vec::new(),
            names: BTreeMap::new(),
            conditions: BTreeMap::new(),
            uppers: BTreeMap::new(),
            facts: Vec::new(),
            safe: BTreeSet::new(),
            steps: 0,
            signs: None,
        };
        for param in &region.params {
            let shape = region.vars[*param].ty.as_ref().map_or(&[][..], |ty| &ty.shape);
            for extent in shape {
                let extent = prover.polynomial(extent);
                if !prover.facts.contains(&extent) {
                    prover.assume(extent);
                }
            }
        }
        prover.body(region, &region.body);
        prover
    }

    fn body(&mut self, region: &Region, body: &Body) {
        body.stms.iter().for_each(|stm| self.stm(region, stm));
    }

    fn stm(&mut self, region: &Region, stm: &Stm) {
        if let Rhs::Exps(exps) = &stm.rhs {
            for (var, exp) in stm.pat.iter().zip(exps) {
                self.define(region, *var, exp);
            }
        }
        for axis in stm.rhs.axes() {
            let upper = self.polynomial(&axis.bound);
            let known = self.names.get(&axis.var).and_then(|name| name.parameters().first().copied());
            if known.is_some_and(|atom| self.uppers.get(&atom) == Some(&upper)) {
                continue;
            }
            let atom = self.atom(Atom::Plain, Some(Exp::Var(axis.var)));
            self.names.insert(axis.var, Polynomial::parameter(atom));
            self.uppers.insert(atom, upper);
            self.signs = None;
        }
        stm.rhs.each_part(&mut |part| {
            if let Part::Body(inner) = part {
                self.body(region, inner);
            }
        });
    }

    /// The names of a statement that was changed.
    pub fn redefine(&mut self, region: &Region, stm: &Stm) {
        self.stm(region, stm);
    }

    fn define(&mut self, region: &Region, var: VarId, exp: &Exp) {
        let Some(ty) = region.vars[var].ty.as_ref().filter(|ty| ty.is_scalar()) else { return };
        if ty.elem == ElemType::Bool {
            self.conditions.insert(var, exp.clone());
        } else if ty.elem == ElemType::I64 {
            let value = if matches!(exp, Exp::Read(_) | Exp::Opaque(..) | Exp::Convert(..)) {
                Polynomial::parameter(self.atom(Atom::Plain, Some(Exp::Var(var))))
            } else {
                self.polynomial(exp)
            };
            self.names.insert(var, value);
        }
    }

    fn atom(&mut self, atom: Atom, source: Option<Exp>) -> usize {
        let known = match atom {
            Atom::Plain => None,
            _ => self.atoms.iter().position(|other| *other == atom),
        };
        known.unwrap_or_else(|| {
            self.atoms.push(atom);
            self.sources.push(source);
            self.atoms.len() - 1
        })
    }

    /// A number of a loop that is made for a proof: `0 .. upper`.
    pub fn any_below(&mut self, upper: Polynomial) -> Polynomial {
        let atom = self.atom(Atom::Plain, None);
        self.uppers.insert(atom, upper);
        self.signs = None;
        Polynomial::parameter(atom)
    }

    /// An `i64` expression.
    pub fn polynomial(&mut self, exp: &Exp) -> Polynomial {
        match exp {
            Exp::Const(value) if value.ty == ElemType::I64 && value.as_i64().unsigned_abs() < 1 << 40 => {
                number(value.as_i64())
            }
            Exp::Var(var) => {
                if let Some(known) = self.names.get(var) {
                    return known.clone();
                }
                let atom = Polynomial::parameter(self.atom(Atom::Plain, Some(exp.clone())));
                self.names.insert(*var, atom.clone());
                atom
            }
            Exp::Op(op, _, args) => self.operation(*op, args, exp),
            _ => Polynomial::parameter(self.atom(Atom::Plain, Some(exp.clone()))),
        }
    }

    fn operation(&mut self, op: ScalarOp, args: &[Exp], whole: &Exp) -> Polynomial {
        let values: Vec<Polynomial> = match op {
            ScalarOp::Add
            | ScalarOp::Sub
            | ScalarOp::Mul
            | ScalarOp::Neg
            | ScalarOp::Min
            | ScalarOp::Max
            | ScalarOp::Div
            | ScalarOp::Mod => args.iter().map(|arg| self.polynomial(arg)).collect(),
            _ => Vec::new(),
        };
        let atom = match (op, values.as_slice()) {
            (ScalarOp::Add, [a, b]) => return self.limited(a.plus(b, 1), whole),
            (ScalarOp::Sub, [a, b]) => return self.limited(a.plus(b, -1), whole),
            (ScalarOp::Neg, [a]) => return self.limited(number(0).plus(a, -1), whole),
            (ScalarOp::Mul, [a, b]) if a.degree() + b.degree() <= MOST_DEGREE => {
                return self.limited(a.times(b), whole);
            }
            (ScalarOp::Min, [a, b]) => Atom::Least(a.clone(), b.clone()),
            (ScalarOp::Max, [a, b]) => Atom::Greatest(a.clone(), b.clone()),
            (ScalarOp::Div, [a, b]) => Atom::Quotient(a.clone(), b.clone()),
            (ScalarOp::Mod, [a, b]) => Atom::Remainder(a.clone(), b.clone()),
            _ => Atom::Plain,
        };
        let source = (atom == Atom::Plain).then(|| whole.clone());
        Polynomial::parameter(self.atom(atom, source))
    }

    fn limited(&mut self, value: Polynomial, whole: &Exp) -> Polynomial {
        let small = |count: i64| count.unsigned_abs() <= GREATEST.unsigned_abs();
        if value.coefficients().count() <= MOST_SUMMANDS && value.coefficients().all(small) {
            return value;
        }
        Polynomial::parameter(self.atom(Atom::Plain, Some(whole.clone())))
    }

    /// How many facts are known; [`Prover::forget`] goes back to them.
    pub fn mark(&self) -> usize {
        self.facts.len()
    }

    /// Goes back to earlier facts; gives what was known beyond them.
    pub fn forget(&mut self, mark: usize) -> Vec<Polynomial> {
        if mark < self.facts.len() {
            self.signs = None;
        }
        self.facts.split_off(mark.min(self.facts.len()))
    }

    /// Knows facts again that were forgotten.
    pub fn recall(&mut self, facts: Vec<Polynomial>) {
        if !facts.is_empty() {
            self.signs = None;
        }
        self.facts.extend(facts);
    }

    /// From here on the polynomial is 0 or more.
    pub fn assume(&mut self, fact: Polynomial) {
        self.signs = None;
        self.facts.push(fact);
    }

    /// Inside these axes there is at least one iteration of each.
    pub fn enter(&mut self, axes: &[Axis]) {
        for axis in axes {
            let bound = self.polynomial(&axis.bound);
            self.assume(bound.plus(&number(1), -1));
        }
    }

    /// Behind a condition that is as said.
    pub fn enter_branch(&mut self, condition: &Exp, holds: bool) {
        match condition {
            Exp::Var(var) => {
                if let Some(meaning) = self.conditions.get(var).cloned() {
                    self.enter_branch(&meaning, holds);
                }
            }
            Exp::Op(ScalarOp::Not, _, args) if args.len() == 1 => self.enter_branch(&args[0], !holds),
            Exp::Op(ScalarOp::And, _, args) if holds => {
                args.iter().for_each(|arg| self.enter_branch(arg, true));
            }
            Exp::Op(ScalarOp::Or, _, args) if !holds => {
                args.iter().for_each(|arg| self.enter_branch(arg, false));
            }
            Exp::Op(op, _, args) if args.len() == 2 && args.iter().all(|arg| self.is_size(arg)) => {
                let (a, b) = (self.polynomial(&args[0]), self.polynomial(&args[1]));
                let (up, down) = (b.plus(&a, -1), a.plus(&b, -1));
                let less = |difference: Polynomial| difference.plus(&number(1), -1);
                match (op, holds) {
                    (ScalarOp::Lt, true) | (ScalarOp::Ge, false) => self.assume(less(up)),
                    (ScalarOp::Le, true) | (ScalarOp::Gt, false) => self.assume(up),
                    (ScalarOp::Gt, true) | (ScalarOp::Le, false) => self.assume(less(down)),
                    (ScalarOp::Ge, true) | (ScalarOp::Lt, false) => self.assume(down),
                    (ScalarOp::Eq, true) | (ScalarOp::Ne, false) => {
                        self.assume(up);
                        self.assume(down);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// An `i64` as far as polynomials are known of its names.
    fn is_size(&self, exp: &Exp) -> bool {
        match exp {
            Exp::Const(value) => value.ty == ElemType::I64,
            Exp::Var(var) => self.names.contains_key(var),
            Exp::Op(op, _, args) => {
                op.result_type(ElemType::I64) == ElemType::I64
                    && *op != ScalarOp::Select
                    && args.iter().all(|arg| self.is_size(arg))
            }
            _ => false,
        }
    }

    /// Whether an index lies inside an extent.
    pub fn inside(&mut self, index: &Polynomial, extent: &Polynomial) -> bool {
        // Mostly it is a variable and its bound.
        if let Some(atom) = index.parameters().first()
            && self.uppers.get(atom) == Some(extent)
            && *index == Polynomial::parameter(*atom)
        {
            return true;
        }
        let last = extent.plus(index, -1).plus(&number(1), -1);
        self.is_not_negative(index) && self.is_not_negative(&last)
    }

    /// Whether a polynomial is shown to be 0 or more here.
    pub fn is_not_negative(&mut self, value: &Polynomial) -> bool {
        self.steps = STEPS;
        let signs = match &self.signs {
            Some(signs) => signs.clone(),
            None => Rc::new(self.find_signs()),
        };
        self.signs = Some(signs.clone());
        self.shown_with(value, USES, &signs)
    }

    fn shown(&mut self, value: &Polynomial, uses: u32) -> bool {
        let signs = self.signs.clone().unwrap_or_default();
        self.shown_with(value, uses, &signs)
    }

    fn shown_with(&mut self, value: &Polynomial, uses: u32, signs: &Signs) -> bool {
        if self.steps == 0 {
            return false;
        }
        self.steps -= 1;
        let atoms = value.parameters();
        let positive: Vec<usize> =
            atoms.iter().copied().filter(|atom| signs.positive.contains(atom)).collect();
        if atoms.iter().all(|atom| signs.not_negative.contains(atom) || self.uppers.contains_key(atom))
            && value.is_not_negative(&positive)
        {
            return true;
        }
        if value.degree() == 0 && value.is_negative_product() && uses == 0 {
            return false;
        }
        // Later atoms are bounded by earlier ones, so they go first.
        for atom in atoms.iter().rev() {
            let (rest, factor) = parts(value, *atom);
            if factor.parameters().contains(atom) {
                continue;
            }
            if self.without(*atom, &rest, &factor, uses) {
                return true;
            }
        }
        uses > 0
            && (0..self.facts.len()).any(|k| {
                let fact = self.facts[k].clone();
                // A fact about nothing that is asked for does not help.
                let shared = fact.parameters().iter().any(|atom| atoms.contains(atom));
                shared && self.shown(&value.plus(&fact, -1), uses - 1)
            })
    }

    /// Whether `rest + atom * factor` is 0 or more, by the bounds of the atom.
    fn without(&mut self, atom: usize, rest: &Polynomial, factor: &Polynomial, uses: u32) -> bool {
        let with = |value: &Polynomial| rest.plus(&factor.times(value), 1);
        let rises = self.shown(factor, 0);
        let falls = !rises && self.shown(&number(0).plus(factor, -1), 0);
        if !rises && !falls {
            return false;
        }
        match self.atoms[atom].clone() {
            Atom::Plain => match self.uppers.get(&atom).cloned() {
                Some(_) if rises => self.shown(rest, uses),
                Some(upper) => self.shown(&with(&upper.plus(&number(1), -1)), uses),
                None => false,
            },
            Atom::Least(a, b) | Atom::Greatest(a, b) => {
                let least = matches!(self.atoms[atom], Atom::Least(..));
                let first = self.shown(&with(&a), uses);
                // The bound on this side is either of the two, or it has to hold for both.
                if least == falls {
                    first || self.shown(&with(&b), uses)
                } else {
                    first && self.shown(&with(&b), uses)
                }
            }
            Atom::Remainder(_, by) => {
                let last = by.plus(&number(1), -1);
                self.shown(&last, 1) && self.shown(&if rises { rest.clone() } else { with(&last) }, uses)
            }
            Atom::Quotient(of, by) => {
                if !self.shown(&by.plus(&number(1), -1), 1) {
                    return false;
                }
                // `c >= x / b` is `c * b + b - 1 >= x`, and `x / b >= c` is `x >= c * b`.
                if *factor == number(-1) {
                    let bound = rest.times(&by).plus(&by, 1).plus(&number(1), -1);
                    self.shown(&bound.plus(&of, -1), uses)
                } else if *factor == number(1) {
                    self.shown(&of.plus(&rest.times(&by), 1), uses)
                } else {
                    rises && self.shown(&of, 1) && self.shown(rest, uses)
                }
            }
        }
    }

    /// The atoms that facts say are 1 or more, and those that they say are 0 or more.
    fn find_signs(&self) -> Signs {
        let (mut positive, mut zero) = (BTreeSet::new(), BTreeSet::new());
        for fact in &self.facts {
            let atoms = fact.parameters();
            let (Some(&atom), 1) = (atoms.first(), atoms.len()) else { continue };
            let (rest, factor) = parts(fact, atom);
            if factor == number(1) && rest.degree() == 0 {
                let low = -rest.value(&[]).unwrap_or(0);
                if low >= 1 {
                    positive.insert(atom);
                }
                if low >= 0 {
                    zero.insert(atom);
                }
            }
        }
        // A product of numbers that are not negative is 1 or more only if all of them are.
        for fact in &self.facts {
            let parts: Vec<Polynomial> = fact.summands().collect();
            if let [constant, product] = parts.as_slice()
                && constant.degree() == 0
                && constant.is_negative_product()
                && !product.is_negative_product()
                && product
                    .parameters()
                    .iter()
                    .all(|atom| zero.contains(atom) || self.uppers.contains_key(atom))
            {
                positive.extend(product.parameters());
            }
        }
        Signs { positive, not_negative: zero }
    }

    /// The quotient and the remainder, where they are plain to see: `(i*m + j) / m` is `i` if `0 <= j < m`.
    pub fn division(&mut self, of: &Polynomial, by: &Polynomial) -> Option<(Polynomial, Polynomial)> {
        let (mut quotient, mut rest) = (Polynomial::default(), Polynomial::default());
        for part in of.summands() {
            match part.divided(by) {
                Some(part) => quotient = quotient.plus(&part, 1),
                None => rest = rest.plus(&part, 1),
            }
        }
        self.inside(&rest, by).then_some((quotient, rest))
    }

    /// What an atom stands for, without reads.
    fn source(&self, atom: usize) -> Option<Exp> {
        let operation =
            |op, a, b| Some(Exp::Op(op, ElemType::I64, vec![self.expression(a)?, self.expression(b)?]));
        match &self.atoms[atom] {
            Atom::Plain => {
                let mut reads = false;
                let source = self.sources[atom].as_ref()?;
                source.visit(&mut |exp| reads |= matches!(exp, Exp::Read(_)));
                (!reads).then(|| source.clone())
            }
            Atom::Least(a, b) => operation(ScalarOp::Min, a, b),
            Atom::Greatest(a, b) => operation(ScalarOp::Max, a, b),
            Atom::Quotient(a, b) => operation(ScalarOp::Div, a, b),
            Atom::Remainder(a, b) => operation(ScalarOp::Mod, a, b),
        }
    }

    /// A polynomial as an expression over names of the region, without reads.
    pub fn expression(&self, value: &Polynomial) -> Option<Exp> {
        let mut sum: Option<Exp> = None;
        // Numbers last.
        let mut parts: Vec<Polynomial> = value.summands().collect();
        parts.sort_by_key(|part| part.degree() == 0);
        for part in parts {
            let count = part.coefficients().next()?;
            let mut product: Option<Exp> = None;
            let mut left = part.clone();
            for atom in part.parameters() {
                while left.degree() > 0
                    && let Some(rest) = left.divided(&Polynomial::parameter(atom))
                {
                    let source = self.source(atom)?;
                    product = Some(match product {
                        Some(product) => Exp::Op(ScalarOp::Mul, ElemType::I64, vec![product, source]),
                        None => source,
                    });
                    left = rest;
                }
            }
            let (op, size) =
                if count < 0 && sum.is_some() { (ScalarOp::Sub, -count) } else { (ScalarOp::Add, count) };
            let term = match product {
                Some(product) if size == 1 => product,
                Some(product) => Exp::Op(ScalarOp::Mul, ElemType::I64, vec![product, Exp::int(size)]),
                None => Exp::int(size),
            };
            sum = Some(match sum {
                Some(sum) => Exp::Op(op, ElemType::I64, vec![sum, term]),
                None => term,
            });
        }
        Some(sum.unwrap_or(Exp::int(0)))
    }
}

/// `value` as `rest + atom * factor`.
fn parts(value: &Polynomial, atom: usize) -> (Polynomial, Polynomial) {
    let (mut rest, mut factor) = (Polynomial::default(), Polynomial::default());
    for part in value.summands() {
        match part.divided(&Polynomial::parameter(atom)) {
            Some(part) => factor = factor.plus(&part, 1),
            None => rest = rest.plus(&part, 1),
        }
    }
    (rest, factor)
}
