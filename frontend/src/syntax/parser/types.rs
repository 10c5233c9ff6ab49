//! Type expressions, type parameters and type bindings.

use super::super::ast::*;
use super::super::token::TokenKind;
use super::{Parse, Parser};

impl<'a> Parser<'a> {
    fn type_at(&mut self, start: u32, kind: TypeExpKind<'a>) -> TypeExp<'a> {
        TypeExp { at: self.node_since(start), kind }
    }

    pub(super) fn type_exp(&mut self) -> Parse<&'a TypeExp<'a>> {
        self.deeper(|p| {
            let start = p.peek().start;
            if p.at(TokenKind::Question) {
                p.bump();
                let mut sizes = p.list();
                while p.at_bracket() {
                    let open = p.bump();
                    sizes.push(p.name()?);
                    p.close(TokenKind::RBracket, open)?;
                }
                p.expect(TokenKind::Dot)?;
                let inner = p.type_exp()?;
                let exists = p.type_at(start, TypeExpKind::Exists(sizes.into_bump_slice(), inner));
                return Ok(p.alloc(exists));
            }
            // `(x: t) -> u`
            if p.at(TokenKind::LParen)
                && p.peek_at(1).kind == TokenKind::Ident
                && p.peek_at(2).kind == TokenKind::Colon
            {
                let open = p.bump();
                let name = p.name()?;
                p.bump();
                let domain = p.type_exp()?;
                p.close(TokenKind::RParen, open)?;
                p.expect(TokenKind::Arrow)?;
                let result = p.type_exp()?;
                let arrow = p.type_at(start, TypeExpKind::Arrow(Some(name), domain, result));
                return Ok(p.alloc(arrow));
            }
            let term = p.type_term()?;
            if p.eat(TokenKind::Arrow) {
                let result = p.type_exp()?;
                let term = p.alloc(term);
                let arrow = p.type_at(start, TypeExpKind::Arrow(None, term, result));
                return Ok(p.alloc(arrow));
            }
            Ok(p.alloc(term))
        })
    }

    /// A type without a function arrow outside parentheses.
    pub(super) fn type_term(&mut self) -> Parse<TypeExp<'a>> {
        self.deeper(|p| {
            let start = p.peek().start;
            match p.kind() {
                TokenKind::Star => {
                    p.bump();
                    let inner = p.type_term()?;
                    let inner = p.alloc(inner);
                    Ok(p.type_at(start, TypeExpKind::Unique(inner)))
                }
                TokenKind::Constructor => {
                    let mut clauses = p.list();
                    loop {
                        let token = p.expect(TokenKind::Constructor)?;
                        let name = Name { text: &p.slice(token)[1..], at: p.node_since(token.start) };
                        let mut payload = p.list();
                        while p.starts_type_atom() {
                            payload.push(p.type_atom()?);
                        }
                        clauses.push((name, payload.into_bump_slice() as &[_]));
                        if !p.eat(TokenKind::Pipe) {
                            break;
                        }
                    }
                    Ok(p.type_at(start, TypeExpKind::Sum(clauses.into_bump_slice())))
                }
                _ => p.type_apply(),
            }
        })
    }

    fn type_apply(&mut self) -> Parse<TypeExp<'a>> {
        let start = self.peek().start;
        let mut head = self.type_atom()?;
        let mut count = 0;
        while self.starts_type_atom() {
            count += 1;
            self.too_deep(count)?;
            let arg = if self.at_bracket() {
                TypeArg::Size(self.size_exp()?)
            } else {
                let atom = self.type_atom()?;
                TypeArg::Type(self.alloc(atom))
            };
            let function = self.alloc(head);
            head = self.type_at(start, TypeExpKind::Apply(function, arg));
        }
        Ok(head)
    }

    fn starts_type_atom(&self) -> bool {
        matches!(
            self.kind(),
            TokenKind::Ident
                | TokenKind::LParen
                | TokenKind::LBrace
                | TokenKind::LBracket
                | TokenKind::IndexBracket
        )
    }

    pub(super) fn size_exp(&mut self) -> Parse<SizeExp<'a>> {
        let open = self.bump();
        let size = if self.at(TokenKind::RBracket) { None } else { Some(self.exp()?) };
        self.close(TokenKind::RBracket, open)?;
        Ok(SizeExp { at: self.node_since(open.start), size })
    }

    fn type_atom(&mut self) -> Parse<TypeExp<'a>> {
        let start = self.peek().start;
        match self.kind() {
            TokenKind::Ident => {
                let name = self.qual_name()?;
                Ok(self.type_at(start, TypeExpKind::Var(name)))
            }
            TokenKind::LParen => {
                let open = self.bump();
                let mut items = self.list();
                let mut comma = false;
                while !self.at(TokenKind::RParen) {
                    let item = self.type_exp()?;
                    items.push(*item);
                    comma = self.eat(TokenKind::Comma);
                    if !comma {
                        break;
                    }
                }
                self.close(TokenKind::RParen, open)?;
                if comma {
                    self.refuse_single(items.len(), open);
                }
                let kind = match items.len() {
                    1 if !comma => TypeExpKind::Parens(self.alloc(items[0])),
                    _ => TypeExpKind::Tuple(items.into_bump_slice()),
                };
                Ok(self.type_at(start, kind))
            }
            TokenKind::LBrace => {
                let open = self.bump();
                let mut fields = self.list();
                while !self.at(TokenKind::RBrace) {
                    let name = self.field_name()?;
                    self.expect(TokenKind::Colon)?;
                    fields.push((name, *self.type_exp()?));
                    if !self.eat(TokenKind::Comma) {
                        break;
                    }
                }
                self.close(TokenKind::RBrace, open)?;
                Ok(self.type_at(start, TypeExpKind::Record(fields.into_bump_slice())))
            }
            TokenKind::LBracket | TokenKind::IndexBracket => {
                let size = self.size_exp()?;
                let inner = self.type_term()?;
                let inner = self.alloc(inner);
                Ok(self.type_at(start, TypeExpKind::Array(size, inner)))
            }
            _ => self.unexpected("a type"),
        }
    }

    /// `[n] 'a ...`, as far as there are any.
    pub(super) fn type_params(&mut self) -> Parse<&'a [TypeParam<'a>]> {
        let mut params = self.list();
        loop {
            let lifted = match self.kind() {
                TokenKind::LBracket | TokenKind::IndexBracket => {
                    let open = self.bump();
                    params.push(TypeParam::Size(self.name()?));
                    self.close(TokenKind::RBracket, open)?;
                    continue;
                }
                TokenKind::Quote => Lifted::No,
                TokenKind::QuoteTilde => Lifted::Size,
                TokenKind::QuoteHat => Lifted::Full,
                _ => break,
            };
            self.bump();
            params.push(TypeParam::Type(lifted, self.name()?));
        }
        Ok(params.into_bump_slice())
    }

    pub(super) fn lifted(&mut self) -> Lifted {
        if self.eat(TokenKind::Tilde) {
            Lifted::Size
        } else if self.eat(TokenKind::Hat) {
            Lifted::Full
        } else {
            Lifted::No
        }
    }

    pub(super) fn type_bind(&mut self) -> Parse<&'a TypeBind<'a>> {
        self.expect(TokenKind::Type)?;
        let lifted = self.lifted();
        let name = self.name()?;
        let params = self.type_params()?;
        self.expect(TokenKind::Equals)?;
        let def = self.type_exp()?;
        Ok(self.alloc(TypeBind { name, lifted, params, def }))
    }
}
