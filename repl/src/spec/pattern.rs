//! The regular expressions that say which message is expected.

use regex_lite::{Regex, RegexBuilder};

/// Whether an expression matches somewhere in a text; line ends are ordinary characters. Braces that repeat nothing stand
/// for themselves, as in the expressions that Futhark's tools read; an expression that is none is looked for as it is written.
pub fn matches(pattern: &str, text: &str) -> bool {
    compile(pattern).map_or_else(|_| text.contains(pattern), |regex| regex.is_match(text))
}

/// What is wrong with an expression, if something is.
pub fn mistake(pattern: &str) -> Option<String> {
    compile(pattern).err().map(|error| error.to_string())
}

fn compile(pattern: &str) -> Result<Regex, regex_lite::Error> {
    let build = |pattern: &str| RegexBuilder::new(pattern).dot_matches_new_line(true).build();
    build(pattern).or_else(|error| build(&escaped(pattern)).map_err(|_| error))
}

/// The expression with braces taken as characters.
fn escaped(pattern: &str) -> String {
    let mut escaped = String::new();
    let mut quoted = false;
    for c in pattern.chars() {
        if !quoted && (c == '{' || c == '}') {
            escaped.push('\\');
        }
        quoted = c == '\\' && !quoted;
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn expressions_match_anywhere() {
        for (pattern, text, found) in [
            ("", "anything", true),
            ("a.*b", "xa\nyb", true),
            ("Error*", "Erro", true),
            ("{a: i32}", "type {a: i32} is", true),
            ("x{2}", "xx", true),
            ("\\[3\\]", "[3]", true),
            ("(", "a (b", true),
            ("^b", "a\nb", false),
        ] {
            assert_eq!(matches(pattern, text), found, "{pattern}");
        }
    }
}
