//! Executables that `galopvm stand`, `c` and `vm` make, and galopvm in the place of `futhark`.
#![cfg(unix)]

use super::process::{Folder, Ran};
use std::io::Write;
use std::process::{Command, Stdio};

const SUM: &str = "entry main (xs: []i32) = i32.sum xs\n#[slow]\nentry twice (x: i32) = (x, 2 * x)\n";

fn start(folder: &Folder, program: &str, arguments: &[&str], input: &str) -> Ran {
    let mut child = Command::new(folder.0.join(program))
        .args(arguments)
        .current_dir(&folder.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the executable starts");
    let _ = child.stdin.take().map(|mut stdin| stdin.write_all(input.as_bytes()));
    Ran::new(arguments, child.wait_with_output().expect("the executable ends"))
}

#[test]
fn executables_need_nothing_else() {
    let folder = Folder::new("stand");
    folder.write("sum.fut", SUM).run("stand sum.fut", "").prints("");
    start(&folder, "sum", &[], "[1, 2]").prints("3i32\n");
    start(&folder, "sum", &["-e", "twice", "-t", "times", "-r", "2"], "4").prints("4i32\n8i32\n");
    assert_eq!(String::from_utf8_lossy(&folder.read("times")).lines().count(), 2);
    start(&folder, "sum", &["--version"], "").prints(concat!("galopvm ", env!("CARGO_PKG_VERSION"), "\n"));
    start(&folder, "sum", &["--nothing"], "").fails(2, &["--nothing"]);
    folder.run("run sum", "[7]").prints("7i32\n");
    folder.run("stand sum.fut -o sum.fut", "").fails(2, &["add -o FILE"]);
    folder.run("stand nothing.fut", "").fails(2, &["nothing.fut: no such file"]);
    // What follows the program may be anything: then there is none.
    folder.write("cut", &folder.read("sum")[..4000]).run("run cut", "").fails(2, &["cut"]);
}

#[test]
fn launchers_start_galopvm() {
    let folder = Folder::new("launch it's");
    folder.write("sum.fut", SUM).run("c sum.fut", "").prints("");
    start(&folder, "sum", &["-b"], "[1, 2]").succeeds();
    folder.run("vm sum.fut -o served --server", "").prints("");
    let script = "attributes twice\ninputs main\noutputs twice\n";
    start(&folder, "served", &["--num-threads=1"], script)
        .prints("%%% OK\nslow\n%%% OK\n[]i32\n%%% OK\ni32\ni32\n%%% OK\n");
    folder
        .write("wrong.fut", "entry main (x: i32) = x + true")
        .run("vm wrong.fut -o w --server", "")
        .fails(2, &["wrong.fut:1:"]);
    // The program inside is verified like any other.
    let mut damaged = folder.read("served");
    let middle = damaged.len() - 60;
    damaged[middle] ^= 0xff;
    folder.write("served", &damaged);
    start(&folder, "served", &[], "types\n").fails(2, &["served"]);
}

#[test]
fn libraries_are_functions_in_c() {
    let folder = Folder::new("header");
    let source = "type point = {x: f64, y: f64}\n#[slow]\nentry both [n] (ps: *[n]point) (s: #a point | #b): (i32, [n]f64) = \
                  (match s case #a _ -> 1 case #b -> 2, map (.x) ps)\n";
    folder.write("both.fut", source).run("header both.fut", "").prints("");
    let text = |name: &str| String::from_utf8(folder.read(name)).expect("a text");
    let header = text("both.h");
    for line in [
        "#define FUTHARK_BACKEND_vm",
        "int futhark_context_sync(struct futhark_context *ctx);",
        "/* []point */\nstruct futhark_opaque_arr1d_point;",
        "int futhark_project_opaque_arr1d_point_x(struct futhark_context *ctx, struct futhark_f64_1d **out, \
         const struct futhark_opaque_arr1d_point *obj);",
        "int futhark_new_opaque_sum_a_point_b_a(struct futhark_context *ctx, struct futhark_opaque_sum_a_point_b **out, \
         const struct futhark_opaque_point *v0);",
        "int futhark_entry_both(struct futhark_context *ctx, struct futhark_opaque_tup2_i32_arr1d_f64 **out0, \
         const struct futhark_opaque_arr1d_point *in0, const struct futhark_opaque_sum_a_point_b *in1);",
    ] {
        assert!(header.contains(line), "{line}\n{header}");
    }
    let manifest = text("both.json");
    for part in [
        "{\"name\": \"ps\", \"type\": \"[]point\", \"unique\": true}",
        "\"output\": {\"type\": \"(i32, []f64)\", \"unique\": false}",
        "\"attributes\": [\"slow\"]",
        "\"record_array\"",
    ] {
        assert!(manifest.contains(part), "{part}\n{manifest}");
    }
    // Bytecode has no names of types; Futhark's own option does the same.
    folder.run("compile both.fut -o both.gbc", "").prints("");
    folder.run("c --library both.gbc -o plain", "").prints("");
    let plain = text("plain.h");
    assert!(
        plain.contains("#define FUTHARK_BACKEND_c\n")
            && plain.contains("struct futhark_opaque_rec_x_f64_y_f64;"),
        "{plain}"
    );
    assert!(text("plain.c").contains("#define GV_THREADS 1\n"));
    folder.run("header both.fut -o nowhere/both", "").fails(2, &["nowhere/both.h: cannot write", "-o"]);
    folder
        .write("wrong.fut", "entry main (x: i32) = x + true")
        .run("header wrong.fut", "")
        .fails(2, &["wrong.fut:1:"]);
}

/// `headers.py` says what it makes and looks at.
#[test]
fn libraries_compile_for_types_made_by_chance() {
    let folder = Folder::new("headers");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cli/headers.py");
    let mut python = Command::new("python3");
    python.arg(script).arg(env!("CARGO_BIN_EXE_galopvm")).arg(&folder.0).args(["7", "30"]);
    let ran = python.output().expect("the tests need Python");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn futhark_is_another_name() {
    let folder = Folder::new("futhark");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_galopvm"), folder.0.join("futhark")).expect("a link");
    let ran = start(&folder, "futhark", &["--version"], "");
    ran.succeeds();
    assert!(ran.text().starts_with("Futhark 0."), "{}", ran.text());
    start(&folder, "futhark", &[], "").fails(1, &["multicore"]);
    start(&folder, "futhark", &["nothing"], "").fails(1, &["nothing"]);
    let help = start(&folder, "futhark", &["--help"], "");
    for command in ["  c ", "  multicore ", "  vm "] {
        assert!(help.text().contains(command), "{}", help.text());
    }
    folder.write("sum.fut", SUM).write("wrong.fut", "entry main (x: i32) = x + true");
    start(&folder, "futhark", &["check", "sum.fut"], "").prints("");
    start(&folder, "futhark", &["check", "wrong.fut"], "").fails(2, &["wrong.fut"]);
    start(&folder, "futhark", &["dataset", "-g", "[2]i8"], "").succeeds();
    start(&folder, "futhark", &["run", "sum.fut"], "[1]").prints("1i32\n");
    let typed = "let a = 1 + 2\nlet b =\n  a * 2\na + b\n";
    start(&folder, "futhark", &["repl"], typed)
        .prints("[0]> [1]>    | [2]> 9i32\n[3]> Leaving 'futhark repl'.\n");
    start(&folder, "futhark", &["multicore", "sum.fut", "-o", "m", "--server"], "").prints("");
    start(&folder, "m", &[], "entry_points").prints("%%% OK\nmain\ntwice\n%%% OK\n");
}
