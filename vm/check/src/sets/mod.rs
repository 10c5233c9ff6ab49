//! Memory by sets of cells: fast, whatever the number of elements, and sure of its yes only.
//!
//! Every value of an array has a list of the sets of cells where something else was written since it was made. A write
//! adds its set to the lists of all other values in that memory, and takes what it covers from the list of the value that
//! it is for. A read must not meet a set of its value's list. The iterations of a kernel are gone through at once: sets
//! move with its variables, which are the same for all that one iteration does; between different ones, nothing that is
//! written may meet anything else. Sets of accesses are never too small, and sets that are covered are never too large.

mod set;

use crate::form::Form;
use crate::store::{Fault, LONG, Piece, Step, Stop, Store};
use crate::view::{Change, Changed, View, Way};
use galopvm_kir::VarId;
use galopvm_lmad::{Dim, Dims};
use set::Set;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::{Rc, Weak};

/// Sets of one value's list; with more, all of it counts as lost.
const MOST_SETS: usize = 24;

struct Block {
    /// Its memory: which it is, and in how many kernels it is made. Each strand of these has its own.
    memory: usize,
    depth: usize,
    base: i64,
    /// Cells of an element.
    width: i64,
    elements: i64,
    held: bool,
}

/// What became of a value.
#[derive(Clone, Debug)]
struct State {
    /// Where all of it is.
    extent: Set,
    /// Where something else was written.
    lost: Vec<Set>,
    /// All of it may be something else.
    all_lost: bool,
    /// No element has a value yet.
    is_blank: bool,
}

type Value = Rc<RefCell<State>>;

/// One place where an array may be, with the value that it is there.
#[derive(Clone)]
struct Member {
    value: Value,
    block: usize,
    view: View,
}

/// An array: if exact, one of its members; if not, a part of one.
#[derive(Clone)]
pub(crate) struct Array {
    members: Vec<Member>,
    exact: bool,
}

impl Array {
    fn one(value: Value, block: usize, view: View, exact: bool) -> Array {
        Array { members: vec![Member { value, block, view }], exact }
    }
}

/// What strands do.
#[derive(Clone, PartialEq, Debug)]
struct Access {
    set: Set,
    /// In how many kernels the memory is made.
    depth: usize,
    write: bool,
    strand: u32,
}

/// A kernel that is under way.
struct Kernel {
    strand: u32,
    accesses: Vec<Access>,
}

/// Values as they were.
type Snapshot = Vec<(Value, State)>;

struct Fork {
    before: Snapshot,
    first: Snapshot,
}

/// Memory by sets.
pub(crate) struct Sets {
    blocks: Vec<Block>,
    memories: usize,
    /// By number of a memory that blocks share: which it is. Its cells are bytes.
    shared: HashMap<u32, usize>,
    /// By memory.
    values: Vec<Vec<Weak<RefCell<State>>>>,
    /// Of all swept variables.
    counts: Vec<i64>,
    /// The swept variables that are open, and whether their iterations are strands.
    open: Vec<(u32, bool)>,
    kernels: Vec<Kernel>,
    forks: Vec<Fork>,
    /// Questions that are left.
    left: u32,
}

const UNSURE: &str = "sets of places that may meet";
const OVERFLOW: &str = "a place that is no number";

impl Sets {
    /// A memory that asks so many questions.
    pub fn new(questions: u32) -> Sets {
        Sets {
            blocks: Vec::new(),
            memories: 0,
            shared: HashMap::new(),
            values: Vec::new(),
            counts: Vec::new(),
            open: Vec::new(),
            kernels: Vec::new(),
            forks: Vec::new(),
            left: questions,
        }
    }

    fn count(&mut self, questions: usize) -> Step<()> {
        let questions = u32::try_from(questions).unwrap_or(u32::MAX);
        self.left = self.left.checked_sub(questions).ok_or(Stop::TooLarge(LONG))?;
        Ok(())
    }

    /// The cells of a view of a block.
    fn set(&self, block: usize, view: &View) -> Step<Set> {
        let Block { memory, base, width, .. } = self.blocks[block];
        let offset = Form::number(base).plus(&view.offset, width).ok_or(Stop::TooLarge(OVERFLOW))?;
        let mut dims = Dims::new();
        for dim in &view.dims {
            let stride = dim.stride.checked_mul(width).ok_or(Stop::TooLarge(OVERFLOW))?;
            dims.push(Dim::new(dim.size, stride));
        }
        if width > 1 {
            dims.push(Dim::new(width, 1));
        }
        Ok(Set { memory, offset, dims })
    }

