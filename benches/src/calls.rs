//! What a call costs: `galopvm-bench --calls REPS`.
//!
//! Prints for each kind of call the least and the median nanoseconds of so many repetitions, each with its own two looks at
//! the clock, whose cost stands in the first line.

use galopvm::{Array, Engine, Program};
use std::time::Instant;

/// Calls before those that count: enough for code to be made of what is hot.
const UNTIMED: usize = 20_000;

const SOURCE: &str = "entry scalar (x: i32): i32 = x + 1
entry add [n] (xs: [n]f32): [n]f32 = map (+ 1) xs
entry sum [n] (xs: [n]f32): f32 = f32.sum xs
entry many [n] (xs: [n]f32) (k: i64): [n]f32 = loop xs for _i < k do map (+ 1) xs";

/// Measures each kind of call.
pub fn measure(engine: &Engine, repetitions: usize) -> Result<(), galopvm::Error> {
    let program = Program::from_source("calls.fut", SOURCE)?;
    let mut session = engine.session(&program);
    show("nothing", repetitions, || Ok(()))?;
    show("scalar", repetitions, || session.call::<i32>("scalar", (1i32,)).map(drop))?;
    for elements in [64i64, 256, 1024, 4096] {
        let xs = session.array(&vec![1f32; elements as usize], &[elements])?;
        let what = format!("map {elements}");
        show(&what, repetitions, || session.call::<Array>("add", (&xs,)).map(drop))?;
        let what = format!("sum {elements}");
        show(&what, repetitions, || session.call::<f32>("sum", (&xs,)).map(drop))?;
    }
    for elements in [16i64, 64, 1024, 4096] {
        let xs = session.array(&vec![1f32; elements as usize], &[elements])?;
        let rounds = 1000i64;
        let what = format!("{rounds} maps {elements}");
        show(&what, repetitions.div_ceil(100), || session.call::<Array>("many", (&xs, rounds)).map(drop))?;
    }
    Ok(())
}

fn show(
    what: &str,
    repetitions: usize,
    mut call: impl FnMut() -> Result<(), galopvm::Error>,
) -> Result<(), galopvm::Error> {
    for _ in 0..UNTIMED.min(repetitions) {
        call()?;
    }
    let mut times = Vec::with_capacity(repetitions);
    for _ in 0..repetitions.max(1) {
        let start = Instant::now();
        call()?;
        times.push(start.elapsed().as_nanos());
    }
    times.sort_unstable();
    println!("{what:16} least {:9} ns, median {:9} ns", times[0], times[times.len() / 2]);
    Ok(())
}
