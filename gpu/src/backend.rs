//! The Vulkan back end: compiles units by one of two routes, and carries out launches.
//!
//! A launch reads copies of blocks that are on the device already, and leaves its results there (`residents.rs`). Small results come to
//! the host with the launch, in the same submission: somebody will ask for them.

use crate::device::{Dispatch, Gpu, Pipeline};
use crate::info::{Features, GpuError};
use crate::lower::program::{Count, Outcome, Program, Slot, Source, Temp, lower};
use crate::lower::stage::{GROUP, MOST_GROUPS};
use crate::memory::Buffer;
use crate::shader::Shader;
use galopvm_base::{ElemType, Scalar, TypedId};
use galopvm_kir::types::scalar_value;
use galopvm_kir::{
    Argument, Backend, Buffer as Block, CheckedLaunch, Compiled, Exp, Launch, Listing, Refusal, ResultView,
    RunError, Unit, VarId, VerifiedRegion,
};
use galopvm_lmad::Lmad;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Points of one stage that an invocation number can tell apart, with room for the step of a reduction.
const MOST_POINTS: u64 = 1 << 31;

/// Points of a reduction that make another workgroup worth it, per invocation.
const POINTS_PER_INVOCATION: u64 = 8;

/// Bytes of a result that comes to the host with the launch.
const SMALL: usize = 4 << 10;

/// How a shader becomes SPIR-V.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Route {
    /// Words of our own.
    #[default]
    Direct,
    /// GLSL text compiled by shaderc; needs the cargo feature `shaderc`.
    Glsl,
}

impl Route {
    /// Both.
    pub const ALL: [Route; 2] = [Route::Direct, Route::Glsl];

    /// The word on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Route::Direct => "direct",
            Route::Glsl => "glsl",
        }
    }

    /// True if this build can take the route.
    pub const fn is_built_in(self) -> bool {
        matches!(self, Route::Direct) || cfg!(feature = "shaderc")
    }

    fn words(self, shader: &Shader, features: &Features) -> Result<Vec<u32>, Refusal> {
        match self {
            Route::Direct => crate::spirv::emit::words(shader, features).map_err(Refusal::new),
            #[cfg(feature = "shaderc")]
            Route::Glsl => {
                crate::glsl::compile::words(shader, features).map_err(|e| Refusal::new(e.to_string()))
            }
            #[cfg(not(feature = "shaderc"))]
            Route::Glsl => Err(Refusal::new("this build has no shaderc (cargo feature `shaderc`)")),
        }
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Route {
    type Err = ();

    fn from_str(text: &str) -> Result<Route, ()> {
        Route::ALL.into_iter().find(|r| r.name() == text).ok_or(())
    }
}

/// The back end on one device.
#[derive(Clone, Copy)]
pub struct Vulkan<'g> {
    gpu: &'g Gpu,
    route: Route,
}

impl Vulkan<'static> {
    /// On the process's device.
    pub fn new(route: Route) -> Result<Vulkan<'static>, GpuError> {
        Ok(Vulkan { gpu: Gpu::shared()?, route })
    }

    /// On a device of one's own.
    pub fn on(gpu: &'static Gpu, route: Route) -> Vulkan<'static> {
        Vulkan { gpu, route }
    }

    /// The device.
    pub fn gpu(&self) -> &'static Gpu {
        self.gpu
    }
}

impl Backend for Vulkan<'static> {
    fn name(&self) -> &'static str {
        "vulkan"
    }

    fn compile(&self, unit: Unit<'_>) -> Result<Arc<dyn Compiled>, Refusal> {
        let features = &self.gpu.info().features;
        let program = lower(unit, features)?;
        let mut pipelines = Vec::new();
        for stage in &program.stages {
            let words = self.route.words(&stage.shader, features)?;
            pipelines.push(self.gpu.kernel(&stage.shader, &words).map_err(|e| Refusal::new(e.to_string()))?);
        }
        Ok(Arc::new(Code {
            gpu: self.gpu,
            region: unit.region.clone(),
            program,
            pipelines,
            route: self.route,
        }))
    }
}

