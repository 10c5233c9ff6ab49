//! Types as written to types as the checker sees them.

use super::vars::{SizeOrigin, TypeBinding};
use super::{Checker, SchemeParam, Size, Type, TypeArgument};
use crate::names::Res;
use crate::syntax::ast::*;
use galopvm_base::{Diagnostic, Span};
use std::rc::Rc;

/// What `[]` stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anonymous {
    /// Some size that each use of the type makes anew: [`Size::Any`].
    Keep,
    /// The size that the value has.
    Infer,
    /// A size that a function's result hides; collected in [`Checker::hidden`].
    Hide {
        /// What it stands for in parameters further inside, which nobody but the whole type can name.
        params: Parameters,
    },
}

/// What `[]` stands for in the parameters of a function type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parameters {
    /// As [`Anonymous::Keep`].
    Keep,
    /// As [`Anonymous::Infer`].
    Infer,
}

impl Anonymous {
    /// What it stands for in the parameter of a function type here.
    fn parameter(self) -> Anonymous {
        match self {
            Anonymous::Keep | Anonymous::Hide { params: Parameters::Keep } => Anonymous::Keep,
            Anonymous::Infer | Anonymous::Hide { params: Parameters::Infer } => Anonymous::Infer,
        }
    }

    /// What it stands for in the result of a function type here.
    fn result(self) -> Anonymous {
        let params = match self.parameter() {
            Anonymous::Keep => Parameters::Keep,
            _ => Parameters::Infer,
        };
        Anonymous::Hide { params }
    }
}

/// Constructors of a sum type: which one a value has takes a byte.
const MOST_CONSTRUCTORS: usize = 256;

impl<'a> Checker<'a, '_, '_> {
    /// A written type, resolved before.
    pub(crate) fn type_exp(&mut self, ty: &'a TypeExp<'a>, anonymous: Anonymous) -> Type {
        let converted = self.convert(ty, anonymous);
        self.types.set(ty.at.id, converted.clone());
        self.pending.recent.push(ty.at.id);
        converted
    }

    fn convert(&mut self, ty: &'a TypeExp<'a>, anon: Anonymous) -> Type {
        match ty.kind {
            TypeExpKind::Var(_) => self.named(ty, Vec::new(), anon),
            TypeExpKind::Parens(inner) => self.convert(inner, anon),
            TypeExpKind::Unique(inner) => Type::Unique(Rc::new(self.convert(inner, anon))),
            TypeExpKind::Tuple(items) => Type::tuple(items.iter().map(|t| self.convert(t, anon)).collect()),
            TypeExpKind::Record(fields) => {
                for (i, (name, _)) in fields.iter().enumerate() {
                    if let Some((first, _)) = fields[..i].iter().find(|(n, _)| n.text == name.text) {
                        let text = format!("Duplicate fields in record type: {}", name.text);
                        self.report(
                            Diagnostic::error(name.at.span, text).with_place(first.at.span, "the first one"),
                        );
                    }
                }
                Type::record(fields.iter().map(|(n, t)| (n.text.into(), self.convert(t, anon))).collect())
            }
            TypeExpKind::Array(size, inner) => {
                let size = self.written_size(&size, anon);
                let elem = self.convert(inner, anon);
                self.array_element(inner.at.span, &elem);
                self.lifted_name(inner);
                // `[n]*t` has no meaning; the mark belongs to the whole.
                Type::array(size, self.vars.resolve(&elem))
            }
            TypeExpKind::Apply(..) => {
                let (mut head, mut given) = (ty, Vec::new());
                while let TypeExpKind::Apply(inner, arg) = head.kind {
                    given.push(arg);
                    head = inner;
                }
                given.reverse();
                self.named(head, given, anon)
            }
            TypeExpKind::Arrow(name, from, to) => {
                let from = self.convert(from, anon.parameter());
                if let Some(name) = &name {
                    self.argument_twice(name, to);
                    let plain = self.vars.resolve(&from);
                    self.bind(name, plain);
                }
                let outer = std::mem::take(&mut self.hidden);
                let to = self.convert(to, anon.result());
                let hidden = std::mem::replace(&mut self.hidden, outer);
                Type::Arrow(name.map(|n| n.at.id), from.into(), Type::exists(hidden, to).into())
            }
            TypeExpKind::Exists(sizes, inner) => {
                for name in sizes {
                    self.bind(name, Type::SIZE);
                }
                let ty = self.convert(inner, anon);
                for name in sizes {
                    if self.places_of_size(&ty, name.at.id) == 0 {
                        let text = format!("Existential size \"{}\" not used as array size.", name.text);
                        self.report(Diagnostic::error(name.at.span, text));
                    }
                }
                let ids: Vec<NodeId> = sizes.iter().map(|n| n.at.id).collect();
                if anon == Anonymous::Keep {
                    return Type::exists(ids, ty);
                }
                self.open(&Type::exists(ids, ty), anon, inner.at.span)
            }
            TypeExpKind::Sum(constructors) => {
                for (i, (name, _)) in constructors.iter().enumerate() {
                    if let Some((first, _)) = constructors[..i].iter().find(|(n, _)| n.text == name.text) {
                        let text = format!("Duplicate constructors in sum type: #{}", name.text);
                        self.report(
                            Diagnostic::error(name.at.span, text).with_place(first.at.span, "the first one"),
                        );
                    }
                }
                if constructors.len() > MOST_CONSTRUCTORS {
                    let text = format!(
                        "Sum types must have at most {MOST_CONSTRUCTORS} constructors, here are {}.",
                        constructors.len()
                    );
                    self.report(Diagnostic::error(ty.at.span, text));
                    return Type::Error;
                }
                let parts = constructors.iter().map(|(name, payload)| {
                    let payload: Vec<Type> = payload.iter().map(|t| self.convert(t, anon)).collect();
                    (Rc::from(name.text), Rc::from(payload))
                });
                Type::sum(parts.collect())
            }
            TypeExpKind::Error => Type::Error,
        }
    }

