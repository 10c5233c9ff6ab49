//! Inputs that the program's own entry points make: the part of Futhark's scripts that test blocks use.
//!
//! ```text
//! expression = "let" pattern "=" expression "in" expression | call | atom
//! call       = name atom..
//! atom       = value | name | "(" expression, .. ")" | "[" .. "]" | string
//! name       = an entry point, a variable, "$loaddata", "$loadbytes"
//! ```
//!
//! Numbers without a type become what they are given to. What else scripts have is refused by name.

use super::Data;
use super::data::read;
use galopvm::{Array, ElemType, Scalar, Session, Value, ValueType};
use std::collections::HashMap;

/// Deepest nesting of expressions.
const DEEPEST: usize = 100;

/// A value of a script.
#[derive(Clone)]
enum Made {
    /// One value of the language: its parts, and whether a type was written for it or is known.
    Value(Vec<Value>, bool),
    Tuple(Vec<Made>),
}

impl Made {
    /// The parts of all components, and whether the type of each is known.
    fn parts(self) -> Vec<(Value, bool)> {
        match self {
            Made::Value(parts, typed) => parts.into_iter().map(|part| (part, typed)).collect(),
            Made::Tuple(items) => items.into_iter().flat_map(Made::parts).collect(),
        }
    }
}

/// A script under way.
pub struct Script<'s, 'p> {
    data: &'s Data<'p>,
    session: &'s mut Session,
    text: &'s str,
    at: usize,
    depth: usize,
}

type Outcome<T> = Result<T, String>;

impl<'s, 'p> Script<'s, 'p> {
    pub fn new(data: &'s Data<'p>, session: &'s mut Session, text: &'s str) -> Script<'s, 'p> {
        Script { data, session, text, at: 0, depth: 0 }
    }

    /// The value of the script as arguments of these types; a tuple is several of them.
    pub fn arguments(mut self, types: &[ValueType]) -> Outcome<Vec<Value>> {
        let made = self.expression(&HashMap::new())?;
        self.skip();
        if self.at < self.text.len() {
            return Err(self.beyond());
        }
        Ok(fitted(made.parts(), types))
    }