/// The text of a unit as this back end would compile it for a device that can do everything; needs no device.
pub fn listing(unit: Unit<'_>, kind: Listing, route: Route) -> Result<String, Refusal> {
    let features = Features::all();
    let program = lower(unit, &features)?;
    text(&program, kind, route, &features)
        .unwrap_or_else(|| Err(Refusal::new("the Vulkan back end has no such text")))
}

fn text(
    program: &Program,
    kind: Listing,
    route: Route,
    features: &Features,
) -> Option<Result<String, Refusal>> {
    let mut out = String::new();
    for (k, stage) in program.stages.iter().enumerate() {
        match kind {
            Listing::Lir | Listing::Asm => return None,
            Listing::Spirv => {
                out.push_str(&format!("{}{k}: {}\n", crate::spirv::text::STAGE, stage.name));
                let printed = route
                    .words(&stage.shader, features)
                    .and_then(|words| crate::spirv::text::print(&words).map_err(Refusal::new));
                match printed {
                    Ok(text) => out.push_str(&text),
                    Err(refusal) => return Some(Err(refusal)),
                }
            }
            Listing::Glsl => {
                out.push_str(&format!(
                    "// stage {k}: {}\n{}",
                    stage.name,
                    crate::glsl::print::text(&stage.shader)
                ));
            }
        }
    }
    Some(Ok(out))
}

/// A region made ready for a device.
struct Code {
    gpu: &'static Gpu,
    region: VerifiedRegion,
    program: Program,
    pipelines: Vec<Arc<Pipeline>>,
    route: Route,
}

fn failed(reason: impl fmt::Display) -> RunError {
    RunError::Failed(Refusal::new(reason.to_string()))
}

/// A stretch of a launch's block that is on the device.
struct Input {
    /// Its first byte in the block; a multiple of every element size.
    start: usize,
    buffer: Arc<Buffer>,
}

/// Where the elements of a result go.
enum Goal {
    /// All of them in a row, from this byte of the block on.
    Row(usize),
    /// Each by itself.
    Scattered,
}

impl Compiled for Code {
    fn run_until(
        &self,
        launch: CheckedLaunch<'_, '_>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), RunError> {
        if stop() {
            return Err(RunError::Stopped);
        }
        let launch = launch.of(&self.region)?;
        let hosts = self.hosts(launch)?;
        let size = |exp: &Exp| self.size(exp, &hosts);
        for extent in &self.program.small {
            if size(extent)? > u64::from(u32::MAX) {
                return Err(failed("an extent or a bound of 2^32 or more"));
            }
        }
        let points = self.points(&size)?;
        let inputs = self.inputs(launch)?;
        let params = self.params(launch, &hosts, &inputs, &points)?;
        let params = self.gpu.numbers(&params).map_err(failed)?;
        let flag = self.gpu.flag().map_err(failed)?;
        let mut temps = Vec::new();
        for temp in &self.program.temps {
            temps.push(Arc::new(self.gpu.buffer(bytes_of(temp, &size)?).map_err(failed)?));
        }
        let mut bound = Vec::new();
        for stage in &self.program.stages {
            let buffers: Result<Vec<&Buffer>, RunError> = stage
                .sources
                .iter()
                .map(|source| match source {
                    Source::Params => Ok(&params),
                    Source::Flag => Ok(&flag),
                    Source::Temp(k) => {
                        temps.get(*k).map(|temp| &**temp).ok_or_else(|| failed("a value without a buffer"))
                    }
                    Source::Array(k) => self.input(launch, &inputs, *k).map(|input| &*input.buffer),
                })
                .collect();
            bound.push(buffers?);
        }
        let work: Vec<Dispatch<'_>> = self
            .pipelines
            .iter()
            .zip(&bound)
            .zip(&points)
            .map(|((pipeline, buffers), (_, groups))| Dispatch {
                pipeline,
                buffers,
                push: &[],
                groups: self.grid(*groups),
            })
            .collect();
        let mut small = self.small(&temps);
        self.gpu.submit_for(&work, &mut small).map_err(failed)?;
        if self.gpu.is_raised(&flag).map_err(failed)? {
            return Err(RunError::Trap);
        }
        for (k, outcome) in self.program.results.iter().enumerate() {
            self.result(launch, k, *outcome, &temps, &small, &hosts)?;
        }
        Ok(())
    }

