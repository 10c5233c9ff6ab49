//! Kernels that go over a part of their iterations only.
//!
//! Where a map is written over a dying array and the elements that change are known (`changes.rs`), the kernel needs
//! no other iterations. The part becomes the whole of another kernel: its axes count the rows and columns of the part, and the
//! old iteration variables are computed from them. What depends on numbers - where the part begins, how many rows and columns
//! it has - are parameters, so that all parts of one kind share their code. A kernel says what each of them stands for
//! ([`PartKernel::numbers`]), so that a launch cannot give them in another order.

use super::launch::Gathered;
use crate::Part;
use galopvm_base::ElemType;
use galopvm_kir::algebra::{add, mul};
use galopvm_kir::{Axis, Exp, Rhs, Stm, Type, VarId, verify};
use galopvm_lift::Lifted;
use galopvm_lmad::{Dim, Lmad};
use galopvm_store::array::Granted;

/// The steps of a part that code is made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kind {
    /// From one row to the next; nothing if there is one row.
    down: Option<Down>,
    /// From one column to the next.
    right: Option<i64>,
}

/// A step from one row of a part to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Down {
    rows: i64,
    /// By which its columns move.
    columns: i64,
}

impl Kind {
    pub(super) fn of(part: &Part) -> Kind {
        Kind {
            down: (part.rows.count > 1).then_some(Down { rows: part.rows.step, columns: part.shift }),
            right: part.columns.filter(|columns| columns.count > 1).map(|columns| columns.step),
        }
    }
}

/// A number of a part that its kernel has a parameter for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Number {
    FirstRow,
    FirstColumn,
    Rows,
    Columns,
}

impl Number {
    /// The number in a part, if it has one.
    fn of(self, part: &Part) -> Option<i64> {
        match self {
            Number::FirstRow => Some(part.rows.first),
            Number::FirstColumn => part.columns.map(|columns| columns.first),
            Number::Rows => Some(part.rows.count),
            Number::Columns => part.columns.map(|columns| columns.count),
        }
    }
}

/// A kernel for parts of a kind.
#[derive(Debug)]
pub(super) struct PartKernel {
    pub(super) lifted: Lifted,
    /// What the parameters stand for that come before those of the whole kernel.
    numbers: Vec<Number>,
}

