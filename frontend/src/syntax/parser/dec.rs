//! Declarations, and recovery between them.

use super::super::ast::*;
use super::super::token::{Token, TokenKind};
use super::{Failed, Parse, Parser};
use galopvm_base::{Diagnostic, Span};

impl<'a> Parser<'a> {
    pub(super) fn decs_until_end(&mut self) -> &'a [Dec<'a>] {
        let mut decs = self.list();
        while !self.at(TokenKind::End) {
            if let Some(dec) = self.dec_or_recover() {
                decs.push(dec);
            }
        }
        decs.into_bump_slice()
    }

    /// A declaration; after an error, everything up to the next one is skipped.
    pub(super) fn dec_or_recover(&mut self) -> Option<Dec<'a>> {
        let before = self.pos;
        match self.dec() {
            Ok(dec) => Some(dec),
            Err(Failed) => {
                if self.pos == before {
                    self.bump();
                }
                self.skip_to_dec();
                None
            }
        }
    }

    fn starts_line(&self, token: Token) -> bool {
        token.start == 0 || self.text.as_bytes().get(token.start as usize - 1) == Some(&b'\n')
    }

    /// True if only blanks stand before it in its line.
    fn first_in_line(&self, token: Token) -> bool {
        let before = &self.text[..token.start as usize];
        before.trim_end_matches([' ', '\t', '\r']).bytes().next_back().is_none_or(|b| b == b'\n')
    }

    /// Skips to a token that begins a declaration. `let` and attributes also occur inside declarations, so they
    /// count only at the beginning of a line; `}` only where a module body is open.
    pub(super) fn skip_to_dec(&mut self) {
        loop {
            let token = self.peek();
            let found = match token.kind {
                TokenKind::End | TokenKind::Def | TokenKind::Entry => true,
                TokenKind::Let | TokenKind::HashBracket => self.starts_line(token),
                TokenKind::RBrace => self.modules > 0 && self.first_in_line(token),
                TokenKind::Type
                | TokenKind::Module
                | TokenKind::Import
                | TokenKind::Open
                | TokenKind::Local => self.first_in_line(token),
                _ => false,
            };
            if found {
                return;
            }
            self.bump();
        }
    }

    /// The documentation comment right before the token here, which begins a declaration or specification.
    pub(super) fn doc_before(&mut self) -> Doc<'a> {
        let from = if self.pos == 0 { 0 } else { self.tokens[self.pos - 1].end };
        let start = self.peek().start;
        let after = self.docs.partition_point(|d| d.end <= start);
        let Some(index) = after.checked_sub(1).filter(|i| self.docs[*i].start >= from) else {
            return Doc(None);
        };
        self.documented[index] = true;
        Doc(Some(&self.text[self.docs[index].start as usize..self.docs[index].end as usize]))
    }

    /// The first of two documentation comments before the first declaration belongs to the file.
    pub(super) fn doc_of_file(&mut self) {
        let start = self.peek().start;
        if !self.at(TokenKind::End) && self.docs.get(1).is_some_and(|second| second.end <= start) {
            self.documented[0] = true;
        }
    }

    /// A documentation comment that documents nothing is an error (if the rest could be read).
    pub(super) fn refuse_stray_docs(&mut self) {
        if galopvm_base::diagnostic::has_errors(&self.diagnostics) {
            return;
        }
        for (index, doc) in self.docs.clone().into_iter().enumerate() {
            if !self.documented[index] {
                let span = Span::new(self.file, doc.start as usize, doc.end as usize);
                self.report(
                    Diagnostic::error(
                        span,
                        "Documentation comments ('-- |') are only permitted when preceding declarations",
                    )
                    .with_hint("an ordinary comment begins with `--` and no `|`"),
                );
            }
        }
    }

    pub(super) fn dec(&mut self) -> Parse<Dec<'a>> {
        let start = self.peek().start;
        let doc = self.doc_before();
        let mut attrs = self.list();
        while self.at(TokenKind::HashBracket) {
            attrs.push(self.attr_brackets()?);
        }
        let kind = match self.kind() {
            TokenKind::Def | TokenKind::Entry | TokenKind::Let => self.val_bind()?,
            TokenKind::Type => DecKind::Type(self.type_bind()?),
            TokenKind::Module => self.module_dec()?,
            TokenKind::Open => {
                self.bump();
                let module = self.mod_exp()?;
                DecKind::Open(self.alloc(module))
            }
            TokenKind::Import => {
                self.bump();
                DecKind::Import(self.string_text()?)
            }
            TokenKind::Local => {
                self.bump();
                let inner = self.deeper(Self::dec)?;
                DecKind::Local(self.alloc(inner))
            }
            _ => {
                let result = self.unexpected("a declaration");
                if self.at(TokenKind::Ident)
                    && let Some(last) = self.diagnostics.pop()
                {
                    self.report(
                        last.with_hint("a declaration begins with `def`, `entry`, `type` or `module`"),
                    );
                }
                return result;
            }
        };
        Ok(Dec { at: self.node_since(start), doc, attrs: attrs.into_bump_slice(), kind })
    }

    fn val_bind(&mut self) -> Parse<DecKind<'a>> {
        let start = self.bump();
        let keyword = if start.kind == TokenKind::Entry { ValKeyword::Entry } else { ValKeyword::Def };
        if keyword == ValKeyword::Def && self.defines_infix() {
            // `def x +++ y = ...`
            let left = self.param_pat()?;
            let name = self.binding_op()?;
            let right = self.param_pat()?;
            let params = self.arena.alloc_slice_copy(&[left, right]);
            let (result, body) = self.val_rest(false)?;
            return Ok(DecKind::Val(self.alloc(ValBind {
                keyword,
                name,
                type_params: &[],
                params,
                result,
                body,
            })));
        }
        let name = match self.kind() {
            TokenKind::LParen => {
                let open = self.bump();
                let name = self.binding_op();
                if name.is_err() {
                    self.diagnostics.pop();
                    let span = self.since(open.start);
                    return self.fail(
                        Diagnostic::error(span, "a pattern cannot be bound at top level")
                            .with_hint("bind one name and take it apart with `.0`, `.1`, ..."),
                    );
                }
                self.close(TokenKind::RParen, open)?;
                name?
            }
            _ => self.name()?,
        };
        let type_params = self.type_params()?;
        let params = self.params()?;
        let (result, body) = self.val_rest(true)?;
        Ok(DecKind::Val(self.alloc(ValBind { keyword, name, type_params, params, result, body })))
    }

    /// True before `p op q`: a parameter followed by an operator.
    fn defines_infix(&self) -> bool {
        let mut index = self.pos;
        match self.tokens[index].kind {
            TokenKind::LParen | TokenKind::LBrace => {
                let mut depth = 0usize;
                loop {
                    match self.tokens[index].kind {
                        TokenKind::LParen | TokenKind::LBrace => depth += 1,
                        // A closer of the other kind is found when the parameter is read.
                        TokenKind::RParen | TokenKind::RBrace => depth -= 1,
                        TokenKind::End => return false,
                        _ => {}
                    }
                    index += 1;
                    if depth == 0 {
                        break;
                    }
                }
            }
            _ if self.starts_param() => index += 1,
            _ => return false,
        }
        match self.tokens[index].kind {
            TokenKind::Op
            | TokenKind::Bang
            | TokenKind::Minus
            | TokenKind::Star
            | TokenKind::Less
            | TokenKind::Hat
            | TokenKind::Pipe
            | TokenKind::Backtick => true,
            // `def (+) x = ..` was caught by the parenthesis; `def x (+) = ` is a parameter.
            _ => false,
        }
    }

    /// `: t = e`. The body of a declaration that cannot be read becomes an error node.
    pub(super) fn val_rest(&mut self, recover: bool) -> Parse<(Option<&'a TypeExp<'a>>, &'a Exp<'a>)> {
        let result = if self.eat(TokenKind::Colon) { Some(self.type_exp()?) } else { None };
        if !self.at(TokenKind::Equals) {
            return self.unexpected("a parameter, `:` or `=`");
        }
        self.bump();
        let start = self.peek().start;
        let body = match self.exp() {
            Ok(body) => body,
            Err(Failed) if recover => {
                self.skip_to_dec();
                self.error_exp(start)
            }
            Err(Failed) => return Err(Failed),
        };
        Ok((result, body))
    }

    /// Parameters as far as there are any.
    pub(super) fn params(&mut self) -> Parse<&'a [Pat<'a>]> {
        let mut params = self.list();
        while self.starts_param() {
            params.push(self.param_pat()?);
        }
        Ok(params.into_bump_slice())
    }

    pub(super) fn attr_brackets(&mut self) -> Parse<Attr<'a>> {
        let open = self.expect(TokenKind::HashBracket)?;
        let attr = self.attr()?;
        self.close(TokenKind::RBracket, open)?;
        Ok(attr)
    }

    fn attr(&mut self) -> Parse<Attr<'a>> {
        self.deeper(|p| {
            let token = match p.kind() {
                TokenKind::Ident | TokenKind::Nat | TokenKind::Int => p.bump(),
                _ => return p.unexpected("the name of an attribute"),
            };
            let mut args = None;
            if token.kind == TokenKind::Ident && p.at(TokenKind::LParen) {
                let open = p.bump();
                let mut items = p.list();
                while !p.at(TokenKind::RParen) {
                    items.push(p.attr()?);
                    if !p.eat(TokenKind::Comma) {
                        break;
                    }
                }
                p.close(TokenKind::RParen, open)?;
                args = Some(items.into_bump_slice() as &[_]);
            }
            Ok(Attr { name: p.slice(token), args, at: p.node_since(token.start) })
        })
    }

    /// The text of a string literal, without quotes and escapes.
    pub(super) fn string_text(&mut self) -> Parse<&'a str> {
        let token = self.expect(TokenKind::String)?;
        let (bytes, _) = self.string_bytes(token);
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(_) => {
                let span = self.span(token);
                self.fail(Diagnostic::error(span, "this is not UTF-8"))
            }
        }
    }
}
