//! Programs that are rich in what the passes over core look at, compiled with the passes and without any, and executed by the
//! interpreter with the same arguments: what comes out is the same, bit for bit.
//!
//! - `mod.rs`: a case, and what is wrong about it. `shrink.rs`: smaller programs that are still wrong.
//! - `writer.rs`: the state of writing a program. `numbers.rs`, `arrays.rs`, `tuples.rs`, `derivatives.rs`: its expressions.
//!
//! No pass changes the order in which numbers are combined, so floats are compared as everything else is; any NaN is like any other.
//! Rows may go through several operators one by one instead of one after the other, so of several places that can end a program
//! another one may be first: which error it is is compared where there is one such place only.

mod arrays;
mod derivatives;
mod numbers;
mod shrink;
mod tuples;
mod writer;

use crate::case::{Outcome, filled, is_limit, random_of};
use crate::clock::Clock;
use crate::sessions::outcome;
use galopvm_base::{ElemType, Scalar, Sources};
use galopvm_bytecode::{VerifiedModule, verify};
use galopvm_frontend::{Options as Choices, compile_with};
use galopvm_runtime::{ErrorKind, Limits, Memory, Options, Session, Switches, Value};
use galopvm_testkit::Random;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use writer::{Helper, SIZES, Ty, Writer};

/// Operations of a call without passes. Passes may need some more, but not much: what one moves out of a map is executed
/// although the map may have no rows.
const FUEL: u64 = 100_000;
const FUEL_WITH_PASSES: u64 = 4 * FUEL;

/// Bytes of values in a call.
const MEMORY: u64 = 64 << 20;

/// A call that takes longer hangs: its fuel should have ended it.
const LONGEST_CALL: Duration = Duration::from_secs(60);

/// The extents that sizes have.
const EXTENTS: [i64; 9] = [0, 0, 1, 1, 2, 2, 3, 4, 5];

/// Calls of a program.
const CALLS: usize = 4;

/// A program, and what its entry point is called with.
#[derive(Clone)]
struct Trial {
    source: String,
    params: Vec<Ty>,
    calls: Vec<Call>,
    /// At most one place can end the program, so it is known which error it ends with.
    is_strict: bool,
}

/// What decides the arguments of a call.
#[derive(Clone)]
struct Call {
    extents: [i64; 2],
    seed: u64,
}

/// The passes that a program is compiled with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passes {
    None,
    /// Those that a function goes through when it is built.
    Built,
    All,
}

/// The results as text, or the kind of the error and its text.
type Called = Result<String, (ErrorKind, String)>;

impl fmt::Display for Trial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        for call in &self.calls {
            let memory = Memory::new(None);
            let [n, m] = call.extents;
            writeln!(f, "-- n = {n}, m = {m}:")?;
            for value in call.arguments(&memory, &self.params) {
                writeln!(f, "--   {value}")?;
            }
        }
        Ok(())
    }
}

/// The case for people.
pub fn shown(number: u64) -> String {
    trial(number).to_string()
}

/// Carries out a case; one that goes wrong is made smaller.
pub fn run(number: u64) -> Outcome {
    let trial = trial(number);
    match judged(&trial) {
        Outcome::Wrong(what) => {
            let (smallest, why) = shrink::shrink(&trial, &what);
            let pass = blamed(&smallest);
            Outcome::Wrong(format!("{why}\n{pass}\n{smallest}"))
        }
        outcome => outcome,
    }
}

fn trial(number: u64) -> Trial {
    let mut random = random_of(number);
    let (source, params, risks) = program(&mut random);
    let call = |_| Call { extents: [*random.pick(&EXTENTS), *random.pick(&EXTENTS)], seed: random.bits() };
    let calls = (0..CALLS).map(call).collect();
    Trial { source, params, calls, is_strict: risks <= 1 }
}

