//! Sums over rows of what each row makes with a map: a map of sums instead, so that no row's array is made.
//!
//! Whatever the map takes from its row is kept for all rows, if that is less than what it makes. What each row makes alike
//! is made once. Of several results of one map the sums are made together, so that it is executed again for all of them once.
//! Where this needs arrays of each row after all, some rows at a time are summed up: as many as have room in a near cache. One map
//! makes these arrays, and others the sums, so that each is a nest of operators with nothing beside it: what it runs across, and what
//! threads do of it, is decided for it alone.

use super::super::super::ir::*;
use super::super::super::simplify::prune_sure;
use super::super::Derive;
use super::super::code::arrays_of;
use super::map::ROOM;
use galopvm_base::{ScalarOp, TypedId};
use std::collections::HashSet;

/// The elements of rows' arrays that are kept at a time to be summed up.
const PIECE: i64 = 1 << 13;

/// How values of a row are summed up over all rows.
pub(super) struct Sums {
    /// What is kept of each row.
    pub kept: Vec<Atom>,
    spreads: Vec<Spread>,
    /// For each value where its sum comes from.
    sources: Vec<Source>,
}

/// Where a sum comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Source {
    /// The sum of the rows of what was kept there.
    Kept(usize),
    /// The result of a spread.
    Spread(usize, usize),
}

/// A map in a row's block whose results are to be summed up over all rows.
#[derive(Clone)]
struct Spread {
    width: Atom,
    arrays: Vec<Var>,
    body: Block,
    /// What it takes from its row.
    taken: Vec<Var>,
    /// What of that its block uses as it is, not as a row of an array.
    used: Vec<Var>,
    /// Statements of the row that make the same for each row.
    alike: Vec<Stm>,
}

