//! Expressions taken apart: their direct parts, each with what it is.

use crate::syntax::ast::*;

/// A direct part of an expression, pattern or type.
#[derive(Clone, Copy)]
pub(super) enum Part<'a> {
    /// An expression.
    Exp(&'a Exp<'a>),
    /// A pattern that binds.
    Pat(&'a Pat<'a>),
    /// A written type.
    Type(&'a TypeExp<'a>),
    /// A name that is bound without a pattern.
    Bound(Name<'a>),
    /// A size or type parameter.
    Param(&'a TypeParam<'a>),
    /// The occurrence of an operator, a field's variable, or a type.
    Use(NodeId),
}

fn dims<'a>(dims: &'a [DimIndex<'a>], see: &mut dyn FnMut(Part<'a>)) {
    for dim in dims {
        match dim {
            DimIndex::Fix(index) => see(Part::Exp(index)),
            DimIndex::Slice(from, to, step) => {
                [from, to, step].into_iter().flatten().for_each(|e| see(Part::Exp(e)));
            }
        }
    }
}

fn steps<'a>(steps: &'a [Step<'a>], see: &mut dyn FnMut(Part<'a>)) {
    for step in steps {
        if let Step::Index(indices) = step {
            dims(indices, see);
        }
    }
}

fn function<'a>(
    params: &'a [Pat<'a>],
    result: Option<&'a TypeExp<'a>>,
    body: &'a Exp<'a>,
    see: &mut dyn FnMut(Part<'a>),
) {
    params.iter().for_each(|pat| see(Part::Pat(pat)));
    result.into_iter().for_each(|ty| see(Part::Type(ty)));
    see(Part::Exp(body));
}

/// The parts of a function.
pub(super) fn bind_parts<'a>(bind: &'a ValBind<'a>, see: &mut dyn FnMut(Part<'a>)) {
    bind.type_params.iter().for_each(|param| see(Part::Param(param)));
    function(bind.params, bind.result, bind.body, see);
}

/// The parts of an expression, in the order they were written.
pub(super) fn exp_parts<'a>(exp: &'a Exp<'a>, see: &mut dyn FnMut(Part<'a>)) {
    match exp.kind {
        ExpKind::Literal(_) | ExpKind::Number(_) | ExpKind::String(..) | ExpKind::Hole | ExpKind::Error => {}
        ExpKind::Var(_) => see(Part::Use(exp.at.id)),
        ExpKind::Parens(inner)
        | ExpKind::QualParens(_, inner)
        | ExpKind::Project(inner, _)
        | ExpKind::Negate(inner)
        | ExpKind::Not(inner)
        | ExpKind::Attr(_, inner) => see(Part::Exp(inner)),
        ExpKind::Tuple(items) | ExpKind::Array(items) | ExpKind::Constr(_, items) => {
            items.iter().for_each(|item| see(Part::Exp(item)));
        }
        ExpKind::Record(fields) => {
            for (name, value) in fields {
                see(value.as_ref().map_or(Part::Use(name.at.id), Part::Exp));
            }
        }
        ExpKind::Index(inner, indices) => {
            see(Part::Exp(inner));
            dims(indices, see);
        }
        ExpKind::Apply(head, args) => {
            see(Part::Exp(head));
            args.iter().for_each(|arg| see(Part::Exp(arg)));
        }
        ExpKind::BinOp(op, left, right) => {
            see(Part::Exp(left));
            see(Part::Use(op.at.id));
            see(Part::Exp(right));
        }
        ExpKind::Lambda(params, result, body) => function(params, result, body, see),
        ExpKind::Section(op) => see(Part::Use(op.at.id)),
        ExpKind::SectionLeft(op, arg) | ExpKind::SectionRight(op, arg) => {
            see(Part::Use(op.at.id));
            see(Part::Exp(arg));
        }
        ExpKind::SectionPath(path) => steps(path, see),
        ExpKind::If(condition, yes, no) => [condition, yes, no].into_iter().for_each(|e| see(Part::Exp(e))),
        ExpKind::Let { sizes, pat, value, body } => {
            see(Part::Exp(value));
            sizes.iter().for_each(|name| see(Part::Bound(*name)));
            see(Part::Pat(pat));
            see(Part::Exp(body));
        }
        ExpKind::LetFun { fun, body } => {
            bind_parts(fun, see);
            see(Part::Bound(fun.name));
            see(Part::Exp(body));
        }
        ExpKind::LetWith { name, old, steps: path, value, body } => {
            see(Part::Exp(old));
            steps(path, see);
            see(Part::Exp(value));
            see(Part::Bound(name));
            see(Part::Exp(body));
        }
        ExpKind::Loop { pat, init, ref form, body } => {
            match init {
                Some(init) => see(Part::Exp(init)),
                None => implicit_uses(pat, see),
            }
            match form {
                LoopForm::For(name, bound) => {
                    see(Part::Exp(bound));
                    see(Part::Bound(*name));
                }
                LoopForm::ForIn(element, array) => {
                    see(Part::Exp(array));
                    see(Part::Pat(element));
                }
                LoopForm::While(condition) => see(Part::Exp(condition)),
            }
            see(Part::Pat(pat));
            see(Part::Exp(body));
        }
        ExpKind::Match(subject, cases) => {
            see(Part::Exp(subject));
            for (pat, body) in cases {
                see(Part::Pat(pat));
                see(Part::Exp(body));
            }
        }
        ExpKind::Range { first, second, kind: _, last } => {
            [Some(first), second, Some(last)].into_iter().flatten().for_each(|e| see(Part::Exp(e)));
        }
        ExpKind::Update(old, path, value) => {
            see(Part::Exp(old));
            steps(path, see);
            see(Part::Exp(value));
        }
        ExpKind::Assert(condition, value) => {
            see(Part::Exp(condition));
            see(Part::Exp(value));
        }
        ExpKind::Ascript(inner, ty) | ExpKind::Coerce(inner, ty) => {
            see(Part::Exp(inner));
            see(Part::Type(ty));
        }
    }
}

