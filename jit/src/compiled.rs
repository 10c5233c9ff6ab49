//! A region compiled for a target: which of its forms a launch takes, and the pieces it is cut into for threads.

use crate::apart;
use crate::assemble::assemble;
use crate::backend::{Installed, InstalledSink};
use crate::chain::{self, Links};
use crate::cut::{PIECE_UNIT, Pieces, Together, cut};
use crate::executable::Executable;
use crate::fetch::fetched_late;
use crate::lir::{self, sweep::sweep};
use crate::lower::{Form, Job, Places, Role, Shape, lower, observed_scalar, piece_axis};
use crate::record::{Layout, NOTE, Record, Stop};
use crate::target::Target;
use galopvm_base::threads::divided;
use galopvm_base::{Scalar, ScalarOp};
use galopvm_kir::backend::{StrideClass, stride_class};
use galopvm_kir::{
    Argument, Axis, CheckedLaunch, Compiled, Exp, Kept, Launch, Listing, Machine, Observed, ObservedParam,
    Plan, Refusal, RunError, Unit, VarId, VerifiedRegion,
};
use galopvm_lmad::Lmad;
use rayon::prelude::*;
use smallvec::{SmallVec, smallvec};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Pieces for each thread: some spare ones even out pieces of different work.
const PIECES_PER_THREAD: i64 = 4;
/// Operations of the largest piece, some milliseconds: between pieces a launch can be stopped.
const LARGEST_PIECE: u64 = 1 << 23;

/// Pieces at most: what is larger than a piece should be then has more work than anybody waits for.
const MOST_PIECES: i64 = 1 << 16;

/// The extents of axes.
type Extents = SmallVec<[i64; 4]>;

/// The forms that code takes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Variant {
    /// All arrays and results are row-major over the axes: one loop.
    flat: bool,
    places: Places,
    /// Some result lies in a block that is read.
    over: bool,
    role: Role,
}

impl Variant {
    /// How many there are.
    const COUNT: usize = 10;

    /// The one that combines what pieces noted.
    const JOINED: Variant =
        Variant { flat: false, places: Places::RowMajor, over: false, role: Role::Joined };

    /// The one that notes what pieces of a scan come to.
    const TOTALS: Variant = Variant { role: Role::Totals, ..Variant::JOINED };

    fn all() -> impl Iterator<Item = Variant> {
        let places = [Places::RowMajor, Places::Rows, Places::Any];
        let forms = [(true, Places::RowMajor)].into_iter().chain(places.map(|places| (false, places)));
        let of_results =
            |(flat, places)| [false, true].map(|over| Variant { flat, places, over, role: Role::Results });
        forms.flat_map(of_results).chain([Variant::TOTALS, Variant::JOINED])
    }

    fn number(self) -> usize {
        let form = if self.flat { 0 } else { 1 + self.places as usize };
        match self.role {
            Role::Results => 2 * form + usize::from(self.over),
            Role::Totals => Variant::COUNT - 2,
            Role::Joined => Variant::COUNT - 1,
        }
    }

    fn name(self) -> String {
        let form = match (self.role, self.flat, self.places) {
            (Role::Totals, ..) => "totals of pieces",
            (Role::Joined, ..) => "pieces joined",
            (_, true, _) => "flat",
            (_, false, Places::RowMajor) => "nest",
            (_, false, Places::Rows) => "nest into rows",
            (_, false, Places::Any) => "nest into places",
        };
        format!("{form}{}", if self.over { " over what is read" } else { "" })
    }
}

/// What the one statement of a region is, as far as a launch wants to know.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Map,
    Fold,
    Scan,
    Scatter,
    Loop,
}

/// How a launch goes: what follows from its extents and from how its arrays lie.
struct Way {
    /// The number of the code that it was found for.
    of: u64,
    variant: Variant,
    pieces: Pieces,
    /// Each piece of a histogram counts in so many arrays of its own.
    copies: Option<usize>,
    /// Results are large: they are stored past the caches if they are aligned.
    stream: bool,
}

/// How many regions were compiled: their numbers.
static COMPILED: AtomicU64 = AtomicU64::new(0);

/// How a launch tells the extent of an axis.
enum Extent {
    Number(i64),
    /// It is the parameter at this position.
    Param(usize),
    /// It is computed in front of the kernel.
    Computed,
}

