//! Limits, interrupts, ownership, tiering: what cannot be seen in the results of a program.

use galopvm_base::Scalar;
use galopvm_base::resident::{Arrival, Landing, Resident};
use galopvm_bytecode::{VerifiedModule, text, verify};
use galopvm_kir::{
    Argument, Backend, Buffer, CheckedLaunch, Compiled, Listing, Machine, Reference, Refusal, RunError, Unit,
    Vectors, VerifiedRegion,
};
use galopvm_runtime::{
    Array, ErrorKind, Limits, Memory, Options, Session, Switch, Switches, Tier, Tiering, Value, data,
};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const PROGRAM: &str = r#"
module
entry "double" @0 ("xs" : "[]i64") -> ("[]i64")
entry "spin" @1 () -> ("i64")
entry "fill" @2 ("n" : "i64") -> ("[]f64")
entry "counts" @3 ("xs" : "*[]i64", "n" : "i64") -> ("[]i64")
entry "gather" @4 ("xs" : "[]i64", "is" : "[]i64") -> ("[]i64")
entry "deep" @5 ("n" : "i64") -> ("i64")
entry "rows" @6 ("xs" : "[][]i64") -> ("[]i64")
entry "bytes" @8 ("n" : "i64") -> ("[]i8", "i64")
entry "same" @10 ("n" : "i64") -> ("[]i8", "i64")
entry "quotients" @9 ("n" : "i64", "at" : "i64") -> ("[]i64", "[]i64", "i64")
entry "repeat" @7 ("xs" : "[]i64", "n" : "i64") -> ("[]i64")
fn @0 "double" (r0 : []i64) -> ([]i64)
b0 ():
  r1 : i64 = dim r0 0
  r2 : []i64 = map r1! (r0!) b1
  => (r2!)
b1 (r3 : i64):
  r4 : i64 = op2 add i64 r3 r3
  => (r4!)
fn @1 "spin" () -> (i64)
b0 ():
  r0 : i64 = const 0i64
  r1 : bool = const true
  r2 : i64 = while (r0!) b1 b2
  => (r2!)
b1 (r3 : i64):
  => (r1)
b2 (r4 : i64):
  => (r4!)
fn @2 "fill" (r0 : i64) -> ([]f64)
b0 ():
  r1 : f64 = const 1f64
  r2 : []f64 = replicate r0! r1!
  => (r2!)
fn @3 "counts" (r0 : []i64, r1 : i64) -> ([]i64)
b0 ():
  r2 : i64 = const 1i64
  r3 : []i64 = for r1! (r0!) b1
  => (r3!)
b1 (r4 : i64, r5 : []i64):
  r6 : i64 = dim r5 0
  r7 : i64 = op2 mod i64 r4! r6!
  r8 : i64 = index r5 (r7)
  r9 : i64 = op2 add i64 r8! r2
  r10 : []i64 = update r5! (r7!) r9!
  => (r10!)
fn @4 "gather" (r0 : []i64, r1 : []i64) -> ([]i64)
b0 ():
  r2 : i64 = dim r1 0
  r3 : []i64 = map r2! (r1!) b1
  => (r3!)
b1 (r4 : i64):
  r5 : i64 = index r0 (r4!)
  => (r5!)
fn @5 "deep" (r0 : i64) -> (i64)
b0 ():
  r1 : i64 = const 1i64
  r2 : bool = op2 le i64 r0 r1
  r3 : i64 = if r2! b1 b2
  => (r3!)
b1 ():
  => (r1)
b2 ():
  r4 : i64 = op2 sub i64 r0 r1
  r5 : i64 = call @5 (r4!)
  r6 : i64 = op2 add i64 r5! r1
  => (r6!)
fn @6 "rows" (r0 : [][]i64) -> ([]i64)
b0 ():
  r1 : i64 = dim r0 0
  r2 : i64 = dim r0 1
  r3 : i64 = const 0i64
  r4 : []i64 = map r1! (r0!) b1
  => (r4!)
b1 (r5 : []i64):
  r6 : i64 = reduce r2 (r3) (r5!) b2
  => (r6!)
b2 (r7 : i64, r8 : i64):
  r9 : i64 = op2 add i64 r7! r8!
  => (r9!)
