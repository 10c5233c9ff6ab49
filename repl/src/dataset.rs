//! `galopvm dataset`: makes random values, and turns data from one format into another.
//!
//! Options take effect in the order in which they are given: formats and bounds hold for the values after them.

use crate::failure::{Failure, Outcome};
use crate::files::Kind;
use crate::given::{Inputs, flag};
use crate::input::Values;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use galopvm::data::{self, Bounds, Style};
use galopvm::{ElemType, Memory, Value};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// How values are written.
#[derive(Clone, Copy, Default)]
enum Format {
    #[default]
    Text,
    Binary,
    Type,
    Npy,
}

/// One option, at its place.
enum Step {
    Format(Format),
    Bounds(ElemType, String),
    Generate(String),
}

/// See [`clap::Args`] below.
pub struct Args {
    seed: i64,
    inputs: Inputs,
    steps: Vec<Step>,
}

const ABOUT: &str = "Make random values, or convert data between formats";

const LONG_ABOUT: &str = "\
Make random values, or convert data between formats

With -g, random values of the given types are printed; the same seed gives the same values, which are those of `futhark
dataset`. Without, values are read from standard input or files - text, binary or .npy, packed with gzip or not, tables
and images - and printed in the format asked for. A table gives a vector for each column, of i64, f64 or bool; an image
gives [h][w]u32. Options hold for what follows them.";

const EXAMPLES: &str = "\
Examples:
  galopvm dataset -g [4][2]i32
  galopvm dataset -b --f32-bounds=-1:1 -g [1000]f32 -g [1000]f32 > xy.in
  galopvm dataset -g [10]f32 --i64-bounds=0:9 -g [100]i64
  galopvm dataset -b < values.txt > values.in
  galopvm dataset -t < values.in         the types of the values
  galopvm dataset -t -i measured.csv     the types of the columns
  galopvm dataset --npy -i photo.png > photo.npy";

/// Exit codes are those of `futhark dataset`: 1 for whatever is wrong.
fn wrong(message: impl Into<String>) -> Failure {
    Failure::Run(message.into())
}

/// The name of the option that sets the bounds of a type.
fn bounds_option(ty: ElemType) -> &'static str {
    match ty {
        ElemType::I8 => "i8-bounds",
        ElemType::I16 => "i16-bounds",
        ElemType::I32 => "i32-bounds",
        ElemType::I64 => "i64-bounds",
        ElemType::U8 => "u8-bounds",
        ElemType::U16 => "u16-bounds",
        ElemType::U32 => "u32-bounds",
        ElemType::U64 => "u64-bounds",
        ElemType::F16 => "f16-bounds",
        ElemType::F32 => "f32-bounds",
        ElemType::F64 => "f64-bounds",
        ElemType::Bool => "bool-bounds",
    }
}

fn numbers() -> impl Iterator<Item = ElemType> {
    ElemType::ALL.into_iter().filter(|ty| *ty != ElemType::Bool)
}

