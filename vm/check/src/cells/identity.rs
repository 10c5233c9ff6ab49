//! Which element something is.
//!
//! An element is new where a statement makes it, and is copied with its identity. After a branch that nobody knows it is
//! one of two. Such choices are ordered decision diagrams: what was joined last is asked first, and equal elements have
//! equal numbers. An element that is longer than the cells of its memory takes several; the later ones hold its parts.

use galopvm_kir::VarId;
use std::collections::HashMap;

/// The number of an element.
pub(crate) type Id = u32;

/// What nobody gave a value: whatever is there is right.
pub(crate) const ANYTHING: Id = 0;

/// What memory holds that nobody can rely on.
pub(crate) const LOST: Id = 1;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Kind {
    /// Made by a statement, the element of this number.
    New(VarId, i64),
    /// One of two, by the number of a branch.
    Choice(u32, Id, Id),
    /// What a later cell of an element holds: which element, and the number of the cell.
    Part(Id, u8),
}

/// All elements.
pub(crate) struct Elements {
    all: Vec<Kind>,
    choices: HashMap<(u32, Id, Id), Id>,
    parts: HashMap<(Id, u8), Id>,
}

impl Elements {
    pub fn new() -> Elements {
        let none = Kind::New(VarId(0), 0);
        Elements { all: vec![none; 2], choices: HashMap::new(), parts: HashMap::new() }
    }

    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// A new element.
    pub fn make(&mut self, by: VarId, element: i64) -> Id {
        self.all.push(Kind::New(by, element));
        (self.all.len() - 1) as Id
    }

    /// The statement that made an element, and its number there.
    pub fn maker(&self, id: Id) -> Option<(VarId, i64)> {
        match self.all[id as usize] {
            _ if id <= LOST => None,
            Kind::New(by, element) => Some((by, element)),
            Kind::Choice(_, a, b) => self.maker(a).or_else(|| self.maker(b)),
            Kind::Part(of, _) => self.maker(of),
        }
    }

    /// The branch that is asked first.
    fn first(&self, id: Id) -> Option<u32> {
        match self.all[id as usize] {
            Kind::Choice(which, ..) => Some(which),
            Kind::New(..) | Kind::Part(..) => None,
        }
    }

    /// What an element is on each side of a branch, none of whose followers is asked.
    fn sides(&self, id: Id, which: u32) -> (Id, Id) {
        match self.all[id as usize] {
            Kind::Choice(other, a, b) if other == which => (a, b),
            _ => (id, id),
        }
    }

    fn node(&mut self, which: u32, a: Id, b: Id) -> Id {
        if a == b {
            return a;
        }
        let Elements { all, choices, .. } = self;
        *choices.entry((which, a, b)).or_insert_with(|| {
            all.push(Kind::Choice(which, a, b));
            (all.len() - 1) as Id
        })
    }

    /// `a` on the first side of a branch, `b` on the other.
    pub fn choice(&mut self, which: u32, a: Id, b: Id) -> Id {
        let later = self.first(a).max(self.first(b)).filter(|other| *other > which);
        if let Some(other) = later {
            let ((a1, a2), (b1, b2)) = (self.sides(a, other), self.sides(b, other));
            let (first, second) = (self.choice(which, a1, b1), self.choice(which, a2, b2));
            return self.node(other, first, second);
        }
        let (a, b) = (self.sides(a, which).0, self.sides(b, which).1);
        self.node(which, a, b)
    }

    /// What the cell of this number holds of an element.
    pub fn part(&mut self, id: Id, cell: u8) -> Id {
        if cell == 0 || id == LOST {
            return id;
        }
        if let Kind::Choice(which, a, b) = self.all[id as usize] {
            let (a, b) = (self.part(a, cell), self.part(b, cell));
            return self.node(which, a, b);
        }
        let Elements { all, parts, .. } = self;
        *parts.entry((id, cell)).or_insert_with(|| {
            all.push(Kind::Part(id, cell));
            (all.len() - 1) as Id
        })
    }

    /// The element that cells hold together, on each side of each branch; nothing to rely on where they hold parts of several.
    pub fn whole(&mut self, cells: &[Id]) -> Id {
        if let ([id], true) = (cells, self.parts.is_empty()) {
            return *id;
        }
        if let Some(which) = cells.iter().filter_map(|id| self.first(*id)).max() {
            let (first, second): (Vec<Id>, Vec<Id>) = cells.iter().map(|id| self.sides(*id, which)).unzip();
            let (first, second) = (self.whole(&first), self.whole(&second));
            return self.node(which, first, second);
        }
        let id = cells[0];
        let is_whole = !matches!(self.all[id as usize], Kind::Part(..))
            && (1..).zip(&cells[1..]).all(|(cell, part)| self.part(id, cell) == *part);
        if is_whole { id } else { LOST }
    }

    /// Whether what is found is what is wanted, on all sides.
    pub fn is(&self, wanted: Id, found: Id) -> bool {
        if wanted == found || wanted == ANYTHING {
            return true;
        }
        let Some(which) = self.first(wanted).max(self.first(found)) else { return false };
        let ((w1, w2), (f1, f2)) = (self.sides(wanted, which), self.sides(found, which));
        self.is(w1, f1) && self.is(w2, f2)
    }

    /// Adds what an element is to a description, in which elements from `since` on are numbered as they come.
    pub fn describe(&self, id: Id, since: usize, names: &mut HashMap<Id, u64>, words: &mut Vec<u64>) {
        if (id as usize) < since {
            return words.push(u64::from(id));
        }
        let next = u64::from(u32::MAX) + 1 + names.len() as u64;
        match names.get(&id) {
            Some(name) => words.push(*name),
            None => {
                names.insert(id, next);
                words.push(next);
                match self.all[id as usize] {
                    Kind::New(..) => {}
                    Kind::Choice(_, a, b) => {
                        words.push(u64::MAX);
                        self.describe(a, since, names, words);
                        self.describe(b, since, names, words);
                    }
                    Kind::Part(of, cell) => {
                        words.push(u64::MAX - u64::from(cell));
                        self.describe(of, since, names, words);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use galopvm_testkit::Random;

    #[test]
    fn choices_are_equal_if_all_sides_are() {
        let mut all = Elements::new();
        let ids: Vec<Id> = (0..5).map(|k| all.make(VarId(0), k)).collect();
        // By hand: the element of each of the 8 sides of three branches.
        let mut made: Vec<(Id, [Id; 8])> = ids.iter().map(|id| (*id, [*id; 8])).collect();
        made.push((ANYTHING, [ANYTHING; 8]));
        let mut random = Random::new(9);
        for _ in 0..3000 {
            let which = random.below(3);
            let ((a, left), (b, right)) = (*random.pick(&made), *random.pick(&made));
            let id = all.choice(which as u32, a, b);
            let sides = std::array::from_fn(|k| if k >> which & 1 == 0 { left[k] } else { right[k] });
            if made.len() < 200 {
                made.push((id, sides));
            }
            let (other, others) = *random.pick(&made);
            assert_eq!(id == other, sides == others);
            let fits = sides.iter().zip(&others).all(|(a, b)| a == b || *a == ANYTHING);
            assert_eq!(all.is(id, other), fits);
        }
    }
}
