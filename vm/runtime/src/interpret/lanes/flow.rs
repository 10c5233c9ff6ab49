//! Branches, loops and operators of a lane program.

use super::dot::{self, Dot};
use super::program::{Across, Lane, Number, Step, Value, View};
use super::translate::Translator;
use crate::interpret::columns::Columns;
use crate::interpret::machine::cost;
use crate::interpret::refused::{Made, Refused};
use galopvm_bytecode::{BlockId, Def, Instr, Operand, RegId};
use galopvm_vector::loops;

/// A value that goes around a loop.
enum Carried {
    One(Number),
    Many(Lane),
    Array(View),
}

impl<'a> Translator<'a> {
    pub(super) fn branch(&mut self, dsts: &[Def], cond: Operand, arms: [BlockId; 2]) -> Made<()> {
        match self.value(cond.reg)? {
            Value::One(cond) => self.branch_together(dsts, cond, arms),
            Value::Many(cond) => self.branch_apart(dsts, cond, arms),
        }
    }

    /// A branch that all rows take.
    fn branch_together(&mut self, dsts: &[Def], cond: Number, arms: [BlockId; 2]) -> Made<()> {
        let function = self.function;
        let before = self.alive.clone();
        // Steps of both arms first, then where the results are, which both must agree on.
        let mut steps = Vec::new();
        let mut after = Vec::new();
        for arm in arms {
            self.alive.clone_from(&before);
            steps.push(self.apart(|this| this.block(arm))?);
            after.push(self.alive.clone());
        }
        for (k, dst) in dsts.iter().enumerate() {
            let results = arms.map(|arm| function.blocks[arm].results[k].reg);
            if self.is_array(dst.0) {
                let views = [self.view(results[0])?, self.view(results[1])?];
                if views[0] == views[1] {
                    self.define_view(dst.0, views[0].clone());
                    continue;
                }
                let ty = function.regs[dst.0];
                let to = self.own_view(ty.elem, ty.rank as usize, self.varies(dst.0));
                for (steps, from) in steps.iter_mut().zip(views) {
                    steps.push(Step::Materialize { from, to: to.clone() });
                }
                self.made(&to);
                self.define_view(dst.0, to);
                continue;
            }
            if self.varies(dst.0) {
                let lane = self.lane(self.elem(dst.0).bytes())?;
                for (steps, result) in steps.iter_mut().zip(results) {
                    steps.push(match self.value(result)? {
                        Value::One(a) => Step::Splat { dst: lane, a },
                        Value::Many(a) => Step::Copy { dst: lane, a },
                    });
                }
                self.values.insert(dst.0, Value::Many(lane));
            } else {
                let number = self.number();
                for (steps, result) in steps.iter_mut().zip(results) {
                    steps.push(Step::Move { dst: number, a: self.one(result)? });
                }
                self.values.insert(dst.0, Value::One(number));
            }
        }
        self.end_arms(dsts, arms, after);
        let mut steps = steps.into_iter();
        let (then, otherwise) = (steps.next().unwrap_or_default(), steps.next().unwrap_or_default());
        self.emit(Step::If { cond, then, otherwise });
        Ok(())
    }

    /// A branch that some rows take, and others do not.
    fn branch_apart(&mut self, dsts: &[Def], cond: Lane, arms: [BlockId; 2]) -> Made<()> {
        let function = self.function;
        let outer = self.mask;
        let before = self.alive.clone();
        let mut after = Vec::new();
        let mut parts = Vec::new();
        for (arm, holds) in arms.into_iter().zip([true, false]) {
            let mask = self.lane(1)?;
            self.emit(Step::Narrow { dst: mask, outer, cond, holds });
            self.alive.clone_from(&before);
            self.mask = Some(mask);
            let mut lanes = Vec::new();
            let steps = self.apart(|this| {
                this.block(arm)?;
                for result in &function.blocks[arm].results {
                    if this.is_array(result.reg) {
                        lanes.push(None);
                    } else {
                        let value = this.value(result.reg)?;
                        lanes.push(Some(this.many(value, this.elem(result.reg))?));
                    }
                }
                Ok(())
            });
            self.mask = outer;
            parts.push((mask, steps?, lanes));
            after.push(self.alive.clone());
        }
        let mut selections = Vec::new();
        for (k, dst) in dsts.iter().enumerate() {
            if let (Some(b), Some(c)) = (parts[0].2[k], parts[1].2[k]) {
                let width = self.elem(dst.0).bytes();
                let lane = self.lane(width)?;
                selections.push(Step::Many3 { run: loops::selection(width), dst: lane, a: cond, b, c });
                self.values.insert(dst.0, Value::Many(lane));
                continue;
            }
            let views = [
                self.view(function.blocks[arms[0]].results[k].reg)?,
                self.view(function.blocks[arms[1]].results[k].reg)?,
            ];
            if views[0] == views[1] {
                self.define_view(dst.0, views[0].clone());
                continue;
            }
            let ty = function.regs[dst.0];
            let to = self.own_view(ty.elem, ty.rank as usize, true);
            let (made, zero) = (self.number(), self.constant(0));
            self.emit(Step::Move { dst: made, a: zero });
            for ((mask, steps, _), from) in parts.iter_mut().zip(views) {
                steps.push(Step::Join { from, to: to.clone(), mask: *mask, made });
            }
            self.made(&to);
            self.define_view(dst.0, to);
        }
        self.end_arms(dsts, arms, after);
        for (mask, steps, _) in parts {
            if !steps.is_empty() {
                self.emit(Step::Any { mask, steps });
            }
        }
        selections.into_iter().for_each(|step| self.emit(step));
        Ok(())
    }

