//! Code that sessions share: what was compiled for one is not compiled again for another.
//!
//! A back end is asked with a *plain* unit ([`Observed::plain`]): what the code may not depend on was taken out of it. So equal plain
//! units have equal code, and it is no matter whose is compiled. The text of a plain unit says all of it, and is what code is
//! looked for by; found code is believed only if the region is the very one, names and numbers included, that launches are checked for.
//!
//! Invariants: of two that ask for the same code at once, one compiles and the other waits. A refusal is kept like code. What nobody
//! asked for longest is given up where there is too much, and lives on with those that use it.

use galopvm_kir::text::print_unit;
use galopvm_kir::{Backend, Compiled, Refusal, Unit, VerifiedRegion};
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Units whose code is kept, at most.
const MOST_KEPT: usize = 512;

/// What a back end made of a unit.
type Made = Result<Arc<dyn Compiled>, Refusal>;

/// The code of the sessions of an engine. Clones are the same.
#[derive(Clone, Default)]
pub struct Kernels(Arc<Shared>);

#[derive(Default)]
struct Shared {
    kept: Mutex<Kept>,
    compiled: AtomicU64,
    shared: AtomicU64,
}

#[derive(Default)]
struct Kept {
    entries: FxHashMap<Key, Entry>,
    /// Requests so far, by which entries are old or new.
    requests: u64,
    given_up: u64,
}

/// A plain unit as text, and the back end by its place in memory, where it is as long as the entry.
type Key = (usize, String);

struct Entry {
    /// Keeps the place of the key from becoming another back end's.
    _backend: Arc<dyn Backend>,
    unit: Arc<Compiling>,
    /// The request that it was found for last.
    last: u64,
}

struct Compiling {
    region: VerifiedRegion,
    made: OnceLock<Made>,
}

/// What was compiled so far, and what was not since it was there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KernelFigures {
    /// Units that a back end was asked to compile.
    pub compiled: u64,
    /// Requests for code that was there, or was being made for somebody else.
    pub shared: u64,
    /// Units whose code was given up to make room.
    pub given_up: u64,
}

impl fmt::Display for KernelFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KernelFigures { compiled, shared, given_up } = self;
        write!(f, "code: {compiled} kernels compiled, {shared} found compiled, {given_up} given up")
    }
}

impl Kernels {
    /// What was compiled and found so far.
    pub fn figures(&self) -> KernelFigures {
        KernelFigures {
            compiled: self.0.compiled.load(Relaxed),
            shared: self.0.shared.load(Relaxed),
            given_up: self.0.kept().given_up,
        }
    }

    /// What a back end makes of a unit, and whether somebody had asked before.
    pub(super) fn compile(&self, backend: &Arc<dyn Backend>, unit: Unit<'_>) -> (Made, bool) {
        let observed = unit.observed.plain();
        let unit = Unit { observed: &observed, ..unit };
        let key = (Arc::as_ptr(backend).cast::<()>() as usize, print_unit(&unit));
        let compiling = self.0.kept().find(key, backend, unit.region);
        let mut is_new = false;
        let mut ask = || {
            is_new = true;
            self.0.compiled.fetch_add(1, Relaxed);
            backend.compile(unit)
        };
        let made = match compiling.region == *unit.region {
            true => compiling.made.get_or_init(ask).clone(),
            false => ask(),
        };
        self.0.shared.fetch_add((!is_new).into(), Relaxed);
        (made, !is_new)
    }
}

