//! Vulkan through vulkano: devices, pipelines, dispatches. The only file of this crate with `unsafe`.
//!
//! Invariants:
//! - Work is given to the device by who has the turn, and waited for before the turn goes on: [`Buffer`]s (`memory.rs`) are idle
//!   whenever somebody can touch them.
//! - A [`Pipeline`] can only be made from a [`Shader`], whose constructor states what the words must satisfy.
//! - Every failure is a [`GpuError`]; nothing here panics on what a driver answers, and a device that is lost is asked no more.
#![allow(unsafe_code)]

use crate::info::{DeviceChoice, DeviceInfo, DeviceKind, Features, GpuError, Ieee, Limits};
use crate::memory::{Buffer, LEAST_POOL_BYTES, PIECE, Pool, Staging, fetch, lock};
use crate::residents::Residents;
use crate::traffic::Traffic;
use std::collections::HashMap;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use vulkano::buffer::Subbuffer;
use vulkano::command_buffer::allocator::StandardCommandBufferAllocator;
use vulkano::command_buffer::{
    AutoCommandBufferBuilder, CommandBufferExecFuture, CommandBufferUsage, CopyBufferInfo,
    PrimaryAutoCommandBuffer, PrimaryCommandBufferAbstract,
};
use vulkano::descriptor_set::allocator::StandardDescriptorSetAllocator;
use vulkano::descriptor_set::layout::{
    DescriptorSetLayout, DescriptorSetLayoutBinding, DescriptorSetLayoutCreateInfo, DescriptorType,
};
use vulkano::descriptor_set::{DescriptorSet, WriteDescriptorSet};
use vulkano::device::physical::{DriverId, PhysicalDevice, PhysicalDeviceType};
use vulkano::device::{
    Device, DeviceCreateInfo, DeviceExtensions, DeviceFeatures, Queue, QueueCreateInfo, QueueFlags,
};
use vulkano::instance::{Instance, InstanceCreateFlags, InstanceCreateInfo};
use vulkano::memory::MemoryHeapFlags;
use vulkano::memory::allocator::StandardMemoryAllocator;
use vulkano::pipeline::compute::ComputePipelineCreateInfo;
use vulkano::pipeline::layout::{PipelineLayout, PipelineLayoutCreateInfo, PushConstantRange};
use vulkano::pipeline::{ComputePipeline, PipelineBindPoint, PipelineShaderStageCreateInfo};
use vulkano::shader::spirv::Spirv;
use vulkano::shader::{ShaderModule, ShaderModuleCreateInfo, ShaderStages};
use vulkano::sync::GpuFuture;
use vulkano::sync::future::{FenceSignalFuture, NowFuture};
use vulkano::{Validated, Version, VulkanError, VulkanLibrary};

/// Bytes of push constants every pipeline declares: what Vulkan guarantees.
pub const PUSH_BYTES: usize = 128;

/// Of a device's memory, the part that free buffers may hold.
const POOL_PART: u64 = 8;

/// Of a device's own memory, the part that copies may hold.
const COPIES_PART: u64 = 2;

/// The same where that is the memory of the host.
const SHARED_PART: u64 = 4;

/// Pipelines kept for reuse.
const MOST_PIPELINES: usize = 1024;

fn driver(doing: &'static str) -> impl Fn(String) -> GpuError {
    move |why| GpuError::Driver { doing, why }
}

/// What vulkano's two-fold errors say.
fn reason<E: Display>(error: Validated<E>) -> String {
    match error {
        Validated::Error(error) => error.to_string(),
        Validated::ValidationError(error) => error.to_string(),
    }
}

fn instance() -> Result<Arc<Instance>, GpuError> {
    let library = VulkanLibrary::new().map_err(|e| GpuError::NoLoader(e.to_string()))?;
    let info = InstanceCreateInfo {
        application_name: Some("galopvm".into()),
        flags: InstanceCreateFlags::ENUMERATE_PORTABILITY,
        ..Default::default()
    };
    Instance::new(library, info).map_err(|e| match e {
        // What the loader says when it finds no driver at all.
        Validated::Error(VulkanError::IncompatibleDriver | VulkanError::InitializationFailed) => {
            GpuError::NoDriver
        }
        other => GpuError::NoInstance(reason(other)),
    })
}

