//! Measures kernels of this back end: compilation time and running time, least of several runs.
//!
//! `cargo run --release -p galopvm-jit --example measure [mode [threads [name]]]`

use galopvm_analysis::plan::complete;
use galopvm_base::Scalar;
use galopvm_jit::{CpuMode, Options, X86Backend};
use galopvm_kir::text::parse_region;
use galopvm_kir::{
    Argument, Backend, Buffer, Decision, Launch, Listing, Machine, Observed, ObservedParam, Plan, ResultView,
    Unit, VerifiedPlan, types, verify,
};
use galopvm_lmad::Lmad;
use std::time::Instant;

/// Name, text, the axis across the lanes (none: the reduction has them), sizes in order.
const KERNELS: &[(&str, &str, &str, &[i64])] = &[
    (
        "map_chain",
        "region map_chain (n : i64, x : [n]f32, y : [n]f32)
         let r : [n]f32 = kernel i < n do
           let a : f32 = x[i]
           let s : f32 = sqrt(2.0f32 * a * a + 3.0f32 * y[i]) - a * 0.5f32
           in s
         in r",
        "i",
        &[1 << 24],
    ),
    (
        "dot_f32",
        "region dot (n : i64, x : [n]f32, y : [n]f32)
         let r : f32 = red i < n do let p : f32 = x[i] * y[i] in p by (a : f32 = 0.0f32) (b : f32) do in a + b
         in r",
        "",
        &[1 << 24],
    ),
    (
        "sum_i32",
        "region sum (n : i64, x : [n]i32)
         let r : i32 = red i < n do let p : i32 = x[i] in p by (a : i32 = 0i32) (b : i32) do in a + b
         in r",
        "",
        &[1 << 24],
    ),
    (
        "row_sums",
        "region row_sums (n : i64, m : i64, A : [n][m]f32)
         let r : [n]f32 = kernel i < n do
           let s : f32 = red j < m do let x : f32 = A[i, j] in x by (a : f32 = 0.0f32) (b : f32) do in a + b
           in s
         in r",
        "j",
        &[4096, 4096],
    ),
    (
        "col_sums",
        "region col_sums (n : i64, m : i64, A : [n][m]f32)
         let r : [m]f32 = kernel j < m do
           let s : f32 = red i < n do let x : f32 = A[i, j] in x by (a : f32 = 0.0f32) (b : f32) do in a + b
           in s
         in r",
        "j",
        &[4096, 4096],
    ),
    (
        "mandelbrot",
        "region mandelbrot (h : i64, w : i64)
         let r : [h][w]i32 = kernel i < h, j < w do
           let cx : f32 = -2.0f32 + to_f32(j) * (3.0f32 / to_f32(w))
           let cy : f32 = -1.5f32 + to_f32(i) * (3.0f32 / to_f32(h))
           let (x : f32, y : f32, k : i32) = loop (zx : f32, zy : f32, it : i32) = (0.0f32, 0.0f32, 0i32)
             while it < 256i32 && zx * zx + zy * zy <= 4.0f32 do
               let nx : f32 = zx * zx - zy * zy + cx
               let ny : f32 = 2.0f32 * zx * zy + cy
               in (nx, ny, it + 1i32)
           in k
         in r",
        "j",
        &[1024, 1024],
    ),
    (
        "matmul",
        "region matmul (n : i64, m : i64, k : i64, A : [n][k]f32, B : [k][m]f32)
         let r : [n][m]f32 = kernel i < n, j < m do
           let s : f32 = red q < k do let x : f32 = A[i, q] * B[q, j] in x by (a : f32 = 0.0f32) (b : f32) do in a + b
           in s
         in r",
        "j",
        &[1024, 1024, 1024],
    ),
    (
        "exp_f32",
        "region exp_f32 (n : i64, x : [n]f32)
         let r : [n]f32 = kernel i < n do let y : f32 = exp(x[i]) in y
         in r",
        "i",
        &[1 << 24],
    ),
    (
        "sin_f64",
        "region sin_f64 (n : i64, x : [n]f64)
         let r : [n]f64 = kernel i < n do let y : f64 = sin(x[i]) in y
         in r",
        "i",
        &[1 << 24],
    ),
    (
        "six_functions",
        "region six_functions (n : i64, x : [n]f64)
         let r : [n]f64 = kernel i < n do
           let a : f64 = x[i]
           let b : f64 = exp(a) * log(a + 1.0f64) + sin(a) * cos(a * 2.0f64)
           let c : f64 = tanh(b) - atan(a * b)
           in c
         in r",
        "i",
        &[1 << 22],
    ),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let mode = args.first().and_then(|a| a.parse().ok()).unwrap_or(CpuMode::Avx512);
    let threads = args.get(1).and_then(|a| a.parse().ok()).unwrap_or(1);
    for (name, text, lane, sizes) in KERNELS {
        if args.get(2).is_none_or(|wanted| wanted == name) {
            measure(name, (text, lane), sizes, mode, threads, args.len() > 3);
        }
    }
}

