//! Images for terminals that show pictures: kitty's graphics protocol, and sixels.

use crate::repl::picture::colour::Colour;
use crate::repl::picture::{Raster, base64, png};
use std::io::{self, Write};

/// Most bytes of a piece of what is sent to kitty.
const PIECE: usize = 4096;

/// Most points across and down: terminals refuse pictures that are much larger.
const MOST: usize = 1000;

/// A picture of at most the extents that terminals take.
fn bounded(raster: &Raster) -> Raster {
    let longer = raster.width().max(raster.height());
    match longer > MOST {
        true => {
            let shorter = |length: usize| (length * MOST / longer).max(1);
            raster.scaled(shorter(raster.width()), shorter(raster.height()))
        }
        false => raster.clone(),
    }
}

/// Sends an image as a PNG file in pieces. No answer is asked for.
pub fn kitty(out: &mut dyn Write, raster: &Raster) -> io::Result<()> {
    let text = base64::encoded(&png::encoded(&bounded(raster))?);
    let mut pieces = text.as_bytes().chunks(PIECE).peekable();
    let mut head = "a=T,f=100,q=2,";
    while let Some(piece) = pieces.next() {
        write!(out, "\x1b_G{head}m={};", u8::from(pieces.peek().is_some()))?;
        out.write_all(piece)?;
        out.write_all(b"\x1b\\")?;
        head = "";
    }
    out.write_all(b"\n")
}

/// The number of the next colour of a cube of six by six by six, which every terminal with sixels has room for.
fn in_cube(colour: Colour) -> usize {
    let [red, green, blue] = colour.map(|c| (usize::from(c) * 5 + 127) / 255);
    36 * red + 6 * green + blue
}

/// Sends an image as sixels: bands of six rows, for each colour the points that have it.
pub fn sixel(out: &mut dyn Write, raster: &Raster) -> io::Result<()> {
    let raster = bounded(raster);
    write!(out, "\x1bPq\"1;1;{};{}", raster.width(), raster.height())?;
    for colour in 0..216 {
        write!(out, "#{colour};2;{};{};{}", colour / 36 * 20, colour / 6 % 6 * 20, colour % 6 * 20)?;
    }
    for top in (0..raster.height()).step_by(6) {
        let mut bands: Vec<Option<Vec<u8>>> = vec![None; 216];
        for y in top..(top + 6).min(raster.height()) {
            for x in 0..raster.width() {
                let band = &mut bands[in_cube(raster.at(x, y))];
                band.get_or_insert_with(|| vec![0; raster.width()])[x] |= 1 << (y - top);
            }
        }
        for (colour, band) in bands.iter().enumerate() {
            let Some(band) = band else { continue };
            write!(out, "#{colour}")?;
            for same in band.chunk_by(|a, b| a == b) {
                write!(out, "!{}{}", same.len(), char::from(63 + same[0]))?;
            }
            // Back to the beginning of the band, for the next colour.
            out.write_all(b"$")?;
        }
        out.write_all(b"-")?;
    }
    out.write_all(b"\x1b\\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kitty_is_sent_pieces_without_a_question() {
        let mut out = Vec::new();
        let noise = (0..120_000u32).map(|k| [0, 8, 16].map(|s| (k.wrapping_mul(2_654_435_761) >> s) as u8));
        kitty(&mut out, &Raster::of_points(400, noise.collect())).expect("a memory");
        let text = String::from_utf8(out).expect("letters");
        assert!(text.starts_with("\x1b_Ga=T,f=100,q=2,m=1;iVBORw0KGgo"), "{}", &text[..40]);
        assert_eq!(text.matches("m=0;").count(), 1);
        assert!(text.matches("\x1b_Gm=").count() > 2 && text.ends_with("\x1b\\\n"));
    }

    #[test]
    fn sixels_are_bands_of_colours() {
        let mut out = Vec::new();
        let column = |colour: Colour| [colour, [255; 3]];
        let points: Vec<Colour> = (0..7).flat_map(|_| column([255, 0, 0])).collect();
        sixel(&mut out, &Raster::of_points(2, points)).expect("a memory");
        let text = String::from_utf8(out).expect("letters");
        assert!(text.starts_with("\x1bPq\"1;1;2;7#0;2;0;0;0#1;2;0;0;20"));
        assert!(text.ends_with("#180!1~!1?$#215!1?!1~$-#180!1@!1?$#215!1?!1@$-\x1b\\\n"), "{text:?}");
    }
}
