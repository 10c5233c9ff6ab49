//! Expressions by themselves, as a prompt takes them.

use galopvm_base::Sources;
use galopvm_frontend::{Question, compile_expression, module_type};

/// The first lines of the messages about an expression that sees some definitions.
fn messages(definitions: &str, expression: &str) -> Vec<String> {
    let mut sources = Sources::new();
    let scope = sources.add("session.fut", definitions);
    let file = sources.add("prompt", expression);
    let report = compile_expression(&mut sources, Some(scope), file, Question::Type);
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

#[test]
fn modules_have_types() {
    let definitions = "\
module type counted = { type t val zero : t val step : t -> t }
module ints : counted = { type t = i32 def zero = 0i32 def step (x: i32) = x + 1 }
module open_ints = { type t = i32 type pair 'a = (a, a) def first 'a [n] (xs: [n]a) = xs[0] def (+++) = i32.max module m = {} }
module twice (c: counted) = { def two = c.step (c.step c.zero) }
";
    let shown = |text: &str| {
        let mut sources = Sources::new();
        let scope = sources.add("session.fut", definitions);
        let module = sources.add("prompt", text);
        let report = module_type(&mut sources, Some(scope), module);
        match report.ty {
            Some(ty) => ty,
            None => report.diagnostics.iter().map(|message| message.message.clone()).collect(),
        }
    };
    assert_eq!(shown("ints"), "{\n  type t\n  val step : ints.t -> ints.t\n  val zero : ints.t\n}");
    let open = "{
  type pair 'a = (a, a)
  type t = i32
  val (+++) : i32 -> i32 -> i32
  val first 'a [n] : [n]a -> a
  module m : {}
}";
    assert_eq!(shown("open_ints"), open);
    assert_eq!(shown("twice ints"), "{\n  val two : ints.t\n}");
    let functor = "(c: {\n  type t\n  val step : c.t -> c.t\n  val zero : c.t\n}) -> {\n  val two : c.t\n}";
    assert_eq!(shown("twice"), functor);
    let scalar = shown("f32");
    assert!(scalar.contains("  type t = f32\n") && scalar.contains("  val sqrt : f32 -> f32\n"), "{scalar}");
    assert_eq!(shown("nothing"), "Unknown module \"nothing\"");
}
