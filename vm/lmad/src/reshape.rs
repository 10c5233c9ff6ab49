//! Giving the elements of a view another shape without moving them, wherever one view can express the result.
//!
//! Both shapes are cut into the finest groups of neighbouring axes with equal products. Inside a group the old axes
//! must be packed (step like one axis); then, and only then, the result is a view.

use crate::view::{Dim, Dims, Lmad};

impl Lmad {
    /// The same elements in the same order under another shape; `None` if the counts differ or no view expresses it.
    ///
    /// (Also `None` where a group of axes that have to be regrouped has 2^127 or more indices.)
    pub fn reshape(&self, shape: &[i64]) -> Option<Lmad> {
        if self.is_empty() {
            let empty = shape.iter().any(|&size| size <= 0);
            let dims = shape.iter().map(|&size| Dim::new(size, 0)).collect();
            return empty.then_some(Lmad { offset: self.offset, dims });
        }
        if shape.iter().any(|&size| size <= 0) {
            return None;
        }
        let old: Dims = self.dims.iter().copied().filter(|dim| dim.size != 1).collect();
        let mut new: Dims = shape.iter().map(|&size| Dim::new(size, 0)).collect();
        let mut old_left = &old[..];
        let mut new_left = &mut new[..];
        loop {
            // Unit axes of the new shape keep stride 0, between groups as inside them.
            let units = new_left.iter().take_while(|dim| dim.size == 1).count();
            new_left = &mut new_left[units..];
            if new_left.is_empty() {
                break;
            }
            let (old_count, new_count) = group(old_left, new_left)?;
            let (old_group, old_rest) = old_left.split_at(old_count);
            let (new_group, new_rest) = new_left.split_at_mut(new_count);
            if !old_group.windows(2).all(|pair| pair[0].packs(pair[1])) {
                return None;
            }
            let mut stride = old_group[old_count - 1].stride;
            for dim in new_group.iter_mut().rev().filter(|dim| dim.size != 1) {
                dim.stride = stride;
                stride = stride.saturating_mul(dim.size);
            }
            (old_left, new_left) = (old_rest, new_rest);
        }
        old_left.is_empty().then_some(Lmad { offset: self.offset, dims: new })
    }

    /// All axes joined into one; `None` where no view expresses it.
    pub fn flatten(&self) -> Option<Lmad> {
        self.reshape(&[self.elements()])
    }
}

/// The sizes of the finest leading groups of `old` and `new` with equal products; `None` if one side runs out.
fn group(old: &[Dim], new: &[Dim]) -> Option<(usize, usize)> {
    let mut old_product = i128::from(old.first()?.size);
    let mut new_product = i128::from(new.first()?.size);
    let (mut old_count, mut new_count) = (1, 1);
    while old_product != new_product {
        if old_product < new_product {
            old_product = old_product.checked_mul(i128::from(old.get(old_count)?.size))?;
            old_count += 1;
        } else {
            new_product = new_product.checked_mul(i128::from(new.get(new_count)?.size))?;
            new_count += 1;
        }
    }
    Some((old_count, new_count))
}

#[cfg(test)]
mod tests {
    use crate::random::{Random, Views, indices};
    use crate::{Dim, Lmad};

    /// The view of this shape with exactly these places in index order, if there is one: its numbers are forced.
    fn fit(shape: &[i64], places: &[i64]) -> Option<Lmad> {
        let mut dims = Vec::new();
        let mut inner = places.len() as i64;
        for &size in shape {
            inner /= size;
            let stride = if size == 1 { 0 } else { places[inner as usize] - places[0] };
            dims.push(Dim::new(size, stride));
        }
        let view = Lmad::new(places[0], dims);
        view.places().eq(places.iter().copied()).then_some(view)
    }

    #[test]
    fn exact_against_enumeration() {
        let mut random = Random::new(5);
        let (mut expressed, mut refused) = (0, 0);
        for _ in 0..20000 {
            let product = [1, 2, 6, 8, 12, 16, 24, 36][random.below(8) as usize];
            let shape = random.factors(product);
            // Views with packed stretches occur often enough only if they are made on purpose.
            let mut dims: Vec<Dim> = Vec::new();
            let mut next = random.between(-3, 3);
            for &size in shape.iter().rev() {
                if random.below(3) == 0 {
                    next = random.between(-12, 12);
                }
                dims.insert(0, Dim::new(size, next));
                next *= size;
            }
            let view = Lmad::new(random.between(-5, 5), dims);
            let goal = random.factors(product);
            let places: Vec<i64> = view.places().collect();
            let expected = fit(&goal, &places);
            assert_eq!(view.reshape(&goal), expected, "{view} to {goal:?}");
            if expected.is_some() { expressed += 1 } else { refused += 1 }
        }
        assert!(expressed > 1000 && refused > 1000, "{expressed} {refused}");
    }

    #[test]
    fn counts_must_agree() {
        let view = Lmad::row_major(&[4, 6]);
        for shape in [&[][..], &[1], &[23], &[25], &[4, 6, 2], &[0], &[4], &[24, 0]] {
            assert_eq!(view.reshape(shape), None, "{shape:?}");
        }
        assert_eq!(Lmad::scalar(5).reshape(&[1, 1]).unwrap().to_string(), "5 + {(1:0),(1:0)}");
        assert_eq!(Lmad::row_major(&[1, 1]).reshape(&[]), Some(Lmad::scalar(0)));
    }

    #[test]
    fn empty_views() {
        let view = Lmad::row_major(&[4, 0]);
        assert_eq!(view.reshape(&[0, 7]).unwrap().to_string(), "0 + {(0:0),(7:0)}");
        assert_eq!(view.reshape(&[4]), None);
        assert_eq!(view.flatten().unwrap().to_string(), "0 + {(0:0)}");
        assert_eq!(indices(&[0, 7]).count(), 0);
    }

    #[test]
    fn huge_sizes_do_not_overflow() {
        let view = Lmad::new(0, vec![Dim::new(i64::MAX, 0); 4]);
        assert_eq!(view.reshape(&[i64::MAX; 4]), Some(view.clone()));
        assert_eq!(view.reshape(&[i64::MAX, i64::MAX, i64::MAX]), None);
    }
}
