//! How long the analyses take: `cargo run --release -p galopvm-analysis --example analysis_times [FILE ..]`.
//!
//! A row for every golden case with an input, then for some regions that are long or meant to be hard (files given as
//! arguments come after these): index table, bounds, choice of layouts for the whole region, short-circuiting,
//! lifetimes and packing, reuse of every outermost kernel, fusion; the best of some runs in microseconds, and the first of all.

use galopvm_analysis::bounds::bounds;
use galopvm_analysis::circuit::circuits;
use galopvm_analysis::fusion;
use galopvm_analysis::index::table;
use galopvm_analysis::layout::{Costs, Means, Pricing, Profile, Target};
use galopvm_analysis::memory::{allocations, pack};
use galopvm_analysis::reuse::{Effort, analyse};
use galopvm_analysis::strategy::decide;
use galopvm_kir::text::{parse_env, parse_region_in};
use galopvm_kir::{CheckedRegion, Observed, Region, Rhs, check, types};
use galopvm_testkit::cases::{self, Case};
use galopvm_testkit::stem;
use std::fmt::Write;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

/// The lines of a section of a case.
fn region(env: &str, input: &str) -> Result<(CheckedRegion, Observed), String> {
    let (known, observed) = parse_env(env).map_err(|error| error.to_string())?;
    let mut region = parse_region_in(known, input).map_err(|error| error.to_string())?;
    types::infer(&mut region);
    let region = check(region).map_err(|errors| errors[0].to_string())?;
    Ok((region, observed))
}

/// The time of a run in microseconds.
fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64 / 1000.0
}

/// Every analysis of a region, each with its time.
fn all(region: &CheckedRegion, observed: &Observed) -> [f64; 7] {
    let code = region.region();
    let (costs, profile) = (Costs::default(), Profile::default());
    let mut times = [0.0; 7];
    let mut rows = None;
    times[0] = time(|| rows = Some(table(region, observed)));
    times[1] = time(|| drop(black_box(bounds(region, observed))));
    if let Some(table) = &rows {
        let results: Vec<_> = code.body.stms.last().map_or(Vec::new(), |stm| stm.pat.clone());
        for target in [Target::Cpu, Target::Gpu] {
            let pricing = Pricing { table, costs: &costs, target, profile: &profile, sharing: 1 };
            times[2] += time(|| drop(black_box(decide(&pricing, &results, &Means::default()))));
        }
    }
    let mut moved = None;
    times[3] = time(|| moved = Some(circuits(code, observed)));
    if let Some(moved) = &moved {
        times[4] = time(|| {
            let made = allocations(code, moved);
            let blocks: Vec<_> = made.into_iter().map(|made| made.lifetime).collect();
            black_box(pack(&blocks, 64));
        });
    }
    times[5] = time(|| reuse(code, observed));
    times[6] = time(|| {
        drop(black_box(fusion::fuse(region, observed)));
    });
    times
}

fn reuse(code: &Region, observed: &Observed) {
    for stm in code.body.stms.iter().filter(|stm| matches!(stm.rhs, Rhs::Kernel { .. })) {
        for k in 0..stm.pat.len() {
            black_box(analyse(code, observed, stm, k, Effort::Quick));
        }
    }
}

/// Kernels one after the other that read what others made in all orders.
fn chain(kernels: usize, arrays: usize) -> (String, String) {
    let (mut env, mut text) = (String::from("size n = 100\n"), String::new());
    for k in 0..arrays {
        let _ = writeln!(env, "array A{k} : [n][n][n]f32");
    }
    let index = ["ia", "ja", "ka"];
    for step in 0..kernels {
        let axes: Vec<String> = index.iter().map(|v| format!("{v}{step}")).collect();
        let _ = writeln!(
            text,
            "  let r{step} =\n    kernel {} < n, {} < n, {} < n do",
            axes[0], axes[1], axes[2]
        );
        let mut sum = Vec::new();
        for k in 0..4 {
            let from = step + k * 7;
            let name = match from % 3 {
                0 if step > k + 1 => format!("r{}", step - k - 1),
                _ => format!("A{}", from % arrays),
            };
            let turn = |at: usize| &axes[(at + from * (k + 1)) % 3];
            let (a, b) = if (from + k) % 2 == 0 { (0, 1) } else { (1, 0) };
            sum.push(format!("{name}[{}, {}, {}]", turn(a), turn(b), turn(2)));
        }
        let _ = writeln!(text, "      let x{step} = {}\n      in x{step}", sum.join(" + "));
    }
    (env, text)
}

