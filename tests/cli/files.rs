//! Tables, images and bytes in; tables, images and the other formats out; records and sums as text in both directions.

use super::process::{Folder, in_order};
use galopvm_testkit::Random;
use std::fs;

const MEANS: &str = "\
entry main [n] (height: [n]f64) (age: [n]i32): (f64, i64) = (f64.sum height / f64.i64 n, i64.sum (map i64.i32 age))
entry rows [n][m] (a: [n][m]f32): [m]f32 = map f32.sum (transpose a)
entry flags [n] (xs: [n]bool) = map (\\x -> if x then 1i32 else 0) xs
entry people [n] (p: [n]{height: f64, age: u8}) = map (\\p -> {age = p.age, half = p.height / 2}) p
";

const SHAPES: &str = "\
type shape = #square f32 | #rectangle {w: f32, h: f32} | #many ([3]i32) i64 | #nothing
def area (s: shape): f32 =
  match s
  case #square a -> a * a
  case #rectangle r -> r.w * r.h
  case #many xs k -> f32.i64 (i64.i32 (i32.sum xs) * k)
  case #nothing -> 0
entry main (p: {x: f32, y: i32}) (s: shape) = (p with x = p.x + area s, s, (p.y, true))
entry areas [n] (s: [n]shape) = map area s
entry turn [n][m] (a: [n][m](i32, {b: bool})) = map (map (\\(i, r) -> {i, c = !r.b})) a
entry nested (p: {q: (i32, [2]f32), r: {s: [1](u8, bool)}}) = p
entry echo (s: []shape) = s
";

const IMAGES: &str = "\
entry colours [h][w] (a: [h][w]u32): [h][w]u32 = map (map (^ 0xffffff)) a
entry same [h][w] (a: [h][w]u32): [h][w]u32 = a
entry parts [h][w] (a: [h][w][3]u8): [h][w][3]u8 = map reverse a
entry greys [h][w] (a: [h][w]u8): [h][w]u8 = map reverse a
entry wide [h][w] (a: [h][w]u16): [h][w]u16 = a
entry fractions [h][w] (a: [h][w]f32): [h][w]f32 = map (map (1 -)) a
entry whole [h][w] (a: [h][w]i64): i64 = h * w
entry flat [n] (a: [n]u8): (i64, u8) = (n, reduce (^) 0 a)
";

#[test]
fn columns_become_vectors_by_name_or_in_order() {
    let folder = Folder::new("columns");
    folder.write("means.fut", MEANS);
    folder.write("named.csv", "age;name;\"height\"\r\n40;Ann;1,5\r\n20;\"Bo; b\";2,5\r\n");
    folder.run("run means.fut -i named.csv", "").prints("2f64\n60i64\n");
    folder.write("ordered.csv", "\u{feff}1.5,40\n2.5,20");
    folder.run("run means.fut -i ordered.csv", "").prints("2f64\n60i64\n");
    folder.write("one.csv", "height\n1\n3\n").write("two.tsv", "1\n2\n");
    folder.run("run means.fut -i one.csv -i two.tsv", "").prints("2f64\n3i64\n");
    folder.run("run means.fut --csv", "1\t2\n").prints("1f64\n2i64\n");
    folder.write("a.data", "1 , 2\n\n3,4\n").write("b.txt", "[1, 2]");
    folder.run("run means.fut --csv -i a.data", "").prints("2f64\n6i64\n");
    folder.run("run means.fut -i one.csv -i b.txt", "").prints("2f64\n3i64\n");
    // Of several entry points one is to be chosen.
    folder.write("two.fut", "entry foo (x: i32) = x\nentry bar (x: i32) = x + 1");
    folder.run("run two.fut", "1").fails(2, &["`foo`, `bar`, and none is `main`", "choose one: -e foo"]);
    folder.run("run two.fut -e bar", "1").prints("2i32\n");
    folder
        .run("run means.fut -e rows -i a.data", "")
        .fails(2, &["expected a value of type [][]f32", "a.data:1:1"]);
    folder.run("run means.fut -e rows --csv -i a.data", "").prints("[4f32, 6f32]\n");
    folder.run("run means.fut -e flags --csv", "x\ntrue\nFalse\n1\n0\n").prints("[1i32, 0i32, 1i32, 0i32]\n");
    folder.run("run means.fut -e people -i named.csv", "").prints("[40u8, 20u8]\n[0.75f64, 1.25f64]\n");
    folder.run("run means.fut -e rows --csv", "a,b\n").prints("[0f32, 0f32]\n");
    // Packed tables are tables.
    let packed = b"\x1f\x8b\x08\0\0\0\0\0\x02\x033\xd41\xe22\xd61\xe1\x02\0G\x93l\xaf\x08\0\0\0";
    let ran = folder.write("p.csv.gz", packed).run("run means.fut -i p.csv.gz", "");
    ran.prints("2f64\n6i64\n");
    folder
        .run("dataset -i named.csv", "")
        .fails(1, &["`Ann` is no number", "column 2 (`name`)", "named.csv:2:4"]);
    folder.run("dataset -i ordered.csv -t", "").prints("[2]f64\n[2]i64\n");
    folder.run("dataset --csv", "1\ntrue\n").fails(1, &["Malformed data", "`true` is no i64, in column 1"]);
}

