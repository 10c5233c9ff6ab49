//! Text in, text out: `tests/golden/kir/*.kir` of the repository.
//!
//! A file is a region, followed by what is known of it, each part after a line `== what`:
//! - `== typed`: the region with all types, or the place and message of the error;
//! - `== verify`: the types of the results, or every error;
//! - `== run ARGS`: the results, or `trap`. An argument for a scalar is a constant, one for an array its elements
//!   in row-major order in brackets; the extents follow from the sizes.
//!
//! `GALOPVM_ACCEPT=1` writes what is computed into the files (lines `== run ARGS` stay, with new results).

use galopvm_base::Scalar;
use galopvm_base::scalar::parse_scalar;
use galopvm_kir::evaluate::{Trial, Value, evaluate};
use galopvm_kir::text::{parse_plan, parse_region, print_plan, print_region, print_type};
use galopvm_kir::{
    Backend, Decision, Machine, Plan, Reference, RunError, Type, Unit, Vectors, VerifiedPlan, VerifiedRegion,
    types, verify,
};
use galopvm_testkit::Layout;
use galopvm_testkit::golden::whole;
use std::fmt::Write;

fn constant(text: &str, ty: &Type) -> Scalar {
    let text = text.trim();
    parse_scalar(text)
        .filter(|value| value.ty == ty.elem)
        .or_else(|| parse_scalar(&format!("{text}{}", ty.elem)))
        .unwrap_or_else(|| panic!("{text} is not of type {}", ty.elem))
}

/// `3 [1, 2, 3]` for `(n : i64, A : [n]f32)`
fn arguments(region: &VerifiedRegion, text: &str) -> Vec<Value> {
    let params = &region.region().params;
    let mut rest = text.trim();
    let mut values: Vec<Value> = Vec::new();
    for param in params {
        let ty = region.type_of(*param);
        let end = if rest.starts_with('[') { rest.find(']').map(|k| k + 1) } else { rest.find(' ') };
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after.trim_start();
        if ty.is_scalar() {
            values.push(Value::Scalar(constant(word, ty)));
            continue;
        }
        let elements = word.trim_matches(['[', ']']).split(',').filter(|e| !e.trim().is_empty());
        let data = elements.map(|e| constant(e, ty).bits).collect();
        let known = |var| {
            let at = params.iter().position(|p| *p == var)?;
            match values.get(at)? {
                Value::Scalar(value) => Some(*value),
                Value::Array(_) => None,
            }
        };
        let shape = ty.shape.iter().map(|e| region.size_with(e, &known).expect("sizes come first")).collect();
        values.push(Value::new(ty.elem, shape, data));
    }
    assert!(rest.is_empty(), "too many arguments: {text}");
    values
}

