//! Images in the format PNG, by the crate `png`.

use super::Problem;
use super::columns::room;
use super::pixels::Layout;
use super::samples::{Bytes, Samples};
use galopvm::Memory;
use png::{BitDepth, ColorType, Decoder, DecodingError, Encoder, Transformations};
use std::io::{self, Cursor, Write};

/// How such files begin.
pub const FIRST_BYTES: &[u8] = b"\x89PNG\r\n\x1a\n";

/// A packed byte stands for at most so many.
const GREATEST_RATIO: usize = 1032;

/// The image of these bytes.
pub fn read(memory: &Memory, bytes: &[u8]) -> Result<Samples<'static>, Problem> {
    if !bytes.starts_with(FIRST_BYTES) {
        return Err(Problem::of_file("this is no image of the format PNG", "PNG, PPM and PGM are read"));
    }
    let damaged = |error: DecodingError| match error {
        DecodingError::LimitsExceeded => Problem::of_file("this image takes too much memory", ""),
        error => Problem::of_file(format!("this image is damaged: {error}"), ""),
    };
    let mut decoder = Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(Transformations::EXPAND);
    decoder.set_ignore_text_chunk(true);
    let header = decoder.read_header_info().map_err(damaged)?;
    let (width, height) = (header.width as usize, header.height as usize);
    let line = header.raw_row_length();
    let packed = bytes.len().saturating_mul(GREATEST_RATIO);
    if line.checked_mul(height).is_none_or(|all| all > packed) {
        let message =
            format!("this image is cut off: {width} x {height} points do not fit {} bytes", bytes.len());
        return Err(Problem::of_file(message, ""));
    }
    // A line at a time is unpacked beside the image, at up to eight bytes a point.
    let _beside = room(memory, width.saturating_mul(16))?;
    let mut reader = decoder.read_info().map_err(damaged)?;
    let too_large = || Problem::of_file("this image is too large", "");
    let size = reader.output_buffer_size().ok_or_else(too_large)?;
    let mut block = room(memory, size)?;
    let frame = reader.next_frame(block.bytes_mut().unwrap_or_default()).map_err(damaged)?;
    reader.finish().map_err(damaged)?;
    if (frame.width as usize, frame.height as usize) != (width, height) {
        return Err(Problem::of_file("this image is damaged: its first picture is not all of it", ""));
    }
    let channels = frame.color_type.samples();
    let most = if frame.bit_depth == BitDepth::Sixteen { u16::MAX } else { 255 };
    Ok(Samples { width, height, channels, most, bytes: Bytes::Own(block) })
}

/// Writes an image; `samples` writes those of it.
pub fn write(
    out: &mut dyn Write,
    layout: Layout,
    samples: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let extent =
        |extent: usize| u32::try_from(extent).map_err(|_| io::Error::other("the image is too large"));
    let mut encoder = Encoder::new(out, extent(layout.width)?, extent(layout.height)?);
    encoder.set_color(match layout.channels {
        1 => ColorType::Grayscale,
        3 => ColorType::Rgb,
        _ => ColorType::Rgba,
    });
    encoder.set_depth(if layout.wide { BitDepth::Sixteen } else { BitDepth::Eight });
    let mut writer = encoder.write_header()?;
    let mut stream = writer.stream_writer()?;
    samples(&mut stream)?;
    stream.finish()?;
    Ok(writer.finish()?)
}
