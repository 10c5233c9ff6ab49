//! Scatters and histograms, in every mode and around every vector length: duplicates, places outside, several arrays,
//! operators whose order shows.

use crate::support::*;
use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_kir::{Machine, Plan};
use galopvm_lmad::{Dim, Lmad};
use std::fmt::Write;

/// An array of indices into an extent, some of them outside.
fn indices(count: usize, extent: i64, random: &mut Random) -> Arg {
    let one = |random: &mut Random| (random.below(extent as usize + 4) as i64 - 2) as u64;
    let data = (0..count).map(|_| if random.below(40) == 0 { random.bits() } else { one(random) }).collect();
    Arg::Array(ElemType::I64, data, Lmad::row_major(&[count as i64]))
}

const TYPES: [ElemType; 8] = [
    ElemType::I8,
    ElemType::U16,
    ElemType::I32,
    ElemType::I64,
    ElemType::U64,
    ElemType::F32,
    ElemType::F64,
    ElemType::Bool,
];

#[test]
fn the_last_write_stays() {
    for (round, ty) in TYPES.into_iter().chain([ElemType::F16]).enumerate() {
        let text = format!(
            "region put (n : i64, m : i64, P : [n]i64, V : [n]{ty}, D : [m]{ty})
            let r = scatter D i < n do in (P[i], V[i])
            in r"
        );
        let mut random = Random::new(1 + round as u64);
        for m in [0, 1, 5, 300] {
            check_sizes(&text, SIZES, |n| {
                let values = array(ty, &[n as i64], &mut random);
                let old = array(ty, &[m as i64], &mut random);
                vec![size(n), size(m), indices(n, m as i64, &mut random), values, old]
            });
        }
    }
}

/// A body that is worth vectors.
fn long_body(ty: ElemType) -> String {
    let mut text = "let p : i64 = P[i]\nlet v = V[i]\n".to_string();
    let _ = writeln!(text, "let q : i64 = (p * 3 + i - i * 3 + k) - (p * 2 + k) + (i + i)");
    let _ = writeln!(text, "let x : i64 = if q > 2 then in to_i64(v) + 3 else in to_i64(v) - p");
    let _ = writeln!(text, "let w : {ty} = to_{ty}(x * 5 + q)");
    text
}

#[test]
fn long_bodies_are_computed_in_vectors() {
    for (round, ty) in TYPES.into_iter().enumerate() {
        for by in ["", "by (a = NONE) (b) do in OP"] {
            let word = if by.is_empty() { "scatter" } else { "hist" };
            let (none, op) = match ty {
                ElemType::Bool => ("false".to_string(), "a != b"),
                _ if ty.is_float() => (format!("0.0{ty}"), "a * 0.5 + b"),
                _ => (format!("0{ty}"), "a * 3 + b"),
            };
            let op = if ty.is_float() { format!("a * 0.5{ty} + b") } else { op.to_string() };
            let by = by.replace("NONE", &none).replace("OP", &op);
            let text = format!(
                "region long (n : i64, m : i64, k : i64, P : [n]i64, V : [n]{ty}, D : [m]{ty})
                let r = {word} D i < n do
                {}in (q, w)
                {by}
                in r",
                long_body(ty)
            );
            let mut random = Random::new(100 + round as u64);
            check_sizes(&text, SIZES, |n| {
                let values = array(ty, &[n as i64], &mut random);
                let old = tame(ty, &[40], &mut random);
                let old = if ty == ElemType::Bool { array(ty, &[40], &mut random) } else { old };
                let at = indices(n, 40, &mut random);
                vec![size(n), size(40), size(random.below(9)), at, values, old]
            });
        }
    }
}

