//! Parts of arrays: what an index reaches, over iteration variables.
//!
//! Most accesses of a region are never asked about, so that events only say which index is meant; what it reaches is
//! found when somebody asks, once.

use super::moving::Along;
use super::position::{Axes, Bodies, BodyId, Inside};
use crate::affine::{Form, MOST_PIECES, Range, Scope};
use galopvm_kir::view::{Place, places};
use galopvm_kir::{Exp, Index, VarId};
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
    Part::Index(smallvec![axes.iter().map(|axis| Along::at(Form::variable(*axis))).collect()])
}

/// The part that an index stands for.
pub(super) fn part_of(scope: &Scope<'_>, index: &Index) -> Part {
    let mut ways: SmallVec<[Path; 1]> = smallvec![Path::new()];
    for place in &places(index) {
        let alongs = match alongs(scope, place) {
            Ok(alongs) => alongs,
            Err(Exp::Var(var)) => return Part::Unknown(Some(*var)),
            Err(_) => return Part::Unknown(None),
        };
        if let [along] = &alongs[..] {
            ways.iter_mut().for_each(|way| way.push(along.clone()));
            continue;
        }
        let with = |way: &Path, along: &Along| way.iter().chain([along]).cloned().collect();
        ways = ways.iter().flat_map(|way| alongs.iter().map(move |along| with(way, along))).collect();
        if ways.len() > MOST_PIECES {
            return Part::Unknown(None);
        }
    }
    Part::Index(ways)
}

/// Where an index goes in one dimension, one of several ways; or the expression that has no form.
fn alongs<'a>(scope: &Scope<'_>, place: &Place<&'a Exp>) -> Result<SmallVec<[Along; 1]>, &'a Exp> {
    let form = |exp: &'a Exp| scope.form(exp).ok_or(exp);
    let mut starts: SmallVec<[Form; 1]> = SmallVec::new();
    match place.start {
        None => starts.push(Form::default()),
        Some(start) => match (form(start), place.is_complete()) {
            (Ok(form), _) => starts.push(form),
            (Err(exp), false) => return Err(exp),
            (Err(exp), true) => {
                starts.extend(scope.pieces(exp).ok_or(exp)?.into_iter().map(|(_, form)| form))
            }
        },
    }
    let mut open = Vec::new();
    for dim in &place.open {
        let count = dim.count.map(form).transpose()?;
        let step = dim
            .factors
            .iter()
            .copied()
            .try_fold(Form::constant(1), |step, factor| step.product(&form(factor)?).ok_or(factor))?;
        open.push((count, step));
    }
    Ok(starts.into_iter().map(|start| Along { start, open: open.clone() }).collect())
}
