//! What is under way: a stack of bodies and constructs, advanced one statement at a time. The iterations of a kernel
//! are tasks of their own with names of their own; which of them advances is left to chance.

use super::Machine;
use super::memory::Array;
use super::names::{Names, Val};
use galopvm_base::Scalar;
use galopvm_kir::{Axis, Body, Combine, Rhs, Stm};

/// A sequential execution.
pub struct Task<'a> {
    pub names: Names,
    pub stack: Vec<Frame<'a>>,
    /// It is an iteration of a kernel.
    pub inner: bool,
}

/// A construct that has begun.
pub enum Frame<'a> {
    /// Statements of a body, the next one.
    Body { body: &'a Body, next: usize },
    /// A loop in a round; the number of rounds, if it is known.
    Loop { stm: &'a Stm, round: i64, trips: Option<i64> },
    /// A branch.
    If { stm: &'a Stm, body: &'a Body },
    /// Iterations in no order.
    Parallel(Parallel<'a>),
    /// Combining what the iterations of a reduction or scan gave.
    Fold {
        stm: &'a Stm,
        combine: &'a Combine,
        items: Vec<Vec<Val>>,
        next: usize,
        acc: Vec<Val>,
        rows: Vec<Array>,
    },
}

/// The iterations of a kernel, reduction or scan.
pub struct Parallel<'a> {
    pub stm: &'a Stm,
    pub axes: &'a [Axis],
    pub body: &'a Body,
    pub shape: Vec<i64>,
    /// The order in which iterations begin.
    pub order: Vec<usize>,
    pub next: usize,
    /// Most iterations that are under way at a time.
    pub window: usize,
    pub running: Vec<(usize, Task<'a>)>,
    /// A kernel's results.
    pub rows: Vec<Array>,
    /// What the iterations of a reduction or scan gave.
    pub items: Vec<Vec<Val>>,
}

impl<'a> Task<'a> {
    /// The outermost task.
    pub fn new(names: Names) -> Task<'a> {
        Task { names, stack: Vec::new(), inner: false }
    }
}

impl<'a> Machine<'a> {
    /// Begins a body.
    pub fn enter(&mut self, task: &mut Task<'a>, body: &'a Body) -> Result<(), String> {
        self.blocks_of(&mut task.names, body)?;
        task.stack.push(Frame::Body { body, next: 0 });
        Ok(())
    }

    /// Advances a task; whether it is done.
    pub fn step(&mut self, task: &mut Task<'a>) -> Result<bool, String> {
        match task.stack.last_mut() {
            None => return Ok(true),
            Some(Frame::Body { body, next }) => {
                let body: &'a Body = body;
                if let Some(stm) = body.stms.get(*next) {
                    *next += 1;
                    self.start(task, stm)?;
                } else {
                    task.stack.pop();
                    self.after_body(task)?;
                }
            }
            Some(Frame::Parallel(_)) => {
                let Some(Frame::Parallel(mut parallel)) = task.stack.pop() else { return Ok(true) };
                if self.advance(task, &mut parallel)? {
                    self.after_iterations(task, parallel)?;
                } else {
                    task.stack.push(Frame::Parallel(parallel));
                }
            }
            Some(Frame::Fold { .. }) => self.fold(task)?,
            Some(Frame::Loop { .. } | Frame::If { .. }) => return Err("a construct without a body".into()),
        }
        Ok(task.stack.is_empty())
    }

    /// What comes after the body of the construct on top.
    fn after_body(&mut self, task: &mut Task<'a>) -> Result<(), String> {
        match task.stack.last_mut() {
            None | Some(Frame::Body { .. } | Frame::Parallel(_)) => Ok(()),
            Some(Frame::If { stm, body }) => {
                let (stm, body) = (*stm, *body);
                task.stack.pop();
                let values = self.values(&task.names, &stm.pat, &body.results)?;
                self.bind_all(&mut task.names, &stm.pat, values)
            }
            Some(Frame::Loop { stm, round, .. }) => {
                *round += 1;
                let stm = *stm;
                if let Rhs::For { carried, body, .. } | Rhs::While { carried, body, .. } = &stm.rhs
                    && !carried.is_empty()
                {
                    let values = self.values(&task.names, carried, &body.results)?;
                    self.bind_all(&mut task.names, carried, values)?;
                }
                self.round(task)
            }
            Some(Frame::Fold { .. }) => {
                let Some(Frame::Fold { stm, combine, items, next, rows, .. }) = task.stack.pop() else {
                    return Ok(());
                };
                let acc = self.values(&task.names, &combine.acc, &combine.body.results)?;
                for (row, (var, value)) in rows.iter().zip(stm.pat.iter().zip(&acc)) {
                    let row = Array { block: row.block, view: row.view.fix(0, next as i64) };
                    self.store(&task.names, &row, *var, value)?;
                }
                task.stack.push(Frame::Fold { stm, combine, items, next: next + 1, acc, rows });
                Ok(())
            }
        }
    }

    /// Puts a value where a row of an array is.
    fn store(
        &mut self,
        names: &Names,
        row: &Array,
        var: galopvm_kir::VarId,
        value: &Val,
    ) -> Result<(), String> {
        match value {
            Val::Array(from) => {
                let reading =
                    names.blocks().iter().find(|(_, block)| **block == from.block).map(|(var, _)| *var);
                self.copy((from, reading.unwrap_or(var)), (row, var))
            }
            Val::Scalar(value) => self.put(row, row.view.offset, value.map(|v| v.bits), var),
        }
    }

    /// One step of one iteration; whether all are done.
    fn advance(&mut self, task: &mut Task<'a>, parallel: &mut Parallel<'a>) -> Result<bool, String> {
        while parallel.running.len() < parallel.window
            && let Some(&flat) = parallel.order.get(parallel.next)
        {
            parallel.next += 1;
            let mut child = Task { names: task.names.clone(), stack: Vec::new(), inner: true };
            let mut rest = flat as i64;
            for (axis, size) in parallel.axes.iter().zip(&parallel.shape).rev() {
                child.names.set(axis.var, Val::Scalar(Some(Scalar::i64(rest % size))));
                rest /= size;
            }
            self.enter(&mut child, parallel.body)?;
            parallel.running.push((flat, child));
        }
        if parallel.running.is_empty() {
            return Ok(true);
        }
        let at = self.random.below(parallel.running.len() as u64) as usize;
        let around = self.iteration;
        self.iteration = around.or(Some(parallel.running[at].0));
        let done = self.step(&mut parallel.running[at].1)?;
        if done {
            let (flat, child) = parallel.running.swap_remove(at);
            self.finish(parallel, flat, &child.names)?;
        }
        self.iteration = around;
        Ok(false)
    }

    /// What an iteration gives.
    fn finish(&mut self, parallel: &mut Parallel<'a>, flat: usize, names: &Names) -> Result<(), String> {
        let results = &parallel.body.results;
        if !matches!(parallel.stm.rhs, Rhs::Kernel { .. }) {
            let elems = results.iter().map(|exp| self.region.exp_type(exp));
            let elems: Vec<_> = elems.map(|elem| elem.unwrap_or(galopvm_base::ElemType::I64)).collect();
            for (exp, elem) in results.iter().zip(elems) {
                let value = self.value(names, exp, elem)?;
                parallel.items[flat].push(value);
            }
            return Ok(());
        }
        let mut index = vec![0; parallel.shape.len()];
        let mut rest = flat as i64;
        for (at, size) in index.iter_mut().zip(&parallel.shape).rev() {
            *at = rest % size;
            rest /= size;
        }
        for ((var, exp), array) in parallel.stm.pat.iter().zip(results).zip(&parallel.rows) {
            let view = index.iter().fold(array.view.clone(), |view, i| view.fix(0, *i));
            let row = Array { block: array.block, view };
            match self.array(names, exp)? {
                Some((from, name)) => self.copy((&from, name), (&row, *var))?,
                None => {
                    let value = self.scalar(names, exp, self.elem(*var))?.map(|v| v.bits);
                    if self.layout.forced.contains_key(var) {
                        let old = self.memory.get(row.block, row.view.offset)?;
                        self.changed.insert(flat as i64, old != value);
                    }
                    self.put(&row, row.view.offset, value, *var)?;
                }
            }
        }
        Ok(())
    }

    fn after_iterations(&mut self, task: &mut Task<'a>, parallel: Parallel<'a>) -> Result<(), String> {
        let (stm, items) = (parallel.stm, parallel.items);
        match &stm.rhs {
            Rhs::Reduce { combine, .. } | Rhs::Scan { combine, .. } => {
                let acc = self.values(&task.names, &combine.acc, &combine.neutral)?;
                let mut rows = Vec::new();
                if let Rhs::Scan { .. } = &stm.rhs {
                    for var in &stm.pat {
                        rows.push(self.make(&mut task.names, *var)?);
                    }
                }
                task.stack.push(Frame::Fold { stm, combine, items, next: 0, acc, rows });
                Ok(())
            }
            _ => {
                let values = parallel.rows.into_iter().map(Val::Array).collect();
                self.bind_all(&mut task.names, &stm.pat, values)
            }
        }
    }

    /// The next application of an operator, or the end.
    fn fold(&mut self, task: &mut Task<'a>) -> Result<(), String> {
        let Some(Frame::Fold { stm, combine, mut items, next, acc, rows }) = task.stack.pop() else {
            return Ok(());
        };
        if next < items.len() {
            self.bind_all(&mut task.names, &combine.acc, acc)?;
            self.bind_all(&mut task.names, &combine.item, std::mem::take(&mut items[next]))?;
            task.stack.push(Frame::Fold { stm, combine, items, next, acc: Vec::new(), rows });
            return self.enter(task, &combine.body);
        }
        let mut values: Vec<Val> = rows.into_iter().map(Val::Array).collect();
        if matches!(stm.rhs, Rhs::Reduce { .. }) {
            for (var, value) in stm.pat.iter().zip(acc) {
                values.push(match value {
                    Val::Array(_) => {
                        let to = self.make(&mut task.names, *var)?;
                        self.store(&task.names, &to, *var, &value)?;
                        Val::Array(to)
                    }
                    scalar => scalar,
                });
            }
        }
        self.bind_all(&mut task.names, &stm.pat, values)
    }
}
