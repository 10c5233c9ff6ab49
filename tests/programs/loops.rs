//! Loops outside of operators, which machine code may run.

use crate::support::candidates;
use galopvm::{BackendChoice, Engine, Event, Program, Value};
use galopvm_base::Scalar;
use std::sync::{Arc, Mutex};

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

/// Loops whose rounds change parts of an array: eliminations, sums of products, and what only looks like one. The matrices are whole, a
/// transposed view, and every other row and column of a larger one.
const ROUNDS: &str = "
  def matrix (n: i64) (m: i64): [n][m]f32 =
    tabulate_2d n m (\\i j -> f32.i64 ((i * 37 + j * 11) % 101) / 7 + (if i == j then 40 else 0))
  def lu [n][m] (a: [n][m]f32): [n][m]f32 =
    loop a = copy a for k < i64.min n m do
      let below = map (/ a[k, k]) a[k + 1:, k]
      let a = a with [k + 1:, k] = below
      let rest = map2 (\\row l -> map2 (\\x u -> x - l * u) row a[k, k + 1:]) a[k + 1:, k + 1:] below
      in a with [k + 1:, k + 1:] = rest
  def products [n][m][l] (c: [n][m]f64) (a: [n][l]f64) (b: [l][m]f64): [n][m]f64 =
    loop c = copy c for k < l do
      c with [0:, 0:] = map2 (\\row x -> map2 (\\z y -> z + x * y) row b[k]) c a[:, k]
  def paths [n] (a: [n][n]i32): [n][n]i32 =
    loop a = copy a for k < n do
      a with [0:, 0:] = map2 (\\row x -> map2 (\\z y -> i32.min z (x + y)) row a[k]) a a[:, k]
  entry eliminate (n: i64): ([][]f32, [][]f32, [][]f32, [][]f32) =
    (lu (matrix n n), lu (transpose (matrix n (n + 3))), lu (matrix (2 * n) (2 * n))[::2, ::2],
     lu (matrix n (n + 5))[:, 5:])
  entry multiply (n: i64): [][]f64 =
    let wide [n][m] (a: [n][m]f32) = map (map f64.f32) a
    in products (wide (matrix n (n + 1))) (wide (matrix n 5)) (wide (matrix 5 (n + 1)))
  entry shortest (n: i64): [][]i32 = paths (map (map i32.f32) (matrix n n))
  entry outside (n: i64): [][]f32 =
    loop a = matrix n n for k < n + 1 do
      a with [k:, k:] = map (map (* a[k, k])) a[k:, k:]
";

#[test]
fn loops_that_change_parts_of_arrays_agree_on_every_engine() {
    let program = Program::from_source("rounds.fut", ROUNDS).unwrap_or_else(|e| panic!("{e}"));
    let calls = [
        ("eliminate", vec![0, 1, 2, 17, 70]),
        ("multiply", vec![0, 1, 40]),
        ("shortest", vec![1, 33]),
        ("outside", vec![0, 3, 20]),
    ];
    let call = |engine: &Engine| {
        let mut session = engine.session(&program);
        let mut shown = Vec::new();
        for (entry, sizes) in &calls {
            for size in sizes {
                let values = session.call_values(entry, vec![Value::Scalar(Scalar::i64(*size))]);
                shown.push(match values {
                    Ok(values) => values.iter().map(|value| format!("{value} ")).collect::<String>(),
                    Err(error) => error.to_string(),
                });
            }
        }
        shown
    };
    let expected = call(&crate::support::interpreter());
    for candidate in candidates() {
        assert_eq!(call(&candidate.engine), expected, "{}", candidate.name);
    }
}

/// Which of them are done in blocks of rounds, and why the others are not.
#[test]
fn loops_in_blocks_of_rounds() {
    let program = Program::from_source("rounds.fut", ROUNDS).unwrap_or_else(|e| panic!("{e}"));
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let list = told.clone();
    let trace = Arc::new(move |event: &Event<'_>| {
        let text = match event {
            Event::InBlocks { rounds, .. } => format!("{rounds} rounds"),
            Event::NotLifted { site, reason } if site.operator == "for" => reason.to_string(),
            _ => return,
        };
        list.lock().expect("nobody panics with the list").push(text);
    });
    let engine = Engine::builder().backend(BackendChoice::X86).threads(1).trace(trace).build();
    let heard = |entry: &str| {
        told.lock().expect("nobody panics with the list").clear();
        let values = engine.session(&program).call_values(entry, vec![Value::Scalar(Scalar::i64(30))]);
        let _ = values.map(drop);
        told.lock().expect("nobody panics with the list").clone()
    };
    for entry in ["eliminate", "multiply"] {
        let heard = heard(entry);
        assert!(
            !heard.is_empty() && heard.iter().all(|text| text.ends_with(" rounds")),
            "{entry}: {heard:?}"
        );
    }
    let refused = "no blocks of rounds: what a round changes does not begin at a line";
    assert_eq!(heard("shortest"), [refused]);
}

