//! Types of definitions and expressions: inference with unification, sizes tracked as far as they are known.
//!
//! Invariants:
//! - After [`Checker::global`] every expression of the definition has a type in `types`, without variables that
//!   could still be inferred; uses of polymorphic names have what they chose in `instances`.
//! - A definition is checked when first asked for; the prelude costs nothing that is not used.
//! - Uniqueness marks are accepted and dropped: values never change under their users' feet in core.

mod convert;
mod exp;
mod operators;
mod pat;
mod report;
mod ty;
mod unify;

use crate::names::{GlobalId, Names, Res};
use crate::syntax::ast::*;
use convert::Anonymous;
use galopvm_base::{Diagnostic, ElemType, Span};
use std::collections::HashMap;
pub use ty::{Instance, Scheme, SchemeParam, Size, SizeOp, Type, field_order};
pub use unify::{Constraint, Vars};

/// A literal whose range is checked once its type is known.
struct Literal {
    span: Span,
    value: u128,
    negated: bool,
    ty: Type,
}

enum GlobalState {
    Checking,
    Done(Scheme),
}

/// The checker and what it found out.
pub struct Checker<'a, 'n, 's> {
    /// Names and definitions.
    pub names: &'n mut Names<'a, 's>,
    /// Variables.
    pub vars: Vars,
    /// The type of each expression.
    pub types: HashMap<NodeId, Type>,
    /// What each use of a polymorphic name chose.
    pub instances: HashMap<NodeId, Instance>,
    locals: HashMap<NodeId, Scheme>,
    globals: HashMap<GlobalId, GlobalState>,
    intrinsics: HashMap<&'static str, Scheme>,
    literals: Vec<Literal>,
    /// Expressions and uses since the definition being checked began.
    recent: Vec<NodeId>,
    recent_uses: Vec<NodeId>,
}

