//! `:image`: matrices as pictures, in the terminal or in a PNG file.
//!
//! - `protocol.rs`: pictures for terminals that know some; those that know none get characters.
//!
//! Grey are `u8` and `bool`, and floats from zero to one; `u32` and `i32` are colours as 0xAARRGGBB, and `[h][w][3]u8`
//! are red, green and blue.

mod protocol;

use super::evaluation::{Evaluated, Expression};
use super::filename;
use super::numbers;
use super::picture::{Raster, characters, png};
use super::screen::{Colours, Protocol, Screen};
use super::{Repl, print};
use crate::failure::{complaint, say};
use galopvm::{Array, ElemType, Scalar, Value};
use galopvm_base::system_message;
use galopvm_bytecode::Form;
use std::io::{self, Write};

/// Endings of the files that an image can be written to.
const ENDINGS: [&str; 1] = ["png"];

/// What stands in the place of what is no number.
const STRANGE: [u8; 3] = [255, 0, 255];

impl Repl {
    /// Shows an expression as an image.
    pub(super) fn image(&mut self, text: &str) -> io::Result<()> {
        if let Some(complaint) = filename::complaint_of_picture(text, &ENDINGS) {
            say(&complaint);
            return Ok(());
        }
        let (text, file) = filename::last(text, &ENDINGS);
        let Some(value) = self.value(Expression::typed(text)) else { return Ok(()) };
        let (raster, note) = match pixels(&value) {
            Ok(found) => found,
            Err(why) => {
                let hint = "[h][w]u8, bool, f32 and f64 (0 to 1) are grey, u32 and i32 are colours 0xAARRGGBB, \
                            [h][w][3]u8 are red, green and blue; `:plot heat` scales other numbers";
                say(&complaint(&format!("`{text}` is {}, which is no image{why}", value.ty), hint));
                return Ok(());
            }
        };
        match file {
            Some(file) => match png::encoded(&raster).and_then(|bytes| std::fs::write(&file, bytes)) {
                Ok(()) => print(&format!("written to {}", file.display()))?,
                Err(error) => say(&complaint(&format!("{}: {}", file.display(), system_message(&error)), "")),
            },
            None => show(&raster, Screen::of_output(&mut self.lines))?,
        }
        note.map_or(Ok(()), |note| print(&note))
    }
}

/// Writes an image where the output goes.
fn show(raster: &Raster, screen: Screen) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match screen.protocol {
        Protocol::Kitty => protocol::kitty(&mut out, raster)?,
        Protocol::Sixel => protocol::sixel(&mut out, raster)?,
        Protocol::Characters => {
            // A character is about twice as high as it is wide, and half a block is square.
            let (columns, rows) = (screen.columns, 2 * screen.rows.saturating_sub(2));
            let (width, height) = (raster.width(), raster.height());
            let wide = width.min(columns).min((rows * width / height.max(1)).max(1));
            let high = (wide * height).div_ceil(width).clamp(1, rows);
            let lines = match screen.colours {
                Colours::None => characters::letters(&raster.scaled(wide, high.div_ceil(2))),
                colours => characters::half_blocks(&raster.scaled(wide, high), colours),
            };
            out.write_all((lines.join("\n") + "\n").as_bytes())?;
        }
    }
    out.flush()
}

/// The points of a value, and what is to be said of them; or what more there is to say of one that has none.
fn pixels(value: &Evaluated) -> Result<(Raster, Option<String>), String> {
    let (Form::Value(slot), Some(array)) = (&value.form, value.values.first().and_then(Value::as_array))
    else {
        return Err(String::new());
    };
    let shape = array.shape();
    if *slot != 0 {
        return Err(String::new());
    }
    numbers::few_enough(&value.values).map_err(|why| format!(": {why}"))?;
    if shape.contains(&0) {
        return Err(": it is empty".into());
    }
    let bits = || array.iter_bits();
    let width = shape.get(1).map_or(0, |width| *width as usize);
    match (shape.as_slice(), array.elem()) {
        ([_, _, 3], ElemType::U8) => {
            let bytes: Vec<u8> = bits().map(|bits| bits as u8).collect();
            Ok((Raster::of_points(width, bytes.as_chunks().0.to_vec()), None))
        }
        ([_, _], ElemType::U8) => {
            Ok((Raster::of_points(width, bits().map(|bits| [bits as u8; 3]).collect()), None))
        }
        ([_, _], ElemType::Bool) => Ok((
            Raster::of_points(width, bits().map(|bits| [if bits == 0 { 0 } else { 255 }; 3]).collect()),
            None,
        )),
        ([_, _], ElemType::U32 | ElemType::I32) => {
            let colour = |bits: u64| [(bits >> 16) as u8, (bits >> 8) as u8, bits as u8];
            Ok((Raster::of_points(width, bits().map(colour).collect()), None))
        }
        ([_, _], elem) if elem.is_float() => Ok(greys(array, width)),
        ([_, _, _], _) => Err(": three dimensions are an image if the last has three elements, of u8".into()),
        ([_, _], elem) => Err(format!(": {elem} has no colour")),
        _ => Err(": it has not two dimensions".into()),
    }
}

/// Floats from zero to one as greys, and how many are something else.
fn greys(array: &Array, width: usize) -> (Raster, Option<String>) {
    let (mut outside, mut nans) = (0, 0);
    let points = array.iter_bits().map(|bits| {
        let number = Scalar::new(array.elem(), bits).as_f64();
        if number.is_nan() {
            nans += 1;
            return STRANGE;
        }
        outside += usize::from(!(0.0..=1.0).contains(&number));
        [(number.clamp(0.0, 1.0) * 255.0).round() as u8; 3]
    });
    let raster = Raster::of_points(width, points.collect());
    let mut notes = Vec::new();
    if outside > 0 {
        notes.push(format!(
            "{outside} are below 0 or above 1, and shown as black or white (`:plot heat` scales)"
        ));
    }
    if nans > 0 {
        notes.push(format!("{nans} are NaN, and shown as magenta"));
    }
    (raster, (!notes.is_empty()).then(|| format!("of {} numbers {}", array.elements(), notes.join("; "))))
}
