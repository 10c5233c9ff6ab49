//! Memory element by element: the truth, where there are not too many.
//!
//! Every element has an identity: new where a statement makes it, copied along by copies. An array is the list of its
//! elements by the meaning, and its place. A read compares: each cell of the place must hold the element that the list
//! names. Strands are gone through one after the other; two accesses of one cell by strands in no order, one of which
//! changes it, mean that some order reads another element, or that nobody knows which element stays.
//!
//! - `identity.rs`: elements. `order.rs`: strands. `memory.rs`: cells.

mod identity;
mod memory;
mod order;

use crate::decisions::{Decisions, Memory as Piecewise};
use crate::store::{Fault, Piece, Step, Stop, Store};
use crate::view::{Change, Changed, View};
use galopvm_base::TypedId;
use galopvm_kir::{Region, VarId};
use galopvm_lmad::{Dim, Dims, Lmad};
use identity::{ANYTHING, Id, LOST};
use memory::Memory;
use std::collections::HashMap;
use std::rc::Rc;

/// A block.
struct Block {
    memory: usize,
    /// Its first cell.
    base: usize,
    /// Cells of an element.
    width: usize,
    elements: i64,
    held: bool,
}

/// Where an array lies.
#[derive(Clone, Debug)]
enum Where {
    /// In a block, so.
    At(usize, Lmad),
    /// In one of two places, by the number of a branch.
    Either(u32, Rc<Where>, Rc<Where>),
}

impl Where {
    fn map(&self, f: &mut dyn FnMut(&Lmad) -> Lmad) -> Where {
        match self {
            Where::At(block, view) => Where::At(*block, f(view)),
            Where::Either(which, a, b) => Where::Either(*which, Rc::new(a.map(f)), Rc::new(b.map(f))),
        }
    }

    fn is(&self, other: &Where) -> bool {
        match (self, other) {
            (Where::At(a, x), Where::At(b, y)) => a == b && View::of(x).is(&View::of(y)),
            (Where::Either(a, x, y), Where::Either(b, v, w)) => a == b && x.is(v) && y.is(w),
            _ => false,
        }
    }
}

/// The elements of an array by the meaning, and where they lie.
#[derive(Clone, Debug)]
struct Member {
    list: usize,
    /// Which of the list.
    view: Lmad,
    lies: Where,
}

/// An array: one member; if not exact, some part of one of several.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    members: Rc<Vec<Member>>,
    exact: bool,
}

impl Array {
    fn one(member: Member, exact: bool) -> Array {
        Array { members: Rc::new(vec![member]), exact }
    }

    /// The only member of an array that is written.
    fn only(&self) -> Step<&Member> {
        match &self.members[..] {
            [member] => Ok(member),
            _ => Err(Stop::TooLarge("an array is written that lies nobody knows where")),
        }
    }
}

/// Memory by cells.
pub(crate) struct Cells {
    memory: Memory,
    blocks: Vec<Block>,
    /// Elements by the meaning.
    lists: Vec<Vec<Id>>,
    /// By block: the list of what was received in it.
    received: HashMap<usize, usize>,
    /// By number of a memory that blocks share: which it is, and the bytes of its cells.
    shared: HashMap<u32, (usize, i64)>,
    grains: HashMap<u32, i64>,
    statement: VarId,
}

/// The places of a view with the elements of a list, pair by pair.
fn pairs(member: &Member) -> impl Iterator<Item = (i64, i64)> + use<> {
    let at = match &member.lies {
        Where::At(_, view) => view.places(),
        Where::Either(..) => Lmad::row_major(&[0]).places(),
    };
    member.view.places().zip(at)
}