#[test]
fn histograms_apply_their_operator_in_order() {
    for ty in TYPES {
        let ops = [ScalarOp::Add, ScalarOp::Mul, ScalarOp::Max, ScalarOp::Min, ScalarOp::Sub, ScalarOp::Xor];
        for op in ops.into_iter().filter(|op| op.accepts(ty)) {
            let text = format!(
                "region count (n : i64, m : i64, P : [n]i64, V : [n]{ty}, D : [m]{ty})
                let r = hist D i < n do in (P[i], V[i])
                by (a : {ty} = {}) (b : {ty}) do in {op}(a, b)
                in r",
                Scalar::new(ty, 0)
            );
            let mut random = Random::new(7);
            for n in [0, 1, 17, 1000] {
                for m in [1, 12] {
                    let (values, old) = (tame(ty, &[n], &mut random), tame(ty, &[m], &mut random));
                    let at = indices(n as usize, m, &mut random);
                    if ty != ElemType::Bool {
                        check(&text, &[size(n as usize), size(m as usize), at, values, old]);
                    }
                }
            }
        }
    }
}

#[test]
fn threads_count_apart_where_nobody_can_tell() {
    for ty in [ElemType::U8, ElemType::I16, ElemType::I32, ElemType::I64, ElemType::F32, ElemType::Bool] {
        for op in [ScalarOp::Add, ScalarOp::Mul, ScalarOp::Max, ScalarOp::Xor, ScalarOp::Sub] {
            if !op.accepts(ty) || op.result_type(ty) != ty {
                continue;
            }
            let text = format!(
                "region count (n : i64, m : i64, P : [n]i64, V : [n]{ty}, D : [m]{ty}, E : [m]{ty})
                let (r, s) = hist (D, E) i < n do in (P[i], V[i], V[i])
                by (a : {ty} = {zero}, c : {ty} = {zero}) (b : {ty}, d : {ty}) do in ({op}(a, b), {op}(d, c))
                in (s, r)",
                zero = Scalar::new(ty, 0)
            );
            let mut random = Random::new(17);
            for (n, m) in [(20_000, 1), (50_001, 12), (20_000, 300)] {
                let values = tame(ty, &[n], &mut random);
                let values = if ty == ElemType::Bool { array(ty, &[n], &mut random) } else { values };
                let old = |random: &mut Random| match ty {
                    ElemType::Bool => array(ty, &[m], random),
                    _ => tame(ty, &[m], random),
                };
                let (first, second) = (old(&mut random), old(&mut random));
                let at = indices(n as usize, m, &mut random);
                check(&text, &[size(n as usize), size(m as usize), at, values, first, second]);
            }
        }
    }
    let text = "region trap (n : i64, P : [n]i64, V : [n]i64, D : [m]i64, m : i64)
        let r = hist D i < n do in (P[i], 100 / V[i]) by (a = 0) (b) do in a + b
        in r";
    let text = text.replace(", D : [m]i64, m : i64)", ", m : i64, D : [m]i64)");
    let mut random = Random::new(3);
    for zero in [None, Some(0), Some(29_999)] {
        let n = 30_000;
        let by: Vec<u64> = (0..n).map(|k| u64::from(zero != Some(k)) * 7).collect();
        let by = Arg::Array(ElemType::I64, by, Lmad::row_major(&[n as i64]));
        let at = indices(n, 5, &mut random);
        check(&text, &[size(n), at, by, size(5), array(ElemType::I64, &[5], &mut random)]);
    }
}

/// Pieces of several threads count in arrays of their own, which have copies or not, as caches and iterations say.
#[test]
fn pieces_have_as_many_copies_as_pay() {
    let text = "region count (n : i64, m : i64, P : [n]i64, V : [n]i64, D : [m]i64)
        let r = hist D i < n do in (P[i], V[i]) by (a = 0) (b) do in a + b
        in r";
    let region = region(text);
    let mut random = Random::new(29);
    for (n, m) in [(300, 7), (4000, 7), (4000, 100), (20_000, 100), (50_000, 1000), (50_000, 20_000)] {
        let at = indices(n, m, &mut random);
        let values = array(ElemType::I64, &[n as i64], &mut random);
        let args = [size(n), size(m as usize), at, values, array(ElemType::I64, &[m], &mut random)];
        let expected = reference(&region, &args);
        for cpu in modes() {
            for (l1_bytes, l2_bytes) in [(1 << 8, 1 << 20), (1 << 14, 1 << 16), (1 << 20, 1 << 22)] {
                for threads in [1, 2, 3] {
                    let machine =
                        Machine { threads, thread_grain: 1 << 9, l1_bytes, l2_bytes, ..machine(cpu) };
                    let title =
                        format!("{n} to {m}, {cpu}, {threads} threads, caches of {l1_bytes} and {l2_bytes}");
                    let code = compile_on(&region, Plan::default(), &args, &machine, false);
                    let code = code.unwrap_or_else(|e| panic!("{e}\n{title}"));
                    let got = run(&region, code.as_ref(), &args);
                    compare(&region, &title, &expected, &got, 0.0, code.as_ref());
                }
            }
        }
    }
}

