//! What the execution that checks (`vm/runtime/src/shadow/`) can tell, and what it leaves to the program.

use galopvm::Program;
use galopvm_jit::X86Backend;
use galopvm_kir::{Backend, Machine};
use galopvm_runtime::{Array, Options, Session, Tiering};
use std::sync::Arc;

/// How many instructions were taken over from the program when a function of many numbers ran, in pieces.
fn taken_over(body: &str) -> u64 {
    let text = format!("entry main (xs: []i64) = {body}");
    let program = Program::from_source("checked.fut", &text).unwrap_or_else(|e| panic!("{e}"));
    let backends: Vec<Arc<dyn Backend>> = vec![Arc::new(X86Backend::default())];
    let vectors = X86Backend::greatest_mode().vectors();
    let machine = Machine { threads: 2, thread_grain: 1, vectors, ..Machine::default() };
    let tiering = Tiering { backends, machine, always: true, background: false, ..Tiering::default() };
    let options = Options { check: true, tiering, ..Options::default() };
    let mut session = Session::new(program.module().clone(), options);
    let numbers: Vec<i64> = (0..1000).map(|k| k * 7919 % 1013).collect();
    let xs = Array::from_slice(session.memory(), &numbers, &[1000]).expect("there is memory");
    session.call("main", vec![xs.into()]).unwrap_or_else(|e| panic!("{body}: {e}"));
    let figures = session.shadow_figures().expect("it checks");
    assert!(figures.compared > 0);
    figures.taken_over
}

/// How often the neutral element is taken is left open, so only one that changes nothing gives a result that can be told.
#[test]
fn neutral_elements_that_are_none_may_be_taken_often() {
    for (body, is_told) in [
        ("reduce (+) 0 xs", true),
        ("reduce (+) 1 xs", false),
        ("i64.sum (map (* 2) xs)", true),
        ("reduce i64.max 0 xs", true),
        ("scan (+) 0 xs", true),
        ("reduce (\\(a, b) (c, d) -> (a + c, b + d)) (0, 0) (zip xs xs)", true),
    ] {
        assert_eq!(taken_over(body) == 0, is_told, "{body}");
    }
}

/// A sum that cancels out is what was rounded on the way, and so is what is computed from it: its order decides.
#[test]
fn sums_that_cancel_out_are_what_was_rounded() {
    let parts = "map (\\i -> f32.i64 ((i * 7919) % 2001 - 1000) * 123456.7) (iota (length xs * 2 + 1))";
    for body in [
        "f32.sum parts",
        "let s = f32.sum parts in if s > 0 then s else s * 2",
        "map (\\i -> f32.sum (map (\\x -> x * f32.i64 (1 + i % 2)) parts)) xs[:9]",
        "map (\\x -> f32.sqrt (f32.abs x)) (scan (+) 0 parts)",
        "scan (+) 0 parts |> map2 (\\i s -> s * f32.i64 (i % 7)) (indices parts) |> f32.sum",
        "reduce (\\(a, b) (c, d) -> (a + c, b * d)) (0, 1) (zip parts (map (\\x -> 1 + x / 1e12) parts))",
        "reduce_by_index (replicate 3 0) (+) 0 (map (% 3) (indices parts)) parts",
    ] {
        assert_eq!(taken_over(&format!("let parts = {parts} in {body}")), 0, "{body}");
    }
}

/// Sums and products of floats that nobody has in memory may be rounded otherwise, and so may what is computed from them.
#[test]
fn what_is_computed_from_other_roundings_is_rounded_otherwise() {
    let ratios = "map (\\i -> f32.i64 (2 * i + 3) / f32.i64 (2 * i + 2)) (iota (length xs))";
    for body in [
        format!("{ratios} |> scan (*) 1 |> map (\\x -> f32.sqrt (x / 12.566371))"),
        format!("{ratios} |> scan (+) 0 |> map (* 3) |> map (\\x -> x / 7 + 1)"),
        format!("let ys = scan (*) 1 ({ratios}) in map2 (\\y x -> y * f32.i64 x) ys xs"),
    ] {
        assert_eq!(taken_over(&body), 0, "{body}");
    }
}
