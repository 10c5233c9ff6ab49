//! Operations on constants against the table of scalar operations, and what a builder makes of operations that come to less.

use super::*;
use crate::lir::build::Builder;
use crate::lir::check;
use galopvm_base::{ElemType, ScalarOp, scalar};

const NUMBERS: [i64; 10] = [0, 1, -1, 2, 7, 31, i32::MAX as i64, i32::MIN as i64, i64::MAX, i64::MIN];

/// The bits of a number of a type.
fn cut(ty: ElemType, number: i64) -> u64 {
    number as u64 & ty.mask()
}

#[test]
fn arithmetic_is_that_of_the_table() {
    let rows = [
        (Bin::Add, ScalarOp::Add, ElemType::I32, ElemType::I64),
        (Bin::Sub, ScalarOp::Sub, ElemType::I32, ElemType::I64),
        (Bin::Mul, ScalarOp::Mul, ElemType::I32, ElemType::I64),
        (Bin::And, ScalarOp::And, ElemType::I32, ElemType::I64),
        (Bin::Or, ScalarOp::Or, ElemType::I32, ElemType::I64),
        (Bin::Xor, ScalarOp::Xor, ElemType::I32, ElemType::I64),
        (Bin::Shl, ScalarOp::Shl, ElemType::U32, ElemType::U64),
        (Bin::Shr, ScalarOp::Shr, ElemType::U32, ElemType::U64),
        (Bin::Sar, ScalarOp::Shr, ElemType::I32, ElemType::I64),
    ];
    for (bin, op, narrow, wide) in rows {
        for (width, ty) in [(Width::W32, narrow), (Width::W64, wide)] {
            let is_shift = matches!(bin, Bin::Shl | Bin::Shr | Bin::Sar);
            let fits = |b: &i64| !is_shift || (0..i64::from(bits(width))).contains(b);
            for (a, b) in
                NUMBERS.iter().flat_map(|a| NUMBERS.iter().filter(|b| fits(b)).map(move |b| (*a, *b)))
            {
                let expected = scalar::eval(op, ty, &[cut(ty, a), cut(ty, b)]).ok();
                let got = value(bin, width, a, b).map(|number| cut(ty, number));
                assert_eq!(got, expected, "{op:?} {ty:?} {a} {b}");
            }
        }
    }
}

#[test]
fn comparisons_are_those_of_the_table() {
    let rows = [
        (Cond::Eq, ScalarOp::Eq, ElemType::I32, ElemType::I64),
        (Cond::Ne, ScalarOp::Ne, ElemType::I32, ElemType::I64),
        (Cond::Lt, ScalarOp::Lt, ElemType::I32, ElemType::I64),
        (Cond::Le, ScalarOp::Le, ElemType::I32, ElemType::I64),
        (Cond::Below, ScalarOp::Lt, ElemType::U32, ElemType::U64),
        (Cond::BelowEq, ScalarOp::Le, ElemType::U32, ElemType::U64),
    ];
    for (cond, op, narrow, wide) in rows {
        for (width, ty) in [(Width::W32, narrow), (Width::W64, wide)] {
            for (a, b) in NUMBERS.iter().flat_map(|a| NUMBERS.iter().map(move |b| (*a, *b))) {
                let expected = scalar::eval(op, ty, &[cut(ty, a), cut(ty, b)]).ok();
                assert_eq!(Some(holds(cond, width, a, b).into()), expected, "{op:?} {ty:?} {a} {b}");
            }
        }
    }
}

/// The instructions that a builder makes, but for those in front that give the words of the record.
fn built(masks: Class, build: impl FnOnce(&mut Builder, [Reg; 2])) -> Vec<String> {
    let mut builder = Builder::new(masks);
    let words = [0, 1].map(|k| builder.op(Op::Word(k), &[]));
    build(&mut builder, words);
    builder.end(Op::Return, &[]);
    let mut code = builder.finish();
    crate::lir::sweep::sweep(&mut code);
    assert_eq!(check(&code), Ok(()), "{code}");
    let text = code.to_string();
    let lines = text.lines().map(|line| line.trim().to_string());
    lines
        .filter(|line| {
            !["masks", "block", "return"].iter().any(|word| line.starts_with(word))
                && !line.contains("= word")
        })
        .collect()
}