/// Kernels of which each reads the one before it (or, if `fan`, the first one) and an array.
fn readers(count: usize, fan: bool) -> (String, String) {
    let env = "size n = 1000\narray a0 : [n]f32\narray b : [n]f32\n".to_string();
    let mut text = String::new();
    for k in 1..=count {
        let from = if fan { 0 } else { k - 1 };
        let _ = writeln!(text, "let a{k} =\n  kernel at{k} < n do\n    in a{from}[at{k}] + b[at{k}] * 2");
    }
    let _ = writeln!(text, "in (a{count}, a{})", count / 2);
    (env, text)
}

/// Anti-diagonals of blocks, one after the other, each read and written by slices.
fn diagonals(count: usize) -> (String, String) {
    let env = format!("size b = 16, q = {count}, n = {}\narray A : [{}]i32 rc 1\n", count * 16 + 1, {
        let n = count * 16 + 1;
        n * n
    });
    let (mut text, mut name) = (String::new(), "A".to_string());
    for i in 0..count {
        let _ = writeln!(text, "  let V{i} = {name}[[{i}*b + {{({i}+1:n*b-b),(b+1:n)}}]]");
        let _ = writeln!(text, "  let H{i} = {name}[[{i}*b+1 + {{({i}+1:n*b-b),(b:1)}}]]");
        let _ = writeln!(text, "  let X{i} =\n    kernel r{i} < {i}+1 do");
        let _ = writeln!(text, "      let S{i} = scratch [b][b] i32");
        let _ = writeln!(text, "      let F{i} =\n        loop T{i} = S{i} for y{i} < b do");
        let _ = writeln!(text, "          let v{i} = V{i}[r{i}, y{i}] + H{i}[r{i}, y{i}]");
        let _ = writeln!(text, "          let U{i} = T{i} with [y{i}, y{i}] = v{i}\n          in U{i}");
        let _ = writeln!(text, "      in F{i}");
        let _ =
            writeln!(text, "  let B{i} = {name} with [[{i}*b+n+1 + {{({i}+1:n*b-b),(b:n),(b:1)}}]] = X{i}");
        name = format!("B{i}");
    }
    (env, text)
}

/// A stencil with borders apart, again and again.
fn stencils(rounds: usize) -> (String, String) {
    let env = "size r = 512, c = 500\narray t0 : [r][c]f32 rc 1\narray p : [r][c]f32 rc 2\n".to_string();
    let mut text = String::new();
    for t in 0..rounds {
        let old = format!("t{t}");
        let at = |row: &str, j: &str| {
            format!(
                "{old}[{row}, {j}] + {old}[{row}, min({j}+1,c-1)] + {old}[{row}, max({j}-1,0)] + p[{row}, {j}]"
            )
        };
        let _ = writeln!(
            text,
            "  let a{t} =\n    kernel ja{t} < c do\n      let va{t} = {}\n      in va{t}",
            at("0", &format!("ja{t}"))
        );
        let _ = writeln!(
            text,
            "  let m{t} =\n    kernel i{t} < r-2, jm{t} < c do\n      let vm{t} = {} + {old}[i{t}, jm{t}] + {old}[i{t}+2, jm{t}]\n      in vm{t}",
            at(&format!("i{t}+1"), &format!("jm{t}"))
        );
        let _ = writeln!(
            text,
            "  let z{t} =\n    kernel jz{t} < c do\n      let vz{t} = {}\n      in vz{t}",
            at("r-1", &format!("jz{t}"))
        );
        let _ = writeln!(
            text,
            "  let f{t} = flatten m{t}\n  let g{t} = concat a{t} f{t} z{t}\n  let t{} = reshape [r][c] g{t}",
            t + 1
        );
    }
    (env, text)
}

