//! The `galopvm` binary as its users meet it: real processes, their output, their exit codes.
//!
//! - `process.rs`: how processes are run. `prompt.rs` (with `terminal.py`), `clients.rs` (with `clients.py`), `limits.rs`, `data.rs`,
//!   `files.rs`, `sources.rs`, `server.rs`, `blocks.rs`, `executables.rs` (with `headers.py`), `pages.rs`,
//!   `profile.rs`, `transcripts.rs`: tests by subject; the others are here.

mod blocks;
mod clients;
mod data;
mod executables;
mod files;
mod limits;
#[cfg(unix)]
mod pages;
mod process;
mod profile;
mod prompt;
mod server;
mod sources;
mod transcripts;

use process::{Folder, Ran, command, in_order};
use std::fs;
use std::io::Write;

const DOT: &str = "def main [n] (xs: [n]i32) (ys: [n]i32): i32 = reduce (+) 0 (map2 (*) xs ys)\n";

pub(crate) const STATS: &str = "\
entry main [n] (xs: [n]f64): f64 = reduce (+) 0 xs / f64.i64 n
entry scale [n] (a: f64) (xs: [n]f64): [n]f64 = map (* a) xs
entry both (x: i64): (i64, []i64) = (x + 1, iota x)
entry third [n] (xs: [n]i32): i32 = xs[3]
";

#[test]
fn run_reads_values_and_prints_results() {
    let folder = Folder::new("run");
    folder.write("dot.fut", DOT).write("stats.fut", STATS);
    folder.run("run dot.fut", "[1, 2, 3] [4, 5, 6]").prints("32i32\n");
    folder.run("run stats.fut", "[1.0, 2.0, 6.0]").prints("3f64\n");
    folder.run("run stats.fut -e scale", "10\n[1, 2.5]").prints("[10f64, 25f64]\n");
    folder.run("run --entry-point=both stats.fut", "3").prints("4i64\n[0i64, 1i64, 2i64]\n");
    folder.run("run --entry both stats.fut", "0").prints("1i64\nempty([0]i64)\n");
    folder.run("run -", "def main = 1 + 2").prints("3i32\n");
    folder.write("args", "[1] [2]").run("run dot.fut --input args", "").prints("2i32\n");
    folder.run("run - --input args", DOT).prints("2i32\n");
}

#[test]
fn run_speaks_the_binary_format() {
    let folder = Folder::new("binary");
    folder.write("dot.fut", DOT).write("stats.fut", STATS);
    let scaled = folder.run("run stats.fut -e scale -b", "2.0 [1.0, 2.0]");
    scaled.succeeds();
    let mut expected = b"b\x02\x01 f64".to_vec();
    expected.extend_from_slice(&2u64.to_le_bytes());
    expected.extend_from_slice(&2f64.to_le_bytes());
    expected.extend_from_slice(&4f64.to_le_bytes());
    assert_eq!(scaled.out, expected);
    // Binary and text values may follow each other.
    let mut input = b"0.5 ".to_vec();
    input.extend_from_slice(&scaled.out);
    folder.run("run stats.fut -e scale", &input).prints("[1f64, 2f64]\n");
    folder.write("args", &input).run("run stats.fut -e scale -i args", "").prints("[1f64, 2f64]\n");
}

#[test]
fn every_back_end_gives_the_same() {
    let folder = Folder::new("backends");
    folder.write("dot.fut", DOT);
    let numbers: Vec<String> = (0..5000).map(|n| format!("{n}i32")).collect();
    let input = format!("[{0}] [{0}]", numbers.join(","));
    let expected = format!("{}i32\n", (0..5000i32).fold(0i32, |s, n| s.wrapping_add(n.wrapping_mul(n))));
    for options in [
        "",
        "--backend interp",
        "--backend reference",
        "--backend x86",
        "--backend x86 --cpu scalar",
        "--backend x86 --cpu avx2 --threads 3",
        "--threads 1",
    ] {
        let ran = folder.run(&format!("run dot.fut {options}"), &input);
        ran.succeeds();
        assert_eq!(ran.text(), expected, "{options}");
    }
    // A machine without Vulkan says so, and the interpreter does the work.
    for route in ["direct", "glsl"] {
        let ran = folder.run(&format!("run dot.fut --backend vulkan --route {route}"), &input);
        ran.succeeds();
        assert_eq!(ran.text(), expected, "{}", ran.err);
    }
}

