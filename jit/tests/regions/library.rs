//! Functions of the mathematical library in registers: the bits of the interpreter's functions in every mode, for arguments
//! of every kind, where some lanes are off, and where some need the helper.

use crate::support::*;
use galopvm_base::scalar::{eval, steps_of};
use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_jit::CpuMode;
use galopvm_kir::{Argument, Buffer, Compiled, Launch, Listing, ResultView, VerifiedRegion};
use galopvm_lmad::Lmad;
use std::sync::Arc;

/// The functions that have a form without branches.
fn functions() -> impl Iterator<Item = (ScalarOp, ElemType)> {
    let types = [ElemType::F32, ElemType::F64].into_iter();
    types
        .flat_map(|ty| ScalarOp::ALL.iter().map(move |op| (*op, ty)))
        .filter(|(op, ty)| op.accepts(*ty) && steps_of(*op, *ty).is_some())
}

fn bits_of(ty: ElemType, x: f64) -> u64 {
    Scalar::from_f64(ty, x).bits
}

/// An argument from one of the ranges in which functions do different things, or any bits.
fn argument(ty: ElemType, random: &mut Random) -> u64 {
    let x = match random.below(12) {
        0 => random.real(-1.0, 1.0),
        1 => random.real(-10.0, 10.0),
        2 => random.real(-120.0, 120.0),
        3 => random.real(-800.0, 800.0),
        // Around multiples of pi/2.
        4 => random.between(-700_000, 700_000) as f64 * std::f64::consts::FRAC_PI_2,
        5 => random.real(-1.1e6, 1.1e6),
        // Around 1, and all sizes.
        6 => 1.0 + random.real(-1.0, 1.0) * 2f64.powi(random.between(-60, -1) as i32),
        7 => random.real(-1.0, 1.0) * 2f64.powi(random.between(-1080, 1023) as i32),
        8 => random.real(-1.0, 1.0) * 2f64.powi(random.between(-152, 128) as i32),
        9 => random.between(-40, 40) as f64 / 2.0,
        10 => *random.pick(&[
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            -0.5,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            700.0,
            -700.0,
            1_048_576.0,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX,
            f64::MIN,
            1e-40,
            22.0,
        ]),
        _ => return random.bits() & ty.mask(),
    };
    bits_of(ty, x)
}

fn arguments(ty: ElemType, n: usize, random: &mut Random) -> Arg {
    Arg::Array(ty, (0..n).map(|_| argument(ty, random)).collect(), Lmad::row_major(&[n as i64]))
}

/// A kernel that applies an operation to one or two arrays.
fn applied(op: ScalarOp, ty: ElemType) -> String {
    let (params, reads) = match op.arity() {
        1 => (format!("a : [n]{ty}"), "a[i]"),
        _ => (format!("a : [n]{ty}, b : [n]{ty}"), "a[i], b[i]"),
    };
    format!(
        "region r (n : i64, {params})
         let r : [n]{ty} = kernel i < n do let x : {ty} = {op}({reads}) in x
         in r"
    )
}

#[test]
fn arguments_of_every_kind() {
    let mut random = Random::new(41);
    for (op, ty) in functions() {
        let mut launches = Vec::new();
        for n in [4000, 1, 9, 17, 37] {
            let mut args = vec![size(n)];
            args.extend((0..op.arity()).map(|_| arguments(ty, n, &mut random)));
            launches.push(args);
        }
        check_launches(&applied(op, ty), "", &launches, 0.0);
    }
}

/// All lanes but one have a value at once, wherever that one is.
#[test]
fn one_lane_needs_the_helper() {
    let mut random = Random::new(42);
    for (op, ty) in functions() {
        let mut launches = Vec::new();
        for n in [8, 16, 35] {
            for at in 0..n {
                let mut args = vec![size(n)];
                for k in 0..op.arity() {
                    let odd = if k == 0 { 1e30 } else { f64::INFINITY };
                    let mut data: Vec<u64> = (0..n).map(|_| bits_of(ty, random.real(0.1, 0.9))).collect();
                    data[at] = bits_of(ty, if op == ScalarOp::Log { -odd } else { odd });
                    args.push(Arg::Array(ty, data, Lmad::row_major(&[n as i64])));
                }
                launches.push(args);
            }
        }
        check_launches(&applied(op, ty), "", &launches, 0.0);
    }
}

