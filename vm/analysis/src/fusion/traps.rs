//! Which bodies cannot trap, and come to an end, whatever the data.
//!
//! A body of which that is shown may be computed less often than it is written, or not at all. Reads have to be shown
//! to lie inside their arrays, divisors not to be zero, extents not to be negative.

use super::prove::Prover;
use super::view::{is_inside, shape_of};
use galopvm_base::ElemType;
use galopvm_base::scalar::TrapRule;
use galopvm_kir::walk::Part;
use galopvm_kir::{ArrayOp, Axis, Body, Exp, Index, Region, Rhs, ViewChange};
use galopvm_lmad::Polynomial;

/// Whether a body inside these axes cannot trap.
pub(super) fn cannot_trap(region: &Region, axes: &[Axis], body: &Body, prover: &mut Prover) -> bool {
    let mark = prover.mark();
    prover.enter(axes);
    let safe = body_is_safe(region, body, prover);
    prover.forget(mark);
    safe
}

fn body_is_safe(region: &Region, body: &Body, prover: &mut Prover) -> bool {
    body.stms.iter().all(|stm| is_safe(region, &stm.rhs, prover))
        && body.results.iter().all(|exp| exp_is_safe(region, exp, prover))
}

fn is_safe(region: &Region, rhs: &Rhs, prover: &mut Prover) -> bool {
    let own = match rhs {
        // It may go on for ever.
        Rhs::While { .. } => false,
        Rhs::Update { array, index, .. } => {
            // Places that are reached twice are a trap.
            matches!(index, Index::Dims(dims) if dims.iter().all(|dim| matches!(dim, galopvm_kir::DimIndex::At(_))))
                && is_inside(shape_of(region, *array), index, prover)
        }
        Rhs::Array(op) => operation_is_safe(op, prover),
        _ => true,
    };
    let mut safe = own;
    let mut number = 0;
    rhs.each_part(&mut |part| match part {
        Part::Exp(exp) => safe = safe && exp_is_safe(region, exp, prover),
        Part::Body(body) => {
            let mark = prover.mark();
            prover.enter(rhs.axes());
            if let Rhs::If { cond, .. } = rhs {
                prover.enter_branch(cond, number == 0);
            }
            safe = safe && body_is_safe(region, body, prover);
            prover.forget(mark);
            number += 1;
        }
        Part::Use(_) | Part::Bind(_) => {}
    });
    safe
}

fn operation_is_safe(op: &ArrayOp, prover: &mut Prover) -> bool {
    match op {
        ArrayOp::View { change: ViewChange::Reshape(_), .. }
        | ArrayOp::Call { .. }
        | ArrayOp::Concat { .. } => false,
        ArrayOp::Reduce { op, .. } => op.info().trap == TrapRule::Never,
        ArrayOp::Copy(_)
        | ArrayOp::Scratch { .. }
        | ArrayOp::Iota(_)
        | ArrayOp::Replicate { .. }
        | ArrayOp::View { .. } => op.extents().iter().all(|extent| {
            let extent = prover.polynomial(extent);
            prover.is_not_negative(&extent)
        }),
    }
}

/// Whether computing an expression cannot trap.
pub(super) fn exp_is_safe(region: &Region, exp: &Exp, prover: &mut Prover) -> bool {
    let own = match exp {
        Exp::Const(_) | Exp::Var(_) | Exp::Convert(..) => true,
        Exp::Op(op, elem, args) => op.info().trap == TrapRule::Never || divisor_is_safe(*elem, args, prover),
        Exp::Read(read) if prover.safe.contains(&read.id) => true,
        Exp::Read(read) => is_inside(shape_of(region, read.array), &read.index, prover),
        Exp::Opaque(..) => false,
    };
    let mut safe = own;
    exp.each_part(&mut |part| safe = safe && exp_is_safe(region, part, prover));
    safe
}

fn divisor_is_safe(elem: ElemType, args: &[Exp], prover: &mut Prover) -> bool {
    let [_, by] = args else { return false };
    match elem {
        _ if elem.is_float() || matches!(by, Exp::Const(value) if value.bits != 0) => true,
        ElemType::I64 => {
            let least = prover.polynomial(by).plus(&Polynomial::number(1), -1);
            prover.is_not_negative(&least)
        }
        _ => false,
    }
}
