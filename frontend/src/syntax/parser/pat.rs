//! Patterns: the full form, and the restricted form that parameters have.

use super::super::ast::*;
use super::super::token::TokenKind;
use super::{Parse, Parser};

impl<'a> Parser<'a> {
    fn pat_at(&mut self, start: u32, kind: PatKind<'a>) -> Pat<'a> {
        Pat { at: self.node_since(start), kind }
    }

    pub(super) fn starts_param(&self) -> bool {
        matches!(
            self.kind(),
            TokenKind::Ident
                | TokenKind::Underscore
                | TokenKind::LParen
                | TokenKind::LBrace
                | TokenKind::Constructor
                | TokenKind::Nat
                | TokenKind::Int
                | TokenKind::Float
                | TokenKind::Char
                | TokenKind::True
                | TokenKind::False
        )
    }

    /// A pattern that may be ascribed: `p: t`, `#c p`.
    pub(super) fn pat(&mut self) -> Parse<Pat<'a>> {
        self.deeper(|p| {
            let start = p.peek().start;
            if p.at(TokenKind::HashBracket) {
                let attr = p.attr_brackets()?;
                let inner = p.pat()?;
                let inner = p.alloc(inner);
                return Ok(p.pat_at(start, PatKind::Attr(attr, inner)));
            }
            if p.at(TokenKind::Constructor) {
                let token = p.bump();
                let name = &p.slice(token)[1..];
                let mut args = p.list();
                while p.starts_param() || p.at(TokenKind::Minus) {
                    args.push(p.inner_pat()?);
                }
                let constr = p.pat_at(start, PatKind::Constr(name, args.into_bump_slice()));
                if p.at(TokenKind::Colon) && matches!(constr.kind, PatKind::Constr(_, [])) {
                    p.bump();
                    let ty = p.type_exp()?;
                    let constr = p.alloc(constr);
                    return Ok(p.pat_at(start, PatKind::Ascript(constr, ty)));
                }
                return Ok(constr);
            }
            let inner = p.inner_pat()?;
            if p.eat(TokenKind::Colon) {
                let ty = p.type_exp()?;
                let inner = p.alloc(inner);
                return Ok(p.pat_at(start, PatKind::Ascript(inner, ty)));
            }
            Ok(inner)
        })
    }

    /// A parameter: no negative literal, no bare ascription.
    pub(super) fn param_pat(&mut self) -> Parse<Pat<'a>> {
        self.inner_pat()
    }

    fn inner_pat(&mut self) -> Parse<Pat<'a>> {
        let start = self.peek().start;
        match self.kind() {
            TokenKind::Ident => {
                let token = self.bump();
                let name = self.slice(token);
                Ok(self.pat_at(start, PatKind::Id(name)))
            }
            TokenKind::Underscore => {
                self.bump();
                Ok(self.pat_at(start, PatKind::Wildcard))
            }
            TokenKind::Constructor => {
                let token = self.bump();
                let name = &self.slice(token)[1..];
                Ok(self.pat_at(start, PatKind::Constr(name, &[])))
            }
            TokenKind::LParen => {
                let open = self.bump();
                if self.at_closed_op() {
                    let name = self.binding_op()?;
                    self.close(TokenKind::RParen, open)?;
                    return Ok(self.pat_at(start, PatKind::Id(name.text)));
                }
                let mut items = self.list();
                let mut comma = false;
                while !self.at(TokenKind::RParen) {
                    items.push(self.pat()?);
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
                    1 if !comma => PatKind::Parens(self.alloc(items[0])),
                    _ => PatKind::Tuple(items.into_bump_slice()),
                };
                Ok(self.pat_at(start, kind))
            }
            TokenKind::LBrace => {
                let open = self.bump();
                let mut fields = self.list();
                while !self.at(TokenKind::RBrace) {
                    let name = self.field_name()?;
                    let pat = if self.eat(TokenKind::Equals) {
                        self.pat()?
                    } else {
                        let id = Pat { at: name.at, kind: PatKind::Id(name.text) };
                        if self.eat(TokenKind::Colon) {
                            let ty = self.type_exp()?;
                            let id = self.alloc(id);
                            self.pat_at(name.at.span.start, PatKind::Ascript(id, ty))
                        } else {
                            id
                        }
                    };
                    fields.push((name, pat));
                    if !self.eat(TokenKind::Comma) {
                        break;
                    }
                }
                self.close(TokenKind::RBrace, open)?;
                Ok(self.pat_at(start, PatKind::Record(fields.into_bump_slice())))
            }
            TokenKind::Minus => {
                self.bump();
                match self.kind() {
                    TokenKind::Nat | TokenKind::Int | TokenKind::Float => {}
                    _ => return self.unexpected("a number"),
                }
                let number = self.number()?;
                let negated = self.exp_at(start, ExpKind::Negate(number));
                Ok(self.pat_at(start, PatKind::Lit(negated)))
            }
            TokenKind::Nat
            | TokenKind::Int
            | TokenKind::Float
            | TokenKind::Char
            | TokenKind::True
            | TokenKind::False => {
                let literal = self.atom()?;
                Ok(self.pat_at(start, PatKind::Lit(literal)))
            }
            _ => self.unexpected("a pattern"),
        }
    }
}