fn describe(index: usize, device: &PhysicalDevice) -> DeviceInfo {
    let properties = device.properties();
    let can = device.supported_features();
    let driver = match (&properties.driver_name, &properties.driver_info) {
        (Some(name), Some(info)) => format!("{name} {info}"),
        (Some(name), None) => name.clone(),
        _ => format!("driver version {}", properties.driver_version),
    };
    let unusable = if device.api_version() < Version::V1_1 {
        Some(format!("it has Vulkan {}, 1.1 is needed", device.api_version()))
    } else if compute_family(device).is_none() {
        Some("it has no compute queue".into())
    } else {
        None
    };
    let kind = match properties.device_type {
        PhysicalDeviceType::DiscreteGpu => DeviceKind::Discrete,
        PhysicalDeviceType::IntegratedGpu => DeviceKind::Integrated,
        PhysicalDeviceType::VirtualGpu => DeviceKind::Virtual,
        PhysicalDeviceType::Cpu => DeviceKind::Cpu,
        _ => DeviceKind::Other,
    };
    DeviceInfo {
        index,
        name: properties.device_name.clone(),
        kind,
        driver,
        version: device.api_version().to_string(),
        unusable,
        features: Features {
            float64: can.shader_float64,
            float16: can.shader_float16,
            int64: can.shader_int64,
            int16: can.shader_int16,
            int8: can.shader_int8,
            storage8: can.storage_buffer8_bit_access,
            storage16: can.storage_buffer16_bit_access,
            denorm32: properties.shader_denorm_preserve_float32 == Some(true),
            denorm64: properties.shader_denorm_preserve_float64 == Some(true),
            exact32: properties.shader_signed_zero_inf_nan_preserve_float32 == Some(true),
            exact64: properties.shader_signed_zero_inf_nan_preserve_float64 == Some(true),
            singles: Ieee::default(),
            doubles: Ieee::default(),
            all_rounds: !matches!(kind, DeviceKind::Cpu | DeviceKind::Other),
        },
        limits: Limits {
            group_count: properties.max_compute_work_group_count,
            group_size: properties.max_compute_work_group_invocations,
            shared_bytes: properties.max_compute_shared_memory_size,
            buffer_bytes: u64::from(properties.max_storage_buffer_range),
            buffers: properties
                .max_per_stage_descriptor_storage_buffers
                .min(properties.max_descriptor_set_storage_buffers),
            push_bytes: properties.max_push_constants_size,
            subgroup: properties.subgroup_size,
        },
    }
}

/// The queue family to compute in; one without graphics if there is one.
fn compute_family(device: &PhysicalDevice) -> Option<u32> {
    let families = device.queue_family_properties();
    let computes = |flags: QueueFlags| flags.contains(QueueFlags::COMPUTE);
    let alone = families
        .iter()
        .position(|f| computes(f.queue_flags) && !f.queue_flags.contains(QueueFlags::GRAPHICS));
    alone.or_else(|| families.iter().position(|f| computes(f.queue_flags))).map(|i| i as u32)
}

/// Every physical device the loader knows, usable or not.
pub fn devices() -> Result<Vec<DeviceInfo>, GpuError> {
    let instance = instance()?;
    let all = instance.enumerate_physical_devices().map_err(|e| GpuError::NoInstance(e.to_string()))?;
    Ok(all.enumerate().map(|(i, d)| describe(i, &d)).collect())
}

static SHARED: OnceLock<Result<Gpu, GpuError>> = OnceLock::new();

/// Bytes of the largest heap of the device's own memory.
fn heap_bytes(device: &PhysicalDevice) -> u64 {
    let heaps = device.memory_properties().memory_heaps.iter();
    heaps
        .filter(|heap| heap.flags.intersects(MemoryHeapFlags::DEVICE_LOCAL))
        .map(|heap| heap.size)
        .max()
        .unwrap_or(0)
}

