//! Text, bytes and modules say the same thing.

use galopvm_bytecode::field::Fields;
use galopvm_bytecode::{Opcode, decode, encode, file, text, verify};
use std::collections::BTreeSet;

const SAMPLE: &str = r#"
module
file "dot.fut"
entry "main" @0 ("xs" : "[]f32", "ys" : "[]f32") -> ("f32", "(i32, bool)" * 2)
; a comment
fn @0 "main" (r0 : []f32, r1 : []f32) -> (f32, i32, bool)
b0 ():
  r2 : i64 = dim r0 0 @ 0 1:5-1:9
  r3 : f32 = const -f32.inf
  r4 : []f32 = map r2 (r0, r1!) b1 @ 0 1:5-1:30
  r8 : f32 = reduce r2 (r3) (r4!) b2
  r12 : bool = op2 lt f32 r8 r3!
  r13 : f32 = if r12 b3 b4
  r15 : []f32 = slice r0 (:r2!:)
  r16 : i64 = const 1i64
  r17 : []f32 = update r15! (r16) r13
  r18 : f32 = index r17 (r16!)
  r19 : i32 = const 3i32
  trace "seen \"it\"" "{a = 0, b = [1 (1, 1)]}" 1 (r19, r17)
  r20 : bool, r21 : i64 = param "tile"
  assert r12 "odd \"{}\"\n" (r19)
  => (r18!, r19!, r12!)
b1 (r5 : f32, r6 : f32):
  r7 : f32 = op2 mul f32 r5! r6!
  => (r7!)
b2 (r9 : f32, r10 : f32):
  r11 : f32 = op2 add f32 r9! r10!
  => (r11!)
b3 ():
  => (r8!)
b4 ():
  r14 : f32 = const bits f32 0x7fc00001
  => (r14!)
"#;

#[test]
fn text_and_bytes_round_trip() {
    let module = text::parse(SAMPLE).expect("the sample assembles");
    let printed = text::print(&module);
    assert_eq!(text::parse(&printed).as_ref(), Ok(&module), "{printed}");
    let bytes = encode(&module);
    assert_eq!(decode(&bytes).as_ref(), Ok(&module));
    assert_eq!(encode(&decode(&bytes).expect("decodes")), bytes);
    verify(module).expect("the sample verifies");
}

/// One instruction of each kind that the sample lacks.
const SELECTION: &str = r#"
module
fn @0 "select" (r0 : []i64, r1 : i64) -> (i64, []i64)
b0 ():
  r2 : i64, r3 : []i64 = filter r1 (r0) b1
  r6 : i64, r7 : i64, r8 : []i64 = partition 2 r1 (r0) b2
  r10 : []i64 = scatter r1 (r0) (r0) (r0)
  r11 : []i64 = hist r1 (r0) (r1) (r0) (r0) b3
  r15 : []i64 = stream r1 (r0) (r0) b4
  r21 : [][]i64 = flat_index r0 r1 (r1, r1) (r1, r1)
  r22 : []i64 = flat_update r0 r1 (r1, r1) r21!
  r23 : []i64 = rotate r22! 0 r1
  r24 : []i64 = manifest r23!
  r25 : bool = equal r24! r0
  => (r2!, r3!)
b1 (r4 : i64):
  r5 : bool = fail "no {}" (r4!)
  => (r5!)
b2 (r9 : i64):
  => (r9!)
b3 (r12 : i64, r13 : i64):
  r14 : i64 = op2 add i64 r12! r13!
  => (r14!)
b4 (r16 : []i64, r17 : i64):
  r18 : []i64 = acc_write (r16!) (r17) (r17) b5
  => (r18!)
b5 (r19 : i64, r20 : i64):
  => (r20!)
"#;

#[test]
fn the_other_instructions_round_trip() {
    for source in [SELECTION, OTHERS] {
        let module = text::parse(source).expect("it assembles");
        let printed = text::print(&module);
        assert_eq!(text::parse(&printed).as_ref(), Ok(&module), "{printed}");
        assert_eq!(decode(&encode(&module)).as_ref(), Ok(&module));
        verify(module).expect("it verifies");
    }
}

/// One of each kind that neither has.
const OTHERS: &str = r#"
module
fn @0 "others" (r0 : [][]i32, r1 : i64, r2 : i32) -> (i32, [][]i32, f32)
b0 ():
  r3 : i32 = op1 abs i32 r2
  r4 : bool = const true
  r5 : i32 = op3 select i32 r4! r3 r2
  r6 : f32 = convert i32 f32 r5!
  r7 : i32 = call @1 (r3!)
  r8 : [][]i32 = permute r0 (1, 0)
  r9 : [][]i32 = reverse r8! 0
  r10 : [][]i32 = concat (r9!, r0!) 0
  r11 : []i32 = reshape r10 (r1)
  r12 : []i32 = copy r11!
  r13 : []i32 = replicate r1 r7
  r14 : []i32 = iota i32 r1 r7 r2
  r15 : []i32 = array i32 1 (r2)
  r16 : []i32 = scan r1 (r7) (r12!) b1
  r20 : i32 = redomap r1 (r7) (r13!, r14!) b2 b3
  r26 : i32 = for r1! (r20!) b4
  r29 : i32 = while (r7!) b5 b6
  r34 : []i32 = concat (r15!, r16!) 0
  r35 : i64 = const 0i64
  r36 : i32 = index r34! (r35!)
  r37 : i32 = op2 add i32 r26! r29!
  r38 : i32 = op2 add i32 r36! r37!
  => (r38!, r10!, r6!)
