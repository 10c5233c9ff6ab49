//! What the Tab key completes at the prompt: commands, files behind those that take one, names, members of the modules of numbers.

use super::commands::{self, Argument, TABLE};
use super::{filename, scope};
use galopvm_base::ElemType;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::{CmdKind, Highlighter, MatchingBracketHighlighter};
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};
use std::borrow::Cow;

/// Words of the language that begin or join expressions and definitions.
const WORDS: [&str; 21] = [
    "assert", "case", "def", "do", "else", "entry", "false", "for", "if", "import", "in", "let", "local",
    "loop", "match", "module", "open", "then", "true", "type", "while",
];

/// What is known to complete from.
pub struct Completion {
    /// Words, the prelude and the names of types, in order.
    known: Vec<String>,
    /// What has been defined at the prompt.
    defined: Vec<String>,
    files: FilenameCompleter,
    brackets: MatchingBracketHighlighter,
}

impl Completion {
    /// With nothing defined but the prelude.
    pub fn new() -> Completion {
        let mut known: Vec<String> = WORDS.map(String::from).to_vec();
        known.extend(scope::names(galopvm_stdlib::PRELUDE));
        known.extend(galopvm_stdlib::INTRINSICS.iter().map(|row| row.name.to_string()));
        known.extend(ElemType::ALL.iter().map(|ty| ty.name().to_string()));
        known.retain(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()));
        known.sort_unstable();
        known.dedup();
        Completion {
            known,
            defined: Vec::new(),
            files: FilenameCompleter::new(),
            brackets: MatchingBracketHighlighter::new(),
        }
    }

    /// These are defined now, and no others.
    pub fn define(&mut self, names: Vec<String>) {
        self.defined = names;
    }

    /// Where the word before the cursor begins, and what it may become.
    fn words(&self, line: &str, at: usize) -> (usize, Vec<String>) {
        let before = &line[..at];
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'' || c == '.';
        let start =
            before.char_indices().rev().take_while(|(_, c)| is_part(*c)).last().map_or(at, |(k, _)| k);
        let word = &before[start..];
        if word.is_empty() {
            return (start, Vec::new());
        }
        if let Some((module, member)) = word.rsplit_once('.') {
            let Ok(ty) = module.parse::<ElemType>() else { return (start, Vec::new()) };
            let mut members = galopvm_stdlib::member_names(ty);
            members.retain(|name| name.starts_with(member) && name.starts_with(|c: char| c.is_alphabetic()));
            members.sort_unstable();
            return (start, members.iter().map(|name| format!("{module}.{name}")).collect());
        }
        let mut found: Vec<String> =
            self.known.iter().chain(&self.defined).filter(|name| name.starts_with(word)).cloned().collect();
        found.sort_unstable();
        found.dedup();
        (start, found)
    }
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        at: usize,
        context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        if let Some(command) = line[..at].strip_prefix(':') {
            match command.split_once(char::is_whitespace) {
                None => {
                    let rows = TABLE.iter().filter(|row| row.name.starts_with(command));
                    return Ok((1, rows.map(|row| pair(row.name.into())).collect()));
                }
                Some((word, rest)) => {
                    let argument = commands::find(word).map(|row| row.argument);
                    // Behind an expression a file may follow. A word with a slash is no expression.
                    let last = &rest[filename::start_of_last(rest)..];
                    let is_file = matches!(argument, Some(Argument::Picture(_))) && last.contains('/');
                    let is_first = matches!(argument, Some(Argument::Watched | Argument::Named))
                        && last == rest.trim_start();
                    if argument == Some(Argument::File) || is_file || is_first {
                        return self.files.complete(line, at, context);
                    }
                }
            }
        }
        let (start, found) = self.words(line, at);
        Ok((start, found.into_iter().map(pair).collect()))
    }
}

fn pair(word: String) -> Pair {
    Pair { display: word.clone(), replacement: word }
}

impl Highlighter for Completion {
    fn highlight<'l>(&self, line: &'l str, at: usize) -> Cow<'l, str> {
        self.brackets.highlight(line, at)
    }

    fn highlight_char(&self, line: &str, at: usize, kind: CmdKind) -> bool {
        self.brackets.highlight_char(line, at, kind)
    }
}

impl Hinter for Completion {
    type Hint = String;
}

impl Validator for Completion {}

impl Helper for Completion {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_members_and_definitions_are_completed() {
        let mut completion = Completion::new();
        completion.define(vec!["redness".into()]);
        let (start, found) = completion.words("map (+ 1) (red", 14);
        assert_eq!(start, 11);
        assert!(
            ["redness", "reduce", "reduce_comm"].iter().all(|name| found.iter().any(|f| f == name)),
            "{found:?}"
        );
        assert_eq!(completion.words("f64.sqr", 7).1, ["f64.sqrt"]);
        assert!(completion.words("f64.", 4).1.contains(&"f64.pi".to_string()));
        assert_eq!(completion.words("1 + ", 4), (4, Vec::new()));
        assert_eq!(completion.words("nothing.x", 9).1, Vec::<String>::new());
    }
}
