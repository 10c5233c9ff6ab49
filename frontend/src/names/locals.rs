//! The local names in scope, innermost last: found by name, however many there are.

use super::{ModVal, Res};
use crate::syntax::ast::NodeId;
use galopvm_base::IdMap;
use std::rc::Rc;

/// What brings local names into scope.
enum Binding<'a> {
    /// A name of its own.
    Name(&'a str, Res),
    /// A module whose names are seen.
    Opened(Rc<ModVal<'a>>),
}

/// What may say what a name means, innermost first.
pub(super) enum Local<'a> {
    /// This is it.
    Name(Res),
    /// A module that may have it.
    Opened(Rc<ModVal<'a>>),
}

#[derive(Default)]
pub(super) struct Locals<'a> {
    bindings: Vec<Binding<'a>>,
    /// Where each name is bound.
    names: IdMap<&'a str, Vec<usize>>,
    /// Where modules are opened.
    opened: Vec<usize>,
}

impl<'a> Locals<'a> {
    pub fn len(&self) -> usize {
        self.bindings.len()
    }

    pub fn bind(&mut self, name: &'a str, res: Res) {
        self.names.entry(name).or_default().push(self.bindings.len());
        self.bindings.push(Binding::Name(name, res));
    }

    pub fn open(&mut self, module: Rc<ModVal<'a>>) {
        self.opened.push(self.bindings.len());
        self.bindings.push(Binding::Opened(module));
    }

    /// Forgets all but the first `count`.
    pub fn truncate(&mut self, count: usize) {
        for binding in self.bindings.drain(count.min(self.bindings.len())..) {
            if let Binding::Name(name, _) = binding
                && let Some(places) = self.names.get_mut(name)
            {
                places.pop();
            }
        }
        self.opened.truncate(self.opened.partition_point(|place| *place < count));
    }

    /// The innermost binding of a name, behind the modules that were opened further inside.
    pub fn find(&self, name: &str) -> impl Iterator<Item = Local<'a>> + use<'a> {
        let bound = self.names.get(name).and_then(|places| places.last()).copied();
        let res = bound.and_then(|place| match &self.bindings[place] {
            Binding::Name(_, res) => Some(Local::Name(*res)),
            Binding::Opened(_) => None,
        });
        let inside = self.opened.partition_point(|place| Some(*place) < bound);
        let opened: Vec<Local<'a>> = self.opened_from(inside).map(Local::Opened).collect();
        opened.into_iter().chain(res)
    }

    /// The opened modules, innermost first.
    pub fn modules(&self) -> impl Iterator<Item = Rc<ModVal<'a>>> {
        self.opened_from(0)
    }

    fn opened_from(&self, first: usize) -> impl Iterator<Item = Rc<ModVal<'a>>> {
        self.opened[first..].iter().rev().filter_map(|place| match &self.bindings[*place] {
            Binding::Opened(module) => Some(module.clone()),
            Binding::Name(..) => None,
        })
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.bindings.iter().filter_map(|binding| match binding {
            Binding::Name(name, _) => Some(*name),
            Binding::Opened(_) => None,
        })
    }
    /// The values that are not hidden by others, innermost first.
    pub fn visible(&self) -> Vec<(&'a str, NodeId)> {
        let innermost = |(place, binding): (usize, &Binding<'a>)| match binding {
            Binding::Name(name, Res::Local(id)) if self.names.get(name)?.last() == Some(&place) => {
                Some((*name, *id))
            }
            _ => None,
        };
        self.bindings.iter().enumerate().rev().filter_map(innermost).collect()
    }
}
