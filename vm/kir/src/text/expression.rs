//! Reading expressions and indices.

use super::ParseError;
use super::lex::Token;
use super::parse::{MAX_DEPTH, Parser};
use crate::ir::*;
use crate::types::OPEN;
use galopvm_base::scalar::parse_scalar;
use galopvm_base::{ElemType, Scalar, ScalarOp};

/// How tightly a sign binds; greater is tighter.
pub(super) mod level {
    /// `||`, and any whole expression.
    pub const OR: u8 = 1;
    /// `&&`
    pub const AND: u8 = 2;
    /// Comparisons.
    pub const COMPARE: u8 = 3;
    /// `|`
    pub const BIT_OR: u8 = 4;
    /// `^`
    pub const BIT_XOR: u8 = 5;
    /// `&`
    pub const BIT_AND: u8 = 6;
    /// `<<`, `>>`, `>>>`
    pub const SHIFT: u8 = 7;
    /// `+`, `-`, and bounds of axes.
    pub const ADD: u8 = 8;
    /// `*`, `/`, `//`, `%`, `%%`
    pub const MUL: u8 = 9;
    /// `**`
    pub const POW: u8 = 10;
    /// Signs in front, names, calls, parentheses.
    pub const ATOM: u8 = 11;
}

/// The level of an infix sign.
pub(super) fn infix_level(sign: &str) -> Option<u8> {
    Some(match sign {
        "||" => level::OR,
        "&&" => level::AND,
        "==" | "!=" | "<" | "<=" | ">" | ">=" => level::COMPARE,
        "|" => level::BIT_OR,
        "^" => level::BIT_XOR,
        "&" => level::BIT_AND,
        "<<" | ">>" | ">>>" => level::SHIFT,
        "+" | "-" => level::ADD,
        "*" | "/" | "//" | "%" | "%%" => level::MUL,
        "**" => level::POW,
        _ => return None,
    })
}

/// The operation of an infix sign; the logical signs are the ones of the bitwise operations on bool.
fn infix_op(sign: &str) -> Option<ScalarOp> {
    match sign {
        "&&" => Some(ScalarOp::And),
        "||" => Some(ScalarOp::Or),
        other => ScalarOp::from_infix(other),
    }
}

impl Parser {
    /// An expression.
    pub(super) fn exp(&mut self) -> Result<Exp, ParseError> {
        self.exp_from(level::OR)
    }

    /// The bound of an axis.
    pub(super) fn bound(&mut self) -> Result<Exp, ParseError> {
        self.exp_from(level::ADD)
    }

    /// An expression of signs that bind at least this tightly.
    fn exp_from(&mut self, least: u8) -> Result<Exp, ParseError> {
        let mut left = self.atom()?;
        // After a comparison only looser signs may follow: comparisons do not chain.
        let mut most = level::ATOM;
        while let Token::Sign(sign) = self.peek() {
            let sign = *sign;
            let (Some(binds), Some(op)) = (infix_level(sign), infix_op(sign)) else { break };
            // `+ {` opens the dimensions of an LMAD slice.
            let opens_dims = sign == "+" && matches!(self.peek_at(1), Token::Sign("{"));
            if binds < least || binds > most || opens_dims {
                break;
            }
            self.advance();
            let height = self.height;
            let right = self.nested(|parser| parser.exp_from(binds + 1))?;
            self.height = height.max(self.height);
            left = self.grown(Exp::Op(op, OPEN, vec![left, right]))?;
            most = if binds == level::COMPARE { level::AND } else { binds };
        }
        Ok(left)
    }

    /// An expression one higher than its highest part.
    fn grown(&mut self, exp: Exp) -> Result<Exp, ParseError> {
        self.height += 1;
        if self.height > MAX_DEPTH { Err(self.error("this expression is too deep")) } else { Ok(exp) }
    }

    /// Runs `read` on one more part of an expression and keeps the greatest height.
    fn part<T>(&mut self, read: impl FnOnce(&mut Parser) -> Result<T, ParseError>) -> Result<T, ParseError> {
        let height = self.height;
        let result = self.nested(read)?;
        self.height = height.max(self.height);
        Ok(result)
    }