    /// Refuses a parameter's name that a later parameter has too.
    fn argument_twice(&mut self, name: &Name<'a>, rest: &'a TypeExp<'a>) {
        let mut rest = rest;
        while let TypeExpKind::Arrow(other, _, to) = rest.kind {
            if let Some(other) = other.filter(|other| other.text == name.text) {
                self.report_duplicates(&[
                    (name.text.to_string(), name.at.span),
                    (other.text.to_string(), other.at.span),
                ]);
            }
            rest = to;
        }
    }

    /// Refuses types that cannot be elements of arrays.
    pub(super) fn array_element(&mut self, span: Span, elem: &Type) {
        match self.vars.resolve(elem) {
            Type::Arrow(..) => {
                let shown = self.vars.show(elem);
                let text = format!(
                    "Cannot create array with elements of lifted type \"{shown}\": found to be functional."
                );
                self.report(
                    Diagnostic::error(span, text).with_label("functions cannot be elements of arrays"),
                );
            }
            Type::Param(id) if self.vars.lifted.get(&id).is_some_and(|l| *l != Lifted::No) => {
                self.lifted_element(span, elem);
            }
            Type::Opaque(id, _) if self.vars.opaques[id].lifted != Lifted::No => {
                self.lifted_element(span, elem)
            }
            Type::Record(fields) => fields.iter().for_each(|(_, t)| self.array_element(span, t)),
            Type::Sum(cs) => {
                cs.iter().flat_map(|(_, ts)| ts.iter()).for_each(|t| self.array_element(span, t))
            }
            _ => {}
        }
    }

    /// Refuses a named type declared `type~` or `type^` as an element.
    fn lifted_name(&mut self, written: &'a TypeExp<'a>) {
        let mut head = written;
        while let TypeExpKind::Parens(inner) | TypeExpKind::Apply(inner, _) = head.kind {
            head = inner;
        }
        let TypeExpKind::Var(name) = head.kind else { return };
        let res = self.names.uses.get(&name.parts[0].at.id).map(|u| u.res);
        if let Some(Res::Abbr(id)) = res
            && let Some(binding) = self.bindings.get(&id)
            && binding.lifted != Lifted::No
            && !matches!(self.vars.resolve(&binding.ty), Type::Opaque(..))
        {
            let text = format!("Cannot create array with elements of lifted type \"{}\".", name.text());
            self.report(
                Diagnostic::error(written.at.span, text)
                    .with_place(self.names.abbrs[id].at.span, "declared here")
                    .with_hint("declare it as `type`"),
            );
        }
    }

    fn lifted_element(&mut self, span: Span, elem: &Type) {
        let shown = self.vars.show(elem);
        let text = format!("Cannot create array with elements of lifted type \"{shown}\" as array element.");
        self.report(
            Diagnostic::error(span, text)
                .with_label(format!("\"{shown}\" might contain functions or hide sizes"))
                .with_hint("declare it without `^` or `~`"),
        );
    }