#[test]
fn what_is_wrong_with_a_table_is_said_with_its_place() {
    let folder = Folder::new("bad-columns");
    folder.write("means.fut", MEANS);
    let usage = "`main` takes (height: [n]f64) (age: [n]i32)";
    for (table, parts) in [
        ("", &["<stdin>: this table has no rows", usage][..]),
        (
            "1,2\n1,x\n",
            &["`x` is not a number", "in column 2", "<stdin>:2:3", "1,x", "^", "help: text is taken only"],
        ),
        (
            "height,age\n1,\n",
            &["this cell is empty", "column 2 (`age`)", "<stdin>:2:3", "help: write a value"],
        ),
        ("1,2.5\n", &["`2.5` is not an integer", "<stdin>:1:3", "help: let the program take f64"]),
        ("1,3000000000\n", &["`3000000000` does not fit i32, which goes from -2147483648", "<stdin>:1:3"]),
        ("1e999,2\n", &["`1e999` is too large for f64", "<stdin>:1:1"]),
        (
            "1,2\n3\n",
            &["this row has 1 cell, the first one has 2", "<stdin>:2:1", "help: each row needs a cell"],
        ),
        ("1,2\n3,4,5\n", &["this row has more cells than the first one, which has 2", "<stdin>:2:5"]),
        (
            "1,\"2\n",
            &["this quote has no end", "<stdin>:1:3", "help: a quote inside quotes is written twice"],
        ),
        ("1,\"2\"3\n", &["something follows the end of this quote", "<stdin>:1:6"]),
        (
            "1,2,3\n",
            &[
                "<stdin>: this table has 3 columns, but 2 vectors are taken",
                "help: a first line with the names",
            ],
        ),
        (
            "age,x\n1,2\n",
            &[
                "there is no column for `height` of type []f64, but one for `age`",
                "help: the columns are age, x",
            ],
        ),
        ("1,2\n\"1,000\",2\n", &["`1,000` is not a number", "help: write numbers with a point"]),
        ("1\n2\n", &["`main` takes 2 values, but the input has 1 value", usage]),
        ("\u{0}", &["<stdin>: this is no table in UTF-8", "help: save the table as UTF-8"]),
    ] {
        folder.run("run means.fut --csv", table).fails(2, parts);
    }
    folder
        .write("n.fut", "def main (n: i64) (xs: []f32) = n\n")
        .write("c.fut", "def main (a: [][][]u8) = 1u8\n");
    folder
        .run("run n.fut --csv", "1\n")
        .fails(2, &["a table cannot be `n` of type i64", "help: a column is a vector"]);
    folder.run("run c.fut --csv", "1\n").fails(2, &["a table cannot be `a` of type [][][]u8"]);
    folder.write("a.csv", "1,2\n");
    folder.run("run means.fut -i a.csv -i a.csv", "").fails(2, &["a.csv: no value is expected"]);
    let said = ["--raw stands before the --input", "Usage: galopvm run"];
    folder.run("run means.fut -i a.csv --raw", "").fails(2, &said);
    folder
        .run("run means.fut -i a.jpg", "")
        .fails(2, &["a.jpg: images are read from PNG, PPM and PGM files"]);
    folder
        .run("run means.fut -o a.bmp", "")
        .fails(2, &["a.bmp: images are written as PNG, PPM and PGM files"]);
    folder.run("run means.fut --raw --csv -i a.csv", "").fails(2, &["cannot be used with --raw"]);
    // Cells of any length, and lines of any number.
    let ran = folder.run("run means.fut --csv", "1,".to_string() + &"x".repeat(100_000) + "\n1,2\n1,\n");
    assert!(ran.fails(2, &["this cell is empty", "(`xxx", "..`)", "<stdin>:3:3"]).err.len() < 1000);
    let ran = folder.run("run means.fut --csv", "1,2\n1,".to_string() + &"9".repeat(100_000));
    assert!(ran.fails(2, &["<stdin>:2:3", "`999", "..` does not fit i32"]).err.len() < 1000);
    let long = "1,2\n".repeat(1_100_000) + "x,1\n";
    folder.run("run means.fut --csv", long).fails(2, &["<stdin>:1100001:1: `x` is not a number"]);
    // There is no room that is not needed, and no more than is allowed.
    let wide = "0,".repeat(50_000) + "0" + &"\n".repeat(100_000);
    folder.write("m.fut", "def main [n][m] (a: [n][m]f64) = n * m\n");
    folder.run("run m.fut --csv --max-memory 20M", wide).prints("50001i64\n");
    folder.write("long.csv", "0\n".repeat(4_000_000)).write("wide.csv", "0,".repeat(2_000_000) + "0");
    folder.run("run m.fut -i wide.csv --max-memory 20M", "").fails(2, &["Out of memory", "--max-memory"]);
    folder.run("run m.fut -i long.csv --max-memory 20M", "").fails(2, &["Out of memory", "--max-memory"]);
}

