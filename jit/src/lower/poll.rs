//! Where loops ask the host whether to go on, so that a launch ends soon after it should, whatever one element does.
//!
//! Work is counted in units of about an instruction. Every launch has an [allowance](crate::record::ALLOWANCE) in
//! its record; who finds it used up asks, and gets a new one (some milliseconds of work).
//!
//! - An innermost loop with a counter looks at some bits of it: one instruction (with its jump) in each turn, and every
//!   [`LOOK`] units of work a payment.
//! - A loop around loops pays in each turn for what the inner ones may have done without a payment of their own.
//! - An innermost loop of few turns by its text is like any other code.

use super::Lower;
use crate::lir::{Op, Reg};

/// Units of work of an innermost loop between two payments.
const LOOK: u32 = 1 << 13;

/// Turns between two payments at most.
const MOST_TURNS: u32 = 512;

/// What a turn of a loop around loops pays besides its own work.
const AROUND: u32 = 1 << 12;

/// Turns up to which an innermost loop need not ask.
const FEW: i64 = 16;

/// The state of lowering at the start of a loop's body.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    weight: u32,
    loops: usize,
}

/// What is known of a loop when its turns are to be counted.
#[derive(Clone, Copy, Debug)]
pub enum Turns {
    /// No more than a few.
    Few,
    /// Any number; the register grows by the step in every turn, by a power of two where the loop is innermost.
    Counted(Reg, i64),
}

/// Whether a bound that is known means few turns.
pub fn is_few(bound: Option<u64>) -> bool {
    bound.is_some_and(|bound| bound as i64 <= FEW)
}

impl Lower<'_> {
    /// At the start of a loop's body.
    pub fn turn_begins(&self) -> Turn {
        Turn { weight: self.b.weight(), loops: self.loops }
    }

    /// At the end of a loop's body.
    pub fn turn_ends(&mut self, turn: Turn, turns: Turns) {
        let is_innermost = self.loops == turn.loops;
        self.loops += 1;
        let weight = (self.b.weight() - turn.weight).max(1);
        match turns {
            Turns::Few if is_innermost => {}
            Turns::Counted(counter, step) if is_innermost => {
                // The bits above those below the step count the turns.
                let step = step as u32;
                let period = (LOOK / weight).clamp(1, MOST_TURNS).next_power_of_two();
                let mask = (period * step - 1) & !(step - 1);
                let cost = period.saturating_mul(weight).min(LOOK * 4);
                self.b.act(Op::PollAt(cost, mask as i32), &[counter]);
            }
            _ => self.b.act(Op::Poll(AROUND + weight.min(LOOK)), &[]),
        }
    }
}
