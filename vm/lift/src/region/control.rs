//! Loops and branches.
//!
//! Of an `if` whose condition is known now, the side that is taken is all there is.
//!
//! An array whose size changes from round to round, or differs between the sides of an `if`, has sizes that are carried
//! or given along with it, as scalars after the values of the instruction.

use super::Counter;
use super::record::{Known, Named, Recorder, Step};
use super::sizes::Mark;
use galopvm_bytecode::{BlockId, Def, Operand, RegId};
use galopvm_kir::{Body, Exp, Rhs, Type, VarId};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Dimension of a value, by numbers.
type Dim = (usize, usize);

/// The rounds of a loop.
struct Rounds {
    /// Names of the carried values and of the sizes carried along.
    carried: Vec<VarId>,
    init: Vec<Exp>,
    body: Body,
    /// The dimensions whose sizes are carried.
    varying: BTreeSet<Dim>,
}

impl<'a> Recorder<'a> {
    /// What the results of a block are.
    pub(super) fn block_results(&mut self, block: BlockId) -> Step<Vec<Known>> {
        let results = &self.code.blocks[block].results;
        results.iter().map(|operand| self.known(operand.reg)).collect()
    }

    /// Other names for values.
    pub(super) fn same_values(&mut self, dsts: &[Def], values: Vec<Known>) -> Step<()> {
        for (dst, value) in dsts.iter().zip(values) {
            match value {
                Known::Scalar(exp) => self.define(dst.0, exp)?,
                Known::Array(array) => {
                    let name = Rhs::Exps(vec![Exp::Var(array.var)]);
                    self.make(dst.0, None, array.shape.clone(), name)?;
                }
            }
        }
        Ok(())
    }

    fn initial(&mut self, init: &[Operand]) -> Step<Vec<Known>> {
        init.iter().map(|operand| self.known(operand.reg)).collect()
    }

    /// Names for values with the shapes of others, but for some dimensions, whose sizes get names as well.
    fn carried(&mut self, regs: &[RegId], like: &[Known], varying: &BTreeSet<Dim>) -> Vec<VarId> {
        let sizes: Vec<(Dim, VarId)> = varying.iter().map(|dim| (*dim, self.size_name())).collect();
        let mut names = Vec::new();
        for (k, (reg, like)) in regs.iter().zip(like).enumerate() {
            names.push(match like {
                Known::Scalar(_) => self.scalar_name(*reg),
                Known::Array(array) => {
                    let mut shape = array.shape.clone();
                    for ((value, dim), name) in &sizes {
                        if *value == k {
                            shape[*dim] = Exp::Var(*name);
                        }
                    }
                    self.announce(*reg, None, shape)
                }
            });
        }
        names.extend(sizes.into_iter().map(|(_, name)| name));
        names
    }

    /// A name for a scalar that a statement with a body gives.
    fn scalar_name(&mut self, reg: RegId) -> VarId {
        let var = self.name(reg, Type::scalar(self.code.regs[reg].elem));
        self.set(reg, Known::Scalar(Exp::Var(var)));
        var
    }

    /// The body of a loop, with as few carried sizes as will do. Everything from outside is known already.
    fn rounds(&mut self, params: &[RegId], body: BlockId, init: &[Known]) -> Step<Rounds> {
        let mark = self.mark();
        let mut varying = BTreeSet::new();
        let mut last = false;
        loop {
            let carried = self.carried(params, init, &varying);
            self.enter(body);
            self.block(body)?;
            let next = self.block_results(body)?;
            let stms = self.leave();
            let found = self.changing(init, &next, &mark);
            if !found.is_subset(&varying) {
                self.back_to(&mark);
                varying.extend(found);
                if last {
                    // One size changes another one: from now on all may.
                    let all = init.iter().enumerate();
                    varying =
                        all.flat_map(|(k, value)| (0..value.shape().len()).map(move |d| (k, d))).collect();
                }
                last = true;
                continue;
            }
            let sizes =
                |values: &[Known]| varying.iter().map(|(k, d)| values[*k].shape()[*d].clone()).collect();
            let with_sizes = |values: &[Known]| -> Vec<Exp> {
                let sizes: Vec<Exp> = sizes(values);
                values.iter().map(Known::exp).chain(sizes).collect()
            };
            let (init, results) = (with_sizes(init), with_sizes(&next));
            return Ok(Rounds { carried, init, body: Body { stms, results }, varying });
        }
    }

    /// The dimensions in which the next values of a loop differ from the first ones, or might.
    fn changing(&self, init: &[Known], next: &[Known], mark: &Mark) -> BTreeSet<Dim> {
        let mut found = BTreeSet::new();
        for (k, (init, next)) in init.iter().zip(next).enumerate() {
            for (dim, (a, b)) in init.shape().iter().zip(next.shape()).enumerate() {
                let same = self.outward(b, mark).is_some_and(|b| self.is_same_size(a, &b));
                if !same {
                    found.insert((k, dim));
                }
            }
        }
        found
    }

