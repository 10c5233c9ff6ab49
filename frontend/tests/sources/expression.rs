//! Expressions by themselves, as a prompt takes them.

use galopvm_base::Sources;
use galopvm_frontend::compile_expression;

/// The first lines of the messages about an expression that sees some definitions.
fn messages(definitions: &str, expression: &str) -> Vec<String> {
    let mut sources = Sources::new();
    let scope = sources.add("session.fut", definitions);
    let file = sources.add("prompt", expression);
    let report = compile_expression(&mut sources, Some(scope), file, false);
    report.diagnostics.iter().map(|d| d.message.clone()).collect()
}

#[test]
fn consumption_is_checked() {
    let definitions = "def xs = [1i32, 2, 3]\ndef set (a: *[]i32) = a with [0] = 9";
    assert_eq!(messages(definitions, "copy xs with [0] = 1"), [""; 0]);
    assert_eq!(messages(definitions, "set (copy xs)"), [""; 0]);
    let refused = ["Consuming variable \"xs\", which is not consumable"];
    assert_eq!(messages(definitions, "xs with [0] = 1"), refused);
    assert_eq!(messages(definitions, "set xs"), refused);
    assert_eq!(
        messages(definitions, "let a = iota 3 let b = a with [0] = 1 in a"),
        ["Using variable \"a\", but this was consumed before"]
    );
}

#[test]
fn cases_are_checked() {
    assert_eq!(messages("", "match true case true -> 1").len(), 1);
}
