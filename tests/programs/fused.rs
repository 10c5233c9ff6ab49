//! Operators that run together: programs where they do, and programs in which a careless fusion would show.

use crate::sequences;
use crate::support::{WithoutScans, array};
use galopvm::{Program, Switch, Switches, Value};
use galopvm_base::{ElemType, Scalar};
use galopvm_bytecode::text::parse;
use galopvm_jit::X86Backend;
use galopvm_kir::{Backend, Machine, Reference};
use galopvm_runtime::{Event, Kernels, Options, Session, Tier, Tiering, TraceSink};
use galopvm_testkit::{Layout, Random};
use galopvm_vector::Vector;
use std::sync::{Arc, Mutex};

/// Who executes, and what may be done.
struct Way {
    name: &'static str,
    backend: Option<Arc<dyn Backend>>,
    /// Everything that can be compiled is.
    always: bool,
    eager: bool,
    switches: Switches,
}

fn plain() -> Way {
    Way { name: "plain", backend: None, always: false, eager: false, switches: Switches::OFF }
}

fn ways() -> Vec<Way> {
    let x86 = || Some(Arc::new(X86Backend::default()) as Arc<dyn Backend>);
    let way = |name, always, eager, switches| Way { name, backend: x86(), always, eager, switches };
    let only = Switches { jit: true, fusion: true, ..Switches::OFF };
    vec![
        way("always", true, false, Switches::ON),
        way("eager", false, true, Switches::ON),
        way("large", false, false, Switches::ON),
        way("nothing else", true, false, only),
        way("without fusion", true, false, Switches::without(&[Switch::Fusion])),
        Way { name: "reference", backend: Some(Arc::new(Reference)), ..way("", true, false, Switches::ON) },
    ]
}

/// The values, or the error, of each call; what was fused; launches of fused kernels, and how many of these write at
/// computed places.
#[derive(Default)]
struct Seen {
    outcomes: Vec<String>,
    fused: Vec<String>,
    launches: u64,
    written: u64,
}

fn session(program: &Program, way: &Way, told: &Arc<Mutex<Vec<String>>>) -> Session {
    let told = told.clone();
    let trace: TraceSink = Arc::new(move |event: &Event<'_>| {
        if let Event::Fused { line, .. } = event {
            told.lock().expect("nobody panics with the list").push(line.to_string());
        }
    });
    let tiering = Tiering {
        backends: way.backend.iter().cloned().collect(),
        machine: Machine::default(),
        threshold: 100,
        quick: None,
        always: way.always,
        background: false,
        kernels: Kernels::default(),
    };
    let (switches, eager) = (way.switches, way.eager);
    let options = Options { tiering, switches, eager, trace: Some(trace), ..Options::default() };
    Session::new(program.module().clone(), options)
}

/// A call of an entry point, with what it gives.
type Call<'a> = &'a dyn Fn(&Session) -> Vec<Value>;