/// A loop's parameters that are named as variables outside of it.
fn implicit_uses<'a>(pat: &'a Pat<'a>, see: &mut dyn FnMut(Part<'a>)) {
    match pat.kind {
        PatKind::Id(_) => see(Part::Use(pat.at.id)),
        _ => pat_parts(pat, &mut |part| {
            if let Part::Pat(inner) = part {
                implicit_uses(inner, see);
            }
        }),
    }
}

/// The parts of a pattern.
pub(super) fn pat_parts<'a>(pat: &'a Pat<'a>, see: &mut dyn FnMut(Part<'a>)) {
    match pat.kind {
        PatKind::Id(text) => see(Part::Bound(Name { text, at: pat.at })),
        PatKind::Wildcard | PatKind::Lit(_) => {}
        PatKind::Parens(inner) | PatKind::Attr(_, inner) => see(Part::Pat(inner)),
        PatKind::Ascript(inner, ty) => {
            see(Part::Pat(inner));
            see(Part::Type(ty));
        }
        PatKind::Tuple(items) | PatKind::Constr(_, items) => items.iter().for_each(|p| see(Part::Pat(p))),
        PatKind::Record(fields) => fields.iter().for_each(|(_, p)| see(Part::Pat(p))),
    }
}

/// The parts of a written type.
pub(super) fn type_parts<'a>(ty: &'a TypeExp<'a>, see: &mut dyn FnMut(Part<'a>)) {
    let size = |size: &SizeExp<'a>, see: &mut dyn FnMut(Part<'a>)| {
        size.size.into_iter().for_each(|e| see(Part::Exp(e)));
    };
    match ty.kind {
        TypeExpKind::Var(name) => see(Part::Use(name.parts[0].at.id)),
        TypeExpKind::Parens(inner) | TypeExpKind::Unique(inner) | TypeExpKind::Exists(_, inner) => {
            see(Part::Type(inner));
        }
        TypeExpKind::Tuple(items) => items.iter().for_each(|t| see(Part::Type(t))),
        TypeExpKind::Record(fields) => fields.iter().for_each(|(_, t)| see(Part::Type(t))),
        TypeExpKind::Array(extent, elem) => {
            size(&extent, see);
            see(Part::Type(elem));
        }
        TypeExpKind::Apply(head, arg) => {
            see(Part::Type(head));
            match arg {
                TypeArg::Size(extent) => size(&extent, see),
                TypeArg::Type(arg) => see(Part::Type(arg)),
            }
        }
        TypeExpKind::Arrow(_, from, to) => {
            see(Part::Type(from));
            see(Part::Type(to));
        }
        TypeExpKind::Sum(constructors) => {
            constructors.iter().flat_map(|(_, ts)| ts.iter()).for_each(|t| see(Part::Type(t)));
        }
        TypeExpKind::Error => {}
    }
}
