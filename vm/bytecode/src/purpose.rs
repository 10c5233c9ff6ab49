//! What programs show values for.

/// What a `trace` shows its value for: the number in the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// The value is of interest.
    Value,
    /// A debugger may stop here.
    Stop,
    /// This is what the label, a name, means at the next place where a debugger may stop.
    Name,
    /// A debugger may stop here if the first value is NaN and no other one is: an operation has made it.
    Nan,
}

impl Purpose {
    const ALL: [Purpose; 4] = [Purpose::Value, Purpose::Stop, Purpose::Name, Purpose::Nan];

    /// The number that stands for it.
    pub fn number(self) -> u32 {
        self as u32
    }

    /// What a number stands for.
    pub fn of_number(number: u32) -> Option<Purpose> {
        Purpose::ALL.get(number as usize).copied()
    }

    /// Whether it is a place where a debugger may stop.
    pub fn stops(self) -> bool {
        matches!(self, Purpose::Stop | Purpose::Nan)
    }
}
