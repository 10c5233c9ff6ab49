//! Values compared with what was expected, as `futhark datacmp` and `futhark test` do.
//!
//! Integers and truth values must be equal. Floats may differ by the tolerance, or by the tolerance times the greatest
//! number that was expected, if that is more; any two NaNs are equal.

use super::numeral::{LONGEST, Style};
use crate::Value;
use galopvm_base::{Bits, ElemType, Scalar};
use std::fmt;

/// The tolerance that Futhark's tools use.
pub const TOLERANCE: f64 = 0.002;

/// One way in which values are not what was expected.
#[derive(Clone, PartialEq, Debug)]
pub enum Difference {
    /// There are more or fewer values.
    Count {
        /// So many.
        expected: usize,
        /// So many.
        found: usize,
    },
    /// A value has another shape.
    Shape {
        /// Which value.
        value: usize,
        /// This one.
        expected: Vec<i64>,
        /// This one.
        found: Vec<i64>,
    },
    /// A value has another element type.
    Type {
        /// Which value.
        value: usize,
        /// This one.
        expected: ElemType,
        /// This one.
        found: ElemType,
    },
    /// An element differs.
    Element {
        /// Which value.
        value: usize,
        /// Where in the value.
        index: Vec<i64>,
        /// This one.
        expected: Scalar,
        /// This one.
        found: Scalar,
    },
}

/// `[1,2]`
fn list(numbers: &[i64]) -> String {
    format!("[{}]", numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
}

/// As Haskell shows it.
fn shown(scalar: Scalar) -> String {
    if scalar.ty == ElemType::Bool {
        return if scalar.bits == 0 { "False" } else { "True" }.into();
    }
    if scalar.ty.is_float() && !scalar.as_f64().is_finite() {
        let value = scalar.as_f64();
        let word = if value.is_nan() { "NaN" } else { "Infinity" };
        return if value < 0.0 { format!("-{word}") } else { word.into() };
    }
    let mut place = [0; LONGEST];
    let length = super::numeral::write(&mut place, scalar.ty, scalar.bits, Style::Data);
    String::from_utf8_lossy(&place[..length - scalar.ty.name().len()]).into_owned()
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Count { expected, found } => write!(f, "Expected {expected} values, got {found}"),
            Difference::Shape { value, expected, found } => {
                let (expected, found) = (list(expected), list(found));
                write!(f, "Value #{value}: expected array of shape {expected}, got {found}")
            }
            Difference::Type { value, expected, found } => {
                write!(f, "Value #{value}: expected value of type {expected}, got {found}")
            }
            Difference::Element { value, index, expected, found } => {
                write!(f, "Value #{value}")?;
                if !index.is_empty() {
                    write!(f, " index {}", list(index))?;
                }
                write!(f, ": expected {}, got {}", shown(*expected), shown(*found))
            }
        }
    }
}

/// Tells every difference, until there is no more or nobody wants to hear of more.
pub fn compare(
    found: &[Value],
    expected: &[Value],
    tolerance: f64,
    tell: &mut dyn FnMut(Difference) -> bool,
) {
    if found.len() != expected.len() {
        tell(Difference::Count { expected: expected.len(), found: found.len() });
        return;
    }
    for (value, (found, expected)) in found.iter().zip(expected).enumerate() {
        if !compare_one(value, found, expected, tolerance, tell) {
            return;
        }
    }
}

fn shape(value: &Value) -> Vec<i64> {
    value.as_array().map_or_else(Vec::new, |array| array.shape().to_vec())
}

/// Elements in row-major order.
fn elements(value: &Value) -> Box<dyn Iterator<Item = Bits> + '_> {
    match value {
        Value::Scalar(scalar) => Box::new(std::iter::once(scalar.bits)),
        Value::Array(array) => Box::new(array.iter_bits()),
    }
}

/// Gives `see` the places and bits of elements that differ, until it wants no more; false then.
fn each_difference(found: &Value, expected: &Value, see: &mut dyn FnMut(usize, Bits, Bits) -> bool) -> bool {
    if let (Value::Array(a), Value::Array(b)) = (found, expected)
        && let (Some(a), Some(b)) = (a.row_major_bytes(), b.row_major_bytes())
    {
        return match expected.elem().bytes() {
            1 => each_of::<1>(a, b, see),
            2 => each_of::<2>(a, b, see),
            4 => each_of::<4>(a, b, see),
            _ => each_of::<8>(a, b, see),
        };
    }
    let pairs = elements(found).zip(elements(expected)).enumerate();
    pairs.filter(|(_, (a, b))| a != b).all(|(place, (a, b))| see(place, a, b))
}

/// [`each_difference`] of elements that have `W` bytes and lie one after the other.
fn each_of<const W: usize>(a: &[u8], b: &[u8], see: &mut dyn FnMut(usize, Bits, Bits) -> bool) -> bool {
    let bits = |bytes: &[u8; W]| {
        let mut all = [0; 8];
        all[..W].copy_from_slice(bytes);
        u64::from_le_bytes(all)
    };
    let pairs = a.as_chunks::<W>().0.iter().zip(b.as_chunks::<W>().0).enumerate();
    pairs.filter(|(_, (a, b))| a != b).all(|(place, (a, b))| see(place, bits(a), bits(b)))
}

