//! Files of every format version that there ever was: they must load, say what they said, and give what they gave.
//!
//! `tests/golden/frozen/v1-*.txt` is a program in assembly, the bytes of its `.gbc` file in hexadecimal, and calls
//! with their results. These files are never written again: a version that is given up breaks the programs of others.

use galopvm_bytecode::{VERSION, decode, encode, text, verify};
use galopvm_runtime::{Options, Session, data};
use galopvm_testkit::{files, parts, read, stem};

fn bytes_of(hexadecimal: &str) -> Vec<u8> {
    let digits: Vec<u32> = hexadecimal.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks_exact(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

#[test]
fn files_of_every_version_load_and_run() {
    let mut versions = Vec::new();
    for path in files("tests/golden/frozen", "txt") {
        let (name, text) = (stem(&path), read(&path));
        let (program, parts) = parts(&text);
        let Some((("bytes", bytes), cases)) = parts.split_first() else { panic!("{name}: no bytes") };
        let bytes = bytes_of(bytes);
        let version = u16::from_le_bytes([bytes[4], bytes[5]]);
        assert!(name.starts_with(&format!("v{version}-")), "{name} has version {version}");
        versions.push(version);
        let module = decode(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(text::parse(program).as_ref(), Ok(&module), "{name}: the text says another module");
        if version == VERSION {
            assert_eq!(encode(&module), bytes, "{name}: the same module gives other bytes");
        }
        let module = verify(module).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut calls = 0;
        for (call, expected) in cases {
            let (entry, arguments) = call.split_once(' ').unwrap_or((call, ""));
            let mut session = Session::new(module.clone(), Options::default());
            let arguments = data::read_values(session.memory(), arguments.as_bytes()).expect("values");
            let found = match session.call(entry, arguments) {
                Ok(values) => values.iter().map(|v| format!("{v}\n")).collect(),
                // Wording and places may become better.
                Err(error) => format!("error {:?}\n", error.kind),
            };
            assert_eq!(found.trim_end(), expected.trim_end(), "{name}: {call}");
            calls += 1;
        }
        assert!(calls > 0, "{name} calls nothing");
    }
    versions.sort_unstable();
    versions.dedup();
    assert_eq!(versions, (1..=VERSION).collect::<Vec<_>>(), "every version has a file");
}
