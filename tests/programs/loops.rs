//! Loops outside of operators, which machine code may run.

use crate::support::candidates;
use galopvm::{BackendChoice, Engine, Program, Value};
use galopvm_base::Scalar;

#[test]
fn a_loop_without_end_ends_with_the_fuel() {
    let text = "entry main (n: i64): i64 = loop x = n for _k < 10 do loop y = x while y > 0 do y % 7 + 1";
    let program = Program::from_source("loops.fut", text).unwrap_or_else(|e| panic!("{e}"));
    for backend in [BackendChoice::X86, BackendChoice::Auto] {
        let engine = Engine::builder().backend(backend).fuel(1_000_000).build();
        let error = engine.session(&program).call_values("main", vec![Value::Scalar(Scalar::i64(3))]);
        let error = error.expect_err("it has no end").to_string();
        assert!(error.starts_with("Out of fuel"), "{error}");
    }
}

#[test]
fn loops_that_change_arrays_agree_on_every_engine() {
    let text = "entry main (n: i64): []i64 =
                  loop xs = iota n for i in 1..<n do
                    loop xs for j < i do xs with [i - j] = xs[i] * 3 + xs[j] - j";
    let program = Program::from_source("loops.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let call = |engine: &Engine| {
        let values = engine.session(&program).call_values("main", vec![Value::Scalar(Scalar::i64(200))]);
        format!("{}", values.expect("it runs")[0])
    };
    let expected = call(&crate::support::interpreter());
    for candidate in candidates() {
        assert_eq!(call(&candidate.engine), expected, "{}", candidate.name);
    }
}
