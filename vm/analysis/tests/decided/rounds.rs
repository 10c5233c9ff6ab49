//! Loops in blocks of rounds give the same as round by round, bit by bit, for all sizes; what cannot be done in blocks says why.

use galopvm_analysis::rounds::block;
use galopvm_base::{ElemType, Scalar};
use galopvm_kir::evaluate::{Value, evaluate};
use galopvm_kir::text::print_region;
use galopvm_kir::{RunError, VerifiedRegion, verified_from_text};
use galopvm_testkit::{Random, rounds, sweeps::sweeps};

const LU: &str = "region lu (n : i64, m : i64, w : i64, s : i64, A : [m][w]f32)
let y0 : [m][w]f32 =
  loop y1 : [m][w]f32 = A for i < n do
    let x0 : f32 = y1[i, i]
    let x1 : i64 = i + 1
    let x2 : i64 = 1 / to_i64(0 <= i + 1 && i + 1 <= m)
    let y2 : [m-(i+1)]f32 =
      kernel j < m - (i + 1) do
        let x3 : f32 = y1[j+x1, i]
        in x3 / x0
    let y3 : [m][w]f32 = y1 with [x1 :+ (m-(i+1)) * 1, i] = y2
    let x4 : i64 = 1 / to_i64(0 <= i + 1 && i + 1 <= w)
    let y4 : [m-(i+1)][s-(i+1)]f32 =
      kernel k < m - (i + 1) do
        let x5 : f32 = y2[k]
        let x6 : i64 = 1 / to_i64(w - (i + 1) == s - (i + 1))
        let y5 : [s-(i+1)]f32 =
          kernel l < s - (i + 1) do
            let x7 : f32 = y3[k+x1, l+x1]
            let x8 : f32 = y3[i, l+x1]
            in x7 - x5 * x8
        in y5
    let y6 : [m][w]f32 = y3 with [x1 :+ (m-(i+1)) * 1, x1 :+ (s-(i+1)) * 1] = y4
    in y6
in y0
";

fn array(elem: ElemType, shape: Vec<i64>) -> Value {
    let count = shape.iter().product::<i64>();
    let value = |k: i64| match elem {
        ElemType::F32 => Scalar::f32(((k * 37 + 11) % 101) as f32 / 7.0 + 1.0).bits,
        ElemType::F64 => Scalar::f64(((k * 37 + 11) % 101) as f64 / 7.0 + 1.0).bits,
        elem => Scalar::from_int(elem, (k * 37 + 11) % 101).bits,
    };
    Value::new(elem, shape, (0..count).map(value).collect())
}

