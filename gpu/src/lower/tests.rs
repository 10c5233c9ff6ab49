//! Every scalar operation and conversion, on the device, by both routes, against the table's meaning.

use super::convert::convert;
use super::rounding;
use super::scalar::{self, Trap, apply, from_bits, reg, to_bits};
use crate::device::{Dispatch, Gpu};
use crate::info::Ieee;
use crate::shader::{BinOp, Builtin, Code, Shader, Ty, UnOp, Val, Width};
use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_testkit::Random;

/// Runs `out[i] = f(in0[i], in1[i], ..)`; gives the bits, and whether the flag was raised.
fn run(
    gpu: &Gpu,
    shader: &Shader,
    inputs: &[(ElemType, Vec<u64>)],
    out: ElemType,
) -> Vec<(&'static str, Vec<u64>, bool)> {
    let count = inputs[0].1.len();
    let mut answers = Vec::new();
    let mut routes =
        vec![("direct", crate::spirv::emit::words(shader, &gpu.info().features).expect("words"))];
    #[cfg(feature = "shaderc")]
    routes.push((
        "glsl",
        crate::glsl::compile::words(shader, &gpu.info().features)
            .unwrap_or_else(|e| panic!("{e}\n{}", crate::glsl::print::text(shader))),
    ));
    for (route, words) in routes.drain(..) {
        let pipeline = gpu.kernel(shader, &words).expect("a pipeline");
        let mut buffers: Vec<_> = inputs
            .iter()
            .map(|(ty, values)| {
                let bytes: Vec<u8> =
                    values.iter().flat_map(|v| v.to_le_bytes()[..ty.bytes()].to_vec()).collect();
                gpu.upload(&bytes).expect("an input")
            })
            .collect();
        buffers.push(gpu.buffer(count * out.bytes()).expect("an output"));
        buffers.push(gpu.upload(&[0; 4]).expect("a flag"));
        let refs: Vec<_> = buffers.iter().collect();
        gpu.submit(&[Dispatch {
            pipeline: &pipeline,
            buffers: &refs,
            push: &[],
            groups: [count.div_ceil(64) as u32, 1, 1],
        }])
        .expect("a dispatch");
        let mut bytes = vec![0; count * out.bytes()];
        gpu.download(&buffers[inputs.len()], &mut bytes).expect("results");
        let mut flag = [0; 4];
        gpu.download(&buffers[inputs.len() + 1], &mut flag).expect("the flag");
        let values = bytes
            .chunks_exact(out.bytes())
            .map(|chunk| {
                let mut wide = [0; 8];
                wide[..chunk.len()].copy_from_slice(chunk);
                u64::from_le_bytes(wide)
            })
            .collect();
        answers.push((route, values, flag[0] != 0));
    }
    answers
}

/// A shader of one element per invocation, for the device that there is.
fn elementwise(
    inputs: &[ElemType],
    out: ElemType,
    count: usize,
    body: impl FnOnce(&mut Code, &[Val], Trap) -> Result<Val, String>,
) -> Result<Shader, String> {
    let features = &Gpu::shared().expect("a device").info().features;
    elementwise_on((features.singles, features.doubles), inputs, out, count, body)
}

/// The same for one that computes with floats like this.
fn elementwise_on(
    (singles, doubles): (Ieee, Ieee),
    inputs: &[ElemType],
    out: ElemType,
    count: usize,
    body: impl FnOnce(&mut Code, &[Val], Trap) -> Result<Val, String>,
) -> Result<Shader, String> {
    let mut c = Code::new(64);
    c.computes_as(singles, doubles);
    let from: Vec<_> = inputs.iter().map(|ty| c.buffer(Width::of(*ty), false)).collect();
    let to = c.buffer(Width::of(out), true);
    let flag = c.buffer(Width::W32, true);
    let trap = Trap { flag, cell: c.cell(Ty::Bool) };
    let no = c.truth(false);
    c.set(trap.cell, no);
    let (group, local) = (c.builtin(Builtin::GroupX), c.builtin(Builtin::Local));
    let size = c.constant(Ty::B32, 64);
    let base = c.bin(BinOp::Mul, group, size);
    let i = c.bin(BinOp::Add, base, local);
    let limit = c.constant(Ty::B32, count as u64);
    let inside = c.bin(BinOp::Ult, i, limit);
    c.open();
    let args: Vec<Val> = from
        .iter()
        .zip(inputs)
        .map(|(b, ty)| {
            let bits = c.load(*b, i);
            from_bits(&mut c, *ty, bits)
        })
        .collect();
    let value = body(&mut c, &args, trap)?;
    let bits = to_bits(&mut c, out, value);
    c.store(to, i, bits);
    let then = c.close();
    c.branch(inside, then, Vec::new());
    trap.report(&mut c);
    Ok(c.finish())
}

