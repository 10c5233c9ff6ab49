//! Instructions that have blocks.

use super::arrays::unknown;
use super::record::{Known, Named, Recorder, Step};
use super::{Counter, Maker};
use galopvm_base::TypedId;
use galopvm_bytecode::{BlockId, Def, FuncId, Instr, Operand, RegId, field::Fields, module::BODY};
use galopvm_kir::{Axis, Body, Combine, Exp, Index, Rhs, Type, VarId};
use std::collections::HashSet;

/// Combines rows: the neutral elements, the block that makes items, the block of the operator.
struct Reduction<'a> {
    neutral: &'a [Operand],
    map: Option<BlockId>,
    op: BlockId,
}

impl<'a> Recorder<'a> {
    pub(super) fn with_blocks(&mut self, block: BlockId, index: usize, instr: &'a Instr) -> Step<()> {
        match instr {
            Instr::Map { dsts, width, arrays, body } => self.map((block, index), dsts, *width, arrays, *body),
            Instr::Reduce { dsts, width, neutral, arrays, body } => {
                let how = Reduction { neutral, map: None, op: *body };
                self.reduce((block, index), dsts, *width, arrays, how, false)
            }
            Instr::Redomap { dsts, width, neutral, arrays, map, op } => {
                let how = Reduction { neutral, map: Some(*map), op: *op };
                self.reduce((block, index), dsts, *width, arrays, how, false)
            }
            Instr::Scan { dsts, width, neutral, arrays, body } => {
                let how = Reduction { neutral, map: None, op: *body };
                self.reduce((block, index), dsts, *width, arrays, how, true)
            }
            Instr::For { dsts, bound, init, body } => self.count((block, index), dsts, *bound, init, *body),
            Instr::While { dsts, init, cond, body } => self.repeat((block, index), dsts, init, *cond, *body),
            Instr::If { dsts, cond, then, otherwise } => {
                self.choose((block, index), dsts, *cond, [*then, *otherwise])
            }
            Instr::Call { dsts, function, args } => {
                if dsts.iter().any(|dst| self.is_array(dst.0)) {
                    return self.through((block, index), dsts, *function, args);
                }
                let name = galopvm_kir::text::as_name(&self.callee(*function).name);
                let args = self.operands(args)?;
                self.opaque(&name, dsts, args)
            }
            Instr::Fail { dsts, .. } if dsts.iter().any(|dst| self.is_array(dst.0)) => {
                self.refuse(block, index, "an array that never gets a value")
            }
            Instr::Fail { dsts, .. } => self.opaque("fail", dsts, Vec::new()),
            Instr::Scatter { dsts, dests, index, values, .. } => {
                let mut args = self.operands(index)?;
                args.extend(self.operands(values)?);
                self.overwrite("scatter", dsts, dests, args)
            }
            Instr::Hist { dsts, dests, neutral, index, values, op, .. } => {
                let mut args = self.operands(index)?;
                args.extend(self.operands(values)?);
                args.extend(self.operands(neutral)?);
                args.extend(self.free(&[*op])?);
                self.overwrite("hist", dsts, dests, args)
            }
            Instr::Stream { dsts, accs, arrays, body, .. } => {
                let mut args = self.operands(arrays)?;
                args.extend(self.free(&[*body])?);
                self.overwrite("stream", dsts, accs, args)
            }
            Instr::AccWrite { dsts, accs, index, values, op } => {
                let mut args = self.operands(index)?;
                args.extend(self.operands(values)?);
                args.extend(self.free(&[*op])?);
                self.overwrite("write", dsts, accs, args)
            }
            Instr::Filter { dsts, arrays, body, .. } => self.select("filter", dsts, 1, arrays, *body),
            Instr::Partition { dsts, classes, arrays, body, .. } => {
                self.select("partition", dsts, *classes as usize, arrays, *body)
            }
            _ => self.refuse(block, index, "an instruction that no region describes"),
        }
    }

