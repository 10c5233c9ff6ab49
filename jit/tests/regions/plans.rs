//! What a plan says of vectors is executed, whatever it says: results do not depend on it.

use crate::support::*;
use galopvm_base::ElemType;
use galopvm_jit::{CpuMode, X86Backend};
use galopvm_kir::text::parse_plan;
use galopvm_kir::{Listing, Machine};
use galopvm_lmad::Lmad;
use std::collections::HashSet;

const PRODUCT: &str = "region product (n : i64, m : i64, k : i64, A : [n][k]f64, B : [k][m]f64, c : [n]f64)
    let r : [n][m]f64 = kernel i < n, j < m do
      let scale : f64 = c[i] + 1.0f64
      let s : f64 = red l < k do let x : f64 = A[i, l] * B[l, j] in x by (a : f64 = 0.0f64) (b : f64) do in max(a, b)
      in s * scale
    in r";

const SUM: &str = "region sum (n : i64, x : [n]i32, y : [n]i64)
    let (r : i32, s : i64) = red i < n do
      let p : i32 = x[i] * 3i32
      let q : i64 = y[i] ^ 5
      in (p, q)
    by (a : i32 = 0i32, b : i64 = 0) (c : i32, d : i64) do in (a + c, b ^ d)
    in (r, s)";

const WRITES: &str = "region writes (n : i64, w : i64, A : [w]i32, x : [n]i32)
    let r : [w]i32 = hist A i < n do
      let at : i64 = to_i64(x[i] * x[i]) % w
      let v : i32 = x[i] * 5i32 + 1i32
      in (at, v)
    by (a : i32 = 0i32) (b : i32) do in a + b
    in r";

#[test]
fn groups_and_rows_of_any_number() {
    let mut random = Random::new(61);
    let launches = [(9, 150, 11), (3, 5, 0), (8, 64, 3)].map(|(n, m, k)| {
        let [a, b, c] =
            [vec![n, k], vec![k, m], vec![n]].map(|shape| array(ElemType::F64, &shape, &mut random));
        vec![size(n as usize), size(m as usize), size(k as usize), a, b, c]
    });
    let mut listings = HashSet::new();
    for groups in 1..=8 {
        for rows in [0, 2, 3, 8] {
            let tile = if rows > 0 { format!("  tile i {rows} : a test\n") } else { String::new() };
            let plan = format!("plan\n  lane j : a test\n{tile}  groups j {groups} : a test\n");
            let is_new = listings.insert(check_vectors(PRODUCT, &plan, &launches));
            assert!(is_new || vectors().count() == 0, "{plan} has no code of its own");
        }
    }
}

const PLANES: &str = "region planes (k : i64, n : i64, m : i64, A : [k][n][m]ELEM)
    let (r : [n][m]ELEM, t : [n][m]ELEM) = kernel i < n, j < m do
      let s : ELEM = red q < k do let x : ELEM = A[q, (i - q) % n, (j - q) % m] in x by (a : ELEM = 0ELEM) (b : ELEM) do in max(a, b)
      let u : ELEM = red p < k do let y : ELEM = A[p, i, j] in y by (c : ELEM = 0ELEM) (d : ELEM) do in max(c, d)
      in (s, u)
    in (r, t)";

const WRITTEN: &str = "region written (k : i64, n : i64, m : i64, A : [n][m]ELEM)
    let r : [n][m][k]ELEM = kernel i < n, j < m do
      let x : ELEM = A[i, j]
      let y : [k]ELEM = kernel q < k do
        let z : ELEM = max(x, A[i, (j + q) % m])
        in z
      in y
    let t : [k][n][m]ELEM = rearrange (2, 0, 1) r
    in t";

