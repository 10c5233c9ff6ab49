//! Low IR as text: what reads back to itself, and what is refused and why.

use super::op::Op;
use super::parse::parse;
use super::verify::{check, verify};

/// A loop over words with a value for each lane, masks in vector registers.
const LOOP: &str = "\
masks vec
block0:
  %0:int = word.6
  %1:int = int.-5
  %2:vec = splat.i32 %1
  jump.block2 %0 %2
block2 %3:int %4:vec:
  %5:int = alu_imm.add.w64.8 %3
  %6:vec = v_load.b32.x4-16 %0 %3
  %7:vec = v.add.i32.all %4 %6
  %8:vec = cmp.lt.i32 %7 %2
  poll_at.7.255 %5
  branch_any.block4.block3 %8
block4:
  v_store_mask.b32.+64 %7 %8 %0
  v_store.b32.+0.not_past_caches %7 %0
  jump.block2 %5 %7
block3:
  %9:vec = help.exp:f32.all %7
  %10:int = help_scalar.f32>i64 %5
  %11:vec = gather.b64 %8 %10 %9
  %12:vec = widen.signed.i32.f64.upper %11
  branch_if.below.w64.block5.block6 %10 %5
block5:
  return
block6:
  trap
";

#[test]
fn text_reads_back() {
    let code = parse(LOOP).expect("it reads");
    assert_eq!(code.to_string(), LOOP);
    assert_eq!(check(&code), Ok(()));
}

#[test]
fn operands_and_targets_are_counted_as_they_are_listed() {
    let code = parse(LOOP).expect("it reads");
    for inst in code.blocks.iter().flat_map(|block| block.insts.iter().chain(&block.end)) {
        let op = inst.op;
        assert_eq!((op.arity(), op.goes_on()), (op.operands().len(), !op.targets().is_empty()), "{op}");
    }
}

#[test]
fn mnemonics_are_unique_and_read() {
    let mut seen = std::collections::HashSet::new();
    for word in Op::MNEMONICS {
        assert!(seen.insert(word), "{word} is there twice");
        assert!(!word.contains(['.', ' ']), "{word}");
    }
    assert_eq!(Op::read("v.add.i32"), None, "a field is missing");
    assert_eq!(Op::read("choose.w32"), None, "a field too many");
    assert_eq!(Op::read("load.b32.x3+0"), None, "no such scale");
    assert_eq!(Op::read("widen.signed.i32.f64.past_caches"), None, "the name of another field");
}

#[test]
fn what_does_not_read_is_told_with_its_line() {
    for (from, to, expected) in [
        ("masks vec", "masks", "line 1: the class of masks comes first"),
        ("masks vec", "masks words", "line 1: `words` is no class"),
        ("word.6", "wort.6", "line 3: `wort.6` is no operation"),
        ("%0:int", "%0", "line 3: `%0` is no register with its class"),
        ("%0:int", "%9999999:int", "line 3: `%9999999` is no register"),
        ("block0:", "block0", "line 2: the head of a block ends with `:`"),
        ("block0:", "blocks:", "line 2: `blocks` is no block"),
        ("block0:\n", "", "line 2: an instruction outside of a block"),
        ("block5:\n", "", "line 24: an instruction behind the end of block3"),
        ("block5:", "block3:", "line 24: block3 is there twice"),
    ] {
        assert_eq!(parse(&LOOP.replacen(from, to, 1)).expect_err(to), expected);
    }
}

