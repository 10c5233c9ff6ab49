//! Source text to tokens.
//!
//! Each token is the longest that begins at its byte. The lexer never fails: text that is no token becomes
//! [`TokenKind::Unknown`]. Three decisions need a look behind: `a[` is an index but `a [` is not, a number after a dot is
//! a field (`t.0.1`), and `m.+` is one qualified operator.

use super::token::{DocComment, Token, TokenKind};

/// All tokens of a text, ending in exactly one [`TokenKind::End`], and its documentation comments.
pub fn lex(text: &str) -> (Vec<Token>, Vec<DocComment>) {
    let bytes = text.as_bytes();
    let mut tokens: Vec<Token> = Vec::with_capacity(text.len() / 3);
    let mut docs: Vec<DocComment> = Vec::new();
    let mut in_doc = false;
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        if matches!(bytes[at], b' ' | b'\t' | b'\r' | b'\n' | 0x0B | 0x0C) {
            at += 1;
            continue;
        }
        if bytes[at..].starts_with(b"--") {
            at = line_end(bytes, at);
            let opens = bytes[start..at].starts_with(b"-- |");
            let goes_on =
                in_doc && docs.last().is_some_and(|d| only_one_newline(bytes, d.end as usize, start));
            if goes_on && let Some(doc) = docs.last_mut() {
                doc.end = at as u32;
            } else if opens {
                docs.push(DocComment { start: start as u32, end: at as u32 });
            }
            in_doc = opens || goes_on;
            continue;
        }
        let (mut kind, end) = token(text, start);
        at = end;
        match kind {
            TokenKind::LBracket
                if start > 0 && (in_name(bytes[start - 1]) || b")]".contains(&bytes[start - 1])) =>
            {
                kind = TokenKind::IndexBracket;
            }
            TokenKind::Float
                if tokens.last().is_some_and(|t| t.kind == TokenKind::Dot && t.end as usize == start) =>
            {
                // `t.0.1`: after a dot only the digits belong to the field.
                kind = TokenKind::Nat;
                at = run(bytes, start, |b| b.is_ascii_digit());
            }
            _ => {}
        }
        in_doc = false;
        let mut token = Token { kind, start: start as u32, end: at as u32 };
        if matches!(
            kind,
            TokenKind::Op
                | TokenKind::Minus
                | TokenKind::Star
                | TokenKind::Less
                | TokenKind::Hat
                | TokenKind::Pipe
        ) && let Some(first) = qualifier_start(&tokens, token.start)
        {
            token = Token { kind: TokenKind::QualOp, start: tokens[first].start, end: token.end };
            tokens.truncate(first);
        }
        tokens.push(token);
    }
    let end = text.len() as u32;
    tokens.push(Token { kind: TokenKind::End, start: end, end });
    (tokens, docs)
}

/// The index of the first token of `m.n.` if that stands right before byte `at`.
fn qualifier_start(tokens: &[Token], at: u32) -> Option<usize> {
    let mut first = None;
    let (mut at, mut index) = (at, tokens.len());
    while index >= 2 {
        let (name, dot) = (tokens[index - 2], tokens[index - 1]);
        if dot.kind != TokenKind::Dot
            || dot.end != at
            || name.kind != TokenKind::Ident
            || name.end != dot.start
        {
            break;
        }
        index -= 2;
        at = name.start;
        first = Some(index);
    }
    first
}

fn only_one_newline(bytes: &[u8], from: usize, to: usize) -> bool {
    bytes[from..to].iter().filter(|b| **b == b'\n').count() == 1
}

