//! What the verifier refuses, and how it says so.

use galopvm_bytecode::{text, verify};

/// Wraps a body (blocks of one function from i64 and an array to i64) and gives the verifier's message.
fn refusal(blocks: &str) -> String {
    let module = format!("module fn @0 \"f\" (r0 : i64, r1 : []i64) -> (i64)\n{blocks}");
    let module = text::parse(&module).unwrap_or_else(|e| panic!("{e}\n{module}"));
    verify(module).expect_err("refused").to_string()
}

#[test]
fn each_rule_has_its_message() {
    let cases = [
        ("b0 ():\n => (r1)", "the function's results: r1 has type []i64, expected i64"),
        ("b0 ():\n r2 : i64 = op2 add i64 r0! r0\n => (r2)", "register r0 is used after its last use"),
        (
            "b0 ():\n r2 : i64 = op2 add i64 r0 r3\n r3 : i64 = const 1i64\n => (r2)",
            "r3 is used before its definition",
        ),
        ("b0 ():\n r2 : f32 = op2 add i64 r0 r0\n => (r0)", "the result: r2 has type f32, expected i64"),
        ("b0 ():\n r2 : i64 = op1 sqrt i64 r0\n => (r0)", "sqrt does not exist on i64"),
        ("b0 ():\n r2 : i64 = op2 neg i64 r0 r0\n => (r0)", "neg takes 1 operands"),
        ("b0 ():\n r2 : i64 = dim r1 1\n => (r2)", "dimension 1 of an array of rank 1"),
        ("b0 ():\n r2 : []i64 = permute r1 (1)\n => (r0)", "[1] is not a permutation of 1 dimensions"),
        ("b0 ():\n => (r0)\nb1 ():\n => ()", "no instruction names block b1"),
        ("b0 ():\n r2 : i64 = call @5 ()\n => (r2)", "there is no function @5"),
        (
            "b0 ():\n r2 : i64 = for r0 (r0) b1\n => (r2)\nb1 (r3 : i64, r4 : i64):\n => (r0!)",
            "comes from outside a repeated block",
        ),
        (
            "b0 ():\n r2 : i64 = for r0 (r0) b1\n => (r3)\nb1 (r3 : i64, r4 : i64):\n => (r4)",
            "register r3 is used outside its scope",
        ),
        (
            "b0 ():\n r2 : []i64 = map r0 (r1) b1\n => (r0)\nb1 (r3 : f32):\n => (r0)",
            "block parameters: r3 has type f32",
        ),
        (
            "b0 ():\n r2 : []i64 = redomap r0 (r1) (r1) b1 b2\n => (r0)\nb1 (r3 : i64):\n => (r1)\n\
             b2 (r4 : []i64, r5 : []i64):\n => (r4)",
            "redomap combines scalars: r1 has type []i64",
        ),
        (
            "b0 ():\n r2 : i64 = redomap r0 (r0) (r1) b1 b2\n => (r2)\nb1 (r3 : i64):\n => ()\n\
             b2 (r4 : i64, r5 : i64):\n => (r4)",
            "block results: 0 values, expected 1",
        ),
        (
            "b0 ():\n r2 : i64 = redomap r0 (r0) (r1) b1 b2\n => (r2)\nb1 (r3 : i64):\n => (r3)\n\
             b2 (r4 : i64):\n => (r4)",
            "block parameters: 1 values, expected 2",
        ),
        ("b0 ():\n r2 : i64 = for r0 (r0) b0\n => (r2)", "block b0 is named twice"),
        ("b0 ():\n assert r0 \"x\" ()\n => (r0)", "the condition: r0 has type i64, expected bool"),
        ("b0 ():\n r2 : f32 = fail \"{}\" ()\n => (r0)", "the message shows 1 values, 0 are given"),
        ("b0 ():\n trace \"t\" \"1\" 0 (r0)\n => (r0)", "the form 1 does not fit the values"),
        ("b0 ():\n trace \"t\" \"[0 0]\" 0 (r0)\n => (r0)", "the form [0 0] does not fit the values"),
        ("b0 ():\n trace \"t\" \"<0 #a>\" 0 (r0)\n => (r0)", "the form <0 #a> does not fit the values"),
        ("b0 ():\n trace \"t\" \"0\" 4 (r0)\n => (r0)", "`purpose` is 4"),
        (
            "b0 ():\n trace \"t\" \"0\" 3 (r0, r1)\n => (r0)",
            "an array is no operand of an operation that makes NaN",
        ),
        ("b0 ():\n r2 : i64, r3 : i64 = param \"p\"\n => (r0)", "the result: r2 has type i64, expected bool"),
        ("b0 ():\n r2 : []i64 = manifest r0\n => (r0)", "r0 is not an array"),
        ("b0 ():\n r2 : []i64 = rotate r1 1 r0\n => (r0)", "dimension 1 of an array of rank 1"),
        (
            "b0 ():\n r2 : [][]i64 = replicate r0 r1\n r3 : bool = equal r1 r2\n => (r0)",
            "the second array: r2 has type [][]i64, expected []i64",
        ),
        ("b0 ():\n r2 : bool = equal r1 r0\n => (r0)", "r0 is not an array"),
        ("b0 ():\n r2 : bool = equal r0 r0\n => (r0)", "r0 is not an array"),
        ("b0 ():\n r2 : [][]i64 = flat_index r1 r0 (r0, r0) (r0)\n => (r0)", "2 sizes and 1 strides"),
        ("b0 ():\n r2 : []i64 = flat_index r1 r0 () ()\n => (r0)", "at least one dimension"),
        ("b0 ():\n r2 : []i64 = flat_index r1 r0 (r0, r0) (r0, r0)\n => (r0)", "expected [][]i64"),
        ("b0 ():\n r2 : []i64 = flat_update r1 r0 (r0, r0) r1\n => (r0)", "the new value: r1 has type []i64"),
        ("b0 ():\n r2 : []i64 = scatter r0 (r1) () (r1)\n => (r0)", "at least one array and one index"),
        ("b0 ():\n r2 : []i64 = scatter r0 (r1) (r1, r1) (r1)\n => (r0)", "2 indices are too many"),
        ("b0 ():\n r2 : []i64 = scatter r0 (r1) (r0) (r1)\n => (r0)", "an array of indices: r0 has type i64"),
        (
            "b0 ():\n r2 : []i64 = scatter r0 (r1) (r1) ()\n => (r0)",
            "the arrays of values: 0 values, expected 1",
        ),
        (
            "b0 ():\n r2 : []i64 = hist r0 (r1) (r1) (r1) (r1) b1\n => (r0)\nb1 (r3 : i64, r4 : i64):\n => (r3)",
            "the neutral elements: r1 has type []i64, expected i64",
        ),
        (
            "b0 ():\n r2 : []i64 = hist r0 (r1) (r0) (r1) (r1) b1\n => (r0)\nb1 (r3 : i64):\n => (r3)",
            "block parameters: 1 values, expected 2",
        ),
        (
            "b0 ():\n r2 : i64, r4 : []i64 = filter r0 (r1) b1\n => (r0)\nb1 (r3 : i64):\n => (r3)",
            "block results: r3 has type i64, expected bool",
        ),
        (
            "b0 ():\n r2 : i64, r4 : i64, r5 : []i64 = filter r0 (r1) b1\n => (r0)\nb1 (r3 : i64):\n r6 : bool = op2 eq i64 r3 r3\n => (r6)",
            "1 number, 1 arrays, 3 results",
        ),
        (
            "b0 ():\n r2 : i64 = reduce r0 (r0) (r1) b1\n => (r0)\nb1 (r3 : i64, r4 : i64):\n => (r3, r4)",
            "block results: 2 values, expected 1",
        ),
        (
            "b0 ():\n r5 : i32 = const 1i32\n r6 : []i32 = replicate r0 r5\n r2 : i64 = reduce r0 (r0) (r6) b1\n => (r0)\nb1 (r3 : i64, r4 : i32):\n => (r3)",
            "neutral elements and rows of the arrays differ in type",
        ),
        (
            "b0 ():\n reduce r0 () (r1, r1) b1\n => (r0)\nb1 (r2 : i64, r3 : i64):\n => (r2)",
            "neutral elements and rows of the arrays differ in type",
        ),
        (
            "b0 ():\n r2 : i64 = reduce r0 (r0) (r1, r1, r1) b1\n => (r0)\n\
             b1 (r3 : i64, r4 : i64, r5 : i64, r6 : i64):\n => (r3, r4)",
            "neutral elements and rows of the arrays differ in type",
        ),
        (
            "b0 ():\n scan r0 (r0) (r1) b1\n => (r0)\nb1 (r2 : i64, r3 : i64):\n => (r2)",
            "a scan that keeps no prefixes",
        ),
        (
            "b0 ():\n r2 : []i64, r5 : []i64 = scan r0 (r0) (r1) b1\n => (r0)\nb1 (r3 : i64, r4 : i64):\n => (r3)",
            "the results: 2 values, expected 1",
        ),
        (
            "b0 ():\n r5 : bool = const true\n r6 : []bool = replicate r0 r5\n r2 : []bool = scan r0 (r0, r5) (r1, r6) b1\n => (r0)\n\
             b1 (r3 : i64, r4 : bool, r7 : i64, r8 : bool):\n => (r3, r4)",
            "r2 has type []bool, expected []i64",
        ),
        (
            "b0 ():\n r2 : []i64 = partition 0 r0 (r1) b1\n => (r0)\nb1 (r3 : i64):\n => (r3)",
            "0 classes, 1 arrays, 1 results",
        ),
        (
            "b0 ():\n r2 : []i64 = partition 4294967295 r0 (r1) b1\n => (r0)\nb1 (r3 : i64):\n => (r3)",
            "4294967295 classes, 1 arrays, 1 results",
        ),
        (
            "b0 ():\n r2 : i64 = stream r0 (r0) (r1) b1\n => (r0)\nb1 (r3 : i64, r4 : i64):\n => (r3)",
            "r0 is not an array",
        ),
        (
            "b0 ():\n r2 : []i64 = acc_write (r1) (r0) (r0) b1\n => (r0)\nb1 (r3 : i64, r4 : i64):\n => (r3, r4)",
            "block results: 2 values, expected 1",
        ),
    ];
    for (blocks, message) in cases {
        let found = refusal(blocks);
        assert!(found.contains(message), "expected {message:?} in {found:?} for\n{blocks}");
    }
}

#[test]
fn either_branch_may_use_a_value_up() {
    let text = "module fn @0 \"f\" (r0 : bool, r1 : []i64) -> ([]i64)
        b0 ():
          r2 : []i64 = if r0! b1 b2
          => (r2!)
        b1 ():
          => (r1!)
        b2 ():
          r3 : []i64 = reverse r1! 0
          => (r3!)";
    verify(text::parse(text).expect("assembles")).expect("verifies");
}

#[test]
fn deep_nesting_is_refused_not_followed() {
    let depth = 5000;
    let mut text = String::from("module fn @0 \"f\" (r0 : bool) -> ()\n");
    for k in 0..depth {
        text += &format!(
            "b{} ():\n if r0 b{} b{}\n => ()\nb{} ():\n => ()\n",
            2 * k,
            2 * k + 2,
            2 * k + 1,
            2 * k + 1
        );
    }
    text += &format!("b{} ():\n => ()\n", 2 * depth);
    let module = text::parse(&text).expect("assembles");
    assert!(verify(module).expect_err("too deep").to_string().contains("nest deeper"));
}