#[test]
fn run_tells_what_happened() {
    let folder = Folder::new("stats");
    folder.write("dot.fut", DOT);
    let ran = folder.run("run dot.fut --stats --backend reference", "[1] [2]");
    ran.succeeds().shows(&["2i32"]);
    for phase in ["the front end", "looking at the machine", "reading values", "writing results"] {
        in_order(
            "--stats",
            &ran.err,
            &["where the time goes:", "dot.fut:1:", "the reference evaluator", phase, "memory:"],
        );
    }
    in_order(
        "--stats",
        &ran.err,
        &["memory:", "copies:", "page faults:", "code:", "what the analyses did", "galopvm words"],
    );
    let ran = folder.run("run dot.fut --trace --backend reference", "[1] [2]");
    ran.succeeds().shows(&["2i32"]);
    in_order("--trace", &ran.err, &["dot.fut:1:", "lifted", "reference compiled", "reference launched"]);
}

#[test]
fn stats_tell_of_everything_that_ran() {
    let folder = Folder::new("stats-table");
    folder.write(
        "parts.fut",
        "entry main (n: i64) =\n  loop s = 0 for i < 20 do\n    s + i64.sum (filter (> i) (iota n))\n",
    );
    for options in ["", "--backend interp", "-r 3 --backend reference", "--threads 1 --no machine"] {
        let ran = folder.run(&format!("run parts.fut --stats {options}"), "5000");
        ran.succeeds();
        let table = ran.err.split("\n\n").next().unwrap_or_default();
        in_order(options, table, &["where the time goes:", "share", "executed", " % "]);
        for part in ["parts.fut:2:3", "loop", "parts.fut:3:", "filter", "interpreted", "the front end"] {
            assert!(table.contains(part), "{options}: {part} in\n{table}");
        }
        let words: Vec<&str> = table.split_whitespace().collect();
        let shares = words.windows(2).filter(|pair| pair[1] == "%");
        let tenths: u64 = shares.filter_map(|pair| pair[0].replace('.', "").parse::<u64>().ok()).sum();
        assert_eq!(tenths, 1000, "{options}:\n{table}");
        assert!(!ran.err.contains(" 0 executions"), "{}", ran.err);
    }
    // How far a program came that fails.
    let ran = folder.run("run parts.fut --stats --fuel 1000", "5000");
    ran.fails(1, &["where the time goes:", "Error: Out of fuel"]);
}

#[test]
fn machine_code_has_names_for_perf() {
    let folder = Folder::new("perf-map");
    folder.write("dot.fut", DOT);
    let numbers: Vec<String> = (0..5000).map(|n| format!("{n}i32")).collect();
    let input = format!("[{0}] [{0}]", numbers.join(","));
    folder.write("args", &input);
    let arguments = "run dot.fut -n -i args --backend x86 --perf-map";
    let started = command(&folder.0, &arguments.split(' ').collect::<Vec<_>>()).spawn();
    let child = started.expect("galopvm starts");
    let path = format!("/tmp/perf-{}.map", child.id());
    let output = child.wait_with_output().expect("galopvm ends");
    let map = std::fs::read_to_string(&path).unwrap_or_default();
    let _ = std::fs::remove_file(&path);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    if !cfg!(all(target_arch = "x86_64", unix)) {
        return;
    }
    assert!(!map.is_empty(), "nothing in {path}");
    for line in map.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let [start, size, name] = fields[..] else { panic!("{line}") };
        let number = |text| u64::from_str_radix(text, 16).ok().filter(|number| *number > 0);
        assert!(number(start).is_some() && number(size).is_some(), "{line}");
        assert!(name.starts_with("galopvm:dot.fut:1:"), "{line}");
    }
    folder.run("run dot.fut -n --backend interp --perf-map", input.as_bytes()).succeeds();
}

