//! Arguments for generated programs: odd numbers, in arrays that lie in memory in all manners.

use crate::Random;
use galopvm_base::{ElemType, Scalar};
use galopvm_bytecode::ValueType;
use galopvm_lmad::{Dim, Lmad};
use galopvm_runtime::{Array, Memory, Value};

pub fn scalar(random: &mut Random, ty: ElemType) -> Scalar {
    let small = random.below(9) as i64 - 4;
    match random.below(5) {
        0 => Scalar::from_int(ty, small),
        1 if ty.is_float() => Scalar::from_f64(
            ty,
            random.choose(&[0.5, -0.0, f64::NAN, f64::INFINITY, -1.5, 1e30, 3.25, -7.75, 1e-40]),
        ),
        2 if ty.is_float() => Scalar::from_f64(ty, random.below(1000) as f64 / 16.0 - 20.0),
        3 => {
            Scalar::new(ty, random.choose(&[0, 1, 0x7f, 0x80, 0x7fff_ffff, 1 << 31, 1 << 63, u64::MAX >> 1]))
        }
        _ if ty.is_float() => Scalar::from_f64(ty, small as f64),
        4 => Scalar::from_int(ty, random.below(300) as i64),
        _ => Scalar::new(ty, random.number()),
    }
}

/// The arguments: all arrays have the same rows, other extents are small.
pub fn arguments(memory: &Memory, types: &[ValueType], seed: u64) -> Vec<Value> {
    let mut random = Random(seed ^ 0x5555);
    let rows = match random.below(40) {
        0 => 2048,
        1 | 2 => 2100,
        3 => 4500,
        _ => random.choose(&[0, 1, 2, 5, 23, 24, 31, 60, 100, 300]),
    };
    let argument = |ty: &ValueType| {
        if ty.is_scalar() {
            let value = scalar(&mut random, ty.elem);
            // Sizes and bounds of loops: small ones.
            let sized = ty.elem == ElemType::I64;
            return Value::Scalar(if sized { Scalar::i64(random.below(12) as i64) } else { value });
        }
        let shape: Vec<i64> =
            (0..ty.rank).map(|d| if d == 0 { rows } else { 1 + random.below(4) as i64 }).collect();
        let view = view(&mut random, &shape);
        let last = view.dims.iter().map(|d| (d.size - 1).max(0) * d.stride.max(0)).sum::<i64>() + view.offset;
        let places = usize::try_from(last + 1).expect("places are not negative");
        let mut block = memory.block(places * ty.elem.bytes()).expect("there is memory");
        let bytes = block.bytes_mut().expect("nobody else holds it");
        for place in bytes.chunks_exact_mut(ty.elem.bytes()) {
            let bits = scalar(&mut random, ty.elem).bits.to_le_bytes();
            place.copy_from_slice(&bits[..ty.elem.bytes()]);
        }
        Value::Array(Array::from_block(block, ty.elem, view).expect("the view fits"))
    };
    types.iter().map(argument).collect()
}

/// A view of this shape: adjacent, with gaps, backwards, transposed, with one element at many indices, not at the start.
fn view(random: &mut Random, shape: &[i64]) -> Lmad {
    let mut order: Vec<usize> = (0..shape.len()).collect();
    if random.one_in(3) {
        order.reverse();
    }
    let mut dims = vec![Dim::new(0, 0); shape.len()];
    let mut stride = 1;
    for d in order.into_iter().rev() {
        stride *= random.choose(&[1, 1, 1, 2, 3]);
        dims[d] = Dim::new(shape[d], stride);
        stride *= shape[d].max(1);
    }
    let mut offset = random.choose(&[0, 0, 0, 1, 5]);
    for dim in &mut dims {
        match random.below(6) {
            0 => {
                offset += (dim.size - 1).max(0) * dim.stride;
                dim.stride = -dim.stride;
            }
            1 if random.one_in(2) => dim.stride = 0,
            _ => {}
        }
    }
    Lmad::new(offset, dims)
}
