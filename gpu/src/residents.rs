//! Copies of blocks that stay on the device between launches.
//!
//! What a launch reads is looked for here before it is uploaded, and what it makes stays here; the block keeps the copy. A
//! result that stays is nowhere else at first: its copy has the block's storage as a landing, for when somebody looks.
//! Copies have a limit; the one not used for longest goes first.
//!
//! Invariants:
//! - The bytes of a copy never change: shaders write only into buffers of their own launch. That they are still those of the
//!   block is the block's business, which lets go of the copy before it is written (`vm/store/src/memory/block.rs`).
//! - Bytes that are nowhere else are not dropped: a copy that makes room fills its landing first.
//! - A launch holds the buffers that it uses, whatever becomes of the copies meanwhile.
//! - Locks are taken in this order: that of a copy, the turn of the device. The list's is held for nothing else.

use crate::device::Gpu;
use crate::info::GpuError;
use crate::memory::{Buffer, lock, size_class};
use galopvm_base::resident::{Arrival, Fresh, Landing, Resident, Stored};
use std::any::Any;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, Weak};

/// A copy of a block, or of a stretch of it.
struct Copied {
    gpu: &'static Gpu,
    number: u64,
    /// The stretch of the block that was copied.
    stretch: Range<usize>,
    state: Mutex<State>,
}

/// Where the bytes are.
struct State {
    /// On the device, unless they had to make room.
    buffer: Option<Arc<Buffer>>,
    /// Memory of the host for them, until the block has it back. If there is no buffer they are in it.
    landing: Option<Box<dyn Landing>>,
    /// They were nowhere else, and did not come home.
    is_lost: bool,
}

/// All copies of a device.
#[derive(Default)]
pub(crate) struct Residents(Mutex<List>);

#[derive(Default)]
struct List {
    copies: HashMap<u64, Entry>,
    /// Counts copies, and uses of them.
    clock: u64,
    held: u64,
    most: u64,
}

struct Entry {
    copy: Weak<Copied>,
    bytes: u64,
    used: u64,
}

impl List {
    fn now(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn remove(&mut self, number: u64) {
        if let Some(entry) = self.copies.remove(&number) {
            self.held -= entry.bytes;
        }
    }

    /// Takes the copy that was not used for longest off the list; nothing in it if it is gone.
    fn oldest(&mut self) -> Option<Option<Arc<Copied>>> {
        let (number, _) = self.copies.iter().min_by_key(|(_, entry)| entry.used)?;
        let number = *number;
        let copy = self.copies.get(&number).map(|entry| entry.copy.upgrade());
        self.remove(number);
        copy
    }
}

impl Residents {
    /// No copies yet, and so many bytes of them at most.
    pub(crate) fn new(most: u64) -> Residents {
        Residents(Mutex::new(List { most, ..List::default() }))
    }

    /// Changes how many bytes there may be from now on.
    pub(crate) fn set_most(&self, most: u64) {
        lock(&self.0).most = most;
    }

    /// Bytes that are held, and the most there may be.
    pub(crate) fn bytes(&self) -> (u64, u64) {
        let list = lock(&self.0);
        (list.held, list.most)
    }

    fn used(&self, number: u64) {
        let mut list = lock(&self.0);
        let now = list.now();
        if let Some(entry) = list.copies.get_mut(&number) {
            entry.used = now;
        }
    }
}

impl Copied {
    /// The buffer, if it has these bytes of the block.
    fn buffer_of(&self, stretch: &Range<usize>) -> Option<Arc<Buffer>> {
        let has = self.stretch.start <= stretch.start && stretch.end <= self.stretch.end;
        has.then(|| lock(&self.state).buffer.clone()).flatten()
    }

    /// Gives up the buffer; bytes that are nowhere else go home before.
    fn make_room(&self) {
        let mut state = lock(&self.state);
        let buffer = state.buffer.take();
        let State { landing, is_lost, .. } = &mut *state;
        if let (Some(buffer), Some(landing)) = (&buffer, landing) {
            *is_lost = self.gpu.bring(buffer, landing.bytes_mut()).is_err();
        }
        drop(state);
        drop(buffer);
    }
}

impl Resident for Copied {
    fn bring(&self) -> Option<Arrival> {
        let mut state = lock(&self.state);
        let mut landing = state.landing.take()?;
        let brought = match &state.buffer {
            Some(buffer) => self.gpu.bring(buffer, landing.bytes_mut()).is_ok(),
            None => true,
        };
        Some(Arrival { landing, is_whole: brought && !state.is_lost })
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        lock(&self.gpu.residents.0).remove(self.number);
    }
}

impl Gpu {
    /// Brings the bytes of an array to the host.
    pub(crate) fn bring(&self, buffer: &Buffer, out: &mut [u8]) -> Result<(), GpuError> {
        self.download(buffer, out)?;
        lock(&self.counts).down(out.len());
        Ok(())
    }

