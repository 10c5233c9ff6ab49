//! Types of expressions.

use super::convert::Anonymous;
use super::operators::logic;
use super::report::Context;
use super::vars::{Constraint, SizeOrigin, type_set};
use super::{Checker, Literal, Size, Type};
use crate::habits;
use crate::names::Res;
use crate::syntax::ast::*;
use galopvm_base::{Diagnostic, ElemType, Span};
use std::rc::Rc;

/// Parts of a type beyond which a program is refused: a few lines can make a type that no walk over it ends.
const LARGEST_TYPE: usize = 100_000;

impl<'a> Checker<'a, '_, '_> {
    /// Checks that an expression has a type.
    pub(super) fn check(&mut self, exp: &'a Exp<'a>, wanted: &Type, context: &Context) {
        let found = match exp.kind {
            ExpKind::Lambda(params, result, body) => {
                let ty = self.lambda(params, result, body, Some(wanted));
                self.record(exp, ty)
            }
            ExpKind::Parens(inner) => {
                self.check(inner, wanted, context);
                let ty = self.types.get(inner.at.id).cloned().unwrap_or(Type::Error);
                self.record(exp, ty);
                return;
            }
            // One number among thousands needs no variable of its own.
            ExpKind::Number(number) if self.vars.is_one_of(wanted, number_set(number)) => {
                self.literal(exp.at.span, number, false, wanted.clone());
                self.record(exp, wanted.clone());
                return;
            }
            _ => self.infer(exp),
        };
        if let Err(clash) = self.vars.unify(wanted, &found) {
            self.mismatch(exp.at.span, wanted, &found, &clash, context);
        }
    }

    pub(super) fn record(&mut self, exp: &Exp, ty: Type) -> Type {
        self.types.set(exp.at.id, ty.clone());
        // A scalar type is settled.
        if !matches!(ty, Type::Prim(_)) {
            self.pending.recent.push(exp.at.id);
        }
        ty
    }

    /// The type of an expression. It goes along `let`s and operators in a loop.
    pub(super) fn infer(&mut self, exp: &'a Exp<'a>) -> Type {
        match exp.kind {
            ExpKind::Let { .. } | ExpKind::LetFun { .. } | ExpKind::LetWith { .. } => self.lets(exp),
            ExpKind::BinOp(..) => self.operators(exp),
            _ => {
                let ty = self.infer_kind(exp);
                self.inferred(exp, ty)
            }
        }
    }

    fn inferred(&mut self, exp: &'a Exp<'a>, mut ty: Type) -> Type {
        if self.too_large(exp.at.span, &ty) {
            ty = Type::Error;
        }
        self.record(exp, ty)
    }

    /// `let`s in each other's bodies, and the value of the innermost one.
    fn lets(&mut self, exp: &'a Exp<'a>) -> Type {
        let (mut body, mut open) = (exp, Vec::new());
        while let Some((scope, inner)) = self.open_let(body) {
            open.push((body, scope));
            body = inner;
        }
        let mut ty = self.infer(body);
        while let Some((exp, scope)) = open.pop() {
            ty = self.close_let(exp, scope, ty);
            ty = self.inferred(exp, ty);
        }
        ty
    }

    /// Operators that group to the left: the first operand, then from the inside out.
    fn operators(&mut self, exp: &'a Exp<'a>) -> Type {
        // The left side of the operator that is being checked.
        if let Some((_, ty, absorbed)) = self.left.take_if(|(id, ..)| *id == exp.at.id) {
            self.vars.absorbed.extend(absorbed);
            return ty;
        }
        let (mut first, mut rest) = (exp, Vec::new());
        while let ExpKind::BinOp(op, left, right) = first.kind {
            rest.push((first, op, left, right));
            first = left;
        }
        let mut ty = Type::Error;
        while let Some((exp, op, left, right)) = rest.pop() {
            let outer = (!rest.is_empty()).then(|| self.vars.take_absorbed());
            ty = self.binary(exp, &op, left, right);
            ty = self.shortened(exp, ty);
            ty = self.inferred(exp, ty);
            if let Some(outer) = outer {
                let absorbed = std::mem::replace(&mut self.vars.absorbed, outer);
                self.left = Some((exp.at.id, ty.clone(), absorbed));
            }
        }
        ty
    }

