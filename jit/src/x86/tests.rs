//! What has no instructions is refused, in every instruction set.

use super::{CpuMode, Isa};
use crate::assemble::assemble;
use crate::lir::{Bin, Class, Code, Extent, Lane, Op, build::Builder, check, parse};
use crate::target::Target;
use galopvm_kir::{Refusal, Vectors};

/// The machine code of one operation on operands of the classes that it takes.
fn emitted(op: Op, mode: CpuMode) -> Result<Vec<u8>, Refusal> {
    let isa = Isa { mode };
    let mut builder = Builder::new(isa.masks());
    let args: Vec<_> = op
        .operands()
        .into_iter()
        .zip(0..)
        .map(|(kind, k)| {
            // Each operand is another one: of what is twice the same an operation may come to less.
            let word = builder.op(Op::Word(k), &[]);
            match kind.class(isa.masks()) {
                Class::Int => word,
                Class::Vec => builder.op(Op::ToFloat(Lane::F64), &[word]),
                Class::Mask => builder.op(Op::MaskAll, &[]),
            }
        })
        .collect();
    match op.result() {
        Some(_) => _ = builder.op(op, &args),
        None => builder.act(op, &args),
    }
    builder.end(Op::Return, &[]);
    let code: Code = builder.finish();
    assert_eq!(check(&code), Ok(()), "{code}");
    assemble(&code, &isa)
}

/// Operations by text with the instruction sets that have them.
#[test]
fn what_has_no_instructions_is_refused() {
    const ALL: &[CpuMode] = &CpuMode::ALL;
    const NONE: &[CpuMode] = &[];
    const VECTORS: &[CpuMode] = &[CpuMode::Avx2, CpuMode::Avx512];
    const WIDEST: &[CpuMode] = &[CpuMode::Avx512];
    for (text, expected) in [
        ("v.div.f64.all", VECTORS),
        ("v.div.i64.all", NONE),
        ("v.div.i64.one", NONE),
        ("v.min_s.i32.one", NONE),
        ("v.and.i32.one", ALL),
        ("v.fmin.f32.one", ALL),
        ("v.sar.i64.all", WIDEST),
        ("v_shift_imm.sar.i64.3", WIDEST),
        ("v_shift_imm.sar.i32.3", VECTORS),
        ("v_shift_imm.add.i32.3", NONE),
        ("v.mul.i64.all", VECTORS),
        ("convert.signed.i64.f64", WIDEST),
        ("convert.signed.i32.f32", VECTORS),
        ("convert.extend.i32.f32", NONE),
        ("alu.add.w64", ALL),
        ("alu.fmax.w64", NONE),
        ("alu_imm.min_s.w64.1", NONE),
        ("load_long.x4+0", ALL),
        ("update.sub.w32.x8+4", ALL),
        ("update.mul.w64.+0", NONE),
        ("update_imm.xor.w64.-3.x1+4", ALL),
        ("update_imm.shl.w32.1.+0", NONE),
        ("round.floor.f64.one", VECTORS),
        ("fma.f32.one", VECTORS),
        ("splat.i32", VECTORS),
        ("iota.i32.240", VECTORS),
        ("iota.i32.256", NONE),
        ("move_down.32", WIDEST),
        ("move_down.5", NONE),
        ("move_up.4", VECTORS),
        ("move_up.16", VECTORS),
        ("move_up.32", WIDEST),
        ("move_up.0", NONE),
        ("move_up.6", NONE),
        ("move_up.64", NONE),
        ("alternate.i32", VECTORS),
        ("alternate.f64", VECTORS),
        ("splat_last.i32", VECTORS),
        ("splat_last.i64", VECTORS),
        ("v_load_mask.b32.x4+0", VECTORS),
        ("v_load_mask.s8.x1+0", WIDEST),
        ("v_store_mask.u16.+0", WIDEST),
        ("gather.b64", VECTORS),
        ("gather_each.s8", VECTORS),
        ("scatter_each.b32", VECTORS),
        ("v_store.b32.+0.past_caches", VECTORS),
        ("cmp.lt.f32", VECTORS),
        ("cmp.below.i32", VECTORS),
        ("blend.i32", VECTORS),
        ("test.eq.i64", WIDEST),
        ("test.ne.i32", WIDEST),
        ("test.lt.i32", NONE),
        ("test.eq.f32", NONE),
        ("v_masked.add.i32", WIDEST),
        ("v_masked.div.f64", WIDEST),
        ("v_masked.div.i64", NONE),
        ("mask_half.upper", VECTORS),
        ("mask_all", VECTORS),
        ("help.exp:f32.all", VECTORS),
        ("help.exp:f32.one", ALL),
        ("help_scalar.pow:i64", ALL),
        ("mend.log:f64.all", VECTORS),
        ("mend.pow:f32.one", ALL),
        ("constant.f32.one.1065353216", ALL),
        ("constant.i64.all.-1", VECTORS),
        ("v_const.add.f64.one.0", ALL),
        ("v_const.and.f64.one.-1", ALL),
        ("v_const.add.i64.one.1", NONE),
        ("v_const.add.i64.all.1", VECTORS),
        ("v_const.mul.i64.all.3", WIDEST),
        ("v_const.min_u.i32.all.3", VECTORS),
        ("poll_at.7.255", ALL),
        ("mask_logic.and", VECTORS),
        ("mask_logic.add", NONE),
    ] {
        let op = Op::read(text).expect(text);
        let have: Vec<CpuMode> = CpuMode::ALL.into_iter().filter(|mode| emitted(op, *mode).is_ok()).collect();
        assert_eq!(have, expected, "{text}");
    }
}

