//! The first cases of every run, as one of the tests.

use std::process::Command;

fn finds_nothing(target: &str, count: &str) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_galopvm-fuzz"))
        .args([target, "--count", count])
        .output()
        .expect("the fuzzer starts");
    let told = String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success() && told.contains(&format!("{count} cases")), "{told}");
    told
}

#[test]
fn damaged_programs() {
    finds_nothing("damage", "5000");
}

#[test]
fn sources_with_mistakes() {
    finds_nothing("sources", "1500");
}

#[test]
fn sessions_of_several_calls() {
    let told = finds_nothing("sessions", "150");
    let refused =
        told.split("unreadable, ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok());
    assert!(refused.is_some_and(|refused| refused < 30), "too many programs do not compile: {told}");
}

#[test]
fn programs_with_passes_and_without() {
    let told = finds_nothing("passes", "400");
    let refused = told.split(" cases: ").nth(1).and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok());
    assert!(refused.is_some_and(|refused| refused < 20), "too many programs do not compile: {told}");
}

#[test]
fn values_in_files() {
    finds_nothing("values", "5000");
}

#[test]
fn pairs_of_views() {
    finds_nothing("views", "3000");
}
