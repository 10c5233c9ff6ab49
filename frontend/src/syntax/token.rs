//! The tokens of a source text.

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
#[allow(missing_docs, reason = "the scanner says what they are")]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TokenKind {
    Ident,
    Constructor,
    /// Digits only: an integer, or a field name after a dot.
    Nat,
    Int,
    Float,
    String,
    Char,
    Op,
    /// `m.+`: made from its parts.
    QualOp,
    Equals,
    Minus,
    Bang,
    Star,
    Less,
    Hat,
    Pipe,
    Arrow,
    Tilde,
    LParen,
    RParen,
    LBracket,
    /// A `[` right after a name, `)` or `]`.
    IndexBracket,
    RBracket,
    LBrace,
    RBrace,
    HashBracket,
    Comma,
    Underscore,
    Backslash,
    Quote,
    QuoteHat,
    QuoteTilde,
    Backtick,
    Colon,
    ColonGreater,
    Question,
    Hole,
    Dot,
    DotDot,
    DotDotDot,
    DotDotLess,
    DotDotGreater,
    If,
    Then,
    Else,
    Let,
    Def,
    Loop,
    In,
    Match,
    Case,
    For,
    Do,
    With,
    Assert,
    True,
    False,
    While,
    Include,
    Import,
    Type,
    Entry,
    Module,
    Val,
    Open,
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
