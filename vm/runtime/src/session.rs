//! Sessions: a program with memory, limits, and an interrupt flag.

use crate::costs::LazyCosts;
use crate::optimizer::{Advices, Holding, Layouts, Optimizer, Plans};
use crate::shadow::{Shadow, ShadowFigures};
use crate::switches::{Switch, Switches};
use galopvm_bytecode::{Entry, FuncId, VerifiedModule};
use galopvm_data::Value;
use galopvm_interp::{Forms, Host, Inner, Interpreter, Limits, Prepared, Rooms, Setup, ShowSink, stack};
use galopvm_lift::region::Code;
use galopvm_store::array::Array;
use galopvm_store::error::{ErrorKind, RuntimeError, Trap};
use galopvm_store::memory::{Block, DEVICE_LOST, Losses, Memory, SHORTENED};
use galopvm_store::stop::Stop;
use galopvm_tier::{
    Coverage, ExplainSink, Met, MomentSink, Moments, PlanFigures, SiteReport, Tiering, Tiers, TraceSink,
};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How a session is to be set up.
#[derive(Clone, Default)]
pub struct Options {
    /// Bounds of each call from outside.
    pub limits: Limits,
    /// The memory to use; by default one of its own.
    pub memory: Option<Memory>,
    /// When operators are compiled, and by whom; by default never.
    pub tiering: Tiering,
    /// What makes programs faster and may be done; by default all.
    pub switches: Switches,
    /// Analyses are asked, and fast ways of executing taken, however little there is to gain: tests want to see what they do.
    pub eager: bool,
    /// Every call is executed a second time without any decision about memory, and all that is read is compared: tests
    /// want to know where something goes wrong. A difference ends the call with [`ErrorKind::Defect`].
    pub check: bool,
    /// What decisions count with.
    pub costs: LazyCosts,
    /// Receives one event for everything that happens at parallel operators.
    pub trace: Option<TraceSink>,
    /// Receives what is found out about functions, loops and operators, and what is decided.
    pub explain: Option<ExplainSink>,
    /// Receives what a call is doing, as it begins and as it ends.
    pub moments: Option<MomentSink>,
    /// Receives what the program shows; by default nobody does.
    pub shows: Option<ShowSink>,
}

/// What a call has that a limit of time may end.
struct During {
    stop: Stop,
    memory: Memory,
}

/// A loaded program and everything that executing it needs. It can be sent to another thread; calls are one at a time.
pub struct Session {
    module: VerifiedModule,
    prepared: Prepared,
    code: Code,
    memory: Memory,
    /// How many threads work is divided among.
    threads: usize,
    limits: Limits,
    switches: Switches,
    eager: bool,
    shadow: Option<Box<Shadow>>,
    interrupt: Arc<AtomicBool>,
    /// Flags of further calls alone.
    cancellers: Vec<Arc<AtomicBool>>,
    /// That of the last call, if it came to its end and had no limit of time.
    during: Option<During>,
    tiers: Tiers,
    rooms: Rooms,
    plans: Plans,
    layouts: Layouts,
    advices: Advices,
    costs: LazyCosts,
    params: Vec<(String, i64)>,
    shows: Option<ShowSink>,
}

impl Session {
    /// Loads a program.
    pub fn new(module: VerifiedModule, options: Options) -> Session {
        let prepare = || (Prepared::new(module.module()), Code::new(module.module()));
        let (prepared, code) = stack::with_room(prepare).unwrap_or_else(prepare);
        let memory = options.memory.unwrap_or_default();
        if options.limits.memory.is_some() {
            memory.set_budget(options.limits.memory);
        }
        let (switches, threads) = (options.switches, options.tiering.machine.threads);
        let tiering = if switches.jit { options.tiering } else { Tiering::interpreter() };
        let mut tiers = Tiers::new(module.clone(), &prepared.sites, tiering, options.trace, options.explain);
        tiers.moments = Moments::new(options.moments);
        Session {
            module,
            prepared,
            code,
            memory,
            threads,
            limits: options.limits,
            switches,
            eager: options.eager,
            shadow: options.check.then(Box::default),
            interrupt: Arc::default(),
            cancellers: Vec::new(),
            during: None,
            tiers,
            rooms: Rooms::default(),
            plans: Plans::default(),
            layouts: Layouts::default(),
            advices: Advices::default(),
            costs: options.costs,
            params: Vec::new(),
            shows: options.shows,
        }
    }

    /// The program.
    pub fn module(&self) -> &VerifiedModule {
        &self.module
    }

