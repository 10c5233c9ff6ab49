//! Views copy nothing, updates of arrays that nobody else holds neither; what must copy is counted by its kind.

use galopvm_bytecode::{text, verify};
use galopvm_runtime::{MemoryStats, Options, Session, Tiering, Value, data};

/// Each function takes arrays of 24 numbers.
const PROGRAM: &str = r#"
module
entry "read" @0 ("xs" : "[]i64", "n" : "i64", "m" : "i64") -> ("i64")
entry "write" @1 ("xs" : "*[]i64", "ys" : "*[][]i64", "is" : "[]i64") -> ("[]i64", "[][]i64")
entry "reshapes" @2 ("xss" : "[][]i64", "a" : "i64", "b" : "i64", "c" : "i64") -> ("i64", "i64")
entry "misfit" @3 ("xss" : "[][]i64", "n" : "i64") -> ("[]i64")
fn @0 "read" (r0 : []i64, r1 : i64, r2 : i64) -> (i64)
b0 ():
  r3 : [][]i64 = reshape r0 (r1, r2)
  r4 : [][]i64 = permute r3! (1, 0)
  r5 : [][]i64 = reverse r4! 0
  r6 : i64 = const 1i64
  r7 : i64 = const 2i64
  r8 : [][]i64 = slice r5! (r6::r7)
  r9 : i64 = dim r8 0
  r10 : i64 = const 0i64
  r11 : []i64 = index r8 (r10)
  r12 : [][]i64 = flat_index r0! r6! (r7, r7) (r7, r7!)
  r13 : []i64 = index r12! (r10)
  r14 : i64 = redomap r9! (r10) (r8!) b1 b4
  r15 : i64 = index r11! (r10)
  r16 : i64 = index r13! (r10!)
  r17 : i64 = op2 add i64 r14! r15!
  r18 : i64 = op2 add i64 r17! r16!
  => (r18!)
b1 (r19 : []i64):
  r20 : i64 = dim r19 0
  r21 : i64 = redomap r20! (r10) (r19!) b2 b3
  => (r21!)
b2 (r22 : i64):
  => (r22!)
b3 (r23 : i64, r24 : i64):
  r25 : i64 = op2 add i64 r23! r24!
  => (r25!)
b4 (r26 : i64, r27 : i64):
  r28 : i64 = op2 add i64 r26! r27!
  => (r28!)
fn @1 "write" (r0 : []i64, r1 : [][]i64, r2 : []i64) -> ([]i64, [][]i64)
b0 ():
  r3 : i64 = const 3i64
  r4 : i64 = dim r2 0
  r5 : []i64 = scatter r4 (r0!) (r2) (r2)
  r6 : []i64 = hist r4! (r5!) (r3) (r2) (r2!) b1
  r7 : []i64 = update r6! (r3) r3
  r8 : [][]i64 = permute r1! (1, 0)
  r9 : [][]i64 = update r8! (r3, r3) r3
  r10 : [][]i64 = permute r9! (1, 0)
  => (r7!, r10!)
b1 (r11 : i64, r12 : i64):
  r13 : i64 = op2 add i64 r11! r12!
  => (r13!)
fn @2 "reshapes" (r0 : [][]i64, r1 : i64, r2 : i64, r3 : i64) -> (i64, i64)
b0 ():
  r4 : [][]i64 = permute r0 (1, 0)
  r5 : [][][]i64 = reshape r4! (r1, r2, r3)
  r6 : [][]i64 = reverse r0! 0
  r7 : [][][]i64 = reshape r6! (r1, r2, r3!)
  r8 : i64 = const 1i64
  r9 : i64 = index r5! (r8, r8, r8)
  r10 : i64 = index r7! (r8, r8, r8!)
  => (r9!, r10!)
fn @3 "misfit" (r0 : [][]i64, r1 : i64) -> ([]i64)
b0 ():
  r2 : [][]i64 = permute r0! (1, 0)
  r3 : []i64 = reshape r2! (r1!)
  => (r3!)
"#;

fn shown(values: &[Value]) -> String {
    values.iter().map(|v| v.to_string()).collect::<Vec<_>>().join(" ")
}

/// The results of a call, and the figures before and after it.
fn call(entry: &str, arguments: &str) -> (String, MemoryStats, MemoryStats) {
    let module = verify(text::parse(PROGRAM).expect("it assembles")).expect("it verifies");
    let options = Options { tiering: Tiering::interpreter(), ..Options::default() };
    let mut session = Session::new(module, options);
    let arguments = data::read_values(session.memory(), arguments.as_bytes()).expect("they are values");
    let before = session.memory().stats();
    let results = session.call(entry, arguments).expect("it runs");
    let after = session.memory().stats();
    (shown(&results), before, after)
}

fn taken_and_copied(stats: MemoryStats) -> (u64, [u64; 4]) {
    (stats.allocations, stats.copies)
}

fn numbers(rows: usize, cols: usize) -> String {
    let row = |r: usize| {
        let row: Vec<String> = (0..cols).map(|c| format!("{}i64", r * cols + c)).collect();
        format!("[{}]", row.join(", "))
    };
    if rows == 1 { row(0) } else { format!("[{}]", (0..rows).map(row).collect::<Vec<_>>().join(", ")) }
}

#[test]
fn views_take_no_memory() {
    let (results, before, after) = call("read", &format!("{} 4i64 6i64", numbers(1, 24)));
    // Columns 4, 2, 0 of four rows; the first of them again; element 1.
    let columns: i64 = [4, 2, 0].iter().map(|c| (0..4).map(|r| r * 6 + c).sum::<i64>()).sum();
    assert_eq!(results, format!("{}i64", columns + 4 + 1));
    assert_eq!(taken_and_copied(before), taken_and_copied(after));
}

#[test]
fn arrays_that_nobody_else_holds_are_updated_in_place() {
    let arguments = format!("{} {} [1i64, 2, 99]", numbers(1, 24), numbers(4, 6));
    let (results, before, after) = call("write", &arguments);
    assert!(results.starts_with("[0i64, 2i64, 4i64, 3i64, 4i64,"), "{results}");
    assert_eq!(taken_and_copied(before), taken_and_copied(after));
}

#[test]
fn reshapes_that_one_view_can_say_take_no_memory() {
    // Splitting either dimension of a transposed or reversed matrix.
    let (results, before, after) = call("reshapes", &format!("{} 3i64 2i64 4i64", numbers(4, 6)));
    assert_eq!(results, "9i64 7i64");
    let copied = |stats: MemoryStats| stats.copies.iter().sum::<u64>();
    // The reversed rows cannot be cut across.
    assert_eq!((copied(before), copied(after)), (0, 1));
    let (results, before, after) = call("misfit", &format!("{} 24i64", numbers(4, 6)));
    assert!(results.starts_with("[0i64, 6i64, 12i64, 18i64, 1i64"), "{results}");
    assert_eq!((before.copies[2], after.copies[2], after.copied_bytes[2]), (0, 1, 24 * 8));
}
