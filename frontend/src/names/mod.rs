//! Which definition each name means.
//!
//! Invariants:
//! - After [`Names::resolve`] every occurrence in the definition has an entry in `uses` (an unknown name has
//!   [`Res::Error`] and one message).
//! - A definition of the prelude is resolved only when something uses it.
//! - `x.y` is a member if `x` is a module, else a projection; `Use::fields` counts the projected parts.

mod load;
mod locals;
mod lookup;
mod scope;
mod suggest;
mod walk;

use crate::syntax::ast::*;
use crate::syntax::{parse_prog, parse_scheme};
use bumpalo::Bump;
use galopvm_base::{Diagnostic, ElemType, FileId, IdMap, IdVec, Sources, Span, define_id};
use galopvm_stdlib::{Intrinsic, Member};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;

pub use load::{Imports, Loaded};
pub use scope::{Frame, Functor, FunctorBody, ModType, ModVal, Scope, View};
pub use suggest::closest;

define_id!(
    /// A top-level definition.
    pub struct GlobalId, "global"
);
define_id!(
    /// A type by name: an abbreviation or an abstract type.
    pub struct AbbrId, "type"
);
define_id!(
    /// A term as a module type shows it.
    pub struct ViewId, "view"
);

/// A definition outside of other definitions.
#[derive(Clone, Copy, Debug)]
pub struct Global<'a> {
    /// What was written.
    pub bind: &'a ValBind<'a>,
    /// Attributes in front of it.
    pub attrs: &'a [Attr<'a>],
    /// Belongs to the user's program, not to the prelude.
    pub user: bool,
}