    /// The memory that values live in.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// A flag that, once set, ends the running call with an error. It stays set until it is taken back.
    pub fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }

    /// Flags that end further calls as well as the session's own.
    pub fn set_cancellers(&mut self, cancellers: Vec<Arc<AtomicBool>>) {
        self.cancellers = cancellers;
        self.during = None;
    }

    /// Changes the limits of further calls.
    pub fn set_limits(&mut self, limits: Limits) {
        self.memory.set_budget(limits.memory);
        self.limits = limits;
    }

    /// Changes what is on for further calls; whether operators are compiled was settled when the session began.
    pub fn set_switches(&mut self, switches: Switches) {
        self.switches = switches.with(Switch::Jit, self.switches.jit);
    }

    /// Gives a tuning parameter of the program a value for further calls; false if it has none of this name.
    pub fn set_param(&mut self, name: &str, value: i64) -> bool {
        if !self.module.module().params().contains(&name) {
            return false;
        }
        self.params.retain(|(other, _)| other != name);
        self.params.push((name.to_string(), value));
        true
    }

    /// The entry point of this name, or the error that says which there are.
    pub fn entry(&self, name: &str) -> Result<&Entry, RuntimeError> {
        let module = self.module.module();
        module.entry(name).ok_or_else(|| {
            let names: Vec<&str> = module.entries.iter().map(|e| e.name.as_str()).collect();
            let known = match names.as_slice() {
                [] => "the program has none".to_string(),
                _ => format!("the program has {}", names.join(", ")),
            };
            RuntimeError::usage(format!("There is no entry point `{name}`: {known}."))
        })
    }

    /// Calls an entry point.
    pub fn call(&mut self, name: &str, args: Vec<Value>) -> Result<Vec<Value>, RuntimeError> {
        let entry = self.entry(name)?;
        let function = entry.function;
        self.check(function, &args, Some(entry))?;
        self.run(function, args)
    }

    /// Calls a function.
    pub fn call_function(&mut self, function: FuncId, args: Vec<Value>) -> Result<Vec<Value>, RuntimeError> {
        if self.module.module().functions.get(function).is_none() {
            return Err(RuntimeError::usage(format!("There is no function {function}.")));
        }
        self.check(function, &args, None)?;
        self.run(function, args)
    }

    /// Whether arguments are as many and of such types as a function takes, which may be that of an entry point.
    fn check(&self, function: FuncId, args: &[Value], entry: Option<&Entry>) -> Result<(), RuntimeError> {
        let function = &self.module.module().functions[function];
        let (given, expected) = (args.len(), function.params.len());
        if given != expected {
            let message = format!("`{}` takes {expected} values, {given} are given.", function.name);
            return Err(RuntimeError::usage(message));
        }
        for (k, (arg, param)) in args.iter().zip(&function.params).enumerate() {
            let ty = function.regs[*param];
            if arg.ty() != ty {
                let params = entry.map_or(&[][..], |entry| &entry.params);
                let mut names = params.iter().flat_map(|p| std::iter::repeat_n(&p.name, p.values as usize));
                let name = names.nth(k).filter(|name| !name.is_empty());
                let name = name.map(|name| format!(" (`{name}`)")).unwrap_or_default();
                let message = format!(
                    "Argument {}{name} of `{}` has type {}, expected {ty}.",
                    k + 1,
                    function.name,
                    arg.ty()
                );
                return Err(RuntimeError::usage(message));
            }
        }
        Ok(())
    }

    fn run(&mut self, function: FuncId, args: Vec<Value>) -> Result<Vec<Value>, RuntimeError> {
        let during = self.during();
        // However little there is to do.
        if let Err(ended) = during.stop.check_flags() {
            self.tiers.coverage.met(ended.kind.into());
            return Err(ended.into());
        }
        let module = self.module.module();
        let arrays = args.iter().filter_map(Value::as_array);
        let files: SmallVec<[Block; 2]> =
            arrays.map(Array::block).filter(|b| b.is_foreign()).cloned().collect();
        // Their owners may have changed them since the last call.
        files.iter().for_each(Block::forget);
        // What is made in the call is of its own memory, and arguments may be of others.
        let losses = self.memory.losses();
        let others = args.iter().filter_map(Value::as_array).filter_map(|array| array.block().losses());
        let others: SmallVec<[(Losses, u64); 1]> = others
            .map(|losses| {
                let before = losses.count();
                (losses, before)
            })
            .collect();
        let During { stop, memory } = &during;
        let forms = Forms { units: self.switches.machine, inner: inner(&self.tiers) };
        let is_watched = self.shadow.is_some() || self.tiers.moments.are_heard();
        let optimizer = Optimizer {
            module,
            code: &self.code,
            memory,
            tiers: &mut self.tiers,
            switches: self.switches,
            forms,
            eager: self.eager,
            costs: &self.costs,
            plans: &mut self.plans,
            layouts: &mut self.layouts,
            advices: &mut self.advices,
            shadow: self.shadow.as_deref_mut(),
            is_watched,
            holding: Holding::default(),
        };
        let setup = Setup {
            module,
            prepared: &self.prepared,
            memory,
            stop,
            limits: &self.limits,
            forms,
            eager: self.eager,
            host: Host { params: &self.params, shows: self.shows.as_ref() },
            rooms: &mut self.rooms,
        };
        let mut interpreter = Interpreter::new(setup, optimizer);
        let ran = stack::with_room(|| interpreter.run(function, args));
        drop(interpreter);
        let outcome = ran.unwrap_or_else(|| Err(stack::no_room().into())).map_err(|error| *error);
        if outcome.is_ok() && self.limits.timeout.is_none() {
            self.during = Some(during);
        }
        if !files.iter().all(Block::is_intact) {
            self.tiers.coverage.met(Met::EndInput);
            return Err(Trap::of_kind(ErrorKind::Input, SHORTENED).into());
        }
        if self.memory.losses() != losses || others.iter().any(|(losses, before)| losses.count() != *before) {
            self.tiers.coverage.met(Met::EndInput);
            return Err(Trap::of_kind(ErrorKind::Input, DEVICE_LOST).into());
        }
        self.tiers
            .coverage
            .met(outcome.as_ref().map_or_else(|error| error.kind.into(), |_| Met::EndFinished));
        outcome
    }

    /// What ends a call that begins now, and its memory: those of the last one, if it can be told that nothing is different.
    fn during(&mut self) -> During {
        let timeout = self.limits.timeout;
        self.during.take().filter(|_| timeout.is_none()).unwrap_or_else(|| {
            let stop = Stop::new(self.interrupt.clone(), timeout).also_by(self.cancellers.clone());
            self.tiers.set_stop(stop.clone());
            let memory = self.memory.for_call(&stop, self.threads);
            During { stop, memory }
        })
    }

    /// What is known of each parallel operator, in the order of the code: figures, kernels, versions.
    pub fn sites(&self) -> Vec<SiteReport> {
        self.tiers.reports()
    }

    /// What the checking execution did so far, if there is one.
    pub fn shadow_figures(&self) -> Option<ShadowFigures> {
        self.shadow.as_ref().map(|shadow| shadow.figures())
    }

    /// Which decisions were met so far, and how often.
    pub fn coverage(&self) -> Coverage {
        let (plans, advices) = (&self.plans.figures, &self.advices.figures);
        let shadow = self.shadow_figures().unwrap_or_default();
        let coverage = self.tiers.coverage.clone();
        for (row, times) in [
            (Met::PlanThorough, plans.thorough),
            (Met::PlanDropped, plans.dropped),
            (Met::HomeTaken, plans.merged),
            (Met::AdviceMade, advices.useful),
            (Met::AdviceNone, advices.made - advices.useful),
            (Met::AdviceUsed, advices.applied),
            (Met::ShadowCompared, shadow.compared),
            (Met::ShadowTakenOver, shadow.taken_over),
            (Met::ShadowGivenUp, shadow.given_up),
        ] {
            coverage.add(row, times);
        }
        coverage
    }

    /// What plans cost and gave so far.
    pub fn plan_figures(&self) -> PlanFigures {
        self.plans.figures
    }

    /// What was wrong with the decision that the checker refused last, in words; nothing if it refused none.
    pub fn violation(&self) -> Option<&str> {
        self.plans.violation.as_deref().or(self.tiers.violation.as_deref())
    }

    /// What each analysis that is asked while a program runs cost and gave so far, by its switch.
    pub fn analysis_figures(&self) -> Vec<(Switch, PlanFigures)> {
        vec![
            (Switch::ShortCircuit, self.plans.figures),
            (Switch::Strategy, self.advices.figures),
            (Switch::Galop, self.layouts.figures),
            (Switch::Reuse, self.tiers.over_figures),
            (Switch::Fusion, self.tiers.fused_figures),
        ]
    }

    /// Sets or takes back the interrupt flag.
    pub fn set_interrupt(&self, set: bool) {
        self.interrupt.store(set, Relaxed);
    }
}

/// What becomes of operators inside units, which back ends do not see.
fn inner(tiers: &Tiers) -> Inner {
    match (tiers.has_backends(), tiers.compiles_all()) {
        (false, _) => Inner::Loops,
        (true, false) => Inner::Short,
        (true, true) => Inner::Nothing,
    }
}