    fn keeps_copies(&self) -> bool {
        true
    }

    fn listing(&self, kind: Listing) -> Option<String> {
        text(&self.program, kind, self.route, &self.gpu.info().features)?.ok()
    }
}

impl Code {
    /// The scalars the host knows: parameters, and what it computes of them.
    fn hosts(&self, launch: &Launch<'_>) -> Result<HashMap<VarId, Scalar>, RunError> {
        let mut known = HashMap::new();
        for (param, argument) in self.region.region().params.iter().zip(launch.arguments.iter()) {
            if let Argument::Scalar(bits) = argument {
                known.insert(*param, Scalar::new(self.region.type_of(*param).elem, *bits));
            }
        }
        for (var, exp) in &self.program.hosts {
            // Nothing but a zero divisor leaves such an expression without a value.
            let value = scalar_value(exp, &|v| known.get(&v).copied()).ok_or(RunError::Trap)?;
            known.insert(*var, value);
        }
        Ok(known)
    }

    fn size(&self, exp: &Exp, hosts: &HashMap<VarId, Scalar>) -> Result<u64, RunError> {
        let value = scalar_value(exp, &|v| hosts.get(&v).copied()).ok_or(RunError::Trap)?;
        Ok(u64::try_from(value.as_i64()).unwrap_or(0))
    }

    /// The number of points and of workgroups of each stage.
    fn points(&self, size: &dyn Fn(&Exp) -> Result<u64, RunError>) -> Result<Vec<(u64, u64)>, RunError> {
        let count = |bounds: &[Exp]| {
            let mut total = 1u64;
            let mut sizes = Vec::new();
            for bound in bounds {
                sizes.push(size(bound)?);
            }
            if sizes.contains(&0) {
                return Ok(0);
            }
            for size in sizes {
                total = total.saturating_mul(size);
            }
            if total < MOST_POINTS { Ok(total) } else { Err(failed("too many iterations for one dispatch")) }
        };
        let group = u64::from(GROUP);
        self.program
            .stages
            .iter()
            .map(|stage| {
                Ok(match &stage.count {
                    Count::Points(bounds) => {
                        let points = count(bounds)?;
                        (points, points.div_ceil(group))
                    }
                    Count::Chunks(bounds) => {
                        let points = count(bounds)?;
                        let groups = points.div_ceil(group * POINTS_PER_INVOCATION);
                        (points, groups.clamp(1, u64::from(MOST_GROUPS)))
                    }
                    Count::One => (1, 1),
                })
            })
            .collect()
    }

    /// Workgroups in a grid of two dimensions, the first as wide as the device allows. What is too much is not
    /// there for the shader.
    fn grid(&self, groups: u64) -> [u32; 3] {
        let limit = u64::from(self.gpu.info().limits.group_count[0]).max(1);
        let (x, y) = if groups <= limit { (groups, 1) } else { (limit, groups.div_ceil(limit)) };
        [x as u32, u32::try_from(y).unwrap_or(u32::MAX), 1]
    }

    /// The arrays the stages read, each block's needed stretch once.
    fn inputs(&self, launch: &Launch<'_>) -> Result<HashMap<usize, Input>, RunError> {
        let mut stretches: HashMap<usize, (usize, usize)> = HashMap::new();
        for source in self.program.stages.iter().flat_map(|s| &s.sources) {
            let Source::Array(k) = source else { continue };
            let (buffer, lmad, bytes) = self.argument(launch, *k)?;
            let stretch = stretches.entry(buffer).or_insert((usize::MAX, 0));
            if let Some((low, high)) = lmad.bounds() {
                let place = |element: i64| usize::try_from(element).ok().and_then(|e| e.checked_mul(bytes));
                let (Some(low), Some(high)) = (place(low), high.checked_add(1).and_then(place)) else {
                    return Err(failed("a view leaves its buffer"));
                };
                *stretch = (stretch.0.min(low / 8 * 8), stretch.1.max(high));
            }
        }
        let mut inputs = HashMap::new();
        for (k, (start, end)) in stretches {
            let stretch = start.min(end)..end;
            let block = launch.buffers.get(k).filter(|block| end <= block.size());
            let (start, buffer) = match block.ok_or_else(|| failed("a view leaves its buffer"))? {
                Block::Stored(block) => self.gpu.copy_of(*block, stretch).map_err(failed)?,
                block => {
                    let bytes = &block.bytes()[stretch.clone()];
                    (stretch.start, Arc::new(self.gpu.bring_up(bytes).map_err(failed)?))
                }
            };
            inputs.insert(k, Input { start, buffer });
        }
        Ok(inputs)
    }