    fn member_set(&self, member: &Member) -> Step<Set> {
        self.set(member.block, &member.view)
    }

    fn value(&mut self, extent: Set, lost: Vec<Set>, is_blank: bool) -> Value {
        let value = Rc::new(RefCell::new(State { extent, lost, all_lost: false, is_blank }));
        let memory = value.borrow().extent.memory;
        if self.values.len() <= memory {
            self.values.resize_with(memory + 1, Vec::new);
        }
        self.values[memory].push(Rc::downgrade(&value));
        value
    }

    fn living(&self) -> Vec<Value> {
        self.values.iter().flatten().filter_map(Weak::upgrade).collect()
    }

    /// A set is written, for a value or for none.
    fn spoil(&mut self, set: &Set, of: Option<&Value>) -> Step<()> {
        let Some(values) = self.values.get_mut(set.memory) else { return Ok(()) };
        // Values that nobody names any more are forgotten.
        values.retain(|value| value.strong_count() > 0);
        let values: Vec<Value> = values.iter().filter_map(Weak::upgrade).collect();
        for value in values {
            if of.is_some_and(|of| Rc::ptr_eq(of, &value)) {
                continue;
            }
            self.count(1)?;
            let mut state = value.borrow_mut();
            if !state.extent.is_apart(set, &self.counts) {
                lose(&mut state, set);
            }
        }
        Ok(())
    }

    /// A strand does something with memory that others of its kernel may use.
    fn access(&mut self, set: &Set, depth: usize, write: bool) {
        if depth >= self.kernels.len() {
            return;
        }
        if let Some(kernel) = self.kernels.last_mut() {
            let access = Access { set: set.clone(), depth, write, strand: kernel.strand };
            if !kernel.accesses.iter().rev().take(16).any(|other| *other == access) {
                kernel.accesses.push(access);
            }
        }
    }

    /// A set is written for a value, which it gives all elements in the set if `covers`.
    fn write(&mut self, set: &Set, (of, block): (&Value, usize), covers: bool) -> Step<()> {
        self.count(1)?;
        self.spoil(set, Some(of))?;
        self.access(set, self.blocks[block].depth, true);
        if covers {
            self.restore(set, of)?;
        }
        of.borrow_mut().is_blank = false;
        Ok(())
    }

    /// The elements of a value that are in a set are there.
    fn restore(&mut self, set: &Set, of: &Value) -> Step<()> {
        let mut state = of.borrow_mut();
        self.count(state.lost.len())?;
        state.lost.retain(|lost| !lost.is_inside(set, &self.counts));
        Ok(())
    }

    /// A snapshot of all values.
    fn snapshot(&self) -> Snapshot {
        self.living().into_iter().map(|value| (value.clone(), value.borrow().clone())).collect()
    }

    /// Whether a view is inside its block in all iterations.
    fn fits(&self, block: usize, view: &View) -> bool {
        let set = Set { memory: 0, offset: view.offset.clone(), dims: Dims::from_slice(&view.dims) };
        let (low, high) = set.bounds(&self.counts);
        set.is_empty() || low >= 0 && high < i128::from(self.blocks[block].elements)
    }

    fn inside(&self, block: usize, view: &View) -> Step<()> {
        if self.fits(block, view) { Ok(()) } else { Err(Stop::TooLarge("a place outside its block")) }
    }

    /// A change whose indices are inside in all iterations: one that is not may be any. Where it is outside, the program
    /// ends.
    fn clipped(&self, change: &Change, view: &View) -> Change {
        let Change::Index(ways) = change else { return change.clone() };
        let inside = |start: &Form, count: i64, step: i64, size: i64| {
            let set =
                Set { memory: 0, offset: start.clone(), dims: Dims::from_slice(&[Dim::new(count, step)]) };
            let (low, high) = set.bounds(&self.counts);
            start.as_number().is_some() || low >= 0 && high < i128::from(size)
        };
        let clip = |(way, dim): (&Way, &Dim)| match way {
            Way::At(at) if !inside(at, 1, 0, dim.size) => Way::Some,
            Way::Slice { start, count, step } if !inside(start, *count, *step, dim.size) => Way::Some,
            way => way.clone(),
        };
        Change::Index(ways.iter().zip(&view.dims).map(clip).collect())
    }

