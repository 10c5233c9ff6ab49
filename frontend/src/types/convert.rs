//! Types as written to types as the checker sees them.

use super::{Checker, Size, SizeOp, Type};
use crate::names::Res;
use crate::syntax::ast::*;
use galopvm_base::Diagnostic;

/// What `[]` stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Anonymous {
    /// Some size, known when the program runs.
    Any,
    /// The size that the value has.
    Infer,
}

/// Abbreviations inside abbreviations; deeper must be a circle.
const MAX_ABBREVIATIONS: usize = 100;

impl<'a> Checker<'a, '_, '_> {
    pub(super) fn type_exp(&mut self, ty: &'a TypeExp<'a>, anonymous: Anonymous) -> Type {
        let converted = self.convert(ty, anonymous, &Arguments::default(), 0);
        self.types.insert(ty.at.id, converted.clone());
        self.recent.push(ty.at.id);
        converted
    }

    fn convert(&mut self, ty: &'a TypeExp<'a>, anon: Anonymous, args: &Arguments, depth: usize) -> Type {
        match ty.kind {
            TypeExpKind::Var(_) => self.named(ty, Vec::new(), anon, args, depth),
            TypeExpKind::Parens(inner) | TypeExpKind::Unique(inner) => self.convert(inner, anon, args, depth),
            TypeExpKind::Tuple(items) => {
                Type::tuple(items.iter().map(|t| self.convert(t, anon, args, depth)).collect())
            }
            TypeExpKind::Record(fields) => {
                for (i, (name, _)) in fields.iter().enumerate() {
                    if fields[..i].iter().any(|(n, _)| n.text == name.text) {
                        self.report(Diagnostic::error(
                            name.at.span,
                            format!("the field `{}` is there twice", name.text),
                        ));
                    }
                }
                Type::record(
                    fields.iter().map(|(n, t)| (n.text.into(), self.convert(t, anon, args, depth))).collect(),
                )
            }
            TypeExpKind::Array(size, inner) => {
                let size = self.size(&size, anon, args);
                let elem = self.convert(inner, anon, args, depth);
                if matches!(elem, Type::Arrow(..)) {
                    self.report(Diagnostic::error(ty.at.span, "functions cannot be elements of arrays"));
                }
                Type::array(size, elem)
            }
            TypeExpKind::Apply(..) => {
                let (mut head, mut given) = (ty, Vec::new());
                while let TypeExpKind::Apply(inner, arg) = head.kind {
                    given.push(arg);
                    head = inner;
                }
                given.reverse();
                self.named(head, given, anon, args, depth)
            }
            TypeExpKind::Arrow(name, from, to) => {
                let from = self.convert(from, anon, args, depth);
                if let Some(name) = &name {
                    self.bind(name, from.clone());
                }
                let to = self.convert(to, anon, args, depth);
                Type::Arrow(name.map(|n| n.at.id), from.into(), to.into())
            }
            TypeExpKind::Exists(sizes, inner) => {
                for name in sizes {
                    self.bind(name, Type::SIZE);
                }
                let ids: Vec<NodeId> = sizes.iter().map(|n| n.at.id).collect();
                let ty = self.convert(inner, anon, args, depth);
                self.vars.replace_sizes(&ty, &|id| ids.contains(&id).then_some(Size::Any))
            }
            TypeExpKind::Sum(_) | TypeExpKind::Error => Type::Error,
        }
    }

