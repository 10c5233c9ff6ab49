//! The attributes of the entry points of a source file, `#[name(argument)]`; bytecode has none.

use bumpalo::Bump;
use galopvm_base::Sources;
use galopvm_frontend::syntax::ast::{Attr, DecKind};
use galopvm_frontend::syntax::parse_prog;
use std::collections::HashMap;

/// The attributes of definitions, by name, as they are written between the brackets.
pub type Attributes = HashMap<String, Vec<String>>;

/// Those of the definitions in a source text.
pub fn attributes(text: &str) -> Attributes {
    let arena = Bump::new();
    let mut sources = Sources::new();
    let file = sources.add("a program", text);
    let mut found = Attributes::new();
    for dec in parse_prog(&arena, file, text, 0).tree.decs {
        if let DecKind::Val(bind) = dec.kind {
            found.insert(bind.name.text.into(), dec.attrs.iter().map(shown).collect());
        }
    }
    found
}

fn shown(attribute: &Attr<'_>) -> String {
    match attribute.args {
        None => attribute.name.into(),
        Some(arguments) => {
            let arguments: Vec<String> = arguments.iter().map(shown).collect();
            format!("{}({})", attribute.name, arguments.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::attributes;

    #[test]
    fn attributes_are_listed_as_written() {
        let found = attributes("#[prop(gen(f),size(3))]\n#[slow]\nentry p (x: i32) = x > 0\ndef q = 1\n");
        assert_eq!(found["p"], ["prop(gen(f), size(3))", "slow"]);
        assert!(found["q"].is_empty());
    }
}
