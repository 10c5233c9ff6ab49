//! Blocks whose bytes are on a device until somebody of the host looks.
//!
//! A block that is away has its storage with the copy on the device, as the landing. The first look brings the bytes home, by
//! [`Away::bytes`], which is the only way to them; writing goes by [`Away::come_home`], after which the block is like any other.
//!
//! Whoever only asks - for the length, the holders, whether the block may be written - moves nothing.
//!
//! Invariants: the storage is counted as in use all the time, so that coming home needs no memory; bytes come home once, and
//! whoever looks meanwhile waits. Bytes that a device has lost are zeros from then on, so that nobody reads or writes past
//! them, and each look is counted with their memory ([`Losses`]): a call in which there was one gives an error instead of a
//! result, and a block says that it is not intact.

use super::Memory;
use super::block::Storage;
use super::pool::Pool;
use galopvm_base::resident::{Arrival, Landing, Resident};
use std::any::Any;
use std::sync::{Arc, OnceLock};

/// What a call says that has looked at bytes which a device has lost.
pub const DEVICE_LOST: &str = "The device that held an array was lost.";

/// How often somebody looked at bytes of a memory that a device has lost.
pub struct Losses(Arc<Pool>);

impl Losses {
    /// So far.
    pub fn count(&self) -> u64 {
        self.0.losses()
    }
}

/// Storage of a block that waits for the bytes.
pub(super) struct Room {
    storage: Option<Storage>,
    bytes: usize,
    pool: Arc<Pool>,
}

impl Room {
    pub(super) fn new(storage: Storage, bytes: usize, pool: Arc<Pool>) -> Room {
        Room { storage: Some(storage), bytes, pool }
    }

    fn bytes(&self) -> &[u8] {
        self.storage.as_ref().map_or(&[], |storage| &storage.bytes()[..self.bytes])
    }
}

impl Landing for Room {
    fn bytes_mut(&mut self) -> &mut [u8] {
        self.storage.as_mut().map_or(&mut [], |storage| &mut storage.bytes_mut()[..self.bytes])
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.pool.give_back(self.bytes, self.storage.take());
    }
}

/// Where the bytes of a block are that is away.
pub(super) struct Away {
    /// What came back of the device, as soon as somebody has looked.
    home: OnceLock<Home>,
    copy: Arc<dyn Resident>,
    pool: Arc<Pool>,
}

/// What came back of a device.
struct Home {
    /// The storage; nothing only if the device did not give it back.
    room: Option<Box<Room>>,
    /// Whether the bytes are in it; zeros are if not.
    is_whole: bool,
}

impl Away {
    pub(super) fn new(copy: Arc<dyn Resident>, pool: Arc<Pool>) -> Away {
        Away { home: OnceLock::new(), copy, pool }
    }

    fn home(&self) -> &Home {
        let home = self.home.get_or_init(|| {
            let arrival = self.copy.bring();
            let is_whole = arrival.as_ref().is_some_and(|arrival| arrival.is_whole);
            let landing = arrival.map(|Arrival { landing, .. }| landing as Box<dyn Any>);
            let mut room = landing.and_then(|landing| landing.downcast::<Room>().ok());
            if let (Some(room), false) = (&mut room, is_whole) {
                room.bytes_mut().fill(0);
            }
            Home { is_whole: is_whole && room.is_some(), room }
        });
        if !home.is_whole {
            self.pool.count_loss();
        }
        home
    }

    /// The bytes, which are at home from now on; zeros if they are lost.
    pub(super) fn bytes(&self) -> &[u8] {
        self.home().room.as_ref().map_or(&[], |room| room.bytes())
    }

    /// The storage with the bytes.
    pub(super) fn come_home(&mut self) -> Option<(Storage, Arc<Pool>)> {
        self.home();
        let storage = self.home.get_mut()?.room.as_mut()?.storage.take()?;
        Some((storage, self.pool.clone()))
    }

    /// Whether the bytes were looked for and are lost.
    pub(super) fn is_lost(&self) -> bool {
        self.home.get().is_some_and(|home| !home.is_whole)
    }

    /// Of the block's memory.
    pub(super) fn losses(&self) -> Losses {
        Losses(self.pool.clone())
    }
}

