//! A decision about all fusions of a region, and its text form: one line per decision.
//!
//! ```text
//! fuse a into b : reads 1, saves 8000 bytes
//! join c with d : shares x, saves 4000 bytes
//! feed p to q : reads 2, saves 16000 bytes
//! turn f : reads g alike in all iterations of its first axes
//! keep e : a result of the region
//! ```
//!
//! Statements are spoken of by the first name that they bind; a joined statement answers to the names of both.

use super::reason::{Reason, Word};
use galopvm_base::{Pos, TypedId};
use galopvm_kir::text::ParseError;
use galopvm_kir::{Region, VarId};
use std::fmt::{self, Write};
use std::str::FromStr;

/// One decision.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Fusion {
    /// The elements of what makes the first name are computed where the others read them.
    Fuse(VarId, Vec<VarId>),
    /// Two statements over the same axes become one.
    Join(VarId, VarId),
    /// The prefixes of a scan are read as they are computed, by the statement that makes the other name: both stay what they are, and
    /// run in one loop.
    Feed(VarId, VarId),
    /// The first axes of a kernel go inside the others.
    Turn(VarId),
    /// The array is made.
    Keep(VarId),
}

/// What no longer goes to memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Saving {
    /// So many bytes in all.
    Bytes(u64),
    /// So many bytes for each element, of which nobody knows how many there are.
    BytesEach(u64),
}

impl fmt::Display for Saving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Saving::Bytes(bytes) => write!(f, "saves {bytes} bytes"),
            Saving::BytesEach(bytes) => write!(f, "saves {bytes} bytes for each element"),
        }
    }
}

impl FromStr for Saving {
    type Err = String;

    fn from_str(text: &str) -> Result<Saving, String> {
        let error = || format!("`{text}` is no number of bytes that are saved");
        let words: Vec<&str> = text.split(' ').collect();
        let ["saves", bytes, "bytes", each @ ..] = &words[..] else { return Err(error()) };
        let bytes = bytes.parse().map_err(|_| error())?;
        match each {
            [] => Ok(Saving::Bytes(bytes)),
            ["for", "each", "element"] => Ok(Saving::BytesEach(bytes)),
            _ => Err(error()),
        }
    }
}

/// A decision and why it was taken.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FusionLine {
    /// What.
    pub fusion: Fusion,
    /// Why.
    pub reason: Reason,
    /// What that saves, where something is done.
    pub saving: Option<Saving>,
}

/// Every decision, in the order in which the changes are made.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Fusions {
    /// In order; what is kept comes last.
    pub lines: Vec<FusionLine>,
    /// Names of copies that reasons speak of, numbered after those of the region.
    copies: Vec<String>,
}

impl Fusions {
    /// True if the region stays as it is.
    pub fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| matches!(line.fusion, Fusion::Keep(_) | Fusion::Feed(..)))
    }

    /// Keeps the names of copies that reasons speak of, which only the changed region has.
    pub(super) fn keep_names(&mut self, before: &Region, changed: &Region) {
        let own = before.vars.len();
        let mut lines = std::mem::take(&mut self.lines);
        for line in &mut lines {
            line.reason.each_name(&mut |name| {
                if name.index() >= own {
                    *name = self.copy(own, changed.name_of(*name));
                }
            });
        }
        self.lines = lines;
    }

    /// The number of a copy's name, beyond so many names of the region.
    fn copy(&mut self, own: usize, name: &str) -> VarId {
        let at = self.copies.iter().position(|copy| copy == name).unwrap_or_else(|| {
            self.copies.push(name.into());
            self.copies.len() - 1
        });
        VarId::from_index(own + at)
    }

    /// What a name that a reason speaks of is called.
    pub fn name<'a>(&'a self, region: &'a Region, name: VarId) -> &'a str {
        match name.index().checked_sub(region.vars.len()) {
            Some(at) => self.copies.get(at).map_or("?", String::as_str),
            None => region.name_of(name),
        }
    }

    /// A reason in text, for a region with these names.
    pub fn told(&self, region: &Region, reason: &Reason) -> String {
        let word = |word: Word| match word {
            Word::Text(text) => text,
            Word::Name(name) => self.name(region, name).into(),
        };
        reason.words().into_iter().map(word).collect()
    }

    /// The lines in text, for a region with these names.
    pub fn text(&self, region: &Region) -> String {
        let mut text = String::new();
        for line in &self.lines {
            let name = |var: &VarId| region.name_of(*var);
            let decision = match &line.fusion {
                Fusion::Fuse(made, readers) => {
                    let readers: Vec<&str> = readers.iter().map(name).collect();
                    format!("fuse {} into {}", name(made), readers.join(", "))
                }
                Fusion::Join(first, second) => format!("join {} with {}", name(first), name(second)),
                Fusion::Feed(scan, reader) => format!("feed {} to {}", name(scan), name(reader)),
                Fusion::Turn(made) => format!("turn {}", name(made)),
                Fusion::Keep(made) => format!("keep {}", name(made)),
            };
            let saving = line.saving.map_or(String::new(), |saving| format!(", {saving}"));
            let _ = writeln!(text, "{decision} : {}{saving}", self.told(region, &line.reason));
        }
        text
    }

    /// Reads the text form for a region with these names.
    pub fn parse(region: &Region, text: &str) -> Result<Fusions, ParseError> {
        let mut fusions = Fusions::default();
        for (k, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let number = u32::try_from(k + 1).unwrap_or(u32::MAX);
            let error = |message: String| ParseError { pos: Pos { line: number, column: 1 }, message };
            let Some((decision, reason)) = line.split_once(" : ") else {
                return Err(error("expected a decision, ` : ` and its reason".into()));
            };
            let named = |name: &str| {
                let found = region.vars.iter_ids().find(|(_, var)| var.name == name.trim());
                found
                    .map(|(id, _)| id)
                    .ok_or_else(|| error(format!("the region has no name `{}`", name.trim())))
            };
            let two = |rest: &str, word: &str| {
                let (a, b) = rest.split_once(word).ok_or_else(|| error(format!("expected`{word}`")))?;
                Ok((named(a)?, b.to_string()))
            };
            let fusion = match decision.trim().split_once(' ') {
                Some(("fuse", rest)) => {
                    let (made, readers) = two(rest, " into ")?;
                    Fusion::Fuse(made, readers.split(',').map(named).collect::<Result<_, _>>()?)
                }
                Some(("join", rest)) => {
                    let (first, second) = two(rest, " with ")?;
                    Fusion::Join(first, named(&second)?)
                }
                Some(("feed", rest)) => {
                    let (scan, reader) = two(rest, " to ")?;
                    Fusion::Feed(scan, named(&reader)?)
                }
                Some(("turn", rest)) => Fusion::Turn(named(rest)?),
                Some(("keep", rest)) => Fusion::Keep(named(rest)?),
                _ => return Err(error(format!("`{decision}` is not a decision"))),
            };
            let (reason, saving) = match reason.rsplit_once(", ").map(|(reason, end)| (reason, end.parse())) {
                Some((reason, Ok(saving))) if !matches!(fusion, Fusion::Keep(_)) => (reason, Some(saving)),
                _ => (reason, None),
            };
            let own = region.vars.len();
            let reason =
                Reason::parse(reason, &mut |name| named(name).unwrap_or_else(|_| fusions.copy(own, name)));
            let reason = reason.ok_or_else(|| error("the reason is none of fusion".into()))?;
            fusions.lines.push(FusionLine { fusion, reason, saving });
        }
        Ok(fusions)
    }
}
