//! The prelude is right: every definition of it, checked once here so that no start has to.

use galopvm_base::{ElemType, Sources};
use galopvm_frontend::syntax::ast::DecKind;
use galopvm_frontend::{Question, compile_expression, syntax};
use std::fmt::Write;

/// What the checker says about an expression on its own.
fn complaints(text: &str) -> String {
    let mut sources = Sources::new();
    let file = sources.add("expression", text);
    let report = compile_expression(&mut sources, None, file, Question::Type);
    let mut said = String::new();
    // A name alone leaves open what its sizes are: nothing is wrong with the definition then.
    for diagnostic in report.diagnostics.iter().filter(|d| !d.message.starts_with("Ambiguous size")) {
        let _ = writeln!(said, "{}", diagnostic.render(&sources, false));
    }
    said
}

#[test]
fn every_definition_is_right() {
    let arena = bumpalo::Bump::new();
    let mut sources = Sources::new();
    let file = sources.add("prelude.fut", galopvm_stdlib::PRELUDE);
    let parsed = syntax::parse_prog(&arena, file, galopvm_stdlib::PRELUDE, 0);
    assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
    let mut wrong = String::new();
    for dec in parsed.tree.decs {
        let DecKind::Val(bind) = dec.kind else { panic!("the prelude's text defines values only") };
        assert!(dec.doc.0.is_some(), "`{}` of the prelude has no documentation", bind.name.text);
        let name = bind.name.text;
        wrong += &complaints(&if syntax::is_operator(name) { format!("({name})") } else { name.to_string() });
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_intrinsic_has_a_type() {
    let names = galopvm_stdlib::INTRINSICS.iter().map(|row| row.name);
    let wrong: String = names.map(|name| complaints(&format!("intrinsics.{name}"))).collect();
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_member_of_the_scalar_modules_is_right() {
    let mut wrong = String::new();
    for ty in ElemType::ALL {
        for name in galopvm_stdlib::member_names(ty) {
            let operator = syntax::is_operator(name);
            wrong += &complaints(&if operator { format!("({ty}.{name})") } else { format!("{ty}.{name}") });
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn the_module_types_parse() {
    let mut sources = Sources::new();
    let file = sources.add("math.fut", galopvm_stdlib::MODULE_TYPES);
    let (_, diagnostics) = galopvm_frontend::syntax_text(&sources, file);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
}
