//! How a value of the source language is made of values of the machine, read from its type.
//!
//! Tuples and records are their parts, one after the other; an array of them is as many arrays. What the type does not tell -
//! sums, whose constructors share values, and types that a module hides - is opaque: so many values together.

/// The parts of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Parts {
    /// One scalar or array.
    One,
    /// A tuple, or an array of tuples.
    Tuple(Vec<Parts>),
    /// A record, or an array of records.
    Record(Vec<(String, Parts)>),
    /// So many values that only the program takes apart.
    Opaque(usize),
}

impl Parts {
    /// The parts of a value of a type, which has so many values.
    pub fn of(ty: &str, values: usize) -> Parts {
        let mut reader = Reader { rest: ty };
        let parts = reader.parts().filter(|_| reader.rest.trim().is_empty());
        parts.filter(|parts| parts.values() == values).unwrap_or(match values {
            1 => Parts::One,
            _ => Parts::Opaque(values),
        })
    }

    /// How many values there are.
    pub fn values(&self) -> usize {
        match self {
            Parts::One => 1,
            Parts::Tuple(items) => items.iter().map(Parts::values).sum(),
            Parts::Record(fields) => fields.iter().map(|(_, parts)| parts.values()).sum(),
            Parts::Opaque(values) => *values,
        }
    }
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn takes(&mut self, mark: char) -> bool {
        self.rest = self.rest.trim_start();
        let rest = self.rest.strip_prefix(mark);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn word(&mut self) -> Option<&'t str> {
        self.rest = self.rest.trim_start();
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
        let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    /// Skips a size, whose brackets may hold others.
    fn size(&mut self) -> Option<()> {
        let mut depth = 1usize;
        let end = self.rest.find(|c| {
            depth = match c {
                '[' => depth + 1,
                ']' => depth - 1,
                _ => depth,
            };
            depth == 0
        })?;
        self.rest = &self.rest[end + 1..];
        Some(())
    }

    /// A type; nothing if it is none of those that say what they are made of.
    fn parts(&mut self) -> Option<Parts> {
        while self.takes('*') {}
        while self.takes('[') {
            self.size()?;
        }
        if self.takes('(') {
            let items = self.list(')', Reader::parts)?;
            return match <[Parts; 1]>::try_from(items) {
                Ok([item]) => Some(item),
                Err(items) => Some(Parts::Tuple(items)),
            };
        }
        if self.takes('{') {
            let field = |reader: &mut Reader<'t>| {
                let name = reader.word()?.to_string();
                reader.takes(':').then_some(())?;
                Some((name, reader.parts()?))
            };
            return self.list('}', field).map(Parts::Record);
        }
        let is_scalar = |word: &str| galopvm::ElemType::ALL.iter().any(|ty| ty.to_string() == word);
        self.word().filter(|word| is_scalar(word)).map(|_| Parts::One)
    }

    fn list<T>(&mut self, end: char, mut item: impl FnMut(&mut Reader<'t>) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        if self.takes(end) {
            return Some(items);
        }
        loop {
            items.push(item(self)?);
            if self.takes(end) {
                return Some(items);
            }
            self.takes(',').then_some(())?;
        }
    }
}
