//! Copies of arrays in other layouts, kept with the block that they are copies of.
//!
//! A block has a shelf as soon as somebody wants another layout of what lies in it. Invariants: a shelf goes when its
//! block's bytes are lent for writing, and with the block, so a copy has the elements that the block has now; the pool
//! empties all shelves before it refuses a block.

use super::{Block, Memory};
use galopvm_base::ElemType;
use galopvm_lmad::Lmad;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Views of one block that copies are kept of.
const MOST_VIEWS: usize = 4;

/// Copies that are kept of one view.
const MOST_COPIES: usize = 2;

/// What is kept with a block.
#[derive(Default)]
pub struct Shelf(Mutex<Vec<Kept>>);

/// What is kept of one view.
struct Kept {
    elem: ElemType,
    view: Lmad,
    /// By layout: how often it was asked for.
    asked: Vec<(Vec<usize>, u64)>,
    /// By layout; the one used last is last.
    copies: Vec<(Vec<usize>, Block)>,
}

/// A view of a block, and a layout of it: dimensions, outermost in memory first.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// The elements' type.
    pub elem: ElemType,
    /// The view of the block.
    pub view: &'a Lmad,
    /// The layout.
    pub order: &'a [usize],
}

impl Shelf {
    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The copy of a view in a layout, if there is one.
    pub fn copy(&self, wanted: Wanted<'_>) -> Option<Block> {
        let mut kept = self.kept();
        let kept = kept.iter_mut().find(|kept| kept.is_of(wanted))?;
        let copy = kept.take(wanted.order)?;
        kept.copies.push((wanted.order.to_vec(), copy.clone()));
        Some(copy)
    }

    /// Keeps a copy; another one may go for it.
    pub fn keep(&self, wanted: Wanted<'_>, copy: Block) {
        // What goes is dropped when nobody holds the lock.
        let gone = self.of(wanted, |kept| {
            let same = kept.take(wanted.order);
            let oldest = (kept.copies.len() == MOST_COPIES).then(|| kept.copies.remove(0).1);
            kept.copies.push((wanted.order.to_vec(), copy));
            (same, oldest)
        });
        drop(gone);
    }

    /// Counts that a layout is asked for; gives how often it was, with this time.
    pub fn ask(&self, wanted: Wanted<'_>) -> u64 {
        self.of(wanted, |kept| {
            if let Some((_, times)) = kept.asked.iter_mut().find(|(order, _)| order == wanted.order) {
                *times += 1;
                return *times;
            }
            kept.asked.push((wanted.order.to_vec(), 1));
            1
        })
    }

    fn of<T>(&self, wanted: Wanted<'_>, f: impl FnOnce(&mut Kept) -> T) -> T {
        let mut all = self.kept();
        let at = all.iter().position(|kept| kept.is_of(wanted)).unwrap_or_else(|| {
            if all.len() == MOST_VIEWS {
                all.remove(0);
            }
            let (elem, view) = (wanted.elem, wanted.view.clone());
            all.push(Kept { elem, view, asked: Vec::new(), copies: Vec::new() });
            all.len() - 1
        });
        f(&mut all[at])
    }

    /// Gives up all copies; says whether there were any.
    fn empty(&self) -> bool {
        let gone: Vec<_> = self.kept().iter_mut().flat_map(|kept| std::mem::take(&mut kept.copies)).collect();
        !gone.is_empty()
    }
}

impl Kept {
    fn is_of(&self, wanted: Wanted<'_>) -> bool {
        self.elem == wanted.elem && self.view == *wanted.view
    }

    /// The copy in a layout, which is kept no longer.
    fn take(&mut self, order: &[usize]) -> Option<Block> {
        let at = self.copies.iter().position(|(own, _)| own == order)?;
        Some(self.copies.remove(at).1)
    }
}

/// All shelves of a pool.
#[derive(Default)]
pub(super) struct Shelves(Mutex<Vec<Weak<Shelf>>>);

