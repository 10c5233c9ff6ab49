//! Core from its text form; the inverse of `print.rs`.

use super::ir::*;
use galopvm_base::quote::unquote;
use galopvm_base::{ElemType, IdVec, Scalar, TypedId, scalar::parse_scalar};
use galopvm_bytecode::{Entry, EntryValue, FuncId, ValueType};
use std::str::FromStr;

/// What is wrong with a text, and in which line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoreTextError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

type Result<T> = std::result::Result<T, CoreTextError>;

/// Reads a program.
pub fn parse(text: &str) -> Result<Program> {
    let mut reader = Reader { text, at: 0, vars: Vec::new() };
    let mut program = Program::default();
    loop {
        if reader.accept("entry") {
            let name = reader.quoted()?;
            let function = FuncId(reader.id("@")?);
            let params = reader.list(Reader::entry_value)?;
            reader.expect("->")?;
            let results = reader.list(Reader::entry_value)?;
            program.entries.push(Entry { name, function, params, results });
        } else if reader.accept("fun") {
            let id = reader.id("@")?;
            if id as usize != program.funs.len() {
                return Err(reader.error("functions are numbered in order"));
            }
            let fun = reader.fun()?;
            program.funs.push(fun);
        } else if reader.rest().is_empty() {
            return Ok(program);
        } else {
            return Err(reader.error("expected `entry` or `fun`"));
        }
    }
}

/// Blocks inside blocks; deeper text is refused so that reading it cannot overflow the stack.
const MAX_DEPTH: usize = 200;

struct Reader<'a> {
    text: &'a str,
    at: usize,
    vars: Vec<Option<ValueType>>,
}

impl<'a> Reader<'a> {
    fn error(&self, message: impl Into<String>) -> CoreTextError {
        CoreTextError { line: self.text[..self.at].matches('\n').count() + 1, message: message.into() }
    }

