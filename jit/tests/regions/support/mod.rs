//! Runs a region in text form on the reference evaluator and on the x86 back end in every mode, and compares.
#![allow(dead_code, missing_docs)]

pub mod operators;

use galopvm_analysis::plan::complete;
use galopvm_base::{ElemType, Scalar};
use galopvm_jit::{CpuMode, Options, X86Backend};
use galopvm_kir::backend::{StrideClass, stride_class};
use galopvm_kir::text::{parse_plan, parse_region, print_plan};
use galopvm_kir::{
    Argument, Backend, Buffer, Compiled, Decision, Launch, Machine, Observed, ObservedParam, Plan, Reference,
    Refusal, ResultView, Rhs, RunError, Unit, VerifiedPlan, VerifiedRegion, types, verify,
};
use galopvm_lmad::Lmad;
pub use galopvm_testkit::{Layout, Random};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Interesting and random bits of a type.
pub fn value_of(ty: ElemType, random: &mut Random) -> u64 {
    let r = random.bits();
    let bits = match (ty, random.below(4)) {
        (ElemType::F16, 0 | 1) => {
            [0, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x0001][random.below(8)]
        }
        (ElemType::F32, 0) => {
            let odd = [
                0.0f32,
                -0.0,
                1.0,
                -1.0,
                0.5,
                f32::INFINITY,
                f32::NEG_INFINITY,
                f32::NAN,
                3e9,
                -3e9,
                1e30,
                1e-40,
            ];
            u64::from(odd[random.below(odd.len())].to_bits())
        }
        (ElemType::F32, 1 | 2) => u64::from(((r >> 40) as f32 / 65536.0 - 100.0).to_bits()),
        (ElemType::F64, 0) => {
            let odd =
                [0.0, -0.0, 1.0, -1.0, 2.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e19, -1e19, 1e300];
            odd[random.below(odd.len())].to_bits()
        }
        (ElemType::F64, 1 | 2) => ((r >> 40) as f64 / 65536.0 - 100.0).to_bits(),
        (ElemType::Bool, _) => r >> 60 & 1,
        (_, 0) => [0, 1, u64::MAX, 2, 7, 31, 32, 64, 1 << 7, 1 << 15, 1 << 31, 1 << 63][random.below(12)],
        (_, 1) => r >> 58,
        _ => r,
    };
    bits & ty.mask()
}

/// An argument of a test.
#[derive(Clone)]
pub enum Arg {
    Scalar(Scalar),
    /// Element type, the block's elements, the view.
    Array(ElemType, Vec<u64>, Lmad),
}

pub fn size(n: usize) -> Arg {
    Arg::Scalar(Scalar::i64(n as i64))
}

/// A row-major array of random elements.
pub fn array(ty: ElemType, shape: &[i64], random: &mut Random) -> Arg {
    let count = shape.iter().product::<i64>() as usize;
    Arg::Array(ty, (0..count).map(|_| value_of(ty, random)).collect(), Lmad::row_major(shape))
}

/// A row-major array of tame floats, for reductions.
pub fn tame(ty: ElemType, shape: &[i64], random: &mut Random) -> Arg {
    let count = shape.iter().product::<i64>() as usize;
    let one = |r: u64| match ty {
        ElemType::F32 => u64::from(((r >> 40) as f32 / (1 << 24) as f32).to_bits()),
        ElemType::F64 => ((r >> 40) as f64 / (1 << 24) as f64).to_bits(),
        _ => r & ty.mask(),
    };
    Arg::Array(ty, (0..count).map(|_| one(random.bits())).collect(), Lmad::row_major(shape))
}

fn bytes_of(ty: ElemType, elements: &[u64]) -> Vec<u8> {
    elements.iter().flat_map(|e| e.to_le_bytes()[..ty.bytes()].to_vec()).collect()
}

