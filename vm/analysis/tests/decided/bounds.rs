//! Proofs about reads against brute force: random index expressions over two axes and a scalar, under a random
//! condition, executed by the reference evaluator. A read that is proven must never trap.

use galopvm_analysis::bounds::bounds;
use galopvm_base::{ElemType, Scalar};
use galopvm_kir::evaluate::{Value, evaluate};
use galopvm_kir::text::parse_region;
use galopvm_kir::{Observed, ObservedParam, RunError, VerifiedRegion, types, verify};
use galopvm_lmad::Lmad;
use galopvm_testkit::Random;

/// An expression over `i`, `j`, `s`; divisors are constants other than 0.
fn expression(random: &mut Random, depth: u32) -> String {
    if depth == 0 {
        return match random.below(5) {
            0 | 1 => "i".into(),
            2 => "j".into(),
            3 => "s".into(),
            _ => random.between(-4, 6).to_string(),
        };
    }
    let a = expression(random, depth - 1);
    let deeper = random.below(depth);
    let b = expression(random, deeper);
    let divisor = *random.pick(&[-5, -2, 1, 2, 3, 7]);
    match random.below(14) {
        0 | 1 => format!("({a} + {b})"),
        2 | 3 => format!("({a} - {b})"),
        4 => format!("({a} * {b})"),
        5 => format!("min({a}, {b})"),
        6 => format!("max({a}, {b})"),
        7 => format!("({a} / {divisor})"),
        8 => format!("({a} % {divisor})"),
        9 => format!("({a} %% {divisor})"),
        10 => format!("select({a} < {b}, {a}, {b})"),
        11 => format!("to_i64(to_i8({a}))"),
        12 => format!("abs({a})"),
        _ => format!("({a} & 7)"),
    }
}

fn condition(random: &mut Random) -> String {
    let mut part = || {
        let sign = *random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        match random.below(3) {
            0 => format!("x {sign} {}", random.between(-3, 8)),
            1 => format!("x + 1 {sign} s"),
            _ => format!("s {sign} x"),
        }
    };
    let (a, b) = (part(), part());
    match random.below(3) {
        0 => a,
        1 => format!("{a} && {b}"),
        _ => format!("!({a} || {b})"),
    }
}

fn region(text: &str) -> VerifiedRegion {
    let mut region = parse_region(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    types::infer(&mut region);
    verify(region).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

fn observed(args: &[Value]) -> Observed {
    let params = args.iter().enumerate().map(|(k, arg)| match arg {
        Value::Scalar(value) => ObservedParam::Scalar(*value),
        Value::Array(array) => ObservedParam::Array {
            lmad: Lmad::row_major(&array.shape),
            block: k as u32,
            block_elements: array.data.len() as i64,
            references: 1,
        },
    });
    Observed { params: params.collect() }
}

#[test]
fn proven_reads_never_trap() {
    let mut random = Random::new(7);
    let (mut proven, mut fine) = (0, 0);
    for _ in 0..6000 {
        let depth = random.between(1, 3) as u32;
        let index = expression(&mut random, depth);
        let (n, m) = (random.between(1, 5), random.between(1, 4));
        let read = if random.below(2) == 0 {
            "in A[x]".to_string()
        } else {
            let (one, other) = if random.below(2) == 0 { ("A[x]", "0") } else { ("0", "A[x]") };
            format!("let v = if {} then in {one} else in {other} in v", condition(&mut random))
        };
        let text = format!(
            "region r (n : i64, m : i64, s : i64, e : i64, A : [e]i64)\n\
             let y = kernel i < n, j < m do let x : i64 = {index} {read}\nin y"
        );
        let region = region(&text);
        for _ in 0..3 {
            let (s, extent) = (random.between(-2, 6), random.between(0, 9));
            let scalars = [n, m, s, extent].map(|v| Value::Scalar(Scalar::i64(v)));
            let array = Value::new(ElemType::I64, vec![extent], vec![0; extent as usize]);
            let args: Vec<Value> = scalars.into_iter().chain([array]).collect();
            let facts = bounds(&region, &observed(&args));
            let inside = facts.proven().len() == 1;
            let trapped = evaluate(&region, &args) == Err(RunError::Trap);
            assert!(!(inside && trapped), "{text}\nn {n} m {m} s {s} e {extent}\n{}", facts.report(&region));
            proven += u32::from(inside);
            fine += u32::from(!trapped);
        }
    }
    // Not a promise, but a sign that something is proven at all.
    assert!(proven * 2 > fine, "{proven} proofs for {fine} reads that were fine");
}

#[test]
fn contained_updates_never_trap() {
    let mut random = Random::new(8);
    let (mut contained, mut fine) = (0, 0);
    for _ in 0..6000 {
        let depth = random.between(1, 3) as u32;
        let index = expression(&mut random, depth);
        let (n, m) = (random.between(1, 5), random.between(1, 4));
        let (place, value) = match random.below(3) {
            0 => ("x".to_string(), "1"),
            1 => (format!("x :+ k * {}", random.between(-2, 2)), "V"),
            _ => ("x :+ k * s".to_string(), "V"),
        };
        let text = format!(
            "region r (n : i64, m : i64, s : i64, e : i64, k : i64, A : [e]i64, V : [k]i64)\n\
             let y = kernel i < n, j < m do let x : i64 = {index} let B = A with [{place}] = {value} in x\nin y"
        );
        let region = region(&text);
        for _ in 0..3 {
            let (s, extent, count) = (random.between(-2, 6), random.between(0, 9), random.between(0, 3));
            let scalars = [n, m, s, extent, count].map(|v| Value::Scalar(Scalar::i64(v)));
            let arrays = [extent, count].map(|n| Value::new(ElemType::I64, vec![n], vec![0; n as usize]));
            let args: Vec<Value> = scalars.into_iter().chain(arrays).collect();
            let facts = bounds(&region, &observed(&args));
            let inside = facts.contained().len() == 1;
            let trapped = evaluate(&region, &args) == Err(RunError::Trap);
            assert!(!(inside && trapped), "{text}\nn {n} m {m} s {s} e {extent} k {count}");
            contained += u32::from(inside);
            fine += u32::from(!trapped);
        }
    }
    assert!(contained * 2 > fine, "{contained} proofs for {fine} updates that were fine");
}
