//! Images as arrays, and arrays as images.
//!
//! `[h][w]u32` and `i32` are colours 0xAARRGGBB, `[h][w][3]u8` red, green and blue; `[h][w]u8`, `u16` and floats from 0 to 1 are
//! grey, and so are truth values that are written. An array of colours in which nothing is said of transparency, all of
//! it opaque or all of it 0, is written without.

use super::Problem;
use super::columns::room;
use super::samples::{Point, Samples};
use crate::wanted::Leaf;
use galopvm::{Array, ElemType, Memory, Scalar, Value, ValueType};
use galopvm_lmad::Lmad;
use std::io::{self, Write};

/// What arrays are images, for those who have another one.
pub const HINT: &str = "[h][w]u32 are colours 0xAARRGGBB, [h][w][3]u8 red, green and blue, [h][w]u8, [h][w]u16 and \
                        [h][w]f32 (0 to 1) grey";

/// Bytes of samples are handed on in pieces of this size.
const PIECE: usize = 1 << 14;

/// How the samples of an image lie in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Points in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Samples of a point: 1 grey; 3 red, green and blue; 4 with alpha.
    pub channels: usize,
    /// Whether a sample has 16 bits, the greater ones first, and not 8.
    pub wide: bool,
}

/// What the elements of an array are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meaning {
    /// 0xAARRGGBB.
    Colour,
    /// Red, green, blue, one after the other.
    Parts,
    /// Grey of 8 or 16 bits.
    Grey,
    /// Grey from 0 to 1.
    Fraction,
}

/// What an array of a type is, if it is an image.
fn meaning(ty: ValueType) -> Option<Meaning> {
    match (ty.rank, ty.elem) {
        (2, ElemType::U32 | ElemType::I32) => Some(Meaning::Colour),
        (3, ElemType::U8) => Some(Meaning::Parts),
        (2, ElemType::U8 | ElemType::U16) => Some(Meaning::Grey),
        (2, elem) if elem.is_float() => Some(Meaning::Fraction),
        _ => None,
    }
}

/// Whether arrays of a type can be written as images, and then whether they are grey.
pub fn is_image(ty: ValueType) -> Option<bool> {
    if ty.elem == ElemType::Bool && ty.rank == 2 {
        return Some(true);
    }
    meaning(ty).map(|meaning| matches!(meaning, Meaning::Grey | Meaning::Fraction))
}

/// The grey of a point, in thousandths of samples.
fn grey(point: Point) -> u32 {
    let [red, green, blue] = point.colour.map(u32::from);
    299 * red + 587 * green + 114 * blue
}

/// An image as the array that is wanted.
pub fn of_samples(memory: &Memory, image: &Samples<'_>, wanted: Option<&Leaf>) -> Result<Value, Problem> {
    let Some(leaf) = wanted else {
        return Err(Problem::of_file("no value is expected that this image could be", ""));
    };
    let ty = leaf.ty;
    let Some(meaning) = meaning(ty) else {
        return Err(Problem::of_file(format!("an image cannot be a value of type {ty}"), HINT));
    };
    let (width, most) = (ty.elem.bytes(), u32::from(image.most));
    let mut shape = vec![image.height as i64, image.width as i64];
    shape.extend((meaning == Meaning::Parts).then_some(3));
    let parts = if meaning == Meaning::Parts { 3 } else { 1 };
    let mut block = room(memory, image.width.saturating_mul(image.height).saturating_mul(width * parts))?;
    // The nearest of so many steps from black to white.
    let scaled = |sample: u32, of: u32, steps: u32| {
        let (sample, of, steps) = (u64::from(sample), u64::from(of), u64::from(steps));
        ((sample * steps + of / 2) / of) as u32
    };
    let byte = |sample: u16| scaled(sample.into(), most, 255);
    let places = block.bytes_mut().unwrap_or_default().chunks_exact_mut(width * parts);
    for (place, point) in places.zip(image.points()) {
        match meaning {
            Meaning::Colour => {
                let [red, green, blue] = point.colour.map(byte);
                let colour = byte(point.alpha) << 24 | red << 16 | green << 8 | blue;
                place.copy_from_slice(&colour.to_le_bytes());
            }
            Meaning::Parts => place.copy_from_slice(&point.colour.map(|sample| byte(sample) as u8)),
            Meaning::Grey => {
                let steps = if width == 1 { 255 } else { 65535 };
                place.copy_from_slice(&scaled(grey(point), 1000 * most, steps).to_le_bytes()[..width]);
            }
            Meaning::Fraction => {
                let fraction = f64::from(grey(point)) / f64::from(1000 * most);
                place.copy_from_slice(&Scalar::from_f64(ty.elem, fraction).bits.to_le_bytes()[..width]);
            }
        }
    }
    let array = Array::from_block(block, ty.elem, Lmad::row_major(&shape));
    array.map(Value::Array).ok_or_else(|| Problem::of_file("this image is too large", ""))
}

/// An array as an image.
pub struct Picture<'v> {
    array: &'v Array,
    /// How its samples lie.
    pub layout: Layout,
}

