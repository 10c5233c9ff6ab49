//! Measures the times that the cost model counts with, on the code that galopvm really runs.
//!
//! Accesses are timed in kernels of the x86 back end, one for each way in which lanes can lie in memory; copies with the
//! machine's own copy of arrays. Everything is measured in pieces that take less than the time that a system leaves to
//! a program before it runs another one, in several rounds, one thing after the other in each: what disturbs the machine
//! disturbs some pieces only. The median of the pieces counts.

use galopvm::{Array, Backend, CpuMode, CpuTimes, ElemType, Machine, Memory};
use galopvm_analysis::plan::complete;
use galopvm_jit::X86Backend;
use galopvm_kir::{
    Argument, Buffer, Compiled, Decision, Launch, Observed, ObservedParam, Plan, ResultView, Unit,
    VerifiedPlan, VerifiedRegion, verified_from_text,
};
use galopvm_lmad::{Dim, Lmad};
use galopvm_runtime::{Block, SliceIndex};
use std::sync::Arc;
use std::time::Instant;

/// How often everything is measured.
const ROUNDS: usize = 5;
/// The elements are 4 bytes wide, as most are.
const WIDTH: u64 = 4;
const LINE: u64 = 64;
/// Bytes that are read in one piece.
const PIECE: u64 = 256 << 10;

/// Many small sums: lanes go across `i`, a loop goes along `j`, and `k` repeats it at other places.
const SUMS: &str = "
region sums (q : i64, n : i64, m : i64, A : [q][n][m]i32)
let r : [q][n]i32 = kernel k < q, i < n do
  let s : i32 = red j < m do let x : i32 = A[k, i, j] in x by (a : i32 = 0i32) (b : i32) do in a + b
  in s
in r";

/// One long sum across the lanes.
const SUM: &str = "
region sum (n : i64, x : [n]i32)
let r : i32 = red i < n do let p : i32 = x[i] in p by (a : i32 = 0i32) (b : i32) do in a + b
in r";

/// What was measured for an instruction set.
pub struct Timing {
    /// The instruction set.
    pub mode: CpuMode,
    /// The model's times.
    pub times: CpuTimes,
    /// Nanoseconds of the unit in which they are.
    pub unit: f64,
}

/// What was measured of the machine.
pub struct Timings {
    /// By instruction set, the least first.
    pub modes: Vec<Timing>,
    /// Bytes in a nanosecond that one thread reads, by where they are.
    pub bandwidth: Vec<(String, f64)>,
    /// How far the fastest quarter of the pieces lies below the median, as a part of it, of the worst thing measured.
    pub spread: f64,
}

/// Measures everything. The error says why nothing can be measured.
pub fn measure(machine: &Machine) -> Result<Timings, String> {
    if !X86Backend::is_available() {
        return Err("only code of the x86 back end can be measured, and it is not available here".into());
    }
    let memory = Memory::default();
    let caches = galopvm::machine::caches();
    let last = caches.last().map_or(32 << 20, |cache| cache.bytes as u64);
    let large = (2 * last).clamp(32 << 20, 256 << 20);
    let array = filled(&memory, (large / WIDTH) as i64)?;
    let block = array.block();
    let modes: Vec<CpuMode> =
        CpuMode::ALL.into_iter().filter(|mode| *mode <= X86Backend::greatest_mode()).collect();
    let mut probes = Vec::new();
    for mode in &modes {
        let machine = Machine { vectors: mode.vectors(), threads: 1, ..machine.clone() };
        probes.extend(accesses(block, &machine, large)?);
    }
    let greatest = Machine { vectors: X86Backend::greatest_mode().vectors(), threads: 1, ..machine.clone() };
    let levels: Vec<(String, u64)> =
        caches.iter().skip(1).map(|cache| (format!("L{}", cache.level), cache.bytes as u64 / 4)).collect();
    let first_level = probes.len();
    for (_, bytes) in &levels {
        probes.push(Probe::new(SUM, block, &greatest, pieces(*bytes))?);
    }
    let mut copies = [Copied::large(&memory)?, Copied::small(&memory)?];
    let mut samples = vec![Vec::new(); probes.len()];
    // The first round only makes everything warm.
    for round in 0..=ROUNDS {
        for (probe, samples) in probes.iter_mut().zip(&mut samples) {
            let found = probe.nanoseconds()?;
            samples.extend(found.into_iter().filter(|_| round > 0));
        }
        for copy in &mut copies {
            let found = copy.nanoseconds()?;
            copy.samples.extend(found.into_iter().filter(|_| round > 0));
        }
    }
    let spread = samples.iter().chain(copies.iter().map(|copy| &copy.samples)).map(|samples| spread(samples));
    let spread = spread.fold(0.0, f64::max);
    let medians: Vec<f64> = samples.iter().map(|samples| median(samples)).collect();
    let [large, small] = copies.map(|copy| median(&copy.samples));
    let timing = |(mode, access): (&CpuMode, &[f64])| timing(*mode, access, large, small);
    let modes: Vec<Timing> = modes.iter().zip(medians.chunks(ACCESSES)).map(timing).collect();
    let mut bandwidth = Vec::new();
    if let Some((best, access)) = modes.last().zip(medians[..first_level].chunks(ACCESSES).last()) {
        bandwidth.push(("L1".to_string(), best.mode.vectors().bytes() as f64 / best.unit));
        let read = medians[first_level..].iter().map(|nanoseconds| WIDTH as f64 / nanoseconds);
        bandwidth.extend(levels.into_iter().map(|(name, _)| name).zip(read));
        bandwidth.push(("memory".into(), WIDTH as f64 / access[STREAM]));
    }
    Ok(Timings { modes, bandwidth, spread })
}

