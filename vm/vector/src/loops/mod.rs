//! Loops over columns, one for each scalar operation and type.
//!
//! A column is bytes, as blocks of memory are: inputs and outputs that lie one element after the other are columns
//! without being copied. The loops are written so that a compiler sees independent iterations over plain numbers; those
//! that compute much are also there for processors with wide vectors (`wide.rs`).

pub mod dot;
mod wide;

use galopvm_base::scalar::{Native, ScalarTrap, convert_inlined, operation};
use galopvm_base::{Bits, ElemType, Scalar, ScalarOp, typed_conversion, typed_function};
use galopvm_lmad::Dim;
use half::f16;

/// A unary operation or a conversion: result, operand.
pub type Kernel1 = fn(&mut [u8], &[u8]);
/// A binary operation: result, operands; whether some element has no value.
pub type Kernel2 = fn(&mut [u8], &[u8], &[u8]) -> bool;
/// A ternary operation: result, operands.
pub type Kernel3 = fn(&mut [u8], &[u8], &[u8], &[u8]);
/// Combines a value with all elements, one after the other.
pub type Fold = fn(Bits, &[u8]) -> Result<Bits, ScalarTrap>;
/// Combines the values of strands with elements: the first one goes to the first strand, and so on around.
pub type FoldStrands = fn(&mut [Bits; STRANDS], &[u8]);
/// The same as [`Fold`], with every value on the way as a column.
pub type Prefixes = fn(Bits, &[u8], &mut [u8]) -> Result<Bits, ScalarTrap>;
/// Combines elements at places with those of a column, one after the other; places where nothing is are passed by. Whether some
/// had no value.
pub type Accumulate = fn(&mut [u8], &[u8], &[u8]) -> bool;

/// Partial results of a reduction of floats that is done in strands: row `i` goes to strand `i` modulo their number.
pub const STRANDS: usize = 32;

/// Rows from which a reduction of floats has strands.
pub const MANY_ROWS: i64 = 256;

/// The value that changes nothing, for operations that are done in strands.
pub fn start_of_strand(op: ScalarOp, ty: ElemType) -> Option<Bits> {
    if !matches!(ty, ElemType::F32 | ElemType::F64) {
        return None;
    }
    let value = match op {
        ScalarOp::Add => -0.0,
        ScalarOp::Mul => 1.0,
        // A NaN gives way to the other operand.
        ScalarOp::Min | ScalarOp::Max => f64::NAN,
        _ => return None,
    };
    Some(Scalar::from_f64(ty, value).bits)
}

/// A type whose values are elements of columns.
pub(super) trait Lane: Native {
    /// The bytes of a value.
    type Bytes: Copy;
    fn lanes(bytes: &[u8]) -> &[Self::Bytes];
    fn lanes_mut(bytes: &mut [u8]) -> &mut [Self::Bytes];
    fn read(bytes: Self::Bytes) -> Self;
    fn write(bits: Bits) -> Self::Bytes;
}

macro_rules! lanes {
    ($($rust:ident $word:ident $bytes:literal;)+) => {$(
        impl Lane for $rust {
            type Bytes = [u8; $bytes];
            #[inline(always)]
            fn lanes(bytes: &[u8]) -> &[[u8; $bytes]] {
                bytes.as_chunks().0
            }
            #[inline(always)]
            fn lanes_mut(bytes: &mut [u8]) -> &mut [[u8; $bytes]] {
                bytes.as_chunks_mut().0
            }
            #[inline(always)]
            fn read(bytes: [u8; $bytes]) -> $rust {
                <$rust>::of_bits(Bits::from($word::from_le_bytes(bytes)))
            }
            #[inline(always)]
            fn write(bits: Bits) -> [u8; $bytes] {
                (bits as $word).to_le_bytes()
            }
        }
    )+};
}

lanes! {
    i8 u8 1;
    i16 u16 2;
    i32 u32 4;
    i64 u64 8;
    u8 u8 1;
    u16 u16 2;
    u32 u32 4;
    u64 u64 8;
    f16 u16 2;
    f32 u32 4;
    f64 u64 8;
    bool u8 1;
}

pub(super) fn map1<T: Lane, O: Lane, const OP: u8>(out: &mut [u8], a: &[u8]) {
    mapped1::<T, O, OP>(out, a);
}

