//! Programs and their entry points, as objects.

use crate::convert::{Place, argument, result};
use crate::error::exception;
use crate::forks;
use crate::options::Options;
use crate::parts::Parts;
use crate::run::{Known, call};
use crate::told::{self, Told};
use galopvm::program::{is_bytecode, read, source_text};
use galopvm::{Engine, EntryValue, Limits, Memory, Session, Value, ValueType};
use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyMappingProxy, PyTuple};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sessions that are kept for further calls.
const KEPT: usize = 16;

/// What all entry points of a program use.
struct Shared {
    options: Options,
    limits: Limits,
    program: galopvm::Program,
    /// What messages call the program.
    name: String,
    /// The text that it was compiled from, if it was compiled here.
    source: Option<String>,
    /// Made when it is asked for, so that what is pickled together has it once.
    bytecode: PyOnceLock<Py<PyBytes>>,
    /// Only looked at with Python's lock, so that it is free in a child of the process.
    executing: Mutex<Executing>,
}

/// What executes the calls of one process.
struct Executing {
    process: usize,
    engine: Engine,
    memory: Memory,
    /// Sessions that nobody uses now: calls from several threads at the same time have one each. They are large, and go to and fro.
    idle: Vec<Box<Session>>,
}

/// The bytecode, and the options.
type Carried<'py> = (Bound<'py, PyBytes>, Bound<'py, PyDict>);

/// A function, and what it is called with to make an object again.
type Reduced<'py, Arguments> = PyResult<(Bound<'py, PyAny>, Arguments)>;

impl Shared {
    /// What executes calls in this process. What a child has of its parent waits for threads that it has not.
    fn executing(&self) -> PyResult<MutexGuard<'_, Executing>> {
        // All in it is whole between any two statements.
        let mut executing = self.executing.lock().unwrap_or_else(PoisonError::into_inner);
        let process = forks::count();
        if executing.process != process {
            let (engine, _) = self.options.builder(true)?;
            let new =
                Executing { process, engine: engine.build(), memory: Memory::default(), idle: Vec::new() };
            // Dropping it might wait as well.
            std::mem::forget(std::mem::replace(&mut *executing, new));
        }
        Ok(executing)
    }

    fn session(&self) -> PyResult<Box<Session>> {
        let mut executing = self.executing()?;
        let idle = executing.idle.pop();
        let new = || Box::new(executing.engine.session_in(&self.program, executing.memory.clone()));
        Ok(idle.unwrap_or_else(new))
    }

    fn keep(&self, session: Box<Session>) -> PyResult<()> {
        let mut executing = self.executing()?;
        if executing.idle.len() < KEPT {
            executing.idle.push(session);
        }
        Ok(())
    }

    fn bytecode<'py>(&self, py: Python<'py>) -> &Bound<'py, PyBytes> {
        self.bytecode.get_or_init(py, || PyBytes::new(py, &self.program.to_bytecode()).unbind()).bind(py)
    }

    /// A function of `galopvm.carried`, and what it makes the program of again in another process.
    fn carried<'py>(&self, py: Python<'py>, function: &str) -> Reduced<'py, Carried<'py>> {
        let function = py.import("galopvm.carried")?.getattr(function)?;
        Ok((function, (self.bytecode(py).clone(), self.options.given(py)?)))
    }
}

/// A compiled program. Each entry point is an attribute that can be called; `entries` has all of them by name.
#[pyclass(frozen, weakref, module = "galopvm")]
pub struct Program {
    shared: Arc<Shared>,
    entries: Py<PyDict>,
}

/// An entry point: called with its arguments in order, or by the names of its parameters.
#[pyclass(frozen, weakref, module = "galopvm")]
pub struct Entry {
    shared: Arc<Shared>,
    name: String,
    params: Vec<Place>,
    results: Vec<Place>,
    known: Known,
}