    /// Refuses a type that no walk over it would end.
    pub(crate) fn too_large(&mut self, span: Span, ty: &Type) -> bool {
        let large = self.vars.is_larger(ty, LARGEST_TYPE);
        if large {
            let text = format!("This type has more than {LARGEST_TYPE} parts.");
            self.report(
                Diagnostic::error(span, text)
                    .with_label("too large")
                    .with_hint("types that double from line to line soon fill any memory"),
            );
        }
        large
    }

    /// Says that an expression brings sizes into being.
    pub(super) fn creates(&mut self, id: NodeId, sizes: Vec<NodeId>) {
        if !sizes.is_empty() {
            self.created.extend(sizes.iter().copied());
            self.exts.entry(id).or_default().extend(sizes);
        }
    }

    fn infer_kind(&mut self, exp: &'a Exp<'a>) -> Type {
        let (span, id) = (exp.at.span, exp.at.id);
        match exp.kind {
            ExpKind::Literal(scalar) => Type::Prim(scalar.ty),
            ExpKind::Number(number) => self.number(span, number, false),
            ExpKind::String(bytes, _) => {
                Type::array(Size::Const(bytes.len() as i64), Type::Prim(ElemType::U8))
            }
            ExpKind::Var(name) => self.occurrence(id, span, &name),
            ExpKind::Hole => {
                self.holes.push(id);
                self.vars.fresh(span)
            }
            ExpKind::Error => Type::Error,
            ExpKind::Parens(inner) | ExpKind::Attr(_, inner) | ExpKind::QualParens(_, inner) => {
                self.infer(inner)
            }
            ExpKind::Tuple(items) => Type::tuple(items.iter().map(|e| self.infer(e)).collect()),
            ExpKind::Record(fields) => self.record_literal(fields),
            ExpKind::Array(items) => self.array_literal(span, items),
            ExpKind::Project(inner, field) => {
                let ty = self.infer(inner);
                self.project(span, &ty, &field)
            }
            ExpKind::Index(inner, dims) => {
                let ty = self.infer(inner);
                self.index(Some(id), inner.at.span, &ty, dims)
            }
            ExpKind::Apply(head, args) => {
                let mut ty = self.infer(head);
                for (i, arg) in args.iter().enumerate() {
                    ty = self.apply(id, head, &ty, arg, i);
                }
                ty
            }
            ExpKind::BinOp(..) | ExpKind::Let { .. } | ExpKind::LetFun { .. } | ExpKind::LetWith { .. } => {
                self.infer(exp)
            }
            ExpKind::Negate(inner) => {
                if let ExpKind::Number(number) = inner.kind {
                    let ty = self.number(inner.at.span, number, true);
                    return self.record(inner, ty);
                }
                let ty = self.infer(inner);
                self.require(inner.at.span, &ty, type_set(|t| t != ElemType::Bool), "-");
                ty
            }
            ExpKind::Not(inner) => {
                let ty = self.infer(inner);
                self.require(inner.at.span, &ty, logic(), "!");
                ty
            }
            ExpKind::Lambda(params, result, body) => self.lambda(params, result, body, None),
            ExpKind::Section(op) => self.occurrence(op.at.id, span, &op.name),
            ExpKind::SectionLeft(op, left) => {
                let ty = self.occurrence(op.at.id, op.at.span, &op.name);
                let function = op.name.text();
                self.apply_to(id, op.at.span, &function, &ty, left, 0)
            }
            ExpKind::SectionRight(op, right) => self.section_right(span, &op, right),
            ExpKind::SectionPath(steps) => {
                let from = self.vars.fresh(span);
                let to = self.path(Some(id), span, &from, steps);
                let hidden = self.exts.remove(&id).unwrap_or_default();
                Type::arrow(from, Type::exists(hidden, to))
            }
            ExpKind::If(condition, yes, no) => {
                self.check(condition, &Type::BOOL, &Context::Being("a condition, bool"));
                let (a, b) = (self.infer(yes), self.infer(no));
                let ty = self.branches(id, no.at.span, &a, &b, yes.at.span);
                self.data(span, &ty, "If-expression", "if-results");
                ty
            }
            ExpKind::Loop { pat, init, form, body } => self.loop_exp(exp, pat, init, &form, body),
            ExpKind::Match(subject, cases) => self.match_exp(exp, subject, cases),
            ExpKind::Constr(name, args) => {
                let payload: Rc<[Type]> = args.iter().map(|e| self.infer(e)).collect();
                let constraint =
                    Constraint { constructors: vec![(name.into(), payload)], ..Constraint::default() };
                self.vars.constrained(constraint, span)
            }
            ExpKind::Range { first, second, kind, last } => self.range(exp, first, second, kind, last),
            ExpKind::Update(inner, steps, value) => {
                let ty = self.infer(inner);
                self.update(inner.at.span, &ty, steps, value)
            }
            ExpKind::Assert(condition, value) => {
                self.check(condition, &Type::BOOL, &Context::Being("an asserted condition, bool"));
                self.infer(value)
            }
            ExpKind::Ascript(inner, written) => {
                let wanted = self.type_exp(written, Anonymous::Infer);
                self.check(inner, &wanted, &Context::Ascription(written.at.span));
                wanted
            }
            ExpKind::Coerce(inner, written) => self.coerce(inner, written),
        }
    }

