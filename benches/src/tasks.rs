//! The anchor tasks that galopvm has: a program and its inputs each. `anchors/README.md` defines them.

use galopvm::{Error, Scalar, Session, Value};

/// A task.
pub struct Task {
    /// The name, as `anchors/run.py` knows it.
    pub name: &'static str,
    /// The program; its entry is `main`.
    pub source: &'static str,
    /// Makes the inputs.
    pub inputs: fn(&Session) -> Result<Vec<Value>, Error>,
}

macro_rules! tasks {
    ($($name:literal => $inputs:expr;)+) => {
        /// Every task.
        pub const TASKS: &[Task] = &[$(Task {
            name: $name,
            source: include_str!(concat!("../programs/", $name, ".fut")),
            inputs: $inputs,
        }),+];
    };
}

const N: i64 = 1 << 24;

tasks! {
    "map_chain" => |s| Ok(vec![genf(s, 1, &[N])?, genf(s, 2, &[N])?]);
    "dot_f32" => |s| Ok(vec![genf(s, 1, &[N])?, genf(s, 2, &[N])?]);
    "sum_i32" => |s| Ok(vec![geni(s, 1, &[N])?]);
    "row_sums" => |s| Ok(vec![genf(s, 1, &[4096, 4096])?]);
    "col_sums" => |s| Ok(vec![genf(s, 1, &[4096, 4096])?]);
    "segred_100k_1k" => |s| Ok(vec![geni(s, 1, &[100_000, 1000])?]);
    "matmul_f32" => |s| Ok(vec![genf(s, 1, &[1024, 1024])?, genf(s, 2, &[1024, 1024])?]);
    "matmul_f64" => |s| Ok(vec![gend(s, 1, &[512, 512])?, gend(s, 2, &[512, 512])?]);
    "mandelbrot" => |_| Ok(vec![Value::Scalar(Scalar::i64(1024))]);
    "nbody" => |s| (1..=7).map(|seed| genf(s, seed, &[4096])).collect();
    "triad" => |s| Ok(vec![gend(s, 1, &[1 << 25])?, gend(s, 2, &[1 << 25])?]);
}

/// The anchors' generator of 32-bit words.
fn gen_word(seed: u32, index: u32) -> u32 {
    let mut x = index.wrapping_mul(0x9E37_79B9).wrapping_add(seed.wrapping_mul(0x7F4A_7C15));
    x ^= x >> 16;
    x = x.wrapping_mul(0x85EB_CA6B);
    x ^= x >> 13;
    x = x.wrapping_mul(0xC2B2_AE35);
    x ^ (x >> 16)
}

fn words(seed: u32, shape: &[i64]) -> impl Iterator<Item = u32> {
    (0..shape.iter().product::<i64>()).map(move |i| gen_word(seed, i as u32))
}

fn geni(session: &Session, seed: u32, shape: &[i64]) -> Result<Value, Error> {
    let values: Vec<i32> = words(seed, shape).map(|w| w as i32).collect();
    Ok(Value::Array(session.array(&values, shape)?))
}

fn genf(session: &Session, seed: u32, shape: &[i64]) -> Result<Value, Error> {
    let values: Vec<f32> = words(seed, shape).map(|w| (w >> 8) as f32 * 2f32.powi(-24)).collect();
    Ok(Value::Array(session.array(&values, shape)?))
}

fn gend(session: &Session, seed: u32, shape: &[i64]) -> Result<Value, Error> {
    let values: Vec<f64> = words(seed, shape).map(|w| w as f64 * 2f64.powi(-32)).collect();
    Ok(Value::Array(session.array(&values, shape)?))
}

#[cfg(test)]
mod tests {
    use super::gen_word;

    #[test]
    fn the_generator_is_the_anchors() {
        assert_eq!([0, 1, 2].map(|i| gen_word(1, i)), [0x4BC0_FBEB, 0x45EB_667D, 0x80F9_FF12]);
    }
}