/// The text of a program, what its entry point takes, and how many places can end it.
fn program(random: &mut Random) -> (String, Vec<Ty>, usize) {
    let mut writer = Writer::new(random);
    let mut source = String::new();
    for k in 0..*writer.random.pick(&[0, 0, 1, 2]) {
        writer.begin();
        let sizes = [("n", ElemType::I64), ("m", ElemType::I64)];
        sizes.iter().for_each(|(name, elem)| writer.given(name, Ty::scalar(*elem)));
        let params: Vec<Ty> = (0..1 + writer.random.below(2)).map(|_| writer.ty()).collect();
        let mut list = String::new();
        for (i, ty) in params.iter().enumerate() {
            let name = format!("p{i}");
            list += &format!(" ({name}: {})", ty.text());
            writer.given(&name, ty.clone());
        }
        let result = writer.ty();
        writer.budget = 4 + writer.random.below(12);
        let body = writer.body(std::slice::from_ref(&result));
        let inline = if writer.random.one_in(3) { "#[noinline]\n" } else { "" };
        let name = format!("helper{k}");
        source += &format!("{inline}def {name} (n: i64) (m: i64){list}: {} =\n  {body}\n\n", result.text());
        writer.helpers.push(Helper { name, params, result });
    }
    writer.begin();
    let mut params: Vec<(String, Ty)> = [("n", ElemType::I64), ("m", ElemType::I64), ("k", ElemType::I64)]
        .into_iter()
        .chain([("q", ElemType::I64), ("x", ElemType::F64), ("c", ElemType::Bool)])
        .map(|(name, elem)| (name.to_string(), Ty::scalar(elem)))
        .collect();
    for i in 0..1 + writer.random.below(4) {
        let ty = loop {
            let ty = writer.ty();
            if !ty.is_scalar() {
                break ty;
            }
        };
        params.push((format!("a{i}"), ty));
    }
    let list: String = params.iter().map(|(name, ty)| format!(" ({name}: {})", ty.text())).collect();
    params.iter().for_each(|(name, ty)| writer.given(name, ty.clone()));
    let given = params.len();
    let mut text = String::new();
    for _ in 0..2 + writer.random.below(5) {
        writer.budget = 4 + writer.random.below(24);
        text += &writer.statement();
    }
    let made: Vec<String> = writer.vars()[given..].iter().map(|var| var.name.clone()).collect();
    let mut results: Vec<&String> = made.iter().filter(|_| !writer.random.one_in(3)).collect();
    if results.is_empty() {
        results.push(&made[made.len() - 1]);
    }
    let results = results.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    source += &format!("entry main{list} =\n{text}  in ({results})\n");
    let risks = writer.risks;
    (source, params.into_iter().map(|(_, ty)| ty).collect(), risks)
}

impl Call {
    fn arguments(&self, memory: &Memory, params: &[Ty]) -> Vec<Value> {
        let mut random = Random::new(self.seed);
        let mut values: Vec<Value> =
            self.extents.iter().map(|extent| Value::Scalar(Scalar::i64(*extent))).collect();
        for ty in &params[values.len()..] {
            let shape: Vec<i64> = ty.dims.iter().map(|dim| self.extent(*dim)).collect();
            let next = &mut || number(ty.elem, &mut random);
            values.push(match shape.is_empty() {
                true => Value::Scalar(next()),
                false => filled(memory, ty.elem, &shape, next).expect("the budget is far away"),
            });
        }
        values
    }

    fn extent(&self, dim: usize) -> i64 {
        self.extents.get(dim).copied().unwrap_or_else(|| SIZES[dim].parse().expect("a number"))
    }
}

/// A small number; floats now and then are none.
fn number(elem: ElemType, random: &mut Random) -> Scalar {
    if elem.is_float() {
        let special = [f64::NAN, f64::INFINITY, -0.0, 1e300];
        let number = match random.below(40) {
            0 => *random.pick(&special),
            _ => random.between(-12, 20) as f64 / 4.0,
        };
        return Scalar::from_f64(elem, number);
    }
    match elem {
        ElemType::Bool => Scalar::bool(random.one_in(2)),
        _ => Scalar::from_int(elem, random.between(-3, 9)),
    }
}

/// What becomes of a trial; a panic is wrong.
fn judged(trial: &Trial) -> Outcome {
    let attempt = catch_unwind(AssertUnwindSafe(|| compared(trial, Passes::All)));
    attempt.unwrap_or_else(|_| Outcome::Wrong("a panic".into()))
}

