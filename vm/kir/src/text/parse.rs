//! Reading regions: headers, statements, bodies, types. Expressions are in `expression.rs`.

use super::lex::{Token, lex};
use super::{ParseError, is_name};
use crate::ir::*;
use crate::types::settle_operations;
use galopvm_base::{ElemType, Pos, ScalarOp};
use std::collections::HashMap;

/// How deep bodies and expressions may nest; protects the stack of whoever walks the region.
pub(super) const MAX_DEPTH: u32 = 200;

/// Reads a region with or without a header.
pub fn parse_region(text: &str) -> Result<Region, ParseError> {
    parse_region_in(Region::default(), text)
}

/// Reads the statements of a region whose first parameters are known (see [`super::parse_env`]). If the text has
/// no header, names that nothing defines become further parameters, without a type. A text with a header must
/// define everything, and `known` must have no parameters then.
pub fn parse_region_in(known: Region, text: &str) -> Result<Region, ParseError> {
    let mut parser = Parser::new(text)?;
    parser.names = known.vars.iter_ids().map(|(id, var)| (var.name.to_string(), id)).collect();
    parser.region = known;
    if parser.is_word("region") {
        if !parser.region.params.is_empty() {
            return Err(parser.error("a region with a header brings its own parameters"));
        }
        parser.header()?;
    } else {
        parser.free_names_are_params = true;
    }
    let stms = parser.statements()?;
    let results = if parser.skip_word("in") { parser.values()? } else { Vec::new() };
    parser.expect_end()?;
    parser.region.body = Body { stms, results };
    settle_operations(&mut parser.region);
    Ok(parser.region.renumbered())
}

/// The state of reading.
pub(super) struct Parser {
    tokens: Vec<(Token, Pos)>,
    at: usize,
    /// What was read so far.
    pub(super) region: Region,
    names: HashMap<String, VarId>,
    free_names_are_params: bool,
    depth: u32,
    /// The height of the expression read last.
    pub(super) height: u32,
}

impl Parser {
    /// Starts reading a text.
    pub(super) fn new(text: &str) -> Result<Parser, ParseError> {
        let tokens = lex(text).map_err(|(pos, c)| ParseError {
            pos,
            message: format!("the character {c:?} has no meaning here"),
        })?;
        Ok(Parser {
            tokens,
            at: 0,
            region: Region::default(),
            names: HashMap::new(),
            free_names_are_params: false,
            depth: 0,
            height: 0,
        })
    }

    /// The next token.
    pub(super) fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    /// The token `ahead` places further on.
    pub(super) fn peek_at(&self, ahead: usize) -> &Token {
        self.tokens.get(self.at + ahead).map_or(&Token::End, |(token, _)| token)
    }

    /// Goes past the next token.
    pub(super) fn advance(&mut self) {
        self.at += 1;
    }

    /// The place reached, for going back to it.
    pub(super) fn mark(&self) -> usize {
        self.at
    }

    /// Goes back.
    pub(super) fn go_back(&mut self, mark: usize) {
        self.at = mark;
    }

