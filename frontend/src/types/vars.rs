//! Type and size variables: what is known of them.
//!
//! Invariants:
//! - A bound variable is never bound again.
//! - A variable's level is that of the outermost binding group it belongs to: it may only stand for what is visible
//!   there.

use super::ty::{
    Instance, OpaqueId, Scheme, SchemeParam, Size, SizeExp, SizeVar, Type, TypeArgument, TypeVar,
};
use crate::syntax::ast::{At, Lifted, NodeId};
use galopvm_base::{ElemType, IdMap, IdVec, Span};
use std::rc::Rc;

/// What an unknown type must be.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// A scalar type of this set (one bit per code).
    pub set: Option<u16>,
    /// A record with at least these fields.
    pub fields: Vec<(Rc<str>, Type)>,
    /// A sum type with at least these constructors.
    pub constructors: Vec<(Rc<str>, Rc<[Type]>)>,
    /// Can be compared for equality.
    pub equality: bool,
    /// What it may stand for.
    pub lifted: Lifted,
}

impl Default for Constraint {
    fn default() -> Constraint {
        Constraint {
            set: None,
            fields: Vec::new(),
            constructors: Vec::new(),
            equality: false,
            lifted: Lifted::Full,
        }
    }
}

impl Constraint {
    /// One of a set of scalar types.
    pub fn one_of(set: u16) -> Constraint {
        Constraint { set: Some(set), ..Constraint::default() }
    }

    /// The types of its parts: fields and payloads.
    pub fn parts(&self) -> impl Iterator<Item = &Type> {
        let payloads = self.constructors.iter().flat_map(|(_, payload)| payload.iter());
        self.fields.iter().map(|(_, ty)| ty).chain(payloads)
    }

    /// True if nothing is asked but a degree of liftedness.
    pub fn is_open(&self) -> bool {
        self.set.is_none() && self.fields.is_empty() && self.constructors.is_empty()
    }
}

/// A set of scalar types.
pub fn type_set(of: impl Fn(ElemType) -> bool) -> u16 {
    ElemType::ALL.into_iter().filter(|t| of(*t)).fold(0, |set, t| set | 1 << t.code())
}

/// Members of a set of scalar types.
pub fn set_members(set: u16) -> impl Iterator<Item = ElemType> {
    ElemType::ALL.into_iter().filter(move |t| set & (1 << t.code()) != 0)
}

#[derive(Clone, Debug)]
pub(super) enum VarState {
    Bound(Type),
    Free { constraint: Constraint, span: Span, level: u32 },
}

impl Default for VarState {
    fn default() -> Self {
        VarState::Bound(Type::Error)
    }
}

#[derive(Clone, Debug)]
pub(super) enum SizeState {
    Bound(Size),
    Free {
        level: u32,
        /// Where it comes from, for messages about sizes that stay open.
        origin: SizeOrigin,
        /// It may stand for a size that only a value will tell.
        absorbs: bool,
    },
}

impl Default for SizeState {
    fn default() -> Self {
        SizeState::Bound(Size::Any)
    }
}

/// Where a size variable comes from.
#[derive(Clone, Debug)]
pub struct SizeOrigin {
    /// The place.
    pub span: Span,
    /// In words, as part of "arising from ..".
    pub text: String,
    /// The name it was written with, if any.
    pub name: Option<String>,
    /// If it stays open, that is an error.
    pub must_be_known: bool,
}

/// An abstract type.
#[derive(Clone, Debug)]
pub struct Opaque {
    /// Its name, with the module's.
    pub name: String,
    /// What it may stand for.
    pub lifted: Lifted,
    /// What it is outside of the type checker; none while a parametric module is checked by itself.
    pub definition: Option<TypeBinding>,
}

/// A type with parameters: an abbreviation, or what an abstract type stands for. [`Size::Any`] in it is an anonymous
/// size that each use makes anew.
#[derive(Clone, Debug)]
pub struct TypeBinding {
    /// Its parameters.
    pub params: Rc<[SchemeParam]>,
    /// The type.
    pub ty: Type,
    /// How it was declared.
    pub lifted: Lifted,
}

/// A size that came into being where nothing else tells it.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// Where.
    pub span: Span,
    /// What it is, in words.
    pub text: String,
}

