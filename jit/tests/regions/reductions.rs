//! Reductions by any operator, in every mode, around every vector length and over every kind of view: partial results in
//! lanes and pieces are combined in the order of the rows wherever that can be seen.

use crate::support::operators::{OPERATORS, TYPES, sizes, small};
use crate::support::*;
use galopvm_base::{ElemType, Scalar};
use galopvm_jit::CpuMode;
use galopvm_kir::Listing;
use galopvm_lmad::Lmad;

#[test]
fn any_operator_keeps_the_order_of_rows() {
    for (number, operator) in OPERATORS.iter().enumerate() {
        for (round, ty) in TYPES.into_iter().enumerate() {
            if operator.body.contains("abs") && ty.is_unsigned() {
                continue;
            }
            println!("{} of {ty}", operator.name);
            let text = operator.reduction(ty);
            let mut random = Random::new((100 * number + round) as u64 + 1);
            let launches = sizes().map(|n| {
                let arrays = operator.neutral.iter().map(|_| small(ty, n, Layout::Contiguous, &mut random));
                [size(n)].into_iter().chain(arrays).collect()
            });
            check_launches(&text, "", &launches.collect::<Vec<_>>(), 0.0);
        }
    }
}

/// The last value that is marked, with its number: floats that are no numbers among them.
const LAST: &str = "region last (n : i64, x : [n]f32, y : [n]f64, m : [n]bool)
    let (v : f32, w : f64, i0 : i64, k : bool) = red i < n do
      let g : bool = m[i]
      let h : f32 = if g then let h1 : f32 = x[i] in h1 else let h2 : f32 = 0.0f32 in h2
      in (h, select(g, y[i], 0.0f64), select(g, i, 0), g)
    by (a : f32 = 0.0f32, b : f64 = 0.0f64, c : i64 = 0, d : bool = false) (e : f32, f : f64, p : i64, q : bool) do
      in (select(q, e, a), select(q, f, b), select(q, p, c), d || q)
    in (w, v, k, i0)";

#[test]
fn values_of_several_types_in_any_view() {
    let mut random = Random::new(81);
    let mut launches: Vec<Vec<Arg>> = Vec::new();
    for n in sizes() {
        for (number, layout) in Layout::ALL.into_iter().enumerate() {
            let other = Layout::ALL[(number + 3) % Layout::ALL.len()];
            let (x, y) =
                (small(ElemType::F32, n, layout, &mut random), small(ElemType::F64, n, other, &mut random));
            launches.push(vec![size(n), x, y, small(ElemType::Bool, n, layout, &mut random)]);
        }
    }
    check_launches(LAST, "", &launches, 0.0);
}

#[test]
fn floats_are_combined_in_another_order_of_brackets_only() {
    let text = "region product (n : i64, p : [n]f64, q : [n]f64, r : [n]f64, s : [n]f64)
        let (x : f64, y : f64, z : f64, w : f64) = red i < n do
          in (p[i] - 0.5f64, q[i] * 0.1f64, r[i] * 0.1f64, s[i] + 0.2f64)
        by (a : f64 = 1.0f64, b : f64 = 0.0f64, c : f64 = 0.0f64, d : f64 = 1.0f64) (e : f64, f : f64, g : f64, h : f64) do
          in (a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)
        in (x, y, z, w)";
    let mut random = Random::new(82);
    let launches: Vec<Vec<Arg>> = [0, 1, 5, 16, 17, 40, 100]
        .into_iter()
        .map(|n| {
            let arrays = (0..4).map(|_| tame(ElemType::F64, &[n as i64], &mut random));
            [size(n)].into_iter().chain(arrays).collect()
        })
        .collect();
    check_launches(text, "", &launches, 1e-6);
    // Strict code combines one row after the other.
    let region = region(text);
    for args in &launches {
        for cpu in modes() {
            let code = compile(&region, "", args, cpu, true).unwrap_or_else(|e| panic!("{cpu}: {e}"));
            let got = run(&region, code.as_ref(), args);
            compare(&region, &format!("strict {cpu}"), &reference(&region, args), &got, 0.0, code.as_ref());
        }
    }
}

/// What is folded has loops and traps in it, and so has the operator.
#[test]
fn loops_and_traps_in_lanes() {
    let text = "region steps (n : i64, k : i64, x : [n]i64)
        let (r : i64, s : i64) = red i < n do
          let (m : i64, c : i64) = loop (m1 : i64, c1 : i64) = (x[i] & 1023, 0) while m1 > 1 do
            in (select(m1 % 2 == 0, m1 / 2, 3 * m1 + 1), c1 + 1)
          in (c, m + 100 / (x[i] - k))
        by (a : i64 = -1, b : i64 = 0) (c2 : i64, d : i64) do
          let (e : i64, f : i64) = if c2 > a then in (c2, d) else in (a, b)
          in (e, f)
        in (r, s)";
    let region = region(text);
    let mut random = Random::new(83);
    for n in sizes() {
        let args = [size(n), size(1 << 40), array(ElemType::I64, &[n as i64], &mut random)];
        check(text, &args);
        // The divisor is 0 in one row.
        let Arg::Array(_, data, _) = &args[2] else { unreachable!("an array") };
        let Some(k) = data.get(n / 2) else { continue };
        let args = [size(n), Arg::Scalar(Scalar::new(ElemType::I64, *k)), args[2].clone()];
        assert!(reference(&region, &args).is_err());
        check(text, &args);
    }
}

