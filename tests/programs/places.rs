//! Results made in their place: programs in which a careless choice of places would show.

use galopvm::{Backend, Machine, Program, Scalar, Switches, Value};
use galopvm_jit::{CpuMode, X86Backend};
use galopvm_kir::{Compiled, Reference, Refusal, Rhs, Unit};
use galopvm_runtime::{Limits, Options, Session, Tiering};
use galopvm_vector::Vector;
use std::sync::{Arc, Mutex};

/// What the program gives for each number, in one session, with as much asked of the analyses as can be.
fn outcomes(
    text: &str,
    numbers: &[f64],
    switches: Switches,
    backend: Option<Arc<dyn Backend>>,
) -> Vec<String> {
    let program = Program::from_source("places.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let machine = Machine {
        threads: 2,
        thread_grain: 1 << 10,
        vectors: X86Backend::greatest_mode().vectors(),
        ..Machine::default()
    };
    let tiering = match backend {
        Some(backend) => Tiering { backends: vec![backend], machine, always: true, ..Tiering::interpreter() },
        None => Tiering::interpreter(),
    };
    let options = Options { switches, tiering, eager: true, ..Options::default() };
    let mut session = Session::new(program.module().clone(), options);
    let call = |number: &f64| match session.call("main", vec![Value::from(Scalar::f64(*number))]) {
        Ok(values) => values.iter().map(|value| format!("{value}\n")).collect(),
        Err(error) => error.to_string(),
    };
    let outcomes = numbers.iter().map(call).collect();
    assert_eq!(session.violation(), None, "the checker refuses what was decided\n{text}");
    outcomes
}

/// Machine code, as far as this processor has it, in every mode, and the meaning of kernels.
fn backends() -> Vec<Arc<dyn Backend>> {
    let mut backends: Vec<Arc<dyn Backend>> = vec![Arc::new(Reference), Arc::new(Vector::default())];
    if X86Backend::is_available() {
        backends.push(Arc::new(X86Backend::default()));
    }
    backends
}

pub fn agree(text: &str, numbers: &[f64]) {
    let plain = outcomes(text, numbers, Switches::OFF, None);
    let both = Switches { reuse: true, shortcircuit: true, ..Switches::OFF };
    let ways = [
        Switches { reuse: true, ..Switches::OFF },
        Switches { shortcircuit: true, ..Switches::OFF },
        both,
        Switches { machine: true, ..both },
        Switches::ON,
    ];
    for switches in ways {
        assert_eq!(outcomes(text, numbers, switches, None), plain, "{switches:?}\n{text}");
    }
    for backend in backends() {
        let name = backend.name();
        let found = outcomes(text, numbers, Switches::ON, Some(backend));
        assert_eq!(found, plain, "{name}\n{text}");
    }
}

#[test]
fn a_place_may_depend_on_a_float() {
    agree(
        "entry main (x: f64): []i64 =
           let k = i64.f64 x
           let a = map (* 3) (iota 40)
           in a with [k:k + 8] = map (+ 1) a[0:8]",
        &[20.0, 4.0, 30.0, 0.0, 20.0],
    );
}

#[test]
fn a_row_is_not_overwritten_before_all_of_its_block_has_read_it() {
    // Both results copy most of the array; the second reads each element that the first replaces.
    agree(
        "entry main (x: f64): ([][]i64, [][]i64) =
           let n = i64.f64 x
           in loop (a, b) = (tabulate_2d n n (\\i j -> i * n + j), tabulate_2d n n (\\i j -> i - j)) for k < n do
             unzip (tabulate n (\\i ->
               let r = tabulate n (\\j -> if j == k then a[i, j] * 2 else a[i, j])
               let s = map (\\v -> v + 1) (scan (+) 0 a[i])
               in (r :> [n]i64, s :> [n]i64)))",
        &[3.0, 7.0],
    );
    agree(
        "entry main (x: f64): [][]i64 =
           let n = i64.f64 x
           in loop a = tabulate_2d n n (\\i j -> i * n + j) for k < n do
             tabulate n (\\i ->
               let r = tabulate n (\\j -> if i > k && j > k then a[i, j] - a[i, k] * a[k, j] else a[i, j])
               in r)",
        &[5.0, 40.0],
    );
}

#[test]
fn rows_that_read_their_neighbours_stay_apart() {
    agree(
        "entry main (x: f64): []i64 =
           let n = i64.f64 x
           in loop a = iota (3 * n) for k < n do
             a with [k:k + n] = map (\\i -> a[i] + a[i + 1]) (iota n)",
        &[4.0, 33.0],
    );
}

