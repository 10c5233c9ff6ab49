//! Every row, in every form it is used in, against the disassembler of iced-x86: mnemonic, registers, memory operand,
//! mask, length.

use super::encode::{Form, Instr, Length, Place, Row};
use super::rows;
use crate::lir::{Bin, Change, Lane};
use galopvm_testkit::Random;
use iced_x86::{Decoder, DecoderOptions, Instruction, OpKind, Register};

fn vector(length: Length, number: u8) -> Register {
    let first = match length {
        Length::L128 => Register::XMM0,
        Length::L256 => Register::YMM0,
        Length::L512 => Register::ZMM0,
    };
    first + u32::from(number)
}

fn decode(instr: &Instr, form: Form) -> Instruction {
    let bytes = instr.bytes(form);
    let mut decoder = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE);
    let decoded = decoder.decode();
    assert_eq!(decoded.len(), bytes.len(), "{instr:?} {form:?} {bytes:02x?}");
    decoded
}

/// Rows with three vector operands of one length, with their mnemonics in EVEX.
fn three_operand_rows() -> Vec<(Row, &'static str)> {
    let lanes = [(Lane::I32, "d"), (Lane::I64, "q"), (Lane::F32, "ps"), (Lane::F64, "pd")];
    let mut all = Vec::new();
    for bin in [Bin::Add, Bin::Sub, Bin::Mul, Bin::Div, Bin::And, Bin::Or, Bin::Xor, Bin::AndNot] {
        for (lane, suffix) in lanes {
            let Some(row) = rows::bin(bin, lane) else { continue };
            let bits = if lane.is_wide() { "q" } else { "d" };
            let name = match (bin, lane.is_float()) {
                (Bin::And, _) => format!("vpand{bits}"),
                (Bin::Or, _) => format!("vpor{bits}"),
                (Bin::Xor, _) => format!("vpxor{bits}"),
                (Bin::AndNot, _) => format!("vpandn{bits}"),
                (Bin::Mul, false) => format!("vpmull{suffix}"),
                (_, true) => format!("v{}{suffix}", format!("{bin:?}").to_lowercase()),
                (_, false) => format!("vp{}{suffix}", format!("{bin:?}").to_lowercase()),
            };
            all.push((row, &*name.leak()));
        }
    }
    for (bin, name) in [
        (Bin::MinS, "vpmins"),
        (Bin::MaxS, "vpmaxs"),
        (Bin::MinU, "vpminu"),
        (Bin::MaxU, "vpmaxu"),
        (Bin::Shl, "vpsllv"),
        (Bin::Shr, "vpsrlv"),
        (Bin::Sar, "vpsrav"),
    ] {
        for (lane, suffix) in &lanes[..2] {
            if let Some(row) = rows::bin(bin, *lane) {
                all.push((row, &*format!("{name}{suffix}").leak()));
            }
        }
    }
    for (lane, suffix) in &lanes[2..] {
        for (bin, name) in [(Bin::FMin, "vmin"), (Bin::FMax, "vmax")] {
            if let Some(row) = rows::bin(bin, *lane) {
                all.push((row, &*format!("{name}{suffix}").leak()));
            }
        }
        all.push((rows::fma(*lane, false), &*format!("vfmadd231{suffix}").leak()));
    }
    all.extend([
        (rows::PERMUTE_D, "vpermd"),
        (rows::PERMUTE_Q, "vpermq"),
        (rows::PICK_D, "vpermi2d"),
        (rows::PICK_Q, "vpermi2q"),
        (rows::BLEND_D_MASK, "vpblendmd"),
        (rows::BLEND_Q_MASK, "vpblendmq"),
        (rows::MULTIPLY_DQ, "vpmuludq"),
        (rows::MULTIPLY_DQ_SIGNED, "vpmuldq"),
    ]);
    all
}

#[test]
fn three_operands_in_evex() {
    let mut numbers = Random::new(1);
    for (row, name) in three_operand_rows() {
        for length in [Length::L128, Length::L256, Length::L512] {
            if length == Length::L128 && name.starts_with("vperm") {
                continue;
            }
            for _ in 0..20 {
                let [a, b, c] = [0; 3].map(|_| numbers.below(32) as u8);
                let mask = numbers.below(8) as u8;
                let zero = mask != 0 && numbers.below(2) == 1;
                let instr = Instr { mask, zero, ..Instr::new(row, length, a, b, Place::Reg(c)) };
                let decoded = decode(&instr, Form::Evex);
                assert_eq!(format!("{:?}", decoded.mnemonic()).to_lowercase(), name);
                for (k, number) in [a, b, c].into_iter().enumerate() {
                    assert_eq!(decoded.op_register(k as u32), vector(length, number), "{name} operand {k}");
                }
                let expected = if mask == 0 { Register::None } else { Register::K0 + u32::from(mask) };
                assert_eq!((decoded.op_mask(), decoded.zeroing_masking()), (expected, zero));
            }
        }
    }
}

