//! Memory of a device: buffers, the pool that they come from, and moves between host and device.
//!
//! Where the host reaches the device's memory, a move is a copy by the host. Elsewhere it goes through two pieces of staging
//! memory for each direction, mapped once and kept: while the device copies one piece, the host fills or empties the other.
//!
//! Invariants: a [`Buffer`] has the length that was asked for, the pool's larger size is never visible. It is idle whenever its
//! holder can touch it: whoever gives the device work waits for it. Staging memory is only touched by who has the turn.

use crate::device::Gpu;
use crate::info::GpuError;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use vulkano::buffer::{Buffer as RawBuffer, BufferCreateInfo, BufferUsage, Subbuffer};
use vulkano::memory::allocator::{AllocationCreateInfo, DeviceLayout, MemoryTypeFilter};

/// Bytes that a pool keeps for reuse at least; freed buffers beyond its limit go back to the driver.
pub(crate) const LEAST_POOL_BYTES: u64 = 512 << 20;

/// Bytes of a piece of staging memory.
pub(crate) const PIECE: usize = 8 << 20;

/// A lock whose data stays consistent even if a holder panicked: every critical section here is one update.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn driver(doing: &'static str, why: impl ToString) -> GpuError {
    GpuError::Driver { doing, why: why.to_string() }
}

/// What a buffer is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Place {
    /// Read and written by shaders.
    Device,
    /// A few numbers, written by the host and read by shaders.
    Numbers,
    /// A word that shaders seldom write, and the host reads.
    Flag,
    /// Written by the host, copied from.
    Upload,
    /// Copied to, read by the host.
    Download,
}

/// Free buffers.
pub(crate) struct Pool {
    free: HashMap<(Place, u64), Vec<Subbuffer<[u8]>>>,
    bytes: u64,
    most: u64,
}

impl Pool {
    /// A pool that keeps so many bytes at most.
    pub(crate) fn new(most: u64) -> Pool {
        Pool { free: HashMap::new(), bytes: 0, most }
    }

    fn take(&mut self, place: Place, class: u64) -> Option<Subbuffer<[u8]>> {
        let found = self.free.get_mut(&(place, class))?.pop()?;
        self.bytes -= class;
        Some(found)
    }

    /// Gives everything back to the driver.
    fn empty(&mut self) {
        self.free.clear();
        self.bytes = 0;
    }
}

/// A stretch of device memory. Goes back to its pool when dropped.
pub struct Buffer {
    /// The whole pooled block; `len` bytes of it are in use. Only `drop` takes it out.
    raw: Option<Subbuffer<[u8]>>,
    len: usize,
    place: Place,
    pool: Arc<Mutex<Pool>>,
}

impl Buffer {
    /// Bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True for a buffer without bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn raw(&self) -> &Subbuffer<[u8]> {
        self.raw.as_ref().expect("a buffer holds its block until it is dropped")
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(raw) = self.raw.take() {
            let mut pool = lock(&self.pool);
            if pool.bytes + raw.size() <= pool.most {
                pool.bytes += raw.size();
                pool.free.entry((self.place, raw.size())).or_default().push(raw);
            }
        }
    }
}

/// The size of the block that a buffer of so many bytes has: classes of a quarter power of two keep the pool's blocks reusable
/// and waste little.
pub(crate) fn size_class(bytes: u64) -> u64 {
    let step = (bytes.max(256).next_power_of_two() / 8).max(64);
    bytes.max(256).next_multiple_of(step)
}

/// Two pieces that take turns.
type Pieces = [Subbuffer<[u8]>; 2];

/// Staging memory, as soon as it was needed.
#[derive(Default)]
pub(crate) struct Staging {
    up: Option<Pieces>,
    down: Option<Pieces>,
}

impl Gpu {
    fn allocate(&self, place: Place, len: usize) -> Result<Buffer, GpuError> {
        let (bytes, limit) = (len as u64, self.info().limits.buffer_bytes);
        if place == Place::Device && bytes > limit {
            return Err(GpuError::TooLarge { bytes, limit });
        }
        let class = size_class(bytes);
        let reused = lock(&self.pool).take(place, class);
        let made = match reused {
            Some(raw) => Ok(raw),
            None => self.allocate_fresh(place, class),
        };
        // What fills the memory may be free buffers, and then copies that are kept.
        let made = made.or_else(|_| {
            lock(&self.pool).empty();
            self.allocate_fresh(place, class)
        });
        let raw = made.or_else(|_| {
            self.give_up_copies();
            lock(&self.pool).empty();
            self.allocate_fresh(place, class)
        })?;
        Ok(Buffer { raw: Some(raw), len, place, pool: self.pool.clone() })
    }

