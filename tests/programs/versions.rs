//! Versions of compiled code where the views of an operator's arrays change from call to call.

use galopvm::{Program, Value};
use galopvm_base::Scalar;
use galopvm_jit::X86Backend;
use galopvm_runtime::{Array, Event, Options, Session, Tiering};
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
    let compiled = Arc::new(AtomicU64::new(0));
    let count = compiled.clone();
    let trace = Arc::new(move |event: &Event<'_>| {
        if let Event::Compiled { .. } = event {
            count.fetch_add(1, Relaxed);
        }
    });
    let tiering =
        Tiering { backends: vec![Arc::new(X86Backend::default())], always: true, ..Tiering::default() };
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
