//! Decisions one by one: every gate, staging, parts, producers, profiles.

use galopvm_analysis::index::{Role, Table, table};
use galopvm_analysis::layout::producer::{Acceptance, acceptance, choose};
use galopvm_analysis::layout::{Costs, Gate, Means, Pricing, Profile, Question, Target, Verdict, order_text};
use galopvm_kir::text::{parse_env, parse_region_in};
use galopvm_kir::{CheckedRegion, VarId, check, types};

struct Facts {
    region: CheckedRegion,
    table: Table,
    costs: Costs,
    profile: Profile,
}

impl Facts {
    fn new(env: &str, input: &str) -> Facts {
        let (known, observed) = parse_env(env).unwrap_or_else(|e| panic!("{e}"));
        let mut region = parse_region_in(known, input).unwrap_or_else(|e| panic!("{e}"));
        types::infer(&mut region);
        let region = check(region).unwrap_or_else(|e| panic!("{e:?}"));
        let table = table(&region, &observed);
        Facts { region, table, costs: Costs::default(), profile: Profile::default() }
    }

    fn on(&self, target: Target) -> Pricing<'_> {
        Pricing { table: &self.table, costs: &self.costs, target, profile: &self.profile, sharing: 1 }
    }

    fn var(&self, name: &str) -> VarId {
        let vars = &self.region.region().vars;
        vars.iter_ids().find(|(_, var)| var.name == name).map(|(id, _)| id).expect("a name")
    }

    fn row(&self, name: &str) -> usize {
        let code = self.region.region();
        self.table.rows.iter().position(|row| row.name(code) == name).expect("a row")
    }
}

const ROWS: &str = "\
let r =
  kernel i < n do
    let s =
      loop w = 0.0f32 for j < m do
        let x = A[i, j]
        in w + x
    in s
";

fn rows(n: u64, m: u64) -> Facts {
    Facts::new(&format!("size n = {n}, m = {m}\narray A : [n][m]f32\n"), ROWS)
}

fn question() -> Question {
    Question {
        best_already: false,
        fits: false,
        misses_only: false,
        runs: 10,
        read: 100,
        elements: 100,
        before: 1000,
        after: 100,
        cost: 2000,
        rebuilt: false,
        bytes: 400,
        budget: 1 << 20,
        held: false,
    }
}

#[test]
fn every_gate_says_no_for_its_reason() {
    assert_eq!(question().judge(), Verdict::Manifest);
    let never = |gate| Verdict::Never(Some(gate));
    assert_eq!(Question { best_already: true, ..question() }.judge(), never(Gate::Class));
    let small = Question { fits: true, misses_only: true, ..question() };
    assert_eq!(small.judge(), never(Gate::Fit));
    assert_eq!(Question { misses_only: false, ..small }.judge(), Verdict::Manifest);
    assert_eq!(Question { after: 1000, ..question() }.judge(), Verdict::Never(None));
    assert_eq!(Question { after: 2000, ..question() }.judge(), Verdict::Never(None));
    let no = |gate| Verdict::No(Some(gate));
    assert_eq!(Question { runs: 1, elements: 101, ..question() }.judge(), no(Gate::Uses));
    assert_eq!(Question { cost: 10000, ..question() }.judge(), no(Gate::Cap));
    assert_eq!(Question { rebuilt: true, ..question() }.judge(), never(Gate::Accumulator));
    assert_eq!(Question { budget: 399, ..question() }.judge(), no(Gate::Memory));
    assert_eq!(Question { cost: 7201, ..question() }.judge(), Verdict::No(None));
    assert_eq!(Question { cost: 7200, ..question() }.judge(), Verdict::Manifest);
    // What is there stays for less.
    assert_eq!(Question { cost: 9990, held: true, ..question() }.judge(), Verdict::Manifest);
    assert_eq!(
        Question { before: 1001, after: 111, cost: 9990, held: true, ..question() }.judge(),
        Verdict::No(None)
    );
    assert_eq!(question().min_runs(), Some(3));
    assert_eq!(Question { after: 1001, ..question() }.min_runs(), None);
}