    fn allocate_fresh(&self, place: Place, bytes: u64) -> Result<Subbuffer<[u8]>, GpuError> {
        let memory_type_filter = match place {
            Place::Device if self.direct => {
                MemoryTypeFilter::PREFER_DEVICE | MemoryTypeFilter::HOST_RANDOM_ACCESS
            }
            Place::Device => MemoryTypeFilter::PREFER_DEVICE,
            Place::Numbers => MemoryTypeFilter::PREFER_DEVICE | MemoryTypeFilter::HOST_SEQUENTIAL_WRITE,
            Place::Upload => MemoryTypeFilter::PREFER_HOST | MemoryTypeFilter::HOST_SEQUENTIAL_WRITE,
            Place::Flag | Place::Download => {
                MemoryTypeFilter::PREFER_HOST | MemoryTypeFilter::HOST_RANDOM_ACCESS
            }
        };
        let usage = match place {
            Place::Device => {
                BufferUsage::STORAGE_BUFFER | BufferUsage::TRANSFER_SRC | BufferUsage::TRANSFER_DST
            }
            Place::Numbers | Place::Flag => BufferUsage::STORAGE_BUFFER,
            Place::Upload => BufferUsage::TRANSFER_SRC,
            Place::Download => BufferUsage::TRANSFER_DST,
        };
        let layout = DeviceLayout::from_size_alignment(bytes, 64)
            .ok_or(GpuError::TooLarge { bytes, limit: self.info().limits.buffer_bytes })?;
        let raw = RawBuffer::new(
            self.memory.clone(),
            BufferCreateInfo { usage, ..Default::default() },
            AllocationCreateInfo { memory_type_filter, ..Default::default() },
            layout,
        )
        .map_err(|_| GpuError::OutOfMemory { bytes })?;
        Ok(Subbuffer::new(raw))
    }

    /// A buffer of `bytes` bytes with any content.
    pub fn buffer(&self, bytes: usize) -> Result<Buffer, GpuError> {
        self.allocate(Place::Device, bytes)
    }

    /// A buffer that holds these bytes.
    pub fn upload(&self, data: &[u8]) -> Result<Buffer, GpuError> {
        let buffer = self.buffer(data.len())?;
        self.write(&buffer, data)?;
        Ok(buffer)
    }

    /// A few numbers for shaders.
    pub(crate) fn numbers(&self, data: &[u8]) -> Result<Buffer, GpuError> {
        let buffer = self.allocate(Place::Numbers, data.len())?;
        fill(buffer.raw(), data)?;
        Ok(buffer)
    }

    /// A word that shaders may raise; it is 0.
    pub(crate) fn flag(&self) -> Result<Buffer, GpuError> {
        let flag = self.allocate(Place::Flag, size_of::<u32>())?;
        fill(flag.raw(), &[0; size_of::<u32>()])?;
        Ok(flag)
    }

    /// Whether a flag was raised.
    pub(crate) fn is_raised(&self, flag: &Buffer) -> Result<bool, GpuError> {
        let mut word = [0; size_of::<u32>()];
        fetch(flag.raw(), &mut word)?;
        Ok(word != [0; size_of::<u32>()])
    }

    /// Overwrites the start of a buffer.
    pub fn write(&self, buffer: &Buffer, data: &[u8]) -> Result<(), GpuError> {
        if data.len() > buffer.len {
            return Err(driver("writing a buffer", "the data are longer than the buffer"));
        }
        if data.is_empty() {
            return Ok(());
        }
        if self.direct {
            return fill(buffer.raw(), data);
        }
        let mut turn = self.turn();
        self.guarded(|| self.stage_in(&mut turn, buffer, data))
    }

    /// Copies the start of a buffer to the host.
    pub fn download(&self, buffer: &Buffer, out: &mut [u8]) -> Result<(), GpuError> {
        if out.len() > buffer.len {
            return Err(driver("reading a buffer", "more was asked for than the buffer holds"));
        }
        if out.is_empty() {
            return Ok(());
        }
        // Others may have given the device work on what only the driver could tell that it is not changed.
        let mut turn = self.turn();
        match self.direct {
            true => fetch(buffer.raw(), out),
            false => self.guarded(|| self.stage_out(&mut turn, buffer, out)),
        }
    }

