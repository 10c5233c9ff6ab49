//! Parts of arrays: what an index reaches, over iteration variables.
//!
//! Most accesses of a region are never asked about, so that events only say which index is meant; what it reaches is
//! found when somebody asks, once.

use super::moving::Along;
use super::position::{Axes, Bodies, BodyId, Inside};
use crate::affine::{Form, MOST_PIECES, Range, Scope};
use galopvm_kir::{DimIndex, Exp, Index, VarId};
use smallvec::{SmallVec, smallvec};
use std::cell::OnceCell;

/// The index of each dimension from the front.
pub type Path = Vec<Along>;

/// A part of an array.
#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    /// All of it.
    Whole,
    /// Under an index; one of several.
    Index(SmallVec<[Path; 1]>),
    /// Under an LMAD slice.
    Flat(Form, Vec<(Form, Form)>),
    /// It depends on this name, or on memory.
    Unknown(Option<VarId>),
}

/// Which part of an array a statement reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touched {
    /// All of it.
    Whole,
    /// The element or row that belongs to the iteration, of the kernel with this body.
    Own(BodyId),
    /// What is under an index of the region, by its number.
    Index(u32),
}

/// The indices of a region with what they reach.
pub(super) struct Indices<'a> {
    /// All iteration variables are open: a name says the same wherever it can be used.
    scope: Scope<'a>,
    known: Vec<(&'a Index, OnceCell<Part>)>,
    own: Vec<(BodyId, Axes, OnceCell<Part>)>,
}

impl<'a> Indices<'a> {
    /// The indices of a region, when its iteration variables are known.
    pub fn new(
        mut scope: Scope<'a>,
        indices: Vec<&'a Index>,
        ranges: &[Range],
        bodies: &Bodies,
    ) -> Indices<'a> {
        scope.open_all(ranges);
        let own = bodies.iter().filter_map(|(body, _, inside)| match inside {
            Inside::Kernel(axes) => Some((body, axes.clone(), OnceCell::new())),
            _ => None,
        });
        let known = indices.into_iter().map(|index| (index, OnceCell::new())).collect();
        Indices { own: own.collect(), known, scope }
    }

    /// The part that is meant.
    pub fn part(&self, touched: Touched) -> &Part {
        let known = match touched {
            Touched::Whole => None,
            Touched::Own(body) => {
                let known = self.own.iter().find(|(of, ..)| *of == body);
                known.map(|(_, axes, part)| part.get_or_init(|| own(axes)))
            }
            Touched::Index(at) => self
                .known
                .get(at as usize)
                .map(|(index, part)| part.get_or_init(|| part_of(&self.scope, index))),
        };
        known.unwrap_or(&Part::Whole)
    }
}

/// What belongs to an iteration of a kernel.
pub fn own(axes: &Axes) -> Part {
    Part::Index(smallvec![axes.iter().map(|axis| Along::At(Form::variable(*axis))).collect()])
}

/// The part that an index stands for.
pub(super) fn part_of(scope: &Scope<'_>, index: &Index) -> Part {
    let unknown = |exp: &Exp| {
        Part::Unknown(match exp {
            Exp::Var(var) => Some(*var),
            _ => None,
        })
    };
    match index {
        Index::Lmad { offset, dims } => {
            let Some(offset) = scope.form(offset) else { return unknown(offset) };
            let mut forms = Vec::with_capacity(dims.len());
            for (count, stride) in dims {
                match (scope.form(count), scope.form(stride)) {
                    (Some(count), Some(stride)) => forms.push((count, stride)),
                    (None, _) => return unknown(count),
                    _ => return unknown(stride),
                }
            }
            Part::Flat(offset, forms)
        }
        Index::Dims(dims) => {
            let mut ways: SmallVec<[Path; 1]> = smallvec![Path::new()];
            for dim in dims {
                match dim {
                    DimIndex::At(exp) => match scope.form(exp) {
                        Some(form) => ways.iter_mut().for_each(|way| way.push(Along::At(form.clone()))),
                        None => {
                            let Some(pieces) = scope.pieces(exp) else { return unknown(exp) };
                            let each = |way: &Path| {
                                let with = |form: &Form| {
                                    let mut way = way.clone();
                                    way.push(Along::At(form.clone()));
                                    way
                                };
                                pieces.iter().map(|(_, form)| with(form)).collect::<Vec<_>>()
                            };
                            ways = ways.iter().flat_map(each).collect();
                        }
                    },
                    DimIndex::Slice { start, count, step } => {
                        let form = |exp| scope.form(exp).ok_or(exp);
                        match (form(start), form(count), form(step)) {
                            (Ok(start), Ok(count), Ok(step)) => {
                                let along = Along::Slice { start, count, step };
                                ways.iter_mut().for_each(|way| way.push(along.clone()));
                            }
                            (Err(exp), _, _) | (_, Err(exp), _) | (_, _, Err(exp)) => return unknown(exp),
                        }
                    }
                }
                if ways.len() > MOST_PIECES {
                    return Part::Unknown(None);
                }
            }
            Part::Index(ways)
        }
    }
}
