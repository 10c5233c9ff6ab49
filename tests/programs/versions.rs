//! Versions of compiled code where the views of an operator's arrays change from call to call.

use galopvm::{Program, Value};
use galopvm_base::Scalar;
use galopvm_jit::{CpuMode, X86Backend};
use galopvm_kir::{Backend, Machine};
use galopvm_runtime::{Array, Event, Met, Options, Session, Tiering};
use galopvm_testkit::Random;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const SUMS: &str = "entry main (as: [][]i64) (bs: [][]i64): [][]i64 =
                      map2 (map2 (\\a b -> a * 3 + b)) as bs";

/// Rows and columns of every array.
const SHAPE: [i64; 2] = [5, 7];

/// How an array may lie: its first place, and the strides of rows and columns.
type View = (i64, [i64; 2]);

/// Views of different stride classes.
const VIEWS: [View; 8] = [
    (0, [7, 1]),
    (0, [1, 5]),
    (6, [7, -1]),
    (3, [0, 1]),
    (1, [1, 0]),
    (0, [9, 3]),
    (2, [0, 0]),
    (4, [-1, 5]),
];

/// An array that lies like that in a block of 64 numbers.
fn array(session: &Session, (offset, strides): View, start: i64) -> Value {
    let numbers: Vec<i64> = (start..start + 64).collect();
    let whole = Array::from_slice(session.memory(), &numbers, &[8, 8]).expect("there is memory");
    let mut view = whole.lmad().clone();
    view.offset = offset;
    for (dim, (size, stride)) in view.dims.iter_mut().zip(SHAPE.into_iter().zip(strides)) {
        (dim.size, dim.stride) = (size, stride);
    }
    Value::Array(Array::from_block(whole.block().clone(), whole.elem(), view).expect("it fits"))
}

/// A session with compiled code, and how often something was compiled.
fn session(program: &Program) -> (Session, Arc<AtomicU64>) {
    session_on(program, Machine::default())
}

/// The same with code for a machine.
fn session_on(program: &Program, machine: Machine) -> (Session, Arc<AtomicU64>) {
    let compiled = Arc::new(AtomicU64::new(0));
    let count = compiled.clone();
    let trace = Arc::new(move |event: &Event<'_>| {
        if let Event::Compiled { .. } = event {
            count.fetch_add(1, Relaxed);
        }
    });
    let backends: Vec<Arc<dyn Backend>> = vec![Arc::new(X86Backend::default())];
    let tiering = Tiering { backends, machine, always: true, ..Tiering::default() };
    let options = Options { tiering, trace: Some(trace), ..Options::default() };
    (Session::new(program.module().clone(), options), compiled)
}

/// Calls with arrays that lie as these views say; the element of the result that is wrong, if one is.
fn call(session: &mut Session, views: [View; 2]) -> Option<[i64; 2]> {
    let [a, b] = [array(session, views[0], 100), array(session, views[1], 1000)];
    let expected = |at: &[i64; 2]| {
        let get = |value: &Value| value.as_array().and_then(|array| array.get(at)).expect("inside").as_i64();
        get(&a) * 3 + get(&b)
    };
    let result = session.call("main", vec![a.clone(), b.clone()]).expect("it runs");
    let found = result[0].as_array().expect("an array");
    (0..SHAPE[0])
        .flat_map(|i| (0..SHAPE[1]).map(move |j| [i, j]))
        .find(|at| found.get(at) != Some(Scalar::i64(expected(at))))
}

