//! Programs in C, compiled against the header and linked with both libraries, as C and as C++, and run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Where the libraries of this package were built: beside the tests.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its file");
    test.parent().expect("tests lie in a folder").to_path_buf()
}

fn has(compiler: &str) -> bool {
    let is_there = Command::new(compiler).arg("--version").output().is_ok_and(|out| out.status.success());
    if !is_there {
        println!("skipped: there is no {compiler}");
    }
    is_there
}

/// The galopvm that was built beside the tests; it is built if it was not.
fn galopvm() -> PathBuf {
    let folder = libraries();
    let path = folder.parent().expect("tests lie in a folder of the profile").join("galopvm");
    if !path.exists() {
        let built = Command::new(env!("CARGO")).args(["build", "-q", "-p", "galopvm-cli"]).status();
        assert!(built.is_ok_and(|status| status.success()), "galopvm is built");
    }
    path
}

/// A program that was compiled; its file goes with it.
struct Compiled {
    source: String,
    path: PathBuf,
}

impl Drop for Compiled {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Compiled {
    /// What it prints.
    fn run(&self, arguments: &[&str]) -> String {
        let found = library_path(&libraries());
        let ran = Command::new(&self.path).args(arguments).env("LD_LIBRARY_PATH", found).output();
        let ran = ran.unwrap_or_else(|e| panic!("{}: {e}", self.path.display()));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(ran.status.success(), "{}: {} {}", self.source, text(&ran.stdout), text(&ran.stderr));
        text(&ran.stdout)
    }
}

/// Compiles a program and runs it; gives what it printed.
fn run(source: &str, compiler: &[&str], is_static: bool, arguments: &[&str]) -> String {
    compile(source, &[], compiler, is_static).run(arguments)
}

/// Compiles a program with further sources, whose folders have headers.
fn compile(source: &str, others: &[&Path], compiler: &[&str], is_static: bool) -> Compiled {
    let libraries = libraries();
    let (library, kind) =
        if is_static { ("libgalopvm_c.a", "static") } else { ("libgalopvm_c.so", "shared") };
    let stem = Path::new(source).file_stem().and_then(|stem| stem.to_str()).expect("a name");
    let target = libraries.join(format!("{stem}-{}-{kind}-{}", compiler[0], std::process::id()));
    let mut command = Command::new(compiler[0]);
    command.args(&compiler[1..]).args(["-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-I"]);
    command.arg(here("include")).arg("-o").arg(&target).arg(here(source)).args(others);
    others.iter().filter_map(|other| other.parent()).for_each(|folder| _ = command.arg("-I").arg(folder));
    command.args(["-x", "none"]);
    command.arg(libraries.join(library)).arg(format!("-Wl,-rpath,{}", libraries.display()));
    command.args(["-lpthread", "-ldl", "-lm"]);
    let compiled = command.output().unwrap_or_else(|e| panic!("{}: {e}", compiler[0]));
    assert!(compiled.status.success(), "{source}: {}", String::from_utf8_lossy(&compiled.stderr));
    Compiled { source: format!("{source} {kind}"), path: target }
}

/// A folder in which the shared library has the name that programs look for.
fn library_path(libraries: &Path) -> PathBuf {
    let folder = libraries.join("galopvm-c");
    std::fs::create_dir_all(&folder).expect("a folder");
    // It may be there from another test, or from another run.
    let _ = std::os::unix::fs::symlink(libraries.join("libgalopvm_c.so"), folder.join("libgalopvm.so.0"));
    folder
}

/// A program in C of the page for users, as a file.
fn of_the_page(number: usize) -> PathBuf {
    let page = std::fs::read_to_string(here("../../docs/embedding.md")).expect("the page");
    let program =
        page.split("```c\n").nth(number).and_then(|rest| rest.split("```").next()).expect("a program");
    let path = std::env::temp_dir().join(format!("galopvm-page-{number}-{}.c", std::process::id()));
    std::fs::write(&path, program).expect("a file");
    path
}

const C: &[&str] = &["cc", "-std=c99", "-D_POSIX_C_SOURCE=200809L"];
const CPP: &[&str] = &["g++", "-x", "c++"];
const CLANG: &[&str] = &["clang", "-std=c99", "-D_POSIX_C_SOURCE=200809L"];
const CLANG_CPP: &[&str] = &["clang++", "-x", "c++"];

/// What `values.c` prints.
const VALUES: &str = "\
0 -1 -2 -3, 2 3 4 5, 0x4000 1.5 1.25, false
rank 2, shape 3 2, strides 1 3, a view
1 4 .. 3 6
the row had 3, the array has 9
lent yes: 6 4 2 from 3 2 1
released 20 bytes
released 12 bytes
given: 12
3 records of 2 parts
number 1 is 5 away, at height 4
";

/// The end of what `limits.c` prints.
const LIMITS: &str = "
spin: n i64 -> i64
fill: n i64 -> [n]f64
steps: -> i64
wraps: -> u8
a thousand numbers: done
a million numbers: too much memory
ten million steps: too many operations
without an end: too much time
without an end: cancelled
after it: done
a call in time: done
the next one: done
25 steps; most memory below 1 MB: yes, now 0 bytes
";

/// A function that no example shows is one that nobody finds.
#[test]
fn examples_show_every_function_of_the_header() {
    let text = |path: &str| std::fs::read_to_string(here(path)).expect("a file");
    let names = |text: &str| -> BTreeSet<String> {
        let called = text.match_indices("galopvm_").filter_map(|(at, _)| text[at..].split_once('('));
        let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        called.map(|(name, _)| name).filter(is_name).map(str::to_string).collect()
    };
    let shown: BTreeSet<String> = ["scale", "options", "values", "limits"]
        .iter()
        .flat_map(|name| names(&text(&format!("../../examples/hosts/c/{name}.c"))))
        .collect();
    let missing: Vec<_> = names(&text("include/galopvm.h")).difference(&shown).cloned().collect();
    assert_eq!(missing, Vec::<String>::new());
    assert!(shown.len() > 70, "{shown:?}");
}

#[test]
fn programs_in_c_run_with_both_libraries() {
    programs_run_with_both_libraries(C);
}

#[test]
fn programs_compiled_by_clang_run_with_both_libraries() {
    programs_run_with_both_libraries(CLANG);
}

fn programs_run_with_both_libraries(compiler: &[&str]) {
    if !has(compiler[0]) {
        return;
    }
    let options = here("../../examples/hosts/c/options.fut");
    for is_static in [false, true] {
        assert_eq!(run("../../examples/hosts/c/scale.c", compiler, is_static, &[]), "10 25 40\n");
        let options = options.to_str().expect("a path");
        let priced = run("../../examples/hosts/c/options.c", compiler, is_static, &[options]);
        assert!(priced.starts_with("10000 options") && priced.contains("below 1e-9"), "{priced}");
        let values = run("../../examples/hosts/c/values.c", compiler, is_static, &[]);
        assert_eq!(values, VALUES);
        let limits = run("../../examples/hosts/c/limits.c", compiler, is_static, &[]);
        assert!(limits.contains("wraps to 44u8") && limits.ends_with(LIMITS), "{limits}");
        let boundary = compile("tests/boundary.c", &[], compiler, is_static);
        for backend in ["auto", "interp", "x86"] {
            let told = boundary.run(&[backend]);
            assert!(told.contains("all as the header says"), "{told}");
        }
    }
    assert_eq!(run("measure.c", compiler, true, &["100"]).lines().count(), 5);
}

#[test]
fn hosts_keep_their_handlers_and_may_fork() {
    if !has(C[0]) {
        return;
    }
    for is_static in [false, true] {
        let language = &["cc", "-std=c99", "-D_XOPEN_SOURCE=700"];
        assert_eq!(run("tests/process.c", language, is_static, &[]), "handlers and forks work\n");
    }
}

#[test]
fn typed_functions_of_a_program_run() {
    if !has(C[0]) {
        return;
    }
    let folder = libraries().join(format!("galopvm-typed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let functions_of = |program: &Path, name: &str| {
        let made =
            Command::new(galopvm()).args(["header", "-o"]).arg(folder.join(name)).arg(program).output();
        let made = made.expect("galopvm runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        folder.join(name).with_extension("c")
    };
    // The one of the page for users.
    let program = folder.join("scale.fut");
    std::fs::write(&program, "entry scale [n] (a: f64) (xs: [n]f64): [n]f64 = map (* a) xs").expect("a file");
    let (scale, page) = (functions_of(&program, "scale"), of_the_page(2));
    assert_eq!(compile(page.to_str().expect("a path"), &[&scale], C, false).run(&[]), "10 25\n");
    let _ = std::fs::remove_file(page);
    let library = functions_of(&here("tests/library.fut"), "library");
    for is_static in [false, true] {
        assert_eq!(compile("tests/typed.c", &[&library], C, is_static).run(&[]), "all as typed\n");
    }
    for other in [CPP, CLANG, CLANG_CPP].into_iter().filter(|compiler| has(compiler[0])) {
        assert_eq!(compile("tests/typed.c", &[&library], other, false).run(&[]), "all as typed\n");
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn the_program_of_the_page_runs() {
    if !has(C[0]) {
        return;
    }
    let path = of_the_page(1);
    assert_eq!(run(path.to_str().expect("a path"), C, false, &[]), "40\n");
    let _ = std::fs::remove_file(path);
}

#[test]
fn the_header_and_the_programs_are_c_plus_plus_as_well() {
    let options = here("../../examples/hosts/c/options.fut");
    for compiler in [CPP, CLANG_CPP].into_iter().filter(|compiler| has(compiler[0])) {
        assert_eq!(run("../../examples/hosts/c/scale.c", compiler, false, &[]), "10 25 40\n");
        run("../../examples/hosts/c/options.c", compiler, false, &[options.to_str().expect("a path")]);
        assert_eq!(run("../../examples/hosts/c/values.c", compiler, false, &[]), VALUES);
        run("../../examples/hosts/c/limits.c", compiler, false, &[]);
        run("tests/boundary.c", compiler, false, &[]);
    }
}