    /// What may still be read behind two arms.
    fn end_arms(
        &mut self,
        dsts: &[Def],
        arms: [BlockId; 2],
        after: Vec<std::collections::HashMap<RegId, usize>>,
    ) {
        let [first, second] = &after[..] else { return };
        let results: Vec<(RegId, usize)> =
            dsts.iter().filter_map(|dst| self.views.get(&dst.0).map(|view| (dst.0, view.owner))).collect();
        self.alive =
            first.iter().filter(|(reg, _)| second.contains_key(reg)).map(|(r, o)| (*r, *o)).collect();
        arms.iter().for_each(|arm| self.end_block(*arm));
        self.alive.extend(results);
    }

    /// That a view of the program's own has got its extents.
    fn made(&mut self, view: &View) {
        if view.across != Across::Same {
            self.need(view.dims.iter().map(|(size, _)| *size), view.elem);
        }
    }

    /// A fresh array with the elements of another.
    pub(super) fn materialize(&mut self, from: View, lanes: bool) -> View {
        let to = self.own_view(from.elem, from.dims.len(), lanes);
        if lanes {
            self.need(from.dims.iter().map(|(size, _)| *size), from.elem);
        }
        self.emit(Step::Materialize { from, to: to.clone() });
        to
    }

    fn carry(&mut self, init: &[Operand], params: &[RegId]) -> Made<Vec<Carried>> {
        let mut carried = Vec::with_capacity(init.len());
        for (init, param) in init.iter().zip(params) {
            let varies = self.varies(*param);
            if self.is_array(*param) {
                let from = self.view(init.reg)?;
                let view = self.materialize(from, varies);
                self.define_view(*param, view.clone());
                carried.push(Carried::Array(view));
                continue;
            }
            let value = self.value(init.reg)?;
            if varies {
                let lane = self.lane(self.elem(*param).bytes())?;
                self.emit(match value {
                    Value::One(a) => Step::Splat { dst: lane, a },
                    Value::Many(a) => Step::Copy { dst: lane, a },
                });
                self.values.insert(*param, Value::Many(lane));
                carried.push(Carried::Many(lane));
            } else {
                let number = self.number();
                let a = self.one(init.reg)?;
                self.emit(Step::Move { dst: number, a });
                self.values.insert(*param, Value::One(number));
                carried.push(Carried::One(number));
            }
        }
        Ok(carried)
    }

