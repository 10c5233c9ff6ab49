//! Sessions: calls of a program's entry points.

use crate::canceller::Canceller;
use crate::convert::{Arguments, Results};
use crate::engine::Engine;
use crate::error::{Error, guarded, of_trap};
use crate::program::Program;
use galopvm_bytecode::{Entry, ValueType, VerifiedModule};
use galopvm_runtime::{
    Array, Element, Limits, Memory, MemoryStats, Options, PlanFigures, ShadowFigures, SiteReport, Switch,
    Value,
};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Calls of a program.
///
/// ```
/// use galopvm::{Array, Engine, Error, Limits, Program, Value, scalar};
/// use std::sync::{Arc, atomic::Ordering};
/// use std::time::Duration;
///
/// # fn main() -> Result<(), Error> {
/// let program = Program::from_source("steps.fut", "
///     entry scale [n][m] (a: f64) (xs: [n][m]f64) = map (map (* a)) xs
///     entry spin (n: i64): i64 = loop x = 0 for i < n do (x ^ i) + 1
///     entry steps: i64 = #[param(steps)] 10")?;
/// let engine = Engine::new();
/// let mut session = engine.session(&program);
///
/// // Arrays of any rank: copied, given, looked at where they are.
/// let owner: Arc<[f64]> = Arc::from([1.0, 2.0, 3.0, 4.0]);
/// for xs in [
///     session.array(&owner, &[2, 2])?,
///     session.give(owner.to_vec(), &[2, 2])?,
///     session.borrow(owner.clone(), &[2, 2])?,
/// ] {
///     let scaled: Array = session.call("scale", (10.0, &xs))?;
///     assert_eq!(scaled.as_slice::<f64>(), Some(&[10.0, 20.0, 30.0, 40.0][..]));
/// }
/// // The same elements transposed.
/// let turned = session.borrow_view(owner.clone(), 0, &[2, 2], &[1, 2])?;
/// let scaled: Array = session.call("scale", (1.0, turned))?;
/// assert_eq!(scaled.to_vec::<f64>().unwrap(), [1.0, 3.0, 2.0, 4.0]);
///
/// // Hosts that know types only when they run have values of the machine.
/// let entry = session.entry("spin")?.clone();
/// assert_eq!(session.argument_types(&entry)[0].to_string(), "i64");
/// let results = session.call_values("spin", vec![Value::Scalar(scalar(3i64))])?;
/// assert_eq!(results.len(), 1);
///
/// // A tuning parameter, a bound, and another thread that ends a call.
/// session.set_param("steps", 25)?;
/// assert_eq!(session.call::<i64>("steps", ())?, 25);
/// session.set_limits(Limits { timeout: Some(Duration::from_millis(20)), ..Limits::default() });
/// assert!(session.call::<i64>("spin", (i64::MAX,)).is_err());
/// session.set_limits(Limits::default());
/// let stop = session.interrupt_flag();
/// let other = std::thread::spawn({
///     let stop = stop.clone();
///     move || {
///         std::thread::sleep(Duration::from_millis(20));
///         stop.store(true, Ordering::Relaxed);
///     }
/// });
/// assert!(session.call::<i64>("spin", (i64::MAX,)).is_err());
/// other.join().unwrap();
/// stop.store(false, Ordering::Relaxed);
///
/// // What there is to know of it.
/// assert!(session.memory_stats().peak_bytes > 0 && session.memory().stats().allocations > 0);
/// println!("{} operators, {} analyses asked", session.sites().len(), session.analysis_figures().len());
/// assert_eq!(session.module().module().entries.len(), 3);
/// assert!(!session.engine().checks() && session.shadow_figures().is_none());
/// # Ok(())
/// # }
/// ```
///
/// A program with memory, limits and what was compiled of it. It can be sent to another thread; each thread that calls at the same
/// time as others has a session of its own, of one engine and one program.
pub struct Session {
    inner: galopvm_runtime::Session,
    engine: Engine,
    /// A call ended in an internal error: nothing is known of the state.
    broken: bool,
}

impl Session {
    pub(crate) fn new(engine: &Engine, program: &Program, memory: Memory) -> Session {
        let options = Options {
            limits: engine.limits().clone(),
            memory: Some(memory),
            tiering: engine.tiering(),
            switches: engine.switches(),
            check: engine.checks(),
            costs: engine.lazy_costs(),
            trace: engine.trace(),
            explain: engine.explain(),
            moments: engine.moments(),
            shows: engine.shows(),
            ..Options::default()
        };
        Session {
            inner: galopvm_runtime::Session::new(program.module().clone(), options),
            engine: engine.clone(),
            broken: false,
        }
    }

    /// Calls an entry point with values of Rust types.
    pub fn call<R: Results>(&mut self, entry: &str, arguments: impl Arguments) -> Result<R, Error> {
        let arguments = arguments.into_values(self.inner.memory())?;
        R::from_values(self.call_values(entry, arguments)?)
    }

