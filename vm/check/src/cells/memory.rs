//! Memory, cell by cell: which element each holds, and who reads and changes it in no order.

use super::identity::{Elements, Id, LOST};
use super::order::{Strand, Strands};
use crate::store::{Fault, Step, Stop};
use galopvm_kir::VarId;
use std::collections::BTreeMap;
use std::ops::Range;

/// A cell of a memory.
pub(crate) type Place = (usize, usize);

/// An access of a strand.
#[derive(Clone, Copy, PartialEq)]
struct Access {
    strand: Strand,
    /// Changed by a statement, or written with what is there; read by a name otherwise.
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Read(VarId),
    Same,
    Change(VarId),
}

/// One side of a branch.
struct Fork {
    /// What cells held before, in order.
    before: Vec<(Place, Id)>,
    /// What they hold after the first side, if that is over.
    first: Option<BTreeMap<Place, Id>>,
}

/// All memories.
pub(crate) struct Memory {
    pub elements: Elements,
    pub strands: Strands,
    memories: Vec<Vec<Id>>,
    /// By cell: where to find what strands that are under way did, and 0 for those of which nobody did anything.
    logs: Vec<Vec<u32>>,
    accesses: Vec<Vec<Access>>,
    /// The cells that are in any of these.
    touched: Vec<Place>,
    forks: Vec<Fork>,
    joined: u32,
    /// Steps that are left.
    left: u64,
}

impl Memory {
    pub fn new(steps: u64) -> Memory {
        Memory {
            elements: Elements::new(),
            strands: Strands::new(),
            memories: Vec::new(),
            logs: Vec::new(),
            accesses: Vec::new(),
            touched: Vec::new(),
            forks: Vec::new(),
            joined: 0,
            left: steps,
        }
    }

    /// Takes some steps.
    pub fn count(&mut self, steps: u64) -> Step<()> {
        self.left = self.left.checked_sub(steps).ok_or(Stop::TooLarge("too many elements"))?;
        Ok(())
    }

    /// A new memory.
    pub fn add(&mut self, cells: usize) -> Step<usize> {
        self.count(cells as u64 / 4)?;
        self.memories.push(vec![LOST; cells]);
        self.logs.push(Vec::new());
        Ok(self.memories.len() - 1)
    }

    pub fn memories(&self) -> usize {
        self.memories.len()
    }

    /// At least so many cells of a memory.
    pub fn extend(&mut self, memory: usize, cells: usize) -> Step<()> {
        let more = cells.saturating_sub(self.memories[memory].len());
        self.count(more as u64 / 4)?;
        let cells = &mut self.memories[memory];
        cells.resize(cells.len() + more, LOST);
        Ok(())
    }

    pub fn cells(&self, memory: usize) -> &[Id] {
        &self.memories[memory]
    }

    /// The element that some cells hold together.
    pub fn whole(&mut self, memory: usize, cells: Range<usize>) -> Id {
        self.elements.whole(&self.memories[memory][cells])
    }

    /// What a cell holds.
    pub fn get(&self, (memory, cell): Place) -> Id {
        self.memories[memory][cell]
    }

    /// Where to find what strands did with a cell.
    fn log(&mut self, place: Place) -> usize {
        let cells = self.memories[place.0].len();
        let logs = &mut self.logs[place.0];
        if logs.len() < cells {
            logs.resize(cells, 0);
        }
        if logs[place.1] == 0 {
            self.touched.push(place);
            logs[place.1] = self.touched.len() as u32;
            if self.accesses.len() < self.touched.len() {
                self.accesses.push(Vec::new());
            }
        }
        logs[place.1] as usize - 1
    }

    fn put(&mut self, place: Place, content: Id) {
        let cell = &mut self.memories[place.0][place.1];
        if let Some(fork) = self.forks.last_mut() {
            fork.before.push((place, *cell));
        }
        *cell = content;
    }

    /// Nobody can rely on what cells hold from now on. That is nobody's access.
    pub fn lose(&mut self, memory: usize, from: usize, count: usize) -> Step<()> {
        self.count(count as u64)?;
        (from..from + count).for_each(|cell| self.put((memory, cell), LOST));
        Ok(())
    }