    fn held(&self, block: usize, set: &Set) -> Step<()> {
        match self.blocks[block].held && !set.is_empty() {
            true => Err(Stop::Refused(Fault::Held)),
            false => Ok(()),
        }
    }
}

/// Something else is written in a set.
fn lose(state: &mut State, set: &Set) {
    if state.all_lost || state.lost.contains(set) {
        return;
    }
    state.lost.push(set.clone());
    if state.lost.len() > MOST_SETS {
        state.all_lost = true;
        state.lost.clear();
    }
}

impl Store for Sets {
    type Array = Array;
    type Mark = ();
    const SWEEPS: bool = true;

    fn at(&mut self, _: VarId) {}

    fn once_more(&mut self) -> Step<()> {
        self.count(1)
    }

    fn block(&mut self, elements: Option<i64>, bytes: usize, piece: Piece, held: bool) -> Step<usize> {
        self.count(1)?;
        let elements = elements.unwrap_or(1).max(0);
        let block = match piece {
            Piece::Own => {
                self.memories += 1;
                Block { memory: self.memories, depth: self.kernels.len(), base: 0, width: 1, elements, held }
            }
            Piece::Of(other) => {
                let Block { memory, depth, base, width, elements: had, .. } = self.blocks[other];
                if had != elements {
                    return Err(Stop::Refused(Fault::Outside { elements: had }));
                }
                Block { memory, depth, base, width, elements, held }
            }
            Piece::At(number, base) => {
                let next = self.memories + 1;
                let memory = *self.shared.entry(number).or_insert(next);
                self.memories = self.memories.max(memory);
                Block { memory, depth: 0, base, width: bytes as i64, elements, held }
            }
        };
        self.blocks.push(block);
        let number = self.blocks.len() - 1;
        if !matches!(piece, Piece::Own) {
            let view = View::row_major(&[elements]).ok_or(Stop::TooLarge(OVERFLOW))?;
            let set = self.set(number, &view)?;
            self.spoil(&set, None)?;
        }
        Ok(number)
    }

    fn is_held(&self, block: usize) -> bool {
        self.blocks[block].held
    }

    fn received(&mut self, block: usize, view: View) -> Step<Array> {
        self.inside(block, &view)?;
        let extent = self.set(block, &view)?;
        let value = self.value(extent, Vec::new(), false);
        Ok(Array::one(value, block, view, true))
    }

    fn empty(&mut self, block: usize, view: View, exact: bool) -> Step<Array> {
        self.count(1)?;
        self.inside(block, &view)?;
        let extent = self.set(block, &view)?;
        let value = self.value(extent, Vec::new(), true);
        Ok(Array::one(value, block, view, exact))
    }

    fn updated(&mut self, of: &Array) -> Step<Array> {
        let [member] = &of.members[..] else { return Err(Stop::TooLarge(UNSURE)) };
        self.count(1)?;
        let state = member.value.borrow().clone();
        if state.all_lost && !state.is_blank {
            return Err(Stop::TooLarge(UNSURE));
        }
        let extent = self.member_set(member)?;
        let lost = if state.is_blank { Vec::new() } else { state.lost };
        let value = self.value(extent, lost, state.is_blank);
        Ok(Array::one(value, member.block, member.view.clone(), of.exact))
    }

    fn changed(&mut self, of: &Array, change: &Change) -> Result<Option<Array>, Option<Stop>> {
        if !of.exact {
            return Ok(Some(of.clone()));
        }
        self.count(1).map_err(Some)?;
        let (mut members, mut exact) = (Vec::new(), true);
        for member in &of.members {
            let view = match member.view.change(&self.clipped(change, &member.view)) {
                Changed::View(view) => view,
                Changed::Within(view) => {
                    exact = false;
                    view
                }
                Changed::Outside => return Err(None),
                Changed::No => return Ok(None),
            };
            members.push(Member { view, ..member.clone() });
        }
        Ok(Some(Array { members, exact }))
    }

    fn one_of(&mut self, all: &[Array]) -> Array {
        Array { members: all.iter().flat_map(|array| array.members.iter().cloned()).collect(), exact: false }
    }