impl Cells {
    /// A memory that goes so many steps.
    pub fn new(region: &Region, decisions: &Decisions, steps: u64) -> Cells {
        // The cells of shared memories are as long as all its blocks and elements are multiples of.
        let mut grains: HashMap<u32, i64> = HashMap::new();
        for (var, piece) in &decisions.memory {
            if let Piecewise::At { memory, first } = piece {
                let bytes = region.vars.get(*var).and_then(|var| var.ty.as_ref());
                let bytes = bytes.map_or(1, |ty| ty.elem.bytes() as i64);
                let grain = grains.entry(*memory).or_insert(0);
                *grain = divisor(divisor(*grain, *first), bytes);
            }
        }
        Cells {
            memory: Memory::new(steps),
            blocks: Vec::new(),
            lists: Vec::new(),
            received: HashMap::new(),
            shared: HashMap::new(),
            grains,
            statement: VarId::from_index(0),
        }
    }

    /// The cells of an element of a block.
    fn cell(&self, block: usize, place: i64) -> Step<(usize, usize, u8)> {
        let Block { memory, base, width, elements, .. } = self.blocks[block];
        match usize::try_from(place) {
            Ok(at) if place < elements => Ok((memory, base + at * width, width as u8)),
            _ => Err(Stop::Refused(Fault::Outside { elements })),
        }
    }

    /// What lies at a place of a block.
    fn stored(&mut self, block: usize, place: i64) -> Step<Id> {
        let (memory, first, width) = self.cell(block, place)?;
        Ok(self.memory.whole(memory, first..first + usize::from(width)))
    }

    /// What lies where element `k` of an array should be, which is then read by a name if `wanted` matters.
    fn found(&mut self, lies: &Where, k: usize, wanted: Id, name: VarId) -> Step<Id> {
        match lies {
            Where::At(block, view) => self.found_at(*block, nth(view, k), wanted, name),
            Where::Either(which, a, b) => {
                let (a, b) = (self.found(a, k, wanted, name)?, self.found(b, k, wanted, name)?);
                Ok(self.memory.elements.choice(*which, a, b))
            }
        }
    }

    /// The same for a place of a block.
    fn found_at(&mut self, block: usize, place: i64, wanted: Id, name: VarId) -> Step<Id> {
        let (memory, first, width) = self.cell(block, place)?;
        if wanted != ANYTHING {
            for part in 0..usize::from(width) {
                if let Err(changed) = self.memory.read((memory, first + part), name)? {
                    return Err(Stop::Refused(Fault::Race { array: name, place: (block, place), changed }));
                }
            }
        }
        self.stored(block, place)
    }

    /// Writes an element.
    fn put(&mut self, block: usize, place: i64, id: Id) -> Step<()> {
        if self.blocks[block].held {
            return Err(Stop::Refused(Fault::Held));
        }
        let (memory, first, width) = self.cell(block, place)?;
        for part in 0..width {
            let at = (memory, first + usize::from(part));
            let content = self.memory.elements.part(id, part);
            if let Err(array) = self.memory.write(at, content, self.statement)? {
                let (place, changed) = ((block, place), self.statement);
                return Err(Stop::Refused(Fault::Race { array, place, changed }));
            }
        }
        Ok(())
    }

    fn list(&mut self, count: i64) -> Step<usize> {
        let count = usize::try_from(count).map_err(|_| Stop::TooLarge("too many elements"))?;
        self.memory.count(count as u64)?;
        self.lists.push(vec![ANYTHING; count]);
        Ok(self.lists.len() - 1)
    }

    /// A copy of the elements of a member, in the order of its indices.
    fn listed(&mut self, member: &Member, f: &mut dyn FnMut(&mut Memory, Id) -> Id) -> Step<Member> {
        let list = self.list(member.view.elements())?;
        for (k, at) in member.view.places().enumerate() {
            let id = self.lists[member.list][at as usize];
            self.lists[list][k] = f(&mut self.memory, id);
        }
        Ok(Member { list, view: Lmad::row_major(&member.view.shape()), lies: member.lies.clone() })
    }
}

/// The greatest common divisor.
fn divisor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The place of an index by its number.
fn nth(view: &Lmad, k: usize) -> i64 {
    let (mut place, mut rest) = (view.offset, k as i64);
    for dim in view.dims.iter().rev() {
        let size = dim.size.max(1);
        place = place.wrapping_add((rest % size).wrapping_mul(dim.stride));
        rest /= size;
    }
    place
}

