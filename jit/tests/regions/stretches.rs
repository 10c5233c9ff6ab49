//! Reductions in stretches, and operands that are packed for rows: results are those of the reference whatever a plan says of
//! them, for any views, types and sizes, and for pieces of several threads.

use crate::support::*;
use galopvm_analysis::decide;
use galopvm_base::ElemType;
use galopvm_jit::{CpuMode, X86Backend};
use galopvm_kir::text::{parse_plan, print_plan};
use galopvm_kir::{Listing, Machine, Plan, VerifiedRegion};
use galopvm_testkit::rounds;

/// A region: its text with `TY` for the type, `MUL` and `ADD` for operations, and `ZERO` for the neutral element; the shapes
/// of its arrays over `n`, `m` and `k`; the axis of rows, if it has such; reads that may be packed.
struct Kernel {
    text: &'static str,
    arrays: &'static [&'static [char]],
    rows: Option<&'static str>,
    packed: &'static [u32],
}

const KERNELS: &[Kernel] = &[
    Kernel {
        text: "region product (n : i64, m : i64, k : i64, A : [n][k]TY, B : [k][m]TY, c : [n]TY)
            let r : [n][m]TY = kernel i < n, j < m do
              let scale : TY = c[i]
              let s : TY = red l < k do let x : TY = A[i, l] MUL B[l, j] in x by (a : TY = ZERO) (b : TY) do in a ADD b
              in s MUL scale
            in r",
        arrays: &[&['n', 'k'], &['k', 'm'], &['n']],
        rows: Some("i"),
        packed: &[2],
    },
    Kernel {
        text: "region several (n : i64, m : i64, k : i64, A : [n][k]TY, B : [m][k]TY, C : [k][m]TY)
            let (r : [n][m]TY, t : [n][m]TY) = kernel i < n, j < m do
              let (s : TY, u : TY) = red l < k do
                let y : TY = B[j, k - 1 - l]
                in (A[i, l] MUL y, C[l, j] MUL y)
              by (a : TY = ZERO, c : TY = ZERO) (b : TY, d : TY) do in (a ADD b, c ADD d)
              in (s, u MUL A[i, 0])
            in (r, t)",
        arrays: &[&['n', 'k'], &['m', 'k'], &['k', 'm']],
        rows: Some("i"),
        packed: &[0, 2],
    },
    Kernel {
        text: "region outside (n : i64, m : i64, k : i64, A : [n][k]TY, B : [k][m]TY)
            let r : [n][m]TY = kernel i < n, j < m do
              let s : TY = red l < k do let x : TY = A[i, l] MUL B[l + i * 0, j + l / 9] in x by (a : TY = ZERO) (b : TY) do in a ADD b
              in s
            in r",
        arrays: &[&['n', 'k'], &['k', 'm']],
        rows: Some("i"),
        packed: &[],
    },
    Kernel {
        text: "region traps (n : i64, m : i64, k : i64, A : [n][k]TY, B : [k][m]TY)
            let r : [n][m]TY = kernel i < n, j < m do
              let s : TY = red l < k do let x : TY = A[i, l] MUL B[l, j + l / 20] in x by (a : TY = ZERO) (b : TY) do in a ADD b
              in s
            in r",
        arrays: &[&['n', 'k'], &['k', 'm']],
        rows: Some("i"),
        packed: &[1],
    },
    Kernel {
        text: "region many (n : i64, m : i64, k : i64, A : [3][n][k]TY, B : [3][k][m]TY)
            let r : [3][n][m]TY = kernel h < 3, i < n, j < m do
              let s : TY = red l < k do let x : TY = A[h, i, l] MUL B[h, l, j] in x by (a : TY = ZERO) (b : TY) do in a ADD b
              in s
            in r",
        arrays: &[&['3', 'n', 'k'], &['3', 'k', 'm']],
        rows: Some("i"),
        packed: &[1],
    },
    Kernel {
        text: "region columns (n : i64, m : i64, k : i64, A : [k][m]TY, c : [m]TY)
            let r : [m]TY = kernel j < m do
              let first : TY = c[j]
              let s : TY = red l < k do let x : TY = A[l, j] MUL first in x by (a : TY = ZERO) (b : TY) do in a ADD b
              in s MUL c[j]
            in r",
        arrays: &[&['k', 'm'], &['m']],
        rows: None,
        packed: &[],
    },
    Kernel {
        text: "region pairs (n : i64, m : i64, k : i64, A : [n][k][m]TY, B : [m][k]TY)
            let (r : [n][m]TY, t : [n][m]TY) = kernel i < n, j < m do
              let (s : TY, u : TY) = red l < k do in (A[i, l, j], B[j, l] MUL A[i, l, j])
              by (a : TY = ZERO, c : TY = ZERO) (b : TY, d : TY) do in (a ADD b, c ADD d)
              in (s, u)
            in (r, t)",
        arrays: &[&['n', 'k', 'm'], &['m', 'k']],
        rows: None,
        packed: &[],
    },
];