#[test]
fn constants_become_parts_of_instructions() {
    let lines = built(Class::Vec, |b, [x, place]| {
        let (seven, limit) = (b.int(7), b.int(32));
        let fits = b.op(Op::Set(Cond::Below, Width::W32), &[seven, limit]);
        let zero = b.int(0);
        let shifted = b.op(Op::Alu(Bin::Shr, Width::W32), &[x, seven]);
        let chosen = b.op(Op::Choose, &[fits, shifted, zero]);
        let times = b.op(Op::Alu(Bin::Mul, Width::W64), &[limit, chosen]);
        let same = b.op(Op::Alu(Bin::Sub, Width::W64), &[times, zero]);
        b.act(Op::Store(Mem::B64, Addr { scale: 0, disp: 0 }), &[same, place]);
    });
    assert_eq!(
        lines,
        ["%6:int = alu_imm.shr.w32.7 %0", "%7:int = alu_imm.shl.w64.5 %6", "store.b64.+0 %7 %1"]
    );
}

#[test]
fn sums_become_parts_of_addresses() {
    let lines = built(Class::Vec, |b, [x, place]| {
        let next = b.op(Op::AluImm(Bin::Add, Width::W64, 3), &[x]);
        let after = b.op(Op::AluImm(Bin::Sub, Width::W64, 1), &[next]);
        let base = b.op(Op::AluImm(Bin::Add, Width::W64, 16), &[place]);
        let read = b.op(Op::Load(Mem::S8, Addr { scale: 4, disp: -4 }), &[base, after]);
        // Too far for an address.
        let far = b.op(Op::AluImm(Bin::Add, Width::W64, i32::MAX), &[x]);
        b.act(Op::Store(Mem::S8, Addr { scale: 8, disp: 0 }), &[read, base, far]);
    });
    assert_eq!(
        lines,
        ["%5:int = load.s8.x4+20 %1 %0", "%6:int = alu_imm.add.w64.2147483647 %0", "store.s8.x8+16 %5 %1 %6"]
    );
}

#[test]
fn halves_of_joined_masks_are_what_was_joined() {
    for masks in [Class::Vec, Class::Mask] {
        let lines = built(masks, |b, [x, place]| {
            let lanes = [x, place].map(|word| b.op(Op::Splat(Lane::I64), &[word]));
            let tests =
                [[0, 1], [1, 0]].map(|[a, c]| b.op(Op::Cmp(Cond::Lt, Lane::I64), &[lanes[a], lanes[c]]));
            let joined = b.op(Op::MaskJoin, &tests);
            let upper = b.op(Op::MaskHalf(true), &[joined]);
            let chosen = b.op(Op::Blend(Lane::I64), &[upper, lanes[0], lanes[1]]);
            let same = b.op(Op::Blend(Lane::I64), &[joined, chosen, chosen]);
            b.act(Op::VStore(Mem::B64, Addr { scale: 0, disp: 0 }, false), &[same, place]);
        });
        assert!(lines.iter().all(|line| !line.contains("mask_")), "{lines:?}");
        assert!(lines.iter().any(|line| line.contains("blend.i64 %5")), "{lines:?}");
    }
}

