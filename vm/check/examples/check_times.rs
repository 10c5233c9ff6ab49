//! How long checks take: `cargo run --release -p galopvm-check --example check_times`.
//!
//! A row for every region of `tests/golden/regions`, recorded of the example programs: what short-circuiting and the memory
//! schedule decide is checked. The median and the longest of some runs, in microseconds, by sets and, where these cannot
//! say, element by element; before that, the median with the brief budget; for comparison, that of making the decisions.

#[path = "../tests/decisions/decided.rs"]
mod decided;
#[path = "../tests/decisions/recorded.rs"]
mod recorded;

use galopvm_analysis::Effort;
use galopvm_analysis::circuit::{Witness, circuits_within};
use galopvm_analysis::memory::schedule;
use galopvm_check::{Budget, Verdict, check};
use std::hint::black_box;
use std::time::Instant;

/// Bytes that offsets of blocks are multiples of.
const LINE: i64 = 64;

/// Runs of a region.
const RUNS: usize = 11;

/// Median and longest time, in microseconds.
fn time(mut run: impl FnMut()) -> (f64, f64) {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_nanos() as f64 / 1000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[RUNS / 2], times[RUNS - 1])
}

fn main() {
    println!(
        "{:24} {:>9} {:>9} {:>9} {:>9}  verdict",
        "in microseconds", "decide", "brief", "check", "longest"
    );
    let mut worst = (0.0, String::new());
    for (name, region, observed) in recorded::all() {
        let code = region.region();
        let of = || {
            let circuits = circuits_within(code, &observed, None, Effort::Quick, Witness::First);
            let schedule = schedule(code, &circuits, LINE);
            (circuits, schedule)
        };
        let (decide, _) = time(|| drop(black_box(of())));
        let (circuits, schedule) = of();
        let decisions = decided::decided(&circuits, Some(&schedule));
        let verdict = |budget| check(&region, &observed, &decisions, budget);
        let (median, longest) = time(|| drop(black_box(verdict(Budget::default()))));
        let (brief, _) = time(|| drop(black_box(verdict(Budget::BRIEF))));
        let brief_words = match verdict(Budget::BRIEF) {
            Verdict::TooLarge(_) => ", but not within the brief budget",
            _ => "",
        };
        let by_sets = verdict(Budget { elements: 0, ..Budget::default() });
        let words = match (&by_sets, verdict(Budget::default())) {
            (Verdict::Proved, _) => "proved by sets".to_string(),
            (_, Verdict::Proved) => format!("proved element by element ({by_sets:?})"),
            (Verdict::TooLarge(first), Verdict::TooLarge(why)) => format!("too large: {first}; {why}"),
            (_, Verdict::TooLarge(why)) => format!("too large: {why}"),
            (_, Verdict::Refused(violation)) => format!("refused: {}", violation.text),
        };
        println!("{name:24} {decide:9.1} {brief:9.1} {median:9.1} {longest:9.1}  {words}{brief_words}");
        if median > worst.0 {
            worst = (median, name);
        }
    }
    println!("the longest median is {:.1}, of {}", worst.0, worst.1);
}
