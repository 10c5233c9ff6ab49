//! Places of the code as places of the source, with the word that people have for what stands there.

use galopvm::Site;
use galopvm_bytecode::{Instr, Module};
use std::fmt;

/// What the files of the prelude begin with: nobody can change them, and nobody asks for them.
const PRELUDE: &str = "prelude/";

/// A place of the source.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Place {
    /// The file, as messages name it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The instruction at a site.
pub fn instruction(module: &Module, site: Site) -> Option<&Instr> {
    module.functions.get(site.function)?.blocks.get(site.block)?.code.get(site.index)
}

/// Where a site is in the source: of what the prelude does, where it was called.
pub fn place(module: &Module, site: Site) -> Option<Place> {
    let place = module.functions.get(site.function)?.blocks.get(site.block)?.place(site.index)?;
    let named = module.call_chain(place).filter_map(|place| {
        let file = module.files.get(place.file as usize)?.clone();
        Some(Place { file, line: place.start.line, column: place.start.column })
    });
    let chain: Vec<Place> = named.collect();
    let own = chain.iter().find(|place| !place.file.starts_with(PRELUDE));
    own.or(chain.last()).cloned()
}

/// Something that stands in the program.
#[derive(Clone)]
pub struct Spot {
    /// Where; nothing if the program does not say.
    pub place: Option<Place>,
    /// The function whose code it is.
    function: String,
    /// What it is, in a word or two.
    pub word: String,
}

impl Spot {
    /// What stands at a site.
    pub fn of(module: &Module, site: Site) -> Spot {
        let function = module.functions.get(site.function).map(|function| function.name.clone());
        Spot { place: place(module, site), function: function.unwrap_or_default(), word: word(module, site) }
    }

    /// Where it is to people who look at a program of this name.
    pub fn label(&self, program: &str) -> String {
        match &self.place {
            Some(place) if place.file == program => format!("line {}", place.line),
            Some(place) => format!("{} line {}", place.file, place.line),
            None => format!("in {}", self.function),
        }
    }
}

/// What stands at a site, in a word or two.
pub fn word(module: &Module, site: Site) -> String {
    let Some(instr) = instruction(module, site) else { return "an instruction".into() };
    match instr {
        Instr::For { .. } => "loop".into(),
        Instr::While { .. } => "while loop".into(),
        Instr::Redomap { .. } => "map and reduce".into(),
        Instr::Hist { .. } => "histogram".into(),
        Instr::Stream { .. } | Instr::AccWrite { .. } => "sums of a derivative".into(),
        Instr::Call { function, .. } => {
            let name = module.functions.get(*function).map_or("", |function| &function.name);
            format!("call of {name}")
        }
        Instr::Concat { .. } => "concatenation".into(),
        Instr::Manifest { .. } => "copy".into(),
        Instr::Rotate { .. } => "rotation".into(),
        Instr::Equal { .. } => "comparison of arrays".into(),
        Instr::FlatUpdate { .. } => "update".into(),
        other => other.row().mnemonic.into(),
    }
}