    /// A call that gives arrays, as the code of the callee. Its registers are not those of the region.
    fn through(
        &mut self,
        (block, index): (BlockId, usize),
        dsts: &[Def],
        function: FuncId,
        args: &[Operand],
    ) -> Step<()> {
        let args = args.iter().map(|arg| self.known(arg.reg)).collect::<Step<Vec<Known>>>()?;
        let Some(caller) = self.enter_function(function, args) else {
            let name = self.callee(function).name.clone();
            return self.refuse(block, index, &format!("a call of {name} inside itself"));
        };
        self.block(BODY)?;
        let results = &self.code.blocks[BODY].results;
        let results = results.iter().map(|operand| self.known(operand.reg)).collect::<Step<Vec<Known>>>()?;
        self.leave_function(caller);
        for (dst, result) in dsts.iter().zip(results) {
            match result {
                Known::Scalar(exp) => self.define(dst.0, exp)?,
                Known::Array(array) => {
                    let name = Rhs::Exps(vec![Exp::Var(array.var)]);
                    self.make(dst.0, None, array.shape, name)?;
                }
            }
        }
        Ok(())
    }

    fn operands(&mut self, operands: &[Operand]) -> Step<Vec<Exp>> {
        operands.iter().map(|operand| self.operand(*operand)).collect()
    }

    /// Scalars that nothing is known of.
    fn opaque(&mut self, name: &str, dsts: &[Def], args: Vec<Exp>) -> Step<()> {
        for dst in dsts {
            self.define(dst.0, Exp::Opaque(name.into(), args.clone()))?;
        }
        Ok(())
    }

    /// The arrays that blocks use and do not make.
    fn free(&mut self, blocks: &[BlockId]) -> Step<Vec<Exp>> {
        let (mut used, mut made) = (Vec::new(), HashSet::new());
        blocks.iter().for_each(|block| self.uses(*block, &mut used, &mut made));
        used.retain(|reg| !made.contains(reg) && self.is_array(*reg));
        used.sort_unstable();
        used.dedup();
        used.into_iter().map(|reg| self.operand(Operand::new(reg))).collect()
    }

    fn uses(&self, block: BlockId, used: &mut Vec<RegId>, made: &mut HashSet<RegId>) {
        let block = &self.code.blocks[block];
        made.extend(&block.params);
        for instr in &block.code {
            let fields = Fields::of(instr);
            made.extend(fields.defs.iter().map(|def| def.0));
            used.extend(fields.operands.iter().map(|operand| operand.reg));
            fields.blocks.into_iter().for_each(|inner| self.uses(inner, used, made));
        }
        used.extend(block.results.iter().map(|operand| operand.reg));
    }

    /// Destinations that are changed in place at places that are not known: an unknown value of the same shape is
    /// computed, and written over each.
    fn overwrite(&mut self, name: &str, dsts: &[Def], dests: &[Operand], args: Vec<Exp>) -> Step<()> {
        for (dst, dest) in dsts.iter().zip(dests) {
            let dest = self.array(*dest)?;
            let args = [args.as_slice(), &[Exp::Var(dest.var)]].concat();
            let value = self.temporary(Type { elem: dest.elem, shape: dest.shape.clone() });
            self.push(vec![value], unknown(name, args, dest.shape.clone()))?;
            self.update(dst.0, &dest, Index::Dims(Vec::new()), Exp::Var(value))?;
        }
        Ok(())
    }

    /// Counts, and arrays with as many rows as the counts say together.
    fn select(
        &mut self,
        name: &str,
        dsts: &[Def],
        counts: usize,
        arrays: &[Operand],
        body: BlockId,
    ) -> Step<()> {
        let mut args = self.operands(arrays)?;
        args.extend(self.free(&[body])?);
        let (counted, made) = dsts.split_at(counts);
        self.opaque(name, counted, args.clone())?;
        for (dst, array) in made.iter().zip(arrays) {
            let array = self.array(*array)?;
            // The classes of a partition are all rows.
            let rows = match counted {
                [count] if name == "filter" => self.scalar(Operand::new(count.0))?,
                _ => array.shape[0].clone(),
            };
            let shape = [&[rows][..], &array.shape[1..]].concat();
            self.call(dst.0, None, name, args.clone(), shape)?;
        }
        Ok(())
    }

