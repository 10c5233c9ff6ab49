//! The stages: one invocation per point, one invocation in all, or a reduction in two steps.

use super::body::Lower;
use super::program::{Count, Slot, Stage, Table, Top};
use super::scalar::{reg, to_bits};
use super::view::Value;
use crate::shader::{BinOp, Binding, Builtin, Cell, Shared, Ty, UnOp, Val};
use galopvm_base::ElemType;
use galopvm_kir::{Axis, Body, Combine, Exp, Refusal, Rhs, VarId};

/// Invocations of a workgroup; a power of two.
pub const GROUP: u32 = 128;

/// Workgroups of the first step of a reduction at most: enough to keep a large device busy, and few for the second step.
pub const MOST_GROUPS: u32 = 2048;

/// A kernel whose body is nothing but another kernel is one kernel over both axes.
fn flattened<'a>(axes: &'a [Axis], body: &'a Body) -> (Vec<&'a Axis>, &'a Body) {
    let mut all: Vec<&Axis> = axes.iter().collect();
    let mut body = body;
    while let [stm] = body.stms.as_slice()
        && let Rhs::Kernel { axes, body: inner } = &stm.rhs
        && body.results.len() == stm.pat.len()
        && body.results.iter().zip(&stm.pat).all(|(result, var)| *result == Exp::Var(*var))
    {
        all.extend(axes);
        body = inner;
    }
    (all, body)
}

/// A kernel: one invocation for each point of its axes.
pub fn map<'a>(
    table: &mut Table<'a>,
    pat: &'a [VarId],
    axes: &'a [Axis],
    body: &'a Body,
) -> Result<(), Refusal> {
    let (axes, body) = flattened(axes, body);
    let bounds: Vec<Exp> = axes.iter().map(|a| a.bound.clone()).collect();
    let temps = results(table, pat)?;
    let lane = table.unit.plan.plan().lane().and_then(|v| axes.iter().position(|a| a.var == v));
    let mut l = Lower::new(table, GROUP);
    points(&mut l, &bounds, lane, |l, indices, flat| {
        for (axis, index) in axes.iter().zip(indices) {
            l.bind(axis.var, Value::Scalar(ElemType::I64, *index));
        }
        let values = l.body(body)?;
        for (temp, value) in temps.iter().zip(values) {
            let buffer = l.writing(*temp);
            write(l, buffer, flat, &value)?;
        }
        Ok(())
    })?;
    finish(l, pat, Count::Points(bounds));
    made(table, pat, &temps);
    Ok(())
}

/// The value of a name in a buffer of its own, row-major.
pub fn copy(table: &mut Table<'_>, var: VarId) -> Result<usize, Refusal> {
    let ty = table.unit.region.type_of(var).clone();
    let temp = table.temp(ty.elem, ty.shape.clone())?;
    let mut l = Lower::new(table, GROUP);
    points(&mut l, &ty.shape, None, |l, indices, flat| {
        let view = l.array(var)?;
        let value = l.element(&view, indices);
        let buffer = l.writing(temp);
        write(l, buffer, flat, &Value::Scalar(ty.elem, value))
    })?;
    finish(l, &[var], Count::Points(ty.shape));
    Ok(temp)
}

/// Scalars computed by a single invocation.
pub fn single(table: &mut Table<'_>, pat: &[VarId], body: &Body) -> Result<(), Refusal> {
    let temps = results(table, pat)?;
    let mut l = Lower::new(table, 1);
    let values = l.body(body)?;
    let zero = l.c.constant(Ty::B32, 0);
    for (temp, value) in temps.iter().zip(values) {
        let buffer = l.writing(*temp);
        write(&mut l, buffer, zero, &value)?;
    }
    finish(l, pat, Count::One);
    made(table, pat, &temps);
    Ok(())
}

