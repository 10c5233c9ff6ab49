//! The data formats: what is read, refused and written.

use super::*;
use crate::Value;
use galopvm_base::{ElemType, Scalar};
use galopvm_bytecode::ValueType;
use galopvm_store::memory::Memory;
use galopvm_testkit::Random;

/// The values of a text, printed, one per line; or the error.
fn read(text: &str) -> String {
    match read_values(&Memory::default(), text.as_bytes()) {
        Ok(values) => values.iter().map(value_text).collect::<Vec<_>>().join("\n"),
        Err(error) => format!("error {error}"),
    }
}

#[test]
fn text_is_read_and_printed_as_futhark_does() {
    for (text, printed) in [
        ("1 -2i8 0xffu8 0b101 1_000i64 +7", "1i32\n-2i8\n255u8\n5i32\n1000i64\n7i32"),
        (
            "1.0 -2.5f32 1e3 1e-5f32 3f32 .5 2.",
            "1f64\n-2.5f32\n1000f64\n9.99999975e-06f32\n3f32\n0.5f64\n2f64",
        ),
        ("0.1 0.1f32 1.5f16 0x1.8p1f32", "0.10000000000000001f64\n0.100000001f32\n1.5f16\n3f32"),
        (
            "f32.nan -f64.inf f16.inf -0.0 1e16 1e17",
            "f32.nan\n-f64.inf\nf16.inf\n-0f64\n10000000000000000f64\n1e+17f64",
        ),
        (
            "123456789012f32 1e9f32 123456789f32 0.0001 0.00001",
            "1.23456791e+11f32\n1e+09f32\n123456792f32\n0.0001f64\n1.0000000000000001e-05f64",
        ),
        ("true false", "true\nfalse"),
        (
            "-128i8 255u8 -0u8 -9223372036854775808i64 18446744073709551615u64 0xFFFFFFFF 0b11111111i8",
            "-128i8\n255u8\n0u8\n-9223372036854775808i64\n18446744073709551615u64\n-1i32\n-1i8",
        ),
        ("[[1,2],[3,4]] -- a comment [\n[ 1i64 , 2 ,]", "[[1i32, 2i32], [3i32, 4i32]]\n[1i64, 2i64]"),
        ("empty([0][2]i32) empty( [3] [0] f32 )", "empty([0][2]i32)\nempty([3][0]f32)"),
        ("\"a\\n\\\"\\228\" ()", "[97u8, 10u8, 34u8, 195u8, 164u8]"),
        ("[1.5, 2] [1.0f32, 2.5]", "[1.5f64, 2f64]\n[1f32, 2.5f32]"),
        ("[true,false]", "[true, false]"),
        ("[\"ab\", \"cd\"] [\"\"]", "[[97u8, 98u8], [99u8, 100u8]]\nempty([1][0]u8)"),
        ("[[\"a\"], [\"b\",]] [\"a\", [98u8]]", "[[[97u8]], [[98u8]]]\n[[97u8], [98u8]]"),
        ("[[97u8], \"b\"] [\"\", []]", "[[97u8], [98u8]]\nempty([2][0]u8)"),
        ("[empty([0]i32)]", "empty([1][0]i32)"),
        ("[[empty([0][2]f32), empty( [0][2]f32 )]]", "empty([1][2][0][2]f32)"),
        ("[[], empty([0]i8)] [empty([0]u8), \"\"]", "empty([2][0]i8)\nempty([2][0]u8)"),
    ] {
        assert_eq!(read(text), printed, "{text}");
    }
}