#[test]
fn the_reason_names_the_operation() {
    let op = Op::V(Bin::Div, Lane::I64, Extent::All);
    let refused = emitted(op, CpuMode::Avx512).expect_err("no such instruction");
    assert!(refused.to_string().contains("no machine code for V(Div, I64, All)"), "{refused}");
}

/// Constants stand behind the code, each once, as often as the instructions that name it read.
#[test]
fn constants_stand_behind_the_code() {
    let text = "\
masks vec
block0:
  %0:int = word.0
  %1:vec = v_load.b64.+0 %0
  %2:vec = v_const.mul.f64.all.4607182418800017408 %1
  %3:vec = constant.f64.all.4611686018427387904
  %4:vec = v_const.add.f64.all.4607182418800017408 %2
  %5:vec = v.add.f64.all %3 %4
  v_store.b64.+0.not_past_caches %5 %0
  return
";
    for (mode, copies) in [(CpuMode::Avx2, 4), (CpuMode::Avx512, 1)] {
        let isa = Isa { mode };
        let text =
            text.replace("masks vec", if isa.masks() == Class::Mask { "masks mask" } else { "masks vec" });
        let code = parse(&text).expect("it reads");
        assert_eq!(check(&code), Ok(()), "{code}");
        let bytes = assemble(&code, &isa).expect("it has instructions");
        let listing = isa.disassemble("constants", &bytes);
        let data: Vec<&str> = listing.lines().filter_map(|line| Some(line.split_once("dq ")?.1)).collect();
        let expected = [vec!["0x3ff0000000000000"; copies], vec!["0x4000000000000000"; copies]].concat();
        assert_eq!(data, expected, "{listing}");
        assert!(
            data.len() * 8 < bytes.len() && (bytes.len() - data.len() * 8).is_multiple_of(64),
            "{listing}"
        );
    }
}

#[test]
fn all_that_is_spilled_comes_back() {
    // More values than registers, all of them used at the end.
    let mut text = "masks mask\nblock0:\n".to_string();
    (0..40).for_each(|k| text.push_str(&format!("  %{k}:int = word.{k}\n")));
    (0..40).for_each(|k| text.push_str(&format!("  %{}:vec = to_float.f64 %{k}\n", 40 + k)));
    (1..40).for_each(|k| {
        let before = if k == 1 { 40 } else { 78 + k };
        text.push_str(&format!("  %{}:vec = v.add.f64.all %{before} %{}\n", 79 + k, 40 + k));
    });
    (0..40).for_each(|k| text.push_str(&format!("  store.b64.+{} %{k} %0\n", 8 * k)));
    text.push_str("  v_store.b64.+0.not_past_caches %118 %0\n  return\n");
    let code = parse(&text).expect("it reads");
    assert_eq!(check(&code), Ok(()), "{code}");
    let bytes = assemble(&code, &Isa { mode: CpuMode::Avx512 }).expect("there is room in the frame");
    assert!(bytes.len() > 40 * 4);
}

#[test]
fn a_shape_of_vectors_names_the_widest_mode_that_fits() {
    for mode in CpuMode::ALL {
        assert_eq!((CpuMode::of(mode.vectors()), mode.name().parse()), (mode, Ok(mode)));
    }
    assert_eq!(CpuMode::of(Vectors::NONE), CpuMode::Scalar);
    assert_eq!(CpuMode::of(Vectors { masks: false, ..CpuMode::Avx512.vectors() }), CpuMode::Avx2);
    assert_eq!(CpuMode::of(Vectors { lanes: 4, ..CpuMode::Avx512.vectors() }), CpuMode::Scalar);
}