impl<'v> Picture<'v> {
    /// The image that an array is; or why it is none.
    pub fn of(value: &'v Value) -> Result<Picture<'v>, String> {
        let array = value.as_array().filter(|_| is_image(value.ty()).is_some());
        let array = array.ok_or_else(|| format!("a value of type {} is no image", value.ty()))?;
        let shape = array.shape();
        let [height, width] = [shape[0] as usize, shape[1] as usize];
        if width == 0 || height == 0 {
            return Err(format!("an image of {width} x {height} points cannot be written"));
        }
        let channels = match meaning(value.ty()) {
            Some(Meaning::Parts) if shape[2] != 3 => {
                return Err(format!("an array of shape [{height}][{width}][{}] is no image", shape[2]));
            }
            Some(Meaning::Parts) => 3,
            Some(Meaning::Colour) => {
                let mut alphas = array.iter_bits().map(|bits| (bits >> 24) as u8);
                let first = alphas.next().unwrap_or(0);
                if matches!(first, 0 | 255) && alphas.all(|alpha| alpha == first) { 3 } else { 4 }
            }
            _ => 1,
        };
        let layout = Layout { width, height, channels, wide: array.elem() == ElemType::U16 };
        Ok(Picture { array, layout })
    }

    /// The same image without transparency.
    pub fn opaque(mut self) -> Picture<'v> {
        self.layout.channels = self.layout.channels.min(3);
        self
    }

    /// Writes all samples. NaN is black.
    pub fn write_samples(&self, out: &mut dyn Write) -> io::Result<()> {
        let (elem, channels) = (self.array.elem(), self.layout.channels);
        let mut piece = Vec::with_capacity(PIECE + 8);
        for bits in self.array.iter_bits() {
            match elem {
                ElemType::Bool => piece.push(if bits == 0 { 0 } else { 255 }),
                ElemType::U8 => piece.push(bits as u8),
                ElemType::U16 => piece.extend_from_slice(&(bits as u16).to_be_bytes()),
                _ if elem.is_float() => {
                    piece.push((Scalar::new(elem, bits).as_f64().clamp(0.0, 1.0) * 255.0).round() as u8);
                }
                _ => {
                    let [alpha, red, green, blue] = (bits as u32).to_be_bytes();
                    piece.extend_from_slice(&[red, green, blue, alpha][..channels]);
                }
            }
            if piece.len() >= PIECE {
                out.write_all(&piece)?;
                piece.clear();
            }
        }
        out.write_all(&piece)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{netpbm, png};
    use super::*;

    /// An image of a file as a value of a type.
    fn read(bytes: &[u8], elem: ElemType, rank: u8) -> Result<String, String> {
        let memory = Memory::default();
        let is_png = bytes.starts_with(png::FIRST_BYTES);
        let image = if is_png { png::read(&memory, bytes) } else { netpbm::read(&memory, bytes) };
        let leaf = Leaf { ty: ValueType { elem, rank }, path: String::new() };
        let value = image.and_then(|image| of_samples(&memory, &image, Some(&leaf)));
        value.map(|value| value.to_string()).map_err(|problem| problem.message)
    }

    #[test]
    fn points_become_what_is_wanted() {
        let image = b"P6 2 1 255\n\xff\x80\x00\x10\x10\x10";
        let of = |elem, rank| read(image, elem, rank).expect("an image");
        assert_eq!(of(ElemType::U32, 2), "[[4294934528u32, 4279242768u32]]");
        assert_eq!(of(ElemType::U8, 3), "[[[255u8, 128u8, 0u8], [16u8, 16u8, 16u8]]]");
        assert_eq!(of(ElemType::U8, 2), "[[151u8, 16u8]]");
        assert_eq!(of(ElemType::U16, 2), "[[38905u16, 4112u16]]");
        assert_eq!(read(b"P2 3 1 4\n0 1 4", ElemType::F32, 2).expect("an image"), "[[0f32, 0.25f32, 1f32]]");
        assert_eq!(read(b"P2 2 1 65535 257 65535", ElemType::U8, 2).expect("an image"), "[[1u8, 255u8]]");
        assert!(
            read(image, ElemType::I64, 2).is_err_and(|why| why.contains("cannot be a value of type [][]i64"))
        );
    }

    #[test]
    fn images_are_read_as_they_were_written() {
        let memory = Memory::default();
        let text =
            |text: &str| galopvm::data::read_values(&memory, text.as_bytes()).expect("values").remove(0);
        for value in [
            "[[0u8, 1u8, 255u8], [7u8, 8u8, 9u8]]",
            "[[0u16, 256u16], [65535u16, 3u16]]",
            "[[[1u8, 2u8, 3u8]], [[4u8, 5u8, 6u8]]]",
            "[[4278190081u32, 4294967295u32]]",
            "[[16909060u32, 2164392968u32]]",
        ] {
            let value = text(value);
            let picture = Picture::of(&value).expect("an image");
            let mut file = Vec::new();
            png::write(&mut file, picture.layout, |out| picture.write_samples(out)).expect("memory");
            assert_eq!(read(&file, value.elem(), value.ty().rank).as_deref(), Ok(value.to_string().as_str()));
            if picture.layout.channels < 4 {
                let mut file = Vec::new();
                netpbm::write(&mut file, picture.layout, |out| picture.write_samples(out)).expect("memory");
                assert_eq!(
                    read(&file, value.elem(), value.ty().rank).as_deref(),
                    Ok(value.to_string().as_str())
                );
            }
        }
        // Where no alpha was set, nothing is transparent.
        let value = text("[[1u32, 2u32]]");
        assert_eq!(Picture::of(&value).map(|picture| picture.layout.channels).ok(), Some(3));
        assert!(Picture::of(&text("empty([0][3]u8)")).is_err());
        assert!(Picture::of(&text("[[[1u8, 2u8]]]")).is_err());
    }
}
