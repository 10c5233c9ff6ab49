//! Filters a PNG image: `cargo run --release --example filter -- blur 4 in.png out.png`, or `sharpen`, or `edges`.
//!
//! The pixels go to the program as the vector that the decoder filled, and are written from where the program made them: none is copied
//! by the way.

use galopvm::{ArrayOf, Engine, Program, Session, TypedEntry};
use png::{ColorType, Decoder, Encoder, Transformations};
use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::Path;
use std::time::Instant;

const USAGE: &str = "usage: filter blur|sharpen|edges RADIUS IN.png OUT.png";

/// What can go wrong: files, images, the program, the command line.
type Problem = Box<dyn Error + Send + Sync>;

/// An image with eight bits for each channel of a pixel.
struct Image<P> {
    width: u32,
    height: u32,
    color: ColorType,
    pixels: P,
}

/// Pixels before a program has seen them.
type Decoded = Image<Vec<u8>>;

/// Pixels in the memory of a program.
type Filtered = Image<ArrayOf<u8, 3>>;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Err(problem) = run(&arguments) {
        eprintln!("{problem}");
        std::process::exit(1);
    }
}

fn run(arguments: &[String]) -> Result<(), Problem> {
    let [filter, radius, from, to] = arguments else { return Err(USAGE.into()) };
    let radius: i64 = radius.parse().ok().filter(|radius| (0..1000).contains(radius)).ok_or(USAGE)?;
    let image = read(from.as_ref()).map_err(|problem| format!("{from}: {problem}"))?;
    let filters = Filters::new()?;
    let (width, height) = (image.width, image.height);
    let begin = Instant::now();
    let filtered = filters.apply(filter, radius, image)?;
    println!("{filter} of {width} x {height} pixels in {:.1} ms", begin.elapsed().as_secs_f64() * 1e3);
    let pixels = filtered.pixels.as_slice().ok_or("the pixels do not lie one after the other")?;
    write(to.as_ref(), &Image { width, height, color: filtered.color, pixels })
        .map_err(|problem| format!("{to}: {problem}"))?;
    Ok(())
}

/// The filters' program, and an engine for it.
struct Filters {
    program: Program,
    engine: Engine,
}

impl Filters {
    fn new() -> Result<Filters, Problem> {
        let program = Program::from_source("filter.fut", include_str!("filter.fut"))?;
        Ok(Filters { program, engine: Engine::new() })
    }

    fn apply(&self, name: &str, radius: i64, image: Decoded) -> Result<Filtered, Problem> {
        let filter: TypedEntry<(i64, ArrayOf<u8, 3>), ArrayOf<u8, 3>> = self.program.entry(name)?;
        let mut session: Session = self.engine.session(&self.program);
        let Image { width, height, color, pixels } = image;
        let shape = [i64::from(height), i64::from(width), color.samples() as i64];
        let pixels = ArrayOf::new(session.give(pixels, &shape)?)?;
        let pixels = filter.call(&mut session, (radius, pixels))?;
        Ok(Image { width, height, color, pixels })
    }
}

fn read(path: &Path) -> Result<Decoded, Problem> {
    let mut decoder = Decoder::new(BufReader::new(File::open(path)?));
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let mut reader = decoder.read_info()?;
    let mut pixels = vec![0; reader.output_buffer_size().ok_or("the image is too large")?];
    let frame = reader.next_frame(&mut pixels)?;
    pixels.truncate(frame.buffer_size());
    Ok(Image { width: frame.width, height: frame.height, color: frame.color_type, pixels })
}

fn write(path: &Path, image: &Image<&[u8]>) -> Result<(), Problem> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut encoder = Encoder::new(&mut file, image.width, image.height);
    encoder.set_color(image.color);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(image.pixels)?;
    writer.finish()?;
    Ok(file.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of a light square in the middle of darkness, through a file and back.
    fn square(name: &str) -> Decoded {
        let (width, height) = (40, 30);
        let pixel = |k: u32| {
            let (x, y) = (k % width, k / width);
            let is_light = (15..25).contains(&x) && (10..20).contains(&y);
            if is_light { [200, 100, 0] } else { [40, 20, 0] }
        };
        let pixels: Vec<u8> = (0..width * height).flat_map(pixel).collect();
        let path = std::env::temp_dir().join(format!("galopvm-filter-{}-{name}.png", std::process::id()));
        write(&path, &Image { width, height, color: ColorType::Rgb, pixels: &pixels })
            .expect("a place for files");
        let image = read(&path).expect("the file that was written");
        let _ = std::fs::remove_file(&path);
        image
    }

    fn at(image: &Filtered, x: usize, y: usize) -> &[u8] {
        let first = 3 * (y * image.width as usize + x);
        &image.pixels.as_slice().expect("pixels one after the other")[first..first + 3]
    }

    #[test]
    fn filters_do_what_they_are_called() {
        let filters = Filters::new().expect("a program");
        let apply = |name| filters.apply(name, 3, square(name)).expect("a filter");
        let (blurred, sharp, edges) = (apply("blur"), apply("sharpen"), apply("edges"));
        // Far from the square's edges nothing changes.
        for image in [&blurred, &sharp] {
            assert_eq!((at(image, 0, 0), at(image, 20, 15)), (&[40, 20, 0][..], &[200, 100, 0][..]));
        }
        assert_eq!((at(&edges, 0, 0), at(&edges, 20, 15)), (&[0, 0, 0][..], &[0, 0, 0][..]));
        // At an edge a blur is between both sides, and sharpening goes beyond them.
        assert!(
            (120..160).contains(&at(&blurred, 15, 15)[0]) && (80..120).contains(&at(&blurred, 14, 15)[0])
        );
        assert!(at(&sharp, 15, 15)[0] > 220 && at(&sharp, 14, 15)[0] < 20);
        assert!(at(&edges, 15, 15)[0] > 200 && at(&edges, 14, 15)[1] > 100);
    }

    #[test]
    fn what_is_wrong_is_told() {
        let told = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|a| a.to_string()).collect();
            run(&arguments).expect_err("a mistake").to_string()
        };
        assert_eq!(told(&["blur", "many", "a.png", "b.png"]), USAGE);
        assert!(told(&["blur", "1", "no such.png", "b.png"]).starts_with("no such.png: "));
        let filters = Filters::new().expect("a program");
        let unknown = filters.apply("smear", 1, square("smear")).map(|_| ());
        assert!(unknown.expect_err("no filter").to_string().contains("smear"));
    }
}