fn @7 "repeat" (r0 : []i64, r1 : i64) -> ([]i64)
b0 ():
  r2 : i64 = dim r0 0
  r3 : []i64 = for r1! (r0!) b1
  => (r3!)
b1 (r4 : i64, r5 : []i64):
  r6 : []i64 = map r2 (r5!) b2
  => (r6!)
b2 (r7 : i64):
  r8 : i64 = op2 add i64 r7! r4
  => (r8!)
fn @8 "bytes" (r0 : i64) -> ([]i8, i64)
b0 ():
  r1 : i64 = const 0i64
  r2 : i64 = const 3i64
  r3 : []i64 = iota i64 r0 r1 r2!
  r4 : []i8 = map r0 (r3) b1
  r5 : i64 = reduce r0! (r1!) (r3!) b2
  => (r4!, r5!)
b1 (r6 : i64):
  r7 : i8 = convert i64 i8 r6!
  => (r7!)
b2 (r8 : i64, r9 : i64):
  r10 : i64 = op2 add i64 r8! r9!
  => (r10!)
fn @9 "quotients" (r0 : i64, r1 : i64) -> ([]i64, []i64, i64)
b0 ():
  r2 : i64 = const 0i64
  r3 : i64 = const 1i64
  r4 : []i64 = iota i64 r0 r2 r3!
  r5 : i64 = redomap r0 (r2) (r4) b3 b2
  r6 : []i64 = scan r0 (r2!) (r4) b4
  r7 : []i64 = map r0! (r4!, r6) b1
  => (r7!, r6!, r5!)
b1 (r8 : i64, r9 : i64):
  r10 : i64 = op2 sub i64 r8! r1
  r11 : i64 = op2 div i64 r9! r10!
  => (r11!)
b2 (r12 : i64, r13 : i64):
  r14 : i64 = op2 add i64 r12! r13!
  => (r14!)
b3 (r15 : i64):
  r16 : i64 = op2 mul i64 r15 r15!
  => (r16!)
b4 (r17 : i64, r18 : i64):
  r19 : i64 = op2 add i64 r17! r18!
  => (r19!)
fn @10 "same" (r0 : i64) -> ([]i8, i64)
b0 ():
  r1 : i64 = const 0i64
  r2 : i64 = const 3i64
  r3 : []i64 = replicate r0 r2!
  r4 : []i8 = map r0 (r3) b1
  r5 : i64 = reduce r0! (r1!) (r3!) b2
  => (r4!, r5!)
b1 (r6 : i64):
  r7 : i8 = convert i64 i8 r6!
  => (r7!)
b2 (r8 : i64, r9 : i64):
  r10 : i64 = op2 add i64 r8! r9!
  => (r10!)
"#;

fn module() -> VerifiedModule {
    verify(text::parse(PROGRAM).expect("the program assembles")).expect("the program verifies")
}

fn session(options: Options) -> Session {
    Session::new(module(), options)
}

fn limited(limits: Limits) -> Session {
    session(Options { limits, ..Options::default() })
}

fn tiered(tiering: Tiering) -> (Session, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    let trace: galopvm_runtime::TraceSink = Arc::new(move |event| {
        // Times differ from run to run.
        let line = event.to_string();
        let line = line.split_once(" in ").map_or(line.clone(), |(front, _)| front.to_string());
        sink.lock().expect("no test panics while it holds the lines").push(line);
    });
    (session(Options { tiering, trace: Some(trace), ..Options::default() }), lines)
}

fn int(n: i64) -> Value {
    Value::Scalar(Scalar::i64(n))
}

fn ints(session: &Session, numbers: &[i64]) -> Value {
    Value::Array(
        Array::from_slice(session.memory(), numbers, &[numbers.len() as i64]).expect("there is memory"),
    )
}

fn shown(values: &[Value]) -> String {
    values.iter().map(data::value_text).collect::<Vec<_>>().join(" ")
}

#[test]
fn sessions_can_be_sent() {
    fn is_send<T: Send>() {}
    is_send::<Session>();
}

