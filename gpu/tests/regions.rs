//! Regions in text, run by the reference evaluator and on the device by both routes, over every representation of
//! their arrays.

use galopvm_base::{ElemType, Scalar};
use galopvm_gpu::spirv::text::{STAGE, parse_stages, print};
use galopvm_gpu::{Gpu, Route, Vulkan};
use galopvm_kir::evaluate::{Trial, Value, evaluate};
use galopvm_kir::{
    Argument, Backend, Buffer, Compiled, Launch, Listing, Machine, Observed, Plan, ResultView, RunError,
    Unit, VerifiedPlan, VerifiedRegion, verified_from_text,
};
use galopvm_lmad::Lmad;
use galopvm_testkit::{Layout, Random};
use std::io::Write;
use std::process::{Command, Stdio};

/// The routes to test, or the reason why there is no device, printed.
fn backends() -> Vec<(Route, Vulkan<'static>)> {
    if let Err(why) = Gpu::shared() {
        eprintln!("skipped: {why}");
        return Vec::new();
    }
    Route::ALL
        .into_iter()
        .filter(|r| r.is_built_in())
        .map(|r| (r, Vulkan::new(r).expect("the shared device is open")))
        .chain([(Route::Direct, rough())])
        .collect()
}

/// On a device that is thought to lose subnormal numbers and to round as it likes.
fn rough() -> Vulkan<'static> {
    Vulkan::on(Gpu::rough().expect("the device opens again"), Route::Direct)
}