/// All type and size variables of one compilation.
#[derive(Default)]
pub struct Vars {
    pub(super) types: IdVec<TypeVar, VarState>,
    pub(super) sizes: IdVec<SizeVar, SizeState>,
    /// Names of type parameters and of variables that sizes mention.
    pub names: IdMap<NodeId, String>,
    /// Where the source binds them; the others have no place.
    pub places: IdMap<NodeId, Span>,
    /// Abstract types.
    pub opaques: IdVec<OpaqueId, Opaque>,
    /// The levels of names bound inside definitions; others are visible everywhere.
    pub(super) levels: IdMap<NodeId, u32>,
    /// Sizes that only the run tells.
    pub unknowns: IdMap<NodeId, Unknown>,
    /// Type parameters: what they may stand for.
    pub lifted: IdMap<NodeId, Lifted>,
    /// The current level.
    pub level: u32,
    /// Unknown sizes that unification brought into being.
    pub(super) absorbed: Vec<NodeId>,
    /// All of them, with the sizes they stand for.
    pub(super) ever_absorbed: IdMap<NodeId, Size>,
    /// Numbers for names that have no node.
    pub(super) next_name: u32,
}

/// Names made by the checker are numbered downwards from here, away from the parser's.
const FIRST_NAME: u32 = u32::MAX;

impl Vars {
    /// A new unknown type.
    pub fn fresh(&mut self, span: Span) -> Type {
        self.constrained(Constraint::default(), span)
    }

    /// A new unknown type that must satisfy a constraint.
    pub fn constrained(&mut self, constraint: Constraint, span: Span) -> Type {
        let level = self.level;
        Type::Var(self.types.push(VarState::Free { constraint, span, level }))
    }

    /// A new unknown type that must be one of a set of scalar types.
    pub fn one_of(&mut self, set: u16, span: Span) -> Type {
        self.constrained(Constraint::one_of(set), span)
    }

    /// Whether a type is one of these scalar types, or is to become one.
    pub fn is_one_of(&self, ty: &Type, set: u16) -> bool {
        match self.follow(ty) {
            Type::Prim(prim) => set & (1 << prim.code()) != 0,
            Type::Var(var) => match &self.types[*var] {
                VarState::Free { constraint, .. } => constraint.set.is_some_and(|own| own & !set == 0),
                VarState::Bound(_) => false,
            },
            _ => false,
        }
    }

    /// A new unknown size.
    pub fn fresh_size(&mut self, span: Span, text: &str) -> Size {
        let origin = SizeOrigin { span, text: text.into(), name: None, must_be_known: false };
        self.size_from(origin, false)
    }

    /// A new unknown size with its origin; it may absorb sizes that only a value tells.
    pub fn size_from(&mut self, origin: SizeOrigin, absorbs: bool) -> Size {
        let level = self.level;
        Size::Var(self.sizes.push(SizeState::Free { level, origin, absorbs }))
    }

    /// A name that the source binds.
    pub fn written(&mut self, at: At, name: &str) {
        self.names.insert(at.id, name.to_string());
        self.places.insert(at.id, at.span);
    }

    /// A name that no node has.
    pub fn fresh_name(&mut self, text: &str) -> NodeId {
        self.next_name += 1;
        let id = NodeId(FIRST_NAME - self.next_name);
        self.names.insert(id, text.to_string());
        id
    }

    /// A size that only the run tells.
    pub fn unknown(&mut self, span: Span, name: &str, text: impl Into<String>) -> NodeId {
        let id = self.fresh_name(name);
        self.unknowns.insert(id, Unknown { span, text: text.into() });
        id
    }

    /// Says that a name is bound at the current level.
    pub fn bind_level(&mut self, id: NodeId) {
        let level = self.level;
        self.levels.insert(id, level);
    }

    /// Number of type variables so far: those made later have greater numbers.
    pub fn mark(&self) -> (usize, usize) {
        (self.types.len(), self.sizes.len())
    }

    /// The constraint and origin of an unbound variable.
    pub fn free(&self, var: TypeVar) -> Option<(&Constraint, Span)> {
        match &self.types[var] {
            VarState::Free { constraint, span, .. } => Some((constraint, *span)),
            VarState::Bound(_) => None,
        }
    }