/// The loop of a unary operation, to be compiled for some kind of processor. Where an element has no quick value, all
/// are computed again.
#[inline(always)]
pub(super) fn mapped1<T: Lane, O: Lane, const OP: u8>(out: &mut [u8], a: &[u8]) {
    let mut known = true;
    for (out, a) in O::lanes_mut(out).iter_mut().zip(T::lanes(a)) {
        let (bits, is_known) = T::quick_unary(const { operation(OP) }, T::read(*a));
        *out = O::write(bits);
        known &= is_known;
    }
    if !known {
        for (out, a) in O::lanes_mut(out).iter_mut().zip(T::lanes(a)) {
            *out = O::write(T::unary(const { operation(OP) }, T::read(*a)));
        }
    }
}

pub(super) fn map2<T: Lane, O: Lane, const OP: u8>(out: &mut [u8], a: &[u8], b: &[u8]) -> bool {
    mapped2::<T, O, OP>(out, a, b)
}

/// The loop of a binary operation.
#[inline(always)]
pub(super) fn mapped2<T: Lane, O: Lane, const OP: u8>(out: &mut [u8], a: &[u8], b: &[u8]) -> bool {
    let op = const { operation(OP) };
    let mut known = const { !operation(OP).can_trap(T::TYPE) };
    if known {
        for ((out, a), b) in O::lanes_mut(out).iter_mut().zip(T::lanes(a)).zip(T::lanes(b)) {
            let (bits, is_known) = T::quick_binary(op, T::read(*a), T::read(*b));
            *out = O::write(bits);
            known &= is_known;
        }
    }
    let mut trapped = false;
    if !known {
        for ((out, a), b) in O::lanes_mut(out).iter_mut().zip(T::lanes(a)).zip(T::lanes(b)) {
            match T::binary(op, T::read(*a), T::read(*b)) {
                Ok(bits) => *out = O::write(bits),
                Err(_) => trapped = true,
            }
        }
    }
    trapped
}

fn map3<T: Lane, O: Lane, const OP: u8>(out: &mut [u8], a: &[u8], b: &[u8], c: &[u8]) {
    let operands = T::lanes(a).iter().zip(T::lanes(b)).zip(T::lanes(c));
    for (out, ((a, b), c)) in O::lanes_mut(out).iter_mut().zip(operands) {
        *out = O::write(T::ternary(const { operation(OP) }, T::read(*a), T::read(*b), T::read(*c)));
    }
}

fn converted<T: Lane, O: Lane>(out: &mut [u8], a: &[u8]) {
    for (out, a) in O::lanes_mut(out).iter_mut().zip(T::lanes(a)) {
        *out = O::write(convert_inlined(T::TYPE, O::TYPE, bits_of::<T>(*a)));
    }
}

#[inline(always)]
fn bits_of<T: Lane>(bytes: T::Bytes) -> Bits {
    T::to_bits(T::read(bytes))
}

fn fold_with<T: Lane, O: Lane, const OP: u8>(start: Bits, items: &[u8]) -> Result<Bits, ScalarTrap> {
    let mut value = start;
    for item in T::lanes(items) {
        value = T::binary(const { operation(OP) }, T::of_bits(value), T::read(*item))?;
    }
    Ok(value)
}

fn fold_strands_with<T: Lane, const OP: u8>(strands: &mut [Bits; STRANDS], items: &[u8]) {
    folded_strands::<T, OP>(strands, items);
}

/// The loop that combines elements in strands.
#[inline(always)]
pub(super) fn folded_strands<T: Lane, const OP: u8>(strands: &mut [Bits; STRANDS], items: &[u8]) {
    let combine = |a: T, item: T::Bytes| {
        let (bits, _) = T::quick_binary(const { operation(OP) }, a, T::read(item));
        T::of_bits(bits)
    };
    // By number, not by iterators: so the strands are seen to be registers.
    let mut values = [T::of_bits(0); STRANDS];
    for k in 0..STRANDS {
        values[k] = T::of_bits(strands[k]);
    }
    let (rows, rest) = T::lanes(items).as_chunks::<STRANDS>();
    for row in rows {
        for k in 0..STRANDS {
            values[k] = combine(values[k], row[k]);
        }
    }
    for k in 0..rest.len() {
        values[k] = combine(values[k], rest[k]);
    }
    for k in 0..STRANDS {
        strands[k] = T::to_bits(values[k]);
    }
}

