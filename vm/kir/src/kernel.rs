//! What a decision and the code generator that executes it have to see alike in a kernel.

use crate::commute::{commutes, commutes_for_numbers};
use crate::ir::{Axis, Body, Combine, DimIndex, Exp, Index, Read, Region, Rhs, Stm, Type, VarId};
use std::collections::HashSet;

/// The array parameter whose elements a result of a region begins with: what a scatter of its own body is written over, or what a
/// loop of it begins with, if that comes from outside.
pub fn begins_as(region: &Region, result: usize) -> Option<VarId> {
    let Some(Exp::Var(var)) = region.body.results.get(result) else { return None };
    let is_array = |var: &VarId| region.vars[*var].ty.as_ref().is_some_and(|ty| !ty.is_scalar());
    let array = region.body.stms.iter().find_map(|stm| {
        let at = stm.pat.iter().position(|bound| bound == var)?;
        match &stm.rhs {
            Rhs::Scatter { arrays, .. } => arrays.get(at).copied(),
            Rhs::For { init, .. } | Rhs::While { init, .. } => match init.get(at) {
                Some(Exp::Var(array)) if is_array(array) => Some(*array),
                _ => None,
            },
            _ => None,
        }
    })?;
    region.params.contains(&array).then_some(array)
}

/// True if a body has no loops inside: what it does with memory is what counts.
pub fn is_straight(body: &Body) -> bool {
    let mut straight = true;
    body.visit_stms(&mut |stm| straight &= matches!(stm.rhs, Rhs::Exps(_) | Rhs::If { .. }));
    straight
}

/// A scan whose prefixes are read by one kernel or scatter along an axis of the same length, each at its own index: it can be computed
/// iteration by iteration with its reader, and no array of prefixes has to be made.
#[derive(Clone, Copy)]
pub struct Feed<'a> {
    /// The names of the prefixes.
    pub names: &'a [VarId],
    /// The scan's axis.
    pub axis: &'a Axis,
    /// What is combined.
    pub body: &'a Body,
    /// By what.
    pub combine: &'a Combine,
}

impl<'a> Feed<'a> {
    /// The scan as the feed of a statement of the region's own body, if it is one. A reader that does more than scalar code would
    /// lose lanes or rows that it has by itself, and so would one whose scan has no lanes.
    pub fn of(region: &Region, scan: &'a Stm, reader: &Stm) -> Option<Feed<'a>> {
        let Rhs::Scan { axis, body, combine } = &scan.rhs else { return None };
        let (at, code) = match &reader.rhs {
            Rhs::Kernel { axes, body: code } if has_lanes(region, body, combine) => (one(axes)?, code),
            Rhs::Scatter { axes, body: code, .. } => (one(axes)?, code),
            _ => return None,
        };
        let is_simple = is_straight(code) && is_scalar_code(region, code);
        if !is_simple || at.bound != axis.bound || !combine.acc.iter().all(|var| is_scalar(region, *var)) {
            return None;
        }
        // Nothing may see the prefixes but reads of the reader at its own index.
        let (mut uses, mut own) = (0, 0);
        region.body.each_use(&mut |var| uses += usize::from(scan.pat.contains(&var)));
        code.visit_reads(&mut |read| {
            let is_own = matches!(&read.index, Index::Dims(dims)
                if matches!(&dims[..], [DimIndex::At(Exp::Var(var))] if *var == at.var));
            own += usize::from(scan.pat.contains(&read.array) && is_own);
        });
        (uses == own && own > 0).then_some(Feed { names: &scan.pat, axis, body, combine })
    }
}

fn one(axes: &[Axis]) -> Option<&Axis> {
    match axes {
        [axis] => Some(axis),
        _ => None,
    }
}

fn is_scalar(region: &Region, var: VarId) -> bool {
    region.vars[var].ty.as_ref().is_some_and(Type::is_scalar)
}

/// Whether a scan can go across the lanes.
fn has_lanes(region: &Region, body: &Body, combine: &Combine) -> bool {
    combine.scalar_ops().is_some() && is_scalar_code(region, body)
}

/// How the lanes go across the innermost axis of a reduction that has them for itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spread {
    /// Neighbouring rows go to neighbouring lanes: their order does not matter.
    Neighbours,
    /// Likewise, as long as all floats that are combined are numbers; otherwise in parts.
    Numbers,
    /// Each lane has rows of its own that follow on each other.
    Parts,
}

/// How lanes go across a reduction; not at all where its rows or its operator are more than scalar code.
pub fn spread(region: &Region, axes: &[Axis], body: &Body, combine: &Combine) -> Option<Spread> {
    if combine.scalar_ops().is_some() {
        return Some(Spread::Neighbours);
    }
    if !is_scalar_code(region, body) || !is_scalar_code(region, &combine.body) {
        return None;
    }
    // The number of a row is another one in every row.
    let is_number = |exp: &Exp| matches!(axes, [axis] if *exp == Exp::Var(axis.var));
    let distinct: Vec<bool> = body.results.iter().map(is_number).collect();
    Some(if commutes(region, combine) {
        Spread::Neighbours
    } else if commutes_for_numbers(region, combine, &distinct) {
        Spread::Numbers
    } else {
        Spread::Parts
    })
}

