//! The costs that decisions count with, found when the first decision needs them.

use galopvm_analysis::layout::Costs;
use std::fmt;
use std::sync::{Arc, LazyLock};

type Find = Box<dyn FnOnce() -> Costs + Send>;

/// Costs that nobody has to know before they are asked for. Cheap to clone; clones are found once for all.
#[derive(Clone)]
pub struct LazyCosts(Arc<LazyLock<Costs, Find>>);

impl LazyCosts {
    /// Costs that `find` gives when they are first needed.
    pub fn new(find: impl FnOnce() -> Costs + Send + 'static) -> LazyCosts {
        LazyCosts(Arc::new(LazyLock::new(Box::new(find))))
    }

    /// The costs.
    pub fn get(&self) -> &Costs {
        &self.0
    }
}

impl Default for LazyCosts {
    fn default() -> LazyCosts {
        LazyCosts::new(Costs::default)
    }
}

impl From<Costs> for LazyCosts {
    fn from(costs: Costs) -> LazyCosts {
        LazyCosts::new(|| costs)
    }
}

impl fmt::Debug for LazyCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LazyCosts")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[test]
    fn costs_are_found_once_and_late() {
        let asked = Arc::new(AtomicU32::new(0));
        let count = asked.clone();
        let costs = LazyCosts::new(move || {
            count.fetch_add(1, Relaxed);
            Costs::default()
        });
        let other = costs.clone();
        assert_eq!(asked.load(Relaxed), 0);
        assert_eq!((costs.get(), other.get()), (&Costs::default(), &Costs::default()));
        assert_eq!(asked.load(Relaxed), 1);
        assert_eq!(LazyCosts::from(Costs::default()).get(), LazyCosts::default().get());
    }
}