#[test]
fn words_are_explained() {
    let folder = Folder::new("words");
    folder.run("words", "").succeeds().shows(&["shortcircuit", "NEVER-CAP", "RDS", "MOD"]);
    let ran = folder.run("words never-cap", "");
    ran.succeeds().shows(&["NEVER-CAP  all reads together take no longer than the copy"]);
    assert!(!ran.text().contains("RDS"));
    folder.run("words nonsense", "").fails(2, &["no word with `nonsense`"]);
}

#[test]
fn run_time_errors_have_a_place_and_exit_code_1() {
    let folder = Folder::new("errors");
    folder.write("stats.fut", STATS);
    folder
        .run("run stats.fut -e third", "[1, 2]")
        .fails(1, &["Error: ", "3", "Backtrace:", "#0", "stats.fut:4:"]);
    folder.write("deep.fut", "def main (n: i32): i32 = 1 / n\n");
    folder.run("run deep.fut", "0").fails(1, &["Error: ", "zero", "deep.fut:1:"]);
    folder.run("run stats.fut -e both --memory 1M", "100000000").fails(1, &["Error: "]);
    folder.write("slow.fut", "def main (n: i64): i64 = loop x = 0 for i < n do x ^ i\n");
    folder.run("run slow.fut --fuel 1000", "1000000").fails(1, &["Error: Out of fuel"]);
}

#[test]
fn wrong_values_are_explained() {
    let folder = Folder::new("values");
    folder.write("dot.fut", DOT);
    let usage = "`main` takes (xs: [n]i32) (ys: [n]i32)";
    folder.run("run dot.fut", "").fails(2, &["`main` takes 2 values, but the input has 0 values", usage]);
    folder.run("run dot.fut", "[1]").fails(2, &["takes 2 values, but the input has 1 value", usage]);
    folder.write("pair.fut", "entry main (x: (i32, bool)) (a: []i32) = i32.i64 (length a) + x.0\n");
    folder.run("run pair.fut", "").fails(
        2,
        &[
            "`main` takes 2 arguments (3 values), but the input has 0",
            "`main` takes (x: (i32, bool)) (a: []i32)",
        ],
    );
    folder.run("run dot.fut", "[1]\n[2.5, 3]").fails(2, &["<stdin>:2:", "[2.5, 3]", "^", usage]);
    folder
        .run("run dot.fut", "[1] 5")
        .fails(2, &["expected a value of type []i32", "<stdin>:1:5", "^", usage]);
    folder.run("run dot.fut", "[1] [2] 3").fails(2, &["<stdin>:1:9", "^", usage]);
    folder.run("run dot.fut", "[1, [2").fails(2, &["<stdin>:1:"]);
    folder.run("run dot.fut", "b\x02\x01 i32\x05").fails(2, &["<stdin>:1:"]);
    folder.run("run dot.fut", b"\xff\xfe\x00".as_slice()).fails(2, &["<stdin>:1:1"]);
    folder.run("run dot.fut", "[1] [2, 3]").fails(1, &["Error: "]);
    folder.run("run dot.fut -e dot", "[1] [2]").fails(2, &["no entry point `dot`", "main"]);
    folder.run("run dot.fut -i nothing", "").fails(2, &["error: nothing:", "no such file"]);
}

