//! Memory of hosts: arrays that are lent or given go in and come out without a copy, and what is lent is never written.
//!
//! Every program runs on every tier, with arrays in all forms that a host may have them in, and its results are compared with
//! those of the interpreter over copies.

use galopvm::{Array, BackendChoice, CpuMode, ElemType, Element, Engine, Program, Value};
use std::sync::Arc;

/// All ways of executing: the interpreter, and machine code for each kind of processor, by one thread and by two.
fn engines() -> Vec<Engine> {
    let mut engines = vec![
        engine(BackendChoice::Interp, CpuMode::Scalar, 1),
        engine(BackendChoice::Vector, CpuMode::Scalar, 1),
    ];
    for cpu in [CpuMode::Scalar, CpuMode::Avx2, CpuMode::Avx512] {
        engines.extend([1, 2].map(|threads| engine(BackendChoice::X86, cpu, threads)));
        engines.push(engine(BackendChoice::Auto, cpu, 2));
    }
    engines
}

fn engine(backend: BackendChoice, cpu: CpuMode, threads: usize) -> Engine {
    Engine::builder().backend(backend).cpu(cpu).threads(threads).build()
}

fn program(text: &str) -> Program {
    Program::from_source("test.fut", text).unwrap_or_else(|e| panic!("{e}"))
}

/// Entry points that consume their first argument.
const CONSUMING: &str = "
entry updated [n] (a: *[n]i64) = a with [n / 2] = 77
entry range [n] (a: *[n]i64) = a with [1:] = replicate (n - 1) 5
entry copied [n] (a: *[n]i64) (b: [n]i64) = a with [:] = b
entry looped [n] (a: *[n]i64) = loop a for i < n - 1 do a with [i + 1] = a[i] + a[i + 1]
entry mapped [n] (a: *[n]i64) : *[n]i64 = map (\\x -> x * 3 + 1) a
entry twice [n] (a: *[n]i64) : *[n]i64 = map (* 2) (map (+ 1) a)
entry summed [n] (a: *[n]i64) : *[n]i64 = scan (+) 0 a
entry scattered [n] (a: *[n]i64) (b: [n]i64) = scatter a (map (% n) b) b
entry counted [n] (a: *[n]i64) (b: [n]i64) = reduce_by_index a (+) 0 (map (% n) b) b
entry turned [n] (a: *[n]i64) : *[n]i64 = reverse a
entry swept [n] (a: *[n]i64) = loop a for _i < 3 do map (+ 1) a
entry halves [n] (a: *[n]i64) = let a[:n / 2] = map (+ 1) a[n / 2:n / 2 * 2] in a
entry part [n] (a: *[n]i64) = a[1:]
";

/// Entry points that consume a matrix.
const CONSUMING_ROWS: &str = "
entry row [n] [m] (a: *[n][m]i64) = a with [n / 2] = replicate m 9
entry column [n] [m] (a: *[n][m]i64) = a with [:, m / 2] = replicate n 9
entry rows [n] [m] (a: *[n][m]i64) : *[n][m]i64 = map (map (+ 1)) a
entry inside [n] [m] (a: *[n][m]i64) = loop a for i < n do a with [i, 1:] = map (* 2) a[i, 1:]
entry solved [n] [m] (a: *[n][m]i64) =
  loop a for i < n - 1 do a with [i + 1] = map2 (\\x y -> x * 3 + y) a[i] a[i + 1]
entry transposed [n] [m] (a: *[n][m]i64) : *[m][n]i64 = transpose a
entry sorted [n] [m] (a: *[n][m]i64) = map (\\r -> loop r = copy r for i < m - 1 do
  if r[i] > r[i + 1] then let t = r[i] in (r with [i] = r[i + 1]) with [i + 1] = t else r) a
";

fn numbers(count: i64) -> Vec<i64> {
    (0..count).map(|i| (i * 7919 + 13) % 1009).collect()
}

/// One array in the ways a host may hold it: how it lies in the owner's elements.
struct Lying {
    name: &'static str,
    owner: Arc<[i64]>,
    first: i64,
    strides: Vec<i64>,
}

