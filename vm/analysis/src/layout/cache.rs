//! Copies of arrays in other layouts, kept with the block that they are copies of.
//!
//! All kernels share them. A copy is known by the version of the array and its layout; a version has at most
//! [`MOST_SIBLINGS`]. They go when the array is updated in place, when it dies, or when memory is short.

/// Copies of one version.
pub const MOST_SIBLINGS: usize = 2;

/// What a copy is known by.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct LayoutKey {
    /// The version of the array: another number after each change of its elements.
    pub version: u64,
    /// Dimensions of the array, outermost in memory first.
    pub order: Vec<usize>,
}

/// The copies of one array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LayoutCache<T> {
    version: u64,
    /// The one used last is last.
    siblings: Vec<(Vec<usize>, T)>,
}

impl<T> LayoutCache<T> {
    /// No copies of this version.
    pub fn new(version: u64) -> LayoutCache<T> {
        LayoutCache { version, siblings: Vec::new() }
    }

    /// A copy that is there.
    pub fn get(&mut self, key: &LayoutKey) -> Option<&T> {
        if key.version != self.version {
            return None;
        }
        let at = self.siblings.iter().position(|(order, _)| *order == key.order)?;
        let used = self.siblings.remove(at);
        self.siblings.push(used);
        self.siblings.last().map(|(_, copy)| copy)
    }

    /// Keeps a copy; gives the ones that go for it: those of another version, or the one not used for longest.
    pub fn keep(&mut self, key: LayoutKey, copy: T) -> Vec<T> {
        let mut gone = if key.version == self.version { Vec::new() } else { self.changed(key.version) };
        if let Some(at) = self.siblings.iter().position(|(order, _)| *order == key.order) {
            gone.push(self.siblings.remove(at).1);
        }
        if self.siblings.len() == MOST_SIBLINGS {
            gone.push(self.siblings.remove(0).1);
        }
        self.siblings.push((key.order, copy));
        gone
    }

    /// The array has another version now, or memory is short: gives all copies.
    pub fn changed(&mut self, version: u64) -> Vec<T> {
        self.version = version;
        self.siblings.drain(..).map(|(_, copy)| copy).collect()
    }

    /// The layouts that are there.
    pub fn orders(&self) -> impl Iterator<Item = &[usize]> {
        self.siblings.iter().map(|(order, _)| order.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(version: u64, order: &[usize]) -> LayoutKey {
        LayoutKey { version, order: order.to_vec() }
    }

    #[test]
    fn two_copies_of_one_version() {
        let mut cache = LayoutCache::new(1);
        assert_eq!(cache.keep(key(1, &[1, 0, 2]), "a"), Vec::<&str>::new());
        assert_eq!(cache.keep(key(1, &[2, 0, 1]), "b"), Vec::<&str>::new());
        assert_eq!(cache.get(&key(1, &[1, 0, 2])), Some(&"a"));
        assert_eq!(cache.get(&key(2, &[1, 0, 2])), None);
        // The one not used for longest goes.
        assert_eq!(cache.keep(key(1, &[0, 2, 1]), "c"), vec!["b"]);
        assert_eq!(cache.orders().count(), 2);
        assert_eq!(cache.keep(key(1, &[0, 2, 1]), "d"), vec!["c"]);
        // An update in place makes all of them old.
        assert_eq!(cache.changed(2), vec!["a", "d"]);
        assert_eq!(cache.get(&key(2, &[0, 2, 1])), None);
        assert_eq!(cache.keep(key(3, &[0, 2, 1]), "e"), Vec::<&str>::new());
        assert_eq!(cache.get(&key(3, &[0, 2, 1])), Some(&"e"));
    }
}
