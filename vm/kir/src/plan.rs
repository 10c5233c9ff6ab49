//! A plan: how a region is to be executed. Data, not code; each line carries its reason.
//!
//! Text form, one decision per line, reason after the colon:
//! ```text
//! plan
//!   threads i : 4096 iterations, 16777216 element operations
//!   lane j : innermost parallel axis
//!   groups j 2 : operations of one vector need not wait for the other's
//!   tile i 4 : what is read along j serves four rows
//!   stretch k 1024 i 510 : 262144 bytes of operands and 130560 of sums fit into the second-level cache
//!   pack read1 : 1024 times 256 bytes, 4096 apart, for 1024 rows
//!   stream 4194304 : no loops inside
//!   ahead read0 : 19 places in turn, 524288 bytes apart: more than the processor follows by itself
//!   ready q : 19 places in turn are written: more than the processor follows by itself
//!   unchecked read0 read2 : the index range lies inside the array
//!   contained y1 : what is written lies inside the array
//!   fresh r : nobody else holds a block it could use
//! ```

use crate::ir::{Axis, Body, Exp, ReadId, Region, Rhs, VarId};
use crate::kernel::Rows;

/// The table of decisions: gives its rows to a macro, which expands them to what it needs. A row gives: variant, word, how
/// often a plan may have it (`Once`, `PerAxis`, `Often`), what it claims about the numbers of a launch (`Nothing`, or a [`Claim`]), its operands, meaning. The enum here and the text form
/// (`text/plan.rs`) are expansions of it; what is allowed is said in `check`.
macro_rules! decision_table {
    ($expand:ident) => {
        $expand! {
            Threads "threads" Once Nothing (axis: VarId)
                "This axis is cut into pieces for threads.";
            Lane "lane" Once Nothing (axis: VarId)
                "This axis runs across the lanes of vectors (GPU: neighbouring invocations).";
            Singly "singly" Once Nothing (axis: VarId)
                "The iterations of the kernel that has this axis run one by one, across no lanes; reductions in it may use them.";
            Groups "groups" PerAxis Nothing (axis: VarId, count: u32)
                "Where lanes go across this axis - of a kernel, of a reduction, of a scatter or of a loop - so many vectors of them are computed together; one, where a plan does not say. A scatter or a loop computes in lanes only if its plan says so.";
            Tile "tile" Once Nothing (axis: VarId, rows: u32)
                "So many rows, iterations of this axis of a kernel, are computed together: what they all read is read once.";
            Inside "inside" Once Nothing (axis: VarId)
                "Vectors across the lanes of this axis of a kernel that are away from borders run in code of their own: what compares the index with them is asked once for all lanes.";
            Stretch "stretch" Once Nothing (axis: VarId, count: u32, waiting: VarId, places: u32)
                "The reduction over the first axis is computed in stretches of so many iterations, each for so many iterations of the second axis before the next one: the rows that are computed together, or else the lanes. In between results wait in memory.";
            Pack "pack" Often Nothing (read: ReadId)
                "What this read of a reduction gives is copied, for a stretch and the lanes that are computed together, to where it lies in order: all rows read it there.";
            Stream "stream" Once Nothing (bytes: u64)
                "Results of more bytes go past the caches, where a launch writes them from one end to the other.";
            Ahead "ahead" Once Nothing (reads: Vec<ReadId>)
                "What these reads, which neighbours follow each other in, take in the next turn of the lanes is fetched in this one.";
            Ready "ready" Once Nothing (axis: VarId)
                "Where the kernel over this axis, which ends each turn of the lanes, writes in the next turn is fetched in this one.";
            Unchecked "unchecked" Often Inside (reads: Vec<ReadId>)
                "These reads are proven to stay inside their arrays for the observed sizes.";
            Contained "contained" Often Contained (updates: Vec<VarId>)
                "These updates, told by the names of what they make, are proven to stay inside their arrays for the observed sizes.";
            Fresh "fresh" Often Nothing (result: VarId)
                "This result of the region gets a block of its own.";
        }
    };
}
pub(crate) use decision_table;