fn show(value: &Value) -> String {
    let elements = value.data().iter().map(|bits| Scalar::new(value.elem(), *bits).plain());
    match value {
        Value::Scalar(scalar) => scalar.to_string(),
        Value::Array(_) => {
            let shape: String = value.shape().iter().map(|n| format!("[{n}]")).collect();
            format!("{shape}{} [{}]", value.elem(), elements.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Runs by the evaluator, and by the reference back end in every layout: all agree.
fn run(region: &VerifiedRegion, text: &str) -> String {
    let arguments = arguments(region, text);
    let expected = evaluate(region, &arguments);
    let plan = VerifiedPlan::new(Plan::default(), region.region()).expect("an empty plan fits every region");
    for layout in Layout::ALL {
        let trial = Trial::new(region, &arguments, |shape| layout.view(shape)).expect("the arguments fit");
        let observed = trial.observed();
        let unit = Unit { name: "", region, plan: &plan, observed: &observed, machine: &Machine::default() };
        let code = Reference.compile(unit).expect("the reference takes everything");
        assert_eq!(trial.run(code.as_ref()), expected, "{layout:?}");
    }
    match expected {
        Ok(values) => values.iter().fold(String::new(), |text, value| text + &show(value) + "\n"),
        Err(RunError::Trap) => "trap\n".into(),
        Err(RunError::Failed(refusal) | RunError::TooLarge(refusal)) => format!("failed: {refusal}\n"),
        Err(RunError::Stopped) => "stopped\n".into(),
    }
}

/// What the file should contain.
fn computed(file: &str) -> String {
    let (input, rest) = file.split_at(file.find("\n== ").map_or(file.len(), |newline| newline + 1));
    let mut out = input.to_string();
    out.push_str("== typed\n");
    let mut region = match parse_region(input) {
        Ok(region) => region,
        Err(error) => {
            let _ = writeln!(out, "{error}");
            return out;
        }
    };
    assert_eq!(parse_region(&print_region(&region)).as_ref(), Ok(&region), "the untyped region round-trips");
    types::infer(&mut region);
    let printed = print_region(&region);
    assert_eq!(parse_region(&printed).as_ref(), Ok(&region), "the typed region round-trips");
    out.push_str(&printed);
    out.push_str("== verify\n");
    let verified = match verify(region) {
        Ok(verified) => verified,
        Err(errors) => {
            for error in errors {
                let _ = writeln!(out, "{error}");
            }
            return out;
        }
    };
    for ty in verified.results() {
        let _ = writeln!(out, "{}", print_type(verified.region(), ty));
    }
    for line in rest.lines() {
        if let Some(text) = line.strip_prefix("== run") {
            let _ = write!(out, "{line}\n{}", run(&verified, text));
        }
    }
    out
}

#[test]
fn every_golden_file_is_as_computed() {
    whole("kir", "kir", 17, |_, text| computed(text));
}

/// Rows are computed together where they only fold, over the same bounds, beside the lanes.
#[test]
fn rows_together_are_checked() {
    let text = "region (n : i64, m : i64, A : [n][m]f32, B : [m][n]f32)\n\
                let r =\n  kernel i < n, j < n do\n    let c = A[i, 0]\n    \
                let s =\n      red k < m do\n        let x = A[i, k] * B[k, j]\n        in x\n      \
                by (a = 0.0f32) (b) do\n        in a + b\n    in s * c\nin r\n";
    let tile = "plan\n  lane j : a test\n  tile i 4 : a test\n";
    for (from, to, plan, message) in [
        ("", "", tile, None),
        ("", "", "plan\n  tile i 4 : the lanes go across the last axis\n", None),
        ("", "", "plan\n  lane i : a test\n  tile j 2 : a test\n", None),
        ("", "", "plan\n  lane k : a test\n  tile j 2 : a test\n", Some("the lanes go across another loop")),
        ("", "", "plan\n  tile i 4 : a test\n  stretch k 8 i 12 : a test\n  pack read2 : a test\n", None),
        ("", "", "plan\n  stretch k 8 j 12 : a test\n", None),
        ("", "", "plan\n  stretch k 8 i 12 : a test\n", Some("results wait along another axis")),
        ("", "", "plan\n  tile i 4 : a test\n  stretch k 8 j 12 : a test\n", Some("along another axis")),
        ("", "", "plan\n  stretch i 8 j 12 : a test\n", Some("not the one axis of the kernel's reduction")),
        ("", "", "plan\n  stretch k 0 j 12 : a test\n", Some("not from 1 to 65536")),
        ("", "", "plan\n  stretch k 8 j 65537 : a test\n", Some("not from 1 to 65536")),
        (
            "",
            "",
            "plan\n  tile i 4 : a test\n  pack read2 : a test\n",
            Some("there are no stretches of rows"),
        ),
        (
            "",
            "",
            "plan\n  stretch k 8 j 12 : a test\n  pack read2 : a test\n",
            Some("there are no stretches of rows"),
        ),
        (
            "",
            "",
            "plan\n  tile i 4 : a test\n  stretch k 8 i 12 : a test\n  pack read1 : a test\n",
            Some("no read of the reduction that all rows share"),
        ),
        ("red k < m", "red k < i", tile, Some("bounds differ from row to row")),
        ("(a = 0.0f32)", "(a = c)", tile, Some("bounds differ from row to row")),
        ("in a + b", "in a - b", tile, Some("the reduction's operator is no scalar operation")),
        (
            "in s * c",
            "  let d = if c > 0.0f32 then let e = c in e else let f = s in f\n    in s * d",
            tile,
            Some("more than one reduction"),
        ),
    ] {
        let mut region = parse_region(&text.replacen(from, to, 1)).unwrap_or_else(|e| panic!("{to}: {e}"));
        types::infer(&mut region);
        let plan = parse_plan(&region, plan).unwrap_or_else(|e| panic!("{e}"));
        match (VerifiedPlan::new(plan, &region), message) {
            (Err(error), Some(message)) => assert!(error.contains(message), "{error}"),
            (found, message) => assert_eq!(found.err(), message.map(String::from), "{to}"),
        }
    }
}

#[test]
fn plans_and_machines_round_trip() {
    let text = "region (n : i64, A : [n]f32)\n\
                let r =\n  kernel i < n do\n    let x = A[i]\n    in x * 2\n\
                let s =\n  kernel j < n do\n    let y = r[j]\n    in y\n\
                in (r, s)\n";
    let mut region = parse_region(text).unwrap_or_else(|e| panic!("{e}"));
    types::infer(&mut region);
    let plan_text = "plan\n  threads i : many iterations\n  lane j : innermost : the only one\n  \
                     groups j 2 : two at a time\n  stream 4096 : large\n  \
                     unchecked read0 read1 : in range\n  fresh r : nobody holds a block\n";
    let plan = parse_plan(&region, plan_text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(print_plan(&region, &plan), plan_text);
    assert!(plan.lane().is_some() && plan.threads() != plan.lane());
    assert!(VerifiedPlan::new(plan, &region).is_ok());
    for (bad, message) in [
        ("plan\n  lane A : no axis\n", "is not a parallel or reduction axis"),
        ("plan\n  lane i : one\n  lane j : two\n", "chosen twice"),
        ("plan\n  unchecked read7 : far\n", "not a read"),
        ("plan\n  fresh A : a parameter\n", "not a result"),
        ("plan\n  groups n 2 : no axis\n", "is not an axis"),
        ("plan\n  groups i 0 : none\n", "not from 1 to 8"),
        ("plan\n  groups i 1 : one\n  groups j 1 : another\n  groups i 2 : again\n", "chosen twice"),
        ("plan\n  stream 1 : one\n  stream 2 : another\n", "chosen twice"),
        ("plan\n  tile i 1 : alone\n", "not from 2 to 8"),
        ("plan\n  tile i 2 : no reduction\n", "the rows go across the lanes"),
        ("plan\n  tile n 2 : no axis\n", "not an axis of a kernel"),
    ] {
        let plan = parse_plan(&region, bad).unwrap_or_else(|e| panic!("{e}"));
        let error = VerifiedPlan::new(plan, &region).expect_err(bad);
        assert!(error.contains(message), "{error}");
    }
    for (bad, place) in [
        ("", "1:1"),
        ("plan\n\n  lane q : x\n", "3:8"),
        ("plan\n  lane i\n", "2:1"),
        ("plan\n  tile i x : y\n", "2:10"),
    ] {
        let error = parse_plan(&region, bad).expect_err(bad).to_string();
        assert!(error.starts_with(place), "{error}");
    }
    let mut without_reason = Plan::default();
    without_reason.decide(Decision::Unchecked(Vec::new()), " ");
    assert!(VerifiedPlan::new(without_reason, &region).is_err());
    for machine in [
        Machine { threads: 2, ..Machine::default() },
        Machine { page_bytes: 64, followed: 1, ..Machine::default() },
    ] {
        assert_eq!(machine.to_string().parse(), Ok(machine));
    }
    let text = "machine lanes 16 registers 29 masks fma threads 2 l1 32768 l2 1048576 grain 65536";
    let machine: Machine = text.parse().unwrap_or_else(|e| panic!("{e}"));
    assert!(machine.vectors.bytes() == 64 && Vectors::NONE.fits(machine.vectors));
    assert!(!machine.vectors.fits(Vectors { masks: false, ..machine.vectors }));
    assert_eq!(machine.to_string(), text);
    assert!(text.replace("16", "12").parse::<Machine>().is_err());
}
