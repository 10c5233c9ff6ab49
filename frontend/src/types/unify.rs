//! Type variables: what is known of them, and making types equal.

use super::ty::{Instance, Scheme, SchemeParam, Size, SizeVar, Type, TypeVar};
use crate::syntax::ast::NodeId;
use galopvm_base::{ElemType, IdVec, Span};
use std::collections::HashMap;
use std::rc::Rc;

/// What an unknown type must be.
#[derive(Clone, Debug)]
pub enum Constraint {
    /// Anything.
    None,
    /// A scalar type of this set (one bit per code).
    OneOf(u16),
    /// A record with at least these fields.
    Fields(Vec<(Rc<str>, Type)>),
}

/// A set of scalar types.
pub fn type_set(of: impl Fn(ElemType) -> bool) -> u16 {
    ElemType::ALL.into_iter().filter(|t| of(*t)).fold(0, |set, t| set | 1 << t.code())
}

/// Members of a set of scalar types.
pub fn set_members(set: u16) -> impl Iterator<Item = ElemType> {
    ElemType::ALL.into_iter().filter(move |t| set & (1 << t.code()) != 0)
}

/// How messages call a set of scalar types.
pub fn set_name(set: u16) -> String {
    let mut members = set_members(set);
    match (members.next(), members.next()) {
        (Some(only), None) => only.name().to_string(),
        _ if set & type_set(ElemType::is_int) == 0 => "a float type".into(),
        _ if set & type_set(ElemType::is_float) == 0 => "an integer type".into(),
        _ if set & type_set(|t| t == ElemType::Bool) == 0 => "a number type".into(),
        _ => "a scalar type".into(),
    }
}

#[derive(Clone, Debug)]
enum VarState {
    Bound(Type),
    Free(Constraint, Span),
}

/// Why two types cannot be equal.
#[derive(Clone, Debug)]
pub enum Clash {
    /// They are built differently.
    Shape,
    /// Two sizes differ.
    Size(Size, Size),
    /// A type would contain itself.
    Infinite,
    /// Not one of these scalar types.
    NotOneOf(u16, Type),
    /// A field is missing.
    NoField(Rc<str>, Type),
}

/// All type and size variables of one compilation.
#[derive(Default)]
pub struct Vars {
    types: IdVec<TypeVar, VarState>,
    sizes: IdVec<SizeVar, Option<Size>>,
    /// Names of type parameters and of variables that sizes mention.
    pub names: HashMap<NodeId, String>,
}

impl Default for VarState {
    fn default() -> Self {
        VarState::Bound(Type::Error)
    }
}

impl Vars {
    /// A new unknown type.
    pub fn fresh(&mut self, span: Span) -> Type {
        self.constrained(Constraint::None, span)
    }

    /// A new unknown type that must satisfy a constraint.
    pub fn constrained(&mut self, constraint: Constraint, span: Span) -> Type {
        Type::Var(self.types.push(VarState::Free(constraint, span)))
    }

    /// A new unknown size.
    pub fn fresh_size(&mut self) -> Size {
        Size::Var(self.sizes.push(None))
    }

    /// Number of type variables so far: those made later have greater numbers.
    pub fn mark(&self) -> usize {
        self.types.len()
    }

    /// The constraint and origin of an unbound variable.
    pub fn free(&self, var: TypeVar) -> Option<(&Constraint, Span)> {
        match &self.types[var] {
            VarState::Free(constraint, span) => Some((constraint, *span)),
            VarState::Bound(_) => None,
        }
    }

    /// Binds an unbound variable without asking.
    pub fn set(&mut self, var: TypeVar, ty: Type) {
        self.types[var] = VarState::Bound(ty);
    }

    /// The type with its outermost variables followed.
    pub fn resolve(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        while let Type::Var(var) = ty {
            match &self.types[var] {
                VarState::Bound(inner) => ty = inner.clone(),
                VarState::Free(..) => break,
            }
        }
        ty
    }

    /// The size with its outermost variables followed.
    pub fn resolve_size(&self, size: &Size) -> Size {
        let mut size = size.clone();
        while let Size::Var(var) = size {
            match &self.sizes[var] {
                Some(inner) => size = inner.clone(),
                None => break,
            }
        }
        size
    }

