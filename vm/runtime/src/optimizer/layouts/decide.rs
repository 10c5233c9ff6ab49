//! Which arrays of an operator would be read faster in another layout, and by how much.
//!
//! Pure: from a kernel, the numbers of a launch and prices. Whether a copy is made depends, besides, on how often the
//! array is read as it is, which is known at the launch only: [`Want::verdict`].

use galopvm_analysis::index::{Role, table};
use galopvm_analysis::layout::{Candidate, Costs, Pricing, Profile, Question, Target, Verdict, candidates};
use galopvm_bytecode::RegId;
use galopvm_kir::{Observed, VarId};
use galopvm_lift::{Binding, Lifted};
use galopvm_lmad::Lmad;
use galopvm_tier::Executor;

/// What it takes to give an operator a copy, besides the copy.
const HANDLING: u64 = 4000;

/// A copy that does not pay for so many reads is never asked about.
const MOST_RUNS: u64 = 64;

/// A copy has to save this part of an interpreted operator, each operation of the estimate counted as a unit of time. That
/// is no measured price: it keeps copies away from where reading is a small part of what the interpreter does.
const LEAST_PART: i128 = 8;

/// An array that would better lie otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Want {
    pub(crate) reg: RegId,
    /// Its dimensions, outermost in memory first.
    pub(crate) order: Vec<usize>,
    pub(crate) question: Question,
}

/// What an operator would like.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wants {
    pub(crate) all: Vec<Want>,
    /// What a run takes longer along the lane that the copies are for, if none is made.
    detour: u64,
}

impl Want {
    /// The decision for an array that is read so often.
    pub(crate) fn verdict(&self, runs: u64, held: bool, room: u64) -> Verdict {
        let cost = if held { 0 } else { self.question.cost };
        Question { runs, held, cost, budget: room, ..self.question.clone() }.judge()
    }
}

impl Wants {
    /// Whether some of the wants, given by number with the reads that each is for and whether its copy is there, are worth
    /// the lane that they need.
    pub(crate) fn are_worth(&self, chosen: impl Iterator<Item = (usize, u64, bool)>) -> bool {
        let (mut gain, mut runs) = (0i128, 0u64);
        for (k, reads, held) in chosen {
            let question = &self.all[k].question;
            let cost = if held { 0 } else { i128::from(question.cost) };
            gain += i128::from(question.benefit()) * i128::from(reads) - cost;
            runs = runs.max(reads);
        }
        gain > i128::from(self.detour) * i128::from(runs)
    }

    /// Whether whoever interprets an operator of so many operations would notice the wants, given by number.
    pub(crate) fn are_felt(&self, chosen: impl Iterator<Item = usize>, work: u64) -> bool {
        let gain: i128 = chosen.map(|k| i128::from(self.all[k].question.benefit())).sum();
        gain * LEAST_PART >= i128::from(work)
    }
}

/// What one array would gain along a lane.
struct Gain {
    array: VarId,
    best: Candidate,
    question: Question,
}