/// Loops around small operators: arrays that change places, that are read after they have changed, that the loop only reads, that one
/// round leaves as they are; operators of every kind in a round; loops in loops; rounds that fail; arrays that grow.
const SMALL: &str = "
  entry turns (n: i64) (k: i64): ([]i64, []i64, i64) =
    loop (a, b, s) = (iota n, map (* 3) (iota n), 0) for i < k do
      let c = map2 (\\x y -> x + y * i) a b
      in (b, c, s + i64.sum c)
  entry kept (n: i64) (k: i64): ([]i64, []i64, []i64) =
    let xs = map (\\i -> i * i % 7) (iota n)
    let (a, b) = loop (a: [n]i64, b: [n]i64) = (xs, xs) for i < k do
      if i % 3 == 0 then (map (+ i) b, a) else (a, map2 (-) b xs)
    in (xs, a, b)
  entry changed (n: i64) (k: i64): ([]i64, []i64) =
    let a = iota (n + 1)
    let (first, b) = loop (first, b) = (0, copy a) for i < k do
      let s = i64.sum b
      let b = b with [i % (n + 1)] = s % 1000
      in (first + b[0], b)
    in (a, map (+ first) b)
  entry operators (n: i64) (k: i64): ([]i64, []i64, [][]i64) =
    loop (a, h, m) = (iota n, replicate 5 0, replicate 3 (iota n)) for i < k do
      let a = scan (+) 0 (map (% 11) a)
      let h = reduce_by_index h (+) 0 (map (% 5) a) a
      let m = m with [i % 3] = map2 (+) m[(i + 1) % 3] a
      let m = transpose (map (\\col -> map (+ i64.sum col) col) (transpose m))
      let r = copy (reverse a)
      let a = scatter a (map (\\x -> (x * 7 + i) % (n + 1)) (iota n)) r
      in (a, map (% 1000) h, map (map (% 1000)) m)
  entry nested (n: i64) (k: i64): [][]i64 =
    loop m = tabulate_2d n n (\\i j -> i * 3 - j) for i < k do
      loop m for j < n do
        m with [j] = map2 (\\x y -> (x * 2 + y + i) % 97) m[j] m[(j + 1) % n]
  entry failing (n: i64) (k: i64): []i64 =
    loop a = iota n for i < k do map (\\x -> a[(x + i) % 40] + 1) a
  entry growing (n: i64) (k: i64): []i64 =
    loop a = iota n for i < k do if i % 8 == 0 then a ++ [i] else map (+ 1) a
  entry floats (n: i64) (k: i64): ([]f64, f64) =
    loop (x, t) = (map f64.i64 (iota n), 0) for i < k do
      let y = map (\\v -> f64.exp (-v / 64) + f64.i64 i) x
      in (map2 (\\a b -> (a + b) / 2) x y, f64.max t (f64.maximum y))
";

#[test]
fn loops_around_small_operators_agree_on_every_engine() {
    let program = Program::from_source("small.fut", SMALL).unwrap_or_else(|e| panic!("{e}"));
    let call = |engine: &Engine, entry: &str, n: i64, k: i64| {
        let mut session = engine.session(&program);
        let mut texts = Vec::new();
        // Code may be there from the second call on.
        for _ in 0..3 {
            let args = vec![Value::Scalar(Scalar::i64(n)), Value::Scalar(Scalar::i64(k))];
            texts.push(match session.call_values(entry, args) {
                Ok(values) => values.iter().map(|value| format!("{value}\n")).collect::<String>(),
                Err(error) => error.to_string(),
            });
        }
        texts
    };
    let entries = ["turns", "kept", "changed", "operators", "nested", "failing", "growing", "floats"];
    for (entry, n, k) in
        entries.iter().flat_map(|e| [(*e, 1, 40), (*e, 9, 0), (*e, 9, 1), (*e, 33, 300), (*e, 50, 30)])
    {
        let expected = call(&crate::support::interpreter(), entry, n, k);
        for candidate in candidates() {
            assert_eq!(call(&candidate.engine, entry, n, k), expected, "{entry} {n} {k}, {}", candidate.name);
        }
    }
}

/// Which of them code does as they stand: all but those whose arrays grow.
#[test]
fn loops_around_small_operators_are_code() {
    let program = Program::from_source("small.fut", SMALL).unwrap_or_else(|e| panic!("{e}"));
    let lifted: Arc<Mutex<usize>> = Arc::default();
    let count = lifted.clone();
    let trace = Arc::new(move |event: &Event<'_>| {
        if matches!(event, Event::Lifted { site, .. } if site.operator == "for") {
            *count.lock().expect("nobody panics with the count") += 1;
        }
    });
    let engine = Engine::builder().backend(BackendChoice::X86).threads(1).trace(trace).build();
    for (entry, is_code) in [("turns", true), ("changed", true), ("floats", true), ("growing", false)] {
        *lifted.lock().expect("nobody panics with the count") = 0;
        let args = [33, 300].map(|n| Value::Scalar(Scalar::i64(n))).to_vec();
        engine.session(&program).call_values(entry, args).expect("it runs");
        let lifted = *lifted.lock().expect("nobody panics with the count");
        assert_eq!(lifted > 0, is_code, "{entry}: {lifted}");
    }
}
