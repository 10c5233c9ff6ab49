//! Values in every format: inputs, `dataset`, `datacmp`.

use super::{DOT, Folder, Ran, command};
use std::fs;

#[test]
fn inputs_come_in_every_format_and_mixed() {
    let folder = Folder::new("formats");
    folder.write("dot.fut", DOT).write("values.txt", "[1i32, 2i32] [3i32, 4i32]");
    let packed = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x8b\x36\xd4\x51\x30\x8a\x55\x88\x36\xd6\x51\x30\x89\xe5\x02\x00\xff\x10\x30\x25\x0e\x00\x00\x00";
    folder.write("packed.gz", packed);
    folder.run("run dot.fut -i packed.gz", "").prints("11i32\n");
    folder.run("run dot.fut", packed).prints("11i32\n");
    let npy = folder.run("dataset --npy", "[1i32, 2i32]").out;
    assert!(npy.starts_with(b"\x93NUMPY"));
    let binary = folder.run("dataset -b", "[3i32, 4i32]").out;
    folder.run("run dot.fut", [&npy[..], b" -- and\n", &binary].concat()).prints("11i32\n");
    folder.run("run dot.fut", [b"[1, 2]", &binary[..]].concat()).prints("11i32\n");
    folder.write("turn.fut", "def main [n] [m] (a: [n][m]f64): [m][n]f64 = transpose a\n");
    let turned = folder.run("run turn.fut --npy", "[[1, 2, 3], [4, 5, 6]]").out;
    folder.run("dataset", &turned).prints("[[1.0f64, 4.0f64],\n[2.0f64, 5.0f64],\n[3.0f64, 6.0f64]]\n");
    folder.run("run dot.fut -b --npy", "").fails(2, &["cannot be used with"]);
    folder.run("run dot.fut", &npy[..20]).fails(2, &["<stdin>:1:1", "cut off"]);
    // Standard input that is a file is mapped; the values are the same.
    let many: Vec<u8> = folder.run("dataset -b -g [300000]i32 -g [300000]i32", "").out;
    folder.write("many.in", &many);
    let piped = folder.run("run dot.fut", &many);
    let from_file = fs::File::open(folder.0.join("many.in")).expect("the file is there");
    let child = command(&folder.0, &["run", "dot.fut"]).stdin(from_file).spawn().expect("galopvm starts");
    let mapped = Ran::new(&["run"], child.wait_with_output().expect("galopvm ends"));
    assert_eq!((mapped.code, mapped.text()), (Some(0), piped.text()));
    assert_eq!(folder.run("run dot.fut -i many.in", "").text(), piped.text());
}

#[test]
fn each_argument_may_have_a_file_and_the_only_entry_point_needs_no_name() {
    let folder = Folder::new("files");
    folder.write("dot.fut", DOT).write("x.in", "[1, 2]").write("y.in", "[3, 4]\n").write("z.in", "[3, 4] 5");
    folder.run("run dot.fut -i x.in -i y.in", "").prints("11i32\n");
    folder.run("run dot.fut -i x.in", "").fails(2, &["x.in", "takes 2 values, but the input has 1 value"]);
    folder.run("run dot.fut -i x.in -i z.in", "").fails(2, &["no value is expected", "z.in:1:8"]);
    folder.write("only.fut", "entry twice (x: u8) = x * 2\n");
    folder.run("run only.fut", "100").prints("200u8\n");
    folder.run("run dot.fut", "[1, 2] [3,\n\n").fails(2, &["input ends", "<stdin>:1:11"]);
    // Where a program fails, its line is shown.
    folder.write("at.fut", "def main (xs: []i32) (i: i64) =\n  xs[i]\n");
    folder.run("run at.fut", "[1] 7").fails(1, &["Index [7] out of bounds", "2 |   xs[i]\n  |   ^^^^^"]);
}

#[test]
fn dataset_makes_and_converts_values() {
    let folder = Folder::new("dataset");
    // As `futhark dataset` prints them.
    folder
        .run("dataset -g [2]i32 --i32-bounds=-5:9 -g i32 -s 1 --text -g [3]f32", "")
        .prints("[-223823371i32, -1815469669i32]\n5i32\n[2.3607075e-2f32, 0.5883666f32, 0.64184654f32]\n");
    folder.run("dataset -s 42 -g [3]i32", "").prints("[1144840752i32, -1913994601i32, 477126751i32]\n");
    folder.run("dataset -t -g [3][0]f32 --text -g true", "").prints("[3][0]f32\ntrue\n");
    folder.run("dataset", "1 2.5 \"ab\" 1e-7").prints("1i32\n2.5f64\n[97u8, 98u8]\n1.0e-7f64\n");
    folder.run("dataset -t", "1 [[1.0,2.0]] true").prints("i32\n[1][2]f64\nbool\n");
    let binary = folder.run("dataset --binary -g [1000]f64 -g u8", "").out;
    assert_eq!(binary.len(), 15 + 8000 + 8);
    let text = folder.run("dataset", &binary).out;
    assert_eq!(folder.run("dataset -b", &text).out, binary);
    for (options, message) in [
        ("-g [2]i32x", "Unknown type i32x"),
        ("-g [n]i32", "Array has non-constant dimension declaration."),
        ("-g (i32,i32)", "Cannot handle tuples yet."),
        ("--i32-bounds=a:3 -g i32", "Invalid bounds for i32: a:3"),
    ] {
        folder.run(&format!("dataset {options}"), "").fails(1, &[message]);
    }
    folder.run("dataset", "1 [1").fails(1, &["Malformed data on standard input.", "<stdin>:1:5"]);
    folder.run("dataset extra", "").fails(2, &["unexpected argument"]);
    folder.run("dataset -s x", "").fails(2, &["invalid value 'x'"]);
}

#[test]
fn datacmp_says_what_differs() {
    let folder = Folder::new("datacmp");
    folder
        .write("a", "[1.0, 2.0] 3")
        .write("b", "[1.001, 2.0] 3")
        .write("c", "[1.0, 2.5] 4")
        .write("d", "[1");
    folder.run("datacmp a b", "").prints("");
    let ran = folder.run("datacmp a c", "");
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.text(), "Value #0 index [1]: expected 2.5, got 2.0\nValue #1: expected 4, got 3\n");
    assert_eq!(ran.err, "");
    folder.run("datacmp - b", "[1.0, 2.0] 3").prints("");
    folder.run("datacmp a d", "").fails(1, &["Error reading values from d", "d:1:3"]);
    folder.run("datacmp missing a", "").fails(1, &["missing: no such file"]);
    folder.run("datacmp a", "").fails(2, &["Usage"]);
    folder.write("e", folder.run("dataset -b", "[1.0, 2.0] 3").out);
    folder.run("datacmp e a", "").prints("");
}

#[test]
fn kernels_are_shown_for_inputs_of_any_size() {
    let folder = Folder::new("large-dump");
    folder.write(
        "product.fut",
        "def main [n][m][p] (a: [n][m]f32) (b: [m][p]f32): [n][p]f32 =\n\
         map (\\row -> map (\\column -> f32.sum (map2 (*) row column)) (transpose b)) a\n",
    );
    // Large enough to be mapped, and for minutes of tree walking.
    let matrix = folder.run("dataset -b -g [640][640]f32 -g [640][640]f32", "");
    matrix.succeeds();
    folder.write("large.in", &matrix.out);
    let start = std::time::Instant::now();
    for stage in ["plan,asm", "spirv"] {
        let ran = folder.run(&format!("dump product.fut --stage {stage} -i large.in"), "");
        ran.succeeds().shows(&["product.fut:2:"]);
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
