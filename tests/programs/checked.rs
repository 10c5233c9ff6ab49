//! What the execution that checks (`vm/runtime/src/shadow/`) can tell, and what it leaves to the program.

use galopvm::Program;
use galopvm_runtime::{Array, Options, Session};

/// How many instructions were taken over from the program when a function of `[3, 1, 2]` ran.
fn taken_over(body: &str) -> u64 {
    let text = format!("entry main (xs: []i64) = {body}");
    let program = Program::from_source("checked.fut", &text).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { check: true, ..Options::default() };
    let mut session = Session::new(program.module().clone(), options);
    let xs = Array::from_slice(session.memory(), &[3i64, 1, 2], &[3]).expect("there is memory");
    session.call("main", vec![xs.into()]).unwrap_or_else(|e| panic!("{body}: {e}"));
    let figures = session.shadow_figures().expect("it checks");
    assert!(figures.compared > 0);
    figures.taken_over
}

/// How often the neutral element is taken is left open, so only one that changes nothing gives a result that can be told.
#[test]
fn results_depend_on_neutral_elements_that_are_none() {
    for (body, is_lawful) in [
        ("reduce (+) 0 xs", true),
        ("reduce (+) 1 xs", false),
        ("i64.sum (map (* 2) xs)", true),
        ("reduce (\\a b -> a + b + 1) 0 (map (* 2) xs)", false),
        ("reduce i64.max 0 xs", true),
        ("reduce i64.max 2 xs", false),
        ("scan (+) 0 xs", true),
        ("scan (+) 5 xs", false),
        ("reduce (\\(a, b) (c, d) -> (a + c, b + d)) (0, 0) (zip xs xs)", true),
        ("reduce (\\(a, b) (c, d) -> (a + c, b + d)) (0, 1) (zip xs xs)", false),
    ] {
        assert_eq!(taken_over(body) == 0, is_lawful, "{body}");
    }
}
