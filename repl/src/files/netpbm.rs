//! Netpbm's images, binary and as text: PGM (`P5`, `P2`), which is grey, and PPM (`P6`, `P3`), with colours; up to 16 bits a sample.

use super::Problem;
use super::columns::room;
use super::pixels::Layout;
use super::samples::{Bytes, Samples};
use galopvm::{Block, Memory};
use std::io::{self, Write};

/// What a reader is told who has another file.
const HINT: &str = "PGM and PPM are read (P2, P3, P5, P6), and PNG";

/// The image of these bytes.
pub fn read<'b>(memory: &Memory, bytes: &'b [u8]) -> Result<Samples<'b>, Problem> {
    let (is_text, channels) = match bytes {
        [b'P', b'2', ..] => (true, 1),
        [b'P', b'3', ..] => (true, 3),
        [b'P', b'5', ..] => (false, 1),
        [b'P', b'6', ..] => (false, 3),
        [b'P', digit @ (b'1' | b'4' | b'7'), ..] => {
            return Err(Problem::of_file(
                format!("images of the kind P{} are not read", *digit as char),
                HINT,
            ));
        }
        _ => return Err(Problem::of_file("this is no image of the formats PGM and PPM", HINT)),
    };
    let mut words = Words { bytes, at: 2 };
    let [width, height] = [words.number("a width", u32::MAX)?, words.number("a height", u32::MAX)?];
    let most = words.number("the sample of white", u16::MAX.into())?;
    if most == 0 {
        return Err(Problem::at(words.at, "the sample of white is 0", ""));
    }
    let [width, height] = [width as usize, height as usize];
    let mut samples = Samples { width, height, channels, most: most as u16, bytes: Bytes::Lent(&[]) };
    let size = if most > 255 { 2 } else { 1 };
    let count = width.checked_mul(height).and_then(|points| points.checked_mul(channels));
    let short = |there: usize, what: &str| {
        let message =
            format!("this image is cut off: {width} x {height} points take more than {there} {what}");
        Problem::of_file(message, "")
    };
    if is_text {
        // A sample is a digit at least, and something stands between two.
        let there = (bytes.len() - words.at).div_ceil(2);
        let count = count.filter(|count| *count <= there).ok_or_else(|| short(there, "samples"))?;
        samples.bytes = Bytes::Own(words.samples(memory, count, most, size)?);
        return Ok(samples);
    }
    // One byte of white space ends the header.
    let data = bytes.get(words.at + 1..).unwrap_or_default();
    let length = count.and_then(|count| count.checked_mul(size));
    let data = length.and_then(|length| data.get(..length)).ok_or_else(|| short(data.len(), "bytes"))?;
    samples.bytes = Bytes::Lent(data);
    Ok(samples)
}

/// Numbers between white space, and comments from `#` to the end of the line.
struct Words<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Words<'_> {
    fn number(&mut self, what: &str, most: u32) -> Result<u32, Problem> {
        loop {
            match self.bytes.get(self.at) {
                Some(b'#') => {
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                }
                Some(byte) if byte.is_ascii_whitespace() => self.at += 1,
                _ => break,
            }
        }
        let start = self.at;
        let mut number = 0u32;
        while let Some(digit) = self.bytes.get(self.at).filter(|byte| byte.is_ascii_digit()) {
            number = number.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            self.at += 1;
        }
        if self.at == start {
            let message = match self.bytes.get(start) {
                None => format!("this image is cut off where {what} is expected"),
                Some(_) => format!("{what} is expected here, a whole number"),
            };
            return Err(Problem::at(start, message, ""));
        }
        if number > most {
            return Err(Problem::at(start, format!("{what} is at most {most} here"), ""));
        }
        Ok(number)
    }

    fn samples(&mut self, memory: &Memory, count: usize, most: u32, size: usize) -> Result<Block, Problem> {
        let mut block = room(memory, count * size)?;
        for place in block.bytes_mut().unwrap_or_default().chunks_exact_mut(size).take(count) {
            let sample = self.number("a sample", most)?;
            place.copy_from_slice(&(sample as u16).to_be_bytes()[2 - size..]);
        }
        Ok(block)
    }
}

/// Writes an image; `samples` writes those of it.
pub fn write(
    out: &mut dyn Write,
    layout: Layout,
    samples: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let (kind, most) = (if layout.channels == 1 { 5 } else { 6 }, if layout.wide { 65535 } else { 255 });
    write!(out, "P{kind}\n{} {}\n{most}\n", layout.width, layout.height)?;
    samples(out)
}

#[cfg(test)]
mod tests {
    use super::super::samples::Point;
    use super::*;

    fn points(bytes: &[u8]) -> Result<Vec<[u16; 3]>, String> {
        let memory = Memory::default();
        let samples = read(&memory, bytes).map_err(|problem| problem.message)?;
        Ok(samples.points().map(|Point { colour, .. }| colour).collect())
    }

    #[test]
    fn text_and_bytes_are_the_same() {
        assert_eq!(points(b"P2 # grey\n2 1\n# white\n7\n0 7\n"), Ok(vec![[0; 3], [7; 3]]));
        assert_eq!(points(b"P5 2 1 255\n\x00\xff"), Ok(vec![[0; 3], [255; 3]]));
        assert_eq!(points(b"P3\n1 2\n1000\n1 2 3\n4 5 1000"), Ok(vec![[1, 2, 3], [4, 5, 1000]]));
        assert_eq!(points(b"P6\n1 1\n1000\n\0\x01\0\x02\x03\xe8"), Ok(vec![[1, 2, 1000]]));
        assert_eq!(points(b"P5\n0 5\n255\n"), Ok(vec![]));
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (bytes, message) in [
            (&b"P1 1 1 1"[..], "images of the kind P1 are not read"),
            (b"GIF89a", "this is no image of the formats PGM and PPM"),
            (b"P5 3 3 255\nabc", "this image is cut off: 3 x 3 points take more than 3 bytes"),
            (
                b"P6 4000000000 4000000000 255\n",
                "this image is cut off: 4000000000 x 4000000000 points take more than 0 bytes",
            ),
            (b"P2 4000 4000 255\n1 2", "this image is cut off: 4000 x 4000 points take more than 2 samples"),
            (b"P2 2 1 9 1    ", "this image is cut off where a sample is expected"),
            (b"P2 1 1 9 10", "a sample is at most 9 here"),
            (b"P2 x", "a width is expected here, a whole number"),
            (b"P5 1 1 70000 ", "the sample of white is at most 65535 here"),
            (b"P5 1 1 0 ", "the sample of white is 0"),
        ] {
            assert_eq!(points(bytes), Err(message.to_string()));
        }
    }
}
