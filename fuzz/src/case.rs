//! What is done with a case, and what would be wrong about it.

use crate::clock::Clock;
use crate::corpus::Corpus;
use crate::defined::is_defined;
use crate::mutate;
use crate::sessions::Setting;
use galopvm_base::{ElemType, Scalar};
use galopvm_bytecode::{Module, ValueType, VerifiedModule, decode, encode, text, verify};
use galopvm_runtime::{Array, Coverage, ErrorKind, Limits, Memory, Options, Session, Value, data};
use galopvm_testkit::Random;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// A case that keeps the processor busy for longer hangs.
const LONGEST: Duration = Duration::from_secs(2);

/// A call that takes longer hangs: its fuel should have ended it.
const LONGEST_CALL: Duration = Duration::from_secs(60);

/// The same under compiled code, whose operations are estimated: the number of rounds of a loop may be anything.
const LONGEST_COMPILED: Duration = Duration::from_millis(200);

/// Operations of a call.
const FUEL: u64 = 20_000;

/// Bytes of values in a call.
const MEMORY: u64 = 16 << 20;

/// What became of a case.
pub enum Outcome {
    /// The bytes or the text say no module.
    Unreadable(String),
    /// The verifier refused it.
    Refused(String),
    /// It ran to its end.
    Finished,
    /// It ended in an error.
    Failed(ErrorKind),
    /// A mistake of galopvm.
    Wrong(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Unreadable(why) => write!(f, "unreadable: {why}"),
            Outcome::Refused(why) => write!(f, "refused: {why}"),
            Outcome::Finished => f.write_str("finished"),
            Outcome::Failed(kind) => write!(f, "ended in an error: {kind:?}"),
            Outcome::Wrong(what) => write!(f, "wrong: {what}"),
        }
    }
}

/// How many cases ended how.
#[derive(Default)]
pub struct Tally {
    /// All.
    pub cases: u64,
    /// Those with a finding.
    pub wrong: u64,
    unreadable: u64,
    refused: u64,
    finished: u64,
    failed: u64,
    limited: u64,
}

impl Tally {
    /// Counts a case.
    pub fn add(&mut self, outcome: &Outcome) {
        self.cases += 1;
        *match outcome {
            Outcome::Unreadable(_) => &mut self.unreadable,
            Outcome::Refused(_) => &mut self.refused,
            Outcome::Finished => &mut self.finished,
            Outcome::Failed(ErrorKind::Program | ErrorKind::Usage) => &mut self.failed,
            Outcome::Failed(_) => &mut self.limited,
            Outcome::Wrong(_) => &mut self.wrong,
        } += 1;
    }

    /// Both together.
    pub fn sum(self, other: Tally) -> Tally {
        Tally {
            cases: self.cases + other.cases,
            wrong: self.wrong + other.wrong,
            unreadable: self.unreadable + other.unreadable,
            refused: self.refused + other.refused,
            finished: self.finished + other.finished,
            failed: self.failed + other.failed,
            limited: self.limited + other.limited,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} cases: {} unreadable, {} refused by the verifier, {} finished, {} ended in an error, {} at a limit; \
             {} wrong",
            self.cases, self.unreadable, self.refused, self.finished, self.failed, self.limited, self.wrong
        )
    }
}

/// The damaged form of a program.
enum Mutant {
    Bytes(Vec<u8>),
    Text(String),
}

fn mutant(corpus: &Corpus, random: &mut Random) -> (String, Mutant) {
    let original = random.pick(&corpus.originals);
    let mutant = if random.one_in(3) {
        let mut bytes = original.bytes.clone();
        mutate::bytes(random, &mut bytes);
        Mutant::Bytes(bytes)
    } else {
        Mutant::Text(mutate::text(random, &original.text))
    };
    (original.name.clone(), mutant)
}

/// Numbers of neighbouring cases give unlike random numbers.
pub fn random_of(number: u64) -> Random {
    Random::new(number.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1))
}

