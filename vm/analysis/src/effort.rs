//! How much an answer may cost. Limits are numbers of steps, never of seconds, so that answers stay the same everywhere.

/// How much an answer may cost.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Effort {
    /// What the first launches of a region can wait for.
    #[default]
    Quick,
    /// Ten times as much, once, away from the launch: for regions that run often and whose quick answer was cut short.
    Thorough,
}

impl Effort {
    /// How many times the usual limits hold.
    pub const fn times(self) -> usize {
        match self {
            Effort::Quick => 1,
            Effort::Thorough => 10,
        }
    }
}
