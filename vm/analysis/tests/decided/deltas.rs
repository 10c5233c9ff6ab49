//! Delta analysis against enumeration: random index expressions over two kernel variables, evaluated everywhere.

use galopvm_analysis::index::{Quality, Step, table};
use galopvm_kir::evaluate::{Value, evaluate};
use galopvm_kir::text::parse_region;
use galopvm_kir::{Observed, ObservedParam, VerifiedRegion, types, verify};
use galopvm_lmad::Lmad;
use galopvm_testkit::{Random, rounds};

fn expression(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        return match random.below(6) {
            0 | 1 => "i".into(),
            2 | 3 => "j".into(),
            4 => "c".into(),
            _ => (random.below(9) as i64 - 2).to_string(),
        };
    }
    let a = expression(random, depth - 1);
    let less = random.below(depth);
    let b = expression(random, less);
    let number = 1 + random.below(8);
    match random.below(16) {
        0..=2 => format!("({a} + {b})"),
        3 | 4 => format!("({a} - {b})"),
        5 => format!("({a} * {number})"),
        6 => format!("({a} * {b})"),
        7 => format!("min({a}, {b})"),
        8 => format!("max({a}, {b})"),
        9 => format!("({a} / {number})"),
        10 => format!("({a} % {number})"),
        11 => format!("({a} << {})", random.below(4)),
        12 => format!("({a} >> {})", random.below(4)),
        13 => format!("({a} & {})", [1, 3, 7, 15][random.below(4)]),
        14 => format!("(({a} << 4) | (({b}) & 15))"),
        _ => match random.below(4) {
            0 => format!("(-({a}))"),
            1 => format!("abs({a})"),
            2 => format!("to_i64(to_i32({a}))"),
            _ => format!("select({a} < {b}, {a}, {b})"),
        },
    }
}