/// The place of the element at some indices of axes, if there is one for each, and all are inside.
fn place_of(offset: i64, axes: &[Dim], index: &[i64]) -> Option<i64> {
    let mut place = offset;
    for (at, axis) in index.iter().zip(axes) {
        place = place.checked_add(at.checked_mul(axis.stride)?)?;
        if !(0..axis.size).contains(at) {
            return None;
        }
    }
    (index.len() == axes.len()).then_some(place)
}

impl Store for Cells {
    type Array = Array;
    type Mark = Id;
    const SWEEPS: bool = false;

    fn at(&mut self, statement: VarId) {
        self.statement = statement;
    }

    fn once_more(&mut self) -> Step<()> {
        self.memory.count(1)
    }

    fn block(&mut self, elements: Option<i64>, bytes: usize, piece: Piece, held: bool) -> Step<usize> {
        let elements = elements.unwrap_or(1).max(0);
        let count = usize::try_from(elements).map_err(|_| Stop::TooLarge("too many elements"))?;
        let large = Stop::TooLarge("too many elements");
        let block = match piece {
            Piece::Own => Block { memory: self.memory.add(count)?, base: 0, width: 1, elements, held },
            Piece::Of(other) => {
                let Block { memory, base, width, elements: had, .. } = self.blocks[other];
                if had != elements {
                    return Err(Stop::Refused(Fault::Outside { elements: had }));
                }
                Block { memory, base, width, elements, held }
            }
            Piece::At(number, first) => {
                let grain = self.grains.get(&number).copied().unwrap_or(1).max(1);
                let memory = match self.shared.get(&number) {
                    Some((memory, _)) => *memory,
                    None => self.memory.add(0)?,
                };
                self.shared.insert(number, (memory, grain));
                let outside = Stop::Refused(Fault::Outside { elements: 0 });
                let base = usize::try_from(first / grain).map_err(|_| outside)?;
                let width = bytes / grain as usize;
                let end = count.checked_mul(width).and_then(|cells| base.checked_add(cells)).ok_or(large)?;
                self.memory.extend(memory, end)?;
                Block { memory, base, width, elements, held }
            }
        };
        let (memory, base, cells) = (block.memory, block.base, count * block.width);
        if !matches!(piece, Piece::Own) {
            self.memory.lose(memory, base, cells)?;
        }
        self.blocks.push(block);
        Ok(self.blocks.len() - 1)
    }

    fn is_held(&self, block: usize) -> bool {
        self.blocks[block].held
    }

    fn received(&mut self, block: usize, view: View) -> Step<Array> {
        let view = view.lmad().ok_or(Stop::TooLarge("a place that is no number"))?;
        let elements = self.blocks[block].elements;
        if !view.fits(elements) {
            return Err(Stop::Refused(Fault::Outside { elements }));
        }
        let list = match self.received.get(&block) {
            Some(list) => *list,
            None => {
                let list = self.list(elements)?;
                for k in 0..elements {
                    let id = self.memory.elements.make(self.statement, k);
                    self.lists[list][k as usize] = id;
                    let (memory, first, _) = self.cell(block, k)?;
                    let written = self.memory.write((memory, first), id, self.statement)?;
                    debug_assert!(written.is_ok(), "nothing is under way");
                }
                self.received.insert(block, list);
                list
            }
        };
        Ok(Array::one(Member { list, view: view.clone(), lies: Where::At(block, view) }, true))
    }

    fn empty(&mut self, block: usize, view: View, exact: bool) -> Step<Array> {
        let view = view.lmad().ok_or(Stop::TooLarge("a place that is no number"))?;
        let elements = self.blocks[block].elements;
        if !view.fits(elements) {
            return Err(Stop::Refused(Fault::Outside { elements }));
        }
        let list = self.list(view.elements())?;
        let of_list = Lmad::row_major(&view.shape());
        Ok(Array::one(Member { list, view: of_list, lies: Where::At(block, view) }, exact))
    }