/// What is fetched ahead lies behind the array now and then, and changes no value.
#[test]
fn fetches_ahead() {
    let mut random = Random::new(67);
    for ty in [ElemType::F32, ElemType::F64, ElemType::U8, ElemType::I16] {
        let launches = [(19, 7, 64), (3, 2, 200), (5, 9, 16), (0, 3, 40), (2, 1, 1)].map(|(k, n, m)| {
            vec![size(k as usize), size(n as usize), size(m as usize), array(ty, &[k, n, m], &mut random)]
        });
        for groups in [1, 4] {
            let text = PLANES.replace("ELEM", &ty.to_string());
            let plan = |more: &str| format!("plan\n  lane j : a test\n  groups j {groups} : a test\n{more}");
            let fetching = check_vectors(&text, &plan("  ahead read0 read1 : a test\n"), &launches);
            let count = |listing: &str| listing.matches("prefetch").count();
            assert!(count(&fetching) > 0 || vectors().count() == 0, "{ty}: nothing is fetched");
            assert_eq!(count(&check_vectors(&text, &plan(""), &launches)), 0, "{ty}");
            let text = WRITTEN.replace("ELEM", &ty.to_string());
            let launches = [(19, 7, 64), (3, 2, 200), (2, 1, 1)].map(|(k, n, m)| {
                vec![size(k as usize), size(n as usize), size(m as usize), array(ty, &[n, m], &mut random)]
            });
            let readies = check_vectors(&text, &plan("  ready q : a test\n"), &launches);
            assert!(count(&readies) > 0 || vectors().count() == 0, "{ty}: nothing is fetched");
            assert_eq!(count(&check_vectors(&text, &plan(""), &launches)), 0, "{ty}");
        }
    }
}

const PUTS: &str = "region puts (n : i64, w : i64, P : [n]i32, V : [n]ELEM, A : [w]ELEM, B : [w]bool)
    let (r, s) = scatter (A, B) i < n do
      let at : i64 = to_i64(P[i])
      in (at, V[i], i % 3 != 0)
    in (s, r)";

/// Places all inside, all outside, some of each, and the same for several lanes.
#[test]
fn scatters_in_lanes() {
    let mut random = Random::new(64);
    for ty in [ElemType::I8, ElemType::U16, ElemType::I32, ElemType::F32, ElemType::F64, ElemType::Bool] {
        let text = PUTS.replace("ELEM", &ty.to_string());
        let launches =
            [(0, 9), (7, 4), (16, 40), (500, 300), (500, 5), (640, 0)].map(|(n, w): (usize, usize)| {
                let place = |k: usize, random: &mut Random| match k / 64 % 3 {
                    0 if w > 0 => random.below(w) as i64,
                    1 => -1 - random.below(5) as i64,
                    _ => random.below(w + 3) as i64 - 1,
                };
                let places = (0..n).map(|k| ElemType::I32.mask() & place(k, &mut random) as u64).collect();
                let places = Arg::Array(ElemType::I32, places, Lmad::row_major(&[n as i64]));
                let values = array(ty, &[n as i64], &mut random);
                let [a, b] = [ty, ElemType::Bool].map(|ty| array(ty, &[w as i64], &mut random));
                vec![size(n), size(w), places, values, a, b]
            });
        for groups in [1, 2] {
            check_vectors(&text, &format!("plan\n  groups i {groups} : a test\n"), &launches);
        }
    }
}

#[test]
fn groups_of_partial_results() {
    let mut random = Random::new(62);
    let launches = [300, 0, 1, 15, 16, 17].map(|n| {
        let x = array(ElemType::I32, &[n], &mut random);
        vec![size(n as usize), x, array(ElemType::I64, &[n], &mut random)]
    });
    let mut listings = HashSet::new();
    for groups in 1..=8 {
        let plan = format!("plan\n  groups i {groups} : a test\n");
        let is_new = listings.insert(check_vectors(SUM, &plan, &launches));
        assert!(is_new || vectors().count() == 0, "{plan} has no code of its own");
    }
}

#[test]
fn scatters_in_lanes_have_room_for_so_many() {
    let mut random = Random::new(63);
    let data = (0..90).map(|_| random.bits() & 0xff).collect();
    let x = Arg::Array(ElemType::I32, data, Lmad::row_major(&[90]));
    let args = [size(90), size(7), array(ElemType::I32, &[7], &mut random), x];
    for cpu in vectors() {
        for groups in [1usize, 2, 3, 8] {
            let plan = format!("plan\n  groups i {groups} : a test\n");
            let region = region(WRITES);
            let code = compile(&region, &plan, &args, cpu, false);
            if groups * cpu.vectors().lanes > 32 {
                let refusal = code.err().expect("there is no room");
                assert!(refusal.reason.contains("more than there is room for"), "{refusal}");
                continue;
            }
            let code = code.unwrap_or_else(|e| panic!("{e}"));
            let got = run(&region, code.as_ref(), &args);
            compare(&region, &format!("{cpu} {plan}"), &reference(&region, &args), &got, 0.0, code.as_ref());
            let listing = code.listing(Listing::Lir).expect("it has a listing");
            let alone =
                compile(&region, "plan\n  groups i 1 : a test\n", &args, cpu, false).expect("it compiles");
            assert_eq!(listing == alone.listing(Listing::Lir).expect("it has one"), groups == 1, "{plan}");
        }
    }
}

