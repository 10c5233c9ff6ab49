//! Machines in text: `machine lanes 8 registers 13 fma threads 2 l1 32768 l2 1048576 grain 65536`; with `masks`
//! between the registers and `fma` where there are such, and `page 64 followed 1` at the end where these are not the usual ones.

use super::ParseError;
use super::parse::Parser;
use crate::machine::{Machine, Vectors};
use std::fmt;
use std::str::FromStr;

impl fmt::Display for Vectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Vectors { lanes, registers, masks, fma } = self;
        write!(f, "lanes {lanes} registers {registers}")?;
        [(masks, " masks"), (fma, " fma")]
            .iter()
            .filter(|(has, _)| **has)
            .try_for_each(|(_, word)| f.write_str(word))
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { vectors, threads, l1_bytes, l2_bytes, page_bytes, followed, thread_grain } = self;
        write!(f, "machine {vectors} threads {threads} l1 {l1_bytes} l2 {l2_bytes} grain {thread_grain}")?;
        let usual = Machine::default();
        if (*page_bytes, *followed) != (usual.page_bytes, usual.followed) {
            write!(f, " page {page_bytes} followed {followed}")?;
        }
        Ok(())
    }
}

impl FromStr for Machine {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Machine, ParseError> {
        let mut parser = Parser::new(text)?;
        parser.expect_word("machine")?;
        let mark = parser.mark();
        let vectors = Vectors {
            lanes: numbered(&mut parser, "lanes")?,
            registers: numbered(&mut parser, "registers")?,
            masks: parser.skip_word("masks"),
            fma: parser.skip_word("fma"),
        };
        if !vectors.lanes.is_power_of_two() {
            return Err(parser.error_at(mark, "the number of lanes is not a power of two"));
        }
        let mut machine = Machine {
            vectors,
            threads: numbered(&mut parser, "threads")?,
            l1_bytes: numbered(&mut parser, "l1")?,
            l2_bytes: numbered(&mut parser, "l2")?,
            thread_grain: numbered(&mut parser, "grain")? as u64,
            ..Machine::default()
        };
        if parser.skip_word("page") {
            machine.page_bytes = parser.plain_number()?;
            machine.followed = numbered(&mut parser, "followed")? as u64;
        }
        parser.expect_end()?;
        Ok(machine)
    }
}

fn numbered(parser: &mut Parser, word: &str) -> Result<usize, ParseError> {
    parser.expect_word(word)?;
    parser.plain_number()
}
