//! Reads at indices that grow by a step, and the order of sums, in every way of execution.

use crate::ALL_WAYS;
use galopvm_bytecode::{FuncId, text, verify};
use galopvm_runtime::{Array, Options, Session, Switches, Value};
use galopvm_testkit::Random;
use std::collections::BTreeSet;

/// The code with its registers numbered without gaps.
fn renumbered(code: &str) -> String {
    let numbers = |text: &str| -> Option<u32> {
        let digits = text.strip_prefix('r')?;
        digits.parse().ok()
    };
    let words = |code: &str| -> Vec<String> {
        let mut words = vec![String::new()];
        let mut before = false;
        for c in code.chars() {
            if before != c.is_ascii_alphanumeric() {
                words.push(String::new());
                before = c.is_ascii_alphanumeric();
            }
            words.last_mut().expect("there is one").push(c);
        }
        words
    };
    let words = words(code);
    let used: BTreeSet<u32> = words.iter().filter_map(|word| numbers(word)).collect();
    let new = |word: &String| match numbers(word) {
        Some(number) => format!("r{}", used.range(..number).count()),
        None => word.clone(),
    };
    words.iter().map(new).collect()
}

fn run(code: &str, args: impl Fn(&Session) -> Vec<Value>, switches: Switches) -> String {
    let code = &renumbered(code);
    let module = text::parse(code).unwrap_or_else(|e| panic!("{e}\n{code}"));
    let module = verify(module).unwrap_or_else(|e| panic!("{e}\n{code}"));
    let mut session = Session::new(module, Options { switches, eager: true, ..Options::default() });
    let args = args(&session);
    match session.call_function(FuncId(0), args) {
        Ok(values) => values.iter().map(|value| format!("{value}\n")).collect(),
        Err(error) => error.to_string(),
    }
}

fn all_ways(code: &str, args: impl Fn(&Session) -> Vec<Value>) -> String {
    let plain = run(code, &args, Switches::OFF);
    for switches in ALL_WAYS {
        assert_eq!(run(code, &args, switches), plain, "{switches:?}\n{code}");
    }
    plain
}

/// A program over a range of `r1` numbers from `start` on, by `step`; `body` makes `r20 : f32` of `r10 : i64`.
fn over_range(start: i64, step: i64, body: &str, blocks: &str) -> String {
    format!(
        "module\nfile \"f.fut\"\nfn @0 \"f\" (r0 : []f32, r1 : i64) -> ([]f32)\nb0 ():\n  \
         r2 : i64 = const {start}i64\n  r3 : i64 = const {step}i64\n  r4 : []i64 = iota i64 r1 r2 r3\n  \
         r5 : []f32 = map r1 (r4) b1 @ 0 1:1-1:9\n  => (r5!)\nb1 (r10 : i64):\n{body}  => (r20)\n{blocks}"
    )
}

fn numbers(session: &Session, count: i64, seed: u64) -> Value {
    let mut random = Random::new(seed);
    let elements: Vec<f32> = (0..count).map(|_| random.below(4000) as f32 / 7.0 - 200.0).collect();
    Value::Array(Array::from_slice(session.memory(), &elements, &[count]).expect("there is memory"))
}

fn size(count: i64) -> Value {
    Value::Scalar(galopvm_base::Scalar::i64(count))
}

#[test]
fn neighbours() {
    let body = "  r11 : i64 = const 1i64\n  r12 : i64 = op2 sub i64 r10 r11\n  r13 : i64 = op2 add i64 r10 r11\n  \
                r14 : f32 = index r0 (r12) @ 0 2:1-2:2\n  r15 : f32 = index r0 (r10) @ 0 2:3-2:4\n  \
                r16 : f32 = index r0 (r13) @ 0 2:5-2:6\n  r17 : f32 = op2 add f32 r14 r15\n  \
                r20 : f32 = op2 add f32 r17 r16\n";
    for count in [30, 2048, 2051, 70_000] {
        // All are there; the first or the last is not.
        for (start, length) in [(1, count + 2), (0, count + 2), (1, count + 1)] {
            let found = all_ways(&over_range(start, 1, body, ""), |session| {
                vec![numbers(session, length, 5), size(count)]
            });
            assert_eq!(found.contains("out of bounds"), (start, length) != (1, count + 2), "{found:.200}");
        }
    }
}

#[test]
fn lines_with_other_steps() {
    let body = "  r11 : i64 = const -3i64\n  r12 : i64 = op2 mul i64 r11 r10\n  r13 : i64 = const 9000i64\n  \
                r14 : i64 = op2 add i64 r13 r12\n  r15 : i64 = op2 sub i64 r14 r10\n  \
                r16 : f32 = index r0 (r15) @ 0 2:1-2:2\n  r17 : f32 = convert i64 f32 r14\n  \
                r20 : f32 = op2 mul f32 r16 r17\n";
    for (count, fails) in [(2000, false), (2251, false), (2252, true), (5000, true)] {
        let found =
            all_ways(&over_range(0, 1, body, ""), |session| vec![numbers(session, 9001, 3), size(count)]);
        assert_eq!(found.contains("out of bounds"), fails, "{count}: {found:.200}");
    }
    // So far apart that the indices wrap.
    let body = "  r11 : i64 = const 4611686018427387904i64\n  r12 : i64 = op2 mul i64 r11 r10\n  \
                r20 : f32 = index r0 (r12) @ 0 2:1-2:2\n";
    for step in [4, 1, -4] {
        let found =
            all_ways(&over_range(0, step, body, ""), |session| vec![numbers(session, 9001, 3), size(100)]);
        assert_eq!(found.contains("out of bounds"), step == 1);
    }
}