/// The kernel for parts of a kind. Nothing if the region is not a single kernel with a single result.
pub(super) fn restricted(lifted: &Lifted, kind: Kind) -> Option<PartKernel> {
    let mut region = lifted.region.region().clone();
    let [Exp::Var(result)] = region.body.results[..] else { return None };
    let at = region.body.stms.iter().position(|stm| stm.pat == [result])?;
    if at + 1 != region.body.stms.len() {
        return None;
    }
    let Rhs::Kernel { axes, body } = region.body.stms.pop()?.rhs else { return None };
    let elem = region.vars[result].ty.as_ref()?.elem;
    let int = || Some(Type::scalar(ElemType::I64));
    let (mut params, mut numbers) = (Vec::new(), Vec::new());
    let mut param = |region: &mut galopvm_kir::Region, name: &str, number: Number| {
        let var = region.fresh(name, int());
        params.push(var);
        numbers.push(number);
        Exp::Var(var)
    };
    // For each old axis its index, so far.
    let firsts: &[Number] = match axes.len() {
        1 => &[Number::FirstRow],
        2 => &[Number::FirstRow, Number::FirstColumn],
        _ => return None,
    };
    let mut index: Vec<Exp> = firsts.iter().map(|first| param(&mut region, "first", *first)).collect();
    let mut new_axes = Vec::new();
    let down = kind.down.map(|down| (Number::Rows, [down.rows, down.columns]));
    let right = kind.right.map(|right| (Number::Columns, [0, right]));
    for (count, steps) in [down, right].into_iter().flatten() {
        let bound = param(&mut region, "count", count);
        let var = region.fresh("part", int());
        for (index, step) in index.iter_mut().zip(steps).filter(|(_, step)| *step != 0) {
            *index = add(index.clone(), mul(Exp::Var(var), Exp::int(step)));
        }
        new_axes.push(Axis { var, bound });
    }
    if new_axes.is_empty() {
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
    let lifted = Lifted { region, bindings: lifted.bindings.clone(), guards: Vec::new() };
    Some(PartKernel { lifted, numbers })
}

impl PartKernel {
    /// The launch for a part of what a launch of the whole kernel goes over; nothing if the part lacks a number.
    pub(super) fn gathered(&self, whole: Gathered, part: &Part) -> Option<Gathered> {
        let numbers: Option<Vec<i64>> = self.numbers.iter().map(|number| number.of(part)).collect();
        Some(whole.with_scalars(&numbers?))
    }
}

/// Where the part lies in the place of the whole.
pub(super) fn place(whole: &Granted, part: &Part) -> Granted {
    let view = whole.array().lmad();
    let stride = |dim: usize| view.dims.get(dim).map_or(0, |dim| dim.stride);
    let kind = Kind::of(part);
    let mut place = Lmad { offset: view.offset + part.rows.first * stride(0), dims: Default::default() };
    if let Some(columns) = part.columns {
        place.offset += columns.first * stride(1);
    }
    if let Some(Down { rows, columns }) = kind.down {
        place.dims.push(Dim::new(part.rows.count, rows * stride(0) + columns * stride(1)));
    }
    if let (Some(right), Some(columns)) = (kind.right, part.columns) {
        place.dims.push(Dim::new(columns.count, right * stride(1)));
    }
    whole.with_view(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rows;
    use galopvm_kir::text::{parse_env, parse_region_in, print_region};
    use galopvm_kir::types;

    /// The leading parameters of the kernel for a part with what a launch gives them, and the kernel's axes and indices.
    fn told(part: &Part, axes: &str, element: &str) -> Vec<String> {
        let (known, _) = parse_env("size n = 40, m = 30\narray A : [n][m]f32\n").expect("an environment");
        let text = format!("let y =\n  kernel {axes} do\n    in {element}\nin y\n");
        let mut region = parse_region_in(known, &text).expect("a region");
        types::infer(&mut region);
        let region = verify(region).expect("a verified region");
        let whole = Lifted { region, bindings: Vec::new(), guards: Vec::new() };
        let kernel = restricted(&whole, Kind::of(part)).expect("a kernel");
        let region = kernel.lifted.region.region();
        let given = kernel.numbers.iter().zip(&region.params).map(|(number, param)| {
            let value = number.of(part).map_or_else(|| "missing".into(), |value| value.to_string());
            format!("{} {number:?} {value}", region.name_of(*param))
        });
        let text = print_region(region);
        let inside =
            text.lines().skip(2).take_while(|line| !line.contains(" in ")).map(|line| line.trim().into());
        std::iter::once(given.collect::<Vec<_>>().join(", ")).chain(inside).collect()
    }

    fn rows(first: i64, count: i64, step: i64) -> Rows {
        Rows { first, count, step }
    }

    #[test]
    fn parameters_say_what_they_stand_for() {
        let matrix = |rows, columns, shift| Part { rows, columns: Some(columns), shift };
        let (axes, element) = ("i < n, j < m", "A[i, j] * 2f32");
        assert_eq!(
            told(&matrix(rows(3, 5, 2), rows(7, 4, 1), 1), axes, element),
            [
                "first FirstRow 3, first_2 FirstColumn 7, count Rows 5, count_2 Columns 4",
                "kernel part < count, part_2 < count_2 do",
                "let i : i64 = first + part * 2",
                "let j : i64 = first_2 + part + part_2",
            ]
        );
        assert_eq!(
            told(&matrix(rows(3, 5, 1), rows(7, 1, 1), 0), axes, element),
            [
                "first FirstRow 3, first_2 FirstColumn 7, count Rows 5",
                "kernel part < count do",
                "let i : i64 = first + part",
                "let j : i64 = first_2",
            ]
        );
        assert_eq!(
            told(&matrix(rows(3, 1, 1), rows(7, 4, 3), 0), axes, element),
            [
                "first FirstRow 3, first_2 FirstColumn 7, count Columns 4",
                "kernel part < count do",
                "let i : i64 = first",
                "let j : i64 = first_2 + part * 3",
            ]
        );
        let vector = Part { rows: rows(3, 5, 2), columns: None, shift: 0 };
        assert_eq!(
            told(&vector, "i < n", "A[i, 0] * 2f32"),
            ["first FirstRow 3, count Rows 5", "kernel part < count do", "let i : i64 = first + part * 2"]
        );
        // A part of a vector is none of a matrix: a launch is not made.
        assert_eq!(
            told(&vector, axes, element)[0],
            "first FirstRow 3, first_2 FirstColumn missing, count Rows 5"
        );
    }
}