impl Derive<'_> {
    /// How values of the current block are summed up over its rows.
    pub(super) fn sums(&self, values: &[Atom], params: &[Atom]) -> Sums {
        let mut places: Vec<usize> = Vec::new();
        let found: Vec<Option<(usize, usize)>> =
            values.iter().map(|value| self.map_to_spread(*value, params)).collect();
        for (place, _) in found.iter().flatten() {
            if !places.contains(place) {
                places.push(*place);
            }
        }
        let mut sums = Sums { kept: Vec::new(), spreads: Vec::new(), sources: Vec::new() };
        for place in &places {
            let results: Vec<usize> =
                found.iter().flatten().filter(|(own, _)| own == place).map(|(_, k)| *k).collect();
            sums.spreads.extend(self.spread(*place, &results));
        }
        let mut used = vec![0; places.len()];
        for (value, found) in values.iter().zip(&found) {
            let spread = found.and_then(|(place, _)| places.iter().position(|own| *own == place));
            let source = match spread {
                Some(at) => {
                    used[at] += 1;
                    Source::Spread(at, used[at] - 1)
                }
                None => Source::Kept(sums.keep(*value)),
            };
            sums.sources.push(source);
        }
        for k in 0..sums.spreads.len() {
            let taken = sums.spreads[k].taken.clone();
            for var in taken {
                sums.keep(Atom::Var(var));
            }
        }
        sums
    }

    /// The place of the map that makes a value in the current block, and which of its results that is, if sums of it over rows
    /// can be made by a map.
    fn map_to_spread(&self, value: Atom, params: &[Atom]) -> Option<(usize, usize)> {
        let Atom::Var(var) = value else { return None };
        let place = self.fun.current().iter().rposition(|stm| stm.defs.contains(&var))?;
        let result = self.fun.current()[place].defs.iter().position(|def| *def == var)?;
        let spread = self.spread(place, &[result])?;
        let outside = |extent: &Option<Atom>| extent.is_some_and(|extent| self.fun.is_outside(extent));
        let fits = |var: &Var| {
            let atom = Atom::Var(*var);
            params.contains(&atom)
                || self.long_dims(atom) < self.long_dims(value)
                    && self.fun.known_shape(atom).iter().all(outside)
        };
        spread.taken.iter().all(fits).then_some((place, result))
    }

    /// How many dimensions a value has that are not known to be of one element.
    fn long_dims(&self, value: Atom) -> usize {
        self.fun.known_shape(value).iter().filter(|extent| **extent != Some(Atom::i64(1))).count()
    }

    /// The map at a place of the current block with some of its results.
    fn spread(&self, place: usize, results: &[usize]) -> Option<Spread> {
        let Op::Map { width, arrays, body } = &self.fun.current()[place].op else { return None };
        if !self.fun.is_outside(*width) {
            return None;
        }
        let mut body = body.clone();
        body.results = results.iter().filter_map(|k| body.results.get(*k).copied()).collect();
        prune_sure(&mut body, self.fun.vars.len());
        let mut found = Taken { inside: HashSet::new(), all: Vec::new() };
        found.block(&body);
        // Rows of arrays that nothing is taken of are not needed either, but a map goes over something.
        let mut is_used: Vec<bool> = body.params.iter().map(|param| found.all.contains(param)).collect();
        if !is_used.contains(&true) {
            is_used.iter_mut().take(1).for_each(|used| *used = true);
        }
        let mut used = is_used.iter();
        body.params.retain(|_| used.next().is_some_and(|used| *used));
        let arrays: Vec<Var> =
            arrays.iter().zip(is_used).filter(|(_, used)| *used).map(|(array, _)| *array).collect();
        let used = found.all.clone();
        found.all.extend(&arrays);
        let mut taken: Vec<Var> = found.all.into_iter().filter(|var| !found.inside.contains(var)).collect();
        taken.retain(|var| !self.fun.is_outside(Atom::Var(*var)));
        taken.sort_by_key(|var| var.index());
        taken.dedup();
        let alike: Vec<Stm> = self.fun.current()[..place]
            .iter()
            .filter(|stm| self.is_alike(&stm.op, *width) && stm.defs.iter().any(|def| taken.contains(def)))
            .cloned()
            .collect();
        taken.retain(|var| alike.iter().all(|stm| !stm.defs.contains(var)));
        Some(Spread { width: *width, arrays, body, taken, used, alike })
    }

    /// Whether a statement makes an array from numbers outside of the current block, and could do so if there were no rows:
    /// as many as the sums have rows, or a number that is not negative.
    fn is_alike(&self, op: &Op, rows: Atom) -> bool {
        let (Op::Iota { count, .. } | Op::Replicate { count, .. }) = op else { return false };
        let mut outside = *count == rows || self.fun.is_natural(*count);
        op.atoms(&mut |atom| outside &= self.fun.is_outside(atom) && self.fun.type_of(atom).is_scalar());
        outside
    }

    /// The sums, over so many rows, of values of which this was kept. They have the shapes of these, where they are made outside
    /// of all maps.
    pub(super) fn sum_kept(
        &mut self,
        count: Atom,
        sums: &Sums,
        kept: &[Atom],
        like: Option<&[Atom]>,
    ) -> Vec<Atom> {
        let mut spread: Vec<Vec<Atom>> = Vec::new();
        for (k, own) in sums.spreads.iter().enumerate() {
            let taken: Vec<Atom> = own.taken.iter().map(|var| kept[sums.place_of(*var)]).collect();
            let like = like.map(|like| sums.results_of(k, like));
            let pieces = like.and_then(|like| Some((like, self.rows_of_piece(count, own, &taken)?)));
            spread.push(match pieces {
                Some((like, rows)) => self.sum_pieces(count, own, &taken, (&like, rows)),
                None => self.sum_spread(count, own, &taken),
            });
        }
        let mut all = Vec::new();
        for source in &sums.sources {
            all.push(match source {
                Source::Kept(k) => self.fun.sum_rows(kept[*k]),
                Source::Spread(k, result) => spread[*k][*result],
            });
        }
        all
    }

    /// How many rows are to be summed up at a time, if arrays of each have to be kept.
    fn rows_of_piece(&mut self, count: Atom, spread: &Spread, taken: &[Atom]) -> Option<Atom> {
        // What would be kept is seen in a block that is not used.
        self.begin_spread(spread, taken);
        let sums = self.begin_sums(spread);
        let kept: Vec<Atom> = sums.kept.into_iter().filter(|a| !self.fun.type_of(*a).is_scalar()).collect();
        let shapes: Vec<Vec<Option<Atom>>> = kept.iter().map(|a| self.fun.known_shape(*a)).collect();
        self.fun.end(Vec::new());
        self.fun.end(Vec::new());
        if shapes.is_empty() {
            return None;
        }
        let mut elements = Atom::i64(1);
        for shape in shapes {
            let known = shape.into_iter().flatten().filter(|extent| self.fun.visible(*extent));
            let known: Vec<Atom> = known.collect();
            let size = self.fun.count(&known);
            elements = self.fun.size_op(ScalarOp::Add, elements, size);
        }
        let rows = self.fun.room_for(PIECE, elements, count);
        let elements = self.fun.size_op(ScalarOp::Mul, elements, spread.width);
        Some(self.fun.room_for(ROOM, elements, rows))
    }

    /// The same sums, so many rows at a time; they have the shapes of these.
    fn sum_pieces(
        &mut self,
        count: Atom,
        spread: &Spread,
        taken: &[Atom],
        (like, rows): (&[Atom], Atom),
    ) -> Vec<Atom> {
        let mut start = Vec::new();
        for value in like {
            start.push(self.fun.zeros_like(*value));
        }
        let bound = self.fun.pieces(count, rows);
        let params = self.fun.begin_loop(&start);
        let (from, to, width) = self.fun.piece(params[0], rows, count);
        let mut some = Vec::new();
        for array in taken {
            some.push(self.fun.some_rows(*array, (from, to), width));
        }
        let sums = self.sum_apart(width, spread, &some);
        let sums = params[1..].iter().zip(sums).map(|(before, sum)| self.fun.plus(*before, sum)).collect();
        let body = self.fun.end_sure(sums);
        self.fun.end_loop(bound, start, body)
    }

    /// The sums, over so many rows, of what a map makes, with what it takes from each.
    fn sum_spread(&mut self, count: Atom, spread: &Spread, taken: &[Atom]) -> Vec<Atom> {
        let Opened { inputs, params, rows, own } = self.begin_spread(spread, taken);
        let sums = self.begin_sums(spread);
        let kept = self.fun.end_rows(count, &rows, &own, sums.kept.clone());
        let sums = self.sum_kept(count, &sums, &kept, None);
        self.fun.end_rows(self.value(spread.width), &inputs, &params, sums)
    }

    /// The same sums by several maps: one that makes what is kept of all rows, and one for each sum of it.
    fn sum_apart(&mut self, count: Atom, spread: &Spread, taken: &[Atom]) -> Vec<Atom> {
        let Opened { inputs, params, rows, own } = self.begin_spread(spread, taken);
        let sums = self.begin_sums(spread);
        let kept = self.fun.end_rows(count, &rows, &own, sums.kept.clone());
        let made: Vec<Atom> = kept.iter().copied().filter(|array| !self.fun.is_outside(*array)).collect();
        let is_around = |stm: &&Stm| !stm.defs.iter().any(|def| made.contains(&Atom::Var(*def)));
        let around: Vec<Stm> = self.fun.current().iter().filter(is_around).cloned().collect();
        let width = self.value(spread.width);
        let arrays = self.fun.end_rows(width, &inputs, &params, made.clone());
        let (names, arrays) = ([params, made].concat(), [inputs, arrays].concat());
        let mut found: Vec<(Source, Atom)> = Vec::new();
        for part in sums.parts() {
            let rows = self.fun.begin_rows(&arrays);
            self.bind(&arrays_of(&names), &rows);
            self.copy_stms(&around);
            let kept = self.all_values(&kept);
            let own = self.sum_kept(count, &part.sums, &kept, None);
            let own = self.fun.end_rows(width, &arrays, &rows, own);
            found.extend(part.sources.into_iter().zip(own));
        }
        let sum_of = |source: &Source| found.iter().find(|(own, _)| own == source).map(|(_, sum)| *sum);
        sums.sources.iter().filter_map(sum_of).collect()
    }

    /// Opens the map of sums, and in it the map over rows of what each of them makes.
    fn begin_spread(&mut self, spread: &Spread, taken: &[Atom]) -> Opened {
        self.copy_stms(&spread.alike);
        let given = |var: Var| spread.taken.iter().position(|own| *own == var).map(|k| taken[k]);
        let mut inputs = Vec::new();
        let mut columns = Vec::new();
        for array in &spread.arrays {
            let rows = given(*array);
            columns.push(rows.is_some());
            inputs.push(match rows {
                Some(rows) => {
                    let mut perm: Vec<u32> = (0..self.fun.type_of(rows).rank as u32).collect();
                    perm.swap(0, 1);
                    self.fun.permuted(rows, perm)
                }
                None => self.value(Atom::Var(*array)),
            });
        }
        let params = self.fun.begin_rows(&inputs);
        // What each row gives: elements of its arrays, and what the block takes besides.
        let (mut names, mut rows) = (Vec::new(), Vec::new());
        for ((own, param), is_column) in spread.body.params.iter().zip(&params).zip(columns) {
            if is_column {
                names.push(*own);
                rows.push(*param);
            } else {
                self.bind(&[*own], &[*param]);
            }
        }
        for (var, atom) in spread.taken.iter().zip(taken) {
            if spread.used.contains(var) {
                names.push(*var);
                rows.push(*atom);
            }
        }
        let own = self.fun.begin_rows(&rows);
        self.bind(&names, &own);
        Opened { inputs, params, rows, own }
    }

    /// Executes the block of a map for a row; gives how its results are summed up.
    fn begin_sums(&mut self, spread: &Spread) -> Sums {
        self.copy_stms(&spread.body.stms);
        let values = self.all_values(&spread.body.results);
        let params = self.fun.params();
        self.sums(&values, &params)
    }
}

