//! Random values, the same as `futhark dataset` makes from the same seed.
//!
//! That program uses Haskell's SplitMix generator and its ways of making numbers in a range; so does this one.

use super::number::{self, Misfit};
use crate::Value;
use galopvm_base::{Bits, ElemType, Scalar};
use galopvm_store::array::Array;
use galopvm_store::memory::{Memory, OutOfMemory};

/// For each element type the least and the greatest value, both possible.
#[derive(Clone, Debug)]
pub struct Bounds([(Scalar, Scalar); ElemType::ALL.len()]);

impl Default for Bounds {
    /// All integers, and floats from 0 to 1.
    fn default() -> Bounds {
        Bounds(ElemType::ALL.map(|ty| {
            if ty.is_float() {
                return (Scalar::from_f64(ty, 0.0), Scalar::from_f64(ty, 1.0));
            }
            // The first bit alone is the least signed number, all the others are the greatest.
            let least = if ty.is_signed() { 1 << (ty.bits() - 1) } else { 0 };
            (Scalar::new(ty, least), Scalar::new(ty, least ^ ty.mask()))
        }))
    }
}

impl Bounds {
    /// Sets the bounds of a type from text, `-5:9`; false if it is none.
    pub fn set(&mut self, ty: ElemType, text: &str) -> bool {
        let bound = |text: &str| {
            number::parse(text.as_bytes(), Some(ty), Misfit::Refused).ok().filter(|scalar| scalar.ty == ty)
        };
        let Some((Some(least), Some(greatest))) = text.split_once(':').map(|(a, b)| (bound(a), bound(b)))
        else {
            return false;
        };
        self.0[ty as usize] = (least, greatest);
        true
    }
}

/// SplitMix: a state that grows by `gamma`, mixed.
struct Generator {
    state: u64,
    gamma: u64,
}

const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

fn mix(z: u64, shifts: [u32; 3], factors: [u64; 2]) -> u64 {
    let z = (z ^ z >> shifts[0]).wrapping_mul(factors[0]);
    let z = (z ^ z >> shifts[1]).wrapping_mul(factors[1]);
    z ^ z >> shifts[2]
}

fn mix_state(z: u64) -> u64 {
    mix(z, [33, 33, 33], [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53])
}

/// Odd, with bits that change often enough.
fn mix_gamma(z: u64) -> u64 {
    let z = mix(z, [30, 27, 31], [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb]) | 1;
    if (z ^ z >> 1).count_ones() >= 24 { z } else { z ^ 0xaaaa_aaaa_aaaa_aaaa }
}

impl Generator {
    fn new(seed: u64) -> Generator {
        Generator { state: mix_state(seed), gamma: mix_gamma(seed.wrapping_add(GOLDEN_GAMMA)) }
    }

    fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(self.gamma);
        mix_state(self.state)
    }

    fn half_word(&mut self) -> u32 {
        self.word() as u32
    }

    /// A number up to `range`: bits are drawn until they are one.
    fn masked(&mut self, range: u64, wide: bool) -> u64 {
        let mask = u64::MAX >> (range | 1).leading_zeros();
        loop {
            let bits = if wide { self.word() } else { u64::from(self.half_word()) };
            if bits & mask <= range {
                return bits & mask;
            }
        }
    }

    /// A number up to `range`: the upper half of a product, without its bias.
    fn multiplied(&mut self, range: u32) -> u32 {
        let Some(count) = range.checked_add(1) else { return self.half_word() };
        let least = count.wrapping_neg() % count;
        loop {
            let product = u64::from(self.half_word()) * u64::from(count);
            if product as u32 >= least {
                return (product >> 32) as u32;
            }
        }
    }
}

/// How the numbers between two bounds are drawn, with what all draws share worked out.
#[derive(Clone, Copy)]
enum Draw {
    /// Always this one.
    Constant(Bits),
    Bool,
    F64 {
        low: f64,
        high: f64,
    },
    F32 {
        low: f32,
        high: f32,
    },
    /// As for `f32`, rounded.
    F16 {
        low: f32,
        high: f32,
    },
    /// Up to `range` above `low`.
    Multiplied {
        low: u64,
        range: u32,
    },
    /// The same by bits of a word, or of half a word.
    Masked {
        low: u64,
        range: u64,
        wide: bool,
    },
}

/// Between two numbers, by a number from 0 to 1.
fn mixed_f32(word: u32, low: f32, high: f32) -> f32 {
    let x = word as f32 / u32::MAX as f32;
    x * low + (1.0 - x) * high
}

