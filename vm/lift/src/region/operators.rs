//! Instructions that have blocks.

use super::arrays::unknown;
use super::record::{Known, Recorder, Step};
use super::{Counter, Maker};
use galopvm_bytecode::{BlockId, Def, FuncId, Instr, Operand, Operator, RegId, Role, module::BODY};
use galopvm_kir::{Axis, Body, Combine, Exp, Index, Rhs, Type, VarId};

impl<'a> Recorder<'a> {
    pub(super) fn with_blocks(&mut self, block: BlockId, index: usize, instr: &'a Instr) -> Step<()> {
        match instr {
            Instr::Map { dsts, width, arrays, body } => self.map((block, index), dsts, *width, arrays, *body),
            Instr::Reduce { .. } | Instr::Redomap { .. } | Instr::Scan { .. } => {
                self.reduce((block, index), instr)
            }
            Instr::For { dsts, bound, init, body } => self.count((block, index), dsts, *bound, init, *body),
            Instr::While { dsts, init, cond, body } => self.repeat(dsts, init, *cond, *body),
            Instr::If { dsts, cond, then, otherwise } => self.choose(dsts, *cond, [*then, *otherwise]),
            Instr::Call { dsts, function, args } => {
                if dsts.iter().any(|dst| self.is_array(dst.0)) {
                    return self.through(dsts, *function, args);
                }
                let name = galopvm_kir::text::as_name(&self.callee(*function).name);
                let args = self.operands(args)?;
                self.opaque(&name, dsts, args)
            }
            Instr::Fail { dsts, .. } => self.fail(dsts),
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

    /// A call that gives arrays, as the code of the callee. Its registers are not those of the region. Of a call of a
    /// function inside itself nothing is known.
    fn through(&mut self, dsts: &[Def], function: FuncId, args: &[Operand]) -> Step<()> {
        let args = args.iter().map(|arg| self.known(arg.reg)).collect::<Step<Vec<Known>>>()?;
        let all: Vec<Exp> = args.iter().map(Known::exp).collect();
        let Some(caller) = self.enter_function(function, args) else {
            let name = galopvm_kir::text::as_name(&self.callee(function).name);
            return self.aliased(&name, dsts, all);
        };
        self.block(BODY)?;
        let results = self.block_results(BODY)?;
        self.leave_function(caller);
        self.same_values(dsts, results)
    }

    pub(super) fn operands(&mut self, operands: &[Operand]) -> Step<Vec<Exp>> {
        operands.iter().map(|operand| self.operand(*operand)).collect()
    }

    /// Scalars that nothing is known of.
    pub(super) fn opaque(&mut self, name: &str, dsts: &[Def], args: Vec<Exp>) -> Step<()> {
        for dst in dsts {
            self.define(dst.0, Exp::Opaque(name.into(), args.clone()))?;
        }
        Ok(())
    }

    /// Values that nothing is known of; arrays among them may share memory with anything.
    fn aliased(&mut self, name: &str, dsts: &[Def], args: Vec<Exp>) -> Step<()> {
        for dst in dsts {
            let unknown = Exp::Opaque(name.into(), args.clone());
            if self.is_array(dst.0) {
                let shape = self.unknown_shape(dst.0)?;
                self.make(dst.0, None, shape, Rhs::Exps(vec![unknown]))?;
            } else {
                self.define(dst.0, unknown)?;
            }
        }
        Ok(())
    }

    /// What never gets a value: the program ends there.
    fn fail(&mut self, dsts: &[Def]) -> Step<()> {
        for dst in dsts {
            if self.is_array(dst.0) {
                let shape = self.unknown_shape(dst.0)?;
                self.call(dst.0, None, "fail", Vec::new(), shape)?;
                self.set_never(dst.0);
            } else {
                self.define(dst.0, Exp::Opaque("fail".into(), Vec::new()))?;
            }
        }
        Ok(())
    }

    /// The arrays that blocks use and do not make.
    pub(super) fn free(&mut self, blocks: &[BlockId]) -> Step<Vec<Exp>> {
        let function = *self.calls.last().expect("some function is gone through");
        let free = self.facts.free(function, self.code, blocks);
        free.into_iter().map(|reg| self.operand(Operand::new(reg))).collect()
    }

    /// Makes parameters of the arrays from outside that blocks use, before anything inside them is named.
    pub(super) fn need(&mut self, blocks: &[BlockId]) -> Step<()> {
        let function = *self.calls.last().expect("some function is gone through");
        let (facts, code) = (self.facts, self.code);
        facts.each_free(function, code, blocks, &mut |reg| match self.seen(reg) {
            Some(_) => Ok(()),
            None => self.known(reg).map(drop),
        })
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

    pub(super) fn axis(&mut self, counter: Counter, bound: Exp) -> Axis {
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

    /// The results of a block whose results are scalars, as the results of a body.
    fn scalar_results(&mut self, block: BlockId) -> Step<Vec<Exp>> {
        let results = &self.code.blocks[block].results;
        self.scalars(results)
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
        self.need(&[body])?;
        let mark = self.mark();
        let axis = self.axis(Counter::Rows(body), width.clone());
        self.enter(body);
        self.rows(&self.code.blocks[body].params, arrays, axis.var)?;
        self.block(body)?;
        let rows = self.block_results(body)?;
        let stms = self.leave();
        let (mut pat, mut results) = (Vec::new(), Vec::new());
        for (k, (dst, row)) in dsts.iter().zip(rows).enumerate() {
            let mut shape = vec![width.clone()];
            if let Known::Array(row) = &row {
                // All rows have one shape; what it is may be known inside only.
                for extent in &row.shape {
                    shape.push(match self.outward(extent, &mark) {
                        Some(extent) => extent,
                        None => self.unknown_size()?,
                    });
                }
            }
            results.push(row.exp());
            pat.push(self.announce(dst.0, Some(Maker { block, index, result: k }), shape));
        }
        self.push(pat, Rhs::Kernel { axes: vec![axis], body: Body { stms, results } })
    }

    fn reduce(&mut self, (block, index): (BlockId, usize), instr: &Instr) -> Step<()> {
        let Some((operator, op)) =
            instr.operator().and_then(|operator| Some((operator.clone(), operator.combine?)))
        else {
            return self.refuse(block, index, "an instruction that no region describes");
        };
        let Operator { dsts, width, neutral, arrays, items: map, .. } = operator;
        let prefixes = operator.gives == Role::Prefixes;
        if neutral.iter().any(|operand| self.is_array(operand.reg)) {
            return self.reduce_arrays(&operator);
        }
        let width = self.scalar(width)?;
        let neutral = self.scalars(neutral)?;
        arrays.iter().try_for_each(|array| self.array(*array).map(drop))?;
        match map {
            Some(map) => self.need(&[map, op])?,
            None => self.need(&[op])?,
        }
        let counted = map.unwrap_or(op);
        let axis = self.axis(Counter::Rows(counted), width.clone());
        let (accumulators, items) = self.code.blocks[op].params.split_at(neutral.len());
        self.enter(counted);
        let results = match map {
            Some(map) => {
                self.rows(&self.code.blocks[map].params, arrays, axis.var)?;
                self.block(map)?;
                self.scalar_results(map)?
            }
            None => {
                let mut rows = Vec::new();
                for (item, array) in items.iter().zip(arrays) {
                    let array = self.array(*array)?;
                    if array.shape.len() != 1 {
                        return self.refuse(block, index, "a reduction over rows that are arrays");
                    }
                    let row = match &array.rows {
                        Some(rows) => {
                            self.unread.insert(array.var);
                            Recorder::row_of(rows, Exp::Var(axis.var))
                        }
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
        self.enter(op);
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
        let results = self.scalar_results(op)?;
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
        if prefixes {
            // Prefixes that are not kept are nobody's.
            for reg in &accumulators[dsts.len().min(accumulators.len())..] {
                pat.push(
                    self.temporary(Type { elem: self.code.regs[*reg].elem, shape: vec![width.clone()] }),
                );
            }
        }
        match prefixes {
            true => self.push(pat, Rhs::Scan { axis, body, combine }),
            false => self.push(pat, Rhs::Reduce { axes: vec![axis], body, combine }),
        }
    }

    /// A reduction of arrays: its results may share memory with anything that goes into it. The results of its operator
    /// have the shapes of the neutral elements.
    fn reduce_arrays(&mut self, operator: &Operator<'_>) -> Step<()> {
        let Operator { dsts, width, neutral, arrays, .. } = *operator;
        let prefixes = operator.gives == Role::Prefixes;
        let width = self.scalar(width)?;
        let mut args = self.operands(arrays)?;
        args.extend(self.operands(neutral)?);
        args.extend(self.free(&operator.blocks().collect::<Vec<_>>())?);
        for (dst, neutral) in dsts.iter().zip(neutral) {
            let row = self.known(neutral.reg)?;
            match row {
                // Prefixes are copied, row by row.
                row if prefixes => {
                    let shape = [&[width.clone()][..], row.shape()].concat();
                    self.call(dst.0, None, "scan", args.clone(), shape)?;
                }
                Known::Scalar(_) => self.define(dst.0, Exp::Opaque("reduce".into(), args.clone()))?,
                Known::Array(array) => {
                    let unknown = Exp::Opaque("reduce".into(), args.clone());
                    self.make(dst.0, None, array.shape.clone(), Rhs::Exps(vec![unknown]))?;
                }
            }
        }
        Ok(())
    }
}
