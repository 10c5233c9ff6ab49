//! From expressions to affine forms, and from conditions to alternatives of atoms.
//!
//! Names are followed through the statements that bind them. A clamp (`min`, `max`) or a choice in an index gives
//! one form for each side with the condition under which it is taken, so that nothing is rounded.

use super::{Atom, Form, MOST_PIECES, Range};
use crate::index::Paths;
use galopvm_base::{ElemType, ScalarOp, TypedId};
use galopvm_kir::{Exp, Observed, ObservedParam, Region, Rhs, VarId};
use std::cell::RefCell;

/// A conjunction of atoms, one of several alternatives that exclude each other.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Alternative {
    /// All of them hold.
    pub atoms: Vec<Atom>,
    /// A condition that is not affine was left out: the alternative holds less often than the atoms.
    pub loose: bool,
}

/// A form under conditions.
pub type Piece = (Vec<Atom>, Form);

/// What is known of the names of a region: sizes, definitions, iteration variables with their ranges.
pub struct Scope<'a> {
    region: &'a Region,
    observed: &'a Observed,
    /// By variable: the position of the parameter.
    params: Vec<Option<usize>>,
    paths: Paths<'a>,
    /// Iteration variables that are open now.
    ranges: Vec<Range>,
    /// Forms of names.
    known: RefCell<Known>,
}

/// Forms of names that were asked for. One that was found with some variables open holds as long as these are open.
#[derive(Default)]
struct Known {
    /// By variable.
    forms: Vec<Option<Form>>,
    /// The names in the order in which they were found, with the number of variables that were open then.
    order: Vec<(VarId, usize)>,
}

impl Known {
    fn keep(&mut self, var: VarId, form: &Form, open: usize) {
        if self.forms.len() <= var.index() {
            self.forms.resize(var.index() + 1, None);
        }
        self.forms[var.index()] = Some(form.clone());
        self.order.push((var, open));
    }

    /// Forgets what was found with more variables open.
    fn close(&mut self, open: usize) {
        while let Some((var, _)) = self.order.pop_if(|(_, then)| *then > open) {
            self.forms[var.index()] = None;
        }
    }
}

