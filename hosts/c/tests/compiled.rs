//! Programs in C, compiled against the header and linked with both libraries, as C and as C++, and run.

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

/// Compiles a program and runs it; gives what it printed.
fn run(source: &str, compiler: &[&str], is_static: bool, arguments: &[&str]) -> String {
    run_with(source, &[], compiler, is_static, arguments)
}

/// The same with further sources, whose folders have headers.
fn run_with(
    source: &str,
    others: &[&Path],
    compiler: &[&str],
    is_static: bool,
    arguments: &[&str],
) -> String {
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
    let ran = Command::new(&target).args(arguments).env("LD_LIBRARY_PATH", library_path(&libraries)).output();
    let ran = ran.unwrap_or_else(|e| panic!("{}: {e}", target.display()));
    let _ = std::fs::remove_file(&target);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(ran.status.success(), "{source} {kind}: {} {}", text(&ran.stdout), text(&ran.stderr));
    text(&ran.stdout)
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

#[test]
fn programs_in_c_run_with_both_libraries() {
    if !has(C[0]) {
        return;
    }
    let options = here("../../examples/hosts/c/options.fut");
    for is_static in [false, true] {
        assert_eq!(run("../../examples/hosts/c/scale.c", C, is_static, &[]), "10 25 40\n");
        let priced =
            run("../../examples/hosts/c/options.c", C, is_static, &[options.to_str().expect("a path")]);
        assert!(priced.starts_with("10000 options") && priced.contains("below 1e-9"), "{priced}");
        for backend in ["auto", "interp", "x86"] {
            let told = run("tests/boundary.c", C, is_static, &[backend]);
            assert!(told.contains("all as the header says"), "{told}");
        }
    }
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
    assert_eq!(run_with(page.to_str().expect("a path"), &[&scale], C, false, &[]), "10 25\n");
    let _ = std::fs::remove_file(page);
    let library = functions_of(&here("tests/library.fut"), "library");
    for is_static in [false, true] {
        assert_eq!(run_with("tests/typed.c", &[&library], C, is_static, &[]), "all as typed\n");
    }
    if has(CPP[0]) {
        assert_eq!(run_with("tests/typed.c", &[&library], CPP, false, &[]), "all as typed\n");
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
    if !has(CPP[0]) {
        return;
    }
    let options = here("../../examples/hosts/c/options.fut");
    assert_eq!(run("../../examples/hosts/c/scale.c", CPP, false, &[]), "10 25 40\n");
    run("../../examples/hosts/c/options.c", CPP, false, &[options.to_str().expect("a path")]);
    run("tests/boundary.c", CPP, false, &[]);
}