    /// Gives a meaning to the anonymous sizes of a type: those marked and those it hides at its top.
    pub(super) fn open(&mut self, ty: &Type, anon: Anonymous, span: Span) -> Type {
        if anon == Anonymous::Keep {
            return self.vars.zonk(ty);
        }
        let inner = match self.vars.resolve_unique(ty) {
            Type::Exists(ids, inner) => {
                let sizes: Vec<(NodeId, Size)> = ids
                    .iter()
                    .map(|id| {
                        let name = self.vars.names.get(id).cloned();
                        (*id, self.anonymous(anon, span, name))
                    })
                    .collect();
                self.vars
                    .replace_sizes(&inner, &|id| sizes.iter().find(|(p, _)| *p == id).map(|(_, s)| s.clone()))
            }
            other => other,
        };
        self.open_marks(&inner, anon, span)
    }

    fn open_marks(&mut self, ty: &Type, anon: Anonymous, span: Span) -> Type {
        match self.vars.resolve_unique(ty) {
            Type::Array(size, elem) => {
                let size = self.open_size(&size, anon, span);
                Type::array(size, self.open_marks(&elem, anon, span))
            }
            Type::Record(fields) => Type::Record(
                fields.iter().map(|(n, t)| (n.clone(), self.open_marks(t, anon, span))).collect(),
            ),
            Type::Sum(cs) => Type::Sum(
                cs.iter()
                    .map(|(n, ts)| (n.clone(), ts.iter().map(|t| self.open_marks(t, anon, span)).collect()))
                    .collect(),
            ),
            Type::Unique(inner) => Type::Unique(Rc::new(self.open_marks(&inner, anon, span))),
            hiding @ Type::Exists(..) => self.open(&hiding, anon, span),
            Type::Opaque(id, args) => Type::Opaque(
                id,
                args.iter()
                    .map(|arg| match arg {
                        TypeArgument::Type(t) => TypeArgument::Type(self.open_marks(t, anon, span)),
                        TypeArgument::Size(s) => TypeArgument::Size(self.open_size(s, anon, span)),
                    })
                    .collect(),
            ),
            other => other,
        }
    }

    fn open_size(&mut self, size: &Size, anon: Anonymous, span: Span) -> Size {
        match size {
            Size::Any => self.anonymous(anon, span, None),
            other => other.clone(),
        }
    }

    /// A size that is not written.
    fn anonymous(&mut self, anon: Anonymous, span: Span, name: Option<String>) -> Size {
        match anon {
            Anonymous::Keep => Size::Any,
            Anonymous::Infer => {
                let origin =
                    SizeOrigin { span, text: "explicit type ascription".into(), name, must_be_known: true };
                self.vars.size_from(origin, false)
            }
            Anonymous::Hide { .. } => {
                let id = self.vars.fresh_name(name.as_deref().unwrap_or("d"));
                self.hidden.push(id);
                Size::Name(id)
            }
        }
    }

    /// A named type with its arguments.
    fn named(&mut self, head: &'a TypeExp<'a>, given: Vec<TypeArg<'a>>, anon: Anonymous) -> Type {
        let span = head.at.span;
        let TypeExpKind::Var(name) = head.kind else {
            self.report(Diagnostic::error(span, "Type constructor applied to arguments is not a name"));
            return Type::Error;
        };
        let res = self.names.uses.get(&name.parts[0].at.id).map_or(Res::Error, |u| u.res);
        let binding = match res {
            Res::Abbr(id) => match self.bindings.get(&id) {
                Some(binding) => binding.clone(),
                None => return Type::Error,
            },
            Res::Prim(_) | Res::TypeParam(_) if !given.is_empty() => {
                let text = format!(
                    "Type constructor \"{}\" requires 0 arguments, but provided {}.",
                    name.text(),
                    given.len()
                );
                self.report(Diagnostic::error(span, text));
                return Type::Error;
            }
            Res::Prim(ty) => return Type::Prim(ty),
            Res::TypeParam(id) => return Type::Param(id),
            _ => return Type::Error,
        };
        if binding.params.len() != given.len() {
            let text = format!(
                "Type constructor \"{}\" requires {} arguments, but provided {}.",
                name.text(),
                binding.params.len(),
                given.len()
            );
            let mut diagnostic = Diagnostic::error(span, text);
            if let Res::Abbr(id) = res {
                diagnostic = diagnostic.with_place(self.names.abbrs[id].at.span, "defined here");
            }
            self.report(diagnostic);
            return Type::Error;
        }
        let mut args = Vec::new();
        // Sizes that the type is to hide itself, since several places have them.
        let mut own = Vec::new();
        for (param, arg) in binding.params.iter().zip(given) {
            let shown = self.vars.names.get(&param.id()).cloned().unwrap_or_default();
            match (param, arg) {
                (SchemeParam::Size(id), TypeArg::Size(size))
                    if anon == Anonymous::Keep
                        && size.size.is_none()
                        && self.places_of_size(&binding.ty, *id) > 1 =>
                {
                    let hidden = self.vars.fresh_name(&shown);
                    own.push(hidden);
                    args.push(TypeArgument::Size(Size::Name(hidden)));
                }
                (SchemeParam::Size(_), TypeArg::Size(size)) => {
                    args.push(TypeArgument::Size(self.written_size(&size, anon)));
                }
                (SchemeParam::Type(_, lifted), TypeArg::Type(ty)) => {
                    let at = ty.at.span;
                    let ty = self.convert(ty, anon);
                    if binding.lifted == Lifted::No {
                        self.check_lifted(at, &ty, *lifted, &shown);
                    }
                    args.push(TypeArgument::Type(ty));
                }
                (SchemeParam::Type(..), TypeArg::Size(size)) => {
                    let text = format!(
                        "Type argument for type parameter \"'{shown}\" of \"{}\" is a size",
                        name.text()
                    );
                    self.report(Diagnostic::error(size.at.span, text));
                    return Type::Error;
                }
                (SchemeParam::Size(_), TypeArg::Type(ty)) => {
                    let text = format!(
                        "Type argument for size parameter \"[{shown}]\" of \"{}\" is a type",
                        name.text()
                    );
                    self.report(
                        Diagnostic::error(ty.at.span, text).with_hint("sizes are written in brackets: `[n]`"),
                    );
                    return Type::Error;
                }
            }
        }
        let ty = Type::exists(own, self.expand(&binding, &args));
        self.open(&ty, anon, span)
    }

