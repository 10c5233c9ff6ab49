//! What a device does with floats, found by trying: Vulkan lets a device round quotients and roots as it likes within some units, and
//! lets most of them replace subnormal numbers by zero. What they say about it is not the whole truth, so a kernel asks them.
//!
//! Wherever an answer is not that of IEEE 754, the lowering does it another way (`lower/rounding.rs`, `shader/lost.rs`).

use crate::device::{Dispatch, Gpu};
use crate::info::{DeviceChoice, Features, GpuError, Ieee};
use crate::memory::Buffer;
use crate::shader::{BinOp, Builtin, Code, Ty, UnOp, Width};
use std::sync::OnceLock;

/// Pairs of numbers that are tried, in whole workgroups. A device that rounds to some units in the last place has some thousand of them wrong.
const PAIRS: usize = 16384;

/// Invocations of a workgroup.
const GROUP: usize = 64;

/// What is done with each pair.
const ANSWERS: usize = 4;

/// The pairs: half of them with results of usual size, a quarter of all sizes, the rest at the lower end, where results are subnormal. No
/// divisor is zero: the lowering spells that out.
fn pairs(ty: Ty) -> Vec<[u64; 2]> {
    // A sequence of bits is all that is wanted: those of a multiplicative generator.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut bits = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state ^ state >> 29
    };
    let (fraction, exponents) = if ty == Ty::F64 { (52, 2047) } else { (23, 255) };
    let (sign, one) = (1 << (ty.width() - 1), exponents / 2);
    let mut number = |least: u64, most: u64| {
        let exponent = least + bits() % (most - least);
        (bits() & sign) | exponent << fraction | bits() & ((1 << fraction) - 1) | 1
    };
    (0..PAIRS)
        .map(|k| match k % 8 {
            0..4 => [number(one - one / 2, one + one / 2), number(one - one / 2, one + one / 2)],
            4 | 5 => [number(1, exponents), number(1, exponents)],
            6 => [number(0, fraction), number(0, fraction)],
            _ => [number(0, fraction), number(one - fraction / 2, one)],
        })
        .collect()
}

/// Quotient, root, sum, product of each pair, by the device.
fn answers(gpu: &Gpu, features: &Features, ty: Ty, pairs: &[[u64; 2]]) -> Result<Vec<u64>, GpuError> {
    let width = if ty == Ty::F64 { Width::W64 } else { Width::W32 };
    let mut c = Code::new(GROUP as u32);
    let (from, to) = (c.buffer(width, false), c.buffer(width, true));
    let (group, local) = (c.builtin(Builtin::GroupX), c.builtin(Builtin::Local));
    let size = c.constant(Ty::B32, GROUP as u64);
    let base = c.bin(BinOp::Mul, group, size);
    let index = c.bin(BinOp::Add, base, local);
    let (one, two) = (c.constant(Ty::B32, 1), c.constant(Ty::B32, 2));
    let first = c.bin(BinOp::Shl, index, one);
    let second = c.bin(BinOp::Add, first, one);
    let [a, b] = [first, second].map(|at| {
        let bits = c.load(from, at);
        c.un(UnOp::OfBits, bits)
    });
    let size = c.un(UnOp::FAbs, a);
    let results = [
        c.bin(BinOp::FDiv, a, b),
        c.un(UnOp::Sqrt, size),
        c.bin(BinOp::FAdd, a, b),
        c.bin(BinOp::FMul, a, b),
    ];
    let mut at = c.bin(BinOp::Shl, index, two);
    for result in results {
        let bits = c.un(UnOp::BitsOf, result);
        c.store(to, at, bits);
        at = c.bin(BinOp::Add, at, one);
    }
    let shader = c.finish();
    let words = crate::spirv::emit::words(&shader, features)
        .map_err(|why| GpuError::Driver { doing: "trying how it computes with floats", why })?;
    let pipeline = gpu.kernel(&shader, &words)?;
    let bytes = width.bytes() as usize;
    let given: Vec<u8> =
        pairs.iter().flatten().flat_map(|bits| bits.to_le_bytes()[..bytes].to_vec()).collect();
    let input = gpu.upload(&given)?;
    let output: Buffer = gpu.buffer(pairs.len() * ANSWERS * bytes)?;
    let groups = [pairs.len().div_ceil(GROUP) as u32, 1, 1];
    gpu.submit(&[Dispatch { pipeline: &pipeline, buffers: &[&input, &output], push: &[], groups }])?;
    let mut got = vec![0; pairs.len() * ANSWERS * bytes];
    gpu.download(&output, &mut got)?;
    Ok(got
        .chunks_exact(bytes)
        .map(|chunk| {
            let mut wide = [0; 8];
            wide[..bytes].copy_from_slice(chunk);
            u64::from_le_bytes(wide)
        })
        .collect())
}

/// What the processor says.
fn right(ty: Ty, [a, b]: [u64; 2]) -> [u64; ANSWERS] {
    if ty == Ty::F64 {
        let (a, b) = (f64::from_bits(a), f64::from_bits(b));
        [a / b, a.abs().sqrt(), a + b, a * b].map(f64::to_bits)
    } else {
        let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        [a / b, a.abs().sqrt(), a + b, a * b].map(|x| u64::from(x.to_bits()))
    }
}

fn seen(gpu: &Gpu, features: &Features, ty: Ty) -> Result<Ieee, GpuError> {
    let pairs = pairs(ty);
    let got = answers(gpu, features, ty, &pairs)?;
    let mut ieee = Ieee::ALL;
    for (pair, got) in pairs.iter().zip(got.chunks_exact(ANSWERS)) {
        let want = right(ty, *pair);
        ieee.quotients &= want[0] == got[0];
        ieee.roots &= want[1] == got[1];
        ieee.subnormals &= want[2..] == got[2..];
    }
    Ok(ieee)
}

/// The features, with what the device was seen to do with floats if shaders ask for what they say.
fn floats(gpu: &Gpu, features: Features) -> Result<Features, GpuError> {
    let singles = seen(gpu, &features, Ty::F32)?;
    let doubles = match features.float64 && features.int64 {
        true => seen(gpu, &features, Ty::F64)?,
        // No shader has doubles there.
        false => Ieee::ALL,
    };
    Ok(Features { singles, doubles, ..features })
}

impl Gpu {
    /// Finds out how the device computes with floats. `keeps_more`: its driver is known to keep subnormal singles where a shader asks for
    /// it, although it says that shaders cannot.
    pub(crate) fn try_floats(&mut self, keeps_more: bool) -> Result<(), GpuError> {
        let said = self.info.features.clone();
        if keeps_more && !said.denorm32 {
            let asked = Features { denorm32: true, ..said.clone() };
            self.goes_beyond = true;
            if let Ok(seen) = floats(self, asked)
                && seen.singles.subnormals
            {
                self.info.features = seen;
                return Ok(());
            }
            self.goes_beyond = false;
        }
        self.info.features = floats(self, said)?;
        Ok(())
    }

    /// The device once more, taken for one that rounds as it likes and loses subnormal numbers: for tests of what is done then.
    pub fn rough() -> Result<&'static Gpu, GpuError> {
        static ROUGH: OnceLock<Result<Gpu, GpuError>> = OnceLock::new();
        let opened = ROUGH.get_or_init(|| {
            let mut gpu = Gpu::open(&DeviceChoice::from_env())?;
            let features = &mut gpu.info.features;
            (features.singles, features.doubles) = (Ieee::default(), Ieee::default());
            Ok(gpu)
        });
        opened.as_ref().map_err(Clone::clone)
    }
}