#[test]
fn the_memory_limit_is_an_error_and_leaves_the_session_usable() {
    let mut session = limited(Limits { memory: Some(1 << 20), ..Limits::default() });
    let error = session.call("fill", vec![int(1 << 20)]).expect_err("eight times the limit");
    assert_eq!(error.kind, ErrorKind::OutOfMemory);
    assert!(error.message.contains("the limit is 1048576 bytes"), "{error}");
    assert_eq!(session.call("fill", vec![int(100)]).map(|v| v.len()), Ok(1));
    let error = session.call("fill", vec![int(i64::MAX)]).expect_err("more than there is");
    assert_eq!(error.kind, ErrorKind::OutOfMemory);
    assert_eq!(session.memory().stats().live_bytes, 0);
}

#[test]
fn fuel_interrupts_and_depth_end_programs() {
    let mut session = limited(Limits { fuel: Some(100_000), ..Limits::default() });
    assert_eq!(session.call("spin", vec![]).expect_err("endless").kind, ErrorKind::OutOfFuel);
    assert_eq!(session.call("fill", vec![int(1 << 30)]).expect_err("much").kind, ErrorKind::OutOfFuel);
    assert_eq!(session.call("deep", vec![int(10)]).map(|v| shown(&v)), Ok("10i64".into()));

    let mut session = limited(Limits::default());
    let flag = session.interrupt_flag();
    let other = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(20));
        flag.store(true, Relaxed);
    });
    assert_eq!(session.call("spin", vec![]).expect_err("interrupted").kind, ErrorKind::Interrupted);
    other.join().expect("the other thread only sleeps");
    session.set_interrupt(false);
    assert_eq!(session.call("deep", vec![int(50_000)]).map(|v| shown(&v)), Ok("50000i64".into()));

    let mut session = limited(Limits { call_depth: 100, ..Limits::default() });
    let error = session.call("deep", vec![int(1000)]).expect_err("too deep");
    assert_eq!((error.kind, error.trace.len()), (ErrorKind::CallDepth, 100));
}

#[test]
fn time_is_limited_and_the_session_goes_on() {
    let time = Duration::from_millis(50);
    let mut session = limited(Limits { timeout: Some(time), ..Limits::default() });
    for _ in 0..2 {
        let start = Instant::now();
        let error = session.call("spin", vec![]).expect_err("endless");
        assert_eq!(error.kind, ErrorKind::Timeout);
        assert!(error.message.contains("50ms"), "{error}");
        assert!(start.elapsed() >= time && start.elapsed() < 10 * time, "{:?}", start.elapsed());
        assert_eq!(session.call("deep", vec![int(10)]).map(|v| shown(&v)), Ok("10i64".into()));
    }
    session.set_limits(Limits { timeout: Some(Duration::MAX), ..Limits::default() });
    assert!(session.call("deep", vec![int(10)]).is_ok());
}

/// The limit holds for what the process really has, and all of it can be used.
#[test]
fn the_memory_limit_is_kept_and_can_be_used_up() {
    const LIMIT: u64 = 64 << 20;
    for pieces in [1, 2, 3, 7, 10, 16, 64, 100, 1000, 5000] {
        let memory = Memory::new(Some(LIMIT));
        let size = (LIMIT / pieces) as usize - 64;
        let mut blocks = Vec::new();
        let refused = loop {
            match memory.block(size) {
                Ok(block) => blocks.push(block),
                Err(refused) => break refused,
            }
        };
        let stats = memory.stats();
        assert_eq!(refused.budget, Some(LIMIT));
        assert!(stats.peak_held_bytes <= LIMIT);
        // What a block would still need is not there; size classes add little.
        assert!(stats.live_bytes + size as u64 * 5 / 4 > LIMIT * 4 / 5, "{pieces}: {stats:?}");
        drop(blocks);
        assert!(memory.block(size / 2).is_ok() && memory.block(LIMIT as usize).is_ok());
        assert!(memory.stats().peak_held_bytes <= LIMIT);
    }
}

/// Kernels count for themselves; only the interpreter wants a range in memory.
#[test]
fn what_operators_go_over_takes_no_memory_before_it_is_wanted() {
    const N: i64 = 1_000_000;
    takes_no_memory("bytes", N, 3 * (N * (N - 1) / 2), "Range 0..3..<-3 is invalid.");
    takes_no_memory("same", N, 3 * N, "Range 0..1..<-1 is invalid.");
}

