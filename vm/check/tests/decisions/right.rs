//! What the analyses decide is proved.

use crate::decided::decided;
use crate::{case, recorded};
use galopvm_analysis::circuit::circuits;
use galopvm_analysis::memory::schedule;
use galopvm_check::{Affine, Budget, Decisions, Home, Memory, Verdict, check};
use galopvm_kir::text::print_region;
use galopvm_kir::{CheckedRegion, Observed, VarId};
use galopvm_testkit::cases::all;
use galopvm_testkit::regions::{constructs, parts, triangles};
use galopvm_testkit::rounds;
use std::collections::BTreeMap;

/// What came of some checks.
#[derive(Default)]
pub struct Tally {
    proved: usize,
    /// Of the decisions about places alone, those that sets prove.
    by_sets: usize,
    large: BTreeMap<&'static str, usize>,
    refused: Vec<String>,
}

impl Tally {
    fn add(&mut self, name: &str, verdict: &Verdict, region: &CheckedRegion, text: &str) {
        match verdict {
            Verdict::Proved => self.proved += 1,
            Verdict::TooLarge(why) => *self.large.entry(why).or_default() += 1,
            Verdict::Refused(violation) => self.refused.push(format!(
                "{name}: {}\n{}{text}",
                violation.text,
                print_region(region.region())
            )),
        }
    }

    /// Fails if something is refused.
    fn show(&self, what: &str) {
        let large: usize = self.large.values().sum();
        println!(
            "{what}: {} proved, {} of a third by sets, {large} too large {:?}, {} refused",
            self.proved,
            self.by_sets,
            self.large,
            self.refused.len()
        );
        assert!(
            self.refused.is_empty(),
            "{}",
            self.refused.iter().take(3).cloned().collect::<Vec<_>>().join("\n\n")
        );
    }
}

/// Places alone, and with blocks packed.
fn both(tally: &mut Tally, name: &str, region: &CheckedRegion, observed: &Observed) {
    let code = region.region();
    let circuits = circuits(code, observed);
    let verdict = |decisions: &Decisions| check(region, observed, decisions, Budget::default());
    let text = circuits.text(code);
    let places = decided(&circuits, None);
    tally.add(name, &verdict(&places), region, &text);
    let by_sets = check(region, observed, &places, Budget { elements: 0, ..Budget::default() });
    tally.by_sets += usize::from(by_sets == Verdict::Proved);
    for alignment in [1, 64] {
        let schedule = schedule(code, &circuits, alignment);
        let packed = decided(&circuits, Some(&schedule));
        tally.add(name, &verdict(&packed), region, &format!("{text}{schedule}"));
    }
}

#[test]
fn golden_cases_are_proved() {
    let mut tally = Tally::default();
    for case in all().iter().filter(|case| case.text("INPUT").is_some()) {
        let Ok((region, observed)) = case::region(case) else { continue };
        let before = tally.large.clone();
        both(&mut tally, &case.name, &region, &observed);
        if tally.large != before {
            println!("{} is too large", case.name);
        }
    }
    tally.show("golden cases");
}

#[test]
fn recorded_regions_are_proved() {
    let mut tally = Tally::default();
    for (name, region, observed) in recorded::all() {
        both(&mut tally, &name, &region, &observed);
    }
    tally.show("recorded regions");
}

#[test]
fn random_regions_of_every_construct_are_proved() {
    let mut tally = Tally::default();
    for seed in 0..rounds(3000) {
        let (env, text) = constructs::written(seed);
        let (region, observed) = case::region_of(&env, &text).expect("a region");
        both(&mut tally, &format!("seed {seed}"), &region, &observed);
    }
    tally.show("regions of every construct");
}

#[test]
fn random_regions_of_parts_are_proved() {
    let mut tally = Tally::default();
    for seed in 0..rounds(3000) {
        let (env, text) = parts::written(seed);
        let (region, observed) = case::region_of(&env, &text).expect("a region");
        both(&mut tally, &format!("seed {seed}"), &region, &observed);
    }
    tally.show("regions of parts");
}

/// Elements of a copy come in no order: an update that takes its value from places that it writes needs a block of its own, and
/// one that takes it from others does not.
#[test]
fn random_regions_over_triangles_are_proved() {
    let mut tally = Tally::default();
    for seed in 0..rounds(1000) {
        let (env, text) = triangles::written(seed);
        let (region, observed) = case::region_of(&env, &text).expect("a region");
        both(&mut tally, &format!("seed {seed}"), &region, &observed);
    }
    tally.show("random regions over triangles");
}

