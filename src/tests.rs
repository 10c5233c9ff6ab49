//! The embedding interface as hosts use it.

use crate::*;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

fn program(text: &str) -> Program {
    Program::from_source("test.fut", text).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn values_of_rust_types_go_in_and_come_out() {
    let program = program(
        "entry all (a: i8) (b: u64) (c: f32) (d: bool) (e: []i16): (i8, u64, f32, bool, []i16) = (a, b, c, d, e)
         entry turn [n] [m] (a: [n][m]f64): [m][n]f64 = transpose a
         entry nothing (x: i32): () = ()",
    );
    let mut session = Engine::new().session(&program);
    let all: (i8, u64, f32, bool, Vec<i16>) =
        session.call("all", (-3i8, u64::MAX, 1.5f32, true, [1i16, -2])).unwrap();
    assert_eq!(all, (-3, u64::MAX, 1.5, true, vec![1, -2]));
    let matrix = session.array(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]).unwrap();
    let turned: Array = session.call("turn", (&matrix,)).unwrap();
    assert_eq!(turned.shape().as_slice(), [3, 2]);
    assert_eq!(turned.to_vec::<f64>().unwrap(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    session.call::<()>("nothing", (1,)).unwrap();
}

#[test]
fn what_does_not_fit_is_an_error_that_says_so() {
    let program = program("def main (x: i32): (i32, bool) = (x + 1, x < 0)");
    let mut session = Engine::new().session(&program);
    let says = |result: Result<i32, Error>, expected: &str| {
        let text = result.unwrap_err().to_string();
        assert!(text.contains(expected), "{text}");
    };
    says(session.call("main", (1i32,)), "the call has 2 results, not 1");
    says(session.call("main", (1i64,)), "expected i32");
    says(session.call("main", ()), "takes 1");
    says(session.call("mian", (1i32,)), "no entry point `mian`");
    let wrong: Result<(i32, Vec<i32>), Error> = session.call("main", (1i32,));
    assert_eq!(wrong.unwrap_err().to_string(), "the value is a bool, not a []i32");
    let wrong: Result<(i64, bool), Error> = session.call("main", (1i32,));
    assert_eq!(wrong.unwrap_err().to_string(), "the value is a i32, not a i64");
    assert!(session.array(&[1, 2, 3], &[2, 2]).is_err());
    // The session is as good as before.
    assert_eq!(session.call::<(i32, bool)>("main", (41i32,)).unwrap(), (42, false));
}

#[test]
fn messages_have_places_and_hints() {
    let Err(Error::Compile(messages)) = Program::from_source("a.fut", "def f (x: i32): i32 = x + y") else {
        panic!("an error is expected")
    };
    assert_eq!(messages.errors(), 1);
    assert!(!messages.is_incomplete());
    assert!(messages.render(false).contains("a.fut:1:27"), "{messages}");
    let Err(Error::Compile(messages)) = Program::from_source("a.fut", "def f =") else {
        panic!("an error is expected")
    };
    assert!(messages.is_incomplete());
}

#[test]
fn bytecode_is_the_same_program() {
    let source = program("def main (x: i32): i32 = x * 2");
    let bytes = source.to_bytecode();
    let loaded = Program::from_bytecode("bytes", &bytes).unwrap();
    assert_eq!(loaded.to_bytecode(), bytes);
    let stripped = loaded.stripped().unwrap();
    assert!(stripped.to_bytecode().len() < bytes.len());
    assert_eq!(Engine::new().session(&stripped).call::<i32>("main", (21i32,)).unwrap(), 42);
    assert!(Program::from_bytecode("bytes", &bytes[..bytes.len() / 2]).is_err());
}

#[test]
fn limits_and_interrupts_end_a_call() {
    let program = program("def main (n: i64): i64 = loop x = 0 for i < n do x ^ i");
    let kind = |result: Result<i64, Error>| match result {
        Err(Error::Run(error)) => error.kind,
        other => panic!("{other:?}"),
    };
    let mut limited = Engine::builder().fuel(1000).build().session(&program);
    assert_eq!(kind(limited.call("main", (1_000_000i64,))), ErrorKind::OutOfFuel);
    assert!(limited.call::<i64>("main", (10i64,)).is_ok());
    let mut session = Engine::new().session(&program);
    let flag = session.interrupt_flag();
    let (done, outcome) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let result = session.call::<i64>("main", (i64::MAX,));
        let _ = done.send(());
        result
    });
    flag.store(true, Ordering::Relaxed);
    outcome.recv().unwrap();
    assert_eq!(kind(thread.join().unwrap()), ErrorKind::Interrupted);
}

