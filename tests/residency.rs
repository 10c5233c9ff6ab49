//! Arrays on a Vulkan device: nothing moves twice, nothing moves between the steps of a loop, and every way in which the host
//! changes an array between launches is seen by the next one.
//!
//! Each test runs on the device as it is, and on one that is reached through staging memory; results are compared with those of
//! the interpreter.

use galopvm::{Array, BackendChoice, Engine, Program, Route, Session, Traffic, Value};
use galopvm_gpu::{DeviceChoice, Gpu, Vulkan};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Elements of the arrays here, which are too many to come to the host with a launch.
const COUNT: usize = 10_000;

/// Devices of a test's own, as it is and through staging memory; none where there is no driver.
fn devices() -> Vec<&'static Gpu> {
    let open = || Gpu::open(&DeviceChoice::from_env()).map_err(|why| eprintln!("skipped: {why}")).ok();
    let direct = open();
    let staged = open().map(Gpu::through_staging);
    direct.into_iter().chain(staged).map(|gpu| &*Box::leak(Box::new(gpu))).collect()
}

/// A program on a device, and in the interpreter.
struct Pair {
    gpu: &'static Gpu,
    session: Session,
    plain: Session,
}

impl Pair {
    fn new(gpu: &'static Gpu, source: &str) -> Pair {
        let program = Program::from_source("test.fut", source).unwrap_or_else(|e| panic!("{e}"));
        let backend = Arc::new(Vulkan::on(gpu, Route::Direct));
        let engine = Engine::builder().own_backend(backend).threads(1).build();
        let plain = Engine::builder().backend(BackendChoice::Interp).threads(1).build();
        Pair { gpu, session: engine.session(&program), plain: plain.session(&program) }
    }

    fn call(&mut self, entry: &str, arguments: &[Value]) -> Vec<Value> {
        self.session.call_values(entry, arguments.to_vec()).unwrap_or_else(|e| panic!("{e}"))
    }

    /// Calls on both, with the same arguments, and compares.
    fn same(&mut self, entry: &str, arguments: &[Value]) -> Vec<Value> {
        let wanted = self.plain.call_values(entry, arguments.to_vec()).unwrap_or_else(|e| panic!("{e}"));
        let made = self.call(entry, arguments);
        assert!(made == wanted, "{entry} gives something else on {}", self.gpu.info());
        made
    }

    fn array(&self, numbers: impl Iterator<Item = i64>) -> Value {
        let numbers: Vec<i64> = numbers.take(COUNT).collect();
        Value::Array(self.session.array(&numbers, &[COUNT as i64]).expect("memory"))
    }

    /// What moved since an earlier look.
    fn since(&self, before: Traffic) -> Moved {
        let now = self.gpu.traffic();
        Moved {
            uploads: now.uploads - before.uploads,
            downloads: now.downloads - before.downloads,
            left: now.left - before.left,
        }
    }
}

#[derive(PartialEq, Eq, Debug)]
struct Moved {
    uploads: u64,
    downloads: u64,
    left: u64,
}

fn scalar(number: i64) -> Value {
    Value::Scalar(galopvm::Scalar::new(galopvm::ElemType::I64, number as u64))
}

fn look(value: &Value) -> Vec<i64> {
    value.as_array().and_then(Array::to_vec).expect("an array of numbers")
}

const MAPS: &str = "
entry sum2 [n] (a: [n]i64) (b: [n]i64) : [n]i64 = map2 (\\x y -> x * 2 + y) a b
entry total [n] (a: [n]i64) : i64 = reduce (+) 0 (map (* 3) a)
entry up [n] (a: *[n]i64) : *[n]i64 = map (+ 1) a
entry set [n] (a: *[n]i64) (i: i64) (v: i64) : *[n]i64 = a with [i] = v
";

#[test]
fn what_does_not_change_is_uploaded_once_and_results_come_when_somebody_looks() {
    for gpu in devices() {
        let mut pair = Pair::new(gpu, MAPS);
        let inputs = [pair.array(0..), pair.array((0..).map(|i| i * i))];
        let before = gpu.traffic();
        let first = pair.call("sum2", &inputs).remove(0);
        assert_eq!(pair.since(before), Moved { uploads: 2, downloads: 0, left: 1 });
        let second = pair.call("sum2", &inputs).remove(0);
        assert_eq!(pair.since(before), Moved { uploads: 2, downloads: 0, left: 2 });
        // What one call left there the next one finds there.
        let third = pair.call("sum2", &[first.clone(), second.clone()]).remove(0);
        assert_eq!(pair.since(before), Moved { uploads: 2, downloads: 0, left: 3 });
        for _ in 0..2 {
            let (first, third) = (look(&first), look(&third));
            assert!((0..COUNT as i64).all(|i| first[i as usize] == i * 2 + i * i));
            assert!(third.iter().zip(&first).all(|(third, first)| *third == 3 * first));
            assert_eq!(pair.since(before), Moved { uploads: 2, downloads: 2, left: 3 });
        }
        // What the host has looked at is on the device as well.
        pair.same("sum2", &[first.clone(), third.clone()]);
        assert_eq!(pair.since(before).uploads, 2);
        drop((inputs, first, second, third, pair));
        assert_eq!(gpu.traffic().held_bytes, 0);
    }
}

