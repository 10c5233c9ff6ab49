//! Text, bytes and modules say the same thing.

use galopvm_bytecode::{decode, encode, file, text, verify};

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
  r18 : f32 = index r17! (r16!)
  r19 : i32 = const 3i32
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
    let bytes = encode(&text::parse(SAMPLE).expect("the sample assembles"));
    for at in 16..bytes.len() {
        for value in [0, 1, 2, 3, 7, 0x7f, 0x80, 0xff] {
            let mut mutant = bytes.clone();
            mutant[at] = value;
            let sum = file::checksum(&mutant[16..]);
            mutant[8..16].copy_from_slice(&sum.to_le_bytes());
            if let Ok(module) = decode(&mutant) {
                let _ = verify(module);
            }
        }
    }
}
