//! The facts of an explanation, as text and JSON show them. Names are those of the source where they are known.

use galopvm_tier::FormTaken;
use galopvm_tier::fused::Fate;

/// A place in the source.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Spot {
    /// The file.
    pub file: String,
    /// First line, from 1.
    pub line: u32,
    /// First column, from 1.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// Last column, inclusive.
    pub end_column: u32,
    /// The first line itself, if the file could be read.
    pub source: Option<String>,
    /// If the code came here by replacing calls with bodies: the outermost call.
    pub inlined: Option<String>,
}

/// All that was found.
#[derive(Clone, PartialEq, Debug)]
pub struct Document {
    /// The program.
    pub program: String,
    /// The entry point that was called.
    pub entry: String,
    /// Where its arguments came from.
    pub input: String,
    /// What prices are for, `cpu` or `gpu`; with its unit in text.
    pub target: &'static str,
    /// What is switched off.
    pub off: Vec<&'static str>,
    /// What was decided besides what the parts say, by place in the source.
    pub decisions: Vec<Decision>,
    /// By place in the source.
    pub parts: Vec<Part>,
}

/// Something that was decided.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// Where.
    pub spot: Option<Spot>,
    /// What it is about.
    pub kind: &'static str,
    /// What is done, or is not.
    pub what: String,
    /// Whether it was done, or why not.
    pub applied: Applied,
    /// Bytes that were saved in all, if they are known.
    pub bytes: Option<u64>,
}

/// Whether a decision was applied.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Applied {
    /// How often it was.
    pub times: u64,
    /// Why it was not, and how often.
    pub not: Vec<(Reason, u64)>,
}

/// Something that was looked at.
#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    /// A function or loop.
    Region(RegionPart),
    /// A parallel operator.
    Operator(OperatorPart),
    /// Operators that run together.
    Fused(FusedPart),
}

impl Part {
    /// Where it is.
    pub fn spot(&self) -> Option<&Spot> {
        match self {
            Part::Region(region) => region.spot.as_ref(),
            Part::Operator(operator) => operator.spot.as_ref(),
            Part::Fused(fused) => fused.spot.as_ref(),
        }
    }
}

/// A verdict: what it means, and the exact words of the analysis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// For people.
    pub plain: String,
    /// As the analysis says it.
    pub exact: String,
}

/// An array.
#[derive(Clone, PartialEq, Debug)]
pub struct ArrayFact {
    /// Its name here.
    pub name: String,
    /// Its register.
    pub register: Option<String>,
    /// Its type with the extents of this run, as far as they are known.
    pub ty: String,
    /// Its size, if it is known.
    pub bytes: Option<i64>,
    /// Where it is made; nothing for what comes from outside.
    pub spot: Option<Spot>,
    /// The expression that makes it.
    pub excerpt: Option<String>,
    /// It comes from outside.
    pub outside: bool,
    /// How many others hold its block, for what comes from outside.
    pub others: Option<u32>,
    /// How it lies in its block, for what comes from outside.
    pub view: Option<String>,
}

/// A recorded function or loop.
#[derive(Clone, PartialEq, Debug)]
pub struct RegionPart {
    /// Where it begins.
    pub spot: Option<Spot>,
    /// The function.
    pub function: String,
    /// `function`, `loop`, or `round` of a loop.
    pub scope: &'static str,
    /// Why it could not be recorded.
    pub refused: Option<String>,
    /// Time of recording and analysis.
    pub micros: u64,
    /// Its arrays.
    pub arrays: Vec<ArrayFact>,
    /// What copies.
    pub points: Vec<Copying>,
    /// Lanes and layouts for all its kernels together, in the words of the analysis.
    pub strategy: Vec<String>,
    /// Copies into other layouts that the kernels would take together.
    pub layouts: Vec<LayoutCopy>,
    /// Where each array that is made lies.
    pub plan: Vec<Placed>,
    /// Blocks that targets and what is built in them lie in.
    pub blocks: usize,
    /// How often the plan was applied in this run, and why not.
    pub applied: Applied,
    /// The arrays that were not made in a block of their own then.
    pub moved: Vec<String>,
    /// The region as kernel IR.
    pub kir: String,
}

