//! Statements: those that take one step, and the beginnings of the others.

use super::Machine;
use super::memory::Array;
use super::names::{Names, Val};
use super::task::{Frame, Parallel, Task};
use galopvm_base::{ElemType, Scalar};
use galopvm_kir::{Exp, Rhs, Stm, VarId};

impl<'a> Machine<'a> {
    /// Binds a name; an array lies where the plan says.
    pub(super) fn bind(&mut self, names: &mut Names, var: VarId, value: Val) -> Result<(), String> {
        if let Val::Array(array) = &value
            && self.reused == 0
            && self.layout.forced.is_empty()
            && !self.layout.trusted
            && let Ok(Some(planned)) = self.planned(names, var)
            && !planned.is(array)
            && !array.view.is_empty()
            && !self.memory.is_shared(planned.block)
        {
            return Err(format!(
                "`{}` lies at {} of block {}, and should at {} of {}",
                self.region.name_of(var),
                array.view,
                array.block,
                planned.view,
                planned.block
            ));
        }
        self.bound.insert(var, self.time);
        names.set(var, value);
        Ok(())
    }

    pub(super) fn bind_all(
        &mut self,
        names: &mut Names,
        vars: &[VarId],
        values: Vec<Val>,
    ) -> Result<(), String> {
        vars.iter().zip(values).try_for_each(|(var, value)| self.bind(names, *var, value))
    }

    /// The values of expressions that are bound to names.
    pub(super) fn values(&mut self, names: &Names, vars: &[VarId], exps: &[Exp]) -> Result<Vec<Val>, String> {
        vars.iter().zip(exps).map(|(var, exp)| self.value(names, exp, self.elem(*var))).collect()
    }

    /// Executes a statement, or begins it.
    pub(super) fn start(&mut self, task: &mut Task<'a>, stm: &'a Stm) -> Result<(), String> {
        self.count(1)?;
        self.time += 1;
        match &stm.rhs {
            Rhs::Exps(exps) => {
                let values = self.values(&task.names, &stm.pat, exps)?;
                self.bind_all(&mut task.names, &stm.pat, values)
            }
            Rhs::Kernel { axes, body } | Rhs::Reduce { axes, body, .. } => {
                let mut shape = Vec::new();
                for axis in axes {
                    shape.push(self.int(&task.names, &axis.bound)?.max(0));
                }
                let mut rows = Vec::new();
                if matches!(stm.rhs, Rhs::Kernel { .. }) {
                    for var in &stm.pat {
                        rows.push(match self.over(task, stm, *var)? {
                            Some(array) => array,
                            None => self.make(&mut task.names, *var)?,
                        });
                    }
                }
                let parallel = self.parallel(stm, axes, body, shape, rows);
                task.stack.push(Frame::Parallel(parallel));
                Ok(())
            }
            Rhs::Scan { axis, body, .. } => {
                let shape = vec![self.int(&task.names, &axis.bound)?.max(0)];
                let parallel = self.parallel(stm, std::slice::from_ref(axis), body, shape, Vec::new());
                task.stack.push(Frame::Parallel(parallel));
                Ok(())
            }
            Rhs::For { carried, init, axis, .. } => {
                let trips = self.int(&task.names, &axis.bound)?;
                let values = self.values(&task.names, carried, init)?;
                self.bind_all(&mut task.names, carried, values)?;
                task.stack.push(Frame::Loop { stm, round: 0, trips: Some(trips) });
                self.round(task)
            }
            Rhs::While { carried, init, .. } => {
                let values = self.values(&task.names, carried, init)?;
                self.bind_all(&mut task.names, carried, values)?;
                task.stack.push(Frame::Loop { stm, round: 0, trips: None });
                self.round(task)
            }
            Rhs::If { cond, then, otherwise } => {
                let taken = self.scalar(&task.names, cond, ElemType::Bool)?;
                let body = if taken.is_some_and(|value| value.bits & 1 == 1) { then } else { otherwise };
                task.stack.push(Frame::If { stm, body });
                self.enter(task, body)
            }
            Rhs::Update { array, index, value } => {
                let (var, names) = (stm.pat[0], &mut task.names);
                let old = names.array(*array).cloned().ok_or("no array")?;
                // It stays where it is if the plan has both in one place.
                let place = self.layout.places.as_ref().and_then(|places| places.get(&var));
                let moved = place.is_some_and(|place| place.block != var);
                let planned = if moved { self.planned(names, var)? } else { None };
                // Where others hold the block, the first update of a chain copies, whatever the plan says.
                let held = planned.as_ref().is_some_and(|planned| self.memory.is_shared(planned.block));
                let stays = match planned {
                    Some(_) if held => !self.memory.is_shared(old.block),
                    Some(planned) => planned.is(&old),
                    None => false,
                };
                let new = if stays {
                    old
                } else {
                    let new = match held {
                        true => self.fresh(names, var)?,
                        false => self.make(names, var)?,
                    };
                    self.copy((&old, *array), (&new, var))?;
                    new
                };
                let part = Array { block: new.block, view: self.part(names, &new.view, index)? };
                match self.array(names, value)? {
                    Some((from, name)) => self.copy((&from, name), (&part, var))?,
                    None => {
                        let value = self.scalar(names, value, self.elem(var))?;
                        self.put(&part, part.view.offset, value.map(|v| v.bits), var)?;
                    }
                }
                self.bind(names, var, Val::Array(new))
            }
            Rhs::Scatter { .. } => panic!("the machine has no scatter"),
            Rhs::Array(op) => self.array_op(&mut task.names, stm.pat[0], op),
            Rhs::Manifest { array, .. } => {
                let from = task.names.array(*array).cloned().ok_or("no array")?;
                let to = self.make(&mut task.names, stm.pat[0])?;
                self.copy((&from, *array), (&to, stm.pat[0]))?;
                self.bind(&mut task.names, stm.pat[0], Val::Array(to))
            }
        }
    }

