//! Types of definitions and expressions: inference with unification, sizes included.
//!
//! Invariants:
//! - After [`Checker::global`] every expression of the definition has a type in `types`, without variables that
//!   could still be inferred; uses of polymorphic names have what they chose in `instances`.
//! - A definition of the prelude is checked when first asked for: it costs nothing that is not used.
//! - Marks of uniqueness are kept in function types and told to nobody else; consumption is checked by a pass of
//!   its own, over the types found here.

mod apply;
mod causality;
mod control;
mod convert;
mod define;
mod entry;
mod exp;
mod itself;
mod operators;
mod pat;
mod recursion;
mod report;
mod settle;
mod show;
mod size;
mod slice;
mod ty;
mod unify;
mod vars;

use crate::names::{AbbrId, GlobalId, Names, Res};
use crate::syntax::ast::*;
pub(crate) use convert::Anonymous;
use galopvm_base::{Diagnostic, ElemType, IdMap, IdSet, IdTable, Span};
use std::collections::HashMap;
pub use ty::{
    Constructors, Instance, OpaqueId, Scheme, SchemeParam, Size, SizeExp, SizeHead, SizeVar, Type,
    TypeArgument, TypeVar, field_order, tuple_field,
};
pub use unify::Clash;
pub use vars::{Constraint, Opaque, TypeBinding, Unknown, Vars};

/// A literal whose range is checked once its type is known.
struct Literal<'a> {
    span: Span,
    number: Number<'a>,
    negated: bool,
    ty: Type,
}

enum GlobalState {
    /// Being checked: what its own body sees of it.
    Checking(Scheme),
    Done(Scheme),
}

/// What a definition's check leaves to be looked at when all its types are known.
#[derive(Default)]
struct Pending<'a> {
    literals: Vec<Literal<'a>>,
    /// Expressions, types and patterns that got a type.
    recent: Vec<NodeId>,
    recent_uses: Vec<NodeId>,
    /// Elements of array literals.
    elements: Vec<(Span, Type)>,
    /// Results of branches, which must be data.
    results: Vec<(Span, Type, &'static str, &'static str)>,
    loop_parameters: Vec<(Span, Type)>,
    /// Where definitions are used that have types by default, and which.
    guessed: Vec<(Span, GlobalId)>,
}

/// The checker and what it found out.
pub struct Checker<'a, 'n, 's> {
    /// Names and definitions.
    pub names: &'n mut Names<'a, 's>,
    /// Variables.
    pub vars: Vars,
    /// The type of each expression, pattern and written type.
    pub types: IdTable<NodeId, Type>,
    /// What each use of a polymorphic name chose.
    pub instances: IdMap<NodeId, Instance>,
    /// The sizes that an expression brings into being: its value tells them. For the pattern of a loop: the sizes
    /// that change from turn to turn.
    pub exts: IdMap<NodeId, Vec<NodeId>>,
    /// All sizes that expressions bring into being.
    created: IdSet<NodeId>,
    /// Sizes that only the value of a constant tells, and which constant.
    pub constant_sizes: IdMap<NodeId, GlobalId>,
    /// The names of the modules being defined, outermost first.
    pub(crate) module_path: Vec<String>,
    /// What named types stand for.
    pub bindings: IdMap<AbbrId, TypeBinding>,
    /// Places in types of definitions where nothing but a default decided.
    pub defaulted: Vec<(Span, ElemType)>,
    /// The first of them in each definition that has any.
    guesses: IdMap<GlobalId, (Span, ElemType)>,
    /// Typed holes.
    pub holes: Vec<NodeId>,
    /// Abstract types and parametric modules that the module type being matched asks for.
    pub(crate) abstract_types: usize,
    /// Types of the module type being read that a `with` around them defines.
    pub(crate) refined_types: Vec<AbbrId>,
    /// How many applications of parametric modules are being elaborated. What their bodies consume was checked with
    /// the parametric module.
    pub(crate) applications: u32,
    locals: IdMap<NodeId, Scheme>,
    globals: IdMap<GlobalId, GlobalState>,
    intrinsics: HashMap<&'static str, Scheme>,
    pending: Pending<'a>,
    /// Sizes that the function type being converted hides in its result.
    hidden: Vec<NodeId>,
    /// Sizes that the pattern being checked binds.
    size_binders: Vec<(NodeId, Size)>,
    /// The left side of the operator being checked, with its type and what it absorbed, until somebody asks for it.
    left: Option<(NodeId, Type, Vec<NodeId>)>,
}

