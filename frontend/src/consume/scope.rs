//! Names: what each binding shares, whether it may be consumed, and what has been.

use super::aliases::{Alias, Aliases, Paths};
use super::tree::{Marks, Tree, Value};
use super::{Walk, report};
use crate::names::Res;
use crate::syntax::ast::*;
use galopvm_base::{Diagnostic, Span};

/// How a name came to be, for messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Binding {
    /// By a pattern of `let` or `match`.
    Let,
    /// A parameter of a function, not marked `*`.
    Param,
    /// A parameter of a loop whose type was written without `*`.
    LoopParam,
    /// The element or the number of a turn of a loop.
    Turn,
    /// A local function.
    Function,
}

/// A local binding.
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    pub(super) span: Span,
    /// Its type, if it was written beside it.
    pub(super) written: Option<Span>,
    pub(super) value: Value,
    pub(super) binding: Binding,
    /// May be consumed, as far as its own binding is concerned.
    pub(super) consumable: bool,
    /// How many bindings came before it.
    pub(super) order: usize,
    /// Its binder is being walked.
    pub(super) in_scope: bool,
}

/// A top-level definition, or what a module type shows of one.
pub(super) struct Definition {
    pub(super) name: String,
    pub(super) span: Span,
}

/// Where a result without a name comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin<'a> {
    /// A call; of a function with a name, if it has one.
    Call(Option<QualName<'a>>),
    /// A loop.
    Loop,
}

/// Code that may run several times, or later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RegionKind {
    /// A function.
    Function,
    /// The turns of a loop.
    Loop,
    /// A size in a type.
    Size,
}

/// A function or loop that the walk is inside of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) kind: RegionKind,
    /// Bindings before this one are outside, and not its to consume.
    pub(super) first: usize,
}

/// A bound name with what is known of it.
pub(super) struct Bound<'a, A> {
    pub(super) id: NodeId,
    pub(super) name: &'a str,
    pub(super) span: Span,
    /// Its type, if it was written beside it.
    pub(super) written: Option<Span>,
    pub(super) tree: Tree<A>,
}