/// Matrices of which only a part changes from one to the next: a diagonal, a column and a rectangle, rows, all but
/// a rectangle.
const PARTS: [&str; 6] = [
    "if r >= 1 && c >= 1 && r == k - c + 1 then a[r - 1, c - 1] + a[r, c - 1] * 2 + a[r - 1, c] else a[r, c]",
    "if c == k && r > k then a[r, c] - a[k, k] else a[r, c]",
    "if r > k && c > k then a[r, c] - a[r, k] * a[k, c] else a[r, c]",
    "if r >= k && r < k + 3 then a[r, c] + 1 else a[r, c]",
    "if r % 3 == 1 && c % 2 == 0 then a[r, c] * 3 + v else a[r, c]",
    "if r < k && c < k then a[r, c] else a[r, c] + 1",
];

fn parts_program(elem: &str, part: &str) -> String {
    format!(
        "entry main (x: f64): [][]{elem} =
           let n = i64.f64 x
           in loop a = tabulate_2d n (n + 2) (\\r c -> {elem}.i64 ((r * 7 + c * 3) % 11)) for k < n do
             tabulate_2d n (n + 2) (\\r c -> let v = {elem}.i64 k in {part})"
    )
}

#[test]
fn only_what_changes_is_made() {
    for elem in ["i64", "i8", "f32", "f64", "u16"] {
        for part in PARTS {
            agree(&parts_program(elem, part), &[1.0, 2.0, 6.0, 35.0]);
        }
    }
    for part in ["i >= k && i < k + 5", "i % 3 == k % 3", "i == k", "i > 100 || i < 4", "i < 0"] {
        agree(
            &format!(
                "entry main (x: f64): []i32 =
                   let n = i64.f64 x
                   in loop a = map i32.i64 (iota n) for k < 7i64 do
                     tabulate n (\\i -> if {part} then a[i] * 3 + 1 else a[i])"
            ),
            &[0.0, 1.0, 30.0, 3000.0],
        );
    }
}

/// A back end for rows: it takes no kernel over the rows of a matrix.
struct OfRows(Arc<dyn Backend>);

impl Backend for OfRows {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal> {
        let mut kernels = 0;
        unit.region.region().body.visit_stms(&mut |stm| {
            kernels += if matches!(stm.rhs, Rhs::Kernel { .. }) { stm.rhs.axes().len() } else { 0 };
        });
        match kernels {
            0 | 1 => self.0.compile(unit),
            _ => Err(Refusal::new("a kernel over rows")),
        }
    }
}

/// Matrices of which several columns, or rectangles, change.
const SEVERAL_PARTS: [&str; 4] = [
    "if c == 0 || c == n + 1 then a[r, c] + a[r, c] + v else a[r, c]",
    "if c == k || c == n then a[r, c] * 3 + 1 else a[r, c]",
    "if c < 2 || c > k + 3 then a[r, c] - v * 2 + a[r, c] else a[r, c]",
    "if r > 0 && (c == 1 || c == n) then a[r, c] + a[0, c] * 5 else a[r, c]",
];

#[test]
fn code_for_rows_makes_the_part_that_changes_and_nothing_else() {
    for part in SEVERAL_PARTS.iter().chain(&PARTS) {
        for elem in ["i64", "f32"] {
            let text = parts_program(elem, part);
            agree(&text, &[6.0, 35.0]);
            let plain = outcomes(&text, &[6.0, 35.0], Switches::OFF, None);
            for backend in backends() {
                let name = backend.name();
                let found = outcomes(&text, &[6.0, 35.0], Switches::ON, Some(Arc::new(OfRows(backend))));
                assert_eq!(found, plain, "rows by {name}\n{text}");
            }
        }
    }
}

#[test]
fn what_goes_wrong_elsewhere_is_told() {
    // Only element k changes, but all of them are divided.
    agree(
        "entry main (x: f64): []i64 =
           let n = i64.f64 x
           let b = map (\\i -> 50 - i) (iota n)
           in loop a = iota n for k < n do
             tabulate n (\\i -> let d = 100 / b[i] in if i == k then d else a[i])",
        &[40.0, 60.0],
    );
    // Trapping after some elements were written must not lose those that were there.
    agree(
        "entry main (x: f64): []i64 =
           let n = i64.f64 x
           in loop a = iota n for k < 3i64 do
             tabulate n (\\i -> if i >= k then 1000 / (n - a[i] - 500) else a[i])",
        &[40.0, 499.0, 600.0],
    );
}

