//! Kernels that go over a part of their iterations only.
//!
//! Where a map is written over a dying array and the elements that change are known (`interpret/changes.rs`), the kernel needs
//! no other iterations. The part becomes the whole of another kernel: its axes count the rows and columns of the part, and the
//! old iteration variables are computed from them. What depends on numbers - where the part begins, how many rows and columns
//! it has - are parameters, so that all parts of one kind share their code.

use super::launch::Gathered;
use crate::interpret::Part;
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::{Axis, Exp, Rhs, Stm, Type, VarId, verify};
use galopvm_lift::Lifted;
use galopvm_lmad::{Dim, Lmad};
use galopvm_store::array::Granted;

/// The steps of a part that code is made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kind {
    /// From one row to the next: rows, and columns by which its part of them moves. Nothing if there is one row.
    down: Option<(i64, i64)>,
    /// From one column to the next.
    right: Option<i64>,
}

impl Kind {
    pub(super) fn of(part: &Part) -> Kind {
        let (columns, shift) = part.columns.map_or((None, 0), |(columns, shift)| (Some(columns), shift));
        Kind {
            down: (part.rows.count > 1).then_some((part.rows.step, shift)),
            right: columns.filter(|columns| columns.count > 1).map(|columns| columns.step),
        }
    }
}

/// The kernel for parts of a kind: parameters for the extents and the first indices come first. Nothing if the region is not
/// a single kernel with a single result.
pub(super) fn restricted(lifted: &Lifted, kind: Kind) -> Option<Lifted> {
    let mut region = lifted.region.region().clone();
    let [Exp::Var(result)] = region.body.results[..] else { return None };
    let at = region.body.stms.iter().position(|stm| stm.pat == [result])?;
    if at + 1 != region.body.stms.len() {
        return None;
    }
    let Rhs::Kernel { axes, body } = region.body.stms.pop()?.rhs else { return None };
    let elem = region.vars[result].ty.as_ref()?.elem;
    let int = || Some(Type::scalar(ElemType::I64));
    let mut params = Vec::new();
    let mut param = |region: &mut galopvm_kir::Region, name: &str| {
        let var = region.fresh(name, int());
        params.push(var);
        var
    };
    // For each old axis its index, so far.
    let mut index: Vec<Exp> = axes.iter().map(|_| Exp::Var(param(&mut region, "first"))).collect();
    let mut new_axes = Vec::new();
    let moves = [kind.down.map(|(down, shift)| [down, shift]), kind.right.map(|right| [0, right])];
    for steps in moves.into_iter().flatten() {
        let bound = Exp::Var(param(&mut region, "count"));
        let var = region.fresh("part", int());
        for (index, step) in index.iter_mut().zip(steps).filter(|(_, step)| *step != 0) {
            let moved = match step {
                1 => Exp::Var(var),
                step => Exp::Op(ScalarOp::Mul, vec![Exp::Var(var), Exp::int(step)]),
            };
            *index = Exp::Op(ScalarOp::Add, vec![index.clone(), moved]);
        }
        new_axes.push(Axis { var, bound });
    }
    if new_axes.is_empty() || axes.len() > 2 {
        return None;
    }
    let shape = new_axes.iter().map(|axis| axis.bound.clone()).collect();
    region.vars[result].ty = Some(Type { elem, shape });
    let mut body = body;
    let old: Vec<VarId> = axes.iter().map(|axis| axis.var).collect();
    let lets = old.into_iter().zip(index).map(|(var, exp)| Stm { pat: vec![var], rhs: Rhs::Exps(vec![exp]) });
    body.stms.splice(0..0, lets);
    region.body.stms.push(Stm { pat: vec![result], rhs: Rhs::Kernel { axes: new_axes, body } });
    region.params.splice(0..0, params);
    region.name.push_str("_part");
    let region = verify(region).ok()?;
    Some(Lifted { region, bindings: lifted.bindings.clone(), guards: Vec::new() })
}

/// The launch of a kernel for a part of what another launch of it goes over.
pub(super) fn gathered(whole: Gathered, part: &Part) -> Gathered {
    let kind = Kind::of(part);
    let mut numbers = vec![part.rows.first];
    numbers.extend(part.columns.map(|(columns, _)| columns.first));
    numbers.extend(kind.down.map(|_| part.rows.count));
    numbers.extend(kind.right.and(part.columns).map(|(columns, _)| columns.count));
    whole.with_scalars(&numbers)
}

/// Where the part lies in the place of the whole.
pub(super) fn place(whole: &Granted, part: &Part) -> Granted {
    let view = whole.array().lmad();
    let stride = |dim: usize| view.dims.get(dim).map_or(0, |dim| dim.stride);
    let kind = Kind::of(part);
    let mut place = Lmad { offset: view.offset + part.rows.first * stride(0), dims: Default::default() };
    if let Some((columns, _)) = part.columns {
        place.offset += columns.first * stride(1);
    }
    if let Some((down, shift)) = kind.down {
        place.dims.push(Dim::new(part.rows.count, down * stride(0) + shift * stride(1)));
    }
    if let (Some(right), Some((columns, _))) = (kind.right, part.columns) {
        place.dims.push(Dim::new(columns.count, right * stride(1)));
    }
    whole.with_view(place)
}