/// An entry point that goes over so many numbers, which nobody wants in memory, and gives as many bytes and the sum.
fn takes_no_memory(entry: &str, count: i64, sum: i64, message: &str) {
    let mut interpreter = session(Options::default());
    let expected = interpreter.call(entry, vec![int(count)]).expect("it runs");
    assert_eq!(expected[1], int(sum));
    // Made once, for both operators.
    let stats = interpreter.memory().stats();
    assert_eq!((stats.peak_bytes, stats.allocations), (9 * count as u64, 2));
    let limits = Limits { memory: Some(2 * count as u64), ..Limits::default() };
    let reference: Arc<dyn Backend> = Arc::new(Reference);
    let always = Tiering { backends: vec![reference.clone()], always: true, ..Tiering::default() };
    let quick = Tiering { backends: vec![], quick: Some(reference), ..Tiering::default() };
    for tiering in [always, quick] {
        let mut session = session(Options { limits: limits.clone(), tiering, ..Options::default() });
        assert_eq!(session.call(entry, vec![int(count)]), Ok(expected.clone()));
    }
    let mut interpreter = session(Options { limits, ..Options::default() });
    let error = interpreter.call(entry, vec![int(count)]).expect_err("the numbers have 8 MB");
    assert_eq!(error.kind, ErrorKind::OutOfMemory);
    let error = interpreter.call(entry, vec![int(-1)]).expect_err("no range");
    assert_eq!(error.message, message);
}

#[test]
fn ranges_that_waited_have_the_same_elements_and_errors() {
    let ways = [Switches::ON, Switches::without(&[Switch::Machine])];
    for n in [0, 1, 100, 8191, 8192, 32768, 32769, 100_000] {
        for at in [-1, 0, 5, 32767, 32768, 70_000, 99_999] {
            let outcomes = ways.map(|switches| {
                let mut session = session(Options { switches, ..Options::default() });
                session.call("quotients", vec![int(n), int(at)]).map(|v| shown(&v)).map_err(|e| e.to_string())
            });
            assert_eq!(outcomes[0].is_err(), (0..n).contains(&at), "{n} {at}");
            assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]), "{n} {at}");
        }
    }
}

#[test]
fn the_reference_back_end_stops() {
    let tiering = Tiering { backends: vec![Arc::new(Reference)], always: true, ..Tiering::default() };
    let limits = Limits { timeout: Some(Duration::from_millis(100)), ..Limits::default() };
    let mut session = session(Options { limits, tiering, ..Options::default() });
    let error = session.call("bytes", vec![int(1 << 33)]).expect_err("it takes minutes");
    assert!(matches!(error.kind, ErrorKind::Timeout | ErrorKind::OutOfMemory), "{error}");
    let rows = ints(&session, &[1; 100]);
    let endless = session.call("repeat", vec![rows, int(i64::MAX)]).expect_err("it takes years");
    assert_eq!(endless.kind, ErrorKind::Timeout);
}

#[cfg(unix)]
#[test]
fn an_input_file_that_is_shortened_is_an_error_of_the_call() {
    let path = std::env::temp_dir().join(format!("galopvm-session-{}", std::process::id()));
    let mut session = limited(Limits::default());
    let numbers = ints(&session, &[3; 1 << 19]);
    let mut file = std::fs::File::create(&path).expect("a temporary file");
    data::write_binary(&mut file, &numbers).expect("room for it");
    let input = data::Input::open(session.memory(), &path).expect("it was made just now");
    let read = || data::Reader::of_input(session.memory(), &input).value(None).expect("it is whole");
    let values = [read(), read()].map(|value| value.expect("there is one"));
    assert_eq!(values[0], numbers);
    file.set_len(100_000).expect("it can be shortened");
    let shortened = values[0].clone();
    for value in values {
        let error = session.call("double", vec![value]).expect_err("its file is gone");
        assert_eq!(error.kind, ErrorKind::Input);
        assert!(error.message.contains("became shorter"), "{error}");
    }
    // Writing it is an error as well, and the session is as good as before.
    assert!(data::write_text(&mut Vec::new(), &shortened).is_err());
    assert!(session.call("double", vec![numbers]).is_ok());
    std::fs::remove_file(&path).expect("it is there");
}

