//! Typed ids: 32-bit indices into dense vectors, so that the type checker stops one table's index from
//! reaching another table.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A 32-bit index with a type of its own; made by [`define_id!`](crate::define_id).
pub trait TypedId: Copy + Eq + fmt::Debug {
    /// The id of position `index`.
    fn from_index(index: usize) -> Self;
    /// The position this id stands for.
    fn index(self) -> usize;
}

/// Defines a typed id: `define_id!(pub struct RegId, "r");` prints as `r7`.
#[macro_export]
macro_rules! define_id {
    ($(#[$meta:meta])* pub struct $name:ident, $prefix:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $crate::TypedId for $name {
            fn from_index(index: usize) -> Self {
                $name(u32::try_from(index).unwrap_or(u32::MAX))
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(self, f)
            }
        }
    };
}

/// What is known of ids, of those that something is known of: a table, as most ids have an entry or are near one that has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdTable<I, T> {
    entries: Vec<Option<T>>,
    id: PhantomData<fn(I)>,
}

impl<I, T> Default for IdTable<I, T> {
    fn default() -> Self {
        IdTable { entries: Vec::new(), id: PhantomData }
    }
}

impl<I: TypedId, T> IdTable<I, T> {
    /// What is known of an id.
    pub fn get(&self, id: I) -> Option<&T> {
        self.entries.get(id.index())?.as_ref()
    }

    /// The same, mutably.
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.entries.get_mut(id.index())?.as_mut()
    }

    /// Whether anything is known of an id.
    pub fn has(&self, id: I) -> bool {
        self.get(id).is_some()
    }

    /// Everything, in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        let known = |(at, known): (usize, _)| Some((I::from_index(at), Option::as_ref(known)?));
        self.entries.iter().enumerate().filter_map(known)
    }

    /// Says what is known of an id.
    pub fn set(&mut self, id: I, known: T) {
        if self.entries.len() <= id.index() {
            self.entries.resize_with(id.index() + 1, || None);
        }
        self.entries[id.index()] = Some(known);
    }

    /// Forgets what is known of this id and all later ones.
    pub fn forget_from(&mut self, first: I) {
        self.entries.truncate(first.index());
    }
}

impl<I: TypedId, T> Index<I> for IdTable<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        self.get(id).expect("something is known of the id")
    }
}

/// A vector indexed by one kind of id.
#[derive(Clone, PartialEq, Eq)]
pub struct IdVec<I, T> {
    items: Vec<T>,
    id: PhantomData<fn(I)>,
}

impl<I: TypedId, T> IdVec<I, T> {
    /// An empty vector.
    pub fn new() -> Self {
        IdVec { items: Vec::new(), id: PhantomData }
    }

    /// Appends an item and gives its id.
    pub fn push(&mut self, item: T) -> I {
        self.items.push(item);
        I::from_index(self.items.len() - 1)
    }

    /// Removes the items from this number on; their ids will be given again.
    pub fn truncate(&mut self, len: usize) {
        self.items.truncate(len);
    }

    /// The id that the next `push` will give.
    pub fn next_id(&self) -> I {
        I::from_index(self.items.len())
    }

    /// The item, or nothing for an id beyond the end.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// The item, mutably.
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.items.get_mut(id.index())
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// True if there is no item.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// The items in order, mutably.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// The items in order with their ids.
    pub fn iter_ids(&self) -> impl Iterator<Item = (I, &T)> {
        self.items.iter().enumerate().map(|(i, item)| (I::from_index(i), item))
    }

    /// The ids in order.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    /// The items as a slice.
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }
}

impl<I: TypedId, T> Default for IdVec<I, T> {
    fn default() -> Self {
        IdVec::new()
    }
}

impl<I: TypedId, T> From<Vec<T>> for IdVec<I, T> {
    fn from(items: Vec<T>) -> Self {
        IdVec { items, id: PhantomData }
    }
}

impl<I: TypedId, T> FromIterator<T> for IdVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(items: It) -> Self {
        items.into_iter().collect::<Vec<T>>().into()
    }
}

impl<I: TypedId, T> Index<I> for IdVec<I, T> {
    type Output = T;
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: TypedId, T> IndexMut<I> for IdVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

impl<I: TypedId, T: fmt::Debug> fmt::Debug for IdVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.items).finish()
    }
}

/// A fast hash for ids and names of a program: keys that nobody chooses to collide.
#[derive(Clone, Copy, Default)]
pub struct IdHasher(u64);

impl std::hash::Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_u32(&mut self, id: u32) {
        self.write_u64(id as u64);
    }
}

/// A map with ids or names as keys.
pub type IdMap<K, V> = std::collections::HashMap<K, V, std::hash::BuildHasherDefault<IdHasher>>;
/// A set of ids or names.
pub type IdSet<K> = std::collections::HashSet<K, std::hash::BuildHasherDefault<IdHasher>>;