    /// The origin of an unbound size variable.
    pub fn free_size(&self, var: SizeVar) -> Option<(&SizeOrigin, u32)> {
        match &self.sizes[var] {
            SizeState::Free { origin, level, .. } => Some((origin, *level)),
            SizeState::Bound(_) => None,
        }
    }

    /// Binds an unbound variable without asking.
    pub fn set(&mut self, var: TypeVar, ty: Type) {
        self.types[var] = VarState::Bound(ty);
    }

    /// Binds an unbound size variable without asking.
    pub fn set_size(&mut self, var: SizeVar, size: Size) {
        self.sizes[var] = SizeState::Bound(size);
    }

    /// Variables made since a mark.
    pub fn since(&self, mark: (usize, usize)) -> (Vec<TypeVar>, Vec<SizeVar>) {
        (self.types.ids().skip(mark.0).collect(), self.sizes.ids().skip(mark.1).collect())
    }

    /// The type with its outermost variables followed; the mark of uniqueness stays.
    pub fn resolve_unique(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        while let Type::Var(var) = ty {
            match &self.types[var] {
                VarState::Bound(inner) => ty = inner.clone(),
                VarState::Free { .. } => break,
            }
        }
        ty
    }

    /// The type with its outermost variables followed, without a mark of uniqueness.
    pub fn resolve(&self, ty: &Type) -> Type {
        let mut ty = self.resolve_unique(ty);
        while let Type::Unique(inner) = ty {
            ty = self.resolve_unique(&inner);
        }
        ty
    }

