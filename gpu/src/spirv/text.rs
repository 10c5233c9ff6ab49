//! The text form of SPIR-V: printed from words, parsed back to the same words.
//!
//! The notation is that of the Khronos tools: one instruction per line, `%5 = OpIAdd %2 %3 %4`, comments after `;`,
//! `!0x7f800000` for a word that has no other spelling (infinities, masks). The header stands in comments.

use rspirv::binary::Assemble;
use rspirv::dr::{Instruction, Operand};
use rspirv::grammar::{GLSL_STD_450_INSTRUCTION_TABLE, INSTRUCTION_TABLE, OperandKind, OperandQuantifier};
use rspirv::spirv::{self, Op};
use std::collections::HashMap;
use std::fmt;
use std::fmt::Write;
use std::str::FromStr;

/// What a line that starts a stage in a listing begins with.
pub const STAGE: &str = "; stage ";

/// What is wrong with a text, and in which line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for TextError {}

/// A numeric type, as far as constants need to know it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Number {
    float: bool,
    width: u32,
}

/// The text of a module.
pub fn print(words: &[u32]) -> Result<String, String> {
    let module = rspirv::dr::load_words(words).map_err(|e| e.to_string())?;
    let header = module.header.as_ref().ok_or("the module has no header")?;
    let (major, minor) = header.version();
    let mut out = format!(
        "; SPIR-V\n; Version: {major}.{minor}\n; Generator: {:#010x}\n; Bound: {}\n; Schema: {}\n",
        header.generator, header.bound, header.reserved_word
    );
    let mut types = HashMap::new();
    for instruction in module.all_inst_iter() {
        note_type(instruction, &mut types);
        print_instruction(instruction, &types, &mut out);
    }
    Ok(out)
}

fn note_type(instruction: &Instruction, types: &mut HashMap<u32, Number>) {
    let float = match instruction.class.opcode {
        Op::TypeInt => false,
        Op::TypeFloat => true,
        _ => return,
    };
    if let (Some(id), Some(Operand::LiteralBit32(width))) =
        (instruction.result_id, instruction.operands.first())
    {
        types.insert(id, Number { float, width: *width });
    }
}

fn print_instruction(instruction: &Instruction, types: &HashMap<u32, Number>, out: &mut String) {
    if let Some(id) = instruction.result_id {
        let _ = write!(out, "%{id} = ");
    }
    let _ = write!(out, "Op{}", instruction.class.opname);
    if let Some(ty) = instruction.result_type {
        let _ = write!(out, " %{ty}");
    }
    let number = instruction.result_type.and_then(|ty| types.get(&ty)).copied();
    for operand in &instruction.operands {
        out.push(' ');
        let constant = matches!(instruction.class.opcode, Op::Constant | Op::SpecConstant);
        if !constant {
            print_operand(operand, out);
        } else if !print_number(operand, number, out) {
            print_raw(operand, out);
        }
    }
    out.push('\n');
}

/// A constant in its type; false if it has no such spelling.
fn print_number(operand: &Operand, number: Option<Number>, out: &mut String) -> bool {
    let done = match (operand, number) {
        (Operand::LiteralBit32(bits), Some(Number { float: true, width: 32 })) => {
            let value = f32::from_bits(*bits);
            value.is_finite().then(|| write!(out, "{value:?}"))
        }
        (Operand::LiteralBit64(bits), Some(Number { float: true, width: 64 })) => {
            let value = f64::from_bits(*bits);
            value.is_finite().then(|| write!(out, "{value:?}"))
        }
        (Operand::LiteralBit32(bits), Some(Number { float: false, .. })) => Some(write!(out, "{bits}")),
        (Operand::LiteralBit64(bits), Some(Number { float: false, .. })) => Some(write!(out, "{bits}")),
        _ => None,
    };
    done.is_some()
}

fn print_operand(operand: &Operand, out: &mut String) {
    let _ = match operand {
        Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => write!(out, "%{id}"),
        Operand::LiteralBit32(value) => write!(out, "{value}"),
        Operand::LiteralExtInstInteger(value) => match extended_name(*value) {
            Some(name) => write!(out, "{name}"),
            None => write!(out, "{value}"),
        },
        Operand::LiteralString(text) => write!(out, "{text:?}"),
        Operand::FunctionControl(v) if v.is_empty() => write!(out, "None"),
        Operand::SelectionControl(v) if v.is_empty() => write!(out, "None"),
        Operand::LoopControl(v) if v.is_empty() => write!(out, "None"),
        Operand::SourceLanguage(v) => write!(out, "{v:?}"),
        Operand::ExecutionModel(v) => write!(out, "{v:?}"),
        Operand::AddressingModel(v) => write!(out, "{v:?}"),
        Operand::MemoryModel(v) => write!(out, "{v:?}"),
        Operand::ExecutionMode(v) => write!(out, "{v:?}"),
        Operand::StorageClass(v) => write!(out, "{v:?}"),
        Operand::Decoration(v) => write!(out, "{v:?}"),
        Operand::BuiltIn(v) => write!(out, "{v:?}"),
        Operand::Capability(v) => write!(out, "{v:?}"),
        other => return print_raw(other, out),
    };
}