#[test]
fn a_copy_is_never_made_that_cannot_pay() {
    // The sum of all times before is a bound for every benefit.
    for runs in 1..40 {
        for cost in (0..20_000).step_by(500) {
            for after in (0..1200).step_by(100) {
                let question = Question { runs, cost, after, ..question() };
                if question.judge() == Verdict::Manifest {
                    assert!(runs * (1000 - after) * 4 >= cost * 5, "{question:?}");
                    assert!(runs >= question.min_runs().unwrap_or(u64::MAX));
                }
            }
        }
    }
}

#[test]
fn memory_and_profiles_decide() {
    let facts = rows(1024, 512);
    let gpu = facts.on(Target::Gpu);
    let lanes = |means: &Means| gpu.lane_choices(facts.var("i"), means).remove(0).copies().count();
    assert_eq!(lanes(&Means::default()), 1);
    assert_eq!(lanes(&Means { budget: 4 * 1024 * 512 - 1, ..Means::default() }), 0);
    // On a CPU it takes seven runs of the same version.
    let mut facts = rows(1024, 512);
    let copies = |facts: &Facts| {
        facts.on(Target::Cpu).lane_choices(facts.var("i"), &Means::default()).remove(0).copies().count()
    };
    assert_eq!(copies(&facts), 0);
    facts.profile.reads.insert(facts.var("A"), 6);
    assert_eq!(copies(&facts), 0);
    facts.profile.reads.insert(facts.var("A"), 7);
    assert_eq!(copies(&facts), 1);
    // One that is there is kept for fewer.
    facts.profile.reads.insert(facts.var("A"), 6);
    let held = Means { held: vec![(facts.var("A"), vec![1, 0])], ..Means::default() };
    let choice = facts.on(Target::Cpu).lane_choices(facts.var("i"), &held).remove(0);
    assert_eq!(choice.copies().count(), 1);
    assert_eq!(choice.arrays[0].spread, 0);
    assert_eq!([0, 1, 4, 8].map(|seen| Profile::mean(4, seen)), [3, 4, 4, 5]);
}

#[test]
fn branches_count_as_often_as_they_are_taken() {
    let input = "\
let r =
  kernel i < n do
    let v =
      if i < 5 then
        let x = A[i]
        in x
      else
        in 0.0f32
    in v
";
    let mut facts = Facts::new("size n = 32000\narray A : [n]f32\n", input);
    let time = |facts: &Facts| {
        let row = &facts.table.rows[facts.row("x")];
        facts.on(Target::Gpu).access_now(row, facts.var("i")).time
    };
    assert_eq!(time(&facts), 64000);
    facts.profile.taken.insert(facts.var("v"), 100);
    assert_eq!(time(&facts), 12800);
}

#[test]
fn staging_is_an_alternative_where_the_loop_goes_through_neighbours() {
    let facts = rows(1024, 512);
    let (gpu, row) = (facts.on(Target::Gpu), &facts.table.rows[facts.row("x")]);
    // A quarter more than the bytes of neighbours.
    assert_eq!(gpu.staged(row, facts.var("i")), Some(2097152 * 5 / 4));
    assert_eq!(facts.on(Target::Cpu).staged(row, facts.var("i")), None);
}

#[test]
fn a_part_is_copied_where_the_whole_is_not() {
    let input = ROWS.replace("j < m", "j < 4");
    let facts = Facts::new("size n = 4096, m = 1024\narray A : [n][m]f32\n", &input);
    let gpu = facts.on(Target::Gpu);
    let row = facts.row("x");
    let part = gpu.part_copy(row, facts.var("i"), &[1, 0], &Means::default()).expect("a part");
    assert_eq!(part.part, vec![(0, 4096), (0, 4)]);
    assert_eq!(part.copy.question.cost, 4096 * 4 * 4 * 2 * 5 / 4 + (1 << 20));
    assert_eq!(part.copy.question.min_runs(), Some(4));
    // All of it is read: no part.
    let whole = rows(64, 64);
    assert_eq!(whole.on(Target::Gpu).part_read(&whole.table.rows[whole.row("x")]), None);
}