#[test]
fn errors_have_places() {
    for (text, error) in [
        ("[1, 2", "error 1:6: the input ends where `,` or `]` is expected"),
        ("1\n  [[1],\n [2, 3]]", "error 3:7: this row has 2 elements, the rows before it have 1"),
        ("[1 2]", "error 1:4: `,` or `]` is expected here"),
        ("[1, 2.5]", "error 1:5: `2.5` is not an integer, but a value of type i32 is expected"),
        ("[1i8, 2i16]", "error 1:7: this i16 is in an array of i8"),
        ("[]", "error 1:1: the type of this array is not known: write it as `empty([0]i32)`"),
        ("[[1], 2]", "error 1:7: `[` is expected here"),
        ("[\"ab\", \"c\"]", "error 1:8: this row has 1 elements, the rows before it have 2"),
        ("[\"ab\", [1u8]]", "error 1:12: this row has 1 elements, the rows before it have 2"),
        ("[\"a\", [1i32]]", "error 1:8: this i32 is in an array of u8"),
        ("[[1i32], \"a\"]", "error 1:10: this string is in an array of i32"),
        ("[[\"a\"], \"a\"]", "error 1:9: `[` is expected here"),
        ("[\"a\", 1]", "error 1:7: `[` is expected here"),
        ("[1, \"a\"]", "error 1:5: a value is expected here"),
        ("[empty([0]i32), [1]]", "error 1:19: this row has 1 elements, the rows before it have 0"),
        (
            "[empty([0]i32), empty([0][1]i32)]",
            "error 1:17: this array has 2 dimensions, those before it have 1",
        ),
        ("[empty([0]i32), empty([0]i8)]", "error 1:17: this i8 is in an array of i32"),
        ("[\"abc", "error 1:2: this string has no end"),
        ("ä hello", "error 1:1: a value is expected here"),
        ("\"ä\" hello", "error 1:5: `hello` is not a value"),
        ("empty([1]i32)", "error 1:1: an array without a zero extent is not empty"),
        ("\"abc", "error 1:1: this string has no end"),
        ("1i33 ", "error 1:1: `1i33` is not a value"),
        ("[1, 2,", "error 1:7: the input ends where a value is expected"),
        ("2147483648", "error 1:1: `2147483648` does not fit i32, which goes from -2147483648 to 2147483647"),
        ("-129i8", "error 1:1: `-129i8` does not fit i8, which goes from -128 to 127"),
        ("[255u8, 256]", "error 1:9: `256` does not fit u8, which goes from 0 to 255"),
        ("-1u16", "error 1:1: `-1u16` does not fit u16, which goes from 0 to 65535"),
        (
            "99999999999999999999i64",
            "error 1:1: `99999999999999999999i64` does not fit i64, which goes from -9223372036854775808 to \
             9223372036854775807",
        ),
        (
            "0x1_00000000",
            "error 1:1: `0x1_00000000` does not fit i32, which goes from -2147483648 to 2147483647",
        ),
        ("b\u{2}", "error 1:1: the binary value that starts here is cut off"),
        ("b\u{3}  ", "error 1:1: binary values of version 3 are not known, only version 2"),
    ] {
        assert_eq!(read(text), error, "{text}");
    }
}

#[test]
fn expected_types_direct_reading() {
    let memory = Memory::default();
    let one = |text: &str, ty: ValueType| match Reader::new(&memory, text.as_bytes()).value(Some(ty)) {
        Ok(Some(value)) => value_text(&value),
        Ok(None) => "nothing".to_string(),
        Err(error) => format!("error {error}"),
    };
    assert_eq!(one("5", ValueType::scalar(ElemType::I64)), "5i64");
    assert_eq!(one("5", ValueType::scalar(ElemType::F32)), "5f32");
    assert_eq!(
        one("5i32", ValueType::scalar(ElemType::I64)),
        "error 1:1: expected a value of type i64, found one of type i32"
    );
    assert_eq!(one("[1, 2]", ValueType::array(ElemType::U8, 1)), "[1u8, 2u8]");
    assert_eq!(one("[[],[]]", ValueType::array(ElemType::F64, 2)), "empty([2][0]f64)");
    assert_eq!(
        one("[]", ValueType::array(ElemType::F64, 2)),
        "error 1:1: expected a value of type [][]f64, found one of type []f64"
    );
    assert_eq!(
        one("1.5", ValueType::scalar(ElemType::I32)),
        "error 1:1: `1.5` is not an integer, but a value of type i32 is expected"
    );
    assert_eq!(one("1", ValueType::scalar(ElemType::Bool)), "error 1:1: `1` is not a bool");
    assert_eq!(one(" ", ValueType::scalar(ElemType::I32)), "nothing");
    assert_eq!(one("[\"ab\"]", ValueType::array(ElemType::U8, 2)), "[[97u8, 98u8]]");
    assert_eq!(
        one("[\"ab\"]", ValueType::array(ElemType::I32, 2)),
        "error 1:2: this string is in an array of i32"
    );
    assert_eq!(
        one("[\"ab\"]", ValueType::array(ElemType::U8, 1)),
        "error 1:1: expected a value of type []u8, found one of type [][]u8"
    );
}