#[test]
fn nothing_moves_between_the_steps_of_a_stencil() {
    let source = "
entry steps [n] (a: [n]f32) (c: [n]f32) (k: i64) : [n]f32 =
  loop a for _i < k do
    tabulate n (\\i ->
      let l = a[i64.max 0 (i - 1)]
      let r = a[i64.min (n - 1) (i + 1)]
      in (l + r) * 0.25 + a[i] * 0.5 + c[i] * 0.125)
";
    for gpu in devices() {
        let mut pair = Pair::new(gpu, source);
        let numbers: Vec<f32> = (0..COUNT).map(|i| (i % 97) as f32).collect();
        let array =
            |pair: &Pair| Value::Array(pair.session.array(&numbers, &[COUNT as i64]).expect("memory"));
        let (a, c) = (array(&pair), array(&pair));
        let before = gpu.traffic();
        let made = pair.call("steps", &[a.clone(), c.clone(), scalar(50)]).remove(0);
        assert_eq!(pair.since(before), Moved { uploads: 2, downloads: 0, left: 50 });
        let again = pair.call("steps", &[made, c.clone(), scalar(50)]).remove(0);
        assert_eq!(pair.since(before), Moved { uploads: 2, downloads: 0, left: 100 });
        let wanted = pair.plain.call_values("steps", vec![a, c, scalar(100)]).expect("it runs").remove(0);
        assert!(again == wanted);
        assert_eq!(pair.since(before).downloads, 1);
    }
}

#[test]
fn changes_by_the_host_between_launches_are_seen() {
    let source = "
entry updated [n] (a: *[n]i64) (k: i64) : ([n]i64, i64) =
  loop (a, s) = (a, 0) for i < k do
    let a = a with [i * 7] = s + i
    in (a, s + reduce (+) 0 (map (* 3) a))
entry scattered [n] (a: *[n]i64) (is: [n]i64) (k: i64) : ([n]i64, [n]i64) =
  loop (a, b) = (a, copy is) for i < k do
    let a = scatter a (map (% n) b) (map (+ i) b)
    in (a, map2 (\\x y -> x * 5 + y) a b)
entry counted [n] (a: *[n]i64) (is: [n]i64) (k: i64) : [n]i64 =
  loop a for i < k do
    let a = map (+ 1) a
    in reduce_by_index a (+) 0 (map (\\x -> (x + i) % n) is) is
entry stretched [n] (a: *[n]i64) (k: i64) : [n]i64 =
  loop a for i < k do
    let a = a with [i:n / 2 + i] = map (* 2) a[n / 2 - i:n / 2 * 2 - i]
    in a with [0] = a[n - 1] + i
entry swept [n] (a: *[n]i64) : [n]i64 =
  loop a = map (+ 1) a for i < n - 1 do a with [i + 1] = a[i] + a[i + 1] * 3
entry looked [n] (a: [n]i64) (k: i64) : i64 =
  (loop (a, s) = (a, 0) for i < k do let a = map (+ s) a in (a, a[i * 5] % 1000)).1
";
    for gpu in devices() {
        let mut pair = Pair::new(gpu, source);
        let (a, b) = (pair.array(0..), pair.array((0..).map(|i| i * 7919 % 10_007)));
        let k = scalar(12);
        pair.same("updated", &[a.clone(), k.clone()]);
        pair.same("scattered", &[a.clone(), b.clone(), k.clone()]);
        pair.same("counted", &[a.clone(), b.clone(), k.clone()]);
        pair.same("stretched", &[a.clone(), k.clone()]);
        pair.same("swept", std::slice::from_ref(&a));
        pair.same("looked", &[b.clone(), k.clone()]);
        // Nobody has changed what the caller still holds.
        pair.same("updated", &[a, k.clone()]);
        pair.same("looked", &[b, k]);
    }
}

#[test]
fn arrays_that_calls_consume_are_changed_where_they_lie() {
    for gpu in devices() {
        let mut pair = Pair::new(gpu, MAPS);
        let total =
            |pair: &mut Pair, value: &Value| pair.call("total", std::slice::from_ref(value)).remove(0);
        // Memory of a session, and what a host gave: both change in place, after the device had copies of them.
        let given = pair.session.give((0..COUNT as i64).collect(), &[COUNT as i64]).expect("a shape");
        for value in [pair.array(0..), Value::Array(given)] {
            let sum = (COUNT * (COUNT - 1) / 2 * 3) as i64;
            assert_eq!(total(&mut pair, &value), scalar(sum));
            let mut value = value;
            for round in 1..4 {
                let changed = pair.session.call_values("set", vec![value, scalar(5), scalar(5 + round)]);
                value = changed.expect("it runs").remove(0);
                assert_eq!(total(&mut pair, &value), scalar(sum + 3 * round));
            }
            // What the device made is changed by the host, and read by the device again.
            let made = pair.session.call_values("up", vec![value]).expect("it runs").remove(0);
            let made = pair.session.call_values("set", vec![made, scalar(0), scalar(1000)]);
            let made = made.expect("it runs").remove(0);
            assert_eq!(total(&mut pair, &made), scalar(sum + 3 * (3 + COUNT as i64 - 1 + 1000)));
            assert_eq!(look(&made)[..2], [1000, 2]);
        }
    }
}

