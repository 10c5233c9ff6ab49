//! Ifs, loops, nested reductions, masks.

use crate::support::*;
use galopvm_base::{ElemType, Scalar};
use galopvm_jit::CpuMode;
use galopvm_kir::Listing;

const F32: ElemType = ElemType::F32;
const I32: ElemType = ElemType::I32;
const I64: ElemType = ElemType::I64;

#[test]
fn a_cheap_if_and_a_dear_one() {
    let text = "region r (n : i64, x : [n]f32, y : [n]i32)
        let (p : [n]f32, q : [n]i32) = kernel i < n do
          let a : f32 = x[i]
          let b : f32 = if a < 0.0f32 then let c : f32 = -a in c else let d : f32 = a * 2.0f32 in d
          let e : i32 = if y[i] > 3i32 then
              let f : i32 = y[i] // 3i32
              let g : f32 = exp(a)
              let h : i32 = to_i32(g) + f
              in h
            else let k : i32 = red j < 5 do let l : i32 = to_i32(j) * y[i] in l by (u : i32 = 0i32) (v : i32) do in u + v
              in k
          in (b, e)
        in (p, q)";
    let mut random = Random::new(31);
    check_sizes(text, SIZES, |n| {
        vec![size(n), array(F32, &[n as i64], &mut random), array(I32, &[n as i64], &mut random)]
    });
}

/// Outside of lanes few operations on numbers are done for both sides of an `if`, and nothing jumps.
#[test]
fn few_operations_are_chosen_between() {
    let text = "region r (n : i64, x : [n]TY)
        let a : TY = red i < n do in x[i]
        by (b : TY = 0TY) (c : TY) do
          let d : TY = if c != 0TY then let e : TY = b + c in e else let f : TY = b in f
          in d
        in a";
    let mut random = Random::new(35);
    for (ty, jumps) in [(I32, false), (I64, false), (F32, true)] {
        let text = text.replace("TY", &ty.to_string());
        let args = [size(40), array(ty, &[40], &mut random)];
        let code =
            compile(&region(&text), "", &args, CpuMode::Scalar, true).unwrap_or_else(|e| panic!("{e}"));
        let lir = code.listing(Listing::Lir).expect("it has a listing");
        assert_eq!(lir.contains("choose"), !jumps, "{lir}");
    }
    for ty in [I32, I64] {
        let text = text.replace("TY", &ty.to_string());
        check_sizes(&text, SIZES, |n| vec![size(n), array(ty, &[n as i64], &mut random)]);
    }
}

#[test]
fn a_uniform_if() {
    let text = "region r (n : i64, c : bool, x : [n]f64)
        let p : [n]f64 = kernel i < n do
          let b : f64 = if c then let s : f64 = x[i] * 2.0f64 in s else let t : f64 = 1.0f64 in t
          in b
        in p";
    let mut random = Random::new(32);
    for c in [false, true] {
        check(text, &[size(70), Arg::Scalar(Scalar::bool(c)), array(ElemType::F64, &[70], &mut random)]);
    }
}

#[test]
fn mandelbrot() {
    let text = "region mandelbrot (h : i64, w : i64, limit : i32)
        let r : [h][w]i32 = kernel i < h, j < w do
          let cx : f32 = to_f32(j) * 3.0f32 / to_f32(w) - 2.0f32
          let cy : f32 = to_f32(i) * 2.0f32 / to_f32(h) - 1.0f32
          let (x : f32, y : f32, k : i32) = loop (zx : f32, zy : f32, it : i32) = (0.0f32, 0.0f32, 0i32)
            while zx * zx + zy * zy <= 4.0f32 && it < limit do
              let nx : f32 = zx * zx - zy * zy + cx
              let ny : f32 = 2.0f32 * zx * zy + cy
              in (nx, ny, it + 1i32)
          in k
        in r";
    for (h, w) in [(1, 1), (5, 33), (20, 70)] {
        check(text, &[size(h), size(w), Arg::Scalar(Scalar::new(I32, 50))]);
    }
}

#[test]
fn loops_with_bounds_that_vary_and_that_do_not() {
    let text = "region r (n : i64, m : i64, x : [n]i32)
        let (p : [n]i32, q : [n]i64, w : [n]i64) = kernel i < n do
          let a : i32 = loop (s : i32) = (x[i]) for j < m do in s * 3i32 + to_i32(j)
          let b : i64 = loop (t : i64) = (0) for k < i % 13 do in t + k * i
          let c : i64 = loop (u : i64) = (1) while u < m * 100 + i do in u * 3
          in (a, b, c)
        in (p, q, w)";
    let mut random = Random::new(33);
    check_sizes(text, SIZES, |n| vec![size(n), size(9), array(I32, &[n as i64], &mut random)]);
}

