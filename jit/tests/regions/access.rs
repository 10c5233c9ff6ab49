//! Reads through every kind of view, and traps.

use crate::support::*;
use galopvm_base::{ElemType, Scalar};
use galopvm_jit::CpuMode;
use galopvm_kir::{Listing, RunError};
use galopvm_lmad::{Dim, Lmad};

fn block(ty: ElemType, count: usize, random: &mut Random) -> Vec<u64> {
    (0..count).map(|_| value_of(ty, random)).collect()
}

/// Views of shape n x m in a block of their own.
fn views(n: i64, m: i64) -> Vec<Lmad> {
    let dims = |a: i64, b: i64| [Dim::new(n, a), Dim::new(m, b)];
    vec![
        Lmad::new(0, dims(m, 1)),
        Lmad::new(3, dims(m, 1)),
        Lmad::new(0, dims(1, n)),
        Lmad::new((m - 1).max(0), dims(m, -1)),
        Lmad::new((n - 1).max(0) * m, dims(-m, 1)),
        Lmad::new((n - 1).max(0), dims(-1, n)),
        Lmad::new(1, dims(2 * m, 2)),
        Lmad::new(2, dims(0, 1)),
        Lmad::new(2, dims(1, 0)),
        Lmad::new(5, dims(0, 0)),
        Lmad::new(0, dims(3 * m + 1, 3)),
    ]
}

#[test]
fn every_view_of_every_type() {
    let mut random = Random::new(41);
    for ty in ElemType::ALL {
        let text = format!(
            "region r (n : i64, m : i64, A : [n][m]{ty}, B : [n][m]{ty})
             let (p : [n][m]{ty}, q : [m][n]{ty}) = kernel i < n, j < m do let x : {ty} = A[i, j] let y : {ty} = B[i, j] in (x, y)
             in (p, q)"
        );
        let text = text.replace(", q : [m][n]", ", q : [n][m]");
        // Rows are cut for threads, and columns.
        for sizes in [&[(4, 0), (1, 1), (40, 1), (9, 35)][..], &[(0, 4), (1, 40), (3, 200)]] {
            let mut launches = Vec::new();
            for &(n, m) in sizes {
                let shapes = views(n, m);
                for (k, view) in shapes.iter().enumerate() {
                    let other = &shapes[(k + 3) % shapes.len()];
                    let count = (6 * (n + 1) * (m + 1) + 50) as usize;
                    let a = Arg::Array(ty, block(ty, count, &mut random), view.clone());
                    let b = Arg::Array(ty, block(ty, count, &mut random), other.clone());
                    launches.push(vec![size(n as usize), size(m as usize), a, b]);
                }
            }
            check_launches(&text, "", &launches, 0.0);
        }
    }
}

#[test]
fn every_lane_axis_and_thread_axis() {
    let text = "region r (n : i64, m : i64, A : [m][n]f32, v : [m]i16)
        let (p : [n][m]f32, q : [n][m]i16) = kernel i < n, j < m do
          let x : f32 = A[j, i] + to_f32(i)
          let y : i16 = v[j] + to_i16(i)
          in (x, y)
        in (p, q)";
    let mut random = Random::new(42);
    for plan in [
        "",
        "plan\n  lane i : a test",
        "plan\n  lane j : a test",
        "plan\n  threads j : a test\n  lane j : a test",
    ] {
        for (n, m) in [(5, 70), (70, 5), (33, 34), (200, 100)] {
            let a = array(ElemType::F32, &[m as i64, n as i64], &mut random);
            let v = array(ElemType::I16, &[m as i64], &mut random);
            check_with(text, plan, &[size(n), size(m), a, v], 0.0);
        }
    }
}

