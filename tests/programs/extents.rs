//! Extents that do not fit into 64 bits, and those of nothing: an error on every engine, never a wrapped number or an error left out.

use crate::places::agree;
use galopvm::{Program, Value};
use galopvm_base::Scalar;
use galopvm_jit::X86Backend;
use galopvm_kir::Reference;
use galopvm_runtime::{Options, Session, Switches, Tiering};
use std::sync::Arc;

/// Entry points that take sizes; every size of which something is made comes from outside.
const PROGRAM: &str = "
def rows (n: i64): [n][0]i32 = replicate n []
entry joined (n: i64) (_: i64) = let x = rows n in length (x ++ x)
entry joined_units (n: i64) (_: i64) = let x = replicate n () in length (x ++ x)
entry joined_thrice (n: i64) (_: i64) = let x = rows n in length (x ++ x ++ x)
entry joined_inside (n: i64) (m: i64) = map (\\i -> let x = replicate (n + i) (rows 0) in length (x ++ x)) (iota m)
entry joined_in_loops (n: i64) (m: i64) =
  map (\\i -> loop k = 0 for j < i do let x = replicate (n + j) (rows 0) in k + length (x ++ x)) (iota m)
entry flattened (n: i64) (m: i64) = let x = replicate n (rows m) in length (flatten x)
entry flattened_inside (n: i64) (m: i64) =
  map (\\i -> length (flatten (replicate (n + i) (rows m)))) (iota 4)
entry flattened_copies (n: i64) (m: i64) =
  map (\\i -> length (flatten (replicate n (replicate m i)))) (iota 4)
entry flattened_3d (n: i64) (m: i64) = length (flatten_3d (replicate n (replicate m (rows 1))))
entry unflattened (n: i64) (m: i64) = length (unflatten ((rows 0) :> [n * m][0]i32))
entry unflattened_inside (n: i64) (m: i64) =
  map (\\i -> length (unflatten ([] :> [n * m]i64)) + i) (iota 4)
entry inclusive (n: i64) (m: i64) = length (n...m)
entry inclusive_unsigned (n: i64) (m: i64) = length (u64.i64 n...u64.i64 m)
entry inclusive_in_steps (n: i64) (m: i64) = length (n..<m)
entry counted (n: i64) (_: i64) = length (iota n)
entry repeated (n: i64) (m: i64) = length (replicate n (replicate m 1i8))
entry tabulated (n: i64) (m: i64) = length (tabulate_2d n m (\\i j -> i + j))
entry segments (n: i64) (m: i64) =
  let (_, _, _, all) = flatmap' (\\(_: i64) -> rows n) (iota m) in length all
";

/// Entry point, sizes, and a part of the message.
const TOO_LARGE: &[(&str, i64, i64, &str)] = &[
    ("joined", 1 << 62, 0, "an extent of the result would be more than 9223372036854775807"),
    ("joined_units", 1 << 62, 0, "Out of memory"),
    ("joined_thrice", 1 << 62, 0, "an extent of the result would be more than 9223372036854775807"),
    ("joined_inside", 1 << 62, 5, "an extent of the result would be more than 9223372036854775807"),
    ("joined_in_loops", 1 << 62, 5, "an extent of the result would be more than 9223372036854775807"),
    ("flattened", 1 << 62, 4, "Cannot flatten array of shape [4611686018427387904][4]"),
    ("flattened", 1 << 62, 2, "Cannot flatten array of shape [4611686018427387904][2]"),
    ("flattened_inside", 1 << 62, 4, "Cannot flatten array of shape [4611686018427387904][4]"),
    ("flattened_copies", 1 << 62, 4, "Out of memory"),
    ("flattened_copies", 1 << 62, 2, "Out of memory"),
    ("flattened_3d", 1 << 62, 4, "Cannot flatten array of shape [4611686018427387904][4]"),
    ("unflattened", 1 << 32, 1 << 32, "Cannot unflatten array"),
    ("unflattened_inside", 1 << 32, 1 << 32, "Cannot unflatten array of shape [0]"),
    ("inclusive", i64::MIN, i64::MAX, "is invalid"),
    ("inclusive", -1, i64::MAX, "is invalid"),
    ("inclusive", 0, i64::MAX, "is invalid"),
    ("inclusive_unsigned", 0, -1, "is invalid"),
    ("inclusive_in_steps", i64::MIN, i64::MAX, "is invalid"),
    ("counted", -1, 0, "is invalid"),
    ("repeated", 1 << 62, 4, "Out of memory"),
    ("repeated", 1 << 62, 1 << 62, "Out of memory"),
    ("tabulated", 1 << 62, 4, "Out of memory"),
    ("segments", 1 << 62, 4, "together they have more than 9223372036854775807 rows"),
    ("segments", 1 << 62, 2, "together they have more than 9223372036854775807 rows"),
];

