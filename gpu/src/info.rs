//! What is known about Vulkan devices without touching one: their description, what they can do, which one to
//! take, and everything that can go wrong. Plain data, no Vulkan handle.

use std::fmt;

/// The environment variable that names the device to use, as [`DeviceChoice::Named`] understands it.
pub const DEVICE_VARIABLE: &str = "GALOPVM_VULKAN_DEVICE";

/// The kind of a device, the preferred kind first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DeviceKind {
    /// A card with memory of its own.
    Discrete,
    /// A GPU that shares the processor's memory.
    Integrated,
    /// A GPU given to a virtual machine.
    Virtual,
    /// Vulkan on the processor (lavapipe, SwiftShader).
    Cpu,
    /// Something else.
    Other,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            DeviceKind::Discrete => "discrete",
            DeviceKind::Integrated => "integrated",
            DeviceKind::Virtual => "virtual",
            DeviceKind::Cpu => "cpu",
            DeviceKind::Other => "other",
        })
    }
}

/// Where a device computes with floats of one width as IEEE 754 says: Vulkan promises it for sums and products of numbers of usual size
/// alone. A device is asked when it is opened; before, nothing is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ieee {
    /// Subnormal numbers are kept, and do not become zero.
    pub subnormals: bool,
    /// Quotients are the nearest numbers.
    pub quotients: bool,
    /// Square roots are the nearest numbers.
    pub roots: bool,
}

impl Ieee {
    /// Everywhere.
    pub const ALL: Ieee = Ieee { subnormals: true, quotients: true, roots: true };
}

/// What a device can do, as far as the lowering asks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Features {
    /// 64-bit floats in shaders.
    pub float64: bool,
    /// 16-bit floats in shaders.
    pub float16: bool,
    /// 64-bit integers in shaders.
    pub int64: bool,
    /// 16-bit integers in shaders.
    pub int16: bool,
    /// 8-bit integers in shaders.
    pub int8: bool,
    /// 8-bit elements in storage buffers.
    pub storage8: bool,
    /// 16-bit elements in storage buffers.
    pub storage16: bool,
    /// A shader can ask that subnormal singles are kept.
    pub denorm32: bool,
    /// A shader can ask that subnormal doubles are kept.
    pub denorm64: bool,
    /// Signed zeros, infinities and NaNs of singles are kept if the shader asks for it.
    pub exact32: bool,
    /// Signed zeros, infinities and NaNs of doubles are kept if the shader asks for it.
    pub exact64: bool,
    /// How it was seen to compute with singles.
    pub singles: Ieee,
    /// How it was seen to compute with doubles.
    pub doubles: Ieee,
    /// Loops of a shader go on until they end. Drivers that compute on the processor may end them before, and say nothing: Mesa's gives
    /// an invocation 65,535 rounds for all of its loops.
    pub all_rounds: bool,
}

impl Features {
    /// A device that can do everything.
    pub fn all() -> Features {
        Features {
            float64: true,
            float16: true,
            int64: true,
            int16: true,
            int8: true,
            storage8: true,
            storage16: true,
            denorm32: true,
            denorm64: true,
            exact32: true,
            exact64: true,
            singles: Ieee::ALL,
            doubles: Ieee::ALL,
            all_rounds: true,
        }
    }
}

/// The numbers a plan must respect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Greatest group counts of one dispatch.
    pub group_count: [u32; 3],
    /// Greatest number of invocations in a workgroup.
    pub group_size: u32,
    /// Bytes of workgroup memory.
    pub shared_bytes: u32,
    /// Greatest bytes of one storage buffer.
    pub buffer_bytes: u64,
    /// Greatest number of storage buffers of one shader.
    pub buffers: u32,
    /// Bytes of push constants.
    pub push_bytes: u32,
    /// Invocations of a subgroup, if the device says.
    pub subgroup: Option<u32>,
}

/// One physical device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceInfo {
    /// Position in the loader's list.
    pub index: usize,
    /// The name the driver gives.
    pub name: String,
    /// Kind.
    pub kind: DeviceKind,
    /// Driver's name and version, as the driver writes them.
    pub driver: String,
    /// Vulkan version, `major.minor.patch`.
    pub version: String,
    /// Why the device cannot be used, if it cannot.
    pub unusable: Option<String>,
    /// What it can do.
    pub features: Features,
    /// Its limits.
    pub limits: Limits,
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} {} ({}, {}, Vulkan {})", self.index, self.name, self.kind, self.driver, self.version)?;
        match &self.unusable {
            Some(why) => write!(f, " - cannot be used: {why}"),
            None => Ok(()),
        }
    }
}

/// Which device to take.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum DeviceChoice {
    /// The best kind that can be used: discrete, integrated, virtual, cpu.
    #[default]
    Best,
    /// A position (`0`, `#0`), a kind (`cpu`), or a part of the name in any case (`llvmpipe`).
    Named(String),
}

impl DeviceChoice {
    /// The choice made by the environment variable [`DEVICE_VARIABLE`], or the best device.
    pub fn from_env() -> DeviceChoice {
        match std::env::var(DEVICE_VARIABLE) {
            Ok(text) if !text.trim().is_empty() => DeviceChoice::Named(text.trim().to_string()),
            _ => DeviceChoice::Best,
        }
    }

