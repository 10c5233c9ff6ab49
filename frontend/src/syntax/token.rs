//! Source text to tokens.
//!
//! The lexer never fails: text that is no token becomes [`TokenKind::Unknown`]. Three decisions need a look
//! behind: `a[` is an index but `a [` is not, a number after a dot is a field (`t.0.1`), and `m.+` is one
//! qualified operator.

use logos::Logos;

/// A token with the bytes it covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What.
    pub kind: TokenKind,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A documentation comment, kept beside the tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DocComment {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// The kinds of token.
#[allow(missing_docs, reason = "the patterns say what they are")]
#[derive(Logos, Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[logos(skip r"[ \t\r\n\x0B\x0C]+")]
pub enum TokenKind {
    #[regex(r"--[^\n]*", priority = 20, allow_greedy = true)]
    Comment,
    #[regex(r"[a-zA-Z][a-zA-Z0-9_']*|_[a-zA-Z0-9][a-zA-Z0-9_']*")]
    Ident,
    #[regex(r"#[a-zA-Z][a-zA-Z0-9_']*|#_[a-zA-Z0-9][a-zA-Z0-9_']*")]
    Constructor,
    /// Digits only: an integer, or a field name after a dot.
    #[regex(r"[0-9][0-9_]*", priority = 6)]
    Nat,
    #[regex(r"([0-9][0-9_]*|0[xX][0-9a-fA-F][0-9a-fA-F_]*|0[bB][01][01_]*|0[rR][IVXLCDM][IVXLCDM_]*)([iu](8|16|32|64))", priority = 8)]
    #[regex(r"0[xX][0-9a-fA-F][0-9a-fA-F_]*|0[bB][01][01_]*|0[rR][IVXLCDM][IVXLCDM_]*", priority = 7)]
    Int,
    #[regex(r"[0-9][0-9_]*\.[0-9][0-9_]*([eE][+-]?[0-9]+)?(f16|f32|f64)?", priority = 9)]
    #[regex(r"[0-9][0-9_]*[eE][+-]?[0-9]+(f16|f32|f64)?", priority = 9)]
    #[regex(r"[0-9][0-9_]*(f16|f32|f64)", priority = 9)]
    #[regex(
        r"0[xX][0-9a-fA-F][0-9a-fA-F_]*\.[0-9a-fA-F][0-9a-fA-F_]*[pP][+-]?[0-9_]+(f16|f32|f64)?",
        priority = 10
    )]
    Float,
    #[regex(r#""([^"\\\n]|\\[^\n])*""#)]
    String,
    #[regex(r"'([^'\\\n]|\\([^0-9\n]|[0-9]+))'", priority = 12)]
    Char,
    #[regex(r"[+\-*/%=!><|&^][+\-*/%=!><|&^.]*", priority = 3)]
    Op,
    /// `m.+`: made from its parts.
    QualOp,
    #[token("=", priority = 10)]
    Equals,
    #[token("-", priority = 10)]
    Minus,
    #[token("!", priority = 10)]
    Bang,
    #[token("*", priority = 10)]
    Star,
    #[token("<", priority = 10)]
    Less,
    #[token("^", priority = 10)]
    Hat,
    #[token("|", priority = 10)]
    Pipe,
    #[token("->", priority = 10)]
    Arrow,
    #[token("~")]
    Tilde,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    /// A `[` right after a name, `)` or `]`.
    IndexBracket,
    #[token("]")]
    RBracket,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token("#[")]
    HashBracket,
    #[token(",")]
    Comma,
    #[token("_")]
    Underscore,
    #[token("\\")]
    Backslash,
    #[token("'")]
    Quote,
    #[token("'^", priority = 10)]
    QuoteHat,
    #[token("'~", priority = 10)]
    QuoteTilde,
    #[token("`")]
    Backtick,
    #[token(":")]
    Colon,
    #[token(":>")]
    ColonGreater,
    #[token("?")]
    Question,
    #[token("???")]
    Hole,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    #[token("...")]
    DotDotDot,
    #[token("..<")]
    DotDotLess,
    #[token("..>")]
    DotDotGreater,
    #[token("if")]
    If,
    #[token("then")]
    Then,
    #[token("else")]
    Else,
    #[token("let")]
    Let,
    #[token("def")]
    Def,
    #[token("loop")]
    Loop,
    #[token("in")]
    In,
    #[token("match")]
    Match,
    #[token("case")]
    Case,
    #[token("for")]
    For,
    #[token("do")]
    Do,
    #[token("with")]
    With,
    #[token("assert")]
    Assert,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("while")]
    While,
    #[token("include")]
    Include,
    #[token("import")]
    Import,
    #[token("type")]
    Type,
    #[token("entry")]
    Entry,
    #[token("module")]
    Module,
    #[token("val")]
    Val,
    #[token("open")]
    Open,
    #[token("local")]
    Local,
    /// Text that is no token.
    Unknown,
    /// The end of the text.
    End,
}

