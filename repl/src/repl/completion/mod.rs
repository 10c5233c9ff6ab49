//! What the Tab key completes at the prompt: names by what may stand there, members, fields, constructors, commands, files.
//!
//! - `outline.rs`: what definitions contain. `fields.rs`: what their records consist of. `place.rs`: what a line says before the
//!   word.
//!
//! The tables change with the definitions, so that the key itself only looks things up.

mod fields;
mod outline;
mod place;

use super::commands::{self, Argument, Command, TABLE};
use super::evaluation::DEFINITIONS;
use super::filename;
use fields::Fields;
use galopvm_base::{ElemType, Sources};
use galopvm_frontend::syntax::{TokenKind, lex};
use outline::Outline;
use rustyline::completion::{FilenameCompleter, Pair};
use std::collections::{BTreeMap, BTreeSet};

/// Words of the language that begin or join expressions and definitions.
const WORDS: [&str; 21] = [
    "assert", "case", "def", "do", "else", "entry", "false", "for", "if", "import", "in", "let", "local",
    "loop", "match", "module", "open", "then", "true", "type", "while",
];

/// What is known to complete from.
pub struct Completion {
    /// Words, the values of the prelude, and scalar types, which are modules as well.
    words: BTreeSet<String>,
    /// What the prelude has.
    prelude: Outline,
    /// What has been defined at the prompt.
    defined: Outline,
    /// The constants that are records.
    records: BTreeMap<String, Fields>,
    /// Those that definitions mention.
    constructors: BTreeSet<String>,
    files: FilenameCompleter,
}

