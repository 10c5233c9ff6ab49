//! An error names the element of each operator around its place, whoever executes them: units, blocks, columns, machine code
//! that gives up, rows that have a place.

use super::support::executions;
use galopvm::{Program, Scalar, Switches, Value};
use galopvm_runtime::Session;

/// Which elements an error is at, innermost first, for the number of the one that fails.
type Elements = fn(i64) -> Vec<i64>;

/// Programs, and where they fail.
const PROGRAMS: [(&str, Elements); 9] = [
    ("entry main (n: i64) (k: i64): []i64 = map (\\i -> i / (i - k)) (iota n)", |k| vec![k]),
    ("entry main (n: i64) (k: i64): i64 = reduce (+) 0 (map (\\i -> i / (i - k)) (iota n))", |k| vec![k]),
    ("entry main (n: i64) (k: i64): []i64 = scan (\\a b -> a + b / (b - k)) 0 (iota n)", |k| vec![k]),
    ("entry main (n: i64) (k: i64): []i64 = filter (\\i -> i / (i - k) > 1) (iota n)", |k| vec![k]),
    // Floats are summed in strands.
    (
        "entry main (n: i64) (k: i64): f64 =
           reduce (+) 0 (map (\\i -> f64.i64 (i / (i - k))) (iota n))",
        |k| vec![k],
    ),
    // Operators in operators; the inner ones of scalars, and of rows.
    (
        "entry main (n: i64) (k: i64): []i64 =
           map (\\i -> reduce (+) 0 (map (\\j -> i / (i + j - k - 4)) (iota 5))) (iota n)",
        |k| vec![4, k],
    ),
    (
        "entry main (n: i64) (k: i64): [][]i64 =
           map (\\i -> scan (+) 0 (map (\\j -> if i == k then j / (j - 3) else j) (iota 5))) (iota n)",
        |k| vec![3, k],
    ),
    // A histogram whose operator fails.
    (
        "entry main (n: i64) (k: i64): []i64 =
           reduce_by_index (replicate 3 0i64) (\\a b -> a + b / (b - k)) 0 (map (% 3) (iota n)) (iota n)",
        |k| vec![k],
    ),
    // Rows that are made where a concatenation has them.
    (
        "entry main (n: i64) (k: i64): []i64 =
           let a = map (\\i -> i * 3) (iota 40)
           in a ++ map (\\i -> i / (i - k)) (iota n)",
        |k| vec![k],
    ),
];

#[test]
fn errors_name_the_element_of_each_operator() {
    for (text, elements) in PROGRAMS {
        let program = Program::from_source("failures.fut", text).unwrap_or_else(|e| panic!("{e}"));
        for options in executions(&[Switches::ON, Switches::OFF]) {
            let way = format!("{:?}, eager {}", options.switches, options.eager);
            let mut session = Session::new(program.module().clone(), options);
            // Two lengths between which back ends, strands and pieces begin, each at its ends and within.
            for (n, k) in [(12, 1), (12, 11), (9000, 1), (9000, 5000), (9000, 8999), (12, 6)] {
                let arguments = [n, k].map(|number| Value::from(Scalar::i64(number)));
                let error = session.call("main", arguments.into()).expect_err(text);
                let numbers: Vec<i64> = error.rows.iter().map(|row| row.number).collect();
                assert_eq!(numbers, elements(k), "{n} {k} {way}\n{text}\n{error}");
                assert!(error.rows.iter().all(|row| row.operator.is_some()), "{error}");
            }
        }
    }
}