impl<'a, 'n, 's> Checker<'a, 'n, 's> {
    /// A checker that has seen nothing.
    pub fn new(names: &'n mut Names<'a, 's>) -> Checker<'a, 'n, 's> {
        Checker {
            names,
            vars: Vars::default(),
            types: HashMap::new(),
            instances: HashMap::new(),
            locals: HashMap::new(),
            globals: HashMap::new(),
            intrinsics: HashMap::new(),
            literals: Vec::new(),
            recent: Vec::new(),
            recent_uses: Vec::new(),
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.names.diagnostics.push(diagnostic);
    }

    /// The type of a definition, checked now if it has not been.
    pub fn global(&mut self, id: GlobalId) -> Scheme {
        match self.globals.get(&id) {
            Some(GlobalState::Done(scheme)) => return scheme.clone(),
            // Only names above a definition are visible to it, so this is the prelude using itself in a circle.
            Some(GlobalState::Checking) => return Scheme::mono(Type::Error),
            None => {}
        }
        self.globals.insert(id, GlobalState::Checking);
        self.names.resolve(id);
        let bind = self.names.globals[id].bind;
        let outer = (
            std::mem::take(&mut self.literals),
            std::mem::take(&mut self.recent),
            std::mem::take(&mut self.recent_uses),
        );
        let mark = self.vars.mark();
        self.vars.names.insert(bind.name.at.id, bind.name.text.to_string());
        let ty = self.val_bind(bind);
        self.settle(mark, Some(&ty));
        let ty = self.vars.zonk(&ty);
        let scheme = self.generalise(bind, ty);
        self.finish();
        (self.literals, self.recent, self.recent_uses) = outer;
        self.globals.insert(id, GlobalState::Done(scheme.clone()));
        scheme
    }

    /// The type of an expression that is not part of a definition.
    pub fn expression(&mut self, exp: &'a Exp<'a>) -> Type {
        self.names.resolve_exp(exp);
        let mark = self.vars.mark();
        let ty = self.infer(exp);
        self.settle(mark, None);
        self.finish();
        self.vars.zonk(&ty)
    }

    /// The type of a function or constant, in the scope of its own parameters.
    fn val_bind(&mut self, bind: &'a ValBind<'a>) -> Type {
        self.type_params(bind.type_params);
        let mut params = Vec::new();
        for pat in bind.params {
            let ty = self.vars.fresh(pat.at.span);
            self.pat(pat, &ty, Anonymous::Any);
            params.push((pat, ty));
        }
        let result = match bind.result {
            Some(ty) => {
                let expected = self.type_exp(ty, Anonymous::Infer);
                self.check(bind.body, &expected, Some((ty.at.span, "the result type written here")));
                // What is left open by `[]` is known only when the program runs.
                let mut open = Vec::new();
                self.vars.free_sizes(&expected, &mut open);
                for (_, param) in &params {
                    let mut given = Vec::new();
                    self.vars.free_sizes(param, &mut given);
                    open.retain(|size| !given.contains(size));
                }
                open.into_iter().for_each(|size| self.vars.set_size(size, Size::Any));
                expected
            }
            None => self.infer(bind.body),
        };
        params.into_iter().rev().fold(result, |to, (pat, from)| {
            Type::Arrow(pat_name(pat), std::rc::Rc::new(from), std::rc::Rc::new(to))
        })
    }

    fn type_params(&mut self, params: &'a [TypeParam<'a>]) {
        for param in params {
            match param {
                TypeParam::Size(name) => self.bind(name, Type::SIZE),
                TypeParam::Type(_, name) => {
                    self.vars.names.insert(name.at.id, name.text.to_string());
                }
            }
        }
    }

    fn bind(&mut self, name: &Name<'a>, ty: Type) {
        self.vars.names.insert(name.at.id, name.text.to_string());
        self.locals.insert(name.at.id, Scheme::mono(ty));
    }

    /// Gives defaults to the variables made since `mark` that are still open; those that `keep` mentions and that
    /// may be anything stay.
    fn settle(&mut self, mark: usize, keep: Option<&Type>) {
        let mut kept = Vec::new();
        if let Some(ty) = keep {
            self.vars.free_vars(ty, &mut kept);
        }
        for var in self.vars.since(mark) {
            let Some((constraint, span)) = self.vars.free(var) else { continue };
            match constraint {
                Constraint::OneOf(set) => {
                    let has = |ty: ElemType| set & (1 << ty.code()) != 0;
                    let default = [ElemType::I32, ElemType::F64].into_iter().find(|t| has(*t));
                    let default = default.or_else(|| unify::set_members(*set).next());
                    self.vars.set(var, default.map_or(Type::Error, Type::Prim));
                }
                Constraint::Fields(fields) => {
                    let name = fields.first().map_or("", |(n, _)| n).to_string();
                    self.vars.set(var, Type::Error);
                    self.report(
                        Diagnostic::error(
                            span,
                            format!("the type of the value with field `{name}` is not known"),
                        )
                        .with_label("its type is needed here")
                        .with_hint("write its type: `(x: t)`"),
                    );
                }
                // Nothing depends on it: any type will do.
                Constraint::None if !kept.contains(&var) => self.vars.set(var, Type::tuple(Vec::new())),
                Constraint::None => {}
            }
        }
    }

    /// The scheme of a definition: written parameters, then a new one for each open variable.
    fn generalise(&mut self, bind: &'a ValBind<'a>, ty: Type) -> Scheme {
        let mut params: Vec<SchemeParam> = bind.type_params.iter().map(scheme_param).collect();
        let mut free = Vec::new();
        self.vars.free_vars(&ty, &mut free);
        for (i, var) in free.into_iter().enumerate() {
            let id = self.names.fresh_id();
            self.vars.names.insert(id, implicit_name(i));
            self.vars.set(var, Type::Param(id));
            params.push(SchemeParam::Type(id));
        }
        let mut sizes = Vec::new();
        self.vars.free_sizes(&ty, &mut sizes);
        for (i, var) in sizes.into_iter().enumerate() {
            let id = self.names.fresh_id();
            self.vars.names.insert(id, format!("d{i}"));
            self.vars.set_size(var, Size::Name(id));
            params.push(SchemeParam::Size(id));
        }
        // Sizes bound inside the body mean nothing outside of it.
        let mut known: Vec<NodeId> =
            params.iter().map(|(SchemeParam::Type(id) | SchemeParam::Size(id))| *id).collect();
        known.extend(bind.params.iter().filter_map(pat_name));
        known.extend(self.names.globals.iter().map(|g| g.bind.name.at.id));
        collect_arrow_names(&ty, &mut known);
        let ty = self.vars.zonk(&ty);
        let ty = self.vars.replace_sizes(&ty, &|id| (!known.contains(&id)).then_some(Size::Any));
        Scheme { params: params.into(), ty }
    }

    /// Replaces variables in what was recorded, and checks the ranges of literals.
    fn finish(&mut self) {
        for id in std::mem::take(&mut self.recent) {
            if let Some(ty) = self.types.get(&id) {
                let ty = self.vars.zonk(ty);
                self.types.insert(id, ty);
            }
        }
        for id in std::mem::take(&mut self.recent_uses) {
            if let Some(mut instance) = self.instances.remove(&id) {
                instance.types.iter_mut().for_each(|(_, t)| *t = self.vars.zonk(t));
                instance.sizes.iter_mut().for_each(|(_, s)| *s = self.vars.zonk_size(s));
                self.instances.insert(id, instance);
            }
        }
        for literal in std::mem::take(&mut self.literals) {
            let Type::Prim(ty) = self.vars.resolve(&literal.ty) else { continue };
            if !ty.is_int() {
                continue;
            }
            let greatest = if ty.is_signed() { (ty.mask() >> 1) as u128 } else { ty.mask() as u128 };
            let least_size = if ty.is_signed() { greatest + 1 } else { greatest };
            if literal.value > if literal.negated { least_size } else { greatest } {
                let text = format!("the literal {} does not fit {ty}", literal.value);
                self.report(
                    Diagnostic::error(literal.span, text)
                        .with_label(format!("{ty} ends at {greatest}"))
                        .with_hint("a suffix chooses another type: `1i64`"),
                );
            }
        }
    }

    /// The scheme of what a name means; the built-in operators have theirs in `operators.rs`.
    fn scheme_of(&mut self, res: Res, span: Span) -> Scheme {
        match res {
            Res::Local(id) => self.locals.get(&id).cloned().unwrap_or_else(|| Scheme::mono(Type::Error)),
            Res::Global(id) => self.global(id),
            Res::Intrinsic(row) => {
                if let Some(scheme) = self.intrinsics.get(row.name) {
                    return scheme.clone();
                }
                let Some((params, ty)) = self.names.intrinsic_scheme(row) else {
                    return Scheme::mono(Type::Error);
                };
                self.type_params(params);
                let ty = self.type_exp(ty, Anonymous::Any);
                let scheme = Scheme { params: params.iter().map(scheme_param).collect(), ty };
                self.intrinsics.insert(row.name, scheme.clone());
                scheme
            }
            Res::Member(ty, member) => Scheme::mono(self.member_type(ty, member)),
            Res::Operator(op) => Scheme::mono(self.operator_type(op, span)),
            Res::TypeParam(_) | Res::Abbr(_) | Res::Prim(_) | Res::Error => Scheme::mono(Type::Error),
        }
    }
}

fn scheme_param(param: &TypeParam) -> SchemeParam {
    match param {
        TypeParam::Size(name) => SchemeParam::Size(name.at.id),
        TypeParam::Type(_, name) => SchemeParam::Type(name.at.id),
    }
}

/// The binding a pattern consists of, if it is one name.
pub fn pat_name(pat: &Pat) -> Option<NodeId> {
    match pat.kind {
        PatKind::Id(_) => Some(pat.at.id),
        PatKind::Parens(inner) | PatKind::Ascript(inner, _) | PatKind::Attr(_, inner) => pat_name(inner),
        _ => None,
    }
}

fn collect_arrow_names(ty: &Type, out: &mut Vec<NodeId>) {
    match ty {
        Type::Arrow(name, from, to) => {
            out.extend(name);
            collect_arrow_names(from, out);
            collect_arrow_names(to, out);
        }
        Type::Array(_, elem) => collect_arrow_names(elem, out),
        Type::Record(fields) => fields.iter().for_each(|(_, t)| collect_arrow_names(t, out)),
        _ => {}
    }
}

/// `a`, `b`, .., `z`, `a1`, ..
fn implicit_name(index: usize) -> String {
    let letter = (b'a' + (index % 26) as u8) as char;
    if index < 26 { format!("{letter}") } else { format!("{letter}{}", index / 26) }
}
