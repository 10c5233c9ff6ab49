//! The grammar of test blocks.
//!
//! A block is a comment whose first line is `-- ==`, to the last line that begins with `--`:
//!
//! ```text
//! block     = ["tags {" word.. "}"] ("error:" line | ["entry:" name..] item..)
//! item      = case | "structure" [word] "{" .. "}" | "warning:" line | "property:" name..
//! case      = ["\"" name "\""] word.. "input" data [expected]
//! data      = "@" file | "{" .. "}"
//! expected  = "output" data | "auto output" | "error:" line
//! ```
//!
//! Words before `input` are tags; `random` and `script` among them say what its braces hold.

use super::data::read;
use super::pattern::mistake;
use galopvm::Memory;
use galopvm::data::{self, Style};

/// What a program says of itself.
#[derive(Default, PartialEq, Debug)]
pub struct Spec {
    /// Tags of the program.
    pub tags: Vec<String>,
    /// The program has to be refused, with a message that this matches.
    pub error: Option<String>,
    /// The calls to make, by entry point and in order.
    pub cases: Vec<Case>,
    /// What warnings have to match.
    pub warnings: Vec<String>,
    /// Entry points that have to be true of all arguments.
    pub properties: Vec<String>,
    /// How many lists of operators there are, which no other compiler can have.
    pub structures: usize,
}

/// A call, and what is known of its outcome.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// The entry point.
    pub entry: String,
    /// What people and tools call the case.
    pub description: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// The arguments.
    pub given: Given,
    /// The outcome.
    pub expected: Expected,
    /// Its place among the cases of its block.
    pub index: usize,
}

/// The arguments of a case.
#[derive(Clone, PartialEq, Debug)]
pub enum Given {
    /// Their text.
    Values(String),
    /// A file of them.
    File(String),
    /// Their types.
    Random(String),
    /// An expression that makes them.
    Script(String),
    /// A file with an expression.
    ScriptFile(String),
}

/// The outcome of a case.
#[derive(Clone, PartialEq, Debug)]
pub enum Expected {
    /// Any result.
    Anything,
    /// What an execution gives that is trusted more.
    Auto,
    /// Values.
    Values(String),
    /// A file of values.
    File(String),
    /// An error that this matches.
    Error(String),
}

/// What Futhark's tools call a case without a name: its types, its file, or the beginning of its values.
fn described(given: &Given, index: usize) -> String {
    match given {
        Given::Random(types) => one_line(types),
        Given::File(file) | Given::ScriptFile(file) => file.clone(),
        Given::Values(text) => numbered(index, &values_text(text).unwrap_or_else(|| text.clone())),
        Given::Script(text) => numbered(index, text),
    }
}

fn numbered(index: usize, text: &str) -> String {
    let line = one_line(text);
    let short: String = line.chars().take(50).collect();
    let dots = if short.len() < line.len() { "..." } else { "" };
    format!("#{index} (\"{short}{dots}\")")
}

/// The text of values with the type of each number.
fn values_text(text: &str) -> Option<String> {
    let values = read(&Memory::default(), text).ok()?;
    let mut out = Vec::new();
    for value in &values {
        data::write_text_in(&mut out, value, Style::Data).ok()?;
        out.push(b' ');
    }
    String::from_utf8(out).ok()
}

/// Text with single blanks between its words.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Words that are no tags.
const KEYWORDS: [&str; 6] = ["input", "structure", "warning", "output", "error", "property"];

/// What a program's source says in its test blocks.
pub fn parse(source: &str) -> Result<Spec, String> {
    let mut spec = Spec::default();
    let mut lines = source.lines().enumerate().peekable();
    let mut first = true;
    while let Some((number, line)) = lines.next() {
        if !line.starts_with("-- ==") {
            continue;
        }
        let mut text = String::from(&line[2..]);
        while let Some((_, line)) = lines.next_if(|(_, line)| line.starts_with("--")) {
            text.push('\n');
            text.push_str(&line[2..]);
        }
        let mut block = Block { text: &text, at: 0 };
        block.read(&mut spec, first).map_err(|wrong| {
            let line = number + 1 + text[..block.at].matches('\n').count();
            format!("line {line}: {wrong}")
        })?;
        first = false;
    }
    Ok(spec)
}

