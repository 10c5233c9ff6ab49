//! Derivatives of loops that keep what blocks of their rounds begin with: bit for bit those of loops that keep all rounds, in less memory.

use crate::support::interpreter;
use galopvm::Program;

/// The gradient of a loop in blocks of so many levels, nothing said if there is no number: of arrays, numbers and an inner loop.
fn gradient(levels: Option<u32>) -> String {
    let said = levels.map_or(String::new(), |levels| format!("#[stripmine({levels})]"));
    format!(
        "def end [n] (rounds: i64) (c: f64, xs: [n]f64) =
           let (ys, sum) =
             {said} loop (ys, sum) = (xs, c) for i < rounds do
               let a = {said} loop a = c for j < i % 5 do f64.sin (a * ys[j % n])
               in (map2 (\\y z -> y * 0.9 + f64.sin (a * z) / f64.i64 (i + 1)) ys (rotate 1 ys), sum * 0.5 + a)
           in f64.sum ys * sum
         entry main [n] (rounds: i64) (c: f64) (xs: [n]f64) =
           let (dc, dxs) = vjp (end rounds) (c, xs) 1 in [dc] ++ dxs"
    )
}

#[test]
fn blocks_of_rounds_change_no_bit() {
    let xs: Vec<f64> = (0..7).map(|k| f64::from(k).sin()).collect();
    let engine = interpreter();
    let results = |levels| {
        let text = gradient(levels);
        let program = Program::from_source("loops.fut", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut session = engine.session(&program);
        let rounds = [-3, 0, 1, 2, 3, 4, 8, 9, 10, 31, 100];
        rounds.map(|rounds: i64| {
            let found: Vec<f64> = session.call("main", (rounds, 1.25, &xs[..])).expect("a gradient");
            found.into_iter().map(f64::to_bits).collect::<Vec<u64>>()
        })
    };
    let plain = results(Some(1));
    for levels in [None, Some(2), Some(3), Some(4), Some(1000)] {
        assert!(results(levels) == plain, "{levels:?}");
    }
}

/// The most memory that a gradient of a long loop takes, in rows, and its bits.
fn rows_at_most(attribute: &str, rounds: i64, extent: i64) -> (f64, Vec<u64>) {
    let text = format!(
        "entry main (rounds: i64) (n: i64) =
           vjp (\\xs -> {attribute} loop ys = xs for _i < rounds do map (\\y -> y * (1 - y)) ys)
               (tabulate n (\\i -> 1 / f64.i64 (i + 2))) (replicate n 1)"
    );
    let program = Program::from_source("long.fut", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut session = interpreter().session(&program);
    let gradient: Vec<f64> = session.call("main", (rounds, extent)).expect("a gradient");
    let bits = gradient.into_iter().map(f64::to_bits).collect();
    (session.memory_stats().peak_bytes as f64 / (8 * extent) as f64, bits)
}

#[test]
fn long_loops_keep_the_square_root_of_what_their_rounds_carry() {
    let (all, plain) = rows_at_most("#[stripmine(1)]", 1024, 1000);
    let (square, two) = rows_at_most("#[stripmine(2)]", 1024, 1000);
    let (cube, three) = rows_at_most("#[stripmine(3)]", 1000, 1000);
    assert!(all > 1024.0 && square < 4.0 * 32.0 && cube < 6.0 * 10.0, "{all}, {square}, {cube}");
    assert!(plain == two && plain.len() == three.len());
    // Nothing is said, and there is more than 2^24 elements.
    let (unsaid, _) = rows_at_most("", 400, 50_000);
    assert!(unsaid < 4.0 * 20.0, "{unsaid}");
    // Or less.
    let (little, same) = rows_at_most("", 1024, 1000);
    assert!(little < all + 4.0 && same == plain, "{little}, {all}");
}