    /// Names of a loop's results.
    fn loop_results(&mut self, dsts: &[Def], init: &[Known], varying: &BTreeSet<Dim>) -> Vec<VarId> {
        let regs: Vec<RegId> = dsts.iter().map(|dst| dst.0).collect();
        self.carried(&regs, init, varying)
    }

    pub(super) fn count(
        &mut self,
        at: (BlockId, usize),
        dsts: &[Def],
        bound: Operand,
        init: &[Operand],
        body: BlockId,
    ) -> Step<()> {
        let bound = self.scalar(bound)?;
        let first = self.initial(init)?;
        self.need(&[body])?;
        let Some((counter, params)) = self.code.blocks[body].params.split_first() else {
            return self.refuse(at.0, at.1, "a loop without a counter");
        };
        let axis = self.axis(Counter::Loop(*counter), bound);
        self.set(*counter, Known::Scalar(Exp::Var(axis.var)));
        let Rounds { carried, init, body, varying } = self.rounds(params, body, &first)?;
        let pat = self.loop_results(dsts, &first, &varying);
        self.push(pat, Rhs::For { carried, init, axis, body })
    }

    pub(super) fn repeat(
        &mut self,
        dsts: &[Def],
        init: &[Operand],
        cond: BlockId,
        body: BlockId,
    ) -> Step<()> {
        let first = self.initial(init)?;
        self.need(&[cond, body])?;
        let params = &self.code.blocks[body].params;
        let Rounds { carried, init, body, varying } = self.rounds(params, body, &first)?;
        // What the test computes cannot be said in one expression: it reads what it reads.
        let arrays = carried.iter().map(|var| Exp::Var(*var));
        let args = arrays.chain(self.free(&[cond])?).collect();
        let cond = Exp::Opaque("test".into(), args);
        let pat = self.loop_results(dsts, &first, &varying);
        self.push(pat, Rhs::While { carried, init, cond, body })
    }

    pub(super) fn choose(&mut self, dsts: &[Def], cond: Operand, sides: [BlockId; 2]) -> Step<()> {
        let cond = self.scalar(cond)?;
        let [then, otherwise] = sides;
        if let Exp::Const(known) = &cond {
            let taken = if known.bits != 0 { then } else { otherwise };
            self.block(taken)?;
            let values = self.block_results(taken)?;
            return self.same_values(dsts, values);
        }
        self.need(&sides)?;
        let mark = self.mark();
        let mut side = |block: BlockId| -> Step<_> {
            self.enter(block);
            self.block(block)?;
            let values = self.block_results(block)?;
            Ok((self.leave(), values))
        };
        let (mut then, mut otherwise) = (side(then)?, side(otherwise)?);
        let mut varying = BTreeSet::new();
        let mut shapes = Vec::new();
        for (k, (a, b)) in then.1.iter().zip(&otherwise.1).enumerate() {
            let mut shape = Vec::new();
            for (dim, (x, y)) in a.shape().iter().zip(b.shape()).enumerate() {
                let [x, y] = [x, y].map(|extent| self.outward(extent, &mark));
                // If there is a value at all, it is the other side's.
                let known = match (self.is_never(a), self.is_never(b)) {
                    (true, _) => y,
                    (_, true) => x,
                    _ => x.zip(y).and_then(|(x, y)| self.is_same_size(&x, &y).then_some(x)),
                };
                if known.is_none() {
                    varying.insert((k, dim));
                }
                shape.push(known.unwrap_or(Exp::int(0)));
            }
            shapes.push(shape);
        }
        let like: Vec<Known> =
            then.1.iter().zip(shapes).map(|(value, shape)| value.with_shape(shape)).collect();
        let mut body = |(stms, values): &mut (Vec<_>, Vec<Known>)| -> Step<Body> {
            for (k, value) in values.iter_mut().enumerate() {
                if self.is_never(value) || varying.iter().any(|(other, _)| *other == k) {
                    *value = self.with_named_sizes(stms, value)?;
                }
            }
            let sizes = varying.iter().map(|(k, dim)| values[*k].shape()[*dim].clone());
            let results = values.iter().map(Known::exp).chain(sizes).collect();
            Ok(Body { stms: std::mem::take(stms), results })
        };
        let (then, otherwise) = (body(&mut then)?, body(&mut otherwise)?);
        let pat = self.loop_results(dsts, &like, &varying);
        self.push(pat, Rhs::If { cond, then, otherwise })
    }
}

impl Known {
    /// The value as an expression.
    pub(super) fn exp(&self) -> Exp {
        match self {
            Known::Scalar(exp) => exp.clone(),
            Known::Array(array) => Exp::Var(array.var),
        }
    }

    /// Its extents; none for a scalar.
    pub(super) fn shape(&self) -> &[Exp] {
        match self {
            Known::Scalar(_) => &[],
            Known::Array(array) => &array.shape,
        }
    }

    fn with_shape(&self, shape: Vec<Exp>) -> Known {
        match self {
            Known::Scalar(exp) => Known::Scalar(exp.clone()),
            Known::Array(array) => Known::Array(Rc::new(Named { shape, ..Named::clone(array) })),
        }
    }
}
