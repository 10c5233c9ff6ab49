//! An input in colours: its tokens by what they are, the mate of the bracket at the cursor, the command in front.
//!
//! Only colours are added: what is shown has the width of what was typed.

use super::super::commands::{self, Argument};
use galopvm_frontend::syntax::{TokenKind, lex};

/// Colours, and what ends them.
const KEYWORD: &str = "\x1b[35m";
const NUMBER: &str = "\x1b[36m";
const STRING: &str = "\x1b[32m";
const COMMENT: &str = "\x1b[2m";
const TYPE: &str = "\x1b[33m";
const COMMAND: &str = "\x1b[1m";
const MATE: &str = "\x1b[1;34m";
const DIM: &str = "\x1b[2m";
const END: &str = "\x1b[0m";

/// Text that is not there yet.
pub fn dim(text: &str) -> String {
    // Each line for itself, as the terminal may end a colour with the line.
    text.split('\n').map(|line| format!("{DIM}{line}{END}")).collect::<Vec<_>>().join("\n")
}

/// An input in colours; at this byte a bracket stands that has its mate at the cursor.
pub fn paint(text: &str, mate: Option<usize>, is_type: &dyn Fn(&str) -> bool) -> String {
    let command = text.strip_prefix(':').map_or("", |rest| &text[..1 + word_length(rest)]);
    let row = commands::find(command.trim_start_matches(':'));
    let mut out = Painted { text: String::with_capacity(2 * text.len()) };
    out.add(command, row.map_or("", |_| COMMAND));
    let rest = &text[command.len()..];
    if row.is_some_and(|row| matches!(row.argument, Argument::File | Argument::None)) {
        out.add(rest, "");
    } else {
        out.tokens(rest, mate.and_then(|at| at.checked_sub(command.len())), is_type);
    }
    out.text
}

fn word_length(text: &str) -> usize {
    text.find(char::is_whitespace).unwrap_or(text.len())
}

struct Painted {
    text: String,
}

impl Painted {
    fn add(&mut self, text: &str, colour: &str) {
        if text.is_empty() || colour.is_empty() {
            self.text.push_str(text);
        } else {
            self.text.extend([colour, text, END]);
        }
    }

    /// What stands between tokens: white space and comments.
    fn between(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            let (white, comment) = line.split_at(line.find("--").unwrap_or(line.len()));
            self.add(white, "");
            let end = comment.trim_end_matches('\n').len();
            self.add(&comment[..end], COMMENT);
            self.add(&comment[end..], "");
        }
    }

    fn tokens(&mut self, text: &str, mate: Option<usize>, is_type: &dyn Fn(&str) -> bool) {
        let mut done = 0;
        let mut previous = TokenKind::End;
        for token in lex(text).0 {
            let (start, end) = (token.start as usize, token.end as usize);
            self.between(&text[done..start]);
            let word = &text[start..end];
            let colour = match token.kind {
                _ if mate == Some(start) => MATE,
                // A field of a tuple is a name.
                TokenKind::Nat if previous == TokenKind::Dot => "",
                TokenKind::Ident if previous != TokenKind::Dot && is_type(word) => TYPE,
                kind => colour(kind),
            };
            self.add(word, colour);
            (done, previous) = (end, token.kind);
        }
    }
}

fn colour(kind: TokenKind) -> &'static str {
    use TokenKind as T;
    match kind {
        T::Nat | T::Int | T::Float | T::True | T::False => NUMBER,
        T::String | T::Char | T::Constructor => STRING,
        T::If
        | T::Then
        | T::Else
        | T::Let
        | T::Def
        | T::Loop
        | T::In
        | T::Match
        | T::Case
        | T::For
        | T::Do
        | T::With
        | T::Assert
        | T::While
        | T::Include
        | T::Import
        | T::Type
        | T::Entry
        | T::Module
        | T::Val
        | T::Open
        | T::Local => KEYWORD,
        _ => "",
    }
}

/// Where the mate of the bracket stands that is under the cursor, or else before it.
pub fn mate(text: &str, at: usize) -> Option<usize> {
    let tokens = lex(text).0;
    let is_bracket = |kind: TokenKind| opens(kind).is_some() || closes(kind).is_some();
    let under = tokens.iter().position(|token| token.start as usize == at && is_bracket(token.kind));
    let before = || tokens.iter().position(|token| token.end as usize == at && is_bracket(token.kind));
    let here = under.or_else(before)?;
    let mut depth = 0i32;
    let mut is_mate = |kind: TokenKind, outward: fn(TokenKind) -> Option<char>| {
        if is_bracket(kind) {
            depth += if outward(kind).is_some() { 1 } else { -1 };
        }
        depth == 0
    };
    let (found, wanted) = match opens(tokens[here].kind) {
        Some(bracket) => (tokens[here..].iter().find(|token| is_mate(token.kind, opens)), bracket),
        None => {
            let found = tokens[..=here].iter().rev().find(|token| is_mate(token.kind, closes));
            (found, closes(tokens[here].kind)?)
        }
    };
    let found = found?;
    let kind = opens(found.kind).or(closes(found.kind))?;
    (kind == wanted).then_some(found.start as usize)
}

/// The pair that a token begins.
fn opens(kind: TokenKind) -> Option<char> {
    match kind {
        TokenKind::LParen => Some('('),
        TokenKind::LBracket | TokenKind::IndexBracket | TokenKind::HashBracket => Some('['),
        TokenKind::LBrace => Some('{'),
        _ => None,
    }
}

/// The pair that a token ends.
fn closes(kind: TokenKind) -> Option<char> {
    match kind {
        TokenKind::RParen => Some('('),
        TokenKind::RBracket => Some('['),
        TokenKind::RBrace => Some('{'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(text: &str) -> String {
        paint(text, None, &|word| word == "i32").replace('\x1b', "^")
    }

    #[test]
    fn tokens_have_colours() {
        assert_eq!(painted("let x = 1"), "^[35mlet^[0m x = ^[36m1^[0m");
        assert_eq!(painted("f (x: i32) -- so"), "f (x: ^[33mi32^[0m) ^[2m-- so^[0m");
        assert_eq!(painted("\"a -- b\" t.0"), "^[32m\"a -- b\"^[0m t.0");
        assert_eq!(painted(":type 1"), "^[1m:type^[0m ^[36m1^[0m");
        assert_eq!(painted(":load 1.fut"), "^[1m:load^[0m 1.fut");
        assert_eq!(painted(":nothing 1"), ":nothing ^[36m1^[0m");
        assert_eq!(painted("é + 'ü"), "é + 'ü");
    }

    #[test]
    fn brackets_have_mates() {
        assert_eq!(mate("f (a[1], b)", 2), Some(10));
        assert_eq!(mate("f (a[1], b)", 11), Some(2));
        assert_eq!(mate("f \")\" (", 3), None);
        assert_eq!(mate("(]", 0), None);
        assert_eq!(mate("((1)", 0), None);
        assert_eq!(paint("(1)", mate("(1)", 3), &|_| false), "\x1b[1;34m(\x1b[0m\x1b[36m1\x1b[0m)");
    }
}
