//! Kernels whose rows differ at borders, against the reference: vectors away from them, at them, and rows that are shorter than one.

use crate::support::*;
use galopvm_base::ElemType;
use galopvm_testkit::rounds;

/// Conditions along the axis across the lanes, and along the other one.
const CONDITIONS: [&str; 12] = [
    "j == 0",
    "j != m - 1",
    "j < m - 2",
    "2 <= j",
    "m - 1 <= j",
    "1 < j && j + 1 < m",
    "i == 0 || i == n - 1 || j == 0 || j == m - 1",
    "j < 3 || i < 2",
    "j == B[i]",
    "B[i] < j",
    "j - 5 < B[i] && m - 3 != j",
    "i < j",
];

/// Indices below `m`.
const INDICES: [&str; 9] = [
    "j",
    "(j + 1) % m",
    "(j - 1) % m",
    "(j - B[i]) % m",
    "(j + i) % m",
    "(j + 3 * m) % m",
    "(2 * j) % m",
    "(j - i - 3) % m",
    "(i - j) % m",
];

fn generated(random: &mut Random) -> String {
    let mut pick = |from: &[&'static str]| from[random.below(from.len())];
    let (one, two, three) = (pick(&CONDITIONS), pick(&CONDITIONS), pick(&INDICES));
    let four = pick(&INDICES);
    format!(
        "region r (n : i64, m : i64, A : [n][m]f32, B : [n]i64)
        let y : [n][m]f32 = kernel i < n, j < m do
          let at : i64 = {four}
          let u : f32 = if {one} then in A[i, at] else in A[i, {three}] + 1.0f32
          let v : f32 = select({two}, u, 0.5f32)
          in u * 2.0f32 + v
        in y"
    )
}

#[test]
fn generated_borders() {
    for seed in 0..rounds(25) {
        let mut random = Random::new(seed ^ 0xb0);
        let text = generated(&mut random);
        let launches: Vec<Vec<Arg>> =
            [(1, 1), (2, 3), (3, 15), (4, 16), (3, 17), (5, 47), (2, 64), (2, 100), (0, 9), (9, 0)]
                .iter()
                .map(|(n, m)| {
                    let border = |random: &mut Random| match random.below(5) {
                        0 => random.bits(),
                        1 => i64::MIN as u64,
                        _ => random.between(-2, m + 2) as u64,
                    };
                    let borders = (0..*n).map(|_| border(&mut random)).collect();
                    let view = galopvm_lmad::Lmad::row_major(&[*n]);
                    let (a, b) = (
                        tame(ElemType::F32, &[*n, *m], &mut random),
                        Arg::Array(ElemType::I64, borders, view),
                    );
                    vec![size(*n as usize), size(*m as usize), a, b]
                })
                .collect();
        for groups in [1, 2] {
            let plan = format!("plan\n lane j : a test\n groups j {groups} : a test\n inside j : a test");
            check_launches(&text, &plan, &launches, 0.0);
        }
    }
}

#[test]
fn a_divisor_that_is_no_period() {
    let text = "region r (n : i64, d : i64, A : [n]i64)
        let y : [n]i64 = kernel j < n do in (j - 7) % d + (j + A[0]) % d
        in y";
    for divisor in [1i64, -1, 3, 16, -5, i64::MAX, i64::MIN, 1 << 60, 1 << 61, 0] {
        for start in [0i64, -3, i64::MAX - 5, i64::MIN + 2, -(1 << 61)] {
            let divisor = Arg::Scalar(galopvm_base::Scalar::i64(divisor));
            let elements = vec![start as u64; 40];
            let array = Arg::Array(ElemType::I64, elements, galopvm_lmad::Lmad::row_major(&[40]));
            let plan = "plan\n lane j : a test\n groups j 1 : a test\n inside j : a test";
            check_with(text, plan, &[size(40), divisor, array], 0.0);
        }
    }
}

/// What is subtracted comes from memory.
#[test]
fn distances_that_are_read() {
    let text = "region r (n : i64, m : i64, A : [n][m]f32, B : [n]i64)
        let y : [n][m]f32 = kernel i < n, j < m do
          in A[i, (j - B[i]) % m]
        in y";
    let mut random = Random::new(9);
    for (n, m) in [(7i64, 64i64), (7, 100), (3, 33), (4, 5)] {
        let distances = [0i64, 1, -1, 2 * m, -3 * m - 1, i64::MAX, i64::MIN];
        let distances = distances[..n as usize].iter().map(|far| *far as u64).collect();
        let view = galopvm_lmad::Lmad::row_major(&[n]);
        let args = [
            size(n as usize),
            size(m as usize),
            tame(ElemType::F32, &[n, m], &mut random),
            Arg::Array(ElemType::I64, distances, view),
        ];
        let plan = "plan\n lane j : a test\n groups j 2 : a test\n inside j : a test\n unchecked read0 read1 : a test";
        check_with(text, plan, &args, 0.0);
    }
}

/// Rows that go on at their beginning, of every type and however they lie, for divisors that are no extent as well.
#[test]
fn rows_around_the_end() {
    let mut random = Random::new(77);
    for (number, ty) in ElemType::ALL.into_iter().enumerate() {
        let text = format!(
            "region r (n : i64, m : i64, d : i64, A : [n][m]{ty}, B : [n]i64)
            let y : [n][m]{ty} = kernel i < n, j < m do
              let x : {ty} = A[(i + B[i]) % n, (j - B[i]) % d]
              in select(j == 3, A[i, (j + 1) % m], x)
            in y"
        );
        let mut launches = Vec::new();
        for (n, m, d) in
            [(4i64, 64i64, 64i64), (7, 100, 100), (3, 70, 33), (4, 40, 5), (3, 9, 9), (5, 130, 128)]
        {
            let layout = Layout::ALL[random.below(Layout::ALL.len())];
            let (view, count) = layout.view(&[n, m]);
            let elements = (0..count).map(|_| value_of(ty, &mut random)).collect();
            let distance = |random: &mut Random| match random.below(8) {
                0 => random.bits(),
                1 => [i64::MAX, i64::MIN + 9, 1 << 61][random.below(3)] as u64,
                _ => random.between(-2, 2 * d) as u64,
            };
            let distances = (0..n).map(|_| distance(&mut random)).collect();
            launches.push(vec![
                size(n as usize),
                size(m as usize),
                size(d as usize),
                Arg::Array(ty, elements, view),
                Arg::Array(ElemType::I64, distances, galopvm_lmad::Lmad::row_major(&[n])),
            ]);
        }
        let groups = [1, 2, 4][number % 3];
        let unchecked = ["", "\n unchecked read0 read1 read2 read3 : a test"][number / 2 % 2];
        let plan = format!("plan\n lane j : a test\n groups j {groups} : a test{unchecked}");
        check_launches(&text, &plan, &launches, 0.0);
    }
}

/// Neighbours that go on at the beginning inside of loops, whose turns say by how much.
#[test]
fn sums_around_the_end() {
    let text = "region r (n : i64, m : i64, q : i64, A : [q][n][m]f32, B : [q]i64)
        let y : [n][m]f32 = kernel i < n, j < m do
          let (u : f32, v : f32) = red k < q do
            let x : f32 = A[k, (i - B[k]) % n, (j - B[k]) % m]
            in (x, to_f32(B[k]) * x)
            by (a : f32 = 0.0f32, b : f32 = 0.0f32) (c : f32, d : f32) do in (a + c, b + d)
          in u + v
        in y";
    let mut random = Random::new(5);
    for (n, m, q) in [(4i64, 64i64, 19i64), (3, 100, 5), (2, 7, 3), (0, 16, 2), (3, 16, 0)] {
        let distances = (0..q).map(|_| random.between(-m - 3, m + 3) as u64).collect();
        let args = [
            size(n as usize),
            size(m as usize),
            size(q as usize),
            tame(ElemType::F32, &[q, n, m], &mut random),
            Arg::Array(ElemType::I64, distances, galopvm_lmad::Lmad::row_major(&[q])),
        ];
        for groups in [1, 4] {
            let plan = format!("plan\n lane j : a test\n groups j {groups} : a test");
            check_with(text, &plan, &args, 1e-3);
        }
    }
}
