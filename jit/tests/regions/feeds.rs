//! Scans that are read as they are computed, by kernels and scatters, in every mode, around every vector length, over every kind of
//! view, by one thread and by several.

use crate::support::operators::{TYPES, sizes, small};
use crate::support::*;
use galopvm_base::{ElemType, Scalar};
use galopvm_kir::{Listing, RunError};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The places of a stable partition, and what lies there; `SHIFT` makes some lie outside or twice.
const PARTITION: &str = "region split (n : i64, m : i64, below : i64, K : [n]TY, D : [m]TY, E : [m]TY)
    let (p : [n]i64, q : [n]i64) = scan i < n do
      let one = to_i64(K[i]) & 1
      in (1 - one, one)
    by (a : i64 = 0, b : i64 = 0) (c : i64, d : i64) do in (a + c, b + d)
    let (r : [m]TY, s : [m]TY) = scatter (D, E) j < n do
      let odd = to_i64(K[j]) & 1
      let at : i64 = select(odd == 0, p[j] - 1, below + q[j] - 1)
      in (SHIFT, K[j], to_TY(p[j]))
    in (s, r)";

#[test]
fn scatters_in_the_order_of_the_scan() {
    for (round, ty) in TYPES.into_iter().enumerate() {
        for shift in ["at", "at - 3", "at & 15", "at * 5", "to_i64(K[j])"] {
            let text = PARTITION.replace("SHIFT", shift).replace("TY", &ty.to_string());
            let mut random = Random::new(10 + round as u64);
            for (number, layout) in Layout::ALL.into_iter().enumerate() {
                let launches: Vec<Vec<Arg>> = sizes()
                    .filter(|n| *n < 600)
                    .map(|n| {
                        let keys = small(ty, n, layout, &mut random);
                        let extent = [n, 16, 0, n / 2][(n + number) % 4];
                        let [first, second] =
                            [(); 2].map(|()| small(ty, extent, Layout::Contiguous, &mut random));
                        vec![size(n), size(extent), size(n / 2), keys, first, second]
                    })
                    .collect();
                check_launches(&text, "", &launches, 0.0);
            }
        }
    }
}

/// Rows and columns of a matrix.
#[test]
fn scatters_into_matrices() {
    let text = "region put (n : i64, h : i64, w : i64, X : [n]i32, D : [h][w]f32)
        let p : [n]i32 = scan i < n do in X[i] by (a : i32 = 0i32) (b : i32) do in a + b
        let r : [h][w]f32 = scatter D j < n do
          let at : i32 = p[j] & 63i32
          in (to_i64(at) / 8 - 1, to_i64(at) % 8 - 1, to_f32(X[j]))
        in r";
    let mut random = Random::new(20);
    check_sizes(text, sizes(), |n| {
        let of = |shape: &[i64], ty, random: &mut Random| array(ty, shape, random);
        let numbers = of(&[n as i64], ElemType::I32, &mut random);
        vec![size(n), size(6), size(7), numbers, tame(ElemType::F32, &[6, 7], &mut random)]
    });
}

#[test]
fn histograms_in_the_order_of_the_scan() {
    let text = "region count (n : i64, m : i64, X : [n]i64, D : [m]i64)
        let p : [n]i64 = scan i < n do in X[i] & 3 by (a : i64 = 0) (b : i64) do in a + b
        let r : [m]i64 = hist D j < n do in (p[j] & 15, X[j]) by (c : i64 = 0) (d : i64) do in c * 3 + d
        in r";
    let mut random = Random::new(21);
    check_sizes(text, sizes(), |n| {
        let arrays = [n as i64, 13].map(|extent| array(ElemType::I64, &[extent], &mut random));
        let [numbers, old] = arrays;
        vec![size(n), size(13), numbers, old]
    });
}

#[test]
fn kernels_in_the_lanes_of_the_scan() {
    for (round, ty) in TYPES.into_iter().enumerate() {
        for operator in ["max(a, c)", "a | c"] {
            let text = format!(
                "region after (n : i64, k : i64, X : [n]{ty}, Y : [n]{ty}, Z : [n]{ty})
                let (p : [n]{ty}, q : [n]{ty}) = scan i < n do in (X[i], Y[i] & 7{ty})
                by (a : {ty} = LEAST, b : {ty} = 0{ty}) (c : {ty}, d : {ty}) do in (OP, b + d)
                let (r : [n]i64, s : [n]{ty}) = kernel j < n do
                  let t : {ty} = if p[j] > q[j] then in p[j] - Z[j] else in q[j] * Z[n - 1 - j]
                  in (j + k, t + p[j])
                in (s, r)"
            );
            let least = if operator == "a | c" { format!("0{ty}") } else { least_of(ty) };
            let text = text.replace("LEAST", &least).replace("OP", operator);
            let mut random = Random::new(30 + round as u64);
            let mut launches: Vec<Vec<Arg>> = Vec::new();
            for n in sizes() {
                for (number, layout) in Layout::ALL.into_iter().enumerate() {
                    let other = Layout::ALL[(number + 2) % Layout::ALL.len()];
                    let arrays = [layout, other, layout].map(|layout| small(ty, n, layout, &mut random));
                    launches.push([size(n), size(5)].into_iter().chain(arrays).collect());
                }
            }
            check_launches(&text, "", &launches, 0.0);
        }
    }
}

fn least_of(ty: ElemType) -> String {
    let least = if ty.is_signed() { 1u64 << (8 * ty.bytes() - 1) } else { 0 };
    Scalar::new(ty, least).to_string()
}

