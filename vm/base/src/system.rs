//! What the system says about files.

/// The message of an error of the system without its number, as people read it: `no such file or directory`.
pub fn system_message(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(message, _)| message.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::system_message;
    use std::io::Error;

    #[test]
    fn numbers_of_errors_are_not_shown() {
        let missing = std::fs::read("/no/such/file").expect_err("a missing file");
        assert_eq!(system_message(&missing), "no such file or directory");
        assert_eq!(system_message(&Error::other("The disk sleeps")), "The disk sleeps");
    }
}