/// A map of sums that was opened, and the map over rows in it.
struct Opened {
    /// The arrays that the map of sums goes over.
    inputs: Vec<Atom>,
    /// Rows of them.
    params: Vec<Atom>,
    /// The arrays that the map over rows goes over.
    rows: Vec<Atom>,
    /// Rows of them.
    own: Vec<Atom>,
}

/// Some of the sums, and which they are of all.
struct Part {
    sums: Sums,
    sources: Vec<Source>,
}

impl Sums {
    /// Those that are made by one map, for each such map; a sum that is asked for twice is made once.
    fn parts(&self) -> Vec<Part> {
        let mut parts: Vec<Part> = Vec::new();
        for source in &self.sources {
            if parts.iter().any(|part| part.sources.contains(source)) {
                continue;
            }
            let (sources, spreads): (Vec<Source>, Vec<Spread>) = match source {
                Source::Kept(_) => (vec![*source], Vec::new()),
                Source::Spread(k, _) => {
                    let is_own = |own: &&Source| matches!(own, Source::Spread(other, _) if other == k);
                    (self.sources.iter().filter(is_own).copied().collect(), vec![self.spreads[*k].clone()])
                }
            };
            let alone = |source: &Source| match source {
                Source::Spread(_, result) => Source::Spread(0, *result),
                Source::Kept(k) => Source::Kept(*k),
            };
            let own = sources.iter().map(alone).collect();
            parts.push(Part { sums: Sums { kept: self.kept.clone(), spreads, sources: own }, sources });
        }
        parts
    }