#[test]
fn the_work_is_that_of_what_changes() {
    let text = parts_program("i64", PARTS[0]);
    let program = Program::from_source("places.fut", &text).unwrap_or_else(|e| panic!("{e}"));
    let fuel_for = |switches: Switches| {
        let enough = |fuel: u64| {
            let limits = Limits { fuel: Some(fuel), ..Limits::default() };
            let options = Options { switches, limits, eager: true, ..Options::default() };
            let mut session = Session::new(program.module().clone(), options);
            session.call("main", vec![Value::from(Scalar::f64(100.0))]).is_ok()
        };
        (10..40).map(|bits| 1u64 << bits).find(|fuel| enough(*fuel)).expect("some fuel is enough")
    };
    let (without, with) = (fuel_for(Switches { reuse: false, ..Switches::ON }), fuel_for(Switches::ON));
    assert!(with * 8 <= without, "{with} with reuse, {without} without");
}

/// Machine code, and the names of the kernels that it was made for.
struct Watched(Mutex<Vec<String>>);

impl Backend for Watched {
    fn name(&self) -> &'static str {
        "watched"
    }

    fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal> {
        self.0.lock().expect("nobody panicked").push(unit.region.region().name.clone());
        X86Backend::default().compile(unit)
    }
}

#[test]
fn kernels_are_made_for_what_changes() {
    if !X86Backend::is_available() || X86Backend::greatest_mode() == CpuMode::Scalar {
        return;
    }
    // Rounds large enough that their operators have launches of their own.
    for part in &PARTS[..3] {
        let watched = Arc::new(Watched(Mutex::default()));
        let text = parts_program("f64", part);
        let plain = outcomes(&text, &[100.0], Switches::OFF, None);
        assert_eq!(outcomes(&text, &[100.0], Switches::ON, Some(watched.clone())), plain);
        let names = watched.0.lock().expect("nobody panicked");
        assert!(names.iter().any(|name| name.ends_with("_part")), "{names:?}\n{text}");
    }
}

#[test]
fn rows_of_a_result_in_an_advised_layout_are_not_made_where_the_plan_has_them() {
    // A column-major result that a plan would have row-major in the copy that a called function makes of it.
    agree(
        "def same (a: [][]i64) (k: i64): [][]i64 =
           let n = length (flatten a)
           let m = if n > 1 then 1 + length a % 2 else 1
           let p = n / m
           in copy a
         entry main (x: f64): ([][]i64, []i64) =
           let n = i64.f64 x
           let a = tabulate_2d n n (\\i j -> 31 * i + 7 * j)
           let b = map (map (\\e -> 3 - e)) a
           let sums = map (\\r -> loop s = 0 for y in r do s * 3 + y) b
           let c = same b 1
           let d = map (map (\\e -> e + 7)) c[0:1, 0:1]
           in (c with [0:1, 0:1] = d, sums)",
        &[40.0, 40.0, 7.0, 40.0],
    );
    // The same along the other dimension: the layout is that of a transposition.
    agree(
        "def same (a: [][]i64) (k: i64): [][]i64 =
           let r = map (+ k) a[0]
           in copy a
         entry main (x: f64): ([][]i64, [][]i64) =
           let n = i64.f64 x
           let a = tabulate_2d n 4 (\\i j -> 5 * i - j)
           let b = map (map (+ 4)) a
           let c = [map (+ n) b[0]] ++ map (map (+ n)) b ++ [map (+ n) b[n - 1]]
           in (c, same b (n % 50))",
        &[20.0, 20.0, 3.0, 20.0],
    );
}

#[test]
fn rows_of_a_result_over_a_dying_array_are_not_made_where_the_plan_has_them() {
    agree(
        "entry main (x: f64): [][]i64 =
           let n = i64.f64 x
           let a = loop m = tabulate_2d n 8 (\\i j -> i * 31 + j * 7) for i < 2 do m with [i, 0] = i
           let b = tabulate_2d n 8 (\\i j -> if j > 2 then a[i, j] else a[i, j] * 3 + i)
           in [replicate 8 0] ++ b",
        &[40.0, 40.0, 9.0],
    );
}

#[test]
fn what_a_group_made_early_is_not_taken_for_a_block_of_the_plan() {
    // The second result of the group would lie in the copy that is made after the group has run.
    agree(
        "entry main (x: f64): ([]i32, []i32) =
           let m = i64.f64 x
           let a = tabulate m (\\i -> i32.i64 (i * 37 % 50 + 8))
           let first = 1 - a[m / 2]
           let b = copy a with [0] = first
           let c = map (\\e -> if e > 6 then e - 6 else e) a[0:m]
           in (b with [0:m] = c, a)",
        &[2.0, 2.0, 1000.0, 7.0, 100_000.0],
    );
    agree(
        "entry main (x: f64): ([]i64, []i64) =
           let n = i64.f64 x
           let a = tabulate n (\\i -> i * 7 % 23)
           let b = copy a
           let c = map (+ n) a[0:n]
           let d = a with [0:n] = c
           in (scatter (copy d) (map (\\i -> (i + 2) % (n + 1)) (iota n)) d, b)",
        &[2.0, 5.0, 1000.0],
    );
}

