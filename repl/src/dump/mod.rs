//! `galopvm dump`: the program at each stage, as text.
//!
//! - `program.rs`: the stages that depend on the program alone. `kernels.rs`: the stages of kernels that were launched.

mod kernels;
mod program;

use crate::failure::{Failure, Outcome};
use crate::input::{self, COMPILING, Input, Values};
use crate::settings::{self, Bounded, Off};
use clap::ValueEnum;
use galopvm::{CpuMode, Memory, Program, Route, Session};
use std::io::Write;
use std::path::PathBuf;

/// Show a program at any stage between source and machine code
///
/// The stages ast, core, bytecode and kir depend on the program alone. The stages plan, lir, asm, spirv and glsl show
/// what is made for observed sizes: the entry point is run on values from standard input, and each kernel that was
/// launched is shown, with what back ends refused and why.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The program: Futhark source, a .gbc file (from the stage bytecode on), or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The stages to show, separated by commas
    #[arg(
        short,
        long,
        value_name = "STAGE",
        value_enum,
        value_delimiter = ',',
        required_unless_present = "check"
    )]
    stage: Vec<Stage>,
    /// Show nothing, but prove that the text of each stage parses back to the same thing [default: all stages]
    #[arg(long)]
    check: bool,
    /// The entry point to run for plan, lir, asm, spirv and glsl
    #[arg(short, long, visible_alias = "entry-point", value_name = "NAME", default_value = "main")]
    entry: String,
    /// Read the entry point's arguments from this file instead of standard input
    #[arg(short, long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Greatest instruction set for plan, lir and asm [default: all the processor has]
    #[arg(long, value_name = "MODE", value_parser = settings::cpu())]
    cpu: Option<CpuMode>,
    /// Worker threads that plans count on [default: one for each hardware thread]
    #[arg(long, value_name = "N", value_parser = settings::threads)]
    threads: Option<usize>,
    #[command(flatten)]
    bounded: Bounded,
    #[command(flatten)]
    off: Off,
    /// How kernels become SPIR-V
    #[arg(long, value_name = "NAME", default_value = "direct", value_parser = settings::route())]
    route: Route,
}

const EXAMPLES: &str = "\
Examples:
  galopvm dump sum.fut --stage core
  galopvm dump sum.gbc --stage kir
  echo '[1, 2, 3]' | galopvm dump sum.fut --stage plan,asm --cpu avx2
  echo '[1, 2, 3]' | galopvm dump sum.fut --stage spirv --route glsl
  echo '[1, 2, 3]' | galopvm dump sum.fut --check

No GPU is needed to see SPIR-V and GLSL.";

/// A stage that can be shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Stage {
    /// Source as the parser understood it
    Ast,
    /// First-order, monomorphic code
    Core,
    /// What the machine runs
    Bytecode,
    /// Each parallel operator as kernel IR, or why it has none
    Kir,
    /// The decisions for each launched kernel, with their reasons
    Plan,
    /// The code generator's own code, before registers are allocated
    Lir,
    /// x86-64 machine code, disassembled
    Asm,
    /// SPIR-V, disassembled
    Spirv,
    /// GLSL compute shaders
    Glsl,
}

impl Stage {
    fn name(self) -> &'static str {
        match self {
            Stage::Ast => "ast",
            Stage::Core => "core",
            Stage::Bytecode => "bytecode",
            Stage::Kir => "kir",
            Stage::Plan => "plan",
            Stage::Lir => "lir",
            Stage::Asm => "asm",
            Stage::Spirv => "spirv",
            Stage::Glsl => "glsl",
        }
    }

    /// True if the stage exists only for observed sizes.
    fn is_observed(self) -> bool {
        matches!(self, Stage::Plan | Stage::Lir | Stage::Asm | Stage::Spirv | Stage::Glsl)
    }
}

/// A stage's text, and whether it parses back: the number of things compared, or what differs. Nothing if this build
/// cannot tell.
struct Dumped {
    text: String,
    back: Option<Result<usize, String>>,
}

/// Carries out the command.
pub fn run(args: Args) -> Outcome {
    let source = input::bytes_of(&args.file)?;
    let is_bytecode = galopvm_bytecode::file::is_bytecode(&source.bytes);
    let stages = match args.stage.as_slice() {
        [] if is_bytecode => Stage::value_variants()[2..].to_vec(),
        [] => Stage::value_variants().to_vec(),
        stages => stages.to_vec(),
    };
    let mut compiled = None;
    let mut values = None;
    let mut out = std::io::stdout().lock();
    for stage in &stages {
        let dumped = match stage {
            Stage::Ast | Stage::Core if is_bytecode => {
                return Err(Failure::user(
                    format!("{}: a .gbc file has no stage {}", source.name, stage.name()),
                    "name the source file",
                ));
            }
            Stage::Ast | Stage::Core => {
                let _compiling = args.bounded.bounds().watch(COMPILING);
                match stage {
                    Stage::Ast => program::ast(&source)?,
                    _ => program::core(&source, args.off.compiling())?,
                }
            }
            _ => {
                let program =
                    known(&mut compiled, || source.program(args.off.compiling(), args.bounded.bounds()))?;
                match stage {
                    Stage::Bytecode => program::bytecode(program)?,
                    Stage::Kir => program::kir(program)?,
                    _ => kernels::dump(
                        &args,
                        *stage,
                        program,
                        known(&mut values, || read(&args, &source))?.as_ref(),
                    )?,
                }
            }
        };
        match (args.check, dumped.back) {
            (true, Some(Ok(count))) => writeln!(out, "{}: {count} parsed back to the same", stage.name())?,
            (true, None) => writeln!(out, "{}: not checked (build with `--features shaderc`)", stage.name())?,
            (true, Some(Err(what))) => {
                return Err(Failure::Run(format!("{}: does not parse back: {what}", stage.name())));
            }
            (false, _) => {
                if stages.len() > 1 {
                    writeln!(out, "#### {}", stage.name())?;
                }
                out.write_all(dumped.text.as_bytes())?;
            }
        }
    }
    out.flush()?;
    Ok(())
}

/// The machine code of the kernels that a session has launched, or why there is none.
pub fn machine_code(session: &Session) -> String {
    kernels::of_session(Stage::Asm, session).text
}

/// Standard input, or the file of values; nothing if the program came from standard input.
fn read(args: &Args, source: &Input) -> Result<Option<Values>, Failure> {
    Values::beside(&Memory::default(), source, args.input.as_deref())
}

/// What is in the place, made first if need be.
fn known<T>(place: &mut Option<T>, make: impl FnOnce() -> Result<T, Failure>) -> Result<&T, Failure> {
    Ok(match place {
        Some(value) => value,
        None => place.insert(make()?),
    })
}

/// The heading of one parallel operator.
fn heading(name: &impl std::fmt::Display) -> String {
    format!("==== {name}\n")
}

/// How the line begins that stands in the place of a text that there is none of.
const REFUSED: &str = "refused: ";

fn refused(reason: &str) -> String {
    format!("{REFUSED}{reason}\n")
}

/// A program's sites in a session that has run nothing.
fn sites(program: &Program) -> Vec<galopvm::SiteReport> {
    galopvm::Engine::builder().backend(galopvm::BackendChoice::Interp).build().session(program).sites()
}