    /// The position in `devices` of the device to take.
    pub fn pick(&self, devices: &[DeviceInfo]) -> Result<usize, GpuError> {
        let usable = |d: &&DeviceInfo| d.unusable.is_none();
        let found = match self {
            _ if devices.is_empty() => return Err(GpuError::NoDriver),
            DeviceChoice::Best => devices.iter().filter(usable).min_by_key(|d| (d.kind, d.index)),
            DeviceChoice::Named(text) => {
                let wanted = text.to_lowercase();
                let position = wanted.trim_start_matches('#').parse::<usize>().ok();
                let mut fits: Vec<&DeviceInfo> = devices
                    .iter()
                    .filter(|d| match position {
                        Some(index) => d.index == index,
                        None => d.kind.to_string() == wanted || d.name.to_lowercase().contains(&wanted),
                    })
                    .collect();
                if fits.is_empty() {
                    let known = devices.iter().map(DeviceInfo::to_string).collect();
                    return Err(GpuError::NoSuchDevice { wanted: text.clone(), known });
                }
                fits.sort_by_key(|d| (d.unusable.is_some(), d.kind, d.index));
                fits.first().copied().filter(usable)
            }
        };
        match found {
            Some(device) => Ok(device.index),
            None => Err(GpuError::NoneUsable { known: devices.iter().map(DeviceInfo::to_string).collect() }),
        }
    }
}

/// Why the GPU cannot do what was asked. None of these is a user's error: the caller falls back and says why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum GpuError {
    /// The Vulkan loader is not on this system.
    NoLoader(String),
    /// The loader is there, but an instance cannot be made.
    NoInstance(String),
    /// The loader knows no device.
    NoDriver,
    /// No device fits the name that was given.
    NoSuchDevice {
        /// What was asked for.
        wanted: String,
        /// What there is.
        known: Vec<String>,
    },
    /// There are devices, but none can compute for us.
    NoneUsable {
        /// What there is, and why it cannot be used.
        known: Vec<String>,
    },
    /// A buffer is larger than the device allows.
    TooLarge {
        /// What was asked for.
        bytes: u64,
        /// The device's limit.
        limit: u64,
    },
    /// Memory ran out.
    OutOfMemory {
        /// What was asked for.
        bytes: u64,
    },
    /// The device is lost, and what was on it.
    Lost,
    /// A dispatch that the device's limits do not allow, or whose parts do not fit together.
    BadDispatch(String),
    /// The driver refused an operation.
    Driver {
        /// What was attempted.
        doing: &'static str,
        /// The driver's reason.
        why: String,
    },
}

impl fmt::Display for GpuError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GpuError::NoLoader(why) => {
                write!(f, "the Vulkan loader is not installed ({why}); on Debian: apt install libvulkan1")
            }
            GpuError::NoInstance(why) => write!(f, "the Vulkan loader gives no instance: {why}"),
            GpuError::NoDriver => f.write_str(
                "no Vulkan driver is installed; on Debian, for Vulkan on the processor: \
                 apt install mesa-vulkan-drivers",
            ),
            GpuError::NoSuchDevice { wanted, known } => {
                write!(f, "no Vulkan device fits `{wanted}`; there are: {}", known.join("; "))
            }
            GpuError::NoneUsable { known } => {
                write!(f, "no Vulkan device can be used: {}", known.join("; "))
            }
            GpuError::TooLarge { bytes, limit } => {
                write!(f, "a buffer of {bytes} bytes is larger than the device's limit of {limit}")
            }
            GpuError::OutOfMemory { bytes } => write!(f, "no device memory for {bytes} bytes"),
            GpuError::Lost => f.write_str("the device is lost"),
            GpuError::BadDispatch(why) => f.write_str(why),
            GpuError::Driver { doing, why } => write!(f, "{doing}: {why}"),
        }
    }
}

impl std::error::Error for GpuError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(index: usize, name: &str, kind: DeviceKind) -> DeviceInfo {
        DeviceInfo {
            index,
            name: name.into(),
            kind,
            driver: "driver 1".into(),
            version: "1.3.0".into(),
            unusable: None,
            features: Features::all(),
            limits: Limits {
                group_count: [65535; 3],
                group_size: 1024,
                shared_bytes: 32768,
                buffer_bytes: 1 << 27,
                buffers: 16,
                push_bytes: 128,
                subgroup: Some(8),
            },
        }
    }

    #[test]
    fn the_best_kind_wins_unless_it_cannot_be_used() {
        let mut all = [device(0, "llvmpipe", DeviceKind::Cpu), device(1, "Big Card", DeviceKind::Discrete)];
        assert_eq!(DeviceChoice::Best.pick(&all), Ok(1));
        all[1].unusable = Some("it has no compute queue".into());
        assert_eq!(DeviceChoice::Best.pick(&all), Ok(0));
    }

    #[test]
    fn a_name_a_kind_or_a_position_chooses() {
        let all = [device(0, "llvmpipe", DeviceKind::Cpu), device(1, "Big Card", DeviceKind::Discrete)];
        for (text, index) in [("big", 1), ("cpu", 0), ("#1", 1), ("0", 0), ("LLVM", 0)] {
            assert_eq!(DeviceChoice::Named(text.into()).pick(&all), Ok(index), "{text}");
        }
    }

    #[test]
    fn errors_tell_what_there_is() {
        let mut all = [device(0, "llvmpipe", DeviceKind::Cpu)];
        let error = DeviceChoice::Named("radeon".into()).pick(&all).expect_err("no radeon");
        assert!(error.to_string().contains("llvmpipe (cpu"), "{error}");
        assert_eq!(DeviceChoice::Best.pick(&[]), Err(GpuError::NoDriver));
        all[0].unusable = Some("it has no compute queue".into());
        let error = DeviceChoice::Best.pick(&all).expect_err("nothing usable");
        assert!(error.to_string().contains("no compute queue"), "{error}");
    }
}