#[test]
fn bytes_are_taken_as_they_are() {
    let folder = Folder::new("raw");
    folder.write("images.fut", IMAGES).write("bytes", b"\x1f\x8b[1, 2]").write("nothing", "");
    folder.run("run images.fut -e flat --raw -i bytes", "").prints("8i64\n157u8\n");
    folder.run("run images.fut -e flat --raw", b"\x01\x02").prints("2i64\n3u8\n");
    folder.run("run images.fut -e flat --raw -i nothing", "").prints("0i64\n0u8\n");
    folder.run("run images.fut -e flat --raw -i missing", "").fails(2, &["missing: no such file"]);
    folder.run("run images.fut -e same --raw -i bytes", "").fails(
        2,
        &[
            "bytes: a file with --raw is of type []u8, but a value of type [][]u32 is expected",
            "`same` takes (a: [h][w]u32)",
        ],
    );
    // A large one is mapped, and takes no memory.
    folder.write("large", vec![3u8; 30_000_001]);
    folder.run("run images.fut -e flat --raw -i large --max-memory 20M", "").prints("30000001i64\n3u8\n");
}

#[test]
fn images_come_in_as_what_is_wanted_and_go_out_as_they_came() {
    let folder = Folder::new("images");
    folder.write("images.fut", IMAGES).write("a.ppm", b"P6 2 1 255\n\xff\x80\x00\x01\x02\x03");
    let run = |entry: &str, options: &str| folder.run(&format!("run images.fut -e {entry} {options}"), "");
    run("same", "-i a.ppm").prints("[[4294934528u32, 4278256131u32]]\n");
    run("parts", "-i a.ppm").prints("[[[1u8, 2u8, 3u8], [255u8, 128u8, 0u8]]]\n");
    run("greys", "-i a.ppm").prints("[[2u8, 151u8]]\n");
    folder.run("run images.fut -e fractions", "P2\n# text\n2 1 4\n0 3").prints("[[1f32, 0.25f32]]\n");
    folder.run("run images.fut -e wide", b"P5 1 1 65535\n\x12\x34").prints("[[4660u16]]\n");
    for (entry, name) in [
        ("same", "a.png"),
        ("parts", "b.png"),
        ("greys", "c.png"),
        ("wide", "d.png"),
        ("colours", "e.ppm"),
        ("greys", "f.pgm"),
        ("wide", "g.pgm"),
        ("fractions", "h.png"),
        ("parts", "i.PPM"),
    ] {
        let printed = run(entry, "-i a.ppm").text();
        run(entry, &format!("-i a.ppm -o {name}")).prints("");
        let same = run(entry, &format!("-i {name} -o j.ppm"));
        same.prints("");
        let again = run(entry, &format!("-i {name}")).text();
        let twice = run(entry, "-i j.ppm").text();
        // Fractions have steps, which are the same the second time; the others turn back.
        if entry != "fractions" {
            assert_ne!(
                (again.as_str(), entry == "same" || entry == "wide"),
                (printed.as_str(), false),
                "{name}"
            );
            assert_eq!(twice, printed, "{name}");
        }
    }
    // Transparency is kept, where it is said.
    folder.write("t.in", "[[0x01020304u32, 0xff000000u32]]").write("u.in", "[[0x00020304u32, 0u32]]");
    run("same", "-i t.in -o t.png").prints("");
    run("same", "-i t.png").prints("[[16909060u32, 4278190080u32]]\n");
    run("same", "-i u.in -o u.png").prints("");
    run("same", "-i u.png").prints("[[4278321924u32, 4278190080u32]]\n");
    folder.run("dataset -i t.png -t", "").prints("[1][2]u32\n");
    folder.run("run images.fut -e same", folder.read("t.png")).prints("[[16909060u32, 4278190080u32]]\n");
}

