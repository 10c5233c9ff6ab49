//! What kind of copy moves the elements of one view to another of the same shape, and the loops that do it.
//!
//! Unit axes and axes packed on both sides are removed first, so stray strides and split axes never spoil the kind.

use std::fmt;

use smallvec::SmallVec;

use crate::view::{Lmad, product};

/// The kinds of copy, cheapest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CopyClass {
    /// Nothing to copy.
    Empty,
    /// One stretch of memory to another.
    Memcpy {
        /// Number of elements.
        elements: i64,
    },
    /// Stretches of memory, each in one piece on both sides.
    Rows {
        /// Number of stretches.
        rows: i64,
        /// Elements of each.
        cols: i64,
    },
    /// Transposition of a matrix, `batch` times; the target is written along `cols`, the source read along `rows`.
    Transpose {
        /// Number of matrices.
        batch: i64,
        /// Rows of the target.
        rows: i64,
        /// Elements of each row of the target.
        cols: i64,
    },
    /// Anything else: element by element.
    Strided {
        /// Number of loops.
        rank: usize,
    },
}

impl fmt::Display for CopyClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CopyClass::Empty => f.write_str("empty"),
            CopyClass::Memcpy { elements } => write!(f, "memcpy({elements})"),
            CopyClass::Rows { rows, cols } => write!(f, "rows({rows}x{cols})"),
            CopyClass::Transpose { batch, rows, cols } => write!(f, "transpose(batch={batch},{rows}x{cols})"),
            CopyClass::Strided { rank } => write!(f, "strided(rank={rank})"),
        }
    }
}

/// One loop of a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CopyDim {
    /// Trip count, at least 2.
    pub size: i64,
    /// Stride of the target.
    pub target: i64,
    /// Stride of the source.
    pub source: i64,
}

/// A copy: its kind, and the loops it takes from the two offsets on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CopyPlan {
    /// The kind of copy.
    pub class: CopyClass,
    /// Place of the first element in the target.
    pub target: i64,
    /// Place of the first element in the source.
    pub source: i64,
    /// The loops, outermost first. For `Rows` the last one is the stretch; for `Transpose` the last two are the
    /// rows and the columns of the target; for `Memcpy` their order does not matter; for `Strided` they are ordered
    /// by falling stride of the side that has unit strides. None for `Empty`.
    pub dims: SmallVec<[CopyDim; 4]>,
}

/// The kind of copy from `source` to `target`, which have equal shapes.
pub fn copy_class(target: &Lmad, source: &Lmad) -> CopyClass {
    copy_plan(target, source).class
}

/// The copy from `source` to `target`, which have equal shapes.
pub fn copy_plan(target: &Lmad, source: &Lmad) -> CopyPlan {
    debug_assert_eq!(target.shape(), source.shape());
    let mut dims: SmallVec<[CopyDim; 4]> = target
        .dims
        .iter()
        .zip(&source.dims)
        .filter(|(dim, _)| dim.size != 1)
        .map(|(to, from)| CopyDim { size: to.size, target: to.stride, source: from.stride })
        .collect();
    let class = classify(&mut dims);
    CopyPlan { class, target: target.offset, source: source.offset, dims }
}

/// Finds the kind, putting the loops in the order it needs.
fn classify(dims: &mut SmallVec<[CopyDim; 4]>) -> CopyClass {
    if dims.iter().any(|dim| dim.size <= 0) {
        dims.clear();
        return CopyClass::Empty;
    }
    if let [CopyDim { size, target: 1, source: 1 }] = dims[..] {
        return CopyClass::Memcpy { elements: size };
    }
    merge(dims);
    if same_stretch(dims) {
        return CopyClass::Memcpy { elements: count(dims) };
    }
    dims.sort_by_key(|dim| std::cmp::Reverse(dim.target));
    merge(dims);
    let Some((&last, outer)) = dims.split_last() else {
        return CopyClass::Memcpy { elements: 1 };
    };
    if last.target == 1 && last.source == 1 {
        return CopyClass::Rows { rows: count(outer), cols: last.size };
    }
    if last.target == 1
        && let Some(at) = outer.iter().position(|dim| dim.source == 1)
    {
        // The rows go next to the columns, the batch around both keeps its order.
        let rows = dims.remove(at);
        dims.insert(dims.len() - 1, rows);
        let batch = count(&dims[..dims.len() - 2]);
        return CopyClass::Transpose { batch, rows: rows.size, cols: last.size };
    }
    if dims.iter().all(|dim| dim.target != 1) && dims.iter().any(|dim| dim.source == 1) {
        dims.sort_by_key(|dim| std::cmp::Reverse(dim.source));
    }
    CopyClass::Strided { rank: dims.len() }
}

