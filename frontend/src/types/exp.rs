//! Types of expressions.

use super::convert::Anonymous;
use super::operators::logic;
use super::unify::{Constraint, type_set};
use super::{Checker, Literal, Scheme, SchemeParam, Size, Type, pat_name, scheme_param};
use crate::names::Res;
use crate::syntax::ast::*;
use galopvm_base::{Diagnostic, ElemType, Span};
use std::rc::Rc;

/// Where an expectation comes from.
type Place<'p> = Option<(Span, &'p str)>;

impl<'a> Checker<'a, '_, '_> {
    /// Checks that an expression has a type.
    pub(super) fn check(&mut self, exp: &'a Exp<'a>, wanted: &Type, place: Place) {
        let found = match exp.kind {
            ExpKind::Lambda(params, result, body) => {
                let ty = self.lambda(params, result, body, Some(wanted));
                self.record(exp, ty)
            }
            ExpKind::Parens(inner) => {
                self.check(inner, wanted, place);
                self.record(exp, wanted.clone());
                return;
            }
            _ => self.infer(exp),
        };
        if let Err(clash) = self.vars.unify(wanted, &found) {
            self.mismatch(exp.at.span, wanted, &found, &clash, place);
        }
    }

    fn record(&mut self, exp: &Exp, ty: Type) -> Type {
        self.types.insert(exp.at.id, ty.clone());
        self.recent.push(exp.at.id);
        ty
    }

    /// The type of an expression.
    pub(super) fn infer(&mut self, exp: &'a Exp<'a>) -> Type {
        let ty = self.infer_kind(exp);
        self.record(exp, ty)
    }

