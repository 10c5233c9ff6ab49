//! Whether a kernel can trap at all, given the reads and updates that are proven to stay inside.
//!
//! What cannot trap may be computed less often than it is written, and may write over what it reads: nobody will have to
//! run it again. Kernels of which this is not certain count as those that trap.

use super::version::Proven;
use galopvm_base::scalar::TrapRule;
use galopvm_kir::walk::Part;
use galopvm_kir::{Exp, ReadId, Region, Rhs, Stm, VarId};

/// Whether nothing in the region can trap, given what is proven.
pub(super) fn cannot_trap(region: &Region, proven: &Proven) -> bool {
    let mut safe = true;
    region.body.visit_stms(&mut |stm| {
        let is_contained = || stm.pat.iter().all(|made| proven.updates.binary_search(made).is_ok());
        safe &= matches!(stm.rhs, Rhs::Update { .. }) && is_contained()
            || matches!(
                stm.rhs,
                Rhs::Exps(_)
                    | Rhs::Kernel { .. }
                    | Rhs::Reduce { .. }
                    | Rhs::Scan { .. }
                    | Rhs::Scatter { .. }
                    | Rhs::For { .. }
                    | Rhs::If { .. }
            );
    });
    region.body.visit_exps(&mut |exp| exp.visit(&mut |exp| safe &= is_safe(exp, &proven.reads)));
    safe
}

/// Whether code of a region may need memory besides that of its results, and so may fail without a trap.
pub(super) fn needs_memory(region: &Region) -> bool {
    region.body.stms.iter().any(|stm| makes_arrays_inside(region, &stm.rhs))
}

/// Whether a statement makes arrays on its way, besides those that it gives: there may be no room for them. A kernel at the end
/// of another one makes the rows of that one's results.
fn makes_arrays_inside(region: &Region, rhs: &Rhs) -> bool {
    if let Rhs::Kernel { body, .. } = rhs
        && let Some((last, front)) = body.stms.split_last()
        && matches!(last.rhs, Rhs::Kernel { .. })
        && body.results.iter().all(|exp| matches!(exp, Exp::Var(var) if last.pat.contains(var)))
    {
        return makes_arrays_inside(region, &last.rhs) || front.iter().any(|stm| makes_arrays(region, stm));
    }
    let mut makes = false;
    rhs.each_part(&mut |part| {
        if let Part::Body(body) = part {
            makes |= body.stms.iter().any(|stm| makes_arrays(region, stm));
        }
    });
    makes
}

/// Whether a statement makes arrays, or may have to copy one.
fn makes_arrays(region: &Region, stm: &Stm) -> bool {
    let is_array = |var: &VarId| region.vars[*var].ty.as_ref().is_none_or(|ty| !ty.is_scalar());
    !matches!(stm.rhs, Rhs::Exps(_)) && stm.pat.iter().any(is_array) || makes_arrays_inside(region, &stm.rhs)
}

/// An expression without its parts.
fn is_safe(exp: &Exp, proven: &[ReadId]) -> bool {
    match exp {
        Exp::Const(_) | Exp::Var(_) | Exp::Convert(..) => true,
        Exp::Read(read) => proven.binary_search(&read.id).is_ok(),
        Exp::Opaque(..) => false,
        Exp::Op(op, elem, args) => match op.info().trap {
            TrapRule::Never => true,
            TrapRule::ZeroDivisor => match &args[..] {
                [_, Exp::Const(divisor)] => divisor.bits != 0,
                [_, _] => elem.is_float(),
                _ => false,
            },
        },
    }
}