    /// A name reads a cell; `Err` says who changes it in no order.
    pub fn read(&mut self, place: Place, name: VarId) -> Step<Result<(), VarId>> {
        let strand = self.strands.now();
        if strand == super::order::OUTSIDE {
            return Ok(Ok(()));
        }
        let log = self.log(place);
        let all = &mut self.accesses[log];
        for access in all.iter() {
            if let Kind::Change(by) = access.kind
                && self.strands.are_free(access.strand, strand)
            {
                return Ok(Err(by));
            }
        }
        let steps = all.len() as u64 / 4;
        let read = Access { strand, kind: Kind::Read(name) };
        if all.last().is_none_or(|last| *last != read) {
            all.push(read);
        }
        self.count(1 + steps)?;
        Ok(Ok(()))
    }

    /// A statement writes a cell; `Err` says who reads it in no order.
    pub fn write(&mut self, place: Place, content: Id, by: VarId) -> Step<Result<(), VarId>> {
        let strand = self.strands.now();
        let old = self.get(place);
        let mut content = content;
        if strand != super::order::OUTSIDE {
            let log = self.log(place);
            let all = &mut self.accesses[log];
            let changes = old != content || content == LOST;
            for access in all.iter() {
                let matters = changes || matches!(access.kind, Kind::Change(_));
                if !matters || !self.strands.are_free(access.strand, strand) {
                    continue;
                }
                match access.kind {
                    Kind::Read(name) => return Ok(Err(name)),
                    // Whichever comes last stays.
                    Kind::Same | Kind::Change(_) => content = LOST,
                }
            }
            let steps = all.len() as u64 / 4;
            let kind = if changes { Kind::Change(by) } else { Kind::Same };
            let write = Access { strand, kind };
            if all.last().is_none_or(|last| *last != write) {
                all.push(write);
            }
            self.count(1 + steps)?;
        }
        if old != content {
            self.put(place, content);
        }
        Ok(Ok(()))
    }

    /// The innermost kernel is done.
    pub fn end(&mut self) {
        if self.strands.end() {
            self.accesses[..self.touched.len()].iter_mut().for_each(Vec::clear);
            for (memory, cell) in self.touched.drain(..) {
                self.logs[memory][cell] = 0;
            }
        }
    }

    pub fn fork(&mut self) {
        self.forks.push(Fork { before: Vec::new(), first: None });
    }

    pub fn otherwise(&mut self) {
        let Some(mut fork) = self.forks.pop() else { return };
        let first = fork.before.iter().map(|(place, _)| (*place, self.get(*place))).collect();
        for ((memory, cell), before) in fork.before.drain(..).rev() {
            self.memories[memory][cell] = before;
        }
        self.forks.push(Fork { before: Vec::new(), first: Some(first) });
    }

    pub fn join(&mut self) -> Step<u32> {
        let which = self.joined;
        self.joined += 1;
        let Some(Fork { before, first }) = self.forks.pop() else { return Ok(which) };
        let first = first.unwrap_or_default();
        let mut second: BTreeMap<Place, Id> = BTreeMap::new();
        for (place, content) in before {
            second.entry(place).or_insert(content);
        }
        self.count((first.len() + second.len()) as u64)?;
        for place in first.keys().chain(second.keys().filter(|place| !first.contains_key(place))) {
            let before = second.get(place).copied().unwrap_or_else(|| self.get(*place));
            let now = self.get(*place);
            let then = first.get(place).copied().unwrap_or(before);
            let content = self.elements.choice(which, then, now);
            // Seen from around, the cell held what it did before.
            self.memories[place.0][place.1] = before;
            self.put(*place, content);
        }
        Ok(which)
    }

    /// What is said of an element that is not where it should be.
    pub fn lost(&self, array: VarId, element: i64, block: usize, place: i64, found: Id) -> Stop {
        let found = self.elements.maker(found);
        Stop::Refused(Fault::Lost { array, element, place: (block, place), found })
    }
}
