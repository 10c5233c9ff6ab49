//! Applications: functions expanded where they are applied, parameters bound.

use super::build::{Builder, Built};
use super::emit::Within;
use super::ir::*;
use super::value::*;
use crate::names::GlobalId;
use crate::syntax::ast::*;
use crate::types::{SchemeParam, Type};
use galopvm_base::{Diagnostic, ElemType, ScalarOp, Span};
use galopvm_stdlib::Member;
use std::rc::Rc;

/// Expansions inside expansions; a program that needs more is refused.
const MAX_DEPTH: usize = 400;
/// Expansions of one program; one that needs more is refused.
const MAX_EXPANSIONS: usize = 200_000;

impl<'a> Builder<'_, 'a, '_, '_> {
    /// A function applied to arguments, perhaps fewer or more than it takes at once.
    pub(super) fn apply(
        &mut self,
        function: Value<'a>,
        args: Vec<Value<'a>>,
        span: Span,
    ) -> Built<Value<'a>> {
        let mut function = function;
        let mut args = args.into_iter().peekable();
        while args.peek().is_some() {
            let Value::Fun(closure) = &function else { return self.refuse(span, "applying this") };
            let arity = self.arity(&closure.callee);
            let mut given = closure.args.clone();
            given.extend(args.by_ref().take(arity.saturating_sub(given.len())));
            let callee = closure.callee.clone();
            function = if given.len() < arity {
                Value::Fun(Rc::new(Closure { callee, args: given }))
            } else {
                self.invoke(callee, given, span)?
            };
        }
        Ok(function)
    }

    fn arity(&self, callee: &Callee<'a>) -> usize {
        match callee {
            Callee::Local { fun, .. } => fun.params.len(),
            Callee::Global(id, _) => self.checker.names.globals[*id].bind.params.len(),
            Callee::Intrinsic(row, _) => row.arity(),
            Callee::Member(_, Member::Op(op)) => op.arity(),
            Callee::Operator(op) if *op != "!" => 2,
            Callee::Member(..)
            | Callee::Operator(_)
            | Callee::Right(..)
            | Callee::Path(..)
            | Callee::Hole(..) => 1,
        }
    }

    fn invoke(&mut self, callee: Callee<'a>, args: Vec<Value<'a>>, span: Span) -> Built<Value<'a>> {
        if self.depth >= MAX_DEPTH {
            return self.refuse(span, "expanding functions this deep");
        }
        self.depth += 1;
        let result = self.invoke_inner(callee, args, span);
        self.depth -= 1;
        result
    }

    fn invoke_inner(&mut self, callee: Callee<'a>, args: Vec<Value<'a>>, span: Span) -> Built<Value<'a>> {
        match callee {
            Callee::Local { fun, ctx, instance } => self.expand_local(&fun, &ctx, &instance, &args),
            Callee::Global(id, instance) => self.invoke_global(id, &instance, args, span),
            Callee::Intrinsic(row, instance) => self.intrinsic(row, &instance, args, span),
            Callee::Member(ty, member) => {
                let atoms: Built<Vec<Atom>> = args.iter().map(|a| self.atom(a, span)).collect();
                let atoms = atoms?;
                Ok(Value::Atom(match member {
                    Member::Op(op) => self.scalar_op(op, ty, &atoms),
                    Member::From(from) => self.conversion(from, ty, atoms[0]),
                    Member::To(to) => self.conversion(ty, to, atoms[0]),
                    Member::Const(scalar) => Atom::Const(scalar),
                }))
            }
            Callee::Operator(op) => self.operator(op, args, span),
            Callee::Right(function, right) => {
                let mut both = args;
                both.push(right);
                self.apply(function, both, span)
            }
            Callee::Path(steps, ctx) => {
                let mut value = args.into_iter().next().unwrap_or(Value::tuple(Vec::new()));
                for step in steps {
                    value = match step {
                        Step::Field(name) => self.project(&value, name.text, span)?,
                        Step::Index(dims) => {
                            let dims = self.dims(dims, &ctx)?;
                            self.index(&value, &dims, span)?
                        }
                    };
                }
                Ok(value)
            }
            Callee::Hole(ty, ctx, place) => {
                let Type::Arrow(_, _, to) = self.transparent(&ty) else {
                    return self.refuse(span, "this hole");
                };
                let outer = self.fun.span.replace(place);
                let value = self.hole(&to, place, &ctx);
                self.fun.span = outer;
                value
            }
        }
    }

    /// A conversion as the language has it: from a signed to a wider unsigned type the bits are kept, and a float
    /// becomes an unsigned number by way of a signed one.
    fn conversion(&mut self, from: ElemType, to: ElemType, a: Atom) -> Atom {
        if from.is_float() && to.is_unsigned() && to != ElemType::U64 {
            let whole = self.fun.convert(from, ElemType::I64, a);
            return self.fun.convert(ElemType::I64, to, whole);
        }
        let unsigned = match from {
            ElemType::I8 => ElemType::U8,
            ElemType::I16 => ElemType::U16,
            ElemType::I32 => ElemType::U32,
            _ => from,
        };
        if to.is_unsigned() && unsigned != from {
            let bits = self.fun.convert(from, unsigned, a);
            return self.fun.convert(unsigned, to, bits);
        }
        self.fun.convert(from, to, a)
    }

    /// A scalar operation as the language has it: integer powers need an exponent that is not negative.
    fn scalar_op(&mut self, op: ScalarOp, ty: ElemType, args: &[Atom]) -> Atom {
        if let (ScalarOp::Pow, [_, exponent]) = (op, args)
            && ty.is_signed()
        {
            let zero = Atom::Const(galopvm_base::Scalar::from_int(ty, 0));
            let valid = self.fun.scalar(ScalarOp::Ge, ty, &[*exponent, zero]);
            self.fun.assert(valid, "negative exponent".to_string(), Vec::new());
        }
        self.fun.scalar(op, ty, args)
    }

    pub(super) fn operator(&mut self, op: &str, args: Vec<Value<'a>>, span: Span) -> Built<Value<'a>> {
        match (op, args.as_slice()) {
            ("|>", [a, f]) => self.apply(f.clone(), vec![a.clone()], span),
            ("<|", [f, a]) => self.apply(f.clone(), vec![a.clone()], span),
            ("&&" | "||", [a, b]) => {
                let a = self.atom(a, span)?;
                let b = b.clone();
                self.logic(op == "&&", a, span, &mut |_| Ok(b.clone()))
            }
            ("!", [a]) => {
                let a = self.atom(a, span)?;
                let ty = self.fun.type_of(a).elem;
                Ok(Value::Atom(self.fun.scalar(ScalarOp::Not, ty, &[a])))
            }
            ("==", [a, b]) => Ok(Value::Atom(self.equal(a, b, span)?)),
            ("!=", [a, b]) => {
                // `x != y` on scalars has an operation of its own.
                if let (Value::Atom(a), Value::Atom(b)) = (a, b)
                    && self.fun.type_of(*a).is_scalar()
                {
                    let ty = self.fun.type_of(*a).elem;
                    return Ok(Value::Atom(self.fun.scalar(ScalarOp::Ne, ty, &[*a, *b])));
                }
                let equal = self.equal(a, b, span)?;
                Ok(Value::Atom(self.fun.scalar(ScalarOp::Not, ElemType::Bool, &[equal])))
            }
            (_, [a, b]) => {
                let (a, b) = (self.atom(a, span)?, self.atom(b, span)?);
                let ty = self.fun.type_of(a).elem;
                match galopvm_stdlib::operator(op) {
                    Some(op) if op.accepts(ty) => Ok(Value::Atom(self.scalar_op(op, ty, &[a, b]))),
                    _ => self.refuse(span, "this operator"),
                }
            }
            _ => self.refuse(span, "this operator"),
        }
    }

    /// Expands a definition with arguments.
    pub(super) fn expand_global(
        &mut self,
        id: GlobalId,
        instance: &Use<'a>,
        args: Vec<Value<'a>>,
        span: Span,
    ) -> Built<Value<'a>> {
        self.expansions += 1;
        if self.expansions > MAX_EXPANSIONS {
            return Err(Box::new(
                Diagnostic::error(span, "the functions of this program expand to too much code")
                    .with_hint("functions that take functions are expanded at each use"),
            ));
        }
        let outer = self.fun.within;
        let within = if self.checker.names.globals[id].user {
            let call = Origin { span: Some(self.fun.place(span)), inside: outer.inside };
            self.program.expansions.0.push(call);
            Within { inside: Some(self.program.expansions.0.len() as u32 - 1), held: None }
        } else {
            // Inside the prelude, messages and places point to the caller.
            Within { held: outer.held.or(Some(span)), ..outer }
        };
        self.expand_in(id, instance, args, within)
    }

    /// A definition's body with arguments.
    pub(super) fn expand_in(
        &mut self,
        id: GlobalId,
        instance: &Use<'a>,
        args: Vec<Value<'a>>,
        within: Within,
    ) -> Built<Value<'a>> {
        // Checks it if it is of the prelude and new.
        let scheme = self.checker.global(id);
        let global = self.checker.names.globals[id];
        let bind = global.bind;
        let own: Vec<NodeId> = scheme.params.iter().map(|p: &SchemeParam| p.id()).collect();
        let mut ctx = Context::empty();
        ctx.types = instance.types.clone();
        ctx.within = within;
        let ty = self.bind_arguments(&mut ctx, &scheme.ty, &args, &|id| own.contains(&id));
        for (id, value) in instance.sizes.iter() {
            if ctx.get(*id).is_none() {
                ctx.bind(*id, value.clone());
            }
        }
        let unchecked =
            if global.user { std::mem::take(&mut self.fun.unchecked) } else { self.fun.unchecked };
        let value = self.expand_body(&mut ctx, bind.params, &args, bind.body);
        if let Ok(value) = &value {
            self.know_sizes(&ctx, &ty, value);
        }
        self.fun.unchecked = unchecked;
        value
    }

    fn expand_body(
        &mut self,
        ctx: &mut Context<'a>,
        params: &'a [Pat<'a>],
        args: &[Value<'a>],
        body: &'a Exp<'a>,
    ) -> Built<Value<'a>> {
        let outer = std::mem::replace(&mut self.fun.within, ctx.within);
        for (pat, arg) in params.iter().zip(args) {
            self.bind(ctx, pat, arg)?;
        }
        let value = self.eval(body, ctx);
        self.fun.within = outer;
        value
    }

    fn expand_local(
        &mut self,
        fun: &LocalFun<'a>,
        ctx: &Context<'a>,
        instance: &Use<'a>,
        args: &[Value<'a>],
    ) -> Built<Value<'a>> {
        let mut scope = ctx.inner();
        if !instance.types.is_empty() {
            scope.types = ctx.types.iter().chain(instance.types.iter()).cloned().collect();
        }
        let own: Vec<NodeId> = fun
            .type_params
            .iter()
            .filter_map(|p| match p {
                TypeParam::Size(name) => Some(name.at.id),
                TypeParam::Type(..) => None,
            })
            .chain(instance.sizes.iter().map(|(id, _)| *id))
            .collect();
        for (pat, arg) in fun.params.iter().zip(args) {
            self.bind_pat_sizes(&mut scope, pat, arg, &|id| own.contains(&id));
        }
        for (id, value) in instance.sizes.iter() {
            if scope.get(*id).is_none() {
                scope.bind(*id, value.clone());
            }
        }
        self.expand_body(&mut scope, fun.params, args, fun.body)
    }

    /// Binds names that are sizes in a pattern's types to the extents of a value.
    pub(super) fn bind_pat_sizes(
        &mut self,
        ctx: &mut Context<'a>,
        pat: &'a Pat<'a>,
        value: &Value<'a>,
        wanted: &dyn Fn(NodeId) -> bool,
    ) {
        match pat.kind {
            PatKind::Ascript(inner, ty) => {
                if let Some(ty) = self.checker.types.get(ty.at.id).cloned() {
                    self.bind_type_sizes(ctx, &ty, value, wanted);
                }
                self.bind_pat_sizes(ctx, inner, value, wanted);
            }
            PatKind::Parens(inner) | PatKind::Attr(_, inner) => {
                self.bind_pat_sizes(ctx, inner, value, wanted);
            }
            PatKind::Tuple(items) => {
                for (i, item) in items.iter().enumerate() {
                    if let Some(part) = value.field(&i.to_string()).cloned() {
                        self.bind_pat_sizes(ctx, item, &part, wanted);
                    }
                }
            }
            PatKind::Record(fields) => {
                for (name, item) in fields {
                    if let Some(part) = value.field(name.text).cloned() {
                        self.bind_pat_sizes(ctx, item, &part, wanted);
                    }
                }
            }
            PatKind::Id(_) | PatKind::Wildcard | PatKind::Lit(_) | PatKind::Constr(..) => {}
        }
    }

    /// Binds the names of a pattern that matches.
    pub(super) fn bind(&mut self, ctx: &mut Context<'a>, pat: &'a Pat<'a>, value: &Value<'a>) -> Built<()> {
        match pat.kind {
            PatKind::Id(_) => ctx.bind(pat.at.id, value.clone()),
            PatKind::Wildcard | PatKind::Lit(_) => {}
            PatKind::Parens(inner) | PatKind::Attr(_, inner) => self.bind(ctx, inner, value)?,
            PatKind::Ascript(inner, ty) => {
                self.know_written(ctx, ty, value);
                self.bind(ctx, inner, value)?;
            }
            PatKind::Tuple(items) => {
                for (i, item) in items.iter().enumerate() {
                    let part = self.part(value, &i.to_string(), item.at.span)?;
                    self.bind(ctx, item, &part)?;
                }
            }
            PatKind::Record(fields) => {
                for (name, item) in fields {
                    let part = self.part(value, name.text, item.at.span)?;
                    self.bind(ctx, item, &part)?;
                }
            }
            PatKind::Constr(name, items) => {
                let (sum, index) = self.case(value, name, pat.at.span)?;
                for (item, part) in items.iter().zip(sum.payload(index)) {
                    self.bind(ctx, item, &part)?;
                }
            }
        }
        Ok(())
    }

    /// Remembers the extents that a written type tells.
    pub(super) fn know_written(&mut self, ctx: &Context<'a>, written: &'a TypeExp<'a>, value: &Value<'a>) {
        if let Some(ty) = self.checker.types.get(written.at.id).cloned() {
            let ty = self.checker.vars.substitute(&ty, &ctx.types);
            self.know_sizes(ctx, &ty, value);
        }
    }
}
