//! Forms: how a value of the language is made of values of the machine, for those who show it.
//!
//! Tuples, records, sums and arrays of them are held as separate values, an array of tuples as a tuple of arrays. A form
//! says how to put them together again. Text: `0` the value of that number; `(0, 1)` a tuple; `{x = 0, y = 1}` a record;
//! `[0 (0, 1)]` an array as long as value 0 (in its first dimension that no array around takes), whose elements are made
//! of the rows; `<0 #a | #b 1 (2, 3)>` a sum, whose constructor value 0 tells by its number, in order.
//!
//! Invariant: [`Form::fits`] is true only if every value mentioned exists and has the dimensions that the arrays around
//! it take, and the values that choose constructors are then `i8`.

use crate::module::ValueType;
use galopvm_base::ElemType;
use std::fmt;
use std::str::FromStr;

/// Greatest nesting of a form: those who read it recurse.
const MAX_NESTING: usize = 200;

/// How a value of the language is made of values of the machine, which are numbered from 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// The value of this number: a scalar or an array of scalars.
    Value(u32),
    /// A tuple.
    Tuple(Vec<Form>),
    /// A record.
    Record(Vec<(String, Form)>),
    /// An array as long as the value of this number, whose elements are made of the rows.
    Array(u32, Box<Form>),
    /// A sum: the value that tells the constructor, and the constructors with their payloads.
    Sum(u32, Vec<(String, Vec<Form>)>),
}

impl Form {
    /// Whether the form is one of values of these types.
    pub fn fits(&self, types: &[ValueType]) -> bool {
        self.fits_below(types, 0)
    }

    fn fits_below(&self, types: &[ValueType], depth: usize) -> bool {
        let ty = |k: u32| types.get(k as usize);
        match self {
            Form::Value(k) => ty(*k).is_some_and(|t| usize::from(t.rank) >= depth),
            Form::Tuple(items) => items.iter().all(|f| f.fits_below(types, depth)),
            Form::Record(fields) => fields.iter().all(|(_, f)| f.fits_below(types, depth)),
            Form::Array(k, element) => {
                ty(*k).is_some_and(|t| usize::from(t.rank) > depth) && element.fits_below(types, depth + 1)
            }
            Form::Sum(tag, constructors) => {
                ty(*tag).is_some_and(|t| usize::from(t.rank) == depth && t.elem == ElemType::I8)
                    && constructors.iter().flat_map(|(_, p)| p).all(|f| f.fits_below(types, depth))
            }
        }
    }

    /// Whether the form nests no deeper than text forms may.
    pub fn is_shallow(&self) -> bool {
        self.is_within(MAX_NESTING)
    }