#[test]
fn broken_code_is_refused_with_the_reason() {
    for (from, to, expected) in [
        ("%5:int = alu_imm", "%3:int = alu_imm", "block2: %3 is defined twice"),
        (
            "%7 %2",
            "%7 %90",
            "block2: `%8:vec = cmp.lt.i32 %7 %90`: the operands are (vec, int), not (vec, vec)",
        ),
        (
            "all %4 %6",
            "all %4 %7",
            "block2: `%7:vec = v.add.i32.all %4 %7`: %7 is not defined on every way to here",
        ),
        ("%12:vec = widen", "%5:vec = widen", "block3: %5 is defined twice"),
        (
            "  branch_any.block4.block3 %8\n",
            "  branch_any.block4.block3 %0\n",
            "block2: `branch_any.block4.block3 %0`: the operands are (int), not (vec)",
        ),
        (
            "%2:vec = splat",
            "%2:int = splat",
            "block0: `%2:int = splat.i32 %1`: the results are (int), not (vec)",
        ),
        ("%8:vec = cmp", "cmp", "block2: `cmp.lt.i32 %7 %2`: the results are (), not (vec)"),
        (
            "  v_store_mask.b32.+64 %7 %8 %0\n",
            "  %20:int = v_store_mask.b32.+64 %7 %8 %0\n",
            "block4: `%20:int = v_store_mask.b32.+64 %7 %8 %0`: the results are (int), not ()",
        ),
        (
            "v_load.b32.x4-16 %0 %3",
            "v_load.b32.x4-16 %0",
            "block2: `%6:vec = v_load.b32.x4-16 %0`: the operands are (int), not (int, int)",
        ),
        (
            "gather.b64 %8 %10 %9",
            "gather.b32 %8 %10 %9",
            "block3: `%11:vec = gather.b32 %8 %10 %9`: the operands are (vec, int, vec), not (vec, int, vec, vec)",
        ),
        (
            "help.exp:f32.all %7",
            "help.pow:f32.all %7",
            "block3: `%9:vec = help.pow:f32.all %7`: the operands are (vec), not (vec, vec)",
        ),
        (
            "jump.block2 %5 %7",
            "jump.block2 %5",
            "block4: `jump.block2 %5`: the operands are (int), not (int, vec)",
        ),
        (
            "jump.block2 %0 %2",
            "branch_bool.block2.block3 %0",
            "block0: `branch_bool.block2.block3 %0`: block2 takes parameters",
        ),
        ("  return\n", "", "block5 has no end"),
        ("block5.block6 %10", "block5.block7 %10", "block3 goes to block7, which is not there"),
        ("block5.block6 %10", "block5.block0 %10", "block3 goes to the entry"),
        ("block5.block6 %10", "block5.block5 %10", "block6 is never reached"),
        ("block0:", "block0 %20:int:", "block0 takes parameters and is the entry"),
        (
            "  return\n",
            "  v_store.b32.+0.past_caches %6 %5\n  %20:int = alu.add.w32 %5 %21\n  return\n",
            "block5: `%20:int = alu.add.w32 %5 %21`: %21 is not defined",
        ),
        ("masks vec", "masks mask", "block2: `%8:vec = cmp.lt.i32 %7 %2`: the results are (vec), not (mask)"),
    ] {
        assert!(LOOP.contains(from), "{from}");
        let code = parse(&LOOP.replacen(from, to, 1)).expect("it reads");
        assert_eq!(verify(&code).expect_err(to), expected);
    }
}

#[test]
fn what_one_side_defines_is_not_defined_behind_both() {
    let text = "\
masks mask
block0:
  %0:int = word.0
  branch_bool.block1.block2 %0
block1:
  %1:int = int.1
  jump.block3
block2:
  jump.block3
block3:
  %2:int = alu.add.w64 %0 %1
  return
";
    let broken = parse(text).expect("it reads");
    let expected = "block3: `%2:int = alu.add.w64 %0 %1`: %1 is not defined on every way to here";
    assert_eq!(verify(&broken), Err(expected.into()));
    let right = text.replace("  %1:int = int.1\n", "");
    let right = right.replace("word.0\n", "word.0\n  %1:int = int.1\n");
    assert_eq!(verify(&parse(&right).expect("it reads")), Ok(()));
}

#[test]
fn ends_stand_at_ends() {
    let mut code = parse("masks vec\nblock0:\n  %0:int = int.1\n  return\n").expect("it reads");
    let block = &mut code.blocks[0];
    let end = block.end.take();
    block.end = block.insts.pop();
    let refused = verify(&code).expect_err("no end");
    assert_eq!(refused, "block0: `%0:int = int.1`: it does not end a block and stands at the end of one");
    let block = &mut code.blocks[0];
    block.insts.extend(end.clone());
    block.end = end;
    assert_eq!(
        verify(&code).expect_err("two ends"),
        "block0: `return`: it ends a block and stands inside one"
    );
}
