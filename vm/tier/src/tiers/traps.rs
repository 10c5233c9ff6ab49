//! Whether a kernel can trap at all, given the reads that are proven to stay inside.
//!
//! What cannot trap may be computed less often than it is written, and may write over what it reads: nobody will have to
//! run it again. Kernels of which this is not certain count as those that trap.

use galopvm_base::scalar::TrapRule;
use galopvm_kir::{Exp, ReadId, Region, Rhs};

/// Whether nothing in the region can trap. `proven` is in order.
pub(super) fn cannot_trap(region: &Region, proven: &[ReadId]) -> bool {
    let mut safe = true;
    region.body.visit_stms(&mut |stm| {
        safe &= matches!(
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
    region.body.visit_exps(&mut |exp| exp.visit(&mut |exp| safe &= is_safe(exp, proven)));
    safe
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