fn measure(name: &str, (text, lane): (&str, &str), sizes: &[i64], mode: CpuMode, threads: usize, list: bool) {
    let mut region = parse_region(text).expect("the texts parse");
    types::infer(&mut region);
    let region = verify(region).expect("the texts are right");
    let shape_of = |exps: &[galopvm_kir::Exp]| -> Vec<i64> {
        let size = |e: &galopvm_kir::Exp| {
            region.size_with(e, &|v| {
                region.region().params.iter().position(|p| *p == v).map(|k| Scalar::i64(sizes[k]))
            })
        };
        exps.iter().map(|e| size(e).expect("a size")).collect()
    };
    let mut observed = Observed::default();
    let (mut arguments, mut blocks): (Vec<Argument>, Vec<Vec<u8>>) = (Vec::new(), Vec::new());
    for (k, &param) in region.region().params.iter().enumerate() {
        let ty = region.type_of(param);
        if ty.is_scalar() {
            observed.params.push(ObservedParam::Scalar(Scalar::i64(sizes[k])));
            arguments.push(Argument::Scalar(sizes[k] as u64));
            continue;
        }
        let lmad = Lmad::row_major(&shape_of(&ty.shape));
        let count = lmad.elements();
        let element = |i: i64| {
            let number =
                Scalar::from_f64(ty.elem, (i.wrapping_mul(0x9e37_79b9) >> 8 & 0xffff) as f64 / 65536.0);
            number.bits.to_le_bytes()[..ty.elem.bytes()].to_vec()
        };
        blocks.push((0..count).flat_map(element).collect());
        observed.params.push(ObservedParam::Array {
            lmad: lmad.clone(),
            block: k as u32,
            block_elements: count,
            references: 1,
        });
        arguments.push(Argument::Array { buffer: blocks.len() - 1, lmad });
    }
    let reads = region.region().all_reads().iter().map(|r| r.id).collect();
    let mut plan = Plan::default();
    plan.decide(Decision::Unchecked(reads), "indices are axes");
    let axes = region.region().parallel_axes();
    if let Some(axis) = axes.into_iter().find(|axis| region.region().name_of(*axis) == lane) {
        plan.decide(Decision::Lane(axis), "this is to be measured");
    }
    let machine = Machine { vectors: mode.vectors(), threads, l2_bytes: 5 << 18, ..Machine::default() };
    complete(&region, &machine, &mut plan);
    let plan = VerifiedPlan::new(plan, region.region()).expect("a plan");
    let backend = X86Backend::new(Options::default());
    let unit = Unit { name: "", region: &region, plan: &plan, observed: &observed, machine: &machine };
    let mut latency = f64::MAX;
    for _ in 0..20 {
        let start = Instant::now();
        let _ = backend.compile(unit).expect("it compiles");
        latency = latency.min(start.elapsed().as_secs_f64());
    }
    let code = backend.compile(unit).expect("it compiles");
    if list {
        println!("{}", code.listing(Listing::Asm).unwrap_or_default());
    }
    let mut buffers: Vec<Buffer<'_>> = blocks.iter().map(|b| Buffer::Read(b)).collect();
    let lmads: Vec<Lmad> = region.results().iter().map(|t| Lmad::row_major(&shape_of(&t.shape))).collect();
    let bytes = |k: usize| lmads[k].elements() as usize * region.results()[k].elem.bytes();
    // Room to begin at a cache line.
    let mut outputs: Vec<Vec<u8>> = (0..lmads.len()).map(|k| vec![1u8; bytes(k) + 64]).collect();
    let mut results = Vec::new();
    for ((k, output), lmad) in outputs.iter_mut().enumerate().zip(lmads.iter().cloned()) {
        let skip = output.as_ptr().align_offset(64);
        results.push(ResultView { buffer: buffers.len(), lmad });
        buffers.push(Buffer::Write(&mut output[skip..skip + bytes(k)]));
    }
    let mut launch = Launch { buffers, arguments: arguments.into(), results };
    let mut best = f64::MAX;
    for _ in 0..25 {
        let launch = launch.check(&region).expect("it fits");
        let start = Instant::now();
        code.run(launch).expect("it runs");
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!(
        "{name:12} {mode} {threads} threads: compile {:7.1} us, run {:9.3} ms",
        latency * 1e6,
        best * 1e3
    );
}
