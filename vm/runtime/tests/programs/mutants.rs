//! Mutated programs: whatever the verifier lets through runs safely under limits, and the same by the interpreter and
//! by the reference back end.

use galopvm_bytecode::{VerifiedModule, decode, encode, file, text, verify};
use galopvm_kir::Reference;
use galopvm_runtime::{ErrorKind, Limits, Options, RuntimeError, Session, Tiering, data};
use galopvm_testkit::{parts, read, root};
use std::sync::Arc;

/// Every so many bytes one is changed; a prime, so that all kinds of byte have their turn.
const STEP: usize = 7;

fn run(module: &VerifiedModule, call: &str, tiering: Tiering) -> Option<Result<String, RuntimeError>> {
    let (entry, args) = call.split_once(' ').unwrap_or((call, ""));
    let limits = Limits { fuel: Some(20_000), memory: Some(1 << 24), call_depth: 200, ..Limits::default() };
    let mut session = Session::new(module.clone(), Options { tiering, limits, ..Options::default() });
    let args = data::read_values(session.memory(), args.as_bytes()).ok()?;
    let result = session.call(entry, args);
    Some(result.map(|values| values.iter().map(|v| format!("{v}\n")).collect()))
}

fn is_limit(result: &Result<String, RuntimeError>) -> bool {
    let limits = [ErrorKind::OutOfFuel, ErrorKind::OutOfMemory, ErrorKind::CallDepth];
    result.as_ref().is_err_and(|error| limits.contains(&error.kind))
}

#[test]
fn mutants_run_safely_and_alike() {
    let folder = root().join("tests/golden/run");
    let mut ran = 0;
    for name in ["operators.run", "scalars.run", "views.run", "index_space.run", "select.run", "flat.run"] {
        let text = read(&folder.join(name));
        let (program, cases) = parts(&text);
        let module = text::parse(program).expect("it assembles");
        let calls: Vec<&str> = cases.iter().map(|(call, _)| *call).collect();
        let bytes = encode(&module);
        for (k, at) in (16..bytes.len()).step_by(STEP).enumerate() {
            for value in [0u8, 1, 2, 3, 5, 9, bytes[at] ^ 1, bytes[at].wrapping_add(2), 0x21, 0x40, 0xff] {
                let mut mutant = bytes.clone();
                mutant[at] = value;
                let sum = file::checksum(&mutant[16..]);
                mutant[8..16].copy_from_slice(&sum.to_le_bytes());
                let Some(module) = decode(&mutant).ok().and_then(|module| verify(module).ok()) else {
                    continue;
                };
                // One of the calls in turn, and the one after it.
                for call in [calls[k % calls.len()], calls[(k + 1) % calls.len()]] {
                    let reference =
                        Tiering { backends: vec![Arc::new(Reference)], always: true, ..Tiering::default() };
                    let plain = run(&module, call, Tiering::interpreter());
                    let compiled = run(&module, call, reference);
                    let (Some(plain), Some(compiled)) = (plain, compiled) else { continue };
                    if !is_limit(&plain) && !is_limit(&compiled) {
                        assert_eq!(plain, compiled, "{name}: byte {at} = {value}: {call}");
                        ran += 1;
                    }
                }
            }
        }
    }
    assert!(ran > 500, "only {ran} mutants ran");
}
