//! What is wrong with a file, where, and what to do about it.

/// What is wrong.
#[derive(Debug, PartialEq)]
pub struct Problem {
    /// What.
    pub message: String,
    /// Where in the bytes of the file, if that is one place.
    pub at: Option<usize>,
    /// What to do.
    pub hint: String,
}

impl Problem {
    /// Of the file as a whole.
    pub fn of_file(message: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem { message: message.into(), at: None, hint: hint.into() }
    }

    /// At a place.
    pub fn at(at: usize, message: impl Into<String>, hint: impl Into<String>) -> Problem {
        Problem { message: message.into(), at: Some(at), hint: hint.into() }
    }
}