/// Code for one form of the region.
struct Code {
    executable: Executable,
    pieces: usize,
    /// It needs rooms for arrays.
    makes_arrays: bool,
}

impl Code {
    /// A launch of it begins.
    fn begin(&self) -> Running<'_> {
        Running { code: self, lacking: AtomicU64::new(0) }
    }
}

/// Code during one launch: others may launch it at the same time.
struct Running<'c> {
    code: &'c Code,
    /// Bytes of an array that there was no room for.
    lacking: AtomicU64,
}

impl Running<'_> {
    /// Runs it on the record of a piece; true if all is well.
    fn run(&self, record: &mut Record<'_>) -> bool {
        if self.code.makes_arrays {
            record.take_rooms();
        }
        let well = self.code.executable.run(record);
        if let Some(bytes) = record.lacking() {
            self.lacking.store(bytes, Ordering::Relaxed);
        }
        well
    }

    /// What became of pieces: those that do not go well trapped, unless somebody stopped them or an array had no room.
    fn ended(&self, well: bool, stop: Stop<'_>) -> Result<(), RunError> {
        if well {
            return Ok(());
        }
        if stop() {
            return Err(RunError::Stopped);
        }
        match self.lacking.load(Ordering::Relaxed) {
            0 => Err(RunError::Trap),
            bytes => {
                Err(RunError::TooLarge(Refusal::new(format!("an array on the way takes {bytes} bytes"))))
            }
        }
    }
}

/// See the module's description.
pub struct Native {
    /// No other has it.
    number: u64,
    region: VerifiedRegion,
    plan: Plan,
    observed: Observed,
    machine: Machine,
    target: Box<dyn Target>,
    strict: bool,
    layout: Layout,
    kind: Kind,
    /// The extents of the axes.
    extents: Vec<Extent>,
    /// The axis whose iterations the plan has computed together, and how many of them.
    tile: Option<(usize, i64)>,
    /// The axis across the lanes, and how many vectors of it are computed together.
    lanes: Option<(usize, i64)>,
    /// For each result of the region, the number of the statement's result.
    results: Vec<usize>,
    /// Reads are all at the kernel's index: a flat range, if the arrays of a launch are row-major.
    may_be_flat: bool,
    /// Operators of a histogram that threads may count apart.
    apart: Option<Vec<ScalarOp>>,
    /// How many values the body of the statement gives.
    values: usize,
    work: u64,
    /// Who is told of code, and by which name of the unit.
    told: Option<(String, InstalledSink)>,
    codes: [OnceLock<Result<Code, Refusal>>; Variant::COUNT],
}

impl Native {
    /// Compiles the form that the observed launch takes.
    pub fn new(
        Unit { region, plan, observed, machine, .. }: Unit<'_>,
        target: Box<dyn Target>,
        strict: bool,
        told: Option<(String, InstalledSink)>,
    ) -> Result<Native, Refusal> {
        let plan = plan.plan();
        let form = Form::of(region)?;
        let kind = match form.shape {
            Shape::Map(_) => Kind::Map,
            Shape::Fold(..) => Kind::Fold,
            Shape::Scan(..) | Shape::Fed(_) => Kind::Scan,
            Shape::Scatter(..) => Kind::Scatter,
            Shape::Loop(..) => Kind::Loop,
        };
        let compiled = Native {
            number: COMPILED.fetch_add(1, Ordering::Relaxed),
            kind,
            extents: form.axes.iter().map(|axis| Extent::of(region, axis)).collect(),
            tile: tile_of(&form, plan),
            lanes: lanes_of(&form, plan).filter(|_| target.lanes() > 1),
            results: form.results.clone(),
            may_be_flat: form.is_flat(region, plan, target.lanes() > 1),
            work: form.work(region, observed),
            values: form.noted(),
            apart: apart::operators(region, &form),
            region: region.clone(),
            plan: plan.clone(),
            observed: observed.clone(),
            machine: machine.clone(),
            target,
            strict,
            layout: Layout::new(region, noted(&form)),
            told,
            codes: std::array::from_fn(|_| OnceLock::new()),
        };
        let extents = extents_of(region, &form, &|var| observed_scalar(region, observed, var));
        let Some(extents) = extents else {
            return Err(Refusal::new("the extent of an axis is not a number before the launch"));
        };
        let arrays = observed.params.iter().filter_map(|p| match p {
            ObservedParam::Array { lmad, .. } => Some(lmad),
            ObservedParam::Scalar(_) => None,
        });
        let flat = compiled.may_be_flat && are_flat(arrays, &extents);
        let variant = Variant { flat, places: Places::RowMajor, over: false, role: Role::Results };
        compiled.code(variant).map_err(Clone::clone)?;
        Ok(compiled)
    }