fn print_raw(operand: &Operand, out: &mut String) {
    let words: Vec<String> = operand.assemble().iter().map(|word| format!("!{word:#x}")).collect();
    out.push_str(&words.join(" "));
}

fn extended_name(number: u32) -> Option<&'static str> {
    GLSL_STD_450_INSTRUCTION_TABLE.lookup_opcode(number).map(|i| i.opname)
}

/// The words of a module in text form.
pub fn parse(text: &str) -> Result<Vec<u32>, TextError> {
    parse_lines(&mut text.lines().enumerate().map(|(k, line)| (k + 1, line)))
}

/// The words of each stage of a listing.
pub fn parse_stages(text: &str) -> Result<Vec<Vec<u32>>, TextError> {
    let mut stages: Vec<Vec<(usize, &str)>> = Vec::new();
    for (k, line) in text.lines().enumerate() {
        if line.starts_with(STAGE) {
            stages.push(Vec::new());
        } else if let Some(stage) = stages.last_mut() {
            stage.push((k + 1, line));
        } else if !line.trim().is_empty() {
            return Err(TextError { line: k + 1, message: format!("a listing begins with `{STAGE}`") });
        }
    }
    stages.into_iter().map(|lines| parse_lines(&mut lines.into_iter())).collect()
}

fn parse_lines(lines: &mut dyn Iterator<Item = (usize, &str)>) -> Result<Vec<u32>, TextError> {
    // Magic number, version, generator, bound, schema.
    let mut words = vec![spirv::MAGIC_NUMBER, 0x0001_0000, 0, 0, 0];
    let mut types: HashMap<u32, Number> = HashMap::new();
    let mut greatest = 0;
    for (line, text) in lines {
        let error = |message: String| TextError { line, message };
        if let Some(comment) = text.trim().strip_prefix(';') {
            header(comment.trim(), &mut words).map_err(error)?;
            continue;
        }
        let tokens = tokens(text).map_err(error)?;
        if !tokens.is_empty() {
            instruction(&tokens, &mut types, &mut greatest, &mut words).map_err(error)?;
        }
    }
    if words[3] == 0 {
        words[3] = greatest + 1;
    }
    Ok(words)
}

fn header(comment: &str, words: &mut [u32]) -> Result<(), String> {
    let Some((key, value)) = comment.split_once(':') else { return Ok(()) };
    let value = value.trim();
    let number =
        || integer(value).and_then(|n| u32::try_from(n).ok()).ok_or(format!("`{value}` is not a number"));
    match key {
        "Version" => {
            let parts =
                value.split_once('.').and_then(|(a, b)| Some((a.parse::<u8>().ok()?, b.parse::<u8>().ok()?)));
            let (major, minor) = parts.ok_or(format!("`{value}` is not a version"))?;
            words[1] = u32::from(major) << 16 | u32::from(minor) << 8;
        }
        "Generator" => words[2] = number()?,
        "Bound" => words[3] = number()?,
        "Schema" => words[4] = number()?,
        _ => {}
    }
    Ok(())
}

/// The words of a line; strings stay in their quotes.
fn tokens(text: &str) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            ';' => break,
            c if c.is_whitespace() => {}
            '"' => {
                let mut string = String::from('"');
                loop {
                    match chars.next() {
                        None => return Err("a string does not end".into()),
                        Some('"') => break,
                        Some('\\') => match chars.next() {
                            None => return Err("a string does not end".into()),
                            Some('n') => string.push('\n'),
                            Some('t') => string.push('\t'),
                            Some('r') => string.push('\r'),
                            Some('0') => string.push('\0'),
                            Some('u') => string.push(unicode(&mut chars)?),
                            Some(other) => string.push(other),
                        },
                        Some(other) => string.push(other),
                    }
                }
                out.push(string);
            }
            first => {
                let mut word = String::from(first);
                while let Some(next) = chars.next_if(|c| !c.is_whitespace() && *c != ';') {
                    word.push(next);
                }
                out.push(word);
            }
        }
    }
    Ok(out)
}

