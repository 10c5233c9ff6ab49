//! Maps on the way back: a map over rows and adjoints of results, which gives adjoints of rows; what rows add to a variable
//! outside is summed up.
//!
//! Rows that add to whole arrays make as many arrays. There is room for a certain number of elements of them: of more rows a
//! part is taken at a time, and summed up before the next.

use super::super::super::ir::*;
use super::super::{Derive, Derived, activity};
use super::adjoint::{Adjoint, Part};
use galopvm_base::ScalarOp;

/// The elements of arrays that rows may make to be summed up.
pub(super) const ROOM: i64 = 1 << 22;

/// A map on the way back: its block, the arrays whose rows that takes, and the adjoints of its results.
pub(super) struct Rows<'m> {
    pub width: Atom,
    pub body: &'m Block,
    pub arrays: Vec<Atom>,
    pub adjoints: Vec<Option<Atom>>,
    /// The parameters whose adjoints are asked for.
    pub wanted: Vec<bool>,
    /// Adjoints from outside, the same for all rows.
    pub given: Vec<(Atom, Atom)>,
    /// The variables outside that rows add to.
    pub free: Vec<Var>,
}

impl Derive<'_> {
    pub(super) fn back_map(
        &mut self,
        width: Atom,
        arrays: &[Var],
        body: &Block,
        adjoints: &[Option<Atom>],
    ) -> Derived<()> {
        let rows = Rows {
            width: self.value(width),
            body,
            arrays: self.all_values(&activity::vars(arrays)),
            adjoints: adjoints.to_vec(),
            wanted: arrays.iter().map(|array| self.activity.var(*array)).collect(),
            given: Vec::new(),
            free: self.free(&[body]),
        };
        let back = self.back_rows(rows)?;
        for (array, adjoint) in arrays.iter().zip(back) {
            adjoint.iter().for_each(|adjoint| self.contribute(Atom::Var(*array), *adjoint));
        }
        Ok(())
    }

    /// The adjoints of rows, where anything depends on them.
    pub(super) fn back_rows(&mut self, rows: Rows<'_>) -> Derived<Vec<Option<Atom>>> {
        let wide: Vec<Var> = rows.free.iter().copied().filter(|var| takes_whole(rows.body, *var)).collect();
        if self.depth > 0 || wide.is_empty() {
            return Ok(self.back_all_rows(&rows, true)?.unwrap_or_default());
        }
        let before = self.back.adjoints.clone();
        if let Some(back) = self.back_all_rows(&rows, false)? {
            return Ok(back);
        }
        self.back.adjoints = before;
        let count = self.rows_at_once(rows.width, &wide);
        self.back_some_rows(rows, count)
    }

    /// How many rows may make arrays for these variables at a time.
    fn rows_at_once(&mut self, width: Atom, wide: &[Var]) -> Atom {
        let mut elements = Atom::i64(1);
        for var in wide {
            let value = self.value(Atom::Var(*var));
            let shape = self.fun.shape(value);
            let size = self.fun.count(&shape);
            elements = self.fun.size_op(ScalarOp::Add, elements, size);
        }
        self.fun.room_for(ROOM, elements, width)
    }

    /// As `back_all_rows`, so many at a time.
    fn back_some_rows(&mut self, rows: Rows<'_>, count: Atom) -> Derived<Vec<Option<Atom>>> {
        let own: Vec<usize> = (0..rows.arrays.len()).filter(|k| rows.wanted[*k]).collect();
        let mut start: Vec<Atom> = own.iter().map(|k| self.fun.zeros_like(rows.arrays[*k])).collect();
        for var in &rows.free {
            let adjoint = self.take_or_zeros(*var);
            start.push(adjoint);
        }
        let bound = self.fun.pieces(rows.width, count);
        let outer = std::mem::take(&mut self.back.adjoints);
        let params = self.fun.begin_loop(&start);
        let (from, to, width) = self.fun.piece(params[0], count, rows.width);
        let range = [SliceDim::Range(Some(from), Some(to), None)];
        let (moved, sums) = params[1..].split_at(own.len());
        for (var, sum) in rows.free.iter().zip(sums) {
            self.back.adjoints.insert(*var, Adjoint { whole: Some(*sum), parts: Vec::new() });
        }
        let arrays = rows.arrays.iter().map(|array| self.fun.some_rows(*array, (from, to), width)).collect();
        let adjoints = rows
            .adjoints
            .iter()
            .map(|adjoint| adjoint.map(|adjoint| self.fun.some_rows(adjoint, (from, to), width)))
            .collect();
        let free = rows.free.clone();
        let back = self.back_all_rows(&Rows { width, arrays, adjoints, ..rows }, true)?.unwrap_or_default();
        let mut results = Vec::new();
        for (k, whole) in own.iter().zip(moved) {
            results.push(match back[*k] {
                Some(part) => self.fun.with(*whole, &range, part),
                None => *whole,
            });
        }
        for var in &free {
            let adjoint = self.take_or_zeros(*var);
            results.push(adjoint);
        }
        let body = self.fun.end_sure(results);
        self.back.adjoints = outer;
        let atoms = self.fun.end_loop(bound, start, body);
        let mut back = vec![None; back.len()];
        own.iter().zip(&atoms).for_each(|(k, atom)| back[*k] = Some(*atom));
        for (var, sum) in free.iter().zip(&atoms[own.len()..]) {
            self.back.adjoints.insert(*var, Adjoint { whole: Some(*sum), parts: Vec::new() });
        }
        Ok(back)
    }

    /// One map over all rows. Nothing if rows make arrays that have to be summed up, where there may be no room for them.
    fn back_all_rows(&mut self, rows: &Rows<'_>, has_room: bool) -> Derived<Option<Vec<Option<Atom>>>> {
        let Rows { width, body, free, .. } = rows;
        let outer = (std::mem::take(&mut self.back.adjoints), std::mem::replace(&mut self.again, true));
        self.depth += 1;
        let mut all: Vec<Atom> = rows.arrays.iter().chain(rows.adjoints.iter().flatten()).copied().collect();
        all.retain(|array| !self.is_copied(*array));
        let params = self.fun.begin_rows(&all);
        self.go_back_in_row(rows, params.iter().copied())?;
        let mut results: Vec<Atom> = Vec::new();
        let mut back: Vec<Option<Atom>> = Vec::new();
        for (param, wanted) in body.params.iter().zip(&rows.wanted) {
            let adjoint = if *wanted { self.take(*param) } else { None };
            results.extend(adjoint);
            back.push(adjoint);
        }
        let left: Vec<Adjoint> = free.iter().map(|var| self.leave(*var)).collect();
        let wholes: Vec<Atom> = left.iter().filter_map(|adjoint| adjoint.whole).collect();
        let sums = self.sums(&wholes, &params);
        if !has_room && sums.whole().iter().any(|whole| !self.fun.type_of(*whole).is_scalar()) {
            self.fun.end(Vec::new());
            (self.back.adjoints, self.again) = outer;
            self.depth -= 1;
            return Ok(None);
        }
        results.extend(&sums.kept);
        results.extend(left.iter().flat_map(|adjoint| &adjoint.parts).flat_map(Part::atoms));
        let mut atoms = self.fun.end_rows(*width, &all, &params, results).into_iter();
        let back = back.into_iter().map(|adjoint| adjoint.and_then(|_| atoms.next())).collect();
        let kept: Vec<Atom> = atoms.by_ref().take(sums.kept.len()).collect();
        let own = free.iter().zip(&left).filter(|(_, adjoint)| adjoint.whole.is_some());
        let like: Vec<Atom> = own.map(|(var, _)| self.value(Atom::Var(*var))).collect();
        let like = (self.depth == 1).then_some(like.as_slice());
        let wholes = self.sum_kept(*width, &sums, &kept, like);
        let sums = with_rows(*width, left, wholes, &mut atoms);
        (self.back.adjoints, self.again) = outer;
        self.depth -= 1;
        for (var, adjoint) in free.iter().zip(sums) {
            adjoint.whole.iter().for_each(|whole| self.know_as(*whole, *var));
            self.arrive(*var, adjoint);
        }
        Ok(Some(back))
    }

    /// Executes a row and goes back through it.
    fn go_back_in_row(&mut self, rows: &Rows<'_>, params: impl Iterator<Item = Atom>) -> Derived<()> {
        let mut params = params;
        let mut row = |d: &Self, array: Atom| match d.fun.copied.get(&array) {
            Some(value) if d.is_copied(array) => *value,
            _ => params.next().unwrap_or(array),
        };
        let own: Vec<Atom> = rows.arrays.iter().map(|array| row(self, *array)).collect();
        let adjoints: Vec<Option<Atom>> =
            rows.adjoints.iter().map(|adjoint| adjoint.map(|adjoint| row(self, adjoint))).collect();
        self.bind(&rows.body.params, &own);
        self.onward_stms(&rows.body.stms)?;
        for (result, adjoint) in rows.body.results.iter().zip(adjoints) {
            adjoint.iter().for_each(|adjoint| self.contribute(*result, *adjoint));
        }
        rows.given.iter().for_each(|(to, adjoint)| self.contribute(*to, *adjoint));
        self.back_stms(&rows.body.stms)
    }

    /// Whether an array holds copies of a value that can be used instead.
    fn is_copied(&self, array: Atom) -> bool {
        self.fun.copied.get(&array).is_some_and(|value| self.fun.visible(*value))
    }
}

