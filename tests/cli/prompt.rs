//! The prompt, and what programs show and are told beside their values.

use super::STATS;
use super::process::{Folder, in_order};

#[test]
fn the_prompt_keeps_definitions_and_survives_errors() {
    let folder = Folder::new("repl");
    folder.write("stats.fut", STATS);
    let ran = folder.run(
        "repl",
        "\
def double (x: i32): i32 =
  x * 2

double 21
let y = 10
map double [1, 2,
            y]
:type double
:t map double
(1, true)
zip [1, 2] [true, false]
()
y +
1 / 0
nothing
def double (x: i32): i32 = x * 3
double y
def broken (x: i32): bool = x
:load stats.fut
scale 2 [1, 2]
double 1
:load
:defs
:load missing.fut
main [4]
:time iota 3
:frobnicate
:help
:quit
never
",
    );
    ran.succeeds().shows(&[
        "42i32\n",
        "[2i32, 4i32, 20i32]\n",
        "double : ",
        "map double : ",
        "(1i32, true)\n",
        "[(1i32, true), (2i32, false)]\n",
        "()\n",
        "30i32\n",
        "[2f64, 4f64]\n",
        "main : ",
        "scale : ",
        "4f64\n",
        "[0i64, 1i64, 2i64]\n",
        "compiled in",
        ":type EXPRESSION",
    ]);
    in_order(
        "repl",
        &ran.err,
        &[
            "division by zero",
            "nothing",
            "^",
            "broken",
            "double",
            "missing.fut: no such file",
            "there is no command `:frobnicate`",
        ],
    );
    assert!(!ran.text().contains("never") && !ran.err.contains("never"), "{}{}", ran.text(), ran.err);
    // What else can be asked and done.
    let input = "\
def a = 1
def a = 2
:undo
a
:save kept.fut
:save kept.fut
:undo
:undo
?length
:bench a + 1
def a = 5
:bench a + 1
:stats reduce (+) 0 (iota 1000000)
:type
:cd nowhere
:reload
help
:load kept.fut
a
exit
7
";
    let ran = folder.run("repl", input);
    ran.succeeds().shows(&[
        "1i32\n",
        "length : ",
        "6i32\n",
        "evaluations: ",
        "499999500000i64\n",
        ":bench EXPRESSION",
        "1i32\n",
    ]);
    let said = [
        "kept.fut: file exists",
        "there is nothing to take back",
        "Unknown name \"a\"",
        "run: ",
        "reduce",
        ":type wants an expression",
        "nowhere: no such file",
        "no file has been loaded yet",
    ];
    in_order("repl", &ran.err, &said);
    assert!(!ran.text().contains("7i32"), "{}", ran.text());
    // The end of the input ends the session, in the middle of an expression, too.
    folder.run("repl stats.fut", "main [1, 3]\n[1, 2").succeeds().shows(&["2f64\n"]);
    folder.run("repl", "").prints("");
    folder.run("repl missing.fut", "1").succeeds().shows(&["1i32"]);
}