/// The text of a block without the marks of comments, and how far it is read.
struct Block<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Block<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn accept(&mut self, mark: &str) -> bool {
        let found = self.rest().starts_with(mark);
        if found {
            self.at += mark.len();
            self.skip();
        }
        found
    }

    /// Letters, digits, `-` and `_`.
    fn word_here(&self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').unwrap_or(rest.len());
        &rest[..end]
    }

    fn keyword(&mut self, word: &str) -> bool {
        self.word_here() == word && self.accept(word)
    }

    fn line(&mut self) -> String {
        let rest = self.rest();
        let line = rest.split('\n').next().unwrap_or_default();
        self.at += line.len();
        self.skip();
        line.trim().to_string()
    }

    /// A regular expression, up to the end of the line.
    fn pattern(&mut self) -> Result<String, String> {
        let start = self.at;
        let pattern = self.line();
        match mistake(&pattern) {
            None => Ok(pattern),
            Some(mistake) => {
                self.at = start;
                Err(format!("`{pattern}` is no regular expression: {mistake}"))
            }
        }
    }

    fn wrong(&self, wanted: &str) -> String {
        let found: String = self.rest().chars().take(40).collect();
        format!("{wanted} is expected at `{}`", one_line(&found))
    }

    /// What stands between braces, which may nest; those in strings do not count.
    fn braces(&mut self) -> Result<String, String> {
        if !self.accept("{") {
            return Err(self.wrong("`{`"));
        }
        let start = self.at;
        let (mut depth, mut string, mut escaped) = (1, false, false);
        for (k, c) in self.rest().char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' if string => escaped = true,
                '"' => string = !string,
                '{' if !string => depth += 1,
                '}' if !string => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                self.at = start + k + 1;
                self.skip();
                return Ok(self.text[start..start + k].to_string());
            }
        }
        Err("this `{` is not closed".into())
    }

    /// `@ file`, or what stands between braces; whether it is a file.
    fn data(&mut self) -> Result<(bool, String), String> {
        if !self.accept("@") {
            return Ok((false, self.braces()?));
        }
        let rest = self.rest();
        let name = rest.split(char::is_whitespace).next().unwrap_or_default();
        self.at += name.len();
        self.skip();
        Ok((true, name.to_string()))
    }

    fn read(&mut self, spec: &mut Spec, first: bool) -> Result<(), String> {
        self.skip();
        self.accept("==");
        if self.keyword("tags") {
            spec.tags.extend(self.braces()?.split_whitespace().map(str::to_string));
        }
        if first && self.accept("error:") {
            spec.error = Some(self.pattern()?);
        } else {
            let mut entries = vec!["main".to_string()];
            if self.accept("entry:") {
                entries = self.line().split_whitespace().map(str::to_string).collect();
            }
            self.items(spec, &entries)?;
        }
        if self.rest().is_empty() { Ok(()) } else { Err(self.wrong("the end of the test block")) }
    }

    fn items(&mut self, spec: &mut Spec, entries: &[String]) -> Result<(), String> {
        let mut cases = Vec::new();
        loop {
            if self.keyword("structure") {
                if self.word_here() != "" {
                    let word = self.word_here();
                    self.accept(word);
                }
                self.braces()?;
                spec.structures += 1;
            } else if self.accept("warning:") {
                spec.warnings.push(self.pattern()?);
            } else if self.accept("property:") {
                spec.properties.extend(self.line().split_whitespace().map(str::to_string));
            } else {
                match self.case(cases.len())? {
                    Some(case) => cases.push(case),
                    None => break,
                }
            }
        }
        for entry in entries {
            spec.cases.extend(cases.iter().map(|case| Case { entry: entry.clone(), ..case.clone() }));
        }
        Ok(())
    }

    /// A case of an entry point that is not said yet.
    fn case(&mut self, index: usize) -> Result<Option<Case>, String> {
        let start = self.at;
        let name = self.name()?;
        let mut tags = Vec::new();
        while !self.word_here().is_empty() && !KEYWORDS.contains(&self.word_here()) {
            let tag = self.word_here();
            self.accept(tag);
            tags.push(tag.to_string());
        }
        if !self.keyword("input") {
            return if self.at == start { Ok(None) } else { Err(self.wrong("`input`")) };
        }
        let given = match (self.data()?, tags.iter().any(|tag| tag == "script")) {
            ((true, file), true) => Given::ScriptFile(file),
            ((false, text), true) => Given::Script(text),
            ((false, text), false) if tags.iter().any(|tag| tag == "random") => Given::Random(text),
            ((true, file), false) => Given::File(file),
            ((false, text), false) => Given::Values(text),
        };
        let expected = self.expected()?;
        let description = name.unwrap_or_else(|| described(&given, index));
        Ok(Some(Case { entry: String::new(), description, tags, given, expected, index }))
    }

    fn name(&mut self) -> Result<Option<String>, String> {
        let Some(rest) = self.rest().strip_prefix('"') else { return Ok(None) };
        let Some((name, _)) = rest.split_once('"') else { return Err("this name is not closed".into()) };
        self.at += name.len() + 2;
        self.skip();
        Ok(Some(name.to_string()))
    }

    fn expected(&mut self) -> Result<Expected, String> {
        if self.keyword("auto") {
            return if self.keyword("output") { Ok(Expected::Auto) } else { Err(self.wrong("`output`")) };
        }
        if self.keyword("output") {
            let (file, text) = self.data()?;
            return Ok(if file { Expected::File(text) } else { Expected::Values(text) });
        }
        if self.accept("error:") {
            return Ok(Expected::Error(self.pattern()?));
        }
        Ok(Expected::Anything)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_cases() {
        let spec = parse(
            "-- Words before.\n-- ==\n-- tags { slow no_gpu }\n-- entry: f g\n-- \"small\" nobench input { [1, 2] \"}\" }\n\
             -- output { 3 }\n-- random input { [10]i32\n--   f32 } auto output\n-- input @ data/x.in.gz\n-- error: out of.*bounds\n\
             -- structure gpu { A 1 B/C 2 }\n-- warning: unused\n\ndef f = 1\n-- ==\n-- property: p q\n",
        )
        .expect("a right block");
        let case = |entry: &str, name: &str, tags: &[&str], given, expected, index| Case {
            entry: entry.into(),
            description: name.into(),
            tags: tags.iter().map(|tag| tag.to_string()).collect(),
            given,
            expected,
            index,
        };
        let of = |entry: &str| {
            [
                case(
                    entry,
                    "small",
                    &["nobench"],
                    Given::Values("[1, 2] \"}\" ".into()),
                    Expected::Values("3 ".into()),
                    0,
                ),
                case(
                    entry,
                    "[10]i32 f32",
                    &["random"],
                    Given::Random("[10]i32\n   f32 ".into()),
                    Expected::Auto,
                    1,
                ),
                case(
                    entry,
                    "data/x.in.gz",
                    &[],
                    Given::File("data/x.in.gz".into()),
                    Expected::Error("out of.*bounds".into()),
                    2,
                ),
            ]
        };
        assert_eq!(spec.tags, ["slow", "no_gpu"]);
        assert_eq!(spec.cases, [of("f"), of("g")].concat());
        assert_eq!(
            (spec.structures, spec.warnings, spec.properties),
            (1, vec!["unused".into()], vec!["p".into(), "q".into()])
        );
    }

    #[test]
    fn programs_may_have_to_be_refused() {
        let spec = parse("-- ==\n-- error: size\\(\nentry main = 1\n").expect("a right block");
        assert_eq!(spec.error.as_deref(), Some("size\\("));
        assert_eq!(parse("def x = 1\n"), Ok(Spec::default()));
        let long =
            parse(&format!("-- ==\n-- script input {{ f {} }}\n", "1 ".repeat(40))).expect("a right block");
        assert_eq!(long.cases[0].description, format!("#0 (\"f {}...\")", "1 ".repeat(24)));
        let values = parse("-- ==\n-- input { [1.5, 2] true } input { 2 (3) }\n").expect("a right block");
        let names: Vec<&str> = values.cases.iter().map(|case| case.description.as_str()).collect();
        assert_eq!(names, ["#0 (\"[1.5f64, 2.0f64] true\")", "#1 (\"2 (3)\")"]);
    }

    #[test]
    fn wrong_blocks_are_refused_with_a_line() {
        for (text, message) in [
            ("\n-- ==\n-- input { 1 \n", "line 3: this `{` is not closed"),
            ("-- ==\n-- compiled output { 1 }\n", "line 2: `input` is expected at `output { 1 }`"),
            (
                "-- ==\n-- input { 1 } output { 2 } !\n",
                "line 2: the end of the test block is expected at `!`",
            ),
            ("-- ==\n-- input 1\n", "line 2: `{` is expected at `1`"),
            ("-- ==\n-- input { 1 } auto x\n", "line 2: `output` is expected at `x`"),
            ("-- ==\n-- \"x input { 1 }\n", "line 2: this name is not closed"),
        ] {
            assert_eq!(parse(text), Err(message.to_string()), "{text}");
        }
    }
}