/// The kernels of one instruction set, in this order.
const UNIT: usize = 0;
const REVERSED: usize = 1;
const GATHER: usize = 2;
const ACROSS: usize = 3;
const STREAM: usize = 4;
const FAR: usize = 5;
const ACCESSES: usize = 6;

fn accesses<'a>(block: &'a Block, machine: &Machine, bytes: u64) -> Result<[Probe<'a>; ACCESSES], String> {
    // 128 by 32 elements take 16 KiB (one vector after the other needs 128 lanes where code is made for several at
    // once); 128 repetitions, each a line further, another 8.
    let sums = |offset: i64, lanes: i64, [count, step]: [i64; 2]| {
        let dims = [Dim::new(128, 16), Dim::new(128, lanes), Dim::new(count, step)];
        Probe::new(SUMS, block, machine, vec![Lmad::new(offset, dims); 16])
    };
    let sum = |views: Vec<Lmad>| Probe::new(SUM, block, machine, views);
    let elements = (bytes / WIDTH) as i64;
    // From page to page, so that nothing is fetched ahead; the next time beside that, until everything was touched.
    let (page, line) = (1024 + 16, (LINE / WIDTH) as i64);
    let far = (0..page / line).map(|k| Lmad::new(k * line, [Dim::new(elements / page, page)]));
    Ok([
        sums(0, 1, [32, 128])?,
        sums(127, -1, [32, 128])?,
        sums(0, 33, [16, 2])?,
        sums(0, 33, [32, 1])?,
        sum(pieces(bytes))?,
        sum(far.collect())?,
    ])
}

/// Stretches that follow each other up to so many bytes; of a few, several times.
fn pieces(bytes: u64) -> Vec<Lmad> {
    let (all, piece) = ((bytes / WIDTH) as i64, (PIECE / WIDTH) as i64);
    let piece = piece.min(all);
    let once = (0..all / piece).map(|k| Lmad::new(k * piece, [Dim::new(piece, 1)]));
    once.cycle().take(((all / piece) as usize).max(16)).collect()
}

/// The model's times from nanoseconds by element, by line of a large copy, and of a small copy.
fn timing(mode: CpuMode, access: &[f64], copied_line: f64, small_copy: f64) -> Timing {
    let lanes = (mode.vectors().bytes() as u64 / WIDTH) as f64;
    let (unit, line) = (access[UNIT] * lanes, (LINE / WIDTH) as f64);
    let count = |nanoseconds: f64| ((nanoseconds / unit).round() as u64).max(1);
    // What the model counts for the vector access itself is not the line's.
    let times = CpuTimes {
        near_line: count(access[STREAM] * line - line / lanes * unit),
        far_line: count(access[FAR] - access[GATHER]),
        reversed: count(access[REVERSED] * lanes),
        tile: count(access[ACROSS] * lanes),
        gather_lane: count(access[GATHER]),
        copy_line: count(copied_line),
        copy_start: count(small_copy),
    };
    Timing { mode, times, unit }
}

/// A kernel with the views that it is launched on, one after the other.
struct Probe<'a> {
    region: VerifiedRegion,
    code: Arc<dyn Compiled>,
    block: &'a Block,
    views: Vec<Lmad>,
    result: Lmad,
    out: Vec<u8>,
    /// Elements that a launch reads.
    accesses: u64,
}

