//! The walk over a region: names, bodies, and the blocks that their arrays lie in.
//!
//! - `scalars.rs`: expressions and indices. `statement.rs`: statements without bodies. `control.rs`: kernels, loops,
//!   branches.

use crate::decisions::{Affine, Decisions, Home, Memory};
use crate::form::Form;
use crate::store::{Fault, Piece, Step, Stop, Store};
use crate::view::View;
use galopvm_base::{Scalar, TypedId};
use galopvm_kir::{Body, CheckedRegion, Exp, Observed, ObservedParam, Region, VarId};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// What is not known of an array.
pub(crate) const UNSIZED: &str = "an array whose size is not known";

/// What a name stands for.
pub(crate) enum Bound<S: Store> {
    /// Nothing yet.
    Nothing,
    /// A scalar.
    Number(Scalar),
    /// An `i64` that moves with swept variables.
    Moving(Form),
    /// A scalar that nobody knows; perhaps which element it is.
    Unknown(Option<S::Mark>),
    /// An array.
    Array(S::Array),
}

impl<S: Store> Clone for Bound<S> {
    fn clone(&self) -> Bound<S> {
        match self {
            Bound::Nothing => Bound::Nothing,
            Bound::Number(value) => Bound::Number(*value),
            Bound::Moving(form) => Bound::Moving(form.clone()),
            Bound::Unknown(mark) => Bound::Unknown(*mark),
            Bound::Array(array) => Bound::Array(array.clone()),
        }
    }
}

/// A walk.
pub(crate) struct Walk<'a, S: Store> {
    pub region: &'a Region,
    pub decisions: &'a Decisions,
    pub store: S,
    /// By name.
    pub names: Vec<Bound<S>>,
    /// By name: the block that is made for it, in this execution of its body.
    blocks: Vec<Option<usize>>,
    /// By name: whether its block is still to be made, by the first array in it, because of a size that was not known when
    /// the body began.
    owed: Vec<bool>,
    /// By name: whether other arrays lie in its block.
    targets: Vec<bool>,
    /// The blocks in shared memory.
    shared: HashSet<usize>,
    /// The pieces of memory of arrays that take several in turn, the next one first.
    turns: HashMap<VarId, Vec<usize>>,
    /// The iterations around, for people.
    pub around: Vec<(VarId, Option<i64>)>,
    statement: Option<VarId>,
    /// Sides of branches around that this iteration may never come to.
    pub sides: u32,
    /// Kernels around.
    pub kernels: u32,
    /// Whether rounds of loops outside kernels are gone through at once as well, if what is carried stays in its place.
    pub at_once: bool,
    /// The first place outside of its block, in words. Nothing is made there: whoever executes the region finds that it does not
    /// fit, and makes the array elsewhere. So it is wrong only if the program goes on to the end, and does not end where the
    /// array would have been copied there.
    outside: Option<String>,
}

/// Refuses for a reason in words.
pub(crate) fn refuse<T>(words: String) -> Step<T> {
    Err(Stop::Refused(Fault::Said(words)))
}

/// What happened to a region.
pub(crate) enum End {
    Proved,
    TooLarge(&'static str),
    Refused(String),
}

/// Goes through a region.
pub(crate) fn walk<S: Store>(
    region: &CheckedRegion,
    observed: &Observed,
    decisions: &Decisions,
    store: S,
    at_once: bool,
) -> End {
    let region = region.region();
    let count = region.vars.len();
    let mut targets = vec![false; count];
    for (var, home) in &decisions.homes {
        if home.block != *var
            && let Some(target) = targets.get_mut(home.block.index())
        {
            *target = true;
        }
    }
    let mut names = Vec::new();
    names.resize_with(count, || Bound::Nothing);
    let mut walk = Walk {
        region,
        decisions,
        store,
        names,
        blocks: vec![None; count],
        owed: vec![false; count],
        targets,
        shared: HashSet::new(),
        turns: HashMap::new(),
        around: Vec::new(),
        statement: None,
        sides: 0,
        kernels: 0,
        at_once,
        outside: None,
    };
    match walk.all(observed) {
        Ok(()) => walk.outside.map_or(End::Proved, End::Refused),
        Err(Stop::TooLarge(what)) => End::TooLarge(what),
        Err(Stop::Refused(_)) if S::SWEEPS && walk.sides > 0 => End::TooLarge("a side of a branch"),
        Err(Stop::Refused(fault)) => End::Refused(walk.text(&fault)),
    }
}

impl<'a, S: Store> Walk<'a, S> {
    fn all(&mut self, observed: &Observed) -> Step<()> {
        self.arguments(observed)?;
        let body = &self.region.body;
        self.body(body)?;
        // A region without results gives what its last statement defines.
        let last = body.stms.last().map_or(&[][..], |stm| &stm.pat);
        if let Some(var) = last.first() {
            self.begins(*var);
        }
        let results = body.results.iter().filter_map(|exp| match exp {
            Exp::Var(var) => Some(*var),
            _ => None,
        });
        let results: Vec<VarId> = match body.results.is_empty() {
            true => last.to_vec(),
            false => results.collect(),
        };
        for var in results {
            if let Bound::Array(array) = self.names[var.index()].clone() {
                self.store.read(&array, var)?;
                let is_shared = |block: &usize| self.shared.contains(block);
                if self.decisions.comes_again && self.store.blocks(&array).iter().any(is_shared) {
                    return refuse(format!(
                        "the result `{}` is in memory that is used again while it is needed",
                        self.name(var)
                    ));
                }
            }
        }
        Ok(())
    }