fn prefixes_with<T: Lane, O: Lane, const OP: u8>(
    start: Bits,
    items: &[u8],
    out: &mut [u8],
) -> Result<Bits, ScalarTrap> {
    let mut value = start;
    for (out, item) in T::lanes_mut(out).iter_mut().zip(T::lanes(items)) {
        value = T::binary(const { operation(OP) }, T::of_bits(value), T::read(*item))?;
        *out = T::write(value);
    }
    Ok(value)
}

fn accumulated<T: Lane, O: Lane, const OP: u8>(bytes: &mut [u8], places: &[u8], items: &[u8]) -> bool {
    let elements = T::lanes_mut(bytes);
    let mut trapped = false;
    for (place, item) in places.as_chunks().0.iter().zip(T::lanes(items)) {
        let Some(element) = elements.get_mut(i64::from_le_bytes(*place) as usize) else { continue };
        match T::binary(const { operation(OP) }, T::read(*element), T::read(*item)) {
            Ok(bits) => *element = T::write(bits),
            Err(_) => trapped = true,
        }
    }
    trapped
}

/// The loop of a unary operation.
pub fn unary(op: ScalarOp, ty: ElemType) -> Option<Kernel1> {
    wide::unary(op, ty).or(typed_function!(1 map1 op ty))
}

/// The loop of a binary operation.
pub fn binary(op: ScalarOp, ty: ElemType) -> Option<Kernel2> {
    wide::binary(op, ty).or(typed_function!(2 map2 op ty))
}

/// The loop of a ternary operation on three values of a type.
pub fn ternary(op: ScalarOp, ty: ElemType) -> Option<Kernel3> {
    match op {
        // Its operands differ in type.
        ScalarOp::Select => None,
        _ => typed_function!(3 map3 op ty),
    }
}

/// The loop of a conversion.
pub fn conversion(from: ElemType, to: ElemType) -> Kernel1 {
    typed_conversion!(converted from to)
}

/// The loop that combines all elements.
pub fn fold(op: ScalarOp, ty: ElemType) -> Option<Fold> {
    typed_function!(2 fold_with op ty)
}

/// The instance of a generic function `f::<T, OP>` for an operation that is done in strands.
macro_rules! stranded_function {
    ($function:ident $op:ident $ty:ident) => {
        match $ty {
            ElemType::F32 => stranded_function!(@ $function $op f32),
            _ => stranded_function!(@ $function $op f64),
        }
    };
    (@ $function:ident $op:ident $rust:ident) => {
        match $op {
            ScalarOp::Add => $function::<$rust, { ScalarOp::Add as u8 }>,
            ScalarOp::Mul => $function::<$rust, { ScalarOp::Mul as u8 }>,
            ScalarOp::Min => $function::<$rust, { ScalarOp::Min as u8 }>,
            _ => $function::<$rust, { ScalarOp::Max as u8 }>,
        }
    };
}

pub(super) use stranded_function;

/// The loop that combines elements in strands, if that is how this operation is done on many rows.
pub fn fold_strands(op: ScalarOp, ty: ElemType) -> Option<FoldStrands> {
    start_of_strand(op, ty)?;
    Some(wide::fold_strands(op, ty).unwrap_or(stranded_function!(fold_strands_with op ty)))
}

/// The loop that gives all prefixes.
pub fn prefixes(op: ScalarOp, ty: ElemType) -> Option<Prefixes> {
    typed_function!(2 prefixes_with op ty)
}

/// The loop that combines elements at places.
pub fn accumulate(op: ScalarOp, ty: ElemType) -> Option<Accumulate> {
    typed_function!(2 accumulated op ty)
}

/// Takes bits of one column or of the other: with a branch, columns without pattern would be slow.
macro_rules! choose {
    ($name:ident $word:ident) => {
        fn $name(out: &mut [u8], mask: &[u8], yes: &[u8], no: &[u8]) {
            let operands = yes.as_chunks().0.iter().zip(no.as_chunks().0);
            for (out, (mask, (yes, no))) in out.as_chunks_mut().0.iter_mut().zip(mask.iter().zip(operands)) {
                let mask = $word::from(*mask != 0).wrapping_neg();
                let bits = $word::from_le_bytes(*yes) & mask | $word::from_le_bytes(*no) & !mask;
                *out = bits.to_le_bytes();
            }
        }
    };
}

