//! How programs are executed and bounded, as keyword arguments say.

use galopvm::{BackendChoice, CpuMode, EngineBuilder, Limits};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fmt::Display;
use std::time::Duration;

/// Wishes for the engine of a program.
#[derive(Default)]
pub struct Options {
    pub backend: Option<String>,
    pub cpu: Option<String>,
    pub threads: Option<usize>,
    pub memory_limit: Option<u64>,
    pub fuel: Option<u64>,
    pub timeout: Option<f64>,
}

fn named<T: Copy + Display>(all: &[T], name: &str) -> PyResult<T> {
    all.iter().copied().find(|choice| choice.to_string() == name).ok_or_else(|| {
        let names: Vec<String> = all.iter().map(T::to_string).collect();
        PyValueError::new_err(format!("`{name}` is not one of {}", names.join(", ")))
    })
}

impl Options {
    /// The wishes that there are, by their keywords.
    pub fn given<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Options { backend, cpu, threads, memory_limit, fuel, timeout } = self;
        let given = PyDict::new(py);
        backend.iter().try_for_each(|backend| given.set_item("backend", backend))?;
        cpu.iter().try_for_each(|cpu| given.set_item("cpu", cpu))?;
        threads.iter().try_for_each(|threads| given.set_item("threads", threads))?;
        memory_limit.iter().try_for_each(|bytes| given.set_item("memory_limit", bytes))?;
        fuel.iter().try_for_each(|fuel| given.set_item("fuel", fuel))?;
        timeout.iter().try_for_each(|seconds| given.set_item("timeout", seconds))?;
        Ok(given)
    }

    /// What makes the engine, and the bounds of calls. In a child of the process that loaded the package it has threads of its own.
    pub fn builder(&self, is_child: bool) -> PyResult<(EngineBuilder, Limits)> {
        let mut builder = galopvm::Engine::builder();
        if let Some(name) = &self.backend {
            builder = builder.backend(named(&BackendChoice::ALL, name)?);
        }
        if let Some(name) = &self.cpu {
            builder = builder.cpu(named(&CpuMode::ALL, name)?);
        }
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        if let Some(threads) = self.threads.or_else(|| is_child.then(all)) {
            if threads == 0 {
                return Err(PyValueError::new_err("threads must be 1 or more"));
            }
            builder = builder.threads(threads);
        }
        let seconds = |time: f64| {
            Duration::try_from_secs_f64(time).map_err(|e| PyValueError::new_err(format!("timeout: {e}")))
        };
        let limits = Limits {
            memory: self.memory_limit,
            fuel: self.fuel,
            timeout: self.timeout.map(seconds).transpose()?,
            ..Limits::default()
        };
        Ok((builder.limits(limits.clone()), limits))
    }
}
