//! What becomes of results: printed, or written to files, each as its name says.
//!
//! What can be said before the program runs is said before: so many files as there are results, or one for all of them, of
//! kinds that the results can be. Files are in their places when all of them are complete.

use crate::failure::{Failure, Outcome};
use crate::files::whole::Whole;
use crate::files::{Format, Written, csv, is_other_image, netpbm, pixels, png};
use crate::values::{self, Type, Types};
use crate::wanted::{Leaf, leaves};
use galopvm::{Program, Value, ValueType, data};
use galopvm_base::system_message;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is printed, and how.
#[derive(clap::Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// Write the results to this file instead; of several, one to each. Its name says how: .csv and .tsv a table, .png, .ppm and
    /// .pgm an image, .npy numpy's format, .bin the binary data format, others text
    #[arg(short, long, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Print results in the binary data format
    #[arg(short, long, conflicts_with = "npy")]
    binary_output: bool,
    /// Print results in numpy's .npy format
    #[arg(long)]
    npy: bool,
    /// Print records, tuples and sums as programs write them, {x = 1f32, y = 2i32} and #some 3i32, and not part by part
    #[arg(long, conflicts_with_all = ["binary_output", "npy"])]
    records: bool,
    /// Do not print the results
    #[arg(short, long, conflicts_with = "output")]
    no_print_result: bool,
}

/// Where the results of an entry point go.
pub struct Plan {
    /// The type of each result.
    results: Vec<Arc<Type>>,
    /// The files with the results that each takes; none if results are printed.
    files: Vec<(PathBuf, Written, std::ops::Range<usize>)>,
    /// How they are printed.
    written: Written,
    records: bool,
    quiet: bool,
}

impl Output {
    /// Where the results of this entry point go; or why they cannot.
    pub fn plan(&self, program: &Program, entry: &str) -> Result<Plan, Failure> {
        let types = Types::of(program.module(), None);
        let typed = types.entries().iter().find(|typed| typed.name == entry);
        let results: Vec<Arc<Type>> =
            typed.map_or(Vec::new(), |typed| typed.results.iter().map(|(_, ty)| ty.clone()).collect());
        let written = match (self.binary_output, self.npy) {
            (true, _) => Written::Binary,
            (_, true) => Written::Npy,
            _ => Written::Text,
        };
        let (count, files) = (results.len(), self.output.len());
        if files > 1 && files != count {
            let of = if count == 1 { "1 result".into() } else { format!("{count} results") };
            let hint = "name one file for each result, or one for all";
            return Err(Failure::user(
                format!("`{entry}` has {of}, but there are {files} files for them"),
                hint,
            ));
        }
        let twice =
            |(k, path): &(usize, &PathBuf)| *path != Path::new("-") && self.output[..*k].contains(path);
        if let Some((_, path)) = self.output.iter().enumerate().find(twice) {
            let message = format!("{}: two results cannot be in one file this way", path.display());
            return Err(Failure::user(message, "name it once, and alone, for all results"));
        }
        let range = |k: usize| if files == 1 { 0..count } else { k..k + 1 };
        let files = self.output.iter().enumerate();
        let files = files.map(|(k, path)| (path.clone(), Written::of(path, written), range(k))).collect();
        let plan = Plan { results, files, written, records: self.records, quiet: self.no_print_result };
        for (path, written, range) in &plan.files {
            plan.possible(path, *written, range.clone())?;
        }
        Ok(plan)
    }
}