    /// Whether bytes can be brought to the host without memory that is still to be had.
    pub(crate) fn can_download(&self) -> bool {
        self.direct || self.pieces(&mut self.turn().down, Place::Download).is_ok()
    }

    fn pieces<'s>(&self, kept: &'s mut Option<Pieces>, place: Place) -> Result<&'s Pieces, GpuError> {
        let pieces = match kept.take() {
            Some(pieces) => pieces,
            None => [self.allocate_fresh(place, PIECE as u64)?, self.allocate_fresh(place, PIECE as u64)?],
        };
        Ok(kept.insert(pieces))
    }

    fn stage_in(&self, staging: &mut Staging, buffer: &Buffer, data: &[u8]) -> Result<(), GpuError> {
        let pieces = self.pieces(&mut staging.up, Place::Upload)?;
        let mut running = [None, None];
        for (k, part) in data.chunks(PIECE).enumerate() {
            let (piece, running) = (&pieces[k % 2], &mut running[k % 2]);
            if let Some(work) = running.take() {
                self.wait(work)?;
            }
            fill(piece, part)?;
            let (from, bytes) = ((k * PIECE) as u64, part.len() as u64);
            let to = buffer.raw().clone().slice(from..from + bytes);
            *running = Some(self.start_copy(piece.clone().slice(..bytes), to)?);
        }
        running.into_iter().flatten().try_for_each(|work| self.wait(work))
    }

    fn stage_out(&self, staging: &mut Staging, buffer: &Buffer, out: &mut [u8]) -> Result<(), GpuError> {
        let pieces = self.pieces(&mut staging.down, Place::Download)?;
        let mut running = None;
        for (k, part) in out.chunks_mut(PIECE).enumerate() {
            let (from, bytes) = ((k * PIECE) as u64, part.len() as u64);
            let from = buffer.raw().clone().slice(from..from + bytes);
            let work = self.start_copy(from, pieces[k % 2].clone().slice(..bytes))?;
            if let Some((work, piece, part)) = running.replace((work, &pieces[k % 2], part)) {
                self.wait(work)?;
                fetch(piece, part)?;
            }
        }
        let Some((work, piece, part)) = running else { return Ok(()) };
        self.wait(work)?;
        fetch(piece, part)
    }

    /// A piece that the device can copy to and the host can read, for who has the turn.
    pub(crate) fn landing<'s>(&self, staging: &'s mut Staging) -> Result<&'s Subbuffer<[u8]>, GpuError> {
        self.pieces(&mut staging.down, Place::Download).map(|pieces| &pieces[0])
    }
}

/// Writes the start of a buffer that the host reaches.
fn fill(to: &Subbuffer<[u8]>, data: &[u8]) -> Result<(), GpuError> {
    let mut bytes = to.write().map_err(|e| driver("writing a buffer", e))?;
    bytes[..data.len()].copy_from_slice(data);
    Ok(())
}

/// Reads the start of a buffer that the host reaches.
pub(crate) fn fetch(from: &Subbuffer<[u8]>, out: &mut [u8]) -> Result<(), GpuError> {
    let bytes = from.read().map_err(|e| driver("reading a buffer", e))?;
    out.copy_from_slice(&bytes[..out.len()]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::DeviceChoice;

    #[test]
    fn large_moves_go_in_pieces() {
        let Ok(gpu) = Gpu::open(&DeviceChoice::from_env()).map_err(|why| eprintln!("skipped: {why}")) else {
            return;
        };
        let gpu = gpu.through_staging();
        for bytes in [1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE + 5] {
            let data: Vec<u8> = (0..bytes).map(|i| (i / 7 + i / PIECE) as u8).collect();
            let buffer = gpu.upload(&data).expect("memory");
            let mut out = vec![0; bytes];
            gpu.download(&buffer, &mut out).expect("the bytes");
            assert!(out == data, "{bytes}");
            // A part is a part.
            gpu.download(&buffer, &mut out[..bytes / 2]).expect("the bytes");
            assert!(out == data, "half of {bytes}");
        }
    }

    #[test]
    fn a_flag_is_down_each_time() {
        let Ok(gpu) = Gpu::open(&DeviceChoice::from_env()).map_err(|why| eprintln!("skipped: {why}")) else {
            return;
        };
        for _ in 0..3 {
            let flag = gpu.flag().expect("memory");
            assert_eq!(gpu.is_raised(&flag), Ok(false));
            fill(flag.raw(), &[1; size_of::<u32>()]).expect("it is mapped");
            assert_eq!(gpu.is_raised(&flag), Ok(true));
        }
    }
}