impl Shelves {
    fn all(&self) -> MutexGuard<'_, Vec<Weak<Shelf>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new shelf.
    fn make(&self) -> Arc<Shelf> {
        let shelf = Arc::new(Shelf::default());
        let mut all = self.all();
        if all.len() == all.capacity() {
            // What is gone makes room before the list grows.
            all.retain(|shelf| shelf.strong_count() > 0);
        }
        all.push(Arc::downgrade(&shelf));
        shelf
    }

    /// Empties all shelves; says whether that gave anything up.
    pub(super) fn empty(&self) -> bool {
        let living: Vec<Arc<Shelf>> = self.all().iter().filter_map(Weak::upgrade).collect();
        living.iter().filter(|shelf| shelf.empty()).count() > 0
    }
}

impl Block {
    /// The block's shelf, which is made if there is none.
    pub fn shelf(&self, memory: &Memory) -> &Arc<Shelf> {
        self.shelf_or(|| memory.pool().shelves.make())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted<'a>(view: &'a Lmad, order: &'a [usize]) -> Wanted<'a> {
        Wanted { elem: ElemType::I32, view, order }
    }

    #[test]
    fn a_write_ends_what_was_kept() {
        let memory = Memory::new(None);
        let mut block = memory.block(64).unwrap();
        let view = Lmad::row_major(&[4, 4]);
        assert_eq!(block.shelf(&memory).ask(wanted(&view, &[1, 0])), 1);
        assert_eq!(block.shelf(&memory).ask(wanted(&view, &[1, 0])), 2);
        block.shelf(&memory).keep(wanted(&view, &[1, 0]), memory.block(64).unwrap());
        assert!(block.shelf(&memory).copy(wanted(&view, &[1, 0])).is_some());
        assert!(block.shelf(&memory).copy(wanted(&view, &[0, 1])).is_none());
        assert_eq!(memory.stats().live_bytes, 128);
        // A shelf is no holder.
        assert!(block.is_unique());
        block.bytes_mut().unwrap()[0] = 1;
        assert!(block.shelf(&memory).copy(wanted(&view, &[1, 0])).is_none());
        assert_eq!(block.shelf(&memory).ask(wanted(&view, &[1, 0])), 1);
        assert_eq!(memory.stats().live_bytes, 64);
        block.shelf(&memory).keep(wanted(&view, &[1, 0]), memory.block(64).unwrap());
        let mut own = block.exclusive().unwrap();
        own.bytes_mut()[0] = 2;
        assert_eq!(memory.stats().live_bytes, 64);
        let block = own.share();
        block.shelf(&memory).keep(wanted(&view, &[1, 0]), memory.block(64).unwrap());
        drop(block);
        assert_eq!(memory.stats().live_bytes, 0);
    }

    #[test]
    fn of_too_many_copies_the_one_not_used_for_longest_goes() {
        let memory = Memory::new(None);
        let block = memory.block(64).unwrap();
        let view = Lmad::row_major(&[2, 2, 2]);
        let orders: [&[usize]; 3] = [&[1, 0, 2], &[2, 1, 0], &[0, 2, 1]];
        let shelf = block.shelf(&memory);
        let is_there = |order| shelf.copy(wanted(&view, order)).is_some();
        shelf.keep(wanted(&view, orders[0]), memory.block(64).unwrap());
        shelf.keep(wanted(&view, orders[1]), memory.block(64).unwrap());
        assert!(is_there(orders[0]));
        shelf.keep(wanted(&view, orders[2]), memory.block(64).unwrap());
        assert_eq!(orders.map(is_there), [true, false, true]);
        shelf.keep(wanted(&view, orders[2]), memory.block(64).unwrap());
        assert_eq!(orders.map(is_there), [true, false, true]);
        assert_eq!(memory.stats().live_bytes, 3 * 64);
    }

    #[test]
    fn copies_go_before_a_block_is_refused() {
        let memory = Memory::new(Some(1 << 20));
        let block = memory.block(300 << 10).unwrap();
        let view = Lmad::row_major(&[300 << 8]);
        block.shelf(&memory).keep(wanted(&view, &[0]), memory.block(300 << 10).unwrap());
        let other = memory.block(500 << 10).unwrap();
        assert!(block.shelf(&memory).copy(wanted(&view, &[0])).is_none());
        drop((block, other));
        assert_eq!(memory.stats().live_bytes, 0);
    }
}
