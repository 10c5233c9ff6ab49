//! Reductions and scans on the way back.
//!
//! - Sums: every row moves the result alike.
//! - The least or greatest: the first row that is it moves the result.
//! - An operator on arrays that goes over their elements is one on elements, over columns.
//! - Other reductions: what is before and what is behind a row are exclusive scans.
//! - Other scans of scalars: adjoints are a linear recurrence, which is a scan from the end.
//! - Whatever else: a loop over rows.

use super::super::super::ir::*;
use super::super::super::substitute::{Items, rename, substitute};
use super::super::code::{arrays_of, zero};
use super::super::{Derive, Derived, activity};
use super::map::Rows;
use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_bytecode::ValueType;

/// What an operator of a reduction is known as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// Sums of all components.
    Sum,
    /// The least or the greatest of one scalar.
    Extreme(ScalarOp),
    /// One that goes over the elements of arrays.
    Columns,
    /// Any other.
    Other,
}

/// A reduction or scan.
#[derive(Clone, Copy)]
struct Fold<'s> {
    width: Atom,
    neutral: &'s [Atom],
    arrays: &'s [Var],
    body: &'s Block,
    is_scan: bool,
}

fn fold(op: &Op) -> Option<Fold<'_>> {
    match op {
        Op::Reduce { width, neutral, arrays, body } => {
            Some(Fold { width: *width, neutral, arrays, body, is_scan: false })
        }
        Op::Scan { width, neutral, arrays, body } => {
            Some(Fold { width: *width, neutral, arrays, body, is_scan: true })
        }
        _ => None,
    }
}

/// What an operator's block is known as.
pub(super) fn kind(block: &Block) -> Kind {
    if is_sum(block) {
        return Kind::Sum;
    }
    match (&block.stms[..], &block.results[..]) {
        ([Stm { defs, op: Op::Op2 { op, a, b, .. }, .. }], [result])
            if matches!(op, ScalarOp::Min | ScalarOp::Max)
                && [*result] == *activity::vars(defs)
                && are_params(&[*a, *b], block) =>
        {
            Kind::Extreme(*op)
        }
        ([Stm { defs, op: Op::Map { arrays, body, .. }, .. }], results)
            if *results == *activity::vars(defs)
                && arrays.len() == block.params.len()
                && block.params.iter().all(|param| arrays.contains(param))
                && !uses(body, &block.params) =>
        {
            Kind::Columns
        }
        _ => Kind::Other,
    }
}

/// Whether a block uses one of these variables.
fn uses(block: &Block, vars: &[Var]) -> bool {
    let mut found = block.results.iter().any(|a| a.var().is_some_and(|v| vars.contains(&v)));
    for stm in &block.stms {
        stm.op.atoms(&mut |a| found |= a.var().is_some_and(|v| vars.contains(&v)));
        found |= stm.op.blocks().into_iter().any(|inner| uses(inner, vars));
    }
    found
}

/// Whether two operands are the two parameters of a block.
fn are_params(operands: &[Atom; 2], block: &Block) -> bool {
    let params = activity::vars(&block.params);
    let [a, b] = *operands;
    [a, b] == *params || [b, a] == *params
}

/// Whether each result is the sum of its pair of parameters.
fn is_sum(block: &Block) -> bool {
    let (before, items) = block.params.split_at(block.params.len() / 2);
    let mut used = 0;
    let all = block.results.iter().zip(before.iter().zip(items)).all(|(result, (a, b))| {
        let maker = block.stms.iter().find(|stm| stm.defs.iter().any(|def| Atom::Var(*def) == *result));
        used += 1;
        maker.is_some_and(|stm| adds(stm, *result, [*a, *b]))
    });
    all && used == block.results.len()
}

