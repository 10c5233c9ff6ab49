//! The door to the back end: strict floats, refusals, launches that do not fit, listings.

use crate::support::*;
use galopvm_base::ElemType;
use galopvm_jit::{CpuMode, Options, X86Backend};
use galopvm_kir::backend::{StrideClass, stride_class};
use galopvm_kir::{Backend, Listing, Plan, RunError, Unit, VerifiedPlan};
use galopvm_lmad::{Dim, Lmad};

const ROWS: &str = "region rows (n : i64, m : i64, A : [n][m]f32)
    let r : [n]f32 = kernel i < n do
      let s : f32 = red j < m do let x : f32 = A[i, j] * 1.1f32 in x by (a : f32 = 0.0f32) (b : f32) do in a + b
      in s
    in r";

const MAP: &str = "region map (n : i64, x : [n]f32)
    let r : [n]f32 = kernel i < n do let a : f32 = x[i] + 1.0f32 in a
    in r";

#[test]
fn strict_floats_agree_bit_for_bit() {
    let columns = ROWS.replace("A : [n][m]f32", "A : [m][n]f32").replace("A[i, j]", "A[j, i]");
    let whole = "region dot (n : i64, m : i64, A : [n][m]f32)
        let r : f32 = red i < n, j < m do let x : f32 = A[i, j] * A[i, j] in x by (a : f32 = 0.0f32) (b : f32) do in a + b
        in r";
    let mut random = Random::new(51);
    for (n, m) in [(3, 100), (70, 33), (200, 100)] {
        for text in [ROWS, &columns, whole] {
            let shape = if text == columns { [m, n] } else { [n, m] };
            let args = [size(n as usize), size(m as usize), tame(ElemType::F32, &shape, &mut random)];
            let region = region(text);
            let expected = reference(&region, &args);
            for cpu in modes() {
                let code = compile(&region, "", &args, cpu, true).unwrap_or_else(|e| panic!("{e}"));
                let got = run(&region, code.as_ref(), &args);
                compare(&region, &format!("strict {cpu}\n{text}"), &expected, &got, 0.0, code.as_ref());
            }
        }
    }
}

#[test]
fn what_it_cannot_do_is_refused_with_a_reason() {
    let several = "region r (n : i64, x : [n]i32)
        let a : [n]i32 = kernel i < n do in x[i] + 1i32
        let r : [n]i32 = kernel j < n do in a[n - 1 - j]
        in r";
    let mut random = Random::new(52);
    let x = array(ElemType::I32, &[8], &mut random);
    let refused = |text: &str, args: &[Arg]| {
        let refusal = compile(&region(text), "", args, CpuMode::Avx512, false)
            .err()
            .unwrap_or_else(|| panic!("{text}"));
        assert!(!refusal.reason.is_empty());
    };
    refused(several, &[size(8), x]);
}

#[test]
fn a_launch_of_another_kind_fails_unless_the_code_is_for_any() {
    let mut random = Random::new(53);
    let region = region(MAP);
    let data =
        |n: usize, random: &mut Random| (0..n).map(|_| value_of(ElemType::F32, random)).collect::<Vec<u64>>();
    let of = |n: i64, stride: i64, random: &mut Random| {
        let block = data((n * stride.abs() + 8) as usize, random);
        let offset = if stride < 0 { (n - 1) * -stride } else { 2 };
        vec![size(n as usize), Arg::Array(ElemType::F32, block, Lmad::new(offset, [Dim::new(n, stride)]))]
    };
    for cpu in modes() {
        for (seen, other) in [(1, 3), (3, 1), (-1, 1), (0, 1), (5, 0)] {
            let code = compile(&region, "", &of(40, seen, &mut random), cpu, false)
                .unwrap_or_else(|e| panic!("{e}"));
            for n in [0, 1, 2, 50, 3000] {
                let args = of(n, seen, &mut random);
                compare(
                    &region,
                    MAP,
                    &reference(&region, &args),
                    &run(&region, code.as_ref(), &args),
                    0.0,
                    code.as_ref(),
                );
            }
            let args = of(50, other, &mut random);
            let found = run(&region, code.as_ref(), &args);
            if stride_class(seen) == StrideClass::Other {
                compare(&region, MAP, &reference(&region, &args), &found, 0.0, code.as_ref());
            } else {
                assert!(matches!(found, Err(RunError::Failed(_))), "{cpu} {seen} {other}");
            }
        }
    }
}