/// Several axes, and reductions that have the lanes for themselves in the rows of a kernel.
#[test]
fn reductions_over_axes_and_in_rows() {
    let operator = "by (a : i32 = 1i32, b : i32 = 0i32) (c : i32, d : i32) do in (a * c, b * c + d)";
    let whole = format!(
        "region whole (n : i64, m : i64, A : [n][m]i32, B : [m][n]i32)
        let (p : i32, q : i32) = red i < n, j < m do in (A[i, j] | 1i32, B[j, i] + to_i32(j)) {operator}
        in (p, q)"
    );
    let rows = format!(
        "region rows (n : i64, m : i64, A : [n][m]i32, B : [m][n]i32)
        let (p : [n]i32, q : [n]i32) = kernel i < n do
          let (x : i32, y : i32) = red j < m do in (A[i, j] | 1i32, B[j, i] + to_i32(j)) {operator}
          in (x, y)
        in (p, q)"
    );
    let nearest = "region nearest (n : i64, m : i64, A : [n][m]i32)
        let (p : [n]i32, q : [n]i64) = kernel i < n do
          let (x : i32, y : i64) = red j < m do in (A[i, j] & 7i32, j)
          by (a : i32 = 2147483647i32, b : i64 = 9223372036854775807) (c : i32, d : i64) do
            let f : bool = a < c || a == c && b < d in (select(f, a, c), select(f, b, d))
          in (x, y)
        in (p, q)";
    let mut random = Random::new(84);
    for (n, m) in [(0, 5), (5, 0), (1, 1), (3, 17), (40, 9), (7, 1500)] {
        let shape = [n as i64, m as i64];
        let a = array(ElemType::I32, &shape, &mut random);
        let b = array(ElemType::I32, &[shape[1], shape[0]], &mut random);
        for (text, plans) in [
            (whole.as_str(), &[""][..]),
            (rows.as_str(), &["", "plan\n  lane j : a test\n"]),
            (nearest, &["", "plan\n  lane j : a test\n"]),
        ] {
            for plan in plans {
                let mut args = vec![size(n), size(m), a.clone(), b.clone()];
                args.truncate(region(text).region().params.len());
                check_with(text, plan, &args, 0.0);
            }
        }
    }
}

/// Vectors are used: with code for them a fold is another listing than without.
#[test]
fn operators_of_scalar_code_use_lanes() {
    const PROVEN: &str = "plan\n unchecked read0 read1 : a test";
    let text = OPERATORS[2].reduction(ElemType::I32);
    let region = region(&text);
    let args = [
        size(0),
        array(ElemType::I32, &[0], &mut Random::new(1)),
        array(ElemType::I32, &[0], &mut Random::new(2)),
    ];
    for cpu in modes() {
        let code = compile(&region, PROVEN, &args, cpu, false).unwrap_or_else(|e| panic!("{cpu}: {e}"));
        let listing = code.listing(Listing::Lir).expect("it has a listing");
        // A reduction does not fail for want of room: what is written over may have been read.
        assert!(!listing.contains("trap"), "{cpu}\n{listing}");
        // Of many rows neighbours are combined, the rest in parts.
        for way in ["alternate", "gather"] {
            assert_eq!(listing.contains(way), cpu != CpuMode::Scalar, "{cpu}\n{listing}");
        }
    }
}

/// The nearest row commutes as long as all distances are numbers. Of those that are none the operator takes the right one: in
/// front and at the end that is the same in any order of brackets, but not of rows.
#[test]
fn the_nearest_row_with_floats_that_are_no_numbers() {
    for (ty, inf) in [(ElemType::F32, "f32.inf"), (ElemType::F64, "f64.inf")] {
        let text = format!(
            "region nearest (n : i64, x : [n]{ty})
            let (v : {ty}, i0 : i64) = red i < n do in (x[i], i)
            by (a : {ty} = {inf}, b : i64 = 9223372036854775807) (c : {ty}, d : i64) do
              let f : bool = a < c || a == c && b < d
              in (select(f, a, c), select(f, b, d))
            in (v, i0)"
        );
        let mut random = Random::new(85);
        let mut launches: Vec<Vec<Arg>> = Vec::new();
        for n in sizes() {
            for (front, back) in [(0, 0), (0, 1), (1, 0), (3, 20), (20, 3), (n, 0)] {
                if front + back > n {
                    continue;
                }
                let none = if ty == ElemType::F32 { 0x7fc0_0000 } else { 0x7ff8 << 48 };
                let one = |k: usize| match random.below(3) {
                    _ if k < front || k >= n - back => none,
                    // Zeros of either sign, and few different numbers.
                    0 => u64::from(random.one_in(2)) << (8 * ty.bytes() - 1),
                    1 if ty == ElemType::F32 => u64::from((random.below(3) as f32).to_bits()),
                    1 => (random.below(3) as f64).to_bits(),
                    _ if ty == ElemType::F32 => u64::from((random.below(90) as f32).to_bits()),
                    _ => (random.below(90) as f64).to_bits(),
                };
                let data = (0..n).map(one).collect();
                launches.push(vec![size(n), Arg::Array(ty, data, Lmad::row_major(&[n as i64]))]);
            }
        }
        check_launches(&text, "", &launches, 0.0);
    }
}
