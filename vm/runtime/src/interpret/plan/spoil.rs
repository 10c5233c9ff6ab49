//! Plans spoilt on purpose: what a wrong decision would do, and whether the execution that checks finds it.
//!
//! A plan is changed after it was made: arrays lie elements further on, with other strides, or in another block. Where the results of
//! a call show that the decision is wrong, a session that checks itself has to say so, in that call or before.

use super::RegionPlan;
use crate::array::Array;
use crate::error::ErrorKind;
use crate::session::{Options, Session};
use galopvm_analysis::affine::Form;
use galopvm_analysis::circuit::Moving;
use galopvm_base::{Scalar, TypedId};
use galopvm_bytecode::{RegId, VerifiedModule, text, verify};
use std::cell::Cell;
use std::path::PathBuf;

/// How a decision is wrong.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Fault {
    /// So many elements further on.
    Further(i64),
    /// The strides of two dimensions for each other, or the only one backwards.
    Strides,
    /// In the block of the next array.
    Block,
    /// A stride that is so much greater.
    Wider(i64),
}

const FAULTS: [Fault; 20] = [
    Fault::Further(1),
    Fault::Further(-1),
    Fault::Further(2),
    Fault::Further(-2),
    Fault::Further(3),
    Fault::Further(-3),
    Fault::Further(4),
    Fault::Further(-4),
    Fault::Further(5),
    Fault::Further(7),
    Fault::Further(-8),
    Fault::Further(12),
    Fault::Further(16),
    Fault::Strides,
    Fault::Block,
    Fault::Wider(1),
    Fault::Wider(-1),
    Fault::Wider(-2),
    Fault::Wider(2),
    Fault::Wider(3),
];

thread_local! {
    /// The fault to plant, and in which array of each plan.
    static PLANTED: Cell<Option<(Fault, usize)>> = const { Cell::new(None) };
    /// How often it was planted.
    static TIMES: Cell<usize> = const { Cell::new(0) };
}

fn moved(view: &Moving, fault: Fault) -> Option<Moving> {
    let mut axes: Vec<(Form, Form)> = view.axes().collect();
    let mut offset = view.offset.clone();
    match fault {
        Fault::Further(by) => offset.constant += by,
        Fault::Strides if axes.len() > 1 => {
            let stride = axes[0].1.clone();
            axes[0].1 = axes[1].1.clone();
            axes[1].1 = stride;
        }
        Fault::Strides => {
            let (size, stride) = axes.first_mut()?;
            offset.constant += (size.number()? - 1) * stride.number()?;
            *stride = stride.times(-1)?;
        }
        Fault::Wider(by) => axes.last_mut()?.1.constant += by,
        Fault::Block => {}
    }
    Some(Moving::new(offset, axes))
}

/// The plan with the fault that is planted.
pub(super) fn spoilt(mut plan: RegionPlan) -> RegionPlan {
    let Some((fault, which)) = PLANTED.get() else { return plan };
    let mut chosen: Vec<RegId> = plan.record.moved().collect();
    chosen.sort_unstable_by_key(|reg| reg.index());
    let Some(reg) = chosen.get(which).copied() else { return plan };
    let Some(resident) = plan.record.resident(reg) else { return plan };
    let (block, Some(other)) = (resident.block, moved(&resident.view, fault)) else { return plan };
    let target = match fault {
        Fault::Block => plan.record.blocks().filter(|key| *key != block).min_by_key(|key| key.index()),
        _ => Some(block),
    };
    let Some(target) = target else { return plan };
    plan.record.resettle(reg, target, other);
    TIMES.set(TIMES.get() + 1);
    plan
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

#[test]
fn wrong_plans_are_found_by_the_execution_that_checks() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/spoiled");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("a file").path())
        .collect();
    paths.sort();
    let (mut planted, mut wrong, mut missed) = (0, 0, Vec::new());
    for path in &paths {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let program = std::fs::read_to_string(path).expect("a program");
        let module = verify(text::parse(&program).expect("a module")).expect("a verified module");
        let right = outcomes(&module, false);
        assert!(right.iter().all(Result::is_ok), "{name}: {right:?}");
        assert_eq!(outcomes(&module, true), right, "{name}: nothing is wrong");
        for which in 0..8 {
            for fault in FAULTS {
                PLANTED.set(Some((fault, which)));
                TIMES.set(0);
                let spoilt = outcomes(&module, false);
                planted += TIMES.get();
                let checked = (spoilt != right).then(|| outcomes(&module, true));
                PLANTED.set(None);
                let Some(checked) = checked else { continue };
                wrong += 1;
                let first = spoilt.iter().zip(&right).position(|(spoilt, right)| spoilt != right);
                let found = checked.iter().position(|outcome| *outcome == Err(ErrorKind::Defect));
                if found.is_none() || found > first {
                    missed.push(format!("{name}, array {which}: {fault:?}"));
                }
            }
        }
    }
    println!("{planted} faults planted, {wrong} decisions wrong");
    assert!(missed.is_empty(), "not found:\n{}", missed.join("\n"));
    assert!(wrong >= 150, "only {wrong} of {planted} faults spoilt a result");
}
