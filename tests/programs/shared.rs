//! Sessions of one engine in many threads: every kernel is compiled once for all of them, and results are those of one.

use galopvm::{BackendChoice, Engine, Program, Session};

const SOURCE: &str = "
entry main [n] (xs: [n]f32) (a: f32): ([n]f32, f32, [n]i64) =
  (map (\\x -> x * a + 1) xs, f32.sum (map (* a) xs), scan (+) 0 (map i64.f32 xs))";

const ELEMENTS: i64 = 100_000;

/// What calls with several arguments give: the elements of each result. Sums of floats are exact here, in any order.
fn results(session: &mut Session, thread: usize) -> Vec<(Vec<f32>, f32, Vec<i64>)> {
    let xs: Vec<f32> = (0..ELEMENTS).map(|k| (k % 17) as f32).collect();
    let xs = session.array(&xs, &[ELEMENTS]).expect("there is memory");
    let factors = (0..4).map(|k| (thread + k) as f32 / 8.0);
    let call = |a: f32| session.call::<(Vec<f32>, f32, Vec<i64>)>("main", (&xs, a)).expect("a call");
    factors.map(call).collect()
}

#[test]
fn kernels_are_compiled_once_for_all_threads() {
    let program = Program::from_source("shared.fut", SOURCE).unwrap_or_else(|e| panic!("{e}"));
    for backend in [BackendChoice::Auto, BackendChoice::X86, BackendChoice::Vector, BackendChoice::Reference]
    {
        let engine = || Engine::builder().backend(backend).threads(1).build();
        let alone = engine();
        let expected: Vec<_> = (0..16).map(|thread| results(&mut alone.session(&program), thread)).collect();
        let figures = alone.kernel_figures();
        assert!(figures.compiled > 0 && figures.shared >= 15 * figures.compiled, "{backend}: {figures}");

        let together = engine();
        std::thread::scope(|scope| {
            for (thread, expected) in expected.iter().enumerate() {
                let (engine, program) = (&together, &program);
                scope.spawn(move || {
                    assert!(results(&mut engine.session(program), thread) == *expected, "{backend}");
                });
            }
        });
        let found = together.kernel_figures();
        assert_eq!((found.compiled, found.given_up), (figures.compiled, 0), "{backend}: {found}");
    }
}