    /// The code of a form, compiled when first asked for.
    fn code(&self, variant: Variant) -> Result<&Code, &Refusal> {
        self.codes[variant.number()].get_or_init(|| self.generate(variant)).as_ref()
    }

    fn generate(&self, variant: Variant) -> Result<Code, Refusal> {
        let (code, rooms, pieces) = self.lowered(variant)?;
        let bytes = assemble(&code, &*self.target)?;
        let executable =
            Executable::new(&bytes).map_err(|e| Refusal::new(format!("no executable memory: {e}")))?;
        if let Some((name, sink)) = &self.told {
            let (form, address, bytes) = (variant.name(), executable.address(), executable.code().len());
            sink(&Installed { name, form: &form, address, bytes });
        }
        Ok(Code { executable, pieces, makes_arrays: rooms > 0 })
    }

    /// The low IR of a form, how many arrays it has rooms for, and the axis that pieces are cut from.
    fn lowered(&self, variant: Variant) -> Result<(lir::Code, u32, usize), Refusal> {
        // Over an array that is read, what is read later may not be there any more.
        let is_moved = !variant.over;
        let sunk =
            is_moved.then(|| fetched_late(&self.region, &self.plan, self.target.lanes() > 1)).flatten();
        let region = sunk.as_ref().unwrap_or(&self.region);
        let form = Form::of(region)?;
        let pieces = piece_axis(region, &self.plan, &self.observed, &form, self.machine.threads);
        let job = Job {
            region,
            plan: &self.plan,
            observed: &self.observed,
            target: &*self.target,
            layout: &self.layout,
            strict: self.strict,
            flat: variant.flat,
            pieces,
            places: variant.places,
            over: variant.over,
            role: variant.role,
            copies: if self.apart.is_some() { apart::COPIES } else { 1 },
        };
        let mut lowered = lower(&job, &form)?;
        sweep(&mut lowered.code);
        Ok((lowered.code, lowered.rooms, pieces))
    }

    /// The extents of the axes in a launch.
    fn extents(&self, launch: &Launch<'_>) -> Option<Extents> {
        let known = |extent: &Extent| match extent {
            Extent::Number(number) => Some((*number).max(0)),
            Extent::Param(at) => match launch.arguments.get(*at)? {
                Argument::Scalar(bits) => Some((*bits as i64).max(0)),
                Argument::Array { .. } => None,
            },
            Extent::Computed => None,
        };
        self.extents.iter().map(known).collect::<Option<Extents>>().or_else(|| {
            let form = Form::of(&self.region).ok()?;
            extents_of(&self.region, &form, &|var| launch.scalar(&self.region, var))
        })
    }

    fn check_classes(&self, launch: &Launch<'_>) -> Result<(), Refusal> {
        for (argument, seen) in launch.arguments.iter().zip(&self.observed.params) {
            let (Argument::Array { lmad, .. }, ObservedParam::Array { lmad: seen, .. }) = (argument, seen)
            else {
                continue;
            };
            for (now, then) in lmad.dims.iter().zip(&seen.dims) {
                // An extent of 0 or 1 is compiled as stride 1, and matches any stride.
                let compiled = stride_class(if then.size <= 1 { 1 } else { then.stride });
                if now.size > 1 && compiled != StrideClass::Other && stride_class(now.stride) != compiled {
                    return Err(Refusal::new("an array has another stride class than the code was made for"));
                }
            }
        }
        Ok(())
    }