impl<'a> Probe<'a> {
    /// All views have the same shape and strides.
    fn new(text: &str, block: &'a Block, machine: &Machine, views: Vec<Lmad>) -> Result<Probe<'a>, String> {
        let region = verified_from_text(text)?;
        let first = views.first().ok_or("nothing to measure")?.clone();
        let shape = first.shape();
        let result = Lmad::row_major(&shape[..shape.len() - 1]);
        let mut params: Vec<ObservedParam> =
            shape.iter().map(|n| ObservedParam::Scalar(galopvm::Scalar::i64(*n))).collect();
        let block_elements = (block.len() as u64 / WIDTH) as i64;
        params.push(ObservedParam::Array { lmad: first.clone(), block: 0, block_elements, references: 1 });
        let plan = plan(&region, machine)?;
        let observed = Observed { params };
        let unit = Unit { name: "", region: &region, plan: &plan, observed: &observed, machine };
        let code = X86Backend::default().compile(unit).map_err(|refusal| refusal.reason)?;
        let out = vec![0; result.elements() as usize * WIDTH as usize];
        let accesses = (first.elements() as u64).max(1);
        let mut probe = Probe { region, code, block, views, result, out, accesses };
        for k in 0..probe.views.len() {
            let region = probe.region.clone();
            probe.launch(k).check(&region).map_err(|error| error.to_string())?;
        }
        Ok(probe)
    }

    fn launch(&mut self, view: usize) -> Launch<'_> {
        let lmad = self.views[view].clone();
        let sizes = lmad.shape();
        let mut arguments: Vec<Argument> = sizes.iter().map(|n| Argument::Scalar(*n as u64)).collect();
        arguments.push(Argument::Array { buffer: 0, lmad });
        Launch {
            buffers: vec![Buffer::Read(self.block.bytes()), Buffer::Write(&mut self.out)],
            arguments: arguments.into(),
            results: vec![ResultView { buffer: 1, lmad: self.result.clone() }],
        }
    }

    /// The time of each launch by element.
    fn nanoseconds(&mut self) -> Result<Vec<f64>, String> {
        let (region, code, accesses) = (self.region.clone(), self.code.clone(), self.accesses as f64);
        let mut times = Vec::with_capacity(self.views.len());
        for k in 0..self.views.len() {
            let mut launch = self.launch(k);
            let launch = launch.check(&region).map_err(|error| error.to_string())?;
            let start = Instant::now();
            code.run(launch).map_err(|error| format!("a kernel failed: {error:?}"))?;
            times.push(start.elapsed().as_secs_f64() * 1e9 / accesses);
        }
        Ok(times)
    }
}

/// Lanes across the innermost axis of the kernel; a reduction of everything has them anyway.
fn plan(region: &VerifiedRegion, machine: &Machine) -> Result<VerifiedPlan, String> {
    let mut plan = Plan::default();
    let lane = region.region().body.stms.iter().find_map(|stm| match &stm.rhs {
        galopvm_kir::Rhs::Kernel { axes, .. } => axes.last(),
        _ => None,
    });
    if let Some(axis) = lane {
        plan.decide(Decision::Lane(axis.var), "this access is to be measured");
    }
    complete(region, machine, &mut plan);
    let reads = region.region().all_reads().iter().map(|read| read.id).collect();
    plan.decide(Decision::Unchecked(reads), "all indices are axes over the array's own extents");
    VerifiedPlan::new(plan, region.region())
}

/// Parts of a transposed array that are copied.
struct Copied {
    memory: Memory,
    parts: Vec<Array>,
    /// How often each is copied, and what of it is counted.
    repeat: usize,
    count: u64,
    samples: Vec<f64>,
}

impl Copied {
    /// 96 MB, by line; an eightieth at a time.
    fn large(memory: &Memory) -> Result<Copied, String> {
        let (rows, columns, part) = (6000, 4000, 50);
        let array = transposed(memory, rows, columns)?;
        let slice = |k: i64| {
            let dims = [SliceIndex::Range { start: Some(k * part), end: Some((k + 1) * part), step: None }];
            array.clone().slice(&dims).map_err(|trap| trap.to_string())
        };
        let parts = (0..columns / part).map(slice).collect::<Result<_, _>>()?;
        let count = (part * rows) as u64 * WIDTH / LINE;
        Ok(Copied { memory: memory.clone(), parts, repeat: 1, count, samples: Vec::new() })
    }