#[test]
fn three_operands_in_vex_and_sse() {
    let mut numbers = Random::new(2);
    for (row, name) in three_operand_rows() {
        // These exist in AVX-512 only.
        if name.ends_with('q') && (name.contains("min") || name.contains("max") || name.contains("mull"))
            || ["vpsravq", "vpermq", "vpermi2d", "vpermi2q", "vpblendmd", "vpblendmq"].contains(&name)
        {
            continue;
        }
        let plain = match name {
            "vpandd" | "vpandq" | "vpord" | "vporq" | "vpxord" | "vpxorq" | "vpandnd" | "vpandnq" => {
                &name[..name.len() - 1]
            }
            other => other,
        };
        for _ in 0..20 {
            let [a, b, c] = [0; 3].map(|_| numbers.below(16) as u8);
            let decoded = decode(&Instr::new(row, Length::L256, a, b, Place::Reg(c)), Form::Vex);
            assert_eq!(format!("{:?}", decoded.mnemonic()).to_lowercase(), plain);
            for (k, number) in [a, b, c].into_iter().enumerate() {
                assert_eq!(decoded.op_register(k as u32), vector(Length::L256, number), "{name} operand {k}");
            }
        }
    }
    for (bin, name) in [(Bin::Add, "add"), (Bin::Sub, "sub"), (Bin::Mul, "mul"), (Bin::Div, "div")] {
        for (lane, suffix) in [(Lane::F32, "ss"), (Lane::F64, "sd")] {
            let row = rows::scalar(rows::bin(bin, lane).expect("floats have it"), lane);
            let [a, b] = [0; 2].map(|_| numbers.below(16) as u8);
            let decoded = decode(&Instr::new(row, Length::L128, a, a, Place::Reg(b)), Form::Sse);
            assert_eq!(format!("{:?}", decoded.mnemonic()).to_lowercase(), format!("{name}{suffix}"));
            assert_eq!(decoded.op_register(1), vector(Length::L128, b));
        }
    }
}

#[test]
fn memory_operands() {
    let mut numbers = Random::new(3);
    for _ in 0..3000 {
        let disp = [0, 8, -8, 64, 127, 128, -129, 1 << 20][numbers.below(8) as usize];
        let base = numbers.below(16) as u8;
        let mut index = numbers.below(16) as u8;
        if index == 4 {
            index = 5;
        }
        let scale = 1 << numbers.below(4);
        let place = if numbers.below(2) == 0 {
            Place::Base { base, disp }
        } else {
            Place::Indexed { base, index, scale, disp }
        };
        for (form, registers, length) in
            [(Form::Sse, 16, Length::L128), (Form::Vex, 16, Length::L256), (Form::Evex, 32, Length::L512)]
        {
            let reg = numbers.below(registers) as u8;
            let decoded = decode(&Instr::new(rows::LOAD_NARROW, length, reg, 0, place), form);
            assert_eq!(decoded.op_register(0), vector(length, reg));
            assert_eq!(decoded.op_kind(1), OpKind::Memory);
            assert_eq!(decoded.memory_base(), Register::RAX + u32::from(base));
            assert_eq!(decoded.memory_displacement64() as i32, disp);
            if let Place::Indexed { .. } = place {
                assert_eq!(decoded.memory_index(), Register::RAX + u32::from(index));
                assert_eq!(decoded.memory_index_scale(), u32::from(scale));
            } else {
                assert_eq!(decoded.memory_index(), Register::None);
            }
        }
    }
}

#[test]
fn constants_behind_the_code() {
    let mut numbers = Random::new(4);
    let row = rows::bin(Bin::Mul, Lane::F64).expect("floats have it");
    for _ in 0..200 {
        let disp = numbers.between(0, 1 << 20) as i32;
        for (form, registers, length) in
            [(Form::Sse, 16, Length::L128), (Form::Vex, 16, Length::L256), (Form::Evex, 32, Length::L512)]
        {
            let [reg, extra] = [0; 2].map(|_| numbers.below(registers) as u8);
            let broadcast = form == Form::Evex;
            let instr = Instr { broadcast, ..Instr::new(row, length, reg, extra, Place::Behind(disp)) };
            let decoded = decode(&instr, form);
            assert_eq!(decoded.op_register(0), vector(length, reg));
            assert!(decoded.is_ip_rel_memory_operand());
            let end = decoded.len() as u64;
            assert_eq!(decoded.ip_rel_memory_address(), end + disp as u64);
            assert_eq!(decoded.is_broadcast(), broadcast);
            if form != Form::Sse {
                assert_eq!(decoded.op_register(1), vector(length, extra));
            }
        }
    }
}

#[test]
fn gathers_have_vector_indices() {
    for index in (0..32u8).filter(|k| *k != 30) {
        let place = Place::Indexed { base: 3, index, scale: 8, disp: 0 };
        let instr = Instr {
            mask: 3,
            vector_index: true,
            ..Instr::new(rows::GATHER_WIDE, Length::L512, 30, 0, place)
        };
        let decoded = decode(&instr, Form::Evex);
        assert_eq!(format!("{:?}", decoded.mnemonic()), "Vpgatherqq");
        assert_eq!(decoded.memory_index(), vector(Length::L512, index));
        assert_eq!(decoded.op_register(0), vector(Length::L512, 30));
        assert_eq!(decoded.op_mask(), Register::K3);
    }
}

