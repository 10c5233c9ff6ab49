//! Machine code as text.

use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter};
use std::fmt::Write;

/// Disassembles code under a header line.
pub fn disassemble(header: &str, code: &[u8]) -> String {
    let mut text = format!("; {header}, {} bytes\n", code.len());
    let mut formatter = IntelFormatter::new();
    formatter.options_mut().set_space_after_operand_separator(true);
    formatter.options_mut().set_hex_prefix("0x");
    formatter.options_mut().set_hex_suffix("");
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let mut line = String::new();
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        line.clear();
        formatter.format(&instruction, &mut line);
        let _ = writeln!(text, "{:6x}  {line}", instruction.ip());
    }
    text
}
