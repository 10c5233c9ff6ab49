//! What names mean outside of definitions: nested frames of terms, types, modules and module types.
//!
//! Invariants:
//! - Terms and modules share one namespace: a new name hides the old one of either kind.
//! - A frame that somebody holds never changes: names defined later go into a new frame on top of it.

use super::{AbbrId, Res};
use crate::syntax::ast::*;
use crate::types::Scheme;
use galopvm_base::{ElemType, IdMap, Span};
use std::rc::Rc;

/// The names that a module, a file or a frame defines.
#[derive(Clone, Debug, Default)]
pub struct Scope<'a> {
    /// Values and functions.
    pub terms: IdMap<&'a str, Res>,
    /// Types.
    pub types: IdMap<&'a str, AbbrId>,
    /// Modules.
    pub modules: IdMap<&'a str, Rc<ModVal<'a>>>,
    /// Module types.
    pub module_types: IdMap<&'a str, Rc<ModType<'a>>>,
    /// Scalar modules whose members are seen without a prefix; later ones first.
    pub opened: Vec<ElemType>,
}

impl<'a> Scope<'a> {
    /// Binds a value or function.
    pub fn term(&mut self, name: &'a str, res: Res) {
        self.modules.remove(name);
        self.terms.insert(name, res);
    }

    /// Binds a module.
    pub fn module(&mut self, name: &'a str, module: Rc<ModVal<'a>>) {
        self.terms.remove(name);
        self.modules.insert(name, module);
    }

    /// Takes over everything another scope defines.
    pub fn include(&mut self, other: &Scope<'a>) {
        other.terms.iter().for_each(|(name, res)| self.term(name, *res));
        self.types.extend(other.types.iter().map(|(n, t)| (*n, *t)));
        other.modules.iter().for_each(|(name, module)| self.module(name, module.clone()));
        self.module_types.extend(other.module_types.iter().map(|(n, t)| (*n, t.clone())));
        self.opened.extend(other.opened.iter().copied());
    }
}

/// A frame of names and the one around it.
#[derive(Clone, Debug, Default)]
pub struct Frame<'a> {
    /// Names defined here.
    pub scope: Scope<'a>,
    /// What encloses it.
    pub parent: Option<Rc<Frame<'a>>>,
}

impl<'a> Frame<'a> {
    /// Frames from the innermost outwards.
    pub fn chain(&self) -> impl Iterator<Item = &Frame<'a>> {
        std::iter::successors(Some(self), |frame| frame.parent.as_deref())
    }
}

/// A module.
#[derive(Clone, Debug)]
pub enum ModVal<'a> {
    /// Definitions.
    Struct(Scope<'a>),
    /// The module of a scalar type.
    Scalar(ElemType),
    /// A parametric module.
    Functor(Functor<'a>),
    /// A message has been given.
    Error,
}

/// A parametric module. Each application elaborates its body anew, so it costs nothing that is not applied.
#[derive(Clone, Debug)]
pub struct Functor<'a> {
    /// The parameter's name.
    pub param: Name<'a>,
    /// The parameter's module type.
    pub param_type: Rc<ModType<'a>>,
    /// What is applied.
    pub body: FunctorBody<'a>,
}

/// What a parametric module does with its argument.
#[derive(Clone, Debug)]
pub enum FunctorBody<'a> {
    /// Elaborates a module expression, in the scope it was written in.
    Written {
        /// The other parameters.
        rest: &'a [(Name<'a>, ModTypeExp<'a>)],
        /// The module type of the result, if written.
        sig: Option<&'a ModTypeExp<'a>>,
        /// The body.
        body: &'a ModExp<'a>,
        /// Where it was written.
        frame: Rc<Frame<'a>>,
    },
    /// Applies another one and shows only what a module type says of the result.
    Seen(Rc<ModVal<'a>>, Rc<ModType<'a>>),
    /// Gives some module of this type: the parameter of a parametric module that is checked by itself.
    Abstract(Rc<ModType<'a>>),
}

/// A module type, in the scope it was written in.
#[derive(Clone, Debug)]
pub struct ModType<'a> {
    /// What was written.
    pub exp: &'a ModTypeExp<'a>,
    /// Names that it sees.
    pub frame: Rc<Frame<'a>>,
}

/// A term as a module type shows it.
#[derive(Clone, Debug)]
pub struct View {
    /// The name under which sizes mention it.
    pub id: NodeId,
    /// Its name.
    pub name: String,
    /// Where the module type says so.
    pub span: Span,
    /// The type it shows.
    pub scheme: Scheme,
    /// What stands behind it, and what its parameters are in terms of the view's; none for the parameter of a
    /// parametric module that is checked by itself.
    pub target: Option<(Res, crate::types::Instance)>,
}
