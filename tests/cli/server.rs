//! `galopvm server`: scripted sessions, and sessions that no client would have.

use super::process::{Folder, command};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};

const PROGRAM: &str = "\
#[slow(very)]
entry grow [n] (xs: *[n]i32) (by: i32): [n]i32 = map (+ by * i32.i64 (#[param(factor)] 1)) xs
entry pair (x: i32): (i32, {a: bool, b: [2]i32}) = (x + 1, {a = x > 0, b = [x, x]})
entry third (xs: []i32): i32 = xs[3]
entry area (s: #circle f32 | #poly ([3]f32) | #rect {h: f32, w: f32}): f32 =
  match s case #circle r -> 3 * r * r case #rect r -> r.h * r.w case #poly p -> f32.sum p
entry sums [n] (xs: [n](i32, #a i32 | #b)): [n]i32 =
  map (\\(x, y) -> match y case #a z -> x + z case #b -> x) xs
entry rows (m: [][]i32): i64 = length m
entry nothing (_: i32): () = ()
entry forever (x: i32): i32 = loop x while x != 1 || true do x
module m : { type t val mk : i32 -> t val un : t -> i32 } =
  { type t = (i32, f32) def mk (x: i32) = (x, 1f32) def un (t: t) = t.0 }
entry hide (x: i32): m.t = m.mk x
entry show (x: m.t): i32 = m.un x
";

fn folder(test: &str) -> Folder {
    let folder = Folder::new(test);
    folder
        .write("p.fut", PROGRAM)
        .write("one", "1")
        .write("f", "2f32 [1f32, 2f32, 4f32]")
        .write("xs", "[1, 2]");
    folder
}

/// A session: each line of the script is a command, `> ` in front, followed by the answer without its `%%% OK`.
/// Times are written as `runtime: _`.
#[track_caller]
fn session(folder: &Folder, options: &str, script: &str) {
    let commands: String =
        script.lines().filter_map(|line| line.strip_prefix("> ")).map(|line| format!("{line}\n")).collect();
    let ran = folder.run(&format!("server p.fut {options}"), &commands);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.text());
    let text = ran.text();
    let mut answers = text.split("%%% OK\n");
    assert_eq!(answers.next(), Some(""), "{text}");
    let mut shown = String::new();
    for line in commands.lines() {
        let _ = writeln!(shown, "> {line}");
        for line in answers.next().unwrap_or("NO ANSWER").lines() {
            let line = if line.starts_with("runtime: ") { "runtime: _" } else { line };
            let _ = writeln!(shown, "{line}");
        }
    }
    assert_eq!(answers.collect::<Vec<_>>(), [""], "{text}");
    assert_eq!(shown, script);
}

#[test]
fn types_are_called_what_the_source_calls_them() {
    let folder = Folder::new("server-names");
    let source = "type point = {x: f32, y: f32}\ntype~ shape = #dot point | #path ([]point) (i32, ())\ntype~ pair = (i64, shape)\n\
                  type vec [n] 'a = [n]a\ntype size = i64\n\
                  entry make (k: size): pair = (k, if k > 0 then #path (replicate k {x = 1, y = 2}) (3, ()) else #dot {x = 1, y = 2})\n\
                  entry look ((k, s): pair): (size, []point) = (k, match s case #dot p -> [p] case #path ps _ -> ps)\n\
                  entry first [n] (ps: vec [n] point) (_: {a: point, b: (point, i32)}) = ps[0]\n\
                  entry unit (x: i32): (i32, ()) = (x, ())\n";
    folder.write("p.fut", source).write("two", "2i64").write("one", "1");
    session(
        &folder,
        "",
        "\
> output make
pair
> outputs make
pair
> inputs look
pair
> outputs look
i64
[]point
> inputs first
vec point
{a: point, b: (point, i32)}
> output first
{x: f32, y: f32}
> variants shape
dot
- point
path
- []point
- (i32, ())
> fields pair
0 i64
1 shape
> elemtype []point
point
> restore two k i64
> call make p k
runtime: _
> type p
pair
> project s p 1
> destruct s ps more
> index q ps 1
> type q
point
> call look found p
runtime: _
> type found
(i64, []point)
> new r \"{a: point, b: (point, i32)}\" q q
%%% FAILURE
Field b mismatch: expected type (point, i32), got point
> restore one x i32
> new both \"(point, i32)\" q x
> new r \"{a: point, b: (point, i32)}\" q both
> call first q2 ps r
runtime: _
> type q2
{x: f32, y: f32}
> new both2 \"(point, i32)\" q2 x
> free x
> restore one x i32
> call unit u x
runtime: _
> store out u
> restore out v \"(i32, ())\"
> project y v 0
> type y
i32
> types
i64
pair
shape
point
f32
[]point
[]f32
(i32, ())
i32
()
(i64, []point)
vec point
{x: f32, y: f32}
{a: point, b: (point, i32)}
(point, i32)
",
    );
    // An empty tuple has a truth value in files.
    assert_eq!(folder.read("out"), b"b\x02\x00 i32\x01\x00\x00\x00b\x02\x00bool\x00");
}

#[test]
fn values_stay_between_commands() {
    let folder = folder("server-values");
    session(
        &folder,
        "",
        "\
> inputs grow
*[]i32
i32
> output grow
[]i32
> restore xs xs []i32
> restore one x i32
> call grow ys xs x
runtime: _
> type xs
[]i32
> store out xs
%%% FAILURE
Variable was consumed by a call: xs
> free xs
> rename ys xs
> shape xs
2
> index e xs 1
> index e2 xs 2
%%% FAILURE
Invalid index `2` of dimension 1.
> set xs x 0
> store out xs e x
> call third t xs
runtime: _
%%% FAILURE
Error: Index [3] out of bounds for array of shape [2].

Backtrace:
-> #0  p.fut:4:32-37
> type t
%%% FAILURE
Unknown variable: t
> call third t x
%%% FAILURE
Wrong input type.  Expected []i32, got i32.
> new_array zs []i32 3 x e x
> store out2 zs
> clear
> free x
%%% FAILURE
Unknown variable: x
> restore out xs []i32 e i32 x i32
> restore out zs []i32
%%% FAILURE
Expected EOF after reading 1 values from out: 1:24: the input ends with something that no value is expected for
> attributes grow
slow(very)
> tuning_params grow
factor
> tuning_param_class factor
user
> set_tuning_param factor 10
> call grow zs xs x
runtime: _
> store out3 zs
",
    );
    for (file, text) in [("out2", "[1i32, 3i32, 1i32]\n"), ("out3", "[11i32, 13i32]\n")] {
        folder.run("dataset", folder.read(file)).prints(text);
    }
}

#[test]
fn records_sums_and_arrays_of_them_are_made_and_read() {
    session(
        &folder("server-composite"),
        "",
        "\
> restore one x i32
> restore f r f32 p []f32
> fields \"(i32, {a: bool, b: []i32})\"
0 i32
1 {a: bool, b: []i32}
> kind \"{a: bool, b: []i32}\"
record
> call pair both x
runtime: _
> project inner both 1
> project b inner b
> shape b
2
> fields i32
%%% FAILURE
Not a record type
> variants \"#circle f32 | #poly []f32 | #rect {h: f32, w: f32}\"
circle
- f32
poly
- []f32
rect
- {h: f32, w: f32}
> construct c \"#circle f32 | #poly []f32 | #rect {h: f32, w: f32}\" circle r
> call area a c
runtime: _
> construct q \"#circle f32 | #poly []f32 | #rect {h: f32, w: f32}\" poly p
> call area a2 q
runtime: _
> variant q
poly
> destruct q p2
> shape p2
3
> construct s \"#a i32 | #b\" a x
> construct t \"#a i32 | #b\" b
> new st \"(i32, #a i32 | #b)\" x s
> new tt \"(i32, #a i32 | #b)\" x t
> new_array l \"[](i32, #a i32 | #b)\" 2 st tt
> call sums n l
runtime: _
> unzip l l0 l1
> zip m \"[](i32, #a i32 | #b)\" l0 l1
> rank \"[](i32, #a i32 | #b)\"
1
> elemtype \"[](i32, #a i32 | #b)\"
(i32, #a i32 | #b)
> set m st 1
> index second m 1
> project v second 1
> variant v
a
> store file m
> restore file m2 \"[](i32, #a i32 | #b)\"
> shape m2
2
> zip bad \"[](i32, #a i32 | #b)\" n l0
%%% FAILURE
Field 1 mismatch: expected type [](#a i32 | #b), got []i32
> call hide h x
runtime: _
> type h
m.t
> kind m.t
opaque
> store hidden h
> restore hidden h2 m.t
> call show y h2
runtime: _
",
    );
}

#[test]
fn both_generations_are_spoken() {
    let folder = folder("server-legacy");
    let both = "\
> restore one x i32
> outputs pair
i32
{a: bool, b: []i32}
> call pair y z x
runtime: _
> type z
{a: bool, b: []i32}
";
    session(&folder, "--server-protocol=legacy", both);
    session(&folder, "", both);
    session(&folder, "", "> restore one x i32\n> call nothing u x\nruntime: _\n> type u\n()\n");
    session(&folder, "--server-protocol=legacy", "> output pair\n%%% FAILURE\nUnknown command: output\n");
    session(&folder, "--server-protocol=current", "> outputs pair\n%%% FAILURE\nUnknown command: outputs\n");
}

#[test]
fn wrong_commands_are_refused_one_by_one() {
    session(
        &folder("server-wrong"),
        "",
        "\
> \n%%% FAILURE\nEmpty line
> what
%%% FAILURE
Unknown command: what
> kind \"i32
%%% FAILURE
A quotation mark is left open.
> call
%%% FAILURE
Insufficient command arguments: the command is `call ENTRY RESULT ARGUMENT..`.
> call pair y
%%% FAILURE
`pair` has 1 result and takes 1 arguments: 2 variables are wanted, not 1.
> restore nothing x i32
%%% FAILURE
Failed to open nothing: no such file or directory
> restore one x []i32
%%% FAILURE
Failed to restore variable x.
Possibly malformed data in one: 1:1: expected a value of type []i32, found one of type i32
> new_array q [][]i32 99999999999 99999999999
%%% FAILURE
Expected more values, but got 0.
> new_array q []i32 99999999999999999999
%%% FAILURE
Invalid size `99999999999999999999` of dimension 1.
",
    );
}

/// Commands and arguments in no order that makes sense: each has an answer, and the process lives to the end.
#[test]
fn garbage_never_ends_a_session() {
    let folder = folder("server-garbage");
    let commands = "types entry_points call restore store free rename inputs output outputs clear kind type report \
                    set_tuning_param tuning_params tuning_param_class attributes rank elemtype new_array set shape index zip \
                    unzip fields new project variants construct destruct variant %%% nonsense";
    let commands: Vec<&str> = commands.split_whitespace().collect();
    let arguments = [
        "x",
        "y",
        "z",
        "xs",
        "one",
        "f",
        "out",
        "i32",
        "[]i32",
        "f32",
        "\"#a i32 | #b\"",
        "\"(i32, #a i32 | #b)\"",
        "\"[](i32, #a i32 | #b)\"",
        "[](#a",
        "0",
        "1",
        "-1",
        "9999999999",
        "a",
        "b",
        "\"\"",
        "\"",
        "é",
        "grow",
        "pair",
        "third",
        "sums",
        "nothing",
        "factor",
        "()",
        "\u{0}",
    ];
    let mut state = 12345u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let mut script = Vec::new();
    for _ in 0..4000 {
        script.extend_from_slice(commands[random(commands.len())].as_bytes());
        for _ in 0..random(6) {
            script.push(b' ');
            script.extend_from_slice(arguments[random(arguments.len())].as_bytes());
        }
        script.push(b'\n');
    }
    script.extend_from_slice(b"\xff\xfe garbage\n \"\xc3\ntype last without end");
    let ran = folder.run("server p.fut", &script);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(ran.text().matches("%%% OK\n").count(), 4004);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_call_and_not_the_session() {
    let folder = folder("server-interrupt");
    let mut child = command(&folder.0, &["server", "p.fut"]).spawn().expect("galopvm starts");
    let mut input = child.stdin.take().expect("its standard input");
    let mut lines = BufReader::new(child.stdout.take().expect("its standard output")).lines();
    let mut until_ok = || -> Vec<String> {
        let line = |line: std::io::Result<String>| line.expect("a line");
        lines.by_ref().map(line).take_while(|line| line != "%%% OK").collect()
    };
    until_ok();
    writeln!(input, "restore one x i32").expect("a command");
    assert_eq!(until_ok(), Vec::<String>::new());
    writeln!(input, "call forever y x").expect("a command");
    std::thread::sleep(std::time::Duration::from_millis(300));
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.expect("kill starts").success());
    let answer = until_ok();
    assert!(answer[0].starts_with("runtime: "), "{answer:?}");
    assert_eq!(answer[1..3], ["%%% FAILURE", "Error: Interrupted."], "{answer:?}");
    writeln!(input, "call nothing u x").expect("a command");
    assert!(until_ok()[0].starts_with("runtime: "));
    drop(input);
    assert_eq!(child.wait().expect("galopvm ends").code(), Some(0));
}
