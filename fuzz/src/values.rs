//! Values as files hold them: text, binary and npy, one after the other, mostly damaged. What is read is written and read again
//! as the same.

use crate::case::{self, Outcome};
use crate::clock::Clock;
use galopvm_base::{ElemType, Scalar};
use galopvm_bytecode::ValueType;
use galopvm_runtime::data::{
    self, Bounds, Reader, Style, random_value, read_values, write_binary, write_npy, write_text_in,
};
use galopvm_runtime::{Memory, Value};
use galopvm_testkit::Random;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Bytes of values.
const MEMORY: u64 = 16 << 20;

/// Files are short: reading takes longer for nothing.
const LONGEST: Duration = Duration::from_secs(2);

/// Extents of arrays.
const EXTENTS: [i64; 8] = [0, 1, 1, 2, 3, 5, 9, 40];

/// Pieces of text that make trouble.
const PIECES: [&[u8]; 26] = [
    b"[",
    b"]",
    b",",
    b" ",
    b"\n",
    b"-- ",
    b"()",
    b"\"",
    b"\\",
    b"empty([0]i32)",
    b"empty([3][0]f64)",
    b"b",
    b"b\x02",
    b"i32",
    b"f16",
    b"bool",
    b"true",
    b"f32.nan",
    b"-f64.inf",
    b"0x1p-1074",
    b"1e999999999",
    b"_",
    b"\xff",
    b"\x93NUMPY",
    b"9223372036854775808",
    b"4294967295",
];

/// The case for people.
pub fn shown(number: u64) -> String {
    let bytes = catch_unwind(|| file(&Memory::new(Some(MEMORY)), &mut case::random_of(number)).1);
    bytes.map_or_else(
        |_| "no file".into(),
        |bytes| format!("{:?}\n{bytes:02x?}", String::from_utf8_lossy(&bytes)),
    )
}

/// Carries out a case.
pub fn run(number: u64) -> Outcome {
    let clock = Clock::start();
    // Nothing is used again after a panic: the run ends.
    let outcome = catch_unwind(AssertUnwindSafe(|| attempt(number)));
    match outcome {
        Err(_) => Outcome::Wrong("a panic".into()),
        Ok(Err(what)) => Outcome::Wrong(what),
        Ok(Ok(_)) if clock.elapsed() > LONGEST => Outcome::Wrong(format!("it took {:?}", clock.elapsed())),
        Ok(Ok(outcome)) => outcome,
    }
}

fn attempt(number: u64) -> Result<Outcome, String> {
    let mut random = case::random_of(number);
    let memory = Memory::new(Some(MEMORY));
    let (written, mut bytes) = file(&memory, &mut random);
    let is_damaged = !random.one_in(4);
    for _ in 0..if is_damaged { 1 + random.below(3) } else { 0 } {
        damage(&mut random, &mut bytes);
    }
    let outcome = match read_values(&memory, &bytes) {
        Err(error) if !is_damaged => return Err(format!("what was written is not read: {error}")),
        Err(error) => Outcome::Unreadable(error.to_string()),
        Ok(values) => {
            if !is_damaged && binary(&values) != binary(&written) {
                return Err("other values are read than were written".into());
            }
            values.iter().try_for_each(|value| again(&memory, value))?;
            Outcome::Finished
        }
    };
    // With types that somebody expects, which it may not be of.
    let mut reader = Reader::new(&memory, &bytes);
    loop {
        let ty = ValueType { elem: *random.pick(&ElemType::ALL), rank: random.below(3) as u8 };
        let ty = written.first().map(Value::ty).filter(|_| random.one_in(2)).unwrap_or(ty);
        match reader.value(Some(ty)) {
            Ok(Some(value)) if value.ty() != ty => return Err(format!("{} is read for {ty}", value.ty())),
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => break,
        }
    }
    drop(written);
    match memory.stats().live_bytes {
        0 => Ok(outcome),
        live => Err(format!("{live} bytes are in use after reading")),
    }
}

/// Some values, and a file of them.
fn file(memory: &Memory, random: &mut Random) -> (Vec<Value>, Vec<u8>) {
    let (mut values, mut bytes) = (Vec::new(), Vec::new());
    for _ in 0..1 + random.below(3) {
        let elem = *random.pick(&ElemType::ALL);
        let shape: Vec<i64> = (0..random.below(4)).map(|_| *random.pick(&EXTENTS)).collect();
        let value = random_value(memory, elem, &shape, &Bounds::default(), random.bits());
        let mut value = value.expect("the budget is far away");
        if let (Value::Scalar(scalar), true) = (&mut value, elem.is_float()) {
            // Of all sizes. What is no number has one text, whatever its bits are.
            let any = Scalar::new(elem, random.bits() & elem.mask());
            *scalar = if any.as_f64().is_nan() { Scalar::from_f64(elem, f64::NAN) } else { any };
        }
        let style = if random.one_in(2) { Style::Data } else { Style::Program };
        let wrote = match random.below(3) {
            0 => write_text_in(&mut bytes, &value, style),
            1 => write_binary(&mut bytes, &value),
            _ => write_npy(&mut bytes, &value),
        };
        wrote.expect("bytes take everything");
        bytes.push(if random.one_in(2) { b'\n' } else { b' ' });
        values.push(value);
    }
    (values, bytes)
}

/// Values as bytes that tell all of their bits.
fn binary(values: &[Value]) -> Vec<u8> {
    let mut bytes = Vec::new();
    values.iter().for_each(|value| write_binary(&mut bytes, value).expect("bytes take everything"));
    bytes
}

/// What was read is written in every format and read once more.
fn again(memory: &Memory, value: &Value) -> Result<(), String> {
    let read = |bytes: &[u8], format: &str| {
        let values =
            read_values(memory, bytes).map_err(|error| format!("not read as {format} again: {error}"))?;
        match binary(&values) == binary(std::slice::from_ref(value)) {
            true => Ok(()),
            false => Err(format!("read as another value from {format}: {}", data::value_text(value))),
        }
    };
    read(&binary(std::slice::from_ref(value)), "binary")?;
    let mut bytes = Vec::new();
    write_npy(&mut bytes, value).map_err(|error| error.to_string())?;
    read(&bytes, "npy")?;
    let text = data::value_text(value);
    // One text stands for all that are no numbers.
    if text.contains("nan") { Ok(()) } else { read(text.as_bytes(), "text") }
}

fn damage(random: &mut Random, bytes: &mut Vec<u8>) {
    let at = random.below(bytes.len().max(1)).min(bytes.len());
    // Heads of binary values and of npy are near the beginning.
    let at = if random.one_in(2) { at.min(random.below(24)) } else { at };
    match random.below(9) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 if at < bytes.len() => {
            bytes[at] = *random.pick(&[0, 1, 2, 0x7f, 0x80, 0xff, b'0', b'-', b'.', b'e'])
        }
        2 if at < bytes.len() => drop(bytes.remove(at)),
        3 => bytes.truncate(at),
        4 | 5 => drop(bytes.splice(at..at, random.pick(&PIECES).iter().copied())),
        6 => {
            // A part once more at another place.
            let from = random.below(bytes.len().max(1)).min(bytes.len());
            let part: Vec<u8> = bytes[from..].iter().take(1 + random.below(30)).copied().collect();
            drop(bytes.splice(at..at, part));
        }
        7 => {
            let word = random.bits() >> random.below(64);
            let end = bytes.len().min(at + 8);
            bytes[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
        }
        _ => {
            let other = random.below(bytes.len().max(1)).min(bytes.len());
            if at < bytes.len() && other < bytes.len() {
                bytes.swap(at, other);
            }
        }
    }
}