    fn launch(
        &self,
        launch: &mut Launch<'_>,
        kept: Option<&mut Kept>,
        stop: Stop<'_>,
    ) -> Result<(), RunError> {
        let known = kept.as_ref().and_then(|kept| kept.get::<Way>()).filter(|way| way.of == self.number);
        if let Some(way) = known {
            return self.go(way, launch, stop);
        }
        let way = self.way(launch).map_err(RunError::Failed)?;
        let outcome = self.go(&way, launch, stop);
        if let Some(kept) = kept {
            kept.set(way);
        }
        outcome
    }

    /// How a launch goes.
    fn way(&self, launch: &Launch<'_>) -> Result<Way, Refusal> {
        self.check_classes(launch)?;
        let extents = self.extents(launch).ok_or_else(|| Refusal::new("the extent of an axis is unknown"))?;
        let arrays = launch.arguments.iter().filter_map(|a| match a {
            Argument::Array { lmad, .. } => Some(lmad),
            Argument::Scalar(_) => None,
        });
        let places = launch.results.iter().map(|result| places(&result.lmad)).max();
        let places = places.unwrap_or(Places::RowMajor);
        let flat = self.may_be_flat && places == Places::RowMajor && are_flat(arrays, &extents);
        let is_read = |buffer| {
            launch
                .arguments
                .iter()
                .any(|a| matches!(a, Argument::Array { buffer: read, .. } if *read == buffer))
        };
        // What a scatter or a loop writes is read by nothing else of it.
        let over = !matches!(self.kind, Kind::Scatter | Kind::Loop)
            && launch.results.iter().any(|result| is_read(result.buffer));
        let mut variant = Variant { flat, places, over, role: Role::Results };
        let of = self.number;
        if self.kind == Kind::Loop {
            return Ok(Way { of, variant, pieces: smallvec![(0, 1)], copies: None, stream: false });
        }
        let total = extents.iter().try_fold(1i64, |n, e| n.checked_mul(*e)).unwrap_or(i64::MAX);
        let axis = self.code(variant).map_err(Clone::clone)?.pieces;
        let length = if flat { total } else { extents[axis] };
        if self.kind == Kind::Scatter {
            let parts = (self.machine.threads as i64).min(self.part_count(total, length, Together::Alone));
            let copies = self
                .apart
                .as_ref()
                .and_then(|_| apart::copies(&self.region, &launch.results, total, parts, &self.machine));
            let pieces = match copies {
                Some(_) => cut(length, parts, Together::Alone),
                None => smallvec![(0, length)],
            };
            variant.places = if copies.is_some() { Places::RowMajor } else { places };
            return Ok(Way { of, variant, pieces, copies, stream: false });
        }
        let together = self.together(axis, flat);
        let parts = self.part_count(total, length, together);
        let result_bytes: i64 =
            self.region.results().iter().map(|t| t.elem.bytes() as i64).sum::<i64>().saturating_mul(total);
        let pieces = cut(length, parts, together);
        // Stores past the caches are of whole cache lines: a piece begins where a line does.
        let are_lines = pieces.iter().all(|(low, _)| low % PIECE_UNIT == 0);
        let stream = are_lines && self.plan.stream().is_some_and(|bytes| result_bytes as u64 > bytes);
        Ok(Way { of, variant, pieces, copies: None, stream })
    }

    /// Goes that way.
    fn go(&self, way: &Way, launch: &mut Launch<'_>, stop: Stop<'_>) -> Result<(), RunError> {
        let code = self.code(way.variant).map_err(|r| RunError::Failed(r.clone()))?;
        if let (Some(ops), Some(copies)) = (&self.apart, way.copies) {
            return self.run_apart(code, launch, (ops, copies), &way.pieces, stop);
        }
        if self.kind == Kind::Fold {
            return self.run_fold(code, launch, &way.pieces, stop);
        }
        let record = self.layout.fill(&self.region, launch);
        let stream = way.stream && record.results_are_aligned();
        match self.kind == Kind::Scan && way.pieces.len() > 1 {
            true => self.run_chain(code, &record, &way.pieces, stream, stop),
            false => self.run_map(code, record, &way.pieces, stream, stop),
        }
    }

