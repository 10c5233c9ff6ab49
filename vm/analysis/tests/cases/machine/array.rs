//! Making arrays where the plan has them, copies, operations on whole arrays.

use super::memory::Array;
use super::names::{Names, Val};
use super::{Machine, hash};
use galopvm_analysis::memory::IN_TURN;
use galopvm_base::Scalar;
use galopvm_base::scalar::eval;
use galopvm_kir::{ArrayOp, Body, VarId, ViewChange};
use galopvm_lmad::Lmad;

impl Machine<'_> {
    /// A new block for an array: its slot, if blocks are packed.
    pub(super) fn block(&mut self, names: &mut Names, var: VarId) -> Result<usize, String> {
        let shape = self.shape(names, var)?;
        let elements = Lmad::row_major(&shape).elements();
        let block = match (self.arena, self.layout.slots.get(&var)) {
            (Some(arena), Some(slot)) => self.memory.packed(arena, *slot, self.elem(var).bytes(), elements),
            _ if self.layout.turns.contains(&var) => {
                let turn = self.turns.entry(var).or_default();
                if turn.len() < IN_TURN {
                    turn.push(self.memory.block(elements));
                    turn[turn.len() - 1]
                } else {
                    turn.rotate_left(1);
                    self.memory.clear(turn[IN_TURN - 1]);
                    turn[IN_TURN - 1]
                }
            }
            _ => self.memory.block(elements),
        };
        names.own(var, block);
        Ok(block)
    }

    /// The blocks that other arrays lie in exist from the beginning of the body that makes them.
    pub(super) fn blocks_of(&mut self, names: &mut Names, body: &Body) -> Result<(), String> {
        for var in body.stms.iter().flat_map(|stm| &stm.pat) {
            let place = self.layout.places.as_ref().and_then(|places| places.get(var));
            if self.targets.contains(var) && place.is_some_and(|place| place.block == *var) {
                self.block(names, *var)?;
            }
        }
        Ok(())
    }

    /// Where the plan puts an array, if it says so and the block exists.
    pub(super) fn planned(&mut self, names: &Names, var: VarId) -> Result<Option<Array>, String> {
        let Some(place) = self.layout.places.as_ref().and_then(|places| places.get(&var)) else {
            return Ok(None);
        };
        let Some(block) = names.owned(place.block) else { return Ok(None) };
        let view = self.numbers(names, &place.view)?;
        Ok(Some(Array { block, view }))
    }

    /// A new array: where the plan puts it, or in a block of its own.
    pub(super) fn make(&mut self, names: &mut Names, var: VarId) -> Result<Array, String> {
        let place = self.layout.places.as_ref().and_then(|places| places.get(&var));
        let moved = place.is_some_and(|place| place.block != var);
        if !moved && !self.targets.contains(&var) {
            self.block(names, var)?;
        }
        if place.is_some() {
            let missing = || format!("`{}` is made before its block", self.region.name_of(var));
            return self.planned(names, var)?.ok_or_else(missing);
        }
        let shape = self.shape(names, var)?;
        let block = names.owned(var).ok_or("no block")?;
        Ok(Array { block, view: Lmad::row_major(&shape) })
    }

    /// A new array in a block of its own, whatever the plan says.
    pub(super) fn fresh(&mut self, names: &mut Names, var: VarId) -> Result<Array, String> {
        let shape = self.shape(names, var)?;
        let block = self.block(names, var)?;
        Ok(Array { block, view: Lmad::row_major(&shape) })
    }

    /// Copies in a random order; nothing if it is there already.
    pub(super) fn copy(
        &mut self,
        (from, reading): (&Array, VarId),
        (to, writing): (&Array, VarId),
    ) -> Result<(), String> {
        if from.is(to) {
            return Ok(());
        }
        let places: Vec<(i64, i64)> = from.view.places().zip(to.view.places()).collect();
        for k in self.random.permutation(places.len()) {
            let value = self.at(from, places[k].0, reading)?;
            self.put(to, places[k].1, value, writing)?;
        }
        Ok(())
    }

    pub(super) fn array_op(&mut self, names: &mut Names, var: VarId, op: &ArrayOp) -> Result<(), String> {
        if let ArrayOp::View { change, array } = op {
            let (of, _) = self.array(names, array)?.ok_or("no array")?;
            let seen = match change {
                ViewChange::Transpose => Some(of.view.transpose()),
                ViewChange::Reverse => Some(of.view.reverse(0)),
                ViewChange::Rearrange(perm) => Some(of.view.permute(perm)),
                ViewChange::Reshape(_) | ViewChange::Flatten => of.view.reshape(&self.shape(names, var)?),
            };
            if let Some(view) = seen {
                let array = Array { block: of.block, view };
                // A change of shape may be planned as a copy.
                let place = self.layout.places.as_ref().and_then(|places| places.get(&var));
                let copies = change.is_reshape()
                    && match place.map(|place| place.block == var) {
                        Some(own) => {
                            own || !self.planned(names, var)?.is_some_and(|planned| planned.is(&array))
                        }
                        None => false,
                    };
                if !copies {
                    return self.bind(names, var, Val::Array(array));
                }
            }
        }
        if let ArrayOp::Reduce { op, array } = op {
            let (of, name) = self.array(names, array)?.ok_or("no array")?;
            let elem = self.elem(var);
            let mut acc = op.info().identity.map(|identity| identity.of(elem).bits);
            for place in of.view.places() {
                let next = self.at(&of, place, name)?;
                acc = acc.zip(next).and_then(|(a, b)| eval(*op, elem, &[a, b]).ok());
            }
            return self.bind(names, var, Val::Scalar(acc.map(|bits| Scalar::new(elem, bits))));
        }
        let to = self.make(names, var)?;
        match op {
            ArrayOp::Scratch { .. } => {}
            ArrayOp::Replicate { shape: _, value: exp } => match self.value(names, exp, self.elem(var))? {
                Val::Scalar(value) => {
                    for place in to.view.places() {
                        self.put(&to, place, value.map(|v| v.bits), var)?;
                    }
                }
                Val::Array(row) => {
                    let reading = self.array(names, exp)?.ok_or("no array")?.1;
                    for k in 0..to.view.shape()[0] {
                        let part = Array { block: to.block, view: to.view.fix(0, k) };
                        self.copy((&row, reading), (&part, var))?;
                    }
                }
            },
            ArrayOp::Iota(_) => {
                for (k, place) in to.view.places().enumerate() {
                    self.put(&to, place, Some(k as u64), var)?;
                }
            }
            // A change of shape keeps the order of the elements.
            ArrayOp::Copy(array) | ArrayOp::View { array, .. } => {
                let (of, name) = self.array(names, array)?.ok_or("no array")?;
                self.copy((&of, name), (&to, var))?;
            }
            ArrayOp::Concat { first, rest } => {
                let mut start = 0;
                for exp in std::iter::once(first).chain(rest) {
                    let (from, name) = self.array(names, exp)?.ok_or("no array")?;
                    let rows = from.view.shape()[0];
                    let part = Array { block: to.block, view: to.view.triplet(0, start, rows, 1) };
                    self.copy((&from, name), (&part, var))?;
                    start += rows;
                }
            }
            ArrayOp::Call { function, args, .. } => {
                let places: Vec<i64> = to.view.places().collect();
                let elem = self.elem(var);
                let words = self.words(names, function, args, &to.view.shape())?;
                let all = words.map(|words| hash(&words));
                for k in self.random.permutation(places.len()) {
                    let value = all.map(|all| Scalar::from_int(elem, (hash(&[all, k as u64]) % 50) as i64));
                    self.put(&to, places[k], value.map(|value| value.bits), var)?;
                }
            }
            ArrayOp::Reduce { .. } => return Err("a reduction gives no array".into()),
        }
        self.bind(names, var, Val::Array(to))
    }
}