/// Steps of a decomposition that changes a part of a matrix.
fn eliminations(steps: usize) -> (String, String) {
    let env = "size n = 64\narray m0 : [n][n]f64 rc 1\n".to_string();
    let mut text = String::new();
    for k in 0..steps {
        for (part, cond, value) in [
            ("c", format!("i{k}c > {k} && j{k}c == {k}"), format!("m{k}[i{k}c, j{k}c] / m{k}[{k}, {k}]")),
            (
                "s",
                format!("i{k}s > {k} && j{k}s > {k}"),
                format!("c{k}[i{k}s, j{k}s] - c{k}[i{k}s, {k}] * c{k}[{k}, j{k}s]"),
            ),
        ] {
            let (from, to) = if part == "c" {
                (format!("m{k}"), format!("c{k}"))
            } else {
                (format!("c{k}"), format!("m{}", k + 1))
            };
            let _ = writeln!(
                text,
                "  let {to} =\n    kernel i{k}{part} < n, j{k}{part} < n do\n      let v{k}{part} =\n        if {cond} then\n          let p{k}{part} = {value}\n          in p{k}{part}\n        else\n          let q{k}{part} = {from}[i{k}{part}, j{k}{part}]\n          in q{k}{part}\n      in v{k}{part}"
            );
        }
    }
    (env, text)
}

/// Conditions and clamps that split into many pieces.
fn pieces() -> (String, String) {
    let env = "size n = 60\narray A : [n][n][n]f32 rc 1\n".to_string();
    let cond = "(i + j) % 4 == 1 || (j + k) % 5 == 2 && i < j || i + 2 * j + 3 * k < 100 && (i + k) % 3 == 0";
    let read =
        "A[min(max(i+1, j), n-1), max(min(j, k)-1, 0), min(k+i, n-1)] + A[min(i+j, n-1), k, max(j-i, 0)]";
    let text = format!(
        "  let r =\n    kernel i < n, j < n, k < n do\n      let v =\n        if {cond} then\n          let p = {read}\n          in p\n        else\n          let q = A[i, j, k]\n          in q\n      in v\n"
    );
    (env, text)
}

fn main() -> Result<(), String> {
    let mut cases = cases::all();
    for file in std::env::args().skip(1) {
        let text = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
        cases.push(Case::new(&stem(Path::new(&file)), &text));
    }
    let mut regions: Vec<(String, String, String)> = Vec::new();
    for (name, (env, input)) in [
        ("50 kernels in all orders", chain(50, 6)),
        ("12 anti-diagonals of blocks", diagonals(12)),
        ("8 stencils with borders", stencils(8)),
        ("8 elimination steps", eliminations(8)),
        ("many pieces", pieces()),
        ("chain of 64 kernels", readers(64, false)),
        ("64 kernels of one array", readers(64, true)),
    ] {
        regions.push((name.into(), env, input));
    }
    let section = |case: &Case, header| case.text(header).unwrap_or_default().to_string();
    let kept = cases.iter().map(|case| (case.name.clone(), section(case, "ENV"), section(case, "INPUT")));
    regions.splice(0..0, kept);
    let heads = ["table", "bounds", "layouts", "circuits", "memory", "reuse", "fusion", "together", "first"];
    print!("{:28}", "in microseconds");
    heads.iter().for_each(|head| print!(" {head:>9}"));
    println!();
    let mut worst = 0.0f64;
    for (name, env, input) in &regions {
        if input.trim().is_empty() {
            continue;
        }
        let (region, observed) = region(env, input).map_err(|error| format!("{name}: {error}"))?;
        let mut best = all(&region, &observed);
        let first: f64 = best.iter().sum();
        for _ in 0..if first > 20_000.0 { 2 } else { 20 } {
            for (best, time) in best.iter_mut().zip(all(&region, &observed)) {
                *best = best.min(time);
            }
        }
        let together: f64 = best.iter().sum();
        worst = worst.max(together);
        print!("{name:28}");
        best.iter().chain([&together, &first]).for_each(|time| print!(" {time:9.1}"));
        println!();
    }
    println!("together at most {worst:.1}");
    Ok(())
}