    /// The type without marks of uniqueness outside of function types.
    pub fn without_marks(&self, ty: &Type) -> Type {
        match self.resolve(ty) {
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(n, t)| (n.clone(), self.without_marks(t))).collect())
            }
            Type::Sum(cs) => Type::Sum(
                cs.iter()
                    .map(|(n, ts)| (n.clone(), ts.iter().map(|t| self.without_marks(t)).collect()))
                    .collect(),
            ),
            other => other,
        }
    }

    /// The size with its outermost variables followed.
    pub fn resolve_size(&self, size: &Size) -> Size {
        let mut size = size.clone();
        while let Size::Var(var) = size {
            match &self.sizes[var] {
                SizeState::Bound(inner) => size = inner.clone(),
                SizeState::Free { .. } => break,
            }
        }
        size
    }

    /// The type with all variables followed.
    pub fn zonk(&self, ty: &Type) -> Type {
        if self.is_open(ty, false) { self.map_sizes(ty, &mut |_| None) } else { ty.clone() }
    }

    /// The size with all variables followed.
    pub fn zonk_size(&self, size: &Size) -> Size {
        if size_is_open(size) { self.map_size(size, &mut |_| None) } else { size.clone() }
    }

    /// The type with all variables followed and sizes replaced: `by` is asked for each size, outermost first.
    pub fn map_sizes(&self, ty: &Type, by: &mut dyn FnMut(&Size) -> Option<Size>) -> Type {
        match self.resolve_unique(ty) {
            Type::Unique(inner) => Type::Unique(Rc::new(self.map_sizes(&inner, by))),
            Type::Exists(ids, inner) => Type::Exists(ids, Rc::new(self.map_sizes(&inner, by))),
            Type::Array(size, elem) => {
                let size = self.map_size(&size, by);
                Type::array(size, self.map_sizes(&elem, by))
            }
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(name, t)| (name.clone(), self.map_sizes(t, by))).collect())
            }
            Type::Sum(constructors) => Type::Sum(
                constructors
                    .iter()
                    .map(|(name, ts)| (name.clone(), ts.iter().map(|t| self.map_sizes(t, by)).collect()))
                    .collect(),
            ),
            Type::Arrow(name, from, to) => {
                let from = self.map_sizes(&from, by);
                Type::Arrow(name, Rc::new(from), Rc::new(self.map_sizes(&to, by)))
            }
            Type::Opaque(id, args) => Type::Opaque(
                id,
                args.iter()
                    .map(|arg| match arg {
                        TypeArgument::Type(t) => TypeArgument::Type(self.map_sizes(t, by)),
                        TypeArgument::Size(s) => TypeArgument::Size(self.map_size(s, by)),
                    })
                    .collect(),
            ),
            other @ (Type::Prim(_) | Type::Var(_) | Type::Param(_) | Type::Error) => other,
        }
    }

    /// The size with all variables followed and parts replaced: `by` is asked for each part, outermost first.
    pub fn map_size(&self, size: &Size, by: &mut dyn FnMut(&Size) -> Option<Size>) -> Size {
        let size = self.resolve_size(size);
        if let Some(new) = by(&size) {
            return new;
        }
        match size {
            Size::Exp(exp) => Size::Exp(Rc::new(SizeExp {
                head: exp.head.clone(),
                args: exp.args.iter().map(|a| self.map_size(a, by)).collect(),
            })),
            other => other,
        }
    }

    /// The type with its outermost variables followed, in place.
    fn follow<'t>(&'t self, mut ty: &'t Type) -> &'t Type {
        while let Type::Var(var) = ty {
            match &self.types[*var] {
                VarState::Bound(inner) => ty = inner,
                VarState::Free { .. } => break,
            }
        }
        ty
    }

    fn follow_size<'t>(&'t self, mut size: &'t Size) -> &'t Size {
        while let Size::Var(var) = size {
            match &self.sizes[*var] {
                SizeState::Bound(inner) => size = inner,
                SizeState::Free { .. } => break,
            }
        }
        size
    }

    /// Calls `see` with every size of a type, outermost first, and with the parts of size expressions.
    pub fn each_size(&self, ty: &Type, see: &mut dyn FnMut(&Size)) {
        match self.follow(ty) {
            Type::Unique(inner) | Type::Exists(_, inner) => self.each_size(inner, see),
            Type::Array(size, elem) => {
                self.each_part(size, see);
                self.each_size(elem, see);
            }
            Type::Record(fields) => fields.iter().for_each(|(_, t)| self.each_size(t, see)),
            Type::Sum(cs) => cs.iter().flat_map(|(_, ts)| ts.iter()).for_each(|t| self.each_size(t, see)),
            Type::Arrow(_, from, to) => {
                self.each_size(from, see);
                self.each_size(to, see);
            }
            Type::Opaque(_, args) => args.iter().for_each(|arg| match arg {
                TypeArgument::Type(t) => self.each_size(t, see),
                TypeArgument::Size(s) => self.each_part(s, see),
            }),
            Type::Prim(_) | Type::Var(_) | Type::Param(_) | Type::Error => {}
        }
    }

    pub(super) fn each_part(&self, size: &Size, see: &mut dyn FnMut(&Size)) {
        let size = self.follow_size(size);
        see(size);
        if let Size::Exp(exp) = size {
            exp.args.iter().for_each(|arg| self.each_part(arg, see));
        }
    }

    /// True if the type has more parts than that; looks at no more of them.
    pub fn is_larger(&self, ty: &Type, limit: usize) -> bool {
        fn count(vars: &Vars, ty: &Type, left: usize) -> Option<usize> {
            let left = left.checked_sub(1)?;
            match vars.follow(ty) {
                Type::Prim(_) | Type::Var(_) | Type::Param(_) | Type::Error => Some(left),
                Type::Unique(inner) | Type::Exists(_, inner) | Type::Array(_, inner) => {
                    count(vars, inner, left)
                }
                Type::Record(fields) => fields.iter().try_fold(left, |left, (_, t)| count(vars, t, left)),
                Type::Sum(cs) => {
                    cs.iter().flat_map(|(_, ts)| ts.iter()).try_fold(left, |left, t| count(vars, t, left))
                }
                Type::Arrow(_, from, to) => count(vars, to, count(vars, from, left)?),
                Type::Opaque(_, args) => args.iter().try_fold(left, |left, arg| match arg {
                    TypeArgument::Type(t) => count(vars, t, left),
                    TypeArgument::Size(_) => Some(left),
                }),
            }
        }
        count(self, ty, limit).is_none()
    }

    /// True if following variables would change the type, or it has a type parameter (for `params`).
    fn is_open(&self, ty: &Type, params: bool) -> bool {
        match ty {
            Type::Var(_) => true,
            Type::Param(_) => params,
            Type::Prim(_) | Type::Error => false,
            Type::Unique(inner) | Type::Exists(_, inner) => self.is_open(inner, params),
            Type::Array(size, elem) => size_is_open(size) || self.is_open(elem, params),
            Type::Record(fields) => fields.iter().any(|(_, t)| self.is_open(t, params)),
            Type::Sum(cs) => cs.iter().flat_map(|(_, ts)| ts.iter()).any(|t| self.is_open(t, params)),
            Type::Arrow(_, from, to) => self.is_open(from, params) || self.is_open(to, params),
            Type::Opaque(_, args) => args.iter().any(|arg| match arg {
                TypeArgument::Type(t) => self.is_open(t, params),
                TypeArgument::Size(s) => size_is_open(s),
            }),
        }
    }

    /// The type with named sizes replaced.
    pub fn replace_sizes(&self, ty: &Type, by: &dyn Fn(NodeId) -> Option<Size>) -> Type {
        let mut touched = false;
        self.each_size(ty, &mut |size| touched |= matches!(size, Size::Name(id) if by(*id).is_some()));
        if !touched {
            return ty.clone();
        }
        self.map_sizes(ty, &mut |size| match size {
            Size::Name(id) => by(*id),
            _ => None,
        })
    }

    /// The type with types for its parameters, all variables followed.
    pub fn substitute(&self, ty: &Type, types: &[(NodeId, Type)]) -> Type {
        if !self.is_open(ty, !types.is_empty()) {
            return ty.clone();
        }
        match self.resolve_unique(ty) {
            Type::Param(id) => {
                types.iter().find(|(p, _)| *p == id).map_or(Type::Param(id), |(_, t)| t.clone())
            }
            Type::Unique(inner) => Type::Unique(Rc::new(self.substitute(&inner, types))),
            Type::Exists(ids, inner) => Type::Exists(ids, Rc::new(self.substitute(&inner, types))),
            Type::Array(size, elem) => Type::array(self.zonk_size(&size), self.substitute(&elem, types)),
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(n, t)| (n.clone(), self.substitute(t, types))).collect())
            }
            Type::Sum(constructors) => Type::Sum(
                constructors
                    .iter()
                    .map(|(n, ts)| (n.clone(), ts.iter().map(|t| self.substitute(t, types)).collect()))
                    .collect(),
            ),
            Type::Arrow(name, from, to) => {
                let from = self.substitute(&from, types);
                Type::Arrow(name, Rc::new(from), Rc::new(self.substitute(&to, types)))
            }
            Type::Opaque(id, args) => Type::Opaque(
                id,
                args.iter()
                    .map(|arg| match arg {
                        TypeArgument::Type(t) => TypeArgument::Type(self.substitute(t, types)),
                        TypeArgument::Size(s) => TypeArgument::Size(self.zonk_size(s)),
                    })
                    .collect(),
            ),
            other @ (Type::Prim(_) | Type::Var(_) | Type::Error) => other,
        }
    }

    /// The scheme's type with new variables for its parameters. `function` is the name used, for messages.
    pub fn instantiate(&mut self, scheme: &Scheme, span: Span, function: &str) -> (Type, Instance) {
        let mut instance = Instance::default();
        if scheme.params.is_empty() {
            return (scheme.ty.clone(), instance);
        }
        for param in scheme.params.iter() {
            match *param {
                SchemeParam::Type(id, lifted) => {
                    let constraint = Constraint { lifted, ..Constraint::default() };
                    instance.types.push((id, self.constrained(constraint, span)));
                }
                SchemeParam::Size(id) => {
                    let origin = SizeOrigin {
                        span,
                        text: format!("instantiated size parameter of \"{function}\""),
                        name: self.names.get(&id).cloned(),
                        must_be_known: true,
                    };
                    instance.sizes.push((id, self.size_from(origin, true)));
                }
            }
        }
        let ty = self.substitute(&scheme.ty, &instance.types);
        let sizes = &instance.sizes;
        let ty = self.replace_sizes(&ty, &|id| sizes.iter().find(|(p, _)| *p == id).map(|(_, s)| s.clone()));
        (ty, instance)
    }

    /// What an abstract type stands for, if that is known; otherwise the type itself.
    pub fn reveal(&self, ty: &Type) -> Type {
        let mut ty = self.resolve(ty);
        while let Type::Opaque(id, args) = &ty {
            let Some(definition) = &self.opaques[*id].definition else { break };
            let mut types = Vec::new();
            let mut sizes = Vec::new();
            for (param, arg) in definition.params.iter().zip(args.iter()) {
                match arg {
                    TypeArgument::Type(t) => types.push((param.id(), t.clone())),
                    TypeArgument::Size(s) => sizes.push((param.id(), s.clone())),
                }
            }
            let inner = self.substitute(&definition.ty, &types);
            let find = |id: NodeId| sizes.iter().find(|(p, _)| *p == id).map(|(_, s)| s.clone());
            ty = self.resolve(&self.replace_sizes(&inner, &find));
        }
        ty
    }

    /// Unbound variables in a type, in order of occurrence.
    pub fn free_vars(&self, ty: &Type, out: &mut Vec<TypeVar>) {
        match self.follow(ty) {
            Type::Var(var) if !out.contains(var) => out.push(*var),
            Type::Array(_, elem) | Type::Exists(_, elem) | Type::Unique(elem) => self.free_vars(elem, out),
            Type::Record(fields) => fields.iter().for_each(|(_, t)| self.free_vars(t, out)),
            Type::Sum(cs) => cs.iter().flat_map(|(_, ts)| ts.iter()).for_each(|t| self.free_vars(t, out)),
            Type::Arrow(_, from, to) => {
                self.free_vars(from, out);
                self.free_vars(to, out);
            }
            Type::Opaque(_, args) => args.iter().for_each(|arg| {
                if let TypeArgument::Type(t) = arg {
                    self.free_vars(t, out);
                }
            }),
            _ => {}
        }
    }

    /// Unbound size variables in a type, in order of occurrence.
    pub fn free_sizes(&self, ty: &Type, out: &mut Vec<SizeVar>) {
        self.each_size(ty, &mut |size| {
            if let Size::Var(var) = size
                && !out.contains(var)
            {
                out.push(*var);
            }
        });
    }

    /// Names that the sizes of a type mention, in order.
    pub fn size_names(&self, ty: &Type) -> Vec<NodeId> {
        let mut names = Vec::new();
        self.each_size(ty, &mut |size| {
            if let Size::Name(id) = size
                && !names.contains(id)
            {
                names.push(*id);
            }
        });
        names
    }

    /// True if a size in the type mentions the name.
    pub fn mentions_name(&self, ty: &Type, id: NodeId) -> bool {
        let mut found = false;
        self.each_size(ty, &mut |size| found |= matches!(size, Size::Name(name) if *name == id));
        found
    }

    /// The unknown sizes that unification brought into being since the last call.
    pub fn take_absorbed(&mut self) -> Vec<NodeId> {
        std::mem::take(&mut self.absorbed)
    }
}