    fn rest(&mut self) -> &'a str {
        let rest = self.text[self.at..].trim_start();
        self.at = self.text.len() - rest.len();
        rest
    }

    fn accept(&mut self, token: &str) -> bool {
        let rest = self.rest();
        let Some(after) = rest.strip_prefix(token) else { return false };
        let word = token.ends_with(|c: char| c.is_ascii_alphanumeric());
        if word && after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            return false;
        }
        self.at += token.len();
        true
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.accept(token) { Ok(()) } else { Err(self.error(format!("expected `{token}`"))) }
    }

    fn take(&mut self, part: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn word<T: FromStr>(&mut self, what: &str) -> Result<T> {
        let word = self.take(|c| c.is_ascii_alphanumeric() || c == '_');
        word.parse().map_err(|_| self.error(format!("expected {what}, found `{word}`")))
    }

    fn number(&mut self) -> Result<u32> {
        self.word("a number")
    }

    fn id(&mut self, prefix: &str) -> Result<u32> {
        self.expect_prefix(prefix)?;
        self.number()
    }

    fn expect_prefix(&mut self, prefix: &str) -> Result<()> {
        if !self.rest().starts_with(prefix) {
            return Err(self.error(format!("expected `{prefix}` and a number")));
        }
        self.at += prefix.len();
        Ok(())
    }

    fn quoted(&mut self) -> Result<String> {
        let (value, length) = unquote(self.rest()).map_err(|what| self.error(what))?;
        self.at += length;
        Ok(value)
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.expect("(")?;
        self.items(")", &mut item)
    }

    fn items<T>(&mut self, end: &str, item: &mut impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = Vec::new();
        while !self.accept(end) {
            if !items.is_empty() {
                self.expect(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn entry_value(&mut self) -> Result<EntryValue> {
        Ok(EntryValue { name: self.quoted()?, ty: self.quoted()?, values: self.number()? })
    }

    fn value_type(&mut self) -> Result<ValueType> {
        let mut rank = 0u8;
        while self.accept("[]") {
            rank = rank.checked_add(1).ok_or_else(|| self.error("too many dimensions"))?;
        }
        Ok(ValueType { elem: self.word("an element type")?, rank })
    }

    fn var(&mut self) -> Result<Var> {
        Ok(Var(self.id("v")?))
    }

    /// `v1: type`; a definition.
    fn typed_var(&mut self) -> Result<Var> {
        let var = self.var()?;
        self.expect(":")?;
        let ty = self.value_type()?;
        // Numbers far beyond those in use would only take memory.
        if var.index() > self.vars.len() + self.text.len() {
            return Err(self.error(format!("the number of {var} is too large")));
        }
        if self.vars.len() <= var.index() {
            self.vars.resize(var.index() + 1, None);
        }
        if self.vars[var.index()].replace(ty).is_some() {
            return Err(self.error(format!("{var} is defined twice")));
        }
        Ok(var)
    }

    fn atom(&mut self) -> Result<Atom> {
        let rest = self.rest();
        if rest.strip_prefix('v').is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit())) {
            return Ok(Atom::Var(self.var()?));
        }
        if self.accept("bits") {
            let ty: ElemType = self.word("an element type")?;
            let hex = self.take(|c| c.is_ascii_alphanumeric());
            let bits = hex.strip_prefix("0x").and_then(|h| u64::from_str_radix(h, 16).ok());
            return bits
                .map(|bits| Atom::Const(Scalar::new(ty, bits)))
                .ok_or_else(|| self.error("expected bits in hexadecimal"));
        }
        let text = self.take(|c| c.is_ascii_alphanumeric() || "_.+-".contains(c));
        parse_scalar(text)
            .map(Atom::Const)
            .ok_or_else(|| self.error(format!("expected an operand, found `{text}`")))
    }

    fn atoms(&mut self) -> Result<Vec<Atom>> {
        self.list(Self::atom)
    }

    fn fun(&mut self) -> Result<Fun> {
        self.vars.clear();
        let name = self.quoted()?;
        let params = self.list(Self::typed_var)?;
        self.expect("->")?;
        let results = self.list(Self::value_type)?;
        let body = self.block(params, 0)?;
        let vars: Option<IdVec<Var, ValueType>> =
            self.vars.drain(..).collect::<Option<Vec<_>>>().map(IdVec::from);
        let vars = vars.ok_or_else(|| self.error("a variable's number is left out"))?;
        Ok(Fun { name, vars, results, body })
    }

    fn nested(&mut self, depth: usize) -> Result<Block> {
        let params = if self.rest().starts_with('(') { self.list(Self::typed_var)? } else { Vec::new() };
        self.block(params, depth + 1)
    }

    fn block(&mut self, params: Vec<Var>, depth: usize) -> Result<Block> {
        if depth > MAX_DEPTH {
            return Err(self.error("blocks are nested too deeply"));
        }
        self.expect("{")?;
        let mut stms = Vec::new();
        while !self.accept("=>") {
            let mut defs = Vec::new();
            while self.rest().strip_prefix('v').is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit())) {
                defs.push(self.typed_var()?);
                if !self.accept(",") {
                    break;
                }
            }
            if !defs.is_empty() {
                self.expect("=")?;
            }
            let op = self.op(depth)?;
            stms.push(Stm { defs, op, origin: Origin::default() });
        }
        let results = self.atoms()?;
        self.expect("}")?;
        Ok(Block { params, stms, results })
    }

    fn dims(&mut self) -> Result<Vec<SliceDim>> {
        self.expect("[")?;
        self.items("]", &mut |r: &mut Self| {
            let first = r.part()?;
            if !r.accept(":") {
                return first.map(SliceDim::At).ok_or_else(|| r.error("expected an index"));
            }
            let second = r.part()?;
            r.expect(":")?;
            Ok(SliceDim::Range(first, second, r.part()?))
        })
    }

    fn part(&mut self) -> Result<Option<Atom>> {
        if self.accept("_") { Ok(None) } else { self.atom().map(Some) }
    }

    fn op(&mut self, depth: usize) -> Result<Op> {
        let name = self.take(|c| c.is_ascii_alphanumeric() || c == '_');
        Ok(match name {
            "scalar" => Op::Scalar(self.word("an operation")?, self.word("an element type")?, self.atoms()?),
            "convert" => {
                Op::Convert(self.word("an element type")?, self.word("an element type")?, self.atom()?)
            }
            "if" => Op::If(self.atom()?, self.nested(depth)?, self.nested(depth)?),
            "for" => Op::For { bound: self.atom()?, init: self.atoms()?, body: self.nested(depth)? },
            "while" => {
                Op::While { init: self.atoms()?, cond: self.nested(depth)?, body: self.nested(depth)? }
            }
            "call" => Op::Call(FuncId(self.id("@")?), self.atoms()?),
            "assert" => Op::Assert(self.atom()?, self.quoted()?, self.atoms()?),
            "fail" => Op::Fail(self.quoted()?, self.atoms()?),
            "trace" => {
                let label = self.quoted()?;
                let form = self.quoted()?.parse().map_err(|error: String| self.error(error))?;
                let stops: u32 = self.number()?;
                Op::Trace { label, form, stops: stops != 0, values: self.atoms()? }
            }
            "param" => Op::Param(self.quoted()?),
            "dim" => Op::Dim(self.var()?, self.number()?),
            "index" => Op::Index(self.var()?, self.atoms()?),
            "slice" => Op::Slice(self.var()?, self.dims()?),
            "update" => Op::Update(self.var()?, self.dims()?, self.atom()?),
            "permute" => Op::Permute(self.var()?, self.list(Self::number)?),
            "reverse" => Op::Reverse(self.var()?, self.number()?),
            "reshape" => Op::Reshape(self.var()?, self.atoms()?),
            "concat" => Op::Concat(self.list(Self::var)?, self.number()?),
            "replicate" => Op::Replicate(self.atom()?, self.atom()?),
            "iota" => Op::Iota {
                ty: self.word("an element type")?,
                count: self.atom()?,
                start: self.atom()?,
                step: self.atom()?,
            },
            "array" => Op::Array(self.word("an element type")?, self.number()?, self.atoms()?),
            "copy" => Op::Copy(self.var()?),
            "map" => {
                Op::Map { width: self.atom()?, arrays: self.list(Self::var)?, body: self.nested(depth)? }
            }
            "reduce" => Op::Reduce {
                width: self.atom()?,
                neutral: self.atoms()?,
                arrays: self.list(Self::var)?,
                body: self.nested(depth)?,
            },
            "scan" => Op::Scan {
                width: self.atom()?,
                neutral: self.atoms()?,
                arrays: self.list(Self::var)?,
                body: self.nested(depth)?,
            },
            "redomap" => Op::Redomap {
                width: self.atom()?,
                neutral: self.atoms()?,
                arrays: self.list(Self::var)?,
                map: self.nested(depth)?,
                op: self.nested(depth)?,
            },
            "manifest" => Op::Manifest(self.var()?),
            "rotate" => Op::Rotate(self.var()?, self.number()?, self.atom()?),
            "equal" => Op::Equal(self.var()?, self.var()?),
            "flat_index" => Op::FlatIndex {
                array: self.var()?,
                offset: self.atom()?,
                sizes: self.atoms()?,
                strides: self.atoms()?,
            },
            "flat_update" => Op::FlatUpdate {
                array: self.var()?,
                offset: self.atom()?,
                strides: self.atoms()?,
                value: self.var()?,
            },
            _ => return self.index_space(name, depth),
        })
    }

    /// The operators that write to places, and those that choose.
    fn index_space(&mut self, name: &str, depth: usize) -> Result<Op> {
        Ok(match name {
            "scatter" => Op::Scatter {
                width: self.atom()?,
                dests: self.list(Self::var)?,
                index: self.list(Self::var)?,
                values: self.list(Self::var)?,
            },
            "hist" => Op::Hist {
                width: self.atom()?,
                dests: self.list(Self::var)?,
                neutral: self.atoms()?,
                index: self.list(Self::var)?,
                values: self.list(Self::var)?,
                op: self.nested(depth)?,
            },
            "filter" => {
                Op::Filter { width: self.atom()?, arrays: self.list(Self::var)?, body: self.nested(depth)? }
            }
            "partition" => Op::Partition {
                classes: self.number()?,
                width: self.atom()?,
                arrays: self.list(Self::var)?,
                body: self.nested(depth)?,
            },
            "stream" => Op::Stream {
                width: self.atom()?,
                accs: self.list(Self::var)?,
                arrays: self.list(Self::var)?,
                body: self.nested(depth)?,
            },
            "acc_write" => Op::AccWrite {
                accs: self.list(Self::var)?,
                index: self.atoms()?,
                values: self.atoms()?,
                op: self.nested(depth)?,
            },
            _ => return Err(self.error(format!("unknown statement `{name}`"))),
        })
    }
}