#[test]
fn views_that_take_turns_do_not_compile_each_other_away() {
    let program = Program::from_source("sums.fut", SUMS).unwrap_or_else(|e| panic!("{e}"));
    let (mut session, compiled) = session(&program);
    let mut random = Random::new(5);
    for _ in 0..400 {
        let pair = [0, 1].map(|_| VIEWS[random.below(VIEWS.len())]);
        assert_eq!(call(&mut session, pair), None, "{pair:?}");
    }
    // Four, the one for all others, and a few in place of one that was not used for long.
    assert!((5..12).contains(&compiled.load(Relaxed)), "{} were compiled", compiled.load(Relaxed));
    // Those views are gone, and another one stays.
    let before = compiled.load(Relaxed);
    for _ in 0..200 {
        assert_eq!(call(&mut session, [VIEWS[6], VIEWS[7]]), None);
    }
    assert!(compiled.load(Relaxed) <= before + 1, "{} were compiled", compiled.load(Relaxed));
    let sites = session.sites();
    let versions = &sites.iter().find(|site| site.profile.launches > 0).expect("it was launched").versions;
    let last = versions.iter().find(|version| !version.key.is_generic && version.launches >= 100);
    assert!(versions.len() <= 5 && last.is_some(), "nothing was compiled for what stays");
}

/// The launches of all sites.
fn launches(session: &Session) -> u64 {
    session.sites().iter().map(|site| site.profile.launches).sum()
}

