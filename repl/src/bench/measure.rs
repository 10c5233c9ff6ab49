//! The runs of one case.

use super::statistics::{autocorrelation, relative_error, standard_error};
use crate::failure::message;
use crate::spec::{Case, Data};
use crate::test::difference;
use crate::values::Types;
use galopvm::{Memory, Program, Session, Value};
use std::path::Path;
use std::time::{Duration, Instant};

/// Least time that a case is measured.
const LEAST: Duration = Duration::from_millis(500);

/// Times are not certain if they depend on the one before by more than the first number while the error of the mean is
/// greater than the second. These are the limits that `futhark bench` counts with.
const UNCERTAIN: [(f64, f64); 5] =
    [(0.95, 0.001), (0.75, 0.0015), (0.65, 0.0025), (0.45, 0.005), (0.0, 0.01)];

/// Errors of a mean that are not worth more runs, in microseconds.
const RESOLUTION: f64 = 0.1;

/// Runs after which no more are made to be certain.
const MOST: usize = 100_000;

/// How often a case is run.
pub struct Runs {
    /// Least runs.
    pub least: u32,
    /// Most time for runs after these, until the mean is certain; none are made without.
    pub converge: Option<Duration>,
    /// Most time for all runs.
    pub most: Option<Duration>,
}

impl Runs {
    /// The times of the runs of a case, in microseconds. The results of the first run, which does not count, are compared with
    /// those that the case expects.
    pub fn of(
        &self,
        session: &mut Session,
        program: &Program,
        path: &Path,
        case: &Case,
    ) -> Result<Vec<u64>, String> {
        let data = Data { program: path };
        let dataset = data.arguments(session, case)?;
        let memory = session.memory().clone();
        let types = Types::of(program.module(), None);
        let entry = types.entries().iter().find(|entry| entry.name == case.entry);
        let consumes = entry.is_some_and(|entry| entry.params.iter().any(|(consumed, _)| *consumed));
        let mut runs = Measuring { session, case, values: &dataset.values, memory: memory.clone(), consumes };
        let (first, _) = runs.run()?;
        if let Some(expected) = data.expected(&memory, case)? {
            difference::compare(&first, &expected)?;
        }
        drop(first);
        let start = Instant::now();
        let in_time = || match self.most {
            Some(most) if start.elapsed() > most => {
                Err(format!("The runs took longer than their time of {most:?}."))
            }
            _ => Ok(()),
        };
        let mut times = Vec::new();
        while times.len() < self.least as usize || start.elapsed() < LEAST {
            times.push(runs.run()?.1);
            in_time()?;
        }
        let Some(most) = self.converge else { return Ok(times) };
        let converging = Instant::now();
        let mut wanted = times.len();
        while uncertain(&times) && converging.elapsed() < most {
            // Runs at the beginning are often slower: half of them go, and as many come.
            times.drain(..times.len() / 2);
            wanted += wanted / 2;
            while times.len() < wanted && converging.elapsed() < most {
                times.push(runs.run()?.1);
                in_time()?;
            }
        }
        Ok(times)
    }
}

fn uncertain(times: &[u64]) -> bool {
    // Whole microseconds say no more.
    if standard_error(times) < RESOLUTION || times.len() > MOST {
        return false;
    }
    let (depends, error) = (autocorrelation(times), relative_error(times));
    UNCERTAIN.iter().any(|(most_dependent, most_error)| depends > *most_dependent && error > *most_error)
}

/// A case under way.
struct Measuring<'m> {
    session: &'m mut Session,
    case: &'m Case,
    values: &'m [Value],
    memory: Memory,
    /// Whether a run may write over what it is given.
    consumes: bool,
}

impl Measuring<'_> {
    /// The results of a run, and its microseconds.
    fn run(&mut self) -> Result<(Vec<Value>, u64), String> {
        let copied = |value: &Value| match value {
            Value::Array(array) if self.consumes => {
                array.copy(&self.memory).map(Value::Array).map_err(|trap| trap.to_string())
            }
            value => Ok(value.clone()),
        };
        let values: Result<Vec<Value>, String> = self.values.iter().map(copied).collect();
        let values = values?;
        let start = Instant::now();
        let results = self.session.call_values(&self.case.entry, values);
        let micros = start.elapsed().as_micros();
        let results = results.map_err(|error| message(&error))?;
        Ok((results, u64::try_from(micros).unwrap_or(u64::MAX)))
    }
}