fn samples(ty: ElemType) -> Vec<u64> {
    let mut all: Vec<u64> = match ty {
        ElemType::Bool => vec![0, 1],
        ty if ty.is_float() => [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            -0.5,
            1.5,
            2.5,
            -2.5,
            3.0,
            -7.25,
            0.1,
            100.0,
            127.6,
            255.5,
            300.0,
            1e-3,
            65504.0,
            65519.0,
            65520.0,
            70000.0,
            -40000.0,
            2147483648.0,
            -2147483648.0,
            4294967296.0,
            9.223372036854775e18,
            -9.3e18,
            1.8446744073709552e19,
            3e19,
            1e30,
            6e-8,
            5.96e-8,
            2.9e-8,
            3e-5,
            16777217.0,
            0.33333334,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            1e-300,
            1e300,
        ]
        .iter()
        .map(|x| Scalar::from_f64(ty, *x).bits)
        // Subnormal inputs: whether a device keeps them is for it to say.
        .filter(|bits| {
            ty == ElemType::F16 || {
                let x = Scalar::new(ty, *bits).as_f64().abs();
                x == 0.0 || x.is_nan() || x >= if ty == ElemType::F32 { 1.2e-38 } else { 2.3e-308 }
            }
        })
        .collect(),
        _ => [
            0i64,
            1,
            2,
            3,
            5,
            7,
            8,
            13,
            16,
            31,
            32,
            33,
            63,
            64,
            65,
            100,
            127,
            128,
            200,
            255,
            256,
            1000,
            32767,
            32768,
            65535,
            65536,
            70000,
            16777217,
            i32::MAX as i64,
            1 << 31,
            u32::MAX as i64,
            1 << 32,
            (1 << 53) + 1,
            i64::MAX,
            i64::MIN,
        ]
        .iter()
        .flat_map(|x| [*x, x.wrapping_neg()])
        .map(|x| x as u64 & ty.mask())
        .collect(),
    };
    let mut seen = std::collections::HashSet::new();
    all.retain(|b| seen.insert(*b));
    all
}

/// Whether the device keeps subnormal numbers.
fn keeps_all() -> bool {
    let features = &Gpu::shared().expect("a device").info().features;
    features.singles.subnormals && features.doubles.subnormals
}

/// Equal, or both NaN, or close for library functions.
fn agree(ty: ElemType, exact: bool, want: u64, got: u64) -> bool {
    if want == got {
        return true;
    }
    if !ty.is_float() {
        return false;
    }
    let (want, got) = (Scalar::new(ty, want).as_f64(), Scalar::new(ty, got).as_f64());
    let relative = match ty {
        ElemType::F16 => 2e-3,
        ElemType::F32 => 5e-7,
        _ => 2e-15,
    };
    // Results that a device may lose; it has raised the flag then.
    let tiny = if ty == ElemType::F64 { 2.3e-308 } else { 1.2e-38 };
    want.is_nan() && got.is_nan()
        || ty != ElemType::F16 && want.abs() < tiny && got == 0.0 && !keeps_all()
        || !exact && (want - got).abs() <= relative * want.abs().max(f64::MIN_POSITIVE)
}