    fn shape(&self, array: &Array) -> Option<Vec<i64>> {
        let first = array.members.first()?;
        array.exact.then(|| first.view.dims.iter().map(|dim| dim.size).collect())
    }

    fn place(&self, array: &Array) -> Option<(usize, View)> {
        match &array.members[..] {
            [member] if array.exact => Some((member.block, member.view.clone())),
            _ => None,
        }
    }

    fn blocks(&self, array: &Array) -> Vec<usize> {
        array.members.iter().filter(|member| !member.view.is_empty()).map(|member| member.block).collect()
    }

    fn read(&mut self, array: &Array, _: VarId) -> Step<Option<()>> {
        for member in &array.members {
            let set = self.member_set(member)?;
            let state = member.value.borrow();
            if set.is_empty() || state.is_blank {
                continue;
            }
            self.count(1 + state.lost.len())?;
            if state.all_lost || !state.lost.iter().all(|lost| lost.is_apart(&set, &self.counts)) {
                return Err(Stop::TooLarge(UNSURE));
            }
            let depth = self.blocks[member.block].depth;
            drop(state);
            self.access(&set, depth, false);
        }
        Ok(None)
    }

    fn assign(&mut self, array: &Array, _: Option<()>, certain: bool) -> Step<()> {
        let [member] = &array.members[..] else { return Err(Stop::TooLarge(UNSURE)) };
        let set = self.member_set(member)?;
        self.held(member.block, &set)?;
        self.write(&set, (&member.value, member.block), certain || array.exact)
    }

    fn copy(&mut self, (from, name): (&Array, VarId), to: &Array, certain: bool) -> Step<()> {
        let [target] = &to.members[..] else { return Err(Stop::TooLarge(UNSURE)) };
        let target = target.clone();
        let set = self.member_set(&target)?;
        if let ([source], true, true) = (&from.members[..], from.exact, to.exact)
            && source.block == target.block
            && source.view.is(&target.view)
        {
            // It is there: what is lost of it there is lost of the target.
            self.restore(&set, &target.value)?;
            let state = source.value.borrow().clone();
            if state.is_blank {
                return Ok(());
            }
            if state.all_lost {
                return Err(Stop::TooLarge(UNSURE));
            }
            self.count(state.lost.len())?;
            let mut target = target.value.borrow_mut();
            for lost in state.lost.iter().filter(|lost| !lost.is_apart(&set, &self.counts)) {
                lose(&mut target, lost);
            }
            target.is_blank = false;
            return Ok(());
        }
        self.held(target.block, &set)?;
        self.read(from, name)?;
        // Elements are copied in any order.
        for member in &from.members {
            self.count(1)?;
            if !self.member_set(member)?.is_apart(&set, &self.counts) {
                return Err(Stop::TooLarge(UNSURE));
            }
        }
        self.write(&set, (&target.value, target.block), certain || to.exact)
    }

    fn begin(&mut self) {
        self.kernels.push(Kernel { strand: 0, accesses: Vec::new() });
    }

    fn strand(&mut self, number: u32) {
        if let Some(kernel) = self.kernels.last_mut() {
            kernel.strand = number;
        }
    }

    fn end(&mut self) -> Step<()> {
        let Some(Kernel { accesses, .. }) = self.kernels.pop() else { return Ok(()) };
        for write in accesses.iter().filter(|access| access.write) {
            for other in accesses.iter().filter(|other| other.strand != write.strand) {
                self.count(1)?;
                if !write.set.is_apart(&other.set, &self.counts) {
                    return Err(Stop::TooLarge(UNSURE));
                }
            }
        }
        accesses.iter().for_each(|access| self.access(&access.set, access.depth, access.write));
        Ok(())
    }

    fn open(&mut self, count: i64, strands: bool) -> u32 {
        self.counts.push(count);
        let axis = (self.counts.len() - 1) as u32;
        self.open.push((axis, strands));
        axis
    }

