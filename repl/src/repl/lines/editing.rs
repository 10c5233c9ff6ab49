//! What the editor asks while somebody types: what the Tab key gives, which colours, what may follow, whether an input is done.

use super::super::completion::Completion;
use super::super::typed::{self, State};
use super::painting;
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hinter, HistoryHinter};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use std::borrow::Cow;
use std::cell::Cell;

/// What answers the editor.
pub struct Editing {
    pub completion: Completion,
    /// There if a hint can be told from what is typed: without colours it cannot.
    hints: Option<HistoryHinter>,
    /// An input is edited as a whole, and not line by line.
    has_lines: bool,
    /// Where the mate of the bracket at the cursor stands.
    mate: Cell<Option<usize>>,
}

impl Editing {
    /// With nothing defined.
    pub fn new(has_colours: bool) -> Editing {
        // The editor only reads lines from these, and no prompt would say that an input goes on.
        let term = std::env::var("TERM").unwrap_or_default();
        let has_lines = !["dumb", "cons25", "emacs"].contains(&term.as_str());
        Editing {
            completion: Completion::new(),
            has_lines,
            hints: has_colours.then(HistoryHinter::new),
            mate: Cell::new(None),
        }
    }
}

/// Whether an input ends with the line it ends with: it is complete, a command, or the line is empty (the second one, where a
/// bracket is open).
fn is_done(input: &str) -> bool {
    let (before, last) = input.rsplit_once('\n').unwrap_or(("", input));
    if input.trim_start().starts_with(':') {
        return true;
    }
    if last.trim().is_empty() {
        return before.is_empty() || before.ends_with('\n') || !typed::has_open_brackets(input);
    }
    !matches!(typed::state(input), State::Unfinished(_)) && !typed::takes_cases(input)
}

impl Completer for Editing {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        Ok(self.completion.candidates(line, at))
    }
}

impl Highlighter for Editing {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        painting::paint(line, self.mate.get(), &|word| self.completion.is_type(word)).into()
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        painting::dim(hint).into()
    }

    fn highlight_char(&self, line: &str, at: usize, kind: CmdKind) -> bool {
        let mate = if kind == CmdKind::ForcedRefresh { None } else { painting::mate(line, at) };
        // A key may change what the tokens around it are; the cursor only moves the mark.
        let is_other = self.mate.replace(mate) != mate;
        is_other || kind != CmdKind::MoveCursor
    }
}

impl Hinter for Editing {
    type Hint = String;

    fn hint(&self, line: &str, at: usize, context: &Context<'_>) -> Option<String> {
        self.hints.as_ref()?.hint(line, at, context)
    }
}

impl Validator for Editing {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match !self.has_lines || is_done(context.input()) {
            true => ValidationResult::Valid(None),
            false => ValidationResult::Incomplete,
        })
    }
}

impl Helper for Editing {}

#[test]
fn inputs_go_on_until_they_are_complete() {
    for done in ["1 + 2", "def f x =\n  x", "def f x =\n", "", "  ", ":type map (", "1 )", "[1,\n\n"] {
        assert!(is_done(done), "{done:?}");
    }
    for undone in ["def f x =", "[1,\n2", "let x = 1 in", "[1,\n", "match x\ncase 1 -> 2"] {
        assert!(!is_done(undone), "{undone:?}");
    }
}
