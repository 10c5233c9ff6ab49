//! Several calls of one session, with numbers, sizes, layouts and arrays that come again or change a little, against
//! sessions of their own in which everything is switched off.
//!
//! What is kept from call to call - plans with their numbers, answers about reuse, layouts, compiled versions - must fit the
//! call it is used for. Arrays that were given or returned before are still held, and must stay as they are.

use crate::author::{self, Elem, EntryPoint, Param};
use crate::case::Outcome;
use crate::random::Random;
use galopvm_base::{ElemType, Scalar, Sources};
use galopvm_bytecode::{VerifiedModule, verify};
use galopvm_jit::X86Backend;
use galopvm_kir::evaluate::Layout;
use galopvm_kir::{Backend, Machine, Reference};
use galopvm_runtime::{
    Array, ErrorKind, Limits, Memory, Options, RuntimeError, Session, Switch, Switches, Tiering, Value,
};
use std::fmt::Write;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::time::Duration;

/// Operations of a call.
const FUEL: u64 = 50_000_000;

/// Bytes of values in a session.
const MEMORY: u64 = 256 << 20;

/// Extents of arrays.
const EXTENTS: [i64; 12] = [1, 1, 2, 3, 4, 5, 7, 8, 16, 20, 33, 300];

/// What an array argument is made of.
#[derive(Clone, PartialEq)]
struct Given {
    elem: Elem,
    shape: Vec<i64>,
    /// Decides the elements.
    seed: u64,
    layout: Layout,
}

/// An argument.
#[derive(Clone, PartialEq)]
enum Arg {
    Made(Given),
    /// A result of an earlier call.
    Result(usize),
}

/// A call.
#[derive(Clone)]
struct Call {
    entry: usize,
    numbers: (i64, i64, f64),
    arrays: Vec<Arg>,
}

/// The case for people.
pub fn shown(number: u64) -> String {
    let mut random = random_of(number);
    author::program(&mut random).source
}

fn random_of(number: u64) -> Random {
    Random::new(number.wrapping_mul(0x9e6c_63d0_876a_9a47).wrapping_add(7))
}

/// Carries out a case.
pub fn run(number: u64) -> Outcome {
    match catch_unwind(|| attempt(number)) {
        Err(_) => Outcome::Wrong("a panic".into()),
        Ok(Err(what)) => Outcome::Wrong(what),
        Ok(Ok(outcome)) => outcome,
    }
}

fn attempt(number: u64) -> Result<Outcome, String> {
    let mut random = random_of(number);
    let program = author::program(&mut random);
    let mut sources = Sources::new();
    let file = sources.add("case.fut", &program.source);
    let compiled = galopvm_frontend::compile(&mut sources, file);
    let Some(module) = compiled.module else {
        let first = compiled.diagnostics.iter().find(|d| d.is_error()).map(|d| d.message.clone());
        return Ok(Outcome::Refused(first.unwrap_or_default()));
    };
    let module = verify(module).map_err(|e| format!("compiled code does not verify: {e}"))?;
    Trial::new(module, &program.entries, &mut random).run(&mut random)
}

struct Trial<'a> {
    module: VerifiedModule,
    entries: &'a [EntryPoint],
    session: Session,
    memory: Memory,
    /// How the session is set up, for people.
    setting: String,
    calls: Vec<Call>,
    /// Arrays that were returned, with their texts then, and arrays that were given and are held.
    returned: Vec<(Value, String)>,
    held: Vec<(Value, String)>,
}

fn limits() -> Limits {
    let timeout = Some(Duration::from_secs(60));
    Limits { fuel: Some(FUEL), memory: Some(MEMORY), call_depth: 200, timeout }
}

