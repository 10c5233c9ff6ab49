//! Arrays are given to operators in the layout that they read: copies are made once, used again, never stale, and given
//! up where memory is short.

use galopvm_bytecode::{text, verify};
use galopvm_explain::{Collector, Heading, Target};
use galopvm_kir::Reference;
use galopvm_runtime::{
    Array, LazyCosts, Limits, MemoryStats, Options, Session, Switch, Switches, Tiering, Value,
};
use std::sync::Arc;

/// Sums of rows by a loop in a map; the last two also change the array in between.
const PROGRAM: &str = r#"
module
entry "sums" @0 ("xss" : "[][]i32") -> ("[]i32")
entry "turned" @1 ("xss" : "[][]i32") -> ("[]i32")
entry "changed" @2 ("xss" : "*[][]i32") -> ("[]i32", "[]i32", "[][]i32")
entry "again" @3 ("xss" : "[][]i32", "times" : "i64") -> ("[]i32")
entry "chain" @4 ("xss" : "[][]i32") -> ("[]i32", "[]i32", "[][]i32")
entry "both" @5 ("xss" : "[][]i32", "times" : "i64") -> ("i32")
fn @0 "sums" (r0 : [][]i32) -> ([]i32)
b0 ():
  r1 : i64 = dim r0 0
  r2 : i64 = dim r0 1
  r3 : i32 = const 0i32
  r4 : []i32 = map r1! (r0!) b1
  => (r4!)
b1 (r5 : []i32):
  r6 : i32 = for r2 (r3) b2
  => (r6!)
b2 (r7 : i64, r8 : i32):
  r9 : i32 = index r5 (r7!)
  r10 : i32 = op2 add i32 r8! r9!
  => (r10!)
fn @1 "turned" (r0 : [][]i32) -> ([]i32)
b0 ():
  r1 : [][]i32 = permute r0! (1, 0)
  r2 : []i32 = call @0 (r1!)
  => (r2!)
fn @2 "changed" (r0 : [][]i32) -> ([]i32, []i32, [][]i32)
b0 ():
  r1 : []i32 = call @0 (r0)
  r2 : i64 = const 1i64
  r3 : i32 = const 1000i32
  r4 : [][]i32 = update r0! (r2, r2!) r3!
  r5 : []i32 = call @0 (r4)
  => (r1!, r5!, r4!)
fn @3 "again" (r0 : [][]i32, r1 : i64) -> ([]i32)
b0 ():
  r2 : []i32 = call @0 (r0)
  r3 : []i32 = for r1! (r2!) b1
  => (r3!)
b1 (r4 : i64, r5 : []i32):
  r6 : []i32 = call @0 (r0)
  => (r6!)
fn @4 "chain" (r0 : [][]i32) -> ([]i32, []i32, [][]i32)
b0 ():
  r1 : i64 = dim r0 0
  r2 : i64 = dim r0 1
  r3 : i32 = const 1i32
  r4 : i32 = const 0i32
  r5 : [][]i32 = map r1 (r0!) b1
  r6 : []i32 = map r1 (r5) b3
  r17 : []i32 = map r1! (r5) b5
  => (r6!, r17!, r5!)
b1 (r7 : []i32):
  r8 : []i32 = map r2 (r7!) b2
  => (r8!)
b2 (r9 : i32):
  r10 : i32 = op2 add i32 r9! r3
  => (r10!)
b3 (r11 : []i32):
  r12 : i32 = for r2 (r4) b4
  => (r12!)
b4 (r13 : i64, r14 : i32):
  r15 : i32 = index r11 (r13!)
  r16 : i32 = op2 add i32 r14! r15!
  => (r16!)
b5 (r18 : []i32):
  r19 : i32 = for r2 (r4) b6
  => (r19!)
b6 (r20 : i64, r21 : i32):
  r22 : i32 = index r18 (r20!)
  r23 : i32 = op2 max i32 r21! r22!
  => (r23!)
fn @5 "both" (r0 : [][]i32, r1 : i64) -> (i32)
b0 ():
  r2 : i64 = dim r0 0
  r3 : i64 = dim r0 1
  r4 : i32 = const 0i32
  r5 : [][]i32 = permute r0 (1, 0)
  r6 : i32 = for r1! (r4) b1
  => (r6!)
b1 (r7 : i64, r8 : i32):
  r9 : []i32 = map r2 (r0) b2
  r10 : []i32 = map r3 (r5) b4
  r11 : i64 = const 3i64
  r12 : i32 = index r9! (r11)
  r13 : i32 = index r10! (r11!)
  r14 : i32 = op2 add i32 r12! r13!
  r15 : i32 = op2 add i32 r14! r8!
  => (r15!)
b2 (r16 : []i32):
  r17 : i32 = for r3 (r4) b3
  => (r17!)
b3 (r18 : i64, r19 : i32):
  r20 : i32 = index r16 (r18!)
  r21 : i32 = op2 add i32 r19! r20!
  => (r21!)
