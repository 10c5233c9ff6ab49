//! Whether an operator gives the same, bit for bit, with its operands exchanged.
//!
//! The body is computed on names, once as it stands and once with the operands exchanged, in every case of how the
//! components of the two compare; where both give the same terms in all cases, the order of the operands cannot be seen.
//! Arguments of commutative operations are put in order first. Equal integers are one term. Floats that compare as equal are
//! not (zeros have signs), and may also be unordered. Whatever is not understood is not proven.
//!
//! Most selections of the least or the greatest commute only as long as all floats are numbers, and no two rows have the same
//! number: cases that this leaves out are left out of the proof ([`commutes_for_numbers`]).

use crate::ir::{Body, Combine, Exp, Region, Rhs, VarId};
use galopvm_base::scalar::{self, Bits};
use galopvm_base::{ElemType, ScalarOp};
use std::collections::HashMap;
use std::rc::Rc;

/// Cases that are gone through at most.
const MOST_CASES: usize = 64;

/// Terms that are made for one case at most.
const MOST_TERMS: usize = 500;

/// How the left operand's component compares with the right one's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    Less,
    Equal,
    Greater,
    /// One of them is no number.
    Apart,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Term {
    /// A component of the left operand, or of the right one.
    Component {
        right: bool,
        number: usize,
    },
    Const(ElemType, Bits),
    Name(VarId),
    Op(ScalarOp, ElemType, Vec<Rc<Term>>),
    Convert(ElemType, Rc<Term>),
}

/// Whether the results of an operator, and of the one with exchanged operands, are as they should be.
type IsRight<'f> = &'f dyn Fn(&[Rc<Term>], &[Rc<Term>]) -> bool;

/// The computation of an operator in one case.
struct Case<'a> {
    combine: &'a Combine,
    types: &'a [ElemType],
    relations: &'a [Relation],
    /// The operands are exchanged.
    exchanged: bool,
    terms: HashMap<VarId, Rc<Term>>,
    made: usize,
}

/// True if the operands of an operator may be exchanged.
pub fn commutes(region: &Region, combine: &Combine) -> bool {
    let relations = |elem: &ElemType| match elem.is_float() {
        true => vec![Relation::Less, Relation::Equal, Relation::Greater, Relation::Apart],
        false => vec![Relation::Less, Relation::Equal, Relation::Greater],
    };
    let Some(types) = types(region, combine) else { return false };
    let possible: Vec<Vec<Relation>> = types.iter().map(relations).collect();
    holds(combine, &types, &possible, &|forward, backward| forward == backward)
}

/// True if the operands may be exchanged where all floats are numbers and the components that are `distinct` are different in
/// any two rows. Each component of the result is then that of one of the operands, so that this holds for results, too.
pub fn commutes_for_numbers(region: &Region, combine: &Combine, distinct: &[bool]) -> bool {
    let relations = |is_distinct: &bool| match is_distinct {
        true => vec![Relation::Less, Relation::Greater],
        false => vec![Relation::Less, Relation::Equal, Relation::Greater],
    };
    let Some(types) = types(region, combine) else { return false };
    let possible: Vec<Vec<Relation>> = distinct.iter().map(relations).collect();
    let is_component =
        |(k, term): (usize, &Rc<Term>)| matches!(**term, Term::Component { number, .. } if number == k);
    holds(combine, &types, &possible, &|forward, backward| {
        forward == backward && forward.iter().enumerate().all(is_component)
    })
}

fn types(region: &Region, combine: &Combine) -> Option<Vec<ElemType>> {
    combine.acc.iter().map(|var| Some(region.vars[*var].ty.as_ref()?.elem)).collect()
}

/// Whether the results of an operator and of the one with exchanged operands are as they should be in all cases.
fn holds(combine: &Combine, types: &[ElemType], possible: &[Vec<Relation>], is_right: IsRight<'_>) -> bool {
    let cases = possible.iter().try_fold(1usize, |cases, relations| {
        Some(cases * relations.len()).filter(|cases| *cases <= MOST_CASES)
    });
    let Some(cases) = cases else { return false };
    (0..cases).all(|case| {
        let mut rest = case;
        let mut relation = |relations: &Vec<Relation>| {
            let relation = relations[rest % relations.len()];
            rest /= relations.len();
            relation
        };
        let relations: Vec<Relation> = possible.iter().map(&mut relation).collect();
        let results = |exchanged| {
            let terms = HashMap::new();
            Case { combine, types, relations: &relations, exchanged, terms, made: 0 }.body(&combine.body)
        };
        let (forward, backward) = (results(false), results(true));
        forward.zip(backward).is_some_and(|(forward, backward)| is_right(&forward, &backward))
    })
}

