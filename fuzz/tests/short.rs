//! The first cases of every run, as one of the tests.

use std::process::Command;

#[test]
fn the_first_cases_find_nothing() {
    let run = Command::new(env!("CARGO_BIN_EXE_galopvm-fuzz"))
        .args(["--count", "5000"])
        .output()
        .expect("the fuzzer starts");
    let told = String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && told.contains("5000 cases"), "{told}");
}