/// An open device. Shareable between threads; submissions take turns.
pub struct Gpu {
    pub(crate) info: DeviceInfo,
    device: Arc<Device>,
    queue: Arc<Queue>,
    pub(crate) memory: Arc<StandardMemoryAllocator>,
    commands: Arc<StandardCommandBufferAllocator>,
    sets: Arc<StandardDescriptorSetAllocator>,
    pub(crate) pool: Arc<Mutex<Pool>>,
    pipelines: Mutex<HashMap<PipelineKey, Arc<Pipeline>>>,
    /// The device's own memory can be read and written by the host without a detour.
    pub(crate) direct: bool,
    /// Shaders ask for what the driver says that it cannot do, and were seen to get it.
    pub(crate) goes_beyond: bool,
    /// Who has this may give the device work, and use the staging memory.
    turn: Mutex<Staging>,
    is_lost: AtomicBool,
    pub(crate) residents: Residents,
    pub(crate) counts: Mutex<Traffic>,
}

/// Work that the device was given.
pub(crate) type Running = FenceSignalFuture<CommandBufferExecFuture<NowFuture>>;

#[derive(PartialEq, Eq, Hash)]
struct PipelineKey {
    words: Box<[u32]>,
    entry: String,
    buffers: u32,
}

/// SPIR-V with its entry point and the number of storage buffers it uses (set 0, bindings 0, 1, ..).
#[derive(Clone, Copy, Debug)]
pub struct Shader<'a> {
    words: &'a [u32],
    entry: &'a str,
    buffers: u32,
}

impl<'a> Shader<'a> {
    /// Names a shader.
    ///
    /// # Safety
    /// The words must be valid SPIR-V for Vulkan, every access to a storage buffer must stay inside it, and shared
    /// data must be accessed without races, for every dispatch that will be made of it. The words of this crate's
    /// own lowering of a verified kernel are such, with the buffers and group counts the lowering computed.
    pub unsafe fn new(words: &'a [u32], entry: &'a str, buffers: u32) -> Shader<'a> {
        Shader { words, entry, buffers }
    }
}

/// A shader made ready for the device.
pub struct Pipeline {
    raw: Arc<ComputePipeline>,
    layout: Arc<PipelineLayout>,
    set: Arc<DescriptorSetLayout>,
    buffers: u32,
}

/// One dispatch: buffers in binding order, at most [`PUSH_BYTES`] bytes of parameters, group counts.
pub struct Dispatch<'a> {
    /// The shader.
    pub pipeline: &'a Pipeline,
    /// The storage buffers, in the order of their bindings.
    pub buffers: &'a [&'a Buffer],
    /// The push constants.
    pub push: &'a [u8],
    /// Group counts.
    pub groups: [u32; 3],
}

impl Gpu {
    /// Opens a device.
    pub fn open(choice: &DeviceChoice) -> Result<Gpu, GpuError> {
        let instance = instance()?;
        let all: Vec<Arc<PhysicalDevice>> =
            instance.enumerate_physical_devices().map_err(|e| GpuError::NoInstance(e.to_string()))?.collect();
        let mut infos: Vec<DeviceInfo> = all.iter().enumerate().map(|(i, d)| describe(i, d)).collect();
        let index = choice.pick(&infos)?;
        let physical = all[index].clone();
        let info = infos.swap_remove(index);
        let family = compute_family(&physical)
            .ok_or_else(|| GpuError::NoneUsable { known: vec![info.to_string()] })?;
        let can = &info.features;
        let features = DeviceFeatures {
            shader_float64: can.float64,
            shader_float16: can.float16,
            shader_int64: can.int64,
            shader_int16: can.int16,
            shader_int8: can.int8,
            storage_buffer8_bit_access: can.storage8,
            storage_buffer16_bit_access: can.storage16,
            // Every device has it: whatever an index is, an access stays inside its buffer.
            robust_buffer_access: true,
            ..DeviceFeatures::empty()
        };
        // What became core later than Vulkan 1.1 is still an extension on a 1.1 device.
        let wanted = DeviceExtensions {
            khr_8bit_storage: true,
            khr_shader_float16_int8: true,
            khr_shader_float_controls: true,
            khr_portability_subset: true,
            ..DeviceExtensions::empty()
        };
        let (device, mut queues) = Device::new(
            physical.clone(),
            DeviceCreateInfo {
                queue_create_infos: vec![QueueCreateInfo {
                    queue_family_index: family,
                    ..Default::default()
                }],
                enabled_extensions: wanted.intersection(physical.supported_extensions()),
                enabled_features: features,
                ..Default::default()
            },
        )
        .map_err(|e| driver("opening the device")(reason(e)))?;
        let queue =
            queues.next().ok_or_else(|| driver("opening the device")("the driver gave no queue".into()))?;
        let direct = matches!(info.kind, DeviceKind::Cpu | DeviceKind::Integrated);
        let heap = heap_bytes(&physical);
        let keeps_more = physical.properties().driver_id == Some(DriverId::NvidiaProprietary);
        let mut gpu = Gpu {
            memory: Arc::new(StandardMemoryAllocator::new_default(device.clone())),
            commands: Arc::new(StandardCommandBufferAllocator::new(device.clone(), Default::default())),
            sets: Arc::new(StandardDescriptorSetAllocator::new(device.clone(), Default::default())),
            pool: Arc::new(Mutex::new(Pool::new(LEAST_POOL_BYTES.max(heap / POOL_PART)))),
            pipelines: Mutex::default(),
            turn: Mutex::default(),
            is_lost: AtomicBool::new(false),
            residents: Residents::new(heap / if direct { SHARED_PART } else { COPIES_PART }),
            counts: Mutex::default(),
            info,
            device,
            queue,
            direct,
            goes_beyond: false,
        };
        gpu.try_floats(keeps_more)?;
        // What programs move is counted, not what the trial did.
        *lock(&gpu.counts) = Traffic::default();
        Ok(gpu)
    }