/// A reduction: each invocation combines a part, each workgroup its invocations, and one more workgroup the
/// workgroups, in the same way. The order of operands is kept unless the operator is commutative.
pub fn reduce<'a>(
    table: &mut Table<'a>,
    pat: &'a [VarId],
    axes: &'a [Axis],
    body: &'a Body,
    combine: &'a Combine,
) -> Result<(), Refusal> {
    let bounds: Vec<Exp> = axes.iter().map(|a| a.bound.clone()).collect();
    let temps = results(table, pat)?;
    let elems: Vec<ElemType> = temps.iter().map(|t| table.program.temps[*t].elem).collect();
    let partials = elems
        .iter()
        .map(|elem| table.temp(*elem, vec![Exp::int(i64::from(MOST_GROUPS))]))
        .collect::<Result<Vec<_>, _>>()?;
    for bound in &bounds {
        table.known_to_host(bound)?;
    }
    let any_order = combine.scalar_ops().is_some_and(|ops| ops.iter().all(|op| op.info().commutative));

    let mut l = Lower::new(table, GROUP);
    let cells = l.carry_neutral(combine)?;
    let extents = l.extents(&bounds)?;
    let total = this_points(&mut l);
    let part = share(&mut l, total, any_order);
    fold_part(&mut l, part, |l, i| {
        let order: Vec<usize> = (0..axes.len()).collect();
        let indices = unravel(l, i, &extents, &order);
        for (axis, index) in axes.iter().zip(indices) {
            l.bind(axis.var, Value::Scalar(ElemType::I64, index));
        }
        let items = l.scalars(body)?;
        l.combine(combine, &cells, &items)
    })?;
    let group = l.c.builtin(Builtin::GroupX);
    fold_group(&mut l, combine, &cells, &partials, group)?;
    finish(l, pat, Count::Chunks(bounds));

    let first = table.program.stages.len() - 1;
    let mut l = Lower::new(table, GROUP);
    let cells = l.carry_neutral(combine)?;
    let groups = l.number_of(Slot::Groups(first));
    let groups = l.c.un(UnOp::Narrow, groups);
    let part = share(&mut l, groups, false);
    fold_part(&mut l, part, |l, i| {
        let mut values = Vec::new();
        for (elem, partial) in elems.iter().zip(&partials) {
            values.push(l.load_temp(*partial, *elem, i));
        }
        l.combine(combine, &cells, &values)
    })?;
    let zero = l.c.constant(Ty::B32, 0);
    fold_group(&mut l, combine, &cells, &temps, zero)?;
    finish(l, pat, Count::One);
    made(table, pat, &temps);
    Ok(())
}

/// Buffers for the values of names.
fn results(table: &mut Table<'_>, pat: &[VarId]) -> Result<Vec<usize>, Refusal> {
    pat.iter()
        .map(|var| {
            let ty = table.unit.region.type_of(*var).clone();
            table.temp(ty.elem, ty.shape)
        })
        .collect()
}

fn made(table: &mut Table<'_>, pat: &[VarId], temps: &[usize]) {
    for (var, temp) in pat.iter().zip(temps) {
        table.top.insert(*var, Top::Temp(*temp));
    }
}

fn finish(mut l: Lower<'_, '_>, pat: &[VarId], count: Count) {
    l.trap.report(&mut l.c);
    let Lower { c, table, sources, .. } = l;
    let name = pat.first().map_or(String::new(), |v| table.unit.region.region().name_of(*v).to_string());
    table.program.stages.push(Stage { name, shader: c.finish(), sources, count });
}

/// The number of points of the stage being written, a `B32`.
fn this_points(l: &mut Lower<'_, '_>) -> Val {
    let stage = l.table.program.stages.len();
    l.low_number(Slot::Points(stage)).0
}

/// The number of this invocation in the whole dispatch. The host keeps it below 2^31.
fn invocation(l: &mut Lower<'_, '_>) -> Val {
    let [x, y, row, local] =
        [Builtin::GroupX, Builtin::GroupY, Builtin::GroupsX, Builtin::Local].map(|b| l.c.builtin(b));
    let above = l.c.bin(BinOp::Mul, y, row);
    let group = l.c.bin(BinOp::Add, above, x);
    let size = l.c.constant(Ty::B32, u64::from(GROUP));
    let first = l.c.bin(BinOp::Mul, group, size);
    l.c.bin(BinOp::Add, first, local)
}