/// Ways in which an array of a shape may lie.
fn ways(shape: &[i64]) -> Vec<Lying> {
    let count: i64 = shape.iter().product();
    let row_major =
        |shape: &[i64]| -> Vec<i64> { (0..shape.len()).map(|k| shape[k + 1..].iter().product()).collect() };
    let rows = row_major(shape);
    let way =
        |name, elements: i64, first, strides| Lying { name, owner: numbers(elements).into(), first, strides };
    let mut ways = vec![
        way("as it is", count, 0, rows.clone()),
        way("with an offset", count + 3, 3, rows.clone()),
        way("with gaps", 3 * count + 1, 1, rows.iter().map(|s| 3 * s).collect()),
        way("backwards", count.max(1), (count - 1).max(0), rows.iter().map(|s| -s).collect()),
        way("one element", 1, 0, vec![0; shape.len()]),
    ];
    if let [n, m] = *shape {
        ways.push(way("transposed", count, 0, vec![1, n]));
        ways.push(way("rows backwards", count, (n - 1).max(0) * m, vec![-m, 1]));
    }
    ways
}

fn results(values: Result<Vec<Value>, galopvm::Error>) -> Vec<(Vec<i64>, Vec<i64>)> {
    let values = values.unwrap_or_else(|e| panic!("{e}"));
    let arrays = values.iter().filter_map(Value::as_array);
    arrays.map(|a| (a.shape().to_vec(), a.to_vec::<i64>().expect("numbers"))).collect()
}

/// Calls all entry points of a program with arrays that are lent in all ways, and compares.
fn check_lent(text: &str, shapes: &[&[i64]]) {
    let program = program(text);
    let mut reference = engine(BackendChoice::Interp, CpuMode::Scalar, 1).session(&program);
    // One that looks itself whether it may do what it does.
    let checking = Engine::builder().backend(BackendChoice::X86).check(true).build();
    for engine in engines().into_iter().chain([checking]) {
        let mut session = engine.session(&program);
        for (entry, shape) in program.entries().iter().flat_map(|e| shapes.iter().map(move |s| (e, *s))) {
            for way in ways(shape) {
                let before = way.owner.clone();
                let kept: Vec<i64> = before.to_vec();
                let lent =
                    session.borrow_view::<i64>(way.owner.clone(), way.first, shape, &way.strides).unwrap();
                let second = Value::Array(session.give(numbers(shape[0]), &shape[..1]).unwrap());
                let copy = reference.array(&lent.to_vec::<i64>().unwrap(), shape).unwrap();
                let arguments = |first: Array| {
                    let second = (entry.params.len() == 2).then(|| second.clone());
                    std::iter::once(Value::Array(first)).chain(second).collect::<Vec<_>>()
                };
                let expected = results(reference.call_values(&entry.name, arguments(copy)));
                // Often enough that code is made.
                for round in 0..3 {
                    let found = results(session.call_values(&entry.name, arguments(lent.clone())));
                    let place = format!("{} {shape:?} {} {:?} round {round}", entry.name, way.name, engine);
                    assert!(found == expected, "{place}");
                    assert!(*way.owner == *kept, "{place}: what was lent is written");
                }
                // What is given may be written, wherever it lies.
                for _ in 0..2 {
                    let given = Box::new(kept.clone());
                    let given =
                        Array::given_view(given, ElemType::I64, way.first, shape, &way.strides).unwrap();
                    let found = results(session.call_values(&entry.name, arguments(given)));
                    assert!(found == expected, "{} {shape:?} {} given {:?}", entry.name, way.name, engine);
                }
                // The caller's last holder is given up as well.
                let found = results(session.call_values(&entry.name, arguments(lent)));
                assert!(found == expected && *way.owner == *kept, "{} {shape:?} {}", entry.name, way.name);
                assert_eq!(Arc::strong_count(&way.owner), 2, "{} {shape:?} {}", entry.name, way.name);
            }
        }
        assert_eq!(session.memory_stats().live_bytes, 0);
    }
}

