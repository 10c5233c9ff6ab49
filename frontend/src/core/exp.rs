//! Expressions.

use super::arrays::RangeEnds;
use super::build::{Builder, Built};
use super::ir::*;
use super::value::*;
use crate::names::{GlobalId, Res, ViewId};
use crate::syntax::ast::*;
use crate::types::Type;
use galopvm_base::scalar::{Precision, parse_float, parse_scalar};
use galopvm_base::{ElemType, Scalar, ScalarOp, Span};
use galopvm_bytecode::{Purpose, ValueType};
use std::rc::Rc;

/// Operations that are done whether the second operand of `&&` decides or not.
const CHEAP: usize = 6;
/// Operations of both branches that are done instead of a branch.
const FEW: usize = 3;

impl<'a> Builder<'_, 'a, '_, '_> {
    /// The value of an expression. It goes along `let`s and operators in a loop.
    pub(super) fn eval(&mut self, exp: &'a Exp<'a>, ctx: &Context<'a>) -> Built<Value<'a>> {
        match exp.kind {
            ExpKind::Let { .. } | ExpKind::LetFun { .. } | ExpKind::LetWith { .. } => self.lets(exp, ctx),
            ExpKind::BinOp(..) => self.operators(exp, ctx),
            _ => self.eval_one(exp, ctx),
        }
    }

    /// `let`s in each other's bodies, and the value of the innermost one.
    fn lets(&mut self, exp: &'a Exp<'a>, ctx: &Context<'a>) -> Built<Value<'a>> {
        let outer = self.fun.span;
        let (mut body, mut ctx, mut ids) = (exp, ctx.clone(), Vec::new());
        let value = loop {
            self.fun.span = Some(body.at.span);
            match self.let_head(body, &mut ctx) {
                Ok(Some(next)) => {
                    ids.push(body.at.id);
                    body = next;
                }
                Ok(None) => break self.eval(body, &ctx),
                Err(error) => break Err(error),
            }
        };
        if let Ok(value) = &value {
            ids.into_iter().rev().for_each(|id| self.bind_found(id, &ctx, value));
        }
        self.fun.span = outer;
        value
    }

    /// What a `let` binds, which the context then has; the body. Nothing for other expressions.
    fn let_head(&mut self, exp: &'a Exp<'a>, ctx: &mut Context<'a>) -> Built<Option<&'a Exp<'a>>> {
        Ok(Some(match exp.kind {
            ExpKind::Let { sizes, pat, value, body } => {
                let value = self.eval(value, ctx)?;
                self.bind_pat_sizes(ctx, pat, &value, &|id| sizes.iter().any(|n| n.at.id == id));
                self.bind(ctx, pat, &value)?;
                body
            }
            ExpKind::LetFun { fun, body } => {
                let local = LocalFun { type_params: fun.type_params, params: fun.params, body: fun.body };
                let callee = Callee::Local { fun: local, ctx: ctx.clone(), instance: Use::none() };
                ctx.bind(fun.name.at.id, Value::Fun(Rc::new(Closure { callee, args: Vec::new() })));
                body
            }
            ExpKind::LetWith { name, old, steps, value, body } => {
                let old = self.eval(old, ctx)?;
                let value = self.eval(value, ctx)?;
                let new = self.update(&old, steps, value, exp.at.span, ctx)?;
                ctx.bind(name.at.id, new);
                body
            }
            _ => return Ok(None),
        }))
    }

    /// Operators that group to the left, from the first operand.
    fn operators(&mut self, exp: &'a Exp<'a>, ctx: &Context<'a>) -> Built<Value<'a>> {
        let outer = self.fun.span;
        let (mut first, mut rest) = (exp, Vec::new());
        while let ExpKind::BinOp(op, left, right) = first.kind {
            rest.push((first.at, op, left, right));
            first = left;
        }
        // Each operand is evaluated where its operator stands.
        self.fun.span = rest.last().map(|(at, ..)| at.span);
        let mut value = self.eval(first, ctx);
        while let (Ok(left), Some((at, op, exp, right))) = (&value, rest.pop()) {
            self.fun.span = Some(at.span);
            value = self.binary(&op, (exp, left.clone()), right, at.span, ctx);
            if let Ok(value) = &value {
                self.bind_found(at.id, ctx, value);
            }
        }
        self.fun.span = outer;
        value
    }

    fn eval_one(&mut self, exp: &'a Exp<'a>, ctx: &Context<'a>) -> Built<Value<'a>> {
        let outer = self.fun.span.replace(exp.at.span);
        let value = self.eval_kind(exp, ctx);
        if let Ok(value) = &value {
            self.bind_found(exp.at.id, ctx, value);
        }
        self.fun.span = outer;
        value
    }

    fn eval_atom(&mut self, exp: &'a Exp<'a>, ctx: &Context<'a>) -> Built<Atom> {
        let value = self.eval(exp, ctx)?;
        self.atom(&value, exp.at.span)
    }

    /// An integer expression as i64.
    pub(super) fn eval_size(&mut self, exp: &'a Exp<'a>, ctx: &Context<'a>) -> Built<Atom> {
        let atom = self.eval_atom(exp, ctx)?;
        let from = self.fun.type_of(atom).elem;
        Ok(self.fun.convert(from, ElemType::I64, atom))
    }

    fn eval_all(&mut self, exps: &'a [Exp<'a>], ctx: &Context<'a>) -> Built<Vec<Value<'a>>> {
        exps.iter().map(|e| self.eval(e, ctx)).collect()
    }

    fn eval_kind(&mut self, exp: &'a Exp<'a>, ctx: &Context<'a>) -> Built<Value<'a>> {
        let span = exp.at.span;
        match exp.kind {
            ExpKind::Literal(scalar) => Ok(Value::Atom(Atom::Const(scalar))),
            ExpKind::Number(number) => {
                let Type::Prim(ty) = self.transparent(&self.type_of(exp, ctx)) else {
                    return self.refuse(span, "this literal");
                };
                Ok(Value::Atom(Atom::Const(number_value(number, ty))))
            }
            ExpKind::String(bytes, _) => {
                let rows = bytes.iter().map(|b| Atom::Const(Scalar::new(ElemType::U8, *b as u64))).collect();
                let ty = ValueType::array(ElemType::U8, 1);
                let atom = self.fun.emit(Op::Array { ty: ElemType::U8, rank: 1, rows }, ty);
                self.fun.know(atom, 0, Atom::i64(bytes.len() as i64));
                Ok(Value::Atom(atom))
            }
            ExpKind::Var(name) => self.occurrence(exp.at.id, &name, span, ctx),
            ExpKind::Hole => {
                let ty = self.type_of(exp, ctx);
                self.hole(&ty, span, ctx)
            }
            ExpKind::Match(value, cases) => {
                let value = self.eval(value, ctx)?;
                self.match_exp(&value, cases, span, ctx)
            }
            ExpKind::Constr(name, args) => self.constructor(exp, name, args, ctx),
            ExpKind::Error => self.refuse(span, "this expression"),
            ExpKind::Parens(inner) | ExpKind::QualParens(_, inner) => self.eval(inner, ctx),
            ExpKind::Attr(Attr { name: name @ ("blank" | "scratch"), args: None, .. }, inner) => {
                self.unread(name == "blank", inner, ctx)
            }
            ExpKind::Attr(attr, inner) => {
                // `#[unsafe]` drops assertions; what is not one of these is a hint.
                let unchecked = u32::from(attr.name == "unsafe");
                self.fun.unchecked += unchecked;
                let value = self.eval(inner, ctx);
                self.fun.unchecked -= unchecked;
                let value = value?;
                match (attr.name, attr.args) {
                    ("trace", None) => {
                        self.show("", Purpose::Value, &self.type_of(inner, ctx), &value, span);
                    }
                    ("trace", Some([tag])) => {
                        self.show(tag.name, Purpose::Value, &self.type_of(inner, ctx), &value, span);
                    }
                    ("break", None) => {
                        self.show_names(exp.at.id, &value, span, ctx);
                        self.show("", Purpose::Stop, &self.type_of(inner, ctx), &value, span);
                    }
                    ("stripmine", Some([levels])) if let ExpKind::Loop { .. } = inner.kind => {
                        self.in_levels(levels.name, &value);
                    }
                    ("param", Some([name])) => return Ok(self.parameter(name.name, value)),
                    _ => {}
                }
                Ok(value)
            }
            ExpKind::Tuple(items) => Ok(Value::tuple(self.eval_all(items, ctx)?)),
            ExpKind::Record(fields) => {
                let mut values: Vec<(Rc<str>, Value<'a>)> = Vec::new();
                for (name, value) in fields {
                    let value = match value {
                        Some(value) => self.eval(value, ctx)?,
                        None => {
                            let parts = self.checker.names.arena.alloc_slice_copy(&[*name]);
                            self.occurrence(name.at.id, &QualName { parts }, span, ctx)?
                        }
                    };
                    values.push((name.text.into(), value));
                }
                values.sort_by(|a, b| crate::types::field_order(&a.0, &b.0));
                Ok(Value::Record(values.into()))
            }
            ExpKind::Array(items) => {
                let values = self.eval_all(items, ctx)?;
                self.array_of(&values, Some((exp, ctx)), span)
            }
            ExpKind::Project(inner, field) => {
                let value = self.eval(inner, ctx)?;
                self.project(&value, field.text, span)
            }
            ExpKind::Index(inner, dims) => {
                let value = self.eval(inner, ctx)?;
                let dims = self.dims(dims, ctx)?;
                self.index(&value, &dims, span)
            }
            ExpKind::Apply(head, args) => {
                let function = self.eval(head, ctx)?;
                let args = self.eval_all(args, ctx)?;
                if let Some(value) = args.first() {
                    self.show_names(head.at.id, value, span, ctx);
                }
                self.apply(function, args, span)
            }
            ExpKind::Negate(inner) => {
                if let ExpKind::Number(number) = inner.kind
                    && let Type::Prim(ty) = self.transparent(&self.type_of(inner, ctx))
                {
                    let value = Atom::Const(number_value(number, ty));
                    return Ok(Value::Atom(self.fun.scalar(ScalarOp::Neg, ty, &[value])));
                }
                self.unary(ScalarOp::Neg, inner, ctx)
            }
            ExpKind::Not(inner) => self.unary(ScalarOp::Not, inner, ctx),
            ExpKind::Lambda(params, _, body) => {
                let fun = LocalFun { type_params: &[], params, body };
                let callee = Callee::Local { fun, ctx: ctx.clone(), instance: Use::none() };
                Ok(Value::Fun(Rc::new(Closure { callee, args: Vec::new() })))
            }
            ExpKind::Section(op) => self.occurrence(op.at.id, &op.name, span, ctx),
            ExpKind::SectionLeft(op, left) => {
                let function = self.occurrence(op.at.id, &op.name, span, ctx)?;
                let left = self.eval(left, ctx)?;
                self.apply(function, vec![left], span)
            }
            ExpKind::SectionRight(op, right) => {
                let function = self.occurrence(op.at.id, &op.name, span, ctx)?;
                let right = self.eval(right, ctx)?;
                let callee = Callee::Right(function, right);
                Ok(Value::Fun(Rc::new(Closure { callee, args: Vec::new() })))
            }
            ExpKind::SectionPath(steps) => {
                let callee = Callee::Path(steps, ctx.clone());
                Ok(Value::Fun(Rc::new(Closure { callee, args: Vec::new() })))
            }
            ExpKind::If(condition, yes, no) => {
                let condition = self.eval_atom(condition, ctx)?;
                self.if_exp(condition, span, &mut |b| b.eval(yes, ctx), &mut |b| b.eval(no, ctx))
            }
            ExpKind::BinOp(..) | ExpKind::Let { .. } | ExpKind::LetFun { .. } | ExpKind::LetWith { .. } => {
                self.eval(exp, ctx)
            }
            ExpKind::Loop { .. } => self.loop_exp(exp, ctx),
            ExpKind::Range { first, second, kind, last } => {
                self.range(span, RangeEnds { first, second, kind, last }, ctx)
            }
            ExpKind::Update(inner, steps, value) => {
                let old = self.eval(inner, ctx)?;
                let value = self.eval(value, ctx)?;
                self.update(&old, steps, value, span, ctx)
            }
            ExpKind::Assert(condition, value) => {
                let text = self.checker.names.sources.snippet(condition.at.span);
                let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
                // Braces would be taken for places of arguments.
                let text = text.replace("{}", "{ }");
                let message = format!("Assertion is false: {text}");
                let cond = self.eval_atom(condition, ctx)?;
                self.fun.assert(cond, message, Vec::new());
                self.eval(value, ctx)
            }
            ExpKind::Ascript(inner, ty) => {
                let value = self.eval(inner, ctx)?;
                self.know_written(ctx, ty, &value);
                Ok(value)
            }
            ExpKind::Coerce(inner, ty) => {
                let value = self.eval(inner, ctx)?;
                if let Some(wanted) = self.checker.types.get(ty.at.id).cloned() {
                    let wanted = self.checker.vars.substitute(&wanted, &ctx.types);
                    self.check_coercion(ctx, &wanted, &value);
                }
                Ok(value)
            }
        }
    }

    /// Shows a value to whoever listens; functions cannot be shown. Without a label the place is what it is called.
    pub(super) fn show(&mut self, label: &str, purpose: Purpose, ty: &Type, value: &Value<'a>, span: Span) {
        if !can_be_shown(value) {
            return;
        }
        let values = value.parts();
        let form = self.form(ty, values.len(), span);
        let purpose = purpose.number();
        self.fun.emit_all(Op::Trace { label: label.to_string(), form, purpose, values }, &[]);
    }

    /// Where a debugger may stop with a value: what the names mean that are visible there.
    fn show_names(&mut self, stop: NodeId, value: &Value<'a>, span: Span, ctx: &Context<'a>) {
        if !can_be_shown(value) {
            return;
        }
        let visible = self.checker.names.at_stops.as_ref().and_then(|stops| stops.get(&stop)).cloned();
        for (name, id) in visible.unwrap_or_default() {
            let (Some(ty), Some(value)) = (self.checker.local(id).cloned(), ctx.get(id)) else { continue };
            let ty = self.checker.vars.substitute(&ty, &ctx.types);
            let value = match &value {
                Value::Size(size) => self.force(size).map(Value::Atom),
                _ => Some(value),
            };
            if let Some(value) = value {
                self.show(name, Purpose::Name, &ty, &value, span);
            }
        }
    }

    /// A tuning parameter, whose value is this one unless the host gives another. Only `i64` can be given.
    fn parameter(&mut self, name: &str, default: Value<'a>) -> Value<'a> {
        match default {
            Value::Atom(atom) if self.fun.type_of(atom) == ValueType::scalar(ElemType::I64) => {
                let (given, value) = self.fun.param(name);
                Value::Atom(self.fun.scalar(ScalarOp::Select, ElemType::I64, &[given, value, atom]))
            }
            other => other,
        }
    }

    /// The program ends here; what follows is given parts that never get a value.
    pub(super) fn hole(&mut self, ty: &Type, span: Span, ctx: &Context<'a>) -> Built<Value<'a>> {
        let shown = self.checker.vars.show(ty).replace("{}", "{ }");
        if let Type::Arrow(..) = self.transparent(ty) {
            let callee = Callee::Hole(Rc::new(ty.clone()), ctx.clone(), span);
            return Ok(Value::Fun(Rc::new(Closure { callee, args: Vec::new() })));
        }
        let structure = self.structure(ty, span)?;
        let fail = Op::Fail { message: format!("Reached hole of type: {shown}"), args: Vec::new() };
        let parts = self.fun.emit_all(fail, &structure.types());
        Ok(structure.fill(&mut parts.into_iter()))
    }

    fn unary(&mut self, op: ScalarOp, inner: &'a Exp<'a>, ctx: &Context<'a>) -> Built<Value<'a>> {
        let atom = self.eval_atom(inner, ctx)?;
        let ty = self.fun.type_of(atom).elem;
        Ok(Value::Atom(self.fun.scalar(op, ty, &[atom])))
    }

    /// What an occurrence of a name is, projections included.
    fn occurrence(
        &mut self,
        id: NodeId,
        name: &QualName<'a>,
        span: Span,
        ctx: &Context<'a>,
    ) -> Built<Value<'a>> {
        let Some(used) = self.checker.names.uses.get(&id).copied() else {
            return self.refuse(span, "this name");
        };
        let instance = self.instance(id, ctx);
        let mut value = self.resolved(used.res, instance, span, ctx)?;
        for field in &name.parts[name.parts.len() - used.fields..] {
            value = self.project(&value, field.text, span)?;
        }
        Ok(value)
    }

    pub(super) fn resolved(
        &mut self,
        res: Res,
        instance: Use<'a>,
        span: Span,
        ctx: &Context<'a>,
    ) -> Built<Value<'a>> {
        let callee = match res {
            Res::Local(id) => {
                let Some(value) = ctx.get(id) else { return self.refuse(span, "this use of a size") };
                if let Value::Size(size) = &value {
                    return match self.force(size) {
                        Some(atom) => Ok(Value::Atom(atom)),
                        None => self.refuse(span, "this use of a size"),
                    };
                }
                // A local function that is polymorphic takes what this use chose.
                if let Value::Fun(closure) = &value
                    && let Callee::Local { fun, ctx, .. } = &closure.callee
                    && !(instance.types.is_empty() && instance.sizes.is_empty())
                {
                    let callee = Callee::Local { fun: *fun, ctx: ctx.clone(), instance };
                    return Ok(Value::Fun(Rc::new(Closure { callee, args: closure.args.clone() })));
                }
                return Ok(value);
            }
            Res::Global(id) => {
                if self.checker.names.globals[id].bind.params.is_empty() {
                    return self.constant(id, &instance, span);
                }
                Callee::Global(id, self.complete(id, instance, ctx))
            }
            Res::View(id) => return self.view(id, &instance, span, ctx),
            Res::Intrinsic(row) => Callee::Intrinsic(row, instance),
            Res::Member(_, galopvm_stdlib::Member::Const(scalar)) => {
                return Ok(Value::Atom(Atom::Const(scalar)));
            }
            Res::Member(ty, member) => Callee::Member(ty, member),
            Res::Operator(op) => Callee::Operator(op),
            Res::TypeParam(_) | Res::Abbr(_) | Res::Prim(_) | Res::Error => {
                return self.refuse(span, "this name");
            }
        };
        Ok(Value::Fun(Rc::new(Closure { callee, args: Vec::new() })))
    }

    /// What stands behind a term of a module type.
    pub(super) fn view(
        &mut self,
        id: ViewId,
        instance: &Use<'a>,
        span: Span,
        ctx: &Context<'a>,
    ) -> Built<Value<'a>> {
        let Some((res, chosen)) = self.checker.names.views[id].target.clone() else {
            return self.refuse(span, "a parametric module that is not applied");
        };
        let mut scope = ctx.clone();
        scope.types = ctx.types.iter().chain(instance.types.iter()).cloned().collect();
        instance.sizes.iter().for_each(|(id, value)| scope.bind(*id, value.clone()));
        let behind = self.use_of(&chosen, &scope);
        self.resolved(res, behind, span, ctx)
    }

    /// The value of a top-level constant, computed once at the beginning of the function being built.
    pub(super) fn constant(&mut self, id: GlobalId, instance: &Use<'a>, span: Span) -> Built<Value<'a>> {
        if let Some(value) = self.constants.get(&id) {
            return Ok(value.clone());
        }
        let polymorphic = !self.checker.global(id).params.is_empty();
        if polymorphic {
            return self.expand_global(id, instance, Vec::new(), span);
        }
        let aside = self.fun.at_root();
        let soacs = std::mem::take(&mut self.fun.soacs);
        self.opening.push(id);
        let value = self.expand_global(id, instance, Vec::new(), span);
        self.opening.pop();
        self.fun.soacs = soacs;
        self.fun.back(aside);
        let value = value?;
        self.constants.insert(id, value.clone());
        Ok(value)
    }

    pub(super) fn project(&self, value: &Value<'a>, field: &str, span: Span) -> Built<Value<'a>> {
        match value.field(field) {
            Some(part) => Ok(part.clone()),
            None => self.refuse(span, "this projection"),
        }
    }

    fn binary(
        &mut self,
        op: &OpName<'a>,
        (left, a): (&'a Exp<'a>, Value<'a>),
        right: &'a Exp<'a>,
        span: Span,
        ctx: &Context<'a>,
    ) -> Built<Value<'a>> {
        let res = self.checker.names.uses.get(&op.at.id).map_or(Res::Error, |u| u.res);
        if let Res::Operator(logic @ ("&&" | "||")) = res {
            let condition = self.atom(&a, left.at.span)?;
            return self.logic(logic == "&&", condition, span, &mut |b| b.eval(right, ctx));
        }
        let b = self.eval(right, ctx)?;
        match res {
            Res::Operator("<|") => return self.apply(a, vec![b], span),
            Res::Operator("|>") => return self.apply(b, vec![a], span),
            _ => {}
        }
        let function = self.occurrence(op.at.id, &op.name, span, ctx)?;
        self.apply(function, vec![a, b], span)
    }

    /// `a && b` or `a || b`: `b` is evaluated only if it decides, unless it is cheap and cannot fail.
    pub(super) fn logic(
        &mut self,
        and: bool,
        a: Atom,
        span: Span,
        b: &mut dyn FnMut(&mut Self) -> Built<Value<'a>>,
    ) -> Built<Value<'a>> {
        if let Some(value) = self.fun.fact(a) {
            return if value == and { b(self) } else { Ok(Value::Atom(Atom::bool(value))) };
        }
        self.fun.begin(&[]);
        self.fun.learn(a, and);
        let value = b(self)?;
        let rest = self.atom(&value, span)?;
        let block = self.fun.end(vec![rest]);
        let op = if and { ScalarOp::And } else { ScalarOp::Or };
        if block.stms.len() <= CHEAP && block.stms.iter().all(is_cheap) {
            self.fun.splice(block);
            return Ok(Value::Atom(self.fun.scalar(op, ElemType::Bool, &[a, rest])));
        }
        let fixed = Block { results: vec![Atom::bool(!and)], ..Block::default() };
        let (yes, no) = if and { (block, fixed) } else { (fixed, block) };
        let bool_type = [ValueType::scalar(ElemType::Bool)];
        Ok(Value::Atom(self.fun.emit_all(Op::If { cond: a, then: yes, otherwise: no }, &bool_type)[0]))
    }

    pub(super) fn if_exp(
        &mut self,
        condition: Atom,
        span: Span,
        yes: &mut dyn FnMut(&mut Self) -> Built<Value<'a>>,
        no: &mut dyn FnMut(&mut Self) -> Built<Value<'a>>,
    ) -> Built<Value<'a>> {
        if let Some(value) = self.fun.fact(condition) {
            return if value { yes(self) } else { no(self) };
        }
        self.fun.begin(&[]);
        self.fun.learn(condition, true);
        let a = yes(self)?;
        let structure = self.structure_of(&a, span)?;
        let (yes, one) = self.end_branch(a.parts());
        self.fun.begin(&[]);
        self.fun.learn(condition, false);
        let b = no(self)?;
        let (no, other) = self.end_branch(b.parts());
        let shapes: Vec<Vec<Option<Atom>>> = (one.into_iter().zip(other))
            .map(|(a, b)| a.into_iter().zip(b).map(|(a, b)| a.filter(|_| a == b)).collect())
            .collect();
        let parts = self.merge(condition, yes, no, &structure.types());
        for (part, shape) in parts.iter().zip(&shapes) {
            self.know_all(*part, shape);
        }
        Ok(structure.fill(&mut parts.into_iter()))
    }

    /// Closes a branch; also gives what is known outside of it about the extents of its results.
    fn end_branch(&mut self, results: Vec<Atom>) -> (Block, Vec<Vec<Option<Atom>>>) {
        let mut shapes: Vec<Vec<Option<Atom>>> = results.iter().map(|r| self.fun.known_shape(*r)).collect();
        let block = self.fun.end(results);
        for extent in shapes.iter_mut().flatten() {
            *extent = extent.filter(|e| self.fun.visible(*e));
        }
        (block, shapes)
    }

    /// The results of two branches made one. Those that both take from outside need no branch.
    fn merge(&mut self, condition: Atom, mut yes: Block, mut no: Block, types: &[ValueType]) -> Vec<Atom> {
        // A few operations cost less than a branch.
        let few = yes.stms.len() + no.stms.len() <= FEW && types.iter().all(|t| t.is_scalar());
        let flat = few && yes.stms.iter().chain(&no.stms).all(is_cheap);
        if flat {
            let (one, other) = (std::mem::take(&mut yes.stms), std::mem::take(&mut no.stms));
            self.fun.splice(Block { stms: one, ..Block::default() });
            self.fun.splice(Block { stms: other, ..Block::default() });
        }
        let mut merged: Vec<Option<Atom>> = Vec::new();
        for ((a, b), ty) in yes.results.iter().zip(&no.results).zip(types) {
            let constants = a.constant().is_some() && b.constant().is_some();
            merged.push(if a == b && self.fun.visible(*a) {
                Some(*a)
            } else if ty.is_scalar() && (flat || constants) {
                Some(self.fun.scalar(ScalarOp::Select, ty.elem, &[condition, *a, *b]))
            } else {
                None
            });
        }
        let left: Vec<usize> = (0..types.len()).filter(|k| merged[*k].is_none()).collect();
        if !left.is_empty() || !flat {
            yes.results = left.iter().map(|k| yes.results[*k]).collect();
            no.results = left.iter().map(|k| no.results[*k]).collect();
            let types: Vec<ValueType> = left.iter().map(|k| types[*k]).collect();
            let parts = self.fun.emit_all(Op::If { cond: condition, then: yes, otherwise: no }, &types);
            for (k, part) in left.into_iter().zip(parts) {
                merged[k] = Some(part);
            }
        }
        merged.into_iter().flatten().collect()
    }

    /// An array of values; the expression it stands for tells the extents if there are no values.
    pub(super) fn array_of(
        &mut self,
        values: &[Value<'a>],
        exp: Option<(&Exp<'a>, &Context<'a>)>,
        span: Span,
    ) -> Built<Value<'a>> {
        let values: Vec<Value<'a>> = values.iter().map(Value::element).collect();
        let structure = match (values.first(), exp) {
            (Some(first), _) => self.structure_of(first, span)?.array_of(),
            (None, Some((exp, ctx))) => {
                let ty = self.type_of(exp, ctx);
                return self.blank(&ty, span, ctx);
            }
            (None, None) => return self.refuse(span, "an empty array here"),
        };
        let rows: Vec<Vec<Atom>> = values.iter().map(Value::parts).collect();
        let mut parts = Vec::new();
        for (i, ty) in structure.types().into_iter().enumerate() {
            let column: Vec<Atom> = rows.iter().filter_map(|r| r.get(i).copied()).collect();
            let inner: Vec<Option<Atom>> = (0..ty.rank as u32 - 1)
                .map(|d| column.first().and_then(|row| self.fun.known(*row, d)))
                .collect();
            let atom = self.fun.emit(Op::Array { ty: ty.elem, rank: ty.rank as u32, rows: column }, ty);
            self.fun.know(atom, 0, Atom::i64(values.len() as i64));
            for (d, extent) in inner.into_iter().enumerate() {
                if let Some(extent) = extent {
                    self.fun.know(atom, d as u32 + 1, extent);
                }
            }
            parts.push(atom);
        }
        Ok(structure.fill(&mut parts.into_iter()))
    }
}

/// True if a statement cannot fail and costs no more than a branch.
fn is_cheap(stm: &Stm) -> bool {
    match stm.op.as_scalar() {
        Some((op, ..)) => stm.is_pure() && op.info().precision == Precision::Exact,
        None => matches!(stm.op, Op::Convert { .. } | Op::Dim { .. }),
    }
}

/// A literal in its type.
fn number_value(number: Number<'_>, ty: ElemType) -> Scalar {
    match number {
        Number::Int(value) if ty.is_float() => parse_scalar(&format!("{value}{ty}")),
        Number::Int(value) => Some(Scalar::new(ty, value as u64)),
        Number::Float(text) => parse_float(ty, text),
    }
    // The lexer lets only digits through.
    .unwrap_or(Scalar::new(ty, 0))
}

/// Functions cannot be shown, nor what is no value of a program.
fn can_be_shown(value: &Value<'_>) -> bool {
    !value.has_function() && !matches!(value, Value::Acc(..) | Value::Size(_))
}