    fn coerce(&mut self, inner: &'a Exp<'a>, written: &'a TypeExp<'a>) -> Type {
        let wanted = self.type_exp(written, Anonymous::Infer);
        let found = self.infer(inner);
        // Every written size is checked when the program runs; one left open is the value's own.
        let mut count = 0;
        self.vars.map_sizes(&wanted, &mut |size| {
            let known = !matches!(size, Size::Var(_));
            count += known as usize;
            known.then(|| size.clone())
        });
        let origin = SizeOrigin {
            span: written.at.span,
            text: "a size coercion where the underlying expression size cannot be determined".into(),
            name: None,
            must_be_known: true,
        };
        let open: Vec<Size> = (0..count).map(|_| self.vars.size_from(origin.clone(), false)).collect();
        let mut next = open.into_iter();
        let loose = self.vars.map_sizes(&wanted, &mut |size| match size {
            Size::Var(_) => None,
            _ => next.next(),
        });
        if self.vars.unify(&loose, &found).is_err()
            && let Err(clash) = self.vars.unify_shape(&loose, &found)
        {
            self.mismatch(inner.at.span, &wanted, &found, &clash, &Context::Ascription(written.at.span));
        }
        wanted
    }

    fn number(&mut self, span: Span, number: Number<'a>, negated: bool) -> Type {
        let ty = self.vars.one_of(number_set(number), span);
        self.literal(span, number, negated, ty.clone());
        ty
    }

    fn literal(&mut self, span: Span, number: Number<'a>, negated: bool, ty: Type) {
        self.pending.literals.push(Literal { span, number, negated, ty });
    }

    /// The type of an occurrence of a name, projections included.
    pub(super) fn occurrence(&mut self, id: NodeId, span: Span, name: &QualName<'a>) -> Type {
        let Some(used) = self.names.uses.get(&id).copied() else { return Type::Error };
        let scheme = self.scheme_of(used.res, span);
        let (mut ty, instance) = self.vars.instantiate(&scheme, span, name.last().text);
        if let Res::Global(global) = used.res
            && self.is_own(global)
        {
            // Calls of a function by itself are polymorphic in sizes.
            ty = self.open_sizes(&ty, span, &mut Vec::new());
        }
        if let Res::Global(global) = used.res
            && self.guesses.contains_key(&global)
        {
            self.pending.guessed.push((span, global));
        }
        if !scheme.params.is_empty() {
            self.instances.insert(id, instance);
            self.pending.recent_uses.push(id);
        }
        // Operators and the names of record fields are no expressions, but have types.
        self.types.set(id, ty.clone());
        self.pending.recent.push(id);
        for field in &name.parts[name.parts.len() - used.fields..] {
            ty = self.project(span, &ty, field);
        }
        ty
    }

