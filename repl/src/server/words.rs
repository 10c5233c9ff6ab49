//! A line of the protocol as words: separated by blanks, or between double quotes.

/// The words of a line; nothing if a quotation mark is left open.
pub fn words(line: &str) -> Option<Vec<&str>> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(word);
        rest = after.trim_start();
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_may_hold_blanks_between_quotation_marks() {
        assert_eq!(words("  call f  \"a b\"c \"\"\n"), Some(vec!["call", "f", "a b", "c", ""]));
        assert_eq!(words(" \t\r\n"), Some(vec![]));
        assert_eq!(words("a\"b c\""), Some(vec!["a\"b", "c\""]));
        assert_eq!(words("kind \"open"), None);
    }
}