impl Draw {
    fn between(ty: ElemType, least: Scalar, greatest: Scalar) -> Draw {
        if ty == ElemType::Bool {
            return Draw::Bool;
        }
        if ty.is_float() {
            let (low, high) = (least.as_f64(), greatest.as_f64());
            let (low_f32, high_f32) = (low as f32, high as f32);
            return match ty {
                ElemType::F64 if low != high => Draw::F64 { low, high },
                ElemType::F32 if low_f32 != high_f32 => Draw::F32 { low: low_f32, high: high_f32 },
                ElemType::F16 if low_f32 != high_f32 => Draw::F16 { low: low_f32, high: high_f32 },
                _ => Draw::Constant(least.bits),
            };
        }
        let (a, b) = (least.as_i64(), greatest.as_i64());
        let swapped = if ty.is_signed() { a > b } else { least.bits > greatest.bits };
        let (low, high) = if swapped { (greatest.bits, least.bits) } else { (least.bits, greatest.bits) };
        let range = high.wrapping_sub(low) & ty.mask();
        match ty {
            ElemType::U8 | ElemType::U16 | ElemType::U32 => Draw::Multiplied { low, range: range as u32 },
            // A range of nothing draws nothing.
            _ if range == 0 => Draw::Constant(low),
            _ => Draw::Masked { low, range, wide: ty.bits() == 64 },
        }
    }

    /// Fills bytes with elements of `W` bytes; the way to draw is chosen once, outside of the loop.
    fn fill<const W: usize>(self, generator: &mut Generator, bytes: &mut [u8]) {
        fn each<const W: usize>(bytes: &mut [u8], mut draw: impl FnMut() -> Bits) {
            for place in bytes.as_chunks_mut::<W>().0 {
                place.copy_from_slice(&draw().to_le_bytes()[..W]);
            }
        }
        match self {
            Draw::Constant(bits) => each::<W>(bytes, || bits),
            Draw::Bool => each::<W>(bytes, || u64::from(generator.half_word() & 1)),
            Draw::F64 { low, high } => each::<W>(bytes, || {
                let x = generator.word() as f64 / u64::MAX as f64;
                (x * low + (1.0 - x) * high).to_bits()
            }),
            Draw::F32 { low, high } => {
                each::<W>(bytes, || u64::from(mixed_f32(generator.half_word(), low, high).to_bits()));
            }
            Draw::F16 { low, high } => each::<W>(bytes, || {
                let number = mixed_f32(generator.half_word(), low, high);
                Scalar::from_f64(ElemType::F16, f64::from(number)).bits
            }),
            Draw::Multiplied { low, range } => {
                each::<W>(bytes, || low.wrapping_add(u64::from(generator.multiplied(range))));
            }
            Draw::Masked { low, range, wide } => {
                each::<W>(bytes, || low.wrapping_add(generator.masked(range, wide)));
            }
        }
    }

    fn fill_elements(self, generator: &mut Generator, ty: ElemType, bytes: &mut [u8]) {
        match ty.bytes() {
            1 => self.fill::<1>(generator, bytes),
            2 => self.fill::<2>(generator, bytes),
            4 => self.fill::<4>(generator, bytes),
            _ => self.fill::<8>(generator, bytes),
        }
    }
}

