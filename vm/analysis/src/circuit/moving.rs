//! Views whose offset (and rarely sizes and strides) depend on iteration variables.

use crate::affine::{Form, Range};
use galopvm_kir::{Region, VarId};
use galopvm_lmad::{Dim, Dims, Lmad};
use smallvec::{SmallVec, smallvec};
use std::fmt::Write;

/// Most views that one of varying size is listed as.
const MOST_LISTED: i64 = 16;

/// A view over iteration variables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Moving {
    /// Place of the element whose indices are all 0.
    pub offset: Form,
    /// Size and stride of each axis, outermost first.
    pub dims: Vec<(Form, Form)>,
}

/// The index of one dimension, over iteration variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Along {
    /// One place.
    At(Form),
    /// `start + step * i` for `i < count`.
    Slice {
        /// First place.
        start: Form,
        /// Number of places.
        count: Form,
        /// Distance of neighbours.
        step: Form,
    },
}

/// A moving view at some values of some variables: what is left moves the offset only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// Where the variables that still move are 0.
    pub view: Lmad,
    /// The variables that still move the offset, with the change for a step.
    pub steps: SmallVec<[(VarId, i64); 2]>,
    /// The variables whose value is given.
    pub fixed: SmallVec<[(VarId, i64); 1]>,
}

impl Instance {
    fn new(offset: &Form, dims: Dims, fixed: SmallVec<[(VarId, i64); 1]>) -> Instance {
        let view = Lmad { offset: offset.constant, dims };
        Instance { view, steps: SmallVec::from_slice(offset.terms()), fixed }
    }
}

impl Moving {
    /// A view that does not move.
    pub fn of(view: &Lmad) -> Moving {
        let dims = view.dims.iter().map(|dim| (Form::constant(dim.size), Form::constant(dim.stride)));
        Moving { offset: Form::constant(view.offset), dims: dims.collect() }
    }

    /// A whole block of this shape.
    pub fn row_major(shape: &[Form]) -> Option<Moving> {
        let mut dims: Vec<(Form, Form)> =
            shape.iter().map(|size| (size.clone(), Form::constant(1))).collect();
        let mut stride = Form::constant(1);
        for (size, own) in dims.iter_mut().rev() {
            let outer = stride.product(size)?;
            *own = std::mem::replace(&mut stride, outer);
        }
        Some(Moving { offset: Form::default(), dims })
    }

    /// The view, if it does not move.
    pub fn lmad(&self) -> Option<Lmad> {
        Some(Lmad { offset: self.offset.number()?, dims: self.numbers()? })
    }

    /// The view where all variables are 0, if only its offset moves.
    pub fn still(&self) -> Option<Lmad> {
        Some(Lmad { offset: self.offset.constant, dims: self.numbers()? })
    }

    fn numbers(&self) -> Option<Dims> {
        self.dims.iter().map(|(size, stride)| Some(Dim::new(size.number()?, stride.number()?))).collect()
    }

