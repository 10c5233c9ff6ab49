//! Damage to programs.
//!
//! Bytes are changed blindly. Text is changed token by token: a register becomes another register, a word another word of the
//! same program, so that much of it still has a meaning.

use galopvm_base::{ElemType, ScalarOp};
use galopvm_bytecode::file::checksum;
use galopvm_testkit::Random;

/// Bytes before the part that the checksum is about.
const HEADER: usize = 16;

/// Changes some bytes; mostly mends the checksum and the lengths of sections.
pub fn bytes(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..1 + random.below(3) {
        // Mostly behind the header and the table of sections.
        let first = if random.one_in(8) { 0 } else { table_end(bytes) };
        let at = first + random.below((bytes.len() - first).max(1));
        let at = at.min(bytes.len() - 1);
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = bytes[at].wrapping_add(1),
            2 => bytes[at] = *random.pick(&[0, 1, 2, 0x7f, 0x80, 0xff]),
            3 => {
                // The fields of one instruction moved into another.
                let from = first + random.below((bytes.len() - first).max(1));
                let length = (1 + random.below(8)).min(bytes.len() - at.max(from).min(bytes.len()));
                for k in 0..length {
                    bytes[at + k] = bytes[from + k];
                }
            }
            4 if random.one_in(4) => bytes.truncate(at.max(1)),
            4 | 5 => replace(bytes, at, 0, &[random.bits() as u8]),
            6 => replace(bytes, at, 1, &[]),
            // A number that needs many bytes.
            _ => replace(bytes, at, 1, &[0xff, 0xff, 0xff, 0xff, 0x0f][random.below(5)..]),
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
    if bytes.len() > HEADER && !random.one_in(20) {
        let sum = checksum(&bytes[HEADER..]);
        bytes[8..HEADER].copy_from_slice(&sum.to_le_bytes());
    }
}

/// Where the table of sections ends, if there are as many as the header says.
fn table_end(bytes: &[u8]) -> usize {
    let sections = bytes.get(6..8).map_or(0, |count| usize::from(u16::from_le_bytes([count[0], count[1]])));
    let end = HEADER + 8 * sections;
    if end < bytes.len() { end } else { 0 }
}

/// Puts other bytes in the place of some, and makes the section longer or shorter that they lie in.
fn replace(bytes: &mut Vec<u8>, at: usize, old: usize, new: &[u8]) {
    bytes.splice(at..(at + old).min(bytes.len()), new.iter().copied());
    let mut end = table_end(bytes);
    for row in (HEADER..end).step_by(8) {
        let Some(length) = bytes.get(row + 4..row + 8).and_then(|length| length.first_chunk()) else {
            return;
        };
        let length = u32::from_le_bytes(*length);
        end += length as usize;
        if at < end {
            let length = length.wrapping_add(new.len() as u32).wrapping_sub(old as u32);
            bytes[row + 4..row + 8].copy_from_slice(&length.to_le_bytes());
            return;
        }
    }
}

/// Kinds of token that may take each other's place.
#[derive(PartialEq, Eq)]
enum Kind {
    Register,
    Block,
    Number,
    Type,
    Operation,
    Word,
    Other,
}

fn kind(token: &str) -> Kind {
    let mut chars = token.chars();
    let first = chars.next().unwrap_or(' ');
    let is_numbered = !chars.as_str().is_empty() && chars.all(|c| c.is_ascii_digit());
    match first {
        'r' if is_numbered => Kind::Register,
        'b' if is_numbered => Kind::Block,
        '0'..='9' | '-' => Kind::Number,
        _ if token.parse::<ElemType>().is_ok() => Kind::Type,
        _ if token.parse::<ScalarOp>().is_ok() => Kind::Operation,
        _ if first.is_alphabetic() => Kind::Word,
        _ => Kind::Other,
    }
}

/// The text in tokens: words with their digits, and everything else one by one.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length =
            if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(length);
        found.push(token);
        rest = after;
    }
    found
}

