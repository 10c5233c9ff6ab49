//! The text form of the low IR, for people and for tests.

use super::{Code, Inst};
use std::fmt;

impl fmt::Display for Inst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(out) = self.out {
            write!(f, "{out} = ")?;
        }
        write!(f, "{:?}", self.op)?;
        for arg in &self.args {
            write!(f, " {arg}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for &label in &self.order {
            let block = &self.blocks[label.0 as usize];
            write!(f, "{label}")?;
            for param in &block.params {
                write!(f, " {param}")?;
            }
            writeln!(f, ":")?;
            for inst in block.insts.iter().chain(&block.end) {
                writeln!(f, "  {inst}")?;
            }
        }
        Ok(())
    }
}