impl Program {
    fn new(
        py: Python<'_>,
        program: galopvm::Program,
        (name, source): (String, Option<String>),
        options: Options,
    ) -> PyResult<Program> {
        let process = forks::count();
        let (engine, limits) = options.builder(process > 0)?;
        let executing =
            Executing { process, engine: engine.build(), memory: Memory::default(), idle: Vec::new() };
        let executing = Mutex::new(executing);
        let shared = Arc::new(Shared {
            options,
            limits,
            program,
            name,
            source,
            bytecode: PyOnceLock::new(),
            executing,
        });
        let entries = PyDict::new(py);
        for entry in shared.program.entries() {
            entries.set_item(&entry.name, Entry::new(py, &shared, entry)?)?;
        }
        Ok(Program { shared, entries: entries.unbind() })
    }
}

/// The places of parameters or results, whose values have these types.
fn places(py: Python<'_>, values: &[EntryValue], types: &[ValueType]) -> PyResult<Vec<Place>> {
    let mut types = types.iter().copied();
    let place = |(number, value): (usize, &EntryValue)| {
        let count = value.values as usize;
        let parts = Parts::of(py, &value.ty, &types.by_ref().take(count).collect::<Vec<_>>())?;
        let name =
            if value.name.is_empty() { format!("argument {}", number + 1) } else { value.name.clone() };
        Ok(Place { name, ty: value.ty.clone(), parts })
    };
    values.iter().enumerate().map(place).collect()
}

impl Entry {
    fn new(py: Python<'_>, shared: &Arc<Shared>, entry: &galopvm::Entry) -> PyResult<Entry> {
        let function = shared.program.module().module().functions.get(entry.function);
        let params: Vec<ValueType> =
            function.map_or(Vec::new(), |f| f.params.iter().map(|p| f.regs[*p]).collect());
        let results: Vec<ValueType> = function.map_or(Vec::new(), |f| f.results.clone());
        Ok(Entry {
            shared: shared.clone(),
            name: entry.name.clone(),
            params: places(py, &entry.params, &params)?,
            results: places(py, &entry.results, &results)?,
            known: Known::default(),
        })
    }

    /// The arguments in order, given by place or by name.
    fn arguments(
        &self,
        given: &Bound<'_, PyTuple>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Vec<Value>> {
        let mut values = Vec::with_capacity(self.params.len());
        let by_place = given.len();
        let by_name = named.map_or(0, |named| named.len());
        if by_place + by_name != self.params.len() {
            return Err(PyTypeError::new_err(format!(
                "{}() takes {} arguments ({}), {} are given",
                self.name,
                self.params.len(),
                self.params.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", "),
                by_place + by_name
            )));
        }
        for (number, place) in self.params.iter().enumerate() {
            if number < by_place {
                argument(&given.get_item(number)?, place, &mut values)?;
                continue;
            }
            let found = named.map(|named| named.get_item(&place.name)).transpose()?.flatten();
            let Some(found) = found else {
                return Err(PyTypeError::new_err(format!(
                    "{}() needs the argument `{}`",
                    self.name, place.name
                )));
            };
            argument(&found, place, &mut values)?;
        }
        Ok(values)
    }

    fn told(&self) -> Told<'_> {
        let Shared { options, limits, program, name, source, .. } = &*self.shared;
        Told { options, limits, program, name, source: source.as_deref(), entry: &self.name }
    }

    fn signature(&self) -> String {
        let params: Vec<String> = self.params.iter().map(|p| format!("{}: {}", p.name, p.ty)).collect();
        let results: Vec<&str> = self.results.iter().map(|r| r.ty.as_str()).collect();
        let results =
            if let [result] = results[..] { result.to_string() } else { format!("({})", results.join(", ")) };
        format!("{}({}) -> {results}", self.name, params.join(", "))
    }
}

