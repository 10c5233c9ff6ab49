//! The numbers of a machine that the cost model counts with: the usual ones, or those of this machine.
//!
//! Text, for cases: two lines, `gpu lanes 32 sector 32 launch 1048576` and
//! `cpu vector 32 line 64 lines 16384 l1 32768 near 8 far 20 reversed 2 tile 4 gather 1 copyline 30 copystart 2000`.

use galopvm_kir::{Machine, Vectors};
use std::fmt;
use std::str::FromStr;

/// Numbers of a GPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GpuCosts {
    /// Iterations that run together.
    pub lanes: u64,
    /// Bytes that memory moves at once.
    pub sector_bytes: u64,
    /// Bytes that could be moved while a launch is prepared.
    pub launch_bytes: u64,
}

/// Numbers of a CPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CpuCosts {
    /// Bytes of a vector.
    pub vector_bytes: u64,
    /// Bytes of a cache line.
    pub line_bytes: u64,
    /// Lines that stay in the cache.
    pub cache_lines: u64,
    /// Bytes of the first cache.
    pub l1_bytes: u64,
    /// Cycles for a line that was fetched ahead.
    pub near_line: u64,
    /// Cycles for any other line.
    pub far_line: u64,
    /// Cycles of a vector access backwards.
    pub reversed: u64,
    /// Cycles of a vector access that is transposed in registers.
    pub tile: u64,
    /// Cycles for each lane of a gather.
    pub gather_lane: u64,
    /// Cycles for each line of a copy into another layout.
    pub copy_line: u64,
    /// Cycles before such a copy starts.
    pub copy_start: u64,
}

/// Numbers of both.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Costs {
    /// The GPU.
    pub gpu: GpuCosts,
    /// The CPU.
    pub cpu: CpuCosts,
}

impl Default for GpuCosts {
    fn default() -> GpuCosts {
        GpuCosts { lanes: 32, sector_bytes: 32, launch_bytes: 1 << 20 }
    }
}

impl Default for CpuCosts {
    fn default() -> CpuCosts {
        CpuCosts {
            vector_bytes: 32,
            line_bytes: 64,
            cache_lines: 16384,
            l1_bytes: 32 << 10,
            near_line: 8,
            far_line: 20,
            reversed: 2,
            tile: 4,
            gather_lane: 1,
            copy_line: 30,
            copy_start: 2000,
        }
    }
}

impl CpuCosts {
    /// The usual times of machine code with vectors of a shape: wide vectors do more until the next line is needed.
    fn usual(vectors: Vectors) -> CpuCosts {
        let usual = CpuCosts::default();
        match vectors {
            Vectors { lanes: 1, .. } => usual,
            Vectors { masks: false, .. } => CpuCosts {
                near_line: 20,
                far_line: 26,
                tile: 69,
                gather_lane: 9,
                copy_line: 130,
                copy_start: 1200,
                ..usual
            },
            Vectors { masks: true, .. } => CpuCosts {
                near_line: 14,
                far_line: 33,
                reversed: 3,
                tile: 46,
                gather_lane: 3,
                copy_line: 91,
                copy_start: 800,
                ..usual
            },
        }
    }
}

impl Costs {
    /// The usual times with the sizes of a machine.
    pub fn for_machine(machine: &Machine) -> Costs {
        let mut costs = Costs { cpu: CpuCosts::usual(machine.vectors), ..Costs::default() };
        let cpu = &mut costs.cpu;
        cpu.vector_bytes = machine.vectors.bytes() as u64;
        cpu.l1_bytes = machine.l1_bytes as u64;
        cpu.cache_lines = (machine.l2_bytes as u64 / cpu.line_bytes).max(1);
        costs
    }

    fn numbers(&mut self) -> [(&'static str, Vec<(&'static str, &mut u64)>); 2] {
        let (gpu, cpu) = (&mut self.gpu, &mut self.cpu);
        let gpu = vec![
            ("lanes", &mut gpu.lanes),
            ("sector", &mut gpu.sector_bytes),
            ("launch", &mut gpu.launch_bytes),
        ];
        let cpu = vec![
            ("vector", &mut cpu.vector_bytes),
            ("line", &mut cpu.line_bytes),
            ("lines", &mut cpu.cache_lines),
            ("l1", &mut cpu.l1_bytes),
            ("near", &mut cpu.near_line),
            ("far", &mut cpu.far_line),
            ("reversed", &mut cpu.reversed),
            ("tile", &mut cpu.tile),
            ("gather", &mut cpu.gather_lane),
            ("copyline", &mut cpu.copy_line),
            ("copystart", &mut cpu.copy_start),
        ];
        [("gpu", gpu), ("cpu", cpu)]
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, numbers) in self.clone().numbers() {
            let numbers: Vec<String> =
                numbers.iter().map(|(name, number)| format!("{name} {number}")).collect();
            writeln!(f, "{kind} {}", numbers.join(" "))?;
        }
        Ok(())
    }
}

impl FromStr for Costs {
    type Err = String;

    /// Numbers that are not told are the usual ones; none may be 0.
    fn from_str(text: &str) -> Result<Costs, String> {
        let mut costs = Costs::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let mut words = line.split_whitespace();
            let kind = words.next().unwrap_or_default();
            while let Some(name) = words.next() {
                let value: u64 = words
                    .next()
                    .and_then(|word| word.parse().ok())
                    .filter(|value| *value > 0)
                    .ok_or_else(|| format!("`{name}` needs a number above 0"))?;
                let mut known = costs.numbers();
                let number = known
                    .iter_mut()
                    .filter(|(group, _)| *group == kind)
                    .flat_map(|(_, numbers)| numbers)
                    .find(|(known, _)| *known == name);
                *number.ok_or_else(|| format!("`{kind}` has no number `{name}`"))?.1 = value;
            }
        }
        Ok(costs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        let mut costs = Costs::default();
        assert_eq!(costs.to_string().parse(), Ok(costs.clone()));
        costs.cpu.far_line = 31;
        costs.gpu.launch_bytes = 7;
        let text = costs.to_string();
        assert!(text.contains("far 31") && text.contains("launch 7"), "{text}");
        assert_eq!(text.parse(), Ok(costs));
        assert_eq!("cpu far 20".parse(), Ok(Costs::default()));
        for wrong in ["cpu far", "cpu far 0", "cpu lanes 3", "tpu far 3", "cpu far x"] {
            assert!(wrong.parse::<Costs>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_come_from_the_machine() {
        let machine = Machine { l1_bytes: 48 << 10, l2_bytes: 2 << 20, ..Machine::default() };
        let costs = Costs::for_machine(&machine);
        assert_eq!((costs.cpu.l1_bytes, costs.cpu.cache_lines), (48 << 10, 32768));
        assert_eq!(costs.cpu.vector_bytes, 8);
    }
}
