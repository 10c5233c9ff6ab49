//! Expressions: operator precedence, application, sections, and the binding forms.

use super::super::ast::*;
use super::super::token::{Token, TokenKind};
use super::literal::unescape;
use super::{Parse, Parser};
use galopvm_base::{Diagnostic, Scalar};

/// Binding strength of the infix forms, loosest first.
mod level {
    pub const RANGE: u8 = 1;
    pub const BACKTICK: u8 = 2;
    pub const WITH: u8 = 3;
    /// What the right side of `with .. =` takes in.
    pub const EQUALS: u8 = 4;
    pub const PIPE_RIGHT: u8 = 5;
    pub const PIPE_LEFT: u8 = 6;
    pub const OR: u8 = 7;
    pub const AND: u8 = 8;
    pub const COMPARE: u8 = 9;
    pub const BITS: u8 = 10;
    pub const SHIFT: u8 = 11;
    pub const ADD: u8 = 12;
    pub const MUL: u8 = 13;
    pub const POW: u8 = 14;
}

/// The strength of an operator comes from the longest built-in operator it begins with.
fn operator_level(op: &str) -> u8 {
    const PREFIXES: [(&str, u8); 25] = [
        ("==", level::COMPARE),
        ("!=", level::COMPARE),
        ("<=", level::COMPARE),
        (">=", level::COMPARE),
        ("**", level::POW),
        ("//", level::MUL),
        ("%%", level::MUL),
        ("<<", level::SHIFT),
        (">>", level::SHIFT),
        ("|>", level::PIPE_RIGHT),
        ("<|", level::PIPE_LEFT),
        ("||", level::OR),
        ("&&", level::AND),
        ("+", level::ADD),
        ("-", level::ADD),
        ("*", level::MUL),
        ("/", level::MUL),
        ("%", level::MUL),
        ("<", level::COMPARE),
        (">", level::COMPARE),
        ("|", level::BITS),
        ("&", level::BITS),
        ("^", level::BITS),
        ("!", level::COMPARE),
        ("=", level::COMPARE),
    ];
    PREFIXES.iter().find(|(prefix, _)| op.starts_with(prefix)).map_or(level::BACKTICK, |(_, l)| *l)
}