/// Vectors of places that lie inside but for a few of them, places that are alike for all iterations, and places along two axes.
#[test]
fn vectors_of_places_are_compared_with_extents_at_once() {
    let texts = [
        "region few (n : i64, m : i64, w : i64, P : [n]i32, V : [n]i64, D : [m]i64)
        let r = hist D i < n do in (to_i64(P[i]), V[i]) by (a = 0) (b) do in a + b
        in r",
        "region sated (n : i64, m : i64, w : i64, P : [n]i32, V : [n]i64, D : [m]i64)
        let r = hist D i < n do in (to_i64(P[i]), V[i] & 7) by (a = 0) (b) do
          let c : i64 = if a + b > 1000 then in 1000 else in a + b
          in c
        in r",
        "region last (n : i64, m : i64, w : i64, P : [n]i32, V : [n]i64, D : [m]i64)
        let r = hist D i < n do in (to_i64(P[i]), V[i]) by (a = 0) (b) do in a * 3 - b
        in r",
        "region one (n : i64, m : i64, w : i64, P : [n]i32, V : [n]i64, D : [m]i64)
        let r = hist D i < n do in (w - m, V[i]) by (a = 0) (b) do in a ^ b
        in r",
        "region two (n : i64, m : i64, w : i64, P : [n]i32, V : [n]i64, D : [m][w]i64)
        let r = hist D i < n do in (to_i64(P[i]), i % w, 1) by (a = 0) (b) do in a + b
        in r",
    ];
    let mut random = Random::new(23);
    for text in texts {
        for (n, m, w) in [(5003usize, 12usize, 14usize), (4096, 3, 3), (2000, 5, 4)] {
            let many = (300..500).chain(600..632).map(|at| (at, if at % 3 == 0 { m as i32 } else { -1 }));
            let few = vec![(777, -1), (1500, m as i32), (1999, i32::MIN)];
            for beyond in [vec![], few, many.collect()] {
                let mut places: Vec<u64> = (0..n).map(|_| random.below(m) as u64).collect();
                for (at, place) in beyond {
                    places[at] = ElemType::I32.mask() & i64::from(place) as u64;
                }
                let places = Arg::Array(ElemType::I32, places, Lmad::row_major(&[n as i64]));
                let values = array(ElemType::I64, &[n as i64], &mut random);
                let shape = [m as i64, w as i64];
                let axes = if text.contains("[m][w]") { 2 } else { 1 };
                let old = array(ElemType::I64, &shape[..axes], &mut random);
                check(text, &[size(n), size(m), size(w), places, values, old]);
            }
        }
    }
}

#[test]
fn several_arrays_and_axes() {
    let text =
        "region pairs (n : i64, m : i64, w : i64, P : [n]i64, V : [n][w]f32, D : [m][w]f32, E : [m][w]i64)
        let (r, s) = hist (D, E) i < n, j < w do
          let v : f32 = V[i, j]
          in (P[i], j, v, i)
        by (a = -1000.0f32, b = -1) (c, d) do
          let (x : f32, y : i64) = if a < c then in (c, d) else in (a, b)
          in (x, y)
        in (s, r)";
    let mut random = Random::new(4);
    for (n, m, w) in [(0, 3, 2), (40, 5, 3), (40, 1, 1), (100, 30, 17), (9, 0, 4), (6, 4, 0)] {
        let values = tame(ElemType::F32, &[n, w], &mut random);
        let old = tame(ElemType::F32, &[m, w], &mut random);
        let last = array(ElemType::I64, &[m, w], &mut random);
        let at = indices(n as usize, m, &mut random);
        check(text, &[size(n as usize), size(m as usize), size(w as usize), at, values, old, last]);
    }
}

