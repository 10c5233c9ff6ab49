//! Scans by any operator, in every mode, around every vector length, over and into every kind of view, by one thread and
//! by several.

use crate::support::operators::{OPERATORS, TYPES, sizes, small};
use crate::support::*;
use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_kir::{Listing, RunError};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

#[test]
fn any_operator() {
    for (number, operator) in OPERATORS.iter().enumerate() {
        for (round, ty) in TYPES.into_iter().enumerate() {
            if operator.body.contains("abs") {
                // What is left of one row alone may be negative.
                continue;
            }
            println!("{} of {ty}", operator.name);
            let mut random = Random::new((100 * number + round) as u64 + 1);
            let launches = sizes().map(|n| {
                let arrays = operator.neutral.iter().map(|_| small(ty, n, Layout::Contiguous, &mut random));
                [size(n)].into_iter().chain(arrays).collect()
            });
            check_launches(&operator.scan(ty), "", &launches.collect::<Vec<_>>(), 0.0);
        }
    }
}

#[test]
fn every_scalar_operation() {
    let mut random = Random::new(91);
    for op in ScalarOp::ALL.iter().copied().filter(|op| op.info().associative) {
        for ty in ElemType::ALL.into_iter().filter(|ty| op.accepts(*ty) && op.order_free(*ty)) {
            let Some(identity) = op.info().identity else { continue };
            let neutral = identity.of(ty);
            let text = format!(
                "region prefixes (n : i64, x : [n]{ty}, k : [n]bool)
                let (p : [n]{ty}, q : [n]{ty}) = scan i < n do
                  let y : {ty} = x[i]
                  in (y, select(k[n - 1 - i], y, {neutral}))
                by (a : {ty} = {neutral}, b : {ty} = {neutral}) (c : {ty}, d : {ty}) do in ({op}(a, c), {op}(b, d))
                in (q, p)"
            );
            check_sizes(&text, sizes(), |n| {
                let shape = [n as i64];
                vec![size(n), array(ty, &shape, &mut random), array(ElemType::Bool, &shape, &mut random)]
            });
        }
    }
}

#[test]
fn sums_of_floats() {
    let mut random = Random::new(92);
    for ty in [ElemType::F32, ElemType::F64] {
        let text = format!(
            "region sums (n : i64, x : [n]{ty}, y : [n]{ty})
            let (p : [n]{ty}, q : [n]{ty}) = scan i < n do in (x[i] * y[i], x[i] + 1.0{ty})
            by (a : {ty} = 0.0{ty}, b : {ty} = 1.0{ty}) (c : {ty}, d : {ty}) do in (a + c, b * d)
            in (p, q)"
        );
        let region = region(&text);
        for n in sizes().filter(|n| *n < 2000) {
            let shape = [n as i64];
            let args = vec![size(n), tame(ty, &shape, &mut random), tame(ty, &shape, &mut random)];
            check_with(&text, "", &args, 1e-3);
            for cpu in modes() {
                let code = compile(&region, "", &args, cpu, true).unwrap_or_else(|e| panic!("{cpu}: {e}"));
                let got = run(&region, code.as_ref(), &args);
                let title = format!("strict {cpu}");
                compare(&region, &title, &reference(&region, &args), &got, 0.0, code.as_ref());
            }
        }
    }
}

/// Maxima with no numbers among them, in arrays of every layout; one of the results is not wanted.
#[test]
fn any_view_and_a_part_of_the_results() {
    let text = "region prefixes (n : i64, x : [n]f32, y : [n]i16, z : [n]f64)
        let (p : [n]f32, q : [n]i16, r : [n]f64) = scan i < n do in (x[i], y[i] * 3i16, z[n - 1 - i])
        by (a : f32 = -f32.inf, b : i16 = 0i16, c : f64 = f64.inf) (d : f32, e : i16, f : f64) do
          in (max(a, d), b + e, min(c, f))
        in (r, p)";
    let mut random = Random::new(93);
    let mut launches: Vec<Vec<Arg>> = Vec::new();
    for n in sizes() {
        for (number, layout) in Layout::ALL.into_iter().enumerate() {
            let others = [1, 3].map(|step| Layout::ALL[(number + step) % Layout::ALL.len()]);
            launches.push(vec![
                size(n),
                small(ElemType::F32, n, layout, &mut random),
                small(ElemType::I16, n, others[0], &mut random),
                small(ElemType::F64, n, others[1], &mut random),
            ]);
        }
    }
    check_launches(text, "", &launches, 0.0);
}

