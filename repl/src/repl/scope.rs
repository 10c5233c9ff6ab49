//! What has been defined: pieces of source, each as it was typed or loaded.
//!
//! Together they are one source text for the front end. A message about that text is shown as one about the piece.

use super::typed::mentions;
use bumpalo::Bump;
use galopvm::{Diagnostic, Messages};
use galopvm_base::{FileId, Pos, Sources, Span};
use galopvm_bytecode::{Module, Place};
use galopvm_frontend::syntax::ast::{Dec, DecKind};
use galopvm_frontend::syntax::parse_prog;
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
    /// How many pieces are older, for each time that a name got a new meaning and the old one was still in use. The older
    /// pieces are a module then, which is opened: what they define is seen behind it, and may be defined anew.
    layers: Vec<usize>,
}

/// What the modules of older pieces are called, with a number behind.
const LAYER: &str = "previous_definitions_";

impl Scope {
    /// Adds declarations. Definitions of the same names in older pieces go away, or are what they were to those that use them.
    pub fn add(&mut self, name: &str, text: &str) {
        let new = defined(text);
        let mut old: Vec<(usize, Defined)> = Vec::new();
        let mut in_use = false;
        for new in &new {
            let latest = self.pieces.iter().enumerate().rev().find_map(|(at, piece)| {
                defined(&piece.text).into_iter().rfind(|old| new.is_like(old)).map(|old| (at, old))
            });
            let Some((at, latest)) = latest else { continue };
            let later = self.pieces.iter().enumerate().skip(at);
            in_use |=
                new.uses_old(text) || later.into_iter().any(|(k, p)| latest.is_used_in(&p.text, k == at));
            old.push((at, latest));
        }
        if in_use {
            self.layers.push(self.pieces.len());
        } else {
            for (at, old) in old {
                blank(&mut self.pieces[at].text, old.span);
            }
        }
        self.pieces.push(Piece { name: name.into(), text: text.into() });
    }

    /// The whole text in parts: pieces, by number, and what stands between them.
    fn parts(&self) -> Vec<(Option<usize>, String)> {
        let mut parts = Vec::new();
        for layer in (0..self.layers.len()).rev() {
            parts.push((None, format!("module {LAYER}{layer} = {{\n")));
        }
        for (number, piece) in self.pieces.iter().enumerate() {
            for (layer, _) in self.layers.iter().enumerate().filter(|(_, from)| **from == number) {
                // What a module imports is not seen behind it.
                let imports: String =
                    self.pieces[..number].iter().flat_map(|piece| imports(&piece.text)).collect();
                parts.push((None, format!("}}\n{imports}open {LAYER}{layer}\n")));
            }
            if !piece.text.trim().is_empty() {
                parts.push((Some(number), format!("{}\n", piece.text)));
            }
        }
        parts
    }

    /// All pieces as one text.
    pub fn text(&self) -> String {
        self.parts().into_iter().map(|(_, text)| text).collect()
    }

    /// All pieces one after the other, as if no name had got a new meaning.
    pub fn pieces(&self) -> String {
        self.pieces.iter().map(|piece| format!("{}\n", piece.text)).collect()
    }

