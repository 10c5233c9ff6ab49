//! Loops.

use super::arrays::RangeEnds;
use super::build::{Builder, Built};
use super::ir::*;
use super::value::*;
use crate::names::Res;
use crate::syntax::ast::*;
use galopvm_base::ElemType;
use galopvm_bytecode::ValueType;
use std::rc::Rc;

/// Builds one turn of a loop: the builder, the names in scope, the counter.
type Turn<'t, B, C> = dyn FnMut(&mut B, &mut C, Atom) -> Built<Vec<Atom>> + 't;

/// What all turns of a loop share.
struct Turns<'t, 'a> {
    exp: &'a Exp<'a>,
    pat: &'a Pat<'a>,
    structure: &'t Structure,
    types: Vec<ValueType>,
}

impl<'a> Builder<'_, 'a, '_, '_> {
    /// A loop.
    pub(super) fn loop_exp(&mut self, exp: &'a Exp<'a>, ctx: &Context<'a>) -> Built<Value<'a>> {
        let ExpKind::Loop { pat, init, form, body, .. } = &exp.kind else {
            return self.refuse(exp.at.span, "this loop");
        };
        let span = exp.at.span;
        let init = match init {
            Some(init) => self.eval(init, ctx)?,
            None => self.implicit_init(pat, ctx)?,
        };
        let structure = self.structure_of(&init, span)?;
        let turns = Turns { exp, pat, structure: &structure, types: structure.types() };
        let op = match form {
            LoopForm::While(condition) => {
                let cond = self.turn(&turns, ctx, None, &mut |b, scope, _| {
                    let value = b.eval(condition, scope)?;
                    Ok(vec![b.atom(&value, condition.at.span)?])
                })?;
                let body =
                    self.turn(&turns, ctx, None, &mut |b, scope, _| Ok(b.eval(body, scope)?.parts()))?;
                Op::While { init: init.parts(), cond, body }
            }
            LoopForm::For(name, bound) => {
                let value = self.eval(bound, ctx)?;
                let given = self.atom(&value, bound.at.span)?;
                let elem = self.fun.type_of(given).elem;
                let bound = self.fun.convert(elem, ElemType::I64, given);
                let body = self.turn(&turns, ctx, Some(bound), &mut |b, scope, i| {
                    let i = b.fun.convert(ElemType::I64, elem, i);
                    scope.bind(name.at.id, Value::Atom(i));
                    Ok(b.eval(body, scope)?.parts())
                })?;
                Op::For { bound, init: init.parts(), body }
            }
            // No array is made of numbers that the counter tells.
            LoopForm::ForIn(element, Exp { kind: ExpKind::Range { first, second, kind, last }, .. }) => {
                let ends = RangeEnds { first, second: *second, kind: *kind, last };
                let range = self.range_numbers(ends, ctx)?;
                let body = self.turn(&turns, ctx, Some(range.count), &mut |b, scope, i| {
                    let number = b.range_number(&range, i);
                    b.bind(scope, element, &Value::Atom(number))?;
                    Ok(b.eval(body, scope)?.parts())
                })?;
                Op::For { bound: range.count, init: init.parts(), body }
            }
            LoopForm::ForIn(element, array) => {
                let array = self.eval(array, ctx)?;
                let bound = self.length(&array, span)?;
                let body = self.turn(&turns, ctx, Some(bound), &mut |b, scope, i| {
                    let row = b.index(&array, &[SliceDim::At(i)], span)?;
                    b.bind(scope, element, &row)?;
                    Ok(b.eval(body, scope)?.parts())
                })?;
                Op::For { bound, init: init.parts(), body }
            }
        };
        let parts = self.fun.emit_all(op, &turns.types);
        let value = structure.fill(&mut parts.into_iter());
        self.know_invariant(exp, ctx, &value);
        Ok(value)
    }

    /// Remembers how many levels of loops over blocks a loop is to be where it is gone through backwards.
    pub(super) fn in_levels(&mut self, levels: &str, value: &Value<'a>) {
        let Ok(levels) = levels.parse() else { return };
        self.fun.levels.extend(value.parts().iter().filter_map(|atom| Some((atom.var()?, levels))));
    }

    /// Remembers those extents of what a loop carries that no turn changes.
    fn know_invariant(&mut self, exp: &Exp<'a>, ctx: &Context<'a>, value: &Value<'a>) {
        let ty = self.type_of(exp, ctx);
        let changing = self.checker.exts.get(&exp.at.id).cloned().unwrap_or_default();
        self.know_sizes_except(ctx, &ty, value, &changing);
    }

    /// A block over the carried values, perhaps with a counter in front, which is below this bound.
    fn turn(
        &mut self,
        turns: &Turns<'_, 'a>,
        ctx: &Context<'a>,
        bound: Option<Atom>,
        inner: &mut Turn<'_, Self, Context<'a>>,
    ) -> Built<Block> {
        let counter = bound.map(|_| ValueType::scalar(ElemType::I64));
        let all: Vec<ValueType> = counter.into_iter().chain(turns.types.iter().copied()).collect();
        let params = self.fun.begin_repeated(&all);
        if let Some(bound) = bound {
            self.fun.number_below(params[0], bound);
        }
        let value = turns.structure.fill(&mut params[counter.iter().len()..].iter().copied());
        self.know_invariant(turns.exp, ctx, &value);
        let mut scope = ctx.inner();
        self.bind_found(turns.pat.at.id, &scope, &value);
        self.bind(&mut scope, turns.pat, &value)?;
        let results = inner(self, &mut scope, params.first().copied().unwrap_or(Atom::i64(0)))?;
        Ok(self.fun.end(results))
    }

    /// The initial value that a loop's pattern names.
    fn implicit_init(&mut self, pat: &'a Pat<'a>, ctx: &Context<'a>) -> Built<Value<'a>> {
        match pat.kind {
            PatKind::Id(_) => {
                let res = self.checker.names.uses.get(&pat.at.id).map_or(Res::Error, |u| u.res);
                self.resolved(res, Use::none(), pat.at.span, ctx)
            }
            PatKind::Parens(inner) | PatKind::Attr(_, inner) | PatKind::Ascript(inner, _) => {
                self.implicit_init(inner, ctx)
            }
            PatKind::Tuple(items) => {
                let items: Built<Vec<_>> = items.iter().map(|p| self.implicit_init(p, ctx)).collect();
                Ok(Value::tuple(items?))
            }
            PatKind::Record(fields) => {
                let mut values = Vec::new();
                for (name, field) in fields {
                    values.push((name.text.into(), self.implicit_init(field, ctx)?));
                }
                values.sort_by(|a: &(Rc<str>, _), b| crate::types::field_order(&a.0, &b.0));
                Ok(Value::Record(values.into()))
            }
            PatKind::Wildcard | PatKind::Lit(_) | PatKind::Constr(..) => {
                self.refuse(pat.at.span, "this loop")
            }
        }
    }
}