    /// Bytes for a launch that come from the host each time.
    pub(crate) fn bring_up(&self, bytes: &[u8]) -> Result<Buffer, GpuError> {
        let buffer = self.upload(bytes)?;
        lock(&self.counts).up(bytes.len());
        Ok(buffer)
    }

    /// Drops all copies.
    pub(crate) fn give_up_copies(&self) {
        self.make_room_below(0);
    }

    /// Drops copies until at most so many bytes are held.
    pub(crate) fn make_room_below(&self, most: u64) {
        loop {
            let oldest = {
                let mut list = lock(&self.residents.0);
                if list.held <= most { None } else { list.oldest() }
            };
            let Some(oldest) = oldest else { return };
            if let Some(copy) = oldest {
                copy.make_room();
                lock(&self.counts).dropped += 1;
            }
        }
    }

    /// Whether a copy of so many bytes may be kept: others have made room for it.
    fn has_room(&self, bytes: usize) -> bool {
        let (_, most) = self.residents.bytes();
        let left = most.checked_sub(size_class(bytes as u64));
        if let Some(left) = left {
            self.make_room_below(left);
        }
        left.is_some()
    }

    fn copied(
        &'static self,
        stretch: Range<usize>,
        buffer: Arc<Buffer>,
        landing: Option<Box<dyn Landing>>,
    ) -> Arc<dyn Resident> {
        let bytes = buffer.raw().size();
        let state = Mutex::new(State { buffer: Some(buffer), landing, is_lost: false });
        let mut list = lock(&self.residents.0);
        let number = list.now();
        let copy = Arc::new(Copied { gpu: self, number, stretch, state });
        let entry = Entry { copy: Arc::downgrade(&copy), bytes, used: number };
        list.copies.insert(number, entry);
        list.held += bytes;
        copy
    }

    /// A buffer with these bytes of a block, and the byte of the block that it begins with: a copy that was kept, else one
    /// that is made now.
    pub(crate) fn copy_of(
        &'static self,
        block: &dyn Stored,
        wanted: Range<usize>,
    ) -> Result<(usize, Arc<Buffer>), GpuError> {
        if wanted.is_empty() {
            return Ok((0, Arc::new(self.buffer(0)?)));
        }
        let known = block.copy().map(|copy| copy as Arc<dyn Any + Send + Sync>);
        let known = known.and_then(|copy| copy.downcast::<Copied>().ok());
        let known = known.filter(|copy| std::ptr::eq(copy.gpu, self));
        if let Some(copy) = &known
            && let Some(buffer) = copy.buffer_of(&wanted)
        {
            self.residents.used(copy.number);
            lock(&self.counts).found(wanted.len());
            return Ok((copy.stretch.start, buffer));
        }
        // What was asked for in parts will be asked for in other parts as well.
        let is_much = known.is_some() || wanted.len() >= block.size() / 2;
        let fits = block.size() as u64 <= self.info().limits.buffer_bytes;
        let stretch = if is_much && fits { 0..block.size() } else { wanted };
        let bytes = block.bytes().get(stretch.clone()).ok_or(GpuError::Lost)?;
        let keeps = self.has_room(bytes.len());
        let buffer = Arc::new(self.bring_up(bytes)?);
        let start = stretch.start;
        if keeps {
            block.keep(self.copied(stretch, buffer.clone(), None));
        }
        Ok((start, buffer))
    }

    /// Leaves a result on the device: its bytes come to the host when somebody looks. Does nothing and says so if the host has
    /// to have them now.
    pub(crate) fn leave(&'static self, block: &mut dyn Fresh, buffer: &Arc<Buffer>) -> bool {
        let bytes = block.size();
        if !self.can_download() || !self.has_room(bytes) {
            return false;
        }
        let leaves = block.leave(&mut |landing| self.copied(0..bytes, buffer.clone(), Some(landing)));
        if leaves {
            lock(&self.counts).left(bytes);
        }
        leaves
    }

    /// Keeps the buffer of a result whose bytes have come to the host.
    pub(crate) fn keep(&'static self, block: &mut dyn Fresh, buffer: &Arc<Buffer>, bytes: &[u8]) {
        block.bytes_mut().copy_from_slice(bytes);
        lock(&self.counts).down(bytes.len());
        if self.has_room(bytes.len()) {
            block.keep(self.copied(0..bytes.len(), buffer.clone(), None));
        }
    }
}