impl<'a, 'n, 's> Checker<'a, 'n, 's> {
    /// A checker that has seen nothing.
    pub fn new(names: &'n mut Names<'a, 's>) -> Checker<'a, 'n, 's> {
        let mut vars = Vars::default();
        let mut bindings = IdMap::default();
        for (name, binding) in vars.builtin_types() {
            let nowhere = galopvm_base::Span { file: galopvm_base::FileId(0), start: 0, end: 0 };
            let at = At { span: nowhere, id: binding.params[0].id() };
            let id = names.abbrs.push(Name { text: name, at });
            bindings.insert(id, binding);
            names.builtin_types.insert(name, id);
        }
        Checker {
            names,
            vars,
            types: IdTable::default(),
            instances: IdMap::default(),
            exts: IdMap::default(),
            created: IdSet::default(),
            constant_sizes: IdMap::default(),
            module_path: Vec::new(),
            bindings,
            defaulted: Vec::new(),
            guesses: IdMap::default(),
            holes: Vec::new(),
            abstract_types: 0,
            refined_types: Vec::new(),
            applications: 0,
            locals: IdMap::default(),
            globals: IdMap::default(),
            intrinsics: HashMap::new(),
            pending: Pending::default(),
            hidden: Vec::new(),
            size_binders: Vec::new(),
            left: None,
        }
    }

    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        self.names.diagnostics.push(diagnostic);
    }

    pub(crate) fn bind(&mut self, name: &Name<'a>, ty: Type) {
        self.vars.written(name.at, name.text);
        self.vars.bind_level(name.at.id);
        self.locals.insert(name.at.id, Scheme::mono(ty));
    }

    /// The type of a local name, unless it is polymorphic.
    pub(crate) fn local(&self, id: NodeId) -> Option<&Type> {
        self.locals.get(&id).filter(|scheme| scheme.params.is_empty()).map(|scheme| &scheme.ty)
    }

    /// Makes type and size parameters known.
    pub(crate) fn type_params(&mut self, params: &'a [TypeParam<'a>]) {
        for (i, param) in params.iter().enumerate() {
            let (name, is_size) = param_name(param);
            let twice =
                params[..i].iter().map(param_name).find(|(n, size)| n.text == name.text && *size == is_size);
            if let Some((first, _)) = twice {
                let text =
                    format!("Type parameter \"{}\" previously defined: it is also bound here.", name.text);
                self.report(Diagnostic::error(name.at.span, text).with_place(first.at.span, "the first one"));
            }
            match param {
                TypeParam::Size(name) => self.bind(name, Type::SIZE),
                TypeParam::Type(lifted, name) => {
                    self.vars.written(name.at, name.text);
                    self.vars.lifted.insert(name.at.id, *lifted);
                    self.vars.bind_level(name.at.id);
                }
            }
        }
    }

    /// The scheme of what a name means; the built-in operators have theirs in `operators.rs`.
    pub(crate) fn scheme_of(&mut self, res: Res, span: Span) -> Scheme {
        match res {
            Res::Local(id) => self.locals.get(&id).cloned().unwrap_or_else(|| Scheme::mono(Type::Error)),
            Res::Global(id) => self.global(id),
            Res::View(id) => self.names.views[id].scheme.clone(),
            Res::Intrinsic(row) => {
                if let Some(scheme) = self.intrinsics.get(row.name) {
                    return scheme.clone();
                }
                let Some((params, ty)) = self.names.intrinsic_scheme(row) else {
                    return Scheme::mono(Type::Error);
                };
                let level = std::mem::take(&mut self.vars.level);
                self.type_params(params);
                let ty = self.type_exp(ty, Anonymous::Infer);
                self.vars.level = level;
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

fn param_name<'p, 'a>(param: &'p TypeParam<'a>) -> (&'p Name<'a>, bool) {
    match param {
        TypeParam::Size(name) => (name, true),
        TypeParam::Type(_, name) => (name, false),
    }
}

pub(crate) fn scheme_param(param: &TypeParam) -> SchemeParam {
    match param {
        TypeParam::Size(name) => SchemeParam::Size(name.at.id),
        TypeParam::Type(lifted, name) => SchemeParam::Type(name.at.id, *lifted),
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