/// What an operator would like for such a launch.
pub(crate) fn wants(lifted: &Lifted, observed: &Observed, costs: &Costs, executor: Executor) -> Wants {
    let table = table(&lifted.region, observed);
    let (profile, costs) = (Profile::default(), executor.costs(costs));
    let pricing =
        Pricing { table: &table, costs: &costs, target: Target::Cpu, profile: &profile, sharing: 1 };
    let params = &lifted.region.region().params;
    let register = |array: VarId| {
        let at = params.iter().position(|param| *param == array)?;
        match lifted.bindings.get(at)? {
            Binding::Array(reg) => Some(*reg),
            _ => None,
        }
    };
    let mut wants = Wants::default();
    for (kernel, rows) in pricing.rows_by_kernel() {
        let shared = pricing.shared(kernel);
        let plain = |lane: VarId| {
            let times = rows.iter().map(|row| shared.access_now(&table.rows[*row], lane).time);
            times.fold(0, u64::saturating_add)
        };
        let lanes = executor.lanes(&shared, kernel);
        let along = lanes.into_iter().map(|lane| {
            let arrays = shared.arrays_of(&rows);
            let gains: Vec<Gain> =
                arrays.into_iter().filter_map(|array| gain(&shared, executor, array, &rows, lane)).collect();
            let plain = plain(lane);
            let gained = |gain: &Gain| {
                let spread = gain.question.cost / MOST_RUNS;
                u64::try_from(gain.question.benefit()).unwrap_or(0).saturating_sub(spread)
            };
            let time = gains.iter().map(gained).fold(plain, u64::saturating_sub);
            (time, plain, gains)
        });
        let along: Vec<(u64, u64, Vec<Gain>)> = along.collect();
        let Some(least) = along.iter().map(|(_, plain, _)| *plain).min() else { continue };
        let Some((_, plain, gains)) = along.into_iter().min_by_key(|(time, plain, _)| (*time, *plain)) else {
            continue;
        };
        let before = wants.all.len();
        for Gain { array, best, question } in gains {
            if let Some(reg) = register(array)
                && wants.all.iter().all(|want| want.reg != reg)
            {
                wants.all.push(Want { reg, order: best.order, question });
            }
        }
        if wants.all.len() > before {
            wants.detour = wants.detour.saturating_add(plain - least);
        }
    }
    wants
}

/// The best other layout of an array that is only read, if it could ever pay.
fn gain(
    pricing: &Pricing<'_>,
    executor: Executor,
    array: VarId,
    rows: &[usize],
    lane: VarId,
) -> Option<Gain> {
    let table = pricing.table;
    let rows: Vec<_> = rows.iter().map(|row| &table.rows[*row]).filter(|row| row.array == array).collect();
    if !rows.iter().all(|row| matches!(row.role, Role::Read(_))) {
        return None;
    }
    let info = table.array(array)?;
    let shape = info.shape.as_ref()?;
    let elements = info.elements()?.unsigned_abs();
    let bytes = elements.saturating_mul(info.element_bytes().unsigned_abs());
    let mut options: Vec<Candidate> = Vec::new();
    for row in &rows {
        let found = candidates(table, row, lane, pricing.target);
        options.extend(found.into_iter().filter(|one| !options.contains(one)).collect::<Vec<_>>());
    }
    let now: Vec<_> = rows.iter().map(|row| pricing.access_now(row, lane)).collect();
    let sum = |times: &mut dyn Iterator<Item = u64>| times.fold(0, u64::saturating_add);
    let before = sum(&mut now.iter().map(|price| price.time));
    let trips = |row: &&galopvm_analysis::index::Row| {
        table.inner(row).iter().map(|axis| table.trips(*axis)).fold(1, u64::saturating_mul)
    };
    let cpu = &pricing.costs.cpu;
    let fits = if executor.is_scalar() { cpu.cache_lines * cpu.line_bytes / 2 } else { cpu.l1_bytes / 2 };
    let question = |candidate: &Candidate| {
        let lmad = Lmad::manifest(shape, &candidate.order);
        // All accesses of the operator go to the copy, also those that liked the array as it was.
        let then: Vec<_> = rows.iter().map(|row| pricing.access(row, lane, Some(&lmad))).collect();
        let copy = pricing.copy(elements, info.element_bytes().unsigned_abs());
        let after = sum(&mut then.iter().map(|price| price.time));
        Question {
            best_already: now.iter().all(|price| price.class.is_best()) && !executor.is_scalar(),
            fits: bytes <= fits,
            misses_only: executor.is_scalar()
                || now.iter().zip(&then).all(|(now, then)| now.class.is_like(then.class)),
            runs: MOST_RUNS,
            read: sum(&mut rows.iter().map(trips)),
            elements,
            before,
            after,
            cost: copy.saturating_mul(if candidate.generic { 3 } else { 1 }).saturating_add(HANDLING),
            rebuilt: false,
            bytes,
            budget: u64::MAX,
            held: false,
        }
    };
    let judged = options.into_iter().map(|best| {
        let question = question(&best);
        Gain { array, best, question }
    });
    let worth = judged.filter(|gain| gain.question.judge() == Verdict::Manifest);
    worth.min_by_key(|gain| gain.question.after.saturating_add(gain.question.cost / MOST_RUNS))
}
