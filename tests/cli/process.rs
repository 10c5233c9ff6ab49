//! A process of `galopvm` in a folder of its own, and what it did.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder of its own for each test; gone with the value.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(test: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("galopvm-cli-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> &Folder {
        fs::write(self.0.join(name), contents).expect("a file in the temporary folder");
        self
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).expect("a file in the temporary folder")
    }

    /// Runs `galopvm` in the folder; arguments are separated by blanks.
    pub fn run(&self, arguments: &str, input: impl AsRef<[u8]>) -> Ran {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        run_in(&self.0, &arguments, input.as_ref())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_galopvm"));
    command
        .args(arguments)
        .current_dir(folder)
        .env("XDG_DATA_HOME", folder)
        .env("XDG_CACHE_HOME", folder)
        .env("NO_COLOR", "1");
    command.env_remove("GALOPVM_VULKAN_DEVICE");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run_in(folder: &Path, arguments: &[&str], input: &[u8]) -> Ran {
    let mut child = command(folder, arguments).spawn().expect("galopvm starts");
    let mut stdin = child.stdin.take().expect("its standard input");
    // A process that reads nothing may have ended already.
    let _ = stdin.write_all(input);
    drop(stdin);
    Ran::new(arguments, child.wait_with_output().expect("galopvm ends"))
}

/// What a process did.
pub struct Ran {
    pub what: String,
    pub code: Option<i32>,
    pub out: Vec<u8>,
    pub err: String,
}

impl Ran {
    pub fn new(arguments: &[&str], output: Output) -> Ran {
        Ran {
            what: arguments.join(" "),
            code: output.status.code(),
            out: output.stdout,
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    /// Success, this output, and not a word on standard error.
    #[track_caller]
    pub fn prints(&self, expected: &str) -> &Ran {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "galopvm {}", self.what);
        assert_eq!(self.text(), expected, "galopvm {}", self.what);
        self
    }

    #[track_caller]
    pub fn succeeds(&self) -> &Ran {
        assert_eq!(self.code, Some(0), "galopvm {}\n{}", self.what, self.err);
        self
    }

    /// This exit code, and all of these texts in this order on standard error.
    #[track_caller]
    pub fn fails(&self, code: i32, parts: &[&str]) -> &Ran {
        assert_eq!(self.code, Some(code), "galopvm {}\n{}{}", self.what, self.text(), self.err);
        in_order(&self.what, &self.err, parts);
        assert!(!self.err.contains("internal error"), "{}", self.err);
        self
    }

    /// All of these texts in this order on standard output.
    #[track_caller]
    pub fn shows(&self, parts: &[&str]) -> &Ran {
        in_order(&self.what, &self.text(), parts);
        self
    }
}

#[track_caller]
pub fn in_order(what: &str, text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => panic!("galopvm {what}: {part:?} is missing in:\n{text}"),
        }
    }
}
