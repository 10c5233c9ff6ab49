//! Messages as JSON, for editors.
//!
//! One object: `errors`, `warnings`, and `diagnostics`, each with `file`, `severity`, `message`, `label`, `range`,
//! `related` places, `hints`, and `incomplete` (more text could make it right). Lines and columns count from 1 and
//! columns count characters, as in all messages; `offset` counts bytes from 0. The end of a range is exclusive.

use galopvm::Diagnostic;
use galopvm_base::json::quoted as string;
use galopvm_base::{Sources, Span};
use std::io::{self, Write as _};
use std::path::Path;

/// All messages of a run.
#[derive(Default)]
pub struct Document {
    errors: usize,
    warnings: usize,
    items: Vec<String>,
}

impl Document {
    /// Adds the messages about one program.
    pub fn messages(&mut self, sources: &Sources, diagnostics: &[Diagnostic]) {
        for diagnostic in diagnostics {
            let error = diagnostic.is_error();
            *if error { &mut self.errors } else { &mut self.warnings } += 1;
            let place = |span: Span| {
                format!("\"file\":{},\"range\":{}", string(sources.name(span.file)), range(sources, span))
            };
            let related: Vec<String> = (diagnostic.labels.iter())
                .map(|l| format!("{{{},\"message\":{}}}", place(l.span), string(&l.text)))
                .collect();
            let hints: Vec<String> = diagnostic.hints.iter().map(|h| string(h)).collect();
            self.items.push(format!(
                "{{{},\"severity\":\"{}\",\"message\":{},\"label\":{},\"related\":[{}],\"hints\":[{}],\"incomplete\":{}}}",
                place(diagnostic.span),
                if error { "error" } else { "warning" },
                string(&diagnostic.message),
                string(&diagnostic.label),
                related.join(","),
                hints.join(","),
                diagnostic.incomplete
            ));
        }
    }

    /// Adds an error about a whole file.
    pub fn complaint(&mut self, path: &Path, message: &str) {
        self.errors += 1;
        self.items.push(format!(
            "{{\"file\":{},\"range\":null,\"severity\":\"error\",\"message\":{},\"label\":\"\",\"related\":[],\
             \"hints\":[],\"incomplete\":false}}",
            string(&path.display().to_string()),
            string(message)
        ));
    }

    /// Writes the object to standard output, a message to a line.
    pub fn print(&self) -> io::Result<()> {
        let (open, close) = if self.items.is_empty() { ("", "") } else { ("\n  ", "\n") };
        let items = self.items.join(",\n  ");
        let (errors, warnings) = (self.errors, self.warnings);
        let mut out = io::stdout().lock();
        writeln!(
            out,
            "{{\"errors\":{errors},\"warnings\":{warnings},\"diagnostics\":[{open}{items}{close}]}}"
        )?;
        out.flush()
    }
}

fn range(sources: &Sources, span: Span) -> String {
    let point = |offset: u32| {
        let at = sources.position(span.file, offset);
        format!("{{\"line\":{},\"column\":{},\"offset\":{offset}}}", at.line, at.column)
    };
    format!("{{\"start\":{},\"end\":{}}}", point(span.start), point(span.end.max(span.start)))
}
