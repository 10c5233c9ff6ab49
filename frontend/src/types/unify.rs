//! Making types equal.
//!
//! `wanted` is the type a place asks for, `found` the type of what stands there. Sizes that a function's result type
//! hides (`?[k].`) are wanted by name of whoever takes the function, and rigid where they are found.

use super::ty::{Size, SizeHead, SizeVar, Type, TypeArgument, TypeVar};
use super::vars::{Constraint, SizeState, VarState, Vars};
use crate::names::same_res;
use crate::syntax::ast::{Lifted, NodeId};
use std::rc::Rc;

/// Why two types cannot be equal.
#[derive(Clone, Debug)]
pub enum Clash {
    /// They are built differently.
    Shape(Type, Type),
    /// Two sizes differ.
    Size(Size, Size),
    /// A type would contain itself.
    Infinite(Type),
    /// Not one of these scalar types.
    NotOneOf(u16, Type),
    /// A record was wanted with this field.
    NoField(Rc<str>, Type),
    /// Records have other fields than each other.
    Fields(Vec<Rc<str>>),
    /// Parts of records clash.
    In(Rc<str>, Box<Clash>),
    /// A size would contain itself.
    Cycle(Size),
    /// A sum type was wanted.
    NotSum(Type),
    /// Sum types have other constructors than each other.
    Constructors(Vec<Rc<str>>),
    /// A constructor has another number of payloads.
    Arity(Rc<str>),
    /// Values of this type cannot be compared.
    Equality(Type),
    /// A function, or a type that may be one, where only data may stand.
    Functional(Type),
    /// The size comes into being inside a function and cannot be part of this type.
    Anonymous(Type),
    /// The name is bound further inside than the type it would become part of.
    Scope(NodeId, Type),
    /// The size is bound inside of the other type.
    Bound(NodeId),
}

/// Whether a size mismatch is an error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sizes {
    Match,
    Ignore,
}

struct Unifier<'v> {
    vars: &'v mut Vars,
    /// Names bound by the types being compared, with whether sizes may still be set to them.
    bound: Vec<NodeId>,
    sizes: Sizes,
}

impl Vars {
    /// Makes two types equal.
    pub fn unify(&mut self, wanted: &Type, found: &Type) -> Result<(), Clash> {
        Unifier { vars: self, bound: Vec::new(), sizes: Sizes::Match }.types(wanted, found)
    }

    /// Makes two types equal but for their sizes.
    pub fn unify_shape(&mut self, wanted: &Type, found: &Type) -> Result<(), Clash> {
        Unifier { vars: self, bound: Vec::new(), sizes: Sizes::Ignore }.types(wanted, found)
    }

    /// Makes two sizes equal.
    pub fn unify_size(&mut self, wanted: &Size, found: &Size) -> Result<(), Clash> {
        Unifier { vars: self, bound: Vec::new(), sizes: Sizes::Match }.size(wanted, found)
    }

    /// True if two sizes are the same term.
    pub fn same_size(&self, a: &Size, b: &Size) -> bool {
        match (self.resolve_size(a), self.resolve_size(b)) {
            (Size::Any, _) | (_, Size::Any) => true,
            (Size::Const(x), Size::Const(y)) => x == y,
            (Size::Name(x), Size::Name(y)) => x == y,
            (Size::Var(x), Size::Var(y)) => x == y,
            (Size::Exp(x), Size::Exp(y)) => {
                same_head(&x.head, &y.head)
                    && x.args.len() == y.args.len()
                    && x.args.iter().zip(&y.args).all(|(a, b)| self.same_size(a, b))
            }
            _ => false,
        }
    }

    fn occurs(&self, var: TypeVar, ty: &Type) -> bool {
        let mut free = Vec::new();
        self.free_vars(ty, &mut free);
        let mut i = 0;
        while i < free.len() {
            if free[i] == var {
                return true;
            }
            if let Some((constraint, _)) = self.free(free[i]) {
                constraint.parts().for_each(|t| self.free_vars(t, &mut free));
            }
            i += 1;
        }
        false
    }
}

