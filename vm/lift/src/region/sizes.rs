//! Sizes: over which names they are written, and what stands for one that is known inside a block only.
//!
//! A size that is made of what is outside a block is written over that. Any other becomes a scalar of its own: one that
//! the statement gives together with the array (loops and branches), or a name that nothing is known of (rows, which
//! all have one shape).

use super::record::{Known, Named, Recorder, Step};
use super::{ByName, Counter};
use galopvm_base::{ElemType, TypedId};
use galopvm_bytecode::RegId;
use galopvm_kir::algebra::simplified;
use galopvm_kir::{Exp, Name, Rhs, Stm, Type, VarId};
use std::rc::Rc;

/// Largest size that is written out instead of named.
const MOST_WRITTEN: usize = 48;

/// Most definitions that are put in, one inside the other.
const MOST_NESTED: usize = 16;

/// How far a recording was: what comes later can be forgotten.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    vars: usize,
    reads: u32,
    statements: usize,
}

/// What scalars are, as far as it can be said without reading memory.
#[derive(Default)]
pub(super) struct Definitions(ByName<Exp>);

impl Definitions {
    pub(super) fn add(&mut self, var: VarId, exp: &Exp) {
        let mut known = true;
        let mut size = 0;
        exp.visit(&mut |part| {
            known &= !matches!(part, Exp::Read(_) | Exp::Opaque(..));
            size += 1;
        });
        if known && size <= MOST_WRITTEN {
            self.0.set(var, exp.clone());
        }
    }

    /// An expression with the definitions of some names put in; nothing if one of these names has none, or it gets too
    /// long.
    fn over_others(&self, exp: &Exp, named: &dyn Fn(VarId) -> bool) -> Option<Exp> {
        let mut exp = exp.clone();
        for _ in 0..MOST_NESTED {
            let (mut open, mut size) = (false, 0);
            exp.visit(&mut |part| {
                open |= matches!(part, Exp::Var(var) if named(*var));
                size += 1;
            });
            if size > MOST_WRITTEN {
                return None;
            }
            if !open {
                return Some(simplified(&exp));
            }
            let mut unknown = false;
            exp.each_use(&mut |var| unknown |= named(var) && !self.0.has(var));
            if unknown {
                return None;
            }
            exp = exp.substitute(&|var| self.0.get(var).filter(|_| named(var)).cloned());
        }
        None
    }
}

impl Recorder<'_> {
    /// How far the recording is.
    pub(super) fn mark(&self) -> Mark {
        let statements = self.open.last().map_or(0, Vec::len);
        Mark { vars: self.region.vars.len(), reads: self.region.reads, statements }
    }

    /// Forgets what was recorded since, in a body that has been left since.
    pub(super) fn back_to(&mut self, mark: &Mark) {
        let first = VarId::from_index(mark.vars);
        self.region.vars.truncate(mark.vars);
        self.region.reads = mark.reads;
        self.registers.forget_from(first);
        self.inner.forget_from(first);
        self.makers.forget_from(first);
        self.counters.forget_from(first);
        self.never.split_off(&first);
        self.unread.split_off(&first);
        self.definitions.0.forget_from(first);
        if let Some(body) = self.open.last_mut() {
            body.truncate(mark.statements);
        }
    }

    /// A size over names that were there before; nothing if it depends on others.
    pub(super) fn outward(&self, extent: &Exp, mark: &Mark) -> Option<Exp> {
        self.definitions.over_others(extent, &|var| var.index() >= mark.vars)
    }

    /// Whether two sizes are one for sure.
    pub(super) fn is_same_size(&self, a: &Exp, b: &Exp) -> bool {
        if a == b {
            return true;
        }
        let spelled = |exp| self.definitions.over_others(exp, &|var| self.definitions.0.has(var));
        spelled(a).zip(spelled(b)).is_some_and(|(a, b)| a == b)
    }

    /// A name for a size, defined by others or by nothing at all.
    pub(super) fn size_name(&mut self) -> VarId {
        self.temporary(Type::scalar(ElemType::I64))
    }

    /// A size that nothing is known of.
    pub(super) fn unknown_size(&mut self) -> Step<Exp> {
        let var = self.size_name();
        self.push(vec![var], Rhs::Exps(vec![Exp::Opaque("size".into(), Vec::new())]))?;
        Ok(Exp::Var(var))
    }

    /// As many sizes that nothing is known of as an array has dimensions.
    pub(super) fn unknown_shape(&mut self, reg: RegId) -> Step<Vec<Exp>> {
        (0..self.code.regs[reg].rank).map(|_| self.unknown_size()).collect()
    }

    /// Says that a register's array never gets a value.
    pub(super) fn set_never(&mut self, reg: RegId) {
        if let Some(Known::Array(array)) = self.seen(reg) {
            self.never.insert(array.var);
        }
    }

    /// Whether a value never is one.
    pub(super) fn is_never(&self, value: &Known) -> bool {
        matches!(value, Known::Array(array) if self.never.contains(&array.var))
    }

    /// In a body that was left already: the same array under a name whose sizes are names.
    pub(super) fn with_named_sizes(&mut self, body: &mut Vec<Stm>, value: &Known) -> Step<Known> {
        let Known::Array(array) = value else { return Ok(value.clone()) };
        self.open.push(std::mem::take(body));
        let mut named = Named::clone(array);
        for extent in &mut named.shape {
            let name = self.size_name();
            self.push(vec![name], Rhs::Exps(vec![extent.clone()]))?;
            *extent = Exp::Var(name);
        }
        named.var = self.temporary(Type { elem: array.elem, shape: named.shape.clone() });
        self.push(vec![named.var], Rhs::Exps(vec![Exp::Var(array.var)]))?;
        *body = self.leave();
        Ok(Known::Array(Rc::new(named)))
    }

    /// An iteration variable.
    pub(super) fn counter(&mut self, counter: Counter) -> VarId {
        let ty = Type::scalar(ElemType::I64);
        let var = match counter {
            _ if self.calls.len() > 1 => return self.temporary(ty),
            Counter::Rows(block) => self.named(Name::numbered("row", block.index()), ty),
            Counter::Loop(reg) => self.name(reg, ty),
        };
        self.counters.set(var, counter);
        var
    }
}