/// True if a body computes scalars of elements, ifs and sequential loops included.
pub fn is_scalar_code(region: &Region, body: &Body) -> bool {
    let mut plain = true;
    body.visit_stms(&mut |stm| {
        let has_lanes =
            matches!(stm.rhs, Rhs::Exps(_) | Rhs::If { .. } | Rhs::For { .. } | Rhs::While { .. });
        plain &= has_lanes && stm.pat.iter().all(|var| is_scalar(region, *var));
    });
    body.visit_exps(&mut |exp| {
        exp.visit(&mut |part| match part {
            Exp::Read(Read { index: Index::Dims(dims), .. }) => {
                plain &= dims.iter().all(|dim| matches!(dim, DimIndex::At(_)));
            }
            Exp::Read(_) | Exp::Opaque(..) => plain = false,
            Exp::Const(_) | Exp::Var(_) | Exp::Op(..) | Exp::Convert(..) => {}
        });
    });
    plain
}

/// True if every read of a kernel is of a parameter at the kernel's own index and the index is used for nothing else:
/// then the kernel is a loop over a flat range wherever the arrays are row-major.
pub fn is_elementwise(region: &Region, axes: &[Axis], body: &Body) -> bool {
    let own: Vec<Exp> = axes.iter().map(|axis| Exp::Var(axis.var)).collect();
    let (mut elementwise, mut uses) = (true, 0usize);
    body.visit_exps(&mut |whole| {
        whole.visit(&mut |exp| match exp {
            Exp::Read(read) => {
                let is_here = matches!(&read.index, Index::Dims(dims)
                    if dims.len() == own.len()
                        && dims.iter().zip(&own).all(|(dim, own)| matches!(dim, DimIndex::At(at) if at == own)));
                elementwise &= is_here && region.params.contains(&read.array);
                uses = uses.wrapping_sub(own.len());
            }
            Exp::Var(_) if own.contains(exp) => uses = uses.wrapping_add(1),
            _ => {}
        });
    });
    elementwise && uses == 0
}

/// The body of a kernel whose lanes, and rows - iterations of an axis that does not go across lanes -, can be computed
/// together: it folds once, over the same bounds and from the same neutral elements for all of them, and does nothing else
/// but expressions.
pub struct Rows<'a> {
    /// Statements in front of the reduction.
    pub before: &'a [Stm],
    /// What the reduction binds.
    pub pat: &'a [VarId],
    /// Its axes.
    pub axes: &'a [Axis],
    /// What it folds.
    pub items: &'a Body,
    /// By what.
    pub combine: &'a Combine,
    /// Statements behind it.
    pub after: &'a [Stm],
}

impl<'a> Rows<'a> {
    /// The parts of a body, or what stands in the way of computing its rows, or without such just its lanes, together.
    pub fn of(body: &'a Body, row: Option<VarId>, lane: VarId) -> Result<Rows<'a>, &'static str> {
        if row == Some(lane) {
            return Err("the rows go across the lanes");
        }
        let folds = |stm: &Stm| matches!(stm.rhs, Rhs::Reduce { .. });
        let at = body.stms.iter().position(folds).ok_or("there is no reduction")?;
        let (before, rest) = body.stms.split_at(at);
        let [Stm { pat, rhs: Rhs::Reduce { axes, body: items, combine } }, after @ ..] = rest else {
            return Err("there is no reduction");
        };
        let plain = |stms: &[Stm]| stms.iter().all(|stm| matches!(stm.rhs, Rhs::Exps(_)));
        if !plain(before) || !plain(after) || !plain(&items.stms) {
            return Err("there is more than one reduction of expressions");
        }
        if combine.scalar_ops().is_none() {
            return Err("the reduction's operator is no scalar operation");
        }
        let rows = Rows { before, pat, axes, items, combine, after };
        let varies = rows.varying(row, lane);
        let mut is_fixed = true;
        for exp in axes.iter().map(|axis| &axis.bound).chain(&combine.neutral) {
            exp.each_use(&mut |var| is_fixed &= !varies.contains(&var));
        }
        if is_fixed { Ok(rows) } else { Err("the reduction's bounds differ from row to row") }
    }

    /// True if some read of the reduction is the same for all rows, but not for all lanes: rows together make it once.
    pub fn share_a_read(&self, row: VarId, lane: VarId) -> bool {
        let varies = self.varying(Some(row), lane);
        let mut shared = false;
        self.items.visit_reads(&mut |read| {
            let (mut by_row, mut by_lane) = (false, false);
            read.index.each_exp(&mut |exp| {
                exp.each_use(&mut |var| {
                    by_row |= var != lane && varies.contains(&var);
                    by_lane |= var == lane;
                });
            });
            shared |= by_lane && !by_row;
        });
        shared
    }

    /// The reads of the reduction that are the same for all rows, but not for all lanes, and that can be made before any row is
    /// computed: their elements may be copied to where all rows read them.
    pub fn shared_reads(&self, region: &Region, row: VarId, lane: VarId) -> Vec<&'a Read> {
        let mut varies = self.varying(Some(row), lane);
        varies.extend(self.items.stms.iter().flat_map(|stm| stm.pat.iter().copied()));
        let mut shared = Vec::new();
        self.items.visit_reads(&mut |read| {
            let mut uses = Vec::new();
            read.index.each_exp(&mut |exp| exp.each_use(&mut |var| uses.push(var)));
            let is_fixed = uses.iter().all(|var| *var == lane || !varies.contains(var));
            let rank = region.vars[read.array].ty.as_ref().map(Type::rank);
            let is_element = matches!(&read.index, Index::Dims(dims)
                if Some(dims.len()) == rank && dims.iter().all(|dim| matches!(dim, DimIndex::At(_))));
            if is_fixed && is_element && uses.contains(&lane) && !varies.contains(&read.array) {
                shared.push(read);
            }
        });
        shared
    }

    fn varying(&self, row: Option<VarId>, lane: VarId) -> HashSet<VarId> {
        self.before.iter().flat_map(|stm| stm.pat.iter().copied()).chain(row).chain([lane]).collect()
    }
}
