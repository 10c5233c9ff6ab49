//! A process that leaves an allocation ends there, and says at which case it was.
#![cfg(target_os = "linux")]
#![allow(unsafe_code)]

use galopvm_guard::{Guarded, at_case, guard, tell_cases};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};

#[global_allocator]
static ALLOCATOR: Guarded = Guarded;

/// What is done in a process of its own, by name.
const DONE: &str = "GALOPVM_DONE_UNDER_GUARD";

#[repr(align(64))]
#[derive(Clone)]
struct Line([u8; 64]);

/// Does this in a process of its own, that is the test of this name again.
fn apart(test: &str) -> Output {
    let this = std::env::current_exe().expect("the test has a file");
    Command::new(this).args(["--exact", test, "--nocapture"]).env(DONE, test).output().expect("it starts")
}

fn is_apart() -> bool {
    let is_apart = std::env::var_os(DONE).is_some();
    if is_apart {
        assert!(guard());
        tell_cases();
        at_case(4711);
    }
    is_apart
}

fn ended(output: &Output) -> (Option<i32>, bool) {
    let told =
        String::from_utf8_lossy(&output.stderr).contains("case 00000000000000004711 ended the process\n");
    (output.status.signal(), told)
}

#[test]
fn nothing_is_behind_an_allocation() {
    if is_apart() {
        let lines = std::hint::black_box(vec![Line([7; 64]); 3]);
        assert_eq!((lines[2].0[63], lines.as_ptr().addr() % 64), (7, 0));
        let end = lines.as_ptr_range().end.cast::<u8>();
        // SAFETY: it is not: this is what ends the process.
        std::hint::black_box(unsafe { end.read_volatile() });
        return;
    }
    assert_eq!(ended(&apart("nothing_is_behind_an_allocation")), (Some(libc::SIGSEGV), true));
}

#[test]
fn nothing_is_left_of_an_allocation() {
    if is_apart() {
        let lines = std::hint::black_box(vec![Line([7; 64]); 3]);
        let first = lines.as_ptr().cast::<u8>();
        drop(lines);
        // SAFETY: it is not: this is what ends the process.
        std::hint::black_box(unsafe { first.read_volatile() });
        return;
    }
    assert_eq!(ended(&apart("nothing_is_left_of_an_allocation")), (Some(libc::SIGSEGV), true));
}

#[test]
fn a_thread_that_works_for_cases_tells_those_under_way() {
    if is_apart() {
        let worker = std::thread::spawn(|| std::process::abort());
        drop(worker.join());
        return;
    }
    assert_eq!(
        ended(&apart("a_thread_that_works_for_cases_tells_those_under_way")),
        (Some(libc::SIGABRT), true)
    );
}

#[test]
fn allocations_can_be_used_and_grow() {
    if is_apart() {
        let mut lines = Vec::new();
        for k in 0..1000 {
            lines.push(Line([k as u8; 64]));
        }
        assert!(lines.iter().enumerate().all(|(k, line)| line.0 == [k as u8; 64]));
        assert!(vec![0u64; 1000].iter().all(|word| *word == 0));
        return;
    }
    let output = apart("allocations_can_be_used_and_grow");
    assert!(output.status.success(), "{output:?}");
}
