//! Arguments for generated programs: odd numbers, in arrays that lie in memory in all manners.

use galopvm_base::{ElemType, Scalar};
use galopvm_bytecode::ValueType;
use galopvm_runtime::{Array, Memory, Value};
use galopvm_testkit::{Random, any_view};

pub fn scalar(random: &mut Random, ty: ElemType) -> Scalar {
    let small = random.below(9) as i64 - 4;
    match random.below(5) {
        0 => Scalar::from_int(ty, small),
        1 if ty.is_float() => Scalar::from_f64(
            ty,
            *random.pick(&[0.5, -0.0, f64::NAN, f64::INFINITY, -1.5, 1e30, 3.25, -7.75, 1e-40]),
        ),
        2 if ty.is_float() => Scalar::from_f64(ty, random.below(1000) as f64 / 16.0 - 20.0),
        3 => Scalar::new(ty, *random.pick(&[0, 1, 0x7f, 0x80, 0x7fff_ffff, 1 << 31, 1 << 63, u64::MAX >> 1])),
        _ if ty.is_float() => Scalar::from_f64(ty, small as f64),
        4 => Scalar::from_int(ty, random.below(300) as i64),
        _ => Scalar::new(ty, random.bits()),
    }
}

/// The arguments: all arrays have the same rows, other extents are small.
pub fn arguments(memory: &Memory, types: &[ValueType], seed: u64) -> Vec<Value> {
    let mut random = Random::new(seed ^ 0x5555);
    let rows = match random.below(40) {
        0 => 2048,
        1 | 2 => 2100,
        3 => 4500,
        _ => *random.pick(&[0, 1, 2, 5, 23, 24, 31, 60, 100, 300]),
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
        let (view, places) = any_view(&mut random, &shape);
        let places = usize::try_from(places).expect("places are not negative");
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