/// What a name means.
#[derive(Clone, Copy, Debug)]
pub enum Res {
    /// A local binding: the id of the binding node.
    Local(NodeId),
    /// A top-level definition.
    Global(GlobalId),
    /// A term as a module type shows it.
    View(ViewId),
    /// A function of the table of intrinsics.
    Intrinsic(&'static Intrinsic),
    /// A member of a scalar type's module.
    Member(ElemType, Member),
    /// A built-in operator, by its spelling.
    Operator(&'static str),
    /// A type parameter: the id of its binder.
    TypeParam(NodeId),
    /// A named type.
    Abbr(AbbrId),
    /// A scalar type.
    Prim(ElemType),
    /// Unknown; a message has been given.
    Error,
}

/// True if two names mean the same.
pub fn same_res(a: &Res, b: &Res) -> bool {
    match (a, b) {
        (Res::Local(x), Res::Local(y)) | (Res::TypeParam(x), Res::TypeParam(y)) => x == y,
        (Res::Global(x), Res::Global(y)) => x == y,
        (Res::View(x), Res::View(y)) => x == y,
        (Res::Intrinsic(x), Res::Intrinsic(y)) => x.name == y.name,
        (Res::Member(s, x), Res::Member(t, y)) => s == t && x == y,
        (Res::Operator(x), Res::Operator(y)) => x == y,
        (Res::Abbr(x), Res::Abbr(y)) => x == y,
        (Res::Prim(x), Res::Prim(y)) => x == y,
        _ => false,
    }
}

/// A resolved occurrence.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// What it means.
    pub res: Res,
    /// How many parts at the end of the name are field projections.
    pub fields: usize,
}

/// The operators that mean something without a definition.
const OPERATORS: [&str; 25] = [
    "+", "-", "*", "/", "%", "//", "%%", "**", "==", "!=", "<", "<=", ">", ">=", "&", "|", "^", "<<", ">>",
    ">>>", "&&", "||", "|>", "<|", "!",
];

/// Everything known about names in one compilation.
pub struct Names<'a, 's> {
    /// Where trees live.
    pub arena: &'a Bump,
    /// Files, to which texts of the prelude and imported files are added.
    pub sources: &'s mut Sources,
    /// All definitions.
    pub globals: IdVec<GlobalId, Global<'a>>,
    /// The names of all named types.
    pub abbrs: IdVec<AbbrId, Name<'a>>,
    /// Terms as module types show them.
    pub views: IdVec<ViewId, View>,
    /// Resolved occurrences.
    pub uses: IdMap<NodeId, Use>,
    /// Messages.
    pub diagnostics: Vec<Diagnostic>,
    /// The next node number.
    pub next_id: u32,
    /// What is visible at the place being read.
    pub frame: Frame<'a>,
    /// Names that the file defines further below, and where.
    pub later: IdMap<&'a str, Span>,
    /// Where the syntax of what is compiled is wrong.
    misread: Vec<Span>,
    /// What is visible where a debugger may stop, by the expression that says so; nothing if there is no debugger.
    pub at_stops: Option<IdMap<NodeId, Vec<(&'a str, NodeId)>>>,
    /// Types that only the compiler defines, such as accumulators.
    pub builtin_types: HashMap<&'static str, AbbrId>,
    /// Imported files by path; none while one is being read.
    pub(crate) files: HashMap<String, Option<Rc<ModVal<'a>>>>,
    /// The folder that imported files have to lie in, if there is one.
    pub(crate) confined: Option<PathBuf>,
    prelude_terms: IdMap<&'a str, GlobalId>,
    /// Module types of the prelude, once they are asked for.
    pub(crate) prelude_scope: Option<Scope<'a>>,
    members: HashMap<(ElemType, String), GlobalId>,
    prelude_file: Option<FileId>,
}

/// A type scheme as parsed from the table of intrinsics.
pub type SchemeText<'a> = (&'a [TypeParam<'a>], &'a TypeExp<'a>);

impl<'a, 's> Names<'a, 's> {
    /// The names of the prelude.
    pub fn new(arena: &'a Bump, sources: &'s mut Sources) -> Names<'a, 's> {
        let mut names = Names {
            arena,
            sources,
            globals: IdVec::new(),
            abbrs: IdVec::new(),
            views: IdVec::new(),
            uses: IdMap::default(),
            diagnostics: Vec::new(),
            next_id: 0,
            frame: Frame::default(),
            later: IdMap::default(),
            misread: Vec::new(),
            at_stops: None,
            builtin_types: HashMap::new(),
            files: HashMap::new(),
            confined: None,
            prelude_terms: IdMap::default(),
            prelude_scope: None,
            members: HashMap::new(),
            prelude_file: None,
        };
        for id in names.add_prelude_text("prelude/prelude.fut", galopvm_stdlib::PRELUDE) {
            names.prelude_terms.insert(names.globals[id].bind.name.text, id);
        }
        names
    }

    /// Definitions of a text that belongs to the prelude.
    fn add_prelude_text(&mut self, name: &str, text: &str) -> Vec<GlobalId> {
        let file = self.sources.add(name, text);
        self.prelude_file.get_or_insert(file);
        let parsed = parse_prog(self.arena, file, text, self.next_id);
        self.next_id = parsed.next_id;
        self.diagnostics.extend(parsed.diagnostics);
        let mut ids = Vec::new();
        for dec in parsed.tree.decs {
            if let DecKind::Val(bind) = dec.kind {
                ids.push(self.globals.push(Global { bind, attrs: dec.attrs, user: false }));
            }
        }
        ids
    }

    /// Remembers where the syntax of a text is wrong.
    pub(crate) fn misread_at(&mut self, found: &[Diagnostic]) {
        self.misread.extend(found.iter().filter(|message| message.is_error()).map(|message| message.span));
    }

    /// A fresh node number, for things that have no node.
    pub fn fresh_id(&mut self) -> NodeId {
        self.next_id += 1;
        NodeId(self.next_id - 1)
    }

    /// Says that a construct of the language is not there yet.
    pub fn unsupported(&mut self, span: Span, construct: &str) {
        self.diagnostics.push(Diagnostic::error(span, format!("{construct} is not supported yet")));
    }

    /// The scheme of an intrinsic, parsed and resolved.
    pub fn intrinsic_scheme(&mut self, intrinsic: &Intrinsic) -> Option<SchemeText<'a>> {
        let file = self.sources.add(format!("prelude/{}", intrinsic.name), intrinsic.scheme);
        let parsed = parse_scheme(self.arena, file, intrinsic.scheme, self.next_id);
        self.next_id = parsed.next_id;
        let scheme = parsed.tree?;
        self.resolve_scheme(scheme);
        Some(scheme)
    }

    /// What `name` of the module of `ty` is.
    pub fn member(&mut self, ty: ElemType, name: &str) -> Option<Res> {
        if let Some(member) = galopvm_stdlib::member(ty, name) {
            return Some(Res::Member(ty, member));
        }
        let key = (ty, name.to_string());
        if let Some(id) = self.members.get(&key) {
            return Some(Res::Global(*id));
        }
        let text = galopvm_stdlib::scalar_definition(ty, name)?;
        let id = *self.add_prelude_text(&format!("prelude/{ty}.{name}"), &text).first()?;
        self.members.insert(key, id);
        Some(Res::Global(id))
    }

    /// Goes back to a captured frame.
    pub fn leave(&mut self, outer: Rc<Frame<'a>>) {
        self.frame = Frame { scope: Scope::default(), parent: Some(outer) };
    }

    /// The frame as it is now, for whoever needs it later.
    pub fn capture(&mut self) -> Rc<Frame<'a>> {
        if self.frame.scope.terms.is_empty()
            && self.frame.scope.types.is_empty()
            && self.frame.scope.modules.is_empty()
            && self.frame.scope.module_types.is_empty()
            && self.frame.scope.opened.is_empty()
            && let Some(parent) = &self.frame.parent
        {
            return parent.clone();
        }
        let frame = Rc::new(std::mem::take(&mut self.frame));
        self.frame.parent = Some(frame.clone());
        frame
    }
}