/// What all rows left: sums of wholes, and parts as arrays.
fn with_rows(
    width: Atom,
    left: Vec<Adjoint>,
    wholes: Vec<Atom>,
    atoms: &mut impl Iterator<Item = Atom>,
) -> Vec<Adjoint> {
    let mut wholes = wholes.into_iter();
    let mut all = Vec::new();
    for adjoint in left {
        let whole = adjoint.whole.and_then(|_| wholes.next());
        let mut parts = Vec::new();
        for part in adjoint.parts {
            let atoms: Vec<Atom> = atoms.by_ref().take(part.index.len() + 1).collect();
            let mut part = part.with_atoms(&atoms);
            part.extents.insert(0, width);
            parts.push(part);
        }
        all.push(Adjoint { whole, parts });
    }
    all
}

/// Whether a block takes an array as a whole, not only elements or rows of it.
pub(super) fn takes_whole(block: &Block, array: Var) -> bool {
    let is = |atom: &Atom| *atom == Atom::Var(array);
    block.results.iter().any(is)
        || block.stms.iter().any(|stm| {
            let (mut all, mut taken) = (0, 0);
            stm.op.atoms(&mut |atom| all += usize::from(is(&atom)));
            if let Op::Index { array: other, .. } | Op::Dim { array: other, .. } = &stm.op {
                taken = usize::from(*other == array);
            }
            all > taken || stm.op.blocks().into_iter().any(|inner| takes_whole(inner, array))
        })
}