    fn rest(&self) -> &'s str {
        &self.text[self.at..]
    }

    fn skip(&mut self) {
        loop {
            self.at = self.text.len() - self.rest().trim_start().len();
            match self.rest().strip_prefix("--") {
                Some(comment) => self.at = self.text.len() - comment.trim_start_matches(|c| c != '\n').len(),
                None => return,
            }
        }
    }

    fn accept(&mut self, mark: &str) -> bool {
        self.skip();
        let found = self.rest().starts_with(mark);
        self.at += if found { mark.len() } else { 0 };
        found
    }

    fn beyond(&self) -> String {
        let found: String = self.rest().chars().take(30).collect();
        format!("The script has something that scripts cannot have here: `{}`", found.trim())
    }

    /// The name here, with the mark of a built-in function, without taking it.
    fn name(&mut self) -> &'s str {
        self.skip();
        let rest = self.rest();
        let start = usize::from(rest.starts_with('$'));
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
        let end = rest[start..].find(|c| !is_part(c)).map_or(rest.len(), |end| start + end);
        let name = &rest[..end];
        let first = name[start..].chars().next();
        let number = rest[end..].starts_with('.');
        if number || !first.is_some_and(|c| c.is_alphabetic() || c == '_') || matches!(name, "true" | "false")
        {
            return "";
        }
        // `empty([0]i32)` is a value.
        if name == "empty" && rest[end..].starts_with('(') { "" } else { name }
    }

    fn keyword(&mut self, word: &str) -> bool {
        let found = self.name() == word;
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn expression(&mut self, known: &HashMap<String, Made>) -> Outcome<Made> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("The script nests too deep.".into());
        }
        let made = if self.keyword("let") { self.binding(known) } else { self.application(known) };
        self.depth -= 1;
        made
    }

    fn binding(&mut self, known: &HashMap<String, Made>) -> Outcome<Made> {
        let Some((pattern, _)) = self.rest().split_once('=') else { return Err(self.beyond()) };
        self.at += pattern.len() + 1;
        let value = self.expression(known)?;
        if !self.keyword("in") {
            return Err(self.beyond());
        }
        let names: Vec<&str> =
            pattern.split(|c: char| "(), \n\t".contains(c)).filter(|name| !name.is_empty()).collect();
        let mut known = known.clone();
        match (names.as_slice(), value) {
            ([name], value) => drop(known.insert(name.to_string(), value)),
            (names, Made::Tuple(items)) if names.len() == items.len() => {
                known.extend(names.iter().map(|name| name.to_string()).zip(items));
            }
            _ => return Err(format!("The script takes `{}` apart, which does not fit it.", pattern.trim())),
        }
        self.expression(&known)
    }

    fn application(&mut self, known: &HashMap<String, Made>) -> Outcome<Made> {
        let name = self.name();
        if name.is_empty() || known.contains_key(name) {
            return self.atom(known);
        }
        self.at += name.len();
        let mut arguments = Vec::new();
        loop {
            self.skip();
            let ends =
                self.rest().is_empty() || self.rest().starts_with([')', ',', ']']) || self.name() == "in";
            if ends {
                return self.call(name, arguments);
            }
            arguments.push(self.atom(known)?);
        }
    }

    fn call(&mut self, name: &str, arguments: Vec<Made>) -> Outcome<Made> {
        if name.starts_with('$') {
            return self.built_in(name, arguments);
        }
        let entry = self.session.entry(name).map_err(|error| format!("Script: {error}"))?.clone();
        let types = self.session.argument_types(&entry);
        let parts = fitted(arguments.into_iter().flat_map(Made::parts).collect(), &types);
        let results = self.session.call_values(name, parts);
        let mut results = results
            .map_err(|error| format!("Script: {name}: {}", crate::failure::message(&error)))?
            .into_iter();
        let mut items: Vec<Made> = entry
            .results
            .iter()
            .map(|result| Made::Value(results.by_ref().take(result.values as usize).collect(), true))
            .collect();
        Ok(if items.len() == 1 { items.remove(0) } else { Made::Tuple(items) })
    }

    fn built_in(&mut self, name: &str, arguments: Vec<Made>) -> Outcome<Made> {
        let parts: Vec<Value> = arguments.into_iter().flat_map(Made::parts).map(|(part, _)| part).collect();
        let memory = self.session.memory().clone();
        let file = match parts.as_slice() {
            [Value::Array(text)] => text.to_vec::<u8>().and_then(|bytes| String::from_utf8(bytes).ok()),
            _ => None,
        };
        match (name, file) {
            ("$loaddata", Some(file)) => {
                let values = self.data.file(&memory, &file)?;
                let mut items: Vec<Made> =
                    values.into_iter().map(|value| Made::Value(vec![value], true)).collect();
                Ok(if items.len() == 1 { items.remove(0) } else { Made::Tuple(items) })
            }
            ("$loadbytes", Some(file)) => {
                let bytes = self.data.bytes(&memory, &file)?;
                let array = Array::from_slice(&memory, &bytes, &[bytes.len() as i64]);
                Ok(Made::Value(vec![Value::Array(array.map_err(|trap| trap.to_string())?)], true))
            }
            ("$loaddata" | "$loadbytes", None) => Err(format!("Script: `{name}` takes the name of a file.")),
            _ => Err(format!("Script: galopvm has no `{name}`, only `$loaddata` and `$loadbytes`.")),
        }
    }

    fn atom(&mut self, known: &HashMap<String, Made>) -> Outcome<Made> {
        let name = self.name();
        if !name.is_empty() {
            self.at += name.len();
            return match known.get(name) {
                Some(value) => Ok(value.clone()),
                None => self.call(name, Vec::new()),
            };
        }
        if self.accept("(") {
            let mut items = Vec::new();
            while !self.accept(")") {
                items.push(self.expression(known)?);
                if !self.accept(",") && !self.rest().trim_start().starts_with(')') {
                    return Err(self.beyond());
                }
            }
            return Ok(if items.len() == 1 { items.remove(0) } else { Made::Tuple(items) });
        }
        if self.rest().starts_with('{') {
            return Err("Script: galopvm's scripts have no records.".into());
        }
        self.literal()
    }

    /// A value in the notation of data.
    fn literal(&mut self) -> Outcome<Made> {
        let text = literal_text(self.rest()).ok_or_else(|| self.beyond())?;
        self.at += text.len();
        let values = read(self.session.memory(), text);
        let values = values.map_err(|error| format!("Script: `{text}`: {}", error.message))?;
        // A suffix says the type, and so does a string.
        let names = ElemType::ALL.map(ElemType::name);
        let typed = text.starts_with(['"', 't', 'f']) || names.iter().any(|name| text.contains(name));
        Ok(Made::Value(values, typed))
    }
}

/// The text of the value that stands here.
fn literal_text(text: &str) -> Option<&str> {
    let (mut depth, mut string, mut escaped) = (0, false, false);
    for (k, c) in text.char_indices() {
        let ends = depth == 0 && !string && (c.is_whitespace() || ",)]".contains(c));
        if ends {
            return Some(&text[..k]).filter(|text| !text.is_empty());
        }
        match c {
            _ if escaped => escaped = false,
            '\\' if string => escaped = true,
            '"' => string = !string,
            '[' | '(' if !string => depth += 1,
            ']' | ')' if !string => depth -= 1,
            _ => {}
        }
    }
    Some(text).filter(|text| !text.is_empty() && depth == 0 && !string)
}

/// The parts as these types, where they have none of their own.
fn fitted(parts: Vec<(Value, bool)>, types: &[ValueType]) -> Vec<Value> {
    let types = types.iter().map(Some).chain(std::iter::repeat(None));
    parts
        .into_iter()
        .zip(types)
        .map(|((part, typed), ty)| match (part, ty) {
            (Value::Scalar(scalar), Some(ty)) if !typed && ty.is_scalar() => {
                Value::Scalar(converted(scalar, ty.elem))
            }
            (part, _) => part,
        })
        .collect()
}

fn converted(scalar: Scalar, elem: ElemType) -> Scalar {
    match (scalar.ty.is_float(), elem.is_float()) {
        (false, false) if elem != ElemType::Bool => Scalar::from_int(elem, scalar.as_i64()),
        (true, true) => Scalar::from_f64(elem, scalar.as_f64()),
        (false, true) => Scalar::from_f64(elem, scalar.as_i64() as f64),
        _ => scalar,
    }
}