    fn parallel(
        &mut self,
        stm: &'a Stm,
        axes: &'a [galopvm_kir::Axis],
        body: &'a galopvm_kir::Body,
        shape: Vec<i64>,
        rows: Vec<Array>,
    ) -> Parallel<'a> {
        let count: i64 = shape.iter().product();
        let order = self.random.permutation(count as usize);
        let window = 1 << self.random.below(6);
        let items = (0..count).map(|_| Vec::new()).collect();
        Parallel { stm, axes, body, shape, order, next: 0, window, running: Vec::new(), rows, items }
    }

    /// The next round of the loop on top, or its end.
    pub(super) fn round(&mut self, task: &mut Task<'a>) -> Result<(), String> {
        let Some(Frame::Loop { stm, round, trips }) = task.stack.last() else { return Err("no loop".into()) };
        let (stm, round, trips) = (*stm, *round, *trips);
        let (carried, body) = match &stm.rhs {
            Rhs::For { carried, axis, body, .. } => {
                task.names.set(axis.var, Val::Scalar(Some(Scalar::i64(round))));
                (carried, body)
            }
            Rhs::While { carried, body, .. } => (carried, body),
            _ => return Err("no loop".into()),
        };
        let more = match (&stm.rhs, trips) {
            (_, Some(trips)) => round < trips,
            (Rhs::While { cond, .. }, None) => {
                self.scalar(&task.names, cond, ElemType::Bool)?.is_some_and(|value| value.bits & 1 == 1)
            }
            _ => false,
        };
        if more {
            return self.enter(task, body);
        }
        task.stack.pop();
        // A loop that carries nothing gives the values of its last round.
        let values = if carried.is_empty() {
            if round == 0 {
                return Err("no value of a loop without rounds".into());
            }
            self.values(&task.names, &stm.pat, &body.results)?
        } else {
            let exps: Vec<Exp> = carried.iter().map(|var| Exp::Var(*var)).collect();
            self.values(&task.names, &stm.pat, &exps)?
        };
        self.bind_all(&mut task.names, &stm.pat, values)
    }
}