    /// The results of a turn become what the next one starts with.
    fn go_around(&mut self, carried: &[Carried], results: &[Operand]) -> Made<()> {
        let mut lanes: Vec<(Lane, Lane)> = Vec::new();
        let mut numbers: Vec<(Number, Number)> = Vec::new();
        let mut arrays: Vec<(View, View)> = Vec::new();
        for (carried, result) in carried.iter().zip(results) {
            match carried {
                Carried::One(number) => numbers.push((*number, self.one(result.reg)?)),
                Carried::Many(lane) => {
                    let value = self.value(result.reg)?;
                    lanes.push((*lane, self.many(value, self.elem(result.reg))?));
                }
                Carried::Array(view) => arrays.push((view.clone(), self.view(result.reg)?)),
            }
        }
        lanes.retain(|(to, from)| to != from);
        let targets: Vec<Lane> = lanes.iter().map(|(to, _)| *to).collect();
        for k in 0..lanes.len() {
            let from = lanes[k].1;
            let shared = targets.contains(&from) || lanes[..k].iter().any(|(_, other)| *other == from);
            if shared || !self.is_of_this_turn(from) {
                let dst = self.lane(self.program.lanes[from as usize])?;
                self.emit(Step::Copy { dst, a: from });
                lanes[k].1 = dst;
            }
        }
        // What is in the other register is not used any more.
        lanes.iter().for_each(|(a, b)| self.emit(Step::Swap { a: *a, b: *b }));
        numbers.retain(|(to, from)| to != from);
        let targets: Vec<Number> = numbers.iter().map(|(to, _)| *to).collect();
        for (_, from) in &mut numbers {
            if targets.contains(from) {
                let dst = self.number();
                self.emit(Step::Move { dst, a: *from });
                *from = dst;
            }
        }
        numbers.into_iter().for_each(|(dst, a)| self.emit(Step::Move { dst, a }));
        arrays.retain(|(to, from)| to != from);
        let targets: Vec<usize> = arrays.iter().map(|(to, _)| to.owner).collect();
        for (to, from) in &mut arrays {
            if targets.contains(&from.owner) {
                *from = self.materialize(from.clone(), to.across != Across::Same);
            }
        }
        arrays.into_iter().for_each(|(to, from)| self.emit(Step::Materialize { from, to }));
        Ok(())
    }

    fn leave(&mut self, dsts: &[Def], carried: Vec<Carried>) {
        for (dst, carried) in dsts.iter().zip(carried) {
            match carried {
                Carried::One(number) => drop(self.values.insert(dst.0, Value::One(number))),
                Carried::Many(lane) => drop(self.values.insert(dst.0, Value::Many(lane))),
                Carried::Array(view) => self.define_view(dst.0, view),
            }
        }
    }

    pub(super) fn count(
        &mut self,
        dsts: &[Def],
        bound: Operand,
        init: &[Operand],
        body: BlockId,
    ) -> Made<()> {
        let function = self.function;
        let block = &function.blocks[body];
        let (counter, params) =
            block.params.split_first().ok_or(Refused::Because("a loop without a counter"))?;
        let bound = self.one(bound.reg)?;
        let carried = self.carry(init, params)?;
        let number = self.number();
        self.values.insert(*counter, Value::One(number));
        let steps = self.turn(Some(bound), |this| {
            this.block(body)?;
            this.go_around(&carried, &block.results)?;
            this.end_block(body);
            Ok(())
        })?;
        params.iter().for_each(|param| {
            self.alive.remove(param);
        });
        self.emit(Step::Loop { counter: number, bound, cost: cost(function, body), steps });
        self.leave(dsts, carried);
        Ok(())
    }

    pub(super) fn repeat(
        &mut self,
        dsts: &[Def],
        init: &[Operand],
        cond: BlockId,
        body: BlockId,
    ) -> Made<()> {
        let function = self.function;
        let (test, block) = (&function.blocks[cond], &function.blocks[body]);
        let carried = self.carry(init, &block.params)?;
        let mut answer = 0;
        let tested = self.turn(None, |this| {
            for (test, param) in test.params.iter().zip(&block.params) {
                if this.is_array(*param) {
                    let view = this.view(*param)?;
                    this.define_view(*test, view);
                } else {
                    let value = this.value(*param)?;
                    this.values.insert(*test, value);
                }
            }
            this.block(cond)?;
            answer = this.one(test.results[0].reg)?;
            test.params.iter().for_each(|param| {
                this.alive.remove(param);
            });
            Ok(())
        })?;
        let steps = self.turn(None, |this| {
            this.block(body)?;
            this.go_around(&carried, &block.results)?;
            this.end_block(body);
            Ok(())
        })?;
        block.params.iter().for_each(|param| {
            self.alive.remove(param);
        });
        let cost = cost(function, cond) + cost(function, body);
        self.emit(Step::While { test: tested, answer, cost, steps });
        self.leave(dsts, carried);
        Ok(())
    }