/// A statement that copies arrays into another one, unless they are built there.
#[derive(Clone, PartialEq, Debug)]
pub struct Copying {
    /// Where.
    pub spot: Option<Spot>,
    /// `concatenation`, `update`, `copy`, `layout`, or `row`, the end of a kernel's body.
    pub kind: &'static str,
    /// The array that is copied into.
    pub target: String,
    /// What is copied.
    pub operands: Vec<PointOperand>,
    /// What moves along with the operands, or does not.
    pub web: Vec<WebEntry>,
    /// The target must exist before this is made.
    pub hoisted_before: Option<String>,
    /// Two blocks take turns for this array.
    pub double_buffer: Option<String>,
    /// This one could be built in the copy that the update makes, if that were made first.
    pub copied_first: Option<String>,
    /// All of it in the words of the analysis.
    pub exact: String,
}

/// One array that is copied, unless it is built in place.
#[derive(Clone, PartialEq, Debug)]
pub struct PointOperand {
    /// Its name; nothing for something that is no array of its own.
    pub array: Option<String>,
    /// The point is its last use.
    pub last_use: bool,
    /// It is built where it would be copied to.
    pub in_place: bool,
    /// Where, as `block` and view.
    pub place: Option<(String, String)>,
    /// Why not.
    pub reason: Option<Reason>,
    /// If it is: whether that was done.
    pub applied: Applied,
    /// Bytes of one copy, the greatest of all, if that is known.
    pub bytes: Option<i64>,
    /// Bytes of the smallest copy.
    pub least: Option<i64>,
    /// How often the point is executed, as far as that is known.
    pub times: Option<u64>,
    /// The price of one copy.
    pub price: Option<u64>,
    /// The kind of copy that remains.
    pub class: Option<String>,
}

impl PointOperand {
    /// Bytes of all copies, the mean of the smallest and the greatest for each.
    pub fn total(&self) -> Option<i64> {
        let sum = i128::from(self.bytes?) + i128::from(self.least?);
        let total = sum.saturating_mul(i128::from(self.times?)) / 2;
        Some(i64::try_from(total).unwrap_or(i64::MAX))
    }
}

/// An array that shares memory with one that is copied.
#[derive(Clone, PartialEq, Debug)]
pub struct WebEntry {
    /// Its name.
    pub array: String,
    /// Where it is built, as `block` and view, or why it is not.
    pub place: Result<(String, String), Reason>,
}

/// How an array comes to lie where it does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placing {
    /// In a block of its own.
    Fresh,
    /// In the block of the array that it becomes a part of.
    BuiltIn,
    /// Over the array that it is a change of.
    InPlace,
    /// In a copy of that.
    Copied,
}

impl Placing {
    /// The word in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Placing::Fresh => "fresh",
            Placing::BuiltIn => "built-in",
            Placing::InPlace => "in-place",
            Placing::Copied => "copied",
        }
    }
}

/// Where an array lies in the end.
#[derive(Clone, PartialEq, Debug)]
pub struct Placed {
    /// Its name.
    pub array: String,
    /// Where it is made.
    pub spot: Option<Spot>,
    /// How it came there.
    pub kind: Placing,
    /// The array whose block it lies in.
    pub block: String,
    /// How it lies there.
    pub view: String,
    /// Its size, if it is known.
    pub bytes: Option<i64>,
    /// It is made in each round of a loop or kernel.
    pub repeated: bool,
    /// If it is built in another block: whether that was done.
    pub applied: Applied,
}

/// A copy of an array into another layout, made or not.
#[derive(Clone, PartialEq, Debug)]
pub struct LayoutCopy {
    /// The array.
    pub array: String,
    /// Its dimensions, outermost in memory first.
    pub order: String,
    /// The accesses that would use it.
    pub accesses: Vec<String>,
    /// Its price.
    pub cost: u64,
    /// The price of a run of these accesses as it is.
    pub before: u64,
    /// And with the copy.
    pub after: u64,
    /// Runs from which it pays.
    pub least_runs: Option<u64>,
    /// Its size.
    pub bytes: u64,
    /// It is made.
    pub made: bool,
    /// Why.
    pub reason: Reason,
}