#[test]
fn computed_indices() {
    let mut random = Random::new(43);
    for ty in ElemType::ALL {
        let text = format!(
            "region r (n : i64, k : i64, idx : [n]i32, x : [k]{ty})
             let (p : [n]{ty}, q : [n]{ty}) = kernel i < n do
               let at : i64 = to_i64(idx[i])
               let y : {ty} = x[at]
               let z : {ty} = x[(i * 7 + 3) % k]
               in (y, z)
             in (p, q)"
        );
        check_sizes(&text, SIZES, |n| {
            let k = 77u64;
            let indices = (0..n).map(|_| random.bits() % k).collect();
            let idx = Arg::Array(ElemType::I32, indices, Lmad::row_major(&[n as i64]));
            vec![size(n), size(k as usize), idx, array(ty, &[k as i64], &mut random)]
        });
    }
}

#[test]
fn every_second_element() {
    let mut random = Random::new(46);
    for ty in ElemType::ALL {
        // The last element that is read is the last one there is.
        for (start, more) in [(0, -1), (1, 0)] {
            let text = format!(
                "region r (n : i64, k : i64, x : [k]{ty})
                 let p : [n]{ty} = kernel i < n do let y : {ty} = x[i * 2 + {start}] in y
                 in p"
            );
            check_sizes(&text, SIZES, |n| {
                let k = (2 * n as i64 + more).max(0);
                vec![size(n), size(k as usize), array(ty, &[k], &mut random)]
            });
        }
    }
    let text = "region r (n : i64, x : [2000]f32)
        let p : [n]f32 = kernel i < n do in x[i * 2] + x[i * 2 + 1]
        in p";
    let args = [size(900), array(ElemType::F32, &[2000], &mut random)];
    for cpu in modes() {
        let code = compile(&region(text), "", &args, cpu, false).unwrap_or_else(|e| panic!("{cpu}: {e}"));
        let lir = code.listing(Listing::Lir).expect("it has a listing");
        assert_eq!(lir.contains("alternate"), cpu != CpuMode::Scalar, "{cpu}\n{lir}");
    }
}

#[test]
fn a_stencil_with_guards() {
    let text = "region r (n : i64, x : [n]f64)
        let p : [n]f64 = kernel i < n do
          let l : f64 = if i > 0 then let a : f64 = x[i - 1] in a else let b : f64 = 0.0f64 in b
          let u : f64 = if i < n - 1 then let c : f64 = x[i + 1] in c else let d : f64 = 0.0f64 in d
          in l + u
        in p";
    let mut random = Random::new(44);
    check_sizes(text, SIZES, |n| vec![size(n), tame(ElemType::F64, &[n as i64], &mut random)]);
}

fn traps(text: &str, args: &[Arg], expected: bool) {
    let region = region(text);
    assert_eq!(reference(&region, args).is_err(), expected, "{text}");
    for cpu in modes() {
        let code = compile(&region, "", args, cpu, false).unwrap_or_else(|e| panic!("{e}"));
        let got = run(&region, code.as_ref(), args);
        assert_eq!(got == Err(RunError::Trap), expected, "{cpu}\n{text}");
    }
}

#[test]
fn reads_outside_trap_where_they_happen() {
    let shifted = "region r (n : i64, d : i64, x : [n]i32)
        let p : [n]i32 = kernel i < n do let a : i32 = x[i + d] in a
        in p";
    let guarded = "region r (n : i64, d : i64, x : [n]i32)
        let p : [n]i32 = kernel i < n do
          let a : i32 = if i + d < n then let b : i32 = x[i + d] in b else let c : i32 = 0i32 in c
          in a
        in p";
    let fixed = "region r (n : i64, d : i64, x : [n]i32)
        let p : [n]i32 = kernel i < n do let a : i32 = x[d] in a
        in p";
    let mut random = Random::new(45);
    for n in [1, 8, 33, 100] {
        let x = array(ElemType::I32, &[n], &mut random);
        for d in [0i64, 1, -1, n, 1 << 62] {
            let args = [size(n as usize), Arg::Scalar(Scalar::i64(d)), x.clone()];
            traps(shifted, &args, d != 0);
            traps(guarded, &args, d < 0 || d == 1 << 63);
            traps(fixed, &args, d < 0 || d >= n);
        }
    }
}

