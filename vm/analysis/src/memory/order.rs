//! Numbers for the statements of a region outside kernels, in the order of the text, those inside loops and branches too.

use crate::circuit::{Frame, Inside, Position, lies_in};
use galopvm_kir::{Body, Rhs};

/// The statements outside kernels with their numbers. A statement with a body covers the numbers of those in it.
pub(super) struct Order {
    /// The way to each body with, for each statement and the end, the first and the last number.
    bodies: Vec<(Position, Vec<(usize, usize)>)>,
}

impl Order {
    /// The statements of a region's body.
    pub fn of(body: &Body) -> Order {
        let mut order = Order { bodies: Vec::new() };
        order.body(body, &[], &mut 0);
        order
    }

    fn body(&mut self, body: &Body, way: &[Frame], next: &mut usize) {
        let at = self.bodies.len();
        self.bodies.push((way.to_vec(), Vec::new()));
        for (stm, inner) in body.stms.iter().enumerate() {
            let first = *next;
            let mut go = |inside: Inside, body: &Body, next: &mut usize| {
                let way = [way, &[Frame { stm, inside: Some(inside) }]].concat();
                self.body(body, &way, next);
            };
            match &inner.rhs {
                Rhs::For { axis, body, .. } => go(Inside::Loop(Some(axis.var)), body, next),
                Rhs::While { body, .. } => go(Inside::Loop(None), body, next),
                Rhs::If { then, otherwise, .. } => {
                    go(Inside::Branch(true), then, next);
                    go(Inside::Branch(false), otherwise, next);
                }
                _ => {}
            }
            self.bodies[at].1.push((first, *next));
            *next += 1;
        }
        // What is needed for the results.
        self.bodies[at].1.push((*next, *next));
        *next += 1;
    }

    /// The numbers that a position covers for something that is made in the body that `home` leads to: those of the whole
    /// statement of that body, since a loop in it comes back. Outside of it, those of the outermost statement.
    pub fn span(&self, position: &[Frame], home: &[Frame]) -> (usize, usize) {
        let home = if lies_in(position, home) { home } else { &[] };
        let numbers = self.bodies.iter().find(|(way, _)| way == home).map(|(_, numbers)| numbers);
        let stm = position.get(home.len()).map_or(0, |frame| frame.stm);
        let whole = (0, usize::MAX);
        numbers.and_then(|numbers| numbers.get(stm).or(numbers.last())).copied().unwrap_or(whole)
    }

    /// The outermost statement that a number is in.
    pub fn outermost(&self, number: usize) -> usize {
        let numbers = self.bodies.iter().find(|(way, _)| way.is_empty());
        let position = numbers.and_then(|(_, all)| all.iter().position(|(_, last)| number <= *last));
        position.unwrap_or(0)
    }
}