impl Vars {
    /// Types that only the compiler defines: accumulators over a value.
    pub(super) fn builtin_types(&mut self) -> Vec<(&'static str, TypeBinding)> {
        let param = self.fresh_name("t");
        self.lifted.insert(param, Lifted::No);
        let opaque = Opaque { name: "intrinsics.acc".into(), lifted: Lifted::Size, definition: None };
        let id = self.opaques.push(opaque);
        let ty = Type::Opaque(id, Rc::from([TypeArgument::Type(Type::Param(param))]));
        let params = Rc::from([SchemeParam::Type(param, Lifted::No)]);
        vec![("acc", TypeBinding { params, ty, lifted: Lifted::Size })]
    }

    /// How many names the checker has made: those made later are newer.
    pub fn unknown_mark(&self) -> u32 {
        self.next_name
    }

    /// True for a size that stands for whatever a function's result hides.
    pub(super) fn is_absorbed(&self, id: NodeId) -> bool {
        self.ever_absorbed.contains_key(&id)
    }

    /// True for a size that only the run tells and that came into being since the mark.
    pub fn is_unknown_since(&self, id: NodeId, mark: u32) -> bool {
        FIRST_NAME - id.0 > mark && self.unknowns.contains_key(&id)
    }
}

fn size_is_open(size: &Size) -> bool {
    match size {
        Size::Var(_) => true,
        Size::Exp(exp) => exp.args.iter().any(size_is_open),
        Size::Any | Size::Const(_) | Size::Name(_) => false,
    }
}