/// False if nobody wants to hear of more.
fn compare_one(
    value: usize,
    found: &Value,
    expected: &Value,
    tolerance: f64,
    tell: &mut dyn FnMut(Difference) -> bool,
) -> bool {
    let (found_shape, shape) = (shape(found), shape(expected));
    if found_shape != shape {
        return tell(Difference::Shape { value, expected: shape, found: found_shape });
    }
    let ty = expected.elem();
    if found.elem() != ty {
        return tell(Difference::Type { value, expected: ty, found: found.elem() });
    }
    // In the precision of the type, as Futhark's tools compute it.
    let round = |x: f64| Scalar::from_f64(ty, x).as_f64();
    let number = |bits: Bits| Scalar { ty, bits }.as_f64();
    // Looked for once a float is not the same to the bit.
    let mut allowed = None;
    each_difference(found, expected, &mut |position, found_bits, bits| {
        if ty.is_float() {
            let allowed = *allowed.get_or_insert_with(|| {
                let greatest = elements(expected).map(number).filter(|x| x.is_finite()).fold(0.0, f64::max);
                round(tolerance).max(round(round(tolerance) * greatest))
            });
            let (x, y) = (number(found_bits), number(bits));
            if x == y
                || x.is_nan() && y.is_nan()
                || round(x - y).abs() <= allowed && x.is_finite() && y.is_finite()
            {
                return true;
            }
        }
        let index = index_of(position as i64, &shape);
        let (found, expected) = (Scalar { ty, bits: found_bits }, Scalar { ty, bits });
        tell(Difference::Element { value, index, expected, found })
    })
}

/// The index of an element from its place in row-major order.
fn index_of(mut position: i64, shape: &[i64]) -> Vec<i64> {
    let mut index = vec![0; shape.len()];
    for (i, extent) in index.iter_mut().zip(shape).rev() {
        *i = position % (*extent).max(1);
        position /= (*extent).max(1);
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_values;
    use galopvm_store::Memory;

    fn differences(found: &str, expected: &str) -> String {
        let read = |text: &str| read_values(&Memory::default(), text.as_bytes()).expect("values");
        let mut lines = Vec::new();
        compare(&read(found), &read(expected), TOLERANCE, &mut |difference| {
            lines.push(difference.to_string());
            true
        });
        lines.join("\n")
    }

    /// Printed by `futhark datacmp`, version 0.25.32.
    #[test]
    fn messages_are_those_of_futhark() {
        for (found, expected, message) in [
            ("1", "2", "Value #0: expected 2, got 1"),
            ("1 2", "1", "Expected 1 values, got 2"),
            ("1i32", "1i64", "Value #0: expected value of type i64, got i32"),
            ("[1i32]", "[1i64]", "Value #0: expected value of type i64, got i32"),
            ("[1,2]", "[1,3]", "Value #0 index [1]: expected 3, got 2"),
            ("[[1i32]]", "[1i64]", "Value #0: expected array of shape [1], got [1,1]"),
            ("[[1,2],[3,4]]", "[[1,2],[3,5]]", "Value #0 index [1,1]: expected 5, got 4"),
            ("[1.0,2.0]", "[1.01,2.0]", "Value #0 index [0]: expected 1.01, got 1.0"),
            ("[f32.nan]", "[1f32]", "Value #0 index [0]: expected 1.0, got NaN"),
            ("[f32.inf]", "[-f32.inf]", "Value #0 index [0]: expected -Infinity, got Infinity"),
            ("f32.inf", "1f32", "Value #0: expected 1.0, got Infinity"),
            ("1f32", "1.0021f32", "Value #0: expected 1.0021, got 1.0"),
            ("true", "false", "Value #0: expected False, got True"),
            ("1f16", "1.1f16", "Value #0: expected 1.0996094, got 1.0"),
            ("1", "[1]", "Value #0: expected array of shape [1], got []"),
            ("[-1000.0]", "[-1001.5]", "Value #0 index [0]: expected -1001.5, got -1000.0"),
            ("1.0", "0.998", "Value #0: expected 0.998, got 1.0"),
            ("[-1.5e-7]", "[2.0e10]", "Value #0 index [0]: expected 2.0e10, got -1.5e-7"),
            ("-1i64", "3i64", "Value #0: expected 3, got -1"),
            ("1 2", "2 3", "Value #0: expected 2, got 1\nValue #1: expected 3, got 2"),
        ] {
            assert_eq!(differences(found, expected), message, "{found} | {expected}");
        }
    }

    #[test]
    fn what_futhark_takes_for_equal_is_equal() {
        for (found, expected) in [
            ("1", "1"),
            ("", ""),
            ("[1.0,2.0]", "[1.001,2.0]"),
            ("[1000.0,2.0]", "[1001.5,2.0]"),
            ("[1000.0]", "[998.1]"),
            ("[-1000.0f32, 5000f32]", "[-1001.5f32, 5000.0f32]"),
            ("1.0f32", "1.002f32"),
            ("0.0f16", "0.002f16"),
            ("[1f32, f32.inf, 3000f32]", "[1f32,f32.inf, 3001f32]"),
            ("f32.nan", "f32.nan"),
            ("300.0f64", "299.5f64"),
        ] {
            assert_eq!(differences(found, expected), "", "{found} | {expected}");
        }
    }
}