/// A `let` without its body.
enum LetHead<'a> {
    Pattern(&'a [Name<'a>], &'a Pat<'a>, &'a Exp<'a>),
    Function(&'a ValBind<'a>),
    With(Name<'a>, &'a Exp<'a>, &'a [Step<'a>], &'a Exp<'a>),
}

impl<'a> Parser<'a> {
    /// An expression, possibly ascribed.
    pub(super) fn exp(&mut self) -> Parse<&'a Exp<'a>> {
        self.deeper(|p| {
            let start = p.peek().start;
            let mut exp = p.exp2(level::RANGE)?;
            let mut count = 0;
            loop {
                count += 1;
                p.too_deep(count)?;
                if p.eat(TokenKind::Colon) {
                    let ty = p.type_exp()?;
                    exp = p.exp_at(start, ExpKind::Ascript(exp, ty));
                } else if p.eat(TokenKind::ColonGreater) {
                    let ty = p.type_exp()?;
                    exp = p.exp_at(start, ExpKind::Coerce(exp, ty));
                } else {
                    return Ok(exp);
                }
            }
        })
    }

    /// An expression of infix forms at least as strong as `min`; no ascription. Operators that group to the left may
    /// follow each other in any number.
    fn exp2(&mut self, min: u8) -> Parse<&'a Exp<'a>> {
        let start = self.peek().start;
        let mut left = self.unary()?;
        let mut count = 1;
        loop {
            self.too_deep(count)?;
            match self.kind() {
                TokenKind::DotDot
                | TokenKind::DotDotDot
                | TokenKind::DotDotLess
                | TokenKind::DotDotGreater
                    if min <= level::RANGE =>
                {
                    count += 1;
                    left = self.deeper(|p| p.range(start, left))?;
                }
                TokenKind::With if min <= level::WITH => {
                    count += 1;
                    self.bump();
                    let steps = self.update_steps()?;
                    self.expect(TokenKind::Equals)?;
                    let value = self.deeper(|p| p.exp2(level::EQUALS))?;
                    left = self.exp_at(start, ExpKind::Update(left, steps, value));
                }
                _ => {
                    let Some((strength, tokens)) = self.infix() else { return Ok(left) };
                    if strength < min || self.peek_at(tokens).kind == TokenKind::RParen {
                        return Ok(left);
                    }
                    let op = self.operator()?;
                    let next = if strength == level::PIPE_LEFT { strength } else { strength + 1 };
                    let right = self.deeper(|p| p.exp2(next))?;
                    left = self.exp_at(start, ExpKind::BinOp(op, left, right));
                }
            }
        }
    }

    /// The strength of the operator here and the number of its tokens, if there is one.
    fn infix(&self) -> Option<(u8, usize)> {
        let token = self.peek();
        match token.kind {
            TokenKind::Op
            | TokenKind::Minus
            | TokenKind::Star
            | TokenKind::Less
            | TokenKind::Hat
            | TokenKind::Pipe => Some((operator_level(self.slice(token)), 1)),
            TokenKind::QualOp => {
                let text = self.slice(token);
                let op = text.find(|c: char| !c.is_ascii_alphanumeric() && !"_'.".contains(c)).unwrap_or(0);
                Some((operator_level(&text[op..]), 1))
            }
            TokenKind::Backtick => {
                let mut tokens = 1;
                while !matches!(self.peek_at(tokens).kind, TokenKind::Backtick | TokenKind::End) {
                    tokens += 1;
                }
                Some((level::BACKTICK, tokens + 1))
            }
            _ => None,
        }
    }

    /// An operator in use, qualified or in backticks too.
    fn operator(&mut self) -> Parse<OpName<'a>> {
        let token = self.bump();
        let mut parts = self.list();
        let backticks = token.kind == TokenKind::Backtick;
        let name = if backticks {
            let name = self.qual_name()?;
            self.expect(TokenKind::Backtick)?;
            name
        } else {
            let text = self.slice(token);
            let op = text.find(|c: char| !c.is_ascii_alphanumeric() && !"_'.".contains(c)).unwrap_or(0);
            let mut start = token.start;
            for part in text[..op].split_terminator('.') {
                let end = start + part.len() as u32;
                parts.push(self.name_of(Token { kind: TokenKind::Ident, start, end }));
                start = end + 1;
            }
            parts.push(self.name_of(Token {
                kind: TokenKind::Op,
                start: token.start + op as u32,
                end: token.end,
            }));
            QualName { parts: parts.into_bump_slice() }
        };
        Ok(OpName { name, backticks, at: self.node_since(token.start) })
    }

    /// True at an operator that may be defined.
    pub(super) fn at_binding_op(&self) -> bool {
        self.infix().is_some()
    }

    /// True at an operator alone in parentheses, behind the opening one; `(-1)` is a number.
    pub(super) fn at_closed_op(&self) -> bool {
        self.infix().is_some_and(|(_, tokens)| self.peek_at(tokens).kind == TokenKind::RParen)
    }

    /// The name of an operator that is being defined.
    pub(super) fn binding_op(&mut self) -> Parse<Name<'a>> {
        if self.at(TokenKind::Bang) {
            let span = self.span(self.peek());
            return self.fail(
                Diagnostic::error(span, "'!' is a prefix operator and cannot be used as infix operator")
                    .with_hint("an operator may begin with `!`: `!=`, `!!`"),
            );
        }
        if self.infix().is_none() {
            return self.unexpected("an operator");
        }
        let op = self.operator()?;
        if op.name.parts.len() > 1 {
            return self
                .fail(Diagnostic::error(op.name.span(), "Cannot use a qualified name in binding position"));
        }
        let name = op.name.last();
        if matches!(name.text, "&&" | "||") {
            self.report(
                Diagnostic::error(
                    name.at.span,
                    format!("The \"{}\" operator may not be redefined", name.text),
                )
                .with_label("it does not always evaluate its second operand, which no function can do"),
            );
        }
        Ok(name)
    }

    fn range(&mut self, start: u32, first: &'a Exp<'a>) -> Parse<&'a Exp<'a>> {
        let dots = self.peek();
        let mut second = None;
        if self.eat(TokenKind::DotDot) {
            second = Some(self.exp2(level::BACKTICK)?);
        }
        let kind = match self.kind() {
            TokenKind::DotDotDot => RangeKind::Inclusive,
            TokenKind::DotDotLess => RangeKind::Upto,
            TokenKind::DotDotGreater => RangeKind::Downto,
            _ => {
                let span = self.span(dots);
                return self.fail(
                    Diagnostic::error(span, "a range needs an end: use `...` for ranges, not `..`")
                        .with_hint("write `a...b`, `a..<b` or `a..>b`; a step goes in front: `a..next..<b`"),
                );
            }
        };
        self.bump();
        let last = self.exp2(level::BACKTICK)?;
        Ok(self.exp_at(start, ExpKind::Range { first, second, kind, last }))
    }

    fn unary(&mut self) -> Parse<&'a Exp<'a>> {
        let start = self.peek().start;
        match self.kind() {
            TokenKind::Minus => {
                self.bump();
                let inner = self.deeper(Self::unary)?;
                Ok(self.exp_at(start, ExpKind::Negate(inner)))
            }
            TokenKind::Bang => {
                self.bump();
                let inner = self.deeper(Self::unary)?;
                Ok(self.exp_at(start, ExpKind::Not(inner)))
            }
            TokenKind::If => self.if_exp(),
            TokenKind::Let => self.let_exp(),
            TokenKind::Loop => self.loop_exp(),
            TokenKind::Match => self.match_exp(),
            TokenKind::Assert => {
                self.bump();
                let condition = self.atom()?;
                let value = self.exp()?;
                Ok(self.exp_at(start, ExpKind::Assert(condition, value)))
            }
            TokenKind::HashBracket => {
                let attr = self.attr_brackets()?;
                let inner = self.exp()?;
                Ok(self.exp_at(start, ExpKind::Attr(attr, inner)))
            }
            _ => self.apply(),
        }
    }

    fn starts_atom(&self) -> bool {
        matches!(
            self.kind(),
            TokenKind::Ident
                | TokenKind::Constructor
                | TokenKind::Nat
                | TokenKind::Int
                | TokenKind::Float
                | TokenKind::String
                | TokenKind::Char
                | TokenKind::True
                | TokenKind::False
                | TokenKind::Hole
                | TokenKind::LParen
                | TokenKind::LBracket
                | TokenKind::LBrace
        )
    }

    fn apply(&mut self) -> Parse<&'a Exp<'a>> {
        let start = self.peek().start;
        if self.at(TokenKind::Backslash) {
            return self.lambda();
        }
        let head = self.atom()?;
        let mut args = self.list();
        loop {
            if self.starts_atom() {
                let arg = *self.atom()?;
                if args.is_empty() {
                    self.refuse_second_index(head, &arg);
                }
                args.push(arg);
            } else if self.at(TokenKind::Backslash) {
                args.push(*self.lambda()?);
                break;
            } else {
                break;
            }
        }
        if args.is_empty() {
            return Ok(head);
        }
        let args = args.into_bump_slice();
        Ok(match head.kind {
            ExpKind::Constr(name, []) => self.exp_at(start, ExpKind::Constr(name, args)),
            _ => self.exp_at(start, ExpKind::Apply(head, args)),
        })
    }

    /// `a[i] [j]` looks like an index but applies `a[i]` to an array.
    fn refuse_second_index(&mut self, function: &Exp<'a>, arg: &Exp<'a>) {
        if matches!((function.kind, arg.kind), (ExpKind::Index(..), ExpKind::Array(_))) {
            let span = function.at.span.to(arg.at.span);
            self.report(
                Diagnostic::error(span, "Incorrect syntax for multi-dimensional indexing")
                    .with_hint("write the indices with commas: `a[i, j]`"),
            );
        }
    }

    fn lambda(&mut self) -> Parse<&'a Exp<'a>> {
        let start = self.peek().start;
        self.bump();
        let params = self.params()?;
        if params.is_empty() {
            return self.unexpected("a parameter of the lambda");
        }
        let result = if self.eat(TokenKind::Colon) {
            let ty = self.type_term()?;
            Some(self.alloc(ty))
        } else {
            None
        };
        self.expect(TokenKind::Arrow)?;
        let body = self.exp()?;
        Ok(self.exp_at(start, ExpKind::Lambda(params, result, body)))
    }

    /// An expression that needs no parentheses as an argument.
    pub(super) fn atom(&mut self) -> Parse<&'a Exp<'a>> {
        let start = self.peek().start;
        let token = self.peek();
        let mut exp = match token.kind {
            TokenKind::Nat | TokenKind::Int | TokenKind::Float => self.number()?,
            TokenKind::True | TokenKind::False => {
                self.bump();
                self.exp_at(start, ExpKind::Literal(Scalar::bool(token.kind == TokenKind::True)))
            }
            TokenKind::Char => {
                self.bump();
                let text = self.slice(token);
                let code = unescape(&text[1..text.len() - 1]).0.first().map_or(0, |c| *c as u128);
                self.exp_at(start, ExpKind::Number(Number::Int(code)))
            }
            TokenKind::String => {
                self.bump();
                let (bytes, text) = self.string_bytes(token);
                self.exp_at(start, ExpKind::String(bytes, text))
            }
            TokenKind::Hole => {
                self.bump();
                self.exp_at(start, ExpKind::Hole)
            }
            TokenKind::Ident => {
                self.bump();
                let name = self.name_of(token);
                let parts = self.arena.alloc_slice_copy(&[name]);
                self.exp_at(start, ExpKind::Var(QualName { parts }))
            }
            TokenKind::Constructor => {
                self.bump();
                self.exp_at(start, ExpKind::Constr(&self.slice(token)[1..], &[]))
            }
            TokenKind::LParen => self.deeper(Self::parenthesised)?,
            TokenKind::LBracket | TokenKind::IndexBracket => {
                let open = self.bump();
                let items = self.exps_until(TokenKind::RBracket)?;
                self.close(TokenKind::RBracket, open)?;
                self.exp_at(start, ExpKind::Array(items))
            }
            TokenKind::LBrace => self.record()?,
            _ => return self.unexpected("an expression"),
        };
        let mut count = 0;
        loop {
            count += 1;
            self.too_deep(count)?;
            match self.kind() {
                TokenKind::Dot => {
                    let next = self.peek_at(1).kind;
                    match (next, exp.kind) {
                        (TokenKind::LParen, ExpKind::Var(name)) => {
                            self.bump();
                            let open = self.bump();
                            let inner = self.exp()?;
                            self.close(TokenKind::RParen, open)?;
                            exp = self.exp_at(start, ExpKind::QualParens(name, inner));
                        }
                        (TokenKind::Ident, ExpKind::Var(name)) => {
                            self.bump();
                            let mut parts = self.list();
                            parts.extend_from_slice(name.parts);
                            parts.push(self.name()?);
                            exp =
                                self.exp_at(start, ExpKind::Var(QualName { parts: parts.into_bump_slice() }));
                        }
                        (TokenKind::Ident | TokenKind::Nat, _) => {
                            self.bump();
                            let field = self.field_name()?;
                            exp = self.exp_at(start, ExpKind::Project(exp, field));
                        }
                        (TokenKind::LParen, _) => {
                            let text = "Can only locally open module names, not arbitrary expressions";
                            return self.fail(Diagnostic::error(exp.at.span, text));
                        }
                        _ => {
                            self.bump();
                            return self.unexpected("a field name behind the dot");
                        }
                    }
                }
                TokenKind::IndexBracket => {
                    let dims = self.dim_indices()?;
                    exp = self.exp_at(start, ExpKind::Index(exp, dims));
                }
                _ => return Ok(exp),
            }
        }
    }

    fn exps_until(&mut self, end: TokenKind) -> Parse<&'a [Exp<'a>]> {
        // A list that grows in the arena would leave its former places behind.
        let mut items = Vec::new();
        while !self.at(end) {
            items.push(*self.exp()?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        Ok(self.arena.alloc_slice_copy(&items))
    }

    /// `(..)`: unit, parentheses, tuple, or a section.
    fn parenthesised(&mut self) -> Parse<&'a Exp<'a>> {
        let open = self.bump();
        let start = open.start;
        if self.eat(TokenKind::RParen) {
            return Ok(self.exp_at(start, ExpKind::Tuple(&[])));
        }
        if self.at(TokenKind::Dot) {
            let steps = self.section_steps()?;
            self.close(TokenKind::RParen, open)?;
            return Ok(self.exp_at(start, ExpKind::SectionPath(steps)));
        }
        if let Some((_, tokens)) = self.infix()
            && (!self.at(TokenKind::Minus) || self.peek_at(tokens).kind == TokenKind::RParen)
        {
            let op = self.operator()?;
            if self.eat(TokenKind::RParen) {
                return Ok(self.exp_at(start, ExpKind::Section(op)));
            }
            let operand = self.exp2(level::RANGE)?;
            self.close(TokenKind::RParen, open)?;
            return Ok(self.exp_at(start, ExpKind::SectionRight(op, operand)));
        }
        let first = self.exp()?;
        if self.infix().is_some() {
            let op = self.operator()?;
            self.close(TokenKind::RParen, open)?;
            return Ok(self.exp_at(start, ExpKind::SectionLeft(op, first)));
        }
        if self.eat(TokenKind::Comma) {
            let mut items = self.list();
            items.push(*first);
            items.extend_from_slice(self.exps_until(TokenKind::RParen)?);
            self.close(TokenKind::RParen, open)?;
            self.refuse_single(items.len(), open);
            return Ok(self.exp_at(start, ExpKind::Tuple(items.into_bump_slice())));
        }
        self.close(TokenKind::RParen, open)?;
        Ok(self.exp_at(start, ExpKind::Parens(first)))
    }

    fn record(&mut self) -> Parse<&'a Exp<'a>> {
        let open = self.bump();
        let mut fields = self.list();
        while !self.at(TokenKind::RBrace) {
            let numbered = self.at(TokenKind::Nat);
            let name = self.field_name()?;
            let value = match self.kind() {
                TokenKind::Equals => {
                    self.bump();
                    Some(*self.exp()?)
                }
                _ if numbered => return self.unexpected("`=` and the field's value"),
                _ => None,
            };
            fields.push((name, value));
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.close(TokenKind::RBrace, open)?;
        Ok(self.exp_at(open.start, ExpKind::Record(fields.into_bump_slice())))
    }

    fn if_exp(&mut self) -> Parse<&'a Exp<'a>> {
        let start = self.bump().start;
        let condition = self.exp()?;
        self.expect(TokenKind::Then)?;
        let yes = self.exp()?;
        if !self.at(TokenKind::Else) {
            let result = self.unexpected("`else`");
            if let Some(last) = self.diagnostics.pop() {
                self.report(last.with_hint("an `if` always has a value, so it always needs an `else`"));
            }
            return result;
        }
        self.bump();
        let no = self.exp()?;
        Ok(self.exp_at(start, ExpKind::If(condition, yes, no)))
    }

    fn loop_exp(&mut self) -> Parse<&'a Exp<'a>> {
        let start = self.bump().start;
        let pat = self.pat()?;
        let pat = self.alloc(pat);
        let init = if self.eat(TokenKind::Equals) { Some(self.exp()?) } else { None };
        let form = match self.kind() {
            TokenKind::While => {
                self.bump();
                LoopForm::While(self.exp()?)
            }
            TokenKind::For => {
                self.bump();
                if self.at(TokenKind::Ident) && self.peek_at(1).kind == TokenKind::Less {
                    let name = self.name()?;
                    self.bump();
                    LoopForm::For(name, self.exp()?)
                } else {
                    let element = self.pat()?;
                    self.expect(TokenKind::In)?;
                    LoopForm::ForIn(self.alloc(element), self.exp()?)
                }
            }
            _ => return self.unexpected("`for` or `while`"),
        };
        self.expect(TokenKind::Do)?;
        let body = self.exp()?;
        Ok(self.exp_at(start, ExpKind::Loop { pat, init, form, body }))
    }

    fn match_exp(&mut self) -> Parse<&'a Exp<'a>> {
        let start = self.bump().start;
        let subject = self.exp()?;
        let mut cases = self.list();
        if !self.at(TokenKind::Case) {
            return self.unexpected("`case`");
        }
        while self.eat(TokenKind::Case) {
            let pat = self.pat()?;
            self.expect(TokenKind::Arrow)?;
            cases.push((pat, *self.exp()?));
        }
        Ok(self.exp_at(start, ExpKind::Match(subject, cases.into_bump_slice())))
    }

    /// `let`s up to the value of the last one. Any number of them may follow each other: each stands in the body of
    /// the one before, but is no deeper nesting for whoever reads it.
    fn let_exp(&mut self) -> Parse<&'a Exp<'a>> {
        let mut lets = Vec::new();
        loop {
            let start = self.bump().start;
            lets.push((start, self.let_head()?));
            if !self.another_let()? {
                break;
            }
        }
        let mut body = self.exp()?;
        while let Some((start, head)) = lets.pop() {
            let kind = match head {
                LetHead::Pattern(sizes, pat, value) => ExpKind::Let { sizes, pat, value, body },
                LetHead::Function(fun) => ExpKind::LetFun { fun, body },
                LetHead::With(name, old, steps, value) => ExpKind::LetWith { name, old, steps, value, body },
            };
            body = self.exp_at(start, kind);
        }
        Ok(body)
    }

    /// What stands between `let` and its body.
    fn let_head(&mut self) -> Parse<LetHead<'a>> {
        if self.at(TokenKind::Ident) {
            match self.peek_at(1).kind {
                TokenKind::IndexBracket | TokenKind::Dot => return self.let_with(),
                TokenKind::LBracket | TokenKind::Quote | TokenKind::QuoteHat | TokenKind::QuoteTilde => {
                    return self.let_fun();
                }
                _ => {}
            }
            // A second parameter-like token makes it a function.
            self.pos += 1;
            let function = self.starts_param();
            self.pos -= 1;
            if function {
                return self.let_fun();
            }
        }
        let mut sizes = self.list();
        while self.at_bracket() {
            let open = self.bump();
            sizes.push(self.name()?);
            self.close(TokenKind::RBracket, open)?;
        }
        let pat = self.pat()?;
        if !self.at(TokenKind::Equals) {
            return self.unexpected("`=`");
        }
        self.bump();
        let value = self.exp()?;
        Ok(LetHead::Pattern(sizes.into_bump_slice(), self.alloc(pat), value))
    }

    fn let_fun(&mut self) -> Parse<LetHead<'a>> {
        let name = self.name()?;
        let type_params = self.type_params()?;
        let params = self.params()?;
        if params.is_empty() {
            return self.unexpected("a parameter of the local function");
        }
        let (result, body) = self.val_rest(false)?;
        let fun = ValBind { keyword: ValKeyword::Def, name, type_params, params, result, body };
        Ok(LetHead::Function(self.alloc(fun)))
    }

    fn let_with(&mut self) -> Parse<LetHead<'a>> {
        let name = self.name()?;
        let parts = self.arena.alloc_slice_copy(&[name]);
        let old = self.exp_at(name.at.span.start, ExpKind::Var(QualName { parts }));
        let mut steps = self.list();
        loop {
            match self.kind() {
                TokenKind::IndexBracket => steps.push(Step::Index(self.dim_indices()?)),
                TokenKind::Dot => {
                    self.bump();
                    steps.push(Step::Field(self.field_name()?));
                }
                _ => break,
            }
        }
        self.expect(TokenKind::Equals)?;
        let value = self.exp()?;
        Ok(LetHead::With(name, old, steps.into_bump_slice(), value))
    }

    /// Behind what a `let` binds: whether another `let` follows, with or without `in`, or else the value.
    fn another_let(&mut self) -> Parse<bool> {
        if self.at(TokenKind::Let) {
            return Ok(true);
        }
        if matches!(self.kind(), TokenKind::Def | TokenKind::Entry | TokenKind::Type | TokenKind::Module) {
            let token = self.peek();
            let (span, found) = (self.span(token), self.slice(token));
            return self.fail(
                Diagnostic::error(span, format!("Unexpected \"{found}\" - missing \"in\"?"))
                    .with_label("expected `in` or another `let`")
                    .with_hint("a `let` ends in a value: `let x = 1 in x`"),
            );
        }
        if !self.eat(TokenKind::In) {
            return self.unexpected("`in` or another `let`");
        }
        Ok(self.at(TokenKind::Let))
    }

    fn update_steps(&mut self) -> Parse<&'a [Step<'a>]> {
        let mut steps = self.list();
        loop {
            match self.kind() {
                TokenKind::LBracket | TokenKind::IndexBracket => steps.push(Step::Index(self.dim_indices()?)),
                TokenKind::Dot => {
                    self.bump();
                    steps.push(Step::Field(self.field_name()?));
                }
                TokenKind::Ident | TokenKind::Nat => steps.push(Step::Field(self.field_name()?)),
                _ if steps.is_empty() => return self.unexpected("`[` or a field name"),
                _ => return Ok(steps.into_bump_slice()),
            }
        }
    }

    fn section_steps(&mut self) -> Parse<&'a [Step<'a>]> {
        let mut steps = self.list();
        loop {
            match self.kind() {
                TokenKind::Dot
                    if matches!(self.peek_at(1).kind, TokenKind::LBracket | TokenKind::IndexBracket) =>
                {
                    self.bump();
                    steps.push(Step::Index(self.dim_indices()?));
                }
                TokenKind::Dot => {
                    self.bump();
                    steps.push(Step::Field(self.field_name()?));
                }
                TokenKind::IndexBracket => steps.push(Step::Index(self.dim_indices()?)),
                _ => return Ok(steps.into_bump_slice()),
            }
        }
    }

    /// `[i, l:h:s]`, with its brackets.
    fn dim_indices(&mut self) -> Parse<&'a [DimIndex<'a>]> {
        self.deeper(|p| {
            let open = p.bump();
            let mut dims = p.list();
            while !p.at(TokenKind::RBracket) {
                dims.push(p.dim_index()?);
                if !p.eat(TokenKind::Comma) {
                    break;
                }
            }
            p.close(TokenKind::RBracket, open)?;
            Ok(dims.into_bump_slice() as &[_])
        })
    }

    fn dim_index(&mut self) -> Parse<DimIndex<'a>> {
        let ends = |p: &Self| matches!(p.kind(), TokenKind::RBracket | TokenKind::Comma | TokenKind::Colon);
        let from = if ends(self) { None } else { Some(self.exp2(level::RANGE)?) };
        if !self.eat(TokenKind::Colon) {
            return match from {
                Some(index) => Ok(DimIndex::Fix(*index)),
                None => self.unexpected("an index"),
            };
        }
        let to = if ends(self) { None } else { Some(self.exp2(level::RANGE)?) };
        let step = if self.eat(TokenKind::Colon) { Some(self.exp2(level::RANGE)?) } else { None };
        Ok(DimIndex::Slice(from, to, step))
    }
}