/// Types with a multiplication, an addition and its neutral element; those of floats are the same in strict code only.
const OPERATIONS: &[(ElemType, &str, &str, &str)] = &[
    (ElemType::I8, "*", "+", "0i8"),
    (ElemType::U16, "^", "+", "0u16"),
    (ElemType::I32, "*", "+", "0i32"),
    (ElemType::I64, "*", "+", "0i64"),
    (ElemType::U64, "&", "|", "0u64"),
    (ElemType::Bool, "&&", "||", "false"),
    (ElemType::F32, "*", "+", "0.0f32"),
    (ElemType::F64, "*", "+", "0.0f64"),
];

/// Numbers of rows, lanes and iterations: none, few, and no multiples of anything.
const SIZES_OF_AXES: [(usize, usize, usize); 9] = [
    (0, 5, 3),
    (7, 0, 3),
    (3, 5, 0),
    (1, 1, 1),
    (13, 150, 11),
    (40, 35, 19),
    (6, 64, 8),
    (9, 130, 70),
    (29, 17, 33),
];

fn vectors() -> impl Iterator<Item = CpuMode> {
    modes().filter(|cpu| cpu.vectors().lanes > 1 && *cpu <= X86Backend::greatest_mode())
}

fn text_of(kernel: &Kernel, (ty, mul, add, zero): (ElemType, &str, &str, &str)) -> String {
    let words = [("TY", ty.to_string()), ("MUL", mul.into()), ("ADD", add.into()), ("ZERO", zero.into())];
    words.into_iter().fold(kernel.text.to_string(), |text, (word, with)| text.replace(word, &with))
}

/// Sizes, and arrays in any layout; floats are tame.
fn args_of(kernel: &Kernel, ty: ElemType, (n, m, k): (usize, usize, usize), random: &mut Random) -> Vec<Arg> {
    let extent = |name: &char| match name {
        'n' => n as i64,
        'm' => m as i64,
        'k' => k as i64,
        number => i64::from(number.to_digit(10).expect("an extent")),
    };
    let mut args = vec![size(n), size(m), size(k)];
    for shape in kernel.arrays {
        let shape: Vec<i64> = shape.iter().map(extent).collect();
        let (lmad, elements) = Layout::ALL[random.below(Layout::ALL.len())].view(&shape);
        let Arg::Array(ty, elements, _) = tame(ty, &[elements], random) else { continue };
        args.push(Arg::Array(ty, elements, lmad));
    }
    args
}

