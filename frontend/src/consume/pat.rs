//! Patterns: what each name they bind gets, and which parameters are consumed.

use super::Walk;
use super::aliases::Aliases;
use super::scope::{Binding, Bound, RegionKind};
use super::tree::{Marks, Tree, Value};
use crate::syntax::ast::*;
use std::rc::Rc;

/// The names a pattern binds, each with its part of what is matched. The tree has the shape of the pattern's type.
pub(super) fn match_pat<'a, A: Clone>(pat: &'a Pat<'a>, tree: &Tree<A>, out: &mut Vec<Bound<'a, A>>) {
    match pat.kind {
        PatKind::Id(name) => {
            let (id, span) = (pat.at.id, pat.at.span);
            out.push(Bound { id, name, span, written: None, tree: tree.clone() });
        }
        PatKind::Ascript(inner, written) => {
            let before = out.len();
            match_pat(inner, tree, out);
            if let [only] = &mut out[before..]
                && crate::types::pat_name(inner) == Some(only.id)
            {
                only.written = Some(written.at.span);
            }
        }
        PatKind::Parens(inner) | PatKind::Attr(_, inner) => match_pat(inner, tree, out),
        PatKind::Tuple(items) => {
            if let Tree::Record(fields) = tree {
                items.iter().zip(fields.iter()).for_each(|(p, (_, t))| match_pat(p, t, out));
            }
        }
        PatKind::Record(items) => {
            for (name, item) in items {
                if let Some(part) = tree.field(name.text) {
                    match_pat(item, part, out);
                }
            }
        }
        PatKind::Constr(name, items) => {
            if let Some(payloads) = tree.constructor(name) {
                items.iter().zip(payloads.iter()).for_each(|(p, t)| match_pat(p, t, out));
            }
        }
        PatKind::Wildcard | PatKind::Lit(_) => {}
    }
}

impl<'a> Walk<'_, 'a, '_, '_> {
    /// Binds the names of a pattern to the parts of a value; gives them, to be left again.
    pub(super) fn bind_pat(&mut self, pat: &'a Pat<'a>, value: Value) -> Vec<NodeId> {
        let value = match self.checker.types.get(pat.at.id) {
            Some(ty) => value.fit(&Marks::of(ty)),
            None => value,
        };
        let mut bound = Vec::new();
        match_pat(pat, &value, &mut bound);
        bound.iter().for_each(|b: &Bound<'a, Aliases>| self.bind(b));
        bound.into_iter().map(|b| b.id).collect()
    }

    /// Binds the names of a function's parameter; those marked `*` may be consumed.
    pub(super) fn bind_param(&mut self, pat: &'a Pat<'a>, out: &mut Vec<NodeId>) -> Marks {
        self.pat_sizes(pat);
        let marks = self.pat_marks(pat, &|_| false);
        self.bind_marks(pat, &marks, Binding::Param, out);
        marks
    }

    /// Binds the names of a pattern whose parts are consumable as marked.
    pub(super) fn bind_marks(
        &mut self,
        pat: &'a Pat<'a>,
        marks: &Marks,
        binding: Binding,
        out: &mut Vec<NodeId>,
    ) {
        let mut bound = Vec::new();
        match_pat(pat, marks, &mut bound);
        for b in &bound {
            self.bind_own(b, binding, b.tree.any_unique());
            out.push(b.id);
        }
    }

    /// Which parts of a parameter are consumed: as written where a type is, else as `consumed` says of the name.
    pub(super) fn pat_marks(&self, pat: &'a Pat<'a>, consumed: &dyn Fn(NodeId) -> bool) -> Marks {
        self.marks(pat, consumed, true)
    }

    /// Which parts of a parameter are consumed, as `consumed` says of the names.
    pub(super) fn pat_marks_found(&self, pat: &'a Pat<'a>, consumed: &dyn Fn(NodeId) -> bool) -> Marks {
        self.marks(pat, consumed, false)
    }

    fn marks(&self, pat: &'a Pat<'a>, consumed: &dyn Fn(NodeId) -> bool, as_written: bool) -> Marks {
        let shape = || self.shape(pat.at.id).fill(&false);
        let marks = |pat| self.marks(pat, consumed, as_written);
        match pat.kind {
            PatKind::Id(_) => self.shape(pat.at.id).fill(&consumed(pat.at.id)),
            PatKind::Wildcard | PatKind::Lit(_) => shape(),
            // What is written wins; of two types around one another each may mark a part.
            PatKind::Ascript(inner, written) if as_written => {
                shape().written(written).either(&self.marks(inner, &|_| false, true))
            }
            PatKind::Parens(inner) | PatKind::Attr(_, inner) | PatKind::Ascript(inner, _) => marks(inner),
            PatKind::Tuple(items) => Tree::tuple(items.iter().map(marks).collect()),
            PatKind::Record(items) => {
                Tree::record(items.iter().map(|(n, item)| (Rc::from(n.text), marks(item))).collect())
            }
            PatKind::Constr(name, items) => shape().with_constructor(name, items.iter().map(marks).collect()),
        }
    }

    /// The expressions in the types of a pattern.
    pub(super) fn pat_sizes(&mut self, pat: &'a Pat<'a>) {
        match pat.kind {
            PatKind::Ascript(inner, written) => {
                self.type_sizes(written);
                self.pat_sizes(inner);
            }
            PatKind::Parens(inner) | PatKind::Attr(_, inner) => self.pat_sizes(inner),
            PatKind::Tuple(items) | PatKind::Constr(_, items) => items.iter().for_each(|p| self.pat_sizes(p)),
            PatKind::Record(items) => items.iter().for_each(|(_, p)| self.pat_sizes(p)),
            PatKind::Id(_) | PatKind::Wildcard | PatKind::Lit(_) => {}
        }
    }

    /// The expressions in a type.
    fn type_sizes(&mut self, ty: &'a TypeExp<'a>) {
        match ty.kind {
            TypeExpKind::Parens(inner) | TypeExpKind::Unique(inner) | TypeExpKind::Exists(_, inner) => {
                self.type_sizes(inner);
            }
            TypeExpKind::Tuple(items) => items.iter().for_each(|t| self.type_sizes(t)),
            TypeExpKind::Record(items) => items.iter().for_each(|(_, t)| self.type_sizes(t)),
            TypeExpKind::Sum(items) => {
                items.iter().for_each(|(_, parts)| parts.iter().for_each(|t| self.type_sizes(t)));
            }
            TypeExpKind::Array(size, elem) => {
                self.size_exp(&size);
                self.type_sizes(elem);
            }
            TypeExpKind::Apply(head, arg) => {
                self.type_sizes(head);
                match arg {
                    TypeArg::Size(size) => self.size_exp(&size),
                    TypeArg::Type(arg) => self.type_sizes(arg),
                }
            }
            TypeExpKind::Arrow(_, from, to) => {
                self.type_sizes(from);
                self.type_sizes(to);
            }
            TypeExpKind::Var(_) | TypeExpKind::Error => {}
        }
    }

    fn size_exp(&mut self, size: &SizeExp<'a>) {
        if let Some(exp) = size.size {
            self.region(RegionKind::Size, |walk| walk.exp(exp));
        }
    }
}
