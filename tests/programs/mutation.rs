//! Damage to real `.gbc` files: each mutant is an error or a safe program, never a panic.
//!
//! Most mutants get their checksum mended, so that the decoder, the verifier and the interpreter see them.

use crate::support::example_files;
use galopvm::{BackendChoice, Engine, Program};
use galopvm_bytecode::file::checksum;
use galopvm_runtime::data::read_values;
use galopvm_testkit::Random;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

const MUTANTS: usize = 20_000;

/// Bytecode of every example, with its input.
fn originals() -> Vec<(Vec<u8>, Vec<u8>)> {
    let read = |path: &Path| {
        let name = path.file_stem().expect("a file name").to_owned();
        let program = Program::load(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let input = fs::read(path.with_file_name("data").join(name).with_extension("in")).expect("an input");
        (program.to_bytecode(), input)
    };
    example_files().iter().map(|path| read(path)).collect()
}

fn mutate(random: &mut Random, bytes: &mut Vec<u8>) {
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len());
        match random.below(6) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = bytes[at].wrapping_add(1),
            2 => bytes[at] = *random.pick(&[0, 1, 2, 0x7f, 0x80, 0xff]),
            3 => {
                // The fields of one instruction moved into another.
                let from = random.below(bytes.len());
                bytes[at] = bytes[from];
            }
            4 => bytes.truncate(at.max(1)),
            _ => bytes.insert(at, random.bits() as u8),
        }
    }
}

#[test]
fn mutants_are_refused_or_run_safely() {
    let originals = originals();
    let engine =
        Engine::builder().backend(BackendChoice::Interp).fuel(200_000).memory_limit(64 << 20).build();
    let mut random = Random::new(20_000);
    let (mut refused, mut failed, mut finished) = (0, 0, 0);
    for mutant in 0..MUTANTS {
        let (original, input) = &originals[mutant % originals.len()];
        let mut bytes = original.clone();
        mutate(&mut random, &mut bytes);
        if bytes.len() > 16 && !random.one_in(20) {
            let sum = checksum(&bytes[16..]);
            bytes[8..16].copy_from_slice(&sum.to_le_bytes());
        }
        // Nothing of the engine is used again after a panic: the test ends.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let program = Program::from_bytecode("mutant.gbc", &bytes).map_err(|_| true)?;
            let mut session = engine.session(&program);
            let name = program.entries().first().map_or("main", |e| e.name.as_str()).to_string();
            let arguments = read_values(session.memory(), input).expect("the input is in the data format");
            session.call_values(&name, arguments).map(drop).map_err(|_| false)
        }));
        match outcome {
            Ok(Ok(())) => finished += 1,
            Ok(Err(true)) => refused += 1,
            Ok(Err(false)) => failed += 1,
            Err(_) => panic!("mutant {mutant} panics; its bytes: {bytes:02x?}"),
        }
    }
    println!("{MUTANTS} mutants: {refused} refused, {failed} end in an error, {finished} finish");
    assert!(refused > 0 && finished > 0);
}
