//! What a file is: by its first bytes where they say it, else by its name.

use std::path::Path;

/// How a file is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Values one after the other, as text, binary or numpy's.
    Values,
    /// Rows of cells.
    Table,
    /// A picture of this format.
    Image(Format),
    /// One array of bytes.
    Raw,
}

/// Formats of images.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Portable network graphics.
    Png,
    /// Netpbm's: PPM, PGM.
    Netpbm,
}

/// How a file is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// Text, a value on a line.
    Text,
    /// Futhark's binary format.
    Binary,
    /// numpy's.
    Npy,
    /// Rows of cells with this between them.
    Table(u8),
    /// A picture of this format.
    Image(Format),
}

/// The ending of a name in small letters; that of what is packed, if it says that it is.
fn ending(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').map_or_else(String::new, |(_, ending)| ending.to_string())
}

/// Whether a name says that a file is an image of a format that is neither read nor written here.
pub fn is_other_image(path: &Path) -> bool {
    ["jpg", "jpeg", "bmp", "gif", "tif", "tiff", "webp"].contains(&ending(path).as_str())
}

impl Kind {
    /// What a file of this name with these bytes is.
    pub fn of(path: &Path, bytes: &[u8]) -> Kind {
        // What values begin with is none of these.
        if bytes.starts_with(super::png::FIRST_BYTES) {
            return Kind::Image(Format::Png);
        }
        if matches!(bytes, [b'P', b'1'..=b'7', space, ..] if space.is_ascii_whitespace() || *space == b'#') {
            return Kind::Image(Format::Netpbm);
        }
        match ending(path).as_str() {
            "csv" | "tsv" => Kind::Table,
            "png" => Kind::Image(Format::Png),
            "ppm" | "pgm" | "pnm" | "pbm" => Kind::Image(Format::Netpbm),
            _ => Kind::Values,
        }
    }
}

impl Written {
    /// How a file of this name is written; `other` is for names that say nothing.
    pub fn of(path: &Path, other: Written) -> Written {
        let name = path.to_string_lossy();
        match name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
            Some("csv") => Written::Table(b','),
            Some("tsv") => Written::Table(b'\t'),
            Some("png") => Written::Image(Format::Png),
            Some("ppm" | "pgm" | "pnm") => Written::Image(Format::Netpbm),
            Some("npy") => Written::Npy,
            Some("bin") => Written::Binary,
            _ => other,
        }
    }
}

#[test]
fn bytes_come_before_names() {
    let of = |name: &str, bytes: &[u8]| Kind::of(Path::new(name), bytes);
    assert_eq!(of("a.csv", b"1,2"), Kind::Table);
    assert_eq!(of("A.TSV.gz", b"1\t2"), Kind::Table);
    assert_eq!(of("a.in", b"P5\n1 1 255\nx"), Kind::Image(Format::Netpbm));
    assert_eq!(of("a", b"\x89PNG\r\n\x1a\n"), Kind::Image(Format::Png));
    assert_eq!(of("a.png", b"GIF89a"), Kind::Image(Format::Png));
    assert_eq!(of("csv", b"[1, 2]"), Kind::Values);
    assert_eq!(of("-", b"P"), Kind::Values);
}