#[test]
fn lanes_that_are_off() {
    let mut random = Random::new(43);
    for (op, ty) in functions() {
        let operands = ["x", "b[i]"][..op.arity()].join(", ");
        let text = format!(
            "region r (n : i64, a : [n]{ty}, b : [n]{ty})
             let (p : [n]{ty}, q : [n]{ty}) = kernel i < n do
               let x : {ty} = a[i]
               let y : {ty} = if x > 1.0{ty} then let s : {ty} = {op}({operands}) in s else in x
               let z : {ty} = loop (t : {ty}) = (x) for k < i % 4 do let u : {ty} = {op}({})
                 in u
               in (y, z)
             in (p, q)",
            ["t", "b[i]"][..op.arity()].join(", "),
        );
        check_sizes(&text, [33, 130], |n| {
            vec![size(n), arguments(ty, n, &mut random), arguments(ty, n, &mut random)]
        });
    }
}

#[test]
fn arguments_that_do_not_vary() {
    let mut random = Random::new(44);
    for (op, ty) in functions() {
        let operands = |first: &str| [first, "t"][..op.arity()].join(", ");
        let text = format!(
            "region r (n : i64, m : i64, s : {ty}, t : {ty}, a : [n]{ty})
             let r : [n]{ty} = kernel i < n do
               let x : {ty} = {op}({})
               let y : {ty} = loop (u : {ty}) = (s) for k < m do let v : {ty} = {op}({}) in v
               in x + y + {op}({})
             in r",
            operands("s"),
            operands("u"),
            operands("a[i]"),
        );
        let scalar = |random: &mut Random| Arg::Scalar(Scalar::new(ty, argument(ty, random)));
        for _ in 0..12 {
            let (s, t) = (scalar(&mut random), scalar(&mut random));
            check(&text, &[size(19), size(3), s, t, arguments(ty, 19, &mut random)]);
        }
    }
}

/// Many functions in one kernel: more values than registers, and what is called rarely keeps them all.
#[test]
fn many_functions_together() {
    let text = "region r (n : i64, a : [n]f64, b : [n]f32, c : [n]i64)
        let (p : [n]f64, q : [n]f32, w : [n]i64) = kernel i < n do
          let x : f64 = a[i]
          let y : f32 = b[i]
          let f : f64 = sin(x) + cos(x)
          let g : f64 = exp(x) * log(x)
          let h : f64 = tanh(x) - tan(x)
          let k : f32 = pow(y, 3.5f32) + sin(y)
          let l : f32 = atan2(y, cos(y))
          let (m : f64, o : f32, u : i64) = loop (d : f64, e : f32, j : i64) = (f, l, c[i])
            while j % 3 != 0 do
              let v : f64 = sin(d + g) * h
              let z : f32 = exp(-e) + to_f32(v)
              in (v, z, j + 1)
          in (m + g + atan(x), o * k + log2(y), u)
        in (p, q, w)";
    let mut random = Random::new(45);
    check_sizes(text, SIZES, |n| {
        vec![
            size(n),
            arguments(ElemType::F64, n, &mut random),
            arguments(ElemType::F32, n, &mut random),
            array(ElemType::I64, &[n as i64], &mut random),
        ]
    });
}