#[test]
fn unique_arrays_are_updated_in_place() {
    let mut session = limited(Limits::default());
    let xs = ints(&session, &[0; 1000]);
    let before = session.memory().stats();
    let result = session.call("counts", vec![xs, int(5000)]).expect("it runs");
    let after = session.memory().stats();
    assert_eq!(after.allocations, before.allocations);
    assert_eq!(result[0].as_array().and_then(|a| a.get(&[7])), Some(Scalar::i64(5)));
    // A block that somebody else holds is copied once.
    let again = session.call("counts", vec![result[0].clone(), int(5000)]).expect("it runs");
    assert_eq!(session.memory().stats().allocations, after.allocations + 1);
    assert_eq!(result[0].as_array().and_then(|a| a.get(&[7])), Some(Scalar::i64(5)));
    assert_eq!(again[0].as_array().and_then(|a| a.get(&[7])), Some(Scalar::i64(10)));
}

#[test]
fn every_representation_gives_the_same_value() {
    let memory = Memory::default();
    let numbers: Vec<i64> = (0..60).collect();
    let base = Array::from_slice(&memory, &numbers, &[3, 4, 5]).expect("there is memory");
    let views = [
        base.lmad().fix(0, 1),
        base.lmad().fix(1, 2),
        base.lmad().fix(0, 0).transpose(),
        base.lmad().fix(0, 2).reverse(0).reverse(1),
        base.lmad().fix(2, 1).triplet(1, 0, 2, 2),
        base.lmad().fix(0, 1).fix(0, 1).expand(0, 7),
        base.lmad().fix(0, 1).triplet(0, 1, 0, 1),
    ];
    for view in views {
        let array = Array::from_block(base.block().clone(), base.elem(), view.clone()).expect("it fits");
        let plain = array.copy(&memory).expect("there is memory");
        let (mut plain_session, _) = tiered(Tiering::interpreter());
        let expected = plain_session.call("rows", vec![Value::Array(plain)]).expect("it runs");
        let reference = Tiering { backends: vec![Arc::new(Reference)], always: true, ..Tiering::default() };
        for tiering in [Tiering::interpreter(), reference] {
            let (mut session, _) = tiered(tiering);
            let result = session.call("rows", vec![Value::Array(array.clone())]).expect("it runs");
            assert_eq!(shown(&result), shown(&expected), "{view}");
        }
    }
}

/// Doubles by hand; counts compilations; refuses or fails when told to.
#[derive(Default)]
struct Odd {
    refuse: bool,
    fail: bool,
    trap: bool,
    compiled: Arc<AtomicUsize>,
}

impl Backend for Odd {
    fn name(&self) -> &'static str {
        "odd"
    }

    fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal> {
        self.compiled.fetch_add(1, Relaxed);
        if self.refuse {
            return Err(Refusal::new("odd as ever"));
        }
        let code = Reference.compile(unit)?;
        Ok(Arc::new(OddCode { fail: self.fail, trap: self.trap, code }))
    }
}

struct OddCode {
    fail: bool,
    trap: bool,
    code: Arc<dyn Compiled>,
}

impl Compiled for OddCode {
    fn run_until(
        &self,
        launch: CheckedLaunch<'_, '_>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), RunError> {
        if self.fail {
            return Err(RunError::Failed(Refusal::new("lost")));
        }
        if self.trap {
            return Err(RunError::Trap);
        }
        assert!(launch.arguments.iter().any(|a| matches!(a, Argument::Array { .. })));
        assert!(matches!(launch.buffers.last(), Some(Buffer::Write(_))));
        self.code.run_until(launch, stop)
    }
    fn listing(&self, _kind: Listing) -> Option<String> {
        None
    }
}

fn with(odd: Odd) -> Tiering {
    Tiering { backends: vec![Arc::new(odd), Arc::new(Reference)], always: true, ..Tiering::default() }
}

