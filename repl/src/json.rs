//! JSON, as far as galopvm writes it.

pub use galopvm_base::json::quoted as string;

use std::fmt::{self, Write};

/// A value.
pub enum Json {
    /// Nothing is known.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Number(u64),
    /// Any other number; what JSON cannot say is null.
    Float(f64),
    /// A text.
    Text(String),
    /// Several values.
    List(Vec<Json>),
    /// Values with names.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// An object from its members.
    pub fn object<N: Into<String>, const K: usize>(members: [(N, Json); K]) -> Json {
        Json::Object(members.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let lines = |f: &mut fmt::Formatter<'_>, items: &[(Option<&str>, &Json)], open: char, close: char| {
            f.write_char(open)?;
            for (k, (name, value)) in items.iter().enumerate() {
                write!(f, "{}\n{:width$}", if k > 0 { "," } else { "" }, "", width = 2 * depth + 2)?;
                if let Some(name) = name {
                    write!(f, "{}: ", string(name))?;
                }
                value.write(f, depth + 1)?;
            }
            write!(f, "\n{:width$}{close}", "", width = 2 * depth)
        };
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(value) => write!(f, "{value}"),
            Json::Float(value) if value.is_finite() => write!(f, "{value}"),
            Json::Float(_) => f.write_str("null"),
            Json::Text(text) => f.write_str(&string(text)),
            Json::List(items) if items.is_empty() => f.write_str("[]"),
            Json::Object(items) if items.is_empty() => f.write_str("{}"),
            Json::List(items) => lines(f, &items.iter().map(|v| (None, v)).collect::<Vec<_>>(), '[', ']'),
            Json::Object(items) => {
                let items: Vec<_> = items.iter().map(|(name, v)| (Some(name.as_str()), v)).collect();
                lines(f, &items, '{', '}')
            }
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::Text(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Json {
        Json::Number(value)
    }
}

impl From<usize> for Json {
    fn from(value: usize) -> Json {
        Json::Number(value as u64)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, T::into)
    }
}

impl<T: Into<Json>> FromIterator<T> for Json {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Json {
        Json::List(items.into_iter().map(T::into).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_text() {
        let value = Json::object([
            ("a", Json::from("x\"\n\u{1}")),
            ("b", [1u64, 2].into_iter().collect()),
            ("c", Json::Object(Vec::new())),
            ("d", Json::object([("e", Json::from(None::<bool>)), ("f", Json::Float(0.5))])),
            ("g", Json::Float(f64::NAN)),
        ]);
        let text = "{\n  \"a\": \"x\\\"\\n\\u0001\",\n  \"b\": [\n    1,\n    2\n  ],\n  \"c\": {},\n  \
                    \"d\": {\n    \"e\": null,\n    \"f\": 0.5\n  },\n  \"g\": null\n}";
        assert_eq!(value.to_string(), text);
    }
}