/// Runs `inside` for each point; it gets the indices and the row-major place of the point.
fn points(
    l: &mut Lower<'_, '_>,
    shape: &[Exp],
    lane: Option<usize>,
    inside: impl FnOnce(&mut Lower<'_, '_>, &[Val], Val) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    for extent in shape {
        l.table.known_to_host(extent)?;
    }
    let extents = l.extents(shape)?;
    let total = this_points(l);
    let number = invocation(l);
    let exists = l.c.bin(BinOp::Ult, number, total);
    // The axis across neighbouring invocations varies fastest.
    let mut order: Vec<usize> = (0..shape.len()).collect();
    if let Some(lane) = lane {
        order.retain(|k| *k != lane);
        order.push(lane);
    }
    l.c.open();
    let indices = unravel(l, number, &extents, &order);
    let flat = if order.is_sorted() {
        number
    } else {
        let mut flat = l.c.constant(Ty::B32, 0);
        for (index, extent) in indices.iter().zip(&extents) {
            let (index, extent) = (l.c.un(UnOp::Narrow, *index), l.c.un(UnOp::Narrow, *extent));
            flat = l.c.bin(BinOp::Mul, flat, extent);
            flat = l.c.bin(BinOp::Add, flat, index);
        }
        flat
    };
    inside(l, &indices, flat)?;
    let block = l.c.close();
    l.c.branch(exists, block, Vec::new());
    Ok(())
}

/// The indices of point `number` when the axes vary in this order, the last one fastest. All extents are positive
/// where this is executed, and their product fits 32 bits.
fn unravel(l: &mut Lower<'_, '_>, number: Val, extents: &[Val], order: &[usize]) -> Vec<Val> {
    let mut rest = number;
    let mut indices = vec![number; extents.len()];
    for (place, axis) in order.iter().enumerate().rev() {
        let index = if place == 0 {
            rest
        } else {
            let extent = l.c.un(UnOp::Narrow, extents[*axis]);
            let index = l.c.bin(BinOp::URem, rest, extent);
            rest = l.c.bin(BinOp::UDiv, rest, extent);
            index
        };
        indices[*axis] = l.c.un(UnOp::ZeroExtend, index);
    }
    indices
}

/// Which of `total` points this invocation combines: first, end, step.
fn share(l: &mut Lower<'_, '_>, total: Val, any_order: bool) -> (Val, Val, Val) {
    let number = invocation(l);
    let (one, size) = (l.c.constant(Ty::B32, 1), l.c.constant(Ty::B32, u64::from(GROUP)));
    let row = l.c.builtin(Builtin::GroupsX);
    let all = l.c.bin(BinOp::Mul, row, size);
    if any_order {
        // Neighbouring invocations take neighbouring points.
        return (number, total, all);
    }
    let up = l.c.bin(BinOp::Sub, all, one);
    let up = l.c.bin(BinOp::Add, total, up);
    let part = l.c.bin(BinOp::UDiv, up, all);
    let start = l.c.bin(BinOp::Mul, number, part);
    let end = l.c.bin(BinOp::Add, start, part);
    let over = l.c.bin(BinOp::Ult, total, end);
    (start, l.c.select(over, total, end), one)
}

/// Does something for each number from a first one to an end, in steps.
fn fold_part(
    l: &mut Lower<'_, '_>,
    (start, end, step): (Val, Val, Val),
    inside: impl FnOnce(&mut Lower<'_, '_>, Val) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    l.count((Ty::B32, BinOp::Ult), (start, end, step), inside)
}

