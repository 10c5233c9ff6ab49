//! Programs in assembly, their arguments, and what comes out: `tests/golden/run/*.run` in the root of the repository.
//!
//! A file is a program followed by cases: a line `==== entry arguments..` in the data format, then the values of the
//! result one per line, or `error` and the message with its back trace. `GALOPVM_ACCEPT=1` writes what came out. Each
//! case runs by the interpreter, with the shadow, which has a meaning of its own for each instruction, and by the reference
//! back end: they must agree.

use galopvm_bytecode::{VerifiedModule, text, verify};
use galopvm_kir::Reference;
use galopvm_runtime::{Options, Session, Tiering, data};
use galopvm_testkit::golden::whole;
use galopvm_testkit::parts;
use std::sync::Arc;

fn case(module: &VerifiedModule, call: &str, options: Options) -> String {
    let (entry, args) = call.split_once(' ').unwrap_or((call, ""));
    let mut session = Session::new(module.clone(), options);
    let args = match data::read_values(session.memory(), args.as_bytes()) {
        Ok(args) => args,
        Err(error) => return format!("bad arguments {error}\n"),
    };
    match session.call(entry, args) {
        Ok(values) => values.iter().map(|v| format!("{v}\n")).collect(),
        Err(error) => format!("error {error}\n"),
    }
}

#[test]
fn golden_programs_run_as_recorded() {
    whole("run", "run", 8, |path, text| {
        let name = path.display();
        let (program, cases) = parts(text);
        let module = text::parse(program).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        let module = verify(module).unwrap_or_else(|e| panic!("{name}: {e}"));
        let mut made = program.to_string();
        for (call, _) in cases {
            let tiering = Tiering::interpreter();
            let result = case(&module, call, Options { tiering: tiering.clone(), ..Options::default() });
            let shadow = Options { tiering, check: true, ..Options::default() };
            assert_eq!(case(&module, call, shadow), result, "{name}: {call}: with the shadow");
            let tiering = Tiering { backends: vec![Arc::new(Reference)], always: true, ..Tiering::default() };
            let reference = Options { tiering, ..Options::default() };
            assert_eq!(case(&module, call, reference), result, "{name}: {call}: the reference back end");
            made += &format!("\n==== {call}\n{result}");
            made.truncate(made.trim_end().len());
        }
        made + "\n"
    });
}