#[test]
fn what_a_launch_does_not_come_to_may_have_any_size() {
    let text = "
      def one (xss: [1][1]i64): i64 = xss[0, 0]
      def few (xss: [5][3]i64): i64 = xss[0, 1] + xss[4, 2]
      def many (xss: [40][3]i64): i64 = i64.sum (map (\\xs -> xs[0] * xs[2]) xss) + xss[39, 1]
      def both (xs: []i64) (ys: []i64): i64 = i64.sum (map2 (*) xs ys)
      def chosen [n] [m] (which: i64) (xss: [n][m]i64) (ys: []i64): i64 =
        if which == 1 then one (xss :> [1][1]i64)
        else if which == 2 then few (xss :> [5][3]i64)
        else if which == 3 then many (xss :> [40][3]i64)
        else if which == 4 then both xss[0] (ys :> [m]i64)
        else if which == 5 then xss[7, 2]
        else 0
      entry main (which: i64) (n: i64) (m: i64): []i64 =
        let ys = map (* 7) (iota 3)
        in map (\\k -> chosen which (tabulate_2d n m (\\i j -> i * 11 + j + k)) ys) (iota 100)
      entry given (which: i64) (xsss: [][][]i64) (ys: []i64): []i64 =
        map (\\xss -> chosen which xss ys) xsss";
    let program = Program::from_source("chosen.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let (mut compiled, _) = session(&program);
    let mut plain = Session::new(
        program.module().clone(),
        Options { tiering: Tiering::interpreter(), ..Options::default() },
    );
    let int = |number: i64| Value::from(Scalar::i64(number));
    let shown = |session: &mut Session, entry: &str, args: Vec<Value>| match session.call(entry, args) {
        Ok(values) => values[0].to_string(),
        Err(error) => error.message,
    };
    for which in 0..7 {
        for (n, m) in [(1, 1), (5, 3), (40, 3), (8, 3), (1, 3), (0, 0), (3, 5)] {
            let numbers: Vec<i64> = (0..20 * n * m).map(|k| k * 5 - 300).collect();
            let given = |session: &mut Session| {
                let array = |numbers: &[i64], shape: &[i64]| {
                    Value::Array(Array::from_slice(session.memory(), numbers, shape).expect("it fits"))
                };
                let (xsss, ys) = (array(&numbers, &[20, n, m]), array(&[3, 1, 4], &[3]));
                let made = shown(session, "main", vec![int(which), int(n), int(m)]);
                (made, shown(session, "given", vec![int(which), xsss, ys]))
            };
            assert_eq!(given(&mut compiled), given(&mut plain), "{which}, {n} x {m}");
        }
    }
    // Sizes that suit the side that is taken suit the code.
    for (which, n, m) in [(1, 1, 1), (2, 5, 3), (3, 40, 3), (4, 8, 3), (5, 8, 3), (0, 1, 1)] {
        // The only operator outside of all others.
        let numbers: Vec<i64> = (0..20 * n * m).collect();
        let xsss = Array::from_slice(compiled.memory(), &numbers, &[20, n, m]).expect("it fits");
        let ys = Array::from_slice(compiled.memory(), &[3i64, 1, 4], &[3]).expect("it fits");
        let before = launches(&compiled);
        compiled.call("given", vec![int(which), xsss.into(), ys.into()]).expect("it runs");
        assert_eq!(launches(&compiled), before + 1, "{which}, {n} x {m}");
    }
}

#[test]
fn sizes_that_are_too_large_for_code_do_not_end_it_for_others() {
    let text = "entry main (rows: i64) (n: i64): i64 =
                  i64.sum (map (\\k ->
                    let xs = loop xs = map (+ k) (iota n) for i < 2 do map (\\j -> xs[(j * 7 + i) % n] + xs[j]) (iota n)
                    in xs[n / 2]) (iota rows))";
    let program = Program::from_source("large.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let vectors = X86Backend::greatest_mode().vectors();
    let (mut session, _) = session_on(&program, Machine { vectors, ..Machine::default() });
    let mut plain = Session::new(
        program.module().clone(),
        Options { tiering: Tiering::interpreter(), ..Options::default() },
    );
    // The second size does not fit into what code has for itself.
    for (rows, n) in [(200, 50), (1, 3_000_000), (200, 50), (1, 3_000_000), (200, 50)] {
        let args = || [rows, n].map(|number| Value::from(Scalar::i64(number))).to_vec();
        let found = session.call("main", args()).expect("it runs");
        let expected = plain.call("main", args()).expect("it runs");
        assert_eq!(found[0].to_string(), expected[0].to_string());
    }
    // Lanes have arrays of their own. Without lanes the sizes fit.
    let has_lanes = X86Backend::greatest_mode() > CpuMode::Scalar;
    assert!(!has_lanes || session.coverage().of(Met::RunTooLarge) > 0);
    for site in session.sites() {
        let ended = site.versions.iter().find(|version| version.code.is_none());
        assert!(ended.is_none(), "{}: {:?}", site.name, site.profile);
    }
}

#[test]
fn few_long_rows_are_left_to_those_who_execute_their_operators() {
    let text = "entry main [rows] [n] (xss: [rows][n]i32): [rows][n]i32 =
                  map (\\xs ->
                    let ys = map (\\x -> x * 3 + 1) xs
                    let zs = scan (+) 0 (map2 (\\a b -> a * b + 1) ys (reverse xs))
                    let ws = map (\\i -> zs[(i * 7) % n] + ys[i]) (iota n)
                    in map3 (\\w z y -> w * z - y) ws (rotate 1 zs) ys) xss";
    let program = Program::from_source("rows.fut", text).unwrap_or_else(|e| panic!("{e}"));
    let vectors = X86Backend::greatest_mode().vectors();
    let machine = Machine { vectors, l2_bytes: 1 << 16, ..Machine::default() };
    let backends: Vec<Arc<dyn Backend>> = vec![Arc::new(X86Backend::default())];
    let tiering = Tiering { backends, machine, background: false, ..Tiering::default() };
    let mut compiled = Session::new(program.module().clone(), Options { tiering, ..Options::default() });
    let mut plain = Session::new(
        program.module().clone(),
        Options { tiering: Tiering::interpreter(), ..Options::default() },
    );
    // Many short rows and few long ones in turn: what is known of the one is not taken for the other.
    for (rows, n) in [(300, 20), (2, 20_000), (3, 15_001), (300, 20), (2, 20_000), (1, 5), (0, 0)] {
        let numbers: Vec<i32> = (0..rows * n).map(|k| (k as i32).wrapping_mul(77_777) % 1000).collect();
        let call = |session: &mut Session| {
            let array = Array::from_slice(session.memory(), &numbers, &[rows, n]).expect("it fits");
            session.call("main", vec![array.into()]).expect("it runs")[0].to_string()
        };
        assert_eq!(call(&mut compiled), call(&mut plain), "{rows} x {n}");
    }
    let has_lanes = X86Backend::greatest_mode() > CpuMode::Scalar;
    assert!(!has_lanes || compiled.coverage().of(Met::RunRowByRow) > 0);
}
