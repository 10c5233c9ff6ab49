//! Core from its text form; the inverse of `print.rs`.

use super::ir::*;
use galopvm_base::quote::unquote;
use galopvm_base::{ElemType, IdVec, Scalar, ScalarOp, TypedId, scalar::parse_scalar};
use galopvm_bytecode::{Entry, EntryValue, Form, FuncId, ValueType, opcode_table};
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
            let sure = self.accept("sure");
            let op = self.op(depth)?;
            stms.push(Stm { defs, op, origin: Origin::default(), sure });
        }
        let results = self.atoms()?;
        self.expect("}")?;
        Ok(Block { params, stms, results })
    }

    fn part(&mut self) -> Result<Option<Atom>> {
        if self.accept("_") { Ok(None) } else { self.atom().map(Some) }
    }
}

macro_rules! parsing {
    ($($code:literal $variant:ident $mnemonic:literal $effect:ident
       [$($def:ident : $gives:ident),*] { $($field:ident : $role:ident),* } $doc:literal;)+) => {
        impl Reader<'_> {
            fn op(&mut self, depth: usize) -> Result<Op> {
                let name = self.take(|c| c.is_ascii_alphanumeric() || c == '_');
                Ok(match name {
                    $($mnemonic => Op::$variant { $($field: Parsed::parse(self, depth)?),* },)+
                    _ => return Err(self.error(format!("unknown statement `{name}`"))),
                })
            }
        }
    };
}

opcode_table!(parsing);

/// How a type of fields is read, so deep inside of blocks.
trait Parsed: Sized {
    fn parse(reader: &mut Reader<'_>, depth: usize) -> Result<Self>;
}

macro_rules! parsed_by {
    ($($type:ty: |$reader:ident| $read:expr;)+) => {
        $(impl Parsed for $type {
            fn parse($reader: &mut Reader<'_>, _: usize) -> Result<$type> {
                $read
            }
        })+
    };
}

parsed_by! {
    Scalar: |r| match r.atom()? {
        Atom::Const(value) => Ok(value),
        Atom::Var(var) => Err(r.error(format!("expected a constant, found {var}"))),
    };
    ScalarOp: |r| r.word("an operation");
    ElemType: |r| r.word("an element type");
    u32: |r| r.number();
    String: |r| r.quoted();
    Form: |r| r.quoted()?.parse().map_err(|error: String| r.error(error));
    FuncId: |r| r.id("@").map(FuncId);
    Atom: |r| r.atom();
    Var: |r| r.var();
    SliceDim: |r| {
        let first = r.part()?;
        if !r.accept(":") {
            return first.map(SliceDim::At).ok_or_else(|| r.error("expected an index"));
        }
        let second = r.part()?;
        r.expect(":")?;
        Ok(SliceDim::Range(first, second, r.part()?))
    };
}

impl<T: Parsed> Parsed for Vec<T> {
    fn parse(reader: &mut Reader<'_>, depth: usize) -> Result<Vec<T>> {
        reader.list(|reader| T::parse(reader, depth))
    }
}

impl Parsed for Block {
    fn parse(reader: &mut Reader<'_>, depth: usize) -> Result<Block> {
        let params =
            if reader.rest().starts_with('(') { reader.list(Reader::typed_var)? } else { Vec::new() };
        reader.block(params, depth + 1)
    }
}