fn gpu() -> Option<&'static Gpu> {
    let gpu = Gpu::shared().map_err(|why| eprintln!("skipped: {why}")).ok()?;
    let f = &gpu.info().features;
    if f.int64 && f.float64 && f.storage8 && f.storage16 {
        return Some(gpu);
    }
    eprintln!("skipped: {} lacks 64-bit types or small storage", gpu.info());
    None
}

/// All combinations of `arity` samples (thinned for three), per operand.
fn columns(op: ScalarOp, ty: ElemType) -> Vec<(ElemType, Vec<u64>)> {
    let sets: Vec<Vec<u64>> = (0..op.arity()).map(|i| samples(op.operand_type(i, ty))).collect();
    let mut rows: Vec<Vec<u64>> = vec![Vec::new()];
    for (k, set) in sets.iter().enumerate() {
        let thin = if k == 2 { 5 } else { 1 };
        rows = rows
            .iter()
            .enumerate()
            .flat_map(|(n, row)| {
                set.iter()
                    .skip(if k == 2 { n % 5 } else { 0 })
                    .step_by(thin)
                    .map(move |x| [row.as_slice(), &[*x]].concat())
            })
            .collect();
    }
    (0..op.arity()).map(|k| (op.operand_type(k, ty), rows.iter().map(|r| r[k]).collect())).collect()
}