b4 (r22 : []i32):
  r23 : i32 = for r2 (r4) b5
  => (r23!)
b5 (r24 : i64, r25 : i32):
  r26 : i32 = index r22 (r24!)
  r27 : i32 = op2 add i32 r25! r26!
  => (r27!)
"#;

/// Copies cost next to nothing, so that they are made whenever anything is gained.
fn cheap() -> LazyCosts {
    let mut costs = galopvm_analysis::layout::Costs::default();
    (costs.cpu.copy_line, costs.cpu.copy_start, costs.cpu.l1_bytes) = (1, 1, 2);
    (costs.cpu.cache_lines, costs.cpu.tile) = (16, 64);
    costs.into()
}

fn options(switches: Switches, tiering: Tiering) -> Options {
    Options { switches, tiering, eager: true, costs: cheap(), ..Options::default() }
}

fn session(options: Options) -> Session {
    Session::new(verify(text::parse(PROGRAM).expect("it assembles")).expect("it verifies"), options)
}

const ROWS: i64 = 40;
const COLUMNS: i64 = 300;

fn matrix(session: &Session) -> Value {
    let elements: Vec<i32> = (0..ROWS * COLUMNS).map(|k| (k * k % 1009) as i32).collect();
    Value::Array(Array::from_slice(session.memory(), &elements, &[ROWS, COLUMNS]).expect("there is memory"))
}

