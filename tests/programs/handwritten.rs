//! Bytecode that the front end does not write, and the verifier lets through: every engine says of it what the interpreter says.

use crate::support::{array, candidates, interpreter};
use galopvm::{Engine, Program};
use galopvm_base::{ElemType, Scalar};
use galopvm_bytecode::text::parse;
use galopvm_testkit::Layout;

/// A matrix goes in, one value for each of its rows comes out: that of `row`, which has the row in `r3` and leaves a
/// number in `r6`.
fn over_rows(row: &str, blocks: &str) -> Program {
    let text = format!(
        "module
         entry \"main\" @0 (\"as\" : \"[n][m]i64\") -> (\"[n]i64\")
         fn @0 \"main\" (r0 : [][]i64) -> ([]i64)
         b0 ():
           r1 : i64 = dim r0 0
           r2 : []i64 = map r1! (r0!) b1
           => (r2!)
         b1 (r3 : []i64):
           {row}
           => (r6!)
         {blocks}"
    );
    let module = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    Program::from_module("handwritten", module).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// What comes out for a matrix of so many rows and columns, or the first line of the error.
fn outcome(engine: &Engine, program: &Program, shape: [i64; 2]) -> String {
    let mut session = engine.session(program);
    let bits: Vec<u64> = (0..shape[0] * shape[1]).map(|k| Scalar::i64(k % 7).bits).collect();
    let rows = array(session.memory(), ElemType::I64, &shape, &bits, Layout::Contiguous);
    match session.call_values("main", vec![rows]) {
        Ok(values) => values[0].to_string(),
        Err(error) => error.to_string().lines().next().unwrap_or_default().to_string(),
    }
}

#[test]
fn operators_have_no_negative_number_of_iterations() {
    let sum = "b2 (r7 : i64, r8 : i64):
                 r9 : i64 = op2 add i64 r7! r8!
                 => (r9!)";
    let folded = "b2 (r7 : i64):
                    r8 : i64 = op2 mul i64 r7 r7
                    => (r8!)
                  b3 (r9 : i64, r10 : i64):
                    r11 : i64 = op2 add i64 r9! r10!
                    => (r11!)";
    let squares = "b2 (r7 : i64):
                     r8 : i64 = op2 mul i64 r7 r7
                     => (r8!)";
    let engines = candidates();
    for width in [i64::MIN, -3, 0, 3] {
        let numbers = format!("r4 : i64 = const {width}i64\nr5 : i64 = const 0i64");
        let bodies = [
            (format!("{numbers}\nr6 : i64 = reduce r4! (r5!) (r3!) b2"), sum),
            (format!("{numbers}\nr6 : i64 = redomap r4! (r5!) (r3!) b2 b3"), folded),
            (
                format!("r4 : i64 = const {width}i64\nr5 : []i64 = map r4! (r3!) b2\nr6 : i64 = dim r5! 0"),
                squares,
            ),
        ];
        for (row, blocks) in bodies {
            let program = over_rows(&row, blocks);
            for shape in [[4, 0], [4, 3], [300, 0], [300, 3], [0, 3]] {
                let expected = outcome(&interpreter(), &program, shape);
                for candidate in &engines {
                    let found = outcome(&candidate.engine, &program, shape);
                    assert_eq!(found, expected, "{}: {row} of {shape:?}", candidate.name);
                }
            }
        }
    }
}

/// What a function gives is asked of its code where no row is there to call it for. Of one that calls itself nothing comes out, and that
/// ends on the stack of a thread that has little.
#[test]
fn shapes_of_functions_that_call_themselves_end() {
    let text = "module
         entry \"main\" @1 (\"a\" : \"[n][m]i64\") -> (\"[n][m]i64\")
         fn @0 \"f\" (r0 : []i64) -> ([]i64)
         b0 ():
           r1 : []i64 = call @0 (r0!)
           => (r1!)
         fn @1 \"main\" (r0 : [][]i64) -> ([][]i64)
         b0 ():
           r1 : i64 = dim r0 0
           r2 : [][]i64 = map r1! (r0!) b1
           => (r2!)
         b1 (r3 : []i64):
           r4 : []i64 = call @0 (r3!)
           => (r4!)";
    let module = parse(text).unwrap_or_else(|e| panic!("{e}"));
    let program = Program::from_module("handwritten", module).unwrap_or_else(|e| panic!("{e}"));
    // What must be left of a stack, and little more.
    for bytes in [(1 << 20) + (1 << 17), (1 << 20) + (1 << 18), 1 << 21] {
        let thread = std::thread::Builder::new().stack_size(bytes);
        let found = std::thread::scope(|scope| {
            let called = thread.spawn_scoped(scope, || outcome(&interpreter(), &program, [0, 3]));
            called.expect("a thread").join().expect("no panic")
        });
        assert_eq!(found, "empty([0][0]i64)");
    }
}
