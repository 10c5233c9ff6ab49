//! Elements as values of Rust types.

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