#[test]
fn updates_from_the_array_itself_are_proved() {
    let mut tally = Tally::default();
    for (value, part, stays) in [
        ("reverse a", "0 :+ 8 * 1", false),
        ("a[0 :+ 4 * 1]", "2 :+ 4 * 1", false),
        ("a[0 :+ 4 * 1]", "4 :+ 4 * 1", true),
        ("a[0 :+ 4 * 2]", "1 :+ 4 * 2", true),
        ("a[3 :+ 4 * 1]", "3 :+ 4 * 1", true),
    ] {
        let count = if value == "reverse a" { 8 } else { 4 };
        let text = format!(
            "let a : [8]i64 = kernel i < 8 do in i * 3\nlet v : [{count}]i64 = {value}\n\
             let y : [8]i64 = a with [{part}] = v\nin y\n"
        );
        let (region, observed) = case::region_of("", &text).expect("a region");
        both(&mut tally, value, &region, &observed);
        let circuits = circuits(region.region(), &observed);
        let block = |name: &str| {
            let named = circuits.places.iter().find(|(var, _)| region.region().name_of(**var) == name);
            named.map(|(_, place)| place.block)
        };
        assert_eq!(block("y") == block("a"), stays, "{value} into {part}");
    }
    tally.show("updates from the array itself");
}

/// An array that is made where a part of known size is replaced has that size, though the region does not say so: then nobody
/// can tell whether it fits, and nothing is wrong.
#[test]
fn parts_of_unknown_size_are_not_refused() {
    let text = "let a : [8]i64 = kernel i < 8 do in i * 3\n\
                let n : i64 = a[1]\n\
                let v : [n]i64 = kernel j < n do in j\n\
                let y : [8]i64 = a with [2 :+ 3 * 1] = v\nin y\n";
    let (region, observed) = case::region_of("", text).expect("a region");
    let circuits = circuits(region.region(), &observed);
    let is_moved = circuits.places.iter().any(|(var, place)| {
        region.region().name_of(*var) == "v" && region.region().name_of(place.block) == "a"
    });
    assert!(is_moved, "{}", circuits.text(region.region()));
    let mut tally = Tally::default();
    both(&mut tally, "a part of unknown size", &region, &observed);
    tally.show("parts of unknown size");
}

/// Of two equal numbers the analyses know which one is selected; the checker does not, and says no more than that.
#[test]
fn sizes_that_only_the_analyses_know_are_not_wrong() {
    let text = "let c : bool = A[0] > 3\nlet n : i64 = select(c, 4, 4)\nlet x : [n]i64 = kernel i < n do in i * 3\n\
                let y : [n]i64 = copy x\nlet z : i64 = y[0]\nin z\n";
    let (region, observed) = case::region_of("array A : [40]i64 rc 1\n", text).expect("a region");
    let mut tally = Tally::default();
    both(&mut tally, "select", &region, &observed);
    tally.show("sizes that only the analyses know");
}

/// What is made outside of a loop is there in every round, whatever name it has inside.
#[test]
fn memory_from_outside_of_a_loop_is_needed_in_the_next_round() {
    let mut tally = Tally::default();
    for (name, alias) in [
        ("the array itself", ""),
        ("a name", "let b : [8]i64 = a\n"),
        ("a name of a name", "let c : [8]i64 = a\nlet b : [8]i64 = c\n"),
        ("a view", "let b : [8]i64 = reverse a\n"),
        ("a side", "let b : [8]i64 = if k == 1 then in a else in z\n"),
        ("an inner loop", "let b : [8]i64 = loop d : [8]i64 = a for l < 2 do in d\n"),
    ] {
        let of = if alias.is_empty() { "a" } else { "b" };
        let text = format!(
            "let a : [8]i64 = kernel i < 8 do in i * 3\nlet z : [8]i64 = kernel m < 8 do in m * 5\n\
             let s : [0]i64 = z[0 :+ 0 * 1]\n\
             let e : [8]i64 = loop x : [8]i64 = z for k < 4 do\n{alias}\
             let v : [0]i64 = kernel j < 0 do let t : i64 = s[j] in t + 1\n\
             let y : [8]i64 = {of} with [0 :+ 0 * 1] = v\n\
             let w : [8]i64 = y with [k] = k\nin w\nin e\n"
        );
        let (region, observed) = case::region_of("", &text).unwrap_or_else(|e| panic!("{name}: {e}\n{text}"));
        both(&mut tally, name, &region, &observed);
    }
    tally.show("memory from outside of a loop");
}

