//! Elements as values of Rust types, one by one and as slices.
//!
//! Elements in blocks are little-endian: where the processor's order is another one, they are no slices.
#![allow(unsafe_code)]

use galopvm_base::ElemType;

/// A Rust type that elements of arrays have.
pub trait Element: Copy + Send + Sync + 'static + sealed::Sealed {
    /// The element type.
    const TYPE: ElemType;
    /// The value of the bytes of an element (and possibly more bytes, which are ignored).
    fn read(bytes: &[u8]) -> Self;
    /// Writes the bytes of an element to the front of `bytes`.
    fn write(self, bytes: &mut [u8]);
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($rust:ty, $variant:ident;)+) => {$(
        impl sealed::Sealed for $rust {}
        impl Element for $rust {
            const TYPE: ElemType = ElemType::$variant;
            #[inline]
            fn read(bytes: &[u8]) -> $rust {
                bytes.first_chunk().map_or(<$rust>::from_le_bytes([0; size_of::<$rust>()]), |b| <$rust>::from_le_bytes(*b))
            }
            #[inline]
            fn write(self, bytes: &mut [u8]) {
                if let Some(place) = bytes.first_chunk_mut() {
                    *place = self.to_le_bytes();
                }
            }
        }
    )+};
}

elements! {
    i8, I8;
    i16, I16;
    i32, I32;
    i64, I64;
    u8, U8;
    u16, U16;
    u32, U32;
    u64, U64;
    half::f16, F16;
    f32, F32;
    f64, F64;
}

impl sealed::Sealed for bool {}
impl Element for bool {
    const TYPE: ElemType = ElemType::Bool;
    #[inline]
    fn read(bytes: &[u8]) -> bool {
        bytes.first().is_some_and(|b| *b != 0)
    }
    #[inline]
    fn write(self, bytes: &mut [u8]) {
        if let Some(place) = bytes.first_mut() {
            *place = self as u8;
        }
    }
}

/// The bytes of elements as they are in memory.
pub(crate) fn bytes_of<T: Element>(elements: &[T]) -> &[u8] {
    // SAFETY: the types of elements (the trait is sealed) are numbers and truth values without padding, all of whose bytes are
    // initialised; bytes need no alignment, and the result borrows the elements.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// The bytes of elements for writing. Whoever writes the bytes of truth values writes 0 and 1 only, as into any array.
pub(crate) fn bytes_of_mut<T: Element>(elements: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `bytes_of`, and the result borrows the elements mutably. Every pattern of bytes is a number; what writes
    // arrays of truth values keeps their invariant.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(elements)) }
}

/// Bytes as the elements that they are, if they begin where one may begin, are whole ones, and mean the same to the processor.
pub(crate) fn elements_of<T: Element>(bytes: &[u8]) -> Option<&[T]> {
    let is_number = T::TYPE != ElemType::Bool || bytes.iter().all(|byte| *byte <= 1);
    if cfg!(target_endian = "big") || !is_number {
        return None;
    }
    // SAFETY: the types of elements are numbers, all of whose patterns are valid, and truth values, of which it was looked at; no
    // others implement the sealed trait.
    let (before, elements, after) = unsafe { bytes.align_to::<T>() };
    (before.is_empty() && after.is_empty()).then_some(elements)
}