    fn close(&mut self) -> Step<()> {
        let Some((axis, strands)) = self.open.pop() else { return Ok(()) };
        if let Some(kernel) = self.kernels.last() {
            let accesses = kernel.accesses.clone();
            if strands {
                for (k, write) in accesses.iter().enumerate().filter(|(_, access)| access.write) {
                    // Two writes are asked about once.
                    let others = accesses.iter().enumerate().filter(|(at, other)| !other.write || *at >= k);
                    for (_, other) in others.filter(|(_, other)| other.strand == write.strand) {
                        self.count(1)?;
                        if !write.set.is_apart_across(&other.set, &self.counts, axis) {
                            return Err(Stop::TooLarge(UNSURE));
                        }
                    }
                }
            }
        }
        let counts = &self.counts;
        if let Some(kernel) = self.kernels.last_mut() {
            kernel.accesses.iter_mut().for_each(|access| access.set.swept(axis, counts));
        }
        for value in self.living() {
            let mut state = value.borrow_mut();
            state.extent.swept(axis, &self.counts);
            state.lost.iter_mut().for_each(|set| set.swept(axis, &self.counts));
        }
        Ok(())
    }

    fn fork(&mut self) {
        let before = self.snapshot();
        self.forks.push(Fork { before, first: Vec::new() });
    }

    fn otherwise(&mut self) {
        let first = self.snapshot();
        let Some(fork) = self.forks.last_mut() else { return };
        for (value, state) in &fork.before {
            *value.borrow_mut() = state.clone();
        }
        fork.first = first;
    }

    fn join(&mut self) -> Step<u32> {
        let Some(Fork { before, first }) = self.forks.pop() else { return Ok(0) };
        self.count(before.len() + first.len())?;
        for (value, state) in first {
            let was_there = before.iter().any(|(other, _)| Rc::ptr_eq(other, &value));
            let mut now = value.borrow_mut();
            if !was_there {
                // The other side knows nothing of it.
                *now = state;
                continue;
            }
            now.is_blank &= state.is_blank;
            state.lost.iter().for_each(|set| lose(&mut now, set));
            if state.all_lost {
                now.all_lost = true;
            }
        }
        Ok(0)
    }

    fn either(&mut self, _: u32, then: &Array, otherwise: &Array) -> Step<Array> {
        let exact = then.exact && otherwise.exact && self.shape(then) == self.shape(otherwise);
        if let (true, [a], [b]) = (exact, &then.members[..], &otherwise.members[..])
            && a.block == b.block
            && a.view.is(&b.view)
        {
            if Rc::ptr_eq(&a.value, &b.value) {
                return Ok(then.clone());
            }
            let extent = self.member_set(a)?;
            let (a_state, b_state) = (a.value.borrow().clone(), b.value.borrow().clone());
            let mut state = State { extent: extent.clone(), ..a_state };
            b_state.lost.iter().for_each(|set| lose(&mut state, set));
            let value = self.value(extent, state.lost, state.is_blank && b_state.is_blank);
            value.borrow_mut().all_lost = state.all_lost || b_state.all_lost;
            return Ok(Array::one(value, a.block, a.view.clone(), true));
        }
        let members = then.members.iter().chain(&otherwise.members).cloned().collect();
        Ok(Array { members, exact })
    }

    fn kept(&mut self, of: &Array) -> Step<Array> {
        let [member] = &of.members[..] else { return Err(Stop::TooLarge(UNSURE)) };
        let state = member.value.borrow();
        if state.all_lost && !state.is_blank || !of.exact {
            return Err(Stop::TooLarge(UNSURE));
        }
        let lost = if state.is_blank { Vec::new() } else { state.lost.clone() };
        let extent = self.member_set(member)?;
        // No write knows of it.
        let value = Rc::new(RefCell::new(State { extent, lost, all_lost: false, is_blank: false }));
        Ok(Array::one(value, member.block, member.view.clone(), true))
    }

    fn is_kept(&self, next: &Array, kept: &Array) -> bool {
        let ([next], [kept]) = (&next.members[..], &kept.members[..]) else { return false };
        let (state, first) = (next.value.borrow(), kept.value.borrow());
        let lies = next.block == kept.block && next.view.is(&kept.view);
        lies && !state.all_lost && state.lost.iter().all(|set| first.lost.contains(set))
    }

    fn accesses(&self) -> usize {
        self.kernels.last().map_or(0, |kernel| kernel.accesses.len())
    }

    fn forget(&mut self, accesses: usize) {
        if let Some(kernel) = self.kernels.last_mut() {
            kernel.accesses.truncate(accesses);
        }
    }

    fn now(&self) -> (usize, usize) {
        (0, 0)
    }

    fn state(&mut self, _: (usize, usize), _: &[&Array]) -> Step<Option<Vec<u64>>> {
        Ok(None)
    }
}
