//! The text form of the low IR, for people and for tests; `parse.rs` reads it.
//!
//! ```text
//! masks vec
//! block0:
//!   %0:int = word.6
//!   jump.block1 %0
//! block1 %1:int:
//!   ...
//! ```

use super::{Code, Inst, Reg};
use galopvm_base::TypedId;
use std::fmt;

impl Code {
    fn definition(&self, reg: Reg) -> String {
        match self.classes.get(reg.index()) {
            Some(class) => format!("{reg}:{}", class.name()),
            None => reg.to_string(),
        }
    }

    /// An instruction in the text form.
    pub fn line(&self, inst: &Inst) -> String {
        let mut line = inst.out.map_or(String::new(), |out| format!("{} = ", self.definition(out)));
        line.push_str(&inst.op.to_string());
        inst.args.iter().for_each(|arg| line.push_str(&format!(" {arg}")));
        line
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "masks {}", self.masks.name())?;
        for &label in &self.order {
            let block = &self.blocks[label.index()];
            write!(f, "{label}")?;
            for param in &block.params {
                write!(f, " {}", self.definition(*param))?;
            }
            writeln!(f, ":")?;
            for inst in block.insts.iter().chain(&block.end) {
                writeln!(f, "  {}", self.line(inst))?;
            }
        }
        Ok(())
    }
}