    /// The variables that the view depends on.
    pub fn variables(&self) -> SmallVec<[VarId; 4]> {
        let forms = self.dims.iter().flat_map(|(size, stride)| [size, stride]);
        let mut all: SmallVec<[VarId; 4]> =
            forms.chain([&self.offset]).flat_map(|form| form.terms().iter().map(|(var, _)| *var)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The part under an index of the leading dimensions; nothing if a product is not affine.
    pub fn index(&self, index: &[Along]) -> Option<Moving> {
        let mut result = Moving { offset: self.offset.clone(), dims: Vec::with_capacity(self.dims.len()) };
        for (k, (size, stride)) in self.dims.iter().enumerate() {
            match index.get(k) {
                None => result.dims.push((size.clone(), stride.clone())),
                Some(Along::At(at)) => result.offset = result.offset.plus(&at.product(stride)?)?,
                Some(Along::Slice { start, count, step }) => {
                    result.offset = result.offset.plus(&start.product(stride)?)?;
                    result.dims.push((count.clone(), stride.product(step)?));
                }
            }
        }
        Some(result)
    }

    /// The part under an LMAD slice of the first dimension.
    pub fn flat(&self, offset: &Form, dims: &[(Form, Form)]) -> Option<Moving> {
        let ((_, stride), rest) = self.dims.split_first()?;
        let offset = self.offset.plus(&offset.product(stride)?)?;
        let mut result = Moving { offset, dims: Vec::with_capacity(dims.len() + rest.len()) };
        for (count, step) in dims {
            result.dims.push((count.clone(), step.product(stride)?));
        }
        result.dims.extend_from_slice(rest);
        Some(result)
    }

    /// Axis `k` of the result is axis `perm[k]`.
    pub fn permute(&self, perm: &[usize]) -> Option<Moving> {
        let dims = perm.iter().map(|axis| self.dims.get(*axis).cloned()).collect::<Option<Vec<_>>>()?;
        Some(Moving { offset: self.offset.clone(), dims })
    }

    /// The first axis backwards.
    pub fn reverse(&self) -> Option<Moving> {
        let mut result = self.clone();
        let (size, stride) = result.dims.first_mut()?;
        if size.number() == Some(0) {
            return Some(result);
        }
        let last = size.minus(&Form::constant(1))?;
        result.offset = result.offset.plus(&last.product(stride)?)?;
        *stride = stride.times(-1)?;
        Some(result)
    }

    /// Another shape with the same elements in the same order, where one view expresses it.
    pub fn reshape(&self, shape: &[i64]) -> Option<Moving> {
        let still = Lmad::new(0, self.numbers()?).reshape(shape)?;
        let dims = Moving::of(&still).dims;
        Some(Moving { offset: self.offset.plus(&Form::constant(still.offset))?, dims })
    }

    /// The view as instances whose offset alone moves: one where sizes and strides are numbers; else one for each
    /// value of the variables they depend on, or, if these are too many, the stretch of memory around all of them.
    /// Nothing if that is not known either.
    pub fn instances(&self, ranges: &[Range]) -> Option<SmallVec<[Instance; 1]>> {
        let varying = |moving: &Moving| {
            let forms = moving.dims.iter().flat_map(|(size, stride)| [size, stride]);
            forms.flat_map(|form| form.terms()).map(|(var, _)| *var).next()
        };
        if let Some(dims) = self.numbers() {
            return Some(smallvec![Instance::new(&self.offset, dims, SmallVec::new())]);
        }
        let mut open = vec![(self.clone(), SmallVec::new())];
        let mut all = SmallVec::new();
        let mut listed = 1;
        while let Some((moving, fixed)) = open.pop() {
            let Some(var) = varying(&moving) else {
                all.push(Instance::new(&moving.offset, moving.numbers()?, fixed));
                continue;
            };
            let range = ranges.iter().find(|range| range.var == var)?;
            let count = range.high.checked_sub(range.low)?.checked_add(1)?;
            listed *= count.clamp(1, MOST_LISTED + 1);
            if listed > MOST_LISTED {
                return self.around(ranges).map(|instance| smallvec![instance]);
            }
            for value in (range.low..=range.high).rev() {
                let by = Form::constant(value);
                let mut dims = Vec::new();
                for (size, stride) in &moving.dims {
                    dims.push((size.substitute(var, &by)?, stride.substitute(var, &by)?));
                }
                let offset = moving.offset.substitute(var, &by)?;
                let mut fixed = fixed.clone();
                fixed.push((var, value));
                open.push((Moving { offset, dims }, fixed));
            }
        }
        Some(all)
    }

    /// The stretch of memory around the places of all iterations.
    fn around(&self, ranges: &[Range]) -> Option<Instance> {
        let (mut low, mut high) = self.offset.interval(ranges)?;
        for (size, stride) in &self.dims {
            let (_, most) = size.interval(ranges)?;
            let (least_step, most_step) = stride.interval(ranges)?;
            let last = (most - 1).max(0);
            low += (last.checked_mul(least_step)?).min(0);
            high += (last.checked_mul(most_step)?).max(0);
        }
        let size = i64::try_from(high.checked_sub(low)?.checked_add(1)?).ok()?;
        let view = Lmad::new(i64::try_from(low).ok()?, [Dim::new(size, 1)]);
        Some(Instance { view, steps: SmallVec::new(), fixed: SmallVec::new() })
    }

    /// The view in text, `i*5 + {(5:1)}`.
    pub fn text(&self, region: &Region) -> String {
        let mut text = self.offset.text(region);
        if self.dims.is_empty() {
            return text;
        }
        let dims: Vec<String> = self
            .dims
            .iter()
            .map(|(size, stride)| format!("({}:{})", size.text(region), stride.text(region)))
            .collect();
        let _ = write!(text, " + {{{}}}", dims.join(","));
        text
    }
}