impl Memory {
    /// How often somebody looked at bytes of this memory that a device has lost.
    pub fn losses(&self) -> u64 {
        self.pool().losses()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::array::{Array, Granted};
    use crate::memory::Block;
    use galopvm_base::ElemType;
    use galopvm_base::resident::Stored;
    use galopvm_lmad::Lmad;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// A device that holds nothing but sevens.
    #[derive(Default)]
    struct Sevens {
        landing: Mutex<Option<Box<dyn Landing>>>,
        is_lost: bool,
        asked: AtomicUsize,
    }

    impl Resident for Sevens {
        fn bring(&self) -> Option<Arrival> {
            self.asked.fetch_add(1, Relaxed);
            let mut landing = self.landing.lock().unwrap().take()?;
            landing.bytes_mut().fill(7);
            Some(Arrival { landing, is_whole: !self.is_lost })
        }
    }

    /// A block of 100 bytes that is away, and its copy.
    fn away(memory: &Memory, is_lost: bool) -> (Block, Arc<Sevens>) {
        let mut block = memory.block(100).unwrap();
        let mut copy = None;
        let leaves = block.leave(&mut |landing| {
            let sevens =
                Arc::new(Sevens { landing: Mutex::new(Some(landing)), is_lost, ..Sevens::default() });
            copy = Some(sevens.clone());
            sevens
        });
        assert!(leaves && block.copy().is_some());
        (block, copy.unwrap())
    }

    #[test]
    fn bytes_come_home_once_and_a_write_ends_the_copy() {
        let memory = Memory::new(None);
        let (mut block, copy) = away(&memory, false);
        assert!(block.is_unique() && block.is_own() && block.is_intact() && !block.is_empty());
        assert_eq!((block.len(), copy.asked.load(Relaxed), memory.stats().live_bytes), (100, 0, 100));
        assert!(block.bytes() == [7; 100] && block.bytes() == [7; 100] && block.is_intact());
        assert_eq!(copy.asked.load(Relaxed), 1);
        // It was only read.
        assert!(block.copy().is_some() && block.is_unique());
        block.bytes_mut().unwrap()[1] = 8;
        assert!(block.copy().is_none() && block.bytes()[..3] == [7, 8, 7]);
        assert_eq!((Arc::strong_count(&copy), memory.stats().live_bytes), (1, 100));
        drop(block);
        assert_eq!(memory.stats().live_bytes, 0);
    }

    #[test]
    fn every_way_to_write_brings_the_bytes_home_before() {
        let memory = Memory::new(None);
        let (mut block, _) = away(&memory, false);
        assert_eq!(block.bytes_mut().unwrap(), [7; 100]);
        let (block, copy) = away(&memory, false);
        let mut own = block.exclusive().unwrap();
        assert_eq!((own.bytes()[99], Arc::strong_count(&copy)), (7, 1));
        own.bytes_mut()[99] = 8;
        let block = own.share();
        assert!(block.bytes()[98..] == [7, 8] && block.copy().is_none());
        let (block, _) = away(&memory, false);
        let other = block.clone();
        assert!(!block.is_unique() && block.is_own());
        let array = Array::from_block(block, ElemType::U8, Lmad::row_major(&[100])).unwrap();
        let mut place = Granted::new(array, 2).unwrap();
        assert_eq!(place.bytes_mut(), [7; 100]);
        place.bytes_mut()[0] = 9;
        assert!(other.bytes()[..2] == [9, 7] && other.copy().is_none());
    }

    #[test]
    fn copies_of_what_is_given_or_lent_go_when_it_may_have_changed() {
        let keep = |block: &Block| block.keep(Arc::new(Sevens::default()));
        let mut block = Block::given(Box::new(vec![1u8, 2, 3]));
        keep(&block);
        block.bytes_mut().unwrap()[0] = 5;
        assert!(block.copy().is_none());
        keep(&block);
        let mut own = block.exclusive().unwrap();
        own.bytes_mut()[1] = 6;
        let block = own.share();
        assert!(block.copy().is_none());
        keep(&block);
        assert_eq!(block.into_vec::<u8>().unwrap(), [5, 6, 3]);
        let block = Block::lent::<u8>(vec![1, 2]);
        keep(&block);
        assert!(block.clone().copy().is_some());
        block.forget();
        assert!(block.copy().is_none());
    }

    #[test]
    fn what_is_lost_is_zeros_and_each_look_counts() {
        let memory = Memory::new(None);
        let (mut block, _) = away(&memory, true);
        assert!(block.is_intact() && block.losses().is_some_and(|losses| losses.count() == 0));
        assert!(block.bytes() == [0; 100] && block.bytes() == [0; 100] && !block.is_intact());
        assert_eq!(memory.losses(), 2);
        // Nobody writes to it without a word, and who was promised a place has one.
        assert!(!block.is_own() && !block.is_unique());
        assert_eq!(block.bytes_mut().unwrap(), [0; 100]);
        assert_eq!(memory.losses(), 3);
        drop(block);
        let (mut block, _) = away(&memory, true);
        assert!(block.is_unique() && block.bytes_mut().unwrap() == [0; 100]);
        assert_eq!(memory.losses(), 4);
        drop(block);
        assert_eq!(memory.stats().live_bytes, 0);
    }

    #[test]
    fn what_nobody_looks_at_gives_its_storage_back() {
        let memory = Memory::new(None);
        let (block, copy) = away(&memory, false);
        drop(block);
        assert_eq!(copy.asked.load(Relaxed), 0);
        assert_eq!(memory.stats().live_bytes, 100);
        drop(copy);
        assert_eq!(memory.stats().live_bytes, 0);
    }

    #[test]
    fn only_storage_of_a_pool_that_nobody_else_holds_can_be_left() {
        let memory = Memory::new(None);
        let mut never = |_| -> Arc<dyn Resident> { panic!("it stays") };
        let mut shared = memory.block(10).unwrap();
        let other = shared.clone();
        assert!(!shared.leave(&mut never) && !memory.nothing().leave(&mut never));
        assert!(!Block::given(Box::new(vec![1u8])).leave(&mut never));
        drop(other);
    }
}