#[test]
fn a_loop_value_takes_a_layout_where_it_is_made() {
    let input = "\
let last =
  loop X = A for t < T do
    let next =
      kernel i < n, j < n do
        let x = X[j, i]
        in x
    let seen =
      kernel k < n do
        let y = next[k, 0]
        in y
    in next
";
    let facts = Facts::new("size n = 64, T = 3\narray A : [n][n]f32\n", input);
    let code = facts.region.region();
    let accepts = |born: &[&str], copied: &[&str]| Acceptance::Accepts {
        born: born.iter().map(|name| facts.var(name)).collect(),
        copied: copied.iter().map(|name| facts.var(name)).collect(),
    };
    assert_eq!(acceptance(code, facts.var("X")), accepts(&["next"], &["A"]));
    assert_eq!(acceptance(code, facts.var("next")), accepts(&["next"], &[]));
    assert_eq!(acceptance(code, facts.var("A")), accepts(&[], &["A"]));
    let handed_on = input.replace("in next\n", "in X\n");
    let facts = Facts::new("size n = 64, T = 3\narray A : [n][n]f32\n", &handed_on);
    let found = acceptance(facts.region.region(), facts.var("X"));
    assert_eq!(found, Acceptance::Accepts { born: Vec::new(), copied: vec![facts.var("A")] });
}

#[test]
fn a_result_is_born_as_its_consumer_reads_it_if_that_is_cheapest() {
    let input = "\
let Y =
  kernel i < n, j < n do
    let x = A[j, i]
    in x
let Z =
  kernel k < n do
    let s =
      loop w = 0.0f32 for l < n do
        let y = Y[k, l]
        in w + y
    in s
";
    let facts = Facts::new("size n = 512\narray A : [n][n]f32\n", input);
    let gpu = facts.on(Target::Gpu);
    let births = gpu.births(facts.region.region(), facts.var("Y")).expect("births");
    // Along i both A and the transposed result are neighbours.
    let best = &births[choose(&births, 1).expect("a birth")];
    assert_eq!((best.lane, best.order.as_deref()), (facts.var("i"), Some(&[1, 0][..])));
    assert_eq!(best.text(), "1048576 + 1048576 + 1048576");
}

#[test]
fn fresh_results_are_rows_of_their_own() {
    let facts = rows(8, 8);
    let fresh: Vec<_> = facts.table.writes().filter(|row| row.role == Role::Fresh).collect();
    assert_eq!(fresh.len(), 1);
    assert_eq!(fresh[0].name(facts.region.region()), "-");
    assert_eq!(order_text(&[2, 0, 1]), "(2,0,1)");
}

#[test]
fn threads_take_what_the_lane_leaves() {
    let input = "\
let r =
  kernel a < n, b < n, c < n, d < n do
    let x = A[a, b, c, d]
    in x
";
    let facts = Facts::new("size n = 8\narray A : [n][n][n][n]f32\n", input);
    let code = facts.region.region();
    let text = |target, lane: &str| facts.on(target).threads_text(code, facts.var("a"), facts.var(lane));
    assert_eq!(text(Target::Cpu, "d"), "lane d ; threads a");
    assert_eq!(text(Target::Cpu, "a"), "lane a ; threads b");
    assert_eq!(text(Target::Gpu, "d"), "thread.x d ; thread.y c ; thread.z b*a");
    let short = "let r =\n  kernel a < n do\n    let x = A[a, 0, 0, 0]\n    in x\n";
    let facts = Facts::new("size n = 8\narray A : [n][n][n][n]f32\n", short);
    let lane = facts.var("a");
    assert_eq!(facts.on(Target::Gpu).threads_text(facts.region.region(), lane, lane), "thread.x a");
}

/// The layouts of a written target and of a fresh result pull the lane to opposite sides. A line that is written is
/// fetched and written back on a CPU, so that there the target decides; on a GPU both cost the same, and the declared
/// innermost variable wins.
#[test]
fn update_targets_count_twice_on_a_cpu() {
    let input = "\
let R =
  kernel i < n, j < n do
    let x = A[i, j]
    let Y2 = Y with [j, i] = x
    in x
";
    let facts = Facts::new("size n = 256\narray Y : [n][n]f32\narray A : [n][n]f32\n", input);
    let lane = |target| facts.on(target).lane_choices(facts.var("i"), &Means::default()).remove(0).lane;
    assert_eq!(lane(Target::Gpu), facts.var("j"));
    assert_eq!(lane(Target::Cpu), facts.var("i"));
}