    fn updated(&mut self, of: &Array) -> Step<Array> {
        let member = of.only()?.clone();
        Ok(Array::one(self.listed(&member, &mut |_, id| id)?, of.exact))
    }

    fn changed(&mut self, of: &Array, change: &Change) -> Result<Option<Array>, Option<Stop>> {
        if !of.exact {
            return Ok(Some(of.clone()));
        }
        let member = of.only().map_err(Some)?;
        let mut exact = true;
        let view = match View::of(&member.view).change(change) {
            Changed::View(view) => view,
            Changed::Within(view) => {
                exact = false;
                view
            }
            Changed::Outside => return Err(None),
            Changed::No => return self.copied_view(member, change).map_err(Some),
        };
        let mut is_view = true;
        let lies = member.lies.map(&mut |lies| match View::of(lies).change(change) {
            Changed::View(view) | Changed::Within(view) => view.lmad().unwrap_or_else(|| lies.clone()),
            Changed::Outside | Changed::No => {
                is_view = false;
                lies.clone()
            }
        });
        let view = view.lmad().ok_or(Some(Stop::TooLarge("a place that is no number")))?;
        Ok(is_view.then(|| Array::one(Member { list: member.list, view, lies }, exact)))
    }

    fn one_of(&mut self, all: &[Array]) -> Array {
        let members = all.iter().flat_map(|array| array.members.iter().cloned()).collect();
        Array { members: Rc::new(members), exact: false }
    }

    fn shape(&self, array: &Array) -> Option<Vec<i64>> {
        let [member] = &array.members[..] else { return None };
        array.exact.then(|| member.view.shape().to_vec())
    }

    fn place(&self, array: &Array) -> Option<(usize, View)> {
        match &array.members[..] {
            [Member { lies: Where::At(block, view), .. }] if array.exact => Some((*block, View::of(view))),
            _ => None,
        }
    }

    fn blocks(&self, array: &Array) -> Vec<usize> {
        let mut blocks = Vec::new();
        for member in array.members.iter().filter(|member| member.view.elements() > 0) {
            let mut open = vec![&member.lies];
            while let Some(lies) = open.pop() {
                match lies {
                    Where::At(block, _) => blocks.push(*block),
                    Where::Either(_, a, b) => open.extend([&**a, &**b]),
                }
            }
        }
        blocks
    }

    fn read(&mut self, array: &Array, name: VarId) -> Step<Option<Id>> {
        let mut last = None;
        let members = array.members.clone();
        for member in members.iter() {
            for (k, at) in member.view.places().enumerate() {
                self.memory.count(1)?;
                let wanted = self.lists[member.list][at as usize];
                let found = self.found(&member.lies, k, wanted, name)?;
                if !self.memory.elements.is(wanted, found) {
                    let (block, place) = match &member.lies {
                        Where::At(block, view) => (*block, nth(view, k)),
                        Where::Either(..) => (usize::MAX, 0),
                    };
                    return Err(self.memory.lost(name, k as i64, block, place, found));
                }
                last = Some(wanted);
            }
        }
        let is_scalar = array.exact && members.len() == 1 && members[0].view.rank() == 0;
        Ok(last.filter(|_| is_scalar))
    }

    fn row(&self, array: &Array, index: &[i64]) -> Option<Array> {
        let [Member { list, view, lies: Where::At(block, lies) }] = &array.members[..] else { return None };
        let row = |of: &Lmad| {
            let (outer, inner) = of.dims.split_at_checked(index.len())?;
            Some(Lmad { offset: place_of(of.offset, outer, index)?, dims: Dims::from_slice(inner) })
        };
        let member = Member { list: *list, view: row(view)?, lies: Where::At(*block, row(lies)?) };
        array.exact.then(|| Array::one(member, true))
    }

