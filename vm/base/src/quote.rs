//! Strings in double quotes, as every text form writes them: with the escapes of Rust's `{:?}`.

/// Reads the quoted string at the front of a text: its value, and the bytes it takes with its quotes.
pub fn unquote(text: &str) -> Result<(String, usize), &'static str> {
    let mut chars = text.char_indices();
    if chars.next().map(|(_, c)| c) != Some('"') {
        return Err("expected a string");
    }
    let mut value = String::new();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((value, at + 1)),
            '\\' => match chars.next().map(|(_, c)| c) {
                Some('n') => value.push('\n'),
                Some('r') => value.push('\r'),
                Some('t') => value.push('\t'),
                Some('0') => value.push('\0'),
                Some('u') => {
                    let hex: String =
                        chars.by_ref().map(|(_, c)| c).skip(1).take_while(|c| *c != '}').collect();
                    let code = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
                    value.push(code.ok_or("unknown character in a string")?);
                }
                Some(c) => value.push(c),
                None => break,
            },
            c => value.push(c),
        }
    }
    Err("the string does not end")
}

#[cfg(test)]
mod tests {
    use super::unquote;

    #[test]
    fn reads_what_debug_writes() {
        for text in ["", "plain", "a \"b\" \\ c", "line\nend\t\0", "é\u{7f}\u{200b}"] {
            let quoted = format!("{text:?}");
            assert_eq!(unquote(&format!("{quoted} more")), Ok((text.to_string(), quoted.len())));
        }
        assert!(unquote("x").is_err());
        assert!(unquote("\"open").is_err());
        assert!(unquote("\"\\u{110000}\"").is_err());
    }
}