    /// What the iterations of an axis, or of the flat range, have in common.
    fn together(&self, axis: usize, flat: bool) -> Together {
        let tile = self.tile.filter(|(tiled, _)| *tiled == axis && !flat);
        let lanes = self.lanes.filter(|(lane, _)| *lane == axis || flat);
        match (tile, lanes) {
            (Some((_, rows)), _) => Together::Rows(rows),
            (None, Some((_, groups))) => {
                let vector = self.target.lanes() as i64;
                Together::Lanes { vector, all: vector * groups }
            }
            (None, None) => Together::Alone,
        }
    }

    /// How many pieces an axis of this length is cut into.
    fn part_count(&self, total: i64, length: i64, together: Together) -> i64 {
        let work = (total as u64).saturating_mul(self.work.max(1));
        let threads = self.machine.threads as i64;
        // Bit-for-bit agreement in strict mode includes the order of a reduction.
        if self.strict && matches!(self.kind, Kind::Fold | Kind::Scan) {
            return 1;
        }
        // As many as it takes to be able to stop; they are the same for every run, and so are sums of floats.
        let to_stop = i64::try_from(work / LARGEST_PIECE).unwrap_or(i64::MAX);
        let grain = self.machine.thread_grain.max(1);
        let to_share = match threads {
            ..=1 => 1,
            _ if work < 2 * grain => 1,
            _ => (threads * PIECES_PER_THREAD).min((work / grain) as i64),
        };
        let parts = match self.kind {
            // A piece is read twice by a thread, the second time from its cache; one thread makes all in one go.
            Kind::Scan if to_share > 1 => {
                let bytes = length.saturating_mul(8 * self.values as i64);
                to_share.max(bytes / (self.machine.l2_bytes / 2).max(1) as i64)
            }
            Kind::Scan => 1,
            // One thread has nothing to even out, and loops ask by themselves whether to go on.
            Kind::Map if threads <= 1 => 1,
            Kind::Map => {
                to_share.min(together.most_full_pieces(length)).max(to_stop.min(together.most_pieces(length)))
            }
            // Where lanes go across what is combined is known to its code alone: threads come first.
            Kind::Fold | Kind::Scatter => to_share.max(to_stop.min(together.most_pieces(length))),
            Kind::Loop => 1,
        };
        parts.min(length).clamp(1, MOST_PIECES)
    }

    fn run_map(
        &self,
        code: &Code,
        record: Record<'_>,
        pieces: &[(i64, i64)],
        stream: bool,
        stop: Stop<'_>,
    ) -> Result<(), RunError> {
        let code = code.begin();
        if let [(low, high)] = *pieces {
            let well = !stop() && code.run(&mut record.into_piece(low, high, stream, &stop));
            return code.ended(well, stop);
        }
        let run =
            |&(low, high): &(i64, i64)| !stop() && code.run(&mut record.piece(low, high, stream, &stop));
        code.ended(self.all(pieces, run), stop)
    }

    /// Whether all pieces go well: by several threads if there are any.
    fn all(&self, pieces: &[(i64, i64)], run: impl Fn(&(i64, i64)) -> bool + Send + Sync) -> bool {
        if pieces.len() == 1 || self.machine.threads <= 1 {
            return pieces.iter().all(run);
        }
        // Small enough that no thread waits for another's last pieces.
        let most = (pieces.len() / (64 * self.machine.threads)).max(1);
        divided(|| pieces.par_iter().with_max_len(most).all(run))
    }

    /// Pieces of a scan, by several threads.
    fn run_chain(
        &self,
        code: &Code,
        record: &Record<'_>,
        pieces: &[(i64, i64)],
        stream: bool,
        stop: Stop<'_>,
    ) -> Result<(), RunError> {
        let other = |variant| self.code(variant).map_err(|r| RunError::Failed(r.clone()));
        let (totals, joined) = (other(Variant::TOTALS)?, other(Variant::JOINED)?);
        let (code, totals, joined) = (code.begin(), totals.begin(), joined.begin());
        let links = Scanned { code, totals, joined, record, pieces, values: self.values, stream, stop };
        links.code.ended(chain::run(&links, pieces.len(), self.machine.threads), stop)
    }