/// Sums of floats may be combined in another order; with strict floats every bit is that of the reference.
#[test]
fn means_of_floats() {
    let mut random = Random::new(40);
    for ty in [ElemType::F32, ElemType::F64] {
        let text = format!(
            "region means (n : i64, x : [n]{ty})
            let p : [n]{ty} = scan i < n do in x[i] * 0.5{ty} by (a : {ty} = 0.0{ty}) (b : {ty}) do in a + b
            let m : [n]{ty} = kernel j < n do in p[j] / to_{ty}(j + 1)
            in m"
        );
        let region = region(&text);
        for n in sizes().chain([20_000, 100_003]) {
            let args = [size(n), tame(ty, &[n as i64], &mut random)];
            check_with(&text, "", &args, 1e-3);
            for cpu in modes() {
                let code = compile(&region, "", &args, cpu, true).unwrap_or_else(|e| panic!("{cpu}: {e}"));
                let got = run(&region, code.as_ref(), &args);
                compare(
                    &region,
                    &format!("strict {cpu}"),
                    &reference(&region, &args),
                    &got,
                    0.0,
                    code.as_ref(),
                );
            }
        }
    }
}

/// A trap in what is scanned, in the operator's reader, and a read that leaves its array.
#[test]
fn traps() {
    let mut random = Random::new(50);
    for (scanned, given) in
        [("100 / (X[i] - k)", "p[j]"), ("X[i]", "100 / (X[j] - k) + p[j]"), ("X[i]", "X[p[j]]")]
    {
        for reader in ["kernel j < n do in GIVEN", "scatter X j < n do in (j, GIVEN)"] {
            let text = format!(
                "region traps (n : i64, k : i64, X : [n]i64)
                let p : [n]i64 = scan i < n do in {scanned} by (a : i64 = 0) (b : i64) do in a + b
                let r : [n]i64 = {}
                in r",
                reader.replace("GIVEN", given)
            );
            let region = region(&text);
            for n in sizes().filter(|n| (1..600).contains(n)) {
                let args = [size(n), size(1 << 40), array(ElemType::I64, &[n as i64], &mut random)];
                check(&text, &args);
                let Arg::Array(_, data, _) = &args[2] else { unreachable!("an array") };
                let k = Arg::Scalar(Scalar::new(ElemType::I64, data[n / 2]));
                let args = [size(n), k, args[2].clone()];
                if given != "X[p[j]]" {
                    assert!(reference(&region, &args).is_err());
                }
                check(&text, &args);
            }
        }
    }
}

#[test]
fn they_are_stopped() {
    let text = "region long (n : i64, m : i64, X : [n]i64, D : [n]i64)
        let p : [n]i64 = scan i < n do
          let s : i64 = loop (t : i64) = (0) while t < m do in t + 1
          in s + X[i]
        by (a : i64 = 0) (b : i64) do in a + b
        let r : [n]i64 = scatter D j < n do in (p[j], j)
        in r";
    let mut random = Random::new(60);
    let region = region(text);
    for cpu in modes() {
        let arrays = [(); 2].map(|()| array(ElemType::I64, &[100], &mut random));
        let args: Vec<Arg> = [size(100), size(1 << 60)].into_iter().chain(arrays).collect();
        let code = compile(&region, "", &args, cpu, false).unwrap_or_else(|e| panic!("{cpu}: {e}"));
        let asked = AtomicU32::new(0);
        let stop = || asked.fetch_add(1, Relaxed) >= 6;
        assert_eq!(run_until(&region, code.as_ref(), &args, &stop), Err(RunError::Stopped), "{cpu}");
    }
}

/// What is read elsewhere than at its own index, or by somebody else, does not run with its reader.
#[test]
fn other_readers_are_refused() {
    let scan = "let p : [n]i64 = scan i < n do in X[i] by (a : i64 = 0) (b : i64) do in a + b";
    for rest in [
        "let r : [n]i64 = kernel j < n do in p[j] + p[n - 1 - j] in r",
        "let r : [n]i64 = kernel j < n do in p[j] in (r, p)",
        "let r : [m]i64 = kernel j < m do in p[j] in r",
        "let r : [n]i64 = scatter p j < n do in (p[j], j) in r",
        "let r : [n]i64 = kernel j < n do let s : i64 = red k < n do in p[k] by (c : i64 = 0) (d : i64) do in c + d in s in r",
    ] {
        let text = format!("region other (n : i64, m : i64, X : [n]i64)\n{scan}\n{rest}");
        let region = region(&text);
        let args = [size(4), size(4), array(ElemType::I64, &[4], &mut Random::new(1))];
        for cpu in modes() {
            let refusal = compile(&region, "", &args, cpu, false).err().map(|refusal| refusal.reason);
            assert!(refusal.is_some_and(|reason| reason.contains("several statements")), "{cpu}\n{text}");
        }
    }
}

#[test]
fn lanes_are_used() {
    let text = PARTITION.replace("SHIFT", "at").replace("TY", "u32");
    let region = region(&text);
    let args = |n: usize| {
        let arrays = [(); 3].map(|()| small(ElemType::U32, n, Layout::Contiguous, &mut Random::new(1)));
        [size(n), size(n), size(n / 2)].into_iter().chain(arrays).collect::<Vec<Arg>>()
    };
    for cpu in modes() {
        let code = compile(&region, "", &args(4), cpu, false).unwrap_or_else(|e| panic!("{cpu}: {e}"));
        let listing = code.listing(Listing::Lir).expect("it has a listing");
        assert_eq!(listing.contains("scatter_each"), cpu.vectors().lanes > 1, "{cpu}\n{listing}");
    }
}