/// What an iteration leaves as it is was not changed, whether a branch or a selection says so.
#[test]
fn selected_elements_keep_their_identity() {
    for value in ["select(i == 0, p + q, q)", "if i == 0 then p + q else q"] {
        let body = match value.starts_with("if") {
            true => "let r : i64 = if i == 0 then in p + q else in q\nin r".to_string(),
            false => format!("in {value}"),
        };
        let text = format!(
            "let y : [2]i64 = kernel i < 2 do\nlet p : i64 = A[1]\nlet q : i64 = A[i]\n{body}\nin y\n"
        );
        let (region, observed) = case::region_of("array A : [2]i64 rc 1\n", &text).expect("a region");
        let decisions =
            Decisions { over: [(named(&region, "y"), named(&region, "A"))].into(), ..Decisions::default() };
        assert_eq!(check(&region, &observed, &decisions, Budget::default()), Verdict::Proved, "{value}");
    }
}

/// Nobody knows how many rows there are, but each is as long as its type says.
#[test]
fn rows_of_an_unknown_number_of_rows_are_put_together() {
    let text = "let n : i64 = A[0]\n\
                let v : [n][6]i64 = kernel i < n do\nlet r : [6]i64 = kernel j < 6 do in i + j\nin r\n\
                let w : [n][12]i64 = kernel k < n do\nlet a : [6]i64 = v[k]\n\
                let b : [6]i64 = kernel l < 6 do let t : i64 = a[l] in t * 5\n\
                let c : [12]i64 = concat b a\nin c\nlet z : i64 = w[0, 7]\nin z\n";
    let (region, observed) = case::region_of("array A : [4]i64 rc 1\n", text).expect("a region");
    let mut tally = Tally::default();
    both(&mut tally, "rows", &region, &observed);
    tally.show("rows of an unknown number of rows");
}

/// A size that is computed in a round is that of the round, not of the one before.
#[test]
fn sizes_are_those_of_the_round() {
    let text = "let e : i64 = loop s : i64 = 0 for k < 3 do\nlet n : i64 = 1 + k\n\
                let x : [n][4]i64 = kernel i < n do\nlet a : [2]i64 = kernel j < 2 do in i + j\n\
                let b : [2]i64 = kernel l < 2 do in i * l\nlet c : [4]i64 = concat a b\nin c\n\
                let t : i64 = x[k, 0]\nlet u : i64 = s + t\nin u\nin e\n";
    let (region, observed) = case::region_of("", text).expect("a region");
    let var = |name: &str| named(&region, name);
    let row = |at| Affine { constant: at, terms: vec![(var("i"), 4)] };
    let homes = [("c", 0, 4), ("a", 0, 2), ("b", 2, 2)].map(|(name, at, count)| {
        let home = Home {
            block: var("x"),
            offset: row(at),
            dims: [(Affine::number(count), Affine::number(1))].into(),
        };
        (var(name), home)
    });
    let decisions = Decisions { homes: homes.into(), ..Decisions::default() };
    assert_eq!(check(&region, &observed, &decisions, Budget::default()), Verdict::Proved);
}

/// An array that one side of a branch makes in shared memory is whole there, also where its elements are longer than others in
/// that memory.
#[test]
fn sides_make_arrays_in_memory_of_shorter_elements() {
    let text = "let z : [8]i64 = kernel h < 8 do in h * 3\n\
                let c : bool = A[0] > 3\n\
                let x : [8]i64 = if c then in z else let y : [8]i64 = kernel i < 8 do in i\nin y\n\
                let s : i64 = if c then let t : i64 = x[2]\nin t else in 1\n\
                let f : [4]f32 = kernel j < 4 do in 1.0f32\n\
                let g : f32 = f[1]\nin (s, g)\n";
    let (region, observed) = case::region_of("array A : [4]i64 rc 1\n", text).expect("a region");
    let at = |name, first| (named(&region, name), Memory::At { memory: 0, first });
    let memory = [at("y", 0), at("f", 68)].into();
    let decisions = Decisions { memory, ..Decisions::default() };
    // Element by element.
    let budget = Budget { questions: 0, ..Budget::default() };
    assert_eq!(check(&region, &observed, &decisions, budget), Verdict::Proved);
}

/// The variable of a name.
fn named(region: &CheckedRegion, name: &str) -> VarId {
    let region = region.region();
    region.vars.ids().find(|var| region.name_of(*var) == name).expect("a name")
}

