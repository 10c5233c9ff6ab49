//! Tokens to syntax tree: a hand-written parser that never fails.
//!
//! Invariants:
//! - Any text gives a tree and messages; a declaration that cannot be read becomes one with an error body, and
//!   reading goes on at the next declaration.
//! - Nesting is limited to [`MAX_DEPTH`], so that neither this parser nor any later walk over the tree overflows the
//!   stack it is given (see [`crate::stack`]). `let`s that follow each other, and operators that group to the left, are
//!   no nesting: walks go along them in a loop, whatever their number.

mod dec;
mod exp;
mod literal;
mod module;
mod pat;
mod types;

use super::ast::*;
use super::lex::lex;
use super::token::{DocComment, Token, TokenKind};
use crate::habits;
use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;
use galopvm_base::{Diagnostic, FileId, Span};

/// How deep expressions, patterns and types may nest.
pub const MAX_DEPTH: u32 = 2500;

/// How many messages about one file are worth reading.
const MOST_MESSAGES: usize = 100;

/// A message has been given; the caller gives up its construct.
pub(super) struct Failed;

pub(super) type Parse<T> = Result<T, Failed>;

/// What parsing gave.
pub struct Parsed<'a, T> {
    /// The tree.
    pub tree: T,
    /// What was wrong.
    pub diagnostics: Vec<Diagnostic>,
    /// The first node number not used.
    pub next_id: u32,
    /// The arena's copy of the text.
    pub text: &'a str,
}

pub(super) struct Parser<'a> {
    arena: &'a Bump,
    text: &'a str,
    file: FileId,
    tokens: Vec<Token>,
    docs: Vec<DocComment>,
    /// Which documentation comments belong to a declaration.
    documented: Vec<bool>,
    /// How many module bodies are open.
    modules: u32,
    pos: usize,
    next_id: u32,
    depth: u32,
    diagnostics: Vec<Diagnostic>,
}

/// Parses a file. Node numbers start at `first_id`.
pub fn parse_prog<'a>(arena: &'a Bump, file: FileId, text: &str, first_id: u32) -> Parsed<'a, Prog<'a>> {
    let mut parser = Parser::new(arena, file, text, first_id);
    parser.doc_of_file();
    let decs = parser.decs_until_end();
    parser.refuse_stray_docs();
    parser.finish(Prog { decs })
}

/// Parses one expression that fills the whole text.
pub fn parse_expression<'a>(
    arena: &'a Bump,
    file: FileId,
    text: &str,
    first_id: u32,
) -> Parsed<'a, &'a Exp<'a>> {
    let mut parser = Parser::new(arena, file, text, first_id);
    let start = parser.peek().start;
    let exp = match parser.exp() {
        Ok(exp) => {
            if parser.kind() != TokenKind::End {
                let _ = parser.unexpected::<()>("the end of the expression");
            }
            exp
        }
        Err(Failed) => parser.error_exp(start),
    };
    parser.finish(exp)
}

/// Parses the module expression that stands at `start` of a file, with new node numbers: the body of a parametric
/// module, once for each application.
pub fn parse_module_at<'a>(
    arena: &'a Bump,
    file: FileId,
    text: &str,
    start: u32,
    first_id: u32,
) -> Parsed<'a, Option<&'a ModExp<'a>>> {
    let mut parser = Parser::new(arena, file, text, first_id);
    while parser.peek().start < start && !parser.at(TokenKind::End) {
        parser.bump();
    }
    let tree = parser.mod_exp().ok().map(|exp| &*arena.alloc(exp));
    parser.finish(tree)
}

/// The text of a type scheme, `[n] 'a (x: t) -> u`, as the table of intrinsics has it.
pub fn parse_scheme<'a>(
    arena: &'a Bump,
    file: FileId,
    text: &str,
    first_id: u32,
) -> Parsed<'a, Option<(&'a [TypeParam<'a>], &'a TypeExp<'a>)>> {
    let mut parser = Parser::new(arena, file, text, first_id);
    let scheme = parser.type_params().and_then(|params| {
        parser.expect(TokenKind::Colon)?;
        Ok((params, parser.type_exp()?))
    });
    parser.finish(scheme.ok())
}

impl<'a> Parser<'a> {
    fn new(arena: &'a Bump, file: FileId, text: &str, first_id: u32) -> Parser<'a> {
        // Spans are 32 bits wide; what lies beyond is cut off (and refused below).
        let (text, too_long) = match text.get(..u32::MAX as usize - 1) {
            Some(head) => (head, true),
            None => (text, false),
        };
        let text = arena.alloc_str(text);
        let (tokens, docs) = lex(text);
        let documented = vec![false; docs.len()];
        let mut parser = Parser {
            arena,
            text,
            file,
            tokens,
            docs,
            documented,
            modules: 0,
            pos: 0,
            next_id: first_id,
            depth: 0,
            diagnostics: Vec::new(),
        };
        if too_long {
            parser.report(Diagnostic::error(Span::new(file, 0, 0), "the file is longer than 4 GiB"));
        }
        parser
    }

    fn finish<T>(mut self, tree: T) -> Parsed<'a, T> {
        if let Some(next) = self.diagnostics.get(MOST_MESSAGES) {
            let text =
                format!("{} more messages about syntax follow", self.diagnostics.len() - MOST_MESSAGES);
            let rest = Diagnostic::error(next.span, text).with_label("the first of them is about this");
            self.diagnostics.truncate(MOST_MESSAGES);
            self.diagnostics.push(rest);
        }
        Parsed { tree, diagnostics: self.diagnostics, next_id: self.next_id, text: self.text }
    }

    fn peek(&self) -> Token {
        self.tokens[self.pos]
    }