    pub(super) fn project(&mut self, span: Span, ty: &Type, field: &Name<'a>) -> Type {
        match self.vars.resolve(ty) {
            Type::Record(fields) => match fields.iter().find(|(n, _)| **n == *field.text) {
                Some((_, t)) => t.clone(),
                None => {
                    let text =
                        format!("Record of type `{}` has no field \"{}\"", self.vars.show(ty), field.text);
                    let names: Vec<&str> = fields.iter().map(|(n, _)| &**n).collect();
                    let hint = match names.as_slice() {
                        [] => "it has no fields".to_string(),
                        names => format!("its fields are {}", names.join(", ")),
                    };
                    self.report(Diagnostic::error(field.at.span, text).with_hint(hint));
                    Type::Error
                }
            },
            Type::Error => Type::Error,
            Type::Var(_) => {
                let part = self.vars.fresh(span);
                let fields = vec![(Rc::from(field.text), part.clone())];
                let record = self.vars.constrained(Constraint { fields, ..Constraint::default() }, span);
                if let Err(clash) = self.vars.unify(ty, &record) {
                    self.mismatch(span, &record, ty, &clash, &Context::Being("a record"));
                }
                part
            }
            other => {
                let text = format!(
                    "Cannot project field \"{}\" from `{}`, which has no fields",
                    field.text,
                    self.vars.show(&other)
                );
                let elem = match other {
                    Type::Prim(elem) => Some(elem),
                    _ => None,
                };
                self.report(
                    Diagnostic::error(field.at.span, text).with_hint(habits::of_method(field.text, elem)),
                );
                Type::Error
            }
        }
    }

    fn record_literal(&mut self, fields: &'a [(Name<'a>, Option<Exp<'a>>)]) -> Type {
        let mut types: Vec<(Rc<str>, Type)> = Vec::new();
        for (i, (name, value)) in fields.iter().enumerate() {
            if let Some((first, _)) = fields[..i].iter().find(|(n, _)| n.text == name.text) {
                let text = format!("Field \"{}\" previously defined: Duplicate fields in record", name.text);
                self.report(Diagnostic::error(name.at.span, text).with_place(first.at.span, "defined here"));
                continue;
            }
            let ty = match value {
                Some(value) => self.infer(value),
                None => {
                    let parts = self.names.arena.alloc_slice_copy(&[*name]);
                    self.occurrence(name.at.id, name.at.span, &QualName { parts })
                }
            };
            types.push((name.text.into(), ty));
        }
        Type::record(types)
    }

