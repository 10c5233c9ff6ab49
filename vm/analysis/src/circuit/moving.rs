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
    axes: Axes,
}

/// Sizes and strides.
#[derive(PartialEq, Eq, Debug)]
enum Axes {
    /// All are numbers, as they are most often.
    Numbers(Dims),
    /// Some are not.
    Forms(Vec<(Form, Form)>),
}

impl Default for Axes {
    fn default() -> Axes {
        Axes::Numbers(Dims::new())
    }
}

impl Clone for Axes {
    fn clone(&self) -> Axes {
        match self {
            Axes::Numbers(dims) => Axes::Numbers(Dims::from_slice(dims)),
            Axes::Forms(forms) => Axes::Forms(forms.clone()),
        }
    }
}

impl FromIterator<(Form, Form)> for Axes {
    fn from_iter<T: IntoIterator<Item = (Form, Form)>>(all: T) -> Axes {
        let mut axes = Axes::default();
        all.into_iter().for_each(|(size, stride)| axes.push(size, stride));
        axes
    }
}

impl Axes {
    fn push(&mut self, size: Form, stride: Form) {
        match self {
            Axes::Forms(forms) => forms.push((size, stride)),
            Axes::Numbers(dims) => match (size.number(), stride.number()) {
                (Some(size), Some(stride)) => dims.push(Dim::new(size, stride)),
                _ => {
                    let mut forms: Vec<(Form, Form)> = dims.iter().map(as_forms).collect();
                    forms.push((size, stride));
                    *self = Axes::Forms(forms);
                }
            },
        }
    }

    fn numbers(&self) -> Option<&Dims> {
        match self {
            Axes::Numbers(dims) => Some(dims),
            Axes::Forms(_) => None,
        }
    }

    fn len(&self) -> usize {
        match self {
            Axes::Numbers(dims) => dims.len(),
            Axes::Forms(forms) => forms.len(),
        }
    }

    fn get(&self, axis: usize) -> Option<(Form, Form)> {
        match self {
            Axes::Numbers(dims) => dims.get(axis).map(as_forms),
            Axes::Forms(forms) => forms.get(axis).cloned(),
        }
    }

    fn iter(&self) -> impl Iterator<Item = (Form, Form)> {
        (0..self.len()).filter_map(|axis| self.get(axis))
    }
}

fn as_forms(dim: &Dim) -> (Form, Form) {
    (Form::constant(dim.size), Form::constant(dim.stride))
}

/// The index of one dimension, over iteration variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Along {
    /// The place of the first element.
    pub start: Form,
    /// The dimensions that are left open: how many places each has, all that there are if there is nothing, and the
    /// distance of neighbours.
    pub open: Vec<(Option<Form>, Form)>,
}

impl Along {
    /// One place.
    pub fn at(start: Form) -> Along {
        Along { start, open: Vec::new() }
    }
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
    fn new(offset: &Form, dims: &Dims, fixed: SmallVec<[(VarId, i64); 1]>) -> Instance {
        let view = Lmad { offset: offset.constant, dims: Dims::from_slice(dims) };
        Instance { view, steps: SmallVec::from_slice(offset.terms()), fixed }
    }
}

impl Moving {
    /// A view that does not move.
    pub fn of(view: &Lmad) -> Moving {
        Moving { offset: Form::constant(view.offset), axes: Axes::Numbers(Dims::from_slice(&view.dims)) }
    }

    /// A view with these axes, outermost first.
    pub fn new(offset: Form, axes: impl IntoIterator<Item = (Form, Form)>) -> Moving {
        Moving { offset, axes: axes.into_iter().collect() }
    }

    /// A whole block of this shape.
    pub fn row_major(shape: &[Form]) -> Option<Moving> {
        let mut strides: SmallVec<[Form; 4]> = SmallVec::new();
        let mut stride = Form::constant(1);
        for size in shape.iter().rev() {
            let outer = stride.product(size)?;
            strides.push(std::mem::replace(&mut stride, outer));
        }
        Some(Moving::new(Form::default(), shape.iter().cloned().zip(strides.into_iter().rev())))
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.axes.len()
    }

    /// Size and stride of each axis, outermost first.
    pub fn axes(&self) -> impl Iterator<Item = (Form, Form)> {
        self.axes.iter()
    }

    /// Size and stride of an axis.
    pub fn axis(&self, axis: usize) -> Option<(Form, Form)> {
        self.axes.get(axis)
    }

    /// The view, if it does not move.
    pub fn lmad(&self) -> Option<Lmad> {
        self.offset.number()?;
        self.still()
    }

    /// The view where all variables are 0, if only its offset moves.
    pub fn still(&self) -> Option<Lmad> {
        Some(Lmad { offset: self.offset.constant, dims: Dims::from_slice(self.axes.numbers()?) })
    }

    /// The view where variables have values; nothing if one has none, or on overflow.
    pub fn at(&self, value: &dyn Fn(VarId) -> Option<i64>) -> Option<Lmad> {
        let number = |form: &Form| {
            form.terms().iter().try_fold(form.constant, |sum, (var, coefficient)| {
                sum.checked_add(coefficient.checked_mul(value(*var)?)?)
            })
        };
        let dims = match &self.axes {
            Axes::Numbers(dims) => Dims::from_slice(dims),
            Axes::Forms(forms) => {
                let dim = |(size, stride): &(Form, Form)| Some(Dim::new(number(size)?, number(stride)?));
                forms.iter().map(dim).collect::<Option<Dims>>()?
            }
        };
        Some(Lmad { offset: number(&self.offset)?, dims })
    }

