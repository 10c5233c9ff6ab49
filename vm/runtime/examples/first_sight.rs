//! What the analyses of a program take when they see its regions for the first time: `first_sight FILE ENTRY ARGUMENT..`.
//!
//! FILE is a module in assembly, or a `.gbc` file; an argument is a value in the data format. The entry point runs
//! once under the interpreter, in several sessions that know nothing; printed is the best of each figure, in
//! microseconds. `ROUNDS=n` in the environment makes it n sessions.

use galopvm_bytecode::{VerifiedModule, decode, text, verify};
use galopvm_runtime::{Options, PlanFigures, PlanPhases, Session, Switch, data};
use std::time::Duration;

/// Sessions, if nothing else is said.
const ROUNDS: usize = 9;

fn module_of(file: &str) -> VerifiedModule {
    let bytes = std::fs::read(file).expect("the file can be read");
    let module = match file.ends_with(".gbc") {
        true => decode(&bytes).expect("it is a module"),
        false => text::parse(&String::from_utf8_lossy(&bytes)).expect("it assembles"),
    };
    verify(module).expect("it verifies")
}

/// The figures of one call in a session that knows nothing.
fn figures(module: &VerifiedModule, entry: &str, arguments: &[String]) -> Vec<(Switch, PlanFigures)> {
    let mut session = Session::new(module.clone(), Options::default());
    let values = arguments.iter().flat_map(|argument| {
        data::read_values(session.memory(), argument.as_bytes()).expect("values in the data format")
    });
    let values = values.collect();
    session.call(entry, values).expect("it runs");
    session.analysis_figures()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The parts of the shorter one.
fn shorter(a: (Duration, PlanPhases), b: (Duration, PlanPhases)) -> (Duration, PlanPhases) {
    if b.0 < a.0 { b } else { a }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, entry, rest @ ..] = &args[..] else {
        eprintln!("first_sight FILE ENTRY ARGUMENT..");
        std::process::exit(2);
    };
    let module = module_of(file);
    let rounds = std::env::var("ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(ROUNDS);
    let all: Vec<_> = (0..rounds.max(1)).map(|_| figures(&module, entry, rest)).collect();
    println!(
        "{:14}{:>6} {:>9} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "times", "", "all", "record", "analyse", "plan", "check"
    );
    for (k, (switch, first)) in all[0].iter().enumerate() {
        if first.made == 0 {
            continue;
        }
        let of = |how: &dyn Fn(&PlanFigures) -> (Duration, PlanPhases)| {
            let each = all.iter().map(|figures| how(&figures[k].1));
            each.reduce(shorter).expect("there is a session")
        };
        let line = |name: &str, made: &str, what: &str, (time, phases): (Duration, PlanPhases)| {
            let PlanPhases { record, analyse, plan, check } = phases;
            let [time, record, analyse, plan, check] = [time, record, analyse, plan, check].map(micros);
            println!(
                "{name:14}{made:>6} {what:>9} {time:8.1} {record:8.1} {analyse:8.1} {plan:8.1} {check:8.1}"
            );
        };
        line(
            switch.name(),
            &first.made.to_string(),
            "longest",
            of(&|figures| (figures.longest, figures.longest_phases)),
        );
        line("", "", "sum", of(&|figures| (figures.making, figures.phases)));
    }
}