    /// The names of the values that are defined, in order.
    pub fn names(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for name in self.pieces.iter().flat_map(|piece| names(&piece.text)) {
            all.retain(|other| *other != name);
            all.push(name);
        }
        all
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
        for (piece, text) in self.parts() {
            if let Some(piece) = piece {
                module.files.push(self.pieces[piece].name.clone());
                starts.push(lines);
            }
            lines += text.matches('\n').count() as u32;
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
        for (piece, text) in self.parts() {
            if let Some(piece) = piece.map(|piece| &self.pieces[piece]) {
                starts.push((start, shown.add(&piece.name, &piece.text)));
            }
            start += text.len();
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

/// A name that a text defines.
struct Defined {
    name: String,
    /// It is one of a value; of a type or module otherwise.
    is_value: bool,
    /// It may call itself, so that its own text means it by the name.
    is_function: bool,
    /// The place of its declaration.
    span: Span,
}

impl Defined {
    fn is_like(&self, other: &Defined) -> bool {
        (self.is_value, &self.name) == (other.is_value, &other.name)
    }

    /// How often its declaration in a text says its name.
    fn own_mentions(&self, text: &str) -> usize {
        let own = text.get(self.span.start as usize..self.span.end as usize);
        own.map_or(0, |own| mentions(own, &self.name))
    }

    /// Whether the text that defines it means by its name what was called so before.
    fn uses_old(&self, text: &str) -> bool {
        !self.is_function && self.own_mentions(text) > 1
    }

    /// Whether a text means it, but for its own declaration, which is in the text or not.
    fn is_used_in(&self, text: &str, is_own: bool) -> bool {
        mentions(text, &self.name) > if is_own { self.own_mentions(text) } else { 0 }
    }
}

/// The declarations of a text, as `of` sees them.
fn declarations<T>(text: &str, of: impl FnMut(&Dec<'_>) -> Option<T> + Send) -> Vec<T>
where
    T: Send,
{
    galopvm_frontend::stack::with_room(|| {
        let arena = Bump::new();
        let file = Sources::new().add("", text);
        parse_prog(&arena, file, text, 0).tree.decs.iter().filter_map(of).collect()
    })
    .unwrap_or_default()
}

/// What a text defines.
fn defined(text: &str) -> Vec<Defined> {
    declarations(text, |dec| {
        let (name, is_value, is_function) = match dec.kind {
            DecKind::Val(bind) => (bind.name.text, true, !bind.params.is_empty()),
            DecKind::Type(bind) => (bind.name.text, false, false),
            DecKind::Module(bind) => (bind.name.text, false, false),
            DecKind::ModType { name, .. } => (name.text, false, false),
            DecKind::Open(_) | DecKind::Import(_) | DecKind::Local(_) => return None,
        };
        Some(Defined { name: name.into(), is_value, is_function, span: dec.at.span })
    })
}

/// The names of the values that a text defines.
pub fn names(text: &str) -> Vec<String> {
    defined(text).into_iter().filter(|defined| defined.is_value).map(|defined| defined.name).collect()
}

/// The name of a constant, if a text is nothing but its `let`, which speaks of what was called so before.
pub fn bound_anew(text: &str) -> Option<String> {
    let is_let = text.trim_start().starts_with("let");
    match defined(text).as_slice() {
        [only] if is_let && only.uses_old(text) => Some(only.name.clone()),
        _ => None,
    }
}

/// The declarations of a text that import files, a line each.
fn imports(text: &str) -> Vec<String> {
    declarations(text, |dec| match dec.kind {
        DecKind::Import(name) => Some(format!("import \"{name}\"\n")),
        _ => None,
    })
}

/// Makes a stretch of text white, leaving all lines where they are.
fn blank(text: &mut String, span: Span) {
    let (start, end) = (span.start as usize, span.end as usize);
    let Some(old) = text.get(start..end) else { return };
    let white: String =
        old.chars().map(|c| if c == '\n' { "\n".into() } else { " ".repeat(c.len_utf8()) }).collect();
    text.replace_range(start..end, &white);
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
    fn what_is_in_use_keeps_its_meaning() {
        let mut scope = Scope::default();
        scope.add("[0]", "import \"lib\"\ndef a = 1");
        scope.add("[1]", "def b = a");
        scope.add("[2]", "def a = a + 1");
        let text = "module previous_definitions_0 = {\nimport \"lib\"\ndef a = 1\ndef b = a\n}\n\
                    import \"lib\"\nopen previous_definitions_0\ndef a = a + 1\n";
        assert_eq!(scope.text(), text);
        assert_eq!(scope.names(), ["b", "a"]);
        // A function that calls itself means itself.
        let mut scope = Scope::default();
        scope.add("[0]", "def f (n: i32): i32 = n");
        scope.add("[1]", "def f (n: i32): i32 = if n == 0 then 1 else f (n - 1)");
        assert_eq!(scope.names(), ["f"]);
        assert!(!scope.text().contains("module"));
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