/// Numbers that make trouble.
const NUMBERS: [&str; 10] = [
    "0",
    "1",
    "2",
    "7",
    "255",
    "65536",
    "4294967295",
    "9223372036854775807",
    "18446744073709551615",
    "1000000000",
];

/// Changes some tokens or lines.
pub fn text(random: &mut Random, text: &str) -> String {
    let mut changed = text.to_string();
    for _ in 0..1 + random.below(3) {
        changed = match random.below(12) {
            0 => lines(random, &changed),
            1 => list(random, &changed),
            _ => token(random, &changed),
        };
    }
    changed
}

/// Tokens that are near: mostly of the same function.
const NEAR: usize = 300;

/// One token in the place of another of its kind; or a last use more or less.
fn token(random: &mut Random, text: &str) -> String {
    let mut all = tokens(text);
    let is_definition = |k: usize| all.get(k + 1) == Some(&" ") && all.get(k + 2) == Some(&":");
    let is_mnemonic = |k: usize| k > 1 && all[k - 2] == "=";
    let may_change = |k: usize| match kind(all[k]) {
        Kind::Other => all[k] == "!",
        Kind::Register | Kind::Block => !is_definition(k) && all.get(k + 1) != Some(&"\n"),
        Kind::Word => is_mnemonic(k),
        _ => true,
    };
    // What would hardly ever have a meaning is changed rarely.
    let blindly = random.one_in(20);
    let wanted: Vec<usize> = (0..all.len()).filter(|k| may_change(*k) || blindly && all[*k] != " ").collect();
    if wanted.is_empty() {
        return text.into();
    }
    let at = *random.pick(&wanted);
    let here = kind(all[at]);
    match here {
        Kind::Other => all[at] = "",
        Kind::Register if random.one_in(6) => all.insert(at + 1, "!"),
        Kind::Number if random.one_in(2) => {
            // The type behind the digits stays.
            let suffix = all[at].trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
            let number = format!("{}{suffix}", NUMBERS[random.below(NUMBERS.len())]);
            return [&all[..at], &[number.as_str()], &all[at + 1..]].concat().concat();
        }
        _ => {
            let near = at.saturating_sub(NEAR)..(at + NEAR).min(all.len());
            let others: Vec<usize> = near
                .filter(|k| {
                    kind(all[*k]) == here && (here != Kind::Word || is_mnemonic(*k) == is_mnemonic(at))
                })
                .collect();
            let other = all[*random.pick(&others)];
            all[at] = other;
        }
    }
    all.concat()
}

/// Two elements of a list in parentheses in each other's place.
fn list(random: &mut Random, text: &str) -> String {
    let inner = |from: usize| Some((from, from + text[from..].find([')', '(', '\n'])?));
    let lists = text.match_indices('(').filter_map(|(at, _)| inner(at + 1));
    let lists: Vec<(usize, usize)> = lists.filter(|(from, to)| text[*from..*to].contains(", ")).collect();
    if lists.is_empty() {
        return text.into();
    }
    let (from, to) = *random.pick(&lists);
    let mut elements: Vec<&str> = text[from..to].split(", ").collect();
    let (one, other) = (random.below(elements.len()), random.below(elements.len()));
    elements.swap(one, other);
    [&text[..from], &elements.join(", "), &text[to..]].concat()
}

/// A line less, twice, or at another place.
pub fn lines(random: &mut Random, text: &str) -> String {
    let mut all: Vec<&str> = text.lines().collect();
    if all.len() < 2 {
        return text.into();
    }
    let (at, other) = (random.below(all.len()), random.below(all.len()));
    match random.below(4) {
        0 => drop(all.remove(at)),
        1 => all.insert(other, all[at]),
        2 => all.swap(at, other),
        _ => {
            let next = (at + 1) % all.len();
            all.swap(at, next);
        }
    }
    all.join("\n")
}
