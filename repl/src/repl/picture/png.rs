//! Pictures as PNG files.

use super::Raster;
use flate2::Compression;
use flate2::Crc;
use flate2::write::ZlibEncoder;
use std::io::{self, Write};

/// The bytes of a file.
pub fn encoded(raster: &Raster) -> io::Result<Vec<u8>> {
    let mut rows = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in raster.points().chunks(raster.width().max(1)) {
        // Each row says how it was made simpler: not at all.
        rows.write_all(&[0])?;
        rows.write_all(row.as_flattened())?;
    }
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    header.extend_from_slice(&(raster.width() as u32).to_be_bytes());
    header.extend_from_slice(&(raster.height() as u32).to_be_bytes());
    // Eight bits each of red, green and blue; the one compression and the one set of filters; not interlaced.
    header.extend_from_slice(&[8, 2, 0, 0, 0]);
    chunk(&mut file, b"IHDR", &header);
    chunk(&mut file, b"IDAT", &rows.finish()?);
    chunk(&mut file, b"IEND", &[]);
    Ok(file)
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], contents: &[u8]) {
    file.extend_from_slice(&(contents.len() as u32).to_be_bytes());
    file.extend_from_slice(kind);
    file.extend_from_slice(contents);
    let mut sum = Crc::new();
    sum.update(kind);
    sum.update(contents);
    file.extend_from_slice(&sum.sum().to_be_bytes());
}

#[test]
fn a_file_has_its_parts() {
    let mut raster = Raster::new(3, 2);
    raster.set(1, 1, [1, 2, 3]);
    let file = encoded(&raster).expect("a picture");
    assert!(file.starts_with(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x08\x02\0\0\0"));
    // The end has no contents, and so always the same sum.
    assert!(file.ends_with(b"\0\0\0\0IEND\xae\x42\x60\x82"));
    let data = file.windows(4).position(|word| word == b"IDAT").expect("the points") + 4;
    let mut rows = Vec::new();
    let mut decoder = flate2::read::ZlibDecoder::new(&file[data..]);
    io::Read::read_to_end(&mut decoder, &mut rows).expect("packed rows");
    let white = [255; 9];
    assert_eq!(rows, [&[0], &white[..], &[0, 255, 255, 255, 1, 2, 3, 255, 255, 255]].concat());
}