#[test]
fn a_canceller_ends_the_calls_that_it_is_set_for_and_no_other() {
    let program = program("def main (n: i64): i64 = loop x = 0 for i < n do x ^ i");
    let kind = |result: Result<i64, Error>| match result {
        Err(Error::Run(error)) => error.kind,
        other => panic!("{other:?}"),
    };
    let (first, second) = (Canceller::new(), Canceller::new());
    let mut session = Engine::new().session(&program);
    session.set_cancellers([&first]);
    assert_eq!(session.call::<i64>("main", (3i64,)).unwrap(), 3);
    std::thread::scope(|scope| {
        scope.spawn(|| first.cancel());
        assert_eq!(kind(session.call("main", (i64::MAX,))), ErrorKind::Interrupted);
    });
    // However short a call is, it does not begin.
    assert_eq!(kind(session.call("main", (3i64,))), ErrorKind::Interrupted);
    session.set_cancellers([&second, &Canceller::new()]);
    assert_eq!(session.call::<i64>("main", (3i64,)).unwrap(), 3);
    // The session's own flag is looked at as well, and a limit of time.
    session.interrupt_flag().store(true, Ordering::Relaxed);
    assert_eq!(kind(session.call("main", (i64::MAX,))), ErrorKind::Interrupted);
    session.interrupt_flag().store(false, Ordering::Relaxed);
    session.set_limits(Limits { timeout: Some(Duration::from_millis(5)), ..Limits::default() });
    assert_eq!(kind(session.call("main", (i64::MAX,))), ErrorKind::Timeout);
    second.cancel();
    session.set_cancellers([]);
    session.set_limits(Limits::default());
    assert_eq!(session.call::<i64>("main", (3i64,)).unwrap(), 3);
}

#[test]
fn every_back_end_can_be_asked_for() {
    let program = program("def main [n] (xs: [n]f32): []f32 = map (\\x -> x * x + 1) xs");
    let xs: Vec<f32> = (0..1000).map(|n| n as f32).collect();
    let expected: Vec<f32> = xs.iter().map(|x| x * x + 1.0).collect();
    for backend in BackendChoice::ALL {
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = events.clone();
        let sink: TraceSink = Arc::new(move |event| seen.lock().unwrap().push(event.to_string()));
        let engine = Engine::builder().backend(backend).threads(2).trace(sink).build();
        let mut session = engine.session(&program);
        assert_eq!(session.call::<Vec<f32>>("main", (&xs,)).unwrap(), expected, "{backend}");
        let used = session.sites()[0].profile.tier;
        match backend {
            BackendChoice::Interp => assert_eq!(used, Tier::Interpreter),
            BackendChoice::Reference => {
                assert_eq!(used, Tier::Compiled("reference"));
                assert!(events.lock().unwrap().iter().any(|e| e.contains("reference launched")));
            }
            // Whether there is one depends on the machine; why not is in the notes.
            BackendChoice::Vulkan if !engine.notes().is_empty() => assert_eq!(used, Tier::Interpreter),
            _ => {}
        }
    }
}

/// A back end with a mistake.
struct Broken;

impl Backend for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn compile(
        &self,
        _: galopvm_kir::Unit<'_>,
    ) -> Result<Arc<dyn galopvm_kir::Compiled>, galopvm_kir::Refusal> {
        panic!("this was not thought of")
    }
}