#[test]
fn refusals_failures_and_traps_fall_back_with_their_reasons() {
    for (odd, last, reason) in [
        (Odd::default(), "double:b0:1 map: odd launched, 6 operations", "compiled"),
        (
            Odd { refuse: true, ..Odd::default() },
            "double:b0:1 map: reference launched, 6 operations",
            "compiled; refused by odd: odd as ever",
        ),
        (
            Odd { fail: true, ..Odd::default() },
            "double:b0:1 map: reference launched, 6 operations",
            "compiled; refused by odd: lost",
        ),
        (
            Odd { trap: true, ..Odd::default() },
            "double:b0:1 map: interpreted: a trap",
            "compiled code trapped",
        ),
    ] {
        let (mut session, lines) = tiered(with(odd));
        let xs = ints(&session, &[1, 2, 3]);
        let result = session.call("double", vec![xs]).expect("it runs");
        assert_eq!(shown(&result), "[2i64, 4i64, 6i64]");
        let lines = lines.lock().expect("nobody panicked").clone();
        assert_eq!(lines.last().map(String::as_str), Some(last), "{lines:#?}");
        assert_eq!(session.sites()[0].profile.reason, reason);
    }
    let (mut session, lines) = tiered(with(Odd { trap: true, ..Odd::default() }));
    for _ in 0..5 {
        let xs = ints(&session, &[1, 2, 3]);
        session.call("double", vec![xs]).expect("it runs");
    }
    // False traps are not tried for ever.
    let traps = lines.lock().expect("nobody panicked").iter().filter(|l| l.ends_with("a trap")).count();
    assert_eq!(traps, 3);
    let site = &session.sites()[0];
    assert_eq!(site.profile.reason, "compiled code trapped where the interpreter does not");
    assert_eq!((site.profile.executions, site.profile.elements), (5, 15));
}

#[test]
fn what_is_not_hot_runs_by_code_that_is_made_at_once() {
    for (refuse, later) in [(false, "odd"), (true, "reference")] {
        let odd = Odd { refuse, ..Odd::default() };
        let compiled = odd.compiled.clone();
        let quick: Option<Arc<dyn Backend>> = Some(Arc::new(Reference));
        let backends: Vec<Arc<dyn Backend>> = vec![Arc::new(odd)];
        let tiering = Tiering { backends, quick, background: false, ..Tiering::default() };
        let (mut session, _) = tiered(tiering);
        let mut tiers = Vec::new();
        // Until it is hot.
        for count in [10].into_iter().chain([20_000; 20]).chain([10]) {
            let xs = ints(&session, &(0..count).collect::<Vec<i64>>());
            let doubled = session.call("double", vec![xs]).expect("it runs");
            let last = doubled[0].as_array().and_then(|array| array.get(&[count - 1]));
            assert_eq!(last, Some(Scalar::i64(2 * (count - 1))));
            let profile = session.sites()[0].profile.clone();
            tiers.push(profile.tier.to_string());
            if tiers.len() == 2 {
                assert_eq!((profile.reason.as_str(), compiled.load(Relaxed)), ("made at once", 0));
            }
        }
        tiers.dedup();
        let mut expected = vec!["interp", "reference", later, "interp"];
        expected.dedup();
        assert_eq!(
            (tiers, compiled.load(Relaxed)),
            (expected.iter().map(|tier| tier.to_string()).collect(), 1)
        );
    }
}

#[test]
fn a_trap_in_compiled_code_gives_the_interpreters_error() {
    let reference = Tiering { backends: vec![Arc::new(Reference)], always: true, ..Tiering::default() };
    let (mut session, lines) = tiered(reference);
    let (xs, is) = (ints(&session, &[1, 2, 3]), ints(&session, &[0, 5]));
    let error = session.call("gather", vec![xs, is]).expect_err("5 is outside");
    assert_eq!(error.message, "Index [5] out of bounds for array of shape [3].");
    assert!(lines.lock().expect("nobody panicked").iter().any(|l| l.ends_with("interpreted: a trap")));
    // Errors of the program are not held against the code.
    for _ in 0..5 {
        let (xs, is) = (ints(&session, &[1, 2, 3]), ints(&session, &[-1, 0]));
        session.call("gather", vec![xs, is]).expect_err("-1 is outside");
    }
    let (xs, is) = (ints(&session, &[1, 2, 3]), ints(&session, &[2, 0]));
    let result = session.call("gather", vec![xs, is]).expect("it runs");
    assert_eq!(shown(&result), "[3i64, 1i64]");
    assert!(lines.lock().expect("nobody panicked").last().is_some_and(|l| l.contains("reference launched")));
}

