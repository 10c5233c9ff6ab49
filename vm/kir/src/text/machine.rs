//! Machines in text: `machine avx2 threads 2 l1 32768 l2 1048576 grain 65536`.

use super::ParseError;
use super::parse::Parser;
use crate::machine::Machine;
use std::fmt;
use std::str::FromStr;

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { cpu, threads, l1_bytes, l2_bytes, thread_grain } = self;
        write!(f, "machine {cpu} threads {threads} l1 {l1_bytes} l2 {l2_bytes} grain {thread_grain}")
    }
}

impl FromStr for Machine {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Machine, ParseError> {
        let mut parser = Parser::new(text)?;
        parser.expect_word("machine")?;
        let mark = parser.mark();
        let cpu = parser.word("an instruction set")?;
        let cpu =
            cpu.parse().map_err(|()| parser.error_at(mark, format!("`{cpu}` is not an instruction set")))?;
        let mut number = |word: &str| {
            parser.expect_word(word)?;
            parser.plain_number()
        };
        let machine = Machine {
            cpu,
            threads: number("threads")?,
            l1_bytes: number("l1")?,
            l2_bytes: number("l2")?,
            thread_grain: number("grain")? as u64,
        };
        parser.expect_end()?;
        Ok(machine)
    }
}