/// What a decision claims about the numbers of a launch. Code that was made by it is launched only where the claim is proven: so
/// a version of code is known by the claims of its plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim<'p> {
    /// These reads stay inside their arrays.
    Inside(&'p [ReadId]),
    /// These updates do.
    Contained(&'p [VarId]),
}

macro_rules! claim {
    (Nothing $($field:ident)*) => {{
        let _ = ($($field,)*);
        None
    }};
    ($claim:ident $field:ident) => {
        Some(Claim::$claim($field))
    };
}

/// What only one decision of a plan can be about: all of the plan, an axis, or nothing.
#[derive(PartialEq)]
enum Purpose {
    Once,
    PerAxis(VarId),
    Often,
}

macro_rules! purpose {
    (PerAxis $axis:ident $($more:ident)*) => {{
        let _ = ($($more,)*);
        Purpose::PerAxis(*$axis)
    }};
    ($once:ident $($field:ident)*) => {{
        let _ = ($($field,)*);
        Purpose::$once
    }};
}

macro_rules! decisions {
    ($($variant:ident $word:literal $once:ident $claim:ident ($($field:ident : $ty:ty),*) $doc:literal;)+) => {
        /// One decision.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub enum Decision {
            $(#[doc = $doc] $variant($($ty),*)),+
        }

        impl Decision {
            /// The word that it begins with in text.
            pub const fn word(&self) -> &'static str {
                match self { $(Decision::$variant(..) => $word),+ }
            }

            /// What it claims about the numbers of a launch.
            pub fn claim(&self) -> Option<Claim<'_>> {
                match self { $(Decision::$variant($($field),*) => claim!($claim $($field)*)),+ }
            }

            fn purpose(&self) -> Purpose {
                match self { $(Decision::$variant($($field),*) => purpose!($once $($field)*)),+ }
            }
        }
    };
}

decision_table!(decisions);

/// A decision and why it was taken.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PlanLine {
    /// What.
    pub decision: Decision,
    /// Why, for people; one line, never empty.
    pub reason: String,
}

/// How a region is to be executed.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Plan {
    /// In the order in which they were taken.
    pub lines: Vec<PlanLine>,
}

/// How a reduction is computed in stretches, see [`Decision::Stretch`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// The axis of the reduction.
    pub axis: VarId,
    /// Its iterations in a stretch.
    pub count: u32,
    /// The axis that results wait for the next stretch along.
    pub waiting: VarId,
    /// How many of its iterations wait.
    pub places: u32,
}

impl Plan {
    /// Adds a decision.
    pub fn decide(&mut self, decision: Decision, reason: impl Into<String>) {
        self.lines.push(PlanLine { decision, reason: reason.into() });
    }

    /// The axis that is cut for threads.
    pub fn threads(&self) -> Option<VarId> {
        self.lines.iter().find_map(|l| if let Decision::Threads(v) = l.decision { Some(v) } else { None })
    }

    /// The axis across vector lanes.
    pub fn lane(&self) -> Option<VarId> {
        self.lines.iter().find_map(|l| if let Decision::Lane(v) = l.decision { Some(v) } else { None })
    }

    /// The axis across vector lanes of a kernel with these axes: the innermost one where the plan says nothing; none where
    /// its iterations run one by one, or where the lanes go across another loop.
    pub fn kernel_lane(&self, axes: &[Axis]) -> Option<VarId> {
        let has = |var: VarId| axes.iter().any(|axis| axis.var == var);
        let is_single = |l: &PlanLine| matches!(l.decision, Decision::Singly(axis) if has(axis));
        if self.lines.iter().any(is_single) {
            return None;
        }
        self.lane().or(axes.last().map(|axis| axis.var)).filter(|lane| has(*lane))
    }

    /// How many vectors across an axis are computed together, if that was decided.
    pub fn groups(&self, axis: VarId) -> Option<usize> {
        let found = self.lines.iter().find_map(|l| {
            if let Decision::Groups(v, groups) = l.decision { (v == axis).then_some(groups) } else { None }
        });
        found.map(|groups| groups as usize)
    }

    /// The axis whose rows are computed together, and how many of them.
    pub fn tile(&self) -> Option<(VarId, usize)> {
        self.lines.iter().find_map(|l| {
            if let Decision::Tile(v, rows) = l.decision { Some((v, rows as usize)) } else { None }
        })
    }

    /// The axis whose vectors away from borders have code of their own.
    pub fn inside(&self) -> Option<VarId> {
        self.lines.iter().find_map(|l| if let Decision::Inside(v) = l.decision { Some(v) } else { None })
    }

    /// The stretches that a reduction is computed in, if that was decided.
    pub fn stretch(&self) -> Option<Stretch> {
        self.lines.iter().find_map(|l| match l.decision {
            Decision::Stretch(axis, count, waiting, places) => Some(Stretch { axis, count, waiting, places }),
            _ => None,
        })
    }

