//! What names stand for: their descriptions, what modules define, and the values of constants.

use super::display::short_text;
use super::evaluation::{DEFINITIONS, Expression};
use super::{Repl, print};
use crate::failure::{complaint, rendered, say};
use bumpalo::Bump;
use galopvm_base::{ElemType, Sources};
use galopvm_frontend::syntax::ast::{Dec, DecKind, ModExp, ModExpKind};
use galopvm_frontend::syntax::parse_prog;
use galopvm_stdlib::Member;
use std::io;

/// What a declaration says of a name.
struct Declared {
    /// The word for such declarations; none for values, whose types say more.
    word: Option<&'static str>,
    doc: Option<String>,
}

impl Repl {
    /// Shows what is defined, constants with their values.
    pub(super) fn variables(&mut self) -> io::Result<()> {
        for (name, ty) in self.defined() {
            let name = written(&name);
            let value = match self.compile(Expression::typed(&name), true) {
                Some(evaluation) if evaluation.program.is_some() => self.evaluated(evaluation),
                _ => None,
            };
            let value = value.map(|value| format!(" = {}", short_text(&value.form, &value.values)));
            print(&format!("{name} : {ty}{}", value.unwrap_or_default()))?;
        }
        Ok(())
    }

    /// Shows what a module defines.
    pub(super) fn module_type(&mut self, text: &str) -> io::Result<()> {
        let mut sources = Sources::new();
        let definitions = sources.add(DEFINITIONS, self.scope.text());
        let file = sources.add(format!("[{}]", self.number), text);
        let mut report = galopvm_frontend::module_type(&mut sources, Some(definitions), file);
        report.diagnostics.retain(|message| message.is_error());
        match report.ty {
            Some(ty) => print(&format!("{text} : {ty}")),
            None => {
                say(&rendered(&self.scope.relocate(definitions, &sources, report.diagnostics)));
                Ok(())
            }
        }
    }

    /// Says what a name means.
    pub(super) fn documentation(&mut self, text: &str) -> io::Result<()> {
        let inner = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(text).trim();
        let is_users = declared(&self.scope.text(), inner);
        let found = is_users.or_else(|| of_prelude(inner));
        let word = found.as_ref().and_then(|found| found.word);
        let head = match word {
            Some(word) => format!("{word} {inner}"),
            None => match self.compile(Expression::typed(&written(inner)), false) {
                Some(evaluation) => format!("{} : {}", written(inner), evaluation.ty),
                None => return Ok(()),
            },
        };
        print(&head)?;
        match found.and_then(|found| found.doc) {
            Some(doc) => print(&doc.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")),
            None => {
                let hint = "a comment `-- |` right in front of a definition describes it";
                say(&complaint(&format!("nothing describes `{inner}`"), hint));
                Ok(())
            }
        }
    }
}

/// A name as expressions write it.
fn written(name: &str) -> String {
    match name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        true => name.to_string(),
        false => format!("({name})"),
    }
}

/// What a text declares under a name, which may lead through modules.
fn declared(text: &str, name: &str) -> Option<Declared> {
    let path: Vec<&str> = name.split('.').collect();
    galopvm_frontend::stack::with_room(|| {
        let arena = Bump::new();
        let file = Sources::new().add("", text);
        in_declarations(parse_prog(&arena, file, text, 0).tree.decs, &path)
    })
    .flatten()
}