    /// Every piece counts in arrays of its own, of which it has so many copies.
    fn run_apart(
        &self,
        code: &Code,
        launch: &mut Launch<'_>,
        (ops, copies): (&[ScalarOp], usize),
        pieces: &[(i64, i64)],
        stop: Stop<'_>,
    ) -> Result<(), RunError> {
        let code = code.begin();
        let blocks = || apart::blocks(&self.region, &launch.results, ops, copies);
        let mut counted: Vec<Vec<Vec<u64>>> = pieces.iter().map(|_| blocks()).collect();
        {
            let record = self.layout.fill(&self.region, launch);
            let run = |(blocks, &(low, high)): (&mut Vec<Vec<u64>>, &(i64, i64))| {
                let record = record.piece(low, high, false, &stop);
                !stop() && code.run(&mut record.with_blocks(&self.region, blocks, copies))
            };
            let well = divided(|| counted.par_iter_mut().zip(pieces).with_max_len(1).all(run));
            code.ended(well, stop)?;
        }
        let well = counted.iter().all(|blocks| apart::add(&self.region, launch, ops, blocks, copies));
        if well { Ok(()) } else { Err(RunError::Failed(Refusal::new("a result has no place"))) }
    }

    /// Every piece gives partial results; they are combined in order.
    fn run_fold(
        &self,
        code: &Code,
        launch: &mut Launch<'_>,
        pieces: &[(i64, i64)],
        stop: Stop<'_>,
    ) -> Result<(), RunError> {
        let code = code.begin();
        let mut partials = vec![0u64; pieces.len() * self.values];
        {
            let record = self.layout.fill(&self.region, launch);
            let run = |(noted, &(low, high)): (&mut [u64], &(i64, i64))| {
                !stop() && run_noting(&code, record.piece(low, high, false, &stop), noted)
            };
            let well = if pieces.len() == 1 || self.machine.threads <= 1 {
                partials.chunks_mut(self.values).zip(pieces).all(run)
            } else {
                divided(|| partials.par_chunks_mut(self.values).zip(pieces).with_max_len(1).all(run))
            };
            code.ended(well, stop)?;
            if pieces.len() > 1 {
                let joined = self.code(Variant::JOINED).map_err(|r| RunError::Failed(r.clone()))?.begin();
                let mut values = vec![0u64; self.values];
                let piece = record.piece(0, pieces.len() as i64, false, &stop).with_partials(&partials);
                joined.ended(run_noting(&joined, piece, &mut values), stop)?;
                partials = values;
            }
        }
        for (k, ty) in self.region.results().iter().enumerate() {
            let value = partials[self.results[k]];
            let result = &launch.results[k];
            let (at, size) = (result.lmad.offset as usize * ty.elem.bytes(), ty.elem.bytes());
            let place = launch.buffers[result.buffer].bytes_mut().and_then(|b| b.get_mut(at..at + size));
            let Some(place) = place else {
                return Err(RunError::Failed(Refusal::new("a result has no place")));
            };
            place.copy_from_slice(&value.to_le_bytes()[..size]);
        }
        Ok(())
    }
}

/// The pieces of a scan.
struct Scanned<'c> {
    code: Running<'c>,
    totals: Running<'c>,
    joined: Running<'c>,
    record: &'c Record<'c>,
    pieces: &'c [(i64, i64)],
    /// How many values the pieces hand on.
    values: usize,
    stream: bool,
    stop: Stop<'c>,
}

impl Links for Scanned<'_> {
    fn total(&self, piece: usize) -> Option<Vec<u64>> {
        let ((low, high), mut noted) = (self.pieces[piece], vec![0; self.values]);
        let record = self.record.piece(low, high, false, &self.stop);
        (!(self.stop)() && run_noting(&self.totals, record, &mut noted)).then_some(noted)
    }

    fn joined(&self, before: &[u64], total: &[u64]) -> Option<Vec<u64>> {
        let (both, mut noted) = ([before, total].concat(), vec![0; self.values]);
        let record = self.record.piece(0, 2, false, &self.stop).with_partials(&both);
        run_noting(&self.joined, record, &mut noted).then_some(noted)
    }

    fn results(&self, piece: usize, before: &[u64]) -> bool {
        let (low, high) = self.pieces[piece];
        let record = self.record.piece(low, high, self.stream, &self.stop);
        let mut record = if before.is_empty() { record } else { record.with_partials(before) };
        self.code.run(&mut record)
    }
}