    fn input<'u>(
        &self,
        launch: &Launch<'_>,
        inputs: &'u HashMap<usize, Input>,
        param: usize,
    ) -> Result<&'u Input, RunError> {
        let (buffer, _, _) = self.argument(launch, param)?;
        inputs.get(&buffer).ok_or_else(|| failed("an array without a buffer"))
    }

    /// An array argument: its buffer, its view, the bytes of an element.
    fn argument<'l>(
        &self,
        launch: &'l Launch<'_>,
        param: usize,
    ) -> Result<(usize, &'l Lmad, usize), RunError> {
        let bytes = self.region.region().params.get(param).map(|v| self.region.type_of(*v).elem.bytes());
        match (launch.arguments.get(param), bytes) {
            (Some(Argument::Array { buffer, lmad }), Some(bytes)) => Ok((*buffer, lmad, bytes)),
            _ => Err(failed(format!("argument {param} is not an array"))),
        }
    }

    /// The content of the parameter buffer.
    fn params(
        &self,
        launch: &Launch<'_>,
        hosts: &HashMap<VarId, Scalar>,
        inputs: &HashMap<usize, Input>,
        points: &[(u64, u64)],
    ) -> Result<Vec<u8>, RunError> {
        let mut out = Vec::with_capacity(self.program.slots.len() * 8);
        for slot in &self.program.slots {
            let value = match slot {
                Slot::Scalar(var) => {
                    hosts.get(var).ok_or_else(|| failed(format!("v{} has no value", var.index())))?.bits
                }
                Slot::Offset(k) => {
                    let (_, lmad, bytes) = self.argument(launch, *k)?;
                    let start = self.input(launch, inputs, *k)?.start / bytes;
                    if lmad.is_empty() { 0 } else { (lmad.offset - start as i64) as u64 }
                }
                Slot::Extent(k, d) | Slot::Stride(k, d) => {
                    let (_, lmad, _) = self.argument(launch, *k)?;
                    let dim = lmad.dims.get(*d).ok_or_else(|| failed("a view has too few dimensions"))?;
                    let size = dim.size.max(0) as u64;
                    if size > u64::from(u32::MAX) {
                        return Err(failed("an array with an extent of 2^32 or more"));
                    }
                    if matches!(slot, Slot::Extent(..)) { size } else { dim.stride as u64 }
                }
                Slot::Points(stage) => points.get(*stage).map_or(0, |p| p.0),
                Slot::Groups(stage) => points.get(*stage).map_or(0, |p| p.1),
                Slot::Zeros => 0,
            };
            out.extend(value.to_le_bytes());
        }
        Ok(out)
    }

    /// The buffers of results that come to the host with the launch, with room for their bytes.
    fn small<'t>(&self, temps: &'t [Arc<Buffer>]) -> Vec<(&'t Buffer, Vec<u8>)> {
        let mut small: Vec<(&Buffer, Vec<u8>)> = Vec::new();
        for outcome in &self.program.results {
            if let Outcome::Temp(temp) = outcome
                && let Some(buffer) = temps.get(*temp)
                && (1..=SMALL).contains(&buffer.len())
                && !small.iter().any(|(known, _)| std::ptr::eq(*known, &**buffer))
            {
                small.push((buffer, vec![0; buffer.len()]));
            }
        }
        small
    }

    /// The bytes of a result in their order, and where they go.
    fn goal(&self, launch: &Launch<'_>, k: usize) -> Result<(ElemType, usize, Goal), RunError> {
        let ty = self.region.results().get(k).ok_or_else(|| failed("a result too many"))?;
        let ResultView { lmad, .. } =
            launch.results.get(k).ok_or_else(|| failed("a result without a place"))?;
        let outside = || failed("a result leaves its buffer");
        let width = ty.elem.bytes();
        let count = usize::try_from(lmad.elements()).map_err(failed)?;
        let bytes = count.checked_mul(width).ok_or_else(outside)?;
        let in_a_row = Lmad::new(lmad.offset, Lmad::row_major(&lmad.shape()).dims);
        let goal = match lmad.index_form() == in_a_row.index_form() {
            true => {
                let start = usize::try_from(lmad.offset).ok().and_then(|start| start.checked_mul(width));
                Goal::Row(start.ok_or_else(outside)?)
            }
            false => Goal::Scattered,
        };
        Ok((ty.elem, bytes, goal))
    }

    /// Leaves a whole result on the device, or keeps it there if its bytes have come to the host; says whether it did.
    fn stays(&self, block: &mut Block<'_>, temp: &Arc<Buffer>, fetched: Option<&[u8]>) -> bool {
        let Block::Fresh(block) = block else { return false };
        match fetched {
            None => self.gpu.leave(*block, temp),
            Some(bytes) => {
                self.gpu.keep(*block, temp, bytes);
                true
            }
        }
    }

    fn result(
        &self,
        launch: &mut Launch<'_>,
        k: usize,
        outcome: Outcome,
        temps: &[Arc<Buffer>],
        small: &[(&Buffer, Vec<u8>)],
        hosts: &HashMap<VarId, Scalar>,
    ) -> Result<(), RunError> {
        let (elem, bytes, goal) = self.goal(launch, k)?;
        if bytes == 0 {
            return Ok(());
        }
        let ResultView { buffer, lmad } =
            launch.results.get(k).cloned().ok_or_else(|| failed("a result without a place"))?;
        let block = launch.buffers.get_mut(buffer).ok_or_else(|| failed("a result without a place"))?;
        let outside = || failed("a result leaves its buffer");
        let width = elem.bytes();
        let known: Vec<u8>;
        let values = match outcome {
            Outcome::Host(var) => {
                let value = hosts.get(&var).ok_or_else(|| failed("a scalar without a value"))?;
                known = value.bits.to_le_bytes()[..width].to_vec();
                &known[..]
            }
            Outcome::Temp(temp) => {
                let temp = temps.get(temp).ok_or_else(|| failed("a value without a buffer"))?;
                let fetched = small.iter().find(|(buffer, _)| std::ptr::eq(*buffer, &**temp));
                let fetched = fetched.map(|(_, bytes)| &bytes[..]);
                let is_whole = matches!(goal, Goal::Row(0)) && bytes == block.size() && bytes == temp.len();
                if is_whole && lmad.rank() > 0 && self.stays(block, temp, fetched) {
                    return Ok(());
                }
                let block = block.bytes_mut().ok_or_else(|| failed("a result cannot be written"))?;
                match (goal, fetched) {
                    (_, Some(fetched)) => fetched.get(..bytes).ok_or_else(outside)?,
                    (Goal::Row(start), None) => {
                        let end = start.checked_add(bytes).ok_or_else(outside)?;
                        let target = block.get_mut(start..end).ok_or_else(outside)?;
                        return self.gpu.bring(temp, target).map_err(failed);
                    }
                    (Goal::Scattered, None) => {
                        let mut fetched = vec![0; bytes];
                        self.gpu.bring(temp, &mut fetched).map_err(failed)?;
                        known = fetched;
                        &known
                    }
                }
            }
        };
        let block = block.bytes_mut().ok_or_else(|| failed("a result cannot be written"))?;
        for (element, source) in lmad.places().zip(values.chunks_exact(width)) {
            let start = usize::try_from(element).ok().and_then(|start| start.checked_mul(width));
            let range = start.and_then(|start| Some(start..start.checked_add(width)?));
            let target = range.and_then(|range| block.get_mut(range)).ok_or_else(outside)?;
            target.copy_from_slice(source);
        }
        Ok(())
    }
}

fn bytes_of(temp: &Temp, size: &dyn Fn(&Exp) -> Result<u64, RunError>) -> Result<usize, RunError> {
    let mut total = temp.elem.bytes() as u64;
    for extent in &temp.shape {
        total = total.saturating_mul(size(extent)?);
    }
    usize::try_from(total).map_err(failed)
}