/// The case for people.
pub fn shown(corpus: &Corpus, number: u64) -> String {
    match mutant(corpus, &mut random_of(number)) {
        (name, Mutant::Bytes(bytes)) => format!("{name}, bytes: {bytes:02x?}"),
        (name, Mutant::Text(text)) => format!("{name}, text:\n{text}"),
    }
}

/// Carries out a case; counts the decisions that it meets.
pub fn run(corpus: &Corpus, number: u64, met: &Coverage) -> Outcome {
    let start = Clock::start();
    let outcome = attempt(corpus, number, met);
    match start.elapsed() {
        time if time > LONGEST && !matches!(outcome, Outcome::Wrong(_)) => {
            Outcome::Wrong(format!("it took {time:?}"))
        }
        _ => outcome,
    }
}

fn attempt(corpus: &Corpus, number: u64, met: &Coverage) -> Outcome {
    // Nothing is used again after a panic: the run ends.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut random = random_of(number);
        let (_, mutant) = mutant(corpus, &mut random);
        let module = match mutant {
            Mutant::Bytes(bytes) => decode(&bytes).map_err(|error| error.to_string()),
            Mutant::Text(text) => text::parse(&text).map_err(|error| error.to_string()),
        };
        match module {
            Ok(module) => check(module, &mut random, met),
            Err(why) => Ok(Outcome::Unreadable(why)),
        }
    }));
    match outcome {
        Err(_) => Outcome::Wrong("a panic".into()),
        Ok(Err(what)) => Outcome::Wrong(what),
        Ok(Ok(Outcome::Failed(ErrorKind::Timeout))) => Outcome::Wrong("a call hangs".into()),
        Ok(Ok(outcome)) => outcome,
    }
}

/// Calls the entry points of a module, each several times: everybody has to give the same.
pub fn check(module: Module, random: &mut Random, met: &Coverage) -> Result<Outcome, String> {
    let module = match verify(module) {
        Ok(module) => module,
        Err(why) => return Ok(Outcome::Refused(why.to_string())),
    };
    let bytes = encode(module.module());
    match decode(&bytes) {
        Ok(again) if again == *module.module() => {}
        Ok(_) => return Err("the module is read as another one than was written".into()),
        Err(error) => return Err(format!("what was written cannot be read: {error}")),
    }
    let plain = || (Options::default(), LONGEST_CALL);
    let mut last = Outcome::Finished;
    let is_defined = is_defined(module.module());
    for entry in 0..module.module().entries.len().min(4) {
        let seed = random.bits();
        let first = call(&module, entry, seed, plain(), met)?;
        let second = call(&module, entry, seed, plain(), met)?;
        if first != second {
            return Err(format!("entry {entry} gives {first:?}, then {second:?}"));
        }
        if is_defined {
            let setting = Setting::of(random);
            // The execution beside this one has a fuel of its own, which lasts for seconds.
            let options = Options { check: false, ..setting.options(None) };
            let other = call(&module, entry, seed, (options, LONGEST_COMPILED), met)
                .map_err(|what| format!("entry {entry} under {setting:?}: {what}"))?;
            let is_limited = |outcome: &Called| outcome.as_ref().is_err_and(|(kind, _)| is_limit(*kind));
            if first != other && !is_limited(&first) && !is_limited(&other) {
                return Err(format!("entry {entry} gives {first:?}, under {setting:?} {other:?}"));
            }
        }
        last = first.map_or_else(|(kind, _)| Outcome::Failed(kind), |_| Outcome::Finished);
    }
    Ok(last)
}

/// The results of an entry point as text, or the kind of error and its text.
type Called = Result<String, (ErrorKind, String)>;

