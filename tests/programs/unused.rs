//! What can end a program is evaluated although nobody uses its value: on every engine, and with fusion on and off.

use crate::support::{candidates, interpreter};
use galopvm::{Engine, Program, Switch, Switches, Value};
use galopvm_base::Scalar;
use galopvm_runtime::Array;

/// Entry points that fail for the argument 0 in something that does not become part of the result, and what they say.
const PROGRAM: &str = "
entry assertion (x: i64) (_: []i64) = let _ = assert (x > 0) () in 5i64
entry index (x: i64) (xs: []i64) = let y = xs[x - 1] in 5i64
entry division (x: i64) (xs: []i64) = let y = 7 / x in xs
entry made (x: i64) (_: []i64) = let ys = replicate (x - 1) 0i32 in 5i64
entry coerced (x: i64) (xs: []i64) = let ys = xs :> [x]i64 in 5i64
entry in_map (x: i64) (xs: []i64) = map (\\a -> let y = 7 / (x * a) in a + 1) xs
entry whole_map (x: i64) (xs: []i64) = let ys = map (\\a -> 7 / (x * a)) xs in map (+ 1) xs
entry mapped_length (x: i64) (xs: []i64) = length (map (\\a -> assert (x * a != 0) a) xs)
entry one_of_two (x: i64) (xs: []i64) = (unzip (map (\\a -> (a + 1, 7 / (x * a))) xs)).0
entry reduced (x: i64) (xs: []i64) = let s = reduce (+) 0 (map (7 / x /) xs) in map (* 2) xs
entry in_loop (x: i64) (xs: []i64) = loop s = 0 for a in xs do let y = 7 / (x * a) in s + a
entry in_called (x: i64) (xs: []i64) =
  let checked (a: i64) = let _ = assert (a > 0) () in a
  let _ = map checked (map (* x) xs)
  in i64.sum xs
";

const SAID: [(&str, &str); 12] = [
    ("assertion", "Assertion is false: (x > 0)"),
    ("index", "out of bounds"),
    ("division", "division by zero"),
    ("made", "is invalid"),
    ("coerced", "cannot match shape"),
    ("in_map", "division by zero"),
    ("whole_map", "division by zero"),
    ("mapped_length", "Assertion is false"),
    ("one_of_two", "division by zero"),
    ("reduced", "division by zero"),
    ("in_loop", "division by zero"),
    ("in_called", "Assertion is false: (a > 0)"),
];

fn call(engine: &Engine, program: &Program, entry: &str, x: i64) -> Result<Vec<Value>, String> {
    let mut session = engine.session(program);
    let numbers: Vec<i64> = (1..40).collect();
    let array = Array::from_slice(session.memory(), &numbers, &[39]).expect("there is memory");
    let arguments = vec![Value::Scalar(Scalar::i64(x)), Value::Array(array)];
    session.call_values(entry, arguments).map_err(|error| error.to_string())
}

#[test]
fn errors_of_values_that_nobody_uses_are_never_lost() {
    let fused = Program::from_source("unused.fut", PROGRAM).expect("it compiles");
    let unfused = Program::from_source_with("unused.fut", PROGRAM, Switches::without(&[Switch::Fusion]));
    let programs = [fused, unfused.expect("it compiles")];
    let plain = interpreter();
    let engines = candidates();
    for (entry, said) in SAID {
        let expected = call(&plain, &programs[0], entry, 0).expect_err(entry);
        assert!(expected.to_lowercase().contains(&said.to_lowercase()), "{entry}: {expected}");
        let fine = if entry == "coerced" { 39 } else { 1 };
        assert!(call(&plain, &programs[0], entry, fine).is_ok(), "{entry} fails for {fine}");
        for program in &programs {
            for candidate in &engines {
                let found = call(&candidate.engine, program, entry, 0);
                assert_eq!(found.err().as_ref(), Some(&expected), "{entry} on {}", candidate.name);
            }
        }
    }
}
