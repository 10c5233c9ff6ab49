//! What is typed: where one input ends and the next one begins, judged by syntax alone.
//!
//! Lines come one by one. One that leaves the input unfinished asks for another; one that can begin nothing (`in x`, `|> f`,
//! `case ..`, or a line as deep as the last one of a definition) continues the input before it, though that was whole. A line
//! that would make an unfinished input wrong and is one by itself begins a new input.
//!
//! Invariant: no line is lost. Each is part of an input, which is carried out or refused with a message.

use bumpalo::Bump;
use galopvm::Diagnostic;
use galopvm_base::Sources;
use galopvm_frontend::syntax::ast::{ExpKind, Pat, PatKind};
use galopvm_frontend::syntax::{TokenKind, lex, parse_expression, parse_prog};

/// What an input is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Declarations.
    Declarations,
    /// `let` with a pattern but without `in`: the names that it binds.
    Pattern(Vec<String>),
    /// An expression.
    Expression,
}

/// How far an input is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum State {
    /// It is one.
    Whole(Kind),
    /// Another line could complete it.
    Unfinished(Kind),
    /// No line could make it right.
    Wrong(Kind),
}

impl State {
    /// What it is, or would be.
    pub fn kind(self) -> Kind {
        match self {
            State::Whole(kind) | State::Unfinished(kind) | State::Wrong(kind) => kind,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Syntax {
    Right,
    Unfinished,
    Wrong,
}

fn syntax(found: &[Diagnostic]) -> Syntax {
    match found.iter().find(|message| message.is_error()) {
        None => Syntax::Right,
        Some(first) if first.incomplete => Syntax::Unfinished,
        Some(_) => Syntax::Wrong,
    }
}

/// How far a text is.
pub fn state(text: &str) -> State {
    let first = lex(text).0.first().map(|token| token.kind);
    let judge = || {
        let arena = Bump::new();
        let file = Sources::new().add("", text);
        let as_declarations = || syntax(&parse_prog(&arena, file, text, 0).diagnostics);
        let as_expression = || syntax(&parse_expression(&arena, file, text, 0).diagnostics);
        let of = |syntax: Syntax, kind: Kind| match syntax {
            Syntax::Right => State::Whole(kind),
            Syntax::Unfinished => State::Unfinished(kind),
            Syntax::Wrong => State::Wrong(kind),
        };
        match first {
            Some(first) if declares(first) => of(as_declarations(), Kind::Declarations),
            // Attributes stand in front of both, and a definition may begin with `let`.
            Some(first @ (TokenKind::Let | TokenKind::HashBracket)) => {
                match (as_declarations(), as_expression()) {
                    (Syntax::Right, _) => State::Whole(Kind::Declarations),
                    (_, Syntax::Right) => State::Whole(Kind::Expression),
                    (declarations, expression) => match bound(text).filter(|_| first == TokenKind::Let) {
                        Some(names) => State::Whole(Kind::Pattern(names)),
                        None if declarations == Syntax::Unfinished => State::Unfinished(Kind::Declarations),
                        None => of(expression, Kind::Expression),
                    },
                }
            }
            _ => of(as_expression(), Kind::Expression),
        }
    };
    galopvm_frontend::stack::with_room(judge).unwrap_or(State::Wrong(Kind::Expression))
}

/// True for words that begin declarations and nothing else.
fn declares(first: TokenKind) -> bool {
    use TokenKind::{Def, Entry, Import, Local, Module, Open, Type};
    matches!(first, Def | Entry | Import | Local | Module | Open | Type)
}

/// The names that the `let`s of a text bind, if it is nothing but these.
fn bound(text: &str) -> Option<Vec<String>> {
    let arena = Bump::new();
    let text = format!("{text}\nin ()");
    let file = Sources::new().add("", text.as_str());
    let parsed = parse_expression(&arena, file, &text, 0);
    if syntax(&parsed.diagnostics) != Syntax::Right {
        return None;
    }
    let mut exp = parsed.tree;
    let mut names = Vec::new();
    while let ExpKind::Let { sizes, pat, body, .. } = exp.kind {
        names.extend(sizes.iter().map(|size| size.text.to_string()));
        names_in(pat, &mut names);
        exp = body;
    }
    Some(names)
}

fn names_in(pat: &Pat<'_>, names: &mut Vec<String>) {
    match pat.kind {
        PatKind::Id(name) => names.push(name.to_string()),
        PatKind::Wildcard | PatKind::Lit(_) => {}
        PatKind::Parens(inner) | PatKind::Ascript(inner, _) | PatKind::Attr(_, inner) => {
            names_in(inner, names)
        }
        PatKind::Tuple(parts) | PatKind::Constr(_, parts) => {
            parts.iter().for_each(|part| names_in(part, names))
        }
        PatKind::Record(fields) => fields.iter().for_each(|(_, part)| names_in(part, names)),
    }
}

/// True if there is nothing but white space and comments.
pub fn is_blank(text: &str) -> bool {
    lex(text).0.iter().all(|token| token.kind == TokenKind::End)
}

/// How often a text mentions a name.
pub fn mentions(text: &str, name: &str) -> usize {
    let is_it = |start: u32, end: u32| text.get(start as usize..end as usize) == Some(name);
    lex(text).0.iter().filter(|token| token.kind == TokenKind::Ident && is_it(token.start, token.end)).count()
}

/// Whether a line continues what stands before it, which would be whole without.
pub fn goes_on(before: &str, line: &str) -> bool {
    let is_deep = |line: &str| line.starts_with([' ', '\t']);
    let last = before.lines().last().unwrap_or_default();
    let is_inside = before.contains('\n') && is_deep(last) && is_deep(line);
    is_inside || lex(line).0.first().is_some_and(|token| continues(token.kind))
}

/// True for tokens that begin neither an expression nor a declaration. What closes a bracket continues nothing that is whole.
fn continues(first: TokenKind) -> bool {
    use TokenKind::{
        Arrow, Backtick, Case, ColonGreater, Else, Equals, Hat, In, Less, Op, Pipe, QualOp, Star, Then, With,
    };
    let is_word = matches!(first, In | Then | Else | Case | With);
    is_word
        || matches!(first, Op | QualOp | Star | Less | Hat | Pipe | Arrow | Equals | Backtick | ColonGreater)
}

/// Whether another case could follow: nothing ends a `match`.
pub fn takes_cases(text: &str) -> bool {
    let mut lines = text.lines().rev().filter(|line| !is_blank(line));
    let last = lines.next().and_then(|line| lex(line).0.first().map(|token| token.kind));
    last == Some(TokenKind::Case) && lines.next().is_some()
}

/// Whether a line begins an input by itself.
pub fn begins(line: &str) -> bool {
    !line.starts_with([' ', '\t']) && !goes_on("", line) && !matches!(state(line), State::Wrong(_))
}

/// Whether brackets are open at the end of a text.
pub fn has_open_brackets(text: &str) -> bool {
    use TokenKind::{HashBracket, IndexBracket, LBrace, LBracket, LParen, RBrace, RBracket, RParen};
    let change = |kind: TokenKind| match kind {
        LParen | LBrace | LBracket | IndexBracket | HashBracket => 1,
        RParen | RBrace | RBracket => -1,
        _ => 0,
    };
    lex(text).0.iter().map(|token| change(token.kind)).sum::<i32>() > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> String {
        match state(text) {
            State::Whole(kind) => format!("{kind:?}"),
            State::Unfinished(kind) => format!("unfinished {kind:?}"),
            State::Wrong(kind) => format!("wrong {kind:?}"),
        }
    }

    #[test]
    fn inputs_are_told_apart() {
        for (text, expected) in [
            ("def f x = x", "Declarations"),
            ("entry main = 1", "Declarations"),
            ("-- a remark\ndef q = 3 -- and another", "Declarations"),
            ("def f x =", "unfinished Declarations"),
            ("def x", "unfinished Declarations"),
            ("module m = {\n def a = 1\n\n", "unfinished Declarations"),
            ("let x = 1 in x", "Expression"),
            ("let x = 1", "Declarations"),
            ("let x =", "unfinished Declarations"),
            ("let (p, q) = (1, 2)", "Pattern([\"p\", \"q\"])"),
            ("let {x, y = z} = r", "Pattern([\"x\", \"z\"])"),
            ("let _ = 3", "Pattern([])"),
            ("let (p, q) = (1,", "unfinished Expression"),
            ("1 +", "unfinished Expression"),
            ("[1, 2", "unfinished Expression"),
            ("if true then 1", "unfinished Expression"),
            ("defer", "Expression"),
            ("1 + 2", "Expression"),
            ("1 )", "wrong Expression"),
            ("#[trace] 1 + 2", "Expression"),
            ("#[break] 5", "Expression"),
            ("#[noinline] def f x = x", "Declarations"),
            ("#[noinline]", "unfinished Declarations"),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_continue_what_they_cannot_begin() {
        for (before, line) in [
            ("let x = 1", "in x + 1"),
            ("[1, 2]", "|> map (+ 1)"),
            ("def f x =\n  x", "  - 1"),
            ("match 3\ncase 3 -> 1", "case _ -> 0"),
            ("f", "  `g` x"),
            ("xs", "with [1] = 2"),
        ] {
            assert!(goes_on(before, line), "{before}\n{line}");
        }
        for (before, line) in [
            ("1", "-1"),
            ("1", "!x"),
            ("1", "  2"),
            ("def f x =\n  x", "2"),
            ("1", "(2)"),
            ("1", "[2]"),
            ("1", ""),
        ] {
            assert!(!goes_on(before, line), "{before}\n{line}");
        }
        assert!(takes_cases("match x\ncase 1 -> 2\n"));
        assert!(!takes_cases("match x case 1 -> 2"));
        assert!(begins("let z = 3") && begins("1") && begins("[1,") && !begins("  x") && !begins("x)"));
        assert!(
            has_open_brackets("module m = {\n") && !has_open_brackets("f x =") && !has_open_brackets("a[1]")
        );
    }
}
