//! Modules, module types and specifications.

use super::super::ast::*;
use super::super::token::TokenKind;
use super::{Failed, Parse, Parser};

impl<'a> Parser<'a> {
    /// `module m ...` or `module type mt = ...`.
    pub(super) fn module_dec(&mut self) -> Parse<DecKind<'a>> {
        self.expect(TokenKind::Module)?;
        if self.eat(TokenKind::Type) {
            let name = self.name()?;
            self.expect(TokenKind::Equals)?;
            let def = self.mod_type()?;
            return Ok(DecKind::ModType { name, def: self.alloc(def) });
        }
        let name = self.name()?;
        let mut params = self.list();
        while self.at(TokenKind::LParen) {
            params.push(self.mod_param()?);
        }
        let sig = if self.eat(TokenKind::Colon) {
            let sig = self.mod_type()?;
            Some(self.alloc(sig))
        } else {
            None
        };
        self.expect(TokenKind::Equals)?;
        let def = self.mod_exp()?;
        let bind = ModBind { name, params: params.into_bump_slice(), sig, def: self.alloc(def) };
        Ok(DecKind::Module(self.alloc(bind)))
    }

    fn mod_param(&mut self) -> Parse<(Name<'a>, ModTypeExp<'a>)> {
        let open = self.expect(TokenKind::LParen)?;
        let name = self.name()?;
        self.expect(TokenKind::Colon)?;
        let sig = self.mod_type()?;
        self.close(TokenKind::RParen, open)?;
        Ok((name, sig))
    }

    fn mod_at(&mut self, start: u32, kind: ModExpKind<'a>) -> ModExp<'a> {
        ModExp { at: self.node_since(start), kind }
    }

    pub(super) fn mod_exp(&mut self) -> Parse<ModExp<'a>> {
        self.deeper(|p| {
            let start = p.peek().start;
            let mut exp = match p.kind() {
                TokenKind::Backslash => {
                    p.bump();
                    let (name, sig) = p.mod_param()?;
                    let result = if p.eat(TokenKind::Colon) {
                        let inner_start = p.peek().start;
                        let kind = match p.kind() {
                            TokenKind::LParen => {
                                let open = p.bump();
                                let inner = p.mod_type()?;
                                p.close(TokenKind::RParen, open)?;
                                ModTypeExpKind::Parens(p.alloc(inner))
                            }
                            _ => ModTypeExpKind::Var(p.qual_name()?),
                        };
                        let at = p.node_since(inner_start);
                        Some(p.alloc(ModTypeExp { at, kind }))
                    } else {
                        None
                    };
                    p.expect(TokenKind::Arrow)?;
                    let body = p.mod_exp()?;
                    let kind = ModExpKind::Lambda(name, p.alloc(sig), result, p.alloc(body));
                    p.mod_at(start, kind)
                }
                TokenKind::Import => {
                    p.bump();
                    let file = p.string_text()?;
                    p.mod_at(start, ModExpKind::Import(file))
                }
                _ => {
                    let mut head = p.mod_atom()?;
                    let mut count = 0;
                    while matches!(p.kind(), TokenKind::LParen | TokenKind::Ident | TokenKind::LBrace) {
                        count += 1;
                        p.too_deep(count)?;
                        let arg = p.mod_atom()?;
                        let kind = ModExpKind::Apply(p.alloc(head), p.alloc(arg));
                        head = p.mod_at(start, kind);
                    }
                    head
                }
            };
            let mut count = 0;
            while p.eat(TokenKind::Colon) {
                count += 1;
                p.too_deep(count)?;
                let sig = p.mod_type()?;
                let kind = ModExpKind::Ascript(p.alloc(exp), p.alloc(sig));
                exp = p.mod_at(start, kind);
            }
            Ok(exp)
        })
    }

    fn mod_atom(&mut self) -> Parse<ModExp<'a>> {
        let start = self.peek().start;
        match self.kind() {
            TokenKind::LParen => {
                let open = self.bump();
                let inner = self.mod_exp()?;
                self.close(TokenKind::RParen, open)?;
                let inner = self.alloc(inner);
                Ok(self.mod_at(start, ModExpKind::Parens(inner)))
            }
            TokenKind::Ident => {
                let name = self.qual_name()?;
                Ok(self.mod_at(start, ModExpKind::Var(name)))
            }
            TokenKind::LBrace => {
                let open = self.bump();
                let mut decs = self.list();
                self.modules += 1;
                let read = self.deeper(|p| {
                    while !matches!(p.kind(), TokenKind::RBrace | TokenKind::End) {
                        if let Some(dec) = p.dec_or_recover() {
                            decs.push(dec);
                        }
                    }
                    Ok(())
                });
                self.modules -= 1;
                read?;
                self.close(TokenKind::RBrace, open)?;
                let decs = decs.into_bump_slice();
                Ok(self.mod_at(start, ModExpKind::Decs(decs)))
            }
            _ => self.unexpected("a module"),
        }
    }

    fn sig_at(&mut self, start: u32, kind: ModTypeExpKind<'a>) -> ModTypeExp<'a> {
        ModTypeExp { at: self.node_since(start), kind }
    }

    pub(super) fn mod_type(&mut self) -> Parse<ModTypeExp<'a>> {
        self.deeper(|p| {
            let start = p.peek().start;
            let named = p.at(TokenKind::LParen)
                && p.peek_at(1).kind == TokenKind::Ident
                && p.peek_at(2).kind == TokenKind::Colon;
            if named {
                let (name, domain) = p.mod_param()?;
                p.expect(TokenKind::Arrow)?;
                let result = p.mod_type()?;
                let kind = ModTypeExpKind::Arrow(Some(name), p.alloc(domain), p.alloc(result));
                return Ok(p.sig_at(start, kind));
            }
            let mut sig = match p.kind() {
                TokenKind::Ident => {
                    let name = p.qual_name()?;
                    p.sig_at(start, ModTypeExpKind::Var(name))
                }
                TokenKind::LParen => {
                    let open = p.bump();
                    let inner = p.mod_type()?;
                    p.close(TokenKind::RParen, open)?;
                    let inner = p.alloc(inner);
                    p.sig_at(start, ModTypeExpKind::Parens(inner))
                }
                TokenKind::LBrace => {
                    let open = p.bump();
                    let mut specs = p.list();
                    while !matches!(p.kind(), TokenKind::RBrace | TokenKind::End) {
                        let before = p.pos;
                        match p.spec() {
                            Ok(spec) => specs.push(spec),
                            Err(Failed) => {
                                if p.pos == before {
                                    p.bump();
                                }
                                while !matches!(p.kind(), TokenKind::RBrace | TokenKind::End | TokenKind::Val)
                                {
                                    p.bump();
                                }
                            }
                        }
                    }
                    p.close(TokenKind::RBrace, open)?;
                    let specs = specs.into_bump_slice();
                    p.sig_at(start, ModTypeExpKind::Specs(specs))
                }
                _ => return p.unexpected("a module type"),
            };
            let mut count = 0;
            loop {
                count += 1;
                p.too_deep(count)?;
                if p.eat(TokenKind::With) {
                    let name = p.qual_name()?;
                    let params = p.type_params()?;
                    p.expect(TokenKind::Equals)?;
                    let def = p.type_exp()?;
                    let kind = ModTypeExpKind::With(p.alloc(sig), name, params, def);
                    sig = p.sig_at(start, kind);
                } else if p.eat(TokenKind::Arrow) {
                    let result = p.mod_type()?;
                    let kind = ModTypeExpKind::Arrow(None, p.alloc(sig), p.alloc(result));
                    return Ok(p.sig_at(start, kind));
                } else {
                    return Ok(sig);
                }
            }
        })
    }

    fn spec(&mut self) -> Parse<Spec<'a>> {
        let start = self.peek().start;
        self.doc_before();
        let mut attrs = self.list();
        while self.at(TokenKind::HashBracket) {
            attrs.push(self.attr_brackets()?);
        }
        let kind = match self.kind() {
            TokenKind::Val => {
                self.bump();
                let name = if self.at(TokenKind::LParen) {
                    let open = self.bump();
                    let name = self.binding_op()?;
                    self.close(TokenKind::RParen, open)?;
                    name
                } else if self.at_binding_op() {
                    self.binding_op()?
                } else {
                    self.name()?
                };
                let params = self.type_params()?;
                self.expect(TokenKind::Colon)?;
                SpecKind::Val(name, params, self.type_exp()?)
            }
            TokenKind::Type => {
                self.bump();
                let lifted = self.lifted();
                let name = self.name()?;
                let params = self.type_params()?;
                if self.eat(TokenKind::Equals) {
                    let def = self.type_exp()?;
                    SpecKind::TypeAbbr(self.alloc(TypeBind { name, lifted, params, def }))
                } else {
                    SpecKind::Type(lifted, name, params)
                }
            }
            TokenKind::Module => {
                self.bump();
                let name = self.name()?;
                self.expect(TokenKind::Colon)?;
                let sig = self.mod_type()?;
                SpecKind::Module(name, self.alloc(sig))
            }
            TokenKind::Include => {
                self.bump();
                let sig = self.mod_type()?;
                SpecKind::Include(self.alloc(sig))
            }
            _ => return self.unexpected("`val`, `type`, `module` or `include`"),
        };
        Ok(Spec { at: self.node_since(start), attrs: attrs.into_bump_slice(), kind })
    }
}