pub fn region(text: &str) -> VerifiedRegion {
    let mut region = parse_region(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    types::infer(&mut region);
    verify(region).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

pub fn observe(args: &[Arg]) -> Observed {
    let params = args.iter().enumerate().map(|(k, arg)| match arg {
        Arg::Scalar(s) => ObservedParam::Scalar(*s),
        Arg::Array(_, data, lmad) => ObservedParam::Array {
            lmad: lmad.clone(),
            block: k as u32,
            block_elements: data.len() as i64,
            references: 1,
        },
    });
    Observed { params: params.collect() }
}

/// The instruction sets that code is made for on this processor; one that it lacks stands for the widest that it has.
pub fn modes() -> impl Iterator<Item = CpuMode> {
    CpuMode::ALL.into_iter().filter(|_| X86Backend::is_available())
}

pub fn machine(cpu: CpuMode) -> Machine {
    // Small caches, so that streaming stores are used at the sizes of tests.
    Machine {
        vectors: cpu.vectors(),
        threads: 2,
        thread_grain: 1 << 12,
        l2_bytes: 1 << 8,
        ..Machine::default()
    }
}

pub fn compile(
    region: &VerifiedRegion,
    plan: &str,
    args: &[Arg],
    cpu: CpuMode,
    strict_fp: bool,
) -> Result<Arc<dyn Compiled>, Refusal> {
    compile_for(region, plan_of(region, plan, cpu), args, cpu, strict_fp)
}

/// The plan of a text, with what follows from its lane if it says nothing of that.
fn plan_of(region: &VerifiedRegion, text: &str, cpu: CpuMode) -> Plan {
    let text = if text.is_empty() { "plan" } else { text };
    let mut plan = parse_plan(region.region(), text).unwrap_or_else(|e| panic!("{e}"));
    if !text.contains("groups") {
        complete(region, &machine(cpu), &mut plan);
    }
    plan
}

/// The plan of a text; of none: the one without decisions, and a plan for each axis that can go across the lanes and one for
/// no lanes across the outermost kernel, with what follows from that.
fn plans_of(region: &VerifiedRegion, text: &str, cpu: CpuMode) -> Vec<Plan> {
    // Without lanes there are no vectors to decide about.
    let is_for_vectors = text.contains("groups") && cpu == CpuMode::Scalar;
    if !text.is_empty() && !is_for_vectors {
        return vec![plan_of(region, text, cpu)];
    }
    let mut plans = vec![Plan::default()];
    if cpu != CpuMode::Scalar {
        let stms = &region.region().body.stms;
        let kernel = stms.iter().find(|stm| matches!(stm.rhs, Rhs::Kernel { .. }));
        let singly = kernel.and_then(|stm| stm.rhs.axes().first()).map(|axis| Decision::Singly(axis.var));
        let lanes = region.region().parallel_axes().into_iter().map(Decision::Lane);
        let mut decisions: Vec<Option<Decision>> = lanes.chain(singly).map(Some).collect();
        if decisions.is_empty() {
            // A scatter has no such axis, but lanes.
            decisions.push(None);
        }
        for decision in decisions {
            let mut plan = Plan::default();
            decision.into_iter().for_each(|decision| plan.decide(decision, "a test"));
            complete(region, &machine(cpu), &mut plan);
            plans.push(plan);
        }
    }
    plans
}

fn compile_for(
    region: &VerifiedRegion,
    plan: Plan,
    args: &[Arg],
    cpu: CpuMode,
    strict_fp: bool,
) -> Result<Arc<dyn Compiled>, Refusal> {
    compile_on(region, plan, args, &machine(cpu), strict_fp)
}

/// Code for a machine, as the plan says.
pub fn compile_on(
    region: &VerifiedRegion,
    plan: Plan,
    args: &[Arg],
    machine: &Machine,
    strict_fp: bool,
) -> Result<Arc<dyn Compiled>, Refusal> {
    let plan = VerifiedPlan::new(plan, region.region()).unwrap_or_else(|e| panic!("{e}"));
    let observed = observe(args);
    let unit = Unit { name: "", region, plan: &plan, observed: &observed, machine };
    X86Backend::new(Options { strict_fp, ..Options::default() }).compile(unit)
}

/// Runs a compiled region; the elements of each result.
pub fn run(region: &VerifiedRegion, code: &dyn Compiled, args: &[Arg]) -> Result<Vec<Vec<u64>>, RunError> {
    run_until(region, code, args, &|| false)
}

/// The same, but asks whether to go on.
pub fn run_until(
    region: &VerifiedRegion,
    code: &dyn Compiled,
    args: &[Arg],
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Vec<Vec<u64>>, RunError> {
    run_in(region, code, args, stop, &Lmad::row_major)
}

/// The same with results that lie in blocks of their own as `place` says.
pub fn run_in(
    region: &VerifiedRegion,
    code: &dyn Compiled,
    args: &[Arg],
    stop: &(dyn Fn() -> bool + Sync),
    place: &dyn Fn(&[i64]) -> Lmad,
) -> Result<Vec<Vec<u64>>, RunError> {
    let inputs: Vec<Vec<u8>> = args
        .iter()
        .filter_map(|a| if let Arg::Array(ty, data, _) = a { Some(bytes_of(*ty, data)) } else { None })
        .collect();
    let mut arguments = Vec::new();
    let mut blocks = 0;
    for arg in args {
        arguments.push(match arg {
            Arg::Scalar(s) => Argument::Scalar(s.bits),
            Arg::Array(_, _, lmad) => {
                blocks += 1;
                Argument::Array { buffer: blocks - 1, lmad: lmad.clone() }
            }
        });
    }
    let buffers = inputs.iter().map(|b| Buffer::Read(b)).collect();
    let mut launch = Launch { buffers, arguments: arguments.into(), results: Vec::new() };
    let views: Vec<Lmad> =
        region.results().iter().map(|ty| place(&launch.shape(region, ty).expect("a shape"))).collect();
    let sizes: Vec<usize> = region
        .results()
        .iter()
        .zip(&views)
        .map(|(ty, view)| ty.elem.bytes() * view.places().max().map_or(0, |last| last as usize + 1))
        .collect();
    let mut outputs: Vec<Vec<u8>> = sizes.iter().map(|n| vec![0xaa; *n + 64]).collect();
    // Every other result begins at a cache line.
    let skips: Vec<usize> = outputs
        .iter()
        .enumerate()
        .map(|(k, o)| if k % 2 == 0 { o.as_ptr().align_offset(64) } else { 1 })
        .collect();
    for (k, (output, view)) in outputs.iter_mut().zip(&views).enumerate() {
        let begins = region.begins_as(k).and_then(|param| {
            let at = region.region().params.iter().position(|known| *known == param)?;
            if let Arg::Array(ty, data, lmad) = &args[at] { Some((*ty, data, lmad)) } else { None }
        });
        let Some((ty, data, lmad)) = begins else { continue };
        for (to, from) in view.places().zip(lmad.places()) {
            let at = skips[k] + to as usize * ty.bytes();
            output[at..at + ty.bytes()].copy_from_slice(&data[from as usize].to_le_bytes()[..ty.bytes()]);
        }
    }
    for (((output, view), skip), size) in outputs.iter_mut().zip(&views).zip(&skips).zip(&sizes) {
        launch.results.push(ResultView { buffer: launch.buffers.len(), lmad: view.clone() });
        launch.buffers.push(Buffer::Write(&mut output[*skip..skip + size]));
    }
    code.run_until(launch.check(region).expect("it fits"), stop)?;
    drop(launch);
    let mut results = Vec::new();
    for (((ty, view), output), (skip, size)) in
        region.results().iter().zip(&views).zip(&outputs).zip(skips.iter().zip(&sizes))
    {
        let (elem, bytes) = (ty.elem, &output[*skip..skip + size]);
        let mut is_place = vec![false; size / elem.bytes()];
        results.push(view.places().map(|at| element(elem, bytes, at as usize)).collect());
        view.places().for_each(|at| is_place[at as usize] = true);
        for (at, _) in is_place.iter().enumerate().filter(|(_, is_place)| !**is_place) {
            let gap = &bytes[at * elem.bytes()..(at + 1) * elem.bytes()];
            assert!(gap.iter().all(|byte| *byte == 0xaa), "something is stored outside of {view}");
        }
    }
    Ok(results)
}

/// An element of a block.
pub fn element(ty: ElemType, bytes: &[u8], at: usize) -> u64 {
    let bytes = &bytes[at * ty.bytes()..(at + 1) * ty.bytes()];
    bytes.iter().rev().fold(0u64, |n, b| n << 8 | u64::from(*b))
}

pub fn reference(region: &VerifiedRegion, args: &[Arg]) -> Result<Vec<Vec<u64>>, RunError> {
    let plan = VerifiedPlan::new(Plan::default(), region.region()).expect("the empty plan");
    let (observed, machine) = (observe(args), Machine::default());
    let unit = Unit { name: "", region, plan: &plan, observed: &observed, machine: &machine };
    let code = Reference.compile(unit).expect("the reference takes everything");
    run(region, code.as_ref(), args)
}

/// Equal bits, both NaN, or close where that is allowed.
pub fn same(ty: ElemType, a: u64, b: u64, tolerance: f64) -> bool {
    if a == b {
        return true;
    }
    if !ty.is_float() {
        return false;
    }
    let (x, y) = (Scalar::new(ty, a).as_f64(), Scalar::new(ty, b).as_f64());
    x.is_nan() && y.is_nan() || (x - y).abs() <= tolerance * x.abs().max(y.abs())
}

/// Compares all modes with the reference, without a plan under each choice of lanes.
pub fn check_with(text: &str, plan: &str, args: &[Arg], tolerance: f64) {
    check_launches(text, plan, &[args.to_vec()], tolerance);
}

/// The same for several launches: what is compiled for one of them serves all whose strides are of the same classes.
pub fn check_launches(text: &str, plan: &str, launches: &[Vec<Arg>], tolerance: f64) {
    let region = region(text);
    let mut groups: BTreeMap<Vec<StrideClass>, Vec<&Vec<Arg>>> = BTreeMap::new();
    for args in launches {
        groups.entry(classes(args)).or_default().push(args);
    }
    groups.values().for_each(|launches| check_group(text, &region, plan, launches, tolerance));
}

/// The classes of all strides; of dimensions that have at most one index, any will do.
fn classes(args: &[Arg]) -> Vec<StrideClass> {
    let dims = args.iter().flat_map(|arg| match arg {
        Arg::Array(_, _, lmad) => lmad.dims.as_slice(),
        Arg::Scalar(_) => &[],
    });
    dims.map(|dim| if dim.size <= 1 { StrideClass::Unit } else { stride_class(dim.stride) }).collect()
}

fn check_group(text: &str, region: &VerifiedRegion, plan: &str, launches: &[&Vec<Arg>], tolerance: f64) {
    let expected: Vec<_> = launches.iter().map(|args| reference(region, args)).collect();
    let last = launches.last().expect("there is a launch");
    for cpu in modes() {
        for plan in plans_of(region, plan, cpu) {
            let title = format!("{cpu}, {}{text}", print_plan(region.region(), &plan));
            let code = compile_for(region, plan, last, cpu, false);
            let code = code.unwrap_or_else(|e| panic!("{e}\n{title}"));
            for (args, expected) in launches.iter().zip(&expected) {
                let got = run(region, code.as_ref(), args);
                compare(region, &title, expected, &got, tolerance, code.as_ref());
                for layout in [Layout::Padded, Layout::Turned] {
                    let got = run_in(region, code.as_ref(), args, &|| false, &|shape| layout.view(shape).0);
                    compare(
                        region,
                        &format!("{layout:?}, {title}"),
                        expected,
                        &got,
                        tolerance,
                        code.as_ref(),
                    );
                }
            }
        }
    }
}

pub fn compare(
    region: &VerifiedRegion,
    title: &str,
    expected: &Result<Vec<Vec<u64>>, RunError>,
    got: &Result<Vec<Vec<u64>>, RunError>,
    tolerance: f64,
    code: &dyn Compiled,
) {
    let (Ok(expected), Ok(got)) = (expected, got) else {
        assert_eq!(expected, got, "{title}");
        return;
    };
    for (k, ty) in region.results().iter().enumerate() {
        assert_eq!(expected[k].len(), got[k].len(), "{title}");
        for (i, (a, b)) in expected[k].iter().zip(&got[k]).enumerate() {
            if !same(ty.elem, *a, *b, tolerance) {
                let show = |bits: u64| Scalar::new(ty.elem, bits);
                if std::env::var_os("SHOW_ASM").is_some() {
                    println!("{}", code.listing(galopvm_kir::Listing::Asm).unwrap_or_default());
                }
                panic!(
                    "result {k}, element {i} of {}: expected {}, got {}\n{title}",
                    expected[k].len(),
                    show(*a),
                    show(*b)
                );
            }
        }
    }
}

pub fn check(text: &str, args: &[Arg]) {
    check_with(text, "", args, 0.0);
}

/// The same for launches of each size, which `args` makes.
pub fn check_sizes(text: &str, sizes: impl IntoIterator<Item = usize>, args: impl FnMut(usize) -> Vec<Arg>) {
    let launches: Vec<Vec<Arg>> = sizes.into_iter().map(args).collect();
    check_launches(text, "", &launches, 0.0);
}

/// Sizes around multiples of vector widths.
pub const SIZES: [usize; 14] = [0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 130, 1000];