#[test]
fn the_prompt_shows_values_as_they_are_written() {
    let folder = Folder::new("shown");
    let input = "\
type shape = #circle f32 | #box {w: f32, h: i32} | #none
[#circle 1, #none, #box {w = -2, h = 3}] : []shape
#some (#circle (-1)) [#none] : #some shape ([]shape) | #not
[[(1, [true]), (2, [false])]]
{unit = (), units = [(), ()], none = [] : [0](i32, bool)}
map (\\x -> break (x + 1)) [1]
:unbreak
def f (x: (i32, bool)) = trace x
f (1, true)
";
    let ran = folder.run("repl", input);
    ran.succeeds().shows(&[
        "[#circle 1f32, #none, #box {h = 3i32, w = -2f32}]\n",
        "#some (#circle (-1f32)) [#none]\n",
        "[[(1i32, [true]), (2i32, [false])]]\n",
        "{none = [], unit = (), units = [(), ()]}\n",
        "[2i32]\n",
        "(1i32, true)\n",
    ]);
    in_order("repl", &ran.err, &["Breakpoint at [5]:1:12-25: 2\n", "trace: (1, true)\n"]);
}

#[test]
fn programs_show_what_they_trace() {
    let folder = Folder::new("trace");
    let program = "\
type t = #a i32 | #b (f64, bool)
def main (xs: []i32) (y: f64) =
  let zs = #[trace] map (\\x -> #[trace(element)] (x * 2)) xs
  let (_, w) = trace (zs[0], {y, x = [#a 1, #b (y, true)] : []t})
  let _ = #[trace(function)] (\\x -> x + zs[0])
  let _ = #[trace(early)] (if y > 1 then trace y else y)
  in (zs, #[break] w.y)
";
    folder.write("shows.fut", program);
    for backend in ["interp", "auto", "x86", "reference"] {
        let ran = folder.run(&format!("run shows.fut --backend {backend}"), "[1, 2] 0.5");
        ran.succeeds().shows(&["[2i32, 4i32]\n0.5f64\n"]);
        let shown = "\
element: 2
element: 4
shows.fut:3:12-61: [2, 4]
trace: (2, {x = [#a 1, #b (0.5, true)], y = 0.5})
early: 0.5
";
        assert_eq!(ran.err, shown, "{backend}");
    }
    // Bytecode shows the same, without places what it can.
    folder.run("compile shows.fut -o shows.gbc", "").succeeds();
    assert!(folder.run("run shows.gbc", "[1] 1").succeeds().err.contains("shows.fut:3:12-61: [2]"));
    folder.run("run shows.gbc -w", "[1] f64.nan").succeeds().shows(&["nan"]);
}

#[test]
fn tuning_parameters_are_given_by_name() {
    let folder = Folder::new("params");
    let program = "\
def scale (x: i64) = x * #[param(factor)] 2
def main (xs: []i64) = (map scale xs, #[param(offset)] xs[0], #[param(other)] 1i32)
";
    folder.write("tuned.fut", program);
    folder.run("run tuned.fut --print-params", "").prints("factor (user)\noffset (user)\n");
    folder.run("run tuned.fut", "[3, 4]").prints("[6i64, 8i64]\n3i64\n1i32\n");
    let given = "--param factor=-10 --param offset=7";
    folder.run(&format!("run tuned.fut {given}"), "[3, 4]").prints("[-30i64, -40i64]\n7i64\n1i32\n");
    // The file beside the program, another one, none; the command line comes last.
    folder.write("tuned.fut.tuning", "factor=3\n\nmain.threshold=9\n").write("other.tuning", "factor = 4");
    folder.run("run tuned.fut", "[1]").prints("[3i64]\n1i64\n1i32\n");
    folder.run("run tuned.fut --tuning other.tuning", "[1]").prints("[4i64]\n1i64\n1i32\n");
    folder.run("run tuned.fut --no-tuning", "[1]").prints("[2i64]\n1i64\n1i32\n");
    folder.run("run tuned.fut --param factor=5", "[1]").prints("[5i64]\n1i64\n1i32\n");
    folder.run("run tuned.fut --param fctor=5", "[1]").fails(2, &["`fctor`: there are factor, offset"]);
    folder.run("compile tuned.fut -o tuned.gbc", "").succeeds();
    folder.run("run tuned.gbc --param factor=6 --backend reference", "[1]").prints("[6i64]\n1i64\n1i32\n");
}

#[test]
fn long_values_are_shortened_at_the_prompt() {
    let folder = Folder::new("long");
    let ran = folder.run("repl", "iota 1000000\n");
    ran.succeeds().shows(&["[0, 1, 2, .., 999997, 999998, 999999] : [1000000]i64\n"]);
    assert!(ran.out.len() < 10_000);
}

#[test]
fn the_prompt_tells_what_the_engine_makes_of_an_expression() {
    let folder = Folder::new("inspect");
    folder.write("twice.fut", "-- Twice.\ndef twice [n] (xs: [n]f64) = map (* 2) xs\n");
    let input = "\
def halves [n] (xs: [n]f64) =
  map (/ 2) xs

:explain f64.sum (halves (map f64.i64 (iota 100000)))
:explain 1 / 0
:explain halves
:load twice.fut
:explain twice (replicate 10 1)
:asm f64.sum (twice (map f64.i64 (iota 1000)))
:asm 1 + 2
:asm (iota 3)[3]
twice [1, 2]
";
    let ran = folder.run("repl", input);
    ran.succeeds().shows(&[
        "[1], entry point it, which takes no arguments\n",
        "==== [1]:1:1 redomap\n   1 | f64.sum (halves",
        "executed once",
        "[2], entry point it",
        "twice.fut:2:",
        "   2 | def twice [n] (xs: [n]f64) = map (* 2) xs\n",
        "==== ",
        "nothing in it is a parallel operator\n",
        "[2f64, 4f64]\n",
    ]);
    if cfg!(all(unix, target_arch = "x86_64")) {
        ran.shows(&["push rbp\n", "ret\n"]);
    }
    in_order(
        "repl",
        &ran.err,
        &["division by zero", "`halves` is a function", "give it its arguments", "Index [3]"],
    );
}

#[test]
fn failures_name_the_definition() {
    let folder = Folder::new("pieces");
    let input = "def first (x: i64) = x + 1\ndef second (x: i64) =\n  10 / x\n\nfirst (second 0)\n";
    let ran = folder.run("repl", input);
    in_order("repl", &ran.err, &["division by zero", "[1]:2:3-9", "[2]:1:8-16"]);
}

/// What only a terminal has: `terminal.py` says what it types and waits for.
#[cfg(unix)]
#[test]
fn the_prompt_works_in_a_terminal() {
    let folder = Folder::new("terminal");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cli/terminal.py");
    let mut python = std::process::Command::new("python3");
    python.arg(script).arg(env!("CARGO_BIN_EXE_galopvm")).arg(&folder.0);
    let ran = python.output().expect("the tests need Python");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    println!("{said}");
}