    /// A constant, name, read, call, or anything in parentheses, with signs in front.
    pub(super) fn atom(&mut self) -> Result<Exp, ParseError> {
        self.height = 0;
        match self.peek().clone() {
            Token::Number(text) => {
                let constant = self.constant(&text)?;
                self.advance();
                Ok(Exp::Const(constant))
            }
            Token::Sign("-") => {
                self.advance();
                if let Token::Number(text) = self.peek().clone() {
                    let constant = self.constant(&format!("-{text}"))?;
                    self.advance();
                    return Ok(Exp::Const(constant));
                }
                let operand = self.nested(Parser::atom)?;
                self.grown(Exp::Op(ScalarOp::Neg, OPEN, vec![operand]))
            }
            Token::Sign("!") => {
                self.advance();
                let operand = self.nested(Parser::atom)?;
                self.grown(Exp::Op(ScalarOp::Not, OPEN, vec![operand]))
            }
            Token::Sign("(") => {
                self.advance();
                let exp = self.nested(Parser::exp)?;
                self.expect_sign(")")?;
                Ok(exp)
            }
            Token::Name(name) => match (name.as_str(), self.peek_at(1)) {
                ("true" | "false", _) => {
                    self.advance();
                    Ok(Exp::Const(Scalar::bool(name == "true")))
                }
                (_, Token::Sign("(")) => self.application(&name),
                (_, Token::Sign("[")) => {
                    let array = self.use_name()?;
                    let id = ReadId(self.region.reads);
                    self.region.reads += 1;
                    let index = self.index()?;
                    self.grown(Exp::Read(Read { id, array, index }))
                }
                _ => Ok(Exp::Var(self.use_name()?)),
            },
            _ => Err(self.expected("an expression")),
        }
    }

    /// A constant; whole numbers without a type suffix are `i64`.
    fn constant(&self, text: &str) -> Result<Scalar, ParseError> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_bare = digits.bytes().all(|b| b.is_ascii_digit() || b == b'_');
        let value =
            if is_bare { text.replace('_', "").parse().ok().map(Scalar::i64) } else { parse_scalar(text) };
        value.ok_or_else(|| self.error(format!("`{text}` is not a number of any type")))
    }

    /// `f(x, y)`: a scalar operation, a conversion, or a function that is not known.
    fn application(&mut self, name: &str) -> Result<Exp, ParseError> {
        let mark = self.mark();
        self.advance();
        self.height = 0;
        let mut args = self.in_parens(|parser| parser.part(Parser::exp))?;
        let conversion: Option<ElemType> = name.strip_prefix("to_").and_then(|ty| ty.parse().ok());
        let takes = |count: usize| format!("`{name}` takes {count} operands, not {}", args.len());
        let exp = if let Some(ty) = conversion {
            if args.len() != 1 {
                return Err(self.error_at(mark, takes(1)));
            }
            Exp::Convert(ty, Box::new(args.remove(0)))
        } else if let Ok(op) = name.parse::<ScalarOp>() {
            if args.len() != op.arity() {
                return Err(self.error_at(mark, takes(op.arity())));
            }
            Exp::Op(op, OPEN, args)
        } else if super::is_name(name) {
            Exp::Opaque(name.to_string(), args)
        } else {
            return Err(self.error_at(mark, format!("`{name}` cannot stand in an expression")));
        };
        self.grown(exp)
    }

    /// `[i, a :+ n * s]` or `[[o + {(n:s),(m:t)}]]`
    pub(super) fn index(&mut self) -> Result<Index, ParseError> {
        self.height = 0;
        self.expect_sign("[")?;
        let index = if self.skip_sign("[") {
            let offset = self.part(Parser::bound)?;
            self.expect_sign("+")?;
            self.expect_sign("{")?;
            let mut dims = Vec::new();
            while !self.is_sign("}") {
                self.expect_sign("(")?;
                let extent = self.part(Parser::exp)?;
                self.expect_sign(":")?;
                dims.push((extent, self.part(Parser::exp)?));
                self.expect_sign(")")?;
                if !self.skip_sign(",") {
                    break;
                }
            }
            self.expect_sign("}")?;
            self.expect_sign("]")?;
            Index::Lmad { offset: Box::new(offset), dims }
        } else {
            let mut dims = Vec::new();
            while !self.is_sign("]") {
                dims.push(self.dim_index()?);
                if !self.skip_sign(",") {
                    break;
                }
            }
            Index::Dims(dims)
        };
        self.expect_sign("]")?;
        Ok(index)
    }

    fn dim_index(&mut self) -> Result<DimIndex, ParseError> {
        let start = self.part(Parser::exp)?;
        if !self.skip_sign(":+") {
            return Ok(DimIndex::At(start));
        }
        let count = self.part(Parser::atom)?;
        self.expect_sign("*")?;
        let step = self.part(Parser::atom)?;
        Ok(DimIndex::Slice { start, count, step })
    }
}