    /// The type with all variables followed.
    pub fn zonk(&self, ty: &Type) -> Type {
        match self.resolve(ty) {
            Type::Array(size, elem) => Type::array(self.zonk_size(&size), self.zonk(&elem)),
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(name, t)| (name.clone(), self.zonk(t))).collect())
            }
            Type::Arrow(name, from, to) => {
                Type::Arrow(name, Rc::new(self.zonk(&from)), Rc::new(self.zonk(&to)))
            }
            other => other,
        }
    }

    /// The size with all variables followed.
    pub fn zonk_size(&self, size: &Size) -> Size {
        match self.resolve_size(size) {
            Size::Op(op, a, b) => Size::op(op, self.zonk_size(&a), self.zonk_size(&b)),
            other => other,
        }
    }

    /// Makes two types equal.
    pub fn unify(&mut self, a: &Type, b: &Type) -> Result<(), Clash> {
        let (a, b) = (self.resolve(a), self.resolve(b));
        match (&a, &b) {
            (Type::Error, _) | (_, Type::Error) => Ok(()),
            (Type::Var(x), Type::Var(y)) if x == y => Ok(()),
            (Type::Var(x), Type::Var(y)) => {
                let merged = self.merge(*x, *y)?;
                self.types[*x] = VarState::Bound(b.clone());
                if let VarState::Free(constraint, _) = &mut self.types[*y] {
                    *constraint = merged;
                }
                Ok(())
            }
            (Type::Var(x), _) => self.bind(*x, &b),
            (_, Type::Var(y)) => self.bind(*y, &a),
            (Type::Prim(x), Type::Prim(y)) if x == y => Ok(()),
            (Type::Param(x), Type::Param(y)) if x == y => Ok(()),
            (Type::Array(n, x), Type::Array(m, y)) => {
                self.unify_size(n, m)?;
                self.unify(x, y)
            }
            (Type::Record(xs), Type::Record(ys)) => {
                let same = xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|(x, y)| x.0 == y.0);
                if !same {
                    return Err(Clash::Shape);
                }
                xs.iter().zip(ys.iter()).try_for_each(|(x, y)| self.unify(&x.1, &y.1))
            }
            (Type::Arrow(n, x1, x2), Type::Arrow(m, y1, y2)) => {
                self.unify(x1, y1)?;
                // Sizes that depend on the arguments can only be compared when the function is applied.
                let (x2, y2) = (self.forget(x2, *n), self.forget(y2, *m));
                self.unify(&x2, &y2)
            }
            _ => Err(Clash::Shape),
        }
    }

    /// The type without sizes that mention a name.
    fn forget(&self, ty: &Type, name: Option<NodeId>) -> Type {
        match name {
            Some(id) => self.replace_sizes(ty, &|n| (n == id).then_some(Size::Any)),
            None => ty.clone(),
        }
    }

    fn merge(&mut self, x: TypeVar, y: TypeVar) -> Result<Constraint, Clash> {
        let (Some((a, _)), Some((b, _))) = (self.free(x), self.free(y)) else { return Ok(Constraint::None) };
        match (a.clone(), b.clone()) {
            (Constraint::None, other) | (other, Constraint::None) => Ok(other),
            (Constraint::OneOf(p), Constraint::OneOf(q)) if p & q != 0 => Ok(Constraint::OneOf(p & q)),
            (Constraint::Fields(mut xs), Constraint::Fields(ys)) => {
                for (name, ty) in ys {
                    match xs.iter().find(|(n, _)| *n == name).cloned() {
                        Some((_, other)) => self.unify(&other, &ty)?,
                        None => xs.push((name, ty)),
                    }
                }
                Ok(Constraint::Fields(xs))
            }
            (Constraint::OneOf(set), _) | (_, Constraint::OneOf(set)) => {
                Err(Clash::NotOneOf(set, Type::Var(y)))
            }
        }
    }

    fn bind(&mut self, var: TypeVar, ty: &Type) -> Result<(), Clash> {
        if self.occurs(var, ty) {
            return Err(Clash::Infinite);
        }
        let Some((constraint, _)) = self.free(var) else { return Ok(()) };
        match constraint.clone() {
            Constraint::None => {}
            Constraint::OneOf(set) => match ty {
                Type::Prim(prim) if set & (1 << prim.code()) != 0 => {}
                _ => return Err(Clash::NotOneOf(set, ty.clone())),
            },
            Constraint::Fields(wanted) => {
                let Type::Record(fields) = ty else {
                    let name = wanted.first().map_or_else(|| Rc::from(""), |(n, _)| n.clone());
                    return Err(Clash::NoField(name, ty.clone()));
                };
                for (name, want) in &wanted {
                    match fields.iter().find(|(n, _)| n == name) {
                        Some((_, have)) => self.unify(want, have)?,
                        None => return Err(Clash::NoField(name.clone(), ty.clone())),
                    }
                }
            }
        }
        self.types[var] = VarState::Bound(ty.clone());
        Ok(())
    }

    fn occurs(&self, var: TypeVar, ty: &Type) -> bool {
        match self.resolve(ty) {
            Type::Var(other) => {
                other == var
                    || matches!(self.free(other), Some((Constraint::Fields(fields), _))
                        if fields.iter().any(|(_, t)| self.occurs(var, t)))
            }
            Type::Array(_, elem) => self.occurs(var, &elem),
            Type::Record(fields) => fields.iter().any(|(_, t)| self.occurs(var, t)),
            Type::Arrow(_, from, to) => self.occurs(var, &from) || self.occurs(var, &to),
            Type::Prim(_) | Type::Param(_) | Type::Error => false,
        }
    }

    /// Makes two sizes equal, as far as that can be known now.
    pub fn unify_size(&mut self, a: &Size, b: &Size) -> Result<(), Clash> {
        let (a, b) = (self.zonk_size(a), self.zonk_size(b));
        match (&a, &b) {
            (Size::Any, _) | (_, Size::Any) => Ok(()),
            (Size::Var(x), Size::Var(y)) if x == y => Ok(()),
            (Size::Var(x), other) | (other, Size::Var(x)) => {
                // A size that contains itself is arithmetic that only the run can decide.
                if !mentions(other, *x) {
                    self.sizes[*x] = Some(other.clone());
                }
                Ok(())
            }
            (Size::Const(x), Size::Const(y)) if x == y => Ok(()),
            (Size::Name(x), Size::Name(y)) if x == y => Ok(()),
            (Size::Op(f, a1, a2), Size::Op(g, b1, b2)) if f == g => {
                // Different terms may still be equal numbers, so no clash here is final.
                let _ = self.unify_size(a1, b1).and_then(|()| self.unify_size(a2, b2));
                Ok(())
            }
            (Size::Op(..), _) | (_, Size::Op(..)) => match (a.value(), b.value()) {
                (Some(x), Some(y)) if x != y => Err(Clash::Size(a, b)),
                _ => Ok(()),
            },
            _ => Err(Clash::Size(a, b)),
        }
    }

    /// A type that both types fit: sizes that differ become unknown.
    pub fn join(&mut self, a: &Type, b: &Type) -> Result<Type, Clash> {
        let (a, b) = (self.resolve(a), self.resolve(b));
        match (&a, &b) {
            (Type::Array(n, x), Type::Array(m, y)) => {
                let elem = self.join(x, y)?;
                let size = if self.same_size(n, m) { n.clone() } else { Size::Any };
                Ok(Type::array(size, elem))
            }
            (Type::Record(xs), Type::Record(ys)) if xs.len() == ys.len() => {
                let mut fields = Vec::new();
                for (x, y) in xs.iter().zip(ys.iter()) {
                    if x.0 != y.0 {
                        return Err(Clash::Shape);
                    }
                    fields.push((x.0.clone(), self.join(&x.1, &y.1)?));
                }
                Ok(Type::Record(fields.into()))
            }
            _ => {
                self.unify(&a, &b)?;
                Ok(a)
            }
        }
    }

    fn same_size(&mut self, a: &Size, b: &Size) -> bool {
        let (a, b) = (self.zonk_size(a), self.zonk_size(b));
        match (&a, &b) {
            (Size::Any, _) | (_, Size::Any) => false,
            (Size::Op(f, a1, a2), Size::Op(g, b1, b2)) => {
                f == g && self.same_size(a1, b1) && self.same_size(a2, b2)
            }
            (Size::Op(..), _) | (_, Size::Op(..)) => a.value().is_some() && a.value() == b.value(),
            _ => self.unify_size(&a, &b).is_ok(),
        }
    }

    /// The type with every size unknown.
    pub fn loosen(&self, ty: &Type) -> Type {
        match self.resolve(ty) {
            Type::Array(_, elem) => Type::array(Size::Any, self.loosen(&elem)),
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(name, t)| (name.clone(), self.loosen(t))).collect())
            }
            other => other,
        }
    }

    /// The type with named sizes replaced.
    pub fn replace_sizes(&self, ty: &Type, by: &dyn Fn(NodeId) -> Option<Size>) -> Type {
        match self.resolve(ty) {
            Type::Array(size, elem) => {
                Type::array(self.replace_size(&size, by), self.replace_sizes(&elem, by))
            }
            Type::Record(fields) => Type::Record(
                fields.iter().map(|(name, t)| (name.clone(), self.replace_sizes(t, by))).collect(),
            ),
            Type::Arrow(name, from, to) => Type::Arrow(
                name,
                Rc::new(self.replace_sizes(&from, by)),
                Rc::new(self.replace_sizes(&to, by)),
            ),
            other => other,
        }
    }

    fn replace_size(&self, size: &Size, by: &dyn Fn(NodeId) -> Option<Size>) -> Size {
        match self.resolve_size(size) {
            Size::Name(id) => by(id).unwrap_or(Size::Name(id)),
            Size::Op(op, a, b) => Size::op(op, self.replace_size(&a, by), self.replace_size(&b, by)),
            other => other,
        }
    }

    fn replace_params(&self, ty: &Type, types: &[(NodeId, Type)]) -> Type {
        match self.resolve(ty) {
            Type::Param(id) => {
                types.iter().find(|(p, _)| *p == id).map_or(Type::Param(id), |(_, t)| t.clone())
            }
            Type::Array(size, elem) => Type::array(size, self.replace_params(&elem, types)),
            Type::Record(fields) => {
                Type::Record(fields.iter().map(|(n, t)| (n.clone(), self.replace_params(t, types))).collect())
            }
            Type::Arrow(name, from, to) => Type::Arrow(
                name,
                Rc::new(self.replace_params(&from, types)),
                Rc::new(self.replace_params(&to, types)),
            ),
            other => other,
        }
    }

    /// The scheme's type with new variables for its parameters.
    pub fn instantiate(&mut self, scheme: &Scheme, span: Span) -> (Type, Instance) {
        let mut instance = Instance::default();
        if scheme.params.is_empty() {
            return (scheme.ty.clone(), instance);
        }
        for param in scheme.params.iter() {
            match param {
                SchemeParam::Type(id) => instance.types.push((*id, self.fresh(span))),
                SchemeParam::Size(id) => instance.sizes.push((*id, self.fresh_size())),
            }
        }
        let ty = self.replace_params(&scheme.ty, &instance.types);
        let sizes = &instance.sizes;
        let ty = self.replace_sizes(&ty, &|id| sizes.iter().find(|(p, _)| *p == id).map(|(_, s)| s.clone()));
        (ty, instance)
    }

    /// The type with types for its parameters.
    pub fn substitute(&self, ty: &Type, types: &[(NodeId, Type)]) -> Type {
        self.replace_params(ty, types)
    }

    /// Unbound variables in a type, in order of occurrence.
    pub fn free_vars(&self, ty: &Type, out: &mut Vec<TypeVar>) {
        match self.resolve(ty) {
            Type::Var(var) if !out.contains(&var) => out.push(var),
            Type::Array(_, elem) => self.free_vars(&elem, out),
            Type::Record(fields) => fields.iter().for_each(|(_, t)| self.free_vars(t, out)),
            Type::Arrow(_, from, to) => {
                self.free_vars(&from, out);
                self.free_vars(&to, out);
            }
            _ => {}
        }
    }

    /// Unbound size variables in a type, in order of occurrence.
    pub fn free_sizes(&self, ty: &Type, out: &mut Vec<SizeVar>) {
        match self.resolve(ty) {
            Type::Array(size, elem) => {
                self.free_sizes_in(&size, out);
                self.free_sizes(&elem, out);
            }
            Type::Record(fields) => fields.iter().for_each(|(_, t)| self.free_sizes(t, out)),
            Type::Arrow(_, from, to) => {
                self.free_sizes(&from, out);
                self.free_sizes(&to, out);
            }
            _ => {}
        }
    }

    fn free_sizes_in(&self, size: &Size, out: &mut Vec<SizeVar>) {
        match self.resolve_size(size) {
            Size::Var(var) if !out.contains(&var) => out.push(var),
            Size::Op(_, a, b) => {
                self.free_sizes_in(&a, out);
                self.free_sizes_in(&b, out);
            }
            _ => {}
        }
    }

    /// Binds an unbound size variable without asking.
    pub fn set_size(&mut self, var: SizeVar, size: Size) {
        self.sizes[var] = Some(size);
    }

    /// Ids of the variables made since a mark.
    pub fn since(&self, mark: usize) -> impl Iterator<Item = TypeVar> + use<> {
        self.types.ids().skip(mark)
    }

    /// A type as messages show it.
    pub fn show(&self, ty: &Type) -> String {
        match self.resolve(ty) {
            Type::Prim(prim) => prim.name().to_string(),
            Type::Var(var) => match self.free(var) {
                Some((Constraint::OneOf(set), _)) => set_name(*set),
                Some((Constraint::Fields(fields), _)) => {
                    let names: Vec<String> =
                        fields.iter().map(|(n, t)| format!("{n}: {}", self.show(t))).collect();
                    format!("{{{}, ..}}", names.join(", "))
                }
                _ => format!("t{}", var.0),
            },
            Type::Param(id) => self.names.get(&id).cloned().unwrap_or_else(|| format!("a{}", id.0)),
            Type::Array(size, elem) => format!("[{}]{}", self.show_size(&size), self.show_inner(&elem)),
            Type::Record(fields) if Type::is_tuple(&fields) => {
                let items: Vec<String> = fields.iter().map(|(_, t)| self.show(t)).collect();
                format!("({})", items.join(", "))
            }
            Type::Record(fields) => {
                let items: Vec<String> =
                    fields.iter().map(|(n, t)| format!("{n}: {}", self.show(t))).collect();
                format!("{{{}}}", items.join(", "))
            }
            Type::Arrow(name, from, to) => {
                let mentioned = name.filter(|id| self.mentions_name(&to, *id));
                let from = match mentioned.and_then(|id| self.names.get(&id)) {
                    Some(name) => format!("({name}: {})", self.show(&from)),
                    None => self.show_inner(&from),
                };
                format!("{from} -> {}", self.show(&to))
            }
            Type::Error => "?".into(),
        }
    }

    fn show_inner(&self, ty: &Type) -> String {
        match self.resolve(ty) {
            Type::Arrow(..) => format!("({})", self.show(ty)),
            _ => self.show(ty),
        }
    }

    /// A size as types show it; unknown ones are empty.
    pub fn show_size(&self, size: &Size) -> String {
        match self.resolve_size(size) {
            Size::Any | Size::Var(_) => String::new(),
            Size::Const(n) => n.to_string(),
            Size::Name(id) => self.names.get(&id).cloned().unwrap_or_default(),
            Size::Op(op, a, b) => {
                let side = |s: &Size| match (self.show_size(s), s) {
                    (text, Size::Op(inner, ..)) if op == super::ty::SizeOp::Mul && *inner != op => {
                        format!("({text})")
                    }
                    (text, _) if text.is_empty() => "_".into(),
                    (text, _) => text,
                };
                format!("{} {} {}", side(&a), op.sign(), side(&b))
            }
        }
    }

    /// True if a size in the type mentions the name.
    pub fn mentions_name(&self, ty: &Type, id: NodeId) -> bool {
        match self.resolve(ty) {
            Type::Array(size, elem) => self.size_mentions(&size, id) || self.mentions_name(&elem, id),
            Type::Record(fields) => fields.iter().any(|(_, t)| self.mentions_name(t, id)),
            Type::Arrow(_, from, to) => self.mentions_name(&from, id) || self.mentions_name(&to, id),
            _ => false,
        }
    }

    fn size_mentions(&self, size: &Size, id: NodeId) -> bool {
        match self.resolve_size(size) {
            Size::Name(name) => name == id,
            Size::Op(_, a, b) => self.size_mentions(&a, id) || self.size_mentions(&b, id),
            _ => false,
        }
    }
}

fn mentions(size: &Size, var: SizeVar) -> bool {
    match size {
        Size::Var(other) => *other == var,
        Size::Op(_, a, b) => mentions(a, var) || mentions(b, var),
        _ => false,
    }
}