#[test]
fn zero_divisors_trap_where_they_happen() {
    let plain = "region r (n : i64, x : [n]i32)
        let p : [n]i32 = kernel i < n do let a : i32 = 100i32 / x[i] in a
        in p";
    let guarded = "region r (n : i64, x : [n]i32)
        let p : [n]i32 = kernel i < n do
          let a : i32 = if x[i] != 0i32 then let b : i32 = 100i32 % x[i] in b else let c : i32 = 7i32 in c
          in a
        in p";
    for n in [1usize, 8, 33, 100] {
        for zero in [None, Some(0), Some(n - 1), Some(n / 2)] {
            let data = (0..n).map(|k| if Some(k) == zero { 0 } else { k as u64 + 1 }).collect();
            let args = [size(n), Arg::Array(ElemType::I32, data, Lmad::row_major(&[n as i64]))];
            traps(plain, &args, zero.is_some());
            traps(guarded, &args, false);
        }
    }
}

/// Assertions are divisions by a truth value, errors divisions by the constant 0.
#[test]
fn broken_assertions_trap_where_they_happen() {
    let asserted = "region r (n : i64, x : [n]i32)
        let p : [n]i32 = kernel i < n do let a : i32 = x[i] let t : i64 = 1 / to_i64(a < 50i32) in a
        in p";
    let failed = "region r (n : i64, x : [n]i32)
        let p : [n]i32 = kernel i < n do
          let a : i32 = if x[i] < 50i32 then let b : i32 = x[i] in b else let t : i64 = 1 / 0 in 0i32
          in a
        in p";
    let in_loop = "region r (n : i64, x : [n]i32)
        let p : [n]i32 = kernel i < n do
          let s : i32 = loop (acc : i32) = (0i32) for j < n do
            let t : i64 = 1 / to_i64(x[j] < 50i32)
            in acc + x[j]
          in s + x[i]
        in p";
    let always = "region r (n : i64, x : [n]i32)
        let p : [n]i32 = kernel i < n do let t : i64 = 1 / 0 in x[i]
        in p";
    for n in [1usize, 8, 33, 100] {
        for bad in [None, Some(0), Some(n - 1), Some(n / 2)] {
            let data = (0..n).map(|k| if Some(k) == bad { 50 } else { k as u64 % 50 }).collect();
            let args = [size(n), Arg::Array(ElemType::I32, data, Lmad::row_major(&[n as i64]))];
            traps(asserted, &args, bad.is_some());
            traps(failed, &args, bad.is_some());
            traps(in_loop, &args, bad.is_some());
            traps(always, &args, true);
        }
    }
}

#[test]
fn rows_and_slices_by_name() {
    let text = "region r (n : i64, m : i64, A : [n][m]f32, d : i64, c : i64)
        let (p : [n]f32, q : [n]f32) = kernel i < n do
          let row : [m]f32 = A[i]
          let part : [c]f32 = A[n - 1 - i, d :+ c * 2]
          let s : f32 = red j < m do let x : f32 = row[j] in x by (a : f32 = 0.0f32) (b : f32) do in max(a, b)
          let t : f32 = red k < c do let y : f32 = part[k] * to_f32(k) in y by (e : f32 = 0.0f32) (f : f32) do in max(e, f)
          in (s, t)
        in (p, q)";
    let mut random = Random::new(46);
    for plan in ["", "plan\n  lane i : a test"] {
        for (n, m, d, c, good) in [
            (5, 40, 3, 10, true),
            (40, 9, 0, 5, true),
            (3, 8, 0, 5, false),
            (3, 8, -1, 2, false),
            (3, 8, 9, 0, true),
            (3, 8, 0, -1, false),
            (3, 8, i64::MAX, 1, false),
        ] {
            let a = tame(ElemType::F32, &[n, m], &mut random);
            let int = |k: i64| Arg::Scalar(Scalar::i64(k));
            let args = [int(n), int(m), a, int(d), int(c)];
            let region = region(text);
            assert_eq!(reference(&region, &args).is_ok(), good);
            check_with(text, plan, &args, 0.0);
        }
    }
}
