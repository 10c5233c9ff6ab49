//! Reading the text form of the low IR; `text.rs` says what it looks like.
//!
//! Whatever reads is code, but not all code is right: `verify.rs` tells.

use super::field::Field;
use super::{Block, Class, Code, Effect, Inst, Label, Op, Reg};
use galopvm_base::TypedId;

/// Registers and blocks of a text are numbered below this.
const MOST: u32 = 1 << 20;

/// The code that a text describes, or the line that does not read and why.
pub fn parse(text: &str) -> Result<Code, String> {
    let mut lines = text.lines().enumerate();
    let masks = match lines.next().and_then(|(_, line)| line.strip_prefix("masks ")) {
        Some(word) => Class::read(word, "").ok_or_else(|| format!("line 1: `{word}` is no class"))?,
        None => return Err("line 1: the class of masks comes first".into()),
    };
    let mut reader = Reader { code: Code::new(masks) };
    for (k, line) in lines {
        reader.line(line).map_err(|what| format!("line {}: {what}", k + 1))?;
    }
    Ok(reader.code)
}

struct Reader {
    code: Code,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        match line.strip_prefix("  ") {
            Some(inst) => self.inst(inst),
            None => self.block(line),
        }
    }

    fn block(&mut self, line: &str) -> Result<(), String> {
        let header = line.strip_suffix(':').ok_or("the head of a block ends with `:`")?;
        let mut words = header.split(' ');
        let word = words.next().unwrap_or_default();
        let label = Label::read(word, "").filter(|label| label.0 < MOST);
        let label = label.ok_or_else(|| format!("`{word}` is no block"))?;
        let params = words.map(|word| self.definition(word)).collect::<Result<_, _>>()?;
        if self.code.order.contains(&label) {
            return Err(format!("{label} is there twice"));
        }
        if self.code.blocks.len() <= label.index() {
            self.code.blocks.resize(label.index() + 1, Block::default());
        }
        self.code.blocks[label.index()].params = params;
        self.code.order.push(label);
        Ok(())
    }

    fn inst(&mut self, line: &str) -> Result<(), String> {
        let (out, rest) = match line.split_once(" = ") {
            Some((out, rest)) => (Some(self.definition(out)?), rest),
            None => (None, line),
        };
        let mut words = rest.split(' ');
        let word = words.next().unwrap_or_default();
        let op = Op::read(word).ok_or_else(|| format!("`{word}` is no operation"))?;
        let args = words.map(|word| self.register(word)).collect::<Result<_, _>>()?;
        let inst = Inst { op, out, args };
        let label = self.code.order.last().ok_or("an instruction outside of a block")?;
        let block = &mut self.code.blocks[label.index()];
        if block.end.is_some() {
            return Err(format!("an instruction behind the end of {label}"));
        }
        match op.effect() {
            Effect::Ends => block.end = Some(inst),
            _ => block.insts.push(inst),
        }
        Ok(())
    }

    fn definition(&mut self, word: &str) -> Result<Reg, String> {
        let wrong = || format!("`{word}` is no register with its class");
        let (reg, class) = word.split_once(':').ok_or_else(wrong)?;
        let class = Class::read(class, "").ok_or_else(wrong)?;
        let reg = self.register(reg)?;
        self.code.classes[reg.index()] = class;
        Ok(reg)
    }

    fn register(&mut self, word: &str) -> Result<Reg, String> {
        let number = word.strip_prefix('%').and_then(|n| n.parse().ok()).filter(|n| *n < MOST);
        let reg = Reg(number.ok_or_else(|| format!("`{word}` is no register"))?);
        if self.code.classes.len() <= reg.index() {
            self.code.classes.resize(reg.index() + 1, Class::Int);
        }
        Ok(reg)
    }
}
