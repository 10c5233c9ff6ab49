//! Pictures as PNG files.

use super::Raster;
use crate::files::pixels::Layout;
use crate::files::png;
use std::io;

/// The bytes of a file.
pub fn encoded(raster: &Raster) -> io::Result<Vec<u8>> {
    let layout = Layout { width: raster.width(), height: raster.height(), channels: 3, wide: false };
    let mut file = Vec::new();
    png::write(&mut file, layout, |out| out.write_all(raster.points().as_flattened()))?;
    Ok(file)
}