/// Three points of a palette with two bits each; the first colour is transparent.
const PALETTE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x01\x02\x03\0\0\0f\x8e\xfc'\0\0\0\x09PLTE\x01\x02\x03\x04\x05\x06\x07\x08\x09%\x85V\xf0\0\0\0\x01tRNS\x10]Q\xc8\x02\0\0\0\nIDATx\xdach\x01\0\0\x86\0\x85\x11}\xb7[\0\0\0\0IEND\xaeB`\x82";

/// Nine greys, from 0 to 8, interlaced.
const INTERLACED: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x03\x08\0\0\0\x01\x04D\xda\xf5\0\0\0\x17IDATx\xdac```b`\xe3``d`g`fa\x05\0\0\xeb\0%B\xc8\x81\"\0\0\0\0IEND\xaeB`\x82";

/// A grey of 16 bits, and half of it to be seen.
const WIDE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x10\x04\0\0\0\xe5\x8c\xd0A\0\0\0\rIDATx\xdac\x102ih\0\0\x02i\x01G\x91\x85\xc1_\0\0\0\0IEND\xaeB`\x82";

#[test]
fn images_of_all_kinds_are_read() {
    let folder = Folder::new("png");
    folder.write("images.fut", IMAGES);
    let run = |entry: &str, file: &[u8]| folder.run(&format!("run images.fut -e {entry}"), file);
    run("same", PALETTE).prints("[[4278650889u32, 268501507u32, 4278453510u32]]\n");
    run("wide", INTERLACED)
        .prints("[[0u16, 257u16, 514u16], [771u16, 1028u16, 1285u16], [1542u16, 1799u16, 2056u16]]\n");
    run("wide", WIDE).prints("[[4660u16]]\n");
    run("same", WIDE).prints("[[2148667922u32]]\n");
}

#[test]
fn what_is_wrong_with_an_image_is_said() {
    let folder = Folder::new("bad-images");
    folder
        .write("images.fut", IMAGES)
        .write("a.ppm", b"P6 2 1 255\n\xff\x80\x00\x01\x02\x03")
        .write("gif.png", "GIF89a");
    let run = |entry: &str, input: &[u8]| folder.run(&format!("run images.fut -e {entry}"), input);
    run("whole", b"P5 1 1 255\n0")
        .fails(2, &["an image cannot be a value of type [][]i64", "help: [h][w]u32 are colours"]);
    run("same", b"P5 9 9 255\n0").fails(2, &["this image is cut off: 9 x 9 points", "`same` takes"]);
    run("same", b"P6 99999 99999 255\n0").fails(2, &["this image is cut off"]);
    run("same", b"P3 1 1 255 1 2 256").fails(2, &["a sample is at most 255 here", "<stdin>:1:16"]);
    run("same", b"P4 1 1 0").fails(2, &["images of the kind P4 are not read", "help: PGM and PPM are read"]);
    let mut changed = PALETTE.to_vec();
    changed[90] ^= 1;
    run("same", &changed).fails(2, &["<stdin>: this image is damaged: ", "`same` takes"]);
    folder
        .run("run images.fut -e same -i gif.png", "")
        .fails(2, &["gif.png: this is no image of the format PNG"]);
    folder.run("run images.fut -e same -i a.ppm -o a.png", "").prints("");
    let whole = folder.read("a.png");
    for length in [8, 20, 33, 45, whole.len() - 20] {
        run("same", &whole[..length]).fails(2, &["<stdin>: this image is"]);
    }
    // It says that it is large, and is not.
    let mut huge = whole.clone();
    huge[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    run("same", &huge).fails(2, &["this image is"]);
    let mut packed = b"P5 4000 4000 255\n".to_vec();
    packed.resize(packed.len() + 16_000_000, 7);
    folder.write("large.pgm", &packed);
    folder.run("run images.fut -e greys -i large.pgm -o large.png", "").prints("");
    assert!(folder.read("large.png").len() < 200_000);
    let limited = "run images.fut -e greys -n --max-memory 10M -i";
    folder
        .run(&format!("{limited} large.png"), "")
        .fails(2, &["Out of memory", "help: --max-memory allows more"]);
    for (entry, file, parts) in [
        ("whole", "x.png", &["x.png: a result of type i64 is no image", "help: [h][w]u32"][..]),
        (
            "same",
            "x.pgm",
            &["x.pgm: a result of type [][]u32 has colours, and PGM has none", "help: use .ppm"],
        ),
        ("flat", "x.png", &["x.png: results of types i64, u8 are no image", "help: name a file for each"]),
        ("same", "none/x.png", &["none/x.png: there is no folder none", "help: make the folder first"]),
        ("same", ".", &[".: this is a directory"]),
        ("parts", "x.csv", &["x.csv: a result of type [][][]u8 is no table", "help: vectors are columns"]),
        ("flat", "x.csv -o x.csv", &["x.csv: two results cannot be in one file", "help: name it once"]),
        ("flat", "x.csv -o y.csv -o z.csv", &["`flat` has 2 results, but there are 3 files for them"]),
    ] {
        // Nothing has been read then.
        folder.run(&format!("run images.fut -e {entry} -i missing -o {file}"), "").fails(2, parts);
    }
    folder
        .run("run images.fut -e fractions -o x.png", "empty([0][3]f32)")
        .fails(2, &["an image of 3 x 0 points"]);
}

#[test]
fn results_go_to_files_as_their_names_say() {
    let folder = Folder::new("outputs");
    folder.write("means.fut", MEANS).write("a.csv", "height,age\n1.5,40\n2.5,20\n");
    folder.write(
        "all.fut",
        "entry two (n: i64) = (map f64.i64 (iota n), map (\\i -> i % 2 == 0) (iota n))\n\
         entry table (n: i64) = tabulate_2d n 2 (\\i j -> i32.i64 (10 * i + j))\n\
         entry ragged (n: i64) = (iota n, iota (n + 1))\n\
         entry bare = (1f32, f64.nan, true)\n",
    );
    folder.run("run means.fut -e people -i a.csv -o b.csv", "").prints("");
    assert_eq!(folder.read("b.csv"), b"age,half\n40,0.75\n20,1.25\n");
    folder.run("run all.fut -e two -o b.csv", "3").prints("");
    assert_eq!(folder.read("b.csv"), b"0.0,true\n1.0,false\n2.0,true\n");
    folder.run("run all.fut -e two -o b.tsv -o c.in", "1").prints("");
    assert_eq!((folder.read("b.tsv"), folder.read("c.in")), (b"0.0\n".to_vec(), b"[true]\n".to_vec()));
    folder.run("run all.fut -e two -o both.txt", "1").prints("");
    assert_eq!(folder.read("both.txt"), b"[0f64]\n[true]\n");
    folder.run("run all.fut -e table -o b.csv", "2").prints("");
    assert_eq!(folder.read("b.csv"), b"0,1\n10,11\n");
    folder.run("run all.fut -e bare -o b.csv", "").prints("");
    assert_eq!(folder.read("b.csv"), b"1.0,nan,true\n");
    for (file, option) in [("t.npy", "--npy"), ("t.bin", "-b")] {
        folder.run(&format!("run all.fut -e table -o {file}"), "2").prints("");
        let printed = folder.run(&format!("run all.fut -e table {option}"), "2").out;
        assert_eq!(folder.read(file), printed);
        folder.run(&format!("run all.fut -e table -o t.data {option}"), "2").prints("");
        assert_eq!(folder.read("t.data"), printed);
    }
    folder
        .run("run all.fut -e ragged -o b.csv", "2")
        .fails(2, &["b.csv: columns of 2 and of 3 elements are no table"]);
    // What was there before is still there, and nothing else is.
    assert_eq!(folder.read("b.csv"), b"1.0,nan,true\n");
    folder.run("run all.fut -e ragged -o b.csv -n", "2").fails(2, &["cannot be used with"]);
    let left: Vec<_> =
        fs::read_dir(&folder.0).expect("a folder").map(|file| file.expect("a file").file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("part")), "{left:?}");
    folder.run("run all.fut -e two -o - -o -", "1").prints("[0f64]\n[true]\n");
    #[cfg(unix)]
    folder.run("run all.fut -e table -o /dev/stdout", "1").prints("[[0i32, 1i32]]\n");
}

#[test]
fn records_and_sums_are_read_and_printed_as_they_are_written() {
    let folder = Folder::new("records");
    folder.write("shapes.fut", SHAPES);
    let run = |options: &str, input: &str| folder.run(&format!("run shapes.fut {options}"), input);
    run("--records", "{x = 1, y = 2i32} (#square 3)")
        .prints("{x = 10f32, y = 2i32}\n#square 3f32\n(2i32, true)\n");
    run("--records", "{ y = -2, -- no order\n x = 1 } #rectangle {h = 2, w = 1.5}")
        .prints("{x = 4f32, y = -2i32}\n#rectangle {h = 2f32, w = 1.5f32}\n(-2i32, true)\n");
    // Part by part, as they are printed without the option.
    let flat = run("", "{x = 1, y = 2} #many [1, 2, 3] (-4)");
    flat.succeeds();
    assert!(flat.text().starts_with("-23f32\n2i32\n"), "{}", flat.text());
    run("", "1 2i32 #nothing").succeeds();
    run("-e areas", "[#square 2, #nothing, (#rectangle {w = 3, h = 1})]").prints("[4f32, 0f32, 3f32]\n");
    run("-e areas", "[]").prints("empty([0]f32)\n");
    run("-e turn --records", "[[(1, {b = true})], [(2, {b = false})]]")
        .prints("[[{c = false, i = 1i32}], [{c = true, i = 2i32}]]\n");
    run("-e turn --records", "[[1], [2]] [[true], [false]]")
        .prints("[[{c = false, i = 1i32}], [{c = true, i = 2i32}]]\n");
    let nested = "{q = (1i32, [2f32, 3.5f32]), r = {s = [(7u8, true)]}}\n";
    run("-e nested --records", nested).prints(nested);
    let shapes =
        "[#square 2f32, #many [1i32, 2i32, 3i32] (-1i64), #rectangle {h = 1f32, w = 2f32}, #nothing]\n";
    run("-e echo --records", shapes).prints(shapes);
    let usage = "`main` takes (p: ";
    for (input, parts) in [
        ("{x = 1}", &["the field `y` is missing: the type is {x: f32, y: i32}", "<stdin>:1:7", usage][..]),
        ("{x = 1, z = 2}", &["there is no field `z`", "<stdin>:1:9"]),
        ("{x = 1, x = 2}", &["the field `x` comes twice", "<stdin>:1:9"]),
        ("{x = 1 y = 2}", &["`,` or `}` is expected here", "<stdin>:1:8"]),
        ("{x 1}", &["`=` is expected here", "<stdin>:1:4"]),
        ("{x = true, y = 1}", &["<stdin>:1:6"]),
        ("{x = 1, y = 2", &["the input ends where", "<stdin>:1:14"]),
        ("{x = 1, y = 2} #circle 1", &["there is no constructor `#circle`", "<stdin>:1:17"]),
        ("{x = 1, y = 2} #square", &["the input ends where a value of type f32 is expected"]),
        ("{x = 1, y = 2} ((#square 1)", &["the input ends where `)` is expected"]),
        ("{x = 1, y = 2} #nothing 5", &["no value is expected", "<stdin>:1:25"]),
    ] {
        run("", input).fails(2, parts);
    }
    run("-e areas", "[#square 2 #nothing]").fails(2, &["`,` or `]` is expected here", "<stdin>:1:12"]);
    run("-e turn", "[[(1, {b = true})], []]").fails(2, &["this row has 0 elements", "<stdin>:1:22"]);
    run("", &"(".repeat(100_000)).fails(2, &["<stdin>:1:"]);
    run("--records -b", "").fails(2, &["cannot be used with"]);
}