#[test]
fn wrong_files_are_explained() {
    let folder = Folder::new("files");
    fs::create_dir(folder.0.join("folder")).expect("a folder");
    folder.write("dot.fut", DOT).write("garbage", [0u8, 255, 254, 1, 2]).write("empty.fut", "");
    for command in ["run", "check", "compile", "dis", "asm", "dump --stage core"] {
        folder
            .run(&format!("{command} missing.fut"), "")
            .fails(2, &["error: missing.fut: no such file", "help:"]);
        folder.run(&format!("{command} folder"), "").fails(2, &["error: folder: this is a directory"]);
        folder.run(&format!("{command} garbage"), "").fails(2, &["error: garbage: ", "line 1 is not UTF-8"]);
    }
    folder.run("run empty.fut", "").fails(2, &["no entry point `main`", "the program has none"]);
    folder.run("compile dot.fut", "").prints("");
    let whole = folder.read("dot.gbc");
    for length in [1, 4, 15, 16, 40, whole.len() - 1] {
        folder.write("cut.gbc", &whole[..length]);
        folder.run("run cut.gbc", "[1] [2]").fails(2, &["error"]);
        folder.run("check cut.gbc", "").fails(2, &["error"]);
    }
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x40;
    folder
        .write("cut.gbc", &damaged)
        .run("run cut.gbc", "[1] [2]")
        .fails(2, &["cut.gbc: the file is damaged"]);
    let mut newer = whole;
    newer[4] = 200;
    folder
        .write("cut.gbc", &newer)
        .run("run cut.gbc", "[1] [2]")
        .fails(2, &["format version 200", "use a newer one"]);
}

#[test]
fn check_finds_everything_and_shows_it() {
    let folder = Folder::new("check");
    folder.write("good.fut", DOT).write("bad.fut", "def f (x: i32): i32 = x + y\ndef g = true + 1\n");
    folder.run("check good.fut", "").prints("");
    folder.run("check -", DOT).prints("");
    folder
        .run("check bad.fut", "")
        .fails(2, &["bad.fut:1:27", "x + y", "^", "bad.fut:2:", "2 errors in bad.fut"]);
    folder.run("check good.fut bad.fut", "").fails(2, &["2 errors in 1 of 2 files"]);
    folder.run("run bad.fut", "").fails(2, &["bad.fut:1:27", "^"]);
    folder.run("check -", "def main = (1 +").fails(2, &["<stdin>:1:", "1 error in -"]);
}

#[test]
fn check_speaks_json_to_editors() {
    let folder = Folder::new("check-json");
    folder.write("good.fut", DOT).write("bad.fut", "def s = \"\u{e9}\" ++ y\ndef t = 300u8\n");
    folder.run("check --json good.fut", "").prints("{\"errors\":0,\"warnings\":0,\"diagnostics\":[]}\n");
    let both = folder.run("check --json good.fut bad.fut missing.fut", "");
    assert_eq!((both.code, both.err.as_str()), (Some(2), ""));
    both.shows(&[
        "{\"errors\":2,\"warnings\":1,\"diagnostics\":[",
        "{\"file\":\"bad.fut\",\"range\":{\"start\":{\"line\":1,\"column\":16,\"offset\":16},\
         \"end\":{\"line\":1,\"column\":17,\"offset\":17}},\"severity\":\"error\"",
        "\"severity\":\"warning\",\"message\":\"`300u8` is out of range",
        "{\"file\":\"missing.fut\",\"range\":null,\"severity\":\"error\"",
    ]);
}

#[test]
fn what_cannot_be_run_is_refused_entry_by_entry() {
    let folder = Folder::new("refused");
    let text = "def half (x: f64) : f64 = if x < 1 then x else half (x / 2)\nentry fine (x: f64) = x + 1\nentry slope (x: f64) = jvp half x 1\n";
    folder.write("mixed.fut", text);
    let warning = "warning: Entry point \"slope\" cannot be run";
    assert!(folder.run("check mixed.fut", "").succeeds().err.contains(warning));
    assert!(folder.run("compile mixed.fut", "").succeeds().err.contains(warning));
    for file in ["mixed.fut", "mixed.gbc"] {
        folder.run(&format!("run -w -e fine {file}"), "2.0").prints("3f64\n");
        let reason = ["Entry point \"slope\" cannot be run", "has no derivative", "mixed.fut:3:"];
        folder.run(&format!("run -w -e slope {file}"), "2.0").fails(1, &reason);
    }
}

