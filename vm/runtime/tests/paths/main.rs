//! The ways to execute an operator or a loop mean the same: block by block, as a unit of the machine, by columns, in lock step.
//!
//! Generated programs over all scalar types and operations run in every way, on arrays that lie in memory in every manner;
//! values, messages and back traces must be equal.

mod generate;
mod values;

use galopvm_bytecode::{text, verify};
use galopvm_runtime::{Limits, Options, Paths, Session, Switches};
use generate::Generator;
use std::fmt::Write;

/// Numbers that look random; the same ones in every run.
pub struct Random(u64);

impl Random {
    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = self.0 ^ (self.0 >> 33);
        x.wrapping_mul(0xff51_afd7_ed55_8ccd) ^ (x >> 29)
    }

    /// A number below a bound.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound as u64) as usize
    }

    /// True once in so many times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of some things.
    pub fn choose<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

fn outcome(text: &str, seed: u64, paths: Paths) -> String {
    let module = text::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let module = verify(module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let limits = Limits { fuel: Some(50_000_000), memory: Some(1 << 28), ..Limits::default() };
    let switches =
        Switches { machine: paths.machine, columns: paths.columns, lanes: paths.lanes, ..Switches::ON };
    let mut session = Session::new(module, Options { switches, limits, ..Options::default() });
    let mut out = String::new();
    // Twice: what is translated once is used again.
    for turn in 0..2 {
        let function = &session.module().module().functions[galopvm_bytecode::FuncId(0)];
        let types: Vec<_> = function.params.iter().map(|param| function.regs[*param]).collect();
        let args = values::arguments(session.memory(), &types, seed + turn);
        let _ = match session.call_function(galopvm_bytecode::FuncId(0), args) {
            Ok(values) => values.iter().try_for_each(|value| writeln!(out, "{value}")),
            Err(error) => writeln!(out, "{error}"),
        };
    }
    out
}

fn all_paths_agree(seeds: std::ops::Range<u64>, generate: impl Fn(&mut Generator)) {
    let mut failures = 0;
    let count = seeds.end - seeds.start;
    for seed in seeds {
        let mut generator = Generator::new(Random(seed));
        generate(&mut generator);
        let text = generator.finish();
        let plain = outcome(&text, seed, Paths { machine: false, columns: false, lanes: false });
        if plain.contains("Out of fuel") {
            // Ways differ in when that is.
            continue;
        }
        for paths in [
            Paths { machine: true, columns: false, lanes: false },
            Paths { machine: false, columns: true, lanes: false },
            Paths { machine: false, columns: false, lanes: true },
            Paths { machine: true, columns: true, lanes: true },
        ] {
            let other = outcome(&text, seed, paths);
            assert!(
                other == plain,
                "seed {seed}, {paths:?}\n{text}\nexpected\n{}\nfound\n{}",
                shortened(&plain, &other),
                shortened(&other, &plain)
            );
        }
        failures += u64::from(plain.contains("Backtrace"));
    }
    assert!(failures * 4 > count / 10, "hardly any program failed: {failures} of {count}");
    assert!(failures * 4 < count * 3, "most programs failed: {failures} of {count}");
}

/// What of a text differs from another.
fn shortened(text: &str, other: &str) -> String {
    let at = text.bytes().zip(other.bytes()).position(|(a, b)| a != b).unwrap_or(0);
    String::from_utf8_lossy(&text.as_bytes()[at.saturating_sub(60)..text.len().min(at + 200)]).into_owned()
}

#[test]
fn operators() {
    all_paths_agree(1..300, Generator::operator);
}

#[test]
fn nests() {
    all_paths_agree(20_001..20_200, Generator::nest);
}

#[test]
fn selections() {
    all_paths_agree(30_001..30_150, Generator::selection);
}

#[test]
fn histograms() {
    all_paths_agree(40_001..40_150, Generator::histogram);
}

#[test]
fn loops() {
    all_paths_agree(10_001..10_250, Generator::a_loop);
}
