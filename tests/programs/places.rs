//! Results made in their place: programs in which a careless choice of places would show.

use galopvm::{Program, Scalar, Switches, Value};
use galopvm_runtime::{Options, Session};

/// What the program gives for each list of numbers, in one session, with as much asked of the analyses as can be.
fn outcomes(text: &str, numbers: &[f64], switches: Switches) -> Vec<String> {
    let program = Program::from_source("places.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let options = Options { switches, eager: true, ..Options::default() };
    let mut session = Session::new(program.module().clone(), options);
    let call = |number: &f64| {
        let values = session.call("main", vec![Value::from(Scalar::f64(*number))]).expect("the program runs");
        values.iter().map(|value| format!("{value}\n")).collect()
    };
    numbers.iter().map(call).collect()
}

fn agree(text: &str, numbers: &[f64]) {
    let plain = outcomes(text, numbers, Switches::OFF);
    let both = Switches { reuse: true, shortcircuit: true, ..Switches::OFF };
    let ways = [
        Switches { reuse: true, ..Switches::OFF },
        Switches { shortcircuit: true, ..Switches::OFF },
        both,
        Switches { columns: true, ..both },
        Switches { machine: true, ..both },
        Switches { lanes: true, ..both },
        Switches::ON,
    ];
    for switches in ways {
        assert_eq!(outcomes(text, numbers, switches), plain, "{switches:?}\n{text}");
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