fn verified(text: &str) -> VerifiedRegion {
    let mut region = parse_region(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    types::infer(&mut region);
    verify(region).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
}

/// The values of an expression for all `i < n`, `j < m`.
fn values(expression: &str, n: i64, m: i64, c: i64) -> Vec<Vec<i64>> {
    let text = format!(
        "region all (n : i64, m : i64, c : i64)\nlet r =\n  kernel i < n, j < m do\n    in {expression}\nin r\n"
    );
    let results = evaluate(&verified(&text), &[Value::int(n), Value::int(m), Value::int(c)]);
    let results = results.unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    results[0].data().chunks(m as usize).map(|row| row.iter().map(|bits| *bits as i64).collect()).collect()
}

/// A clamp of what is none.
fn is_clamp(expression: &str) -> bool {
    let clamps = expression.matches("min").count() + expression.matches("max").count();
    clamps == 1 && expression.starts_with('m') && !expression.contains(['%', '/', '>', '&', '|', 'l', 'b'])
}

#[test]
fn changes_are_what_the_analysis_says() {
    let mut random = Random::new(11);
    let mut seen = [0usize; 5];
    for round in 0..rounds(4000) {
        let depth = 1 + random.below(4);
        let expression = expression(&mut random, depth);
        let (n, m, c) = (13, 9 + random.below(8) as i64, random.below(12) as i64 - 3);
        let all = values(&expression, n, m, c);
        let text = format!(
            "region read (n : i64, m : i64, c : i64, A : [n]i64)\nlet r =\n  kernel i < n, j < m do\n    in A[{expression}]\nin r\n"
        );
        let region = verified(&text);
        let mut params: Vec<ObservedParam> =
            [n, m, c].iter().map(|size| ObservedParam::Scalar(galopvm_base::Scalar::i64(*size))).collect();
        let lmad = Lmad::row_major(&[n]);
        params.push(ObservedParam::Array { lmad, block: 0, block_elements: n, references: 1 });
        let facts = table(&region, &Observed { params });
        let row = facts.reads().next().expect("the read");
        let value = &row.dims[0].value;
        let context = || format!("round {round}: {expression} with n {n}, m {m}, c {c}: {value:?}");
        for number in all.iter().flatten() {
            let number = i128::from(*number);
            assert!(value.range.low <= number && number <= value.range.high, "{number}: {}", context());
        }
        for (k, axis) in row.nest.iter().enumerate() {
            let step = value.step(*axis);
            let lines: Vec<Vec<i64>> = match k {
                0 => (0..m as usize).map(|j| all.iter().map(|row| row[j]).collect()).collect(),
                _ => all.clone(),
            };
            let changes: Vec<Vec<i64>> =
                lines.iter().map(|line| line.windows(2).map(|pair| pair[1] - pair[0]).collect()).collect();
            let all_changes = || changes.iter().flatten();
            if !value.depends_on(*axis) {
                assert!(all_changes().all(|change| *change == 0), "{}", context());
            }
            match step.quality {
                Quality::Exact => {
                    seen[0] += 1;
                    assert!(all_changes().all(|change| *change == step.delta), "{step:?}: {}", context());
                }
                // What is made of a clamp may do anything at its borders.
                Quality::Clamp if is_clamp(&expression) => {
                    seen[1] += 1;
                    let (low, high) = (step.delta.min(0), step.delta.max(0));
                    let between = |change: &i64| (low..=high).contains(change);
                    assert!(all_changes().all(between), "{step:?} {changes:?}: {}", context());
                }
                Quality::Periodic(period) => {
                    seen[2] += 1;
                    for line in &changes {
                        let exceptions = (1u64..).zip(line).filter(|(_, change)| **change != step.delta);
                        let at_multiples = exceptions.clone().all(|(onto, _)| onto % period == 0);
                        assert!(at_multiples, "{step:?} {line:?}: {}", context());
                    }
                }
                Quality::Piecewise => seen[3] += 1,
                Quality::Data => seen[4] += 1,
                _ => {}
            }
        }
    }
    assert!(seen[0] > 2000 && seen[1] > 50 && seen[2] > 300 && seen[3] > 200, "{seen:?}");
    // Nothing here is data but what runs over the ranges of a type.
    assert!(seen[4] < 200, "{seen:?}");
}

/// The step of `A[expression]` along `i`, with `i < n`, `j < m`.
fn step_along_i(expression: &str, n: i64, m: i64) -> Step {
    let text = format!(
        "region read (n : i64, m : i64, A : [n]i64)\nlet r =\n  kernel i < n, j < m do\n    in A[{expression}]\nin r\n"
    );
    let region = verified(&text);
    let size = |size| ObservedParam::Scalar(galopvm_base::Scalar::i64(size));
    let lmad = Lmad::row_major(&[n]);
    let array = ObservedParam::Array { lmad, block: 0, block_elements: n, references: 1 };
    let facts = table(&region, &Observed { params: vec![size(n), size(m), array] });
    let row = facts.reads().next().expect("the read");
    row.dims[0].value.step(row.nest[0])
}

/// A period has to say where the exceptions are, else vectors of a length that divides it meet them.
#[test]
fn periods_are_distances_of_exceptions() {
    let quality = |expression: &str| step_along_i(expression, 64, 48).quality;
    let periodic = Quality::Periodic;
    assert_eq!(quality("i / 8"), periodic(8));
    assert_eq!(quality("i % 8"), periodic(8));
    assert_eq!(quality("(2 * i) / 8"), periodic(4));
    // 0 0 0 1 1 1 2 2: the pattern repeats every 8 steps, the change comes every second or third one.
    assert_eq!(quality("(3 * i) / 8"), Quality::Piecewise);
    assert_eq!(quality("(3 * i) % 8"), Quality::Piecewise);
    // The first change comes after 5 steps: vectors of 8 meet it, vectors of 1 do not.
    assert_eq!(quality("(i + 3) / 8"), Quality::Piecewise);
    assert_eq!(quality("(i + 4) / 8"), periodic(4));
    assert_eq!(quality("(i + 48 * j) / 8"), periodic(8));
    assert_eq!(quality("(i + 5 * j) / 8"), Quality::Piecewise);
    // Down from the last one of a row.
    assert_eq!(quality("(63 - i) / 8"), periodic(8));
    assert_eq!(step_along_i("(i % 32) / 4", 128, 48).quality, periodic(4));
    // What starts anew elsewhere than the multiples of the divisor keeps no period.
    assert_eq!(quality("(i / 4 + i) % 4"), Quality::Piecewise);
    // A neighbour around the corner: a single exception, at a border.
    assert_eq!(quality("(i + 1) % 64"), Quality::Clamp);
    assert_eq!(step_along_i("i / m", 4096, 48).quality, periodic(48));
    assert_eq!(step_along_i("(2 * i) / m", 4096, 48).quality, periodic(24));
}