#[test]
fn masks_in_registers_of_their_own_save_operations() {
    let build = |b: &mut Builder, [x, place]: [Reg; 2]| {
        let lanes = [x, place].map(|word| b.op(Op::Splat(Lane::I64), &[word]));
        let [zero, one, three] = [0, 1, 3].map(|number| {
            let number = b.int(number);
            b.op(Op::Splat(Lane::I64), &[number])
        });
        let vector = |bin| Op::V(bin, Lane::I64, Extent::All);
        let bits = [one, three].map(|bits| b.op(vector(Bin::And), &[lanes[0], bits]));
        let odd = b.op(Op::Cmp(Cond::Eq, Lane::I64), &[bits[0], one]);
        let same = b.op(Op::Cmp(Cond::Eq, Lane::I64), &[bits[1], three]);
        let none = b.op(Op::Cmp(Cond::Eq, Lane::I64), &[zero, bits[1]]);
        let sum = b.op(vector(Bin::Add), &[lanes[0], lanes[1]]);
        for (mask, clear) in [(odd, lanes[0]), (same, lanes[1]), (none, lanes[0])] {
            let chosen = b.op(Op::Blend(Lane::I64), &[mask, sum, clear]);
            b.act(Op::VStore(Mem::B64, Addr { scale: 0, disp: 0 }, false), &[chosen, place]);
        }
    };
    let lines = built(Class::Mask, build);
    let count = |lines: &[String], word: &str| lines.iter().filter(|line| line.contains(word)).count();
    assert_eq!((count(&lines, "= test.ne"), count(&lines, "= test.eq")), (1, 1), "{lines:?}");
    // All three bits of a lane may be those that are compared with, and some of them.
    assert_eq!((count(&lines, "= cmp.eq"), count(&lines, "= v.and")), (1, 1), "{lines:?}");
    // A sum is no change of its second operand.
    assert_eq!((count(&lines, "= v_masked.add.i64"), count(&lines, "= blend")), (2, 1), "{lines:?}");
    let lines = built(Class::Vec, build);
    assert_eq!((count(&lines, "= cmp.eq"), count(&lines, "= blend")), (3, 3), "{lines:?}");
}

#[test]
fn shifts_of_lanes_by_a_constant() {
    let lines = built(Class::Vec, |b, [x, place]| {
        let lanes = b.op(Op::Splat(Lane::I32), &[x]);
        for count in [5, 32] {
            let count = b.int(count);
            let counts = b.op(Op::Splat(Lane::I32), &[count]);
            let shifted = b.op(Op::V(Bin::Shl, Lane::I32, Extent::All), &[lanes, counts]);
            b.act(Op::VStore(Mem::B32, Addr { scale: 0, disp: 0 }, false), &[shifted, place]);
        }
    });
    assert!(lines.iter().any(|line| line.contains("v_shift_imm.shl.i32.5")), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("v.shl.i32.all")), "{lines:?}");
}

#[test]
fn what_is_read_changed_and_stored_is_updated() {
    let addr = Addr { scale: 4, disp: 8 };
    let lines = built(Class::Vec, |b, [x, place]| {
        let index = b.op(Op::Load(Mem::B32, Addr { scale: 0, disp: 0 }), &[x]);
        let index = b.op(Op::Extend(Mem::B32), &[index]);
        let (old, one) = (b.op(Op::Load(Mem::B32, addr), &[place, index]), b.int(1));
        let new = b.op(Op::Alu(Bin::Add, Width::W32), &[one, old]);
        b.act(Op::Store(Mem::B32, addr), &[new, place, index]);
    });
    let expected = ["%3:int = load_long.+0 %0", "update_imm.add.w32.1.x4+8 %1 %3"];
    assert_eq!(lines, expected);
    // What is subtracted from is what is there; and nothing is written between.
    let lines = built(Class::Vec, |b, [x, place]| {
        let old = b.op(Op::Load(Mem::B64, Addr { scale: 0, disp: 0 }), &[place]);
        let new = b.op(Op::Alu(Bin::Sub, Width::W64), &[x, old]);
        b.act(Op::Store(Mem::B64, Addr { scale: 0, disp: 0 }), &[new, place]);
    });
    assert!(lines.iter().all(|line| !line.contains("update")), "{lines:?}");
}

#[test]
fn what_chooses_by_a_comparison_compares_itself() {
    let lines = built(Class::Vec, |b, [x, place]| {
        let limit = b.op(Op::Load(Mem::B32, Addr { scale: 0, disp: 8 }), &[place]);
        let is_less = b.op(Op::Set(Cond::Lt, Width::W32), &[limit, x]);
        let least = b.op(Op::Choose, &[is_less, limit, x]);
        b.act(Op::Store(Mem::B32, Addr { scale: 0, disp: 0 }), &[least, place]);
    });
    let chosen = lines.iter().find(|line| line.contains("choose")).expect("it chooses");
    assert_eq!(chosen, "%4:int = choose_if.lt.w32 %2 %0 %2 %0");
}