#[test]
fn work_decides_when_to_compile() {
    let compiled = Arc::new(AtomicUsize::new(0));
    let odd = Odd { compiled: compiled.clone(), ..Odd::default() };
    let tiering =
        Tiering { backends: vec![Arc::new(odd)], threshold: 10_000, background: false, ..Tiering::default() };
    let (mut session, _) = tiered(tiering);
    let small: Vec<i64> = (0..1500).collect();
    let xs = ints(&session, &small);
    session.call("double", vec![xs.clone()]).expect("it runs");
    assert_eq!((compiled.load(Relaxed), session.sites()[0].profile.tier), (0, Tier::Interpreter));
    // Large at once.
    let large: Vec<i64> = (0..100_000).collect();
    let ys = ints(&session, &large);
    session.call("double", vec![ys]).expect("it runs");
    assert_eq!((compiled.load(Relaxed), session.sites()[0].profile.tier), (1, Tier::Compiled("odd")));
    // Small and often, in loops of fewer rounds than make a loop code of its own.
    let result = (0..4).map(|_| session.call("repeat", vec![xs.clone(), int(10)]).expect("it runs")).last();
    let result = result.expect("it ran");
    assert_eq!(compiled.load(Relaxed), 2);
    let site =
        session.sites().into_iter().find(|s| s.profile.executions == 40).expect("the site of `repeat`");
    assert!(site.profile.launches > 20 && site.profile.interpreted_work >= 10_000, "{:?}", site.profile);
    assert_eq!(result[0].as_array().and_then(|a| a.get(&[0])), Some(Scalar::i64(45)));
}

#[test]
fn the_background_compiler_takes_over() {
    let tiering = Tiering { backends: vec![Arc::new(Reference)], threshold: 5_000, ..Tiering::default() };
    let (mut session, lines) = tiered(tiering);
    let numbers: Vec<i64> = (0..1500).collect();
    let xs = ints(&session, &numbers);
    let start = std::time::Instant::now();
    while session.sites().iter().all(|s| s.profile.launches == 0) {
        assert!(start.elapsed().as_secs() < 20, "nothing was compiled: {:#?}", lines.lock());
        let result = session.call("repeat", vec![xs.clone(), int(100)]).expect("it runs");
        assert_eq!(result[0].as_array().and_then(|a| a.get(&[1])), Some(Scalar::i64(4951)));
    }
}

#[test]
fn versions_are_kept_by_stride_class() {
    let compiled = Arc::new(AtomicUsize::new(0));
    let odd = Odd { compiled: compiled.clone(), ..Odd::default() };
    let tiering = Tiering { backends: vec![Arc::new(odd)], always: true, ..Tiering::default() };
    let (mut session, _) = tiered(tiering);
    let base = ints(&session, &[1, 2, 3, 4, 5, 6, 7, 8]);
    let base = base.as_array().expect("it is an array");
    let views = [
        base.lmad().clone(),
        base.lmad().triplet(0, 1, 3, 1),
        base.lmad().reverse(0),
        base.lmad().triplet(0, 0, 4, 2),
        base.lmad().triplet(0, 0, 2, 3),
        base.lmad().triplet(0, 5, 3, 0),
        base.lmad().triplet(0, 5, 1, 0),
    ];
    for view in views {
        let array = Array::from_block(base.block().clone(), base.elem(), view).expect("it fits");
        let expected: Vec<i64> = array.to_vec::<i64>().expect("they are i64").iter().map(|x| x * 2).collect();
        let result = session.call("double", vec![Value::Array(array)]).expect("it runs");
        assert_eq!(result[0].as_array().and_then(Array::to_vec), Some(expected));
    }
    assert_eq!(compiled.load(Relaxed), 4);
    assert_eq!(session.sites()[0].versions.len(), 4);
}