#[test]
fn binary_and_text_mix_and_round_trip() {
    let memory = Memory::default();
    let texts = "[[1i32, 2i32], [3i32, 4i32]] 7u8 [true, false] -1.5f16 empty([0][2]f64) [0.1f64]";
    let values = read_values(&memory, texts.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    for (k, value) in values.iter().enumerate() {
        bytes.extend_from_slice(b" \n");
        if k % 2 == 0 {
            write_binary(&mut bytes, value).unwrap();
        } else {
            write_text(&mut bytes, value).unwrap();
        }
    }
    assert_eq!(read_values(&memory, &bytes).unwrap(), values);
    let mut scalar = Vec::new();
    write_binary(&mut scalar, &Value::Scalar(Scalar::i64(-2))).unwrap();
    assert_eq!(scalar, b"b\x02\0 i64\xfe\xff\xff\xff\xff\xff\xff\xff");
}

#[test]
fn large_binary_arrays_stay_in_their_file() {
    let memory = Memory::default();
    let numbers: Vec<f32> = (0..500_000).map(|i| i as f32).collect();
    let array = galopvm_store::Array::from_slice(&memory, &numbers, &[500, 1000]).unwrap();
    let transposed = array.with_view(array.lmad().transpose());
    let path = std::env::temp_dir().join(format!("galopvm-data-{}", std::process::id()));
    let mut bytes = Vec::new();
    write_binary(&mut bytes, &Value::Array(transposed.clone())).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    let fresh = Memory::default();
    let file = Input::open(&fresh, &path).unwrap();
    let value = Reader::of_input(&fresh, &file).value(None).unwrap().unwrap();
    assert_eq!(value, Value::Array(transposed));
    assert_eq!(fresh.stats().allocated_bytes, 0);
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn every_scalar_reads_back() {
    let mut random = Random::new(1);
    for round in 0..20_000 {
        let ty = ElemType::ALL[round % ElemType::ALL.len()];
        let scalar = Scalar::new(ty, random.bits() >> (round % 3 * 20));
        let is_nan = ty.is_float() && scalar.as_f64().is_nan();
        let text = value_text(&Value::Scalar(scalar));
        let back = read_values(&Memory::default(), text.as_bytes()).unwrap();
        assert!(is_nan || back == [Value::Scalar(scalar)], "{text}");
    }
}

#[test]
fn data_is_written_as_futhark_dataset_does() {
    let memory = Memory::default();
    let text = "1 2.5 [1,2] \"abc\" true 1e-7 123456789.0f32 1e21 0.1 100000 1234567.0 12345678.0 f32.nan -f64.inf \
                empty([0][2]i32) -0.0 [[1.0,20.0],[0.05f64,1.5]] [[[1],[2]],[[3],[4]]] 16777216f32 0.1f16";
    let mut out = Vec::new();
    for value in read_values(&memory, text.as_bytes()).unwrap() {
        write_text_in(&mut out, &value, Style::Data).unwrap();
        out.push(b'\n');
    }
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "1i32\n2.5f64\n[1i32, 2i32]\n[97u8, 98u8, 99u8]\ntrue\n1.0e-7f64\n1.2345679e8f32\n1.0e21f64\n0.1f64\n100000i32\n\
         1234567.0f64\n1.2345678e7f64\nf32.nan\n-f64.inf\nempty([0][2]i32)\n-0.0f64\n[[1.0f64, 20.0f64],\n[5.0e-2f64, \
         1.5f64]]\n[[[1i32],\n[2i32]],\n[[3i32],\n[4i32]]]\n1.6777216e7f32\n9.9975586e-2f16\n"
    );
}

#[test]
fn npy_is_read_and_written_like_the_other_formats() {
    let memory = Memory::default();
    let text = "[[1i16, 2i16, 3i16], [4i16, 5i16, 6i16]] 7u8 [true, false] -1.5f16 empty([0][2]f64) [0.1f64]";
    let values = read_values(&memory, text.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    for value in &values {
        let start = bytes.len();
        write_npy(&mut bytes, value).unwrap();
        assert_eq!((bytes.len() - start) % 64, value_bytes(value) % 64);
    }
    bytes.extend_from_slice(b" 42 -- and text\n");
    let back = read_values(&memory, &bytes).unwrap();
    assert_eq!(back[..6], values);
    assert_eq!(back[6], Value::Scalar(Scalar::new(ElemType::I32, 42)));
    assert!(bytes.starts_with(b"\x93NUMPY\x01\0"));
    // Fortran's order and the other order of bytes; versions 1 and 2.
    let made = |version: &[u8], descr: &str, order: &str, data: &[u8]| {
        let text = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': (2, 3), }}\n");
        let mut bytes = [b"\x93NUMPY", version, &(text.len() as u16).to_le_bytes()[..]].concat();
        if version[0] == 2 {
            bytes.extend_from_slice(&[0, 0]);
        }
        [&bytes[..], text.as_bytes(), data].concat()
    };
    let columns = [1i16, 4, 2, 5, 3, 6].map(i16::to_le_bytes).concat();
    assert_eq!(read_values(&memory, &made(&[1, 0], "<i2", "True", &columns)).unwrap()[0], values[0]);
    let big = [1i16, 2, 3, 4, 5, 6].map(i16::to_be_bytes).concat();
    assert_eq!(read_values(&memory, &made(&[2, 0], ">i2", "False", &big)).unwrap()[0], values[0]);
    for (bytes, message) in [
        (made(&[1, 0], "<c8", "False", &big), "elements of type `<c8` have no type in Futhark"),
        (made(&[9, 0], "<i2", "False", &big), ".npy values of version 9 are not known"),
        (made(&[1, 0], "<i8", "False", &big), "the binary value that starts here is cut off"),
        (b"\x93NUMPY\x01\0\xff\xff{".to_vec(), "the .npy value that starts here is cut off"),
        (b"\x93".to_vec(), "this is neither text nor a .npy value"),
    ] {
        assert_eq!(read_values(&memory, &bytes).unwrap_err().message, message);
    }
}

fn value_bytes(value: &Value) -> usize {
    value.as_array().map_or(1, |array| array.elements() as usize) * value.elem().bytes()
}

#[test]
fn packed_input_is_unpacked_within_the_limit() {
    let text = "[".to_string() + &"1.5, ".repeat(100_000) + "2] 7";
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let memory = Memory::default();
    let input = Input::read(&memory, &mut packed.as_slice(), 0).unwrap();
    assert_eq!(input.bytes(), text.as_bytes());
    let mut reader = Reader::of_input(&memory, &input);
    let array = reader.value(None).unwrap().unwrap();
    assert_eq!(array.as_array().unwrap().shape().as_slice(), [100_001]);
    assert_eq!(reader.value(None).unwrap(), Some(Value::Scalar(Scalar::new(ElemType::I32, 7))));
    let small = Memory::new(Some(300_000));
    let refused = Input::read(&small, &mut packed.as_slice(), 0).map(|_| ()).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::OutOfMemory);
    assert_eq!(small.stats().live_bytes, 0);
    assert!(Input::read(&memory, &mut &packed[..packed.len() / 2], 0).is_err());
    // Text that does not fit is refused as well, with its place.
    let error = read_values(&Memory::new(Some(500_000)), text.as_bytes()).unwrap_err();
    assert!(error.message.starts_with("Out of memory") && error.line == 1, "{error}");
}

#[test]
fn long_arrays_keep_every_element_whatever_lies_between() {
    let memory = Memory::default();
    let mut text = String::from("[ -- ]]]] , , ,\n");
    for k in 0..3000 {
        text.push_str(&format!(
            "[{k}, {},{} -- [\n,-{k}]{}",
            k + 1,
            k + 2,
            if k < 2999 { " , " } else { "" }
        ));
    }
    text.push_str("] 5");
    let values = read_values(&memory, text.as_bytes()).unwrap();
    let array = values[0].as_array().unwrap();
    assert_eq!(array.shape().as_slice(), [3000, 4]);
    let expected: Vec<i32> = (0..3000).flat_map(|k| [k, k + 1, k + 2, -k]).collect();
    assert_eq!(array.to_vec::<i32>().unwrap(), expected);
    assert_eq!(values.len(), 2);
}

#[test]
fn test_blocks_take_the_lowest_bits() {
    let memory = Memory::default();
    let texts =
        ["255i8", "32767u8", "[-271733879u32, 4294967296u32]", "18446744073709551615i64", "[128i8, 5]"];
    let wrapped = texts.map(|text| {
        let mut reader = Reader::new(&memory, text.as_bytes()).taking(Misfit::Wrapped);
        reader.values().map(|values| values[0].to_string())
    });
    let expected = ["-1i8", "255u8", "[4023233417u32, 0u32]", "-1i64", "[-128i8, 5i8]"];
    assert_eq!(wrapped, expected.map(|text| Ok(text.to_string())));
    for text in texts {
        let refused = read_values(&memory, text.as_bytes()).expect_err("other data does not wrap");
        assert!(refused.message.contains("does not fit"), "{refused}");
    }
}
