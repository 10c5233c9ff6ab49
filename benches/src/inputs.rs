//! Inputs of the anchor tasks: arrays of words and numbers that a seed and a flat row-major index make, alike in every
//! column. `anchors/README.md` defines the generator.

use galopvm::{ElemType, Element, Error, Scalar, Session, Value};

/// The anchors' generator of 32-bit words.
pub fn word(seed: u32, index: u32) -> u32 {
    let mut x = index.wrapping_mul(0x9E37_79B9).wrapping_add(seed.wrapping_mul(0x7F4A_7C15));
    x ^= x >> 16;
    x = x.wrapping_mul(0x85EB_CA6B);
    x ^= x >> 13;
    x = x.wrapping_mul(0xC2B2_AE35);
    x ^ (x >> 16)
}

/// A number from 0 to 1, below 1.
pub fn unit_f32(seed: u32, index: u32) -> f32 {
    (word(seed, index) >> 8) as f32 * 2f32.powi(-24)
}

/// A number from 0 to 1, below 1.
pub fn unit_f64(seed: u32, index: u32) -> f64 {
    word(seed, index) as f64 * 2f64.powi(-32)
}

/// An array of what a function makes of each flat index.
pub fn array<T: Element>(
    session: &Session,
    shape: &[i64],
    element: impl Fn(u32) -> T,
) -> Result<Value, Error> {
    let elements: Vec<T> = (0..shape.iter().product::<i64>()).map(|i| element(i as u32)).collect();
    Ok(Value::Array(session.array(&elements, shape)?))
}

/// An array of words.
pub fn geni(session: &Session, seed: u32, shape: &[i64]) -> Result<Value, Error> {
    array(session, shape, |i| word(seed, i) as i32)
}

/// An array of numbers from 0 to 1.
pub fn genf(session: &Session, seed: u32, shape: &[i64]) -> Result<Value, Error> {
    array(session, shape, |i| unit_f32(seed, i))
}

/// An array of numbers from 0 to 1.
pub fn gend(session: &Session, seed: u32, shape: &[i64]) -> Result<Value, Error> {
    array(session, shape, |i| unit_f64(seed, i))
}

/// A size, or a number of steps.
pub fn count(number: i64) -> Value {
    Value::Scalar(Scalar::i64(number))
}

/// A single word.
pub fn single(word: u32) -> Value {
    Value::Scalar(Scalar::new(ElemType::U32, word.into()))
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn the_generator_is_the_anchors() {
        assert_eq!([0, 1, 2].map(|i| word(1, i)), [0x4BC0_FBEB, 0x45EB_667D, 0x80F9_FF12]);
    }
}
