//! No input makes the front end panic or hang: our own programs cut off at every line, and with tokens and bytes
//! changed by a seeded generator.

use galopvm_base::Sources;
use galopvm_frontend::{check, syntax};
use galopvm_testkit::{Random, read, root};
use std::path::{Path, PathBuf};

/// Changed texts per program.
const MUTATIONS: usize = 12;

/// Every Futhark file of the repository's own.
fn corpus() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in ["tests/golden", "examples", "stdlib/prelude"] {
        collect(&root().join(folder), &mut files);
    }
    files.sort();
    files.into_iter().map(|path| (path.display().to_string(), read(&path))).collect()
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
        let mut random = Random::new(0x9e37_79b9_7f4a_7c15 ^ text.len() as u64);
        for _ in 0..MUTATIONS {
            survives(&name, &mutate(&text, &mut random));
        }
    }
}

/// Every prefix of a text with every kind of token, so that each construct ends early once.
#[test]
fn every_prefix_of_a_program() {
    for name in ["forms.fut", "modules.fut"] {
        let text = read(&root().join("tests/golden/syntax").join(name));
        for (end, _) in text.char_indices() {
            let mut sources = Sources::new();
            let file = sources.add(name, &text[..end]);
            let (_, diagnostics) = galopvm_frontend::syntax_text(&sources, file);
            diagnostics.iter().for_each(|d| drop(d.render(&sources, false)));
        }
    }
}

/// Compiles a program, and prints its tree; gives the instructions of all functions.
fn compiled(name: &str, text: &str) -> usize {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let (printed, _) = galopvm_frontend::syntax_text(&sources, file);
    assert!(printed.len() > text.len() / 4, "{name}");
    let compiled = galopvm_frontend::compile(&mut sources, file);
    let messages: Vec<String> = compiled.diagnostics.iter().map(|d| d.render(&sources, false)).collect();
    let module = compiled.module.unwrap_or_else(|| panic!("{name}: {}", messages.join("\n")));
    let module = galopvm_bytecode::verify(module).unwrap_or_else(|e| panic!("{name}: {e}"));
    module.module().functions.iter().flat_map(|f| f.blocks.iter()).map(|b| b.code.len()).sum()
}

const LONG: usize = 100_000;

#[test]
fn chains_are_no_nesting() {
    let lets = |line: &dyn Fn(usize) -> String| (0..LONG).map(line).collect::<String>();
    let all = |head: &str, lines: String, end: &str| format!("{head} =\n{lines}{end}\n");
    let one = "def main (x0: i64): i64";
    for (name, text, least) in [
        ("lets", all(one, lets(&|i| format!("let x{} = x{i} ^ {i}\n", i + 1)), "in x100000"), LONG / 2),
        ("same", all(one, lets(&|i| format!("let x0 = x0 ^ {i} in\n")), "x0"), LONG / 2),
        (
            "sizes",
            all(
                "def main (x0: i64): []i64",
                lets(&|i| format!("let x{} = x{i} + 1\n", i + 1)),
                "in iota x100000",
            ),
            LONG,
        ),
        (
            "updates",
            all("def main (xs: *[9]i64): [9]i64", lets(&|i| format!("let xs[{}] = {i}\n", i % 9)), "in xs"),
            LONG,
        ),
        ("functions", all(one, lets(&|i| format!("let f{i} (y: i64) = y + {i}\n")), "in f7 (f99999 x0)"), 1),
        ("sums", format!("{one} = x0{}\n", " + 1".repeat(LONG)), LONG),
        ("mixed", format!("{one} = x0{}\n", " * 3 + x0 - 1".repeat(LONG / 3)), LONG / 3),
        ("conditions", format!("def main (x0: i64): bool = x0 > 0{}\n", " || x0 == 3".repeat(LONG)), 1),
        ("pipes", format!("{one} = x0{}\n", " |> (+ 1)".repeat(LONG)), LONG),
        (
            "size of an argument",
            format!("def main (x0: i64): []i64 = iota (x0{})\n", " + 1".repeat(LONG)),
            LONG,
        ),
        ("arrays", format!("def main (x0: i64): []i64 = [x0]{}\n", " ++ [x0]".repeat(5000)), 5000),
    ] {
        let count = compiled(name, &text);
        assert!(count >= least, "{name}: {count} instructions");
    }
    let mut sources = Sources::new();
    let file = sources.add("brackets", format!("def main = {}1{}\n", "(".repeat(LONG), ")".repeat(LONG)));
    let found = check(&mut sources, file).diagnostics;
    assert!(found[0].message.contains("nested more than 2500 levels deep"), "{found:?}");
}

/// One line with many rows: what is quadratic in the length of a line, or in the number of elements, takes minutes.
#[test]
fn long_literals_compile() {
    let start = std::time::Instant::now();
    let rows = (0..LONG).map(|i| format!("[{i}, {}.5f64, -{i}]", i + 1)).collect::<Vec<_>>().join(", ");
    compiled("rows", &format!("def main: [][]f64 = [{rows}]\n"));
    let pairs = (0..LONG).map(|i| format!("(\"é\", {})", i % 3 == 0)).collect::<Vec<_>>().join(", ");
    compiled("pairs", &format!("def main: []bool = map (.1) [{pairs}]\n"));
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
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
            3 => changed.insert(start, char::from(b' ' + random.below(95u8))),
            _ => changed.truncate(end),
        }
    }
    changed
}
