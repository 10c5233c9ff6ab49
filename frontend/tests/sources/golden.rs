//! Text in, text out for every stage of the front end: `tests/golden/{syntax,types,matching,consume,core,bytecode,..}/x.fut`
//! against `x.out` beside it. `GALOPVM_ACCEPT=1 cargo test -p galopvm-frontend` rewrites the expectations.

use galopvm_base::{Diagnostic, FileId, Sources};
use galopvm_frontend::{Options, check, compile, core, core_program, syntax_text};
use galopvm_testkit::golden::beside;
use galopvm_testkit::{Random, files, parts, read, stem};
use std::fmt::Write;

fn messages(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let mut text = String::new();
    for diagnostic in diagnostics {
        let incomplete = if diagnostic.incomplete { "(incomplete) " } else { "" };
        let _ = writeln!(text, "{incomplete}{}", diagnostic.render(sources, false));
    }
    text
}

/// Compares what a stage gives with what is expected, or accepts it.
fn run(stage: &str, show: impl Fn(&mut Sources, FileId) -> String) {
    beside(stage, ["fut", "out"], |name, text| {
        let mut sources = Sources::new();
        let file = sources.add(name, text);
        show(&mut sources, file)
    });
}

#[test]
fn syntax() {
    run("syntax", |sources, file| {
        let (text, diagnostics) = syntax_text(sources, file);
        if diagnostics.is_empty() {
            let again = sources.add("printed", text.as_str());
            let (second, found) = syntax_text(sources, again);
            assert!(
                found.is_empty(),
                "what was printed does not parse:\n{text}\n{}",
                messages(&found, sources)
            );
            assert_eq!(second, text, "printing is not stable");
            let arena = bumpalo::Bump::new();
            let tree = |file| galopvm_frontend::syntax::parse_prog(&arena, file, sources.text(file), 0).tree;
            assert!(tree(file) == tree(again), "what was printed parses to another tree:\n{text}");
        }
        text + &messages(&diagnostics, sources)
    });
}

/// Programs as newcomers write them, under a line `==== what` each, by the language they come from.
#[test]
fn mistakes() {
    beside("mistakes", ["fut", "out"], |_, text| {
        let mut shown = String::new();
        for (title, program) in parts(&format!("\n{text}")).1 {
            let mut sources = Sources::new();
            let file = sources.add("a.fut", program);
            let report = check(&mut sources, file);
            let said = messages(&[report.diagnostics, report.warnings].concat(), &sources);
            let _ = writeln!(shown, "==== {title}\n{}", if said.is_empty() { "accepted\n" } else { &said });
        }
        shown
    });
}

/// The types of the definitions, and the messages.
fn checked(sources: &mut Sources, file: FileId) -> String {
    let report = check(sources, file);
    let mut text = String::new();
    for (name, ty) in report.definitions {
        let _ = writeln!(text, "{name} : {ty}");
    }
    text + &messages(&report.diagnostics, sources)
}

#[test]
fn types() {
    run("types", checked);
}

#[test]
fn consume() {
    run("consume", checked);
}

#[test]
fn matching() {
    run("matching", |sources, file| {
        let report = check(sources, file);
        messages(&report.diagnostics, sources)
    });
}

#[test]
fn warnings() {
    run("warnings", |sources, file| {
        let report = check(sources, file);
        messages(&[report.diagnostics, report.warnings].concat(), sources)
    });
}

#[test]
fn core_text() {
    run("core", |sources, file| {
        let report = core_program(sources, file, &Options::default());
        let mut text = String::new();
        if let Some(program) = report.program {
            text = core::print(&program);
            assert_eq!(core::parse(&text).as_ref(), Ok(&program), "core text does not read back:\n{text}");
        }
        text + &messages(&report.diagnostics, sources)
    });
}

