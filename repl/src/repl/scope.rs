//! What has been defined: pieces of source, each as it was typed or loaded.
//!
//! Together they are one source text for the front end. A message about that text is shown as one about the piece.

use bumpalo::Bump;
use galopvm::{Diagnostic, Messages};
use galopvm_base::{FileId, Pos, Sources, Span};
use galopvm_bytecode::{Module, Place};
use galopvm_frontend::syntax::ast::{Dec, DecKind};
use galopvm_frontend::syntax::{parse_expression, parse_prog};
use std::sync::Arc;

/// A piece of source.
#[derive(Clone)]
struct Piece {
    name: String,
    text: String,
}

/// The pieces, oldest first.
#[derive(Clone, Default)]
pub struct Scope {
    pieces: Vec<Piece>,
}

/// What an input is.
pub enum Kind {
    /// Declarations.
    Declarations,
    /// An expression.
    Expression,
    /// The beginning of one of these; another line could complete it.
    Incomplete,
}

impl Scope {
    /// Adds declarations. Definitions of the same names in older pieces go away: what uses the name uses the new one.
    pub fn add(&mut self, name: &str, text: &str) {
        let new = names(text);
        for piece in &mut self.pieces {
            for (_, span) in defined(&piece.text).into_iter().filter(|(name, _)| new.contains(name)) {
                blank(&mut piece.text, span);
            }
        }
        self.pieces.retain(|piece| !piece.text.trim().is_empty());
        self.pieces.push(Piece { name: name.into(), text: text.into() });
    }

    /// All pieces as one text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for piece in &self.pieces {
            text.push_str(&piece.text);
            text.push('\n');
        }
        text
    }

    /// The text of the piece of this name.
    pub fn piece(&self, name: &str) -> Option<&str> {
        self.pieces.iter().find(|piece| piece.name == name).map(|piece| piece.text.as_str())
    }

    /// Places of a program in the text of all pieces, which it knows by the name `all`, as places in the pieces.
    pub fn relocate_places(&self, all: &str, module: &mut Module) {
        let Some(all) = module.files.iter().position(|file| file == all) else { return };
        let first = module.files.len() as u32;
        let mut starts = Vec::new();
        let mut lines = 0;
        for piece in &self.pieces {
            module.files.push(piece.name.clone());
            starts.push(lines);
            lines += piece.text.matches('\n').count() as u32 + 1;
        }
        let relocate = |place: &mut Place| {
            let piece = starts.partition_point(|start| *start < place.start.line).saturating_sub(1);
            if let Some(start) = starts.get(piece).filter(|_| place.file as usize == all) {
                place.file = first + piece as u32;
                place.start.line = place.start.line.saturating_sub(*start);
                place.end.line = place.end.line.saturating_sub(*start);
            }
        };
        places(module).for_each(relocate);
    }

    /// Messages about the text of all pieces as messages about the pieces; messages about other files stay.
    pub fn relocate(&self, scope: FileId, sources: &Sources, diagnostics: Vec<Diagnostic>) -> Messages {
        let mut shown = Sources::new();
        let mut starts = Vec::new();
        let mut start = 0;
        for piece in &self.pieces {
            starts.push((start, shown.add(&piece.name, &piece.text)));
            start += piece.text.len() + 1;
        }
        let mut others: Vec<(FileId, FileId)> = Vec::new();
        let mut relocated = |span: Span| {
            if span.file != scope {
                let known = others.iter().find(|(from, _)| *from == span.file).map(|(_, to)| *to);
                let file = known.unwrap_or_else(|| {
                    let file = shown.add(sources.name(span.file), sources.text(span.file));
                    others.push((span.file, file));
                    file
                });
                return Span { file, ..span };
            }
            let at = starts.partition_point(|(start, _)| *start <= span.start as usize).saturating_sub(1);
            match starts.get(at) {
                Some((start, file)) => {
                    Span::new(*file, span.start as usize - start, (span.end as usize).saturating_sub(*start))
                }
                None => span,
            }
        };
        let mut diagnostics = diagnostics;
        for diagnostic in &mut diagnostics {
            diagnostic.span = relocated(diagnostic.span);
            for label in &mut diagnostic.labels {
                label.span = relocated(label.span);
            }
        }
        Messages::new(Arc::new(shown), diagnostics)
    }
}

