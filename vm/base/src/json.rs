//! JSON documents, as tools read them.
//!
//! A document is a value; its text has a line for each entry of its outer arrays and objects.

use std::fmt::{self, Write};

/// A value.
#[derive(Clone, PartialEq, Debug)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// Any other number; what JSON cannot say is null.
    Float(f64),
    /// A text.
    Text(String),
    /// Values in order.
    List(Vec<Json>),
    /// Named values in order.
    Object(Vec<(&'static str, Json)>),
    /// Values whose names are data.
    Map(Vec<(String, Json)>),
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<&str> for Json {
    fn from(value: &str) -> Json {
        Json::Text(value.into())
    }
}

impl From<String> for Json {
    fn from(value: String) -> Json {
        Json::Text(value)
    }
}

impl From<f64> for Json {
    fn from(value: f64) -> Json {
        Json::Float(value)
    }
}

impl From<&String> for Json {
    fn from(value: &String) -> Json {
        Json::Text(value.clone())
    }
}

macro_rules! whole_numbers {
    ($($ty:ty),*) => {$(
        impl From<$ty> for Json {
            fn from(value: $ty) -> Json {
                Json::Int(value as i128)
            }
        }
    )*};
}

whole_numbers!(u32, u64, i64, usize);

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, Into::into)
    }
}

impl<T: Into<Json>> FromIterator<T> for Json {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Json {
        Json::List(items.into_iter().map(Into::into).collect())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl Json {
    /// Whether it is written on one line: nothing in it has entries.
    fn is_flat(&self) -> bool {
        let plain = |value: &Json| {
            !matches!(value, Json::List(items) if !items.is_empty())
                && !matches!(value, Json::Object(entries) if !entries.is_empty())
                && !matches!(value, Json::Map(entries) if !entries.is_empty())
        };
        match self {
            Json::List(items) => items.iter().all(plain),
            Json::Object(entries) => entries.iter().all(|(_, value)| plain(value)),
            Json::Map(entries) => entries.iter().all(|(_, value)| plain(value)),
            _ => true,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Int(value) => write!(f, "{value}"),
            Json::Float(value) if value.is_finite() => write!(f, "{value}"),
            Json::Float(_) => f.write_str("null"),
            Json::Text(text) => f.write_str(&quoted(text)),
            Json::List(items) => {
                let entries = items.iter().map(|item| (None, item));
                self.entries(f, depth, ["[", "]"], entries)
            }
            Json::Object(fields) => {
                let entries = fields.iter().map(|(name, value)| (Some(*name), value));
                self.entries(f, depth, ["{", "}"], entries)
            }
            Json::Map(entries) => {
                let entries = entries.iter().map(|(name, value)| (Some(name.as_str()), value));
                self.entries(f, depth, ["{", "}"], entries)
            }
        }
    }

    fn entries<'a>(
        &self,
        f: &mut fmt::Formatter<'_>,
        depth: usize,
        [open, close]: [&str; 2],
        entries: impl Iterator<Item = (Option<&'a str>, &'a Json)>,
    ) -> fmt::Result {
        let flat = self.is_flat();
        f.write_str(open)?;
        let mut any = false;
        for (name, value) in entries {
            let comma = if any { "," } else { "" };
            match flat {
                true if any => write!(f, "{comma} ")?,
                true => {}
                false => write!(f, "{comma}\n{:width$}", "", width = 2 * (depth + 1))?,
            }
            any = true;
            if let Some(name) = name {
                write!(f, "{}: ", quoted(name))?;
            }
            value.write(f, depth + 1)?;
        }
        if any && !flat {
            write!(f, "\n{:width$}", "", width = 2 * depth)?;
        }
        f.write_str(close)
    }
}

/// A text as a JSON string.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted += "\\n",
            '\t' => quoted += "\\t",
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn documents_are_indented_and_quoted() {
        let inner = Json::Object(vec![("n", 3i64.into()), ("text", "a\"\\\n\u{1}é".into())]);
        let document = Json::Object(vec![
            ("none", Json::from(None::<i64>)),
            ("flags", [true, false].into_iter().collect()),
            ("parts", Json::List(vec![inner, Json::List(Vec::new())])),
            ("map", Json::Map(vec![("a b".into(), 0.5.into()), ("c".into(), f64::NAN.into())])),
        ]);
        let text = "{\n  \"none\": null,\n  \"flags\": [true, false],\n  \"parts\": [\n    \
                    {\"n\": 3, \"text\": \"a\\\"\\\\\\n\\u0001é\"},\n    []\n  ],\n  \
                    \"map\": {\"a b\": 0.5, \"c\": null}\n}";
        assert_eq!(document.to_string(), text);
    }
}
