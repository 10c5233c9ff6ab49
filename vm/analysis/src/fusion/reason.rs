//! Why something is fused, or is not: one variant for each reason, with the names and numbers that it speaks of.
//!
//! A row of the table is a reason and its sentence, with a hole for each name and number in their order. The text form
//! and the parser both follow from it, so that nobody has to look for a fact in a sentence.

use galopvm_kir::VarId;

/// A part of a sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Word {
    /// As it is written.
    Text(String),
    /// A name of the region, or one that fusions made (`Fusions::name`).
    Name(VarId),
}

/// Gives the name that is written so.
type Names<'a> = &'a mut dyn FnMut(&str) -> VarId;

/// What fills the hole of a sentence.
trait Hole: Sized {
    fn words(&self) -> Vec<Word>;
    fn parse(text: &str, named: Names<'_>) -> Option<Self>;
    fn each_name(&mut self, f: &mut dyn FnMut(&mut VarId));
}

impl Hole for VarId {
    fn words(&self) -> Vec<Word> {
        vec![Word::Name(*self)]
    }

    fn parse(text: &str, named: Names<'_>) -> Option<VarId> {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        (!text.is_empty() && text.chars().all(is_part)).then(|| named(text))
    }

    fn each_name(&mut self, f: &mut dyn FnMut(&mut VarId)) {
        f(self);
    }
}

impl Hole for Vec<VarId> {
    fn words(&self) -> Vec<Word> {
        let space = |k: usize| (k > 0).then(|| Word::Text(" ".into()));
        self.iter()
            .enumerate()
            .flat_map(|(k, name)| space(k).into_iter().chain([Word::Name(*name)]))
            .collect()
    }

    fn parse(text: &str, named: Names<'_>) -> Option<Vec<VarId>> {
        text.split(' ').map(|name| VarId::parse(name, named)).collect()
    }

    fn each_name(&mut self, f: &mut dyn FnMut(&mut VarId)) {
        self.iter_mut().for_each(f);
    }
}

impl Hole for u64 {
    fn words(&self) -> Vec<Word> {
        vec![Word::Text(self.to_string())]
    }

    fn parse(text: &str, _: Names<'_>) -> Option<u64> {
        text.parse().ok()
    }

    fn each_name(&mut self, _: &mut dyn FnMut(&mut VarId)) {}
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident ($($hole:ident : $ty:ty),*) = $sentence:literal;)+) => {
        /// Why something is fused, or is not.
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        pub enum Reason {
            $($(#[$doc])* #[doc = concat!("\n\n`", $sentence, "`")] $reason($($ty),*),)+
        }

        impl Reason {
            /// The sentence.
            pub fn words(&self) -> Vec<Word> {
                match self {
                    $(Reason::$reason($($hole),*) => filled($sentence, &[$($hole.words()),*]),)+
                }
            }

            /// Reads the sentence; `named` gives the name that is written so.
            pub(super) fn parse(text: &str, named: &mut dyn FnMut(&str) -> VarId) -> Option<Reason> {
                $(
                    if let Some(fillings) = fillings($sentence, text) {
                        let read = |_fillings: &mut dyn Iterator<Item = &str>, _named: Names<'_>| {
                            Some(Reason::$reason($(<$ty as Hole>::parse(_fillings.next()?, _named)?),*))
                        };
                        if let Some(reason) = read(&mut fillings.into_iter(), named) {
                            return Some(reason);
                        }
                    }
                )+
                None
            }

            /// Calls `f` on every name.
            pub(super) fn each_name(&mut self, _f: &mut dyn FnMut(&mut VarId)) {
                match self {
                    $(Reason::$reason($($hole),*) => { $($hole.each_name(_f);)* })+
                }
            }
        }
    };
}