#[test]
fn plans_for_vectors_are_refused_where_there_are_none() {
    let args = [
        size(3),
        size(7),
        array(ElemType::I32, &[7], &mut Random::new(1)),
        array(ElemType::I32, &[3], &mut Random::new(2)),
    ];
    for scalar in modes().filter(|cpu| cpu.vectors().lanes == 1) {
        let refusal = compile(&region(WRITES), "plan\n  groups i 2 : a test\n", &args, scalar, false);
        assert!(refusal.err().expect("it is refused").reason.contains("the plan is for vectors"));
    }
}

/// Results go past the caches from the plan's size on, never without one; the code has both loops.
#[test]
fn stores_past_the_caches_are_the_plans() {
    let text = "region map (n : i64, x : [n]f32)
        let r : [n]f32 = kernel i < n do let a : f32 = x[i] + 1.0f32 in a
        in r";
    let mut random = Random::new(64);
    let args = [size(1000), array(ElemType::F32, &[1000], &mut random)];
    for cpu in vectors() {
        for (plan, past) in [
            ("plan\n  groups i 2 : a test\n", false),
            ("plan\n  groups i 2 : a test\n  stream 0 : a test\n", true),
            ("plan\n  groups i 2 : a test\n  stream 4000 : a test\n", true),
        ] {
            let region = region(text);
            let code = compile(&region, plan, &args, cpu, false).unwrap_or_else(|e| panic!("{e}"));
            let listing = code.listing(Listing::Lir).expect("it has a listing");
            assert_eq!(listing.contains(".past_caches"), past, "{listing}");
            let got = run(&region, code.as_ref(), &args);
            compare(&region, &format!("{cpu} {plan}"), &reference(&region, &args), &got, 0.0, code.as_ref());
        }
    }
}

/// Where there are too few elements for pieces of whole cache lines, no piece writes past the caches.
#[test]
fn pieces_that_begin_within_a_cache_line_write_into_the_caches() {
    let text = "region map (n : i64, x : [n]i64)
        let r : [n]i64 = kernel i < n do let a : i64 = x[i] * 3i64 in a
        in r";
    let region = region(text);
    let mut random = Random::new(65);
    for cpu in vectors() {
        let machine = Machine { thread_grain: 1, ..machine(cpu) };
        for n in [9, 100, 300, 511, 512, 1000] {
            let args = [size(n), array(ElemType::I64, &[n as i64], &mut random)];
            let plan =
                "plan\n  threads i : a test\n  lane i : a test\n  groups i 2 : a test\n  stream 0 : a test\n";
            let plan = parse_plan(region.region(), plan).unwrap_or_else(|e| panic!("{e}"));
            let code = compile_on(&region, plan, &args, &machine, false).unwrap_or_else(|e| panic!("{e}"));
            let got = run(&region, code.as_ref(), &args);
            compare(&region, &format!("{cpu}, {n}"), &reference(&region, &args), &got, 0.0, code.as_ref());
        }
    }
}

/// The modes with vectors that this processor has.
fn vectors() -> impl Iterator<Item = CpuMode> {
    modes().filter(|cpu| cpu.vectors().lanes > 1 && *cpu <= X86Backend::greatest_mode())
}

/// Compiles for the first launch in every mode, and compares all launches with the reference; gives the low IR.
fn check_vectors(text: &str, plan: &str, launches: &[Vec<Arg>]) -> String {
    let region = region(text);
    let expected: Vec<_> = launches.iter().map(|args| reference(&region, args)).collect();
    let mut listings = String::new();
    for cpu in vectors() {
        let code = compile(&region, plan, &launches[0], cpu, false).unwrap_or_else(|e| panic!("{e}\n{plan}"));
        for (args, expected) in launches.iter().zip(&expected) {
            let got = run(&region, code.as_ref(), args);
            compare(&region, &format!("{cpu} {plan}"), expected, &got, 0.0, code.as_ref());
        }
        listings += &code.listing(Listing::Lir).expect("it has a listing");
    }
    listings
}
