//! Sessions at the prompt: what is typed is a golden file, and what it answers, errors among it, the file beside.

use super::process::{Folder, command};
use galopvm_testkit::golden;
use std::fs::File;

#[test]
fn sessions_are_as_they_were() {
    // What executes nothing but the meaning prints the same everywhere.
    golden::beside("prompt", ["in", "out"], |name, typed| {
        let folder = Folder::new(&format!("transcript-{name}"));
        let both = File::create(folder.0.join("answers")).expect("a file for answers");
        folder.write("typed", typed);
        let input = File::open(folder.0.join("typed")).expect("what is typed");
        let mut galopvm = command(&folder.0, &["repl", "--backend", "interp"]);
        galopvm.stdin(input).stderr(both.try_clone().expect("one file for both"));
        galopvm.stdout(both);
        let code = galopvm.status().expect("galopvm runs").code();
        assert_eq!(code, Some(0), "{name}");
        String::from_utf8_lossy(&folder.read("answers")).into_owned()
    });
}

/// Every command in a terminal, with what appears there.
#[cfg(unix)]
#[test]
fn commands_in_a_terminal_are_as_they_were() {
    golden::beside("terminal", ["in", "out"], |name, typed| {
        let folder = Folder::new(&format!("terminal-{name}"));
        folder.write("typed", typed);
        let shown = folder.0.join("shown");
        std::fs::create_dir(&shown).expect("a folder for the prompt");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cli/transcript.py");
        let mut python = std::process::Command::new("python3");
        python.arg(script).arg(env!("CARGO_BIN_EXE_galopvm")).arg(shown);
        python.env("PYTHONUTF8", "1");
        python.stdin(File::open(folder.0.join("typed")).expect("what is typed"));
        let ran = python.output().expect("the tests need Python");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).into_owned()
    });
}
