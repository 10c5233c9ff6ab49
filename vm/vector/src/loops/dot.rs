//! Sums of what one operation makes of two rows, as loops of their own: matrix products are made of them.
//!
//! One table gives the loop for a combination of operations and type. Each accumulator keeps the order of its
//! sum; several are summed side by side, in registers of the processor.

use galopvm_base::scalar::Native;
use galopvm_base::{ElemType, ScalarOp};

/// A row for each accumulator, or the same one for all.
#[derive(Clone, Copy)]
pub struct Source<'r> {
    /// Where the rows lie.
    pub bytes: &'r [u8],
    /// The first element.
    pub at: i64,
    /// How far the next one of the row is.
    pub step: i64,
}

/// Combines accumulators with so many elements of two rows each.
pub type Run = fn(&mut [u8], i64, Source<'_>, Source<'_>);

/// The loops for rows that differ from accumulator to accumulator, and then lie side by side: the first, the second, both.
pub type Runs = [Run; 3];

macro_rules! table {
    ($map:ident $op:ident $ty:ident: [$($m:ident)+] $ops:tt $types:tt) => {
        match $map {
            $(ScalarOp::$m => table!(@ $op $ty $m $ops $types),)+
            _ => None,
        }
    };
    (@ $op:ident $ty:ident $m:ident [$($o:ident)+] $types:tt) => {
        match $op {
            $(ScalarOp::$o => table!(@@ $ty $m $o $types),)+
            _ => None,
        }
    };
    (@@ $ty:ident $m:ident $o:ident [$($elem:ident $rust:ident $bytes:literal)+]) => {
        match $ty {
            $(ElemType::$elem => {
                const MAP: u8 = ScalarOp::$m as u8;
                const OP: u8 = ScalarOp::$o as u8;
                Some([
                    both::<$rust, $bytes, MAP, OP, true, false> as Run,
                    both::<$rust, $bytes, MAP, OP, false, true>,
                    both::<$rust, $bytes, MAP, OP, true, true>,
                ])
            })+
            _ => None,
        }
    };
}

/// The loops that combine by `op` what `map` makes of two elements.
pub fn runs(map: ScalarOp, op: ScalarOp, ty: ElemType) -> Option<Runs> {
    table!(map op ty: [Mul Add Sub] [Add Min Max] [F32 f32 4 F64 f64 8 I32 i32 4 I64 i64 8])
}

/// Lanes that are kept in registers: as many as fit half of them.
const TOGETHER: usize = 32;

fn both<T: Native + Copy, const W: usize, const MAP: u8, const OP: u8, const A: bool, const B: bool>(
    accumulators: &mut [u8],
    count: i64,
    a: Source<'_>,
    b: Source<'_>,
) {
    let (accumulators, _) = accumulators.as_chunks_mut::<W>();
    let (groups, rest) = accumulators.as_chunks_mut::<TOGETHER>();
    let grouped = groups.len() * TOGETHER;
    for (k, group) in groups.iter_mut().enumerate() {
        lanes::<T, W, MAP, OP, A, B, TOGETHER>(group, k * TOGETHER, count, a, b);
    }
    let (groups, rest) = rest.as_chunks_mut::<8>();
    let more = groups.len() * 8;
    for (k, group) in groups.iter_mut().enumerate() {
        lanes::<T, W, MAP, OP, A, B, 8>(group, grouped + k * 8, count, a, b);
    }
    for (k, one) in rest.iter_mut().enumerate() {
        lanes::<T, W, MAP, OP, A, B, 1>(std::array::from_mut(one), grouped + more + k, count, a, b);
    }
}

#[inline(always)]
fn value<T: Native, const W: usize>(bytes: [u8; W]) -> T {
    let mut all = [0; 8];
    all[..W].copy_from_slice(&bytes);
    T::of_bits(u64::from_le_bytes(all))
}

#[inline(always)]
fn apply<T: Native, const OP: u8>(a: T, b: T) -> T {
    // Operations of the table always have a value.
    T::of_bits(T::binary(const { ScalarOp::ALL[OP as usize] }, a, b).unwrap_or(0))
}

#[inline(always)]
fn lanes<T, const W: usize, const MAP: u8, const OP: u8, const A: bool, const B: bool, const N: usize>(
    accumulators: &mut [[u8; W]; N],
    first: usize,
    count: i64,
    a: Source<'_>,
    b: Source<'_>,
) where
    T: Native + Copy,
{
    let mut sums: [T; N] = accumulators.map(value::<T, W>);
    let (a_elements, b_elements) = (a.bytes.as_chunks::<W>().0, b.bytes.as_chunks::<W>().0);
    let (mut a_at, mut b_at) = (a.at, b.at);
    if A {
        a_at += first as i64;
    }
    if B {
        b_at += first as i64;
    }
    for _ in 0..count {
        let a_values: [[u8; W]; N] = match element::<W, N, A>(a_elements, a_at) {
            Some(values) => values,
            None => return,
        };
        let b_values: [[u8; W]; N] = match element::<W, N, B>(b_elements, b_at) {
            Some(values) => values,
            None => return,
        };
        for k in 0..N {
            let item = apply::<T, MAP>(value(a_values[k]), value(b_values[k]));
            sums[k] = apply::<T, OP>(sums[k], item);
        }
        a_at = a_at.wrapping_add(a.step);
        b_at = b_at.wrapping_add(b.step);
    }
    for (bytes, sum) in accumulators.iter_mut().zip(sums) {
        bytes.copy_from_slice(&sum.to_bits().to_le_bytes()[..W]);
    }
}

/// `N` adjacent elements, or one for all.
#[inline(always)]
fn element<const W: usize, const N: usize, const MANY: bool>(
    elements: &[[u8; W]],
    at: i64,
) -> Option<[[u8; W]; N]> {
    let rest = elements.get(at as usize..)?;
    if MANY { rest.first_chunk::<N>().copied() } else { rest.first().map(|one| [*one; N]) }
}