/// A value of this type and shape (none for a scalar).
pub fn random_value(
    memory: &Memory,
    ty: ElemType,
    shape: &[i64],
    bounds: &Bounds,
    seed: u64,
) -> Result<Value, OutOfMemory> {
    let (least, greatest) = bounds.0[ty as usize];
    let mut generator = Generator::new(seed);
    let draw = Draw::between(ty, least, greatest);
    if shape.is_empty() {
        let mut bytes = [0; 8];
        draw.fill_elements(&mut generator, ty, &mut bytes[..ty.bytes()]);
        return Ok(Value::Scalar(Scalar::new(ty, u64::from_le_bytes(bytes))));
    }
    let mut array = Array::fresh(memory, ty, shape)?;
    if let Some(bytes) = array.block_mut().bytes_mut() {
        draw.fill_elements(&mut generator, ty, bytes);
    }
    Ok(Value::Array(array))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Style, write_text_in};

    fn drawn(ty: ElemType, shape: &[i64], bounds: Option<&str>, seed: u64) -> String {
        let mut all = Bounds::default();
        if let Some(bounds) = bounds {
            assert!(all.set(ty, bounds), "{bounds}");
        }
        let value = random_value(&Memory::default(), ty, shape, &all, seed).expect("enough memory");
        let mut text = Vec::new();
        write_text_in(&mut text, &value, Style::Data).expect("a vector takes it");
        String::from_utf8(text).expect("ASCII")
    }

    /// Printed by `futhark dataset`, version 0.25.32.
    #[test]
    fn values_are_those_of_futhark() {
        use ElemType::*;
        for (ty, text) in [
            (I8, "[117i8, 27i8, 98i8, -20i8, -93i8, 87i8, -121i8, 43i8]"),
            (I16, "[14837i16, -24165i16, 15330i16, -22164i16, 12323i16, -25897i16, 10247i16, 29099i16]"),
            (
                I32,
                "[-223823371i32, -1815469669i32, -1831093278i32, -1118033556i32, 1956098083i32, 1493834455i32, -1427855353i32, 153874859i32]",
            ),
            (
                I64,
                "[6981597494805838325i64, -971673085519715941i64, -350297145798312990i64, 8960866329697200492i64, -1949784134598021085i64, -5095197653259904297i64, -2604852824845801465i64, 5880359037151474091i64]",
            ),
            (U8, "[114u8, 19u8, 18u8, 61u8, 244u8, 217u8, 42u8, 137u8]"),
            (U16, "[29352u16, 5066u16, 4827u16, 15708u16, 62615u16, 55562u16, 10980u16, 35115u16]"),
            (
                U32,
                "[1923660277u32, 332013979u32, 316390370u32, 1029450092u32, 4103581731u32, 3641318103u32, 719628295u32, 2301358507u32]",
            ),
            (
                U64,
                "[16204969531660614133u64, 8251698951335059867u64, 8873074891056462818u64, 18184238366551976300u64, 7273587902256754723u64, 4128174383594871511u64, 6618519212008974343u64, 15103731074006249899u64]",
            ),
            (
                F16,
                "[0.5522461f16, 0.92285156f16, 0.92626953f16, 0.7602539f16, 4.4555664e-2f16, 0.15222168f16, 0.83251953f16, 0.46411133f16]",
            ),
            (
                F32,
                "[0.55211294f32, 0.92269695f32, 0.9263346f32, 0.76031244f32, 4.4560432e-2f32, 0.15218955f32, 0.8324485f32, 0.4641732f32]",
            ),
            (
                F64,
                "[0.12152684143560777f64, 0.5526745035133085f64, 0.5189896463245001f64, 1.423046289950436e-2f64, 0.6056980097304472f64, 0.7762112182453716f64, 0.6412093545851411f64, 0.18122509784628016f64]",
            ),
            (Bool, "[true, true, false, false, true, true, true, true]"),
        ] {
            assert_eq!(drawn(ty, &[8], None, 1), text);
        }
        assert_eq!(drawn(I32, &[8], Some("-5:9"), 1), "[0i32, 6i32, -3i32, 7i32, -2i32, 2i32, 2i32, 6i32]");
        assert_eq!(drawn(U8, &[8], Some("3:7"), 2), "[6u8, 5u8, 7u8, 6u8, 5u8, 5u8, 7u8, 3u8]");
        assert_eq!(drawn(U64, &[4], Some("10:30"), 3), "[19u64, 23u64, 17u64, 11u64]");
        assert_eq!(drawn(I64, &[6], Some("9:-4"), 4), "[9i64, 3i64, 9i64, -1i64, 7i64, 5i64]");
        assert_eq!(
            drawn(F32, &[6], Some("-10:10"), 5),
            "[-0.7111635f32, -8.985781f32, 1.5895481f32, -3.1425858f32, -4.558177f32, 6.6258883f32]"
        );
        assert_eq!(
            drawn(F64, &[5], Some("1e-9:2e-9"), 6),
            "[1.0417438766475779e-9f64, 1.061918971871318e-9f64, 1.7282906609694123e-9f64, 1.2587217449562576e-9f64, 1.657543968928007e-9f64]"
        );
        assert_eq!(
            drawn(F16, &[5], Some("-4:4"), 7),
            "[-3.0253906f16, 3.6987305e-2f16, 1.2246094f16, -2.7988281f16, 1.6640625f16]"
        );
        assert_eq!(drawn(I32, &[], Some("-5:9"), 8), "9i32");
        assert_eq!(
            drawn(I16, &[2, 3], None, 9),
            "[[-15701i16, -22315i16, -23429i16],\n[-8543i16, 5410i16, -30744i16]]"
        );
        assert_eq!(drawn(I16, &[0, 3], None, 10), "empty([0][3]i16)");
        assert_eq!(drawn(I32, &[3], None, 42), "[1144840752i32, -1913994601i32, 477126751i32]");
        assert_eq!(drawn(F32, &[3], Some("5:1"), 1), "[2.7915483f32, 1.3092121f32, 1.2946615f32]");
        assert!(!Bounds::default().set(I32, "a:3") && !Bounds::default().set(I32, "3"));
        assert!(!Bounds::default().set(U8, "0:256"));
    }
}
