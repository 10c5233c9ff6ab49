//! Stages that depend on the program alone.

use super::{Dumped, heading, refused, sites};
use crate::failure::{Failure, colours};
use crate::input::Input;
use galopvm::{Compiling, Diagnostic, Messages, Program};
use galopvm_base::Sources;
use galopvm_bytecode::text;
use galopvm_frontend::{Options, core, core_program, syntax_text};
use galopvm_kir::text::{parse_region, print_exp, print_region};
use galopvm_lift::{Binding, Lifted, lift};
use std::sync::Arc;

/// The tree as canonical source text.
pub fn ast(source: &Input) -> Result<Dumped, Failure> {
    let mut sources = Sources::new();
    let file = sources.add(&source.name, source.text()?);
    let (text, diagnostics) = syntax_text(&sources, file);
    refuse_errors(sources, diagnostics)?;
    let mut again = Sources::new();
    let file = again.add("the printed text", &text);
    let (back, diagnostics) = syntax_text(&again, file);
    let back = match diagnostics.iter().find(|d| d.is_error()) {
        Some(error) => Err(error.render(&again, colours())),
        None => same(&text, &back),
    };
    Ok(Dumped { text, back: Some(back) })
}

/// Core.
pub fn core(source: &Input, compiling: Compiling) -> Result<Dumped, Failure> {
    let mut sources = Sources::new();
    let file = sources.add(&source.name, source.text()?);
    let Compiling { switches, imports } = compiling;
    let options = Options { fusion: switches.fusion, imports, ..Options::default() };
    let report = core_program(&mut sources, file, &options);
    refuse_errors(sources, report.diagnostics)?;
    let program = report.program.unwrap_or_default();
    let text = core::print(&program);
    let back = match core::parse(&text) {
        Ok(back) if back == program => Ok(text.lines().count()),
        Ok(back) => same(&text, &core::print(&back)).and(Err("it is another program".into())),
        Err(error) => Err(format!("line {}: {}", error.line, error.message)),
    };
    Ok(Dumped { text, back: Some(back) })
}

/// Bytecode.
pub fn bytecode(program: &Program) -> Result<Dumped, Failure> {
    let module = program.module().module();
    let text = text::print(module);
    let back = match text::parse(&text) {
        Ok(back) if back == *module => Ok(text.lines().count()),
        Ok(back) => same(&text, &text::print(&back)).and(Err("it is another module".into())),
        Err(error) => Err(error.to_string()),
    };
    Ok(Dumped { text, back: Some(back) })
}

/// Every parallel operator as a region, whatever its sizes.
pub fn kir(program: &Program) -> Result<Dumped, Failure> {
    let mut out = String::new();
    let mut back = Ok(0);
    for site in sites(program) {
        out.push_str(&heading(&site.name));
        let place = site.name.site;
        match lift(program.module(), place.function, place.block, place.index) {
            Ok(lifted) => {
                let text = print_region(lifted.region.region());
                back = back.and_then(|count| {
                    let parsed = parse_region(&text).map_err(|error| error.to_string())?;
                    same(&text, &print_region(&parsed))?;
                    if parsed.renumbered() == lifted.region.region().renumbered() {
                        Ok(count + text.lines().count())
                    } else {
                        Err(format!("{} is another region", site.name))
                    }
                });
                out.push_str(&text);
                out.push_str(&launched_with(&lifted));
            }
            Err(refusal) => out.push_str(&refused(&refusal.reason)),
        }
    }
    Ok(Dumped { text: out, back: Some(back) })
}

/// What the parameters are given, and on which condition.
fn launched_with(lifted: &Lifted) -> String {
    let region = lifted.region.region();
    let show = |(param, binding): (&galopvm_kir::VarId, &Binding)| {
        let value = match binding {
            Binding::Scalar(reg) | Binding::Array(reg) => reg.to_string(),
            Binding::Extent { array, dim } => format!("dim {array} {dim}"),
        };
        format!("{} = {value}", region.name_of(*param))
    };
    let bindings: Vec<String> = region.params.iter().zip(&lifted.bindings).map(show).collect();
    let mut text = format!("where {}\n", bindings.join(", "));
    for guard in &lifted.guards {
        text.push_str(&format!("guard {}\n", print_exp(region, guard)));
    }
    text
}

/// The number of lines of equal texts, or the first difference.
pub fn same(text: &str, back: &str) -> Result<usize, String> {
    let (mut a, mut b) = (text.lines(), back.lines());
    let mut count = 0;
    loop {
        match (a.next(), b.next()) {
            (None, None) => return Ok(count),
            (x, y) if x == y => count += 1,
            (x, y) => {
                let show = |line: Option<&str>| line.unwrap_or("the end").to_string();
                return Err(format!("line {}: `{}` became `{}`", count + 1, show(x), show(y)));
            }
        }
    }
}

fn refuse_errors(sources: Sources, diagnostics: Vec<Diagnostic>) -> Result<(), Failure> {
    let messages = Messages::new(Arc::new(sources), diagnostics);
    if messages.errors() > 0 { Err(Failure::User(crate::failure::rendered(&messages))) } else { Ok(()) }
}
