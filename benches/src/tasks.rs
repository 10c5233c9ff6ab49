//! The anchor tasks that galopvm has: a program and its inputs each. `anchors/README.md` defines them.

use crate::inputs::{array, count, gend, genf, geni, single, unit_f32, unit_f64, word};
use galopvm::{Error, Session, Value};

/// A task.
pub struct Task {
    /// The name, as `anchors/run.py` knows it.
    pub name: &'static str,
    /// The name of the program, which tasks of other sizes may share.
    pub program: &'static str,
    /// The program; its entry is `main`.
    pub source: &'static str,
    /// Makes the inputs.
    pub inputs: fn(&Session) -> Result<Vec<Value>, Error>,
}

macro_rules! task {
    ($name:literal, $inputs:expr) => {
        task!($name, $inputs, $name)
    };
    ($name:literal, $inputs:expr, $program:literal) => {
        Task {
            name: $name,
            program: concat!($program, ".fut"),
            source: include_str!(concat!("../programs/", $program, ".fut")),
            inputs: $inputs,
        }
    };
}

macro_rules! tasks {
    ($($name:literal $(runs $program:literal)? => $inputs:expr;)+) => {
        /// Every task.
        pub const TASKS: &[Task] = &[$(task!($name, $inputs $(, $program)?)),+];
    };
}

const N: i64 = 1 << 24;
const OPTIONS: i64 = 1 << 22;
const RECORDS: i64 = 1 << 20;

tasks! {
    "map_chain" => |s| Ok(vec![genf(s, 1, &[N])?, genf(s, 2, &[N])?]);
    "dot_f32" => |s| Ok(vec![genf(s, 1, &[N])?, genf(s, 2, &[N])?]);
    "sum_i32" => |s| Ok(vec![geni(s, 1, &[N])?]);
    "scan_add_i32" => |s| Ok(vec![array(s, &[N], |i| (word(1, i) & 1023) as i32)?]);
    "scan_max_i32" => |s| Ok(vec![array(s, &[N], |i| ((word(1, i) & 0xF_FFFF) + i / 64) as i32)?]);
    "row_sums" => |s| Ok(vec![genf(s, 1, &[4096, 4096])?]);
    "col_sums" => |s| Ok(vec![genf(s, 1, &[4096, 4096])?]);
    "transpose" => |s| Ok(vec![genf(s, 1, &[4096, 4096])?]);
    "permute021" => |s| Ok(vec![genf(s, 1, &[256, 256, 256])?]);
    "segred_100k_1k" => |s| Ok(vec![geni(s, 1, &[100_000, 1000])?]);
    "matmul_f32" => |s| Ok(vec![genf(s, 1, &[1024, 1024])?, genf(s, 2, &[1024, 1024])?]);
    "matmul_f64" => |s| Ok(vec![gend(s, 1, &[512, 512])?, gend(s, 2, &[512, 512])?]);
    "lud_1024" runs "lud" => |s| Ok(vec![dominant(s, 1024)?]);
    "lud_2048" runs "lud" => |s| Ok(vec![dominant(s, 2048)?]);
    "hotspot" => |s| Ok(vec![
        count(360),
        array(s, &[1024, 1024], |i| 323.0 + 20.0 * unit_f32(1, i))?,
        array(s, &[1024, 1024], |i| 0.001 * unit_f32(2, i))?,
    ]);
    "jacobi" => |s| Ok(vec![count(50), gend(s, 1, &[2048, 2048])?]);
    "lbm" => |s| Ok(vec![count(50), lattice(s, 32, 64, 64)?]);
    "nw_2048" runs "nw" => |s| Ok(vec![similarities(s, 2048)?]);
    "nw_4096" runs "nw" => |s| Ok(vec![similarities(s, 4096)?]);
    "black_scholes" => |s| Ok(vec![
        array(s, &[OPTIONS], |i| 5.0 + 25.0 * unit_f64(1, i))?,
        array(s, &[OPTIONS], |i| 1.0 + 99.0 * unit_f64(2, i))?,
        array(s, &[OPTIONS], |i| 0.25 + 9.75 * unit_f64(3, i))?,
    ]);
    "option_mc" => |_| Ok(vec![count(1 << 17), count(32)]);
    "mandelbrot" => |_| Ok(vec![count(1024)]);
    "nbody" => |s| (1..=7).map(|seed| genf(s, seed, &[4096])).collect();
    "nn_k10" => |s| Ok(vec![
        array(s, &[RECORDS], |i| (unit_f32(1, i) - 0.5) * 128.0)?,
        array(s, &[RECORDS], |i| (unit_f32(2, i) - 0.5) * 256.0)?,
    ]);
    "hist_256" => |s| Ok(vec![array(s, &[N], |i| (word(1, i) & 255) as i32)?]);
    "radix_sort" => |s| Ok(vec![array(s, &[1 << 22], |i| word(1, i))?]);
    "lcg_loop" => |_| Ok(vec![count(100_000_000), single(1)]);
    "fib_loop" => |_| Ok(vec![count(100_000_000), single(0), single(1)]);
    "collatz" => |_| Ok(vec![count(1_000_000)]);
    "triad" => |s| Ok(vec![gend(s, 1, &[1 << 25])?, gend(s, 2, &[1 << 25])?]);
}

/// A square matrix whose diagonal is large enough to do without pivoting.
fn dominant(session: &Session, n: u32) -> Result<Value, Error> {
    array(session, &[n.into(), n.into()], |i| {
        unit_f32(1, i) + if i / n == i % n { n as f32 / 4.0 } else { 0.0 }
    })
}

/// The densities along the 19 velocities of a lattice, near their equilibrium at rest.
fn lattice(session: &Session, depth: u32, height: u32, width: u32) -> Result<Value, Error> {
    array(session, &[19, depth.into(), height.into(), width.into()], |i| {
        let weight = match i / (depth * height * width) {
            0 => 1.0 / 3.0,
            1..=6 => 1.0 / 18.0,
            _ => 1.0 / 36.0,
        };
        weight * (1.0 + 0.1 * unit_f32(1, i))
    })
}

/// How alike each letter of one sequence is to each letter of another.
fn similarities(session: &Session, n: u32) -> Result<Value, Error> {
    array(session, &[n.into(), n.into()], |i| {
        let (a, b) = ((word(1, i / n) % 24) as i32, (word(2, i % n) % 24) as i32);
        if a == b { 6 } else { (a * b + a + b) % 6 - 4 }
    })
}

#[cfg(test)]
mod tests {
    use super::TASKS;
    use galopvm::Program;

    #[test]
    fn every_program_compiles() {
        for task in TASKS {
            if let Err(error) = Program::from_source(task.program, task.source) {
                panic!("{}: {error}", task.name);
            }
        }
    }
}
