//! The assembler.

use super::read::{Reader, TextError};
use crate::field::{Def, Field, FuncId, Operand, RegId};
use crate::module::{CodeBlock, Entry, EntryValue, Function, Module, Place, ValueType};
use crate::op::Instr;
use galopvm_base::{ElemType, IdVec, Pos};

/// The module that a text says. It is not verified yet.
pub fn parse(text: &str) -> Result<Module, TextError> {
    let mut input = Reader::new(text);
    let mut module = Module::default();
    if !input.peek_word("module") {
        return Err(input.error(format!("expected `module`, found {}", input.found())));
    }
    input.word()?;
    while !input.at_end() {
        match input.word()? {
            "file" => module.files.push(input.quoted()?),
            "call" => {
                let place = place(&mut input)?.ok_or_else(|| input.error("a call has a place"))?;
                module.calls.push(place);
            }
            "entry" => module.entries.push(entry(&mut input)?),
            "fn" => {
                let id = FuncId(input.id("@")?);
                if id != module.functions.next_id() {
                    return Err(input.error(format!(
                        "functions are numbered in order; expected {}",
                        module.functions.next_id()
                    )));
                }
                let function = Assembler::default().function(&mut input)?;
                module.functions.push(function);
            }
            word => {
                return Err(input.error(format!("expected `file`, `call`, `entry` or `fn`, found `{word}`")));
            }
        }
    }
    Ok(module)
}

fn entry(input: &mut Reader<'_>) -> Result<Entry, TextError> {
    let name = input.quoted()?;
    let function = FuncId(input.id("@")?);
    let params = input.list(entry_value)?;
    input.expect("->")?;
    Ok(Entry { name, function, params, results: input.list(entry_value)? })
}

fn entry_value(input: &mut Reader<'_>) -> Result<EntryValue, TextError> {
    let first = input.quoted()?;
    let (name, ty) = if input.accept(":") { (first, input.quoted()?) } else { (String::new(), first) };
    let values = if input.accept("*") { input.number()? } else { 1 };
    Ok(EntryValue { name, ty, values })
}

fn value_type(input: &mut Reader<'_>) -> Result<ValueType, TextError> {
    let mut rank = 0u8;
    while input.accept("[") {
        input.expect("]")?;
        rank = rank.checked_add(1).ok_or_else(|| input.error("the rank is too large"))?;
    }
    Ok(ValueType { elem: input.named::<ElemType>("a type")?, rank })
}

/// Collects the registers of a function as they are defined.
#[derive(Default)]
struct Assembler {
    types: Vec<Option<ValueType>>,
}

impl Assembler {
    fn function(mut self, input: &mut Reader<'_>) -> Result<Function, TextError> {
        let name = input.quoted()?;
        let params = input.list(|input| self.definition(input))?;
        input.expect("->")?;
        let results = input.list(value_type)?;
        let mut blocks = IdVec::new();
        while input.peek_id("b") {
            let id = input.id("b")?;
            if id as usize != blocks.len() {
                return Err(
                    input.error(format!("blocks are numbered in order; expected {}", blocks.next_id()))
                );
            }
            blocks.push(self.block(input)?);
        }
        let mut regs = IdVec::new();
        for (k, ty) in self.types.iter().enumerate() {
            regs.push(
                ty.ok_or_else(|| input.error(format!("register r{k} is not defined in the function above")))?,
            );
        }
        Ok(Function { name, regs, params, results, blocks })
    }

    fn definition(&mut self, input: &mut Reader<'_>) -> Result<RegId, TextError> {
        let reg = input.id("r")?;
        input.expect(":")?;
        let ty = value_type(input)?;
        let index = reg as usize;
        // A gap larger than the text could fill is a typing error, not a reason to take memory.
        if index > self.types.len() + (1 << 16) {
            return Err(input.error(format!("register r{reg} is far beyond the others")));
        }
        if index >= self.types.len() {
            self.types.resize(index + 1, None);
        }
        if self.types[index].replace(ty).is_some() {
            return Err(input.error(format!("register r{reg} is defined twice")));
        }
        Ok(RegId(reg))
    }

    fn block(&mut self, input: &mut Reader<'_>) -> Result<CodeBlock, TextError> {
        let params = input.list(|input| self.definition(input))?;
        input.expect(":")?;
        let mut block = CodeBlock { params, ..CodeBlock::default() };
        while !input.accept("=>") {
            let mut defs = Vec::new();
            if input.peek_id("r") {
                loop {
                    defs.push(Def(self.definition(input)?));
                    if !input.accept(",") {
                        break;
                    }
                }
                input.expect("=")?;
            }
            let mnemonic = input.word()?;
            block.code.push(Instr::parse(defs, mnemonic, input)?);
            block.places.push(place(input)?);
        }
        if block.places.iter().all(Option::is_none) {
            block.places.clear();
        }
        block.results = Vec::<Operand>::parse(input)?;
        Ok(block)
    }
}

fn place(input: &mut Reader<'_>) -> Result<Option<Place>, TextError> {
    if !input.accept("@") {
        return Ok(None);
    }
    let file = input.number()?;
    let mut pos = || -> Result<Pos, TextError> {
        let line = input.number()?;
        input.expect(":")?;
        let pos = Pos { line, column: input.number()? };
        input.accept("-");
        Ok(pos)
    };
    let (start, end) = (pos()?, pos()?);
    let mut call = None;
    if input.peek_word("in") {
        input.word()?;
        call = Some(input.number()?);
    }
    Ok(Some(Place { file, start, end, call }))
}