#[pymethods]
impl Entry {
    #[pyo3(signature = (*arguments, **named))]
    fn __call__(
        &self,
        py: Python<'_>,
        arguments: &Bound<'_, PyTuple>,
        named: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let arguments = self.arguments(arguments, named)?;
        let mut session = self.shared.session()?;
        let outcome = call(py, &mut session, &self.shared.limits, &self.name, &arguments, &self.known);
        // A session with a mistake takes no more calls.
        if !outcome.as_ref().is_err_and(|e| e.is_instance_of::<pyo3::exceptions::PyRuntimeError>(py)) {
            self.shared.keep(session)?;
        }
        drop(arguments);
        let mut values = outcome?.into_iter();
        if let [place] = &self.results[..] {
            return result(py, &place.parts, &mut values);
        }
        let results: Vec<_> = self
            .results
            .iter()
            .map(|place| result(py, &place.parts, &mut values))
            .collect::<PyResult<_>>()?;
        Ok(PyTuple::new(py, results)?.into_any().unbind())
    }

    /// Calls the entry point with these arguments and tells what was decided, and why: an `Explanation`, which shows itself.
    ///
    /// It is executed in an engine of its own, as if it was the first call.
    #[pyo3(signature = (*arguments, **named))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arguments = self.arguments(arguments, named)?;
        told::explanation(py, &self.told(), &arguments)
    }

    /// Calls the entry point with these arguments and tells where the time goes, and why: a `Profile`, which shows itself.
    ///
    /// It is executed in an engine of its own: once, as if it was the first call, or, with `runs`, so many times after a first one
    /// that is not measured. A parameter that is called `runs` itself is given by its place.
    #[pyo3(signature = (*arguments, runs=None, **named))]
    fn profile<'py>(
        &self,
        py: Python<'py>,
        arguments: &Bound<'py, PyTuple>,
        runs: Option<u32>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let arguments = self.arguments(arguments, named)?;
        told::profile(py, &self.told(), &arguments, runs)
    }

    /// The name of the entry point.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The name of the entry point.
    #[getter]
    fn __name__(&self) -> &str {
        &self.name
    }

    /// Names and types of the parameters, as the source writes them; `*` in front of a type that is consumed.
    #[getter]
    fn params(&self) -> Vec<(&str, &str)> {
        self.params.iter().map(|p| (p.name.as_str(), p.ty.as_str())).collect()
    }

    /// Types of the results, as the source writes them.
    #[getter]
    fn results(&self) -> Vec<&str> {
        self.results.iter().map(|r| r.ty.as_str()).collect()
    }

    /// What messages call the program, its source if that is known, and the options: what further programs are made of.
    #[getter]
    fn _origin<'py>(&self, py: Python<'py>) -> PyResult<(&str, Option<&str>, Bound<'py, PyDict>)> {
        let Shared { name, source, options, .. } = &*self.shared;
        Ok((name, source.as_deref(), options.given(py)?))
    }

    /// What `inspect.signature` and the help of prompts show. A parameter whose name Python cannot write is called by its number.
    #[getter]
    fn __signature__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let inspect = py.import("inspect")?;
        let class = inspect.getattr("Parameter")?;
        let kind = class.getattr("POSITIONAL_OR_KEYWORD")?;
        let parameter = |(number, place): (usize, &Place)| {
            let named = class.call1((&place.name, &kind));
            named.or_else(|_| class.call1((format!("_{}", number + 1), &kind)))
        };
        let parameters: Vec<_> = self.params.iter().enumerate().map(parameter).collect::<PyResult<_>>()?;
        inspect.call_method1("Signature", (parameters,))
    }

    fn __repr__(&self) -> String {
        format!("<galopvm entry {}>", self.signature())
    }

    /// Pickled as its program and its name.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> Reduced<'py, (Bound<'py, PyBytes>, Bound<'py, PyDict>, &str)> {
        let (function, (code, options)) = self.shared.carried(py, "entry")?;
        Ok((function, (code, options, &self.name)))
    }
}

