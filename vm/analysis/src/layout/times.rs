//! What can be measured of a CPU: the times among the numbers of the cost model.
//!
//! The unit is the model's cycle: one access of a whole vector next to the last one, in the first cache.
//! Text, for keeping what was measured: `near 8 far 20 reversed 2 tile 4 gather 1 copyline 30 copystart 2000`.

use super::constants::CpuCosts;
use std::fmt;
use std::str::FromStr;

/// Times of a CPU. None is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CpuTimes {
    /// A line that was fetched ahead.
    pub near_line: u64,
    /// Any other line.
    pub far_line: u64,
    /// A vector access backwards.
    pub reversed: u64,
    /// A vector access across rows that a loop goes along.
    pub tile: u64,
    /// Each lane of a gather.
    pub gather_lane: u64,
    /// Each line of a copy into another layout.
    pub copy_line: u64,
    /// Such a copy, before it starts.
    pub copy_start: u64,
}

/// No time of a machine is greater, whatever a file says.
const MOST: u64 = 1 << 24;

impl Default for CpuTimes {
    fn default() -> CpuTimes {
        CpuCosts::default().times()
    }
}

impl CpuCosts {
    /// The times among the numbers.
    pub fn times(&self) -> CpuTimes {
        CpuTimes {
            near_line: self.near_line,
            far_line: self.far_line,
            reversed: self.reversed,
            tile: self.tile,
            gather_lane: self.gather_lane,
            copy_line: self.copy_line,
            copy_start: self.copy_start,
        }
    }

    /// The same machine with other times.
    pub fn with_times(mut self, times: &CpuTimes) -> CpuCosts {
        self.near_line = times.near_line;
        self.far_line = times.far_line;
        self.reversed = times.reversed;
        self.tile = times.tile;
        self.gather_lane = times.gather_lane;
        self.copy_line = times.copy_line;
        self.copy_start = times.copy_start;
        self
    }
}

impl CpuTimes {
    /// Each time with its name and what it is the time of.
    pub fn each(&self) -> [(&'static str, &'static str, u64); 7] {
        [
            ("near", "a cache line that was fetched ahead", self.near_line),
            ("far", "any other cache line", self.far_line),
            ("reversed", "a vector access backwards", self.reversed),
            ("tile", "a vector access across rows that a loop goes along", self.tile),
            ("gather", "each lane of any other vector access", self.gather_lane),
            ("copyline", "each line of a copy into another layout", self.copy_line),
            ("copystart", "such a copy, before it starts", self.copy_start),
        ]
    }

    fn number(&mut self, name: &str) -> Option<&mut u64> {
        Some(match name {
            "near" => &mut self.near_line,
            "far" => &mut self.far_line,
            "reversed" => &mut self.reversed,
            "tile" => &mut self.tile,
            "gather" => &mut self.gather_lane,
            "copyline" => &mut self.copy_line,
            "copystart" => &mut self.copy_start,
            _ => return None,
        })
    }
}

impl fmt::Display for CpuTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = self.each().map(|(name, _, number)| format!("{name} {number}"));
        f.write_str(&numbers.join(" "))
    }
}

impl FromStr for CpuTimes {
    type Err = String;

    /// All of them, each between 1 and a bound that keeps sums far from overflow.
    fn from_str(text: &str) -> Result<CpuTimes, String> {
        let mut times = CpuTimes::default();
        let mut words = text.split_whitespace();
        while let Some(name) = words.next() {
            let value = words.next().and_then(|word| word.parse().ok()).filter(|n| (1..=MOST).contains(n));
            let number = times.number(name).ok_or_else(|| format!("there is no time `{name}`"))?;
            *number = value.ok_or_else(|| format!("`{name}` needs a number from 1 to {MOST}"))?;
        }
        // What is spelled in any other way, or not there, was not written by us.
        if times.to_string() == text { Ok(times) } else { Err("not all times are told".into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        let times = CpuTimes { far_line: 31, ..CpuTimes::default() };
        let text = times.to_string();
        assert_eq!(text, "near 8 far 31 reversed 2 tile 4 gather 1 copyline 30 copystart 2000");
        assert_eq!(text.parse(), Ok(times));
        for wrong in ["", "near 8", &text.replace("31", "0"), &text.replace("31", "99999999999"), "x 1"] {
            assert!(wrong.parse::<CpuTimes>().is_err(), "{wrong}");
        }
        assert!(format!("{text} near 8").parse::<CpuTimes>().is_err());
    }

    #[test]
    fn times_are_a_part_of_the_costs() {
        let times = CpuTimes { tile: 16, copy_start: 7, ..CpuTimes::default() };
        let costs = CpuCosts { l1_bytes: 5, ..CpuCosts::default() }.with_times(&times);
        assert_eq!((costs.times(), costs.l1_bytes), (times, 5));
    }
}