    fn peek_at(&self, ahead: usize) -> Token {
        self.tokens[(self.pos + ahead).min(self.tokens.len() - 1)]
    }

    fn kind(&self) -> TokenKind {
        self.peek().kind
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    fn bump(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.pos += 1;
        }
        token
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// `[`, whether or not it touches what stands before.
    fn at_bracket(&self) -> bool {
        matches!(self.kind(), TokenKind::LBracket | TokenKind::IndexBracket)
    }

    fn slice(&self, token: Token) -> &'a str {
        &self.text[token.start as usize..token.end as usize]
    }

    fn span(&self, token: Token) -> Span {
        Span::new(self.file, token.start as usize, token.end as usize)
    }

    /// The span from byte `start` to the end of the last token read.
    fn since(&self, start: u32) -> Span {
        let end = if self.pos == 0 { start } else { self.tokens[self.pos - 1].end };
        Span::new(self.file, start as usize, end.max(start) as usize)
    }

    fn node(&mut self, span: Span) -> At {
        let id = NodeId(self.next_id);
        self.next_id += 1;
        At { span, id }
    }

    fn node_since(&mut self, start: u32) -> At {
        let span = self.since(start);
        self.node(span)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn fail<T>(&mut self, diagnostic: Diagnostic) -> Parse<T> {
        self.report(diagnostic);
        Err(Failed)
    }

    /// "Expected X, found Y" at the current token.
    fn unexpected<T>(&mut self, expected: &str) -> Parse<T> {
        let token = self.peek();
        let span = self.span(token);
        if token.kind == TokenKind::End {
            let label = format!("expected {expected}");
            return self
                .fail(Diagnostic::error(span, "Unexpected end of file").with_label(label).as_incomplete());
        }
        let found = self.slice(token);
        let mut diagnostic = Diagnostic::error(span, format!("Unexpected token: '{found}'"))
            .with_label(format!("expected {expected}"));
        if token.kind == TokenKind::Unknown {
            diagnostic = match found.chars().next() {
                Some('"') => {
                    Diagnostic::error(span, "Unclosed string literal").with_hint("close it with `\"`")
                }
                Some(';') => diagnostic,
                _ => Diagnostic::error(span, format!("`{found}` means nothing in Futhark")),
            };
        }
        if let Some(hint) = habits::of_token(found, expected) {
            diagnostic = diagnostic.with_hint(hint);
        }
        self.fail(diagnostic)
    }

    fn expect(&mut self, kind: TokenKind) -> Parse<Token> {
        if self.at(kind) { Ok(self.bump()) } else { self.unexpected(kind.describe()) }
    }

    /// A closing bracket; when it is missing, the opening one is shown.
    fn close(&mut self, kind: TokenKind, open: Token) -> Parse<Token> {
        if self.at(kind) {
            return Ok(self.bump());
        }
        let result = self.unexpected(kind.describe());
        let span = self.span(open);
        if let Some(last) = self.diagnostics.pop() {
            let mut last = last.with_place(span, "opened here");
            if kind == TokenKind::RParen && self.at(TokenKind::Ident) {
                // Expressions go on with a name: this is a pattern.
                last = last.with_hint("a parameter with its type is written `(x: i32)`");
            }
            self.report(last);
        }
        result
    }

    /// There are no tuples of one element.
    fn refuse_single(&mut self, items: usize, open: Token) {
        if items == 1 {
            let span = self.since(open.start);
            self.report(
                Diagnostic::error(span, "a tuple has no or at least two elements")
                    .with_hint("leave the comma out: parentheses alone change nothing"),
            );
        }
    }

    fn name(&mut self) -> Parse<Name<'a>> {
        let token = self.expect(TokenKind::Ident)?;
        Ok(self.name_of(token))
    }

    fn name_of(&mut self, token: Token) -> Name<'a> {
        let at = self.node(self.span(token));
        Name { text: self.slice(token), at }
    }

    /// `f` or `0`.
    fn field_name(&mut self) -> Parse<Name<'a>> {
        match self.kind() {
            TokenKind::Ident | TokenKind::Nat => {
                let token = self.bump();
                Ok(self.name_of(token))
            }
            _ => self.unexpected("a field name"),
        }
    }

    /// `m.n.x`
    fn qual_name(&mut self) -> Parse<QualName<'a>> {
        let mut parts = self.list();
        parts.push(self.name()?);
        while self.at(TokenKind::Dot) && self.peek_at(1).kind == TokenKind::Ident {
            self.bump();
            parts.push(self.name()?);
        }
        Ok(QualName { parts: parts.into_bump_slice() })
    }

    fn list<T>(&self) -> BumpVec<'a, T> {
        BumpVec::new_in(self.arena)
    }

    fn alloc<T>(&self, value: T) -> &'a T {
        self.arena.alloc(value)
    }

    fn exp_at(&mut self, start: u32, kind: ExpKind<'a>) -> &'a Exp<'a> {
        let at = self.node_since(start);
        self.alloc(Exp { at, kind })
    }

    fn error_exp(&mut self, start: u32) -> &'a Exp<'a> {
        self.exp_at(start, ExpKind::Error)
    }

    /// Runs `inner` one level deeper; refuses when that is too deep.
    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.too_deep(1)?;
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Fails if `more` further levels would be too deep.
    fn too_deep(&mut self, more: u32) -> Parse<()> {
        if self.depth + more <= MAX_DEPTH {
            return Ok(());
        }
        let span = self.span(self.peek());
        self.fail(
            Diagnostic::error(span, format!("this is nested more than {MAX_DEPTH} levels deep"))
                .with_hint("name parts of it with `let` in functions of their own"),
        )
    }
}