    fn axis(&mut self, counter: Counter, bound: Exp) -> Axis {
        Axis { var: self.counter(counter), bound }
    }

    /// Says what the rows of arrays are in the block that goes over them.
    fn rows(&mut self, params: &[RegId], arrays: &[Operand], at: VarId) -> Step<()> {
        for (param, array) in params.iter().zip(arrays) {
            let array = self.array(*array)?;
            self.element(*param, &array, vec![Exp::Var(at)])?;
        }
        Ok(())
    }

    /// The results of a block as the results of a body; shapes of arrays among them, which have to be known outside.
    fn results(&mut self, block: BlockId, mark: usize) -> Step<(Vec<Exp>, Vec<Vec<Exp>>)> {
        let (mut exps, mut shapes) = (Vec::new(), Vec::new());
        for operand in &self.code.blocks[block].results {
            match self.known(operand.reg)? {
                Known::Scalar(exp) => {
                    exps.push(exp);
                    shapes.push(Vec::new());
                }
                Known::Array(Named { var, shape, .. }) => {
                    let mut inside = false;
                    shape.iter().for_each(|extent| extent.each_use(&mut |var| inside |= var.index() >= mark));
                    if inside {
                        let reason = format!("the size of {} is known inside a block only", operand.reg);
                        return Err(super::RecordRefusal { reason });
                    }
                    exps.push(Exp::Var(var));
                    shapes.push(shape);
                }
            }
        }
        Ok((exps, shapes))
    }

    fn map(
        &mut self,
        (block, index): (BlockId, usize),
        dsts: &[Def],
        width: Operand,
        arrays: &[Operand],
        body: BlockId,
    ) -> Step<()> {
        let width = self.scalar(width)?;
        // Arrays from outside are parameters before anything inside is named.
        arrays.iter().try_for_each(|array| self.array(*array).map(drop))?;
        self.free(&[body])?;
        let mark = self.region.vars.len();
        let axis = self.axis(Counter::Rows(body), width.clone());
        self.enter();
        self.rows(&self.code.blocks[body].params, arrays, axis.var)?;
        self.block(body)?;
        let (results, shapes) = self.results(body, mark)?;
        let stms = self.leave();
        let mut pat = Vec::new();
        for (k, (dst, row)) in dsts.iter().zip(shapes).enumerate() {
            let shape = [&[width.clone()][..], &row].concat();
            pat.push(self.announce(dst.0, Some(Maker { block, index, result: k }), shape));
        }
        self.push(pat, Rhs::Kernel { axes: vec![axis], body: Body { stms, results } })
    }