fn code_of(region: &VerifiedRegion, op: ScalarOp, ty: ElemType, cpu: CpuMode) -> Arc<dyn Compiled> {
    let mut random = Random::new(46);
    let mut args = vec![size(32)];
    args.extend((0..op.arity()).map(|_| arguments(ty, 32, &mut random)));
    compile(region, "", &args, cpu, false).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn no_helper_is_called_for_each_lane() {
    for (op, ty) in functions() {
        let region = region(&applied(op, ty));
        for cpu in modes() {
            let text = code_of(&region, op, ty, cpu).listing(Listing::Lir).expect("it has a listing");
            assert!(!text.contains("= help"), "{op} on {ty}, {cpu}:\n{text}");
            let steps = steps_of(op, ty).expect("it has steps");
            assert_eq!(text.contains("= mend"), steps.known.is_some(), "{op} on {ty}, {cpu}:\n{text}");
        }
    }
}

/// What code gives for operands as they lie in memory, row-major.
fn results(region: &VerifiedRegion, code: &dyn Compiled, n: usize, operands: &[Vec<u8>]) -> Vec<u8> {
    let mut result = vec![0u8; operands[0].len()];
    let view = Lmad::row_major(&[n as i64]);
    let mut launch = Launch { buffers: Vec::new(), arguments: Vec::new().into(), results: Vec::new() };
    let mut arguments = vec![Argument::Scalar(n as u64)];
    for (buffer, operand) in operands.iter().enumerate() {
        launch.buffers.push(Buffer::Read(operand));
        arguments.push(Argument::Array { buffer, lmad: view.clone() });
    }
    launch.arguments = arguments.into();
    launch.results.push(ResultView { buffer: launch.buffers.len(), lmad: view });
    launch.buffers.push(Buffer::Write(&mut result));
    code.run(launch.check(region).expect("it fits")).expect("it runs");
    drop(launch);
    result
}

fn bytes_of(ty: ElemType, elements: &[u64]) -> Vec<u8> {
    match ty {
        ElemType::F32 => elements.iter().flat_map(|bits| (*bits as u32).to_le_bytes()).collect(),
        _ => elements.iter().flat_map(|bits| bits.to_le_bytes()).collect(),
    }
}

/// Compares many arguments, given in blocks by their number, in every mode; without vectors every eighth block.
fn compare_blocks(op: ScalarOp, ty: ElemType, blocks: u64, block: impl Fn(u64) -> Vec<Vec<u64>>) {
    let region = region(&applied(op, ty));
    let codes: Vec<_> = modes().map(|cpu| (cpu, code_of(&region, op, ty, cpu))).collect();
    for k in 0..blocks {
        let data = block(k);
        let second = data.last().expect("there is an operand");
        let both = data[0].iter().zip(second);
        let expected: Vec<u64> =
            both.map(|(a, b)| eval(op, ty, &[*a, *b]).expect("floats do not trap")).collect();
        let expected_bytes = bytes_of(ty, &expected);
        let operands: Vec<Vec<u8>> = data.iter().map(|data| bytes_of(ty, data)).collect();
        for (cpu, code) in codes.iter().filter(|(cpu, _)| *cpu != CpuMode::Scalar || k % 8 == 0) {
            let found = results(&region, code.as_ref(), expected.len(), &operands);
            if found == expected_bytes {
                continue;
            }
            for (at, expected) in expected.iter().enumerate() {
                let found = element(ty, &found, at);
                let of = |bits: u64| Scalar::new(ty, bits);
                let operands: Vec<Scalar> = data.iter().map(|data| of(data[at])).collect();
                let is_same = same(ty, found, *expected, 0.0);
                assert!(is_same, "{op} of {operands:?}, {cpu}: {}, not {}", of(found), of(*expected));
            }
        }
    }
}

/// `GALOPVM_FUNCTION` chooses one by name.
fn chosen(op: ScalarOp) -> bool {
    std::env::var("GALOPVM_FUNCTION").map_or(true, |name| name == op.name())
}

/// So many blocks of 2^20 arguments; `GALOPVM_BLOCKS` asks for fewer.
fn blocks(all: u64) -> u64 {
    let wanted = std::env::var("GALOPVM_BLOCKS").ok().and_then(|count| count.parse().ok());
    wanted.unwrap_or(all).min(all)
}

/// Elements of a block.
const BLOCK: u64 = 1 << 20;

#[test]
#[ignore = "all 2^32 arguments of each function: an hour"]
fn all_singles() {
    const BLOCKS: u64 = (1 << 32) / BLOCK;
    let ty = ElemType::F32;
    for (op, _) in functions().filter(|(op, on)| *on == ty && op.arity() == 1 && chosen(*op)) {
        compare_blocks(op, ty, blocks(BLOCKS), |k| {
            // Fewer blocks than all are spread over all.
            let first = k * 2531 % BLOCKS * BLOCK;
            vec![(first..first + BLOCK).collect()]
        });
        println!("{op}: {} blocks of {BLOCKS}", blocks(BLOCKS));
    }
}

#[test]
#[ignore = "2^25 arguments of each function: minutes"]
fn many_arguments() {
    for (op, ty) in functions().filter(|(op, ty)| (*ty == ElemType::F64 || op.arity() == 2) && chosen(*op)) {
        compare_blocks(op, ty, blocks(32), |k| {
            let mut random = Random::new(1000 + k);
            let mut operand = || (0..BLOCK).map(|_| argument(ty, &mut random)).collect();
            (0..op.arity()).map(|_| operand()).collect()
        });
        println!("{op} on {ty}: {} blocks", blocks(32));
    }
}