    fn array_literal(&mut self, span: Span, items: &'a [Exp<'a>]) -> Type {
        let elem = match items.split_first() {
            None => self.vars.fresh(span),
            Some((first, rest)) => {
                let ty = self.infer(first);
                for item in rest {
                    self.check(item, &ty, &Context::Element(first.at.span));
                }
                ty
            }
        };
        self.unlifted(&elem, Lifted::No);
        self.pending.elements.push((span, elem.clone()));
        Type::array(Size::Const(items.len() as i64), elem)
    }

    /// Refuses functions where only data may stand; asked at the end, when all is known.
    pub(super) fn data(&mut self, span: Span, ty: &Type, what: &'static str, results: &'static str) {
        self.unlifted(ty, Lifted::Size);
        self.pending.results.push((span, ty.clone(), what, results));
    }

    /// Keeps a type that is still open from becoming a function.
    pub(super) fn unlifted(&mut self, ty: &Type, lifted: Lifted) {
        if let Type::Var(var) = self.vars.resolve(ty)
            && let Some((_, span)) = self.vars.free(var)
        {
            let wanted = self.vars.constrained(Constraint { lifted, ..Constraint::default() }, span);
            // Two open types that ask for nothing else always agree.
            let _ = self.vars.unify(&wanted, ty);
        }
    }

    /// Requires a type to be one of a set, for an operator; false after a message.
    pub(super) fn require(&mut self, span: Span, ty: &Type, set: u16, op: &str) -> bool {
        let wanted = self.vars.one_of(set, span);
        let fits = self.vars.unify(&wanted, ty).is_ok();
        if !fits {
            let shown = self.vars.show(ty);
            let text = format!("Cannot apply \"{op}\" to \"{}\" (invalid type).", self.snippet(span));
            let mut diagnostic = Diagnostic::error(span, text)
                .with_label(format!("expected {}, found `{shown}`", super::show::set_name(set)));
            if matches!(self.vars.resolve(ty), Type::Array(..)) {
                diagnostic = diagnostic.with_hint(habits::of_elements(op));
            }
            self.report(diagnostic);
        }
        fits
    }

    fn binary(&mut self, exp: &'a Exp<'a>, op: &OpName<'a>, left: &'a Exp<'a>, right: &'a Exp<'a>) -> Type {
        let id = exp.at.id;
        let res = self.names.uses.get(&op.at.id).map_or(Res::Error, |u| u.res);
        let name = op.name.text();
        let Res::Operator(spelling) = res else {
            let function = self.occurrence(op.at.id, op.at.span, &op.name);
            let partial = self.apply_to(id, op.at.span, &name, &function, left, 0);
            return self.apply_to(id, op.at.span, &name, &partial, right, 1);
        };
        match spelling {
            "|>" => {
                let from = self.infer(left);
                self.pipe(id, from, left, right)
            }
            "<|" => {
                let function = self.infer(left);
                self.apply(id, left, &function, right, 0)
            }
            "&&" | "||" => {
                let context = Context::With("an operand of a logical operator, bool", op.at.span);
                self.check(left, &Type::BOOL, &context);
                self.check(right, &Type::BOOL, &context);
                Type::BOOL
            }
            _ => {
                let (a, b) = (self.infer(left), self.infer(right));
                let context = Context::Apply { function: spelling.into(), place: op.at.span };
                let compares = Self::compares(spelling);
                if let Some(set) = Self::operand_set(spelling) {
                    if !self.require(left.at.span, &a, set, spelling) {
                        return if compares { Type::BOOL } else { a };
                    }
                } else {
                    let equality = Constraint { equality: true, ..Constraint::default() };
                    let wanted = self.vars.constrained(equality, exp.at.span);
                    if let Err(clash) = self.vars.unify(&wanted, &a) {
                        self.mismatch(left.at.span, &wanted, &a, &clash, &context);
                        return Type::BOOL;
                    }
                }
                if let Err(clash) = self.vars.unify(&a, &b) {
                    self.mismatch(right.at.span, &a, &b, &clash, &context);
                }
                if compares { Type::BOOL } else { a }
            }
        }
    }

    fn section_right(&mut self, span: Span, op: &OpName<'a>, right: &'a Exp<'a>) -> Type {
        let ty = self.occurrence(op.at.id, op.at.span, &op.name);
        let function = op.name.text();
        let context = Context::Apply { function: function.clone(), place: op.at.span };
        let Type::Arrow(first, from, to) = self.vars.resolve(&ty) else {
            let (a, b, c) = (self.vars.fresh(span), self.vars.fresh(span), self.vars.fresh(span));
            let wanted = Type::arrow(a.clone(), Type::arrow(b.clone(), c.clone()));
            if let Err(clash) = self.vars.unify(&wanted, &ty) {
                self.mismatch(op.at.span, &wanted, &ty, &clash, &context);
            }
            self.check(right, &b, &context);
            return Type::arrow(a, c);
        };
        match self.vars.resolve(&to) {
            Type::Arrow(second, wanted, result) => {
                self.check(right, &wanted, &context);
                let result = match second.zip(self.exp_size(right)) {
                    Some((name, size)) => {
                        self.vars.replace_sizes(&result, &|n| (n == name).then(|| size.clone()))
                    }
                    None => (*result).clone(),
                };
                Type::Arrow(first, from, Rc::new(result))
            }
            _ => {
                let shown = self.vars.show(&ty);
                let text = format!("Cannot apply function \"{function}\" of type {shown} to two operands");
                self.report(Diagnostic::error(op.at.span, text));
                self.infer(right);
                Type::Error
            }
        }
    }

    fn pipe(&mut self, id: NodeId, from: Type, left: &'a Exp<'a>, right: &'a Exp<'a>) -> Type {
        let wanted = Type::arrow(from.clone(), self.vars.fresh(right.at.span));
        let function = match right.kind {
            ExpKind::Lambda(params, result, body) => {
                let ty = self.lambda(params, result, body, Some(&wanted));
                self.record(right, ty)
            }
            _ => self.infer(right),
        };
        let context = Context::Apply { function: self.snippet(right.at.span), place: right.at.span };
        match self.vars.resolve(&function) {
            Type::Arrow(param, wanted, result) => {
                if let Err(clash) = self.vars.unify(&wanted, &from) {
                    self.mismatch(left.at.span, &wanted, &from, &clash, &context);
                }
                self.result_of(id, right.at.span, "it", param, left, &result)
            }
            other => {
                if let Err(clash) = self.vars.unify(&wanted, &other) {
                    self.mismatch(right.at.span, &wanted, &other, &clash, &context);
                }
                match wanted {
                    Type::Arrow(_, _, result) => (*result).clone(),
                    _ => Type::Error,
                }
            }
        }
    }

    /// The type of the part of a value that a path leads to, in the expression `id`; without one, of a part to be
    /// updated.
    pub(super) fn path(&mut self, id: Option<NodeId>, span: Span, ty: &Type, steps: &'a [Step<'a>]) -> Type {
        let mut ty = ty.clone();
        for step in steps {
            ty = match step {
                Step::Index(dims) => self.index(id, span, &ty, dims),
                Step::Field(name) => self.project(span, &ty, name),
            };
        }
        ty
    }

    /// The type of `value with steps = new`.
    pub(super) fn update(&mut self, span: Span, ty: &Type, steps: &'a [Step<'a>], new: &'a Exp<'a>) -> Type {
        if steps.iter().all(|s| matches!(s, Step::Field(_))) {
            // A record's part may change its sizes, not its shape.
            let found = self.infer(new);
            return self.update_fields(span, ty, steps, new.at.span, &found);
        }
        let part = self.path(None, span, ty, steps);
        self.check(new, &part, &Context::Update(span));
        ty.clone()
    }

    fn update_fields(&mut self, span: Span, ty: &Type, steps: &'a [Step<'a>], at: Span, new: &Type) -> Type {
        let Some((Step::Field(name), rest)) = steps.split_first() else {
            if let Err(clash) = self.vars.unify_shape(ty, new) {
                self.mismatch(at, ty, new, &clash, &Context::Update(span));
            }
            return new.clone();
        };
        if let Type::Var(_) = self.vars.resolve(ty) {
            // Which other fields it has shows later; this one keeps its type.
            let part = self.project(span, ty, name);
            self.update_fields(span, &part, rest, at, new);
            return ty.clone();
        }
        let Type::Record(fields) = self.vars.resolve(ty) else {
            let shown = self.snippet(span);
            let text = format!(
                "Full type of \"{shown}\" is not known at this point (record field \"{}\").",
                name.text
            );
            self.report(
                Diagnostic::error(span, text).with_hint("write the type of the record where it is bound"),
            );
            return Type::Error;
        };
        if fields.iter().all(|(n, _)| **n != *name.text) {
            let text =
                format!("Record of type `{}` has no record field \"{}\"", self.vars.show(ty), name.text);
            self.report(Diagnostic::error(name.at.span, text));
            return Type::Error;
        }
        let parts = fields.iter().map(|(n, t)| {
            let part = if **n == *name.text { self.update_fields(span, t, rest, at, new) } else { t.clone() };
            (n.clone(), part)
        });
        Type::Record(parts.collect())
    }
}

/// The scalar types that a literal may have.
fn number_set(number: Number<'_>) -> u16 {
    match number {
        Number::Int(_) => type_set(|t| t != ElemType::Bool),
        Number::Float(_) => type_set(ElemType::is_float),
    }
}
