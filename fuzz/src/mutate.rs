//! Damage to programs.
//!
//! Bytes are changed blindly. Text is changed token by token: a register becomes another register, a word another word of the
//! same program, so that much of it still has a meaning.

use crate::random::Random;
use galopvm_bytecode::file::checksum;

/// Bytes before the part that the checksum is about.
const HEADER: usize = 16;

/// Changes some bytes; mostly mends the checksum.
pub fn bytes(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len());
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = bytes[at].wrapping_add(1),
            2 => bytes[at] = *random.pick(&[0, 1, 2, 0x7f, 0x80, 0xff]),
            3 => {
                // The fields of one instruction moved into another.
                let from = random.below(bytes.len());
                let length = 1 + random.below(8);
                for k in 0..length.min(bytes.len() - at.max(from)) {
                    bytes[at + k] = bytes[from + k];
                }
            }
            4 => bytes.truncate(at.max(1)),
            5 => bytes.insert(at, random.bits() as u8),
            6 => {
                bytes.remove(at);
                if bytes.is_empty() {
                    bytes.push(0);
                }
            }
            // A number that needs many bytes.
            _ => {
                let long = [0xff, 0xff, 0xff, 0xff, 0x0f];
                bytes.splice(at..at + 1, long.into_iter().take(1 + random.below(5)));
            }
        }
    }
    if bytes.len() > HEADER && !random.one_in(20) {
        let sum = checksum(&bytes[HEADER..]);
        bytes[8..HEADER].copy_from_slice(&sum.to_le_bytes());
    }
}

/// Kinds of token that may take each other's place.
#[derive(PartialEq, Eq)]
enum Kind {
    Register,
    Block,
    Number,
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
        let length = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(length);
        found.push(token);
        rest = after;
    }
    found
}

/// Numbers that make trouble.
const NUMBERS: [&str; 10] =
    ["0", "1", "2", "7", "255", "65536", "4294967295", "9223372036854775807", "18446744073709551615", "1000000000"];

/// Changes some tokens or lines.
pub fn text(random: &mut Random, text: &str) -> String {
    let mut changed = text.to_string();
    for _ in 0..1 + random.below(3) {
        changed = if random.one_in(4) { lines(random, &changed) } else { token(random, &changed) };
    }
    changed
}

/// One token in the place of another of its kind; or a last use more or less.
fn token(random: &mut Random, text: &str) -> String {
    let mut all = tokens(text);
    let wanted: Vec<usize> =
        (0..all.len()).filter(|k| kind(all[*k]) != Kind::Other || all[*k] == "!").collect();
    if wanted.is_empty() {
        return text.into();
    }
    let at = *random.pick(&wanted);
    let kind_here = kind(all[at]);
    match kind_here {
        Kind::Other => all[at] = "",
        Kind::Register if random.one_in(6) => {
            let at = at + 1;
            all.insert(at, "!");
        }
        Kind::Number if random.one_in(2) => all[at] = NUMBERS[random.below(NUMBERS.len())],
        _ => {
            let others: Vec<usize> = (0..all.len()).filter(|k| kind(all[*k]) == kind_here).collect();
            all[at] = all[*random.pick(&others)];
        }
    }
    all.concat()
}

/// A line less, twice, or at another place.
fn lines(random: &mut Random, text: &str) -> String {
    let mut all: Vec<&str> = text.lines().collect();
    if all.len() < 2 {
        return text.into();
    }
    let (at, other) = (random.below(all.len()), random.below(all.len()));
    match random.below(3) {
        0 => drop(all.remove(at)),
        1 => all.insert(other, all[at]),
        _ => all.swap(at, other),
    }
    all.join("\n")
}