/// Joins neighbouring loops that are packed on both sides.
fn merge(dims: &mut SmallVec<[CopyDim; 4]>) {
    let mut kept: SmallVec<[CopyDim; 4]> = SmallVec::new();
    for &dim in dims.iter() {
        let packed = |stride: i64, inner: i64| i128::from(stride) == i128::from(dim.size) * i128::from(inner);
        match kept.last_mut() {
            Some(last)
                if packed(last.target, dim.target)
                    && packed(last.source, dim.source)
                    && last.size.checked_mul(dim.size).is_some() =>
            {
                *last = CopyDim { size: last.size * dim.size, ..dim };
            }
            _ => kept.push(dim),
        }
    }
    *dims = kept;
}

/// Whether both sides are one stretch of memory, visited in the same order.
fn same_stretch(dims: &[CopyDim]) -> bool {
    let mut inner_first: SmallVec<[CopyDim; 4]> = dims.iter().copied().collect();
    inner_first.sort_unstable_by_key(|dim| dim.target);
    let mut stride = 1i128;
    inner_first.iter().all(|dim| {
        let next = dim.target == dim.source && i128::from(dim.target) == stride;
        stride = stride.saturating_mul(i128::from(dim.size));
        next
    })
}

/// Number of elements under some loops, saturated.
fn count(dims: &[CopyDim]) -> i64 {
    product(dims.iter().map(|dim| dim.size))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Dim;
    use crate::random::Random;

    /// The pairs (target place, source place) a copy moves, as the loops of a plan say them.
    fn pairs(plan: &CopyPlan) -> BTreeMap<i64, i64> {
        if plan.class == CopyClass::Empty {
            return BTreeMap::new();
        }
        let view = |offset, stride: fn(&CopyDim) -> i64| {
            Lmad::new(offset, plan.dims.iter().map(|dim| Dim::new(dim.size, stride(dim))))
        };
        let targets = view(plan.target, |dim| dim.target);
        let sources = view(plan.source, |dim| dim.source);
        targets.places().zip(sources.places()).collect()
    }

    #[test]
    fn loops_move_what_they_should() {
        let mut random = Random::new(15);
        let mut kinds = BTreeMap::new();
        for _ in 0..5000 {
            let shape: Vec<i64> = (0..random.below(5)).map(|_| random.between(1, 4)).collect();
            let mut layout = || {
                let manifest = Lmad::manifest(&shape, &random.permutation(shape.len()));
                match random.below(4) {
                    0 => Lmad::new(7, manifest.dims.iter().map(|dim| Dim::new(dim.size, dim.stride * 3))),
                    1 => Lmad::new(
                        7,
                        Lmad::row_major(&shape.iter().map(|n| n + 1).collect::<Vec<_>>())
                            .dims
                            .iter()
                            .zip(&shape)
                            .map(|(dim, &size)| Dim::new(size, dim.stride)),
                    ),
                    _ => manifest,
                }
            };
            let (target, source) = (layout(), layout());
            let plan = copy_plan(&target, &source);
            let expected: BTreeMap<i64, i64> = target.places().zip(source.places()).collect();
            assert_eq!(pairs(&plan), expected, "{target} <- {source}: {plan:?}");
            let kind = plan.class.to_string();
            *kinds.entry(kind.split('(').next().unwrap().to_string()).or_insert(0) += 1;
            match plan.class {
                CopyClass::Rows { cols, .. } => {
                    assert_eq!(plan.dims.last(), Some(&CopyDim { size: cols, target: 1, source: 1 }));
                }
                CopyClass::Transpose { rows, cols, .. } => {
                    let [.., row, col] = plan.dims[..] else { panic!("{plan:?}") };
                    assert_eq!((row.size, row.source, col.size, col.target), (rows, 1, cols, 1));
                }
                CopyClass::Memcpy { elements } => {
                    assert_eq!(elements, target.elements());
                    assert!(expected.iter().all(|(to, from)| to - target.offset == from - source.offset));
                }
                CopyClass::Empty => panic!("{target} is not empty"),
                CopyClass::Strided { rank } => assert_eq!(rank, plan.dims.len()),
            }
        }
        assert_eq!(kinds.keys().collect::<Vec<_>>(), ["memcpy", "rows", "strided", "transpose"], "{kinds:?}");
    }

    #[test]
    fn printed() {
        let class = |target: &str, source: &str| {
            copy_class(&target.parse().unwrap(), &source.parse().unwrap()).to_string()
        };
        assert_eq!(class("0 + {(0:1)}", "5 + {(0:1)}"), "empty");
        assert_eq!(class("3", "5"), "memcpy(1)");
        assert_eq!(class("0 + {(4:6),(6:1)}", "9 + {(4:1),(6:4)}"), "transpose(batch=1,4x6)");
        assert_eq!(class("0 + {(4:2)}", "0 + {(4:1)}"), "strided(rank=1)");
    }
}
