//! Messages to users: what is wrong, where, and what to do about it.
//!
//! Building a diagnostic and rendering it are separate: stages collect values of [`Diagnostic`], and only the
//! outermost caller turns them into text.

use crate::source::{Sources, Span};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// How serious a message is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The program is accepted, but look here.
    Warning,
    /// The program is refused.
    Error,
}

/// A second place that explains the first one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is to be seen there.
    pub text: String,
}

/// One message with its places and hints.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The place it is about.
    pub span: Span,
    /// What the caret line says; may be empty.
    pub label: String,
    /// Further places.
    pub labels: Vec<Label>,
    /// What the user can do.
    pub hints: Vec<String>,
    /// The input ended too early: more text could make it right (a prompt asks for another line).
    pub incomplete: bool,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span,
            label: String::new(),
            labels: Vec::new(),
            hints: Vec::new(),
            incomplete: false,
        }
    }

    /// A warning at a place.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(span, message) }
    }

    /// Text for the caret line.
    pub fn with_label(mut self, text: impl Into<String>) -> Diagnostic {
        self.label = text.into();
        self
    }

    /// Another place that explains this one.
    pub fn with_place(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// A hint that says what to do.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hints.push(hint.into());
        self
    }

    /// Marks the message as "the input ended too early".
    pub fn as_incomplete(mut self) -> Diagnostic {
        self.incomplete = true;
        self
    }

    /// True for an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The message as people read it: file, line, column, source line, caret, hints.
    pub fn render(&self, sources: &Sources, colour: bool) -> String {
        if sources.line_length(self.span) > LONGEST_LINE {
            return self.render_without_line(sources);
        }
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let (near, far): (Vec<_>, Vec<_>) = self.labels.iter().partition(|l| l.span.file == self.span.file);
        let window = Window::round(sources, std::iter::once(self.span).chain(near.iter().map(|l| l.span)));
        let mut snippet = window
            .snippet()
            .annotation(AnnotationKind::Primary.span(window.range(self.span)).label(&self.label));
        for label in near {
            snippet =
                snippet.annotation(AnnotationKind::Context.span(window.range(label.span)).label(&label.text));
        }
        let mut group = level.primary_title(&self.message).element(snippet);
        for label in far {
            let window = Window::round(sources, std::iter::once(label.span));
            let place = AnnotationKind::Context.span(window.range(label.span)).label(&label.text);
            group = group.element(window.snippet().annotation(place));
        }
        for hint in &self.hints {
            group = group.element(Level::HELP.message(hint));
        }
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group]).to_string()
    }
}

/// The lines of one file that a message is about; laying out the whole file would take long for nothing.
struct Window<'s> {
    name: &'s str,
    text: &'s str,
    /// Where the text begins in the file.
    start: usize,
    first_line: u32,
}

impl<'s> Window<'s> {
    /// The whole lines that the spans touch. There is at least one span, and all are in the same file.
    fn round(sources: &'s Sources, spans: impl Iterator<Item = Span> + Clone) -> Window<'s> {
        let file = spans.clone().next().map_or(crate::FileId(0), |s| s.file);
        let text = sources.text(file);
        // What is missing at the end of the file is missing in its last line, not in an empty one below.
        let last_line = text.len() - usize::from(text.ends_with('\n'));
        let clip = |at: u32| text.floor_char_boundary((at as usize).min(last_line));
        let first = spans.clone().map(|s| clip(s.start)).min().unwrap_or(0);
        let last = spans.map(|s| clip(s.end.max(s.start))).max().unwrap_or(0).max(first);
        let start = text[..first].rfind('\n').map_or(0, |at| at + 1);
        let end = text[last..].find('\n').map_or(text.len(), |at| last + at);
        Window {
            name: sources.name(file),
            text: &text[start..end],
            start,
            first_line: sources.position(file, first as u32).line,
        }
    }

    fn range(&self, span: Span) -> std::ops::Range<usize> {
        let within = |at: u32| (at as usize).clamp(self.start, self.start + self.text.len()) - self.start;
        within(span.start)..within(span.end.max(span.start))
    }

    fn snippet<T: Clone>(&self) -> Snippet<'s, T> {
        Snippet::source(self.text).path(self.name).line_start(self.first_line as usize)
    }
}

/// Lines longer than this are not shown: nobody could read them, and laying them out takes seconds.
const LONGEST_LINE: usize = 4000;

impl Diagnostic {
    fn render_without_line(&self, sources: &Sources) -> String {
        let level = if self.is_error() { "error" } else { "warning" };
        let mut text = format!("{level}: {}\n --> {}", self.message, sources.place(self.span));
        if !self.label.is_empty() {
            text += &format!("\n  = note: {}", self.label);
        }
        for hint in &self.hints {
            text += &format!("\n  = help: {hint}");
        }
        text
    }
}

/// True if any of the messages is an error.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(Diagnostic::is_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_place_line_caret_and_hint() {
        let mut sources = Sources::new();
        let file = sources.add("a.fut", "def x = 1\ndef y = x +\n");
        let at = Span::new(file, 20, 21);
        let text = Diagnostic::error(at, "an operand is missing")
            .with_label("nothing follows this operator")
            .with_hint("write a second operand")
            .render(&sources, false);
        for part in ["a.fut:2:11", "def y = x +", "^ nothing follows", "help: write a second operand"] {
            assert!(text.contains(part), "{part:?} is missing in:\n{text}");
        }
    }

    #[test]
    fn a_line_nobody_could_read_is_left_out() {
        let mut sources = Sources::new();
        let file = sources.add("a.fut", "x".repeat(1 << 20));
        let text = Diagnostic::error(Span::new(file, 70_000, 70_001), "odd")
            .with_hint("mend it")
            .render(&sources, false);
        assert_eq!(text, "error: odd\n --> a.fut:1:70001\n  = help: mend it");
    }

    #[test]
    fn a_span_beyond_the_text_is_clipped() {
        let mut sources = Sources::new();
        let file = sources.add("a.fut", "x");
        assert!(Diagnostic::error(Span::new(file, 5, 9), "odd").render(&sources, false).contains("odd"));
    }
}