#[test]
fn compile_strip_and_the_way_back_through_text() {
    let folder = Folder::new("compile");
    folder.write("dot.fut", DOT);
    folder.run("compile dot.fut", "").prints("");
    folder.run("compile dot.fut -o small.gbc --strip", "").prints("");
    assert!(folder.read("small.gbc").len() < folder.read("dot.gbc").len());
    for file in ["dot.gbc", "small.gbc"] {
        folder.run(&format!("run {file}"), "[1, 2] [3, 4]").prints("11i32\n");
    }
    folder.run("compile dot.gbc -o again.gbc --strip", "").prints("");
    assert_eq!(folder.read("again.gbc"), folder.read("small.gbc"));
    let text = folder.run("dis dot.gbc", "");
    text.succeeds().shows(&["module", "entry \"main\" @0", "fn @0"]);
    assert_eq!(folder.run("dis dot.fut", "").out, text.out);
    folder.write("dot.gbt", &text.out).run("asm dot.gbt -o back.gbc", "").prints("");
    assert_eq!(folder.read("back.gbc"), folder.read("dot.gbc"));
    folder.run("asm - -o back.gbc", &text.out).prints("");
    folder.run("asm -", "module\n").fails(2, &["add -o FILE"]);
    folder.run("asm - -o x.gbc", "module\nfunction").fails(2, &["<stdin>:2:", "function", "^"]);
    let twisted = text.text().replace("i32 = redomap", "i64 = redomap");
    folder.run("asm - -o x.gbc", twisted).fails(2, &["error: <stdin>: the bytecode is not valid"]);
    assert!(!folder.0.join("x.gbc").exists());
    folder
        .run("compile dot.fut -o no/such/folder.gbc", "")
        .fails(2, &["error: no/such/folder.gbc: cannot write"]);
    folder.run("compile -", DOT).fails(2, &["add -o FILE"]);
}

#[test]
fn dump_shows_every_stage_and_its_text_parses_back() {
    let folder = Folder::new("dump");
    folder.write("dot.fut", DOT);
    let values = "[1, 2, 3] [4, 5, 6]";
    folder.run("dump dot.fut --stage ast", "").succeeds().shows(&["def main [n]", "reduce"]);
    folder.run("dump dot.fut --stage core", "").succeeds().shows(&["entry \"main\"", "fun @0"]);
    folder.run("dump dot.fut --stage bytecode", "").succeeds().shows(&["module", "fn @0"]);
    folder.run("dump dot.fut --stage kir", "").succeeds().shows(&["==== dot.fut:1:", "region", "where"]);
    folder.run("dump dot.fut --stage plan", values).succeeds().shows(&["==== dot.fut:1:", "plan\n"]);
    folder.run("dump dot.fut --stage spirv", values).succeeds().shows(&["==== dot.fut:1:", "OpEntryPoint"]);
    folder.run("dump dot.fut --stage glsl", values).succeeds().shows(&[
        "==== dot.fut:1:",
        "#version",
        "void main()",
    ]);
    if cfg!(all(target_arch = "x86_64", unix)) {
        folder
            .run("dump dot.fut --stage lir --cpu scalar", values)
            .succeeds()
            .shows(&["==== dot.fut:1:", "block0:\n"]);
        folder
            .run("dump dot.fut --stage asm --cpu scalar", values)
            .succeeds()
            .shows(&["==== dot.fut:1:", "ret"]);
    }
    folder.run("dump dot.fut --stage bytecode", "").succeeds().shows(&["redomap"]);
    let apart = folder.run("dump dot.fut --stage bytecode --no fusion", "");
    apart.succeeds().shows(&["= map ", "= reduce "]);
    folder.run("dump dot.fut --stage bytecode --no fission", "").fails(2, &["fission", "fusion"]);
    let all = folder.run("dump dot.fut --stage kir,plan", values);
    all.succeeds().shows(&["#### kir", "region", "#### plan", "plan\n"]);
    let checked = folder.run("dump dot.fut --check", values);
    checked.succeeds().shows(&["ast: ", "core: ", "bytecode: ", "kir: ", "plan: "]);
    let stages = if cfg!(feature = "shaderc") { 9 } else { 8 };
    assert_eq!(checked.text().matches("parsed back to the same").count(), stages, "{}", checked.text());
    folder.run("compile dot.fut", "").prints("");
    folder.run("dump dot.gbc --check", values).succeeds().shows(&["bytecode: ", "kir: ", "plan: "]);
    folder.run("dump dot.gbc --stage core", "").fails(2, &["a .gbc file has no stage core"]);
    folder.run("dump dot.fut --stage corn", "").fails(2, &["invalid value 'corn'", "core"]);
    folder.run("dump dot.fut --stage plan", "[1]").fails(2, &["takes 2 values"]);
    folder.run("dump dot.fut", "").fails(2, &["--stage"]);
}