/// The token that begins at a byte that is not white space, and the byte after it.
fn token(text: &str, start: usize) -> (TokenKind, usize) {
    let bytes = text.as_bytes();
    let rest = &bytes[start..];
    let sign = |kind, length: usize| (kind, start + length);
    match rest[0] {
        b'a'..=b'z' | b'A'..=b'Z' => {
            let end = run(bytes, start, in_name);
            (keyword(&text[start..end]), end)
        }
        b'_' => match name(bytes, start) {
            Some(end) => (TokenKind::Ident, end),
            None => sign(TokenKind::Underscore, 1),
        },
        b'#' => match (name(bytes, start + 1), rest.get(1)) {
            (Some(end), _) => (TokenKind::Constructor, end),
            (None, Some(b'[')) => sign(TokenKind::HashBracket, 2),
            (None, Some(b'_')) => sign(TokenKind::Unknown, 2),
            (None, _) => sign(TokenKind::Unknown, 1),
        },
        b'0'..=b'9' => number(bytes, start),
        b'"' => string(bytes, start),
        b'\'' => match character(text, start) {
            Some(end) => (TokenKind::Char, end),
            None if rest.get(1) == Some(&b'^') => sign(TokenKind::QuoteHat, 2),
            None if rest.get(1) == Some(&b'~') => sign(TokenKind::QuoteTilde, 2),
            None => sign(TokenKind::Quote, 1),
        },
        first if b"+-*/%=!><|&^".contains(&first) => {
            let end = run(bytes, start, |b| b"+-*/%=!><|&^.".contains(&b));
            (operator(&bytes[start..end]), end)
        }
        b'.' if rest.starts_with(b"...") => sign(TokenKind::DotDotDot, 3),
        b'.' if rest.starts_with(b"..<") => sign(TokenKind::DotDotLess, 3),
        b'.' if rest.starts_with(b"..>") => sign(TokenKind::DotDotGreater, 3),
        b'.' if rest.starts_with(b"..") => sign(TokenKind::DotDot, 2),
        b'.' => sign(TokenKind::Dot, 1),
        b':' if rest.starts_with(b":>") => sign(TokenKind::ColonGreater, 2),
        b':' => sign(TokenKind::Colon, 1),
        b'?' if rest.starts_with(b"???") => sign(TokenKind::Hole, 3),
        b'?' => sign(TokenKind::Question, 1),
        b'~' => sign(TokenKind::Tilde, 1),
        b'(' => sign(TokenKind::LParen, 1),
        b')' => sign(TokenKind::RParen, 1),
        b'[' => sign(TokenKind::LBracket, 1),
        b']' => sign(TokenKind::RBracket, 1),
        b'{' => sign(TokenKind::LBrace, 1),
        b'}' => sign(TokenKind::RBrace, 1),
        b',' => sign(TokenKind::Comma, 1),
        b'\\' => sign(TokenKind::Backslash, 1),
        b'`' => sign(TokenKind::Backtick, 1),
        _ => sign(TokenKind::Unknown, text[start..].chars().next().map_or(1, char::len_utf8)),
    }
}

fn keyword(word: &str) -> TokenKind {
    match word {
        "if" => TokenKind::If,
        "then" => TokenKind::Then,
        "else" => TokenKind::Else,
        "let" => TokenKind::Let,
        "def" => TokenKind::Def,
        "loop" => TokenKind::Loop,
        "in" => TokenKind::In,
        "match" => TokenKind::Match,
        "case" => TokenKind::Case,
        "for" => TokenKind::For,
        "do" => TokenKind::Do,
        "with" => TokenKind::With,
        "assert" => TokenKind::Assert,
        "true" => TokenKind::True,
        "false" => TokenKind::False,
        "while" => TokenKind::While,
        "include" => TokenKind::Include,
        "import" => TokenKind::Import,
        "type" => TokenKind::Type,
        "entry" => TokenKind::Entry,
        "module" => TokenKind::Module,
        "val" => TokenKind::Val,
        "open" => TokenKind::Open,
        "local" => TokenKind::Local,
        _ => TokenKind::Ident,
    }
}

fn operator(sign: &[u8]) -> TokenKind {
    match sign {
        b"=" => TokenKind::Equals,
        b"-" => TokenKind::Minus,
        b"!" => TokenKind::Bang,
        b"*" => TokenKind::Star,
        b"<" => TokenKind::Less,
        b"^" => TokenKind::Hat,
        b"|" => TokenKind::Pipe,
        b"->" => TokenKind::Arrow,
        _ => TokenKind::Op,
    }
}

/// A number: digits of a base, then a type, or a fraction, an exponent and a type.
fn number(bytes: &[u8], start: usize) -> (TokenKind, usize) {
    if bytes[start] == b'0'
        && let Some((digit, hexadecimal)) = base(bytes.get(start + 1))
        && let Some(end) = digits(bytes, start + 2, digit)
    {
        if hexadecimal
            && let Some(fraction) = fraction(bytes, end, digit)
            && let Some(exponent) = exponent(bytes, fraction, b'p', |b| b.is_ascii_digit() || b == b'_')
        {
            return (TokenKind::Float, float_type(bytes, exponent).unwrap_or(exponent));
        }
        return (TokenKind::Int, int_type(bytes, end).unwrap_or(end));
    }
    let digit = |b: u8| b.is_ascii_digit();
    let whole = digits(bytes, start, digit).unwrap_or(start + 1);
    let fraction = fraction(bytes, whole, digit);
    let exponent = exponent(bytes, fraction.unwrap_or(whole), b'e', digit);
    let value = exponent.or(fraction);
    match (float_type(bytes, value.unwrap_or(whole)).or(value), int_type(bytes, whole)) {
        (Some(end), _) => (TokenKind::Float, end),
        (None, Some(end)) => (TokenKind::Int, end),
        (None, None) => (TokenKind::Nat, whole),
    }
}