#[test]
fn borders_under_a_condition() {
    let body = "  r11 : i64 = const 0i64\n  r12 : bool = op2 eq i64 r10 r11\n  r20 : f32 = if r12 b2 b3\n";
    let blocks = |inside: &str| {
        format!(
            "b2 ():\n  r21 : f32 = index r0 (r10) @ 0 2:1-2:2\n  => (r21)\nb3 ():\n  r22 : i64 = const 1i64\n  \
             r23 : i64 = op2 sub i64 r10 r22\n  r24 : f32 = index r0 (r23) @ 0 2:3-2:4\n{inside}  => (r24)\n"
        )
    };
    for count in [30, 2048, 5000] {
        let args = |session: &Session| vec![numbers(session, count, 11), size(count)];
        assert!(!all_ways(&over_range(0, 1, body, &blocks("")), args).contains("bounds"));
        let next = "  r25 : i64 = op2 add i64 r10 r22\n  r26 : f32 = index r0 (r25) @ 0 2:5-2:6\n";
        assert!(all_ways(&over_range(0, 1, body, &blocks(next)), args).contains("bounds"));
    }
}

/// A sum in strands, spelt out.
fn sum_in_strands(numbers: &[f32], start: f32) -> f32 {
    if numbers.len() < 256 {
        return numbers.iter().fold(start, |a, b| a + b);
    }
    let mut strands = [-0.0f32; 32];
    strands[0] = start;
    numbers.iter().enumerate().for_each(|(i, x)| strands[i % 32] += x);
    strands[1..].iter().fold(strands[0], |a, b| a + b)
}

#[test]
fn order_of_sums() {
    let sum = "module\nfile \"f.fut\"\nfn @0 \"f\" (r0 : []f32) -> (f32, f32)\nb0 ():\n  r1 : i64 = dim r0 0\n  \
               r2 : f32 = const 0.25f32\n  r3 : f32 = reduce r1 (r2) (r0) b1\n  \
               r4 : f32 = redomap r1 (r2) (r0) b2 b3\n  => (r3, r4)\n\
               b1 (r10 : f32, r11 : f32):\n  r12 : f32 = op2 add f32 r10 r11\n  => (r12)\n\
               b2 (r20 : f32):\n  r21 : f32 = op2 mul f32 r20 r20\n  => (r21)\n\
               b3 (r30 : f32, r31 : f32):\n  r32 : f32 = op2 add f32 r30 r31\n  => (r32)\n";
    for count in [0, 100, 255, 256, 257, 2049, 6000] {
        let mut random = Random::new(count as u64);
        let elements: Vec<f32> = (0..count).map(|_| random.below(1 << 24) as f32 / 977.0 - 3000.0).collect();
        let squares: Vec<f32> = elements.iter().map(|x| x * x).collect();
        let found = all_ways(sum, |session| {
            let array = Array::from_slice(session.memory(), &elements, &[count]).expect("there is memory");
            vec![Value::Array(array)]
        });
        let (first, second) = (sum_in_strands(&elements, 0.25), sum_in_strands(&squares, 0.25));
        let expected = [first, second].map(|x| format!("{}\n", Value::Scalar(galopvm_base::Scalar::f32(x))));
        assert_eq!(found, expected.concat(), "{count}");
    }
}

/// Reductions of rows inside an operator: as long as they like.
#[test]
fn order_of_sums_of_rows() {
    let sums = "module\nfile \"f.fut\"\nfn @0 \"f\" (r0 : [][]f32) -> ([]f32, []f32)\nb0 ():\n  \
                r1 : i64 = dim r0 0\n  r5 : i64 = dim r0 1\n  r2 : f32 = const 1.0f32\n  \
                r3 : []f32, r4 : []f32 = map r1 (r0) b1\n  => (r3!, r4!)\n\
                b1 (r10 : []f32):\n  r11 : f32 = reduce r5 (r2) (r10) b2\n  r12 : i64 = dim r10 0\n  \
                r13 : f32 = redomap r12 (r2) (r10) b3 b4\n  => (r11, r13)\n\
                b2 (r20 : f32, r21 : f32):\n  r22 : f32 = op2 mul f32 r20 r21\n  => (r22)\n\
                b3 (r30 : f32):\n  r31 : f32 = op2 max f32 r30 r2\n  => (r31)\n\
                b4 (r40 : f32, r41 : f32):\n  r42 : f32 = op2 mul f32 r40 r41\n  => (r42)\n";
    for count in [3i64, 255, 256, 700] {
        let mut random = Random::new(count as u64);
        let elements: Vec<f32> = (0..30 * count).map(|_| random.below(1 << 20) as f32 / 1e6 + 0.5).collect();
        all_ways(sums, |session| {
            let array = Array::from_slice(session.memory(), &elements, &[30, count]);
            vec![Value::Array(array.expect("there is memory"))]
        });
    }
}
