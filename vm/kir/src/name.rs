//! Names of a region's variables: short texts that take no memory of their own.

use std::fmt;
use std::ops::Deref;

/// Bytes of a name that is kept in place.
const SHORT: usize = 22;

/// A name. Most have a few letters and a number, and regions are made again and again.
#[derive(Clone)]
pub struct Name(Form);

#[derive(Clone)]
enum Form {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(Box<str>),
}

impl Name {
    /// Letters with a number behind them.
    pub fn numbered(letters: &str, number: usize) -> Name {
        let (mut digits, mut at, mut left) = ([0; 20], 20, number);
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                break;
            }
        }
        let len = letters.len() + digits.len() - at;
        if len > SHORT {
            return Name::from(format!("{letters}{number}"));
        }
        let mut bytes = [0; SHORT];
        bytes[..letters.len()].copy_from_slice(letters.as_bytes());
        bytes[letters.len()..len].copy_from_slice(&digits[at..]);
        Name(Form::Short { len: len as u8, bytes })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Form::Short { len, bytes } => std::str::from_utf8(&bytes[..usize::from(*len)])
                .expect("it was copied from a text, or made of one and digits"),
            Form::Long(text) => text,
        }
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..text.len()) {
            Some(place) => {
                place.copy_from_slice(text.as_bytes());
                Name(Form::Short { len: text.len() as u8, bytes })
            }
            None => Name(Form::Long(text.into())),
        }
    }
}

impl From<String> for Name {
    fn from(text: String) -> Name {
        Name::from(text.as_str())
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Name {}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn names_are_their_texts() {
        for number in [0, 7, 10, 4096, usize::MAX] {
            for letters in ["r", "row", "a_name_of_many_letters"] {
                assert_eq!(Name::numbered(letters, number).as_str(), format!("{letters}{number}"));
            }
        }
        for text in ["", "x", "of twenty-two byt\u{e4}s ..", "of twenty-three byt\u{e4}s .."] {
            assert_eq!(Name::from(text).as_str(), text);
            assert_eq!(Name::from(text.to_string()), Name::from(text));
        }
    }
}