    /// The reads whose elements are copied for all rows.
    pub fn packed(&self) -> impl Iterator<Item = ReadId> {
        self.lines
            .iter()
            .filter_map(|l| if let Decision::Pack(read) = l.decision { Some(read) } else { None })
    }

    /// The bytes from which on results go past the caches.
    pub fn stream(&self) -> Option<u64> {
        self.lines
            .iter()
            .find_map(|l| if let Decision::Stream(bytes) = l.decision { Some(bytes) } else { None })
    }

    /// Whether what a read takes next is fetched ahead.
    pub fn is_ahead(&self, read: ReadId) -> bool {
        self.lines.iter().any(|l| matches!(&l.decision, Decision::Ahead(reads) if reads.contains(&read)))
    }

    /// Whether what a kernel over one of these axes writes next is fetched ahead.
    pub fn is_ready(&self, axes: &[Axis]) -> bool {
        let has = |var: VarId| axes.iter().any(|axis| axis.var == var);
        self.lines.iter().any(|l| matches!(l.decision, Decision::Ready(axis) if has(axis)))
    }

    /// True if this read needs no bounds check.
    pub fn is_unchecked(&self, read: ReadId) -> bool {
        self.lines.iter().any(|l| matches!(&l.decision, Decision::Unchecked(reads) if reads.contains(&read)))
    }

    /// Whether an update, told by what it makes, is not checked.
    pub fn is_contained(&self, made: VarId) -> bool {
        self.lines
            .iter()
            .any(|l| matches!(&l.decision, Decision::Contained(updates) if updates.contains(&made)))
    }
}

/// Vectors that are computed together at most.
pub const MOST_GROUPS: u32 = 8;

/// Bytes that are fetched ahead at least of what a turn of the lanes takes ([`Decision::Ahead`], [`Decision::Ready`]): less would come
/// too late.
pub const LEAST_AHEAD: usize = 256;

/// Rows that are computed together at most.
pub const MOST_ROWS: u32 = 8;

/// Iterations of a stretch, and places that wait for the next one, at most.
pub const MOST_WAITING: u32 = 1 << 16;

/// A plan that was checked against its region: every name is an axis or a result of it, each at most once for the same
/// purpose, and rows that are computed together can be.
/// (`Unchecked` and `Contained` are claims about numbers; whoever makes the plan proves it for the launch, see `Unit`.)
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct VerifiedPlan(Plan);

impl VerifiedPlan {
    /// Checks a plan; the error says what is wrong with it.
    pub fn new(plan: Plan, region: &Region) -> Result<VerifiedPlan, String> {
        for (k, line) in plan.lines.iter().enumerate() {
            check(&line.decision, &plan, region)?;
            if plan.lines[..k].iter().any(|before| same_purpose(&before.decision, &line.decision)) {
                return Err("an axis is chosen twice for the same purpose".into());
            }
            if line.reason.trim().is_empty() || line.reason.contains('\n') {
                return Err("a reason is empty or longer than a line".into());
            }
        }
        Ok(VerifiedPlan(plan))
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.0
    }
}