#[test]
fn explain_tells_what_was_decided() {
    let folder = Folder::new("explain");
    folder.write(
        "join.fut",
        "-- ==\n-- input { [1, 2] [3] }\nentry main (xs: []i32) (ys: []i32): []i32 =\n  map (+ 1) xs ++ map (* 2) ys\n\
         entry free (n: i64) (b: bool): []i64 = if b then iota n else replicate n 0\n",
    );
    // The first input of the test block, as nothing comes from standard input.
    let parts = [
        "join.fut, entry point main, with the input of its test in line 2",
        "==== join.fut:3:1 function main",
        "map (+ 1) xs ++ map (* 2) ys",
        "concatenation to",
        "built in place",
        "saves a copy of 8 bytes",
        "accesses (index table)",
    ];
    folder.run("explain join.fut", "").succeeds().shows(&parts);
    let given = folder.run("explain join.fut --backend interp", "[1, 2, 3] [4]");
    given.succeeds().shows(&["with the values of standard input", "saves a copy of 12 bytes"]);
    assert!(!given.text().contains("kernel IR"), "{}", given.text());
    folder.run("explain join.fut --regions", "").shows(&["kernel IR", "concat"]);
    let json = folder.run("explain join.fut --json --no reuse,jit", "");
    json.succeeds().shows(&[
        "\"version\": 1",
        "\"off\": [\"reuse\", \"jit\"]",
        "\"parts\": [",
        "\"kind\": \"region\"",
    ]);
    // No values, and no test block.
    folder
        .run("explain join.fut -e free", "")
        .fails(2, &["no values for `free`", "echo '1i64 true'", "-e free"]);
    folder.run("explain join.fut -e none", "").fails(2, &["no entry point `none`"]);
    // What was found before an error is told as well.
    folder.write("wrong.fut", "entry main (xs: []i32) = map (\\i -> xs[i]) (iota 3)\n");
    folder.run("explain wrong.fut --backend interp", "[1]").fails(1, &["out of bounds"]).shows(&["map"]);
}

