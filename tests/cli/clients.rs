//! Clients of Futhark's server protocol that others wrote: `clients.py` says what they do. They are installed into an environment of the
//! target folder; where they cannot be had, as without a network, the test says so and looks at nothing.
#![cfg(unix)]

use super::process::Folder;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An interpreter that has the clients, or why there is none.
fn python() -> Result<PathBuf, String> {
    let environment = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients");
    let python = environment.join("bin/python");
    let has_them = |python: &Path| {
        let asked = Command::new(python).args(["-c", "import futhark_server, futhark_data, numpy"]).output();
        asked.is_ok_and(|asked| asked.status.success())
    };
    if has_them(&python) {
        return Ok(python);
    }
    let run = |command: &mut Command| match command.output() {
        Ok(ran) if ran.status.success() => Ok(()),
        Ok(ran) => Err(String::from_utf8_lossy(&ran.stderr).into_owned()),
        Err(error) => Err(error.to_string()),
    };
    run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let install = [
        "-m",
        "pip",
        "install",
        "-q",
        "--retries",
        "1",
        "futhark-server==1.0.1",
        "futhark-data==1.0.3",
        "numpy",
    ];
    run(Command::new(&python).args(install))?;
    Ok(python)
}

#[test]
fn clients_of_others_drive_the_server() {
    let python = match python() {
        Ok(python) => python,
        Err(why) => return println!("skipped: the clients cannot be installed: {why}"),
    };
    let folder = Folder::new("clients");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cli/clients.py");
    let ran = Command::new(python).arg(script).arg(env!("CARGO_BIN_EXE_galopvm")).arg(&folder.0).output();
    let ran = ran.expect("the interpreter starts");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
}