fn check(decision: &Decision, plan: &Plan, region: &Region) -> Result<(), String> {
    let name = |var: &VarId| region.vars.get(*var).map_or_else(|| var.to_string(), |v| v.name.to_string());
    match decision {
        Decision::Threads(axis) | Decision::Lane(axis) | Decision::Inside(axis)
            if !region.parallel_axes().contains(axis) =>
        {
            Err(format!("`{}` is not a parallel or reduction axis of the region", name(axis)))
        }
        Decision::Singly(axis) | Decision::Ready(axis) => match kernel_around(*axis, region) {
            Some(_) => Ok(()),
            None => Err(format!("`{}` is not an axis of a kernel", name(axis))),
        },
        Decision::Groups(axis, _) if !region.axes().iter().any(|known| known.var == *axis) => {
            Err(format!("`{}` is not an axis of the region", name(axis)))
        }
        Decision::Groups(_, groups) if !(1..=MOST_GROUPS).contains(groups) => {
            Err(format!("{groups} vectors at a time: not from 1 to {MOST_GROUPS}"))
        }
        Decision::Tile(_, rows) if !(2..=MOST_ROWS).contains(rows) => {
            Err(format!("{rows} rows at a time: not from 2 to {MOST_ROWS}"))
        }
        Decision::Tile(axis, _) => check_rows(*axis, plan, region)
            .map_err(|why| format!("the rows of `{}` cannot be computed together: {why}", name(axis))),
        Decision::Stretch(axis, count, waiting, places) => {
            if [count, places].iter().any(|number| !(1..=MOST_WAITING).contains(*number)) {
                return Err(format!("stretches of {count} for {places}: not from 1 to {MOST_WAITING}"));
            }
            check_stretch(*axis, *waiting, plan, region)
                .map_err(|why| format!("`{}` cannot be computed in stretches: {why}", name(axis)))
        }
        Decision::Pack(read) => {
            check_packed(*read, plan, region).map_err(|why| format!("{read} cannot be packed: {why}"))
        }
        Decision::Unchecked(reads) | Decision::Ahead(reads) => {
            match reads.iter().find(|read| read.0 >= region.reads) {
                Some(read) => Err(format!("{read} is not a read of the region")),
                None => Ok(()),
            }
        }
        Decision::Contained(updates) => {
            let mut missing: Vec<&VarId> = updates.iter().collect();
            region.body.visit_stms(&mut |stm| {
                if matches!(stm.rhs, Rhs::Update { .. }) {
                    missing.retain(|update| !stm.pat.contains(update));
                }
            });
            missing
                .first()
                .map_or(Ok(()), |update| Err(format!("`{}` is not made by an update", name(update))))
        }
        Decision::Fresh(result) if !region.body.results.contains(&Exp::Var(*result)) => {
            Err(format!("`{}` is not a result of the region", name(result)))
        }
        Decision::Threads(_)
        | Decision::Lane(_)
        | Decision::Inside(_)
        | Decision::Groups(..)
        | Decision::Stream(_)
        | Decision::Fresh(_) => Ok(()),
    }
}

/// The axes and the body of the kernel of a region that has an axis.
fn kernel_around(axis: VarId, region: &Region) -> Option<(&[Axis], &Body)> {
    let mut kernel = None;
    region.body.visit_stms(&mut |stm| {
        if let Rhs::Kernel { axes, body } = &stm.rhs
            && axes.iter().any(|known| known.var == axis)
        {
            kernel = Some((axes.as_slice(), body));
        }
    });
    kernel
}

/// The body of the kernel of a region that has an axis, with the axis across its lanes.
fn kernel_of<'r>(axis: VarId, plan: &Plan, region: &'r Region) -> Result<(&'r Body, VarId), &'static str> {
    let (axes, body) = kernel_around(axis, region).ok_or("it is not an axis of a kernel")?;
    let lane = plan.kernel_lane(axes).ok_or("the lanes go across another loop")?;
    Ok((body, lane))
}

/// The rows are those of a kernel whose lanes go across another axis of it.
fn check_rows(row: VarId, plan: &Plan, region: &Region) -> Result<(), &'static str> {
    let (body, lane) = kernel_of(row, plan, region)?;
    Rows::of(body, Some(row), lane).map(|_| ())
}

/// The reduction has one axis, and what waits are the rows that are computed together, or else the lanes.
fn check_stretch(axis: VarId, waiting: VarId, plan: &Plan, region: &Region) -> Result<(), &'static str> {
    let (body, lane) = kernel_of(waiting, plan, region)?;
    let row = plan.tile().map(|(row, _)| row);
    if waiting != row.unwrap_or(lane) {
        return Err("results wait along another axis than that of the rows, or without such of the lanes");
    }
    let rows = Rows::of(body, row, lane)?;
    match rows.axes {
        [only] if only.var == axis => Ok(()),
        _ => Err("it is not the one axis of the kernel's reduction"),
    }
}

/// Elements are packed for a stretch of a reduction whose rows share them.
fn check_packed(read: ReadId, plan: &Plan, region: &Region) -> Result<(), &'static str> {
    let (Some(_), Some((row, _))) = (plan.stretch(), plan.tile()) else {
        return Err("there are no stretches of rows that are computed together");
    };
    let (body, lane) = kernel_of(row, plan, region)?;
    let shared = Rows::of(body, Some(row), lane)?.shared_reads(region, row, lane);
    let is_shared = shared.iter().any(|known| known.id == read);
    is_shared.then_some(()).ok_or("it is no read of the reduction that all rows share")
}

/// Whether only one of two decisions can hold.
fn same_purpose(a: &Decision, b: &Decision) -> bool {
    let is_often = a.purpose() == Purpose::Often;
    !is_often && a.word() == b.word() && a.purpose() == b.purpose()
}