#[test]
fn nothing_is_compiled_with_the_switch_off() {
    let program = program("def main [n] (xs: [n]i32): [n]i32 = map (+ 1) xs");
    let builder = Engine::builder().own_backend(Arc::new(Broken));
    let mut session = builder.switches(Switches::without(&[Switch::Jit])).build().session(&program);
    assert_eq!(session.call::<Vec<i32>>("main", (vec![1i32; 5000],)).unwrap(), [2; 5000]);
}

#[test]
fn a_panic_is_an_error_that_asks_to_be_reported() {
    let program = program("def main [n] (xs: [n]i32): [n]i32 = map (+ 1) xs");
    let engine = Engine::builder().own_backend(Arc::new(Broken)).build();
    let mut session = engine.session(&program);
    let error = session.call::<Vec<i32>>("main", (vec![1i32; 5000],)).unwrap_err();
    assert!(matches!(error, Error::Internal(_)));
    let text = error.to_string();
    assert!(text.contains("this was not thought of") && text.contains("please report it"), "{text}");
    // Nothing is known of this session, but the program and others are as good as before.
    let again = session.call::<Vec<i32>>("main", (vec![1i32],)).unwrap_err();
    assert!(again.to_string().contains("make a new session"), "{again}");
    let mut other = Engine::builder().backend(BackendChoice::Interp).build().session(&program);
    assert_eq!(other.call::<Vec<i32>>("main", (vec![1i32],)).unwrap(), [2]);
}

#[test]
fn every_tier_ends_in_time() {
    let program = program(
        "entry spin (n: i64): i64 = loop x = 0 for i < n do x ^ i
         entry rows (n: i64) (m: i64): []i64 = map (\\i -> loop x = i for j < m do x * 3 + j) (iota n)
         entry sum (n: i64) (m: i64): i64 =
           reduce (+) 0 (map (\\i -> loop x = i for j < m do x * 3 + j) (iota n))
         entry small (n: i64): []i64 = map (+ 1) (iota n)",
    );
    let time = Duration::from_millis(100);
    for backend in [BackendChoice::Interp, BackendChoice::Auto, BackendChoice::X86] {
        for threads in [1, 2] {
            let engine = Engine::builder().backend(backend).threads(threads).timeout(time).build();
            let mut session = engine.session(&program);
            for (entry, arguments) in
                [("spin", vec![i64::MAX]), ("rows", vec![5_000_000, 5000]), ("sum", vec![5_000_000, 5000])]
            {
                let arguments = arguments.into_iter().map(|n| Value::Scalar(Scalar::i64(n))).collect();
                let start = Instant::now();
                let Err(Error::Run(error)) = session.call_values(entry, arguments) else {
                    panic!("{backend} {threads} {entry}: an error is expected")
                };
                let took = start.elapsed();
                assert_eq!(error.kind, ErrorKind::Timeout, "{backend} {threads} {entry}: {error}");
                // A machine under load has other things to do as well.
                assert!(took >= time && took < 10 * time, "{backend} {threads} {entry}: {took:?}");
            }
            assert_eq!(session.call::<Vec<i64>>("small", (3i64,)).unwrap(), [1, 2, 3]);
            assert_eq!(session.memory_stats().live_bytes, 0, "{backend} {threads}");
        }
    }
}

#[test]
fn floats_that_are_summed_in_another_order_are_no_defect() {
    // Sums in the rows of rows: no instruction of the program reads the elements that it moves.
    let program = program(
        "def main [n] [k] (xs: *[n][n]f32) (ys: [k]f32): [n][n]f32 =
           let parts = map (map (\\x -> x - f32.sum (map (* x) ys))) xs[1:, 1:]
           let xs[1:, 1:] = parts
           in xs",
    );
    let engine = Engine::builder().backend(BackendChoice::X86).check(true).build();
    let mut session = engine.session(&program);
    let number = |i: usize| ((i * 7919 % 1009) as f32 - 500.3) / 333.7;
    let (xs, ys): (Vec<f32>, Vec<f32>) = ((0..64 * 64).map(number).collect(), (0..100).map(number).collect());
    for _ in 0..3 {
        let xs = session.array(&xs, &[64, 64]).unwrap();
        let result: Array = session.call("main", (xs, ys.clone())).unwrap();
        assert_eq!(result.shape().as_slice(), [64, 64]);
    }
}