    /// An error at the next token.
    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        self.error_at(self.at, message)
    }

    /// An error at a marked token.
    pub(super) fn error_at(&self, mark: usize, message: impl Into<String>) -> ParseError {
        let pos = self.tokens.get(mark).or(self.tokens.last()).map_or(Pos::default(), |(_, pos)| *pos);
        ParseError { pos, message: message.into() }
    }

    /// "expected this" at the next token.
    pub(super) fn expected(&self, what: &str) -> ParseError {
        let found = match self.peek() {
            Token::Name(name) => format!("`{name}`"),
            Token::Number(number) => format!("`{number}`"),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end".to_string(),
        };
        self.error(format!("expected {what}, found {found}"))
    }

    /// True if the next token is this sign.
    pub(super) fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(s) if *s == sign)
    }

    /// Goes past this sign if it is next.
    pub(super) fn skip_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }

    /// Goes past this sign, which must be next.
    pub(super) fn expect_sign(&mut self, sign: &str) -> Result<(), ParseError> {
        if self.skip_sign(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    /// True if the next token is this word.
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(name) if name == word)
    }

    /// Goes past this word if it is next.
    pub(super) fn skip_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    /// Goes past this word, which must be next.
    pub(super) fn expect_word(&mut self, word: &str) -> Result<(), ParseError> {
        if self.skip_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    /// The text must end here.
    pub(super) fn expect_end(&self) -> Result<(), ParseError> {
        if *self.peek() == Token::End { Ok(()) } else { Err(self.expected("the end")) }
    }

    /// Any word.
    pub(super) fn word(&mut self, what: &str) -> Result<String, ParseError> {
        match self.peek() {
            Token::Name(name) => {
                let name = name.clone();
                self.advance();
                Ok(name)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// A plain whole number that is not negative.
    pub(super) fn plain_number(&mut self) -> Result<usize, ParseError> {
        if let Token::Number(text) = self.peek()
            && let Ok(number) = text.parse()
        {
            self.advance();
            return Ok(number);
        }
        Err(self.expected("a number"))
    }

    /// Runs `read` one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Parser) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("this nests too deeply"));
        }
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// A name that is defined here.
    pub(super) fn define(&mut self, ty: Option<Type>) -> Result<VarId, ParseError> {
        let mark = self.at;
        let name = self.word("a name")?;
        self.define_as(mark, name, ty)
    }

    fn define_as(&mut self, mark: usize, name: String, ty: Option<Type>) -> Result<VarId, ParseError> {
        if !is_name(&name) {
            return Err(self.error_at(mark, format!("`{name}` cannot be a name")));
        }
        if let Some(known) = self.names.get(&name) {
            let is_param = self.region.params.contains(known) && self.free_names_are_params;
            let why = if is_param { "already used or defined" } else { "already defined" };
            return Err(self.error_at(mark, format!("the name `{name}` is {why}; names are unique")));
        }
        let id = self.region.vars.push(Var { name: name.as_str().into(), ty });
        self.names.insert(name, id);
        Ok(id)
    }

    /// A name that is used here.
    pub(super) fn use_name(&mut self) -> Result<VarId, ParseError> {
        let mark = self.at;
        let name = self.word("a name")?;
        if let Some(id) = self.names.get(&name) {
            return Ok(*id);
        }
        if !self.free_names_are_params || !is_name(&name) {
            return Err(self.error_at(mark, format!("the name `{name}` is not known")));
        }
        let id = self.define_as(mark, name, None)?;
        self.region.params.push(id);
        Ok(id)
    }

    /// `name`, or `name : type`; the type may use the names defined so far.
    fn typed_name(&mut self) -> Result<VarId, ParseError> {
        let id = self.define(None)?;
        if self.skip_sign(":") {
            let ty = self.ty()?;
            self.region.vars[id].ty = Some(ty);
        }
        Ok(id)
    }

    /// `[n][m]f32`
    pub(super) fn ty(&mut self) -> Result<Type, ParseError> {
        let shape = self.extents()?;
        Ok(Type { elem: self.elem_type()?, shape })
    }

    /// `f32`
    pub(super) fn elem_type(&mut self) -> Result<ElemType, ParseError> {
        let known = if let Token::Name(name) = self.peek() { name.parse().ok() } else { None };
        let elem = known.ok_or_else(|| self.expected("an element type"))?;
        self.advance();
        Ok(elem)
    }

    /// `[n][m]`, possibly nothing.
    pub(super) fn extents(&mut self) -> Result<Vec<Exp>, ParseError> {
        let mut extents = Vec::new();
        while self.skip_sign("[") {
            extents.push(self.exp()?);
            self.expect_sign("]")?;
        }
        Ok(extents)
    }

    /// Things between parentheses, separated by commas; the opening one is next.
    pub(super) fn in_parens<T>(
        &mut self,
        mut item: impl FnMut(&mut Parser) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        self.expect_sign("(")?;
        let mut items = Vec::new();
        if !self.is_sign(")") {
            items.push(item(self)?);
            while self.skip_sign(",") {
                items.push(item(self)?);
            }
        }
        self.expect_sign(")")?;
        Ok(items)
    }

    fn header(&mut self) -> Result<(), ParseError> {
        self.expect_word("region")?;
        if let Token::Name(name) = self.peek() {
            self.region.name = name.clone();
            self.advance();
        }
        self.region.params = self.in_parens(Parser::typed_name)?;
        Ok(())
    }

    fn statements(&mut self) -> Result<Vec<Stm>, ParseError> {
        let mut stms = Vec::new();
        while self.skip_word("let") {
            stms.push(self.statement()?);
        }
        Ok(stms)
    }

    /// A statement after its `let`.
    fn statement(&mut self) -> Result<Stm, ParseError> {
        if matches!(self.peek_at(1), Token::Sign("[")) {
            let mark = self.at;
            let array = self.use_name()?;
            let index = self.index()?;
            self.expect_sign("=")?;
            let value = self.exp()?;
            let name = format!("{}'", self.region.name_of(array));
            let pat = vec![self.define_as(mark, name, None)?];
            return Ok(Stm { pat, rhs: Rhs::Update { array, index, value } });
        }
        let pat = self.pattern()?;
        self.expect_sign("=")?;
        let rhs = self.nested(Parser::rhs)?;
        Ok(Stm { pat, rhs })
    }

    fn pattern(&mut self) -> Result<Vec<VarId>, ParseError> {
        if self.is_sign("(") { self.in_parens(Parser::typed_name) } else { Ok(vec![self.typed_name()?]) }
    }

    /// Statements, `in`, values.
    fn body(&mut self) -> Result<Body, ParseError> {
        self.nested(|parser| {
            let stms = parser.statements()?;
            parser.expect_word("in")?;
            Ok(Body { stms, results: parser.values()? })
        })
    }

    /// `x`, or `(x, y)`, or `()`.
    fn values(&mut self) -> Result<Vec<Exp>, ParseError> {
        let (mark, reads) = (self.at, self.region.reads);
        if self.skip_sign("(") {
            let empty = self.is_sign(")");
            if empty || (self.exp().is_ok() && self.is_sign(",")) {
                self.go_back(mark);
                self.region.reads = reads;
                return self.in_parens(Parser::exp);
            }
            // Parentheses around a single expression belong to the expression, which may go on after them.
            self.go_back(mark);
            self.region.reads = reads;
        }
        Ok(vec![self.exp()?])
    }

    fn axis(&mut self) -> Result<Axis, ParseError> {
        let var = self.define(Some(Type::scalar(ElemType::I64)))?;
        self.expect_sign("<")?;
        Ok(Axis { var, bound: self.bound()? })
    }

    fn axes(&mut self) -> Result<Vec<Axis>, ParseError> {
        let mut axes = vec![self.axis()?];
        while self.skip_sign(",") {
            axes.push(self.axis()?);
        }
        Ok(axes)
    }

    /// `by (a : f32 = 0f32) (b : f32) do body`
    fn combine(&mut self) -> Result<Combine, ParseError> {
        self.expect_word("by")?;
        let with_neutral = self.in_parens(|parser| {
            let var = parser.typed_name()?;
            parser.expect_sign("=")?;
            Ok((var, parser.exp()?))
        })?;
        let (acc, neutral) = with_neutral.into_iter().unzip();
        let item = self.in_parens(Parser::typed_name)?;
        self.expect_word("do")?;
        Ok(Combine { acc, neutral, item, body: self.body()? })
    }

    fn rhs(&mut self) -> Result<Rhs, ParseError> {
        let Token::Name(word) = self.peek() else {
            return Ok(Rhs::Exps(self.values()?));
        };
        let word = word.clone();
        match word.as_str() {
            "kernel" => {
                self.advance();
                let axes = self.axes()?;
                self.expect_word("do")?;
                Ok(Rhs::Kernel { axes, body: self.body()? })
            }
            "red" => {
                self.advance();
                let axes = self.axes()?;
                self.expect_word("do")?;
                Ok(Rhs::Reduce { axes, body: self.body()?, combine: self.combine()? })
            }
            "scan" => {
                self.advance();
                let axis = self.axis()?;
                self.expect_word("do")?;
                Ok(Rhs::Scan { axis, body: self.body()?, combine: self.combine()? })
            }
            "scatter" | "hist" => {
                self.advance();
                let arrays = match self.is_sign("(") {
                    true => self.in_parens(Parser::use_name)?,
                    false => vec![self.use_name()?],
                };
                let axes = self.axes()?;
                self.expect_word("do")?;
                let body = self.body()?;
                let combine = if word == "hist" { Some(self.combine()?) } else { None };
                Ok(Rhs::Scatter { arrays, axes, body, combine })
            }
            "loop" => {
                self.advance();
                self.sequential()
            }
            "if" => {
                self.advance();
                let cond = self.exp()?;
                self.expect_word("then")?;
                let then = self.body()?;
                self.expect_word("else")?;
                Ok(Rhs::If { cond, then, otherwise: self.body()? })
            }
            "manifest" => {
                self.advance();
                self.expect_sign("(")?;
                let perm = self.in_parens(Parser::plain_number)?;
                self.expect_sign(",")?;
                let array = self.use_name()?;
                self.expect_sign(")")?;
                Ok(Rhs::Manifest { perm, array })
            }
            _ if matches!(self.peek_at(1), Token::Name(next) if next == "with") => {
                let array = self.use_name()?;
                self.expect_word("with")?;
                let index = self.index()?;
                self.expect_sign("=")?;
                Ok(Rhs::Update { array, index, value: self.exp()? })
            }
            _ if ArrayOp::WORDS.contains(&word.as_str()) => {
                self.advance();
                Ok(Rhs::Array(self.array_op(&word)?))
            }
            _ => Ok(Rhs::Exps(self.values()?)),
        }
    }

    /// What follows `loop`.
    fn sequential(&mut self) -> Result<Rhs, ParseError> {
        let counts_only = matches!(self.peek_at(1), Token::Sign("<"));
        let (mut carried, mut init) = (Vec::new(), Vec::new());
        if !counts_only {
            carried = self.pattern()?;
            self.expect_sign("=")?;
            init = self.values()?;
            if self.skip_word("while") {
                let cond = self.exp()?;
                self.expect_word("do")?;
                return Ok(Rhs::While { carried, init, cond, body: self.body()? });
            }
            self.expect_word("for")?;
        }
        let axis = self.axis()?;
        self.expect_word("do")?;
        Ok(Rhs::For { carried, init, axis, body: self.body()? })
    }

    /// What follows the word of an operation on arrays.
    fn array_op(&mut self, word: &str) -> Result<ArrayOp, ParseError> {
        let change = match word {
            "concat" => {
                let (first, mut rest) = (self.atom()?, Vec::new());
                while self.atom_follows() {
                    rest.push(self.atom()?);
                }
                return Ok(ArrayOp::Concat { first, rest });
            }
            "copy" => return Ok(ArrayOp::Copy(self.atom()?)),
            "scratch" => return Ok(ArrayOp::Scratch { shape: self.extents()?, elem: self.elem_type()? }),
            "iota" => {
                self.expect_sign("[")?;
                let extent = self.exp()?;
                self.expect_sign("]")?;
                return Ok(ArrayOp::Iota(extent));
            }
            "replicate" => return Ok(ArrayOp::Replicate { shape: self.extents()?, value: self.atom()? }),
            "call" => {
                let function = self.word("a function")?;
                let args = self.in_parens(Parser::exp)?;
                return Ok(ArrayOp::Call { function, args, shape: self.extents()? });
            }
            "reduce" => {
                let op = match self.peek() {
                    Token::Sign(sign) => ScalarOp::from_infix(sign),
                    Token::Name(name) => name.parse().ok(),
                    _ => None,
                };
                let op = op.ok_or_else(|| self.expected("a scalar operation"))?;
                self.advance();
                return Ok(ArrayOp::Reduce { op, array: self.atom()? });
            }
            "transpose" => ViewChange::Transpose,
            "rearrange" => ViewChange::Rearrange(self.in_parens(Parser::plain_number)?),
            "reshape" => ViewChange::Reshape(self.extents()?),
            "flatten" => ViewChange::Flatten,
            "reverse" => ViewChange::Reverse,
            _ => return Err(self.expected("an operation on arrays")),
        };
        Ok(ArrayOp::View { change, array: self.atom()? })
    }

    fn atom_follows(&self) -> bool {
        match self.peek() {
            Token::Sign(sign) => matches!(*sign, "(" | "-" | "!"),
            Token::Name(name) => is_name(name) || name == "true" || name == "false",
            Token::Number(_) => true,
            Token::End => false,
        }
    }
}