impl<'a> Trial<'a> {
    fn new(module: VerifiedModule, entries: &'a [EntryPoint], random: &mut Random) -> Trial<'a> {
        let backend: Option<Arc<dyn Backend>> = match random.below(5) {
            0 => Some(Arc::new(Reference)),
            1 if X86Backend::is_available() => Some(Arc::new(X86Backend::default())),
            _ => None,
        };
        let eager = !random.one_in(4);
        let off: Vec<Switch> = match random.below(3) {
            0 => vec![*random.pick(Switch::ALL)],
            1 => Switch::ALL.iter().copied().filter(|_| random.one_in(3)).collect(),
            _ => Vec::new(),
        };
        let name = backend.as_ref().map_or("interpreter", |backend| backend.name());
        let setting = format!("{name}, eager {eager}, without {off:?}");
        let tiering = match backend {
            None => Tiering::interpreter(),
            Some(backend) => Tiering {
                backends: vec![backend],
                machine: Machine { threads: 1 + random.below(2), ..Machine::default() },
                threshold: 1,
                always: true,
                background: false,
            },
        };
        let switches = Switches::without(&off);
        let options = Options { limits: limits(), tiering, switches, eager, ..Options::default() };
        let session = Session::new(module.clone(), options);
        let memory = session.memory().clone();
        let (calls, returned, held) = (Vec::new(), Vec::new(), Vec::new());
        Trial { module, entries, session, memory, setting, calls, returned, held }
    }

    fn run(mut self, random: &mut Random) -> Result<Outcome, String> {
        let mut last = Outcome::Finished;
        for _ in 0..4 + random.below(9) {
            let call = self.next(random);
            self.calls.push(call.clone());
            last = self.call(&call, random).map_err(|what| self.told(&what))?;
        }
        for (value, text) in self.held.iter().chain(&self.returned) {
            if shown_value(value) != *text {
                return Err(self
                    .told(&format!("an array that is held changed from\n{text}to\n{}", shown_value(value))));
            }
        }
        let Trial { session, memory, held, returned, .. } = self;
        drop((session, held, returned));
        match memory.stats().live_bytes {
            0 => Ok(last),
            live => Err(format!("{live} bytes are in use after the session")),
        }
    }

    fn told(&self, what: &str) -> String {
        let mut text = format!("{what}\n{}, calls:\n", self.setting);
        for call in &self.calls {
            let (k, q, x) = call.numbers;
            let _ = write!(text, "  {} {k} {q} {x}", self.entries[call.entry].name);
            for arg in &call.arrays {
                let _ = match arg {
                    Arg::Made(given) => {
                        write!(
                            text,
                            " {:?}{:?} {:?} #{:x}",
                            given.shape,
                            given.elem,
                            given.layout,
                            given.seed & 0xff
                        )
                    }
                    Arg::Result(k) => write!(text, " result {k}"),
                };
            }
            text.push('\n');
        }
        text
    }

    /// A call like an earlier one, or a new one.
    fn next(&self, random: &mut Random) -> Call {
        let earlier = (!self.calls.is_empty() && !random.one_in(4)).then(|| random.pick(&self.calls).clone());
        let Some(mut call) = earlier else {
            let entry = random.below(self.entries.len());
            let arrays = self.entries[entry].params.iter().map(|param| self.array(*param, random)).collect();
            return Call { entry, numbers: (number(random), number(random), float(random)), arrays };
        };
        match random.below(8) {
            0 => {}
            1 => call.numbers.0 = number(random),
            2 => call.numbers.1 = number(random),
            3 => call.numbers.2 = float(random),
            choice => {
                let k = random.below(call.arrays.len());
                let param = self.entries[call.entry].params[k];
                match &mut call.arrays[k] {
                    Arg::Made(given) if choice == 4 => given.seed = random.bits(),
                    Arg::Made(given) if choice == 5 => given.layout = *random.pick(&Layout::ALL),
                    Arg::Made(given) if choice == 6 => {
                        let dim = random.below(given.shape.len());
                        given.shape[dim] = *random.pick(&EXTENTS);
                    }
                    other => *other = self.array(param, random),
                }
            }
        }
        call
    }

    fn array(&self, param: Param, random: &mut Random) -> Arg {
        let fits = |value: &Value| {
            value.as_array().is_some_and(|array| {
                array.elem() == elem_type(param.elem)
                    && array.shape().len() == param.rank
                    && array.elements() > 0
            })
        };
        let fitting: Vec<usize> = (0..self.returned.len()).filter(|k| fits(&self.returned[*k].0)).collect();
        if !fitting.is_empty() && random.one_in(3) {
            return Arg::Result(*random.pick(&fitting));
        }
        // Small ones if there are two extents.
        let extents = if param.rank == 1 { &EXTENTS[..] } else { &EXTENTS[..EXTENTS.len() - 2] };
        let shape = (0..param.rank).map(|_| *random.pick(extents)).collect();
        let layout = if random.one_in(2) { Layout::Contiguous } else { *random.pick(&Layout::ALL) };
        Arg::Made(Given { elem: param.elem, shape, seed: random.bits(), layout })
    }

    fn call(&mut self, call: &Call, random: &mut Random) -> Result<Outcome, String> {
        let entry = &self.entries[call.entry];
        let expected = {
            let options = Options { limits: limits(), switches: Switches::OFF, ..Options::default() };
            let mut plain = Session::new(self.module.clone(), options);
            let memory = plain.memory().clone();
            let mut args = scalars(call);
            for arg in &call.arrays {
                args.push(match arg {
                    Arg::Made(given) => {
                        value(&memory, &Given { layout: Layout::Contiguous, ..given.clone() })
                    }
                    // Views of arrays of another session are read only.
                    Arg::Result(k) => self.returned[*k].0.clone(),
                });
            }
            outcome(&plain.call(&entry.name, args))?
        };
        let mut args = scalars(call);
        for arg in &call.arrays {
            let value = match arg {
                Arg::Made(given) => {
                    // The very array of before, too.
                    let value = value(&self.memory, given);
                    if random.one_in(2) {
                        self.held.push((value.clone(), shown_value(&value)));
                    }
                    value
                }
                Arg::Result(k) => self.returned[*k].0.clone(),
            };
            args.push(value);
        }
        let result = self.session.call(&entry.name, args);
        let found = outcome(&result)?;
        match (&expected, &found) {
            (Err(kind), _) | (_, Err(kind)) if is_limit(kind.0) => return Ok(Outcome::Failed(kind.0)),
            (Ok(a), Ok(b)) if a == b => {}
            (Err((_, a)), Err((_, b))) if a == b => {}
            (a, b) => {
                let text = |outcome: &Result<String, (ErrorKind, String)>| match outcome {
                    Ok(text) => text.clone(),
                    Err((_, text)) => text.clone(),
                };
                return Err(format!("expected\n{}found\n{}", text(a), text(b)));
            }
        }
        let kind = found.err().map(|(kind, _)| kind);
        for value in result.into_iter().flatten().filter(|value| value.as_array().is_some()) {
            let text = shown_value(&value);
            self.returned.push((value, text));
        }
        Ok(kind.map_or(Outcome::Finished, Outcome::Failed))
    }
}

fn is_limit(kind: ErrorKind) -> bool {
    !matches!(kind, ErrorKind::Program | ErrorKind::Usage)
}

/// The values as text, or the kind and the text of the error.
fn outcome(result: &Result<Vec<Value>, RuntimeError>) -> Result<Result<String, (ErrorKind, String)>, String> {
    match result {
        Ok(values) => Ok(Ok(values.iter().map(shown_value).collect())),
        Err(error) if error.kind == ErrorKind::Timeout => Err("a call hangs".into()),
        Err(error) => Ok(Err((error.kind, error.to_string()))),
    }
}

fn shown_value(value: &Value) -> String {
    match value {
        Value::Array(array) => format!("{:?} {value}\n", array.shape()),
        Value::Scalar(_) => format!("{value}\n"),
    }
}

fn elem_type(elem: Elem) -> ElemType {
    match elem {
        Elem::I64 => ElemType::I64,
        Elem::I32 => ElemType::I32,
        Elem::F32 => ElemType::F32,
    }
}

fn scalars(call: &Call) -> Vec<Value> {
    let (k, q, x) = call.numbers;
    vec![Value::Scalar(Scalar::i64(k)), Value::Scalar(Scalar::i64(q)), Value::Scalar(Scalar::f64(x))]
}

fn number(random: &mut Random) -> i64 {
    if random.one_in(6) { random.below(400) as i64 - 100 } else { random.below(12) as i64 }
}

fn float(random: &mut Random) -> f64 {
    if random.one_in(6) { random.below(4000) as f64 / 16.0 } else { random.below(12) as f64 }
}

fn value(memory: &Memory, given: &Given) -> Value {
    let elem = elem_type(given.elem);
    let (lmad, elements) = given.layout.view(&given.shape);
    let width = elem.bytes();
    let mut block = memory.block(elements as usize * width).expect("the budget is far away");
    let bytes = block.bytes_mut().expect("nobody else holds a fresh block");
    bytes.fill(0);
    let mut random = Random::new(given.seed);
    for place in lmad.places() {
        let number = random.below(41) as i64 - 20;
        let scalar = if elem.is_float() {
            Scalar::from_f64(elem, number as f64 / 4.0)
        } else {
            Scalar::from_int(elem, number)
        };
        let at = place as usize * width;
        bytes[at..at + width].copy_from_slice(&scalar.bits.to_le_bytes()[..width]);
    }
    Value::Array(Array::from_block(block, elem, lmad).expect("the layout fits its block"))
}