#[test]
fn what_begins_ends_and_whoever_listens_changes_nothing() {
    let program = program(
        "entry main [n] (xs: [n]i64): i64 =
           let ys = loop ys = copy xs for i < 20 do map (+ i) (scan (+) 0 ys)
           in reduce (+) 0 ys
         entry fails [n] (xs: [n]i64): []i64 = map (\\i -> loop x = xs[0] for j < 3 do x + xs[i + j]) (iota n)",
    );
    for backend in BackendChoice::ALL {
        let told = Arc::new(Mutex::new((Vec::new(), 0)));
        let listener = told.clone();
        let sink = Arc::new(move |moment: Moment| {
            let (open, ended) = &mut *listener.lock().unwrap();
            match moment {
                Moment::Begins(doing) => open.push(doing),
                Moment::Ends => *ended += usize::from(open.pop().is_some()),
                Moment::Interprets(_) => assert!(matches!(open.last(), Some(Doing::Instruction(_)))),
            }
        });
        let mut heard = Engine::builder().backend(backend).moments(sink).build().session(&program);
        let mut alone = Engine::builder().backend(backend).build().session(&program);
        let xs: Vec<i64> = (0..3000).collect();
        let result = heard.call::<i64>("main", (xs.clone(),)).unwrap();
        assert_eq!(alone.call::<i64>("main", (xs.clone(),)).unwrap(), result);
        assert!(heard.call::<Vec<i64>>("fails", (xs,)).is_err());
        let (open, ended) = &*told.lock().unwrap();
        assert!(open.is_empty() && *ended > 1, "{backend}: {ended} ended, open: {open:?}");
    }
}

#[test]
fn hosts_may_call_on_small_stacks() {
    let small = "def main (n: i64): i64 = loop x = 0 for i < n do x + i
                entry down (n: i64): i64 = if n <= 0 then 0 else 1 + down (n - 1)
                entry nested (n: i64) = let f (k: i64) (g: i64 -> i64) = g k in f n (\\k -> k + 1)
                entry below [n] (xs: [n]i64): [n]i64 = map (\\x -> if x > 0 then x - 1 else 0) xs";
    let nested = format!("def main (x: i64): i64 = {}x{}", "(".repeat(1200), ")".repeat(1200));
    let too_deep = format!("def main (x: i64): i64 = {}x{}", "(".repeat(100_000), ")".repeat(100_000));
    let work = move || {
        assert!(Program::from_source("nested.fut", &nested).is_ok());
        let Err(Error::Compile(messages)) = Program::from_source("deep.fut", &too_deep) else {
            panic!("an error is expected")
        };
        assert!(messages.to_string().contains("nested more than"), "{messages}");
        let program = Program::from_source("small.fut", small).unwrap();
        let bytes = program.to_bytecode();
        let program = Program::from_bytecode("small.gbc", &bytes).unwrap();
        for backend in [BackendChoice::Interp, BackendChoice::Reference, BackendChoice::X86] {
            let mut session = Engine::builder().backend(backend).build().session(&program);
            assert_eq!(session.call::<i64>("main", (10i64,)).unwrap(), 45);
            assert_eq!(session.call::<i64>("nested", (10i64,)).unwrap(), 11);
            assert_eq!(session.call::<Vec<i64>>("below", (vec![1i64; 5000],)).unwrap(), [0; 5000]);
        }
        let mut session = Engine::new().session(&program);
        assert_eq!(session.call::<i64>("down", (50_000i64,)).unwrap(), 50_000);
        match session.call::<i64>("down", (200_000i64,)) {
            Err(Error::Run(error)) => assert_eq!(error.kind, ErrorKind::CallDepth, "{error}"),
            other => panic!("{other:?}"),
        }
    };
    for size in [64 << 10, 128 << 10, 512 << 10, 2 << 20] {
        let work = work.clone();
        let thread = std::thread::Builder::new().stack_size(size).spawn(work).unwrap();
        assert!(thread.join().is_ok(), "{size} bytes of stack");
    }
}