#[test]
fn what_is_lent_is_never_written() {
    check_lent(CONSUMING, &[&[1], &[7], &[4000]]);
}

#[test]
fn rows_that_are_lent_are_never_written() {
    check_lent(CONSUMING_ROWS, &[&[1, 1], &[5, 3], &[60, 70]]);
}

#[test]
fn what_is_given_is_written_in_place_and_comes_back() {
    let program = program(CONSUMING);
    for engine in engines() {
        let mut session = engine.session(&program);
        for (entry, count) in [("updated", 9), ("updated", 100_000), ("range", 100_000)] {
            let elements = numbers(count);
            let place = elements.as_ptr();
            let before = session.memory_stats();
            let given = session.give(elements, &[count]).unwrap();
            let result: Array = session.call(entry, (given,)).unwrap();
            assert_eq!(result.first_element(), place.cast(), "{entry} {engine:?}");
            let elements: Vec<i64> = result.into_vec().unwrap();
            assert_eq!((elements.as_ptr(), elements.len() as i64), (place, count));
            let copied = |s: galopvm::MemoryStats| s.copied_bytes.iter().sum::<u64>();
            let copied = copied(session.memory_stats()) - copied(before);
            assert!(entry == "range" || copied == 0, "{entry} {engine:?}: {copied} bytes");
        }
        // What the caller keeps stays as it is.
        let given = session.give(numbers(50), &[50]).unwrap();
        let result: Array = session.call("updated", (&given,)).unwrap();
        assert_eq!(given.as_slice::<i64>().unwrap(), numbers(50));
        assert_eq!(result.as_slice::<i64>().unwrap()[25], 77);
    }
}

#[test]
fn nothing_is_copied_on_the_way() {
    let program = program(
        "entry same [n] [m] (a: [n][m]f64) = a
         entry more [n] [m] (a: [n][m]f64) = map (map (+ 1)) a
         entry sum [n] [m] (a: [n][m]f64) = f64.sum (map f64.sum a)",
    );
    let owner: Arc<[f64]> = (0..20_000).map(f64::from).collect();
    let forms: [(i64, [i64; 2], [i64; 2]); 4] = [
        (0, [100, 200], [200, 1]),
        (0, [200, 100], [1, 200]),
        (19_999, [100, 200], [-200, -1]),
        (5, [50, 30], [400, 3]),
    ];
    for engine in engines() {
        let mut session = engine.session(&program);
        for (first, shape, strides) in forms {
            let lent = session.borrow_view::<f64>(owner.clone(), first, &shape, &strides).unwrap();
            let before = session.memory_stats();
            let same: Array = session.call("same", (&lent,)).unwrap();
            assert_eq!(same.first_element(), (&raw const owner[first as usize]).cast());
            assert_eq!((same.shape().as_slice(), same.strides().as_slice()), (&shape[..], &strides[..]));
            assert_eq!(session.memory_stats(), before);
            let more: Array = session.call("more", (&lent,)).unwrap();
            let expected: Vec<f64> = lent.to_vec::<f64>().unwrap().iter().map(|x| x + 1.0).collect();
            assert_eq!(more.to_vec::<f64>().unwrap(), expected, "{engine:?}");
            let after = session.memory_stats();
            assert_eq!((after.copied_bytes, after.layout_bytes), (before.copied_bytes, before.layout_bytes));
            let sum: f64 = session.call("sum", (lent,)).unwrap();
            assert_eq!(sum, expected.iter().sum::<f64>() - expected.len() as f64);
        }
    }
    assert_eq!(Arc::strong_count(&owner), 1);
}