/// Combines what the cells of a workgroup's invocations hold, in their order, and stores it at `place`.
fn fold_group(
    l: &mut Lower<'_, '_>,
    combine: &Combine,
    cells: &[(ElemType, Cell)],
    to: &[usize],
    place: Val,
) -> Result<(), Refusal> {
    let arrays: Vec<Shared> = cells.iter().map(|(elem, _)| l.c.shared(reg(*elem), GROUP)).collect();
    let local = l.c.builtin(Builtin::Local);
    let share = |l: &mut Lower<'_, '_>| {
        for ((_, cell), array) in cells.iter().zip(&arrays) {
            let value = l.c.get(*cell);
            l.c.set_shared(*array, local, value);
        }
    };
    share(l);
    let (zero, one, size) =
        (l.c.constant(Ty::B32, 0), l.c.constant(Ty::B32, 1), l.c.constant(Ty::B32, u64::from(GROUP)));
    let distance = l.c.cell(Ty::B32);
    l.c.set(distance, one);
    let now = std::cell::Cell::new(one);
    let test = &mut |l: &mut Lower<'_, '_>| {
        now.set(l.c.get(distance));
        Ok(l.c.bin(BinOp::Ult, now.get(), size))
    };
    l.while_(test, |l| {
        let d = now.get();
        l.c.barrier();
        let twice = l.c.bin(BinOp::Add, d, d);
        let mask = l.c.bin(BinOp::Sub, twice, one);
        let low = l.c.bin(BinOp::And, local, mask);
        let active = l.c.bin(BinOp::Eq, low, zero);
        l.c.open();
        let other = l.c.bin(BinOp::Add, local, d);
        let items: Vec<Val> = arrays.iter().map(|array| l.c.get_shared(*array, other)).collect();
        l.combine(combine, cells, &items)?;
        share(l);
        let then = l.c.close();
        l.c.branch(active, then, Vec::new());
        l.c.set(distance, twice);
        Ok(())
    })?;
    let first = l.c.bin(BinOp::Eq, local, zero);
    l.c.open();
    for ((elem, cell), temp) in cells.iter().zip(to) {
        let value = l.c.get(*cell);
        let buffer = l.writing(*temp);
        write(l, buffer, place, &Value::Scalar(*elem, value))?;
    }
    let then = l.c.close();
    l.c.branch(first, then, Vec::new());
    Ok(())
}

/// Writes a value as element number `flat` of a row-major buffer of such values.
fn write(l: &mut Lower<'_, '_>, buffer: Binding, flat: Val, value: &Value) -> Result<(), Refusal> {
    match value {
        Value::Scalar(elem, val) => {
            let bits = to_bits(&mut l.c, *elem, *val);
            l.c.store(buffer, flat, bits);
            Ok(())
        }
        Value::View(view) => {
            let extents: Vec<Val> = view.dims.iter().map(|d| d.extent).collect();
            each(l, &extents, flat, &mut Vec::new(), &mut |l, indices, place| {
                let value = l.element(view, indices);
                write(l, buffer, place, &Value::Scalar(view.elem, value))
            })
        }
        Value::Made(kernel, k) => {
            let (axes, body) = kernel.as_ref();
            let bounds: Vec<Exp> = axes.iter().map(|a| a.bound.clone()).collect();
            let extents = l.extents(&bounds)?;
            each(l, &extents, flat, &mut Vec::new(), &mut |l, indices, place| {
                for (axis, index) in axes.iter().zip(indices) {
                    l.bind(axis.var, Value::Scalar(ElemType::I64, *index));
                }
                let values = l.body(body)?;
                let value = values.get(*k).ok_or_else(|| Refusal::new("a kernel without that result"))?;
                write(l, buffer, place, value)
            })
        }
    }
}

/// What is done for each element: its indices, its place.
type Inside<'f> = dyn FnMut(&mut Lower<'_, '_>, &[Val], Val) -> Result<(), Refusal> + 'f;

/// Loops over all indices of `extents`; `place` is the row-major place of what is around. The host keeps the number
/// of elements below 2^32.
fn each(
    l: &mut Lower<'_, '_>,
    extents: &[Val],
    place: Val,
    indices: &mut Vec<Val>,
    inside: &mut Inside<'_>,
) -> Result<(), Refusal> {
    let Some((extent, rest)) = extents.split_first() else { return inside(l, indices, place) };
    let (zero, one) = (l.c.constant(Ty::B32, 0), l.c.constant(Ty::B32, 1));
    let extent = l.c.un(UnOp::Narrow, *extent);
    l.count((Ty::B32, BinOp::Ult), (zero, extent, one), |l, i| {
        let row = l.c.bin(BinOp::Mul, place, extent);
        let place = l.c.bin(BinOp::Add, row, i);
        let index = l.c.un(UnOp::ZeroExtend, i);
        indices.push(index);
        each(l, rest, place, indices, inside)?;
        indices.pop();
        Ok(())
    })
}
