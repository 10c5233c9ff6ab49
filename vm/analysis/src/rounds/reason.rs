//! Why a loop is not done in blocks of rounds.

use std::fmt;

/// Why a loop stays as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The region is no counted loop that carries one array.
    NoLoop,
    /// A round has this statement.
    Statement(&'static str),
    /// An operator of a round does more than compute one element by expressions.
    Body,
    /// What an operator makes is read before it is written to the array, or written nowhere.
    Unwritten,
    /// The next array is not the one that the round changes.
    Result,
    /// An index or a range is not affine in the round's number.
    Index,
    /// An element is computed from one that is neither itself nor in a line.
    Read,
    /// An element is read as it was before another change of the same round.
    Version,
    /// What is changed begins at a place that does not move with the rounds, in a dimension that lines are read in.
    Begin,
    /// The end of what is changed moves with the rounds, or is another one for another operator.
    End,
    /// Lines lie in front of the array.
    Front,
    /// A later change of the block may meet a line that is read.
    Line,
    /// All that a round changes lies in lines.
    Nothing,
    /// The array has too many dimensions.
    Dimensions,
    /// The blocks are no verified region; the text says why.
    Unsayable(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Reason::NoLoop => "it is no counted loop that carries one array",
            Reason::Statement(what) => return write!(f, "a round has a statement of another kind: {what}"),
            Reason::Body => "an operator of a round is more than expressions for one element",
            Reason::Unwritten => "what an operator makes is read before it is in the array",
            Reason::Result => "a round does not end with the array that it changes",
            Reason::Index => "an index is not affine in the number of the round",
            Reason::Read => "an element depends on another one that is in no line of the round",
            Reason::Version => "an element depends on itself before another change of the round",
            Reason::Begin => "what a round changes does not begin at a line",
            Reason::End => "what rounds change does not end at one place",
            Reason::Front => "a line lies in front of the array",
            Reason::Line => "a line that is read may change in a later round",
            Reason::Nothing => "a round changes nothing but lines",
            Reason::Dimensions => "the array has too many dimensions",
            Reason::Unsayable(why) => return write!(f, "blocks of rounds cannot be said: {why}"),
        };
        f.write_str(text)
    }
}