    /// The parameters. What was not observed is held by others.
    fn arguments(&mut self, observed: &Observed) -> Step<()> {
        let mut blocks: HashMap<u32, usize> = HashMap::new();
        let seen = |number: u32| {
            observed.params.iter().filter_map(move |param| match param {
                ObservedParam::Array { block, references, .. } if *block == number => Some(*references),
                _ => None,
            })
        };
        for (k, var) in self.region.params.iter().enumerate() {
            self.begins(*var);
            match observed.params.get(k) {
                Some(ObservedParam::Scalar(value)) => self.names[var.index()] = Bound::Number(*value),
                Some(ObservedParam::Array { lmad, block, block_elements, .. }) => {
                    let held = seen(*block).any(|references| references != 1);
                    let at = match blocks.get(block) {
                        Some(at) => *at,
                        None => self.store.block(Some(*block_elements), 1, Piece::Own, held)?,
                    };
                    blocks.insert(*block, at);
                    self.blocks[var.index()] = Some(at);
                    let array = self.store.received(at, View::of(lmad))?;
                    self.names[var.index()] = Bound::Array(array);
                }
                None => {
                    let is_scalar = self.region.vars[*var].ty.as_ref().is_none_or(|ty| ty.is_scalar());
                    if is_scalar {
                        self.names[var.index()] = Bound::Unknown(None);
                        continue;
                    }
                    let view = self.shape(*var).and_then(|shape| View::row_major(&shape));
                    let view = view.ok_or(Stop::TooLarge("a parameter of unknown size"))?;
                    let at = self.store.block(view.elements(), 1, Piece::Own, true)?;
                    self.blocks[var.index()] = Some(at);
                    let array = self.store.received(at, view)?;
                    self.names[var.index()] = Bound::Array(array);
                }
            }
        }
        Ok(())
    }

    /// A statement begins that defines this name first.
    pub fn begins(&mut self, var: VarId) {
        self.statement = Some(var);
        self.store.at(var);
    }

    /// The statements of a body, whose names and blocks are new.
    pub fn body(&mut self, body: &'a Body) -> Step<()> {
        self.store.once_more()?;
        let vars = || body.stms.iter().flat_map(|stm| &stm.pat);
        for var in vars() {
            self.names[var.index()] = Bound::Nothing;
            self.blocks[var.index()] = None;
        }
        for var in vars() {
            if self.targets[var.index()]
                && self.decisions.homes.get(var).is_none_or(|home| home.block == *var)
            {
                match self.shape(*var) {
                    Some(_) => drop(self.new_block(*var)?),
                    None => self.owed[var.index()] = true,
                }
            }
        }
        body.stms.iter().try_for_each(|stm| self.statement(stm))?;
        vars().for_each(|var| self.owed[var.index()] = false);
        Ok(())
    }

    pub fn is_array(&self, var: VarId) -> bool {
        self.region.vars[var].ty.as_ref().is_some_and(|ty| !ty.is_scalar())
    }

    /// The extents of an array, if they are known here.
    pub fn shape(&self, var: VarId) -> Option<Vec<i64>> {
        let ty = self.region.vars[var].ty.as_ref()?;
        ty.shape.iter().map(|extent| self.number(extent).map(|size| size.max(0))).collect()
    }

    /// Whether an array has these extents. An analysis may know some that are not known here.
    fn has_shape(&self, var: VarId, sizes: &[i64]) -> Step<bool> {
        self.shape(var).map(|shape| shape == sizes).ok_or(Stop::TooLarge(UNSIZED))
    }

