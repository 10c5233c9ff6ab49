//! Arrays that are not alive at the same time in the same memory, and plans that are found again: fewer blocks, the same
//! results, and never more memory.

use galopvm::{MemoryStats, Program, Scalar, Switch, Switches, Value};
use galopvm_runtime::{Limits, Options, PlanFigures, Session};

/// What calls of `main` gave and took.
struct Seen {
    results: Vec<String>,
    memory: MemoryStats,
    plans: PlanFigures,
}

/// Calls `main` with each number, in one session.
fn calls(text: &str, numbers: &[i64], switches: Switches, budget: Option<u64>) -> Seen {
    let program = Program::from_source("merging.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let limits = Limits { memory: budget, ..Limits::default() };
    let options = Options { switches, limits, eager: true, ..Options::default() };
    let mut session = Session::new(program.module().clone(), options);
    let call = |number: &i64| {
        let values = session.call("main", vec![Value::from(Scalar::i64(*number))]).expect("the program runs");
        values.iter().map(|value| format!("{value}\n")).collect()
    };
    let results = numbers.iter().map(call).collect();
    assert_eq!(session.violation(), None, "the checker refuses what was decided");
    Seen { results, memory: session.memory().stats(), plans: session.plan_figures() }
}

/// Results are the same with and without merging, whatever else is on, and memory never rises. Gives what was seen with
/// everything off but that.
fn agree(text: &str, numbers: &[i64]) -> (Seen, Seen) {
    let off = calls(text, numbers, Switches::OFF, None);
    let alone = calls(text, numbers, Switches { merge: true, ..Switches::OFF }, None);
    // Nothing moves where only memory is shared.
    assert_eq!(alone.memory.copies, off.memory.copies, "{text}");
    let plain = Switches { shortcircuit: true, reuse: true, ..Switches::OFF };
    for others in [Switches::OFF, plain, Switches { machine: true, ..plain }, Switches::ON] {
        for budget in [None, Some(1 << 30)] {
            let without = calls(text, numbers, others.with(Switch::Merge, false), budget);
            let with = calls(text, numbers, others.with(Switch::Merge, true), budget);
            assert_eq!(with.results, off.results, "{others:?}\n{text}");
            assert!(with.memory.peak_bytes <= without.memory.peak_bytes, "{others:?}\n{text}");
            assert!(with.memory.allocations <= without.memory.allocations, "{others:?}\n{text}");
            assert_eq!(with.memory.live_bytes, 0);
            assert_eq!(without.results, off.results);
        }
    }
    (off, alone)
}

#[test]
fn temporaries_of_a_round_share_a_block_for_all_rounds() {
    // Each of the four dies before the next but one is made; their elements have different widths.
    let (off, on) = agree(
        "entry main (n: i64): []f64 =
           loop a = map f64.i64 (iota n) for k < 20 do
             let b = map (\\x -> i32.f64 x + i32.i64 k) a
             let c = scan (+) 0 b
             let d = map (\\x -> x % 7 == 0) (scan (+) 1 c)
             let e = scan (+) 0 (map (\\x -> if x then 1i8 else 2) d)
             in map2 (\\x y -> x + f64.i8 y) a (scan (+) 0 e)",
        &[1000, 37],
    );
    assert!(on.plans.merged >= 4 * 2 * 18, "{:?}", on.plans);
    assert!(on.memory.allocations + on.plans.merged <= off.memory.allocations + 4 * on.plans.made);
    assert!(on.memory.allocations * 2 < off.memory.allocations, "{} {:?}", off.memory, on.memory);
}

#[test]
fn what_a_loop_carries_takes_two_blocks_in_turn() {
    let (off, on) = agree(
        "def step (a: []f32): []f32 =
           scan (+) 0 (map (\\i -> a[i64.max 0 (i - 1)] * 0.25) (iota (length a)))
         entry main (n: i64): []f32 = loop a = map f32.i64 (iota n) for _k < 30 do step a",
        &[500, 3, 500],
    );
    assert!(on.memory.allocations < off.memory.allocations / 2, "{} {}", off.memory, on.memory);
}

#[test]
fn what_a_function_concatenates_takes_two_blocks_in_turn() {
    let text = "def step [n] (a: [n]i64): [n]i64 =
         let m = n / 2
         in map (\\i -> a[i] + a[n - 1 - i]) (iota m) ++ map (\\i -> a[i] % 10007) (m..<n) :> [n]i64
         entry main (n: i64): []i64 = loop a = iota n for _k < 50 do step a";
    agree(text, &[2000, 7]);
    let switches = Switches { shortcircuit: true, machine: true, ..Switches::OFF };
    let off = calls(text, &[2000], switches, None);
    let on = calls(text, &[2000], switches.with(Switch::Merge, true), None);
    assert!(on.memory.allocations + 45 <= off.memory.allocations, "{} {}", off.memory, on.memory);
    assert!(on.plans.merged >= 45, "{:?}", on.plans);
}

#[test]
fn names_that_change_places_are_never_overwritten() {
    agree(
        "entry main (n: i64): ([]i64, []i64, []i64) =
           loop (a, b, c) = (iota n, map (* 2) (iota n), map (* 3) (iota n)) for k < 9 do
             (b, c, scan (+) k (map2 (\\x y -> x - y) a c))",
        &[40, 300],
    );
    agree(
        "entry main (n: i64): ([]i64, []i64) =
           loop (a, b) = (iota n, iota n) for k < 9 do
             let c = scan (+) k a
             in if k % 3 == 0 then (c, reverse c) else if k % 3 == 1 then (b, c) else (c, a)",
        &[40, 300],
    );
    // A view of what a round makes goes on.
    agree(
        "entry main (n: i64): []i64 =
           loop a = iota n while length a > 2 do
             let b = scan (+) 1 a
             let c = scan (+) 2 b
             let m = length a - 1
             in map2 (+) (b[1:] :> [m]i64) (c[:m] :> [m]i64)",
        &[40, 9],
    );
}

#[test]
fn loops_in_loops_and_branches() {
    agree(
        "entry main (n: i64): []i64 =
           loop a = iota n for k < 5 do
             let t = scan (+) 0 a
             let u = loop b = t for j < 4 do
               let v = scan (+) j b
               let w = if j % 2 == 0 then scan (+) 0 v else map2 (-) v t
               in map2 (+) w b
             let x = scan (+) k u
             in map2 (\\p q -> p % 1000 + q % 1000) t x",
        &[20, 300],
    );
    agree(
        "def half (a: []i64) (k: i64): []i64 =
           let t = scan (+) k a
           let u = scan (+) 1 t
           in if k % 2 == 0 then map2 (+) t u else u
         entry main (n: i64): []i64 =
           loop a = iota n for k < 7 do
             let b = half a k
             in map2 (\\x y -> (x + y) % 1009) (half b (k + 1)) (half a 3)",
        &[20, 300],
    );
    // Arrays of arrays, and places in the block of a concatenation.
    agree(
        "entry main (n: i64): [][]i64 =
           loop a = tabulate_2d n n (+) for k < 6 do
             let r = map (scan (+) k) a
             let s = map (\\row -> scan (+) 0 row ++ [k]) r
             in map (\\row -> take n row) (transpose (map (\\row -> map (% 100) row) s))[:n] :> [n][n]i64",
        &[3, 20],
    );
}

#[test]
fn plans_are_found_again() {
    // Every call has numbers of its own.
    let text = "entry main (k: i64): []i64 =
         let a = map (* 2) (iota 1000)
         in a with [k:k + 20] = map (+ 1) (a[2 * k:2 * k + 20])";
    let program = Program::from_source("plans.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let mut session = Session::new(program.module().clone(), Options { eager: true, ..Options::default() });
    let mut calls = || {
        for k in 0..100 {
            session.call("main", vec![Value::from(Scalar::i64(k))]).expect("the program runs");
        }
        session.plan_figures()
    };
    let (first, second) = (calls(), calls());
    assert_eq!((first.made, second.made), (100, 100), "{second:?}");
    assert_eq!((first.found, second.found), (0, 100), "{second:?}");
}

#[test]
fn a_site_without_plans_stops_asking() {
    // The array is read by name between the two: it cannot be made in its place.
    let text = "entry main (k: i64): (i64, []i64) =
         let a = map (* 2) (iota 1000)
         let b = map (+ 1) (a[2 * k:2 * k + 20])
         let c = copy a with [k:k + 20] = b
         in (reduce (+) 0 b, map2 (+) a c)";
    let program = Program::from_source("plans.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let switches = Switches { shortcircuit: true, ..Switches::OFF };
    let mut session = Session::new(program.module().clone(), Options { switches, ..Options::default() });
    for k in 300..480 {
        session.call("main", vec![Value::from(Scalar::i64(k))]).expect("the program runs");
    }
    let figures = session.plan_figures();
    assert!(figures.useful == 0 && (8..=12).contains(&figures.made), "{figures:?}");
}

#[test]
fn scalars_that_only_elements_are_computed_from_do_not_matter() {
    let text = "entry main (x: f64): []f64 =
         let a = map f64.i64 (iota 1000)
         in a with [10:500] = map (\\y -> y * x) (a[0:490])";
    let program = Program::from_source("plans.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let mut session = Session::new(program.module().clone(), Options { eager: true, ..Options::default() });
    for k in 0..10 {
        session.call("main", vec![Value::from(Scalar::f64(f64::from(k)))]).expect("the program runs");
    }
    let figures = session.plan_figures();
    assert_eq!((figures.made, figures.found), (1, 9), "{figures:?}");
}

#[test]
fn what_a_limit_cut_short_is_tried_harder_once_it_runs_often() {
    // Each of the parts is made while the others still read the array that all of them go into.
    let count = 40;
    let mut text = String::from("entry main (n: i64): []i64 =\n  let a = map (+ n) (iota 4000)\n");
    for k in 0..count {
        let from = 2000 + 20 * k;
        text += &format!("  let v{k} = map (\\x -> x * 3) a[{from}:{from} + 20]\n");
    }
    for k in 0..count {
        text += &format!("  let a = a with [{}:{} + 20] = v{k}\n", 20 * k, 20 * k);
    }
    text += "  in a";
    let program = Program::from_source("hard.fut", &text).unwrap_or_else(|e| panic!("{e}"));
    let switches = Switches { shortcircuit: true, machine: true, ..Switches::OFF };
    let options = Options { switches, eager: true, ..Options::default() };
    let mut session = Session::new(program.module().clone(), options);
    let mut copied = Vec::new();
    for _ in 0..20 {
        let before: u64 = session.memory().stats().copied_bytes.iter().sum();
        session.call("main", vec![Value::from(Scalar::i64(3))]).expect("the program runs");
        copied.push(session.memory().stats().copied_bytes.iter().sum::<u64>() - before);
    }
    let figures = session.plan_figures();
    assert!(figures.made == 2 && figures.thorough == 1, "{figures:?}");
    assert!(copied[19] == 0 && copied[0] > 0, "{copied:?}");
}

/// The rows of an array of unknown size may be copied to where they are: nobody can tell, and nothing is wrong with it.
#[test]
fn a_row_is_copied_to_its_own_place() {
    agree(
        "entry main (k: i64): [][]i32 =
           let n = 1 + k / 1000
           let a = tabulate_2d n 4 (\\i j -> i32.i64 (i * 7 + j * 3 + k))
           let start = if k > 3 then map (map (* 1)) a else copy (map (map (+ 2)) a)
           in loop c: *[n][4]i32 = start for i < k % 5 do
             let turns = (i64.i32 c[0, k % 4] & 1023) % 4
             let d =
               loop d: *[n][4]i32 = c for t < turns do
                 let row = map (* 1) d[t % n]
                 in d with [(t + 1) % n] = row
             let e = (d ++ a)[0:0 + n] :> [n][4]i32
             let row = map (2 -) e[i % n]
             in e with [(i + 1) % n] = row",
        &[7, 14, 2, 19, 1023, 9],
    );
}