/// A plan with numbers of any size.
fn any_plan(kernel: &Kernel, region: &VerifiedRegion, random: &mut Random) -> Plan {
    let groups = 1 + random.below(5);
    let count = [1, 2, 3, 8, 16, 100][random.below(6)];
    let mut text = format!("plan\n  lane j : a test\n  groups j {groups} : a test\n");
    match kernel.rows {
        Some(row) => {
            let (rows, places) = (2 + random.below(6), 1 + random.below(20));
            text += &format!("  tile {row} {rows} : a test\n  stretch l {count} {row} {places} : a test\n");
        }
        None => {
            text += &format!("  stretch l {count} j {} : a test\n", 1 + random.below(200));
        }
    }
    for read in kernel.packed.iter().filter(|_| random.below(4) > 0) {
        text += &format!("  pack read{read} : a test\n");
    }
    parse_plan(region.region(), &text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// A machine whose caches are full early.
fn small_machine(cpu: CpuMode, threads: usize) -> Machine {
    Machine { threads, l1_bytes: 1 << 8, l2_bytes: 1 << 12, thread_grain: 1 << 9, ..machine(cpu) }
}

#[test]
fn any_stretches_of_any_kernel() {
    for seed in 1..=rounds(150) {
        let mut random = Random::new(seed);
        let kernel = &KERNELS[random.below(KERNELS.len())];
        let operation = OPERATIONS[random.below(OPERATIONS.len())];
        let sizes = SIZES_OF_AXES[random.below(SIZES_OF_AXES.len())];
        let text = text_of(kernel, operation);
        let args = args_of(kernel, operation.0, sizes, &mut random);
        let region = region(&text);
        let expected = reference(&region, &args);
        let (threads, strict) = ([1, 3][random.below(2)], random.below(2) == 0);
        let tolerance = if strict { 0.0 } else { 1e-4 };
        for cpu in vectors() {
            let plan = any_plan(kernel, &region, &mut random);
            let machine = small_machine(cpu, threads);
            let title = format!(
                "seed {seed}, {cpu}, {threads} threads, {sizes:?}, strict {strict}\n{}{text}",
                print_plan(region.region(), &plan)
            );
            let code = compile_on(&region, plan, &args, &machine, strict);
            let code = code.unwrap_or_else(|e| panic!("{e}\n{title}"));
            let got = run(&region, code.as_ref(), &args);
            compare(&region, &title, &expected, &got, tolerance, code.as_ref());
            for layout in [Layout::Padded, Layout::Turned] {
                let place = |shape: &[i64]| layout.view(shape).0;
                let got = run_in(&region, code.as_ref(), &args, &|| false, &place);
                compare(&region, &title, &expected, &got, tolerance, code.as_ref());
            }
        }
    }
}

/// What is decided for small caches is executed, and is there.
#[test]
fn decided_stretches() {
    let (mut stretches, mut packed) = (0, 0);
    for seed in 1..=rounds(60) {
        let mut random = Random::new(!seed);
        let kernel = &KERNELS[random.below(KERNELS.len())];
        let operation = OPERATIONS[random.below(OPERATIONS.len())];
        let sizes = [(30, 80, 40), (2, 560, 40), (60, 20, 30)][random.below(3)];
        let text = text_of(kernel, operation);
        let args = args_of(kernel, operation.0, sizes, &mut random);
        let region = region(&text);
        let expected = reference(&region, &args);
        for cpu in vectors() {
            let machine = small_machine(cpu, [1, 3][random.below(2)]);
            let plan = decide(&region, &observe(&args), &machine);
            stretches += usize::from(plan.stretch().is_some());
            packed += plan.packed().count();
            let title =
                format!("seed {seed}, {cpu}, {sizes:?}\n{}{text}", print_plan(region.region(), &plan));
            let code = compile_on(&region, plan, &args, &machine, false);
            let code = code.unwrap_or_else(|e| panic!("{e}\n{title}"));
            let got = run(&region, code.as_ref(), &args);
            compare(&region, &title, &expected, &got, 1e-4, code.as_ref());
        }
    }
    let least = 10 * vectors().count();
    assert!(stretches >= least && packed >= least, "{stretches} stretches, {packed} packed reads");
}

/// Code for one length serves all others, longer than a stretch or not.
#[test]
fn code_of_one_size_runs_others() {
    let (kernel, operation) = (&KERNELS[0], OPERATIONS[2]);
    let (text, mut random) = (text_of(kernel, operation), Random::new(7));
    let region = region(&text);
    let plan = "plan\n  lane j : a test\n  groups j 2 : a test\n  tile i 3 : a test\n  \
                stretch l 8 i 6 : a test\n  pack read2 : a test\n";
    let launches: Vec<Vec<Arg>> = SIZES_OF_AXES
        .into_iter()
        .map(|(n, m, k)| {
            let mut args = vec![size(n), size(m), size(k)];
            for shape in [vec![n, k], vec![k, m], vec![n]] {
                let shape: Vec<i64> = shape.iter().map(|extent| *extent as i64).collect();
                args.push(array(operation.0, &shape, &mut random));
            }
            args
        })
        .collect();
    for cpu in vectors() {
        let plan = parse_plan(region.region(), plan).unwrap_or_else(|e| panic!("{e}"));
        let code = compile_on(&region, plan, &launches[4], &small_machine(cpu, 2), false);
        let code = code.unwrap_or_else(|e| panic!("{e}"));
        assert!(
            code.listing(Listing::Lir).is_some_and(|lir| lir.contains("room")),
            "nothing waits in memory"
        );
        for args in &launches {
            let got = run(&region, code.as_ref(), args);
            compare(&region, "another size", &reference(&region, args), &got, 0.0, code.as_ref());
        }
    }
}