/// What is large and fits.
const FITS: &[(&str, i64, i64, i64)] = &[
    ("joined", (1 << 62) - 1, 0, i64::MAX - 1),
    ("flattened", 1 << 61, 3, 3 << 61),
    ("flattened", 0, 1 << 62, 0),
    ("flattened_3d", 3, 1 << 61, 3 << 61),
    ("unflattened", 0, 1 << 62, 0),
    ("unflattened", 1 << 62, 0, 1 << 62),
    ("inclusive_unsigned", -1, -1, 1),
    ("inclusive", i64::MIN, i64::MIN, 1),
];

/// Sessions of every way to execute, by name.
fn sessions(program: &Program) -> Vec<(&'static str, Session)> {
    let session = |tiering, switches| {
        let options = Options { tiering, switches, ..Options::default() };
        Session::new(program.module().clone(), options)
    };
    let always = |backend: Arc<dyn galopvm_kir::Backend>| Tiering {
        backends: vec![backend],
        always: true,
        background: false,
        ..Tiering::default()
    };
    vec![
        ("interpreter", session(Tiering::interpreter(), Switches::ON)),
        ("interpreter, plain", session(Tiering::interpreter(), Switches::OFF)),
        ("reference", session(always(Arc::new(Reference)), Switches::ON)),
        ("x86", session(always(Arc::new(X86Backend::default())), Switches::ON)),
    ]
}

fn sizes(n: i64, m: i64) -> Vec<Value> {
    [n, m].map(|number| Value::Scalar(Scalar::i64(number))).to_vec()
}