#[test]
fn bytecode() {
    run("bytecode", |sources, file| {
        let compilation = compile(sources, file);
        let mut text = String::new();
        if let Some(module) = compilation.module {
            text = galopvm_bytecode::text::print(&module);
            assert_eq!(
                galopvm_bytecode::text::parse(&text).as_ref(),
                Ok(&module),
                "assembly does not read back"
            );
            if let Err(error) = galopvm_bytecode::verify(module) {
                panic!("not verified: {error}\n{text}");
            }
        }
        text + &messages(&compilation.diagnostics, sources)
    });
}

fn all_sources() -> Vec<(String, String)> {
    let stages = ["syntax", "types", "consume", "core", "bytecode"];
    let paths = stages.iter().flat_map(|stage| files(&format!("tests/golden/{stage}"), "fut"));
    paths.map(|path| (stem(&path), read(&path))).collect()
}

/// Compiles a text; what comes out must pass the verifier.
fn must_survive(text: &str, what: &str) {
    let mut sources = Sources::new();
    let file = sources.add("fuzz.fut", text);
    let compilation = compile(&mut sources, file);
    // Rendering is the business of others, and slow on lines of a megabyte.
    if text.len() < 10_000 {
        messages(&compilation.diagnostics, &sources);
    }
    if let Some(module) = compilation.module
        && let Err(error) = galopvm_bytecode::verify(module)
    {
        panic!("{what}: not verified: {error}\n{text}");
    }
}

#[test]
fn truncated_sources_do_no_harm() {
    for (name, text) in all_sources() {
        let ends: Vec<usize> = (0..=text.len()).filter(|at| text.is_char_boundary(*at)).collect();
        for (count, end) in ends.into_iter().enumerate() {
            let part = &text[..end];
            let mut sources = Sources::new();
            let file = sources.add(name.as_str(), part);
            syntax_text(&sources, file);
            if count % 16 == 0 {
                must_survive(part, &name);
            }
        }
    }
}

#[test]
fn mutated_sources_do_no_harm() {
    const PIECES: [&str; 24] = [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "let",
        "in",
        "def",
        "=",
        "->",
        "\\",
        "+",
        "-",
        "0",
        "9999999999999999999i8",
        "..<",
        ":",
        "map",
        "loop",
        "#[",
        "\"",
        "if",
        ".0",
    ];
    let sources = all_sources();
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    for round in 0..600 {
        let (name, text) = &sources[random.below(sources.len())];
        let mut bytes = text.clone().into_bytes();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 if !bytes.is_empty() => {
                    bytes.remove(at);
                }
                1 => {
                    let piece = PIECES[random.below(PIECES.len())];
                    bytes.splice(at..at, piece.bytes());
                }
                2 => {
                    let end = (at + random.below(30)).min(bytes.len());
                    let copy = bytes[at..end].to_vec();
                    let to = random.below(bytes.len());
                    bytes.splice(to..to, copy);
                }
                _ => {
                    let end = (at + random.below(12)).min(bytes.len());
                    bytes.drain(at..end);
                }
            }
        }
        must_survive(&String::from_utf8_lossy(&bytes), &format!("{name}, round {round}"));
    }
}

#[test]
fn deep_nesting_is_refused_not_fatal() {
    let depth = 100_000;
    let texts = [
        format!("def x = {}1{}", "(".repeat(depth), ")".repeat(depth)),
        format!("def x = {}1", "-".to_string() + &" -".repeat(depth)),
        format!("def x = 1{}", " + 1".repeat(depth)),
        format!("def x = a{}", "[0]".repeat(depth)),
        format!("def x : {}i32 = 1", "[]".repeat(depth)),
        format!("def x = {}", "if true then 1 else ".repeat(depth)),
        format!("def f {} = 1", "(".repeat(depth)),
        format!("def x = {} 1", "let a = 1 ".repeat(depth)),
        format!("module m = {}", "{ module m = ".repeat(depth)),
        format!("def main (a: i32) = {}a", "let a = a + 1 in ".repeat(2000)),
        format!("def main (a: i32) = {}a{}", "if a > 0 then (".repeat(600), ") else 0".repeat(600)),
    ];
    for text in &texts {
        must_survive(text, &text[..30.min(text.len())]);
    }
}