    /// A new block for an array.
    fn new_block(&mut self, var: VarId) -> Step<usize> {
        let shape = self.shape(var);
        let elements = shape.and_then(|shape| View::row_major(&shape)).map(|view| view.elements());
        let elements = match elements {
            Some(None) => return Err(Stop::TooLarge("a block of too many elements")),
            Some(elements) => elements,
            None => None,
        };
        let bytes = self.region.vars[var].ty.as_ref().map_or(1, |ty| ty.elem.bytes());
        let piece = match self.decisions.memory.get(&var) {
            Some(_) if elements.is_none() => return Err(Stop::TooLarge(UNSIZED)),
            Some(Memory::At { memory, first }) => Piece::At(*memory, *first),
            Some(Memory::InTurn(count)) => {
                let turn = self.turns.entry(var).or_default();
                if turn.len() >= *count as usize && !turn.is_empty() {
                    turn.rotate_left(1);
                    Piece::Of(turn[turn.len() - 1])
                } else {
                    Piece::Own
                }
            }
            None => Piece::Own,
        };
        let block = self.store.block(elements, bytes, piece, false)?;
        if let Piece::At(..) = piece {
            self.shared.insert(block);
        }
        if let (Some(turn), Piece::Own) = (self.turns.get_mut(&var), piece) {
            turn.push(block);
        }
        self.blocks[var.index()] = Some(block);
        self.owed[var.index()] = false;
        Ok(block)
    }

    /// The numbers of a home here.
    fn view(&self, home: &Home) -> Step<View> {
        let value = |affine: &Affine| {
            affine.terms.iter().try_fold(Form::number(affine.constant), |sum, (var, by)| {
                let value = match &self.names[var.index()] {
                    Bound::Number(value) => Form::number(value.as_i64()),
                    Bound::Moving(form) => form.clone(),
                    _ => return None,
                };
                sum.plus(&value, *by)
            })
        };
        let unknown = || Stop::TooLarge("a place that is no number");
        let offset = value(&home.offset).ok_or_else(unknown)?;
        let mut dims = galopvm_lmad::Dims::new();
        for (size, stride) in &home.dims {
            let number = |affine| value(affine).and_then(|form| form.as_number());
            let (size, stride) = number(size).zip(number(stride)).ok_or_else(unknown)?;
            dims.push(galopvm_lmad::Dim::new(size.max(0), stride));
        }
        Ok(View { offset, dims })
    }

    /// The place that is decided for an array, if its block exists.
    pub fn planned(&self, var: VarId) -> Step<Option<(usize, View)>> {
        let Some(home) = self.decisions.homes.get(&var) else { return Ok(None) };
        let Some(block) = self.blocks[home.block.index()] else { return Ok(None) };
        Ok(Some((block, self.view(home)?)))
    }

    /// Whether other arrays lie in the block of an array.
    pub fn has_others(&self, var: VarId) -> bool {
        self.targets[var.index()]
    }

    /// Whether something else than a block of its own is decided for an array.
    pub fn is_moved(&self, var: VarId) -> bool {
        self.decisions.homes.get(&var).is_some_and(|home| home.block != var)
    }

    /// A new array, whose elements are still to be given, and whether its size is known. `order` is that of its axes in a
    /// block of its own.
    pub fn make(&mut self, var: VarId, order: Option<&[usize]>) -> Step<(S::Array, bool)> {
        let is_moved = self.is_moved(var);
        if let Some(home) = self.decisions.homes.get(&var)
            && home.block != var
            && self.owed[home.block.index()]
            && self.shape(home.block).is_some()
        {
            self.new_block(home.block)?;
        }
        if !is_moved && (self.blocks[var.index()].is_none() || !self.targets[var.index()]) {
            self.new_block(var)?;
        }
        if let Some((block, view)) = self.planned(var)? {
            let sizes: Vec<i64> = view.dims.iter().map(|dim| dim.size).collect();
            if !self.has_shape(var, &sizes)? {
                return refuse(format!(
                    "the place of `{}` has the shape {sizes:?}, the array another one",
                    self.name(var)
                ));
            }
            if self.store.is_held(block) && !view.is_empty() {
                return Err(Stop::Refused(Fault::Held));
            }
            match self.store.empty(block, view, true) {
                Err(Stop::Refused(fault @ Fault::Outside { .. })) => {
                    self.note_outside(&fault);
                    return self.fresh(var);
                }
                made => return Ok((made?, true)),
            }
        }
        if let Some(home) = self.decisions.homes.get(&var).filter(|home| home.block != var) {
            // It may be there already for whoever knows its size.
            if self.shape(home.block).is_none() {
                return Err(Stop::TooLarge(UNSIZED));
            }
            return refuse(format!("`{}` is made before its block", self.name(var)));
        }
        self.in_own_block(var, self.shape(var), order)
    }

    fn note_outside(&mut self, fault: &Fault) {
        if self.outside.is_none() {
            self.outside = Some(self.text(fault));
        }
    }

    /// A new array in a new block of its own, whatever is decided.
    pub fn fresh(&mut self, var: VarId) -> Step<(S::Array, bool)> {
        self.new_block(var)?;
        self.in_own_block(var, self.shape(var), None)
    }

