//! Squares of cache lines, turned in registers: as many lines of the source as a line has elements become lines of the target.
//!
//! A square of `n` by `n` takes `log2 n` rounds, each of which interleaves the elements of line `k` with those of line `k + n/2`.
//! That needs registers as long as a line, and enough of them; other processors have no such squares.
//!
//! Invariant: memory is touched through checked slices alone; what is unsafe is that instructions are there, which is asked
//! before, and that lines written past the caches begin where those of memory do.
#![allow(unsafe_code)]

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// How squares lie in the target and in the source.
pub(crate) struct Square {
    /// Distance of neighbouring lines of the target, in elements.
    pub row: i64,
    /// Distance of neighbouring lines of the source.
    pub col: i64,
    /// Lines of the target begin where those of memory do, and go past the caches.
    pub past: bool,
}

/// Whether this processor has squares for elements of so many bytes.
pub(crate) fn turns<const W: usize>() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86::turns::<W>();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Makes what went past the caches seen by other threads in the order in which it was written.
pub(crate) fn settle() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of this kind has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

impl Square {
    /// Turns the square whose first elements are at these places; there are such squares.
    pub fn turn<const W: usize>(&self, target: &mut [u8], to: i64, source: &[u8], from: i64) {
        #[cfg(target_arch = "x86_64")]
        x86::turn::<W>(self, target, to, source, from);
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!("{to} {from} {} {}: no processor of this kind has squares", target.len(), source.len());
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{LINE, Square};
    use std::arch::x86_64::*;

    /// A line's bytes.
    type Line = [u8; LINE];

    pub fn turns<const W: usize>() -> bool {
        let is_wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        is_wide && (W > 1 || is_x86_feature_detected!("avx512vbmi"))
    }

    pub fn turn<const W: usize>(square: &Square, target: &mut [u8], to: i64, source: &[u8], from: i64) {
        // SAFETY: whoever has squares asked `turns` whether the instructions are there.
        unsafe {
            match W {
                1 => bytes(square, target, to, source, from),
                2 => words(square, target, to, source, from),
                4 => doubles(square, target, to, source, from),
                _ => quads(square, target, to, source, from),
            }
        }
    }

    /// A function that turns squares of one width of elements.
    macro_rules! squares {
        ($name:ident, $elem:ty, $features:literal, $permute:ident) => {
            #[target_feature(enable = $features)]
            fn $name(square: &Square, target: &mut [u8], to: i64, source: &[u8], from: i64) {
                const W: usize = size_of::<$elem>();
                const SIDE: usize = LINE / W;
                const HALVES: [[$elem; SIDE]; 2] = {
                    let mut halves = [[0; SIDE]; 2];
                    let mut k = 0;
                    while k < SIDE {
                        let place = k / 2 + k % 2 * SIDE;
                        halves[0][k] = place as $elem;
                        halves[1][k] = (place + SIDE / 2) as $elem;
                        k += 1;
                    }
                    halves
                };
                let (low, high) = (register(&HALVES[0]), register(&HALVES[1]));
                let mut lines = [_mm512_setzero_si512(); SIDE];
                for (c, line) in lines.iter_mut().enumerate() {
                    let at = (from + c as i64 * square.col) as usize * W;
                    *line = register(source[at..].first_chunk::<LINE>().expect("squares lie inside"));
                }
                for _ in 0..SIDE.ilog2() {
                    let before = lines;
                    for k in 0..SIDE / 2 {
                        let (a, b) = (before[k], before[k + SIDE / 2]);
                        lines[2 * k] = $permute(a, low, b);
                        lines[2 * k + 1] = $permute(a, high, b);
                    }
                }
                for (r, line) in lines.iter().enumerate() {
                    let at = (to + r as i64 * square.row) as usize * W;
                    let place = target[at..].first_chunk_mut::<LINE>().expect("squares lie inside");
                    write(place, *line, square.past);
                }
            }
        };
    }

    squares!(bytes, u8, "avx512f,avx512bw,avx512vbmi", _mm512_permutex2var_epi8);
    squares!(words, u16, "avx512f,avx512bw", _mm512_permutex2var_epi16);
    squares!(doubles, u32, "avx512f,avx512bw", _mm512_permutex2var_epi32);
    squares!(quads, u64, "avx512f,avx512bw", _mm512_permutex2var_epi64);

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn register<T: Copy, const N: usize>(line: &[T; N]) -> __m512i {
        const { assert!(size_of::<[T; N]>() == LINE) };
        // SAFETY: a line of numbers has as many bytes as the register, any of which are a value of it.
        unsafe { _mm512_loadu_si512(line.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn write(place: &mut Line, line: __m512i, past: bool) {
        let at = place.as_mut_ptr();
        if past {
            debug_assert!(at.addr().is_multiple_of(LINE), "a line of memory");
            // SAFETY: the place has as many bytes as the register, and begins where a line of memory does: `Square::past`.
            unsafe { _mm512_stream_si512(at.cast(), line) }
        } else {
            // SAFETY: the place has as many bytes as the register.
            unsafe { _mm512_storeu_si512(at.cast(), line) }
        }
    }
}
