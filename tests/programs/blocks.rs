//! The test blocks of the programs that the analyses are for: what is documented is computed, and with each switch off
//! the same. All calls of a program are made in one session, so that what is kept from call to call meets other numbers.

use crate::support::{Tolerance, difference};
use galopvm::{BackendChoice, Engine, Program, Switch, Switches, Value};
use galopvm_runtime::data::read_values;
use galopvm_runtime::{Options, Session};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Documented results have six to nine digits.
const PRINTED: Tolerance = Tolerance { relative: 1e-4, absolute: 1e-5 };

/// Reductions of floats may be computed in another order by machine code.
const REORDERED: Tolerance = Tolerance { relative: 1e-4, absolute: 1e-7 };

/// A call with its documented results; nothing where an error is documented.
struct Call {
    entry: String,
    input: String,
    output: Option<String>,
}

/// The calls of all test blocks: comments that begin with `-- ==`.
fn calls(source: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut lines = source.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim() != "-- ==" {
            continue;
        }
        let mut text = String::new();
        while let Some(comment) = lines.next_if(|line| line.starts_with("--")) {
            text += comment.trim_start_matches('-').trim();
            text.push('\n');
        }
        let (mut entries, mut rest) = (vec!["main".to_string()], text.as_str());
        if let Some(names) = text.lines().find_map(|line| line.strip_prefix("entry:")) {
            entries = names.split_whitespace().map(str::to_string).collect();
        }
        while let Some((input, after)) = braces(rest, "input {") {
            let end = after.find("input {").unwrap_or(after.len());
            let output = braces(&after[..end], "output {").map(|(output, _)| output.to_string());
            assert!(output.is_some() || after[..end].contains("error:"), "no result for {input}");
            for entry in &entries {
                calls.push(Call { entry: entry.clone(), input: input.into(), output: output.clone() });
            }
            rest = after;
        }
    }
    calls
}

/// What stands between braces after a word, and everything after them.
fn braces<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    text.split_once(word)?.1.split_once('}')
}

type Outcome = Result<Vec<Value>, String>;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/seeds");
    let entries = fs::read_dir(folder).expect("there are examples").filter_map(Result::ok);
    let mut files: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "fut")).collect();
    files.sort();
    files
}

/// Entry points of this name have so much to do that the analyses are asked only where there is something to gain: eagerly, each
/// launch would be checked element by element.
const LARGER: &str = "larger";

/// All calls by the interpreter, with the analyses asked however little there is to gain.
fn interpreted(program: &Program, calls: &[Call], switches: Switches) -> Vec<Outcome> {
    let session =
        |eager| Session::new(program.module().clone(), Options { switches, eager, ..Options::default() });
    let (mut eager, mut thrifty) = (session(true), session(false));
    let call = |call: &Call| {
        let session = if call.entry == LARGER { &mut thrifty } else { &mut eager };
        let values = read_values(session.memory(), call.input.as_bytes()).expect("the input is values");
        session.call(&call.entry, values).map_err(|error| error.to_string())
    };
    calls.iter().map(call).collect()
}

fn compiled(program: &Program, calls: &[Call], switches: Switches) -> Vec<Outcome> {
    let engine = Engine::builder().backend(BackendChoice::Auto).threads(2).switches(switches).build();
    let mut session = engine.session(program);
    let call = |call: &Call| {
        let values = read_values(session.memory(), call.input.as_bytes()).expect("the input is values");
        session.call_values(&call.entry, values).map_err(|error| error.to_string())
    };
    calls.iter().map(call).collect()
}

fn compare(expected: &Outcome, found: &Outcome, tolerance: Tolerance) -> Option<String> {
    match (expected, found) {
        (Ok(expected), Ok(found)) => difference(expected, found, tolerance),
        (Err(expected), Err(found)) if expected == found => None,
        (expected, found) => Some(format!("{found:?} instead of {expected:?}")),
    }
}

/// A program with its calls, and what they mean.
struct Documented {
    name: String,
    program: Program,
    calls: Vec<Call>,
    meaning: Vec<Outcome>,
}

#[test]
fn documented_results_do_not_depend_on_switches() {
    let all: Vec<Documented> = shared_out(&files(), |path| documented(path));
    let count: usize = all.iter().map(|documented| documented.calls.len()).sum();
    assert!(count >= 60, "only {count} calls are documented");
    // Most of the time goes into few programs: what is shared out is a program without a switch.
    let ways: Vec<Vec<Switch>> = Switch::ALL.iter().map(|switch| vec![*switch]).chain([Vec::new()]).collect();
    let pairs: Vec<(&Documented, &Vec<Switch>)> =
        all.iter().flat_map(|documented| ways.iter().map(move |off| (documented, off))).collect();
    shared_out(&pairs, |(documented, off)| documented.means_the_same_without(off));
}

/// What work gives for each of some things, done by two threads.
fn shared_out<T: Sync, R: Send>(things: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let go_on = || {
        let mut made = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(thing) = things.get(number) else { return made };
            made.push(work(thing));
        }
    };
    std::thread::scope(|scope| {
        let threads = [(); 2].map(|()| scope.spawn(go_on));
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("what is documented is computed"))
            .collect()
    })
}

/// A program whose calls give what is documented.
fn documented(path: &Path) -> Documented {
    let name = path.file_name().expect("a file name").to_string_lossy().into_owned();
    let program = Program::load(path).unwrap_or_else(|e| panic!("{name}: {e}"));
    let calls = calls(&fs::read_to_string(path).expect("the file is there"));
    assert!(!calls.is_empty(), "{name} has no test blocks");
    let meaning = interpreted(&program, &calls, Switches::OFF);
    let session = Session::new(program.module().clone(), Options::default());
    for (call, found) in calls.iter().zip(&meaning) {
        let wrong = match (&call.output, found) {
            (Some(output), Ok(found)) => {
                let output = read_values(session.memory(), output.as_bytes()).expect("values");
                difference(&output, found, PRINTED)
            }
            (None, Err(_)) => None,
            (_, found) => Some(format!("{found:?}")),
        };
        assert!(wrong.is_none(), "{name}, {} of {}: {wrong:?}", call.entry, call.input);
    }
    Documented { name, program, calls, meaning }
}

impl Documented {
    fn means_the_same_without(&self, off: &[Switch]) {
        let Documented { name, program, calls, meaning } = self;
        let switches = Switches::without(off);
        let mut ways = vec![(interpreted(program, calls, switches), Tolerance::NONE)];
        // How the interpreter goes is of little interest where it has little to do.
        if !off.contains(&Switch::Machine) {
            ways.push((compiled(program, calls, switches), REORDERED));
        }
        for (found, tolerance) in ways {
            for ((call, expected), found) in calls.iter().zip(meaning).zip(&found) {
                let wrong = compare(expected, found, tolerance);
                let (entry, input) = (&call.entry, &call.input);
                assert!(wrong.is_none(), "{name}, {entry} of {input}, without {off:?}: {wrong:?}");
            }
        }
    }
}