/// Whether a statement's result is the sum of two variables, or of the elements of two.
fn adds(stm: &Stm, result: Atom, pair: [Var; 2]) -> bool {
    let same = |a: Atom, b: Atom| {
        let [x, y] = pair.map(Atom::Var);
        (a, b) == (x, y) || (a, b) == (y, x)
    };
    match &stm.op {
        Op::Op2 { op: ScalarOp::Add, a, b, .. } => same(*a, *b),
        Op::Map { arrays, body, .. } => {
            let Some(k) = stm.defs.iter().position(|def| Atom::Var(*def) == result) else { return false };
            let row = |var: Var| arrays.iter().position(|a| *a == var).map(|at| body.params[at]);
            let (Some(a), Some(b)) = (row(pair[0]), row(pair[1])) else { return false };
            let inner = body.results.get(k).copied().unwrap_or(result);
            let maker = body.stms.iter().find(|stm| stm.defs.iter().any(|def| Atom::Var(*def) == inner));
            maker.is_some_and(|stm| adds(stm, inner, [a, b]))
        }
        _ => false,
    }
}

impl Derive<'_> {
    /// Executes a reduction, scan or histogram so that the way back can go through it.
    pub(super) fn onward_combined(&mut self, stm: &Stm) -> Derived<()> {
        let Some(fold) = fold(&stm.op) else { return self.onward_hist(stm) };
        let kind = kind(fold.body);
        let simple =
            fold.neutral.iter().all(|n| !self.activity.atom(*n)) && self.free(&[fold.body]).is_empty();
        let scalars = fold.body.params.iter().all(|p| self.fun.vars[*p].is_scalar());
        match (kind, fold.is_scan) {
            (Kind::Columns, _) if self.has_columns(&fold) => {
                let block = self.over_columns(stm, &fold);
                return self.onward_instead(stm, block);
            }
            (Kind::Sum, _) | (Kind::Extreme(_), false) if simple => {}
            (_, false) if simple => {}
            (_, true) if simple && scalars && fold.arrays.len() == 1 => {}
            _ => {
                let block = self.over_rounds(stm, &fold);
                return self.onward_instead(stm, block);
            }
        }
        self.copy_stm(stm);
        Ok(())
    }

    pub(super) fn back_combined(&mut self, stm: &Stm, adjoints: &[Option<Atom>]) -> Derived<()> {
        let Some(fold) = fold(&stm.op) else { return self.back_hist(stm, adjoints) };
        match (kind(fold.body), fold.is_scan) {
            (Kind::Sum, false) => self.back_sum(&fold, adjoints),
            (Kind::Sum, true) => self.back_sums(&fold, adjoints),
            (Kind::Extreme(_), false) => return self.back_extreme(stm, &fold, adjoints),
            (_, false) => return self.back_reduction(&fold, adjoints),
            (_, true) => return self.back_recurrence(stm, &fold, adjoints),
        }
        Ok(())
    }

    fn back_sum(&mut self, fold: &Fold<'_>, adjoints: &[Option<Atom>]) {
        let width = self.value(fold.width);
        for (array, adjoint) in fold.arrays.iter().zip(adjoints) {
            if let Some(adjoint) = adjoint
                && self.activity.var(*array)
            {
                let rows = self.fun.copies(width, *adjoint);
                self.contribute(Atom::Var(*array), rows);
            }
        }
    }

    fn back_sums(&mut self, fold: &Fold<'_>, adjoints: &[Option<Atom>]) {
        for (array, adjoint) in fold.arrays.iter().zip(adjoints) {
            if let Some(adjoint) = adjoint
                && self.activity.var(*array)
            {
                let sums = self.sums_from_the_end(fold.width, *adjoint);
                self.contribute(Atom::Var(*array), sums);
            }
        }
    }

    fn sums_from_the_end(&mut self, width: Atom, adjoint: Atom) -> Atom {
        let (width, ty) = (self.value(width), self.fun.type_of(adjoint));
        let (shape, turned) = (self.fun.shape(adjoint), self.fun.backwards(adjoint));
        let row = self.fun.zeros_of(ty.elem, shape.get(1..).unwrap_or(&[]));
        let body = self.fun.adding(row);
        let op = Op::Scan { width, neutral: vec![row], arrays: arrays_of(&[turned]), body };
        let sums = self.fun.emit_all(op, &[ty]).pop().unwrap_or(adjoint);
        self.fun.know_shape(sums, &shape);
        self.fun.backwards(sums)
    }

    fn back_extreme(&mut self, stm: &Stm, fold: &Fold<'_>, adjoints: &[Option<Atom>]) -> Derived<()> {
        let ([array], [Some(adjoint)], [def]) = (fold.arrays, adjoints, &stm.defs[..]) else { return Ok(()) };
        let (width, found) = (self.value(fold.width), self.value(Atom::Var(*def)));
        let rows = self.value(Atom::Var(*array));
        let numbers = self.fun.numbers(width);
        let ty = self.fun.type_of(found).elem;
        let places = self.fun.map_rows(width, &[numbers, rows], &mut |fun, row| {
            let is = fun.scalar(ScalarOp::Eq, ty, &[row[1], found]);
            fun.scalar(ScalarOp::Select, ElemType::I64, &[is, row[0], width])
        });
        let place = self.least(width, places, width);
        let moved = self.fun.map_rows(width, &[numbers], &mut |fun, row| {
            let is = fun.size_op(ScalarOp::Eq, row[0], place);
            fun.scalar(ScalarOp::Select, ty, &[is, *adjoint, zero(ty)])
        });
        self.contribute(Atom::Var(*array), moved);
        Ok(())
    }

    /// The least of numbers, or what is given if there are none.
    fn least(&mut self, width: Atom, numbers: Atom, none: Atom) -> Atom {
        let scalar = ValueType::scalar(ElemType::I64);
        let params = self.fun.begin_repeated(&[scalar, scalar]);
        let least = self.fun.size_op(ScalarOp::Min, params[0], params[1]);
        let body = self.fun.end_sure(vec![least]);
        let neutral = vec![Atom::i64(i64::MAX)];
        let op = Op::Reduce { width, neutral, arrays: arrays_of(&[numbers]), body };
        let least = self.fun.emit_all(op, &[scalar]).pop().unwrap_or(none);
        self.fun.size_op(ScalarOp::Min, least, none)
    }

    /// A reduction by any operator: what is before and behind each row, then the operator twice.
    fn back_reduction(&mut self, fold: &Fold<'_>, adjoints: &[Option<Atom>]) -> Derived<()> {
        let width = self.value(fold.width);
        let rows = self.all_values(&activity::vars(fold.arrays));
        let before = self.before_each(fold, width, &rows, false);
        let turned: Vec<Atom> = rows.iter().map(|array| self.fun.backwards(*array)).collect();
        let behind = self.before_each(fold, width, &turned, true);
        let behind: Vec<Atom> = behind.into_iter().map(|array| self.fun.backwards(array)).collect();
        let n = rows.len();
        let body = self.twice(fold);
        let adjoints: Vec<Option<Atom>> =
            adjoints.iter().map(|a| a.map(|adjoint| self.fun.copies(width, adjoint))).collect();
        let wanted: Vec<bool> =
            (0..3 * n).map(|k| (n..2 * n).contains(&k) && self.activity.var(fold.arrays[k - n])).collect();
        let arrays = [before, rows, behind].concat();
        let (given, free) = (Vec::new(), Vec::new());
        let back = self.back_rows(Rows { width, body: &body, arrays, adjoints, given, wanted, free })?;
        for (array, adjoint) in fold.arrays.iter().zip(&back[n..2 * n]) {
            adjoint.iter().for_each(|adjoint| self.contribute(Atom::Var(*array), *adjoint));
        }
        Ok(())
    }

    /// A block that combines what is before a row, the row, and what is behind it.
    fn twice(&mut self, fold: &Fold<'_>) -> Block {
        let n = fold.arrays.len();
        let (own, types) = (fold.body.params[n..].to_vec(), self.types(&fold.body.params[..n]));
        let behind: Vec<Var> = types.iter().map(|ty| self.fun.var(*ty)).collect();
        let first = self.renamed(fold.body);
        let second = self.renamed(fold.body);
        let params = [&first.params[..], &behind].concat();
        let mut stms = first.stms;
        let rows = activity::vars(&behind);
        let given = [first.results, rows].concat();
        let put = second.params.iter().copied().zip(given).collect();
        let mut second = Block { params: Vec::new(), ..second };
        substitute(&mut second, &put);
        stms.extend(second.stms);
        for (param, own) in params[n..2 * n].iter().zip(&own) {
            if self.activity.var(*own) {
                self.activity.mark(*param);
            }
        }
        let block = Block { params, stms, results: second.results };
        self.activity.block(&block);
        block
    }

    /// A copy of a block with variables of its own.
    pub(super) fn renamed(&mut self, block: &Block) -> Block {
        let mut copy = block.clone();
        let mut names = Items::new();
        rename(&mut copy, &mut names, &mut |var| {
            let ty = self.fun.vars[var];
            self.fun.var(ty)
        });
        substitute(&mut copy, &names);
        for (own, name) in &names {
            let levels = self.fun.levels.get(own).copied();
            self.fun.levels.extend(name.var().zip(levels));
        }
        copy
    }

    /// For each row, all rows before it combined: an exclusive scan. For rows from the end, `flipped`, the operator takes
    /// them the other way round.
    fn before_each(&mut self, fold: &Fold<'_>, width: Atom, rows: &[Atom], flipped: bool) -> Vec<Atom> {
        let n = rows.len();
        let neutral = self.all_values(fold.neutral);
        let mut body = self.copy_block(fold.body, true, None);
        if flipped {
            body.params.rotate_left(n);
        }
        let types: Vec<ValueType> = rows.iter().map(|row| self.fun.type_of(*row)).collect();
        let op = Op::Scan { width, neutral: neutral.clone(), arrays: arrays_of(rows), body };
        let scanned = self.fun.emit_all(op, &types);
        for (array, row) in scanned.iter().zip(rows) {
            let shape = self.fun.shape(*row);
            self.fun.know_shape(*array, &shape);
        }
        self.later(width, &scanned, &neutral)
    }

    /// Arrays with each row one place later, and another value at the first one.
    fn later(&mut self, width: Atom, arrays: &[Atom], first: &[Atom]) -> Vec<Atom> {
        let mut later = Vec::new();
        for (array, first) in arrays.iter().zip(first) {
            let Atom::Var(var) = *array else { continue };
            let (ty, shape) = (self.fun.type_of(*array), self.fun.shape(*array));
            let op = Op::Rotate { array: var, dim: 0, amount: Atom::i64(-1) };
            let turned = self.fun.emit(op, ty);
            self.fun.know_shape(turned, &shape);
            let numbers = self.fun.numbers(width);
            let row = ValueType { rank: ty.rank.saturating_sub(1), ..ty };
            later.push(self.fun.map_rows(width, &[numbers, turned], &mut |fun, rows| {
                let is_first = fun.size_op(ScalarOp::Eq, rows[0], Atom::i64(0));
                if row.is_scalar() {
                    return fun.scalar(ScalarOp::Select, row.elem, &[is_first, *first, rows[1]]);
                }
                let chosen = fun.choose(is_first, row, &mut |_| *first, &mut |_| rows[1]);
                fun.know_shape(chosen, shape.get(1..).unwrap_or(&[]));
                chosen
            }));
        }
        later
    }

    /// A scan of scalars by any operator: the adjoint of a prefix is its own and what the next one's is moved by it.
    fn back_recurrence(&mut self, stm: &Stm, fold: &Fold<'_>, adjoints: &[Option<Atom>]) -> Derived<()> {
        let ([array], [Some(adjoint)], [def]) = (fold.arrays, adjoints, &stm.defs[..]) else { return Ok(()) };
        let width = self.value(fold.width);
        let rows = self.value(Atom::Var(*array));
        let prefixes = self.value(Atom::Var(*def));
        let neutral = self.all_values(fold.neutral);
        let before = self.later(width, &[prefixes], &neutral);
        let ty = self.fun.type_of(prefixes).elem;
        let one = Atom::Const(Scalar::from_int(ty, 1));
        let ones = self.fun.copies(width, one);
        let arrays = [before, vec![rows]].concat();
        let slopes = self.back_rows(Rows {
            width,
            body: fold.body,
            arrays: arrays.clone(),
            adjoints: vec![Some(ones)],
            wanted: vec![true, false],
            given: Vec::new(),
            free: Vec::new(),
        })?;
        let slopes = match slopes[0] {
            Some(slopes) => slopes,
            None => self.fun.zeros_of(ty, &[width]),
        };
        let (own, slopes) = (self.fun.backwards(*adjoint), self.fun.backwards(slopes));
        let slopes = self.later(width, &[slopes], &[one]);
        let all = self.recurrence(width, ty, &[vec![own], slopes].concat());
        let all = self.fun.backwards(all);
        let back = self.back_rows(Rows {
            width,
            body: fold.body,
            arrays,
            adjoints: vec![Some(all)],
            wanted: vec![false, true],
            given: Vec::new(),
            free: Vec::new(),
        })?;
        back[1].iter().for_each(|adjoint| self.contribute(Atom::Var(*array), *adjoint));
        Ok(())
    }

    /// `z[i] = b[i] + a[i] * z[i - 1]`
    fn recurrence(&mut self, width: Atom, ty: ElemType, arrays: &[Atom]) -> Atom {
        let params = self.fun.begin_repeated(&[ValueType::scalar(ty); 4]);
        let (before, row) = params.split_at(2);
        let moved = self.fun.scalar(ScalarOp::Mul, ty, &[row[1], before[0]]);
        let sum = self.fun.scalar(ScalarOp::Add, ty, &[row[0], moved]);
        let product = self.fun.scalar(ScalarOp::Mul, ty, &[before[1], row[1]]);
        let body = self.fun.end_sure(vec![sum, product]);
        let neutral = vec![zero(ty), Atom::Const(Scalar::from_int(ty, 1))];
        let op = Op::Scan { width, neutral, arrays: arrays_of(arrays), body };
        let atoms = self.fun.emit_all(op, &[ValueType::array(ty, 1); 2]);
        self.fun.know(atoms[0], 0, width);
        atoms[0]
    }

    /// Whether the elements that an operator goes over are all there are in its rows.
    fn has_columns(&self, fold: &Fold<'_>) -> bool {
        fold.neutral.iter().all(|n| n.var().is_some())
    }

    /// An operator that goes over elements, as a map of one on elements over columns.
    fn over_columns(&mut self, stm: &Stm, fold: &Fold<'_>) -> Block {
        let [Stm { op: Op::Map { width: columns, arrays: order, body, .. }, .. }] = &fold.body.stms[..]
        else {
            return Block::default();
        };
        let n = fold.arrays.len();
        let mut stms = Vec::new();
        let mut turned = Vec::new();
        for array in fold.arrays {
            turned.push(self.turned(*array, &mut stms));
        }
        // The operator's parameters in the order of the rows that it combines.
        let params: Vec<Var> = (fold.body.params.iter())
            .filter_map(|param| order.iter().position(|a| a == param).map(|k| body.params[k]))
            .collect();
        let neutral: Vec<Var> = (0..n).map(|k| self.row_of(params[k])).collect();
        let rows: Vec<Var> = turned.iter().map(|array| self.row_of_array(*array)).collect();
        let inner = Block { params, ..body.clone() };
        let (neutrals, inner_arrays) = (activity::vars(&neutral), rows.clone());
        let op = match fold.is_scan {
            true => Op::Scan { width: fold.width, neutral: neutrals, arrays: inner_arrays, body: inner },
            false => Op::Reduce { width: fold.width, neutral: neutrals, arrays: inner_arrays, body: inner },
        };
        let made: Vec<Var> = stm.defs.iter().map(|def| self.row_of_array(*def)).collect();
        let map = Block {
            params: [neutral, rows].concat(),
            stms: vec![Stm::new(made.clone(), op, stm.origin)],
            results: activity::vars(&made),
        };
        let arrays: Vec<Var> = fold.neutral.iter().filter_map(|n| n.var()).chain(turned).collect();
        let defs: Vec<Var> = stm.defs.iter().map(|def| self.fun.var(self.fun.vars[*def])).collect();
        let op = Op::Map { width: *columns, arrays, body: map };
        stms.push(Stm::new(defs.clone(), op, stm.origin));
        let results = match fold.is_scan {
            true => defs.iter().map(|def| self.turned(*def, &mut stms)).collect(),
            false => defs,
        };
        Block { params: Vec::new(), stms, results: activity::vars(&results) }
    }

    /// A view of an array with the first two dimensions swapped.
    fn turned(&mut self, array: Var, stms: &mut Vec<Stm>) -> Var {
        let ty = self.fun.vars[array];
        let view = self.fun.var(ty);
        let mut perm: Vec<u32> = (0..ty.rank as u32).collect();
        perm.swap(0, 1);
        stms.push(Stm::new(vec![view], Op::Permute { array, perm }, Origin::default()));
        view
    }

    /// A variable of the type of another.
    fn row_of(&mut self, like: Var) -> Var {
        let ty = self.fun.vars[like];
        self.fun.var(ty)
    }

    /// A variable of the type of an array's rows.
    fn row_of_array(&mut self, array: Var) -> Var {
        let ty = self.fun.vars[array];
        self.fun.var(ty.row().unwrap_or(ty))
    }

    /// A reduction or scan as a loop over its rows.
    fn over_rounds(&mut self, stm: &Stm, fold: &Fold<'_>) -> Block {
        let n = fold.arrays.len();
        let counter = self.counter();
        let (before, items) = fold.body.params.split_at(n);
        let at = |op| move |defs: Vec<Var>| Stm::new(defs, op, stm.origin);
        let mut stms: Vec<Stm> = Vec::new();
        for (array, item) in fold.arrays.iter().zip(items) {
            stms.push(at(Op::Index { array: *array, index: vec![Atom::Var(counter)] })(vec![*item]));
        }
        stms.extend(fold.body.stms.iter().cloned());
        let mut params = vec![counter];
        params.extend(before);
        let mut results = fold.body.results.clone();
        let (mut init, mut outer) = (fold.neutral.to_vec(), Vec::new());
        // Variables of its own: what the loop makes is not made by itself instead.
        let mut defs: Vec<Var> = before.iter().map(|var| self.fun.var(self.fun.vars[*var])).collect();
        let mut made = defs.clone();
        if fold.is_scan {
            for (k, def) in stm.defs.iter().enumerate() {
                let array = fold.arrays[k];
                init.push(Atom::Var(self.space(array, &mut outer)));
                let [param, next] = [(); 2].map(|()| self.fun.var(self.fun.vars[*def]));
                params.push(param);
                let dims = vec![SliceDim::At(Atom::Var(counter))];
                let op = Op::Update { array: param, dims, value: fold.body.results[k] };
                stms.push(at(op)(vec![next]));
                results.push(Atom::Var(next));
            }
            made = stm.defs.iter().map(|def| self.fun.var(self.fun.vars[*def])).collect();
            defs.extend(&made);
        }
        let body = Block { params, stms, results };
        outer.push(at(Op::For { bound: fold.width, init, body })(defs));
        Block { params: Vec::new(), stms: outer, results: activity::vars(&made) }
    }

    /// An array like another, whose elements do not matter.
    fn space(&mut self, like: Var, stms: &mut Vec<Stm>) -> Var {
        let copy = self.fun.var(self.fun.vars[like]);
        stms.push(Stm::new(vec![copy], Op::Copy { array: like }, Origin::default()));
        copy
    }
}