    /// Keeps a value; gives its place among what is kept.
    fn keep(&mut self, value: Atom) -> usize {
        let at = self.kept.iter().position(|own| *own == value);
        at.unwrap_or_else(|| {
            self.kept.push(value);
            self.kept.len() - 1
        })
    }

    fn place_of(&self, var: Var) -> usize {
        self.kept.iter().position(|own| *own == Atom::Var(var)).unwrap_or_default()
    }

    /// Those of some values, one for each, that go with the results of a spread.
    fn results_of(&self, spread: usize, values: &[Atom]) -> Vec<Atom> {
        let own = |source: &Source| matches!(source, Source::Spread(k, _) if *k == spread);
        self.sources.iter().zip(values).filter(|(source, _)| own(source)).map(|(_, value)| *value).collect()
    }

    /// The values that are kept of each row for nothing but their sums.
    pub fn whole(&self) -> Vec<Atom> {
        let is_taken = |atom: &Atom| {
            let var = atom.var();
            self.spreads.iter().any(|spread| var.is_some_and(|var| spread.taken.contains(&var)))
        };
        self.kept.iter().copied().filter(|atom| !is_taken(atom)).collect()
    }
}

/// The variables that a block takes from outside.
struct Taken {
    inside: HashSet<Var>,
    all: Vec<Var>,
}

impl Taken {
    fn block(&mut self, block: &Block) {
        self.inside.extend(&block.params);
        self.all.extend(block.results.iter().filter_map(|atom| atom.var()));
        for stm in &block.stms {
            stm.op.atoms(&mut |atom| self.all.extend(atom.var()));
            stm.op.blocks().into_iter().for_each(|inner| self.block(inner));
            self.inside.extend(&stm.defs);
        }
    }
}
