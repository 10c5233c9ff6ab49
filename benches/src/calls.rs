//! What a call costs: `galopvm-bench --calls REPS`, and what many threads do to each other: `galopvm-bench --together REPS`.
//!
//! The first prints for each kind of call the least and the median nanoseconds of so many repetitions, each with its own two looks at
//! the clock, whose cost stands in the first line. The second has threads call so often, looks at every result, and says how often
//! kernels were compiled and what memory the process has before and after: sanitizers are run on it, too.

use galopvm::{Array, Engine, Error, Program, Session};
use std::time::Instant;

/// Calls before those that count: enough for code to be made of what is hot.
const UNTIMED: usize = 20_000;

const SOURCE: &str = "entry scalar (x: i32): i32 = x + 1
entry add [n] (xs: [n]f32): [n]f32 = map (+ 1) xs
entry sum [n] (xs: [n]f32): f32 = f32.sum xs
entry many [n] (xs: [n]f32) (k: i64): [n]f32 = loop xs for _i < k do map (+ 1) xs";

/// Measures each kind of call.
pub fn measure(engine: &Engine, repetitions: usize) -> Result<(), Error> {
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

/// Threads with a program and a session each, and then threads with sessions of one program, on one engine.
pub fn together(engine: &Engine, repetitions: usize) -> Result<(), Error> {
    let program = || Program::from_source("calls.fut", SOURCE);
    let shared = program()?;
    for (threads, is_shared) in [(16, false), (8, true)] {
        let before = resident();
        let start = Instant::now();
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads)
                .map(|thread| {
                    let shared = &shared;
                    scope.spawn(move || match is_shared {
                        true => calls(&mut engine.session(shared), thread, repetitions),
                        false => calls(&mut engine.session(&program()?), thread, repetitions),
                    })
                })
                .collect();
            running.into_iter().try_for_each(|thread| match thread.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
        let seconds = start.elapsed().as_secs_f64();
        let whose = if is_shared { "one program" } else { "a program each" };
        println!(
            "{threads} threads, {whose}: {repetitions} calls each in {seconds:.1} s; {}; memory of the process {before} kB, then {} kB",
            engine.kernel_figures(),
            resident()
        );
    }
    Ok(())
}

/// Calls of several kinds, whose results are looked at.
fn calls(session: &mut Session, thread: usize, repetitions: usize) -> Result<(), Error> {
    let first = thread as f32;
    let inputs = [64, 1000, 3000].map(|elements: i64| {
        let numbers: Vec<f32> = (0..elements).map(|k| first + (k % 4) as f32).collect();
        Ok((session.array(&numbers, &[elements])?, numbers))
    });
    let inputs = inputs.into_iter().collect::<Result<Vec<_>, Error>>()?;
    for k in 0..repetitions {
        let (array, numbers) = &inputs[k / 3 % inputs.len()];
        let is_right = match k % 3 {
            0 => session.call::<i32>("scalar", (k as i32,))? == k as i32 + 1,
            1 => {
                let sums = session.call::<Vec<f32>>("add", (array,))?;
                sums.len() == numbers.len() && sums.iter().zip(numbers).all(|(sum, x)| *sum == x + 1.0)
            }
            // Whole numbers below 2^24: any order gives the same sum.
            _ => session.call::<f32>("sum", (array,))? == numbers.iter().sum::<f32>(),
        };
        assert!(is_right, "call {k} of thread {thread} gave another result");
    }
    Ok(())
}

/// Kilobytes of the machine's memory that the process has, where the system tells.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}

fn show(what: &str, repetitions: usize, mut call: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
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
