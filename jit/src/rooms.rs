//! Memory for the arrays that generated code makes on its way: each of them has a room of its own, by number.
//!
//! A room is as large as the largest array that it held. Whoever asks for one again gives up what it held before. Between
//! launches a thread keeps a few rooms, so that small arrays cost no allocation.

use std::cell::RefCell;

/// Bytes of all rooms of a piece at most: nobody counts them among those of the program.
const MOST: usize = 128 << 20;

/// Bytes that a thread keeps at most.
const MOST_LEFT: usize = 4 << 20;

/// What a room is made of: rooms begin at cache lines.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line {
    _bytes: [u8; LINE],
}

pub(crate) const LINE: usize = 64;

thread_local! {
    static LEFT: RefCell<Vec<Vec<Line>>> = const { RefCell::new(Vec::new()) };
}

/// The rooms of a piece of a launch.
#[derive(Default)]
pub struct Rooms {
    rooms: Vec<Vec<Line>>,
    bytes: usize,
    /// What was asked for in vain.
    refused: Option<u64>,
}

impl Rooms {
    /// Those that the thread has left, or none.
    pub fn taken() -> Rooms {
        let rooms = LEFT.try_with(|left| std::mem::take(&mut *left.borrow_mut())).unwrap_or_default();
        let bytes = rooms.iter().map(|room| LINE * room.len()).sum();
        Rooms { rooms, bytes, refused: None }
    }

    /// The bytes that were asked for and could not be had.
    pub fn refused(&self) -> Option<u64> {
        self.refused
    }

    /// The address of a room with so many bytes; 0 if there is none.
    pub fn room(&mut self, number: usize, bytes: u64) -> u64 {
        let place = self.place(number, bytes);
        if place.is_none() {
            self.refused = Some(bytes);
        }
        place.unwrap_or(0)
    }

    fn place(&mut self, number: usize, bytes: u64) -> Option<u64> {
        let wanted = usize::try_from(bytes).ok().filter(|bytes| *bytes <= MOST)?;
        if self.rooms.len() <= number {
            self.rooms.resize_with(number + 1, Vec::new);
        }
        let room = &mut self.rooms[number];
        // Also a room without bytes has an address.
        let lines = wanted.div_ceil(LINE).max(1);
        if room.len() < lines {
            let others = self.bytes - LINE * room.len();
            if others + LINE * lines > MOST {
                return None;
            }
            *room = Vec::new();
            room.try_reserve_exact(lines).ok()?;
            room.resize(lines, Line { _bytes: [0; LINE] });
            self.bytes = others + LINE * lines;
        }
        Some(room.as_mut_ptr() as u64)
    }
}

/// Leaves them to the thread, unless they are large.
impl Drop for Rooms {
    fn drop(&mut self) {
        if self.bytes > 0 && self.bytes <= MOST_LEFT {
            // At the end of the thread nobody keeps anything.
            let _ = LEFT.try_with(|left| *left.borrow_mut() = std::mem::take(&mut self.rooms));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_grows_and_stays_where_it_is_until_then() {
        let mut rooms = Rooms::default();
        let first = rooms.room(3, 1000);
        assert!(first != 0 && first.is_multiple_of(LINE as u64));
        assert_eq!(rooms.room(3, 10), first);
        let other = rooms.room(0, 0);
        assert!(other != 0 && other.is_multiple_of(LINE as u64));
        assert!(rooms.room(3, 100_000) != 0);
        assert_eq!(rooms.refused(), None);
    }

    #[test]
    fn what_is_too_large_is_refused() {
        let mut rooms = Rooms::default();
        assert_eq!(rooms.room(0, u64::MAX), 0);
        assert_eq!(rooms.refused(), Some(u64::MAX));
        assert!(rooms.room(0, 100 << 20) != 0);
        assert_eq!(rooms.room(1, 100 << 20), 0);
    }

    #[test]
    fn small_rooms_are_left_to_the_thread() {
        let mut rooms = Rooms::taken();
        let place = rooms.room(0, 512);
        drop(rooms);
        assert_eq!(Rooms::taken().room(0, 512), place);
    }
}