#[pymethods]
impl Program {
    /// All entry points by name, in the order of the source.
    #[getter]
    fn entries<'py>(&self, py: Python<'py>) -> Bound<'py, PyMappingProxy> {
        PyMappingProxy::new(py, self.entries.bind(py).as_mapping())
    }

    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        let entries = self.entries.bind(py);
        entries.get_item(name)?.map(Bound::unbind).ok_or_else(|| {
            let names: Vec<&str> = self.shared.program.entries().iter().map(|e| e.name.as_str()).collect();
            PyAttributeError::new_err(format!(
                "there is no entry point `{name}`; there are {}",
                names.join(", ")
            ))
        })
    }

    fn __dir__(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let mut names: Vec<String> = self.entries.bind(py).keys().extract()?;
        names.extend(["entries", "warnings", "memory", "stats", "to_bytecode"].map(String::from));
        Ok(names)
    }

    /// Warnings of the compilation as people read them, or None.
    #[getter]
    fn warnings(&self) -> Option<String> {
        self.shared.program.warnings().map(|messages| messages.render(false))
    }

    /// Figures of the memory of the program's values; what NumPy lends is not in them.
    #[getter]
    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        told::memory_figures(&self.shared.executing()?.memory).into_py_dict(py)
    }

    /// What calls did so far: a `Stats`, which shows itself. Calls that run now are not in it, and not those of other processes.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let executing = self.shared.executing()?;
        told::stats(py, &executing.engine, &executing.memory, &executing.idle)
    }

    /// The bytes of a `.gbc` file, which `galopvm.from_bytecode` and `galopvm.load` take.
    fn to_bytecode<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.shared.bytecode(py).clone()
    }

    /// Pickled as its bytecode and options.
    fn __reduce__<'py>(&self, py: Python<'py>) -> Reduced<'py, Carried<'py>> {
        self.shared.carried(py, "program")
    }

    fn __repr__(&self) -> String {
        let names: Vec<&str> = self.shared.program.entries().iter().map(|e| e.name.as_str()).collect();
        format!("<galopvm program with {}>", names.join(", "))
    }
}

macro_rules! makers {
    ($($(#[$doc:meta])* fn $name:ident($first:ident: $ty:ty, $($second:ident: $second_ty:ty = $default:expr)?) $make:block)+) => {$(
        $(#[$doc])*
        #[pyfunction]
        #[pyo3(signature = ($first, *, $($second = $default,)? backend=None, cpu=None, threads=None, memory_limit=None, fuel=None, timeout=None))]
        #[expect(clippy::too_many_arguments, reason = "they are keywords")]
        pub fn $name(
            py: Python<'_>,
            $first: $ty,
            $($second: $second_ty,)?
            backend: Option<String>,
            cpu: Option<String>,
            threads: Option<usize>,
            memory_limit: Option<u64>,
            fuel: Option<u64>,
            timeout: Option<f64>,
        ) -> PyResult<Program> {
            let options = Options { backend, cpu, threads, memory_limit, fuel, timeout };
            let (program, called) = py.detach(|| $make).map_err(|error| exception(&error))?;
            Program::new(py, program, called, options)
        }
    )+};
}

makers! {
    /// Compiles source text. `name` is what messages call it; imports are looked for from its folder.
    ///
    /// `backend` is what executes parallel work ("auto", "interp", "vector", "x86", ..), `cpu` the greatest instruction set ("scalar",
    /// "avx2", "avx512"), `threads` the number of worker threads, `memory_limit` the bytes that the program's values may take,
    /// `fuel` the operations that one call may execute in the interpreter, and `timeout` the seconds that one call may take.
    fn compile(source: String, name: String = "source.fut".to_string()) {
        galopvm::Program::from_source(&name, &source).map(|program| (program, (name, Some(source))))
    }

    /// The program in a file: source, or bytecode. Options are those of `compile`.
    fn load(path: PathBuf,) {
        let (name, bytes) = (path.display().to_string(), read(&path)?);
        if is_bytecode(&bytes) {
            let program = galopvm::Program::from_bytecode(&name, &bytes)?;
            return Ok((program, (name, None)));
        }
        let source = source_text(&name, &bytes)?;
        let program = galopvm::Program::from_source(&name, source)?;
        Ok((program, (name, Some(source.to_string()))))
    }

    /// The program of the bytes of a `.gbc` file. Options are those of `compile`.
    fn from_bytecode(data: Vec<u8>, name: String = "bytecode.gbc".to_string()) {
        galopvm::Program::from_bytecode(&name, &data).map(|program| (program, (name, None)))
    }
}
