//! Random values of any type that is not opaque.

use super::{Shape, Type, parts};
use galopvm::{ElemType, Memory, Scalar, Value};

/// A source of values: the same seed and size give the same ones.
pub struct Random {
    state: u64,
    size: i64,
}

impl Random {
    /// Extents and numbers are mostly at most `size`.
    pub fn new(seed: u64, size: i64) -> Random {
        let state =
            seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (size as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mut random = Random { state, size: size.max(0) };
        random.bits();
        random
    }

    /// Any bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A value of a type. All extents that the type leaves open are the same number, so that names of sizes that come twice
    /// are right.
    pub fn value(&mut self, memory: &Memory, ty: &Type) -> Result<Vec<Value>, String> {
        let extent = (self.bits() % (self.size as u64 + 1)) as i64;
        self.of(memory, ty, extent)
    }

    fn of(&mut self, memory: &Memory, ty: &Type, open: i64) -> Result<Vec<Value>, String> {
        match &ty.shape {
            Shape::Scalar(elem) => Ok(vec![Value::Scalar(self.scalar(*elem))]),
            Shape::Array(extents, element) => {
                let shape: Vec<i64> = extents.iter().map(|e| if *e == 0 { open } else { *e }).collect();
                let elements: Result<Vec<Vec<Value>>, String> =
                    (0..shape.iter().product::<i64>()).map(|_| self.of(memory, element, open)).collect();
                let elements = elements?;
                let elements: Vec<&[Value]> = elements.iter().map(Vec::as_slice).collect();
                parts::array(memory, element, &shape, &elements)
            }
            Shape::Record(fields) => {
                let fields: Result<Vec<Vec<Value>>, String> =
                    fields.iter().map(|(_, ty)| self.of(memory, ty, open)).collect();
                Ok(fields?.concat())
            }
            Shape::Sum(constructors, slots) => {
                let number = (self.bits() % constructors.len().max(1) as u64) as usize;
                let constructor =
                    constructors.get(number).ok_or("A sum without constructors has no values.")?;
                let payload: Result<Vec<Vec<Value>>, String> =
                    constructor.payload.iter().map(|ty| self.of(memory, ty, open)).collect();
                parts::construct(memory, number, constructor, slots, &payload?.concat())
            }
            Shape::Opaque(_) => {
                Err(format!("There are no random values of the type {}: name a generator.", ty.name))
            }
        }
    }

    fn scalar(&mut self, elem: ElemType) -> Scalar {
        let (bits, most) = (self.bits(), self.size);
        let small = (bits % (2 * most as u64 + 1)) as i64 - most;
        match elem {
            ElemType::Bool => Scalar::bool(bits & 1 == 1),
            _ if elem.is_float() => {
                Scalar::from_f64(elem, small as f64 + (bits >> 40) as f64 / (1u64 << 24) as f64)
            }
            ElemType::U8 | ElemType::U16 | ElemType::U32 | ElemType::U64 => {
                Scalar::from_int(elem, small.abs())
            }
            _ => Scalar::from_int(elem, small),
        }
    }
}