impl Completion {
    /// With nothing defined but the prelude.
    pub fn new() -> Completion {
        let prelude = Outline::of(galopvm_stdlib::PRELUDE);
        let mut words: BTreeSet<String> = WORDS.map(String::from).into();
        let intrinsics = galopvm_stdlib::INTRINSICS.iter().map(|row| row.name.to_string());
        words.extend(intrinsics.filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic())));
        words.extend(ElemType::ALL.iter().map(|ty| ty.name().to_string()));
        words.extend(prelude.values.iter().cloned());
        Completion {
            words,
            prelude,
            defined: Outline::default(),
            records: BTreeMap::new(),
            constructors: BTreeSet::new(),
            files: FilenameCompleter::new(),
        }
    }

    /// What these pieces of source define is defined now, and nothing else. They are one program in the text.
    pub fn define(&mut self, pieces: &str, text: &str) {
        self.defined = Outline::of(pieces);
        self.constructors = constructors(pieces).map(String::from).collect();
        let mut sources = Sources::new();
        let file = sources.add(DEFINITIONS, text);
        self.records = fields::of_records(&galopvm_frontend::check(&mut sources, file).definitions);
    }

    /// Whether a word is a type.
    pub fn is_type(&self, word: &str) -> bool {
        word.parse::<ElemType>().is_ok()
            || self.defined.types.contains(word)
            || self.prelude.types.contains(word)
    }

    /// Where what stands before the cursor begins, and what it may become.
    pub fn candidates(&self, line: &str, at: usize) -> (usize, Vec<Pair>) {
        let before = &line[..at];
        if let Some(command) = before.strip_prefix(':') {
            let Some((word, rest)) = command.split_once(char::is_whitespace) else {
                return (1, pairs(commands_like(command)));
            };
            let row = commands::find(word);
            if row.is_some_and(|row| row.command == Command::Help) {
                let name = rest.trim_start();
                let name = name.strip_prefix(':').unwrap_or(name);
                return (at - name.len(), pairs(commands_like(name)));
            }
            let argument = row.map(|row| row.argument);
            // Behind an expression a file may follow. A word with a slash is no expression.
            let last = &rest[filename::start_of_last(rest)..];
            let is_file = matches!(argument, Some(Argument::Picture(_))) && last.contains('/');
            let is_first =
                matches!(argument, Some(Argument::Watched | Argument::Named)) && last == rest.trim_start();
            if argument == Some(Argument::File) || is_file || is_first {
                return self.files.complete_path(line, at).unwrap_or((at, Vec::new()));
            }
        }
        if place::is_import(before) {
            return self.imports(line, at);
        }
        let (start, found) = self.names(before);
        (start, pairs(found))
    }

    /// Files that can be imported, and folders.
    fn imports(&self, line: &str, at: usize) -> (usize, Vec<Pair>) {
        let (start, found) = self.files.complete_path(line, at).unwrap_or((at, Vec::new()));
        let names = found.into_iter().filter_map(|file| match file.replacement.strip_suffix(".fut") {
            Some(name) => Some(name.to_string()),
            None => file.replacement.ends_with(std::path::MAIN_SEPARATOR).then_some(file.replacement),
        });
        (start, pairs(names.collect()))
    }

    /// Where the word at the end of a text begins, and what it may become.
    fn names(&self, before: &str) -> (usize, Vec<String>) {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'' || c == '.';
        let start = before.trim_end_matches(is_part).len();
        let (text, word) = before.split_at(start);
        if text.ends_with('#') {
            let known = self.constructors.iter().map(String::as_str).chain(constructors(text));
            return (start, those_like(word, known));
        }
        if word.is_empty() {
            return (start, Vec::new());
        }
        if let Some((path, member)) = word.rsplit_once('.') {
            let members = self.members(path);
            let found = those_like(member, members.iter().map(String::as_str));
            return (start, found.iter().map(|name| format!("{path}.{name}")).collect());
        }
        let place = place::after(text.strip_prefix([':', '?']).unwrap_or(text));
        let modules = || self.defined.modules.keys().chain(self.prelude.modules.keys()).map(String::as_str);
        let found = if place.wants_type {
            let types = self.defined.types.iter().chain(&self.prelude.types).map(String::as_str);
            those_like(word, types.chain(ElemType::ALL.iter().map(|ty| ty.name())).chain(modules()))
        } else {
            let values = self.words.iter().chain(&self.defined.values).map(String::as_str);
            those_like(word, values.chain(place.bound).chain(modules()))
        };
        (start, found)
    }

    /// What is in the module or the record of this name.
    fn members(&self, path: &str) -> Vec<String> {
        if let Some(module) = self.defined.module(path).or_else(|| self.prelude.module(path)) {
            let names = module.values.iter().chain(&module.types).chain(module.modules.keys());
            return names.cloned().collect();
        }
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        if let Some(record) = self.records.get(first) {
            return record.at(rest).map_or_else(Vec::new, Fields::names);
        }
        path.parse().map_or_else(
            |_| Vec::new(),
            |ty: ElemType| galopvm_stdlib::member_names(ty).into_iter().map(String::from).collect(),
        )
    }
}

/// The constructors that a text mentions, without their signs.
fn constructors(text: &str) -> impl Iterator<Item = &str> {
    let (tokens, _) = lex(text);
    tokens
        .into_iter()
        .filter(|token| token.kind == TokenKind::Constructor)
        .map(|token| &text[token.start as usize + 1..token.end as usize])
}

/// The commands whose names begin so.
fn commands_like(start: &str) -> Vec<String> {
    TABLE.iter().filter(|row| row.name.starts_with(start)).map(|row| row.name.into()).collect()
}

/// The names that begin so, in order; operators are typed sooner than completed.
fn those_like<'n>(start: &str, names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let is_name = |name: &&str| name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let found: BTreeSet<&str> = names.filter(is_name).filter(|name| name.starts_with(start)).collect();
    found.into_iter().map(String::from).collect()
}

