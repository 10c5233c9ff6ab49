//! How long the analyses of memory take: `cargo run --release -p galopvm-analysis --example analysis_times`.
//!
//! For every golden case with an input: short-circuiting, lifetimes and packing of the region, reuse of its last
//! kernel, and fusion; then fusion of many kernels that read each other. The best of 20.

use galopvm_analysis::circuit::circuits;
use galopvm_analysis::fusion::{apply, decide};
use galopvm_analysis::memory::{allocations, pack};
use galopvm_analysis::reuse::{Effort, analyse};
use galopvm_kir::text::{parse_env, parse_region_in};
use galopvm_kir::{CheckedRegion, Observed, check, types};
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// The lines of a section of a case.
fn section(case: &str, header: &str) -> String {
    let lines = case.lines().skip_while(|line| line.trim_end() != header).skip(1);
    let body: Vec<&str> =
        lines.take_while(|line| !line.starts_with(|c: char| c.is_ascii_uppercase())).collect();
    body.join("\n")
}

/// The least time of some runs in microseconds.
fn best(mut work: impl FnMut()) -> f64 {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_nanos() as f64 / 1000.0
    };
    (0..20).map(|_| time(&mut work)).fold(f64::INFINITY, f64::min)
}

fn fusion_time(region: &CheckedRegion, observed: &Observed) -> f64 {
    best(|| {
        let fusions = decide(black_box(region), observed);
        drop(black_box(apply(region, &fusions)));
    })
}

/// Kernels of which each reads the one before it (or, if `fan`, the first one) and an array.
fn kernels(count: usize, fan: bool) -> Result<(CheckedRegion, Observed), String> {
    let (known, observed) =
        parse_env("size n = 1000\narray a0 : [n]f32\narray b : [n]f32\n").map_err(|e| e.to_string())?;
    let mut text = String::new();
    for k in 1..=count {
        let from = if fan { 0 } else { k - 1 };
        text.push_str(&format!("let a{k} =\n  kernel at{k} < n do\n    in a{from}[at{k}] + b[at{k}] * 2\n"));
    }
    text.push_str(&format!("in (a{count}, a{})\n", count / 2));
    let mut region = parse_region_in(known, &text).map_err(|e| e.to_string())?;
    types::infer(&mut region);
    Ok((check(region).map_err(|errors| format!("{errors:?}"))?, observed))
}

fn main() -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/cases");
    let entries = fs::read_dir(folder).map_err(|error| error.to_string())?;
    let mut files: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    files.sort();
    println!(
        "{:28} {:>10} {:>10} {:>10} {:>10}  in microseconds",
        "case", "circuits", "memory", "reuse", "fusion"
    );
    let mut worst = 0.0f64;
    for file in files {
        let case = fs::read_to_string(&file).map_err(|error| error.to_string())?;
        let input = section(&case, "INPUT");
        let Ok((known, observed)) = parse_env(&section(&case, "ENV")) else { continue };
        let Ok(mut region) = parse_region_in(known, &input) else { continue };
        types::infer(&mut region);
        let Ok(region) = check(region) else { continue };
        let code = region.region();
        let Some(last) = code.body.stms.last() else { continue };
        let moved = circuits(code, &observed);
        let circuit = best(|| drop(black_box(circuits(black_box(code), &observed))));
        let memory = best(|| {
            let made = allocations(code, &observed, &moved);
            let blocks: Vec<_> = made.into_iter().map(|made| made.lifetime).collect();
            black_box(pack(&blocks, 64));
        });
        let reuse = best(|| drop(black_box(analyse(code, &observed, last, 0, Effort::Quick))));
        let fusion = fusion_time(&region, &observed);
        worst = worst.max(circuit + memory + reuse + fusion);
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        println!("{name:28} {circuit:10.1} {memory:10.1} {reuse:10.1} {fusion:10.1}");
    }
    for (name, fan) in [("chain of 64 kernels", false), ("64 kernels of one array", true)] {
        let (region, observed) = kernels(64, fan)?;
        println!("{name:28} {:43.1}", fusion_time(&region, &observed));
    }
    println!("together at most {worst:.1}");
    Ok(())
}