    fn element(&mut self, array: &Array, index: &[i64], name: VarId) -> Step<Option<Option<Id>>> {
        let [Member { list, view, lies: Where::At(block, lies) }] = &array.members[..] else {
            return Ok(None);
        };
        let of = |view: &Lmad| place_of(view.offset, &view.dims, index);
        let (Some(at), Some(place)) = (of(view), of(lies)) else { return Ok(None) };
        if !array.exact {
            return Ok(None);
        }
        self.memory.count(1)?;
        let wanted = self.lists[*list][at as usize];
        let found = self.found_at(*block, place, wanted, name)?;
        match self.memory.elements.is(wanted, found) {
            true => Ok(Some(Some(wanted))),
            false => Err(self.memory.lost(name, 0, *block, place, found)),
        }
    }

    fn assign(&mut self, array: &Array, mark: Option<Id>, certain: bool) -> Step<()> {
        let member = array.only()?.clone();
        let Where::At(block, _) = member.lies else {
            return Err(Stop::TooLarge("an array is written that lies nobody knows where"));
        };
        for (k, (at, place)) in pairs(&member).enumerate() {
            self.memory.count(1)?;
            let new = match mark {
                Some(mark) => mark,
                None => self.memory.elements.make(self.statement, k as i64),
            };
            let wanted = std::mem::replace(&mut self.lists[member.list][at as usize], new);
            // What may stay has to be there.
            let stays = array.exact || certain || {
                let there = self.stored(block, place)?;
                self.memory.elements.is(wanted, there)
            };
            self.put(block, place, if stays { new } else { LOST })?;
        }
        Ok(())
    }

    fn copy(&mut self, (from, name): (&Array, VarId), to: &Array, certain: bool) -> Step<()> {
        let shown = |array: &Array| array.members[0].view.elements();
        if !from.exact || !to.exact || shown(from) != shown(to) {
            // Elements of an unknown number are in their places, or they are not.
            if let ([source], [target]) = (&from.members[..], &to.members[..])
                && source.lies.is(&target.lies)
            {
                return Err(Stop::TooLarge("what may be in its place is copied there"));
            }
            self.begin();
            self.strand(0);
            self.read(from, name)?;
            self.strand(1);
            self.assign(to, None, certain || to.exact)?;
            return self.end();
        }
        let (from, to) = (from.only()?.clone(), to.only()?.clone());
        let Where::At(block, _) = to.lies else {
            return Err(Stop::TooLarge("an array is written that lies nobody knows where"));
        };
        // By the meaning, that is: the language does not say which of the elements stays.
        if !to.view.is_injective() {
            return Err(Stop::TooLarge("a place that several elements are copied to"));
        }
        let is_there = from.lies.is(&to.lies);
        self.begin();
        for (k, (at, (of, place))) in from.view.places().zip(pairs(&to)).enumerate() {
            self.memory.count(1)?;
            let wanted = self.lists[from.list][at as usize];
            self.lists[to.list][of as usize] = wanted;
            if !is_there {
                self.memory.strands.strand(k as u32);
                let found = self.found(&from.lies, k, wanted, name)?;
                self.put(block, place, found)?;
            }
        }
        self.end()
    }

    fn begin(&mut self) {
        self.memory.strands.begin();
    }

    fn strand(&mut self, number: u32) {
        self.memory.strands.strand(number);
    }

    fn end(&mut self) -> Step<()> {
        self.memory.end();
        Ok(())
    }

    fn open(&mut self, _: i64, _: bool) -> u32 {
        0
    }

    fn close(&mut self) -> Step<()> {
        Ok(())
    }

    fn fork(&mut self) {
        self.memory.fork();
    }

    fn otherwise(&mut self) {
        self.memory.otherwise();
    }

    fn join(&mut self) -> Step<u32> {
        self.memory.join()
    }