#[test]
fn addresses_of_any_kind_are_read() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(elements: Vec<T>) {
        let ty = T::TYPE;
        let program = program(&format!(
            "entry more (a: []{ty}) = map (+ 1) a
             entry turned (a: []{ty}) = map (+ 1) (reverse a)
             entry sum (a: []{ty}) = [reduce (+) 0 a]
             entry sums (a: []{ty}) = scan (+) 0 a"
        ));
        let mut reference = engine(BackendChoice::Interp, CpuMode::Scalar, 1).session(&program);
        let copy = reference.array(&elements, &[elements.len() as i64]).unwrap();
        for engine in engines() {
            let mut session = engine.session(&program);
            for shift in 0..T::TYPE.bytes().min(5) {
                let mut bytes = vec![0u8; shift];
                let mut place = [0u8; 8];
                for element in &elements {
                    element.write(&mut place);
                    bytes.extend(&place[..ty.bytes()]);
                }
                let owner: Arc<Vec<u8>> = Arc::new(bytes);
                let block = galopvm::Block::foreign(owner.clone(), shift..owner.len()).unwrap();
                let array = Array::view_of(block, ty, 0, &[elements.len() as i64], &[1]).unwrap();
                for entry in program.entries() {
                    let expected: Vec<T> = reference.call(&entry.name, (&copy,)).unwrap();
                    let found: Vec<T> = session.call(&entry.name, (&array,)).unwrap();
                    assert!(found == expected, "{} {ty} {shift} {engine:?}", entry.name);
                }
            }
        }
    }
    check((0..1000).map(|i| (i % 100) as u8).collect::<Vec<u8>>());
    check((0..1000).map(|i| i as i16).collect::<Vec<i16>>());
    check((0..1000).map(|i| (i % 17) as f32).collect::<Vec<f32>>());
    check((0..1000).map(|i| (i % 17) as f64).collect::<Vec<f64>>());
}

#[test]
fn threads_have_sessions_of_one_engine_and_share_arrays() {
    let program = program(
        "entry main [n] (a: [n]i64) (b: *[n]i64) = (i64.sum (map2 (\\x y -> x * y + 1) a b), b with [0] = a[n - 1])",
    );
    let owner: Arc<[i64]> = numbers(3000).into();
    for backend in [BackendChoice::Auto, BackendChoice::X86, BackendChoice::Interp] {
        let engine = Engine::builder().backend(backend).threads(2).build();
        let shared = engine.session(&program).borrow::<i64>(owner.clone(), &[3000]).unwrap();
        let expected: i64 = owner.iter().map(|x| x * x + 1).sum();
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    let mut session = engine.session(&program);
                    for _ in 0..100 {
                        let (sum, changed): (i64, Array) = session.call("main", (&shared, &shared)).unwrap();
                        assert_eq!((sum, changed.as_slice::<i64>().unwrap()[0]), (expected, owner[2999]));
                        drop(changed);
                        let own = owner.to_vec();
                        let (sum, changed): (i64, Vec<i64>) = session.call("main", (&shared, own)).unwrap();
                        assert_eq!((sum, changed[0]), (expected, owner[2999]));
                    }
                    assert_eq!(session.memory_stats().live_bytes, 0);
                });
            }
        });
        drop(shared);
        assert_eq!(Arc::strong_count(&owner), 1);
    }
}

/// Bytes that the process has of the machine's memory.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux says so");
    let pages: u64 = pages.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("a number");
    pages * 4096
}

#[cfg(target_os = "linux")]
#[test]
fn memory_stays_as_it_is_over_many_calls() {
    let program = program("entry main [n] (a: *[n]f32) (b: [n]f32) = map2 (+) a b with [0] = 1");
    let mut session = Engine::new().session(&program);
    let owner: Arc<[f32]> = vec![2.0; 64].into();
    let mut call = || {
        let (given, lent) = (vec![1.0f32; 64], owner.clone());
        let sums: Vec<f32> = session.call("main", (given, lent)).unwrap();
        assert_eq!((sums[0], sums[63]), (1.0, 3.0));
    };
    (0..10_000).for_each(|_| call());
    let before = resident();
    (0..100_000).for_each(|_| call());
    let grown = resident().saturating_sub(before);
    // Other tests of this process run at the same time.
    assert!(grown < 256 << 20, "{grown} bytes");
    assert_eq!(session.memory_stats().live_bytes, 0);
    assert_eq!(Arc::strong_count(&owner), 1);
}