fn seen(program: &Program, way: &Way, calls: &[Call<'_>]) -> Seen {
    let told = Arc::default();
    let mut session = session(program, way, &told);
    let mut seen = Seen::default();
    for arguments in calls {
        let arguments = arguments(&session);
        seen.outcomes.push(match session.call("main", arguments) {
            Ok(values) => values.iter().map(|value| format!("{value}\n")).collect(),
            Err(error) => error.to_string(),
        });
    }
    for site in session.sites().into_iter().filter(|site| site.name.operator == "fused") {
        seen.launches += site.profile.launches;
        let region = site.lifted.and_then(|lifted| lifted.ok());
        if region.is_some_and(|lifted| lifted.region.begins_as(0).is_some()) {
            seen.written += site.profile.launches;
        }
    }
    seen.fused = told.lock().expect("nobody panics with the list").clone();
    seen
}

fn ints(session: &Session, shape: &[i64], random: &mut Random) -> Value {
    let count = shape.iter().product::<i64>() as usize;
    let bits: Vec<u64> = (0..count).map(|_| Scalar::i64(random.below(50) as i64 - 3).bits).collect();
    array(session.memory(), ElemType::I64, shape, &bits, *random.pick(&Layout::ALL))
}

fn floats(session: &Session, shape: &[i64], random: &mut Random) -> Value {
    let count = shape.iter().product::<i64>() as usize;
    let bits: Vec<u64> = (0..count).map(|_| Scalar::f64(random.below(90) as f64 / 4.0 - 3.0).bits).collect();
    array(session.memory(), ElemType::F64, shape, &bits, *random.pick(&Layout::ALL))
}

#[test]
fn generated_sequences_do_not_depend_on_fusion() {
    let (mut launches, mut errors, mut written) = (0, 0, 0);
    for seed in 0..150 {
        let text = sequences::program(seed);
        let program = Program::from_source("sequence.fut", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let call = |n: i64, m: i64| {
            move |session: &Session| {
                let random = &mut Random::new(seed + n as u64);
                vec![
                    ints(session, &[n], random),
                    ints(session, &[n], random),
                    floats(session, &[n], random),
                    ints(session, &[n, m], random),
                ]
            }
        };
        let (a, b, c, d) = (call(17, 5), call(40, 33), call(0, 3), call(1, 1));
        // What was found out the first time is used again.
        let calls: [Call<'_>; 5] = [&a, &b, &c, &d, &b];
        let expected = seen(&program, &plain(), &calls).outcomes;
        errors += expected.iter().filter(|outcome| outcome.contains("Backtrace")).count();
        for way in ways() {
            let found = seen(&program, &way, &calls);
            assert_eq!(found.outcomes, expected, "seed {seed}, {}\n{text}", way.name);
            assert!(way.switches.fusion || found.launches == 0, "fusion is switched off");
            launches += found.launches;
            written += found.written;
        }
    }
    assert!(launches > 1000 && errors > 20, "{launches} launches of fused kernels, {errors} errors");
    assert!(written > 100, "only {written} scatters and histograms were fused");
}

/// What is fused when a program of one array of integers runs, and how many kernels that makes.
fn fusions(text: &str, n: i64) -> (Vec<String>, u64) {
    fusions_of(&Program::from_source("fused.fut", text).unwrap_or_else(|e| panic!("{e}")), n, text)
}

fn fusions_of(program: &Program, n: i64, text: &str) -> (Vec<String>, u64) {
    let call = |session: &Session| vec![ints(session, &[n], &mut Random::new(1))];
    let expected = seen(program, &plain(), &[&call]).outcomes;
    let ways = ways();
    let found = seen(program, &ways[0], &[&call]);
    assert_eq!(found.outcomes, expected, "{text}");
    (found.fused, found.launches)
}

#[test]
fn what_two_operators_read_is_not_made() {
    let text = "entry main (as: []i64): (i64, i64) =
                  let bs = map (\\a -> a * 3 + 1) as
                  in (reduce (+) 0 bs, reduce i64.max i64.lowest bs)";
    let (fused, launches) = fusions(text, 1000);
    assert_eq!(fused.len(), 2, "{fused:?}");
    assert!(fused[0].contains("is computed where") && fused[0].ends_with("saves 16000 bytes"), "{fused:?}");
    assert!(fused[1].contains("are computed together"), "{fused:?}");
    assert_eq!(launches, 1);
}

#[test]
fn a_producer_may_be_behind_a_call() {
    let text = "#[noinline]
                def scaled [n] (as: [n]i64): ([n]i64, [n]i64) = (map (* 3) as, map (+ 7) as)
                entry main (as: []i64): (i64, []i64) =
                  let s = i64.sum as
                  let (bs, cs) = scaled as
                  in (i64.sum bs + s, map2 (*) bs cs)";
    let (fused, launches) = fusions(text, 1000);
    assert!(fused.iter().filter(|line| line.contains("is computed where")).count() >= 1, "{fused:?}");
    assert!(launches >= 1);
}

#[test]
fn work_is_not_done_again_where_that_costs_more() {
    let text = "entry main (as: []i64): (i64, i64) =
                  let bs = map (\\a -> loop b = a for i < 100 do b * 3 % 1001 + i) as
                  in (reduce (+) 0 bs, reduce i64.max i64.lowest (map (\\i -> bs[i % 1000]) (map i64.abs as)))";
    let (fused, _) = fusions(text, 1000);
    assert!(!fused.iter().any(|line| line.contains("is computed where")), "{fused:?}");
}

#[test]
fn a_group_that_was_found_for_few_columns_does_not_run_for_many() {
    let text = "entry main (as: [][]i64): [][]i64 =
                  let bs = map (\\as -> loop bs = as for _i < 3 do map2 (-) bs (reverse bs)) as
                  in map2 (map2 (-)) as bs";
    let program = Program::from_source("fused.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let call = |shape: [i64; 2]| move |session: &Session| vec![ints(session, &shape, &mut Random::new(1))];
    let (narrow, wide) = (call([200, 1]), call([200, 60]));
    // With many columns each element would compute its whole row of the first result.
    let calls: [Call<'_>; 3] = [&narrow, &wide, &narrow];
    let way = Way { name: "reference", backend: Some(Arc::new(Reference)), always: true, ..plain() };
    let way = Way { switches: Switches::ON, ..way };
    let found = seen(&program, &way, &calls);
    assert_eq!(found.outcomes, seen(&program, &plain(), &calls).outcomes);
    assert!(found.fused.iter().any(|line| line.contains("is computed where")), "{:?}", found.fused);
    assert_eq!(found.launches, 2);
}

/// A destination that is read before it is changed is changed in its place: a group would copy it each round.
#[test]
fn what_is_read_before_it_is_changed_is_not_copied() {
    let text = "entry main (n: i64): i64 =
                  let s = loop s = tabulate_2d n n (\\i j -> i * 7 + j) for d < n - 1 do
                    let is = map (% n) (iota n)
                    let cells = map (\\i -> s[i, d] * 3 + s[(i + 1) % n, d + 1]) is
                    in scatter_2d s (map (\\i -> (i, d + 1)) is) cells
                  in i64.sum (flatten s)";
    let program = Program::from_source("fused.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let args = || vec![Value::Scalar(Scalar::i64(60))];
    let mut plain = Session::new(program.module().clone(), Options::default());
    let expected = plain.call("main", args());
    for way in ways().iter().filter(|way| way.always) {
        let mut session = session(&program, way, &Arc::default());
        assert_eq!(session.call("main", args()), expected, "{}", way.name);
        let copied: u64 = session.memory().stats().copied_bytes.iter().sum();
        assert!(copied < 8 * 60 * 60 * 4, "{}: {copied} bytes", way.name);
    }
}

/// What the second best back end takes as a group is tried apart, since the best one may take some of it.
#[test]
fn a_group_that_the_best_back_end_refuses_is_tried_apart() {
    let scans = "map (\\row -> scan (+) 0 row) (map (map (\\e -> e * 3 - 1001)) as)";
    let only_scans = "map (\\row -> scan (+) 0 row) (map (\\row -> scan i64.max 0 row) as)";
    for (body, is_by_x86) in [(scans, true), (only_scans, false)] {
        let text = format!("entry main (as: [][]i64): [][]i64 = {body}");
        let program = Program::from_source("fused.fut", &text).unwrap_or_else(|e| panic!("{e}"));
        let backends: Vec<Arc<dyn Backend>> = vec![Arc::new(WithoutScans), Arc::new(Vector::default())];
        let tiering = Tiering { backends, always: true, background: false, ..Tiering::default() };
        let options = Options { tiering, ..Options::default() };
        let mut session = Session::new(program.module().clone(), options);
        let mut plain = Session::new(program.module().clone(), Options::default());
        let (mut grouped, mut x86) = (Vec::new(), false);
        for seed in 1..20 {
            let args = |session: &Session| vec![ints(session, &[20, 30], &mut Random::new(seed))];
            let (found, expected) = (args(&session), args(&plain));
            assert_eq!(session.call("main", found), plain.call("main", expected), "{text}");
            let sites = session.sites();
            grouped.push(sites.iter().map(|site| site.profile.grouped).max().unwrap_or(0));
            x86 |= sites.iter().any(|site| site.profile.tier == Tier::Compiled("x86"));
        }
        // Four calls as a group, and three apart; then whatever is faster.
        assert_eq!(grouped[..8], [1, 2, 3, 4, 4, 4, 4, grouped[7]], "{text}");
        assert_eq!(x86, is_by_x86, "{text}");
    }
}

#[test]
fn errors_are_those_of_the_code_as_it_stands() {
    // The second operator would fail, too, and runs first if fused; an assertion stands in between.
    for (divisor, least) in [(4, 0), (1, 0), (4, 90), (1, 90)] {
        let text = format!(
            "entry main (as: []i64): (i64, []i64) =
               let bs = map (\\a -> 100 / (a - {divisor})) as
               let s = i64.sum as
               let t = assert (s > {least} * 1000000) (s + 1)
               let cs = map2 (\\b a -> b + as[a] + t) bs as
               in (i64.sum bs, cs)"
        );
        fusions(&text, 100);
    }
}

#[test]
fn what_a_histogram_or_scatter_reads_is_not_made() {
    let mapped = "let at = map (\\a -> a * 7 %% 10) as
                  let vs = map2 (\\a i -> a * 3 + i) as (indices as)";
    for (result, launches) in [
        // The destination is made by a kernel of the group.
        ("reduce_by_index (replicate 10 0) (+) 0 at vs", 2),
        ("scatter (replicate 10 0) at vs", 2),
        // It was made before, and dies with the histogram.
        ("reduce_by_index d (+) 0 at vs", 1),
        ("let e = scatter (copy d) at vs in map (+ d[0]) e", 2),
    ] {
        let first = if result.contains(" d") { "let d = map (+ 1) (take 10 as)" } else { "" };
        let text = format!("entry main (as: []i64): []i64 =\n {first}\n {mapped}\n in {result}");
        let (fused, count) = fusions(&text, 1000);
        let computed = fused.iter().filter(|line| line.contains("is computed where")).count();
        assert_eq!((computed, count), (2, launches), "{text}\n{fused:?}");
    }
}

#[test]
fn what_an_operator_ignores_is_there_for_it() {
    // The front end hands no rows over that are ignored; bytecode may.
    let text = "module
        entry \"main\" @0 (\"as\" : \"[n]i64\") -> (\"i64\", \"[n]i64\")
        fn @0 \"main\" (r0 : []i64) -> (i64, []i64)
        b0 ():
          r1 : i64 = dim r0 0
          r2 : []i64, r3 : []i64 = map r1 (r0) b1
          r4 : i64 = const 0i64
          r5 : i64 = reduce r1 (r4!) (r2!) b2
          r6 : []i64 = reverse r3! 0
          r7 : []i64 = map r1! (r0!, r6!) b3
          => (r5!, r7!)
        b1 (r8 : i64):
          r9 : i64 = const 3i64
          r10 : i64 = op2 mul i64 r8 r9!
          r11 : i64 = const 1i64
          r12 : i64 = op2 add i64 r8! r11!
          => (r10!, r12!)
        b2 (r13 : i64, r14 : i64):
          r15 : i64 = op2 add i64 r13! r14!
          => (r15!)
        b3 (r16 : i64, r17 : i64):
          r18 : i64 = const 1i64
          r19 : i64 = op2 sub i64 r16! r18!
          => (r19!)
        ";
    let module = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = Program::from_module("ignored", module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let (fused, _) = fusions_of(&program, 1000, text);
    assert!(!fused.is_empty());
}

#[test]
fn what_a_scatter_changes_is_seen_by_nobody_else() {
    // The destination is read before, after, between, and by what is written.
    for body in [
        "let d = map (+ 1) as let vs = map (* 2) as in (scatter (copy d) (map (% 7) as) vs, d)",
        "let d = map (+ 1) as let vs = map (* 2) d let e = scatter d (map (% 7) as) vs in (e, vs)",
        "let d = map (+ 1) as let vs = map (* 2) as let s = i64.sum d let e = scatter d (map (% 7) vs) vs \
         in (e, map (+ s) vs)",
        "let d = copy as let vs = map (* 2) as let s = d[0] let e = scatter d (map (+ s) vs) vs in (e, vs)",
        "let d = map (+ 1) as let vs = map (\\i -> d[i] * 2) (indices as) \
         let e = reduce_by_index d (+) 0 (map (% 7) vs) vs in (e, copy e)",
        "let d = map (+ 1) as let vs = map (\\a -> 60 / (a - 9)) as \
         let e = reduce_by_index d (+) 0 (map (% 7) as) vs in (e, e)",
        "let d = replicate (length as) 5 let vs = map (* 2) as let x = d[1] let e = scatter d (map (+ x) vs) vs in (e, vs)",
    ] {
        let text = format!("entry main (as: []i64): ([]i64, []i64) = {body}");
        for n in [30, 200] {
            fusions(&text, n);
        }
    }
}

/// Of two results that are one array, each has its register.
#[test]
fn results_of_a_call_may_be_one_array() {
    let text = "#[noinline]
                def twice [m] (a: [m]i64): ([m]i64, [m]i64) =
                  let b = map (\\e -> if e > 7 then e - 7 else e) a
                  in (copy b, copy b)
                entry main (as: []i64): ([]i64, []i64) =
                  let a = map (* 5) as
                  let c = map (+ 3) a
                  let (d, e) = twice a
                  in (copy c with [2:4] = d[0:2], e)";
    for n in [30, 1000] {
        fusions(text, n);
    }
}

#[test]
fn what_is_only_sliced_for_nobody_is_still_there() {
    let text = "entry main (k: i64) (as: [][]i64): []i64 =
                  let bs = map (\\row -> row[k % length row]) as
                  let n = length bs
                  let cs = tabulate n (\\i -> if i > (k % n) then (if bs[i] > 7 then bs[i] - 7 else bs[i]) else bs[i])
                  let _ = cs[::2]
                  in copy as[0]";
    let program = Program::from_source("sliced.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let call =
        |session: &Session| vec![Value::Scalar(Scalar::i64(1)), ints(session, &[9, 4], &mut Random::new(3))];
    let expected = seen(&program, &plain(), &[&call]).outcomes;
    for way in ways() {
        assert_eq!(seen(&program, &way, &[&call]).outcomes, expected, "{}", way.name);
    }
}

/// A function that a group goes through is not called: what nobody needs of it, and may fail, has to fail all the same.
#[test]
fn what_fails_in_a_called_function_fails_in_a_group() {
    let lost = [
        "let bad = a[k]",
        "let s = loop s = 0 for i < 3 do s + a[k + i]",
        "let s = loop xs = copy a for i < 2 do map (\\x -> x + xs[(k + i) % (length a + k)]) xs",
        "let one = assert (k < 3) 1i64",
        "let part = 100 / (k - 7)",
        "let as = map (\\x -> a[x % 4 + k]) a",
    ];
    for lost in lost {
        for (before, after) in [(lost, ""), ("", lost)] {
            let text = format!(
                "#[noinline]
                 def helper (k: i64) (a: []i64): []i64 =
                   {before}
                   let v = map (\\e -> e * 7 + k) a
                   {after}
                   in v
                 entry main (k: i64) (p: []i64): ([]i64, []i64) =
                   let b = map (+ 1) p
                   in (b, helper k b)"
            );
            let program = Program::from_source("lost.fut", &text).unwrap_or_else(|e| panic!("{text}\n{e}"));
            let calls = [0, 7].map(|k| {
                move |session: &Session| {
                    vec![Value::Scalar(Scalar::i64(k)), ints(session, &[4], &mut Random::new(3))]
                }
            });
            let calls: [Call<'_>; 2] = [&calls[0], &calls[1]];
            let expected = seen(&program, &plain(), &calls).outcomes;
            assert!(!expected[1].starts_with('['), "{text}: {expected:?}");
            for way in ways() {
                assert_eq!(seen(&program, &way, &calls).outcomes, expected, "{}: {text}", way.name);
            }
        }
    }
}

/// Sizes that the group computes itself are computed with the types of what they are computed from.
#[test]
fn sizes_may_come_from_floats_and_small_integers() {
    for (ty, numbers) in [("f64", [4.0, 2.5, -7.0]), ("i8", [3.0, -1.0, -100.0])] {
        let text = format!(
            "entry main (x: {ty}) (q: i64) (ns: []i64) (as: [][]i64): ([][]i64, [][]i64) =
               let n = length ns
               let ps = tabulate_2d n n (\\i j -> as[i % length as, j % length as[0]])
               let bs = map (map (* 9)) ps
               let cs = tabulate_2d n n (\\i j -> ps[i, j] * 2)
               let ds = map2 (map2 (-)) bs cs
               let k = i64.{ty} x % n
               let l = k + 1 + q % (n - k)
               let es = map (map (\\e -> e - 2)) ds[:l - k, 0:n] :> [l - k][n]i64
               let fs = map (\\e -> e - 4) ds[(q + 4) % n]
               in (es, cs with [0] = fs)"
        );
        let program = Program::from_source("sizes.fut", &text).unwrap_or_else(|e| panic!("{e}"));
        for number in numbers {
            let elem = if ty == "f64" { ElemType::F64 } else { ElemType::I8 };
            let call = |session: &Session| {
                let mut random = Random::new(3);
                let (ns, of) = (ints(session, &[3], &mut random), ints(session, &[2, 5], &mut random));
                vec![Value::Scalar(Scalar::from_f64(elem, number)), Value::Scalar(Scalar::i64(3)), ns, of]
            };
            let expected = seen(&program, &plain(), &[&call]).outcomes;
            for way in ways() {
                assert_eq!(seen(&program, &way, &[&call]).outcomes, expected, "{}, {number}{ty}", way.name);
            }
        }
    }
}