    fn is_within(&self, levels: usize) -> bool {
        let Some(left) = levels.checked_sub(1) else { return false };
        match self {
            Form::Value(_) => true,
            Form::Tuple(items) => items.iter().all(|f| f.is_within(left)),
            Form::Record(fields) => fields.iter().all(|(_, f)| f.is_within(left)),
            Form::Array(_, element) => element.is_within(left),
            Form::Sum(_, constructors) => constructors.iter().flat_map(|(_, p)| p).all(|f| f.is_within(left)),
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Value(k) => write!(f, "{k}"),
            Form::Tuple(items) => {
                f.write_str("(")?;
                for (k, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if k == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
            Form::Record(fields) => {
                f.write_str("{")?;
                for (k, (name, item)) in fields.iter().enumerate() {
                    write!(f, "{}{name} = {item}", if k == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
            Form::Array(k, element) => write!(f, "[{k} {element}]"),
            Form::Sum(tag, constructors) => {
                write!(f, "<{tag}")?;
                for (k, (name, payload)) in constructors.iter().enumerate() {
                    write!(f, "{} #{name}", if k == 0 { "" } else { " |" })?;
                    for item in payload {
                        write!(f, " {item}")?;
                    }
                }
                f.write_str(">")
            }
        }
    }
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Form, String> {
        let mut reader = FormReader { rest: text };
        let form = reader.form(MAX_NESTING)?;
        reader.skip();
        if reader.rest.is_empty() { Ok(form) } else { Err(reader.error("the end")) }
    }
}

struct FormReader<'t> {
    rest: &'t str,
}

impl FormReader<'_> {
    fn error(&self, wanted: &str) -> String {
        let found: String = self.rest.chars().take(20).collect();
        format!("a form has {wanted} where `{found}` stands")
    }

    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn accept(&mut self, mark: &str) -> bool {
        self.skip();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, mark: &str) -> Result<(), String> {
        if self.accept(mark) { Ok(()) } else { Err(self.error(&format!("`{mark}`"))) }
    }

    fn number(&mut self) -> Result<u32, String> {
        self.skip();
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let number = self.rest[..end].parse().map_err(|_| self.error("a number"))?;
        self.rest = &self.rest[end..];
        Ok(number)
    }

    fn name(&mut self) -> Result<String, String> {
        self.skip();
        let part = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
        let end = self.rest.find(|c| !part(c)).unwrap_or(self.rest.len());
        if end == 0 {
            return Err(self.error("a name"));
        }
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        Ok(name.to_string())
    }

    fn form(&mut self, levels: usize) -> Result<Form, String> {
        let Some(left) = levels.checked_sub(1) else { return Err("a form nests too deeply".into()) };
        if self.accept("(") {
            let mut items = Vec::new();
            while !self.accept(")") {
                if !items.is_empty() {
                    self.expect(",")?;
                }
                items.push(self.form(left)?);
            }
            return Ok(Form::Tuple(items));
        }
        if self.accept("{") {
            let mut fields = Vec::new();
            while !self.accept("}") {
                if !fields.is_empty() {
                    self.expect(",")?;
                }
                let name = self.name()?;
                self.expect("=")?;
                fields.push((name, self.form(left)?));
            }
            return Ok(Form::Record(fields));
        }
        if self.accept("[") {
            let length = self.number()?;
            let element = self.form(left)?;
            self.expect("]")?;
            return Ok(Form::Array(length, Box::new(element)));
        }
        if self.accept("<") {
            let tag = self.number()?;
            let mut constructors = Vec::new();
            while !self.accept(">") {
                if !constructors.is_empty() {
                    self.expect("|")?;
                }
                self.expect("#")?;
                let name = self.name()?;
                let mut payload = Vec::new();
                loop {
                    self.skip();
                    if self.rest.starts_with(['|', '>']) || self.rest.is_empty() {
                        break;
                    }
                    payload.push(self.form(left)?);
                }
                constructors.push((name, payload));
            }
            return Ok(Form::Sum(tag, constructors));
        }
        self.number().map(Form::Value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_back() {
        for text in ["0", "()", "(0, {x = 1, y' = (2, 3)})", "[0 [1 (1, 2)]]", "<0 #a | #b 1 (2, 3) | #c>"] {
            assert_eq!(text.parse::<Form>().map(|f| f.to_string()), Ok(text.to_string()));
        }
        for text in ["", "(", "(0", "{x 1}", "[0]", "<0 b>", "<0 #", "0 1", "99999999999"] {
            assert!(text.parse::<Form>().is_err(), "{text}");
        }
        assert!("(".repeat(100_000).parse::<Form>().is_err());
    }

    #[test]
    fn forms_fit_values_that_are_there() {
        let types = [
            ValueType::array(ElemType::I8, 1),
            ValueType::array(ElemType::F32, 2),
            ValueType::scalar(ElemType::I8),
        ];
        let fits = |text: &str| text.parse::<Form>().is_ok_and(|f| f.fits(&types));
        assert!(fits("[1 [1 1]]"));
        assert!(!fits("[1 [1 [1 1]]]"));
        assert!(fits("([0 <0 #a | #b 1>], 2)"));
        assert!(!fits("<0 #a>"));
        assert!(fits("<2 #a | #b 1>"));
        assert!(!fits("(3)"));
    }
}