    /// How many times a type mentions a size by name.
    fn places_of_size(&self, ty: &Type, name: NodeId) -> usize {
        let mut places = 0;
        self.vars
            .each_size(ty, &mut |size| places += usize::from(matches!(size, Size::Name(id) if *id == name)));
        places
    }

    /// Refuses functions and hidden sizes where a type parameter does not allow them.
    fn check_lifted(&mut self, span: Span, ty: &Type, lifted: Lifted, param: &str) {
        let functional = lifted != Lifted::Full && self.may_be_functional(ty);
        if functional {
            let shown = self.vars.show(ty);
            let text = format!(
                "Non-lifted type parameter \"'{param}\" instantiated with \"{shown}\", which might contain functions."
            );
            self.report(Diagnostic::error(span, text));
        }
    }

    /// True if values of the type may be or hold functions.
    pub(crate) fn may_be_functional(&self, ty: &Type) -> bool {
        match self.vars.resolve(ty) {
            Type::Arrow(..) => true,
            Type::Param(id) => self.vars.lifted.get(&id) == Some(&Lifted::Full),
            Type::Opaque(id, args) => {
                self.vars.opaques[id].lifted == Lifted::Full
                    || args.iter().any(|a| matches!(a, TypeArgument::Type(t) if self.may_be_functional(t)))
            }
            Type::Array(_, inner) | Type::Exists(_, inner) => self.may_be_functional(&inner),
            Type::Record(fields) => fields.iter().any(|(_, t)| self.may_be_functional(t)),
            Type::Sum(cs) => cs.iter().flat_map(|(_, ts)| ts.iter()).any(|t| self.may_be_functional(t)),
            _ => false,
        }
    }

    /// What a named type with these arguments is.
    pub(crate) fn expand(&self, binding: &TypeBinding, args: &[TypeArgument]) -> Type {
        let (mut types, mut sizes) = (Vec::new(), Vec::new());
        for (param, arg) in binding.params.iter().zip(args) {
            match arg {
                TypeArgument::Type(t) => types.push((param.id(), t.clone())),
                TypeArgument::Size(s) => sizes.push((param.id(), s.clone())),
            }
        }
        let ty = self.vars.substitute(&binding.ty, &types);
        self.vars.replace_sizes(&ty, &|id| sizes.iter().find(|(p, _)| *p == id).map(|(_, s)| s.clone()))
    }

    fn written_size(&mut self, size: &SizeExp<'a>, anon: Anonymous) -> Size {
        let Some(exp) = size.size else { return self.anonymous(anon, size.at.span, None) };
        self.check(exp, &Type::SIZE, &super::report::Context::Size);
        match self.exp_size(exp) {
            Some(size) => size,
            None => {
                self.report(
                    Diagnostic::error(exp.at.span, "Size expression with binding is forbidden.")
                        .with_hint("bind it with `let` before, and use the name"),
                );
                Size::Any
            }
        }
    }
}