fn pairs(words: Vec<String>) -> Vec<Pair> {
    words.into_iter().map(|word| Pair { display: word.clone(), replacement: word }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    /// What the end of a line may become, with these definitions.
    fn completed(definitions: &str, line: &str) -> Vec<String> {
        let mut completion = Completion::new();
        completion.define(definitions, definitions);
        completion.candidates(line, line.len()).1.into_iter().map(|pair| pair.replacement).collect()
    }

    #[test]
    fn names_members_and_definitions_are_completed() {
        let red = completed("def redness = 1", "map (+ 1) (red");
        assert!(
            ["redness", "reduce", "reduce_comm"].iter().all(|name| red.iter().any(|f| f == name)),
            "{red:?}"
        );
        assert_eq!(completed("let barrel = 3", "barr"), ["barrel"]);
        assert_eq!(completed("", "f64.sqr"), ["f64.sqrt"]);
        assert!(completed("", "f64.").contains(&"f64.pi".to_string()));
        assert_eq!(completed("", "1 + "), Vec::<String>::new());
        assert_eq!(completed("", "nothing.x"), Vec::<String>::new());
    }

    #[test]
    fn members_of_modules_are_completed() {
        let modules = "module type mt = { val size: i32 type word }
            module m = { def alpha = 1i32 module inner = { def delta = 2i32 } }
            module n: mt = { def size = 1i32 def hidden = 2i32 type word = u8 }
            module f (p: mt) = { def made = p.size }
            module o = f n
            module p = { open m def own = 1i32 }";
        assert_eq!(completed(modules, "1 + m.al"), ["m.alpha"]);
        assert_eq!(completed(modules, "m."), ["m.alpha", "m.inner"]);
        assert_eq!(completed(modules, "m.inner.d"), ["m.inner.delta"]);
        assert_eq!(completed(modules, "n."), ["n.size", "n.word"]);
        assert_eq!(completed(modules, "o."), ["o.made"]);
        assert_eq!(completed(modules, "p."), ["p.alpha", "p.inner", "p.own"]);
    }

    #[test]
    fn fields_of_records_are_completed() {
        let record = "type inner = {tall: i32, tiny: i32}
            def rec = {first = 1i32, second = {tall = 2i32, tiny = 3i32} : inner}";
        assert_eq!(completed(record, "rec.f"), ["rec.first"]);
        assert_eq!(completed(record, "rec.second.t"), ["rec.second.tall", "rec.second.tiny"]);
        assert_eq!(completed(record, "rec.first."), Vec::<String>::new());
    }

    #[test]
    fn what_may_stand_there_is_completed() {
        let types = "type mytype = i32 def myvalue = 1i32 def shape = #green : #green | #grey i32 | #blue";
        assert_eq!(completed(types, "def f (x: my"), ["mytype"]);
        assert_eq!(completed(types, "def f (x: []my"), ["mytype"]);
        assert_eq!(completed(types, "1 + my"), ["myvalue"]);
        assert_eq!(completed(types, "f #gr"), ["green", "grey"]);
        assert_eq!(completed("", "\\xyz -> xy"), ["xyz"]);
        assert_eq!(completed("", "let quux = 3 in qu"), ["quux"]);
        assert_eq!(completed("", "let quux =\n  3\nin qu"), ["quux"]);
    }

    #[test]
    fn commands_and_what_stands_behind_them_are_completed() {
        assert_eq!(completed("", ":pl"), ["plot"]);
        assert_eq!(completed("", ":help pl"), ["plot"]);
        assert_eq!(completed("", ":help :pl"), ["plot"]);
        for line in ["?redu", ":doc redu", ":type redu"] {
            assert!(completed("", line).contains(&"reduce_comm".into()), "{line}");
        }
    }

    #[test]
    fn the_key_is_answered_at_once() {
        let definitions: String = (0..500).map(|i| format!("def value{i} = {i}i32\n")).collect();
        let mut completion = Completion::new();
        completion.define(&definitions, &definitions);
        let start = Instant::now();
        let found = completion.candidates("let x = 1 in v", 14).1;
        assert!(found.len() >= 500 && start.elapsed() < Duration::from_millis(20), "{:?}", start.elapsed());
    }
}