impl Case<'_> {
    fn body(&mut self, body: &Body) -> Option<Vec<Rc<Term>>> {
        for stm in &body.stms {
            let values = match &stm.rhs {
                Rhs::Exps(exps) => exps.iter().map(|exp| self.exp(exp)).collect::<Option<Vec<_>>>()?,
                Rhs::If { cond, then, otherwise } => self.choice(cond, then, otherwise)?,
                Rhs::Kernel { .. }
                | Rhs::Reduce { .. }
                | Rhs::Scan { .. }
                | Rhs::For { .. }
                | Rhs::While { .. }
                | Rhs::Update { .. }
                | Rhs::Manifest { .. }
                | Rhs::Scatter { .. }
                | Rhs::Array(_) => return None,
            };
            self.terms.extend(stm.pat.iter().copied().zip(values));
        }
        body.results.iter().map(|exp| self.exp(exp)).collect()
    }

    fn choice(&mut self, cond: &Exp, then: &Body, otherwise: &Body) -> Option<Vec<Rc<Term>>> {
        let cond = self.exp(cond)?;
        if let Term::Const(_, bits) = *cond {
            return self.body(if bits != 0 { then } else { otherwise });
        }
        // Names inside the two are different ones.
        let (a, b) = (self.body(then)?, self.body(otherwise)?);
        // Of which type the sides are does not matter to the comparison of terms.
        let select = |(a, b)| self.op(ScalarOp::Select, ElemType::Bool, vec![cond.clone(), a, b]);
        a.into_iter().zip(b).map(select).collect()
    }

    fn exp(&mut self, exp: &Exp) -> Option<Rc<Term>> {
        match exp {
            Exp::Const(value) => Some(Rc::new(Term::Const(value.ty, value.bits))),
            Exp::Var(var) => Some(self.name(*var)),
            Exp::Op(op, elem, args) => {
                let args = args.iter().map(|arg| self.exp(arg)).collect::<Option<Vec<_>>>()?;
                self.op(*op, *elem, args)
            }
            Exp::Convert(to, inner) => Some(Rc::new(Term::Convert(*to, self.exp(inner)?))),
            Exp::Read(_) | Exp::Opaque(..) => None,
        }
    }

    fn name(&self, var: VarId) -> Rc<Term> {
        if let Some(term) = self.terms.get(&var) {
            return term.clone();
        }
        let component = |vars: &[VarId], right: bool| {
            let number = vars.iter().position(|known| *known == var)?;
            let is_one = self.relations[number] == Relation::Equal && !self.types[number].is_float();
            Some(Term::Component { right: (right != self.exchanged) && !is_one, number })
        };
        let found = component(&self.combine.acc, false).or_else(|| component(&self.combine.item, true));
        Rc::new(found.unwrap_or(Term::Name(var)))
    }

    fn op(&mut self, op: ScalarOp, elem: ElemType, mut args: Vec<Rc<Term>>) -> Option<Rc<Term>> {
        self.made += 1;
        if self.made > MOST_TERMS {
            return None;
        }
        let known: Option<Vec<Bits>> =
            args.iter().map(|arg| if let Term::Const(_, bits) = **arg { Some(bits) } else { None }).collect();
        if let Some(bits) = known
            && let Ok(result) = scalar::eval(op, elem, &bits)
        {
            return Some(Rc::new(Term::Const(op.result_type(elem), result)));
        }
        if let [a, b] = &args[..]
            && let Some(holds) = self.compared(op, elem, a, b)
        {
            return Some(Rc::new(Term::Const(ElemType::Bool, holds.into())));
        }
        match (op, &args[..]) {
            (ScalarOp::Select, [cond, a, b]) => {
                if let Term::Const(_, bits) = **cond {
                    return Some(if bits != 0 { a.clone() } else { b.clone() });
                }
            }
            (ScalarOp::And | ScalarOp::Or, [a, b]) if elem == ElemType::Bool => {
                for (one, other) in [(a, b), (b, a)] {
                    if let Term::Const(_, bits) = **one {
                        let decides = (bits != 0) == (op == ScalarOp::Or);
                        return Some(if decides { one.clone() } else { other.clone() });
                    }
                }
            }
            _ => {}
        }
        if op.info().commutative {
            args.sort();
        }
        Some(Rc::new(Term::Op(op, elem, args)))
    }

    /// What a comparison of the two operands' components says in this case.
    fn compared(&self, op: ScalarOp, elem: ElemType, a: &Term, b: &Term) -> Option<bool> {
        let (Term::Component { right: first, number }, Term::Component { right: second, number: other }) =
            (a, b)
        else {
            return None;
        };
        if number != other || elem != self.types[*number] {
            return None;
        }
        // A component compared with itself may be no number.
        let relation = match (self.relations[*number], first, second) {
            (Relation::Equal, ..) if !elem.is_float() => Relation::Equal,
            (_, first, second) if first == second => return None,
            (Relation::Less, true, false) => Relation::Greater,
            (Relation::Greater, true, false) => Relation::Less,
            (relation, ..) => relation,
        };
        let is = |relations: &[Relation]| Some(relations.contains(&relation));
        match op {
            ScalarOp::Lt => is(&[Relation::Less]),
            ScalarOp::Le => is(&[Relation::Less, Relation::Equal]),
            ScalarOp::Gt => is(&[Relation::Greater]),
            ScalarOp::Ge => is(&[Relation::Greater, Relation::Equal]),
            ScalarOp::Eq => is(&[Relation::Equal]),
            ScalarOp::Ne => is(&[Relation::Less, Relation::Greater, Relation::Apart]),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::{Combine, Region, Rhs};
    use crate::verified_from_text;

    /// Whether the operator of a reduction is proven to commute.
    fn proven(types: &[&str], operator: &str) -> bool {
        with_operator(types, operator, &super::commutes)
    }

    /// Whether it is for numbers, if the second component is different in any two rows.
    fn proven_for_numbers(types: &[&str], operator: &str) -> bool {
        let distinct: Vec<bool> = (0..types.len()).map(|k| k == 1).collect();
        let proven =
            |region: &Region, combine: &Combine| super::commutes_for_numbers(region, combine, &distinct);
        with_operator(types, operator, &proven)
    }

    fn with_operator(types: &[&str], operator: &str, proven: &dyn Fn(&Region, &Combine) -> bool) -> bool {
        let list = |name: &str, rest: &str| {
            let one = |(k, ty): (usize, &&str)| format!("{name}{k} : {ty}{}", rest.replace("TY", ty));
            types.iter().enumerate().map(one).collect::<Vec<_>>().join(", ")
        };
        let reads: Vec<String> = (0..types.len()).map(|k| format!("A{k}[i]")).collect();
        let params: Vec<String> = types.iter().enumerate().map(|(k, ty)| format!("A{k} : [n]{ty}")).collect();
        let names: Vec<String> = (0..types.len()).map(|k| format!("r{k}")).collect();
        let zero = |(k, ty): (usize, &&str)| match *ty {
            "bool" => format!("a{k} : bool = false"),
            "f32" => format!("a{k} : f32 = 0.0f32"),
            ty => format!("a{k} : {ty} = 0{ty}"),
        };
        let neutral: Vec<String> = types.iter().enumerate().map(zero).collect();
        let text = format!(
            "region r (n : i64, s : i32, {})\nlet ({}) = red i < n do in ({}) by ({}) ({}) do {operator}\nin ({})",
            params.join(", "),
            list("r", ""),
            reads.join(", "),
            neutral.join(", "),
            list("b", ""),
            names.join(", ")
        );
        let region = verified_from_text(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let Rhs::Reduce { combine, .. } = &region.region().body.stms[0].rhs else { panic!("{text}") };
        proven(region.region(), combine)
    }

    #[test]
    fn selections_by_a_total_order() {
        let by_number = "let c : bool = a0 > b0 || a0 == b0 && a1 < b1
            in (select(c, a0, b0), select(c, a1, b1))";
        assert!(proven(&["i32", "i64"], by_number));
        // Of two that are not ordered the right one is taken, and zeros have signs.
        assert!(!proven(&["f32", "i64"], by_number));
        assert!(proven_for_numbers(&["f32", "i64"], by_number));
        let of_equals_the_right = "let c : bool = a0 < b0 in (select(c, a0, b0), select(c, a1, b1))";
        assert!(!proven_for_numbers(&["f32", "i64"], of_equals_the_right));
        assert!(!proven_for_numbers(&["f32", "i64"], "in (a0 + b0, min(a1, b1))"));
        let without_ties = "let c : bool = a0 > b0 in (select(c, a0, b0), select(c, a1, b1))";
        assert!(!proven(&["i32", "i64"], without_ties));
        let counted = |ty: &str| {
            format!(
                "let (m : {ty}, k : i64) = if a0 < b0 then in (b0, b1) else
                  let (m2 : {ty}, k2 : i64) = if b0 < a0 then in (a0, a1) else in (a0, a1 + b1)
                  in (m2, k2)
                in (m, k)"
            )
        };
        assert!(proven(&["i32", "i64"], &counted("i32")));
        assert!(!proven(&["f32", "i64"], &counted("f32")));
    }

    #[test]
    fn arithmetic() {
        assert!(proven(&["f32", "f32"], "in (a0 * b0 - a1 * b1, a0 * b1 + a1 * b0)"));
        assert!(proven(&["i32"], "let t : i32 = a0 + b0 in t * 1i32 + s"));
        assert!(!proven(&["i32", "i32"], "in (a0 * b0, a1 * b0 + b1)"));
        assert!(!proven(&["i32"], "in a0 - b0"));
        assert!(!proven(&["i32"], "in select(a0 == 0i32, b0, a0)"));
        assert!(!proven(&["i32"], "in b0"));
        assert!(proven(&["bool", "i32"], "in (a0 != b0, max(b1, a1))"));
    }

    #[test]
    fn loops_and_many_components_are_not_looked_at() {
        let greatest_divisor =
            "let (x : i32, y : i32) = loop (x1 : i32, y1 : i32) = (a0, b0) while y1 != 0i32 do
              in (y1, x1 % y1)
            in x";
        assert!(!proven(&["i32"], greatest_divisor));
        let four = ["i32"; 4];
        assert!(!proven(&four, "in (a0 + b0, a1 + b1, a2 + b2, a3 + b3)"));
    }
}
