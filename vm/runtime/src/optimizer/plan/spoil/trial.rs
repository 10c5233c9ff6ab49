//! Programs with each fault in each decision: every one that makes a result wrong has to be found.

use super::blocks::Fault as InSchedule;
use super::{Fault, Kind, PLANTED, Planted};
use crate::session::{Options, Session};
use galopvm_base::Scalar;
use galopvm_bytecode::{VerifiedModule, text, verify};
use galopvm_check::Verdict;
use galopvm_store::array::Array;
use galopvm_store::error::ErrorKind;
use galopvm_store::memory::in_use;
use galopvm_testkit::{files, read, stem};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn faults() -> Vec<Fault> {
    let further = [1, -1, 2, -2, 3, -3, 4, -4, 5, 7, -8, 12, 16].map(Fault::Further);
    let strides = [Fault::Swapped, Fault::Wider(1), Fault::Wider(-1), Fault::Wider(2), Fault::Wider(-2)];
    let large = [Fault::Larger { last: true }, Fault::Larger { last: false }];
    let schedules = [
        InSchedule::EndsAtOnce,
        InSchedule::EndsBefore(0),
        InSchedule::EndsBefore(1),
        InSchedule::EndsBefore(2),
        InSchedule::Once,
        InSchedule::InTurn,
        InSchedule::Leaves,
        InSchedule::Reaches(1),
        InSchedule::Reaches(2),
        InSchedule::Same(0),
        InSchedule::Same(1),
        InSchedule::Same(2),
    ];
    let mut all = further.to_vec();
    all.extend(strides);
    all.extend(large);
    all.extend((0..3).map(Fault::Block));
    all.extend(schedules.map(Fault::Schedule));
    all
}

/// What three calls of a program give; an error is its kind.
fn outcomes(module: &VerifiedModule, check: bool) -> Vec<Result<String, ErrorKind>> {
    let mut session = Session::new(module.clone(), Options { eager: true, check, ..Options::default() });
    let calls: [(i64, &[i64]); 3] = [
        (5, &[3, 1, 4, 1, 5, 9, 2, 6, 53, 58, 97, 93, 23, 84, 62, 64]),
        (-2, &[11, 3, 17, 5, 29, 7, 2, 13, 31, 37, 19, 23]),
        (5, &[103, 1, 104, 1001, 15, 9, 26, 6, 53, 58, 970, 93, 23, 84, 620, 64]),
    ];
    let call = |(number, elements): (i64, &[i64])| {
        let array = Array::from_slice(session.memory(), elements, &[elements.len() as i64]);
        let args = vec![Scalar::i64(number).into(), array.expect("there is memory").into()];
        match session.call("main", args) {
            Ok(values) => Ok(values.iter().map(|value| format!("{value}\n")).collect()),
            Err(error) => Err(error.kind),
        }
    };
    calls.into_iter().map(call).collect()
}

/// What came of the faults of a kind.
#[derive(Clone, Copy, Default)]
struct Count {
    planted: usize,
    refused: usize,
    wrong: usize,
}

/// A program and what it gives.
struct Program {
    name: String,
    module: VerifiedModule,
    right: Vec<Result<String, ErrorKind>>,
}

fn programs() -> Vec<Program> {
    let program = |path: &PathBuf| {
        let name = stem(path);
        let module = verify(text::parse(&read(path)).expect("a module")).expect("a verified module");
        let right = outcomes(&module, false);
        assert!(right.iter().all(Result::is_ok), "{name}: {right:?}");
        assert_eq!(outcomes(&module, true), right, "{name}: nothing is wrong");
        Program { name, module, right }
    };
    files("tests/golden/spoiled", "gasm").iter().map(program).collect()
}

/// Calls a program with a fault; what it gives, and what was planted.
fn with_fault(
    program: &Program,
    planted: &Planted,
    check: bool,
) -> (Vec<Result<String, ErrorKind>>, Planted) {
    PLANTED.set(Some(planted.clone()));
    in_use::give(matches!(planted.fault, Fault::Schedule(_)));
    let outcomes = outcomes(&program.module, check);
    in_use::give(false);
    (outcomes, PLANTED.take().expect("nobody takes it away"))
}

/// Plants a fault in one decision of a program after the other.
fn plant(program: &Program, fault: Fault, with_equals: bool, count: &mut Count, missed: &mut Vec<String>) {
    let right = &program.right;
    for which in 0.. {
        let planted = Planted { fault, with_equals, which, seen: 0, is_here: false, verdict: None };
        let (spoilt, after) = with_fault(program, &planted, false);
        if after.seen <= which {
            return;
        }
        let Some(verdict) = after.verdict else { continue };
        count.planted += 1;
        let is_refused = matches!(verdict, Verdict::Refused(_));
        count.refused += usize::from(is_refused);
        if spoilt == *right {
            continue;
        }
        count.wrong += 1;
        let what = format!("{}, decision {which}, with equals {with_equals}: {fault:?}", program.name);
        if !is_refused {
            missed.push(format!("{what}: the checker says {verdict:?}"));
        }
        let (checked, _) = with_fault(program, &planted, true);
        let first = spoilt.iter().zip(right).position(|(spoilt, right)| spoilt != right);
        let found = checked.iter().position(|outcome| *outcome == Err(ErrorKind::Defect));
        if found.is_none() || found > first {
            missed.push(format!("{what}: the execution that checks finds nothing"));
        }
    }
}

#[test]
fn wrong_decisions_are_refused_and_found() {
    let (mut counts, mut missed) = (BTreeMap::<Kind, Count>::new(), Vec::new());
    for program in programs() {
        for fault in faults() {
            let count = counts.entry(fault.kind()).or_default();
            plant(&program, fault, false, count, &mut missed);
            if !matches!(fault, Fault::Schedule(_)) {
                plant(&program, fault, true, count, &mut missed);
            }
        }
    }
    for (kind, Count { planted, refused, wrong }) in &counts {
        println!("{kind:?}: {planted} planted, {refused} refused, {wrong} make a result wrong");
    }
    assert!(missed.is_empty(), "{} not found:\n{}", missed.len(), missed.join("\n"));
    for (kind, Count { wrong, .. }) in &counts {
        assert!(*wrong >= 100, "only {wrong} wrong decisions of the kind {kind:?}");
    }
}