/// The same where the other side leaves shorter elements in that memory.
#[test]
fn sides_make_arrays_over_shorter_elements() {
    let text = "let c : bool = A[0] > 3\n\
                let f : [8]i32 = kernel h < 8 do in 1i32\n\
                let g : i32 = f[1]\n\
                let x : [2]i64 = if c then let y : [2]i64 = kernel i < 2 do in i\nin y else in B\n\
                let s : i64 = x[1]\nin (s, g)\n";
    let inputs = "array A : [4]i64 rc 1\narray B : [2]i64 rc 2\n";
    let (region, observed) = case::region_of(inputs, text).expect("a region");
    let at = |name| (named(&region, name), Memory::At { memory: 0, first: 0 });
    let decisions = Decisions { memory: [at("f"), at("y")].into(), ..Decisions::default() };
    // Element by element.
    let budget = Budget { questions: 0, ..Budget::default() };
    assert_eq!(check(&region, &observed, &decisions, budget), Verdict::Proved);
}

/// What an update copies because others hold it lies otherwise than before, and so a flat view of it has to be copied as well.
#[test]
fn a_copy_made_by_an_update_may_be_flattened() {
    let inputs = "array A : [8][2]i32 @ 0 + {(8:1),(2:8)} rc 2\n";
    let text = "let u : [2]i32 = kernel i < 2 do in 0i32\n\
                let w : [8][2]i32 = A with [2] = u\n\
                let t : [2][8]i32 = rearrange (1,0) w\n\
                let f : [16]i32 = reshape [16] t\n\
                let s : [16]i32 = kernel j < 16 do let r : i32 = f[j]\nin r\nin s\n";
    let (region, observed) = case::region_of(inputs, text).expect("a region");
    let mut tally = Tally::default();
    both(&mut tally, "flattened", &region, &observed);
    tally.show("a copy that is flattened");
    assert_eq!(tally.large, BTreeMap::new());
}

/// However many rounds there are over nothing, a check comes to its end.
#[test]
fn rounds_over_empty_arrays_cost_something() {
    let input = "let r =
  loop x = x0 for t < T do
    let y =
      kernel i < n do
        let p = x[min(i+1,n-1)]
        in p
    in y
";
    let env = "size T = 1000000000000, n = 0\narray x0 : [n]f32\n";
    let (region, observed) = case::region_of(env, input).expect("a region");
    let places = decided(&circuits(region.region(), &observed), None);
    for budget in [Budget::BRIEF, Budget::default()] {
        let verdict = check(&region, &observed, &places, budget);
        assert!(matches!(verdict, Verdict::TooLarge(_)), "{verdict:?}");
    }
}

/// A place outside of its block is not taken: it is no mistake where the program ends at the copy to it, else it is one.
#[test]
fn places_outside_of_a_block_are_wrong_unless_the_program_ends_there() {
    let input = "let ys =
  kernel i < n do
    let p = i * 3
    in p
let r = xs with [at :+ n * 1] = ys
";
    for (at, ends) in [(3, false), (4, true), (9, true)] {
        let env = format!("size n = 2, at = {at}\narray xs : [5]i64\n");
        let (region, observed) = case::region_of(&env, input).expect("a region");
        let code = region.region();
        let circuits = circuits(code, &observed);
        let mut decisions = decided(&circuits, None);
        let verdict = check(&region, &observed, &decisions, Budget::default());
        match ends {
            true => assert!(matches!(verdict, Verdict::TooLarge(_)), "{at}: {verdict:?}"),
            false => {
                assert_eq!(verdict, Verdict::Proved, "{}", circuits.text(code));
                let moved = decisions.homes.values_mut().find(|home| home.offset.constant == at);
                moved.expect("ys lies in xs").offset.constant = 9;
                let verdict = check(&region, &observed, &decisions, Budget::default());
                assert!(matches!(verdict, Verdict::Refused(_)), "{verdict:?}");
            }
        }
    }
}

/// Which of several elements stays at a place that all of them are copied to is said by nobody, and refused by nobody.
#[test]
fn updates_of_a_place_by_several_elements_are_no_mistake() {
    let input = "let r =
  kernel k < n do
    let ys =
      kernel a < 2, b < k + 1 do
        let p = a * 10 + b
        in p
    let zs = xs with [[1 + {(2:2),(k+1:2)}]] = ys
    in zs
let s =
  kernel j < n, i < 12 do
    let q = r[j, i]
    in q
";
    for n in [1, 2, 4] {
        let env = format!("size n = {n}\narray xs : [12]i64\n");
        let (region, observed) = case::region_of(&env, input).expect("a region");
        let decisions = decided(&circuits(region.region(), &observed), None);
        let verdict = check(&region, &observed, &decisions, Budget::default());
        assert!(!matches!(verdict, Verdict::Refused(_)), "{n}: {verdict:?}");
        assert_eq!(verdict == Verdict::Proved, n == 1, "{n}: {verdict:?}");
    }
}