/// Loops and traps in what is scanned and in the operator.
#[test]
fn loops_and_traps() {
    let mut random = Random::new(94);
    for operator in ["in a + b", "in (a * b) / 1i64 + 100 / (b - k) * 0", "let e : i64 = a + b in e"] {
        let text = format!(
            "region steps (n : i64, k : i64, x : [n]i64)
            let p : [n]i64 = scan i < n do
              let (m : i64, c : i64) = loop (m1 : i64, c1 : i64) = (x[i] & 255, 0) while m1 > 1 do
                in (select(m1 % 2 == 0, m1 / 2, 3 * m1 + 1), c1 + 1)
              in c + 100 / (x[i] - k)
            by (a : i64 = 0) (b : i64) do {operator}
            in p"
        );
        let region = region(&text);
        for n in sizes().filter(|n| *n < 2000) {
            let args = [size(n), size(1 << 40), array(ElemType::I64, &[n as i64], &mut random)];
            check(&text, &args);
            let Arg::Array(_, data, _) = &args[2] else { unreachable!("an array") };
            let Some(k) = data.get(n / 2) else { continue };
            let args = [size(n), Arg::Scalar(Scalar::new(ElemType::I64, *k)), args[2].clone()];
            assert!(reference(&region, &args).is_err());
            check(&text, &args);
        }
    }
}

/// Many pieces in a chain, results past the caches.
#[test]
fn long_scans() {
    let mut random = Random::new(95);
    let operator =
        OPERATORS.iter().find(|operator| operator.name.starts_with("affine")).expect("it is there");
    let sum = "region sum (n : i64, x : [n]i32)
        let p : [n]i32 = scan i < n do in x[i] by (a : i32 = 0i32) (b : i32) do in a + b
        in p";
    for n in [20_000, 100_003] {
        let arrays = [(); 2].map(|()| array(ElemType::I32, &[n as i64], &mut random));
        check(sum, &[size(n), arrays[0].clone()]);
        let [x, y] = arrays;
        check(&operator.scan(ElemType::I32), &[size(n), x, y]);
    }
}

#[test]
fn a_scan_is_stopped() {
    let mut random = Random::new(96);
    for by in ["in a + b", "in a * b + b"] {
        let text = format!(
            "region r (n : i64, m : i64, x : [n]i64)
            let p : [n]i64 = scan i < n do
              let s : i64 = loop (t : i64) = (0) while t < m do in t + 1
              in s + x[i]
            by (a : i64 = 0) (b : i64) do {by}
            in p"
        );
        let region = region(&text);
        for cpu in modes() {
            for n in [1, 100] {
                let args = [size(n), size(1 << 60), array(ElemType::I64, &[n as i64], &mut random)];
                let code = compile(&region, "", &args, cpu, false).unwrap_or_else(|e| panic!("{cpu}: {e}"));
                let asked = AtomicU32::new(0);
                let stop = || asked.fetch_add(1, Relaxed) >= 6;
                let ended = run_until(&region, code.as_ref(), &args, &stop);
                assert_eq!(ended, Err(RunError::Stopped), "{cpu}\n{text}");
            }
        }
    }
}

#[test]
fn lanes_are_used_for_scalar_operations() {
    let text = "region sum (n : i64, x : [n]i32)
        let p : [n]i32 = scan i < n do in x[i] by (a : i32 = 0i32) (b : i32) do in a + b
        in p";
    let region = region(text);
    let args = [size(0), array(ElemType::I32, &[0], &mut Random::new(1))];
    for cpu in modes() {
        let code = compile(&region, "", &args, cpu, false).unwrap_or_else(|e| panic!("{cpu}: {e}"));
        let listing = code.listing(Listing::Lir).expect("it has a listing");
        assert_eq!(listing.contains("move_up"), cpu.vectors().lanes > 1, "{cpu}\n{listing}");
    }
}