#[test]
fn switches_leave_results_equal() {
    let folder = Folder::new("switches");
    folder.write(
        "mean.fut",
        "def main [n] (rows: [n][n]f64): (f64, [n][n]i64) =
           let means = map (\\row -> f64.sum row / f64.i64 n) (transpose rows)
           in (f64.sum means, map (scan (+) 0) (tabulate_2d n n (\\i j -> i * j)))",
    );
    let input = "[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]";
    let expected = "15f64\n[[0i64, 0i64, 0i64], [0i64, 1i64, 3i64], [0i64, 2i64, 6i64]]\n";
    let mut names: Vec<&str> = galopvm::Switch::ALL.iter().map(|switch| switch.name()).collect();
    let all = names.join(",");
    names.push(&all);
    for names in names {
        for backend in ["auto", "x86"] {
            folder.run(&format!("run mean.fut --backend {backend} --no {names}"), input).prints(expected);
        }
    }
    folder.run("run mean.fut --no jit --no machine --stats", input).succeeds();
    folder.run("run mean.fut --no jitt", "").fails(2, &["'jitt'", "shortcircuit", "similar", "'jit'"]);
    folder.run("repl --no jit,galop", "map (+ 1) [1, 2]").succeeds().shows(&["[2i32, 3i32]"]);
    folder
        .run("run --help", "")
        .succeeds()
        .shows(&galopvm::Switch::ALL.iter().map(|s| s.meaning()).collect::<Vec<_>>());
}

#[test]
fn doctor_says_what_there_is() {
    let folder = Folder::new("doctor");
    let ran = folder.run("doctor", "");
    ran.succeeds().shows(&[
        concat!("galopvm ", env!("CARGO_PKG_VERSION")),
        ".gbc format 1",
        "Processor",
        "threads",
        "avx2",
        "avx512",
        "caches",
        "Back ends",
        "interp",
        "ready",
        "x86",
        "vulkan",
        "direct",
        "glsl",
        "Vulkan devices",
        "What will be used",
        "--backend auto",
        "Files",
        "history",
        "galopvm/history",
    ]);
    folder.run("doctor --backend interp", "").succeeds().shows(&["the interpreter alone"]);
    folder.run("doctor --no jit,fusion", "").succeeds().shows(&["alone: --no jit", "--no", "fusion, jit"]);
    folder.run("doctor --json", "").succeeds().shows(&[
        "\"version\"",
        "\"processor\"",
        "\"caches\"",
        "\"backends\"",
        "\"costs\"",
        "\"source\": \"usual\"",
        "\"switches\"",
        "\"shortcircuit\": true",
    ]);
}

#[test]
fn doctor_measures_once_and_forgets() {
    let folder = Folder::new("calibrate");
    folder.run("doctor --reset", "").succeeds().shows(&["Costs of memory layouts", "nothing was measured"]);
    if !cfg!(all(target_arch = "x86_64", unix)) {
        folder.run("doctor --calibrate", "").fails(1, &["cannot measure"]);
        return;
    }
    let measured =
        ["Measured just now", "reading", "memory", "used", "the measured ones", "usual", "near", "copystart"];
    folder.run("doctor --calibrate", "").succeeds().shows(&measured);
    let text = String::from_utf8(folder.read("galopvm/costs")).unwrap();
    assert!(text.starts_with("galopvm costs 1\n\nprocessor ") && text.contains("\nscalar near "), "{text}");
    folder.run("doctor", "").succeeds().shows(&["the measured ones", "galopvm/costs"]);
    folder.run("doctor --json", "").succeeds().shows(&[
        "\"source\": \"measured\"",
        "\"measured\": {",
        "\"scalar\": {",
    ]);
    // Whatever is in the file, programs run, and doctor says what is wrong with it.
    folder.write("dot.fut", DOT);
    for broken in [text.replace("near ", "nearly "), text.replace("costs 1", "costs 2"), "\0".into()] {
        folder.write("galopvm/costs", broken);
        folder.run("run dot.fut", "[1, 2, 3] [4, 5, 6]").prints("32i32\n");
        folder.run("doctor", "").succeeds().shows(&[
            "warning",
            "galopvm/costs",
            "not used",
            "the usual ones",
        ]);
    }
    folder.run("doctor --reset", "").succeeds().shows(&["nothing was measured"]);
    assert!(!folder.0.join("galopvm/costs").exists());
    folder.run("doctor --reset --calibrate", "").fails(2, &["cannot be used with"]);
}

