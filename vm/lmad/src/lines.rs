//! Squares of cache lines, turned in registers: as many lines of the source as a line has elements become lines of the target.
//!
//! A square of `n` by `n` takes `log2 n` rounds, each of which interleaves the elements of line `k` with those of line `k + n/2`.
//! That needs registers as long as a line, and enough of them; other processors have no such squares.
//!
//! Squares are turned a strip at a time: along the lines of the source. While a strip is turned, the next one, which is
//! expected beside it, is asked for: its lines are too short for the processor to see that they go on.
//!
//! Invariant: all of a strip lies between its first and its last lines, which are taken out of slices, and so checked, before
//! memory is touched. That instructions are there is asked before; lines written past the caches begin where those of memory do.
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

/// Squares one after the other along the lines of the source.
pub(crate) struct Strip<'a> {
    pub target: &'a mut [u8],
    /// The place of the first element.
    pub to: i64,
    pub source: &'a [u8],
    /// The place of the first element.
    pub from: i64,
    /// How many squares, at least one.
    pub count: i64,
}

impl Square {
    /// Turns the squares of a strip; there are such squares.
    pub fn turn<const W: usize>(&self, strip: Strip<'_>) {
        #[cfg(target_arch = "x86_64")]
        x86::turn::<W>(self, strip);
        #[cfg(not(target_arch = "x86_64"))]
        unreachable!("{} {} {}: no processor of this kind has squares", strip.to, strip.from, strip.count);
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{LINE, Square, Strip};
    use std::arch::x86_64::*;

    pub fn turns<const W: usize>() -> bool {
        let is_wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        is_wide && (W > 1 || is_x86_feature_detected!("avx512vbmi"))
    }

    pub fn turn<const W: usize>(square: &Square, strip: Strip<'_>) {
        let sides = Sides::of::<W>(square, strip);
        // SAFETY: whoever has squares asked `turns` whether the instructions are there, and the sides were checked.
        unsafe {
            match W {
                1 => bytes(sides),
                2 => words(sides),
                4 => doubles(sides),
                _ => quads(sides),
            }
        }
    }

    /// A strip as bytes. All its lines lie in memory, those of the target in memory that nobody else holds; with `past`, each
    /// begins where one of memory does.
    struct Sides {
        target: *mut u8,
        source: *const u8,
        /// Bytes from a line of the target to the next one.
        row: isize,
        /// Bytes from a line of the source to the next one.
        col: isize,
        squares: usize,
        past: bool,
    }

    impl Sides {
        fn of<const W: usize>(square: &Square, strip: Strip<'_>) -> Sides {
            let (side, squares) = (LINE / W, strip.count as usize);
            let [row, col] = [square.row, square.col].map(|distance| distance as isize * W as isize);
            // Lines lie evenly, so all of them between the first and the last one.
            let ends = |first: i64, distance: isize, lines: usize| {
                let first = first as isize * W as isize;
                [first, first + (lines as isize - 1) * distance]
            };
            let are_inside = |ends: [isize; 2], length: usize, bytes: usize| {
                let is_inside = |at: isize| usize::try_from(at).is_ok_and(|at| at + length <= bytes);
                assert!(ends.into_iter().all(is_inside), "strips lie inside");
            };
            let (from, to) = (ends(strip.from, col, side), ends(strip.to, row, squares * side));
            are_inside(from, squares * LINE, strip.source.len());
            are_inside(to, LINE, strip.target.len());
            let target = strip.target.as_mut_ptr().wrapping_offset(to[0]);
            let source = strip.source.as_ptr().wrapping_offset(from[0]);
            let begins = target.addr().is_multiple_of(LINE) && (row as usize).is_multiple_of(LINE);
            debug_assert!(!square.past || begins, "lines of memory");
            Sides { target, source, row, col, squares, past: square.past }
        }
    }

    /// A function that turns squares of one width of elements.
    macro_rules! squares {
        ($name:ident, $elem:ty, $features:literal, $permute:ident) => {
            /// # Safety
            /// The sides are what they say.
            #[target_feature(enable = $features)]
            unsafe fn $name(sides: Sides) {
                const SIDE: usize = LINE / size_of::<$elem>();
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
                let beside = SIDE as isize * sides.col;
                for square in 0..sides.squares {
                    let source = sides.source.wrapping_add(square * LINE);
                    let mut lines = [_mm512_setzero_si512(); SIDE];
                    for (c, line) in lines.iter_mut().enumerate() {
                        let place = source.wrapping_offset(c as isize * sides.col);
                        // SAFETY: the line lies in memory, any bytes of which are a value of the register. A place that is
                        // only asked for may be anywhere.
                        unsafe {
                            _mm_prefetch::<_MM_HINT_T1>(place.wrapping_offset(beside).cast());
                            *line = _mm512_loadu_si512(place.cast());
                        }
                    }
                    for _ in 0..SIDE.ilog2() {
                        let before = lines;
                        for k in 0..SIDE / 2 {
                            let (a, b) = (before[k], before[k + SIDE / 2]);
                            lines[2 * k] = $permute(a, low, b);
                            lines[2 * k + 1] = $permute(a, high, b);
                        }
                    }
                    let first = (square * SIDE) as isize;
                    for (r, line) in lines.iter().enumerate() {
                        let place = sides.target.wrapping_offset((first + r as isize) * sides.row);
                        // SAFETY: the line lies in memory that nobody else holds.
                        unsafe { write(place, *line, sides.past) }
                    }
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

    /// # Safety
    /// A line at the place may be written; with `past`, it begins where one of memory does.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn write(place: *mut u8, line: __m512i, past: bool) {
        // SAFETY: as promised.
        unsafe {
            match past {
                true => _mm512_stream_si512(place.cast(), line),
                false => _mm512_storeu_si512(place.cast(), line),
            }
        }
    }
}