/// Runs code on a piece and takes what it noted; false if it did not go well.
fn run_noting(code: &Running<'_>, mut piece: Record<'_>, noted: &mut [u64]) -> bool {
    let well = code.run(&mut piece);
    noted.copy_from_slice(&piece.notes()[..noted.len()]);
    well
}

/// The extents of the axes, given the scalar parameters. Scalar lets in front are looked through.
fn extents_of(
    region: &VerifiedRegion,
    form: &Form<'_>,
    scalars: &dyn Fn(VarId) -> Option<Scalar>,
) -> Option<Extents> {
    form.axes.iter().map(|axis| Some(form.size(region, &axis.bound, scalars)?.max(0))).collect()
}

impl Extent {
    fn of(region: &VerifiedRegion, axis: &Axis) -> Extent {
        let is_param = |var: &VarId| region.region().params.iter().position(|param| param == var);
        match &axis.bound {
            Exp::Const(number) => Extent::Number(number.as_i64()),
            Exp::Var(var) => is_param(var).map_or(Extent::Computed, Extent::Param),
            _ => Extent::Computed,
        }
    }
}

/// Values that are noted in vectors of iterations: places and values of a scatter, each in room of its own, or those of a
/// reduction or scan, which has one of each.
fn noted(form: &Form<'_>) -> usize {
    match form.shape {
        Shape::Scatter(..) => form.noted(),
        Shape::Fold(..) | Shape::Scan(..) | Shape::Fed(_) => form.noted().div_ceil(NOTE),
        Shape::Map(_) | Shape::Loop(..) => 0,
    }
}

/// The axis whose iterations a plan has computed together, by position, and how many of them.
fn tile_of(form: &Form<'_>, plan: &Plan) -> Option<(usize, i64)> {
    let (row, count) = plan.tile()?;
    let axis = form.axes.iter().position(|axis| axis.var == row)?;
    Some((axis, count as i64))
}

/// The axis of a kernel that goes across lanes, by position, and how many vectors of it a plan has computed together.
fn lanes_of(form: &Form<'_>, plan: &Plan) -> Option<(usize, i64)> {
    let lane = plan.kernel_lane(form.axes)?;
    let position = form.axes.iter().position(|axis| axis.var == lane)?;
    Some((position, plan.groups(lane).unwrap_or(1) as i64))
}

/// How a result lies. Where a dimension has one index, any stride will do.
fn places(lmad: &Lmad) -> Places {
    let neighbours = lmad.dims.last().is_none_or(|dim| dim.stride == 1 || dim.size <= 1);
    match (lmad.is_row_major(), neighbours) {
        (true, _) => Places::RowMajor,
        (false, true) => Places::Rows,
        (false, false) => Places::Any,
    }
}

/// True if all arrays are row-major over exactly these extents.
fn are_flat<'l>(mut arrays: impl Iterator<Item = &'l Lmad>, extents: &[i64]) -> bool {
    arrays.all(|lmad| lmad.shape().as_slice() == extents && lmad.is_row_major())
}

impl Compiled for Native {
    fn run_until(&self, launch: CheckedLaunch<'_, '_>, stop: Stop<'_>) -> Result<(), RunError> {
        let (launch, kept) = launch.with_kept(&self.region)?;
        self.launch(launch, kept, stop)
    }

    fn takes_places(&self) -> bool {
        true
    }

    /// All forms of a loop make the same arrays.
    fn needs_no_memory(&self) -> bool {
        let mut made = self.codes.iter().filter_map(|code| code.get()?.as_ref().ok()).peekable();
        self.kind == Kind::Loop && made.peek().is_some() && made.all(|code| !code.makes_arrays)
    }

    fn listing(&self, kind: Listing) -> Option<String> {
        let text = |variant: Variant, code: &Code| {
            let header = format!("{} {} {}", self.region.region().name, variant.name(), self.target.name());
            match kind {
                Listing::Lir => Some(format!("; {header}\n{}", self.lowered(variant).ok()?.0)),
                Listing::Asm => Some(self.target.disassemble(&header, code.executable.code())),
                Listing::Spirv | Listing::Glsl => None,
            }
        };
        let made = Variant::all().filter_map(|variant| {
            let code = self.codes[variant.number()].get()?.as_ref().ok()?;
            Some((variant, code))
        });
        made.map(|(variant, code)| text(variant, code)).collect()
    }
}
