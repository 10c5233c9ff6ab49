//! Where the rows of a kernel differ from their neighbours: at borders, and where a remainder begins anew.
//!
//! A comparison of what moves with an axis with what does not comes out alike for most neighbours, and a remainder of such a number
//! by the same divisor is that number for most of them, where a program turns at the end of an array. Code for many
//! neighbours at a time can ask once for all of them.

use crate::algebra::{may_trap, size};
use crate::ir::{Body, Exp, ReadId, VarId};
use crate::linear::{Definitions, growth};
use galopvm_base::{ElemType, ScalarOp};
use std::cell::Cell;
use std::collections::BTreeSet;

/// Borders of a body that are looked for at most.
const MOST: usize = 8;

/// The largest operand of one.
const LARGEST: usize = 24;

/// An expression that is alike for most neighbours along an axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Border {
    /// As it stands in the body: a comparison or a remainder of `i64`.
    pub exp: Exp,
    /// The operation.
    pub op: ScalarOp,
    /// Its operands in names from outside of the body, and the axis.
    pub operands: [Exp; 2],
    /// What the operands read.
    pub reads: Vec<ReadId>,
}

/// The borders of a kernel's body along an axis of it.
pub fn borders(body: &Body, axis: VarId) -> Vec<Border> {
    let definitions = Definitions::of(body);
    let inside: BTreeSet<VarId> = body.bound_vars().into_iter().collect();
    let mut found: Vec<Border> = Vec::new();
    body.visit_exps(&mut |whole| {
        whole.visit(&mut |exp| {
            let Exp::Op(op, ElemType::I64, args) = exp else { return };
            let ([left, right], true) = (&args[..], found.len() < MOST) else { return };
            if found.iter().any(|known| known.exp == *exp) {
                return;
            }
            let room = Cell::new(2 * LARGEST);
            let [left, right] = [left, right].map(|exp| spelled_out(exp, &definitions, &room));
            let moves = |exp: &Exp| uses(exp, |var| var == axis);
            let is_border = match op {
                ScalarOp::Mod => moves(&left) && !moves(&right),
                ScalarOp::Eq | ScalarOp::Ne | ScalarOp::Lt | ScalarOp::Le => moves(&left) != moves(&right),
                _ => false,
            };
            let is_known = |exp: &Exp| size(exp) <= LARGEST && !uses(exp, |var| inside.contains(&var));
            if !is_border || !is_known(&left) || !is_known(&right) {
                return;
            }
            let (mut reads, mut is_total) = (Vec::new(), true);
            for operand in [&left, &right] {
                operand.visit(&mut |part| match part {
                    Exp::Read(read) => reads.push(read.id),
                    Exp::Op(op, ty, args) => is_total &= !may_trap(*op, *ty, args),
                    Exp::Opaque(..) => is_total = false,
                    Exp::Const(_) | Exp::Var(_) | Exp::Convert(..) => {}
                });
            }
            if is_total {
                found.push(Border { exp: exp.clone(), op: *op, operands: [left, right], reads });
            }
        });
    });
    found
}

/// Whether an expression is a remainder of neighbours' numbers by what is the same for all of them: each is that of its neighbour and
/// one, but for the place where they begin anew.
pub fn turns(exp: &Exp, axis: VarId, definitions: &Definitions<'_>) -> bool {
    let exp = match exp {
        Exp::Var(var) => definitions.get(*var).unwrap_or(exp),
        _ => exp,
    };
    let Exp::Op(ScalarOp::Mod, ElemType::I64, args) = exp else { return false };
    growth(&args[0], axis, definitions) == Some(1) && growth(&args[1], axis, definitions) == Some(0)
}

/// An expression without the names that definitions give, as long as there is room: a name that is used twice in each
/// of many definitions would grow without end.
fn spelled_out(exp: &Exp, definitions: &Definitions<'_>, room: &Cell<usize>) -> Exp {
    exp.substitute(&|var| {
        let known = definitions.get(var)?;
        room.set(room.get().checked_sub(size(known))?);
        Some(spelled_out(known, definitions, room))
    })
}

fn uses(exp: &Exp, is_meant: impl Fn(VarId) -> bool) -> bool {
    let mut found = false;
    exp.each_use(&mut |var| found |= is_meant(var));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::print_exp;
    use crate::{Rhs, verified_from_text};

    #[test]
    fn a_name_that_doubles_many_times_is_no_border() {
        let doubled: String = (0..60).map(|k| format!("let x{} : i64 = x{k} + x{k}\n", k + 1)).collect();
        let text = format!(
            "region r (n : i64, A : [n]f32)
            let y : [n]f32 = kernel j < n do
              let x0 : i64 = j + 1
              {doubled} in select(x60 < n, 0.0f32, A[j])
            in y"
        );
        let region = verified_from_text(&text).expect("it reads");
        let Rhs::Kernel { axes, body } = &region.region().body.stms[0].rhs else { panic!("a kernel") };
        assert_eq!(borders(body, axes[0].var), []);
    }

    #[test]
    fn remainders_of_neighbours() {
        let text = "region r (n : i64, m : i64, A : [n][m]f32, B : [n]i64)
            let y : [n][m]f32 = kernel i < n, j < m do
              let c : i64 = j + B[i]
              let d : i64 = (c - 3) % m
              let e : i64 = B[j % n] % m
              let f : i64 = (j + j) % m
              let g : i64 = j % (m - j)
              in A[i, d] + A[i, e] + A[i, f] + A[i, g] + A[i, c]
            in y";
        let region = verified_from_text(text).expect("it reads");
        let Rhs::Kernel { axes, body } = &region.region().body.stms[0].rhs else { panic!("a kernel") };
        let definitions = Definitions::of(body);
        let names = body.stms.iter().map(|stm| stm.pat[0]);
        let found: Vec<bool> = names.map(|var| turns(&Exp::Var(var), axes[1].var, &definitions)).collect();
        assert_eq!(found, [false, true, false, false, false]);
    }

    #[test]
    fn comparisons_and_remainders_along_the_axis() {
        let text = "region r (n : i64, m : i64, A : [n][m]f32, B : [n]i64)
            let y : [n][m]f32 = kernel i < n, j < m do
              let c : i64 = j + 1
              let d : bool = i == 0 || j < m - 1
              let e : f32 = if c == m then in 0.0f32 else in A[i, (c - B[i]) % m]
              let f : f32 = A[(i + 1) % n, B[j % n] % m]
              in select(d, e, f)
            in y";
        let region = verified_from_text(text).expect("it reads");
        let region = region.region();
        let Rhs::Kernel { axes, body } = &region.body.stms[0].rhs else { panic!("a kernel") };
        let found: Vec<String> = borders(body, axes[1].var)
            .iter()
            .map(|border| {
                let [left, right] = &border.operands;
                format!("{} {} {}", print_exp(region, left), border.op, print_exp(region, right))
            })
            .collect();
        assert_eq!(found, ["j lt m - 1", "j + 1 eq m", "j + 1 - B[i] mod m", "j mod n"]);
    }
}
