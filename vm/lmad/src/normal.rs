//! Normal forms: one for views as index functions, one for views as sets of places.

use crate::view::{Dim, Dims, Lmad, saturate};

impl Lmad {
    /// The INDEX form: stride 0 on axes of at most one index. Two views that are not empty are the same index
    /// function exactly if their INDEX forms are equal.
    pub fn index_form(&self) -> Lmad {
        let dims =
            self.dims.iter().map(|&dim| if dim.size <= 1 { Dim::new(dim.size, 0) } else { dim }).collect();
        Lmad { offset: self.offset, dims }
    }

    /// The view without its unit axes and with packed neighbours joined: the fewest axes that visit the same places
    /// in the same order. (An empty view only loses its unit axes.)
    pub fn merged(&self) -> Lmad {
        let mut dims = Dims::new();
        let join = !self.is_empty();
        for &dim in self.dims.iter().filter(|dim| dim.size != 1) {
            match dims.last_mut() {
                Some(last) if join && last.packs(dim) && last.size.checked_mul(dim.size).is_some() => {
                    *last = Dim::new(last.size * dim.size, dim.stride);
                }
                _ => dims.push(dim),
            }
        }
        Lmad { offset: self.offset, dims }
    }

    /// The SET form: the same set of places with positive strides, falling, no unit or zero-stride axes, and axes
    /// that interlock (even overlapping) joined. `None` for the empty set.
    ///
    /// It forgets order and repetition: it is for summaries of reads and writes, never for updates. Exact for views
    /// that fit in some block.
    pub fn set_form(&self) -> Option<Lmad> {
        let (low, _) = self.wide_bounds()?;
        let mut dims: Dims = self
            .dims
            .iter()
            .filter(|dim| dim.size > 1 && dim.stride != 0)
            .map(|dim| Dim::new(dim.size, dim.stride.saturating_abs()))
            .collect();
        dims.sort_unstable_by_key(|dim| (dim.stride, dim.size));
        let mut at = 0;
        while at + 1 < dims.len() {
            match interlock(dims[at], dims[at + 1]) {
                Some(joined) => {
                    dims[at] = joined;
                    dims.remove(at + 1);
                    // The longer axis may now reach the one below it.
                    at = at.saturating_sub(1);
                }
                None => at += 1,
            }
        }
        dims.reverse();
        Some(Lmad { offset: saturate(low), dims })
    }
}

/// One axis with the same places as two together, `outer`'s stride being the greater; `None` if there are holes.
fn interlock(inner: Dim, outer: Dim) -> Option<Dim> {
    let factor = outer.stride / inner.stride;
    if outer.stride % inner.stride != 0 || factor > inner.size {
        return None;
    }
    let size = (outer.size - 1).checked_mul(factor)?.checked_add(inner.size)?;
    Some(Dim::new(size, inner.stride))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::random::{Random, Views};
    use crate::{Dim, Lmad};

    fn set(view: &Lmad) -> BTreeSet<i64> {
        view.places().collect()
    }

    #[test]
    fn forms_keep_the_places() {
        let mut random = Random::new(6);
        for _ in 0..5000 {
            let view = random.view(4, 5, 12);
            assert!(view.index_form().places().eq(view.places()), "{view}");
            assert!(view.merged().places().eq(view.places()), "{view}");
            let Some(form) = view.set_form() else {
                assert!(view.is_empty());
                continue;
            };
            assert_eq!(set(&form), set(&view), "{view}");
            assert!(form.dims.iter().all(|dim| dim.size > 1 && dim.stride > 0), "{form}");
            assert!(form.dims.windows(2).all(|pair| pair[0].stride > pair[1].stride), "{form}");
            assert_eq!(form.set_form(), Some(form));
        }
    }

    #[test]
    fn joins_until_nothing_interlocks() {
        let view = Lmad::new(0, [Dim::new(2, 1), Dim::new(2, 2), Dim::new(2, 4), Dim::new(2, -8)]);
        assert_eq!(view.set_form().unwrap().to_string(), "-8 + {(16:1)}");
    }
}