impl Plan {
    /// Refuses what a file cannot hold, and a file that cannot be there.
    fn possible(&self, path: &Path, written: Written, range: std::ops::Range<usize>) -> Outcome {
        let refused = |what: String, hint: &str| Failure::user(format!("{}: {what}", path.display()), hint);
        if is_other_image(path) {
            return Err(refused("images are written as PNG, PPM and PGM files".into(), "use .png"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if path.is_dir() {
            return Err(refused("this is a directory".into(), "name a file in it"));
        }
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            return Err(refused(format!("there is no folder {}", folder.display()), "make the folder first"));
        }
        let results = &self.results[range];
        let types: Vec<ValueType> = results.iter().flat_map(|ty| ty.parts()).collect();
        let names: Vec<&str> = results.iter().map(|ty| ty.name.as_str()).collect();
        let names = names.join(", ");
        match written {
            Written::Table(_) if !csv::fits(&types) => Err(refused(
                format!("a result of type {names} is no table"),
                "vectors are columns, a matrix is all of them, and scalars are one row",
            )),
            Written::Image(format) => match types.as_slice() {
                [ty] => match (pixels::is_image(*ty), format) {
                    (None, _) => Err(refused(format!("a result of type {names} is no image"), pixels::HINT)),
                    (Some(false), Format::Netpbm)
                        if path.extension().is_some_and(|ending| ending == "pgm") =>
                    {
                        Err(refused(
                            format!("a result of type {names} has colours, and PGM has none"),
                            "use .ppm",
                        ))
                    }
                    _ => Ok(()),
                },
                _ => Err(refused(
                    format!("results of types {names} are no image"),
                    "name a file for each result",
                )),
            },
            _ => Ok(()),
        }
    }

    /// Prints the results, or writes them.
    pub fn carry_out(&self, results: &[Value]) -> Outcome {
        if self.quiet {
            return Ok(());
        }
        let mut rest = results;
        let mut components = Vec::new();
        for ty in &self.results {
            let (own, others) = rest.split_at(ty.parts().len().min(rest.len()));
            components.push(own);
            rest = others;
        }
        if self.files.is_empty() {
            let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
            self.write_values(&mut out, self.written, &self.results, &components)?;
            out.flush()?;
            return Ok(());
        }
        let mut complete = Vec::new();
        for (path, written, range) in &self.files {
            let cannot = |error: io::Error| cannot_write(path, error);
            let (types, values) = (&self.results[range.clone()], &components[range.clone()]);
            let mut file = Whole::create(path).map_err(cannot)?;
            match written {
                Written::Table(separator) => {
                    let columns = columns(types, values);
                    let refused = |why| Failure::user(format!("{}: {why}", path.display()), "");
                    let rows = csv::rows(&values.concat()).map_err(refused)?;
                    csv::write(file.out(), *separator, &columns, rows).map_err(cannot)?;
                }
                Written::Image(format) => {
                    let all = values.concat();
                    let refused =
                        |why: String| Failure::user(format!("{}: {why}", path.display()), pixels::HINT);
                    let Some(value) = all.first() else { continue };
                    write_image(file.out(), *format, value).map_err(refused)?.map_err(cannot)?;
                }
                written => self.write_values(file.out(), *written, types, values).map_err(cannot)?,
            }
            for array in values.iter().flat_map(|own| own.iter()).filter_map(Value::as_array) {
                data::intact(array).map_err(cannot)?;
            }
            complete.push((file, path));
        }
        for (file, path) in complete {
            file.finish().map_err(|error| cannot_write(path, error))?;
        }
        Ok(())
    }

    fn write_values(
        &self,
        out: &mut dyn Write,
        written: Written,
        types: &[Arc<Type>],
        components: &[&[Value]],
    ) -> io::Result<()> {
        for (ty, parts) in types.iter().zip(components) {
            if self.records && written == Written::Text {
                values::write(out, ty, parts, data::Style::Program)?;
                out.write_all(b"\n")?;
                continue;
            }
            for value in *parts {
                match written {
                    Written::Binary => data::write_binary(out, value)?,
                    Written::Npy => data::write_npy(out, value)?,
                    _ => {
                        data::write_text(out, value)?;
                        out.write_all(b"\n")?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Why a file is not there; who reads standard output may have seen enough.
fn cannot_write(path: &Path, error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::Output(error),
        _ => Failure::user(format!("{}: cannot write: {}", path.display(), system_message(&error)), ""),
    }
}

/// The columns of a table, with the names of the fields that they are; those of tuples have none.
fn columns(types: &[Arc<Type>], components: &[&[Value]]) -> Vec<(String, Value)> {
    let mut all: Vec<Leaf> = Vec::new();
    types.iter().for_each(|ty| leaves(ty, "", 0, &mut all));
    let name = |leaf: &Leaf| {
        let name = leaf.names().next().unwrap_or_default();
        let is_numbered = name.split('.').any(|part| part.starts_with(|c: char| c.is_ascii_digit()));
        if is_numbered { String::new() } else { name.to_string() }
    };
    all.iter().map(name).zip(components.concat()).collect()
}

/// Writes a value as an image; the outer error is that it is none.
fn write_image(out: &mut dyn Write, format: Format, value: &Value) -> Result<io::Result<()>, String> {
    let picture = pixels::Picture::of(value)?;
    Ok(match format {
        Format::Png => png::write(out, picture.layout, |out| picture.write_samples(out)),
        Format::Netpbm => {
            let picture = picture.opaque();
            netpbm::write(out, picture.layout, |out| picture.write_samples(out))
        }
    })
}