    fn reduce(
        &mut self,
        (block, index): (BlockId, usize),
        dsts: &[Def],
        width: Operand,
        arrays: &[Operand],
        how: Reduction<'_>,
        prefixes: bool,
    ) -> Step<()> {
        let Reduction { neutral, map, op } = how;
        if neutral.iter().any(|operand| self.is_array(operand.reg)) {
            return self.reduce_arrays((block, index), dsts, arrays, how, prefixes);
        }
        let width = self.scalar(width)?;
        let neutral = self.scalars(neutral)?;
        arrays.iter().try_for_each(|array| self.array(*array).map(drop))?;
        self.free(&map.into_iter().chain([op]).collect::<Vec<_>>())?;
        let counted = map.unwrap_or(op);
        let axis = self.axis(Counter::Rows(counted), width.clone());
        let (accumulators, items) = self.code.blocks[op].params.split_at(neutral.len());
        self.enter();
        let results = match map {
            Some(map) => {
                self.rows(&self.code.blocks[map].params, arrays, axis.var)?;
                self.block(map)?;
                self.results(map, usize::MAX)?.0
            }
            None => {
                let mut rows = Vec::new();
                for (item, array) in items.iter().zip(arrays) {
                    let array = self.array(*array)?;
                    if array.shape.len() != 1 {
                        return self.refuse(block, index, "a reduction over rows that are arrays");
                    }
                    let row = match &array.rows {
                        Some(rows) => Recorder::row_of(rows, Exp::Var(axis.var)),
                        None => self.region.read(array.var, vec![Exp::Var(axis.var)]),
                    };
                    let var = self.temporary(Type::scalar(self.code.regs[*item].elem));
                    self.push(vec![var], Rhs::Exps(vec![row]))?;
                    rows.push(Exp::Var(var));
                }
                rows
            }
        };
        let body = Body { stms: self.leave(), results };
        self.enter();
        let mut named = |regs: &[RegId]| -> Vec<VarId> {
            regs.iter()
                .map(|reg| {
                    let var = self.name(*reg, Type::scalar(self.code.regs[*reg].elem));
                    self.set(*reg, Known::Scalar(Exp::Var(var)));
                    var
                })
                .collect()
        };
        let (acc, item) = (named(accumulators), named(items));
        self.block(op)?;
        let (results, _) = self.results(op, usize::MAX)?;
        let combine = Combine { acc, neutral, item, body: Body { stms: self.leave(), results } };
        let mut pat = Vec::new();
        for (k, dst) in dsts.iter().enumerate() {
            if prefixes {
                let maker = Maker { block, index, result: k };
                pat.push(self.announce(dst.0, Some(maker), vec![width.clone()]));
                continue;
            }
            let var = self.name(dst.0, Type::scalar(self.code.regs[dst.0].elem));
            self.set(dst.0, Known::Scalar(Exp::Var(var)));
            pat.push(var);
        }
        match prefixes {
            true => self.push(pat, Rhs::Scan { axis, body, combine }),
            false => self.push(pat, Rhs::Reduce { axes: vec![axis], body, combine }),
        }
    }

    /// A reduction of arrays: its results may share memory with anything that goes into it.
    fn reduce_arrays(
        &mut self,
        (block, index): (BlockId, usize),
        dsts: &[Def],
        arrays: &[Operand],
        how: Reduction<'_>,
        prefixes: bool,
    ) -> Step<()> {
        if prefixes {
            return self.refuse(block, index, "prefixes of arrays");
        }
        let mut args = self.operands(arrays)?;
        args.extend(self.operands(how.neutral)?);
        args.extend(self.free(&how.map.into_iter().chain([how.op]).collect::<Vec<_>>())?);
        for (dst, neutral) in dsts.iter().zip(how.neutral) {
            let unknown = Exp::Opaque("reduce".into(), args.clone());
            match self.known(neutral.reg)? {
                Known::Scalar(_) => self.define(dst.0, unknown)?,
                Known::Array(array) => {
                    self.make(dst.0, None, array.shape, Rhs::Exps(vec![unknown]))?;
                }
            }
        }
        Ok(())
    }

    /// Names for carried values, which have the shapes of the initial ones.
    fn carried(&mut self, params: &[RegId], init: &[Known]) -> Vec<VarId> {
        let mut carried = Vec::new();
        for (param, init) in params.iter().zip(init) {
            carried.push(match init {
                Known::Scalar(_) => {
                    let var = self.name(*param, Type::scalar(self.code.regs[*param].elem));
                    self.set(*param, Known::Scalar(Exp::Var(var)));
                    var
                }
                Known::Array(array) => self.announce(*param, None, array.shape.clone()),
            });
        }
        carried
    }

    fn initial(&mut self, init: &[Operand]) -> Step<(Vec<Known>, Vec<Exp>)> {
        let known = init.iter().map(|operand| self.known(operand.reg)).collect::<Step<Vec<Known>>>()?;
        let exps = known.iter().map(|known| match known {
            Known::Scalar(exp) => exp.clone(),
            Known::Array(array) => Exp::Var(array.var),
        });
        let exps = exps.collect();
        Ok((known, exps))
    }

