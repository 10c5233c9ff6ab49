//! Operators in the rows of one that the best back end refuses: launched row by row where a row has much to do, else left to code that goes
//! over many rows at a time.

use crate::support::WithoutScans;
use galopvm::{Program, Value};
use galopvm_base::Scalar;
use galopvm_runtime::{Options, Session, Tiering};
use galopvm_vector::Vector;
use std::sync::Arc;

/// Rows with a scan, which makes the operator around it one that is refused.
const ROWS: &str = "entry main (n: i64) (m: i64): i64 =
                      let row i = let xs = map (\\j -> (j * 7919 + i) % 1013) (iota m)
                                  in i64.sum (map2 (*) xs (scan i64.max 0 xs))
                      in i64.sum (map row (iota n))";

/// Rows of loops whose rounds have little to do, however many there are.
const LOOPS: &str = "entry main (n: i64) (m: i64): i64 =
                       let row i = let xs = map (\\j -> (j * 7919 + i) % 1013) (iota m)
                                   let ys = loop xs for _k < 200 do map2 (-) xs (map (/ 2) (rotate 1 xs))
                                   in i64.sum (scan i64.max 0 ys)
                       in i64.sum (map row (iota n))";

/// What it gives, and the launches of operators in rows.
fn run(mut session: Session, n: i64, m: i64) -> (String, u64) {
    let arguments = [n, m].map(|number| Value::Scalar(Scalar::i64(number)));
    let values = session.call("main", arguments.to_vec()).expect("it runs");
    let launches = session.sites().into_iter().filter(|site| site.profile.executions >= n as u64);
    (format!("{}", values[0]), launches.map(|site| site.profile.launches).sum())
}

#[test]
fn few_operations_of_a_row_are_no_launches() {
    let program = |text| Program::from_source("rows.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let compiled = |program: &Program, always: bool| {
        let backends: Vec<Arc<dyn galopvm_kir::Backend>> = vec![Arc::new(WithoutScans)];
        let quick: Option<Arc<dyn galopvm_kir::Backend>> = Some(Arc::new(Vector::default()));
        let quick = quick.filter(|_| !always);
        let tiering =
            Tiering { backends, quick, threshold: 1000, always, background: false, ..Tiering::default() };
        Session::new(program.module().clone(), Options { tiering, ..Options::default() })
    };
    for (text, n, m, always, launched) in [
        (ROWS, 64, 50, false, false),
        (ROWS, 40, 6000, false, true),
        (ROWS, 64, 50, true, true),
        // Few rows come one by one, and their operators are soon worth code that is made at once.
        (ROWS, 3, 50, false, true),
        (LOOPS, 64, 400, false, false),
    ] {
        let program = program(text);
        let (expected, none) = run(Session::new(program.module().clone(), Options::default()), n, m);
        let (found, launches) = run(compiled(&program, always), n, m);
        assert_eq!((found, none), (expected, 0), "{n} {m} {always}");
        assert_eq!(launches > 0, launched, "{n} rows of {m}: {launches} launches");
    }
}