    fn either(&mut self, which: u32, then: &Array, otherwise: &Array) -> Step<Array> {
        if let (true, true, [a], [b]) =
            (then.exact, otherwise.exact, &then.members[..], &otherwise.members[..])
            && a.view.shape() == b.view.shape()
        {
            let lies = match a.lies.is(&b.lies) {
                true => a.lies.clone(),
                false => Where::Either(which, Rc::new(a.lies.clone()), Rc::new(b.lies.clone())),
            };
            if a.list == b.list && a.view == b.view {
                return Ok(Array::one(Member { list: a.list, view: a.view.clone(), lies }, true));
            }
            let (a, b) = (a.clone(), b.clone());
            let list = self.list(a.view.elements())?;
            for (k, (x, y)) in a.view.places().zip(b.view.places()).enumerate() {
                let (x, y) = (self.lists[a.list][x as usize], self.lists[b.list][y as usize]);
                self.lists[list][k] = self.memory.elements.choice(which, x, y);
            }
            let view = Lmad::row_major(&a.view.shape());
            return Ok(Array::one(Member { list, view, lies }, true));
        }
        // Something of one side, on that side only.
        let mut members = Vec::new();
        for member in then.members.iter() {
            let side = &mut |memory: &mut Memory, id| memory.elements.choice(which, id, ANYTHING);
            members.push(self.listed(member, side)?);
        }
        for member in otherwise.members.iter() {
            let side = &mut |memory: &mut Memory, id| memory.elements.choice(which, ANYTHING, id);
            members.push(self.listed(member, side)?);
        }
        Ok(Array { members: Rc::new(members), exact: false })
    }

    fn kept(&mut self, of: &Array) -> Step<Array> {
        Ok(of.clone())
    }

    fn is_kept(&self, _: &Array, _: &Array) -> bool {
        false
    }

    fn accesses(&self) -> usize {
        0
    }

    fn forget(&mut self, _: usize) {}

    fn now(&self) -> (usize, usize) {
        (self.memory.elements.count(), self.blocks.len())
    }

    fn state(&mut self, (elements, blocks): (usize, usize), arrays: &[&Array]) -> Step<Option<Vec<u64>>> {
        let (mut words, mut ids, mut known) = (Vec::new(), HashMap::new(), Vec::new());
        let mut memories: Vec<usize> = self.blocks[..blocks].iter().map(|block| block.memory).collect();
        memories.extend(self.shared.values().map(|(memory, _)| *memory));
        for array in arrays {
            words.push(u64::from(array.exact));
            for member in array.members.iter() {
                words.extend(member.view.shape().iter().map(|size| *size as u64));
                for at in member.view.places() {
                    let id = self.lists[member.list][at as usize];
                    self.memory.elements.describe(id, elements, &mut ids, &mut words);
                }
                let mut open = vec![&member.lies];
                while let Some(lies) = open.pop() {
                    match lies {
                        Where::Either(_, a, b) => {
                            words.push(u64::MAX);
                            open.extend([&**a, &**b]);
                        }
                        Where::At(block, view) => {
                            // A block from before the loop is itself, others are numbered as they come.
                            let at = known.iter().position(|other| other == block).unwrap_or_else(|| {
                                known.push(*block);
                                known.len() - 1
                            });
                            words.push(if *block < blocks { *block as u64 } else { (at as u64) << 32 });
                            words.push(self.blocks[*block].base as u64);
                            words.push(view.offset as u64);
                            words.extend(
                                view.dims.iter().flat_map(|dim| [dim.size as u64, dim.stride as u64]),
                            );
                            memories.push(self.blocks[*block].memory);
                        }
                    }
                }
            }
        }
        let mut seen = vec![false; self.memory.memories()];
        for memory in memories {
            if std::mem::replace(&mut seen[memory], true) {
                continue;
            }
            self.memory.count(self.memory.cells(memory).len() as u64)?;
            for id in self.memory.cells(memory) {
                self.memory.elements.describe(*id, elements, &mut ids, &mut words);
            }
        }
        Ok(Some(words))
    }
}

impl Cells {
    /// A change that no view of the list expresses, where one of its place may: the list is written out first.
    fn copied_view(&mut self, member: &Member, change: &Change) -> Step<Option<Array>> {
        let packed = member.view == Lmad::row_major(&member.view.shape());
        if packed {
            return Ok(None);
        }
        let listed = self.listed(member, &mut |_, id| id)?;
        match self.changed(&Array::one(listed, true), change) {
            Ok(array) => Ok(array),
            Err(stop) => Err(stop.unwrap_or(Stop::TooLarge("an index is outside"))),
        }
    }
}
