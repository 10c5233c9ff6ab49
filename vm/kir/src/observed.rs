//! What was seen: the numbers behind the parameters of a region at one launch.

use galopvm_base::Scalar;
use galopvm_lmad::Lmad;

/// The value of one parameter, as far as decisions may look at it.
#[derive(Clone, PartialEq, Debug)]
pub enum ObservedParam {
    /// A scalar.
    Scalar(Scalar),
    /// An array: never its contents.
    Array {
        /// How it lies in its block.
        lmad: Lmad,
        /// Which block; equal numbers are the same block.
        block: u32,
        /// Elements the block holds.
        block_elements: i64,
        /// How many hold the block.
        references: u32,
    },
}

/// One launch as seen by decisions; `params[k]` belongs to `region.params[k]`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Observed {
    /// In the order of the region's parameters.
    pub params: Vec<ObservedParam>,
}

impl Observed {
    /// The same without what code may not depend on: floats are 0, and each array begins a block of its own that nobody else holds.
    /// Extents, strides and other scalars stay.
    pub fn plain(&self) -> Observed {
        let plain = |(at, param): (usize, &ObservedParam)| match param {
            ObservedParam::Scalar(value) if value.ty.is_float() => {
                ObservedParam::Scalar(Scalar::new(value.ty, 0))
            }
            ObservedParam::Scalar(value) => ObservedParam::Scalar(*value),
            ObservedParam::Array { lmad, .. } => ObservedParam::Array {
                lmad: Lmad::new(0, lmad.dims.clone()),
                block: at as u32,
                block_elements: lmad.elements(),
                references: 1,
            },
        };
        Observed { params: self.params.iter().enumerate().map(plain).collect() }
    }
}

#[cfg(test)]
mod tests {
    use crate::text::{parse_env, print_observed};

    #[test]
    fn what_code_may_not_depend_on_is_the_same_for_all() {
        let plain = |text: &str| {
            let (region, observed) = parse_env(text).expect("an environment");
            print_observed(&region, &observed.plain())
        };
        let one = "size n = 8\nscalar x = 1.5f32\narray A : [n]f32 @ 3 + {(n:2)} rc 2 block 4 of 128";
        let same = "size n = 8\nscalar x = 2f32\narray A : [n]f32 @ 0 + {(n:2)} rc 1 block 0 of 64";
        assert_eq!(plain(one), plain(same));
        for other in [
            "size n = 9\nscalar x = 1.5f32\narray A : [n]f32 @ 3 + {(n:2)}",
            "size n = 8\nscalar x = 1.5f32\narray A : [n]f32 @ 3 + {(n:1)}",
            "size n = 8\nscalar x = 1i32\narray A : [n]f32 @ 3 + {(n:2)}",
        ] {
            assert_ne!(plain(one), plain(other));
        }
    }
}