fn same_head(a: &SizeHead, b: &SizeHead) -> bool {
    match (a, b) {
        (SizeHead::Operator(x), SizeHead::Operator(y)) => x == y,
        (SizeHead::Global(x, ..), SizeHead::Global(y, ..)) => same_res(x, y),
        (SizeHead::Field(x), SizeHead::Field(y)) => x == y,
        (SizeHead::Literal(x), SizeHead::Literal(y)) => x == y,
        (SizeHead::Record(x), SizeHead::Record(y)) => x == y,
        (SizeHead::Apply, SizeHead::Apply)
        | (SizeHead::Index, SizeHead::Index)
        | (SizeHead::Tuple, SizeHead::Tuple)
        | (SizeHead::Array, SizeHead::Array)
        | (SizeHead::If, SizeHead::If)
        | (SizeHead::Negate, SizeHead::Negate)
        | (SizeHead::Not, SizeHead::Not) => true,
        _ => false,
    }
}

fn difference(a: &[Rc<str>], b: &[Rc<str>]) -> Vec<Rc<str>> {
    let mut odd: Vec<Rc<str>> = a.iter().filter(|n| !b.contains(n)).cloned().collect();
    odd.extend(b.iter().filter(|n| !a.contains(n)).cloned());
    odd
}

impl Unifier<'_> {
    fn types(&mut self, wanted: &Type, found: &Type) -> Result<(), Clash> {
        let (a, b) = (self.vars.resolve(wanted), self.vars.resolve(found));
        match (&a, &b) {
            (Type::Error, _) | (_, Type::Error) => Ok(()),
            (Type::Exists(ids, inner), _) => {
                // What the taker calls by name is whatever the value has.
                let origin = |vars: &Vars, id: &NodeId| super::vars::SizeOrigin {
                    span: galopvm_base::Span { file: galopvm_base::FileId(0), start: 0, end: 0 },
                    text: String::new(),
                    name: vars.names.get(id).cloned(),
                    must_be_known: false,
                };
                let mut open = Vec::new();
                for id in ids.iter() {
                    let origin = origin(self.vars, id);
                    open.push((*id, self.vars.size_from(origin, true)));
                }
                let inner = self
                    .vars
                    .replace_sizes(inner, &|id| open.iter().find(|(p, _)| *p == id).map(|(_, s)| s.clone()));
                self.types(&inner, &b)
            }
            (_, Type::Exists(ids, inner)) => {
                let depth = self.bound.len();
                self.bound.extend(ids.iter());
                let result = self.types(&a, inner);
                self.bound.truncate(depth);
                result
            }
            (Type::Var(x), Type::Var(y)) if x == y => Ok(()),
            (Type::Var(x), Type::Var(y)) => self.merge(*x, *y),
            (Type::Var(x), _) => self.bind(*x, &b),
            (_, Type::Var(y)) => self.bind(*y, &a),
            (Type::Prim(x), Type::Prim(y)) if x == y => Ok(()),
            (Type::Param(x), Type::Param(y)) if x == y => Ok(()),
            (Type::Opaque(x, xs), Type::Opaque(y, ys)) if x == y && xs.len() == ys.len() => {
                xs.iter().zip(ys.iter()).try_for_each(|(x, y)| match (x, y) {
                    (TypeArgument::Type(x), TypeArgument::Type(y)) => self.types(x, y),
                    (TypeArgument::Size(x), TypeArgument::Size(y)) => self.size(x, y),
                    _ => Err(Clash::Shape(a.clone(), b.clone())),
                })
            }
            (Type::Array(n, x), Type::Array(m, y)) => {
                // A wrong element says more than a wrong size.
                self.types(x, y)?;
                self.size(n, m)
            }
            (Type::Record(xs), Type::Record(ys)) => {
                let names = |fields: &[(Rc<str>, Type)]| fields.iter().map(|(n, _)| n.clone()).collect();
                let (left, right): (Vec<Rc<str>>, Vec<Rc<str>>) = (names(xs), names(ys));
                if left != right {
                    return Err(Clash::Fields(difference(&left, &right)));
                }
                xs.iter().zip(ys.iter()).try_for_each(|(x, y)| {
                    self.types(&x.1, &y.1).map_err(|clash| Clash::In(x.0.clone(), Box::new(clash)))
                })
            }
            (Type::Sum(xs), Type::Sum(ys)) => {
                let names = |cs: &[(Rc<str>, Rc<[Type]>)]| cs.iter().map(|(n, _)| n.clone()).collect();
                let (left, right): (Vec<Rc<str>>, Vec<Rc<str>>) = (names(xs), names(ys));
                if left != right {
                    return Err(Clash::Constructors(difference(&left, &right)));
                }
                xs.iter().zip(ys.iter()).try_for_each(|(x, y)| self.payload(&x.0, &x.1, &y.1))
            }
            (Type::Arrow(n, x1, x2), Type::Arrow(m, y1, y2)) => {
                self.types(y1, x1)?;
                let depth = self.bound.len();
                let y2 = match (n, m) {
                    (Some(n), Some(m)) => {
                        let n = *n;
                        Rc::new(self.vars.replace_sizes(y2, &|id| (id == *m).then_some(Size::Name(n))))
                    }
                    _ => y2.clone(),
                };
                self.bound.extend(n.or(*m));
                let result = self.types(x2, &y2);
                self.bound.truncate(depth);
                result
            }
            _ => Err(Clash::Shape(a.clone(), b.clone())),
        }
    }

    fn payload(&mut self, name: &Rc<str>, xs: &Rc<[Type]>, ys: &Rc<[Type]>) -> Result<(), Clash> {
        if xs.len() != ys.len() {
            return Err(Clash::Arity(name.clone()));
        }
        xs.iter().zip(ys.iter()).try_for_each(|(x, y)| self.types(x, y))
    }

    /// Two unbound variables become one that satisfies both constraints.
    fn merge(&mut self, x: TypeVar, y: TypeVar) -> Result<(), Clash> {
        let (
            VarState::Free { constraint: a, level: p, .. },
            VarState::Free { constraint: b, level: q, span: place },
        ) = (self.vars.types[x].clone(), self.vars.types[y].clone())
        else {
            return Ok(());
        };
        if let Some(part) =
            a.parts().chain(b.parts()).find(|t| self.vars.occurs(x, t) || self.vars.occurs(y, t))
        {
            return Err(Clash::Infinite(part.clone()));
        }
        let set = match (a.set, b.set) {
            (Some(p), Some(q)) if p & q == 0 => return Err(Clash::NotOneOf(p, Type::Var(y))),
            (Some(p), Some(q)) => Some(p & q),
            (p, q) => p.or(q),
        };
        let mut merged = Constraint {
            set,
            equality: a.equality || b.equality,
            lifted: lesser(a.lifted, b.lifted),
            ..Constraint::default()
        };
        // The older one stays: the elements of a long literal all point to the first.
        let (gone, stays) = if x.0 < y.0 { (y, x) } else { (x, y) };
        self.vars.types[gone] = VarState::Bound(Type::Var(stays));
        merged.fields = a.fields;
        for (name, ty) in b.fields {
            match merged.fields.iter().find(|(n, _)| *n == name).cloned() {
                Some((_, other)) => self.types(&other, &ty)?,
                None => merged.fields.push((name, ty)),
            }
        }
        merged.constructors = a.constructors;
        for (name, payload) in b.constructors {
            match merged.constructors.iter().find(|(n, _)| *n == name).cloned() {
                Some((_, other)) => self.payload(&name, &other, &payload)?,
                None => merged.constructors.push((name, payload)),
            }
        }
        let kinds = [merged.set.is_some(), !merged.fields.is_empty(), !merged.constructors.is_empty()];
        if kinds.iter().filter(|k| **k).count() > 1 {
            return Err(match (merged.set, merged.fields.first()) {
                (Some(set), _) => Clash::NotOneOf(set, Type::Var(y)),
                (_, Some((name, _))) => Clash::NoField(name.clone(), Type::Var(y)),
                _ => Clash::Shape(Type::Var(x), Type::Var(y)),
            });
        }
        if let VarState::Free { constraint, level, span } = &mut self.vars.types[stays] {
            *constraint = merged;
            *span = place;
            *level = p.min(q);
        }
        Ok(())
    }

    fn bind(&mut self, var: TypeVar, ty: &Type) -> Result<(), Clash> {
        if self.vars.occurs(var, ty) {
            return Err(Clash::Infinite(ty.clone()));
        }
        let VarState::Free { constraint, level, .. } = self.vars.types[var].clone() else { return Ok(()) };
        if let Some(set) = constraint.set
            && !matches!(ty, Type::Prim(prim) if set & (1 << prim.code()) != 0)
        {
            return Err(Clash::NotOneOf(set, ty.clone()));
        }
        // A mark says something about a function, not about what its type is made of.
        let mut ty = self.vars.without_marks(ty);
        let hidden = self.hidden(&ty);
        if !hidden.is_empty() && self.sizes == Sizes::Match {
            if constraint.lifted == Lifted::No {
                return Err(Clash::Anonymous(ty));
            }
            let mut names: Vec<(NodeId, Size)> = Vec::new();
            for id in hidden {
                let size = Size::Name(self.absorb(id, Size::Name(id)));
                names.push((id, size));
            }
            ty = self
                .vars
                .replace_sizes(&ty, &|id| names.iter().find(|(p, _)| *p == id).map(|(_, s)| s.clone()));
        }
        self.lower(&ty, level)?;
        if constraint.lifted != Lifted::Full {
            self.first_order(&ty, constraint.lifted)?;
        }
        // Bound first: the parts of the constraint may mention it.
        self.vars.types[var] = VarState::Bound(ty.clone());
        if let Some((name, _)) = constraint.fields.first() {
            let Type::Record(fields) = &ty else { return Err(Clash::NoField(name.clone(), ty)) };
            for (name, want) in &constraint.fields {
                match fields.iter().find(|(n, _)| n == name) {
                    Some((_, have)) => self.types(want, have)?,
                    None => return Err(Clash::NoField(name.clone(), ty.clone())),
                }
            }
        }
        if !constraint.constructors.is_empty() {
            let Type::Sum(known) = &ty else { return Err(Clash::NotSum(ty)) };
            let odd: Vec<Rc<str>> = constraint
                .constructors
                .iter()
                .filter(|(name, _)| known.iter().all(|(n, _)| n != name))
                .map(|(name, _)| name.clone())
                .collect();
            if !odd.is_empty() {
                return Err(Clash::Constructors(odd));
            }
            for (name, payload) in &constraint.constructors {
                if let Some((_, have)) = known.iter().find(|(n, _)| n == name).cloned() {
                    self.payload(name, payload, &have)?;
                }
            }
        }
        if constraint.equality {
            self.equality(&ty)?;
        }
        Ok(())
    }

    /// Names bound around here that the type mentions outside of its own binders.
    fn hidden(&self, ty: &Type) -> Vec<NodeId> {
        self.vars.size_names(ty).into_iter().filter(|id| self.bound.contains(id)).collect()
    }

    /// A size that only a value will tell, in place of one bound inside a function type.
    fn absorb(&mut self, id: NodeId, size: Size) -> NodeId {
        let name = self.vars.names.get(&id).cloned().unwrap_or_default();
        let span = self.vars.unknowns.get(&id).map(|u| u.span);
        let span = span.unwrap_or(galopvm_base::Span { file: galopvm_base::FileId(0), start: 0, end: 0 });
        let unknown = self.vars.unknown(span, &name, "a size that a function's result hides");
        self.vars.absorbed.push(unknown);
        self.vars.ever_absorbed.insert(unknown, size);
        unknown
    }

    /// Makes sure that variables in the type stand only for what is visible at the level.
    fn lower(&mut self, ty: &Type, level: u32) -> Result<(), Clash> {
        let mut free = Vec::new();
        self.vars.free_vars(ty, &mut free);
        for var in free {
            if let VarState::Free { level: own, constraint, .. } = &mut self.vars.types[var] {
                *own = (*own).min(level);
                let parts: Vec<Type> = constraint.fields.iter().map(|(_, t)| t.clone()).collect();
                for part in parts {
                    self.lower(&part, level)?;
                }
            }
        }
        let mut sizes = Vec::new();
        self.vars.each_size(ty, &mut |size| sizes.push(size.clone()));
        for size in sizes {
            self.lower_size(&size, level, ty)?;
        }
        self.lower_params(ty, level, ty)
    }

    fn lower_params(&mut self, part: &Type, level: u32, whole: &Type) -> Result<(), Clash> {
        match self.vars.resolve(part) {
            Type::Param(id) if self.vars.levels.get(&id).is_some_and(|own| *own > level) => {
                Err(Clash::Scope(id, whole.clone()))
            }
            Type::Array(_, inner) | Type::Exists(_, inner) => self.lower_params(&inner, level, whole),
            Type::Record(fields) => fields.iter().try_for_each(|(_, t)| self.lower_params(t, level, whole)),
            Type::Arrow(_, from, to) => {
                self.lower_params(&from, level, whole)?;
                self.lower_params(&to, level, whole)
            }
            _ => Ok(()),
        }
    }

    fn lower_size(&mut self, size: &Size, level: u32, ty: &Type) -> Result<(), Clash> {
        match size {
            Size::Var(var) => {
                if let SizeState::Free { level: own, .. } = &mut self.vars.sizes[*var] {
                    *own = (*own).min(level);
                }
                Ok(())
            }
            Size::Name(id)
                if self.sizes == Sizes::Match
                    && !self.vars.unknowns.contains_key(id)
                    && self.vars.levels.get(id).is_some_and(|own| *own > level) =>
            {
                Err(Clash::Scope(*id, ty.clone()))
            }
            _ => Ok(()),
        }
    }

    fn first_order(&mut self, ty: &Type, lifted: Lifted) -> Result<(), Clash> {
        match self.vars.resolve(ty) {
            Type::Arrow(..) => Err(Clash::Functional(ty.clone())),
            Type::Param(id) => match self.vars.lifted.get(&id) {
                Some(Lifted::Full) => Err(Clash::Functional(ty.clone())),
                Some(Lifted::Size) if lifted == Lifted::No => Err(Clash::Anonymous(ty.clone())),
                _ => Ok(()),
            },
            Type::Opaque(id, _) => match self.vars.opaques[id].lifted {
                Lifted::Full => Err(Clash::Functional(ty.clone())),
                Lifted::Size if lifted == Lifted::No => Err(Clash::Anonymous(ty.clone())),
                _ => Ok(()),
            },
            Type::Var(var) => {
                if let VarState::Free { constraint, .. } = &mut self.vars.types[var] {
                    constraint.lifted = lesser(constraint.lifted, lifted);
                }
                Ok(())
            }
            Type::Record(fields) => fields.iter().try_for_each(|(_, t)| self.first_order(t, lifted)),
            Type::Sum(cs) => {
                cs.iter().flat_map(|(_, ts)| ts.iter()).try_for_each(|t| self.first_order(t, lifted))
            }
            Type::Array(_, elem) => self.first_order(&elem, lifted),
            _ => Ok(()),
        }
    }

    fn equality(&mut self, ty: &Type) -> Result<(), Clash> {
        match self.vars.resolve(ty) {
            Type::Arrow(..) | Type::Param(_) | Type::Opaque(..) => Err(Clash::Equality(ty.clone())),
            Type::Var(var) => {
                if let VarState::Free { constraint, .. } = &mut self.vars.types[var] {
                    constraint.equality = true;
                }
                Ok(())
            }
            Type::Record(fields) => fields.iter().try_for_each(|(_, t)| self.equality(t)),
            Type::Sum(cs) => cs.iter().flat_map(|(_, ts)| ts.iter()).try_for_each(|t| self.equality(t)),
            Type::Array(_, elem) => self.equality(&elem),
            _ => Ok(()),
        }
    }

    fn size(&mut self, wanted: &Size, found: &Size) -> Result<(), Clash> {
        if self.sizes == Sizes::Ignore {
            return Ok(());
        }
        let (a, b) = (self.vars.zonk_size(wanted), self.vars.zonk_size(found));
        match (&a, &b) {
            (Size::Any, _) | (_, Size::Any) => Ok(()),
            (Size::Var(x), Size::Var(y)) if x == y => Ok(()),
            (Size::Var(x), Size::Var(y)) => {
                let (
                    SizeState::Free { level: p, absorbs: f, .. },
                    SizeState::Free { level: q, absorbs: g, .. },
                ) = (self.vars.sizes[*x].clone(), self.vars.sizes[*y].clone())
                else {
                    return Ok(());
                };
                // The one that may absorb gives way: what is left must be a real size.
                let (gone, kept) = if f && !g {
                    (*x, *y)
                } else if g && !f {
                    (*y, *x)
                } else {
                    (*x, *y)
                };
                self.vars.sizes[gone] = SizeState::Bound(Size::Var(kept));
                if let SizeState::Free { level, .. } = &mut self.vars.sizes[kept] {
                    *level = p.min(q);
                }
                Ok(())
            }
            (Size::Var(x), other) | (other, Size::Var(x)) => self.bind_size(*x, other),
            // What only a function's result tells may be any size where it comes from.
            (Size::Name(id), other) | (other, Size::Name(id)) if self.vars.is_absorbed(*id) => {
                let again = self.vars.ever_absorbed.get(id).is_some_and(|s| self.vars.same_size(s, other));
                if again || self.hidden(&Type::array(other.clone(), Type::Error)).is_empty() {
                    return Ok(());
                }
                self.mismatch(&a, &b)
            }
            _ if self.vars.same_size(&a, &b) => Ok(()),
            (Size::Exp(x), Size::Exp(y)) if same_head(&x.head, &y.head) && x.args.len() == y.args.len() => {
                let pairs: Vec<(Size, Size)> = x.args.iter().cloned().zip(y.args.iter().cloned()).collect();
                for (p, q) in pairs {
                    self.size(&p, &q).or_else(|_| self.mismatch(&a, &b))?;
                }
                Ok(())
            }
            _ => self.mismatch(&a, &b),
        }
    }

    fn mismatch(&self, a: &Size, b: &Size) -> Result<(), Clash> {
        Err(Clash::Size(a.clone(), b.clone()))
    }

    fn bind_size(&mut self, var: SizeVar, size: &Size) -> Result<(), Clash> {
        let SizeState::Free { level, absorbs, .. } = self.vars.sizes[var].clone() else { return Ok(()) };
        if !absorbs && matches!(size, Size::Name(id) if self.vars.is_absorbed(*id)) {
            return Ok(());
        }
        let mut parts = Vec::new();
        self.vars.each_size(&Type::array(size.clone(), Type::Error), &mut |s| parts.push(s.clone()));
        if parts.iter().any(|s| matches!(s, Size::Var(other) if *other == var)) {
            return Err(Clash::Cycle(size.clone()));
        }
        let hidden = parts.iter().find_map(|s| match s {
            Size::Name(id) if self.bound.contains(id) => Some(*id),
            _ => None,
        });
        if let Some(id) = hidden {
            if !absorbs {
                return Err(Clash::Bound(id));
            }
            let unknown = self.absorb(id, size.clone());
            self.vars.sizes[var] = SizeState::Bound(Size::Name(unknown));
            return Ok(());
        }
        let whole = Type::array(size.clone(), Type::Error);
        for part in &parts {
            self.lower_size(part, level, &whole)?;
        }
        self.vars.sizes[var] = SizeState::Bound(size.clone());
        Ok(())
    }
}

fn lesser(a: Lifted, b: Lifted) -> Lifted {
    match (a, b) {
        (Lifted::No, _) | (_, Lifted::No) => Lifted::No,
        (Lifted::Size, _) | (_, Lifted::Size) => Lifted::Size,
        _ => Lifted::Full,
    }
}