choose!(choose_1 u8);
choose!(choose_2 u16);
choose!(choose_4 u32);
choose!(choose_8 u64);

/// The loop that takes elements of this width from one column where a mask is set, else from another.
pub fn selection(width: usize) -> Kernel3 {
    match width {
        1 => choose_1,
        2 => choose_2,
        4 => choose_4,
        _ => choose_8,
    }
}

/// Fills a column with one value.
pub fn splat(out: &mut [u8], width: usize, bits: Bits) {
    let bytes = bits.to_le_bytes();
    match width {
        1 => out.fill(bytes[0]),
        2 => out.as_chunks_mut().0.fill([bytes[0], bytes[1]]),
        4 => out.as_chunks_mut().0.fill([bytes[0], bytes[1], bytes[2], bytes[3]]),
        _ => out.as_chunks_mut().0.fill(bytes),
    }
}

/// Fills a column of `i64` with numbers that grow by a step.
pub fn count(out: &mut [u8], start: i64, step: i64) {
    let mut value = start;
    for out in out.as_chunks_mut::<8>().0 {
        *out = value.to_le_bytes();
        value = value.wrapping_add(step);
    }
}

fn strided_with<const W: usize>(out: &mut [u8], bytes: &[u8], start: i64, stride: i64) {
    let count = out.len() / W;
    let first = start.wrapping_add(1).wrapping_sub(count as i64) as usize;
    if stride == -1
        && let Some(bytes) = bytes.get(first.wrapping_mul(W)..).and_then(|bytes| bytes.get(..count * W))
    {
        let backwards = bytes.as_chunks::<W>().0.iter().rev();
        out.as_chunks_mut::<W>().0.iter_mut().zip(backwards).for_each(|(out, element)| *out = *element);
        return;
    }
    if let (Ok(first), Ok(stride @ 1..)) = (usize::try_from(start), usize::try_from(stride)) {
        let (elements, mut at) = (bytes.as_chunks::<W>().0, first);
        for out in out.as_chunks_mut::<W>().0 {
            let Some(element) = elements.get(at) else { break };
            *out = *element;
            // A place inside and a stride together are no more than a `usize` holds.
            at += stride;
        }
        return;
    }
    let mut place = start;
    for out in out.as_chunks_mut::<W>().0 {
        let at = (place as usize).wrapping_mul(W);
        if let Some(element) = bytes.get(at..).and_then(|bytes| bytes.first_chunk()) {
            *out = *element;
        }
        place = place.wrapping_add(stride);
    }
}

/// Fills a column with elements that lie `stride` apart.
pub fn strided(out: &mut [u8], width: usize, bytes: &[u8], start: i64, stride: i64) {
    match width {
        1 => strided_with::<1>(out, bytes, start, stride),
        2 => strided_with::<2>(out, bytes, start, stride),
        4 => strided_with::<4>(out, bytes, start, stride),
        _ => strided_with::<8>(out, bytes, start, stride),
    }
}

fn gather_with<const W: usize>(out: &mut [u8], bytes: &[u8], places: &[u8]) {
    let elements = bytes.as_chunks::<W>().0;
    for (out, place) in out.as_chunks_mut::<W>().0.iter_mut().zip(places.as_chunks::<8>().0) {
        // Only where no lane counts there may be no element.
        *out = elements.get(i64::from_le_bytes(*place) as usize).copied().unwrap_or([0; W]);
    }
}

fn pick_with<const W: usize>(
    out: &mut [u8],
    bytes: &[u8],
    index: &[u8],
    mask: Option<&[u8]>,
    dim: Dim,
) -> bool {
    let elements = bytes.as_chunks::<W>().0;
    let mut outside = false;
    let mut pick = |out: &mut [u8; W], index: &[u8; 8], counts: bool| {
        let index = i64::from_le_bytes(*index);
        let inside = (index as u64) < dim.size as u64;
        outside |= counts & !inside;
        let place = if inside { index.wrapping_mul(dim.stride) } else { 0 };
        *out = elements.get(place as usize).copied().unwrap_or([0; W]);
    };
    let pairs = out.as_chunks_mut::<W>().0.iter_mut().zip(index.as_chunks::<8>().0);
    match mask {
        None => pairs.for_each(|(out, index)| pick(out, index, true)),
        Some(mask) => pairs.zip(mask).for_each(|((out, index), mask)| pick(out, index, *mask != 0)),
    }
    outside
}

