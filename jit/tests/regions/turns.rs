//! Loops whose turns run in lanes, against the reference: what they hand on, numbers that leave their type, places that move with
//! the turns, and loops that look like these and are none.

use crate::support::operators::{TYPES, small};
use crate::support::*;
use galopvm_base::{ElemType, Scalar};
use galopvm_jit::CpuMode;
use galopvm_kir::Listing;
use galopvm_testkit::rounds;

/// What a turn gives on, by what it was given.
const JOINED: [&str; 11] = [
    "max(ITEM, x - d)",
    "max(x + d, ITEM)",
    "min(ITEM, x - d)",
    "min(d + x, ITEM)",
    "max(max(x - 3TY, B[i, j]), ITEM)",
    "max(ITEM, x)",
    "min(x, ITEM)",
    "x + ITEM",
    "ITEM * x",
    "(x ^ ITEM) ^ B[i, j]",
    "x & (ITEM | 5TY)",
];

/// The numbers of a turn: none that an earlier turn has written, but for the last ones.
const ITEMS: [&str; 9] = [
    "B[i, j]",
    "t[i, j] + B[i, j]",
    "t[i, j + 1] - d",
    "t[i + 1, j + 1]",
    "t[i + 1, j + 2] + B[i, 0]",
    "max(t[i, j], t[i, j + 2]) + to_TY(j)",
    "select(j % 3 == 0, B[i, j], d)",
    "t[i + 1, j]",
    "t[(i + j) % n, j]",
];

/// What is written, by what is handed on.
const WRITTEN: [&str; 3] = ["v", "v + B[i + 1, j]", "select(v < d, v, t[i, j])"];

/// A loop over rows, and in each of them one whose turns hand on a number.
fn generated(random: &mut Random, ty: ElemType) -> String {
    let mut pick = |from: &[&'static str]| from[random.below(from.len())];
    let (joined, item, written) = (pick(&JOINED), pick(&ITEMS), pick(&WRITTEN));
    // The second one is an `if` of its own.
    let wrapped = match random.below(3) {
        0 => format!("let y : TY = if B[i, j] < d then in {item} else in B[i, j] + 1TY\n"),
        _ => format!("let y : TY = {item}\n"),
    };
    let turn = match random.below(5) {
        0 => format!(
            "{wrapped} let v : TY = y\n let w : [n][m]TY = t with [i + 1, j + 1] = {written}\n in (w, x)"
        ),
        1 => format!(
            "{wrapped} let v : TY = {joined}\n let w : [n][m]TY = t with [i + 1, j + 1] = y\n in (w, v)"
        ),
        _ => {
            format!(
                "{wrapped} let v : TY = {joined}\n let w : [n][m]TY = t with [i + 1, j + 1] = {written}\n in (w, v)"
            )
        }
    };
    let turn = turn.replace("ITEM", "y");
    format!(
        "region r (n : i64, m : i64, d : TY, A : [n][m]TY, B : [n][m]TY)
        let (s_last : [n][m]TY, sum : TY) = loop (s : [n][m]TY, z : TY) = (A, d) for i < n - 1 do
          let (u : [n][m]TY, last : TY) = loop (t : [n][m]TY, x : TY) = (s, s[i + 1, 0]) for j < m - 2 do
            {turn}
          in (u, z + last)
        in (s_last, sum)"
    )
    .replace("TY", &ty.to_string())
}

#[test]
fn generated_turns() {
    for seed in 0..rounds(30) {
        let mut random = Random::new(seed ^ 0x7a31);
        let ty = TYPES[random.below(TYPES.len())];
        let text = generated(&mut random, ty);
        let tame = random.below(2) == 0;
        let number = |random: &mut Random| match tame {
            true => random.between(-40, 40) as u64 & ty.mask(),
            false => value_of(ty, random),
        };
        let launches: Vec<Vec<Arg>> = [(1, 2), (2, 3), (3, 19), (2, 34), (3, 70), (0, 5)]
            .iter()
            .map(|(n, m)| {
                let mut array = || {
                    let elements = (0..n * m).map(|_| number(&mut random)).collect();
                    Arg::Array(ty, elements, galopvm_lmad::Lmad::row_major(&[*n, *m]))
                };
                let (a, b) = (array(), array());
                let d = Scalar::new(ty, number(&mut random));
                vec![size(*n as usize), size(*m as usize), Arg::Scalar(d), a, b]
            })
            .collect();
        for groups in ["plan\n groups j 1 : turns", "plan\n groups j 2 : turns"] {
            check_launches(&text, groups, &launches, 0.0);
        }
    }
}

/// A loop of its own over one array, with all layouts of what it reads.
#[test]
fn turns_of_one_row() {
    for (number, joined) in JOINED.iter().enumerate() {
        for ty in TYPES {
            let joined = joined.replace("B[i, j]", "B[j]").replace("ITEM", "y");
            let text = format!(
                "region r (n : i64, d : TY, A : [n]TY, B : [n]TY)
                let (s : [n]TY, sum : TY) = loop (t : [n]TY, x : TY) = (A, d) for j < n - 1 do
                  let y : TY = B[j] + t[j + 1]
                  let v : TY = {joined}
                  let w : [n]TY = t with [j] = v
                  in (w, v)
                in (s, sum)"
            )
            .replace("TY", &ty.to_string());
            let mut random = Random::new(number as u64);
            for layout in Layout::ALL {
                let launches: Vec<Vec<Arg>> = [1usize, 2, 16, 33, 100]
                    .iter()
                    .map(|n| {
                        let mut array = || small(ty, *n, layout, &mut random);
                        let (a, b) = (array(), array());
                        let d = Scalar::new(ty, 3);
                        vec![size(*n), Arg::Scalar(d), a, b]
                    })
                    .collect();
                check_launches(&text, "plan\n groups j 1 : turns", &launches, 0.0);
            }
        }
    }
}

/// A row of a loop in which turns read what the next place is to be.
fn row(read: &str) -> String {
    format!(
        "region r (n : i64, A : [n]i32, B : [n]i32)
        let (s : [n]i32, sum : i32) = loop (t : [n]i32, x : i32) = (A, 7i32) for j < n - 1 do
          let v : i32 = max({read}, x - 1i32)
          let w : [n]i32 = t with [j + 1] = v
          in (w, v)
        in (s, sum)"
    )
}

#[test]
fn turns_are_in_lanes_where_nothing_else_is_handed_on() {
    let mut random = Random::new(5);
    let args =
        [size(100), array(ElemType::I32, &[100], &mut random), array(ElemType::I32, &[100], &mut random)];
    for (read, expected) in [("B[j]", true), ("t[j + 1]", true), ("t[j]", false), ("t[n - j - 1]", false)] {
        for cpu in modes().filter(|cpu| *cpu != CpuMode::Scalar) {
            let code =
                compile(&region(&row(read)), "plan\n groups j 1 : turns", &args, cpu, false).expect("code");
            let lir = code.listing(Listing::Lir).expect("a listing");
            assert_eq!(lir.contains("move_up"), expected, "{read}: {lir}");
        }
    }
}