/// `{1f}` after `\u`.
fn unicode(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<char, String> {
    let digits: String = chars.by_ref().skip_while(|c| *c == '{').take_while(|c| *c != '}').collect();
    u32::from_str_radix(&digits, 16)
        .ok()
        .and_then(char::from_u32)
        .ok_or(format!("`{digits}` is not a character"))
}

fn integer(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn id(token: &str, greatest: &mut u32) -> Result<u32, String> {
    let id: Option<u32> = token.strip_prefix('%').and_then(|n| n.parse().ok());
    let id = id.filter(|id| *id < u32::MAX).ok_or(format!("`{token}` is not an id"))?;
    *greatest = (*greatest).max(id);
    Ok(id)
}

fn instruction(
    tokens: &[String],
    types: &mut HashMap<u32, Number>,
    greatest: &mut u32,
    words: &mut Vec<u32>,
) -> Result<(), String> {
    let (result, rest) = match tokens {
        [result, equals, rest @ ..] if equals == "=" => (Some(id(result, greatest)?), rest),
        rest => (None, rest),
    };
    let (name, mut rest) = rest.split_first().ok_or("an instruction is missing")?;
    let row = INSTRUCTION_TABLE.iter().find(|row| name.strip_prefix("Op") == Some(row.opname));
    let row = row.ok_or(format!("`{name}` is not an instruction"))?;
    let start = words.len();
    words.push(0);
    let mut number = None;
    for operand in row.operands {
        if operand.kind == OperandKind::IdResult {
            words.push(result.ok_or(format!("`{name}` needs a result"))?);
            continue;
        }
        loop {
            let Some((token, after)) = rest.split_first() else {
                if operand.quantifier == OperandQuantifier::One {
                    return Err(format!("`{name}` has too few operands"));
                }
                break;
            };
            rest = after;
            if operand.kind == OperandKind::IdResultType {
                number = types.get(&id(token, greatest)?).copied();
            }
            encode(token, operand.kind, number, greatest, words)?;
            if operand.quantifier != OperandQuantifier::ZeroOrMore {
                break;
            }
        }
    }
    // What some enumerants bring along: literals, ids, a builtin.
    for token in rest {
        encode(token, OperandKind::BuiltIn, None, greatest, words)?;
    }
    if result.is_some() && !row.operands.iter().any(|o| o.kind == OperandKind::IdResult) {
        return Err(format!("`{name}` has no result"));
    }
    let length = u32::try_from(words.len() - start).ok().filter(|n| *n < 1 << 16);
    words[start] = length.ok_or("the instruction is too long")? << 16 | row.opcode as u32;
    if let (Op::TypeInt | Op::TypeFloat, Some(width)) = (row.opcode, words.get(start + 2)) {
        types.insert(words[start + 1], Number { float: row.opcode == Op::TypeFloat, width: *width });
    }
    Ok(())
}

fn encode(
    token: &str,
    kind: OperandKind,
    number: Option<Number>,
    greatest: &mut u32,
    words: &mut Vec<u32>,
) -> Result<(), String> {
    if token.starts_with('%') {
        words.push(id(token, greatest)?);
        return Ok(());
    }
    if let Some(text) = token.strip_prefix('"') {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        for chunk in bytes.chunks(4) {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            words.push(u32::from_le_bytes(word));
        }
        return Ok(());
    }
    let bad = || format!("`{token}` does not fit here");
    if let Some(raw) = token.strip_prefix('!') {
        words.push(integer(raw).and_then(|n| u32::try_from(n).ok()).ok_or_else(bad)?);
        return Ok(());
    }
    if kind == OperandKind::LiteralContextDependentNumber {
        let bits = match number.ok_or_else(bad)? {
            Number { float: true, width: 32 } => {
                u64::from(token.parse::<f32>().map_err(|_| bad())?.to_bits())
            }
            Number { float: true, width: 64 } => token.parse::<f64>().map_err(|_| bad())?.to_bits(),
            Number { float: false, .. } => integer(token).ok_or_else(bad)?,
            Number { .. } => return Err(bad()),
        };
        let wide = number.is_some_and(|n| n.width > 32);
        if !wide && bits > u64::from(u32::MAX) {
            return Err(bad());
        }
        words.push(bits as u32);
        if wide {
            words.push((bits >> 32) as u32);
        }
        return Ok(());
    }
    if let Some(value) = integer(token) {
        words.push(u32::try_from(value).map_err(|_| bad())?);
        return Ok(());
    }
    words.push(enumerant(token, kind).ok_or_else(bad)?);
    Ok(())
}

fn enumerant(token: &str, kind: OperandKind) -> Option<u32> {
    fn of<T: FromStr>(token: &str, number: fn(T) -> u32) -> Option<u32> {
        token.parse().ok().map(number)
    }
    match kind {
        OperandKind::FunctionControl | OperandKind::SelectionControl | OperandKind::LoopControl => {
            (token == "None").then_some(0)
        }
        OperandKind::SourceLanguage => of(token, |v: spirv::SourceLanguage| v as u32),
        OperandKind::ExecutionModel => of(token, |v: spirv::ExecutionModel| v as u32),
        OperandKind::AddressingModel => of(token, |v: spirv::AddressingModel| v as u32),
        OperandKind::MemoryModel => of(token, |v: spirv::MemoryModel| v as u32),
        OperandKind::ExecutionMode => of(token, |v: spirv::ExecutionMode| v as u32),
        OperandKind::StorageClass => of(token, |v: spirv::StorageClass| v as u32),
        OperandKind::Decoration => of(token, |v: spirv::Decoration| v as u32),
        OperandKind::BuiltIn => of(token, |v: spirv::BuiltIn| v as u32),
        OperandKind::Capability => of(token, |v: spirv::Capability| v as u32),
        OperandKind::LiteralExtInstInteger => {
            let row = GLSL_STD_450_INSTRUCTION_TABLE.iter().find(|row| row.opname == token)?;
            Some(row.opcode.into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::info::Features;
    use crate::shader::{BinOp, Code, Shader, Ty, UnOp, Width};

    /// A shader with a loop, a choice, constants of every type, workgroup memory and small elements.
    fn shader() -> Shader {
        let mut c = Code::new(64);
        let (from, to) = (c.buffer(Width::W16, false), c.buffer(Width::W64, true));
        let flag = c.buffer(Width::W32, true);
        let shared = c.shared(Ty::F32, 64);
        let (i, cell) = (c.builtin(crate::shader::Builtin::Local), c.cell(Ty::F64));
        let odd = [f64::INFINITY, f64::NAN, -0.0, 1e-300, 0.1].map(|x| c.f64(x));
        let single = [f32::NEG_INFINITY, 1.5, f32::MIN_POSITIVE].map(|x| c.f32(x));
        let huge = c.constant(Ty::B64, u64::MAX);
        c.set_shared(shared, i, single[0]);
        c.barrier();
        c.set(cell, odd[0]);
        let x = c.load(from, i);
        c.while_(
            |c| {
                let y = c.get(cell);
                c.bin(BinOp::FLt, y, odd[4])
            },
            |c| {
                let y = c.get(cell);
                let z = c.bin(BinOp::FMul, y, odd[3]);
                let z = c.un(UnOp::Floor, z);
                c.set(cell, z);
            },
        );
        let wide = c.un(UnOp::ZeroExtend, x);
        let all = c.bin(BinOp::Eq, wide, huge);
        c.when(all, |c| c.raise(flag));
        c.store(to, i, wide);
        c.finish()
    }

    #[test]
    fn text_parses_back_to_the_same_words() {
        let shader = shader();
        let words = super::super::emit::words(&shader, &Features::all()).expect("words");
        let text = print(&words).expect("a text");
        assert_eq!(parse(&text).expect("the text"), words, "{text}");
        for part in ["OpFMul", "NoContraction", "Floor", "!0x7ff00000", "\"main\"", "LocalSize 64 1 1"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        let listing = format!("{STAGE}0: a\n{text}{STAGE}1: b\n{text}");
        assert_eq!(parse_stages(&listing), Ok(vec![words.clone(), words]));
    }

    #[cfg(feature = "shaderc")]
    #[test]
    fn what_shaderc_makes_parses_back_too() {
        let words = crate::glsl::compile::words(&shader(), &Features::all()).expect("words");
        let text = print(&words).expect("a text");
        assert_eq!(parse(&text).expect("the text"), words, "{text}");
    }

    #[test]
    fn wrong_texts_are_refused_with_their_line() {
        for (text, message) in [
            ("OpNonsense", "not an instruction"),
            ("OpCapability", "too few operands"),
            ("OpCapability Magic", "does not fit"),
            ("%x = OpTypeVoid", "not an id"),
            ("%1 = OpStore %2 %3", "no result"),
            ("OpTypeVoid", "needs a result"),
            ("%1 = OpConstant %2 5", "does not fit"),
            ("%1 = OpTypeInt 32 0\n%2 = OpConstant %1 5000000000", "line 2"),
            ("OpExtension \"open", "does not end"),
            ("%1 =", "missing"),
            ("; Version: one", "not a version"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.to_string().contains(message), "{text}: {error}");
        }
        assert_eq!(parse_stages("OpNop").map_err(|e| e.line), Err(1));
    }
}
