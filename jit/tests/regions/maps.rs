//! Element-wise maps and plain reductions, in every mode and around every vector length.

use crate::support::*;
use galopvm_base::{ElemType, Scalar};

#[test]
fn a_chain_of_float_operations() {
    let text = "region chain (n : i64, x : [n]f32, y : [n]f32)
        let r : [n]f32 = kernel i < n do
          let a : f32 = x[i]
          let s : f32 = sqrt(2.0f32 * a * a + 3.0f32 * y[i]) - a * 0.5f32
          in s
        in r";
    let mut random = Random::new(7);
    check_sizes(text, SIZES, |n| {
        let shape = [n as i64];
        vec![size(n), array(ElemType::F32, &shape, &mut random), array(ElemType::F32, &shape, &mut random)]
    });
}

#[test]
fn sums_and_products_of_integers() {
    let text = "region sum (n : i64, x : [n]i32, y : [n]i32)
        let r : i32 = red i < n do
          let p : i32 = x[i] * y[i]
          in p
        by (a : i32 = 0i32) (b : i32) do in a + b
        in r";
    let mut random = Random::new(8);
    check_sizes(text, SIZES.into_iter().chain([100_000]), |n| {
        let shape = [n as i64];
        vec![size(n), array(ElemType::I32, &shape, &mut random), array(ElemType::I32, &shape, &mut random)]
    });
}

/// Extents may be computed from scalars of any type, before the kernel or in its bound.
#[test]
fn extents_from_scalars_of_other_types() {
    let texts = [
        "region lets (x : T, a : [9]i64)
           let n : i64 = to_i64(x) + 2
           let r : [n]i64 = kernel i < n do in i * 3
           in r",
        "region bounds (x : T, a : [9]i64)
           let r : [min(to_i64(x) + 2, 9)]i64 = kernel i < min(to_i64(x) + 2, 9) do in a[i] + i
           in r",
    ];
    let mut random = Random::new(9);
    for text in texts {
        for (ty, number) in [
            (ElemType::F64, 4.0),
            (ElemType::F64, -7.5),
            (ElemType::F32, 5.5),
            (ElemType::F16, 3.0),
            (ElemType::I32, -1.0),
            (ElemType::I32, -90.0),
            (ElemType::I8, -2.0),
            (ElemType::I8, 6.0),
            (ElemType::U8, 6.0),
        ] {
            let x = Arg::Scalar(Scalar::from_f64(ty, number));
            let text = text.replace('T', ty.name());
            check(&text, &[x, array(ElemType::I64, &[9], &mut random)]);
        }
    }
}
