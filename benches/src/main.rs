//! One column of `anchors/run.py`: `galopvm-bench TASK REPS [--threads N] [--backend B] [--cpu MODE]`.
//!
//! Prints `GEN <ms>`, then one `RESULT <checksum> <ms>` per repetition after an untimed one; with 0 repetitions the very
//! first run. Says on standard error what moved to and from a GPU. Exits with 3 for a task that galopvm does not have. `galopvm-bench --list` prints the tasks.
#![forbid(unsafe_code)]

mod calls;
mod inputs;
mod tasks;

use galopvm::{Engine, Program, Value};
use std::process::ExitCode;
use std::time::Instant;
use tasks::{TASKS, Task};

const USAGE: &str = "usage: galopvm-bench TASK REPS [--threads N] [--backend B] [--cpu MODE]\n       galopvm-bench --calls REPS [the same options]\n       galopvm-bench --together REPS [the same options]\n       galopvm-bench --list";

/// What measures calls, in the place of a task; and those of many threads.
const CALLS: &str = "--calls";
const TOGETHER: &str = "--together";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == ["--list"] {
        TASKS.iter().for_each(|task| println!("{}", task.name));
        return ExitCode::SUCCESS;
    }
    let Some(request) = Request::parse(&words) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let task = TASKS.iter().find(|task| task.name == request.task);
    let measured = match task {
        _ if request.task == CALLS => calls::measure(&request.engine, request.reps),
        _ if request.task == TOGETHER => calls::together(&request.engine, request.reps),
        Some(task) => request.measure(task),
        None => return ExitCode::from(3),
    };
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

struct Request {
    task: String,
    reps: usize,
    engine: Engine,
}

impl Request {
    fn parse(words: &[String]) -> Option<Request> {
        let (task, reps) = (words.first()?.clone(), words.get(1)?.parse().ok()?);
        let mut builder = Engine::builder();
        let mut rest = words[2..].iter();
        while let Some(option) = rest.next() {
            let value = rest.next()?;
            builder = match option.as_str() {
                "--threads" => builder.threads(value.parse().ok()?),
                "--backend" => builder.backend(value.parse().ok()?),
                "--cpu" => builder.cpu(value.parse().ok()?),
                _ => return None,
            };
        }
        Some(Request { task, reps, engine: builder.build() })
    }

    fn measure(&self, task: &Task) -> Result<(), galopvm::Error> {
        let program = Program::from_source(task.program, task.source)?;
        let mut session = self.engine.session(&program);
        let start = Instant::now();
        let inputs = (task.inputs)(&session)?;
        println!("GEN {:.3}", milliseconds(start));
        let untimed = (self.reps > 0) as usize;
        for run in 0..self.reps.max(1) + untimed {
            let arguments = inputs.clone();
            let start = Instant::now();
            let results = session.call_values("main", arguments)?;
            let time = milliseconds(start);
            if run >= untimed {
                println!("RESULT {} {time:.6}", checksum(&results));
            }
        }
        if let Some(traffic) = session.engine().traffic() {
            eprintln!("{traffic}");
        }
        Ok(())
    }
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// The sum over results k of (k + 1) * the sum over elements i of value * (i mod 101 + 1).
fn checksum(results: &[Value]) -> String {
    let (mut whole, mut real) = (0u64, 0f64);
    let is_float = results.iter().any(|r| r.elem().is_float());
    for (k, result) in results.iter().enumerate() {
        let factor = k as u64 + 1;
        let (mut whole_sum, mut real_sum) = (0u64, 0f64);
        let mut add = |i: usize, bits: u64| {
            let value = galopvm::Scalar::new(result.elem(), bits);
            let weight = (i % 101) as u64 + 1;
            if is_float {
                real_sum += value.as_f64() * weight as f64;
            } else {
                whole_sum = whole_sum.wrapping_add((value.as_i64() as u64).wrapping_mul(weight));
            }
        };
        match result {
            Value::Scalar(scalar) => add(0, scalar.bits),
            Value::Array(array) => array.iter_bits().enumerate().for_each(|(i, bits)| add(i, bits)),
        }
        whole = whole.wrapping_add(factor.wrapping_mul(whole_sum));
        real += factor as f64 * real_sum;
    }
    if is_float { format!("{real:.17e}") } else { whole.to_string() }
}