/// Whether a byte is a digit of a base.
type Digit = fn(u8) -> bool;

/// The digits of the base that a letter after `0` names, and whether there are fractions in it.
fn base(letter: Option<&u8>) -> Option<(Digit, bool)> {
    match letter? {
        b'x' | b'X' => Some((|b| b.is_ascii_hexdigit(), true)),
        b'b' | b'B' => Some((|b| matches!(b, b'0' | b'1'), false)),
        b'r' | b'R' => Some((|b| b"IVXLCDM".contains(&b), false)),
        _ => None,
    }
}

/// The end of a digit with digits and underscores after it.
fn digits(bytes: &[u8], at: usize, digit: impl Fn(u8) -> bool) -> Option<usize> {
    bytes.get(at).is_some_and(|b| digit(*b)).then(|| run(bytes, at, |b| digit(b) || b == b'_'))
}

fn fraction(bytes: &[u8], at: usize, digit: impl Fn(u8) -> bool) -> Option<usize> {
    (bytes.get(at) == Some(&b'.')).then(|| digits(bytes, at + 1, digit)).flatten()
}

/// The end of an exponent that a letter opens, in either case.
fn exponent(bytes: &[u8], at: usize, letter: u8, digit: impl Fn(u8) -> bool) -> Option<usize> {
    bytes.get(at).filter(|b| b.to_ascii_lowercase() == letter)?;
    let first = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
    let end = run(bytes, first, digit);
    (end > first).then_some(end)
}

fn float_type(bytes: &[u8], at: usize) -> Option<usize> {
    one_of(bytes, at, &["f16", "f32", "f64"])
}

fn int_type(bytes: &[u8], at: usize) -> Option<usize> {
    one_of(bytes, at, &["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"])
}

fn one_of(bytes: &[u8], at: usize, words: &[&str]) -> Option<usize> {
    words.iter().find(|w| bytes[at..].starts_with(w.as_bytes())).map(|w| at + w.len())
}

/// A string on one line, in which a backslash takes the character after it along.
fn string(bytes: &[u8], start: usize) -> (TokenKind, usize) {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'\n' {
        match bytes[at] {
            b'"' => return (TokenKind::String, at + 1),
            b'\\' if bytes.get(at + 1).is_some_and(|b| *b != b'\n') => at += 2,
            _ => at += 1,
        }
    }
    (TokenKind::Unknown, at)
}

/// The end of a character between quotes: itself, or after a backslash one character or a number.
fn character(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let escaped = bytes.get(start + 1) == Some(&b'\\');
    let at = start + 1 + usize::from(escaped);
    let first = text[at..].chars().next()?;
    let end = match first {
        '\n' => return None,
        '\'' if !escaped => return None,
        '0'..='9' if escaped => run(bytes, at, |b| b.is_ascii_digit()),
        _ => at + first.len_utf8(),
    };
    (bytes.get(end) == Some(&b'\'')).then_some(end + 1)
}

/// The end of a name, which begins with a letter, or with an underscore and a letter or digit.
fn name(bytes: &[u8], at: usize) -> Option<usize> {
    let begins = match bytes.get(at)? {
        b'_' => bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric),
        first => first.is_ascii_alphabetic(),
    };
    begins.then(|| run(bytes, at, in_name))
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'\''
}

