//! `galopvm test` and `bench`: programs with test blocks of every form.

use super::process::Folder;

const RIGHT: &str = "\
-- Everything that a block may have.
-- ==
-- tags { small }
-- entry: sum twice
-- \"three numbers\" input { [1, 2, 3] } output { 6 }
-- nobench input { empty([0]i32) } output { 0 }
-- input @ data/numbers.gz output @ data/numbers.out
-- random input { [100]i32 } auto output
-- script input { count 4 } output { 6 }
-- script input { let (a, b) = both 2 in concat a b } output { 3 }
-- script input { $loaddata \"data/numbers\" } output { 10 }
-- structure { Screma 1 }

-- ==
-- entry: at
-- input { [1, 2] 1i64 } output { 2 }
-- input { [1, 2] 2i64 } error: Index.*out of bounds
-- notest input { [1, 2] 7i64 } output { 2 }
-- input { [1, 2] 0i64 }

-- ==
-- entry: area
-- input { [1.0, 2.0] } output { 2.0005 }

-- ==
-- property: reversed sorted small

entry sum (xs: []i32) = i32.sum xs
entry twice (xs: []i32) = i32.sum xs
entry count (n: i64) = map i32.i64 (iota n)
entry both (n: i32) = ([n, 1], [n - 2, 0])
entry concat (xs: []i32) (ys: []i32) = xs ++ ys
entry at (xs: []i32) (i: i64) = xs[i]
entry area (sides: [2]f64) = sides[0] * sides[1]
#[prop]
entry reversed (xs: []i32) = all (\\(a, b) -> a == b) (zip xs (reverse (reverse xs)))
#[prop(size(20))]
entry sorted (s: {key: u8, rows: [](bool, #a i32 | #b)}) = s.key >= 0
entry grown (size: i64) (seed: u64) = (size, seed)
#[prop(gen(grown))]
entry small (x: (i64, u64)) = x.0 <= 100
";

fn with_data(test: &str) -> Folder {
    let folder = Folder::new(test);
    std::fs::create_dir(folder.0.join("data")).expect("a folder");
    // `[1, 2, 3, 4]`, packed.
    let packed = [
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 12, 0, 0xf3, 0xff, b'[', b'1', b',', b' ', b'2', b',', b' ',
        b'3', b',', b' ', b'4', b']', 0x1c, 0x85, 0xc9, 0x5a, 12, 0, 0, 0,
    ];
    folder
        .write("data/numbers.gz", packed)
        .write("data/numbers", "[1, 2, 3, 4]")
        .write("data/numbers.out", "10");
    folder
}

#[test]
fn blocks_of_every_form_are_tested() {
    let folder = with_data("test-forms");
    folder.write("right.fut", RIGHT);
    folder.run("test right.fut", "").prints("1/1 passed.\n");
    folder.run("test . --backend interp --concurrency 2 --check", "").prints("1/1 passed.\n");
    folder.run("test right.fut --exclude small", "").prints("0/0 passed.\n1 program(s) excluded.\n");
    folder.run("test right.fut --json verdicts.json", "").succeeds();
    let json = String::from_utf8(folder.read("verdicts.json")).expect("text");
    let count = |text: &str| json.matches(text).count();
    assert_eq!(
        (count("\"run\", \"status\": \"pass\""), count("\"error\", \"status\": \"pass\"")),
        (17, 1),
        "{json}"
    );
    assert_eq!(
        (count("\"property\", \"status\": \"pass\""), count("\"status\": \"skip\"")),
        (3, 2),
        "{json}"
    );
}

#[test]
fn what_is_wrong_is_shown() {
    let folder = Folder::new("test-wrong");
    folder.write(
        "wrong.fut",
        "-- ==\n-- input { 5i64 } output { [0i64, 1i64, 2i64, 7i64, 4i64] }\n-- input { 2i64 } error: never\n\
         -- input { 1 } output { [0i64] }\n-- input { -1i64 } error: other words\n-- script input { {a = 1} }\n-- property: odd\n\
         def main n = iota n\n#[prop]\nentry odd (x: (i32, []bool)) = x.0 < 5 || length x.1 < 3\n",
    );
    folder.write("refused.fut", "-- ==\n-- error: cannot.*match\nentry main (x: i32) = x + true\n");
    folder.write("accepted.fut", "-- ==\n-- error: anything\nentry main (x: i32) = x\n");
    folder.write("warned.fut", "-- ==\n-- warning: deprecated\nentry main (x: i32) = x\n");
    folder.write("block.fut", "-- ==\n-- input { 1\nentry main (x: i32) = x\n");
    folder.write(
        "endless.fut",
        "-- ==\n-- input { 1 } error: .*\nentry main (x: i32) = loop x while true do x\n",
    );
    let ran = folder.run("test . --concurrency 1 --timeout 500ms", "");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    ran.shows(&[
        "accepted.fut:",
        "Expected failure, but the program is accepted.",
        "block.fut:",
        "line 2: this `{` is not closed",
    ]);
    ran.shows(&["endless.fut:", "Function failed with error:", "longer than its time of 500ms"]);
    ran.shows(&["refused.fut:", "Expected message:", "cannot.*match", "Got:", "warned.fut:", "deprecated"]);
    ran.shows(&[
        "wrong.fut:",
        "Entry point: main; dataset: #0 (\"5i64\"):",
        "Value #0 index [3]: expected 7, got 3",
        "expected [0i64, 1i64, 2i64, >7i64<, 4i64]",
        "dataset: #1 (\"2i64\"):",
        "Program succeeded, but expected failure:",
        "dataset: #2 (\"1i32\"):",
        "values of types (i32)",
        "dataset: #3",
        "Expected message:",
        "dataset: #4",
        "scripts have no records",
        "Property odd (size=",
        ", seed=",
        " tests:\nCounterexample: (",
    ]);
    ran.shows(&["0/6 passed."]);
}

#[test]
fn counterexamples_are_made_small_and_helpers_of_properties_have_their_types() {
    let folder = Folder::new("test-properties");
    folder.write(
        "small.fut",
        "-- ==\n-- property: below tired zero\n\
         entry make (size: i64) (seed: u64) = i32.u64 (seed % 5) + i32.i64 size\n\
         entry less (x: i32) (_: u64) = if x > 7 then x - 1 else x\n\
         entry tires (x: i32) (_: u64) = x / (x - x)\n\
         #[prop(gen(make), shrink(less))]\nentry below (x: i32) = x < 7\n\
         #[prop(gen(make), shrink(tires))]\nentry tired (x: i32) = x < 9\n\
         #[prop(gen(make))]\nentry zero (x: i32) = 1 / (x - x) > 0\n",
    );
    folder.run("test small.fut", "").fails(1, &[]).shows(&[
        "Property below (size=",
        "Counterexample: 7i32\n",
        "Shrinker tires failed, smaller sizes were tried instead:\nError: division by zero",
        "Counterexample: 9i32\n",
        "Property zero (size=0, seed=1) failed after 0 tests:\nCounterexample: ",
        "i32\nError: division by zero",
    ]);
    folder.write(
        "wrong.fut",
        "-- ==\n-- property: a b c d e f g\n\
         entry make (size: i32) (seed: u64) = true\ndef hidden (x: bool) (_: u64) = x\n\
         #[prop(gen(make))]\nentry a (x: bool) = x\n#[prop(shrink(hidden))]\nentry b (x: bool) = x\n\
         #[prop(sze(3))]\nentry c (x: bool) = x\nentry d (x: bool) = x\n#[prop]\nentry e (x: bool) = 1i32\n\
         #[prop(gen(nogen))]\nentry g (x: bool) = x\n",
    );
    folder.run("test wrong.fut", "").fails(1, &[]).shows(&[
        "Generator make of property a has the wrong type.\nExpected: i64 -> u64 -> bool\nActual:   i32 -> u64 -> bool\n",
        "Shrinker hidden of property b is not an entry point",
        "`#[prop]` of c has `gen`, `shrink` and `size`, but no `sze`.",
        "Property d has no attribute `#[prop]`.",
        "Property e gives i32: a property gives bool.",
        "Property f is not an entry point",
        "Generator nogen of property g: there is no such function.",
    ]);
}

#[test]
fn options_of_futharks_tools_are_taken() {
    let folder = Folder::new("test-foreign");
    folder.write("one.fut", "-- ==\n-- input { 1 } output { 2 }\ndef main (x: i32) = x + 1\n");
    let options = "--backend=opencl --futhark=futhark --runner=run -p -D --pass-option=-L --pass-compiler-option=-O \
                   --cache-extension=cache --concurrency=1 --concurrency=2 -v --verbose --no-terminal --no-tuning";
    let note = "note: without effect: --futhark, --runner, --pass-option, --pass-compiler-option, --cache-extension, --verbose";
    let ran = folder.run(&format!("test one.fut -s {options}"), "");
    ran.succeeds();
    assert_eq!(ran.err, format!("{note}, -s\n"));
    let ran = folder.run(&format!("bench one.fut {options} -r 1 -r 2 --no-convergence-phase"), "");
    ran.succeeds().shows(&["at least 2 runs"]);
    assert_eq!(ran.err, format!("{note}, --concurrency\n"));
    // Without them nothing is said, and help is silent about them.
    assert_eq!(folder.run("test one.fut --backend interp", "").err, "");
    let help = folder.run("bench --help", "").text();
    assert!(!help.contains("--runner") && !help.contains("opencl"), "{help}");
    folder.run("run one.fut --backend=opencl", "1").fails(2, &["opencl"]);
}

#[test]
fn mistakes_in_blocks_are_told() {
    let folder = Folder::new("test-mistakes");
    folder.write("plain.fut", "def main (x: i32) = x\n");
    let ran = folder.run("bench plain.fut", "");
    assert!(ran.err.contains("note: plain.fut: no test block has an input"), "{}", ran.err);
    folder.write("regex.fut", "-- ==\n-- input { 1 }\n-- error: [\ndef main (x: i32) = x\n");
    folder.run("test regex.fut", "").fails(1, &[]).shows(&["line 3: `[` is no regular expression: "]);
    folder.write(
        "types.fut",
        "-- ==\n-- entry: matrix\n-- input { } output { 1 }\n\n-- ==\n-- entry: two\n-- input { } output { 1 }\n\n\
         -- ==\n-- entry: long\n-- input { } output { 1i64 }\n\
         entry matrix = [[1i32, 2], [3, 4]]\nentry two = (1i32, 2i32)\nentry long = 1i32\n",
    );
    folder.run("test types.fut", "").fails(1, &[]).shows(&[
        "Value #0: expected a value of type i32, got [2][2]i32",
        "Expected 1 value, got 2",
        "Value #0: expected a value of type i64, got i32",
    ]);
}

#[test]
fn benchmarks_are_printed_and_written_as_futhark_does() {
    let folder = Folder::new("bench");
    folder.write(
        "sum.fut",
        "-- ==\n-- \"short\" input { [1, 2, 3] } output { 6 }\n-- random input { [1000]i32 }\n-- nobench input { [1] }\n\
         -- input { [1] } error: none\n-- input { [7] } output { 8 }\n\n-- ==\n-- entry: over\n-- input { [1, 2] }\n\
         entry main (xs: []i32) = i32.sum xs\nentry over [n] (xs: *[n]i32) = xs with [0] = 5\n",
    );
    let ran = folder.run("bench sum.fut --runs 3 --no-convergence-phase --json old.json", "");
    ran.fails(1, &[]).shows(&[
        "Compiling sum.fut...\n",
        "Reporting arithmetic mean runtime of at least 3 runs for each dataset (min 0.5s).\n",
        "\nsum.fut (no tuning file):\n",
        "short:       ",
        "μs (95% CI: [",
        "])\n[1000]i32:   ",
        "#4 (\"[7i32]\"):",
        "expected 8, got 7",
        "\nsum.fut:over (no tuning file):\n#0 (\"[1i32, 2i32]\"):",
        "μs (95% CI: [",
    ]);
    let json = String::from_utf8(folder.read("old.json")).expect("text");
    super::process::in_order(
        "bench",
        &json,
        &[
            "\"sum.fut\"",
            "\"datasets\"",
            "\"short\"",
            "\"runtimes\"",
            "\"bytes\"",
            "expected 8",
            "\"sum.fut:over\"",
            "\"#0 (\\\"[1i32, 2i32]\\\")\"",
        ],
    );
    let ran = folder.run("bench sum.fut -r 1 -e over --no-convergence-phase --compare old.json", "");
    ran.succeeds().shows(&["sum.fut:over", "x ", "er"]);
    folder.run("bench sum.fut --compare sum.fut", "").fails(2, &["sum.fut: this is no file of measurements"]);
}