fn region(text: &str) -> VerifiedRegion {
    verified_from_text(text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

/// Both regions give the same for these sizes and arrays, or both trap. Says whether the one with blocks traps; where a line of some
/// round lies outside, it may though the other one does not.
fn compare(
    plain: &VerifiedRegion,
    blocked: &VerifiedRegion,
    args: &[Value],
    is_outside: bool,
    title: &str,
) -> bool {
    let (expected, found) = (evaluate(plain, args), evaluate(blocked, args));
    let bits = |value: &Value| (value.elem(), value.shape().to_vec(), value.data().to_vec());
    match (&expected, &found) {
        (Ok(expected), Ok(found)) => {
            let (expected, found): (Vec<_>, Vec<_>) =
                (expected.iter().map(bits).collect(), found.iter().map(bits).collect());
            assert_eq!(expected, found, "{title}\n{}", print_region(blocked.region()));
            false
        }
        (Err(RunError::Trap), Err(RunError::Trap)) => true,
        (Ok(_), Err(RunError::Trap)) if is_outside => true,
        _ => panic!("{expected:?}\n{found:?}\n{title}\n{}", print_region(blocked.region())),
    }
}

#[test]
fn elimination() {
    let plain = region(LU);
    for rounds in [1, 2, 3, 5, 8] {
        let blocked = block(&plain, rounds).unwrap_or_else(|e| panic!("{e}"));
        for (n, m, w) in [
            (0, 0, 0),
            (0, 1, 1),
            (1, 2, 2),
            (2, 3, 3),
            (4, 5, 5),
            (6, 7, 7),
            (11, 12, 12),
            (9, 12, 12),
            (5, 9, 7),
            // These trap.
            (3, 2, 5),
            (5, 7, 3),
        ] {
            let mut args = [n, m, w, w].map(|n| Value::Scalar(Scalar::i64(n))).to_vec();
            args.push(array(ElemType::F32, vec![m, w]));
            let traps = compare(&plain, &blocked, &args, false, &format!("{rounds} rounds, {n} {m} {w}"));
            assert_eq!(traps, n > m || n > w, "{n} {m} {w}");
        }
    }
}

#[test]
fn generated_loops() {
    let (mut in_blocks, mut refused) = (0, 0);
    for seed in 0..rounds(400) {
        let mut random = Random::new(seed);
        let made = sweeps(&mut random);
        let plain = region(&made.text);
        let size = 1 + random.below(9) as u32;
        let blocked = match block(&plain, size) {
            Ok(blocked) => blocked,
            Err(_) => {
                refused += 1;
                continue;
            }
        };
        in_blocks += 1;
        let elem = plain.results()[0].elem;
        for _ in 0..8 {
            let n = random.below(13i64);
            let (h, m, w) = (random.below(3i64), n + random.between(-1, 5), n + random.between(-1, 5));
            let (m, w) = (m.max(0), w.max(0));
            let sizes = if made.is_batch { vec![n, h, m, w] } else { vec![n, m, w] };
            let mut args: Vec<Value> = sizes.iter().map(|n| Value::Scalar(Scalar::i64(*n))).collect();
            let shape = if made.is_batch { vec![h, m, w] } else { vec![m, w] };
            args.extend([array(elem, shape), array(elem, vec![m, w])]);
            let title = format!("seed {seed}, {size} rounds, {sizes:?}\n{}", made.text);
            // Lines are up to two places behind the round's number.
            compare(&plain, &blocked, &args, n + 2 > m.min(w), &title);
        }
    }
    assert!(in_blocks > refused / 4 && refused > in_blocks / 8, "{in_blocks} in blocks, {refused} refused");
}

/// The reason why a loop with this body, over one dimension, stays as it is.
fn refusal(body: &str) -> String {
    let text = format!(
        "region r (n : i64, m : i64, A : [m]i64)
        let r : [m]i64 = loop y : [m]i64 = A for k < n do
          {body}
        in r"
    );
    block(&region(&text), 4).err().map_or_else(|| "in blocks".into(), |reason| reason.to_string())
}

#[test]
fn refusals() {
    let behind = |value: &str| {
        refusal(&format!(
            "let z : [m-(k+1)]i64 = kernel i < m-(k+1) do in {value}
            let x : [m]i64 = y with [k+1 :+ (m-(k+1)) * 1] = z
            in x"
        ))
    };
    assert_eq!(behind("y[k+1+i] + y[k]"), "in blocks");
    assert_eq!(behind("y[k+1+i] + y[k+1]"), "a line that is read may change in a later round");
    assert_eq!(
        behind("y[k+1+i] + y[i]"),
        "an element depends on another one that is in no line of the round"
    );
    assert_eq!(
        behind("y[k+1+i] + y[k+k]"),
        "an element depends on another one that is in no line of the round"
    );
    assert_eq!(behind("y[k+1+i] + y[k*k]"), "an index is not affine in the number of the round");
    assert_eq!(behind("y[k+1+i] + y[k] * y[k-1]"), "a line lies in front of the array");
    let all = "let z : [m]i64 = kernel i < m do in y[i] + y[k]
        let x : [m]i64 = y with [0 :+ m * 1] = z
        in x";
    assert_eq!(refusal(all), "what a round changes does not begin at a line");
    let some = "let z : [3]i64 = kernel i < 3 do in y[k+1+i] + y[k]
        let x : [m]i64 = y with [k+1 :+ 3 * 1] = z
        in x";
    assert_eq!(refusal(some), "what rounds change does not end at one place");
    let before = "let z : [m-(k+1)]i64 = kernel i < m-(k+1) do in y[k+1+i] + y[k]
        let x : [m]i64 = y with [k+1 :+ (m-(k+1)) * 1] = z
        let z2 : [m-(k+1)]i64 = kernel j < m-(k+1) do in y[k+1+j] + x[k]
        let x2 : [m]i64 = x with [k+1 :+ (m-(k+1)) * 1] = z2
        in x2";
    assert_eq!(refusal(before), "an element depends on itself before another change of the round");
    let unwritten = "let z : [m-(k+1)]i64 = kernel i < m-(k+1) do in y[k+1+i] + y[k]
        let z2 : [m-(k+1)]i64 = kernel j < m-(k+1) do in z[j] + y[k]
        let x : [m]i64 = y with [k+1 :+ (m-(k+1)) * 1] = z2
        in x";
    assert_eq!(refusal(unwritten), "what an operator makes is read before it is in the array");
    let sum = "let s : i64 = red i < m do in y[i] by (a : i64 = 0) (b : i64) do in a + b
        let x : [m]i64 = y with [k] = s
        in x";
    assert_eq!(refusal(sum), "a round has a statement of another kind: a reduction");
}
