//! The programs that cases start from: bytes of `.gbc` files and assembly text of the same module.

use crate::generate;
use galopvm_base::Sources;
use galopvm_bytecode::{Module, encode, text};
use std::fs;
use std::path::{Path, PathBuf};

/// How many generated programs are in the corpus.
const GENERATED: u64 = 60;

/// A program in both forms.
pub struct Original {
    /// Where it comes from.
    pub name: String,
    /// The `.gbc` file.
    pub bytes: Vec<u8>,
    /// The assembly text.
    pub text: String,
}

/// The programs, always in the same order.
pub struct Corpus {
    /// At least one.
    pub originals: Vec<Original>,
}

impl Corpus {
    /// Reads and compiles all of them.
    pub fn load() -> Corpus {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut originals = Vec::new();
        let folders = [root.join("tests/golden/run"), root.join("fuzz/seeds")];
        for path in folders.iter().flat_map(|folder| files(folder, "run")) {
            let contents = read(&path);
            // The calls that follow the program are not needed.
            let program = contents.split("\n==== ").next().unwrap_or_default();
            let module = text::parse(program).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            originals.push(original(&path.display().to_string(), module));
        }
        for path in files(&root.join("examples"), "fut") {
            originals.push(compiled(&path.display().to_string(), &read(&path)));
        }
        for seed in 0..GENERATED {
            originals.push(compiled(&format!("generated {seed}"), &generate::program(seed).source));
        }
        Corpus { originals }
    }
}

fn original(name: &str, mut module: Module) -> Original {
    // Places are of no interest here, and would take most of the damage.
    module.strip();
    Original { name: name.into(), bytes: encode(&module), text: text::print(&module) }
}

fn compiled(name: &str, source: &str) -> Original {
    let mut sources = Sources::new();
    let file = sources.add(name, source);
    let module = galopvm_frontend::compile(&mut sources, file).module;
    original(name, module.unwrap_or_else(|| panic!("{name} does not compile")))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
    let mut found: Vec<PathBuf> = paths.filter(|p| p.extension().is_some_and(|e| e == extension)).collect();
    found.sort();
    found
}