/// Which passes it takes for a trial to be wrong.
fn blamed(trial: &Trial) -> &'static str {
    let attempt = catch_unwind(AssertUnwindSafe(|| compared(trial, Passes::Built)));
    match attempt {
        Ok(Outcome::Wrong(_)) | Err(_) => "(it is wrong without fusion as well)",
        Ok(_) => "(it is right without fusion)",
    }
}

fn compared(trial: &Trial, passes: Passes) -> Outcome {
    let plain = match compiled(&trial.source, Passes::None) {
        Ok(plain) => plain,
        Err(outcome) => return outcome,
    };
    let passed = match compiled(&trial.source, passes) {
        Ok(passed) => passed,
        Err(Outcome::Wrong(what)) => return Outcome::Wrong(what),
        Err(_) => return Outcome::Wrong("it is refused with passes only".into()),
    };
    let mut last = Outcome::Finished;
    for call in &trial.calls {
        let expected = match called(&plain, trial, call, FUEL) {
            Ok(expected) => expected,
            Err(what) => return Outcome::Wrong(what),
        };
        // Nobody knows how it would go on.
        if let Err((kind, _)) = &expected
            && is_limit(*kind)
        {
            last = Outcome::Failed(*kind);
            continue;
        }
        let found = match called(&passed, trial, call, FUEL_WITH_PASSES) {
            Ok(found) => found,
            Err(what) => return Outcome::Wrong(what),
        };
        match (&expected, &found) {
            (Ok(a), Ok(b)) if a == b => {}
            (Err((_, a)), Err((kind, b)))
                if where_it_ends(a) == where_it_ends(b) || !trial.is_strict && !is_limit(*kind) => {}
            (a, b) => {
                let [n, m] = call.extents;
                let (a, b) = (told(a), told(b));
                return Outcome::Wrong(format!("for n = {n}, m = {m} without passes\n{a}\nwith passes\n{b}"));
            }
        }
        if !matches!(last, Outcome::Failed(_)) {
            last = found.map_or_else(|(kind, _)| Outcome::Failed(kind), |_| Outcome::Finished);
        }
    }
    last
}

/// An error without the operators around its place: those that became one are one.
fn where_it_ends(error: &str) -> &str {
    error.split("\n\nAt element").next().unwrap_or(error)
}

fn told(called: &Called) -> &str {
    match called {
        Ok(text) | Err((_, text)) => text,
    }
}

/// A program that is ready to be called, or what became of it.
fn compiled(source: &str, passes: Passes) -> Result<VerifiedModule, Outcome> {
    let mut sources = Sources::new();
    let file = sources.add("passes.fut", source);
    let choices =
        Choices { fusion: passes == Passes::All, simplifies: passes != Passes::None, ..Choices::default() };
    let compiled = compile_with(&mut sources, file, &choices);
    // An entry point that core cannot say comes with a warning.
    let cannot_run = |text: &str| text.contains("cannot be run");
    let refusal = compiled.diagnostics.iter().find(|one| one.is_error() || cannot_run(&one.message));
    if let Some(refusal) = refusal {
        return Err(Outcome::Unreadable(refusal.render(&sources, false)));
    }
    let Some(module) = compiled.module else { return Err(Outcome::Wrong("no module and no error".into())) };
    verify(module).map_err(|why| Outcome::Wrong(format!("the verifier refuses what was made: {why}")))
}

/// What a call comes to; an error of its own if anything is wrong about that alone.
fn called(module: &VerifiedModule, trial: &Trial, call: &Call, fuel: u64) -> Result<Called, String> {
    let limits =
        Limits { fuel: Some(fuel), memory: Some(MEMORY), timeout: Some(LONGEST_CALL), ..Limits::default() };
    let options = Options { limits, switches: Switches::OFF, ..Options::default() };
    let mut session = Session::new(module.clone(), options);
    let memory = session.memory().clone();
    let arguments = call.arguments(&memory, &trial.params);
    let clock = Clock::start();
    let called = outcome(&session.call("main", arguments), &clock)?;
    drop(session);
    match memory.stats().live_bytes {
        0 => Ok(called),
        live => Err(format!("{live} bytes are in use after a call")),
    }
}
