//! `galopvm explain`: runs an entry point and tells what was decided, and why.

use crate::failure::{Failure, Outcome, say};
use crate::input::{self, Input, Values};
use crate::settings::{self, Called, Settings};
use galopvm::{Entry, Program, Session, Value};
use galopvm_explain::{Collector, Document, Heading, Target, first_input};
use galopvm_runtime::data::Reader;
use std::io::{IsTerminal, Write};

/// Run a program and tell, per function, loop and parallel operator, what was decided and why
///
/// For each function and loop: which arrays are built where they would be copied to, and what that saves. For each
/// parallel operator: its accesses, the layouts and lanes that they ask for, whether its result may be written over an
/// array, and what back ends are told. Numbers are those of this run. Without values on standard input, the first
/// input that the program's test block has for the entry point is taken.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    called: Called,
    /// The same facts as one JSON document
    #[arg(long)]
    json: bool,
    /// Show the kernel IR of every region and kernel as well
    #[arg(long)]
    regions: bool,
    /// What prices are for
    #[arg(long, value_name = "NAME", default_value = "cpu", value_parser = settings::target())]
    target: Target,
    #[command(flatten)]
    settings: Settings,
}

const EXAMPLES: &str = "\
Examples:
  galopvm explain lu.fut                                  with the first input of its test block
  echo '[[2.0, 1.0], [4.0, 3.0]]' | galopvm explain lu.fut
  galopvm explain lu.fut -e large -i large.in --regions
  galopvm explain lu.fut --json --no reuse > facts.json

Inputs should be as large as those that matter: decisions depend on sizes. `galopvm words` explains the words of the
analyses; docs/explain.md how to read it, and the JSON document.";

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let source = input::bytes_of(&args.called.file)?;
    let program = source.program(args.settings.compiling(), args.settings.bounds())?;
    let collector = Collector::default();
    let engine = args.settings.builder().explain(collector.sink()).build();
    for note in engine.notes() {
        say(&format!("note: {note}; the interpreter does the work"));
    }
    let mut session = engine.session(&program);
    let entry = session.entry(args.called.entry(&program)?)?.clone();
    let (values, from) = arguments("explain", &args.called, &session, &entry, &source)?;
    let outcome = session.call_values(&entry.name, values);
    let heading = Heading {
        program: &source.name,
        entry: &entry.name,
        input: &from,
        off: args.settings.switches().off().map(galopvm::Switch::name).collect(),
    };
    let read = |name: &str| source.text_of(name);
    let document = document(&collector, heading, &program, &session, args.target, &read);
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", document.json(args.regions))?;
    } else {
        out.write_all(document.text(args.regions).as_bytes())?;
    }
    out.flush()?;
    // What was found before a failure is worth knowing, too.
    outcome?;
    Ok(())
}

/// What was told of a session's calls, with the prices of its engine; `read` gives the text of a source file.
pub fn document(
    collector: &Collector,
    heading: Heading<'_>,
    program: &Program,
    session: &Session,
    target: Target,
    read: &dyn Fn(&str) -> Option<String>,
) -> Document {
    let engine = session.engine();
    let prices = (engine.machine(), engine.costs(), target);
    collector.document(heading, program.module().module(), &session.sites(), prices, read)
}

/// The arguments, and where they came from: files, standard input, or a test block; `command` is for the hint where there are none.
pub fn arguments(
    command: &str,
    called: &Called,
    session: &Session,
    entry: &Entry,
    source: &Input,
) -> Result<(Vec<Value>, String), Failure> {
    if session.argument_types(entry).is_empty() {
        return Ok((Vec::new(), "which takes no arguments".into()));
    }
    let inputs = &called.inputs;
    if !inputs.files.is_empty() {
        let values = input::arguments(session, entry, source, inputs)?;
        let names: Vec<String> = inputs.files.iter().map(|(path, _)| path.display().to_string()).collect();
        return Ok((values, format!("with the values of {}", names.join(", "))));
    }
    if !source.is_standard_input() && !std::io::stdin().is_terminal() {
        let values = Values::open_as(session.memory(), "-".as_ref(), inputs.standard)?;
        if !values.input.bytes().iter().all(u8::is_ascii_whitespace) {
            let values = input::arguments_of(session, entry, Some(&values))?;
            return Ok((values, "with the values of standard input".into()));
        }
    }
    let is_bytecode = galopvm_bytecode::file::is_bytecode(&source.bytes);
    let text = if is_bytecode { "" } else { source.text()? };
    let Some(test) = first_input(text, &entry.name) else {
        return Err(Failure::user(
            format!("there are no values for `{}`, and no test block with an input for it", entry.name),
            &format!(
                "{}; for example: echo '{}' | galopvm {command} {} -e {}",
                input::signature(entry),
                example(session, entry),
                source.name,
                entry.name
            ),
        ));
    };
    let name = format!("{}:{}", source.name, test.line);
    let reader = Reader::new(session.memory(), test.values.as_bytes());
    let values = input::read(session, entry, reader, test.values.as_bytes(), &name)?;
    Ok((values, format!("with the input of its test in line {}", test.line)))
}

/// Values of the types that an entry point takes.
fn example(session: &Session, entry: &Entry) -> String {
    let types = session.argument_types(entry);
    let value = |ty: &galopvm::ValueType| {
        let scalar = if ty.elem == galopvm::ElemType::Bool { "true".into() } else { format!("1{}", ty.elem) };
        (0..ty.rank).fold(scalar, |inner, _| format!("[{inner}, {inner}]"))
    };
    types.iter().map(value).collect::<Vec<_>>().join(" ")
}