fn call(
    module: &VerifiedModule,
    entry: usize,
    seed: u64,
    (options, longest): (Options, Duration),
    met: &Coverage,
) -> Result<Called, String> {
    let limits = Limits { fuel: Some(FUEL), memory: Some(MEMORY), call_depth: 200, timeout: Some(longest) };
    let mut session = Session::new(module.clone(), Options { limits, ..options });
    let memory = session.memory().clone();
    let code = module.module();
    let entry = &code.entries[entry];
    let function = &code.functions[entry.function];
    let mut random = Random::new(seed);
    // Now and then enough rows for groups of rows and several vectors.
    let likely = if random.one_in(4) { 24 + random.below(17) as i64 } else { 1 + random.below(2) as i64 };
    let arguments: Vec<Value> = function
        .params
        .iter()
        .map(|param| argument(&memory, function.regs[*param], likely, &mut random))
        .collect::<Result<_, _>>()?;
    let name = entry.name.clone();
    let outcome = session.call(&name, arguments);
    let outcome = match outcome {
        Ok(values) => Ok(values.iter().map(beginning).collect()),
        Err(error) if error.kind == ErrorKind::Defect => return Err(error.to_string()),
        Err(error) => Err((error.kind, error.to_string())),
    };
    if let Some(what) = session.violation() {
        return Err(format!("the checker refused a plan: {what}"));
    }
    met.add_all(&session.coverage());
    drop(session);
    match memory.stats().live_bytes {
        0 => Ok(outcome),
        live => Err(format!("{live} bytes are in use after a call of {name}")),
    }
}

/// Whether a call ended by a limit, which depends on who executes it.
pub fn is_limit(kind: ErrorKind) -> bool {
    !matches!(kind, ErrorKind::Program | ErrorKind::Usage)
}

/// Bytes of a value's text that are compared: a view may have more elements than there is memory.
const COMPARED: usize = 1 << 16;

/// The first part of a value's text.
fn beginning(value: &Value) -> String {
    struct Limited(Vec<u8>);
    impl io::Write for Limited {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.len() > COMPARED {
                return Err(io::Error::other("long enough"));
            }
            self.0.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut text = Limited(Vec::new());
    // It ends early for long values.
    let _ = data::write_text(&mut text, value);
    String::from_utf8_lossy(&text.0).into_owned() + "\n"
}

/// A value of a type; extents are mostly the likely one, so that many arguments fit each other.
fn argument(memory: &Memory, ty: ValueType, likely: i64, random: &mut Random) -> Result<Value, String> {
    if ty.is_scalar() {
        return Ok(Value::Scalar(scalar(ty.elem, random)));
    }
    let shape: Vec<i64> = (0..ty.rank)
        .map(|dim| if dim < 3 && random.one_in(4) { random.below(5) as i64 } else { likely })
        .collect();
    let count = shape.iter().copied().fold(1, i64::saturating_mul).min(1 << 12);
    let shape = if count == 1 << 12 { vec![1; shape.len()] } else { shape };
    filled(memory, ty.elem, &shape, &mut || scalar(ty.elem, random))
}

/// An array of these extents and of the elements that somebody says, one after the other.
pub fn filled(
    memory: &Memory,
    elem: ElemType,
    shape: &[i64],
    next: &mut dyn FnMut() -> Scalar,
) -> Result<Value, String> {
    let mut array = Array::fresh(memory, elem, shape).map_err(|e| e.to_string())?;
    let mut index = vec![0; shape.len()];
    for _ in 0..shape.iter().product() {
        array.set(memory, &index, next()).map_err(|e| e.to_string())?;
        for (i, extent) in index.iter_mut().zip(shape).rev() {
            *i += 1;
            if *i < *extent {
                break;
            }
            *i = 0;
        }
    }
    Ok(Value::Array(array))
}

fn scalar(ty: ElemType, random: &mut Random) -> Scalar {
    if ty.is_float() {
        let special = [0.0, -0.0, 1.0, 0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, 1e-300, 3e9];
        return Scalar::from_f64(ty, *random.pick(&special));
    }
    match random.below(8) {
        0 => Scalar::new(ty, random.bits()),
        1 => Scalar::new(ty, 1u64 << random.below(64)),
        2 => Scalar::from_int(ty, -1),
        _ => Scalar::from_int(ty, random.below(5) as i64),
    }
}