    fn infer_kind(&mut self, exp: &'a Exp<'a>) -> Type {
        let span = exp.at.span;
        match exp.kind {
            ExpKind::Literal(scalar) => Type::Prim(scalar.ty),
            ExpKind::Number(number) => self.number(span, number, false),
            ExpKind::String(bytes, _) => {
                Type::array(Size::Const(bytes.len() as i64), Type::Prim(ElemType::U8))
            }
            ExpKind::Var(name) => self.occurrence(exp.at.id, span, &name),
            ExpKind::Hole => {
                self.names.unsupported(span, "a typed hole");
                Type::Error
            }
            ExpKind::Error => Type::Error,
            ExpKind::Parens(inner) | ExpKind::Attr(_, inner) => self.infer(inner),
            ExpKind::QualParens(..) | ExpKind::Constr(..) => Type::Error,
            ExpKind::Tuple(items) => Type::tuple(items.iter().map(|e| self.infer(e)).collect()),
            ExpKind::Record(fields) => self.record_literal(fields),
            ExpKind::Array(items) => self.array_literal(span, items),
            ExpKind::Project(inner, field) => {
                let ty = self.infer(inner);
                self.project(span, &ty, &field)
            }
            ExpKind::Index(inner, dims) => {
                let ty = self.infer(inner);
                self.index(inner.at.span, &ty, dims)
            }
            ExpKind::Apply(head, args) => {
                let mut ty = self.infer(head);
                for (i, arg) in args.iter().enumerate() {
                    ty = self.apply(head, &ty, arg, i);
                }
                ty
            }
            ExpKind::BinOp(op, left, right) => self.binary(span, &op, left, right),
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
                self.apply_to(op.at.span, &op.name.text(), &ty, left, 0)
            }
            ExpKind::SectionRight(op, right) => {
                let ty = self.occurrence(op.at.id, op.at.span, &op.name);
                let (a, b, c) = (self.vars.fresh(span), self.vars.fresh(span), self.vars.fresh(span));
                let wanted = Type::arrow(a.clone(), Type::arrow(b.clone(), c.clone()));
                if let Err(clash) = self.vars.unify(&wanted, &ty) {
                    self.mismatch(op.at.span, &wanted, &ty, &clash, None);
                }
                self.check(right, &b, None);
                Type::arrow(a, c)
            }
            ExpKind::SectionPath(steps) => {
                let from = self.vars.fresh(span);
                let to = self.path(span, &from, steps);
                Type::arrow(from, to)
            }
            ExpKind::If(condition, yes, no) => {
                self.check(condition, &Type::BOOL, None);
                let (a, b) = (self.infer(yes), self.infer(no));
                match self.vars.join(&a, &b) {
                    Ok(ty) => self.first_order(span, ty, "the branches of an `if`"),
                    Err(clash) => {
                        let place = Some((yes.at.span, "the other branch"));
                        self.mismatch(no.at.span, &a, &b, &clash, place);
                        a
                    }
                }
            }
            ExpKind::Let { sizes, pat, value, body } => {
                let ty = self.infer(value);
                for name in sizes {
                    self.bind(name, Type::SIZE);
                }
                self.let_sizes(sizes, pat, &ty);
                self.infer(body)
            }
            ExpKind::LetFun { fun, body } => {
                let ty = self.val_bind(fun);
                let params: Vec<SchemeParam> = fun.type_params.iter().map(scheme_param).collect();
                self.vars.names.insert(fun.name.at.id, fun.name.text.to_string());
                self.locals.insert(fun.name.at.id, Scheme { params: params.into(), ty });
                self.infer(body)
            }
            ExpKind::LetWith { name, old, steps, value, body } => {
                let ty = self.infer(old);
                let part = self.path(old.at.span, &ty, steps);
                // Whether the new part has the extents of the old one shows when the program runs.
                let part = self.vars.loosen(&part);
                self.check(value, &part, Some((old.at.span, "the part that is replaced")));
                self.bind(&name, ty);
                self.infer(body)
            }
            ExpKind::Loop { pat, init, form, body } => self.loop_exp(span, pat, init, &form, body),
            ExpKind::Match(..) => {
                self.names.unsupported(span, "`match`");
                Type::Error
            }
            ExpKind::Range { first, second, kind, last } => self.range(first, second, kind, last),
            ExpKind::Update(inner, steps, value) => {
                let ty = self.infer(inner);
                let part = self.path(inner.at.span, &ty, steps);
                let part = self.vars.loosen(&part);
                self.check(value, &part, Some((inner.at.span, "the part that is replaced")));
                ty
            }
            ExpKind::Assert(condition, value) => {
                self.check(condition, &Type::BOOL, None);
                self.infer(value)
            }
            ExpKind::Ascript(inner, written) => {
                let wanted = self.type_exp(written, Anonymous::Infer);
                self.check(inner, &wanted, Some((written.at.span, "the type written here")));
                wanted
            }
            ExpKind::Coerce(inner, written) => {
                let wanted = self.type_exp(written, Anonymous::Any);
                let found = self.infer(inner);
                let (loose, have) = (self.vars.loosen(&wanted), self.vars.loosen(&found));
                if let Err(clash) = self.vars.unify(&loose, &have) {
                    self.mismatch(
                        inner.at.span,
                        &wanted,
                        &found,
                        &clash,
                        Some((written.at.span, "wanted here")),
                    );
                }
                wanted
            }
        }
    }

    fn number(&mut self, span: Span, number: Number<'a>, negated: bool) -> Type {
        let set = match number {
            Number::Int(_) => type_set(|t| t != ElemType::Bool),
            Number::Float(_) => type_set(ElemType::is_float),
        };
        let ty = self.vars.constrained(Constraint::OneOf(set), span);
        if let Number::Int(value) = number {
            self.literals.push(Literal { span, value, negated, ty: ty.clone() });
        }
        ty
    }

    /// The type of an occurrence of a name, projections included.
    fn occurrence(&mut self, id: NodeId, span: Span, name: &QualName<'a>) -> Type {
        let Some(used) = self.names.uses.get(&id).copied() else { return Type::Error };
        let scheme = self.scheme_of(used.res, span);
        let (mut ty, instance) = self.vars.instantiate(&scheme, span);
        if !scheme.params.is_empty() {
            self.instances.insert(id, instance);
            self.recent_uses.push(id);
        }
        for field in &name.parts[name.parts.len() - used.fields..] {
            ty = self.project(span, &ty, field);
        }
        ty
    }

    fn project(&mut self, span: Span, ty: &Type, field: &Name<'a>) -> Type {
        match self.vars.resolve(ty) {
            Type::Record(fields) => match fields.iter().find(|(n, _)| **n == *field.text) {
                Some((_, t)) => t.clone(),
                None => {
                    let text = format!("`{}` has no field `{}`", self.vars.show(ty), field.text);
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
                let wanted = vec![(Rc::from(field.text), part.clone())];
                let record = self.vars.constrained(Constraint::Fields(wanted), span);
                if let Err(clash) = self.vars.unify(ty, &record) {
                    self.mismatch(span, &record, ty, &clash, None);
                }
                part
            }
            other => {
                let text = format!("`{}` has no fields, so no `{}`", self.vars.show(&other), field.text);
                self.report(Diagnostic::error(field.at.span, text));
                Type::Error
            }
        }
    }

    fn record_literal(&mut self, fields: &'a [(Name<'a>, Option<Exp<'a>>)]) -> Type {
        let mut types: Vec<(Rc<str>, Type)> = Vec::new();
        for (name, value) in fields {
            if types.iter().any(|(n, _)| **n == *name.text) {
                self.report(Diagnostic::error(
                    name.at.span,
                    format!("the field `{}` is there twice", name.text),
                ));
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
                    self.check(item, &ty, Some((first.at.span, "the first element")));
                }
                ty
            }
        };
        let elem = self.first_order(span, elem, "elements of arrays");
        Type::array(Size::Const(items.len() as i64), elem)
    }

    /// Refuses functions where only data may stand.
    fn first_order(&mut self, span: Span, ty: Type, what: &str) -> Type {
        if matches!(self.vars.resolve(&ty), Type::Arrow(..)) {
            self.report(Diagnostic::error(span, format!("functions cannot be {what}")));
            return Type::Error;
        }
        ty
    }

    /// The type of `ty[dims]`.
    fn index(&mut self, span: Span, ty: &Type, dims: &'a [DimIndex<'a>]) -> Type {
        let mut kept = Vec::new();
        let mut rest = ty.clone();
        for dim in dims {
            let (size, elem) = match self.vars.resolve(&rest) {
                Type::Array(size, elem) => (size, (*elem).clone()),
                Type::Error => (Size::Any, Type::Error),
                Type::Var(_) => {
                    let (size, elem) = (self.vars.fresh_size(), self.vars.fresh(span));
                    let array = Type::array(size.clone(), elem.clone());
                    if let Err(clash) = self.vars.unify(&rest, &array) {
                        self.mismatch(span, &array, &rest, &clash, None);
                    }
                    (size, elem)
                }
                _ => {
                    let text = format!("`{}` cannot be indexed {} times", self.vars.show(ty), dims.len());
                    self.report(
                        Diagnostic::error(span, text).with_label("not an array of that many dimensions"),
                    );
                    (Size::Any, Type::Error)
                }
            };
            match dim {
                DimIndex::Fix(index) => {
                    let found = self.infer(index);
                    self.require(index.at.span, &found, type_set(ElemType::is_int), "[..]");
                }
                DimIndex::Slice(from, to, step) => {
                    for part in [from, to, step].into_iter().flatten() {
                        self.check(part, &Type::SIZE, Some((span, "bounds of slices are i64")));
                    }
                    kept.push(match (from, to, step) {
                        (None, None, None) => size,
                        (from, Some(to), None)
                            if from.is_none_or(|f| matches!(self.exp_size(f), Size::Const(0))) =>
                        {
                            self.exp_size(to)
                        }
                        _ => Size::Any,
                    });
                }
            }
            rest = elem;
        }
        kept.into_iter().rev().fold(rest, |elem, size| Type::array(size, elem))
    }

    /// The type of the part of a value that a path leads to.
    fn path(&mut self, span: Span, ty: &Type, steps: &'a [Step<'a>]) -> Type {
        let mut ty = ty.clone();
        for step in steps {
            ty = match step {
                Step::Index(dims) => self.index(span, &ty, dims),
                Step::Field(name) => self.project(span, &ty, name),
            };
        }
        ty
    }

    fn apply(&mut self, head: &Exp<'a>, function: &Type, arg: &'a Exp<'a>, index: usize) -> Type {
        let name = match head.kind {
            ExpKind::Var(name) => name.text(),
            _ => "this".to_string(),
        };
        self.apply_to(head.at.span, &name, function, arg, index)
    }

    /// The type of a function applied to one more argument.
    fn apply_to(&mut self, span: Span, name: &str, function: &Type, arg: &'a Exp<'a>, index: usize) -> Type {
        match self.vars.resolve(function) {
            Type::Arrow(param, from, to) => {
                self.check(arg, &from, Some((span, "the function")));
                match param {
                    Some(id) => {
                        let size = self.exp_size(arg);
                        self.vars.replace_sizes(&to, &|n| (n == id).then(|| size.clone()))
                    }
                    None => (*to).clone(),
                }
            }
            Type::Var(_) => {
                let (from, to) = (self.infer(arg), self.vars.fresh(arg.at.span));
                let wanted = Type::arrow(from, to.clone());
                if let Err(clash) = self.vars.unify(function, &wanted) {
                    self.mismatch(span, &wanted, function, &clash, None);
                }
                to
            }
            Type::Error => {
                self.infer(arg);
                Type::Error
            }
            other => {
                self.infer(arg);
                let shown = self.vars.show(&other);
                let diagnostic = if index == 0 {
                    Diagnostic::error(span, format!("`{name}` is not a function, but `{shown}`"))
                        .with_place(arg.at.span, "applied to this")
                } else {
                    Diagnostic::error(arg.at.span, format!("`{name}` takes only {index} arguments"))
                        .with_label("one argument too many")
                        .with_place(span, format!("gives `{shown}` after {index} arguments"))
                };
                self.report(diagnostic);
                Type::Error
            }
        }
    }

    /// Requires a type to be one of a set, for an operator.
    fn require(&mut self, span: Span, ty: &Type, set: u16, op: &str) {
        let wanted = self.vars.constrained(Constraint::OneOf(set), span);
        if self.vars.unify(&wanted, ty).is_err() {
            let shown = self.vars.show(ty);
            self.report(
                Diagnostic::error(span, format!("`{op}` does not work on `{shown}`"))
                    .with_label(format!("this is `{shown}`")),
            );
        }
    }

    fn binary(&mut self, span: Span, op: &OpName<'a>, left: &'a Exp<'a>, right: &'a Exp<'a>) -> Type {
        let res = self.names.uses.get(&op.at.id).map_or(Res::Error, |u| u.res);
        let Res::Operator(spelling) = res else {
            let function = self.occurrence(op.at.id, op.at.span, &op.name);
            let name = op.name.text();
            let partial = self.apply_to(op.at.span, &name, &function, left, 0);
            return self.apply_to(op.at.span, &name, &partial, right, 1);
        };
        match spelling {
            "|>" => {
                let from = self.infer(left);
                self.pipe(span, from, left, right)
            }
            "<|" => {
                let function = self.infer(left);
                self.apply(left, &function, right, 0)
            }
            "&&" | "||" => {
                self.check(left, &Type::BOOL, Some((op.at.span, "works on bool")));
                self.check(right, &Type::BOOL, Some((op.at.span, "works on bool")));
                Type::BOOL
            }
            _ => {
                let (a, b) = (self.infer(left), self.infer(right));
                if let Err(clash) = self.vars.unify(&a, &b) {
                    self.mismatch(right.at.span, &a, &b, &clash, Some((left.at.span, "the other operand")));
                    return if Self::compares(spelling) { Type::BOOL } else { a };
                }
                if let Some(set) = Self::operand_set(spelling) {
                    self.require(left.at.span, &a, set, spelling);
                } else if matches!(self.vars.resolve(&a), Type::Arrow(..)) {
                    self.report(Diagnostic::error(span, "functions cannot be compared"));
                }
                if Self::compares(spelling) { Type::BOOL } else { a }
            }
        }
    }

    fn pipe(&mut self, span: Span, from: Type, left: &'a Exp<'a>, right: &'a Exp<'a>) -> Type {
        let to = self.vars.fresh(span);
        let function = match right.kind {
            ExpKind::Lambda(params, result, body) => {
                let wanted = Type::arrow(from.clone(), to);
                let ty = self.lambda(params, result, body, Some(&wanted));
                self.record(right, ty)
            }
            _ => self.infer(right),
        };
        match self.vars.resolve(&function) {
            Type::Arrow(param, wanted, result) => {
                if let Err(clash) = self.vars.unify(&wanted, &from) {
                    self.mismatch(
                        left.at.span,
                        &wanted,
                        &from,
                        &clash,
                        Some((right.at.span, "the function")),
                    );
                }
                let size = self.exp_size(left);
                match param {
                    Some(id) => self.vars.replace_sizes(&result, &|n| (n == id).then(|| size.clone())),
                    None => (*result).clone(),
                }
            }
            other => {
                let result = self.vars.fresh(span);
                let wanted = Type::arrow(from, result.clone());
                if let Err(clash) = self.vars.unify(&wanted, &other) {
                    self.mismatch(
                        right.at.span,
                        &wanted,
                        &other,
                        &clash,
                        Some((left.at.span, "the argument")),
                    );
                }
                result
            }
        }
    }

    fn lambda(
        &mut self,
        params: &'a [Pat<'a>],
        result: Option<&'a TypeExp<'a>>,
        body: &'a Exp<'a>,
        wanted: Option<&Type>,
    ) -> Type {
        let mut rest = wanted.map(|t| self.vars.resolve(t));
        let mut types = Vec::new();
        for pat in params {
            let ty = match &rest {
                Some(Type::Arrow(_, from, to)) => {
                    let from = (**from).clone();
                    rest = Some(self.vars.resolve(to));
                    from
                }
                _ => {
                    rest = None;
                    self.vars.fresh(pat.at.span)
                }
            };
            self.pat(pat, &ty, Anonymous::Infer);
            types.push((pat_name(pat), ty));
        }
        let to = match result {
            Some(written) => {
                let ty = self.type_exp(written, Anonymous::Infer);
                self.check(body, &ty, Some((written.at.span, "the result type written here")));
                ty
            }
            None => self.infer(body),
        };
        types.into_iter().rev().fold(to, |to, (name, from)| Type::Arrow(name, Rc::new(from), Rc::new(to)))
    }

    /// `let [n] p = e`: the sizes take their values from the type of `e`.
    fn let_sizes(&mut self, sizes: &'a [Name<'a>], pat: &'a Pat<'a>, ty: &Type) {
        if sizes.is_empty() {
            return self.pat(pat, ty, Anonymous::Infer);
        }
        // The new names are equal to whatever the value's sizes are, so only the shape is compared.
        let loose = self.vars.loosen(ty);
        self.pat(pat, &loose, Anonymous::Any);
    }

    fn loop_exp(
        &mut self,
        span: Span,
        pat: &'a Pat<'a>,
        init: Option<&'a Exp<'a>>,
        form: &LoopForm<'a>,
        body: &'a Exp<'a>,
    ) -> Type {
        let start = match init {
            Some(init) => self.infer(init),
            None => self.implicit_init(pat),
        };
        let start = self.first_order(span, start, "the parameters of a loop");
        // Sizes may change from turn to turn; those that are written are checked when the loop runs.
        let carried = self.vars.loosen(&start);
        self.pat(pat, &carried, Anonymous::Any);
        match form {
            LoopForm::For(name, bound) => {
                let ty = self.infer(bound);
                self.require(bound.at.span, &ty, type_set(ElemType::is_int), "for");
                self.bind(name, ty);
            }
            LoopForm::ForIn(element, array) => {
                let ty = self.infer(array);
                let (size, elem) = (self.vars.fresh_size(), self.vars.fresh(array.at.span));
                let wanted = Type::array(size, elem.clone());
                if let Err(clash) = self.vars.unify(&wanted, &ty) {
                    self.mismatch(array.at.span, &wanted, &ty, &clash, None);
                }
                self.pat(element, &elem, Anonymous::Infer);
            }
            LoopForm::While(condition) => self.check(condition, &Type::BOOL, None),
        }
        let found = self.infer(body);
        let found = self.vars.loosen(&found);
        if let Err(clash) = self.vars.unify(&carried, &found) {
            self.mismatch(
                body.at.span,
                &carried,
                &found,
                &clash,
                Some((pat.at.span, "the loop's parameters")),
            );
        }
        carried
    }

    fn implicit_init(&mut self, pat: &'a Pat<'a>) -> Type {
        match pat.kind {
            PatKind::Id(_) => {
                let res = self.names.uses.get(&pat.at.id).map_or(Res::Error, |u| u.res);
                let scheme: Scheme = self.scheme_of(res, pat.at.span);
                self.vars.instantiate(&scheme, pat.at.span).0
            }
            PatKind::Parens(inner) | PatKind::Attr(_, inner) | PatKind::Ascript(inner, _) => {
                self.implicit_init(inner)
            }
            PatKind::Tuple(items) => Type::tuple(items.iter().map(|p| self.implicit_init(p)).collect()),
            PatKind::Record(fields) => {
                Type::record(fields.iter().map(|(n, p)| (n.text.into(), self.implicit_init(p))).collect())
            }
            PatKind::Wildcard | PatKind::Lit(_) | PatKind::Constr(..) => Type::Error,
        }
    }

    fn range(
        &mut self,
        first: &'a Exp<'a>,
        second: Option<&'a Exp<'a>>,
        kind: RangeKind,
        last: &'a Exp<'a>,
    ) -> Type {
        let ty = self.infer(first);
        for part in [second, Some(last)].into_iter().flatten() {
            self.check(part, &ty, Some((first.at.span, "the start of the range")));
        }
        self.require(first.at.span, &ty, type_set(ElemType::is_int), "..");
        let from_zero = matches!(self.exp_size(first), Size::Const(0));
        let by_one = second.is_none_or(|s| matches!(self.exp_size(s), Size::Const(1)));
        let size = if from_zero
            && by_one
            && kind == RangeKind::Upto
            && matches!(self.vars.resolve(&ty), Type::Prim(ElemType::I64))
        {
            self.exp_size(last)
        } else {
            Size::Any
        };
        Type::array(size, ty)
    }
}
