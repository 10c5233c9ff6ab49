//! Inputs from the test blocks of a program: comments that begin with `-- ==`.
//!
//! Only lines `-- entry: NAME ..` and `-- input { .. }` (also behind `compiled`, `nobench` and the like) are looked at;
//! inputs that are made at random, lie in files or are computed by scripts are none of these.

/// Values for an entry point, as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TestInput {
    /// The line at which the values begin, from 1.
    pub line: usize,
    /// The values, on as many lines as in the program.
    pub values: String,
}

/// The first input that a program's test blocks have for an entry point. A block without `entry:` is for `main`.
pub fn first_input(source: &str, entry: &str) -> Option<TestInput> {
    let mut lines = source.lines().enumerate().peekable();
    // Inside a block, and if so, whether it is for the entry point.
    let mut fits = None;
    while let Some((number, line)) = lines.next() {
        let Some(comment) = line.trim_start().strip_prefix("--").map(str::trim) else {
            fits = None;
            continue;
        };
        if comment == "==" {
            fits = Some(entry == "main");
        } else if let Some(names) = comment.strip_prefix("entry:").filter(|_| fits.is_some()) {
            fits = Some(names.split_whitespace().any(|name| name == entry));
        } else if fits == Some(true)
            && let Some(first) = input_line(comment)
        {
            let mut values = String::new();
            let mut rest = first;
            loop {
                if let Some((inside, _)) = rest.split_once('}') {
                    values.push_str(inside);
                    return Some(TestInput { line: number + 1, values });
                }
                values.push_str(rest);
                values.push('\n');
                let (_, next) = lines.next()?;
                rest = next.trim_start().strip_prefix("--")?;
            }
        }
    }
    None
}

/// What follows the brace of `input {`.
fn input_line(comment: &str) -> Option<&str> {
    let (before, after) = comment.split_once('{')?;
    let mut words = before.split_whitespace().rev();
    let is_input = words.next() == Some("input");
    let plain = words.all(|word| matches!(word, "compiled" | "nobench" | "notest"));
    (is_input && plain).then_some(after)
}

#[cfg(test)]
mod tests {
    use super::first_input;

    fn values(source: &str, entry: &str) -> Option<(usize, String)> {
        first_input(source, entry).map(|input| (input.line, input.values.trim().to_string()))
    }

    #[test]
    fn the_first_input_of_the_right_block() {
        let source = "-- What it does: input { no }\n-- ==\n-- entry: f g\n-- random input { [3]i32 }\n\
                      -- compiled input { 1 [2,\n--   3] } output { 4 }\n-- input { 5 }\n\n-- ==\n-- tags { x }\n\
                      -- input {6}\nentry main = 1\n";
        assert_eq!(values(source, "g"), Some((5, "1 [2,\n   3]".into())));
        assert_eq!(values(source, "main"), Some((11, "6".into())));
        assert_eq!(values(source, "h"), None);
        assert_eq!(values("-- ==\n-- input { 1", "main"), None);
        assert_eq!(values("-- ==\n-- input { 1\nx", "main"), None);
        assert_eq!(values("", "main"), None);
    }
}
