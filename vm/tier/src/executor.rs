//! Who executes an operator, and what accesses cost there.
//!
//! Machine code chooses its lane; the interpreter's ways have theirs. Times are in the unit of the cost model, measured
//! with sums of rows and columns of matrices that no cache holds: what an element costs more where its neighbours in a
//! step are not its neighbours in memory.

use galopvm_analysis::layout::{Costs, CpuCosts, Pricing};
use galopvm_kir::VarId;

/// Who executes an operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Executor {
    /// Machine code.
    Compiled,
    /// Groups of rows of the operator.
    Vector,
    /// Flat code, one element after the other.
    Unit,
    /// Block by block; operators inside see the innermost rows.
    Blocks,
}

/// Bytes of what is done in one step for a group of rows.
const GROUP_BYTES: u64 = 8 << 10;

/// What an element costs that a step has to fetch by itself.
const GROUP_GATHER: u64 = 12;

impl Executor {
    /// The costs of its accesses.
    pub fn costs(self, machine: &Costs) -> Costs {
        let mut costs = machine.clone();
        let cpu = &mut costs.cpu;
        let wide = |cpu: &mut CpuCosts, bytes: u64, gather: u64| {
            cpu.vector_bytes = bytes;
            cpu.gather_lane = gather;
            // Nothing is transposed in registers; elements are the smallest that are usual.
            cpu.tile = bytes / 4 * gather;
        };
        match self {
            Executor::Compiled => {}
            Executor::Vector | Executor::Blocks => wide(cpu, GROUP_BYTES, GROUP_GATHER),
            Executor::Unit => {
                cpu.vector_bytes = 1;
                (cpu.reversed, cpu.tile, cpu.gather_lane) = (1, 1, 1);
            }
        }
        costs
    }

    /// The variables that it may have across lanes, the preferred one of equals first.
    pub fn lanes(self, pricing: &Pricing<'_>, kernel: VarId) -> Vec<VarId> {
        let mut axes = pricing.lane_axes(kernel);
        let parallel = |axis: &&VarId| pricing.table.is_parallel(**axis);
        match self {
            Executor::Compiled => {
                axes.reverse();
                axes
            }
            Executor::Vector => vec![kernel],
            Executor::Unit | Executor::Blocks => {
                axes.iter().rev().find(parallel).copied().into_iter().collect()
            }
        }
    }

    /// Whether an array that stays in the second cache is as good as any other.
    pub fn is_scalar(self) -> bool {
        self == Executor::Unit
    }
}