fn shown(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

fn call(session: &mut Session, entry: &str, mut args: Vec<Value>) -> String {
    if ["again", "both"].contains(&entry) {
        args.push(Value::Scalar(galopvm_base::Scalar::i64(5)));
    }
    shown(&session.call(entry, args).expect("it runs"))
}

fn figures(stats: MemoryStats) -> (u64, u64, u64) {
    (stats.layouts, stats.layout_bytes, stats.layout_uses)
}

/// Who executes: the interpreter block by block, and a back end.
fn executors() -> Vec<(Switches, Tiering)> {
    let (off, layouts) = (Switches::OFF, |switches| Switches { galop: true, ..switches });
    let tiering = Tiering { backends: vec![Arc::new(Reference)], always: true, ..Tiering::interpreter() };
    vec![(layouts(off), Tiering::interpreter()), (layouts(Switches { jit: true, ..off }), tiering)]
}

#[test]
fn a_copy_is_made_once_and_used_again() {
    for (switches, tiering) in executors() {
        let mut plain = session(options(switches.with(Switch::Galop, false), tiering.clone()));
        let mut session = session(options(switches, tiering));
        let matrix = matrix(&session);
        let wanted = call(&mut plain, "sums", vec![matrix.clone()]);
        assert_eq!(figures(plain.memory().stats()), (0, 0, 0));
        assert_eq!(call(&mut session, "sums", vec![matrix.clone()]), wanted);
        let bytes = (ROWS * COLUMNS * 4) as u64;
        assert_eq!(figures(session.memory().stats()), (1, bytes, 0), "{switches:?}");
        assert_eq!(call(&mut session, "sums", vec![matrix.clone()]), wanted);
        assert_eq!(figures(session.memory().stats()), (1, bytes, 1));
        assert_eq!(call(&mut session, "again", vec![matrix.clone()]), wanted);
        assert_eq!(figures(session.memory().stats()), (1, bytes, 7));
        // As it lies it is what its reader likes.
        let turned = call(&mut plain, "turned", vec![matrix.clone()]);
        assert_eq!(call(&mut session, "turned", vec![matrix.clone()]), turned);
        assert_eq!(figures(session.memory().stats()), (1, bytes, 7));
        // The copy dies with the array.
        drop(matrix);
        assert_eq!(session.memory().stats().live_bytes, 0);
    }
}

#[test]
fn a_change_in_place_ends_the_copy() {
    for (switches, tiering) in executors() {
        let mut plain = session(options(Switches::OFF, Tiering::interpreter()));
        let mut session = session(options(switches, tiering));
        let argument = matrix(&plain);
        let wanted = call(&mut plain, "changed", vec![argument]);
        // Nobody else holds the argument, so it is updated where it is.
        let argument = matrix(&session);
        let before = session.memory().stats().allocated_bytes;
        assert_eq!(call(&mut session, "changed", vec![argument]), wanted);
        let stats = session.memory().stats();
        let bytes = (ROWS * COLUMNS * 4) as u64;
        assert_eq!(figures(stats), (2, 2 * bytes, 0), "{switches:?}");
        assert_eq!(stats.copied_bytes.iter().sum::<u64>(), 0);
        assert_eq!(stats.allocated_bytes - before, 2 * bytes + 2 * 4 * ROWS as u64);
        // A copy for an update leaves the array and its copy alone.
        let argument = matrix(&session);
        assert_eq!(call(&mut session, "changed", vec![argument.clone()]), wanted);
        let sums = call(&mut plain, "sums", vec![argument.clone()]);
        assert_eq!(call(&mut session, "sums", vec![argument]), sums);
        assert_eq!(figures(session.memory().stats()), (4, 4 * bytes, 1));
    }
}

#[test]
fn the_limit_of_memory_holds() {
    for (switches, tiering) in executors() {
        let wanted = {
            let mut plain = session(options(Switches::OFF, Tiering::interpreter()));
            let matrix = matrix(&plain);
            call(&mut plain, "sums", vec![matrix])
        };
        let bytes = (ROWS * COLUMNS * 4) as u64;
        // Room for a copy and nothing else, for less than a copy, for all.
        for (limit, copies) in [(2 * bytes + 4096, None), (bytes + 8192, Some(0)), (4 * bytes, Some(1))] {
            let limits = Limits { memory: Some(limit), ..Limits::default() };
            let mut session = session(Options { limits, ..options(switches, tiering.clone()) });
            let matrix = matrix(&session);
            for _ in 0..3 {
                assert_eq!(call(&mut session, "sums", vec![matrix.clone()]), wanted, "{limit}");
            }
            let stats = session.memory().stats();
            assert!(stats.peak_held_bytes <= limit);
            assert!(copies.is_none_or(|copies| stats.layouts == copies), "{limit}: {stats:?}");
        }
    }
}

#[test]
fn results_are_born_as_they_are_read() {
    let switches = Switches { galop: true, ..Switches::OFF };
    let mut plain = session(options(Switches::OFF, Tiering::interpreter()));
    let mut alone = session(options(switches, Tiering::interpreter()));
    // Where copies are dear, an array is rather made as two operators read it.
    let mut costs = galopvm_analysis::layout::Costs::default();
    (costs.cpu.copy_line, costs.cpu.l1_bytes, costs.cpu.cache_lines) = (1 << 12, 2, 16);
    let strategy = options(Switches { strategy: true, ..switches }, Tiering::interpreter());
    let mut together = session(Options { costs: costs.into(), ..strategy });
    let matrix = matrix(&plain);
    let wanted = call(&mut plain, "chain", vec![matrix.clone()]);
    assert_eq!(call(&mut alone, "chain", vec![matrix.clone()]), wanted);
    let (stats, bytes) = (alone.memory().stats(), (ROWS * COLUMNS * 4) as u64);
    assert_eq!((stats.births, stats.layouts > 0), (0, true), "{stats:?}");
    assert_eq!(call(&mut together, "chain", vec![matrix.clone()]), wanted);
    let stats = together.memory().stats();
    assert_eq!((stats.births, stats.layout_bytes < 2 * bytes), (1, true), "{stats:?}");
    assert_eq!(call(&mut together, "chain", vec![matrix]), wanted);
    assert_eq!(together.memory().stats().births, 2);
}

#[test]
fn a_loop_asks_once() {
    let switches = Switches { galop: true, strategy: true, ..Switches::OFF };
    let mut plain = session(options(Switches::OFF, Tiering::interpreter()));
    let mut session = session(options(switches, Tiering::interpreter()));
    let matrix = matrix(&plain);
    let wanted = call(&mut plain, "both", vec![matrix.clone()]);
    assert_eq!(call(&mut session, "both", vec![matrix.clone()]), wanted);
    let stats = session.memory().stats();
    // Rows want another layout in each of five rounds, columns have theirs.
    assert_eq!((stats.layouts, stats.layout_uses), (1, 4), "{stats:?}");
    assert_eq!(call(&mut session, "both", vec![matrix]), wanted);
    assert_eq!(session.memory().stats().layouts, 1);
}

#[test]
fn what_became_of_wishes_is_told() {
    let (switches, tiering) = executors().remove(0);
    let collector = Collector::default();
    let explain = Some(collector.sink());
    let mut session = session(Options { explain, ..options(switches, tiering.clone()) });
    let matrix = matrix(&session);
    call(&mut session, "sums", vec![matrix.clone()]);
    call(&mut session, "sums", vec![matrix]);
    let heading = Heading { program: "p", entry: "sums", input: "by hand", off: Vec::new() };
    let costs = galopvm_analysis::layout::Costs::default();
    let machine = (&tiering.machine, &costs, Target::Cpu);
    let document =
        collector.document(heading, session.module().module(), &session.sites(), machine, &|_| None);
    let text = document.text(false);
    for line in ["once: a copy was made\n", "once: a copy was there already\n"] {
        assert!(text.contains(&format!("xss in layout (1,0), {line}")), "{text}");
    }
    assert!(document.json(false).to_string().contains("\"exact\": \"kept\""));
}

#[test]
fn small_work_is_not_asked_about() {
    let (switches, tiering) = executors().remove(0);
    let mut session = session(Options { eager: false, ..options(switches, tiering) });
    let matrix = matrix(&session);
    for _ in 0..5 {
        call(&mut session, "sums", vec![matrix.clone()]);
    }
    // 12000 elements with a few operations each.
    assert_eq!(figures(session.memory().stats()), (0, 0, 0));
}
