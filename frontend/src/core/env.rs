//! Names and their values, shared between scopes: binding a name leaves the scopes that others hold as they are.
//!
//! A tree over the digits of the names' numbers: looking up and binding take as many steps as a number has digits,
//! however many names there are. Going through it meets the names in order.

use super::value::Value;
use crate::syntax::ast::NodeId;
use std::rc::Rc;

/// Bits of a digit.
const BITS: u32 = 4;

/// The names of a scope.
#[derive(Clone, Default)]
pub(super) struct Env<'a> {
    root: Link<'a>,
    /// Digits of the largest number there is room for, less one.
    height: u32,
}

type Link<'a> = Option<Rc<Node<'a>>>;

/// A value, or one link for each digit.
#[derive(Clone)]
pub(super) enum Node<'a> {
    Value(Value<'a>),
    Digits([Link<'a>; 1 << BITS]),
}

fn digit(id: NodeId, height: u32) -> usize {
    (id.0 >> (height * BITS)) as usize % (1 << BITS)
}

impl<'a> Env<'a> {
    fn has_room(&self, id: NodeId) -> bool {
        id.0.checked_shr((self.height + 1) * BITS).is_none_or(|rest| rest == 0)
    }

    pub fn get(&self, id: NodeId) -> Option<&Value<'a>> {
        if !self.has_room(id) {
            return None;
        }
        let mut node = self.root.as_deref()?;
        let mut height = self.height;
        loop {
            match node {
                Node::Value(value) => return Some(value),
                Node::Digits(links) => node = links[digit(id, height)].as_deref()?,
            }
            height = height.saturating_sub(1);
        }
    }

    pub fn bind(&mut self, id: NodeId, value: Value<'a>) {
        while !self.has_room(id) {
            if let Some(root) = self.root.take() {
                let mut links = [const { None }; 1 << BITS];
                links[0] = Some(root);
                self.root = Some(Rc::new(Node::Digits(links)));
            }
            self.height += 1;
        }
        let mut link = &mut self.root;
        for height in (0..=self.height).rev() {
            let node = link.get_or_insert_with(|| Rc::new(Node::Digits([const { None }; 1 << BITS])));
            let Node::Digits(links) = Rc::make_mut(node) else { return };
            link = &mut links[digit(id, height)];
        }
        *link = Some(Rc::new(Node::Value(value)));
    }

    /// The same names with what `map` makes of the whole tree.
    pub fn map(&self, map: impl FnOnce(&Rc<Node<'a>>) -> Rc<Node<'a>>) -> Env<'a> {
        Env { root: self.root.as_ref().map(map), height: self.height }
    }
}

impl<'a> Node<'a> {
    /// A node with what `map` makes of the nodes below.
    pub fn map_links(
        links: &[Link<'a>; 1 << BITS],
        mut map: impl FnMut(&Rc<Node<'a>>) -> Rc<Node<'a>>,
    ) -> Node<'a> {
        Node::Digits(std::array::from_fn(|k| links[k].as_ref().map(&mut map)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::ir::Atom;

    #[test]
    fn binding_leaves_the_scopes_of_others() {
        let value = |n: i64| Value::Atom(Atom::i64(n));
        let number = |env: &Env<'_>, id: u32| match env.get(NodeId(id)) {
            Some(Value::Atom(atom)) => atom.constant().map(|scalar| scalar.as_i64()),
            _ => None,
        };
        let mut env = Env::default();
        let mut older = Vec::new();
        let ids = [0, 1, 15, 16, 17, 255, 256, 70_000, u32::MAX, 3, 1 << 28];
        for (n, id) in ids.into_iter().enumerate() {
            older.push(env.clone());
            env.bind(NodeId(id), value(n as i64));
        }
        for (n, id) in ids.into_iter().enumerate() {
            assert_eq!(number(&env, id), Some(n as i64), "{id}");
            assert_eq!(number(&older[n], id), None, "{id}");
            assert_eq!(older.get(n + 1).map_or(Some(n as i64), |env| number(env, id)), Some(n as i64));
        }
        assert_eq!(number(&env, 2), None);
        let before = env.clone();
        env.bind(NodeId(16), value(-1));
        assert_eq!((number(&env, 16), number(&before, 16)), (Some(-1), Some(3)));
    }
}