impl TokenKind {
    /// How messages call it.
    pub fn describe(self) -> &'static str {
        match self {
            TokenKind::Ident => "a name",
            TokenKind::Constructor => "a constructor",
            TokenKind::Nat | TokenKind::Int | TokenKind::Float => "a number",
            TokenKind::String => "a string",
            TokenKind::Char => "a character",
            TokenKind::Op | TokenKind::QualOp => "an operator",
            TokenKind::Equals => "`=`",
            TokenKind::Arrow => "`->`",
            TokenKind::LParen => "`(`",
            TokenKind::RParen => "`)`",
            TokenKind::LBracket | TokenKind::IndexBracket => "`[`",
            TokenKind::RBracket => "`]`",
            TokenKind::LBrace => "`{`",
            TokenKind::RBrace => "`}`",
            TokenKind::Comma => "`,`",
            TokenKind::Colon => "`:`",
            TokenKind::Less => "`<`",
            TokenKind::Dot => "`.`",
            TokenKind::Minus | TokenKind::Bang | TokenKind::Star | TokenKind::Hat | TokenKind::Pipe => {
                "an operator"
            }
            TokenKind::Underscore => "`_`",
            TokenKind::HashBracket => "`#[`",
            TokenKind::Type => "`type`",
            TokenKind::Module => "`module`",
            TokenKind::Backtick => "a backtick",
            TokenKind::Then => "`then`",
            TokenKind::Else => "`else`",
            TokenKind::In => "`in`",
            TokenKind::Do => "`do`",
            TokenKind::Case => "`case`",
            TokenKind::End => "the end of the input",
            _ => "a token",
        }
    }
}

/// All tokens of a text, ending in exactly one [`TokenKind::End`], and its documentation comments.
pub fn lex(text: &str) -> (Vec<Token>, Vec<DocComment>) {
    let mut tokens: Vec<Token> = Vec::with_capacity(text.len() / 3);
    let mut docs: Vec<DocComment> = Vec::new();
    let mut base = 0;
    let mut lexer = TokenKind::lexer(text);
    let bytes = text.as_bytes();
    let mut in_doc = false;
    while let Some(result) = lexer.next() {
        let span = lexer.span();
        let (start, mut end) = (base + span.start, base + span.end);
        let mut kind = result.unwrap_or(TokenKind::Unknown);
        match kind {
            TokenKind::Comment => {
                let opens = bytes[start..end].starts_with(b"-- |");
                let goes_on =
                    in_doc && docs.last().is_some_and(|d| only_one_newline(bytes, d.end as usize, start));
                if goes_on && let Some(doc) = docs.last_mut() {
                    doc.end = end as u32;
                } else if opens {
                    docs.push(DocComment { start: start as u32, end: end as u32 });
                }
                in_doc = opens || goes_on;
                continue;
            }
            TokenKind::LBracket
                if start > 0
                    && matches!(bytes[start - 1], b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'\'' | b')' | b']') =>
            {
                kind = TokenKind::IndexBracket;
            }
            TokenKind::Float
                if tokens.last().is_some_and(|t| t.kind == TokenKind::Dot && t.end as usize == start) =>
            {
                // `t.0.1`: after a dot only the digits belong to the field.
                let digits = bytes[start..end].iter().take_while(|b| b.is_ascii_digit()).count();
                kind = TokenKind::Nat;
                end = start + digits;
                base = end;
                lexer = TokenKind::lexer(&text[end..]);
            }
            _ => {}
        }
        in_doc = false;
        let mut token = Token { kind, start: start as u32, end: end as u32 };
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
}
