//! No input makes the front end panic or hang: our own programs cut off at every line, and with tokens and bytes
//! changed by a seeded generator.

use galopvm_base::Sources;
use galopvm_frontend::{check, syntax};
use std::path::{Path, PathBuf};

/// Changed texts per program.
const MUTATIONS: usize = 12;

/// Every Futhark file of the repository's own.
fn corpus() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for folder in ["tests/golden", "examples", "stdlib/prelude"] {
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    let read = |path: PathBuf| std::fs::read_to_string(&path).map(|text| (path.display().to_string(), text));
    let texts: Result<Vec<_>, _> = files.into_iter().map(read).collect();
    texts.expect("our own programs can be read")
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "fut") {
            files.push(path);
        }
    }
}

/// Checks a text and renders what is said about it. A panic fails the test with the text.
fn survives(name: &str, text: &str) {
    let outcome = std::panic::catch_unwind(|| {
        let mut sources = Sources::new();
        let file = sources.add(name, text);
        for diagnostic in check(&mut sources, file).diagnostics {
            let span = diagnostic.span;
            assert!(span.start <= span.end, "a span ends before it begins: {diagnostic:?}");
            assert!(!diagnostic.render(&sources, false).is_empty());
        }
    });
    assert!(outcome.is_ok(), "{name} makes the front end panic:\n{text}");
}

#[test]
fn programs_cut_off_at_every_line() {
    for (name, text) in corpus() {
        for (end, _) in text.match_indices('\n') {
            survives(&name, &text[..=end]);
        }
    }
}

#[test]
fn programs_with_changed_tokens_and_bytes() {
    for (name, text) in corpus() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ text.len() as u64);
        for _ in 0..MUTATIONS {
            survives(&name, &mutate(&text, &mut random));
        }
    }
}

/// Every prefix of a text with every kind of token, so that each construct ends early once.
#[test]
fn every_prefix_of_a_program() {
    for name in ["forms.fut", "modules.fut"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/syntax").join(name);
        let text = std::fs::read_to_string(path).expect("the program can be read");
        for (end, _) in text.char_indices() {
            let mut sources = Sources::new();
            let file = sources.add(name, &text[..end]);
            let (_, diagnostics) = galopvm_frontend::syntax_text(&sources, file);
            diagnostics.iter().for_each(|d| drop(d.render(&sources, false)));
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }
}

/// One to three changes: a token removed, replaced or repeated; a byte put in; the text cut off.
fn mutate(text: &str, random: &mut Random) -> String {
    let (tokens, _) = syntax::lex(text);
    let mut changed = text.to_string();
    for _ in 0..1 + random.below(3) {
        let (at, other) = (tokens[random.below(tokens.len())], tokens[random.below(tokens.len())]);
        let (start, end) = (at.start as usize, at.end as usize);
        let spelling = &text[other.start as usize..other.end as usize];
        if changed.get(start..end).is_none() {
            continue;
        }
        match random.below(5) {
            0 => changed.replace_range(start..end, ""),
            1 => changed.replace_range(start..end, spelling),
            2 => changed.insert_str(start, &format!("{spelling} ")),
            3 => changed.insert(start, char::from(b' ' + random.below(95) as u8)),
            _ => changed.truncate(end),
        }
    }
    changed
}