impl Shared {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        // What is kept is whole between any two statements.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// What is kept for a plain unit, which is made if there is nothing.
    fn find(&mut self, key: Key, backend: &Arc<dyn Backend>, region: &VerifiedRegion) -> Arc<Compiling> {
        self.requests += 1;
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.last = self.requests;
            return entry.unit.clone();
        }
        if self.entries.len() >= MOST_KEPT {
            let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.last).map(|(key, _)| key.clone());
            self.given_up += u64::from(oldest.and_then(|key| self.entries.remove(&key)).is_some());
        }
        let unit = Arc::new(Compiling { region: region.clone(), made: OnceLock::new() });
        let entry = Entry { _backend: backend.clone(), unit: unit.clone(), last: self.requests };
        self.entries.insert(key, entry);
        unit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_base::Scalar;
    use galopvm_kir::{
        CheckedLaunch, Listing, Machine, Observed, ObservedParam, Plan, RunError, VerifiedPlan,
        verified_from_text,
    };
    use std::time::Duration;

    /// Makes code that does nothing, slowly, and counts how much of it there is.
    #[derive(Default)]
    struct Slow {
        alive: Arc<AtomicU64>,
    }

    struct Nothing(Arc<AtomicU64>);

    impl Drop for Nothing {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Relaxed);
        }
    }

    impl Compiled for Nothing {
        fn run_until(&self, _: CheckedLaunch<'_, '_>, _: &(dyn Fn() -> bool + Sync)) -> Result<(), RunError> {
            Err(RunError::Trap)
        }

        fn listing(&self, _: Listing) -> Option<String> {
            None
        }
    }

    impl Backend for Slow {
        fn name(&self) -> &'static str {
            "slow"
        }

        fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal> {
            if let Some(ObservedParam::Scalar(Scalar { bits: 0, .. })) = unit.observed.params.first() {
                return Err(Refusal::new("nothing to do"));
            }
            std::thread::sleep(Duration::from_millis(20));
            self.alive.fetch_add(1, Relaxed);
            Ok(Arc::new(Nothing(self.alive.clone())))
        }
    }

    fn region(name: &str) -> VerifiedRegion {
        let text = format!("region {name} (n : i64, x : f32)\nlet r =\n  kernel i < n do\n    in x\nin r\n");
        verified_from_text(&text).unwrap_or_else(|e| panic!("{e}"))
    }

    fn observed(n: i64, x: f32) -> Observed {
        let params = vec![ObservedParam::Scalar(Scalar::i64(n)), ObservedParam::Scalar(Scalar::f32(x))];
        Observed { params }
    }

    struct Asking {
        kernels: Kernels,
        backend: Arc<dyn Backend>,
        machine: Machine,
    }

    impl Asking {
        fn ask(&self, region: &VerifiedRegion, observed: &Observed) -> (Made, bool) {
            let plan = VerifiedPlan::new(Plan::default(), region.region()).expect("a plan without decisions");
            let unit = Unit { name: "", region, plan: &plan, observed, machine: &self.machine };
            self.kernels.compile(&self.backend, unit)
        }
    }

    fn slow() -> (Asking, Arc<AtomicU64>) {
        let slow = Slow::default();
        let alive = slow.alive.clone();
        let (kernels, machine) = (Kernels::default(), Machine::default());
        (Asking { kernels, backend: Arc::new(slow), machine }, alive)
    }

    #[test]
    fn equal_units_are_compiled_once() {
        let (asking, alive) = slow();
        let threads = 8;
        std::thread::scope(|scope| {
            for k in 0..threads {
                let asking = &asking;
                scope.spawn(move || assert!(asking.ask(&region("a"), &observed(3, k as f32)).0.is_ok()));
            }
        });
        let figures = |compiled, shared| KernelFigures { compiled, shared, given_up: 0 };
        assert_eq!(asking.kernels.figures(), figures(1, threads - 1));
        // Other sizes, another region, another back end.
        assert!(!asking.ask(&region("a"), &observed(4, 0.0)).1);
        assert!(!asking.ask(&region("b"), &observed(3, 0.0)).1);
        let other =
            Asking { backend: Arc::new(Slow::default()), kernels: asking.kernels.clone(), ..slow().0 };
        assert!(!other.ask(&region("a"), &observed(3, 0.0)).1);
        assert_eq!(asking.kernels.figures(), figures(4, threads - 1));
        // A refusal is found as well.
        assert!(matches!(asking.ask(&region("a"), &observed(0, 0.0)), (Err(_), false)));
        assert!(matches!(asking.ask(&region("a"), &observed(0, 1.0)), (Err(_), true)));
        assert_eq!(alive.load(Relaxed), 3);
    }

    #[test]
    fn code_lives_as_long_as_it_is_kept_or_used() {
        let (asking, alive) = slow();
        let used = asking.ask(&region("used"), &observed(1, 0.0)).0;
        drop(asking.ask(&region("unused"), &observed(1, 0.0)));
        assert_eq!(alive.load(Relaxed), 2);
        for k in 0..MOST_KEPT {
            drop(asking.ask(&region(&format!("r{k}x")), &observed(0, 0.0)));
        }
        assert_eq!((asking.kernels.figures().given_up, alive.load(Relaxed)), (2, 1));
        drop(used);
        assert_eq!(alive.load(Relaxed), 0);
    }
}