    fn in_own_block(
        &mut self,
        var: VarId,
        shape: Option<Vec<i64>>,
        order: Option<&[usize]>,
    ) -> Step<(S::Array, bool)> {
        let block = self.blocks[var.index()].ok_or(Stop::TooLarge("a block of unknown size"))?;
        let view = match (&shape, order) {
            (Some(shape), Some(order)) => View::packed(shape, order),
            (Some(shape), None) => View::row_major(shape),
            (None, _) => View::row_major(&[]),
        };
        let view = view.ok_or(Stop::TooLarge("a block of too many elements"))?;
        Ok((self.store.empty(block, view, shape.is_some())?, shape.is_some()))
    }

    /// The result of a kernel takes the block of an array.
    pub fn take_over(&mut self, var: VarId, array: &S::Array) -> Step<(S::Array, bool)> {
        let Some((block, view)) = self.store.place(array) else {
            return Err(Stop::TooLarge("an array is written over that lies nobody knows where"));
        };
        if self.store.is_held(block) {
            return Err(Stop::Refused(Fault::Held));
        }
        if self.targets[var.index()] {
            return refuse(format!("`{}` is written over an array, and others lie in it", self.name(var)));
        }
        let sizes: Vec<i64> = view.dims.iter().map(|dim| dim.size).collect();
        if !self.has_shape(var, &sizes)? {
            return refuse(format!("`{}` is written over an array of another shape", self.name(var)));
        }
        self.blocks[var.index()] = Some(block);
        Ok((self.store.empty(block, view, true)?, true))
    }

    /// Binds a name to an array that is there already. It has to lie where it is decided.
    pub fn bind(&mut self, var: VarId, array: S::Array) -> Step<()> {
        let is_over = |home: &Home| self.decisions.over.contains_key(&home.block);
        if let Some(home) = self.decisions.homes.get(&var)
            && !is_over(home)
            && let Some(block) = self.blocks[home.block.index()]
            && !self.store.is_held(block)
        {
            let view = self.view(home)?;
            match self.store.place(&array) {
                _ if view.is_empty() => {}
                None => return Err(Stop::TooLarge("an array has a place, and lies nobody knows where")),
                Some((at, lies)) if at == block && lies.is(&view) => {}
                Some(_) => match self.store.empty(block, view, true) {
                    // It could not be made there.
                    Err(Stop::Refused(fault @ Fault::Outside { .. })) => self.note_outside(&fault),
                    _ => return refuse(format!("`{}` does not lie in its place", self.name(var))),
                },
            }
        }
        self.names[var.index()] = Bound::Array(array);
        Ok(())
    }

    /// Binds a name to a value.
    pub fn bind_value(&mut self, var: VarId, value: Bound<S>) -> Step<()> {
        match value {
            Bound::Array(array) => self.bind(var, array),
            other => {
                self.names[var.index()] = other;
                Ok(())
            }
        }
    }

    pub fn name(&self, var: VarId) -> &'a str {
        self.region.name_of(var)
    }

    /// What is wrong, in words: `in `x`, i = 3: ..`.
    fn text(&self, fault: &Fault) -> String {
        let mut text = String::new();
        if let Some(var) = self.statement {
            let _ = write!(text, "at `{}`", self.name(var));
        }
        for (var, at) in &self.around {
            match at {
                Some(at) => drop(write!(text, ", {} = {at}", self.name(*var))),
                None => drop(write!(text, ", any {}", self.name(*var))),
            }
        }
        let block = |block: usize| match self.blocks.iter().position(|other| *other == Some(block)) {
            Some(var) => format!("the block of `{}`", self.name(VarId::from_index(var))),
            None => "a block".into(),
        };
        let _ = match fault {
            Fault::Lost { array, element, place: (at, place), found } => {
                let there = match found {
                    Some((var, element)) => format!("element {element} of what `{}` made", self.name(*var)),
                    None => "nothing, or what iterations left in no order".into(),
                };
                let array = self.name(*array);
                let at = block(*at);
                write!(
                    text,
                    ": element {element} of `{array}` should be at place {place} of {at}, where is {there}"
                )
            }
            Fault::Race { array, place: (at, place), changed } => {
                let (array, changed, at) = (self.name(*array), self.name(*changed), block(*at));
                write!(
                    text,
                    ": place {place} of {at} is read as an element of `{array}` and changed by `{changed}` in no order"
                )
            }
            Fault::Held => write!(text, ": a block that others hold would be written"),
            Fault::Outside { elements } => write!(text, ": a place is not among the {elements} of its block"),
            Fault::Said(words) => write!(text, ": {words}"),
        };
        text
    }
}
