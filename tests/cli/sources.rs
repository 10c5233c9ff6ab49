//! Source files: where they lie, what they may import, how much compiling them may take.

use super::Folder;
use std::fs;

const PROGRAM: &str = "import \"lib/area\"\nimport \"../shared\"\n\
    entry main (x: i64): i64 = area x + shared x\n\
    entry third (xs: []i32): i32 = pick xs 3\n\
    entry traced (x: i64): i64 = #[trace] (x + 1)\n";

/// A program with files that it imports, in a folder of this name.
fn program(folder: &Folder, name: &str) -> String {
    fs::create_dir_all(folder.0.join(name).join("lib")).expect("a folder");
    folder.write(&format!("{name}/p.fut"), PROGRAM);
    folder.write(
        &format!("{name}/lib/area.fut"),
        "def area (x: i64): i64 = x * x\ndef pick (xs: []i32) (i: i64): i32 = xs[i]\n",
    );
    folder.write("shared.fut", "def shared (x: i64): i64 = 1000 / x\n");
    format!("{name}/p.fut")
}

#[test]
fn bytecode_does_not_say_where_it_was_compiled() {
    let folder = Folder::new("places");
    let (first, second) = (program(&folder, "first"), program(&folder, "second-place"));
    let absolute = folder.0.join(&first).display().to_string();
    let mut made = Vec::new();
    for (k, file) in [first, second, absolute, "./second-place/../first/p.fut".into()].iter().enumerate() {
        folder.run(&format!("compile {file} -o {k}.gbc"), "").succeeds();
        made.push(folder.read(&format!("{k}.gbc")));
    }
    assert!(made.iter().all(|bytes| *bytes == made[0]), "the same program gives different files");
    let text = String::from_utf8_lossy(&made[0]).into_owned();
    assert!(!text.contains(&folder.0.display().to_string()) && !text.contains("first"));
    // From the folder itself it is the same again.
    let inside = Folder(folder.0.join("first"));
    inside.run("compile p.fut -o own.gbc", "").succeeds();
    assert_eq!(inside.read("own.gbc"), made[0]);
    // What happens when it runs still says where.
    folder.run("run 0.gbc", "10").prints("200i64\n");
    folder.run("run 0.gbc", "0").fails(1, &["division by zero", "#0  ../shared.fut:1:", "p.fut:3:"]);
    folder.run("run 0.gbc -e third", "[1, 2]").fails(1, &["#0  lib/area.fut:2:", "p.fut:4:"]);
    folder.run("run first/p.fut", "0").fails(1, &["#0  shared.fut:1:", "first/p.fut:3:"]);
    let traced = folder.run("run 0.gbc -e traced", "1");
    assert!(traced.err.contains("p.fut:5:") && !traced.err.contains("first"), "{}", traced.err);
}