impl<'a> Scope<'a> {
    /// The names of a region at one launch.
    pub fn new(region: &'a Region, observed: &'a Observed) -> Scope<'a> {
        let mut params = vec![None; region.vars.len()];
        for (at, param) in region.params.iter().enumerate() {
            if let Some(slot) = params.get_mut(param.index()) {
                *slot = Some(at);
            }
        }
        let paths = Paths::new(region);
        Scope { region, observed, params, paths, ranges: Vec::new(), known: RefCell::default() }
    }

    /// The region.
    pub fn region(&self) -> &'a Region {
        self.region
    }

    /// The expression that binds a name, if one does.
    pub fn definition(&self, var: VarId) -> Option<&'a Exp> {
        self.paths.binders().definition(var)
    }

    /// The right side that binds a name, and the number of the result that it is a name for.
    pub fn binder(&self, var: VarId) -> Option<(&'a Rhs, usize)> {
        self.paths.binders().of(var)
    }

    /// Where views lead.
    pub fn paths(&self) -> &Paths<'a> {
        &self.paths
    }

    /// What was observed of a parameter.
    pub fn observed(&self, var: VarId) -> Option<&'a ObservedParam> {
        let at = self.params.get(var.index()).copied().flatten()?;
        self.observed.params.get(at)
    }

    /// Opens an iteration variable; an axis without iterations gets an empty range.
    pub fn open(&mut self, var: VarId, trips: i64) {
        self.ranges.push(Range { var, low: 0, high: trips.saturating_sub(1).max(-1) });
    }

    /// Opens iteration variables whose values are known.
    pub(crate) fn open_all(&mut self, ranges: &[Range]) {
        self.ranges.extend_from_slice(ranges);
    }

    /// The open iteration variables.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    /// Runs `inside` with more iteration variables open; gives nothing if a number of trips is unknown.
    pub fn size(&self, exp: &Exp) -> Option<i64> {
        self.form(exp)?.number()
    }

    /// Closes the iteration variables that were opened last.
    pub fn close(&mut self, count: usize) {
        self.ranges.truncate(self.ranges.len().saturating_sub(count));
        self.known.get_mut().close(self.ranges.len());
    }

    /// The form of an integer expression, if it has one everywhere. Most have, and then it is found without any list.
    pub fn form(&self, exp: &Exp) -> Option<Form> {
        match exp {
            Exp::Const(value) if value.ty.is_int() && value.ty != ElemType::U64 => {
                Some(Form::constant(value.as_i64()))
            }
            Exp::Const(_) | Exp::Read(_) | Exp::Opaque(..) => None,
            Exp::Var(var) => self.form_of(*var),
            Exp::Convert(to, arg) => self.form(arg).filter(|form| self.fits(form, *to)),
            Exp::Op(op, elem, args) => {
                let form = match (op, &args[..]) {
                    (ScalarOp::Neg, [a]) => self.form(a)?.times(-1)?,
                    (ScalarOp::Min | ScalarOp::Max | ScalarOp::Select, _) => {
                        return match &mut self.pieces(exp)?[..] {
                            [(atoms, form)] if atoms.is_empty() => Some(std::mem::take(form)),
                            _ => None,
                        };
                    }
                    (op, [a, b]) if is_affine(*op) => self.combined(*op, &self.form(a)?, &self.form(b)?)?,
                    _ => return None,
                };
                self.fits(&form, op.result_type(*elem)).then_some(form)
            }
        }
    }

    /// The form of a name, remembered until one of the iteration variables around is closed.
    fn form_of(&self, var: VarId) -> Option<Form> {
        if self.ranges.iter().any(|range| range.var == var) {
            return Some(Form::variable(var));
        }
        if let Some(ObservedParam::Scalar(value)) = self.observed(var) {
            let number = value.ty.is_int() && value.ty != ElemType::U64;
            return number.then(|| Form::constant(value.as_i64()));
        }
        let definition = self.definition(var)?;
        if let Some(form) = self.known.borrow().forms.get(var.index()).and_then(Option::as_ref) {
            return Some(form.clone());
        }
        let form = self.form(definition)?;
        self.known.borrow_mut().keep(var, &form, self.ranges.len());
        Some(form)
    }

    /// The forms of an integer expression, each with the conditions under which it is the value.
    pub fn pieces(&self, exp: &Exp) -> Option<Vec<Piece>> {
        match exp {
            Exp::Const(value) if value.ty.is_int() && value.ty != ElemType::U64 => {
                Some(vec![(Vec::new(), Form::constant(value.as_i64()))])
            }
            Exp::Const(_) | Exp::Read(_) | Exp::Opaque(..) => None,
            Exp::Var(var) => self.variable(*var),
            Exp::Convert(to, arg) => {
                let pieces = self.pieces(arg)?;
                pieces.iter().all(|(_, form)| self.fits(form, *to)).then_some(pieces)
            }
            Exp::Op(op, elem, args) => {
                let pieces = self.operation(*op, args)?;
                let ty = op.result_type(*elem);
                pieces.iter().all(|(_, form)| self.fits(form, ty)).then_some(pieces)
            }
        }
    }

    /// Whether every value of a form is one of the type.
    fn fits(&self, form: &Form, ty: ElemType) -> bool {
        ty.is_int()
            && form.interval(&self.ranges).is_some_and(|(low, high)| {
                let all = crate::Interval::of_type(ty);
                // An empty range makes an interval whose ends are exchanged: there are no values then.
                low > high || all.low <= low && high <= all.high
            })
    }

    fn variable(&self, var: VarId) -> Option<Vec<Piece>> {
        if self.ranges.iter().any(|range| range.var == var) {
            return Some(vec![(Vec::new(), Form::variable(var))]);
        }
        if let Some(ObservedParam::Scalar(value)) = self.observed(var) {
            let number = value.ty.is_int() && value.ty != ElemType::U64;
            return number.then(|| vec![(Vec::new(), Form::constant(value.as_i64()))]);
        }
        self.pieces(self.definition(var)?)
    }

    fn operation(&self, op: ScalarOp, args: &[Exp]) -> Option<Vec<Piece>> {
        let both = |f: &dyn Fn(&Form, &Form) -> Option<Form>| {
            let [a, b] = args else { return None };
            let (a, b) = (self.pieces(a)?, self.pieces(b)?);
            let mut pieces = Vec::new();
            for ((left, x), (right, y)) in a.iter().flat_map(|a| b.iter().map(move |b| (a, b))) {
                pieces.push(([left.as_slice(), right].concat(), f(x, y)?));
            }
            (pieces.len() <= MOST_PIECES).then_some(pieces)
        };
        match (op, args) {
            (ScalarOp::Neg, [a]) => {
                self.pieces(a)?.into_iter().map(|(atoms, form)| Some((atoms, form.times(-1)?))).collect()
            }
            (op, _) if is_affine(op) => both(&|a, b| self.combined(op, a, b)),
            (ScalarOp::Min | ScalarOp::Max, [_, _]) => {
                let sides = both(&Form::minus)?;
                let (a, b) = (self.pieces(&args[0])?, self.pieces(&args[1])?);
                // The difference a - b of each pair of pieces decides which of them it is.
                let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
                let mut pieces = Vec::new();
                for ((atoms, difference), ((_, x), (_, y))) in sides.into_iter().zip(pairs) {
                    let (least, other) = if op == ScalarOp::Min { (y, x) } else { (x, y) };
                    pieces.extend(self.split(&atoms, Atom::NotNegative(difference), least, other)?);
                }
                Some(pieces)
            }
            (ScalarOp::Select, [cond, a, b]) => {
                let (mut yes, mut no) = (self.alternatives(cond, true), self.alternatives(cond, false));
                if yes.iter().chain(&no).any(|alternative| alternative.loose) {
                    let (a, b) = (self.form(a)?, self.form(b)?);
                    return (a == b).then(|| vec![(Vec::new(), a)]);
                }
                let (a, b) = (self.pieces(a)?, self.pieces(b)?);
                let mut pieces = Vec::new();
                for (sides, forms) in [(&mut yes, a), (&mut no, b)] {
                    for side in sides {
                        for (atoms, form) in &forms {
                            pieces.push(([side.atoms.as_slice(), atoms].concat(), form.clone()));
                        }
                    }
                }
                (pieces.len() <= MOST_PIECES).then_some(pieces)
            }
            _ => None,
        }
    }

    /// The form of an operation on two forms.
    fn combined(&self, op: ScalarOp, a: &Form, b: &Form) -> Option<Form> {
        match op {
            ScalarOp::Add => a.plus(b),
            ScalarOp::Sub => a.minus(b),
            ScalarOp::Mul => a.product(b),
            ScalarOp::Shl => match b.number() {
                Some(count @ 0..=62) => a.times(1 << count),
                _ => None,
            },
            _ => self.division(op, a, b),
        }
    }

    /// One form where `atom` holds and another one where it does not; only what can happen.
    fn split(&self, atoms: &[Atom], atom: Atom, yes: &Form, no: &Form) -> Option<Vec<Piece>> {
        let always = atom.form().interval(&self.ranges).and_then(|(low, high)| match (low >= 0, high < 0) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        });
        if let Some(always) = always {
            return Some(vec![(atoms.to_vec(), if always { yes.clone() } else { no.clone() })]);
        }
        let with = |atom: Atom| [atoms, &[atom]].concat();
        let mut pieces: Vec<Piece> =
            atom.negated()?.into_iter().map(|other| (with(other), no.clone())).collect();
        pieces.insert(0, (with(atom), yes.clone()));
        Some(pieces)
    }

    /// A quotient or remainder that is affine: everything is a multiple of the divisor, or lies below it.
    fn division(&self, op: ScalarOp, form: &Form, divisor: &Form) -> Option<Form> {
        let by = divisor.number().filter(|by| *by > 0)?;
        let (low, high) = form.interval(&self.ranges)?;
        let floors = matches!(op, ScalarOp::Div | ScalarOp::Mod);
        if !floors && low < 0 {
            return None;
        }
        let quotient = matches!(op, ScalarOp::Div | ScalarOp::Quot);
        let divisible = form.terms().iter().all(|(_, c)| c % by == 0);
        if divisible {
            let rest = Form::constant(form.constant.rem_euclid(by));
            if !quotient {
                return Some(rest);
            }
            let mut result = Form::constant(form.constant.div_euclid(by));
            for (var, c) in form.terms() {
                result = result.combine(1, &Form::variable(*var), c / by)?;
            }
            return Some(result);
        }
        let below = low >= 0 && high < i128::from(by);
        below.then(|| if quotient { Form::constant(0) } else { form.clone() })
    }

    /// The alternatives under which a condition is true (or false). They exclude each other and cover at least all
    /// iterations in which it is.
    pub fn alternatives(&self, cond: &Exp, wanted: bool) -> Vec<Alternative> {
        let unknown = || vec![Alternative { atoms: Vec::new(), loose: true }];
        match self.exact_alternatives(cond, wanted) {
            Some(all) if all.len() <= MOST_PIECES => all,
            _ => unknown(),
        }
    }

    fn exact_alternatives(&self, cond: &Exp, wanted: bool) -> Option<Vec<Alternative>> {
        match cond {
            Exp::Const(value) if value.ty == ElemType::Bool => {
                Some(if (value.bits != 0) == wanted { vec![Alternative::default()] } else { Vec::new() })
            }
            Exp::Var(var) => {
                if let Some(ObservedParam::Scalar(value)) = self.observed(*var)
                    && value.ty == ElemType::Bool
                {
                    return self.exact_alternatives(&Exp::Const(*value), wanted);
                }
                self.exact_alternatives(self.definition(*var)?, wanted)
            }
            Exp::Op(ScalarOp::Not, _, args) => self.exact_alternatives(args.first()?, !wanted),
            Exp::Op(op @ (ScalarOp::And | ScalarOp::Or), _, args) => {
                let [a, b] = &args[..] else { return None };
                // What decides alone: a false operand of `and`, a true one of `or`.
                let decides = *op == ScalarOp::Or;
                let goes_on = product(&self.alternatives(a, !decides), &self.alternatives(b, wanted));
                if wanted != decides {
                    return Some(goes_on);
                }
                let mut all = self.alternatives(a, decides);
                all.extend(goes_on);
                Some(all)
            }
            Exp::Op(op, _, args) => {
                let [a, b] = &args[..] else { return None };
                self.comparison(*op, a, b, wanted)
            }
            _ => None,
        }
    }

    fn comparison(&self, op: ScalarOp, a: &Exp, b: &Exp, wanted: bool) -> Option<Vec<Alternative>> {
        if let Some(found) = self.residue(op, a, b, wanted).or_else(|| self.residue(op, b, a, wanted)) {
            return Some(found);
        }
        let (left, right) = (self.pieces(a)?, self.pieces(b)?);
        let mut all = Vec::new();
        for ((when, x), (and_when, y)) in left.iter().flat_map(|a| right.iter().map(move |b| (a, b))) {
            let less =
                |x: &Form, y: &Form| y.combine(1, x, -1)?.minus(&Form::constant(1)).map(Atom::NotNegative);
            let (atom, holds) = match op {
                ScalarOp::Lt => (less(x, y)?, true),
                ScalarOp::Ge => (less(x, y)?, false),
                ScalarOp::Gt => (less(y, x)?, true),
                ScalarOp::Le => (less(y, x)?, false),
                ScalarOp::Eq => (Atom::Zero(x.minus(y)?), true),
                ScalarOp::Ne => (Atom::Zero(x.minus(y)?), false),
                _ => return None,
            };
            let alternatives = if holds == wanted { vec![atom] } else { atom.negated()? };
            for atom in alternatives {
                let atoms = [when.as_slice(), and_when, &[atom]].concat();
                all.push(Alternative { atoms, loose: false });
            }
        }
        Some(all)
    }

    /// `a % m == r` and `a % m != r`.
    fn residue(&self, op: ScalarOp, a: &Exp, b: &Exp, wanted: bool) -> Option<Vec<Alternative>> {
        let equal = match op {
            ScalarOp::Eq => wanted,
            ScalarOp::Ne => !wanted,
            _ => return None,
        };
        let mut divided = a;
        while let Exp::Var(var) = divided {
            divided = self.definition(*var)?;
        }
        let Exp::Op(ScalarOp::Mod | ScalarOp::Rem, _, args) = divided else { return None };
        let (form, modulus) = (self.form(args.first()?)?, self.form(args.get(1)?)?.number()?);
        let residue = self.form(b)?.number()?;
        let never_negative = form.interval(&self.ranges).is_some_and(|(low, _)| low >= 0);
        if modulus <= 0 || matches!(divided, Exp::Op(ScalarOp::Rem, _, _)) && !never_negative {
            return None;
        }
        let single = |atom| Alternative { atoms: vec![atom], loose: false };
        if !(0..modulus).contains(&residue) {
            return Some(if equal { Vec::new() } else { vec![Alternative::default()] });
        }
        let atom = Atom::Residue { form, modulus, residue };
        Some(if equal { vec![single(atom)] } else { atom.negated()?.into_iter().map(single).collect() })
    }
}

/// Whether forms of two operands may have one together.
fn is_affine(op: ScalarOp) -> bool {
    use ScalarOp::{Add, Div, Mod, Mul, Quot, Rem, Shl, Sub};
    matches!(op, Add | Sub | Mul | Shl | Div | Quot | Mod | Rem)
}

/// The alternatives under which one of each list holds; if these are too many, those of the first list, which hold
/// more often.
pub(crate) fn product(a: &[Alternative], b: &[Alternative]) -> Vec<Alternative> {
    if a.len().saturating_mul(b.len()) > 4 * MOST_PIECES {
        let loose = |alternative: &Alternative| Alternative { loose: true, ..alternative.clone() };
        return a.iter().map(loose).collect();
    }
    let join = |x: &Alternative, y: &Alternative| Alternative {
        atoms: [x.atoms.as_slice(), &y.atoms].concat(),
        loose: x.loose || y.loose,
    };
    a.iter().flat_map(|x| b.iter().map(move |y| join(x, y))).collect()
}