#[test]
fn files_are_definitions_at_the_prompt() {
    let folder = Folder::new("prompt-files");
    folder.write("people.csv", "age,height\n40,1.75\n23,nan\n").write("odd.csv", "a b,c\n1,2\n");
    folder
        .write("grey.pgm", "P2 2 1 255 0 9")
        .write("two.in", "1i32 empty([2][0]f32)")
        .write("my file.in", "-7i8");
    folder.write("let.in", "1").write("long.csv", "1\n".repeat(60_000)).write("bare.csv", "1\n-2\n");
    let ran = folder.run(
        "repl",
        ":read people.csv\nage[1] + 1\nf64.isnan height[1]\n:read grey.pgm\ngrey[0, 1]\n:read two.in one none\n\
         length none[1]\n:read bare.csv xs\ni64.sum xs\n:read my\\ file.in k\nk\n:undo\nk\n\
         :read odd.csv\n:read two.in\n:read two.in one\n:read let.in\n:read long.csv\n:read nothing\n:read\n:help\n",
    );
    ran.succeeds().shows(&[
        "age : [2]i64\nheight : [2]f64\n24i64\ntrue\n",
        "grey : [1][2]u32\n4278782217u32\n",
        "one : i32\nnone : [2][0]f32\n0i64\n",
        "xs : [2]i64\n-1i64\nk : i8\n-7i8\n",
        ":read FILE [NAME ..]",
    ]);
    let said = [
        "Unknown name \"k\"",
        "odd.csv: `a b` cannot be defined",
        "help: :read odd.csv NAME ..",
        "two.in: its 2 values need names",
        "two.in: values and names are not as many: 2 and 1",
        "let",
        "long.csv: 60000 elements are more than the 50000",
        "nothing: no such file",
        ":read wants the name of a file",
    ];
    in_order("repl", &ran.err, &said);
}