#[test]
fn inputs_and_destinations_in_any_order() {
    let text = "region turned (n : i64, m : i64, w : i64, P : [n]i64, V : [n]f64, D : [m][w]f64)
        let x : i64 = m * w
        let r = scatter D i < n do
          let p : i64 = P[i]
          in (p // w, p % w, V[i] + D[0, 0])
        in r";
    let mut random = Random::new(12);
    let view = |dims: &[(i64, i64)], offset| {
        Lmad::new(offset, dims.iter().map(|(size, stride)| Dim::new(*size, *stride)).collect::<Vec<_>>())
    };
    for n in [1usize, 5, 64, 200] {
        let numbers: Vec<u64> = (0..2 * n).map(|_| random.below(30) as u64).collect();
        let places = Arg::Array(ElemType::I64, numbers, view(&[(n as i64, -2)], 2 * n as i64 - 1));
        let values: Vec<u64> = (0..3 * n).map(|_| value_of(ElemType::F64, &mut random)).collect();
        let values = Arg::Array(ElemType::F64, values, view(&[(n as i64, 3)], 1));
        for dims in [[(4, 6), (6, 1)], [(4, 1), (6, 4)], [(4, -6), (6, 1)], [(4, 12), (6, -2)]] {
            let low: i64 = dims.iter().map(|(size, stride): &(i64, i64)| (size - 1) * stride.min(&0)).sum();
            let data: Vec<u64> = (0..60).map(|_| value_of(ElemType::F64, &mut random)).collect();
            let old = Arg::Array(ElemType::F64, data, view(&dims, -low));
            check(text, &[size(n), size(4), size(6), places.clone(), values.clone(), old]);
        }
    }
}

#[test]
fn a_body_or_an_operator_that_traps() {
    let text = "region trap (n : i64, m : i64, P : [n]i64, V : [n]i64, D : [m]i64)
        let r = hist D i < n do
          in (P[P[i]], V[i])
        by (a = 1) (b) do
          in a / b
        in r";
    let mut random = Random::new(9);
    for n in [1i64, 20, 90] {
        for _ in 0..10 {
            let at = (0..n).map(|_| (random.below(n as usize + 1) % (n as usize + 1)) as u64).collect();
            let at = Arg::Array(ElemType::I64, at, Lmad::row_major(&[n]));
            let by = (0..n).map(|_| random.below(60) as u64).collect();
            let by = Arg::Array(ElemType::I64, by, Lmad::row_major(&[n]));
            let old = array(ElemType::I64, &[7], &mut random);
            check(text, &[size(n as usize), size(7), at, by, old]);
        }
    }
}

#[test]
fn what_is_not_compiled() {
    for (text, reason) in [
        (
            "region made (n : i64, P : [n]i64)
            let D : [n]i64 = kernel j < n do in j
            let r = scatter D i < n do in (P[i], i)
            in r",
            "the region has several statements",
        ),
        (
            "region unwanted (n : i64, P : [n]i64, D : [n]i64, E : [n]i64)
            let (r, s) = scatter (D, E) i < n do in (P[i], i, i)
            in r",
            "a scatter into an array that nobody wants",
        ),
    ] {
        let region = region(text);
        let arrays = region.region().params.len() - 1;
        let mut args = vec![size(3)];
        args.extend((0..arrays).map(|_| array(ElemType::I64, &[3], &mut Random::new(1))));
        for cpu in modes() {
            let refusal = compile(&region, "", &args, cpu, false).err().expect("it is refused");
            assert_eq!(refusal.reason, reason);
        }
    }
}