#[test]
fn every_operation_means_what_the_table_says() {
    let Some(gpu) = gpu() else { return };
    let mut wrong = Vec::new();
    let mut refused = Vec::new();
    for &op in ScalarOp::ALL {
        for ty in ElemType::ALL.into_iter().filter(|t| op.accepts(*t)) {
            let mut inputs = columns(op, ty);
            // Rows that trap are for the test below.
            let traps: Vec<bool> = (0..inputs[0].1.len())
                .map(|i| {
                    let far = |bits: u64| ty.is_float() && Scalar::new(ty, bits).as_f64().abs() > 1e6;
                    let circular = matches!(op, ScalarOp::Sin | ScalarOp::Cos | ScalarOp::Tan);
                    if circular
                        && far(inputs[0].1[i])
                        && !Scalar::new(ty, inputs[0].1[i]).as_f64().is_infinite()
                    {
                        return true;
                    }
                    galopvm_base::scalar::eval(op, ty, &inputs.iter().map(|c| c.1[i]).collect::<Vec<_>>())
                        .is_err()
                })
                .collect();
            for (_, column) in &mut inputs {
                let mut at = 0;
                column.retain(|_| {
                    at += 1;
                    !traps[at - 1]
                });
            }
            let (types, out) = (inputs.iter().map(|c| c.0).collect::<Vec<_>>(), op.result_type(ty));
            let count = inputs[0].1.len();
            let shader = match elementwise(&types, out, count, |c, args, trap| apply(c, op, ty, args, trap)) {
                Ok(shader) => shader,
                Err(why) => {
                    refused.push(format!("{op} {ty}: {why}"));
                    continue;
                }
            };
            for (route, got, flag) in run(gpu, &shader, &inputs, out) {
                if flag && keeps_all() {
                    wrong.push(format!("{route} {op} {ty}: trapped"));
                }
                let mut shown = 0;
                for (i, got) in got.into_iter().enumerate() {
                    let args: Vec<u64> = inputs.iter().map(|c| c.1[i]).collect();
                    let want = galopvm_base::scalar::eval(op, ty, &args).expect("no trap");
                    if !agree(out, op.is_exact(ty), want, got) && shown < 4 {
                        shown += 1;
                        let text = |ty, bits| Scalar::new(ty, bits).to_string();
                        let args: Vec<String> = types.iter().zip(&args).map(|(t, a)| text(*t, *a)).collect();
                        wrong.push(format!(
                            "{route} {op} {}: {} not {}",
                            args.join(" "),
                            text(out, got),
                            text(out, want)
                        ));
                    }
                }
            }
        }
    }
    eprintln!("refused: {}", refused.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_conversion_means_what_the_table_says() {
    let Some(gpu) = gpu() else { return };
    let mut wrong = Vec::new();
    for from in ElemType::ALL {
        for to in ElemType::ALL {
            let values = samples(from);
            let shader =
                elementwise(&[from], to, values.len(), |c, args, _| Ok(convert(c, from, to, args[0])))
                    .expect("a shader");
            for (route, got, _) in run(gpu, &shader, &[(from, values.clone())], to) {
                for (bits, got) in values.iter().zip(got) {
                    let want = galopvm_base::scalar::convert(from, to, *bits);
                    if !agree(to, true, want, got) {
                        let (x, y, z) =
                            (Scalar::new(from, *bits), Scalar::new(to, got), Scalar::new(to, want));
                        wrong.push(format!("{route} {x} to {to}: {y} not {z}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_zero_divisor_raises_the_flag() {
    let Some(gpu) = gpu() else { return };
    for op in [ScalarOp::Div, ScalarOp::Mod, ScalarOp::Quot, ScalarOp::Rem] {
        for ty in ElemType::ALL.into_iter().filter(|t| t.is_int()) {
            let shader = elementwise(&[ty, ty], ty, 3, |c, args, trap| apply(c, op, ty, args, trap))
                .expect("a shader");
            for (divisors, want) in [(vec![1, 2, 3], false), (vec![1, 0, 3], true)] {
                for (route, _, flag) in run(gpu, &shader, &[(ty, vec![9, 9, 9]), (ty, divisors.clone())], ty)
                {
                    assert_eq!(flag, want, "{route} {op} {ty} {divisors:?}");
                }
            }
        }
    }
}

#[test]
fn constants_and_all_halves_survive() {
    let Some(gpu) = gpu() else { return };
    let halves: Vec<u64> = (0..1 << 16).collect();
    let shader = elementwise(&[ElemType::F16], ElemType::F16, halves.len(), |_, args, _| Ok(args[0]))
        .expect("a shader");
    for (route, got, _) in run(gpu, &shader, &[(ElemType::F16, halves.clone())], ElemType::F16) {
        for (want, got) in halves.iter().zip(got) {
            assert!(agree(ElemType::F16, true, *want, got), "{route} {want:#x} {got:#x}");
        }
    }
    for ty in ElemType::ALL {
        let values = samples(ty);
        for value in &values {
            let shader =
                elementwise(&[ty], ty, 1, |c, _, _| Ok(scalar::constant(c, Scalar::new(ty, *value))))
                    .expect("a shader");
            // Building is enough to check the form; running each would take long.
            assert!(shader.vals.iter().any(|t| *t == reg(ty)));
        }
    }
}

/// Largest error of library functions over arguments of all sizes, in units of the last place of the result.
#[test]
fn library_functions_are_close_everywhere() {
    let Some(gpu) = gpu() else { return };
    for ty in [ElemType::F32, ElemType::F64] {
        let mut random = Random::new(1);
        let arguments: Vec<f64> = (0..4000)
            .map(|i| {
                let unit = random.real(0.0, 1.0);
                let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
                match i % 5 {
                    0 => sign * unit,
                    1 => sign * unit * 20.0,
                    2 => sign * unit * 1000.0,
                    3 => sign * 10f64.powf(unit * 16.0 - 10.0),
                    _ => 1.0 + sign * 10f64.powf(-unit * 12.0),
                }
            })
            .collect();
        let bits: Vec<u64> = arguments.iter().map(|x| Scalar::from_f64(ty, *x).bits).collect();
        // Rust's own inverse hyperbolic functions lose digits near their zeros, so they are no measure there.
        let loose = [ScalarOp::Asinh, ScalarOp::Acosh, ScalarOp::Atanh];
        let unary =
            ScalarOp::ALL.iter().filter(|op| op.accepts(ty) && op.arity() == 1 && !loose.contains(op));
        for op in unary.filter(|op| !op.is_exact(ty)) {
            let Ok(shader) =
                elementwise(&[ty], ty, bits.len(), |c, args, trap| apply(c, *op, ty, args, trap))
            else {
                continue;
            };
            let answers = run(gpu, &shader, &[(ty, bits.clone())], ty);
            for (route, got, _) in answers {
                for (x, got) in bits.iter().zip(got) {
                    let exact = Scalar::new(ty, *x).as_f64().to_bits();
                    let want = f64::from_bits(galopvm_base::scalar::eval1(*op, ElemType::F64, exact));
                    let want = Scalar::from_f64(ty, want).as_f64();
                    let got = Scalar::new(ty, got).as_f64();
                    let unit = if ty == ElemType::F32 { 1.2e-7 } else { 2.3e-16 };
                    let error = (want - got).abs() / (want.abs() * unit).max(f64::MIN_POSITIVE);
                    let close = want == got || want.is_nan() && got.is_nan() || error <= 4.0;
                    assert!(close, "{route} {op} {}: {got} not {want}", Scalar::new(ty, *x));
                }
            }
        }
    }
}

/// Numbers of all sizes, subnormal and odd ones too, and such whose quotients and roots lie near the middle of two numbers.
fn all_sizes(ty: ElemType, count: usize, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed);
    let fraction = if ty == ElemType::F64 { 52 } else { 23 };
    (0..count)
        .map(|k| {
            let bits = random.bits() & ty.mask();
            match k % 5 {
                0 => bits & !(ty.mask() >> 1 & !((1 << fraction) - 1)),
                1 => bits & !((1 << (fraction - 3)) - 1),
                2 => bits | ((1 << (fraction - 3)) - 1),
                _ => bits,
            }
        })
        .chain(
            [0.0, -0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN]
                .map(|x| Scalar::from_f64(ty, x).bits),
        )
        .collect()
}

#[test]
fn quotients_and_roots_are_the_nearest_numbers_whatever_the_device_guesses() {
    let Some(gpu) = gpu() else { return };
    if !(gpu.info().features.singles == Ieee::ALL && gpu.info().features.doubles == Ieee::ALL) {
        return eprintln!("skipped: the guesses of {} are its own", gpu.info());
    }
    for ty in [ElemType::F32, ElemType::F64] {
        let bits = reg(ty).bits();
        let off = |c: &mut Code, guess: Val, units: i64| {
            let guess = c.un(UnOp::BitsOf, guess);
            let units = c.constant(bits, units as u64);
            let guess = c.bin(BinOp::Add, guess, units);
            c.un(UnOp::OfBits, guess)
        };
        let (above, mut below) = (all_sizes(ty, 60_000, 1), all_sizes(ty, 60_000, 2));
        below.reverse();
        // Quotients next to one.
        for (k, (a, b)) in above.iter().zip(&mut below).enumerate().filter(|(k, _)| k % 9 == 0) {
            *b = a ^ (k as u64 / 9 % 8);
        }
        let real = |bits: u64| Scalar::new(ty, bits).as_f64();
        let same = |want: u64, got: u64| want == got || real(want).is_nan() && real(got).is_nan();
        for units in -3..=3 {
            let shader = elementwise(&[ty, ty], ty, above.len(), |c, args, _| {
                Ok(rounding::quotient(c, args[0], args[1], |c, a, b| {
                    let guess = c.bin(BinOp::FDiv, a, b);
                    off(c, guess, units)
                }))
            })
            .expect("a shader");
            for (route, got, _) in run(gpu, &shader, &[(ty, above.clone()), (ty, below.clone())], ty) {
                for ((a, b), got) in above.iter().zip(&below).zip(got) {
                    let want = galopvm_base::scalar::eval(ScalarOp::Div, ty, &[*a, *b]).expect("a quotient");
                    assert!(
                        same(want, got),
                        "{route} {units} {} / {}: {} not {}",
                        real(*a),
                        real(*b),
                        real(got),
                        real(want)
                    );
                }
            }
        }
        for units in -6..=6 {
            let shader = elementwise(&[ty], ty, above.len(), |c, args, _| {
                Ok(rounding::root(c, args[0], |c, a| {
                    let guess = c.un(UnOp::Sqrt, a);
                    off(c, guess, units)
                }))
            })
            .expect("a shader");
            for (route, got, _) in run(gpu, &shader, &[(ty, above.clone())], ty) {
                for (a, got) in above.iter().zip(got) {
                    let want = galopvm_base::scalar::eval1(ScalarOp::Sqrt, ty, *a);
                    assert!(
                        same(want, got),
                        "{route} {units} root of {}: {} not {}",
                        real(*a),
                        real(got),
                        real(want)
                    );
                }
            }
        }
    }
}

#[test]
fn numbers_that_a_device_does_not_keep_raise_the_flag() {
    let Some(gpu) = gpu() else { return };
    let flushes = Ieee { subnormals: false, ..Ieee::ALL };
    for ty in [ElemType::F32, ElemType::F64] {
        let least = if ty == ElemType::F64 { f64::MIN_POSITIVE } else { f64::from(f32::MIN_POSITIVE) };
        let (root, huge) = (least.sqrt(), 1.0 / least);
        let usual: Vec<[f64; 2]> = vec![
            [1.0, 2.0],
            [0.0, -0.0],
            [0.0, 0.0],
            [0.0, least],
            [least, 1.0],
            [huge, 1.0 / huge],
            [-3.0, 3.0],
            [root * 2.0, root * 2.0],
            [f64::INFINITY, 1.0],
        ];
        type Odd = (ScalarOp, [f64; 2], bool);
        let odd: [Odd; 12] = [
            (ScalarOp::Add, [least * 1.5, -least], true),
            (ScalarOp::Add, [least, -least], false),
            (ScalarOp::Sub, [least * 1.5, least], true),
            (ScalarOp::Sub, [least * 1.5, least * 1.5], false),
            (ScalarOp::Mul, [least, 0.5], true),
            (ScalarOp::Mul, [root, root * 0.25], true),
            (ScalarOp::Mul, [least, least], true),
            (ScalarOp::Div, [least, 4.0], true),
            (ScalarOp::Min, [least / 2.0, 1.0], true),
            (ScalarOp::Lt, [0.0, least / 4.0], true),
            (ScalarOp::Mod, [least * 1.25, least], true),
            (ScalarOp::Mod, [3.0, 2.0], false),
        ];
        let bits = |x: f64| Scalar::from_f64(ty, x).bits;
        let raised = |op: ScalarOp, rows: &[[f64; 2]]| {
            let out = op.result_type(ty);
            let columns = [0, 1].map(|k| (ty, rows.iter().map(|row| bits(row[k])).collect::<Vec<_>>()));
            let shader = elementwise_on((flushes, flushes), &[ty, ty], out, rows.len(), |c, args, trap| {
                apply(c, op, ty, args, trap)
            })
            .expect("a shader");
            run(gpu, &shader, &columns, out).iter().any(|(_, _, flag)| *flag)
        };
        for op in [ScalarOp::Add, ScalarOp::Sub, ScalarOp::Max, ScalarOp::Le] {
            assert!(!raised(op, &usual), "{op} {ty} of usual numbers");
        }
        for (op, row, want) in odd {
            assert_eq!(raised(op, &[row]), want, "{op} {ty} {row:?}");
        }
    }
    let (from, to) = (ElemType::F64, ElemType::F32);
    for (value, want) in [(1.0, false), (0.0, false), (1e-39, true), (1e-300, true)] {
        let shader = elementwise_on((flushes, flushes), &[from], to, 1, |c, args, _| {
            Ok(convert(c, from, to, args[0]))
        })
        .expect("a shader");
        for (route, _, flag) in run(gpu, &shader, &[(from, vec![f64::to_bits(value)])], to) {
            assert_eq!(flag, want, "{route} {value} as a single");
        }
    }
    let shader = elementwise_on((flushes, flushes), &[to], to, 1, |c, _, _| {
        Ok(scalar::constant(c, Scalar::new(to, 5)))
    })
    .expect("a shader");
    assert!(run(gpu, &shader, &[(to, vec![0])], to).iter().all(|(_, _, flag)| *flag));
}