    /// A named type with its arguments.
    fn named(
        &mut self,
        head: &'a TypeExp<'a>,
        given: Vec<TypeArg<'a>>,
        anon: Anonymous,
        args: &Arguments,
        depth: usize,
    ) -> Type {
        let TypeExpKind::Var(name) = head.kind else {
            self.report(Diagnostic::error(head.at.span, "this type takes no arguments"));
            return Type::Error;
        };
        let res = self.names.uses.get(&name.parts[0].at.id).map_or(Res::Error, |u| u.res);
        let bind = match res {
            Res::Abbr(id) => self.names.abbrs[id],
            _ => {
                if !given.is_empty() {
                    let text = format!("the type `{}` takes no arguments", name.text());
                    self.report(Diagnostic::error(head.at.span, text));
                    return Type::Error;
                }
                return match res {
                    Res::Prim(ty) => Type::Prim(ty),
                    Res::TypeParam(id) => {
                        let known = args.types.iter().find(|(p, _)| *p == id);
                        known.map_or(Type::Param(id), |(_, t)| t.clone())
                    }
                    _ => Type::Error,
                };
            }
        };
        if depth > MAX_ABBREVIATIONS {
            self.report(Diagnostic::error(
                head.at.span,
                format!("the type `{}` contains itself", name.text()),
            ));
            return Type::Error;
        }
        if bind.params.len() != given.len() {
            let text = format!(
                "the type `{}` takes {} arguments, here are {}",
                name.text(),
                bind.params.len(),
                given.len()
            );
            self.report(Diagnostic::error(head.at.span, text).with_place(bind.name.at.span, "defined here"));
            return Type::Error;
        }
        let mut inner = Arguments::default();
        for (param, arg) in bind.params.iter().zip(given) {
            match (param, arg) {
                (TypeParam::Size(p), TypeArg::Size(size)) => {
                    let size = self.size(&size, anon, args);
                    inner.sizes.push((p.at.id, size));
                }
                (TypeParam::Type(_, p), TypeArg::Type(ty)) => {
                    let ty = self.convert(ty, anon, args, depth + 1);
                    inner.types.push((p.at.id, ty));
                }
                (TypeParam::Type(_, p), TypeArg::Size(size)) => {
                    let text = format!("`'{}` stands for a type, here is a size", p.text);
                    self.report(Diagnostic::error(size.at.span, text));
                }
                (TypeParam::Size(p), TypeArg::Type(ty)) => {
                    let text = format!("`[{}]` stands for a size, here is a type", p.text);
                    self.report(Diagnostic::error(ty.at.span, text));
                }
            }
        }
        self.convert(bind.def, anon, &inner, depth + 1)
    }

    fn size(&mut self, size: &SizeExp<'a>, anon: Anonymous, args: &Arguments) -> Size {
        match size.size {
            None if anon == Anonymous::Any => Size::Any,
            None => self.vars.fresh_size(),
            Some(exp) => {
                self.check(exp, &Type::SIZE, Some((size.at.span, "sizes are i64")));
                let size = self.exp_size(exp);
                match size {
                    Size::Name(id) => {
                        args.sizes.iter().find(|(p, _)| *p == id).map_or(Size::Name(id), |(_, s)| s.clone())
                    }
                    Size::Op(op, a, b) => {
                        let part = |s: &Size| match s {
                            Size::Name(id) => {
                                args.sizes.iter().find(|(p, _)| p == id).map_or(s.clone(), |(_, t)| t.clone())
                            }
                            other => other.clone(),
                        };
                        Size::op(op, part(&a), part(&b))
                    }
                    other => other,
                }
            }
        }
    }

    /// The size an i64 expression stands for; unknown unless it is made of names, numbers, `+`, `-` and `*`.
    pub(super) fn exp_size(&self, exp: &Exp<'a>) -> Size {
        match exp.kind {
            ExpKind::Parens(inner) | ExpKind::Ascript(inner, _) | ExpKind::Attr(_, inner) => {
                self.exp_size(inner)
            }
            ExpKind::Number(Number::Int(value)) => i64::try_from(value).map_or(Size::Any, Size::Const),
            ExpKind::Literal(scalar) => Size::Const(scalar.as_i64()),
            ExpKind::Var(_) => match self.names.uses.get(&exp.at.id) {
                Some(u) if u.fields == 0 => match u.res {
                    Res::Local(id) => Size::Name(id),
                    Res::Global(id) => Size::Name(self.names.globals[id].bind.name.at.id),
                    _ => Size::Any,
                },
                _ => Size::Any,
            },
            ExpKind::BinOp(op, a, b) => {
                let op = match self.names.uses.get(&op.at.id).map(|u| u.res) {
                    Some(Res::Operator("+")) => SizeOp::Add,
                    Some(Res::Operator("-")) => SizeOp::Sub,
                    Some(Res::Operator("*")) => SizeOp::Mul,
                    _ => return Size::Any,
                };
                Size::op(op, self.exp_size(a), self.exp_size(b))
            }
            _ => Size::Any,
        }
    }
}

/// What the parameters of an abbreviation stand for.
#[derive(Default)]
struct Arguments {
    types: Vec<(NodeId, Type)>,
    sizes: Vec<(NodeId, Size)>,
}