reasons! {
    /// It is fused: so many reads become the computation.
    Reads(count: u64) = "reads {}";
    /// They are joined: both read these at the same places, or one what the other makes.
    Shares(arrays: Vec<VarId>) = "shares {}";
    /// Its first axes go inside: elements of this are then computed once for all of their iterations.
    Alike(array: VarId) = "reads {} alike in all iterations of its first axes";
    /// It leaves the body.
    Held() = "a result of the body around it";
    /// Fusing it would only hide that it is not needed.
    Unread() = "nobody reads it";
    /// What reads it is a copy that a fusion made.
    ReadByCopy() = "read by a copy of a statement";
    /// The statement that reads it binds no name that could be spoken of.
    ReadByNameless() = "a statement without results reads it";
    /// Then making it is a trap.
    ExtentMayBeNegative() = "its extent may be negative";
    /// Then the trap could be lost.
    MayTrap() = "it may trap, and not every element is read for sure";
    /// Then the trap could be lost.
    ResultMayTrap() = "one of its results may trap and is not read for sure";
    /// It would be read later than now.
    Updated(array: VarId, by: VarId) = "{} could not be updated in place by {}";
    /// The statement that reads it would be too large.
    TooLarge(reader: VarId, operations: u64, most: u64) = "{} would have {} operations, more than {}";
    /// What runs in parallel now would run in turn.
    InTurn(reader: VarId, operations: u64) = "{} would compute it in turn, {} operations each";
    /// It would be computed too often.
    TooDear(runs: u64, elements: u64, operations: u64)
        = "computed {} times instead of {}, {} operations each, it costs more than it saves";
    /// The operand is not read element by element.
    UsedWhole(reader: VarId) = "{} uses it as a whole";
    /// The reader runs over nothing.
    NoKernel(reader: VarId) = "{} is no kernel";
    /// The reader is a copy of it in a layout that was chosen.
    Relaid(reader: VarId) = "{} is its copy in another layout";
    /// The view is not shown to lie inside of it.
    ViewOutside(view: VarId) = "{} may show places outside of it";
    /// The read is not shown to lie inside of it.
    IndexOutside(array: VarId) = "the index into {} may lie outside of it";
    /// The read depends on its elements.
    IndexRead(array: VarId) = "an index into {} is read from it";
    /// The operator would have to compute it again.
    OperatorReads(reader: VarId) = "the operator of {} reads it";
    /// It is read outside of the reader's iterations.
    NeutralRead() = "a neutral element is read from it";
    /// It is read outside of the reader's sides.
    ConditionRead() = "a condition is read from it";
    /// It is read outside of the reader's rounds.
    LoopRead() = "a loop starts from it or ends by it";
}

/// A sentence with its holes filled.
fn filled(sentence: &str, fillings: &[Vec<Word>]) -> Vec<Word> {
    let mut words = Vec::new();
    for (k, text) in sentence.split("{}").enumerate() {
        words.extend(k.checked_sub(1).and_then(|k| fillings.get(k)).into_iter().flatten().cloned());
        words.extend((!text.is_empty()).then(|| Word::Text(text.into())));
    }
    words
}

/// What the holes of a sentence are filled with in a text, if it is that sentence.
fn fillings<'a>(sentence: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let mut texts = sentence.split("{}");
    let mut rest = text.strip_prefix(texts.next()?)?;
    let mut found = Vec::new();
    let mut texts = texts.peekable();
    while let Some(next) = texts.next() {
        let (filling, after) = match texts.peek() {
            Some(_) => rest.split_once(next)?,
            None => (rest.strip_suffix(next)?, ""),
        };
        found.push(filling);
        rest = after;
    }
    rest.is_empty().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_base::TypedId;

    #[test]
    fn a_reason_is_told_and_read() {
        let names = ["a", "b_2"];
        let tell = |reason: &Reason| -> String {
            let word = |word: Word| match word {
                Word::Text(text) => text,
                Word::Name(name) => names[name.index()].into(),
            };
            reason.words().into_iter().map(word).collect()
        };
        let (a, b) = (VarId::from_index(0), VarId::from_index(1));
        for (reason, text) in [
            (Reason::Held(), "a result of the body around it"),
            (Reason::Shares(vec![a, b]), "shares a b_2"),
            (Reason::Updated(b, a), "b_2 could not be updated in place by a"),
            (Reason::IndexOutside(b), "the index into b_2 may lie outside of it"),
            (Reason::TooLarge(a, 7, 6), "a would have 7 operations, more than 6"),
        ] {
            assert_eq!(tell(&reason), text);
            let mut named = |name: &str| if name == "a" { a } else { b };
            assert_eq!(Reason::parse(text, &mut named), Some(reason));
        }
        assert_eq!(Reason::parse("a result of the body", &mut |_| a), None);
        assert_eq!(Reason::parse("reads many", &mut |_| a), None);
    }
}