    /// One line.
    fn small(memory: &Memory) -> Result<Copied, String> {
        let parts = vec![transposed(memory, 4, 4)?; 16];
        Ok(Copied { memory: memory.clone(), parts, repeat: 100, count: 100, samples: Vec::new() })
    }

    /// The time of each part, by what is counted.
    fn nanoseconds(&mut self) -> Result<Vec<f64>, String> {
        // All are kept until the end, as a copy of the whole would be: the caches do not hold them.
        let mut kept = Vec::with_capacity(self.parts.len());
        let mut times = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let start = Instant::now();
            for k in 0..self.repeat {
                let copy = part.copy(&self.memory).map_err(|error| error.to_string())?;
                if k + 1 == self.repeat {
                    kept.push(copy);
                }
            }
            times.push(start.elapsed().as_secs_f64() * 1e9 / self.count as f64);
        }
        Ok(times)
    }
}

fn transposed(memory: &Memory, rows: i64, columns: i64) -> Result<Array, String> {
    let array = filled(memory, rows * columns)?.reshape(memory, &[rows, columns]);
    array.and_then(|array| array.permute(&[1, 0])).map_err(|trap| trap.to_string())
}

/// An array whose pages are all there.
fn filled(memory: &Memory, elements: i64) -> Result<Array, String> {
    let failed = |error: galopvm_runtime::OutOfMemory| error.to_string();
    let mut block = memory.block(elements as usize * WIDTH as usize).map_err(failed)?;
    block.bytes_mut().ok_or("a fresh block is not one's own")?.fill(1);
    Array::from_block(block, ElemType::I32, Lmad::row_major(&[elements])).ok_or("a block is too small".into())
}

fn sorted(samples: &[f64]) -> Vec<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn median(samples: &[f64]) -> f64 {
    sorted(samples).get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The distance from the fastest quarter to the median, as a part of it: disturbances that come now and then do not
/// count, since the median does not see them either.
fn spread(samples: &[f64]) -> f64 {
    match sorted(samples).get(samples.len() / 4) {
        Some(quarter) => 1.0 - quarter / median(samples),
        None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_counts_what_it_was_measured_from() {
        // A vector of 8 takes 2 ns; lines take 16 and 40 of them, copies 60 and 500.
        let mut access = [0.0; ACCESSES];
        access[UNIT] = 0.25;
        access[REVERSED] = 0.5;
        access[GATHER] = 4.0;
        access[ACROSS] = 3.0;
        access[STREAM] = (32.0 + 4.0) / 16.0;
        access[FAR] = 84.0;
        let Timing { times, unit, .. } = timing(CpuMode::Avx2, &access, 120.0, 1000.0);
        assert_eq!(unit, 2.0);
        assert_eq!(times.to_string(), "near 16 far 40 reversed 2 tile 12 gather 2 copyline 60 copystart 500");
        // Faster than the unit is the unit.
        let times = timing(CpuMode::Avx2, &[1.0; ACCESSES], 0.0, 0.0).times;
        assert_eq!((times.copy_line, times.copy_start, times.far_line), (1, 1, 1));
    }

    #[test]
    fn medians_forget_what_disturbed_the_machine() {
        assert_eq!(median(&[3.0, 1.0, 900.0, 2.0, 3.0]), 3.0);
        assert!(median(&[]).is_nan());
        assert!(spread(&[1.0, 2.0, 2.0, 2.0, 900.0]) < 0.1 && spread(&[]) == 0.0);
        assert!(spread(&[1.0, 1.0, 4.0, 4.0]) > 0.7);
    }

    #[test]
    fn every_kernel_runs() {
        if !X86Backend::is_available() {
            return;
        }
        let memory = Memory::default();
        let bytes = 1 << 20;
        let array = filled(&memory, (bytes / WIDTH) as i64).unwrap();
        for cpu in CpuMode::ALL.into_iter().filter(|mode| *mode <= X86Backend::greatest_mode()) {
            let machine = Machine { vectors: cpu.vectors(), ..Machine::default() };
            for mut probe in accesses(array.block(), &machine, bytes).unwrap() {
                assert!(probe.nanoseconds().unwrap().iter().all(|time| *time > 0.0));
                // All elements are 0x01010101; a sum tells how many were added.
                let sum = i32::from_le_bytes(probe.out[..4].try_into().unwrap());
                let count = *probe.views[0].shape().last().unwrap() as i32;
                assert_eq!(sum, count.wrapping_mul(0x0101_0101));
            }
        }
    }
}