/// Fills a column with the elements at the indices of a vector that starts with `bytes`; whether some index that counts
/// is outside.
pub fn pick(out: &mut [u8], width: usize, bytes: &[u8], index: &[u8], mask: Option<&[u8]>, dim: Dim) -> bool {
    match width {
        1 => pick_with::<1>(out, bytes, index, mask, dim),
        2 => pick_with::<2>(out, bytes, index, mask, dim),
        4 => pick_with::<4>(out, bytes, index, mask, dim),
        _ => pick_with::<8>(out, bytes, index, mask, dim),
    }
}

/// Fills a column with the elements at places.
pub fn gather(out: &mut [u8], width: usize, bytes: &[u8], places: &[u8]) {
    match width {
        1 => gather_with::<1>(out, bytes, places),
        2 => gather_with::<2>(out, bytes, places),
        4 => gather_with::<4>(out, bytes, places),
        _ => gather_with::<8>(out, bytes, places),
    }
}

fn scatter_with<const W: usize>(bytes: &mut [u8], places: &[u8], items: &[u8]) {
    let elements = bytes.as_chunks_mut::<W>().0;
    for (place, item) in places.as_chunks().0.iter().zip(items.as_chunks::<W>().0) {
        if let Some(element) = elements.get_mut(i64::from_le_bytes(*place) as usize) {
            *element = *item;
        }
    }
}

/// Writes a column to places, in order; where nothing is, nothing is written.
pub fn scatter(bytes: &mut [u8], width: usize, places: &[u8], items: &[u8]) {
    match width {
        1 => scatter_with::<1>(bytes, places, items),
        2 => scatter_with::<2>(bytes, places, items),
        4 => scatter_with::<4>(bytes, places, items),
        _ => scatter_with::<8>(bytes, places, items),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_base::scalar::eval;
    use galopvm_testkit::Random;

    /// Numbers of a type: of all sizes, many of moderate size, and the special ones.
    fn numbers(ty: ElemType, seed: u64) -> Vec<Bits> {
        let mut random = Random::new(seed);
        let mut values: Vec<Bits> = (0..600)
            .map(|k| match k % 3 {
                0 => random.bits() & ty.mask(),
                _ => galopvm_base::Scalar::from_f64(ty, random.real(-30.0, 30.0)).bits,
            })
            .collect();
        let special = [0.0, -0.0, 1.0, -1.0, 2.0, -3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        values.extend(special.map(|x| galopvm_base::Scalar::from_f64(ty, x).bits));
        values
    }

    fn column(ty: ElemType, values: &[Bits]) -> Vec<u8> {
        values.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(ty.bytes())).collect()
    }

    /// Whatever loop a processor gets for a library function, one number at a time gives the same bits. Blocks with and
    /// without a number that has no quick value take different ways.
    #[test]
    fn loops_of_library_functions_give_the_bits_of_scalars() {
        for ty in [ElemType::F16, ElemType::F32, ElemType::F64] {
            let (a, b) = (numbers(ty, 1), numbers(ty, 2));
            for op in ScalarOp::ALL.iter().copied().filter(|op| op.accepts(ty) && !op.is_exact(ty)) {
                for length in [1, 8, a.len()] {
                    for start in (0..a.len()).step_by(length) {
                        let rows = start..(start + length).min(a.len());
                        let (a, b) = (&a[rows.clone()], &b[rows]);
                        let want: Vec<Bits> = std::iter::zip(a, b)
                            .map(|(a, b)| eval(op, ty, &[*a, *b]).expect("floats do not trap"))
                            .collect();
                        let (left, right) = (column(ty, a), column(ty, b));
                        let mut out = vec![0; left.len()];
                        if op.arity() == 1 {
                            for kernel in [unary(op, ty), typed_function!(1 map1 op ty)] {
                                kernel.expect("it has a loop")(&mut out, &left);
                                assert_eq!(out, column(ty, &want), "{op} on {ty} of {a:x?}");
                            }
                        } else {
                            for kernel in [binary(op, ty), typed_function!(2 map2 op ty)] {
                                kernel.expect("it has a loop")(&mut out, &left, &right);
                                assert_eq!(out, column(ty, &want), "{op} on {ty} of {a:x?}, {b:x?}");
                            }
                        }
                    }
                }
            }
        }
    }
}