/// Memory of a host that changes between calls.
struct Changing {
    states: [Vec<i64>; 2],
    now: Arc<AtomicUsize>,
}

impl AsRef<[i64]> for Changing {
    fn as_ref(&self) -> &[i64] {
        &self.states[self.now.load(Relaxed)]
    }
}

#[test]
fn memory_that_a_host_lends_may_change_between_calls() {
    for gpu in devices() {
        let mut pair = Pair::new(gpu, MAPS);
        let now = Arc::new(AtomicUsize::new(0));
        let states = [(0..COUNT as i64).collect(), (0..COUNT as i64).map(|i| i * 3 + 1).collect()];
        let owner = Changing { states, now: now.clone() };
        let lent = Value::Array(pair.session.borrow(owner, &[COUNT as i64]).expect("a shape"));
        for round in 0..4 {
            now.store(round % 2, Relaxed);
            pair.same("sum2", &[lent.clone(), lent.clone()]);
            pair.same("total", std::slice::from_ref(&lent));
        }
    }
}

#[test]
fn memory_that_is_used_again_has_no_copy() {
    for gpu in devices() {
        let mut pair = Pair::new(gpu, MAPS);
        for round in 0..6 {
            // A block of the same size, most likely the same memory, with other elements.
            let array = pair.array((0..).map(|i| i * round));
            pair.same("total", std::slice::from_ref(&array));
            let made = pair.same("sum2", &[array.clone(), array]);
            pair.same("total", &made);
        }
    }
}

#[test]
fn copies_have_a_limit_and_what_is_nowhere_else_comes_home() {
    for gpu in devices() {
        // Room for three arrays, in the size class of the pool.
        gpu.limit_copies(300 << 10);
        let mut pair = Pair::new(gpu, MAPS);
        let inputs: Vec<Value> = (1..4).map(|k| pair.array((0..).map(move |i| i * k))).collect();
        let mut made = Vec::new();
        for round in 0..8 {
            let (a, b) = (&inputs[round % 3], &inputs[(round + 1) % 3]);
            made.push((pair.call("sum2", &[a.clone(), b.clone()]).remove(0), round));
            let traffic = gpu.traffic();
            assert!(traffic.held_bytes <= traffic.most_bytes, "{traffic}");
        }
        assert!(gpu.traffic().dropped > 5, "{}", gpu.traffic());
        for (value, round) in made {
            let (a, b) = ((round % 3 + 1) as i64, ((round + 1) % 3 + 1) as i64);
            assert!(look(&value).iter().enumerate().all(|(i, x)| *x == i as i64 * (2 * a + b)), "{round}");
        }
        // Nothing may be kept: everything moves each time, as without copies.
        gpu.limit_copies(0);
        pair.same("sum2", &inputs[..2]);
        assert_eq!(gpu.traffic().held_bytes, 0);
    }
}

#[test]
fn what_nobody_looks_at_gives_its_memory_back() {
    for gpu in devices() {
        let mut pair = Pair::new(gpu, MAPS);
        let input = pair.array(0..);
        let live = pair.session.memory_stats().live_bytes;
        let before = gpu.traffic();
        for _ in 0..3 {
            let made = pair.call("up", std::slice::from_ref(&input));
            assert_eq!(pair.session.memory_stats().live_bytes, live + COUNT as u64 * 8);
            drop(made);
        }
        assert_eq!(pair.session.memory_stats().live_bytes, live);
        assert_eq!(pair.since(before), Moved { uploads: 1, downloads: 0, left: 3 });
    }
}

#[test]
fn threads_share_a_device_and_the_copies_of_arrays() {
    for gpu in devices() {
        // Less than all of them want, so that each makes room in the others' arrays.
        gpu.limit_copies(600 << 10);
        let inputs: Vec<Value> = {
            let pair = Pair::new(gpu, MAPS);
            (1..4).map(|k| pair.array((0..).map(move |i| i * k))).collect()
        };
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let inputs = &inputs;
                scope.spawn(move || {
                    let mut pair = Pair::new(gpu, MAPS);
                    let mut last = inputs[thread % 3].clone();
                    let mut factor = (thread % 3 + 1) as i64;
                    for round in 0..12 {
                        let other = (thread + round) % 3;
                        last = pair.call("sum2", &[last, inputs[other].clone()]).remove(0);
                        factor = 2 * factor + other as i64 + 1;
                    }
                    assert!(look(&last).iter().zip(0..).all(|(x, i)| *x == i * factor));
                });
            }
        });
        drop(inputs);
        assert_eq!(gpu.traffic().held_bytes, 0);
    }
}