/// Sums of the columns of a small matrix are code of their own: a large one is read in another order.
#[test]
fn versions_are_kept_by_the_order_of_reductions() {
    let vectors = Vectors { lanes: 8, registers: 13, masks: false, fma: true };
    let machine = Machine { vectors, l2_bytes: 1 << 12, ..Machine::default() };
    let tiering =
        Tiering { backends: vec![Arc::new(Reference)], machine, always: true, ..Tiering::interpreter() };
    let (mut session, _) = tiered(tiering);
    for (n, m) in [(4, 5), (40, 300), (5, 4)] {
        let numbers: Vec<i64> = (0..n * m).collect();
        let matrix = Array::from_slice(session.memory(), &numbers, &[n, m]).expect("there is memory");
        let columns = matrix.lmad().transpose();
        let columns = Array::from_block(matrix.block().clone(), matrix.elem(), columns).expect("it fits");
        let expected: Vec<i64> = (0..m).map(|j| (0..n).map(|i| i * m + j).sum()).collect();
        let result = session.call("rows", vec![Value::Array(columns)]).expect("it runs");
        assert_eq!(result[0].as_array().and_then(Array::to_vec), Some(expected));
    }
    let sites = session.sites();
    let versions = sites.iter().flat_map(|site| &site.versions);
    let orders = versions.map(|version| version.plan.plan().stretch().is_some());
    assert_eq!(orders.collect::<Vec<_>>(), [false, true]);
}

/// A back end whose device is lost before anybody has looked at a result.
struct Losing;

impl Backend for Losing {
    fn name(&self) -> &'static str {
        "losing"
    }

    fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal> {
        Ok(Arc::new(LosingCode(unit.region.clone())))
    }
}

struct LosingCode(VerifiedRegion);

/// What is left of a result.
struct Gone(Mutex<Option<Box<dyn Landing>>>);

impl Resident for Gone {
    fn bring(&self) -> Option<Arrival> {
        let landing = self.0.lock().expect("nobody panics here").take()?;
        Some(Arrival { landing, is_whole: false })
    }
}

impl Compiled for LosingCode {
    fn run_until(
        &self,
        launch: CheckedLaunch<'_, '_>,
        _stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), RunError> {
        for buffer in &mut launch.of(&self.0)?.buffers {
            if let Buffer::Fresh(block) = buffer {
                assert!(block.leave(&mut |landing| Arc::new(Gone(Mutex::new(Some(landing))))));
            }
        }
        Ok(())
    }

    fn keeps_copies(&self) -> bool {
        true
    }

    fn listing(&self, _kind: Listing) -> Option<String> {
        None
    }
}

#[test]
fn what_a_device_has_lost_is_an_error_of_the_call_that_looks() {
    let tiering = Tiering { backends: vec![Arc::new(Losing)], always: true, ..Tiering::default() };
    let mut losing = session(Options { tiering, ..Options::default() });
    let numbers = ints(&losing, &[3; 1000]);
    let made = losing.call("double", vec![numbers.clone()]).expect("nobody has looked");
    let mut plain = limited(Limits::default());
    let error =
        losing.call("counts", vec![made[0].clone(), int(3)]).expect_err("there is nothing to count in");
    assert_eq!(
        (error.kind, error.message.as_str()),
        (ErrorKind::Input, "The device that held an array was lost.")
    );
    // So it is where the call writes what it was given alone.
    let made = losing.call("double", vec![numbers.clone()]).expect("nobody has looked");
    let error = losing.call("counts", vec![made.into_iter().next().expect("a result"), int(3)]);
    assert_eq!(error.expect_err("there is nothing to count in").kind, ErrorKind::Input);
    let made = losing.call("double", vec![numbers.clone()]).expect("nobody has looked");
    assert!(data::write_text(&mut Vec::new(), &made[0]).is_err());
    assert_eq!(made[0].as_array().and_then(Array::to_vec::<i64>), None);
    // What has its elements is as good as before.
    assert!(losing.call("counts", vec![numbers.clone(), int(3)]).is_ok());
    assert!(plain.call("double", vec![numbers]).is_ok());
}
