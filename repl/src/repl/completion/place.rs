//! What a line says before the word at its end: which names it has bound, whether a type is to follow.
//!
//! Judged by tokens, since a line that is being typed has no tree yet.

use galopvm_frontend::syntax::{TokenKind, lex};

/// What is known of the place behind a text.
pub struct Place<'l> {
    /// The names that the text binds, whether or not they are seen there.
    pub bound: Vec<&'l str>,
    /// A type is to stand there, and no expression.
    pub wants_type: bool,
}

/// Whether a text ends within the name of a file to import.
pub fn is_import(text: &str) -> bool {
    let Some((before, _)) = text.rsplit_once('"') else { return false };
    let before = before.trim_end();
    let is_word = before.strip_suffix("import").is_some_and(|rest| {
        !rest.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'' || c == '.')
    });
    is_word && before.matches('"').count() % 2 == 0
}

/// The place behind a text.
pub fn after(text: &str) -> Place<'_> {
    let mut bound = Vec::new();
    // The brackets that are open, and how many were where a pattern and a type began.
    let mut open: Vec<TokenKind> = Vec::new();
    let (mut pattern, mut ty): (Option<usize>, Option<usize>) = (None, None);
    let mut defines_type = false;
    let mut previous = TokenKind::End;
    for token in lex(text).0 {
        let depth = open.len();
        match token.kind {
            TokenKind::LParen
            | TokenKind::LBracket
            | TokenKind::IndexBracket
            | TokenKind::HashBracket
            | TokenKind::LBrace => open.push(token.kind),
            TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => {
                open.pop();
                ty = ty.filter(|begin| open.len() >= *begin);
                pattern = pattern.filter(|begin| open.len() >= *begin);
            }
            // In an index the colon makes a slice.
            TokenKind::Colon if open.last() == Some(&TokenKind::IndexBracket) => {}
            TokenKind::Colon | TokenKind::ColonGreater => ty = ty.or(Some(depth)),
            TokenKind::Type => defines_type = true,
            TokenKind::Equals => {
                pattern = pattern.filter(|begin| *begin != depth);
                ty = defines_type.then_some(depth);
                defines_type = false;
            }
            TokenKind::Comma => ty = ty.filter(|begin| *begin != depth),
            TokenKind::Arrow if pattern == Some(depth) => (pattern, ty) = (None, None),
            TokenKind::Less
            | TokenKind::In
            | TokenKind::Do
            | TokenKind::Then
            | TokenKind::Else
            | TokenKind::With
            | TokenKind::While => (pattern, ty) = (None, None),
            TokenKind::Def
            | TokenKind::Let
            | TokenKind::Entry
            | TokenKind::Loop
            | TokenKind::Case
            | TokenKind::For
            | TokenKind::Backslash => (pattern, ty, defines_type) = (Some(depth), None, false),
            TokenKind::Ident if pattern.is_some() && ty.is_none() && previous != TokenKind::Dot => {
                bound.push(&text[token.start as usize..token.end as usize]);
            }
            _ => {}
        }
        previous = token.kind;
    }
    let is_size = |begin: usize| {
        open.len() > begin && matches!(open.last(), Some(TokenKind::LBracket | TokenKind::IndexBracket))
    };
    Place { bound, wants_type: ty.is_some_and(|begin| !is_size(begin)) }
}

#[test]
fn names_are_bound_by_patterns() {
    assert_eq!(after("let (a, b) = f c in ").bound, ["a", "b"]);
    assert_eq!(after("\\x {y = z, w} -> ").bound, ["x", "y", "z", "w"]);
    assert_eq!(after("loop acc = 0 for i < n do ").bound, ["acc", "i"]);
    assert_eq!(after("def f [n] (xs: [n]i32) k : i32 = ").bound, ["f", "n", "xs", "k"]);
    assert_eq!(after("match x case #some v -> ").bound, ["v"]);
}

#[test]
fn types_stand_behind_colons() {
    for text in
        ["x : ", "def f (x: ", "def f (x: [n]", "(1 :> ", "type t = ", "type t = {a: i32, b: ", "(f: i32 -> "]
    {
        assert!(after(text).wants_type, "{text}");
    }
    for text in [
        "x",
        "def f (x: i32) ",
        "def f (x: i32) : i32 = ",
        "a[1:",
        "(x: [",
        "\\(x: i32) -> ",
        "let x: t = 1 in ",
    ] {
        assert!(!after(text).wants_type, "{text}");
    }
}

#[test]
fn names_of_files_stand_behind_import() {
    assert!(is_import("import \"te") && is_import("open import \"lib/"));
    assert!(!is_import("import \"te\"") && !is_import("reimport \"te") && !is_import("f \"te"));
}