#[test]
fn conversions_have_their_names() {
    let named = [
        (Change::Signed, Lane::I32, Lane::F32, "Vcvtdq2ps"),
        (Change::Unsigned, Lane::I32, Lane::F32, "Vcvtudq2ps"),
        (Change::Signed, Lane::F32, Lane::I32, "Vcvttps2dq"),
        (Change::Unsigned, Lane::F32, Lane::I32, "Vcvttps2udq"),
        (Change::Signed, Lane::I64, Lane::F64, "Vcvtqq2pd"),
        (Change::Unsigned, Lane::I64, Lane::F64, "Vcvtuqq2pd"),
        (Change::Signed, Lane::F64, Lane::I64, "Vcvttpd2qq"),
        (Change::Unsigned, Lane::F64, Lane::I64, "Vcvttpd2uqq"),
        (Change::Extend, Lane::I32, Lane::I64, "Vpmovsxdq"),
        (Change::ExtendZero, Lane::I32, Lane::I64, "Vpmovzxdq"),
        (Change::Float, Lane::F32, Lane::F64, "Vcvtps2pd"),
        (Change::Float, Lane::F64, Lane::F32, "Vcvtpd2ps"),
        (Change::Signed, Lane::I32, Lane::F64, "Vcvtdq2pd"),
        (Change::Unsigned, Lane::I32, Lane::F64, "Vcvtudq2pd"),
        (Change::Signed, Lane::F32, Lane::I64, "Vcvttps2qq"),
        (Change::Unsigned, Lane::F32, Lane::I64, "Vcvttps2uqq"),
        (Change::Signed, Lane::I64, Lane::F32, "Vcvtqq2ps"),
        (Change::Unsigned, Lane::I64, Lane::F32, "Vcvtuqq2ps"),
        (Change::Signed, Lane::F64, Lane::I32, "Vcvttpd2dq"),
        (Change::Unsigned, Lane::F64, Lane::I32, "Vcvttpd2udq"),
    ];
    for (change, from, to, name) in named {
        let row = rows::convert(change, from, to).expect("it is in the table");
        let decoded = decode(&Instr::new(row, Length::L512, 17, 0, Place::Reg(29)), Form::Evex);
        assert_eq!(format!("{:?}", decoded.mnemonic()), name);
    }
}

#[test]
fn elements_of_a_quarter() {
    let mut numbers = Random::new(5);
    // Row, mnemonic, whether it has a number of an element, and whether it reads memory into a second source.
    let all = [
        (rows::LOAD_UPPER, "Vmovhpd", false, true),
        (rows::STORE_UPPER, "Vmovhpd", false, false),
        (rows::INSERT_D, "Vpinsrd", true, true),
        (rows::EXTRACT_D, "Vpextrd", true, false),
        (rows::EXTRACT_W, "Vpextrw", true, false),
        (rows::EXTRACT_B, "Vpextrb", true, false),
    ];
    for (form, registers) in [(Form::Vex, 16), (Form::Evex, 32)] {
        for (row, name, numbered, loads) in all {
            for scale in [1, 2] {
                let [reg, extra] = [0; 2].map(|_| numbers.below(registers) as u8);
                let extra = if loads { extra } else { 0 };
                let place = Place::Indexed { base: 13, index: 11, scale, disp: 0 };
                let imm = numbered.then_some(3);
                let instr = Instr { imm, ..Instr::new(row, Length::L128, reg, extra, place) };
                let decoded = decode(&instr, form);
                assert_eq!(format!("{:?}", decoded.mnemonic()), name);
                assert_eq!(
                    decoded.op_register(if loads { 0 } else { 1 }),
                    vector(Length::L128, reg),
                    "{name}"
                );
                if loads {
                    assert_eq!(decoded.op_register(1), vector(Length::L128, extra), "{name}");
                }
                assert_eq!(decoded.memory_base(), Register::R13);
                assert_eq!(decoded.memory_index(), Register::R11);
                assert_eq!(decoded.memory_index_scale(), u32::from(scale));
                assert!(!numbered || decoded.immediate8() == 3);
            }
        }
        let length = if form == Form::Evex { Length::L512 } else { Length::L256 };
        let (insert, extract) = match form {
            Form::Evex => ("Vinserti32x4", "Vextracti32x4"),
            _ => ("Vinserti128", "Vextracti128"),
        };
        let decoded = decode(
            &Instr { imm: Some(1), ..Instr::new(rows::INSERT_HALF_256, length, 7, 9, Place::Reg(13)) },
            form,
        );
        assert_eq!(format!("{:?}", decoded.mnemonic()), insert);
        let decoded = decode(
            &Instr { imm: Some(1), ..Instr::new(rows::EXTRACT_HALF_256, length, 7, 0, Place::Reg(13)) },
            form,
        );
        assert_eq!(format!("{:?}", decoded.mnemonic()), extract);
    }
}