impl clap::Args for Args {
    fn augment_args(command: Command) -> Command {
        let mut command = command
            .about(ABOUT)
            .long_about(LONG_ABOUT)
            .after_help(EXAMPLES)
            .arg(
                Arg::new("generate")
                    .short('g')
                    .long("generate")
                    .value_name("TYPE")
                    .action(ArgAction::Append)
                    .allow_hyphen_values(true)
                    .help(
                        "Make a random value of this type, such as i32 or [10]f32; a value stands for itself",
                    ),
            )
            .arg(
                Arg::new("seed")
                    .short('s')
                    .long("seed")
                    .value_name("SEED")
                    .default_value("1")
                    .allow_hyphen_values(true)
                    .value_parser(clap::value_parser!(i64))
                    .help("Where random numbers start"),
            )
            .arg(flag("text", "Print what follows as text, as is done without any of these"))
            .arg(flag("binary", "Print what follows in the binary data format").short('b'))
            .arg(flag("npy", "Print what follows in numpy's .npy format"))
            .arg(flag("type", "Print the types of what follows").short('t'));
        command = Inputs::augment_args(command);
        for ty in numbers() {
            let name = bounds_option(ty);
            command = command.arg(
                Arg::new(name)
                    .long(name)
                    .value_name("MIN:MAX")
                    .action(ArgAction::Append)
                    .allow_hyphen_values(true)
                    .help(format!("The least and the greatest {ty} of what follows")),
            );
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Args::augment_args(command)
    }
}

impl FromArgMatches for Args {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Args, clap::Error> {
        let mut steps: Vec<(usize, Step)> = Vec::new();
        let mut add = |name: &str, step: &dyn Fn(String) -> Step| {
            let values = matches.get_many::<String>(name).into_iter().flatten();
            for (at, value) in matches.indices_of(name).into_iter().flatten().zip(values) {
                steps.push((at, step(value.clone())));
            }
        };
        add("generate", &Step::Generate);
        for (name, format) in
            [("text", Format::Text), ("binary", Format::Binary), ("npy", Format::Npy), ("type", Format::Type)]
        {
            add(name, &|_| Step::Format(format));
        }
        for ty in numbers() {
            add(bounds_option(ty), &|text| Step::Bounds(ty, text));
        }
        steps.sort_by_key(|(at, _)| *at);
        let seed = matches.get_one("seed").copied().unwrap_or(1);
        let inputs = Inputs::from_arg_matches(matches)?;
        Ok(Args { seed, inputs, steps: steps.into_iter().map(|(_, step)| step).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Args::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let memory = Memory::default();
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let (mut format, mut bounds, mut generated) = (Format::default(), Bounds::default(), 0);
    for step in args.steps {
        match step {
            Step::Format(wanted) => format = wanted,
            Step::Bounds(ty, text) => {
                if !bounds.set(ty, &text) {
                    return Err(wrong(format!("Invalid bounds for {ty}: {text}")));
                }
            }
            Step::Generate(text) => {
                let seed = args.seed.wrapping_add(generated) as u64;
                for value in generate(&memory, &text, &bounds, seed)? {
                    write(&mut out, &value, format)?;
                }
                generated += 1;
            }
        }
    }
    if generated == 0 {
        let Inputs { files, standard } = args.inputs;
        if files.is_empty() {
            let malformed = |text| format!("Malformed data on standard input.\n{text}");
            convert(&memory, &mut out, format, ("-".into(), standard), &malformed)?;
        }
        for file in files {
            convert(&memory, &mut out, format, file, &|text| text)?;
        }
    }
    out.flush()?;
    Ok(())
}

fn write(out: &mut dyn Write, value: &Value, format: Format) -> io::Result<()> {
    match format {
        Format::Binary => data::write_binary(out, value),
        Format::Npy => data::write_npy(out, value),
        Format::Text => {
            data::write_text_in(out, value, Style::Data)?;
            out.write_all(b"\n")
        }
        Format::Type => {
            if let Some(array) = value.as_array() {
                array.shape().iter().try_for_each(|extent| write!(out, "[{extent}]"))?;
            }
            writeln!(out, "{}", value.elem())
        }
    }
}

/// Values from a file, one after the other.
fn convert(
    memory: &Memory,
    out: &mut dyn Write,
    format: Format,
    (path, kind): (PathBuf, Option<Kind>),
    malformed: &dyn Fn(String) -> String,
) -> Outcome {
    let values = Values::open_as(memory, &path, kind)?;
    values.each(memory, &mut |value| write(out, value, format)).map_err(|failure| match failure {
        Failure::User(text) => wrong(malformed(text)),
        other => other,
    })
}

/// The values that `-g` asks for: themselves, or a random one of a type.
pub fn generate(memory: &Memory, text: &str, bounds: &Bounds, seed: u64) -> Result<Vec<Value>, Failure> {
    if let Ok(values) = data::read_values(memory, text.as_bytes()) {
        return Ok(values);
    }
    let (elem, shape) = parse_type(text).map_err(wrong)?;
    let value = data::random_value(memory, elem, &shape, bounds, seed);
    Ok(vec![value.map_err(|error| wrong(format!("Error: {error}")))?])
}

/// `[10][2]f32`; uniqueness and parentheses mean nothing here.
pub fn parse_type(text: &str) -> Result<(ElemType, Vec<i64>), String> {
    let mut shape = Vec::new();
    let mut rest = text.trim();
    let mut open = 0;
    loop {
        if let Some(inside) = rest.strip_prefix('*') {
            rest = inside.trim_start();
        } else if let Some(inside) = rest.strip_prefix('(') {
            rest = inside.trim_start();
            open += 1;
        } else if let Some(inside) = rest.strip_prefix('[') {
            let (extent, after) = inside.split_once(']').ok_or_else(|| format!("`{text}` is not a type"))?;
            let digits = extent.trim().replace('_', "");
            let extent = digits.parse().ok().filter(|n: &i64| *n >= 0);
            shape.push(extent.ok_or("Array has non-constant dimension declaration.")?);
            rest = after.trim_start();
        } else {
            break;
        }
    }
    if rest.contains("->") {
        return Err("Cannot generate functions.".into());
    }
    if rest.starts_with('?') {
        return Err("Cannot handle existential sizes.".into());
    }
    if rest.starts_with('{') {
        return Err("Cannot handle records yet.".into());
    }
    if rest.starts_with('#') {
        return Err("Cannot handle sumtypes yet.".into());
    }
    if rest.contains(',') {
        return Err("Cannot handle tuples yet.".into());
    }
    let mut name = rest;
    while open > 0 {
        name = name.strip_suffix(')').ok_or_else(|| format!("`{text}` is not a type"))?.trim_end();
        open -= 1;
    }
    if name.contains(char::is_whitespace) {
        return Err("Cannot handle type applications yet.".into());
    }
    let elem = name.parse::<ElemType>().map_err(|()| format!("Unknown type {name}"))?;
    Ok((elem, shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_as_futhark_does() {
        for (text, elem, shape) in [
            ("i32", ElemType::I32, &[][..]),
            ("[10 ][2]f32", ElemType::F32, &[10, 2]),
            ("*[2](bool)", ElemType::Bool, &[2]),
            ("[1_0] ([3]u8)", ElemType::U8, &[10, 3]),
        ] {
            assert_eq!(parse_type(text), Ok((elem, shape.to_vec())), "{text}");
        }
        for (text, message) in [
            ("i32x", "Unknown type i32x"),
            ("[n]i32", "Array has non-constant dimension declaration."),
            ("[-5]i32", "Array has non-constant dimension declaration."),
            ("(i32, i32)", "Cannot handle tuples yet."),
            ("[2]{a: i32}", "Cannot handle records yet."),
            ("i32 i32", "Cannot handle type applications yet."),
            ("f32 -> f32", "Cannot generate functions."),
            ("#a | #b", "Cannot handle sumtypes yet."),
            ("?[n].[n]i32", "Cannot handle existential sizes."),
            ("[2", "`[2` is not a type"),
        ] {
            assert_eq!(parse_type(text), Err(message.to_string()), "{text}");
        }
    }
}