#[test]
fn imports_can_be_confined() {
    let folder = Folder::new("confined");
    let outside = program(&folder, "dir");
    folder.run(&format!("run {outside} --confine-imports"), "10").fails(
        2,
        &[
            "Import \"../shared\" lies outside of the folder",
            "dir/p.fut:2:1",
            "only files in dir may be imported",
        ],
    );
    folder.run(&format!("run {outside}"), "10").prints("200i64\n");
    for command in ["check", "compile", "dump --stage core"] {
        folder.run(&format!("{command} {outside} --confine-imports"), "").fails(2, &["lies outside"]);
    }
    folder.write("dir/own.fut", "import \"lib/area\"\nimport \"lib/../lib/area\"\ndef main = area 3\n");
    folder.run("run dir/own.fut --confine-imports", "").prints("9i64\n");
    let absolute = folder.0.join("dir/own.fut").display().to_string();
    folder.run(&format!("run {absolute} --confine-imports"), "").prints("9i64\n");
    // Nothing is told of files elsewhere, not even whether there are any.
    folder.write("dir/far.fut", "import \"/etc/hostname\"\ndef main = 1\n");
    folder.run("run dir/far.fut --confine-imports", "").fails(2, &["lies outside"]);
    folder.write("dir/gone.fut", "import \"../gone\"\ndef main = 1\n");
    folder.run("run dir/gone.fut --confine-imports", "").fails(2, &["lies outside"]);
    folder.write("dir/missing.fut", "import \"lib/gone\"\ndef main = 1\n");
    folder.run("run dir/missing.fut --confine-imports", "").fails(2, &["Could not find import"]);
    // A file in the folder that imports what lies in the program's folder, and one that leaves it.
    folder.write("dir/lib/up.fut", "import \"../lib/area\"\ndef up = area 4\n");
    folder.write("dir/down.fut", "import \"lib/up\"\ndef main = up\n");
    folder.run("run dir/down.fut --confine-imports", "").prints("16i64\n");
    folder.write("dir/lib/up.fut", "import \"../../shared\"\ndef up = shared 4\n");
    folder.run("run dir/down.fut --confine-imports", "").fails(2, &["lies outside", "dir/lib/up.fut:1:1"]);
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out() {
    let folder = Folder::new("links");
    program(&folder, "dir");
    std::os::unix::fs::symlink("../shared.fut", folder.0.join("dir/inside.fut")).expect("a link");
    std::os::unix::fs::symlink("..", folder.0.join("dir/up")).expect("a link");
    std::os::unix::fs::symlink("lib", folder.0.join("dir/again")).expect("a link");
    for (import, value, allowed) in
        [("inside", "shared 10", false), ("up/shared", "shared 10", false), ("again/area", "area 10", true)]
    {
        folder.write("dir/linked.fut", format!("import \"{import}\"\ndef main = {value}\n"));
        folder.run("run dir/linked.fut", "").prints("100i64\n");
        let ran = folder.run("run dir/linked.fut --confine-imports", "");
        match allowed {
            true => ran.prints("100i64\n"),
            false => ran.fails(2, &["lies outside"]),
        };
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    let folder = Folder::new("mark");
    folder.write("lib.fut", "\u{feff}def one = 1i32\n");
    folder.write("p.fut", "\u{feff}import \"lib\"\ndef main (x: i32): i32 = x + one\n");
    folder.run("run p.fut", "1").prints("2i32\n");
    folder.run("run p.fut", "\u{feff}1").prints("2i32\n");
    folder.run("run p.fut", "\u{feff}true").fails(2, &["<stdin>:1:1"]);
    folder.run("run -", "\u{feff}def main = 1i32").prints("1i32\n");
    folder.write("wrong.fut", "\u{feff}def main = y\n");
    folder.run("check wrong.fut", "").fails(2, &["Unknown name \"y\"", "wrong.fut:1:12"]);
}

/// A program whose modules double with every line when they are applied.
fn doubling() -> String {
    let mut text = String::from(
        "module type t = { val f: i64 -> i64 }\nmodule f0 (a: t) = { def f (x: i64) = a.f x + 1 }\n",
    );
    for k in 1..=60 {
        let inner = format!("f{}", k - 1);
        text += &format!(
            "module f{k} (a: t) = {{ module x = {inner} a module y = {inner} a def f (v: i64) = x.f (y.f v) }}\n"
        );
    }
    text + "module m = f60 { def f (x: i64) = x }\ndef main (x: i64): i64 = m.f x\n"
}

#[test]
fn compiling_has_its_limits() {
    let folder = Folder::new("compiling");
    folder.write("doubling.fut", doubling());
    let start = std::time::Instant::now();
    folder
        .run("run doubling.fut --timeout 300ms", "1")
        .fails(1, &["Error: Compiling the program took longer than its time of 300ms."]);
    for command in ["compile doubling.fut", "dis doubling.fut", "dump doubling.fut --stage core"] {
        folder.run(&format!("{command} --timeout 300ms"), "").fails(1, &["longer than its time of 300ms"]);
    }
    assert!(start.elapsed().as_secs() < 20);
    let numbers = vec!["1i64"; 2_000_000].join(", ");
    folder.write("long.fut", format!("def main: []i64 = [{numbers}]\n"));
    folder
        .run("run long.fut --max-memory 64M", "")
        .fails(1, &["Error: Out of memory", "the limit is 67108864 bytes"]);
    folder.run("check long.fut --max-memory 64M", "").fails(1, &["Error: Out of memory"]);
}
