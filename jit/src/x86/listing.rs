//! Machine code as text: one line per instruction, with its bytes, so that the text reads back to the code. What stands from
//! the first address on that an instruction names is data.

use iced_x86::{Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter};
use std::fmt::Write;

/// Columns that bytes take before the instruction; longer ones push it to the right.
const BYTES_WIDTH: usize = 24;

/// Disassembles code under a header line.
pub fn disassemble(header: &str, code: &[u8]) -> String {
    let mut text = format!("; {header}\n");
    let mut formatter = IntelFormatter::new();
    formatter.options_mut().set_space_after_operand_separator(true);
    formatter.options_mut().set_hex_prefix("0x");
    formatter.options_mut().set_hex_suffix("");
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    let mut line = String::new();
    let mut data = code.len();
    while decoder.position() < data {
        decoder.decode_out(&mut instruction);
        line.clear();
        formatter.format(&instruction, &mut line);
        let start = instruction.ip() as usize;
        append(&mut text, start, &code[start..start + instruction.len()], &line);
        if instruction.is_ip_rel_memory_operand() {
            data = data.min(instruction.ip_rel_memory_address() as usize);
        }
    }
    for (k, element) in code[data..].chunks(8).enumerate() {
        let number = element.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        append(&mut text, data + 8 * k, element, &format!("dq 0x{number:x}"));
    }
    text
}

/// A line of a listing.
fn append(text: &mut String, start: usize, bytes: &[u8], line: &str) {
    let bytes: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
    let _ = writeln!(text, "{start:6x}  {bytes:BYTES_WIDTH$}  {line}");
}

/// The pieces of code that a listing shows, each with its header.
pub fn parse(listing: &str) -> Result<Vec<(String, Vec<u8>)>, String> {
    let mut pieces: Vec<(String, Vec<u8>)> = Vec::new();
    for (k, line) in listing.lines().enumerate() {
        let wrong = |what: &str| format!("line {}: {what}", k + 1);
        if let Some(header) = line.strip_prefix("; ") {
            pieces.push((header.to_string(), Vec::new()));
            continue;
        }
        let (_, code) = pieces.last_mut().ok_or_else(|| wrong("a header comes first"))?;
        let mut columns = line.split_whitespace();
        let address = columns.next().and_then(|a| usize::from_str_radix(a, 16).ok());
        if address != Some(code.len()) {
            return Err(wrong("the address is not that of the next byte"));
        }
        let bytes = columns.next().ok_or_else(|| wrong("the bytes are missing"))?;
        for at in (0..bytes.len()).step_by(2) {
            let byte = bytes.get(at..at + 2).and_then(|b| u8::from_str_radix(b, 16).ok());
            code.push(byte.ok_or_else(|| wrong("the bytes are not hexadecimal"))?);
        }
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_reads_back_to_its_code() {
        let code = [0x55, 0x48, 0x89, 0xe5, 0x62, 0xf1, 0x74, 0x48, 0x58, 0xc2, 0xc3];
        let text = disassemble("sample", &code);
        assert!(text.contains("vaddps zmm0, zmm1, zmm2"), "{text}");
        assert_eq!(parse(&text), Ok(vec![("sample".into(), code.to_vec())]));
        assert!(parse("0 55 push rbp").is_err());
        assert!(parse("; x\n 4 55 push rbp").is_err());
    }
}