/// Damages bytes in one of several ways.
fn damaged(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len().max(1) as u64) as usize;
        match random.below(5) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            2 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            3 if at < bytes.len() => {
                bytes.remove(at);
            }
            _ => bytes.insert(at.min(bytes.len()), b"\",;\n\t-e9"[random.below(8) as usize]),
        }
    }
    bytes
}

#[test]
fn damaged_files_are_explained() {
    let folder = Folder::new("damaged");
    folder.write("means.fut", MEANS).write("images.fut", IMAGES).write("shapes.fut", SHAPES);
    let mut random = Random::new(20);
    let table = "height,\"age\"\r\n1.5,40\r\n2.5,\"20\"\r\n";
    for (command, whole) in [
        ("run means.fut --csv", table.as_bytes()),
        ("run means.fut -e people --csv", table.as_bytes()),
        ("run images.fut -e same", PALETTE),
        ("run images.fut -e greys", INTERLACED),
        ("run images.fut -e parts", b"P6 2 1 255\n\xff\x80\x00\x01\x02\x03"),
        ("run images.fut -e fractions", b"P2 2 2 15\n1 2 # a\n3 15"),
        ("run shapes.fut", b"{x = 1, y = -2} #rectangle {h = 2, w = 1.5}"),
        ("run shapes.fut -e areas", b"[#square 2, (#many [1, 2, 3] (-4)), #nothing]"),
    ] {
        for _ in 0..20 {
            let ran = folder.run(command, damaged(&mut random, whole));
            assert!(matches!(ran.code, Some(0..=2)), "{command}: {:?} {}", ran.code, ran.err);
            assert!(!ran.err.contains("internal error"), "{command}: {}", ran.err);
        }
    }
}