/// Elements of ranges and of arrays with the same row again and again are known without reading them; the program reads them all
/// the same. What is copied of them has to be a copy.
#[test]
fn arrays_with_known_rows_stay_as_they_are() {
    let numbers = [1.0, 2.0, 1.0, 7.0];
    agree(
        "def main (x: f64): (i64, i64, [3]i64) =
           let k = i64.f64 x
           let n = 300 + k
           let a = map (* k) (iota n)
           let v = replicate n (i64.sum a)
           let part = map (+ k) (reverse a[k:k+3]) :> [3]i64
           let w = copy v with [k:k+3] = part
           in (w[0], v[k+1], w[k:k+3] :> [3]i64)",
        &numbers,
    );
    agree(
        "def main (x: f64): (i64, i64, i64) =
           let k = i64.f64 x
           let n = 300 + k
           let a = map (\\i -> i * i % 17) (iota n)
           let is = iota n
           let first = map (\\i -> let f = filter (\\e -> e > i % 5) a in f[0] + i) is
           let part = map (+ k) (reverse a[k:k+3])
           let w = copy is with [k:k+3] = part
           let second = map (\\i -> let f = filter (\\e -> e > i % 7) a in f[0] + i) is
           in (i64.sum first, i64.sum w, i64.sum second)",
        &numbers,
    );
    agree(
        "def main (x: f64): (i64, i64, i64) =
           let k = i64.f64 x
           let n = 300 + k
           let a = map (\\i -> i * i % 17) (iota n)
           let v = replicate n (k + 1)
           let part = map (+ k) (reverse a[k:k+3])
           let last = v[k+1]
           let w = v with [k:k+3] = part
           in (last, i64.sum w, w[k])",
        &numbers,
    );
}

/// Where one side of a condition says that nothing changes, what the other side would be does not matter; nobody knows it, as it
/// comes from a loop that may take any number of rounds.
#[test]
fn one_side_of_a_condition_is_enough() {
    agree(
        "#[noinline] def rounds (k: i64) (a: [][]f64) =
           let n = length a
           let m = length a[0]
           let b = map (map (+ 1)) a :> [n][m]f64
           in loop (v: *[n][m]f64) = copy b for s < k do
                tabulate_2d n m (\\i j ->
                  if (loop a = i while false do a) > s && j > s
                  then v[i, j] - v[i, s % m] * v[s % n, j]
                  else v[i, j])
         entry main (x: f64) =
           let k = i64.f64 x
           in rounds 3 (tabulate_2d k (k % 6) (\\i j -> x + f64.i64 (i * k + j)))",
        &[3.0, 8.0, 8.0, 7.0],
    );
}

/// What does not fit into the part that it would be copied to has no place there: the program ends.
#[test]
fn what_does_not_fit_has_no_place() {
    agree(
        "entry main (x: f64): []i64 =
           let n = i64.f64 x
           in loop v: *[9]i64 = iota 9 for s < n % 5 do
                let at = s % 9
                let to = at + 1
                in v with [at:to] = (map (+ at) v[to:to] :> [to - at]i64)",
        &[1.0, 3.0, 5.0, 7.0],
    );
}

/// An update copies an array of which a view is used afterwards: what `map (+ 0)` gives is no array of its own. Both are built in one block, each in a place of its own, so what
/// is updated must not be written over.
#[test]
fn what_an_update_copies_stays_as_it_was() {
    agree(
        "entry main (x: f64): []i64 =
           let k = i64.f64 x
           let n = 40 + k
           let a = map (\\i -> i * 5 - 60) (iota n)
           let b = a with [k] = 7
           let turned = map (+ 0) (reverse b[k % 1:n]) :> [n]i64
           in concat turned (b with [k % 1:n] = turned)",
        &[1.0, 2.0, 1.0],
    );
    agree(
        "entry main (x: f64): []i64 =
           let k = i64.f64 x
           let n = 40 + k
           let a = map (\\i -> i * 5 - 60) (iota n)
           let turned = map (+ 0) (reverse a)
           in concat turned (a with [0:k] = map (+ 1) (iota k))",
        &[1.0, 2.0, 1.0],
    );
}