#[test]
fn extents_do_not_wrap() {
    let program = Program::from_source("extents.fut", PROGRAM).unwrap_or_else(|e| panic!("{e}"));
    let mut wrong = Vec::new();
    for (name, mut session) in sessions(&program) {
        for (entry, n, m, message) in TOO_LARGE {
            match session.call(entry, sizes(*n, *m)) {
                Ok(values) => wrong.push(format!("{name}: {entry} {n} {m} gives {}", values[0])),
                Err(error) if error.message.contains(message) => {}
                Err(error) => wrong.push(format!("{name}: {entry} {n} {m}: {error}")),
            }
        }
        for (entry, n, m, expected) in FITS {
            match session.call(entry, sizes(*n, *m)) {
                Ok(values) if values[0] == Value::Scalar(Scalar::i64(*expected)) => {}
                Ok(values) => wrong.push(format!("{name}: {entry} {n} {m} gives {}", values[0])),
                Err(error) => wrong.push(format!("{name}: {entry} {n} {m}: {error}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rows that are large but for an extent of nothing: nobody goes through them.
#[test]
fn rows_of_nothing_take_no_time() {
    let text = "
      def rows (n: i64) (m: i64): [n][m][0]i32 = replicate n (replicate m [])
      entry scattered (n: i64) (m: i64) =
        scatter (replicate 3 (rows n m)) (map (% 3) (iota 3)) (map (\\_ -> rows n m) (iota 3))
      entry mapped (n: i64) (m: i64) = map (\\_ -> rows n m) (iota 3)
      entry beside (n: i64) (m: i64) = (unzip (map (\\i -> (i + m, rows n m)) (iota 3))).1";
    let program = Program::from_source("rows.fut", text).unwrap_or_else(|e| panic!("{e}"));
    for (name, mut session) in sessions(&program) {
        for entry in ["scattered", "mapped", "beside"] {
            let found = session.call(entry, sizes(1 << 33, 1 << 33));
            let found = found.unwrap_or_else(|e| panic!("{name}, {entry}: {e}"));
            let shape = found[0].as_array().map(|array| array.shape().to_vec());
            assert_eq!(shape, Some(vec![3, 1 << 33, 1 << 33, 0]), "{name}, {entry}");
        }
    }
}

/// What is computed for a row before its elements is computed for rows without elements, too.
#[test]
fn rows_without_elements_have_their_errors() {
    let text = "
      entry main (n: i64) (m: i64) =
        let rows = replicate n (replicate m 1)
        let b = iota n
        in length (flatten (map2 (\\i row -> let v = b[i + 5] in map (+ v) row) (iota n) rows))";
    let program = Program::from_source("rows.fut", text).unwrap_or_else(|e| panic!("{e}"));
    for (name, mut session) in sessions(&program) {
        for m in [0, 1, 3] {
            let error = session.call("main", sizes(1000, m)).expect_err(name);
            assert!(error.message.contains("Index [1000] out of bounds"), "{name}, {m}: {error}");
            assert_eq!(session.call("main", sizes(0, m)).as_deref(), Ok(&sizes(0, 0)[..1]), "{name}, {m}");
        }
    }
}

/// Of rows that are not there, parts have the extents that types say, also where no such row could have them; what is put together
/// again from parts has the extent of a row.
#[test]
fn parts_of_rows_that_are_not_there() {
    let text = "entry main (x: f64) =
        let i = i64.f64 x - 4
        let a = replicate (i64.f64 x / 100) (replicate 2 i)
        let rests = map (\\row -> row[i:]) a
        let first = map (\\row -> row[:i]) a
        let whole = map (\\row -> row[i:] ++ row[:i]) a
        let nested = map (\\k -> map (\\row -> let part = row[i:] in map (+ k) part) a) (iota 3)
        in (length (transpose rests), length (transpose first), length (transpose whole), whole, nested)";
    agree(text, &[4.0, 5.0, 6.0, 9.0, 1.0, 0.0]);
}

/// Parts that were made are put together with the extents that they were made with, by every engine alike; where rows of a result
/// differ by that, each says so.
#[test]
fn parts_of_rows_that_are_not_there_put_together() {
    let text = "entry main (x: f64) =
        let n = i64.f64 x / 100
        let m = 3i64
        let a = replicate 2 (replicate n (iota m))
        let together (i: i64) (rows: [n][m]i64): [n][m]i64 =
          let rests = map (\\row -> opaque row[i:]) rows
          let first = map (\\row -> opaque row[:i]) rows
          in map2 concat rests first :> [n][m]i64
        in (map2 together (map (+ i64.f64 x) (iota 2)) a, map2 together [2, 1] a)";
    agree(text, &[0.0, 1.0, 2.0, 3.0, 5.0, -1.0, -7.0]);
}

/// The rows of an operator over none have the shape that a function would give them, in whatever it is called.
#[test]
fn rows_of_functions_that_were_not_called() {
    let text = "
      #[noinline] def same [m] (row: [m]i64): [m]i64 = map (+ 1) row
      #[noinline] def rest [m] (k: i64) (row: [m]i64): [m - k]i64 = row[k:] :> [m - k]i64
      #[noinline] def long (k: i64): i64 = if k > 2 then k * 2 else 1
      #[noinline] def counted [m] (row: [m]i64): [m][4]i64 = map (\\e -> map (+ e) (iota 4)) (same row)
      #[noinline] def chosen [m] (k: i64) (row: [m]i64): [2]i64 = if k > 1 then row[:2] :> [2]i64 else [k, k]
      entry main (n: i64) (m: i64) =
        let rows = replicate n (iota m)
        let nested = replicate 2 rows
        let k = long m
        in (map same rows, map (rest 1) rows, map counted rows, map (chosen m) rows, map (\\_ -> iota k) rows,
            map (\\r -> scan (+) 0 (rest 2 r)) rows, map (map same) nested, map (map (rest 1)) nested,
            map (map counted) nested)";
    let program = Program::from_source("functions.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let shapes = |n: i64| {
        let rows = [vec![n, 3], vec![n, 2], vec![n, 3, 4], vec![n, 2], vec![n, 6], vec![n, 1]];
        rows.into_iter().chain([vec![2, n, 3], vec![2, n, 2], vec![2, n, 3, 4]]).collect::<Vec<_>>()
    };
    for (name, mut session) in sessions(&program) {
        for n in [0, 5] {
            let found = session.call("main", sizes(n, 3)).unwrap_or_else(|e| panic!("{name}: {e}"));
            let found: Vec<Vec<i64>> = found
                .iter()
                .filter_map(|value| value.as_array())
                .map(|array| array.shape().to_vec())
                .collect();
            assert_eq!(found, shapes(n), "{name}, {n}");
        }
    }
}
