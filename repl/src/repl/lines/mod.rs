//! Where lines come from: a terminal with editing and history, or a pipe.
//!
//! - `editing.rs`: what the editor asks while somebody types. `painting.rs`: an input in colours.

mod editing;
mod painting;

use super::history;
use editing::Editing;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{ColorMode, CompletionType, Config, Editor};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;

/// What the user did.
pub enum Line {
    /// A line, without its end; at a terminal possibly several, which were edited together.
    Text(String),
    /// What was typed so far is to be forgotten.
    Cancelled,
    /// There will be no more lines.
    End,
}

/// A source of lines.
pub enum Lines {
    /// A terminal.
    Terminal {
        /// The editor, with the history.
        editor: Box<Editor<Editing, FileHistory>>,
        /// Where the history is kept.
        history: Option<PathBuf>,
    },
    /// Anything else.
    Pipe {
        /// Prompts are written nevertheless.
        is_prompted: bool,
    },
}

impl Lines {
    /// Standard input, with a note on what does not work. `is_prompted`: lines of a pipe are prompted for as well.
    pub fn standard_input(is_prompted: bool) -> (Lines, Option<String>) {
        if !io::stdin().is_terminal() {
            return (Lines::Pipe { is_prompted }, None);
        }
        let config = Config::builder()
            .max_history_size(10_000)
            .map(|c| c.auto_add_history(false).completion_type(CompletionType::List).build());
        let config = config.unwrap_or_default();
        let has_colours = config.color_mode() != ColorMode::Disabled;
        let Ok(mut editor) = Editor::<Editing, FileHistory>::with_config(config) else {
            return (Lines::Pipe { is_prompted }, Some("this terminal cannot be edited in".into()));
        };
        editor.set_helper(Some(Editing::new(has_colours)));
        let history = history::file();
        let mut note = None;
        if let Some(path) = &history {
            let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            if let Err(error) = folder {
                note = Some(format!("no history is kept: {}", galopvm_base::system_message(&error)));
            }
            // The first session has no file yet; what cannot be read is as good as none.
            let _ = editor.load_history(path);
        }
        (Lines::Terminal { editor: Box::new(editor), history }, note)
    }

    /// The next line.
    pub fn next(&mut self, prompt: &str) -> io::Result<Line> {
        match self {
            Lines::Pipe { is_prompted } => {
                if *is_prompted {
                    let mut output = io::stdout().lock();
                    output.write_all(prompt.as_bytes()).and_then(|()| output.flush())?;
                }
                let mut bytes = Vec::new();
                if io::stdin().lock().read_until(b'\n', &mut bytes)? == 0 {
                    return Ok(Line::End);
                }
                let text = String::from_utf8_lossy(&bytes);
                Ok(Line::Text(text.trim_end_matches(['\n', '\r']).to_string()))
            }
            Lines::Terminal { editor, .. } => match editor.readline(prompt) {
                Ok(text) => Ok(Line::Text(text)),
                Err(ReadlineError::Interrupted) => Ok(Line::Cancelled),
                Err(ReadlineError::Eof) => Ok(Line::End),
                Err(error) => Err(io::Error::other(error)),
            },
        }
    }

    /// Remembers an input, in this session and the next ones.
    pub fn remember(&mut self, input: &str) {
        if let Lines::Terminal { editor, history } = self {
            let added = editor.add_history_entry(input).unwrap_or(false);
            if let Some(path) = history.as_ref().filter(|_| added) {
                // Without a history file the prompt works as well.
                let _ = editor.append_history(path);
            }
        }
    }

    /// What is defined now: these pieces of source, which are one program in this text.
    pub fn define(&mut self, pieces: &str, text: &str) {
        if let Lines::Terminal { editor, .. } = self
            && let Some(editing) = editor.helper_mut()
        {
            editing.completion.define(pieces, text);
        }
    }

    /// Columns and rows of the terminal, if there is one.
    pub fn dimensions(&mut self) -> Option<(usize, usize)> {
        match self {
            Lines::Terminal { editor, .. } => {
                editor.dimensions().map(|(columns, rows)| (columns.into(), rows.into()))
            }
            Lines::Pipe { .. } => None,
        }
    }

    /// True if somebody types the lines.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Lines::Terminal { .. })
    }

    /// True if there are prompts.
    pub fn is_prompted(&self) -> bool {
        !matches!(self, Lines::Pipe { is_prompted: false })
    }
}
