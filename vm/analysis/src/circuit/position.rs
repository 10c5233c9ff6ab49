//! Where in a region something happens, and which executions of one place come after those of another.
//!
//! Bodies are numbered in the order of the text, so that those inside of one are the numbers up to its last one, and a
//! place is two numbers. What two places have in common is found by going outwards.

use galopvm_base::{IdVec, TypedId, define_id};
use galopvm_kir::VarId;
use galopvm_lmad::Order;
use smallvec::SmallVec;

define_id!(
    /// A body of a region.
    pub struct BodyId, "body"
);

/// The outermost body of a region.
pub const OUTERMOST: BodyId = BodyId(0);

/// Iteration variables of an operator.
pub type Axes = SmallVec<[VarId; 4]>;

/// The construct that a body belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Inside {
    /// The body of a sequential loop; one without a counter has no variable.
    Loop(Option<VarId>),
    /// The body of a kernel, reduction or scan: iterations in no order.
    Kernel(Axes),
    /// A branch of an `if`: the `then` side if true.
    Branch(bool),
    /// The operator of a reduction or scan, executed any number of times.
    Operator,
}

impl Inside {
    /// Whether the body may be executed several times where its statement is executed once.
    pub fn repeats(&self) -> bool {
        !matches!(self, Inside::Branch(_))
    }
}

/// A place in a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// The body.
    pub body: BodyId,
    /// The number of the statement in it; one more than the last is the end of the body.
    pub stm: u32,
}

impl Position {
    /// The position of a statement.
    pub fn new(body: BodyId, stm: usize) -> Position {
        Position { body, stm: u32::try_from(stm).unwrap_or(u32::MAX) }
    }
}

/// A body with the way to it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Way {
    /// The statement it belongs to. (For the outermost one, itself.)
    at: Position,
    /// Nothing for the outermost one.
    inside: Option<Inside>,
    /// The number of bodies around it.
    depth: u32,
    /// The last body in it.
    last: BodyId,
    /// The innermost body that repeats, itself or one around it.
    repeats: Option<BodyId>,
    /// The statement of the outermost body that it lies in.
    outermost: u32,
    /// The number of its statements.
    stms: u32,
}

/// All bodies of a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bodies {
    ways: IdVec<BodyId, Way>,
}

/// How the iterations of two places must lie to each other, one entry for each common variable; any if not listed.
pub type Orders = SmallVec<[(VarId, Order); 4]>;

/// Two places in the innermost body around both.
struct Fork {
    body: BodyId,
    first: u32,
    second: u32,
}

impl Bodies {
    /// The outermost body, of so many statements.
    pub fn new(stms: usize) -> Bodies {
        let mut ways = IdVec::new();
        ways.push(Way {
            at: Position::new(OUTERMOST, 0),
            inside: None,
            depth: 0,
            last: BodyId(u32::MAX),
            repeats: None,
            outermost: 0,
            stms: Position::new(OUTERMOST, stms).stm,
        });
        Bodies { ways }
    }

    /// A new body of so many statements. Bodies in it have to follow before it is left.
    pub fn enter(&mut self, at: Position, inside: Inside, stms: usize) -> BodyId {
        let around = &self.ways[at.body];
        let body = BodyId::from_index(self.ways.len());
        let way = Way {
            at,
            depth: around.depth + 1,
            last: BodyId(u32::MAX),
            repeats: if inside.repeats() { Some(body) } else { around.repeats },
            outermost: self.outermost(at),
            stms: Position::new(body, stms).stm,
            inside: Some(inside),
        };
        self.ways.push(way)
    }

    /// Ends a body.
    pub fn leave(&mut self, body: BodyId) {
        let last = BodyId::from_index(self.ways.len() - 1);
        self.ways[body].last = last;
    }

    /// Every body but the outermost one, in the order of the text: its statement, and what it is.
    pub fn iter(&self) -> impl Iterator<Item = (BodyId, Position, &Inside)> {
        self.ways.iter_ids().filter_map(|(body, way)| Some((body, way.at, way.inside.as_ref()?)))
    }

