//! Delta analysis against enumeration: random index expressions over two kernel variables, evaluated everywhere.

use galopvm_analysis::layout::{Quality, table};
use galopvm_kir::evaluate::{Value, evaluate};
use galopvm_kir::text::parse_region;
use galopvm_kir::{Observed, ObservedParam, VerifiedRegion, types, verify};
use galopvm_lmad::Lmad;

/// A linear congruential generator: the same sequence everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % limit as u64) as usize
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.below(6) {
                0 | 1 => "i".into(),
                2 | 3 => "j".into(),
                4 => "c".into(),
                _ => (self.below(9) as i64 - 2).to_string(),
            };
        }
        let a = self.expression(depth - 1);
        let less = self.below(depth);
        let b = self.expression(less);
        let number = 1 + self.below(8);
        match self.below(16) {
            0..=2 => format!("({a} + {b})"),
            3 | 4 => format!("({a} - {b})"),
            5 => format!("({a} * {number})"),
            6 => format!("({a} * {b})"),
            7 => format!("min({a}, {b})"),
            8 => format!("max({a}, {b})"),
            9 => format!("({a} / {number})"),
            10 => format!("({a} % {number})"),
            11 => format!("({a} << {})", self.below(4)),
            12 => format!("({a} >> {})", self.below(4)),
            13 => format!("({a} & {})", [1, 3, 7, 15][self.below(4)]),
            14 => format!("(({a} << 4) | (({b}) & 15))"),
            _ => match self.below(4) {
                0 => format!("(-({a}))"),
                1 => format!("abs({a})"),
                2 => format!("to_i64(to_i32({a}))"),
                _ => format!("select({a} < {b}, {a}, {b})"),
            },
        }
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
    let mut random = Random(11);
    let mut seen = [0usize; 5];
    for round in 0..4000 {
        let depth = 1 + random.below(4);
        let expression = random.expression(depth);
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
                Quality::Periodic { period, .. } => {
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