fn region(text: &str) -> VerifiedRegion {
    verified_from_text(text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

/// A mixture of small, large and odd values, the same in every run.
fn value(elem: ElemType, seed: u64) -> u64 {
    let mixed = Random::new(seed).bits();
    match elem {
        ElemType::Bool => mixed & 1,
        elem if elem.is_float() => Scalar::from_f64(elem, (mixed % 2001) as f64 / 16.0 - 60.0).bits,
        elem => Scalar::from_int(elem, (mixed % 251) as i64 - 120).bits,
    }
}

fn array(elem: ElemType, shape: &[i64]) -> Value {
    let count: i64 = shape.iter().product();
    Value::new(elem, shape.to_vec(), (0..count).map(|i| value(elem, i as u64 + 1)).collect())
}

fn int(x: i64) -> Value {
    Value::int(x)
}

fn close(elem: ElemType, exact: bool, a: u64, b: u64) -> bool {
    if a == b {
        return true;
    }
    if !elem.is_float() {
        return false;
    }
    let (a, b) = (Scalar::new(elem, a).as_f64(), Scalar::new(elem, b).as_f64());
    let relative = if elem == ElemType::F64 { 1e-12 } else { 1e-4 };
    a.is_nan() && b.is_nan() || !exact && (a - b).abs() <= relative * a.abs().max(b.abs()).max(1.0)
}

/// Runs a region everywhere and compares. `exact` demands the same bits of floats.
fn agree_with(text: &str, arguments: &[Value], exact: bool) {
    let region = region(text);
    let want = evaluate(&region, arguments);
    for (route, backend) in backends() {
        // Layouts have nothing to do with how floats are computed.
        let is_rough = std::ptr::eq(backend.gpu(), Gpu::rough().expect("the device opens again"));
        for layout in Layout::ALL.into_iter().filter(|layout| !is_rough || *layout == Layout::Contiguous) {
            let trial =
                Trial::new(&region, arguments, |shape| layout.view(shape)).expect("arguments in memory");
            let plan = VerifiedPlan::new(Plan::default(), region.region()).expect("an empty plan");
            let (observed, machine) = (trial.observed(), Machine::default());
            let unit =
                Unit { name: "", region: &region, plan: &plan, observed: &observed, machine: &machine };
            let code = backend.compile(unit).unwrap_or_else(|why| panic!("{route} refuses: {why}\n{text}"));
            let got = trial.run(code.as_ref());
            if layout == Layout::Contiguous {
                check_texts(code.as_ref());
            }
            match (&want, &got) {
                (Ok(want), Ok(got)) => {
                    for (k, (want, got)) in want.iter().zip(got).enumerate() {
                        assert_eq!(want.shape(), got.shape(), "{route} {layout:?} result {k}\n{text}");
                        for (i, (a, b)) in want.data().iter().zip(got.data()).enumerate() {
                            let show = |bits: &u64| Scalar::new(want.elem(), *bits).to_string();
                            assert!(
                                close(want.elem(), exact, *a, *b),
                                "{route} {layout:?} result {k} element {i}: {} not {}\n{text}",
                                show(b),
                                show(a)
                            );
                        }
                    }
                }
                (Err(RunError::Trap), Err(RunError::Trap)) => {}
                _ => panic!("{route} {layout:?}: {got:?} not {want:?}\n{text}"),
            }
        }
    }
}

/// The SPIR-V text parses back to modules that print the same, and the Khronos validator has no complaint.
fn check_texts(code: &dyn Compiled) {
    let listing = code.listing(Listing::Spirv).expect("a SPIR-V text");
    let stages = parse_stages(&listing).expect("the text parses");
    assert!(code.listing(Listing::Glsl).is_some_and(|text| text.contains("void main()")));
    assert!(code.listing(Listing::Asm).is_none());
    let bodies = listing.split(STAGE).skip(1).map(|part| part.split_once('\n').expect("a stage has lines").1);
    for (words, body) in stages.iter().zip(bodies) {
        assert_eq!(print(words).expect("a text"), body);
        validate(words);
    }
}

fn validate(words: &[u32]) {
    let started = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.1", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        eprintln!("skipped: spirv-val is not installed");
        return;
    };
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    child.stdin.take().expect("a pipe").write_all(&bytes).expect("the validator reads");
    let output = child.wait_with_output().expect("the validator ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

fn agree(text: &str, arguments: &[Value]) {
    agree_with(text, arguments, true);
}

#[test]
fn maps_of_every_type_and_size() {
    for elem in ElemType::ALL {
        let text = format!(
            "region f (n : i64, A : [n]{elem}, B : [n]{elem})\n\
             let r =\n  kernel i < n do\n    in max(A[i], B[n - 1 - i])\nin r\n"
        );
        for n in [0, 1, 7, 300] {
            agree(&text, &[int(n), array(elem, &[n]), array(elem, &[n])]);
        }
    }
}

#[test]
fn constant_zeros_are_those_of_ieee() {
    for elem in [ElemType::F16, ElemType::F32, ElemType::F64] {
        let text = format!(
            "region f (n : i64, A : [n]{elem})\n\
             let (p, q, r, s, t, u, v) =\n  kernel i < n do\n\
             \x20   let w : {elem} = red j < 1 do in A[i] by (a : {elem} = 0.0{elem}) (b : {elem}) do in a + b\n\
             \x20   in (A[i] * 0.0{elem}, A[i] + 0.0{elem}, -0.0{elem} * A[i], 0.0{elem} - A[i], 0.0{elem} / A[i], \
             A[i] * to_{elem}(0 % 7), w)\n\
             in (p, q, r, s, t, u, v)\n"
        );
        let values = [-1.0, 2.0, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
        let bits = values.iter().map(|value| Scalar::from_f64(elem, *value).bits).collect();
        agree(&text, &[int(7), Value::new(elem, vec![7], bits)]);
    }
}

#[test]
fn launches_that_meet_numbers_which_the_device_loses_are_given_back() {
    if backends().is_empty() {
        return;
    }
    let region = region(
        "region f (n : i64, A : [n]f32)\n\
         let r =\n  kernel i < n do\n    let w : f32 = red j < n do in A[j] * A[i] by (a : f32 = 0.0f32) (b : f32) do in a + b\n    in w\nin r\n",
    );
    for (values, is_lost) in [([3.0, 0.5, 0.0, -2.0], false), ([3.0, 1e-20, 1e-21, 0.0], true)] {
        let bits = values.iter().map(|value| Scalar::from_f64(ElemType::F32, *value).bits).collect();
        let arguments = [int(4), Value::new(ElemType::F32, vec![4], bits)];
        let trial =
            Trial::new(&region, &arguments, |shape| Layout::Contiguous.view(shape)).expect("arguments");
        let plan = VerifiedPlan::new(Plan::default(), region.region()).expect("an empty plan");
        let (observed, machine) = (trial.observed(), Machine::default());
        let unit = Unit { name: "", region: &region, plan: &plan, observed: &observed, machine: &machine };
        let got = trial.run(rough().compile(unit).expect("a kernel").as_ref());
        match is_lost {
            true => assert!(matches!(got, Err(RunError::Trap)), "{got:?}"),
            false => assert!(got.is_ok(), "{got:?}"),
        }
    }
}

#[test]
fn two_and_three_dimensions_with_computed_indices() {
    let text = "region f (n : i64, m : i64, A : [n][m]i32, k : i32)\n\
                let r =\n  kernel i < m, j < n do\n    in A[(j * 7 + 3) % n, i] * k + to_i32(i)\nin r\n";
    agree(
        text,
        &[int(13), int(9), array(ElemType::I32, &[13, 9]), Value::Scalar(Scalar::new(ElemType::I32, 3))],
    );
    agree(
        text,
        &[int(0), int(9), array(ElemType::I32, &[0, 9]), Value::Scalar(Scalar::new(ElemType::I32, 3))],
    );
    let text = "region g (n : i64, m : i64, A : [n][m][4]f64)\n\
                let r =\n  kernel i < n, j < m, k < 4 do\n    in A[i, j, 3 - k] - A[n - 1 - i, j, k]\nin r\n";
    agree(text, &[int(5), int(6), array(ElemType::F64, &[5, 6, 4])]);
}

#[test]
fn inner_reductions_and_matrix_multiplication() {
    let text = "region matmul (n : i64, m : i64, p : i64, A : [n][m]f32, B : [m][p]f32)\n\
                let r =\n  kernel i < n, j < p do\n    let s =\n      red k < m do\n        in A[i, k] * B[k, j]\n\
                \x20     by (a = 0.0f32) (b) do\n        in a + b\n    in s\nin r\n";
    agree(text, &[int(9), int(17), int(5), array(ElemType::F32, &[9, 17]), array(ElemType::F32, &[17, 5])]);
    agree(text, &[int(9), int(0), int(5), array(ElemType::F32, &[9, 0]), array(ElemType::F32, &[0, 5])]);
}

#[test]
fn loops_choices_and_whiles() {
    let text = "region f (n : i64, A : [n]i64)\n\
                let r =\n  kernel i < n do\n    let x = A[i]\n    let y =\n      if x > 10 then\n        in x * 2\n\
                \x20     else\n        let z =\n          loop (a) = (x) for j < i % 5 do\n            in a * 3 - j\n        in z\n\
                \x20   let (s, t) =\n      loop (u, v) = (y, 0) while u > 1 && v < 50 do\n        in (select(u % 2 == 0, u / 2, u * 3 + 1), v + 1)\n\
                \x20   in s + t\nin r\n";
    agree(text, &[int(200), array(ElemType::I64, &[200])]);
}

#[test]
fn whole_reductions() {
    for (n, elem) in [(0, "i32"), (1, "i32"), (1000, "i32"), (100_000, "i64"), (5000, "u8"), (777, "bool")] {
        let elem: ElemType = elem.parse().expect("a type");
        let (zero, op) =
            if elem == ElemType::Bool { ("false".to_string(), "^") } else { (format!("0{elem}"), "+") };
        let text = format!(
            "region f (n : i64, A : [n]{elem})\nlet r =\n  red i < n do\n    in A[i]\n  by (a = {zero}) (b) do\n    in a {op} b\nin r\n"
        );
        agree(&text, &[int(n), array(elem, &[n])]);
    }
    let text = "region dot (n : i64, A : [n]f64, B : [n]f64)\nlet r =\n  red i < n do\n    in A[i] * B[i]\n\
                \x20 by (a = 0.0f64) (b) do\n    in a + b\nin r\n";
    for n in [0, 3, 4097, 50_000] {
        agree_with(text, &[int(n), array(ElemType::F64, &[n]), array(ElemType::F64, &[n])], false);
    }
}

#[test]
fn an_operator_of_two_parts_keeps_its_order() {
    // Composition of the maps x -> a * x + b: associative, not commutative.
    let text = "region f (n : i64, m : i64, A : [n][m]i32, B : [n][m]i32)\n\
                let (r, s) =\n  red i < n, j < m do\n    in (A[i, j], B[i, j])\n\
                \x20 by (a = 1i32, b = 0i32) (c, d) do\n    let e = b * c\n    in (a * c, e + d)\nin (r, s)\n";
    for (n, m) in [(0, 3), (1, 1), (40, 50), (3, 7000)] {
        agree(text, &[int(n), int(m), array(ElemType::I32, &[n, m]), array(ElemType::I32, &[n, m])]);
    }
}

#[test]
fn several_statements_hand_values_on() {
    let text = "region norm (n : i64, A : [n]i32)\n\
                let m = n * 2\n\
                let total =\n  red i < n do\n    in A[i]\n  by (a = 0i32) (b) do\n    in a + b\n\
                let half = total / 2i32 + A[0]\n\
                let B = reverse A\n\
                let C =\n  kernel k < n do\n    in B[k] - half\n\
                let D =\n  kernel j < m do\n    in C[j / 2] * to_i32(m)\nin (D, half, B, m)\n";
    agree(text, &[int(37), array(ElemType::I32, &[37])]);
}

#[test]
fn slices_rows_and_copies() {
    let text = "region f (n : i64, m : i64, A : [n][m]f32)\n\
                let r =\n  kernel i < n do\n    let row = A[i]\n    let back = row[m - 1 :+ m * -1]\n    in back\n\
                let T = transpose A\n\
                let C = manifest((1, 0), A)\n\
                let d = A[[1 + {(3:5)}]]\n\
                let q =\n  kernel k < m, j < n do\n    in T[k, j] + C[j, k]\nin (r, q, T)\n";
    let flat = "region g (n : i64, A : [n]i16)\n\
                let r =\n  kernel i < 3, j < 4 do\n    let V = A[[2 + {(3:7), (4:1)}]]\n    in V[i, j]\nin r\n";
    agree(
        &text.replace("let d = A[[1 + {(3:5)}]]\n", ""),
        &[int(6), int(11), array(ElemType::F32, &[6, 11])],
    );
    agree(flat, &[int(20), array(ElemType::I16, &[20])]);
    agree(flat, &[int(19), array(ElemType::I16, &[19])]);
}

#[test]
fn kernels_inside_kernels_that_are_results() {
    let text = "region table (n : i64, m : i64, A : [n]i64)\n\
                let (r, s, q) =\n  kernel i < n do\n    let x = A[i] * i\n\
                \x20   let (y, z) =\n      kernel j < m do\n        let t =\n          red k < j do\n            in x + k\n\
                \x20         by (a = 0) (b) do\n            in a + b\n        in (t, x + j)\n    in (y, x, z)\nin (r, s, q)\n";
    for (n, m) in [(5, 7), (0, 3), (3, 0)] {
        agree(text, &[int(n), int(m), array(ElemType::I64, &[n])]);
    }
    let text = "region cube (n : i64, A : [n]i32)\n\
                let (r, s) =\n  kernel i < n do\n    let y =\n      kernel j < 3 do\n        let z =\n\
                \x20         kernel k < 4 do\n            in A[i] / to_i32(j + k)\n        in z\n    in (y, A[i])\nin (r, s)\n";
    agree(text, &[int(6), array(ElemType::I32, &[6])]);
    agree(&text.replace("(j + k)", "(j + k + 1)"), &[int(6), array(ElemType::I32, &[6])]);
}

#[test]
fn traps_are_reported() {
    let text = "region f (n : i64, A : [n]i32)\nlet r =\n  kernel i < n do\n    in A[i + 1]\nin r\n";
    agree(text, &[int(10), array(ElemType::I32, &[10])]);
    agree(text, &[int(0), array(ElemType::I32, &[0])]);
    let text =
        "region f (n : i64, A : [n]i32)\nlet r =\n  kernel i < n do\n    in 100i32 / (A[i] - A[i])\nin r\n";
    agree(text, &[int(10), array(ElemType::I32, &[10])]);
    let text = "region f (n : i64, k : i64)\nlet m = n / k\nlet r =\n  kernel i < n do\n    in i + m\nin r\n";
    agree(text, &[int(10), int(0)]);
    agree(text, &[int(10), int(3)]);
    // A loop fed with what a trap left behind ends all the same.
    let text = "region f (n : i64, A : [n]i64)\nlet r =\n  kernel i < n do\n    let x =\n\
                \x20     loop (a) = (1) while a != A[n] do\n        in a + 2\n    in x\nin r\n";
    agree(text, &[int(4), array(ElemType::I64, &[4])]);
}

/// Mesa's driver on the processor ends all loops of an invocation after 65,535 rounds, and goes on with what there is.
#[test]
fn loops_that_a_device_ends_are_told() {
    let step = "(a * 3 + j) % 1000003";
    let texts = [
        format!("    let x =\n      loop (a) = (i) for j < m do\n        in {step}\n    in x\n"),
        format!(
            "    let x =\n      loop (b) = (i) for k < 3 do\n        let y =\n          loop (a) = (b) for j < m / 3 do\n            in {step}\n        in y\n    in x\n"
        ),
        format!("    let (x, y) =\n      loop (a, j) = (i, 0) while j < m do\n        in ({step}, j + 1)\n    in x + y\n"),
        "    let s =\n      red j < m do\n        in (i + j) % 7\n      by (a = 0) (b) do\n        in a + b\n    in s\n".to_string(),
        "    let s =\n      red j < m do\n        in (i + j) % 7\n      by (a = 0) (b) do\n        in a + b\n    in (s % 7 + 2) ** (i + 40)\n".to_string(),
    ];
    for (inside, rounds) in texts.iter().flat_map(|text| [65_532, 65_535, 65_538, 200_001].map(|m| (text, m)))
    {
        let text = format!("region f (n : i64, m : i64)\nlet r =\n  kernel i < n do\n{inside}in r\n");
        let (region, arguments) = (region(&text), [int(3), int(rounds)]);
        let want = evaluate(&region, &arguments).expect("a result");
        for (route, backend) in backends() {
            let trial =
                Trial::new(&region, &arguments, |shape| Layout::Contiguous.view(shape)).expect("no arrays");
            let plan = VerifiedPlan::new(Plan::default(), region.region()).expect("an empty plan");
            let (observed, machine) = (trial.observed(), Machine::default());
            let unit =
                Unit { name: "", region: &region, plan: &plan, observed: &observed, machine: &machine };
            let code = backend.compile(unit).unwrap_or_else(|why| panic!("{route} refuses: {why}\n{text}"));
            match trial.run(code.as_ref()) {
                Ok(got) => assert_eq!(got[0].data(), want[0].data(), "{route}, {rounds} rounds\n{text}"),
                Err(RunError::Trap) => assert!(rounds > 65_500, "{route}, {rounds} rounds\n{text}"),
                Err(other) => panic!("{route}: {other:?}\n{text}"),
            }
        }
    }
}

#[test]
fn scalars_of_every_type_are_parameters() {
    for elem in ElemType::ALL {
        let text = format!(
            "region f (n : i64, x : {elem}, A : [n]{elem})\nlet r =\n  kernel i < n do\n    in min(x, A[i])\nin (r, x)\n"
        );
        let x = Value::Scalar(Scalar::new(elem, value(elem, 5)));
        agree(&text, &[int(20), x, array(elem, &[20])]);
    }
}

#[test]
fn the_lane_axis_may_be_any() {
    let region = region(
        "region f (n : i64, m : i64, A : [n][m]i32)\nlet r =\n  kernel i < n, j < m do\n    in A[i, j] + to_i32(i * 100 + j)\nin r\n",
    );
    let arguments = [int(30), int(20), array(ElemType::I32, &[30, 20])];
    let want = evaluate(&region, &arguments).expect("a value");
    for (route, backend) in backends() {
        for axis in region.region().parallel_axes() {
            let mut plan = Plan::default();
            plan.decide(galopvm_kir::Decision::Lane(axis), "a test");
            let plan = VerifiedPlan::new(plan, region.region()).expect("a plan");
            let trial =
                Trial::new(&region, &arguments, |shape| Layout::Transposed.view(shape)).expect("arguments");
            let (observed, machine) = (trial.observed(), Machine::default());
            let unit =
                Unit { name: "", region: &region, plan: &plan, observed: &observed, machine: &machine };
            let got = trial.run(backend.compile(unit).expect("code").as_ref()).expect("a run");
            assert_eq!(want, got, "{route}");
        }
    }
}

#[test]
fn more_workgroups_than_one_dimension_holds() {
    let region = region("region f (n : i64)\nlet r =\n  kernel i < n do\n    in to_u8(i % 251)\nin r\n");
    let count = 8_400_000usize;
    for (route, backend) in backends() {
        let plan = VerifiedPlan::new(Plan::default(), region.region()).expect("a plan");
        let (observed, machine) = (Observed::default(), Machine::default());
        let unit = Unit { name: "", region: &region, plan: &plan, observed: &observed, machine: &machine };
        let code = backend.compile(unit).expect("code");
        let mut out = vec![255u8; count];
        let lmad = Lmad::row_major(&[count as i64]);
        let mut launch = Launch {
            buffers: vec![Buffer::Write(&mut out)],
            arguments: vec![Argument::Scalar(count as u64)].into(),
            results: vec![ResultView { buffer: 0, lmad }],
        };
        code.run(launch.check(&region).expect("it fits")).expect("a run");
        assert!(out.iter().enumerate().all(|(i, x)| usize::from(*x) == i % 251), "{route}");
    }
}

#[test]
fn what_is_not_lowered_is_refused_with_a_reason() {
    let region = region(
        "region f (n : i64, A : [n]i32)\nlet r =\n  scan i < n do\n    in A[i]\n  by (a = 0i32) (b) do\n    in a + b\nin r\n",
    );
    for (_, backend) in backends() {
        let trial = Trial::new(&region, &[int(3), array(ElemType::I32, &[3])], |shape| {
            Layout::Contiguous.view(shape)
        })
        .expect("arguments");
        let plan = VerifiedPlan::new(Plan::default(), region.region()).expect("a plan");
        let (observed, machine) = (trial.observed(), Machine::default());
        let refusal = backend
            .compile(Unit { name: "", region: &region, plan: &plan, observed: &observed, machine: &machine })
            .map(|_| ())
            .expect_err("scans are not lowered");
        assert!(refusal.to_string().contains("scan"), "{refusal}");
    }
}

/// The order of a widened value and a constant, which drivers rewrite to an order of narrow values.
#[test]
fn widened_integers_against_constants() {
    for elem in [ElemType::I8, ElemType::I16, ElemType::I32, ElemType::U8, ElemType::U16, ElemType::U32] {
        for wide in [ElemType::I64, ElemType::U64, ElemType::I32, ElemType::U32] {
            for constant in [-129i64, 0, 127, 40_000, i64::from(i32::MIN)] {
                let k = Scalar::from_int(wide, constant);
                let text = format!(
                    "region f (n : i64, A : [n]{elem})\n\
                     let (r, s, t, u, v) =\n  kernel i < n do\n    let x = to_{wide}(A[i])\n\
                     \x20   in (x < {k}, {k} <= x, min(x, {k}), max({k}, x), x == {k})\nin (r, s, t, u, v)\n"
                );
                agree(&text, &[int(70), array(elem, &[70])]);
            }
        }
    }
}

#[test]
fn division_by_zeros_known_when_compiling() {
    let text = "region f (n : i64, A : [n]f32, B : [n]f64)\n\
                let (r, s, t, u) =\n  kernel i < n do\n    let x = A[i]\n    let y = B[i]\n\
                \x20   in (x / 0.0f32, y / -0.0f64, to_i64(x / 0.0f32) + i, to_i16(y / 0.0f64))\nin (r, s, t, u)\n";
    agree(text, &[int(70), array(ElemType::F32, &[70]), array(ElemType::F64, &[70])]);
}

#[test]
fn signs_and_quotients_of_widened_integers() {
    let text = "region f (n : i64, A : [n]i32, B : [n]i8)\n\
                let (r, s, t) =\n  kernel i < n do\n    let x = to_i64(A[i])\n    let z = to_i64(to_u64(A[i]))\n\
                \x20   let y = to_i64(B[i])\n    let m = min(x, z)\n    let k = min(x, 127)\n    let o = y | 1\n\
                \x20   in (m != k, sgn(y) * (y // o), abs(x))\nin (r, s, t)\n";
    agree(text, &[int(70), array(ElemType::I32, &[70]), array(ElemType::I8, &[70])]);
}