#[test]
fn the_command_line_explains_itself() {
    let folder = Folder::new("help");
    folder.run("--version", "").prints(concat!("galopvm ", env!("CARGO_PKG_VERSION"), "\n"));
    folder.run("--help", "").succeeds().shows(&["Usage: galopvm <COMMAND>", "run", "repl", "Examples:"]);
    for command in
        ["run", "check", "compile", "dis", "asm", "dump", "profile", "dataset", "datacmp", "doctor", "repl"]
    {
        let help = folder.run(&format!("{command} --help"), "");
        help.succeeds().shows(&["Usage: galopvm", command, "Options:", "Examples:", "galopvm"]);
    }
    folder.run("", "").fails(2, &["Usage: galopvm <COMMAND>"]);
    folder.run("chek x.fut", "").fails(2, &["unrecognized subcommand 'chek'", "similar", "check"]);
    folder
        .run("run x.fut --backnd x86", "")
        .fails(2, &["unexpected argument '--backnd'", "similar", "--backend"]);
    folder.run("run x.fut --backend cuda", "").fails(2, &["invalid value 'cuda'", "interp"]);
    folder.run("run x.fut --threads 0", "").fails(2, &["a number from 1 to 1024"]);
    folder.run("run x.fut --memory much", "").fails(2, &["a number of bytes"]);
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let folder = Folder::new("pipe");
    folder.write("long.fut", "def main (n: i64): []i64 = iota n\n");
    let mut child = command(&folder.0, &["run", "long.fut"]).spawn().expect("galopvm starts");
    drop(child.stdout.take());
    child.stdin.take().expect("its standard input").write_all(b"100000").expect("values");
    let ran = Ran::new(&["run"], child.wait_with_output().expect("galopvm ends"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}

#[test]
fn run_takes_what_futharks_executables_take() {
    let folder = Folder::new("executable");
    folder.write("dot.fut", DOT);
    folder.run("run dot.fut -r 3 -t times -n", "[1, 2] [3, 4]").prints("");
    let times = String::from_utf8(folder.read("times")).expect("text");
    assert_eq!(times.lines().filter(|line| line.parse::<u64>().is_ok()).count(), 3, "{times}");
    folder.run("run dot.fut --runs 2 --write-runtime-to times", "[1, 2] [3, 4]").prints("11i32\n");
    assert_eq!(String::from_utf8(folder.read("times")).expect("text").lines().count(), 2);
    folder.run("run dot.fut -t no/such/file", "[1] [2]").fails(2, &["no/such/file: cannot write"]);
    folder.run("run dot.fut -r 0", "[1] [2]").fails(2, &["invalid value '0'"]);
    folder.run("run dot.fut --entry-point main --no-print-result", "[1] [2]").prints("");
    folder.run("run dot.fut --print-params", "").prints("");
    folder.write("good.tuning", "main.tile=16\n").write("bad.tuning", "main.tile=16\nwhat\n");
    for options in ["--tuning good.tuning", "--cache-file c --tuning good.tuning"] {
        let ran = folder.run(&format!("run dot.fut {options}"), "[1] [2]");
        ran.succeeds().shows(&["2i32"]);
        assert!(ran.err.contains("no tuning parameter `main.tile`"), "{}", ran.err);
    }
    folder.run("run dot.fut --param tile=3", "[1] [2]").fails(2, &["`tile`: the program has none"]);
    folder.run("run dot.fut --param tile", "[1] [2]").fails(2, &["NAME=NUMBER"]);
    folder.run("run dot.fut --tuning bad.tuning", "[1] [2]").fails(2, &["bad.tuning:2"]);
    for option in ["-D", "-P", "--profile", "-L", "--log"] {
        let ran = folder.run(&format!("run dot.fut {option} --backend reference"), "[1] [2]");
        ran.succeeds().shows(&["2i32"]);
        assert!(ran.err.contains("reference"), "{option}: {}", ran.err);
    }
}
