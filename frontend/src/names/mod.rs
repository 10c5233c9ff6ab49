//! Which definition each name means.
//!
//! Invariants:
//! - After [`Names::resolve`] every occurrence in the definition has an entry in `uses` (an unknown name has
//!   [`Res::Error`] and one message).
//! - A definition of the prelude is resolved only when something uses it.
//! - `x.y` is a member if `x` is a module, else a projection; `Use::fields` counts the projected parts.

mod suggest;
mod walk;

use crate::syntax::ast::*;
use crate::syntax::{parse_prog, parse_scheme};
use bumpalo::Bump;
use galopvm_base::{Diagnostic, ElemType, FileId, IdVec, Sources, Span, define_id};
use galopvm_stdlib::{Intrinsic, Member};
use std::collections::HashMap;
pub use suggest::closest;

define_id!(
    /// A top-level definition.
    pub struct GlobalId, "global"
);
define_id!(
    /// A type abbreviation.
    pub struct AbbrId, "type"
);

/// A top-level definition.
#[derive(Clone, Copy, Debug)]
pub struct Global<'a> {
    /// What was written.
    pub bind: &'a ValBind<'a>,
    /// Attributes in front of it.
    pub attrs: &'a [Attr<'a>],
    /// Belongs to the user's program, not to the prelude.
    pub user: bool,
    /// How many of the file's definitions it sees; later ones are not visible to it.
    pub order: u32,
}

/// What a name means.
#[derive(Clone, Copy, Debug)]
pub enum Res {
    /// A local binding: the id of the binding node.
    Local(NodeId),
    /// A top-level definition.
    Global(GlobalId),
    /// A function of the table of intrinsics.
    Intrinsic(&'static Intrinsic),
    /// A member of a scalar type's module.
    Member(ElemType, Member),
    /// A built-in operator, by its spelling.
    Operator(&'static str),
    /// A type parameter: the id of its binder.
    TypeParam(NodeId),
    /// A type abbreviation.
    Abbr(AbbrId),
    /// A scalar type.
    Prim(ElemType),
    /// Unknown; a message has been given.
    Error,
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
    /// Files, to which texts of the prelude are added.
    pub sources: &'s mut Sources,
    /// All top-level definitions.
    pub globals: IdVec<GlobalId, Global<'a>>,
    /// All type abbreviations.
    pub abbrs: IdVec<AbbrId, &'a TypeBind<'a>>,
    /// Resolved occurrences.
    pub uses: HashMap<NodeId, Use>,
    /// Messages.
    pub diagnostics: Vec<Diagnostic>,
    /// The next node number.
    pub next_id: u32,
    user_terms: HashMap<&'a str, Vec<GlobalId>>,
    user_types: HashMap<&'a str, AbbrId>,
    prelude_terms: HashMap<&'a str, GlobalId>,
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
            uses: HashMap::new(),
            diagnostics: Vec::new(),
            next_id: 0,
            user_terms: HashMap::new(),
            user_types: HashMap::new(),
            prelude_terms: HashMap::new(),
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
                ids.push(self.globals.push(Global { bind, attrs: dec.attrs, user: false, order: u32::MAX }));
            }
        }
        ids
    }

    /// A fresh node number, for things that have no node.
    pub fn fresh_id(&mut self) -> NodeId {
        self.next_id += 1;
        NodeId(self.next_id - 1)
    }

    /// Adds the declarations of a user's file; gives the definitions in order.
    pub fn add_user(&mut self, prog: &Prog<'a>) -> Vec<GlobalId> {
        let mut ids = Vec::new();
        for dec in prog.decs {
            self.add_user_dec(dec, &mut ids);
        }
        ids
    }

    fn add_user_dec(&mut self, dec: &'a Dec<'a>, ids: &mut Vec<GlobalId>) {
        match dec.kind {
            DecKind::Val(bind) => {
                let order = self.globals.len() as u32;
                let id = self.globals.push(Global { bind, attrs: dec.attrs, user: true, order });
                let same = self.user_terms.entry(bind.name.text).or_default();
                if let Some(first) = same.first() {
                    let before = self.globals[*first].bind.name.at.span;
                    self.diagnostics.push(
                        Diagnostic::error(
                            bind.name.at.span,
                            format!("`{}` is defined twice", bind.name.text),
                        )
                        .with_place(before, "first defined here"),
                    );
                }
                same.push(id);
                ids.push(id);
            }
            DecKind::Type(bind) => {
                let id = self.abbrs.push(bind);
                self.resolve_type_bind(bind);
                if self.user_types.insert(bind.name.text, id).is_some() {
                    let text = format!("the type `{}` is defined twice", bind.name.text);
                    self.diagnostics.push(Diagnostic::error(bind.name.at.span, text));
                }
            }
            DecKind::Local(inner) => self.add_user_dec(inner, ids),
            DecKind::Module(bind) => self.unsupported(bind.name.at.span, "a module definition"),
            DecKind::ModType { name, .. } => self.unsupported(name.at.span, "a module type"),
            DecKind::Open(_) => self.unsupported(dec.at.span, "`open`"),
            DecKind::Import(_) => self.unsupported(dec.at.span, "`import`"),
        }
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
    fn member(&mut self, ty: ElemType, name: &str) -> Option<Res> {
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

    /// What an unqualified name means at top level, for a definition that sees the first `order` definitions.
    fn top_level(&self, name: &str, order: u32, user: bool) -> Option<Res> {
        if user
            && let Some(ids) = self.user_terms.get(name)
            && let Some(id) = ids.iter().rev().find(|id| self.globals[**id].order < order)
        {
            return Some(Res::Global(*id));
        }
        if let Some(id) = self.prelude_terms.get(name) {
            return Some(Res::Global(*id));
        }
        if let Some(row) = galopvm_stdlib::intrinsic(name) {
            return Some(Res::Intrinsic(row));
        }
        OPERATORS.iter().find(|op| **op == name).map(|op| Res::Operator(op))
    }

    /// The names a definition sees at top level, for suggestions.
    fn visible(&self, order: u32) -> impl Iterator<Item = &str> {
        let user = self
            .user_terms
            .iter()
            .filter(move |(_, ids)| ids.iter().any(|id| self.globals[*id].order < order));
        let user = user.map(|(name, _)| *name);
        user.chain(self.prelude_terms.keys().copied())
            .chain(galopvm_stdlib::INTRINSICS.iter().map(|row| row.name))
    }

    /// The definition a user's name has at the end of the file.
    pub fn user_global(&self, name: &str) -> Option<GlobalId> {
        self.user_terms.get(name).and_then(|ids| ids.last()).copied()
    }
}