    /// The number of bodies.
    pub fn len(&self) -> usize {
        self.ways.len()
    }

    /// There is always one.
    pub fn is_empty(&self) -> bool {
        self.ways.is_empty()
    }

    /// The number of statements of a body.
    pub fn statements(&self, body: BodyId) -> u32 {
        self.ways[body].stms
    }

    /// The statement of the outermost body that a place lies in.
    pub fn outermost(&self, position: Position) -> u32 {
        if position.body == OUTERMOST { position.stm } else { self.ways[position.body].outermost }
    }

    /// Whether a place lies in a body, or in one inside it.
    pub fn lies_in(&self, position: Position, body: BodyId) -> bool {
        body.0 <= position.body.0 && position.body.0 <= self.ways[body].last.0
    }

    /// The statement of `body` that a place in it lies in.
    pub fn statement_in(&self, position: Position, body: BodyId) -> u32 {
        let mut position = position;
        while position.body != body && position.body != OUTERMOST {
            position = self.ways[position.body].at;
        }
        position.stm
    }

    /// Whether a place lies inside a body of this statement, or is it.
    pub fn lies_at(&self, position: Position, statement: Position) -> bool {
        self.lies_in(position, statement.body) && self.statement_in(position, statement.body) == statement.stm
    }

    /// Whether a place lies on a side of the `if` at `statement`.
    pub fn lies_on_side(&self, position: Position, statement: Position, side: bool) -> bool {
        let sides = |body: &BodyId| self.ways[*body].at == statement;
        let way = self.outwards(position).find(sides);
        way.is_some_and(|body| self.ways[body].inside == Some(Inside::Branch(side)))
    }

    /// The bodies around a place but the outermost one, innermost first.
    fn outwards(&self, position: Position) -> impl Iterator<Item = BodyId> {
        let inner = |body: BodyId| (body != OUTERMOST).then_some(body);
        std::iter::successors(inner(position.body), move |body| inner(self.ways[*body].at.body))
    }

    /// The constructs around a place with their bodies, innermost first.
    pub fn around(&self, position: Position) -> impl Iterator<Item = (BodyId, &Inside)> {
        self.outwards(position).filter_map(|body| Some((body, self.ways[body].inside.as_ref()?)))
    }

    /// Whether an iteration variable counts the executions of a place.
    pub fn is_open(&self, var: VarId, position: Position) -> bool {
        self.around(position).any(|(_, inside)| match inside {
            Inside::Loop(other) => *other == Some(var),
            Inside::Kernel(vars) => vars.contains(&var),
            _ => false,
        })
    }

    /// Whether a place is at `end`, or after it in the same body.
    pub fn ends_at(&self, position: Position, end: Position) -> bool {
        self.lies_in(position, end.body) && self.statement_in(position, end.body) >= end.stm
    }

    /// The numbers of the statements around a place, from the outermost body on, with its own.
    pub fn path(&self, position: Position) -> SmallVec<[u32; 8]> {
        let mut path: SmallVec<[u32; 8]> = SmallVec::from_slice(&[position.stm]);
        path.extend(self.outwards(position).map(|body| self.ways[body].at.stm));
        path.reverse();
        path
    }

    fn fork(&self, first: Position, second: Position) -> Fork {
        let (mut first, mut second) = (first, second);
        while !self.lies_in(second, first.body) {
            first = self.ways[first.body].at;
        }
        while second.body != first.body {
            second = self.ways[second.body].at;
        }
        Fork { body: first.body, first: first.stm, second: second.stm }
    }

    /// The number of bodies around a place but the outermost one.
    pub fn depth(&self, position: Position) -> u32 {
        self.ways[position.body].depth
    }

    /// The number of bodies around both places but the outermost one.
    fn shared(&self, first: Position, second: Position) -> u32 {
        self.ways[self.fork(first, second).body].depth
    }

    /// Whether the first place comes strictly before the statement of the second, in one round of the loops around.
    pub fn is_before(&self, first: Position, second: Position) -> bool {
        let fork = self.fork(first, second);
        fork.second > fork.first
    }