    /// An operator: a loop over rows.
    pub(super) fn operator(&mut self, instr: &'a Instr) -> Made<()> {
        let function = self.function;
        let operator = instr.operator().ok_or(Refused::instruction(instr))?;
        let width = self.one(operator.width.reg)?;
        let arrays: Made<Vec<View>> = operator.arrays.iter().map(|array| self.view(array.reg)).collect();
        let arrays = arrays?;
        let results = &function.blocks[operator.last_block()].results;
        let has_array_rows = operator.has_rows() && results.iter().any(|result| self.is_array(result.reg));
        let extents = arrays.iter().map(|view| view.dims[0].0).collect();
        self.emit(Step::Width { width, extents, least: i64::from(has_array_rows) });
        self.weigh_entry();
        let params = operator.combine.map_or(&[][..], |block| &function.blocks[block].params);
        let (accumulators, items) = params.split_at(operator.neutral.len());
        let carried = self.carry(operator.neutral, accumulators)?;
        let mut outputs = Vec::new();
        if operator.has_rows() {
            for (dst, result) in operator.dsts.iter().zip(results) {
                let ty = function.regs[dst.0];
                let to = self.own_view(ty.elem, ty.rank as usize, self.varies(dst.0));
                if !self.is_array(result.reg) {
                    if self.varies(dst.0) {
                        self.need(std::iter::once(width), ty.elem);
                    }
                    self.emit(Step::Reserve { to: to.clone(), sizes: std::iter::once(width).collect() });
                }
                outputs.push(to);
            }
        }
        let columns = Columns::of(function, instr).is_ok();
        let outer = std::mem::replace(&mut self.elementwise, columns && operator.combine.is_none());
        let counter = self.number();
        let rows = operator.items.map_or(items, |block| &function.blocks[block].params);
        let steps = self.turn(Some(width), |this| {
            for (view, row) in arrays.iter().zip(rows) {
                this.row(view, *row, counter)?;
            }
            if let Some(map) = operator.items {
                this.block(map)?;
                for (result, item) in function.blocks[map].results.iter().zip(items) {
                    this.same(result.reg, *item)?;
                }
                if operator.combine.is_some() {
                    this.end_block(map);
                }
            }
            if let Some(combine) = operator.combine {
                this.block(combine)?;
            }
            for (result, to) in results.iter().zip(&outputs) {
                this.put_row(result.reg, to, counter, width)?;
            }
            if operator.combine.is_some() {
                this.go_around(&carried, results)?;
            }
            this.end_block(operator.last_block());
            Ok(())
        });
        self.elementwise = outer;
        rows.iter().chain(params).for_each(|param| {
            self.alive.remove(param);
        });
        let cost = operator.blocks().map(|block| cost(function, block)).sum();
        let turns = Step::Loop { counter, bound: width, cost, steps: steps? };
        let step = match (&carried[..], &arrays[..], dot::loops(function, &operator)) {
            ([Carried::Many(accumulator)], [a, b], Some(loops)) if !operator.has_rows() => {
                Step::Dot(Box::new(Dot::new(loops, [a, b], *accumulator, width, cost, turns)))
            }
            _ => turns,
        };
        self.emit(step);
        if operator.has_rows() {
            for (dst, view) in operator.dsts.iter().zip(outputs) {
                self.define_view(dst.0, view);
            }
        } else {
            self.leave(operator.dsts, carried);
        }
        Ok(())
    }

    /// The row of an array in a turn.
    fn row(&mut self, view: &View, row: RegId, counter: Number) -> Made<()> {
        let part = self.part(view, counter);
        if self.is_array(row) {
            self.define_view(row, part);
        } else {
            let value = self.load(&part)?;
            self.values.insert(row, value);
        }
        Ok(())
    }

    /// Lets a register be another name.
    fn same(&mut self, old: RegId, new: RegId) -> Made<()> {
        if self.is_array(old) {
            let view = self.view(old)?;
            self.define_view(new, view);
        } else {
            let value = self.value(old)?;
            self.values.insert(new, value);
        }
        Ok(())
    }

    fn put_row(&mut self, result: RegId, to: &View, counter: Number, width: Number) -> Made<()> {
        if self.is_array(result) {
            let from = self.view(result)?;
            if to.across != Across::Same {
                let sizes: Vec<Number> =
                    std::iter::once(width).chain(from.dims.iter().map(|d| d.0)).collect();
                self.need(sizes.into_iter(), to.elem);
            }
            self.emit(Step::PutRow { from, to: to.clone(), index: counter, width });
            return Ok(());
        }
        let value = self.value(result)?;
        let place = self.part(to, counter);
        self.store(&place, value, None)
    }
}