/// A parallel operator.
#[derive(Clone, PartialEq, Debug)]
pub struct OperatorPart {
    /// Where it is.
    pub spot: Option<Spot>,
    /// Its place as events name it.
    pub place: String,
    /// `map`, `reduce`, `scan`, `redomap`.
    pub operator: &'static str,
    /// How often it was executed.
    pub executions: u64,
    /// Iterations of the largest execution, which all numbers are of.
    pub width: i64,
    /// Operations of it, estimated.
    pub work: u64,
    /// Who executed it last, and why.
    pub tier: String,
    /// Why.
    pub tier_reason: String,
    /// The form in which the interpreter executes it, and why no faster one.
    pub form: FormTaken,
    /// Why it is no kernel.
    pub refused: Option<String>,
    /// Its arrays.
    pub arrays: Vec<ArrayFact>,
    /// Its kernels.
    pub kernels: Vec<Kernel>,
    /// By result: the arrays that it may be written over.
    pub reuse: Vec<ReuseResult>,
    /// Arrays that it would like to lie otherwise, and what became of that.
    pub relaid: Vec<super::RelaidFact>,
    /// What back ends are told: decision and reason.
    pub plan: Vec<(String, String)>,
    /// The kernel as kernel IR.
    pub kir: String,
}

/// Operators of one block that run together.
#[derive(Clone, PartialEq, Debug)]
pub struct FusedPart {
    /// Where the first of them is.
    pub spot: Option<Spot>,
    /// How often they ran like that.
    pub launches: u64,
    /// What became of each of them.
    pub facts: Vec<FusedFact>,
}

/// What became of an operator that runs together with others.
#[derive(Clone, PartialEq, Debug)]
pub struct FusedFact {
    /// What it makes.
    pub made: String,
    /// Where.
    pub spot: Option<Spot>,
    /// What that is.
    pub fate: Fate<String>,
    /// What that saves, or what speaks against it.
    pub reason: String,
}

/// A kernel of an operator.
#[derive(Clone, PartialEq, Debug)]
pub struct Kernel {
    /// The index table, with the layouts that are wished for.
    pub accesses: Vec<Access>,
    /// By lane: price of a run, copies; the best one first.
    pub lanes: Vec<Lane>,
    /// Copies into other layouts for the best lane.
    pub layouts: Vec<LayoutCopy>,
    /// Results that are born in another layout, with their dimensions, outermost in memory first.
    pub born: Vec<(String, String)>,
    /// Demands that make every access cheap.
    pub strategies: Vec<String>,
    /// The one that the best lane follows.
    pub strategy: String,
}

/// A variable that could run across lanes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lane {
    /// Its name.
    pub variable: String,
    /// The price of a run with its copies.
    pub time: u64,
    /// Copies, and results that are born in another order.
    pub transposes: u64,
    /// The copies in the words of the analysis.
    pub copies: String,
}

/// A row of the index table.
#[derive(Clone, PartialEq, Debug)]
pub struct Access {
    /// The array.
    pub array: String,
    /// The access, as the table names it.
    pub name: String,
    /// It is a write.
    pub write: bool,
    /// The index with what moves it.
    pub index: String,
    /// How lanes lie in memory.
    pub class: String,
    /// Price of a run.
    pub time: u64,
    /// The layout that its nest asks for; nothing for writes.
    pub wish: Option<String>,
    /// What speaks against that: letters and their meaning.
    pub against: Vec<(char, &'static str)>,
}

/// The arrays that a result could be written over.
#[derive(Clone, PartialEq, Debug)]
pub struct ReuseResult {
    /// The result.
    pub result: String,
    /// Its size, if it is known.
    pub bytes: Option<i64>,
    /// Each array of its type that is read.
    pub arrays: Vec<ReuseFact>,
    /// The one that would be taken if it dies here.
    pub choice: Option<String>,
    /// What happened at the executions, with counts.
    pub happened: Vec<(Reason, u64)>,
    /// Of these, how many wrote it over an array.
    pub over: u64,
}

/// What was found for one array.
#[derive(Clone, PartialEq, Debug)]
pub struct ReuseFact {
    /// The array.
    pub array: String,
    /// Places read by other iterations.
    pub read: String,
    /// Places whose value stays.
    pub copied: String,
    /// Places that get another value.
    pub changed: String,
    /// It is a candidate.
    pub candidate: bool,
    /// Why, or why not.
    pub reason: Reason,
}