/// The first byte from one on that does not belong.
fn run(bytes: &[u8], at: usize, belongs: impl Fn(u8) -> bool) -> usize {
    bytes[at..].iter().position(|b| !belongs(*b)).map_or(bytes.len(), |length| at + length)
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    run(bytes, at, |b| b != b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        lex(text).0.into_iter().map(|t| t.kind).collect()
    }

    #[test]
    fn look_behind_decides() {
        use TokenKind::*;
        assert_eq!(kinds("a[0] [1]"), [Ident, IndexBracket, Nat, RBracket, LBracket, Nat, RBracket, End]);
        assert_eq!(kinds("t.0.1"), [Ident, Dot, Nat, Dot, Nat, End]);
        assert_eq!(kinds("x m.i32.+ y"), [Ident, QualOp, Ident, End]);
        assert_eq!(kinds("a.b.c"), [Ident, Dot, Ident, Dot, Ident, End]);
        assert_eq!(kinds("0..<n 1...2"), [Nat, DotDotLess, Ident, Nat, DotDotDot, Nat, End]);
        assert_eq!(kinds("x -1 --c\n->"), [Ident, Minus, Nat, Arrow, End]);
        assert_eq!(kinds("'a 'b' '^c"), [Quote, Ident, Char, QuoteHat, Ident, End]);
        assert_eq!(kinds("0xffu8 1e3 2f32 0x1.8p1f32 1_0i64"), [Int, Float, Float, Float, Int, End]);
        assert_eq!(kinds("*** == <="), [Op, Op, Op, End]);
        assert_eq!(kinds("\"a\\\"b\" é"), [String, Unknown, End]);
    }

    #[test]
    fn the_longest_token_wins() {
        use TokenKind::*;
        let cases: &[(&str, &[(TokenKind, &str)])] = &[
            ("1e", &[(Nat, "1"), (Ident, "e")]),
            ("1e+", &[(Nat, "1"), (Ident, "e"), (Op, "+")]),
            ("1.5e-3f32", &[(Float, "1.5e-3f32")]),
            ("1._5", &[(Nat, "1"), (Dot, "."), (Ident, "_5")]),
            ("1f16_", &[(Float, "1f16"), (Underscore, "_")]),
            ("1i80", &[(Int, "1i8"), (Nat, "0")]),
            ("0x", &[(Nat, "0"), (Ident, "x")]),
            ("0x1f32", &[(Int, "0x1f32")]),
            ("0x1.8", &[(Int, "0x1"), (Dot, "."), (Nat, "8")]),
            ("0X1.8P-1_f32", &[(Float, "0X1.8P-1_f32")]),
            ("0b12", &[(Int, "0b1"), (Nat, "2")]),
            ("0rXIVu8", &[(Int, "0rXIVu8")]),
            ("#some #_", &[(Constructor, "#some"), (Unknown, "#_")]),
            ("#[", &[(HashBracket, "#[")]),
            (
                r"'\12' '\n' 'é' ''",
                &[(Char, r"'\12'"), (Char, r"'\n'"), (Char, "'é'"), (Quote, "'"), (Quote, "'")],
            ),
            ("\"ab\nc", &[(Unknown, "\"ab"), (Ident, "c")]),
            ("\"a\\", &[(Unknown, "\"a\\")]),
            ("...< ????", &[(DotDotDot, "..."), (Less, "<"), (Hole, "???"), (Question, "?")]),
            ("lets let", &[(Ident, "lets"), (Let, "let")]),
            ("€@", &[(Unknown, "€"), (Unknown, "@")]),
        ];
        for (text, expected) in cases {
            let found = lex(text).0;
            let found: Vec<(TokenKind, &str)> =
                found.iter().map(|t| (t.kind, &text[t.start as usize..t.end as usize])).collect();
            let (end, tokens) = found.split_last().expect("the end");
            assert_eq!((end.0, tokens), (End, *expected), "{text}");
        }
    }

    /// Any text becomes tokens in order, with nothing but white space and comments between them.
    #[test]
    fn nothing_is_left_out() {
        let parts = [
            "0x", "1", ".", "e", "-", "'", "\"", "\\", "#", "_", "f32", "é", " ", "\n", "[", "let", "--",
            "?", ">",
        ];
        let mut random = galopvm_testkit::Random::new(7);
        for _ in 0..20_000 {
            let count = random.between(1, 10);
            let text: String = (0..count).map(|_| *random.pick(&parts)).collect();
            let mut at = 0;
            for token in lex(&text).0 {
                let between = text[at..token.start as usize].lines();
                let is_left = between.map(str::trim).all(|line| line.is_empty() || line.starts_with("--"));
                assert!(is_left, "{text:?} before byte {}", token.start);
                at = token.end as usize;
            }
            assert_eq!(at, text.len(), "{text:?}");
        }
    }
}