#[test]
fn nested_reductions_over_rows_and_columns() {
    let rows = "region rows (n : i64, m : i64, A : [n][m]f32)
        let r : [n]f32 = kernel i < n do
          let s : f32 = red j < m do let x : f32 = A[i, j] in x by (a : f32 = 0.0f32) (b : f32) do in a + b
          in s
        in r";
    let columns = "region columns (n : i64, m : i64, A : [n][m]f32)
        let r : [m]f32 = kernel j < m do
          let s : f32 = red i < n do let x : f32 = A[i, j] in x by (a : f32 = 0.0f32) (b : f32) do in a + b
          in s
        in r";
    let mut random = Random::new(34);
    let sizes = [0, 1, 3, 17, 40].into_iter().flat_map(|n| SIZES.map(|m| (n, m)));
    let launches: Vec<Vec<Arg>> =
        sizes.map(|(n, m)| vec![size(n), size(m), tame(F32, &[n as i64, m as i64], &mut random)]).collect();
    check_launches(rows, "", &launches, 1e-5);
    check_launches(columns, "", &launches, 1e-5);
}

#[test]
fn matrix_product() {
    let text = "region matmul (n : i64, m : i64, k : i64, A : [n][k]f64, B : [k][m]f64)
        let r : [n][m]f64 = kernel i < n, j < m do
          let s : f64 = red q < k do let x : f64 = A[i, q] * B[q, j] in x by (a : f64 = 0.0f64) (b : f64) do in a + b
          in s
        in r";
    let mut random = Random::new(35);
    for (n, m, k) in [(3, 5, 2), (17, 33, 9), (4, 100, 65), (1, 1, 1), (2, 3, 0)] {
        let a = tame(ElemType::F64, &[n as i64, k as i64], &mut random);
        let b = tame(ElemType::F64, &[k as i64, m as i64], &mut random);
        check_with(text, "", &[size(n), size(m), size(k), a, b], 1e-12);
    }
}

#[test]
fn reductions_with_every_associative_operator() {
    let mut random = Random::new(36);
    for &op in galopvm_base::ScalarOp::ALL.iter().filter(|op| op.info().associative) {
        for ty in ElemType::ALL.into_iter().filter(|t| op.accepts(*t)) {
            let Some(identity) = op.info().identity else { continue };
            let neutral = identity.of(ty);
            let text = format!(
                "region r (n : i64, x : [n]{ty})
                 let r : {ty} = red i < n do let y : {ty} = x[i] in y by (a : {ty} = {neutral}) (b : {ty}) do in {op}(a, b)
                 in r"
            );
            for n in [0, 1, 5, 64, 100, 10_000] {
                if ty == ElemType::F16 && n > 1 {
                    continue;
                }
                check_with(&text, "", &[size(n), tame(ty, &[n as i64], &mut random)], 1e-4);
            }
        }
    }
}

#[test]
fn reductions_of_tuples_and_of_two_axes() {
    let text = "region r (n : i64, m : i64, A : [n][m]i64)
        let (s : i64, t : i64, u : bool) = red i < n, j < m do
          let x : i64 = A[i, j]
          in (x, x * i, x % 2 == 0)
        by (a : i64 = 0, b : i64 = -9223372036854775808, c : bool = true) (d : i64, e : i64, f : bool) do
          in (a + d, max(b, e), c && f)
        in (s, t, u)";
    let mut random = Random::new(37);
    for (n, m) in [(0, 5), (5, 0), (1, 1), (7, 33), (300, 100)] {
        check(text, &[size(n), size(m), array(I64, &[n as i64, m as i64], &mut random)]);
    }
}

#[test]
fn a_general_operator() {
    let text = "region r (n : i64, x : [n]i64)
        let (v : i64, at : i64) = red i < n do let y : i64 = x[i] in (y, i)
        by (a : i64 = -9223372036854775808, b : i64 = -1) (c : i64, d : i64) do
          let (p : i64, q : i64) = if c > a then let g : i64 = c in (g, d) else let h : i64 = a in (h, b)
          in (p, q)
        in (v, at)";
    let mut random = Random::new(38);
    for n in [0, 1, 100, 30_000] {
        check(text, &[size(n), array(I64, &[n as i64], &mut random)]);
    }
}

#[test]
fn kernels_at_the_end_of_kernels() {
    let simple = "region r (n : i64, m : i64, A : [n][m]f64)
        let p : [n][m]f64 = kernel i < n do
          let row : [m]f64 = A[i]
          let least : f64 = red k < m do let x : f64 = row[k] in x by (a : f64 = f64.inf) (b : f64) do in min(a, b)
          let d : [m]f64 = kernel j < m do
            let y : f64 = row[j] - least
            in y
          in d
        in p";
    let mut random = Random::new(39);
    for (n, m) in [(0, 3), (3, 0), (1, 1), (5, 70), (70, 5), (130, 33)] {
        check(simple, &[size(n), size(m), tame(ElemType::F64, &[n as i64, m as i64], &mut random)]);
    }
    let three = "region r (n : i64, m : i64, A : [n]i64)
        let q : [n][m][3]i64 = kernel i < n do
          let x : i64 = A[i]
          let e : [m][3]i64 = kernel j < m do
            let y : i64 = x * j
            let w : [3]i64 = kernel l < 3 do let v : i64 = l + y in v
            in w
          in e
        in q";
    for (n, m) in [(1, 1), (5, 70), (70, 5), (300, 33)] {
        check(three, &[size(n), size(m), array(I64, &[n as i64], &mut random)]);
    }
}