    /// Whether some execution of `second` comes after `first` in the same execution of the region, where rounds of a
    /// loop count only if `kept`, a place, is outside of the loop. (Nothing is outside of all.)
    pub fn is_after(&self, first: Position, second: Position, kept: Option<Position>) -> bool {
        let fork = self.fork(first, second);
        fork.second > fork.first
            || self.ways[fork.body]
                .repeats
                .is_some_and(|body| kept.is_none_or(|kept| !self.lies_in(kept, body)))
    }

    /// Adds the ways in which an execution of `second` comes after, or at the same time as, one of `first`, both before
    /// `end` of the same execution of the body of `end`, for memory that exists once for each execution of the body
    /// of `home`.
    pub fn ways_after(
        &self,
        (first, second): (Position, Position),
        end: Position,
        home: Position,
        all: &mut SmallVec<[Orders; 16]>,
    ) {
        let fork = self.fork(first, second);
        let (around_end, around_home) = (self.shared(first, end), self.shared(first, home));
        let mut same = Orders::new();
        let mut common: SmallVec<[BodyId; 8]> = self.outwards(Position { body: fork.body, stm: 0 }).collect();
        common.reverse();
        for (k, body) in (0..).zip(common) {
            let with = |more: (VarId, Order)| {
                let mut orders = same.clone();
                orders.push(more);
                orders
            };
            match &self.ways[body].inside {
                Some(Inside::Loop(var)) => {
                    // Iterations of a loop around the end come after the end.
                    if k >= around_end {
                        all.push(var.map_or_else(|| same.clone(), |var| with((var, Order::Later))));
                    }
                    same.extend(var.map(|var| (var, Order::Same)));
                }
                Some(Inside::Kernel(vars)) => {
                    for var in vars {
                        if k >= around_home {
                            for order in [Order::Later, Order::Earlier] {
                                let mut orders = same.clone();
                                orders.push((*var, order));
                                all.push(orders);
                            }
                        }
                        same.push((*var, Order::Same));
                    }
                }
                Some(Inside::Operator) => all.push(same.clone()),
                Some(Inside::Branch(_)) | None => {}
            }
        }
        if self.comes_last(&fork, (first, second), around_end) {
            all.push(same);
        }
    }

    /// How many ways `ways_after` adds.
    pub fn count_ways(&self, (first, second): (Position, Position), end: Position, home: Position) -> usize {
        let fork = self.fork(first, second);
        let (around_end, around_home) = (self.shared(first, end), self.shared(first, home));
        let common = self.outwards(Position { body: fork.body, stm: 0 });
        let inner = common.map(|body| {
            let k = self.ways[body].depth - 1;
            match &self.ways[body].inside {
                Some(Inside::Loop(_)) => usize::from(k >= around_end),
                Some(Inside::Kernel(vars)) if k >= around_home => 2 * vars.len(),
                Some(Inside::Operator) => 1,
                _ => 0,
            }
        });
        inner.sum::<usize>() + usize::from(self.comes_last(&fork, (first, second), around_end))
    }

    /// Whether `second` comes after `first` where all common iterations are the same.
    fn comes_last(&self, fork: &Fork, (first, second): (Position, Position), around_end: u32) -> bool {
        match fork.first.cmp(&fork.second) {
            // Outside the body of the end, it comes after the end.
            std::cmp::Ordering::Less => self.ways[fork.body].depth >= around_end,
            std::cmp::Ordering::Equal => !self.are_sides(first, second, fork.body),
            std::cmp::Ordering::Greater => false,
        }
    }

    /// Whether two places lie on different sides of one `if` of a body.
    fn are_sides(&self, first: Position, second: Position, body: BodyId) -> bool {
        let side = |position: Position| {
            let inner = self.outwards(position).find(|inner| self.ways[*inner].at.body == body)?;
            self.ways[inner].inside.as_ref()
        };
        matches!(
            (side(first), side(second)),
            (Some(Inside::Branch(one)), Some(Inside::Branch(other))) if one != other
        )
    }
}
