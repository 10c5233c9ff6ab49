//! An image as it lies in a file: samples of so many bits, so many for each point, row by row from the top.

use galopvm::Block;

/// An image.
pub struct Samples<'b> {
    /// Points in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Samples of a point: 1 grey, 2 with alpha; 3 red, green and blue, 4 with alpha.
    pub channels: usize,
    /// What is white; samples are at most this. Those of more than 255 take two bytes, the greater one first.
    pub most: u16,
    /// All samples.
    pub bytes: Bytes<'b>,
}

/// Where samples lie.
pub enum Bytes<'b> {
    /// In the file.
    Lent(&'b [u8]),
    /// In memory.
    Own(Block),
}

/// A point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Point {
    /// Red, green and blue.
    pub colour: [u16; 3],
    /// From 0, which is transparent.
    pub alpha: u16,
}

impl Samples<'_> {
    /// All points. What is above white is white.
    pub fn points(&self) -> impl Iterator<Item = Point> + '_ {
        let bytes = match &self.bytes {
            Bytes::Lent(bytes) => bytes,
            Bytes::Own(block) => block.bytes(),
        };
        let wide = usize::from(self.most > 255);
        let point = move |samples: &[u8]| {
            let at = |k: usize| {
                let sample = match wide {
                    0 => u16::from(samples[k]),
                    _ => u16::from_be_bytes([samples[2 * k], samples[2 * k + 1]]),
                };
                sample.min(self.most)
            };
            match self.channels {
                1 => Point { colour: [at(0); 3], alpha: self.most },
                2 => Point { colour: [at(0); 3], alpha: at(1) },
                3 => Point { colour: [at(0), at(1), at(2)], alpha: self.most },
                _ => Point { colour: [at(0), at(1), at(2)], alpha: at(3) },
            }
        };
        bytes.chunks_exact(self.channels << wide).take(self.width * self.height).map(point)
    }
}
