//! Names outside of definitions, looked up from the innermost frame to the prelude.

use super::{AbbrId, ModType, ModVal, Names, OPERATORS, Res};
use galopvm_base::ElemType;
use std::rc::Rc;

/// A value or a module: they share one namespace.
pub(super) enum Found<'a> {
    Term(Res),
    Module(Rc<ModVal<'a>>),
}

impl<'a> Names<'a, '_> {
    /// What an unqualified term name means outside of definitions; `user` sees the frames, the prelude only itself.
    pub(super) fn top_level(&mut self, name: &str, user: bool) -> Option<Found<'a>> {
        let mut skip = 0;
        // Frame by frame; the module of a scalar type that one opens is asked before the frames around it.
        while let Some(from) = user.then_some(skip) {
            let mut opened = None;
            for (depth, frame) in self.frame.chain().enumerate().skip(from) {
                if let Some(res) = frame.scope.terms.get(name) {
                    return Some(Found::Term(*res));
                }
                if let Some(module) = frame.scope.modules.get(name) {
                    return Some(Found::Module(module.clone()));
                }
                if !frame.scope.opened.is_empty() {
                    opened = Some((depth, frame.scope.opened.clone()));
                    break;
                }
            }
            let Some((depth, types)) = opened else { break };
            if let Some(res) = types.into_iter().rev().find_map(|ty| self.member(ty, name)) {
                return Some(Found::Term(res));
            }
            skip = depth + 1;
        }
        if let Some(id) = self.prelude_terms.get(name) {
            return Some(Found::Term(Res::Global(*id)));
        }
        if let Some(row) = galopvm_stdlib::intrinsic(name) {
            return Some(Found::Term(Res::Intrinsic(row)));
        }
        if let Some(op) = OPERATORS.iter().find(|op| **op == name) {
            return Some(Found::Term(Res::Operator(op)));
        }
        let ty: ElemType = name.parse().ok()?;
        Some(Found::Module(Rc::new(ModVal::Scalar(ty))))
    }

    /// True if a term of this name is in sight outside of definitions.
    pub fn is_known(&mut self, name: &str) -> bool {
        matches!(self.top_level(name, true), Some(Found::Term(_)))
    }

    /// A module by its unqualified name.
    pub fn find_module(&mut self, name: &str) -> Option<Rc<ModVal<'a>>> {
        match self.top_level(name, true)? {
            Found::Module(module) => Some(module),
            Found::Term(_) => None,
        }
    }

    /// A type by its unqualified name.
    pub(super) fn find_type(&self, name: &str) -> Option<AbbrId> {
        self.frame.chain().find_map(|frame| frame.scope.types.get(name)).copied()
    }

    /// A module type by its unqualified name.
    pub fn find_module_type(&self, name: &str) -> Option<Rc<ModType<'a>>> {
        let found = self.frame.chain().find_map(|frame| frame.scope.module_types.get(name));
        found.or_else(|| self.prelude_scope.as_ref()?.module_types.get(name)).cloned()
    }

    /// What a term of a module is.
    pub fn module_term(&mut self, module: &ModVal<'a>, name: &str) -> Option<Res> {
        match module {
            ModVal::Struct(scope) => match scope.terms.get(name) {
                Some(res) => Some(*res),
                None => scope.opened.clone().into_iter().rev().find_map(|ty| self.member(ty, name)),
            },
            ModVal::Scalar(ty) => self.member(*ty, name),
            ModVal::Functor(_) | ModVal::Error => None,
        }
    }

    /// A type of a module.
    pub fn module_type_of(&self, module: &ModVal<'a>, name: &str) -> Option<Res> {
        match module {
            ModVal::Struct(scope) => match scope.types.get(name) {
                Some(id) => Some(Res::Abbr(*id)),
                None => scope.opened.last().filter(|_| name == "t").map(|ty| Res::Prim(*ty)),
            },
            ModVal::Scalar(ty) if name == "t" => Some(Res::Prim(*ty)),
            ModVal::Scalar(ty) if ty.is_float() && name == "int_t" => Some(Res::Prim(bits_type(*ty))),
            _ => None,
        }
    }

    /// Term and module names in sight, for suggestions.
    pub(super) fn visible(&self) -> impl Iterator<Item = &str> {
        let user = self
            .frame
            .chain()
            .flat_map(|f| f.scope.terms.keys().copied().chain(f.scope.modules.keys().copied()));
        user.chain(self.prelude_terms.keys().copied())
            .chain(galopvm_stdlib::INTRINSICS.iter().map(|row| row.name))
    }

    /// Type names in sight, for suggestions.
    pub(super) fn visible_types(&self) -> impl Iterator<Item = &str> {
        self.frame.chain().flat_map(|f| f.scope.types.keys().copied())
    }
}

/// The unsigned integers that hold the bits of a float type.
fn bits_type(ty: ElemType) -> ElemType {
    match ty {
        ElemType::F16 => ElemType::U16,
        ElemType::F32 => ElemType::U32,
        _ => ElemType::U64,
    }
}
