//! Types as programs write them, read.

use crate::types::Type;
use galopvm_base::ElemType;

/// Types that nest deeper are not known.
const DEEPEST: usize = 100;

impl Type {
    /// The type that the text of a parameter or result of an entry point means: sizes are kept where they are numbers, and marks of
    /// what is consumed are left out. What a text does not tell, as a type that a module hides, is [`Type::Any`].
    pub fn read(written: &str) -> Type {
        let mut reader = Reader { rest: written, depth: 0 };
        let found = reader.whole();
        found.filter(|_| reader.is_at_end()).unwrap_or(Type::Any)
    }
}

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Reader<'t> {
    /// Passes blanks and marks of what is consumed.
    fn next(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == '*');
        self.rest.chars().next()
    }

    fn is_at_end(&mut self) -> bool {
        self.next().is_none()
    }

    fn takes(&mut self, mark: char) -> bool {
        let is_next = self.next() == Some(mark);
        if is_next {
            self.rest = &self.rest[mark.len_utf8()..];
        }
        is_next
    }

    /// A name, which may be one of a module.
    fn word(&mut self) -> Option<&'t str> {
        self.next();
        let is_of_word = |c: char| c.is_alphanumeric() || "_'.".contains(c);
        let end = self.rest.find(|c| !is_of_word(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    /// A type where nothing but a separator or an end can follow.
    fn whole(&mut self) -> Option<Type> {
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        let found = match self.next() {
            Some('#') => self.sum(),
            _ => self.one().inspect(|ty| {
                if *ty == Type::Any {
                    self.arguments();
                }
            }),
        };
        self.depth -= 1;
        found
    }

    /// Passes what a type that is not known is applied to.
    fn arguments(&mut self) {
        let mut depth = 0usize;
        let end = self.rest.find(|c| {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' if depth > 0 => depth -= 1,
                _ => return depth == 0 && ")]},|".contains(c),
            }
            false
        });
        self.rest = &self.rest[end.unwrap_or(self.rest.len())..];
    }

    fn sum(&mut self) -> Option<Type> {
        let mut constructors = Vec::new();
        loop {
            self.takes('#').then_some(())?;
            let name = self.word()?.to_string();
            let mut payload = Vec::new();
            while self.next().is_some_and(|c| !")]},|".contains(c)) {
                payload.push(self.one()?);
            }
            constructors.push((name, payload));
            if !self.takes('|') {
                return Some(Type::Sum(constructors));
            }
        }
    }

    /// A type that ends by itself.
    fn one(&mut self) -> Option<Type> {
        let mut extents = Vec::new();
        while self.takes('[') {
            extents.push(self.extent()?);
        }
        let element = match self.next()? {
            '(' => self.tuple()?,
            '{' => self.record()?,
            _ => {
                let word = self.word()?;
                ElemType::ALL.into_iter().find(|ty| ty.name() == word).map_or(Type::Any, Type::Scalar)
            }
        };
        Some(match element {
            Type::Any => Type::Any,
            element if extents.is_empty() => element,
            element => Type::array(&extents, element),
        })
    }

    /// What is between brackets, of which the first is taken; there may be others in it.
    fn extent(&mut self) -> Option<i64> {
        let mut depth = 1usize;
        let end = self.rest.find(|c| {
            match c {
                '[' => depth += 1,
                ']' => depth -= 1,
                _ => {}
            }
            depth == 0
        })?;
        let written = self.rest[..end].trim().trim_end_matches("i64");
        self.rest = &self.rest[end + 1..];
        Some(written.parse().ok().filter(|extent: &i64| *extent > 0).unwrap_or(0))
    }

    fn tuple(&mut self) -> Option<Type> {
        let mut items = self.list('(', ')', Reader::whole)?;
        // Parentheses around one type are no tuple.
        Some(if items.len() == 1 { items.remove(0) } else { Type::Tuple(items) })
    }

    fn record(&mut self) -> Option<Type> {
        let field = |reader: &mut Reader<'t>| {
            let name = reader.word()?.to_string();
            reader.takes(':').then_some(())?;
            Some((name, reader.whole()?))
        };
        self.list('{', '}', field).map(Type::Record)
    }

    fn list<T>(
        &mut self,
        open: char,
        close: char,
        mut item: impl FnMut(&mut Reader<'t>) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.takes(open).then_some(())?;
        let mut items = Vec::new();
        if self.takes(close) {
            return Some(items);
        }
        loop {
            items.push(item(self)?);
            if self.takes(close) {
                return Some(items);
            }
            self.takes(',').then_some(())?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_they_are_shown() {
        for text in [
            "i32",
            "[][]f16",
            "()",
            "(bool, [](u8, ()))",
            "{a: i32, b: {}}",
            "#a | #b i32 []f64 (#c | #d)",
            "[](#a | #b {x: f32})",
            "(i32, #none | #some ([](#x | #y)))",
        ] {
            assert_eq!(Type::read(text).to_string(), text.replace("([](#x | #y))", "[](#x | #y)"));
        }
    }

    #[test]
    fn sizes_are_kept_where_they_are_numbers() {
        let read = Type::read("*[n + f [3]][3][4i64][-1]i32");
        assert_eq!(read, Type::Array(vec![0, 3, 4, 0], Box::new(Type::Scalar(ElemType::I32))));
        // As old programs have it: without parentheses around arrays in constructors, and with marks.
        let read = Type::read("#path *[d0]{x: f64} i32 | #rest");
        assert_eq!(read.to_string(), "#path []{x: f64} i32 | #rest");
    }

    #[test]
    fn what_is_not_told_can_be_anything() {
        for text in
            ["m.t", "t [n] i32", "[n]m.t", "", "(i32", "i32)", "#", "#a | b", "{a i32}", "[n i32", "[]"]
        {
            assert_eq!(Type::read(text), Type::Any, "{text}");
        }
        assert_eq!(Type::read("(m.t [n] (#a | #b), i32)").to_string(), "(_, i32)");
        let deep = "(".repeat(100_000);
        assert_eq!(Type::read(&deep), Type::Any);
    }
}