/// All places of a program.
fn places(module: &mut Module) -> impl Iterator<Item = &mut Place> {
    let blocks = module.functions.iter_mut().flat_map(|function| function.blocks.iter_mut());
    blocks.flat_map(|block| block.places.iter_mut().flatten()).chain(&mut module.calls)
}

/// Places of a program in this file as ones that are the whole of a line.
pub fn point_to_line(file: &str, line: &str, module: &mut Module) {
    let Some(file) = module.files.iter().position(|name| name == file) else { return };
    for place in places(module).filter(|place| place.file as usize == file) {
        place.start = Pos { line: 1, column: 1 };
        place.end = Pos { line: 1, column: line.chars().count() as u32 + 1 };
    }
}

/// The values that a text defines, with the places of their declarations.
fn defined(text: &str) -> Vec<(String, Span)> {
    galopvm_frontend::stack::with_room(|| {
        let arena = Bump::new();
        let file = Sources::new().add("", text);
        let name = |dec: &Dec<'_>| match dec.kind {
            DecKind::Val(bind) => Some((bind.name.text.to_string(), dec.at.span)),
            _ => None,
        };
        parse_prog(&arena, file, text, 0).tree.decs.iter().filter_map(name).collect()
    })
    .unwrap_or_default()
}

/// The names of the values that a text defines.
pub fn names(text: &str) -> Vec<String> {
    defined(text).into_iter().map(|(name, _)| name).collect()
}

/// Makes a stretch of text white, leaving all lines where they are.
fn blank(text: &mut String, span: Span) {
    let (start, end) = (span.start as usize, span.end as usize);
    let Some(old) = text.get(start..end) else { return };
    let white: String =
        old.chars().map(|c| if c == '\n' { "\n".into() } else { " ".repeat(c.len_utf8()) }).collect();
    text.replace_range(start..end, &white);
}

/// What an input is, judged by its syntax alone.
pub fn kind(text: &str) -> Kind {
    let first = text.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let declares = ["def", "entry", "type", "module", "open", "import", "local"].contains(&first)
        || text.trim_start().starts_with("#[");
    galopvm_frontend::stack::with_room(|| {
        let arena = Bump::new();
        let file = Sources::new().add("", text);
        let incomplete =
            |found: &[Diagnostic]| found.iter().find(|d| d.is_error()).is_some_and(|d| d.incomplete);
        let is_right = |found: &[Diagnostic]| !found.iter().any(Diagnostic::is_error);
        let prog = parse_prog(&arena, file, text, 0).diagnostics;
        if declares || (first == "let" && is_right(&prog)) {
            return if incomplete(&prog) { Kind::Incomplete } else { Kind::Declarations };
        }
        let expression = parse_expression(&arena, file, text, 0).diagnostics;
        if incomplete(&expression) { Kind::Incomplete } else { Kind::Expression }
    })
    .unwrap_or(Kind::Expression)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_definition_replaces_the_old_one_and_keeps_lines() {
        let mut scope = Scope::default();
        scope.add("[0]", "def a = 1\ndef b =\n  a");
        scope.add("[1]", "def b = 2");
        assert_eq!(scope.text(), "def a = 1\n       \n   \ndef b = 2\n");
        scope.add("[2]", "def b = 3");
        assert_eq!(scope.text(), "def a = 1\n       \n   \ndef b = 3\n");
    }

    #[test]
    fn inputs_are_told_apart() {
        let is = |text: &str| match kind(text) {
            Kind::Declarations => "declarations",
            Kind::Expression => "expression",
            Kind::Incomplete => "incomplete",
        };
        for (text, expected) in [
            ("def f x = x", "declarations"),
            ("entry main = 1", "declarations"),
            ("def f x =", "incomplete"),
            ("let x = 1 in x", "expression"),
            ("let x = 1", "declarations"),
            ("1 +", "incomplete"),
            ("[1, 2", "incomplete"),
            ("defer", "expression"),
            ("1 + 2", "expression"),
            ("1 )", "expression"),
        ] {
            assert_eq!(is(text), expected, "{text}");
        }
    }

    #[test]
    fn messages_name_the_piece() {
        let mut scope = Scope::default();
        scope.add("[0]", "def a = 1");
        scope.add("[1]", "def b = 2");
        let mut sources = Sources::new();
        let file = sources.add("all", scope.text());
        let messages =
            scope.relocate(file, &sources, vec![Diagnostic::error(Span::new(file, 14, 15), "odd")]);
        assert!(messages.render(false).contains("[1]:1:5"), "{messages}");
    }
}
