//! Elements as bits, in bytes of memory.
//!
//! A place is a number of elements from the first byte on. Places of checked views lie in their block; what is asked of any
//! other place is nothing, never memory of somebody else.

use crate::Bits;

/// The bits of the element of so many bytes at a place; 0 where there is none.
#[inline]
pub fn load(bytes: &[u8], width: usize, place: i64) -> Bits {
    let Some(bytes) = bytes.get((place as usize).saturating_mul(width)..) else { return 0 };
    match width {
        1 => bytes.first().map_or(0, |byte| Bits::from(*byte)),
        2 => bytes.first_chunk().map_or(0, |bytes| Bits::from(u16::from_le_bytes(*bytes))),
        4 => bytes.first_chunk().map_or(0, |bytes| Bits::from(u32::from_le_bytes(*bytes))),
        _ => bytes.first_chunk().map_or(0, |bytes| Bits::from_le_bytes(*bytes)),
    }
}

/// Stores the bits of the element of so many bytes at a place, if there is one.
#[inline]
pub fn store(bytes: &mut [u8], width: usize, place: i64, bits: Bits) {
    let Some(bytes) = bytes.get_mut((place as usize).saturating_mul(width)..) else { return };
    if let Some(element) = bytes.get_mut(..width) {
        match width {
            1 => element.fill(bits as u8),
            2 => element.copy_from_slice(&(bits as u16).to_le_bytes()),
            4 => element.copy_from_slice(&(bits as u32).to_le_bytes()),
            _ => element.copy_from_slice(&bits.to_le_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_where_they_were_stored_and_nowhere_else() {
        for width in [1, 2, 4, 8] {
            let mut bytes = [0u8; 21];
            let count = (bytes.len() / width) as i64;
            let bits = |place: i64| {
                0x8182_8384_8586_8788u64.rotate_left(place as u32) & (u64::MAX >> (64 - 8 * width))
            };
            (-1..count + 2).for_each(|place| store(&mut bytes, width, place, bits(place)));
            for place in 0..count {
                assert_eq!(load(&bytes, width, place), bits(place), "{width} bytes at {place}");
            }
            assert!(bytes[count as usize * width..].iter().all(|byte| *byte == 0), "{width} bytes");
            for place in [-1, count, count + 1, i64::MAX, i64::MIN] {
                assert_eq!(load(&bytes, width, place), 0, "{width} bytes at {place}");
            }
        }
    }
}