    /// Calls an entry point with values of the machine.
    pub fn call_values(&mut self, entry: &str, arguments: Vec<Value>) -> Result<Vec<Value>, Error> {
        if self.broken {
            let message = "an earlier call in this session ended in one; make a new session";
            return Err(Error::Internal(message.into()));
        }
        let Session { inner, engine, .. } = self;
        let outcome = guarded(|| Ok(engine.with_threads(|| inner.call(entry, arguments))?));
        self.broken = matches!(outcome, Err(Error::Internal(_)));
        outcome
    }

    /// Gives a tuning parameter of the program, `#[param(name)]`, a value for further calls. It is an error if the
    /// program has none of this name.
    pub fn set_param(&mut self, name: &str, value: i64) -> Result<(), Error> {
        if self.inner.set_param(name, value) {
            return Ok(());
        }
        let known = self.inner.module().module().params().join(", ");
        let known =
            if known.is_empty() { "the program has none".into() } else { format!("there are {known}") };
        Err(Error::Type(format!("There is no tuning parameter `{name}`: {known}.")))
    }

    /// The entry point of this name, or the error that says which there are.
    pub fn entry(&self, name: &str) -> Result<&Entry, Error> {
        Ok(self.inner.entry(name)?)
    }

    /// The bytecode of the program.
    pub fn module(&self) -> &VerifiedModule {
        self.inner.module()
    }

    /// The types of the values that an entry point takes.
    pub fn argument_types(&self, entry: &Entry) -> Vec<ValueType> {
        let function = self.inner.module().module().functions.get(entry.function);
        function.map_or(Vec::new(), |f| f.params.iter().map(|p| f.regs[*p]).collect())
    }

    /// An array of any rank from its elements in row-major order, which are copied.
    pub fn array<T: Element>(&self, elements: &[T], shape: &[i64]) -> Result<Array, Error> {
        Array::from_slice(self.inner.memory(), elements, shape).map_err(of_trap)
    }

    /// An array of any rank from a vector of its elements in row-major order, without a copy. The vector becomes the array's
    /// memory: a call that consumes the array writes in it, and [`Array::into_vec`] gives it back.
    pub fn give<T: Element>(&self, elements: Vec<T>, shape: &[i64]) -> Result<Array, Error> {
        Array::from_vec(elements, shape).map_err(of_trap)
    }

    /// An array of any rank of elements in row-major order that somebody else owns, without a copy: `Arc<[T]>`, `Vec<T>`, or
    /// whatever shows them as a slice. The owner is held as long as the array, or a result that lies in it, is there. Its elements are
    /// never written: a call that consumes the array copies it first.
    pub fn borrow<T: Element>(
        &self,
        owner: impl AsRef<[T]> + Send + Sync + 'static,
        shape: &[i64],
    ) -> Result<Array, Error> {
        Array::lent(owner, shape).map_err(of_trap)
    }

    /// A view of elements that somebody else owns, as [`Session::borrow`]: the first element is number `first` of them, and
    /// `strides` are the distances between neighbours in each dimension, in elements. So transposed, reversed and cut out arrays are
    /// taken as they are.
    pub fn borrow_view<T: Element>(
        &self,
        owner: impl AsRef<[T]> + Send + Sync + 'static,
        first: i64,
        shape: &[i64],
        strides: &[i64],
    ) -> Result<Array, Error> {
        Array::lent_view(owner, first, shape, strides).map_err(of_trap)
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The memory that values live in.
    pub fn memory(&self) -> &Memory {
        self.inner.memory()
    }

    /// Figures of the memory.
    pub fn memory_stats(&self) -> MemoryStats {
        self.inner.memory().stats()
    }

    /// What each analysis that is asked while a program runs cost and gave so far, by its switch.
    pub fn analysis_figures(&self) -> Vec<(Switch, PlanFigures)> {
        self.inner.analysis_figures()
    }

    /// What the execution that checks calls did so far, if there is one ([`EngineBuilder::check`](crate::EngineBuilder::check)).
    pub fn shadow_figures(&self) -> Option<ShadowFigures> {
        self.inner.shadow_figures()
    }

    /// What is known of each parallel operator, in the order of the code: figures, kernels, plans, compiled code.
    pub fn sites(&self) -> Vec<SiteReport> {
        self.inner.sites()
    }

    /// Changes the limits of further calls.
    pub fn set_limits(&mut self, limits: Limits) {
        self.inner.set_limits(limits);
    }

    /// What ends further calls, besides the session's own flag.
    pub fn set_cancellers<'c>(&mut self, cancellers: impl IntoIterator<Item = &'c Canceller>) {
        self.inner.set_cancellers(cancellers.into_iter().map(Canceller::flag).collect());
    }

    /// A flag that, once set from any thread, ends the running call with an error. It stays set until it is
    /// taken back. Where one call is to be ended and no other, [`Session::set_cancellers`] is what is wanted.
    pub fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.inner.interrupt_flag()
    }
}