b1 (r17 : i32, r18 : i32):
  r19 : i32 = op2 add i32 r17! r18!
  => (r19!)
b2 (r21 : i32, r22 : i32):
  r23 : i32 = op2 mul i32 r21! r22!
  => (r23!)
b3 (r24 : i32, r25 : i32):
  r39 : i32 = op2 add i32 r24! r25!
  => (r39!)
b4 (r27 : i64, r28 : i32):
  => (r28!)
b5 (r30 : i32):
  r31 : bool = op2 lt i32 r30! r2
  => (r31!)
b6 (r32 : i32):
  r33 : i32 = op2 add i32 r32! r2
  => (r33!)
fn @1 "same" (r0 : i32) -> (i32)
b0 ():
  => (r0!)
"#;

#[test]
fn every_instruction_is_in_one_of_them() {
    let modules = [SAMPLE, SELECTION, OTHERS].map(|text| text::parse(text).expect("it assembles"));
    let blocks =
        modules.iter().flat_map(|module| module.functions.iter()).flat_map(|function| function.blocks.iter());
    let met: BTreeSet<&str> =
        blocks.flat_map(|block| &block.code).map(|instr| instr.row().mnemonic).collect();
    let missed: Vec<&str> =
        Opcode::rows().iter().map(|row| row.mnemonic).filter(|name| !met.contains(name)).collect();
    assert!(missed.is_empty(), "these are in neither: {missed:?}");
}

/// `g` calls `f`, `main` calls `g`; both were put in the places of their calls.
const INLINED: &str = r#"
module
file "chain.fut"
call @ 0 9:5-9:9
call @ 0 6:3-6:7 in 0
fn @0 "main" (r0 : []i64, r1 : i64) -> (i64)
b0 ():
  r2 : i64 = index r0 (r1) @ 0 3:1-3:5 in 1
  r3 : i64 = op2 add i64 r1 r2 @ 0 6:3-6:9 in 0
  r4 : i64 = op2 add i64 r1 r3
  => (r4)
"#;

#[test]
fn calls_that_were_replaced_round_trip() {
    let module = text::parse(INLINED).expect("it assembles");
    let printed = text::print(&module);
    assert_eq!(text::parse(&printed).as_ref(), Ok(&module), "{printed}");
    assert_eq!(decode(&encode(&module)).as_ref(), Ok(&module));
    let place = module.functions.as_slice()[0].blocks.as_slice()[0].place(0).expect("it has a place");
    assert_eq!(module.call_chain(place).map(|p| p.start.line).collect::<Vec<_>>(), [3, 6, 9]);
    verify(module.clone()).expect("it verifies");
    let mut stripped = module;
    stripped.strip();
    assert_eq!(decode(&encode(&stripped)), Ok(stripped));
    for (good, bad) in [("6:3-6:7 in 0", "6:3-6:7 in 1"), ("3:1-3:5 in 1", "3:1-3:5 in 2")] {
        let module = text::parse(&INLINED.replace(good, bad)).expect("it assembles");
        assert!(verify(module).expect_err("refused").to_string().contains("a place refers to call"));
    }
}

#[test]
fn uses_can_be_changed_in_the_order_they_are_visited() {
    for text in [SAMPLE, SELECTION, OTHERS] {
        let module = text::parse(text).expect("it assembles");
        for instr in module.functions.iter().flat_map(|f| f.blocks.iter()).flat_map(|b| &b.code) {
            let (mut copy, seen) = (instr.clone(), Fields::of(instr).operands);
            let mut uses = Vec::new();
            copy.operands_mut(&mut uses);
            assert!(uses.into_iter().map(|o| *o).eq(seen));
        }
    }
}

#[test]
fn stripping_keeps_everything_but_places() {
    let mut module = text::parse(SAMPLE).expect("the sample assembles");
    module.strip();
    let bytes = encode(&module);
    assert_eq!(decode(&bytes), Ok(module));
}

#[test]
fn damage_is_named() {
    let bytes = encode(&text::parse(SAMPLE).expect("the sample assembles"));
    let text_of = |bytes: &[u8]| decode(bytes).expect_err("damaged").to_string();
    assert!(text_of(b"hello").contains("not a .gbc file"));
    let mut newer = bytes.clone();
    newer[4] = 9;
    assert!(text_of(&newer).contains("version 9"));
    let mut flipped = bytes.clone();
    flipped[40] ^= 4;
    assert!(text_of(&flipped).contains("checksum"));
    for length in 0..bytes.len() {
        assert!(decode(&bytes[..length]).is_err());
    }
}

/// Every mutation, its checksum mended so that the decoder sees it, is an error or a module; the verifier then
/// answers without panicking.
#[test]
fn mutations_are_refused_or_verified() {
    for text in [SAMPLE, SELECTION, INLINED] {
        mutate(&encode(&text::parse(text).expect("it assembles")));
    }
}

fn mutate(bytes: &[u8]) {
    for at in 16..bytes.len() {
        for value in [0, 1, 2, 3, 7, 0x7f, 0x80, 0xff] {
            let mut mutant = bytes.to_vec();
            mutant[at] = value;
            let sum = file::checksum(&mutant[16..]);
            mutant[8..16].copy_from_slice(&sum.to_le_bytes());
            if let Ok(module) = decode(&mutant) {
                let _ = verify(module);
            }
        }
    }
}