fn in_declarations(decs: &[Dec<'_>], path: &[&str]) -> Option<Declared> {
    let (first, rest) = path.split_first()?;
    // A later declaration hides an earlier one.
    decs.iter().rev().find_map(|dec| {
        let (word, name, module) = match dec.kind {
            DecKind::Val(bind) => (None, bind.name.text, None),
            DecKind::Type(bind) => (Some("type"), bind.name.text, None),
            DecKind::Module(bind) => (Some("module"), bind.name.text, Some(bind.def)),
            DecKind::ModType { name, .. } => (Some("module type"), name.text, None),
            DecKind::Local(inner) => return in_declarations(std::slice::from_ref(inner), path),
            DecKind::Open(_) | DecKind::Import(_) => return None,
        };
        match (name == *first, rest.is_empty()) {
            (true, true) => Some(Declared { word, doc: dec.doc.0.map(uncommented) }),
            (true, false) => in_declarations(declarations(module?)?, rest),
            (false, _) => None,
        }
    })
}

/// A comment without what makes it one.
fn uncommented(comment: &str) -> String {
    let line = |line: &str| line.trim().trim_start_matches("--").trim_start_matches([' ', '|']).to_string();
    comment.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The declarations that a module is written as.
fn declarations<'a>(module: &ModExp<'a>) -> Option<&'a [Dec<'a>]> {
    match module.kind {
        ModExpKind::Decs(decs) => Some(decs),
        ModExpKind::Parens(inner) | ModExpKind::Ascript(inner, _) => declarations(inner),
        ModExpKind::Lambda(.., body) => declarations(body),
        ModExpKind::Var(_) | ModExpKind::Import(_) | ModExpKind::Apply(..) => None,
    }
}

/// What the prelude says of a name: of a definition, of what the compiler knows, of a member of the scalar modules.
fn of_prelude(name: &str) -> Option<Declared> {
    if let Some(row) = galopvm_stdlib::intrinsic(name) {
        return Some(Declared { word: None, doc: Some(row.doc.into()) });
    }
    let module_type = |ty: ElemType| match ty {
        ElemType::Bool => "from_prim",
        ty if ty.is_int() => "integral",
        _ => "float",
    };
    if let Ok(ty) = name.parse::<ElemType>() {
        let doc = declared(galopvm_stdlib::MODULE_TYPES, module_type(ty)).and_then(|found| found.doc);
        return Some(Declared { word: Some("type and module"), doc });
    }
    let definition = || declared(galopvm_stdlib::PRELUDE, name);
    let module_types = || declared(galopvm_stdlib::MODULE_TYPES, name);
    definition().or_else(module_types).or_else(|| Some(Declared { word: None, doc: Some(of_member(name)?) }))
}

/// What is said of an operator, or of a member of a scalar module.
fn of_member(name: &str) -> Option<String> {
    let scalar = name.split_once('.').and_then(|(module, member)| Some((module.parse().ok()?, member)));
    let (operation, name) = match scalar {
        Some((ty, member)) => match galopvm_stdlib::member(ty, member) {
            Some(Member::Op(operation)) => (Some(operation), member),
            _ => (None, member),
        },
        None => (galopvm_stdlib::operator(name), name),
    };
    promised(name).or_else(|| operation.map(|operation| operation.info().doc.to_string()))
}

/// The comment in front of a value in the module types of the scalar modules.
fn promised(name: &str) -> Option<String> {
    let mut comment = Vec::new();
    for line in galopvm_stdlib::MODULE_TYPES.lines().map(str::trim) {
        let named = line
            .strip_prefix("val ")
            .and_then(|rest| rest.split([' ', ':', '(', ')']).find(|word| !word.is_empty()));
        match line.strip_prefix("--") {
            Some(text) => comment.push(text.trim_start_matches([' ', '|']).to_string()),
            None if named == Some(name) && !comment.is_empty() => return Some(comment.join("\n")),
            None => comment.clear(),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_describe_definitions() {
        let text = "-- | Adds one.\n-- Really.\ndef f x = x + 1\nmodule m = {\n  -- | Inner.\n  def g = 1\n}\n-- No.\ndef h = 2";
        let doc = |name: &str| declared(text, name).and_then(|found| found.doc);
        assert_eq!(
            doc("f").map(|doc| doc.lines().map(|line| line.trim().to_string()).collect::<Vec<_>>()),
            Some(vec!["Adds one.".into(), "Really.".into()])
        );
        assert_eq!(doc("m.g").as_deref().map(str::trim), Some("Inner."));
        assert_eq!(doc("h"), None);
        assert!(declared(text, "nothing").is_none() && declared(text, "m.h").is_none());
    }

    #[test]
    fn the_prelude_describes_itself() {
        for name in ["map", "map2", "scan", "f64.sqrt", "i32.popc", "+", "f64", "integral"] {
            assert!(of_prelude(name).is_some_and(|found| found.doc.is_some()), "{name}");
        }
    }
}