    /// The results of a loop's body, whose arrays must have the shapes of the initial ones.
    fn next(
        &mut self,
        (block, index): (BlockId, usize),
        body: BlockId,
        init: &[Known],
        mark: usize,
    ) -> Step<Vec<Exp>> {
        let (results, shapes) = self.results(body, mark)?;
        let same = init.iter().zip(&shapes).all(|(init, next)| match init {
            Known::Scalar(_) => true,
            Known::Array(array) => array.shape == *next,
        });
        match same {
            true => Ok(results),
            false => self.refuse(block, index, "a loop that carries an array of changing shape"),
        }
    }

    fn loop_results(&mut self, dsts: &[Def], init: &[Known]) -> Vec<VarId> {
        let regs: Vec<RegId> = dsts.iter().map(|dst| dst.0).collect();
        self.carried(&regs, init)
    }

    fn count(
        &mut self,
        at: (BlockId, usize),
        dsts: &[Def],
        bound: Operand,
        init: &[Operand],
        body: BlockId,
    ) -> Step<()> {
        let bound = self.scalar(bound)?;
        let (known, first) = self.initial(init)?;
        self.free(&[body])?;
        let mark = self.region.vars.len();
        let Some((counter, params)) = self.code.blocks[body].params.split_first() else {
            return self.refuse(at.0, at.1, "a loop without a counter");
        };
        let axis = self.axis(Counter::Loop(*counter), bound);
        self.set(*counter, Known::Scalar(Exp::Var(axis.var)));
        let carried = self.carried(params, &known);
        self.enter();
        self.block(body)?;
        let results = self.next(at, body, &known, mark)?;
        let body = Body { stms: self.leave(), results };
        let pat = self.loop_results(dsts, &known);
        self.push(pat, Rhs::For { carried, init: first, axis, body })
    }

    fn repeat(
        &mut self,
        at: (BlockId, usize),
        dsts: &[Def],
        init: &[Operand],
        cond: BlockId,
        body: BlockId,
    ) -> Step<()> {
        let (known, first) = self.initial(init)?;
        self.free(&[cond, body])?;
        let mark = self.region.vars.len();
        let carried = self.carried(&self.code.blocks[body].params, &known);
        // What the test computes cannot be said in one expression: it reads what it reads.
        let arrays = carried.iter().map(|var| Exp::Var(*var));
        let args = arrays.chain(self.free(&[cond])?).collect();
        let test = Exp::Opaque("test".into(), args);
        self.enter();
        self.block(body)?;
        let results = self.next(at, body, &known, mark)?;
        let body = Body { stms: self.leave(), results };
        let pat = self.loop_results(dsts, &known);
        self.push(pat, Rhs::While { carried, init: first, cond: test, body })
    }

    fn choose(
        &mut self,
        (block, index): (BlockId, usize),
        dsts: &[Def],
        cond: Operand,
        sides: [BlockId; 2],
    ) -> Step<()> {
        let cond = self.scalar(cond)?;
        self.free(&sides)?;
        let mark = self.region.vars.len();
        let mut bodies = Vec::new();
        let mut shapes = Vec::new();
        for side in sides {
            self.enter();
            self.block(side)?;
            let (results, found) = self.results(side, mark)?;
            bodies.push(Body { stms: self.leave(), results });
            shapes.push(found);
        }
        if shapes[0] != shapes[1] {
            return self.refuse(block, index, "an `if` whose sides give arrays of different shapes");
        }
        let mut pat = Vec::new();
        for (dst, shape) in dsts.iter().zip(shapes.swap_remove(0)) {
            pat.push(if self.is_array(dst.0) {
                self.announce(dst.0, None, shape)
            } else {
                let var = self.name(dst.0, Type::scalar(self.code.regs[dst.0].elem));
                self.set(dst.0, Known::Scalar(Exp::Var(var)));
                var
            });
        }
        let otherwise = bodies.pop().unwrap_or_default();
        let then = bodies.pop().unwrap_or_default();
        self.push(pat, Rhs::If { cond, then, otherwise })
    }
}
