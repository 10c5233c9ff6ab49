//! Loops ask whether to go on, wherever they stand, and go on as if nobody had asked.

use crate::support::*;
use galopvm_base::ElemType;
use galopvm_kir::RunError;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// More turns than anybody waits for.
const ENDLESS: usize = 1 << 60;

/// Bodies of an element that would run for years, over `m` turns and the element `a`.
const ENDLESS_BODIES: &[&str] = &[
    "let s : i64 = loop (t : i64) = (a) for j < m do in t * 3 + j in s",
    "let s : i64 = loop (t : i64) = (a) for j < m + i do in t * 3 + j in s",
    "let s : i64 = loop (t : i64) = (0) while t < m do in t + 1 in s",
    "let s : i64 = loop (t : i64) = (0) while t < m + i do in t + 1 in s",
    "let s : i64 = red j < m do let b : i64 = j * a in b by (u : i64 = 0) (v : i64) do in u + v in s",
    "let s : i64 = red j < m + i do let b : i64 = j * a in b by (u : i64 = 0) (v : i64) do in u + v in s",
    "let s : i64 = loop (t : i64) = (a) for j < m do
        let r : i64 = loop (u : i64) = (t) for k < 3 do in u * 5 + k in r in s",
    "let s : i64 = loop (t : i64) = (a) for j < m do
        let r : i64 = loop (u : i64) = (t) for k < n do in u * 5 + k in r in s",
    "let s : i64 = loop (t : i64) = (a) for j < m do
        let c : i64 = if t == j then let d : i64 = red k < n do let e : i64 = k in e by (u : i64 = 0) (v : i64) do in u + v in d
          else let f : i64 = t + 1 in f
        in c in s",
];

fn text(body: &str) -> String {
    format!(
        "region r (n : i64, m : i64, x : [n]i64)
        let p : [n]i64 = kernel i < n do
          let a : i64 = x[i]
          {body}
        in p"
    )
}

#[test]
fn an_element_that_never_ends_is_stopped() {
    let mut random = Random::new(71);
    for body in ENDLESS_BODIES {
        let text = text(body);
        let region = region(&text);
        for (cpu, n) in modes().flat_map(|cpu| [(cpu, 1), (cpu, 40)]) {
            let args = [size(n), size(ENDLESS), array(ElemType::I64, &[n as i64], &mut random)];
            let code =
                compile(&region, "", &args, cpu, false).unwrap_or_else(|e| panic!("{cpu}: {e}\n{text}"));
            let asked = AtomicU32::new(0);
            let stop = || asked.fetch_add(1, Relaxed) >= 6;
            assert_eq!(
                run_until(&region, code.as_ref(), &args, &stop),
                Err(RunError::Stopped),
                "{cpu}\n{text}"
            );
        }
    }
}

#[test]
fn a_reduction_that_cannot_be_cut_is_stopped() {
    let text = "region r (m : i64)
        let s : i64 = red j < m do let b : i64 = j * j in b
          by (u : i64 = 0) (v : i64) do in u * 3 + v
        in s";
    let region = region(text);
    for cpu in modes() {
        let args = [size(ENDLESS)];
        let code = compile(&region, "", &args, cpu, false).unwrap_or_else(|e| panic!("{cpu}: {e}\n{text}"));
        let asked = AtomicU32::new(0);
        let stop = || asked.fetch_add(1, Relaxed) >= 6;
        assert_eq!(run_until(&region, code.as_ref(), &args, &stop), Err(RunError::Stopped), "{cpu}");
    }
}

#[test]
fn scatters_and_histograms_are_stopped() {
    for writes in [
        "scatter D i < m do in (i % 7, i)",
        "scatter D i < m do let b : i64 = (i / 3 + i % 5) / (i % 2 + 1) in (b % 7, b)",
        "hist D i < m do in (i % 7, i) by (u = 0) (v) do in u * 3 + v",
        "hist D i < m do in (i % 7, i) by (u = 0) (v) do in u + v",
        "scatter D i < 7, j < m do in (i, j)",
    ] {
        let text = format!("region r (m : i64, D : [7]i64)\n let r = {writes}\n in r");
        let region = region(&text);
        let args = [size(ENDLESS), array(ElemType::I64, &[7], &mut Random::new(73))];
        for cpu in modes() {
            let code =
                compile(&region, "", &args, cpu, false).unwrap_or_else(|e| panic!("{cpu}: {e}\n{text}"));
            let asked = AtomicU32::new(0);
            let stop = || asked.fetch_add(1, Relaxed) >= 6;
            let ended = run_until(&region, code.as_ref(), &args, &stop);
            assert_eq!(ended, Err(RunError::Stopped), "{cpu}\n{text}");
        }
    }
}

#[test]
fn whoever_goes_on_computes_the_same() {
    let text = "region r (n : i64, m : i64, x : [n]f32, y : [n]i64)
        let (p : [n]f32, q : [n]i64) = kernel i < n do
          let (a : f32, b : i64) = loop (f : f32, s : i64) = (x[i], y[i]) for j < m do
            in (f * 0.5f32 + to_f32(i), s * 3 + j)
          let (c : f32, d : i64, e : i64) = loop (g : f32, u : i64, t : i64) = (a, b, 0) while t < m + i do
            in (g * 0.25f32 + a, u * 5 + t, t + 1)
          in (c, d)
        in (p, q)";
    let region = region(text);
    let (n, m) = (37, 300_000);
    let mut random = Random::new(72);
    let args = [
        size(n),
        size(m),
        tame(ElemType::F32, &[n as i64], &mut random),
        array(ElemType::I64, &[n as i64], &mut random),
    ];
    let (Arg::Array(_, x, _), Arg::Array(_, y, _)) = (&args[2], &args[3]) else { unreachable!("two arrays") };
    let mut expected = (Vec::new(), Vec::new());
    for i in 0..n {
        let (mut f, mut s) = (f32::from_bits(x[i] as u32), y[i]);
        for j in 0..m {
            (f, s) = (f * 0.5 + i as f32, s.wrapping_mul(3).wrapping_add(j as u64));
        }
        let a = f;
        for t in 0..m + i {
            (f, s) = (f * 0.25 + a, s.wrapping_mul(5).wrapping_add(t as u64));
        }
        expected.0.push(u64::from(f.to_bits()));
        expected.1.push(s);
    }
    for cpu in modes() {
        let code = compile(&region, "", &args, cpu, true).unwrap_or_else(|e| panic!("{cpu}: {e}\n{text}"));
        let asked = AtomicU32::new(0);
        let stop = || {
            // Whatever a host does with registers is no matter.
            asked.fetch_add(1, Relaxed);
            (0..64).map(|k| f64::from(k).sqrt()).sum::<f64>() < 0.0
        };
        let got = run_until(&region, code.as_ref(), &args, &stop).expect("it goes on");
        assert_eq!((&got[0], &got[1]), (&expected.0, &expected.1), "{cpu}");
        assert!(asked.load(Relaxed) > 3, "{cpu}: {asked:?}");
    }
}