impl<'a> Walk<'_, 'a, '_, '_> {
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        let key = (diagnostic.span, diagnostic.message.clone());
        if !self.reported.contains(&key) {
            self.reported.push(key);
            self.checker.names.diagnostics.push(diagnostic);
        }
    }

    /// The shape of the type of an expression or pattern.
    pub(super) fn shape(&self, id: NodeId) -> Marks {
        self.checker.types.get(id).map_or(Tree::Scalar, Marks::of)
    }

    /// A new value of the type of an expression.
    pub(super) fn fresh(&self, id: NodeId) -> Value {
        match self.shape(id) {
            Tree::Scalar => Tree::Scalar,
            shape => shape.fresh(),
        }
    }

    /// Binds a name to a value that may be consumed.
    pub(super) fn bind(&mut self, bound: &Bound<'a, Aliases>) {
        let value = bound.tree.naming(bound.id, &mut self.paths);
        self.enter_bound(bound, value, Binding::Let, true);
    }

    /// Binds a name that shares its memory with no other name known here.
    pub(super) fn bind_own(&mut self, bound: &Bound<'a, bool>, binding: Binding, consumable: bool) {
        let value = bound.tree.fresh().naming(bound.id, &mut self.paths);
        self.enter_bound(bound, value, binding, consumable);
    }

    /// Binds a name that stands alone.
    pub(super) fn enter(&mut self, name: &Name<'a>, value: Value, binding: Binding, consumable: bool) {
        let Name { text, at } = *name;
        let bound = Bound { id: at.id, name: text, span: at.span, written: None, tree: Tree::<bool>::Scalar };
        self.enter_bound(&bound, value, binding, consumable);
    }

    fn enter_bound<A>(&mut self, bound: &Bound<'a, A>, value: Value, binding: Binding, consumable: bool) {
        let Bound { id, name, span, written, .. } = *bound;
        let order = self.entries.len();
        let entry = Entry { name, span, written, value, binding, consumable, order, in_scope: true };
        self.entries.insert(id, entry);
    }

    /// Ends the scope of a name.
    pub(super) fn leave(&mut self, id: NodeId) {
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.in_scope = false;
        }
    }

    /// Walks something whose outer variables are not its to consume.
    pub(super) fn region<T>(&mut self, kind: RegionKind, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.regions.push(Region { kind, first: self.entries.len() });
        let result = inner(self);
        self.regions.pop();
        result
    }

    /// The local variables, bound before, that were observed since `mark` (a length of `seen`), each with its first
    /// use.
    pub(super) fn free_since(&self, mark: usize, first: usize) -> Vec<(NodeId, Span)> {
        let is_free = |id: NodeId| self.entries.get(&id).is_some_and(|e| e.order < first);
        let mut free: Vec<(NodeId, Span)> =
            self.seen[mark..].iter().copied().filter(|u| is_free(u.0)).collect();
        free.sort_by_key(|(id, _)| *id);
        free.dedup_by_key(|(id, _)| *id);
        free
    }

    /// True for a variable whose owner may still use it: one in scope, or a definition.
    pub(super) fn is_bound(&self, var: NodeId) -> bool {
        self.entries.get(&var).map_or_else(|| self.is_global(var), |entry| entry.in_scope)
    }

    /// True for a top-level definition.
    pub(super) fn is_global(&self, var: NodeId) -> bool {
        self.definitions.contains_key(&var)
    }

    /// A name for the result of a call or loop.
    pub(super) fn make(&mut self, origin: Origin<'a>) -> Aliases {
        let id = self.checker.names.fresh_id();
        self.made.insert(id, origin);
        Aliases::of(id)
    }

    /// A use of a name with these parts; the last of them may be fields.
    pub(super) fn occurrence(&mut self, id: NodeId, span: Span, parts: &[Name<'a>]) -> Value {
        let Some(used) = self.checker.names.uses.get(&id).copied() else { return self.fresh(id) };
        let fields = &parts[parts.len() - used.fields..];
        match used.res {
            Res::Local(local) => {
                let mut value = self.local(local, id, span);
                for field in fields {
                    value = match value.field(field.text) {
                        Some(part) => part.clone(),
                        None => return self.fresh(id).adding(&value.aliases()),
                    };
                }
                value
            }
            Res::Global(_) | Res::View(_) => self.global(used.res, id, fields),
            _ => self.fresh(id),
        }
    }

    /// A use of a local variable.
    pub(super) fn local(&mut self, local: NodeId, occurrence: NodeId, span: Span) -> Value {
        let Some(entry) = self.entries.get(&local) else { return self.fresh(occurrence) };
        let value = entry.value.clone();
        self.seen.push((local, span));
        self.check_usable(span, &value.aliases(), Some(local));
        value
    }

    /// A use of a definition. An array is known by the definition's name; a function shares nothing. A constant with
    /// sizes as parameters is made anew by each use.
    pub(super) fn global(&mut self, res: Res, occurrence: NodeId, fields: &[Name<'a>]) -> Value {
        let shape = self.shape(occurrence);
        let instance = self.checker.instances.get(&occurrence);
        let sized = instance.is_some_and(|instance| !instance.sizes.is_empty());
        if sized || matches!(shape, Tree::Scalar | Tree::Function(..)) {
            return shape.fresh();
        }
        let names = &self.checker.names;
        let (var, definition) = match res {
            Res::Global(id) => {
                let name = names.globals[id].bind.name;
                (name.at.id, Definition { name: name.text.to_string(), span: name.at.span })
            }
            Res::View(id) => {
                let view = &names.views[id];
                (view.id, Definition { name: view.name.clone(), span: view.span })
            }
            _ => return shape.fresh(),
        };
        self.definitions.insert(var, definition);
        let path = fields.iter().fold(Paths::ROOT, |path, field| self.paths.field(path, &field.text.into()));
        shape.fresh().naming_arrays(var, path, &mut self.paths)
    }

    /// Says so if something of this was consumed before.
    pub(super) fn check_usable(&mut self, span: Span, aliases: &Aliases, used: Option<NodeId>) {
        if self.consumed.is_empty() {
            return;
        }
        let is_consumed = |var: NodeId| self.consumed.get(&var).map(|span| (var, *span));
        // The name itself says more than one of those it shares memory with.
        let found = used.and_then(is_consumed).or_else(|| aliases.iter().find_map(|a| is_consumed(a.var)));
        let Some((var, place)) = found else { return };
        // One message is enough for everything that one consumption spoils.
        if self.told.contains(&place) {
            return;
        }
        self.told.push(place);
        let used = used.filter(|used| *used != var).and_then(|used| self.entries.get(&used)).map(|e| e.name);
        let diagnostic = report::use_after_consume(span, &self.describe(var), used, place);
        self.report(diagnostic);
    }

    /// What a message calls a variable.
    pub(super) fn describe(&self, var: NodeId) -> String {
        match self.made.get(&var) {
            Some(Origin::Call(Some(name))) => format!("result of applying \"{}\"", name.text()),
            Some(Origin::Call(None)) => "result of application".to_string(),
            Some(Origin::Loop) => "result of loop".to_string(),
            None => format!("variable \"{}\"", self.name(var)),
        }
    }

    /// The name of a variable.
    pub(super) fn name(&self, var: NodeId) -> String {
        match self.entries.get(&var) {
            Some(entry) => entry.name.to_string(),
            None => self.definitions.get(&var).map(|d| d.name.clone()).unwrap_or_default(),
        }
    }

    /// Notes that variables are consumed.
    pub(super) fn consume(&mut self, vars: impl IntoIterator<Item = (NodeId, Span)>) {
        for (var, span) in vars {
            if let std::collections::hash_map::Entry::Vacant(vacant) = self.consumed.entry(var) {
                vacant.insert(span);
                self.log.push(var);
            }
        }
    }

    /// Walks something and takes back what it consumed.
    pub(super) fn contain<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> (T, Vec<(NodeId, Span)>) {
        let before = self.log.len();
        let result = inner(self);
        let new = self.log.split_off(before);
        let new = new.into_iter().filter_map(|var| self.consumed.remove(&var).map(|span| (var, span)));
        (result, new.collect())
    }

    /// Consumes everything that shares this memory.
    pub(super) fn consume_aliases(&mut self, span: Span, aliases: &Aliases) {
        let mut refused = None;
        for Alias { var, .. } in aliases.iter() {
            if self.is_bound(var) && refused != Some(var) && !self.is_consumable(var) {
                refused = Some(var);
                let diagnostic = self.not_consumable(span, var);
                self.report(diagnostic);
            }
        }
        self.check_usable(span, aliases, None);
        if refused.is_none() {
            self.consume(aliases.iter().map(|alias| (alias.var, span)));
        }
    }

    /// True if the code here owns a variable that is in scope.
    fn is_consumable(&self, var: NodeId) -> bool {
        let first = self.regions.last().map_or(0, |r| r.first);
        self.entries.get(&var).is_some_and(|entry| entry.consumable && entry.order >= first)
    }

    fn not_consumable(&self, span: Span, var: NodeId) -> Diagnostic {
        let Some(entry) = self.entries.get(&var) else {
            let place = self.definitions.get(&var).map(|d| d.span);
            return report::consumes_global(span, &self.name(var), place);
        };
        if !entry.consumable {
            return report::not_consumable(span, entry, &self.starred(var));
        }
        // The outermost region that the variable is outside of.
        let region = self.regions.iter().find(|region| entry.order < region.first);
        report::consumes_outer(span, entry.name, entry.span, region.map(|r| r.kind))
    }

    /// How to declare a parameter so that it, or for a function its result, may be consumed.
    pub(super) fn starred(&self, var: NodeId) -> String {
        const LONGEST: usize = 40;
        let Some(entry) = self.entries.get(&var) else { return String::new() };
        if matches!(entry.value, Tree::Function(..)) {
            return "with `*` before the type of its result".to_string();
        }
        let ty = match (entry.written, self.checker.types.get(var)) {
            (Some(span), _) => self.checker.names.sources.snippet(span).to_string(),
            (None, Some(ty)) => self.checker.vars.show(ty),
            (None, None) => String::new(),
        };
        let plain = ty.chars().all(|c| c.is_ascii_alphanumeric() || "[]_.'".contains(c));
        match plain && !ty.is_empty() && ty.len() <= LONGEST {
            true => format!("`{}: *{ty}`", entry.name),
            false => "with `*` before its type".to_string(),
        }
    }
}