    /// The variables that the view depends on.
    pub fn variables(&self) -> SmallVec<[VarId; 4]> {
        let mut all: SmallVec<[VarId; 4]> = self.offset.terms().iter().map(|(var, _)| *var).collect();
        if let Axes::Forms(forms) = &self.axes {
            let forms = forms.iter().flat_map(|(size, stride)| [size, stride]);
            all.extend(forms.flat_map(|form| form.terms()).map(|(var, _)| *var));
            all.sort_unstable();
            all.dedup();
        }
        all
    }

    /// The part under an index of the leading dimensions; nothing if a product is not affine.
    pub fn index(&self, index: &[Along]) -> Option<Moving> {
        let mut result = Moving { offset: self.offset.clone(), axes: Axes::default() };
        for (k, (size, stride)) in self.axes().enumerate() {
            let Some(along) = index.get(k) else {
                result.axes.push(size, stride);
                continue;
            };
            result.offset = moved(&result.offset, &along.start, &stride)?;
            for (count, step) in &along.open {
                let count = count.as_ref().unwrap_or(&size).clone();
                result.axes.push(count, stride.product(step)?);
            }
        }
        Some(result)
    }

    /// Axis `k` of the result is axis `perm[k]`.
    pub fn permute(&self, perm: &[usize]) -> Option<Moving> {
        let axes = perm.iter().map(|axis| self.axis(*axis)).collect::<Option<Axes>>()?;
        Some(Moving { offset: self.offset.clone(), axes })
    }

    /// The first axis backwards.
    pub fn reverse(&self) -> Option<Moving> {
        let (size, stride) = self.axis(0)?;
        if size.number() == Some(0) {
            return Some(self.clone());
        }
        let last = size.minus(&Form::constant(1))?;
        let first = std::iter::once((size, stride.times(-1)?));
        Some(Moving::new(moved(&self.offset, &last, &stride)?, first.chain(self.axes().skip(1))))
    }

    /// Another shape with the same elements in the same order, where one view expresses it.
    pub fn reshape(&self, shape: &[i64]) -> Option<Moving> {
        let still = Lmad { offset: 0, dims: Dims::from_slice(self.axes.numbers()?) }.reshape(shape)?;
        let offset = self.offset.plus(&Form::constant(still.offset))?;
        Some(Moving { offset, axes: Axes::Numbers(still.dims) })
    }

    /// The view as instances whose offset alone moves: one where sizes and strides are numbers; else one for each
    /// value of the variables they depend on, or, if these are too many, the stretch of memory around all of them.
    /// Nothing if that is not known either.
    pub fn instances(&self, ranges: &[Range]) -> Option<SmallVec<[Instance; 1]>> {
        if let Some(dims) = self.axes.numbers() {
            return Some(smallvec![Instance::new(&self.offset, dims, SmallVec::new())]);
        }
        let mut open = vec![(self.clone(), SmallVec::new())];
        let mut all = SmallVec::new();
        let mut listed = 1;
        while let Some((moving, fixed)) = open.pop() {
            let forms = match &moving.axes {
                Axes::Numbers(dims) => {
                    all.push(Instance::new(&moving.offset, dims, fixed));
                    continue;
                }
                Axes::Forms(forms) => forms,
            };
            let mut terms = forms.iter().flat_map(|(size, stride)| [size, stride]).flat_map(Form::terms);
            let var = terms.next().map(|(var, _)| *var)?;
            let range = ranges.iter().find(|range| range.var == var)?;
            let count = range.high.checked_sub(range.low)?.checked_add(1)?;
            listed *= count.clamp(1, MOST_LISTED + 1);
            if listed > MOST_LISTED {
                return self.around(ranges).map(|instance| smallvec![instance]);
            }
            for value in (range.low..=range.high).rev() {
                let by = Form::constant(value);
                let with = |form: &Form| form.substitute(var, &by);
                let axes = forms.iter().map(|(size, stride)| Some((with(size)?, with(stride)?)));
                let moving = Moving { offset: with(&moving.offset)?, axes: axes.collect::<Option<Axes>>()? };
                let mut fixed = fixed.clone();
                fixed.push((var, value));
                open.push((moving, fixed));
            }
        }
        Some(all)
    }

    /// The stretch of memory around the places of all iterations.
    fn around(&self, ranges: &[Range]) -> Option<Instance> {
        let (mut low, mut high) = self.offset.interval(ranges)?;
        for (size, stride) in self.axes() {
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
        if self.rank() == 0 {
            return text;
        }
        let dims: Vec<String> = self
            .axes()
            .map(|(size, stride)| format!("({}:{})", size.text(region), stride.text(region)))
            .collect();
        let _ = write!(text, " + {{{}}}", dims.join(","));
        text
    }
}

/// So many strides from a place on.
fn moved(from: &Form, count: &Form, stride: &Form) -> Option<Form> {
    match stride.number() {
        Some(stride) => from.combine(1, count, stride),
        None => from.plus(&count.product(stride)?),
    }
}