#[test]
fn one_unit_serves_row_major_and_other_arrays_of_its_class() {
    let text = "region r (n : i64, m : i64, A : [n][m]f32)
        let r : [n][m]f32 = kernel i < n, j < m do let a : f32 = A[i, j] * 2.0f32 in a
        in r";
    let region = region(text);
    let mut random = Random::new(54);
    let (n, m) = (20i64, 37i64);
    let block: Vec<u64> = (0..4000).map(|_| value_of(ElemType::F32, &mut random)).collect();
    let with = |row: i64| {
        let lmad = Lmad::new(0, [Dim::new(n, row), Dim::new(m, 1)]);
        vec![size(n as usize), size(m as usize), Arg::Array(ElemType::F32, block.clone(), lmad)]
    };
    for cpu in modes() {
        let code = compile(&region, "", &with(m), cpu, false).unwrap_or_else(|e| panic!("{e}"));
        for row in [m, m + 5, 100, m] {
            let args = with(row);
            compare(
                &region,
                text,
                &reference(&region, &args),
                &run(&region, code.as_ref(), &args),
                0.0,
                code.as_ref(),
            );
        }
    }
}

#[test]
fn listings_show_the_instructions_of_each_mode() {
    let args = [size(100), array(ElemType::F32, &[100], &mut Random::new(55))];
    let region = region(MAP);
    for (cpu, word) in modes().zip(["addss", "vaddps ymm", "vaddps zmm"]) {
        let code = compile(&region, "", &args, cpu, false).unwrap_or_else(|e| panic!("{e}"));
        let listing = code.listing(Listing::Asm).expect("there is a listing");
        assert!(cpu > galopvm_jit::X86Backend::greatest_mode() || listing.contains(word), "{listing}");
        assert_eq!(code.listing(Listing::Spirv), None);
    }
}

#[test]
fn low_ir_is_listed_and_checked() {
    let args = [size(100), array(ElemType::F32, &[100], &mut Random::new(56))];
    let region = region(MAP);
    for cpu in modes() {
        let code = compile(&region, "", &args, cpu, false).unwrap_or_else(|e| panic!("{e}"));
        let listing = code.listing(Listing::Lir).expect("there is a listing");
        assert_eq!(galopvm_jit::check_lir(&listing), Ok(listing.lines().count()), "{listing}");
        let twice = listing.repeat(2);
        assert_eq!(galopvm_jit::check_lir(&twice), Ok(twice.lines().count()), "{twice}");
        let broken = listing.replacen(":int = word.0", ":int = word.0 %0", 1);
        let refused = galopvm_jit::check_lir(&broken).expect_err("words have no operands");
        assert!(refused.contains("the operands are (int), not ()"), "{refused}");
        assert!(galopvm_jit::check_lir(&listing.replacen("  return\n", "", 1)).is_err());
        assert!(galopvm_jit::check_lir(&listing.replacen("masks ", "masks  ", 1)).is_err());
    }
}

/// Of the library's functions those are left to others, if they may be, that take a call for each row.
#[test]
fn functions_that_are_not_done_in_registers_are_left() {
    let backend = X86Backend::new(Options { leaves_functions: true, ..Options::default() });
    for (function, is_left) in [("exp", false), ("sin", false), ("gamma", true), ("asin", true)] {
        let text = format!(
            "region r (n : i64, x : [n]f64)
             let r : [n]f64 = kernel i < n do let a : f64 = {function}(x[i]) * 2.0f64 in a
             in r"
        );
        let region = region(&text);
        let args = [size(50), tame(ElemType::F64, &[50], &mut Random::new(3))];
        let plan = VerifiedPlan::new(Plan::default(), region.region()).expect("the empty plan");
        let (observed, machine) = (observe(&args), machine(CpuMode::Avx2));
        let unit = Unit { name: "", region: &region, plan: &plan, observed: &observed, machine: &machine };
        assert_eq!(backend.compile(unit).is_err(), is_left, "{function}");
    }
}
