//! Numbers for the statements of a region outside kernels, in the order of the text, those inside loops and branches too.

use crate::circuit::{Bodies, BodyId, Inside, OUTERMOST, Position};
use galopvm_base::TypedId;

/// The statements outside kernels with their numbers. A statement with a body covers the numbers of those in it.
pub(super) struct Order<'a> {
    bodies: &'a Bodies,
    /// By body: where its statements begin in `numbers`; nothing in kernels.
    starts: Vec<Option<u32>>,
    /// For each statement and the end of each body, the first and the last number.
    numbers: Vec<(u32, u32)>,
}

impl<'a> Order<'a> {
    /// The statements of a region's bodies.
    pub fn of(bodies: &'a Bodies) -> Order<'a> {
        let mut order = Order { bodies, starts: vec![None; bodies.len()], numbers: Vec::new() };
        let inner: Vec<(BodyId, Position, bool)> = bodies
            .iter()
            .map(|(body, at, inside)| (body, at, matches!(inside, Inside::Loop(_) | Inside::Branch(_))))
            .collect();
        order.body(OUTERMOST, &mut inner.as_slice(), &mut 0);
        order
    }

    /// Numbers a body. Those that follow it are `inner`, of which those in it are taken away.
    fn body(&mut self, body: BodyId, inner: &mut &[(BodyId, Position, bool)], next: &mut u32) {
        let (start, stms) = (self.numbers.len(), self.bodies.statements(body));
        self.starts[body.index()] = Some(start as u32);
        self.numbers.resize(start + stms as usize + 1, (0, 0));
        for stm in 0..stms {
            let first = *next;
            while let Some(((of, _, is_numbered), rest)) =
                inner.split_first().filter(|((_, at, _), _)| *at == Position { body, stm })
            {
                *inner = rest;
                match is_numbered {
                    true => self.body(*of, inner, next),
                    false => {
                        let end = Position { body: *of, stm: 0 };
                        let left = rest.iter().take_while(|(other, ..)| {
                            self.bodies.lies_in(Position { body: *other, stm: 0 }, end.body)
                        });
                        *inner = &rest[left.count()..];
                    }
                }
            }
            self.numbers[start + stm as usize] = (first, *next);
            *next += 1;
        }
        // What is needed for the results.
        self.numbers[start + stms as usize] = (*next, *next);
        *next += 1;
    }

    fn of_body(&self, body: BodyId) -> Option<&[(u32, u32)]> {
        let start = self.starts[body.index()]? as usize;
        self.numbers.get(start..=start + self.bodies.statements(body) as usize)
    }

    /// The numbers that a position covers for something that is made in the body `home`: those of the whole statement
    /// of that body, since a loop in it comes back. Outside of it, those of the outermost statement.
    pub fn span(&self, position: Position, home: BodyId) -> (usize, usize) {
        let home = if self.bodies.lies_in(position, home) { home } else { OUTERMOST };
        let stm = self.bodies.statement_in(position, home) as usize;
        let numbers = self.of_body(home).and_then(|numbers| numbers.get(stm).or(numbers.last()));
        numbers.map_or((0, usize::MAX), |(first, last)| (*first as usize, *last as usize))
    }

    /// The outermost statement that a number is in.
    pub fn outermost(&self, number: usize) -> usize {
        let numbers = self.of_body(OUTERMOST);
        numbers.and_then(|all| all.iter().position(|(_, last)| number <= *last as usize)).unwrap_or(0)
    }
}