    /// The same device reached through staging memory, as if its memory were out of the host's reach.
    pub fn through_staging(mut self) -> Gpu {
        self.direct = false;
        self
    }

    /// From now on the copies of blocks that are kept have at most so many bytes.
    pub fn limit_copies(&self, bytes: u64) {
        self.residents.set_most(bytes);
        self.make_room_below(bytes);
    }

    /// The process's device: opened on first use, as [`DeviceChoice::from_env`] says; a failure is remembered.
    pub fn shared() -> Result<&'static Gpu, GpuError> {
        SHARED.get_or_init(|| Gpu::open(&DeviceChoice::from_env())).as_ref().map_err(Clone::clone)
    }

    /// The process's device, if it was opened.
    pub fn opened() -> Option<&'static Gpu> {
        SHARED.get()?.as_ref().ok()
    }

    /// What moved so far.
    pub fn traffic(&self) -> Traffic {
        let (held_bytes, most_bytes) = self.residents.bytes();
        Traffic { held_bytes, most_bytes, ..*lock(&self.counts) }
    }

    /// What this device is and can do.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn recorder(&self) -> Result<AutoCommandBufferBuilder<PrimaryAutoCommandBuffer>, GpuError> {
        AutoCommandBufferBuilder::primary(
            self.commands.clone(),
            self.queue.queue_family_index(),
            CommandBufferUsage::OneTimeSubmit,
        )
        .map_err(|e| driver("recording commands")(reason(e)))
    }

    /// The right to give the device work.
    pub(crate) fn turn(&self) -> MutexGuard<'_, Staging> {
        lock(&self.turn)
    }

    /// Does something with the device. The driver's library panics where a device is lost in the middle of work.
    pub(crate) fn guarded<T>(&self, work: impl FnOnce() -> Result<T, GpuError>) -> Result<T, GpuError> {
        if self.is_lost.load(Relaxed) {
            return Err(GpuError::Lost);
        }
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
            self.is_lost.store(true, Relaxed);
            Err(GpuError::Lost)
        })
    }

    fn run_error(&self, error: Validated<VulkanError>) -> GpuError {
        if let Validated::Error(VulkanError::DeviceLost) = error {
            self.is_lost.store(true, Relaxed);
            return GpuError::Lost;
        }
        driver("running commands")(reason(error))
    }

    /// Gives the device work; the caller has the turn.
    fn start(
        &self,
        builder: AutoCommandBufferBuilder<PrimaryAutoCommandBuffer>,
    ) -> Result<Running, GpuError> {
        let failed = driver("running commands");
        let commands = builder.build().map_err(|e| failed(reason(e)))?;
        lock(&self.counts).submissions += 1;
        commands
            .execute(self.queue.clone())
            .map_err(|e| failed(e.to_string()))?
            .then_signal_fence_and_flush()
            .map_err(|e| self.run_error(e))
    }

    /// Waits for work.
    pub(crate) fn wait(&self, work: Running) -> Result<(), GpuError> {
        work.wait(None).map_err(|e| self.run_error(e))
    }

    /// Gives the device a copy to make; the caller has the turn.
    pub(crate) fn start_copy(&self, from: Subbuffer<[u8]>, to: Subbuffer<[u8]>) -> Result<Running, GpuError> {
        let mut builder = self.recorder()?;
        builder
            .copy_buffer(CopyBufferInfo::buffers(from, to))
            .map_err(|e| driver("copying a buffer")(e.to_string()))?;
        self.start(builder)
    }

    /// The pipeline of a shader, made once per content.
    pub fn pipeline(&self, shader: Shader<'_>) -> Result<Arc<Pipeline>, GpuError> {
        let key = PipelineKey {
            words: shader.words.into(),
            entry: shader.entry.to_string(),
            buffers: shader.buffers,
        };
        if let Some(found) = lock(&self.pipelines).get(&key) {
            return Ok(found.clone());
        }
        let made = Arc::new(self.make_pipeline(shader)?);
        let mut known = lock(&self.pipelines);
        if known.len() >= MOST_PIPELINES {
            // Whoever still runs one holds it; the others are made again when they are asked for.
            known.clear();
        }
        Ok(known.entry(key).or_insert(made).clone())
    }

    /// The pipeline of a shader of this crate's own lowering, spelt by one of the two routes.
    pub(crate) fn kernel(
        &self,
        shader: &crate::shader::Shader,
        words: &[u32],
    ) -> Result<Arc<Pipeline>, GpuError> {
        let limits = &self.info.limits;
        if shader.group_size > limits.group_size || shader.shared_bytes() > limits.shared_bytes {
            return Err(GpuError::BadDispatch(
                "the kernel needs larger workgroups than the device has".into(),
            ));
        }
        // SAFETY: both routes spell valid SPIR-V; robust buffer access keeps accesses inside the bound buffers, and
        // workgroup memory is indexed by invocation numbers; each element is written by one invocation, and
        // barriers stand between writes and reads of workgroup memory.
        self.pipeline(unsafe { Shader::new(words, "main", shader.buffers.len() as u32) })
    }

    fn make_pipeline(&self, shader: Shader<'_>) -> Result<Pipeline, GpuError> {
        let failed = driver("making a pipeline");
        if shader.buffers > self.info.limits.buffers {
            return Err(GpuError::BadDispatch(format!(
                "the kernel needs {} buffers, the device allows {}",
                shader.buffers, self.info.limits.buffers
            )));
        }
        let (device, info) = (self.device.clone(), ShaderModuleCreateInfo::new(shader.words));
        let module = if self.goes_beyond && Spirv::new(shader.words).is_ok() {
            // SAFETY: whoever made the `Shader` vouched for the words. All that the driver says it lacks is the mode which keeps
            // subnormal numbers, and the driver is one that is known to have it.
            unsafe { ShaderModule::new_unchecked(device, info) }.map_err(Validated::Error)
        } else {
            // SAFETY: as above; vulkano itself checks versions, capabilities and extensions against the device.
            unsafe { ShaderModule::new(device, info) }
        }
        .map_err(|e| failed(reason(e)))?;
        let entry = module
            .entry_point(shader.entry)
            .ok_or_else(|| failed(format!("the shader has no entry point `{}`", shader.entry)))?;
        let storage = DescriptorSetLayoutBinding {
            stages: ShaderStages::COMPUTE,
            ..DescriptorSetLayoutBinding::descriptor_type(DescriptorType::StorageBuffer)
        };
        let set = DescriptorSetLayout::new(
            self.device.clone(),
            DescriptorSetLayoutCreateInfo {
                bindings: (0..shader.buffers).map(|i| (i, storage.clone())).collect(),
                ..Default::default()
            },
        )
        .map_err(|e| failed(reason(e)))?;
        let layout = PipelineLayout::new(
            self.device.clone(),
            PipelineLayoutCreateInfo {
                set_layouts: vec![set.clone()],
                push_constant_ranges: vec![PushConstantRange {
                    stages: ShaderStages::COMPUTE,
                    offset: 0,
                    size: PUSH_BYTES as u32,
                }],
                ..Default::default()
            },
        )
        .map_err(|e| failed(reason(e)))?;
        let raw = ComputePipeline::new(
            self.device.clone(),
            None,
            ComputePipelineCreateInfo::stage_layout(
                PipelineShaderStageCreateInfo::new(entry),
                layout.clone(),
            ),
        )
        .map_err(|e| failed(reason(e)))?;
        Ok(Pipeline { raw, layout, set, buffers: shader.buffers })
    }

    /// Runs dispatches one after another, each seeing what the earlier ones wrote, and waits for the last.
    pub fn submit(&self, work: &[Dispatch<'_>]) -> Result<(), GpuError> {
        self.submit_for(work, &mut [])
    }

    /// The same, and then brings the starts of some buffers to the host. All of it is one submission; what is brought fits a
    /// piece of staging memory.
    pub(crate) fn submit_for(
        &self,
        work: &[Dispatch<'_>],
        wanted: &mut [(&Buffer, Vec<u8>)],
    ) -> Result<(), GpuError> {
        for dispatch in work {
            self.check(dispatch)?;
        }
        let mut turn = self.turn();
        self.guarded(|| {
            let mut builder = self.recorder()?;
            let mut any = false;
            for dispatch in work.iter().filter(|dispatch| !dispatch.groups.contains(&0)) {
                self.record(&mut builder, dispatch)?;
                any = true;
            }
            let piece = match self.direct || wanted.is_empty() {
                true => None,
                false => Some(self.landing(&mut turn)?),
            };
            if let Some(piece) = piece {
                record_copies(&mut builder, wanted, piece)?;
                any = true;
            }
            if any {
                self.wait(self.start(builder)?)?;
            }
            let Some(piece) = piece else {
                return wanted.iter_mut().try_for_each(|(buffer, out)| fetch(buffer.raw(), out));
            };
            let mut all = vec![0; wanted.iter().map(|(_, out)| out.len()).sum()];
            fetch(piece, &mut all)?;
            let mut rest = &all[..];
            for (_, out) in wanted {
                let (own, others) = rest.split_at(out.len());
                out.copy_from_slice(own);
                rest = others;
            }
            Ok(())
        })
    }

    fn record(
        &self,
        builder: &mut AutoCommandBufferBuilder<PrimaryAutoCommandBuffer>,
        dispatch: &Dispatch<'_>,
    ) -> Result<(), GpuError> {
        let failed = driver("recording a dispatch");
        let writes = dispatch
            .buffers
            .iter()
            .zip(0..)
            .map(|(buffer, i)| WriteDescriptorSet::buffer(i, buffer.raw().clone()));
        let pipeline = dispatch.pipeline;
        let set = DescriptorSet::new(self.sets.clone(), pipeline.set.clone(), writes, [])
            .map_err(|e| failed(reason(e)))?;
        let mut push = [0u8; PUSH_BYTES];
        push[..dispatch.push.len()].copy_from_slice(dispatch.push);
        builder
            .bind_pipeline_compute(pipeline.raw.clone())
            .map_err(|e| failed(e.to_string()))?
            .bind_descriptor_sets(PipelineBindPoint::Compute, pipeline.layout.clone(), 0, set)
            .map_err(|e| failed(e.to_string()))?
            .push_constants(pipeline.layout.clone(), 0, push)
            .map_err(|e| failed(e.to_string()))?;
        // SAFETY: the shader's maker vouched for its accesses; the buffers are bound in full, the group counts
        // were checked against the limits, and vulkano inserts the barriers between dispatches.
        unsafe { builder.dispatch(dispatch.groups) }.map_err(|e| failed(e.to_string()))?;
        Ok(())
    }

    fn check(&self, dispatch: &Dispatch<'_>) -> Result<(), GpuError> {
        let bad = |why: String| Err(GpuError::BadDispatch(why));
        if dispatch.buffers.len() != dispatch.pipeline.buffers as usize {
            return bad(format!(
                "the shader takes {} buffers, {} were given",
                dispatch.pipeline.buffers,
                dispatch.buffers.len()
            ));
        }
        if dispatch.push.len() > PUSH_BYTES {
            return bad(format!("{} bytes of parameters, {PUSH_BYTES} are allowed", dispatch.push.len()));
        }
        let limit = self.info.limits.group_count;
        if dispatch.groups.iter().zip(limit).any(|(have, most)| *have > most) {
            return bad(format!("{:?} groups, the device allows {limit:?}", dispatch.groups));
        }
        Ok(())
    }
}

/// Copies the starts of buffers into a piece of staging memory, one after the other.
fn record_copies(
    builder: &mut AutoCommandBufferBuilder<PrimaryAutoCommandBuffer>,
    wanted: &[(&Buffer, Vec<u8>)],
    piece: &Subbuffer<[u8]>,
) -> Result<(), GpuError> {
    let failed = driver("reading a buffer");
    let mut at = 0;
    for (buffer, out) in wanted {
        let bytes = out.len() as u64;
        if at + bytes > PIECE as u64 || out.len() > buffer.len() {
            return Err(failed("more was asked for than there is".into()));
        }
        let (from, to) = (buffer.raw().clone().slice(..bytes), piece.clone().slice(at..at + bytes));
        builder.copy_buffer(CopyBufferInfo::buffers(from, to)).map_err(|e| failed(e.to_string()))?;
        at += bytes;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rspirv::binary::Assemble;
    use rspirv::dr::{Builder, Operand};
    use rspirv::spirv::{
        AddressingModel, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl, MemoryModel,
        StorageClass,
    };

    fn is_shareable<T: Send + Sync>() {}

    #[test]
    fn a_device_can_be_shared_between_threads() {
        is_shareable::<Gpu>();
        is_shareable::<Buffer>();
    }

    /// `out[i] = in[i] * in[i] + push[0]` over u32, in workgroups of 64 without a bounds check.
    fn square_plus() -> Vec<u32> {
        let mut b = Builder::new();
        b.set_version(1, 3);
        b.capability(Capability::Shader);
        b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
        let (void, uint) = (b.type_void(), b.type_int(32, 0));
        let uvec3 = b.type_vector(uint, 3);
        let array = b.type_runtime_array(uint);
        b.decorate(array, Decoration::ArrayStride, [Operand::LiteralBit32(4)]);
        let block = b.type_struct([array]);
        let params = b.type_struct([uint]);
        for s in [block, params] {
            b.decorate(s, Decoration::Block, []);
            b.member_decorate(s, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        }
        let block_ptr = b.type_pointer(None, StorageClass::StorageBuffer, block);
        let uint_ptr = b.type_pointer(None, StorageClass::StorageBuffer, uint);
        let params_ptr = b.type_pointer(None, StorageClass::PushConstant, params);
        let push_ptr = b.type_pointer(None, StorageClass::PushConstant, uint);
        let vec_ptr = b.type_pointer(None, StorageClass::Input, uvec3);
        let id = b.variable(vec_ptr, None, StorageClass::Input, None);
        b.decorate(id, Decoration::BuiltIn, [Operand::BuiltIn(rspirv::spirv::BuiltIn::GlobalInvocationId)]);
        let push = b.variable(params_ptr, None, StorageClass::PushConstant, None);
        let buffers = [0u32, 1].map(|binding| {
            let v = b.variable(block_ptr, None, StorageClass::StorageBuffer, None);
            b.decorate(v, Decoration::DescriptorSet, [Operand::LiteralBit32(0)]);
            b.decorate(v, Decoration::Binding, [Operand::LiteralBit32(binding)]);
            v
        });
        let zero = b.constant_bit32(uint, 0);
        let signature = b.type_function(void, []);
        let build = |b: &mut Builder| -> Result<u32, rspirv::dr::Error> {
            let main = b.begin_function(void, None, FunctionControl::NONE, signature)?;
            b.begin_block(None)?;
            let ids = b.load(uvec3, None, id, None, [])?;
            let i = b.composite_extract(uint, None, ids, [0])?;
            let from = b.access_chain(uint_ptr, None, buffers[0], [zero, i])?;
            let x = b.load(uint, None, from, None, [])?;
            let squared = b.i_mul(uint, None, x, x)?;
            let at = b.access_chain(push_ptr, None, push, [zero])?;
            let add = b.load(uint, None, at, None, [])?;
            let y = b.i_add(uint, None, squared, add)?;
            let to = b.access_chain(uint_ptr, None, buffers[1], [zero, i])?;
            b.store(to, y, None, [])?;
            b.ret()?;
            b.end_function()?;
            Ok(main)
        };
        let main = build(&mut b).expect("a well-formed function");
        b.entry_point(ExecutionModel::GLCompute, main, "main", [id]);
        b.execution_mode(main, ExecutionMode::LocalSize, [64, 1, 1]);
        b.module().assemble()
    }

    /// The shared device, or the reason there is none, printed.
    fn device() -> Option<&'static Gpu> {
        Gpu::shared().map_err(|why| eprintln!("skipped: {why}")).ok()
    }

    #[test]
    fn a_kernel_runs_and_its_pipeline_and_buffers_are_reused() {
        let Some(gpu) = device() else { return };
        eprintln!("on {}", gpu.info());
        runs_and_reuses(gpu);
    }

    #[test]
    fn memory_that_the_host_cannot_reach_is_filled_and_read_by_copies() {
        if device().is_none() {
            return;
        }
        let gpu = Gpu::open(&DeviceChoice::from_env()).expect("the device opens again");
        runs_and_reuses(&gpu.through_staging());
    }

    fn runs_and_reuses(gpu: &Gpu) {
        let words = square_plus();
        // SAFETY: the shader touches element i < 64 * groups of two buffers; both have 256 elements, 4 groups run.
        let shader = unsafe { Shader::new(&words, "main", 2) };
        let pipeline = gpu.pipeline(shader).expect("a pipeline");
        assert!(Arc::ptr_eq(&pipeline, &gpu.pipeline(shader).expect("the same pipeline")));
        for round in 0u32..3 {
            let input: Vec<u8> = (0u32..256).flat_map(|x| (x + round).to_le_bytes()).collect();
            let from = gpu.upload(&input).expect("an input buffer");
            let to = gpu.buffer(input.len()).expect("an output buffer");
            gpu.submit(&[Dispatch {
                pipeline: &pipeline,
                buffers: &[&from, &to],
                push: &7u32.to_le_bytes(),
                groups: [4, 1, 1],
            }])
            .expect("a dispatch");
            let mut out = vec![0; input.len()];
            gpu.download(&to, &mut out).expect("the result");
            let got: Vec<u32> =
                out.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
            let want: Vec<u32> = (0..256).map(|x| (x + round) * (x + round) + 7).collect();
            assert_eq!(got, want);
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let Some(gpu) = device() else { return };
        let words = square_plus();
        // SAFETY: nothing is dispatched successfully with it.
        let pipeline = gpu.pipeline(unsafe { Shader::new(&words, "main", 2) }).expect("a pipeline");
        let one = gpu.buffer(4).expect("a buffer");
        let run = |buffers: &[&Buffer], push: &[u8], groups| {
            gpu.submit(&[Dispatch { pipeline: &pipeline, buffers, push, groups }])
        };
        assert!(matches!(run(&[&one], &[], [1, 1, 1]), Err(GpuError::BadDispatch(_))));
        assert!(matches!(run(&[&one, &one], &[0; 132], [1, 1, 1]), Err(GpuError::BadDispatch(_))));
        assert!(matches!(run(&[&one, &one], &[], [u32::MAX, 1, 1]), Err(GpuError::BadDispatch(_))));
        assert!(matches!(gpu.buffer(1 << 40), Err(GpuError::TooLarge { .. })));
        assert!(gpu.write(&one, &[0; 8]).is_err() && gpu.download(&one, &mut [0; 8]).is_err());
        // SAFETY: these words are refused before they reach the driver.
        assert!(gpu.pipeline(unsafe { Shader::new(&[0; 5], "main", 0) }).is_err());
        // SAFETY: as above; the entry point does not exist.
        assert!(gpu.pipeline(unsafe { Shader::new(&words, "other", 2) }).is_err());
    }
}
