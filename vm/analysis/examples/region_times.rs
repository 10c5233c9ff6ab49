//! How long the first look at a region takes: `cargo run --release -p galopvm-analysis --example region_times [FILE ..]`.
//!
//! A row for every file with a region (by default those of `tests/golden/regions`, recorded of the example programs):
//! short-circuiting and the memory schedule, each with the median of some runs, in microseconds; then both together, with
//! the longest run, and with the median of runs before which other memory was read, so that no cache holds code or data.

use galopvm_analysis::Effort;
use galopvm_analysis::circuit::{Witness, circuits_within};
use galopvm_analysis::memory::schedule;
use galopvm_kir::text::{parse_env, parse_region_in};
use galopvm_kir::{CheckedRegion, Observed, check, types};
use galopvm_testkit::{files as kept, find_section, stem};
use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

/// Bytes that offsets of blocks are multiples of.
const LINE: i64 = 64;

/// Runs of a region.
const RUNS: usize = 101;

/// Bytes that are read to have the caches hold something else.
const OTHER_MEMORY: usize = 64 << 20;

fn region(text: &str) -> Result<(CheckedRegion, Observed), String> {
    let (env, region) = find_section(text, "env").zip(find_section(text, "region")).ok_or("no region")?;
    let (known, observed) = parse_env(env).map_err(|error| error.to_string())?;
    let mut region = parse_region_in(known, region).map_err(|error| error.to_string())?;
    types::infer(&mut region);
    let region = check(region).map_err(|errors| errors[0].to_string())?;
    Ok((region, observed))
}

/// Runs that find nothing in the caches.
const COLD_RUNS: usize = 11;

/// Short-circuiting and the schedule: when the first was done, and both.
fn look(region: &CheckedRegion, observed: &Observed) -> (f64, f64) {
    let start = Instant::now();
    let circuits = circuits_within(region.region(), observed, None, Effort::Quick, Witness::First);
    let circuits = black_box(circuits);
    let middle = start.elapsed().as_nanos() as f64 / 1000.0;
    black_box(schedule(region.region(), &circuits, LINE));
    (middle, start.elapsed().as_nanos() as f64 / 1000.0)
}

/// Median and greatest of some times.
fn summary(times: &mut [f64]) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() - 1])
}

fn main() -> Result<(), String> {
    let mut files: Vec<PathBuf> = std::env::args().skip(1).map(Into::into).collect();
    if files.is_empty() {
        files = kept("tests/golden/regions", "txt");
    }
    let heads = ["circuits", "schedule", "together", "longest", "cold"];
    print!("{:24}", "in microseconds");
    heads.iter().for_each(|head| print!(" {head:>9}"));
    println!();
    let other = vec![1u8; OTHER_MEMORY];
    let mut longest = (0.0, String::new());
    for file in files {
        let text = fs::read_to_string(&file).map_err(|error| error.to_string())?;
        let name = stem(&file);
        let (region, observed) = region(&text).map_err(|error| format!("{name}: {error}"))?;
        let mut times = [const { Vec::new() }; 4];
        for _ in 0..RUNS {
            let (middle, end) = look(&region, &observed);
            times.iter_mut().zip([middle, end - middle, end]).for_each(|(times, time)| times.push(time));
        }
        for _ in 0..COLD_RUNS {
            black_box(other.iter().step_by(64).map(|byte| u64::from(*byte)).sum::<u64>());
            times[3].push(look(&region, &observed).1);
        }
        let [circuits, schedule, together, cold] = times.each_mut().map(|times| summary(times));
        print!("{name:24}");
        [circuits.0, schedule.0, together.0, together.1, cold.0]
            .iter()
            .for_each(|time| print!(" {time:9.1}"));
        println!();
        if together.0 > longest.0 {
            longest = (together.0, name);
        }
    }
    println!("the longest median is {:.1}, of {}", longest.0, longest.1);
    Ok(())
}
